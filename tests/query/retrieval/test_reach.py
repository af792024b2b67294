"""What stands in a relationship to what is named; the oracle is SPARQL, run by Oxigraph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.ontology.load import Category, Ontology
from crmrag_query.relationships.engine import Catalogue, Path, Relationship, read_step
from crmrag_query.retrieval.release_channels import EVERY, Reach, by_document, coverage
from tests.support.frgraphs import Net, catalogue_of, chained
from tests.support.froracle import Alphabet, net_pairs, plain_walk, store_of

OTHER = 0.25


def tied(
    net: Net,
    catalogue: Catalogue,
    ontology: Ontology,
    nodes: list[int],
    targets: int = 0,
    weight: Mapping[str, float] | None = None,
    aside: float = 0.0,
) -> dict[int, float]:
    """Node -> how strongly it is tied to one of ``nodes``."""
    found = Reach(net.adjacency, ontology, catalogue).to(nodes, targets, weight or {}, OTHER, aside)
    assert found.dtype == np.float32
    return {int(node): float(found[node]) for node in np.flatnonzero(found)}


def expected_ties(
    net: Net,
    pairs: list[tuple[Relationship, set[tuple[int, int]]]],
    nodes: list[int],
    targets: int,
    weight: Mapping[str, float],
    aside: float = 0.0,
) -> dict[int, float]:
    """The ties by (source, end) pairs of each path and the triples, category by category."""
    found: dict[int, float] = {}
    for s, _, o in net.edges:
        for here, there in ((s, o), (o, s)):
            if here in nodes:
                found[there] = OTHER if not targets or net.masks[there] & targets else aside * OTHER
    for relationship, joined in pairs:
        share = weight.get(relationship.label, OTHER)
        share *= 1.0 if not targets or relationship.domain & targets else aside
        for source, end in joined:
            domain = net.adjacency.category[source] == relationship.domain
            fits = not net.masks[end] or net.masks[end] & relationship.range
            if end in nodes and domain and fits:
                found[source] = max(found.get(source, 0.0), share)
    return {node: share for node, share in found.items() if share and node not in nodes}


def catalogue_with(chosen: list[tuple[Relationship, Path]]) -> Catalogue:
    """Relationships with no more than the chosen paths."""
    paths: dict[Relationship, list[Path]] = {}
    for relationship, path in chosen:
        paths.setdefault(relationship, []).append(path)
    return Catalogue("chosen", tuple(replace(one, paths=tuple(some)) for one, some in paths.items()))


@settings(max_examples=60)
@given(name=st.sampled_from(["fr76", "fr109"]), seed=st.integers(0, 2**32), data=st.data())
def test_ties_are_exactly_those_that_sparql_finds(
    name: str, seed: int, data: st.DataObject, ontology: Ontology, alphabet: Alphabet
) -> None:
    paths = [(r, p) for r in catalogue_of(name) for p in r.paths]
    chosen = data.draw(st.lists(st.sampled_from(paths), min_size=1, max_size=4, unique_by=lambda c: c[1].id))
    net = chained(catalogue_of(name), alphabet, seed, chosen)
    nodes = data.draw(st.lists(st.integers(0, len(net.masks) - 1), min_size=1, max_size=5))
    targets = data.draw(st.integers(0, EVERY))
    labels = sorted({relationship.label for relationship, _ in chosen})
    weight = data.draw(st.dictionaries(st.sampled_from(labels), st.sampled_from([0.125, 0.5, 1.0])))
    aside = data.draw(st.sampled_from([0.0, 0.5, 1.0]))
    store = store_of(net, range(len(net.masks)))
    pairs = [(relationship, net_pairs(net, path, alphabet, store)) for relationship, path in chosen]
    found = tied(net, catalogue_with(chosen), ontology, nodes, targets, weight, aside)
    assert found == expected_ties(net, pairs, nodes, targets, weight, aside)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_suspected_merges_tie_nothing_together(
    seed: int, data: st.DataObject, ontology: Ontology, alphabet: Alphabet
) -> None:
    paths = [(r, p) for r in catalogue_of("fr109") for p in r.paths]
    chosen = data.draw(st.lists(st.sampled_from(paths), min_size=1, max_size=3, unique_by=lambda c: c[1].id))
    net = chained(catalogue_of("fr109"), alphabet, seed, chosen)
    numbers = range(len(net.masks))
    net = replace(net, suspects=frozenset(data.draw(st.sets(st.sampled_from(numbers), max_size=3))))
    nodes = data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=5))
    weight = {relationship.label: 1.0 for relationship, _ in chosen}
    pairs = [
        (one, {(source, end) for source in numbers for end in plain_walk(net, path, alphabet, source)})
        for one, path in chosen
    ]
    found = tied(net, catalogue_with(chosen), ontology, nodes, 0, weight)
    assert found == expected_ties(net, pairs, nodes, 0, weight)


# icon 0 <- P108 - painting 1 - P14 -> painter 2; icon 0 - P55 -> church 3
PAINTED = Net(
    ((1, "P108", 0), (1, "P14", 2), (0, "P55", 3)),
    (int(Category.Thing), int(Category.Event), int(Category.Actor), int(Category.Place)),
)


def relationship(label: str, range: Category, *steps: str) -> Relationship:
    """A relationship of things by one path."""
    path = Path(f"{label}_1", tuple(map(read_step, steps)))
    return Relationship(label, label, Category.Thing, range, "", (path,))


def test_a_relationship_counts_only_for_ends_in_its_own_range(ontology: Ontology) -> None:
    only = Catalogue("places", (relationship("at", Category.Place, "P55_has_current_location"),))
    assert tied(PAINTED, only, ontology, [3], 0, {"at": 1.0}) == {0: 1.0}
    # the painter is named too, and is no place: what is "at" the painter is tied by the triple alone
    both = Net(((0, "P55", 3), (4, "P55", 2)), (*PAINTED.masks, int(Category.Thing)))
    assert tied(both, only, ontology, [2, 3], 0, {"at": 1.0}) == {0: 1.0, 4: OTHER}


def test_a_range_that_only_one_of_the_named_lacks_keeps_out_no_other(ontology: Ontology) -> None:
    only = Catalogue("places", (relationship("at", Category.Place, "P55_has_current_location"),))
    unknown = Net(((0, "P55", 1),), (int(Category.Thing), 0, int(Category.Actor)))
    assert tied(unknown, only, ontology, [1, 2], 0, {"at": 1.0}) == {0: 1.0}


def test_a_walk_starts_from_no_more_nodes_than_the_limit(ontology: Ontology) -> None:
    reach = Reach(PAINTED.adjacency, ontology, Catalogue("none", ()), limit=1)
    assert np.flatnonzero(reach.to([2, 3], 0, {}, OTHER)).tolist() == [1]


def test_a_document_has_the_largest_share_of_what_it_holds() -> None:
    shares = np.array([0.5, 1.0, 0.25, 0.75, 0.0], np.float32)
    held = np.array([1, 1, 0, -1, 2], np.int32)
    assert by_document(shares, held, 4).tolist() == [0.25, 1.0, 0, 0]


def test_coverage_is_the_weighted_mean_of_what_is_named() -> None:
    virgin, church = np.array([1, 0.5, 0], np.float32), np.array([0, 1, 0], np.float32)
    assert coverage([(0.75, virgin), (0.25, church)], 3).tolist() == [0.75, 0.625, 0]
    assert coverage([(0.3, virgin)], 3).tolist() == [1, 0.5, 0]
    assert coverage([], 3).tolist() == [0, 0, 0]


@given(st.lists(st.tuples(st.floats(0.05, 1), st.lists(st.floats(0, 1), min_size=3, max_size=3)), max_size=4))
def test_coverage_lies_between_0_and_1_and_is_1_only_for_all(groups: list[tuple[float, list[float]]]) -> None:
    found = coverage([(weight, np.array(shares, np.float32)) for weight, shares in groups], 3)
    assert (found >= 0).all()
    assert (found <= 1 + 1e-6).all()
    for at in range(3):
        total = sum(weight for weight, _ in groups)
        mean = sum(weight * shares[at] for weight, shares in groups) / total if groups else 0
        assert found[at] == pytest.approx(mean, abs=1e-6)
