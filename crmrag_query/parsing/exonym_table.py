"""The table of exonyms made ready for reading: which entries the words of a question name, whatever their endings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from crmrag_query.config.questions import ExonymsPart
from crmrag_query.parsing.kind_words import Forms, Phrasebook
from crmrag_query.text import fold, tokenize

Sort = Literal["place", "culture", "material"]


@dataclass(frozen=True, slots=True)
class Entry:
    """What is called by several names: folded tokens of each, those of English first. ``place``: id of its place, or ""."""

    id: str
    sort: Sort
    names: tuple[tuple[str, ...], ...]
    place: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """Words ``first`` to before ``last`` that are a name of the entries."""

    first: int
    last: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class ExonymTable:
    """Entries by the language of their names, and by id the places; ``lemmas``: what a form may be a form of."""

    books: Mapping[str, Phrasebook[Entry]]
    lemmas: Mapping[str, Mapping[str, Forms]]
    capitals: Mapping[str, frozenset[str]]
    places: Mapping[str, Entry] = field(default_factory=dict)

    @classmethod
    def of(cls, part: ExonymsPart) -> ExonymTable:
        unsearched = {code: frozenset(map(fold, words)) for code, words in part.asked_only.items()}
        books: dict[str, Phrasebook[Entry]] = {code: Phrasebook(part.longest_name) for code in part.endings}
        places: dict[str, Entry] = {}
        for sort, id, names, place in _listed(part):
            entry = Entry(id, sort, _searched(names, unsearched), place)
            if sort == "place":
                places[id] = entry
            for code in names.keys() & books.keys():
                for words in dict.fromkeys(tuple(tokenize(name)) for name in names[code]):
                    books[code].add(words, entry)
        lemmas = {code: _lemmas(book.words, part.endings[code]) for code, book in books.items()}
        capitals = {code: frozenset(map(fold, words)) for code, words in part.capitals.items()}
        return cls(books, lemmas, capitals, places)

    def hits(self, words: Sequence[str], language: str, capitals: Sequence[bool]) -> list[Hit]:
        """All names in a question's folded words, the longest first; a language that the table lacks is read as all of those
        it has. ``capitals``: which words are written with one."""
        found: dict[tuple[int, int], dict[Entry, None]] = {}
        for code in (language,) if language in self.books else self.books:
            book, lemmas, wary = self.books[code], self.lemmas[code], self.capitals.get(code, frozenset())
            forms = [lemmas.get(word, {}) for word in words]
            for first in range(len(words)):
                for last, phrase, _ in book.at(forms, first):
                    lower = not any(capitals[first:last])
                    if not (lower and wary.intersection({*words[first:last], *phrase.split()})):
                        found.setdefault((first, last), {}).update(dict.fromkeys(book.phrases[phrase]))
        order = sorted(found, key=lambda span: (span[0] - span[1], span))
        return [Hit(first, last, tuple(found[first, last])) for first, last in order]


def _listed(part: ExonymsPart) -> Iterator[tuple[Sort, str, Mapping[str, tuple[str, ...]], str]]:
    for id, cells in part.places.items():
        yield "place", id, part.names(cells), ""
    for id, cells in part.cultures.items():
        yield "culture", id, part.names(cells), part.homes.get(id, "")
    for id, cells in part.materials.items():
        yield "material", id, part.names(cells), ""


def _searched(
    names: Mapping[str, tuple[str, ...]], unsearched: Mapping[str, frozenset[str]]
) -> tuple[tuple[str, ...], ...]:
    order = sorted(names, key=lambda code: code != "en")
    return tuple(
        dict.fromkeys(
            tuple(tokenize(name))
            for code in order
            for name in names[code]
            if fold(name) not in unsearched.get(code, ())
        )
    )


def _lemmas(words: set[str], endings: Sequence[str]) -> dict[str, dict[str, int]]:
    """Every form of the words, and which of them it may be a form of."""
    rows = [(_plain(own), [_plain(one) for one in others.split()]) for own, _, others in
            (row.partition(":") for row in endings)]  # fmt: skip
    found: dict[str, dict[str, int]] = {}
    for word in sorted(words):
        forms = [word] + [
            word.removesuffix(own) + one for own, all in rows if word.endswith(own) for one in all
        ]
        for form in forms:
            found.setdefault(form, {})[word] = 0
    return found


def _plain(ending: str) -> str:
    return "" if ending.strip() == "-" else fold(ending.strip())
