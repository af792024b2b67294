"""Releases of an object store, mirrored into a data folder of this machine's cache, so that they are opened like any other.

The store holds, below its address:

    releases/NAME/current           which releases are kept, the current one first; replaced only conditionally
    releases/NAME/ID/manifest.json  and what goes with it, written when every file is there
    releases/NAME/files/SHA256      every file, by its content

A file is fetched once, compared with its checksum, and kept by it for all mirrors and processes of the machine. A release is
given its name when it is whole, and `current` of the mirror is switched then: readers see the old one or the new one, and the
old one for as long as the store does not answer.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from crmrag_query.artifacts.manifest import (
    COMPANIONS,
    CURRENT,
    MANIFEST,
    PREVIOUS,
    PROVENANCE,
    RELEASES,
    SIGNATURE,
    FileEntry,
    Manifest,
    dataset_folder,
    datasets_with_releases,
    fsync,
    is_release_id,
    parse_manifest,
    pointer,
    release_id,
    release_ids,
    switch,
    user_cache,
    write_text,
)
from crmrag_query.artifacts.objects import Content, Objects, open_objects
from crmrag_query.errors import (
    ConfigError,
    CrmRagError,
    ReleaseError,
    ReleaseNotFound,
    StoreUnreachable,
)
from crmrag_query.timing import warn_seldom

LOG = logging.getLogger(__name__)
SCHEMA = 1
BESIDE = (PROVENANCE, *COMPANIONS, SIGNATURE)
"""What goes with a manifest and is no part of a release's id."""
STORES, FILES, ADDRESS = "stores", "files", ".store"
LOCK, LOOKED, WORKING = ".lock", ".looked", ".working"
AT_ONCE = 4  # files that are fetched
TIMES = 2  # that a file is fetched when it comes damaged
FOLLOW_SECONDS = 4.0  # between looks for a new release
UNUSED_SECONDS = 3600.0
"""For which a fetched file is kept that no release here has yet: one is being made of it."""
IDLE_SECONDS = 86_400.0  # after which a data set of another mirror may make room
LIMIT = "CRMRAG_CACHE_GIB"
PUSH_AGAIN = "Push the release again, whole: crmrag releases push NAME --to ADDRESS --whole"


def dataset_path(dataset: str) -> str:
    return f"{RELEASES}/{dataset}"


def current_path(dataset: str) -> str:
    return f"{RELEASES}/{dataset}/{CURRENT}"


def release_path(dataset: str, release: str, name: str = MANIFEST) -> str:
    return f"{RELEASES}/{dataset}/{release}/{name}"


def files_path(dataset: str) -> str:
    return f"{RELEASES}/{dataset}/{FILES}"


@dataclass(frozen=True)
class StoredReleases:
    """The releases of a data set in a store, the current one first, then the one before; ``by``: who said so last, a mark by
    which whoever did not hear of its success knows its own."""

    releases: tuple[str, ...]
    by: str

    def text(self) -> str:
        return json.dumps({"schema": SCHEMA, "releases": list(self.releases), "by": self.by}) + "\n"


def read_stored(objects: Objects, dataset: str) -> tuple[StoredReleases, Content] | None:
    """What a store has of a data set, and the object that says so; None for nothing. ReleaseError where it is damaged."""
    content = objects.read(current_path(dataset))
    if content is None:
        return None
    try:
        raw = json.loads(content.data)
        releases, schema = tuple(raw["releases"]), raw["schema"]
        if not releases or not all(isinstance(one, str) and is_release_id(one) for one in releases):
            raise ValueError("it names no releases")
        if schema != SCHEMA:
            raise ValueError(f"its schema is {schema}, not {SCHEMA}")
        return StoredReleases(releases, str(raw["by"])), content
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ReleaseError(
            f"{objects.address}/{current_path(dataset)} cannot be read ({error}).",
            "Look who wrote it; without it, the next push makes it anew.",
        ) from error


def remote_manifest(objects: Objects, dataset: str, release: str) -> tuple[Manifest, bytes] | None:
    """The manifest of a release in a store, and its bytes; None where there is none. ReleaseError where it was altered."""
    path = release_path(dataset, release)
    content = objects.read(path)
    if content is None:
        return None
    where = f"{objects.address}/{path}"
    try:
        raw = json.loads(content.data)
    except (ValueError, RecursionError) as error:
        raise ReleaseError(f"{where} cannot be read ({error}).", PUSH_AGAIN) from error
    found = release_id(content.data)
    manifest = parse_manifest(raw, where)
    if found != release or manifest.dataset != dataset:
        raise ReleaseError(f"{where} was altered: it is release {found} of {manifest.dataset!r}.", PUSH_AGAIN)
    return manifest, content.data


@dataclass(frozen=True)
class Mirror:
    """An object store, and the data folder that mirrors it."""

    data: Path
    objects: Objects

    @property
    def pool(self) -> Path:
        """The files of all mirrors of this cache, by their checksums."""
        return self.data.parent / FILES

    def names(self) -> tuple[str, ...]:
        """The data sets of the store. Raises as ``Objects`` does."""
        return self.objects.folders(RELEASES)

    def bring(self, dataset: str, wait: bool = True) -> None:
        """See that the current release of a data set is here and current; what the store has no more goes here, too.

        Without ``wait``, nothing where another process looked just now, or is at it. Raises ReleaseError, ReleaseNotFound,
        StoreUnreachable; then what was current here still is.
        """
        from filelock import FileLock, Timeout

        folder = dataset_folder(self.data, dataset)
        if not wait and _age(folder / LOOKED) < FOLLOW_SECONDS / 2:
            return
        kept = read_stored(self.objects, dataset)
        if kept is None:
            if folder.is_dir():
                shutil.rmtree(folder, ignore_errors=True)
            raise ReleaseNotFound(
                f"{self.objects.address} has no release of data set '{dataset}'.",
                f"Push one there: crmrag releases push {dataset} --to {self.objects.address}",
            )
        folder.mkdir(parents=True, exist_ok=True)
        current = kept[0].releases[0]
        if _here(folder) != current:
            with suppress(Timeout), FileLock(folder / LOCK, timeout=-1 if wait else 0, thread_local=False):
                if _here(folder) != current:
                    self._fetch(folder, dataset, current)
        (folder / LOOKED).touch()

    def _fetch(self, folder: Path, dataset: str, release: str) -> None:
        """Fetch a release and make it current here; for the holder of the folder's lock."""
        final, working = folder / release, folder / WORKING
        shutil.rmtree(working, ignore_errors=True)
        if not (final / MANIFEST).is_file():
            found = remote_manifest(self.objects, dataset, release)
            if found is None:
                raise ReleaseError(
                    f"{self.objects.address} names release {release} of '{dataset}' as current and has not got it.",
                    PUSH_AGAIN,
                )
            manifest, text = found
            self._fetch_files(dataset, manifest)
            for entry in manifest.files:
                self._link(dataset, entry, working / entry.path)
            for name in BESIDE:
                if (beside := self.objects.read(release_path(dataset, release, name))) is not None:
                    (working / name).write_bytes(beside.data)
            (working / MANIFEST).parent.mkdir(exist_ok=True)
            (working / MANIFEST).write_bytes(text)
            shutil.rmtree(final, ignore_errors=True)
            working.rename(final)
            fsync(folder)
        switch(folder, release)
        pointed = {pointer(folder, CURRENT), pointer(folder, PREVIOUS)}
        for other in set(release_ids(self.data, dataset)) - pointed:
            shutil.rmtree(folder / other, ignore_errors=True)
        tidy(self.pool)

    def _fetch_files(self, dataset: str, manifest: Manifest) -> None:
        missing = {one.sha256: one for one in manifest.files if not _is_whole(self.pool / one.sha256, one)}
        if not missing:
            return
        self.pool.mkdir(parents=True, exist_ok=True)
        self._make_room(sum(one.bytes for one in missing.values()), dataset)
        with ThreadPoolExecutor(AT_ONCE) as threads:
            futures = [threads.submit(self._fetch_file, dataset, one) for one in missing.values()]
            try:
                for future in futures:
                    future.result()
            finally:  # after the first failure the others need not begin
                for future in futures:
                    future.cancel()

    def _fetch_file(self, dataset: str, entry: FileEntry) -> Path:
        """The file with an entry's content in the pool; ReleaseError where the store has another."""
        final = self.pool / entry.sha256
        if _is_whole(final, entry):
            return final
        path = f"{files_path(dataset)}/{entry.sha256}"
        partly = final.with_name(f".{final.name}.{os.getpid()}.{threading.get_ident()}")
        try:
            for _ in range(TIMES):
                with partly.open("wb") as file:
                    self.objects.fetch(path, entry.bytes, file)
                with partly.open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
                if found == entry.sha256 and partly.stat().st_size == entry.bytes:
                    partly.chmod(0o444)
                    fsync(partly)
                    partly.replace(final)
                    return final
        finally:
            partly.unlink(missing_ok=True)
        raise ReleaseError(
            f"{self.objects.address}/{path} was altered: it is not the content of {entry.path} "
            f"in data set '{dataset}'.", PUSH_AGAIN,
        )  # fmt: skip

    def _link(self, dataset: str, entry: FileEntry, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        source = self._fetch_file(dataset, entry)
        try:
            os.link(source, target)
        except OSError:  # a file system without links, or the file was tidied away just now
            shutil.copyfile(self._fetch_file(dataset, entry), target)

    def _make_room(self, needed: int, dataset: str) -> None:
        """Within the limit of the cache and the disk; ReleaseError where there is no room for so many bytes."""
        limit = _limit()
        if limit is not None and _bytes_of(self.pool) + needed > limit:
            others = sorted(self.data.parent.glob(f"*/{RELEASES}/*/{LOOKED}"), key=_age, reverse=True)
            idle = [one.parent for one in others if _age(one) >= IDLE_SECONDS]
            tidy(self.pool, 0.0)
            while (held := _bytes_of(self.pool)) + needed > limit and idle:
                shutil.rmtree(idle.pop(0), ignore_errors=True)
                tidy(self.pool, 0.0)
            if held + needed > limit:
                raise ReleaseError(
                    f"The release of '{dataset}' needs {needed / 2**30:.1f} GiB more in {self.pool}, of whose limit "
                    f"{max(limit - held, 0) / 2**30:.1f} GiB are left.", f"Raise {LIMIT}, or remove {self.pool.parent}.",
                )  # fmt: skip
        free = shutil.disk_usage(self.pool).free
        if free < needed:
            raise ReleaseError(
                f"The release of '{dataset}' needs {needed / 2**30:.1f} GiB more in {self.pool}, where "
                f"{free / 2**30:.1f} are free.", "Free some space, or name a larger disk by XDG_CACHE_HOME.",
            )  # fmt: skip


def mirror_folder(address: str) -> Path:
    """The data folder that mirrors the store at an address; nothing is fetched into it yet. ReleaseError for what is none."""
    address = open_objects(address).address
    try:
        folder = user_cache() / STORES / hashlib.sha256(address.encode()).hexdigest()[:16]
    except RuntimeError as error:
        raise ConfigError.single(
            "XDG_CACHE_HOME", "", "there is no folder to keep what is fetched", remedy="Name one."
        ) from error
    (folder / RELEASES).mkdir(parents=True, exist_ok=True)
    if not (folder / ADDRESS).exists():
        write_text(folder / ADDRESS, f"{address}\n")
    return folder


def mirror_of(data: Path) -> Mirror | None:
    """The mirror that a data folder is; None of any other."""
    try:
        address = (data / ADDRESS).read_text(encoding="utf-8").strip()
    except OSError:
        return None
    return Mirror(data, open_objects(address))


def shown_place(data: Path) -> str:
    """What a data folder is to people: the address that it mirrors, or its path."""
    mirror = mirror_of(data)
    return str(data) if mirror is None else mirror.objects.address


def bring(reference: Path | str, data: Path) -> None:
    """Where ``data`` mirrors an object store: fetch the current release of the data set that is meant. What is here already
    stays, with a warning, where the store does not answer or its release cannot be had. Raises as ``Mirror.bring``."""
    mirror = None if isinstance(reference, Path) else mirror_of(data)
    if mirror is not None:
        name = str(reference).partition("@")[0]
        with _kept_on(data, (name,)):
            mirror.bring(name)


def bring_all(mirror: Mirror, wait: bool = True) -> None:
    """The same for all data sets of a mirror. StoreUnreachable where the store does not answer and nothing is here."""
    with _kept_on(mirror.data, ()):
        names = mirror.names()
        for gone in {*datasets_with_releases(mirror.data)} - {*names}:
            with suppress(ReleaseNotFound):  # a listing may lag: its own object tells
                mirror.bring(gone)
        for name in names:
            with _kept_on(mirror.data, (name,)), suppress(ReleaseNotFound):
                mirror.bring(name, wait)


@contextmanager
def _kept_on(data: Path, names: Collection[str]) -> Iterator[None]:
    """Within the block an error is only told where what it is about is here."""
    try:
        yield
    except ReleaseNotFound:
        raise
    except (ReleaseError, StoreUnreachable) as error:
        here = datasets_with_releases(data)
        if not {*(names or here)}.intersection(here):
            raise
        warn_seldom(LOG, f"{error} What was fetched before is answered from.")


def follow(mirror: Mirror, owner: object, seconds: Callable[[], float] = lambda: FOLLOW_SECONDS) -> None:
    """Look for new releases in a thread for as long as ``owner`` lives."""
    still = weakref.ref(owner)

    def run() -> None:
        while still() is not None:
            time.sleep(seconds())
            try:
                bring_all(mirror, wait=False)
            except (CrmRagError, OSError) as error:  # told, and tried again
                warn_seldom(LOG, str(error))

    threading.Thread(target=run, name="mirror", daemon=True).start()


def tidy(pool: Path, unused: float = UNUSED_SECONDS) -> None:
    """Remove fetched files that no release here has, and that were fetched so many seconds ago."""
    for file in pool.glob("*"):
        with suppress(OSError):
            found = file.stat()
            if found.st_nlink == 1 and time.time() - found.st_mtime >= unused:
                file.unlink()


def _here(folder: Path) -> str | None:
    """The release that is current in a mirror's folder and there."""
    with suppress(ReleaseError):
        current = pointer(folder)
        if current is not None and (folder / current / MANIFEST).is_file():
            return current
    return None


def _is_whole(file: Path, entry: FileEntry) -> bool:
    try:
        return file.stat().st_size == entry.bytes
    except OSError:
        return False


def _age(file: Path) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except OSError:
        return float("inf")


def _bytes_of(pool: Path) -> int:
    found = 0
    for file in pool.glob("*"):
        with suppress(OSError):
            found += file.stat().st_size
    return found


def _limit() -> int | None:
    """How many bytes the cache may hold; ConfigError for what is no number."""
    given = os.environ.get(LIMIT, "").strip()
    try:
        return int(float(given) * 2**30) if given else None
    except ValueError:
        raise ConfigError.single(LIMIT, "", "no number of GiB", value=given[:20]) from None
