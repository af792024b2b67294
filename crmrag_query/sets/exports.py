"""Whole sets as files: CSV, JSON, JSON-LD in the Linked Art profile, GeoJSON; piece by piece, with where they come from.
And the columns that one may choose: what relations lead to from its members, as texts."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.pages import READINGS
from crmrag_query.entities.details import NOWHERE, Whereabouts
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category, Ontology, normalise_class, take_apart
from crmrag_query.plans.execute import Outcome, execute, members_of
from crmrag_query.plans.records import Compute, Plan, Way, read_plan
from crmrag_query.plans.world import World, pairs
from crmrag_query.sets.build import (
    ROWS_AT_ONCE,
    Reader,
    Table,
    Told,
    answer_set,
    left_out,
    order_of,
    table_of,
)
from crmrag_query.sets.records import TELLING, AnswerSet, Columns, Member, Page, Row, SetColumn, Sort
from crmrag_query.timing import check

CONTEXT = "https://linked.art/ns/v1/linked-art.json"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
LINKED_ART = "https://linked.art/ns/terms/"
_DIGITAL = "http://www.ics.forth.gr/isl/CRMdig/D1_Digital_Object"
TERMS = {
    "classified_as": f"{CRM}P2_has_type",
    "identified_by": f"{CRM}P1_is_identified_by",
    "referred_to_by": f"{CRM}P67i_is_referred_to_by",
    "representation": f"{CRM}P138i_has_representation",
    "subject_to": f"{CRM}P104_is_subject_to",
    "member_of": f"{LINKED_ART}member_of",
    "digitally_shown_by": f"{LINKED_ART}digitally_shown_by",
    "access_point": f"{LINKED_ART}access_point",
}
TEXTS = {
    "content": f"{CRM}P190_has_symbolic_content",
    "format": "http://purl.org/dc/elements/1.1/format",
    "_label": "http://www.w3.org/2000/01/rdf-schema#label",
}
MEDIA_TYPES = {"plan": "application/json", "sparql": "application/sparql-query"}


def linked_art_names(ontology: Ontology) -> dict[str, str]:
    """Code of a class -> its name in Linked Art: ``HumanMadeObject`` for ``E22_Human-Made_Object``."""
    names = {}
    for code, term in ontology.classes.items():
        words = term.name.partition("_")[2].replace("-", "_").split("_") if take_apart(term.name) else []
        name = "".join(word[:1].upper() + word[1:] for word in words)
        known = normalise_class(LINKED_ART + name) if name and term.iri.startswith(CRM) else None
        if known is not None and known.code == code:
            names[code] = name
    return names


def context_of(ontology: Ontology) -> dict[str, Any]:
    """The part of Linked Art's context that a set uses, so that it is read without the network."""
    classes = {name: ontology.classes[code].iri for code, name in linked_art_names(ontology).items()}
    classes |= {
        "Set": f"{LINKED_ART}Set",
        "DigitalObject": _DIGITAL,
        "Name": f"{CRM}E33_E41_Linguistic_Appellation",
    }
    terms = {name: {"@id": iri, "@type": "@id", "@container": "@set"} for name, iri in TERMS.items()}
    return {"@version": 1.1, "id": "@id", "type": "@type"} | classes | terms | TEXTS


def set_node(about: Mapping[str, Any]) -> dict[str, Any]:
    """The set itself: its name, its texts, the plan and query that give it, and its rights."""
    contents = {name: about[name] for name in ("text", "question", "attribution", "sparql") if about[name]}
    contents["plan"] = json.dumps(about["plan"], ensure_ascii=False, sort_keys=True)
    digest = hashlib.sha256(f"{about['release']} {contents['plan']}".encode()).hexdigest()
    texts = [
        {"type": "LinguisticObject", "_label": name, "content": content}
        | ({"format": MEDIA_TYPES[name]} if name in MEDIA_TYPES else {})
        for name, content in contents.items()
    ]
    release = {"type": "Identifier", "_label": "release", "content": about["release"]}
    node = {
        "id": f"urn:crmrag:set:{digest[:32]}",
        "type": "Set",
        "_label": about["title"],
        "identified_by": [{"type": "Name", "content": about["title"]}, release],
        "referred_to_by": texts,
    }
    return node | (
        {"subject_to": [{"type": "Right", "_label": about["licence"]}]} if about["licence"] else {}
    )


def nodes(
    names: Mapping[str, str], about: Mapping[str, Any], members: Iterable[tuple[Member, Iterable[str]]]
) -> Iterator[dict[str, Any]]:
    """The set, then each member, given with the IRIs of its classes; ``names``: of classes, by code."""
    whole = set_node(about)
    yield whole
    ref = {"id": whole["id"], "type": "Set", "_label": whole["_label"]}
    for member, classes in members:
        node: dict[str, Any] = {"id": member.iri, "_label": member.label, "member_of": [ref]}
        known = ((iri, normalise_class(iri)) for iri in classes)
        types = list(dict.fromkeys(names.get(found.code, iri) if found else iri for iri, found in known))
        if types:
            node["type"] = types[0] if len(types) == 1 else types
        if member.types:
            node["classified_as"] = [{"id": t.iri, "type": "Type", "_label": t.label} for t in member.types]
        if member.date:
            node["referred_to_by"] = [{"type": "LinguisticObject", "_label": "date", "content": member.date}]
        if member.read:
            told = {"type": "LinguisticObject", "_label": "source", "content": READ_BY_MACHINE}
            node.setdefault("referred_to_by", []).append(told)
        if member.image:
            shown = {"type": "DigitalObject", "access_point": [{"id": member.image, "type": "DigitalObject"}]}
            node["representation"] = [{"type": "VisualItem", "digitally_shown_by": [shown]}]
        yield node


FORMATS: Final[dict[str, tuple[str, str]]] = {
    "csv": ("text/csv; charset=utf-8; header=present", ".csv"),
    "json": ("application/json", ".json"),
    "jsonld": ('application/ld+json; profile="https://linked.art/ns/v1/linked-art.json"', ".jsonld"),
    "geojson": ("application/geo+json", ".geojson"),
}
"""Media type and ending of each format."""
MEMBER_COLUMNS = ("iri", "label", "value", "date", "image", "types", "classes")
ABOUT_COLUMNS = ("left_out", "question", "release", "licence", "attribution")
READ_BY_MACHINE: Final = "read from pages by a machine"
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True)
class Whole:
    """A set to be written out: ``made`` has its frame and the first members, those of ``page``, which says the order;
    ``question``: the one it answers, if any; ``inline``: JSON-LD's context stands in the file."""

    release: Release
    plan: Plan
    outcome: Outcome
    made: AnswerSet
    table: Table | None
    reader: Reader
    question: str
    page: Page
    inline: bool
    columns: ColumnReader

    def members(self) -> Iterator[tuple[int, Member]]:
        """All members in order, each with its node."""
        order = order_of(self.release, self.outcome, self.page, self.reader.language)
        nodes, values = self.outcome.members[order].tolist(), self.outcome.values
        ranked = None if values is None else values[order].tolist()
        members = self.reader.members(nodes, ranked, self.plan.compute.measure, self.outcome.unit)
        for first in range(0, len(nodes), ROWS_AT_ONCE):
            block = nodes[first : first + ROWS_AT_ONCE]
            for node, member, texts in zip(block, members, self.columns.texts(block), strict=False):
                yield node, replace(member, columns=texts)

    def rows(self) -> Iterator[Row]:
        """All rows of what is computed."""
        if self.table is not None:
            yield from self.table.every(self.reader)

    def left_out(self) -> Iterator[tuple[str, Member]]:
        """(reason, member) of all that are excluded."""
        for reason, left in self.outcome.excluded.items():
            for member in self.reader.members(left.tolist()):
                yield reason, member

    def about(self) -> dict[str, Any]:
        """Where the set comes from and what it is."""
        made = self.made
        return {
            "question": self.question, "title": made.title, "text": made.text, "dataset": made.dataset,
            "release": made.release, "licence": made.licence, "attribution": made.attribution, "kind": made.kind,
            "size": made.size, "identity": asdict(made.identity), "plan": made.plan, "sparql": made.sparql,
        }  # fmt: skip


def export(
    release: Release,
    plan: Plan,
    format: str,
    language: str = "en",
    question: str = "",
    reason: str = "",
    sort: Sort = "",
    descending: bool = False,
    name: str = "",
    inline: bool = False,
    columns: Sequence[str] = (TELLING,),
) -> Iterator[str]:
    """A plan's whole set as text in pieces; ``reason``: only what is left out for it, a work list.

    ``inline``: JSON-LD with its context in the file, not by its address; ``columns``: relations whose values stand in columns
    of members, or `TELLING` for those that tell them apart.

    Raises QuestionError, before the first piece, for a format, reason or column that there is not, and as `execute`.
    """
    if format not in FORMATS:
        raise QuestionError(f"There is no format {format[:40]!r}.", f"There are: {', '.join(FORMATS)}.")
    found = execute(plan, release[World])
    if reason:
        found, plan = left_out(found, reason), plan.model_copy(update={"compute": Compute()})
    page = Page(0, release.method.sets.limits.named, sort, descending)
    made = answer_set(release, plan, page, language, Told(), found, not reason, name)
    if reason:
        made = replace(made, title=f"{made.title} ({reason})")
    table, reader = table_of(release, plan, found, language), Reader(release, language)
    listed = format in ("csv", "json", "geojson") and (table is None or made.kind == "rank")
    chosen = ColumnReader(reader, found.members, tuple(columns) if listed else ())
    return _WRITERS[format](Whole(release, plan, found, made, table, reader, question, page, inline, chosen))


# CSV
def safe(text: str) -> str:
    """A text that no spreadsheet takes for a formula: an apostrophe before one that begins like one.

    Numbers are themselves. Source: OWASP, CSV Injection.
    """
    if not text.lstrip(" \n").startswith(_FORMULA) or _is_number(text):
        return text
    return f"'{text}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return not any(sign in text for sign in " \n\t\r_") and text.lstrip("+-")[:1].isdigit()


def csv_line(values: Sequence[str]) -> str:
    """A record after RFC 4180, its fields safe for spreadsheets."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow([safe(value) for value in values])
    return buffer.getvalue()


def _csv(whole: Whole) -> Iterator[str]:
    made = whole.made
    about = (whole.question, made.release, made.licence, made.attribution)
    if whole.table is None or made.kind == "rank":
        marked = whole.release.manifest.has(READINGS)  # else nothing can have been read
        mark = ("read",) if marked else ()
        yield csv_line((*MEMBER_COLUMNS, *mark, *whole.columns.labels, *ABOUT_COLUMNS))
        for _, member in whole.members():
            yield csv_line((*_member_cells(member, marked), *member.columns, "", *about))
        empty = [""] * len(whole.columns.labels)
        for reason, member in whole.left_out():
            yield csv_line((*_member_cells(member, marked), *empty, reason, *about))
        return
    columns = [name for column in made.columns for name in (column, f"{column} IRI")]
    yield csv_line((*columns, *ABOUT_COLUMNS))
    for row in whole.rows():
        yield csv_line((*(text for cell in row for text in (cell.label, cell.iri)), "", *about))
    if made.kind in ("table", "pairs"):
        empty = [""] * (len(columns) - 2)
        for reason, member in whole.left_out():
            yield csv_line((member.label, member.iri, *empty, reason, *about))


def _member_cells(member: Member, marked: bool) -> tuple[str, ...]:
    types, classes = "; ".join(kind.label for kind in member.types), "; ".join(member.classes)
    read = (READ_BY_MACHINE if member.read else "",) if marked else ()
    return member.iri, member.label, member.shown, member.date, member.image, types, classes, *read


# JSON
def _json(whole: Whole) -> Iterator[str]:
    head = whole.about() | {"columns": list(whole.made.columns)}
    if whole.made.kind in ("count", "ask"):
        head["value"] = whole.made.value
    if whole.made.summed is not None:
        head["summed"] = asdict(whole.made.summed)
    yield from _object(
        head,
        members=(_plain_member(member, whole.columns.labels) for _, member in whole.members()),
        rows=([asdict(cell) for cell in row] for row in whole.rows()),
        excluded=({"reason": reason} | _plain_member(member) for reason, member in whole.left_out()),
    )


def _plain_member(member: Member, columns: Sequence[str] = ()) -> dict[str, Any]:
    """A member as plain values, its columns by their labels."""
    plain = {
        name: value for name, value in asdict(member).items() if name not in ("path", "graphs", "columns")
    }
    return plain | ({"columns": dict(zip(columns, member.columns, strict=True))} if member.columns else {})


def _object(head: dict[str, Any], **lists: Iterator[Any]) -> Iterator[str]:
    """A JSON object whose last values are lists written item by item, one a line."""
    yield _dumped(head)[:-1]
    for name, items in lists.items():
        yield f",\n{json.dumps(name)}:["
        for at, item in enumerate(items):
            yield f"{',' if at else ''}\n{_dumped(item)}"
        yield "]"
    yield "}\n"


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


# JSON-LD and GeoJSON
def _jsonld(whole: Whole) -> Iterator[str]:
    ontology, graph = whole.release.ontology, whole.release[Graph]
    context: Any = context_of(ontology) if whole.inline else CONTEXT
    members = (
        (member, [graph.class_iri(int(number)) for number in graph.types(node)])
        for node, member in whole.members()
    )
    described = nodes(linked_art_names(ontology), whole.about(), members)
    yield from _object({"@context": context}, **{"@graph": described})


def _geojson(whole: Whole) -> Iterator[str]:
    """Members with coordinates of their own or of their place; the others stand under ``without_coordinates``."""
    without: list[str] = []
    yield from _object(
        {"type": "FeatureCollection", "about": whole.about()},
        features=_features(whole, without),
        without_coordinates=iter(without),  # which the features fill before it is asked for
    )


def _features(whole: Whole, without: list[str]) -> Iterator[dict[str, Any]]:
    where, nodes = whole.release[Whereabouts], whole.outcome.members
    places = dict(zip(nodes.tolist(), where.places(nodes).tolist(), strict=True))
    for node, member in whole.members():
        if places[node] == NOWHERE:
            without.append(member.iri)
            continue
        properties = _plain_member(member, whole.columns.labels)
        if places[node] != node:
            properties["place"] = asdict(whole.reader.details.named(places[node]))
        at = where.point(places[node])
        if at.doubt:
            properties["coordinates_doubt"] = at.doubt
        geometry = {"type": "Point", "coordinates": [at.lon, at.lat]}
        yield {"type": "Feature", "id": member.iri, "geometry": geometry, "properties": properties}


_WRITERS = {"csv": _csv, "json": _json, "jsonld": _jsonld, "geojson": _geojson}


BETWEEN = "; "


def columns(release: Release, plan: Plan, language: str = "en", name: str = "") -> Columns:
    """The columns that a plan's members can have, those that most tell first; ``name``: of the data set.

    Raises QuestionError as `execute`.
    """
    members = members_of(release[World], plan)
    return Columns(len(members), offered(release, members, language), release.id, name)


def with_columns(release: Release, made: AnswerSet, keys: Sequence[str]) -> AnswerSet:
    """A set whose members have the columns of these keys, or `TELLING` for those that tell the whole set's members apart."""
    graph = release[Graph]
    whole = members_of(release[World], read_plan(made.plan)) if TELLING in keys else np.empty(0, np.int32)
    chosen = ColumnReader(Reader(release, made.language), whole, tuple(keys))
    nodes = [node for one in made.members if (node := graph.node(one.iri)) is not None]
    members = (
        replace(one, columns=texts) for one, texts in zip(made.members, chosen.texts(nodes), strict=True)
    )
    return replace(made, members=tuple(members), chosen=chosen.labels)


def offered(release: Release, members: Ints, language: str) -> tuple[SetColumn, ...]:
    """Columns that any of the first members has a value of: those of the configured order, then by how many have one."""
    config, relations = release.method.sets.columns, release.method.relations
    looked_at = members[: config.members]
    present = np.bitwise_or.reduce(release[Graph].category_of_node[looked_at], initial=0)
    found: list[SetColumn] = []
    for key, relation in relations.items():
        leads = bool(relation.paths or relation.relationships)
        leads &= any(int(Category[name]) & int(present) for name in relation.domain)
        if key in config.hidden or not leads:
            continue
        owner, cell = _led_to(release, key, looked_at)
        if len(cell):
            label = relation.label(language) or key
            found.append(SetColumn(key, label, len(np.unique(owner)), len(np.unique(cell))))
    first = {key: at for at, key in enumerate(config.order)}
    found.sort(key=lambda one: (first.get(one.key, len(first)), -one.members, one.key))
    chosen = [
        one.key
        for one in found
        if one.key in first and one.values > 1 and one.members >= config.share * len(looked_at)
    ][: config.first]
    return tuple(replace(one, telling=one.key in chosen) for one in found)


@dataclass
class ColumnReader:
    """Reads the chosen columns of members; ``keys``: of columns, or `TELLING` for those that tell ``members`` apart.

    Raises QuestionError for a key that is no relation.
    """

    reader: Reader
    members: Ints
    keys: tuple[str, ...]
    labels: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        release, language = self.reader.release, self.reader.language
        if TELLING in self.keys:
            telling = [one.key for one in offered(release, self.members, language) if one.telling]
            given = [key for key in self.keys if key != TELLING]
            self.keys = tuple(dict.fromkeys([*telling, *given]))
        relations = release.method.relations
        unknown = next((key for key in self.keys if key not in relations), None)
        if unknown is not None:
            raise QuestionError(
                f"There is no column {unknown[:60]!r}.",
                "client.columns, or `crmrag set` with --columns list, tells those that this set has.",
            )
        self.labels = tuple(relations[key].label(language) or key for key in self.keys)

    def texts(self, nodes: Sequence[int]) -> list[tuple[str, ...]]:
        """For each node the text of each column, several values with "; " between them."""
        rows: list[list[str]] = [[] for _ in nodes]
        many = np.array(nodes, np.int32)
        for key in self.keys:
            check()
            values: list[dict[str, None]] = [{} for _ in nodes]
            owner, cell = _led_to(self.reader.release, key, many)
            for at, number in zip(owner.tolist(), cell.tolist(), strict=True):
                values[at][self.reader.cell(number).label] = None
            for row, found in zip(rows, values, strict=True):
                row.append(BETWEEN.join(found))
        return [tuple(row) for row in rows]


def _led_to(release: Release, key: str, nodes: Ints) -> tuple[Longs, Longs]:
    """(place of the node, cell) of what a relation leads to; nothing where it is more than is walked at once."""
    try:
        found = pairs(release[World], Way(relations=(key,), direct=True), nodes)
    except QuestionError:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return found.index, found.cell
