"""The graph as memory-mapped arrays: one artifact for walking, exact answers, adjacency and sources.

Nodes are numbered by their IRI in sorted (UTF-8 byte) order. For each property the triples whose object is an IRI are
held twice, forward (subject -> objects) and backward (object -> subjects), as doubly compressed sparse rows: only nodes
that have the property take a row. A triple's number is its position in the forward order (property, subject, object).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.mapped import open_array

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

    def expand(self, prop: int, nodes: Ints) -> tuple[Longs, Ints]:
        """All steps from ``nodes`` by ``prop``: (index into ``nodes``, node reached) in order of ``nodes``."""
        low, high = int(self.prop[prop]), int(self.prop[prop + 1])
        rows = self.row[low:high]
        at = np.searchsorted(rows, nodes)
        at[at == len(rows)] = 0
        found = np.flatnonzero(rows[at] == nodes) if len(rows) else np.empty(0, np.int64)
        start = self.ptr[low + at[found]]
        count = self.ptr[low + at[found] + 1] - start
        origin = np.repeat(found, count)
        offset = np.arange(len(origin)) - np.repeat(np.cumsum(count) - count, count)
        return origin, self.val[np.repeat(start, count) + offset]


def _place(ascending: Ints, node: int) -> int:
    """Where the node stands or would stand; a plain int would have the whole column cast to int64 first."""
    return int(np.searchsorted(ascending, np.int32(node)))


def sorted_rows(columns: Sequence[Ints]) -> list[Ints]:
    """Columns of one length, none negative, with their rows in order of the first column, then of the second …

    Rows are sorted as single numbers where these have room for them, which costs a fraction of sorting by several.
    """
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > WIDEST:
        order = np.lexsort(tuple(reversed(columns)))
        return [column[order] for column in columns]
    packed = np.zeros(len(columns[0]), np.int64)
    for column, width in zip(columns, widths, strict=True):
        packed <<= width
        packed |= column
    packed.sort()
    found: list[Ints] = []
    for width in reversed(widths):
        found.append((packed & ((1 << width) - 1)).astype(np.int32))
        packed >>= width
    return found[::-1]


def rows_from_triples(prop: Ints, source: Ints, target: Ints, properties: int) -> Rows:
    """Rows over triples given in any order, each once; arrays of equal length."""
    prop, source, target = sorted_rows((prop, source, target))
    new_row = np.ones(len(prop), bool)
    new_row[1:] = (prop[1:] != prop[:-1]) | (source[1:] != source[:-1])
    first = np.flatnonzero(new_row)
    return Rows(
        prop=np.searchsorted(prop[first], np.arange(properties + 1)).astype(np.int64),
        row=source[first].astype(np.int32),
        ptr=np.append(first, len(prop)).astype(np.int64),
        val=target.astype(np.int32),
    )


ROW_PARTS = ("prop", "row", "ptr", "val")


def load_rows(folder: Path, direction: str) -> Rows:
    """Memory-map the rows saved as ``<direction>_<part>.npy``; raises ReleaseError when one cannot be read."""
    prop, row, ptr, val = (open_array(folder, f"{direction}_{part}") for part in ROW_PARTS)
    return Rows(cast(Longs, prop), cast(Ints, row), cast(Longs, ptr), cast(Ints, val))


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
