"""Queries on real releases, each in a process that a query cannot outlive, outgrow or leave."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.codec import from_plain, parse_json, to_json
from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import CrmRagError, QuestionError, ReleaseError, ServiceError
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.world import World
from crmrag_query.sets.records import Cell
from crmrag_query.sparql.desk import SparqlDesk, stores_of
from crmrag_query.sparql.evaluate import SparqlResult
from tests.support.builds import build_all, make_project
from tests.support.set_world import ALL, BASE, BEFORE_1855, BY_ADA, NOT_IVORY, set_world

CRM = "http://www.cidoc-crm.org/cidoc-crm/"
PREFIXES = f"PREFIX ex: <{BASE}> PREFIX crm: <{CRM}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>\n"
CROSS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n2 ?o }"
GREEDY = "SELECT ?a ?d ?g ?j { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l } ORDER BY ?l ?i ?f ?c"
Desk = Callable[..., SparqlDesk]


@pytest.fixture
def desks(bounds: SparqlConfig, tmp_path: Path) -> Any:
    """Opens desks with other bounds, and closes them."""
    opened: list[SparqlDesk] = []

    def make(**other: object) -> SparqlDesk:
        opened.append(SparqlDesk(bounds.model_copy(update=other), tmp_path / "stores"))
        return opened[-1]

    yield make
    for one in opened:
        one.close()


@pytest.fixture(scope="session")
def source() -> ox.Store:
    """The museum's source, read by Oxigraph itself."""
    store = ox.Store()
    store.load(input=set_world().encode(), format=ox.RdfFormat.TRIG)
    return store


QUERIES = (
    "SELECT ?s ?name { ?s rdfs:label ?name }",
    "SELECT ?s ?date { ?s crm:P4_has_time-span/crm:P82a_begin_of_the_begin ?date }",
    "SELECT ?work ?maker { ?work crm:P108i_was_produced_by/crm:P14_carried_out_by ?maker }",
    "SELECT ?class (COUNT(?s) AS ?n) { ?s a ?class } GROUP BY ?class",
    "SELECT ?g (COUNT(*) AS ?n) { GRAPH ?g { ?s rdfs:label ?o } } GROUP BY ?g",
    "SELECT ?s FROM <http://example.org/south> { ?s crm:P2_has_type ex:painting }",
    "SELECT ?s FROM NAMED ex:north { GRAPH ?g { ?s crm:P45_consists_of ex:ivory } }",
    'SELECT ?s { ?s rdfs:label ?name FILTER(LANG(?name) = "fr" && REGEX(?name, "^h")) }',
    'SELECT ?s ?name { VALUES ?name { "Calm\\nsea" """Élan, “quiet”""" } ?s rdfs:label ?name }',
    "SELECT ?s ?d { ?s crm:P2_has_type ex:painting OPTIONAL { ?s crm:P55_has_current_location ?d } }",
    "SELECT (AVG(?n) AS ?mean) (1/3 AS ?third) (1e400 AS ?much) { VALUES ?n { 1 2.5 } }",
    "SELECT ?s { ?s crm:P2_has_type ex:painting MINUS { ?s crm:P45_consists_of ex:ivory } }",
)


@pytest.mark.parametrize("query", QUERIES)
def test_rows_equal_those_of_the_source(
    query: str, desk: SparqlDesk, museum: Release, source: ox.Store
) -> None:
    found = desk.run(museum, PREFIXES + query)
    theirs = source.query(PREFIXES + query, use_default_graph_as_union="FROM" not in query)
    assert isinstance(theirs, ox.QuerySolutions)
    assert found.form == "select" and not found.truncated and found.rows
    assert found.variables == tuple(one.value for one in theirs.variables)
    assert sorted(map(_said, found.rows)) == sorted(map(_told, theirs))


def _said(row: tuple[Cell | None, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(() if cell is None else (cell.label, cell.iri, cell.datatype, cell.lang) for cell in row)


def _told(solution: ox.QuerySolution) -> tuple[tuple[str, ...], ...]:
    terms: list[tuple[str, ...]] = []
    for term in solution:
        if isinstance(term, ox.NamedNode):
            terms.append((term.value, term.value, "", ""))
        elif isinstance(term, ox.Literal):
            datatype = "" if term.language or term.datatype.value.endswith("#string") else term.datatype.value
            terms.append((term.value, "", datatype, term.language or ""))
        else:
            terms.append(())
    return tuple(terms)


@pytest.mark.parametrize(
    "plan", [ALL, BY_ADA, NOT_IVORY, BEFORE_1855], ids=["all", "ada", "no ivory", "early"]
)
def test_the_query_of_a_plan_gives_the_set_of_the_plan(plan: Any, desk: SparqlDesk, museum: Release) -> None:
    from crmrag_query.sets.build import answer_set

    found = desk.run(museum, to_sparql(plan, museum[World]))
    assert {row[0].iri for row in found.rows if row[0]} == {
        one.iri for one in answer_set(museum, plan).members
    }


def test_all_forms(desk: SparqlDesk, museum: Release, source: ox.Store) -> None:
    assert desk.run(museum, PREFIXES + "ASK { ex:p1 ?p ?o }").truth is True
    assert desk.run(museum, PREFIXES + "ASK { ex:p99 ?p ?o }").truth is False
    made = desk.run(museum, PREFIXES + 'CONSTRUCT { ?s rdfs:label ?n, "x"@en } WHERE { ?s rdfs:label ?n }')
    lines = made.text.splitlines()
    assert made.form == "graph" and len(lines) == len(set(lines))
    query = PREFIXES + 'CONSTRUCT { ?s rdfs:label ?n, "x"@en } WHERE { ?s rdfs:label ?n }'
    theirs = set(source.query(query, use_default_graph_as_union=True))  # type: ignore[call-overload]
    assert set(_parsed(made.text)) == theirs
    about = desk.run(museum, PREFIXES + "DESCRIBE ex:p7")
    assert {triple.subject.value for triple in _parsed(about.text)} == {f"{BASE}p7"}
    assert "Calm\\nsea" in about.text


def _parsed(text: str) -> list[ox.Triple]:
    return [quad.triple for quad in ox.parse(text, format=ox.RdfFormat.N_TRIPLES)]


def test_cells_and_variables(desk: SparqlDesk, museum: Release) -> None:
    query = (
        PREFIXES
        + 'SELECT * { ex:p1 crm:P45_consists_of ?m OPTIONAL { ?m ex:no ?none } BIND(7.5 AS ?b) BIND("é"@fr AS ?a) }'
    )
    found = desk.run(museum, query)
    assert found.variables == ("m", "none", "b", "a")
    decimal = "http://www.w3.org/2001/XMLSchema#decimal"
    oil = Cell(f"{BASE}oil", f"{BASE}oil")
    assert found.rows == ((oil, None, Cell("7.5", datatype=decimal, number=7.5), Cell("é", lang="fr")),)
    nodes = desk.run(museum, 'SELECT (BNODE() AS ?x) (1e999 AS ?y) ("n"^^<urn:t> AS ?z) {}').rows[0]
    assert nodes[0] is not None and nodes[0].label.startswith("_:") and not nodes[0].iri
    assert nodes[1] is not None and nodes[1].label == "INF" and nodes[1].number is None
    assert nodes[2] == Cell("n", datatype="urn:t")
    assert from_plain(SparqlResult, parse_json(to_json(found))) == found


def test_limits_of_rows_and_characters(desk: SparqlDesk, museum: Release, desks: Desk) -> None:
    for query in ("SELECT * { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"):
        assert _size(part := desk.run(museum, query, 3)) == 3 and part.truncated
        whole = desk.run(museum, query)
        assert not whole.truncated
        exact = desk.run(museum, query, _size(whole))
        assert (exact.rows, exact.truncated) == (whole.rows, False)
    for limit in (0, -1, 1001):
        with pytest.raises(QuestionError, match="limit"):
            desk.run(museum, "ASK {}", limit)
    short = desks(result_characters=500)
    for query in ("SELECT * { ?s ?p ?o }", "CONSTRUCT WHERE { ?s ?p ?o }"):
        part = short.run(museum, query)
        assert part.truncated and 0 < len(to_json(part)) < 5000
    assert (
        short.run(museum, 'SELECT (CONCAT(?a, ?a, ?a) AS ?b) { VALUES ?a { "%s" } }' % ("x" * 400)).rows == ()
    )


def warmed(desk: SparqlDesk, release: Release) -> SparqlDesk:
    """The desk once its first process runs, which may take longer than a query may."""
    for _ in range(60):
        try:
            desk.run(release, "ASK {}")
        except ServiceError:
            continue
        return desk
    raise AssertionError("no process ever began")


def _size(result: SparqlResult) -> int:
    return len(result.rows) or result.text.count("\n")


def test_what_may_not_be_asked_is_told_and_the_process_stays(desk: SparqlDesk, museum: Release) -> None:
    desk.run(museum, "ASK {}")
    before = _processes(desk)
    for query in ("DROP ALL", "SELECT * { SERVICE <http://127.0.0.1:1/> {} }", "ASK FROM <urn:x> {}", "ASK"):
        with pytest.raises(QuestionError):
            desk.run(museum, query)
    with pytest.raises(QuestionError, match=r"has no graph.*It has 2: <http://example.org/north>"):
        desk.run(museum, "ASK FROM <urn:x> {}")
    assert _processes(desk) == before


def _processes(desk: SparqlDesk) -> list[int]:
    return [place.worker.number for place in desk._places]


def test_a_query_that_takes_too_long_is_ended_and_the_next_one_runs(desks: Desk, museum: Release) -> None:
    desk = warmed(desks(seconds=2), museum)
    began, (process,) = time.monotonic(), _processes(desk)
    with pytest.raises(QuestionError, match="longer than 2 seconds"):
        desk.run(museum, CROSS)
    assert time.monotonic() - began < 4
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
    assert warmed(desk, museum).run(museum, "ASK { ?s ?p ?o }").truth


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is bounded on Linux only")
def test_a_query_that_takes_too_much_memory_is_ended(desks: Desk, museum: Release) -> None:
    desk = desks(memory_bytes=1 << 26)
    with pytest.raises(QuestionError, match="more memory than it may take"):
        desk.run(museum, GREEDY)
    assert desk.run(museum, "ASK { ?s ?p ?o }").truth


def test_a_killed_process_is_replaced(desks: Desk, museum: Release) -> None:
    desk = desks()
    desk.run(museum, "ASK {}")
    os.kill(_processes(desk)[0], signal.SIGKILL)
    time.sleep(0.2)
    assert desk.run(museum, "ASK { ?s ?p ?o }").truth

    def kill() -> None:
        os.kill(_processes(desk)[0], signal.SIGKILL)

    threading.Timer(0.5, kill).start()
    with pytest.raises(QuestionError, match="ended the process"):
        desk.run(museum, CROSS)
    assert desk.run(museum, "ASK { ?s ?p ?o }").truth


@pytest.mark.slow
def test_many_at_once_wait_for_each_other_or_are_told(desks: Desk, museum: Release) -> None:
    desk = desks(processes=2)
    with ThreadPoolExecutor(8) as pool:
        counts = [pool.submit(desk.run, museum, f"SELECT ({n} AS ?n) {{}}") for n in range(24)]
        assert [one.result().rows[0][0].number for one in counts] == list(range(24))  # type: ignore[union-attr]
    assert len(_processes(desk)) <= 2
    busy = warmed(desks(seconds=3), museum)
    with ThreadPoolExecutor(3) as pool:
        runs = [pool.submit(busy.run, museum, CROSS) for _ in range(3)]
        told = sorted(str(one.exception()) for one in runs)
    assert [text.partition(".")[0] for text in told[1:]] == ["Too many SPARQL queries run at the moment"] * 2
    assert told[0].startswith("The query took longer")


@pytest.mark.slow
def test_a_place_goes_from_one_release_to_another(desks: Desk, museum: Release, tmp_path: Path) -> None:
    project = make_project(tmp_path / "churches", write_markdown=False)
    build_all(project.context())
    churches, desk = open_release(project.dataset, project.data), desks()
    count = "SELECT (COUNT(*) AS ?n) { ?s a ?class }"
    numbers = [desk.run(release, count).rows[0][0] for release in (museum, churches, museum)]
    assert len(_processes(desk)) == 1
    assert numbers[0] == numbers[2] != numbers[1]


def test_stores_on_disk_give_the_same_and_are_built_once(
    desks: Desk, desk: SparqlDesk, museum: Release, tmp_path: Path
) -> None:
    large = {"in_memory_triples": 1, "processes": 1}
    query = PREFIXES + "SELECT ?g ?s ?o { GRAPH ?g { ?s rdfs:label ?o } }"
    found = desks(**large).run(museum, query)
    assert sorted(map(_said, found.rows)) == sorted(map(_said, desk.run(museum, query).rows))
    folders = list((tmp_path / "stores").iterdir())
    assert [folder.name.partition("-")[0] for folder in folders] == [museum.id]
    tables = {path: path.stat().st_mtime_ns for path in folders[0].glob("*.sst")}
    assert tables and desks(**large).run(museum, query).rows
    assert {path: path.stat().st_mtime_ns for path in folders[0].glob("*.sst")} == tables


def test_old_stores_and_what_killed_builds_left_are_taken_away(
    desks: Desk, museum: Release, tmp_path: Path
) -> None:
    stores = tmp_path / "stores"
    names = ("old-1-0", "older-1-0", ".building-dead", ".building-alive")
    for age, name in enumerate(names):
        (stores / name).mkdir(parents=True)
        when = time.time() - (0 if name.endswith("alive") else 100_000 + age)
        os.utime(stores / name, (when, when))
    under_way = stores / ".building-before-the-clock-jumped"
    (under_way / "store").mkdir(parents=True)
    for path in (under_way / "store", under_way):
        os.utime(path, (when - 1e8, when - 1e8))
    (under_way / "store" / "written-now.sst").touch()
    desks(in_memory_triples=1, stores=2).run(museum, "ASK {}")
    kept = {path.name.partition("-")[0] if path.name[0] != "." else path.name for path in stores.iterdir()}
    assert kept == {museum.id, "old", ".building-alive", under_way.name}


@pytest.mark.slow
def test_many_processes_build_the_same_store_at_once(desks: Desk, museum: Release, tmp_path: Path) -> None:
    several = [desks(in_memory_triples=1) for _ in range(3)]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda desk: desk.run(museum, "ASK { ?s ?p ?o }").truth, several))
    assert found == [True] * 3
    assert len(list((tmp_path / "stores").iterdir())) == 1


def test_where_stores_are(museum: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert stores_of(museum) == museum.folder.parents[2] / "cache" / "sparql"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own"))
    copied = Release(tmp_path / museum.id, museum.manifest)
    assert stores_of(copied) == tmp_path / "own" / "crmrag" / "sparql"


def test_bounds_are_those_of_the_configuration(museum: Release) -> None:
    with SparqlDesk() as desk:
        assert desk.config.rows > 1000 and desk.run(museum, "ASK { ?s ?p ?o }").truth


def test_a_store_that_cannot_be_written_is_told(
    bounds: SparqlConfig, museum: Release, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    small = bounds.model_copy(update={"in_memory_triples": 1})
    with SparqlDesk(small, tmp_path / "file") as desk, pytest.raises(ServiceError, match="cannot be built"):
        desk.run(museum, "ASK {}")


def test_a_damaged_release_is_told(desks: Desk, museum: Release, tmp_path: Path) -> None:
    broken = Release(tmp_path, museum.manifest)
    for _ in range(2):
        with pytest.raises(ReleaseError, match="No graph"):
            desks().run(broken, "ASK {}")


def test_nothing_new_can_be_opened_by_the_process(desks: Desk, museum: Release) -> None:
    """Even an engine that would ask another endpoint could not: the process opens no file and no connection any more."""
    for in_memory in (1, 100_000):
        desk = desks(in_memory_triples=in_memory)
        desk.run(museum, "ASK {}")
        limits = Path(f"/proc/{_processes(desk)[0]}/limits")
        if not limits.exists():
            pytest.skip("no /proc here")
        line = next(one for one in limits.read_text().splitlines() if one.startswith("Max open files"))
        assert line.split()[3:5] == ["0", "0"]


def test_the_process_knows_no_secrets(desks: Desk, museum: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    desk = desks()
    desk.run(museum, "ASK {}")
    environment = Path(f"/proc/{_processes(desk)[0]}/environ")
    if not environment.exists():
        pytest.skip("no /proc here")
    assert b"secret" not in environment.read_bytes()


def test_a_process_ends_with_the_one_who_started_it(
    museum: Release, bounds: SparqlConfig, tmp_path: Path
) -> None:
    import subprocess
    import sys

    script = f"""
import os, sys
from pathlib import Path
from crmrag_query.artifacts.release import open_release
from crmrag_query.config.service import SparqlConfig
from crmrag_query.sparql.desk import SparqlDesk, stores_of
desk = SparqlDesk(SparqlConfig(**{bounds.model_dump()!r}), Path({str(tmp_path)!r}))
assert desk.run(open_release(Path({str(museum.folder)!r})), "ASK {{}}").truth
print(desk._places[0].worker.number, flush=True)
os._exit(1)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    process = int(done.stdout)
    for _ in range(100):
        if not _runs(process):
            return
        time.sleep(0.1)
    os.kill(process, signal.SIGKILL)
    pytest.fail("the process lived on")


def _runs(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def test_a_closed_desk_says_so_and_ends_what_runs(
    bounds: SparqlConfig, museum: Release, tmp_path: Path
) -> None:
    desk = SparqlDesk(bounds, tmp_path)
    desk.run(museum, "ASK {}")
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(desk.run, museum, CROSS)
        time.sleep(0.3)
        desk.close()
        assert isinstance(running.exception(), CrmRagError)
    with pytest.raises(CrmRagError, match="closed"):
        desk.run(museum, "ASK {}")
