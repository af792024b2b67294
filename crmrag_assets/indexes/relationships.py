"""Statistics and graph of the Fundamental Relationships, gathered chunk by chunk.

A hub makes many edges of few facts: the thousand parts of a whole each reach the other 999. So the graph is held as lists of
targets and who sends to them: matches of several sources that reach the same nodes, or the same but for themselves, are one
list. What a node receives is then summed over lists instead of edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from crmrag_assets.documents.portable import Numbering, open_nodes
from crmrag_query.documents.schema import open_table
from crmrag_query.linking.near import mixed

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
Doubles = npt.NDArray[np.float64]


class MatchArrays(NamedTuple):
    """FR matches of one chunk, sorted, each once: two nodes, and the number of the FR in the catalogue between them.

    All matches of a source are in one chunk.
    """

    source: Ints
    relationship: npt.NDArray[np.int16]
    target: Ints


@dataclass(frozen=True)
class MatchFiles:
    """The matches in the folders of chunks, mapped; may be gone through again."""

    folders: Sequence[Path]
    numbering: Numbering

    def __iter__(self) -> Iterator[MatchArrays]:
        for folder, nodes in zip(self.folders, self._nodes, strict=True):
            table = open_table(folder, "matches")
            source, relationship, target = (
                table.column(name).to_numpy() for name in ("entity", "relationship", "target")
            )
            yield MatchArrays(nodes[source], relationship, nodes[target])

    @cached_property
    def _nodes(self) -> tuple[Ints, ...]:
        return tuple(open_nodes(folder, self.numbering) for folder in self.folders)


class Groups(NamedTuple):
    """The matches of one source by one FR: where they stand, and a hash of their targets; arrays [groups].

    ``chunk``, ``first``, ``size``: rows of a chunk. ``plain``: 128 bits in two rows of 64, whatever the order.
    """

    source: Ints
    relationship: npt.NDArray[np.int16]
    chunk: Ints
    first: Longs
    size: Longs
    plain: Hashes


@dataclass(frozen=True)
class RelationshipGraph:
    """``pairs``, ``sources``, ``targets`` int64 [relationships]; of each node ``out`` int64 [n], its edges to others.

    ``senders`` [lists, n] and ``lists`` [n, lists] are 1.0 where a node sends to a list, and stands in it; ``own`` int32
    [n]: to how many of the lists that it stands in a node sends, though not to itself.
    """

    pairs: Longs
    sources: Longs
    targets: Longs
    out: Longs
    senders: sparse.csr_array
    lists: sparse.csr_array
    own: Ints

    def receive(self, sent: Doubles) -> Doubles:
        """What each node receives, float64 [n], when every node sends what it has in ``sent`` along each of its edges."""
        received: Doubles = self.lists @ (self.senders @ sent) - self.own * sent
        return received

    @property
    def nodes(self) -> npt.NDArray[np.bool_]:
        """Sources and targets, bool [n]."""
        found: npt.NDArray[np.bool_] = (self.out > 0) | (np.diff(self.lists.indptr) > 0)
        return found


def gather(matches: Iterable[MatchArrays], nodes: int, relationships: int) -> RelationshipGraph:
    """Count and join the chunks, which are gone through twice; the same whatever the chunks.

    Memory is some fifty bytes a source and FR, and sixteen an entry of a list.
    """
    salt = mixed(np.arange(2 * (nodes + relationships), dtype=np.uint64)).reshape(2, -1)
    of_node, of_relationship = np.split(salt, [nodes], axis=1)
    groups = _sorted([_groups(chunk, n, of_node, of_relationship) for n, chunk in enumerate(matches)])
    size, relationship = groups.size.astype(np.float64), groups.relationship
    with_self = _often(groups.plain[0] + of_node[0, groups.source]) > _often(groups.plain[0])
    list_of, example = _numbered(groups.plain + np.where(with_self, of_node[:, groups.source], np.uint64(0)))
    own = groups.source[with_self]
    number, target = _entries(matches, groups, example, with_self[example])
    reached = np.zeros((relationships, nodes), bool)
    reached[relationship[example][number], target] = True
    shape = (len(example), nodes)
    return RelationshipGraph(
        pairs=np.bincount(relationship, size, relationships).astype(np.int64),
        sources=np.bincount(relationship, minlength=relationships),
        targets=reached.sum(axis=1),
        out=np.bincount(groups.source, size, nodes).astype(np.int64),
        senders=_ones(list_of, groups.source, shape),
        lists=_ones(target, number, shape[::-1]),
        own=np.bincount(own, minlength=nodes).astype(np.int32),
    )


def _groups(chunk: MatchArrays, number: int, of_node: Hashes, of_relationship: Hashes) -> Groups:
    """The groups of one chunk; the FR takes part in their hashes, so no list serves two of them."""
    source, relationship, target = chunk
    new = np.ones(len(source), bool)
    new[1:] = (source[1:] != source[:-1]) | (relationship[1:] != relationship[:-1])
    first = np.flatnonzero(new)
    plain = of_relationship[:, relationship[first]]
    if len(first):
        plain += np.array([np.add.reduceat(salt[target], first) for salt in of_node])
    size = np.diff(first, append=len(source))
    return Groups(
        source[first], relationship[first], np.full(len(first), number, np.int32), first, size, plain
    )


def _sorted(parts: Sequence[Groups]) -> Groups:
    """The groups of all chunks by source and FR."""
    nothing = np.empty(0, np.int32)
    none = MatchArrays(nothing, nothing.astype(np.int16), nothing)
    parts = [*parts, _groups(none, 0, *np.zeros((2, 2, 1), np.uint64))]
    groups = Groups(*(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)))
    order = np.lexsort((groups.relationship, groups.source))
    ordered: list[Any] = [column[..., order] for column in groups]
    return Groups(*ordered)


def _often(keys: Hashes) -> Longs:
    """How often each key occurs, int64 [keys]."""
    _, row, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return counts[row].astype(np.int64)


def _numbered(keys: Hashes) -> tuple[Ints, Longs]:
    """(number int32 [groups] of each group's list, first group int64 [lists] of each list); lists in order of the latter."""
    order = np.argsort(keys[0], kind="stable")
    ordered = keys[:, order]
    new = np.ones(len(order), bool)
    new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    first = order[new]
    by_first = np.argsort(first)
    rank = np.empty(len(first), np.int32)
    rank[by_first] = np.arange(len(first), dtype=np.int32)
    list_of = np.empty(len(order), np.int32)
    list_of[order] = rank[np.cumsum(new) - 1]
    return list_of, first[by_first]


def _entries(
    matches: Iterable[MatchArrays], groups: Groups, example: Longs, with_self: npt.NDArray[np.bool_]
) -> tuple[Ints, Ints]:
    """(list, target) int32 of every entry of the lists, by list: the targets of its example, and its source where told."""
    of_chunk = groups.chunk[example]
    numbers = [np.flatnonzero(with_self).astype(np.int32)]
    targets = [groups.source[example[with_self]]]
    for number, chunk in enumerate(matches):
        here = np.flatnonzero(of_chunk == number)
        first, size = groups.first[example[here]], groups.size[example[here]]
        at = np.repeat(first - np.cumsum(size) + size, size) + np.arange(int(size.sum()))
        numbers.append(np.repeat(here, size).astype(np.int32))
        targets.append(chunk.target[at])
    of, target = np.concatenate(numbers), np.concatenate(targets)
    order = np.lexsort((target, of))
    return of[order], target[order]


def _ones(row: Ints, column: Ints, shape: tuple[int, int]) -> sparse.csr_array:
    return sparse.csr_array(sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape))
