"""The triples of entities: in VALUES batches, each verified by a count, split where the endpoint cannot give it whole.

A part that comes incomplete twice, or not at all, is split: into fewer subjects, a single subject by property, a single
property by the MD5 of its objects. What is left in the end is either complete or named as missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.report import Missing
from crmrag_assets.harvest.triples import NO_COLUMNS, columns_of
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.queries import Part, count, is_iri, odd, properties_of, rows_of, strings

DIGITS = "0123456789abcdef"
DEEPEST = 4  # digits of the MD5: 65,536 parts of one property of one subject
SPLITS = 500  # of one batch: an endpoint that always counts wrongly must not be asked for ever
FULL = 0.8  # share of a row cap that a part is meant to fill
ASKED_AGAIN = "responses that lacked rows and were asked for again"
LACKING = "batches split because responses lacked rows"
REFUSED = "batches split because they were not answered"
UNVERIFIED = "as many rows as the endpoint gives at most, and no count"
UNCOUNTED = "responses that no count verified"
STRANGERS = "rows of subjects that were not asked for, left out"
MORE = "responses with more rows than were counted"
VANISHED = "subjects that were discovered and then had no triples"


@dataclass(frozen=True)
class Harvested:
    """Triples with COLUMNS, repetitions included; and what could not be had."""

    frame: pl.DataFrame
    missing: tuple[Missing, ...] = ()

    @staticmethod
    def joined(parts: Iterable[Harvested]) -> Harvested:
        found = list(parts)
        frame = pl.concat([NO_COLUMNS, *(one.frame for one in found)])
        return Harvested(frame, tuple(lost for one in found for lost in one.missing))


@dataclass(frozen=True)
class _Answer:
    """One part as the endpoint gave it: its own rows (None: none came), the number it counts (None: it counts none).

    ``unreadable`` rows came with an IRI that no repair makes valid. ``capped``: more may have been cut off.
    """

    rows: pl.DataFrame | None
    counted: int | None
    reason: str = ""
    unreadable: int = 0
    capped: bool = False

    @property
    def frame(self) -> pl.DataFrame:
        return NO_COLUMNS if self.rows is None else self.rows

    @property
    def given(self) -> int:
        return len(self.frame) + self.unreadable

    @property
    def whole(self) -> bool:
        return (
            self.rows is not None and not self.capped and (self.counted is None or self.given >= self.counted)
        )

    @property
    def lacking(self) -> int | None:
        """Triples that are known to be missing."""
        return None if self.counted is None else self.counted - self.given


def harvest(
    client: Client, subjects: Sequence[str], unnamed: bool, triples: Mapping[str, int] | None = None
) -> Harvested:
    """All triples of these subjects; ``unnamed`` leaves out those whose object is a blank node.

    ``triples``: of subjects whose triples were counted before, their number. A batch of such subjects alone that comes with
    as many rows is not counted again. Raises SourceError when the endpoint stops answering.
    """
    client.expects(len(subjects))
    size = client.settings.batch_entities
    parts = [Part(tuple(subjects[at : at + size]), unnamed=unnamed) for at in range(0, len(subjects), size)]
    batches = []
    for part in parts:
        counts = [None if part.unnamed or not triples else triples.get(subject) for subject in part.subjects]
        batches.append(_Batch(client, None if None in counts else sum(filter(None, counts))))
    with client.workers() as pool:
        if client.learned.row_cap is not None:
            answers = list(pool.map(_Batch.ask, batches, parts))
        elif all(batch.expected is not None for batch in batches):
            answers = list(pool.map(_Batch.ask_rows, batches, parts))
        else:  # counts and rows beside one another, as most parts come whole
            pairs = [
                (pool.submit(batch.counted, part), pool.submit(batch.given, part))
                for batch, part in zip(batches, parts, strict=True)
            ]
            answers = [_answer(counted.result, given.result) for counted, given in pairs]
        return Harvested.joined(pool.map(_Batch.settled, batches, parts, answers))


def harvest_odd(client: Client, subjects: Mapping[str, str], unnamed: bool) -> Harvested:
    """All triples of subjects whose IRIs are not valid (as they are -> as repaired), found by the IRIs' texts.

    That costs the endpoint a scan, whatever their number.
    """
    scope, pattern = client.scope, odd(tuple(subjects), client.scope)
    try:
        counted = client.count(count(pattern))
        rows = client.rows(scope.select(pattern, "(STR(?e) AS ?s)", "?p", "?o"))
    except Unanswered as error:
        missing = (Missing(f"invalid IRI: {error.reason}", one) for one in subjects)
        return Harvested(NO_COLUMNS, tuple(missing))
    named = [
        (ox.NamedNode(subjects[s.value]), p, o, *(graph or [None]))
        for s, p, o, *graph in rows
        if isinstance(s, ox.Literal) and s.value in subjects
    ]
    kept, _, _ = columns_of(named)
    apart = sum(isinstance(row[2], ox.BlankNode) for row in rows) if unnamed else 0
    short = counted - len(kept) - apart
    lost = Missing("of subjects with invalid IRIs: the response lacks rows that are valid", triples=short)
    return Harvested(kept, (lost,) if short > 0 else ())


class _Batch:
    """One batch on its way through splitting, with what is left of its splits; ``expected``: triples, as counted before."""

    def __init__(self, client: Client, expected: int | None = None) -> None:
        self._client, self.expected = client, expected
        self._splits = SPLITS

    def settled(self, part: Part, answer: _Answer) -> Harvested:
        """The part, whole or with what is missing named; ``answer`` is the first to it."""
        return self._ended(part, self._confirmed(part, answer))

    def _ended(self, part: Part, answer: _Answer) -> Harvested:
        return self._taken(part, answer) if answer.whole else self._apart(part, answer)

    def _confirmed(self, part: Part, answer: _Answer) -> _Answer:
        """The answer, the better of two where rows are lacking; what may have been cut and was not counted is not whole."""
        if answer.rows is not None and (not answer.whole or answer.unreadable):  # which may be another's rows
            self._client.note(ASKED_AGAIN)
            answer = self._twice(part, answer)
        cap = self._client.learned.row_cap
        if answer.whole and not self._client.counts and cap and answer.given >= cap:
            return replace(answer, counted=None, reason=UNVERIFIED, capped=True)
        return answer

    def _apart(self, part: Part, answer: _Answer) -> Harvested:
        """A part that did not come whole: from smaller ones, or with what is missing named."""
        smaller, lost = self._split(part, answer)
        if smaller:
            self._splits -= 1
            self._client.note(LACKING if answer.rows is not None else REFUSED)
            answers = [self._confirmed(one, self.ask(one)) for one in smaller]
            if len(part.subjects) > 1 or _better(answers, answer):
                found = Harvested.joined(map(self._ended, smaller, answers))
                return replace(found, missing=(*lost, *found.missing))
        cap, counted = self._client.learned.row_cap, answer.counted
        if answer.rows is not None and not answer.capped:
            answer = self._twice(part, answer)
        elif answer.rows is None and cap and (counted or 0) > cap:  # a part of it is better than nothing
            answer = replace(_answer(lambda: counted, lambda: self.given(part)), reason=answer.reason)
        if answer.whole:
            return self._taken(part, answer)
        return Harvested(answer.frame, (*_unreadable(answer), _missing(part, answer)))

    def ask(self, part: Part) -> _Answer:
        """Count first: what is more than the endpoint gives, or nothing at all, needs no rows."""
        try:
            counted = self.counted(part)
        except Unanswered as error:
            return _Answer(None, None, error.reason)
        cap = self._client.learned.row_cap
        if cap and counted and counted > cap:
            return _Answer(None, counted, f"more rows than the {cap:,} that the endpoint gives")
        if counted == 0:
            return _Answer(NO_COLUMNS, 0)
        return _answer(lambda: counted, lambda: self.given(part))

    def ask_rows(self, part: Part) -> _Answer:
        """The rows, and the count only where they are not as many as expected, as the endpoint may have changed."""
        try:
            rows, unreadable = self.given(part)
        except Unanswered as error:
            return _Answer(None, self.expected, error.reason)
        if len(rows) + unreadable == self.expected:
            return _Answer(rows, self.expected, unreadable=unreadable)
        return _answer(lambda: self.counted(part), lambda: (rows, unreadable))

    def counted(self, part: Part) -> int | None:
        """How many triples the part has; an endpoint that never counts is asked for the part's halves instead.

        None for a single subject of such an endpoint. Raises Unanswered where one that counts does not.
        """
        try:
            return self._client.count(count(part.pattern(self._client.scope)), len(part.subjects) == 1)
        except Unanswered:
            if self._client.counts:
                raise
        if len(part.subjects) == 1:
            return None
        halves = [self.given(replace(part, subjects=half)) for half in _cut(part.subjects, 2)]
        return sum(len(rows) + unreadable for rows, unreadable in halves)

    def given(self, part: Part) -> tuple[pl.DataFrame, int]:
        """The rows of the part alone, as an endpoint or a cache before it may answer something else; and unreadable ones."""
        alone = len(part.subjects) == 1
        frame, unreadable = self._client.triples(rows_of(part, self._client.scope), alone)
        own = frame.filter(pl.col("s").is_in(part.subjects))
        if part.properties:
            own = own.filter(pl.col("p").is_in(part.properties))
        self._client.saw(len(frame) + unreadable)
        self._client.note(STRANGERS, len(frame) - len(own))
        return own, unreadable

    def _twice(self, part: Part, first: _Answer) -> _Answer:
        """The part asked for again; two responses of the same length, the longest ever, tell of a row cap."""
        second = self.ask(part)
        if first.whole and second.whole:
            return min(first, second, key=lambda answer: answer.unreadable)
        if second.whole or second.rows is None or first.rows is None:
            return second
        if first.given == second.given and self._client.is_longest(second.given):
            self._client.learn_cap(second.given)
        best = max(first, second, key=lambda answer: answer.given)
        return replace(best, counted=second.counted, reason="its responses lack rows that it counts")

    def _taken(self, part: Part, answer: _Answer) -> Harvested:
        if answer.counted is None:
            self._client.note(UNCOUNTED)
        elif answer.given > answer.counted:
            self._client.note(MORE)
        self._client.brought(answer.given)
        if not part.properties and not part.unnamed:
            self._client.note(VANISHED, len(set(part.subjects).difference(answer.frame["s"].unique())))
        return Harvested(answer.frame, _unreadable(answer))

    def _split(self, part: Part, answer: _Answer) -> tuple[list[Part], tuple[Missing, ...]]:
        """Smaller parts that make up the part, and what they leave out; none where it cannot or must not be split."""
        if self._splits <= 0:
            return [], ()
        if len(part.subjects) > 1:
            cap, pieces = self._client.learned.row_cap, 2
            if cap and answer.counted:
                pieces = max(2, -(-answer.counted // max(1, int(cap * FULL))))
            smaller = _cut(part.subjects, min(pieces, len(part.subjects)))
            return [replace(part, subjects=one) for one in smaller], ()
        if len(part.properties) > 1:
            return [replace(part, properties=one) for one in _cut(part.properties, 2)], ()
        if not part.properties:
            return self._by_property(part, answer)
        if len(part.digest) < DEEPEST and (answer.capped or (answer.counted and answer.counted > 1)):
            return [replace(part, digest=part.digest + digit) for digit in DIGITS], ()
        return [], ()

    def _by_property(self, part: Part, answer: _Answer) -> tuple[list[Part], tuple[Missing, ...]]:
        counts = self._properties(part)
        known = sorted(one for one in counts if is_iri(one))
        lost = [
            Missing("its property is no valid IRI", part.subjects[0], one, counts[one] or None)
            for one in sorted(counts)
            if one not in known
        ]
        if any(counts.values()) and (unlisted := (answer.counted or 0) - sum(counts.values())) > 0:
            lost.append(Missing("its properties were not all listed", part.subjects[0], triples=unlisted))
        groups = _cut(known, 2) if len(known) > 1 else [tuple(known)] if known else []
        return [replace(part, properties=group) for group in groups], tuple(lost)

    def _properties(self, part: Part) -> dict[str, int]:
        """The part's properties with the numbers of their triples, 0 where the endpoint counts none; none if not answered."""
        client, scope = self._client, self._client.scope
        with suppress(Unanswered):
            rows = client.table(properties_of(part, scope), ("p", "n")).rows
            return {
                p.value: int(n.value)
                for p, n in rows
                if isinstance(p, ox.NamedNode) and isinstance(n, ox.Literal) and n.value.isdecimal()
            }
        with suppress(Unanswered):
            names = client.strings(strings("?p", "property", part.pattern(scope)), "property")
            return dict.fromkeys(names, 0)
        return {}


def _better(smaller: Sequence[_Answer], answer: _Answer) -> bool:
    """Whether smaller parts are whole, or bring more than the answer: else its count may be too high, and no row lacking."""
    if all(one.whole for one in smaller) or any(one.rows is None or one.capped for one in smaller):
        return True
    return sum(one.given for one in smaller) > answer.given


def _answer(count: Callable[[], int | None], give: Callable[[], tuple[pl.DataFrame, int]]) -> _Answer:
    """What both together say; a part that is not counted by an endpoint that counts is not answered."""
    counted = None
    try:
        counted = count()
        rows, unreadable = give()
        return _Answer(rows, counted, unreadable=unreadable)
    except Unanswered as error:
        return _Answer(None, counted, error.reason)


def _cut(values: Sequence[str], pieces: int) -> list[tuple[str, ...]]:
    size = -(-len(values) // pieces)
    return [tuple(values[at : at + size]) for at in range(0, len(values), size)]


def _unreadable(answer: _Answer) -> tuple[Missing, ...]:
    """Rows that came and are no triples, as an IRI in them is relative or invalid beyond repair."""
    reason = "an IRI in them is relative or invalid, or a blank node stands where none was"
    return (Missing(reason, triples=answer.unreadable),) if answer.unreadable else ()


def _missing(part: Part, answer: _Answer) -> Missing:
    """What is missing of a part that cannot be split any further."""
    reason = answer.reason or "its responses lack rows that it counts"
    if len(part.subjects) > 1:
        return Missing(
            f"{reason}; given up after {SPLITS} splits, {len(part.subjects)} subjects", triples=answer.lacking
        )
    return Missing(
        reason, part.subjects[0], part.properties[0] if len(part.properties) == 1 else "", answer.lacking
    )
