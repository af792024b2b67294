"""The date index: when entities were made, happened, lived, by the Fundamental Relationships that lead to Time."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from crmrag_query.artifacts.mapped import check_arrays, open_array
from crmrag_query.artifacts.versions import other_version, rebuild
from crmrag_query.dates import Interval
from crmrag_query.errors import ReleaseError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END

SCHEMA_VERSION = 1
META = "dates.json"
COLUMNS = ("entity", "begin", "end")


@dataclass(frozen=True)
class DateIndex:
    """Dates of entities by relationship, rows of a relationship sorted by begin, then entity.

    ``relationships``: ids, the number of one being its place; ``ptr`` int64 [R+1]: relationship -> range of rows;
    ``entity``, ``begin``, ``end`` int32 [rows]: day numbers of the widest extent that the data gives, each inclusive.
    """

    relationships: tuple[str, ...]
    ptr: Longs
    entity: Ints
    begin: Ints
    end: Ints

    @classmethod
    def open(cls, folder: Path) -> DateIndex:
        """Memory-map the index in ``folder``; raises ReleaseError when missing, damaged or of another version."""
        try:
            meta = json.loads((folder / META).read_text(encoding="utf-8"))
            if meta["schema"] != SCHEMA_VERSION:
                raise other_version("The date index", folder, meta["schema"], [SCHEMA_VERSION])
            relationships = tuple(meta["relationships"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ReleaseError(f"No date index in {folder}: {error}.", rebuild(folder)) from error
        arrays = {name: open_array(folder, name) for name in (*COLUMNS, "ptr")}
        check_arrays(folder, arrays, dict.fromkeys(COLUMNS, "int32") | {"ptr": "int64"}, {"ptr": "entity"})
        entity, begin, end = (cast(Ints, arrays[name]) for name in COLUMNS)
        if not len(entity) == len(begin) == len(end) or len(arrays["ptr"]) != len(relationships) + 1:
            raise ReleaseError(f"The arrays of the date index in {folder} do not fit.", rebuild(folder))
        return cls(relationships, cast(Longs, arrays["ptr"]), entity, begin, end)

    def within(self, relationships: Iterable[str], period: Interval) -> tuple[Ints, Ints]:
        """Entities dated by one of ``relationships`` (ids; unknown ones have none), each once and ascending.

        First those whose whole extent lies in ``period``, then those that only may lie in it: their extent overlaps it.
        """
        first = OPEN_BEGIN if period.begin is None else period.begin
        last = OPEN_END if period.end is None else period.end
        certain, possible = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
        for relationship in relationships:
            if relationship not in self.relationships:
                continue
            number = self.relationships.index(relationship)
            low, high = int(self.ptr[number]), int(self.ptr[number + 1])
            high = low + int(np.searchsorted(self.begin[low:high], last, "right"))
            begin, end = self.begin[low:high], self.end[low:high]
            overlaps, inside = end >= first, (begin >= first) & (end <= last)
            certain.append(self.entity[low:high][inside])
            possible.append(self.entity[low:high][overlaps & ~inside])
        sure = np.unique(np.concatenate(certain))
        return sure, np.setdiff1d(np.concatenate(possible), sure)

    def of(self, entity: int, relationship: str) -> Interval | None:
        """The dates of an entity by a relationship, or None."""
        if relationship not in self.relationships:
            return None
        number = self.relationships.index(relationship)
        low, high = int(self.ptr[number]), int(self.ptr[number + 1])
        for at in np.flatnonzero(self.entity[low:high] == entity)[:1] + low:
            begin, end = int(self.begin[at]), int(self.end[at])
            return Interval(None if begin == OPEN_BEGIN else begin, None if end == OPEN_END else end)
        return None
