"""What a person is told when a disk is full, may not be written to, or fails, or memory runs out, whichever library met it
first."""

from __future__ import annotations

import errno
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crmrag_query.errors import BuildError, CrmRagError

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
def disk_explained(folder: Path) -> Iterator[None]:
    """Within the block, what a disk refuses below ``folder`` is a BuildError that says so and what to do."""
    try:
        yield
    except CrmRagError:
        raise
    except Exception as error:
        if (trouble := disk_trouble(error, folder)) is None:
            raise
        raise trouble from error


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
