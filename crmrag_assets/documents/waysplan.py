"""All ways of a catalogue walked at once: each pair of source and target is reached by the narrowest way there is.

Walking every way by itself costs several times as much as walking the paths that they were split from, as most reach what
others reach. Here the paths are walked, and each frontier key carries the rank of its way among those to its place:
by the cost of the way (how many properties its steps follow, added up), then by the order of the choices. The lowest rank of
a pair is the narrowest way to it, whatever follows, since a step adds the same to the cost of all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from crmrag_assets.documents.ways import Choices, Ways
from crmrag_query.graph.arrays import Adjacency, Longs
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Step
from crmrag_query.relationships.frontier import MAX_PATHS
from crmrag_query.relationships.plan import Branch, Leg, Plan, moves_of
from crmrag_query.relationships.steps import resolve

Way = tuple[int, tuple[int, ...]]
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


def _descended(root: Branch, legs: Sequence[Leg]) -> tuple[Branch, list[Way]]:
    """The branch below the root by these legs, made where it is missing, and the ways there, the lowest rank first."""
    branch, ways = root, [(0, ())]  # type: tuple[Branch, list[Way]]
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
