"""The archive of all triples with their labels, `edges.parquet`, written in batches."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.graph.terms import RDF_TYPE
from crmrag_assets.graph.triples import triple_columns
from crmrag_query.artifacts.files import replacing
from crmrag_query.graph.arrays import Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.graph.schema import EDGE_SCHEMA, EDGES

__all__ = ["EDGES", "TYPE_LABEL", "write_edges"]

TYPE_LABEL = "type"


def write_edges(graph_dir: Path, out: Path, batch_rows: int, progress: Progress | None = None) -> int:
    """Write ``edges.parquet`` into ``out``: every triple of the graph once; returns how many.

    They stand by subject: types, then links by property, then literals, for which ``o`` and ``o_label`` are the value.
    A row group holds ``batch_rows`` triples.
    """
    out.mkdir(parents=True, exist_ok=True)
    watcher = progress or SilentProgress()
    graph = Graph.open(graph_dir)
    order, kinds = _order(graph)
    things = _Things.of(graph)
    with (
        replacing(out / EDGES) as temporary,
        pq.ParquetWriter(temporary, EDGE_SCHEMA, compression="zstd") as writer,
        ThreadPoolExecutor(1) as beside,  # a batch is written while the next is made
    ):
        writing: Future[None] | None = None
        for start in range(0, len(order), batch_rows):
            watcher.advance(start, len(order), "triples")
            batch = _batch(things, order[start : start + batch_rows], kinds)
            if writing is not None:
                writing.result()
            writing = beside.submit(writer.write_table, batch, row_group_size=batch_rows)
        if writing is not None:
            writing.result()
    watcher.advance(len(order), len(order), "triples")
    return len(order)


def _order(graph: Graph) -> tuple[Longs, tuple[int, int]]:
    """Numbers of all triples by subject: types first, then links, then literals; and where links and literals begin."""
    type_ptr, types = graph.type_rows
    typed = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(type_ptr))
    subjects, _ = triple_columns(graph.adjacency.forward)
    literal = graph.literal_table.column("subject").to_numpy()
    order = np.argsort(np.concatenate([typed, subjects, literal]), kind="stable")
    return order, (len(types), len(types) + len(subjects))


@dataclass(frozen=True)
class _Things:
    """Whatever stands at an end of a triple under one number: nodes first, then classes, then literals.

    ``classes``, ``properties``: IRIs and labels by number; the last property stands for rdf:type.
    """

    graph: Graph
    classes: tuple[pa.Array, pa.Array]
    properties: tuple[pa.Array, pa.Array]

    @classmethod
    def of(cls, graph: Graph) -> _Things:
        kinds, props = range(len(graph.class_codes)), range(len(graph.property_codes))
        return cls(
            graph,
            (_words(map(graph.class_iri, kinds)), _words(map(graph.class_label, kinds))),
            (
                _words([*map(graph.property_iri, props), RDF_TYPE]),
                _words([*map(graph.property_label, props), TYPE_LABEL]),
            ),
        )

    @property
    def literals_from(self) -> int:
        return self.graph.nodes + len(self.classes[0])

    def named(self, numbers: Longs) -> tuple[pa.Array, pa.Array]:
        """IRIs (of a literal, its value) and labels of things."""
        kind = np.digitize(numbers, (self.graph.nodes, self.literals_from))
        nodes, classes, literals = (pa.array(numbers[kind == one]) for one in range(3))
        classes, literals = pc.subtract(classes, self.graph.nodes), pc.subtract(literals, self.literals_from)
        values = _whole(self.graph.literal_table.column("value").take(literals))
        back = np.empty(len(numbers), np.int64)
        back[np.argsort(kind, kind="stable")] = np.arange(len(numbers))
        iris = [self.graph.iris.take(nodes), self.classes[0].take(classes), values]
        labels = [self.graph.display_labels.take(nodes), self.classes[1].take(classes), values]
        iri, label = (
            pa.concat_arrays(list(map(_whole, parts))).take(pa.array(back)) for parts in (iris, labels)
        )
        return iri, label


def _words(texts: Iterable[str]) -> pa.Array:
    return pa.array(list(texts), pa.large_utf8())


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _batch(things: _Things, numbers: Longs, kinds: tuple[int, int]) -> pa.Table:
    """The rows of these triples, in this order.

    Each distinct thing is named once: its name may be that of another one too, and stands once in the dictionary.
    """
    columns: list[pa.Array] = []
    subject, prop, object_ = _numbered(things, numbers, kinds)
    for column, named in (
        (subject, things.named),
        (prop, partial(_taken, things.properties)),
        (object_, things.named),
    ):
        distinct = pa.array(column).dictionary_encode()
        words = named(distinct.dictionary.to_numpy())
        columns += [_encoded(distinct.indices, texts) for texts in words]
    return pa.table(columns, schema=EDGE_SCHEMA)


def _taken(words: tuple[pa.Array, pa.Array], numbers: Longs) -> tuple[pa.Array, pa.Array]:
    return words[0].take(pa.array(numbers)), words[1].take(pa.array(numbers))


def _encoded(number: pa.Array, texts: pa.Array) -> pa.Array:
    encoded = texts.cast(pa.utf8()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(encoded.indices.take(number), encoded.dictionary)


def _numbered(things: _Things, numbers: Longs, kinds: tuple[int, int]) -> tuple[Longs, Longs, Longs]:
    """Subject, property and object of triples, as numbers of things and of properties."""
    graph, (links_from, literals_from) = things.graph, kinds
    subject, prop, object_ = (np.empty(len(numbers), np.int64) for _ in range(3))
    types, literals = numbers < links_from, numbers >= literals_from
    links = ~types & ~literals

    type_ptr, classes = graph.type_rows
    at = numbers[types]
    subject[types] = np.searchsorted(type_ptr, at, side="right") - 1
    prop[types] = len(graph.property_codes)
    object_[types] = graph.nodes + classes[at]

    rows, at = graph.adjacency.forward, numbers[links] - links_from
    row = np.searchsorted(rows.ptr, at, side="right") - 1
    subject[links], object_[links] = rows.row[row], rows.val[at]
    prop[links] = np.searchsorted(rows.prop, row, side="right") - 1

    table, at = graph.literal_table, numbers[literals] - literals_from
    subject[literals] = table.column("subject").to_numpy()[at]
    prop[literals] = table.column("property").to_numpy()[at]
    object_[literals] = things.literals_from + at
    return subject, prop, object_
