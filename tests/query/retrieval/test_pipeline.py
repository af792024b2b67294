"""The stages put together: which of them run, what each changes, and what stays the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.config.loading import RetrievalConfig, ShareByForm
from crmrag_query.dates import Interval
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.form import Form
from crmrag_query.retrieval import pipeline
from crmrag_query.retrieval.pipeline import Retrieved, k_of, retrieve
from crmrag_query.retrieval.release_channels import Query, Way, coverage, normalise, select
from crmrag_query.retrieval.scores import Hits, fuse
from tests.support.modes import STAGES, mode

CONFIG = load_method().retrieval
CHANNELS = ("dense", "sparse", "named", "tied", "dated", "walked")
DIMENSION = 4
Reals = npt.NDArray[np.float64]
Shares = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Arrays:
    """Channels over plain arrays: ``units`` [n, 4], ``hits`` [n] of the text, ``categories`` [n], ``held`` [entities],
    ``ties`` [entities, n], ``dates`` [n], ``near`` [n], ``edges`` [n, n], ``added`` [n], ``little`` [n].
    """  # fmt: skip

    units: npt.NDArray[np.float32]
    hits: Reals
    categories: npt.NDArray[np.uint8]
    held: npt.NDArray[np.int32]
    ties: Shares
    dates: Shares
    near: Reals
    edges: Reals
    added: Reals
    little: Mask

    @property
    def documents(self) -> int:
        return len(self.units)

    def fused(
        self, rankings: Sequence[Sequence[int]], nearest: Sequence[int], size: int
    ) -> list[tuple[int, float]]:
        return fuse(rankings, nearest, 1.0, size)

    def dense(self, vector: npt.NDArray[np.float32], k: int, mask: Mask | None = None) -> Hits:
        return self._hits(self.units @ vector, k, np.ones(self.documents, bool) if mask is None else mask)

    def sparse(self, text: str, k: int, mask: Mask | None = None) -> Hits:
        return self._hits(self.hits, k, (self.hits > 0) & (True if mask is None else mask))

    def of_categories(self, categories: int) -> Mask:
        chosen: Mask = (self.categories & categories) != 0
        return chosen

    def central(self, categories: int, k: int) -> list[int]:
        return self._best(self.near, k, self.of_categories(categories))

    def holding(self, entities: Iterable[int]) -> list[int]:
        return list(dict.fromkeys(int(self.held[one]) for one in entities if self.held[one] >= 0))

    def tied(self, mention: Mention, form: Form, targets: int, cues: frozenset[str]) -> Shares:
        shares: Shares = self.ties[[one.entity for one in mention.entities]].max(axis=0)
        return shares

    def dated(self, period: Interval, targets: int, cues: frozenset[str]) -> Shares:
        return self.dates

    def walked(self, entities: Sequence[int], k: int, mask: Mask | None = None) -> Hits:
        inside = (self.near > 0) & (True if mask is None else mask)
        return self._hits(self.near * self.ties[list(entities)].sum(axis=0), k, inside)

    def calibrated(self, similarity: float) -> float:
        return 2 * similarity - 1

    def reached(self, vector: npt.NDArray[np.float32], documents: Sequence[int]) -> tuple[Way, ...]:
        found = self.edges[list(documents)].max(axis=0, initial=0)
        ends = [one for one in self._best(found, self.documents, found > 0) if one not in documents]
        return tuple(Way(-1, -1, one, float(found[one])) for one in ends)

    def themed(self, documents: Sequence[int]) -> list[int]:
        """Those of the category of one of these."""
        own = np.bitwise_or.reduce(self.categories[list(documents)], initial=0)
        return [one for one in np.flatnonzero(self.categories & own).tolist() if one not in documents]

    def joined(self, documents: npt.NDArray[np.int32]) -> Reals:
        return self.edges[np.ix_(documents, documents)]

    def vectors(self, documents: npt.NDArray[np.int32]) -> npt.NDArray[np.float32]:
        return self.units[documents]

    def modifiers(self, documents: npt.NDArray[np.int32], targets: int) -> Reals:
        return self.added[documents]

    def _hits(self, scores: npt.NDArray[np.floating], k: int, mask: Mask) -> Hits:
        return Hits.of((n, float(scores[n])) for n in self._best(scores, k, mask))

    def _best(self, scores: npt.NDArray[np.floating], k: int, mask: Mask) -> list[int]:
        found = [int(n) for n in np.flatnonzero(mask)]
        return sorted(found, key=lambda n: (-float(scores[n]), n))[:k]


ENTITIES = 6


def arrays(n: int, seed: int) -> Arrays:
    random = np.random.default_rng(seed)
    units = random.normal(size=(n, DIMENSION))
    edges = np.triu(random.random((n, n)) * (random.random((n, n)) < 0.2), 1)
    return Arrays(
        units=(units / np.linalg.norm(units, axis=1, keepdims=True)).astype(np.float32),
        hits=random.integers(0, 4, n).astype(np.float64),
        categories=(1 << random.integers(0, 6, n)).astype(np.uint8),
        held=random.integers(-1, n, ENTITIES).astype(np.int32),
        ties=random.choice(np.array([0, 0.25, 0.5, 1], np.float32), (ENTITIES, n), p=[0.7, 0.1, 0.1, 0.1]),
        dates=random.choice(np.array([0, 0.5, 1], np.float32), n, p=[0.6, 0.2, 0.2]),
        near=random.random(n),
        edges=edges + edges.T,
        added=random.choice([0, 0.05, -0.2], n),
        little=random.random(n) < 0.5,
    )


def mention(*entities: tuple[int, float]) -> Mention:
    return Mention(0, 1, "it", tuple(LinkedEntity(node, score, "it", "label") for node, score in entities))


MENTIONS = (mention((1, 0.9), (4, 0.6)), mention((2, 0.5)))
PERIOD = Interval(0, 100)


def query(
    form: Form = Form.SPECIFIC,
    targets: int = 0,
    mentions: tuple[Mention, ...] = MENTIONS,
    period: Interval | None = PERIOD,
) -> Query:
    vector = np.array([1, 0, 0, 0], np.float32)
    return Query("words", vector, form, targets, mentions=mentions, period=period)


def config(pool_factor: int = 2, **values: object) -> RetrievalConfig:
    """The method's configuration with a small pool and the given values."""
    return CONFIG.model_copy(update={"pool_factor": pool_factor, **values})


def whole(found: Retrieved) -> Mapping[int, tuple[float, dict[str, int]]]:
    """Document -> relevance and ranks of all candidates."""
    return {one.document: (one.score, dict(one.ranks)) for one in (*found.chosen, *found.rest)}


def rankings_of(channels: Arrays, asked: Query, on: Sequence[str], size: int) -> dict[str, list[int]]:
    """What each channel that is on should give, from the arrays."""
    found: dict[str, list[int]] = {}
    if "dense" in on:
        found["dense"] = channels.dense(asked.vector, size).ranking
    if "sparse" in on:
        found["sparse"] = channels.sparse("", size).ranking
    if "named" in on:
        linked = sorted((-one.score, one.entity) for some in asked.mentions for one in some.entities)
        found["named"] = channels.holding(entity for _, entity in linked)
    if "walked" in on and asked.mentions:
        found["walked"] = channels.walked([1, 4, 2], size).ranking
    return found


def share_of(channels: Arrays, on: Sequence[str]) -> Shares:
    """The share of each mention (weight: its surest entity) and of the period (weight 1) that a document is tied to."""
    groups = [(0.9, channels.ties[[1, 4]].max(axis=0)), (0.5, channels.ties[2])] if "tied" in on else []
    groups += [(1.0, channels.dates)] if "dated" in on else []
    return coverage(groups, channels.documents)


SIZES = st.tuples(st.integers(1, 30), st.integers(1, 8), st.integers(1, 3), st.integers(0, 2**32))


@given(st.sets(st.sampled_from([name for name in CHANNELS if name not in ("tied", "dated")])), SIZES)
def test_the_pool_is_the_fusion_of_the_channels_that_are_on(
    on: set[str], sizes: tuple[int, int, int, int]
) -> None:
    n, k, factor, seed = sizes
    channels, asked = arrays(n, seed), query()
    with patch.dict(pipeline.TIMES, {"named": 3, "walked": 2}):
        found = retrieve(channels, asked, config(factor), mode(*on), k)
    rankings = rankings_of(channels, asked, sorted(on), k * factor)
    expected: dict[int, float] = {}
    for name, ranking in rankings.items():
        for rank, document in enumerate(ranking):
            weight = {"named": 3, "walked": 2}.get(name, 1)
            expected[document] = expected.get(document, 0) + weight / (60 + rank + 1)
    scores = [one.score for one in (*found.chosen, *found.rest)]
    assert scores == pytest.approx(sorted(expected.values(), reverse=True)[: k * factor])
    for document, (score, ranks) in whole(found).items():
        assert score == pytest.approx(expected[document])
        assert ranks == {name: r.index(document) for name, r in rankings.items() if document in r}


@pytest.mark.parametrize("channel", ["dense", "sparse"])
def test_one_channel_alone_gives_its_own_ranking(channel: str) -> None:
    channels = arrays(40, 1)
    found = retrieve(channels, query(), config(3), mode(channel), 5)
    hits = channels.dense(query().vector, 15) if channel == "dense" else channels.sparse("", 15)
    ranking = hits.ranking
    assert found.ranking == ranking
    assert [one.document for one in found.chosen] == ranking[:5]
    assert [one.ranks for one in found.chosen] == [{channel: rank} for rank in range(5)]
    assert [one.score for one in found.chosen] == pytest.approx([1 / (61 + rank) for rank in range(5)])
    candidates = (*found.chosen, *found.rest)
    assert [one.similarities for one in candidates] == [{channel: score} for score in hits.scores.tolist()]


def test_no_channel_gives_nothing() -> None:
    found = retrieve(
        arrays(40, 1), query(), config(), mode("subgraph", "adjacency", "diversity", "modifiers")
    )
    assert (found.chosen, found.rest, found.ranking) == ([], [], [])


@given(SIZES, st.sampled_from([("tied",), ("dated",), ("tied", "dated")]), st.sampled_from([0.0, 0.5, 1.0]))
def test_tied_documents_come_by_their_share_and_equal_ones_as_dense_and_sparse_rank_them(
    sizes: tuple[int, int, int, int], on: tuple[str, ...], keep: float
) -> None:
    n, k, factor, seed = sizes
    channels, asked, size = arrays(n, seed), query(), k * factor
    share = share_of(channels, on)
    with patch.object(pipeline, "KEPT_SHARE", keep):
        found = retrieve(channels, asked, config(factor), mode(*on), k)
    tied = {ranks["tied"]: document for document, (_, ranks) in whole(found).items()}
    ranking = [tied[rank] for rank in range(len(tied))]
    assert found.ranking == ranking
    for one in (*found.chosen, *found.rest):
        assert one.tied == share[one.document]
    allowed = share[(share > 0) & (share >= np.float32(keep) * share.max())]
    assert share[ranking].tolist() == sorted(allowed.tolist(), reverse=True)[:size]
    mask = (share > 0) & (share >= (share[ranking[-1]] if ranking else 1.0))
    dense, sparse = channels.dense(asked.vector, n, mask).ranking, channels.sparse("", n, mask).ranking
    near = {one: sum(1 / (61 + r.index(one)) for r in (dense, sparse) if one in r) for one in dense}
    for a, b in itertools.pairwise(ranking):
        assert share[a] > share[b] or near[a] >= near[b] - 1e-12


@pytest.mark.parametrize("form", Form)
@pytest.mark.parametrize("seed", range(5))
def test_target_categories_have_their_reserved_places(form: Form, seed: int) -> None:
    channels, targets, k, factor = arrays(60, seed), Category.Actor | Category.Event, 5, 4
    asked, size = query(form, targets), k * factor
    settings = config(factor, reserved=ShareByForm(specific=0.3, enumeration=0.5, aggregation=0.8))
    fits = set(np.flatnonzero(channels.of_categories(targets)).tolist())
    found = set(retrieve(channels, asked, settings, mode("dense", "sparse", "typed"), k).ranking)
    plain = set(retrieve(channels, asked, settings, mode("dense", "sparse"), k).ranking)
    wanted = round(size * getattr(settings.reserved, form.value))
    assert len(found) == len(plain) == size
    assert len(found & fits) == max(len(plain & fits), min(wanted, len(fits)))
    assert plain & fits <= found
    assert found - plain <= fits


def test_candidates_tell_their_rank_on_the_typed_channel() -> None:
    channels, asked = arrays(60, 3), query(Form.ENUMERATION, int(Category.Place))
    found = retrieve(channels, asked, config(4), mode("dense", "typed"), 5)
    mask = channels.of_categories(Category.Place)
    sources = [
        channels.dense(asked.vector, 20, mask).ranking,
        channels.sparse("", 20, mask).ranking,
        channels.central(Category.Place, 20),
    ]
    score = {
        one: sum(1 / (61 + r.index(one)) for r in sources if one in r)
        for one in np.flatnonzero(mask).tolist()
    }
    ranks = {one: ranks["typed"] for one, (_, ranks) in whole(found).items() if "typed" in ranks}
    assert set(ranks) == set(found.ranking) & set(score)
    expected = sorted(score, key=lambda one: (-round(score[one], 12), one))
    assert ranks == {one: expected.index(one) for one in ranks}


def test_central_documents_are_candidates_for_sets_alone() -> None:
    channels = arrays(60, 3)
    for form, central in ((Form.SPECIFIC, False), (Form.ENUMERATION, True), (Form.AGGREGATION, True)):
        asked = query(form, int(Category.Place))
        found = retrieve(channels, asked, config(30), mode("typed"), 3)
        mask = channels.of_categories(Category.Place)
        near = [channels.dense(asked.vector, 90, mask).ranking, channels.sparse("", 90, mask).ranking]
        near += [channels.central(Category.Place, 90)] if central else []
        score = {one: sum(1 / (61 + r.index(one)) for r in near if one in r) for one in near[0]}
        best = max(score, key=lambda one: (round(score[one], 12), -one))
        assert found.ranking[0] == best


def test_without_target_categories_the_typed_channel_changes_nothing() -> None:
    channels = arrays(60, 3)
    with_it, without = (
        retrieve(channels, query(), config(4), mode("dense", "sparse", *more), 5) for more in (["typed"], [])
    )
    assert (with_it.chosen, with_it.rest) == (without.chosen, without.rest)


@given(SIZES)
def test_at_most_a_share_of_the_pool_says_little(sizes: tuple[int, int, int, int]) -> None:
    n, k, factor, seed = sizes
    channels, size = arrays(n, seed), k * factor
    settings = config(factor)
    everything = retrieve(channels, query(), config(n), mode("dense", "sparse"), k).ranking
    found = retrieve(channels, query(), settings, mode("dense", "sparse", "informative"), k).ranking
    assert sum(channels.little[one] for one in found) <= max(1, size // 4)
    assert len(found) == len(set(found)) <= size
    assert set(found) <= set(everything)
    uncapped = retrieve(channels, query(), settings, mode("dense", "sparse"), k).ranking
    informative = [one for one in uncapped if not channels.little[one]]
    assert [one for one in found if not channels.little[one]][: len(informative)] == informative


PARTS = ("adjacency", "diversity", "modifiers")


@pytest.mark.parametrize("parts", [p for r in range(4) for p in itertools.combinations(PARTS, r)])
@pytest.mark.parametrize("seed", range(4))
def test_the_subset_is_chosen_by_those_of_its_parts_that_are_on(parts: tuple[str, ...], seed: int) -> None:
    channels, on = arrays(50, seed), ("dense", "sparse", "tied", "dated")
    settings = config(4)
    pool = retrieve(channels, query(), settings, mode(*on), 6)
    found = retrieve(channels, query(), settings, mode(*on, "subgraph", *parts), 6)
    assert whole(found) == whole(pool)
    documents = np.array(pool.ranking, np.int32)
    groups = [(0.9, channels.ties[[1, 4]].max(axis=0)), (0.5, channels.ties[2]), (1.0, channels.dates)]
    share = coverage(groups, 50)[documents]
    n = len(documents)
    order = select(
        np.array([one.score for one in (*pool.chosen, *pool.rest)]),
        normalise(channels.joined(documents)) if "adjacency" in parts else np.zeros((n, n)),
        channels.vectors(documents) if "diversity" in parts else np.zeros((n, 1), np.float32),
        channels.added[documents] * ("modifiers" in parts) + pipeline.TIED_BONUS * share,
        6,
        settings.subgraph,
    )
    assert [one.document for one in found.chosen] == documents[order].tolist()
    assert [one.document for one in found.rest] == [
        one for one in pool.ranking if one not in documents[order]
    ]


def test_without_the_subset_its_parts_change_nothing() -> None:
    channels = arrays(50, 2)
    first, second = (
        retrieve(channels, query(), config(4), mode("dense", "sparse", *more)) for more in (PARTS, ())
    )
    assert (first.chosen, first.rest) == (second.chosen, second.rest)


EVERYTHING = tuple(
    one for one in STAGES if one not in ("communities", "entities", "walker")
)  # which need a release


@pytest.mark.parametrize("form", Form)
def test_the_form_says_how_many_are_chosen_and_how_large_the_pool_is(form: Form) -> None:
    channels, k = arrays(400, 5), k_of(form, CONFIG.k)
    found = retrieve(channels, query(form), config(3), mode("dense", "subgraph"))
    assert (len(found.chosen), len(found.ranking)) == (k, 3 * k)
    assert k == getattr(CONFIG.k, form.value)


def test_k_stands_in_for_that_of_the_form() -> None:
    found = retrieve(arrays(400, 5), query(), config(3), mode(*EVERYTHING), 7)
    assert (len(found.chosen), len(found.ranking)) == (7, 21)


@given(SIZES, st.sets(st.sampled_from(EVERYTHING)), st.sampled_from(Form), st.integers(0, 63))
def test_any_stages_give_distinct_documents_in_bounds_and_the_same_twice(
    sizes: tuple[int, int, int, int], on: set[str], form: Form, targets: int
) -> None:
    n, k, factor, seed = sizes
    channels, asked = arrays(n, seed), query(form, targets)
    first = retrieve(channels, asked, config(factor), mode(*on), k)
    assert len(set(first.ranking)) == len(first.ranking) <= k * factor
    assert set(first.ranking) <= set(range(n))
    assert len(first.chosen) == min(k, len(first.ranking))
    second = retrieve(arrays(n, seed), asked, config(factor), mode(*on), k)
    assert (first.chosen, first.rest) == (second.chosen, second.rest)
    assert all(spent >= 0 for spent in first.timings.values())


def test_a_question_that_names_nothing_is_as_one_without_those_channels() -> None:
    channels, asked = arrays(60, 7), query(mentions=(), period=None)
    on = set(EVERYTHING) - {"named", "tied", "dated", "walked"}
    first, second = (retrieve(channels, asked, config(3), mode(*some)) for some in (EVERYTHING, on))
    assert (first.chosen, first.rest) == (second.chosen, second.rest)


def test_a_named_entity_without_a_document_leaves_the_named_channel_empty() -> None:
    channels = arrays(60, 7)
    channels.held[:] = -1
    assert retrieve(channels, query(), config(), mode("named")).ranking == []
    first, second = (retrieve(channels, query(), config(3), mode("dense", *some)) for some in (["named"], []))
    assert (first.chosen, first.rest) == (second.chosen, second.rest)


def test_a_release_without_documents_answers_nothing() -> None:
    empty = arrays(0, 0)
    for form in Form:
        found = retrieve(empty, query(form, int(Category.Thing)), config(), mode(*EVERYTHING))
        assert found.ranking == []


def test_the_mode_says_which_channels_search() -> None:
    channels, settings = arrays(60, 7), config(3)
    near = channels.dense(query().vector, 3 * CONFIG.k.specific).ranking
    assert retrieve(channels, query(), settings, mode("dense")).ranking == near
    found = retrieve(channels, query(), settings, mode("sparse")).chosen
    assert all(set(one.ranks) == {"sparse"} for one in found)


@given(SIZES, st.floats(-1, 1), st.floats(0, 4))
def test_a_channel_gives_only_what_reaches_its_threshold(
    sizes: tuple[int, int, int, int], near: float, shared: float
) -> None:
    n, k, factor, seed = sizes
    channels, asked, size = arrays(n, seed), query(), k * factor
    asking = mode("dense", "sparse").model_copy(update={"thresholds": {"dense": near, "sparse": shared}})
    found = retrieve(channels, asked, config(factor), asking, k)
    dense = channels.units @ asked.vector
    reached = {document for document in range(n) if dense[document] >= near}
    reached |= {document for document in range(n) if channels.hits[document] >= max(shared, 1e-9)}
    assert set(found.ranking) <= reached
    for one in (*found.chosen, *found.rest):
        assert one.similarities.get("dense", near) >= near
        assert one.similarities.get("sparse", shared) >= shared
    assert found.ranking or not channels.dense(asked.vector, size).at_least(near).ranking
