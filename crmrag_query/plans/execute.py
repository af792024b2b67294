"""Executing a plan exactly on the arrays of a graph: who its members are, and why each of them is.

Members are found as sets of nodes, constraint by constraint; a text is looked for in folded names or literals. A proof gives
for each condition one way, node by node, each step a triple.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import product

import numpy as np
import pyarrow as pa

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Bytes, Ints, Longs, distinct, spread, united
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END
from crmrag_query.plans.compute import UNCERTAIN, UNDATED, Outcome, compute, in_unit
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Texted,
    Valued,
    Way,
    check_size,
)
from crmrag_query.plans.ways import (
    LiteralValue,
    Routes,
    Walk,
    leading_to,
    leading_to_literals,
    led_on,
    link_pairs,
    links_of,
    literal,
    nodes_leading_to,
    numbers,
    of_types,
    targeted,
    way_literals,
    ways_over,
)
from crmrag_query.plans.world import (
    Mask,
    World,
    class_numbers,
    how_many,
    read_nodes,
    subjects_in,
)
from crmrag_query.relationships.engine import Hop
from crmrag_query.text import fold
from crmrag_query.timing import check, working

_SHARE = 100  # all texts are looked through where those of more than one node in so many are asked for
_HITS = 200_000  # found one by one; what is more frequent is left to Arrow
_TOGETHER = 100  # needles in one regular expression, of which RE2 takes so many
_KEPT = 64  # needles of which is kept which texts hold them: a question asks for the same again and again


def holding(world: World, constraint: Texted, among: Mask) -> Mask:
    """Nodes of ``among`` for which a text is held, negated or not. Raises QuestionError for a text without letters."""
    needles, whole = tuple(dict.fromkeys(fold(text) for text in constraint.texts)), constraint.whole
    if not all(any(map(str.isalnum, needle)) for needle in needles):
        raise QuestionError("The text to look for holds no letter or digit.", "Give a word.")
    if np.count_nonzero(among) * _SHARE > world.size:  # from the texts that hold it back to who has them
        if constraint.way is None:
            rows = np.flatnonzero(world.kept(searched_names).holding(needles, whole))
            return among & world.mask(np.searchsorted(world.names[0], rows, side="right") - 1)
        rows = np.flatnonzero(world.kept(searched_literals).holding(needles, whole))
        return among & leading_to_literals(world, constraint.way, rows)
    nodes = np.flatnonzero(among).astype(np.int32)
    if constraint.way is None:
        index, row = spread(world.names[0], nodes)
        texts = Folded.of(world.kept(searched_names).column.take(pa.array(row)))
        return world.mask(nodes[index[texts.matching(needles, whole)]])
    index, row = way_literals(world, constraint.way, nodes)
    several, back = np.unique(row, return_inverse=True)
    texts = Folded.of(folded(world.graph.literal_table.column("value").take(pa.array(several))))
    return world.mask(nodes[index[texts.matching(needles, whole)[back]]])


def searched_names(world: World) -> Folded:
    """The names, folded in memory: two seconds for two million of them."""
    return Folded.of(folded(world.names[1]))


def searched_literals(world: World) -> Folded:
    """The texts of all literals, folded in memory."""
    return Folded.of(folded(world.graph.literal_table.column("value")))


def folded(texts: pa.LargeStringArray) -> pa.LargeStringArray:
    """The texts as `fold` folds each; ASCII ones all at once."""
    import pyarrow.compute as pc

    odd = pc.or_(pc.invert(pc.string_is_ascii(texts)), pc.match_substring(texts, "_"))
    by_hand = pa.array([fold(text) for text in texts.filter(odd).to_pylist()], pa.large_utf8())
    plain = pc.ascii_lower(texts)
    return pc.replace_with_mask(plain, odd, by_hand) if len(by_hand) else plain


@dataclass(frozen=True)
class Folded:
    """Folded texts as one piece of UTF-8, in which `bytes.find` is several times faster than Arrow's kernels.

    ``ends`` int64 [texts + 1]: where each begins and the one before ends; ``column``: the same texts, not copied.
    """

    utf8: bytes
    ends: Longs
    column: pa.LargeStringArray

    @classmethod
    def of(cls, texts: pa.LargeStringArray) -> Folded:
        _, offsets, data = texts.buffers()
        if data is None or not len(texts):
            return cls(b"", np.zeros(len(texts) + 1, np.int64), pa.array([""] * len(texts), pa.large_utf8()))
        ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
        utf8 = data.slice(int(ends[0]), int(ends[-1] - ends[0])).to_pybytes()
        ends = ends - ends[0]
        column = pa.LargeStringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(utf8))
        return cls(utf8, ends, column)

    def __len__(self) -> int:
        return len(self.ends) - 1

    def holding(self, needles: tuple[str, ...], whole: bool) -> Mask:
        """As `matching`; what was looked for last is kept."""
        return np.unpackbits(self._found(needles, whole), count=len(self)).view(bool)

    @cached_property
    def _found(self) -> Callable[[tuple[str, ...], bool], Bytes]:
        def found(needles: tuple[str, ...], whole: bool) -> Bytes:
            return np.packbits(self.matching(needles, whole))

        return lru_cache(_KEPT)(found)

    def matching(self, needles: tuple[str, ...], whole: bool) -> Mask:
        """Which texts hold a folded needle."""
        found = np.zeros(len(self), bool)
        for first in range(0, len(needles), _TOGETHER):
            check()
            some = needles[first : first + _TOGETHER]
            any_of = "|".join(map(_escaped, some))  # RE2 looks for all of them in one pass
            held = self._having(some[0]) if len(some) == 1 else _matching(self.column, any_of)
            if whole and held.any():
                pattern = rf"(^|[^\pL\pN])(?:{any_of})([^\pL\pN]|$)"
                held[held] = _matching(self.column.filter(pa.array(held)), pattern)
            found |= held
        return found

    def _having(self, needle: str) -> Mask:
        import pyarrow.compute as pc

        sought = needle.encode()
        hits: list[int] = []
        at = self.utf8.find(sought)
        while at >= 0 and len(hits) < _HITS:
            hits.append(at)
            at = self.utf8.find(sought, at + 1)
        if at >= 0:
            return np.array(pc.match_substring(self.column, needle).to_numpy(zero_copy_only=False), bool)
        found = np.zeros(len(self), bool)
        hit = np.array(hits, np.int64)
        row = np.searchsorted(self.ends, hit, side="right") - 1
        found[row[hit + len(sought) <= self.ends[row + 1]]] = True
        return found


def _matching(texts: pa.LargeStringArray, pattern: str) -> Mask:
    import pyarrow.compute as pc

    return np.array(pc.match_substring_regex(texts, pattern).to_numpy(zero_copy_only=False), bool)


def _escaped(needle: str) -> str:
    """The needle as a regular expression of RE2."""
    return "".join(char if char.isalnum() or not char.isascii() else re.escape(char) for char in needle)


ALL = slice(None)


def find_members(world: World, plan: Plan) -> Mask:
    """The members: entities of the target for which every constraint holds. Raises QuestionError."""
    return _narrowed(world, plan)[1]


def _narrowed(world: World, plan: Plan, asked: Mask | None = None) -> tuple[Mask, Mask]:
    """Of the target, and of those ``asked``, whom all but dates, texts and choices keep, and whom these keep too."""
    among = world.recalled(plan.target, lambda: _nodes(targeted(world, plan.target))).mask
    among = among if asked is None else among & asked
    last = [one for one in plan.where if isinstance(one, Dated | Texted | Either)]
    for one in plan.where:
        if not isinstance(one, Dated | Texted | Either):
            among = satisfying(world, one, among)
    within = among
    for one in sorted(last, key=lambda one: not isinstance(one, Dated)):
        within = satisfying(world, one, within)
    return among, within


def _left_out(world: World, plan: Plan, among: Mask, within: Mask) -> dict[str, Ints]:
    """Why those that all but the dates keep are not members: no date at all, or one that only may lie in the period."""
    dates = [one for one in plan.where if isinstance(one, Dated) and not one.negated]
    left = among & ~within
    if not dates or not left.any():
        return {}
    for one in plan.where:
        if isinstance(one, Texted | Either) or (isinstance(one, Dated) and one.negated):
            left = satisfying(world, one, left)
    undated, possible = np.zeros(world.size, bool), left.copy()
    for one in dates:
        known = _span(world, one)[2]
        undated |= left & ~(known if one.way is None else leading_to(world, one.way, _nodes(known), left))
        possible = satisfying(world, one.model_copy(update={"certain": False}), possible)
    reasons = {UNDATED: undated, UNCERTAIN: possible & ~undated}
    return {reason: _nodes(mask) for reason, mask in reasons.items() if mask.any()}


def satisfying(world: World, constraint: Constraint, among: Mask) -> Mask:
    """Those of ``among`` for which the constraint holds."""
    found = _stated(world, constraint, among)
    return among & (~found if constraint.negated else found)


def _stated(world: World, constraint: Constraint, among: Mask) -> Mask:
    """Nodes for which what the constraint says holds, negated or not; only those of ``among`` are looked at."""
    check()
    match constraint:
        case Related():
            return related(world, constraint, among)
        case Dated():
            return dated(world, constraint, among)
        case Texted():
            return holding(world, constraint, among)
        case Valued():
            return valued(world, constraint)
        case Among():
            return world.mask(world.nodes_of(constraint.iris))
        case Member():
            return world.mask(members_of(world, constraint.plan))
        case StatedIn():
            return subjects_in(world, constraint.graphs)
        case ReadFromPage():
            return read_nodes(world)
        case Either():
            found = np.zeros(world.size, bool)
            for one in constraint.of:
                found |= satisfying(world, one, among & ~found)
            return found


def related(world: World, constraint: Related, among: Mask | None = None) -> Mask:
    """Nodes, perhaps of ``among`` alone, that lead by the way to the anchor, negated or not."""
    way, anchor = constraint.way, constraint.to
    return _recalled(world, way, anchor, lambda: anchored(world, anchor), among)


def dated(world: World, constraint: Dated, among: Mask | None = None) -> Mask:
    """Nodes, perhaps of ``among`` alone, with a date in the period, or that lead by the way to one, negated or not."""
    if constraint.way is None:
        return within_period(world, constraint)
    period = constraint.model_copy(update={"negated": False, "way": None})
    return _recalled(world, constraint.way, period, lambda: _nodes(within_period(world, period)), among)


def valued(world: World, constraint: Valued) -> Mask:
    """Nodes that lead by the way to a number within the bounds, negated or not."""
    stated = constraint.model_copy(update={"negated": False})
    return world.recalled(
        stated, lambda: _nodes(leading_to_literals(world, stated.way, _rows_within(world, stated)))
    ).mask


def _rows_within(world: World, constraint: Valued) -> Longs:
    """The rows of the literals, of properties that the way may end in, that state a number within the bounds."""
    last = links_of(world, constraint.way)[-1]
    ends = {number for route in last for _, properties in route.literals for number in properties}
    rows = np.flatnonzero(np.isin(world.literal_property, [*ends]))
    states, value = numbers(world, rows)
    rows = rows[states]
    if constraint.unit:
        owners = np.asarray(world.graph.literal_table.column("subject").to_numpy())[rows]
        known, value = in_unit(world, owners.astype(np.int32), value, constraint.unit)
        rows, value = rows[known], value[known]
    within = np.ones(len(rows), bool)
    if (least := constraint.least) is not None:
        within &= (value >= least) if constraint.least_counts else (value > least)
    if (most := constraint.most) is not None:
        within &= (value <= most) if constraint.most_counts else (value < most)
    return rows[within]


def _recalled(
    world: World, way: Way, to: Hashable, ends: Callable[[], Ints | None], among: Mask | None
) -> Mask:
    """Nodes that lead by the way to the ends, kept for other plans; not by relationships, which look at ``among`` alone."""
    if any(route.relationship for routes in links_of(world, way) for route in routes):
        return leading_to(world, way, ends(), among)
    return world.recalled((way, to), lambda: nodes_leading_to(world, way, ends())).mask


def within_period(world: World, constraint: Dated, nodes: Ints | slice = ALL) -> Mask:
    """Which of the nodes have a date of their own that lies in the period, or (not ``certain``) overlaps it."""
    begin, end, known = _span(world, constraint, nodes)
    first = OPEN_BEGIN if constraint.begin is None else constraint.begin
    last = OPEN_END if constraint.end is None else constraint.end
    if constraint.certain:
        return known & (begin >= first) & (end <= last)
    return known & (begin <= last) & (end >= first)


def _span(world: World, constraint: Dated, nodes: Ints | slice = ALL) -> tuple[Ints, Ints, Mask]:
    """First and last day of what counts of the nodes' own dates, and which of them have that."""
    begin, end = (side[nodes] for side in world.extents)
    if constraint.edge == "begin":
        return begin, begin, np.asarray(begin != OPEN_BEGIN)
    if constraint.edge == "end":
        return end, end, np.asarray(end != OPEN_END)
    return begin, end, world.dated[nodes]


def anchored(world: World, anchor: Anchor, asked: Mask | None = None) -> Ints | None:
    """The nodes of an anchor, ascending; None for anything at all. ``asked``: a plan's members are told of these alone."""
    if not (anchor.iris or anchor.types or anchor.plan):
        return None
    found = np.zeros(world.size, bool)
    found[world.nodes_of(anchor.iris)] = True
    if anchor.types:
        found |= world.of_classes(anchored_classes(world, anchor))
        found |= of_types(world, anchor.types)
    if anchor.plan is not None:
        found[members_of(world, anchor.plan, asked)] = True
    return _nodes(found)


def anchored_classes(world: World, anchor: Anchor) -> list[int]:
    """Class numbers that the anchor's types name; a type that is none gives none."""
    return sorted({n for name in anchor.types for n in class_numbers(world, name) or ()})


def _nodes(mask: Mask) -> Ints:
    return np.flatnonzero(mask).astype(np.int32)


SECONDS = 20.0
"""That a plan may take: the slowest of a question takes one or two on the largest data sets, a reader waits no longer."""


def execute(plan: Plan, world: World) -> Outcome:
    """What the plan asks for, the same at each call.

    IRIs that the data does not have match nothing. Raises QuestionError for relations, relationships and codes that nothing
    knows, for plans and tables too large, and for what takes longer than `SECONDS`.
    """
    check_size(plan)
    with working(SECONDS, "The plan", _LESS):
        among, held = _narrowed(world, plan)
        outcome, left = _computed(world, plan, held), _left_out(world, plan, among, held)
        excluded = {**left, **outcome.excluded}
        for reason in left.keys() & outcome.excluded.keys():
            excluded[reason] = united(left[reason], outcome.excluded[reason])
        members = _nodes(held)
        return replace(outcome, iris=len(members), identities=how_many(world, members), excluded=excluded)


def results(plan: Plan, world: World) -> Outcome:
    """`execute` without whom the plan's dates leave out, and without how many members there are by IRI and by identity: all
    by which plans are compared."""
    check_size(plan)
    with working(SECONDS, "The plan", _LESS):
        return _computed(world, plan, find_members(world, plan))


_LESS = "Ask for less: fewer conditions, shorter ways, fewer columns."


def _computed(world: World, plan: Plan, members: Mask) -> Outcome:
    return compute(
        world,
        plan.compute,
        _nodes(members),
        lambda anchor: anchored(world, anchor),
        lambda inner: members_of(world, inner),
    )


def members_of(world: World, plan: Plan, asked: Mask | None = None) -> Ints:
    """The members of a plan within another, ascending: of a ranking those that come first, of pairs those that have one.

    ``asked``: of these nodes alone it is told which are members.
    """
    if plan.compute.kind == "rank":
        found = np.sort(_computed(world, plan, find_members(world, plan)).members)
    elif plan.compute.kind == "pairs":
        paired = _computed(world, plan, find_members(world, plan)).pairing
        assert paired is not None
        found = distinct(paired.member)
    else:
        return _nodes(_narrowed(world, plan, asked)[1])
    return found if asked is None else found[asked[found]]


_BLOCK = 32  # members that are walked from at once
Proofs = list["Proof"]


@dataclass(frozen=True, slots=True)
class Proof:
    """How a member meets a constraint of the plan: by ``hops`` it leads to ``target``.

    ``constraint``: its place in the plan; ``within``: where it stands in an `Either` or the plan of a `Member`, and so on
    inwards. ``hops`` are empty where the way takes none: the member is its own target. ``literal``: what a way ends in from
    the target on, where it ends in no node.
    """

    constraint: int
    target: int
    hops: tuple[Hop, ...]
    within: tuple[int, ...] = ()
    literal: LiteralValue | None = None


def explain(world: World, plan: Plan, members: Sequence[int]) -> list[tuple[Proof, ...]]:
    """For each member one shortest way for each relation, relationship, path or date that the plan demands, link by link.

    Of an `Either` the first that holds; of a `Member` what the other plan demands. Of several targets the one with the lowest
    number counts; negated constraints have no way.
    """
    found: list[tuple[Proof, ...]] = []
    for first in range(0, len(members), _BLOCK):
        nodes = np.array(members[first : first + _BLOCK], np.int32)
        found += map(tuple, _explained(world, plan.where, nodes))
    return found


def _explained(world: World, where: Sequence[Constraint], nodes: Ints) -> list[Proofs]:
    """For each of the nodes the proofs of all constraints."""
    found: list[Proofs] = [[] for _ in nodes]
    for place, one in enumerate(where):
        for known, proofs in zip(found, _proofs(world, one, nodes), strict=True):
            known += [replace(proof, constraint=place) for proof in proofs]
    return found


def _proofs(world: World, one: Constraint, nodes: Ints) -> list[Proofs]:
    """For each of the nodes the proofs of one constraint, which is taken for number 0."""
    check()
    if one.negated:
        return [[] for _ in nodes]
    match one:
        case Related():
            anything = one.to == Anchor()

            def meets(cells: Longs) -> Mask:  # of a plan these alone are asked
                ends = anchored(world, one.to, asked=world.mask(cells))
                return np.ones(len(cells), bool) if ends is None else world.mask(ends)[cells]

            return _proofs_by_way(world, one.way, nodes, meets, anything)
        case Dated(way=Way() as way):
            return _proofs_by_way(
                world, way, nodes, lambda cells: within_period(world, one, cells.astype(np.int32))
            )
        case Valued():
            links, rows = links_of(world, one.way), _rows_within(world, one)
            literals = (_to_literal(world, links, node, rows) for node in nodes.tolist())
            return [[] if proof is None else [proof] for proof in literals]
        case Member():
            inner = _explained(world, one.plan.where, nodes)
            return [[_inwards(proof, proof.constraint) for proof in proofs] for proofs in inner]
        case Either():
            return _by_first(world, one, nodes)
    return [[] for _ in nodes]


def _inwards(proof: Proof, place: int) -> Proof:
    return replace(proof, constraint=0, within=(place, *proof.within))


def _by_first(world: World, either: Either, nodes: Ints) -> list[Proofs]:
    """The proofs of the first constraint that holds."""
    found: list[Proofs] = [[] for _ in nodes]
    left = np.arange(len(nodes))
    for place, one in enumerate(either.of):
        if not len(left):
            break
        proofs = _proofs(world, one, nodes[left])
        if isinstance(one, Related) and not one.negated:
            holds = np.array([bool(proof) for proof in proofs], bool)
        else:
            holds = satisfying(world, one, world.mask(nodes[left]))[nodes[left]]
        for at in np.flatnonzero(holds).tolist():
            found[int(left[at])] = [_inwards(proof, place) for proof in proofs[at]]
        left = left[~holds]
    return found


def _proofs_by_way(
    world: World, way: Way, nodes: Ints, meets: Callable[[Longs], Mask], anything: bool = False
) -> list[Proofs]:
    """The way to the lowest target that ``meets`` what is asked; where it leads to none and may lead to ``anything``, to the
    first literal."""
    links = links_of(world, way)
    walk = Walk(world, links[0], nodes)
    reached = led_on(world, walk.pairs, links[1:])
    reached = reached.part(meets(reached.cell))
    places, first = np.unique(reached.index, return_index=True)
    asks = list(zip(places.tolist(), reached.cell[first].tolist(), strict=True))
    found: list[Proofs] = [[] for _ in nodes]
    for (place, target), hops in zip(asks, ways_over(walk, links, asks), strict=True):
        found[place] = [Proof(0, target, hops)]
    if anything and any(route.literals for route in links[-1]):
        for place in np.setdiff1d(np.arange(len(nodes)), places).tolist():
            proof = _to_literal(world, links, int(nodes[place]))
            found[place] = [] if proof is None else [proof]
    return found


def _to_literal(
    world: World, links: Sequence[Routes], member: int, among: Longs | None = None
) -> Proof | None:
    """The way to the first literal, perhaps of those in some rows: over nodes to the one that has it."""
    *before, last = links
    at = np.array([member], np.int64)
    for routes in before:
        at = distinct(link_pairs(world, routes, at.astype(np.int32)).cell)
    ptr = world.graph.literal_ptr
    ends = [(route, walked, properties) for route in last for walked, properties in route.literals]
    for node, (route, walked, properties) in product(at.tolist(), ends):
        check()
        start = replace(route, legs=route.legs[:walked], literals=(), far=None)
        for owner in link_pairs(world, [start], np.array([node], np.int32)).cell.tolist():
            rows = np.arange(int(ptr[owner]), int(ptr[owner + 1]))
            rows = rows[np.isin(world.literal_property[rows], properties)]
            rows = rows if among is None else rows[np.isin(rows, among)]
            if len(rows):
                links = (*before, (start,))
                walk = Walk(world, links[0], np.array([member], np.int32))
                (hops,) = ways_over(walk, links, [(0, owner)])
                return Proof(0, owner, hops, literal=literal(world, int(rows[0])))
    return None
