"""Strings that are parts of a block of bytes, made all at once and without copying them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

INLINE = 12  # bytes of a string that stand in its view itself (Arrow's layout of string views)
_WORDS = INLINE // 4
_MASKS = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF, 0xFFFFFFFF], np.uint32)  # of the first so many bytes of a word

Places = npt.NDArray[np.int64]


class Block:
    """Bytes in UTF-8 that strings are taken from; shorter than 2 GiB.

    ``bytes`` uint8 [n]: the block itself, to look for places in it.
    """

    def __init__(self, text: bytes) -> None:
        padded = text + bytes(INLINE)  # so that a word may be read at the last byte
        self.bytes: npt.NDArray[np.uint8] = np.frombuffer(padded, np.uint8, len(text))
        self._buffer = pa.py_buffer(padded)
        self._word = np.ndarray(len(padded) - 3, np.dtype("<u4"), padded, strides=(1,))  # at every byte

    def strings(self, start: Places, end: Places) -> pl.Series:
        """The strings ``[start, end)``, which must begin and end with whole characters."""
        length = end - start
        view = np.empty((len(start), 1 + _WORDS), np.uint32)
        view[:, 0] = length
        view[:, 1] = self._word[start] & _MASKS[np.minimum(length, 4)]
        view[:, 2], view[:, 3] = 0, start
        short = np.flatnonzero(length <= INLINE)
        for word in range(1, _WORDS):
            left = np.clip(length[short] - 4 * word, 0, 4)
            view[short, 1 + word] = self._word[start[short] + 4 * word] & _MASKS[left]
        made = pa.Array.from_buffers(pa.string_view(), len(start), [None, pa.py_buffer(view), self._buffer])
        return pl.Series(pl.from_arrow(made))
