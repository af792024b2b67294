"""The artifact `prefetch`: the outgoing triples of a chunk's entities, sorted and distinct."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from crmrag_assets.harvest.chunks import buckets_of
from crmrag_assets.harvest.entities import without_schema
from crmrag_assets.harvest.report import traffic_from
from crmrag_assets.harvest.traffic import Gathered, Missing
from crmrag_assets.harvest.triples import distinct_sorted, to_table, write_triples
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.models import Method

if TYPE_CHECKING:
    from crmrag_assets.sources.base import Source

TRIPLES_FILE = "triples.parquet"
REPORT_FILE = "report.json"
COUNTS = ("entities", "triples", "excluded_subjects", "excluded_triples")


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """Entities and distinct triples of one chunk, the schema subjects left out with their triples, and what was met.

    As a dict it holds what is content: what is missing, but no traffic and no notes, which differ from run to run, so that
    a chunk that is harvested again with the same triples is the same artifact.
    """

    chunk: str
    entities: int
    triples: int
    excluded_subjects: int
    excluded_triples: int
    gathered: Gathered = field(default_factory=Gathered)

    def as_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in ("chunk", *COUNTS)}
        missing = [asdict(one) for one in self.gathered.missing]
        return counts | {"missing": missing, "repaired": self.gathered.repaired}

    @classmethod
    def read(cls, folder: Path, stats: Mapping[str, Any]) -> ChunkReport:
        """The report in a chunk's folder, with traffic and notes from the counts of its step."""
        raw = json.loads((folder / REPORT_FILE).read_bytes())
        missing = tuple(Missing(**one) for one in raw["missing"])
        gathered = Gathered(missing=missing, repaired=raw["repaired"]) + traffic_from(stats)
        return cls(raw["chunk"], **{name: raw[name] for name in COUNTS}, gathered=gathered)


def prefetch_chunk(
    source: Source, discovery: Path, chunk: str, bits: int, method: Method
) -> tuple[pa.Table, ChunkReport]:
    """The triples of one chunk in schema TRIPLES, sorted and distinct, from the folder that `discover` filled."""
    fetched = source.fetch(discovery, buckets_of(chunk, bits))
    found = without_schema(distinct_sorted(fetched.frame), method.discovery)
    report = ChunkReport(
        chunk,
        found.entities,
        len(found.frame),
        found.excluded_subjects,
        found.excluded_triples,
        fetched.gathered,
    )
    return to_table(found.frame), report


def write_prefetch(table: pa.Table, report: ChunkReport, folder: Path) -> None:
    """Write a chunk's triples and report into its folder, which the store flushes."""
    write_triples(table, folder / TRIPLES_FILE)
    (folder / REPORT_FILE).write_text(canonical_json(report.as_dict()), encoding="utf-8")
