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

from crmrag_assets.sources.endpoint.results import JSON, TSV
from crmrag_assets.sources.endpoint.transport import HOPS, Credentials, Failure, Limits, Response, send
from tests.support import faults
from tests.support.endpoints import EX, quad, star
from tests.support.faults import InTurn, redirected, refusal, replied
from tests.support.sparql_answers import TYPES, Answer, redirect
from tests.support.sparql_auth import Auth
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

NUMBER = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
EVERYTHING = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
BODY = b"?n\n36\n"
NAMED = {fault.name: fault for fault in faults.ALL}
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
    return send(url, query, format, "CRM-RAG/test (us@example.org)", credentials, Limits(seconds, size))


def fails(server: Endpoint | str, **options: Any) -> Failure:
    with pytest.raises(Failure) as failure:
        ask(server, **options)
    return failure.value


def answered(body: bytes, **headers: str) -> InTurn:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return InTurn(replied("scripted", Answer(body, TYPES["tsv"], headers=named)))


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
    with serving(faults=[answered(packed(body), **headers), answered(packed(body), **headers)]) as server:
        assert ask(server, size=len(body)).body == body
        failure = fails(server, size=len(body) - 1)
        assert (failure.code, "more than 10,002 bytes" in failure.reason) == (413, True)


def test_what_an_error_says_is_read_when_it_is_compressed() -> None:
    body = gzip.compress(b"Virtuoso 37000 Error SP030: syntax error")
    refused = replied("refused", Answer(body, "text/plain", 400, {"Content-Encoding": "gzip"}))
    with serving(star(), [InTurn(refused)]) as server:
        failure = fails(server)
    assert failure.code == 400 and failure.reason.endswith("Virtuoso 37000 Error SP030: syntax error")


def test_a_bomb_of_gzip_is_not_unpacked() -> None:
    packer = zlib.compressobj(9, wbits=31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(64)) + packer.flush()
    assert len(bomb) < 80_000
    with serving(faults=[answered(bomb, Content_Encoding="gzip")]) as server:
        tracemalloc.start()
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        assert fails(server, size=1 << 20).code == 413
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak - before < 8 << 20


def test_gzip_is_unpacked_and_counted_as_it_came() -> None:
    with serving(star(), compress=True) as server:
        response = ask(server, EVERYTHING)
        assert response.headers["content-encoding"] == "gzip"
        assert response.body.count(b"\n") == 37 and response.transferred < len(response.body)


def test_gzip_in_several_members_is_one_body() -> None:
    """RFC 1952: members simply appear one after another; what follows the first must not be lost."""
    packed = b"".join(gzip.compress(part) for part in (b"?n\n", b"36\n", b"37\n"))
    with serving(
        faults=[answered(packed, Content_Encoding="gzip"), answered(packed[:-9], Content_Encoding="gzip")]
    ) as server:
        assert ask(server).body == b"?n\n36\n37\n"
        assert "cut off or damaged" in fails(server).reason


@pytest.mark.parametrize("name", ["gzip broken", "gzip truncated", "closed in body", "chunks cut"])
def test_damage_that_shows_on_the_wire_is_a_failure(name: str) -> None:
    with serving(star(), [InTurn(NAMED[name])]) as server:
        assert "cut off or damaged" in fails(server, query=EVERYTHING).reason


def test_an_encoding_that_was_not_asked_for_is_refused_and_deflate_is_known() -> None:
    with serving(faults=[answered(b"x", Content_Encoding="br"),
                         answered(zlib.compress(BODY), Content_Encoding="deflate")]) as server:  # fmt: skip
        assert "(br)" in fails(server).reason
        assert ask(server).body == BODY


def test_a_partial_result_of_virtuoso_is_a_failure() -> None:
    with serving(faults=[answered(BODY, X_SQL_State="S1TAT")]) as server:
        assert "a part of the result" in fails(server).reason


# Statuses and connections.


def test_a_status_tells_what_was_said_but_no_page() -> None:
    long = "Virtuoso 42000 Error\n\n" + "x" * 5000
    with serving(faults=[InTurn(refusal(500, long), NAMED["502"], refusal(400, ""))]) as server:
        first, second, third = (fails(server) for _ in range(3))
        assert first.code == 500 and "Virtuoso 42000 Error xxx" in first.reason and len(first.reason) < 250
        assert (second.code, second.reason) == (502, "status 502 Bad Gateway")
        assert (third.code, third.reason, third.wait) == (400, "status 400 Bad Request", None)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [("7", 7, 7), ("0", 0, 0), ("1.5", 1.5, 1.5), ("-3", 0, 0), ("date", 28, 30), ("past", 0, 0)],
)
def test_retry_after_is_read_in_both_forms(text: str, least: float, most: float) -> None:
    value = {"date": formatdate(time.time() + 30, usegmt=True), "past": formatdate(0, usegmt=True)}.get(
        text, text
    )
    with serving(faults=[InTurn(refusal(429, retry_after=value))]) as server:
        wait = fails(server).wait
        assert wait is not None and least <= wait <= most


@pytest.mark.parametrize("text", ["", "soon", "nan", "inf", "-inf", "1e999", "Fri, 99 Foo 2026 00:00:00 GMT"])
def test_nonsense_in_retry_after_asks_for_nothing(text: str) -> None:
    with serving(faults=[InTurn(refusal(503, retry_after=text))]) as server:
        assert fails(server).wait is None


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
        assert server.updates == []


def test_default_graphs_go_with_the_query_wherever_it_goes() -> None:
    quads = [quad("a", "p", "b", f"g{n % 3}") for n in range(3)]
    limits, graphs = Limits(5, 1000), (f"{EX}g1", f"{EX}g2")
    with serving(quads, [InTurn(None, redirected("moved", 302, "/moved"))]) as server:
        for address in (server.url, server.url, server.url + "?default-graph-uri=" + EX + "g0"):
            send(address, EVERYTHING, TSV, "", Credentials(), limits, graphs)
        plain = send(server.url, NUMBER, TSV, "", Credentials(), limits)
        assert plain.body == b"?n\n0\n"
        assert [one.rows for one in server.log if one.status == 200] == [2, 2, 3, 1]


def test_a_relative_redirect_is_followed() -> None:
    with serving(star(), [InTurn(replied("moved", redirect(302, "moved")))]) as server:
        assert ask(server).url == server.url_of("/moved")


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


@pytest.mark.parametrize("name", ["redirect loop 302", "redirect loop 307"])
def test_loops_end(name: str) -> None:
    with serving(star(), [InTurn(NAMED[name])]) as server:
        assert f"more than {HOPS} times" in fails(server).reason
        assert len(server.log) == HOPS + 1


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:text/plain,x", "http://["]
)
def test_redirects_lead_to_the_web_only(address: str) -> None:
    with serving(faults=[InTurn(replied("moved", redirect(302, address)))]) as server:
        assert "redirects to" in fails(server).reason


def test_a_redirect_without_an_address_is_a_failure() -> None:
    with serving(faults=[InTurn(refusal(302))]) as server:
        assert fails(server).code == 302


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
            if kind == "bearer" and "€" in str(credentials.headers):
                continue
            failure = fails(server, credentials=credentials)
            assert failure.code == 401
            assert "wr0ng" not in str(failure) and "pässw" not in str(failure)


@pytest.mark.parametrize("credentials", [Credentials("keeper", "x", True), SECRET])
def test_a_way_to_sign_in_that_is_not_ours_is_a_refusal(credentials: Credentials) -> None:
    with serving(star(), auth=Auth("bearer")) as server:
        assert fails(server, credentials=credentials).code == 401


def test_a_secret_that_no_header_can_hold_is_not_told() -> None:
    secret = "t€k€n-of-ours"
    with serving(star()) as server:
        failure = fails(server, credentials=Credentials(headers={"Authorization": f"Bearer {secret}"}))
        assert failure.code == 401 and "k€n" not in repr(failure) and "€" not in str(failure)


def test_secrets_are_never_printed() -> None:
    text = repr(SECRET) + str(SECRET)
    assert not [secret for secret in ("keeper", "pass:word", "k3y") if secret in text]
