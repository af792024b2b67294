"""When the next request may start: a pause between any two, and longer ones for everybody after a failure."""

from __future__ import annotations

import threading
import time
from typing import Protocol

from crmrag_assets.build.turns import SharedClock, Turns


class Clock(Protocol):
    """Holds when the next request may start."""

    def take(self, pause: float) -> float:
        """Seconds until a request may start; 0 where one may, and then the next one may after the pause."""
        ...

    def put_off(self, seconds: float) -> None:
        """No request starts within these seconds from now."""
        ...


class OwnClock:
    """Of this process alone."""

    def __init__(self) -> None:
        self._next = 0.0

    def take(self, pause: float) -> float:
        now = time.monotonic()
        left = max(0.0, self._next - now)
        if not left:
            self._next = now + pause
        return left

    def put_off(self, seconds: float) -> None:
        self._next = max(self._next, time.monotonic() + seconds)


class CommonClock:
    """Of all processes that take turns at the endpoint."""

    def __init__(self, turns: Turns) -> None:
        self._clock = SharedClock(turns.clock)

    def take(self, pause: float) -> float:
        before, now = self._clock.moved(lambda due, now: now + pause if due <= now else due)
        return max(0.0, before - now)

    def put_off(self, seconds: float) -> None:
        self._clock.moved(lambda due, now: max(due, now + seconds))


class Pace:
    """Shared by all threads that ask one endpoint; counts the seconds that were waited."""

    def __init__(self, pause: float, clock: Clock | None = None) -> None:
        self._pause = pause
        self._clock = clock or OwnClock()
        self._waited = 0.0
        self._lock = threading.Lock()

    def turn(self) -> None:
        """Wait until a request may start."""
        while (left := self._left()) > 0:  # a failure elsewhere may have put the start off meanwhile
            time.sleep(left)

    def _left(self) -> float:
        """Seconds until a request may start, which are taken to be waited; 0 where one may, and the turn is taken."""
        with self._lock:
            left = self._clock.take(self._pause)
            self._waited += left
        return left

    def back_off(self, seconds: float) -> None:
        """No request, of any thread, starts within these seconds from now."""
        with self._lock:
            self._clock.put_off(seconds)

    def taken(self) -> float:
        """Seconds waited since the last call."""
        with self._lock:
            waited, self._waited = self._waited, 0.0
        return waited
