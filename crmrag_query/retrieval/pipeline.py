"""From a query to ranked documents: channels, fusion, reserved places, caps, a coherent subset.

Which of them run is said by the mode; what each is worth: benchmarks/results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.config.modes import Mode
from crmrag_query.config.query import ByForm, RetrievalConfig
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.channels import Ties, channel_of
from crmrag_query.retrieval.pool import Candidate, cap, make_pool, reserve
from crmrag_query.retrieval.query import Query
from crmrag_query.retrieval.release_channels import ReleaseChannels, Shares, coverage, normalise, select
from crmrag_query.retrieval.scores import NOTHING, Hits
from crmrag_query.timing import Clock

Mask = npt.NDArray[np.bool_]
TIED = "tied"  # the ranking that all ties make
NEAREST = "dense"  # the channel that knows only the documents that have vectors
TIMES = {TIED: 3}
"""How often a channel counts in the fusion, others once."""
LITTLE_SHARE = (
    0.25  # of the pool that documents which say little by themselves may be; source: the published CRM-RAG
)
KEPT_SHARE = 0.5  # of the highest share of ties: documents below are not on the channel
TIED_BONUS = (
    0.5  # in the coherent subset, times the share of what the question names that a document is tied to
)


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
    channels: ReleaseChannels, query: Query, config: RetrievalConfig, mode: Mode, k: int | None = None
) -> Retrieved:
    """The best documents for ``query``, by the channels and stages of ``mode``; cost is bounded by the pool, not by the data.

    ``k`` stands in for that of ``config`` where it is given.
    """
    clock = Clock()
    k = k_of(query.form, config.k) if k is None else k
    size = k * config.pool_factor
    found: dict[str, Hits] = {}
    reserved: dict[str, Hits] = {}
    ties: list[tuple[float, Shares]] = []
    share = np.zeros(channels.documents, np.float32)
    for name in mode.channels:
        channel = channel_of(name)
        with clock(name):
            if isinstance(channel, Ties):
                ties += channel.of(channels, query)
            else:
                hits = channel.find(channels, query, size).at_least(mode.thresholds.get(name))
                (reserved if channel.reserved else found)[name] = hits
    if ties:
        with clock(TIED):
            share = coverage(ties, channels.documents)
            hits = _tied(channels, query, share, size)
            found[TIED] = hits.at_least(mode.thresholds.get(TIED))
    rankings = [
        hits.ranking for name, hits in found.items() if name != NEAREST for _ in range(TIMES.get(name, 1))
    ]
    fused = channels.fused(rankings, found[NEAREST].ranking if NEAREST in found else (), size)
    for hits in reserved.values():
        if len(hits):
            fused = reserve(fused, hits.ranking, size, float(getattr(config.reserved, query.form.value)))
    if "informative" in mode.expansion:
        fused = cap(fused, channels.little, size, LITTLE_SHARE)
    pool = make_pool(fused[:size], found | reserved, share)
    with clock("subgraph"):
        order = _chosen(channels, pool, query, config, mode, k)
    chosen = set(order)
    rest = [one for row, one in enumerate(pool) if row not in chosen]
    return Retrieved([pool[row] for row in order], rest, clock.spent)


def _tied(channels: ReleaseChannels, query: Query, share: Shares, size: int) -> Hits:
    """Documents with a share near the highest, by it; equal ones by dense and sparse rank."""
    mask = _best_tiers(share, KEPT_SHARE * share.max(initial=0), size)
    reached = int(mask.sum())
    if reached == 0:
        return NOTHING
    dense = channels.dense(query.vector, reached, mask).ranking
    sparse = channels.sparse(query.text, reached, mask).ranking
    near = dict.fromkeys(document for document, _ in channels.fused([sparse], dense, reached))
    near |= dict.fromkeys(np.flatnonzero(mask).tolist())  # tied, though neither a word nor the vector is near
    ranked = sorted(near, key=lambda document: -share[document])[:size]
    return Hits.of((document, float(share[document])) for document in ranked)


def _best_tiers(share: Shares, least: float, size: int) -> Mask:
    """Documents with a share of ``least`` or more, from the highest down, until there are ``size``; equal shares stay
    together."""
    kept: Mask = (share > 0) & (share >= least)
    shares = share[kept]
    if len(shares) > size:
        kept = share >= np.partition(shares, len(shares) - size)[len(shares) - size]
    return kept


def _chosen(
    channels: ReleaseChannels,
    pool: Sequence[Candidate],
    query: Query,
    config: RetrievalConfig,
    mode: Mode,
    k: int,
) -> list[int]:
    """Rows of the chosen candidates: a coherent subset, or the first ``k``."""
    n, on = len(pool), mode.expansion
    if "subgraph" not in on or n == 0:
        return list(range(min(k, n)))
    documents = np.array([one.document for one in pool], np.int32)
    joined = normalise(channels.joined(documents)) if "adjacency" in on else np.zeros((n, n))
    modifiers = channels.modifiers(documents, query.targets) if "modifiers" in on else np.zeros(n)
    modifiers = modifiers + TIED_BONUS * np.array([one.tied for one in pool], np.float32)
    vectors = channels.vectors(documents) if "diversity" in on else np.zeros((n, 1), np.float32)
    return select(np.array([one.score for one in pool]), joined, vectors, modifiers, k, config.subgraph)
