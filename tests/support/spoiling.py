"""Ways to make a release say what is wrong, or what somebody else wants it to."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import ipc

from crmrag_query.artifacts.manifest import COMPANIONS, MANIFEST, PROVENANCE, entries, read_manifest

Spoil = Callable[[Path], None]
"""Changes files in the folder of a release."""
Array = npt.NDArray[Any]


def repinned(folder: Path, copy: Path, spoil: Spoil) -> Path:
    """A copy of a release that was spoiled and then pinned anew, so that every checksum is right; named by its id."""
    shutil.copytree(folder, copy)
    (copy / PROVENANCE).unlink()
    spoil(copy)
    beside = (MANIFEST, PROVENANCE, *COMPANIONS)
    manifest = read_manifest(copy)
    manifest = replace(manifest, files=tuple(e for e in entries(copy) if e.path not in beside))
    (copy / MANIFEST).write_text(manifest.text(), encoding="utf-8")
    return copy.rename(copy.with_name(manifest.id))


def edit_json(path: str, change: Callable[[Any], object]) -> Spoil:
    """Change what a file of JSON says."""

    def spoil(folder: Path) -> None:
        value = json.loads((folder / path).read_bytes())
        change(value)
        (folder / path).write_text(json.dumps(value), encoding="utf-8")

    return spoil


def array(path: str, change: Callable[[Array], Array | None]) -> Spoil:
    """Change an array in place, or give another one."""

    def spoil(folder: Path) -> None:
        values = np.load(folder / path)
        changed = change(values)
        np.save(folder / path, values if changed is None else changed)

    return spoil


def put(path: str, at: int, value: float) -> Spoil:
    """Change one value of an array."""

    def change(values: Array) -> None:
        values[at] = value

    return array(path, change)


def cell(path: str, column: str, at: int, value: Any) -> Spoil:
    """Change one value of a column of an Arrow file."""

    def spoil(folder: Path) -> None:
        found = ipc.open_file(pa.BufferReader((folder / path).read_bytes())).read_all()
        place, kind = found.schema.get_field_index(column), found.schema.field(column)
        values = found.column(column).to_pylist()
        values[at] = value
        found = found.set_column(place, kind, pa.array(values, kind.type)).combine_chunks()
        with pa.OSFile(str(folder / path), "wb") as sink, ipc.new_file(sink, found.schema) as writer:
            writer.write_table(found)

    return spoil
