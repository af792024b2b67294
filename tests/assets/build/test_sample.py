"""Samples: connected, whole for the entities chosen, and the same every time."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import networkx as nx
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_assets.build.context import choose_sample, open_context
from crmrag_assets.build.step import SilentProgress
from crmrag_assets.harvest.report import Gathered, Traffic
from crmrag_assets.harvest.source import Fetched, without_schema
from crmrag_assets.opened import graph_of
from crmrag_assets.quality.checks import manifest_verifies
from crmrag_assets.quality.graph import no_triple_lost
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_assets.steps.source import FAN_IN, FILE, SampleSource, by_hash, choose, make_links
from crmrag_query.config.loading import load_method
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.syntax import RDF_TYPE
from tests.support.builds import CRM, Project, build_all, make_project, turtle

METHOD = load_method()


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
    assert len(links.neighbours([links.iris.index("http://hub")])[0]) == FAN_IN


@dataclass(frozen=True)
class Asked(RdfFiles):
    """The same files as a source that tells neighbours, by a graph library; it keeps what it was asked for."""

    asked: list[tuple[str, int]] = field(default_factory=list)

    def _triples(self, folder: Path) -> list[tuple[str, str, str]]:
        frame = without_schema(super().fetch(folder, range(256)).frame, self.method.discovery).frame
        return [
            (s, p, o if kind == 0 else "")
            for s, p, o, kind in frame.select("s", "p", "o", "kind").iter_rows()
        ]

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        raise AssertionError("a sample of a connected source asks for no chunk")

    def entity_iris(self, folder: Path) -> list[str]:
        return list({s for s, _, _ in self._triples(folder)})

    def neighbours(self, folder: Path, iris: Sequence[str]) -> Mapping[str, Sequence[str]]:
        self.asked.append(("neighbours", len(iris)))
        entities, graph = set(self.entity_iris(folder)), nx.DiGraph()
        graph.add_nodes_from(entities)
        graph.add_edges_from(
            (s, o) for s, p, o in self._triples(folder) if o in entities and o != s and p != RDF_TYPE
        )
        return {
            iri: [*sorted(graph.successors(iri)), *sorted(graph.predecessors(iri))[:FAN_IN]] for iri in iris
        }

    def triples_of(self, folder: Path, iris: Sequence[str]) -> Fetched:
        self.asked.append(("triples", len(iris)))
        frame = super().fetch(folder, range(256)).frame
        return Fetched(frame.filter(pl.col("s").is_in(list(iris))), Gathered(Traffic(requests=3)))


def islands(count: int) -> str:
    """Entities that are linked to nothing, and three that are linked in a row."""
    row = f"<http://x/a> <{CRM}P46_is_composed_of> <http://x/b> . <http://x/b> <{CRM}P46_is_composed_of> <http://x/c> .\n"
    return row + "".join(f"<http://x/{n}> <{CRM}P2_has_type> <http://t> .\n" for n in ["c", *range(count)])


@pytest.mark.parametrize("hops", [0, 2])
@pytest.mark.parametrize("size", [1, 2, 7, 20, 33, 1000])
@pytest.mark.parametrize("text", [turtle(), turtle(40), islands(60)], ids=["churches", "hub", "islands"])
def test_a_source_that_is_asked_gives_the_sample_of_one_that_is_read(
    tmp_path: Path, text: str, size: int, hops: int
) -> None:
    (tmp_path / "data.ttl").write_text(text, encoding="utf-8")
    read = RdfFiles((tmp_path / "data.ttl",), METHOD)
    asked = Asked(read.files, METHOD)
    for name in ("whole", "read", "asked"):
        (tmp_path / name).mkdir()
    whole = read.discover(tmp_path / "whole", SilentProgress())
    found = [
        SampleSource(source, tmp_path / "whole", size, METHOD, hops).discover(folder, SilentProgress())
        for source, folder in ((read, tmp_path / "read"), (asked, tmp_path / "asked"))
    ]
    assert (tmp_path / "asked" / FILE).read_bytes() == (tmp_path / "read" / FILE).read_bytes()
    assert replace(found[1], gathered=Gathered()) == found[0]
    assert found[1].gathered.traffic.requests == 3 and found[0].counted is None
    assert found[0].entities == min(size, whole.entities) or hops


def test_a_sample_asks_few_times_and_never_for_what_it_does_not_need(tmp_path: Path) -> None:
    """Many components cost requests by the logarithm of their number, and the last level is not asked for."""
    (tmp_path / "data.ttl").write_text(islands(2000), encoding="utf-8")
    source = Asked((tmp_path / "data.ttl",), METHOD)
    for name in ("whole", "sample"):
        (tmp_path / name).mkdir()
    RdfFiles(source.files, METHOD).discover(tmp_path / "whole", SilentProgress())
    SampleSource(source, tmp_path / "whole", 500, METHOD).discover(tmp_path / "sample", SilentProgress())
    *before, last = source.asked
    assert last == ("triples", 500) and len(before) < 20
    assert sum(n for _, n in before) < 1000, "an island is asked for once, and few beyond those chosen"


def test_a_sample_of_one_asks_for_no_neighbour(tmp_path: Path) -> None:
    (tmp_path / "data.ttl").write_text(turtle(), encoding="utf-8")
    source = Asked((tmp_path / "data.ttl",), METHOD)
    for name in ("whole", "sample"):
        (tmp_path / name).mkdir()
    RdfFiles(source.files, METHOD).discover(tmp_path / "whole", SilentProgress())
    SampleSource(source, tmp_path / "whole", 1, METHOD).discover(tmp_path / "sample", SilentProgress())
    assert source.asked == [("triples", 1)]


@given(st.lists(st.tuples(nodes, nodes), max_size=80), st.integers(1, 25))
def test_levels_choose_as_a_queue_does(edges: list[tuple[str, str]], size: int) -> None:
    """The definition of breadth-first search, a node at a time."""
    links = make_links([frame(edges, sorted({node for edge in edges for node in edge}))])
    chosen: set[int] = set()
    for seed in by_hash(links.iris):
        queue = deque([seed])
        while queue and len(chosen) < size:
            node = queue.popleft()
            if node not in chosen:
                chosen.add(node)
                queue.extend(near for near in links.neighbours([node])[0])
    assert choose(links, size) == sorted(links.iris[node] for node in chosen)


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
