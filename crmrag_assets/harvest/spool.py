"""Triples on disk between reading and chunking: batches sorted by bucket, so that a chunk is a slice of each.

`spool.arrow` (Arrow IPC file, uncompressed, memory-mapped): subject, object, kind, and numbers into vocabularies for
property, datatype, language and graph. `offsets.npy` int64 [batches, 257]: where each bucket begins in a batch.
`vocabulary.json`: column -> values.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyoxigraph as ox

from crmrag_assets.build.chunks import buckets_of_all
from crmrag_assets.harvest.report import HarvestReport, Tally
from crmrag_assets.harvest.skolem import Skolemiser
from crmrag_assets.harvest.triples import NO_COLUMNS, columns_of
from crmrag_query.artifacts.files import BUCKETS, canonical_json, write_text
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints

ROWS = 100_000  # rows of a batch, about
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
    """Takes triples and writes them batch by batch, one while the next is taken; memory is bounded by two batches.
    ``graph``: that of triples without one."""

    def __init__(self, folder: Path, tally: Tally) -> None:
        self.rows = 0
        self.longest = 0  # bytes of an object
        self.graph = ""
        self.skolemiser = Skolemiser()
        self._folder = folder
        self._tally = tally
        self._codes = {name: Codes() for name in CODED}
        self._offsets: list[npt.NDArray[np.int64]] = []
        self._waiting: list[pl.DataFrame] = []
        self._writer = pa.ipc.new_file(str(folder / NAMES[0]), SPOOL)
        self._beside = ThreadPoolExecutor(1)
        self._writing: Future[None] | None = None

    def add(self, quads: Iterable[ox.Quad], columns: pl.DataFrame = NO_COLUMNS) -> list[ox.Quad]:
        """Take quads, and triples with ``columns`` (schema COLUMNS).

        Quads with blank nodes are handed back, for `add_blank`; the few that cannot be held are counted.
        """
        frame, others, anonymous = columns_of(quads)
        self._tally.anonymous += anonymous
        apart = []
        for quad in others:
            s, p, o, g = quad
            if ox.Triple in (type(s), type(o)):
                self._tally.skipped["triple about a triple (RDF 1.2)"] += 1
                continue
            self._tally.anonymous += isinstance(g, ox.BlankNode)
            apart.append(ox.Quad(s, p, o) if isinstance(g, ox.BlankNode) else quad)
        if len(frame):
            self.longest = max(self.longest, cast(int, frame["o"].str.len_bytes().max()))
        parts = [part for part in (columns, frame) if len(part)]
        if self.graph:
            named = pl.when(pl.col("g") == "").then(pl.lit(self.graph)).otherwise(pl.col("g"))
            parts = [part.with_columns(named.cast(part.schema["g"]).alias("g")) for part in parts]
        self._waiting += parts
        if sum(map(len, self._waiting)) >= ROWS:
            self._flush()
        return apart

    def add_blank(self, quads: Sequence[ox.Quad]) -> None:
        """Take quads with blank nodes, all of one file, under names that they are given."""
        self.add(self.skolemiser.named(quads))

    def close(self) -> None:
        """Write what is left, and the vocabularies."""
        self._flush()
        self._beside.shutdown()
        if self._writing is not None:
            self._writing.result()
        self._writer.close()
        offsets = np.array(self._offsets, np.int64).reshape(-1, BUCKETS + 1)
        np.save(self._folder / NAMES[1], offsets)
        vocabulary = {name: list(self._codes[name]) for name in CODED}
        write_text(self._folder / NAMES[2], canonical_json(vocabulary))

    def report(self, **counts: Any) -> HarvestReport:
        """What was met, with further counts of the report."""
        tally, blank = self._tally, self.skolemiser
        report = HarvestReport(
            files=tuple(tally.files),
            broken=tuple(tally.broken),
            broken_count=tally.broken_count,
            skipped=dict(sorted(tally.skipped.items())),
            repaired=tally.repaired,
            anonymous=tally.anonymous,
            blank_nodes=blank.nodes,
            blank_components=blank.components,
            blank_merged=blank.merged,
            blank_unproven=blank.unproven,
        )
        return replace(report, **counts)

    @property
    def graphs(self) -> int:
        """Distinct named graphs so far."""
        return len(self._codes["g"]) - 1

    def _flush(self) -> None:
        """Write what waits, once the batch before it is written; raises what writing that raised."""
        if not self._waiting:
            return
        frame = pl.concat(self._waiting)
        self._waiting.clear()
        self.rows += len(frame)
        if self._writing is not None:
            self._writing.result()
        self._writing = self._beside.submit(self._write, frame)

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
