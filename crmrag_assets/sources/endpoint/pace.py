"""When the next request may start: a pause between any two, and longer ones for everybody after a failure."""

from __future__ import annotations

import threading
import time


class Pace:
    """Shared by all threads that ask one endpoint; counts the seconds that were waited."""

    def __init__(self, pause: float) -> None:
        self._pause = pause
        self._next = 0.0
        self._waited = 0.0
        self._lock = threading.Lock()

    def turn(self) -> None:
        """Wait until a request may start."""
        while (left := self._left()) > 0:  # a failure elsewhere may have put the start off meanwhile
            time.sleep(left)

    def _left(self) -> float:
        """Seconds until a request may start, which are taken to be waited; 0 where one may, and the turn is taken."""
        with self._lock:
            now = time.monotonic()
            left = max(0.0, self._next - now)
            self._waited += left
            if not left:
                self._next = now + self._pause
        return left

    def back_off(self, seconds: float) -> None:
        """No request, of any thread, starts within these seconds from now."""
        with self._lock:
            self._next = max(self._next, time.monotonic() + seconds)

    def taken(self) -> float:
        """Seconds waited since the last call."""
        with self._lock:
            waited, self._waited = self._waited, 0.0
        return waited
