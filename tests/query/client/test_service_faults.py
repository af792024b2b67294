"""A service that misbehaves ends in one kind of error that names it and the remedy, never in a traceback of a library."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import anyio
import pytest

from crmrag_query import AsyncClient, Client, Evidence, Limits, Planned, Timeout, Token, errors
from crmrag_query.client import wire
from crmrag_query.client.exchange import Service
from crmrag_query.client.local import open_engine
from tests.query.client.conftest import calling
from tests.support.api_server import Answering, answering, api_server, send

QUICK = Timeout(connect=2, read=0.3, write=2, total=2)
QUESTION = "When was the church of Asinou built?"


def body(status: int, kind: str, content: bytes, **headers: str) -> Answering:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        send(handler, status, kind, content, headers)

    return answer


def silent(handler: BaseHTTPRequestHandler) -> None:
    time.sleep(1)
    handler.close_connection = True


def dripping(handler: BaseHTTPRequestHandler) -> None:
    """A byte now and then, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Type", wire.JSON)
    handler.end_headers()
    handler.close_connection = True
    for _ in range(60):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.05)


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", wire.JSON)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"datasets": [')
    handler.close_connection = True


def no_http(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"220 ftp.example.org ready\r\n")
    handler.close_connection = True


FAULTS: dict[str, tuple[Answering, str]] = {
    "silence": (silent, "silent for 0.3 seconds.*Timeout"),
    "a drip": (dripping, "within 2 seconds.*Timeout"),
    "a cut body": (cut, "broke off"),
    "another protocol": (no_http, "broke off"),
    "no json": (body(200, wire.JSON, b"<html>"), "cannot be read.*no JSON"),
    "another type": (body(200, "text/html; charset=utf-8", b"<html>"), "text/html.*crmrag serve"),
    "no type": (body(200, "", b"{}"), "no content type"),
    "another record": (body(200, wire.JSON, b'{"data": []}'), "datasets is missing.*upgrade"),
    "a wrong type": (body(200, wire.JSON, b'{"datasets": [{"name": 7}]}'), r"datasets\[0\]\.name"),
    "nan": (body(200, wire.JSON, b'{"datasets": NaN}'), "cannot be read"),
    "deep": (body(200, wire.JSON, b"[" * 19_000), "cannot be read"),
    "500": (body(500, "text/plain", b"oops"), "status 500"),
    "503 as html": (body(503, "text/html", b"<h1>Busy"), "status 503.*moment"),
    "a broken problem": (body(500, wire.PROBLEM, b"{"), "status 500"),
    "a list for a problem": (body(500, wire.PROBLEM, b"[]"), "status 500"),
    "a foreign problem": (body(418, wire.PROBLEM, b'{"title": "Teapot"}'), "418.*Teapot"),
    "401": (body(401, "text/plain", b""), "api_key"),
    "404": (body(404, "text/html", b""), "crmrag serve"),
    "413": (body(413, "text/plain", b""), "too large"),
    "429": (body(429, "text/plain", b""), "wait"),
    "204": (body(204, wire.JSON, b""), "status 204"),
    "broken gzip": (body(200, wire.JSON, b"no gzip", **{"Content-Encoding": "gzip"}), "broke off"),
    "a huge body": (body(200, wire.JSON, b" " * 50_000), "more than 20,000 bytes.*Limits"),
    "a bomb": (body(200, wire.JSON, gzip.compress(b" " * 10_000_000), **{"Content-Encoding": "gzip"}), "more than 20,000"),
    "a redirect elsewhere": (body(307, "", b"", Location="http://127.0.0.2:9/api/v1/datasets"), "redirects elsewhere"),
    "a redirect to another port": (body(307, "", b"", Location="http://127.0.0.1:9/"), "redirects elsewhere"),
    "a redirect to a file": (body(302, "", b"", Location="file:///etc/passwd"), "redirects elsewhere"),
    "a redirect with a user": (body(302, "", b"", Location="http://a:b@127.0.0.1/"), "redirects elsewhere"),
    "a redirect to nowhere": (body(302, "", b""), "redirects elsewhere"),
    "a ring of redirects": (body(307, "", b"", Location="/api/v1/datasets"), "without end"),
}  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "async"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_service_error_with_the_remedy(fault: str, asynchronous: bool) -> None:
    answer, match = FAULTS[fault]
    with answering(answer) as address:
        call = calling(address, asynchronous, timeout=QUICK, limits=Limits(body_bytes=20_000))
        with pytest.raises(errors.ServiceError, match=f"(?s){match}") as caught:
            call("datasets")
        assert caught.value.remedy and (address in str(caught.value) or "problem" in fault)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "async"])
def test_a_refused_connection_names_the_address(asynchronous: bool) -> None:
    with answering(silent) as address:
        pass
    with pytest.raises(errors.ServiceError, match=f"(?s){address} cannot be reached.*Check the address"):
        calling(address, asynchronous)("ask", QUESTION)


@pytest.mark.parametrize(
    "target",
    ["http://", "ftp://example.org", "http://a:b@example.org", "https://exa mple.org", "http://h:99999", "http://[::1"],
)  # fmt: skip
def test_what_is_no_address_is_told_at_once_without_showing_it(target: str) -> None:
    with pytest.raises(errors.ServiceError, match="no address") as caught:
        Client(target)
    assert "a:b" not in str(caught.value)


def test_an_address_may_have_a_path_and_the_prefix() -> None:
    for given in ("http://h:1/museum", "http://h:1/museum/", "http://h:1/museum/api/v1/"):
        assert Service(given).address == "http://h:1/museum"
    with pytest.raises(errors.ServiceError, match="key"):
        Service("http://h", "a\r\nX-Other: b")


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "async"])
def test_a_redirect_on_the_same_host_is_followed(service: str, local: Client, asynchronous: bool) -> None:
    """A GET and, where the redirect keeps it, a POST; a redirect that would lose the question is told."""

    def moved(status: int) -> Callable[[BaseHTTPRequestHandler], None]:
        def answer(handler: BaseHTTPRequestHandler) -> None:
            asked = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
            if handler.path.startswith("/moved"):
                found = local.ask(json.loads(asked)["question"]) if asked else local.datasets()
                send(handler, 200, wire.JSON, found.to_json().encode())
            else:
                send(handler, status, "", b"", {"Location": f"/moved{handler.path}"})

        return answer

    for status in (301, 302, 303, 307, 308):
        with answering(moved(status)) as address:
            call = calling(address, asynchronous)
            assert call("datasets") == local.datasets()
            if status in (307, 308):
                assert call("ask", QUESTION) == local.ask(QUESTION)
            else:
                with pytest.raises(errors.ServiceError, match=f"{status}, which loses the question"):
                    call("ask", QUESTION)


# streams


def events(*parts: str, kind: str = "text/event-stream") -> Answering:
    return body(200, kind, "".join(parts).encode())


STREAMS: dict[str, tuple[Answering, type[errors.CrmRagError], str]] = {
    "an end without done": (events(wire.write_event(Token("It was"))), errors.ServiceError, "broke off"),
    "nothing": (events(), errors.ServiceError, "broke off"),
    "json": (events("{}", kind=wire.JSON), errors.ServiceError, "application/json in place"),
    "no record": (events("event: done\ndata: {}\n\n"), errors.ServiceError, "done.answer is missing"),
    "no utf-8": (body(200, wire.EVENTS, b"data: \xff\n\n"), errors.ServiceError, "UTF-8"),
    "an endless event": (events("data: " + "x" * 50_000), errors.ServiceError, "more than"),
    "an error": (events(wire.write_event(Evidence(())), wire.write_event(errors.ModelError("Silent.", "Wait."))),
                 errors.ModelError, "Silent"),
    "a broken error": (events("event: error\ndata: 7\n\n"), errors.ServiceError, "cannot be read"),
    "a problem": (body(404, wire.PROBLEM, b'{"status": 404, "detail": "No x.", "error": "ReleaseNotFound"}'),
                  errors.ReleaseNotFound, "No x"),
    "silence": (silent, errors.ServiceError, "silent"),
    "500": (body(500, "text/plain", b"x"), errors.ServiceError, "500"),
}  # fmt: skip


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "async"])
@pytest.mark.parametrize("fault", STREAMS)
def test_a_stream_that_fails_raises_its_error(fault: str, asynchronous: bool) -> None:
    answer, kind, match = STREAMS[fault]
    with answering(answer) as address:
        call = calling(address, asynchronous, timeout=QUICK, limits=Limits(body_bytes=20_000))
        with pytest.raises(kind, match=match):
            call("stream", QUESTION)


def test_what_came_before_a_stream_was_cut_was_given() -> None:
    with (
        answering(events(wire.write_event(Token("It ")), wire.write_event(Token("was")))) as address,
        Client(address) as client,
    ):
        given = []
        with pytest.raises(errors.ServiceError, match="broke off"):
            for event in client.stream(QUESTION):
                given.append(event)
        assert given == [Token("It "), Token("was")]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["blocking", "async"])
def test_events_are_given_as_they_come(asynchronous: bool) -> None:
    """The server sends the next piece only after the client has had the one before."""
    had = threading.Semaphore(1)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(200)
        handler.send_header("Content-Type", wire.EVENTS)
        handler.end_headers()
        handler.close_connection = True
        for n in range(5):
            assert had.acquire(timeout=10)
            handler.wfile.write(wire.write_event(Token(str(n))).encode())
            handler.wfile.flush()
        assert had.acquire(timeout=10)
        handler.wfile.write(wire.write_event(errors.ModelError("Enough.", "Stop.")).encode())

    given = []

    async def take(address: str) -> None:
        async with AsyncClient(address) as client:
            async for event in client.stream(QUESTION):
                given.append(event)
                had.release()

    with answering(answer) as address, pytest.raises(errors.ModelError, match="Enough"):
        if asynchronous:
            anyio.run(take, address)
        else:
            with Client(address) as client:
                for event in client.stream(QUESTION):
                    given.append(event)
                    had.release()
    assert given == [Token(str(n)) for n in range(5)]


def test_a_stream_may_be_left_early(data: Path) -> None:
    with api_server(open_engine(str(data))) as address, Client(address) as client:
        for event in client.stream(QUESTION):
            assert isinstance(event, Planned | Evidence)
            break
        assert client.datasets()
