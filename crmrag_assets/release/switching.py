"""Who may change which release is current: one at a time, for the moment that it takes; a build goes on meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from crmrag_query.errors import BuildError

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
