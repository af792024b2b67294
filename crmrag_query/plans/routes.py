"""A plan's way as routes over one graph: legs to walk, with what may begin and end them."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, replace

from crmrag_query.config.relations import Relation
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Adjacency
from crmrag_query.ontology.spelling import take_apart
from crmrag_query.plans.classes import class_numbers, named_types
from crmrag_query.plans.records import Way
from crmrag_query.plans.steps import is_iri, taken
from crmrag_query.plans.world import World
from crmrag_query.relationships.catalogue import Relationship
from crmrag_query.relationships.frontier import Move
from crmrag_query.relationships.plan import Leg, legs_of
from crmrag_query.relationships.steps import directed

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@dataclass(frozen=True, slots=True)
class Far:
    """A far end is of one of the kinds, ``(class numbers, type nodes)``, None for any, and of no class of ``but``."""

    kinds: tuple[tuple[int, ...], tuple[int, ...]] | None
    but: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Route:
    """One path that occurs in the graph, by its legs in the direction in which it is walked.

    Of a relationship: its near end has the domain as primary category, its far end may be in the range and is another node;
    no path runs through a suspected merge, and one at the near end takes a path of one step (not ``cautious``) only. Of a
    path of properties: nothing of that. ``inverse``: it is walked from the far end to the near one. ``far``: what else holds
    of a node at the far end. ``literals``: how many legs are walked, and the properties whose literals then end it.
    """

    legs: tuple[Leg, ...]
    relationship: Relationship | None = None
    cautious: bool = False
    inverse: bool = False
    far: Far | None = None
    literals: tuple[tuple[int, tuple[int, ...]], ...] = ()

    @property
    def back(self) -> tuple[Leg, ...]:
        return tuple(leg.reversed() for leg in reversed(self.legs))

    def graph(self, world: World) -> Adjacency:
        """What the route is walked on."""
        return world.plain if self.relationship is None else world.adjacency


Routes = tuple[Route, ...]


def links_of(world: World, way: Way, direct: bool = False) -> tuple[Routes, ...]:
    """The routes of a way's links, one after the other. Raises QuestionError as `routes_of`."""
    return tuple(routes_of(world, link, direct) for link in way.links)


def routes_of(world: World, way: Way, direct: bool = False) -> Routes:
    """The routes of a way's first link; none when it occurs nowhere in the data.

    ``direct``: as the way's own, and what groups, tables and rankings show.
    Raises QuestionError for a relation, relationship or property code that nothing knows.
    """
    link = way.model_copy(update={"then": None}) if way.then else way
    direct = direct or way.direct
    key = (link, direct)
    if key not in world.routes:
        if len(world.routes) >= world.config.kept_ways:
            world.routes.clear()
        world.routes[key] = _made(world, link, direct)
    return world.routes[key]


def _made(world: World, way: Way, direct: bool) -> Routes:
    routes = [one for id in dict.fromkeys(way.relations) for one in _by_relation(world, id, direct)]
    routes += _by_relationships(world, way.relationships)
    routes += [one for path in way.paths for one in _by_path(world, path)]
    turned = [_turned(one) for one in routes] if way.inverse else routes
    return tuple(replace(one, literals=_literal_ends(world, one)) for one in dict.fromkeys(turned))


def _turned(route: Route) -> Route:
    return replace(route, legs=route.back, inverse=True)


def _by_relation(world: World, id: str, direct: bool) -> Routes:
    relation = world.relations.get(id)
    if relation is None:
        near = difflib.get_close_matches(id, world.relations, n=3)
        remedy = f"Did you mean {' or '.join(near)}?" if near else "They stand in relations.yaml."
        raise QuestionError(f"No relation has the id {id[:100]!r}.", remedy)
    paths = relation.direct if direct else relation.paths
    routes = [one for path in paths for one in _by_path(world, path)]
    ids = {one.id for one in world.catalogue}
    stated = tuple(one for one in relation.relationships if one in ids)
    routes += [] if direct and paths else _by_relationships(world, stated)
    far = _far(world, relation)
    return tuple(replace(one, far=far) for one in routes)


def _far(world: World, relation: Relation) -> Far | None:
    """What the relation asks of its far end, None for nothing."""
    if not (relation.classes or relation.not_classes or relation.types):
        return None
    kinds = None
    if relation.classes or relation.types:
        nodes = {node for name in relation.types for node in named_types(world, name)}
        kinds = (_numbers(world, relation.classes), tuple(sorted(nodes)))
    return Far(kinds, _numbers(world, relation.not_classes))


def _numbers(world: World, names: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(sorted({n for name in names for n in class_numbers(world, name) or ()}))


def _by_relationships(world: World, ids: tuple[str, ...]) -> Routes:
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


def _by_path(world: World, steps: tuple[str, ...]) -> Routes:
    legs = []
    for step in steps:
        moves, recursive = _moves(world, step), taken(step).repeated
        if moves:
            legs.append(Leg(moves, recursive))
        elif not recursive:
            return ()
    return (Route(tuple(legs)),)


def _literal_ends(world: World, route: Route) -> tuple[tuple[int, tuple[int, ...]], ...]:
    """Where a path may end in literals: at its last leg, and before legs that may be walked zero times."""
    ends: list[tuple[int, tuple[int, ...]]] = []
    if route.relationship is not None:
        return ()
    for at in reversed(range(len(route.legs))):
        leg = route.legs[at]
        found = tuple(prop for prop, ahead in leg.moves if ahead and prop in world.with_literals)
        if found:
            ends.append((at + leg.recursive, found))
        if not leg.recursive:
            break
    return tuple(ends)


def _moves(world: World, step: str) -> tuple[Move, ...]:
    """The properties that a step follows: by code with all that imply it, unless it is meant alone; by IRI that one."""
    parts = taken(step)
    name, ahead = parts.name, parts.ahead
    if name == TYPE:
        raise QuestionError(
            "A path cannot follow rdf:type.", "Name classes in the target or an anchor's types."
        )
    code = _code(world, name)
    if code is None:
        number = world.property_numbers.get(name)
        return () if number is None else ((number, ahead),)
    by_code = world.adjacency.by_code
    followed = directed(code, world.ontology, below=not parts.alone)
    found = ((n, way == ahead) for one, way in followed for n in by_code.get(one, ()))
    return tuple(sorted(set(found)))


def _code(world: World, name: str) -> str | None:
    """The code that a step names, None for an IRI; raises QuestionError for what is neither."""
    known = world.ontology.properties
    if name in known or name in world.adjacency.by_code:
        return name
    if is_iri(name):
        return None
    spelling = take_apart(name)
    if spelling is not None and (spelling.code in known or spelling.code in world.adjacency.by_code):
        return spelling.code
    near = difflib.get_close_matches(name, known, n=3)
    remedy = f"Did you mean {' or '.join(near)}?" if near else "Give a code such as P108i, or an IRI."
    raise QuestionError(f"No property has the code {name[:100]!r}.", remedy)
