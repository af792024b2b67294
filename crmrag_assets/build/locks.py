"""One build a data set at a time: a lock that ends with the process that holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from crmrag_query.errors import BuildError


@contextmanager
def dataset_lock(root: Path, dataset: str) -> Iterator[None]:
    """Hold the lock of a data set's working folder ``root``.

    The operating system frees it when the holder dies, however it dies; the same process may take it again.
    Raises BuildError, naming the holder, when another process holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    holder = root / ".holder"
    lock = FileLock(root / ".lock", timeout=0, is_singleton=True)
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
