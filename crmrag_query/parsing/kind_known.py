"""What the kinds of the lexicon are among the types of a data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from crmrag_query.parsing.kind_types import DataTypes
from crmrag_query.parsing.kind_words import Forms, Lexicon
from crmrag_query.text import tokenize


@dataclass(frozen=True, slots=True)
class Known:
    """Types that are a kind: by a name or identifier of their own (``lexicon``), by the head of their names, or, where there
    are none of these, those of a kind that is ``like`` it."""

    types: tuple[int, ...] = ()
    how: Literal["lexicon", "head", "like"] = "lexicon"


@dataclass(frozen=True)
class KnownKinds:
    """The kinds of the lexicon in one data set, each looked up when it is first asked for."""

    types: DataTypes
    lexicon: Lexicon
    _known: dict[str, Known] = field(default_factory=dict)

    def of(self, kind: str) -> Known:
        """The types of a kind; KeyError for no such kind."""
        if kind not in self._known:
            self._known[kind] = self._find(kind)
        return self._known[kind]

    def _find(self, kind: str) -> Known:
        entry = self.lexicon.part.kinds[kind]
        own = self._named(kind)
        if own or entry.generic:
            return Known(own)
        if headed := self._headed_by(kind):
            return Known(self._used(headed), "head")
        return Known(self._used(node for other in entry.like for node in self._named(other)), "like")

    def _headed_by(self, kind: str) -> set[int]:
        """Types whose names have a word for the kind as head."""
        headed: set[int] = set()
        for language, words in self.lexicon.words_of(kind):
            if len(words) == 1 and language in self.spoken:
                forms = self.lexicon.inflections[language].forms(words[0])
                headed |= self.headed(words[0], forms, language).keys()
        return headed

    def headed_as(self, types: Sequence[int], kind: str, language: str) -> tuple[int, ...]:
        """Types in use whose names have a word for the kind, or a name of one of the ``types`` of one word, as head."""
        headed = self._headed_by(kind) if kind else set()
        asked: set[int] = set()
        for node in types:
            for label in self.types.world.graph.labels(node):
                words = tokenize(label.text)
                if len(words) == 1:
                    code = label.lang if label.lang in self.lexicon.inflections else language
                    forms = self.lexicon.inflections[code].forms(words[0])
                    found = self.headed(words[0], forms, code).keys()
                    headed |= found
                    asked |= found if code == language else set()
        # what has a name in the question's language is called so in that: a "naos" is no church, though a "κυρίως ναός"
        return self._used(n for n in headed if n in asked or language not in self.types.tags[n])

    def _named(self, kind: str) -> tuple[int, ...]:
        """Types with an identifier of the kind, or named so in every language in which they and the kind have names.

        A name without a language counts in those that such names are in.
        """
        entry = self.lexicon.part.kinds[kind]
        hits: dict[int, set[str]] = {}
        for language, words in self.lexicon.words_of(kind):
            for node, tag in self.types.names.whole(words, self.lexicon.inflections[language]):
                if tag == language or (not tag and language in self.spoken):
                    hits.setdefault(node, set()).add(tag)
        named = {node for node, tags in hits.items() if self.types.tags[node] & entry.words.keys() <= tags}
        return self._used(named.union(*(self.types.aat.get(number, ()) for number in entry.aat)))

    def _used(self, nodes: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(node for node in set(nodes) if self.types.counted((node,))[0]))

    def headed(self, word: str, forms: Forms, language: str) -> dict[int, int]:
        """Types whose names have one of a word's forms as head, with the number of the form."""
        part = self.lexicon.part
        heads = self.types.heads["first" if part.heads.get(language) == "first" else "last"]
        found: dict[int, int] = {}
        for form, bits in forms.items():
            for node in heads.get(form, ()):
                found[node] = found.get(node, 0) | bits
            if language in part.compounds and min(len(word), len(form)) >= part.shortest_head:
                for node in (node for head in self.types.compounds(form) for node in heads.get(head, ())):
                    if self.says(node, language):
                        found[node] = found.get(node, 0) | bits
        return found

    def says(self, node: int, language: str) -> bool:
        """Whether a type has a name in the language, by its tag or, without one, as ``spoken`` has it."""
        tags = self.types.tags[node]
        return language in tags or ("" in tags and language in self.spoken)

    @cached_property
    def spoken(self) -> frozenset[str]:
        """Languages of the lexicon that names without a language are in; all where nothing tells."""
        part, lexicon = self.lexicon.part, self.lexicon
        sampled = set(self.types.most_used(part.sampled_types).tolist())
        votes = dict.fromkeys(lexicon.languages, 0)
        for phrase, named in self.types.names.phrases.items():
            if any(not tag and node in sampled for node, tag in named):
                words = phrase.split(" ")
                speaking = [
                    code
                    for code, book in lexicon.books.items()
                    if next(book.whole(words, lexicon.inflections[code]), None)
                ]
                if len(speaking) == 1:
                    votes[speaking[0]] += 1
        least = part.spoken_share * sum(votes.values())
        return frozenset(code for code, count in votes.items() if count >= least)
