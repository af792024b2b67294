"""Progress that a person can follow: bars in a terminal, a line an artifact elsewhere."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from crmrag_assets.build.progress import Progress as StepProgress
from crmrag_assets.build.step import Outcome

NAME_WIDTH = 18


@dataclass
class BarReporter:
    """One bar an artifact; within a chunk, the step's own progress is the bar's note."""

    console: Console
    _bars: Progress = field(init=False)
    _tasks: dict[str, TaskID] = field(default_factory=dict)
    _chunks: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        name = TextColumn(f"{{task.description:<{NAME_WIDTH}}}")
        columns = (
            name,
            BarColumn(24),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.fields[note]}", markup=False),
        )
        self._bars = Progress(*columns, console=self.console, refresh_per_second=8)

    def __enter__(self) -> BarReporter:
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def started(self, artifact: str, chunks: int) -> None:
        self._chunks[artifact] = chunks
        self._tasks[artifact] = self._bars.add_task(artifact, total=None if chunks == 1 else chunks, note="")

    def progress(self, artifact: str) -> StepProgress:
        return _BarProgress(self, artifact)

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        task, chunks = self._tasks[artifact], self._chunks[artifact]
        note = "unchanged" if outcome.reused else ""
        if chunks == 1:
            self._bars.update(task, completed=1, total=1, note=note)
        else:
            self._bars.update(task, advance=1, note=note)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step: the bar of an artifact in one piece, the note of one in chunks."""
        task = self._tasks.get(artifact)
        if task is None:
            return
        if self._chunks[artifact] == 1:
            self._bars.update(task, completed=done, total=total, note=note)
        else:
            self._bars.update(task, note=note or (f"{done:,} of {total:,}" if total else f"{done:,}"))


@dataclass(frozen=True)
class _BarProgress:
    reporter: BarReporter
    artifact: str

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        self.reporter.within(self.artifact, done, total, note)


@dataclass
class LineReporter:
    """A line when an artifact is finished: for logs and pipes."""

    console: Console
    _left: dict[str, int] = field(default_factory=dict)
    _reused: dict[str, int] = field(default_factory=dict)
    _since: dict[str, float] = field(default_factory=dict)

    def __enter__(self) -> LineReporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def started(self, artifact: str, chunks: int) -> None:
        self._left[artifact], self._reused[artifact], self._since[artifact] = chunks, 0, time.monotonic()

    def progress(self, artifact: str) -> StepProgress:
        return _NoProgress()

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        self._left[artifact] -= 1
        self._reused[artifact] += outcome.reused
        if self._left[artifact] == 0:
            note = f", {self._reused[artifact]} unchanged" if self._reused[artifact] else ""
            seconds = time.monotonic() - self._since[artifact]
            self.console.print(f"{artifact:<{NAME_WIDTH}} {seconds:6.1f} s{note}", highlight=False)


@dataclass(frozen=True)
class _NoProgress:
    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        return None
