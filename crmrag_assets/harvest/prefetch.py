"""The artifact `prefetch`: the outgoing triples of a chunk's entities, sorted and distinct."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from crmrag_assets.harvest.chunks import buckets_of
from crmrag_assets.harvest.entities import without_schema
from crmrag_assets.harvest.triples import distinct_sorted, to_table, write_triples
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.config.models import Method

if TYPE_CHECKING:
    from crmrag_assets.sources.base import Source

TRIPLES_FILE = "triples.parquet"
REPORT_FILE = "report.json"


@dataclass(frozen=True, slots=True)
class ChunkReport:
    """Entities and distinct triples of one chunk, and the schema subjects left out with their triples."""

    chunk: str
    entities: int
    triples: int
    excluded_subjects: int
    excluded_triples: int

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def prefetch_chunk(
    source: Source, discovery: Path, chunk: str, bits: int, method: Method
) -> tuple[pa.Table, ChunkReport]:
    """The triples of one chunk in schema TRIPLES, sorted and distinct, from the folder that `discover` filled."""
    fetched = distinct_sorted(source.fetch(discovery, buckets_of(chunk, bits)))
    found = without_schema(fetched, method.discovery)
    report = ChunkReport(
        chunk, found.entities, len(found.frame), found.excluded_subjects, found.excluded_triples
    )
    return to_table(found.frame), report


def write_prefetch(table: pa.Table, report: ChunkReport, folder: Path) -> None:
    """Write a chunk's triples and report into its folder."""
    write_triples(table, folder / TRIPLES_FILE)
    write_text(folder / REPORT_FILE, canonical_json(report.as_dict()))
