"""Paths as evidence: by which triples a walk came from where it landed to what it found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from crmrag_query.artifacts.release import Release
from crmrag_query.context.context import Finding, path
from crmrag_query.context.lines import Facts
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.walker import Walker

PATHS: Final = 5  # that are told
LOOKED_AT: Final = 200  # nodes from either end whose triples are followed
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
    while waiting[0] and waiting[1] and looked < LOOKED_AT:
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
