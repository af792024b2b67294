"""Who is told how a build goes on, the command line, Dagster's log, or nobody; and what it comes to in the end."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

from crmrag_assets.build.step import ARTIFACTS, Outcome, Progress, SilentProgress


class Reporter(Protocol):
    """Told of every artifact of a build, in the order of work."""

    def started(self, artifact: str, chunks: int) -> None:
        """Work on an artifact begins; ``chunks`` is 1 for an artifact of the whole data set."""

    def progress(self, artifact: str) -> Progress:
        """Where a step reports its own progress."""

    def finished(self, outcome: Outcome) -> None:
        """An artifact or one chunk of it is finished."""

    def remark(self, text: str) -> None:
        """Something that a person who waits should know, in a sentence."""


class SilentReporter:
    """Tells nobody."""

    def started(self, artifact: str, chunks: int) -> None:
        pass

    def progress(self, artifact: str) -> Progress:
        return SilentProgress()

    def finished(self, outcome: Outcome) -> None:
        pass

    def remark(self, text: str) -> None:
        pass


NAME_WIDTH = 18
UNITS = {"embeddings": "windows"}  # what a step counts that does not say so itself
COUNTED = ("chunks", "documents", "files", "texts", "triples", "windows")
SHORT = 100  # seconds that are not told in minutes


class Within(Protocol):
    """A reporter that is told of progress inside a step."""

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None: ...


@dataclass(frozen=True)
class StepProgress:
    reporter: Within
    artifact: str

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        self.reporter.within(self.artifact, done, total, note)


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


@dataclass
class LineReporter:
    """For logs and pipes: a line when an artifact is finished, unless the data set does without it, and one every ``pause``
    seconds while it is made."""

    write: Callable[[str], None]
    pause: float = 10.0
    clock: Callable[[], float] = time.monotonic
    _works: dict[str, _Work] = field(default_factory=dict)

    def started(self, artifact: str, chunks: int) -> None:
        now = self.clock()
        self._works[artifact] = _Work(chunks, now, now)

    def progress(self, artifact: str) -> Progress:
        return StepProgress(self, artifact)

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        work = self._works[artifact]
        work.done += 1
        work.reused += outcome.reused
        work.first, work.since = 0, None
        spent = self.clock() - work.start
        if outcome.unwanted:
            return
        if work.done == work.chunks:
            unchanged = f", {work.reused:,} of {work.chunks:,} chunks unchanged" if work.reused else ""
            if work.reused == work.chunks:
                unchanged = ", unchanged"
            self._line(artifact, f"{spent:6.1f} s{unchanged}")
        elif self._due(work):
            left = _seconds_left(spent, work.done - work.reused, work.chunks, work.done)
            self._line(artifact, f"{work.done:,} of {work.chunks:,} chunks{left}")

    def remark(self, text: str) -> None:
        self.write(text)

    def within(self, artifact: str, done: int, total: int | None, note: str) -> None:
        """Progress inside a step: ``done`` at its first call is what was there before, as far as time goes."""
        work = self._works.get(artifact)
        if work is None:
            return
        if work.since is None:
            work.first, work.since = done, self.clock()
        if not self._due(work):
            return
        text = amount(done, total, note or UNITS.get(artifact, ""))
        if work.chunks > 1:
            self._line(artifact, f"chunk {work.done + 1:,} of {work.chunks:,}, {text}")
        else:
            left = _seconds_left(self.clock() - work.since, done - work.first, total, done)
            self._line(artifact, f"{text}{left}")

    def _due(self, work: _Work) -> bool:
        now = self.clock()
        if now - work.last < self.pause:
            return False
        work.last = now
        return True

    def _line(self, artifact: str, text: str) -> None:
        self.write(f"{artifact:<{NAME_WIDTH}} {text}")


def amount(done: int, total: int | None, note: str) -> str:
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
    """One row an artifact that the data set wants, in build order; seconds are those that this build spent."""
    rows, wanted = [], [outcome for outcome in outcomes if not outcome.unwanted]
    for artifact in ARTIFACTS:
        made = [outcome for outcome in wanted if outcome.record.artifact == artifact]
        if not made:
            continue
        counts: Counter[str] = Counter()
        for outcome in made:
            stats = outcome.record.stats.items()
            counts.update({key: value for key, value in stats if type(value) is int})
        seconds = (float(one.record.stats.get("seconds", 0)) for one in made if not one.reused)
        reused = sum(outcome.reused for outcome in made)
        rows.append(Row(artifact, len(made), reused, counts, counts["bytes"], sum(seconds)))
    return rows


_CURRENT: ContextVar[Reporter | None] = ContextVar("crmrag_reporter", default=None)


@contextmanager
def reporting_to(reporter: Reporter) -> Iterator[None]:
    """Within the block, builds of this process report to ``reporter``."""
    token = _CURRENT.set(reporter)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current_reporter(fallback: Reporter | None = None) -> Reporter:
    """The reporter of the running build, else ``fallback``, else a silent one."""
    return _CURRENT.get() or fallback or SilentReporter()


TOP = 25


def table(
    title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], where: str, level: int = 2
) -> Iterator[str]:
    """A titled table of the first rows, the others to be seen in the file ``where``; nothing when there are none."""
    if not rows:
        return
    yield from (
        "",
        f"{'#' * level} {title}",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * len(columns),
    )
    for row in rows[:TOP]:
        yield "| " + " | ".join(_cell(row.get(column)) for column in columns) + " |"
    if len(rows) > TOP:
        yield f"\nand {len(rows) - TOP:,} more (see {where})"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if type(value) in (int, float) else escaped(str(value))


def escaped(text: str) -> str:
    """Data as plain words: neither Markdown nor HTML in it takes effect."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    for sign in "\\`*_[]<>|#":
        shown = shown.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return shown
