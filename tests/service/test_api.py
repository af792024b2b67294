"""Every route gives over HTTP what the engine gives in process, and whatever else comes is told what is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

import httpx
import pytest

from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.client.wire import Parser, Route
from crmrag_query.codec import Problem, from_plain, to_json, to_plain
from crmrag_query.service.app import PAGES
from crmrag_query.service.responses import OWN_ROUTES
from crmrag_query.sets.records import Change, Years
from tests.support.modes import THERE_ARE
from tests.support.service import application, await_sparql, served

QUESTION = "When was the church of Asinou built?"
COUNTED = "Which churches were built before 1200?"
ASINOU = "https://example.org/troodos/church/asinou"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
THINGS: dict[str, Any] = {"target": {"categories": ["Thing"]}}
NARROW: dict[str, Any] = THINGS | {
    "where": [{"kind": "dated", "way": {"paths": [["P108i", "P4"]]}, "end": 500_000}]
}
REQUESTS: dict[Route[Any, Any], tuple[Any, ...]] = {
    wire.ASK: (wire.Ask(QUESTION), wire.Ask(COUNTED, "sample"), wire.Ask("And who painted it?", history=(QUESTION,)),
        wire.Ask(QUESTION, mode="vector", within={"iris": [ASINOU]}),
    ),
    wire.RETRIEVE: (wire.Retrieve(QUESTION, k=5), wire.Retrieve("Παναγία Φορβιώτισσα", "sample", mode="fulltext")),
    wire.ENTITY: (wire.GetEntity(ASINOU), wire.GetEntity(ASINOU, "sample", "el")),
    wire.NEIGHBOURS: (wire.GetNeighbours(ASINOU), wire.GetNeighbours(ASINOU, "sample", 7, 3, "el")),
    wire.SEARCH: (wire.Search("Asin"), wire.Search("Παναγία & Co. +%", "sample", 3)),
    wire.LINEAGE: (wire.GetLineage(ASINOU, TYPE, "nothing of the kind"),),
    wire.DATASETS: (wire.ListDatasets(),),
    wire.DATASET: (wire.GetDataset(), wire.GetDataset("sample")),
    wire.PLAN: (wire.MakePlan(COUNTED), wire.MakePlan("Hello, how are you?")),
    wire.EDIT: (
        wire.EditPlan(THINGS), wire.EditPlan(NARROW, "where.0", language="fr"),
        wire.EditPlan(NARROW, change=Change("where.0", years=Years(1100, None), negated=True)),
    ),
    wire.CHOICES: (
        wire.GetChoices(NARROW, "target.categories", "kinds"),
        wire.GetChoices(NARROW, "where", "relation", "in", 5, "sample", "de"),
    ),
    wire.MARKS: (wire.GetMarks(THINGS), wire.GetMarks(NARROW, "sample", "el")),
    wire.SET: (wire.GetSet(THINGS, limit=3), wire.GetSet(NARROW, "sample", 0, 5, "label", True, "el", "undated"),
        wire.GetSet(THINGS, limit=3, columns=("made_of", "telling")),
    ),
    wire.COLUMNS: (wire.GetColumns(THINGS), wire.GetColumns(NARROW, "sample", "el")),
    wire.FACETS: (wire.GetFacets(THINGS), wire.GetFacets(THINGS, language="el", keys=("class",))),
    wire.EXPORT: tuple(wire.GetExport(THINGS, kind, question="What is there?") for kind in ("csv", "json", "jsonld")),
    wire.SPARQL: (wire.RunSparql("SELECT * WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o LIMIT 5"), wire.RunSparql("ASK {}")),
    wire.CANDIDATES: (wire.ListCandidates(), wire.ListCandidates("sample", 5, 2, "el")),
    wire.EVALUATIONS: (wire.ListEvaluations(),),
    wire.MODES: (wire.ListModes(), wire.ListModes("sample")),
    wire.COMPARE: (
        wire.CompareModes(QUESTION, modes=("crm", "fulltext")),
        wire.CompareModes("And who painted it?", "sample", ("vector",), (QUESTION,), within={"categories": ["Actor"]}),
    ),
    wire.GRAPH_SEARCH: (wire.GraphSearch("Asinou"), wire.GraphSearch("Παναγία", 3, "Thing", "sample", "el")),
    wire.GRAPH_CONTEXT: (wire.GetContext(ASINOU), wire.GetContext(ASINOU, 1, 5, "sample", "el")),
    wire.GRAPH_COMMUNITIES: (wire.FindCommunities(), wire.FindCommunities("murals", 0, 2, "sample", "el")),
    wire.THEMES: (wire.ListThemes(), wire.ListThemes("sample", level=0, limit=3, offset=1, language="el")),
}  # fmt: skip
CASES = [(route, request) for route, requests in REQUESTS.items() for request in requests]


def send(http: httpx.Client, route: Route[Any, Any], request: Any, **headers: str) -> httpx.Response:
    """What the service answers to a request of a route."""
    path = wire.PREFIX + route.path
    if route.method != "POST":
        return http.request(route.method, path, params=wire.parameters_of(request), headers=headers)
    return http.post(path, content=to_json(request), headers={"Content-Type": wire.JSON, **headers})


def problem_of(response: httpx.Response) -> Problem:
    """The problem document that a response is."""
    assert response.headers["content-type"] == wire.PROBLEM, response.text
    told = from_plain(Problem, response.json())
    assert told.status == response.status_code and told.title and (told.detail or told.remedy)
    return told


def events_of(response: httpx.Response) -> list[tuple[str, Any]]:
    """Names and values of a stream's events."""
    messages = Parser(10_000_000).feed(response.content)
    return [(one.event, json.loads(one.data)) for one in messages]


def untimed(value: Any) -> Any:
    """A result without how long it took."""
    if isinstance(value, tuple):
        return tuple(map(untimed, value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    clocks = {"timings": {}, "milliseconds": 0.0, "id": ""}
    return replace(
        value,
        **{
            one.name: clocks.get(one.name, untimed(getattr(value, one.name)))
            for one in fields(value)
            if one.init
        },
    )


def test_every_route_is_tried() -> None:
    assert set(REQUESTS) == set(wire.ROUTES)


@pytest.mark.parametrize(
    ("route", "request_"), CASES, ids=[f"{route.path[1:]}{at}" for at, (route, _) in enumerate(CASES)]
)
def test_a_route_gives_what_the_engine_gives(
    http: httpx.Client, engine: Engine, route: Route[Any, Any], request_: Any
) -> None:
    if route is wire.SPARQL:
        await_sparql(str(http.base_url))
    response = send(http, route, request_)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == wire.JSON
    found, expected = from_plain(route.result, response.json()), engine.handle(route, request_)
    assert untimed(found) == untimed(expected)
    assert set(response.json()) == set(to_plain(expected))


def test_a_question_streams_its_plan_set_evidence_text_citations_and_end(
    http: httpx.Client, engine: Engine
) -> None:
    response = send(http, wire.ASK, wire.Ask(COUNTED), Accept=wire.EVENTS)
    assert response.headers["content-type"].startswith(wire.EVENTS)
    assert response.headers["cache-control"] == "no-store" and response.headers["x-accel-buffering"] == "no"
    events = events_of(response)
    names = [name for name, _ in events]
    assert list(dict.fromkeys(names)) == ["plan", "set", "evidence", "token", "citation", "done"]
    answer = from_plain(wire.ASK.result, events[-1][1]["answer"])
    assert untimed(answer) == untimed(engine.handle(wire.ASK, wire.Ask(COUNTED)))
    assert "".join(value["text"] for name, value in events if name == "token") == answer.text
    cited = [(value["start"], value["end"]) for name, value in events if name == "citation"]
    assert cited == [(one.start, one.end) for one in answer.citations] != []
    assert answer.set is not None and events[1][1]["set"]["size"] == answer.set.size


def test_a_question_that_cannot_be_asked_is_a_problem_also_where_a_stream_was_wanted(
    http: httpx.Client,
) -> None:
    for accept in (wire.JSON, wire.EVENTS):
        told = problem_of(send(http, wire.ASK, wire.Ask("?!"), Accept=accept))
        assert told.status == 400 and "no words" in told.detail and told.remedy


def test_a_key_that_a_request_does_not_have_is_refused_by_name(http: httpx.Client) -> None:
    for route, requests in REQUESTS.items():
        path = wire.PREFIX + route.path
        if route.method == "POST":
            response = http.post(path, json={**to_plain(requests[0]), "mood": "happy"})
        else:
            response = http.get(path, params={**wire.parameters_of(requests[0]), "mood": "happy"})
        told = problem_of(response)
        assert told.status == 400 and "the key mood is unknown" in told.detail, route
    within = {
        **to_plain(wire.EditPlan(NARROW, change=Change("where.0"))),
        "change": {"path": "where.0", "mood": 1},
    }
    told = problem_of(http.post(wire.PREFIX + wire.EDIT.path, json=within))
    assert told.status == 400 and "the key change.mood is unknown" in told.detail


@pytest.mark.parametrize(("route", "request_"), CASES)
def test_a_client_sends_only_what_is_asked_for(route: Route[Any, Any], request_: Any) -> None:
    sent, whole = json.loads(wire.body_of(request_)), to_plain(request_)
    assert wire.read_request(route.request, sent) == request_
    assert all(whole[name] == value and value not in (None, "", [], {}) for name, value in sent.items())


def test_an_unknown_mode_is_refused_with_those_that_there_are(http: httpx.Client) -> None:
    for request in (wire.Ask(QUESTION, mode="best"), wire.Retrieve(QUESTION, mode="best")):
        route = wire.ASK if isinstance(request, wire.Ask) else wire.RETRIEVE
        told = problem_of(send(http, route, request))
        assert (told.status, told.remedy) == (400, f"{THERE_ARE}.")


# what is read, and kept by its reader


@pytest.mark.parametrize("path", ["/datasets", f"/entity?iri={ASINOU}", "/search?text=Asinou", "/dataset"])
def test_what_is_read_has_a_tag_and_is_not_sent_twice(http: httpx.Client, path: str) -> None:
    first = http.get(wire.PREFIX + path)
    tag = first.headers["etag"]
    assert (
        first.headers["cache-control"] == "no-cache" and tag == http.get(wire.PREFIX + path).headers["etag"]
    )
    for given in (tag, f'"other", W/{tag}'):
        again = http.get(wire.PREFIX + path, headers={"If-None-Match": given})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    for given in ('"other"', "*", ""):
        assert http.get(wire.PREFIX + path, headers={"If-None-Match": given}).status_code == 200


def test_a_tag_is_that_of_one_address(http: httpx.Client) -> None:
    tag = http.get(f"{wire.PREFIX}/search?text=Asinou").headers["etag"]
    told = http.get(f"{wire.PREFIX}/entity?iri=http://nothing", headers={"If-None-Match": tag})
    assert problem_of(told).status == 404


def test_answers_are_nobodys_to_keep(http: httpx.Client) -> None:
    for response in (
        send(http, wire.ASK, wire.Ask(QUESTION)),
        http.get("/health"),
        http.get("/api/v1/nothing"),
    ):
        assert response.headers["cache-control"] == "no-store" and "etag" not in response.headers


# methods


@pytest.mark.parametrize("route", [*wire.ROUTES, *OWN_ROUTES], ids=lambda one: f"{one.method}{one.path}")
def test_another_method_is_refused_and_told_which_there_are(
    http: httpx.Client, route: Route[Any, Any]
) -> None:
    response = http.request("PATCH", wire.PREFIX + route.path)
    assert problem_of(response).status == 405 and route.method in response.headers["allow"].split(", ")
    asked = http.options(wire.PREFIX + route.path)
    assert asked.status_code == 204 and asked.headers["allow"] == response.headers["allow"]


@pytest.mark.parametrize("path", ["/", "/health", "/api/v1/datasets", "/openapi.json", "/static/favicon.svg"])
def test_head_is_get_without_the_body(http: httpx.Client, path: str) -> None:
    whole, head = http.get(path), http.head(path)
    assert head.status_code == whole.status_code == 200 and head.content == b""
    for name in ("content-length", "content-type", "etag", "cache-control"):
        assert head.headers.get(name) == whole.headers.get(name)


@pytest.mark.parametrize(
    "path", ["/api/v1/nothing", "/api/v1", "/api/v1/ask/", "/nothing", "/static/no.js", "/a"]
)
def test_nothing_is_at_other_addresses(http: httpx.Client, path: str) -> None:
    assert problem_of(http.get(path)).status == 404


def test_files_of_the_page_are_sent_compressed(http: httpx.Client) -> None:
    path = "/static/vendor/preact.js"
    packed, plain = (http.get(path, headers={"Accept-Encoding": how}) for how in ("gzip", "identity"))
    assert packed.headers["content-encoding"] == "gzip" and "content-encoding" not in plain.headers
    assert packed.text == plain.text and int(packed.headers["content-length"]) < len(plain.content) / 2
    again = http.get(path, headers={"Accept-Encoding": "gzip", "If-None-Match": packed.headers["etag"]})
    assert again.status_code == 304 and not again.content


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nothing", "/a", "/e/x/y"])
def test_a_browser_is_told_by_the_page_that_there_is_none(http: httpx.Client, path: str) -> None:
    told, page = http.get(path, headers=BROWSER), http.get("/", headers=BROWSER)
    assert told.status_code == 404 and told.headers["content-type"].startswith("text/html")
    assert told.text == page.text and told.headers["content-security-policy"]
    assert http.head(path, headers=BROWSER).status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/static/no.js"])
def test_a_program_is_told_in_json_whatever_it_takes(http: httpx.Client, path: str) -> None:
    assert problem_of(http.get(path, headers=BROWSER)).status == 404


@pytest.mark.parametrize("page", PAGES)
def test_the_page_is_the_same_at_all_its_addresses(http: httpx.Client, page: str) -> None:
    found = http.get(page.format(id="abc", name="sample"))
    assert found.status_code == 200 and found.headers["content-type"].startswith("text/html")
    assert found.content == http.get("/").content


# requests that cannot be read


@pytest.mark.parametrize(
    ("query", "match"),
    [
        ("text=a&text=b", "twice"),
        ("", "text is missing"),
        ("text=", "nothing to search"),
        ("text=a&limit=many", "limit is not a whole number"),
        ("text=a&limit=1.5", "limit"),
        ("text=a&limit=", "limit"),
        ("text=a&limit=-1", "limit is -1"),
        ("text=a&limit=99999999999999999999", "limit"),
        ("text=a&limit=1e3", "limit"),
        ("text=a&limit=--5", "limit"),
    ],
)
def test_a_query_string_that_cannot_be_read_is_told(http: httpx.Client, query: str, match: str) -> None:
    told = problem_of(http.get(f"{wire.PREFIX}/search?{query}"))
    assert told.status == 400 and match in told.detail and told.remedy and told.error == "QuestionError"


BODIES: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "no JSON"),
    "no json": (b"question=Where", "no JSON"),
    "cut": (b'{"question": "Whe', "no JSON"),
    "nan": (b'{"question": NaN}', "no JSON"),
    "no utf-8": (b'{"question": "\xff"}', "no JSON"),
    "deep": (b"[" * 100_000, "no JSON"),
    "deep and whole": (b'{"question": "a", "conversation": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}", "no JSON"),
    "a list": (b"[]", "object"),
    "a number": (b"7", "object"),
    "null": (b"null", "object"),
    "nothing asked": (b"{}", "question is missing"),
    "another type": (b'{"question": 7}', "question is not a text"),
    "another list": (b'{"question": "a", "history": "b"}', "history is not a list"),
    "half a character": (b'{"question": "\\ud800"}', "no valid Unicode"),
    "half a character in a key": (b'{"question": "a", "conversation": {"\\udfff": 1}}', "no valid Unicode"),
    "an endless number": (b'{"question": "a", "conversation": {"a": ' + b"9" * 10_000 + b"}}", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", BODIES)
@pytest.mark.parametrize("accept", [wire.JSON, wire.EVENTS])
def test_a_body_that_cannot_be_read_is_told(http: httpx.Client, case: str, accept: str) -> None:
    body, match = BODIES[case]
    headers = {"Content-Type": wire.JSON, "Accept": accept}
    told = problem_of(http.post(f"{wire.PREFIX}/ask", content=body, headers=headers))
    assert told.status == 400 and match in told.detail


@pytest.mark.parametrize("host", ["[", "a b", "", "evil.example", "[::1", "a" * 5000])
def test_whatever_host_is_named_the_answer_is_the_same(http: httpx.Client, host: str) -> None:
    response = http.get(f"{wire.PREFIX}/datasets", headers={"Host": host})
    assert response.status_code in (200, 400)
    if response.status_code == 200:
        assert response.json() == http.get(f"{wire.PREFIX}/datasets").json()


# other hosts' pages


def test_pages_of_other_hosts_may_ask_only_where_they_are_named(engine: Engine, http: httpx.Client) -> None:
    asked = {"Origin": "https://museum.example", "Access-Control-Request-Method": "POST"}
    assert "access-control-allow-origin" not in http.options("/api/v1/ask", headers=asked).headers
    app = application(engine, keys=("secret",), origins=("https://museum.example",))
    with served(app) as address, httpx.Client(base_url=address) as client:
        before = client.options(
            "/api/v1/ask", headers=asked | {"Access-Control-Request-Headers": "Content-Type"}
        )
        assert before.status_code == 200
        assert before.headers["access-control-allow-origin"] == "https://museum.example"
        stranger = client.options("/api/v1/ask", headers=asked | {"Origin": "https://evil.example"})
        assert "access-control-allow-origin" not in stranger.headers
        refused = client.get("/api/v1/datasets", headers={"Origin": "https://museum.example"})
        assert refused.status_code == 401, "the page can read why"
        assert refused.headers["access-control-allow-origin"] == "https://museum.example"
        assert "Origin" in refused.headers["vary"]


@pytest.mark.parametrize("format", ["csv", "json", "jsonld", "geojson"])
def test_a_whole_set_is_a_file_at_an_address_of_its_own(
    http: httpx.Client, engine: Engine, format: str
) -> None:
    asked = {"plan": json.dumps(THINGS), "question": "What is there?", "columns": "made_of, located_in"}
    told = http.get(f"{wire.PREFIX}/set.{format}", params=asked)
    made = engine.export(
        wire.GetExport(THINGS, format, question="What is there?", columns=("made_of", "located_in"))
    )
    assert told.status_code == 200 and told.text == made.text
    assert told.headers["content-type"] == made.media_type
    assert told.headers["content-disposition"] == f"attachment; filename*=UTF-8''{made.name}"


def test_a_file_that_cannot_be_made_is_a_problem(http: httpx.Client) -> None:
    for plan in ("{", "[]"):
        assert http.get(f"{wire.PREFIX}/set.csv", params={"plan": plan}).status_code == 400
    assert "plan" in http.get(f"{wire.PREFIX}/set.csv").json()["detail"]


def test_the_interface_is_a_page_that_needs_nothing_from_other_hosts(http: httpx.Client) -> None:
    told = http.get("/docs")
    assert told.status_code == 200 and told.headers["content-type"].startswith("text/html")
    assert all(f"{wire.PREFIX}{route.path}</code>" in told.text for route in (*wire.ROUTES, *OWN_ROUTES))
    loaded = [*re.findall(r'<link[^>]* href="([^"]*)"', told.text), *re.findall(r'src="([^"]*)"', told.text)]
    assert loaded and "<script" not in told.text
    assert all(http.get(address).status_code == 200 for address in loaded if address.startswith("/static/"))
    assert all(address.startswith("/static/") for address in loaded)
