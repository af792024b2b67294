"""A server that speaks as Wikidata's API does, on localhost, with a few items."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.api_server import Answering, answering
from tests.support.api_server import send as whole


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
    whole(handler, status, "application/json", body, headers)


@contextmanager
def wiki(items: dict[str, Any] = ITEMS, answer: Answering | None = None) -> Iterator[Wiki]:
    script = Wiki(items, answer)

    def answered(handler: BaseHTTPRequestHandler) -> None:
        query = parse_qs(urlsplit(handler.path).query)
        script.asked.append(query)
        script.agents.append(handler.headers["User-Agent"])
        if script.answer is not None:
            script.answer(handler)
            return
        found = {id: script.items.get(id, {"id": id, "missing": ""}) for id in query["ids"][0].split("|")}
        send(handler, json.dumps({"entities": found}).encode())

    with answering(answered, "HTTP/1.0") as address:
        script.address = f"{address}/w/api.php"
        yield script
