"""Ways, anchors and periods of a plan in the words of one language; what of its parts can be changed, and changing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import SetWords
from crmrag_query.dates import Interval, civil, describe, year_interval
from crmrag_query.entities.named import category_name
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Compute,
    Constraint,
    Dated,
    Plan,
    Related,
    Target,
    Texted,
    Way,
    read_plan,
)
from crmrag_query.plans.world import World, class_numbers
from crmrag_query.relationships.engine import Catalogue, moves_of, read_step
from crmrag_query.sets.records import Change, Edits, Option, Years
from crmrag_query.text import plain, shorten

JOINT = " · "  # between the parts of a plan
STEP = " › "  # between the steps of a path
NAMED = 3  # alternatives of a way or an anchor that are named
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Wording:
    """Words for the parts of plans over one release, in ``language`` where there are any, else English."""

    release: Release
    language: str

    @property
    def words(self) -> SetWords:
        return self.release.method.sets.words(self.language)

    @property
    def world(self) -> World:
        return self.release[World]

    def way(self, way: Way) -> str:
        """The way's label: of its relations and relationships, else of its paths, then of what follows."""
        return STEP.join(self._link(link) for link in way.links)

    def measured(self, way: Way) -> str:
        """The label of a way to a number, without the last step to that of a dimension: a weight is its value."""
        links = way.links
        return STEP.join(map(self._link, links[:-1] if _is_measured(links[0]) else links))

    def _link(self, way: Way) -> str:
        if way.types and _is_measured(way):
            return self.any_of(map(self.kind, way.types))  # "service weight" rather than how it was measured
        named = [self._relation(id, way.inverse) for id in way.relations]
        named += map(self._relationship, way.relationships)
        found = [label for label in named if label] or self._shown(way)
        found = found or [STEP.join(map(self._step, path)) for path in way.paths]
        said = self.words.or_.join(list(dict.fromkeys(found))[:NAMED])
        return f"{said} ({self.any_of(map(self.kind, way.types))})" if way.types else said

    def _shown(self, way: Way) -> list[str]:
        """The relation whose value these paths show, as a date is shown by the literals of a time-span; [] for none."""
        paths = list(way.paths)
        relations = self.release.method.relations
        shown = (id for id, one in relations.items() if paths and list(one.literal_paths("shown")) == paths)
        return [self._relation(id, inverse=False) for id in shown][:1]

    def _relation(self, id: str, inverse: bool) -> str:
        relation = self.release.method.relations.get(id)
        return (relation.label(self.language, inverse) if relation else "") or id

    def _relationship(self, id: str) -> str:
        catalogue = self.release[Catalogue]
        try:
            label = catalogue[catalogue.number(id)].label
        except KeyError:
            return id
        return self.release.method.translations.of(label, self.language)

    def _step(self, text: str) -> str:
        """The label of the step's property, which the data may have the other way round only."""
        world, step = self.world, read_step(text)
        alone = replace(step, alone=True)
        moves = moves_of(world.adjacency, world.ontology, alone, world.property_numbers)
        if moves:
            number, forward = min(moves, key=lambda move: (move[1] != step.forward, move[0]))
            return plain(world.graph.property_label(number, not forward, self.language))
        if step.code in world.ontology.properties:
            return world.ontology.label(step.code, self.language, "property")
        return self._end(step.code)

    def node(self, iri: str) -> str:
        """The label of an entity or class; of an IRI that the data does not have, its end."""
        graph = self.release[Graph]
        node = graph.node(iri)
        if node is not None:
            return self.name(graph.label(node, (self.language,)))
        number = self.world.class_numbers.get(iri)
        if number is not None:
            return plain(graph.class_label(number, self.language))
        return self._end(iri)

    def _end(self, iri: str) -> str:
        return self.name(iri.rstrip("/#").replace("#", "/").rpartition("/")[2] or iri)

    def unit(self, unit: str) -> str:
        """The label of a unit, which a plan gives by IRI or by a name."""
        return self.name(unit) if self.release[Graph].node(unit) is None else self.node(unit)

    def name(self, text: str) -> str:
        """A name of the data on one line, shortened."""
        return shorten(plain(text), self.release.method.sets.limits.name_characters)

    def class_(self, name: str) -> str:
        """The label of a class, by code or IRI."""
        try:
            numbers = class_numbers(self.world, name)
        except QuestionError:
            numbers = None
        graph = self.release[Graph]
        for number in sorted(numbers or ()):
            if name in (graph.class_name(number), graph.class_iri(number)):
                return plain(graph.class_label(number, self.language))
        known = name in self.release.ontology.classes
        return self.release.ontology.label(name, self.language, "class") if known else self.node(name)

    def any_of(self, labels: Iterable[str]) -> str:
        """Alternatives, the first few named."""
        every = self.distinct(labels)
        shown = every[:NAMED]
        left = len(every) - len(shown)
        more = [self.words.more.of(left).format(n=left)] if left else []
        return " ".join([self.words.or_.join(shown), *more])

    def distinct(self, labels: Iterable[str]) -> list[str]:
        """The labels; of those that differ as spellings of one name do, the first."""
        alike: dict[object, str] = {}
        for label in labels:  # "Moran, Thomas" says the same as "Thomas Moran", "Prints" as "print"
            words = (
                word.removesuffix("s") if len(word) > 3 else word for word in _WORD.findall(label.casefold())
            )
            alike.setdefault(tuple(sorted(words)) or label, label)
        return list(alike.values())

    def anchor(self, anchor: Anchor, title: str = "") -> str:
        """What a way leads to; ``title``: the words of its plan. "" for anything at all."""
        any_kind = self.words.any_kind or f"{self.words.any_} {{what}}"
        types = (any_kind.replace("{what}", self.kind(iri)) for iri in anchor.types)
        labels = [*map(self.node, anchor.iris), *types, *([f"({title})"] if anchor.plan else [])]
        return self.any_of(labels)

    def kind(self, name: str) -> str:
        """The label of a type, by IRI, or of a class."""
        return self.class_(name) if self.release[Graph].node(name) is None else self.node(name)

    def period(self, begin: int | None, end: int | None) -> str:
        """Days as a period; "" for one without ends or one that ends before it begins."""
        if begin is not None and end is not None and begin > end:
            return ""
        return describe(Interval(begin, end), self.language)

    def target(self, plan: Plan) -> Iterator[tuple[str, str]]:
        """(path, label) of each part of what is asked for."""
        target = plan.target
        if target.types:
            yield "target.types", self.any_of(map(self.node, target.types))
        if target.classes:
            yield (
                "target.classes",
                self._general(target.classes) or self.any_of(map(self.class_, target.classes)),
            )
        if target.categories and not (target.types or target.classes):
            categories = self.words.categories
            yield "target.categories", self.any_of(categories.get(name, name) for name in target.categories)

    def _general(self, classes: tuple[str, ...]) -> str:
        """The plain word for classes of which a label would say too much: "objects" for physical ones and others."""
        words = self.words
        if len(classes) > 1 and not OBJECTS.isdisjoint(classes):
            return words.objects
        return words.categories.get(BASES.get(classes[0], ""), "") if len(classes) == 1 else ""


def _is_measured(way: Way) -> bool:
    """Whether a way leads on to the number of a dimension."""
    return way.then is not None and way.then.relations == ("dimension_value",)


OBJECTS = frozenset({"E18", "E19", "E22", "E24"})
BASES = {"E39": "Actor", "E53": "Place", "E5": "Event"}
"""The class that all of a category have."""


EDITED_ONE_BY_ONE = 20  # entities of a condition that can be edited one by one; a longer list only as a whole
FARTHEST = 1_000_000  # years before and after Christ that a condition may name


def target_edits(wording: Wording, target: Target) -> Edits:
    """What is asked for can be another type, class or category."""
    if target.types:
        return Edits(kinds=_options(target.types, wording.node))
    if target.classes:
        return Edits(kinds=_options(target.classes, wording.class_))
    names = wording.words.categories
    return Edits(kinds=_options(target.categories, lambda name: names.get(name, name)))


def edits_of(wording: Wording, one: Constraint) -> Edits:
    """What of a condition can be changed."""
    match one:
        case Related():
            inner, few = _named(one.to), len(one.to.iris) <= EDITED_ONE_BY_ONE
            return Edits(  # entities and kinds always, so that a condition on a name can be set to an entity
                entities=_options(one.to.iris, wording.node) if few else None,
                kinds=_options(one.to.types, wording.kind),
                texts=inner.texts if inner else None,
                relation=_relation(wording, one.way),
                negated=one.negated,
            )
        case Dated():
            relation = _relation(wording, one.way) if one.way else None
            return Edits(
                relation=relation, years=Years(_year(one.begin), _year(one.end)), negated=one.negated
            )
        case Texted():
            return Edits(texts=one.texts, negated=one.negated)
        case Among() if len(one.iris) <= EDITED_ONE_BY_ONE:
            return Edits(entities=_options(one.iris, wording.node), negated=one.negated)
        case _:
            return Edits(negated=one.negated)


def compute_edits(compute: Compute) -> Edits:
    """Numbers of what is made of the members."""
    return Edits(first=compute.first, at_least=compute.at_least)


def _named(anchor: Anchor) -> Texted | None:
    """The name that an anchor's plan asks for, where it asks for nothing else but a category."""
    if anchor.plan is None or anchor.iris or anchor.types or len(anchor.plan.where) != 1:
        return None
    only = anchor.plan.where[0]
    return only if isinstance(only, Texted) and only.way is None and not only.negated else None


def _options(values: Iterable[str], label: Callable[[str], str]) -> tuple[Option, ...]:
    return tuple(Option(value, label(value)) for value in values)


def _relation(wording: Wording, way: Way) -> Option:
    ids = (*way.relations, *way.relationships)
    named = len(ids) == 1 and not (way.paths or way.then or way.inverse)
    return Option(ids[0] if named else "", wording.way(way))


def _year(day: int | None) -> int | None:
    return None if day is None else civil(day)[0]


def changed(release: Release, plan: Plan, change: Change, language: str = "en") -> tuple[Plan, str]:
    """The plan with a part set anew or a condition added, and the path of that part.

    Raises QuestionError for a path that leads nowhere, for what the part does not have, for kinds that the data does not
    have, and for entities that a relation cannot lead to. That the entities are in the data is not checked here.
    """
    wording, keys = Wording(release, language), change.path.split(".")
    match keys:
        case ["target"] | ["target", "types" | "classes" | "categories"]:
            _check_has(change, target_edits(wording, plan.target))
            target = _retargeted(wording, plan.target, keys[-1], change.kinds or ())
            sorts = (name for name in ("types", "classes", "categories") if getattr(target, name))
            return plan.model_copy(update={"target": target}), ".".join(["target", *list(sorts)[:1]])
        case ["compute"]:
            _check_has(change, compute_edits(plan.compute))
            compute = plan.compute.model_copy(update=_given(change))
            return _checked(plan.model_copy(update={"compute": compute})), "compute"
        case ["where"]:
            begun: Constraint
            if change.relation:
                begun = _by_relation(wording, change.relation)
            elif change.texts:
                begun = Texted.model_construct(texts=change.texts)
            else:
                raise QuestionError(
                    "A new condition needs a relation, or a text that a name holds.", "Give one of both."
                )
            where = (*plan.where, _set(wording, begun, replace(change, relation=None)))
            return _checked(plan.model_copy(update={"where": where})), f"where.{len(plan.where)}"
        case ["where", number] if number.isdecimal() and int(number) < len(plan.where):
            at = int(number)
            where = (*plan.where[:at], _set(wording, plan.where[at], change), *plan.where[at + 1 :])
            return _checked(plan.model_copy(update={"where": where})), change.path
    raise QuestionError(
        f"The plan has no part {change.path[:100]!r} that can be changed.",
        "Give the path of one of its chips.",
    )


def _checked(plan: Plan) -> Plan:
    """The plan, its values checked, for the first time, as those of one that comes from outside."""
    return read_plan(plan.model_dump(mode="json"))


def _given(change: Change) -> dict[str, Any]:
    every = {one.name: getattr(change, one.name) for one in fields(Change) if one.name != "path"}
    return {name: value for name, value in every.items() if value is not None}


def _check_has(change: Change, edits: Edits) -> None:
    """QuestionError for a value that the part does not have."""
    has = [one.name for one in fields(Edits) if getattr(edits, one.name) is not None]
    for name in _given(change):
        if name not in has:
            known = ", ".join(has) or "nothing"
            raise QuestionError(
                f"{change.path} has no {name} that could be changed.", f"What can be changed of it: {known}."
            )


def _retargeted(wording: Wording, target: Target, name: str, kinds: tuple[str, ...]) -> Target:
    """The target with other kinds in place of those that a chip names; none: the chip is taken away."""
    if not kinds:
        return target.model_copy(update={name: ()}) if name != "target" else target
    sorts = {_sort(wording, kind) for kind in kinds}
    if len(sorts) > 1:
        raise QuestionError(
            f"What is asked for cannot be of {' and '.join(sorted(sorts))} at once.",
            "Give kinds of one sort.",
        )
    kept = target.model_dump(exclude={name, "categories"})
    return Target.model_validate(kept | {sorts.pop(): kinds})


def _sort(wording: Wording, kind: str) -> str:
    """The part of a target that a kind belongs to."""
    world = wording.world
    if kind in Category.__members__:
        return "categories"
    if kind in world.class_numbers or class_numbers(world, kind) is not None:
        return "classes"
    if wording.release[Graph].node(kind) is not None:
        return "types"
    raise QuestionError(
        f"The data has no type or class {kind[:200]!r}.", "Ask for the choices that there are."
    )


def _by_relation(wording: Wording, id: str) -> Related | Dated:
    """A condition by a relation, of any end: of a date by one that leads to dates."""
    catalogue, relations = wording.release[Catalogue], wording.release.method.relations
    known = {one.id: one for one in catalogue}
    if id in known:
        way = Way(relationships=(id,))
        return Dated(way=way) if known[id].range == Category.Time else Related(way=way)
    if id not in relations:
        raise QuestionError(f"No relation has the id {id[:100]!r}.", "Ask for the choices that there are.")
    value = relations[id].value
    if value not in ("date", "entity"):
        raise QuestionError(
            f"{id} leads to a {value}, not to entities or dates.", "Ask for the choices that there are."
        )
    way = Way(relations=(id,))
    return Dated(way=way) if value == "date" else Related(way=way)


def _set(wording: Wording, one: Constraint, change: Change) -> Constraint:
    """The condition with the values that are given."""
    if change.relation:
        if not isinstance(one, Related | Dated):
            _check_has(change, edits_of(wording, one))
        begun = _by_relation(wording, change.relation)
        # to the same ends where the other relation leads to ends of that sort, else to any
        kept = one if isinstance(one, Related | Dated) and one.kind == begun.kind else begun
        one = kept.model_copy(update={"way": begun.way, "negated": one.negated})
    given: dict[str, Any] = {} if change.negated is None else {"negated": change.negated}
    match one:
        case Related():
            given |= {"to": _anchor(wording, one.to, change)}
            _check_ends(wording, one.way, given["to"])
        case Dated() if change.years is not None:
            given |= _days(one, change.years)
        case Texted() if change.texts is not None:
            given |= {"texts": change.texts}
        case Among() if change.entities is not None:
            given |= {"iris": change.entities}
    _check_has(change, edits_of(wording, one))
    return one.model_copy(update=given)


def _anchor(wording: Wording, anchor: Anchor, change: Change) -> Anchor:
    if change.entities:
        return Anchor.model_construct(iris=change.entities)
    if change.kinds:
        for kind in change.kinds:
            _sort(wording, kind)
        return Anchor(types=change.kinds)
    inner = _named(anchor)
    if change.texts is not None and inner is not None and anchor.plan is not None:
        where = (inner.model_copy(update={"texts": change.texts}),)
        return Anchor(plan=anchor.plan.model_copy(update={"where": where}))
    if change.entities is not None:
        return Anchor(types=() if change.kinds is not None else anchor.types)
    return anchor if change.kinds is None else anchor.model_copy(update={"types": ()})


def _check_ends(wording: Wording, way: Way, anchor: Anchor) -> None:
    """QuestionError for an entity of a category that the way never leads to."""
    last, graph = way.links[-1], wording.release[Graph]
    catalogue, relations = wording.release[Catalogue], wording.release.method.relations
    wanted: set[str] = set()
    for relationship in (catalogue[catalogue.number(id)] for id in last.relationships):
        wanted.add(str((relationship.domain if last.inverse else relationship.range).name))
    for relation in (relations[id] for id in last.relations if id in relations):
        wanted |= set(relation.domain if last.inverse else relation.range)
    mask = sum(int(Category[name]) for name in wanted)
    for iri in anchor.iris if wanted and not last.paths else ():  # where a path ends is not known
        node = graph.node(iri)
        has = 0 if node is None else int(graph.adjacency.categories[np.int32(node)])
        if node is not None and has and not has & mask:
            raise QuestionError(
                f"“{wording.way(way)}” leads to {' or '.join(sorted(wanted))}; {wording.node(iri)} is "
                f"{category_name(graph, node)}.",
                "Choose another entity, or another relation.",
            )


def _days(one: Dated, years: Years) -> dict[str, int | None]:
    """The days of the years; a day of a year that stays the same stays too."""
    begin, end = years.begin, years.end
    for year in (begin, end):
        if year is not None and abs(year) > FARTHEST:
            raise QuestionError(
                f"The year {year} is too far away.", f"Give one from {-FARTHEST} to {FARTHEST}."
            )
    if begin is not None and end is not None and begin > end:
        raise QuestionError(f"The years end ({end}) before they begin ({begin}).", "Turn them round.")
    first = None if begin is None else year_interval(begin).begin
    last = None if end is None else year_interval(end).end
    return {
        "begin": one.begin if begin == _year(one.begin) else first,
        "end": one.end if end == _year(one.end) else last,
    }
