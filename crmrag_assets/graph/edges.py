"""The archive of all triples with their labels, `edges.parquet`, and the triples index with its export as a pickle."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.graph.core import pointers
from crmrag_query.artifacts.files import replacing
from crmrag_query.graph.arrays import EDGE_SCHEMA, EDGES, Longs, places_in
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.syntax import RDF_TYPE

PICKLE = "triples_index.pkl"
PICKLE_PROTOCOL = 4


def write_triples_index(graph_dir: Path, out: Path, with_pickle: bool = False) -> int:
    """Write the index of the graph in ``graph_dir``, with ``triples_index.pkl`` when asked; returns the triples."""
    out.mkdir(parents=True, exist_ok=True)
    graph = Graph.open(graph_dir)
    forward = graph.adjacency.forward
    subjects = forward.sources
    np.save(out / "tri_s.npy", subjects)
    np.save(out / "tri_p.npy", forward.properties)
    for name, nodes in (("out", subjects), ("in", np.asarray(forward.val))):
        order = np.argsort(nodes, kind="stable")
        np.save(out / f"{name}_ptr.npy", pointers(nodes[order], graph.nodes))
        np.save(out / f"{name}_tri.npy", order.astype(np.int32))
    if with_pickle:  # {entity IRI: [{s, s_label, p, p_label, o, o_label}, …]}, which nothing here loads
        entries = dict(_entries(TriplesIndex.open(out, graph)))
        with (out / PICKLE).open("wb") as stream:
            pickle.dump(entries, stream, protocol=PICKLE_PROTOCOL)
    return len(subjects)


def _entries(index: TriplesIndex) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    graph = index.graph
    for node in range(graph.nodes):
        found = [
            _entry(graph, triple.s, triple.p, graph.iri(triple.o), graph.label(triple.o))
            for triple in index.of(node)
        ]
        found += [_entry(graph, node, item.property, item.value, item.value) for item in graph.literals(node)]
        if found:
            yield graph.iri(node), found


def _entry(graph: Graph, s: int, p: int, o: str, o_label: str) -> dict[str, Any]:
    return {
        "s": graph.iri(s), "s_label": graph.label(s),
        "p": graph.property_iri(p), "p_label": graph.property_label(p),
        "o": o, "o_label": o_label,
    }  # fmt: skip


TYPE_LABEL = "type"


ROWS = 500_000  # of a row group: what the published CRM-RAG writes at once


def write_edges(graph_dir: Path, out: Path, progress: Progress | None = None, batch_rows: int = ROWS) -> int:
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
    subjects = graph.adjacency.forward.sources
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
        classes = (map(graph.class_iri, kinds), map(graph.class_label, kinds))
        properties = (
            [*map(graph.property_iri, props), RDF_TYPE],
            [*map(graph.property_label, props), TYPE_LABEL],
        )
        iris, labels = (pa.array(list(words), pa.large_utf8()) for words in classes)
        return cls(graph, (iris, labels), tuple(pa.array(words, pa.large_utf8()) for words in properties))

    @property
    def literals_from(self) -> int:
        return self.graph.nodes + len(self.classes[0])

    def named(self, numbers: Longs) -> tuple[pa.Array, pa.Array]:
        """IRIs (of a literal, its value) and labels of things."""
        kind = np.digitize(numbers, (self.graph.nodes, self.literals_from))
        nodes, classes, literals = (pa.array(numbers[kind == one]) for one in range(3))
        classes, literals = pc.subtract(classes, self.graph.nodes), pc.subtract(literals, self.literals_from)
        values = self.graph.literal_table.column("value").take(literals)
        back = pa.array(places_in(np.argsort(kind, kind="stable")))
        iris = [self.graph.iris.take(nodes), self.classes[0].take(classes), values]
        labels = [self.graph.display_labels.take(nodes), self.classes[1].take(classes), values]
        iri, label = (_whole(parts).take(back) for parts in (iris, labels))
        return iri, label

    def of_properties(self, numbers: Longs) -> tuple[pa.Array, pa.Array]:
        """IRIs and labels of properties."""
        iris, labels = self.properties
        return iris.take(pa.array(numbers)), labels.take(pa.array(numbers))


def _whole(columns: Iterable[pa.Array | pa.ChunkedArray]) -> pa.Array:
    parts = (one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in columns)
    return pa.concat_arrays(list(parts))


def _batch(things: _Things, numbers: Longs, kinds: tuple[int, int]) -> pa.Table:
    """The rows of these triples, in this order.

    Each distinct thing is named once: its name may be that of another one too, and stands once in the dictionary.
    """
    columns: list[pa.Array] = []
    subject, prop, object_ = _numbered(things, numbers, kinds)
    for column, named in ((subject, things.named), (prop, things.of_properties), (object_, things.named)):
        distinct = pa.array(column).dictionary_encode()
        for texts in named(distinct.dictionary.to_numpy()):
            words = texts.cast(pa.utf8()).dictionary_encode()
            places = words.indices.take(distinct.indices)
            columns.append(pa.DictionaryArray.from_arrays(places, words.dictionary))
    return pa.table(columns, schema=EDGE_SCHEMA)


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
