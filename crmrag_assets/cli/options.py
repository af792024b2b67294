"""What the build commands share: options, running with errors told in a line or two, and Ctrl-C and a signal to end from the
first moment of a command on.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from crmrag_assets.build.step import (
    ARTIFACTS,
    NAME_WIDTH,
    UNITS,
    Outcome,
    Reporter,
    Row,
    amount,
)
from crmrag_assets.harvest.report import Broken, Missing
from crmrag_query.artifacts.files import read_provenance
from crmrag_query.cli.options import data_option
from crmrag_query.documents.pages import IMAGES, READINGS
from crmrag_query.errors import BuildFault

__all__ = ["config_option", "data_option", "threads_option", "use_threads"]


def stoppable() -> None:
    """Have both raise KeyboardInterrupt.

    A shell starts what is in the background with Ctrl-C ignored, and Dagster would then ignore being ended, too.
    """
    if threading.current_thread() is threading.main_thread():  # no other may say so
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.default_int_handler)


INTERRUPTED = 130


@contextmanager
def told_where_it_stopped(console: Console, kept: str) -> Iterator[None]:
    """Within the block, Ctrl-C ends the command with what is ``kept``, and a fault is told with its trace."""
    try:
        stoppable()
        yield
    except KeyboardInterrupt:
        console.print(f"\nStopped. {kept}", soft_wrap=True)
        raise SystemExit(INTERRUPTED) from None
    except BuildFault as fault:
        click.echo(f"{fault.trace.rstrip()}\n", err=True)  # for the report that the message asks for
        raise


@contextmanager
def reported(console: Console, data: Path, quiet: bool) -> Iterator[tuple[Any, Reporter]]:
    """Within the block, Dagster's records of a data folder, and what tells of progress: bars in a terminal, else lines."""
    from crmrag_assets.build.step import LineReporter
    from crmrag_assets.build.store import disk_explained
    from crmrag_assets.instance import open_instance

    bars = BarReporter(console)
    shown = console.is_terminal and not quiet
    reporter: Reporter = (
        bars if shown else Reporter() if quiet else LineReporter(partial(write_line, console))
    )
    with disk_explained(data), open_instance(data) as instance, bars.bars if shown else nullcontext():
        yield instance, reporter


def write_line(console: Console, text: str) -> None:
    """Print a line as it is, unbroken."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
config_option: Decorator = click.option(
    "--config",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    envvar="CRMRAG_CONFIG",
    help="Folder with datasets.yaml and the method (CRMRAG_CONFIG); default: ./config, else what ships.",
)
threads_option: Decorator = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads for encoding and arrays; default: all cores."
)
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


def use_threads(threads: int | None) -> None:
    """Tell the libraries how many threads to use; works when they are not imported yet."""
    if threads:
        os.environ.update(dict.fromkeys(THREAD_VARIABLES, str(threads)))


# Counts that are told of each artifact, most telling first; at most SHOWN are.
TELLING = (
    "entities", "documents", "triples", "rows", "windows", "encoded", "matches", "pairs", "lines", "nodes", "literals",
    "missing", "requests", "terms", "broken_lines", "concerns", "dimension", "window",
)  # fmt: skip
SHOWN = 3
PAGES = (
    "pages", "refused", "without_text", "read", "lacking", "dropped", "asked", "kept", "model_tokens", "cost",
)  # fmt: skip
"""Told of pages besides, where there are any: how they were read, and what it took."""
SHOWN_BROKEN = 10
REPORT = "validation_report"
UNIT = {
    "dimension": "dimensions", "window": "tokens a window", "encoded": "newly encoded", "read": "pages read",
    "lacking": "pages not read", "cost": "US dollars", "kept": "from the cache",
}  # fmt: skip
GAP = 2  # between columns
WIDEST = 500  # columns of what is no terminal
BYTE_UNITS = ("B", "kB", "MB", "GB", "TB")


def summary_table(rows: Sequence[Row], width: int = WIDEST) -> Table:
    """A table ``width`` columns wide; counts take as many lines as that asks for, and none is cut."""
    asset, left = max(map(len, ARTIFACTS)), width
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title, justify, column in (("asset", "left", asset), ("seconds", "right", 9), ("size", "right", 9)):
        table.add_column(title, justify=justify, no_wrap=True, min_width=column)  # type: ignore[arg-type]
        left -= column + GAP
    table.add_column("counts", no_wrap=True)
    for row in rows:
        found = [("chunks", row.chunks)] if row.chunks > 1 else []
        found += [(name, row.counts[name]) for name in TELLING if name in row.counts][:SHOWN]
        if row.artifact in (IMAGES, READINGS):
            found += [(name, row.counts[name]) for name in PAGES if row.counts.get(name)]
        counts = [f"{count:,} {UNIT.get(name, name).replace('_', ' ')}" for name, count in found]
        seconds = "unchanged" if row.reused == row.chunks else f"{row.seconds:.1f}"
        table.add_row(row.artifact, seconds, size_text(row.bytes), joined(counts, left))
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


def size_text(size: float) -> str:
    """Bytes in the unit that keeps it short: 1.2 MB."""
    power = 0
    while size >= 1000 and power < len(BYTE_UNITS) - 1:
        size, power = size / 1000, power + 1
    return f"{size:.{min(power, 1)}f} {BYTE_UNITS[power]}"


def show_concerns(console: Console, release: Path) -> None:
    """What a person should look at: first in how the source was read, with the first places, then in the data."""
    harvest = (read_provenance(release) or {}).get("harvest", {})
    lines = [f"- {concern}" for concern in harvest.get("concerns", ())]
    lines += [f"  {Missing(**missing)}" for missing in harvest.get("missing", ())[:SHOWN_BROKEN]]
    broken = harvest.get("reading", {}).get("broken", ())
    lines += [f"  {Broken(**one)}" for one in broken[:SHOWN_BROKEN]]
    report = json.loads((release / f"{REPORT}.json").read_bytes())
    lines += [f"- {concern}" for concern in report["concerns"]]
    if lines:
        text = "\n".join(["Worth a look:", *lines, f"  all of it: {release / REPORT}.md"])
        console.print(text, markup=False, highlight=False, soft_wrap=True)


@dataclass
class BarReporter(Reporter):
    """One bar an artifact; within a chunk, the step's own progress is the bar's note."""

    console: Console
    bars: Progress = field(init=False)
    _tasks: dict[str, TaskID] = field(default_factory=dict)
    _chunks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.bars = Progress(
            TextColumn(f"{{task.description:<{NAME_WIDTH}}}"),
            BarColumn(24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=self.console,
            refresh_per_second=8,
        )

    def started(self, artifact: str, chunks: int) -> None:
        self._chunks[artifact] = chunks
        self._tasks[artifact] = self.bars.add_task(artifact, total=None if chunks == 1 else chunks, note="")

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        task, note = self._tasks[artifact], "unchanged" if outcome.reused else ""
        if self._chunks[artifact] == 1:
            self.bars.update(task, completed=1, total=1, note=note, visible=not outcome.unwanted)
        else:
            self.bars.update(task, advance=1, note=note)

    def remark(self, text: str) -> None:
        self.bars.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step: the bar of an artifact in one piece, the note of one in chunks."""
        task = self._tasks.get(artifact)
        if task is None:
            return
        if self._chunks[artifact] == 1:
            self.bars.update(task, completed=done, total=total, note=note)
        else:
            self.bars.update(task, note=amount(done, total, note or UNITS.get(artifact, "")))
