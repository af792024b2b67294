"""The words of a question with what punctuation and capitals say of them, and finding phrases among them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from crmrag_query.text import tokenize

QUOTES = frozenset('"“”„«»‟＂')
_ENDS = frozenset(".?!;:,·;؟。？！—–-)¿¡")
_PARTS = re.compile("[-–—./:'’]")
_SIGNS = "([«“„\"'‘¿¡"
_SHORT = 3  # letters; longer words all have capitals in a heading, in which capitals name nothing
ACCENTED = frozenset({"è", "πού"})
"""Words that are others without their accent ("is" and "and", "where" and "that"), told apart where a question has it."""
ANY = "*"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What stands between blanks: its text and its tokens ``first`` to before ``last``; ``capital``: how it begins."""

    text: str
    first: int
    last: int
    capital: bool
    quoted: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's folded tokens; ``starts``: positions where a clause begins; ``named``: those inside of quotes, names
    or, where capitals name, of capitalised words."""

    words: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    starts: frozenset[int]
    named: frozenset[int]

    @property
    def capitals(self) -> frozenset[int]:
        """Positions of tokens that begin with a capital: of "Baltimore-born" the first alone."""
        found = set[int]()
        for chunk in self.chunks:
            parts = [part for part in _PARTS.split(chunk.text) if any(map(str.isalnum, part))]
            if len(parts) == chunk.last - chunk.first:
                found.update(
                    chunk.first + at for at, part in enumerate(parts) if part.lstrip(_SIGNS)[:1].isupper()
                )
            elif chunk.capital:
                found.update(range(chunk.first, chunk.last))
        return frozenset(found)

    @property
    def visible(self) -> tuple[str, ...]:
        """The tokens, "" for one that belongs to a name: no phrase is read from these."""
        spelled = {
            chunk.first: text
            for chunk in self.chunks
            if (text := chunk.text.strip("".join(_ENDS)).lower()) in ACCENTED
        }
        return tuple("" if i in self.named else spelled.get(i, word) for i, word in enumerate(self.words))


def chunks_of(question: str) -> tuple[Chunk, ...]:
    """The chunks of a question; their tokens together are those of ``tokenize``."""
    balanced = sum(character in QUOTES for character in question) % 2 == 0
    found: list[Chunk] = []
    position, inside, opens = 0, False, True
    for text in question.split():
        marks = sum(character in QUOTES for character in text) if balanced else 0
        quoted = inside or marks > 0
        inside ^= marks % 2 == 1
        tokens = tokenize(text)
        first = next((character for character in text if character.isalpha()), "")
        last = position + len(tokens)
        opens = opens or text[0] in "¿¡"
        found.append(Chunk(text, position, last, first.isupper(), quoted, opens and bool(tokens)))
        initial = text[-1] == "." and first.isupper() and len("".join(tokens)) == 1  # "William T. Walters"
        opens = (text[-1] in _ENDS and not initial) or (opens and not tokens)
        position = last
    return tuple(found)


def asked(
    question: str, capitals_name: bool, names: Collection[int] = (), chunks: tuple[Chunk, ...] | None = None
) -> Asked:
    """The question as its form is read; ``names``: positions of tokens known to belong to names."""
    chunks = chunks_of(question) if chunks is None else chunks
    spoken = [chunk for chunk in chunks if chunk.last > chunk.first]
    long = [chunk for chunk in spoken if not chunk.opens and len(chunk.text) > _SHORT]
    titled = len(long) > 1 and all(chunk.capital for chunk in long)
    capitals = capitals_name and not titled
    named = set(names)
    for chunk in spoken:
        own = tokenize(chunk.text)
        if chunk.quoted or (capitals and chunk.capital and not chunk.opens and own[0] != "i"):
            named.update(range(chunk.first, chunk.last))
    words = tuple(tokenize(question))
    starts = frozenset(chunk.first for chunk in spoken if chunk.opens)
    return Asked(words, chunks, starts, frozenset(i for i in named if i < len(words)))


class Phrases:
    """Phrases of folded words; a star in a word stands for any letters (``alt*``, ``*ed``, ``ge*t``). Built once."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._exact: dict[str, list[tuple[str, ...]]] = {}
        self._open: list[tuple[str, ...]] = []
        for phrase in phrases:
            pattern = tuple(word for part in phrase.split() for word in _pattern(part))
            if pattern and ANY in pattern[0]:
                self._open.append(pattern)
            elif pattern:
                self._exact.setdefault(pattern[0], []).append(pattern)

    def at(self, words: Sequence[str], position: int) -> int:
        """Length of the longest phrase that begins at the position, 0 for none."""
        if not 0 <= position < len(words):
            return 0
        near = (*self._exact.get(words[position], ()), *self._open)
        return max((len(pattern) for pattern in near if _fits(pattern, words, position)), default=0)

    def spans(self, words: Sequence[str], start: int = 0) -> Iterator[tuple[int, int]]:
        """Every phrase from ``start`` on as (first, past the last); none overlaps another."""
        position = start
        while position < len(words):
            if length := self.at(words, position):
                yield position, position + length
            position += length or 1

    def within(self, words: Sequence[str], start: int = 0, stop: int | None = None) -> bool:
        """True when any phrase begins between the positions."""
        return any(self.at(words, i) for i in range(start, len(words) if stop is None else stop))

    @property
    def single(self) -> frozenset[str]:
        """The phrases of one whole word."""
        return frozenset(first for first, patterns in self._exact.items() if (first,) in patterns)


def _pattern(part: str) -> list[str]:
    """Folded words; a star stays at the word that it stands at."""
    if part in ACCENTED:
        return [part]
    left, star, right = part.partition(ANY)
    words = tokenize(left)
    if star:
        words[-1:] = ["".join((*words[-1:], ANY, *tokenize(right.strip(ANY))))] if left or right else []
    return words


def _fits(pattern: Sequence[str], words: Sequence[str], position: int) -> bool:
    if position + len(pattern) > len(words):
        return False
    return all(_same(part, words[position + i]) for i, part in enumerate(pattern))


def _same(part: str, word: str) -> bool:
    left, star, right = part.partition(ANY)
    if not star:
        return part == word
    return (
        word.startswith(left) and word.endswith(right) and len(word) >= len(left) + len(right) + bool(right)
    )
