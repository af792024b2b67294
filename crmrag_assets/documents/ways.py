"""By which way a relationship holds, told as exactly as the data allows, and which relationship lines say nothing new.

*Ways*: the paths of a catalogue are split by the properties that the data has, so that each pair of source and target is
reached by the narrowest way there is. Walking every way by itself costs several times as much as walking the paths that they
were split from, as most reach what others reach. Here the paths are walked, and each frontier key carries the rank of its
way among those to its place: by the cost of the way (how many properties its steps follow, added up), then by the order of
the choices. The lowest rank of a pair is the narrowest way to it, whatever follows, since a step adds the same to all costs.

*Lines*: a line is left out when other lines state every one of its targets: a line above it, that of a relationship that
specialises this one or reads the same, or that of one whose way there implies this one: produced by someone is modified by
them and has met them. What reads as generally as "has met" is stated by whatever else is said of the target. Lines are looked
at from the most general on; one that was left out states nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
import numpy.typing as npt

from crmrag_query.graph.arrays import Adjacency, Ints, Longs, places_in, ranges, run_starts
from crmrag_query.ontology.load import Ontology
from crmrag_query.relationships.engine import (
    MAX_PATHS,
    Branch,
    Catalogue,
    Leg,
    Matches,
    Path,
    Plan,
    Relationship,
    Step,
    Way,
    implies,
    moves_of,
    resolve,
    way_of,
)

Bools = npt.NDArray[np.bool_]


Keys = tuple[int, ...]
"""A set of properties with direction, as keys of facts, ascending."""


@dataclass(frozen=True)
class Facts:
    """Triples of some entities, arrays of equal length sorted by (entity, key, target).

    ``ptr`` int64 [entities+1]: which are whose. ``key`` is twice the property's number, and one more where the target is the
    triple's subject. A triple of an entity with itself is held once.
    """

    ptr: Longs
    key: Ints
    target: Ints

    @cached_property
    def doc(self) -> Ints:
        """int32 [facts]: place of the entity that each is of."""
        return np.repeat(np.arange(len(self.ptr) - 1, dtype=np.int32), np.diff(self.ptr))

    @property
    def outward(self) -> Bools:
        """Mask of the facts whose entity is the triple's subject."""
        even: Bools = (self.key & 1) == 0
        return even

    def where(self, keys: Keys) -> Bools:
        """Mask of the facts whose property and direction are among ``keys``."""
        return np.isin(self.key, keys)


def gather_facts(adjacency: Adjacency, entities: Ints, only: Sequence[int] | None = None) -> Facts:
    """The direct triples of ``entities`` (ascending), of these keys only where some are given."""
    origins, keys, targets = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for key in range(2 * len(adjacency.codes)) if only is None else only:
        rows = adjacency.backward if key & 1 else adjacency.forward
        origin, target = rows.expand(key >> 1, entities)
        if key & 1:
            other = target != entities[origin]
            origin, target = origin[other], target[other]
        origins.append(origin)
        keys.append(np.full(len(origin), key, np.int32))
        targets.append(target)
    whose, what, whom = np.concatenate(origins), np.concatenate(keys), np.concatenate(targets)
    order = np.lexsort((whom, what, whose))
    ptr = np.searchsorted(whose[order], np.arange(len(entities) + 1)).astype(np.int64)
    return Facts(ptr, what[order], whom[order])


Choices = tuple[tuple[Step, ...], ...]
"""For each step of a path the steps that it is split into, itself where it is not split."""


@dataclass(frozen=True)
class Ways:
    """The catalogue with its paths split by the properties that the data has.

    ``walked``: each path ``P92i | P14`` also as ``P108i | P14`` where the data states P108, the narrowest first, so that the
    lowest path to a target tells best how it was reached; ``order[r]`` int32: the number in the method's catalogue of the
    path that each was made from. ``choices[r]``: for each path of the method's catalogue and each of its steps, what that
    step becomes in the walked paths.
    """

    catalogue: Catalogue
    walked: Catalogue
    order: tuple[Ints, ...]
    choices: tuple[tuple[Choices, ...], ...]
    ontology: Ontology

    @cached_property
    def _ways(self) -> tuple[tuple[Way, ...], ...]:
        return tuple(tuple(way_of(path, self.ontology) for path in one.paths) for one in self.catalogue)

    def required(self, relationship: int, path: int) -> int:
        """How many steps of a walked path are taken in any case."""
        return sum(not step.recursive for step in self.walked[relationship].paths[path].steps)

    def implies(self, relationship: int, path: int, bare: bool, other: int) -> bool:
        """Whether whatever is reached by this walked path is so by a path of the ``other`` relationship too.

        ``bare``: no recursive step of the path was taken.
        """
        way = way_of(self.walked[relationship].paths[path], self.ontology)
        way = tuple(step for step in way if not (bare and step[1]))
        return any(implies(way, wider) for wider in self._ways[other])


def split_ways(catalogue: Catalogue, ontology: Ontology, codes: Collection[str]) -> Ways:
    """The ways of a catalogue in data that has properties of these codes."""
    present = set(codes) | {inverse for code in codes if code and (inverse := ontology.inverse(code))}
    split = [_split(relationship, ontology, present) for relationship in catalogue]
    walked = tuple(replace(one, paths=paths) for one, (paths, _, _) in zip(catalogue, split, strict=True))
    order, choices = tuple(order for _, order, _ in split), tuple(choices for _, _, choices in split)
    return Ways(catalogue, Catalogue(catalogue.name, walked), order, choices, ontology)


def _split(
    relationship: Relationship, ontology: Ontology, present: set[str]
) -> tuple[tuple[Path, ...], Ints, tuple[Choices, ...]]:
    """Paths, the narrowest first, and the number of the path that each comes from; the paths themselves are among them.
    And for each path what its steps became."""
    most = MAX_PATHS // len(relationship.paths)
    found: dict[tuple[Step, ...], int] = {}
    chosen = []
    for number, path in enumerate(relationship.paths):
        choices = tuple(
            (step,) if step.recursive else _narrower(step, ontology, present) for step in path.steps
        )
        if 0 < prod(len(steps) for steps in choices) < most:
            for steps in product(*choices):
                found.setdefault(steps, number)
        else:
            choices = tuple((step,) for step in path.steps)
        chosen.append(choices)
        found.setdefault(path.steps, number)
    sizes = [sum(len(resolve(step, ontology)) for step in steps) for steps in found]
    order = np.argsort(np.array(sizes), kind="stable")
    steps_of, number_of = list(found), np.fromiter(found.values(), np.int32, len(found))
    paths = tuple(Path(relationship.paths[number_of[i]].id, steps_of[i]) for i in order.tolist())
    return paths, number_of[order], tuple(chosen)


def _narrower(step: Step, ontology: Ontology, present: set[str]) -> tuple[Step, ...]:
    """The step by each property that it follows and the data has, from whichever end.

    Last the step itself, where it follows one backwards that has no inverse to be named by.
    """
    followed = [directed for directed in resolve(step, ontology) if directed[0] in present]
    codes = sorted({code for code, forward in followed if forward})
    narrower = tuple(Step(code, alone=step.alone, label=step.label) for code in codes)
    told = {directed for one in narrower for directed in resolve(one, ontology)}
    return narrower if told.issuperset(followed) else (*narrower, step)


CostedWay = tuple[int, tuple[int, ...]]
"""Cost of a way so far, and for each leg the number of the choice that was taken."""


def make_ways_plan(adjacency: Adjacency, ways: Ways) -> Plan:
    """Tries that find what `make_plan` of ``ways.walked`` finds, by the same paths."""
    plan = Plan({}, {})
    for number, relationship in enumerate(ways.catalogue):
        place = {path.steps: index for index, path in enumerate(ways.walked[number].paths)}
        for path, choices in zip(relationship.paths, ways.choices[number], strict=True):
            legs = [_leg(adjacency, ways.ontology, *each) for each in zip(path.steps, choices, strict=True)]
            if any(leg is None and not step.recursive for leg, step in zip(legs, path.steps, strict=True)):
                continue
            walked = [leg for leg in legs if leg]
            if not walked:
                continue
            for tries in (plan.full, plan.cautious) if len(path.steps) == 1 else (plan.full,):
                branch, found = _descended(tries.setdefault(relationship.domain, Branch()), walked)
                steps = [_steps(choices, legs, way) for _, way in found]
                branch.ways.append((number, _table([place[one] for one in steps])))
    return plan


def _leg(adjacency: Adjacency, ontology: Ontology, step: Step, choices: Sequence[Step]) -> Leg | None:
    """The step in this graph with each move told by the narrowest choice that makes it; None for one that occurs nowhere."""
    moves = moves_of(adjacency, ontology, step)
    if not moves:
        return None
    costs = tuple(len(resolve(choice, ontology)) for choice in choices)
    made = [set(moves_of(adjacency, ontology, choice)) for choice in choices]
    best = tuple(min((costs[n], n) for n, own in enumerate(made) if move in own)[1] for move in moves)
    return Leg(moves, step.recursive, best, costs)


def _descended(root: Branch, legs: Sequence[Leg]) -> tuple[Branch, list[CostedWay]]:
    """The branch below the root by these legs, made where it is missing, and the ways there, the lowest rank first."""
    branch, ways = root, [(0, ())]  # type: tuple[Branch, list[CostedWay]]
    for leg in legs:
        used = sorted(set(leg.choices))
        longer = sorted((cost + leg.costs[n], (*taken, n)) for cost, taken in ways for n in used)
        rank = {taken: at for at, (_, taken) in enumerate(longer)}
        tables = {n: _table([rank[*taken, n] for _, taken in ways]) for n in used}
        below = Branch(ranks=tuple(tables[n] for n in leg.choices))
        branch, ways = branch.legs.setdefault(leg, below), longer
    return branch, ways


def _steps(choices: Choices, legs: Sequence[Leg | None], way: Sequence[int]) -> tuple[Step, ...]:
    """The steps of a way; a recursive step that occurs nowhere is one of them, and no leg."""
    taken = iter(way)
    return tuple(own[next(taken) if leg else 0] for own, leg in zip(choices, legs, strict=True))


def _table(values: Sequence[int]) -> Longs:
    table = np.zeros(MAX_PATHS, np.int64)
    table[: len(values)] = values
    return table


PAIRS = 1 << 24  # of matches that are compared at once


@dataclass(frozen=True)
class Lines:
    """The matches of documents as lines, one for each relationship of a document.

    ``doc`` int32 [l] and ``relationship`` int32 [l] of each line, sorted; ``ptr`` int64 [l+1]: its matches, which are
    sorted by target; ``line`` int32 [m]: the line of each match.
    """

    matches: Matches
    doc: Ints
    relationship: Ints
    ptr: Longs

    @classmethod
    def of(cls, matches: Matches, entities: Ints) -> Lines:
        """``entities`` ascending: their places are the documents' numbers."""
        doc = np.searchsorted(entities, matches.source).astype(np.int32)
        first = np.flatnonzero(run_starts(doc, matches.relationship))
        return cls(
            matches, doc[first], matches.relationship[first].astype(np.int32), np.append(first, len(matches))
        )

    @property
    def sizes(self) -> Longs:
        return np.diff(self.ptr)

    @cached_property
    def line(self) -> Ints:
        return np.repeat(np.arange(len(self.doc), dtype=np.int32), self.sizes)

    @cached_property
    def _places(self) -> Longs:
        """Matches as ascending numbers made of line and target."""
        return self.line.astype(np.int64) << 32 | self.matches.target.astype(np.int64)

    @cached_property
    def _lines(self) -> Longs:
        return self.doc.astype(np.int64) << 32 | self.relationship.astype(np.int64)

    def find(self, doc: Ints, relationship: Ints, target: Ints) -> tuple[Longs, Longs]:
        """Which of these are matches: their places among those given, and among the matches."""
        wanted = doc.astype(np.int64) << 32 | relationship.astype(np.int64)
        line, known = _found(self._lines, wanted)
        match, there = _found(self._places, line << 32 | target.astype(np.int64))
        given = np.flatnonzero(known & there)
        return given, match[given]


def _found(ascending: Longs, wanted: Longs) -> tuple[Longs, Bools]:
    """Place of each in an ascending array, and whether it is there."""
    if not len(ascending):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.searchsorted(ascending, wanted)
    at[at == len(ascending)] = 0
    return at, ascending[at] == wanted


@dataclass(frozen=True)
class Rules:
    """What relationships say of one another, by their numbers; bool [r, r] each.

    ``above[u, r]``: u is one that r specialises, at whatever remove. ``covers[o, r]``: a line of o states the common targets
    of one of r, whatever the ways there. ``single``: keys of facts, ascending, and the relationships that each states.
    """

    ways: Ways
    above: Bools
    covers: Bools
    single: tuple[Ints, Ints]

    @classmethod
    def of(cls, ways: Ways, above: Sequence[Sequence[int]], single: Sequence[Keys]) -> Rules:
        """``above[r]``: what r specialises; ``single[r]``: the facts that r states by themselves."""
        catalogue, count = ways.catalogue, len(ways.catalogue)
        upper = np.zeros((count, count), bool)
        for number, uppers in enumerate(above):
            upper[list(uppers), number] = True
        labels = np.array([one.label for one in catalogue], object)
        alike = labels[:, None] == labels[None, :]
        weak = (alike & upper.any(axis=1)).any(axis=1)  # what others specialise: "has met", "by", "from"
        weaker = ~weak[:, None] & weak[None, :]
        pairs = sorted((key, number) for number, keys in enumerate(single) for key in keys)
        key, relationship = np.array(pairs, np.int32).reshape(-1, 2).T
        return cls(ways, upper, alike | weaker | upper.T, (key, relationship))

    @cached_property
    def generality(self) -> Ints:
        """int32 [r]: rank of each relationship among those with as many targets, the most general first: what specialises
        nothing, has many ways, stands late."""
        catalogue = self.ways.catalogue
        deep = self.above.sum(axis=0)
        order = sorted(range(len(catalogue)), key=lambda n: (int(deep[n]), -len(catalogue[n].paths), -n))
        return places_in(order)

    def implied(self, relationship: Ints, path: Ints, depth: Ints, other: Ints) -> Bools:
        """For each way there (a walked path of a relationship, and how many hops it took): whether it implies ``other``."""
        way = self._first[relationship] + path
        bare = (depth == self._required[way]).astype(np.int32)
        unknown = np.flatnonzero(self._known[way, bare, other] < 0)
        count = len(self.ways.catalogue)
        for packed in np.unique((way[unknown] * 2 + bare[unknown]) * count + other[unknown]).tolist():
            pair, wider = divmod(packed, count)
            at, taken = divmod(pair, 2)
            number = int(np.searchsorted(self._first, at, side="right")) - 1
            holds = self.ways.implies(number, at - int(self._first[number]), bool(taken), wider)
            self._known[at, taken, wider] = holds
        found: Bools = self._known[way, bare, other] > 0
        return found

    @cached_property
    def _first(self) -> Longs:
        """int64 [r+1]: number of the first walked path of each relationship, counted through all of them."""
        return np.cumsum([0, *(len(one.paths) for one in self.ways.walked)])

    @cached_property
    def _required(self) -> Ints:
        """int32 [w]: how many steps of each walked path are taken in any case."""
        counts = [len(one.paths) for one in self.ways.walked]
        found = [
            self.ways.required(number, path) for number, many in enumerate(counts) for path in range(many)
        ]
        return np.array(found, np.int32)

    @cached_property
    def _known(self) -> npt.NDArray[np.int8]:
        """int8 [w, 2, r]: whether a way implies a relationship, -1 where nobody has asked yet."""
        return np.full((int(self._first[-1]), 2, len(self.ways.catalogue)), -1, np.int8)


def stating(lines: Lines, facts: Facts, rules: Rules) -> tuple[Longs, Longs]:
    """Pairs (fact, match) where the fact states the match by itself."""
    keys, relationships = rules.single
    low = np.searchsorted(keys, facts.key)
    count = np.searchsorted(keys, facts.key, side="right") - low
    fact, relationship = np.repeat(np.arange(len(facts.key)), count), relationships[ranges(low, count)]
    given, match = lines.find(facts.doc[fact], relationship, facts.target[fact])
    return fact[given], match


def informative(lines: Lines, rules: Rules, stated: Bools) -> Bools:
    """bool [l]: lines that state something which no other line does; ``stated`` bool [m]: matches that lines above state."""
    by, match = _covering(lines, rules, stated)
    order = np.lexsort((rules.generality[lines.relationship], -lines.sizes, lines.doc))
    first = np.searchsorted(lines.doc[order], lines.doc[order])
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order)) - first
    kept = np.ones(len(lines.doc), bool)
    # matches of a line that nothing above states
    open_ = np.bincount(lines.line[~stated], minlength=len(kept))
    turn_of_pair = turn[lines.line[match]]
    sequence = np.argsort(turn_of_pair, kind="stable")  # keeps the pairs of a match together
    by, match, turn_of_pair = by[sequence], match[sequence], turn_of_pair[sequence]
    rounds = int(turn.max()) + 1 if len(turn) else 0
    bounds = np.searchsorted(turn_of_pair, np.arange(rounds + 1))
    in_turn = np.argsort(turn, kind="stable")
    turns = np.searchsorted(turn[in_turn], np.arange(rounds + 1))
    for now in range(rounds):
        part = slice(int(bounds[now]), int(bounds[now + 1]))
        covered = np.unique(match[part][kept[by[part]]])
        closed = np.bincount(lines.line[covered], minlength=len(kept))
        own = in_turn[turns[now] : turns[now + 1]]
        kept[own] = open_[own] > closed[own]
    return kept


def _covering(lines: Lines, rules: Rules, stated: Bools) -> tuple[Ints, Longs]:
    """Pairs (line, match of another line of the document) where the line would state the match: sorted by match."""
    doc = lines.doc[lines.line]
    order = np.lexsort((lines.matches.relationship, lines.matches.target, doc))
    first = np.flatnonzero(run_starts(doc[order], lines.matches.target[order]))
    size = np.diff(np.append(first, len(order)))
    group = np.repeat(np.arange(len(first)), size)
    wanted = np.flatnonzero((size[group] > 1) & ~stated[order])
    bys, matches = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    cost = np.cumsum(size[group[wanted]])
    cuts = np.searchsorted(cost, np.arange(PAIRS, int(cost[-1]) if len(cost) else 0, PAIRS)) + 1
    for one in np.split(wanted, cuts):  # about PAIRS pairs at once
        count = size[group[one]]
        at, other = np.repeat(one, count), ranges(first[group[one]], count)
        apart = other != at
        by, match = _states(lines, rules, order[other[apart]], order[at[apart]])
        bys.append(by)
        matches.append(match)
    by, match = np.concatenate(bys), np.concatenate(matches)
    by_match = np.argsort(match, kind="stable")
    return by[by_match], match[by_match]


def _states(lines: Lines, rules: Rules, other: Longs, one: Longs) -> tuple[Ints, Longs]:
    """Of pairs of matches with the same target those whose ``other`` states ``one``: its line, and the match."""
    found, sizes = lines.matches, lines.sizes
    number, wider = found.relationship[one].astype(np.int32), found.relationship[other].astype(np.int32)
    sure = rules.covers[wider, number]
    open_ = np.flatnonzero(~sure & ~rules.above[wider, number])
    r, o, a, b = number[open_], wider[open_], one[open_], other[open_]
    implied = rules.implied(o, found.path[b].astype(np.int32), found.depth[b].astype(np.int32), r)
    both = np.flatnonzero(implied & (r < o) & (sizes[lines.line[a]] <= sizes[lines.line[b]]))
    back = rules.implied(
        r[both], found.path[a[both]].astype(np.int32), found.depth[a[both]].astype(np.int32), o[both]
    )
    implied[both[back]] = False  # else they would imply each other
    sure[open_[implied]] = True
    return lines.line[other[sure]], one[sure]
