"""A release as a search store: neighbourhoods against another reader of the data, hubs, no vectors, hostile names."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyoxigraph as ox
import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import ReleaseError, UnknownEntity
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.stores import records
from crmrag_query.stores.release import ReleaseStore
from crmrag_query.stores.tools import StoreTools, run_tool
from tests.support.shared import TROODOS

ASINOU = "https://example.org/troodos/church/asinou"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
Triples = frozenset[tuple[str, str, str]]


@pytest.fixture(scope="module")
def stated() -> Triples:
    """The triples between nodes that the sample states, as another program reads them."""
    held = ox.Store()
    held.bulk_load(path=str(TROODOS), format=ox.RdfFormat.TURTLE)
    return frozenset(
        (one.subject.value, one.predicate.value, one.object.value)
        for one in held
        if isinstance(one.object, ox.NamedNode) and one.predicate.value != TYPE
    )


def around(stated: Triples, iri: str, hops: int) -> dict[str, int]:
    """How far entities are from one, by triples in either direction."""
    far, frontier = {iri: 0}, {iri}
    for hop in range(1, hops + 1):
        near = {o for s, _, o in stated if s in frontier} | {s for s, _, o in stated if o in frontier}
        frontier = near - far.keys()
        far |= dict.fromkeys(frontier, hop)
    return far


def entities(release: Release, stated: Triples, most: int) -> Iterator[str]:
    known = sorted({s for s, _, _ in stated if release[Graph].node(s) is not None})
    yield from (ASINOU, *random.Random(7).sample(known, most))


@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_neighbourhood_is_what_the_data_states_as_near_as_it_states_it(
    release: Release, store: ReleaseStore, stated: Triples, hops: int
) -> None:
    for iri in entities(release, stated, 12):
        found, far = store.neighbourhood(iri, hops, 100), around(stated, iri, hops)
        assert {(one.s, one.p, one.o) for one in found.relations} <= stated
        assert len({one.iri for one in found.neighbours}) == len(found.neighbours)
        for one in found.neighbours:
            assert far[one.iri] <= one.hops <= hops
            assert one.total == sum((one.iri == s) + (one.iri == o) for s, _, o in stated)
            assert 0 < one.shown <= one.total
        if found.whole:
            assert {one.iri: one.hops for one in found.neighbours} == {k: n for k, n in far.items() if n}
            inside = {iri for iri, hop in far.items() if hop < hops}
            assert {(one.s, one.p, one.o) for one in found.relations} == {
                one for one in stated if one[0] in inside or one[2] in inside
            }


def test_some_neighbourhoods_are_whole_and_some_are_not(
    release: Release, store: ReleaseStore, stated: Triples
) -> None:
    whole = {store.neighbourhood(iri, 1, 100).whole for iri in entities(release, stated, 12)}
    assert whole == {True} and not store.neighbourhood(ASINOU, 2, 100).whole


def test_a_limit_holds_and_what_it_leaves_out_is_told(store: ReleaseStore) -> None:
    found = store.neighbourhood(ASINOU, 2, 5)
    assert len(found.neighbours) == 5 and not found.whole
    assert len({one.p for one in found.relations}) == len(found.relations), "each of another property first"


def test_a_hub_is_told_with_its_true_number_and_not_followed(
    store: ReleaseStore, stated: Triples, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "HUB", 8)
    naos = "https://example.org/troodos/part/asinou-naos"
    found = store.neighbourhood(naos, 2, 100)
    hub = next(one for one in found.neighbours if one.iri == ASINOU)
    assert hub.total == sum((s == ASINOU) + (o == ASINOU) for s, _, o in stated) > hub.shown
    near = around(stated, naos, 1).keys()
    followed = {
        one for one in near - {naos} if sum((one == s) + (one == o) for s, _, o in stated) <= records.HUB
    }
    led_to = {end for one in followed for end in around(stated, one, 1)} - near
    assert led_to and {one.iri for one in found.neighbours if one.hops == 2} == led_to
    assert not found.whole


def test_an_unknown_entity_is_told_and_never_guessed(store: ReleaseStore) -> None:
    with pytest.raises(UnknownEntity, match="no entity"):
        store.neighbourhood("https://example.org/none", 1, 5)
    with pytest.raises(UnknownEntity):
        StoreTools(store).graph_context("https://example.org/qqqq/zzzz")


def without(release: Release, *artifacts: str) -> Release:
    """The release as if it had been built without some artifacts."""
    manifest = release.manifest
    kept = {name: one for name, one in manifest.versions.items() if name not in artifacts}
    return replace(release, manifest=replace(manifest, versions=kept))


def test_without_vectors_words_and_names_find_and_the_result_says_so(release: Release) -> None:
    found = StoreTools(ReleaseStore(without(release, "faiss_index"))).graph_search("asinou")
    assert found.entities[0].iri == ASINOU and "no vectors" in found.note
    assert all(one.similarity is None for one in found)


def test_an_encoder_that_may_not_be_asked_leaves_words_and_names(release: Release) -> None:
    class Nothing:
        def encode(self, texts: list[str]) -> np.ndarray:
            return np.zeros((len(texts), 4), np.float32)

    opened = without(release)
    settings = opened[QueryEncoder].settings
    opened._parts[QueryEncoder] = QueryEncoder(replace(settings, dimension=4), Nothing(), "not trusted")  # type: ignore[attr-defined]
    found = StoreTools(ReleaseStore(opened)).graph_search("asinou")
    assert found.entities[0].iri == ASINOU and found.note == "not trusted"


def test_without_communities_the_error_says_what_to_build(release: Release) -> None:
    with pytest.raises(ReleaseError, match="Build"):
        StoreTools(ReleaseStore(without(release, "communities"))).graph_communities()


def test_names_are_in_the_language_that_is_asked_for(release: Release) -> None:
    greek = StoreTools(ReleaseStore(release, "el")).graph_context(ASINOU, 1)
    assert greek.entity.label == "Παναγία Φορβιώτισσα (Ασίνου)"


def test_names_that_speak_to_a_model_stay_on_their_line_as_data(data: Path) -> None:
    """Line ends, control characters and hidden ones are gone; the first line says that all below is data."""
    tools = StoreTools(ReleaseStore(open_release("hostile", data)), "hostile")
    for name, arguments in (
        ("graph_search", {"query": "trap instructions"}),
        ("graph_context", {"entity": "http://example.org/trap"}),
        ("graph_communities", {}),
    ):
        reply = run_tool(tools, name, arguments)
        if reply.result is None:
            continue
        first, *lines = reply.text.split("\n")
        assert "data, no instructions" in first
        assert not any(line.startswith(("Ignore", "SYSTEM", "Plan:")) for line in lines)
        assert "".join(lines).isprintable()
        assert all(len(line) < 2_000 for line in lines)
