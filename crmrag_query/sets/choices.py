"""What a part of a plan may be set to so that something is left: entities, kinds and relations, with exact counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from crmrag_query.answers.naming import category_name
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.classes import class_numbers
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.members import anchored
from crmrag_query.plans.records import Anchor, Compute, Constraint, Dated, Plan, Related, Target, Way
from crmrag_query.plans.ways import OF_TYPE, Pairs, pairs
from crmrag_query.plans.world import World, distinct
from crmrag_query.relationships.catalogue import Relationship
from crmrag_query.retrieval.tokenizer import fold
from crmrag_query.sets.order import labels_of
from crmrag_query.sets.records import Choice, Choices, What
from crmrag_query.sets.wording import Wording

MOST = 200  # choices given at once
_SORTS = ("category", "class", "type")  # the order of kinds that are equally frequent


@dataclass(frozen=True)
class _Part:
    """A part of a plan that is to be set: the plan without it, and the condition that it is, if any."""

    release: Release
    rest: Plan
    one: Constraint | None
    language: str

    @property
    def world(self) -> World:
        return self.release.world

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.release, self.language)

    @cached_property
    def members(self) -> Ints:
        """Members of the plan without the part."""
        return members_of(self.world, self.rest)

    @property
    def counted(self) -> bool:
        """Whether they are few enough to see what each relation leads to."""
        return len(self.members) <= self.release.method.sets.facets.members


def choices(
    release: Release, plan: Plan, path: str, what: What, text: str = "", limit: int = 20, language: str = "en"
) -> Choices:
    """What the part of a chip's ``path`` may be set to (``where``: a condition that is added), most members first.

    ``what``: ``entities`` that its way leads to, ``kinds`` of what is asked for or led to, the ``relation`` (Fundamental
    Relationships that lead to what the part names). ``text``: only those whose name holds it. Raises QuestionError for a part
    that has none of these.
    """
    if not 1 <= limit <= MOST:
        raise QuestionError(f"There cannot be {limit} choices.", f"Ask for 1 to {MOST}.")
    part = _part(release, plan, path, language)
    makers = {"entities": _entities, "kinds": _kinds, "relation": _relations}
    found = list(makers[what](part, fold(text)))
    if what != "entities":  # those of one set are in order already, and not all of them labelled
        found = [one for one in found if fold(text) in fold(one.label)]
    return Choices(tuple(found[:limit]), len(found), len(part.members))


def _part(release: Release, plan: Plan, path: str, language: str) -> _Part:
    listed = plan.model_copy(update={"compute": Compute()})
    match path.split("."):
        case ["where"]:
            return _Part(release, listed, None, language)
        case ["target"] | ["target", "types" | "classes" | "categories"]:
            return _Part(release, listed.model_copy(update={"target": Target()}), None, language)
        case ["where", number] if number.isdecimal() and int(number) < len(plan.where):
            at = int(number)
            rest = listed.model_copy(update={"where": plan.where[:at] + plan.where[at + 1 :]})
            return _Part(release, rest, plan.where[at], language)
    raise QuestionError(f"The plan has no part {path[:100]!r}.", "Give the path of one of its chips.")


def _led(part: _Part) -> Pairs:
    """What the members lead to by the part's way, as (place of the member, node)."""
    if not isinstance(part.one, Related):
        raise QuestionError("This part leads to no entities.", "Ask for those of a part that has a relation.")
    members = part.members if part.counted else part.members[:0]
    return pairs(part.world, part.one.way, members, literals=False)


def _most_first(keys: Longs) -> tuple[Longs, Longs]:
    """Distinct values and how often each occurs, the most frequent first."""
    values, count = np.unique(keys, return_counts=True)
    order = np.lexsort((values, -count))
    return values[order], count[order]


def _entities(part: _Part, text: str) -> Iterator[Choice]:
    nodes, count = _most_first(_led(part).cell)
    labels = labels_of(part.release, nodes.astype(np.int32), part.language)
    graph, wording = part.release.graph, part.wording
    for node, number, label in zip(nodes.tolist(), count.tolist(), labels, strict=True):
        if not text or text in fold(label):
            yield Choice(graph.iri(node), wording.name(label), category_name(graph, node), number)


def _kinds(part: _Part, text: str) -> Iterator[Choice]:
    """Types and classes, and of what is asked for categories too."""
    target = part.one is None
    nodes = part.members if target else distinct(_led(part).cell).astype(np.int32)
    found = [*_types(part, nodes), *_classes(part, nodes)]
    if target:
        has = part.world.adjacency.categories[nodes]
        names = part.wording.words.categories
        for name, one in Category.__members__.items():
            found.append(Choice(name, names.get(name, name), "category", int(((has & int(one)) != 0).sum())))
    counted = [one for one in found if one.count]
    yield from sorted(counted, key=lambda one: (-(one.count or 0), _SORTS.index(one.kind), one.label))


def _types(part: _Part, nodes: Ints) -> Iterator[Choice]:
    kinds, count = _most_first(pairs(part.world, OF_TYPE, nodes, literals=False).cell)
    labels = labels_of(part.release, kinds.astype(np.int32), part.language)
    for node, number, label in zip(kinds.tolist(), count.tolist(), labels, strict=True):
        yield Choice(part.release.graph.iri(node), part.wording.name(label), "type", number)


def _classes(part: _Part, nodes: Ints) -> Iterator[Choice]:
    """Classes that nodes state, each with those of its sub-classes."""
    world, graph = part.world, part.release.graph
    ptr, value = graph.type_rows
    mask = world.mask(nodes)
    stated = np.unique(value[np.repeat(mask, np.diff(ptr))]).tolist()
    for number in stated:
        iri = graph.class_iri(number)
        count = int((world.of_classes(class_numbers(world, iri) or {number}) & mask).sum())
        yield Choice(graph.class_code(number) or iri, part.wording.class_(iri), "class", count)


def _relations(part: _Part, text: str) -> Iterator[Choice]:
    """Fundamental Relationships of the members' categories that lead to what the part names, or to dates where it dates; not
    those that say so little that no facet shows them."""
    ends, hidden = _ends(part), part.release.method.sets.facets.hidden
    found = []
    for relationship in part.release.catalogue:
        if relationship.label in hidden or not _fits(part, relationship):
            continue
        way = Way(relationships=(relationship.id,))
        count = None
        if part.counted:
            led = pairs(part.world, way, part.members, literals=False).within(part.world, ends)
            count = len(distinct(led.index))
        if count != 0:
            label = part.wording.way(way)
            found.append(Choice(relationship.id, label, str(relationship.range.name), count))
    yield from sorted(found, key=lambda one: -(one.count or 0))


def _fits(part: _Part, relationship: Relationship) -> bool:
    """Whether the relationship begins where the members are, and ends in a date just where the part does."""
    dates = relationship.range == Category.Time
    if isinstance(part.one, Related | Dated) and dates != isinstance(part.one, Dated):
        return False
    return bool((part.world.adjacency.category[part.members] == int(relationship.domain)).any())


def _ends(part: _Part) -> Ints | None:
    """What the part leads to, None for anything at all."""
    anchor = part.one.to if isinstance(part.one, Related) else Anchor()
    return anchored(part.world, anchor, members_of)
