"""From a query to ranked documents: channels, fusion, reserved places, caps, adjacency, a coherent subset.

Each stage is a small function over a typed table; which of them run is configuration (``retrieval.stages``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crmrag_query.config.query import ByForm, RetrievalConfig, Stages
from crmrag_query.dates import Interval
from crmrag_query.graph.arrays import Ints
from crmrag_query.linking.records import Mention
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.adjacency import Matrix, normalise
from crmrag_query.retrieval.fusion import reciprocal_rank_fusion
from crmrag_query.retrieval.pool import Candidate, Pool, make_pool
from crmrag_query.retrieval.query import Floats, Query
from crmrag_query.retrieval.quota import cap, reserve
from crmrag_query.retrieval.reach import Shares, coverage
from crmrag_query.retrieval.subgraph import select
from crmrag_query.timing import Clock

__all__ = ["Candidate", "Channels", "Retrieved", "k_of", "retrieve"]

Mask = npt.NDArray[np.bool_]


class Channels(Protocol):
    """What retrieval asks of a release; rankings are document numbers, best first. See ``channels.ReleaseChannels``."""

    @property
    def documents(self) -> int: ...

    @property
    def little(self) -> Mask: ...

    def dense(self, vector: Floats, k: int, mask: Mask | None = None) -> list[int]: ...

    def sparse(self, text: str, k: int, mask: Mask | None = None) -> list[int]: ...

    def of_categories(self, categories: int) -> Mask: ...

    def central(self, categories: int, k: int) -> list[int]: ...

    def holding(self, entities: Sequence[int]) -> list[int]: ...

    def tied(self, mention: Mention, form: Form, targets: int, cues: frozenset[str]) -> Shares: ...

    def dated(self, period: Interval, targets: int, cues: frozenset[str]) -> Shares: ...

    def walked(self, entities: Sequence[int], k: int) -> list[int]: ...

    def joined(self, documents: Ints) -> Matrix: ...

    def vectors(self, documents: Ints) -> Floats: ...

    def modifiers(self, documents: Ints, targets: int) -> npt.NDArray[np.float64]: ...


@dataclass(frozen=True)
class Retrieved:
    """The outcome: the ``k`` ``chosen`` candidates in order, the rest of the ``pool`` after them, milliseconds a stage;
    ``left_out``: those of the pool that a conversation excludes."""

    chosen: list[Candidate]
    rest: list[Candidate]
    timings: Mapping[str, float] = field(default_factory=dict)
    left_out: list[Candidate] = field(default_factory=list)

    @property
    def ranking(self) -> list[int]:
        """All documents of the pool, the chosen first."""
        return [candidate.document for candidate in (*self.chosen, *self.rest)]


def k_of(form: Form, k: ByForm) -> int:
    """How many documents a question of this form gets."""
    return int(getattr(k, form.value))


def retrieve(
    channels: Channels,
    query: Query,
    config: RetrievalConfig,
    stages: Stages | None = None,
    k: int | None = None,
) -> Retrieved:
    """The best documents for ``query``; cost is bounded by the pool, not by the data.

    ``stages`` and ``k`` stand in for those of ``config`` where given.
    """
    on, clock = stages or config.stages, Clock()
    k = k_of(query.form, config.k) if k is None else k
    size = k * config.pool_factor
    rankings: dict[str, list[int]] = {}
    share = np.zeros(channels.documents, np.float32)
    with clock("dense"):
        if on.dense:
            rankings["dense"] = channels.dense(query.vector, size)
    with clock("sparse"):
        if on.sparse:
            rankings["sparse"] = channels.sparse(query.text, size)
    with clock("named"):
        if on.named:
            rankings["named"] = _named(channels, query)
    with clock("tied"):
        if on.tied or on.dated:
            share = _share(channels, query, on)
            rankings["tied"] = _tied(channels, query, config, share, size)
    with clock("walked"):
        if on.walked and query.mentions:
            rankings["walked"] = channels.walked(_linked(query), size)
    weighted = [ranking for name, ranking in rankings.items() for _ in range(config.weights.get(name, 1))]
    fused = reciprocal_rank_fusion(weighted, config.rrf_k)
    with clock("typed"):
        if on.typed and query.targets:
            rankings["typed"] = _typed(channels, query, config, size)
            places = float(getattr(config.reserved, query.form.value))
            fused = reserve(fused, rankings["typed"], size, places)
    if on.informative:
        fused = cap(fused, channels.little, size, config.non_informative.share)
    pool = make_pool(fused[:size], rankings, share)
    with clock("subgraph"):
        order = _chosen(channels, pool, query, config, on, share, k)
    rows = list(dict.fromkeys([*order, *range(len(pool))]))
    found = pool.take(rows).candidates()
    return Retrieved(found[: len(order)], found[len(order) :], clock.spent)


def _linked(query: Query) -> list[int]:
    return list(dict.fromkeys(one.entity for mention in query.mentions for one in mention.entities))


def _named(channels: Channels, query: Query) -> list[int]:
    """Documents of what the question names, the surest first."""
    linked = [one for mention in query.mentions for one in mention.entities]
    return channels.holding([one.entity for one in sorted(linked, key=lambda one: (-one.score, one.entity))])


def _share(channels: Channels, query: Query, on: Stages) -> Shares:
    """How much of what the question names each document is tied to: entities by relationships, the period by dates."""
    groups: list[tuple[float, Shares]] = []
    if on.tied:
        for mention in query.mentions:
            share = channels.tied(mention, query.form, query.targets, query.cues)
            groups.append((mention.entities[0].score, share))
    if on.dated and query.period is not None:
        groups.append((1.0, channels.dated(query.period, query.targets, query.cues)))
    return coverage(groups, channels.documents)


def _tied(channels: Channels, query: Query, config: RetrievalConfig, share: Shares, size: int) -> list[int]:
    """Documents with a share near the highest, by it; equal ones by dense and sparse rank."""
    mask = _best_tiers(share, config.reach.keep * share.max(initial=0), size)
    reached = int(mask.sum())
    if reached == 0:
        return []
    dense = channels.dense(query.vector, reached, mask)
    sparse = channels.sparse(query.text, reached, mask)
    near = [document for document, _ in reciprocal_rank_fusion([dense, sparse], config.rrf_k)]
    return sorted(near, key=lambda document: -share[document])[:size]


def _best_tiers(share: Shares, least: float, size: int) -> Mask:
    """Documents with a share of ``least`` or more, from the highest down, until there are ``size``; equal shares stay
    together."""
    kept: Mask = (share > 0) & (share >= least)
    shares = share[kept]
    if len(shares) > size:
        kept = share >= np.partition(shares, len(shares) - size)[len(shares) - size]
    return kept


def _typed(channels: Channels, query: Query, config: RetrievalConfig, size: int) -> list[int]:
    """Documents of the target categories: dense, sparse and, for sets, those of highest PageRank, fused."""
    mask = channels.of_categories(query.targets)
    rankings = [channels.dense(query.vector, size, mask), channels.sparse(query.text, size, mask)]
    if query.form is not Form.SPECIFIC:
        rankings.append(channels.central(query.targets, size))
    return [document for document, _ in reciprocal_rank_fusion(rankings, config.rrf_k)][:size]


def _chosen(
    channels: Channels,
    pool: Pool,
    query: Query,
    config: RetrievalConfig,
    on: Stages,
    share: Shares,
    k: int,
) -> list[int]:
    """Rows of the chosen candidates: a coherent subset, or the first ``k``."""
    if not on.subgraph or len(pool) == 0:
        return list(range(min(k, len(pool))))
    n = len(pool)
    joined = normalise(channels.joined(pool.documents)) if on.adjacency else np.zeros((n, n))
    modifiers = channels.modifiers(pool.documents, query.targets) if on.modifiers else np.zeros(n)
    modifiers = modifiers + config.subgraph.tied_bonus * share[pool.documents]
    vectors = channels.vectors(pool.documents) if on.diversity else np.zeros((n, 1), np.float32)
    return select(pool.relevance, joined, vectors, modifiers, k, config.subgraph)
