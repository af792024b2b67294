"""One build a data set at a time: a lock that ends with the process that holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from crmrag_query.errors import BuildError

NAME, HOLDER = ".lock", ".holder"
GRACE = 0.2  # seconds for which a look at the lock may hold it


@contextmanager
def dataset_lock(root: Path, dataset: str) -> Iterator[None]:
    """Hold the lock of a data set's working folder ``root``.

    The operating system frees it when the holder dies, however it dies; the same process may take it again.
    Raises BuildError, naming the holder, when another process holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    holder = root / HOLDER
    lock = FileLock(root / NAME, timeout=GRACE, is_singleton=True)
    try:
        lock.acquire()
    except Timeout:
        pid = holder.read_text(encoding="utf-8").strip() if holder.exists() else "?"
        remedy = "Wait until it ends, or stop it; what it has finished is kept."
        raise BuildError(
            f"Data set '{dataset}' is being built by another process (id {pid}).", remedy
        ) from None
    try:
        holder.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


def is_locked(root: Path) -> bool:
    """Whether somebody holds the lock of a data set's working folder at this moment, this process included."""
    if not (root / NAME).exists():
        return False
    try:
        with FileLock(root / NAME, timeout=0):
            return False
    except Timeout:
        return True
