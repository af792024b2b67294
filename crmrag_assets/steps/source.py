"""Steps of the group ``source``: discovery, of a whole source or of a sample of it, the triples of each chunk, and the report
that adds them up (see ``harvest``)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import polars as pl

from crmrag_assets.build.context import base_of
from crmrag_assets.build.step import (
    BuildContext,
    Inputs,
    Progress,
    Stats,
    Step,
    asking_servers,
    bits_of,
    buckets_of,
    chunk_bits,
    chunk_keys,
    chunks_of,
    dataset_lock,
    run_step,
    server_turns,
)
from crmrag_assets.build.store import data_version
from crmrag_assets.documents.satellites import Csr, csr_from_pairs
from crmrag_assets.harvest.prefetch import Account, ChunkReport, as_dict, prefetch_chunk, write_prefetch
from crmrag_assets.harvest.report import HARVEST_JSON, HARVEST_MARKDOWN, Gathered, traffic_stats
from crmrag_assets.harvest.source import (
    DISCOVERY,
    FAN_IN,
    Connected,
    Counted,
    Discovery,
    Fetched,
    Source,
    without_schema,
)
from crmrag_assets.harvest.triples import IRI, distinct_sorted
from crmrag_assets.release.report import harvest_markdown
from crmrag_assets.sources import source_for
from crmrag_assets.steps.pages import PAGE_EXTRACTIONS, PAGE_IMAGES, make_all
from crmrag_query.artifacts.manifest import bucket_of, canonical_json, sha256_file
from crmrag_query.config.datasets import DatasetConfig
from crmrag_query.config.loading import Method, config_hash
from crmrag_query.documents.pages import IMAGES, READINGS
from crmrag_query.errors import BuildError, SourceError
from crmrag_query.syntax import RDF_TYPE

FILE = "sample.parquet"


class Web(Protocol):
    """Entities by number, in the order of their IRIs, and what is beside them."""

    @property
    def iris(self) -> Sequence[str]:
        """IRIs by number, sorted."""

    def neighbours(self, nodes: Sequence[int]) -> list[list[int]]:
        """Of each node what it points at, then the first FAN_IN that point at it, each in the order of IRIs."""


@dataclass(frozen=True)
class Links:
    """Edges between entities as numbers; ``iris`` by number; where each leads to, and what leads to it, in order of IRIs."""

    iris: list[str]
    out: Csr
    into: Csr

    def neighbours(self, nodes: Sequence[int]) -> list[list[int]]:
        return [[*self.out.of(node).tolist(), *self.into.of(node)[:FAN_IN].tolist()] for node in nodes]


def make_links(edges: Iterable[pl.DataFrame]) -> Links:
    """Links over frames with columns s (every entity at least once) and o ("" for none); IRIs are numbered in order."""
    frame = pl.concat(edges)
    iris = frame.get_column("s").unique().sort()
    numbered = frame.filter(pl.col("o").is_in(iris.implode()) & (pl.col("s") != pl.col("o")))
    source, target = (
        iris.search_sorted(numbered.get_column(end)).to_numpy().astype(np.int64) for end in ("s", "o")
    )
    out, into = (csr_from_pairs(*ends, len(iris)) for ends in ((source, target), (target, source)))
    return Links(iris.to_list(), out, into)


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
            others = (other for other in seeds[place:] if other not in chosen)
            web.neighbours(list(islice(others, min(together, size - len(chosen)))))
        together *= 2
        level = [seed]
        while level := level[: size - len(chosen)]:
            chosen.update(level)
            beside = web.neighbours(level) if len(chosen) < size else []
            level = list(dict.fromkeys(near for row in beside for near in row if near not in chosen))
    return [web.iris[node] for node in sorted(chosen)]


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

    def recount(self, folder: Path) -> Counted | None:
        return None

    def _asked(self, base: Connected, progress: Progress) -> tuple[list[str], Fetched]:
        chosen = self._chosen(AskedWeb(base, self.discovered, progress))
        fetched = base.triples_of(self.discovered, chosen)
        return chosen, replace(fetched, frame=without_schema(fetched.frame, self.method.discovery).frame)

    def _read(self, bits: int, progress: Progress) -> tuple[list[str], Fetched]:
        chunks = chunk_keys(bits)
        edges, parts, gathered = [], [], Gathered()
        for number, chunk in enumerate(chunks):
            frame = self._chunk(chunk, bits).frame
            edges.append(frame.select(pl.col("s").unique()).with_columns(o=pl.lit("")))
            linked = (pl.col("kind") == IRI) & (pl.col("p") != RDF_TYPE)
            edges.append(frame.filter(linked).select("s", "o").unique())
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


SHOWN = 10


def source_of(context: BuildContext) -> Source:
    """Where the data set's triples come from; for a sample, its base's discovery."""
    base = base_of(context)
    source = source_for(
        context.config,
        method=context.method,
        work=base.store.root,
        refreshed=context.refreshed,
        turns=server_turns(context),
        made={
            name: [base.folder(name, chunk) for chunk in base.store.chunks(name)]
            for name in (IMAGES, READINGS)
        },
    )
    if context.sample is None:
        return source
    return SampleSource(source, base.folder("entities"), context.sample, context.method)


def entities_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    if context.sample is None:  # also where the entities alone are asked for
        make_all(PAGE_IMAGES, context)
    return _inputs(context, source_of(context).fingerprint())


def is_source(context: BuildContext, fingerprint: str) -> bool:
    """Whether the entities that were found are those of a source with this fingerprint; BuildError before discovery."""
    version = data_version(ENTITIES.artifact, ENTITIES.writer, _inputs(context, fingerprint))
    return context.finished(ENTITIES.artifact).version == version


def _inputs(context: BuildContext, fingerprint: str) -> dict[str, str]:
    method = context.method
    # With what stood in these parts once: without it, what was harvested before would be asked for again.
    return {
        "source": fingerprint,
        "discovery": config_hash(method.discovery),
        "chunks": config_hash({"entities": method.chunks.entities, "max_bits": 8}),
        "harvest": config_hash({"edge_rows": 500000, "broken_lines_shown": 10}),
    }


def write_entities(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Discovery: one pass over the source counts its entities, which decides on the number of chunks.

    Broken lines are skipped, counted and shown; a source without CIDOC-CRM ends the build with a message. Read by
    `prefetch`, which takes what was found apart by chunks.
    """
    if context.sample is not None:
        base = base_of(context)
        with dataset_lock(base.store.root, base.name):
            make_all(PAGE_IMAGES, base)
            make_all(PAGE_EXTRACTIONS, base)
            run_step(ENTITIES, base)
    with asking_servers(context):
        found = source_of(context).discover(folder, context.progress)
    found.save(folder)
    report = found.report
    broken = [{"place": f"{b.file}, line {b.line}", "reason": b.reason} for b in report.broken[:SHOWN]]
    files = [{"file": file.file, "format": file.format, "triples": file.triples} for file in report.files]
    stats: Stats = {"entities": found.entities, "triples": found.triples, "chunks": 1 << found.bits}
    samples = {"files_read": files, "first_broken": broken} if report.files else {}
    return stats | {"broken_lines": report.broken_count, "samples": samples} | traffic_stats(found.gathered)


def prefetch_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {
        "entities": context.finished("entities").version,
        "discovery": config_hash(context.method.discovery),
        "bits": str(bits_of(context)),
        "chunk": chunk or "",
    }


def write_chunk(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Outgoing triples, literals and types of a chunk's entities: `triples.parquet`.

    Every triple is an outgoing triple of exactly one subject, so each is fetched once and none is missed. Read by `graph`;
    a chunk whose triples stay the same is never read again.
    """
    with asking_servers(context):
        table, report = prefetch_chunk(
            source_of(context), context.folder("entities"), chunk or "", bits_of(context), context.method
        )
    write_prefetch(table, report, folder)
    stats: Stats = {
        "fetched": report.at or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "entities": report.entities,
        "triples": report.triples,
        "excluded": report.excluded_subjects,
    }
    missing = {"missing": len(report.gathered.missing)} if report.gathered.missing else {}
    return stats | missing | traffic_stats(report.gathered)


ENTITIES = Step("entities", 3, write_entities, needs=(IMAGES, READINGS), inputs=entities_inputs, lasting=True)
PREFETCH = Step(
    "prefetch", 2, write_chunk, needs=("entities",), inputs=prefetch_inputs, chunked=True, lasting=True,
    apart=lambda context: not context.config.asks,  # a server is asked at the pace that is configured
)  # fmt: skip


def described(config: DatasetConfig) -> dict[str, Any]:
    """Where a data set says that its triples are: no secret is among it, and no query string, which may hold one."""
    if len(config.sources) == 1:
        return config.sources[0].config.stated()
    told = [{"kind": one.kind, "graph": one.graph, **one.config.stated()} for one in config.sources]
    return {"declared": [one.config.described() for one in config.sources], "sources": told}


def harvest_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    """Versions and contents: a discovery or a chunk that was made from something else, or came out otherwise. Of readings the
    version alone: one that lacks something is another each time, and told of each time."""
    discovered = sha256_file(context.folder("entities") / DISCOVERY)
    found = {"entities": f"{context.finished('entities').version} {discovered}"}
    for key in chunks_of(context):
        record = context.finished("prefetch", key)
        found[f"prefetch/{key}"] = f"{record.version} {record.content}"
    for key in context.store.chunks(READINGS):
        found[f"{READINGS}/{key}"] = context.finished(READINGS, key).version
    return found | {"title": context.config.title, "source": config_hash(described(context.config))}


def write_harvest_report(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Whether all of the source was harvested: what is missing, whether it changed meanwhile, what reading it cost.

    Adds up discovery and all chunks, and asks the source once more what it holds. Its JSON goes into the release's
    provenance, never into what the manifest pins: the same data gives the same release wherever it was read from. Its
    Markdown is for whoever doubts that the data is complete.
    """
    chunks = [
        ChunkReport.read(context.folder("prefetch", key), context.finished("prefetch", key).stats)
        for key in chunks_of(context)
    ]
    after = None
    # that it does not answer any more is no reason to lose a harvest: it is reported
    with suppress(SourceError):
        after = source_of(context).recount(context.folder("entities"))
    countable = context.config.asks and context.sample is None
    account = Account(Discovery.load(context.folder("entities")), chunks, after=after, countable=countable)
    named = {"dataset": context.name, "title": context.config.title, "source": described(context.config)}
    values = named | as_dict(account)
    (folder / HARVEST_JSON).write_text(canonical_json(values), encoding="utf-8")
    (folder / HARVEST_MARKDOWN).write_text(harvest_markdown(values), encoding="utf-8")
    counts = {name: values[name] for name in ("entities", "triples", "excluded_subjects", "excluded_triples")}
    return counts | {
        "missing": len(account.gathered.missing),
        "broken_lines": account.discovery.report.broken_count,
        "concerns": len(values["concerns"]),
        "whole": values["whole"],
        **traffic_stats(account.gathered),
    }


HARVEST_REPORT = Step(
    "harvest_report", 1, write_harvest_report, needs=(READINGS, "entities", "prefetch"), inputs=harvest_inputs
)
STEPS = (ENTITIES, PREFETCH, HARVEST_REPORT)
