"""What retrieval takes over from the analysis of a question."""

from __future__ import annotations

import numpy as np
import pytest

from crmrag_query.dates import year_interval
from crmrag_query.linking import LinkedEntity, Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.form import Analysis, Form, Reading
from crmrag_query.retrieval.release_channels import Query, telling

WORDS = ("who", "made", "the", "virgin", "of", "1105")
READING = Reading(
    "Who made the Virgin of 1105?", "en", Form.ENUMERATION, False, WORDS, WORDS,
    cues=frozenset({"was created by"}), cueing=frozenset({"made"}),
)  # fmt: skip
VECTOR = np.zeros(3, np.float32)


def mention(first: int, *scores: float) -> Mention:
    linked = tuple(LinkedEntity(n, score, "name", "label") for n, score in enumerate(scores))
    return Mention(first, first + 1, WORDS[first], linked)


def kept(*mentions: Mention, period_words: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    return telling(Analysis(READING, mentions=mentions, period_words=period_words))


def test_a_query_has_what_was_analysed_and_the_text_that_is_searched_for() -> None:
    virgin = mention(3, 0.9)
    analysis = Analysis(READING, Category.Thing, Category.Time, (virgin,), year_interval(1105))
    query = Query.of(analysis, VECTOR, (virgin,))
    assert (query.text, query.form, query.targets, query.contexts) == (
        READING.question, Form.ENUMERATION, Category.Thing, Category.Time,
    )  # fmt: skip
    assert (tuple(query.mentions), query.period, query.cues) == ((virgin,), year_interval(1105), READING.cues)
    assert query.vector is VECTOR
    assert Query.of(analysis, VECTOR, (), "and the Virgin?").text == "and the Virgin?"


@pytest.mark.parametrize(("score", "told"), [(0.24, False), (0.25, True), (1.0, True)])
def test_a_mention_counts_from_the_least_score_of_its_best_entity(score: float, told: bool) -> None:
    assert kept(mention(3, score, 0.1)) == ((mention(3, score, 0.1),) if told else ())


@pytest.mark.parametrize(("score", "told"), [(0.5, False), (0.79, False), (0.8, True)])
def test_words_that_ask_for_a_relationship_name_something_only_when_it_is_sure(
    score: float, told: bool
) -> None:
    assert bool(kept(mention(1, score))) == told


def test_a_plain_word_that_asks_for_a_relationship_names_nothing_but_a_type_that_is_asked_for() -> None:
    made, plain = mention(1, 1.0), frozenset({"made"})
    for types, told in (((), False), ((0,), True)):
        analysis = Analysis(READING, mentions=(made,), types=types)
        assert bool(telling(analysis, plain)) == told
        assert telling(analysis)


def test_a_mention_that_only_repeats_the_period_is_left_out() -> None:
    year, virgin = mention(5, 1.0), mention(3, 1.0)
    assert kept(virgin, year) == (virgin, year)
    assert kept(virgin, year, period_words=frozenset({"1105"})) == (virgin,)


def test_a_mention_without_entities_is_left_out() -> None:
    assert kept(mention(3)) == ()
