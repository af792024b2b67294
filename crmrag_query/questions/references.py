"""Words that stand for what a conversation spoke of, and the entities in focus that they mean."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from crmrag_query.config.parts import ConversationWords, References
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.lexicon import Language, Number, folded
from crmrag_query.questions.phrases import Phrases
from crmrag_query.questions.state import ConversationState, Focus
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize

GROUPS = ("person", "thing", "place", "many")


@dataclass(frozen=True, slots=True)
class Reference:
    """A word or description at a position: ``groups`` of what it may stand for, or the ``noun`` that it describes by.

    ``pointing``: the description points ("this church"), so that a fitting category is enough.
    """

    position: int
    groups: tuple[str, ...] = ()
    noun: str = ""
    pointing: bool = False


@dataclass(frozen=True, slots=True)
class RefWords:
    """The words of one language, ready for reading."""

    groups: tuple[tuple[str, Phrases], ...]
    pronouns: Phrases
    own: Phrases
    tail: Phrases
    no_reference: Phrases
    the: frozenset[str]
    this: frozenset[str]
    opening: Phrases
    joiners: frozenset[str]
    pivots: Phrases
    more: Phrases


@dataclass(frozen=True, slots=True)
class _Same:
    config: ConversationWords

    def __hash__(self) -> int:
        return id(self.config)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.config is self.config


def ref_words(config: ConversationWords, language: str) -> RefWords:
    """The words for a language that ``config`` holds; pivots and "more" of every language are known in each."""
    return _ref_words(_Same(config), language)


@lru_cache(maxsize=64)
def _ref_words(key: _Same, language: str) -> RefWords:
    config = key.config
    words = config.references.get(language, References())
    pronouns = (*words.person, *words.thing, *words.place, *words.many)
    return RefWords(
        groups=tuple((group, Phrases(getattr(words, group))) for group in GROUPS),
        pronouns=Phrases(pronouns),
        own=Phrases(words.own),
        tail=Phrases(words.tail),
        no_reference=Phrases(words.no_reference),
        the=folded(words.the),
        this=folded(words.this),
        opening=Phrases(words.opening),
        joiners=folded(words.joiners),
        pivots=Phrases((*config.pivots, *words.pivots)),
        more=Phrases(config.more),
    )


def find_references(
    asked: Asked,
    language: Language,
    words: RefWords,
    mentions: Sequence[Mention],
    categories_of: Callable[[int], int],
    left_out: Collection[int] = (),
) -> tuple[Reference, ...]:
    """Pronouns and definite descriptions in order, but those that an earlier word of the question itself explains."""
    covered = {i for first, last in words.no_reference.spans(asked.words) for i in range(first, last)}
    covered.update(left_out)
    covered.update(
        i
        for mention in mentions
        if mention.last - mention.first > 1
        for i in range(mention.first, mention.last)
    )
    found: list[Reference] = []
    for position, word in enumerate(asked.words):
        if position in covered:
            continue
        described = _description(asked, language, words, position, mentions)
        if described is not None:
            found.append(described)
            continue
        length = words.pronouns.at(asked.words, position)
        tail = words.tail.at(asked.words, position)
        if tail and (position + 1 == len(asked.words) or position + 1 in asked.starts):
            found.append(Reference(position, ("person", "thing", "many")))
        elif length and not _is_formal(asked, language, position):
            groups = tuple(name for name, phrases in words.groups if phrases.at(asked.words, position))
            determines = word in words.this and _is_noun_next(asked, language, position)
            if not determines and not _explained(
                asked, language, words, position, groups, mentions, categories_of
            ):
                found.append(Reference(position, groups))
    return tuple(found)


def _is_noun_next(asked: Asked, language: Language, position: int) -> bool:
    return position + 1 < len(asked.words) and asked.words[position + 1] in language.nouns


def _is_formal(asked: Asked, language: Language, position: int) -> bool:
    """True for a capitalised pronoun within a clause where nouns have capitals: the German "Sie" to a person."""
    chunk = next(chunk for chunk in asked.chunks if chunk.first <= position < chunk.last)
    return not language.capitals_name and chunk.capital and not chunk.opens


def _description(
    asked: Asked, language: Language, words: RefWords, position: int, mentions: Sequence[Mention]
) -> Reference | None:
    """A definite article or "this" with a known noun, when no name follows that says which one."""
    word, after = asked.words[position], position + 1
    pointing = word in words.this
    if not (pointing or word in words.the) or not _is_noun_next(asked, language, position):
        return None
    if after + 1 < len(asked.words) and asked.words[after + 1] in language.nouns:
        return None
    following = next((mention for mention in mentions if mention.first in range(after + 1, after + 4)), None)
    named = any(i in asked.named for i in range(after + 1, min(after + 4, len(asked.words))))
    if (following is not None or named) and not pointing:
        return None
    return Reference(position, noun=asked.words[after], pointing=pointing)


def _explained(
    asked: Asked,
    language: Language,
    words: RefWords,
    position: int,
    groups: Sequence[str],
    mentions: Sequence[Mention],
    categories_of: Callable[[int], int],
) -> bool:
    """True when a name before the pronoun in the question fits it, or, of a word for whose it is, a noun does."""
    for mention in mentions:
        if mention.last <= position and mention.entities:
            category = categories_of(mention.entities[0].entity)
            if category != Category.Concept and _fits_category(category, groups):
                return True
    if not words.own.at(asked.words, position):
        return False
    nouns = [language.nouns[word] for word in asked.words[:position] if word in language.nouns]
    if set(groups) == {"many"}:
        return any(noun.number is not Number.ONE for noun in nouns)
    return any(noun.number is not Number.MANY and _fits_category(noun.categories, groups) for noun in nouns)


def _fits_category(mask: int, groups: Sequence[str]) -> bool:
    return any(
        {
            "person": bool(mask & Category.Actor),
            "place": bool(mask & Category.Place),
            "thing": bool(mask & ~Category.Actor),
            "many": False,
        }[group]
        for group in groups
    )


def in_focus(
    references: Sequence[Reference], state: ConversationState, language: Language
) -> tuple[Focus, ...]:
    """The entities that the references mean, in order: of each the most recent one that fits, of "those" a whole turn's."""
    found: dict[str, Focus] = {}
    for reference in references:
        for focus in _meant(reference, state, language):
            found.setdefault(focus.iri, focus)
    return tuple(found.values())


def _meant(reference: Reference, state: ConversationState, language: Language) -> tuple[Focus, ...]:
    turns = [turn.focus for turn in reversed(state.turns) if turn.focus]
    if reference.noun:
        return _described(reference, turns, language)
    for group in reference.groups:
        if group == "many":
            several = _several(state)
            if several:
                return several
            continue
        for turn in turns:
            fitting = [focus for focus in turn if _fits(focus, group, language)]
            if group == "place":
                fitting.sort(key=lambda focus: focus.category != Category.Place.name)
            if fitting:
                return tuple(fitting[:1])
    return ()


def _several(state: ConversationState) -> tuple[Focus, ...]:
    """What "those" means: of the last turn with anything in focus, the several that its question did not name; else all."""
    turn = next((turn for turn in reversed(state.turns) if turn.focus), None)
    if turn is None:
        return ()
    asked = set(tokenize(turn.resolved))
    told = tuple(focus for focus in turn.focus if not asked.issuperset(tokenize(focus.label)))
    return told if len(told) > 1 else turn.focus


def _fits(focus: Focus, group: str, language: Language) -> bool:
    """True when a word of the group may stand for the entity; "there" may be a building, which is a thing, too."""
    mask = _mask(focus, language)
    if group == "place":
        return bool(mask & (Category.Place | Category.Thing)) and not mask & Category.Actor
    return _fits_category(mask, (group,))


def _described(
    reference: Reference, turns: Sequence[Sequence[Focus]], language: Language
) -> tuple[Focus, ...]:
    """By the words of their types first; by category for "this", for a noun of one category that is no Thing (too many are),
    and where the types have no word in the question's language."""
    noun = language.nouns[reference.noun]
    same = _same_noun(reference.noun, language)
    for turn in turns:
        called = [focus for focus in turn if same & _words(focus)]
        if called:
            return tuple(called if noun.number is Number.MANY else called[:1])
    if noun.number is Number.MANY:
        return ()
    single = noun.categories.bit_count() == 1 and not noun.categories & Category.Thing
    for turn in turns:
        for focus in turn:
            foreign = bool(focus.words) and not _words(focus) & language.nouns.keys()
            known = Category.__members__.get(focus.category, Category(0))
            if known & noun.categories and (reference.pointing or single or foreign):
                return (focus,)
    return ()


def _same_noun(word: str, language: Language) -> frozenset[str]:
    """The noun's forms: itself and forms of the same beginning (church, churches; Kirche, Kirchen)."""
    stem = word[: max(4, len(word) - 2)]
    return frozenset(
        form
        for form in language.nouns
        if form == word or (len(word) > 3 and form[: max(4, len(form) - 2)] == stem)
    ) | {word}


def _words(focus: Focus) -> frozenset[str]:
    return frozenset(token for word in focus.words for token in tokenize(word))


def _mask(focus: Focus, language: Language) -> int:
    """The categories an entity may be meant as: its own, and those that the words of its types ask for (a saint, who is a
    character, may be a he)."""
    known = Category.__members__.get(focus.category, Category(0))
    people = [language.nouns[word].categories for word in _words(focus) if word in language.nouns]
    persons = any(mask & Category.Actor and not mask & Category.Place for mask in people)  # no monasteries
    return int(known) | int(persons) * int(Category.Actor)
