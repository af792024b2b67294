"""How long work may take, and whether anybody still waits for it: set by who begins it, looked at between its steps;
milliseconds by stage; and what was made lately, kept for a time and made once even where several ask at the same time.

By OpenTelemetry, a question and each of its stages are spans of a trace: without the extra ``traces``, or where nothing
collects them, spans are nothing and cost next to nothing. FastAPI makes the spans of requests. Programs that use the client
see the stages in the traces that they collect themselves.
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar, cast

from crmrag_query.errors import TookTooLong


class Stopped(BaseException):
    """Work is to end here. No Exception, so that no step that goes on without what failed goes on after this."""


BUSY = 4.0
"""How many times as long work may take by the clock as it may take of a processor: as much as others may slow it."""


@dataclass(frozen=True, slots=True)
class _Bounds:
    """``end`` by the monotonic clock; ``worked``: a thread, the seconds of a processor at which its work ends, and the time
    by the monotonic clock before which it cannot have worked as long; ``gone``: set once nobody waits any more."""

    end: float = math.inf
    worked: tuple[int, float, float] = (0, math.inf, math.inf)
    gone: threading.Event | None = None

    @property
    def unwanted(self) -> bool:
        return self.gone is not None and self.gone.is_set()

    @property
    def over(self) -> bool:
        now, (thread, end, earliest) = time.monotonic(), self.worked
        if now >= earliest and thread == threading.get_ident() and time.thread_time() >= end:
            return True
        return now >= self.end


_NONE = _Bounds()
_BOUNDS: ContextVar[_Bounds] = ContextVar("bounds", default=_NONE)


def check() -> None:
    """Raise Stopped where the time is over or nobody waits; called between steps, and cheap."""
    bounds = _BOUNDS.get()
    if bounds.unwanted or bounds.over:
        raise Stopped


@contextmanager
def within(seconds: float, what: str, remedy: str) -> Iterator[None]:
    """Work that may take so many seconds by the clock, less where work around it has less left.

    Raises TookTooLong, which says ``what`` took longer, where these were over; Stopped passes where those around it were.
    """
    outer = _BOUNDS.get()
    yield from _bounded(replace(outer, end=min(time.monotonic() + seconds, outer.end)), seconds, what, remedy)


@contextmanager
def working(seconds: float, what: str, remedy: str) -> Iterator[None]:
    """Work of this thread that may take so many seconds of a processor, and by the clock `BUSY` times as many.

    So a question has the same answer on a busy machine as on an idle one. Raises as `within` does.
    """
    outer, ident, now = _BOUNDS.get(), threading.get_ident(), time.monotonic()
    worked = (ident, time.thread_time() + seconds, now + seconds)
    if outer.worked[0] == ident:
        worked = min(worked, outer.worked)
    end = min(now + BUSY * seconds, outer.end)
    yield from _bounded(replace(outer, end=end, worked=worked), seconds, what, remedy)


def _bounded(bounds: _Bounds, seconds: float, what: str, remedy: str) -> Iterator[None]:
    outer, token = _BOUNDS.get(), _BOUNDS.set(bounds)
    try:
        yield
    except Stopped:
        if outer.unwanted or outer.over:
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


try:
    from opentelemetry import trace

    _TRACER: Any = trace.get_tracer("crmrag")
except ModuleNotFoundError:
    _TRACER = None


QUESTIONS = "CRMRAG_TRACE_QUESTIONS"


def tells_questions() -> bool:
    """Whether questions, which may be personal, shall stand in traces: where the environment says so."""
    return bool(os.environ.get(QUESTIONS))


class _Untraced:
    """In place of a span."""

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        pass


def span(name: str) -> AbstractContextManager[Any]:
    """A span around work in this thread, below which spans of its stages stand."""
    if _TRACER is None:
        return nullcontext(_Untraced())
    manager: AbstractContextManager[Any] = _TRACER.start_as_current_span(name)
    return manager


@contextmanager
def _span_of(stage: str) -> Iterator[None]:
    """A span of a stage. Never the current one: what a stage yields to is not part of it."""
    if _TRACER is None:
        yield
        return
    started = _TRACER.start_span(stage)
    try:
        yield
    finally:
        started.end()


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
            with _span_of(stage):
                yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + 1000 * (time.perf_counter() - start)


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
LOOKED = 0.1  # seconds after which it is looked again whether anybody still waits


@dataclass
class Tally:
    """How often what was asked for was there, and how often it had to be made."""

    hits: int = 0
    misses: int = 0


TALLIES: dict[str, Tally] = {}
"""Of this process since it began, by what is kept, whichever object keeps it."""


@dataclass
class _Entry(Generic[V]):
    """``value`` counts once ``ready`` is set, unless it ``failed``."""

    end: float
    value: V | None = None
    failed: bool = False
    ready: threading.Event = field(default_factory=threading.Event)


class Kept(Generic[K, V]):
    """The latest ``most`` values by their keys, each for so many ``seconds``; safe for threads.

    ``name``: under which hits are counted in TALLIES; "" for none.
    """

    def __init__(self, most: int, seconds: float = math.inf, name: str = "") -> None:
        self._most, self._seconds = most, seconds
        self._entries: OrderedDict[K, _Entry[V]] = OrderedDict()
        self._lock = threading.Lock()
        self._tally = TALLIES.setdefault(name, Tally()) if name else Tally()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made where there is none; what ``make`` raises is raised, and nothing is kept.

        Raises Stopped where it is made elsewhere and nobody waits any more.
        """
        while True:
            entry, own = self._entry(key)
            if own:
                return self._made(key, entry, make)
            while not entry.ready.wait(LOOKED):
                check()
            if not entry.failed:
                return cast(V, entry.value)

    def find(self, key: K) -> V | None:
        """The value of a key; None where there is none, or it is not made yet."""
        with self._lock:
            entry = self._live(key)
            there = entry is not None and entry.ready.is_set()
            self._tally.hits += there
            self._tally.misses += not there
            return entry.value if entry is not None and there else None

    def put(self, key: K, value: V) -> None:
        with self._lock:
            entry = self._new(key)
            entry.value = value
            entry.ready.set()

    def _made(self, key: K, entry: _Entry[V], make: Callable[[], V]) -> V:
        try:
            entry.value = make()
            return entry.value
        except BaseException:
            entry.failed = True
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            raise
        finally:
            entry.ready.set()

    def _entry(self, key: K) -> tuple[_Entry[V], bool]:
        """The entry of a key, and whether it is new, so that its value is to be made by who asked."""
        with self._lock:
            entry = self._live(key)
            self._tally.hits += entry is not None
            self._tally.misses += entry is None
            return (self._new(key), True) if entry is None else (entry, False)

    def _live(self, key: K) -> _Entry[V] | None:
        entry = self._entries.get(key)
        if entry is None or entry.end <= time.monotonic():
            return None
        self._entries.move_to_end(key)
        return entry

    def _new(self, key: K) -> _Entry[V]:
        entry = self._entries[key] = _Entry(time.monotonic() + self._seconds)
        self._entries.move_to_end(key)
        while len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return entry


WARNED: Kept[str, bool] = Kept(1000, 600.0)


def warn_seldom(logger: logging.Logger, text: str) -> None:
    """Warn, and not again of the same for ten minutes: what is wrong with a request is so with each."""
    if WARNED.find(text) is None:
        WARNED.put(text, True)
        logger.warning("%s", text)
