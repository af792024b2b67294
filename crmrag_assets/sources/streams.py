"""Files as streams of plain bytes, whatever they are compressed with; and which RDF format a file holds."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyoxigraph as ox

from crmrag_query.errors import SourceError

MAGIC = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "zstd": b"\x28\xb5\x2f\xfd"}
EXTENSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
RATIO = 200  # bytes that one may expand to: RDF compresses to a hundredth at most, a bomb to a ten-thousandth
UNJUDGED = 1 << 24  # bytes up to which any ratio goes
MOST = 1 << 38  # bytes that a compressed file may hold: over a billion triples
PORTION = 1 << 20  # bytes unpacked at once
LITTLE = (
    4096  # bytes read at once where all that comes before a fault is wanted: what is read with it is lost
)
HEAD = 1 << 16  # bytes looked at for a format
N_TRIPLES, N_QUADS = ox.RdfFormat.N_TRIPLES, ox.RdfFormat.N_QUADS
TURTLE, TRIG = ox.RdfFormat.TURTLE, ox.RdfFormat.TRIG
RDF_XML, JSON_LD = ox.RdfFormat.RDF_XML, ox.RdfFormat.JSON_LD
# .rdf, .owl, .rdfs and .xml are used for several formats: there, content decides
BY_EXTENSION = {
    ".nt": N_TRIPLES,
    ".ntriples": N_TRIPLES,
    ".nq": N_QUADS,
    ".nquads": N_QUADS,
    ".ttl": TURTLE,
    ".turtle": TURTLE,
    ".trig": TRIG,
    ".jsonld": JSON_LD,
    ".json": JSON_LD,
}
_XML = re.compile(r"<(\?xml|!DOCTYPE|!--|(\w+:)?RDF\b)")
_JSON = re.compile(r'(\[\s*)?\{\s*("|\})')
_DIRECTIVE = re.compile(r"^\s*@?(prefix|base)\b", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r'(<[^>\s]*>|_:\S+)\s+<[^>\s]*>\s+(<[^>\s]*>|_:\S+|".*"\S*)(\s+(<[^>\s]*>|_:\S+))?\s*\.\s*(#.*)?'
)
_STATEMENT = re.compile(r"\s*(<[^>\s]*>|[\w.-]*:\S+|\[)\s+\S+")
_GRAPH = re.compile(r"(^|[>\w:])\s*\{", re.MULTILINE)
_STRING = re.compile(r'"[^"\n]*"')


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
        self._packed, self._unpacked = compression is not None, 0
        self._plain = pa.CompressedInputStream(self._raw, compression) if compression else self._raw
        self._head = self._read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, all of them when negative; empty at the end."""
        if size < 0:
            head, self._head = self._head, b""
            return head + b"".join(iter(partial(self._read, PORTION), b""))
        head, self._head = self._head[:size], self._head[size:]
        return head or self._read(size)

    def at_line(self, line: int, header: bytes) -> ByteStream:
        """The stream at the start of a line (counted from 1); what it reads next is a ``header``."""
        missing, part = line - 1, b""
        while missing and (part := self.read(PORTION)):
            ends = part.count(b"\n")
            if ends >= missing:
                part = part.split(b"\n", missing)[missing]
                break
            missing -= ends
        self._head = header + part
        return self

    @property
    def position(self) -> int:
        """Bytes of the file consumed so far, as stored (compressed)."""
        return int(self._raw.tell())

    def _read(self, size: int) -> bytes:
        try:
            part = bytes(self._plain.read(min(size, PORTION)))
        except (OSError, pa.ArrowException) as error:
            remedy = "It is incomplete or damaged: fetch it again."
            raise SourceError(f"{self.path} cannot be read to its end ({error}).", remedy) from error
        if self._packed:
            self._unpacked += len(part)
            if self._unpacked > min(MOST, max(UNJUDGED, RATIO * self.position)):
                raise SourceError(
                    f"{self.path} expands to over {self._unpacked >> 20:,} MiB, from {self.position:,} bytes.",
                    "That is how files are made to fill memory and disk. If you know that it is right, unpack it and "
                    "name what was in it.",
                )
        return part

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # it would read on to the end when it is closed, and fail where the file is cut off
        self._plain = None
        self._raw.close()


def _opened(path: Path) -> pa.NativeFile:
    try:
        return pa.OSFile(str(path), "rb")
    except OSError as error:
        raise SourceError(
            f"{path} cannot be opened ({error}).", "Check its name and who may read it."
        ) from error


def format_of(path: Path) -> ox.RdfFormat:
    """Format of a file, plain or compressed; raises SourceError when neither name nor content tells."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in EXTENSIONS:
        suffixes.pop()
    known = BY_EXTENSION.get(suffixes[-1]) if suffixes else None
    found = known or sniff(head_of(path))
    if found is None:
        names = ", ".join(sorted(BY_EXTENSION))
        raise SourceError(f"{path} is in no RDF format we know.", f"Name it by its format: {names} or .rdf.")
    return found


def head_of(path: Path) -> str:
    """The first 64 KiB of a file as text, without byte order mark."""
    with ByteStream(path) as stream:
        return (stream.read(HEAD) + stream.read(HEAD))[:HEAD].decode("utf-8", "replace")


def sniff(head: str) -> ox.RdfFormat | None:
    """Format that a file starting with ``head`` is in; None when it looks like no RDF."""
    text = head.lstrip()
    if _XML.match(text):
        return RDF_XML
    if _JSON.match(text):
        return JSON_LD
    lines = [line.strip() for line in text.splitlines()]
    stated = [line for line in lines if line and not line.startswith("#")]
    if stated and _LINE.fullmatch(stated[0]):
        return N_QUADS  # every N-Triples file is an N-Quads file
    plain = _STRING.sub('""', "\n".join(stated))
    if _DIRECTIVE.search(plain) or _STATEMENT.match(plain):
        return TRIG if _GRAPH.search(plain) else TURTLE
    return None
