"""How a question stands to the conversation before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.questions.followup import QUESTIONS, VAGUE_WORDS, ConversationState, Kind
from tests.support.conversation_world import Talk


@pytest.mark.parametrize(
    "question",
    [
        "Aside from Asinou, which churches have a Last Judgment?",
        "Which churches other than Asinou have a Last Judgment?",
        "Which churches have a Last Judgment besides Asinou?",
        "What churches have a Last Judgment, except for Asinou?",
        "Hormis Asinou, quelles églises ont un Jugement dernier ?",
        "Quelles églises ont un Jugement dernier à part Asinou ?",
        "Welche Kirchen außer Asinou zeigen das Jüngste Gericht?",
        "Abgesehen von Asinou, welche Kirchen zeigen es?",
        "Εκτός από την Ασίνου, ποιες εκκλησίες έχουν τη Δευτέρα Παρουσία;",
        "Oltre ad Asinou, quali chiese hanno un Giudizio universale?",
        "Quali chiese, tranne Asinou, hanno un Giudizio universale?",
        "Aparte de Asinou, ¿qué iglesias tienen un Juicio Final?",
        "¿Qué iglesias tienen un Juicio Final, excepto Asinou?",
        "Welke kerken behalve Asinou hebben het?",
    ],
)
def test_a_pivot_excludes_what_it_names_and_its_words_are_not_searched(question: str) -> None:
    told = Talk().ask(question)
    assert told.kind is Kind.PIVOT
    assert told.excluded == ("asinou",)
    assert "sinou" not in told.raw and "σίνου" not in told.raw
    assert any(
        word in told.raw for word in ("kerken", "church", "glises", "irchen", "εκκλ", "chiese", "iglesias")
    )
    assert told.mentions == ()


def test_a_pivot_names_several() -> None:
    told = Talk().ask(
        "Apart from Winslow Homer, Remington and the Irises, what do you have by Frederic Remington?"
    )
    assert told.excluded == ("homer", "remington", "irises")
    assert told.raw == "what do you have by Frederic Remington?"
    assert [(m.first, m.last) for m in told.mentions] == [(5, 7)]


def test_a_pivot_may_exclude_a_type() -> None:
    told = Talk().ask("Besides his sculptures, what do you have by Frederic Remington?")
    assert told.excluded == () and len(told.excluded_types) == 1
    assert told.raw == "what do you have by Frederic Remington?"


def test_a_negation_is_no_pivot() -> None:
    talk = Talk()
    assert talk.ask("Which photographs are not by Homer?").kind is Kind.STANDALONE
    assert talk.ask("Which murals are a part of the cycle?").kind is Kind.STANDALONE


def test_a_pivot_may_name_by_a_pronoun() -> None:
    talk = Talk()
    talk.ask("Which works are by Winslow Homer?", ["homer"], ["irises"])
    told = talk.ask("Aside from him, which other members of the family are represented?")
    assert (told.kind, told.excluded) == (Kind.PIVOT, ("homer",))


def test_the_excluded_stays_so_in_later_turns_of_the_topic_only() -> None:
    talk = Talk()
    talk.ask("Aside from Asinou, which churches have a Last Judgment?", ["arakos"], ["arakos"])
    assert talk.ask("Any others?").excluded == ("asinou", "arakos")
    assert talk.ask("Tell me more").excluded == ("asinou",)
    assert talk.ask("Which paintings are by Winslow Homer?").excluded == ()
    assert talk.ask("Any others?").excluded == ()


@pytest.mark.parametrize(
    "question",
    ["Are there any more?", "What else?", "Any others?", "Do you have any other ones?", "Y en a-t-il d'autres ?",
     "Quoi d'autre ?", "Gibt es noch weitere?", "Was noch?", "Υπάρχουν άλλες;", "Τι άλλο;", "Zijn er meer?",
     "Ce ne sono altre?", "Cos'altro?", "¿Hay más?", "¿Qué más?"],
)  # fmt: skip
def test_more_excludes_all_that_the_topic_showed(question: str) -> None:
    talk = Talk()
    talk.ask("Who painted Irises?", [], ["earlier"])
    talk.ask("Which churches have a Last Judgment?", [], ["a", "b"])
    talk.ask("Which of them are in Cyprus?", [], ["b", "c"])
    told = talk.ask(question)
    assert (told.kind, told.excluded) == (Kind.MORE, ("a", "b", "c"))
    assert (
        told.contextual is not None and "Last Judgment" in told.contextual and "Irises" not in told.contextual
    )


def test_what_was_shown_may_be_spoken_of_again_after_more() -> None:
    talk = Talk()
    talk.ask("Which churches have a Last Judgment?", ["asinou"], ["asinou"])
    talk.ask("Any others?", ["arakos"], ["arakos"])
    assert talk.ask("Which of them are in Cyprus?").excluded == ()


def test_more_of_something_else_stands_alone() -> None:
    talk = Talk()
    talk.ask("Which churches have a Last Judgment?", ["asinou"], ["asinou"])
    told = talk.ask("What other works by Winslow Homer are there?")
    assert (told.kind, told.excluded) == (Kind.STANDALONE, ())


@pytest.mark.parametrize(
    "question",
    ["Why?", "Tell me more", "And before 1800?", "Where?", "Pourquoi ?", "Und wann?", "Πότε;", "Perché?",
     "E prima del 1800?", "Dimmi di più", "¿Por qué?", "¿Y antes de 1800?"],
)  # fmt: skip
def test_a_question_without_content_is_vague(question: str) -> None:
    talk = Talk()
    talk.ask("Which churches have a Last Judgment?", ["asinou"])
    told = talk.ask(question)
    assert told.kind is Kind.VAGUE
    assert told.contextual == f"Which churches have a Last Judgment? {question}"


def test_a_long_question_without_content_is_not_vague() -> None:
    talk = Talk()
    talk.ask("Which churches have a Last Judgment?")
    assert talk.ask("what is " * (VAGUE_WORDS + 1)).kind is not Kind.VAGUE


@pytest.mark.parametrize(
    ("question", "means"),
    [
        ("When was it built?", "asinou"),
        ("When was the church built?", "asinou"),
        ("Who founded this church?", "asinou"),
        ("Where is the village?", "nikitari"),
        ("Who lives there?", "nikitari"),
        ("Where was he born?", "homer"),
        ("What is her nationality?", "homer"),
        ("When did the painter die?", "homer"),
        ("Quand l'église fut-elle construite ?", "asinou"),
        ("Où ce peintre est-il né ?", "homer"),
        ("Wann wurde die Kirche gebaut?", "asinou"),
        ("Wo wurde er geboren?", "homer"),
        ("Πότε χτίστηκε η εκκλησία;", "asinou"),
        ("Πού γεννήθηκε αυτός ο ζωγράφος;", "homer"),
        ("Quando fu costruita questa chiesa?", "asinou"),
        ("Dove si trova il villaggio?", "nikitari"),
        ("Chi vive lì?", "nikitari"),
        ("Dove è nato lui?", "homer"),
        ("Qual è la sua nazionalità?", "homer"),
        ("¿Dónde está el pueblo?", "nikitari"),
        ("¿Quién vive allí?", "nikitari"),
        ("¿Dónde nació él?", "homer"),
        ("¿Cuál es su nacionalidad?", "homer"),
    ],
)
def test_pronouns_and_descriptions_mean_the_most_recent_that_fits(question: str, means: str) -> None:
    talk = Talk()
    talk.ask("Tell me about Winslow Homer", ["homer"])
    talk.ask("Tell me about Asinou", ["asinou", "nikitari"])
    told = talk.ask(question)
    assert told.kind is Kind.REFERENCE
    assert told.focus_iris[:1] == (means,)


@pytest.mark.parametrize(
    ("question", "means"),
    [
        ("Quando è stata costruita?", "asinou"),
        ("Chi la fondò?", "asinou"),
        ("Di che cosa è fatta?", "asinou"),
        ("Dov'è nato?", "homer"),
        ("¿Cuándo se construyó?", "asinou"),
        ("¿Quién la fundó?", "asinou"),
        ("¿Dónde nació?", "homer"),
        ("Πότε χτίστηκε;", "asinou"),
        ("Πού γεννήθηκε;", "homer"),
    ],
)
def test_a_verb_needs_no_pronoun_to_be_about_what_went_before(question: str, means: str) -> None:
    talk = Talk()
    talk.ask("Tell me about Winslow Homer", ["homer"])
    talk.ask("Tell me about Asinou", ["asinou", "nikitari"])
    told = talk.ask(question)
    assert (told.kind, told.focus_iris) == (Kind.REFERENCE, (means,))
    assert Talk().ask(question).kind is Kind.STANDALONE


@pytest.mark.parametrize(
    "question",
    ["Which of those are in Cyprus?", "Quali di queste sono a Cipro?", "¿Cuáles de estas están en Chipre?"],
)
def test_those_means_all_of_the_last_turn(question: str) -> None:
    talk = Talk()
    talk.ask("Which churches have a Last Judgment?", ["asinou", "arakos"])
    assert talk.ask(question).focus_iris == ("asinou", "arakos")


def test_there_is_a_building_when_no_place_was_named() -> None:
    talk = Talk()
    talk.ask("Which saints are shown at Asinou?", ["mamas", "asinou"])
    assert talk.ask("What does Saint Mamas carry there?", ["mamas"]).focus_iris == ("asinou",)
    told = talk.ask("Is he painted anywhere else?")
    assert told.focus_iris == ("mamas",)
    assert told.contextual is not None and told.contextual.endswith(
        "Is he painted anywhere else? (Saint Mamas)"
    )


def test_ellipses_go_on_from_the_last_question() -> None:
    talk = Talk()
    talk.ask("Which works have a kingfisher in the title?")
    assert talk.ask("And any with lions?").kind is Kind.REFERENCE
    assert talk.ask("What about Winslow Homer?").kind is Kind.REFERENCE


@pytest.mark.parametrize(
    "question",
    [
        "Who painted Irises and when was it made?",
        "Which works by Frederic Remington are here?",
        "Which sculptor made his own portrait?",
        "Which works name San Francisco in their title?",
        "Does the museum own a Vermeer?",
        "Are there any drawings of horses?",
        "Le musée possède-t-il des tableaux de Homer ?",
        "Haben Sie Bilder von Homer?",
        "Il museo possiede quadri di Homer?",
        "Ci sono disegni di cavalli?",
        "Quali dipinti raffigurano leoni?",
        "¿Qué obras de Frederic Remington hay?",
        "¿Hay dibujos de caballos?",
        "¿Qué cuadros representan leones?",
    ],
)
def test_a_whole_question_stands_alone_in_a_conversation_too(question: str) -> None:
    talk = Talk()
    talk.ask("Tell me about Asinou", ["asinou"], ["asinou"])
    told = talk.ask(question)
    assert (told.kind, told.contextual, told.excluded) == (Kind.STANDALONE, None, ())


def test_a_first_question_has_nothing_before_it() -> None:
    assert Talk().ask("When was it built?").kind is Kind.STANDALONE


def test_the_context_holds_few_questions_of_the_topic() -> None:
    talk = Talk()
    for question in ["Which churches are there?", *(f"And any with lions {i}?" for i in range(8))]:
        told = talk.ask(question)
    assert told.contextual is not None and told.contextual.startswith("Which churches are there?")
    assert told.contextual.count("?") == QUESTIONS + 1


def test_two_conversations_never_touch() -> None:
    first, second = Talk(), Talk()
    first.ask("Aside from Asinou, which churches are there?", ["arakos"], ["arakos"])
    before = first.state
    second.ask("Which paintings are by Winslow Homer?", ["homer"], ["irises"])
    second.ask("Any others?")
    assert first.state is before
    assert first.ask("Any others?").excluded == ("asinou", "arakos")


WORDS = [
    "aside", "from", "him", ",", "it", "Asinou", "the", "church", "any", "more", "?", "And", "à", "part",
    "außer",
]  # fmt: skip
TURN = st.one_of(
    st.text(max_size=80),
    st.lists(st.sampled_from([*WORDS, "έξω", "«", '"', "Homer", "und", "other", "than"]), max_size=12).map(
        " ".join
    ),
)


@given(
    st.lists(st.tuples(TURN, st.lists(st.sampled_from(["asinou", "homer", "mamas"]), max_size=3)), max_size=5)
)
def test_any_texts_can_be_a_conversation(turns: list[tuple[str, list[str]]]) -> None:
    talk = Talk()
    for question, about in turns:
        told = talk.ask(question, about, about)
        assert (told.contextual is None) or talk.state.turns
        assert not set(told.excluded) & set(told.focus_iris)
    assert ConversationState.from_json(talk.state.to_json()) == talk.state
