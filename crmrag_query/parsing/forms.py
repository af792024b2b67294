"""What is made of the things asked for: a list, a number, yes or no, a ranking, groups, a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.bind import SIDE, UNSURE, Binder, Bound, best_kind
from crmrag_query.parsing.tree import Group, Node, Rank, Tree
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.members import satisfying
from crmrag_query.plans.records import Among, Anchor, Column, Compute, Measure, Plan, Related, Target, Way
from crmrag_query.plans.world import Mask
from crmrag_query.questions.lexicon import Number

MANY = 10  # of a ranking that names no number but speaks of many; ours


@dataclass
class Formed:
    """A plan; ``score``: how sure of what is made of the members; ``lacking``: what could not be understood of it."""

    plan: Plan
    score: float = 1.0
    lacking: str = ""


def form(binder: Binder, tree: Tree, bound: Bound) -> Formed:
    """The whole plan of a tree whose root is bound."""
    assert tree.root is not None
    if tree.rank is not None:
        return _ranked(binder, tree, tree.root, bound)
    if tree.group is not None and tree.group.node is None and not tree.group.unit:
        turned = _turned(tree.root)
        if turned is not None:
            tree.root, tree.group.node = turned
            bound = binder.bind(tree.root)
    if tree.group is not None and (tree.group.node is not None or tree.group.unit):
        return _grouped(binder, tree.root, tree.group, bound)
    if tree.when:
        return _dated(binder, tree.root, bound)
    if tree.form != "ask" and (chain := table_chain(tree.root)):
        return _tabled(binder, chain, bound)
    return Formed(_plan(bound, Compute(kind=tree.form)))


def _plan(bound: Bound, compute: Compute) -> Plan:
    return Plan(target=bound.target, where=tuple(bound.where), compute=compute)


def _turned(root: Node) -> tuple[Node, Node] | None:
    """ "which kinds of objects, and how many of each": what is counted, and what it is split by."""
    links = [link for link in root.links if link.inverse and isinstance(link.anchor, Node)]
    if not root.ends or not links:
        return None
    counted = links[0].anchor
    assert isinstance(counted, Node)
    counted.links += [link for link in root.links if link is not links[0]]
    return counted, Node(kinds=root.kinds, ends=root.ends, categories=root.categories, text=root.text)


# ways between things


def date_way(binder: Binder, node: Node, ids: tuple[str, ...], mask: Mask) -> tuple[Way | None, float]:
    """The way to the dates of a thing: that of the relations named, else of the first usual one that any member has."""
    know = binder.know
    named = [id for id in ids if know.value(id) == "date"]
    names = [one.name for one in Category if one.value and node.categories & one and one.name]
    usual = [id for name in names for id in binder.config.dates.get(name, ())]  # type: ignore[call-overload]
    for score, found in ((1.0, named), (1.0, usual)):
        for id in dict.fromkeys(found):
            if id in know.relations and know.fits(id, node.categories, int(Category.Time))[0]:
                way = Way(relations=(id,))
                if _holds(binder, way, Anchor(), mask):
                    return way, score
    return None, 0.0


def _holds(binder: Binder, way: Way, to: Anchor, mask: Mask) -> bool:
    return bool((mask & satisfying(binder.world, Related(way=way, to=to), mask, members_of)).any())


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
    thing = int(Category.Thing)
    inside = binder.inside(node, far) if node.categories & thing and far.categories & thing else None
    known = {*ids, *far.ends, *far.far, *node.far, *node.ends, *binder.config.said_only}
    rest = [id for id in (*binder.config.inside, *binder.know.relations) if id not in known]
    for score, found in ((1.0, [*ids, *binder.know.kin(ids), *far.ends]), (SIDE, [inside]), (1.0, [*far.far, *node.far, *node.ends]), (0.9, rest)):
        for one in found:
            for way in _both_ways(binder, node, far, one):
                if _holds(binder, way, anchor, mask):
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


# rankings


def _ranked(binder: Binder, tree: Tree, root: Node, bound: Bound) -> Formed:
    rank = tree.rank
    assert rank is not None and bound.mask is not None
    first = rank.first or (MANY if _is_many(root) else 1)
    if tree.compared:
        iris = tuple(
            binder.world.graph.iri(n) for node in tree.compared for m in node.mentions for n in binder.same_name(m)
        )
        bound.where.append(Among(iris=iris))
        first = rank.first or 1
    if rank.kind in ("earliest", "latest"):
        way, score = date_way(binder, root, rank.by or _date_ids(binder, root), bound.mask)
        if way is None:
            return Formed(bound.plan, UNSURE / 2, rank.kind)
        measure = Measure(kind=rank.kind, way=way)
        return Formed(_plan(bound, Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "earliest")), score)
    if rank.kind in ("most", "fewest"):
        return _counted(binder, root, rank, bound, first)
    numbers = [id for id in rank.by if binder.know.value(id) == "number"]
    if not numbers:
        return Formed(bound.plan, UNSURE / 2, rank.kind)
    relation = binder.know.relations[numbers[0]]
    measure = Measure(kind="value", way=Way(paths=relation.literal_paths("value")))
    return Formed(_plan(bound, Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "lowest")))


def _date_ids(binder: Binder, root: Node) -> tuple[str, ...]:
    """Dates of persons are those of their birth unless another is named."""
    return ("born_on",) if root.categories == int(Category.Actor) and "born_on" in binder.know.relations else ()


def _is_many(root: Node) -> bool:
    return any(kind.number is Number.MANY for kind in root.kinds)


def _counted(binder: Binder, root: Node, rank: Rank, bound: Bound, first: int) -> Formed:
    mask = bound.mask
    assert mask is not None
    measure: Measure | None = None
    score = 1.0
    if rank.of is not None:
        found = way_between(binder, root, mask, rank.of, rank.by)
        if found is not None:
            way, to, score = found
            measure = Measure(kind="count", way=way, to=to)
    else:
        for id in (*rank.by, *root.ends, *root.far):
            ahead = not root.categories or bool(root.categories & binder.know.domains[id])
            back = bool(root.categories & binder.know.ranges[id]) or id in (*root.ends, *root.far)
            for fits, inverse in ((back, True), (ahead, False)):
                way = Way(relations=(id,), inverse=inverse)
                if measure is None and fits and _holds(binder, way, Anchor(), mask):
                    measure = Measure(kind="count", way=way)
    if measure is None:
        return Formed(bound.plan, UNSURE / 2, rank.kind)
    compute = Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "fewest")
    return Formed(_plan(bound, compute), score)


# groups


def _grouped(binder: Binder, root: Node, group: Group, bound: Bound) -> Formed:
    assert bound.mask is not None
    if group.unit:
        way, score = date_way(binder, root, (), bound.mask)
        if way is None:
            return Formed(bound.plan, UNSURE / 2, group.unit)
        edge = Compute(kind="group", way=way, by=group.unit, at_least=group.at_least)
        return Formed(_plan(bound, edge), score)
    assert group.node is not None
    far = group.node
    kind = best_kind(far.kinds)
    chain = None if kind is not None and kind.types else _chained(binder, root, far, bound.mask)
    if chain is not None:
        chain = _plainest(binder, chain, bound.mask)
        return Formed(_plan(bound, Compute(kind="group", way=chain, at_least=group.at_least)), 1.0)
    found = way_between(binder, root, bound.mask, far, far.ends)
    if found is None:
        return Formed(bound.plan, UNSURE / 2, far.text)
    way, to, score = found
    if kind is not None and kind.types and len(way.relations) == 1 and not way.then:
        way = Way(paths=binder.know.relations[way.relations[0]].paths, inverse=way.inverse)  # up to what is of the kind
    return Formed(_plan(bound, Compute(kind="group", way=way, to=to, at_least=group.at_least)), score)


def _plainest(binder: Binder, way: Way, mask: Mask) -> Way:
    """The first path of a relation where it alone tells of all things that the relation tells of: what is classified besides
    would make groups of its own."""
    relation = binder.know.relations[way.relations[0]] if len(way.relations) == 1 and not way.then else None
    if relation is None or len(relation.direct) < 2:
        return way
    first = Way(paths=relation.direct[:1], inverse=way.inverse)
    told, whole = (
        int((mask & satisfying(binder.world, Related(way=one), mask, members_of)).sum()) for one in (first, way)
    )
    return first if told == whole else way


def _chained(binder: Binder, root: Node, far: Node, mask: Mask) -> Way | None:
    """ "per birth place of their artists": from what is counted to the artists, and on to where they were born."""
    inner = next((link.anchor for link in far.links if isinstance(link.anchor, Node)), None)
    places = {id for id in far.ends}
    if far.far and far.ends:  # "by the city where they were made": the verb tells the relation, the noun its end
        ends = 0
        for id in far.ends:
            ends |= binder.know.ranges[id]
        places = [id for id in far.far if binder.know.ranges[id] & ends] or far.ends  # type: ignore[assignment]
    for id in places if far.far else far.ends:
        domain = binder.know.domains[id]
        if not root.categories or root.categories & domain:
            way = Way(relations=(id,))
            if _holds(binder, way, Anchor(), mask):
                return way
        else:
            middle = inner or Node(categories=domain)
            found = way_between(binder, root, mask, middle)
            if found is not None:
                return found[0].model_copy(update={"then": Way(relations=(id,))})
    return None


# tables


def table_chain(root: Node) -> list[Node]:
    """From the innermost thing outwards, where a fact is asked of any thing of a kind: "the birth place of the maker of an
    artwork" is (artwork, maker, birth place). Empty for anything else."""
    chain = [root]
    while chain[-1].ends:
        links = [link for link in chain[-1].links if link.inverse and isinstance(link.anchor, Node)]
        if len(links) != 1 or len(chain[-1].links) != 1:
            return []
        chain.append(links[0].anchor)  # type: ignore[arg-type]
    last = chain[-1]
    if len(chain) < 2 or last.named or not last.kinds or last.links or last.earlier:
        return []
    return chain[::-1]


def _tabled(binder: Binder, chain: list[Node], bound: Bound) -> Formed:
    start = binder.bind(chain[0])
    assert start.mask is not None
    columns: list[Column] = []
    mask, near, of = start.mask, chain[0], None
    for node in chain[1:]:
        for ids, edge in ((node.ends, node.edge), *node.also):
            way = _step(binder, near, ids, mask, edge)
            if way is None:
                return Formed(bound.plan, UNSURE / 2, node.text)
            columns.append(Column(way=way, of=of, title=node.text))
        plan = Plan(where=(Related(way=_inverted(columns[-1].way), to=Anchor(plan=start.plan)),))
        if node is not chain[-1]:
            mask = np.zeros(binder.world.size, bool)
            mask[members_of(binder.world, plan)] = True
            start = Bound(Target(), list(plan.where))
        near, of = node, len(columns) - 1
    first = binder.bind(chain[0])
    return Formed(_plan(first, Compute(kind="table", columns=tuple(columns))))


def _inverted(way: Way) -> Way:
    return way.model_copy(update={"inverse": not way.inverse})


def _step(binder: Binder, near: Node, ids: tuple[str, ...], mask: Mask, edge: str) -> Way | None:
    for id in ids:
        relation = binder.know.relations[id]
        if near.categories and not near.categories & binder.know.domains[id]:
            continue
        paths = relation.literal_paths(edge or "shown") if relation.value in ("date", "number", "text") else ()  # type: ignore[arg-type]
        way = Way(paths=paths) if paths else Way(relations=(id,))
        if _holds(binder, way, Anchor(), mask):
            return way
    return None


def _dated(binder: Binder, root: Node, bound: Bound) -> Formed:
    """ "when": the dates of what is named, by the relation that is asked for."""
    assert bound.mask is not None
    ids = tuple(id for link in root.links if link.anchor is None for id in link.explicit)
    kept = [
        one for one in bound.where
        if not (isinstance(one, Related) and one.to == Anchor() and set(one.way.relations) & set(ids))
    ]  # fmt: skip
    bound.where = kept
    bound.mask = binder._mask(bound)
    dates = tuple(id for id in ids if binder.know.value(id) == "date")
    way, score = date_way(binder, root, dates, bound.mask)
    if way is None:
        return Formed(bound.plan, UNSURE / 2, "when")
    paths = binder.know.relations[way.relations[0]].literal_paths("shown")
    column = Column(way=Way(paths=paths) if paths else way)
    return Formed(_plan(bound, Compute(kind="table", columns=(column,))), score)
