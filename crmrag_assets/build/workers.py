"""Work of one step in several processes: chunks, or parts of one artifact, side by side.

Processes of loky start afresh (nothing forked: polars and PyTorch hold threads) and do not run the caller's main module. They
are worth their start of some seconds for large data sets only.
"""

from __future__ import annotations

import os
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TypeVar

from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

from crmrag_assets.build.step import BuildContext, SilentProgress
from crmrag_query.errors import BuildError

Item = TypeVar("Item")
Result = TypeVar("Result")
CHUNKS = 16  # that are to be made for each process, as starting one takes seconds
LOOK_SECONDS = 0.5  # between looks whether the process that gave the work is still there
# One that has grown by what its chunks needed is replaced, which is as it should be, and nothing to tell the user.
warnings.filterwarnings("ignore", message="A worker was restarted while some jobs", category=UserWarning)
_OPENED: dict[str, BuildContext] = {}


def workers_of(context: BuildContext, items: int) -> int:
    """How many processes to use for so many equal items, at most one a thread: 1, which is this process, for few."""
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
    """Processes that work on a data set, each with a context of its own."""

    pool: ProcessPoolExecutor
    name: str

    def submit(self, work: Callable[[BuildContext, Item], Result], item: Item) -> Future[Result]:
        """Have ``work``, a function of a module, done for an item by the next free process."""
        given: Future[Result] = self.pool.submit(_do, work, item)
        return given

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


@contextmanager
def processes(context: BuildContext, count: int) -> Iterator[Processes]:
    """So many processes within the block; they are ended at once where it stops before its end."""
    given = replace(context, progress=SilentProgress(), threads=1)
    environment = {"POLARS_MAX_THREADS": str(max(1, context.threads // count))}
    pool = ProcessPoolExecutor(count, initializer=_begin, initargs=(given, os.getpid()), env=environment)
    try:
        yield Processes(pool, context.name)
    except BaseException:
        pool.shutdown(wait=True, kill_workers=True)
        raise
    pool.shutdown(wait=True)


def _begin(context: BuildContext, parent: int) -> None:
    """A worker's start: it ends with the process that gave the work, so that it writes nothing beside a later build."""
    _OPENED["context"] = context

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(LOOK_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()


def _do(work: Callable[[BuildContext, Item], Result], item: Item) -> Result:
    return work(_OPENED["context"], item)
