"""Large files read from the disk before they are needed: the first question of 600,000 documents waited 7 s for them."""

from __future__ import annotations

import os
from pathlib import Path

SEARCHED = ("dense", "sparse", "names", "graph", "triples_index")
"""Folders of a release whose files are memory-mapped and looked at all over."""
LAST = "vectors.npy"
"""Of which a question looks at a few hundred rows: read when all else is."""
SHARE = 0.5  # of the machine's memory that such files may take
BLOCK = 1 << 22  # bytes at a time


def room() -> int:
    """Bytes of such files that fit well into this machine's memory, of all releases together."""
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * SHARE)


def read_ahead(release: Path, left: int) -> int:
    """Read what questions search in a release, ``left`` bytes of it at most; how many of these are left then.

    The system keeps it as long as it has no better use for that memory. (To ask it to read by itself, by posix_fadvise, gets
    no more of a file than its usual read-ahead.)
    """
    held = bytearray(BLOCK)
    files = [file for name in SEARCHED for file in sorted((release / name).glob("*")) if file.is_file()]
    for file in sorted(files, key=lambda file: file.name == LAST):
        if file.stat().st_size > left:
            break
        with file.open("rb", buffering=0) as opened:
            while read := opened.readinto(held):
                left -= read
    return left
