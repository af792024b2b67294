"""Opening tables and arrays memory-mapped; what cannot be opened is a ReleaseError that names the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc as ipc

from crmrag_query.artifacts.versions import rebuild
from crmrag_query.errors import ReleaseError


def open_ipc(path: Path, schema: pa.Schema) -> ipc.RecordBatchFileReader:
    """Memory-map an Arrow IPC file.

    Raises ReleaseError when it is missing, cannot be read or has other columns than ``schema``.
    """
    try:
        reader = ipc.open_file(pa.memory_map(str(path)))
    except (OSError, pa.ArrowInvalid) as error:
        raise ReleaseError(f"{path} cannot be read: {error}.", rebuild(path.parent)) from error
    if reader.schema != schema:
        raise ReleaseError(f"{path} has columns of another version.", rebuild(path.parent))
    return reader


def check_arrays(
    folder: Path,
    arrays: Mapping[str, npt.NDArray[np.generic]],
    kinds: Mapping[str, str],
    ranges: Mapping[str, str],
) -> None:
    """Raise ReleaseError unless each array is a row of its type, and each of ``ranges`` divides the whole of another.

    ``kinds``: array -> NumPy type; ``ranges``: array of ends -> array that it divides. Looks at no values but first and last
    ones; `crmrag verify` looks at all.
    """
    for name, array in arrays.items():
        if array.ndim != 1 or array.dtype != kinds[name]:
            raise ReleaseError(f"{folder / name}.npy is no row of {kinds[name]} numbers.", rebuild(folder))
    for name, divided in ranges.items():
        ends = arrays[name]
        if not len(ends) or ends[0] != 0 or ends[-1] != len(arrays[divided]):
            raise ReleaseError(f"{folder / name}.npy does not fit {divided}.npy.", rebuild(folder))


def open_array(folder: Path, name: str) -> npt.NDArray[np.generic]:
    """Memory-map ``<name>.npy``; raises ReleaseError when it is missing or no array."""
    path = folder / f"{name}.npy"
    try:
        # Mapped still, as a plain array: NumPy's own class for mapped ones makes every slice of it slow.
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read: {error}.", rebuild(path.parent)) from error
