"""Progress that a person can follow: bars in a terminal, lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from crmrag_assets.build.progress import Progress as StepProgress
from crmrag_assets.build.step import Outcome

NAME_WIDTH = 18
UNITS = {"embeddings": "windows"}  # what a step counts that does not say so itself
COUNTED = ("chunks", "documents", "files", "triples", "windows")
SHORT = 100  # seconds that are not told in minutes


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

    def told(self, text: str) -> None:
        self._bars.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step: the bar of an artifact in one piece, the note of one in chunks."""
        task = self._tasks.get(artifact)
        if task is None:
            return
        if self._chunks[artifact] == 1:
            self._bars.update(task, completed=done, total=total, note=note)
        else:
            self._bars.update(task, note=_told(done, total, note or UNITS.get(artifact, "")))


@dataclass(frozen=True)
class _BarProgress:
    reporter: BarReporter
    artifact: str

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        self.reporter.within(self.artifact, done, total, note)


@dataclass
class LineReporter:
    """For logs and pipes: a line when an artifact is finished, and one every ``pause`` seconds while it is made."""

    console: Console
    pause: float = 10.0
    clock: Callable[[], float] = time.monotonic
    _works: dict[str, _Work] = field(default_factory=dict)

    def __enter__(self) -> LineReporter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def started(self, artifact: str, chunks: int) -> None:
        now = self.clock()
        self._works[artifact] = _Work(chunks, now, now)

    def progress(self, artifact: str) -> StepProgress:
        return _LineProgress(self, artifact)

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        work = self._works[artifact]
        work.done += 1
        work.reused += outcome.reused
        work.first, work.since = 0, None
        if work.done == work.chunks:
            self._line(artifact, f"{self.clock() - work.start:6.1f} s{_unchanged(work)}")
        elif self._due(work):
            self._line(artifact, f"{work.done:,} of {work.chunks:,} chunks{self._left(work)}")

    def told(self, text: str) -> None:
        self.console.print(text, highlight=False, markup=False, soft_wrap=True)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step: ``done`` at its first call is what was there before, as far as time goes."""
        work = self._works.get(artifact)
        if work is None:
            return
        if work.since is None:
            work.first, work.since = done, self.clock()
        if not self._due(work):
            return
        chunk = f"chunk {work.done + 1:,} of {work.chunks:,}, " if work.chunks > 1 else ""
        told = _told(done, total, note or UNITS.get(artifact, ""))
        left = (
            ""
            if work.chunks > 1
            else _seconds_left(self.clock() - work.since, done - work.first, total, done)
        )
        self._line(artifact, f"{chunk}{told}{left}")

    def _left(self, work: _Work) -> str:
        made = work.done - work.reused
        return _seconds_left(self.clock() - work.start, made, work.chunks, work.done)

    def _due(self, work: _Work) -> bool:
        now = self.clock()
        if now - work.last < self.pause:
            return False
        work.last = now
        return True

    def _line(self, artifact: str, text: str) -> None:
        self.console.print(f"{artifact:<{NAME_WIDTH}} {text}", highlight=False, markup=False, soft_wrap=True)


@dataclass
class _Work:
    """An artifact in work: chunks asked for, made and reused; when it began, when it last told; the step's own start."""

    chunks: int
    start: float
    last: float
    done: int = 0
    reused: int = 0
    first: int = 0
    since: float | None = None


@dataclass(frozen=True)
class _LineProgress:
    reporter: LineReporter
    artifact: str

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        self.reporter.within(self.artifact, done, total, note)


def _unchanged(work: _Work) -> str:
    if not work.reused:
        return ""
    return (
        ", unchanged"
        if work.reused == work.chunks
        else f", {work.reused:,} of {work.chunks:,} chunks unchanged"
    )


def _told(done: int, total: int | None, note: str) -> str:
    """A count with its unit, or what is being done and how much of it is: units differ there, bytes among them."""
    if note and note not in COUNTED:
        return f"{note}, {done / total:.0%}" if total else note
    return f"{done:,}{f' of {total:,}' if total else ''} {note}".rstrip()


def _seconds_left(spent: float, made: int, total: int | None, done: int) -> str:
    """What is left at the pace so far; nothing while there is no pace."""
    if not total or made <= 0 or spent <= 0:
        return ""
    return f", {duration(spent / made * (total - done))} left"


def duration(seconds: float) -> str:
    """Seconds as a person says them: 12 s, 3 min, 1 h 05 min."""
    if seconds < SHORT:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"
