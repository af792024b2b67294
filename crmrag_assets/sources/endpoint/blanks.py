"""Triples with blank nodes from an endpoint: whole components, each out of one response.

Blank nodes cannot be asked for by name and their labels hold within one response, so that a component of them (see
`crmrag_assets.harvest.skolem`) must come in one. Where all of them fit into a response, one is enough. Otherwise they are
asked for from the IRIs that they hang on, a batch of these in a response, which shows all triples of each node walked to:
a component is whole when it shows all of each of its nodes. Where it is not, longer walks follow. Each component belongs
to the first of its IRIs and is taken from that one's response only, so that none is taken twice. What cannot be had whole
is left out and named as missing; what nothing led to is found by counting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import pyoxigraph as ox

from crmrag_assets.build.progress import Progress
from crmrag_assets.harvest.skolem import components
from crmrag_assets.harvest.traffic import Missing
from crmrag_assets.sources.endpoint import blank_queries as queries
from crmrag_assets.sources.endpoint.blank_asking import Asking, Lacking
from crmrag_assets.sources.endpoint.blank_queries import (
    RINGS,
    ROOTS,
    SHORT,
    Anchor,
    Walk,
    around,
    start_of,
    walks,
)
from crmrag_assets.sources.endpoint.blank_views import Piece, has_ring, quads_of, shared_nodes
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import is_iri
from crmrag_assets.sources.iris import valid_iri
from crmrag_query.config.build import Requests

PAGE = 100  # anchors in a page below which sorting is given up
REFUSALS = 3  # refusals of a walk from one anchor after which it is not tried again, if it was never answered
LOOSE = ROOTS, RINGS
FEW = 10  # anchors that say too little of which walk most of them need
COMMON = 3  # walks, the first, that many anchors may need; the others are for the odd one
CALM = 10  # batches answered in a row after which a larger one is tried again
AGAIN = "entities whose blank nodes were asked for again, by a longer walk"
SHARED = "blank nodes that several subjects point at"
RING = "components of blank nodes with a ring"
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


def harvest_blanks(client: Client, settings: Requests, progress: Progress) -> Blanks:
    """Every triple with a blank node in whole components; raises SourceError when the endpoint stops answering."""
    try:
        counted = client.count(queries.count_touching(client.scope))
    except Unanswered:
        counted = None
    if counted == 0:
        return Blanks([], (), 0)
    asking = Asking(client)
    if counted is not None and counted <= settings.blank_rows:
        try:
            quads = quads_of(asking.all(counted), asking.responses)
        except Unanswered:
            pass
        else:
            client.note(SHARED, shared_nodes(quads))
            client.note(RING, sum(map(has_ring, components(quads))))
            lost = Missing(UNREADABLE, triples=asking.unreadable)
            return Blanks(quads, (lost,) if asking.unreadable else (), counted)
    return _Harvest(client, settings, progress, asking, counted).run()


@dataclass
class _Rung:
    """A walk and how it fared."""

    walk: Walk
    answered: bool = False
    refused: int = 0

    @property
    def hopeless(self) -> bool:
        return not self.answered and self.refused >= REFUSALS


@dataclass(frozen=True)
class _Held:
    """What is known of an anchor after its last response: components that are its own, whole and in part."""

    whole: tuple[Piece, ...]
    partial: tuple[Piece, ...]

    @property
    def parents(self) -> bool:
        return any(piece.parents for piece in self.partial)


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

    def __init__(
        self, client: Client, settings: Requests, progress: Progress, asking: Asking, counted: int | None
    ) -> None:
        self._client, self._settings, self._progress = client, settings, progress
        self._asking, self._counted = asking, counted
        self._rungs = [_Rung(walk) for walk in walks(settings.blank_depth)]
        self._first = 0  # rung that most anchors needed lately
        self._sizes = _Sizes(settings.batch_entities)
        self._anchors = set[str]()
        self._spelt: Mapping[str, tuple[str, ...]] = {}
        self._split = set[str]()  # anchors that are asked property by property
        self._failed = dict[Anchor, str]()  # anchors that nothing was got from, with the reason
        self._reasons = dict[Anchor, str]()
        self._held = dict[Anchor, _Held]()
        self._quads: list[ox.Quad] = []
        self._missing: list[Missing] = []

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
            self._progress.advance(len(self._quads), self._counted, "triples with blank nodes")
        if self._left() and self._recounted():
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
            later = [one for one in todo if not self._helps(rung.walk, one)]
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
        return walk != around(SHORT) or held is None or held.parents

    def _asked(self, rung: _Rung, anchors: list[Anchor]) -> list[Anchor]:
        """Ask for all these anchors by one walk, in batches as large as come whole; those still open."""
        waiting, open_ = anchors, list[Anchor]()
        while waiting and not rung.hopeless:
            batch = self._sizes.batch(waiting, self._single)
            rest = waiting[len(batch) :]
            try:
                pieces = self._asking.around(self._start(batch), rung.walk, len(batch) == 1)
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

    def _start(self, batch: list[Anchor]) -> queries.Start:
        spelt = self._spelt.get(batch[0].iri, ())
        return start_of(batch, self._client.scope, self._settings.blank_depth, spelt)

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
        own: dict[Anchor, list[Piece]] = {one: [] for one in batch}
        for piece in pieces:
            home = self._home(piece)
            if home in own:
                own[home].append(piece)
        open_ = []
        for anchor, found in own.items():
            held = _Held(
                tuple(piece for piece in found if piece.whole),
                tuple(piece for piece in found if not piece.whole),
            )
            self._held[anchor] = held
            if held.partial:
                open_.append(anchor)
            else:
                self._take(anchor)
        return open_

    def _home(self, piece: Piece) -> Anchor:
        """The anchor that the piece is taken from: its first one that did not fail."""
        listed = [
            Anchor(iri, by if iri in self._split else "") for iri, by in piece.hangs if iri in self._anchors
        ]
        if usable := [one for one in listed if one not in self._failed]:
            return min(usable)
        return ROOTS if piece.topped else RINGS

    def _take(self, anchor: Anchor) -> None:
        for piece in self._held.pop(anchor).whole:
            self._quads += piece.quads
            if shared := shared_nodes(piece.quads):
                self._client.note(SHARED, shared)
            if has_ring(piece.quads):
                self._client.note(RING)

    def _give_up(self, anchor: Anchor) -> None:
        """Take what is whole, name what is not."""
        if anchor not in self._held:
            self._fail(anchor, self._reasons.get(anchor, "it was not answered"))
            return
        partial = self._held[anchor].partial
        if anchor in LOOSE and partial and self._counted is None:
            self._missing.append(Missing(f"{UNNAMED}: {TOO_DEEP}"))
        for piece in partial if anchor not in LOOSE else ():  # these may be parts of what is named already
            by = min((by for iri, by in piece.hangs if iri == anchor.iri), default="")
            self._missing.append(Missing(TOO_DEEP, anchor.iri, by, len(piece.quads)))
        self._take(anchor)

    def _fail(self, anchor: Anchor, reason: str) -> None:
        self._failed[anchor] = reason
        what, by = (UNNAMED, "") if anchor in LOOSE else (AT, anchor.property)
        self._missing.append(Missing(f"{what}: {reason}", anchor.iri, by))

    def _recounted(self) -> bool:
        """Whether triples are left when those that several graphs repeat are counted once."""
        with suppress(Unanswered):
            self._counted = self._client.count(queries.count_touching_once(self._client.scope))
        return self._left() != 0

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
            counted = client.count(queries.count_anchors(client.scope))
            found = set(client.strings(queries.all_anchors(client.scope)))
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
        yield from fresh
        after = page[-1]
