"""How far a step has come: the seam between build functions and whatever shows progress to a person."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told by a build function how far it has come; must be cheap and never raise."""

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        """``done`` of ``total`` units (bytes, chunks, documents); None while the total is unknown."""


class SilentProgress:
    """Progress that nobody watches."""

    def advance(self, done: int, total: int | None = None, note: str = "") -> None:
        return None
