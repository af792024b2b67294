"""The graph as memory-mapped arrays: one artifact for walking, exact answers, adjacency and sources.

Nodes are numbered by their IRI in sorted (UTF-8 byte) order. For each property the triples whose object is an IRI are
held twice, forward (subject -> objects) and backward (object -> subjects), as doubly compressed sparse rows: only nodes
that have the property take a row. A triple's number is its position in the forward order (property, subject, object).

Everything else stands in tables, whose columns are given here: Arrow IPC files, uncompressed and in one record batch, so
that opening one maps it and copies nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.manifest import open_array, open_ipc

SCHEMA_VERSION: Final = 1
WORD: Final = pa.dictionary(pa.int32(), pa.utf8())  # a column of few distinct words
BY_LANGUAGE: Final = pa.map_(pa.utf8(), pa.utf8())  # language tag -> text
TRIPLES: Final = pa.schema(
    [
        ("s", pa.utf8()),
        ("p", pa.utf8()),
        ("o", pa.utf8()),
        ("kind", pa.uint8()),  # 0 IRI, 1 literal
        ("datatype", WORD),  # "" for xsd:string and language-tagged strings
        ("lang", WORD),  # "" for none
        ("g", WORD),  # "" for the default graph
    ]
)
SCHEMAS: Final[dict[str, pa.Schema]] = {
    "nodes": pa.schema([("iri", pa.large_utf8()), ("label", pa.large_utf8()), ("lang", WORD)]),
    "classes": pa.schema(
        [("iri", pa.utf8()), ("code", pa.utf8()), ("label", pa.utf8()), ("labels", BY_LANGUAGE)]
    ),
    "properties": pa.schema(
        [
            ("iri", pa.utf8()),
            ("code", pa.utf8()),
            ("label", pa.utf8()),
            ("inverse_label", pa.utf8()),
            ("labels", BY_LANGUAGE),
            ("inverse_labels", BY_LANGUAGE),
        ]
    ),
    "graphs": pa.schema([("graphs", pa.list_(pa.utf8()))]),
    "literals": pa.schema(
        [
            ("subject", pa.int32()),
            ("property", pa.int32()),
            ("value", pa.large_utf8()),
            ("datatype", WORD),
            ("lang", WORD),
            ("graph", pa.int32()),
        ]
    ),
    "labels": pa.schema([("node", pa.int32()), ("text", pa.large_utf8()), ("lang", WORD), ("kind", WORD)]),
    "timespans": pa.schema(
        [
            ("node", pa.int32()),
            ("outer_begin", pa.int32()),
            ("inner_begin", pa.int32()),
            ("inner_end", pa.int32()),
            ("outer_end", pa.int32()),
            ("text", pa.utf8()),
        ]
    ),
    "links": pa.schema([("node", pa.int32()), ("iri", pa.utf8()), ("kind", WORD)]),
    "images": pa.schema([("node", pa.int32()), ("url", pa.utf8())]),
}
LABEL_KINDS: Final = (
    "label",
    "preferred",
    "appellation",
    "title",
    "identifier",
    "alternative",
    "role",
    "iri",
)
LINK_KINDS: Final = ("wikidata", "getty", "viaf", "geonames", "other")
# The archive of all triples, beside the graph: Parquet, a row a triple; types are triples of rdf:type.
EDGES: Final = "edges.parquet"
EDGE_COLUMNS: Final = ("s", "s_label", "p", "p_label", "o", "o_label")
EDGE_SCHEMA: Final = pa.schema([(name, pa.dictionary(pa.int32(), pa.utf8())) for name in EDGE_COLUMNS])


def table_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.arrow"


def write_table(folder: Path, name: str, table: pa.Table) -> None:
    """Write a table as ``<name>.arrow`` in one uncompressed record batch; the columns are cast to the schema."""
    schema = SCHEMAS[name]
    columns = [_column(table.column(field.name), field.type) for field in schema]
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    with pa.OSFile(str(table_path(folder, name)), "wb") as sink, ipc.new_file(sink, schema) as writer:
        writer.write_batch(batch)


def _column(column: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """The column as one array of this type; the words of a dictionary are sorted, so equal columns give equal bytes."""
    if kind == WORD:
        import pyarrow.compute as pc  # readers never need it

        column = column.cast(pa.utf8())
        words = pc.unique(column).sort()
        return pa.DictionaryArray.from_arrays(pc.index_in(column, words).combine_chunks(), words)
    return column.cast(kind).combine_chunks()


def open_table(folder: Path, name: str) -> pa.RecordBatch:
    """Memory-map a table.

    Raises ReleaseError when the file is missing, cannot be read or has other columns than the schema.
    """
    return open_ipc(table_path(folder, name), SCHEMAS[name]).get_batch(0)


Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]
WIDEST = 63  # bits of a number that rows are packed into
FLAG_ENTITY = 1  # the node is an entity: a described subject that is no schema term
FLAG_SKOLEM = 2  # the node stands for a blank node
FLAG_SUSPECT = 4  # suspected merge of several identities: no path runs through it
FLAG_EVENT = 8  # one of its classes is an event class
FLAG_LABELLED = 16  # its label was stated, not made from its role or IRI


@dataclass(frozen=True, slots=True)
class Rows:
    """Doubly compressed sparse rows of all properties in one direction.

    ``prop`` int64 [P+1]: property -> range of rows; ``row`` int32 [R]: the node of each row, ascending within a
    property; ``ptr`` int64 [R+1]: row -> range of values; ``val`` int32 [T]: the nodes reached, ascending within a row.
    """

    prop: Longs
    row: Ints
    ptr: Longs
    val: Ints

    @property
    def sources(self) -> Ints:
        """The node of each value, int32 [T]."""
        return np.repeat(self.row, np.diff(self.ptr))

    @property
    def properties(self) -> Ints:
        """The property of each value, int32 [T]."""
        count = np.diff(self.ptr[self.prop])
        return np.repeat(np.arange(len(count), dtype=np.int32), count)

    def pairs(self, prop: int) -> tuple[Ints, Ints]:
        """All steps by a property: node, in ascending order, and node reached."""
        low, high = int(self.prop[prop]), int(self.prop[prop + 1])
        reached = self.val[self.ptr[low] : self.ptr[high]]
        return np.repeat(self.row[low:high], np.diff(self.ptr[low : high + 1])), reached

    def neighbours(self, prop: int, node: int) -> Ints:
        """Nodes that ``node`` reaches by property ``prop``, ascending; empty when there are none."""
        low, high = int(self.prop[prop]), int(self.prop[prop + 1])
        at = low + _place(self.row[low:high], node)
        if at == high or self.row[at] != node:
            return self.val[:0]
        return self.val[self.ptr[at] : self.ptr[at + 1]]

    def position(self, prop: int, node: int, value: int) -> int:
        """Place in ``val`` of the step from ``node`` to ``value``: in forward rows, the triple's number. Raises KeyError."""
        low, high = int(self.prop[prop]), int(self.prop[prop + 1])
        at = low + _place(self.row[low:high], node)
        if at < high and self.row[at] == node:
            start, end = int(self.ptr[at]), int(self.ptr[at + 1])
            place = start + _place(self.val[start:end], value)
            if place < end and self.val[place] == value:
                return place
        raise KeyError((prop, node, value))

    def locate(self, prop: int, nodes: Ints) -> tuple[Longs, Longs]:
        """Indices of the nodes that have ``prop``, and their rows."""
        low, high = int(self.prop[prop]), int(self.prop[prop + 1])
        at, there = found_in(self.row[low:high], nodes)
        found = np.flatnonzero(there)
        return found, low + at[found]

    def expand(self, prop: int, nodes: Ints) -> tuple[Longs, Ints]:
        """All steps from ``nodes`` by ``prop``: (index into ``nodes``, node reached) in order of ``nodes``."""
        found, at = self.locate(prop, nodes)
        index, row = spread(self.ptr, at)
        return found[index], self.val[row]


def _place(ascending: Ints, node: int) -> int:
    """Where the node stands or would stand; a plain int would have the whole column cast to int64 first."""
    return int(np.searchsorted(ascending, np.int32(node)))


def ranges(start: Longs, count: Longs) -> Longs:
    """The numbers start[i] … start[i] + count[i] - 1 of all i, one after the other."""
    first = np.cumsum(count) - count
    numbers: Longs = np.arange(int(count.sum())) + np.repeat(start - first, count)
    return numbers


def spread(ptr: Longs, numbers: Ints | Longs) -> tuple[Longs, Longs]:
    """(index into ``numbers``, row) of all rows of each; ``ptr``: where the rows of each number begin, and the last end."""
    at = numbers.astype(np.int64)
    count = ptr[at + 1] - ptr[at]
    return np.repeat(np.arange(len(at)), count), ranges(ptr[at], count)


def consecutive(total: Longs, most: int) -> Iterator[slice]:
    """Consecutive parts whose counts (given added up) come to ``most`` at the most, or that are of one place only."""
    first = 0
    while first < len(total):
        done = int(total[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(total, done + most, side="right")))
        yield slice(first, last)
        first = last


Whole = TypeVar("Whole", Ints, Longs)


def distinct(keys: Whole) -> Whole:
    """The keys ascending, each once. (``np.unique`` hashes since NumPy 2.3, which is slow for millions.)

    What is walked comes in a few runs that are in order, which a stable sort merges: ten times as fast as sorting anew.
    """
    ordered = np.sort(keys, kind="stable")
    return ordered[run_starts(ordered)]


def united(some: Whole, others: Whole) -> Whole:
    """What stands in either, ascending, each once."""
    return distinct(np.concatenate((some, others)))


def shared(some: Ints, others: Ints) -> Ints:
    """What stands in both, of arrays that are ascending and hold each number once."""
    few, many = sorted((some, others), key=len)
    return few[found_in(many, few)[1]]


def found_in(ascending: npt.NDArray[Any], wanted: npt.NDArray[Any]) -> tuple[Longs, npt.NDArray[np.bool_]]:
    """Where each of the wanted numbers stands in an ascending array, 0 for one that does not; and which do."""
    at = np.searchsorted(ascending, wanted)
    at[at == len(ascending)] = 0
    there = ascending[at] == wanted if len(ascending) else np.zeros(len(wanted), bool)
    return at, there


class Makes(Protocol):
    """Makes an array of zeros, as `numpy.zeros` does, wherever it is kept."""

    def __call__(self, shape: int, dtype: npt.DTypeLike, /) -> npt.NDArray[Any]: ...


def sorted_rows(columns: Sequence[Ints], empty: Makes = np.zeros) -> list[Ints]:
    """Columns of one length, none negative, with their rows in order of the first column, then of the second …

    Rows are sorted as single numbers where these have room for them, which costs a fraction of sorting by several; ``empty``
    then makes all arrays of that length.
    """
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > WIDEST:
        order = np.lexsort(tuple(reversed(columns)))
        return [column[order] for column in columns]
    rows = len(columns[0])
    packed = empty(rows, np.int64)
    for column, width in zip(columns, widths, strict=True):
        packed <<= width
        packed |= column
    packed.sort()
    found: list[Ints] = []
    for width in reversed(widths):
        column = empty(rows, np.int32)
        np.bitwise_and(packed, (1 << width) - 1, out=column, casting="unsafe")
        packed >>= width
        found.append(column)
    return found[::-1]


def run_starts(*columns: npt.NDArray[np.generic]) -> npt.NDArray[np.bool_]:
    """Mask of the rows that begin a run: the first one, and each that differs from the row before it in any column."""
    found = np.ones(len(columns[0]), bool)
    found[1:] = False
    for column in columns:
        found[1:] |= column[1:] != column[:-1]
    return found


def places_in(order: npt.ArrayLike) -> Ints:
    """Where each number stands in a permutation of 0 … n-1, int32 [n]."""
    numbers = np.asarray(order, np.int64)
    places = np.empty(len(numbers), np.int32)
    places[numbers] = np.arange(len(numbers), dtype=np.int32)
    return places


def rows_in_order(prop: Ints, source: Ints, target: Ints, properties: int, empty: Makes = np.zeros) -> Rows:
    """Rows over triples in order, each once; ``target`` is kept, and ``empty`` makes the other arrays of many rows."""
    first = np.flatnonzero(run_starts(prop, source))
    row, ptr = empty(len(first), np.int32), empty(len(first) + 1, np.int64)
    np.take(source, first, out=row, mode="clip")  # without a copy, which checking would make
    ptr[:-1], ptr[-1] = first, len(prop)
    return Rows(np.searchsorted(prop[first], np.arange(properties + 1)).astype(np.int64), row, ptr, target)


ROW_PARTS = ("prop", "row", "ptr", "val")


def load_rows(folder: Path, direction: str) -> Rows:
    """Memory-map the rows saved as ``<direction>_<part>.npy``; raises ReleaseError when one cannot be read."""
    return Rows(*(open_array(folder, f"{direction}_{part}") for part in ROW_PARTS))


def save_rows(folder: Path, direction: str, rows: Rows) -> None:
    for part in ROW_PARTS:
        np.save(folder / f"{direction}_{part}.npy", getattr(rows, part))


@dataclass(frozen=True)
class Adjacency:
    """What walking needs: rows both ways, the codes of the properties, and what is known of each node.

    ``codes`` [P]: property code (``P108i``) or "" for a property outside the CRM family; ``categories`` uint8 [n]: bit mask
    of Fundamental Categories, 0 when unknown; ``category`` uint8 [n]: the primary one; ``flags`` uint8 [n].
    """

    forward: Rows
    backward: Rows
    codes: tuple[str, ...]
    category: Bytes
    categories: Bytes
    flags: Bytes

    @cached_property
    def by_code(self) -> dict[str, tuple[int, ...]]:
        """Property code -> numbers of the properties that carry it, ascending."""
        found: dict[str, list[int]] = {}
        for number, code in enumerate(self.codes):
            if code:
                found.setdefault(code, []).append(number)
        return {code: tuple(numbers) for code, numbers in found.items()}

    @property
    def nodes(self) -> int:
        return len(self.flags)
