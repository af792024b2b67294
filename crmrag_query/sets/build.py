"""From a plan to the answer's set: executed, paged, labelled, explained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from crmrag_query.answers.named import Named
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints
from crmrag_query.plans.execute import execute
from crmrag_query.plans.identity import how_many
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.records import Plan
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.sets.cells import Reader
from crmrag_query.sets.describe import describe_plan, plan_json
from crmrag_query.sets.order import order_of
from crmrag_query.sets.paths import graphs_of, reasons_of
from crmrag_query.sets.prose import prose, sentence_of
from crmrag_query.sets.records import FIRST_PAGE, AnswerSet, Excluded, Identity, Member, Page, Row
from crmrag_query.sets.stated import stated_in
from crmrag_query.sets.tables import Table, table_of
from crmrag_query.sets.wording import JOINT

MOST = 10_000  # members or rows of one page; whole sets are exported


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of how a plan came about: whether it says all that was asked, and what it leaves out."""

    exhaustive: bool = True
    unknown: tuple[str, ...] = ()
    suggestion: Plan | None = None


WHOLE = Told()


def answer_set(
    release: Release,
    plan: Plan,
    page: Page = FIRST_PAGE,
    language: str = "en",
    told: Told = WHOLE,
    outcome: Outcome | None = None,
    sparql: bool = True,
    name: str = "",
) -> AnswerSet:
    """The set that a plan gives, one page of its members in full.

    ``outcome``: of the plan, where it was executed before; ``sparql``: with its query; ``name``: of the data set. Labels,
    dates, images and paths are read for the page alone. Raises QuestionError for a plan that cannot be executed and a page
    that cannot be had.
    """
    world = release.world
    found = execute(plan, world) if outcome is None else outcome
    reader = Reader(release, language)
    window = _window(release, page)
    table = table_of(release, plan, found, language)
    chips = describe_plan(release, plan, language)
    total = table.total if table is not None else len(found.members)
    after = window.stop if window.stop is not None and window.stop < total else None
    manifest = release.manifest
    made = AnswerSet(
        plan_json(plan),
        plan.compute.kind,
        to_sparql(plan, world, found) if sparql else "",
        _size(plan, found),
        _value(plan, found, table, window, reader),
        table.columns if table is not None else (),
        _members(release, plan, found, page, window, reader),
        total,
        window.start,
        after,
        _excluded(release, found, reader),
        _identity(release, plan, found),
        stated_in(release, found.members, reader),
        JOINT.join(chip.label for chip in chips),
        chips,
        "",
        (),
        language,
        release.id,
        None if found.common is None else len(found.common),
        told.exhaustive,
        plan_json(told.suggestion) if told.suggestion is not None else None,
        told.unknown,
        manifest.licence,
        manifest.attribution,
        name,
    )
    made = replace(made, numbers=_numbers(made))
    return replace(made, text=prose(made, release.method.sets))


def excluded_set(
    release: Release,
    plan: Plan,
    reason: str,
    page: Page = FIRST_PAGE,
    language: str = "en",
    outcome: Outcome | None = None,
    name: str = "",
) -> AnswerSet:
    """What a lack of data keeps out of a plan's set, for one reason: a curator's work list, paged like any set.

    Its ``plan`` is that of the set. Raises QuestionError for a reason that keeps out nothing.
    """
    found = execute(plan, release.world) if outcome is None else outcome
    if reason not in found.excluded:
        known = ", ".join(found.excluded) or "none"
        raise QuestionError(f"Nothing is left out for the reason {reason[:100]!r}.", f"There are: {known}.")
    left_out = Outcome(found.excluded[reason])
    listed = plan.model_copy(update={"compute": type(plan.compute)()})
    made = answer_set(release, listed, page, language, Told(), left_out, sparql=False, name=name)
    bare = tuple(replace(member, path=(), graphs=()) for member in made.members)
    text = sentence_of(release.method.sets.words(language), reason, made.size)
    return replace(made, plan=plan_json(plan), members=bare, text=text, title=f"{made.title}{JOINT}{reason}")


def _window(release: Release, page: Page) -> slice:
    """The page's places; raises QuestionError for what is no page."""
    limit = release.method.sets.limits.page if page.limit == -1 else page.limit
    if page.offset < 0 or (limit is not None and not 0 <= limit <= MOST):
        raise QuestionError(
            f"There is no page of {limit} from {page.offset} on.", f"Ask for 0 to {MOST} from 0 on."
        )
    return slice(page.offset, None if limit is None else page.offset + limit)


def _size(plan: Plan, found: Outcome) -> int:
    if plan.compute.kind == "count" and isinstance(found.value, int):
        return int(found.value)
    return len(found.members)


def _value(
    plan: Plan, found: Outcome, table: Table | None, window: slice, reader: Reader
) -> int | bool | tuple[Row, ...] | None:
    if plan.compute.kind == "ask":
        return bool(found.value)
    if plan.compute.kind == "count":
        return _size(plan, found)
    return table.rows(window, reader) if table is not None else None


def _members(
    release: Release, plan: Plan, found: Outcome, page: Page, window: slice, reader: Reader
) -> tuple[Member, ...]:
    order = order_of(release, found, page, reader.language)[window]
    nodes = found.members[order].tolist()
    values: Sequence[float | None] = (
        [None] * len(nodes) if found.values is None else found.values[order].tolist()
    )
    reasons = reasons_of(release, plan, nodes, reader)
    return tuple(
        replace(reader.member(node, value, plan.compute.measure), path=why, graphs=graphs_of(why))
        for node, value, why in zip(nodes, values, reasons, strict=True)
    )


def _excluded(release: Release, found: Outcome, reader: Reader) -> tuple[Excluded, ...]:
    sets = release.method.sets
    words, shown = sets.words(reader.language), sets.limits.left_out
    return tuple(
        Excluded(reason, len(nodes), sentence_of(words, reason, len(nodes)), _first(nodes, shown, reader))
        for reason, nodes in found.excluded.items()
        if len(nodes)
    )


def _first(nodes: Ints, shown: int, reader: Reader) -> tuple[Named, ...]:
    return reader.all_named(np.asarray(nodes)[:shown].tolist())


def _identity(release: Release, plan: Plan, found: Outcome) -> Identity:
    if plan.compute.kind == "rank":  # of those that came first, not of all that were measured
        return Identity(plan.compute.identity, len(found.members), how_many(release.world, found.members))
    return Identity(plan.compute.identity, found.iris or len(found.members), found.identities or None)


def _numbers(made: AnswerSet) -> tuple[float, ...]:
    """Every number that may be said of a set, ascending: sizes, values, what was left out."""
    numbers: set[float] = {made.size, made.total, made.identity.entities}
    numbers |= {one.count for one in made.excluded} | {one.count for one in made.stated_in}
    if made.identity.distinct is not None:
        numbers.add(made.identity.distinct)
    numbers |= {member.value for member in made.members if member.value is not None}
    if isinstance(made.value, tuple):
        numbers |= {cell.number for row in made.value for cell in row if cell.number is not None}
    return tuple(sorted(numbers))
