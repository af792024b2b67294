"""Bodies of responses: read exactly or refused, whatever they are called and however they were damaged."""

from __future__ import annotations

import json
import re
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from crmrag_assets.sources.endpoint.queries import is_iri
from crmrag_assets.sources.endpoint.results import JSON, TSV, Mangled, NotResults, Row, read_body
from tests.support.endpoints import SPECIMENS, node, quad
from tests.support.sparql_answers import LOGIN_PAGE

FORMATS = (TSV, JSON)
SPO = ("s", "p", "o")
QUERY = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"
XSD = "http://www.w3.org/2001/XMLSchema#"


def body_of(values: list[Any], format: ox.QueryResultsFormat) -> bytes:
    """The response of a real store that holds the values as objects."""
    store = ox.Store()
    store.extend(quad("s", f"p{n:02}", value) for n, value in enumerate(values))
    found = store.query(QUERY).serialize(format=format)  # type: ignore[union-attr]
    assert found is not None
    return found


def read(body: bytes, variables: tuple[str, ...] = SPO, kind: str = "") -> list[Row]:
    return read_body(body, kind, variables).rows


def objects(rows: list[Row]) -> list[Any]:
    return [o for _, o in sorted((p.value, o) for _, p, o in rows if p)]  # type: ignore[union-attr]


def bindings(*terms: dict[str, Any]) -> bytes:
    """A JSON response of one variable ?a."""
    return json.dumps(
        {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": one} for one in terms]}}
    ).encode()


LITERALS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
TERMS = st.one_of(
    LITERALS.map(ox.Literal),
    st.builds(
        lambda text, tag: ox.Literal(text, language=tag), LITERALS, st.sampled_from(["en", "de-CH-1996"])
    ),
    st.builds(lambda text: ox.Literal(text, datatype=node("type")), LITERALS),
    st.text(st.characters(exclude_categories=["Cs", "Cc", "Zs", "Co", "Cn"]))
    .map(lambda text: "http://example.org/x" + text)
    .filter(is_iri)
    .map(ox.NamedNode),
)


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_gives_what_was_stored(format: ox.QueryResultsFormat) -> None:
    assert objects(read(body_of(SPECIMENS, format))) == SPECIMENS


@pytest.mark.parametrize("format", [TSV, JSON])
@settings(max_examples=50)
@given(values=st.lists(TERMS, min_size=1, max_size=5))
def test_every_character_survives(format: ox.QueryResultsFormat, values: list[Any]) -> None:
    assert objects(read(body_of(values, format))) == values


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("kind", ["", "text/plain", *(one.media_type for one in FORMATS)])
def test_a_body_is_what_it_is_and_not_what_it_is_called(format: ox.QueryResultsFormat, kind: str) -> None:
    table = read_body(body_of(SPECIMENS, format), kind.partition(";")[0], SPO)
    assert (len(table.rows), table.format) == (len(SPECIMENS), format)
    assert table.labelled == (kind == format.media_type)


def test_unbound_variables_are_none() -> None:
    assert read(b"?a\t?b\n\t1\n", ("a", "b")) == [(None, ox.Literal(1))]
    assert read(b'{"head":{"vars":["a","b"]},"results":{"bindings":[{}]}}', ("a", "b")) == [(None, None)]


@pytest.mark.parametrize("kind", ["", "text/html", TSV.media_type, "application/sparql-results+xml"])
def test_what_is_no_result_is_told_apart(kind: str) -> None:
    """Also TSV without question marks in its head, as some endpoints write it: everything is a string there.

    And XML: its parsers trim the white space of literals, and take a body that is cut for a shorter one.
    """
    xml = body_of(SPECIMENS, ox.QueryResultsFormat.XML)
    for body in (b"", b"\n", LOGIN_PAGE.body, b"OK", b"<rdf:RDF/>", b"[]", b'"s"\t"p"\n"a"\t"b"\n', xml):
        with pytest.raises(NotResults):
            read(body, kind=kind)


@pytest.mark.parametrize("format", FORMATS)
def test_rows_of_other_columns_are_refused(format: ox.QueryResultsFormat) -> None:
    for variables in (("s", "p"), ("s", "o", "p"), ("s", "p", "n"), ("s", "p", "o", "g")):
        with pytest.raises(Mangled, match="were asked for"):
            read(body_of(SPECIMENS, format), variables)


# Damage.


@pytest.mark.parametrize("format", FORMATS)
def test_a_body_cut_anywhere_is_never_read_as_fewer_or_other_rows(format: ox.QueryResultsFormat) -> None:
    """But for TSV that is cut at the end of a line: only the number of rows can tell, which the caller compares."""
    body = body_of(SPECIMENS, format)
    whole = read(body)
    for end in range(len(body)):
        try:
            found = read(body[:end])
        except (Mangled, NotResults):
            continue
        if format is TSV and body[:end].endswith(b"\n"):
            assert found == whole[: len(found)] and len(found) == body[:end].count(b"\n") - 1
        else:
            assert found == whole, body[:end]


@pytest.mark.parametrize("tail", [b"Virtuoso S1T00 Error: timed out\n", b"<html></html>", b"{}", b"\n\0"])
@pytest.mark.parametrize("format", FORMATS)
def test_a_message_in_place_of_the_rest_is_refused(format: ox.QueryResultsFormat, tail: bytes) -> None:
    body = body_of(SPECIMENS, format)
    for end in (len(body) // 2, body.rfind(b"\n", 0, len(body) // 2) + 1, len(body)):
        with pytest.raises((Mangled, NotResults)):
            read(body[:end] + tail)


def test_line_ends_within_strings_are_refused_and_those_of_lines_are_not() -> None:
    assert read(b'?a\r\n"x"\r\n', ("a",)) == [(ox.Literal("x"),)]
    for body in (b'?a\n"x\ry"\n', b'?a\n"x\ny"\n', b'?a\n"x\ty"\n', b'?a\n"x"y"\n'):
        with pytest.raises(Mangled):
            read(body, ("a",))


def changes(body: bytes) -> st.SearchStrategy[bytes]:
    """The body after one to three changes: a byte, a stretch left out, moved or repeated."""
    places = st.tuples(st.integers(0, len(body)), st.integers(0, len(body))).map(sorted)

    def changed(old: bytes, change: tuple[str, list[int], int]) -> bytes:
        kind, (start, end), byte = change
        if kind == "byte":
            return old[:start] + bytes([byte]) + old[start + 1 :]
        if kind == "swap":  # the structure's own characters are where readers differ
            return old[:start] + bytes([b'"\\\t\n{}[],:<>@^_'[byte % 15]]) + old[start + byte % 2 :]
        if kind == "lack":
            return old[:start] + old[end:]
        return old[:end] + old[start:]

    kinds = st.sampled_from(["byte", "swap", "swap", "lack", "repeat"])
    several = st.lists(st.tuples(kinds, places, st.integers(0, 255)), min_size=1, max_size=3)

    def apply(found: list[tuple[str, list[int], int]]) -> bytes:
        new = body
        for change in found:
            new = changed(new, change)
        return new

    return several.map(apply)


TSV_BODY, JSON_BODY = (body_of(SPECIMENS, format) for format in (TSV, JSON))


@settings(max_examples=300)
@given(changes(TSV_BODY))
def test_damaged_tsv_is_read_as_it_is_written_or_refused(body: bytes) -> None:
    """Against a reader of its own: the grammar of the format's specification, term by term."""
    try:
        rows = read(body)
    except (Mangled, NotResults):
        return
    assert [tuple(map(plain, row)) for row in rows] == tsv_rows(body)


@settings(max_examples=300)
@given(changes(JSON_BODY))
def test_damaged_json_is_read_as_it_is_written_or_refused(body: bytes) -> None:
    try:
        table = read_body(body, "", SPO)
    except (Mangled, NotResults):
        return
    raw = json.loads(body)
    assert raw["head"]["vars"] == list(SPO)
    bindings = raw["results"]["bindings"]
    assert len(table.rows) + table.skipped == len(bindings)
    if not table.repaired and not table.skipped:
        written = [tuple(json_term(one.get(name)) for name in SPO) for one in bindings]
        assert [tuple(map(plain, row)) for row in table.rows] == written


Plain = tuple[str, str, str, str] | None
BLANK = "bnode", "", "", ""  # labels may be replaced: see below
_TSV_TERM = re.compile(
    r'(?P<iri><(?P<in>[^\x00-\x20<>"{}|^`]*)>)|(?P<blank>_:(?P<label>\S+))|(?P<integer>[+-]?\d+)'
    r"|(?P<decimal>[+-]?\d*\.\d+)|(?P<double>[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+)|(?P<boolean>true|false)"
    r'|"(?P<text>([^"\\\n\r]|\\.)*)"(@(?P<lang>[A-Za-z]+(-[A-Za-z0-9]+)*)|\^\^<(?P<type>[^>]*)>)?'
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def plain(term: Any) -> Plain:
    """Kind, text, datatype and language of a term."""
    if term is None:
        return None
    if isinstance(term, ox.Literal):
        return (
            "literal",
            term.value,
            "" if term.language else term.datatype.value,
            (term.language or "").lower(),
        )
    if isinstance(term, ox.BlankNode):
        return BLANK
    assert isinstance(term, ox.NamedNode)
    return "uri", term.value, "", ""


def json_term(raw: dict[str, str] | None) -> Plain:
    if raw is None:
        return None
    kind, text, language = raw["type"], raw["value"], raw.get("xml:lang", "")
    if kind not in ("literal", "typed-literal"):
        return BLANK if kind == "bnode" else (kind, text, "", "")
    datatype = "" if language else raw.get("datatype", XSD + "string")
    return "literal", text, datatype, language.lower()


def tsv_rows(body: bytes) -> list[tuple[Plain, ...]]:
    text = body.decode()
    assert text.endswith("\n")
    head, *lines = text[:-1].replace("\r\n", "\n").split("\n")
    assert [name.lstrip("?$") for name in head.split("\t")] == list(SPO)
    found = [tuple(tsv_term(cell.strip(" ")) for cell in line.split("\t")) for line in lines]
    assert all(len(row) == 3 for row in found)
    return found


def tsv_term(cell: str) -> Plain:
    if not cell:
        return None
    match = _TSV_TERM.fullmatch(cell)
    assert match, cell
    if match["iri"]:
        return "uri", unescaped(match["in"]), "", ""
    if match["blank"]:
        return BLANK
    for name in ("integer", "decimal", "double", "boolean"):
        if match[name]:
            return "literal", cell, XSD + name, ""
    datatype = "" if match["lang"] else match["type"] or XSD + "string"
    return "literal", unescaped(match["text"]), unescaped(datatype), (match["lang"] or "").lower()


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: _PLAIN[m[3]] if m[3] else chr(int(m[1] or m[2], 16)), text)


# JSON that only its terms make invalid.


def test_invalid_iris_are_repaired_or_their_rows_left_out_and_counted() -> None:
    body = bindings({"type": "uri", "value": "http://e/a b"}, {"type": "uri", "value": "http://e/c"},
                    {"type": "literal", "value": "1", "datatype": "http://e/{d}"},
                    {"type": "uri", "value": "relative"}, {"type": "literal", "value": "x"},
                    {"type": "literal", "value": "x", "xml:lang": "no language"})  # fmt: skip
    table = read_body(body, JSON.media_type, ("a",))
    typed = ox.Literal("1", datatype=ox.NamedNode("http://e/%7Bd%7D"))
    expected = [ox.NamedNode("http://e/a%20b"), ox.NamedNode("http://e/c"), typed, ox.Literal("x")]
    assert [term for (term,) in table.rows] == expected
    assert (table.repaired, table.skipped, table.labelled) == (2, 2, True)
    with pytest.raises(Mangled):  # so that JSON is asked for
        read(b"?a\n<http://e/a b>\n", ("a",))


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4), min_size=2, max_size=6
    )
)
def test_any_labels_of_blank_nodes_tell_them_apart(labels: list[str]) -> None:
    odd = ["nodeID://b1", *labels]
    assume(not any(re.fullmatch("x([0-9a-f]{2})+", label) for label in odd))
    found = [row[0] for row in read(bindings(*({"type": "bnode", "value": label} for label in odd)), ("a",))]
    assert all(isinstance(one, ox.BlankNode) for one in found)
    assert [[one == other for other in found] for one in found] == [[a == b for b in odd] for a in odd]


@pytest.mark.parametrize(
    "term",
    [
        {"type": "ur1", "value": "http://e/a"},
        {"type": "literal", "value": 5},
        {"type": "uri", "value": None},
        {"type": "literal"},
        {"value": "x"},
        {"type": "literal", "value": "x", "lang": "en"},
        {"type": "literal", "value": "x", "xml:lang": 7},
        [],
        "x",
    ],
)
def test_json_that_is_no_term_is_never_taken_for_one(term: Any) -> None:
    with pytest.raises(Mangled):
        read(bindings(term), ("a",))


@pytest.mark.parametrize(
    "text",
    [
        '{"head":{"vars":["a"]},"results":{"bindings":{}}}',
        '{"head":{"vars":["a"]},"results":{"bindings":[{"b":{"type":"literal","value":"x"}}]}}',
        '{"head":{"vars":["a"]},"results":{"bindings":[[]]}}',
        '{"head":{"vars":"a"},"results":{"bindings":[{"a":{"type":"uri","value":"a b:"}}]}}',
        '{"head":{"vars":["a"]},"results":{"bindings":null}}',
        '{"head":{"vars":["a"]}}',
        '{"head":{},"boolean":true}',
        '{"error":"no such graph"}',
        "{" * 5000,
        '{"a":' * 5000,
    ],
)
def test_json_of_another_shape_is_refused(text: str) -> None:
    with pytest.raises(Mangled):
        read(text.encode(), ("a",))


def test_old_names_of_typed_literals_are_known() -> None:
    term = {"type": "typed-literal", "value": "01", "datatype": XSD + "integer"}
    number = ox.Literal("01", datatype=ox.NamedNode(XSD + "integer"))
    assert read(bindings(term), ("a",)) == [(number,)]
    assert read(bindings(term, {"type": "bnode", "value": "nodeID://b1"}), ("a",))[0] == (number,)
