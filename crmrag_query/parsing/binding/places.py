"""Places that are told to be inside others by their names alone: "Florence, Italy", where no triple says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Choice, Ground
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Anchor, Constraint, Either, Plan, Related, Target, Texted, Way
from crmrag_query.plans.world import Mask
from crmrag_query.text import fold


def with_places(ground: Ground, way: Way, nodes: Sequence[int], negated: bool) -> Constraint:
    """A tie to places with all whose names say that they are the same or inside them; a plain tie where none does."""
    plain = Related(way=way, to=Anchor(iris=ground.iris(nodes)), negated=negated)
    if not ground.know.end(way.relations, way.inverse) & int(Category.Place):
        return plain
    names = [name for node in nodes for name in _names(ground, node)]
    if not names or any(len(name) < ground.config.limits.place_letters for name in names):
        return plain
    nodes = [*nodes, *(other for name in names for other in _longer(ground, name))]
    here = Related(way=way, to=Anchor(iris=ground.iris(nodes)))
    tails = dict.fromkeys(
        tail for node in nodes for name in _names(ground, node) for tail in _tails(ground, name)
    )
    inside = _ending(*tails)
    if not len(members_of(ground.world, inside)):
        return here.model_copy(update={"negated": negated})
    return Either(of=(here, Related(way=way, to=Anchor(plan=inside))), negated=negated)


def in_names(ground: Ground, node: Node, link: Link, words: Sequence[str], mask: Mask) -> Iterator[Choice]:
    """Places with a part of their name that is named: "Greece", which the data knows from "Athens, Greece" only."""
    ids = [id for id in link.explicit if ground.know.ranges[id] & int(Category.Place)]
    if not ids:
        return
    shortest = ground.config.limits.place_letters
    names = [
        name for name in dict.fromkeys((" ".join(words), *ground.called(words))) if len(name) >= shortest
    ]
    first = [node for name in names for node, _ in _called(ground, name)]
    ends = [Anchor(iris=ground.iris(first))] if first else []
    tails = [f", {name}" for name in names]
    if within := tuple(tail for tail in tails if len(members_of(ground.world, _ending(tail)))):
        ends.append(Anchor(plan=_ending(*within)))
    for way in ground.ways(node, link, int(Category.Place), ids) if ends else ():
        parts = tuple(Related(way=way, to=end, negated=link.negated and len(ends) == 1) for end in ends)
        told = parts[0] if len(parts) == 1 else Either(of=parts, negated=link.negated)
        yield ground.choice(told, ground.scores.near, mask)


def _ending(*tails: str) -> Plan:
    return Plan(target=Target(categories=("Place",)), where=(Texted(texts=tails),))


def _names(ground: Ground, node: int) -> list[str]:
    """What a place is called; none for what is no place."""
    if not ground.know.categories_of(node) & int(Category.Place):
        return []
    return [name] if (name := fold(ground.world.graph.label(node, ()))) else []


def _parts(name: str) -> list[str]:
    return [part.strip() for part in name.split(",")]


def _tails(ground: Ground, name: str) -> Iterator[str]:
    """Ends of the names of what is inside: the whole name, and its first part where only one place is called so."""
    yield f", {name}"
    first, *rest = _parts(name)
    if rest and all(set(_parts(other)) >= {first, *rest} for _, other in _called(ground, first)):
        yield f", {first}"


def _longer(ground: Ground, name: str) -> list[int]:
    """Places of the same first name whose name says more of where they are: "Rome, Lazio, Italy" of "Rome, Italy"."""
    first, *rest = _parts(name)
    if not rest:
        return []  # "Georgia": the state and the country
    return [node for node, other in _called(ground, first) if set(_parts(other)) > {first, *rest}]


def _called(ground: Ground, first: str) -> list[tuple[int, str]]:
    """The places whose name begins with this part, with their folded names."""
    plan = Plan(target=Target(categories=("Place",)), where=(Texted(texts=(first,)),))
    found = (
        (int(node), name) for node in members_of(ground.world, plan) for name in _names(ground, int(node))
    )
    return [(node, name) for node, name in found if _parts(name)[0] == first]
