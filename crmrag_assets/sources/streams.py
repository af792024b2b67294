"""Files as streams of plain bytes, whatever they are compressed with."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import pyarrow as pa

from crmrag_query.errors import SourceError

MAGIC = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "zstd": b"\x28\xb5\x2f\xfd"}
EXTENSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def compression_of(path: Path) -> str | None:
    """Compression of a file by its first bytes; raises SourceError where its extension says otherwise."""
    stated = EXTENSIONS.get(path.suffix.lower())
    with _opened(path) as raw:
        head = raw.read(4)
    found = next((name for name, magic in MAGIC.items() if head.startswith(magic)), None)
    if stated and found != stated:
        raise SourceError(
            f"{path} is named {path.suffix} but does not hold {stated} data.",
            "Fetch it again, or give it the extension of what it holds.",
        )
    return found


class ByteStream:
    """Uncompressed bytes of one file, without a byte order mark; each failure is a SourceError naming the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        compression = compression_of(path)
        self._raw = _opened(path)
        self._plain = pa.CompressedInputStream(self._raw, compression) if compression else self._raw
        self._head = self._read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, all of them when negative; empty at the end."""
        head, self._head = self._head, b""
        return head or self._read(size if size >= 0 else None)

    def whole(self) -> bytes:
        """All bytes that are left."""
        head, self._head = self._head, b""
        return head + self._read(None)

    @property
    def position(self) -> int:
        """Bytes of the file consumed so far, as stored (compressed)."""
        return int(self._raw.tell())

    def _read(self, size: int | None) -> bytes:
        try:
            return bytes(self._plain.read(size))
        except (OSError, pa.ArrowException) as error:
            remedy = "It is incomplete or damaged: fetch it again."
            raise SourceError(f"{self.path} cannot be read to its end ({error}).", remedy) from error

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._plain = (
            None  # it would read on to the end when it is closed, and fail where the file is cut off
        )
        self._raw.close()


def _opened(path: Path) -> pa.NativeFile:
    try:
        return pa.OSFile(str(path), "rb")
    except OSError as error:
        raise SourceError(
            f"{path} cannot be opened ({error}).", "Check its name and who may read it."
        ) from error
