"""Tables compared as bags of rows: whatever the order of rows and columns, and whatever columns an answer has besides."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

Columns = Sequence[Sequence[str]]
"""A table column by column, all as long."""


def matched_columns(gold: Columns, answer: Columns) -> tuple[int, ...] | None:
    """For each column of ``gold`` the column of ``answer`` that holds it, such that the rows are the same bag; else None.

    No column of the answer stands for two of the gold, and its other columns are left out. Both tables must have as many
    rows: the rows that a further column multiplies are rows. The first such choice in the order of the columns is given.
    """
    if not gold or len(answer) < len(gold) or len(gold[0]) != len(answer[0]):
        return None
    held = [Counter(column) for column in answer]
    fits = []
    for column in gold:
        wanted = Counter(column)
        fits.append([place for place, found in enumerate(held) if found == wanted])
    whole = Counter(zip(*gold, strict=True))
    for chosen in _choices(fits, ()):
        if Counter(zip(*(answer[place] for place in chosen), strict=True)) == whole:
            return chosen
    return None


def _choices(fits: Sequence[Sequence[int]], chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every way to give each column another one that it fits, the first choices first."""
    if len(chosen) == len(fits):
        return [chosen]
    free = [place for place in fits[len(chosen)] if place not in chosen]
    return [whole for place in free for whole in _choices(fits, (*chosen, place))]
