"""The seam between where RDF comes from and what is built from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import polars as pl

from crmrag_assets.build.step import Progress
from crmrag_assets.harvest.report import Gathered, HarvestReport, Traffic, gathered_as_dict, gathered_from
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.config.operations import Watching
from crmrag_query.errors import BuildError

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
            raw = json.loads((folder / DISCOVERY).read_text(encoding="utf-8"))
            report, gathered = HarvestReport.from_dict(raw["report"]), gathered_from(raw["gathered"])
            counted = None if raw["counted"] is None else Counted(**raw["counted"])
            return cls(**{**raw, "report": report, "gathered": gathered, "counted": counted})
        except (OSError, ValueError, KeyError, TypeError) as error:
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
