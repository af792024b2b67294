"""Embedding a chunk: the windows of its documents, each encoded once for its text, ever.

Windows are what an encoder reads whole: lines kept, the header repeated. What is made is appended to files as it is made, so
that a stopped build repeats nothing.
"""

from __future__ import annotations

import hashlib
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock
from pyarrow import ipc

from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.indexes.encoder import Encoder
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints
from crmrag_query.retrieval.dense import CHUNK_VECTORS as VECTORS
from crmrag_query.retrieval.dense import CHUNK_WINDOWS as WINDOWS
from crmrag_query.retrieval.dense import STORED
from crmrag_query.retrieval.encoder import TextEncoder

Floats = npt.NDArray[np.float32]
Records = npt.NDArray[np.void]
KEY = 32  # bytes of the SHA-256 of a text


def record_type(dimension: int) -> np.dtype[np.void]:
    """A vector: ``key`` of the window's text, the vector, CRC-32 of both; little-endian."""
    return np.dtype([("key", "V32"), ("vector", "<f4", (dimension,)), ("crc", "<u4")])


CUT = np.dtype([("text", "V32"), ("window", "V32"), ("number", "<u4"), ("of", "<u4"), ("crc", "<u4")])
"""A window of a text: keys of both, which of how many windows it is, CRC-32 of all that."""


@dataclass
class VectorCache:
    """Vectors of one encoder by the SHA-256 of their text, in one append-only file."""

    path: Path
    dimension: int
    vectors: dict[bytes, Floats] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path, dimension: int) -> VectorCache:
        """Read what is whole; a torn end is cut off, a record with a wrong checksum passed over."""
        found = _read(path, record_type(dimension))
        return cls(path, dimension, dict(zip(_keys(found["key"]), found["vector"], strict=True)))

    def append(self, found: Mapping[bytes, Floats]) -> None:
        """Add vectors and hand them to the operating system before returning."""
        records = np.zeros(len(found), record_type(self.dimension))
        records["key"] = np.frombuffer(b"".join(found), "V32")
        for row, vector in enumerate(found.values()):
            records["vector"][row] = vector
        _append(self.path, records)
        self.vectors |= found

    def rows(self, keys: Sequence[bytes]) -> npt.NDArray[np.float32]:
        """The vectors of texts that are known, float32 [keys, dimension]."""
        rows = np.zeros((len(keys), self.dimension), np.float32)
        for row, key in enumerate(keys):
            rows[row] = self.vectors[key]
        return rows


@dataclass
class CutCache:
    """How texts were cut into windows, as keys of these by the text's key; of one encoder and one size of window."""

    path: Path
    cuts: dict[bytes, tuple[bytes, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> CutCache:
        """As `VectorCache.open`; a text that lacks a record is not known."""
        found, parts = _read(path, CUT), dict[bytes, list[bytes]]()
        columns = _keys(found["text"]), _keys(found["window"]), found["number"].tolist()
        for text, window, number in zip(*columns, strict=True):
            known = parts.setdefault(text, [])
            if number == len(known):
                known.append(window)
        of = dict(zip(columns[0], found["of"].tolist(), strict=True))
        return cls(path, {text: tuple(known) for text, known in parts.items() if len(known) == of[text]})

    def append(self, found: Mapping[bytes, Sequence[bytes]]) -> None:
        """Add what texts were cut into."""
        size = [len(windows) for windows in found.values()]
        records = np.zeros(sum(size), CUT)
        records["text"] = np.repeat(np.frombuffer(b"".join(found), "V32"), size)
        records["window"] = np.frombuffer(b"".join(chain.from_iterable(found.values())), "V32")
        records["number"] = np.fromiter(chain.from_iterable(map(range, size)), np.uint32, len(records))
        records["of"] = np.repeat(size, size)
        _append(self.path, records)
        self.cuts |= {text: tuple(windows) for text, windows in found.items()}


def _read(path: Path, kind: np.dtype[np.void]) -> Records:
    """The records of a file, which is made where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    size = kind.itemsize
    with _alone(path), path.open("r+b") as stream:
        _cut_torn_end(stream, size)
        stream.seek(0)
        raw = stream.read()
    records = np.frombuffer(raw, kind)
    sound: Records = records[records["crc"] == _checksums(raw, size)]
    return sound


def _append(path: Path, records: Records) -> None:
    records["crc"] = _checksums(records.tobytes(), records.dtype.itemsize)
    with _alone(path), path.open("ab") as stream:
        _cut_torn_end(stream, records.dtype.itemsize)
        stream.write(records.tobytes())


def _alone(path: Path) -> FileLock:
    """Held while a cache is read or appended to: builds of other data sets, and `embed`, may use the same file."""
    return FileLock(path.with_name(".lock"), thread_local=False)


def _cut_torn_end(stream: BinaryIO, size: int) -> None:
    """What a killed process left of a record, behind which all others would be out of step."""
    stream.truncate(stream.seek(0, os.SEEK_END) // size * size)
    stream.seek(0, os.SEEK_END)


def _checksums(raw: bytes, size: int) -> npt.NDArray[np.uint32]:
    """CRC-32 of each record of ``size`` bytes but its own last four."""
    view = memoryview(raw)
    found = (zlib.crc32(view[start : start + size - 4]) for start in range(0, len(raw), size))
    return np.fromiter(found, np.uint32, len(raw) // size)


def _keys(column: npt.NDArray[np.void]) -> list[bytes]:
    raw = column.tobytes()
    return [raw[start : start + KEY] for start in range(0, len(raw), KEY)]


Count = Callable[[Sequence[str]], list[int]]
HEADER_SHARE = 4  # a repeated header takes at most a quarter of the window
CUTTING = 1  # raised when texts are cut otherwise
COUNTED = 256  # texts that are counted at once


def cut(texts: Sequence[str], count: Count, room: int) -> list[list[str]]:
    """`windows` of each text, in order; many are counted at once, which tokenizers do faster."""
    tokens = chain.from_iterable(
        count(texts[start : start + COUNTED]) for start in range(0, len(texts), COUNTED)
    )
    return [
        [text] if n <= room else windows(text, count, room) for text, n in zip(texts, tokens, strict=True)
    ]


def windows(text: str, count: Count, room: int) -> list[str]:
    """Windows of ``text``, each of at most ``room`` tokens by ``count``.

    A text that fits is its own only window. Else lines are packed in order behind the first line, which is
    repeated; a line too long for a window is split between words. Counts are taken to add up over words,
    which holds for tokenizers that split at white space first; where it does not, the encoder cuts the few
    tokens too many.
    """
    if count([text])[0] <= room:
        return [text]
    header, *lines = text.split("\n")
    repeated = split(header, count, max(1, room // HEADER_SHARE))[0]
    left = room - count([repeated])[0]
    rest = header[len(repeated) :].strip()
    lines = [rest, *lines] if rest else lines
    pieces = [piece for line in lines for piece in split(line, count, max(1, left))]
    return ["\n".join([repeated, *body]) for body in pack(pieces, count(pieces), left)]


def pack(pieces: Sequence[str], counts: Sequence[int], room: int) -> list[list[str]]:
    """Neighbouring pieces in groups of at most ``room`` tokens; a piece larger than that is alone."""
    groups: list[list[str]] = []
    used = room + 1
    for piece, tokens in zip(pieces, counts, strict=True):
        if used + tokens > room:
            groups.append([])
            used = 0
        groups[-1].append(piece)
        used += tokens
    return groups


def split(line: str, count: Count, room: int) -> list[str]:
    """``line`` in pieces of at most ``room`` tokens, cut between words, a too long word between letters."""
    if count([line])[0] <= room:
        return [line]
    words = re.findall(r"\S+\s*|^\s+", line)
    if len(words) < 2:
        middle = len(line) // 2
        return [*split(line[:middle], count, room), *split(line[middle:], count, room)] if middle else [line]
    parts: list[str] = []
    for group in pack(words, count(words), room):
        parts += split(group[0], count, room) if len(group) == 1 else ["".join(group)]
    return parts


BATCH = 64  # texts encoded between two writes to the cache: what a stopped build loses at most
WINDOW_SCHEMA = pa.schema([("number", pa.int32()), ("window", pa.int16()), ("text_hash", pa.binary(32))])


@dataclass(frozen=True)
class Embedded:
    """Vectors float32 [w, d] of length 1 and, row by row, whose window they are (``WINDOW_SCHEMA``).

    Rows are in order of the texts given, by their numbers; ``encoded`` of the texts were new to the cache: ``fresh``.
    """

    vectors: npt.NDArray[np.float32]
    windows: pa.Table
    encoded: int
    fresh: tuple[str, ...] = ()


def embed_chunk(
    numbered: Sequence[tuple[int, str]],
    encoder: Encoder,
    cache: Path,
    progress: Progress | None = None,
    others: Iterable[Path] = (),
) -> Embedded:
    """Encode the windows of (number, final text) pairs; ``cache`` is the chunk's file, progress is in windows.

    Neither cuts nor encodes a text again that it knows from that file and the one of cuts beside it. Nor is encoded what has
    a vector in one of ``others``, files of chunks that held these documents before. Raises ModelError from the encoder; what
    was encoded before is kept.
    """
    of = [key_of(text) for _, text in numbered]
    texts = {key: text for key, (_, text) in zip(of, numbered, strict=True)}
    known, cuts, new = _looked_up(texts, encoder, cache, others)
    rows = [
        (number, place, window)
        for key, (number, _) in zip(of, numbered, strict=True)
        for place, window in enumerate(cuts.cuts[key])
    ]
    progress = progress or SilentProgress()
    progress.advance(len(rows) - len(new), len(rows))
    for done in encode_new(new, encoder, known):
        progress.advance(len(rows) - len(new) + done, len(rows))
    vectors = known.rows([key for _, _, key in rows])
    columns = [[row[column] for row in rows] for column in range(3)]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, WINDOW_SCHEMA, strict=True)]
    return Embedded(vectors, pa.table(arrays, WINDOW_SCHEMA), len(new), tuple(new.values()))


def encode_new(new: Mapping[bytes, str], encoder: TextEncoder, known: VectorCache) -> Iterator[int]:
    """Encode texts by their keys, batch by batch, each kept in ``known`` before the next one starts; how many are done."""
    keys = list(new)
    for start in range(0, len(keys), BATCH):
        part = keys[start : start + BATCH]
        known.append(dict(zip(part, encoder.encode([new[key] for key in part]), strict=True)))
        yield start + len(part)


def pending(
    texts: Iterable[str], encoder: Encoder, cache: Path, others: Iterable[Path] = ()
) -> tuple[int, list[str]]:
    """What `embed_chunk` would encode: of how many of the texts, and which windows."""
    by_key = {key_of(text): text for text in texts}
    _, cuts, new = _looked_up(by_key, encoder, cache, others)
    return sum(any(window in new for window in cuts.cuts[key]) for key in by_key), list(new.values())


def lacking(
    of: Sequence[bytes], texts: Iterable[str], encoder: Encoder, cache: Path, others: Sequence[Path] = ()
) -> list[bool]:
    """Which of the texts, with these keys, have no vector yet, all windows counted; a text that was never cut into any is not
    cut for that. ``texts`` are looked at only where there are ``others``."""
    if others:  # of which it is not known how they were cut
        _, cuts, new = _looked_up(dict(zip(of, texts, strict=True)), encoder, cache, others)
        return [any(window in new for window in cuts.cuts[key]) for key in of]
    vectors, cuts = VectorCache.open(cache, encoder.dimension).vectors, _cuts(cache, encoder)
    return [any(window not in vectors for window in cuts.cuts.get(key, (key,))) for key in of]


def encode_lacking(
    texts: Iterable[str], encoder: Encoder, cache: Path, others: Iterable[Path] = ()
) -> Iterator[tuple[list[str], float]]:
    """Encode the windows of these texts that have no vector: those of a batch, once they are kept in the cache, and which
    share of all is done by then."""
    known, _, new = _looked_up({key_of(text): text for text in texts}, encoder, cache, others)
    yield from encode_batches(new, encoder, known)


def encode_batches(
    new: Mapping[bytes, str], encoder: Encoder, known: VectorCache
) -> Iterator[tuple[list[str], float]]:
    """`encode_new`, that gives the texts of each batch, and which share of all is done."""
    texts, before = list(new.values()), 0
    for done in encode_new(new, encoder, known):
        yield texts[before:done], done / len(texts)
        before = done


def _cuts(cache: Path, encoder: Encoder) -> CutCache:
    return CutCache.open(cache.with_name(f"{cache.stem}-{encoder.window}-{CUTTING}.cuts"))


def _looked_up(
    texts: Mapping[bytes, str], encoder: Encoder, cache: Path, others: Iterable[Path]
) -> tuple[VectorCache, CutCache, dict[bytes, str]]:
    """The chunk's caches, and by key the windows of the texts that have no vector in any."""
    known = VectorCache.open(cache, encoder.dimension)
    cuts = _cuts(cache, encoder)
    vectors = known.vectors
    uncut = [key for key in texts if any(window not in vectors for window in cuts.cuts.get(key, (b"",)))]
    parts = cut([texts[key] for key in uncut], encoder.count, encoder.window)
    keys = [[key_of(window) for window in part] for part in parts]
    cuts.append({key: windows for key, windows in zip(uncut, keys, strict=True) if key not in cuts.cuts})
    cut_now = zip(chain.from_iterable(keys), chain.from_iterable(parts), strict=True)
    new = {key: window for key, window in cut_now if key not in vectors}
    for path in others:  # what is found there becomes known here
        if new:
            found = VectorCache.open(path, known.dimension).vectors
            known.append({key: found[key] for key in new if key in found})
            new = {key: window for key, window in new.items() if key not in found}
    return known, cuts, new


def key_of(text: str) -> bytes:
    """By which a text's vector is known."""
    return hashlib.sha256(text.encode()).digest()


def write_embedded(folder: Path, embedded: Embedded) -> None:
    """Write ``vectors.npy`` and ``windows.arrow`` (IPC file, one uncompressed batch); rows are in order of their texts."""
    np.save(folder / VECTORS, embedded.vectors)
    _, place = np.unique(embedded.windows.column("number").to_numpy(), return_inverse=True)
    columns = [pa.array(place.astype(np.int32)), *embedded.windows.columns[1:]]
    table = pa.table(columns, STORED).combine_chunks()
    with pa.OSFile(str(folder / WINDOWS), "wb") as sink, ipc.new_file(sink, STORED) as writer:
        writer.write_table(table)


def open_embedded(folder: Path, numbers: npt.NDArray[np.int32] | None = None) -> Embedded:
    """Memory-map what ``write_embedded`` wrote; ``numbers`` of the chunk's texts, ascending, else 0, 1, …"""
    vectors = np.load(folder / VECTORS, mmap_mode="r")
    with pa.memory_map(str(folder / WINDOWS)) as source:
        table = ipc.open_file(source).read_all()
    place = table.column("place").to_numpy()
    number = pa.array(place if numbers is None else numbers[place])
    return Embedded(vectors, pa.table([number, *table.columns[1:]], WINDOW_SCHEMA), 0)


SHARES = (1, 5, 20, 50, 100)
"""Per cent of the documents whose vectors make a better release."""
SMOOTHING = 60  # ranks are joined by 1 / (60 + rank), as elsewhere: Cormack, Clarke & Büttcher 2009


def by_importance(documents: Documents, pagerank: npt.NDArray[np.floating]) -> Ints:
    """The documents, int32 [documents], the most important first.

    Those of entities with a name of their own come before all others; then those that are central, by their entities'
    ``pagerank`` [nodes], and rich, by their characters: both ranks are fused. Equals come in their own order.
    """
    entities = documents.entities
    named = (documents.graph.flags[entities] & FLAG_LABELLED) != 0
    length = pc.utf8_length(documents.table.column("text")).to_numpy()
    fused = 1 / (SMOOTHING + _ranks(pagerank[entities])) + 1 / (SMOOTHING + _ranks(length))
    return np.lexsort((-fused, ~named)).astype(np.int32)


def _ranks(values: npt.NDArray[np.number]) -> npt.NDArray[np.int64]:
    """From 1 for the highest."""
    found = np.empty(len(values), np.int64)
    found[np.argsort(-values.astype(np.float64), kind="stable")] = np.arange(1, len(values) + 1)
    return found


def shares_of(order: Ints) -> npt.NDArray[np.uint8]:
    """For each document of an order the first of ``SHARES`` that it is among, uint8 [documents]; each has at least one."""
    found = np.empty(len(order), np.uint8)
    for share in reversed(SHARES):
        found[order[: -(-len(order) * share // 100)]] = share
    return found
