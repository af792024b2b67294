"""Going over long arrays block by block: what is out of range, out of order, or other than it should be.

Each function yields one sentence where anything is wrong, and returns how many values are: 0 lets the next check rely on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.verify.check import Faults

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
