"""Only what reads this data set alone may run: every way around that we know of is refused."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.config.service import SparqlConfig
from crmrag_query.errors import QuestionError
from crmrag_query.sparql.check import check_query

OTHER = "<http://127.0.0.1:1/>"
ONE = ox.Store()
ONE.add(ox.Quad(ox.NamedNode("urn:s"), ox.NamedNode("urn:p"), ox.NamedNode("urn:o")))
GRAPHS = frozenset({"http://example.org/north", "http://example.org/south"})
UPDATES = (
    "INSERT DATA { <urn:a> <urn:p> <urn:b> }",
    "insert { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "DELETE DATA { <urn:a> <urn:p> <urn:b> }",
    "DELETE WHERE { ?s ?p ?o }",
    "WITH <urn:g> DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "LOAD <http://example.org/data>",
    "LOAD SILENT <file:///etc/passwd> INTO GRAPH <urn:g>",
    "CLEAR ALL",
    "DROP GRAPH <urn:g>",
    "CREATE GRAPH <urn:g>",
    "ADD <urn:a> TO <urn:b>",
    "MOVE <urn:a> TO <urn:b>",
    "COPY DEFAULT TO <urn:b>",
    "PREFIX ex: <urn:x> BASE <urn:y> DELETE WHERE { ?s ?p ?o }",
    "ASK {} ; DROP ALL",
    "SELECT * {} INSERT DATA { <urn:a> <urn:p> <urn:b> }",
    "# ASK {}\nDROP ALL",
    "# SELECT\rDROP ALL",
)
SERVICES = (
    f"SELECT * {{ SERVICE {OTHER} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ service silent {OTHER} {{ ?s ?p ?o }} }}",
    "SELECT * { ?s ?p ?o SERVICE ?s { ?s ?p ?o } }",
    f"PREFIX ex: {OTHER} ASK {{ SERVICE ex:x {{ }} }}",
    "PREFIX service: <urn:x> ASK { service:x { } }",
    f"PREFIX : {OTHER} ASK {{ SERVICE:x {{ }} }}",
    f"SELECT * {{ SERVICE{OTHER}{{ ?s ?p ?o }} }}",
    f"SELECT * {{ {{ SELECT * {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} }} }}",
    f"ASK {{ ?s ?p ?o FILTER EXISTS {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} }}",
    f"ASK {{ ?s ?p ?o FILTER NOT EXISTS {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} }}",
    f"SELECT (EXISTS {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} AS ?x) {{}}",
    f"ASK {{ BIND(EXISTS {{ SERVICE {OTHER} {{ }} }} AS ?x) }}",
    f"SELECT * {{ OPTIONAL {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} }}",
    f"SELECT * {{ ?s ?p ?o MINUS {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} }}",
    f"SELECT * {{ {{ }} UNION {{ GRAPH ?g {{ SERVICE {OTHER} {{ ?s ?p ?o }} }} }} }}",
    f"SELECT * {{}} ORDER BY (EXISTS {{ SERVICE {OTHER} {{ }} }})",
    f"SELECT ?s {{ ?s ?p ?o }} GROUP BY ?s HAVING (EXISTS {{ SERVICE {OTHER} {{ }} }})",
    f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ SERVICE {OTHER} {{ ?s ?p ?o }} }}",
    f"DESCRIBE ?s {{ SERVICE {OTHER} {{ ?s ?p ?o }} }}",
    # What one parser takes for the rest of a comment and another for the next line.
    f"SELECT * {{ ?s ?p ?o # harmless\r SERVICE {OTHER} {{ ?s ?p ?o }} }}",
    f"SELECT * {{ ?s ?p ?o # harmless\r\n SERVICE {OTHER} {{ ?s ?p ?o }} }}",
    # Quotes that a parser may take for others.
    f'SELECT * {{ ?s ?p "\\\\" . SERVICE {OTHER} {{ ?s ?p \'"\' }} }}',
    f"SELECT * {{ ?s ?p '''\\\\''' . SERVICE {OTHER} {{ ?s ?p ?o }} }}",
    f'SELECT * {{ ?s ?p "\\\\u0022" . SERVICE {OTHER} {{ ?s ?p "" }} }}',
)
HARMLESS = (
    "SELECT * { ?service ?p 'SERVICE <http://127.0.0.1:1/> {}' } # SERVICE",
    "PREFIX ex: <http://example.org/SERVICE/> ASK { ex:service ex:p ex:LOAD . ?s a ex:INSERT }",
    "SELECT * { ?s <http://example.org/DELETE#SERVICE> ?o }",
    "ASK { ?a ?b ?c FILTER(?a < ?c && ?c > ?b) }",
)


@pytest.mark.parametrize("query", UPDATES)
def test_no_update_runs(query: str, bounds: SparqlConfig) -> None:
    with pytest.raises(QuestionError):
        check_query(query, bounds)


def test_an_update_is_told_as_one(bounds: SparqlConfig) -> None:
    with pytest.raises(
        QuestionError, match=r"DELETE is not allowed: the data can only be read. Ask with SELECT"
    ):
        check_query("PREFIX ex: <urn:x>\ndelete where { ?s ?p ?o }", bounds)


@pytest.mark.parametrize("query", SERVICES)
def test_no_other_endpoint_is_asked(query: str, bounds: SparqlConfig) -> None:
    with pytest.raises(QuestionError, match=r"SERVICE is not allowed|cannot be read"):
        check_query(query, bounds)


@pytest.mark.parametrize("query", HARMLESS)
def test_words_in_names_and_strings_are_harmless(query: str, bounds: SparqlConfig) -> None:
    check_query(query, bounds)


@pytest.fixture(scope="module")
def listening() -> Iterator[socket.socket]:
    """Another endpoint, at which nobody may knock."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


PIECES = st.lists(
    st.sampled_from(
        [
            *" {}()<>\"'#\\\r\n.?:",
            "\\u0022",
            "\\\\",
            '"""',
            "'''",
            "FILTER",
            "EXISTS",
            "#\r",
            "<a",
            "ex:",
            "?s",
        ]
    ),
    max_size=8,
).map("".join)


@settings(max_examples=300)
@given(before=PIECES, within=PIECES, after=PIECES)
def test_whatever_stands_around_it_nobody_else_is_asked(
    before: str, within: str, after: str, bounds: SparqlConfig, listening: socket.socket
) -> None:
    """A query that passes is executed by the engine as it would be in the end; the other endpoint hears nothing."""
    other = f"<http://127.0.0.1:{listening.getsockname()[1]}/>"
    query = f"SELECT * {{ ?s ?p ?o {before} SERVICE {within} {other} {{ ?a ?b ?c }} {after} }}"
    with suppress(QuestionError, SyntaxError, OSError):
        list(ONE.query(check_query(query, bounds).text))
    with pytest.raises(BlockingIOError):
        listening.accept()


def test_from_names_graphs_of_the_data_set_only(bounds: SparqlConfig) -> None:
    ours = "PREFIX ex: <http://example.org/> SELECT * FROM ex:north FROM NAMED <http://example.org/south> {}"
    assert check_query(ours, bounds, GRAPHS).graphs
    assert not check_query("ASK {}", bounds, GRAPHS).graphs
    for query in (
        "ASK FROM <http://example.org/east> {}",
        "SELECT * FROM <http://example.org/north> FROM NAMED <file:///etc/passwd> {}",
        "BASE <http://elsewhere.org/> DESCRIBE <a> FROM <north>",
        "CONSTRUCT { ?s ?p ?o } FROM <http://example.org/east> WHERE { ?s ?p ?o }",
    ):
        with pytest.raises(QuestionError, match="has no graph"):
            check_query(query, bounds, GRAPHS)
    with pytest.raises(QuestionError, match="Leave out FROM"):
        check_query("ASK FROM <urn:g> {}", bounds)
    with pytest.raises(QuestionError, match="prefix"):
        check_query("ASK FROM ex:g {}", bounds, GRAPHS)


def test_bounds(bounds: SparqlConfig) -> None:
    with pytest.raises(QuestionError, match="20001 characters"):
        check_query("#" * 20_001, bounds)
    with pytest.raises(QuestionError, match="65 brackets"):
        check_query("ASK " + "{" * 65 + "}" * 65, bounds)
    check_query("ASK " + "{" * 20 + "}" * 20, bounds)
    for empty in ("", " \n", "# nothing"):
        with pytest.raises(QuestionError, match="empty"):
            check_query(empty, bounds)


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT * {\n  ?s ?p }", r"line 2"),
        ("SELECT * { ?s ?p ?o", "at its end"),
        ("SELEKT * { ?s ?p ?o }", "line 1, column 1"),
        ("ASK {}\n# x\n}", "line 3, column 1"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(query: str, place: str, bounds: SparqlConfig) -> None:
    with pytest.raises(QuestionError, match=place):
        check_query(query, bounds)


@given(text=st.text("SELECTASK?x{}()<>\"'\\#.,:;@^|!&=-+*/ \n\r\té", max_size=50))
def test_any_text_is_a_query_or_told_as_none(text: str, bounds: SparqlConfig) -> None:
    try:
        check_query(text, bounds)
    except QuestionError as error:
        assert error.remedy
