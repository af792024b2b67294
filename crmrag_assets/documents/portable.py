"""Tables of a chunk that outlive the graph they were made from.

A graph numbers its nodes anew with every entity that comes or goes. What is written for a chunk numbers the nodes that it
speaks of by itself, in the graph's order (that of IRIs), and lists their ids: the first eight bytes of the SHA-256 of each
IRI. So a chunk that a change does not reach stays as it is, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import pyarrow as pa

from crmrag_assets.harvest.chunks import Hashes, ids_of
from crmrag_query.artifacts.mapped import open_array
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints, Longs

NODES = "nodes"


@dataclass(frozen=True)
class Numbering:
    """The nodes of one graph by id: ``ids`` uint64 [n], distinct."""

    ids: Hashes

    @classmethod
    def of(cls, iris: pa.Array) -> Numbering:
        """The nodes of a graph by its IRIs; BuildError for two IRIs of one id, of which none are known."""
        made = cls(ids_of(iris))
        same = np.flatnonzero(made._ascending[1:] == made._ascending[:-1])
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
        return self.ids[self._order]

    def nodes(self, ids: Hashes) -> Ints | None:
        """int32: the node of each id; None where the graph does not have them all."""
        at = np.minimum(np.searchsorted(self._ascending, ids), max(len(self.ids) - 1, 0))
        if len(ids) and not (len(self.ids) and (self._ascending[at] == ids).all()):
            return None
        return self._order[at].astype(np.int32)

    def listed(self, nodes: Iterable[Ints]) -> Listed:
        """Numbers for those of the graph's nodes that occur in any of the arrays."""
        held = np.zeros(len(self.ids), bool)
        for some in nodes:
            held[some] = True
        return Listed(np.flatnonzero(held).astype(np.int32), self)


@dataclass(frozen=True)
class Listed:
    """``nodes`` int32 [k] of a graph, ascending, that are to be numbered 0 … k-1."""

    nodes: Ints
    numbering: Numbering

    @cached_property
    def _place(self) -> Ints:
        place = np.full(len(self.numbering.ids), -1, np.int32)
        place[self.nodes] = np.arange(len(self.nodes), dtype=np.int32)
        return place

    def save(self, folder: Path) -> None:
        """Write what the numbers stand for."""
        np.save(folder / f"{NODES}.npy", self.numbering.ids[self.nodes])

    def local(self, table: pa.Table, *columns: str) -> pa.Table:
        """The table with the nodes in these columns (int32, or lists of it) by their own numbers."""
        for name in columns:
            place = table.schema.get_field_index(name)
            field = table.schema.field(place)
            chunks = [remapped(chunk, self._place) for chunk in table.column(place).chunks]
            table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
        return table


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
