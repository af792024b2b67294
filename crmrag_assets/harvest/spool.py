"""Triples on disk between reading and chunking: batches sorted by bucket, so that a chunk is a slice of each.

`spool.arrow` (Arrow IPC file, uncompressed, memory-mapped): subject, object, kind, and numbers into vocabularies for
property, datatype, language and graph. `offsets.npy` int64 [batches, 257]: where each bucket begins in a batch.
`vocabulary.json`: column -> values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyoxigraph as ox

from crmrag_assets.harvest.chunks import buckets_of_all
from crmrag_assets.harvest.columns import COLUMNS, NO_COLUMNS, canonical_lines, split_lines
from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.triples import IRI, LITERAL, XSD_STRING
from crmrag_query.artifacts.chunks import BUCKETS
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints

ROWS = 100_000  # rows of a batch, about
WORTH_SPLITTING = 500  # lines: fewer are sooner looked at one by one
CODED = ("p", "datatype", "lang", "g")
SPOOL = pa.schema(
    [("s", pa.large_utf8()), ("o", pa.large_utf8()), ("kind", pa.uint8())]
    + [(name, pa.int32()) for name in CODED]
)
NAMES = ("spool.arrow", "offsets.npy", "vocabulary.json")


class Codes(dict[str, int]):
    """Numbers for values in order of appearance; "" is 0."""

    def __init__(self) -> None:
        super().__init__({"": 0})

    def __missing__(self, value: str) -> int:
        number = self[value] = len(self)
        return number

    def of(self, values: pl.Series) -> Ints:
        """The numbers of a column of few distinct values, int32."""
        encoded = values.to_arrow().dictionary_encode()
        numbers = np.array([self[value] for value in encoded.dictionary.to_pylist()], np.int32)
        return numbers[encoded.indices.to_numpy()] if len(numbers) else numbers


class SpoolWriter:
    """Takes triples and writes them batch by batch, one while the next is taken; memory is bounded by two batches."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self.rows = 0
        self._folder = folder
        self._tally = tally
        self._codes = {name: Codes() for name in CODED}
        self._offsets: list[npt.NDArray[np.int64]] = []
        self._waiting: list[pl.DataFrame] = []
        self._writer = pa.ipc.new_file(str(folder / NAMES[0]), SPOOL)
        self._beside = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def add(self, quads: Iterable[ox.Quad]) -> list[ox.Quad]:
        """Take the quads, but hand back those with blank nodes; the few that cannot be held are counted."""
        return self.add_lines(canonical_lines(quads))

    def add_lines(self, lines: bytes, columns: pl.DataFrame | None = None) -> list[ox.Quad]:
        """`add` for canonical N-Quads, and for ``columns`` (schema COLUMNS) that stand before them."""
        apart: list[ox.Quad] = []
        if columns is not None and len(columns):
            self._waiting.append(columns)
        if lines:
            few = lines.count(b"\n") < WORTH_SPLITTING
            plain, others = (NO_COLUMNS, lines) if few else split_lines(lines)
            held, apart = self._looked_at(ox.parse(others, format=ox.RdfFormat.N_QUADS))
            self._waiting += [plain, held]
        if sum(map(len, self._waiting)) >= ROWS:
            self._flush()
        return apart

    def _looked_at(self, quads: Iterable[ox.Quad]) -> tuple[pl.DataFrame, list[ox.Quad]]:
        """Quads one by one: as columns those without blank nodes, and those with."""
        rows, apart = [], []
        for quad in quads:
            s, p, o, g = quad
            if not isinstance(s, ox.NamedNode) or not isinstance(o, ox.NamedNode | ox.Literal):
                apart.append(quad)
                continue
            graph = g.value if isinstance(g, ox.NamedNode) else ""
            # a graph named by a blank node cannot be named outside its file: its triples join the default graph
            self._tally.anonymous += isinstance(g, ox.BlankNode)
            if isinstance(o, ox.NamedNode):
                rows.append((s.value, p.value, o.value, IRI, "", "", graph))
            else:
                datatype = "" if o.language or o.datatype.value == XSD_STRING else o.datatype.value
                rows.append((s.value, p.value, o.value, LITERAL, datatype, o.language or "", graph))
        frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
        return frame, [blank for quad in apart if (blank := self._blank(quad))]

    def close(self) -> None:
        """Write what is left, and the vocabularies."""
        self._flush()
        self._written()
        self._beside.shutdown()
        self._writer.close()
        offsets = np.array(self._offsets, np.int64).reshape(-1, BUCKETS + 1)
        np.save(self._folder / NAMES[1], offsets)
        vocabulary = {name: list(self._codes[name]) for name in CODED}
        write_text(self._folder / NAMES[2], canonical_json(vocabulary))

    @property
    def graphs(self) -> int:
        """Distinct named graphs so far."""
        return len(self._codes["g"]) - 1

    def _flush(self) -> None:
        if not self._waiting:
            return
        frame = pl.concat(self._waiting)
        self._waiting.clear()
        self.rows += len(frame)
        self._written()
        self._writing = self._beside.submit(self._write, frame)

    def _written(self) -> None:
        """Wait for the batch that is being written; raises what writing it raised."""
        if self._writing is not None:
            self._writing.result()

    def _write(self, frame: pl.DataFrame) -> None:
        subjects = frame["s"].to_arrow().dictionary_encode()
        subject = subjects.indices.to_numpy()
        buckets = buckets_of_all(subjects.dictionary)[subject]
        order = np.argsort(buckets, kind="stable")
        counts = np.bincount(buckets, minlength=BUCKETS)
        self._offsets.append(np.concatenate([[0], np.cumsum(counts)]))
        columns = {
            "s": subjects.dictionary.take(pa.array(subject[order])),
            "o": frame["o"].to_arrow().take(pa.array(order)),
            "kind": pa.array(frame["kind"].to_numpy()[order]),
        } | {name: pa.array(self._codes[name].of(frame[name])[order]) for name in CODED}
        self._writer.write_batch(
            pa.RecordBatch.from_arrays([columns[name] for name in SPOOL.names], schema=SPOOL)
        )

    def _blank(self, quad: ox.Quad) -> ox.Quad | None:
        if isinstance(quad.subject, ox.Triple) or isinstance(quad.object, ox.Triple):
            self._tally.skipped["triple about a triple (RDF 1.2)"] += 1
            return None
        if isinstance(quad.graph_name, ox.BlankNode):
            self._tally.anonymous += 1
            return ox.Quad(quad.subject, quad.predicate, quad.object)
        return quad


def read_buckets(folder: Path, buckets: range) -> pl.DataFrame:
    """The triples of consecutive buckets with columns of schema TRIPLES as strings; unsorted, with repetitions.

    Raises BuildError when the folder holds no finished spool.
    """
    frame, vocabulary = read_coded(folder, buckets)
    return frame.with_columns(vocabulary[name].gather(frame.get_column(name)) for name in CODED)


def read_coded(folder: Path, buckets: range) -> tuple[pl.DataFrame, dict[str, pl.Series]]:
    """As ``read_buckets``, the columns CODED as numbers, and the words that these are numbers of."""
    try:
        vocabulary = json.loads((folder / NAMES[2]).read_text(encoding="utf-8"))
        offsets = np.load(folder / NAMES[1])
    except (OSError, ValueError) as error:
        raise BuildError(
            f"{folder} holds no finished discovery ({error}).", "Run the build again."
        ) from error
    path = folder / NAMES[0]
    batches = _batches(path, path.stat().st_mtime_ns)
    slices = [
        batch.slice(start, stop - start)
        for batch, (start, stop) in zip(
            batches, offsets[:, [buckets.start, buckets.stop]].tolist(), strict=True
        )
        if stop > start
    ]
    # copied out of the mapping first: polars would look at whole buffers, not at slices of them
    frame = pl.DataFrame(pa.Table.from_batches(slices, schema=SPOOL).combine_chunks())
    return frame, {name: pl.Series(name, vocabulary[name], pl.String) for name in CODED}


@lru_cache(maxsize=1)
def _batches(path: Path, stamp: int) -> list[pa.RecordBatch]:
    """The batches of a spool, mapped, kept from bucket to bucket; ``stamp``: when the file was written."""
    reader = pa.ipc.open_file(pa.memory_map(str(path)))
    return [reader.get_batch(number) for number in range(reader.num_record_batches)]
