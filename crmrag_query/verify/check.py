"""Checks, of the artifacts of a build and of a whole release, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.errors import CrmRagError

Faults = Generator[str, None, int]
"""Yields a sentence for each kind of fault that is found, and returns how many things there were."""
Row = Mapping[str, Any]
Weight = Literal["blocks", "fails", "warns"]
"""What a check that does not hold does: it stops the build before what depends on the artifact; it shows as an error; it
asks a person to look."""
SHOWN = 20  # sentences of a check that are kept; each speaks of all faults of its kind
Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Finding:
    """Whether something is as it should be, and a sentence with what was found; ``remedy``: what to do where it is not.

    ``counts``: the same keys every time, so that the numbers plot; ``tables``: samples by title, rows of equal keys.
    ``looked``: how many things were looked at, and ``faults``: a sentence for each kind of fault in them. ``skipped``: the
    check was not run, as files that it reads are damaged. ``remarks``: what is no fault and worth knowing.
    """

    holds: bool
    says: str = ""
    counts: Mapping[str, int | float | str] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    remedy: str = ""
    looked: int = 0
    faults: tuple[str, ...] = ()
    skipped: bool = False
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if both := self.counts.keys() & self.tables.keys():
            raise ValueError(f"numbers and tables are shown by one name: {', '.join(sorted(both))}")


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """A look at something that was built, which gives what it finds or yields its faults.

    ``of``: the artifact that it guards; of a check of whole releases, what it counts. ``about``: what is looked at and what
    to do, for the catalogue. ``reads``: the top folders or files of a release that it may read; it is run only where these
    are byte for byte what was built, so that it need not expect torn files. ``opens``: where it finds a fault, what reads
    that folder is not run either: a library may not survive such a table. ``where``: an artifact that a data set may do
    without, or an older release has not; there is nothing to look at then.
    """

    name: str
    of: str
    look: Callable[[Subject], Finding | Faults]
    weight: Weight = "blocks"
    about: str = ""
    reads: tuple[str, ...] = ()
    opens: str = ""
    where: str = ""

    @property
    def blocks(self) -> bool:
        return self.weight == "blocks"

    def found(self, subject: Subject) -> Finding:
        """What it finds of ``subject`` now. What stops a check that yields is a fault; others raise what they meet."""
        found = self.look(subject)
        return found if isinstance(found, Finding) else collected(found)


@dataclass(frozen=True, slots=True)
class Report:
    """What all checks of a release found, in order."""

    release: str
    dataset: str
    found: tuple[tuple[Check[Any], Finding], ...]

    @property
    def holds(self) -> bool:
        return all(finding.holds for _, finding in self.found)

    @property
    def faults(self) -> tuple[str, ...]:
        """Every fault as ``check: sentence``."""
        return tuple(f"{check.name}: {fault}" for check, finding in self.found for fault in finding.faults)


def collected(faults: Faults) -> Finding:
    """Run a look that yields its faults. What stops it is a fault too: a file of another version, or without sense."""
    found: list[str] = []
    looked = 0
    try:
        while True:
            fault = next(faults)
            if len(found) < SHOWN:
                found.append(fault)
    except StopIteration as end:
        looked = int(end.value)
    except Exception as error:  # values without sense may stop a library in any way
        known = isinstance(error, CrmRagError)
        found.append(str(error) if known else f"it cannot be looked at ({type(error).__name__}: {error})")
    return Finding(not found, "; ".join(found), looked=looked, faults=tuple(found))


BLOCK = 1 << 20  # values looked at together
FIRST = 3  # faults of a kind that are told with their place
Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]


def blocks(count: int, size: int | None = None) -> Iterator[slice]:
    """Slices of at most ``size`` values (BLOCK) that make up all of them."""
    step = size or BLOCK
    for start in range(0, count, step):
        yield slice(start, min(count, start + step))


def wrong(
    what: str,
    count: int,
    marks: Callable[[slice], Mask],
    name: Callable[[int], object] = int,
    size: int | None = None,
) -> Faults:
    """Of ``count`` values those that ``marks`` marks in a block of ``size``; ``name`` says how one is told."""
    found, first = 0, list[object]()
    for block in blocks(count, size):
        places = np.flatnonzero(marks(block))
        found += len(places)
        first += [name(block.start + int(place)) for place in places[: FIRST - len(first)]]
    if found:
        yield f"{what}: {found:,} of {count:,} (first: {', '.join(map(str, first))})"
    return found


def shaped(what: str, array: Array, kind: str, length: int) -> Faults:
    """An array that is not one row of ``length`` numbers of this type."""
    if array.ndim == 1 and array.dtype == kind and len(array) == length:
        return 0
    yield f"{what}: {array.dtype} {list(array.shape)} where {kind} [{length}] belongs"
    return 1


def within(what: str, array: Array, low: int, high: int) -> Faults:
    """Numbers that are not ``low`` <= number < ``high``."""
    return wrong(
        f"{what}: not within {low:,} … {high - 1:,}",
        len(array),
        lambda block: (array[block] < low) | (array[block] >= high),
        lambda place: f"{array[place]} at {place:,}",
    )


def pointers(what: str, ptr: Array, rows: int, total: int) -> Faults:
    """Ends of ``rows`` ranges that do not divide ``total`` values in order."""
    if bad := (yield from shaped(what, ptr, "int64", max(rows, 0) + 1)):
        return bad
    if ptr[0] != 0 or ptr[-1] != total:
        yield f"{what}: from {ptr[0]:,} to {ptr[-1]:,} where 0 to {total:,} belongs"
        return 1
    return (
        yield from wrong(f"{what}: a range ends before it begins", rows, lambda b: ptr[1:][b] < ptr[:-1][b])
    )


def empty(what: str, ptr: Array) -> Faults:
    """Ranges of ``ptr`` that hold no value."""
    return wrong(what, len(ptr) - 1, lambda block: ptr[1:][block] == ptr[:-1][block])


def ascending(what: str, array: Array, ptr: Array | None = None, strict: bool = True) -> Faults:
    """Values that are not above the one before (``strict``), or are below it; within each range of ``ptr`` if given."""

    def marks(block: slice) -> Mask:
        low = max(block.start, 1)
        before, here = array[low - 1 : block.stop - 1], array[low : block.stop]
        found: Mask = np.zeros(block.stop - block.start, bool)
        found[low - block.start :] = here <= before if strict else here < before
        if ptr is not None:
            first, last = np.searchsorted(ptr, (block.start, block.stop))
            found[ptr[first:last] - block.start] = False
        return found

    return wrong(f"{what}: out of order", len(array), marks)


def owned(what: str, ptr: Array, owners: Array) -> Faults:
    """Rows that do not name the owner in whose range of ``ptr`` they stand; ``ptr`` is right, see ``pointers``."""

    def marks(block: slice) -> Mask:
        rows = np.arange(block.start, block.stop)
        found: Mask = owners[block] != np.searchsorted(ptr, rows, "right") - 1
        return found

    return wrong(f"{what}: rows of another owner", len(owners), marks, lambda place: f"row {place:,}")


def equal(what: str, found: Array, wanted: Array) -> Faults:
    """Values that differ; both of one length."""
    if len(found) != len(wanted):
        yield f"{what}: {len(found):,} values where {len(wanted):,} belong"
        return 1
    return (yield from wrong(what, len(found), lambda block: found[block] != wanted[block]))


def counted(what: str, written: object, found: int) -> Faults:
    """A count that is written down and is not what there is."""
    if written == found and type(written) is int:
        return 0
    yield f"{what}: {written} is written, there are {found:,}"
    return 1


def sorted_texts(what: str, texts: pa.Array) -> Faults:
    """Texts, each of which is to be after the one before in the order of their bytes."""

    def marks(block: slice) -> Mask:
        low = max(block.start, 1)
        size = block.stop - low
        found = pc.less_equal(texts.slice(low, size), texts.slice(low - 1, size))
        return np.concatenate([np.zeros(low - block.start, bool), found.to_numpy(zero_copy_only=False)])

    return wrong(f"{what}: out of order", len(texts), marks)


def numbers(column: pa.Array | pa.ChunkedArray) -> Array:
    """A column of numbers; ValueError where one is missing."""
    if column.null_count:
        raise ValueError(f"a column of numbers has {column.null_count:,} empty places")
    found: Array = column.to_numpy()
    return found


def whole(what: str, table: pa.Table | pa.RecordBatch, sparse: bool = False) -> Faults:
    """A table whose texts, lists and words are no such, or, unless ``sparse``, with empty places."""
    try:
        table.validate(full=True)
    except pa.ArrowInvalid as error:
        yield f"{what}: {error}"
        return 1
    gaps = [name for name, column in zip(table.schema.names, table.columns, strict=True) if column.null_count]
    if not gaps or sparse:
        return 0
    yield f"{what}: empty places in {', '.join(gaps)}"
    return len(gaps)
