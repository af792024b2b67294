"""Nouns that may mean more or less: "photographs" beside "black-and-white photographs", "artists" who made nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_query.parsing.binding.meanings import best_kind, types_of
from crmrag_query.parsing.tree import Node, Tree
from crmrag_query.parsing.vocabulary import MAKER
from crmrag_query.plans.compute import Outcome
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Plan, Related, Way
from crmrag_query.plans.world import World

Iris = tuple[str, ...]


def broader(tree: Tree, plan: Plan, world: World) -> Plan | None:
    """The plan with all types that a noun of it may mean; None where none is named so, or where they change nothing.

    Raises QuestionError where a plan asks for more than may be executed.
    """
    found = dict(_broadened(tree, world.graph.iri))
    if not found or plan.compute.kind == "pairs":
        return None
    told = plan.model_dump()
    other = Plan.model_validate(_with(told, found))
    if other == plan or _same(execute(plan, world), execute(other, world)):
        return None
    return other


def narrower(tree: Tree, plan: Plan, world: World) -> Plan | None:
    """The plan of makers alone where "artists" were read as all persons and groups of which nothing is said but what they
    lack; None where that tells the same.

    Raises QuestionError where a plan asks for more than may be executed.
    """
    kind = best_kind(tree.root.kinds) if tree.root is not None else None
    if kind is None or kind.role != "maker" or kind.types or kind.makes:
        return None
    if plan.compute.kind not in ("list", "count", "ask"):
        return None
    if any(not one.negated for one in plan.where):
        return None  # who was born in Lyon is told as an artist by that
    made = Related(way=Way(relations=(MAKER,), inverse=True))
    other = plan.model_copy(update={"where": (*plan.where, made)})
    return None if _same(execute(plan, world), execute(other, world)) else other


def _broadened(tree: Tree, iri: Callable[[int], str]) -> Iterator[tuple[Iris, Iris]]:
    """The types of each noun as the plan has them, and with all that are called so."""
    for node in (tree.root, tree.group.node if tree.group else None, tree.rank.of if tree.rank else None):
        for one in _nodes(node):
            types = types_of(one.kinds)
            also = [n for kind in one.kinds for n in kind.also if n not in types]
            if types and also:
                yield tuple(map(iri, types)), tuple(dict.fromkeys(map(iri, (*types, *also))))


def _nodes(node: Node | None) -> Iterator[Node]:
    if node is None:
        return
    yield node
    for link in node.links:
        if isinstance(link.anchor, Node):
            yield from _nodes(link.anchor)


def _with(told: Any, found: Mapping[Iris, Iris]) -> Any:
    """A dumped plan in which each list of types stands broader."""
    if isinstance(told, dict):
        return {name: _with(value, found) for name, value in told.items()}
    if isinstance(told, list | tuple):
        texts = all(isinstance(one, str) for one in told)
        return found.get(tuple(told), told) if texts else [_with(one, found) for one in told]
    return told


def _same(one: Outcome, other: Outcome) -> bool:
    """Whether both tell the same."""
    alike = (np.array_equal(a, b) for a, b in zip(_told(one), _told(other), strict=True))
    return one.value == other.value and one.sizes == other.sizes and all(alike)


def _told(outcome: Outcome) -> tuple[npt.NDArray[np.number], ...]:
    values = outcome.members if outcome.values is None else outcome.values
    return outcome.members, values, outcome.groups, outcome.rows
