"""Classes and types of a data set: how many entities have them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise

import numpy as np

from crmrag_assets.profile.ground import Bools, Ground, by_category, distinct, most, once, shortened
from crmrag_query.graph.arrays import Ints
from crmrag_query.ontology.categories import Category, CategoryMap
from crmrag_query.plans.profile import ClassProfile, Counted, TypeProfile


def profile_classes(
    ground: Ground, categories: CategoryMap, has: Mapping[str, Bools]
) -> tuple[ClassProfile, ...]:
    """The classes that entities state, those of most entities first, ties by IRI; ``has``: see ``modelling``."""
    graph, (ptr, val) = ground.graph, ground.graph.type_rows
    node = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(ptr))
    stated = ground.entity[node]
    node, number = node[stated], np.asarray(val)[stated]
    order = np.argsort(number, kind="stable")
    node = node[order]
    at = np.searchsorted(number[order], np.arange(len(graph.class_codes) + 1))
    members = [node[low:high] for low, high in pairwise(at.tolist())]
    used = [number for number, nodes in enumerate(members) if len(nodes)]
    used.sort(key=lambda number: (-len(members[number]), graph.class_iri(number)))
    return tuple(_class(ground, categories, number, members, has) for number in used[: ground.limits.classes])


def _class(
    ground: Ground, categories: CategoryMap, number: int, members: list[Ints], has: Mapping[str, Bools]
) -> ClassProfile:
    graph, code = ground.graph, ground.graph.class_code(number)
    below = {code, *ground.ontology.subclasses(code)} if code in ground.ontology.classes else set()
    also = [other for other, name in enumerate(graph.class_codes) if name in below and other != number]
    instances = ground.mask(np.concatenate([members[number], *(members[other] for other in also)]))
    mask = categories.all_of([code]) if code else Category(0)
    return ClassProfile(
        iri=graph.class_iri(number),
        code=code,
        label=graph.class_label(number),
        mask=int(mask),
        categories=tuple(str(one.name) for one in Category if one & mask),
        entities=len(members[number]),
        instances=int(np.count_nonzero(instances)),
        known={kind: int(np.count_nonzero(holders[members[number]])) for kind, holders in has.items()},
        examples=ground.examples(members[number]),
    )


def typed(ground: Ground) -> tuple[Ints, Ints]:
    """(entity, type), each pair once."""
    source, target = ground.edges(ground.method.documents.type_properties)
    kept = ground.entity[source]
    pairs = once(source[kept].astype(np.int64) * ground.graph.nodes + target[kept])
    entity, kind = np.divmod(pairs, max(1, ground.graph.nodes))
    return entity.astype(np.int32), kind.astype(np.int32)


def type_nodes(ground: Ground, targets: Ints) -> Ints:
    """What is a type: all that P2 points at, and what is of one of the classes of `profile.type_classes`."""
    ptr, val = ground.graph.type_rows
    wanted = [n for n, code in enumerate(ground.graph.class_codes) if code in ground.limits.type_classes]
    node = np.repeat(np.arange(ground.graph.nodes, dtype=np.int32), np.diff(ptr))
    return np.flatnonzero(ground.mask(np.concatenate([targets, node[np.isin(val, wanted)]]))).astype(np.int32)


def profile_types(ground: Ground, entity: Ints, kind: Ints) -> tuple[TypeProfile, ...]:
    """The types of the pairs of ``typed``: first those of most entities, then of most triples, then by IRI."""
    nodes = type_nodes(ground, kind)
    users = np.bincount(kind, minlength=ground.graph.nodes)[nodes]
    order = np.lexsort((nodes, -ground.degree[nodes], -users))[: ground.limits.types]
    chosen = np.sort(nodes[order])
    place = np.searchsorted(chosen, kind)
    place[place == len(chosen)] = 0
    kept = chosen[place] == kind if len(chosen) else np.zeros(len(kind), bool)
    by_place = np.argsort(place[kept], kind="stable")
    having = entity[kept][by_place]
    at = np.searchsorted(place[kept][by_place], np.arange(len(chosen) + 1))
    ways, broader = _ways(ground, chosen), _broader(ground, chosen)
    profiles = {
        int(node): _type(ground, int(node), having[at[i] : at[i + 1]], ways[i], broader[i])
        for i, node in enumerate(chosen.tolist())
    }
    return tuple(profiles[int(node)] for node in nodes[order])


def _type(
    ground: Ground, node: int, entities: Ints, ways: tuple[Counted, ...], broader: tuple[str, ...]
) -> TypeProfile:
    graph, limits = ground.graph, ground.limits
    sets, counts = distinct(ground.sets.of[entities].astype(np.int64))
    return TypeProfile(
        iri=graph.iri(node),
        label=shortened(graph.label(node), limits.characters),
        labels=_labels(ground, node),
        entities=len(entities),
        classes=most(ground.classes_of(sets, counts), ground.class_names, limits.type_top),
        categories=by_category(graph.category_of_node[entities], limits.type_top),
        ways=ways,
        broader=broader,
    )


def _labels(ground: Ground, node: int) -> dict[str, str]:
    """The best stated name in each language, in order of preference."""
    found: dict[str, str] = {}
    for label in ground.graph.labels(node):
        if label.kind not in ("iri", "role") and len(found) < ground.limits.type_languages:
            found.setdefault(label.lang, shortened(label.text, ground.limits.characters))
    return found


def _ways(ground: Ground, chosen: Ints) -> list[tuple[Counted, ...]]:
    """Triples that lead to each node of ``chosen`` by property."""
    names = ground.property_names
    counts = np.zeros((len(names), len(chosen)), np.int64)
    rows = ground.graph.adjacency.backward
    for number in range(len(names)):
        low, high = int(rows.prop[number]), int(rows.prop[number + 1])
        _, into, of = np.intersect1d(rows.row[low:high], chosen, assume_unique=True, return_indices=True)
        counts[number, of] = (rows.ptr[low + 1 : high + 1] - rows.ptr[low:high])[into]
    return [most(counts[:, i], names, ground.limits.type_top) for i in range(len(chosen))]


def _broader(ground: Ground, chosen: Ints) -> list[tuple[str, ...]]:
    """IRIs of the broader types of each node of ``chosen``, ascending."""
    source, target = ground.edges(ground.limits.broader_properties)
    found: list[set[int]] = [set() for _ in chosen]
    kept = np.isin(source, chosen)
    for node, above in zip(np.searchsorted(chosen, source[kept]), target[kept], strict=True):
        found[int(node)].add(int(above))
    return [_iris(ground, sorted(above)[: ground.limits.type_top]) for above in found]


def _iris(ground: Ground, nodes: Iterable[int]) -> tuple[str, ...]:
    return tuple(ground.graph.iri(node) for node in nodes)
