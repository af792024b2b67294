"""What a person is told when a disk is full, may not be written to, or fails, whichever library met it first."""

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


@contextmanager
def disk_explained(folder: Path) -> Iterator[None]:
    """Within the block, what a disk refuses below ``folder`` is a BuildError that says so and what to do."""
    try:
        yield
    except CrmRagError:
        raise
    except Exception as error:
        if (told := disk_trouble(error, folder)) is None:
            raise
        raise told from error


def disk_trouble(error: BaseException, folder: Path) -> BuildError | None:
    """What the error, or what caused it, says of the disk that holds ``folder``; None for any other error."""
    seen: BaseException | None = error
    while seen is not None:
        if (kind := _kind(seen)) is not None:
            place = Path(seen.filename) if isinstance(seen, OSError) and _is_path(seen.filename) else folder
            return _told(kind, place)
        seen = seen.__cause__ or seen.__context__
    return None


def _is_path(name: object) -> bool:
    return isinstance(name, str) and bool(name)


def _kind(error: BaseException) -> re.Pattern[str] | None:
    if isinstance(error, OSError) and error.errno in NUMBERS:
        return NUMBERS[error.errno]
    module = type(error).__module__.partition(".")[0]
    if not isinstance(error, OSError) and module not in ("sqlite3", "sqlalchemy", "polars", "pyarrow"):
        return None
    return next((kind for kind in (FULL, DENIED, BROKEN) if kind.search(str(error))), None)


def _told(kind: re.Pattern[str], place: Path) -> BuildError:
    if kind is FULL:
        return BuildError(
            f"The disk that holds {place} is full{_free(place)}.", f"Free some space, {GOES_ON}"
        )
    if kind is DENIED:
        return BuildError(
            f"{place} may not be read or written.", f"Give the user who builds the right to, {GOES_ON}"
        )
    return BuildError(
        f"The disk that holds {place} failed to read or write.", f"Have the disk checked, {GOES_ON}"
    )


def _free(place: Path) -> str:
    """How much is left, where it can be told."""
    there = next((path for path in (place, *place.parents) if path.exists()), None)
    if there is None:
        return ""
    return f" ({shutil.disk_usage(there).free / 2**20:,.0f} MiB are free)"
