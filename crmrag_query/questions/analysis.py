"""What a question asks for: query type, categories, named entities, period."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.dates import Interval, parse_date
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.form import Form, Reading, read
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.period import find_period, without_names

BY_WORDS = "words"
NAMING = frozenset({"label", "alternative", "identifier"})
MOST = 2  # categories asked for, and spoken of besides, at most (facts: method, Query)
# What a question for a time is answered by: the time-span, or the event that it belongs to (time-spans are told in the
# documents of their events).
WITH_TIME = Category.Time | Category.Event
Categories = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question as analysed (facts: method, Query).

    ``targets``: mask of the one or two categories that are asked for, 0 when unknown; ``contexts``: mask of up to two that
    the question speaks of besides; ``mentions``: the entities that it names; ``period``: the stretch of time that answers
    must lie in, None when it names none; ``by``: ``words``, or the name of the model that analysed it; ``period_words``:
    the folded tokens that express the period; ``types``: nodes of types that answers must have, best first.
    """

    reading: Reading
    targets: int = 0
    contexts: int = 0
    mentions: tuple[Mention, ...] = ()
    period: Interval | None = None
    by: str = BY_WORDS
    period_words: frozenset[str] = frozenset()
    types: tuple[int, ...] = ()

    @property
    def form(self) -> Form:
        return self.reading.form


def _unknown(entity: int) -> int:
    return 0


def analyse(
    question: str,
    lexicon: QuestionLexicon,
    languages: Sequence[str] = (),
    mentions: Sequence[Mention] = (),
    categories_of: Categories = _unknown,
) -> Analysis:
    """The question as its words and the entities it names tell, without a model.

    ``languages`` are preferred in ties; ``mentions`` come from entity linking (positions in ``tokenize(question)``);
    ``categories_of`` gives the mask of categories of an entity. Words within the name of an individual or in quotes are
    read neither as question words nor as a period. Any text can be analysed.

    >>> from crmrag_query.config import load_method
    >>> analyse("Which churches were built before 1500?", load_method().questions).form
    <Form.ENUMERATION: 'enumeration'>
    """
    ready = compiled(lexicon)
    # Whole names of individuals of more than one word; a date that is also a name stays a date.
    names = frozenset(
        position
        for mention in mentions
        if mention.last - mention.first > 1
        and mention.entities
        and mention.entities[0].how in NAMING
        and not _is_type(mention, categories_of)
        and parse_date(mention.text) is None
        for position in range(mention.first, mention.last)
    )
    reading, heard = read(question, ready, languages, names)
    language = ready.languages[reading.language]
    period = find_period(without_names(heard, names), language.manies)
    period_words = period.words if period else frozenset()
    types = [
        one
        for one in mentions
        if _is_type(one, categories_of) and any(one.first <= head < one.last for head in reading.heads)
    ]
    individuals = [one for one in mentions if one.entities and not _is_type(one, categories_of)]
    named = [categories_of(one.entities[0].entity) for one in individuals]
    inside = {i for one in individuals for i in range(one.first, one.last)}
    inside |= {i for i, word in enumerate(reading.words) if word in period_words and i not in reading.heads}
    targets = _targets(reading, language, bool(types), named, inside)
    others = [mask for i, mask in _nouns(reading, language) if i not in inside and i not in reading.heads]
    return Analysis(
        reading=reading,
        targets=targets,
        contexts=_first([mask & ~targets for mask in (*named, *others)]),
        mentions=tuple(mentions),
        period=period.interval if period else None,
        period_words=period_words,
        types=tuple(one.entity for mention in types for one in mention.entities),
    )


def _is_type(mention: Mention, categories_of: Categories) -> bool:
    """True when the best meaning of a mention is a type or another concept, not an individual."""
    return bool(mention.entities) and categories_of(mention.entities[0].entity) == Category.Concept


def _nouns(reading: Reading, language: Language) -> list[tuple[int, int]]:
    """Positions of known nouns, and masks of their categories."""
    known = language.nouns
    return [(i, known[word].categories) for i, word in enumerate(reading.words) if word in known]


def _targets(
    reading: Reading, language: Language, is_typed: bool, named: Sequence[int], inside: set[int]
) -> int:
    """Mask of one or two categories that are asked for, 0 when unknown.

    The first that says any: the nouns after the question word (of an unknown noun that is a type of the data: Thing),
    question words such as who and where, the nouns of a yes/no question, verbs of making and having (Thing), and for one
    fact about something named, its category. What stands at a position of ``inside`` is no noun of these.
    """
    nouns = _nouns(reading, language)
    heads = [mask for i, mask in nouns if i in reading.heads]
    if not heads and is_typed:
        heads = [int(Category.Thing)]
    expected = reading.expects | (WITH_TIME if reading.expects & Category.Time else 0)
    if found := _first(heads) or _first([expected]):
        return found
    free = _first([mask for i, mask in nouns if i not in inside][:1])
    if reading.rule.startswith(("what was done", "what is held", "request for all", "list")):
        return free or int(Category.Thing)
    if reading.form is Form.SPECIFIC and named and not reading.rule.startswith("yes/no"):
        return _first(named[:1])
    return free or _first(named[:1])


def _first(masks: Iterable[int]) -> int:
    """The union of the first masks, ``MOST`` categories at most; the lower bit first within one."""
    found = 0
    for mask in masks:
        for category in Category:
            if mask & category and not found & category and found.bit_count() < MOST:
                found |= int(category)
    return found
