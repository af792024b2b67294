"""A set as a language model is told it: all members, groups or ranks that fit, one line each, with the fields that were asked
about and those that tell members apart; and of how many what was asked is recorded at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

from crmrag_query.artifacts.release import Release
from crmrag_query.context.context import Budget, ContextLine, Kind, KnownSet, pay
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.compute import Outcome
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Among, Anchor, Column, Compute, Plan, Related, Target, Way
from crmrag_query.plans.world import World
from crmrag_query.sets.build import Reader, Table, order_of, table_of
from crmrag_query.sets.describe import title_of, without_value
from crmrag_query.sets.records import AnswerSet, Page, Row, Sort
from crmrag_query.sets.wording import Wording
from crmrag_query.text import plain, shorten

SHORTEST_LINE = 20  # characters of a line with its number: no more lines are read than could have room
DESCRIBED = 150  # members of the largest set whose fields are looked up: more of them have no room
VALUES = 3  # of one field that a line tells; of more it tells how many there are
NAME_CHARACTERS = 100  # of a name or value


def tell_set(release: Release, made: AnswerSet, plan: Plan, outcome: Outcome, sort: Sort) -> KnownSet:
    """The set of ``plan`` in lines, so many that `context.set_beside` is left of the context.

    Fields are told where all members have room with them; else names and dates alone, of as many as have room.
    """
    config = release.method.context
    beside = min(config.set_beside, config.characters // 2)
    share = 1 - beside / config.characters
    room = Budget(config.characters - beside, int(config.tokens * share))
    telling = _Telling(release, made, plan, outcome, sort, max(1, room.characters // SHORTEST_LINE))
    return replace(_told(telling, room), answers=made.exhaustive)


def _told(telling: _Telling, room: Budget) -> KnownSet:
    head, count = tuple(_line(text) for text in telling.head()), len(telling.outcome.members)
    if telling.table is not None and telling.made.kind != "rank":
        return _fitting(head, telling.rows(), telling.table.total, room)
    if count <= DESCRIBED:
        shared = telling.shared()
        own = {label: values for label, values in telling.fields.items() if label not in shared}
        known = _fitting(
            (*head, *(_line(text) for text in shared.values() if text)), telling.members(own), count, room
        )
        if not known.left:
            return known
    return _fitting(head, telling.members({}), count, room)


def _line(text: str, n: int = 0, node: int | None = None) -> ContextLine:
    return ContextLine(plain(text), Kind.SET, n, () if node is None else (node,))


def _fitting(
    head: tuple[ContextLine, ...], lines: Iterator[tuple[int | None, str]], total: int, room: Budget
) -> KnownSet:
    """As many of the lines, each with the member that it is about, as have room."""
    numbers: dict[int, int] = {}
    kept: list[ContextLine] = []
    left = Budget(room.characters, room.tokens)
    pay((), [left], frame=tuple(KnownSet(head, (), total).written()))
    for node, text in lines:
        number = 0 if node is None else numbers.get(node, len(numbers) + 1)
        line = _line(text, number, node)
        _, written, _ = KnownSet((), (line,)).written()
        if not pay((), [left], frame=[written]):
            break
        if node is not None:
            numbers[node] = number
        kept.append(line)
    return KnownSet(head, tuple(kept), max(0, total - len(kept)))


@dataclass(frozen=True)
class _Telling:
    """Reads the lines of one set; ``most``: lines that are read at most."""

    release: Release
    made: AnswerSet
    plan: Plan
    outcome: Outcome
    sort: Sort
    most: int
    reader: Reader = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "reader", Reader(self.release, self.made.language))

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.release, self.made.language)

    @cached_property
    def nodes(self) -> list[int]:
        """The first members in the order in which the answer has them."""
        order = order_of(self.release, self.outcome, Page(sort=self.sort), self.made.language)[: self.most]
        return [int(node) for node in self.outcome.members[order]]

    @cached_property
    def table(self) -> Table | None:
        return table_of(self.release, self.plan, self.outcome, self.made.language)

    def head(self) -> Iterator[str]:
        """The set in its own sentences; what of the question does not restrict it; of how many is recorded what is asked."""
        yield self.made.text
        prompts = self.release.method.prompts
        if self.made.unknown:
            words = ", ".join(f"“{plain(word)}”" for word in self.made.unknown)
            yield prompts.unrestricted.replace("{words}", words)
        yield from self._recorded()

    def _recorded(self) -> Iterator[str]:
        """Of each condition by a relation that the data states of some of the kind only, of how many."""
        for at, one in enumerate(self.plan.where):
            if not isinstance(one, Related) or one.to == Anchor():
                continue
            others = (*self.plan.where[:at], *self.plan.where[at + 1 :])
            if self.plan.target == Target() and not others:
                continue
            kind = Plan(target=self.plan.target, where=others)
            with suppress(QuestionError):  # it is not told of what cannot be counted
                of_all = execute(kind, self.release[World]).size
                stated = execute(
                    kind.model_copy(update={"where": (*others, Related(way=one.way))}), self.release[World]
                ).size
                if stated < of_all:
                    title = title_of(self.release, kind, self.made.language)
                    template = self.release.method.prompts.recorded
                    told = {"{n}": str(stated), "{all}": str(of_all), "{kind}": title}
                    for place, text in {**told, "{what}": self.wording.way(one.way)}.items():
                        template = template.replace(place, text)
                    yield template

    @cached_property
    def fields(self) -> dict[str, dict[int, list[str]]]:
        """Of each relation that tells members apart the values of the members that have any, by its label."""
        found: dict[str, dict[int, list[str]]] = {}
        for way in self._ways():
            values = self._values(way)
            if values:
                found.setdefault(self.wording.way(way), values)
        return found

    def _ways(self) -> Iterator[Way]:
        """Ways that a condition leaves open, which each member goes by itself, then those that are always told."""
        for one in self.plan.where:
            if isinstance(one, Related) and not one.negated and not (one.to.iris and len(one.to.iris) == 1):
                yield one.way
        known = self.release[World].relations
        fixed = {
            id
            for one in self.plan.where
            if isinstance(one, Related) and one.to.iris
            for id in one.way.relations
        }
        for id in self.release.method.context.set_fields:
            if id in known and id not in fixed:
                yield Way(relations=(id,), direct=True)

    def _values(self, way: Way) -> dict[int, list[str]]:
        """What members lead to by a way, in words, each once."""
        iris = tuple(self.release[Graph].iri(node) for node in self.nodes)
        plan = Plan(where=(Among(iris=iris),), compute=Compute(kind="table", columns=(Column(way=way),)))
        found: dict[int, list[str]] = {}
        with suppress(QuestionError):
            outcome = execute(plan, self.release[World])
            rows = table_of(self.release, plan, outcome, self.made.language)
            assert rows is not None  # a table has rows
            for row in rows.every(self.reader, 0, DESCRIBED * VALUES * 2):
                node = self.release[Graph].node(row[0].iri)
                text = shorten(plain(row[1].label), NAME_CHARACTERS)
                if node is not None and text and text not in found.setdefault(node, []):
                    found[node].append(text)
        return found

    def shared(self) -> dict[str, str]:
        """The fields that all of several members have alike, as lines of the whole, by label; "" where its title says so."""
        found: dict[str, str] = {}
        for label, held in self.fields.items():
            first, *others = held.values()
            if others and len(held) == len(self.outcome.members) and all(other == first for other in others):
                said = all(value in self.made.title for value in first)
                found[label] = "" if said else f"{label}: {_joined(first)}"
        return found

    def members(self, fields: dict[str, dict[int, list[str]]]) -> Iterator[tuple[int | None, str]]:
        """Each member by name, what it is ranked by, its date and its fields."""
        values = self.outcome.values
        order = order_of(self.release, self.outcome, Page(sort=self.sort), self.made.language)[: self.most]
        ranked = None if values is None else values[order].tolist()
        measure = self.plan.compute.measure
        what = self.wording.way(without_value(measure.way)) if measure is not None else ""
        for node, member in zip(self.nodes, self.reader.members(self.nodes, ranked, measure), strict=True):
            name = shorten(plain(member.label), NAME_CHARACTERS)
            told = [f"{what}: {member.shown}"] if member.shown else []
            told += [member.date] if member.date else []
            for label, held in fields.items():
                said = f"{name} {' '.join(told)}"
                if new := [value for value in held.get(node, ()) if value not in said]:
                    told.append(f"{label}: {_joined(new)}")
            yield node, f"{name}{' — ' if told else ''}{'; '.join(told)}"

    def rows(self) -> Iterator[tuple[int | None, str]]:
        """Rows as they are: that of a table is about its member, a group's about none."""
        assert self.table is not None
        of_members = self.made.kind == "table"
        write: Callable[[Row], str] = _grouped if self.made.kind in ("group", "compare") else _cells
        for row in self.table.every(self.reader, 0, self.most):
            node = self.release[Graph].node(row[0].iri) if of_members and row[0].iri else None
            yield node, write(row)


def _grouped(row: Row) -> str:
    return f"{_cells(row[:-1])}: {row[-1].label}"


def _cells(row: Row) -> str:
    return " – ".join(shorten(plain(cell.label), NAME_CHARACTERS) for cell in row)


def _joined(values: Sequence[str]) -> str:
    left = len(values) - VALUES
    return f"{', '.join(values[:VALUES])}{f' and {left} more' if left > 0 else ''}"
