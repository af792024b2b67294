"""Tables of a chunk that outlive the graph they were made from, and all chunks' tables side by side.

A graph numbers its nodes anew with every entity that comes or goes. What is written for a chunk numbers the nodes that it
speaks of by itself, in the graph's order (that of IRIs), and lists their ids: the first eight bytes of the SHA-256 of each
IRI. So a chunk that a change does not reach stays as it is, byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.step import Hashes, ids_of
from crmrag_query.artifacts.manifest import open_array
from crmrag_query.documents.documents import SCHEMAS, open_table, write_whole
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints, Longs, places_in, ranges

NODES = "nodes"


@dataclass(frozen=True)
class Numbering:
    """The nodes of one graph by id: ``ids`` uint64 [n], distinct."""

    ids: Hashes

    @classmethod
    def of(cls, iris: pa.Array) -> Numbering:
        """The nodes of a graph by its IRIs; BuildError for two IRIs of one id, of which none are known."""
        made = cls(ids_of(iris))
        same = np.flatnonzero(made._ascending[1:-1] == made._ascending[:-2])
        if len(same):
            one, other = (iris[int(made._order[at])].as_py() for at in (same[0], same[0] + 1))
            raise BuildError(
                f"The SHA-256 of two IRIs begins with the same eight bytes: {one} and {other}.",
                "Leave one of them out of the source.",
            )
        return made

    @cached_property
    def _order(self) -> Longs:
        return np.argsort(self.ids)

    @cached_property
    def _ascending(self) -> Hashes:
        """The ids in order, and after them one that none is above."""
        return np.append(self.ids[self._order], np.iinfo(np.uint64).max)

    @cached_property
    def _places(self) -> tuple[np.uint64, Longs]:
        """Where the ids of each beginning stand among the ascending ones, of beginnings as many as about the ids; and how far
        an id is shifted to have its beginning."""
        bits = max(len(self.ids).bit_length(), 1)
        shift = np.uint64(64 - bits)
        beginnings = np.arange(1 << bits, dtype=np.uint64) << shift
        return shift, np.searchsorted(self._ascending, beginnings)

    def nodes(self, ids: Hashes) -> Ints | None:
        """int32: the node of each id; None where the graph does not have them all.

        Hashes are spread evenly, so an id stands where those of its beginning do, or a few places further: a chunk asks for
        100,000 and more, each of which a binary search would look for at twenty places.
        """
        shift, places = self._places
        at: Longs = places[ids >> shift]
        behind = np.flatnonzero(self._ascending[at] < ids)
        while len(behind):
            at[behind] += 1
            behind = behind[self._ascending[at[behind]] < ids[behind]]
        if (self._ascending[at] != ids).any() or (at == len(self.ids)).any():
            return None
        return self._order[at].astype(np.int32)


def save_tables(
    folder: Path, numbering: Numbering, tables: Mapping[str, tuple[pa.Table, Sequence[str]]]
) -> None:
    """Write tables by schema, in which some columns hold nodes (int32, or lists of it), with numbers of their own for these
    0 … k-1, and the ids of the nodes that the numbers stand for."""
    held = np.zeros(len(numbering.ids), bool)
    for table, columns in tables.values():
        for name in columns:
            for chunk in table.column(name).chunks:
                held[np.asarray(chunk.flatten() if pa.types.is_list(chunk.type) else chunk)] = True
    nodes = np.flatnonzero(held)
    np.save(folder / f"{NODES}.npy", numbering.ids[nodes])
    place = np.full(len(held), -1, np.int32)
    place[nodes] = np.arange(len(nodes), dtype=np.int32)
    for schema, (table, columns) in tables.items():
        for name in columns:
            at = table.schema.get_field_index(name)
            field = table.schema.field(at)
            chunks = [remapped(chunk, place) for chunk in table.column(name).chunks]
            table = table.set_column(at, field, pa.chunked_array(chunks, field.type))
        write_whole(folder, schema, table)


def open_nodes(folder: Path, numbering: Numbering) -> Ints:
    """int32 [k]: the node in the graph of each number that the tables in the folder use, ascending.

    ReleaseError where the list is missing or broken, BuildError where it is not of this graph.
    """
    nodes = numbering.nodes(cast(Hashes, open_array(folder, NODES)))
    if nodes is None:
        raise BuildError(
            f"The chunk in {folder} speaks of nodes that the graph does not have.",
            "Remove that folder and build the data set again.",
        )
    return nodes


def remapped(array: pa.Array, to: Ints) -> pa.Array:
    """``to[value]`` for each value of an array of int32, or of lists of it."""
    if not pa.types.is_list(array.type):
        return pa.array(to[array.to_numpy()], pa.int32())
    offsets = array.offsets.to_numpy()
    values = array.values.to_numpy()[offsets[0] : offsets[-1]]
    return pa.ListArray.from_arrays(
        pa.array(offsets - offsets[0], pa.int32()), pa.array(to[values], pa.int32())
    )


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
        owners: list[Ints] = [table.column("entity").to_numpy() for table in documents]
        of_lines: list[Ints] = [table.column("entity").to_numpy() for table in lines]
        columns["entity"] = _joined([own[of] for own, of in zip(nodes, of_lines, strict=True)], np.int32)
        pairs = list(zip(of_lines, owners, strict=True))
        begin = _joined([np.searchsorted(of, own) for of, own in pairs], np.int64)
        end = _joined([np.searchsorted(of, own, "right") for of, own in pairs], np.int64)
        chunk = np.repeat(np.arange(len(owners), dtype=np.uint16), [len(own) for own in owners])
        entities = _joined([of[own] for of, own in zip(nodes, owners, strict=True)], np.int32)
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
            first_line=(begin + base[chunk])[order],
            lines=(end - begin)[order],
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
        row = ranges(self.first_line[numbers], count)
        chunk = self.chunk[numbers][origin]
        found = {name: pa.array(column[row]) for name, column in self.columns.items()}
        found |= {name: self.words[name].take(found[name]) for name in WORDS}
        kind = schema.field(TARGETS).type
        found[TARGETS] = _gather(self.targets, chunk, row - self.line_base[chunk], kind, self.nodes)
        return origin, pa.table([found[name] for name in schema.names], schema=schema)


def _whole(table: pa.Table, name: str) -> pa.Array:
    """A column of one batch as one array, still mapped."""
    column = table.column(name)
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _joined(parts: Sequence[Column], kind: npt.DTypeLike) -> Column:
    return np.concatenate([np.empty(0, kind), *parts]).astype(kind, copy=False)


def _columns(tables: Sequence[pa.Table]) -> tuple[dict[str, Column], dict[str, pa.Array]]:
    """All columns of lines but the targets, in numbers; and the words of those that are numbers of words."""
    found, words = {}, {}
    for field in SCHEMAS["fr_lines"]:
        if field.name not in (*WORDS, TARGETS):
            parts = [table.column(field.name).to_numpy() for table in tables]
            found[field.name] = _joined(parts, field.type.to_pandas_dtype())
    for name in WORDS:
        chunks = [chunk for table in tables for chunk in table.column(name).chunks]
        encoded = pa.chunked_array(chunks, pa.utf8()).dictionary_encode().chunks
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
    return pa.concat_arrays([pa.array([], kind), *taken]).take(pa.array(places_in(order)))
