"""Rows of tables, one after another, whatever their format; and arrays, of which none may be a pickle."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.harvest.report import Tally
from crmrag_assets.sources.streams import EXTENSIONS, LITTLE, MOST, RATIO, UNJUDGED, ByteStream
from crmrag_query.errors import SourceError
from crmrag_query.syntax import LONGEST

FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".parquet": "Parquet",
    ".npz": "NumPy",
}
ROWS = 10_000  # of a Parquet file that are taken at once
ARRAYS = 100  # in one file, at most
Row = Mapping[str, str]


def format_of(path: Path) -> str:
    """The format of a file by its name; SourceError for one that is not known."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in EXTENSIONS:
        suffixes.pop()
    found = FORMATS.get(suffixes[-1]) if suffixes else None
    if found is None:
        raise SourceError(
            f"{path} is in no format of graphs.", f"Name it by its format: {', '.join(sorted(FORMATS))}."
        )
    return found


def rows_of(path: Path, columns: tuple[str, ...], tally: Tally) -> Iterator[tuple[int, int, Row]]:
    """The rows of a table with their numbers, from 1, and the bytes read so far; values as text, without empty ones.

    A row that cannot be read is told to the tally, and so is where a file breaks off; SourceError where nothing can be read.
    """
    read = 0
    try:
        for position, number, row in _READERS[format_of(path)](path, columns, tally):
            yield position, number, {key: value for key, value in row.items() if key and value}
            read += 1
    except (SourceError, pa.ArrowException, OSError, csv.Error, UnicodeDecodeError) as error:
        reason = " ".join(str(error).split())
        if not read:
            raise SourceError(
                f"{path} cannot be read: {reason}", "It is damaged, or in another format: fetch it again."
            ) from error
        tally.fault(None, f"after {read:,} rows", f"the rest cannot be read: {reason}")


def _lines(stream: ByteStream) -> Iterator[str]:
    """The lines of a text in UTF-8; SourceError for one longer than a value may be."""
    held = b""
    while part := stream.read(LITTLE):
        *whole, held = (held + part).split(b"\n")
        for line in whole:
            yield line.decode() + "\n"
        if len(held) > LONGEST:
            raise SourceError(f"{stream.path} has a line of over {LONGEST:,} bytes.", "Is it a table?")
    if held:
        yield held.decode()


def _separated(path: Path, columns: tuple[str, ...], tally: Tally) -> Iterator[tuple[int, int, Row]]:
    is_tabbed = format_of(path) == "TSV"
    with ByteStream(path) as stream:
        csv.field_size_limit(LONGEST)
        lines = _lines(stream)
        first = next(lines, "")
        comma = "\t" if is_tabbed else ";" if ";" in first and "," not in first else ","
        reader = (
            csv.reader(_again(first, lines), delimiter=comma, quoting=csv.QUOTE_NONE)
            if is_tabbed
            else csv.reader(_again(first, lines), delimiter=comma, strict=True)
        )
        head = list(columns) or [name.strip() for name in next(reader, [])]
        for values in reader:
            if not values or values == [""]:
                continue
            if len(values) != len(head):
                tally.fault(
                    reader.line_num, comma.join(values), f"{len(values)} values for {len(head)} columns"
                )
                continue
            yield stream.position, reader.line_num, dict(zip(head, values, strict=True))


def _again(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield from ([first] if first else [])
    yield from rest


def _json_lines(path: Path, columns: tuple[str, ...], tally: Tally) -> Iterator[tuple[int, int, Row]]:
    with ByteStream(path) as stream:
        for number, line in enumerate(_lines(stream), 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
                if "\\u" in line:  # which may be half of a character
                    json.dumps(found, ensure_ascii=False).encode()
            except (ValueError, RecursionError) as error:
                tally.fault(number, line, f"no JSON: {error}")
                continue
            if not isinstance(found, dict):
                tally.fault(number, line, "no object with names and values")
                continue
            yield stream.position, number, {str(key): _text(value) for key, value in found.items()}


def _parquet(path: Path, columns: tuple[str, ...], tally: Tally) -> Iterator[tuple[int, int, Row]]:
    size, number = path.stat().st_size, 0
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        head = list(columns) or names
        if len(head) != len(names):
            raise SourceError(
                f"{path} has {len(names)} columns, {', '.join(names)}, and `columns` names {len(head)}.",
                "A Parquet file has names of its own: leave `columns` out, or name all.",
            )
        for batch in file.iter_batches(ROWS):
            for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                number += 1
                read = size * number // max(1, file.metadata.num_rows)
                yield read, number, {key: _text(value) for key, value in zip(head, values, strict=True)}


_READERS = {"CSV": _separated, "TSV": _separated, "JSON lines": _json_lines, "Parquet": _parquet}


def _text(value: Any) -> str:
    """A value as text, "" for none; what holds others as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def arrays_of(path: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of an `.npz` by name: numbers and texts. SourceError, which names it, for one that holds objects, or says
    that it is larger than its bytes: nothing of it is loaded."""
    found = {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > ARRAYS:
                raise SourceError(
                    f"{path} holds {len(members):,} arrays.", f"A graph has a few: at most {ARRAYS} are read."
                )
            whole = sum(member.file_size for member in members)
            if whole > min(MOST, max(UNJUDGED, RATIO * path.stat().st_size)):
                raise SourceError(
                    f"{path} expands to {whole >> 20:,} MiB, from {path.stat().st_size:,} bytes.",
                    "That is how files are made to fill memory. Write it without compression, if you know that it is right.",
                )
            for member in members:
                with archive.open(member) as file:
                    found[member.filename.removesuffix(".npy")] = _array(
                        path, member, file.read(member.file_size + 1)
                    )
    except SourceError:
        raise
    except Exception as error:  # zipfile, zlib and NumPy raise a dozen kinds of what is damaged
        raise SourceError(
            f"{path} cannot be read ({error}).", "It is damaged, or no .npz: write it again."
        ) from error
    return found


def _array(path: Path, member: zipfile.ZipInfo, content: bytes) -> npt.NDArray[Any]:
    stream = io.BytesIO(content)
    version = np.lib.format.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"its array {member.filename} has version {version} of the format")
    reads = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = reads(stream)
    if dtype.hasobject:
        raise SourceError(
            f"{path}: its array {member.filename} holds Python objects, which are pickles: reading one runs what it says.",
            "It is not read. Write numbers as plain arrays, and names as a text file, one a line.",
        )
    if dtype.kind not in "biufUS":
        raise ValueError(f"its array {member.filename} is of {dtype}, neither numbers nor text")
    size = int(np.prod(shape, dtype=object)) * dtype.itemsize
    if size != len(content) - stream.tell():
        raise ValueError(
            f"its array {member.filename} should have {size:,} bytes and has {len(content) - stream.tell():,}"
        )
    flat = np.frombuffer(content, dtype, offset=stream.tell()) if size else np.empty(0, dtype)
    return flat.reshape(shape, order="F" if fortran else "C")
