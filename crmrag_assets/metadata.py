"""What a materialisation says of itself: counts, and small tables and plots in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from crmrag_assets.build.step import Outcome
from crmrag_assets.glances import Glance

# Keys of a step's counts that are shown as tables and plots.
SAMPLES, HISTOGRAMS = "samples", "histograms"
DATA_VERSION = "dagster/data_version"
ROW_COUNT = "dagster/row_count"  # shown by Dagster wherever it lists an asset
# Which of an artifact's counts says how many rows it has.
ROWS = {
    "entities": "entities",
    "prefetch": "triples",
    "graph": "nodes",
    "edges": "rows",
    "triples_index": "triples",
    "fr_documents": "documents",
    "documents": "documents",
    "entity_documents": "documents",
    "embeddings": "windows",
    "faiss_index": "rows",
    "bm25_index": "documents",
    "aggregation_index": "pairs",
}
WIDTH = 40
VERSION_LENGTH = 16


def metadata_of(outcome: Outcome, seen: Glance | None = None) -> dict[str, Any]:
    """Metadata of one finished artifact or chunk: its counts, files, bytes, seconds, tables and plots."""
    stats, seen = outcome.record.stats, seen or Glance()
    shown: dict[str, Any] = {
        key: value for key, value in stats.items() if isinstance(value, bool | int | float | str)
    }
    if (rows := ROWS.get(outcome.record.artifact)) in stats:
        shown[ROW_COUNT] = dg.IntMetadataValue(stats[rows])
    shown["files"] = len(outcome.record.files)
    shown["reused"] = outcome.reused
    for name, table in (stats.get(SAMPLES, {}) | dict(seen.tables)).items():
        shown[name] = dg.MetadataValue.md(markdown_table(table))
    for name, bars in (stats.get(HISTOGRAMS, {}) | dict(seen.plots)).items():
        shown[name] = dg.MetadataValue.md(markdown_bars(bars))
    return shown


def data_version_of(outcome: Outcome) -> str:
    """The content's hash: an artifact made again with the same bytes keeps its version."""
    return outcome.record.content[:VERSION_LENGTH]


def materialized(outcome: Outcome, seen: Glance) -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(
        metadata=metadata_of(outcome, seen), data_version=dg.DataVersion(data_version_of(outcome))
    )


def chunk_materialized(
    key: dg.AssetKey, partition: dg.MultiPartitionKey, outcome: Outcome, seen: Glance
) -> dg.AssetMaterialization:
    """The event of one finished chunk, with the tags by which Dagster finds version and dimensions."""
    dimensions = {f"dagster/partition/{name}": value for name, value in partition.keys_by_dimension.items()}
    tags = {DATA_VERSION: data_version_of(outcome)} | dimensions
    return dg.AssetMaterialization(
        asset_key=key, partition=partition, metadata=metadata_of(outcome, seen), tags=tags
    )


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with equal keys as a Markdown table."""
    if not rows:
        return "(none)"
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0])]
    lines += ["| " + " | ".join(_cell(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def markdown_bars(bars: Sequence[Sequence[Any]]) -> str:
    """Pairs (name, count) as horizontal bars."""
    if not bars:
        return "(none)"
    most = max(count for _, count in bars) or 1
    width = max(len(str(name)) for name, _ in bars)
    lines = (
        f"{name!s:>{width}}  {'█' * max(round(WIDTH * count / most), count > 0)} {count:,}"
        for name, count in bars
    )
    return "```\n" + "\n".join(lines) + "\n```"
