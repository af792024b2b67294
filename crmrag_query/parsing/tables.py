"""Tables: a fact of any thing of a kind, one row for each: "the birth place of the creator of an artwork"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from crmrag_query.parsing.bind import Binder, Bound
from crmrag_query.parsing.binding.times import date_way
from crmrag_query.parsing.formed import Formed, plan_of
from crmrag_query.parsing.joined import holds
from crmrag_query.parsing.tree import Edge, Link, Node, Tree
from crmrag_query.plans.records import Anchor, Column, Compute, Dated, Related, Way
from crmrag_query.plans.ways import pairs
from crmrag_query.plans.world import Mask

Part = Literal["begin", "end", "value", "unit", "shown"]


def table_chain(root: Node) -> list[Node]:
    """From the innermost thing outwards, where a fact is asked of any thing of a kind: "the birth place of the maker of an
    artwork" is (artwork, maker, birth place). Empty for anything else.

    What else is said of a thing in between or at the end restricts its cells. Of the innermost thing more may be said where
    the question speaks of each such thing; else it asks for a list of what they have.
    """
    chain = [root]
    while chain[-1].ends:
        links = _ends_of(chain[-1])
        if len(links) != 1:
            return []
        chain.append(links[0])
    last = chain[-1]
    said = any(_beside(node) for node in chain[1:-1]) or bool(last.links)
    if len(chain) < 2 or last.named or not last.kinds or last.earlier or (said and not last.every):
        return []
    return chain[::-1]


def _ends_of(node: Node) -> list[Node]:
    """What a thing of a chain is the far end of."""
    return [link.anchor for link in node.links if link.inverse and isinstance(link.anchor, Node)]


def _beside(node: Node) -> list[Link]:
    """What is said of a thing of a chain beside what leads inwards."""
    return [link for link in node.links if not (link.inverse and isinstance(link.anchor, Node))]


def tabled(binder: Binder, chain: Sequence[Node], bound: Bound) -> Formed:
    """The table of a chain; ``bound`` becomes what its innermost thing is."""
    start = binder.bind(chain[0])
    assert start.mask is not None
    become(bound, start)
    columns, score = _columns(binder, chain, bound)
    return Formed(plan_of(bound, Compute(kind="table", columns=tuple(columns))), score)


def become(bound: Bound, other: Bound) -> None:
    """Make a bound thing another: what a question is about need not be what its first noun names."""
    for name in ("target", "where", "score", "rivals", "unknown", "missing", "absent", "notes", "mask"):
        setattr(bound, name, getattr(other, name))


def _columns(binder: Binder, chain: Sequence[Node], start: Bound) -> tuple[list[Column], float]:
    """The columns of a chain, and how sure they are; what nothing in the data tells is absent from the bound start."""
    columns: list[Column] = []
    assert start.mask is not None
    mask, near, of = start.mask, chain[0].categories, None
    score = 1.0
    for node in chain[1:]:
        to, sure = _cells(binder, node)
        score *= sure
        reached = mask
        for ids, edge in ((node.ends, node.edge), *node.also):
            told = told_by(binder, near, ids, mask, of, len(columns), edge)
            if not told:
                told = [Column(way=Way(relations=(_fitting(binder, near, ids),)), of=of)]
                start.missing.append(node.text)
                start.absent.append(told[0].way.relations[0])
            told[0] = told[0].model_copy(update={"to": to})
            columns += [one.model_copy(update={"title": node.raw or node.text}) for one in told]
            reached = led(binder, told[0].way, mask)
            last = len(columns) - len(told)
        mask, near, of = reached, node.categories, last
    return columns, score


def _fitting(binder: Binder, near: int, ids: Sequence[str]) -> str:
    """The first relation that things of the categories may have, else the first."""
    return next((id for id in ids if not near or near & binder.know.domains[id]), ids[0])


def _cells(binder: Binder, node: Node) -> tuple[Anchor, float]:
    """What the cells of a thing of the chain are among: all, unless more is said of it."""
    beside = [link for link in _beside(node) if link.anchor is not None]
    if not beside:
        return Anchor(), 1.0
    inner = binder.bind(Node(categories=node.categories, links=beside, text=node.text))
    return Anchor(plan=inner.plan), inner.score * (
        binder.scores.unsure if inner.unknown or inner.missing else 1.0
    )


def led(binder: Binder, way: Way, mask: Mask) -> Mask:
    """All that the way leads to from the things of a mask."""
    cells = pairs(binder.world, way, np.flatnonzero(mask).astype(np.int32), direct=True).cell
    found = np.zeros(binder.world.size, bool)
    found[cells[cells < binder.world.size]] = True
    return found


def told_by(
    binder: Binder, near: int, ids: Sequence[str], mask: Mask, of: int | None, place: int, edge: Edge = ""
) -> list[Column]:
    """The columns of the first of the relations that leads anywhere from things of a mask, of the categories ``near``.

    A date or text is an entity of the data and, in the next column, what is written of it: the dates of a time-span stay
    together.
    ``place``: the number of the first column. Empty: nothing in the data tells.
    """
    for id in ids:
        relation = binder.know.relations[id]
        if near and not near & binder.know.domains[id]:
            continue
        way = Way(relations=(id,))
        if relation.value == "entity":
            if holds(binder, way, Anchor(), mask):
                return [Column(way=way, of=of)]
            continue
        which: Part = edge or "shown"
        paths, tails = relation.literal_paths(which), relation.literal_tails(which)
        cells = led(binder, way, mask)
        if tails and cells.any() and holds(binder, Way(paths=tails), Anchor(), cells):
            return [Column(way=way, of=of), Column(way=Way(paths=tails), of=place)]
        if paths and holds(binder, Way(paths=paths), Anchor(), mask):
            return [Column(way=Way(paths=paths), of=of)]
        if not paths and holds(binder, way, Anchor(), mask):
            return [Column(way=way, of=of)]
    return []


def with_columns(binder: Binder, tree: Tree, bound: Bound) -> Formed:
    """A list with what is told beside each thing."""
    assert tree.root is not None and bound.mask is not None
    columns: list[Column] = []
    for shown in tree.columns:
        mask, near, of = bound.mask, tree.root.categories, None
        for ids in shown.steps:
            told = told_by(binder, near, ids, mask, of, len(columns))
            if not told:
                id = _fitting(binder, near, ids)
                told = [Column(way=Way(relations=(id,)), of=of)]
                bound.missing.append(id)
                bound.absent.append(id)
            near = binder.know.ranges[_fitting(binder, near, ids)]
            of, mask = len(columns), led(binder, told[0].way, mask)
            columns += told
        last = {"title": shown.title, "by": "year" if shown.year else ""}
        columns[-1] = columns[-1].model_copy(update=last)
        if len(told) > 1:
            columns[-2] = columns[-2].model_copy(update={"title": shown.title})
    if not columns:
        return Formed(bound.plan)
    return Formed(plan_of(bound, Compute(kind="table", columns=tuple(columns))))


def dated(binder: Binder, root: Node, bound: Bound) -> Formed:
    """ "when": the dates of what is named, by the relation that is asked for; of any thing of a kind, all of them."""
    asked = [link for link in root.links if link.anchor is None and not link.negated]
    ids = tuple(id for link in asked for id in link.explicit)
    plain = Node(
        root.kinds, root.mentions, root.categories, [link for link in root.links if link not in asked],
        ends=root.ends, also=root.also, text=root.text, raw=root.raw,
    )  # fmt: skip
    chain = table_chain(plain)
    if chain:
        formed = tabled(binder, chain, bound)
        columns = list(formed.plan.compute.columns)
        if not columns:
            return formed
        mask = bound.mask
        assert mask is not None
        for column in columns:
            mask = led(binder, column.way, mask)
        of: int | None = len(columns) - 1
    else:
        bound.where = [one for one in bound.where if not _only_has(one, ids)]
        columns, mask, of, formed = [], binder.mask_of(bound.plan), None, Formed(bound.plan)
    way, score = date_way(binder, root, tuple(id for id in ids if binder.know.value(id) == "date"), mask)
    if way is None:
        return Formed(bound.plan, binder.scores.unsure / 2, "when")
    told = told_by(binder, 0, way.relations, mask, of, len(columns))
    if not chain:  # of what is named the dates alone, each a whole span
        told = [Column(way=way)]
    compute = Compute(kind="table", columns=(*columns, *told))
    return Formed(plan_of(bound, compute), score * formed.score)


def _only_has(one: object, ids: Sequence[str]) -> bool:
    """Whether a constraint says no more than that there is something by one of the relations."""
    if isinstance(one, Related):
        return one.to == Anchor() and bool(set(one.way.relations) & set(ids))
    if not isinstance(one, Dated) or one.way is None or one.begin is not None or one.end is not None:
        return False
    return not one.negated and bool(set(one.way.relations) & set(ids))
