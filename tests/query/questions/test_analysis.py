"""A question analysed by its words and the entities it names: form, categories, period."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.dates import year_interval
from crmrag_query.linking import How, LinkedEntity, Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.form import Analysis, Form, analyse
from crmrag_query.text import tokenize

LEXICON = load_method().questions
THING, ACTOR, PLACE, EVENT, CONCEPT, TIME = Category
HOMER, ASINOU, BULTO, CYCLE, NIKITARI = range(1, 6)
CATEGORIES = {HOMER: ACTOR, ASINOU: THING, BULTO: CONCEPT, CYCLE: EVENT, NIKITARI: PLACE}


def mention(question: str, name: str, entity: int, how: How = "label") -> Mention:
    words, wanted = tokenize(question), tokenize(name)
    first = next(i for i in range(len(words)) if words[i : i + len(wanted)] == wanted)
    return Mention(first, first + len(wanted), name, (LinkedEntity(entity, 1.0, name, how),))


def analysed(question: str, **names: int) -> Analysis:
    mentions = [mention(question, name.replace("_", " "), entity) for name, entity in names.items()]
    return analyse(question, LEXICON, (), mentions, lambda entity: int(CATEGORIES[entity]))


@pytest.mark.parametrize(
    ("question", "targets"),
    [
        ("Which paintings are from 1850?", THING),
        ("Which artists were born in Rome?", ACTOR),
        ("How many villages have a church?", PLACE),
        ("Which exhibitions showed Irises?", EVENT),
        ("What materials are used in the mosaics?", CONCEPT),
        ("Who painted the apse?", ACTOR),
        ("Where is the church?", PLACE),
        ("When was the church built?", TIME | EVENT),
        ("Which museums own drawings?", ACTOR | PLACE),
        ("Which saints are in the narthex?", THING | ACTOR),
        ("What kind of characters are depicted?", CONCEPT | THING),
        ("What was made in Baltimore?", THING),
        ("What do you have from before 1500?", THING),
        ("Are there any drawings of horses?", THING),
        ("Quels peintres sont nés à Paris ?", ACTOR),
        ("Dans quelle ville est-il né ?", PLACE),
        ("Qui a peint l'abside ?", ACTOR),
        ("Welche Gemälde zeigen Pferde?", THING),
        ("In welchem Dorf liegt sie?", PLACE),
        ("Wie viele Ausstellungen gab es?", EVENT),
        ("Ποιες εκκλησίες είναι στην Κύπρο;", THING),
        ("Ποιος ζωγράφισε την αψίδα;", ACTOR),
        ("Σε ποιο χωριό βρίσκεται;", PLACE),
        ("Chi ha dipinto l'abside?", ACTOR),
        ("In quale città è nato?", PLACE),
        ("Quali musei possiedono disegni?", ACTOR | PLACE),
        ("Di che periodo sono le opere?", TIME | EVENT),
        ("Ci sono opere di donne?", THING),
        ("¿Quién pintó el ábside?", ACTOR),
        ("¿En qué ciudad nació?", PLACE),
        ("¿Qué obras datan de 1850?", THING),
        ("¿Cuándo se construyó?", TIME | EVENT),
        ("hm", Category(0)),
    ],
)
def test_the_categories_asked_for(question: str, targets: Category) -> None:
    assert analysed(question).targets == targets


def test_an_individual_is_context_and_a_noun_what_is_asked_for() -> None:
    found = analysed("Which paintings are by Homer?", Homer=HOMER)
    assert (found.targets, found.contexts) == (THING, ACTOR)


def test_of_one_named_thing_its_category_is_asked_for() -> None:
    assert analysed("Tell me about Homer", Homer=HOMER).targets == ACTOR
    assert analysed("Tell me about Asinou", Asinou=ASINOU).targets == THING


def test_two_contexts_at_most_and_none_of_them_asked_for() -> None:
    question = "Which artists of Nikitari made drawings of the cycle at Asinou in wood?"
    found = analysed(question, Nikitari=NIKITARI, Asinou=ASINOU)
    assert found.targets == ACTOR
    assert found.contexts == PLACE | THING


def test_a_type_of_the_data_says_what_is_asked_for() -> None:
    found = analysed("Which bultos are in the collection?", bultos=BULTO)
    assert (found.types, found.targets, found.form) == ((BULTO,), THING, Form.ENUMERATION)
    assert analysed("Which of Homer's works are bultos?", bultos=BULTO).types == ()


def test_a_year_within_a_name_is_no_period_and_elsewhere_it_is() -> None:
    question = "What was painted in the 1332/33 painting cycle?"
    assert analysed(question).period == year_interval(1332, 1333)
    named = analyse(
        question, LEXICON, (), [mention(question, "1332/33 painting cycle", CYCLE)], lambda entity: int(EVENT)
    )
    assert named.period is None
    assert analysed('Who made "View of Paris in 1840"?').period is None


def test_a_period_that_is_also_the_name_of_one_stays_a_period() -> None:
    question = "Which works are from the 18th century?"
    found = analyse(
        question, LEXICON, (), [mention(question, "18th century", CYCLE)], lambda entity: int(EVENT)
    )
    assert found.period == year_interval(1701, 1800)
    assert found.period_words >= {"18th", "century"}


def test_a_whole_name_is_not_read_as_a_question() -> None:
    question = "who painted how many miles"
    assert analysed(question).form is Form.AGGREGATION
    assert analysed(question, how_many_miles=ASINOU).form is Form.SPECIFIC


@pytest.mark.parametrize(
    "name", ["dev_asinou", "dev_aac_wam", "dev_aac_cbm", "dev_linkedart_mixed", "dev_aac_autry"]
)
def test_the_form_is_right_for_most_dev_questions(name: str, shared_data: Path) -> None:
    from benchmarks.classifier import questions_of

    gold = [
        (text, form) for text, form in questions_of(shared_data / "eval" / f"{name}.json") if form is not None
    ]
    right = [analyse(text, LEXICON).form is form for text, form in gold]
    assert sum(right) >= 0.85 * len(right)


def test_templated_questions_for_one_fact_are_read_as_such(shared_data: Path) -> None:
    raw = json.loads((shared_data / "eval" / "saam10k_dev.json").read_text(encoding="utf-8"))
    questions = [
        one for one in (raw["questions"] if isinstance(raw, dict) else raw) if one["kind"] != "comparative"
    ]
    right = [analyse(one["question"], LEXICON).form is Form.SPECIFIC for one in questions]
    assert sum(right) >= 0.95 * len(right)


@given(
    st.text(max_size=150),
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(1, 4), st.sampled_from(sorted(CATEGORIES))), max_size=4
    ),
)
def test_any_text_with_any_mentions_can_be_analysed(question: str, named: list[tuple[int, int, int]]) -> None:
    mentions = [
        Mention(first, first + length, "x", (LinkedEntity(entity, 0.5, "x", "label"),))
        for first, length, entity in named
    ]
    found = analyse(question, LEXICON, (), mentions, lambda entity: int(CATEGORIES[entity]))
    assert found.targets.bit_count() <= 2 and found.contexts.bit_count() <= 2
    assert found.targets & found.contexts == 0
    assert found.mentions == tuple(mentions)
