"""From a query to ranked documents: channels, fusion, reserved places, caps, a coherent subset.

Which of them run is said by the mode; what each is worth: benchmarks/results.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from crmrag_query.config.loading import ByForm, Mode, RetrievalConfig
from crmrag_query.errors import ReleaseError, TookTooLong, in_a_line
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.channels import TIED, Channel, Ties, channel_of
from crmrag_query.retrieval.release_channels import (
    Query,
    ReleaseChannels,
    Shares,
    coverage,
    normalise,
    scored,
    select,
)
from crmrag_query.retrieval.scores import LITTLE_SHARE, NOTHING, Candidate, Hits, cap, make_pool, reserve
from crmrag_query.timing import Clock, Stopped, check, within

WORKERS: Final = 3
SECONDS: Final = 30.0
"""Of each search. Source of both: the published parallel retrieval."""
LOOKED = 0.1  # seconds after which it is looked again whether anybody still waits
T = TypeVar("T")


def at_once(
    work: Mapping[str, Callable[[], T]], seconds: float = SECONDS, workers: int = WORKERS
) -> dict[str, T | Exception]:
    """What each piece of ``work`` gives or fails with, in their order; TookTooLong for one that takes longer than it may.

    Work that hangs between its steps keeps a thread of its own, which holds up nothing else and ends with the process. Raises
    Stopped where nobody waits any more.
    """
    ended: SimpleQueue[tuple[str, T | Exception | Stopped]] = SimpleQueue()

    def run(name: str) -> None:
        try:
            with within(seconds, f"The search {name!r}", SLOW):
                ended.put((name, work[name]()))
        except (Exception, Stopped) as error:
            ended.put((name, error))

    waiting, running, found = [*work], dict[str, float](), dict[str, T | Exception]()
    while waiting or running:
        while waiting and len(running) < workers:
            name = waiting.pop(0)
            running[name] = time.monotonic() + seconds
            threading.Thread(target=copy_context().run, args=(run, name), name=name, daemon=True).start()
        try:
            name, gave = ended.get(timeout=LOOKED)
        except Empty:
            check()
        else:
            if isinstance(gave, Stopped):
                raise gave
            if running.pop(name, None) is not None:
                found[name] = gave
        for name in [name for name, end in running.items() if end < time.monotonic()]:
            del running[name]
            found[name] = TookTooLong(f"The search {name!r} took longer than {seconds:g} seconds.", SLOW)
    return {name: found[name] for name in work}


SLOW = "Ask again; if that lasts, look at the service's log and load."


Mask = npt.NDArray[np.bool_]
LOG = logging.getLogger("crmrag.retrieval")
NEAREST = "dense"  # the channel that knows only the documents that have vectors
TIMES = {TIED: 3}
"""How often a channel counts in the fusion, others once."""
KEPT_SHARE = 0.5  # of the highest share of ties: documents below are not on the channel
TIED_BONUS = 0.5
"""In the coherent subset, times the share of what the question names that a document is tied to."""


@dataclass(frozen=True)
class Retrieved:
    """The outcome: the ``k`` ``chosen`` candidates in order, the rest of the ``pool`` after them, milliseconds a stage;
    ``left_out``: those of the pool that a conversation excludes; ``failed``: channels that failed;
    ``took``: milliseconds in all, fewer than those of the stages where channels search at the same time."""

    chosen: list[Candidate]
    rest: list[Candidate]
    timings: Mapping[str, float] = field(default_factory=dict)
    left_out: list[Candidate] = field(default_factory=list)
    failed: tuple[str, ...] = ()
    took: float = 0.0

    @property
    def ranking(self) -> list[int]:
        """All documents of the pool, the chosen first."""
        return [candidate.document for candidate in (*self.chosen, *self.rest)]


def k_of(form: Form, k: ByForm) -> int:
    """How many documents a question of this form gets."""
    return int(getattr(k, form.value))


def places_of(form: Form, config: RetrievalConfig, mode: Mode) -> int:
    """How many documents a question of this form gets in a mode."""
    if not mode.limited:
        return k_of(form, config.k)
    return mode.limits.documents if mode.expands else min(mode.limits.found, mode.limits.documents)


def retrieve(
    channels: ReleaseChannels, query: Query, config: RetrievalConfig, mode: Mode, k: int | None = None
) -> Retrieved:
    """The best documents for ``query``, by the channels and stages of ``mode``; cost is bounded by the pool, not by the data.

    ``k`` stands in for that of the form or the mode where it is given. Channels search at the same time; of one that fails or
    takes too long the others make up. Raises what the first of them failed with where all did, and ReleaseError.
    """
    started, clock = time.perf_counter(), Clock()
    query = replace(query, levels=mode.limits.community_levels, walk=mode.walk)
    k = places_of(query.form, config, mode) if k is None else k
    size = max(k, round(mode.limits.documents * mode.limits.pool)) if mode.limited else k * config.pool_factor
    found, reserved, ties, failed = _searched(channels, query, mode, size, clock)
    share = np.zeros(channels.documents, np.float32)
    if ties:
        with clock(TIED):
            share = coverage(ties, channels.documents)
            if query.within is not None:
                share = share * query.within
            found[TIED] = _tied(channels, query, share, size).at_least(mode.thresholds.get(TIED))
    if mode.expands:
        seeds = [document for document, _ in _fused(channels, found, size)[: mode.limits.found]]
        if mode.limited:  # what was found beyond these is no candidate: expansion has the other places
            found = {name: hits.among(_mask(seeds, channels.documents)) for name, hits in found.items()}
        found |= _expanded(channels, query, mode, seeds, clock)
    fused = _fused(channels, found, size)
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
    took = 1000 * (time.perf_counter() - started)
    return Retrieved([pool[row] for row in order], rest, clock.spent, failed=failed, took=took)


Rankings = dict[str, Hits]


def _fused(channels: ReleaseChannels, found: Rankings, size: int) -> list[tuple[int, float]]:
    """What channels found, at most ``size`` each, as one ranking."""
    rankings = [
        hits.ranking for name, hits in found.items() if name != NEAREST for _ in range(TIMES.get(name, 1))
    ]
    return channels.fused(rankings, found[NEAREST].ranking if NEAREST in found else (), size)


def _mask(documents: Sequence[int], count: int) -> Mask:
    chosen = np.zeros(count, bool)
    chosen[np.asarray(documents, np.int32)] = True
    return chosen


def _searched(
    channels: ReleaseChannels, query: Query, mode: Mode, size: int, clock: Clock
) -> tuple[Rankings, Rankings, list[tuple[float, Shares]], tuple[str, ...]]:
    """What the channels of a mode find: rankings, those with reserved places, ties; and the names of those that failed."""

    def search(name: str, channel: Channel | Ties) -> Hits | list[tuple[float, Shares]]:
        with clock(name):
            if isinstance(channel, Ties):
                return [*channel.of(channels, query)]
            hits = channel.find(channels, query, size).at_least(mode.thresholds.get(name)).among(query.within)
            if name == "dense" and mode.limited:
                hits = hits.at_least(channels.calibrated(mode.limits.similarity))
            return hits

    of = {name: channel_of(name) for name in mode.channels}
    gave = at_once({name: partial(search, name, channel) for name, channel in of.items()})
    failed = {name: one for name, one in gave.items() if isinstance(one, Exception)}
    for name, error in failed.items():
        if isinstance(error, ReleaseError) or len(failed) == len(gave):
            raise error
        channels.check_files(error)
        LOG.error("The search %r failed: %s", name, in_a_line(error), exc_info=error)
    found: Rankings = {}
    reserved: Rankings = {}
    ties: list[tuple[float, Shares]] = []
    for name, one in gave.items():
        if isinstance(one, Hits):
            channel = of[name]
            (reserved if isinstance(channel, Channel) and channel.reserved else found)[name] = one
        elif isinstance(one, list):
            ties += one
    return found, reserved, ties, tuple(failed)


def _expanded(
    channels: ReleaseChannels, query: Query, mode: Mode, seeds: Sequence[int], clock: Clock
) -> Rankings:
    """What the stages that add documents reach from ``seeds``, best first."""
    added = Rankings()
    if "reached" in mode.expansion:
        with clock("reached"):
            ends = [way.end for way in channels.reached(query.vector, seeds)]
            added["reached"] = scored(ends).among(query.within)
    if "themes" in mode.expansion:
        with clock("themes"):
            added["themes"] = scored(channels.themed(seeds)).among(query.within)
    return added


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
