"""Kinds' words made ready for reading: inflected forms, phrases by which a kind is named, and heads of longer names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Generic, TypeVar

from crmrag_query.config.questions import KindsPart
from crmrag_query.questions.lexicon import Number, folded
from crmrag_query.text import fold, tokenize

ONE, MANY = 1, 2
_QUALIFIER = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_PART = re.compile(r"[,;:/&|+]| - ")
Forms = Mapping[str, int]
"""What a word may be a form of, and in which number it then stands: bits of ONE and MANY."""
Payload = TypeVar("Payload")


def number_of(bits: int) -> Number:
    return {ONE: Number.ONE, MANY: Number.MANY}.get(bits, Number.EITHER)


class Inflection:
    """The paradigms of one language."""

    def __init__(self, paradigms: Iterable[str], shortest: int) -> None:
        self._shortest = shortest
        self._by_ending: dict[str, list[tuple[int, tuple[str, ...]]]] = {}
        for paradigm in paradigms:
            sides = [[_ending(one) for one in side.split()] for side in paradigm.split("/")]
            every = tuple(dict.fromkeys(sides[0] + sides[1]))
            for ending in every:
                bits = ONE * (ending in sides[0]) | MANY * (ending in sides[1])
                self._by_ending.setdefault(ending, []).append((bits, every))
        self._longest = max(map(len, self._by_ending), default=0)

    def forms(self, word: str) -> Forms:
        """All that shares a paradigm with the word, itself included; nothing for no word."""
        found: dict[str, int] = {}
        if not word:
            return found
        for length in range(min(self._longest, len(word) - self._shortest) + 1):
            stem = word[: len(word) - length]
            for bits, every in self._by_ending.get(word[len(stem) :], ()):
                for ending in every:
                    form = stem + ending
                    found[form] = found.get(form, 0) | bits
        found.setdefault(word, ONE | MANY)
        return found


def _ending(text: str) -> str:
    return "" if text == "-" else fold(text)


@dataclass(frozen=True)
class Phrasebook(Generic[Payload]):
    """Phrases of folded words, and what each stands for."""

    longest: int
    phrases: dict[str, list[Payload]] = field(default_factory=dict)
    words: set[str] = field(default_factory=set)
    _begun: set[str] = field(default_factory=set)

    def add(self, words: Sequence[str], payload: Payload) -> None:
        """One more phrase; no words, or too many for a name, are none."""
        if not 0 < len(words) <= self.longest:
            return
        phrase = words[0]
        for word in words[1:]:
            self._begun.add(phrase)
            phrase = f"{phrase} {word}"
        self.phrases.setdefault(phrase, []).append(payload)
        self.words.update(words)

    def at(self, alternatives: Sequence[Forms], start: int) -> Iterator[tuple[int, str, int]]:
        """(end, phrase, number) of every phrase that the words make from ``start`` on; plural where one of them is."""
        if start >= len(alternatives):
            return
        waiting = [
            (start + 1, form, bits) for form, bits in alternatives[start].items() if form in self.words
        ]
        while waiting:
            end, phrase, bits = waiting.pop()
            if phrase in self.phrases:
                yield end, phrase, bits
            if phrase in self._begun and end < len(alternatives):
                waiting += [
                    (end + 1, f"{phrase} {form}", _joined(bits, more))
                    for form, more in alternatives[end].items()
                    if form in self.words
                ]

    def whole(self, words: Sequence[str], inflection: Inflection) -> Iterator[Payload]:
        """What phrases that are all of the words stand for, whatever their endings."""
        for end, phrase, _ in self.at([inflection.forms(word) for word in words], 0):
            if end == len(words):
                yield from self.phrases[phrase]


def _joined(first: int, second: int) -> int:
    return MANY if MANY in (first, second) else first | second


@dataclass(frozen=True)
class Lexicon:
    """The configuration's kinds: by language, phrases that name them (kind, number; 0: as the word's ending says)."""

    part: KindsPart
    inflections: Mapping[str, Inflection]
    books: Mapping[str, Phrasebook[tuple[str, int]]]
    cuts: Mapping[str, frozenset[str]]
    joints: frozenset[str]
    any_cut: frozenset[str]

    @property
    def languages(self) -> tuple[str, ...]:
        return tuple(self.books)

    def words_of(self, kind: str) -> Iterator[tuple[str, list[str]]]:
        """(language, words of a phrase) of all that names a kind."""
        for language, entries in self.part.kinds[kind].words.items():
            for entry in entries:
                for side in entry.split("/"):
                    yield language, tokenize(side)


@dataclass(frozen=True, slots=True)
class _Same:
    part: KindsPart

    def __hash__(self) -> int:
        return id(self.part)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.part is self.part


def lexicon_of(part: KindsPart) -> Lexicon:
    """The lexicon ready for reading; kept for as long as it is in use."""
    return _lexicon(_Same(part))


@lru_cache(maxsize=8)
def _lexicon(key: _Same) -> Lexicon:
    part = key.part
    books: dict[str, Phrasebook[tuple[str, int]]] = {
        language: Phrasebook(part.longest_name) for language in part.inflections
    }
    for kind, entry in part.kinds.items():
        for language, phrases in entry.words.items():
            for phrase in phrases:
                one, _, many = phrase.partition("/")
                books[language].add(tokenize(one), (kind, ONE if many else 0))
                books[language].add(tokenize(many), (kind, MANY))
    cuts = {code: folded(words) for code, words in part.cuts.items()}
    return Lexicon(
        part,
        {code: Inflection(lines, part.shortest_stem) for code, lines in part.inflections.items()},
        books,
        cuts,
        folded(part.joints),
        frozenset().union(*cuts.values()),
    )


def named(label: str) -> str:
    """A label without its qualifiers: ``paintings (visual works)`` is ``paintings``."""
    return _QUALIFIER.sub("", label) if "(" in label or "[" in label else label


def parts_of(name: str, joints: frozenset[str], cuts: frozenset[str]) -> Iterator[list[str]]:
    """The words of each part of a name up to a word that cuts it: ``basket with lid, tray`` gives basket; tray."""
    for piece in _PART.split(name) if _PART.search(name) else (name,):
        words = tokenize(piece)
        at = 0
        for end in range(len(words) + 1):
            if end == len(words) or words[end] in joints:
                part = words[at:end]
                if part:
                    yield part[: next((i for i, word in enumerate(part) if i and word in cuts), len(part))]
                at = end + 1
