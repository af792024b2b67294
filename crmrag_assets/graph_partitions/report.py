"""What a cut is worth: sizes, edges cut, coherence, modularity, what is in pieces; beside controls. And hubs among parts."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from crmrag_assets.communities.detect import Net, leiden, modularity
from crmrag_assets.graph_partitions.cut import SEED, centroids, numbered
from crmrag_query.graph.arrays import Ints, Longs

ISLAND = 10  # documents below which a part is an island
ROUNDS = 5  # of k-means, a control: more change little
MOST_PAIRS = 2_000_000_000  # documents times parts up to which k-means is tried: minutes
HUB = 0.5  # score from which a part is a hub
HIGHEST = 0.99
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Quality:
    """Of one cut. ``islands``: parts of fewer than ISLAND documents; ``giants``: above the limit; ``cut``: share of the edges
    between parts, ``cut_weight`` of their weight; ``in_pieces``: share of the parts that are not connected within;
    ``coherence``: mean cosine of two documents of a part, ``lift``: how far that is above two of any."""

    cut_by: str
    parts: int
    smallest: int
    mean: float
    largest: int
    islands: int
    giants: int
    cut: float
    cut_weight: float
    in_pieces: float
    coherence: float
    lift: float
    modularity: float

    @classmethod
    def of(cls, name: str, net: Net, part: Ints, vectors: Floats, limit: int) -> Quality:
        sizes = np.bincount(part)
        within = part[net.low] == part[net.high]
        found, everything = coherence(part, vectors), coherence(np.zeros_like(part), vectors)
        mean = float(np.average(found, weights=sizes)) if len(part) else 0.0
        edges, weight = max(1, len(within)), float(net.weight.sum()) or 1.0
        return cls(
            name, len(sizes), int(sizes.min(initial=len(part))), round(float(sizes.mean()), 1), int(sizes.max(initial=0)),
            int((sizes < ISLAND).sum()), int((sizes > limit).sum()),
            round(float((~within).sum()) / edges, 4), round(float(net.weight[~within].sum()) / weight, 4),
            round(float((pieces(net, part) > 1).mean()), 4), round(mean, 4),
            round(mean - float(everything[0]), 4) if len(part) else 0.0, round(modularity(net, part), 4),
        )  # fmt: skip

    def row(self) -> dict[str, object]:
        return asdict(self)


def coherence(part: Ints, vectors: Floats) -> npt.NDArray[np.float64]:
    """The mean cosine of two different documents of each part, float64 [parts]; 1 for a part of one document."""
    sums = np.zeros((int(part.max(initial=-1)) + 1, vectors.shape[1]))
    np.add.at(sums, part, vectors)
    own = np.bincount(part, (vectors.astype(np.float64) ** 2).sum(axis=1), len(sums))
    sizes = np.bincount(part, minlength=len(sums))
    pairs = sizes * (sizes - 1.0)
    return np.where(pairs > 0, ((sums**2).sum(axis=1) - own) / np.maximum(pairs, 1), 1.0)


def pieces(net: Net, part: Ints) -> Longs:
    """In how many connected pieces each part is by the edges within it, int64 [parts]."""
    within = part[net.low] == part[net.high]
    low, high = net.low[within], net.high[within]
    links = sparse.coo_array((np.ones(len(low), np.int8), (low, high)), shape=(len(part), len(part)))
    _, piece = connected_components(links, directed=False)
    _, first = np.unique(piece, return_index=True)
    return np.bincount(part[first], minlength=int(part.max(initial=-1)) + 1)


def controls(net: Net, part: Ints, vectors: Floats) -> dict[str, Ints]:
    """Other cuts to see this one beside: Leiden without a limit, the same sizes by chance, and by vectors alone (k-means)."""
    chance = np.random.default_rng(SEED)
    found = {"Leiden, without a limit": leiden(net, 1.0), "by chance": chance.permutation(part)}
    count = int(part.max(initial=-1)) + 1
    if len(part) * count <= MOST_PAIRS:
        found["k-means"] = _k_means(part, vectors)
    return found


def _k_means(part: Ints, vectors: Floats) -> Ints:
    """As many groups by cosine as there are parts, of whatever size, begun with these parts."""
    found = part
    for _ in range(ROUNDS):
        means = centroids(found, vectors)
        found = numbered((vectors @ means.T).argmax(axis=1))
    return found


def penalties(net: Net, part: Ints, vectors: Floats) -> Floats:
    """How far each part is a hub, float32 [parts], 0 … below 1: joined to others more than most parts, and about nothing.

    The share of parts that are joined less, times how incoherent it is: 0 as the median part, 1 as documents of any parts.
    Below HUB it is 0. The published description has "Partition 0", dates and stubs, as a stop list.
    """
    count = int(part.max(initial=-1)) + 1
    across = part[net.low] != part[net.high]
    ends = np.concatenate([part[net.low[across]], part[net.high[across]]])
    degree = np.bincount(ends, minlength=count) / np.maximum(np.bincount(part, minlength=count), 1)
    rank = np.searchsorted(np.sort(degree), degree) / max(1, count - 1)
    found, everything = coherence(part, vectors), coherence(np.zeros_like(part), vectors)
    span = float(np.median(found) - everything[0]) if count else 0.0
    incoherent = 1 - np.clip((found - everything[0]) / span, 0, 1) if span > 0 else np.zeros(count)
    score = rank * incoherent
    return np.where(score >= HUB, np.minimum(score, HIGHEST), 0).astype(np.float32)
