"""The communities of a release: which documents are in each, which are made of which, and what was left out of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.files import canonical_json
from crmrag_query.artifacts.manifest import open_arrays, open_meta, rebuild, save_arrays
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints, Longs

SCHEMA_VERSION: Final = 1
FOLDER: Final = "communities"
META: Final = "communities.json"
ARRAYS: Final = {
    "id": "uint64", "level": "int32", "parent": "int32", "weight": "float32", "rank": "int32",
    "member_ptr": "int64", "member": "int32",
}  # fmt: skip
NONE: Final = -1


@dataclass(frozen=True)
class Communities:
    """Communities by number: those of level 0, the finest, first, each level by rank.

    ``id`` uint64 [c]: the beginning of the SHA-256 of level and members' IRIs, so that it stays while they do; ``level``;
    ``parent``: of the level above, -1 for none; ``weight``: of all edges inside; ``rank``: 1 for the level's largest.
    ``member`` int32: the documents of each (``member_ptr`` [c + 1]), the most central first; those of a parent are its
    parts'. ``levels``: for each level what was found: counts, resolution, how much was gathered, being alone or
    among too few; and the modularity of the grouping among the documents that are in any, where what is gathered on an upper
    level stands as on the level below.
    """

    id: npt.NDArray[np.uint64]
    level: Ints
    parent: Ints
    weight: npt.NDArray[np.float32]
    rank: Ints
    member_ptr: Longs
    member: Ints
    levels: tuple[dict[str, Any], ...]

    @classmethod
    def from_release(cls, release: Release) -> Communities:
        release.require(FOLDER)
        return cls.open(release.folder / FOLDER)

    @classmethod
    def open(cls, folder: Path) -> Communities:
        """Memory-map what lies in ``folder``; raises ReleaseError when it is missing, damaged or of another version."""
        meta = open_meta(folder / META, "table of communities")
        alike = [("id", "level", "parent", "weight", "rank", "member_ptr")]
        arrays = open_arrays(folder, ARRAYS, {"member_ptr": "member"}, alike=alike)
        if not isinstance(meta.get("levels"), list):
            raise ReleaseError(f"{folder / META} tells of no levels.", rebuild(folder))
        return cls(**arrays, levels=tuple(meta["levels"]))

    def save(self, folder: Path) -> None:
        save_arrays(folder, self, ARRAYS)
        meta = {"schema": SCHEMA_VERSION, "levels": list(self.levels)}
        (folder / META).write_text(canonical_json(meta), encoding="utf-8")

    def __len__(self) -> int:
        return len(self.id)

    def name(self, community: int) -> str:
        """Its stable id, 16 hexadecimal digits."""
        return f"{int(self.id[community]):016x}"

    def number(self, name: str) -> int | None:
        """The community of a stable id, None where there is none."""
        try:
            found = np.flatnonzero(self.id == np.uint64(int(name, 16)))
        except (ValueError, OverflowError):
            return None
        return int(found[0]) if len(found) else None

    def members(self, community: int, most: int | None = None) -> Ints:
        """Its documents, the most central first, at most so many."""
        first, end = int(self.member_ptr[community]), int(self.member_ptr[community + 1])
        return self.member[first : end if most is None else min(end, first + most)]

    def size(self, community: int) -> int:
        """How many documents it has."""
        return int(self.member_ptr[community + 1] - self.member_ptr[community])

    def of_level(self, level: int) -> Ints:
        """The communities of a level, by rank."""
        return np.flatnonzero(self.level == level).astype(np.int32)

    def parts(self, community: int) -> Ints:
        """The communities of the level below that it is made of, the largest first; none of the finest."""
        order, parents = self._by_parent
        low, high = np.searchsorted(parents, (community, community + 1))
        return order[low:high]

    def above(self, community: int) -> list[int]:
        """The communities that it is a part of, the one of the next level first."""
        found, at = list[int](), int(self.parent[community])
        while at != NONE:
            found.append(at)
            at = int(self.parent[at])
        return found

    @cached_property
    def _by_parent(self) -> tuple[Ints, Ints]:
        """All communities by their parents, and these: there are too many to look through all for each."""
        order = np.argsort(self.parent, kind="stable").astype(np.int32)
        return order, np.asarray(self.parent)[order]

    @cached_property
    def outermost(self) -> Ints:
        """Those that are part of no other, the largest first, of whatever level: together they hold all that is in any."""
        found = np.flatnonzero(self.parent == NONE)
        sizes = np.diff(self.member_ptr)[found]
        return found[np.lexsort((found, -sizes))].astype(np.int32)

    def finest(self, documents: Ints) -> Ints:
        """The finest community of each of the documents, -1 for none, int32."""
        found = np.full(len(documents), NONE, np.int32)
        known = documents < len(self._finest)
        found[known] = self._finest[documents[known]]
        return found

    @cached_property
    def _finest(self) -> Ints:
        found = np.full(int(self.member.max(initial=NONE)) + 1, NONE, np.int32)
        numbers = np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.member_ptr))
        found[self.member[::-1]] = numbers[
            ::-1
        ]  # of several the first, which is the finest, is the last written
        return found

    def of_document(self, document: int) -> list[int]:
        """The communities that a document is in, the finest first."""
        at = np.flatnonzero(self.member == document)
        return sorted(int(np.searchsorted(self.member_ptr, one, "right")) - 1 for one in at.tolist())
