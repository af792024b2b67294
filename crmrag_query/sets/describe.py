"""Plans and sets in plain words, without a language model: what of a plan's parts can be changed, and changing it; and what a
text claims of a set's size.

A plan is told part by part, each part a chip that can be taken away; a set in sentences with no number but its own. Prose
that a language model wrote is looked through for other sizes than the set's.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

import numpy as np
from pydantic import BaseModel, ValidationError

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Claims, Method, SetLimits, SetsPart, SetWords, quoted
from crmrag_query.dates import Interval, civil, describe, year_interval
from crmrag_query.entities.details import category_name
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Target,
    Texted,
    Valued,
    Way,
    read_plan,
)
from crmrag_query.plans.world import YEAR, World, by_roles, class_numbers
from crmrag_query.relationships.engine import moves_of, read_step
from crmrag_query.sets.records import AnswerSet, Cell, Change, Chip, Edits, Option, Row, Years
from crmrag_query.text import plain, shorten
from crmrag_query.timing import check

JOINT = " · "  # between the parts of a plan
STEP = " › "  # between the steps of a path
ALTERNATIVES = 3  # alternatives of a way or an anchor that are named
_WORD_OF_LABEL = re.compile(r"\w+")


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
        again = {one for path in way.paths for one in by_roles(path)}  # is said by the path itself
        found = found or [STEP.join(map(self._step, path)) for path in way.paths if path not in again]
        said = self.words.or_.join(list(dict.fromkeys(found))[:ALTERNATIVES])
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
        known = self.world.catalogue.by_id.get(id)
        return self.release.method.translations.of(known.label, self.language) if known else id

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
        graph = self.release[Graph]
        for number in sorted(class_numbers(self.world, name) or ()):
            if name in (graph.class_name(number), graph.class_iri(number)):
                return plain(graph.class_label(number, self.language))
        known = name in self.release.ontology.classes
        return self.release.ontology.label(name, self.language, "class") if known else self.node(name)

    def any_of(self, labels: Iterable[str]) -> str:
        """Alternatives, the first few named."""
        every = self.distinct(labels)
        shown = every[:ALTERNATIVES]
        left = len(every) - len(shown)
        more = [self.words.more.of(left).format(n=left)] if left else []
        return " ".join([self.words.or_.join(shown), *more])

    def distinct(self, labels: Iterable[str]) -> list[str]:
        """The labels; of those that differ as spellings of one name do, the first."""
        alike: dict[object, str] = {}
        for label in labels:  # "Moran, Thomas" says the same as "Thomas Moran", "Prints" as "print"
            words = (
                word.removesuffix("s") if len(word) > 3 else word
                for word in _WORD_OF_LABEL.findall(label.casefold())
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
    if class_numbers(world, kind) is not None:
        return "classes"
    if wording.release[Graph].node(kind) is not None:
        return "types"
    raise QuestionError(
        f"The data has no type or class {kind[:200]!r}.", "Ask for the choices that there are."
    )


def _by_relation(wording: Wording, id: str) -> Related | Dated:
    """A condition by a relation, of any end: of a date by one that leads to dates."""
    known, relations = wording.world.catalogue.by_id, wording.release.method.relations
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
            given |= {"to": _changed_anchor(wording, one.to, change)}
            _check_ends(wording, one.way, given["to"])
        case Dated() if change.years is not None:
            given |= _days(one, change.years)
        case Texted() if change.texts is not None:
            given |= {"texts": change.texts}
        case Among() if change.entities is not None:
            given |= {"iris": change.entities}
    _check_has(change, edits_of(wording, one))
    return one.model_copy(update=given)


def _changed_anchor(wording: Wording, anchor: Anchor, change: Change) -> Anchor:
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
    known, relations = wording.world.catalogue.by_id, wording.release.method.relations
    wanted: set[str] = set()
    for relationship in (known[id] for id in last.relationships if id in known):
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


def describe_plan(release: Release, plan: Plan, language: str = "en") -> tuple[Chip, ...]:
    """The parts of a plan in order: what is asked for, each condition, what is made of it."""
    return tuple(_chips(Wording(release, language), plan))


def title_of(release: Release, plan: Plan, language: str = "en") -> str:
    """The whole plan in one line: ``paintings · created by: Rembrandt Peale · not: made of: ivory``."""
    return _title(Wording(release, language), plan)


def without(plan: Plan, path: str) -> Plan:
    """The plan without a part that a chip named by its ``path``. Raises QuestionError for a path that leads nowhere.

    ``compute`` makes it a list; a condition goes as a whole, and so does what is asked for (``target.types``).
    """
    keys = path.split(".")
    match keys:
        case ["compute"]:
            return plan.model_copy(update={"compute": Compute()})
        case ["target", ("types" | "classes" | "categories") as name]:
            return plan.model_copy(update={"target": plan.target.model_copy(update={name: ()})})
        case ["where", number] if number.isdecimal() and int(number) < len(plan.where):
            at = int(number)
            return plan.model_copy(update={"where": plan.where[:at] + plan.where[at + 1 :]})
        case ["where", number, _, *_] if number.isdecimal():
            # an item of a list deeper down: an anchor's IRI, an alternative; the last of its kind cannot go alone
            whole: Any = plan_json(plan)
            within = whole
            with suppress(KeyError, IndexError, ValueError, TypeError, ValidationError):
                for key in keys[:-1]:
                    within = within[int(key)] if isinstance(within, list) else within[key]
                if isinstance(within, list) and len(within) > 1:
                    del within[int(keys[-1])]
                    return read_plan(whole)
    raise QuestionError(
        f"The plan has no part {path[:100]!r} that can be taken away.", "Give the path of one of its chips."
    )


def plan_json(plan: BaseModel) -> dict[str, Any]:
    """A plan as plain values, without what has its default; `read_plan` gives it back."""
    return {
        name: _plain(value)
        for name, field in type(plan).model_fields.items()
        if (value := getattr(plan, name)) != field.get_default(call_default_factory=True) or name == "kind"
    }


def _plain(value: object) -> Any:
    if isinstance(value, BaseModel):
        return plan_json(value)
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


NO_PERSONS = Member(plan=Plan(target=Target(classes=("E21",))), negated=True)
"""That objects are no persons, who are biological objects: a chip shows it, and no sentence says it."""


def _untold(plan: Plan) -> set[str]:
    """The paths of what no sentence says."""
    return {f"where.{at}" for at, one in enumerate(plan.where) if one == NO_PERSONS}


def _title(wording: Wording, plan: Plan) -> str:
    untold = _untold(plan)
    return JOINT.join(chip.label for chip in _chips(wording, plan) if chip.path not in untold)


def _inner_title(wording: Wording, plan: Plan) -> str:
    """The title of a plan within another; of one that is nothing but named entities, these."""
    if plan.where and plan == Plan(where=tuple(one for one in plan.where if isinstance(one, Among))):
        return JOINT.join(chip.label for chip in _chips(wording, plan) if chip.path != "target")
    return _title(wording, plan)


def _chips(wording: Wording, plan: Plan) -> Iterator[Chip]:
    # what is asked for; where that is anything, it cannot be taken away
    for path, label in list(wording.target(plan)) or [("target", wording.words.entities)]:
        name = path.partition(".")[2]
        own = Target.model_validate({name: getattr(plan.target, name)}) if name else plan.target
        yield Chip(label, path, "target", removable=bool(name), edits=target_edits(wording, own))
    for at, one in enumerate(plan.where):
        label, path = _constraint(wording, one), f"where.{at}"
        if one.negated and not _lacking(one):
            label = wording.words.not_.format(
                what=_inner_title(wording, one.plan) if isinstance(one, Member) else label
            )
        yield Chip(label, path, one.kind, one.negated, edits=edits_of(wording, one))
    if label := _compute(wording, plan.compute):
        yield Chip(label, "compute", plan.compute.kind, edits=compute_edits(plan.compute))


NAMED = 3  # names of a list of some that are told: more are read by nobody in a chip
ALIKE = 50  # entities of such a list that are looked at for names that they share: each label is a look-up


def _lacking(one: Constraint) -> bool:
    """Whether it says that something is not stated at all."""
    if isinstance(one, Dated):
        return one.negated and one.begin is None and one.end is None
    return isinstance(one, Related) and one.negated and one.to == Anchor()


def _texts(wording: Wording, one: Constraint) -> tuple[str, tuple[str, ...]] | None:
    """What has to hold some texts, a name or what a way leads to, and these; None for another condition."""
    match one:
        case Texted():
            return wording.way(one.way) if one.way else wording.words.name, one.texts
        case Related(
            to=Anchor(plan=Plan(where=(Texted(way=None, negated=False, texts=texts),)) as held) as to
        ):
            only = to == Anchor(plan=held) and held == Plan(where=held.where)
            return (wording.way(one.way), texts) if only else None
    return None


def _holding(wording: Wording, alternatives: Sequence[Constraint]) -> str:
    """That one of several things holds some texts, "name or description contains “sea”"; "" where they say anything else."""
    told = [_texts(wording, each) for each in alternatives]
    if told[0] is None or not all(each is not None and each[1] == told[0][1] for each in told):
        return ""
    what = wording.words.or_.join(dict.fromkeys(each[0] for each in told if each is not None))
    if told[0][1] in (("true",), ("false",)):
        return _stated(wording.words, what, told[0][1][0])  # "open to visitors: true"
    return wording.words.contains.format(what=what, first=wording.any_of(map(wording.name, told[0][1])))


def _constraint(wording: Wording, one: Constraint) -> str:
    check()
    words = wording.words
    match one:
        case Texted():
            return _holding(wording, (one,))
        case Related():
            if held := _holding(wording, (one,)):
                return held
            if _lacking(one):
                # what none of several ways records is told by the first: "date of modification"
                first = one.way.model_copy(update={"relations": one.way.relations[:1]})
                return words.missing.format(what=wording.way(first))
            return _stated(words, wording.way(one.way), _anchor(wording, one.to) or words.any_)
        case Dated():
            way = wording.way(one.way) if one.way else words.dated
            if _lacking(one):
                return words.missing.format(what=way)
            way = _edge(words, one.edge, way)
            label = _stated(words, way, wording.period(one.begin, one.end) or words.any_)
            return label if one.certain else words.possibly.format(what=label)
        case Valued():
            unit = wording.unit(one.unit) if one.unit not in ("", YEAR) else ""
            bounds = f"{_bounds(words, one)} {unit}".rstrip()
            return _stated(words, wording.measured(one.way), bounds)
        case Among():
            # those by name where they have few names: eleven records of one painter are named once
            count = len(one.iris)
            named = wording.distinct(map(wording.node, one.iris)) if count <= ALIKE else ()
            return wording.any_of(named) if 0 < len(named) <= NAMED else words.among.of(count).format(n=count)
        case Member():
            title = _inner_title(wording, one.plan)  # of what is nothing but a kind, the kind
            return title if one.plan == Plan(target=one.plan.target) else words.same.format(what=title)
        case StatedIn():
            return words.stated_in.format(what=wording.any_of(map(wording.node, one.graphs)))
        case ReadFromPage():
            return words.read
        case Either():
            if not any(each.negated for each in one.of) and (held := _holding(wording, one.of)):
                return held
            return words.or_.join(
                words.not_.format(what=_constraint(wording, each))
                if each.negated
                else _constraint(wording, each)
                for each in one.of
            )


def _anchor(wording: Wording, anchor: Anchor) -> str:
    return wording.anchor(anchor, _inner_title(wording, anchor.plan) if anchor.plan else "")


def _stated(words: SetWords, way: str, what: str) -> str:
    return words.stated.replace("{way}", way).replace("{what}", what)


def _bounds(words: SetWords, one: Valued) -> str:
    """ "more than 45", "20–30", "at least 20, less than 30"."""
    least, most = (None if bound is None else figure(bound) for bound in (one.least, one.most))
    if least is not None and most is not None and one.least_counts and one.most_counts:
        return least if least == most else f"{least}–{most}"
    above = words.at_least_number if one.least_counts else words.more_than
    below = words.at_most_number if one.most_counts else words.less_than
    told = ((above, least), (below, most))
    return ", ".join(words_.replace("{n}", bound) for words_, bound in told if bound is not None)


def figure(number: float) -> str:
    """A number as it is written: 45 and not 45.0."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def _edge(words: SetWords, edge: str, way: str) -> str:
    return {"begin": words.begins, "end": words.ends}.get(edge, "{what}").format(what=way)


def _compute(wording: Wording, compute: Compute) -> str:
    words = wording.words
    match compute.kind:
        case "rank":
            return _rank(wording, compute)
        case "group":
            assert compute.way is not None
            period = words.periods.get(compute.by, "")
            way = _edge(words, compute.edge, wording.way(compute.way))
            grouped = words.grouped.format(what=f"{way} ({period})" if period else way)
            return ", ".join([grouped, *_limits(words, compute)])
        case "table":
            titles = dict.fromkeys(column.title or wording.way(column.way) for column in compute.columns)
            return words.table.format(what=", ".join(titles))
        case "pairs":
            return words.pairs.format(what=", ".join(map(wording.way, compute.ways)))
        case "compare":
            return words.compared.format(what="; ".join(_title(wording, other) for other in compute.others))
        case _:
            return ""


def _rank(wording: Wording, compute: Compute) -> str:
    words, measure = wording.words, compute.measure
    assert measure is not None
    way, to = wording.measured(measure.way), _anchor(wording, measure.to)
    what = _stated(words, way, to) if to else way
    sides = {
        "count": words.number_of,
        "earliest": words.earliest,
        "latest": words.latest,
        "value": words.lowest if compute.ascending else words.highest,
    }
    label = sides[measure.kind].format(what=what)
    if measure.kind == "count":
        most = words.fewest if compute.ascending else words.most
        whole = (words.lowest if compute.ascending else words.highest).format(what=label)
        label = most.format(what=what) if most else whole
    if compute.summed:
        label = (words.total if compute.summed == "total" else words.mean).format(what=what)
    return ", ".join([label, *_limits(words, compute)])


def _limits(words: SetWords, compute: Compute) -> Iterator[str]:
    for number, counted in ((compute.at_least, words.at_least), (compute.first, words.first)):
        if number:
            yield counted.of(number).format(n=number)


Cite = Callable[[str], str]
"""IRI -> what stands after the name of that entity, such as `` [1]``."""


def prose(made: AnswerSet, sets: SetsPart, cite: Cite = lambda iri: "") -> str:
    """The set told in its language: sentences with one blank between them.

    Names of the data are on one line each and shortened; ``cite`` may add a citation after each.
    """
    sentences = _Prose(made, sets.words(made.language), sets.limits, cite)
    return " ".join(filter(None, [*sentences.main(), *sentences.notes()]))


def sentence_of(words: SetWords, reason: str, count: int) -> str:
    """How many are left out and why."""
    return words.excluded.get(reason, words.excluded_other).of(count).replace("{n}", str(count))


def in_words(made: AnswerSet, words: SetWords) -> str:
    """The plan of a set as a phrase: "paintings created by Ada Berg, not made of ivory". Of a relation that ends in a
    preposition no colon stands before what it leads to. What it was looked for among is told apart."""
    chips, _ = _told_apart(made)
    if any(chip.path == "target.types" for chip in chips):  # paintings are objects anyway
        chips = [chip for chip in chips if chip.path != "target.classes" or chip.label != words.objects]
    if not chips:
        return plain(made.title)
    parts = []
    for chip in chips:
        label = _bare(chip, words)
        way, colon, what = label.partition(": ")
        last = way.rstrip().rpartition(" ")[2].casefold()
        plainly = colon and chip.kind == "related" and last in words.prepositions and STEP not in way
        parts.append(f"{way.rstrip()} {what}" if plainly else label)
    joined = [chip.kind for chip in chips[:2]] == ["target", "related"] and not chips[1].negated
    if joined and ": " not in parts[1]:
        parts[:2] = [" ".join(parts[:2])]
    return plain(", ".join(parts).replace(JOINT, ", "))


def _told_apart(made: AnswerSet) -> tuple[list[Chip], list[Chip]]:
    """The chips that say what a set is, and those of plans that it was looked for among; these if there is nothing else."""
    among = [chip for chip in made.chips if chip.kind == "member" and not chip.negated]
    untold = {"target", *_untold(read_plan(made.plan))}
    own = [chip for chip in made.chips if chip.path not in untold and chip not in among]
    return (own, among) if own else (among or list(made.chips), [])


def _bare(chip: Chip, words: SetWords) -> str:
    """The label of a chip, of a plan that members were looked for among without the words that say so."""
    before, _, after = words.same.partition("{what}")
    is_among = chip.kind == "member" and not chip.negated and chip.label.startswith(before)
    return chip.label.removeprefix(before).removesuffix(after) if is_among else chip.label


@dataclass(frozen=True)
class _Prose:
    """The sentences of a set; "" for one that has nothing to say."""

    made: AnswerSet
    words: SetWords
    limits: SetLimits
    cite: Cite

    def main(self) -> Iterator[str]:
        """What the set is."""
        made, words = self.made, self.words
        rows = made.value if isinstance(made.value, tuple) else ()
        whole = made.size == 1 and made.offset == 0 and len(made.members) == 1
        match made.kind:
            case "ask" if made.size == 0:
                yield self._filled(words.nothing, 0)
            case "ask":
                yield self._filled(words.some.of(made.size), made.size)
                yield self._members()
            case "group" | "table" | "pairs":
                sentences = words.groups if made.kind == "group" else words.rows
                yield self._filled(sentences.of(made.total), made.total)
                yield self._listed([self._row(row) for row in rows[: self.limits.named]], made.total)
            case "rank" if made.summed is not None and words.summed is not None:
                yield self._filled(words.summed.of(made.size), made.size, made.summed.label)
            case "rank":
                first = made.plan["compute"].get("first", made.size)
                ties = words.with_ties if made.size > first else ""
                yield self._filled(ties or words.size.of(made.size), made.size)
                yield self._ranked(rows)
            case "compare":
                yield " ".join(f"{_capital(self._row(row))}." for row in rows)
                if made.common is not None:
                    yield self._filled(words.common.of(made.common), made.common)
            case "list" if whole and words.one:
                yield self._filled(words.one, 1, self._first())
            case _:
                yield self._filled(words.size.of(made.size), made.size)
                if made.kind == "list":
                    yield self._members()
        _, among = _told_apart(made)
        if among and words.part:
            told = "; ".join(plain(_bare(chip, words).replace(JOINT, ", ")) for chip in among)
            yield words.part.replace("{what}", told)

    def notes(self) -> Iterator[str]:
        """What else is to be known of it: identity, what is left out, what the plan does not say."""
        made, words = self.made, self.words
        if made.identity.distinct is not None and made.identity.distinct != made.identity.entities:
            yield words.distinct.replace("{n}", str(made.identity.distinct))
        yield from (one.text for one in made.excluded)
        for sentence, found in ((words.unknown, made.unknown), (words.mentioned, made.mentioned)):
            if found:
                yield sentence.replace("{first}", quoted(map(self._name, found), made.language))
        if not made.exhaustive:
            yield words.not_exhaustive

    def _filled(self, template: str, number: int, first: str = "") -> str:
        """The template with a number, the plan's words and the first members; braces in these are themselves."""
        told = {"{n}": str(number), "{first}": first, "{what}": in_words(self.made, self.words)}
        return _capital(re.sub(r"\{(?:n|first|what)\}", lambda found: told[found[0]], template))

    def _first(self) -> str:
        names = (f"{self._name(one.label)}{self.cite(one.iri)}" for one in self.made.members)
        return "; ".join(itertools.islice(names, self.limits.named))

    def _members(self) -> str:
        made, first = self.made, self._first()
        whole = made.size <= self.limits.named and len(made.members) == made.size and made.offset == 0
        template = self.words.all_shown if whole else self.words.shown
        return template.replace("{first}", first) if first else ""

    def _listed(self, items: Sequence[str], total: int) -> str:
        left = total - len(items)
        more = [self.words.more.of(left).replace("{n}", str(left))] if left > 0 else []
        return f"{'; '.join([*items, *more])}." if items else ""

    def _row(self, row: Row) -> str:
        """``label (number)`` of a group and its number, else the cells in order."""
        shown = (one for at, one in enumerate(row) if one.label != (row[at - 1].label if at else ""))
        labels = [self._cell(one) for one in shown]  # a date beside its time-span says nothing new
        if len(row) == 2 and not row[1].iri and row[1].number is not None and self.made.kind != "compare":
            return f"{labels[0]} ({labels[1]})"
        return " – ".join(labels)

    def _ranked(self, rows: Sequence[Row]) -> str:
        """``A (12); B (9, tied); C (9, tied)``."""
        values = [row[-1].label for row in rows]
        ranked = []
        for at, row in enumerate(rows[: self.limits.named]):
            tied = values[at] in values[max(at - 1, 0) : at] + values[at + 1 : at + 2]
            value = self.words.tied.replace("{first}", values[at]) if tied else values[at]
            ranked.append(f"{self._cell(row[0])} ({value})")
        return self._listed(ranked, self.made.size if self.made.offset == 0 else 0)

    def _cell(self, cell: Cell) -> str:
        text = cell.label.replace(JOINT, ", ") if self.made.kind == "compare" else cell.label
        return f"{self._name(text)}{self.cite(cell.iri) if cell.iri else ''}"

    def _name(self, text: str) -> str:
        return shorten(plain(text), self.limits.name_characters)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


# A number with its groups of three: 1,234 or 1.234 or 1 234; not a part of a word, a decimal number, or a citation's.
_DIGITS = re.compile(
    r"(?<![\w.,\[–-])\d{1,3}(?:[,.\u00a0\u202f ’']\d{3})+(?![\w,.]?\d)|(?<![\w.,])\d+(?!\w|[.,]\d)"
)
_WORD = re.compile(r"[^\W\d_]+")
_CITATION = re.compile(r"\[[\d\s,;–-]+\]")
_QUOTED = re.compile(r"“[^”\n]*”|«[^»\n]*»|„[^“\n]*“|\"[^\"\n]*\"")
_ADJECTIVES = r"(?:[^\W\d_]+[ \-]+){0,2}?"
_YEARS = range(1000, 2200)  # numbers that are years where a date may stand


@dataclass(frozen=True, slots=True)
class Misstated:
    """``text[start:end]`` claims ``number``, which is none of the set's."""

    start: int
    end: int
    number: int


def misstated(
    text: str, made: AnswerSet, method: Method, listed: Collection[int] = ()
) -> tuple[Misstated, ...]:
    """Where a text claims a size that is none of the set's, in order; empty for a text that may stand.

    ``listed``: how many items the text's lists have, which it may tell. Numbers within names of the set, quotations and
    citations claim nothing, nor do years, the numbers of the plan itself (the first 5) and parts of the set (three examples,
    5 of the 462). Read as English and as the set's language.
    """
    flat = _masked(_flat(text), made)
    allowed = {int(number) for number in made.numbers if float(number).is_integer()} | set(
        map(int, re.findall(r"\d{1,15}", made.title))
    )
    allowed |= set(listed)
    found: dict[int, Misstated] = {}
    asked = [chip.label for chip in made.chips if chip.kind == "target"]
    words = [word for label in asked for word in _WORD.findall(_flat(label)) if len(word) > 3]
    # words of what is asked for: ``paintings`` and, read as a beginning, ``painting``
    nouns = tuple(
        dict.fromkeys(form for word in words for form in (word, word.removesuffix("s"), f"{word}s"))
    )
    for name in dict.fromkeys((made.language, "en")):
        if name not in method.sets.claims:
            continue
        pattern = _compiled(method.sets.claims[name], nouns)
        spoken = list(_spoken(flat, method.sets.answers.numbers))
        told = min((start for number, start, _ in spoken if number == made.size), default=len(flat))
        for number, start, end in spoken:
            same = any(n == made.size and _one_sentence(flat, start, at) for n, at, _ in spoken)
            if number < made.size and (told < start or same):
                continue  # "35 works, of which I list 16": the size is told, and a part of it
            if _is_code(text, start, end) or number in allowed:
                continue
            if _claims_size(flat, number, start, end, pattern):
                found.setdefault(start, Misstated(start, end, number))
        if made.size > 0:
            for match in pattern.none.finditer(flat):
                if 0 not in allowed:
                    found.setdefault(match.start(), Misstated(match.start(), match.end(), 0))
    return tuple(found[start] for start in sorted(found))


@dataclass(frozen=True, slots=True)
class _Pattern:
    before: re.Pattern[str]
    after: re.Pattern[str]
    sample_before: re.Pattern[str]
    sample_after: re.Pattern[str]
    dates: re.Pattern[str]
    none: re.Pattern[str]


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether a number is a part of an identifier (MK 0193), or one end of a range (583–602)."""
    coded = re.search(r"(?<![^\W\d_])[A-Z]{2,}[ .-]?$", text[max(0, start - 12) : start])
    ranged = re.match(r"\s?[-–]\s?\d", text[end:]) or re.search(r"\d\s?[-–]\s?$", text[:start])
    return bool(coded or ranged or (text[start] == "0" and end - start > 1))


def _one_sentence(flat: str, one: int, other: int) -> bool:
    return not re.search(r"[.!?;\n]\s", flat[min(one, other) : max(one, other)])


def _claims_size(flat: str, number: int, start: int, end: int, pattern: _Pattern) -> bool:
    before, after = flat[max(0, start - 60) : start], flat[end : end + 60]
    if pattern.sample_before.search(before) or pattern.sample_after.match(after):
        return False
    if number in _YEARS and (pattern.dates.search(before) or re.match(r"\s*[-–]\s*\d", after)):
        return False
    return bool(pattern.before.search(before) or pattern.after.match(after))


@lru_cache(maxsize=64)
def _compiled(claims: Claims, own: tuple[str, ...]) -> _Pattern:
    nouns = "|".join([*map(re.escape, own), *claims.nouns])
    none = "|".join(claims.none).replace("{nouns}", f"(?:{nouns})")
    return _Pattern(
        re.compile(rf"(?<!\w)(?:{'|'.join(claims.before)})\s*$"),
        re.compile(rf"[ \-]*(?:{_ADJECTIVES}(?:{nouns})(?!\w)|{'|'.join(claims.after)}(?!\w))"),
        re.compile(rf"(?<!\w)(?:{'|'.join(claims.sample_before)})\s*$"),
        re.compile(rf"\s*(?:{_ADJECTIVES}(?:{'|'.join(claims.sample_after)}))(?!\w)"),
        re.compile(rf"(?:(?<!\w)|(?=[-–]))(?:{'|'.join(claims.dates)})\s*$"),
        re.compile(rf"(?<!\w)(?:{none})(?!\w)"),
    )


def _spoken(flat: str, words: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """(number, start, end) of numbers in digits and in words."""
    for match in _DIGITS.finditer(flat):
        digits = re.sub(r"\D", "", match[0])
        if len(digits) < 16:
            yield int(digits), match.start(), match.end()
    for match in _WORD.finditer(flat):
        number = words.get(match[0])
        if number is not None:
            yield number, match.start(), match.end()


def _masked(flat: str, made: AnswerSet) -> str:
    """The text with blanks for names of the set, citations and quotations; as long as before."""
    cells = [cell.label for row in made.value for cell in row] if isinstance(made.value, tuple) else []
    left_out = [one.label for excluded in made.excluded for one in excluded.members]
    names = {*(member.label for member in made.members), *cells, *left_out}
    for name in sorted(map(_flat, names), key=lambda name: (-len(name), name)):
        if len(name) > 2 and not name.isdigit():
            flat = flat.replace(name, " " * len(name))
    for pattern in (_CITATION, _QUOTED):
        flat = pattern.sub(lambda match: " " * len(match[0]), flat)
    return flat


def _flat(text: str) -> str:
    """Small letters without accents, character by character, so that places stay; every sigma as σ."""
    return "".join(map(_flat_letter, text))


@lru_cache(maxsize=4096)
def _flat_letter(letter: str) -> str:
    base = unicodedata.normalize("NFD", letter)[0].lower()
    return "σ" if base == "ς" else base if len(base) == 1 else letter
