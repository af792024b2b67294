"""Ties by a way to what a name means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.binding.ground import Choice, Ground
from crmrag_query.parsing.binding.meanings import is_loose, is_merged, meanings, sureness
from crmrag_query.parsing.binding.places import with_places
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.plans.records import Anchor, Constraint, Member, Plan, Related, Way
from crmrag_query.plans.world import Mask


def to_named(
    ground: Ground, way: Way, link: Link, anchor: Node, score: float, mask: Mask
) -> Iterator[Choice]:
    """To what a name means: of several meanings the first that joins anything; every name of an "or" by itself."""
    nodes: list[int] = []
    sure, note = 1.0, ""
    for mention in anchor.mentions:
        groups = _fitting(ground, way, anchor, mention)
        if not groups:
            continue
        alive = [group for group in groups if ground.holds(way, Anchor(iris=ground.iris(group)), mask)]
        chosen = alive[0] if alive else groups[0]
        nodes += chosen
        part = ground.scores.unsure if _is_part(anchor) else 1.0
        sure = min(sure, part, sureness(mention, ground.scores, chosen, len(alive)))
        label = ground.world.graph.label(chosen[0], ())
        if np.isin(chosen, ground.world.suspects).any() or any(is_merged(ground, n) for n in chosen[:3]):
            sure = min(sure, ground.scores.ambiguous)
            note = f"{label} may be several things merged under one IRI."
        elif _is_mixed(ground, way, chosen):
            sure = min(sure, ground.scores.mixed)
        elif len(alive) > 1 and sure < 1:
            note = f"{mention.text}: {label}"
    if not nodes:
        return
    if link.other:
        yield ground.choice(_other(ground, way, nodes), score * sure, mask, note)
        return
    yield ground.choice(with_places(ground, way, nodes, link.negated), score * sure, mask, note)


def _other(ground: Ground, way: Way, nodes: Sequence[int]) -> Constraint:
    """ "By someone other than X": it leads somewhere, and not to X."""
    own = Related(way=way, to=Anchor(iris=ground.iris(nodes)), negated=True)
    return Member(plan=Plan(where=(ground.any_of(way), own)))


def _is_part(anchor: Node) -> bool:
    return is_loose(anchor) and not anchor.kinds


def _fitting(ground: Ground, way: Way, anchor: Node, mention: Mention) -> list[list[int]]:
    """Meanings of a name that the way may lead to; a part of a name names no work."""
    end, categories = ground.know.end(way.relations, way.inverse), ground.know.categories_of

    def fits(node: int) -> bool:
        own = categories(node)
        return (not end or bool(own & end)) and not (_is_part(anchor) and own == int(Category.Thing))

    groups = ([n for n in group if fits(n)] for group in meanings(ground, mention))
    return [group for group in groups if group]


def _is_mixed(ground: Ground, way: Way, nodes: Sequence[int]) -> bool:
    """Whether things of several classes have the name: a picture and its file, an image and its painted area."""
    end = ground.know.end(way.relations, way.inverse)
    return bool(end & int(Category.Thing)) and len({tuple(ground.world.graph.types(n)) for n in nodes}) > 1
