"""Ordinary words of a language: what no person and no place is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from crmrag_query.language import LANGUAGES, Language, language
from crmrag_query.reading.lexicon import LINKS, SHORTEST_PART, words_table
from crmrag_query.text import fold

CALLED = ("materials", "motifs")
"""What of the table of names are things and no names."""
FEWEST = 4  # letters before an ending that makes a noun
MOST = 50_000  # words that are kept as found
LONGEST = 60  # letters of a word that is looked at for its parts


@dataclass(frozen=True)
class Ordinary:
    """Whether a word is an ordinary one of a language: it is known, or made of such in one of the ways of the language.

    ``known``: stems; ``endings``: folded, of nouns that are made of other words; ``small``: of diminutives.
    """

    own: Language
    known: frozenset[str]
    endings: tuple[str, ...]
    small: tuple[str, ...]
    _found: dict[str, bool] = field(default_factory=dict, repr=False, compare=False)

    def has(self, word: str, said: Callable[[str], bool]) -> bool:
        """``word``: folded; ``said``: whether such a word is at hand, which may be a part of a compound too."""

        def is_word(part: str) -> bool:
            return self._is_known(part) or said(part)

        if is_word(word) or self.own.raw.get("compounds") != "true" or len(word) > LONGEST:
            return is_word(word)
        starts = {0}  # where a part may begin: behind another, and behind what joins them
        for end in range(SHORTEST_PART, len(word) - SHORTEST_PART + 1):
            if any(end - start >= SHORTEST_PART and is_word(word[start:end]) for start in starts):
                starts.update(end + len(link) for link in ("", *LINKS) if word.startswith(link, end))
        return any(len(word) - start >= SHORTEST_PART and is_word(word[start:]) for start in starts)

    def _is_known(self, word: str) -> bool:
        if word not in self._found:
            if len(self._found) > MOST:
                self._found.clear()
            forms = {self.own.stem(word), *self.own.other_stems(word)}
            forms |= {self.own.stem(word.removesuffix(one)) for one in self.small if word.endswith(one)}
            made = any(word.endswith(one) and len(word) - len(one) >= FEWEST for one in self.endings)
            self._found[word] = made or not self.known.isdisjoint(forms)
        return self._found[word]


@lru_cache(maxsize=len(LANGUAGES))
def ordinary(code: str) -> Ordinary | None:
    """The ordinary words of a language in which whole questions are read; None for another."""
    if code not in LANGUAGES:
        return None
    own, names, table = language(code), words_table("names"), words_table("nouns")
    at = names["languages"].index(code)
    texts = _texts(
        [
            table["nouns"].get(code, []),
            own.raw,
            words_table(code),
            [kind["words"].get(code, []) for kind in words_table("kinds")["kinds"].values()],
            [
                row.split("|")[at]
                for section in CALLED
                for row in names[section].values()
                if row.count("|") >= at
            ],
        ]
    )
    return Ordinary(
        own,
        own.all_stems(texts),
        tuple(map(fold, table["endings"].get(code, ()))),
        tuple(map(fold, table["diminutives"].get(code, ()))),
    )


def _texts(value: Any) -> Iterator[str]:
    """All texts of a table; not the names of its parts."""
    if isinstance(value, str):
        yield value
    else:
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)
