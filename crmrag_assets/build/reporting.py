"""Who is told how a build goes on: the command line's bars, Dagster's log, or nobody."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Protocol

from crmrag_assets.build.progress import Progress, SilentProgress
from crmrag_assets.build.step import Outcome


class Reporter(Protocol):
    """Told of every artifact of a build, in the order of work."""

    def started(self, artifact: str, chunks: int) -> None:
        """Work on an artifact begins; ``chunks`` is 1 for an artifact of the whole data set."""

    def progress(self, artifact: str) -> Progress:
        """Where a step reports its own progress."""

    def finished(self, outcome: Outcome) -> None:
        """An artifact or one chunk of it is finished."""

    def told(self, text: str) -> None:
        """Something that a person who waits should know, in a sentence."""


class SilentReporter:
    """Tells nobody."""

    def started(self, artifact: str, chunks: int) -> None:
        pass

    def progress(self, artifact: str) -> Progress:
        return SilentProgress()

    def finished(self, outcome: Outcome) -> None:
        pass

    def told(self, text: str) -> None:
        pass


@dataclass
class LogReporter:
    """Writes a line now and then, at most one in ``pause`` seconds within a step."""

    write: Callable[[str], None]
    pause: float = 5.0
    _chunks: dict[str, tuple[int, int]] = field(default_factory=dict)

    def started(self, artifact: str, chunks: int) -> None:
        self._chunks[artifact] = (0, chunks)

    def progress(self, artifact: str) -> Progress:
        return _LineProgress(artifact, self.write, self.pause)

    def finished(self, outcome: Outcome) -> None:
        artifact = outcome.record.artifact
        done, chunks = self._chunks.get(artifact, (0, 1))
        self._chunks[artifact] = (done + 1, chunks)
        how = "unchanged" if outcome.reused else f"{outcome.record.stats.get('seconds', 0):.1f} s"
        self.write(f"{artifact}{f' {outcome.chunk}' if outcome.chunk else ''} ({done + 1}/{chunks}): {how}")

    def told(self, text: str) -> None:
        self.write(text)


@dataclass
class _LineProgress:
    artifact: str
    write: Callable[[str], None]
    pause: float
    last: float = field(default_factory=time.monotonic)

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        if time.monotonic() - self.last < self.pause:
            return
        self.last = time.monotonic()
        self.write(f"{self.artifact}: {done:,}{f' of {total:,}' if total else ''} {note}".rstrip())


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
