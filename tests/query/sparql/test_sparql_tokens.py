"""The plain form of a query means what the query means, and hides nothing."""

from __future__ import annotations

import time

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given
from hypothesis import strategies as st
from rdflib.plugins.sparql.parser import parseQuery

from crmrag_query.errors import QuestionError
from crmrag_query.sparql.check import Token, tokenise

CHARACTERS = st.characters(exclude_categories=["Cs"])
LONG = """PREFIX ex: <http://example.org/> # comment with "quotes' and <brackets
PREFIX : <http://example.org/\\u00e9/>
SELECT DISTINCT ?s (COUNT(*) AS ?n) WHERE {
  ?s a ex:A.b-c , :d ; ex:p/^ex:q*|!(ex:r|^ex:s) 'x\\ty', \"\"\"long "one"
over lines\"\"\"@en-gb, "1"^^<http://www.w3.org/2001/XMLSchema#integer>, -1.5e3, true .\r\n  OPTIONAL { ?s ex:p?/:q+ [] }
  FILTER(?n>=1&&?s!=ex:b||!BOUND(?x)) # end
  VALUES (?x ?y) { (UNDEF ex:a\\,b) (1 2.0) }
} GROUP BY ?s HAVING(COUNT(*)>1) ORDER BY DESC(?n) LIMIT 10"""


def test_both_parsers_read_the_plain_form() -> None:
    tokens = tokenise(LONG)
    assert "\n" not in tokens.text and "\r" not in tokens.text and "comment" not in tokens.text
    parseQuery(tokens.text)
    assert list(ox.Store().query(tokens.text)) == list(ox.Store().query(LONG)) == []


def test_names_with_escaped_signs_are_the_same_iris_for_both_parsers() -> None:
    query = r"PREFIX t: <http://example.org/> SELECT ?x { VALUES ?x { t:type\/church t:a\,b t:plain } }"
    plain = tokenise(query).text
    expected = [row[0].value for row in ox.Store().query(query)]
    assert expected == [row[0].value for row in ox.Store().query(plain)]
    assert expected[0] == "http://example.org/type/church"
    assert [str(row[0]) for row in rdflib.Graph().query(plain)] == expected


def test_plain_form_is_its_own_plain_form() -> None:
    once = tokenise(LONG).text
    assert tokenise(once).text == once


@given(st.text(CHARACTERS, max_size=20))
def test_a_string_keeps_its_value(text: str) -> None:
    for query in (f"SELECT ({written} AS ?x) {{}}" for written in _strings(text)):
        found = list(ox.Store().query(tokenise(query).text))
        assert [row["x"].value for row in found] == [text]


def _strings(text: str) -> list[str]:
    escaped = "".join(f"\\U{ord(sign):08x}" for sign in text)
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return [
        f'"{plain}"',
        f"'{escaped}'",
        f'"""{escaped}"""',
        f"'''{plain.replace(chr(39), chr(92) + chr(39))}'''",
    ]


@given(st.text("?$<>\"'\\#{}()[].,:;@^|!&=-+*/aSERVICE_u0053 \n\r\té☃", max_size=60))
def test_no_text_breaks_it_and_the_plain_form_is_one_line(text: str) -> None:
    try:
        tokens = tokenise(text)
    except QuestionError:
        return
    assert not {"\n", "\r", "\t"} & set(tokens.text)
    assert [token.kind for token in tokenise(tokens.text).tokens] == [token.kind for token in tokens.tokens]


def test_a_query_is_not_read_in_square_time() -> None:
    """Bad cases of every terminal."""
    began = time.process_time()
    for piece in (
        '"""',
        "'''a",
        '"\\',
        "a" * 9,
        "a:",
        "?",
        "<",
        "<a",
        "a.",
        ".1e",
        "%",
        "@a-",
        "_:a.",
        "#",
        "{",
    ):
        try:
            tokenise(piece * 20_000)
        except QuestionError:
            continue
    assert time.process_time() - began < 15


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("SELECT * {\n  ?s ?p \x01 }", "'\\x01' (line 2, column 9)"),
        ("ASK { \\u0053ERVICE }", "'\\\\' (line 1, column 7)"),
        ('ASK { "a\n" }', "'\"' (line 1, column 7)"),
        ("ASK {\u00a0}", "'\\xa0' (line 1, column 6)"),
        ("ſELECT * {}", "line 1, column 1"),
    ],
)
def test_what_is_no_terminal_is_told_with_its_place(query: str, place: str) -> None:
    with pytest.raises(QuestionError) as told:
        tokenise(query)
    assert place in str(told.value)


@pytest.mark.parametrize(
    "query", ["ASK { <http://a/\\u0020> ?p ?o }", "ASK { ?s ?p '\\uD800' }", "ASK { ?s ?p '\\UFFFFFFFF' }"]
)
def test_escapes_of_what_may_not_stand_there_are_refused(query: str) -> None:
    with pytest.raises(QuestionError, match="line 1"):
        tokenise(query)


def test_strings_side_by_side_stay_apart() -> None:
    assert tokenise("''\"b\"").text == '"" "b"'
    assert tokenise("'''a''''b'\n#x\n@en").text == '"a" "b" @en'
    assert tokenise(" \n(?a+1)#x\n\t* 'x'@en^^<a>").text == '(?a+1) * "x"@en^^<a>'


def test_longest_terminal_wins() -> None:
    found = [
        (token.kind, token.text)
        for token in tokenise("?a-1 ex:a.b. SERVICE:x <a&&b> < b a?b 'x'@en-x").tokens
    ]
    assert found == [
        ("variable", "?a"), ("number", "-1"), ("prefixed", "ex:a.b"), ("sign", "."), ("prefixed", "SERVICE:x"),
        ("iri", "<a&&b>"), ("sign", "<"), ("word", "b"), ("word", "a"), ("variable", "?b"), ("string", '"x"'),
        ("language", "@en-x"),
    ]  # fmt: skip


def test_depth_counts_brackets_but_not_those_in_strings() -> None:
    assert tokenise("ASK { { ((')))') [ ] } }").depth == 4
    assert tokenise("} } {").depth == 0
    assert tokenise("ASK").tokens == (Token("word", "ASK", 0),)
