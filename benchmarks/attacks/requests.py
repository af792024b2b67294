"""Requests to `crmrag serve` by somebody who means harm."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from attacks.files import spoilt
from attacks.record import SECONDS, Record
from attacks.releases import ALL, QUESTION
from attacks.servers import KEY, WAIT, Reply, Watch, data_of, send
from tests.support.service import Process, process

API = "/api/v1"


Judge = Callable[[Reply], str]
Attack = tuple[str, str, str, dict[str, Any], Judge]
"""Kind, name, path, what is posted there, and why the reply fails."""


def refused(*statuses: int) -> Judge:
    return lambda found: "" if found.status in statuses else f"status {found.status} {found.said}"


def bounded(found: Reply) -> str:
    """A good answer or a clear refusal, of no more than a few megabytes, and soon."""
    if not 200 <= found.status < 500 and found.status != 503:
        return f"status {found.status} {found.said}"
    if found.status >= 400 and not any(word in found.body for word in (b'"remedy"', b'"error"')):
        return f"status {found.status} without a remedy"
    if found.seconds > SECONDS:
        return f"it took {found.seconds:.0f} s"
    return f"it sent {len(found.body) >> 20} MiB" if len(found.body) > 64 << 20 else ""


CHAT = {"model": "churches", "messages": [{"role": "user", "content": QUESTION}]}
BODIES: dict[str, dict[str, Any]] = {
    **{f"{API}/{name}": {"question": QUESTION} for name in ("ask", "retrieve", "plan")},
    **{f"{API}/{name}": {"plan": ALL} for name in ("set", "set/marks", "facets", "plan/edit")},
    f"{API}/export": {"plan": ALL, "format": "csv"},
    f"{API}/sparql": {"query": "SELECT * {?s ?p ?o} LIMIT 3"},
    "/v1/chat/completions": CHAT,
}


def conditions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Plans that are small to send and large to answer."""
    texted = [
        {"kind": "texted", "texts": [chr(97 + n % 26)], "way": {"paths": [["P1"], ["P3"]]}}
        for n in range(2000)
    ]
    yield "2,000 texts in one either", {"where": [{"kind": "either", "of": texted}]}
    yield "2,000 conditions", {"where": texted}
    yield "2,000 words in one text", {"where": [{"kind": "texted", "texts": [f"{n:x}" for n in range(2000)]}]}
    anything = {"kind": "related", "way": {"paths": [["P1*", "^P1*", "P2*"]] * 300}, "to": {"plan": ALL}}
    yield "300 ways", {"where": [anything]}
    yield "300 relations", {"where": [anything | {"way": {"paths": [["P46*"]]}}] * 300}
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"where": [{"kind": "related", "way": {"paths": [["P46"]]}, "to": {"plan": deep}}]}
    yield "plans 100 deep", deep
    columns = [{"way": {"paths": [["P1"], ["P2"], ["P46"]]}}] * 200
    yield "a table of 200 columns", {"compute": {"kind": "table", "columns": columns}}


def queries() -> Iterator[str]:
    """SPARQL that asks for more than there is."""
    yield "SELECT * {" + " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(8)) + "}"
    yield "SELECT (COUNT(*) AS ?n) {" + " ".join(f"?a{n} ?b{n} ?c{n} ." for n in range(5)) + "}"
    yield "SELECT * {?a (!<x:y>)* ?b . ?b (!<x:y>|^!<x:y>)* ?c}"
    yield "SELECT ?x {?x ?p ?o FILTER(REGEX(STR(?o), '(a+)+$'))}"
    yield "SELECT (GROUP_CONCAT(?o) AS ?all) {?s ?p ?o . ?t ?q ?r}"
    yield "SELECT * {" + "{" * 5000 + "}" * 5000 + "}"
    yield "CONSTRUCT {?a ?p ?c} {?a ?p ?b . ?c ?q ?d . ?e ?r ?f}"
    yield "SELECT * {SERVICE <http://127.0.0.1:9/> {?s ?p ?o}}"
    yield "SELECT * {?s ?p ?o} ORDER BY " + "RAND() " * 2000
    yield (
        "SELECT (REPLACE(CONCAT("
        + ",".join(["STR(?o)"] * 3000)
        + "), '.', 'xxxxxxxxxxxxxxxx') AS ?x) {?s ?p ?o}"
    )


def posts(chance: random.Random, each: int) -> list[Attack]:
    made: list[Attack] = [
        ("bodies of 10 MB", path, path, {"content": b"[" * 10_000_000}, refused(413)) for path in BODIES
    ]
    for path, body in BODIES.items():
        forms = {"content": json.dumps(body), "headers": {"Content-Type": "text/plain"}}
        made.append(("pages of others", f"{path} as text/plain", path, forms, refused(403, 415, 422)))
        foreign = {"json": body, "headers": {"Origin": "https://evil.example"}}
        made.append(("pages of others", f"{path} from evil.example", path, foreign, refused(403)))
    for name, plan in conditions():
        for path in ("set", "facets", "export"):
            asked = {"plan": plan} | ({"format": "json"} if path == "export" else {})
            made.append(("large plans", f"{path}: {name}", f"{API}/{path}", {"json": asked}, bounded))
    for words in (
        "red or ",
        "not ",
        "and the church of ",
        "in ",
        "painted by painters who painted ",
        '"',
        "(",
        "1100 to ",
    ):
        for path in ("ask", "plan", "retrieve"):
            asked = {"question": f"Which churches are {words * 570}blue?"}
            made.append(("long questions", f"{path}: {words}", f"{API}/{path}", {"json": asked}, bounded))
    made += [
        ("SPARQL", query[:60], f"{API}/sparql", {"json": {"query": query}}, bounded) for query in queries()
    ]
    for path, body in BODIES.items():
        for number in range(each // 10):
            bad = {
                "content": spoilt(json.dumps(body).encode(), chance),
                "headers": {"Content-Type": "application/json"},
            }
            made.append(("bad JSON", f"{path} {number}", path, bad, bounded))
        for value in (None, [], 7, "x", {"": {}}, "\ud800" * 9, [[]] * 9, 10**400):
            wrong = {"content": json.dumps(dict.fromkeys([*body, "dataset", "limit", "history"], value))}
            wrong["headers"] = {"Content-Type": "application/json"}  # type: ignore[assignment]
            made.append(("bad JSON", f"{path} {ascii(value)[:20]}", path, wrong, bounded))
    return made


def attack_requests(record: Record, release: Path, state: Path, chance: random.Random, each: int) -> None:
    with process(data_of(release), "--state", str(state)) as running:
        send(
            running.address, "POST", f"{API}/sparql", json={"query": "ASK {}"}
        )  # its process starts with the first query
        for kind, name, path, more, judge in posts(chance, each):
            with Watch(running) as watch:
                found = send(running.address, "POST", path, **more)
            record.add("requests", kind, name, judge(found) or watch.fault, found.seconds, watch.grown)
        record.add("requests", "connections", "60 exports that nobody reads", *crowd(running, 60, export()))
        record.add(
            "requests",
            "connections",
            "200 halves of a head",
            *crowd(running, 200, b"GET / HTTP/1.1\r\nHost: a"),
        )
        half = b"POST /api/v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
        record.add("requests", "connections", "200 halves of a body", *crowd(running, 200, half))
        for number in range(each):
            said = chance.choice(
                [b"", b"GET ", b"POST /api/v1/ask HTTP/1.1\r\n", b"\x16\x03\x01", b"PRI * HTTP/2.0\r\n\r\n"]
            )
            record.add(
                "requests",
                "random bytes",
                str(number),
                *noise(running, said + chance.randbytes(400) + b"\r\n\r\n"),
            )
        record.add("requests", "its end", "SIGTERM", *ended(running))


def export() -> bytes:
    body = json.dumps({"plan": ALL, "format": "jsonld"}).encode()
    head = f"POST {API}/export HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def connected(running: Process) -> socket.socket:
    """A connection whose replies pile up at the sender."""
    parts = urlsplit(running.address)
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    found.settimeout(SECONDS)
    found.connect((str(parts.hostname), parts.port or 80))
    return found


def crowd(running: Process, many: int, said: bytes) -> tuple[str, float, float]:
    """While so many connections have said that and read nothing, others are answered."""
    with ExitStack() as stack:
        for _ in range(many):
            stack.enter_context(connected(running)).sendall(said)
        with Watch(running) as watch:
            found = send(running.address, "GET", f"{API}/search", params={"text": "Asinou"})
        slow = f"a search took {found.seconds:.0f} s" if found.seconds > WAIT else ""
        return refused(200)(found) or slow or watch.fault, found.seconds, watch.grown


def noise(running: Process, said: bytes) -> tuple[str, float, float]:
    """What is no HTTP is refused or not answered, and the connection ends."""
    begun, told = time.monotonic(), b""
    with connected(running) as connection, suppress(ConnectionError):
        connection.sendall(said)
        connection.shutdown(socket.SHUT_WR)
        try:
            while piece := connection.recv(65_536):
                told += piece
        except TimeoutError:
            return "the connection stays open", SECONDS, 0.0
    status = told[9:10]
    return (
        "" if not told or status in (b"2", b"3", b"4") else f"it said {told[:60]!r}",
        time.monotonic() - begun,
        0.0,
    )


def ended(running: Process) -> tuple[str, float, float]:
    """The service ends when it is told to, and its log holds no traceback and no key."""
    begun = time.monotonic()
    try:
        log = running.end()
    except subprocess.TimeoutExpired:
        return "it does not end", time.monotonic() - begun, 0.0
    fault = next((word for word in ("Traceback", KEY) if word in log), "")
    return fault and f"its log holds {fault}", time.monotonic() - begun, 0.0
