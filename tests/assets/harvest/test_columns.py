"""Lines split into columns say what the parser reads in them."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.columns import PLAIN_QUAD, PLAIN_TRIPLE, split_lines

IRIS = ["http://x/a", "http://x/b?c=d#e", "urn:x:1", "http://x/é/α", "http://x/%20", "http://x/a'b(c)"]
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
iris = st.sampled_from(IRIS).map(ox.NamedNode)
blanks = st.sampled_from("ab").map(ox.BlankNode)
literals = st.one_of(
    TEXT.map(ox.Literal),
    st.builds(lambda text, lang: ox.Literal(text, language=lang), TEXT, st.sampled_from(["en", "el-gr"])),
    st.builds(lambda text, kind: ox.Literal(text, datatype=kind), TEXT, iris),
)
quads = st.builds(
    ox.Quad, st.one_of(iris, blanks), iris, st.one_of(iris, blanks, literals),
    st.one_of(st.just(ox.DefaultGraph()), iris, blanks),
)  # fmt: skip

Row = tuple[str, str, str, int, str, str, str]


def told(quad: ox.Quad) -> Row | None:
    """A quad as columns; None for one with a blank node."""
    s, p, o, g = quad
    if ox.BlankNode in map(type, (s, o, g)):
        return None
    graph = g.value if isinstance(g, ox.NamedNode) else ""
    if isinstance(o, ox.NamedNode):
        return s.value, p.value, o.value, 0, "", "", graph
    assert isinstance(o, ox.Literal)
    plain = o.language or o.datatype.value.endswith("XMLSchema#string")
    return s.value, p.value, o.value, 1, "" if plain else o.datatype.value, o.language or "", graph


@settings(max_examples=300, deadline=None)
@given(st.lists(quads, max_size=8))
@example([])
@example(
    [
        ox.Quad(
            ox.NamedNode("http://x/a"),
            ox.NamedNode("http://x/p"),
            ox.Literal(' <http://g> . "^^ @en -- _:b .'),
        )
    ]
)
@example([ox.Quad(ox.NamedNode("http://x/a"), ox.NamedNode("http://x/p"), ox.Literal(""))])
def test_columns_and_the_lines_handed_back_are_all_that_was_stated(stated: list[ox.Quad]) -> None:
    frame, others = split_lines(ox.serialize(stated, format=ox.RdfFormat.N_QUADS))
    rest = list(ox.parse(others, format=ox.RdfFormat.N_QUADS))
    assert sorted([*frame.iter_rows(), *filter(None, map(told, rest))]) == sorted(
        filter(None, map(told, stated))
    )
    assert sum(told(quad) is None for quad in rest) == sum(told(quad) is None for quad in stated)


def test_plain_lines_are_not_handed_back() -> None:
    lines = b'<http://x/a> <http://x/p> "caf\xc3\xa9 1\xc2\xb0"@fr .\n<http://x/a> <http://x/p> <http://x/b> <http://g> .\n'
    frame, others = split_lines(lines)
    assert len(frame) == 2 and not others


def test_directions_of_text_are_handed_back() -> None:
    frame, others = split_lines(b'<http://x/a> <http://x/p> "x"@en--ltr .\n')
    assert frame.is_empty() and others.endswith(b'"x"@en--ltr .\n')


# What lines may hold that no parser takes, or not as it stands: the parser is asked about all that is called plain.
ODD = st.text(
    st.sampled_from("aZ0:/?#[]@!$&'()*+,;=%4F <>\"{}|\\^`-._~é\xa0\u2028\ue000\U0001f5ff\t\r\x01\x7f"),
    max_size=8,
)
odd_iris = st.one_of(
    st.sampled_from(IRIS),
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
        assert [told(quad) for quad in ox.parse(line.encode(), format=kind)] == [row]


@pytest.mark.parametrize(
    "line",
    [
        '<http://x/a> <http://x/p> "caf\xe9 \u03b1"@EL-gr .',
        '<http://x/a?b=%20#c> <http://x/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
        '<urn:x:1> <http://x.org:80/p> "a b"^^<http://www.w3.org/2001/XMLSchema#string> <http://g/\xe9> .',
        '<http://x/a> <http://x/p> <http://x/!b(c)> .',
        '<http://x/a> <http://x/p> "" .',
    ],
)  # fmt: skip
def test_what_collections_write_is_plain(line: str) -> None:
    frame, others = split_lines(line.encode())
    assert (
        not others
        and [told(quad) for quad in ox.parse(line.encode(), format=ox.RdfFormat.N_QUADS)] == frame.rows()
    )


def test_bytes_that_are_no_text_are_handed_back() -> None:
    lines = b'<http://x/a> <http://x/p> "\xff and more" .\n<http://x/a> <http://x/p> "x" .\n'
    frame, others = split_lines(lines)
    assert frame.is_empty() and others == lines
