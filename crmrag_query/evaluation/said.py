"""What an answer said, in the form in which it is scored: its set where it has one, else its cited sources and its text."""

from __future__ import annotations

from dataclasses import replace

from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release
from crmrag_query.dates import civil
from crmrag_query.evaluation.exact import Item, Said, folded_name
from crmrag_query.evaluation.scores import stands_for
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.records import AnswerSet, Cell, Page

SIZED = frozenset({"list", "rank"})
"""Kinds of plans whose size answers "how many"."""


def said_of(release: Release, answer: Answer) -> Said:
    """The whole of an answer's set, whatever page of it the answer holds."""
    return said_by(release, answer, getattr(answer, "set", None))


def said_by(release: Release, answer: Answer, found: AnswerSet | None) -> Said:
    """What ``answer`` said with the set ``found``; without one, by its cited sources and its text."""
    stands = tuple(stands_for(source) for source in answer.sources if source.cited)
    plain = Said(
        answer.text,
        members=stands,
        confident=answer.exhaustive,
        refused=answer.refused,
        cited=frozenset(iri for iris in stands for iri in iris),
    )
    if found is None:
        return plain
    plan = read_plan(found.plan)
    return replace(
        plain,
        members=tuple((iri,) for iri in _members(release, found, plan)),
        value=found.value if isinstance(found.value, int) else found.size if found.kind in SIZED else None,
        items=_items(release, found, plan),
        by_set=True,
        confident=found.exhaustive or answer.exhaustive,
        plan=found.plan,
        unknown=found.unknown,
    )


def _members(release: Release, found: AnswerSet, plan: Plan) -> list[str]:
    """IRIs of all members; the page's where it is the whole."""
    if len(found.members) == found.size:
        return [member.iri for member in found.members]
    nodes = execute(plan, release.world).members
    return [release.graph.iri(int(node)) for node in nodes]


def _items(release: Release, found: AnswerSet, plan: Plan) -> tuple[Item, ...]:
    """Rows of a ranking, group or table: what the first cell names, and the last cell's value."""
    rows = found.value if isinstance(found.value, tuple) else ()
    if rows and (found.next is not None or found.offset):
        whole = answer_set(release, plan, Page(limit=None), found.language, sparql=False)
        rows = whole.value if isinstance(whole.value, tuple) else ()
    measure = plan.compute.measure
    dated = measure is not None and measure.kind in ("earliest", "latest")
    return tuple(_item(release, row[0], _value(row[-1], dated)) for row in rows if row)


def _item(release: Release, cell: Cell, value: float | str) -> Item:
    names = {folded_name(cell.label)}
    node = release.graph.node(cell.iri) if cell.iri else None
    if node is not None:
        names.update(folded_name(label.text) for label in release.graph.labels(node))
    elif cell.number is not None:
        names.add(f"{cell.number:g}")
    return Item(cell.iri, frozenset(names - {""}), value, cell.label)


def _value(cell: Cell, dated: bool) -> float | str:
    """The number of a cell, a day as its year; else its text."""
    if cell.number is None:
        return cell.label
    return civil(int(cell.number))[0] if dated else cell.number
