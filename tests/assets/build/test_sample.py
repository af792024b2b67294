"""Samples: connected, whole for the entities chosen, and the same every time."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.context import choose_sample, open_context
from crmrag_assets.build.invariants import manifest_verifies, no_triple_lost
from crmrag_assets.build.opened import graph_of
from crmrag_assets.build.sample import FAN_IN, choose, make_links
from crmrag_query.graph.arrays import FLAG_ENTITY
from tests.support.builds import Project, build_all, make_project


def frame(edges: list[tuple[str, str]], alone: list[str]) -> pl.DataFrame:
    rows = [*edges, *((node, "") for node in alone)]
    return pl.DataFrame(rows, schema={"s": pl.String, "o": pl.String}, orient="row")


nodes = st.integers(0, 30).map(lambda n: f"http://x/{n:02}")


@given(st.lists(st.tuples(nodes, nodes), max_size=60), st.integers(1, 20))
def test_a_sample_has_the_size_asked_for_and_is_the_same_however_edges_are_given(
    edges: list[tuple[str, str]], size: int
) -> None:
    everything = sorted({node for edge in edges for node in edge})
    chosen = choose(make_links([frame(edges, everything)]), size)
    assert len(chosen) == min(size, len(everything)) == len(set(chosen)) and set(chosen) <= set(everything)
    parts = [frame([edge], []) for edge in reversed(edges)] + [frame([], everything)]
    assert choose(make_links(parts), size) == chosen


@given(st.lists(st.tuples(nodes, nodes), min_size=1, max_size=60))
def test_at_most_one_part_of_a_sample_is_an_unfinished_component(edges: list[tuple[str, str]]) -> None:
    """Whole components, then a connected piece of one more (few enough edges here for the limit on hubs to be idle)."""
    graph = nx.Graph(edges)
    everything = sorted(graph)
    chosen = set(choose(make_links([frame(edges, everything)]), max(1, len(everything) // 2)))
    pieces = [chosen & part for part in nx.connected_components(graph) if chosen & part]
    unfinished = [piece for piece in pieces if piece not in list(nx.connected_components(graph))]
    assert len(unfinished) <= 1
    assert all(nx.is_connected(graph.subgraph(piece)) for piece in pieces)


def test_a_hub_does_not_fill_the_sample() -> None:
    """A type that 1,000 works share brings a few of them, not all."""
    star = [(f"http://x/{n:04}", "http://hub") for n in range(1000)]
    links = make_links([frame(star, ["http://hub", *(s for s, _ in star)])])
    assert len(list(links.neighbours(links.iris.index("http://hub")))) == FAN_IN


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def test_a_sample_builds_to_a_release_with_all_triples_of_its_entities(project: Project) -> None:
    name = choose_sample(project.data, "churches", 15)
    sample, whole = open_context(name, project.data, project.config), project.context()
    build_all(sample)
    build_all(whole)
    assert no_triple_lost(sample).holds and manifest_verifies(sample).holds
    small, large = graph_of(sample), graph_of(whole)
    entities = [n for n in range(small.nodes) if small.flags[n] & FLAG_ENTITY]
    assert len(entities) == 15
    for node in entities:
        same = large.node(small.iri(node))
        assert same is not None and small.literals(node) == large.literals(same)


def test_the_size_of_a_sample_is_remembered_and_can_be_changed(project: Project) -> None:
    for size in (10, 12):
        name = choose_sample(project.data, "churches", size)
        assert open_context(name, project.data, project.config).sample == size
    assert name == "churches-sample"
