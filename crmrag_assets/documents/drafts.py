"""A line before it has a place in a text, and a document before it has a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.documents.schema import HEADER, NOTE
from crmrag_query.graph.arrays import Ints


@dataclass(frozen=True, slots=True)
class Draft:
    """A line as ``label: body``; ``targets`` are all that it states, ``total`` their number or that of its values."""

    kind: int
    key: str
    label: str
    body: str
    targets: tuple[int, ...]
    total: int

    @property
    def text(self) -> str:
        return self.body if self.kind in (HEADER, NOTE) else f"{self.label}: {self.body}"


def write(drafts: Sequence[Draft]) -> tuple[str, list[tuple[int, int]]]:
    """The text, a line for each draft, and where each begins and ends in it."""
    places: list[tuple[int, int]] = []
    at = 0
    for draft in drafts:
        places.append((at, at + len(draft.text)))
        at += len(draft.text) + 1
    return "\n".join(draft.text for draft in drafts), places


def enumerate_names(names: Iterable[str], total: int, limit: int) -> str:
    """``a; b ×3; c and 7 more``: equal names once with their number, at most ``limit`` names, and how many are left.

    ``names`` may stop short of ``total``; what was not looked at counts as more.
    """
    counts: dict[str, int] = {}
    for name in names:
        if name in counts or len(counts) < limit:
            counts[name] = counts.get(name, 0) + 1
    shown = [name if count == 1 else f"{name} ×{count}" for name, count in counts.items()]
    rest = total - sum(counts.values())
    return "; ".join(shown) + (f" and {rest} more" if rest else "")


def as_tuple(nodes: Ints) -> tuple[int, ...]:
    return tuple(np.asarray(nodes).tolist())
