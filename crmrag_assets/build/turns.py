"""Taking turns at a server: whoever shares a data folder asks it so many things at once, and no more.

Every request takes one of a few locks, which the operating system frees with the process that holds them: a killed build
keeps nobody waiting.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from filelock import FileLock, Timeout

from crmrag_query.errors import SourceUnreachable

FOLDER, READERS, CLOCK = "turns", "readers", "clock"
LOOK_SECONDS = 0.02, 0.06  # between looks for a free lock, at random, so that none is always the last
_NO_NAME = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True)
class Turns:
    """The turns at one server, of which ``folder`` holds the locks; ``most`` requests at once.

    ``patience``: seconds after which a request that found no turn is given up.
    """

    folder: Path
    server: str
    most: int
    patience: float = inf

    @property
    def clock(self) -> Path:
        """The file that holds when the next request may start."""
        return self.folder / CLOCK

    def at_most(self, requests: int) -> Turns:
        """With no more requests at once than these."""
        return replace(self, most=min(self.most, requests))

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Within the block, one of the requests at once is the caller's. SourceUnreachable at the end of patience."""
        lock = self._taken()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def reading(self, dataset: str) -> Iterator[tuple[str, ...]]:
        """Within the block, others see that the data set asks this server; gives the data sets that do so already."""
        with ExitStack() as stack:
            own = _lock(self.folder / READERS / dataset)
            if _free(own):
                stack.callback(own.release)
            yield self._readers(dataset)

    def _readers(self, but: str) -> tuple[str, ...]:
        there = sorted(path.name for path in (self.folder / READERS).iterdir() if path.name != but)
        return tuple(name for name in there if _is_held(self.folder / READERS / name))

    def _taken(self) -> FileLock:
        """A free lock, the last ones first: those who may ask more at once leave the first ones to the others."""
        locks = [_lock(self.folder / str(number)) for number in reversed(range(self.most))]
        end = time.monotonic() + self.patience
        while True:
            for lock in locks:
                if _free(lock):
                    return lock
            if time.monotonic() > end:
                raise SourceUnreachable(
                    f"{self.server} has been asked by other builds for {self.patience:g} s.",
                    "Wait until they end; it is asked again later.",
                )
            time.sleep(random.uniform(*LOOK_SECONDS))


def turns_at(data: Path, server: str, most: int) -> Turns:
    """The turns at a server (`data.museum.example`, `openai`) of those who share a data folder."""
    return Turns(data / FOLDER / _NO_NAME.sub("_", server), server, most)


@dataclass
class SharedClock:
    """When the next request may start, in seconds since 1970, kept in a file for all processes.

    What lies further ahead than ``longest`` seconds is taken for nonsense: the machine's clock was changed.
    """

    file: Path
    longest: float = 3600.0

    def moved(self, move: Callable[[float, float], float]) -> tuple[float, float]:
        """Move the time on by ``move`` of it and of now; gives what it was before, and now."""
        with FileLock(self.file.with_suffix(".lock")):
            now, known = time.time(), self._read()
            before = known if known <= now + self.longest else now
            if (after := move(before, now)) != known:
                self.file.write_text(f"{after:.6f}", encoding="ascii")
            return before, now

    def _read(self) -> float:
        try:
            return float(self.file.read_text(encoding="ascii"))
        except (OSError, ValueError):  # never written, or by a process that was killed
            return 0.0


def _lock(path: Path) -> FileLock:
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path, timeout=0, thread_local=False)


def _free(lock: FileLock) -> bool:
    """Whether the lock could be taken, and is."""
    try:
        lock.acquire()
    except Timeout:
        return False
    return True


def _is_held(path: Path) -> bool:
    lock = _lock(path)
    if not _free(lock):
        return True
    lock.release()
    return False
