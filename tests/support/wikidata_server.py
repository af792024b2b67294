"""A server that speaks as Wikidata's API does, on localhost, with a few items."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answering = Callable[[BaseHTTPRequestHandler], None]


def claim(value: object, rank: str = "normal") -> dict[str, Any]:
    return {"rank": rank, "mainsnak": {"datavalue": {"value": value}}}


def item(
    label: str, description: str = "", claims: dict[str, Any] | None = None, lang: str = "en"
) -> dict[str, Any]:
    return {
        "labels": {lang: {"value": label}},
        "descriptions": {lang: {"value": description}} if description else {},
        "claims": claims or {},
    }


CHURCH = item(
    "Asinou Church",
    "church in Cyprus",
    {
        "P31": [claim({"id": "Q16970"}), claim({"id": "Q1"}, "deprecated")],
        "P571": [claim({"time": "+1105-00-00T00:00:00Z", "precision": 9})],
        "P18": [claim("Asinou church, 2010.jpg")],
        "P999": [claim("not asked for")],
    },
)
ITEMS = {
    "Q30773293": CHURCH,
    "Q229": item("Cyprus", "island country"),
    "Q16970": item("church building"),
    "P31": item("instance of"),
    "P571": item("inception"),
}


@dataclass
class Wiki:
    """A server that speaks as Wikidata does; ``answer`` stands in for its answer where it is set."""

    items: dict[str, Any]
    answer: Answering | None = None
    address: str = ""
    asked: list[dict[str, list[str]]] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def wiki(items: dict[str, Any] = ITEMS, answer: Answering | None = None) -> Iterator[Wiki]:
    script = Wiki(items, answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            query = parse_qs(urlsplit(self.path).query)
            script.asked.append(query)
            script.agents.append(self.headers["User-Agent"])
            if script.answer is not None:
                script.answer(self)
                return
            found = {id: script.items.get(id, {"id": id, "missing": ""}) for id in query["ids"][0].split("|")}
            send(self, json.dumps({"entities": found}).encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        request_queue_size = 128

        def handle_error(self, *_: object) -> None:
            """A client that hangs up is what some of these tests are about."""

    server = Server(("127.0.0.1", 0), Handler)
    script.address = f"http://127.0.0.1:{server.server_port}/w/api.php"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
