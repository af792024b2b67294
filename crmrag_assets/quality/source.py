"""Checks of the harvest."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.build.harvest import harvest_of
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.harvest.account import verdict
from crmrag_assets.harvest.prefetch import TRIPLES_FILE, ChunkReport
from crmrag_assets.harvest.triples import TRIPLES
from crmrag_assets.quality.finding import Finding, Row
from crmrag_assets.sources.base import Discovery


def harvest_is_whole(context: BuildContext) -> Finding:
    """Nothing is missing of what the source holds, and it did not change while it was read, as far as is known."""
    found = harvest_of(context)
    missing = found["missing"]
    counts = {name: found[name] for name in ("entities", "triples")} | {"missing": len(missing)}
    shown: list[Row] = [
        {key: "" if value is None else value for key, value in one.items()}
        for one in missing[: context.method.checks.shown]
    ]
    remedy = (
        f"Read the source again: crmrag build {context.name} --refresh; where it changes all the time or will not give "
        "some triples, ask its operator for a dump and build from files."
    )
    return Finding(
        bool(found["whole"]),
        " ".join([verdict(found), *found["concerns"]]),
        counts,
        {"first_missing": shown} if shown else {},
        remedy,
    )


def few_lines_are_broken(context: BuildContext) -> Finding:
    """Few lines of the files cannot be read: each is a triple less, of which nothing else tells."""
    checks = context.method.checks
    report = Discovery.load(context.folder("entities")).report
    triples = int(harvest_of(context)["triples"])
    share = report.broken_count / max(report.broken_count + triples, 1)
    shown: list[Row] = [
        {"file": one.file, "line": one.line, "reason": one.reason} for one in report.broken[: checks.shown]
    ]
    says = f"{report.broken_count:,} broken lines were skipped and {triples:,} triples read ({share:.2%} broken)."
    return Finding(
        share <= checks.broken_share,
        says if report.broken_count else f"No line is broken; {triples:,} triples were read.",
        {"broken": report.broken_count, "share_broken": share},
        {"first_broken": shown} if shown else {},
        "Have the files exported again, or mended where the table says. A file in another encoding than UTF-8, or one that "
        "broke off while it was copied, looks so.",
    )


def chunks_are_readable(context: BuildContext) -> Finding:
    """Every chunk's file has the columns of triples, and as many rows as were harvested."""
    wrong: list[Row] = []
    rows = 0
    chunks = chunks_of(context)
    for chunk in chunks:
        expected = ChunkReport.read(context.folder("prefetch", chunk), {}).triples
        found, fault = _rows(context, chunk)
        rows += found
        if fault or found != expected:
            wrong.append({"chunk": chunk, "rows": found, "harvested": expected, "fault": fault})
    says = f"Every chunk can be read ({len(chunks)}), {rows:,} triples in all."
    if wrong:
        first = wrong[0]
        fault = first["fault"] or f"has {first['rows']} rows, not {first['harvested']}"
        says = f"{len(wrong)} of {len(chunks)} chunks cannot be used: {first['chunk']} {fault}."
    named = wrong[0]["chunk"] if wrong else ""
    return Finding(
        not wrong,
        says,
        {"chunks": len(chunks), "unreadable": len(wrong), "triples": rows},
        {"first_unreadable": wrong[: context.method.checks.shown]} if wrong else {},
        f"Have them harvested anew: remove {context.folder('prefetch', named)} (and the others of the table), then run "
        f"crmrag build {context.name}.",
    )


def _rows(context: BuildContext, chunk: str) -> tuple[int, str]:
    """Rows of a chunk's file, and what is wrong with it, "" for nothing."""
    try:
        with pq.ParquetFile(context.folder("prefetch", chunk) / TRIPLES_FILE) as file:
            columns = file.schema_arrow
            rows = int(file.metadata.num_rows)
    except (OSError, pa.ArrowInvalid) as error:
        return 0, f"cannot be read ({error})"
    return rows, "" if columns.names == TRIPLES.names else "has other columns"
