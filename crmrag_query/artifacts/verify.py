"""Is a release still what its manifest pins? Sizes on opening, checksums on demand."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from crmrag_query.artifacts.files import FileEntry, canonical_json, sha256_file, sha256_files
from crmrag_query.artifacts.manifest import COMPANIONS, MANIFEST, PROVENANCE, Manifest, release_id
from crmrag_query.errors import ReleaseError

SHOWN = 5
_REMEDY = "Copy the release again, or build it: crmrag build DATASET."


def check_sizes(folder: Path, entries: Iterable[FileEntry]) -> None:
    """Raise ReleaseError unless every file is there, is a plain file below ``folder`` and has its size."""
    found = list(entries)
    _report(
        folder,
        [*_outside(folder, found), *(fault for entry in found if (fault := _size_fault(folder, entry)))],
    )


def check_files(
    folder: Path, manifest: Manifest, advance: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """Raise ReleaseError unless every file is byte for byte what was built, and nothing is there besides.

    ``advance`` is told (bytes done, bytes in all). The folder's name is checked where it is a release id.
    """
    total, done = sum(entry.bytes for entry in manifest.files), 0
    faults = list(_outside(folder, manifest.files))
    wrong = {entry: _size_fault(folder, entry) for entry in manifest.files}
    checksums = sha256_files([folder / entry.path for entry, fault in wrong.items() if not fault])
    for entry, fault in wrong.items():
        if not fault and next(checksums) != entry.sha256:
            fault = f"{entry.path}: its content was altered (checksum differs)"
        if fault:
            faults.append(fault)
        done += entry.bytes
        advance(done, total)
    faults.extend(f"{path}: not pinned by the manifest" for path in _strangers(folder, manifest))
    _report(folder, faults)
    check_companions(folder, read_provenance(folder) or {})


def check_companions(folder: Path, provenance: Mapping[str, Any]) -> None:
    """Raise ReleaseError for a file beside the pinned ones that is not what the provenance says of it.

    A copy may leave out companions, or the provenance; a companion that nothing tells of is not checked.
    """
    try:
        found = [FileEntry(**entry) for entry in provenance.get("companions", ())]
    except TypeError as error:
        raise ReleaseError(
            f"The provenance of {folder} names companions that are no files.", _REMEDY
        ) from error
    _report(folder, filter(None, (_companion_fault(folder, entry) for entry in found)))


def check_id(folder: Path, expected: str) -> None:
    """Raise ReleaseError when the manifest's bytes do not give the id by which the release is named."""
    found = release_id((folder / MANIFEST).read_bytes())
    if found != expected:
        raise ReleaseError(f"The manifest of release {expected} was altered: its id is {found}.", _REMEDY)


def read_provenance(folder: Path) -> dict[str, Any] | None:
    """How the release came to be, None when the file was left out; ReleaseError when its own checksum fails."""
    path = folder / PROVENANCE
    if not path.exists():
        return None
    try:
        raw = json.loads(path.read_bytes())
        content: dict[str, Any] = raw["content"]
        checksum = hashlib.sha256(canonical_json(content).encode()).hexdigest()
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ReleaseError(f"{path} cannot be read as provenance ({error!r}).", _REMEDY) from error
    if checksum != raw.get("sha256"):
        raise ReleaseError(f"{path} was altered (its checksum differs).", _REMEDY)
    return content


def _companion_fault(folder: Path, entry: FileEntry) -> str:
    if entry.path not in COMPANIONS or not os.path.lexists(folder / entry.path):
        return ""
    fault = _size_fault(folder, entry)
    if fault or sha256_file(folder / entry.path) == entry.sha256:
        return fault
    return f"{entry.path}: its content was altered (it is not what {PROVENANCE} says)"


def _size_fault(folder: Path, entry: FileEntry) -> str:
    try:
        found = (folder / entry.path).lstat()
    except OSError:
        return f"{entry.path}: missing"
    if not stat.S_ISREG(found.st_mode):
        return f"{entry.path}: no plain file"
    size = found.st_size
    return "" if size == entry.bytes else f"{entry.path}: {size:,} bytes where {entry.bytes:,} were written"


def _outside(folder: Path, entries: Iterable[FileEntry]) -> Iterator[str]:
    """Sub-folders that are links to elsewhere; each folder is looked at once."""
    root = folder.resolve()
    for parent in sorted({str(PurePosixPath(entry.path).parent) for entry in entries}):
        if not (folder / parent).resolve().is_relative_to(root):
            yield f"{parent}: leads outside the release"


def _strangers(folder: Path, manifest: Manifest) -> Iterator[str]:
    known = {entry.path for entry in manifest.files} | {MANIFEST, PROVENANCE, *COMPANIONS}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    yield from sorted(path for path in found if path not in known)


def _report(folder: Path, faults: Iterable[str]) -> None:
    found = list(faults)
    if not found:
        return
    shown = "\n".join(f"  {fault}" for fault in found[:SHOWN])
    more = f"\n  and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    raise ReleaseError(f"Release {folder.name} is not what was built:\n{shown}{more}\n", _REMEDY)
