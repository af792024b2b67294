"""A plan in plain words, part by part: each part a chip that can be taken away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.plans.records import (
    Among,
    Compute,
    Constraint,
    Dated,
    Either,
    Member,
    Plan,
    Related,
    StatedIn,
    Target,
    Texted,
    read_plan,
)
from crmrag_query.sets.editing import compute_edits, edits_of, target_edits
from crmrag_query.sets.records import Chip
from crmrag_query.sets.wording import JOINT, Wording


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
        case ["where", number, *rest] if number.isdecimal() and int(number) < len(plan.where) and rest:
            return _without_within(plan, keys)
    raise _no_part(path)


def _without_within(plan: Plan, keys: list[str]) -> Plan:
    """Without one item of a list deeper down: an anchor's IRI, an alternative. The last of its kind cannot go alone."""
    whole: Any = plan_json(plan)
    within = whole
    try:
        for key in keys[:-1]:
            within = within[int(key)] if isinstance(within, list) else within[key]
        if not isinstance(within, list) or len(within) < 2:
            raise _no_part(".".join(keys))
        del within[int(keys[-1])]
        return read_plan(whole)
    except (KeyError, IndexError, ValueError, TypeError, ValidationError):
        raise _no_part(".".join(keys)) from None


def _no_part(path: str) -> QuestionError:
    return QuestionError(
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


def _title(wording: Wording, plan: Plan) -> str:
    return JOINT.join(chip.label for chip in _chips(wording, plan))


def _chips(wording: Wording, plan: Plan) -> Iterator[Chip]:
    yield from _target(wording, plan)
    for at, one in enumerate(plan.where):
        label, path = _constraint(wording, one), f"where.{at}"
        if one.negated and not _lacking(one):
            label = wording.words.not_.format(what=label)
        yield Chip(label, path, one.kind, one.negated, edits=edits_of(wording, one))
    if label := _compute(wording, plan.compute):
        yield Chip(label, "compute", plan.compute.kind, edits=compute_edits(plan.compute))


def _target(wording: Wording, plan: Plan) -> Iterator[Chip]:
    """The chips of what is asked for; one that cannot be taken away where anything is."""
    parts = list(wording.target(plan)) or [("target", wording.words.entities)]
    for path, label in parts:
        name = path.partition(".")[2]
        own = Target.model_validate({name: getattr(plan.target, name)}) if name else plan.target
        yield Chip(label, path, "target", removable=bool(name), edits=target_edits(wording, own))


NAMED = 3  # names of a list of some that are told; ours
ALIKE = 50  # entities of such a list that are looked at for names that they share; ours


def _lacking(one: Constraint) -> bool:
    """Whether it says that something is not stated at all."""
    if isinstance(one, Dated):
        return one.negated and one.begin is None and one.end is None
    return isinstance(one, Related) and one.negated and not (one.to.iris or one.to.types or one.to.plan)


def _constraint(wording: Wording, one: Constraint) -> str:
    words = wording.words
    match one:
        case Related():
            way, inner = wording.way(one.way), _title(wording, one.to.plan) if one.to.plan else ""
            if _lacking(one):
                return words.missing.format(what=way)
            to = wording.anchor(one.to, inner)
            return f"{way}: {to}" if to else f"{way}: {words.any_}"
        case Dated():
            way = wording.way(one.way) if one.way else words.dated
            if _lacking(one):
                return words.missing.format(what=way)
            way = {"begin": words.begins, "end": words.ends}.get(one.edge, "{what}").format(what=way)
            label = f"{way}: {wording.period(one.begin, one.end) or words.any_}"
            return label if one.certain else words.possibly.format(what=label)
        case Texted():
            way = wording.way(one.way) if one.way else words.name
            return words.contains.format(what=way, first=wording.any_of(map(wording.name, one.texts)))
        case Among():
            return _among(wording, one)
        case Member():
            return words.same.format(what=_title(wording, one.plan))
        case StatedIn():
            return words.stated_in.format(what=wording.any_of(map(wording.node, one.graphs)))
        case Either():
            return words.or_.join(
                words.not_.format(what=_constraint(wording, each))
                if each.negated
                else _constraint(wording, each)
                for each in one.of
            )


def _among(wording: Wording, one: Among) -> str:
    """Those by name where they have few names: eleven records of one painter are named once."""
    count = len(one.iris)
    named = wording.distinct(map(wording.node, one.iris)) if count <= ALIKE else ()
    if 0 < len(named) <= NAMED:
        return wording.any_of(named)
    return wording.words.among.of(count).format(n=count)


def _compute(wording: Wording, compute: Compute) -> str:
    words = wording.words
    match compute.kind:
        case "rank":
            return _rank(wording, compute)
        case "group":
            assert compute.way is not None
            period = words.periods.get(compute.by, "")
            way = wording.way(compute.way)
            way = {"begin": words.begins, "end": words.ends}.get(compute.edge, "{what}").format(what=way)
            by = f"{way} ({period})" if period else way
            parts = [words.grouped.format(what=by), *_least(wording, compute), *_first(wording, compute)]
            return ", ".join(parts)
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
    way = wording.way(measure.way)
    to = wording.anchor(measure.to, _title(wording, measure.to.plan) if measure.to.plan else "")
    what = f"{way}: {to}" if to else way
    sides = {
        "count": words.number_of,
        "earliest": words.earliest,
        "latest": words.latest,
        "value": words.lowest if compute.ascending else words.highest,
    }
    label = sides[measure.kind].format(what=what)
    if measure.kind == "count":
        label = (words.lowest if compute.ascending else words.highest).format(what=label)
    return ", ".join([label, *_least(wording, compute), *_first(wording, compute)])


def _least(wording: Wording, compute: Compute) -> list[str]:
    least = compute.at_least
    return [wording.words.at_least.of(least).format(n=least)] if least else []


def _first(wording: Wording, compute: Compute) -> list[str]:
    first = compute.first
    return [wording.words.first.of(first).format(n=first)] if first else []
