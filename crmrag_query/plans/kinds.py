"""What occurs in a data set: kinds of nodes, the steps between them, and the kinds that each relation leads from and to.

Nodes of the same classes and primary category are of one kind. Built as the artifact `lexicon`; of a release that has none it
is worked out when it is first asked for, relation by relation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.files import canonical_json
from crmrag_query.artifacts.manifest import open_arrays, open_meta, rebuild, save_arrays
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError, ReleaseError
from crmrag_query.graph.arrays import FLAG_LABELLED, Bytes, Ints, Longs, places_in, run_starts
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.records import Way
from crmrag_query.plans.ways import leading_to
from crmrag_query.plans.world import Mask, World

SCHEMA_VERSION = 1
FOLDER = "lexicon"
META = "lexicon.json"
ARRAYS: Mapping[str, str] = {
    "node": "int32",
    "category": "uint8", "class_ptr": "int64", "class_number": "int32", "size": "int64", "labelled": "int64",
    "step_property": "int32", "step_start": "int32", "step_end": "int32", "step_triples": "int64",
    "start_ptr": "int64", "start_kind": "int32", "end_ptr": "int64", "end_kind": "int32",
}  # fmt: skip
"""The arrays of the artifact, each a row of numbers of this type; what they mean stands in `Kinds`."""
DIVIDES = {"class_ptr": "class_number", "start_ptr": "start_kind", "end_ptr": "end_kind"}


@dataclass(frozen=True)
class Kinds:
    """The kinds of nodes of a data set, numbered in the order of category and classes.

    ``node`` int32 [n]: the kind of each node. Of each kind ``category`` uint8 [k]; ``class_ptr`` int64 [k+1] divides
    ``class_number`` int32, its classes, ascending; ``size``, ``labelled`` int64 [k]: its nodes, and those of them whose label
    is stated. A step is a property that leads from nodes of one kind to nodes of another: ``step_property``, ``step_start``,
    ``step_end`` int32 [s], in this order, by ``step_triples`` int64 [s] triples. Of each of ``relations`` (ids)
    ``start_ptr``, ``end_ptr`` int64 [r+1] divide ``start_kind``, ``end_kind`` int32: the kinds that it leads from, and to,
    ascending.
    """

    node: Ints
    category: Bytes
    class_ptr: Longs
    class_number: Ints
    size: Longs
    labelled: Longs
    step_property: Ints
    step_start: Ints
    step_end: Ints
    step_triples: Longs
    start_ptr: Longs
    start_kind: Ints
    end_ptr: Longs
    end_kind: Ints
    relations: tuple[str, ...] = ()

    @classmethod
    def from_release(cls, release: Release) -> Kinds:
        if has_lexicon(release):
            return cls.open(release.folder / FOLDER, release[Graph])
        return made(release[World], ())

    @classmethod
    def open(cls, folder: Path, graph: Graph) -> Kinds:
        """Memory-map the artifact in ``folder``, which is of ``graph``; raises ReleaseError when it is missing, damaged, of
        another version or of another graph."""
        meta = open_meta(folder / META, "lexicon")
        relations = meta.get("relations")
        if not isinstance(relations, list) or not all(isinstance(id, str) for id in relations):
            raise ReleaseError(f"{folder / META} names no relations.", rebuild(folder))
        arrays = open_arrays(folder, ARRAYS, DIVIDES)
        kinds, steps = len(arrays["category"]), len(arrays["step_property"])
        lengths = {
            "node": graph.nodes, "class_ptr": kinds + 1, "size": kinds, "labelled": kinds,
            "step_start": steps, "step_end": steps, "step_triples": steps,
            "start_ptr": len(relations) + 1, "end_ptr": len(relations) + 1,
        }  # fmt: skip
        below = dict.fromkeys(("node", "step_start", "step_end", "start_kind", "end_kind"), kinds) | {
            "class_number": len(graph.class_codes),
            "step_property": len(graph.property_codes),
        }
        for name, length in lengths.items():
            if len(arrays[name]) != length:
                raise ReleaseError(
                    f"{folder / name}.npy has {len(arrays[name]):,} numbers where {length:,} belong.",
                    rebuild(folder),
                )
        for name, end in below.items():
            if len(arrays[name]) and not 0 <= arrays[name].min() <= arrays[name].max() < end:
                raise ReleaseError(
                    f"{folder / name}.npy has numbers that are not within 0 … {end - 1:,}.", rebuild(folder)
                )
        return cls(**arrays, relations=tuple(relations))

    def save(self, folder: Path) -> None:
        """Write the artifact into ``folder``; equal kinds give equal bytes."""
        save_arrays(folder, self, ARRAYS)
        meta = {"schema": SCHEMA_VERSION, "relations": list(self.relations)}
        (folder / META).write_text(canonical_json(meta), encoding="utf-8")

    def __len__(self) -> int:
        return len(self.category)

    def classes(self, kind: int) -> Ints:
        """The class numbers of a kind, ascending."""
        return self.class_number[self.class_ptr[kind] : self.class_ptr[kind + 1]]

    def of(self, nodes: Ints | Mask) -> Ints:
        """The kinds of some nodes, ascending."""
        found = np.zeros(len(self), bool)
        found[self.node[nodes]] = True
        return np.flatnonzero(found).astype(np.int32)

    def ends(self, world: World, relation: str) -> tuple[frozenset[int], frozenset[int]]:
        """The kinds of nodes that a relation leads from, and to; none for what no relation of the world is."""
        if relation not in self.relations:
            low, high = _ends(world, self, relation)
            return frozenset(low.tolist()), frozenset(high.tolist())
        at = self.relations.index(relation)
        starts = self.start_kind[self.start_ptr[at] : self.start_ptr[at + 1]]
        ends = self.end_kind[self.end_ptr[at] : self.end_ptr[at + 1]]
        return frozenset(starts.tolist()), frozenset(ends.tolist())


def has_lexicon(release: Release) -> bool:
    """Whether the release was built with the artifact; older ones were not."""
    return release.manifest.entry(f"{FOLDER}/{META}") is not None


def made(world: World, relations: Iterable[str] | None = None) -> Kinds:
    """The kinds of a world, with the ends of these of its relations; None: of all."""
    graph = world.graph
    node, category, class_ptr, class_number = _classed(graph)
    count = len(category)
    labelled = np.bincount(node[(graph.flags & FLAG_LABELLED) != 0], minlength=count)
    nothing = np.empty(0, np.int32)
    kinds = Kinds(
        node, category, class_ptr, class_number, np.bincount(node, minlength=count), labelled,
        *_steps(graph, node, count), np.zeros(1, np.int64), nothing, np.zeros(1, np.int64), nothing,
    )  # fmt: skip
    ids = tuple(world.relations if relations is None else relations)
    if not ids:
        return kinds
    starts, ends = zip(*(_ends(world, kinds, id) for id in ids), strict=True)
    return replace(
        kinds,
        relations=ids,
        start_ptr=_ptr(starts),
        start_kind=np.concatenate(starts),
        end_ptr=_ptr(ends),
        end_kind=np.concatenate(ends),
    )


def _ptr(parts: Iterable[Ints]) -> Longs:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _classed(graph: Graph) -> tuple[Ints, Bytes, Longs, Ints]:
    """``node``, ``category``, ``class_ptr`` and ``class_number``; see `Kinds`.

    A state stands for a category and the first classes of a node; nodes that have one more come to another by it.
    """
    ptr, classes = graph.type_rows
    count, most = np.diff(ptr), max(1, len(graph.class_codes))
    state = graph.category_of_node.astype(np.int64)
    states, place = 1 << 8, 0
    left = np.flatnonzero(count > 0)
    while len(left):
        found = pa.array(state[left] * most + classes[ptr[left] + place]).dictionary_encode()
        state[left] = states + found.indices.to_numpy()
        states, place = states + len(found.dictionary), place + 1
        left = left[count[left] > place]
    last = pa.array(state).dictionary_encode().indices.to_numpy()
    first = np.full(int(last.max(initial=-1)) + 1, len(last), np.int64)
    np.minimum.at(first, last, np.arange(len(last)))
    keys = [
        (int(graph.category_of_node[one]), *classes[ptr[one] : ptr[one + 1]].tolist())
        for one in first.tolist()
    ]
    order = sorted(range(len(keys)), key=keys.__getitem__)
    held = [np.array(keys[number][1:], np.int32) for number in order]
    return (
        places_in(order)[last],
        np.array([keys[number][0] for number in order], np.uint8),
        _ptr(held),
        np.concatenate([np.empty(0, np.int32), *held]),
    )


def _steps(graph: Graph, node: Ints, count: int) -> tuple[Ints, Ints, Ints, Longs]:
    """``step_property``, ``step_start``, ``step_end`` and ``step_triples``; see `Kinds`."""
    parts = [np.empty((4, 0), np.int64)]
    for prop in range(len(graph.property_codes)):
        subjects, objects = graph.adjacency.forward.pairs(prop)
        keys = np.sort(node[subjects].astype(np.int64) * count + node[objects])
        first = np.flatnonzero(run_starts(keys))
        start, end = np.divmod(keys[first], max(count, 1))
        parts.append(np.stack([np.full(len(first), prop), start, end, np.diff(first, append=len(keys))]))
    number, start, end, triples = np.concatenate(parts, axis=1)
    return number.astype(np.int32), start.astype(np.int32), end.astype(np.int32), triples


def _ends(world: World, kinds: Kinds, relation: str) -> tuple[Ints, Ints]:
    """The kinds that a relation leads from, and to, ascending."""
    way, nothing = Way(relations=(relation,)), np.empty(0, np.int32)
    try:
        starts = kinds.of(leading_to(world, way, None))
        if not len(starts):
            return nothing, nothing
        return starts, kinds.of(leading_to(world, way.model_copy(update={"inverse": True}), None))
    except QuestionError:
        return nothing, nothing
