"""Publishing: a release folder of hard links, its manifest written last, `current` switched atomically."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crmrag_assets.build import failpoints
from crmrag_assets.release.contents import Pinned, link_file
from crmrag_query.artifacts.files import canonical_json, fsync, write_text
from crmrag_query.artifacts.manifest import MANIFEST, PROVENANCE, Manifest, read_manifest
from crmrag_query.artifacts.places import CURRENT, PREVIOUS, dataset_folder, pointer, release_ids, switch
from crmrag_query.artifacts.verify import check_id, check_sizes
from crmrag_query.errors import ReleaseError, ReleaseNotFound

WORKING = ".working"
PUBLISH = "publish"  # name of the fail-point


def publish(data: Path, manifest: Manifest, files: Sequence[Pinned], provenance: dict[str, Any]) -> Path:
    """Make the release that ``manifest`` pins the current one; returns its folder.

    A release that is there already is kept when it is whole. The one that was current stays for rollback, older ones
    are removed. Killed at any moment, readers see the old release or the new one, never a part.
    """
    parent = dataset_folder(data, manifest.dataset)
    final = parent / manifest.id
    failpoints.reach(PUBLISH, None, failpoints.BEFORE)
    if not _is_whole(final):
        _assemble(parent / WORKING, manifest, files, provenance)
        failpoints.reach(PUBLISH, None, failpoints.DURING)
        shutil.rmtree(final, ignore_errors=True)
        (parent / WORKING).rename(final)
        fsync(parent)
    failpoints.reach(PUBLISH, None, failpoints.AFTER)
    switch(parent, manifest.id)
    _remove_older(parent, data, manifest.dataset)
    return final


def roll_back(data: Path, dataset: str) -> str:
    """Make the previous release current again; returns its id. ReleaseNotFound when there is none."""
    folder = dataset_folder(data, dataset)
    previous = pointer(folder, PREVIOUS)
    if previous is None or not (folder / previous / MANIFEST).is_file():
        raise ReleaseNotFound(f"Data set '{dataset}' has no previous release.", "Nothing was changed.")
    check_id(folder / previous, previous)
    check_sizes(folder / previous, read_manifest(folder / previous).files)
    switch(folder, previous)
    return previous


def _is_whole(folder: Path) -> bool:
    try:
        check_id(folder, folder.name)
        check_sizes(folder, read_manifest(folder).files)
    except (OSError, ReleaseError):
        return False
    return True


def _assemble(folder: Path, manifest: Manifest, files: Sequence[Pinned], provenance: dict[str, Any]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for pinned in files:
        link_file(pinned.source, folder / pinned.entry.path)
    for path in {pinned.entry.path.rpartition("/")[0] for pinned in files}:
        fsync(folder / path)
    checksum = hashlib.sha256(canonical_json(provenance).encode()).hexdigest()
    write_text(folder / PROVENANCE, canonical_json({"content": provenance, "sha256": checksum}))
    write_text(folder / MANIFEST, manifest.text())


def _remove_older(parent: Path, data: Path, dataset: str) -> None:
    keep = {pointer(parent, CURRENT), pointer(parent, PREVIOUS)}
    for release in release_ids(data, dataset):
        if release not in keep:
            shutil.rmtree(parent / release)
