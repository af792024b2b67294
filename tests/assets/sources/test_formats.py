"""Formats and compressions are told by name and content."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path

import pyoxigraph as ox
import pytest
import zstandard

from crmrag_assets.sources.spooled import ByteStream, format_of, sniff
from crmrag_query.errors import SourceError

QUADS = [
    ox.Quad(ox.NamedNode("http://x/1"), ox.NamedNode("http://x/p"), ox.Literal("a {b} <c>")),
    ox.Quad(ox.NamedNode("http://x/1"), ox.NamedNode("http://x/q"), ox.NamedNode("http://x/2")),
]
IN_GRAPH = [ox.Quad(s, p, o, ox.NamedNode("http://x/g")) for s, p, o, _ in QUADS]
SAMPLES = {
    "RDF/XML": ox.serialize([q.triple for q in QUADS], format=ox.RdfFormat.RDF_XML),
    "JSON-LD": ox.serialize(QUADS, format=ox.RdfFormat.JSON_LD),
    "N-Quads": ox.serialize(IN_GRAPH, format=ox.RdfFormat.N_QUADS),
    "TriG": ox.serialize(IN_GRAPH, format=ox.RdfFormat.TRIG, prefixes={"x": "http://x/"}),
    "Turtle": ox.serialize(
        [q.triple for q in QUADS], format=ox.RdfFormat.TURTLE, prefixes={"x": "http://x/"}
    ),
}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": zstandard.compress,
}


@pytest.mark.parametrize("name", SAMPLES)
def test_unknown_extension_is_told_by_content(tmp_path: Path, name: str) -> None:
    (tmp_path / "data.rdf").write_bytes(SAMPLES[name])
    assert format_of(tmp_path / "data.rdf").name == name


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("# comment\n<http://a> <http://p> _:b .", "N-Quads"),
        ("<http://a> a <http://B> ; <http://p> 1 .", "Turtle"),
        ("PREFIX e: <http://e/>\ne:a e:p 1 .", "Turtle"),
        ('@prefix e: <http://e/> .\ne:a e:p "x { y }" .', "Turtle"),
        ("@prefix e: <http://e/> .\ne:g { e:a e:p 1 }", "TriG"),
        ("<!-- by hand --><rdf:RDF/>", "RDF/XML"),
        ('[{"@id": "http://a"}]', "JSON-LD"),
    ],
)
def test_content_as_people_write_it(head: str, name: str) -> None:
    found = sniff(head)
    assert found is not None and found.name == name


def test_a_file_that_is_no_rdf_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Dear colleague,\nthe export is late.")
    with pytest.raises(SourceError, match=r"notes\.txt is in no RDF format.*\.ttl"):
        format_of(tmp_path / "notes.txt")


@pytest.mark.parametrize("suffix", COMPRESS)
@pytest.mark.parametrize("again", [1, 2])
def test_compressed_streams_read_as_their_content(tmp_path: Path, suffix: str, again: int) -> None:
    path = tmp_path / f"data.ttl{suffix}"
    # several members in one file are one stream
    path.write_bytes(COMPRESS[suffix](SAMPLES["Turtle"]) * again)
    with ByteStream(path) as stream:
        assert b"".join(iter(lambda: stream.read(10), b"")) == SAMPLES["Turtle"] * again
    assert format_of(path).name == "Turtle"


@pytest.mark.parametrize("suffix", COMPRESS)
def test_a_truncated_file_is_an_error_that_names_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"cut.nt{suffix}"
    path.write_bytes(COMPRESS[suffix](bytes(range(256)) * 4096)[:-9])
    with (
        pytest.raises(SourceError, match=r"cut\.nt.*cannot be read to its end.*fetch it again"),
        ByteStream(path) as stream,
    ):
        while stream.read(1 << 16):
            pass


def test_a_name_that_promises_another_compression_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "plain.nt.gz").write_bytes(b"<http://a> <http://p> 'x' .")
    with pytest.raises(SourceError, match="does not hold gzip data"):
        ByteStream(tmp_path / "plain.nt.gz")


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    (tmp_path / "bom.ttl").write_bytes(b"\xef\xbb\xbf<http://a> <http://p> 1 .")
    with ByteStream(tmp_path / "bom.ttl") as stream:
        assert b"".join(iter(lambda: stream.read(5), b"")) == b"<http://a> <http://p> 1 ."
