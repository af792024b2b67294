"""A question as pieces: its words cut into names, kinds, relation phrases, periods and words of grammar.

Of all ways to cut it the one of most weight counts: every reading of a stretch weighs by its words and by how telling it is
(``weights`` of `parsing.yaml`), so that a long name wins over the words within it. Readings of one stretch stay together in
its piece.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.config.questions import Weights
from crmrag_query.dates import Interval
from crmrag_query.linking import Mention
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.lexicon import PhraseSpan
from crmrag_query.parsing.words import Roles
from crmrag_query.questions.words import Chunk
from crmrag_query.timing import check

_MARKS = '.?!;:,()[]"“”„«»'
_POSSESSIVE = re.compile(r"['’]s?$")
WHOLE = frozenset({"label", "alternative", "identifier"})
"""How a whole name is linked; any other way a part of it is."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a question, its tokens ``first`` to before ``last``, with all that it may be.

    ``roles``: of grammar; ``stop``: a word that says nothing by itself; ``capital``, ``quoted``: how it is written;
    ``opens``: a clause begins with it; ``raw``: as it was written.
    """

    first: int
    last: int
    words: tuple[str, ...]
    mention: Mention | None = None
    kinds: tuple[KindMatch, ...] = ()
    phrases: tuple[PhraseSpan, ...] = ()
    roles: frozenset[str] = frozenset()
    period: Interval | None = None
    stop: bool = False
    capital: bool = False
    quoted: bool = False
    opens: bool = False
    raw: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def whole(self) -> bool:
        """Whether it is the whole name of something."""
        return self.mention is not None and self.mention.entities[0].how in WHOLE

    @property
    def unknown(self) -> bool:
        """Whether it has no reading at all."""
        return not (
            self.mention or self.kinds or self.phrases or self.roles or self.period is not None or self.stop
        )

    def relations(self, *roles: str) -> tuple[str, ...]:
        """Ids of the relations that it is a phrase of in any of these roles, in the order of the lexicon.

        Words that may say nothing by themselves ("have") are a loose phrase whatever the lexicon says.
        """
        loose = "filler" in self.roles
        found = (
            r
            for span in self.phrases
            if ("loose" if loose and span.role in ("forward", "backward") else span.role) in roles
            for r in span.relations
        )
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Stretch:
    """A period where it stands."""

    first: int
    last: int
    interval: Interval


@dataclass(frozen=True)
class Readings:
    """All that the words of a question may be."""

    words: tuple[str, ...]
    mentions: Sequence[Mention] = ()
    kinds: Sequence[KindMatch] = ()
    phrases: Sequence[PhraseSpan] = ()
    periods: Sequence[Stretch] = ()
    stop: Collection[str] = frozenset()
    capitals: Collection[int] = frozenset()
    quoted: Collection[int] = frozenset()
    starts: Collection[int] = frozenset()
    roles: Roles = field(default_factory=lambda: Roles({}))
    numbers: Collection[str] = frozenset()
    chunks: Sequence[Chunk] = ()
    weights: Weights = field(default_factory=Weights)


def pieces_of(read: Readings) -> tuple[Piece, ...]:
    """The question cut so that its readings weigh most; every word is in one piece."""
    ends = _weights(read)
    count = len(read.words)
    best: list[tuple[float, int]] = [(0.0, count)] * (count + 1)
    for first in reversed(range(count)):
        options = ends.get(first, {}) | {
            first + 1: max(read.weights.unknown, ends.get(first, {}).get(first + 1, 0.0))
        }
        best[first] = max((weight + best[last][0], last) for last, weight in options.items())
    found: list[Piece] = []
    at = 0
    while at < count:
        check()
        last = best[at][1]
        found.append(_piece(read, at, last))
        at = last
    return tuple(_whole_names(read, found))


def _whole_names(read: Readings, pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Words written as names side by side, of which none is a whole name, are one unknown name: "William T. Walters"."""
    run: list[Piece] = []
    for piece in (*pieces, None):
        if piece is not None and _may_join(piece) and (not run or not piece.opens):
            run.append(piece)
            continue
        initial = any(len(word) == 1 for one in run for word in one.words)
        if len(run) > 1 and (initial or not any(one.whole for one in run)):
            yield replace(_piece(read, run[0].first, run[-1].last), mention=None, kinds=(), phrases=())
        else:
            yield from run
        run = [piece] if piece is not None and _may_join(piece) else []
        if piece is not None and not run:
            yield piece


def _may_join(piece: Piece) -> bool:
    return piece.capital and not piece.roles and piece.period is None and not piece.opens


def _weights(read: Readings) -> dict[int, dict[int, float]]:
    """first -> last -> weight of the best reading of that stretch."""
    found: dict[int, dict[int, float]] = {}
    weights = read.weights

    def add(first: int, last: int, each: float) -> None:
        length = last - first
        weight = each * length + weights.longer * (length - 1)
        row = found.setdefault(first, {})
        row[last] = max(row.get(last, 0.0), weight)

    for period in read.periods:
        add(period.first, period.last, weights.period)
    for mention in read.mentions:
        if mention.last > mention.first:
            add(mention.first, mention.last, _name_weight(read, mention))
    for kind in read.kinds:
        add(kind.first, kind.last, weights.kind)
    for span in read.phrases:
        add(span.first, span.last, weights.grammar if span.role == "loose" else weights.relation)
    for at, word in enumerate(read.words):
        check()
        if word in read.stop:
            add(at, at + 1, weights.grammar)
        for length, _ in read.roles.at(read.words, at):
            add(at, at + length, weights.grammar if length == 1 else weights.phrase)
    return found


def _name_weight(read: Readings, mention: Mention) -> float:
    inside, weights = range(mention.first, mention.last), read.weights
    if all(i in read.quoted for i in inside):
        return weights.quoted
    written = any(i in read.capitals for i in inside)
    if mention.entities and mention.entities[0].how in WHOLE:
        return weights.name if written or len(inside) > 1 else weights.plain_name
    return weights.plain_name if written else weights.weak_name


def _piece(read: Readings, first: int, last: int) -> Piece:
    def same(one: Mention | KindMatch | PhraseSpan | Stretch) -> bool:
        return one.first == first and one.last == last

    roles = frozenset(role for length, role in read.roles.at(read.words, first) if first + length == last)
    written = any(
        (i in read.capitals and i not in read.starts) or i in read.quoted for i in range(first, last)
    )
    number = last - first == 1 and read.words[first] in read.numbers
    names = () if (roles or number) and not written else read.mentions  # "here" and "ever" may be titles, too
    if "filler" in roles and not any(i in read.quoted for i in range(first, last)):
        names = [
            one for one in names if one.entities and one.entities[0].how in WHOLE
        ]  # "the KG" is no "Domberger KG"
    return Piece(
        first=first,
        last=last,
        words=read.words[first:last],
        mention=next((one for one in names if same(one) and one.entities), None),
        kinds=tuple(one for one in read.kinds if same(one)),
        phrases=tuple(one for one in read.phrases if same(one)),
        roles=roles,
        period=next((one.interval for one in read.periods if same(one)), None),
        stop=last - first == 1 and read.words[first] in read.stop,
        capital=first in read.capitals,
        quoted=all(i in read.quoted for i in range(first, last)),
        opens=first in read.starts,
        raw=_raw(read, first, last),
    )


def _raw(read: Readings, first: int, last: int) -> str:
    """The stretch as it was written, without punctuation around it and a possessive ending."""
    texts = []
    for chunk in read.chunks:
        if chunk.first < last and first < chunk.last:
            text = chunk.text.strip(_MARKS) if chunk.last > last else chunk.text
            texts.append(_POSSESSIVE.sub("", text) if chunk.last > last else text)
    if texts:
        return " ".join(texts).strip(_MARKS)
    return " ".join(read.words[first:last])
