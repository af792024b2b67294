"""From a query to ranked documents: channels, fusion, reserved places, caps, a coherent subset.

Which stages run is configuration (``retrieval.stages``); what each is worth: benchmarks/results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crmrag_query.config.query import ByForm, RetrievalConfig, Stages
from crmrag_query.dates import Interval
from crmrag_query.linking import Mention
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.channels import ReleaseChannels, Shares, coverage, normalise, select
from crmrag_query.retrieval.pool import Candidate, cap, make_pool, reciprocal_rank_fusion, reserve
from crmrag_query.text import tokenize, with_singulars
from crmrag_query.timing import Clock

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Query:
    """What the stages of retrieval know of a question.

    ``text`` is what is searched for; ``vector`` float32 [dimension], its encoding, made once; ``targets`` and ``contexts``
    masks of categories; ``cues`` labels of relationships and codes of properties that its words ask for.
    """

    text: str
    vector: Floats
    form: Form = Form.SPECIFIC
    targets: int = 0
    contexts: int = 0
    mentions: Sequence[Mention] = ()
    period: Interval | None = None
    cues: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, analysis: Analysis, vector: Floats, mentions: Sequence[Mention], text: str | None = None
    ) -> Query:
        """The query of an analysed question, by those of its mentions that can be relied on (see ``telling``).

        ``text`` where something else than the question itself is searched for.
        """
        reading = analysis.reading
        return cls(
            reading.question if text is None else text,
            vector,
            reading.form,
            analysis.targets,
            analysis.contexts,
            mentions,
            analysis.period,
            reading.cues,
        )


# From which score a mention is relied on, and one whose words also ask for a relationship ("made"). These and the numbers
# below have no published value: benchmarks/results were measured with them.
LEAST, LEAST_OF_CUE = 0.25, 0.8


def telling(analysis: Analysis, plain: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    """The mentions that retrieval may rely on.

    Not those that only repeat the period; nor those of a score below ``LEAST``; nor those whose words all ask for
    relationships ("made", "date") and are parts of names by chance (below ``LEAST_OF_CUE``) or ``plain``, but for the types
    that are asked for.
    """
    cueing, types = analysis.reading.cueing, frozenset(analysis.types)

    def is_plain(words: set[str]) -> bool:
        return all(not plain.isdisjoint(with_singulars([word])) for word in words)

    def tells(mention: Mention) -> bool:
        own = set(tokenize(mention.text))
        sure = max((one.score for one in mention.entities), default=0.0)
        asked = not types.isdisjoint(one.entity for one in mention.entities)
        if own <= cueing and not asked and (sure < LEAST_OF_CUE or is_plain(own)):
            return False
        return sure >= LEAST and not own <= analysis.period_words

    return tuple(mention for mention in analysis.mentions if tells(mention))


Mask = npt.NDArray[np.bool_]
TIMES = {"tied": 3}
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
    channels: ReleaseChannels,
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
    named = [one for mention in query.mentions for one in mention.entities]
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
            surest = sorted(named, key=lambda one: (-one.score, one.entity))
            rankings["named"] = channels.holding(one.entity for one in surest)
    with clock("tied"):
        if on.tied or on.dated:
            share = _share(channels, query, on)
            rankings["tied"] = _tied(channels, query, share, size)
    with clock("walked"):
        if on.walked and query.mentions:
            rankings["walked"] = channels.walked([one.entity for one in named], size)
    weighted = [ranking for name, ranking in rankings.items() for _ in range(TIMES.get(name, 1))]
    fused = reciprocal_rank_fusion(weighted)
    with clock("typed"):
        if on.typed and query.targets:
            rankings["typed"] = _typed(channels, query, size)
            places = float(getattr(config.reserved, query.form.value))
            fused = reserve(fused, rankings["typed"], size, places)
    if on.informative:
        fused = cap(fused, channels.little, size, LITTLE_SHARE)
    pool = make_pool(fused[:size], rankings, share)
    with clock("subgraph"):
        order = _chosen(channels, pool, query, config, on, k)
    chosen = set(order)
    rest = [one for row, one in enumerate(pool) if row not in chosen]
    return Retrieved([pool[row] for row in order], rest, clock.spent)


def _share(channels: ReleaseChannels, query: Query, on: Stages) -> Shares:
    """How much of what the question names each document is tied to: entities by relationships, the period by dates."""
    groups: list[tuple[float, Shares]] = []
    if on.tied:
        for mention in query.mentions:
            share = channels.tied(mention, query.form, query.targets, query.cues)
            groups.append((mention.entities[0].score, share))
    if on.dated and query.period is not None:
        groups.append((1.0, channels.dated(query.period, query.targets, query.cues)))
    return coverage(groups, channels.documents)


def _tied(channels: ReleaseChannels, query: Query, share: Shares, size: int) -> list[int]:
    """Documents with a share near the highest, by it; equal ones by dense and sparse rank."""
    mask = _best_tiers(share, KEPT_SHARE * share.max(initial=0), size)
    reached = int(mask.sum())
    if reached == 0:
        return []
    dense = channels.dense(query.vector, reached, mask)
    sparse = channels.sparse(query.text, reached, mask)
    near = dict.fromkeys(document for document, _ in reciprocal_rank_fusion([dense, sparse]))
    near |= dict.fromkeys(np.flatnonzero(mask).tolist())  # tied, though neither a word nor the vector is near
    return sorted(near, key=lambda document: -share[document])[:size]


def _best_tiers(share: Shares, least: float, size: int) -> Mask:
    """Documents with a share of ``least`` or more, from the highest down, until there are ``size``; equal shares stay
    together."""
    kept: Mask = (share > 0) & (share >= least)
    shares = share[kept]
    if len(shares) > size:
        kept = share >= np.partition(shares, len(shares) - size)[len(shares) - size]
    return kept


def _typed(channels: ReleaseChannels, query: Query, size: int) -> list[int]:
    """Documents of the target categories: dense, sparse and, for sets, those of highest PageRank, fused."""
    mask = channels.of_categories(query.targets)
    rankings = [channels.dense(query.vector, size, mask), channels.sparse(query.text, size, mask)]
    if query.form is not Form.SPECIFIC:
        rankings.append(channels.central(query.targets, size))
    return [document for document, _ in reciprocal_rank_fusion(rankings)][:size]


def _chosen(
    channels: ReleaseChannels,
    pool: Sequence[Candidate],
    query: Query,
    config: RetrievalConfig,
    on: Stages,
    k: int,
) -> list[int]:
    """Rows of the chosen candidates: a coherent subset, or the first ``k``."""
    n = len(pool)
    if not on.subgraph or n == 0:
        return list(range(min(k, n)))
    documents = np.array([one.document for one in pool], np.int32)
    joined = normalise(channels.joined(documents)) if on.adjacency else np.zeros((n, n))
    modifiers = channels.modifiers(documents, query.targets) if on.modifiers else np.zeros(n)
    modifiers = modifiers + TIED_BONUS * np.array([one.tied for one in pool], np.float32)
    vectors = channels.vectors(documents) if on.diversity else np.zeros((n, 1), np.float32)
    return select(np.array([one.score for one in pool]), joined, vectors, modifiers, k, config.subgraph)
