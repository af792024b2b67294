"""The seam between where RDF comes from and what is built from it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Protocol

import polars as pl

from crmrag_assets.build.progress import Progress
from crmrag_assets.harvest.report import HarvestReport
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.errors import BuildError

DISCOVERY = "discovery.json"


@dataclass(frozen=True)
class Discovery:
    """What a source holds: distinct entities and their distinct triples, bits of a chunk's key, and how reading went."""

    entities: int
    triples: int
    bits: int
    report: HarvestReport

    def save(self, folder: Path) -> None:
        write_text(folder / DISCOVERY, canonical_json(asdict(self)))

    @classmethod
    def load(cls, folder: Path) -> Discovery:
        """The discovery saved in a folder; raises BuildError when there is none."""
        try:
            raw = json.loads((folder / DISCOVERY).read_text(encoding="utf-8"))
            return cls(raw["entities"], raw["triples"], raw["bits"], HarvestReport.from_dict(raw["report"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BuildError(
                f"{folder} holds no finished discovery ({error}).", "Run the build again."
            ) from error


class Source(Protocol):
    """Where RDF comes from: files, and whatever else gives the triples of entities by bucket."""

    def fingerprint(self) -> str:
        """Identity of the content, as hexadecimal digits; equal content gives equal fingerprints, wherever it lies."""

    def discover(self, folder: Path, progress: Progress) -> Discovery:
        """Find the entities, once; writes below ``folder`` what `fetch` needs. Raises SourceError."""

    def fetch(self, folder: Path, buckets: range) -> pl.DataFrame:
        """All triples of the subjects in these buckets, columns of schema TRIPLES; in any order, repetitions allowed."""
