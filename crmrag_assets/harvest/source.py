"""The seam between where RDF comes from and what is built from it; and which of its nodes are entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl
from pydantic import TypeAdapter

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Gathered, HarvestReport, Traffic, gathered_as_dict
from crmrag_assets.harvest.triples import COLUMNS, IRI, NO_COLUMNS, ORDER
from crmrag_query.artifacts.manifest import canonical_json, write_text
from crmrag_query.config.loading import Discovery as Exclusions
from crmrag_query.config.operations import Watching
from crmrag_query.errors import BuildError
from crmrag_query.syntax import RDF_TYPE

DISCOVERY = "discovery.json"
FAN_IN = 25  # entities taken of those that point at one: a type that all works share must not fill a sample


@dataclass(frozen=True, slots=True)
class Counted:
    """What a source itself counts: all its triples and distinct subjects; None for what it would not count.

    ``each``: whether it also counted the triples of each subject that is to be asked for.
    """

    triples: int | None = None
    subjects: int | None = None
    each: bool = False


@dataclass(frozen=True)
class Fetched:
    """Triples with columns of schema TRIPLES, in any order, repetitions allowed; and what fetching them met.

    ``at``: when the oldest of them were fetched (ISO, UTC), "" for now.
    """

    frame: pl.DataFrame
    gathered: Gathered = field(default_factory=Gathered)
    at: str = ""


@dataclass(frozen=True)
class Discovery:
    """What a source holds: distinct entities and their distinct triples, bits of a chunk's key, and how reading went.

    ``counted``: what the source itself counted before it was read; None for files, which are read whole.
    """

    entities: int
    triples: int
    bits: int
    report: HarvestReport
    gathered: Gathered = field(default_factory=Gathered)
    counted: Counted | None = None

    def save(self, folder: Path) -> None:
        values = {**asdict(self), "gathered": gathered_as_dict(self.gathered)}
        write_text(folder / DISCOVERY, canonical_json(values))

    @classmethod
    def load(cls, folder: Path) -> Discovery:
        """The discovery saved in a folder; raises BuildError when there is none."""
        try:
            return TypeAdapter(cls).validate_json((folder / DISCOVERY).read_bytes())
        except (OSError, ValueError) as error:
            raise BuildError(
                f"{folder} holds no finished discovery ({error}).", "Run the build again."
            ) from error


class Source(Protocol):
    """Where RDF comes from: files, an endpoint, and whatever else gives the triples of entities by bucket."""

    def fingerprint(self) -> str:
        """Identity of the content, as hexadecimal digits; equal content gives equal fingerprints, wherever it lies."""

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Find the entities, once; writes below ``folder`` what `fetch` needs. Raises SourceError."""

    def fetch(self, folder: Path, buckets: range) -> Fetched:
        """All triples of the subjects in these buckets."""

    def recount(self, folder: Path) -> Counted | None:
        """What the source counts now, to compare with what it counted at discovery, in ``folder``; None for files."""


@runtime_checkable
class OfFiles(Protocol):
    """A source that is read from files: a look at their sizes and times, then at their content, tells whether it changed."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files."""

    def fingerprint_of(self, checksums: Mapping[Path, str]) -> str:
        """What `fingerprint` gives for files of this SHA-256 each."""


TRIPLES = "triples"
"""The signal that counts the triples of a source: one that has far fewer than before is taken for a fault."""
ETAG, MODIFIED = "ETag", "Last-Modified"
HEADERS = frozenset({ETAG, MODIFIED})
"""Signals that some servers make up for every response: they count where they stay, and delay nothing where they do not."""


@runtime_checkable
class Observed(Protocol):
    """A source that can be asked between builds whether it has changed, without reading it."""

    def signals(self, folder: Path, limits: Watching) -> dict[str, str]:
        """What it tells of itself now, by name: values that differ when it has changed; what it does not tell is left out.

        ``folder`` is what `discover` filled. Raises SourceError where the source does not answer at all.
        """


@runtime_checkable
class Foreseen(Protocol):
    """A source whose harvest has a price in requests, which can be told beforehand."""

    def forecast(self, found: Discovery, folder: Path, sample: Traffic) -> tuple[int, float]:
        """Requests and seconds of the whole harvest, from what discovery ``found``, in ``folder``, and what asking for a
        sample took."""


@runtime_checkable
class Connected(Protocol):
    """A source that can be asked for parts, so that a connected sample of it needs no harvest of the whole.

    ``folder`` is what `discover` filled. Entities are the subjects that are left after schema terms are excluded.
    """

    def entity_iris(self, folder: Path) -> list[str]:
        """IRIs of all entities, each once, in any order."""

    def neighbours(self, folder: Path, iris: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Entities beside each of ``iris``, by any property but rdf:type, distinct, never the entity itself.

        First all that it points at, in IRI order; then of those that point at it the first FAN_IN in IRI order.
        """

    def triples_of(self, folder: Path, iris: Sequence[str]) -> Fetched:
        """All triples of these subjects."""


@dataclass(frozen=True)
class Entities:
    """The triples of entities, and what was left out because its subject is a term of a schema."""

    frame: pl.DataFrame
    entities: int
    excluded_subjects: int
    excluded_triples: int


def without_schema(frame: pl.DataFrame, exclusions: Exclusions, typing: str | int = RDF_TYPE) -> Entities:
    """Leave out all triples of subjects of an excluded type or in an excluded namespace.

    ``frame`` holds all triples of its subjects, with columns of schema TRIPLES; ``typing``: what stands for rdf:type in it.
    """
    typed = frame.filter(pl.col("p") == typing).filter(pl.col("o").is_in(list(exclusions.excluded_types)))
    subjects = frame.get_column("s").unique()
    named = subjects.to_frame().filter(in_namespace(exclusions.excluded_namespaces)).get_column("s")
    excluded = pl.concat([typed.get_column("s"), named]).unique()
    kept = frame.filter(~pl.col("s").is_in(excluded.implode())) if len(excluded) else frame
    return Entities(kept, len(subjects) - len(excluded), len(excluded), len(frame) - len(kept))


def in_namespace(namespaces: Sequence[str], column: str = "s") -> pl.Expr:
    """Whether an IRI of the column begins as the terms of an ontology do."""
    starts = (pl.col(column).str.starts_with(start) for start in namespaces)
    return pl.any_horizontal(pl.lit(False), *starts)


@dataclass(frozen=True)
class Changes:
    """IRIs, each series distinct and sorted.

    ``changed``, ``added``, ``removed``: subjects with other triples, with their first ones, and without any now. ``touched``:
    nodes that triples which came or went point at.
    """

    changed: pl.Series
    added: pl.Series
    removed: pl.Series
    touched: pl.Series

    def __len__(self) -> int:
        return len(self.changed) + len(self.added) + len(self.removed)

    def __add__(self, other: Changes) -> Changes:
        names = ("changed", "added", "removed", "touched")
        return Changes(*(_distinct(pl.concat([getattr(self, n), getattr(other, n)])) for n in names))


NONE = Changes(*[pl.Series([], dtype=pl.String)] * 4)


def changes_between(before: pl.DataFrame, after: pl.DataFrame) -> Changes:
    """Of two frames of schema TRIPLES, each of distinct rows: of all triples, or of those of one chunk."""
    before, after = (frame.cast(COLUMNS) for frame in (before, after))
    gone, new = before.join(after, on=ORDER, how="anti"), after.join(before, on=ORDER, how="anti")
    rows = pl.concat([gone.select(ORDER), new.select(ORDER)])
    subjects = _distinct(rows["s"])
    was, now = subjects.is_in(before["s"].implode()), subjects.is_in(after["s"].implode())
    touched = rows.filter(pl.col("kind") == IRI)["o"]
    return Changes(
        subjects.filter(was & now), subjects.filter(~was), subjects.filter(~now), _distinct(touched)
    )


def read_chunk(path: Path) -> pl.DataFrame:
    """A chunk's triples as `prefetch` wrote them; empty where there is none."""
    if not path.exists():
        return NO_COLUMNS
    return pl.read_parquet(path)


def _distinct(iris: pl.Series) -> pl.Series:
    return iris.unique().sort()
