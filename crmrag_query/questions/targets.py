"""Which Fundamental Categories a question asks for, and which it speaks of besides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.form import Form, Reading
from crmrag_query.questions.lexicon import Language

MOST = 2  # categories asked for, and spoken of besides, at most (facts: method, Query)
# What a question for a time is answered by: the time-span, or the event that it belongs to (time-spans are told in the
# documents of their events); ours.
WITH_TIME = Category.Time | Category.Event
Categories = Callable[[int], int]


def types_asked(
    reading: Reading, mentions: Sequence[Mention], categories_of: Categories
) -> tuple[Mention, ...]:
    """Mentions of types that stand where the asked noun stands: "which *bultos*"."""
    return tuple(
        mention
        for mention in mentions
        if is_type(mention, categories_of)
        and any(mention.first <= head < mention.last for head in reading.heads)
    )


def is_type(mention: Mention, categories_of: Categories) -> bool:
    """True when the best meaning of a mention is a type or another concept, not an individual."""
    return bool(mention.entities) and categories_of(mention.entities[0].entity) == Category.Concept


def targets_and_contexts(
    reading: Reading,
    language: Language,
    mentions: Sequence[Mention],
    categories_of: Categories,
    period_words: frozenset[str] = frozenset(),
) -> tuple[int, int]:
    """Masks of one or two categories that are asked for (0 when unknown) and of up to two that are not.

    Asked for, the first that says any: the nouns after the question word (of an unknown noun that is a type of the data:
    Thing), question words such as who and where, the nouns of a yes/no question, verbs of making and having (Thing), and for
    one fact about something named, its category. Besides: individuals that are named, then other nouns, as they stand.
    ``period_words`` ("the *year* 1500") are no nouns of these.
    """
    individuals = [one for one in mentions if one.entities and not is_type(one, categories_of)]
    named = [categories_of(one.entities[0].entity) for one in individuals]
    inside = {i for one in individuals for i in range(one.first, one.last)}
    inside |= {i for i, word in enumerate(reading.words) if word in period_words and i not in reading.heads}
    heads = [
        language.nouns[reading.words[i]].categories
        for i in reading.heads
        if reading.words[i] in language.nouns
    ]
    if not heads and types_asked(reading, mentions, categories_of):
        heads = [int(Category.Thing)]
    targets = _first(heads) or _first([_timed(reading.expects)]) or _by_form(reading, language, named, inside)
    others = [
        noun.categories
        for i, word in enumerate(reading.words)
        if (noun := language.nouns.get(word)) is not None and i not in inside and i not in reading.heads
    ]
    return targets, _first([mask & ~targets for mask in (*named, *others)])


def _timed(mask: int) -> int:
    return int(mask | WITH_TIME) if mask & Category.Time else mask


def _by_form(reading: Reading, language: Language, named: Sequence[int], inside: set[int]) -> int:
    free = [word for i, word in enumerate(reading.words) if i not in inside]
    nouns = [language.nouns[word].categories for word in free if word in language.nouns]
    if reading.rule.startswith(("what was done", "what is held", "request for all", "list")):
        return _first(nouns[:1]) or int(Category.Thing)
    if reading.form is Form.SPECIFIC and named and not reading.rule.startswith("yes/no"):
        return _first(named[:1])
    return _first(nouns[:1]) or _first(named[:1])


def _first(masks: Iterable[int]) -> int:
    """The union of the first masks, ``MOST`` categories at most; the lower bit first within one."""
    found = 0
    for mask in masks:
        for category in Category:
            if mask & category and not found & category and found.bit_count() < MOST:
                found |= int(category)
    return found
