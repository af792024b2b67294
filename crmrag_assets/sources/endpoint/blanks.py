"""Triples with blank nodes from an endpoint: whole components, each out of one response.

Blank nodes cannot be asked for by name and their labels hold within one response, so that a component of them (see
`crmrag_assets.harvest.spool`) must come in one. Where all of them fit into a response, one is enough. Otherwise they are
asked for from the IRIs that they hang on, a batch of these in a response, which shows all triples of each node walked to:
a component is whole when it shows all of each of its nodes. Where it is not, longer walks follow. Each component belongs
to the first of its IRIs and is taken from that one's response only, so that none is taken twice. What cannot be had whole
is left out and named as missing; what nothing led to is found by counting. Every response is compared with a count, as one
with too few rows has status 200 like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar, cast

import pyoxigraph as ox

from crmrag_assets.harvest.report import Missing
from crmrag_assets.harvest.spool import blank_ends, components
from crmrag_assets.sources.endpoint import queries
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import (
    RINGS,
    ROOTS,
    SHORT,
    Anchor,
    Walk,
    around,
    is_iri,
    start_of,
    walks,
)
from crmrag_assets.sources.endpoint.results import Row, Term
from crmrag_assets.sources.rdf.lines import valid_iri
from crmrag_query.syntax import RDF_TYPE

T = TypeVar("T")


@dataclass(frozen=True)
class Piece:
    """A component of blank nodes as far as a response shows it; it is whole when it shows all of each node.

    ``hangs`` holds IRIs that it can be asked for from, each with the property; ``topped``: nothing points at one of its
    nodes; ``parents``: a node points at it whose own triples are not shown.
    """

    quads: tuple[ox.Quad, ...]
    whole: bool
    hangs: frozenset[tuple[str, str]]
    topped: bool
    parents: bool


def pieces_of(rows: Iterable[Row], number: int) -> list[Piece]:
    """The pieces that rows of x, p, out, in (and g) show: the triples `x p out` and `in p x`, each x shown in full."""
    seen, quads = set[str](), dict[ox.Quad, None]()
    for x, p, out, into, *graph in rows:
        quad = _quad(x, p, out, graph, number) if into is None else _quad(into, p, x, graph, number)
        if isinstance(x, ox.BlankNode) and quad:
            seen.add(_labelled(x, number).value)
            quads[quad] = None
    return [_piece(component, seen) for component in components(quads)]


def is_shown(row: Row) -> bool:
    """Whether a row of x, p, out, in says something of a blank node x."""
    return isinstance(row[0], ox.BlankNode) and row[1] is not None and (row[2] is None) != (row[3] is None)


def _piece(component: Sequence[ox.Quad], seen: set[str]) -> Piece:
    nodes = {end for quad in component for end in blank_ends(quad)}
    below = {quad.object.value for quad in component if isinstance(quad.object, ox.BlankNode)}
    tops = (nodes & seen) - below
    hidden = nodes - seen
    hangs = set[tuple[str, str]]()
    for s, p, o, _ in component:
        if isinstance(s, ox.NamedNode):
            hangs.add((s.value, p.value))
        elif isinstance(o, ox.NamedNode) and cast(ox.BlankNode, s).value in tops and p.value != RDF_TYPE:
            hangs.add((o.value, p.value))
    parents = any(
        isinstance(quad.subject, ox.BlankNode) and quad.subject.value in hidden for quad in component
    )
    return Piece(tuple(component), not hidden, frozenset(hangs), bool(tops), parents)


def _quad(
    s: Term | None, p: Term | None, o: Term | None, graph: Sequence[Term | None], number: int
) -> ox.Quad | None:
    """The triple with labels of response ``number``; None for what is no triple, or one about a triple."""
    if not isinstance(p, ox.NamedNode) or not isinstance(s, ox.NamedNode | ox.BlankNode):
        return None
    if o is None or isinstance(o, ox.Triple):
        return None
    name = graph[0] if graph else None
    if isinstance(name, ox.NamedNode | ox.BlankNode):
        return ox.Quad(_labelled(s, number), p, _labelled(o, number), _labelled(name, number))
    return ox.Quad(_labelled(s, number), p, _labelled(o, number))


def _labelled(term: T, number: int) -> T:
    if isinstance(term, ox.BlankNode):
        return cast(T, ox.BlankNode(f"r{number}-{term.value}"))
    return term


VIEW = "x", "p", "out", "in", "g"
RESPONSES = "responses with blank nodes"
UNCOUNTED = "responses that no count verified"
PAGE = 100  # anchors in a page below which sorting is given up
REFUSALS = 3  # refusals of a walk from one anchor after which it is not tried again, if it was never answered
LOOSE = ROOTS, RINGS
FEW = 10  # anchors that say too little of which walk most of them need
COMMON = 3  # walks, the first, that many anchors may need; the others are for the odd one
CALM = 10  # batches answered in a row after which a larger one is tried again
AGAIN = "entities whose blank nodes were asked for again, by a longer walk"
TOO_DEEP = "blank nodes hang together too far to be fetched whole"
AT = "with blank nodes that hang on it"
UNNAMED = "with blank nodes that no IRI leads to"
UNREADABLE = "with blank nodes: an IRI in them is relative or invalid"
UNREACHED = "with blank nodes that no walk reached whole"


@dataclass(frozen=True)
class Blanks:
    """Triples with blank nodes, whose labels are unique by response, and what is missing of them.

    ``counted`` triples with blank nodes are what the endpoint says to have; None where it would not count them.
    """

    quads: list[ox.Quad]
    missing: tuple[Missing, ...] = ()
    counted: int | None = None


def harvest_blanks(client: Client) -> Blanks:
    """Every triple with a blank node in whole components; raises SourceError when the endpoint stops answering."""
    counted = client.counted(queries.count(queries.touching(client.scope)))
    if counted == 0:
        return Blanks([], (), 0)
    harvest = _Harvest(client, counted)
    if counted is not None and counted <= client.settings.blank_rows:
        with suppress(Unanswered):
            return harvest.at_once(counted)
    return harvest.run()


@dataclass
class _Rung:
    """A walk and how it fared."""

    walk: Walk
    answered: bool = False
    refused: int = 0

    @property
    def hopeless(self) -> bool:
        return not self.answered and self.refused >= REFUSALS


class Lacking(Unanswered):
    """A response came with fewer rows than the endpoint counts."""


class _Sizes:
    """How many anchors are asked for at once: half as many after a failure, slowly more after answers."""

    def __init__(self, limit: int) -> None:
        self._limit = self._size = self._most = self._before = limit
        self._calm = 0

    def batch(self, waiting: Sequence[Anchor], single: Callable[[Anchor], bool]) -> list[Anchor]:
        """The next anchors; a ``single`` one goes alone."""
        batch = list(waiting[: self._size])
        until = next((at for at, one in enumerate(batch) if single(one)), len(batch))
        return batch[: max(1, until)]

    def answered(self) -> None:
        self._calm += 1
        if self._calm % CALM == 0:
            self._most = min(2 * self._most, self._limit)
        self._size = min(2 * self._size, self._most)

    def failed(self, size: int, answers: bool) -> None:
        """Of several anchors; where the endpoint never answers such a query, one is tried before any number."""
        if self._calm:
            self._before = self._most
        self._calm = 0
        self._size = size // 2 if answers else 1
        self._most = self._size if answers else self._most

    def failed_alone(self) -> None:
        """The fault was this anchor's: the others may be as many as before."""
        self._most = self._before


class _Harvest:
    """Walks from anchor to anchor in their order; what is taken, what is missing."""

    def __init__(self, client: Client, counted: int | None) -> None:
        self._client, self._settings, self._counted = client, client.settings, counted
        self._responses = self._unreadable = 0  # rows with an IRI that no repair makes valid
        self._rungs = [_Rung(walk) for walk in walks(self._settings.blank_depth)]
        self._first = 0  # rung that most anchors needed lately
        self._sizes = _Sizes(self._settings.batch_entities)
        self._anchors = set[str]()
        self._spelt: Mapping[str, tuple[str, ...]] = {}
        self._split = set[str]()  # anchors that are asked property by property
        self._failed = set[Anchor]()  # anchors that nothing was got from
        self._reasons = dict[Anchor, str]()
        self._held = dict[Anchor, list[Piece]]()  # components that are an anchor's own, by its last response
        self._quads: list[ox.Quad] = []
        self._missing: list[Missing] = []

    def at_once(self, counted: int) -> Blanks:
        """All of them in one response; raises Unanswered."""
        scope = self._client.scope
        query = scope.select(queries.touching(scope), "?s", "?p", "?o")
        rows = self._verified(query, ("s", "p", "o", "g"), counted, True)
        made = (_quad(s, p, o, graph, self._responses) for s, p, o, *graph in rows)
        quads = list(dict.fromkeys(quad for quad in made if quad and blank_ends(quad)))
        lost = (Missing(UNREADABLE, triples=self._unreadable),) if self._unreadable else ()
        return Blanks(quads, lost, counted)

    def run(self) -> Blanks:
        listed, unlisted = _listed(self._client, self._settings.page_rows)
        self._missing += unlisted
        self._spelt = _spelt(listed)
        self._anchors = {*filter(is_iri, listed), *self._spelt}
        todo = [Anchor(one) for one in sorted(self._anchors)]
        size = self._settings.batch_entities
        for at in range(0, len(todo), size):
            if self._left() == 0:
                break
            self._climb(todo[at : at + size])
        if self._left():
            with suppress(Unanswered):  # those that several graphs repeat once
                self._counted = self._client.count(queries.count_touching_once(self._client.scope))
            for loose in LOOSE:
                if self._left() != 0:
                    self._climb([loose])
        return Blanks(self._quads, self._lost(), self._counted)

    def _left(self) -> int | None:
        """Triples that are counted and not yet taken; None where there is no count."""
        return None if self._counted is None else self._counted - len(self._quads)

    def _climb(self, anchors: list[Anchor]) -> None:
        """Try one walk after another until each anchor's own components are taken, or named as missing."""
        todo = anchors
        for number, rung in enumerate(self._rungs):
            if number < self._first and anchors[0] not in LOOSE:
                continue
            now = [one for one in todo if self._helps(rung.walk, one)]
            if not now or rung.hopeless:
                continue
            if todo is not anchors:
                self._client.note(AGAIN, len(now))
            later = set(todo) - set(now)
            todo = sorted([*later, *self._asked(rung, now)])
            if len(anchors) > FEW and 2 * len(todo) > len(anchors):
                self._first = min(number + 1, COMMON)
        for one in todo:
            self._give_up(one)

    def _helps(self, walk: Walk, anchor: Anchor) -> bool:
        """Whether a walk can show more of an anchor's components.

        The short one upwards does where parents lack; what only hangs on rings is below them.
        """
        if anchor == RINGS:
            return not walk.upwards and walk.longest <= self._settings.blank_depth
        held = self._held.get(anchor)
        return walk != around(SHORT) or held is None or any(piece.parents for piece in held)

    def _asked(self, rung: _Rung, anchors: list[Anchor]) -> list[Anchor]:
        """Ask for all these anchors by one walk, in batches as large as come whole; those still open."""
        waiting, open_ = anchors, list[Anchor]()
        while waiting and not rung.hopeless:
            batch = self._sizes.batch(waiting, self._single)
            rest = waiting[len(batch) :]
            try:
                pieces = self._around(batch, rung.walk)
            except Unanswered as error:
                rung.answered |= isinstance(error, Lacking)
                if len(batch) > 1:
                    self._sizes.failed(len(batch), rung.answered)
                    continue
                left, parts = self._alone(batch[0], rung, error)
                open_ += left
                waiting = [*parts, *rest]
                continue
            rung.answered = True
            self._sizes.answered()
            open_ += self._settled(batch, pieces)
            waiting = rest
        return [*open_, *waiting]

    def _alone(self, anchor: Anchor, rung: _Rung, error: Unanswered) -> tuple[list[Anchor], list[Anchor]]:
        """What is left of an anchor that was not answered alone: itself for a longer walk, or its properties."""
        rung.refused += 1
        self._sizes.failed_alone()
        self._reasons[anchor] = error.reason
        if anchor in self._held or not rung.answered:
            return [anchor], []
        if parts := self._by_property(anchor):
            return [], parts
        self._fail(anchor, error.reason)  # a longer walk would bring more still
        return [], []

    def _around(self, batch: list[Anchor], walk: Walk) -> list[Piece]:
        """What a walk from these anchors shows; raises Unanswered."""
        scope, alone = self._client.scope, len(batch) == 1
        start = start_of(batch, scope, self._settings.blank_depth, self._spelt.get(batch[0].iri, ()))
        pattern = queries.surroundings(start, walk, scope)
        try:
            counted = self._client.count(queries.count(pattern), alone)
        except Unanswered:
            if self._client.counts:
                raise
            # one that never counts is asked for the rows in two halves
            self._client.note(UNCOUNTED)
            parts = [
                self._client.table(part, self._named("x", "p", "o", "g"))
                for part in queries.halves(start, walk, scope)
            ]
            counted = sum(len(part.rows) + part.skipped for part in parts)
        if not counted:
            return []
        rows = self._verified(scope.select(pattern, "?x", "?p", "?out", "?in"), VIEW, counted, alone)
        return pieces_of(rows, self._responses)

    def _verified(self, query: str, variables: tuple[str, ...], counted: int, alone: bool) -> list[Row]:
        """As many rows as are counted; where some are lacking and the query cannot be split it is asked again."""
        cap = self._client.learned.row_cap
        if cap and counted > cap:
            raise Lacking(f"it gives {cap:,} rows at most")
        given = 0
        for attempt in range(2 if alone else 1):
            table = self._client.table(query, self._named(*variables), alone)
            rows = table.rows if variables != VIEW else [row for row in table.rows if is_shown(row)]
            self._client.saw(len(table.rows))
            if len(rows) + table.skipped >= counted:
                self._responses += 1
                self._unreadable += table.skipped
                self._client.note(RESPONSES)
                return rows
            if attempt and len(rows) == given and self._client.is_longest(given):
                self._client.learn_cap(given)
            given = len(rows)
        raise Lacking(f"its response has {given:,} of {counted:,} rows")

    def _named(self, *variables: str) -> tuple[str, ...]:
        return variables if self._client.scope.graph else variables[:-1]

    def _single(self, anchor: Anchor) -> bool:
        """Whether an anchor must be asked for alone."""
        return bool(anchor.property) or anchor.iri in self._spelt

    def _by_property(self, anchor: Anchor) -> list[Anchor]:
        """An anchor property by property; none where that makes no difference."""
        if self._single(anchor):
            return []
        try:
            found = self._client.strings(queries.properties_at(anchor, self._client.scope))
        except Unanswered:
            return []
        if len(found) < 2 or not all(map(is_iri, found)):
            return []
        self._split.add(anchor.iri)
        return [Anchor(anchor.iri, one) for one in sorted(found)]

    def _settled(self, batch: list[Anchor], pieces: Sequence[Piece]) -> list[Anchor]:
        """Take the components that belong to these anchors; those of which one is not whole stay open."""
        held = {anchor: list[Piece]() for anchor in batch}
        for piece in pieces:
            if (home := self._home(piece)) in held:
                held[home].append(piece)
        self._held |= held
        for anchor in batch:
            if all(piece.whole for piece in held[anchor]):
                self._take(anchor)
        return [anchor for anchor in batch if anchor in self._held]

    def _home(self, piece: Piece) -> Anchor:
        """The anchor that the piece is taken from: its first one that did not fail."""
        listed = [
            Anchor(iri, by if iri in self._split else "") for iri, by in piece.hangs if iri in self._anchors
        ]
        if usable := [one for one in listed if one not in self._failed]:
            return min(usable)
        return ROOTS if piece.topped else RINGS

    def _take(self, anchor: Anchor) -> None:
        for piece in self._held.pop(anchor):
            if piece.whole:
                self._quads += piece.quads
                self._client.brought(len(piece.quads))

    def _give_up(self, anchor: Anchor) -> None:
        """Take what is whole, name what is not."""
        if anchor not in self._held:
            self._fail(anchor, self._reasons.get(anchor, "it was not answered"))
            return
        partial = [piece for piece in self._held[anchor] if not piece.whole]
        if anchor not in LOOSE:
            for piece in partial:
                by = min((by for iri, by in piece.hangs if iri == anchor.iri), default="")
                self._missing.append(Missing(TOO_DEEP, anchor.iri, by, len(piece.quads)))
        elif partial and self._counted is None:  # else they may be parts of what is named already
            self._missing.append(Missing(f"{UNNAMED}: {TOO_DEEP}"))
        self._take(anchor)

    def _fail(self, anchor: Anchor, reason: str) -> None:
        self._failed.add(anchor)
        what, by = (UNNAMED, "") if anchor in LOOSE else (AT, anchor.property)
        self._missing.append(Missing(f"{what}: {reason}", anchor.iri, by))

    def _lost(self) -> tuple[Missing, ...]:
        """What is missing, in numbers that add up to what was counted and not taken; nothing where all was."""
        left = self._left()
        if left is None:
            return tuple(self._missing)
        if left <= 0:
            return ()
        seen = sum(lost.triples or 0 for lost in self._missing)
        if seen > left:
            return (
                *(replace(lost, triples=None) for lost in self._missing),
                Missing(UNREACHED, triples=left),
            )
        rest = (Missing(UNREACHED, triples=left - seen),) if left > seen else ()
        return (*self._missing, *rest)


def _spelt(listed: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """IRIs as they come repaired -> as the endpoint spells them, of those that are not valid; relative ones left out."""
    spelt: dict[str, tuple[str, ...]] = {}
    for raw in (one for one in listed if not is_iri(one)):
        with suppress(ValueError):
            iri = valid_iri(raw).value
            spelt[iri] = (*spelt.get(iri, (iri,)), raw)
    return spelt


def _listed(client: Client, limit: int) -> tuple[list[str], list[Missing]]:
    """IRIs of all anchors, sorted; what is missing where the endpoint will not list them."""
    try:
        try:
            found = set(_pages(client, limit))
        except Unanswered:
            anchors = queries.anchors(client.scope)
            counted = client.count(queries.count(anchors, "DISTINCT ?a"))
            found = set(client.strings(queries.strings("?a", "iri", anchors)))
            if len(found) < counted:
                lost = f"{counted - len(found):,} entities with blank nodes are counted and were never given"
                return sorted(found), [Missing(lost)]
    except Unanswered as error:
        return [], [Missing(f"entities with blank nodes cannot be listed: {error.reason}")]
    return sorted(found), []


def _pages(client: Client, limit: int) -> Iterator[str]:
    """Anchors page by page until none is new, as a short page may be a silent cap."""
    after, seen = "", set[str]()
    while True:
        try:
            page = client.strings(queries.anchor_page(client.scope, after, limit))
        except Unanswered:
            if limit <= PAGE:
                raise
            limit = max(PAGE, limit // 4)
            continue
        fresh = [iri for iri in page if iri not in seen]
        if not fresh:
            return
        seen.update(fresh)
        client.brought(len(fresh))
        yield from fresh
        after = page[-1]
