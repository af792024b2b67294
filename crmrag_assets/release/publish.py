"""Publishing: a release folder of hard links, its manifest written last, `current` switched atomically; and going back.

Which artifacts make a release stands in PLACES. None is published whose artifacts contradict each other. Who
switches or removes releases holds a lock for the moment that it takes; a build goes on meanwhile.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from crmrag_assets.build import store as failpoints
from crmrag_assets.build.step import CHUNKED, PAGED, PLACES, BuildContext, chunks_of, is_locked
from crmrag_assets.build.store import working_folder
from crmrag_query.artifacts.files import (
    Advance,
    check_companions,
    check_files,
    check_id,
    check_sizes,
    read_provenance,
)
from crmrag_query.artifacts.manifest import (
    COMPANIONS,
    CURRENT,
    MANIFEST,
    PREVIOUS,
    PROVENANCE,
    FileEntry,
    Manifest,
    canonical_json,
    dataset_folder,
    fsync,
    is_release_id,
    listed,
    pointer,
    read_manifest,
    release_ids,
    sha256_files,
    switch,
    write_text,
)
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import BuildError, ReleaseError, ReleaseNotFound
from crmrag_query.verify.run import check_references


@dataclass(frozen=True, slots=True)
class Pinned:
    """A file of a release: where it lies in the working folder, and its path, size and checksum in the release."""

    source: Path
    entry: FileEntry


def pinned_files(context: BuildContext) -> tuple[Pinned, ...]:
    """Every file that the manifest pins, sorted by its path there; BuildError when an artifact is not built."""
    return tuple(pinned for pinned in _all_files(context) if pinned.entry.path not in COMPANIONS)


def companion_files(context: BuildContext) -> tuple[Pinned, ...]:
    """Files that go with a release and tell how it came to be: its manifest does not pin them, its provenance does."""
    return tuple(pinned for pinned in _all_files(context) if pinned.entry.path in COMPANIONS)


def _all_files(context: BuildContext) -> list[Pinned]:
    found = []
    for artifact, place in PLACES.items():
        for chunk in _chunks(context, artifact):
            folder = context.folder(artifact, chunk)
            for entry in context.finished(artifact, chunk).files:
                path = "/".join(part for part in (place, chunk, entry.path) if part)
                found.append(Pinned(folder / entry.path, FileEntry(path, entry.bytes, entry.sha256)))
    return sorted(found, key=lambda pinned: pinned.entry.path)


def _chunks(context: BuildContext, artifact: str) -> Sequence[str | None]:
    if artifact in PAGED:  # those that were made: a document may have come since
        return context.store.chunks(artifact)
    return chunks_of(context) if artifact in CHUNKED else (None,)


def link_file(source: Path, target: Path) -> None:
    """Hard link where the file system can, else a copy (another disk, no links). Finished files are never changed."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
        fsync(target)


LOCK = ".lock"
WAIT = 60.0  # seconds; what is done under the lock takes less than one


@contextmanager
def switching(folder: Path, wait: float = WAIT) -> Iterator[None]:
    """Hold the right to switch and to remove releases in the folder of a data set's releases.

    A build that has just published would remove the release that another process is about to make current. Raises BuildError
    when another process does not let go of it for ``wait`` seconds.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK, timeout=wait)
    try:
        lock.acquire()
    except Timeout:
        raise BuildError(
            f"Another process has been switching the releases of '{folder.name}' for {wait:.0f} s.",
            "Look for a crmrag process that hangs, end it and try again.",
        ) from None
    try:
        yield
    finally:
        lock.release()


WORKING, DAMAGED = ".working", ".damaged"
PUBLISH = "publish"  # name of the fail-point
TIME = "built"
"""In the provenance: when a build that changed nothing ran is not worth a change of the release."""


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
    ``keep`` in all. Where it is the same but for the vectors, of which it had fewer, `rollback` goes to the one before it; it
    stays until the next one is published, as services still answer from it. Killed at any moment, readers see the old release
    or the new one, never a part. ``accept`` is given the folder of a release that was not there, with all its files; what it
    raises leaves the old one current.
    """
    parent = dataset_folder(data, manifest.dataset)
    final, working = parent / manifest.id, parent / WORKING
    whole = provenance | {"companions": [pinned.entry.as_dict() for pinned in companions]}
    failpoints.reach(PUBLISH, None, failpoints.BEFORE)
    shutil.rmtree(working, ignore_errors=True)
    if not _is_whole(final, files):
        for pinned in files:
            link_file(pinned.source, working / pinned.entry.path)
        for path in {pinned.entry.path.rpartition("/")[0] for pinned in files}:
            fsync(working / path)
        _write_provenance(working, whole, companions)
        write_text(working / MANIFEST, manifest.text())
        failpoints.reach(PUBLISH, None, failpoints.DURING)
        accept(working)
        _put(working, final)
    elif not _tells(final, whole, companions):
        _write_provenance(working, whole, companions)
        failpoints.reach(PUBLISH, None, failpoints.DURING)
        _replace_provenance(working, final, companions)
    failpoints.reach(PUBLISH, None, failpoints.AFTER)
    with switching(parent):
        before = _current(parent)
        known = before is None or pointer(parent, PREVIOUS) == manifest.id
        betters = not known and _betters(manifest, parent / str(before))
        switch(parent, manifest.id, remember=not betters)
        pointed = {pointer(parent, CURRENT), pointer(parent, PREVIOUS), before}
        others = [release for release in release_ids(data, manifest.dataset) if release not in pointed]
        others.sort(key=lambda release: (parent / release / MANIFEST).stat().st_mtime_ns, reverse=True)
        for release in others[keep - len((CURRENT, PREVIOUS)) :]:
            shutil.rmtree(parent / release)
    return final


OF_VECTORS = (
    "embeddings/", "dense/", "community_index/", "graph_partitions/", "partition_edges/", "alignment_model/",
    "validation_report.json",
)  # fmt: skip
"""What differs between releases that differ only in how many documents have vectors."""


def _betters(manifest: Manifest, folder: Path) -> bool:
    """Whether a release is that in a folder with vectors of more documents."""
    try:
        former = read_manifest(folder)
    except ReleaseError:
        return False

    def others(one: Manifest) -> list[FileEntry]:
        return sorted(entry for entry in one.files if not entry.path.startswith(OF_VECTORS))

    return former.encoded < manifest.encoded and others(former) == others(manifest)


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


def export_release(folder: Path, to: Path) -> Path:
    """Copy a release whole into the data folder ``to``, where it becomes the current one of its data set; its folder there.

    Every byte is checked before and after. In a data folder releases share what is the same in them, such as the encoder;
    the copy shares nothing. Raises ReleaseError for a release that is damaged, or there already.
    """
    manifest = read_manifest(folder)
    check_files(folder, manifest)
    parent = dataset_folder(to, manifest.dataset)
    final, working = parent / manifest.id, parent / WORKING
    if final.exists():
        raise ReleaseError(f"{final} is there already.", "Name another folder, or remove it.")
    shutil.rmtree(working, ignore_errors=True)
    shutil.copytree(folder, working)
    check_files(working, manifest)
    _put(working, final)
    with switching(parent):
        switch(parent, manifest.id)
    return final


SHOWN = 10
ROOT_FILES = {"validation_report": "validation_report.json", "method": "config.json"}


def require_consistent(context: BuildContext, folder: Path) -> None:
    """Raise BuildError unless the artifacts of the release in ``folder`` fit each other; it names them and the remedy."""
    report = check_references(Release(folder, read_manifest(folder)))
    if report.holds:
        return
    shown = [f"  {fault}" for fault in report.faults[:SHOWN]]
    if len(report.faults) > SHOWN:
        shown.append(f"  and {len(report.faults) - SHOWN:,} more")
    text = "\n".join(report.faults)
    places = {artifact: f"{place}/" for artifact, place in PLACES.items() if place} | ROOT_FILES
    # its manifest
    named = [artifact for artifact, file in places.items() if f" {file}" in text] or ["release"]
    remove = " ".join(shlex.quote(str(context.folder(artifact))) for artifact in named)
    faults = "\n".join(shown)
    raise BuildError(
        f"Release {report.release} of data set '{context.name}' was not published, as its artifacts contradict each other; "
        f"the one before stays current:\n{faults}\n",
        f"Have them made again: rm -r {remove}; crmrag build {shlex.quote(context.name)}. If it comes again, report it.",
    )


UNCHANGED = "Nothing was changed."


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Which release was current (None: none that could be read), which is now; ``building``: a build is running."""

    before: str | None
    now: str
    building: bool


def roll_back(
    data: Path, dataset: str, release: str | None = None, advance: Advance = lambda done, total: None
) -> RolledBack:
    """Make ``release``, or the previous one, the current release of a data set.

    Every byte of it is checked before. Safe beside a running build, which publishes its own release when it ends. Raises
    ReleaseNotFound when there is none, ReleaseError when it is damaged or current already; then nothing was changed.
    """
    folder = dataset_folder(data, dataset)
    before, chosen = _current(folder), release or pointer(folder, PREVIOUS)
    if chosen is None or not is_release_id(chosen) or not (folder / chosen / MANIFEST).is_file():
        what = f"no release {chosen}" if chosen else "no previous release"
        raise ReleaseNotFound(f"Data set '{dataset}' has {what}.", f"{UNCHANGED} {listed(data, dataset)}")
    if chosen == before:
        raise ReleaseError(f"Release {chosen} of data set '{dataset}' is current already.", UNCHANGED)
    try:
        check_id(folder / chosen, chosen)
        check_files(folder / chosen, read_manifest(folder / chosen), advance)
    except ReleaseError as error:
        raise ReleaseError(
            f"{error.what.rstrip()}\nSo it was not made current; {before or 'nothing'} is.",
            f"See what is wrong: crmrag verify {dataset} --release {chosen}",
        ) from error
    with switching(folder):
        if _current(folder) != before or not (folder / chosen / MANIFEST).is_file():
            raise ReleaseError(
                f"A build of data set '{dataset}' published a release just now.",
                f"{UNCHANGED} Look what there is (crmrag releases list {dataset}) and try again.",
            )
        switch(folder, chosen)
    return RolledBack(before, chosen, is_locked(working_folder(data, dataset)))


def _current(folder: Path) -> str | None:
    try:
        return pointer(folder)
    except ReleaseError:  # a damaged pointer is a reason to roll back
        return None
