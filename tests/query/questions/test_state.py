"""What a conversation remembers can be stored, and nothing else can be read back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.errors import QuestionError
from crmrag_query.questions.followup import (
    EXCLUDED,
    FOCUS,
    SHOWN,
    ConversationState,
    Focus,
    Kind,
    Turn,
    turns_of,
)
from crmrag_query.questions.form import Form

CONFIG = load_method().conversation
TEXTS = st.text(st.characters(), max_size=30)
IRIS = st.lists(TEXTS, max_size=3).map(tuple)
TURNS = st.builds(
    Turn,
    TEXTS,
    TEXTS,
    st.sampled_from(Form),
    st.sampled_from(Kind),
    st.lists(st.builds(Focus, TEXTS, TEXTS, TEXTS, IRIS), max_size=3).map(tuple),
    IRIS,
    IRIS,
    st.booleans(),
)


@given(st.lists(TURNS, max_size=20))
def test_a_state_round_trips(turns: list[Turn]) -> None:
    state = ConversationState()
    for turn in turns:
        state = state.after(turn, CONFIG)
    assert len(state.turns) <= CONFIG.turns
    assert ConversationState.from_json(state.to_json()) == state


def test_a_state_is_bounded() -> None:
    focus = tuple(Focus(f"e{i}" * 3000, "c" * 9000, "l" * 9000, ("w" * 9000,) * 900) for i in range(500))
    iris = ("x" * 100_000, *(f"i{n}" for n in range(5000)))
    turn = Turn("q" * 100_000, "r" * 100_000, Form.SPECIFIC, Kind.MORE, focus, iris, iris)
    state = ConversationState()
    for _ in range(3 * CONFIG.turns):
        state = state.after(turn, CONFIG)
    last = state.turns[-1]
    assert (len(state.turns), len(last.focus)) == (CONFIG.turns, FOCUS)
    assert (len(last.shown), len(last.excluded)) == (SHOWN, EXCLUDED)
    assert "x" * 100_000 not in last.shown


def test_a_topic_goes_back_to_the_turn_that_opened_it() -> None:
    old = Turn("a", "a", Form.SPECIFIC, Kind.STANDALONE, shown=("1",), excluded=("x",), opens=True)
    new = Turn("b", "b", Form.SPECIFIC, Kind.STANDALONE, shown=("2",), opens=True)
    more = Turn("c", "c", Form.SPECIFIC, Kind.MORE, shown=("3", "2"))
    state = ConversationState((old, new, more))
    assert state.topic == (new, more)
    assert (state.shown, state.excluded) == (("2", "3"), ())


def test_questions_alone_make_a_state_of_one_topic() -> None:
    state = turns_of(["Who?", "And when?"])
    assert [turn.question for turn in state.topic] == ["Who?", "And when?"]
    assert turns_of([]) == ConversationState()


GOOD = json.loads(turns_of(["Who?"]).to_json())


@pytest.mark.parametrize(
    "hostile",
    ["", "null", "[]", "7", '{"turns": 3}', '{"turns": [{}]}', '{"turns": [], "admin": true}', '{"turns": [[]]}',
     json.dumps({"turns": GOOD["turns"] * 5000}), json.dumps({"turns": [{**GOOD["turns"][0], "kind": "boss"}]}),
     json.dumps({"turns": [{**GOOD["turns"][0], "question": "q" * 30_000}]}),
     json.dumps({"turns": [{**GOOD["turns"][0], "focus": [{"iri": 7}]}]}),
     '{"turns":' + "[" * 100_000, "x" * 5_000_000, b"\xff\xfe", '{"turns": ["\\ud800"]}', "NaN"],
)  # fmt: skip
def test_hostile_json_is_a_question_error(hostile: str | bytes) -> None:
    with pytest.raises(QuestionError, match="stored conversation"):
        ConversationState.from_json(hostile)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        ConversationState.from_json(text)
    except QuestionError as error:
        assert error.remedy
