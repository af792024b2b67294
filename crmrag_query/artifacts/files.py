"""Files of releases: checksums, written whole or not at all, read from the disk before they are needed."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class FileEntry:
    """One pinned file: ``path`` relative with forward slashes, size in bytes, SHA-256 in hexadecimal."""

    path: str
    bytes: int
    sha256: str

    def as_dict(self) -> dict[str, Any]:
        return {"path": self.path, "bytes": self.bytes, "sha256": self.sha256}


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


Digests = npt.NDArray[np.uint8]
BUCKETS = 256  # that chunks divide among them: the values of the first byte
TOGETHER = 1 << 16  # texts taken from a column at once, which keeps few of them as objects


def digests_of(texts: pa.Array | pa.ChunkedArray) -> Digests:
    """SHA-256 of each text of a column in UTF-8, uint8 [n, 32]."""
    sha256 = hashlib.sha256
    found = bytearray()
    for start in range(0, len(texts), TOGETHER):
        some = texts.slice(start, TOGETHER).cast(pa.large_binary()).to_pylist()
        found += b"".join([sha256(text).digest() for text in some])
    return np.frombuffer(bytes(found), np.uint8).reshape(-1, 32)


def bucket_of(iri: str) -> int:
    """First byte of SHA-256 of the IRI in UTF-8: 0..255."""
    return hashlib.sha256(iri.encode()).digest()[0]


def chunk_of(iri: str, chunks: int) -> str:
    """Key of the chunk of ``chunks`` (a power of two, at most 256) that an entity belongs to: two hexadecimal digits."""
    width = BUCKETS // max(1, chunks)
    return f"{bucket_of(iri) // width * width:02x}"


SEARCHED = ("dense", "sparse", "names", "graph", "triples_index", "lexicon")
"""Folders of a release whose files are memory-mapped and looked at all over."""
LAST = "vectors.npy"
"""Of which a question looks at a few hundred rows: read when all else is."""
SHARE = 0.5  # of the machine's memory that such files may take
READ_AHEAD = 1 << 22  # bytes at a time


def room() -> int:
    """Bytes of such files that fit well into this machine's memory, of all releases together."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * SHARE)


def read_ahead(release: Path, left: int) -> int:
    """Read what questions search in a release, ``left`` bytes of it at most; how many of these are left then: the first
    question of 600,000 documents waited 7 s for them.

    The system keeps it as long as it has no better use for that memory. (To ask it to read by itself, by posix_fadvise, gets
    no more of a file than its usual read-ahead.)
    """
    held = bytearray(READ_AHEAD)
    files = [file for name in SEARCHED for file in sorted((release / name).glob("*")) if file.is_file()]
    for file in sorted(files, key=lambda file: file.name == LAST):
        if file.stat().st_size > left:
            break
        with file.open("rb", buffering=0) as opened:
            while read := opened.readinto(held):
                left -= read
    return left
