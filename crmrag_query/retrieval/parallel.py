"""Searches at the same time, each in as long as it may take; one that fails or hangs costs its own findings alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from crmrag_query.errors import TookTooLong
from crmrag_query.timing import Stopped, check, within

WORKERS: Final = 3
SECONDS: Final = 30.0
"""Of each search. Source of both: the published parallel retrieval."""
LOOKED = 0.1  # seconds after which it is looked again whether anybody still waits
T = TypeVar("T")


def at_once(
    work: Mapping[str, Callable[[], T]], seconds: float = SECONDS, workers: int = WORKERS
) -> dict[str, T | Exception]:
    """What each piece of ``work`` gives or fails with, in their order; TookTooLong for one that takes longer than it may.

    Work that hangs between its steps keeps a thread of its own, which holds up nothing else and ends with the process. Raises
    Stopped where nobody waits any more.
    """
    ended: SimpleQueue[tuple[str, T | Exception | Stopped]] = SimpleQueue()

    def run(name: str) -> None:
        try:
            with within(seconds, f"The search {name!r}", SLOW):
                ended.put((name, work[name]()))
        except (Exception, Stopped) as error:
            ended.put((name, error))

    waiting, running, found = [*work], dict[str, float](), dict[str, T | Exception]()
    while waiting or running:
        while waiting and len(running) < workers:
            name = waiting.pop(0)
            running[name] = time.monotonic() + seconds
            threading.Thread(target=copy_context().run, args=(run, name), name=name, daemon=True).start()
        try:
            name, gave = ended.get(timeout=LOOKED)
        except Empty:
            check()
        else:
            if isinstance(gave, Stopped):
                raise gave
            if running.pop(name, None) is not None:
                found[name] = gave
        for name in [name for name, end in running.items() if end < time.monotonic()]:
            del running[name]
            found[name] = TookTooLong(f"The search {name!r} took longer than {seconds:g} seconds.", SLOW)
    return {name: found[name] for name in work}


SLOW = "Ask again; if that lasts, look at the service's log and load."
