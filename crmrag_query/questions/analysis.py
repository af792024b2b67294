"""What a question asks for: query type, categories, named entities, period."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.dates import Interval, parse_date
from crmrag_query.linking import Mention
from crmrag_query.questions.form import Form, Reading, read
from crmrag_query.questions.lexicon import compiled
from crmrag_query.questions.period import find_period, without_names
from crmrag_query.questions.targets import is_type, targets_and_contexts, types_asked

BY_WORDS = "words"
_NAMING = frozenset({"label", "alternative", "identifier"})


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
    categories_of: Callable[[int], int] = _unknown,
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
    names = _name_positions(mentions, categories_of)
    reading, heard = read(question, ready, languages, names)
    language = ready.languages[reading.language]
    period = find_period(without_names(heard, names), language.manies)
    period_words = period.words if period else frozenset()
    targets, contexts = targets_and_contexts(reading, language, mentions, categories_of, period_words)
    asked_types = types_asked(reading, mentions, categories_of)
    return Analysis(
        reading=reading,
        targets=targets,
        contexts=contexts,
        mentions=tuple(mentions),
        period=period.interval if period else None,
        period_words=period_words,
        types=tuple(one.entity for mention in asked_types for one in mention.entities),
    )


def _name_positions(mentions: Sequence[Mention], categories_of: Callable[[int], int]) -> frozenset[int]:
    """Tokens of whole names of individuals of more than one word; a date that is also a name stays a date."""
    return frozenset(
        position
        for mention in mentions
        if mention.last - mention.first > 1
        and mention.entities
        and mention.entities[0].how in _NAMING
        and not is_type(mention, categories_of)
        and parse_date(mention.text) is None
        for position in range(mention.first, mention.last)
    )
