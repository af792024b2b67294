"""Is an answer supported? Every name, number and date of a sentence must stand in the lines that it cites. How good is it?

The quality is 0.4 × the share of names and content words that stand in the context + 0.3 × the share of the question's
content words that stand in the answer + 0.2 × the share of citations that lead to a source + 0.1 × form, with the weights of
``answers.quality``; an honest "the data does not say" has 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from crmrag_query.answers.claims import (
    Claims,
    Known,
    capitalised,
    claims_of,
    content_words,
    dates_in,
    number_of,
    numbers_in,
)
from crmrag_query.answers.records import Citation, Quality, Unsupported
from crmrag_query.answers.sentences import Piece, cited_numbers, split_sentences, without_citations
from crmrag_query.config.models import AnswersConfig
from crmrag_query.dates import Interval, words
from crmrag_query.questions.form import Form, Reading
from crmrag_query.retrieval.tokenizer import SHORTEST_STEM, fold, same_stem, tokenize

UNCITED, MISSING, UNRELATED, PLANTED = "uncited", "missing", "unrelated", "planted"
_MARKER = re.compile(r"\A\s*(?:[-*•–+]|\d{1,3}[.)])\s+")


@dataclass(frozen=True, slots=True)
class Support:
    """What the check of an answer found; see the records."""

    citations: tuple[Citation, ...]
    unsupported: tuple[Unsupported, ...]
    refused: bool
    quality: Quality


@dataclass(frozen=True)
class Ground:
    """The lines of one source, or of all, as what claims are looked up in; ``titles``: words that a name may lack."""

    lines: Sequence[str]
    titles: frozenset[str] = frozenset()

    @cached_property
    def text(self) -> str:
        return "\n".join(self.lines).casefold()

    @cached_property
    def words(self) -> dict[str, set[str]]:
        """Folded words by their first letters."""
        found: dict[str, set[str]] = {}
        for line in self.lines:
            for word in tokenize(line):
                found.setdefault(word[:SHORTEST_STEM], set()).add(word)
        return found

    @cached_property
    def numbers(self) -> set[str]:
        return {number for line in self.lines for number in numbers_in(line)}

    @cached_property
    def dates(self) -> set[Interval]:
        return {date for line in self.lines for date in dates_in(line)}

    def has_word(self, word: str) -> bool:
        """Whether a folded word, or a form of it, stands here."""
        near = self.words.get(word[:SHORTEST_STEM], ())
        return word in near or any(same_stem(other, word) for other in near)

    def has_name(self, name: str) -> bool:
        parts = [part for part in tokenize(name) if part not in self.titles]
        long = [part for part in parts if len(part) > 2] or parts
        return all(self.has_word(part) for part in long)

    def has_date(self, said: str, date: Interval) -> bool:
        """The same interval, or a date in figures alone each of which stands here."""
        figures = re.findall(r"\d+", said)
        plain = not any(word.strip(".,") in words.MONTH for word in words.fold(said).split())
        if (
            plain
            and all(len(figure) > 2 for figure in figures)
            and figures
            and self.numbers.issuperset(figures)
        ):
            return True
        return date in self.dates


@dataclass(frozen=True)
class _Check:
    """One answer being checked: its pieces, what each cites, and the lines of each source."""

    text: str
    pieces: Sequence[Piece]
    grounds: Mapping[int, Ground]
    known: Known
    reading: Reading
    config: AnswersConfig
    refusals: tuple[re.Pattern[str], ...]
    counts: Ground
    planted: Ground

    def said(self, piece: Piece) -> str:
        """The words of a piece without list mark and citations."""
        return without_citations(_MARKER.sub("", self.text[piece.first : piece.last]))


def check_support(
    text: str,
    lines: Mapping[int, Sequence[str]],
    reading: Reading,
    config: AnswersConfig,
    dropped: int = 0,
    counts: Sequence[str] = (),
) -> Support:
    """Check an answer's text against ``lines``: of each source, by its number in the text, those that were at hand.

    ``dropped``: citations that led to no source and were taken out; ``counts``: lines without a number, which any sentence
    may rest on. A list's head that cites nothing stands on what its items cite, an item that cites nothing on its head.
    What stands only in a line that speaks to a language model (``planted``) supports nothing. Pure; cost grows with the
    text and the lines cited.
    """
    pieces = split_sentences(text, frozenset(map(words.fold, config.abbreviations)))
    known = _known(lines, reading, config)
    titles = frozenset(map(fold, config.titles))
    spoken = [re.compile(pattern) for pattern in config.planted]
    planted = [
        line for held in lines.values() for line in held if any(one.search(fold(line)) for one in spoken)
    ]
    said_to_model = frozenset(planted)
    grounds = {
        n: Ground([line for line in held if line not in said_to_model], titles) for n, held in lines.items()
    }
    check = _Check(
        text,
        pieces,
        grounds,
        known,
        reading,
        config,
        _refusals(config),
        Ground(counts, titles),
        Ground(planted),
    )
    cited = _cited(check)
    unsupported = [
        found
        for i, piece in enumerate(pieces)
        if (found := _unsupported(check, i, piece, cited[i])) is not None
    ]
    refused = bool(pieces) and _refuses(check, pieces[0]) and not unsupported
    citations = tuple(
        Citation(piece.first, piece.last, numbers)
        for piece in pieces
        if (numbers := cited_numbers(text[piece.first : piece.last]))
    )
    return Support(citations, tuple(unsupported), refused, _quality(check, refused, dropped))


def told_words(text: str, reading: Reading, config: AnswersConfig) -> list[str]:
    """The folded content words of a text in the question's language."""
    return content_words(text, _common(reading, config))


def _common(reading: Reading, config: AnswersConfig) -> frozenset[str]:
    return frozenset(fold(word) for word in config.common) | reading.stop


def _known(lines: Mapping[int, Sequence[str]], reading: Reading, config: AnswersConfig) -> Known:
    names = frozenset(word for held in lines.values() for line in held for word in capitalised(line))
    common = _common(reading, config)
    numbers = {fold(word): value for word, value in config.numbers.items()}
    return Known(
        common, frozenset(config.joints), names - common, numbers, reading.language in config.noun_capitals
    )


def _refusals(config: AnswersConfig) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern) for patterns in config.refusals.values() for pattern in patterns)


def _refuses(check: _Check, piece: Piece) -> bool:
    """Whether a piece says honestly that the data does not say; it may name what the question names, and nothing else."""
    said = check.said(piece)
    return any(pattern.search(fold(said)) for pattern in check.refusals)


def _cited(check: _Check) -> list[tuple[int, ...]]:
    """What each piece stands on: its own citations, else those of its list's head or of its head's items."""
    own = [cited_numbers(check.text[piece.first : piece.last]) for piece in check.pieces]
    stands = [tuple(n for n in numbers if n in check.grounds) for numbers in own]
    for head, items in _lists(check):
        of_items = tuple(dict.fromkeys(n for i in items for n in stands[i]))
        for i in items:
            stands[i] = stands[i] or stands[head]
        stands[head] = stands[head] or of_items
    return stands


def _lists(check: _Check) -> Iterable[tuple[int, list[int]]]:
    """Heads of lists with their items, as indices of pieces."""
    pieces = check.pieces
    for head, piece in enumerate(pieces):
        items: list[int] = []
        if not piece.item and without_citations(check.text[piece.first : piece.last]).rstrip().endswith(":"):
            for i in range(head + 1, len(pieces)):
                if not pieces[i].item:
                    break
                items.append(i)
        if items:
            yield head, items


def _unsupported(check: _Check, i: int, piece: Piece, cited: tuple[int, ...]) -> Unsupported | None:
    """What a piece says that nothing it cites states; None when it is supported."""
    said = check.said(piece)
    claims = claims_of(said, check.known)
    if _refuses(check, piece):
        asked = Ground([check.reading.question])
        missing = _missing(claims, [*(check.grounds[n] for n in cited), asked], ())
        return Unsupported(piece.first, piece.last, missing, MISSING) if missing else None
    if not cited:
        if not any(char.isalnum() for char in said):
            return None
        counted = bool(claims) and not _missing(claims, [check.counts], ())
        return None if counted else Unsupported(piece.first, piece.last, _all_of(claims), UNCITED)
    grounds = [*(check.grounds[n] for n in cited), check.counts]
    missing = _missing(claims, grounds, _counts(check, i, cited))
    told = [] if any(head == i for head, _ in _lists(check)) else content_words(said, check.known.common)
    if missing:
        followed = not _missing(claims, [check.planted], ())
        return Unsupported(piece.first, piece.last, missing, PLANTED if followed else MISSING)
    if told and not claims and not any(ground.has_word(word) for ground in grounds for word in told):
        followed = any(map(check.planted.has_word, told))
        return Unsupported(piece.first, piece.last, (), PLANTED if followed else UNRELATED)
    return None


def _counts(check: _Check, i: int, cited: tuple[int, ...]) -> tuple[str, ...]:
    """Numbers that a piece may state of itself: how many items its list has, how many sources it cites."""
    items = next((len(found) for head, found in _lists(check) if head == i), 0)
    return tuple(str(count) for count in (items, len(cited)) if count > 1)


def _missing(claims: Claims, grounds: Sequence[Ground], counts: Sequence[str]) -> tuple[str, ...]:
    """The claims that stand in no one of the grounds, as the sentence has them."""
    stands: list[tuple[str, bool]] = [
        *((name, any(ground.has_name(name) for ground in grounds)) for name in claims.names),
        *(
            (said, n in counts or any(n in ground.numbers for ground in grounds))
            for said, n in claims.numbers
        ),
        *((said, any(ground.has_date(said, date) for ground in grounds)) for said, date in claims.dates),
        *((page, any(page.casefold() in ground.text for ground in grounds)) for page in claims.addresses),
    ]
    return tuple(dict.fromkeys(said for said, found in stands if not found))


def _all_of(claims: Claims) -> tuple[str, ...]:
    said = [text for text, _ in (*claims.numbers, *claims.dates)]
    return tuple(dict.fromkeys((*claims.names, *said, *claims.addresses)))


def _quality(check: _Check, refused: bool, dropped: int) -> Quality:
    """The score of an answer and its parts, each 0..1."""
    if refused:
        return Quality(1.0, 1.0, 1.0, 1.0, 1.0)
    weights = check.config.quality
    said = without_citations(check.text)
    told = content_words(said, check.known.common)
    grounds = (*check.grounds.values(), check.counts)
    everything = Ground([line for ground in grounds for line in ground.lines])
    grounded = _share([_stands(everything, word) for word in told])
    answer = Ground([said])
    coverage = _share([answer.has_word(word) for word in check.reading.content])
    numbers = [n for piece in check.pieces for n in cited_numbers(check.text[piece.first : piece.last])]
    valid = _share([*(n in check.grounds for n in numbers), *[False] * dropped])
    form = float(_has_form(check))
    score = (
        weights.grounded * grounded
        + weights.coverage * coverage
        + weights.citations * valid
        + weights.form * form
    )
    return Quality(score, grounded, coverage, valid, form)


def _stands(ground: Ground, word: str) -> bool:
    return ground.has_word(word) or (word[:1].isdigit() and number_of(word) in ground.numbers)


def _share(found: Sequence[bool]) -> float:
    return sum(found) / len(found) if found else 0.0


def _has_form(check: _Check) -> bool:
    """A specific answer is short, an enumeration a list or one sentence, an aggregation has a number."""
    sentences = [piece for piece in check.pieces if not piece.item]
    if not check.pieces:
        return False
    if check.reading.form is Form.SPECIFIC:
        return len(check.pieces) <= check.config.specific_sentences
    if check.reading.form is Form.ENUMERATION:
        return len(sentences) < len(check.pieces) or len(sentences) == 1
    told = without_citations(check.text)
    return any(claims_of(check.said(piece), check.known).numbers for piece in check.pieces) or bool(
        re.search(r"\d", told)
    )
