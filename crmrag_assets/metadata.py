"""What a materialisation says of itself: counts, and small tables and plots in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dagster as dg

from crmrag_assets.assets.columns import columns_of
from crmrag_assets.build.step import Outcome
from crmrag_assets.glances import Glance
from crmrag_assets.harvest.report import NOTES

# Keys of a step's counts that are shown as tables and plots.
SAMPLES, HISTOGRAMS = "samples", "histograms"
DATA_VERSION = "dagster/data_version"
ROW_COUNT = "dagster/row_count"  # shown by Dagster wherever it lists an asset
# Which of an artifact's counts says how many rows it has.
ROWS = {
    "entities": "entities",
    "prefetch": "triples",
    "harvest_report": "triples",
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
    "date_index": "dates",
    "name_index": "names",
    "profile": "properties",
}
SPENT = ("encoded", "tokens", "usd")  # by making an artifact: nothing, where it was there already
RATE = "rows_per_second"
WIDTH = 40
VERSION_LENGTH = 16


def metadata_of(outcome: Outcome, seen: Glance | None = None) -> dict[str, Any]:
    """Metadata of one finished artifact or chunk: its counts, files, bytes, seconds, rows a second, tables, plots, links.

    The same keys every time, so that the numbers plot; rows a second only where they were made.
    """
    stats, seen = outcome.record.stats, seen or Glance()
    shown: dict[str, Any] = {}
    if (rows := ROWS.get(outcome.record.artifact, "")) in stats:
        shown[ROW_COUNT] = dg.IntMetadataValue(stats[rows])
    if outcome.chunk is None:  # of a chunk the asset itself tells them
        shown |= columns_of(outcome.record.artifact)
    shown |= {name: stats[name] for name in ("bytes", "seconds") if name in stats}
    shown |= {"files": len(outcome.record.files), "reused": outcome.reused}
    if rows in stats and stats.get("seconds") and not outcome.reused:
        shown[RATE] = round(stats[rows] / stats["seconds"], 1)
    if outcome.reused:
        shown |= {name: type(stats[name])(0) for name in SPENT if name in stats}
    if notes := stats.get(NOTES):
        shown[NOTES] = dg.MetadataValue.md(
            markdown_table([{"what": w, "times": n} for w, n in notes.items()])
        )
    for name, table in (stats.get(SAMPLES, {}) | dict(seen.tables)).items():
        shown[name] = dg.MetadataValue.md(markdown_table(table))
    for name, bars in (stats.get(HISTOGRAMS, {}) | dict(seen.plots)).items():
        shown[name] = dg.MetadataValue.md(markdown_bars(bars))
    shown |= {name: dg.MetadataValue.path(str(path)) for name, path in seen.places.items()}
    shown |= {name: dg.MetadataValue.url(address) for name, address in seen.pages.items()}
    plain = {key: value for key, value in stats.items() if isinstance(value, bool | int | float | str)}
    return shown | {key: value for key, value in plain.items() if key not in shown}


def summary_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """A row an artifact in order of work: chunks, how many of them were there already, rows, bytes, seconds spent."""
    rows: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        name, stats = outcome.record.artifact, outcome.record.stats
        row = rows.setdefault(
            name, {"asset": name, "chunks": 0, "unchanged": 0, "rows": 0, "bytes": 0, "seconds": 0.0}
        )
        row["chunks"] += 1
        row["unchanged"] += int(outcome.reused)
        row["rows"] += int(stats.get(ROWS.get(name, ""), 0))
        row["bytes"] += int(stats.get("bytes", 0))
        row["seconds"] += 0.0 if outcome.reused else float(stats.get("seconds", 0))
    return [row | {"seconds": f"{row['seconds']:.1f}"} for row in rows.values()]


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
