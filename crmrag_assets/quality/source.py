"""Checks of the harvest."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.build.step import BuildContext, chunks_of
from crmrag_assets.harvest.prefetch import TRIPLES_FILE, ChunkReport, verdict
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.harvest.triples import TRIPLES
from crmrag_assets.opened import harvest_of
from crmrag_assets.quality.finding import SHOWN
from crmrag_query.text import amount
from crmrag_query.verify.check import Finding, Row


def harvest_is_whole(context: BuildContext) -> Finding:
    """Nothing that the source holds is missing, and its counts before and after are equal. If not, see the harvest report for
    what is missing and why, then read the source again (`crmrag build NAME --refresh`); where it changes all the time or
    will not give some triples, ask its operator for a dump and build from files.
    """
    found = harvest_of(context)
    missing = found["missing"]
    counts = {name: found[name] for name in ("entities", "triples")} | {"missing": len(missing)}
    shown: list[Row] = [
        {key: "" if value is None else value for key, value in one.items()} for one in missing[:SHOWN]
    ]
    says = " ".join([verdict(found), *found["concerns"]])
    remedy = (
        f"Read the source again: crmrag build {context.name} --refresh; where it changes all the time or will not give "
        "some triples, ask its operator for a dump and build from files."
    )
    return Finding(bool(found["whole"]), says, counts, {"first_missing": shown}, remedy)


def few_lines_are_broken(context: BuildContext) -> Finding:
    """Few lines of the files cannot be read; they are skipped, each a triple less. If there are more, have the files exported
    again, or mended where the table of this check says.
    """
    report = Discovery.load(context.folder("entities")).report
    triples, broken = int(harvest_of(context)["triples"]), report.broken_count
    share = broken / max(broken + triples, 1)
    shown: list[Row] = [
        {"file": one.file, "line": one.line, "reason": one.reason} for one in report.broken[:SHOWN]
    ]
    says = f"No line is broken; {triples:,} triples were read."
    if broken:
        says = (
            f"{broken:,} broken lines were skipped and {amount(triples, 'triple')} read ({share:.2%} broken)."
        )
    remedy = (
        "Have the files exported again, or mended where the table says. A file in another encoding than UTF-8, or one that "
        "broke off while it was copied, looks so."
    )
    counts = {"broken": broken, "share_broken": share}
    return Finding(share <= context.method.checks.broken_share, says, counts, {"first_broken": shown}, remedy)


def chunks_are_readable(context: BuildContext) -> Finding:
    """Every chunk's file has the columns of triples and as many rows as were harvested. If not, the disk lost something: the
    message names the chunks to remove, so that the next build harvests them anew.
    """
    wrong: list[Row] = []
    rows = 0
    chunks = chunks_of(context)
    for chunk in chunks:
        folder, found, fault = context.folder("prefetch", chunk), 0, ""
        expected = ChunkReport.read(folder, {}).triples
        try:
            with pq.ParquetFile(folder / TRIPLES_FILE) as file:
                found = int(file.metadata.num_rows)
                fault = "" if file.schema_arrow.names == TRIPLES.names else "has other columns"
        except (OSError, pa.ArrowInvalid) as error:
            fault = f"cannot be read ({error})"
        rows += found
        if fault or found != expected:
            wrong.append({"chunk": chunk, "rows": found, "harvested": expected, "fault": fault})
    counts = {"chunks": len(chunks), "unreadable": len(wrong), "triples": rows}
    if not wrong:
        return Finding(
            True, f"Every chunk can be read ({len(chunks)}), {amount(rows, 'triple')} in all.", counts
        )
    first = wrong[0]
    fault = first["fault"] or f"has {first['rows']} rows, not {first['harvested']}"
    remedy = (
        f"Have them harvested anew: remove {context.folder('prefetch', first['chunk'])} (and the others of the table), then "
        f"run crmrag build {context.name}."
    )
    says = f"{len(wrong)} of {len(chunks)} chunks cannot be used: {first['chunk']} {fault}."
    return Finding(False, says, counts, {"first_unreadable": wrong[:SHOWN]}, remedy)
