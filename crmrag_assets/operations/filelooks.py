"""Looks at files: names, sizes and times at every look, checksums where these have changed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from crmrag_assets.sources.files import content_fingerprint
from crmrag_query.artifacts.files import sha256_file

FILES = "files"  # the signal


@dataclass(frozen=True)
class Listing:
    """Files with their sizes and times (ns): what tells cheaply that they are as they were."""

    files: Mapping[Path, tuple[int, int]]

    @classmethod
    def of(cls, paths: Sequence[Path]) -> Listing:
        """The files as they are now; OSError for one that is not there any more."""
        found = {}
        for path in sorted(paths):
            state = path.stat()
            found[path] = (state.st_size, state.st_mtime_ns)
        return cls(found)

    @property
    def signals(self) -> dict[str, str]:
        lines = (f"{path}\0{size}\0{changed}\n" for path, (size, changed) in self.files.items())
        return {FILES: hashlib.sha256("".join(lines).encode(errors="surrogateescape")).hexdigest()}

    @property
    def bytes(self) -> int:
        return sum(size for size, _ in self.files.values())

    def checksums(
        self, made: Sequence[str], most: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> tuple[str, ...]:
        """Checksums of the files in order, those ``made`` before included; no file is begun after so many seconds.

        A file of more than ``most`` bytes is told by its size and time: to read it takes longer than a look may.
        """
        end, found = clock() + seconds, list(made[: len(self.files)])
        for path, (size, changed) in list(self.files.items())[len(found) :]:
            if clock() >= end:
                break
            found.append(f"{size} bytes of {changed}" if size > most else sha256_file(path))
        return tuple(found)

    def fingerprint(self, checksums: Sequence[str], base_iri: str) -> str:
        """What `RdfFiles.fingerprint` gives for these files, where none was told by its size and time."""
        return content_fingerprint(dict(zip(self.files, checksums, strict=True)), base_iri)
