"""The embeddings artifact: the files of a chunk, and what is in them. Nothing that answers reads it; `verify` does."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.mapped import open_array, open_ipc
from crmrag_query.artifacts.versions import rebuild
from crmrag_query.errors import ReleaseError

VECTORS: Final = "vectors.npy"
WINDOWS: Final = "windows.arrow"
# ``place``: that of the window's document in the chunk, by IRI: a new entity elsewhere changes nothing here.
STORED: Final = pa.schema([("place", pa.int32()), ("window", pa.int16()), ("text_hash", pa.binary(32))])


def open_chunk(folder: Path) -> tuple[npt.NDArray[np.float32], pa.Table]:
    """Memory-map vectors float32 [w, d] and their windows (``STORED``); ReleaseError for files that do not fit."""
    vectors = open_array(folder, VECTORS.removesuffix(".npy"))
    windows = open_ipc(folder / WINDOWS, STORED).read_all()
    if vectors.ndim != 2 or vectors.dtype != np.float32 or len(vectors) != windows.num_rows:
        raise ReleaseError(f"{folder / VECTORS} does not fit {WINDOWS}.", rebuild(folder))
    return vectors.view(np.float32), windows
