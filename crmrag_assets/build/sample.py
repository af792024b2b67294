"""A connected sample of a source: breadth-first from seeded entities, with every triple of the entities chosen."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.build.progress import Progress
from crmrag_assets.harvest.chunks import bucket_of, buckets_of, chunk_bits, chunk_keys
from crmrag_assets.harvest.entities import without_schema
from crmrag_assets.harvest.triples import IRI, RDF_TYPE, distinct_sorted
from crmrag_assets.sources.base import Discovery, Source
from crmrag_query.config import Method
from crmrag_query.errors import BuildError

FILE = "sample.parquet"
FAN_IN = 25  # entities taken of those that point at one: a type that all works share must not fill the sample

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Links:
    """Edges between entities as numbers; ``iris`` by number; ``out_*`` and ``in_*`` compressed rows, neighbours sorted by
    IRI."""

    iris: list[str]
    out_ptr: Ints
    out_val: Ints
    in_ptr: Ints
    in_val: Ints

    def neighbours(self, node: int) -> Iterator[int]:
        """What the entity points at, then the first few that point at it."""
        yield from self.out_val[self.out_ptr[node] : self.out_ptr[node + 1]].tolist()
        yield from self.in_val[self.in_ptr[node] : self.in_ptr[node + 1]][:FAN_IN].tolist()


def make_links(edges: Iterable[pl.DataFrame]) -> Links:
    """Links over frames with columns s (every entity at least once) and o ("" for none); IRIs are numbered in order."""
    frame = pl.concat(edges)
    iris = frame.get_column("s").unique().sort()
    numbered = frame.filter(pl.col("o").is_in(iris.implode()) & (pl.col("s") != pl.col("o")))
    source = iris.search_sorted(numbered.get_column("s")).to_numpy().astype(np.int64)
    target = iris.search_sorted(numbered.get_column("o")).to_numpy().astype(np.int64)
    return Links(iris.to_list(), *_rows(source, target, len(iris)), *_rows(target, source, len(iris)))


def _rows(first: Ints, second: Ints, size: int) -> tuple[Ints, Ints]:
    order = np.lexsort((second, first))
    return np.searchsorted(first[order], np.arange(size + 1)).astype(np.int64), second[order]


def by_hash(iris: Sequence[str]) -> list[int]:
    """Numbers of the IRIs in the order of their hashes: a random order that is always the same."""
    return sorted(range(len(iris)), key=lambda n: hashlib.sha256(iris[n].encode()).digest())


def choose_around(links: Links, size: int, hops: int) -> list[str]:
    """IRIs of the ``size`` entities that hash lowest (an even sample) and of all within ``hops`` of them, sorted."""
    reached = set(by_hash(links.iris)[:size])
    edge = sorted(reached)
    for _ in range(hops):
        found = {near for node in edge for near in links.neighbours(node)} - reached
        reached |= found
        edge = sorted(found)
    return [links.iris[node] for node in sorted(reached)]


def choose(links: Links, size: int) -> list[str]:
    """IRIs of ``size`` entities (all when there are fewer), sorted; the same for the same graph.

    Breadth-first from the entity whose IRI hashes lowest; where a component ends, from the next such entity.
    """
    chosen: set[int] = set()
    for seed in by_hash(links.iris):
        queue = deque([seed])
        while queue and len(chosen) < size:
            node = queue.popleft()
            if node not in chosen:
                chosen.add(node)
                queue.extend(n for n in links.neighbours(node) if n not in chosen)
        if len(chosen) >= size:
            break
    return [links.iris[node] for node in sorted(chosen)]


@dataclass(frozen=True)
class SampleSource:
    """The triples of a sample of ``base``, whose discovery lies in ``discovered``.

    ``hops`` 0: ``size`` connected entities; else ``size`` scattered ones and what is that near to them.
    """

    base: Source
    discovered: Path
    size: int
    method: Method
    hops: int = 0

    def fingerprint(self) -> str:
        return hashlib.sha256(
            f"{self.base.fingerprint()} sample {self.size} {self.hops} {FAN_IN}".encode()
        ).hexdigest()

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Choose the entities and write their triples to ``folder``; raises BuildError when there is no entity."""
        found = Discovery.load(self.discovered)
        chunks = chunk_keys(found.bits)
        edges = []
        for number, chunk in enumerate(chunks):
            edges.append(_edges(self._chunk(chunk, found.bits)))
            progress.advance(number + 1, 2 * len(chunks), "reading the graph")
        links = make_links(edges)
        iris = choose_around(links, self.size, self.hops) if self.hops else choose(links, self.size)
        chosen = pl.Series("s", iris, pl.String)
        if not len(chosen):
            raise BuildError("There is nothing to sample: the source holds no entity.", "Check its files.")
        parts = []
        for number, chunk in enumerate(chunks):
            parts.append(self._chunk(chunk, found.bits).filter(pl.col("s").is_in(chosen.implode())))
            progress.advance(len(chunks) + number + 1, 2 * len(chunks), "taking the sample")
        sample = distinct_sorted(pl.concat(parts))
        sample.write_parquet(folder / FILE)
        bits = chunk_bits(len(chosen), self.method.chunks.entities)
        return replace(found, entities=len(chosen), triples=len(sample), bits=bits)

    def fetch(self, folder: Path, buckets: range) -> pl.DataFrame:
        sample = pl.read_parquet(folder / FILE)
        subjects = sample.get_column("s").unique().to_list()
        wanted = [subject for subject in subjects if bucket_of(subject) in buckets]
        return sample.filter(pl.col("s").is_in(wanted))

    def _chunk(self, chunk: str, bits: int) -> pl.DataFrame:
        fetched = distinct_sorted(self.base.fetch(self.discovered, buckets_of(chunk, bits)))
        return without_schema(fetched, self.method.discovery).frame


def _edges(frame: pl.DataFrame) -> pl.DataFrame:
    """Every entity once with no object, and its links to other IRIs."""
    linked = frame.filter((pl.col("kind") == IRI) & (pl.col("p") != RDF_TYPE)).select("s", "o").unique()
    alone = frame.select(pl.col("s").unique()).with_columns(o=pl.lit(""))
    return pl.concat([alone, linked])
