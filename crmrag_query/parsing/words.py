"""The phrases by which a question is made a plan, ready for reading: everything folded once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from crmrag_query.config.parts import References
from crmrag_query.config.questions import ParsingPart, PlanWords
from crmrag_query.questions.phrases import Phrases
from crmrag_query.text import tokenize


@dataclass(frozen=True, slots=True)
class Roles:
    """The phrases of one language by their role in a question (see ``crmrag_query.config.questions.PlanWords``)."""

    by_role: dict[str, Phrases]

    def at(self, words: Sequence[str], position: int) -> list[tuple[int, str]]:
        """(length, role) of the longest phrase of each role that begins at the position."""
        found = ((phrases.at(words, position), role) for role, phrases in self.by_role.items())
        return [(length, role) for length, role in found if length]


@dataclass(frozen=True, slots=True)
class _Same:
    part: ParsingPart
    language: str

    def __hash__(self) -> int:
        return hash((id(self.part), self.language))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.part is self.part and other.language == self.language


def with_references(roles: Roles, references: References, goes_on: bool = True) -> Roles:
    """The roles with the words that stand for what went before: ``earlier`` for several things, ``single`` for one.

    ``goes_on`` False: nothing went before, and what stands for it can only be told to be unknown; "there" may then be
    a word of the sentence ("are there").
    """
    many = tuple(word for word in references.many if word not in references.own)
    own = tuple(word for word in references.many if word in references.own)
    single = tuple(w for w in (*references.person, *references.thing) if w not in references.own)
    one = tuple(w for w in (*references.person, *references.thing) if w in references.own)
    added = {"earlier": many, "theirs": own, "single": single, "its": one}
    if goes_on:
        added["there"] = references.place
    return Roles({**roles.by_role, **{role: Phrases(words) for role, words in added.items() if words}})


def roles_of(part: ParsingPart, language: str) -> Roles:
    """The phrases of a language; those of the first language for one that has none."""
    return _compiled(_Same(part, language))


@lru_cache(maxsize=32)
def _compiled(key: _Same) -> Roles:
    languages = key.part.languages
    words = languages.get(key.language) or next(iter(languages.values()))
    return Roles(
        {role: Phrases(getattr(words, role)) for role in PlanWords.model_fields if getattr(words, role)}
    )


def narrows(question: str, part: ParsingPart, language: str) -> bool:
    """Whether a question only narrows what went before: "only the prints"."""
    only = roles_of(part, language).by_role.get("only")
    return only is not None and only.at(tokenize(question), 0) > 0
