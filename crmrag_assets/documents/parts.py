"""All chunks' documents side by side: looked up by a number that does not depend on the chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.documents.portable import Numbering, open_nodes, remapped
from crmrag_query.documents.schema import SCHEMAS, open_table
from crmrag_query.graph.arrays import Ints, Longs

WORDS: Final = ("key", "label")  # columns of lines that are held as numbers of few words
TARGETS: Final = "targets"

Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Parts:
    """Documents before chaining, numbered by entity; what is large stays in the chunks' mapped files.

    ``entities`` int32 [d] ascending; ``lengths`` int64 [d] in characters; ``chunk`` uint16 [d] and ``row`` int64 [d]: where
    each lies. Lines are numbered chunk after chunk, ``line_base`` int64 [chunks+1]; ``first_line`` int64 [d] and ``lines``
    int64 [d]: those of each document; ``columns``: numbers of all lines by column, ``words`` what those of WORDS mean.
    ``nodes``: for each chunk the graph's node of each number in ``targets``.
    """

    entities: Ints
    lengths: Longs
    chunk: npt.NDArray[np.uint16]
    row: Longs
    texts: tuple[pa.Array, ...]
    targets: tuple[pa.Array, ...]
    nodes: tuple[Ints, ...]
    line_base: Longs
    first_line: Longs
    lines: Longs
    columns: Mapping[str, Column]
    words: Mapping[str, pa.Array]

    @classmethod
    def open(cls, folders: Sequence[Path], numbering: Numbering) -> Parts:
        """Map the chunks in these folders; raises ReleaseError for one that is missing or broken, BuildError for
        one that speaks of nodes which are not in the numbering."""
        nodes = tuple(open_nodes(folder, numbering) for folder in folders)
        documents = [open_table(folder, "fr_documents") for folder in folders]
        lines = [open_table(folder, "fr_lines") for folder in folders]
        base = np.concatenate([[0], np.cumsum([table.num_rows for table in lines], dtype=np.int64)])
        columns, words = _columns(lines)
        columns["entity"] = _joined(
            [own[_owner(table)] for own, table in zip(nodes, lines, strict=True)], np.int32
        )
        owners = [table.column("entity").to_numpy() for table in documents]
        begin = [np.searchsorted(_owner(table), own) for own, table in zip(owners, lines, strict=True)]
        end = [np.searchsorted(_owner(table), own, "right") for own, table in zip(owners, lines, strict=True)]
        chunk = np.repeat(np.arange(len(owners), dtype=np.uint16), [len(own) for own in owners])
        entities = _joined([of[own] for of, own in zip(nodes, owners, strict=True)], np.int32)
        start = _joined(begin, np.int64)
        texts = tuple(_whole(table, "text") for table in documents)
        lengths = _joined([pc.utf8_length(text).to_numpy() for text in texts], np.int64)
        order = np.argsort(entities, kind="stable")
        return cls(
            entities=entities[order],
            lengths=lengths[order],
            chunk=chunk[order],
            row=_joined([np.arange(len(own)) for own in owners], np.int64)[order],
            texts=texts,
            targets=tuple(_whole(table, TARGETS) for table in lines),
            nodes=nodes,
            line_base=base,
            first_line=(start + base[chunk])[order],
            lines=(_joined(end, np.int64) - start)[order],
            columns=columns,
            words=words,
        )

    def texts_of(self, numbers: Ints) -> pa.Array:
        """Texts of these documents in this order."""
        kind = SCHEMAS["fr_documents"].field("text").type
        return _gather(self.texts, self.chunk[numbers], self.row[numbers], kind)

    def lines_of(self, numbers: Ints) -> tuple[Longs, pa.Table]:
        """Lines of these documents in this order: (index into ``numbers`` of each line, the lines)."""
        schema, count = SCHEMAS["fr_lines"], self.lines[numbers]
        origin = np.repeat(np.arange(len(numbers)), count)
        shift = self.first_line[numbers] - (np.cumsum(count) - count)
        row = shift[origin] + np.arange(len(origin))
        chunk = self.chunk[numbers][origin]
        found = {name: pa.array(column[row]) for name, column in self.columns.items()}
        found |= {name: self.words[name].take(found[name]) for name in WORDS}
        kind = schema.field(TARGETS).type
        found[TARGETS] = _gather(self.targets, chunk, row - self.line_base[chunk], kind, self.nodes)
        return origin, pa.table([found[name] for name in schema.names], schema=schema)


def _owner(lines: pa.Table) -> Ints:
    owner: Ints = lines.column("entity").to_numpy()
    return owner


def _whole(table: pa.Table, name: str) -> pa.Array:
    """A column of one batch as one array, still mapped."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _joined(parts: Sequence[Column], kind: npt.DTypeLike) -> Column:
    return np.concatenate([np.empty(0, kind), *parts]).astype(kind, copy=False)


def _columns(tables: Sequence[pa.Table]) -> tuple[dict[str, Column], dict[str, pa.Array]]:
    """All columns of lines but the targets, in numbers; and the words of those that are numbers of words."""
    plain = [field for field in SCHEMAS["fr_lines"] if field.name not in (*WORDS, TARGETS)]
    found = {
        field.name: _joined(
            [table.column(field.name).to_numpy() for table in tables], field.type.to_pandas_dtype()
        )
        for field in plain
    }
    words = {}
    for name in WORDS:
        column = pa.chunked_array(
            [chunk for table in tables for chunk in table.column(name).chunks], pa.utf8()
        )
        encoded = column.dictionary_encode().chunks
        found[name] = _joined([chunk.indices.to_numpy() for chunk in encoded], np.int32)
        words[name] = encoded[0].dictionary if encoded else pa.array([], pa.utf8())
    return found, words


def _gather(
    columns: Sequence[pa.Array],
    chunk: npt.NDArray[np.uint16],
    row: Longs,
    kind: pa.DataType,
    nodes: Sequence[Ints] | None = None,
) -> pa.Array:
    """The values (chunk, row) of a column in this order; of one of numbers, the ``nodes`` that they stand for."""
    order = np.argsort(chunk, kind="stable")
    bounds = np.searchsorted(chunk[order], np.arange(len(columns) + 1)).tolist()
    ordered = row[order]
    taken = []
    for number, (low, high) in enumerate(pairwise(bounds)):
        if high > low:
            found = columns[number].take(pa.array(ordered[low:high]))
            taken.append(found if nodes is None else remapped(found, nodes[number]))
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return pa.concat_arrays([pa.array([], kind), *taken]).take(pa.array(back))
