"""Which relationship lines say nothing that other lines do not: all at once for the matches of many entities.

A line is left out when other lines state every one of its targets: a line above it, that of a relationship that
specialises this one or reads the same, or that of one whose way there implies this one: produced by someone is modified
by them and has met them. What reads as generally as "has met" is stated by whatever else is said of the target. Lines are
looked at from the most general on; one that was left out states nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crmrag_assets.documents.facts import Facts, Keys
from crmrag_assets.documents.ways import Ways
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.relationships.engine import Matches

Bools = npt.NDArray[np.bool_]
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
        new = np.ones(len(matches), bool)
        new[1:] = (doc[1:] != doc[:-1]) | (matches.relationship[1:] != matches.relationship[:-1])
        first = np.flatnonzero(new)
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
    def of(
        cls, ways: Ways, above: Sequence[Sequence[int]], vague: frozenset[str], single: Sequence[Keys]
    ) -> Rules:
        """``above[r]``: what r specialises; ``vague``: labels of relationships that others specialise; ``single[r]``: the
        facts that r states by themselves."""
        catalogue, count = ways.catalogue, len(ways.catalogue)
        upper = np.zeros((count, count), bool)
        for number, uppers in enumerate(above):
            upper[list(uppers), number] = True
        labels = np.array([one.label for one in catalogue], object)
        weak = np.array([one.label in vague for one in catalogue], bool)
        alike = labels[:, None] == labels[None, :]
        weaker = ~weak[:, None] & weak[None, :]
        pairs = sorted((key, number) for number, keys in enumerate(single) for key in keys.members)
        key, relationship = np.array(pairs, np.int32).reshape(-1, 2).T
        return cls(ways, upper, alike | weaker | upper.T, (key, relationship))

    @cached_property
    def generality(self) -> Ints:
        """int32 [r]: rank of each relationship among those with as many targets, the most general first: what specialises
        nothing, has many ways, stands late."""
        catalogue = self.ways.catalogue
        deep = self.above.sum(axis=0)
        order = sorted(range(len(catalogue)), key=lambda n: (int(deep[n]), -len(catalogue[n].paths), -n))
        rank = np.empty(len(order), np.int32)
        rank[order] = np.arange(len(order))
        return rank

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
    rows = np.arange(len(facts.key))
    low, high = np.searchsorted(keys, facts.key[rows]), np.searchsorted(keys, facts.key[rows], side="right")
    fact = np.repeat(rows, high - low)
    offset = np.arange(len(fact)) - np.repeat(np.cumsum(high - low) - (high - low), high - low)
    relationship = relationships[np.repeat(low, high - low) + offset]
    given, match = lines.find(facts.doc[fact], relationship, facts.target[fact])
    return fact[given], match


def informative(lines: Lines, rules: Rules, told: Bools) -> Bools:
    """bool [l]: lines that state something which no other line does; ``told`` bool [m]: matches that lines above state."""
    by, match = _covering(lines, rules, told)
    order = np.lexsort((rules.generality[lines.relationship], -lines.sizes, lines.doc))
    first = np.searchsorted(lines.doc[order], lines.doc[order])
    turn = np.empty(len(order), np.int64)
    turn[order] = np.arange(len(order)) - first
    kept = np.ones(len(lines.doc), bool)
    open_ = np.bincount(lines.line[~told], minlength=len(kept))  # matches of a line that nothing above states
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


def _covering(lines: Lines, rules: Rules, told: Bools) -> tuple[Ints, Longs]:
    """Pairs (line, match of another line of the document) where the line would state the match: sorted by match."""
    doc = lines.doc[lines.line]
    order = np.lexsort((lines.matches.relationship, lines.matches.target, doc))
    target = lines.matches.target[order]
    new = np.ones(len(order), bool)
    new[1:] = (doc[order][1:] != doc[order][:-1]) | (target[1:] != target[:-1])
    first = np.flatnonzero(new)
    size = np.diff(np.append(first, len(order)))
    group = np.repeat(np.arange(len(first)), size)
    wanted = np.flatnonzero((size[group] > 1) & ~told[order])
    bys, matches = [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    cost = np.cumsum(size[group[wanted]])
    for low, high in _blocks(cost):
        one = wanted[low:high]
        count = size[group[one]]
        at = np.repeat(one, count)
        offset = np.arange(len(at)) - np.repeat(np.cumsum(count) - count, count)
        other = np.repeat(first[group[one]], count) + offset
        apart = other != at
        by, match = _states(lines, rules, order[other[apart]], order[at[apart]])
        bys.append(by)
        matches.append(match)
    by, match = np.concatenate(bys), np.concatenate(matches)
    by_match = np.argsort(match, kind="stable")
    return by[by_match], match[by_match]


def _blocks(cost: Longs) -> list[tuple[int, int]]:
    """Consecutive ranges whose costs (given added up) are about PAIRS each."""
    if not len(cost):
        return []
    cuts = np.searchsorted(cost, np.arange(PAIRS, int(cost[-1]) + PAIRS, PAIRS), side="left") + 1
    edges = np.unique(np.concatenate([[0], np.minimum(cuts, len(cost))]))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


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
