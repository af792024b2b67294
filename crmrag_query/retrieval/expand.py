"""Adaptive expansion: from the documents that were found along the edges of the entity graph, as far as these deserve it.

The nearer a document is to the question, the farther its neighbourhood is followed (the published rule): not at all below
.3, one hop up to .9 and where there is no vector, two hops above. What it costs is bounded by the numbers below, at hubs too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from crmrag_query.communities import Communities
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.arrays import Ints
from crmrag_query.retrieval.scores import Hits, Reals

BELOW: Final = 0.3
ABOVE: Final = 0.9
"""Similarities, calibrated, on the scale (1 + cosine) / 2: nothing is reached below the one, two hops above the other."""
WAYS: Final[Mapping[int, int]] = {0: 0, 1: 20, 2: 40}
"""Of one document at most, by the number of hops."""
SCORE: Final = 0.8
"""Of what is reached, whatever its own similarity. Source of this and the numbers above: the published modes."""
STRONGEST: Final = 200
"""Edges of a document that are looked at, the strongest: ten times as many as ways may come of them."""
BRANCHES: Final = 40
"""Neighbours from which a second hop is taken, and edges of each: as many as ways may come of all."""
THEMES: Final = 3
"""The finest communities of what was found that are looked at …"""
CENTRAL: Final = 10
"""… and members of each, the most central."""
Nearness = Callable[[Ints], Reals]
"""The similarity of documents to the question, 0..1."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a document was reached: from ``seed`` to ``end``, over ``via`` (-1 for one hop); ``strength``: the product of the
    weights of its edges and of the similarity of its end."""

    seed: int
    via: int
    end: int
    strength: float


def hops_of(similarity: float | None) -> int:
    """How far a document's neighbourhood is followed; None where it, or the question, has no vector."""
    if similarity is None:
        return 1
    return 0 if similarity < BELOW else 1 if similarity <= ABOVE else 2


def strongest(graph: EntityGraph, document: int, most: int) -> tuple[Ints, Reals]:
    """The strongest edges of a document, at most so many, best first, ties by number: their ends and weights."""
    ends, weights = graph.of(document)
    if len(ends) > most:
        least = np.partition(weights, len(weights) - most)[len(weights) - most]
        kept = weights >= least
        ends, weights = ends[kept], weights[kept]
    order = np.lexsort((ends, -weights))[:most]
    return ends[order], weights[order].astype(np.float64)


def ways_from(graph: EntityGraph, seed: int, hops: int, nearness: Nearness) -> list[Way]:
    """The strongest ways from a document, best first, ties by the number of the end; one for each end, and at most WAYS."""
    first, weights = strongest(graph, seed, STRONGEST)
    ends, strength, over = [first], [weights], [np.full(len(first), -1, np.int32)]
    for via, weight in (
        zip(first[:BRANCHES].tolist(), weights[:BRANCHES].tolist(), strict=True) if hops > 1 else ()
    ):
        second, further = strongest(graph, via, BRANCHES)
        onward = second != seed
        ends.append(second[onward])
        strength.append(weight * further[onward])
        over.append(np.full(int(onward.sum()), via, np.int32))
    end, value, via_ = np.concatenate(ends), np.concatenate(strength), np.concatenate(over)
    distinct, place = np.unique(end, return_inverse=True)
    value = value * nearness(distinct)[place]
    found: dict[int, Way] = {}
    for at in np.lexsort((via_, end, -value)).tolist():
        if len(found) == WAYS[hops]:
            break
        one = int(end[at])
        if one not in found:
            found[one] = Way(seed, int(via_[at]), one, float(value[at]))
    return list(found.values())


def reach(
    graph: EntityGraph, seeds: Sequence[tuple[int, float | None]], nearness: Nearness
) -> tuple[Way, ...]:
    """The ways from documents that were found, with their similarities, to others: of each of these the strongest, best
    first."""
    there = {document for document, _ in seeds}
    best: dict[int, Way] = {}
    for document, similarity in seeds:
        if hops := hops_of(similarity):
            for way in ways_from(graph, document, hops, nearness):
                if way.end not in there and (way.end not in best or best[way.end].strength < way.strength):
                    best[way.end] = way
    return tuple(sorted(best.values(), key=lambda way: (-way.strength, way.end)))


def scored(documents: Sequence[int]) -> Hits:
    """What was reached, best first, all of it with the score of what is."""
    return Hits.of((document, SCORE) for document in documents)


def of_themes(communities: Communities, seeds: Sequence[int]) -> list[int]:
    """The most central documents of the finest communities that most of ``seeds`` are in, ties by the first of these."""
    held: dict[int, int] = {}
    for document in seeds:
        for community in communities.of_document(document)[:1]:
            held[community] = held.get(community, 0) + 1
    most = sorted(held, key=lambda one: -held[one])[:THEMES]
    members = (one for community in most for one in communities.members(community, CENTRAL).tolist())
    return [one for one in dict.fromkeys(members) if one not in set(seeds)]
