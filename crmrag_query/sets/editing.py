"""Changing the parts of a plan: what of a chip can be set to something else, and setting it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from crmrag_query.answers.naming import category_name
from crmrag_query.artifacts.release import Release
from crmrag_query.dates.calendar import civil, year_interval
from crmrag_query.errors import QuestionError
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.classes import class_numbers
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
from crmrag_query.sets.records import Change, Edits, Option, Years
from crmrag_query.sets.wording import Wording

NAMED = 20  # entities of a condition that can be edited one by one; a longer list only as a whole
FARTHEST = 1_000_000  # years before and after Christ that a condition may name
NEW = "where"  # the path of a condition that is added


# What can be changed


def target_edits(wording: Wording, target: Target) -> Edits:
    """What is asked for can be another type, class or category."""
    if target.types:
        return Edits(kinds=tuple(Option(iri, wording.node(iri)) for iri in target.types))
    if target.classes:
        return Edits(kinds=tuple(Option(name, wording.class_(name)) for name in target.classes))
    names = wording.words.categories
    return Edits(kinds=tuple(Option(name, names.get(name, name)) for name in target.categories))


def edits_of(wording: Wording, one: Constraint) -> Edits:
    """What of a condition can be changed."""
    match one:
        case Related():
            return replace(
                _anchor_edits(wording, one.to), relation=_relation(wording, one.way), negated=one.negated
            )
        case Dated():
            relation = _relation(wording, one.way) if one.way else None
            return Edits(
                relation=relation, years=Years(_year(one.begin), _year(one.end)), negated=one.negated
            )
        case Texted():
            return Edits(texts=one.texts, negated=one.negated)
        case Among() if len(one.iris) <= NAMED:
            return Edits(entities=_options(wording, one.iris), negated=one.negated)
        case _:
            return Edits(negated=one.negated)


def compute_edits(compute: Compute) -> Edits:
    """Numbers of what is made of the members."""
    return Edits(first=compute.first, at_least=compute.at_least)


def _anchor_edits(wording: Wording, anchor: Anchor) -> Edits:
    """Entities and kinds always, so that a condition on a name can be set to an entity; a name where it speaks of one."""
    inner = _named(anchor)
    return Edits(
        entities=_options(wording, anchor.iris) if len(anchor.iris) <= NAMED else None,
        kinds=tuple(Option(iri, wording.kind(iri)) for iri in anchor.types),
        texts=inner.texts if inner else None,
    )


def _named(anchor: Anchor) -> Texted | None:
    """The name that an anchor's plan asks for, where it asks for nothing else but a category."""
    if anchor.plan is None or anchor.iris or anchor.types or len(anchor.plan.where) != 1:
        return None
    only = anchor.plan.where[0]
    return only if isinstance(only, Texted) and only.way is None and not only.negated else None


def _options(wording: Wording, iris: Iterable[str]) -> tuple[Option, ...]:
    return tuple(Option(iri, wording.node(iri)) for iri in iris)


def _relation(wording: Wording, way: Way) -> Option:
    ids = (*way.relations, *way.relationships)
    named = len(ids) == 1 and not (way.paths or way.then or way.inverse)
    return Option(ids[0] if named else "", wording.way(way))


def _year(day: int | None) -> int | None:
    return None if day is None else civil(day)[0]


# Changing it


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
            return plan.model_copy(update={"target": target}), _target_path(target)
        case ["compute"]:
            _check_has(change, compute_edits(plan.compute))
            compute = plan.compute.model_copy(update=_given(change))
            return _checked(release, plan.model_copy(update={"compute": compute})), "compute"
        case ["where"]:
            added = _set(wording, _begun(wording, change), replace(change, relation=None))
            path = f"where.{len(plan.where)}"
            return _checked(release, plan.model_copy(update={"where": (*plan.where, added)})), path
        case ["where", number] if number.isdecimal() and int(number) < len(plan.where):
            at = int(number)
            one = _set(wording, plan.where[at], change)
            where = (*plan.where[:at], one, *plan.where[at + 1 :])
            return _checked(release, plan.model_copy(update={"where": where})), change.path
    raise QuestionError(
        f"The plan has no part {change.path[:100]!r} that can be changed.",
        "Give the path of one of its chips.",
    )


def _checked(release: Release, plan: Plan) -> Plan:
    """The plan, its values checked, for the first time, as those of one that comes from outside."""
    return read_plan(plan.model_dump(mode="json"), release.method.plans)


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
    if wording.release.graph.node(kind) is not None:
        return "types"
    raise QuestionError(
        f"The data has no type or class {kind[:200]!r}.", "Ask for the choices that there are."
    )


def _target_path(target: Target) -> str:
    return next(
        (f"target.{name}" for name in ("types", "classes", "categories") if getattr(target, name)), "target"
    )


def _begun(wording: Wording, change: Change) -> Constraint:
    """The condition that is added, before its values are set."""
    if change.relation:
        return _by_relation(wording, change.relation)
    if change.texts:
        return Texted.model_construct(texts=change.texts)
    raise QuestionError("A new condition needs a relation, or a text that a name holds.", "Give one of both.")


def _by_relation(wording: Wording, id: str) -> Related | Dated:
    """A condition by a relation, of any end: of a date by one that leads to dates."""
    catalogue, relations = wording.release.catalogue, wording.release.method.relations
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
        one = _related_anew(wording, one, change)
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


def _related_anew(wording: Wording, one: Constraint, change: Change) -> Constraint:
    """The condition by another relation: to the same ends where it leads to ends of that sort, else to any."""
    if not isinstance(one, Related | Dated):
        _check_has(change, edits_of(wording, one))
    begun = _by_relation(wording, change.relation or "")
    kept = one if isinstance(one, Related | Dated) and one.kind == begun.kind else begun
    return kept.model_copy(update={"way": begun.way, "negated": one.negated})


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
    wanted, graph = _leads_to(wording, way), wording.release.graph
    mask = sum(int(Category[name]) for name in wanted)
    for iri in anchor.iris if wanted else ():
        node = graph.node(iri)
        has = 0 if node is None else int(graph.adjacency.categories[np.int32(node)])
        if node is not None and has and not has & mask:
            raise QuestionError(
                f"“{wording.way(way)}” leads to {' or '.join(sorted(wanted))}; {wording.node(iri)} is "
                f"{category_name(graph, node)}.",
                "Choose another entity, or another relation.",
            )


def _leads_to(wording: Wording, way: Way) -> set[str]:
    """Categories of what a way ends in; none for a way whose ends nothing is known of."""
    last = way.links[-1]
    if last.paths:
        return set()
    catalogue, relations = wording.release.catalogue, wording.release.method.relations
    found: set[str] = set()
    for one in (catalogue[catalogue.number(id)] for id in last.relationships):
        found.add(str((one.domain if last.inverse else one.range).name))
    for relation in (relations[id] for id in last.relations if id in relations):
        found |= set(relation.domain if last.inverse else relation.range)
    return found


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
