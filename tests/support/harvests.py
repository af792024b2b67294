"""Sources read as a build reads them, without one: discovery, and each chunk's triples."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyoxigraph as ox

from crmrag_assets.build.step import SilentProgress, chunk_keys
from crmrag_assets.harvest.prefetch import ChunkReport, prefetch_chunk, write_prefetch
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.endpoint.kind import SparqlEndpoint
from crmrag_assets.sources.rdf.kind import RdfFiles

Chunks = dict[str, tuple[pa.Table, ChunkReport]]
Row = tuple[str, str, str, int, str, str, str]


def row_of(quad: ox.Quad) -> Row | None:
    """A quad as a row of schema TRIPLES, by rules of its own; None for one with a blank node."""
    s, p, o, g = quad
    if ox.BlankNode in map(type, (s, o, g)):
        return None
    graph = g.value if isinstance(g, ox.NamedNode) else ""
    if isinstance(o, ox.NamedNode):
        return s.value, p.value, o.value, 0, "", "", graph
    assert isinstance(o, ox.Literal)
    is_plain = o.language or o.datatype.value.endswith("XMLSchema#string")
    return s.value, p.value, o.value, 1, "" if is_plain else o.datatype.value, o.language or "", graph


def harvested(
    source: RdfFiles | SparqlEndpoint, folder: Path, bits: int | None = None
) -> tuple[Discovery, Chunks]:
    """Discovery and chunks of a source, made anew in the folder; as many chunks as it has entities for, or 2^bits."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = source.discover(folder, SilentProgress())
    bits = found.bits if bits is None else bits
    return found, {key: prefetch_chunk(source, folder, key, bits, source.method) for key in chunk_keys(bits)}


def files_of(chunks: Chunks, folder: Path) -> dict[str, bytes]:
    """The artifacts of the chunks, by their paths below the folder in which they are written."""
    for key, (table, report) in chunks.items():
        (folder / key).mkdir(parents=True, exist_ok=True)
        write_prefetch(table, report, folder / key)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.glob("??/*")}
