"""A question read within its conversation: what is searched for, what is left out, and what a model adds."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crmrag_query.answers.ask import Ask
from crmrag_query.answers.understand import checked, understand
from crmrag_query.artifacts.release import Release
from crmrag_query.errors import ModelError, QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Message
from crmrag_query.questions.followup import Kind
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.release_channels import Query
from tests.support.small_world import Talk, iri

LIMIT = 4000
WHOLE = "Where was Leon Karas born?"
ANALYSIS = {"query_type": "specific", "target_categories": ["Place"], "context_categories": ["Actor"]}


class Replying:
    """A model that says something else each time it is asked, and remembers what it was asked; an error is raised."""

    name = "replying"

    def __init__(self, *replies: str | ModelError) -> None:
        self.replies, self.asked = list(replies), list[Sequence[Message]]()

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        self.asked.append(messages)
        reply = self.replies.pop(0)
        if isinstance(reply, ModelError):
            raise reply
        yield reply


def plain(queries: Sequence[Query]) -> list[tuple[str, Form, int, int]]:
    return [(query.text, query.form, query.targets, query.contexts) for query in queries]


@given(st.text(max_size=60))
@example("Who?\x00\x1b[31m")
@example("\u202eWho?\u2066")
@example("a\udc80b")
def test_what_is_checked_is_one_line_that_can_be_shown_and_stored(text: str) -> None:
    try:
        question = checked(text, LIMIT)
    except QuestionError as error:
        assert error.remedy and not any(map(str.isalnum, text))
        return
    question.encode("utf-8")
    assert question.isprintable() and question == " ".join(question.split())
    assert question == checked(question, LIMIT)
    seen = (c for c in text if c.isprintable() and not c.isspace())
    assert question.replace(" ", "") == "".join(seen)


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("Where is\u00a0Asi\u00adnou?", "Where is Asinou?"),
        ("Where\u200bis it?", "Where is it?"),
        ("\ufeffWho\r\nwas\the?", "Who was he?"),
        ("\u202bΠού είναι;\u202c", "Πού είναι;"),
        ("Who\U000e0041\U000e0042 was he?", "Who was he?"),
    ],
)
def test_signs_that_are_not_seen_neither_split_words_nor_hide_text(text: str, question: str) -> None:
    assert checked(text, LIMIT) == question
    assert all(unicodedata.category(character) != "Cf" for character in question)


def test_the_limit_is_the_last_length_that_is_read() -> None:
    assert checked("a" * LIMIT, LIMIT) == "a" * LIMIT
    with pytest.raises(QuestionError, match=r"4001 characters.*at most 4000"):
        checked("a" * (LIMIT + 1), LIMIT)


def test_a_first_question_is_searched_for_as_it_is(small: Release) -> None:
    understood = understand(small, "Which churches are in Kolva?")
    assert [query.text for query in understood.queries] == ["Which churches are in Kolva?"]
    assert understood.analysis == understood.own and not understood.excluded
    assert understood.follow_up.kind is Kind.STANDALONE


def test_a_reference_adds_the_entity_it_means_to_words_and_mentions(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    understood = understand(small, "And where was he born?", talk.state)
    leon = small[Graph].node(iri("leon"))
    assert [one.entity for one in understood.analysis.mentions[0].entities] == [leon]
    assert {"leon", "karas", "born"} <= set(understood.analysis.reading.content)
    assert "anna" not in understood.analysis.reading.content
    assert not {"leon", "karas"} & set(understood.own.reading.content)


def test_words_that_ask_for_more_are_no_content(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Which churches are in Kolva?")
    reading = understand(small, "Are there any others?", talk.state).analysis.reading
    assert set(reading.content) == {"churches", "kolva"}
    assert reading.form is Form.ENUMERATION and [reading.words[i] for i in reading.heads] == ["churches"]


def test_follow_ups_of_follow_ups_ask_for_what_the_topic_asked(small: Release) -> None:
    talk = Talk(small)
    for question in ("Which churches are in Kolva?", "And in Orest?", "Any more?"):
        understood = understand(small, question, talk.state)
        talk.ask(question)
    reading = understood.analysis.reading
    assert {"churches", "orest"} <= set(reading.content) and "kolva" not in reading.content


def test_what_is_excluded_are_nodes_of_the_release(small: Release) -> None:
    excluded = understand(small, "Besides Saint Anna, which churches are in Kolva?").excluded
    anna = small[Graph].node(iri("anna"))
    assert excluded.nodes == {anna} and anna in excluded
    assert small[Graph].node(iri("bruno")) not in excluded


def test_a_model_makes_a_follow_up_whole(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    model = Replying(WHOLE, json.dumps(ANALYSIS))
    understood = understand(small, "And where was he born?", talk.state, model)
    assert [query.text for query in understood.queries] == [WHOLE]
    assert understood.question == "And where was he born?"
    asked = json.loads(str(model.asked[0][1]["content"]))
    assert asked["question"] == "And where was he born?" and "Leon Karas" in asked["about"]


@pytest.mark.parametrize(
    "reply",
    ["", "Here is\nthe question:\nWho?", "where " * 500, ModelError("It is down.", "Wait.")],
    ids=["empty", "lines", "long", "down"],
)
def test_a_rewriting_that_fails_leaves_the_reading_by_words(small: Release, reply: str | ModelError) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    model = Replying(reply, json.dumps(ANALYSIS))
    understood = understand(small, "And where was he born?", talk.state, model)
    by_words = understand(small, "And where was he born?", talk.state)
    assert [q.text for q in understood.queries] == [q.text for q in by_words.queries]
    assert understood.analysis.mentions == by_words.analysis.mentions


def test_a_model_that_is_down_gives_what_no_model_gives(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    down = ModelError("The model is down.", "Wait.")
    understood = understand(small, "And where was he born?", talk.state, Replying(down, down))
    by_words = understand(small, "And where was he born?", talk.state)
    assert understood.analysis == by_words.analysis
    assert plain(understood.queries) == plain(by_words.queries)
    assert understood.notes and "by its words" in understood.notes[0] and not by_words.notes


def test_nothing_is_rewritten_in_a_first_question(small: Release) -> None:
    model = Replying(json.dumps(ANALYSIS))
    understood = understand(small, "Where is Saint Anna?", model=model)
    assert len(model.asked) == 1 and understood.analysis.by == "replying"


def test_a_model_that_rewrites_plans_and_answers_is_asked_four_times(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Who painted the mural of Saint Anna?")
    told: dict[str, object] = {"plan": None, "unmapped": [], "cannot": "It is not in the catalogue."}
    model = Replying(WHOLE, json.dumps(ANALYSIS), json.dumps(told), "Leon Karas was born in Varna [1].")
    answer = Talk(small, Ask(model), talk.state).ask("And where was he born?")
    assert len(model.asked) == 4 and answer.written_by == "replying"
    prompt = str(model.asked[3][1]["content"])
    assert prompt.endswith(
        "Earlier question: Who painted the mural of Saint Anna?\nQuestion: And where was he born?"
    )
