"""A plan's way as routes over one graph: legs to walk, with what may begin and end them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass

from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Adjacency
from crmrag_query.ontology.spelling import take_apart
from crmrag_query.plans.records import Way
from crmrag_query.plans.world import World
from crmrag_query.relationships.catalogue import Relationship
from crmrag_query.relationships.frontier import Move
from crmrag_query.relationships.plan import Leg, legs_of
from crmrag_query.relationships.steps import directed

KEPT = 1000  # ways of a world whose routes are kept
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@dataclass(frozen=True, slots=True)
class Route:
    """One path that occurs in the graph, by its legs.

    Of a relationship: starts have its domain as primary category, ends may be in its range and differ from the start, no
    path runs through a suspected merge and such a start takes a path of one step (``cautious``) only. Of a path of
    properties: nothing of that. ``literals``: how many legs are walked, and the properties whose literals then end it.
    """

    legs: tuple[Leg, ...]
    relationship: Relationship | None = None
    cautious: bool = False
    literals: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @property
    def back(self) -> tuple[Leg, ...]:
        return tuple(leg.reversed() for leg in reversed(self.legs))

    def graph(self, world: World) -> Adjacency:
        """What the route is walked on."""
        return world.plain if self.relationship is None else world.adjacency


def routes_of(world: World, way: Way) -> tuple[Route, ...]:
    """The routes of a way; none when it occurs nowhere in the data.

    Raises QuestionError for a relationship or property code that nothing knows.
    """
    if way not in world.routes:
        if len(world.routes) >= KEPT:
            world.routes.clear()
        made = _by_path(world, way.path) if way.path else _by_relationships(world, way.relationships)
        world.routes[way] = made
        return made
    return world.routes[way]


def _by_relationships(world: World, ids: tuple[str, ...]) -> tuple[Route, ...]:
    routes = []
    for id in dict.fromkeys(ids):
        try:
            relationship = world.catalogue[world.catalogue.number(id)]
        except KeyError:
            near = difflib.get_close_matches(id, [one.id for one in world.catalogue], n=3)
            remedy = f"Did you mean {' or '.join(near)}?" if near else "See `crmrag ontology`."
            what = f"No relationship of {world.catalogue.name} has the id {id[:100]!r}."
            raise QuestionError(what, remedy) from None
        for path in relationship.paths:
            legs = legs_of(world.adjacency, world.ontology, path)
            if legs:
                routes.append(Route(legs, relationship, len(path.steps) > 1))
    return tuple(routes)


def _by_path(world: World, steps: tuple[str, ...]) -> tuple[Route, ...]:
    legs = []
    for step in steps:
        moves, recursive = _moves(world, step), step.endswith("*")
        if moves:
            legs.append(Leg(moves, recursive))
        elif not recursive:
            return ()
    return (Route(tuple(legs), literals=_literal_ends(world, legs)),)


def _literal_ends(world: World, legs: list[Leg]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Where a path may end in literals: at its last leg, and before legs that may be walked zero times."""
    ends = []
    for at in reversed(range(len(legs))):
        leg = legs[at]
        found = tuple(prop for prop, ahead in leg.moves if ahead and prop in world.with_literals)
        if found:
            ends.append((at + leg.recursive, found))
        if not leg.recursive:
            break
    return tuple(ends)


def _moves(world: World, step: str) -> tuple[Move, ...]:
    """The properties that a step follows: by code with all that imply it, by IRI that one alone; ``^`` turns it round."""
    name = step.removesuffix("*")
    ahead = not name.startswith("^")
    name = name.removeprefix("^")
    if name == TYPE:
        raise QuestionError(
            "A path cannot follow rdf:type.", "Name classes in the target or an anchor's types."
        )
    code = _code(world, name)
    if code is None:
        number = world.property_numbers.get(name)
        return () if number is None else ((number, ahead),)
    by_code = world.adjacency.by_code
    found = ((n, way == ahead) for one, way in directed(code, world.ontology) for n in by_code.get(one, ()))
    return tuple(sorted(set(found)))


def _code(world: World, name: str) -> str | None:
    """The code that a step names, None for an IRI; raises QuestionError for what is neither."""
    known = world.ontology.properties
    if name in known or name in world.adjacency.by_code:
        return name
    if "://" in name or name.startswith("urn:"):
        return None
    spelling = take_apart(name)
    if spelling is not None and (spelling.code in known or spelling.code in world.adjacency.by_code):
        return spelling.code
    near = difflib.get_close_matches(name, known, n=3)
    remedy = f"Did you mean {' or '.join(near)}?" if near else "Give a code such as P108i, or an IRI."
    raise QuestionError(f"No property has the code {name[:100]!r}.", remedy)
