"""The working folder of a data set's build: one folder an artifact (and chunk), published whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from crmrag_assets.build import failpoints
from crmrag_query.artifacts.files import FileEntry, canonical_json, entries, fsync, write_text

RECORD = "record.json"
WORKING = ".working"
MANY = 100


def working_folder(data: Path, dataset: str) -> Path:
    """Where a data set's artifacts are built, below the data folder."""
    return data / "work" / dataset


def data_version(artifact: str, writer: int, inputs: dict[str, str]) -> str:
    """Hash of what an artifact is made from: its name, its writer's version, and the versions or hashes of its inputs."""
    return hashlib.sha256(
        canonical_json({"artifact": artifact, "writer": writer, "inputs": inputs}).encode()
    ).hexdigest()


@dataclass(frozen=True)
class Record:
    """What is known of a finished artifact; ``stats`` are counts and seconds for people, never part of a version."""

    artifact: str
    version: str
    files: tuple[FileEntry, ...]
    stats: dict[str, Any] = field(default_factory=dict)

    @property
    def content(self) -> str:
        """Hash of the content: equal files give equal hashes, whatever made them."""
        return hashlib.sha256(
            "".join(f"{entry.path}\0{entry.sha256}\n" for entry in self.files).encode()
        ).hexdigest()


def _flush(folder: Path, files: tuple[FileEntry, ...]) -> None:
    """Bring files to disk: one by one, or with everything else where they are many (a file costs milliseconds)."""
    if len(files) > MANY:
        os.sync()
        return
    for entry in files:
        fsync(folder / entry.path)


@dataclass(frozen=True)
class Store:
    """Finished artifacts of one data set below ``root``."""

    root: Path

    def folder(self, artifact: str, chunk: str | None = None) -> Path:
        return self.root / artifact / chunk if chunk is not None else self.root / artifact

    def record(self, artifact: str, chunk: str | None = None) -> Record | None:
        """The record of a finished artifact, or None when there is none or it cannot be read."""
        try:
            raw = json.loads((self.folder(artifact, chunk) / RECORD).read_text(encoding="utf-8"))
            files = tuple(FileEntry(**entry) for entry in raw["files"])
            return Record(raw["artifact"], raw["version"], files, raw["stats"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

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

        ``stats`` may be filled inside the block; seconds are added here.
        """
        final = self.folder(artifact, chunk)
        working = self.root / WORKING / (artifact if chunk is None else f"{artifact}-{chunk}")
        shutil.rmtree(working, ignore_errors=True)
        working.mkdir(parents=True)
        start = time.monotonic()
        try:
            yield working
            failpoints.reach(artifact, chunk, failpoints.DURING)
            files = entries(working)
            stats.setdefault("seconds", round(time.monotonic() - start, 3))
            stats.setdefault("bytes", sum(entry.bytes for entry in files))
            _flush(working, files)
            record = {"artifact": artifact, "version": version, "stats": stats}
            write_text(
                working / RECORD, canonical_json(record | {"files": [entry.as_dict() for entry in files]})
            )
            self._publish(working, final)
        finally:
            shutil.rmtree(working, ignore_errors=True)

    def _publish(self, working: Path, final: Path) -> None:
        final.parent.mkdir(parents=True, exist_ok=True)
        if final.exists():
            old = working.with_name(working.name + ".old")
            shutil.rmtree(old, ignore_errors=True)
            final.rename(old)
            working.rename(final)
            shutil.rmtree(old)
        else:
            working.rename(final)
        fsync(final.parent)
