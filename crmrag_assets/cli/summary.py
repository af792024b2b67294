"""The table at the end of a build: counts and seconds of each artifact."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.table import Table

from crmrag_assets.build.layers import ARTIFACTS
from crmrag_assets.build.step import Outcome
from crmrag_assets.harvest.report import Broken
from crmrag_assets.harvest.traffic import Missing
from crmrag_query.artifacts.verify import read_provenance

# Counts that are told of each artifact, most telling first; at most SHOWN are.
TELLING = (
    "entities", "documents", "triples", "rows", "windows", "encoded", "matches", "pairs", "lines", "nodes", "literals",
    "missing", "requests", "terms", "broken_lines", "concerns", "dimension", "window",
)  # fmt: skip
SHOWN = 3
SHOWN_BROKEN = 10
REPORT = "validation_report"
UNIT = {"dimension": "dimensions", "window": "tokens a window", "encoded": "newly encoded"}
GAP = 2  # between columns
WIDEST = 500  # columns of what is no terminal
UNITS = ("B", "kB", "MB", "GB", "TB")


@dataclass(frozen=True)
class Row:
    """One artifact: chunks (1 when not chunked), how many of them were there already, counts, bytes, seconds."""

    artifact: str
    chunks: int
    reused: int
    counts: Mapping[str, int]
    bytes: int
    seconds: float


def rows_of(outcomes: Sequence[Outcome]) -> list[Row]:
    """One row an artifact in build order; seconds are those that this build spent."""
    return [
        _row(name, found)
        for name in ARTIFACTS
        if (found := [o for o in outcomes if o.record.artifact == name])
    ]


def _row(artifact: str, outcomes: Sequence[Outcome]) -> Row:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        for key, value in outcome.record.stats.items():
            if isinstance(value, int) and not isinstance(value, bool):
                counts[key] = counts.get(key, 0) + value
    return Row(
        artifact,
        len(outcomes),
        sum(outcome.reused for outcome in outcomes),
        counts,
        sum(int(outcome.record.stats.get("bytes", 0)) for outcome in outcomes),
        sum(float(outcome.record.stats.get("seconds", 0)) for outcome in outcomes if not outcome.reused),
    )


def summary_table(rows: Sequence[Row], width: int = WIDEST) -> Table:
    """A table ``width`` columns wide; counts take as many lines as that asks for, and none is cut."""
    asset, left = max(map(len, ARTIFACTS)), width
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify, column in (("asset", "left", asset), ("seconds", "right", 9), ("size", "right", 9)):
        table.add_column(title, justify=justify, no_wrap=True, min_width=column)  # type: ignore[arg-type]
        left -= column + GAP
    table.add_column("counts", no_wrap=True)
    for row in rows:
        table.add_row(row.artifact, _seconds(row), size_text(row.bytes), joined(_counts(row), left))
    table.add_row("in all", f"{sum(row.seconds for row in rows):.1f}", style="bold")
    return table


def show_summary(console: Console, rows: Sequence[Row]) -> None:
    """Print the table: within the terminal's width, or in whole lines where there is no terminal."""
    if console.is_terminal:
        console.print(summary_table(rows, console.width))
        return
    wide = Console(file=StringIO(), width=WIDEST)
    with wide.capture() as printed:
        wide.print(summary_table(rows))
    for line in printed.get().splitlines():
        console.print(line.rstrip(), highlight=False, markup=False, soft_wrap=True)


def joined(parts: Sequence[str], width: int) -> str:
    """Parts with commas, broken between them into lines of at most ``width`` where that is possible."""
    lines: list[str] = []
    for number, part in enumerate(parts):
        text = part + ("," if number < len(parts) - 1 else "")
        if lines and len(lines[-1]) + 1 + len(text) <= width:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
    return "\n".join(lines)


def _counts(row: Row) -> list[str]:
    chunks = {"chunks": row.chunks} if row.chunks > 1 else {}
    told = [(name, row.counts[name]) for name in TELLING if name in row.counts][:SHOWN]
    return [f"{count:,} {UNIT.get(name, name).replace('_', ' ')}" for name, count in [*chunks.items(), *told]]


def _seconds(row: Row) -> str:
    return "unchanged" if row.reused == row.chunks else f"{row.seconds:.1f}"


def size_text(size: float) -> str:
    """Bytes in the unit that keeps it short: 1.2 MB."""
    for unit in UNITS:
        if size < 1000 or unit == UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def show_concerns(console: Console, release: Path) -> None:
    """What a person should look at: first in how the source was read, with the first places, then in the data."""
    harvest = (read_provenance(release) or {}).get("harvest", {})
    lines = [f"- {concern}" for concern in harvest.get("concerns", ())]
    lines += [f"  {Missing(**missing)}" for missing in harvest.get("missing", ())[:SHOWN_BROKEN]]
    lines += [
        f"  {Broken(**broken)}" for broken in harvest.get("reading", {}).get("broken", ())[:SHOWN_BROKEN]
    ]
    lines += [f"- {concern}" for concern in json.loads((release / f"{REPORT}.json").read_bytes())["concerns"]]
    if lines:
        text = "\n".join(["Worth a look:", *lines, f"  all of it: {release / REPORT}.md"])
        console.print(text, markup=False, highlight=False, soft_wrap=True)
