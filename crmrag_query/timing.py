"""How long work may take, and whether anybody still waits for it: set by who begins it, looked at between its steps; and
milliseconds by stage."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from crmrag_query import traces
from crmrag_query.errors import TookTooLong


class Stopped(BaseException):
    """Work is to end here. No Exception, so that no step that goes on without what failed goes on after this."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """``end`` by the monotonic clock; ``gone``: set once nobody waits any more."""

    end: float = math.inf
    gone: threading.Event | None = None

    @property
    def unwanted(self) -> bool:
        return self.gone is not None and self.gone.is_set()


_NONE = _Bounds()
_BOUNDS: ContextVar[_Bounds] = ContextVar("bounds", default=_NONE)


def check() -> None:
    """Raise Stopped where the time is over or nobody waits; called between steps, and cheap."""
    bounds = _BOUNDS.get()
    if bounds.unwanted or time.monotonic() >= bounds.end:
        raise Stopped


@contextmanager
def within(seconds: float, what: str, remedy: str) -> Iterator[None]:
    """Work that may take so many seconds, less where work around it has less left.

    Raises TookTooLong, which says ``what`` took longer, where these were over; Stopped passes where those around it were.
    """
    outer, end = _BOUNDS.get(), time.monotonic() + seconds
    token = _BOUNDS.set(replace(outer, end=min(end, outer.end)))
    try:
        yield
    except Stopped:
        if outer.unwanted or outer.end <= end:
            raise
        raise TookTooLong(f"{what} took longer than {seconds:g} seconds.", remedy) from None
    finally:
        _BOUNDS.reset(token)


@contextmanager
def while_wanted(gone: threading.Event) -> Iterator[None]:
    """Work that ends, and with it this block, once ``gone`` is set."""
    token = _BOUNDS.set(replace(_BOUNDS.get(), gone=gone))
    try:
        yield
    except Stopped:
        if not gone.is_set():
            raise
    finally:
        _BOUNDS.reset(token)


class Clock:
    """Times stages: ``with clock("dense"): …`` adds to ``clock.spent["dense"]``, in milliseconds, and is a span of the
    question's trace. Raises Stopped."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        check()
        start = time.perf_counter()
        try:
            with traces.stage(stage):
                yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + 1000 * (time.perf_counter() - start)
