"""First pass over the prefetched chunks: every IRI that becomes a node, a class or a property, sorted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_query.graph.arrays import Ints

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
COLLECT = 16  # chunks whose distinct terms are kept apart before they are merged


@dataclass(frozen=True)
class Terms:
    """Sorted distinct terms; a term's number is its position. ``graphs`` starts with "" (default graph)."""

    nodes: pl.Series
    classes: tuple[str, ...]
    properties: tuple[str, ...]
    graphs: tuple[str, ...]

    def number_nodes(self, column: pa.ChunkedArray) -> Ints:
        """Node numbers of a column of IRIs, each of which must be a node."""
        encoded = column.combine_chunks().dictionary_encode()
        words = pl.Series(pl.from_arrow(encoded.dictionary), dtype=pl.String)
        numbers = self.nodes.search_sorted(words).to_numpy().astype(np.int32)
        return numbers[encoded.indices.to_numpy(zero_copy_only=False)] if len(words) else numbers


def number_words(column: pa.ChunkedArray, words: Sequence[str]) -> Ints:
    """Positions in ``words`` of a column with few distinct values, each of which must be there."""
    array = column.combine_chunks()
    encoded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    position = {word: number for number, word in enumerate(words)}
    numbers = np.array([position.get(word, -1) for word in encoded.dictionary.to_pylist()], np.int32)
    return numbers[encoded.indices.to_numpy(zero_copy_only=False)] if len(numbers) else numbers


def is_type(frame: pl.DataFrame) -> pl.Series:
    """Which triples state a class; a type given as a literal is an ordinary literal."""
    return (frame["p"] == RDF_TYPE) & (frame["kind"] == 0)


def read_chunk(path: Path, columns: Sequence[str]) -> pa.Table:
    return pq.read_table(path, columns=list(columns))


def collect_terms(files: Iterable[Path]) -> Terms:
    """The terms of all chunks; independent of how triples are spread over ``files``."""
    kept: dict[str, list[pl.Series]] = {"node": [], "class": [], "property": [], "graph": []}
    for number, path in enumerate(files):
        for kind, series in _distinct(path).items():
            kept[kind].append(series)
        if number % COLLECT == COLLECT - 1:
            kept = {kind: [_merge(parts)] for kind, parts in kept.items()}
    merged = {kind: _merge(parts).sort() for kind, parts in kept.items()}
    graphs = tuple(name for name in merged["graph"].to_list() if name)
    return Terms(
        merged["node"], tuple(merged["class"].to_list()), tuple(merged["property"].to_list()), ("", *graphs)
    )


def _merge(parts: list[pl.Series]) -> pl.Series:
    return pl.concat(parts, rechunk=True).unique() if parts else pl.Series([], dtype=pl.String)


def _distinct(path: Path) -> dict[str, pl.Series]:
    frame = pl.DataFrame(pl.from_arrow(read_chunk(path, ("s", "p", "o", "kind", "g"))))
    types = is_type(frame)
    objects = frame.filter((frame["kind"] == 0) & ~types)["o"]
    return {
        "node": pl.concat([frame["s"].unique(), objects.unique()]).unique(),
        "class": frame.filter(types)["o"].unique(),
        "property": frame.filter(~types)["p"].unique(),
        "graph": frame["g"].cast(pl.String).unique(),
    }
