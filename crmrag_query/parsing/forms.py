"""What is made of the things asked for: a list, a number, yes or no, a ranking, groups, a table."""

from __future__ import annotations

from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.bind import Binder, Bound
from crmrag_query.parsing.binding.ground import category_names
from crmrag_query.parsing.binding.kinds import OF_KIND
from crmrag_query.parsing.binding.meanings import best_kind, types_of
from crmrag_query.parsing.binding.times import date_way
from crmrag_query.parsing.compare import among, measured
from crmrag_query.parsing.formed import Formed, plan_of
from crmrag_query.parsing.joined import holds, way_between
from crmrag_query.parsing.kinds import KindMatch, categories_of
from crmrag_query.parsing.tables import dated, led, table_chain, tabled, told_by, with_columns
from crmrag_query.parsing.tree import Group, Link, Node, Rank, Tree
from crmrag_query.plans.execute import satisfying
from crmrag_query.plans.records import Anchor, Compute, Measure, Member, Related, Way
from crmrag_query.plans.world import Mask
from crmrag_query.questions.lexicon import Number


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
        elif (each := _counted_each(bound)) is not None:
            return each
    if tree.group is not None and (tree.group.node is not None or tree.group.unit):
        return _grouped(binder, tree.root, tree.group, bound)
    if tree.when:
        return dated(binder, tree.root, bound)
    if tree.form == "count" and (kinds := _each_kind(binder, tree.root)) is not None:
        return Formed(plan_of(bound, kinds))
    if tree.same or tree.pairs:
        return _paired(binder, tree, bound)
    if tree.form == "list" and (chain := table_chain(tree.root)):
        return tabled(binder, chain, bound)
    if tree.columns:
        return with_columns(binder, tree, bound)
    return Formed(plan_of(bound, Compute(kind=tree.form)))


def _each_kind(binder: Binder, root: Node) -> Compute | None:
    """ "How many paintings, drawings and prints": the number of each, where several kinds are named."""
    types = types_of(root.kinds)
    if len({(kind.first, kind.last) for kind in root.kinds if kind.types}) < binder.config.limits.several:
        return None
    return Compute(kind="group", way=OF_KIND, to=Anchor(iris=binder.iris(types)))


def _turned(root: Node) -> tuple[Node, Node] | None:
    """ "which kinds of objects, and how many of each": what is counted, and what it is split by."""
    links = [link for link in root.links if link.inverse and isinstance(link.anchor, Node)]
    if not root.ends or not links:
        return None
    counted = links[0].anchor
    assert isinstance(counted, Node)
    counted.links += [link for link in root.links if link is not links[0]]
    return counted, Node(kinds=root.kinds, ends=root.ends, categories=root.categories, text=root.text)


def _counted_each(bound: Bound) -> Formed | None:
    """ "in two or more works, and in how many each?": all that have as many, with their numbers."""
    counted = [one for one in bound.where if isinstance(one, Member) and one.plan.compute.at_least]
    if len(counted) != 1 or counted[0].negated:
        return None
    bound.where.remove(counted[0])
    return Formed(plan_of(bound, counted[0].plan.compute))


def _paired(binder: Binder, tree: Tree, bound: Bound) -> Formed:
    """Pairs of things that have the same by each of the relations."""
    assert tree.root is not None and bound.mask is not None
    found = [told_by(binder, tree.root.categories, ids, bound.mask, None, 0) for ids in tree.same]
    if not found or not all(found):
        return Formed(bound.plan, binder.scores.unsure / 2, "pairs")
    return Formed(plan_of(bound, Compute(kind="pairs", ways=tuple(told[0].way for told in found))))


# rankings


def _ranked(binder: Binder, tree: Tree, root: Node, bound: Bound) -> Formed:
    rank = tree.rank
    assert rank is not None and bound.mask is not None
    first = rank.first or (binder.config.limits.many if _is_many(root) else 1)
    if tree.compared:
        among(binder, tree, bound)
        first = rank.first or 1
        assert bound.mask is not None
    if rank.kind in ("earliest", "latest"):
        way, score = date_way(binder, root, rank.by or _date_ids(binder, root), bound.mask)
        if way is None:
            return Formed(bound.plan, binder.scores.unsure / 2, rank.kind)
        measure = Measure(kind=rank.kind, way=way)
        score *= measured(binder, tree, measure, bound)
        compute = Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "earliest")
        return Formed(plan_of(bound, compute), score)
    if rank.kind in ("most", "fewest"):
        return _counted(binder, root, rank, bound, first)
    numbers = [id for id in rank.by if binder.know.value(id) == "number"]
    paths = next((found for id in numbers if (found := binder.know.relations[id].literal_paths("value"))), ())
    if not paths:
        return Formed(bound.plan, binder.scores.unsure / 2, rank.kind)
    measure = Measure(kind="value", way=Way(paths=paths))
    return Formed(
        plan_of(bound, Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "lowest"))
    )


def _date_ids(binder: Binder, root: Node) -> tuple[str, ...]:
    """Dates of persons are those of their birth unless another is named."""
    return (
        ("born_on",) if root.categories == int(Category.Actor) and "born_on" in binder.know.relations else ()
    )


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
                if measure is None and fits and holds(binder, way, Anchor(), mask):
                    measure = Measure(kind="count", way=way)
    if measure is None:
        return Formed(bound.plan, binder.scores.unsure / 2, rank.kind)
    compute = Compute(kind="rank", measure=measure, first=first, ascending=rank.kind == "fewest")
    return Formed(plan_of(bound, compute), score)


# groups


def _by_time(binder: Binder, root: Node, group: Group, bound: Bound) -> Formed:
    """Groups by a unit of time."""
    assert group.unit
    said = _said_when(binder, root)
    if said:  # "born in each century": the verb says which date it is split by, and nothing else
        root.links = [link for link in root.links if not _says_only_when(binder, link)]
        bound = binder.bind(root)
    assert bound.mask is not None
    way, score = date_way(binder, root, (*said, *group.by), bound.mask)
    if way is None:
        return Formed(bound.plan, binder.scores.unsure / 2, group.unit)
    how = Compute(
        kind="group",
        way=way,
        by=group.unit,
        at_least=group.at_least,
        edge=group.edge or "span",
        first=group.first,
    )
    return Formed(plan_of(bound, how), score)


def _grouped(binder: Binder, root: Node, group: Group, bound: Bound) -> Formed:
    if group.unit:
        return _by_time(binder, root, group, bound)
    assert group.node is not None and bound.mask is not None
    far = group.node
    kind = best_kind(far.kinds)
    chain = (
        None if kind is not None and kind.types and not far.links else _chained(binder, root, far, bound.mask)
    )
    if kind is not None and not far.far and _is_level(binder, kind, far):
        usual = _usual_place(binder, root, bound.mask)
        if usual is not None:  # which places are countries or cities is not known
            how = Compute(kind="group", way=usual, at_least=group.at_least)
            return Formed(plan_of(bound, how), binder.scores.side)
    if chain is not None:
        chain = _plainest(binder, chain, bound.mask)
        flat = kind is None or not _is_level(binder, kind, far) or _is_flat(binder, chain, bound.mask)
        how = Compute(kind="group", way=chain, at_least=group.at_least)
        return Formed(plan_of(bound, how), 1.0 if flat else binder.scores.side)
    if far.far and far.ends:  # what the verb tells is nothing but what the noun names
        far.categories = far.categories or categories_of(far.kinds)
    found = way_between(binder, root, bound.mask, far, far.ends)
    if found is None:
        return Formed(bound.plan, binder.scores.unsure / 2, far.text)
    way, to, score = found
    if kind is not None and kind.types and len(way.relations) == 1 and not way.then:
        way = Way(
            paths=binder.know.relations[way.relations[0]].paths, inverse=way.inverse
        )  # up to what is of the kind
    return Formed(plan_of(bound, Compute(kind="group", way=way, to=to, at_least=group.at_least)), score)


def _is_level(binder: Binder, kind: KindMatch, far: Node) -> bool:
    """Whether a noun names places of some size, "country", of which the data has no type."""
    places = kind.categories == int(Category.Place) and not (kind.types or kind.classes)
    return places and all(id in binder.config.inside for id in far.ends)


def _is_flat(binder: Binder, way: Way, mask: Mask) -> bool:
    """Whether none of the places that a way leads to is told to be inside another: all may be of one size."""
    inside = [
        Way(relations=(id,)) for id in binder.config.inside if binder.know.domains[id] == int(Category.Place)
    ]
    cells = led(binder, way, mask)
    return not any(holds(binder, one, Anchor(), cells) for one in inside)


def _usual_place(binder: Binder, root: Node, mask: Mask) -> Way | None:
    """The way to the places that things of a category are told by where no word says which: works by where they were made."""
    for name in category_names(root.categories):
        for id in binder.config.places.get(name, ()):
            way = Way(relations=(id,))
            if id in binder.know.relations and holds(binder, way, Anchor(), mask):
                return way
    return None


def _says_only_when(binder: Binder, link: Link) -> bool:
    dated = any(binder.know.value(id) == "date" for id in link.explicit)
    return dated and link.anchor is None and not link.negated


def _said_when(binder: Binder, root: Node) -> tuple[str, ...]:
    """Relations to dates that a verb without anything else says."""
    said = (id for link in root.links if _says_only_when(binder, link) for id in link.explicit)
    return tuple(id for id in said if binder.know.value(id) == "date")


def _plainest(binder: Binder, way: Way, mask: Mask) -> Way:
    """The first path of a relation where it alone tells of nearly all things that the relation tells of: what is classified
    besides would make groups of its own."""
    relation = binder.know.relations[way.relations[0]] if len(way.relations) == 1 and not way.then else None
    if relation is None or len(relation.direct) < 2:
        return way
    first = Way(paths=relation.direct[:1], inverse=way.inverse)
    told, whole = (
        int((mask & satisfying(binder.world, Related(way=one), mask)).sum()) for one in (first, way)
    )
    return first if told >= binder.config.limits.mostly * whole else way


def _chained(binder: Binder, root: Node, far: Node, mask: Mask) -> Way | None:
    """ "per birth place of their artists": from what is counted to the artists, and on to where they were born."""
    inner = next((link.anchor for link in far.links if isinstance(link.anchor, Node)), None)
    places = far.ends
    if (
        far.far and far.ends
    ):  # "by the city where they were made": the verb tells the relation, the noun its end
        ends = categories_of(far.kinds) or binder.know.far(far.ends)
        places = tuple(id for id in far.far if binder.know.ranges[id] & ends) or far.ends
    for id in places:
        domain = binder.know.domains[id]
        if not root.categories or root.categories & domain:
            way = Way(relations=(id,))
            if holds(binder, way, Anchor(), mask):
                return way
        else:
            middle = inner or Node(categories=domain)
            found = way_between(binder, root, mask, middle)
            if found is not None:
                return found[0].model_copy(update={"then": Way(relations=(id,))})
    return None
