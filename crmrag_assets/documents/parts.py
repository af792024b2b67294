"""All chunks' documents side by side, mapped: looked up by a number that does not depend on the chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.documents.schema import SCHEMAS, open_table
from crmrag_query.graph.arrays import Ints, Longs


@dataclass(frozen=True)
class Parts:
    """Documents before chaining, numbered by entity.

    ``entities`` int32 [d] ascending; ``lengths`` int64 [d] in characters; ``chunk`` int32 [d] and ``row`` int64 [d]: where
    each lies; ``line_ptr``: for each chunk int64 [rows+1], its documents' ranges of lines.
    """

    entities: Ints
    lengths: Longs
    chunk: Ints
    row: Longs
    documents: tuple[pa.Table, ...]
    lines: tuple[pa.Table, ...]
    line_ptr: tuple[Longs, ...]

    @classmethod
    def open(cls, folders: Sequence[Path]) -> Parts:
        """Map the chunks in these folders; raises ReleaseError for one that is missing or broken."""
        documents = tuple(open_table(folder, "fr_documents") for folder in folders)
        lines = tuple(open_table(folder, "fr_lines") for folder in folders)
        entity = [table.column("entity").to_numpy() for table in documents]
        length = [pc.utf8_length(table.column("text")).to_numpy() for table in documents]
        ptr = tuple(_ranges(own, table) for own, table in zip(entity, lines, strict=True))
        chunk = np.repeat(np.arange(len(entity), dtype=np.int32), [len(own) for own in entity])
        row = np.concatenate([np.arange(len(own)) for own in entity] or [np.empty(0, np.int64)])
        entities = np.concatenate([*entity, np.empty(0, np.int32)]).astype(np.int32)
        lengths = np.concatenate([*length, np.empty(0, np.int64)]).astype(np.int64)
        order = np.argsort(entities, kind="stable")
        return cls(entities[order], lengths[order], chunk[order], row[order], documents, lines, ptr)

    def texts_of(self, numbers: Ints) -> list[str]:
        """Texts of these documents in this order."""
        table = _gather(self.documents, self.chunk[numbers], self.row[numbers], "fr_documents")
        texts: list[str] = table.column("text").to_pylist()
        return texts

    def lines_of(self, numbers: Ints) -> tuple[Longs, pa.Table]:
        """Lines of these documents in this order: (index into ``numbers`` of each line, the lines)."""
        chunk, row = self.chunk[numbers], self.row[numbers]
        begin = np.zeros(len(numbers), np.int64)
        count = np.zeros(len(numbers), np.int64)
        for one in np.unique(chunk):
            at = chunk == one
            begin[at] = self.line_ptr[one][row[at]]
            count[at] = self.line_ptr[one][row[at] + 1] - begin[at]
        origin = np.repeat(np.arange(len(numbers)), count)
        rows = np.repeat(begin - (np.cumsum(count) - count), count) + np.arange(len(origin))
        return origin, _gather(self.lines, chunk[origin], rows, "fr_lines")


def _ranges(entities: npt.NDArray[np.int32], lines: pa.Table) -> Longs:
    of_line = lines.column("entity").to_numpy()
    ends = np.searchsorted(of_line, entities, side="right")
    return np.concatenate([[0], ends]).astype(np.int64)


def _gather(tables: Sequence[pa.Table], chunk: Ints, row: Longs, name: str) -> pa.Table:
    """The rows (chunk, row) of the tables in this order."""
    order = np.argsort(chunk, kind="stable")
    taken = [
        tables[one].take(pa.array(row[order[chunk[order] == one]])) for one in np.unique(chunk).tolist()
    ] or [SCHEMAS[name].empty_table()]
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return pa.concat_tables(taken).combine_chunks().take(pa.array(back))
