"""A release in an object store: its files by their content, then its manifest, and at last what says that it is current.

Killed or failing at any moment, readers see the old release or the new one. Of two that push at once one is told that it was
too late: what is current is replaced only while it is what was read at first. Which files are there already is known from the
releases that were kept then, and from the age of files that no release has yet; what is removed at the end is older.
How a store is laid out stands in `crmrag_query/artifacts/mirror.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from crmrag_assets.build import store as failpoints
from crmrag_query.artifacts.files import Advance
from crmrag_query.artifacts.manifest import (
    MANIFEST,
    FileEntry,
    Manifest,
    read_manifest,
    release_id,
    sha256_file,
)
from crmrag_query.artifacts.mirror import (
    BESIDE,
    StoredReleases,
    current_path,
    dataset_path,
    files_path,
    read_stored,
    release_path,
    remote_manifest,
)
from crmrag_query.artifacts.objects import Content, Objects, Replaced
from crmrag_query.errors import BuildError, ReleaseError, StoreUnreachable

PUSH = "push"  # name of the fail-point
AT_ONCE = 3  # files that are sent
YOUNG, OLD = timedelta(hours=12), timedelta(hours=36)
"""A file that no release has yet is taken for there while it is young, and removed when it is old: the time between is for
pushes under way, and for clocks that differ."""


@dataclass(frozen=True)
class Pushed:
    """What was sent of a release, and how many old objects went; ``there``: it was the current one already."""

    release: str
    files: int = 0
    bytes: int = 0
    there: bool = False
    removed: int = 0


def push(
    folder: Path,
    objects: Objects,
    keep: int = 2,
    whole: bool = False,
    advance: Advance = lambda done, total: None,
) -> Pushed:
    """Make the release in a folder the current one of its data set in a store, where the newest ``keep`` stay.

    Only what is not there is sent; ``whole``: everything, which mends what was damaged there. ``advance`` is told (bytes
    done, bytes in all). Raises BuildError where another push was faster, or a file here is not what was built; ReleaseError,
    StoreUnreachable. Then what was current there still is.
    """
    manifest = read_manifest(folder)
    release, dataset = release_id((folder / MANIFEST).read_bytes()), manifest.dataset
    before = read_stored(objects, dataset)
    kept, content = before or (StoredReleases((), ""), None)
    if kept.releases[:1] == (release,) and not whole:
        return Pushed(release, there=True)
    there = set() if whole else _there(objects, dataset, kept.releases)
    missing = {one.sha256: one for one in manifest.files if one.sha256 not in there}
    failpoints.reach(PUSH, None, failpoints.BEFORE)
    _send(folder, objects, manifest, list(missing.values()), advance)
    failpoints.reach(PUSH, None, failpoints.DURING)
    for name in (*BESIDE, MANIFEST):
        if (folder / name).is_file():
            objects.write(release_path(dataset, release, name), (folder / name).read_bytes())
    after = StoredReleases(
        (release, *(one for one in kept.releases if one != release))[: max(keep, 2)], uuid4().hex
    )
    _switch(objects, dataset, after, content)
    failpoints.reach(PUSH, None, failpoints.AFTER)
    gone = _tidy(objects, dataset, after)
    return Pushed(release, len(missing), sum(one.bytes for one in missing.values()), removed=gone)


def _there(objects: Objects, dataset: str, releases: Sequence[str]) -> set[str]:
    """Checksums of the files that a store has of a data set and that nobody removes meanwhile."""
    found = set()
    for release in releases:
        with suppress(ReleaseError):  # damaged there: its files are sent again
            known = remote_manifest(objects, dataset, release)
            found |= {one.sha256 for one in known[0].files} if known else set()
    since = datetime.now(UTC) - YOUNG
    for one in objects.list(files_path(dataset)):
        if one.modified > since:
            found.add(one.path.rpartition("/")[2])
    return found


def _send(
    folder: Path, objects: Objects, manifest: Manifest, files: Sequence[FileEntry], advance: Advance
) -> None:
    total, done = sum(one.bytes for one in files), 0

    def send(entry: FileEntry) -> int:
        path = folder / entry.path
        if not path.is_file() or sha256_file(path) != entry.sha256:
            raise BuildError(
                f"{path} is not what was built, so release {manifest.id} was not pushed.",
                f"See what is wrong: crmrag verify {manifest.dataset}",
            )
        objects.write(f"{files_path(manifest.dataset)}/{entry.sha256}", path if entry.bytes else b"")
        return entry.bytes

    with ThreadPoolExecutor(AT_ONCE) as threads:
        futures = [threads.submit(send, entry) for entry in sorted(files, key=lambda one: -one.bytes)]
        try:
            for future in futures:
                done += future.result()
                advance(done, total)
        finally:
            for future in futures:
                future.cancel()


def _switch(objects: Objects, dataset: str, after: StoredReleases, before: Content | None) -> None:
    """Say which release is current. Where the store took it and its answer was lost, that is seen by looking again."""
    path, data = current_path(dataset), after.text().encode()
    try:
        objects.replace(path, data, before)
    except (Replaced, StoreUnreachable) as error:
        found = objects.read(path)
        if found is not None and found.data == data:
            return
        if isinstance(error, StoreUnreachable):
            raise
        now = read_stored(objects, dataset)
        named = f"release {now[0].releases[0]}" if now else "none"
        raise BuildError(
            f"Another push to {objects.address} was faster: {named} of '{dataset}' is current there, and not "
            f"{after.releases[0]}.",
            "See which one it should be, and push that one (again): what was sent stays for a while.",
        ) from None


def _tidy(objects: Objects, dataset: str, kept: StoredReleases) -> int:
    """Remove what no kept release names and is old; how many objects that were. Nothing where a kept manifest is damaged."""
    known = [remote_manifest(objects, dataset, release) for release in kept.releases]
    manifests = [one[0] for one in known if one is not None]
    if len(manifests) < len(known):
        return 0
    named = {f"{files_path(dataset)}/{one.sha256}" for manifest in manifests for one in manifest.files}
    named |= {
        release_path(dataset, release, name) for release in kept.releases for name in (MANIFEST, *BESIDE)
    }
    until, gone = datetime.now(UTC) - OLD, 0
    for one in objects.list(dataset_path(dataset)):
        if one.path in named or one.path.startswith(current_path(dataset)) or one.modified >= until:
            continue  # of a folder also the lock beside `current`
        modified = objects.modified(one.path)  # another push may have sent it again since it was listed
        if modified is not None and modified < until:
            objects.remove(one.path)
            gone += 1
    return gone
