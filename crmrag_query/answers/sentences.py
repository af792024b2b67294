"""An answer's text in sentences and list items, and the citations that stand in them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise

from crmrag_query.dates.words import CENTURY, MONTH, fold

CITATION = re.compile(r"\[\s*(?:sources?\s*)?(\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*)\s*\]", re.IGNORECASE)
LONGEST_WORD = 60  # characters before a full stop that tell what it ends
RANGE = 20  # numbers that "[1–20]" may stand for at most
_CITED = r"(?:[ \t]*\[\s*(?:[Ss]ources?\s*)?\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\s*\])*"
# What may end a sentence: the signs, what closes with it, its citations, and then a blank or the end.
_END = re.compile(
    rf"(?P<sign>[.!?…;\u037e·]+|[。！？]+)(?P<close>[\"'”»’)\]]*){_CITED}(?=\s|$|(?<=[。！？]))"
)
_ITEM = re.compile(r"\s*(?:[-*•–+]|\d{1,3}[.)])\s+(?=\S)")
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“«„]+$")
_WORD_AFTER = re.compile(r"\s*[\"'“«„(]*([^\s]+)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence or a list item of a text: ``text[start:end]``, blanks after it included; ``first`` is where its words
    begin, ``last`` before which they end. ``item``: it is an item of a list, or a further sentence of one."""

    start: int
    end: int
    first: int
    last: int
    item: bool = False


def split_sentences(text: str, abbreviations: Collection[str] = ()) -> list[Piece]:
    """Sentences and list items in order; together they cover the text (unless it is blank), and none overlaps.

    ``abbreviations``: folded words that end with a point within a sentence, without that point. A Greek ``;`` ends a
    question; a point after a number before a month, a century or a small letter ends nothing.
    """
    pieces: list[Piece] = []
    for start, end in _lines(text):
        marker = _ITEM.match(text, start, end)
        bounds = [start, *_ends(text, marker.end() if marker else start, end, abbreviations), end]
        for first, last in pairwise(bounds):
            if first < last:
                pieces.append(_piece(text, first, last, marker is not None))
    return _joined(pieces)


def _piece(text: str, start: int, end: int, item: bool) -> Piece:
    inner = text[start:end]
    first = start + len(inner) - len(inner.lstrip())
    return Piece(start, end, min(first, end), start + len(inner.rstrip()), item)


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Blank pieces as part of the piece before (at the beginning, of the one after)."""
    joined: list[Piece] = []
    start = 0
    for piece in pieces:
        if piece.first >= piece.last:
            if joined:
                before = joined[-1]
                joined[-1] = Piece(before.start, piece.end, before.first, before.last, before.item)
                start = piece.end
            continue
        joined.append(Piece(start, piece.end, piece.first, piece.last, piece.item))
        start = piece.end
    return joined


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Each line with the line break after it."""
    at = 0
    for line in text.splitlines(keepends=True):
        yield at, at + len(line)
        at += len(line)


def _ends(text: str, start: int, end: int, abbreviations: Collection[str]) -> Iterator[int]:
    """Where sentences end within a line, after the blanks that follow them."""
    for found in _END.finditer(text, start, end):
        if _ends_here(text, found, start, end, abbreviations):
            after = found.end()
            while after < end and text[after].isspace():
                after += 1
            if after < end:
                yield after


def _ends_here(text: str, found: re.Match[str], start: int, end: int, abbreviations: Collection[str]) -> bool:
    sign = found["sign"]
    at = found.start("sign")
    before = _WORD_BEFORE.search(text, max(start, at - LONGEST_WORD), at)
    word = before[0] if before else ""
    follows = _WORD_AFTER.match(text, found.end(), end)
    after = follows[1] if follows else ""
    if set(sign) <= {";", "\u037e", "·"}:
        return _is_greek(word) and sign != "·" and not after[:1].islower()
    if sign != ".":
        return not after[:1].islower()
    if after[:1].islower() and found.end() == found.end("close"):
        return False
    if _is_abbreviation(word, abbreviations) or (len(word) <= 2 and word.isalpha() and after[:1].isdigit()):
        return False  # "no. 12" too
    return not (word.isdigit() and len(word) <= 2 and _dated(after))


def _is_abbreviation(word: str, abbreviations: Collection[str]) -> bool:
    """An initial ("J."), or one of the abbreviations; a joined one ("d.Ä.") by its whole or its last part."""
    letters = word.lstrip("([\"'“«„-")
    if len(letters) == 1 and letters.isalpha() and letters.isupper():
        return True
    known = fold(letters)
    return known in abbreviations or known.rsplit(".", 1)[-1] in abbreviations if known else False


def _dated(after: str) -> bool:
    """Whether the word after "12." makes it a date: a month or a century."""
    word = fold(after).rstrip(".,;:)")
    return word in MONTH or re.fullmatch(CENTURY, word) is not None


def _is_greek(word: str) -> bool:
    return any("\u0370" <= sign <= "\u03ff" or "\u1f00" <= sign <= "\u1fff" for sign in word)


def cited_numbers(text: str) -> tuple[int, ...]:
    """The numbers that the citations in a text give, each once, in order: ``[2, 3]`` and ``[2–3]`` are both 2 and 3."""
    return tuple(dict.fromkeys(n for found in CITATION.finditer(text) for n in numbers_of(found[1])))


def numbers_of(inside: str) -> list[int]:
    """The numbers of one citation's inside; a range backwards or of more than ``RANGE`` numbers gives its ends."""
    numbers: list[int] = []
    for part in re.split(r"\s*[,;]\s*", inside):
        ends = [int(end) for end in re.split(r"\s*[–-]\s*", part)]
        if len(ends) == 2 and ends[0] < ends[1] < ends[0] + RANGE:
            numbers += range(ends[0], ends[1] + 1)
        else:
            numbers += ends
    return numbers


def without_citations(text: str) -> str:
    """The text with each citation as one blank."""
    return CITATION.sub(" ", text)
