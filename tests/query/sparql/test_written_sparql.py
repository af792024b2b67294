"""SPARQL that a model writes is stopped or repaired where it is bad, and run where it is not; the model over HTTP."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.llm.model import CannedModel, LiteLLM
from crmrag_query.sparql.desk import SparqlDesk
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.sparql.written import ROWS, WrittenQuery, query_with_model
from tests.query.sparql.conftest import BOUNDS
from tests.support.model_server import Script, model_server

pytestmark = [
    pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed"),
    pytest.mark.filterwarnings("ignore"),
]
QUESTION = "Which paintings by Ada Berg are of oil?"
GOOD = (
    "SELECT DISTINCT ?p ?name { ?p crm:P108i_was_produced_by/crm:P14_carried_out_by <http://example.org/ada> ; "
    "crm:P45_consists_of <http://example.org/oil> ; rdfs:label ?name }"
)
BAD = {
    "update": ("DELETE WHERE { ?s ?p ?o }", "DELETE is not allowed"),
    "update behind a comment": ("# SELECT\nDROP ALL", "DROP is not allowed"),
    "service": ("SELECT * { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }", "SERVICE is not allowed"),
    "unknown property": ("SELECT ?p { ?p crm:P45_made_of ?m }", "P45_consists_of"),
    "unknown class": ("SELECT ?p { ?p a crm:E99_Thing ; crm:P45_consists_of ?m }", "E99_Thing"),
    "cross product": ("SELECT ?a { ?a crm:P45_consists_of ?m . ?b rdfs:label ?n }", "joined by nothing"),
    "syntax": ("SELECT ?p WHERE ?p crm:P45_consists_of ?m }", "cannot be read"),
    "undeclared prefix": ("SELECT ?p { ?p zz:made ?m }", "zz"),
    "no rows to tell": ("CONSTRUCT WHERE { ?s ?p ?o }", "Write SELECT or ASK"),
    "foreign graph": ("SELECT ?s FROM <http://elsewhere/g> { ?s ?p ?o }", "has no graph"),
}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


def reply(query: str | None, cannot: str = "") -> str:
    return json.dumps({"query": query, "cannot": cannot})


def asked(
    museum: Release, desk: SparqlDesk, *replies: str, question: str = QUESTION
) -> tuple[WrittenQuery, Script, list[str]]:
    """What comes of it, what the server was asked, and the queries that were run."""
    ran: list[str] = []

    def run(query: str, limit: int) -> SparqlResult:
        ran.append(query)
        return desk.run(museum, query, limit)

    with model_server(*replies) as script:
        model = LiteLLM("openai/scripted", script.address)
        return query_with_model(museum, question, model, run, BOUNDS), script, ran


def test_a_query_of_known_names_is_run_with_the_prefixes_that_it_uses(
    museum: Release, desk: SparqlDesk
) -> None:
    found, script, _ = asked(museum, desk, reply(GOOD))
    assert found.result is not None and not found.notes
    assert {row[0].iri for row in found.result.rows if row[0]} == {
        "http://example.org/p1",
        "http://example.org/p2",
    }
    assert found.query.startswith("PREFIX rdfs:") and "skos" not in found.query
    told = json.loads(script.requests[0]["messages"][1]["content"])
    assert any(row.startswith("crm:P45_consists_of | ") for row in told["properties"])
    assert any(row.startswith("crm:E21_Person | ") for row in told["classes"])
    assert told["prefixes"]["crm"] == "http://www.cidoc-crm.org/cidoc-crm/"
    assert "relations" not in told


@pytest.mark.parametrize("kind", BAD)
def test_bad_sparql_is_told_what_is_wrong_and_repaired(kind: str, museum: Release, desk: SparqlDesk) -> None:
    bad, wrong = BAD[kind]
    found, script, ran = asked(museum, desk, reply(bad), reply(GOOD))
    assert found.result is not None and len(found.result.rows) == 2 and len(script.requests) == 2
    assert wrong in script.requests[1]["messages"][-1]["content"]
    assert len(ran) == 1, "the bad query never ran"


@pytest.mark.parametrize("kind", BAD)
def test_bad_sparql_twice_is_stopped_and_never_runs(kind: str, museum: Release, desk: SparqlDesk) -> None:
    found, script, ran = asked(museum, desk, reply(BAD[kind][0]))
    assert (found.query, found.result, ran, len(script.requests)) == ("", None, [], 2)
    (note,) = found.notes
    assert "no query that can be run, twice" in note


def test_a_query_without_rows_is_looked_at_once_more(museum: Release, desk: SparqlDesk) -> None:
    none = "SELECT ?p { ?p crm:P45_consists_of <http://example.org/lund> }"
    found, script, _ = asked(museum, desk, reply(none), reply(GOOD))
    assert found.result is not None and len(found.result.rows) == 2
    assert "It gives no rows" in script.requests[1]["messages"][-1]["content"]
    again, _, _ = asked(museum, desk, reply(none))
    assert again.result is not None and again.result.rows == () and again.query.endswith(none)


def test_rows_are_bounded_and_it_is_told_that_there_are_more(museum: Release, desk: SparqlDesk) -> None:
    found, _, _ = asked(museum, desk, reply("SELECT ?s ?o { ?s ?p ?o }"))
    assert found.result is not None
    assert len(found.result.rows) == ROWS and found.result.truncated


def test_a_query_that_takes_too_long_is_ended_and_told(museum: Release) -> None:
    def run(query: str, limit: int) -> SparqlResult:
        with SparqlDesk(BOUNDS.model_copy(update={"seconds": 0.001})) as hasty:
            return hasty.run(museum, query, limit)

    with model_server(reply(GOOD)) as script:
        found = query_with_model(museum, QUESTION, LiteLLM("openai/scripted", script.address), run, BOUNDS)
    assert found.result is None and found.notes
    assert "cannot be run" in script.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (reply(None, "It is a matter of taste."), "taste"),
        ("I would rather not.", "twice"),
        (reply(None), "twice"),
        (json.dumps({"query": 7, "cannot": ""}), "twice"),
        ("[" * 5000, "twice"),
    ],
)
def test_what_is_no_query_is_told_to_the_reader(
    said: str, told: str, museum: Release, desk: SparqlDesk
) -> None:
    found, _, ran = asked(museum, desk, said)
    assert (found.result, ran) == (None, []) and told in found.notes[0]


def test_a_model_that_fails_is_told(museum: Release, desk: SparqlDesk) -> None:
    with model_server("", status=500) as script:
        model = LiteLLM("openai/scripted", script.address)
        found = query_with_model(museum, QUESTION, model, lambda *_: pytest.fail("nothing to run"), BOUNDS)
    assert "It wrote no query." in found.notes[0]


def test_a_long_list_of_iris_stands_by_its_name(museum: Release, desk: SparqlDesk) -> None:
    """Homonyms are told as one choice, whose name the query may have in place of all its IRIs."""
    from crmrag_query.sparql.written import Names, _Attempt

    attempt = _Attempt(
        museum,
        lambda query, limit: desk.run(museum, query, limit),
        BOUNDS,
        Names.of(["http://example.org/p1"]),
        {"@1": ("http://example.org/p1", "http://example.org/p3")},
    )
    found, wrong = attempt.read(
        reply('SELECT ?p ?m { VALUES ?p { @1 } ?p crm:P45_consists_of ?m FILTER("a"@en = "a"@en) }')
    )
    assert not wrong and found.result is not None and len(found.result.rows) == 2


def test_text_of_a_model_without_structured_replies_is_read_too(museum: Release, desk: SparqlDesk) -> None:
    model = CannedModel(f"Here it is:\n```json\n{reply(GOOD)}\n```")
    found = query_with_model(museum, QUESTION, model, lambda q, n: desk.run(museum, q, n), BOUNDS)
    assert found.result is not None and len(found.result.rows) == 2
