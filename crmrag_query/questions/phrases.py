"""Finding phrases of a lexicon among the words of a question."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crmrag_query.text import tokenize

ANY = "*"
Pattern = tuple[str, ...]


class Phrases:
    """Phrases of folded words; a word may be a beginning (``alt*``) or an ending (``*ed``). Built once per lexicon."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._exact: dict[str, list[Pattern]] = {}
        self._open: list[Pattern] = []
        for phrase in phrases:
            pattern = _pattern(phrase)
            if not pattern:
                continue
            if ANY in pattern[0]:
                self._open.append(pattern)
            else:
                self._exact.setdefault(pattern[0], []).append(pattern)
        for patterns in (*self._exact.values(), self._open):
            patterns.sort(key=len, reverse=True)

    def at(self, words: Sequence[str], position: int) -> int:
        """Length of the longest phrase that begins at the position, 0 for none."""
        if not 0 <= position < len(words):
            return 0
        near = (*self._exact.get(words[position], ()), *self._open)
        lengths = (len(pattern) for pattern in near if _fits(pattern, words, position))
        return max(lengths, default=0)

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

    @property
    def first(self) -> frozenset[str]:
        """The first words of all phrases that are no pattern."""
        return frozenset(self._exact)


def _pattern(phrase: str) -> Pattern:
    """Folded words; a star stays at the word that it stands at."""
    words: list[str] = []
    for part in phrase.split():
        bare = tokenize(part.strip(ANY))
        if bare and part.startswith(ANY):
            bare[0] = ANY + bare[0]
        if bare and part.endswith(ANY):
            bare[-1] += ANY
        words += bare
    return tuple(words)


def _fits(pattern: Pattern, words: Sequence[str], position: int) -> bool:
    if position + len(pattern) > len(words):
        return False
    return all(_same(part, words[position + i]) for i, part in enumerate(pattern))


def _same(part: str, word: str) -> bool:
    if part[0] == ANY:
        return word.endswith(part[1:]) and len(word) > len(part)
    if part[-1] == ANY:
        return word.startswith(part[:-1])
    return part == word
