"""Two rankings as one, turn by turn."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import zip_longest
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)
_END = object()


def interleave(first: Sequence[Item], second: Sequence[Item]) -> list[Item]:
    """The first of ``first``, the first of ``second``, the second of ``first`` …, each item at its first place only.

    For dual retrieval: the ranking of the question as read with what went before, and that of the question as it stands
    (facts: method, Conversation). When one ends, the rest of the other follows.

    >>> interleave([1, 2, 3], [2, 4])
    [1, 2, 4, 3]
    """
    return list(dict.fromkeys(_alternating(first, second)))


def _alternating(first: Sequence[Item], second: Sequence[Item]) -> Iterator[Item]:
    for pair in zip_longest(first, second, fillvalue=_END):
        for item in pair:
            if item is not _END:
                yield item  # type: ignore[misc]
