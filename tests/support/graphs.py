"""Small graphs for tests: Turtle text or triples in, an opened Graph out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox

from crmrag_assets.graph.build import build_graph
from crmrag_assets.harvest.triples import ORDER
from crmrag_query.config import Method, load_method
from crmrag_query.graph.arrays import TRIPLES
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Ontology, load_ontology

XSD_STRING = "http://www.w3.org/2001/XMLSchema#string"
LANG_STRING = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString"
PREFIXES = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix vir: <http://w3id.org/vir#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix schema: <http://schema.org/> .
@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix aat: <http://vocab.getty.edu/aat/> .
@prefix : <http://example.org/> .
"""
Row = tuple[str, str, str, int, str, str, str]
PLACES = [TRIPLES.names.index(name) for name in ORDER]
Triples = Iterable[tuple[str, str, str]]


def read_quads(source: str | Triples | Path) -> list[ox.Quad]:
    """Quads of Turtle or TriG text (prefixes above are declared), of a file (may end in .zst), or of (s, p, o) strings.

    In triples a term without a scheme is taken below http://example.org/, the predicate ``a`` is rdf:type, codes with
    words (``P108_has_produced``) are CRM terms, and an object that starts with a quotation mark is a literal.
    """
    if isinstance(source, Path):
        return list(ox.parse(input=_read(source), format=ox.RdfFormat.TRIG))
    text = source if isinstance(source, str) else "\n".join(map(_statement, source))
    return list(ox.parse(PREFIXES + text, format=ox.RdfFormat.TRIG))


def _read(path: Path) -> bytes:
    return bytes(pa.input_stream(str(path), compression="zstd" if path.suffix == ".zst" else None).read())


def _statement(triple: tuple[str, str, str]) -> str:
    s, p, o = triple
    return f"{_term(s)} {p if p == 'a' else _term(p)} {_term(o)} ."


def _term(word: str) -> str:
    if word.startswith(('"', "<")):
        return word
    if "://" in word or word.startswith("urn:"):
        return f"<{word}>"
    if word[:1] in "EP" and word[1:2].isdigit() and "_" in word:
        return f"crm:{word}"
    return word if ":" in word else f":{word}"


def quad_rows(quads: Iterable[ox.Quad]) -> list[Row]:
    """Rows of schema TRIPLES, distinct and sorted; blank nodes become urn:skolem: IRIs."""
    return sorted({_row(quad) for quad in quads})


def _row(quad: ox.Quad) -> Row:
    graph = "" if isinstance(quad.graph_name, ox.DefaultGraph) else _name(quad.graph_name)
    start = (_name(quad.subject), quad.predicate.value)
    if isinstance(quad.object, ox.Literal):
        datatype = quad.object.datatype.value
        datatype = "" if datatype in (XSD_STRING, LANG_STRING) else datatype
        return (*start, quad.object.value, 1, datatype, quad.object.language or "", graph)
    return (*start, _name(quad.object), 0, "", "", graph)


def _name(term: Any) -> str:
    return f"urn:skolem:{term.value}" if isinstance(term, ox.BlankNode) else str(term.value)


def write_prefetch(rows: Sequence[Row], folder: Path, chunks: int = 1) -> list[Path]:
    """Write rows as prefetch chunks (1 to 256, a power of two), each entity whole in one; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    step = 256 // chunks
    parts: list[list[Row]] = [[] for _ in range(chunks)]
    for row in sorted(set(rows), key=lambda row: [row[place] for place in PLACES]):
        parts[hashlib.sha256(row[0].encode()).digest()[0] // step].append(row)
    files = []
    for number, part in enumerate(parts):
        path = folder / f"{number * step:02x}" / "triples.parquet"
        path.parent.mkdir(exist_ok=True)
        columns = zip(*part, strict=True) if part else ((),) * len(TRIPLES)
        arrays = [pa.array(list(column), field.type) for column, field in zip(columns, TRIPLES, strict=True)]
        pq.write_table(pa.table(arrays, schema=TRIPLES), path, compression="zstd")
        files.append(path)
    return files


def graph_from_turtle(
    source: str | Triples | Path,
    tmp_path: Path,
    *,
    chunks: int = 1,
    languages: Sequence[str] = ("en",),
    image_pattern: str = "",
    method: Method | None = None,
    ontology: Ontology | None = None,
    name: str = "graph",
) -> Graph:
    """Build a graph from Turtle or TriG text, a Turtle file or triples, with the project's own method and ontology."""
    rows = quad_rows(read_quads(source))
    return graph_from_rows(
        rows, tmp_path, chunks=chunks, languages=languages, image_pattern=image_pattern,
        method=method, ontology=ontology, name=name,
    )  # fmt: skip


def graph_from_rows(
    rows: Sequence[Row],
    tmp_path: Path,
    *,
    chunks: int = 1,
    languages: Sequence[str] = ("en",),
    image_pattern: str = "",
    method: Method | None = None,
    ontology: Ontology | None = None,
    name: str = "graph",
) -> Graph:
    """As ``graph_from_turtle``, from rows of schema TRIPLES."""
    files = write_prefetch(rows, tmp_path / f"{name}-prefetch", chunks)
    build_graph(
        files, tmp_path / name, method or _method(), ontology or load_ontology(), languages, image_pattern
    )
    return Graph.open(tmp_path / name)


@cache
def _method() -> Method:
    return load_method()


def node_of(graph: Graph, name: str) -> int:
    """The node of an IRI, or of a name below http://example.org/; fails when there is none."""
    node = graph.node(name if ":" in name else f"http://example.org/{name}")
    assert node is not None, name
    return node
