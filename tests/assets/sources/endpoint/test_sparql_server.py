"""The endpoint of the tests itself: truthful when nothing is asked of it, and its faults are what they are called.

What shows on the wire (time-outs, broken bodies, redirects, signing in, TLS) is shown by `test_transport`.
"""

from __future__ import annotations

import http.client
import urllib.request
from collections import Counter
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

import pyoxigraph as ox
import pytest

from tests.support import faults
from tests.support.endpoints import EX, SPECIMENS, quad
from tests.support.faults import NAMED, InTurn, Poison
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
NUMBER = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
IN_ORDER = EVERYTHING + " ORDER BY STR(?s)"
LISTED = "SELECT * {{ VALUES ?s {{ {} }} ?s ?p ?o }}"
TSV, JSON, XML = ox.QueryResultsFormat.TSV, ox.QueryResultsFormat.JSON, ox.QueryResultsFormat.XML
MUSEUM = [quad("amphora", f"p{n}", value) for n, value in enumerate(SPECIMENS)]
MUSEUM += [quad("potter", "name", ox.Literal(name)) for name in ("Exekias", "Ἐξηκίας")]


def ask(
    server: Endpoint,
    query: str,
    accept: str = TSV.media_type,
    method: str = "POST",
    kind: str = "application/sparql-query",
    encoding: str = "identity",
    timeout: float = 5,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of one response, redirects not followed."""
    address = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=timeout)
    try:
        headers = {"Accept": accept, "Content-Type": kind, "Accept-Encoding": encoding}
        connection.request(method, address.path, query.encode(), headers)
        response = connection.getresponse()
        body = response.read()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, body
    finally:
        connection.close()


def rows_of(body: bytes, kind: ox.QueryResultsFormat = TSV) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in ox.parse_query_results(body, kind)]  # type: ignore[union-attr]


def number_of(body: bytes, kind: ox.QueryResultsFormat = TSV) -> int:
    return int(rows_of(body, kind)[0][0].value)


def truth(server: Endpoint) -> Counter[tuple[Any, ...]]:
    return unlabelled((one.subject, one.predicate, one.object) for one in server.store)


def unlabelled(rows: Any) -> Counter[tuple[Any, ...]]:
    """Rows with blank nodes made equal, since their labels are nobody's."""
    return Counter(tuple("" if isinstance(term, ox.BlankNode) else term for term in row) for row in rows)


# What it answers.


@pytest.mark.parametrize(
    "update",
    ["INSERT DATA { <a:b> <a:b> <a:b> }", "PREFIX a: <a:>\n# all\nDELETE WHERE { ?s ?p ?o }", "clear all"],
)
def test_updates_are_refused_and_remembered(update: str) -> None:
    with serving(MUSEUM) as server:
        before = len(server.store)
        for field in ("query", "update"):
            with pytest.raises(HTTPError, match="400"):
                urllib.request.urlopen(server.url, urlencode({field: update}).encode())
        assert ask(server, update, kind="application/sparql-update")[0] == 400
        assert ask(server, "x", method="DELETE")[0] == 400
        assert len(server.updates) == 4 and len(server.store) == before
        ask(server, 'SELECT ?s WHERE { ?s <http://a/#DELETE> "INSERT DATA" }')
        assert len(server.updates) == 4 and server.log[-1].status == 200  # words in strings and IRIs


# What it cannot do.


@pytest.mark.parametrize(
    ("options", "statuses"),
    [
        ({"sort_limit": 10}, {IN_ORDER: 500, IN_ORDER + " LIMIT 11": 500, IN_ORDER + " LIMIT 10": 200}),
        ({"no_sort": True, "no_count": True}, {IN_ORDER: 400, NUMBER: 400, EVERYTHING: 200}),
        ({"values_limit": 3}, {LISTED.format("<a:b> " * 3): 200, LISTED.format("<a:b> " * 4): 400}),
        ({"formats": ("xml",)}, {NUMBER: 406}),
    ],
    ids=["sort limit", "no sort", "VALUES", "XML"],
)  # fmt: skip
def test_what_it_cannot_do_is_refused(options: dict[str, Any], statuses: dict[str, int]) -> None:
    with serving(MUSEUM, **options) as server:
        assert {query: ask(server, query)[0] for query in statuses} == statuses


def test_a_row_cap_is_silent() -> None:
    with serving(MUSEUM, row_cap=3) as server:
        status, headers, body = ask(server, EVERYTHING)
        assert status == 200 and len(rows_of(body)) == 3
        assert set(headers) == {"server", "date", "content-type", "content-length", "connection"}
        assert len(rows_of(ask(server, EVERYTHING + " LIMIT 2")[2])) == 2
        assert number_of(ask(server, NUMBER)[2]) == len(server.store)


# Faults.


@pytest.mark.parametrize(
    "fault", [one for one in faults.ALL if one.name != "trickle"], ids=lambda one: one.name
)
def test_each_fault_strikes_once_and_is_named_in_the_log(fault: faults.Fault) -> None:
    query = NUMBER if fault.applies(NUMBER) and not fault.applies(EVERYTHING) else EVERYTHING

    def outcome(timeout: float) -> object:
        try:
            status, headers, body = ask(server, query, timeout=timeout)
        except (OSError, http.client.HTTPException) as error:
            return type(error)
        return status, headers.get("content-type"), sorted(body.splitlines()), headers.get("content-encoding")

    with serving(MUSEUM, [InTurn(None, fault)]) as server:
        ask(server, query.replace("?o }", "?o } LIMIT 3"))
        assert outcome(0.2) != outcome(5)
        assert [record.fault for record in server.log if record.path == "/sparql"] == ["", fault.name, ""]
        assert server.failures == [] and list(NAMED.values()) == list(faults.ALL)


def test_untrue_answers_are_well_formed() -> None:
    a, b = (f"SELECT ?p ?o WHERE {{ <{EX}{name}> ?p ?o }}" for name in ("amphora", "potter"))
    untrue = [NAMED[name] for name in ("other rows", "last rows missing", "count too high", "incomplete")]
    with serving(MUSEUM, [InTurn(None, None, *untrue)]) as server:
        true, other, lie, fewer = (unlabelled(rows_of(ask(server, query)[2])) for query in (a, b, a, a))
        assert lie == other != true and fewer < true
        assert number_of(ask(server, NUMBER)[2]) > len(server.store)
        _, headers, body = ask(server, EVERYTHING)
        assert headers["x-sql-state"] == "S1TAT" and len(rows_of(body)) < len(server.store)
    with serving(faults=[InTurn(*untrue[:2])]) as server:  # which find nothing to spoil
        assert [rows_of(ask(server, EVERYTHING)[2]) for _ in range(2)] == [[], []]
        assert server.faults == Counter()


# Plans.


def test_poison_strikes_whoever_names_the_iri() -> None:
    poison = [Poison(EX + "amphora"), Poison(EX + "potter", faults.refusal(400, "Bad IRI"))]
    with serving(MUSEUM, poison) as server:
        queries = {
            name: f"SELECT ?p WHERE {{ VALUES ?s {{ <{EX}{name}> }} ?s ?p ?o }}"
            for name in ("amphora", "potter", "p")
        }
        assert [ask(server, query)[0] for query in queries.values()] == [500, 400, 200]
        assert ask(server, EVERYTHING)[0] == 200 and ask(server, queries["amphora"])[0] == 500
