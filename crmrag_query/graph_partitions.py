"""Graph partitions: the documents of the entity graph cut into parts of bounded size, what joins the parts, and the trained
model that says for which of them a question is (the aligner). "Partition" alone is Dagster's word; a *part* here is one of a
graph partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.manifest import open_arrays, open_meta, rebuild, save_arrays
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints, Longs

SCHEMA_VERSION: Final = 1
PARTITIONS, EDGES, ALIGNER = "graph_partitions", "partition_edges", "alignment_model"
ARRAYS: Final = {"part": "int32", "member_ptr": "int64", "member": "int32", "penalty": "float32"}
MATRICES: Final = {"centroid": "float32"}
EDGE_ARRAYS: Final = {
    "low": "int32", "high": "int32", "weight": "float32",
    "bridge_ptr": "int64", "bridge_low": "int32", "bridge_high": "int32",
}  # fmt: skip
NONE: Final = -1
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class GraphPartitions:
    """Which documents are in each part.

    ``part`` int32 [documents], -1 for none; ``member`` int32: the documents of each part, ascending (``member_ptr`` int64
    [parts + 1]); ``penalty`` float32 [parts], 0 … below 1: how far a hub, which is joined to everything and about nothing,
    counts less when parts are chosen; ``centroid`` float32 [parts, dimension]: the mean vector of each part's documents, of
    length 1, or 0 where none has a vector. ``meta``: how they were made: ``method``, ``target_size``, ``limit``.
    """

    part: Ints
    member_ptr: Longs
    member: Ints
    penalty: Floats
    centroid: Floats
    meta: dict[str, Any]

    @classmethod
    def from_release(cls, release: Release) -> GraphPartitions:
        release.require(PARTITIONS)
        return cls.open(release.folder / PARTITIONS)

    @classmethod
    def open(cls, folder: Path) -> GraphPartitions:
        """Memory-map what lies in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        meta = open_meta(folder / f"{PARTITIONS}.json", "table of graph partitions")
        alike = [("penalty", "centroid", "member_ptr")]
        return cls(**open_arrays(folder, ARRAYS, {"member_ptr": "member"}, MATRICES, alike), meta=meta)

    @classmethod
    def of(
        cls, part: Ints, penalty: Floats | None = None, centroid: Floats | None = None, **meta: Any
    ) -> GraphPartitions:
        """From the part of each document; parts are numbered from 0 without gaps. Without ``penalty`` there are no hubs."""
        count = int(part.max(initial=NONE)) + 1
        order = np.argsort(part, kind="stable").astype(np.int32)
        member = order[np.count_nonzero(part == NONE) :]
        member_ptr = np.append(0, np.cumsum(np.bincount(part[member], minlength=count))).astype(np.int64)
        penalty = np.zeros(count, np.float32) if penalty is None else penalty
        centroid = np.zeros((count, 0), np.float32) if centroid is None else centroid
        return cls(part, member_ptr, member, penalty, centroid, meta)

    def save(self, folder: Path) -> None:
        told = self.meta | {"schema": SCHEMA_VERSION}
        save_arrays(folder, self, ARRAYS | MATRICES, f"{PARTITIONS}.json", **told)

    def __len__(self) -> int:
        return len(self.penalty)

    @property
    def sizes(self) -> Longs:
        """How many documents each part has, int64 [parts]."""
        return np.diff(self.member_ptr)

    def members(self, part: int) -> Ints:
        """The documents of a part, ascending."""
        return self.member[int(self.member_ptr[part]) : int(self.member_ptr[part + 1])]

    def best(self, scores: Floats, count: int) -> Ints:
        """The ``count`` parts that an aligner scores highest, best first, hubs weighed down: a part's odds are multiplied by
        1 - penalty. Ties go to the lower number."""
        weighed = scores + np.log1p(-self.penalty)
        return np.lexsort((np.arange(len(self)), -weighed))[:count].astype(np.int32)


@dataclass(frozen=True)
class PartitionEdges:
    """The graph of the parts: which are joined, how strongly, and by which edges of the entity graph (bridges).

    ``low`` < ``high`` int32 [m]: two parts that are joined, ascending; ``weight`` float32 [m]: that of all bridges between
    them. Bridges of pair i are ``bridge_ptr[i]:bridge_ptr[i + 1]`` (int64 [m + 1]) of ``bridge_low`` (a document of part
    ``low``) and ``bridge_high`` (one of ``high``), int32.
    """

    low: Ints
    high: Ints
    weight: Floats
    bridge_ptr: Longs
    bridge_low: Ints
    bridge_high: Ints

    @classmethod
    def from_release(cls, release: Release) -> PartitionEdges:
        release.require(EDGES)
        return cls.open(release.folder / EDGES)

    @classmethod
    def open(cls, folder: Path) -> PartitionEdges:
        """Memory-map what lies in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        open_meta(folder / f"{EDGES}.json", "table of edges between graph partitions")
        alike = [("low", "high", "weight", "bridge_ptr"), ("bridge_low", "bridge_high")]
        return cls(**open_arrays(folder, EDGE_ARRAYS, {"bridge_ptr": "bridge_low"}, alike=alike))

    def save(self, folder: Path) -> None:
        save_arrays(folder, self, EDGE_ARRAYS, f"{EDGES}.json", schema=SCHEMA_VERSION)


@dataclass(frozen=True)
class Aligner:
    """A trained model that says how likely a question is for each part: all that answering needs of it is one matrix.

    ``vectors`` float32 [parts, dimension]; ``bias`` is added to every score. ``meta``: ``model`` and ``loss`` by which it was
    trained, and the ``encoder`` whose vectors of questions it takes.
    """

    vectors: Floats
    bias: float
    meta: dict[str, Any]

    @classmethod
    def from_release(cls, release: Release) -> Aligner:
        release.require(ALIGNER)
        return cls.open(release.folder / ALIGNER, len(release[GraphPartitions]))

    @classmethod
    def open(cls, folder: Path, parts: int) -> Aligner:
        """Memory-map what lies in ``folder``; raises ReleaseError when it is missing, damaged or of other parts."""
        meta = open_meta(folder / f"{ALIGNER}.json", "alignment model")
        vectors = open_arrays(folder, {}, {}, {"vectors": "float32"})["vectors"]
        bias = meta.get("bias")
        if len(vectors) != parts or type(bias) is not float:
            raise ReleaseError(f"The alignment model in {folder} is of other parts.", rebuild(folder))
        return cls(vectors, bias, meta)

    def save(self, folder: Path) -> None:
        told = self.meta | {"schema": SCHEMA_VERSION, "bias": float(self.bias)}
        save_arrays(folder, self, {"vectors": "float32"}, f"{ALIGNER}.json", **told)

    def scores(self, question: Floats) -> Floats:
        """How likely a question is for each part, as logits float32 [parts]; ``question`` float32 [dimension], of length 1.

        Raises ReleaseError for a vector of another encoder's length.
        """
        if question.shape != (self.vectors.shape[1],):
            raise ReleaseError(
                f"The question's vector has {question.shape} numbers, the alignment model {self.vectors.shape[1]}.",
                "Encode it with the encoder of this release.",
            )
        found: Floats = self.vectors @ question + np.float32(self.bias)
        return found
