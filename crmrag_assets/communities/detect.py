"""Finding communities in the entity graph: hierarchical Leiden with modularity.

Leiden (Traag, Waltman & van Eck 2019) is run on each connected part of the graph by itself, numbered from 0 and with the same
seed. What a part is compared with is the weight of the whole graph, so the partition is one of the whole; but that weight is
rounded, so that little that comes or goes elsewhere moves nothing here.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import igraph
import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from crmrag_query.config.loading import CommunitiesConfig
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.arrays import Ints, Longs, places_in
from crmrag_query.retrieval.communities import NONE, Communities

# Iterations of Leiden: what follows the second moves little, and takes minutes of a large graph.
ITERATIONS, OF_LARGE = 10, 2
LARGE = 1_000_000  # edges from which a graph is large
STEP = 1.05  # the whole weight is rounded to a power of it
SEED = 0
PARTS = 2  # communities of the level below that any of an upper level has at least
Reals = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Net:
    """A weighted graph of documents, or of communities of them: edges once each, and the weight inside each node.

    ``low``, ``high`` int64 [edges]; ``weight`` float64 [edges]; ``inside`` float64 [nodes]; ``total``: of the whole
    entity graph, of which this may be a part.
    """

    low: Longs
    high: Longs
    weight: Reals
    inside: Reals
    total: float

    @classmethod
    def of(cls, graph: EntityGraph) -> Net:
        low, high, weight = graph.pairs()
        weights = weight.astype(np.float64)
        inside = np.zeros(graph.documents)
        return cls(low.astype(np.int64), high.astype(np.int64), weights, inside, float(weights.sum()))

    @property
    def strength(self) -> Reals:
        """The weight of each node's edges, that of those inside it twice."""
        nodes = len(self.inside)
        found = np.bincount(self.low, self.weight, nodes) + np.bincount(self.high, self.weight, nodes)
        return found + 2 * self.inside

    def joined(self, of: Ints, count: int) -> Net:
        """The graph of ``count`` groups, ``of`` [nodes] being each node's, -1 for none."""
        low, high = of[self.low].astype(np.int64), of[self.high].astype(np.int64)
        kept = (low != NONE) & (high != NONE)
        low, high, weight = low[kept], high[kept], self.weight[kept]
        same, there = low == high, of != NONE
        inside = (
            np.zeros(count)
            + np.bincount(of[there], self.inside[there], count)
            + np.bincount(low[same], weight[same], count)
        )
        pairs = sparse.coo_array(
            (weight[~same], (np.minimum(low, high)[~same], np.maximum(low, high)[~same])),
            shape=(count, count),
        ).tocsr()
        pairs.sum_duplicates()
        edges = pairs.tocoo()
        ends = edges.coords
        return Net(ends[0].astype(np.int64), ends[1].astype(np.int64), edges.data, inside, self.total)

    def parts(self) -> Iterator[tuple[Longs, Longs]]:
        """The nodes of each connected part of two or more, ascending, and its edges."""
        part = pieces(self.low, self.high, len(self.inside))
        by_part, of_edge = np.argsort(part, kind="stable"), part[self.low]
        by_edge = np.argsort(of_edge, kind="stable")
        ends = np.cumsum(np.bincount(part))
        edge_ends = np.cumsum(np.bincount(of_edge, minlength=len(ends)))
        for number in np.flatnonzero(np.diff(edge_ends, prepend=0)).tolist():
            first, edge_first = (int(row[number - 1]) if number else 0 for row in (ends, edge_ends))
            yield by_part[first : ends[number]], by_edge[edge_first : edge_ends[number]]


def pieces(low: Longs, high: Longs, nodes: int) -> Ints:
    """The connected piece of each node, int32 [nodes], numbered in order of their first nodes."""
    links = sparse.coo_array((np.ones(len(low), np.int8), (low, high)), shape=(nodes, nodes))
    return np.asarray(connected_components(links, directed=False)[1], np.int32)


def leiden(net: Net, resolution: float) -> Ints:
    """The group of each node, int32 [nodes], numbered in order of their first nodes; every group is connected."""
    found = np.arange(len(net.inside), dtype=np.int64)
    place = np.empty(len(found), np.int64)
    strength, total = net.strength, STEP ** round(math.log(net.total, STEP)) if net.total else 1.0
    graphs: Any = igraph  # its types are declared in part
    rounds = ITERATIONS if len(net.low) < LARGE else OF_LARGE
    try:
        for nodes, edges in net.parts():
            place[nodes] = np.arange(len(nodes))
            pairs = np.stack([place[net.low[edges]], place[net.high[edges]]], axis=1)
            igraph.set_random_number_generator(random.Random(SEED))
            groups = graphs.Graph(n=len(nodes), edges=pairs).community_leiden(
                "CPM",  # with these weights of nodes it is modularity
                weights=net.weight[edges],
                node_weights=strength[nodes],
                resolution=resolution / (2 * total),
                n_iterations=rounds,
            )
            found[nodes] = nodes[0] + len(found) * (1 + np.asarray(groups.membership))
    finally:
        igraph.set_random_number_generator(random)
    same = found[net.low] == found[net.high]
    return pieces(net.low[same], net.high[same], len(found))


def large_enough(of: Ints, least: int) -> tuple[Ints, int]:
    """Groups of ``least`` nodes or more, numbered anew, -1 for nodes in smaller ones; and how many there are."""
    size = np.bincount(of)
    kept = size >= least
    number = np.where(kept, np.cumsum(kept) - 1, NONE).astype(np.int32)
    return number[of], int(kept.sum())


def modularity(net: Net, of: Ints) -> float:
    """Newman's modularity of a grouping of ``net``'s nodes within the graph of those that are in a group."""
    low, high = of[net.low], of[net.high]
    kept = (low != NONE) & (high != NONE)
    low, high, weight = low[kept], high[kept], net.weight[kept]
    total = float(weight.sum())
    if not total:
        return 0.0
    strength = np.bincount(low, weight, int(of.max()) + 1) + np.bincount(high, weight, int(of.max()) + 1)
    return float(weight[low == high].sum() / total - (strength**2).sum() / (2 * total) ** 2)


def detect(graph: EntityGraph, documents: Documents, settings: CommunitiesConfig) -> Communities:
    """All communities, level by level: each level groups those of the level below, by a resolution that is lower."""
    whole = Net.of(graph)
    net, of = whole, np.arange(graph.documents, dtype=np.int32)  # of: each document's node in net
    standing = np.full(graph.documents, NONE, np.int32)
    tables: list[_Level] = []
    levels: list[dict[str, Any]] = []
    for level in range(settings.levels):
        resolution = settings.resolution / settings.coarser**level
        groups, count = large_enough(leiden(net, resolution), PARTS if level else settings.members)
        if not count:
            break
        there = of != NONE
        own = np.full(len(of), NONE, np.int32)
        own[there] = groups[of[there]]
        table = _level(whole, net, own, groups, count, level, documents)
        tables.append(table)
        # What has found no other on this level stands as it was on those below.
        standing = np.where(table.of_document != NONE, table.of_document + len(of) * level, standing).astype(
            np.int32
        )
        covered = int((own != NONE).sum())
        levels.append({
            "level": level, "communities": count, "documents": covered,
            "gathered_documents": len(of) - covered, "gathered_parts": int((groups == NONE).sum()) if level else 0,
            "resolution": round(resolution, 6), "modularity": round(modularity(whole, standing), 6),
        })  # fmt: skip
        of, net = table.of_document, net.joined(table.place[groups], count)
    return _stacked(tables, levels)


@dataclass(frozen=True)
class _Level:
    """The communities of one level in order; ``place``: where each stands, with -1 in the end for none; ``below``: the
    community of each node of the level below, -1 for none."""

    ids: list[int]
    weight: Reals
    member_ptr: Longs
    member: Ints
    place: Ints
    below: Ints
    of_document: Ints


def _level(
    whole: Net, net: Net, own: Ints, groups: Ints, count: int, level: int, documents: Documents
) -> _Level:
    """Put a level's communities in order: the largest first, then by the weight inside and by id."""
    here = np.flatnonzero(own != NONE)
    same = (own[whole.low] == own[whole.high]) & (own[whole.low] != NONE)
    low, high, weight = whole.low[same], whole.high[same], whole.weight[same]
    # How central a document is: what joins it to others of its community, to which PageRank within it is proportional.
    central = np.bincount(low, weight, len(own)) + np.bincount(high, weight, len(own))
    inside = np.bincount(own[low], weight, count).astype(np.float64)
    by_group = here[np.argsort(own[here], kind="stable")]
    size = np.bincount(own[here], minlength=count)
    ends = np.cumsum(size)
    iris = documents.graph.iris.take(documents.entities[by_group]).to_pylist()
    ids = []
    for first, end in zip((ends - size).tolist(), ends.tolist(), strict=True):
        text = "\n".join([str(level), *iris[first:end]])  # documents are numbered in the order of their IRIs
        ids.append(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
    order = np.lexsort((np.array(ids, np.uint64), -inside.round(6), -size))
    place = np.append(places_in(order), np.int32(NONE))
    of_document = place[own]  # -1 takes the last
    ranked = here[np.lexsort((here, -central[here].round(6), of_document[here]))]
    return _Level(
        [ids[one] for one in order.tolist()], inside[order], np.append(0, np.cumsum(size[order])),
        ranked.astype(np.int32), place, place[groups], of_document,
    )  # fmt: skip


def _stacked(tables: list[_Level], levels: list[dict[str, Any]]) -> Communities:
    """All levels in one table, numbered through."""
    firsts = np.cumsum([0, *(len(table.ids) for table in tables)]).tolist()
    parents, pointers, documents = [], [np.zeros(1, np.int64)], 0
    for table, above, first in zip(tables, [*tables, None][1:], firsts[1:], strict=True):
        parent = (
            np.full(len(table.ids), NONE)
            if above is None
            else np.where(above.below == NONE, NONE, above.below + first)
        )
        parents.append(parent)
        pointers.append(table.member_ptr[1:] + documents)
        documents += len(table.member)
    none = np.empty(0)
    return Communities(
        id=np.array([one for table in tables for one in table.ids], np.uint64),
        level=np.repeat(np.arange(len(tables)), [len(table.ids) for table in tables]).astype(np.int32),
        parent=np.concatenate([none, *parents]).astype(np.int32),
        weight=np.concatenate([none, *(table.weight for table in tables)]).astype(np.float32),
        rank=np.concatenate([none, *(1 + np.arange(len(table.ids)) for table in tables)]).astype(np.int32),
        member_ptr=np.concatenate(pointers),
        member=np.concatenate([none, *(table.member for table in tables)]).astype(np.int32),
        levels=tuple(levels),
    )
