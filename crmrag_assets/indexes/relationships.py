"""Statistics and graph of the Fundamental Relationships, gathered chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc
from scipy import sparse

Ints = npt.NDArray[np.int32]


class MatchArrays(NamedTuple):
    """FR matches of one chunk, each once: two nodes, and the number of the FR in the catalogue.

    All matches of a source are in one chunk.
    """

    source: Ints
    relationship: npt.NDArray[np.int16]
    target: Ints


class RelationshipGraph(NamedTuple):
    """``pairs``, ``sources``, ``targets`` int64 [relationships]; ``edges`` [n, n]: FRs from row to column."""

    pairs: npt.NDArray[np.int64]
    sources: npt.NDArray[np.int64]
    targets: npt.NDArray[np.int64]
    edges: sparse.csr_array


def read_matches(files: Sequence[Path]) -> Iterator[MatchArrays]:
    """The matches in each chunk's ``matches.arrow``."""
    for file in files:
        with pa.memory_map(str(file)) as source:
            table = ipc.open_file(source).read_all()
            yield MatchArrays(*(table.column(c).to_numpy() for c in ("entity", "relationship", "target")))


def gather(chunks: Iterable[MatchArrays], nodes: int, relationships: int) -> RelationshipGraph:
    """Count and join the chunks; memory is one byte a node and relationship, twelve a distinct edge."""
    pairs, sources = np.zeros(relationships, np.int64), np.zeros(relationships, np.int64)
    reached = np.zeros((relationships, nodes), bool)
    none = np.empty(0, np.int32)
    parts = [(none, none, none)]
    for chunk in chunks:
        pairs += np.bincount(chunk.relationship, minlength=relationships)
        own = np.unique(chunk.relationship.astype(np.int64) * nodes + chunk.source) // max(nodes, 1)
        sources += np.bincount(own, minlength=relationships)
        reached[chunk.relationship, chunk.target] = True
        parts.append(multiplicities(chunk, nodes))
    source, target, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    edges = sparse.csr_array(sparse.coo_array((weight, (source, target)), shape=(nodes, nodes)))
    return RelationshipGraph(pairs, sources, reached.sum(axis=1), edges)


def multiplicities(chunk: MatchArrays, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Distinct (source, target) of a chunk, and how many FRs lead from one to the other."""
    pairs, weight = np.unique(chunk.source.astype(np.int64) * nodes + chunk.target, return_counts=True)
    source, target = np.divmod(pairs, max(nodes, 1))
    return source.astype(np.int32), target.astype(np.int32), weight.astype(np.int32)
