"""What a plan computes, as rows of labelled cells: rankings, groups, tables, pairs, comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crmrag_query.artifacts.release import Release
from crmrag_query.config.sets import SetWords
from crmrag_query.dates import describe
from crmrag_query.dates.calendar import year_interval
from crmrag_query.graph.arrays import Longs
from crmrag_query.plans.outcome import Outcome
from crmrag_query.plans.records import Compute, Plan
from crmrag_query.sets.cells import Reader, count_cell
from crmrag_query.sets.describe import title_of
from crmrag_query.sets.records import Cell, Row
from crmrag_query.sets.wording import Wording

BLOCK = 1000  # rows whose labels are read at a time


@dataclass(frozen=True)
class Table:
    """Rows that are not read yet: those of ``outcome``, or ``own`` ones that are whole already."""

    columns: tuple[str, ...]
    compute: Compute
    outcome: Outcome
    words: SetWords
    own: tuple[Row, ...] = ()

    @property
    def total(self) -> int:
        return len(self.own) or self.outcome.size

    def rows(self, window: slice, reader: Reader) -> tuple[Row, ...]:
        """The rows of a window (no negative places), their labels read."""
        if self.own:
            return self.own[window]
        first, found = 0, []
        for block in self.outcome.blocks(BLOCK):
            last = first + len(block)
            if window.stop is not None and first >= window.stop:
                break
            if last > window.start:
                low, high = max(window.start - first, 0), None if window.stop is None else window.stop - first
                found += self._read(block[low:high], first + low, reader)
            first = last
        return tuple(found)

    def every(self, reader: Reader) -> Iterator[Row]:
        """All rows, labels read a block at a time."""
        yield from self.own
        first = 0
        for block in () if self.own else self.outcome.blocks(BLOCK):
            yield from self._read(block, first, reader)
            first += len(block)

    def _read(self, block: Longs, first: int, reader: Reader) -> list[Row]:
        if self.compute.kind == "group":
            return [(self._group(cell, reader), count_cell(count)) for cell, count in block.tolist()]
        rows = [self._cells(row, reader) for row in block.tolist()]
        values = self.outcome.values
        if self.compute.kind != "rank" or values is None:
            return rows
        own = values[first : first + len(block)].tolist()
        return [(*row, self._value(value, reader)) for row, value in zip(rows, own, strict=True)]

    def _cells(self, row: Sequence[int], reader: Reader) -> Row:
        columns = self.compute.columns if self.compute.kind == "table" else ()
        yearly = {at for at, column in enumerate(columns, 1) if column.by == "year"}
        return tuple(
            reader.year(number) if at in yearly else reader.cell(number) for at, number in enumerate(row)
        )

    def _group(self, cell: int, reader: Reader) -> Cell:
        by = self.outcome.by
        return reader.cell(cell) if by == "entity" else period_cell(cell, by, self.words, reader.language)

    def _value(self, value: float, reader: Reader) -> Cell:
        measure = self.compute.measure
        if measure is None or measure.kind == "count":
            return count_cell(int(value))
        return Cell(reader.shown(value, measure), number=value)


def table_of(release: Release, plan: Plan, found: Outcome, language: str) -> Table | None:
    """The rows that the plan computes; None for a list, a count, a yes or no."""
    compute, wording = plan.compute, Wording(release, language)
    words = wording.words
    named = wording.words.entities if not (target := list(wording.target(plan))) else target[0][1]
    columns: tuple[str, ...]
    match compute.kind:
        case "rank":
            assert compute.measure is not None
            columns = (named, wording.way(compute.measure.way))
        case "group":
            assert compute.way is not None
            columns = (wording.way(compute.way), words.number_of.format(what=named))
        case "table":
            columns = (named, *(column.title or wording.way(column.way) for column in compute.columns))
        case "pairs":
            members = (named, named) if compute.partner else (named,)
            columns = (*members, *(wording.way(way) for way in compute.ways))
        case "compare":
            columns = (named, words.number_of.format(what=named))
            return Table(columns, compute, found, words, _compared(release, plan, found, language))
        case _:
            return None
    return Table(columns, compute, found, words)


def _compared(release: Release, plan: Plan, found: Outcome, language: str) -> tuple[Row, ...]:
    """A row for each plan with its size."""
    alone = plan.model_copy(update={"compute": Compute()})
    titles = [title_of(release, one, language) for one in (alone, *plan.compute.others)]
    return tuple((Cell(title), count_cell(size)) for title, size in zip(titles, found.sizes, strict=True))


def period_cell(number: int, by: str, words: SetWords, language: str) -> Cell:
    """A year, a decade by its first year, or a century, as the groups of an outcome number them."""
    if by == "century":
        return Cell(century_label(number, words), number=number)
    year = number if number > 0 else number + 1  # 1 BC is -1 in groups, 0 in day numbers
    last = year + 9 if by == "decade" else year
    return Cell(describe(year_interval(year, last), language), number=number)


def century_label(number: int, words: SetWords) -> str:
    """The century of a number: 19 is the 19th, -5 the fifth BC."""
    template = words.century if number > 0 else words.century_before
    return template.replace("{n}", _ordinal(abs(number), words))


def _ordinal(number: int, words: SetWords) -> str:
    """A number with the ending of an ordinal, where the language's template leaves that out."""
    if not words.ordinals:
        return str(number)
    last = "" if 10 < number % 100 < 14 else str(number % 10)
    return f"{number}{words.ordinals.get(last, words.ordinals[''])}"
