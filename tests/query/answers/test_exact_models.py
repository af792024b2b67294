"""Exact answers with a language model: its plan counts, its numbers must be the set's, and its failures cost nothing."""

from __future__ import annotations

import importlib.util
import json

import pytest

from crmrag_query.answers.ask import Ask, ask, stream
from crmrag_query.answers.records import Answer, Done, Planned, Restart, SetFound, Token
from crmrag_query.artifacts.release import Release
from crmrag_query.llm.model import LiteLLM
from crmrag_query.plans.records import Anchor, Plan, Related, read_plan
from tests.support.model_server import Script, model_server
from tests.support.plan_server import MODEL, plan_server, reply_with
from tests.support.set_world import BY_ADA, MADE, PAINTING, iri
from tests.support.small_world import Talk, sources

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed"),
    pytest.mark.filterwarnings("ignore"),  # litellm's own, which come with its first stream
]

BY_HER = "Which paintings did Ada Berg make?"
STRANGE = "Whatever came from that lady of the harbours?"
ANALYSIS = json.dumps({"query_type": "enumeration", "target_categories": ["Thing"], "context_categories": []})
PLAN = reply_with(BY_ADA)


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def members(answer: Answer) -> set[str]:
    assert answer.set is not None
    return {member.iri for member in answer.set.members}


def by(server: Script) -> LiteLLM:
    return LiteLLM(MODEL, server.address)


def test_a_models_plan_is_the_answer_where_ours_is_not_sure(museum: Release) -> None:
    assert not ask(museum, STRANGE).exhaustive
    with plan_server({STRANGE: BY_ADA}) as planner:
        answer = ask(museum, STRANGE, LiteLLM(MODEL, planner.address))
    assert answer.exhaustive and answer.written_by == MODEL and answer.set is not None
    assert members(answer) == {iri("p1"), iri("p2"), iri("p3")} <= sources(answer)
    assert read_plan(answer.set.plan) == BY_ADA


def test_a_models_plan_of_which_nothing_is_the_honest_set_is_the_answer(museum: Release) -> None:
    both = Plan(target=PAINTING, where=(*BY_ADA.where, Related(way=MADE, to=Anchor(iris=(iri("bo"),)))))
    with plan_server({STRANGE: both}) as planner:
        answer = ask(museum, STRANGE, LiteLLM(MODEL, planner.address))
        asked_for_plans = [one for one in planner.requests if "relations" in one["messages"][1]["content"]]
    assert answer.exhaustive and answer.set is not None and answer.set.size == 0
    assert read_plan(answer.set.plan) == both and len(asked_for_plans) == 1


def test_a_models_plan_that_is_none_leaves_ours(museum: Release) -> None:
    with plan_server({}) as planner:
        answer = ask(museum, BY_HER, LiteLLM(MODEL, planner.address))
    assert answer.exhaustive and members(answer) == {iri("p1"), iri("p2"), iri("p3")}


def test_the_reader_is_told_where_the_model_gave_no_plan(museum: Release) -> None:
    """Be it that it fails, that what it writes is none, or that it says that it cannot; not where our own reading is sure."""
    for question in (BY_HER, STRANGE):
        with model_server(ANALYSIS, "No plan today.", "Nor now.", "Three paintings [1].") as server:
            answer = ask(museum, question, by(server))
        assert [note for note in answer.notes if "gave no valid plan, twice" in note], question
        assert "plan" in {one.kind for one in answer.remarks}
    with plan_server({}) as planner:
        model = LiteLLM(MODEL, planner.address)
        told = {question: ask(museum, question, model).notes for question in (BY_HER, STRANGE)}
    assert "This question is not in the script." in "".join(told[STRANGE])
    assert "not in the script" not in "".join(told[BY_HER])


def test_what_the_model_reads_holds_the_set_and_its_size(museum: Release) -> None:
    with model_server(ANALYSIS, PLAN, "There are 3: Harbour 2 [1] and others.") as server:
        answer = ask(museum, BY_HER, by(server))
        prompt = server.requests[-1]["messages"][1]["content"]
    block = prompt.partition("<set")[2].partition("</set>")[0]
    assert "3" in block and "Harbour 10" in block and prompt.endswith(f"Question: {BY_HER}")
    assert answer.written_by == MODEL and answer.text.startswith("There are 3")
    assert members(answer) <= sources(answer)


def test_an_unsure_set_is_not_shown_to_the_model_as_one(museum: Release) -> None:
    cannot = reply_with(None, cannot="It is not in the catalogue.")
    with model_server(ANALYSIS, cannot, "Nothing is stated about that.") as server:
        answer = ask(museum, STRANGE, by(server))
        prompt = server.requests[-1]["messages"][1]["content"]
    assert "<set" not in prompt and not answer.exhaustive


@pytest.mark.parametrize(
    "said",
    ["There are 57 paintings by Ada Berg [1].", "Ada Berg made twelve paintings.", "No paintings are known."],
)
def test_another_number_than_the_sets_is_replaced_by_the_sets_own_sentence(
    museum: Release, said: str
) -> None:
    with model_server(ANALYSIS, PLAN, said) as server:
        events = list(stream(museum, BY_HER, Ask(by(server))))
    done = events[-1]
    assert isinstance(done, Done)
    [restart] = [event for event in events if isinstance(event, Restart)]
    after = events[events.index(restart) + 1 :]
    assert "".join(event.text for event in after if isinstance(event, Token)) == done.answer.text
    assert said not in done.answer.text and "3 known to this data set" in done.answer.text
    assert done.answer.written_by == MODEL and done.answer.exhaustive
    assert any("another number" in note for note in done.answer.notes)
    assert "number" in {one.kind for one in done.answer.remarks}
    assert members(done.answer) <= sources(done.answer)


def test_a_wrong_number_costs_its_own_sentence_only(museum: Release) -> None:
    said = "There are 57 paintings by Ada Berg. Harbour 2 is one of them [1]."
    with model_server(ANALYSIS, PLAN, said) as server:
        answer = ask(museum, BY_HER, by(server))
    assert "57" not in answer.text and "3 known" in answer.text and "Harbour 2 is one of them" in answer.text
    assert answer.written_by == MODEL


@pytest.mark.parametrize("said", [
    "Ada Berg made 3 paintings, of which I list 2: Harbour 2 [1] and Harbour 10 [2].",
    "The museum has 3 paintings by Ada Berg. Harbour 2 and Harbour 10 are two of them.",
])  # fmt: skip
def test_what_is_true_of_the_set_is_neither_cut_nor_doubted(museum: Release, said: str) -> None:
    with model_server(ANALYSIS, PLAN, said) as server:
        answer = ask(museum, BY_HER, by(server))
    assert answer.text == said and answer.written_by == MODEL and not answer.unsupported


def test_members_are_cited_by_their_numbers_and_the_set_as_one(museum: Release) -> None:
    said = "There are 3 paintings [set]. One is Harbour 10, of 1860 [2], another Harbour 2 [1, set]."
    with model_server(ANALYSIS, PLAN, said) as server:
        answer = ask(museum, BY_HER, by(server))
        prompt = server.requests[-1]["messages"][1]["content"]
    assert "[1] Harbour 2 — 1840" in prompt and "[2] Harbour 10 — 1860" in prompt and "<counts>" not in prompt
    assert (
        answer.text
        == "There are 3 paintings [set]. One is Harbour 10, of 1860 [1], another Harbour 2 [set][2]."
    )
    first, second = answer.sources[:2]
    assert (first.iri, second.iri) == (iri("p2"), iri("p1")) and not answer.unsupported
    assert any(triple.o == iri("ada") for triple in first.triples), "why it is in the set"


def test_a_citation_of_a_set_that_there_is_none_of_is_dropped(museum: Release) -> None:
    cannot = reply_with(None, cannot="No plan.")
    with model_server(ANALYSIS, cannot, "It is stated [set].") as server:
        answer = ask(museum, "Whatever is that thing of yours?", by(server))
    assert "[set]" not in answer.text and any("led to no source" in note for note in answer.notes)


def test_more_than_the_set_that_sources_show_is_no_other_size_of_it(museum: Release) -> None:
    said = "The set has 3 paintings by Ada Berg; I list 4:\n- Harbour 2\n- Harbour 10\n- =SUM(A1:A9)\n- Storm, by Cy Holm"
    with model_server(ANALYSIS, PLAN, said) as server:
        answer = ask(museum, BY_HER, by(server))
    assert answer.text == said and not any("another number" in note for note in answer.notes)


def test_the_set_of_what_a_model_could_map_is_told_with_what_does_not_restrict_it(museum: Release) -> None:
    part = reply_with(BY_ADA, unmapped=("harbours",))
    said = "3 paintings are by Ada Berg; the set is not restricted by “harbours” [set]."
    with model_server(ANALYSIS, part, said) as server:
        answer = ask(museum, STRANGE, by(server))
        prompt = server.requests[-1]["messages"][1]["content"]
    assert "not restricted by “harbours”" in prompt.partition("</set>")[0]
    assert not answer.exhaustive and members(answer) == {iri("p1"), iri("p2"), iri("p3")}
    assert answer.set is not None and answer.set.unknown == ("harbours",)
    assert answer.text == said and not answer.unsupported


@pytest.mark.parametrize("fault", ["status", "cut", "refusal", "empty"])
def test_a_model_that_fails_leaves_our_own_set(museum: Release, fault: str) -> None:
    own = ask(museum, BY_HER)
    server = model_server("It is", status=500) if fault == "status" else model_server("It is", fault=fault)  # type: ignore[arg-type]
    with server as script:
        events = list(stream(museum, BY_HER, Ask(by(script))))
    done = events[-1]
    assert isinstance(done, Done) and isinstance(events[0], Planned) and isinstance(events[1], SetFound)
    assert done.answer.exhaustive and done.answer.text == own.text and done.answer.set == own.set
    assert done.answer.notes and done.answer.written_by == "extractive"


def test_a_follow_up_goes_on_from_the_set_of_a_models_plan(museum: Release) -> None:
    with plan_server({STRANGE: BY_ADA}) as planner:
        talk = Talk(museum, Ask(LiteLLM(MODEL, planner.address)))
        talk.ask(STRANGE)
    answer = Talk(museum, state=talk.state).ask("Which of them are made of oil?")
    assert answer.exhaustive and members(answer) == {iri("p1"), iri("p2")}
