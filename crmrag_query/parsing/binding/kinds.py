"""Ties to a kind that the thing itself is of."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Choice, Ground
from crmrag_query.parsing.binding.meanings import best_kind, types_of
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.plans.records import Anchor, Constraint, Either, Member, Plan, Related, Target, Way
from crmrag_query.plans.world import Mask

OF_KIND = Way(paths=(("P2", "P127*"),))
"""From a thing to its types and theirs that are broader."""


def of_kind(ground: Ground, link: Link, anchor: Node, mask: Mask) -> Iterator[Choice]:
    """ "marble busts", "not paintings": the thing itself is of the kind, or made of it."""
    kind = best_kind(anchor.kinds)
    if kind is None or kind.generic:
        return
    parts: list[Constraint] = []
    if types := types_of(anchor.kinds):
        parts.append(Related(way=OF_KIND, to=Anchor(iris=ground.iris(types))))
    elif kind.classes:
        parts.append(Member(plan=Plan(target=Target(classes=kind.classes))))
    if matter := _matter(ground, anchor):
        parts.append(matter)
    alive = [one for one in parts if ground.satisfying(one, mask).any()] or parts[:1]
    sure = ground.scores.loose
    if len(alive) > 1:
        yield ground.choice(Either(of=tuple(alive), negated=link.negated), sure, mask)
    elif alive:
        yield ground.choice(alive[0].model_copy(update={"negated": link.negated}), sure, mask)


def _matter(ground: Ground, anchor: Node) -> Constraint | None:
    """ "*Marble* busts": made of what the noun names, or in that technique."""
    ids = tuple(id for id in ground.config.matter if id in ground.know.relations)
    concept = int(Category.Concept)
    nodes = [
        one.entity
        for mention in anchor.mentions
        for one in mention.entities
        if one.how != "partial" and ground.know.categories_of(one.entity) & concept
    ]
    return Related(way=Way(relations=ids), to=Anchor(iris=ground.iris(nodes))) if ids and nodes else None


def is_anything(kind: KindMatch) -> bool:
    """Whether a generic noun stands for anything at the end of a relation ("a maker")."""
    return kind.categories.bit_count() == 1 and kind.role == "maker"
