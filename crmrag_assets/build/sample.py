"""A connected sample of a source: breadth-first from seeded entities, with every triple of the entities chosen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.build.progress import Progress
from crmrag_assets.harvest.chunks import buckets_of, chunk_bits, chunk_keys
from crmrag_assets.harvest.entities import without_schema
from crmrag_assets.harvest.traffic import Gathered
from crmrag_assets.harvest.triples import IRI, RDF_TYPE, distinct_sorted
from crmrag_assets.sources.base import FAN_IN, Connected, Counted, Discovery, Fetched, Source
from crmrag_query.artifacts.chunks import bucket_of
from crmrag_query.config import Method
from crmrag_query.errors import BuildError

FILE = "sample.parquet"

Ints = npt.NDArray[np.int64]


class Web(Protocol):
    """Entities by number, in the order of their IRIs, and what is beside them."""

    @property
    def iris(self) -> Sequence[str]:
        """IRIs by number, sorted."""

    def neighbours(self, nodes: Sequence[int]) -> list[list[int]]:
        """Of each node what it points at, then the first FAN_IN that point at it, each in the order of IRIs."""


@dataclass(frozen=True)
class Links:
    """Edges between entities as numbers; ``iris`` by number; ``out_*`` and ``in_*`` compressed rows, neighbours sorted by
    IRI."""

    iris: list[str]
    out_ptr: Ints
    out_val: Ints
    in_ptr: Ints
    in_val: Ints

    def neighbours(self, nodes: Sequence[int]) -> list[list[int]]:
        return [[*self._out(node), *self._in(node)[:FAN_IN]] for node in nodes]

    def _out(self, node: int) -> list[int]:
        return list(self.out_val[self.out_ptr[node] : self.out_ptr[node + 1]].tolist())

    def _in(self, node: int) -> list[int]:
        return list(self.in_val[self.in_ptr[node] : self.in_ptr[node + 1]].tolist())


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


class AskedWeb:
    """The web of a source that is asked for neighbours when they are needed, once for each entity."""

    def __init__(self, source: Connected, folder: Path, progress: Progress) -> None:
        self.iris = sorted(source.entity_iris(folder))
        self._number = {iri: number for number, iri in enumerate(self.iris)}
        self._known: dict[int, list[int]] = {}
        self._source, self._folder, self._progress = source, folder, progress

    def neighbours(self, nodes: Sequence[int]) -> list[list[int]]:
        if wanted := [node for node in nodes if node not in self._known]:
            found = self._source.neighbours(self._folder, [self.iris[node] for node in wanted])
            for node in wanted:
                near = (self._number.get(iri) for iri in found.get(self.iris[node], ()))
                self._known[node] = [number for number in near if number is not None]
            self._progress.advance(len(self._known), None, "following links")
        return [self._known[node] for node in nodes]


def by_hash(iris: Sequence[str]) -> list[int]:
    """Numbers of the IRIs in the order of their hashes: a random order that is always the same."""
    return sorted(range(len(iris)), key=lambda n: hashlib.sha256(iris[n].encode()).digest())


def choose_around(web: Web, size: int, hops: int) -> list[str]:
    """IRIs of the ``size`` entities that hash lowest (an even sample) and of all within ``hops`` of them, sorted."""
    reached = set(by_hash(web.iris)[:size])
    edge = sorted(reached)
    for _ in range(hops):
        found = {near for beside in web.neighbours(edge) for near in beside} - reached
        reached |= found
        edge = sorted(found)
    return [web.iris[node] for node in sorted(reached)]


def choose(web: Web, size: int) -> list[str]:
    """IRIs of ``size`` entities (all when there are fewer), sorted; the same for the same graph.

    Breadth-first from the entity whose IRI hashes lowest, a level at a time; where a component ends, from the next such
    entity. With every component that ends twice as many of the next seeds are asked for together, so that a web of many
    small components costs few requests.
    """
    chosen: set[int] = set()
    seeds, together = by_hash(web.iris), 1
    for place, seed in enumerate(seeds):
        if len(chosen) >= size:
            break
        if seed in chosen:
            continue
        if together > 1:
            web.neighbours(list(islice(_others(seeds, place, chosen), min(together, size - len(chosen)))))
        together *= 2
        level = [seed]
        while level := level[: size - len(chosen)]:
            chosen.update(level)
            beside = web.neighbours(level) if len(chosen) < size else []
            level = list(dict.fromkeys(near for row in beside for near in row if near not in chosen))
    return [web.iris[node] for node in sorted(chosen)]


def _others(seeds: Sequence[int], first: int, chosen: set[int]) -> Iterator[int]:
    return (seeds[place] for place in range(first, len(seeds)) if seeds[place] not in chosen)


@dataclass(frozen=True)
class SampleSource:
    """The triples of a sample of ``base``, whose discovery lies in ``discovered``.

    ``hops`` 0: ``size`` connected entities; else ``size`` scattered ones and what is that near to them. A base that is
    `Connected` is asked for what the sample needs; any other is read whole, twice, chunk by chunk.
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
        if isinstance(self.base, Connected):
            chosen, fetched = self._asked(self.base, progress)
        else:
            chosen, fetched = self._read(found.bits, progress)
        sample = distinct_sorted(fetched.frame)
        sample.write_parquet(folder / FILE)
        bits = chunk_bits(len(chosen), self.method.chunks.entities)
        return replace(
            found,
            entities=len(chosen),
            triples=len(sample),
            bits=bits,
            gathered=found.gathered + fetched.gathered,
            counted=None,  # what the whole source counts says nothing of a sample
        )

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        sample = pl.read_parquet(folder / FILE)
        subjects = sample.get_column("s").unique().to_list()
        wanted = [subject for subject in subjects if bucket_of(subject) in buckets]
        return Fetched(sample.filter(pl.col("s").is_in(wanted)))

    def recount(self) -> Counted | None:
        return None

    def _asked(self, base: Connected, progress: Progress) -> tuple[list[str], Fetched]:
        chosen = self._chosen(AskedWeb(base, self.discovered, progress))
        fetched = base.triples_of(self.discovered, chosen)
        return chosen, replace(fetched, frame=without_schema(fetched.frame, self.method.discovery).frame)

    def _read(self, bits: int, progress: Progress) -> tuple[list[str], Fetched]:
        chunks = chunk_keys(bits)
        edges, parts, gathered = [], [], Gathered()
        for number, chunk in enumerate(chunks):
            edges.append(_edges(self._chunk(chunk, bits).frame))
            progress.advance(number + 1, 2 * len(chunks), "reading the graph")
        chosen = self._chosen(make_links(edges))
        wanted = pl.Series("s", chosen, pl.String)
        for number, chunk in enumerate(chunks):
            fetched = self._chunk(chunk, bits)
            parts.append(fetched.frame.filter(pl.col("s").is_in(wanted.implode())))
            gathered += fetched.gathered
            progress.advance(len(chunks) + number + 1, 2 * len(chunks), "taking the sample")
        return chosen, Fetched(pl.concat(parts), gathered)

    def _chosen(self, web: Web) -> list[str]:
        chosen = choose_around(web, self.size, self.hops) if self.hops else choose(web, self.size)
        if not chosen:
            raise BuildError("There is nothing to sample: the source holds no entity.", "Check its files.")
        return chosen

    def _chunk(self, chunk: str, bits: int) -> Fetched:
        fetched = self.base.fetch(self.discovered, buckets_of(chunk, bits))
        frame = without_schema(distinct_sorted(fetched.frame), self.method.discovery).frame
        return Fetched(frame, fetched.gathered)


def _edges(frame: pl.DataFrame) -> pl.DataFrame:
    """Every entity once with no object, and its links to other IRIs."""
    linked = frame.filter((pl.col("kind") == IRI) & (pl.col("p") != RDF_TYPE)).select("s", "o").unique()
    alone = frame.select(pl.col("s").unique()).with_columns(o=pl.lit(""))
    return pl.concat([alone, linked])
