"""The prefetched chunks as numbers: every IRI that becomes a node, a class or a property, and where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_query.graph.arrays import Ints

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
WORDS = ["s", "p", "o"]  # read as numbers of words, as the files hold them

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Terms:
    """Sorted distinct terms; a term's number is its position. ``graphs`` starts with "" (default graph)."""

    nodes: pl.Series
    classes: tuple[str, ...]
    properties: tuple[str, ...]
    graphs: tuple[str, ...]


@dataclass(frozen=True)
class Coded:
    """A column as numbers of words: ``number`` int32 [rows] are places in ``words`` (large_utf8), of which all are used."""

    number: Ints
    words: pa.Array

    @classmethod
    def of(cls, column: pa.ChunkedArray, mask: Mask) -> Coded:
        """The rows of a dictionary-encoded column where the mask is true."""
        encoded = column.unify_dictionaries().combine_chunks()
        numbers = encoded.indices.to_numpy(zero_copy_only=False)[mask]
        used = np.zeros(len(encoded.dictionary), bool)
        used[numbers] = True
        place = np.cumsum(used, dtype=np.int32) - 1
        return cls(place[numbers], encoded.dictionary.filter(pa.array(used)).cast(pa.large_utf8()))


@dataclass(frozen=True)
class Chunk:
    """One chunk's rows by what they lead to: a class (``types``), a literal (``literals``: value, datatype, lang) or a node.

    ``subject`` and ``graph`` are of all rows, ``property`` of rows without a class; ``kinds`` are the classes and
    ``target`` the nodes of the rows that lead to them.
    """

    types: Mask
    literal: Mask
    subject: Coded
    property: Coded
    target: Coded
    kinds: Coded
    graph: Coded
    literals: pa.Table

    @classmethod
    def read(cls, path: Path) -> Chunk:
        """A type given as a literal is an ordinary literal."""
        table = pq.read_table(path, read_dictionary=WORDS)
        literal = table.column("kind").to_numpy() == 1
        types = ~literal & _equal(table.column("p"), RDF_TYPE)
        every = np.ones(len(literal), bool)
        return cls(
            types,
            literal,
            Coded.of(table.column("s"), every),
            Coded.of(table.column("p"), ~types),
            Coded.of(table.column("o"), ~types & ~literal),
            Coded.of(table.column("o"), types),
            Coded.of(table.column("g"), every),
            _plain(table.filter(pa.array(literal)).select(["o", "datatype", "lang"])),
        )


def _plain(table: pa.Table) -> pa.Table:
    return pa.table({name: table.column(name).cast(pa.large_utf8()) for name in table.schema.names})


def _equal(column: pa.ChunkedArray, word: str) -> Mask:
    encoded = column.unify_dictionaries().combine_chunks()
    wanted = np.array([one == word for one in encoded.dictionary.to_pylist()], bool)
    found: Mask = wanted[encoded.indices.to_numpy(zero_copy_only=False)] if len(wanted) else np.zeros(0, bool)
    return found


def number_words(parts: Sequence[Coded]) -> tuple[pl.Series, list[Ints]]:
    """The distinct words of all parts, sorted by their UTF-8 bytes, and the rows of each part as numbers of these."""
    encoded = pa.chunked_array([part.words for part in parts], pa.large_utf8()).dictionary_encode().chunks
    words = pl.Series(pl.from_arrow(encoded[0].dictionary) if encoded else [], dtype=pl.String)
    order = words.arg_sort().to_numpy()
    rank = np.empty(len(words), np.int32)
    rank[order] = np.arange(len(words), dtype=np.int32)
    placed = rank[np.concatenate([np.empty(0, np.int32), *(chunk.indices.to_numpy() for chunk in encoded)])]
    ends = np.cumsum([len(part.words) for part in parts])[:-1]
    own = np.split(placed, ends) if parts else []
    return words.gather(order), [place[part.number] for place, part in zip(own, parts, strict=True)]
