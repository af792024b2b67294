"""The entity graph: documents as nodes, and how strongly any two of them are joined.

One graph for all that looks at how things hang together: communities, walks, the parts that a question reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.files import ReleaseFiles
from crmrag_query.artifacts.manifest import open_arrays, open_meta, save_arrays
from crmrag_query.graph.arrays import Ints, Longs

SCHEMA_VERSION: Final = 1
FOLDER: Final = "entity_graph"
META: Final = "entity_graph.json"
ARRAYS: Final = {"ptr": "int64", "neighbour": "int32", "weight": "float32"}
Weights = npt.NDArray[np.float32]


@dataclass(frozen=True)
class EntityGraph:
    """Edges between documents, each held from both ends: those of document d are ``ptr[d]:ptr[d + 1]``.

    ``ptr`` int64 [documents + 1]; ``neighbour`` int32 [edges * 2], ascending within a document; ``weight`` float32, above 0.
    """

    ptr: Longs
    neighbour: Ints
    weight: Weights

    @classmethod
    def from_release(cls, release: ReleaseFiles) -> EntityGraph:
        release.require(FOLDER)
        return cls.open(release.folder / FOLDER)

    @classmethod
    def open(cls, folder: Path) -> EntityGraph:
        """Memory-map the graph in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        open_meta(folder / META, "entity graph")
        return cls(**open_arrays(folder, ARRAYS, {"ptr": "neighbour"}, alike=[("neighbour", "weight")]))

    def save(self, folder: Path) -> None:
        save_arrays(folder, self, ARRAYS, META, schema=SCHEMA_VERSION)

    @property
    def documents(self) -> int:
        return len(self.ptr) - 1

    @property
    def edges(self) -> int:
        """How many there are, each counted once."""
        return len(self.neighbour) // 2

    def of(self, document: int) -> tuple[Ints, Weights]:
        """The neighbours of a document, ascending, and how strongly it is joined to each."""
        here = slice(int(self.ptr[document]), int(self.ptr[document + 1]))
        return self.neighbour[here], self.weight[here]

    def pairs(self) -> tuple[Ints, Ints, Weights]:
        """Every edge once: a document, another with a higher number, and the weight."""
        source = np.repeat(np.arange(self.documents, dtype=np.int32), np.diff(self.ptr))
        once = source < self.neighbour
        return source[once], self.neighbour[once], self.weight[once]
