"""One request: bounded in time and size, redirected with its query and without its secrets, and never anything but SELECT."""

from __future__ import annotations

import gzip
import time
import tracemalloc
import zlib
from email.utils import formatdate
from typing import Any

import pyoxigraph as ox
import pytest

from crmrag_assets.sources.endpoint.client import HOPS, Credentials, Failure, Response, Transport
from crmrag_assets.sources.endpoint.results import JSON, TSV
from tests.support.endpoints import EX, quad, star
from tests.support.faults import NAMED, Fault, InTurn, redirected, refusal, replied
from tests.support.sparql_answers import TYPES, Answer, redirect
from tests.support.sparql_auth import Auth
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

NUMBER = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
BODY = b"?n\n36\n"
SECRET = Credentials("keeper", "pass:word", headers={"X-Api-Key": "k3y"})


def ask(
    server: Endpoint | str,
    query: str = NUMBER,
    format: ox.QueryResultsFormat = TSV,
    credentials: Credentials = Credentials(),  # noqa: B008 (frozen)
    seconds: float = 5.0,
    size: int = 1 << 20,
) -> Response:
    url = server if isinstance(server, str) else server.url
    return Transport(url, "CRM-RAG/test (us@example.org)", credentials, seconds, size).send(query, format)


def fails(server: Endpoint | str, **options: Any) -> Failure:
    with pytest.raises(Failure) as failure:
        ask(server, **options)
    return failure.value


def scripted(body: bytes, **headers: str) -> Fault:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return replied("scripted", Answer(body, TYPES["tsv"], headers=named))


def test_a_query_is_posted_with_what_we_are_and_what_we_take() -> None:
    with serving(star()) as server:
        response = ask(server)
        assert (response.body, response.content_type, response.url) == (
            BODY,
            "text/tab-separated-values",
            server.url,
        )
        assert ask(server, format=JSON).content_type == "application/sparql-results+json"
        first, second = server.log
        assert (first.method, first.query) == ("POST", NUMBER)
        assert first.headers["user-agent"] == "CRM-RAG/test (us@example.org)"
        assert first.headers["accept-encoding"] == "gzip"
        assert "text/tab-separated-values" in first.accept and TYPES["json"] in second.accept
        assert not {"authorization", "cookie"} & set(first.headers)


@pytest.mark.parametrize(
    "text",
    [
        "INSERT DATA { <a:b> <a:b> <a:b> }",
        "DELETE WHERE { ?s ?p ?o }",
        "PREFIX a: <a:>\n# SELECT\nDELETE WHERE { ?s ?p ?o }",
        "BASE <http://SELECT/> CLEAR ALL",
        "WITH <a:b> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "LOAD <http://example.org/x>",
        "DROP ALL ; SELECT * { ?s ?p ?o }",
        "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "DESCRIBE <a:b>",
        "ASK { ?s ?p ?o }",
    ],
)
def test_nothing_but_select_leaves_the_house(text: str) -> None:
    with serving(star()) as server:
        with pytest.raises(ValueError, match="only SELECT"):
            ask(server, text)
        assert server.log == []


# Time and size.


@pytest.mark.parametrize("name", ["time-out", "trickle"])
def test_a_response_has_so_many_seconds_in_all(name: str) -> None:
    """Also where every single byte comes in time."""
    with serving(star(), [InTurn(NAMED[name])]) as server:
        start = time.monotonic()
        failure = fails(server, query=EVERYTHING, seconds=0.3)
        assert 0.25 < time.monotonic() - start < 3
        assert failure.reason == "no whole response within 0.3 s" and not failure.unreachable


def test_redirects_share_the_time_of_their_request() -> None:
    with serving(star(), [InTurn(*[redirected("again", 307, "/sparql")] * 9)], latency=0.1) as server:
        start = time.monotonic()
        failure = fails(server, seconds=0.25)
        assert failure.reason.startswith("no whole response within 0.25 s")
        assert len(server.log) < 6 and time.monotonic() - start < 5


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_response_has_so_many_bytes_whatever_its_encoding(packed: Any) -> None:
    body = b"?n\n" + b"1\n" * 5000
    headers = {} if packed is bytes else {"Content_Encoding": "gzip"}
    with serving(faults=[InTurn(*[scripted(packed(body), **headers)] * 2)]) as server:
        assert ask(server, size=len(body)).body == body
        failure = fails(server, size=len(body) - 1)
        assert (failure.code, "more than 10,002 bytes" in failure.reason) == (413, True)


def test_a_bomb_of_gzip_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    assert len(bomb) < 80_000
    with serving(faults=[InTurn(scripted(bomb, Content_Encoding="gzip"))]) as server:
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        assert fails(server, size=1 << 20).code == 413
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak - before < 8 << 20


def test_gzip_is_unpacked_member_by_member_and_counted_as_it_came() -> None:
    """RFC 1952: members simply appear one after another; what follows the first must not be lost."""
    packed = b"".join(gzip.compress(part) for part in (b"?n\n", b"36\n", b"37\n"))
    answers = [scripted(body, Content_Encoding="gzip") for body in (packed, packed[:-9])]
    deflated = scripted(zlib.compress(BODY), Content_Encoding="deflate")
    with serving(star(), [InTurn(deflated, *answers)], compress=True) as server:
        assert ask(server).body == BODY
        assert ask(server).body == b"?n\n36\n37\n"
        assert "cut off or damaged" in fails(server).reason
        response = ask(server, EVERYTHING)
        assert response.headers["content-encoding"] == "gzip"
        assert response.body.count(b"\n") == 37 and response.transferred < len(response.body)


# What comes back in place of a response.

PACKED = Answer(gzip.compress(b"no such graph"), status=400, headers={"Content-Encoding": "gzip"})
ADDRESSES = ("file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "http://[")
FAILURES = [
    *((NAMED[name], 0, "cut off or damaged") for name in ("gzip broken", "gzip truncated", "closed in body", "chunks cut")),
    *((NAMED[name], 0, f"more than {HOPS} times") for name in ("redirect loop 302", "redirect loop 307")),
    *((replied(address, redirect(302, address)), 0, "redirects to") for address in ADDRESSES),
    (refusal(302), 302, "status 302 Found"),  # without an address
    (scripted(b"x", Content_Encoding="br"), 0, "an encoding that was not asked for (br)"),
    (scripted(BODY, X_SQL_State="S1TAT"), 0, "a part of the result"),
    (refusal(500, "Virtuoso 42000 Error\n\n" + "x" * 5000), 500, "Virtuoso 42000 Error xxx"),
    (NAMED["502"], 502, "status 502 Bad Gateway"),
    (refusal(400, ""), 400, "status 400 Bad Request"),
    (replied("packed", PACKED), 400, "status 400 Bad Request: no such graph"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "code", "reason"), FAILURES, ids=lambda one: getattr(one, "name", ""))
def test_a_failure_tells_what_came_in_few_words_but_no_page(fault: Fault, code: int, reason: str) -> None:
    with serving(star(), [InTurn(fault)]) as server:
        failure = fails(server, query=EVERYTHING)
        assert (failure.code, failure.wait) == (code, None) and len(failure.reason) < 250
        assert failure.reason == reason if reason.startswith("status") else reason in failure.reason
        assert len(server.log) == (HOPS + 1 if "loop" in fault.name else 1)


def test_retry_after_is_read_in_both_forms_and_nonsense_asks_for_nothing() -> None:
    soon, past = formatdate(time.time() + 30, usegmt=True), formatdate(0, usegmt=True)
    asked = {"7": 7.0, "0": 0.0, "1.5": 1.5, "-3": 0.0, past: 0.0}
    nonsense = ["", "soon", "nan", "inf", "-inf", "1e999", "Fri, 99 Foo 2026 00:00:00 GMT"]
    texts = [*asked, soon, *nonsense]
    with serving(faults=[InTurn(*(refusal(429, retry_after=text) for text in texts))]) as server:
        waits = {text: fails(server).wait for text in texts}
    assert waits.pop(soon) == pytest.approx(29, abs=1)
    assert waits == {**asked, **dict.fromkeys(nonsense)}


def test_nobody_there_is_told_from_a_connection_that_broke() -> None:
    with serving(star(), [InTurn(NAMED["reset"])]) as server:
        assert not fails(server).unreachable
        gone = server.url
    for address in (gone, "http://no-such-host.invalid/sparql"):
        assert fails(address).unreachable


# Redirects.


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_every_redirect_keeps_the_query(status: int) -> None:
    with serving(star(), [InTurn(redirected("moved", status, "/moved"))]) as server:
        response = ask(server, credentials=SECRET)
        assert (response.body, response.url) == (BODY, server.url_of("/moved"))
        assert [(one.method, one.query) for one in server.log] == [("POST", NUMBER)] * 2
        assert len({one.headers["authorization"] for one in server.log}) == 1  # it is the same host
        server.plans = [InTurn(replied("moved", redirect(status, "moved")))]  # relative to it
        assert ask(server).url == server.url_of("/moved") and server.updates == []


def test_default_graphs_go_with_the_query_wherever_it_goes() -> None:
    quads = [quad("a", "p", "b", f"g{n % 3}") for n in range(3)]
    graphs = f"{EX}g1", f"{EX}g2"
    with serving(quads, [InTurn(None, redirected("moved", 302, "/moved"))]) as server:
        for address in (server.url, server.url, server.url + "?default-graph-uri=" + EX + "g0"):
            Transport(address, "", Credentials(), 5, 1000, graphs).send(EVERYTHING, TSV)
        plain = Transport(server.url, "", Credentials(), 5, 1000).send(NUMBER, TSV)
        assert plain.body == b"?n\n0\n"
        assert [one.rows for one in server.log if one.status == 200] == [2, 2, 3, 1]


@pytest.mark.parametrize("kind", ["basic", "digest", "bearer"])
def test_credentials_never_reach_another_host(kind: str) -> None:
    secrets = {"basic": SECRET, "digest": Credentials("keeper", "pass:word", True, {"X-Api-Key": "k3y"}),
               "bearer": Credentials(headers={"Authorization": "Bearer t0ken", "X-Api-Key": "k3y"})}  # fmt: skip
    with serving(star(), auth=Auth("digest") if kind == "digest" else None) as other:
        moved = replied("moved", redirect(307, other.url))
        with serving(star(), [InTurn(moved, moved)]) as server:
            if kind == "digest":
                assert fails(server, credentials=secrets[kind]).code == 401
            else:
                assert ask(server, credentials=secrets[kind]).body == BODY
            assert "x-api-key" in server.log[0].headers
        for record in other.log:
            assert not {"authorization", "x-api-key"} & set(record.headers)


def test_credentials_come_back_with_the_host_that_they_belong_to() -> None:
    with serving(star()) as server, serving(star()) as other:
        server.plans = [InTurn(replied("away", redirect(302, other.url)))]
        other.plans = [InTurn(replied("back", redirect(302, server.url_of("/moved"))))]
        assert ask(server, credentials=SECRET).body == BODY
        assert [("authorization" in one.headers) for one in server.log] == [True, True]
        assert "authorization" not in other.log[0].headers


# TLS and signing in.


def test_tls_is_trusted_by_its_certificate_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(star(), tls=True) as server:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        failure = fails(server)
        assert (
            failure.certificate
            and failure.reason == "its certificate is not accepted: self-signed certificate"
        )
        monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
        assert ask(server).body == BODY
        assert server.failures == []


def test_speaking_tls_to_a_server_that_does_not_is_a_failure() -> None:
    with serving(star()) as server:
        failure = fails(server.url.replace("http:", "https:"))
        assert not failure.certificate and failure.unreachable
        assert failure.reason.startswith("no secure connection (") and "http://" in failure.reason


@pytest.mark.parametrize("kind", ["basic", "digest", "bearer"])
def test_only_the_right_secrets_sign_in(kind: Any) -> None:
    auth = Auth(kind)

    def signed(password: str) -> Credentials:
        if kind == "bearer":
            return Credentials(headers={"Authorization": f"Bearer {password}"})
        return Credentials(auth.user, password, kind == "digest")

    with serving(star(), auth=auth) as server:
        assert ask(server, credentials=signed(auth.token if kind == "bearer" else auth.password)).body == BODY
        for credentials in (signed("wr0ng"), signed("pässwörd€"), Credentials()):
            failure = fails(server, credentials=credentials)
            assert failure.code == 401
            assert "wr0ng" not in str(failure) and "pässw" not in str(failure)


def test_a_way_to_sign_in_that_the_endpoint_does_not_know_is_a_refusal() -> None:
    with serving(star(), auth=Auth("bearer")) as server:
        for credentials in (Credentials("keeper", "x", True), SECRET):
            assert fails(server, credentials=credentials).code == 401


def test_a_secret_is_never_printed_also_where_no_header_can_hold_it() -> None:
    text = repr(SECRET) + str(SECRET)
    assert not [secret for secret in ("keeper", "pass:word", "k3y") if secret in text]
    with serving(star()) as server:
        failure = fails(server, credentials=Credentials(headers={"Authorization": "Bearer t€k€n"}))
        assert failure.code == 401 and "€" not in repr(failure) + str(failure)
