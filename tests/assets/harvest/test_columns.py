"""Lines split into columns say what the parser reads in them."""

from __future__ import annotations

import pyoxigraph as ox
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.columns import split_lines

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
