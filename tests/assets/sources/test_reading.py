"""Broken RDF is read as far as possible; what is lost is told with file, line and reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.triples import IRI, XSD_STRING
from crmrag_assets.sources.rdf import lines
from crmrag_assets.sources.rdf.lines import blocks, read_lines, read_statements
from crmrag_assets.sources.spooled import JSON_LD, N_QUADS, N_TRIPLES, RDF_XML, TRIG, TURTLE, ByteStream
from crmrag_query.errors import SourceError

GOOD = [f'<http://x/{n}> <http://x/p> "value {n}" .' for n in range(6)]
BAD = [
    '<http://x/1> <http://x/p "open" .',
    "not RDF at all",
    '<http://x/1> "literal" <http://x/2> .',
    '<http://x/1> <http://x/p> "no end .',
    '<relative> <http://x/p> "x" .',
    '<http://x/1> <http://x/p> "\\uD800" .',
    "@prefix x: <http://x/> .",
]


def quads_of(columns: pl.DataFrame) -> Iterator[ox.Quad]:
    """Columns as quads again."""
    for s, p, o, kind, datatype, lang, g in columns.iter_rows():
        literal = (
            ox.Literal(o, language=lang)
            if lang
            else ox.Literal(o, datatype=ox.NamedNode(datatype or XSD_STRING))
        )
        graph = ox.NamedNode(g) if g else ox.DefaultGraph()
        yield ox.Quad(ox.NamedNode(s), ox.NamedNode(p), ox.NamedNode(o) if kind == IRI else literal, graph)


def read(path: Path, kind: ox.RdfFormat, text: str | bytes, base: str = "") -> tuple[list[str], Tally]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    tally = Tally(file=path.name)
    with ByteStream(path) as stream:
        if kind in (N_TRIPLES, N_QUADS):
            parts = read_lines(stream, kind, tally)
            quads = [quad for columns, rest in parts for quad in (*quads_of(columns), *rest)]
        else:
            quads = list(read_statements(stream, kind, base, tally))
    return [str(quad) for quad in quads], tally


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(GOOD + BAD + ["", "# comment"]), max_size=40),
    st.sampled_from([20, 100, 1 << 20]),
)
def test_every_good_line_is_read_and_every_broken_one_counted(
    tmp_path: Path, stated: list[str], block: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "BLOCK", block)
        quads, tally = read(tmp_path / "data.nt", N_TRIPLES, "\n".join(stated))
    assert quads == [line.removesuffix(" .") for line in stated if line in GOOD]
    broken = [(number, line) for number, line in enumerate(stated, start=1) if line in BAD]
    assert tally.broken_count == len(broken)
    assert [(fault.line, fault.text) for fault in tally.broken] == broken[:10]
    assert all(fault.file == "data.nt" and fault.reason for fault in tally.broken)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=3000), st.integers(1, 50))
def test_blocks_are_the_file_in_whole_lines(tmp_path: Path, content: bytes, block: int) -> None:
    (tmp_path / "any.nt").write_bytes(b"x" + content)
    with pytest.MonkeyPatch.context() as patch, ByteStream(tmp_path / "any.nt") as stream:
        patch.setattr(lines, "BLOCK", block)
        found = list(blocks(stream))
    assert b"".join(part for _, part in found) == b"x" + content
    assert all(part.endswith(b"\n") for _, part in found[:-1])
    assert [number for number, _ in found] == [
        1 + sum(part.count(b"\n") for _, part in found[:index]) for index in range(len(found))
    ]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.sampled_from([N_TRIPLES, N_QUADS, TURTLE, TRIG, RDF_XML, JSON_LD]))
def test_bytes_are_read_or_told_never_a_crash(tmp_path: Path, content: bytes, kind: ox.RdfFormat) -> None:
    quads, tally = read(tmp_path / "any.rdf", kind, b"<<<" + content)
    assert not quads
    assert tally.broken_count > 0


def test_characters_that_iris_may_not_hold_are_repaired_and_counted(tmp_path: Path) -> None:
    text = '<http://x/a b> <http://x/p> <http://x/"c"> .\n<http://x/1> <http://x/p> "1"^^<http://x/a b> .\n'
    quads, tally = read(tmp_path / "data.nt", N_TRIPLES, text)
    assert quads == [
        "<http://x/a%20b> <http://x/p> <http://x/%22c%22>",
        '<http://x/1> <http://x/p> "1"^^<http://x/a%20b>',
    ]
    assert tally.repaired == 2 and not tally.broken_count


def test_long_broken_lines_are_shortened(tmp_path: Path) -> None:
    _, tally = read(tmp_path / "data.nt", N_TRIPLES, b"\xff" * 5000)
    assert len(tally.broken[0].text) == 160 and str(tally.broken[0]).startswith("data.nt, line 1: ")


TURTLE_TEXT = """@prefix e: <http://e/> .
e:a e:p 1 ; e:q <http://a b> ; e:r 3 .
e:b e:p 2 .
e:c e:p "open .
e:d e:p 4 ;
  e:q 5 .
e:f e:p e:g ] .
e:h e:p \"\"\"long
e:fake e:p "x"
\"\"\" .
e:i e:p 6 .
"""


def test_turtle_goes_on_after_faults_even_those_that_swallow_the_rest(tmp_path: Path) -> None:
    quads, tally = read(tmp_path / "data.ttl", TURTLE, TURTLE_TEXT)
    subjects = {quad.split()[0] for quad in quads}
    assert {f"<http://e/{name}>" for name in "abdfhi"} <= subjects
    assert "<http://e/c>" not in subjects and "<http://e/fake>" not in subjects
    assert sorted({fault.line for fault in tally.broken if fault.line}) == [2, 4, 7]
    assert {fault.text for fault in tally.broken if fault.line == 4} == {'e:c e:p "open .'}


def test_many_open_strings_each_cost_one_statement(tmp_path: Path) -> None:
    text = "@prefix e: <http://e/> .\n" + "".join(
        f'e:x{n} e:p "open .\n' if n % 5 == 0 else f'e:x{n} e:p "{n}" .\n' for n in range(30)
    )
    quads, tally = read(tmp_path / "data.ttl", TURTLE, text)
    assert len(quads) == 24
    assert {fault.line for fault in tally.broken} == {n + 2 for n in range(0, 30, 5)}


def test_trig_never_gives_a_triple_to_the_wrong_graph(tmp_path: Path) -> None:
    broken = "e:g { e:a e:p 1 . e:b e:p 2 ] .\n  e:x e:p 0 .\ne:c e:p 3 .\n}\n"
    text = f"@prefix e: <http://e/> .\n{broken}e:h {{ e:d e:p 4 . }}\ne:k e:p 5 .\n"
    quads, tally = read(tmp_path / "data.trig", TRIG, text)
    integer = "^^<http://www.w3.org/2001/XMLSchema#integer>"
    assert f'<http://e/c> <http://e/p> "3"{integer}' not in quads
    assert f'<http://e/d> <http://e/p> "4"{integer} <http://e/h>' in quads
    assert f'<http://e/k> <http://e/p> "5"{integer}' in quads
    assert tally.broken_count and sum(tally.skipped.values()) == 1


XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e/">\n{}\n</rdf:RDF>'
THING = '<rdf:Description rdf:about="{}"><e:p rdf:resource="http://e/{}"/></rdf:Description>'


def test_rdf_xml_is_read_up_to_the_fault_and_the_line_is_told(tmp_path: Path) -> None:
    content = "\n".join(
        [
            THING.format("http://e/1", "a b"),
            THING.format("rel", "2"),
            "<e:open>",
            THING.format("http://e/3", "4"),
        ]
    )
    quads, tally = read(tmp_path / "data.rdf", RDF_XML, XML.format(content))
    assert quads[0] == "<http://e/1> <http://e/p> <http://e/a%20b>"
    assert tally.repaired == 1 and tally.skipped["relative or invalid IRI"] == 1
    assert tally.broken[0].line == 6 and "not read" in tally.broken[0].reason


def test_relative_iris_are_resolved_where_a_base_is_given(tmp_path: Path) -> None:
    quads, tally = read(
        tmp_path / "data.rdf", RDF_XML, XML.format(THING.format("rel", "2")), base="http://base/"
    )
    assert quads == ["<http://base/rel> <http://e/p> <http://e/2>"] and not tally.skipped
    quads, _ = read(tmp_path / "data.ttl", TURTLE, "<rel> <http://e/p> <#x> .", base="http://base/")
    assert quads == ["<http://base/rel> <http://e/p> <http://base/#x>"]


def test_json_ld_with_a_context_elsewhere_says_what_to_do(tmp_path: Path) -> None:
    text = '{"@context": "https://e.org/context.json", "id": "http://x/1", "type": "Person"}'
    remedy = r"data\.json refers to a JSON-LD context elsewhere \(https://e\.org/context\.json\).*--context"
    with pytest.raises(SourceError, match=remedy):
        read(tmp_path / "data.json", JSON_LD, text)


def test_json_ld_is_read_with_its_own_context(tmp_path: Path) -> None:
    text = '{"@context": {"p": "http://e/p"}, "@id": "http://x/a b", "p": {"@id": "http://x/2"}}'
    quads, tally = read(tmp_path / "data.json", JSON_LD, text)
    assert quads == ["<http://x/a%20b> <http://e/p> <http://x/2>"] and tally.repaired == 1
