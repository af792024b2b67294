"""Is a release still what its manifest pins? Sizes on opening, checksums on demand."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from crmrag_query.artifacts.files import FileEntry, canonical_json, sha256_file, sha256_files
from crmrag_query.artifacts.manifest import (
    COMPANIONS,
    MANIFEST,
    PROVENANCE,
    Manifest,
    is_release_id,
    release_id,
)
from crmrag_query.errors import ReleaseError

SHOWN = 5
STRAY = "not pinned by the manifest: it does not belong there, remove it"
_REMEDY = "Copy the release again, or build it: crmrag build DATASET."


@dataclass(frozen=True, slots=True)
class FileFault:
    """What is wrong with the file or folder at ``path``; ``stray``: it should not be there, and harms no other."""

    path: str
    what: str
    stray: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.what}"


Advance = Callable[[int, int], None]


def check_sizes(folder: Path, entries: Iterable[FileEntry]) -> None:
    """Raise ReleaseError unless every file is there, is a plain file below ``folder`` and has its size."""
    found = list(entries)
    _report(
        folder,
        [*_outside(folder, found), *(fault for entry in found if (fault := _size_fault(folder, entry)))],
    )


def faults_of_files(
    folder: Path, manifest: Manifest, advance: Advance = lambda done, total: None
) -> list[FileFault]:
    """Whatever is not byte for byte what was built, or is there besides; none for a whole release.

    ``advance`` is told (bytes done, bytes in all). The manifest's own id is checked where it names the folder.
    """
    total, done = sum(entry.bytes for entry in manifest.files), 0
    faults = [*_manifest_fault(folder), *_outside(folder, manifest.files)]
    wrong = {entry: _size_fault(folder, entry) for entry in manifest.files}
    checksums = sha256_files([folder / entry.path for entry, fault in wrong.items() if not fault])
    for entry, fault in wrong.items():
        if not fault and next(checksums) != entry.sha256:
            fault = FileFault(entry.path, "its content was altered (checksum differs)")
        if fault:
            faults.append(fault)
        done += entry.bytes
        advance(done, total)
    faults.extend(FileFault(path, STRAY, True) for path in _strangers(folder, manifest))
    return faults


def check_files(folder: Path, manifest: Manifest, advance: Advance = lambda done, total: None) -> None:
    """Raise ReleaseError unless every file is byte for byte what was built, and nothing is there besides."""
    _report(folder, faults_of_files(folder, manifest, advance))
    check_companions(folder, read_provenance(folder) or {})


def _manifest_fault(folder: Path) -> Iterator[FileFault]:
    if is_release_id(folder.name) and (found := release_id((folder / MANIFEST).read_bytes())) != folder.name:
        yield FileFault(MANIFEST, f"it was altered (its id is {found})")


def check_companions(folder: Path, provenance: Mapping[str, Any]) -> None:
    """Raise ReleaseError for a file beside the pinned ones that is not what the provenance says of it.

    A copy may leave out companions, or the provenance; a companion that nothing tells of is not checked.
    """
    found = _companions(folder, provenance)
    _report(folder, (_companion_fault(folder, entry) for entry in found))


def provenance_faults(folder: Path) -> tuple[list[FileFault], tuple[str, ...]]:
    """What is wrong with the provenance and its companions, and which of them were left out.

    A copy may have another name than its id: then the provenance alone tells what the manifest's was. Raises ReleaseError
    for a provenance that cannot be read, or was altered.
    """
    provenance = read_provenance(folder)
    if provenance is None:
        return [], (PROVENANCE,)
    told = _companions(folder, provenance)
    faults = [fault for entry in told if (fault := _companion_fault(folder, entry))]
    raw = (folder / PROVENANCE).read_bytes()
    if (
        raw != canonical_json(json.loads(raw)).encode()
    ):  # its checksum is of what it says, not of how it is spaced
        faults.append(FileFault(PROVENANCE, "it was altered (it is not spaced as it was written)"))
    found = release_id((folder / MANIFEST).read_bytes())
    if provenance.get("release", found) != found:
        faults.append(FileFault(MANIFEST, f"it was altered (its id is {found}, not {provenance['release']})"))
    absent = (entry.path for entry in told if not os.path.lexists(folder / entry.path))
    return faults, tuple(absent)


def _companions(folder: Path, provenance: Mapping[str, Any]) -> list[FileEntry]:
    try:
        found = [FileEntry(**entry) for entry in provenance.get("companions", ())]
    except TypeError as error:
        raise ReleaseError(
            f"The provenance of {folder} names companions that are no files.", _REMEDY
        ) from error
    return [entry for entry in found if entry.path in COMPANIONS]


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


def _companion_fault(folder: Path, entry: FileEntry) -> FileFault | None:
    if not os.path.lexists(folder / entry.path):
        return None
    fault = _size_fault(folder, entry)
    if fault or sha256_file(folder / entry.path) == entry.sha256:
        return fault
    return FileFault(entry.path, f"its content was altered (it is not what {PROVENANCE} says)")


def _size_fault(folder: Path, entry: FileEntry) -> FileFault | None:
    try:
        found = (folder / entry.path).lstat()
    except OSError:
        return FileFault(entry.path, "missing")
    if not stat.S_ISREG(found.st_mode):
        return FileFault(entry.path, "no plain file")
    size = found.st_size
    if size == entry.bytes:
        return None
    return FileFault(entry.path, f"{size:,} bytes where {entry.bytes:,} were written")


def _outside(folder: Path, entries: Iterable[FileEntry]) -> Iterator[FileFault]:
    """Sub-folders that are links to elsewhere; each folder is looked at once."""
    root = folder.resolve()
    for parent in sorted({str(PurePosixPath(entry.path).parent) for entry in entries}):
        if not (folder / parent).resolve().is_relative_to(root):
            yield FileFault(parent, "leads outside the release")


def _strangers(folder: Path, manifest: Manifest) -> Iterator[str]:
    known = {entry.path for entry in manifest.files} | {MANIFEST, PROVENANCE, *COMPANIONS}
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())
    yield from sorted(path for path in found if path not in known)


def _report(folder: Path, faults: Iterable[FileFault | None]) -> None:
    found = [fault for fault in faults if fault is not None]
    if not found:
        return
    shown = "\n".join(f"  {fault}" for fault in found[:SHOWN])
    more = f"\n  and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    raise ReleaseError(f"Release {folder.name} is not what was built:\n{shown}{more}\n", _REMEDY)
