"""Colour refinement of blank nodes: what tells them apart whatever their labels (Weisfeiler & Leman 1968)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pyoxigraph as ox

TIED_LIMIT = (
    6  # nodes of equal colour that RDFC-1.0 may permute: its cost is exponential in them (7: 0.2 s, 8: 2 s)
)
VISITS_LIMIT = 5_000_000  # edges looked at for one component: a few seconds, whatever its shape

Colour = dict[str, int]
Shape = dict[
    str, list[tuple[str, str]]
]  # node -> (direction and constant part, other blank node or "") of its edges


@dataclass(frozen=True, slots=True)
class Colours:
    """Colour of each node; ``proven`` False where the order of the quads may have decided among equals."""

    colour: Colour
    proven: bool


def colours(quads: Sequence[ox.Quad]) -> Colours:
    """Colours by the shape of one component, refined until at most ``TIED_LIMIT`` nodes share theirs.

    Nodes of equal colour in a tree are interchangeable, so there a traversal tells the rest apart. Elsewhere one node
    is set apart and refinement goes on: right for the usual symmetries (rings, cliques), but not proven.
    """
    shape = _shape_of(quads)
    cost = sum(map(len, shape.values()))
    colour = dict.fromkeys(shape, 0)
    tree, proven = _is_tree(shape), True
    for _ in range(VISITS_LIMIT // cost + 1):
        if _tied(colour) <= TIED_LIMIT:
            return Colours(colour, proven)
        refined = _refined(shape, colour)
        if max(refined.values()) == max(colour.values()):
            if tree:
                return Colours(_traversed(shape, colour), True)
            refined, proven = _set_apart(refined), False
        colour = refined
    return Colours(_traversed(shape, colour), False)


def _shape_of(quads: Sequence[ox.Quad]) -> Shape:
    shape: Shape = {}
    for s, p, o, g in quads:
        subject = s.value if isinstance(s, ox.BlankNode) else ""
        object_ = o.value if isinstance(o, ox.BlankNode) else ""
        if subject and subject == object_:
            shape.setdefault(subject, []).append((f"loop {p} {g}", ""))
            continue
        if subject:
            shape.setdefault(subject, []).append((f"out {p} {g} {'' if object_ else o}", object_))
        if object_:
            shape.setdefault(object_, []).append((f"in {p} {g} {'' if subject else s}", subject))
    return shape


def _is_tree(shape: Shape) -> bool:
    pairs = {(node, other) for node, edges in shape.items() for _, other in edges if node < other}
    return len(pairs) == len(shape) - 1


def _refined(shape: Shape, colour: Colour) -> Colour:
    """Each colour split by the edges and the colours at their other ends; the order of colours is kept."""
    at = {"": -1, **colour}
    seen = {
        node: (colour[node], tuple(sorted((part, at[other]) for part, other in edges)))
        for node, edges in shape.items()
    }
    rank = {signature: number for number, signature in enumerate(sorted(set(seen.values())))}
    return {node: rank[signature] for node, signature in seen.items()}


def _tied(colour: Colour) -> int:
    return sum(size for size in Counter(colour.values()).values() if size > 1)


def _set_apart(colour: Colour) -> Colour:
    """One node of the first tied colour goes before the others of its colour."""
    tied = min(number for number, size in Counter(colour.values()).items() if size > 1)
    chosen = next(node for node, number in colour.items() if number == tied)
    return {node: number + (number >= tied and node != chosen) for node, number in colour.items()}


def _traversed(shape: Shape, colour: Colour) -> Colour:
    """Places in a depth-first traversal from a node of the least colour, along edges in order of their colours."""
    place: Colour = {}
    waiting = [min(shape, key=colour.__getitem__)]
    while waiting:
        node = waiting.pop()
        if node not in place:
            place[node] = len(place)
            edges = sorted((part, colour[other], other) for part, other in shape[node] if other)
            waiting.extend(other for _, _, other in reversed(edges))
    return place
