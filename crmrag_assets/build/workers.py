"""Work of one step in several processes, chunks or parts of one artifact side by side: on this machine or a Dask cluster.

Processes of loky start afresh (nothing forked: polars and PyTorch hold threads) and do not run the caller's main module. They
are worth their start of some seconds for large data sets only, and a build keeps them from layer to layer, with what they
have opened and worked out. The workers of a cluster run already and share the data folder; one that dies has its work done
by another. All are given the context with each piece of work.
"""

from __future__ import annotations

import os
import platform
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar
from uuid import uuid4

from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from crmrag_assets.build.step import BuildContext, SilentProgress
from crmrag_query.errors import BuildError, BuildHeldUp, MissingExtraError, in_a_line
from crmrag_query.version import __version__

Item = TypeVar("Item")
Result = TypeVar("Result")
CHUNKS = 16  # that are to be made for each process, as starting one takes seconds
LOOK_SECONDS = 0.5  # between looks whether the process that gave the work is still there
# loky replaces a process that has grown by 300 MB; ours grow by what the data set needs, and start again with nothing of it.
GROWING = {"LOKY_MAX_MEMORY_LEAK_SIZE": str(1 << 50)}


def workers_of(context: BuildContext, items: int) -> int:
    """How many processes to use for so many equal items, at most one a thread: 1, which is this process, for few. A cluster
    itself decides how many it uses."""
    if context.operations.dask:
        return max(1, items)
    return max(1, min(context.threads, items // CHUNKS))


def side_by_side(
    context: BuildContext, work: Callable[[BuildContext, Item], Result], items: Sequence[Item], count: int
) -> Iterator[Result]:
    """Results of ``work`` for each item, in order, from ``count`` processes; in this one where that is 1.

    ``work`` is a function of a module, and gets a context of its own. Raises what it raises, and BuildError where a process
    was killed.
    """
    if count == 1:
        yield from (work(context, item) for item in items)
        return
    with processes(context, count) as pool:
        for future in [pool.submit(work, item) for item in items]:
            yield pool.result(future)


@dataclass(frozen=True)
class Processes:
    """Processes that work on a data set; ``context``: what each piece of work is given, of which a process keeps the one that
    came first; ``key``: of these processes' use alone."""

    pool: Executor
    name: str
    context: BuildContext
    key: str = field(default_factory=lambda: uuid4().hex)
    begun: list[Future[Any]] = field(default_factory=list)

    def submit(self, work: Callable[[BuildContext, Item], Result], item: Item) -> Future[Result]:
        """Have ``work``, a function of a module, done for an item by the next free process."""
        future = self.pool.submit(_do, __version__, self.key, self.context, work, item)
        self.begun.append(future)
        return future

    def result(self, future: Future[Result]) -> Result:
        """What came of it, waited for. Raises what the work raises, and BuildError where a process was killed."""
        try:
            return future.result()
        except BrokenProcessPool as error:
            signals = re.search(r"\{(.*?)\}", str(error))  # loky's message has them among much else
            how = f" ({signals[1]})" if signals else ""
            raise BuildError(
                f"A process that built a part of '{self.name}' was ended from outside{how}.",
                "If memory ran out, build with fewer processes: --threads 1.",
            ) from error
        except Exception as error:
            if type(error).__name__ != "KilledWorker":  # of distributed, which may not be installed
                raise
            raise BuildError(
                f"The same part of '{self.name}' ended several workers of the Dask cluster, one after the other.",
                "Give workers more memory, or have fewer on a machine; their logs tell more. What is finished is kept.",
            ) from error


@contextmanager
def processes(context: BuildContext, count: int) -> Iterator[Processes]:
    """So many processes within the block, or those of the cluster. All that was begun is waited for at the end of the block,
    and ended at once where that stops before its end."""
    given = replace(context, progress=SilentProgress(), threads=1)
    if context.operations.dask:
        with _cluster(context.operations.dask) as executor:
            yield Processes(executor, context.name, given)
        return
    with kept_processes():
        pool = _pool(context, count)
        working = Processes(pool, context.name, given)
        try:
            yield working
        except BaseException:
            _KEPT.get().clear()
            pool.shutdown(wait=True, kill_workers=True)
            raise
        wait(working.begun)


# After these a process without work ends and gives its memory back; a layer without any is shorter.
IDLE_SECONDS = 300
# By how many they are.
_KEPT: ContextVar[dict[int, ProcessPoolExecutor]] = ContextVar("crmrag_kept_processes")


@contextmanager
def kept_processes() -> Iterator[None]:
    """Within the block processes that were started once are there for all that asks for as many or fewer."""
    if _KEPT.get(None) is not None:
        yield
        return
    kept = dict[int, ProcessPoolExecutor]()
    token = _KEPT.set(kept)
    try:
        yield
    finally:
        _KEPT.reset(token)
        for pool in kept.values():
            pool.shutdown(wait=True)


def _pool(context: BuildContext, count: int) -> ProcessPoolExecutor:
    """The processes that are kept, where they are enough, else new ones in their place."""
    kept = _KEPT.get()
    if max(kept, default=0) < count:
        for pool in kept.values():
            pool.shutdown(wait=True)
        kept.clear()
        environment = GROWING | {"POLARS_MAX_THREADS": str(max(1, context.threads // count))}
        kept[count] = ProcessPoolExecutor(
            count, timeout=IDLE_SECONDS, initializer=_begin, initargs=(os.getpid(),), env=environment
        )
    return kept[max(kept)]


def _begin(parent: int) -> None:
    """A worker's start: it ends with the process that gave the work, so that it writes nothing beside a later build."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()


CLUSTER_SECONDS = 60  # for which a cluster is waited for that has no worker yet


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """The workers of a Dask cluster. BuildHeldUp where its scheduler does not answer or it has no workers."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(f"Building on the Dask cluster {address}", "dask", str(error.name)) from error
    try:
        client = Client(address, timeout=CLUSTER_SECONDS, set_as_default=False)
    except (OSError, TimeoutError) as error:
        raise BuildHeldUp(
            f"The Dask scheduler {address} does not answer ({in_a_line(error)}).",
            "Start it (dask scheduler), or take `dask` out of operations.yaml: then this machine builds alone.",
        ) from error
    try:
        try:
            client.wait_for_workers(1, timeout=CLUSTER_SECONDS)
        except TimeoutError as error:
            raise BuildHeldUp(
                f"The Dask cluster {address} has no workers.",
                f"Start some: dask worker {address} --nthreads 1",
            ) from error
        executor = client.get_executor(pure=False)
        try:
            yield executor
        finally:  # what has not begun is not begun any more
            executor.shutdown(wait=False)
    finally:
        client.close()


def _do(
    version: str, key: str, given: BuildContext, work: Callable[[BuildContext, Item], Result], item: Item
) -> Result:
    """Work in this process, on another machine perhaps. BuildError where that has another version of crmrag, or not the data
    folder."""
    if version != __version__:
        raise BuildError(
            f"A worker of the Dask cluster has crmrag {__version__}, and this build is by {version}.",
            "Install the same version on all, and start the workers again.",
        )
    context = _opened(key, given)
    if context.operations.dask and not context.store.root.is_dir():
        raise BuildError(
            f"A worker of the Dask cluster, on {platform.node()}, has no folder {context.store.root}.",
            "Workers share the data folder: mount it there at the same place.",
        )
    return work(context, item)


_OPENED: dict[str, BuildContext] = {}


def _opened(key: str, given: BuildContext) -> BuildContext:
    """The context that all work of a layer uses in this process, with what it has worked out: the first that was given."""
    if key not in _OPENED:
        _OPENED.clear()
    return _OPENED.setdefault(key, given)
