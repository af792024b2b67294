"""Milliseconds by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Times stages: ``with clock("dense"): …`` adds to ``clock.spent["dense"]``, in milliseconds."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + 1000 * (time.perf_counter() - start)
