"""Whole sets as files: CSV, JSON, JSON-LD, GeoJSON, written piece by piece, each with where it comes from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.records import Compute, Plan
from crmrag_query.sets.build import Told, answer_set
from crmrag_query.sets.cells import Reader
from crmrag_query.sets.linked_art import CONTEXT, Profile, nodes
from crmrag_query.sets.order import order_of
from crmrag_query.sets.records import AnswerSet, Member, Page, Row, Sort
from crmrag_query.sets.tables import Table, table_of

FORMATS: Final[dict[str, tuple[str, str]]] = {
    "csv": ("text/csv; charset=utf-8; header=present", ".csv"),
    "json": ("application/json", ".json"),
    "jsonld": ('application/ld+json; profile="https://linked.art/ns/v1/linked-art.json"', ".jsonld"),
    "geojson": ("application/geo+json", ".geojson"),
}
"""Media type and ending of each format."""
MEMBER_COLUMNS = ("iri", "label", "value", "date", "image", "types", "classes")
ABOUT_COLUMNS = ("left_out", "question", "release", "licence", "attribution")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


@dataclass(frozen=True)
class Whole:
    """A set to be written out: ``made`` has its frame and the first members; ``question``: the one it answers, if any;
    ``inline``: JSON-LD's context stands in the file."""

    release: Release
    plan: Plan
    outcome: Outcome
    made: AnswerSet
    table: Table | None
    reader: Reader
    question: str
    sort: Sort
    descending: bool
    inline: bool

    def members(self) -> Iterator[Member]:
        """All members in order."""
        order = order_of(
            self.release, self.outcome, Page(0, None, self.sort, self.descending), self.reader.language
        )
        values, measure = self.outcome.values, self.plan.compute.measure
        for place in order.tolist():
            value = None if values is None else values[place].item()
            yield self.reader.member(int(self.outcome.members[place]), value, measure)

    def rows(self) -> Iterator[Row]:
        """All rows of what is computed."""
        if self.table is not None:
            yield from self.table.every(self.reader)

    def left_out(self) -> Iterator[tuple[str, Member]]:
        """(reason, member) of all that are excluded."""
        for reason, left in self.outcome.excluded.items():
            for node in left.tolist():
                yield reason, self.reader.member(int(node))

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
) -> Iterator[str]:
    """A plan's whole set as text in pieces; ``reason``: only what is left out for it, a work list.

    ``inline``: JSON-LD with its context in the file, not by its address.

    Raises QuestionError, before the first piece, for a format or reason that there is not, and as `execute`.
    """
    if format not in FORMATS:
        raise QuestionError(f"There is no format {format[:40]!r}.", f"There are: {', '.join(FORMATS)}.")
    whole = _whole(release, plan, language, question, reason, sort, descending, name, inline)
    return _WRITERS[format](whole)


def _whole(
    release: Release, plan: Plan, language: str, question: str, reason: str, sort: Sort, descending: bool, name: str,
    inline: bool,
) -> Whole:  # fmt: skip
    found = execute(plan, release.world)
    if reason:
        if reason not in found.excluded:
            known = ", ".join(found.excluded) or "none"
            raise QuestionError(
                f"Nothing is left out for the reason {reason[:100]!r}.", f"There are: {known}."
            )
        found = Outcome(found.excluded[reason])
        shown = plan.model_copy(update={"compute": Compute()})
    else:
        shown = plan
    page = Page(0, release.method.sets.limits.named, sort, descending)
    made = answer_set(release, shown, page, language, Told(), found, not reason, name)
    if reason:
        made = replace(made, title=f"{made.title} ({reason})")
    table, reader = table_of(release, shown, found, language), Reader(release, language)
    return Whole(release, shown, found, made, table, reader, question, sort, descending, inline)


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
        yield csv_line((*MEMBER_COLUMNS, *ABOUT_COLUMNS))
        for member in whole.members():
            yield csv_line((*_member_cells(member), "", *about))
        for reason, member in whole.left_out():
            yield csv_line((*_member_cells(member), reason, *about))
        return
    columns = [name for column in made.columns for name in (column, f"{column} IRI")]
    yield csv_line((*columns, *ABOUT_COLUMNS))
    for row in whole.rows():
        yield csv_line((*(text for cell in row for text in (cell.label, cell.iri)), "", *about))
    if made.kind in ("table", "pairs"):
        empty = [""] * (len(columns) - 2)
        for reason, member in whole.left_out():
            yield csv_line((member.label, member.iri, *empty, reason, *about))


def _member_cells(member: Member) -> tuple[str, ...]:
    types = "; ".join(kind.label for kind in member.types)
    return member.iri, member.label, member.shown, member.date, member.image, types, "; ".join(member.classes)


# JSON


def _json(whole: Whole) -> Iterator[str]:
    head = whole.about() | {"columns": list(whole.made.columns)}
    if whole.made.kind in ("count", "ask"):
        head["value"] = whole.made.value
    yield from _object(
        head,
        members=map(_plain_member, whole.members()),
        rows=([asdict(cell) for cell in row] for row in whole.rows()),
        excluded=({"reason": reason} | _plain_member(member) for reason, member in whole.left_out()),
    )


def _plain_member(member: Member) -> dict[str, Any]:
    told = asdict(member)
    return {name: value for name, value in told.items() if name not in ("path", "graphs")}


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
    profile, graph = Profile.of(whole.release.ontology), whole.release.graph
    context: Any = profile.context() if whole.inline else CONTEXT

    def with_classes() -> Iterator[tuple[Member, tuple[str, ...]]]:
        for member in whole.members():
            node = graph.node(member.iri)
            numbers = () if node is None else graph.types(node)
            yield member, tuple(graph.class_iri(int(number)) for number in numbers)

    yield from _object({"@context": context}, **{"@graph": nodes(profile, whole.about(), with_classes())})


def _geojson(whole: Whole) -> Iterator[str]:
    """Members with coordinates of their own or of their place; the others stand under ``without_coordinates``."""
    without: list[str] = []
    yield from _object(
        {"type": "FeatureCollection", "about": whole.about()},
        features=_features(whole, without),
        without_coordinates=_given(without),
    )


def _features(whole: Whole, without: list[str]) -> Iterator[dict[str, Any]]:
    for member in whole.members():
        node = whole.release.graph.node(member.iri)
        point = whole.reader.details.coordinates(node) if node is not None else None
        if point is None:
            without.append(member.iri)
            continue
        properties = _plain_member(member)
        if point.of is not None:
            properties["place"] = asdict(point.of)
        geometry = {"type": "Point", "coordinates": [point.lon, point.lat]}
        yield {"type": "Feature", "id": member.iri, "geometry": geometry, "properties": properties}


def _given(items: list[str]) -> Iterator[str]:
    """The items that a list has once this is asked for, after what fills it."""
    yield from items


_WRITERS = {"csv": _csv, "json": _json, "jsonld": _jsonld, "geojson": _geojson}
