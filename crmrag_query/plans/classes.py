"""Classes and types as they are named: numbers of classes, those below included, and nodes of types."""

from __future__ import annotations

import difflib
import re

import numpy as np

from crmrag_query.errors import QuestionError
from crmrag_query.ontology.codes import normalise_class
from crmrag_query.plans.records import Target
from crmrag_query.plans.world import World, distinct
from crmrag_query.retrieval.tokenizer import fold


def target_classes(world: World, target: Target) -> list[int]:
    """Class numbers of the target's classes and those below. Raises QuestionError for an unknown code."""
    numbers: set[int] = set()
    for name in target.classes:
        found = class_numbers(world, name)
        if found is None and not ("://" in name or name.startswith("urn:")):
            near = difflib.get_close_matches(name, world.ontology.classes, n=3)
            remedy = f"Did you mean {' or '.join(near)}?" if near else "Give a code such as E22, or an IRI."
            raise QuestionError(f"No class has the code {name[:100]!r}.", remedy)
        numbers |= found or set()
    return sorted(numbers)


def class_numbers(world: World, name: str) -> set[int] | None:
    """Numbers of a class, by code or IRI, and of those below it that occur; None for what is no class."""
    own = world.class_numbers.get(name)
    code = name if own is None else world.graph.class_code(own)
    if own is None and code not in world.ontology.classes:
        known = normalise_class(name)
        code = known.code if known else ""
    if code not in world.ontology.classes:
        return None if own is None else {own}
    codes = {code, *world.ontology.subclasses(code)}
    return {n for n, one in enumerate(world.graph.class_codes) if one in codes}


def named_types(world: World, name: str) -> list[int]:
    """Nodes of the types (what P2 leads to) with this IRI, or of which this is a name or the last part of the IRI, folded."""
    return world.type_names.get(name, []) or world.type_names.get(fold(name), [])


def type_names(world: World) -> dict[str, list[int]]:
    """Every type's nodes, ascending, by IRI, by folded name and by the folded last part of the IRI."""
    rows = world.adjacency.forward
    numbers = [n for code, found in world.adjacency.by_code.items() if code == "P2" for n in found]
    parts = [rows.val[rows.ptr[rows.prop[n]] : rows.ptr[rows.prop[n + 1]]] for n in numbers]
    names: dict[str, list[int]] = {}
    for node in distinct(np.concatenate([np.empty(0, np.int32), *parts])).tolist():
        iri = world.graph.iri(node)
        last = re.split("[/#]", iri)[-1]
        texts = [label.text for label in world.graph.labels(node)]
        for key in dict.fromkeys([iri, *map(fold, (*texts, last))]):
            names.setdefault(key, []).append(node)
    return names
