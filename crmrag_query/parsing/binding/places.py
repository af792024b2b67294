"""Places that are told to be inside others by their names alone: "Florence, Italy", where no triple says so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Ground
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Anchor, Constraint, Either, Plan, Related, Target, Texted, Way
from crmrag_query.retrieval.tokenizer import fold

_SHORTEST = 3  # letters of a name that can tell


def with_places(ground: Ground, way: Way, nodes: Sequence[int], negated: bool) -> Constraint:
    """A tie to places with all whose names say that they are the same or inside them; a plain tie where none does."""
    plain = Related(way=way, to=Anchor(iris=ground.iris(nodes)), negated=negated)
    if not ground.know.end(way.relations, way.inverse) & int(Category.Place):
        return plain
    names = [name for node in nodes for name in _names(ground, node)]
    if not names or any(len(name) < _SHORTEST for name in names):
        return plain
    nodes = [*nodes, *(other for name in names for other in _longer(ground, name))]
    here = Related(way=way, to=Anchor(iris=ground.iris(nodes)))
    tails = dict.fromkeys(
        tail for node in nodes for name in _names(ground, node) for tail in _tails(ground, name)
    )
    inside = Plan(target=Target(categories=("Place",)), where=(Texted(texts=tuple(tails)),))
    if not len(members_of(ground.world, inside)):
        return here.model_copy(update={"negated": negated})
    return Either(of=(here, Related(way=way, to=Anchor(plan=inside))), negated=negated)


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
