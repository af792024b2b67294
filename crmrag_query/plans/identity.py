"""Which entities are the same: by owl:sameAs and its like, or by a link to the same entry of an authority.

Suspected merges of identities say nothing: what leads to or from one is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from crmrag_query.graph.arrays import FLAG_SUSPECT, Ints, Longs
from crmrag_query.plans.world import World, distinct


def representatives(world: World) -> Ints:
    """For each node the lowest of the entities that are the same (of nodes, where none is an entity), int32 [n]."""
    a, b = _stated(world)
    c, d = _shared(world)
    joined = _components(world.size, np.concatenate([a, c]), np.concatenate([b, d]))
    first = np.full(world.size, world.size, np.int32)
    entities = np.flatnonzero(world.entities).astype(np.int32)
    np.minimum.at(first, joined[entities], entities)
    found: Ints = np.where(first[joined] < world.size, first[joined], joined).astype(np.int32)
    return found


def once(world: World, nodes: Ints) -> tuple[Ints, Longs]:
    """Of ``nodes`` (ascending) the lowest of those that are the same, and for each node its place among them."""
    _, first, place = np.unique(world.identity[nodes], return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return nodes[first[order]], rank[place]


def how_many(world: World, nodes: Ints) -> int:
    """How many different entities the nodes are."""
    return len(distinct(world.identity[nodes].astype(np.int64)))


def same_cells(world: World, cells: Longs) -> Longs:
    """The cells, nodes replaced by what stands for all that are the same."""
    node = cells < world.size
    return np.where(node, world.identity[np.where(node, cells, 0)], cells).astype(np.int64)


def _stated(world: World) -> tuple[Ints, Ints]:
    """Nodes that a property states to be the same."""
    rows = world.adjacency.forward
    subjects, objects = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for name in world.config.same_properties:
        number = world.property_numbers.get(name)
        for one in world.adjacency.by_code.get(name, ()) if number is None else (number,):
            part = slice(int(rows.prop[one]), int(rows.prop[one + 1]))
            start, end = rows.ptr[part], rows.ptr[int(rows.prop[one]) + 1 : int(rows.prop[one + 1]) + 1]
            subjects.append(np.repeat(rows.row[part], end - start))
            objects.append(np.asarray(rows.val[rows.ptr[rows.prop[one]] : rows.ptr[rows.prop[one + 1]]]))
    return _sound(world, np.concatenate(subjects), np.concatenate(objects))


def _shared(world: World) -> tuple[Ints, Ints]:
    """Nodes that link to the same entry of an authority, each with the lowest of them."""
    import pyarrow.compute as pc

    table = world.graph.link_table
    a, b = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for pattern in world.config.same_iris:
        whole, id = f"^(?:{pattern})$", re.compile(pattern).groupindex["id"]
        has = pc.match_substring_regex(table.column("iri"), whole)
        names = pc.replace_substring_regex(table.column("iri").filter(has), whole, rf"\{id}")
        words = names.dictionary_encode().indices.to_numpy(zero_copy_only=False)
        node = table.column("node").filter(has).to_numpy(zero_copy_only=False)
        lowest = np.full(int(words.max()) + 1 if len(words) else 0, world.size, np.int32)
        np.minimum.at(lowest, words, node)
        a.append(node)
        b.append(lowest[words])
    return _sound(world, np.concatenate(a), np.concatenate(b))


def _sound(world: World, a: Ints, b: Ints) -> tuple[Ints, Ints]:
    flags = world.graph.flags
    kept = ((flags[a] | flags[b]) & FLAG_SUSPECT) == 0
    return a[kept], b[kept]


def _components(size: int, a: Ints, b: Ints) -> Ints:
    """For each node the lowest that it is connected with: union-find over all edges at once."""
    root = np.arange(size, dtype=np.int32)
    while True:
        low, high = np.minimum(root[a], root[b]), np.maximum(root[a], root[b])
        if np.array_equal(low, high):
            return root
        np.minimum.at(root, high, low)
        while not np.array_equal(root, root[root]):
            root = root[root]


def sameness(world: World, cells: Iterable[int]) -> list[tuple[int, int]]:
    """Nodes among the cells that another stands for, and which."""
    nodes = distinct(np.array([cell for cell in cells if cell < world.size], np.int64))
    kept = world.identity[nodes]
    return [(a, b) for a, b in zip(nodes.tolist(), kept.tolist(), strict=True) if a != b]
