"""How the things of a question are joined in the data, where the question says it in nouns or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmrag_query.parsing.bind import Binder
from crmrag_query.parsing.binding.meanings import best_kind
from crmrag_query.parsing.tree import Node
from crmrag_query.plans.records import Anchor, Way
from crmrag_query.plans.world import Mask


def holds(binder: Binder, way: Way, to: Anchor, mask: Mask) -> bool:
    """Whether a way leads from any thing of a mask to what it should end in."""
    return binder.holds(way, to, mask)


def way_between(
    binder: Binder, node: Node, mask: Mask, far: Node, ids: tuple[str, ...] = ()
) -> tuple[Way, Anchor, float] | None:
    """The first relation that joins members with things such as ``far``, and what it ends in."""
    if not far.categories and not far.kinds and not far.named:
        return None
    to = binder.bind(far)
    kind = best_kind(far.kinds)
    open_end = not to.where and (kind is None or kind.generic)
    anchor = Anchor() if open_end else Anchor(plan=to.plan)
    inside = binder.inside(node, far)
    known = {*ids, *far.ends, *far.far, *node.far, *node.ends, *binder.config.said_only}
    rest = [id for id in (*binder.config.inside, *binder.know.relations) if id not in known]
    scores = binder.scores
    groups: tuple[tuple[float, Sequence[str | Way | None]], ...] = (
        (scores.explicit, [*ids, *binder.know.kin(ids), *far.ends]),
        (scores.side, [inside]),
        (scores.explicit, [*far.far, *node.far, *node.ends]),
        (scores.guessed, rest),
    )
    for score, found in groups:
        for one in found:
            for way in _both_ways(binder, node, far, one):
                if holds(binder, way, anchor, mask):
                    return way, anchor, score
    return None


def _both_ways(binder: Binder, node: Node, far: Node, one: str | Way | None) -> Iterator[Way]:
    if isinstance(one, Way):
        yield one
        yield one.model_copy(update={"inverse": True})
    elif one is not None:
        ahead, back = binder.know.fits(one, node.categories, far.categories)
        if ahead:
            yield Way(relations=(one,))
        if back:
            yield Way(relations=(one,), inverse=True)
