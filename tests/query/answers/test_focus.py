"""What a conversation is about after a turn."""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import spoken_of
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from tests.support.small_world import Talk, iri


def focus_after(release: Release, *questions: str) -> list[str]:
    talk = Talk(release)
    for question in questions:
        talk.ask(question)
    return [one.iri for one in talk.state.turns[-1].focus]


def test_what_is_named_comes_first_and_whom_the_answer_tells_of_after_it(small: Release) -> None:
    focus = focus_after(small, "Who painted the mural of Saint Anna?")
    assert focus[0] == iri("mural-anna") and iri("leon") in focus


def test_what_a_pronoun_means_stays_in_focus_first(small: Release) -> None:
    focus = focus_after(small, "Who painted the mural of Saint Anna?", "And where was he born?")
    assert focus[0] == iri("leon") and iri("varna") in focus and iri("mural-anna") not in focus


def test_focus_has_category_label_and_the_words_of_its_types(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Where is Saint Dunstan?")
    first = talk.state.turns[-1].focus[0]
    assert (first.iri, first.category, first.label) == (iri("dunstan"), "Thing", "Saint Dunstan")
    assert "church" in first.words


@pytest.mark.parametrize("question", ["Which churches are in Kolva?", "How many murals are there?"])
def test_types_are_never_in_focus(small: Release, question: str) -> None:
    assert not {iri("church"), iri("mural")} & set(focus_after(small, question))


def test_what_a_question_is_about_is_not_shown_by_its_answer(small: Release) -> None:
    talk = Talk(small)
    answer = talk.ask("Which churches are in Kolva?")
    assert answer.exhaustive and talk.state.turns[-1].focus[0].iri == iri("kolva")
    assert set(talk.state.turns[-1].shown) == {iri("anna"), iri("bruno"), iri("clara")}


def test_a_question_speaks_of_what_it_means_and_then_of_what_it_names(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    understood = understand(small, "Did he paint Saint Egidio?", talk.state)
    about = [small[Graph].iri(node) for node in spoken_of(small, understood)]
    assert about == [iri("leon"), iri("egidio")]


def test_what_a_pivot_excludes_is_not_in_focus(small: Release) -> None:
    focus = focus_after(small, "Aside from Saint Anna, which other churches are in Kolva?")
    assert iri("anna") not in focus and iri("bruno") in focus
