"""Clients of the endpoint of the tests: impatient ones, so that no test waits; and faults that do not pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.sources.endpoint.client import Client
from crmrag_assets.sources.endpoint.kind import Journal, Subjects, discover_subjects
from crmrag_query.config import load_method
from crmrag_query.config.sources import EndpointConfig
from tests.support.faults import Fault
from tests.support.sparql_exchange import Endpoint

EX = "http://example.org/"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
METHOD = load_method()
SPECIMENS: list[Any] = [
    ox.NamedNode(f"{EX}b"),
    ox.NamedNode(f"{EX}é/𐍈?a=1&b='2'"),
    ox.Literal("plain, Παναγία 𐍈"),
    ox.Literal(""),
    ox.Literal("_:b0 <http://e/x> @en ^^"),
    ox.Literal('tab\t, line\n, return\r, "quotes", \\n and 𐍈'),
    ox.Literal("\x0b\x0c\x85\u2028 lines of others"),
    ox.Literal("Αμφορέας", language="el"),
    ox.Literal("x", language="de-CH-1996"),
    ox.Literal('"x"', language="en"),
    ox.Literal("0480", datatype=ox.NamedNode(f"{EX}year")),
    *(
        ox.Literal(text, datatype=ox.NamedNode(f"http://www.w3.org/2001/XMLSchema#{name}"))
        for text, name in (("12", "integer"), ("1.5", "decimal"), ("true", "boolean"))
    ),
    ox.BlankNode("b7"),
]
"""Terms that formats of results are apt to get wrong."""
QUICK = {"pause_seconds": 0, "first_wait_seconds": 0.001, "longest_wait_seconds": 0.05, "timeout_seconds": 5}


def config_of(server: Endpoint | str, requests: dict[str, Any] | None = None, **keys: Any) -> EndpointConfig:
    """The declaration of a server, or of an address, with ``requests`` over the quick ones."""
    url = server if isinstance(server, str) else server.url
    return EndpointConfig(url=url, requests={**QUICK, **(requests or {})}, **keys)


def client_of(server: Endpoint | str, keys: dict[str, Any] | None = None, **requests: Any) -> Client:
    """A client of a server; ``keys`` are further ones of its declaration, ``requests`` set what is not as in QUICK."""
    config = config_of(server, requests, **(keys or {}))
    return Client(config, config.resolved(METHOD.requests))


def subjects_of(client: Client, folder: Path, excluded: tuple[str, ...] = ()) -> Subjects:
    return discover_subjects(client, Journal(folder / "journal", "state"), excluded, SilentProgress())


@dataclass(frozen=True)
class Always:
    """A fault that strikes every query that it applies to and ``chosen`` chooses."""

    fault: Fault
    chosen: Callable[[str], bool] = lambda query: True

    def choose(self, query: str) -> Fault | None:
        return self.fault if self.fault.applies(query) and self.chosen(query) else None


class First:
    """A fault that strikes the first ``times`` askings of each query that it applies to."""

    def __init__(self, fault: Fault, times: int = 1) -> None:
        self._fault, self._times, self._asked = fault, times, Counter[str]()

    def choose(self, query: str) -> Fault | None:
        self._asked[query] += 1
        return self._fault if self._fault.applies(query) and self._asked[query] <= self._times else None


def node(name: str) -> ox.NamedNode:
    """The IRI of a name below EX; a whole IRI itself."""
    return ox.NamedNode(name if ":" in name else EX + name)


def quad(s: str, p: str, o: str | ox.Literal | ox.NamedNode, g: str = "") -> ox.Quad:
    """A quad of names; a text as object is a name too."""
    graph = node(g) if g else ox.DefaultGraph()
    return ox.Quad(node(s), node(p), node(o) if isinstance(o, str) else o, graph)


def star(subjects: int = 12, triples: int = 3) -> list[ox.Quad]:
    """So many subjects, ``s00`` and on, with so many triples each: a class, then literals of different properties."""
    kind = [quad(f"s{n:02}", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type", CRM + "E22_Human-Made_Object")
            for n in range(subjects)]  # fmt: skip
    rest = (
        quad(f"s{n:02}", f"p{k}", ox.Literal(f"{n} {k}")) for n in range(subjects) for k in range(1, triples)
    )
    return [*kind, *rest]
