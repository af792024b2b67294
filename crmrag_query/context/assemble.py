"""Putting a context together: the set that answers or counts, headers of all sources, lines as they bear on the question,
triples, and what then has room.

Lines are those of a candidate's document, long ones cut and short ones extended; which triples a line states is known, so
that nothing is said twice, and by which triples a walk came from where it landed to what it found. Texts from Wikidata
(action wbgetentities) are those of the first entities that link to it; whatever goes wrong there costs two seconds at most.
"""

from __future__ import annotations

import heapq
import json
import re
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Any, Final
from urllib.parse import quote

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import ContextConfig, Wikidata
from crmrag_query.context.context import (
    Budget,
    Context,
    ContextLine,
    ContextSource,
    Finding,
    Kind,
    KnownSet,
    frame,
    measured,
    path,
    pay,
    source_of,
)
from crmrag_query.context.evidence import Evidence, sentences
from crmrag_query.dates import describe
from crmrag_query.documents.documents import RELATIONAL, Documents, Line
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.ontology.load import Category
from crmrag_query.plans.world import World
from crmrag_query.questions.form import Analysis, Form
from crmrag_query.relationships.engine import Move, Step, moves_of
from crmrag_query.retrieval.aggregation import Aggregation, RelationshipCount
from crmrag_query.retrieval.release_channels import Query
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.retrieval.walker import Walker
from crmrag_query.syntax import RDF_TYPE
from crmrag_query.text import ELLIPSIS, plain, shorten, tokens
from crmrag_query.version import __version__

Fact = int | tuple[int | str, ...]
"""The number of a triple; or, of what no single triple says, a line's key with whom it is about and what it leads to."""
Row = tuple[int, int, int, int]
"""A triple: number, subject, property, object."""


TRIPLES_LOOKED_AT = 2000
"""Triples of an entity, each way, that are considered; of those between two hubs none may be."""


@dataclass
class Facts:
    """What lines state, over one release; keeps what it has looked up, so make one for each question."""

    release: Release
    _near: dict[int, dict[int, list[tuple[Move, int]]]] = field(default_factory=dict)
    _moves: dict[str, frozenset[Move]] = field(default_factory=dict)

    def of(self, line: Line, shown: Iterable[int]) -> frozenset[Fact]:
        """The facts that a line states which names these of its targets; never empty."""
        if line.kind == Line.PASSAGE:  # one of several sentences of a literal
            return frozenset([(line.kind, line.key, line.entity, line.start)])
        found: set[Fact] = set()
        for target in shown:
            between = self._between(line.entity, target)
            numbers = [number for move, number in between if self._says(line, move)]
            found.update(numbers or [(line.key, line.entity, target)])
        if not found or line.kind not in RELATIONAL:
            found.add((line.kind, line.key, line.label, line.entity))
        return frozenset(found)

    def _says(self, line: Line, move: Move) -> bool:
        """Whether a line states a triple between its entity and one of its targets."""
        if line.kind == Line.FR:
            return move in self._single(line.key)
        if line.kind in (Line.OUTGOING, Line.INCOMING):
            graph, (prop, forward) = self.release[Graph], move
            return line.label == graph.property_label(prop, not forward) or (
                line.key in (graph.property_code(prop), graph.property_iri(prop))
            )
        return True

    def _single(self, key: str) -> frozenset[Move]:
        """The moves by which a relationship is stated in one step: others of the path are walked zero times."""
        if key not in self._moves:
            release = self.release
            paths = release[World].catalogue[release[World].catalogue.number(key)].paths
            steps: list[Step] = []
            for path in paths:
                needed = [step for step in path.steps if not step.recursive]
                steps += path.steps if not needed else needed if len(needed) == 1 else []
            adjacency, ontology = release[Graph].adjacency, release.ontology
            self._moves[key] = frozenset(
                move for step in steps for move in moves_of(adjacency, ontology, step)
            )
        return self._moves[key]

    def _between(self, entity: int, other: int) -> Sequence[tuple[Move, int]]:
        """Triples between two nodes, as moves from ``entity``; looked for at the end that has fewer."""
        degree = self.release[TriplesIndex].degree
        if entity in self._near or degree(entity) <= max(TRIPLES_LOOKED_AT, degree(other)):
            return self._of(entity).get(other, ())
        turned = self._of(other).get(entity, ())
        return [((prop, not forward), number) for (prop, forward), number in turned]

    def _of(self, node: int) -> dict[int, list[tuple[Move, int]]]:
        """Triples of a node by the node at their other end."""
        if node not in self._near:
            found: dict[int, list[tuple[Move, int]]] = {}
            for number, s, p, o in self.triples_of(node):
                found.setdefault(o if s == node else s, []).append(((p, s == node), number))
            self._near[node] = found
        return self._near[node]

    def triples_of(self, node: int) -> list[Row]:
        """A node's triples as (number, subject, property, object), ascending, at most ``TRIPLES_LOOKED_AT`` each way."""
        index = self.release[TriplesIndex]
        numbers: list[int] = []
        for ptr, tri in ((index.out_ptr, index.out_tri), (index.in_ptr, index.in_tri)):
            start = int(ptr[node])
            numbers += tri[start : min(start + TRIPLES_LOOKED_AT, int(ptr[node + 1]))].tolist()
        numbers = sorted(set(numbers))
        columns = (index.tri_s, index.tri_p, self.release[Graph].adjacency.forward.val)
        s, p, o = (column[numbers].tolist() for column in columns)
        return list(zip(numbers, s, p, o, strict=True))


# Characters of a line, of one of the best lines, and of a name in a triple or a line that was cut.
LINE_CHARACTERS, LONG_LINE_CHARACTERS, NAME_CHARACTERS = 600, 2000, 120
LOOKED_AT = 200  # targets of a line whose names are read; a hub has more than a context can show
PROSE = 0.4  # least share of letters in a text that people read
_MORE = re.compile(r" and (\d+) more$")


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a candidate's document: its plain text and the nodes that this names.

    A header's text holds the classes and types of its entity, whose lines are no entries of their own.
    """

    line: Line
    text: str
    shown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """A candidate's document as entries in its own order; ``headers``: that of each entity, its own first."""

    n: int
    document: int
    entity: int
    headers: dict[int, Entry]
    entries: tuple[Entry, ...]


@dataclass
class Names:
    """Names of nodes, cut at ``NAME_CHARACTERS``; what was looked up is kept for one question."""

    release: Release
    _whole: dict[int, str] = field(default_factory=dict)

    def of(self, node: int) -> str:
        """The name on one line; never empty."""
        name = self.whole(node) or plain(self.release[Graph].iri(node)) or "?"
        return shorten(name, NAME_CHARACTERS)

    def whole(self, node: int) -> str:
        """The name on one line, not cut; "" for none that can be seen."""
        if node not in self._whole:
            self._whole[node] = plain(self.release[Graph].label(node))
        return self._whole[node]


def read_document(release: Release, n: int, document: int, passages: Iterable[tuple[Line, str]] = ()) -> Read:
    """Read a document once, with sentences of ``passages`` that lead to it."""
    text = release[Documents].text(document)
    headers: dict[int, Entry] = {}
    typed: set[int] = set()
    entries: list[Entry] = []
    for line in release[Documents].lines(document):
        said = plain(text[line.start : line.end])
        header = headers.get(line.entity)
        if line.kind == Line.HEADER:
            headers.setdefault(line.entity, Entry(line, said, line.targets))
        elif line.kind == Line.TYPE and header is not None:
            body = said.removeprefix(f"{plain(line.label)}: ")
            joint = "; " if line.entity in typed else " — "
            typed.add(line.entity)
            shown = (*header.shown, *line.targets)
            headers[line.entity] = Entry(header.line, f"{header.text}{joint}{body}", shown)
        else:
            entries.append(Entry(line, said, line.targets))
    entries += [Entry(line, plain(said), line.targets) for line, said in passages]
    return Read(n, document, release[Documents].entity(document), headers, tuple(entries))


@dataclass(frozen=True)
class Writer:
    """Texts of entries within a length. ``first``: nodes that matter most; ``retrieved``: those that matter next; ``most``:
    names of one line, None for as many as the length holds."""

    release: Release
    names: Names
    first: frozenset[int]
    retrieved: frozenset[int]
    language: str
    most: int | None = None

    def short(self, entry: Entry) -> Entry:
        """The entry as its document has it, with those of the nodes that matter most that the document leaves out; at most
        ``LINE_CHARACTERS``, and no hub's more than ``most`` names."""
        line = entry.line
        if self.most is not None and line.kind in RELATIONAL and len(line.targets) > self.most:
            return self._named(entry, f"{plain(line.label)}: ", (), line.total, LINE_CHARACTERS, None)
        return self._fit(entry, LINE_CHARACTERS, self.first)

    def long(self, entry: Entry) -> Entry:
        """The entry with as many targets, or as much of its literals, as ``LONG_LINE_CHARACTERS`` hold; as ``short`` where
        names are counted."""
        if self.most is not None:
            return self.short(entry)
        if entry.line.kind == Line.LITERAL and ELLIPSIS in entry.text and _is_prose(entry.text):
            entry = self._literals(entry)
        return self._fit(entry, LONG_LINE_CHARACTERS, None)

    def is_cut(self, entry: Entry) -> bool:
        """Whether the text leaves something out."""
        return (
            entry.text.endswith(" more")
            or ELLIPSIS in entry.text
            or not set(entry.line.targets) <= set(entry.shown)
        )

    def _fit(self, entry: Entry, limit: int, added: frozenset[int] | None) -> Entry:
        line, text = entry.line, entry.text
        if line.kind == Line.LITERAL and not _is_prose(text):
            limit = min(limit, NAME_CHARACTERS)
        names_all = line.kind in RELATIONAL and line.total == len(line.targets) > 0
        more = _MORE.search(text) if text.endswith(" more") else None
        if len(text) > limit:
            if names_all:
                return self._named(entry, f"{plain(line.label)}: ", (), len(line.targets), limit, None)
            more, text = None, shorten(text, limit)
        elif not more:
            return entry
        told = self._told(entry, text)
        if not more or not names_all:
            return Entry(line, text, told)
        return self._named(entry, text[: more.start()], told, int(more[1]), limit, added)

    def _told(self, entry: Entry, text: str) -> tuple[int, ...]:
        """Those targets of a line that was cut whose names stand in its text."""
        return tuple(node for node in entry.line.targets[:LOOKED_AT] if self.names.whole(node) in text)

    def _named(
        self,
        entry: Entry,
        text: str,
        told: tuple[int, ...],
        rest: int,
        limit: int,
        added: frozenset[int] | None,
    ) -> Entry:
        """``text`` with further targets, those that matter first, within ``limit``; it says how many are left out."""
        known = set(told)
        targets = entry.line.targets[:LOOKED_AT]
        open_ = [node for node in targets if node not in known and (added is None or node in added)]
        order = sorted(open_, key=lambda node: (node not in self.first, node not in self.retrieved, node))
        groups: dict[str, list[int]] = {}
        for node in order:
            groups.setdefault(self.names.of(node), []).append(node)
        shown = list(told)
        for at, (name, nodes) in enumerate(groups.items()):
            if self.most is not None and at == self.most:
                break
            joint = "; " if shown else ""
            piece = f"{joint}{name}" + (f" ×{len(nodes)}" if len(nodes) > 1 else "")
            if len(nodes) > rest or len(text) + len(piece) + len(f" and {rest} more") > limit:
                continue
            text, rest = text + piece, rest - len(nodes)
            shown += nodes
        left = (f" and {rest} more" if shown else f"{rest}") if rest else ""
        return Entry(entry.line, text + left, tuple(shown))

    def _literals(self, entry: Entry) -> Entry:
        """A line of literals with its values whole, those in the question's language first."""
        graph, line = self.release[Graph], entry.line
        values = [
            literal
            for literal in graph.literals(line.entity)
            if line.key in (graph.property_code(literal.property), graph.property_iri(literal.property))
        ]
        values.sort(key=lambda literal: literal.lang.partition("-")[0] != self.language)
        texts = list(dict.fromkeys(filter(None, (plain(literal.value) for literal in values))))
        text, limit = f"{plain(line.label)}:", LONG_LINE_CHARACTERS
        told = 0
        for value in texts:
            left = len(texts) - told - 1
            room = limit - len(text) - 2 - (len(f" and {left} more") if left else 0)
            if room < min(len(value), NAME_CHARACTERS):
                break
            text += f"{';' if told else ''} {shorten(value, room)}"
            told += 1
        left = len(texts) - told
        if not told:
            return entry
        return Entry(entry.line, text + (f" and {left} more" if left else ""), ())


def _shortened(entry: Entry, limit: int) -> Entry:
    return replace(entry, text=shorten(entry.text, limit))


def _is_prose(text: str) -> bool:
    """Whether a text has letters rather than digits and signs, as coordinates have."""
    return sum(map(str.isalpha, text)) >= PROSE * len(text)


PATHS: Final = 5  # that are told
NODES_LOOKED_AT: Final = 200  # nodes from either end whose triples are followed
ASIDE: Final = int(Category.Concept | Category.Time)
"""Categories that no way leads through: whatever is of one type or century is joined by it."""


def paths_of(release: Release, query: Query, documents: Sequence[int], language: str) -> list[Finding]:
    """The paths of a question's walk to the first of ``documents`` that it did not land at, triple by triple; none to one
    where documents hang together by what their chained entities say alone."""
    walked, held, facts = release[Walker].walk(query), release[Documents], Facts(release)
    found: list[Finding] = []
    for document in documents:
        way: list[int] = []
        nodes = [held.entity(one) for one in walked.path(document)]
        for start, end in pairwise(nodes):
            step = triples_between(facts, start, end)
            if not step:
                break
            way += step
        else:
            if way:
                told = f"{walked.scored} documents compared"
                found.append(replace(path(release, way, language, nodes[0]), origin=told))
        if len(found) == PATHS:
            break
    return found


def triples_between(facts: Facts, start: int, end: int) -> list[int]:
    """The numbers of the triples of a short way from one node to another, in its order; [] where none is near.

    It is looked for from both ends in turn, from the one with fewer nodes to go on from.
    """
    categories = facts.release[Graph].adjacency.categories
    reached: tuple[dict[int, tuple[int, int]], ...] = ({start: (-1, -1)}, {end: (-1, -1)})
    waiting, looked = ([start], [end]), 0
    while waiting[0] and waiting[1] and looked < NODES_LOOKED_AT:
        side = int(len(waiting[1]) < len(waiting[0]))
        own, other = reached[side], reached[1 - side]
        new: list[int] = []
        for node in waiting[side]:
            looked += 1
            for number, s, _, o in facts.triples_of(node):
                far = o if s == node else s
                if far in own or (categories[far] & ASIDE and far not in (start, end)):
                    continue
                own[far] = (node, number)
                if far in other:
                    return [*reversed(_back(reached[0], far)), *_back(reached[1], far)]
                new.append(far)
        waiting[side][:] = new
    return []


def _back(reached: dict[int, tuple[int, int]], node: int) -> list[int]:
    """The triples from a node back to where it was reached from."""
    found: list[int] = []
    while reached[node][1] >= 0:
        node, number = reached[node]
        found.append(number)
    return found


ITEM = re.compile(r"Q[1-9]\d{0,11}")
IMAGE = "P18"
COMMONS = "https://commons.wikimedia.org/wiki/Special:FilePath/"
# Who asks, as Wikimedia's policy wants it.
USER_AGENT = f"crmrag/{__version__} (CRM-RAG; question answering over CIDOC-CRM) python-httpx"
MOST_IDS = 50  # in one request; the API's limit
FAILURE_SECONDS = 600.0  # how long a failure is remembered, so that not every question waits for it
RESPONSE_BYTES = 4_000_000  # a longer response is a failure
CACHED = 1000  # entities whose texts are kept in memory
TEXT_CHARACTERS = 700  # of one entity's text
VALUES = 3  # told of one property
MONTH, YEAR = 10, 9  # precisions of a date in Wikidata's data model


class WikidataError(Exception):
    """No usable answer; why does not matter to anyone but the caller."""


@dataclass(frozen=True, slots=True)
class Entity:
    """What Wikidata says of an item, all of it untrusted: ``claims`` as (name of the property, values); ``image``: the
    address of its picture (P18) at Wikimedia Commons, "" for none."""

    id: str
    label: str
    description: str
    claims: tuple[tuple[str, tuple[str, ...]], ...] = ()
    image: str = ""


def ask_wikidata(config: Wikidata, deadline: float, ids: Sequence[str], language: str) -> dict[str, Entity]:
    """The items among ``ids`` that exist, in a language, else in English, by ``deadline`` (of time.monotonic): one request
    for the items, one for the names of what they lead to. Raises WikidataError."""
    raw = _ask(config, deadline, ids, "labels|descriptions|claims", language)
    claims = {id: _claims(item, config) for id, item in raw.items()}
    held = [one for one in config.properties if any(one in own for own in claims.values())]
    values = (value for own in claims.values() for values in own.values() for value in values)
    wanted = list(dict.fromkeys([*held, *filter(ITEM.fullmatch, values)]))[:MOST_IDS]
    try:
        named = _ask(config, deadline, wanted, "labels", language) if wanted else {}
    except WikidataError:
        named = {}  # label and description are worth having without claims
    labels = {id: _label(item, "labels", language) for id, item in named.items()}
    found = {}
    for id, item in raw.items():
        (file,) = claims[id].pop(IMAGE, [""])[:1]
        shown = [
            (labels.get(one, ""), [labels.get(v, "") if ITEM.fullmatch(v) else v for v in values])
            for one, values in claims[id].items()
        ]
        told = [(name, tuple(filter(None, values))) for name, values in shown if name]
        found[id] = Entity(
            id,
            _label(item, "labels", language),
            _label(item, "descriptions", language),
            tuple((name, values) for name, values in told if values),
            COMMONS + quote(file.replace(" ", "_"), safe="") if file else "",
        )
    return found


def _ask(
    config: Wikidata, deadline: float, ids: Sequence[str], what: str, language: str
) -> dict[str, dict[str, Any]]:
    """Items by id, those that do not exist left out."""
    import httpx  # few questions need it

    languages = "|".join(dict.fromkeys([language, "en"]))
    query = {
        "action": "wbgetentities",
        "ids": "|".join(ids),
        "props": what,
        "languages": languages,
        "format": "json",
    }
    left = deadline - time.monotonic()
    if left <= 0:
        raise WikidataError("out of time")
    headers = {"User-Agent": USER_AGENT, "Accept": "application/json", "Accept-Encoding": "identity"}
    body = b""
    try:
        # A redirect is an error: it could lead anywhere.
        with httpx.stream("GET", config.address, params=query, headers=headers, timeout=left) as response:
            response.raise_for_status()
            for piece in response.iter_raw():
                body += piece
                if len(body) > RESPONSE_BYTES or time.monotonic() > deadline:
                    raise WikidataError("too long")
        answer = json.loads(body)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError) as error:
        raise WikidataError(str(error)) from error
    items = _dict(answer).get("entities")
    if not isinstance(items, dict):
        raise WikidataError("no entities")
    merged = {_dict(_dict(item).get("redirects")).get("from"): item for item in items.values()}
    found = {id: _dict(items.get(id) or merged.get(id)) for id in ids}
    return {id: item for id, item in found.items() if item and "missing" not in item}


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: object) -> str:
    return plain(value) if isinstance(value, str) else ""


def _label(item: Mapping[str, Any], part: str, language: str) -> str:
    """The text of ``labels`` or ``descriptions`` in the language, else in English."""
    held = _dict(item.get(part))
    found = (_text(_dict(held.get(code)).get("value")) for code in (language, "en"))
    return next(filter(None, found), "")


def _claims(item: Mapping[str, Any], config: Wikidata) -> dict[str, list[str]]:
    """The first values of each wanted property, items as their ids; of the preferred rank where there are such."""
    held = _dict(item.get("claims"))
    found: dict[str, list[str]] = {}
    for one in (*config.properties, IMAGE):
        stated = held.get(one)
        claims = [_dict(claim) for claim in stated] if isinstance(stated, list) else []
        claims = [claim for claim in claims if claim.get("rank") != "deprecated"]
        claims.sort(key=lambda claim: claim.get("rank") != "preferred")
        if values := list(filter(None, map(_value, claims)))[:VALUES]:
            found[one] = values
    return found


def _value(claim: Mapping[str, Any]) -> str:
    """A text, an item's id, or a date: ``1105`` or ``1105-09-22`` from ``+1105-09-22T00:00:00Z``; "" below the precision of
    a year, and for anything else."""
    value = _dict(_dict(claim.get("mainsnak")).get("datavalue")).get("value")
    if not isinstance(value, dict):
        return _text(value)
    if "time" not in value:
        return _text(value.get("id")) or _text(value.get("text"))
    match = re.fullmatch(r"([+-])0*(\d{1,6})-(\d\d)-(\d\d)T.*", _text(value.get("time")))
    precision = value.get("precision")
    if not match or not isinstance(precision, int) or precision < YEAR:
        return ""
    sign, year, month, day = match.groups()
    date = {YEAR: year, MONTH: f"{year}-{month}"}.get(precision, f"{year}-{month}-{day}")
    return f"{date} BC" if sign == "-" else date


def text_of(entity: Entity) -> str:
    """``Asinou: church in Cyprus. inception: 1105; …`` on one line; "" for an item without a label."""
    if not entity.label:
        return ""
    head = f"{entity.label}: {entity.description}" if entity.description else entity.label
    claims = "; ".join(f"{name}: {', '.join(values)}" for name, values in entity.claims)
    return shorten(f"Wikidata {entity.id} — {head}" + (f". {claims}" if claims else ""), TEXT_CHARACTERS)


MARGIN = 0.05  # of the time, so that what came in time is used
_LINK = re.compile(r"https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/(Q[1-9]\d{0,11})")


@dataclass
class WikidataTexts:
    """Asks Wikidata's API, and keeps what it said and what failed; for many threads at once.

    ``clock`` in seconds, for the time that a failure is remembered.
    """

    config: Wikidata
    clock: Callable[[], float] = time.monotonic
    _known: OrderedDict[tuple[str, str], Entity] = field(default_factory=OrderedDict)
    _absent: OrderedDict[str, float] = field(default_factory=OrderedDict)  # until when not to ask again
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _down_until: float = float("-inf")

    @classmethod
    def from_release(cls, release: Release) -> WikidataTexts:
        """What Wikidata said of the entities is kept for every question; nothing is asked by opening it."""
        return cls(release.method.wikidata)

    def texts(self, ids: Sequence[str], language: str = "en") -> dict[str, Entity]:
        """What Wikidata says of these ids (``Q`` and digits; others are left out), within ``timeout_seconds`` in all.

        Never raises: what could not be had is missing. After a failure of the network or the server nothing is asked for
        ``FAILURE_SECONDS``; an id that Wikidata does not have is not asked for again while it is remembered.
        """
        wanted = [id for id in dict.fromkeys(ids) if ITEM.fullmatch(id)][: self.config.entities]
        with self._lock:
            now = self.clock()
            missing = [id for id in wanted if (id, language) not in self._known]
            missing = [id for id in missing if now >= self._absent.get(id, now)]
            asked = bool(missing) and now >= self._down_until
        if asked:
            self._fetch(missing, language)
        return self.known(wanted, language)

    def known(self, ids: Sequence[str], language: str = "en") -> dict[str, Entity]:
        """What is kept of these ids; nothing is asked."""
        with self._lock:
            return {id: self._known[id, language] for id in ids if (id, language) in self._known}

    def _fetch(self, ids: Sequence[str], language: str) -> None:
        """Ask in a thread, which is left alone when the time is over: a name server cannot be told to hurry."""
        result: list[Mapping[str, Entity]] = []
        seconds = self.config.timeout_seconds
        deadline = time.monotonic() + seconds

        def ask() -> None:
            with suppress(WikidataError):
                result.append(ask_wikidata(self.config, deadline - MARGIN * seconds, ids, language))

        thread = threading.Thread(target=ask, name="wikidata", daemon=True)
        thread.start()
        thread.join(max(0.0, deadline - time.monotonic()))
        with self._lock:
            later = self.clock() + FAILURE_SECONDS
            if not result:
                self._down_until = later
                return
            for id in ids:
                if id in result[0]:
                    self._known[id, language] = result[0][id]
                else:
                    self._absent[id] = later
            for kept in (self._known, self._absent):
                while len(kept) > CACHED:
                    kept.popitem(last=False)


def wikidata_id(iri: str) -> str | None:
    """The id in a link to Wikidata, None for any other IRI."""
    match = _LINK.fullmatch(iri)
    return match[1] if match else None


def _ids_of(release: Release, entity: int) -> list[str]:
    links = (link.iri for link in release[Graph].links(entity) if link.kind == "wikidata")
    return [id for id in map(wikidata_id, links) if id is not None]


def images_of(
    release: Release, entities: Sequence[int], texts: WikidataTexts, language: str
) -> dict[int, tuple[str, ...]]:
    """Addresses of pictures (P18) of those entities that link to items which ``texts`` keeps; nothing is asked."""
    found: dict[int, tuple[str, ...]] = {}
    for entity in entities:
        kept = texts.known(_ids_of(release, entity), language).values()
        if images := tuple(one.image for one in kept if one.image):
            found[entity] = images
    return found


def wikidata_lines(
    release: Release,
    analysis: Analysis,
    reads: Sequence[Read],
    texts: WikidataTexts | None,
    budgets: Sequence[Budget],
) -> tuple[ContextLine, ...]:
    """What Wikidata says of the first entities that link to it, as far as ``budgets`` hold it; nothing without ``texts``."""
    if texts is None:
        return ()
    links: dict[str, tuple[int, int]] = {}  # id -> number of the source, entity
    for read in reads:
        for entity in read.headers:
            for id in _ids_of(release, entity):
                if len(links) < texts.config.entities:
                    links.setdefault(id, (read.n, entity))
    lines: list[ContextLine] = []
    seen: set[int] = set()
    for id, item in texts.texts(list(links), analysis.reading.language).items():
        n, node = links[id]
        text = text_of(item)
        if text and pay([text], budgets, frame=() if n in seen else frame("wikidata", n)):
            seen.add(n)
            lines.append(ContextLine(text, Kind.WIKIDATA, n, (node,)))
    return tuple(lines)


# Characters of the block of counts, and how long its lists are. Source: the published CRM-RAG.
COUNTS_CHARACTERS = 3000
TYPES = 15
CENTRAL = 20  # names by PageRank, for each category
MAKERS = 30  # actors by number of works
RELATIONSHIPS = 8
LISTED_CHARACTERS = 60  # of a name in a list


def counts_lines(
    release: Release, analysis: Analysis, budget: Budget, others: Sequence[Budget]
) -> tuple[ContextLine, ...]:
    """Lines of counts, those first that bear most on the question; none for a SPECIFIC question or without room.

    The frame of the block is paid for too. A list that does not fit whole is cut, and says how many it leaves out.
    """
    budgets = [budget, *others]
    lines: list[ContextLine] = []
    if analysis.form is Form.SPECIFIC:
        return ()
    for head, items in _lists(release, analysis):
        around = () if lines else frame("counts", 0)
        text = _within(head, items, budgets, around)
        if text:
            lines.append(ContextLine(text, Kind.COUNT))
    return tuple(lines)


def _within(head: str, items: Sequence[str], budgets: Sequence[Budget], around: Sequence[str]) -> str:
    """``head: a; b and 3 more`` with as many items as can be paid for, ``around`` included; "" for none."""
    kept = list(items)
    while kept:
        left = len(items) - len(kept)
        text = f"{head}: {'; '.join(kept)}" + (f" and {left} more" if left else "")
        if pay([text], budgets, frame=around):
            return text
        del kept[len(kept) * 4 // 5 :]
    return ""


def _lists(release: Release, analysis: Analysis) -> Iterator[tuple[str, list[str]]]:
    """Heads and items, the most telling first."""
    counts = release[Aggregation]
    wanted = analysis.targets | analysis.contexts | analysis.reading.expects
    categories = sorted(
        counts.categories,
        key=lambda count: (not _bit(count.category) & analysis.targets, not _bit(count.category) & wanted),
    )
    yield (
        f"All {counts.entities} entities of the data set by category",
        [f"{count.category} {count.primary}" for count in categories if count.primary],
    )
    yield "Entities by class", [f"{_name(one.label)} {one.entities}" for one in counts.classes[:TYPES]]
    if not wanted or wanted & (Category.Actor | Category.Thing | Category.Event):
        yield (
            "Actors by number of works",
            [f"{_name(actor.label)} {actor.score:.0f}" for actor in counts.actors(MAKERS)],
        )
    for count in categories:
        if _bit(count.category) & (analysis.targets or wanted):
            names = (_name(ranked.label) for ranked in counts.top(count.category, CENTRAL))
            yield f"Most connected of {count.category}", list(dict.fromkeys(names))
    ends = {one.id: one.domain | one.range for one in release[World].catalogue}

    def order(count: RelationshipCount) -> tuple[bool, bool, int]:
        own = ends.get(count.key, 0)
        return not own & analysis.targets, not own & wanted, -count.pairs

    stated = sorted((count for count in counts.relationships if count.pairs), key=order)
    yield (
        "Relationships by pairs",
        [
            f"{_name(one.label)} {one.pairs} (from {one.sources} to {one.targets} entities)"
            for one in stated[:RELATIONSHIPS]
        ],
    )


def _bit(category: str) -> int:
    return int(Category.__members__.get(category, 0))


def _name(label: str) -> str:
    return shorten(plain(label), LISTED_CHARACTERS)


# Priorities of triples: both ends retrieved, high-value property, labelled, other.
BOTH, VALUED, LABELLED, OTHER = range(4)
# The block of triples. Source: the published CRM-RAG.
TRIPLES_CHARACTERS = 5000
PER_ENTITY = 15
ENTITY_CHARACTERS = 200  # at least; else characters / entities
HIGH_VALUE = (
    "P4", "P82a", "P82b", "P14", "P14i", "P108", "P108i", "P7", "P55", "P53", "P89", "P16", "P16i", "P12", "P12i", "P62",
    "P62i", "P46", "P46i", "P56", "P56i", "K24", "P9", "P9i",
)  # fmt: skip
_RDFS, _OWL = "http://www.w3.org/2000/01/rdf-schema#", "http://www.w3.org/2002/07/owl#"
# By exact IRI, never by a part of it.
EXCLUDED = {
    RDF_TYPE,
    *(_RDFS + name for name in ("label", "comment", "subClassOf", "subPropertyOf", "domain", "range", "seeAlso")),
    f"{_RDFS}isDefinedBy", f"{_OWL}inverseOf", f"{_OWL}equivalentClass",
}  # fmt: skip


@dataclass(frozen=True)
class Enrichment:
    """Chooses and writes the triples around retrieved entities."""

    release: Release
    facts: Facts
    names: Names
    language: str
    _written: dict[int, str] = field(default_factory=dict)

    def lines(
        self, reads: Sequence[Read], given: set[Fact], budget: Budget, others: Sequence[Budget]
    ) -> list[ContextLine]:
        """Lines for the entities of ``reads``, best source first, of triples that are not among ``given``.

        An entity takes at most ``PER_ENTITY`` triples and max(``ENTITY_CHARACTERS``, characters / entities) characters.
        What is taken is paid from ``budget`` and the ``others``, and joins ``given``.
        """
        home = {entity: read.n for read in reversed(reads) for entity in read.headers}
        retrieved = frozenset(home)
        share = max(ENTITY_CHARACTERS, TRIPLES_CHARACTERS // max(1, len(home)))
        found: list[ContextLine] = []
        for read in reads:
            for entity in read.headers:
                if home[entity] == read.n:
                    own = budget.part(share)
                    chosen = self.choose(entity, retrieved, given)
                    found += self._write(read.n, entity, chosen, given, [own, budget, *others])
        return found

    def choose(self, entity: int, retrieved: Container[int], given: Container[Fact]) -> list[Row]:
        """At most ``PER_ENTITY`` triples of an entity, by priority, then the order of ``HIGH_VALUE``, then number; without
        those ``given``."""
        flags = self.release[Graph].flags
        ranked: list[tuple[tuple[int, int, int], Row]] = []
        for number, s, p, o in self.facts.triples_of(entity):
            if number in given or self._excluded[p]:
                continue
            other, place = o if s == entity else s, self._value[p]
            if other in retrieved:
                priority = BOTH
            elif place < len(HIGH_VALUE):
                priority = VALUED
            else:
                priority = LABELLED if flags[other] & FLAG_LABELLED else OTHER
            ranked.append(((priority, place, number), (number, s, p, o)))
        return [row for _, row in heapq.nsmallest(PER_ENTITY, ranked)]

    def _write(
        self, n: int, entity: int, rows: Sequence[Row], given: set[Fact], budgets: Sequence[Budget]
    ) -> list[ContextLine]:
        """Lines of triples; those that read the same, as to things of one name, are one line with their number."""
        graph, alike = self.release[Graph], dict[str, dict[Fact, Row]]()
        seen: set[Fact] = set()
        for row in rows:
            _, s, p, o = row
            fact = self._fact(s, p, o)
            if fact not in given and fact not in seen:
                seen.add(fact)
                said = plain(graph.property_label(p, lang=self.language)) or plain(graph.property_iri(p))
                text = f"{self._name(s)} — {said} — {self._name(o)}"
                alike.setdefault(text, {})[fact] = row
        lines = []
        for text, found in alike.items():
            text += f" ×{len(found)}" if len(found) > 1 else ""
            if pay([text], budgets):
                numbers = tuple(row[0] for row in found.values())
                given.update(found, numbers)
                others = (o if s == entity else s for _, s, _, o in found.values())
                lines.append(
                    ContextLine(text, Kind.TRIPLE, n, tuple(dict.fromkeys((entity, *others))), None, numbers)
                )
        return lines

    def _fact(self, s: int, p: int, o: int) -> Fact:
        """The same for a triple and for its inverse, where the data states both."""
        code = self.release[Graph].property_code(p)
        if not code:
            return ("triple", p, s, o)
        return ("triple", code[:-1], o, s) if code.endswith("i") else ("triple", code, s, o)

    def _name(self, node: int) -> str:
        """A node's name; of a time-span its dates, of an event its name with them. Kept for one question."""
        if node not in self._written:
            graph, ontology, name = self.release[Graph], self.release.ontology, self.names.of(node)
            dates = self._dates(node)
            codes = (graph.class_code(number) for number in graph.types(node).tolist())
            if dates and any(code and ontology.is_a(code, "E52") for code in codes):
                name = dates
            elif not dates:
                forward = graph.adjacency.forward
                spans = [span for p in self._span_properties for span in forward.neighbours(p, node).tolist()]
                dates = next(filter(None, map(self._dates, spans)), "")
            self._written[node] = f"{name} ({dates})" if dates and dates not in name else name
        return self._written[node]

    def _dates(self, node: int) -> str:
        """The dates stated on a node in the language, else in the source's words; "" for none."""
        span = self.release[Graph].timespan(node)
        if span is None:
            return ""
        return (describe(span.interval, self.language) if span.interval else "") or plain(span.text)

    @cached_property
    def _span_properties(self) -> tuple[int, ...]:
        by_code = self.release[Graph].adjacency.by_code
        return tuple(
            n for code in self.release.method.dates.time_span_properties for n in by_code.get(code, ())
        )

    @cached_property
    def _excluded(self) -> list[bool]:
        """Of each property whether it is never shown."""
        graph = self.release[Graph]
        return [graph.property_iri(number) in EXCLUDED for number in range(len(graph.property_codes))]

    @cached_property
    def _value(self) -> list[int]:
        """Of each property its place among the high-value ones, their number for any other."""
        place = {code: at for at, code in enumerate(HIGH_VALUE)}
        return [place.get(code, len(HIGH_VALUE)) for code in self.release[Graph].property_codes]


SHORTEST_HEADER = 40  # characters; a name below it says little
DECAY = 0.9  # worth of a document's next line for each that it already has, so that one document does not take all
FINDINGS = 0.5  # share of all that findings may take before the documents
BESIDE = 0.4  # share of all that triples, counts and Wikidata may take before the documents
NAMES_BESIDE_SET = 8  # names of one line where a set answers: what a hub leads to is no news there
LONG_LINES = 5  # lines that are given at length before others are given at all; the rest where there is room


def assemble(
    release: Release,
    analysis: Analysis,
    candidates: Sequence[Candidate],
    ranked: Sequence[Evidence] = (),
    wikidata: WikidataTexts | None = None,
    known: KnownSet | None = None,
    findings: Sequence[Finding] = (),
    config: ContextConfig | None = None,
) -> Context:
    """The context for a question: ``candidates`` become sources 1, 2, … in their order, as far as the budget holds them.

    Within ``context.characters`` and ``context.tokens`` (of ``config``, None for the method's): counts (for questions
    that list or count) and Wikidata's texts; the header of every source; then the lines of ``ranked``, best first, each
    line of a document being worth ``DECAY`` times the one before; triples that none of them states; then what lines are
    left, document by document, where there is room. What one line states no other line states again.

    ``known``: a set, which comes first; it takes the place of counts, and leaves less room to all else. Its
    members keep their numbers as sources, others follow: first ``findings``, best first, as far as their share of the room
    holds them, then the candidates.
    """
    config = config or release.method.context
    whole = Budget(config.characters, config.tokens)
    numbers = {} if known is None else known.numbers
    if known is not None:
        told = "\n".join(known.written())
        whole = _left_beside(config, Budget(len(told) + 1, tokens(told) + 1))
    room = whole.characters
    beside = whole.part(room * BESIDE, BESIDE)
    counts: tuple[ContextLine, ...] = ()
    if known is None:
        counts = counts_lines(release, analysis, _share(beside, COUNTS_CHARACTERS, room), [whole])
    held = release[Documents]
    places: dict[int, int] = {}
    free = len(set(numbers.values()))
    found = list(_findings(findings, free, whole))
    free += len(found)
    for candidate in candidates:
        if candidate.document not in places:
            n = numbers.get(held.entity(candidate.document))
            free += n is None
            places[candidate.document] = n or free
    passages = {one.document: one.passages for one in candidates}
    reads = [
        read_document(release, n, one, sentences(release, one, passages[one]))
        for one, n in sorted(places.items(), key=lambda item: item[1])
    ]
    work = _Work(
        release, analysis, reads, whole, NAMES_BESIDE_SET if known is not None and known.answers else None
    )
    reserved = _share(beside, TRIPLES_CHARACTERS, room)
    documents = Budget(whole.characters - reserved.characters, whole.tokens - reserved.tokens)
    work.headers(documents)
    texts = wikidata_lines(release, analysis, work.reads, wikidata, [reserved, whole])
    work.ranked(ranked, documents)
    work.lengthen(ranked, documents)
    triples = work.enrich(whole.part(TRIPLES_CHARACTERS))
    work.rest()
    sources = [_source(release, one, triples.get(one.read.n, [])) for one in work.sources.values()]
    numbered = tuple(sorted([*found, *sources], key=lambda source: source.n))
    return measured(Context(numbered, texts, counts, known=known))


def _findings(findings: Sequence[Finding], before: int, whole: Budget) -> Iterator[ContextSource]:
    """Findings as sources, numbered from after ``before``, the first ones that their share of the whole budget holds; each
    with its label and as many of its lines as fit."""
    own = whole.part(whole.characters * FINDINGS, FINDINGS)
    for n, one in enumerate(findings, before + 1):
        around = frame(one.kind, n)
        head = shorten(plain(one.label), LINE_CHARACTERS)
        texts = [shorten(plain(text), LONG_LINE_CHARACTERS) for text in one.texts]
        if not texts or not pay([head, texts[0]], [own, whole], frame=around):
            return
        more = takewhile(lambda text: pay([text], [own, whole]), texts[1:])
        yield source_of(n, one, [head, texts[0], *more])


def _left_beside(config: ContextConfig, used: Budget) -> Budget:
    """What is left beside a set that takes ``used``."""
    characters = max(config.set_characters - used.characters, config.set_beside)
    return Budget(
        max(0, min(characters, config.characters - used.characters)), max(0, config.tokens - used.tokens)
    )


def _share(beside: Budget, characters: int, room: int) -> Budget:
    """The part of a block beside the documents: its characters, scaled down where the blocks do not all fit in the room."""
    blocks = TRIPLES_CHARACTERS + COUNTS_CHARACTERS
    scale = min(1.0, BESIDE * room / blocks)
    return beside.part(characters * scale, characters / blocks)


@dataclass
class _Source:
    """What was chosen of a document: entries by where they begin; its own budget; how many lines it has."""

    read: Read
    budget: Budget
    chosen: dict[int, Entry] = field(default_factory=dict)
    taken: int = 0


class _Work:
    """The state of putting one context together."""

    def __init__(
        self,
        release: Release,
        analysis: Analysis,
        reads: Sequence[Read],
        whole: Budget,
        most_names: int | None,
    ) -> None:
        self.release, self.config, self.whole = release, release.method.context, whole
        self.language = analysis.reading.language
        self.facts = Facts(release)
        self.names = Names(release)
        first = frozenset(one.entity for mention in analysis.mentions for one in mention.entities[:1])
        members = frozenset(entity for read in reads for entity in read.headers)
        self.writer = Writer(release, self.names, first, members, self.language, most_names)
        self.sources = {
            read.document: _Source(read, Budget(self.config.document_characters, whole.tokens))
            for read in reads
        }
        self.given: set[Fact] = set()
        self.entry_at = {(read.document, entry.line.start): entry for read in reads for entry in read.entries}

    @property
    def reads(self) -> list[Read]:
        """The documents of the sources."""
        return [source.read for source in self.sources.values()]

    def headers(self, documents: Budget) -> None:
        """The header of every source, with an equal share of half the room at most; those after one that does not fit are
        no sources, so that numbers have no gap."""
        room = documents.characters // (2 * max(1, len(self.sources)))
        sources, self.sources = self.sources, {}
        for document, source in sources.items():
            around = frame("source", source.read.n)
            limit = max(SHORTEST_HEADER, room - sum(map(len, around)) - 3)
            header = _shortened(source.read.headers[source.read.entity], min(LINE_CHARACTERS, limit))
            if not pay([header.text], [documents, self.whole, source.budget], frame=around):
                break
            self.sources[document] = source
            self._keep(source, header)

    def _keep(self, source: _Source, entry: Entry, facts: frozenset[Fact] | None = None) -> None:
        source.chosen[entry.line.start] = entry
        self.given |= (facts or self.facts.of(entry.line, entry.shown)) | {_said(entry)}

    def ranked(self, ranked: Sequence[Evidence], documents: Budget) -> None:
        """Lines, given best first, as they bear on the question; each is worth less the more its document has."""
        queues: dict[int, deque[tuple[float, int, Entry]]] = {}
        for at, one in enumerate(ranked):
            if (entry := self._entry(one)) is not None:
                queues.setdefault(one.line.document, deque()).append((one.score, at, entry))
        heap = [(-queue[0][0], queue[0][1], document) for document, queue in queues.items()]
        heapq.heapify(heap)
        long = LONG_LINES
        while heap and documents.characters > 0:
            document = heapq.heappop(heap)[2]
            source, queue = self.sources[document], queues[document]
            write = self.writer.long if long > 0 else self.writer.short
            if self._add(source, write(queue.popleft()[2]), [documents]):
                long -= 1
            if queue:
                score, at, _ = queue[0]
                heapq.heappush(heap, (-score * DECAY**source.taken, at, document))

    def _entry(self, one: Evidence) -> Entry | None:
        """The entry of a ranked line, None for one that is told in a header or of no source."""
        if one.line.document not in self.sources:
            return None
        return self.entry_at.get((one.line.document, one.line.start))

    def _add(self, source: _Source, entry: Entry, budgets: Sequence[Budget]) -> bool:
        """Take a line, with the header that it stands under, unless it is known or does not fit."""
        paying = [*budgets, self.whole, source.budget]
        if entry.line.start in source.chosen or any(len(entry.text) >= one.characters for one in paying):
            return False
        facts = self.facts.of(entry.line, entry.shown)
        if facts <= self.given or _said(entry) in self.given:
            return False
        header, above = source.read.headers.get(entry.line.entity), list[Entry]()
        if header is not None and header.line.start not in (*source.chosen, entry.line.start):
            above.append(_shortened(header, LINE_CHARACTERS))
        if not pay([one.text for one in (*above, entry)], paying):
            return False
        for one in above:
            self._keep(source, one)
        self._keep(source, entry, facts)
        source.taken += 1
        return True

    def lengthen(self, ranked: Sequence[Evidence], documents: Budget) -> None:
        """Lines that were cut at greater length, the best first, as far as there is room."""
        for one in ranked:
            entry = self._entry(one)
            if entry is None:
                continue
            source = self.sources[one.line.document]
            now = source.chosen.get(one.line.start)
            if now is None or not self.writer.is_cut(now):
                continue
            longer = self.writer.long(entry)
            paying = [documents, self.whole, source.budget]
            if longer.text != now.text and pay([longer.text], paying, instead=now.text):
                self._keep(source, longer)

    def enrich(self, budget: Budget) -> dict[int, list[ContextLine]]:
        """Triples by the number of their source."""
        enrichment = Enrichment(self.release, self.facts, self.names, self.language)
        found: dict[int, list[ContextLine]] = {}
        for line in enrichment.lines(self.reads, self.given, budget, [self.whole]):
            found.setdefault(line.n, []).append(line)
        return found

    def rest(self) -> None:
        """What is left, best document first, in its own order: lines, and headers of chained entities by themselves."""
        for source in self.sources.values():
            left = [*source.read.entries, *source.read.headers.values()]
            for entry in sorted(left, key=lambda entry: entry.line.start):
                self._add(source, self.writer.short(entry), [])


def _said(entry: Entry) -> Fact:
    """What a line says of whom in so many words."""
    return ("said", entry.line.entity, entry.text)


def _source(release: Release, source: _Source, triples: Iterable[ContextLine]) -> ContextSource:
    read = source.read
    lines = []
    for start in sorted(source.chosen):
        entry = source.chosen[start]
        kind = Kind.HEADER if entry.line.kind == Line.HEADER else Kind.DOCUMENT
        named = tuple(dict.fromkeys((entry.line.entity, *entry.shown)))
        lines.append(ContextLine(entry.text, kind, read.n, named, entry.line))
    own = {line.entities[0] for line in lines}
    told = {
        node
        for line in lines
        if line.line is not None and line.line.kind not in RELATIONAL
        for node in line.shown
    }
    members = (member.entity for member in release[Documents].members(read.document))
    entities = dict.fromkeys(
        [read.entity, *(entity for entity in members if entity in own or entity in told)]
    )
    return ContextSource(read.n, read.document, read.entity, (*lines, *triples), tuple(entities))
