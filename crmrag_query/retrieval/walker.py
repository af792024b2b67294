"""The walker: think, stitch, walk. For which graph partitions a question is; their documents and all edges among these as one
graph; and what is found in it from the documents where it lands.

It looks at no more documents than are stitched, however large the data is, but for the searches that tell where it lands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Nearness, Walk
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.arrays import Ints, found_in, spread
from crmrag_query.graph_partitions import ALIGNER, PARTITIONS, Aligner, GraphPartitions
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels, personalised_pagerank
from crmrag_query.retrieval.scores import Hits, Reals, best, reciprocal_rank_fusion
from crmrag_query.retrieval.token_vectors import TokenVectors
from crmrag_query.timing import Kept

if TYPE_CHECKING:
    from scipy import sparse

VOTING: Final = 50
"""Documents, the nearest ones and those of the question's words, that vote for parts and tell where it lands."""
HOPS: Final = 2
"""Steps around the landings that are stitched where there are no partitions."""
STRONGER: Final = 0.01  # by how much of a step a strong edge is shorter than a weak one
KEPT: Final = 8  # walks
Choose = Callable[[Sequence[int], int], Sequence[int]]
"""Which to go on from, of some nearest first, at most so many."""


@dataclass(frozen=True)
class Stitched:
    """A part of the entity graph: ``documents`` int32 [n], ascending, and the symmetric matrix of the edges among them."""

    documents: Ints
    edges: sparse.csr_array

    def rows(self, documents: Sequence[int] | Ints) -> Ints:
        """Where those of ``documents`` that it has stand in it, in their order."""
        at, there = found_in(self.documents, np.asarray(documents, np.int32))
        return at[there].astype(np.int32)


@dataclass(frozen=True)
class Walked:
    """What a walk ``found``, best first; where it landed; ``before``: the document that each was reached from; ``scored``:
    how many it compared with the question; ``parts`` that were stitched, none where there are no partitions."""

    found: Hits
    landings: tuple[int, ...]
    before: Mapping[int, int]
    scored: int
    parts: tuple[int, ...] = ()

    def path(self, document: int) -> tuple[int, ...]:
        """The documents from a landing to this one, each joined to the one before; () for one that it did not reach."""
        way = [document]
        while way[-1] not in self.landings:
            if way[-1] not in self.before:
                return ()
            way.append(self.before[way[-1]])
        return tuple(reversed(way))


def stitch(graph: EntityGraph, documents: Ints) -> Stitched:
    """The graph of these documents: all edges that lead from one of them to another, within parts and between them."""
    from scipy import sparse

    inside = np.unique(documents).astype(np.int32)
    row, edge = spread(graph.ptr, inside)
    column, kept = found_in(inside, graph.neighbour[edge])
    shape = (len(inside), len(inside))
    weights = graph.weight[edge[kept]].astype(np.float64)
    return Stitched(inside, sparse.csr_array((weights, (row[kept], column[kept])), shape=shape))


def around(graph: EntityGraph, landings: Ints, most: int) -> Ints:
    """The landings and the documents within ``HOPS`` steps of them, those most strongly joined to what is there first, until
    there are ``most``."""
    inside = frontier = np.unique(landings).astype(np.int32)
    for _ in range(HOPS):
        _, edge = spread(graph.ptr, frontier)
        ends, at = np.unique(graph.neighbour[edge], return_inverse=True)
        strength = np.bincount(at, graph.weight[edge], len(ends)).astype(np.float64)
        new = ~np.isin(ends, inside)
        chosen = best(ends[new], strength[new], max(0, most - len(inside)))
        frontier = np.array([end for end, _ in chosen], np.int32)
        inside = np.union1d(inside, frontier).astype(np.int32)
    return inside


def votes(partitions: GraphPartitions, hits: Sequence[tuple[int, float]]) -> Ints:
    """The parts of documents that were found, by the sum of these documents' scores, hubs weighed down, best first."""
    documents = np.array([document for document, _ in hits], np.int64)
    part = partitions.part[documents] if len(documents) else np.zeros(0, np.int32)
    held = part >= 0
    scores = np.array([score for _, score in hits])[held]
    summed = np.bincount(part[held], scores, len(partitions)) * (1 - partitions.penalty)
    order = np.lexsort((np.arange(len(summed)), -summed))
    return order[summed[order] > 0].astype(np.int32)


def think(rankings: Sequence[Ints], count: int) -> tuple[int, ...]:
    """The ``count`` parts that rankings of parts have first, fused."""
    fused = reciprocal_rank_fusion([ranking[:VOTING].tolist() for ranking in rankings])
    return tuple(part for part, _ in fused[:count])


def by_steps(
    graph: Stitched,
    landings: Ints,
    nearness: Callable[[Ints], Reals],
    how: Walk,
    choose: Choose | None = None,
) -> tuple[Hits, dict[int, int]]:
    """The published walk: the neighbours of where it stands are compared with the question, and it goes on from the nearest,
    or from those that ``choose`` says.

    ``landings``: rows of ``graph``; ``nearness`` float64 [n] of rows, which is asked of those that are seen alone. Gives what
    it saw, nearest first, by rows, and the row that each was first seen from.
    """
    before: dict[int, int] = {}
    seen: dict[int, float] = {}
    new: Sequence[int] = landings.tolist()
    standing = new
    for step in range(how.steps + 1):
        seen |= zip(new, nearness(np.array(new, np.int32)).tolist(), strict=True)
        if step == how.steps:
            break
        if step:
            nearest = sorted(new, key=lambda row: (-seen[row], row))
            standing = nearest[: how.beam] if choose is None else choose(nearest, how.beam)
        if max((seen[row] for row in standing), default=1.0) >= how.stop:
            break
        reached: dict[int, int] = {}
        for row in standing:
            for end in graph.edges.indices[graph.edges.indptr[row] : graph.edges.indptr[row + 1]].tolist():
                if end not in seen:
                    reached.setdefault(end, row)
        before |= reached
        new = [*reached]
    rows = np.fromiter(seen, np.int32, len(seen))
    return Hits.of(best(rows, np.fromiter(seen.values(), float, len(seen)), len(rows))), before


def ways_to_all(graph: Stitched, landings: Ints) -> dict[int, int]:
    """By row of all that can be reached from the landings, the row before it on the shortest way: fewest steps, then the
    strongest edges."""
    from scipy.sparse import csgraph, csr_array

    if not len(landings) or not graph.edges.nnz:
        return {}
    weight = graph.edges.data / graph.edges.data.max()
    shape = graph.edges.shape
    lengths = csr_array((1 - STRONGER * weight, graph.edges.indices, graph.edges.indptr), shape=shape)
    _, before, _ = csgraph.dijkstra(lengths, indices=landings, return_predecessors=True, min_only=True)
    return {row: int(one) for row, one in enumerate(before.tolist()) if one >= 0}


def fused(measured: Sequence[Reals]) -> Hits:
    """All rows by their ranks in several measures, float64 [n] each, fused; one that tells none apart does not count."""
    telling = [one for one in measured if len(one) and one.max() > one.min()] or measured[:1]
    rankings = [[row for row, _ in best(np.arange(len(one)), one, len(one))] for one in telling]
    return Hits.of(reciprocal_rank_fusion(rankings))


@dataclass(frozen=True)
class Walker:
    """Walks over a release; the latest are kept, since a question's paths are told after its documents were found."""

    release: Release
    _walks: Kept[tuple[object, ...], Walked] = field(
        default_factory=lambda: Kept(KEPT), init=False, compare=False, repr=False
    )

    @classmethod
    def from_release(cls, release: Release) -> Walker:
        return cls(release)

    def walk(self, query: Query) -> Walked:
        """The walk for a question as ``query.walk`` says; a question without a vector lands by its words alone."""
        within = None if query.within is None else query.within.tobytes()
        key = (query.text, query.vector.tobytes(), query.walk.model_dump_json(), within, query.chooser)
        return self._walks.get(key, lambda: self._walk(query))

    def _walk(self, query: Query) -> Walked:
        release, how, channels = self.release, query.walk, self.release[ReleaseChannels]
        dense = channels.dense(query.vector, VOTING, query.within).ranking
        words = channels.sparse(query.text, VOTING, query.within).ranking
        hits = channels.fused([words], dense, VOTING)
        parts: tuple[int, ...] = ()
        landed = np.array([document for document, _ in hits[: how.landings]], np.int32)
        graph, chosen = release[EntityGraph], landed
        if release.manifest.has(PARTITIONS):
            partitions = release[GraphPartitions]
            rankings = [votes(partitions, hits)]
            if release.manifest.has(ALIGNER) and query.vector.any():
                rankings.append(partitions.best(release[Aligner].scores(query.vector), VOTING))
            parts = think(rankings, how.parts)
            chosen = np.concatenate([landed[:0], *map(partitions.members, parts)])
            inside = [document for document, _ in hits if partitions.part[document] in parts]
            landed = np.array(inside[: how.landings], np.int32)
        else:
            chosen = around(graph, landed, how.documents)
        stitched = stitch(graph, chosen)
        landings = stitched.rows(landed)
        if how.by == "steps":
            near = self._near(query)
            choose: Choose | None = None
            if query.chooser is not None:
                chooser, documents = query.chooser, stitched.documents
                choose = lambda rows, most: stitched.rows(chooser(documents[rows].tolist(), most)).tolist()  # noqa: E731
            found, before = by_steps(
                stitched, landings, lambda rows: near(stitched.documents[rows]), how, choose
            )
        else:
            sure = np.array([dict(hits)[one] for one in stitched.documents[landings].tolist()])
            found = fused([self.measured(one, query, stitched, landings, sure) for one in how.rankings])
            before = ways_to_all(stitched, landings)
        names = stitched.documents
        return Walked(
            Hits(names[found.documents], found.scores).among(query.within),
            tuple(names[landings].tolist()),
            {int(names[row]): int(names[one]) for row, one in before.items()},
            len(found),
            parts,
        )

    def _near(self, query: Query) -> Callable[[Ints], Reals]:
        """How near documents are by late interaction, float64 [n]; 0 where the question has no vector."""
        if not query.vector.any():
            return lambda documents: np.zeros(len(documents))
        encoder, vectors = self.release[QueryEncoder], self.release[TokenVectors]
        asked = vectors.asked(encoder.of_tokens.tokens(query.text, encoder.settings.query_prefix))
        return lambda documents: vectors.scores(asked, documents)

    def measured(
        self, measure: Nearness, query: Query, graph: Stitched, landings: Ints, sure: Reals
    ) -> Reals:
        """Of all that is stitched, float64 [n], by one of the measures; PageRank begins anew at the landings (rows), at each
        as often as it is ``sure``. All alike where it cannot be measured: without a vector, or without a landing."""
        if measure == "interaction":
            return self._near(query)(graph.documents)
        found = np.zeros(len(graph.documents))
        if measure == "cosine" and query.vector.any():
            cosines = self.release[DenseIndex].cosines(query.vector, graph.documents)
            return np.nan_to_num(cosines.astype(np.float64), nan=-1.0)
        if measure == "pagerank" and len(landings):
            config = self.release.method.pagerank
            found[landings] = sure / sure.sum()
            return personalised_pagerank(
                graph.edges, found, config.damping, config.tolerance, config.iterations
            )
        return found
