"""Publishing: a release folder of hard links, its manifest written last, `current` switched atomically."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from crmrag_assets.build import failpoints
from crmrag_assets.release.contents import Pinned, link_file
from crmrag_assets.release.switching import switching
from crmrag_query.artifacts.files import canonical_json, fsync, sha256_files, write_text
from crmrag_query.artifacts.manifest import COMPANIONS, MANIFEST, PROVENANCE, Manifest, read_manifest
from crmrag_query.artifacts.places import CURRENT, PREVIOUS, dataset_folder, pointer, release_ids, switch
from crmrag_query.artifacts.verify import check_companions, check_id, check_sizes, read_provenance
from crmrag_query.errors import ReleaseError

WORKING, DAMAGED = ".working", ".damaged"
PUBLISH = "publish"  # name of the fail-point
TIME = (
    "built"  # in the provenance: when a build that changed nothing ran is not worth a change of the release
)


def publish(
    data: Path,
    manifest: Manifest,
    files: Sequence[Pinned],
    provenance: dict[str, Any],
    companions: Sequence[Pinned] = (),
    keep: int = 2,
    accept: Callable[[Path], None] = lambda folder: None,
) -> Path:
    """Make the release that ``manifest`` pins the current one; returns its folder.

    A release that is there already is kept when it is whole; its provenance and companions, which are no part of its id,
    are replaced when this build has others. The one that was current stays for rollback, and with it the newest others up to
    ``keep`` in all. Killed at any moment, readers see the old release or the new one, never a part. ``accept`` is given the
    folder of a release that was not there, with all its files; what it raises leaves the old one current.
    """
    parent = dataset_folder(data, manifest.dataset)
    final, working = parent / manifest.id, parent / WORKING
    told = provenance | {"companions": [pinned.entry.as_dict() for pinned in companions]}
    failpoints.reach(PUBLISH, None, failpoints.BEFORE)
    shutil.rmtree(working, ignore_errors=True)
    if not _is_whole(final, files):
        _assemble(working, manifest, files, told, companions)
        failpoints.reach(PUBLISH, None, failpoints.DURING)
        accept(working)
        _put(working, final)
    elif not _tells(final, told, companions):
        _write_provenance(working, told, companions)
        failpoints.reach(PUBLISH, None, failpoints.DURING)
        _replace_provenance(working, final, companions)
    failpoints.reach(PUBLISH, None, failpoints.AFTER)
    with switching(parent):
        switch(parent, manifest.id)
        _remove_older(parent, data, manifest.dataset, keep)
    return final


def _is_whole(folder: Path, files: Sequence[Pinned]) -> bool:
    """True when a release is there, byte for byte.

    A file that is the very one that the build has just checked, by another name, is not read again.
    """
    try:
        check_id(folder, folder.name)
        check_sizes(folder, read_manifest(folder).files)
        others = [pinned for pinned in files if not pinned.source.samefile(folder / pinned.entry.path)]
        found = sha256_files([folder / pinned.entry.path for pinned in others])
        return all(pinned.entry.sha256 == checksum for pinned, checksum in zip(others, found, strict=True))
    except (OSError, ReleaseError):
        return False


def _put(working: Path, final: Path) -> None:
    """Give a release its name; a damaged one that has it makes room, and is there until the moment that it does."""
    damaged = working.with_name(DAMAGED)
    shutil.rmtree(damaged, ignore_errors=True)
    if final.exists():
        final.rename(damaged)
    working.rename(final)
    fsync(final.parent)
    shutil.rmtree(damaged, ignore_errors=True)


def _tells(folder: Path, provenance: dict[str, Any], companions: Sequence[Pinned]) -> bool:
    """True when a release says the same of how it came to be, but for the time of the build."""
    try:
        check_companions(folder, provenance)
        found = read_provenance(folder) or {}
    except ReleaseError:
        return False
    there = all((folder / pinned.entry.path).is_file() for pinned in companions)
    return there and canonical_json(found | {TIME: ""}) == canonical_json(provenance | {TIME: ""})


def _assemble(
    folder: Path,
    manifest: Manifest,
    files: Sequence[Pinned],
    provenance: dict[str, Any],
    companions: Sequence[Pinned],
) -> None:
    for pinned in files:
        link_file(pinned.source, folder / pinned.entry.path)
    for path in {pinned.entry.path.rpartition("/")[0] for pinned in files}:
        fsync(folder / path)
    _write_provenance(folder, provenance, companions)
    write_text(folder / MANIFEST, manifest.text())


def _write_provenance(folder: Path, provenance: dict[str, Any], companions: Sequence[Pinned]) -> None:
    for pinned in companions:
        link_file(pinned.source, folder / pinned.entry.path)
    checksum = hashlib.sha256(canonical_json(provenance).encode()).hexdigest()
    write_text(folder / PROVENANCE, canonical_json({"content": provenance, "sha256": checksum}))


def _replace_provenance(working: Path, final: Path, companions: Sequence[Pinned]) -> None:
    """Move provenance and companions into a release that is there.

    Files cannot be exchanged together, so the order keeps it verifying wherever this is killed: a companion may be absent,
    but must not differ from what the provenance says. First the old ones go, then the provenance is replaced, then the new
    ones come. They are made in ``working``, so that no half-written file is ever among the release's.
    """
    for name in COMPANIONS:
        (final / name).unlink(missing_ok=True)
    fsync(final)
    (working / PROVENANCE).replace(final / PROVENANCE)
    fsync(final)
    for pinned in companions:
        (working / pinned.entry.path).replace(final / pinned.entry.path)
    fsync(final)
    shutil.rmtree(working)


def _remove_older(parent: Path, data: Path, dataset: str, keep: int) -> None:
    """Remove all releases but the current and the previous one, and the newest of the others up to ``keep`` in all."""
    pinned = {pointer(parent, CURRENT), pointer(parent, PREVIOUS)} - {None}
    others = [release for release in release_ids(data, dataset) if release not in pinned]
    others.sort(key=lambda release: (parent / release / MANIFEST).stat().st_mtime_ns, reverse=True)
    for release in others[keep - len((CURRENT, PREVIOUS)) :]:
        shutil.rmtree(parent / release)
