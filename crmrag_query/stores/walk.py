"""Walking from an entity to what is around it, the same in every store: step by step, with a limit to each step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

HUB = 500  # triples from which an entity is told with their number and not followed; the one asked about always is
OWN, FURTHER = 60, 12  # triples that are told of the entity asked about, and of each other that is followed
TOLD = 2  # triples at most, times as many as entities that are asked for

T = TypeVar("T")
Beside = tuple[int, Iterable[tuple[T, int]]]
"""Of an entity: how many triples join it with others; some of them, and the entity at the other end of each."""


def explore(
    centre: int, hops: int, limit: int, beside: Callable[[Sequence[int], int], Iterable[Beside[T]]]
) -> tuple[dict[int, int], list[T], bool]:
    """How far entities are from ``centre``, at most ``limit`` within ``hops``; the triples that lead to them, each once;
    whether nothing is left out. ``beside``: for each of some entities, in their order, at most so many of its triples."""
    far, frontier, whole = {centre: 0}, [centre], True
    told: dict[T, None] = {}
    for hop in range(1, hops + 1):
        most, following = OWN if hop == 1 else FURTHER, list[int]()
        for node, (total, triples) in zip(frontier, beside(frontier, most), strict=True):
            if node != centre and total > HUB:
                whole = False
                continue
            whole &= total <= most
            for triple, other in triples:
                if (other not in far and len(far) > limit) or len(told) >= limit * TOLD:
                    whole = False
                    continue
                if other not in far:
                    far[other] = hop
                    following.append(other)
                told[triple] = None
        if not following:
            break
        frontier = following
    return far, [*told], whole
