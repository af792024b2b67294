"""Files that are never seen half-written: temporary name, checksum, flush to disk, rename."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class FileEntry:
    """One pinned file: ``path`` relative with forward slashes, size in bytes, SHA-256 in hexadecimal."""

    path: str
    bytes: int
    sha256: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def sha256_file(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


def sha256_files(paths: Sequence[Path]) -> Iterator[str]:
    """SHA-256 of each file, in order; several at once, as hashing a block leaves the interpreter to other threads."""
    if len(paths) < 2:
        yield from map(sha256_file, paths)
        return
    with ThreadPoolExecutor(min(len(paths), os.cpu_count() or 1)) as threads:
        yield from threads.map(sha256_file, paths)


def entries(folder: Path) -> tuple[FileEntry, ...]:
    """Every file below ``folder`` with its checksum, sorted by path."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return tuple(
        sorted(
            FileEntry(path.relative_to(folder).as_posix(), path.stat().st_size, checksum)
            for path, checksum in zip(found, sha256_files(found), strict=True)
        )
    )


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and one form for each value: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, indent=1) + "\n"


def fsync(path: Path) -> None:
    """Flush a file or a folder's list of names to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on success it is flushed and renamed to ``path``, else removed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        fsync(temporary)
        temporary.replace(path)
        fsync(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
