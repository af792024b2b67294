"""An endpoint as a source: the same as its files, byte for byte; resumed where it stopped; watched while it is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.build.step import chunks_of, chunks_to_make, run_step
from crmrag_assets.harvest.prefetch import Account, as_dict
from crmrag_assets.harvest.source import Connected, Discovery, read_chunk
from crmrag_assets.opened import harvest_of, prefetched
from crmrag_assets.sources.endpoint.kind import SparqlEndpoint
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_assets.steps.registry import STEPS
from crmrag_query.config.loading import Method
from crmrag_query.errors import SourceError
from tests.conftest import ROOT
from tests.support import faults
from tests.support.builds import Project, make_project, turtle
from tests.support.endpoints import CRM, EX, METHOD, QUICK, config_of, node, quad
from tests.support.faults import NAMED, Poison
from tests.support.harvests import files_of, harvested
from tests.support.random_graphs import random_rows, store_of
from tests.support.sparql_answers import counts, sorted_rows
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SAME = (
    "entities",
    "excluded_subjects",
    "blank_nodes",
    "blank_components",
    "blank_merged",
    "blank_unproven",
    "anonymous",
)


def with_chunks(entities: int) -> Method:
    return METHOD.model_copy(update={"chunks": METHOD.chunks.model_copy(update={"entities": entities})})


def endpoint(
    server: Endpoint, work: Path, method: Method = METHOD, refreshed: str = "", **keys: Any
) -> SparqlEndpoint:
    return SparqlEndpoint(config_of(server, **keys), method, work, refreshed)


def require_same(files: RdfFiles, source: SparqlEndpoint, folder: Path) -> Discovery:
    """The endpoint gives what the files give: numbers, and tables byte for byte; its account is whole."""
    (first, expected), (second, found) = harvested(files, folder / "f"), harvested(source, folder / "e")
    assert second.bits == first.bits and second.entities == first.entities
    assert [getattr(second.report, name) for name in SAME] == [getattr(first.report, name) for name in SAME]
    for key, (table, report) in expected.items():
        own, its = found[key]
        assert own.equals(table), key
        for count in ("entities", "triples", "excluded_triples"):
            assert getattr(its, count) == getattr(report, count)
    files_of_both = [files_of(chunks, folder / name) for name, chunks in (("wf", expected), ("we", found))]
    for key in expected:
        assert len({files[f"{key}/triples.parquet"] for files in files_of_both}) == 1
    reports = [report for _, report in found.values()]
    account = as_dict(Account(second, reports, source.recount(folder / "e"), countable=True))
    assert account["whole"] and account["verified"] and not account["concerns"], account
    assert not second.gathered.missing
    return second


def nquads(quads: Iterable[ox.Quad], path: Path) -> Path:
    path.write_bytes(ox.serialize(quads, format=ox.RdfFormat.N_QUADS) or b"")
    return path


def read_by(graphs: Any, quads: Iterable[ox.Quad]) -> list[ox.Quad]:
    """The quads of the graphs that are read."""

    def admits(graph: Any) -> bool:
        if isinstance(graphs, list):
            return isinstance(graph, ox.NamedNode) and graph.value in graphs
        return graphs == "all" or (graph == ox.DefaultGraph()) == (graphs == "default")

    return [one for one in quads if admits(one.graph_name)]


# The same as files.


@st.composite
def graphs_with_blanks(draw: st.DrawFn) -> list[ox.Quad]:
    """Random triples of four graphs, schema terms among them, and blank nodes that hang below, above and beside them."""
    quads = list(store_of(draw(random_rows)))
    quads += [quad("a", CRM + "P2_has_type", "kind", g) for g in ("", "g1", "g2")]
    if draw(st.booleans()):
        quads += [
            quad("Own", TYPE, "http://www.w3.org/2002/07/owl#Class"),
            quad("Own", "note", ox.Literal("own")),
        ]
        quads += [quad(CRM + "E5_Event", "note", ox.Literal("a class"), "g1")]
    blanks = [ox.BlankNode() for _ in range(3)]
    things = [*blanks, node("a"), node("d/e")]
    links = draw(
        st.lists(
            st.tuples(st.sampled_from(things), st.sampled_from(["p", "q"]), st.sampled_from(things)),
            max_size=6,
        )
    )
    graph = draw(st.sampled_from([ox.DefaultGraph(), node("g1")]))
    quads += [
        ox.Quad(s, node(p), o, graph)
        for s, p, o in links
        if isinstance(s, ox.BlankNode) or isinstance(o, ox.BlankNode)
    ]
    quads += [
        ox.Quad(one, node("name"), ox.Literal(str(n)), graph)
        for n, one in enumerate(blanks)
        if draw(st.booleans())
    ]
    return list(dict.fromkeys(quads))


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    quads=graphs_with_blanks(),
    graphs=st.sampled_from(["default", "named", "all", [EX + "g1"], [EX + "g1", EX + "g2"]]),
    size=st.sampled_from([2, 1000]),
    requests=st.sampled_from([{}, {"batch_entities": 2, "page_rows": 3}, {"blank_rows": 0}]),
)
def test_any_graph_comes_as_from_files(
    tmp_path_factory: pytest.TempPathFactory,
    quads: list[ox.Quad],
    graphs: Any,
    size: int,
    requests: dict[str, int],
) -> None:
    folder, method = tmp_path_factory.mktemp("source"), with_chunks(size)
    files = RdfFiles((nquads(read_by(graphs, quads), folder / "data.nq"),), method)
    with serving(quads) as server:
        require_same(
            files, endpoint(server, folder / "work", method, graphs=graphs, requests=requests), folder
        )
        assert server.updates == [] and server.failures == []


def unpacked(path: Path, folder: Path) -> tuple[Path, ox.Store]:
    """A file that is not compressed, and a store of it."""
    store = ox.Store()
    if path.suffix == ".zst":
        plain = folder / path.stem
        with path.open("rb") as packed, plain.open("wb") as target:
            zstandard.ZstdDecompressor().copy_stream(packed, target)
        path = plain
    store.bulk_load(path=str(path))
    return path, store


@pytest.mark.parametrize("size", [20, 100_000])
def test_the_sample_comes_as_from_files(size: int, tmp_path: Path) -> None:
    path, store = unpacked(ROOT / "data" / "sample" / "troodos.ttl", tmp_path)
    with serving(store, compress=True) as server:
        require_same(
            RdfFiles((path,), with_chunks(size)),
            endpoint(server, tmp_path / "w", with_chunks(size)),
            tmp_path,
        )


@pytest.mark.parametrize(
    ("name", "size"), [("asinou.ttl", 100_000), ("asinou.ttl", 50), ("aac_autry.nt.zst", 1000)]
)
def test_real_data_come_as_from_files(name: str, size: int, shared_data: Path, tmp_path: Path) -> None:
    path, store = unpacked(shared_data / name, tmp_path)
    with serving(store) as server:
        source = endpoint(server, tmp_path / "w", with_chunks(size), requests={"batch_entities": 1000})
        found = require_same(RdfFiles((path,), with_chunks(size)), source, tmp_path)
        assert found.counted and (found.counted.triples, found.counted.each) == (len(store), True)
        rows = sum(one.rows or 0 for one in server.log if one.query.startswith("SELECT ?s ?p ?o "))
        assert rows == len(store)  # every triple is served once


POOR: list[dict[str, Any]] = [{"row_cap": 60}, {"no_sort": True}, {"mangled_tsv": True, "compress": True}]
POOR += [{"formats": ("json",)}, {"like_virtuoso": True}, {"values_limit": 10}]


@pytest.mark.parametrize("options", POOR, ids=str)
def test_poor_endpoints_give_the_same(options: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "churches.ttl"
    path.write_text(turtle(9), encoding="utf-8")
    _, store = unpacked(path, tmp_path)
    with serving(store, shuffle=True, **options) as server:
        source = endpoint(server, tmp_path / "w", with_chunks(8), requests={"retries": 1})
        require_same(RdfFiles((path,), with_chunks(8)), source, tmp_path)


def test_a_whole_harvest_costs_few_requests(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(100), format=ox.RdfFormat.TURTLE)) as server:
        source = endpoint(server, tmp_path / "w")
        harvested(source, tmp_path / "d")
        source.recount(tmp_path)
        assert len(server.log) <= 16


# What identifies a harvest.


def test_a_fingerprint_is_of_the_address_the_graphs_and_the_last_refresh(tmp_path: Path) -> None:
    def print_of(url: str = "http://example.org/sparql", refreshed: str = "", **keys: Any) -> str:
        return SparqlEndpoint(config_of(url, **keys), METHOD, tmp_path, refreshed).fingerprint()

    prints = {print_of(), print_of("http://example.org/other"), print_of(graphs="all"), print_of(graphs=[EX + "g"]),
              print_of(refreshed="2026-01-01"), print_of(default_graphs=[EX + "g"])}  # fmt: skip
    assert len(prints) == 6
    assert print_of(contact="us@example.org", requests={"parallel": 7, "pause_seconds": 3}) == print_of()


def test_parts_are_asked_for_once_and_are_those_of_the_whole(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(6), format=ox.RdfFormat.TURTLE)) as server:
        source = endpoint(server, tmp_path / "w")
        assert isinstance(source, Connected)
        _, chunks = harvested(source, tmp_path / "d")
        whole = chunks["00"][0].to_pylist()
        iris = source.entity_iris(tmp_path / "d")
        assert sorted(iris) == sorted({row["s"] for row in whole})
        seen = len(server.log)
        some = sorted(iris)[::2]
        source.neighbours(tmp_path / "d", some)
        after = len(server.log)
        frame = source.triples_of(tmp_path / "d", some).frame
        assert sorted(map(str, frame.to_dicts())) == sorted(str(row) for row in whole if row["s"] in some)
        assert seen < after == len(server.log)


# Resuming.


def project_of(server: Endpoint, folder: Path, **requests: Any) -> Project:
    return make_project(
        folder, endpoint={"url": server.url, "requests": QUICK | {"batch_entities": 4} | requests}
    )


def harvest(project: Project) -> list[str]:
    """Run the steps of the group source; names of what was made."""
    context, made = project.context(8), []
    for artifact in ("entities", "prefetch", "harvest_report"):
        step = STEPS[artifact]
        for chunk in chunks_to_make(step, context):
            outcome = run_step(step, context, chunk)
            made += [] if outcome.reused else [f"{artifact}/{chunk}" if chunk else artifact]
    return made


def asked_rows(server: Endpoint, since: int = 0) -> list[str]:
    return [one.query for one in server.log[since:] if "VALUES ?s" in one.query and not counts(one.query)]


@dataclass
class DownAfter:
    """Nothing is answered any more after so many queries of a kind."""

    left: int
    kind: Callable[[str], bool]

    def choose(self, query: str) -> faults.Fault | None:
        self.left -= self.kind(query)
        return NAMED["reset"] if self.left < 0 else None


def test_chunks_that_are_there_are_not_asked_for_again(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as server:
        project = project_of(server, tmp_path / "p", retries=0)
        server.plans = [DownAfter(5, lambda query: "VALUES ?s" in query and not counts(query))]
        with pytest.raises(SourceError, match="kept: run the build again"):
            harvest(project)
        answered = [one.query for one in server.log if one.status == 200]
        before, seen = set(answered) & set(asked_rows(server)), len(server.log)
        server.plans = []
        made = harvest(project)
        assert "entities" not in made and 0 < len([one for one in made if "prefetch" in one]) < 8
        churches = [f"<{EX}church{n}>" for n in range(12)]
        done = {iri for iri in churches if any(iri in query for query in before)}
        again = {iri for iri in done if any(iri in query for query in asked_rows(server, seen))}
        assert done - again  # those of whole chunks; of the chunk that broke off all are asked for again
        report = harvest_of(project.context(8))
        assert report["whole"] and report["verified"]


def test_a_harvest_that_is_there_asks_nothing_and_a_refreshed_one_everything(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as server:
        project = project_of(server, tmp_path / "p")
        assert len(harvest(project)) == 10
        first, rows = len(server.log), asked_rows(server)
        assert harvest(project) == [] and len(server.log) == first
        (project.data / "work" / "churches" / "refreshed").write_text("2026-01-01T00:00:00+00:00\n")
        server.change(add=[quad("church0", CRM + "P3_has_note", ox.Literal("new"))])
        made = harvest(project)
        assert {"entities", "harvest_report"} < set(made)
        assert sorted(asked_rows(server, first)) == sorted(rows)
        assert harvest_of(project.context(8))["whole"]


def test_an_interrupted_discovery_does_not_repeat_its_pages(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as server:
        project = project_of(server, tmp_path / "p", subject_rows=0, page_rows=5, retries=0)
        server.plans = [DownAfter(3, lambda query: bool(sorted_rows(query)))]
        with pytest.raises(SourceError):
            harvest(project)
        had = [one.query for one in server.log if one.status == 200 and sorted_rows(one.query)]
        seen = len(server.log)
        server.plans = []
        harvest(project)
        pages = [one.query for one in server.log[seen:] if sorted_rows(one.query)]
        assert len(had) >= 3 and pages and not set(had) & set(pages)
        assert harvest_of(project.context(8))["whole"]


def test_lists_of_a_discovery_that_is_over_are_not_used_again(tmp_path: Path) -> None:
    """An endpoint where one entity took the place of another counts the same: old lists would hide it."""
    with serving(ox.parse(turtle(4), format=ox.RdfFormat.TURTLE)) as server:
        source = endpoint(server, tmp_path / "w")
        harvested(source, tmp_path / "d")
        gone = [one for one in server.store if one.subject == node("painting0")]
        server.change(
            add=[ox.Quad(node("paintingX"), one.predicate, one.object) for one in gone], remove=gone
        )
        harvested(endpoint(server, tmp_path / "w"), tmp_path / "d")
        assert EX + "paintingX" in source.entity_iris(tmp_path / "d")


def test_what_was_learned_helps_the_next_process(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE), mangled_tsv=True, row_cap=30) as server:
        harvested(endpoint(server, tmp_path / "w"), tmp_path / "d")
        seen = len(server.log)
        harvested(endpoint(server, tmp_path / "w"), tmp_path / "d")
        assert all("json" in one.accept for one in server.log[seen:])
        assert len(server.log) - seen < seen


# Watching.


def test_an_endpoint_that_changes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as server:
        project = project_of(server, tmp_path / "p")
        context = project.context(8)
        run_step(STEPS["entities"], context)
        before = len(server.store)
        gone = [one for one in server.store if one.subject == node("mural3")]
        server.change(
            add=[quad("church1", CRM + "P3_has_note", ox.Literal(str(n))) for n in range(5)], remove=gone
        )
        harvest(project)
        report = harvest_of(context)
        counted = report["counted"]
        assert (counted["before"]["triples"], counted["after"]["triples"]) == (before, before + 3)
        assert not report["whole"]
        assert f"{before:,} triples before, {before + 3:,} after" in " ".join(report["concerns"])
        assert "subjects before" in " ".join(report["concerns"])


def test_what_is_missing_stands_in_the_report_by_name(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE), [Poison(EX + "mural3")]) as server:
        project = project_of(server, tmp_path / "p", retries=0)
        harvest(project)
        report = harvest_of(project.context(8))
        assert [one["subject"] for one in report["missing"]] == [EX + "mural3"]
        assert not report["whole"] and report["traffic"]["requests"] <= len(server.log)
        held = {iri for path in prefetched(project.context(8)) for iri in read_chunk(path)["s"]}
        assert EX + "mural3" not in held and EX + "mural4" in held


def test_the_cost_in_the_report_is_the_log_of_the_server(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as server:
        project = project_of(server, tmp_path / "p")
        harvest(project)
        traffic = harvest_of(project.context(8))["traffic"]
        closing = [one for one in server.log[-2:] if counts(one.query)]
        assert traffic["requests"] == len(server.log) - len(closing) and len(closing) == 2
        assert traffic["rows"] == sum(one.rows or 0 for one in server.log) - 2
        assert traffic["retries"] == 0 and traffic["bytes"] > 0 and json.dumps(traffic)


def test_an_endpoint_that_is_down_at_the_end_does_not_lose_the_harvest(tmp_path: Path) -> None:
    with serving(ox.parse(turtle(), format=ox.RdfFormat.TURTLE)) as server:
        project = project_of(server, tmp_path / "p", retries=0)
        context = project.context(8)
        run_step(STEPS["entities"], context)
        for key in chunks_of(context):
            run_step(STEPS["prefetch"], context, key)
    run_step(STEPS["harvest_report"], context)
    report = harvest_of(context)
    assert report["counted"]["after"] is None and not report["verified"]
    assert "would not count its triples again" in " ".join(report["concerns"])
