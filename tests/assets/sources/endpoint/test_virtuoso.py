"""Virtuoso as our tests start it, and what it makes of triples: nothing but the literals that we know of."""

from __future__ import annotations

import io
import json
import urllib.request
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pyoxigraph as ox
import pytest
import zstandard

from tests.support.virtuoso import Virtuoso, available, virtuoso
from tests.support.virtuoso_forms import as_stored

XSD = "http://www.w3.org/2001/XMLSchema#"
ROW_CAP = 5000
FORMS = {
    "string": ("", " a ", "tab\t, line\n, return\r and \x00\x01\x1f\x7f\x85\u2028\ufeff\U0010ffff", "Ἐξηκίας", "1"),
    "integer": ("1", "01", "+1", "-0"),
    "nonNegativeInteger": ("005",),
    "decimal": ("1", "1.0", "1.50", ".5", "-0.0", "+1.5", "100000000000000000000.5", "0.1234567890123456789"),
    "double": ("1", "1.0E0", "1e5", "8.609999999999999E0", "35.0459871234", "-1.5E-3", "1e-5", "1e16", "INF", "NaN"),
    "float": ("1", "1.50", "33.1234567", "16777217"),
    "boolean": ("true", "false", "1"),
    "date": (
        "2001-01-02", "2001-01-02Z", "300-01-01", "-0300-01-01", "2001", "2001-02", "12001-01-01", "2001-13-01", "abc",
        "2001-01-02T00:00:00", "2001-01-02-05:00",
    ),
    "dateTime": (
        "2001-01-02T03:04:05", "2001-01-02T03:04:05.000Z", "2001-01-02T03:04:05.120", "2001-01-02T03:04", "2001", "300",
        "-0500-01-01T00:00:00", "-200", "2001-01-02", "2001-01-02Z", "2001-01-02T03:04:05.000+01:00",
    ),
    "gYear": ("2001", "300", "-0300", "2001Z"),
    "gYearMonth": ("300-01",),
    "token": (" a ",),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not available(), reason="Virtuoso is not installed")


@pytest.fixture(scope="module")
def server() -> Iterator[Virtuoso]:
    with virtuoso(b'<http://e/a> <http://e/b> "c" .\n', "http://g/first", row_cap=ROW_CAP) as running:
        yield running
    assert not running.folder.exists()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(running.url)


def test_each_form_of_a_literal_is_changed_as_we_say(server: Virtuoso) -> None:
    literals = [ox.Literal(text, datatype=ox.NamedNode(XSD + name)) for name in FORMS for text in FORMS[name]]
    literals += [ox.Literal("x", language=tag) for tag in ("en", "EN-gb", "zh-Hant-TW")]
    subjects = [ox.NamedNode(f"http://e/{n}") for n in range(len(literals))]
    triples = [ox.Triple(s, ox.NamedNode("http://e/p"), o) for s, o in zip(subjects, literals, strict=True)]
    server.load(_ntriples(triples), "http://g/forms")
    answers = {subject: value for subject, _, value in _triples(server, "http://g/forms")}
    assert answers == dict(zip(subjects, map(as_stored, literals), strict=True))


def test_the_sample_comes_back_as_it_is(server: Virtuoso) -> None:
    sample = Path(__file__).resolve().parents[4] / "data" / "sample" / "troodos.ttl"
    triples = _parsed(sample.read_bytes(), ox.RdfFormat.TURTLE)
    server.load(_ntriples(triples), "http://g/sample")
    assert _without_blanks(_triples(server, "http://g/sample")) == _without_blanks(triples)


def test_asinou_comes_back_as_it_is(server: Virtuoso, shared_data: Path) -> None:
    triples = _parsed((shared_data / "asinou.ttl").read_bytes(), ox.RdfFormat.TURTLE)
    server.load(_ntriples(triples), "http://g/asinou")
    assert _without_blanks(_triples(server, "http://g/asinou")) == _without_blanks(triples)


@pytest.mark.parametrize(
    ("name", "datatype", "changed"),
    [("aac_wam", "date", 9), ("linkedart_mixed", "dateTime", 1131), ("linkedart_mixed", "double", 1)],
)
def test_dates_and_numbers_of_museums_change_as_we_say(
    server: Virtuoso, shared_data: Path, name: str, datatype: str, changed: int
) -> None:
    packed = (shared_data / f"{name}.nt.zst").read_bytes()
    data = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(packed)).read()
    graph, iri = f"http://g/{name}/{datatype}", ox.NamedNode(XSD + datatype)
    kept = [line for line in data.splitlines(keepends=True) if str(iri).encode() in line]
    server.load(b"".join(kept), graph)
    given = Counter(_literals(_parsed(b"".join(kept), ox.RdfFormat.N_TRIPLES)))
    stored = Counter({(s, p, as_stored(o)): n for (s, p, o), n in given.items()})
    assert Counter(_triples(server, graph)) == stored
    assert (stored - given).total() == changed


def test_more_rows_than_the_cap_are_cut_with_a_header_to_say_so(server: Virtuoso) -> None:
    lines = [f"<http://e/s> <http://e/p> <http://e/{n}> .\n" for n in range(ROW_CAP + 1)]
    server.load("".join(lines).encode(), "http://g/many")
    headers, rows = _ask(server, "SELECT ?o { GRAPH <http://g/many> { ?s ?p ?o } }")
    assert headers["X-SPARQL-MaxRows"] == str(len(rows)) == str(ROW_CAP)


def test_what_virtuoso_will_not_load_is_an_error(server: Virtuoso) -> None:
    with pytest.raises(RuntimeError, match="Invalid characters in angle-bracketed name"):
        server.load(b"<http://e/a b> <http://e/p> <http://e/c> .\n", "http://g/bad")


def _parsed(data: bytes, kind: ox.RdfFormat) -> list[ox.Triple]:
    return [quad.triple for quad in ox.parse(data, format=kind)]


def _literals(triples: Iterable[ox.Triple]) -> Iterator[tuple[object, object, ox.Literal]]:
    for triple in triples:
        if isinstance(triple.object, ox.Literal):
            yield triple.subject, triple.predicate, triple.object


def _ntriples(triples: Iterable[ox.Triple]) -> bytes:
    return ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES) or b""


def _ask(server: Virtuoso, query: str) -> tuple[dict[str, str], list[dict[str, dict[str, str]]]]:
    request = urllib.request.Request(server.url, urlencode({"query": query}).encode())
    request.add_header("Accept", "application/sparql-results+json")
    with urllib.request.urlopen(request) as response:
        return dict(response.headers), json.load(response)["results"]["bindings"]


def _triples(server: Virtuoso, graph: str, constraint: str = "") -> list[tuple[object, object, object]]:
    _, rows = _ask(server, f"SELECT ?s ?p ?o {{ GRAPH <{graph}> {{ ?s ?p ?o }} {constraint} }}")
    return [(_term(row["s"]), _term(row["p"]), _term(row["o"])) for row in rows]


def _term(cell: dict[str, str]) -> ox.NamedNode | ox.BlankNode | ox.Literal:
    if cell["type"] == "uri":
        return ox.NamedNode(cell["value"])
    if cell["type"] == "bnode":
        return ox.BlankNode(cell["value"].removeprefix("nodeID://"))
    if tag := cell.get("xml:lang"):
        return ox.Literal(cell["value"], language=tag)
    return ox.Literal(cell["value"], datatype=ox.NamedNode(cell.get("datatype", XSD + "string")))


def _without_blanks(triples: Iterable[Iterable[object]]) -> Counter[tuple[object, ...]]:
    return Counter(
        tuple("" if isinstance(term, ox.BlankNode) else term for term in triple) for triple in triples
    )
