"""The archive of all triples with their labels, `edges.parquet`, written in batches."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.graph.terms import RDF_TYPE
from crmrag_assets.graph.triples import triple_columns
from crmrag_query.artifacts.files import replacing
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph

EDGES: Final = "edges.parquet"
COLUMNS: Final = ("s", "s_label", "p", "p_label", "o", "o_label")
SCHEMA: Final = pa.schema([(name, pa.dictionary(pa.int32(), pa.utf8())) for name in COLUMNS])
TYPE_LABEL: Final = "type"


def write_edges(graph_dir: Path, out: Path, batch_rows: int, progress: Progress | None = None) -> int:
    """Write ``edges.parquet`` into ``out``: every triple of the graph once; returns how many.

    They stand by subject: types, then links by property, then literals, for which ``o`` and ``o_label`` are the value.
    A row group holds ``batch_rows`` triples.
    """
    out.mkdir(parents=True, exist_ok=True)
    watcher = progress or SilentProgress()
    graph = Graph.open(graph_dir)
    order, kinds = _order(graph)
    with (
        replacing(out / EDGES) as temporary,
        pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer,
    ):
        for start in range(0, len(order), batch_rows):
            watcher.advance(start, len(order), "triples")
            writer.write_table(
                _batch(graph, order[start : start + batch_rows], kinds), row_group_size=batch_rows
            )
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


def _batch(graph: Graph, numbers: Longs, kinds: tuple[int, int]) -> pa.Table:
    """The rows of these triples, in this order."""
    links_from, literals_from = kinds
    types = numbers[numbers < links_from]
    links = numbers[(numbers >= links_from) & (numbers < literals_from)] - links_from
    literals = numbers[numbers >= literals_from] - literals_from
    parts = pa.concat_tables([_types(graph, types), _links(graph, links), _literals(graph, literals)])
    back = np.empty(len(numbers), np.int64)
    kind = np.digitize(numbers, kinds)
    back[np.argsort(kind, kind="stable")] = np.arange(len(numbers))
    taken = parts.take(back)
    return pa.table([_encoded(taken.column(name)) for name in COLUMNS], schema=SCHEMA)


def _encoded(column: pa.ChunkedArray) -> pa.Array:
    encoded = column.combine_chunks().cast(pa.utf8()).dictionary_encode()
    return encoded.cast(SCHEMA.field(0).type)


def _nodes(graph: Graph, nodes: Ints) -> tuple[pa.Array, pa.Array]:
    """IRIs and display labels of nodes."""
    taken = pa.array(nodes)
    return graph.iris.take(taken), graph.display_labels.take(taken)


def _properties(graph: Graph, numbers: Ints) -> tuple[pa.Array, pa.Array]:
    count = len(graph.property_codes)
    iris = pa.array([graph.property_iri(n) for n in range(count)], pa.large_utf8())
    labels = pa.array([graph.property_label(n) for n in range(count)], pa.large_utf8())
    return iris.take(pa.array(numbers)), labels.take(pa.array(numbers))


def _types(graph: Graph, at: Longs) -> pa.Table:
    type_ptr, types = graph.type_rows
    subjects = (np.searchsorted(type_ptr, at, side="right") - 1).astype(np.int32)
    count = len(graph.class_codes)
    iris = pa.array([graph.class_iri(n) for n in range(count)], pa.large_utf8())
    labels = pa.array([graph.class_label(n) for n in range(count)], pa.large_utf8())
    classes = pa.array(types[at])
    fixed = [pa.repeat(pa.scalar(text, pa.large_utf8()), len(at)) for text in (RDF_TYPE, TYPE_LABEL)]
    return pa.table(
        [*_nodes(graph, subjects), *fixed, iris.take(classes), labels.take(classes)], names=COLUMNS
    )


def _links(graph: Graph, at: Longs) -> pa.Table:
    rows = graph.adjacency.forward
    row = np.searchsorted(rows.ptr, at, side="right") - 1
    prop = (np.searchsorted(rows.prop, row, side="right") - 1).astype(np.int32)
    columns = [*_nodes(graph, rows.row[row]), *_properties(graph, prop), *_nodes(graph, rows.val[at])]
    return pa.table(columns, names=COLUMNS)


def _literals(graph: Graph, at: Longs) -> pa.Table:
    table = graph.literal_table
    taken = pa.array(at)
    subjects = table.column("subject").to_numpy()[at]
    values = table.column("value").take(taken)
    columns = [
        *_nodes(graph, subjects),
        *_properties(graph, table.column("property").to_numpy()[at]),
        values,
        values,
    ]
    return pa.table(columns, names=COLUMNS)
