"""The phrases by which questions speak of relations, found among the words of a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from crmrag_query.config.relations import ROLES, Relation, Role
from crmrag_query.text import tokenize

ANY, EITHER, OPTIONAL = "*", "/", "?"
_RANK = {role: rank for rank, role in enumerate(ROLES)}


@dataclass(frozen=True, slots=True)
class PhraseSpan:
    """The words ``first`` to before ``last`` say one of ``relations`` (in the order of the configuration) in a role."""

    first: int
    last: int
    role: Role
    relations: tuple[str, ...]

    def __len__(self) -> int:
        return self.last - self.first


@dataclass(slots=True)
class _Node:
    """What may follow the words so far: whole words, beginnings of words, and the phrases that end here."""

    words: dict[str, _Node] = field(default_factory=dict)
    beginnings: dict[str, _Node] = field(default_factory=dict)
    ends: dict[Role, list[str]] = field(default_factory=dict)


class RelationPhrases:
    """All phrases of one language."""

    def __init__(self, relations: Mapping[str, Relation], language: str) -> None:
        self._root = _Node()
        self.order = {id: number for number, id in enumerate(relations)}
        for id, relation in relations.items():
            phrases = relation.phrases.get(language)
            for role in ROLES if phrases else ():
                for phrase in phrases.of(role) if phrases else ():
                    for words in patterns(phrase):
                        self._add(words, role, id)

    def _add(self, words: tuple[str, ...], role: Role, id: str) -> None:
        node = self._root
        for word in words:
            table = node.beginnings if word.endswith(ANY) else node.words
            node = table.setdefault(word.removesuffix(ANY), _Node())
        ids = node.ends.setdefault(role, [])
        if words and id not in ids:
            ids.append(id)

    def spans(self, words: Sequence[str]) -> tuple[PhraseSpan, ...]:
        """Every phrase at every position among folded words, by position, the longest first; they may overlap.

        A word may be "" where no phrase is to be read, as of names.
        """
        found: list[PhraseSpan] = []
        for first in range(len(words)):
            here: dict[tuple[int, Role], set[str]] = {}
            self._walk(self._root, words, first, here)
            for (last, role), ids in sorted(here.items(), key=lambda one: (-one[0][0], _RANK[one[0][1]])):
                found.append(PhraseSpan(first, last, role, tuple(sorted(ids, key=self.order.__getitem__))))
        return tuple(found)

    def _walk(
        self, node: _Node, words: Sequence[str], at: int, found: dict[tuple[int, Role], set[str]]
    ) -> None:
        for role, ids in node.ends.items():
            found.setdefault((at, role), set()).update(ids)
        if at == len(words) or not words[at]:
            return
        if (after := node.words.get(words[at])) is not None:
            self._walk(after, words, at + 1, found)
        for beginning, after in node.beginnings.items():
            if words[at].startswith(beginning):
                self._walk(after, words, at + 1, found)


def patterns(phrase: str) -> tuple[tuple[str, ...], ...]:
    """All phrases that one of the configuration stands for, as folded words, in their order.

    A star stays at the end of the word that it stands at; ``a/b c?`` gives ``a c``, ``a``, ``b c`` and ``b``.
    """
    choices = []
    for part in phrase.split():
        alternatives = [_words(one) for one in part.removesuffix(OPTIONAL).split(EITHER)]
        choices.append([*alternatives, ()] if part.endswith(OPTIONAL) else alternatives)
    chosen = (tuple(word for words in one for word in words) for one in product(*choices))
    return tuple(dict.fromkeys(words for words in chosen if words))


def _words(part: str) -> tuple[str, ...]:
    words = tokenize(part.removesuffix(ANY))
    if words and part.endswith(ANY):
        words[-1] += ANY
    return tuple(words)


@dataclass(frozen=True, slots=True)
class _Same:
    """Relations as a key: equal to themselves only, so that looking them up costs no comparison of their contents."""

    relations: Mapping[str, Relation]

    def __hash__(self) -> int:
        return id(self.relations)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.relations is self.relations


def compiled_relations(relations: Mapping[str, Relation], language: str) -> RelationPhrases:
    """The phrases of a language ready for reading, kept for as long as they are in use; none for an unknown language."""
    return _compiled(_Same(relations), language)


@lru_cache(maxsize=32)
def _compiled(key: _Same, language: str) -> RelationPhrases:
    return RelationPhrases(key.relations, language)
