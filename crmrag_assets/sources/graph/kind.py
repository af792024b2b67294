"""The kind `graph`: each node is a thing, each edge a statement of it."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pyoxigraph as ox

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.kinds import Kind, Opening
from crmrag_assets.sources.spooled import (
    CONCEPT,
    CRM,
    HAS_TYPE,
    LABEL,
    LITTLE,
    MOST,
    PROPERTY,
    RATIO,
    TYPE,
    UNJUDGED,
    ByteStream,
    SpooledFiles,
    extension_of,
)
from crmrag_query.artifacts.manifest import sha256_file
from crmrag_query.config.sources import (
    NODE,
    EdgeTable,
    GraphConfig,
    NodeTable,
    Table,
    is_absolute,
    matching_files,
)
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
    found = FORMATS.get(extension_of(path))
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
    held, size = list[bytes](), 0  # of the line that is being read
    while part := stream.read(LITTLE):
        end, *lines = part.split(b"\n")
        held.append(end)
        size += len(end)
        if lines:
            yield b"".join(held).decode() + "\n"
            *whole, begun = lines
            for line in whole:
                yield line.decode() + "\n"
            held, size = [begun], len(begun)
        if size > LONGEST:
            raise SourceError(f"{stream.path} has a line of over {LONGEST:,} bytes.", "Is it a table?")
    if size:
        yield b"".join(held).decode()


def _separated(path: Path, columns: tuple[str, ...], tally: Tally) -> Iterator[tuple[int, int, Row]]:
    is_tabbed = format_of(path) == "TSV"
    with ByteStream(path) as stream:
        csv.field_size_limit(LONGEST)
        lines = _lines(stream)
        first = next(lines, "")
        comma = "\t" if is_tabbed else ";" if ";" in first and "," not in first else ","
        reader = csv.reader(
            chain([first], lines),
            delimiter=comma,
            quoting=csv.QUOTE_NONE if is_tabbed else csv.QUOTE_MINIMAL,
            strict=True,
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


BROADER = ox.NamedNode(f"{CRM}P127_has_broader_term")
TEXT = ox.NamedNode("http://purl.org/dc/terms/description")  # its long ones stand in passages
KIND_OF = "type/"
WRITER = 2  # raised when the same files would become other triples
LOOKED_AT = 1000  # rows of each table
WORDS = 1000  # strongest features of a node that are told
WHOLE, ANY = "iu", "biuf"  # kinds of numbers that arrays hold, as NumPy names them
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class GraphFiles(SpooledFiles):
    """Files of edges and of nodes; ``tables``: by file, as what it is read; ``lists``: the files of names."""

    config: GraphConfig
    tables: Mapping[Path, Table]
    lists: Mapping[str, Path] = field(default_factory=dict)
    _told: set[str] = field(default_factory=set, compare=False, repr=False)

    def format_of(self, path: Path) -> str:
        return format_of(path)

    def settings(self) -> str:
        lists = {name: sha256_file(path) for name, path in sorted(self.lists.items())}
        return f"{WRITER} {self.config.model_dump_json()} {lists}"

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        self._told.clear()
        return super().discover(folder, progress)

    def _existing(self) -> tuple[Path, ...]:
        """Those of nodes first, which say what the ends of edges are called."""
        return tuple(sorted(super()._existing(), key=lambda path: isinstance(self.tables[path], EdgeTable)))

    def statements(self, path: Path, tally: Tally) -> Iterator[tuple[int, Iterator[ox.Quad]]]:
        table = self.tables[path]
        if format_of(path) == "NumPy":
            yield 0, self._arrays(path)
            return
        unused = set[str]()
        for position, number, row in rows_of(path, table.columns, tally):
            if isinstance(table, EdgeTable):
                if not (row.get(table.source) and row.get(table.target)):
                    tally.fault(number, str(dict(row)), f"no {table.source} or no {table.target}")
                    continue
                unused |= row.keys() - {table.source, table.target, table.relation}
                yield position, self._edge(row[table.source], row[table.target], row.get(table.relation, ""))
            elif isinstance(table, NodeTable):
                if not row.get(table.id):
                    tally.fault(number, str(dict(row))[:200], f"no {table.id}")
                    continue
                yield position, self._node(table, row)
        for column in sorted(unused):
            tally.skipped[
                f"values of the column {column!r} of edges, which a statement has no place for"
            ] += 1

    def _edge(self, source: str, target: str, relation: str) -> Iterator[ox.Quad]:
        yield from self._named(source)
        yield from self._named(target)
        said = self._property(relation or self.config.relation)
        yield from self._declared(said, relation or self.config.relation)
        yield ox.Quad(self._iri(source), said, self._iri(target))

    def _node(self, table: NodeTable, row: Row) -> Iterator[ox.Quad]:
        node = row[table.id]
        yield from self._named(node, row.get(table.label, ""))
        iri = self._iri(node)
        for column, value in row.items():
            if column in (table.id, table.label):
                continue
            if column == table.text:
                yield ox.Quad(iri, TEXT, ox.Literal(value))
            elif column == table.type:
                yield from self._typed(iri, value, table.separator)
            else:
                yield from self._declared(self._property(column), column)
                yield ox.Quad(iri, self._property(column), ox.Literal(value))

    def _named(self, node: str, label: str = "") -> Iterator[ox.Quad]:
        """What a node is and is called, once: the first label that is given, else its id."""
        if node in self._told:
            return
        self._told.add(node)
        yield ox.Quad(
            self._iri(node), LABEL, ox.Literal(label or " ".join(node.replace("_", " ").split()) or node)
        )
        if self.config.node_class:
            yield ox.Quad(self._iri(node), TYPE, ox.NamedNode(self.config.node_class))

    def _typed(self, iri: ox.NamedNode, name: str, separator: str = "") -> Iterator[ox.Quad]:
        parts = name.split(separator) if separator else [name]
        levels = [(separator.join(parts[: n + 1]), part) for n, part in enumerate(parts) if part.strip()]
        concepts = [ox.NamedNode(f"{self.config.base}{KIND_OF}{quote(path, safe='')}") for path, _ in levels]
        if concepts:
            yield ox.Quad(iri, HAS_TYPE, concepts[-1])
        for number, (concept, (_, part)) in enumerate(zip(concepts, levels, strict=True)):
            if concept.value in self._told:
                continue
            self._told.add(concept.value)
            yield ox.Quad(concept, TYPE, CONCEPT)
            yield ox.Quad(concept, LABEL, ox.Literal(" ".join(part.replace("_", " ").split()) or part))
            if number:
                yield ox.Quad(concept, BROADER, concepts[number - 1])

    def _declared(self, said: ox.NamedNode, words: str) -> Iterator[ox.Quad]:
        """What a property of the graph's own is called, once: by this it is asked for."""
        if said.value != words and said.value not in self._told:
            self._told.add(said.value)
            yield ox.Quad(said, TYPE, PROPERTY)
            yield ox.Quad(said, LABEL, ox.Literal(words.replace("_", " "), language="en"))

    def _arrays(self, path: Path) -> Iterator[ox.Quad]:
        arrays = arrays_of(path)
        edges, count = _edges(arrays, path)
        names = self._list("names", count, path)
        classes = self._list("classes")
        labels = _row(arrays, path, "labels", "biu").tolist() if "labels" in arrays else []
        words = _words(arrays, count, self._list("attributes"), path)
        for number in range(count):
            node = names[number] if names else str(number)
            yield from self._named(node)
            if number < len(labels):
                label = labels[number]
                yield from self._typed(
                    self._iri(node), classes[label] if 0 <= label < len(classes) else f"class {label}"
                )
            if words and words[number]:
                yield ox.Quad(self._iri(node), TEXT, ox.Literal("; ".join(words[number])))
        for source, target in edges.tolist():
            yield from self._edge(
                names[source] if names else str(source), names[target] if names else str(target), ""
            )

    def _list(self, key: str, count: int | None = None, path: Path | None = None) -> list[str]:
        """The lines of a file of names; SourceError where they are not as many as there are nodes."""
        if key not in self.lists:
            return []
        try:
            with self.lists[key].open(encoding="utf-8") as file:
                lines = [line.removesuffix("\n") for line in file]
        except UnicodeDecodeError as error:
            raise SourceError(f"{self.lists[key]} is not written in UTF-8.", "Save it so.") from error
        if count is not None and len(lines) != count:
            what = f"{self.lists[key]} has {len(lines):,} names for the {count:,} nodes of {path}."
            raise SourceError(what, "It must have one a line, in the order of the nodes.")
        return lines

    def _iri(self, node: str) -> ox.NamedNode:
        return ox.NamedNode(self.config.base + NODE + quote(node, safe=""))

    def _property(self, name: str) -> ox.NamedNode:
        if is_absolute(name):
            with suppress(ValueError):  # words with a colon
                return ox.NamedNode(name)
        return ox.NamedNode(self.config.base + quote(name.replace(" ", "_"), safe=""))


def _edges(arrays: Mapping[str, npt.NDArray[Any]], path: Path) -> tuple[Ints, int]:
    """Pairs of numbers of nodes int64 [m, 2], and how many nodes there are: of `edges`, or of compressed rows `adj_indptr`
    and `adj_indices`."""
    if {"adj_indptr", "adj_indices"} <= arrays.keys():
        starts, targets = (_row(arrays, path, key) for key in ("adj_indptr", "adj_indices"))
        if len(starts) < 1 or (np.diff(starts) < 0).any() or starts[0] != 0 or starts[-1] != len(targets):
            raise SourceError(f"{path}: adj_indptr does not fit adj_indices.", "Write the matrix again.")
        edges = np.stack([np.repeat(np.arange(len(starts) - 1), np.diff(starts)), targets], axis=1)
        count = len(starts) - 1
    elif "edges" in arrays:
        edges = _numbers(arrays["edges"], path, "edges")
        if edges.ndim != 2 or 2 not in edges.shape:
            raise SourceError(f"{path}: its edges are of shape {edges.shape}.", "They are pairs: [m, 2].")
        edges = edges if edges.shape[1] == 2 else edges.T
        count = max(int(edges.max(initial=-1)) + 1, *_rows(arrays))
        if count > max(UNJUDGED, RATIO * len(edges)):
            raise SourceError(
                f"{path} numbers nodes up to {count - 1:,}, and has {len(edges):,} edges.",
                "Number the nodes from 0 without gaps.",
            )
    else:
        raise SourceError(
            f"{path} has the arrays {', '.join(sorted(arrays))}, and none of edges.",
            "It needs `edges`, pairs of numbers of nodes, or `adj_indptr` and `adj_indices`.",
        )
    if len(edges) and (edges.min() < 0 or edges.max() >= count):
        raise SourceError(f"{path} has edges to nodes that there are not.", "Nodes are numbered from 0.")
    return edges, count


def _rows(arrays: Mapping[str, npt.NDArray[Any]]) -> list[int]:
    """Of how many nodes other arrays tell."""
    beside = {"labels": 0, "feat_indptr": 1, "attr_indptr": 1}
    return [arrays[key].size - more for key, more in beside.items() if key in arrays] or [0]


def _row(
    arrays: Mapping[str, npt.NDArray[Any]], path: Path, key: str, kinds: str = WHOLE
) -> npt.NDArray[Any]:
    """An array that has to be there, as one row of numbers; SourceError, which names it, for any other."""
    if key not in arrays:
        raise SourceError(f"{path} lacks the array {key}.", "Write it beside those that it belongs to.")
    if arrays[key].ndim != 1:
        raise SourceError(
            f"{path}: its array {key} is of shape {arrays[key].shape}.", "It has to be one row."
        )
    return _numbers(arrays[key], path, key, kinds)


def _numbers(array: npt.NDArray[Any], path: Path, key: str, kinds: str = WHOLE) -> npt.NDArray[Any]:
    if array.dtype.kind not in kinds:
        what = "numbers" if kinds == ANY else "whole numbers"
        raise SourceError(f"{path}: its array {key} is of {array.dtype}, not of {what}.", "Write it again.")
    return array.astype(np.float64 if kinds == ANY else np.int64)


def _words(
    arrays: Mapping[str, npt.NDArray[Any]], count: int, names: list[str], path: Path
) -> list[list[str]]:
    """The names of each node's features, the strongest first; empty where there are no features, or no names of them."""
    prefix = next((one for one in ("feat", "attr") if f"{one}_indptr" in arrays), None)
    if prefix is None or not names:
        return []
    starts, columns = (_row(arrays, path, f"{prefix}_{key}") for key in ("indptr", "indices"))
    weights = _row(arrays, path, f"{prefix}_data", ANY)
    fits = (
        len(starts) == count + 1
        and len(columns) == len(weights) == starts[-1]
        and not (np.diff(starts) < 0).any()
    )
    if not fits or (len(columns) and (columns.min() < 0 or columns.max() >= len(names))):
        raise SourceError(f"{path}: its features do not fit its nodes, or their names.", "Write them again.")
    found = []
    for first, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        order = np.lexsort((columns[first:end], -weights[first:end]))[:WORDS]
        found.append([names[column] for column in columns[first:end][order].tolist()])
    return found


def open_graph(config: GraphConfig, opening: Opening) -> GraphFiles:
    tables = {
        path: table for _, table in config.tables() for path in matching_files(opening.root, table.files, "")
    }
    lists = config.lists(opening.root)
    return GraphFiles(opening.paths, opening.method, opening.root, config=config, tables=tables, lists=lists)


def look(config: GraphConfig, opening: Opening) -> Iterator[str]:
    """What is wrong with the first rows of each table, and with arrays."""
    source = open_graph(config, opening)
    for path in source.files:
        tally, first = Tally(), list[ox.Quad]()
        try:
            for _, quads in islice(source.statements(path, tally), LOOKED_AT):
                first += islice(quads, LOOKED_AT)
        except SourceError as error:
            yield str(error)
            continue
        if tally.broken:
            faults = (
                f"{tally.broken_count} of the first {LOOKED_AT:,} rows cannot be read ({tally.broken[0]})"
            )
            yield f"{path}: {faults}. Correct them."
        elif not first:
            yield f"{path}: there is no row in it. Did the export fail? Write it again."


KIND = Kind(GraphConfig, open_graph, look)
