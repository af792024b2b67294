"""The channels of a small release; each against rank-bm25, NumPy, networkx or its turtle read by eye."""

from __future__ import annotations

from collections import Counter

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import Interval, year_interval
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category
from crmrag_query.plans.world import World
from crmrag_query.questions.form import Form
from crmrag_query.retrieval import release_channels as channels
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import (
    ASIDE,
    CATEGORY_BONUS,
    CUED,
    EVERY,
    HOPS,
    LITTLE,
    OTHER,
    OVERSIZED_PENALTY,
    OWN,
    POSSIBLE,
    TWO_STEPS,
    TYPE_MODIFIERS,
    ReleaseChannels,
)
from crmrag_query.text import tokenize
from tests.support.builds import BASE
from tests.support.graphs import node_of

WORDS = st.lists(
    st.sampled_from(
        ["church", "mural", "painting", "1103", "painter", "of", "2", "Marathasa", "εκκλησία", "zzz"]
    )
)
NAMES = (
    "museum", "icon", "bowl", "chalice", "letter", "text", "inscription", "painting", "making", "birth", "painter",
)  # fmt: skip


def documents(release: Release, *names: str) -> npt.NDArray[np.int32]:
    """Documents that hold the named entities, in their order."""
    nodes = [node_of(release[Graph], BASE + name) for name in names]
    return release[Documents].entity_document[nodes]


def named(release: Release, shares: npt.NDArray[np.float32]) -> dict[str, float]:
    """Name of a document's entity -> its share, those of 0 left out."""
    whose = {int(document): name for name, document in zip(NAMES, documents(release, *NAMES), strict=True)}
    return {whose[int(document)]: float(shares[document]) for document in np.flatnonzero(shares)}


def some(shares: dict[str, float]) -> object:
    """What `named` gives for these shares, whatever values the method has for them."""
    return pytest.approx({name: share for name, share in shares.items() if share})


def test_each_entity_of_the_museum_has_a_document_of_its_own(museum: Release) -> None:
    assert (
        sorted(documents(museum, *NAMES).tolist())
        == list(range(len(NAMES)))
        == list(range(museum[ReleaseChannels].documents))
    )


@given(text=WORDS.map(" ".join), k=st.integers(1, 20), data=st.data())
def test_sparse_equals_rank_bm25_over_the_texts(
    text: str, k: int, data: st.DataObject, churches: Release
) -> None:
    count, constants = churches[Documents].count, churches.method.sparse
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    tokens = [tokenize(churches[Documents].text(document)) for document in range(count)]
    okapi = BM25Okapi(tokens, k1=constants.k1, b=constants.b, epsilon=constants.epsilon)
    scores = okapi.get_scores(tokenize(text)).round(9)
    holding = [n for n in range(count) if set(tokens[n]) & set(tokenize(text))]
    ranking = sorted(holding, key=lambda n: -scores[n])
    for chosen, allowed in ((None, ranking), (mask, [n for n in ranking if mask[n]])):
        hits = churches[ReleaseChannels].sparse(text, k, chosen)
        found = hits.ranking
        assert hits.scores == pytest.approx(scores[found])
        assert len(set(found)) == len(found)
        assert scores[found].tolist() == scores[allowed[:k]].tolist()
        assert set(found) <= set(allowed)


@given(text=WORDS.map(" ".join), k=st.integers(1, 20), data=st.data())
def test_dense_equals_numpy_over_the_windows(
    text: str, k: int, data: st.DataObject, churches: Release
) -> None:
    count, dense = churches[Documents].count, churches[DenseIndex]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    vector = churches[QueryEncoder].encode([text])[0]
    windows = dense.index.reconstruct_n(0, dense.index.ntotal).astype(np.float64)
    cosine = np.full(count, -np.inf)
    np.maximum.at(cosine, dense.window_document, windows @ vector.astype(np.float64))
    cosine = cosine.round(5)
    ranking = sorted(range(count), key=lambda n: -cosine[n]) if vector.any() else []
    for chosen, allowed in ((None, ranking), (mask, [n for n in ranking if mask[n]])):
        hits = churches[ReleaseChannels].dense(vector, k, chosen)
        found = hits.ranking
        assert hits.scores == pytest.approx(cosine[found], abs=2e-5)
        assert len(set(found)) == len(found)
        assert cosine[found] == pytest.approx(cosine[allowed[:k]], abs=2e-5)
        assert set(found) <= set(allowed)


@given(categories=st.integers(0, EVERY))
def test_documents_of_categories_are_those_whose_entity_has_one(categories: int, museum: Release) -> None:
    graph = museum[Graph]
    masks = [int(graph.adjacency.categories[entity]) for entity in museum[Documents].entities]
    assert museum[ReleaseChannels].of_categories(categories).tolist() == [
        bool(mask & categories) for mask in masks
    ]


@pytest.mark.parametrize("categories", [Category.Thing, Category.Actor | Category.Event, EVERY, 0])
def test_central_documents_hold_the_entities_of_highest_pagerank(categories: int, museum: Release) -> None:
    graph, rank = museum[Graph], museum[Aggregation].pagerank
    held = museum[Documents].entity_document
    wanted = [n for n in range(graph.nodes) if graph.category(n) & categories and rank[n] > 0]
    ordered = [int(held[n]) for n in sorted(wanted, key=lambda n: (-float(rank[n]), n)) if held[n] >= 0]
    found = museum[ReleaseChannels].central(categories, 4)
    assert len(found) == min(4, len(set(ordered)))
    best = {document: max(float(rank[n]) for n in wanted if held[n] == document) for document in ordered}
    assert [best[document] for document in found] == sorted(best.values(), reverse=True)[:4]


def test_documents_that_hold_entities_come_once_in_their_order(museum: Release) -> None:
    icon, painter = (node_of(museum[Graph], BASE + name) for name in ("icon", "painter"))
    assert (
        museum[ReleaseChannels].holding([painter, icon, painter])
        == documents(museum, "painter", "icon").tolist()
    )
    homeless = np.flatnonzero(museum[Documents].entity_document < 0)
    assert node_of(museum[Graph], "http://elsewhere.org/catalogue") in homeless
    assert museum[ReleaseChannels].holding(int(node) for node in homeless) == []


def tied(
    release: Release,
    *mentioned: tuple[str, float],
    targets: int = Category.Thing,
    form: Form = Form.SPECIFIC,
    cues: frozenset[str] = frozenset(),
) -> dict[str, float]:
    """Shares by name, for a mention of the named entities with their scores."""
    linked = tuple(
        LinkedEntity(node_of(release[Graph], BASE + name), score, name, "label") for name, score in mentioned
    )
    return named(release, release[ReleaseChannels].tied(Mention(0, 1, "it", linked), form, targets, cues))


@pytest.mark.parametrize("form", Form)
def test_what_is_tied_to_an_entity_by_relationships_and_triples(form: Form, museum: Release) -> None:
    own, aside = OWN[form], ASIDE * OTHER
    beside = {"icon": aside, "painting": aside, "birth": aside}
    painter = tied(museum, ("painter", 0.7), form=form)
    assert painter == some(beside | {"painter": own, "icon": OTHER})
    painter = tied(museum, ("painter", 0.7), targets=Category.Actor, form=form)
    assert painter == some(beside | {"painter": own})
    museums = tied(museum, ("museum", 1.0), form=form)
    assert museums["icon"] == museums["bowl"] == pytest.approx(OTHER)


def test_a_relationship_that_is_asked_for_ties_more(museum: Release) -> None:
    things = {
        one.label
        for one in museum[World].catalogue
        if (one.domain, one.range) == (Category.Thing, Category.Place)
    }
    found = tied(museum, ("museum", 1.0), cues=frozenset(things))
    assert found == some({"museum": OWN[Form.SPECIFIC], "icon": CUED, "bowl": CUED})


def test_the_less_likely_of_an_ambiguous_name_has_less_of_a_share_of_its_own(museum: Release) -> None:
    found = tied(museum, ("chalice", 0.8), ("letter", 0.4), targets=Category.Place)
    assert found == some({"chalice": OWN[Form.SPECIFIC], "letter": OWN[Form.SPECIFIC] / 2})


YEARS_OF = {"icon": (1500, 1510), "bowl": (1505, 1600)}


@pytest.mark.parametrize("years", [(1500, 1510), (1506, 1507), (1400, 1499), (1600, 1700), (1400, 1700)])
def test_things_are_dated_by_their_production(years: tuple[int, int], museum: Release) -> None:
    found = named(museum, museum[ReleaseChannels].dated(year_interval(*years), Category.Thing, frozenset()))
    expected = {}
    for name, (first, last) in YEARS_OF.items():
        if years[0] <= last and first <= years[1]:
            expected[name] = 1.0 if years[0] <= first and last <= years[1] else POSSIBLE
    things = {name: share for name, share in found.items() if name in YEARS_OF}
    assert things == some(expected)


def test_the_relationship_that_is_asked_for_dates_and_no_other(museum: Release) -> None:
    born = frozenset({"was born at time"})
    found = named(museum, museum[ReleaseChannels].dated(year_interval(1470), Category.Actor, born))
    assert found == {"painter": 1.0}
    assert named(museum, museum[ReleaseChannels].dated(year_interval(1500, 1510), Category.Actor, born)) == {}
    active = frozenset({"participated at time"})
    assert named(
        museum, museum[ReleaseChannels].dated(year_interval(1500, 1510), Category.Actor, active)
    ) == {"painter": 1.0}


def test_a_period_without_end_holds_all_that_came_later(museum: Release) -> None:
    begin = year_interval(1505).begin
    found = named(museum, museum[ReleaseChannels].dated(Interval(begin, None), Category.Thing, frozenset()))
    assert (found.get("icon", 0.0), found["bowl"]) == pytest.approx((POSSIBLE, 1.0))


def test_walked_is_the_personalised_pagerank_of_networkx_over_all_that_is_near(museum: Release) -> None:
    graph, weights, held = museum[Graph], museum.method.weights, museum[Documents].entity_document
    walk = nx.Graph()
    for triple in _triples(museum):
        s, code, o = triple
        weight = max(weights.of(code), walk.get_edge_data(s, o, {"weight": 0.0})["weight"])
        walk.add_edge(s, o, weight=weight)
    seed = node_of(graph, BASE + "painter")
    near = nx.ego_graph(walk, seed, radius=HOPS)
    rank = nx.pagerank(
        near, museum.method.pagerank.damping, personalization={seed: 1.0}, tol=1e-12, max_iter=1000
    )
    shares: dict[int, float] = {}
    for node, share in rank.items():
        if held[node] >= 0:
            shares[int(held[node])] = shares.get(int(held[node]), 0.0) + share
    expected = sorted(shares, key=lambda document: (-round(shares[document], 7), document))
    assert museum[ReleaseChannels].walked([seed, seed], 3).ranking == expected[:3]
    assert museum[ReleaseChannels].walked([seed], 100).ranking == expected


def _triples(release: Release) -> list[tuple[int, str, int]]:
    adjacency = release[Graph].adjacency
    return [
        (node, code, int(other))
        for number, code in enumerate(adjacency.codes)
        for node in range(adjacency.nodes)
        for other in adjacency.forward.neighbours(number, node)
    ]


def test_documents_are_joined_by_the_weights_of_their_properties(museum: Release) -> None:
    of = museum.method.weights.of
    found = museum[ReleaseChannels].joined(
        documents(museum, "icon", "bowl", "painting", "painter", "chalice")
    )
    expected = np.zeros((5, 5))
    expected[0, 1] = of("P55") * of("P55") / TWO_STEPS
    expected[0, 2], expected[2, 3] = of("P108"), of("P14")
    assert found == pytest.approx(expected + expected.T)


def test_vectors_are_the_rows_of_the_documents(museum: Release) -> None:
    chosen = documents(museum, "bowl", "icon")
    found = museum[ReleaseChannels].vectors(chosen)
    assert np.linalg.norm(found, axis=1) == pytest.approx([1, 1])
    (nearest,) = museum[ReleaseChannels].dense(found[1], 1).ranking
    assert nearest == chosen[1]


def test_modifiers_add_up_by_class_category_and_size(museum: Release) -> None:
    by_class = Counter(TYPE_MODIFIERS)  # 0 for a class that is not listed
    names = ("icon", "painter", "text", "inscription", "letter", "museum", "painting")
    found = museum[ReleaseChannels].modifiers(documents(museum, *names), Category.Actor)
    assert found == pytest.approx(
        [
            by_class["E22"],
            by_class["E21"] + CATEGORY_BONUS,
            by_class["E33"],
            by_class["E34"],
            by_class["E31"] + by_class["E22"],
            by_class["E53"],
            by_class["E12"],
        ]
    )


def test_an_oversized_entity_is_penalised_only_above_the_bound(
    museum: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("museum", "icon")
    smaller, larger = (museum[TriplesIndex].degree(node_of(museum[Graph], BASE + name)) for name in names)
    assert smaller < larger
    place, icon = museum[ReleaseChannels].modifiers(documents(museum, *names), 0)
    monkeypatch.setattr(channels, "OVERSIZED_TRIPLES", smaller)
    found = museum[ReleaseChannels].modifiers(documents(museum, *names), 0)
    assert found == pytest.approx([place, icon + OVERSIZED_PENALTY])


def test_a_document_says_little_when_its_entity_has_no_other_class(museum: Release) -> None:
    little = museum[ReleaseChannels].little
    graph = museum[Graph]
    for document, entity in enumerate(museum[Documents].entities):
        codes = {graph.class_codes[number] for number in graph.types(int(entity))}
        assert little[document] == (bool(codes) and codes <= LITTLE)
    assert {"text", "inscription"} <= {
        name for name, document in zip(NAMES, documents(museum, *NAMES), strict=True) if little[document]
    }
