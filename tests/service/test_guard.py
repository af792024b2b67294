"""What stands before the endpoints: keys, rates, bounded bodies that come in time, safe headers, no way out."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from crmrag_query import Client
from crmrag_query.client import wire
from crmrag_query.client.local import Engine
from crmrag_query.service import app as connection
from crmrag_query.service import guard
from crmrag_query.service.app import PAGES
from crmrag_query.service.guard import HEADERS, Rates
from tests.service.test_api import problem_of
from tests.support.service import PATIENCE, application, served

API = wire.PREFIX
KEY = "s3cret-of-the-museum"


@contextmanager
def raw(address: str) -> Iterator[socket.socket]:
    """A connection to write bytes to."""
    parts = urlsplit(address)
    with socket.create_connection((str(parts.hostname), parts.port or 80), timeout=PATIENCE) as found:
        yield found


def said(connection: socket.socket) -> bytes:
    """All that the service says until it closes the connection."""
    found = b""
    while piece := connection.recv(65_536):
        found += piece
    return found


# keys


@pytest.fixture(scope="module")
def locked(engine: Engine) -> Iterator[str]:
    """The address of a service that wants a key."""
    with served(application(engine, keys=(KEY, "another-key"))) as address:
        yield address


@pytest.mark.parametrize("key", [KEY, "another-key"])
def test_a_right_key_opens(locked: str, key: str) -> None:
    with Client(locked, api_key=key) as client:
        assert client.datasets()["sample"].name == "sample"
    for scheme in ("Bearer", "bearer", "BEARER"):
        assert httpx.get(f"{locked}{API}/datasets", headers={"Authorization": f"{scheme} {key}"}).is_success


@pytest.mark.parametrize(
    "given",
    ["", "Bearer", "Bearer wrong", f"Basic {KEY}", KEY, f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", f"Bearer {KEY.upper()}",
     f"Bearer {KEY},another-key", "Bearer " + "x" * 5000, "Bearer \u00e9"],
)  # fmt: skip
@pytest.mark.parametrize(
    "path", ["/api/v1/datasets", "/api/v1/nothing", "/v1/models", "/v1/chat/completions", "/metrics"]
)
def test_without_a_right_key_nothing_is_told(locked: str, path: str, given: str) -> None:
    headers = {b"Authorization": given.encode("latin-1")} if given else {}
    response = httpx.get(locked + path, headers=headers)
    told = problem_of(response)
    assert told.status == 401 and "Authorization: Bearer" in told.remedy
    assert response.headers["www-authenticate"] == "Bearer"
    assert KEY not in response.text and "wrong" not in response.text


@pytest.mark.parametrize(
    "path",
    ["//api/v1/datasets", "/./api/v1/datasets", "/api//v1/datasets", "/API/v1/datasets", "/static/../api/v1/datasets",
     "/%61pi/v1/datasets", "/api/v1/datasets;a", "/api%2fv1/datasets", "/health/../api/v1/datasets",
     "http://other/api/v1/datasets"],
)  # fmt: skip
def test_no_other_spelling_of_an_address_leads_past_the_key(locked: str, path: str) -> None:
    with raw(locked) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        answered = said(connection)
    assert answered.split(b" ")[1] in (b"400", b"401", b"404") and b"Painted" not in answered


@pytest.mark.parametrize(
    "path", ["/", "/d/sample", "/health", "/ready", "/version", "/openapi.json", "/static/favicon.svg"]
)
def test_the_page_and_what_tells_of_life_want_no_key(locked: str, path: str) -> None:
    assert httpx.get(locked + path).status_code == 200


# hosts

FOREIGN = (
    "evil.example", "evil.example:80", "localhost.evil.example", "127.0.0.1.evil.example", "[::1", "a@localhost", "",
    "127.0.0.2",
)  # fmt: skip
OWN = ("localhost", "LOCALHOST:8000", "localhost.", "127.0.0.1:1", "[::1]", "[::1]:8000")


@pytest.mark.parametrize(
    "path",
    ["/", "/static/favicon.svg", "/openapi.json", "/metrics", f"{API}/datasets", "/v1/models", "/nothing"],
)
def test_a_host_that_is_not_ours_is_not_answered_for(engine: Engine, path: str) -> None:
    """A page of evil.example whose name leads here for a moment (DNS rebinding) can read nothing."""
    with served(application(engine, hosts=())) as address:
        for name in FOREIGN:
            response = httpx.get(address + path, headers={"Host": name})
            told = problem_of(response)
            assert told.status == 421 and "config/service.yaml" in told.remedy
            assert "Painted" not in response.text
        for name in OWN:
            assert httpx.get(address + path, headers={"Host": name}).status_code in (200, 404)


def test_hosts_are_those_configured_and_this_machine_s(engine: Engine) -> None:
    with served(application(engine, hosts=("museum.example", "*.gallery.example"))) as address:

        def status(host: str, path: str = f"{API}/datasets") -> int:
            return httpx.get(address + path, headers={"Host": host}).status_code

        known = ("museum.example", "Museum.Example:443", "a.gallery.example", "b.a.gallery.example", *OWN)
        assert {host: status(host) for host in known} == dict.fromkeys(known, 200)
        other = (
            "www.museum.example",
            "gallery.example",
            "xgallery.example",
            "a.gallery.example.evil",
            *FOREIGN,
        )
        assert {host: status(host) for host in other} == dict.fromkeys(other, 421)
        assert status("10.1.2.3", "/health") == status("10.1.2.3", "/ready") == 200, (
            "probes know numbers only"
        )


def test_a_preflight_for_another_host_admits_no_request_to_it(engine: Engine) -> None:
    app = application(engine, hosts=(), origins=("https://museum.example",))
    with served(app) as address:
        headers = {"Host": "evil.example", "Origin": "https://museum.example"}
        assert httpx.get(f"{address}{API}/datasets", headers=headers).status_code == 421


# what is told without a key


@pytest.mark.parametrize("given", ["", "Bearer wrong", "Basic " + KEY])
def test_without_a_key_nothing_is_told_of_the_data(locked: str, given: str) -> None:
    with httpx.Client(base_url=locked, timeout=PATIENCE, headers={"Authorization": given}) as http:
        assert http.get("/ready").json() == {"status": "ok", "datasets": [], "encoded": {}}
        told = http.get("/version").json()
        assert told["version"] and (told["releases"], told["unavailable"]) == ({}, [])
        assert "sample" not in http.get("/ready").text + http.get("/version").text + http.get("/health").text


def test_with_a_key_the_data_sets_are_named(locked: str) -> None:
    with httpx.Client(base_url=locked, timeout=PATIENCE, headers={"Authorization": f"Bearer {KEY}"}) as http:
        assert http.get("/ready").json()["datasets"] == ["sample"]
        assert http.get("/version").json()["releases"].keys() == {"sample"}


# web pages

ASKED = f"{API}/ask", "/v1/chat/completions", "/mcp", f"{API}/sparql", f"{API}/conversations"
"""Addresses that a POST spends something at, or changes something."""
MUSEUM = "https://museum.example"


@pytest.fixture(scope="module")
def visited(engine: Engine) -> Iterator[str]:
    """The address of a service that the page of one other host may call."""
    with served(application(engine, origins=(MUSEUM,))) as address:
        yield address


def posted(address: str, path: str = f"{API}/ask", **headers: str) -> int:
    """The status of a request that is right but for what its headers say of where it comes from."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = {"question": "Where is Asinou?"}
    return httpx.post(address + path, json=body, headers=named, timeout=PATIENCE).status_code


@pytest.mark.parametrize("path", ASKED)
@pytest.mark.parametrize(
    "kind",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", "text/plain;application/json", ""],
)  # fmt: skip
def test_what_a_page_may_post_anywhere_unasked_is_refused(visited: str, path: str, kind: str) -> None:
    """No form and no script of another page says that it sends JSON without the browser asking first."""
    response = httpx.post(visited + path, content=b"{}", headers={"Content-Type": kind} if kind else {})
    told = problem_of(response)
    assert told.status == 415 and "Content-Type: application/json" in told.remedy


@pytest.mark.parametrize("path", ASKED)
def test_a_page_of_another_host_spends_and_changes_nothing(visited: str, path: str) -> None:
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": visited.replace("http://127.0.0.1", "http://127.0.0.1.evil.example")},
        {"Origin": visited.rpartition(":")[0] + ":1"},
        {"Origin": MUSEUM + ".evil.example"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        told = problem_of(httpx.post(visited + path, json={}, headers=headers))
        assert told.status == 403 and "origins in config/service.yaml" in told.remedy, headers


def test_its_own_page_one_that_may_and_programs_are_answered(visited: str) -> None:
    assert posted(visited) == 200
    assert posted(visited, Origin=visited) == 200
    assert posted(visited, Origin="http://a.example", Host="a.example:80") == 200
    assert posted(visited, Origin=MUSEUM, Sec_Fetch_Site="cross-site") == 200
    assert posted(visited, Origin=visited, Sec_Fetch_Site="same-origin") == 200
    assert posted(visited, Sec_Fetch_Site="none") == 200
    assert posted(visited, Content_Type="Application/JSON; charset=utf-8") == 200


def test_behind_a_proxy_that_changes_the_host_its_own_page_is_answered(visited: str) -> None:
    assert posted(visited, Origin="https://own.example", Sec_Fetch_Site="same-origin") == 200


def test_a_link_on_another_page_may_be_followed(visited: str) -> None:
    for path in ("/", "/d/sample", f"{API}/datasets"):
        assert httpx.get(visited + path, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


# rates


def test_a_bucket_holds_a_burst_and_fills_again() -> None:
    rates = Rates(per_minute=60, burst=3, callers=10)
    assert [rates.wait("a", now=100.0) for _ in range(3)] == [0, 0, 0]
    assert rates.wait("a", now=100.0) == pytest.approx(1.0)
    assert rates.wait("b", now=100.0) == 0, "each caller has a bucket of their own"
    assert rates.wait("a", now=100.5) == pytest.approx(0.5), "asking too early costs nothing"
    assert rates.wait("a", now=101.0) == 0
    assert [rates.wait("a", now=1000.0) for _ in range(4)] == [0, 0, 0, pytest.approx(1.0)]


def test_no_more_callers_are_remembered_than_can_be() -> None:
    rates = Rates(per_minute=1, burst=1, callers=100)
    for n in range(150):
        assert rates.wait(str(n), now=0.0) == 0
    assert len(rates._held) == 100
    assert rates.wait("149", now=0.0) > 0


def test_who_asks_too_often_is_told_when_to_ask_again(engine: Engine) -> None:
    app = application(engine, keys=("a", "b"), bounds={"per_minute": 1, "burst": 2})
    with served(app) as address:

        def get(key: str, path: str = "/api/v1/datasets") -> httpx.Response:
            return httpx.get(address + path, headers={"Authorization": f"Bearer {key}"})

        found = [get("a") for _ in range(2)]
        assert [one.status_code for one in found] == [200, 200]
        assert [one.headers["x-ratelimit-remaining-requests"] for one in found] == ["1", "0"]
        assert found[0].headers["x-ratelimit-limit-requests"] == "1"
        assert found[1].headers["x-ratelimit-reset-requests"] == "120s"
        refused = get("a")
        assert refused.headers["x-ratelimit-remaining-requests"] == "0"
        told = problem_of(refused)
        assert (
            told.status == 429 and 1 <= int(refused.headers["retry-after"]) <= 61 and "again" in told.remedy
        )
        assert get("b").status_code == 200 and "x-ratelimit-limit-requests" not in get("a", "/health").headers
        assert get("wrong").status_code == 401, "who has no key is told that first"


def test_callers_without_keys_are_told_apart_by_address(engine: Engine) -> None:
    with served(application(engine, bounds={"per_minute": 1, "burst": 1})) as address:
        found = [httpx.get(f"{address}{API}/datasets").status_code for _ in range(2)]
        assert found == [200, 429]
        other = httpx.get(f"{address}{API}/datasets", headers={"X-Forwarded-For": "10.0.0.9"})
        assert other.status_code == 200, "behind a proxy on this machine the caller is whom it names"


@pytest.mark.parametrize(("trusted", "status"), [("127.0.0.0/8", 200), ("10.0.0.11", 429)])
def test_whose_word_counts_for_who_calls_is_said_by_the_environment(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, trusted: str, status: int
) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted)
    with served(application(engine, bounds={"per_minute": 1, "burst": 1})) as address:
        assert httpx.get(f"{address}{API}/datasets").status_code == 200
        other = httpx.get(f"{address}{API}/datasets", headers={"X-Forwarded-For": "10.0.0.9"})
        assert other.status_code == status


# bodies


@pytest.fixture(scope="module")
def small(engine: Engine) -> Iterator[str]:
    """The address of a service that takes 2,000 bytes within half a second."""
    with served(application(engine, bounds={"body_bytes": 2000, "body_seconds": 0.5})) as address:
        yield address


def question(size: int) -> bytes:
    """A question of so many bytes in all."""
    body = json.dumps({"question": "Where is Asinou?"})
    return (body[:-1] + " " * (size - len(body)) + "}").encode()


@pytest.mark.parametrize(("size", "status"), [(2000, 200), (2001, 413), (1_000_000, 413)])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_has_a_bound(small: str, size: int, status: int, chunked: bool) -> None:
    body = question(size)
    assert len(body) == size
    content = iter([body[at : at + 500] for at in range(0, size, 500)]) if chunked else body
    response = httpx.post(
        f"{small}{API}/ask", content=content, headers={"Content-Type": wire.JSON}, timeout=60
    )
    assert response.status_code == status
    if status == 413:
        told = problem_of(response)
        assert "2,000 bytes" in told.detail and told.remedy


def test_a_body_that_is_announced_too_large_is_not_waited_for(small: str) -> None:
    for length in ("2001", "99999999999999999999", "0002001"):
        with raw(small) as connection:
            connection.sendall(
                f"POST {API}/ask HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n".encode()
            )
            assert said(connection).split(b" ")[1] in (b"413", b"400")


@pytest.mark.parametrize("chunked", [False, True])
def test_who_sends_ten_megabytes_and_only_then_reads_is_told_that_it_is_too_much(
    address: str, chunked: bool
) -> None:
    """As ordinary clients do: urllib, requests."""
    request = urllib.request.Request(f"{address}{API}/ask", headers={"Content-Type": wire.JSON})
    request.data = iter([b"x" * 100_000] * 100) if chunked else b"x" * 10_000_000
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE)
    with refused.value as response:
        assert response.code == 413 and b"1,048,576 bytes" in response.read()


def test_no_more_of_a_refused_body_is_read_than_bounded(small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "DRAINED_BYTES", 100_000)
    with raw(small) as connection:
        connection.sendall(f"POST {API}/ask HTTP/1.1\r\nHost: a\r\nContent-Length: {10**15}\r\n\r\n".encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 413")
        with pytest.raises(OSError, match=r"reset|Broken pipe|aborted"):
            while True:
                connection.sendall(b"x" * 65_536)


@pytest.mark.parametrize("path", ["/", "/static/favicon.svg", "/health", "/v1/chat/completions", "/nothing"])
def test_the_bound_is_that_of_every_address(small: str, path: str) -> None:
    for method in ("GET", "POST"):
        assert httpx.request(method, small + path, content=b"x" * 3000).status_code == 413


def test_a_body_that_does_not_come_is_waited_for_no_longer_than_told(small: str) -> None:
    with raw(small) as connection:
        connection.sendall(f"POST {API}/ask HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n".encode())
        connection.sendall(b'{"question"')
        answered = said(connection)
    assert answered.startswith(b"HTTP/1.1 408") and b"did not come whole" in answered


def test_a_body_that_drips_is_cut_off_too(small: str) -> None:
    with raw(small) as connection:
        connection.sendall(
            f"POST {API}/ask HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        )
        connection.settimeout(0.05)
        answered = b""
        for _ in range(200):
            try:
                connection.sendall(b"1\r\n \r\n")
                answered += connection.recv(65_536)
            except TimeoutError:
                continue
            except OSError:
                break
            if answered:
                break
        assert answered.startswith(b"HTTP/1.1 408")


def test_a_head_that_does_not_come_ends_the_connection(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing, half a head, and half of a second one after an answer."""
    times = connection.connections().model_copy(update={"head_seconds": 0.3})
    monkeypatch.setattr(connection, "connections", lambda: times)
    with served(application(engine)) as address:
        for begun in (b"", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "):
            with raw(address) as held:
                held.sendall(begun)
                assert said(held) == b""
        with raw(address) as held:
            held.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
            first = held.recv(65_536)
            held.sendall(b"GET /health HTTP/1.1\r\n")
            rest = said(held)
            assert (first + rest).count(b"HTTP/1.1 200") == 1
        assert httpx.get(f"{address}{API}/datasets").status_code == 200


def test_slow_callers_hold_up_nobody(small: str) -> None:
    with raw(small) as one, raw(small) as two, raw(small) as three:
        for held in (one, two, three):
            held.sendall(b"POST /api/v1/ask HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\n")
        assert httpx.get(f"{small}{API}/datasets", timeout=PATIENCE).status_code == 200


def test_who_leaves_before_the_end_of_a_request_is_not_answered(
    small: str, caplog: pytest.LogCaptureFixture
) -> None:
    with raw(small) as connection:
        connection.sendall(b"POST /api/v1/conversations HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{}")
    assert httpx.get(f"{small}/health").status_code == 200
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


# headers


@pytest.mark.parametrize(
    "path",
    [*(page.format(id="x", name="sample") for page in PAGES), "/static/favicon.svg", "/static/nothing.js", "/health",
     "/ready", "/version", "/metrics", "/openapi.json", "/nothing", "/api/v1/datasets", "/api/v1/search", "/api/v1/nothing"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS", "TRACE"])
def test_safe_headers_stand_on_every_response(http: httpx.Client, path: str, method: str) -> None:
    response = http.request(method, path)
    assert response.status_code < 500
    for name, value in HEADERS.items():
        assert response.headers.get_list(name) == [value]
    assert "server" not in response.headers and len(response.headers["x-request-id"]) >= 16


def test_safe_headers_stand_on_refusals_failures_and_streams_too(
    locked: str, small: str, http: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(engine), "search", lambda *_: 1 / 0)
    responses = [
        httpx.get(f"{locked}{API}/datasets"),
        httpx.post(f"{small}{API}/ask", content=b"x" * 3000),
        http.post(f"{API}/ask", json={"question": "Where is Asinou?"}, headers={"Accept": wire.EVENTS}),
        http.get(f"{API}/search?text=a"),
    ]
    assert [one.status_code for one in responses] == [401, 413, 200, 500]
    for response in responses:
        assert (
            HEADERS.items()
            <= {name.title(): value for name, value in response.headers.items()}.items() | HEADERS.items()
        )
        assert response.headers["content-security-policy"] == HEADERS["Content-Security-Policy"]
        assert response.headers["x-content-type-options"] == "nosniff" and response.headers["x-request-id"]


def test_what_fails_unforeseen_is_told_without_its_reason(
    http: httpx.Client, engine: Engine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("the key of the house is under the mat")

    monkeypatch.setattr(type(engine), "search", fail)
    response = http.get(f"{API}/search?text=a")
    told = problem_of(response)
    assert told.status == 500 and "mat" not in response.text
    assert response.headers["x-request-id"] in told.remedy, "the log is found by it"
    assert "under the mat" in caplog.text and response.headers["x-request-id"] in caplog.text
    monkeypatch.setattr(type(engine), "stream", fail)
    for accept in (wire.JSON, wire.EVENTS):
        response = http.post(f"{API}/ask", json={"question": "a b"}, headers={"Accept": accept})
        assert problem_of(response).status == 500 and "mat" not in response.text


# ways out


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/%2e%2e%2fapp.py", "/static/..%5capp.py",
     "/static/....//app.py", "/static//etc/passwd", "/static/%2fetc%2fpasswd", "/static/js/../../../app.py",
     "/static/%252e%252e/app.py", "/static/..%c0%afapp.py", "/static/%00", "/static/favicon.svg%00.py", "/static/.",
     "/static/", "/static", "/static/js", "/a/..%2f..%2fapp.py", "/d/../../app.py", "/../app.py",
     "/static/" + "../" * 50 + "etc/passwd",
     "/static/" + "a/" * 5000, "/static/" + "%2e%2e/" * 500 + "etc/passwd", "/static/CON", "/static/\\..\\app.py"],
)  # fmt: skip
def test_no_path_leads_out_of_the_page_s_folder(address: str, path: str) -> None:
    """Written as it is, since clients tidy paths before they send them."""
    with raw(address) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
        answered = said(connection)
    status = int(answered.split(b" ")[1])
    assert status in (400, 404) or b"<!doctype html" in answered.lower()
    assert b"root:" not in answered and b"import" not in answered.partition(b"\r\n\r\n")[2][:200]


def test_a_data_set_s_name_is_no_path(http: httpx.Client, data: Path) -> None:
    for name in (
        "../sample",
        "./sample",
        "sample/",
        "releases/sample",
        str(data),
        "..",
        "/etc",
        "sample\0",
        "sample%00",
    ):
        for path, more in (
            ("/dataset", {}),
            ("/evaluations", {}),
            ("/modes", {}),
            ("/search", {"text": "a"}),
        ):
            told = problem_of(http.get(f"{API}{path}", params={"dataset": name, **more}))
            assert told.status == 404 and str(data) not in told.detail.replace(name, "")


@pytest.mark.parametrize("length", [5_000, 60_000, 500_000])
def test_a_very_long_address_is_answered_or_refused(address: str, length: int) -> None:
    for target in (
        f"/api/v1/search?text={'a' * length}",
        f"/{'a' * length}",
        f"/api/v1/entity?{'a=b&' * (length // 4)}",
    ):
        with raw(address) as connection:
            try:
                connection.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".encode())
                answered = said(connection)
            except ConnectionError:
                continue  # closed while we still wrote
            assert not answered or answered.split(b" ")[1] in (b"200", b"400", b"404", b"414", b"431")


def test_many_long_headers_are_refused(address: str) -> None:
    with raw(address) as connection:
        try:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + b"X-A: " + b"a" * 200_000 + b"\r\n\r\n")
            assert said(connection).split(b" ")[1] in (b"400", b"431")
        except ConnectionError:
            pass


@pytest.mark.parametrize(
    "bytes_",
    [b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00",
     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
     b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
     b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /a",
     b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
     b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
)  # fmt: skip
def test_what_is_no_request_of_ours_harms_nobody(address: str, bytes_: bytes) -> None:
    with raw(address) as connection:
        connection.sendall(bytes_)
        connection.shutdown(socket.SHUT_WR)
        try:
            answered = said(connection)
        except ConnectionError:
            answered = b""
    assert b"500" not in answered[:20]
    assert httpx.get(f"{address}/health").status_code == 200
