"""Several sources as one: their triples join, and the graph of each tells which source it is from."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, reduce
from operator import add
from pathlib import Path

import polars as pl
from pydantic import TypeAdapter

from crmrag_assets.build.step import Progress, all_buckets, chunk_bits
from crmrag_assets.harvest.report import (
    FAULTS_KEPT,
    REPEATED,
    Gathered,
    HarvestReport,
    PartRead,
    Traffic,
    gathered_as_dict,
)
from crmrag_assets.harvest.source import (
    DISCOVERY,
    FAN_IN,
    Connected,
    Counted,
    Discovery,
    Fetched,
    Foreseen,
    Source,
    without_schema,
)
from crmrag_assets.harvest.triples import COLUMNS, IRI, NO_COLUMNS, distinct_sorted
from crmrag_query.artifacts.manifest import bucket_of, canonical_json, write_text
from crmrag_query.config.loading import Method, config_hash
from crmrag_query.config.sources import SourceEntry
from crmrag_query.syntax import RDF_TYPE

ROWS = 200_000  # triples that are looked at together, about
HARVEST = re.compile("[0-9a-f]{16}")  # what folders are called that keep what a harvest gave
WRITER = 1  # raised when what is kept of a source that is asked would be read otherwise


@dataclass(frozen=True)
class Part:
    """One of several sources: what is declared of it, and itself.

    ``work``: where one that is asked keeps what it gave: discovered and fetched once, until it is asked again, whatever
    becomes of the sources beside it.
    """

    entry: SourceEntry
    source: Source
    work: Path
    method: Method

    @property
    def graph(self) -> str:
        return self.entry.graph

    @cached_property
    def _kept(self) -> Path | None:
        """The folder of what this harvest gave, where it is kept."""
        if not self.entry.config.refreshable:
            return None
        told = f"{self.source.fingerprint()} {config_hash(self.method.discovery)} {WRITER}"
        return self.work / hashlib.sha256(told.encode()).hexdigest()[:16]

    def home(self, folder: Path) -> Path:
        """The folder that its discovery filled, where that of all is ``folder``."""
        return folder / self.entry.identity if self._kept is None else self._kept / "entities"

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        home = self.home(folder)
        if self._kept is not None and (home / DISCOVERY).exists():
            return Discovery.load(home)
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(parents=True)
        found = self.source.discover(home, progress)
        found.save(home)
        for other in self.work.iterdir() if self._kept is not None else ():
            if other.is_dir() and HARVEST.fullmatch(other.name) and other != self._kept:
                shutil.rmtree(other)  # of a harvest before it was asked again
        return found

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        """Its triples, all in a named graph."""
        kept = None if self._kept is None else _Kept(self._kept)
        found = kept.read(buckets) if kept else None
        if found is None:
            fresh = self.source.fetch(self.home(folder), buckets)
            found = kept.write(buckets, fresh) if kept else fresh
        return replace(found, frame=self.named(found.frame))

    def named(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Triples with the graph of this source where they have none."""
        graph = pl.when(pl.col("g") == "").then(pl.lit(self.graph)).otherwise(pl.col("g")).alias("g")
        return frame.select(*COLUMNS).with_columns(graph).cast(dict(COLUMNS))


@dataclass(frozen=True)
class _Kept:
    """What was fetched of a source that is asked, by ranges of buckets: chunks may become more or fewer, and each is then a
    part of one before, or made of some."""

    folder: Path

    def write(self, buckets: range, found: Fetched) -> Fetched:
        at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        frame = found.frame.select(*COLUMNS)
        draft = self._file(buckets).with_suffix(".new")
        frame.write_parquet(draft, compression="zstd")
        told = canonical_json({"at": at, **gathered_as_dict(found.gathered)})
        write_text(self._file(buckets).with_suffix(".json"), told)
        for one in self._held():
            if buckets.start <= one.start and one.stop <= buckets.stop:
                self._file(one).unlink()
        draft.replace(self._file(buckets))
        return replace(found, frame=frame, at=at)

    def read(self, buckets: range) -> Fetched | None:
        """What was fetched of these buckets; None where any of them was not."""
        held = self._held()
        covering = next(
            ([one] for one in held if one.start <= buckets.start and buckets.stop <= one.stop), None
        )
        chosen = covering or [one for one in held if buckets.start <= one.start and one.stop <= buckets.stop]
        if {bucket for one in chosen for bucket in one} < set(buckets):
            return None
        parts = []
        for one in chosen:
            raw = json.loads(self._file(one).with_suffix(".json").read_bytes())
            gathered = TypeAdapter(Gathered).validate_python(raw)
            parts.append(Fetched(pl.read_parquet(self._file(one)), gathered, raw["at"]))
        frame = pl.concat([part.frame for part in parts])
        if covering:
            subjects = frame.get_column("s").unique()
            wanted = [subject for subject in subjects if bucket_of(subject) in buckets]
            frame = frame.filter(pl.col("s").is_in(wanted))
        gathered = reduce(add, (part.gathered for part in parts))
        return Fetched(frame, gathered, min(part.at for part in parts))

    def _held(self) -> list[range]:
        files = sorted(self.folder.glob("???-???.parquet"))
        return [range(*map(int, path.stem.split("-"))) for path in files]

    def _file(self, buckets: range) -> Path:
        return self.folder / f"{buckets.start:03}-{buckets.stop:03}.parquet"


@dataclass(frozen=True)
class Several:
    """Several sources as one. Those that are asked are discovered and fetched in folders of their own, the others below
    that of the whole."""

    parts: tuple[Part, ...]
    method: Method

    def fingerprint(self) -> str:
        """The same in whatever order the sources are declared."""
        lines = sorted(f"{part.graph} {part.source.fingerprint()}" for part in self.parts)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def fingerprints(self) -> dict[str, str]:
        """The fingerprint of each source, by its identity."""
        return {part.entry.identity: part.source.fingerprint() for part in self.parts}

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        found = [part.discover(folder, progress) for part in self.parts]
        entities, triples = self._survey(folder, found)
        report = _joined([one.report for one in found])
        report = replace(
            report,
            parts=tuple(
                PartRead(
                    part.entry.kind, part.entry.config.described(), part.graph, one.entities, one.triples
                )
                for part, one in zip(self.parts, found, strict=True)
            ),
            entities=entities,
            triples=triples,
        )
        return Discovery(
            entities,
            triples,
            chunk_bits(entities, self.method.chunks.entities),
            report,
            reduce(add, (one.gathered for one in found)),
            _counted(found, [one.counted for one in found]),
        )

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        fetched = [part.fetch(folder, buckets) for part in self.parts]
        frames = [distinct_sorted(one.frame) for one in fetched]
        frame = pl.concat(frames)
        gathered = reduce(add, (one.gathered for one in fetched))
        if repeated := len(frame) - len(frame.unique()):
            gathered += Gathered(notes=Counter({REPEATED: repeated}))
        return Fetched(frame, gathered, min((one.at for one in fetched if one.at), default=""))

    def recount(self, folder: Path) -> Counted | None:
        """What those that count do now, with what was read of the others; None where none counts."""
        homes = [part.home(folder) for part in self.parts]
        now = [part.source.recount(home) for part, home in zip(self.parts, homes, strict=True)]
        return _counted(list(map(Discovery.load, homes)), now)

    def forecast(self, found: Discovery, folder: Path, sample: Traffic) -> tuple[int, float]:
        """Of all that are asked, one after another."""
        asked = [
            part.source.forecast(Discovery.load(part.home(folder)), part.home(folder), sample)
            for part in self.parts
            if isinstance(part.source, Foreseen)
        ]
        return sum(requests for requests, _ in asked), sum(seconds for _, seconds in asked)

    def _survey(self, folder: Path, found: Sequence[Discovery]) -> tuple[int, int]:
        """How many distinct entities and triples. What is read is counted exactly; of what is asked the entities, and the
        triples as the source counts them."""
        read, listed = list[Part](), defaultdict[int, list[str]](list)
        entities = triples = 0
        for part, one in zip(self.parts, found, strict=True):
            if not isinstance(part.source, Connected):
                read.append(part)
                continue
            triples += one.triples
            for iri in part.source.entity_iris(part.home(folder)):
                listed[bucket_of(iri)].append(iri)
        rows = sum(one.report.triples_read for one in found)
        for buckets in all_buckets(rows, ROWS):
            frames = [part.fetch(folder, buckets).frame for part in read]
            frame = distinct_sorted(pl.concat(frames)) if frames else NO_COLUMNS
            kept = without_schema(frame, self.method.discovery).frame
            triples += len(kept)
            asked = pl.Series("s", [iri for bucket in buckets for iri in listed[bucket]], pl.String)
            entities += pl.concat([kept.get_column("s").unique(), asked.unique()]).n_unique()
        return entities, triples


@dataclass(frozen=True)
class SeveralAsked(Several):
    """Several sources of which at least one can be asked for parts: so can all, since what is read lies on disk."""

    def entity_iris(self, folder: Path) -> list[str]:
        found = [pl.Series("s", source.entity_iris(part.home(folder))) for part, source in self._connected]
        for frame in self._read(folder):
            found.append(frame.get_column("s").unique())
        return pl.concat(found).unique().to_list()

    def neighbours(self, folder: Path, iris: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Source by source, in the order of `Connected` within each."""
        found = {iri: list[str]() for iri in iris}
        for part, source in self._connected:
            for iri, near in source.neighbours(part.home(folder), iris).items():
                found[iri] += near
        into, wanted = defaultdict[str, set[str]](set), list(iris)
        for frame in self._read(folder):
            links = frame.filter(
                (pl.col("kind") == IRI) & (pl.col("p") != RDF_TYPE) & (pl.col("s") != pl.col("o"))
            )
            own = links.filter(pl.col("s").is_in(wanted)).select("s", "o").unique().sort("s", "o")
            for s, o in own.iter_rows():
                found[s].append(o)
            for s, o in links.filter(pl.col("o").is_in(wanted)).select("s", "o").iter_rows():
                into[o].add(s)
        return {iri: list(dict.fromkeys([*near, *sorted(into[iri])[:FAN_IN]])) for iri, near in found.items()}

    def triples_of(self, folder: Path, iris: Sequence[str]) -> Fetched:
        asked = [source.triples_of(part.home(folder), iris) for part, source in self._connected]
        frames = [part.named(one.frame) for (part, _), one in zip(self._connected, asked, strict=True)]
        wanted = list(iris)
        frames += [frame.filter(pl.col("s").is_in(wanted)) for frame in self._read(folder)]
        return Fetched(pl.concat(frames), reduce(add, (one.gathered for one in asked)))

    @property
    def _connected(self) -> list[tuple[Part, Connected]]:
        return [(part, part.source) for part in self.parts if isinstance(part.source, Connected)]

    def _read(self, folder: Path) -> Iterator[pl.DataFrame]:
        """The triples of entities of the sources that are not asked, some at a time."""
        for part in self.parts:
            if isinstance(part.source, Connected):
                continue
            for buckets in all_buckets(Discovery.load(part.home(folder)).report.triples_read, ROWS):
                frame = part.fetch(folder, buckets).frame
                yield without_schema(frame, self.method.discovery).frame


def several(parts: Sequence[Part], method: Method) -> Several:
    """The sources as one, which can be asked for parts where any of them can."""
    asked = any(isinstance(part.source, Connected) for part in parts)
    return (SeveralAsked if asked else Several)(tuple(parts), method)


def _counted(found: Sequence[Discovery], counts: Sequence[Counted | None]) -> Counted | None:
    """The triples of all sources, as each counts its own; of one that does not, what it counted at discovery, or of one that
    is read whole, what was read. None where none counts."""
    if not any(counts):
        return None
    known = [
        count or one.counted or Counted(one.triples + one.report.excluded_triples)
        for one, count in zip(found, counts, strict=True)
    ]
    triples = [one.triples for one in known if one.triples is not None]
    return Counted(sum(triples) if len(triples) == len(known) else None)


def _joined(reports: Sequence[HarvestReport]) -> HarvestReport:
    """Reports added up; of the broken lines the first of each come first."""
    sums = {
        name: sum(getattr(one, name) for one in reports)
        for name in (
            "triples_read", "excluded_subjects", "excluded_triples", "graphs", "broken_count", "repaired",
            "anonymous", "blank_nodes", "blank_components", "blank_merged", "blank_unproven",
        )
    }  # fmt: skip
    return HarvestReport(
        files=tuple(file for one in reports for file in one.files),
        broken=tuple(fault for one in reports for fault in one.broken)[:FAULTS_KEPT],
        skipped=dict(sorted(sum((Counter(one.skipped) for one in reports), Counter()).items())),
        **sums,
    )
