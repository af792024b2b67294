"""What was found lately and may be asked for again: so many, for a time, made once even where several ask at the same
time."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar, cast

from crmrag_query.timing import check

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
