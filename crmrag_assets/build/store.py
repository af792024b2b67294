"""The working folder of a data set's build: one folder an artifact (and chunk), published whole or not at all; and what it
says of the last finished build, and of the last look that found nothing new.

Fail-points, for tests, stop a build at a named place: ``CRMRAG_FAILPOINT=<artifact>[:<chunk>][:before|during|after]
[=raise|fault|kill]``, several separated by commas; ``during`` (the default) is when the files are written and nothing is
published yet. ``fault`` is an error that nobody foresaw. Without the variable a fail-point costs one look-up in the
environment.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from pydantic import TypeAdapter

from crmrag_query.artifacts.manifest import FileEntry, canonical_json, entries, fsync, write_text
from crmrag_query.errors import BuildError, CrmRagError

VARIABLE = "CRMRAG_FAILPOINT"
BEFORE, DURING, AFTER = "before", "during", "after"
_STAGES = (BEFORE, DURING, AFTER)


class FailPoint(BuildError):
    """A fail-point was reached; only tests set any."""


def reach(artifact: str, chunk: str | None, stage: str) -> None:
    """Stop here when the environment asks for it."""
    for point in filter(None, os.environ.get(VARIABLE, "").split(",")):
        place, _, action = point.strip().partition("=")
        *named, last = place.split(":")
        wanted = last if last in _STAGES else DURING
        parts = named if last in _STAGES else [*named, last]
        if wanted != stage or parts[0] != artifact or (len(parts) > 1 and parts[1] != chunk):
            continue
        if action == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if action == "fault":
            raise RuntimeError(f"Fail-point {place} was reached.")
        raise FailPoint(f"Fail-point {place} was reached.", f"Unset {VARIABLE} to build.")


RECORD = "record.json"
WORKING = ".working"
MANY = 100


def working_folder(data: Path, dataset: str) -> Path:
    """Where a data set's artifacts are built, below the data folder."""
    return data / "work" / dataset


def data_version(artifact: str, writer: int, inputs: dict[str, str]) -> str:
    """Hash of what an artifact is made from: its name, its writer's version, and the versions or hashes of its inputs."""
    identity = canonical_json({"artifact": artifact, "writer": writer, "inputs": inputs})
    return hashlib.sha256(identity.encode()).hexdigest()


@dataclass(frozen=True)
class Record:
    """What is known of a finished artifact; ``stats`` are counts and seconds for people, never part of a version."""

    artifact: str
    version: str
    files: tuple[FileEntry, ...]
    stats: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def content(self) -> str:
        """Hash of the content: equal files give equal hashes, whatever made them."""
        listed = "".join(f"{entry.path}\0{entry.sha256}\n" for entry in self.files)
        return hashlib.sha256(listed.encode()).hexdigest()


@lru_cache(maxsize=1 << 12)
def _record(path: Path, seen: tuple[int, ...]) -> Record | None:
    """What stands in a record, read once for what was ``seen`` of the file: a build looks at those of 256 chunks often."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        files = tuple(FileEntry(**entry) for entry in raw["files"])
        return Record(raw["artifact"], raw["version"], files, raw["stats"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True)
class Store:
    """Finished artifacts of one data set below ``root``."""

    root: Path

    def folder(self, artifact: str, chunk: str | None = None) -> Path:
        return self.root / artifact / chunk if chunk is not None else self.root / artifact

    def record(self, artifact: str, chunk: str | None = None) -> Record | None:
        """The record of a finished artifact, or None when there is none or it cannot be read."""
        path = self.folder(artifact, chunk) / RECORD
        try:
            seen = path.stat()
        except OSError:
            return None
        return _record(path, (seen.st_ino, seen.st_mtime_ns, seen.st_size))

    def chunks(self, artifact: str) -> list[str]:
        """Keys of the finished chunks of an artifact, ascending."""
        return sorted(path.parent.name for path in self.folder(artifact).glob(f"*/{RECORD}"))

    def is_current(self, artifact: str, version: str, chunk: str | None = None) -> bool:
        """True when the artifact was finished from these inputs and its files are still what was written."""
        record = self.record(artifact, chunk)
        if record is None or record.version != version:
            return False
        folder = self.folder(artifact, chunk)
        found = tuple(entry for entry in entries(folder) if entry.path != RECORD)
        return found == record.files

    def clean(self) -> None:
        """Remove what killed builds left half-written; only for the holder of the data set's lock."""
        shutil.rmtree(self.root / WORKING, ignore_errors=True)

    def keep_only(self, artifact: str, chunks: Iterable[str]) -> None:
        """Remove chunks of an artifact that the data set no longer has."""
        folder, keep = self.folder(artifact), set(chunks)
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.is_dir() and path.name not in keep:
                shutil.rmtree(path)

    @contextmanager
    def writing(
        self, artifact: str, version: str, stats: dict[str, Any], chunk: str | None = None
    ) -> Iterator[Path]:
        """Give an empty folder to fill; on success it replaces the artifact at once, else it is removed.

        ``stats`` may be filled inside the block; seconds, and those of this process' processor time, are added here.
        """
        final = self.folder(artifact, chunk)
        # A name of its own: a worker elsewhere that was given up may still be writing the same, and finds its folder gone
        # when the next build cleans up.
        name = artifact if chunk is None else f"{artifact}-{chunk}"
        working = self.root / WORKING / f"{name}.{uuid4().hex[:12]}"
        working.mkdir(parents=True)
        start, worked = time.monotonic(), time.process_time()
        try:
            yield working
            reach(artifact, chunk, DURING)
            files = entries(working)
            stats.setdefault("seconds", round(time.monotonic() - start, 3))
            stats.setdefault("processor_seconds", round(time.process_time() - worked, 3))
            stats.setdefault("bytes", sum(entry.bytes for entry in files))
            if len(files) > MANY:  # brought to disk with everything else, as a file costs milliseconds
                os.sync()
            else:
                for entry in files:
                    fsync(working / entry.path)
            record = {"artifact": artifact, "version": version, "stats": stats}
            listed = [entry.as_dict() for entry in files]
            # Keys as they come: tables among the counts show their columns in this order.
            text = json.dumps(record | {"files": listed}, ensure_ascii=False, indent=1)
            write_text(working / RECORD, text + "\n")
            final.parent.mkdir(parents=True, exist_ok=True)
            old = working.with_name(working.name + ".old")
            shutil.rmtree(old, ignore_errors=True)
            if final.exists():
                final.rename(old)
            working.rename(final)
            shutil.rmtree(old, ignore_errors=True)
            fsync(final.parent)
        finally:
            shutil.rmtree(working, ignore_errors=True)


PUBLISHED, CONFIRMED = "published.json", "confirmed"


@dataclass(frozen=True)
class Published:
    """A build that was finished: the release that it published, when it ended (ISO, UTC), and what it was made from.

    ``source``: the source's fingerprint as it was read, "" where the source changed meanwhile. ``harvest``: the version of
    what was found in it, and ``fetched``, when the oldest part of that was fetched. ``sources``: of several sources the
    fingerprint of each, by its identity. ``share``: per cent of its documents that have vectors.
    """

    release: str
    at: str
    source: str
    harvest: str
    fetched: str
    sources: Mapping[str, str] = field(default_factory=dict)
    share: int = 100

    def write(self, root: Path) -> None:
        """Keep it in a data set's working folder."""
        write_text(root / PUBLISHED, canonical_json(asdict(self)))

    @classmethod
    def read(cls, root: Path) -> Published | None:
        """What was kept in a working folder; None where there is nothing, or nothing that can be read."""
        try:
            return TypeAdapter(cls).validate_json((root / PUBLISHED).read_bytes())
        except (OSError, ValueError):
            return None


def confirm(root: Path) -> None:
    """Keep that the source was looked at just now and is still what was built."""
    (root / CONFIRMED).touch()


def confirmed_at(root: Path) -> datetime | None:
    """When a look last found the source to be what was built."""
    try:
        return datetime.fromtimestamp((root / CONFIRMED).stat().st_mtime, UTC)
    except OSError:
        return None


# Not every library keeps the number of the system's error: SQLite, polars and NumPy tell it in words.
FULL = re.compile(r"no space left|disk is full|disk quota exceeded|requested and \d+ written", re.IGNORECASE)
DENIED = re.compile(
    r"read-only file system|readonly database|unable to open database|permission denied", re.IGNORECASE
)
BROKEN = re.compile(r"input/output error|disk i/o error", re.IGNORECASE)
NUMBERS = {
    errno.ENOSPC: FULL, errno.EDQUOT: FULL, errno.EROFS: DENIED, errno.EACCES: DENIED, errno.EPERM: DENIED,
    errno.EIO: BROKEN,
}  # fmt: skip
GOES_ON = "then run the build again."
IN_WORDS = ("sqlite3", "sqlalchemy", "polars", "pyarrow", "onnxruntime")  # modules of such errors
ROOM = 4 << 20  # bytes; with less, SQLite already fails to grow the files that it keeps beside a database


def causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what caused it."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


@contextmanager
def explained_by(trouble_of: Callable[[BaseException], BuildError | None]) -> Iterator[None]:
    """Within the block, an error that is none of ours is what ``trouble_of`` makes of it, unless that is None."""
    try:
        yield
    except CrmRagError:
        raise
    except Exception as error:
        if (trouble := trouble_of(error)) is None:
            raise
        raise trouble from error


def disk_explained(folder: Path) -> AbstractContextManager[None]:
    """Within the block, what a disk refuses below ``folder`` is a BuildError that says so and what to do."""
    return explained_by(lambda error: disk_trouble(error, folder))


def disk_trouble(error: BaseException, folder: Path) -> BuildError | None:
    """What the error, or what caused it, says of the disk that holds ``folder``; None for any other error."""
    for one in causes(error):
        if (kind := _kind(one)) is None:
            continue
        named = one.filename if isinstance(one, OSError) else None
        place = Path(named) if isinstance(named, str) and named else folder
        if kind is BROKEN and not isinstance(one, OSError) and not has_room(folder):
            kind = FULL  # SQLite says `disk I/O error` of both
        if kind is FULL:
            return full_disk(place)
        if kind is DENIED:
            return BuildError(
                f"{place} may not be read or written.", f"Give the user who builds the right to, {GOES_ON}"
            )
        what = f"The disk that holds {place} failed to read or write."
        return BuildError(what, f"Have the disk checked, {GOES_ON}")
    return None


def _kind(error: BaseException) -> re.Pattern[str] | None:
    if isinstance(error, OSError) and error.errno in NUMBERS:
        return NUMBERS[error.errno]
    in_words = isinstance(error, OSError) or type(error) is RuntimeError  # as PyTorch's C++ raises
    if not in_words and type(error).__module__.partition(".")[0] not in IN_WORDS:
        return None
    return next((kind for kind in (FULL, DENIED, BROKEN) if kind.search(str(error))), None)


def has_room(folder: Path) -> bool:
    """Whether the disk that holds ``folder`` has space left that something could be written to."""
    return (free := _free_bytes(folder)) is None or free >= ROOM


def full_disk(folder: Path) -> BuildError:
    """What is told of a full disk that holds ``folder``."""
    free = _free_bytes(folder)
    left = "" if free is None else f" ({free / 2**20:,.0f} MiB are free)"
    return BuildError(f"The disk that holds {folder} is full{left}.", f"Free some space, {GOES_ON}")


def _free_bytes(place: Path) -> int | None:
    there = next((path for path in (place, *place.parents) if path.exists()), None)
    return None if there is None else shutil.disk_usage(there).free


# PyTorch and ONNX Runtime raise types of their own, which say it in words.
_NO_MEMORY = re.compile(
    r"(?:can't|cannot) allocate memory|unable to allocate|can't start new thread"
    r"|bad_alloc|failed to allocate memory|out of memory|not enough memory",
    re.IGNORECASE,
)


def is_memory(error: BaseException) -> bool:
    """Whether an error, or what caused it, says that memory or threads ran out."""
    return any(isinstance(one, MemoryError) or _NO_MEMORY.search(str(one)) for one in causes(error))
