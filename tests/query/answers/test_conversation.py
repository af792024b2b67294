"""Conversations with a release: what a follow-up means, what does not come back, and that no two touch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.answers.ask import Conversation, ask, prepare
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.questions.followup import ConversationState, Kind
from tests.support.small_world import CHURCHES, Talk, cited, iri, sources

PIVOTS = {
    "en": "Aside from Saint Anna, which other churches are in Kolva?",
    "en besides": "Which churches are in Kolva besides Saint Anna?",
    "fr": "À part Saint Anna, quelles autres églises sont à Kolva ?",
    "de": "Abgesehen von Saint Anna, welche anderen Kirchen sind in Kolva?",
    "el": "Εκτός από την Αγία Άννα, ποιες άλλες εκκλησίες είναι στην Kolva;",
}


def kinds(talk: Talk) -> list[Kind]:
    return [turn.kind for turn in talk.state.turns]


def shows(answer: Answer, name: str) -> bool:
    """Whether an entity comes back: as a source, as one shown with it, in its triples, or by any of its names in the text,
    but for where a set says that it leaves it out."""
    english, greek, *_ = CHURCHES[name]
    shown = {one.iri for source in answer.sources for one in source.entities} | sources(answer)
    unsaid = [f"Mural of {english}", f"Painting of {english}"]
    unsaid += [chip.label for chip in answer.set.chips if chip.negated] if answer.set is not None else []
    lines = answer.text.splitlines()
    for words in unsaid:
        lines = [row.replace(words, "") for row in lines]
    return iri(name) in shown or any(english in row or greek in row for row in lines)


@pytest.mark.parametrize("language", PIVOTS)
def test_what_a_pivot_excludes_does_not_come_back(small: Release, language: str) -> None:
    talk = Talk(small)
    talk.ask("Which churches are in Kolva?")
    answer = talk.ask(PIVOTS[language])
    assert kinds(talk)[-1] is Kind.PIVOT
    assert not shows(answer, "anna")
    assert {iri("bruno"), iri("clara")} <= set(cited(answer))
    for later in ("Are there any more?", "What else?"):
        assert not shows(talk.ask(later), "anna")


def test_a_pivot_excludes_in_its_first_question_too(small: Release) -> None:
    answer = ask(small, PIVOTS["en"])
    assert not shows(answer, "anna") and {iri("bruno"), iri("clara")} <= set(cited(answer))


def test_what_stands_in_the_document_of_an_excluded_thing_is_not_lost(small: Release) -> None:
    """The village is told in the documents of its churches."""
    answer = ask(small, "Besides Saint Bruno, which churches are in Kolva?")
    assert not shows(answer, "bruno") and {iri("anna"), iri("clara")} <= set(cited(answer))


def test_a_pivot_takes_the_name_out_of_what_a_model_reads(small: Release) -> None:
    context = prepare(small, PIVOTS["en"]).context
    anna = small[Graph].node(iri("anna"))
    text = context.render().replace("Mural of Saint Anna", "").replace("Painting of Saint Anna", "")
    assert "Saint Bruno" in text
    assert not any(anna in line.entities for source in context.sources for line in source.lines)
    assert "Saint Anna" not in text.partition("<counts>")[0]


def test_any_more_leaves_out_what_was_shown_and_says_when_nothing_is_left(small: Release) -> None:
    talk = Talk(small)
    first = talk.ask("Which churches are in Kolva?")
    assert set(cited(first)) == {iri("anna"), iri("bruno"), iri("clara")}
    more = talk.ask("Are there any more?")
    assert kinds(talk)[-1] is Kind.MORE
    assert more.refused and not {iri("anna"), iri("bruno"), iri("clara")} & sources(more)


@pytest.mark.parametrize("words", ["Any more of them?", "Are there any others?", "Which others?"])
def test_more_of_them_is_more_and_not_the_same_again(small: Release, words: str) -> None:
    talk = Talk(small)
    shown = set(cited(talk.ask("Which churches are in Orest?")))
    assert shown == {iri("dunstan"), iri("egidio")}
    assert not shown & sources(talk.ask(words))


@pytest.mark.parametrize(
    ("first", "then", "found"),
    [
        ("Who painted the mural of Saint Anna?", "And where was he born?", "Varna"),
        ("Who painted the mural of Saint Clara?", "And where was she born?", "Tesk"),
        ("Where is Saint Dunstan?", "Who painted the church?", "Mira Dolan"),
        ("Where is Saint Egidio?", "Where is it?", "Orest"),
        ("Tell me about Mira Dolan.", "Where was she born?", "Tesk"),
        ("Tell me about Mira Dolan.", "Which murals did she paint?", "Mural of Saint Clara"),
    ],
)
def test_pronouns_and_descriptions_mean_what_is_in_focus(
    small: Release, first: str, then: str, found: str
) -> None:
    talk = Talk(small)
    talk.ask(first)
    answer = talk.ask(then)
    assert kinds(talk)[-1] is not Kind.STANDALONE
    assert found in answer.text


def test_there_means_the_place_that_was_named(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Tell me about Orest.")
    answer = talk.ask("Which churches stand there?")
    assert {iri("dunstan"), iri("egidio")} <= set(cited(answer))
    assert not {iri("anna"), iri("bruno"), iri("clara")} & set(cited(answer))


def test_those_means_what_was_shown_and_not_what_was_asked_about(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Which churches are in Orest?")
    talk.ask("Who painted those?")
    assert {"Saint Dunstan", "Saint Egidio"} == set(
        talk.state.turns[-1].resolved.partition("(")[2].rstrip(")").split("; ")
    )


def test_a_place_in_a_follow_up_takes_the_place_of_the_one_before(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Which churches are in Kolva?")
    answer = talk.ask("And in Orest?")
    assert set(cited(answer)) - {iri("orest")} == {iri("dunstan"), iri("egidio")}


def test_a_vague_follow_up_is_searched_for_with_what_went_before_alone(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Which churches are in Kolva?")
    understood = prepare(small, "Tell me more.", talk.state).understood
    assert understood.follow_up.kind is Kind.VAGUE
    assert [query.text for query in understood.queries] == ["Which churches are in Kolva? Tell me more."]


def test_other_follow_ups_are_searched_for_twice_and_each_document_comes_once(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    prepared = prepare(small, "And where was he born?", talk.state)
    contextual, raw = prepared.understood.queries
    assert raw.text == "And where was he born?" and "Leon Karas" in contextual.text
    documents = prepared.retrieved.ranking
    assert len(documents) == len(set(documents))


def test_a_standalone_question_is_answered_as_in_a_new_conversation(small: Release) -> None:
    question = "Where is Saint Dunstan?"
    talk = Talk(small)
    for before in ("Which churches are in Kolva?", PIVOTS["en"], "Are there any more?"):
        talk.ask(before)
    assert replace(talk.ask(question), conversation={}) == replace(ask(small, question), conversation={})
    assert kinds(talk)[-1] is Kind.STANDALONE


def test_what_a_topic_excluded_may_come_back_in_the_next(small: Release) -> None:
    talk = Talk(small)
    talk.ask(PIVOTS["en"])
    assert "Kolva" in talk.ask("Where is Saint Anna?").text


def test_a_conversation_read_back_from_json_goes_on_the_same(small: Release) -> None:
    talk = Talk(small)
    for question in ("Who painted the mural of Saint Anna?", "And where was he born?"):
        talk.ask(question)
    stored = Talk(small, state=ConversationState.from_json(talk.state.to_json()))
    assert stored.state == talk.state
    assert stored.ask("What else did he paint?") == talk.ask("What else did he paint?")


def test_earlier_questions_alone_are_a_conversation(small: Release) -> None:
    answer = ask(small, "And in Orest?", state=["Which churches are in Kolva?"])
    assert {iri("dunstan"), iri("egidio")} <= set(cited(answer))


def test_asking_leaves_the_conversation_as_it_was(small: Release) -> None:
    before = Conversation()
    answer, after = before.ask(small, "Where is Saint Dunstan?")
    assert before.state.turns == () and [turn.question for turn in after.state.turns] == [answer.question]


QUESTIONS = (
    "Which churches are in Kolva?", "Which churches are in Orest?", PIVOTS["en"], "Are there any more?",
    "Who painted the mural of Saint Clara?", "And where was she born?", "Who painted the church?", "And in Orest?",
    "Where is it?", "Tell me more.",
)  # fmt: skip
TALKS = st.lists(st.sampled_from(QUESTIONS), max_size=4)


def told(release: Release, questions: Sequence[str]) -> list[Answer]:
    talk = Talk(release)
    return [talk.ask(question) for question in questions]


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TALKS, TALKS, st.randoms(use_true_random=False))
def test_two_conversations_never_touch(small: Release, one: list[str], other: list[str], turns) -> None:  # type: ignore[no-untyped-def]
    talks, left = (Talk(small), Talk(small)), (list(one), list(other))
    answers: tuple[list[Answer], list[Answer]] = ([], [])
    while left[0] or left[1]:
        at = turns.choice([i for i in (0, 1) if left[i]])
        answers[at].append(talks[at].ask(left[at].pop(0)))
    assert answers == (told(small, one), told(small, other))


def test_a_church_of_the_sample_does_not_return_after_a_pivot(sample: Release) -> None:
    talk = Talk(sample)
    talk.ask("Which churches did Symeon Axentis paint?")
    answer = talk.ask("Aside from Saint Sozomenos, which other churches did Symeon Axentis paint?")
    excluded = set(talk.state.turns[-1].excluded)
    assert excluded and not excluded & sources(answer)
    assert answer.exhaustive and [one.label for one in answer.set.members] == ["Archangel Michael, Galata"]


ASINOU = "https://example.org/troodos/church/asinou"
OTHERWISE = (
    "Which churches have a painting of Saint George besides Asinou?",
    "À part Asinou, quelles autres églises ont une peinture de Saint George ?",
    "Außer Asinou, welche anderen Kirchen haben ein Bild von Saint George?",
)


@pytest.mark.parametrize("question", [
    "Aside from Asinou, which other churches have a painting of Saint George?",
    "Εκτός από την Ασίνου, ποιες άλλες εκκλησίες έχουν τοιχογραφία του Αγίου Γεωργίου;",
    *(pytest.param(question, marks=pytest.mark.slow) for question in OTHERWISE),  # as on the small world, in each language
])  # fmt: skip
def test_aside_from_asinou_the_church_does_not_return(sample: Release, question: str) -> None:
    talk = Talk(sample)
    talk.ask("Which churches have a painting of Saint George?")
    for asked in (question, "Are there any more?"):
        answer = talk.ask(asked)
        assert ASINOU in talk.state.turns[-1].excluded
        assert ASINOU not in sources(answer)
        assert "Panagia Phorbiotissa (Asinou)\n" not in answer.text + "\n"


def test_a_word_that_many_names_share_may_still_name_one_thing(sample: Release) -> None:
    talk = Talk(sample)
    talk.ask("Tell me about Asinou.")
    assert talk.state.turns[-1].focus[0].iri == ASINOU
    understood = prepare(sample, "Who founded it?", talk.state).understood
    assert understood.follow_up.kind is Kind.REFERENCE and understood.follow_up.focus_iris == (ASINOU,)


def test_a_name_ends_where_the_question_begins(sample: Release) -> None:
    """There is an "Asinou church", and the question goes on with "which churches"."""
    understood = prepare(sample, "Aside from Asinou, which churches are in Nikitari?").understood
    assert understood.follow_up.raw == "which churches are in Nikitari?"


def test_the_title_of_a_follow_up_has_its_conditions_side_by_side(sample: Release) -> None:
    """And not within each other: "church · (church · (church …)) …", or "Of those, 4 date from before 1200"."""
    talk = Talk(sample)
    titles = [
        answer.set.title
        for question in (
            "Which churches are in the Troodos mountains?",
            "Which of those were built before 1200?",
            "Which of those are of stone?",
        )
        if (answer := talk.ask(question)).set is not None
    ]
    assert titles[0] == "church · located in: Troodos Mountains"
    assert [title.count(" · ") for title in titles] == [1, 2, 3] and not any("(" in title for title in titles)
    assert titles[2].startswith(titles[1]) and titles[1].startswith(titles[0])
