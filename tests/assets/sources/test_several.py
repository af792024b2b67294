"""Several sources are one: their triples join, each in the graph of its source, and each source keeps its own ways."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest

from crmrag_assets.build.context import ask_again
from crmrag_assets.build.step import BuildContext, SilentProgress, chunks_of, run_step
from crmrag_assets.harvest.source import Connected
from crmrag_assets.opened import harvest_of
from crmrag_assets.operations.watch import watch
from crmrag_assets.sources import source_for
from crmrag_assets.steps.estimate import estimate
from crmrag_assets.steps.registry import STEPS
from crmrag_query.answers.sources import lineage
from crmrag_query.artifacts.release import open_release
from crmrag_query.config.operations import Watching
from crmrag_query.syntax import RDF_TYPE
from tests.support.builds import BASE, CRM, Project, build_all, make_project, turtle
from tests.support.harvests import Row, harvested, row_of
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
RDF, SECOND, ENDPOINT = (f"urn:crmrag:source:{name}" for name in ("rdf", "rdf:2", "endpoint"))
NAMES = f'<{BASE}church0> <{LABEL}> "The first church"@en .\n<{BASE}bell> <{BASE}in> <{BASE}church0> .\n'
CRM_TOO = f"<{BASE}bell> <{RDF_TYPE}> <{CRM}E22_Human-Made_Object> .\n"


def rows_of(path: Path, graph: str) -> set[Row]:
    """The triples of a file without blank nodes, those without a graph in this one, by a parser of its own."""
    kind = ox.RdfFormat.from_extension(path.suffix[1:])
    rows = {row for quad in ox.parse(path=str(path), format=kind) if (row := row_of(quad)) is not None}
    return {(*row[:6], row[6] or graph) for row in rows}


def held(context: BuildContext) -> set[Row]:
    """The triples of all chunks, but for those of blank nodes."""
    found = pl.concat(
        [pl.read_parquet(context.folder("prefetch", key) / "triples.parquet") for key in chunks_of(context)]
    )
    named = found.filter(
        ~pl.col("s").str.starts_with("urn:skolem:") & ~pl.col("o").str.starts_with("urn:skolem:")
    )
    return set(named.select("s", "p", "o", "kind", "datatype", "lang", "g").iter_rows())


def harvest(context: BuildContext) -> None:
    run_step(STEPS["entities"], context)
    context.store.keep_only("prefetch", chunks_of(context))
    for key in chunks_of(context):
        run_step(STEPS["prefetch"], context, key)
    run_step(STEPS["harvest_report"], context)


@pytest.fixture
def two(tmp_path: Path) -> Project:
    """Two files, of which the second also has triples in a graph that they name."""
    project = make_project(
        tmp_path / "project", turtle(4), sources=[{"rdf": "churches.ttl"}, {"rdf": "more.nq"}]
    )
    quads = NAMES + CRM_TOO + f'<{BASE}bell> <{LABEL}> "Bell" <http://example.org/list> .\n'
    (project.root / "more.nq").write_text(quads, encoding="utf-8")
    return project


def test_triples_join_and_the_graph_of_each_tells_where_it_is_from(two: Project) -> None:
    harvest(two.context())
    expected = rows_of(two.root / "churches.ttl", RDF) | rows_of(two.root / "more.nq", SECOND)
    assert held(two.context()) == expected
    assert {row[6] for row in expected} == {RDF, SECOND, "http://example.org/list"}
    report = harvest_of(two.context())
    assert [(one["graph"], one["entities"]) for one in report["reading"]["parts"]][1] == (SECOND, 2)
    assert report["entities"] == report["discovered"]["entities"]
    assert report["triples"] == report["discovered"]["triples"] and report["whole"]
    shown = (two.context().folder("harvest_report") / "harvest_report.md").read_text(encoding="utf-8")
    assert "## Sources" in shown and SECOND in shown


def test_a_list_of_one_gives_the_same_harvest_as_its_short_form(tmp_path: Path) -> None:
    short, listed = (
        make_project(tmp_path / name, turtle(4), **entry).context()
        for name, entry in (("s", {"rdf": "churches.ttl"}), ("l", {"sources": [{"rdf": ["churches.ttl"]}]}))
    )
    for context in (short, listed):
        harvest(context)
    assert short.finished("entities").version == listed.finished("entities").version
    for key in chunks_of(short):
        assert short.finished("prefetch", key).content == listed.finished("prefetch", key).content


def test_the_order_of_sources_and_of_chunks_changes_nothing(two: Project, tmp_path: Path) -> None:
    entry = two.context().config
    turned = entry.model_copy(update={"listed": tuple(reversed([*entry.sources]))})
    first, second = (source_for(one, work=tmp_path / "w") for one in (entry, turned))
    assert first.fingerprint() == second.fingerprint()
    _, chunks = harvested(first, tmp_path / "a", bits=2)  # type: ignore[arg-type]
    _, others = harvested(second, tmp_path / "b", bits=2)  # type: ignore[arg-type]
    assert all(chunks[key][0].equals(others[key][0]) for key in chunks)


def test_a_triple_that_two_sources_state_has_the_graphs_of_both(tmp_path: Path) -> None:
    sources = [{"rdf": "churches.ttl"}, {"rdf": "churches.ttl", "named_graph": "http://example.org/again"}]
    project = make_project(tmp_path / "project", turtle(2), sources=sources, write_markdown=False)
    build_all(project.context())
    release = open_release("churches", project.data)
    found = lineage(
        release,
        f"{BASE}church0",
        f"{CRM}P55_has_current_location",
        f"{BASE}district",
    )
    assert set(found.graphs) == {RDF, "http://example.org/again"}


def test_the_lineage_of_a_triple_names_the_source_that_it_is_from(two: Project) -> None:
    build_all(two.context())
    release = open_release("churches", two.data)
    found = lineage(release, f"{BASE}bell", f"{BASE}in", f"{BASE}church0")
    assert found.graphs == (SECOND,) and found.origin is not None
    assert found.origin.places == ("more.nq",)


# A source that is asked beside one that is read.


@dataclass
class Mixed:
    """A data set of an endpoint and of a file with more about the same things."""

    project: Project
    server: Endpoint

    def context(self) -> BuildContext:
        return self.project.context(8)

    @property
    def file(self) -> Path:
        return self.project.root / "more.ttl"

    def asked(self) -> int:
        return len(self.server.log)


@pytest.fixture
def mixed(tmp_path: Path) -> Iterator[Mixed]:
    with serving(list(ox.parse(turtle(6), format=ox.RdfFormat.TURTLE))) as server:
        endpoint = {"url": server.url, "requests": {"pause_seconds": 0, "timeout_seconds": 2}}
        sources = [{"rdf": "more.ttl"}, {"endpoint": endpoint}]
        project = make_project(tmp_path / "project", turtle(6), sources=sources, write_markdown=False)
        (project.root / "more.ttl").write_text(NAMES + CRM_TOO, encoding="utf-8")
        yield Mixed(project, server)


def test_an_endpoint_and_a_file_give_what_both_hold_and_the_account_proves_it(mixed: Mixed) -> None:
    harvest(mixed.context())
    expected = rows_of(mixed.file, RDF) | rows_of(mixed.project.root / "churches.ttl", ENDPOINT)
    assert held(mixed.context()) == expected
    report = harvest_of(mixed.context())
    assert report["verified"] and report["whole"] and report["concerns"] == []
    assert report["entities"] == report["discovered"]["entities"]


def test_an_endpoint_is_not_asked_again_because_a_file_beside_it_has_changed(mixed: Mixed) -> None:
    context = mixed.context()
    harvest(context)
    fetched = min(context.finished("prefetch", key).stats["fetched"] for key in chunks_of(context))
    asked = mixed.asked()
    more = "".join(f'<{BASE}thing{n}> <{LABEL}> "Thing {n}" .\n' for n in range(40))  # and so more chunks
    mixed.file.write_text(NAMES + CRM_TOO + more, encoding="utf-8")
    before = len(chunks_of(context))
    harvest(mixed.context())
    assert len(chunks_of(context)) > before
    assert mixed.asked() - asked <= 2, "nothing but its counts"
    assert held(mixed.context()) == rows_of(mixed.file, RDF) | rows_of(
        mixed.project.root / "churches.ttl", ENDPOINT
    )
    assert min(context.finished("prefetch", key).stats["fetched"] for key in chunks_of(context)) == fetched


def test_it_is_asked_again_when_it_is_told_to_be(mixed: Mixed) -> None:
    harvest(mixed.context())
    asked, new = (
        mixed.asked(),
        ox.Quad(ox.NamedNode(f"{BASE}church1"), ox.NamedNode(LABEL), ox.Literal("Other")),
    )
    mixed.server.change(add=[new])
    harvest(mixed.context())
    assert mixed.asked() - asked == 0
    ask_again(mixed.context())
    harvest(mixed.context())
    assert mixed.asked() > asked and any(row[2] == "Other" for row in held(mixed.context()))
    homes = list((mixed.context().store.root / "sources").glob("*/*/entities"))
    assert len(homes) == 1, "of what it gave before nothing is left"


def test_a_sample_of_both_is_connected_and_asks_for_what_it_needs(mixed: Mixed) -> None:
    context = mixed.context()
    source = source_for(context.config, method=context.method, work=context.store.root)
    assert isinstance(source, Connected)
    folder = context.store.root / "look"
    folder.mkdir(parents=True)
    source.discover(folder, SilentProgress())
    assert f"{BASE}bell" in source.entity_iris(folder)
    near = source.neighbours(folder, [f"{BASE}church0", f"{BASE}bell"])
    assert near[f"{BASE}bell"] == [f"{BASE}church0"] and f"{BASE}bell" in near[f"{BASE}church0"]
    graphs = set(source.triples_of(folder, [f"{BASE}church0"]).frame.get_column("g"))
    assert graphs == {RDF, ENDPOINT}
    sample = replace(context, name="churches-sample", sample=5)
    harvest(sample)
    assert harvest_of(sample)["entities"] == 5


def test_an_estimate_tells_what_asking_takes(mixed: Mixed) -> None:
    found = estimate(mixed.context(), lambda model: None, size=5)
    assert found.requests and found.harvest_seconds and found.entities == 28


def test_a_watch_looks_at_each_source_and_refreshes_none_but_what_has_changed(mixed: Mixed) -> None:
    build_all(mixed.context())
    memory, now = None, 1_800_000_000.0

    def look(after: float) -> object:
        nonlocal memory, now
        now += after
        found = watch(mixed.context(), memory, Watching(request_seconds=2), now)
        memory = found.state.dumped()
        return found

    look(60)
    assert look(200).confirmed  # type: ignore[attr-defined]
    mixed.file.write_text(NAMES + CRM_TOO + f'<{BASE}new> <{LABEL}> "New" .\n', encoding="utf-8")
    os.utime(mixed.file, (now, now))
    look(60)
    found = look(200)
    assert found.change and not found.refresh and "more.ttl: Changed" in found.says  # type: ignore[attr-defined]
    build_all(mixed.context())
    assert look(60).confirmed  # type: ignore[attr-defined]
    mixed.server.change(add=[ox.Quad(ox.NamedNode(f"{BASE}x"), ox.NamedNode(LABEL), ox.Literal("X"))])
    look(60)
    found = look(200)
    assert found.change and found.refresh, "the endpoint has to be asked again"  # type: ignore[attr-defined]
