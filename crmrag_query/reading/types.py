"""What the nouns of every language rest on: the types of a data set by their names, and of what categories the entities of
types, classes and categories are. Made once, without looking at the entities of each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import Bytes, Ints, Longs, spread
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Target
from crmrag_query.plans.ways import OF_TYPE, leading_to, targeted
from crmrag_query.plans.world import World, target_classes
from crmrag_query.text import fold

_CODE = re.compile(r"^[A-Z]{1,3}\d+[a-z]?[_ ]")
_QUALIFIER = re.compile(r"\s*[(\[][^()\[\]]*[)\]]\s*$")
_PREFIX = re.compile(r"^(\w[^:]{2,39}?) (?:of|von|der|de|du|des|di|del|του|της)\b")
ANY = 1 << 6  # beside the bits of categories
LEAST_ALIKE = 20  # entities of a class whose names may tell what they are


def local_words(iri: str) -> str:
    """The local name of an IRI, split into words: `hasCreator` is "has Creator"."""
    last = _CODE.sub("", re.split("[/#]", iri.rstrip("/#"))[-1])
    return re.sub(r"[_\-.]+", " ", re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", last))


@dataclass(frozen=True)
class Types:
    """The types of a data set (what P2 leads to, and the broader ones): their nodes by folded name, with and without what
    qualifies it, and by the last part of their IRI; ``languages``: of such a name, without what qualifies it, its own, and
    ``main``, those of at least half as many names as the commonest, "" for no tag.

    ``categories`` uint8 [n]: those of the entities that have a type or a narrower one, and ``ANY`` where there are some.
    """

    by_text: Mapping[str, frozenset[int]]
    languages: Mapping[str, str]
    main: frozenset[str]
    by_id: Mapping[str, int]
    categories: Bytes


def types_of(world: World) -> Types:
    """The types of a world; see `World.kept`."""
    nodes = np.flatnonzero(world.kept(_categories)).astype(np.int32)
    iris = world.graph.iris.take(nodes).to_pylist()
    ptr, names = world.names
    index, row = spread(ptr, nodes)
    tags = world.graph.label_rows[0].column("lang").take(row).to_pylist()
    texts: list[dict[str, str]] = [{} for _ in iris]
    for at, text, lang in zip(index.tolist(), names.take(row).to_pylist(), tags, strict=True):
        texts[at][text] = lang
    by_text: dict[str, set[int]] = {}
    languages: dict[str, str] = {}
    for node, iri, own in zip(nodes.tolist(), iris, texts, strict=True):
        for text, lang in (own or {local_words(iri): ""}).items():
            bare = fold(_QUALIFIER.sub("", text))
            languages.setdefault(bare, lang[:2])
            for variant in (fold(text), bare):
                by_text.setdefault(variant, set()).add(node)
    spoken = Counter(languages.values())
    return Types(
        {text: frozenset(found) for text, found in by_text.items()},
        languages,
        frozenset(code for code, count in spoken.items() if 2 * count >= max(spoken.values())),
        {iri.rsplit("/", 1)[-1]: node for node, iri in zip(nodes.tolist(), iris, strict=True)},
        world.kept(_categories),
    )


def _categories(world: World) -> Bytes:
    found, upward = np.zeros(world.size, np.uint8), OF_TYPE.model_copy(update={"inverse": True})
    if "P2" not in world.adjacency.by_code:
        return found
    own = world.adjacency.categories
    for combined in np.flatnonzero(world.kept(_of_categories)).tolist():
        entities = np.flatnonzero(world.entities & (own == combined)).astype(np.int32)
        found[leading_to(world, upward, entities)] |= combined | ANY
    return found


def entities_of(world: World, target: Target) -> Ints:
    """The entities of a target, ascending."""
    return np.flatnonzero(targeted(world, target)).astype(np.int32)


def occurs(world: World, target: Target) -> bool:
    """Whether a target of classes, of categories or of types has entities, without looking for all of them."""
    if target.classes:
        return bool(world.kept(_of_classes)[target_classes(world, target)].any())
    return categories_of(world, target) != 0


def categories_of(world: World, target: Target) -> int:
    """The categories of the entities of a target, and ``ANY`` where there are some.

    Of types and of categories without looking for all of these.
    """
    if target.classes:
        found = world.adjacency.categories[entities_of(world, target)]
    elif target.types:
        found = world.kept(types_of).categories[world.nodes_of(target.types)]
    else:
        wanted = sum(int(Category[name]) for name in set(target.categories))
        found = np.flatnonzero(world.kept(_of_categories)).astype(np.uint8)
        found = found[(found & wanted) != 0] if wanted else found
    return int(np.bitwise_or.reduce(found, initial=0)) | (ANY if len(found) and not target.types else 0)


def without(world: World, target: Target, less: Target) -> Ints:
    """The entities of a target that are none of another, ascending."""
    return np.flatnonzero(targeted(world, target) & ~targeted(world, less)).astype(np.int32)


def overlap(world: World, target: Target, other: Target) -> bool:
    """Whether two targets have an entity in common."""
    return bool((targeted(world, target) & targeted(world, other)).any())


def _of_classes(world: World) -> Longs:
    """How many entities each class has, int64 [classes]; those of sub-classes do not count."""
    ptr, classes = world.graph.type_rows
    return np.bincount(
        classes[np.repeat(world.entities, np.diff(ptr))], minlength=len(world.graph.class_codes)
    )


def _of_categories(world: World) -> Longs:
    """How many entities have each combination of categories, int64 [256]."""
    return np.bincount(world.adjacency.categories[world.entities], minlength=1 << 8)


def prefixes_of(world: World) -> list[tuple[str, Target]]:
    """What the names of nearly all entities of a class begin with, "Digital copy of …", with the narrowest such class."""
    graph, found = world.graph, dict[str, tuple[int, Target]]()
    for number in range(len(graph.class_codes)):
        code, iri = graph.class_name(number), graph.class_iri(number)
        target = Target(classes=(code if code in world.ontology.classes else iri,))
        counts = world.kept(_of_classes)
        if counts[target_classes(world, target)].sum() < LEAST_ALIKE:  # who has several is counted by each
            continue
        nodes = entities_of(world, target)
        if len(nodes) < LEAST_ALIKE:
            continue
        sample = nodes[:: max(1, len(nodes) // 50)].tolist()
        begun = Counter(
            match[1]
            for node in sample
            for label in graph.labels(node)
            if (match := _PREFIX.match(label.text))
        )
        for prefix, times in begun.most_common(2):
            if times > len(sample) * 0.7 and len(nodes) < found.get(prefix, (world.size + 1, target))[0]:
                found[prefix] = len(nodes), target
    return [(prefix, target) for prefix, (_, target) in found.items()]
