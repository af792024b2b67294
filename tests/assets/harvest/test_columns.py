"""Terms as columns say what was stated, of whatever can be a row of them; the rest is handed back."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.triples import (
    COLUMNS,
    PLAIN_QUAD,
    PLAIN_TRIPLE,
    columns_of,
    distinct_sorted,
    split_lines,
    to_table,
)
from tests.support.endpoints import EX, node, quad
from tests.support.harvests import row_of

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
IRI_TEXTS = ["http://x/a", "http://x/b?c=d#e", "urn:x:1", "http://x/é/α", "http://x/%20", "http://x/a'b(c)"]
iris = st.sampled_from(IRI_TEXTS).map(ox.NamedNode)
blanks = st.sampled_from("ab").map(ox.BlankNode)
literals = st.one_of(
    TEXT.map(ox.Literal),
    st.builds(lambda text, lang: ox.Literal(text, language=lang), TEXT, st.sampled_from(["en", "el-GR"])),
    st.builds(lambda text, kind: ox.Literal(text, datatype=kind), TEXT, iris),
)
quads = st.builds(
    ox.Quad, st.one_of(iris, blanks), iris, st.one_of(iris, blanks, literals),
    st.one_of(st.just(ox.DefaultGraph()), iris),
)  # fmt: skip


@given(st.lists(quads, max_size=8))
def test_columns_and_the_quads_handed_back_are_all_that_was_stated(stated: list[ox.Quad]) -> None:
    frame, others, anonymous = columns_of(stated)
    assert frame.rows() == [row for quad in stated if (row := row_of(quad))]
    assert others == [quad for quad in stated if row_of(quad) is None] and anonymous == 0
    assert frame.schema == pl.Schema(COLUMNS)
    assert to_table(distinct_sorted(frame)).num_rows == len(set(frame.rows()))


S, P, O, BLANK = node("s"), node("p"), node("o"), ox.BlankNode()  # noqa: E741


@pytest.mark.parametrize(
    ("graph", "name", "anonymous"),
    [(node("g"), f"{EX}g", 0), (None, "", 0), (BLANK, "", 1), (ox.DefaultGraph(), "", 0)],
)
def test_graphs_are_named_unbound_or_blank(graph: Any, name: str, anonymous: int) -> None:
    frame, others, found = columns_of([(S, P, O, graph)])
    assert (frame["g"].to_list(), others, found) == ([name], [], anonymous)


@pytest.mark.parametrize(
    "row",
    [
        (BLANK, P, O),
        (S, None, O),
        (None, P, O),
        (S, P, BLANK),
        (S, P, None),
        (S, P, ox.Triple(S, P, O)),
        (S, BLANK, O),
    ],
)
def test_what_is_no_triple_between_named_things_is_handed_back(row: tuple[Any, ...]) -> None:
    frame, others, _ = columns_of([(*row, None)])
    assert frame.is_empty() and others == [(*row, None)]


# Lines, split at once.


@settings(max_examples=300, deadline=None)
@given(st.lists(quads, max_size=8))
@example([])
@example([quad("http://x/a", "http://x/p", ox.Literal(' <http://g> . "^^ @en -- _:b .'))])
@example([quad("http://x/a", "http://x/p", ox.Literal(""))])
def test_columns_and_the_lines_handed_back_are_all_that_was_stated(stated: list[ox.Quad]) -> None:
    frame, others = split_lines(ox.serialize(stated, format=ox.RdfFormat.N_QUADS), PLAIN_QUAD)
    rest = list(ox.parse(others, format=ox.RdfFormat.N_QUADS))
    left, expected = list(map(row_of, rest)), list(map(row_of, stated))
    assert sorted([*frame.iter_rows(), *filter(None, left)]) == sorted(filter(None, expected))
    assert left.count(None) == expected.count(None)


def test_directions_of_text_are_handed_back() -> None:
    frame, others = split_lines(b'<http://x/a> <http://x/p> "x"@en--ltr .\n', PLAIN_QUAD)
    assert frame.is_empty() and others.endswith(b'"x"@en--ltr .\n')


# What lines may hold that no parser takes, or not as it stands: the parser is asked about all that is called plain.
ODD = st.text(
    st.sampled_from("aZ0:/?#[]@!$&'()*+,;=%4F <>\"{}|\\^`-._~é\xa0\u2028\ue000\U0001f5ff\t\r\x01\x7f"),
    max_size=8,
)
odd_iris = st.one_of(
    st.sampled_from(IRI_TEXTS),
    st.builds("".join, st.tuples(st.sampled_from(["http://", "http://a", "a:", "A1+-.:/", "urn:", ""]), ODD)),
)
terms = odd_iris.map("<{}>".format)
tags = st.sampled_from(["en", "EN-gb", "en-GB", "e", "abcd", "en-a", "x-y", "en--ltr", "é"])
odd_literals = st.one_of(
    ODD.map('"{}"'.format),
    st.builds('"{}"@{}'.format, ODD, tags),
    st.builds('"{}"^^{}'.format, ODD, terms),
    ODD.map('"{}"^^<http://www.w3.org/2001/XMLSchema#string>'.format),
    ODD.map('"{}"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>'.format),
)
odd_lines = st.builds(
    "{} {} {}{}{}".format, st.one_of(terms, st.just("_:a")), terms, st.one_of(terms, odd_literals, st.just("_:b")),
    st.one_of(st.just(""), terms.map(" {}".format)), st.sampled_from([" .", ".", " . ", " .\r", " . # x", ""]),
)  # fmt: skip


@settings(max_examples=600, deadline=None)
@given(
    st.lists(odd_lines, max_size=4),
    st.sampled_from([(PLAIN_TRIPLE, ox.RdfFormat.N_TRIPLES), (PLAIN_QUAD, ox.RdfFormat.N_QUADS)]),
)
def test_plain_is_only_what_the_parser_reads_in_the_same_way(
    lines: list[str], grammar: tuple[str, ox.RdfFormat]
) -> None:
    plain, kind = grammar
    frame, others = split_lines("\n".join(lines).encode(), plain)
    rest = others.decode().split("\n")[:-1]
    taken = "\n".join(lines).split("\n")
    for line in rest:
        taken.remove(line)
    assert len(frame) == len(taken)
    for row, line in zip(frame.iter_rows(), taken, strict=True):
        assert [row_of(quad) for quad in ox.parse(line.encode(), format=kind)] == [row]


@pytest.mark.parametrize(
    "line",
    [
        '<http://x/a> <http://x/p> "caf\xe9 \u03b1 1\xb0"@EL-gr .',
        '<http://x/a?b=%20#c> <http://x/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '<urn:x:1> <http://x.org:80/p> "a b"^^<http://www.w3.org/2001/XMLSchema#string> <http://g/\xe9> .',
        '<http://x/a> <http://x/p> <http://x/!b(c)> .',
        '<http://x/a> <http://x/p> "" .',
    ],
)  # fmt: skip
def test_what_collections_write_is_plain(line: str) -> None:
    frame, others = split_lines(line.encode(), PLAIN_QUAD)
    assert not others
    assert [row_of(quad) for quad in ox.parse(line.encode(), format=ox.RdfFormat.N_QUADS)] == frame.rows()


def test_bytes_that_are_no_text_are_handed_back() -> None:
    lines = b'<http://x/a> <http://x/p> "\xff and more" .\n<http://x/a> <http://x/p> "x" .\n'
    frame, others = split_lines(lines, PLAIN_QUAD)
    assert frame.is_empty() and others == lines
