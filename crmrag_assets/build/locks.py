"""Locks, which the operating system frees with the process that holds them: one build a data set at a time, and turns at a
server, so that whoever shares a data folder asks it so many things at once, and no more. A killed build keeps nobody
waiting."""

from __future__ import annotations

import os
import random
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

from filelock import FileLock, Timeout

from crmrag_assets.build.step import BuildContext, current_reporter
from crmrag_query.errors import BuildError, SourceUnreachable


class BeingBuilt(BuildError):
    """Another process holds the lock of the data set."""


NAME, HOLDER = ".lock", ".holder"
GRACE = 0.2  # seconds for which a look at the lock may hold it


@contextmanager
def dataset_lock(root: Path, dataset: str) -> Iterator[None]:
    """Hold the lock of a data set's working folder ``root``.

    The operating system frees it when the holder dies, however it dies; the same process may take it again.
    Raises BeingBuilt, naming the holder, when another process holds it.
    """
    root.mkdir(parents=True, exist_ok=True)
    holder = root / HOLDER
    lock = FileLock(root / NAME, timeout=GRACE, is_singleton=True)
    try:
        lock.acquire()
    except Timeout:
        pid = holder.read_text(encoding="utf-8").strip() if holder.exists() else "?"
        remedy = "Wait until it ends, or stop it; what it has finished is kept."
        raise BeingBuilt(
            f"Data set '{dataset}' is being built by another process (id {pid}).", remedy
        ) from None
    try:
        holder.write_text(f"{os.getpid()}\n", encoding="utf-8")
        yield
    finally:
        lock.release()


EMBEDDING = ".embedding"


@contextmanager
def embedding_lock(root: Path, dataset: str) -> Iterator[None]:
    """Hold the right to encode a data set's vectors, beside which it may be built. BuildError when another process does."""
    root.mkdir(parents=True, exist_ok=True)
    lock = _lock(root / EMBEDDING)
    if not _is_taken(lock):
        raise BuildError(
            f"The vectors of '{dataset}' are being made by another process.", "Wait until it ends."
        )
    try:
        yield
    finally:
        lock.release()


def is_embedding(root: Path) -> bool:
    """Whether somebody encodes a data set's vectors at this moment, this process included."""
    return (root / EMBEDDING).exists() and _is_held(_lock(root / EMBEDDING))


def is_locked(root: Path) -> bool:
    """Whether somebody holds the lock of a data set's working folder at this moment, this process included."""
    return (root / NAME).exists() and _is_held(FileLock(root / NAME, timeout=0))


def _is_taken(lock: FileLock) -> bool:
    """Whether the lock was free, and is the caller's now."""
    try:
        lock.acquire()
    except Timeout:
        return False
    return True


def _is_held(lock: FileLock) -> bool:
    if not _is_taken(lock):
        return True
    lock.release()
    return False


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
        # The last ones first: those who may ask more at once leave the first ones to the others.
        locks = [_lock(self.folder / str(number)) for number in reversed(range(self.most))]
        end = time.monotonic() + self.patience
        while (taken := next(filter(_is_taken, locks), None)) is None:
            if time.monotonic() > end:
                raise SourceUnreachable(
                    f"{self.server} has been asked by other builds for {self.patience:g} s.",
                    "Wait until they end; it is asked again later.",
                )
            time.sleep(random.uniform(*LOOK_SECONDS))
        try:
            yield
        finally:
            taken.release()

    @contextmanager
    def reading(self, dataset: str) -> Iterator[tuple[str, ...]]:
        """Within the block, others see that the data set asks this server; gives the data sets that do so already."""
        folder = self.folder / READERS
        own = _lock(folder / dataset)
        taken = _is_taken(own)
        try:
            others = sorted(path.name for path in folder.iterdir() if path.name != dataset)
            yield tuple(name for name in others if _is_held(_lock(folder / name)))
        finally:
            if taken:
                own.release()


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


GUESSED = "openai"  # litellm's provider of a model that is named without one
_REPORTED: set[tuple[str, str, tuple[str, ...]]] = set()  # data set, server, and with whom it is shared


def server_turns(context: BuildContext) -> dict[str, Turns]:
    """Where the data set's requests take turns, by the servers that its sources ask; none of files."""
    most = context.operations.limits.endpoint_requests or sys.maxsize
    servers = [server for one in context.config.sources if (server := one.config.server())]
    return {server: turns_at(context.data, server, most) for server in servers}


def api_turns(context: BuildContext) -> Turns | None:
    """Where the data set's requests take turns at its embedding API; None of a model of one's own."""
    embedding = context.config.embedding
    if embedding.provider != "litellm":
        return None
    provider, named, _ = embedding.model.partition("/")
    return turns_at(context.data, provider if named else GUESSED, context.operations.limits.api_requests)


@contextmanager
def asking_servers(context: BuildContext) -> Iterator[None]:
    """Within the block others see which servers are asked; the reporter is told once whom they are shared with."""
    turns = server_turns(context)
    with ExitStack() as stack:
        for one in context.config.sources:
            if server := one.config.server():
                most = one.config.resolved(context.method.requests).parallel
                stack.enter_context(_shared(context, turns[server].at_most(most), one.kind))
        yield


@contextmanager
def asking_api(context: BuildContext) -> Iterator[None]:
    """Within the block others see that the embedding API is asked; the reporter is told once whom it is shared with."""
    with _shared(context, api_turns(context), "embedding API"):
        yield


@contextmanager
def _shared(context: BuildContext, turns: Turns | None, what: str) -> Iterator[None]:
    if turns is None:
        yield
        return
    with turns.reading(context.name) as others:
        known = (context.name, turns.server, others)
        if others and known not in _REPORTED:
            _REPORTED.add(known)
            current_reporter().remark(
                f"The {what} {turns.server} is asked for {' and '.join(map(repr, others))} too: "
                f"they take turns, {turns.most} at once at most, so this takes longer than alone."
            )
        yield
