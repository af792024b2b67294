"""From a plan to the answer's set: executed, put in order, paged, labelled, explained.

Labels, dates, images and reasons are read for the members and rows of one page only.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import SetWords
from crmrag_query.dates import Interval, civil, describe, parse_date, year_interval
from crmrag_query.documents.pages import is_read
from crmrag_query.entities.details import Details, type_nodes
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Longs, spread
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, TriplesIndex, language_matches
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import Outcome, Proof, cell, execute, explain
from crmrag_query.plans.records import Compute, Measure, Plan
from crmrag_query.plans.records import Member as MemberCondition
from crmrag_query.plans.sparql import to_sparql
from crmrag_query.plans.world import World, how_many
from crmrag_query.retrieval.aggregation import DATING, DateIndex
from crmrag_query.sets.describe import JOINT, Wording, describe_plan, plan_json, prose, sentence_of, title_of
from crmrag_query.sets.records import (
    FIRST_PAGE,
    AnswerSet,
    Cell,
    Excluded,
    Identity,
    Member,
    Page,
    Reason,
    Row,
    Stated,
)
from crmrag_query.shown import Named, SourceTriple
from crmrag_query.text import fold, plain
from crmrag_query.timing import check


@dataclass
class Reader:
    """Reads entities of a release in one language, each label once."""

    release: Release
    language: str
    _named: dict[int, Named] = field(default_factory=dict)

    @property
    def details(self) -> Details:
        return Details(self.release, self.language)

    def named(self, node: int) -> Named:
        if node not in self._named:
            graph = self.release[Graph]
            self._named[node] = Named(graph.iri(node), plain(graph.label(node, (self.language,))))
        return self._named[node]

    def cell(self, number: int) -> Cell:
        """A cell of a table: a node, or n + the row of a literal."""
        world = self.release[World]
        if number < world.size:
            named = self.named(number)
            return Cell(self._dated(number, named.label), named.iri)
        found = cell(world, number)
        assert not isinstance(found, str)
        return Cell(found.text, "", found.datatype, found.lang, number_of(found.text))

    def year(self, number: int) -> Cell:
        """A cell by its year, where it is written as a date of one year; as it is otherwise."""
        whole = self.cell(number)
        dated = parse_date(whole.label)
        if dated is None or dated.begin is None or dated.end is None:
            return whole
        first, last = (civil(day)[0] for day in (dated.begin, dated.end))
        if first != last:
            return whole
        return replace(whole, label=describe(year_interval(first), self.language), number=float(first))

    def _dated(self, node: int, label: str) -> str:
        """A time-span by its dates, after its name where that says something else; any other thing by its name."""
        world = self.release[World]
        if not int(world.adjacency.categories[node]) & int(Category.Time) or not world.dated[node]:
            return label
        begin, end = (int(side[node]) for side in world.extents)
        if begin > end:
            return label  # the data has it end before it begins
        known = Interval(None if begin == OPEN_BEGIN else begin, None if end == OPEN_END else end)
        dates = describe(known, self.language)
        named = self.release[Graph].labels(node)
        return label if dates in label else f"{label} ({dates})" if named else dates

    def members(
        self,
        nodes: Sequence[int],
        values: Sequence[float] | None = None,
        measure: Measure | None = None,
        unit: int = -1,
    ) -> Iterator[Member]:
        """Members with all but their paths, a block at a time; ``unit``: that of the values, see `Outcome`."""
        graph, details = self.release[Graph], self.details
        for first in range(0, len(nodes), ROWS_AT_ONCE):
            check()
            block = nodes[first : first + ROWS_AT_ONCE]
            ranked = None if values is None else values[first : first + len(block)]
            texts = [""] * len(block) if ranked is None else self.all_shown(block, ranked, measure, unit)
            for at, (node, dates) in enumerate(zip(block, details.all_dates(block), strict=True)):
                named = self.named(node)
                yield Member(
                    named.iri,
                    named.label,
                    None if ranked is None else ranked[at],
                    texts[at],
                    dates.text if dates else "",
                    next(iter(graph.images(node)), ""),
                    self.all_named(type_nodes(graph, node)),
                    details.classes(node),
                    read=is_read(named.iri),
                )

    def all_shown(
        self, nodes: Sequence[int], values: Sequence[float], measure: Measure | None, unit: int = -1
    ) -> list[str]:
        """The values of members in words; the whole of a member's own date of which one is the first or the last day,
        "1670–1680"."""
        found = [self.shown(value, measure, unit) for value in values]
        if measure is not None and measure.kind in ("earliest", "latest"):
            for at, dates in enumerate(self.details.all_dates(nodes)):
                end = None if dates is None else dates.begin if measure.kind == "earliest" else dates.end
                if dates is not None and end is not None and int(end) == civil(int(values[at]))[0]:
                    found[at] = dates.text
        return found

    def shown(self, value: float, measure: Measure | None, unit: int = -1) -> str:
        """A value in words, with its unit: a day number as its year, since a day is often only where a year begins."""
        if measure is not None and measure.kind in ("earliest", "latest"):
            return describe(year_interval(civil(int(value))[0]), self.language)
        number = str(int(value)) if float(value).is_integer() else repr(float(value))
        return number if unit < 0 else f"{number} {self.named(unit).label}"

    def all_named(self, nodes: Iterable[int]) -> tuple[Named, ...]:
        return tuple(map(self.named, nodes))


def count_cell(number: int) -> Cell:
    return Cell(str(number), "", "http://www.w3.org/2001/XMLSchema#integer", "", number)


def number_of(text: str) -> float | None:
    """The finite number that a text writes, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return int(text) if text.strip().lstrip("+-").isdecimal() and len(text) < 16 else number


_NUMBER = re.compile(r"(\d+)")
UNDATED = np.iinfo(np.int64).max


def order_of(release: Release, outcome: Outcome, page: Page, language: str) -> Longs:
    """Places of ``outcome.members`` in the order that the page asks for, int64; where it asks for none, of a ranking as it
    ranks, of others that of the data, but those that it gives a name before those called by their role or IRI.

    Raises QuestionError for an order by value of a set that has none.
    """
    import pyarrow.compute as pc

    count = len(outcome.members)
    if page.sort == "label" and count > release.method.sets.limits.sorted:
        # by display label in small letters, without a look at numbers: a second for a million
        labels = pc.utf8_lower(release[Graph].display_labels.take(pa.array(outcome.members)))
        table = pa.table({"label": labels, "place": np.arange(count)})
        by = [("label", "descending" if page.descending else "ascending"), ("place", "ascending")]
        return np.asarray(pc.sort_indices(table, sort_keys=by), np.int64)
    if page.sort == "label":
        keys = [_natural(label) for label in labels_of(release, outcome.members, language)]
        found = sorted(range(count), key=keys.__getitem__, reverse=page.descending)
        return np.array(found, np.int64)
    if page.sort == "date":
        return _by(begins_of(release, outcome.members), page.descending)
    if page.sort == "value":
        if outcome.values is None:
            raise QuestionError("The members of this set have no values.", "Sort by label or date.")
        return _by(np.asarray(outcome.values), page.descending)
    order = np.arange(count)
    if outcome.values is None:
        order = np.argsort((release[Graph].flags[outcome.members] & FLAG_LABELLED) == 0, kind="stable")
    return (order[::-1] if page.descending else order).astype(np.int64)


def _by(values: Longs, descending: bool) -> Longs:
    """Ascending or descending, equal ones as they were, what has no value last."""
    lacking = values == UNDATED
    keys = np.where(lacking, UNDATED, -values) if descending else values
    return np.argsort(keys, kind="stable").astype(np.int64)


def _natural(label: str) -> tuple[tuple[bool, str | int], ...]:
    """Mural 2 before Mural 10, letters without accents and case."""
    parts = _NUMBER.split(fold(label))
    return tuple((True, part) if at % 2 == 0 else (False, int(part[:18])) for at, part in enumerate(parts))


def labels_of(release: Release, nodes: Ints, language: str) -> list[str]:
    """Labels of many nodes, each in the language where it has one there, else its display label."""
    graph = release[Graph]
    shown: list[str] = graph.display_labels.take(pa.array(nodes)).to_pylist()
    if not language or len(nodes) == 0:
        return shown
    table, ptr = graph.label_rows
    owner, row = spread(ptr, nodes)
    rows = pa.array(row)
    tags = table.column("lang").take(rows).to_pylist()
    fits = np.array([language_matches(tag, language) for tag in tags], bool)
    places, first = np.unique(owner[fits], return_index=True)
    texts = table.column("text").take(rows.filter(pa.array(fits))).take(pa.array(first)).to_pylist()
    for place, text in zip(places.tolist(), texts, strict=True):
        shown[place] = text
    return shown


def begins_of(release: Release, nodes: Ints) -> Longs:
    """First day that is known of each node, int64; ``UNDATED`` for none.

    By the relationships that date its Fundamental Category (``DATING``), the first that has one; where only
    an end is known, that.
    """
    dates, found = release[DateIndex], np.full(len(nodes), UNDATED, np.int64)
    ordered = np.argsort(nodes, kind="stable")
    ascending = nodes[ordered]
    categories = release[Graph].category_of_node[nodes]
    for category, relationships in DATING.items():
        own = categories == int(category)
        for relationship in relationships if own.any() else ():
            dated, *_ = rows = dates.dated_by(relationship)
            entity, begin, end = (column[np.isin(dated, nodes)] for column in rows)
            day = np.where(begin == OPEN_BEGIN, end, begin).astype(np.int64)
            known = day != OPEN_END
            place = ordered[np.searchsorted(ascending, entity[known])]
            free = own[place] & (found[place] == UNDATED)
            found[place[free]] = day[known][free]
    return found


def reasons_of(
    release: Release, plan: Plan, members: Sequence[int], reader: Reader
) -> list[tuple[Reason, ...]]:
    """The reasons of each member."""
    found = explain(release[World], plan, members)
    return [
        tuple(_reason(release, reader, member, proof) for proof in proofs)
        for member, proofs in zip(members, found, strict=True)
    ]


def _reason(release: Release, reader: Reader, member: int, proof: Proof) -> Reason:
    graph = release[Graph]
    nodes, triples = [member], []
    for hop in proof.hops:
        nodes.append(hop.object if hop.forward else hop.subject)
        subject, object_ = reader.named(hop.subject), reader.named(hop.object)
        number = graph.adjacency.forward.position(hop.property, hop.subject, hop.object)
        triples.append(
            SourceTriple(
                subject.iri,
                graph.property_iri(hop.property),
                object_.iri,
                subject.label,
                graph.property_label(hop.property, lang=reader.language),
                object_.label,
                graph.graph_sets[int(graph.triple_graph[number])],
            )
        )
    ends_in = plain(proof.literal.text) if proof.literal is not None else ""
    return Reason(proof.path, reader.all_named(nodes), tuple(triples), ends_in)


def stated_in(release: Release, members: Ints, reader: Reader) -> tuple[Stated, ...]:
    """Each named graph with the number of members that are the subject of a triple in it, most first.

    Empty where the data has one graph alone, and for sets larger than configured. Statements of classes are not counted: the
    graph array does not keep who makes them.
    """
    graph, limit = release[Graph], release.method.sets.limits.stated_in
    sets = graph.graph_sets
    names = sorted({name for names in sets for name in names or ("",)})
    if len(names) < 2 or not 0 < len(members) <= limit:
        return ()
    owner, row = spread(release[TriplesIndex].out_ptr, members)
    holder, literal = spread(graph.literal_ptr, members)
    of_triples = graph.triple_graph[release[TriplesIndex].out_tri[row]]
    of_literals = np.asarray(graph.literal_table.column("graph").to_numpy())[literal]
    owner, number = np.concatenate([owner, holder]), np.concatenate([of_triples, of_literals])
    pairs = np.unique(owner * len(sets) + number)
    holders = {name: np.zeros(len(members), bool) for name in names}
    for at in np.unique(pairs % len(sets)).tolist():
        chosen = pairs[pairs % len(sets) == at] // len(sets)
        for name in sets[at] or ("",):
            holders[name][chosen] = True
    found = []
    for name, members_in in holders.items():
        graph_node = graph.node(name) if name else None
        label = name if graph_node is None else reader.named(graph_node).label
        if members_in.any():
            found.append(Stated(name, label, int(members_in.sum())))
    return tuple(sorted(found, key=lambda stated: (-stated.count, stated.graph)))


ROWS_AT_ONCE = 1000  # rows whose labels are read at a time
PART = 20  # rows of a page that are read before it is seen how long they are


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

    def rows(self, window: slice, reader: Reader, characters: int = sys.maxsize) -> tuple[Row, ...]:
        """The rows of a window (no negative places), their labels read; fewer where they have more than ``characters``."""
        found: list[Row] = []
        for row in self.every(reader, window.start, sys.maxsize if window.stop is None else window.stop):
            if characters < 0:
                break
            found.append(row)
            characters -= len(repr(row))
        return tuple(found)

    def every(self, reader: Reader, start: int = 0, stop: int = sys.maxsize) -> Iterator[Row]:
        """All rows, or those at these places, labels read a few at a time."""
        yield from self.own[start:stop]
        first = 0
        for block in () if self.own else self.outcome.blocks(ROWS_AT_ONCE):
            for at in range(max(start - first, 0), min(stop - first, len(block)), PART):
                check()
                part = block[at : min(at + PART, stop - first)]
                yield from self._read(part, first + at, reader)
            first += len(block)
            if first >= stop:
                break

    def _read(self, block: Longs, first: int, reader: Reader) -> list[Row]:
        """The rows of a part of a block; ``first``: the place of the first of them."""
        if self.compute.kind == "group":
            return [(self._group(cell, reader), count_cell(count)) for cell, count in block.tolist()]
        columns = self.compute.columns if self.compute.kind == "table" else ()
        yearly = {at for at, column in enumerate(columns, 1) if column.by == "year"}
        rows = [
            tuple(reader.year(cell) if at in yearly else reader.cell(cell) for at, cell in enumerate(row))
            for row in block.tolist()
        ]
        measure, values = self.compute.measure, self.outcome.values
        if self.compute.kind != "rank" or values is None:
            return rows
        numbers = values[first : first + len(block)].tolist()
        if measure is None or measure.kind == "count":
            cells = [count_cell(int(value)) for value in numbers]
        else:
            nodes = block[:, 0].tolist()
            texts = reader.all_shown(nodes, numbers, measure, self.outcome.unit)
            cells = [Cell(text, number=value) for text, value in zip(texts, numbers, strict=True)]
        return [(*row, cell) for row, cell in zip(rows, cells, strict=True)]

    def _group(self, cell: int, reader: Reader) -> Cell:
        by = self.outcome.by
        return reader.cell(cell) if by == "entity" else period_cell(cell, by, self.words, reader.language)


def table_of(release: Release, plan: Plan, found: Outcome, language: str) -> Table | None:
    """The rows that the plan computes; None for a list, a count, a yes or no."""
    compute, wording = plan.compute, Wording(release, language)
    words = wording.words
    target = list(wording.target(plan))
    named = target[0][1] if target else words.entities
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
            plans = (plan.model_copy(update={"compute": Compute()}), *compute.others)
            # what all are looked for among is told once, of the whole
            shared = [
                one
                for one in plan.where
                if isinstance(one, MemberCondition) and all(one in other.where for other in compute.others)
            ]
            plans = tuple(
                other.model_copy(update={"where": tuple(one for one in other.where if one not in shared)})
                for other in plans
            )
            own = tuple(
                (Cell(title_of(release, one, language)), count_cell(size))
                for one, size in zip(plans, found.sizes, strict=True)
            )
            return Table(columns, compute, found, words, own)
        case _:
            return None
    return Table(columns, compute, found, words)


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
    written = str(abs(number))
    if words.ordinals:  # where the language's template leaves the ending to the number
        last = "" if 10 < abs(number) % 100 < 14 else written[-1]
        written += words.ordinals.get(last, words.ordinals[""])
    return template.replace("{n}", written)


MOST = 10_000  # members or rows of one page; whole sets are exported
MOST_CHARACTERS = 2_000_000
"""Of a page's members with their ways, and of its rows; a page that would have more ends before. A thousand members of
ordinary plans have less than half of it."""
EXPLAINED_AT_ONCE = 32  # members whose ways are found at a time


@dataclass(frozen=True, slots=True)
class Told:
    """What is known of how a plan came about: whether it says all that was asked, what it leaves out, and what it found as
    words in texts only."""

    exhaustive: bool = True
    unknown: tuple[str, ...] = ()
    suggestion: Plan | None = None
    mentioned: tuple[str, ...] = ()


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
    found = execute(plan, release[World]) if outcome is None else outcome
    reader, kind = Reader(release, language), plan.compute.kind
    window = _window(release, page)
    table = table_of(release, plan, found, language)
    chips = describe_plan(release, plan, language)
    total = table.total if table is not None else len(found.members)
    rows = table.rows(window, reader, MOST_CHARACTERS) if table is not None else ()
    members = _members(release, plan, found, page, window, reader)
    # as many places as the window has, or up to where the first of the lists was ended before
    shown = sys.maxsize if window.stop is None else window.stop - window.start
    for count, whole in ((len(members), len(found.members)), (len(rows), table.total if table else 0)):
        if count < min(shown, whole - window.start):
            shown = count
    after = window.start + shown
    size = int(found.value or 0) if kind == "count" else len(found.members)
    value: int | bool | tuple[Row, ...] | None = None if table is None else rows[:shown]
    if kind in ("ask", "count"):
        value = bool(found.value) if kind == "ask" else size
    # of a ranking those that came first count, not all that were measured
    entities, different = found.iris or len(found.members), found.identities or None
    if kind == "rank":
        entities, different = len(found.members), how_many(release[World], found.members)
    made = AnswerSet(
        plan=plan_json(plan),
        kind=kind,
        sparql=to_sparql(plan, release[World], found) if sparql else "",
        size=size,
        value=value,
        columns=table.columns if table is not None else (),
        members=members[:shown],
        total=total,
        offset=window.start,
        next=after if after < total else None,
        excluded=_excluded(release, found, reader),
        identity=Identity(plan.compute.identity, entities, different),
        stated_in=stated_in(release, found.members, reader),
        title=JOINT.join(chip.label for chip in chips),
        chips=chips,
        text="",
        numbers=(),
        language=language,
        release=release.id,
        common=None if found.common is None else len(found.common),
        summed=_summed(plan, found, reader),
        exhaustive=told.exhaustive,
        suggestion=plan_json(told.suggestion) if told.suggestion is not None else None,
        unknown=told.unknown,
        licence=release.manifest.licence,
        attribution=release.manifest.attribution,
        dataset=name,
        mentioned=told.mentioned,
    )
    made = replace(made, numbers=_numbers(made))
    return replace(made, text=prose(made, release.method.sets))


def _summed(plan: Plan, found: Outcome, reader: Reader) -> Cell | None:
    """The total or mean of a ranking's numbers, a mean told in `FIGURES` figures."""
    if found.summed is None:
        return None
    told = found.summed if plan.compute.summed == "total" else float(f"{found.summed:.{FIGURES}g}")
    return Cell(reader.shown(told, plan.compute.measure, found.unit), number=found.summed)


FIGURES = 6  # of a mean


def excluded_set(
    release: Release,
    plan: Plan,
    reason: str,
    page: Page = FIRST_PAGE,
    language: str = "en",
    name: str = "",
) -> AnswerSet:
    """What a lack of data keeps out of a plan's set, for one reason: a curator's work list, paged like any set.

    Its ``plan`` is that of the set. Raises QuestionError for a reason that keeps out nothing.
    """
    found = left_out(execute(plan, release[World]), reason)
    listed = plan.model_copy(update={"compute": Compute()})
    made = answer_set(release, listed, page, language, Told(), found, sparql=False, name=name)
    bare = tuple(replace(member, path=(), graphs=()) for member in made.members)
    text = sentence_of(release.method.sets.words(language), reason, made.size)
    return replace(made, plan=plan_json(plan), members=bare, text=text, title=f"{made.title}{JOINT}{reason}")


def left_out(outcome: Outcome, reason: str) -> Outcome:
    """What an outcome leaves out for a reason; QuestionError for a reason that keeps out nothing."""
    if reason not in outcome.excluded:
        known = ", ".join(outcome.excluded) or "none"
        raise QuestionError(f"Nothing is left out for the reason {reason[:100]!r}.", f"There are: {known}.")
    return Outcome(outcome.excluded[reason])


def _window(release: Release, page: Page) -> slice:
    """The page's places; raises QuestionError for what is no page."""
    limit = release.method.sets.limits.page if page.limit == -1 else page.limit
    if page.offset < 0 or (limit is not None and not 0 <= limit <= MOST):
        raise QuestionError(
            f"There is no page of {limit} from {page.offset} on.", f"Ask for 0 to {MOST} from 0 on."
        )
    return slice(page.offset, None if limit is None else page.offset + limit)


def _members(
    release: Release, plan: Plan, found: Outcome, page: Page, window: slice, reader: Reader
) -> tuple[Member, ...]:
    """The window's members, fewer where they have more than `MOST_CHARACTERS`."""
    order = order_of(release, found, page, reader.language)[window]
    nodes = found.members[order].tolist()
    values = None if found.values is None else found.values[order].tolist()
    members: list[Member] = []
    characters = 0
    described = reader.members(nodes, values, plan.compute.measure, found.unit)
    for first in range(0, len(nodes), EXPLAINED_AT_ONCE):
        some = nodes[first : first + EXPLAINED_AT_ONCE]
        for reasons, member in zip(reasons_of(release, plan, some, reader), described, strict=False):
            graphs = {graph for reason in reasons for triple in reason.triples for graph in triple.graphs}
            members.append(replace(member, path=reasons, graphs=tuple(sorted(graphs))))
            characters += len(repr(members[-1]))
            if characters > MOST_CHARACTERS:
                return tuple(members)
    return tuple(members)


def _excluded(release: Release, found: Outcome, reader: Reader) -> tuple[Excluded, ...]:
    sets = release.method.sets
    words, shown = sets.words(reader.language), sets.limits.left_out
    return tuple(
        Excluded(
            reason,
            len(nodes),
            sentence_of(words, reason, len(nodes)),
            reader.all_named(nodes[:shown].tolist()),
        )
        for reason, nodes in found.excluded.items()
        if len(nodes)
    )


def _numbers(made: AnswerSet) -> tuple[float, ...]:
    """Every number that may be said of a set, ascending: sizes, values, what was left out."""
    numbers: set[float] = {made.size, made.total, made.identity.entities}
    numbers |= {one.count for one in made.excluded} | {one.count for one in made.stated_in}
    if made.identity.distinct is not None:
        numbers.add(made.identity.distinct)
    if made.summed is not None and made.summed.number is not None:
        numbers.add(made.summed.number)
    numbers |= {member.value for member in made.members if member.value is not None}
    if isinstance(made.value, tuple):
        numbers |= {cell.number for row in made.value for cell in row if cell.number is not None}
    return tuple(sorted(numbers))
