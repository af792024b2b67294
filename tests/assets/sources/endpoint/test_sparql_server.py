"""The endpoint of the tests itself: truthful when nothing is asked of it, and each fault as it is described."""

from __future__ import annotations

import gzip
import http.client
import json
import ssl
import threading
import time
import urllib.request
import zlib
from collections import Counter
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import faults
from tests.support.faults import FaultPlan, InTurn, Poison
from tests.support.sparql_answers import LOGIN_PAGE, sorted_rows
from tests.support.sparql_auth import Auth
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

EX = "http://example.org/"
EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
NUMBER = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
TSV = ox.QueryResultsFormat.TSV
JSON = ox.QueryResultsFormat.JSON
Body = tuple[int, dict[str, str], bytes]


def test_every_format_gives_what_the_store_holds() -> None:
    with serving(_museum()) as server:
        for kind in (TSV, JSON, ox.QueryResultsFormat.XML):
            status, headers, body = _ask(server, EVERYTHING, accept=kind.media_type)
            assert (status, headers["content-type"]) == (200, kind.media_type)
            assert _without_blanks(_rows(body, kind)) == _without_blanks(_truth(server))
        assert server.failures == []


@settings(max_examples=30)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), min_size=1, max_size=5))
def test_no_text_is_changed_on_its_way(texts: list[str]) -> None:
    quads = [ox.Quad(_n("s"), _n("p"), ox.Literal(text)) for text in texts]
    quads += [ox.Quad(_n("s"), _n("p"), ox.Literal(text, language="en")) for text in texts]
    with serving(quads) as server:
        for kind in (TSV, JSON):
            assert Counter(_rows(_ask(server, EVERYTHING, accept=kind.media_type)[2], kind)) == _truth(server)


def test_queries_come_by_post_and_get() -> None:
    with serving(_museum()) as server:
        address = urlsplit(server.url)
        form = urllib.request.urlopen(server.url, urlencode({"query": NUMBER}).encode()).read()
        body = _ask(server, NUMBER)[2]
        got = urllib.request.urlopen(f"{server.url}?{urlencode({'query': NUMBER})}").read()
        assert _number(form, JSON) == _number(body) == _number(got, JSON) == len(server.store)
        assert [record.method for record in server.log] == ["POST", "POST", "GET"]
        assert address.hostname == "127.0.0.1"


def test_ask_is_answered_and_nonsense_is_refused() -> None:
    with serving(_museum()) as server:
        assert json.loads(_ask(server, "ASK { ?s ?p ?o }", accept="application/json")[2])["boolean"] is True
        status, _, body = _ask(server, "SELECT ?s WHERE {")
        assert status == 400 and b"Syntax error" in body
        assert _ask(server, NUMBER, accept="text/turtle")[0] == 406


def test_graphs_may_be_named_by_parameters() -> None:
    quads = [ox.Quad(_n("a"), _n("p"), _n("b"), _n("g1")), ox.Quad(_n("a"), _n("p"), _n("c"), _n("g2"))]
    with serving(quads) as server:
        one = urlencode({"query": NUMBER, "default-graph-uri": EX + "g1"}).encode()
        assert _number(urllib.request.urlopen(server.url, one).read(), JSON) == 1
        assert _number(_ask(server, NUMBER)[2]) == 0
    with serving(quads, union=True) as server:
        assert _number(_ask(server, NUMBER)[2]) == 2


@pytest.mark.parametrize(
    "update",
    ["INSERT DATA { <a:b> <a:b> <a:b> }", "PREFIX a: <a:>\n# all\nDELETE WHERE { ?s ?p ?o }", "clear all"],
)
def test_updates_are_refused_and_remembered(update: str) -> None:
    with serving(_museum()) as server:
        before = len(server.store)
        for field in ("query", "update"):
            with pytest.raises(HTTPError, match="400"):
                urllib.request.urlopen(server.url, urlencode({field: update}).encode())
        assert _ask(server, update, kind="application/sparql-update")[0] == 400
        assert _ask(server, "x", method="DELETE")[0] == 400
        assert len(server.updates) == 4 and len(server.store) == before


def test_words_in_strings_and_iris_are_no_updates() -> None:
    with serving(_museum()) as server:
        _ask(server, 'SELECT ?s WHERE { ?s <http://a/#DELETE> "INSERT DATA" }')
        assert server.updates == [] and server.log[0].status == 200


def test_labels_of_blank_nodes_hold_within_one_response_only() -> None:
    nodes = [ox.BlankNode() for _ in range(20)]
    quads = [ox.Quad(node, _n("n"), ox.Literal(str(n))) for n, node in enumerate(nodes)]
    quads += [ox.Quad(node, _n("same"), node) for node in nodes]
    with serving(quads) as server:
        once, again = (_rows(_ask(server, EVERYTHING)[2]) for _ in range(2))
        names = [{row[2].value: row[0].value for row in rows if row[1] == _n("n")} for rows in (once, again)]
        assert names[0] != names[1]
        assert all(row[0] == row[2] for row in once + again if row[1] == _n("same"))
        assert set(names[0].values()) == set(names[1].values()) == {f"b{n}" for n in range(20)}


def test_row_cap_is_silent() -> None:
    with serving(_museum(), row_cap=3) as server:
        status, headers, body = _ask(server, EVERYTHING)
        assert status == 200 and len(_rows(body)) == 3 and set(headers) == {
            "server", "date", "content-type", "content-length", "connection",
        }  # fmt: skip
        assert len(_rows(_ask(server, EVERYTHING + " LIMIT 2")[2])) == 2
        assert _number(_ask(server, NUMBER)[2]) == len(server.store)


def test_sorting_and_counting_may_be_refused() -> None:
    in_order = EVERYTHING + " ORDER BY STR(?s)"
    with serving(_museum(), sort_limit=10) as server:
        assert [_ask(server, in_order + tail)[0] for tail in ("", " LIMIT 11", " LIMIT 10")] == [
            500,
            500,
            200,
        ]
        assert b"SR353" in _ask(server, in_order)[2]
    with serving(_museum(), no_sort=True, no_count=True) as server:
        assert [_ask(server, query)[0] for query in (in_order, NUMBER, EVERYTHING)] == [400, 400, 200]


def test_limit_belongs_to_its_own_order() -> None:
    inner = "SELECT * { { SELECT ?s { ?s ?p 'ORDER BY' } ORDER BY ?s LIMIT 5 } } ORDER BY DESC(?s) OFFSET 3"
    assert sorted_rows(inner) == [5, None]


def test_rows_may_come_in_another_order_each_time() -> None:
    with serving((ox.Quad(_n(str(n)), _n("p"), _n("o")) for n in range(50)), shuffle=True) as server:
        bodies = [_ask(server, EVERYTHING)[2] for _ in range(2)]
        assert bodies[0] != bodies[1] and Counter(_rows(bodies[0])) == Counter(_rows(bodies[1]))
        in_order = EVERYTHING + " ORDER BY ?s"
        assert _ask(server, in_order)[2] == _ask(server, in_order)[2]


def test_mangled_tsv_is_wrong_where_json_is_right() -> None:
    quads = [ox.Quad(_n("s"), _n("p"), ox.Literal('a\tb\n"c"', language="el"))]
    with serving(quads, mangled_tsv=True) as server:
        assert _ask(server, EVERYTHING)[2].decode().endswith('\t"a\tb\n"c""\n')
        assert Counter(_rows(_ask(server, EVERYTHING, accept=JSON.media_type)[2], JSON)) == _truth(server)


def test_virtuoso_writes_its_own_tsv_and_json() -> None:
    number = ox.Literal("1", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer"))
    quads = [
        ox.Quad(_n("s"), _n("p"), value)
        for value in (number, ox.BlankNode(), ox.Literal('é "x"', language="el"))
    ]
    with serving(quads, like_virtuoso=True) as server:
        head, *lines = _ask(server, EVERYTHING)[2].decode().splitlines()
        assert head == '"s"\t"p"\t"o"'
        same = f'"{EX}s"\t"{EX}p"\t'
        assert sorted(lines) == sorted(same + value for value in ("1", '"nodeID://b0"', '"é ""x"""'))
        cells = [
            row["o"]
            for row in json.loads(_ask(server, EVERYTHING, accept=JSON.media_type)[2])["results"]["bindings"]
        ]
        assert {cell["type"]: cell["value"] for cell in cells} == {
            "typed-literal": "1", "bnode": "nodeID://b0", "literal": 'é "x"',
        }  # fmt: skip


def test_long_lists_of_iris_may_be_refused() -> None:
    queries = [f"SELECT * {{ VALUES ?s {{ {'<a:b> ' * n} }} ?s ?p ?o }}" for n in (3, 4)]
    with serving(_museum(), values_limit=3) as server:
        assert [_ask(server, query)[0] for query in queries] == [200, 400]
        assert b"Too many arguments" in _ask(server, queries[1])[2]


def test_formats_are_those_offered() -> None:
    with serving(_museum(), formats=("xml",)) as server:
        assert _ask(server, NUMBER, accept=TSV.media_type)[0] == 406
        preferred = f"{TSV.media_type}, application/sparql-results+xml;q=0.5"
        assert _ask(server, NUMBER, accept=preferred)[1]["content-type"] == "application/sparql-results+xml"


def test_gzip_for_those_who_take_it() -> None:
    with serving(_museum(), compress=True) as server:
        _, headers, body = _ask(server, NUMBER, encoding="gzip")
        assert headers["content-encoding"] == "gzip" and _number(gzip.decompress(body)) == len(server.store)
        assert "content-encoding" not in _ask(server, NUMBER)[1]


def test_latency_is_kept() -> None:
    with serving(latency=0.1) as server:
        start = time.monotonic()
        _ask(server, NUMBER)
        assert time.monotonic() - start >= 0.1


@pytest.mark.parametrize("kind", ["basic", "digest", "bearer"])
def test_only_those_signed_in_are_answered(kind: Any) -> None:
    auth = Auth(kind)
    with serving(_museum(), auth=auth) as server:
        assert _ask(server, NUMBER)[0] == 401
        assert _signed(server, auth, auth.password, auth.token) == len(server.store)
        with pytest.raises(HTTPError, match="401"):
            _signed(server, auth, "wrong", "wrong")


def test_tls_is_trusted_by_its_certificate_alone() -> None:
    with serving(_museum(), tls=True) as server:
        trusting = ssl.create_default_context(cafile=str(server.certificate))
        request = urllib.request.Request(server.url, urlencode({"query": NUMBER}).encode())
        assert _number(urllib.request.urlopen(request, context=trusting).read(), JSON) == len(server.store)
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            urllib.request.urlopen(request, context=ssl.create_default_context())
        assert server.failures == []


def test_the_store_may_change_at_a_given_request() -> None:
    quad = ox.Quad(_n("new"), _n("p"), _n("o"))
    with serving(_museum()) as server:
        old = next(iter(server.store))
        server.before(2, lambda: server.change(add=[quad]))
        server.before(3, lambda: server.change(remove=[quad, old]))
        numbers = [_number(_ask(server, NUMBER)[2]) for _ in range(3)]
        assert numbers == [numbers[0], numbers[0] + 1, numbers[0] - 1]


def test_simultaneous_requests_are_counted() -> None:
    with serving(latency=0.2) as server:
        threads = [threading.Thread(target=_ask, args=(server, NUMBER)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert server.busiest == 3 and len(server.log) == 3


# Faults, as they are on the wire.


def test_names_of_faults_are_unique() -> None:
    assert max(Counter(fault.name for fault in faults.ALL).values()) == 1 and len(faults.ALL) >= 18


@pytest.mark.parametrize(
    "fault", [one for one in faults.ALL if one.name != "trickle"], ids=lambda one: one.name
)
def test_each_fault_strikes_once_and_is_named_in_the_log(fault: faults.Fault) -> None:
    query = NUMBER if fault.applies(NUMBER) and not fault.applies(EVERYTHING) else EVERYTHING
    with serving(_museum(), [InTurn(None, fault)]) as server:
        truth = Counter(_without_blanks(_rows(_ask(server, query.replace("?o }", "?o } LIMIT 3"))[2])))
        wrong = _outcome(server, query)
        right = _ask(server, query)
        assert [record.fault for record in server.log if record.path == "/sparql"] == ["", fault.name, ""]
        assert wrong != (right[0], right[1].get("content-type"), _sortable(right[2])) and truth
        assert server.failures == []


def test_time_out_says_nothing_until_the_client_is_gone() -> None:
    with serving(_museum(), [InTurn(faults.TIME_OUT)]) as server:
        with pytest.raises(TimeoutError):
            _ask(server, NUMBER, timeout=0.1)
        assert server.log[0].status == 0


def test_a_trickle_is_slow_and_true() -> None:
    with serving(_museum(), [InTurn(_fault("trickle"))]) as server:
        start = time.monotonic()
        body = _ask(server, NUMBER)[2]
        assert _number(body) == len(server.store)
        assert time.monotonic() - start >= 0.05 * (len(body) - 1)


def test_connections_break_before_and_within_the_body() -> None:
    broken = [_fault(name) for name in ("reset", "closed in body", "chunks cut")]
    with serving(_museum(), [InTurn(*broken)]) as server:
        with pytest.raises(ConnectionResetError):
            _ask(server, EVERYTHING)
        with pytest.raises(http.client.IncompleteRead):
            _ask(server, EVERYTHING)
        with pytest.raises(http.client.IncompleteRead):
            _ask(server, EVERYTHING)


@pytest.mark.parametrize(("name", "whole"), [("cut at line end", True), ("cut in line", False)])
def test_cut_bodies_have_no_length(name: str, whole: bool) -> None:
    with serving(_museum(), [InTurn(*[_fault(name)] * 5)], relabel=False) as server:
        cuts = [_ask(server, EVERYTHING + " " * n) for n in range(5)]
        full = _ask(server, EVERYTHING)[2]
        for status, headers, body in cuts:
            assert status == 200 and "content-length" not in headers and "transfer-encoding" not in headers
            assert full.startswith(body) and len(body) < len(full) and body.endswith(b"\n") is whole


def test_busy_servers_say_when_to_come_back() -> None:
    with serving(faults=[InTurn(*(_fault(n) for n in ("429 seconds", "429 date", "429", "503")))]) as server:
        answers = [_ask(server, NUMBER) for _ in range(4)]
        assert [answer[0] for answer in answers] == [429, 429, 429, 503]
        seconds, date, nothing, also = (answer[1].get("retry-after") for answer in answers)
        assert (seconds, nothing, also) == ("0", None, "0") and date is not None
        assert abs(parsedate_to_datetime(date).timestamp() - time.time()) < 5
        own = faults.refusal(429, retry_after="7")
        assert own.name == "status 429"


def test_spoilt_gzip_cannot_be_unpacked() -> None:
    spoilt = [_fault("gzip broken"), _fault("gzip truncated"), _fault("gzip unasked")]
    with serving(_museum(), [InTurn(*spoilt)]) as server:
        broken, truncated, whole = (_ask(server, EVERYTHING) for _ in range(3))
        assert {answer[1]["content-encoding"] for answer in (broken, truncated, whole)} == {"gzip"}
        with pytest.raises((zlib.error, gzip.BadGzipFile)):
            gzip.decompress(broken[2])
        with pytest.raises(EOFError):
            gzip.decompress(truncated[2])
        assert len(_rows(gzip.decompress(whole[2]))) == len(server.store)


def test_login_pages_come_with_status_200() -> None:
    names = ("login page", "login page as results", "redirect to login")
    with serving(_museum(), [InTurn(*map(_fault, names))]) as server:
        page, disguised, redirected = (_ask(server, EVERYTHING) for _ in names)
        assert page[0] == disguised[0] == 200 and page[2] == disguised[2] == LOGIN_PAGE.body
        assert page[1]["content-type"].startswith("text/html")
        assert disguised[1]["content-type"] == TSV.media_type
        assert redirected[0] == 302
        assert urllib.request.urlopen(redirected[1]["location"]).read() == LOGIN_PAGE.body


def test_redirects_lead_elsewhere_or_nowhere() -> None:
    names = ("moved 307", "moved 308", "redirect loop 302", "redirect loop 307")
    with serving(_museum(), [InTurn(*map(_fault, names)), FaultPlan(1, rate=1)]) as server:
        answers = [_ask(server, NUMBER) for _ in names]
        assert [answer[0] for answer in answers] == [307, 308, 302, 307]
        *moved, loop, other_loop = (answer[1]["location"] for answer in answers)
        assert moved == [server.url_of("/moved")] * 2
        assert _number(_ask(server, NUMBER, path="/moved")[2]) == len(server.store)
        for location in (loop, other_loop):
            assert _ask(server, NUMBER, path=urlsplit(location).path)[1]["location"] == location


def test_formats_may_be_mislabelled() -> None:
    names = ("text/plain", "octet-stream", "JSON instead", "JSON as TSV")
    with serving(_museum(), [InTurn(*map(_fault, names))]) as server:
        plain, binary, told, untold = (_ask(server, NUMBER) for _ in names)
        assert [answer[1]["content-type"] for answer in (plain, binary, told, untold)] == [
            "text/plain", "application/octet-stream", JSON.media_type, TSV.media_type,
        ]  # fmt: skip
        assert _number(plain[2]) == _number(binary[2]) == len(server.store)
        assert _number(told[2], JSON) == _number(untold[2], JSON) == len(server.store)


def test_an_engine_may_fail_after_some_rows() -> None:
    with serving(_museum(), [InTurn(_fault("error in body"))], relabel=False) as server:
        status, headers, body = _ask(server, EVERYTHING)
        *rows, error = body.decode().splitlines(keepends=True)
        assert status == 200 and int(headers["content-length"]) == len(body)
        assert error.startswith("Virtuoso S1T00") and len(rows) > 1
        assert _ask(server, EVERYTHING)[2].decode().startswith("".join(rows))


def test_untrue_answers_are_well_formed() -> None:
    a, b = (f"SELECT ?p ?o WHERE {{ <{EX}{name}> ?p ?o }}" for name in ("amphora", "potter"))
    untrue = [_fault(name) for name in ("other rows", "last rows missing", "count too high")]
    with serving(_museum(), [InTurn(None, None, *untrue)]) as server:
        truth, other, lie = (Counter(_rows(_ask(server, query)[2])) for query in (a, b, a))
        assert lie == other != truth
        fewer = Counter(_rows(_ask(server, a)[2]))
        assert fewer < truth
        assert _number(_ask(server, NUMBER)[2]) > len(server.store) == _number(_ask(server, NUMBER)[2])


def test_a_fault_that_finds_nothing_to_spoil_is_not_in_the_log() -> None:
    with serving(faults=[InTurn(_fault("last rows missing"), _fault("other rows"))]) as server:
        assert [_rows(_ask(server, EVERYTHING)[2]) for _ in range(2)] == [[], []]
        assert server.faults == Counter()


def test_incomplete_answers_say_so_in_a_header() -> None:
    with serving(_museum(), [InTurn(*[_fault("incomplete")] * 2)]) as server:
        rows, number = _ask(server, EVERYTHING), _ask(server, NUMBER)
        assert rows[0] == number[0] == 200 and rows[1]["x-sql-state"] == number[1]["x-sql-state"] == "S1TAT"
        assert len(_rows(rows[2])) < len(server.store) > _number(number[2])


# Plans.


def test_the_same_seed_strikes_the_same_requests_in_any_order() -> None:
    queries = [f"SELECT ?s WHERE {{ ?s ?p {n} }}" for n in range(50)]
    one, other, third = FaultPlan(7), FaultPlan(7), FaultPlan(8)
    chosen = {query: one.choose(query) for query in queries}
    assert chosen == {query: other.choose(query) for query in reversed(queries)}
    assert chosen != {query: third.choose(query) for query in queries}


@given(st.integers(), st.integers(1, 3))
def test_no_query_is_struck_too_often_in_a_row(seed: int, most: int) -> None:
    plan = FaultPlan(seed, rate=0.9, at_most_in_a_row=most)
    struck = "".join("x" if plan.choose(NUMBER) else " " for _ in range(40))
    assert "x" * (most + 1) not in struck and "x" in struck


def test_every_fault_gets_its_turn() -> None:
    plan = FaultPlan(3, rate=1, at_most_in_a_row=10**6)
    chosen = {plan.choose(query) for _ in range(500) for query in (NUMBER, EVERYTHING)}
    assert chosen == set(faults.ALL)


def test_poison_strikes_whoever_names_the_iri() -> None:
    poison = [Poison(EX + "amphora"), Poison(EX + "potter", faults.refusal(400, "Bad IRI"))]
    with serving(_museum(), poison) as server:
        named = [
            f"SELECT ?p WHERE {{ VALUES ?s {{ <{EX}{name}> }} ?s ?p ?o }}"
            for name in ("amphora", "potter", "p")
        ]
        assert [_ask(server, query)[0] for query in named] == [500, 400, 200]
        assert _ask(server, EVERYTHING)[0] == 200
        assert [_ask(server, named[0])[0] for _ in range(5)] == [500] * 5


def _museum() -> list[ox.Quad]:
    """Terms of all kinds, with all that needs escapes."""
    place, span = ox.BlankNode(), ox.BlankNode()
    values: list[ox.NamedNode | ox.Literal | ox.BlankNode] = [
        _n("potter"),
        ox.Literal('tab\t, line\n, return\r, "quotes", \\n and 𐍈'),
        ox.Literal("Αμφορέας", language="el"),
        ox.Literal(""),
        ox.Literal("0480", datatype=_n("year")),
        ox.Literal("7", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#integer")),
        ox.Literal("_:b0"),
        ox.NamedNode("http://example.org/é/𐍈?a=1&b='2'"),
        place,
    ]
    quads = [ox.Quad(_n("amphora"), _n(f"p{n}"), value) for n, value in enumerate(values)]
    names = [ox.Quad(_n("potter"), _n("name"), ox.Literal(name)) for name in ("Exekias", "Ἐξηκίας")]
    return [*quads, *names, ox.Quad(place, _n("during"), span), ox.Quad(span, _n("within"), _n("potter"))]


def _n(name: str) -> ox.NamedNode:
    return ox.NamedNode(EX + name)


def _fault(name: str) -> faults.Fault:
    return next(fault for fault in faults.ALL if fault.name == name)


def _ask(
    server: Endpoint,
    query: str,
    accept: str = TSV.media_type,
    method: str = "POST",
    kind: str = "application/sparql-query",
    encoding: str = "identity",
    path: str = "/sparql",
    timeout: float = 5,
) -> Body:
    """What comes back for one request, redirects not followed."""
    address = urlsplit(server.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=timeout)
    try:
        headers = {"Accept": accept, "Content-Type": kind, "Accept-Encoding": encoding}
        connection.request(method, path, query.encode(), headers)
        response = connection.getresponse()
        body = response.read()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, body
    finally:
        connection.close()


def _outcome(server: Endpoint, query: str) -> object:
    """Status, content type and body in an order of its own, or the error."""
    start = time.monotonic()
    try:
        status, headers, body = _ask(server, query, timeout=0.2)
    except (OSError, http.client.HTTPException) as error:
        return type(error), time.monotonic() - start
    return status, headers.get("content-type"), _sortable(body), headers.get("content-encoding")


def _sortable(body: bytes) -> list[bytes]:
    return sorted(body.splitlines())


def _rows(body: bytes, kind: ox.QueryResultsFormat = TSV) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in ox.parse_query_results(body, kind)]  # type: ignore[union-attr]


def _number(body: bytes, kind: ox.QueryResultsFormat = TSV) -> int:
    return int(_rows(body, kind)[0][0].value)


def _truth(server: Endpoint) -> Counter[tuple[Any, ...]]:
    return Counter((quad.subject, quad.predicate, quad.object) for quad in server.store)


def _without_blanks(rows: Any) -> Counter[tuple[Any, ...]]:
    """Rows with blank nodes made equal, since their labels are nobody's."""
    return Counter(tuple("" if isinstance(term, ox.BlankNode) else term for term in row) for row in rows)


def _signed(server: Endpoint, auth: Auth, password: str, token: str) -> int:
    """The number of triples as told to one who signs in as urllib does."""
    headers = {"Authorization": f"Bearer {token}"} if auth.kind == "bearer" else {}
    request = urllib.request.Request(server.url, urlencode({"query": NUMBER}).encode(), headers)
    if auth.kind == "bearer":
        return _number(urllib.request.urlopen(request).read(), JSON)
    keys = urllib.request.HTTPPasswordMgrWithDefaultRealm()
    keys.add_password(None, server.url, auth.user, password)
    basic, digest = urllib.request.HTTPBasicAuthHandler(keys), urllib.request.HTTPDigestAuthHandler(keys)
    opener = urllib.request.build_opener(basic if auth.kind == "basic" else digest)
    return _number(opener.open(request).read(), JSON)
