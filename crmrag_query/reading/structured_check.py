"""Whether a plan that a model wrote speaks of this data set: every IRI, code, relation and relationship is known to it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from crmrag_query.ontology.codes import normalise_property
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Part, Plan, StatedIn, Target, Way
from crmrag_query.plans.world import World, class_numbers
from crmrag_query.relationships.catalogue import read_step

FAULTS = 5  # told at once
LONGEST = 200  # characters of what a model wrote that are told back to it


@dataclass(frozen=True, slots=True)
class Known:
    """A data set, and the IRIs that were offered, for telling near ones."""

    world: World
    offered: tuple[str, ...] = ()


def check_plan(plan: Plan, known: Known) -> None:
    """Raise ValueError that tells what of the plan the data set does not know, with what is near.

    A set of everything that there is answers no question: a model that understood nothing writes it.
    """
    if not plan.where and plan.target == Target() and plan.compute.kind in ("list", "count", "ask"):
        raise ValueError("the plan restricts nothing: it has neither a target nor conditions")
    faults = list(dict.fromkeys(_faults(plan, known)))
    if faults:
        raise ValueError("; ".join(faults[:FAULTS]))


def parts_of(part: Part) -> Iterator[Part]:
    """The part and all parts within it, in their order."""
    yield part
    for name in type(part).model_fields:
        yield from _within(getattr(part, name))


def _within(value: object) -> Iterator[Part]:
    if isinstance(value, Part):
        yield from parts_of(value)
    elif isinstance(value, tuple):
        for one in value:
            yield from _within(one)


def _faults(plan: Plan, known: Known) -> Iterator[str]:
    graphs = {iri for names in known.world.graph.graph_sets for iri in names}
    for part in parts_of(plan):
        match part:
            case Way():
                yield from _way_faults(part, known)
            case Target():
                yield from _class_faults(part.classes, known)
                yield from _iri_faults(part.types, known)
            case StatedIn():
                yield from (_unknown("named graph", one, graphs) for one in part.graphs if one not in graphs)
            case _:
                # a type of an anchor may be a class too
                yield from _iri_faults(getattr(part, "iris", ()), known)
                types = getattr(part, "types", ())
                yield from _iri_faults(
                    (one for one in types if class_numbers(known.world, one) is None), known
                )


def _way_faults(way: Way, known: Known) -> Iterator[str]:
    for id in way.relations:
        if id not in known.world.relations:
            yield _unknown("relation", id, known.world.relations)
    ids = [one.id for one in known.world.catalogue]
    for id in way.relationships:
        if id not in ids:
            yield _unknown("relationship", id, ids)
    for name in _properties(way):
        if not _is_property(name, known.world) and not _is_iri(name):
            yield _unknown("property", name, known.world.ontology.properties)


def absent_properties(plan: Plan, known: Known) -> tuple[str, ...]:
    """What is to be told of the IRIs in paths that are no property of the data.

    They are no mistake by themselves, for a plan may ask for what the data does not state; but only one that then finds
    nothing says so: "without a homepage" would hold for everything.
    """
    names = known.world.property_numbers
    ways = (part for part in parts_of(plan) if isinstance(part, Way))
    absent = {one: None for way in ways for one in _properties(way) if not _is_property(one, known.world)}
    return tuple(_unknown("property", one, names, "does not occur in the data") for one in absent)


def _properties(way: Way) -> Iterator[str]:
    for path in way.paths:
        yield from (read_step(step).code for step in path)


def _is_property(name: str, world: World) -> bool:
    """Whether the data has it, or CRM does: a property of the standard that is not used is one that nothing states."""
    if name in world.ontology.properties or name in world.adjacency.by_code or name in world.property_numbers:
        return True
    spelt = normalise_property(name)
    return spelt is not None and spelt.code in world.ontology.properties


def _is_iri(name: str) -> bool:
    return "://" in name or name.startswith("urn:")


def _class_faults(names: Iterable[str], known: Known) -> Iterator[str]:
    for name in names:
        if class_numbers(known.world, name) is None:
            yield _unknown("class", name, (*known.world.class_numbers, *known.world.ontology.classes))


def _iri_faults(iris: Iterable[str], known: Known) -> Iterator[str]:
    for iri in iris:
        if known.world.graph.node(iri) is None:
            yield _unknown("IRI", iri, known.offered, "is not in the data")


def _unknown(what: str, name: str, among: Iterable[str], how: str = "is not known") -> str:
    near = difflib.get_close_matches(name[:LONGEST], list(among), n=3)
    remedy = f" (did you mean {' or '.join(near)}?)" if near else ""
    return f"the {what} {name[:LONGEST]} {how}{remedy}"


def is_settled(plan: Plan, world: World) -> bool:
    """Whether the dates decide every ranking of the plan, those of plans within it included. Raises QuestionError."""
    ranked = (one for one in parts_of(plan) if isinstance(one, Plan) and one.compute.kind == "rank")
    return all(execute(one, world).settled for one in ranked if one.compute.first is not None)
