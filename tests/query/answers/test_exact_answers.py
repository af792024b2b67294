"""Answers that are whole sets: what they state, what they rest on, what is not sure, and how a conversation goes on."""

from __future__ import annotations

import re
from datetime import date

import pytest

from crmrag_query.answers import exact
from crmrag_query.answers.ask import Ask, ask, stream
from crmrag_query.answers.exact import shown_by
from crmrag_query.answers.records import Answer, Cited, Done, Evidence, Planned, SetFound, Source, Token
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import execute, members_of
from crmrag_query.plans.records import Anchor, Column, Compute, Measure, Plan, Related, Way, read_plan
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import ConversationState, Kind
from crmrag_query.sets.records import AnswerSet
from tests.support import small_world as village
from tests.support.set_world import BY_ADA, MADE, MATERIAL, PAINTING, PAINTINGS, SPAN, iri, naming
from tests.support.small_world import Talk, cited, sources

BY_HER = "Which paintings did Ada Berg make?"


def set_of(answer: Answer) -> AnswerSet:
    """The exact set that the answer is; fails for an answer that is none."""
    assert answer.set is not None and answer.exhaustive and answer.set.exhaustive and not answer.refused
    return answer.set


def members(answer: Answer) -> set[str]:
    return {member.iri for member in set_of(answer).members}


def names(*keys: str) -> set[str]:
    return {iri(key) for key in keys}


def led(source: Source) -> set[tuple[str, str]]:
    """The ends of the triples that a source rests on."""
    return {(triple.s, triple.o) for triple in source.triples}


def rows(answer: Answer) -> list[tuple[str, ...]]:
    value = set_of(answer).value
    assert isinstance(value, tuple)
    return [tuple(cell.label for cell in row) for row in value]


def test_a_list_is_the_whole_set_and_says_how_many(museum: Release) -> None:
    answer = ask(museum, BY_HER)
    assert members(answer) == {museum[Graph].iri(node) for node in members_of(museum[World], BY_ADA)}
    assert set_of(answer).size == 3 and re.search(r"\b3\b", answer.text)
    assert set(cited(answer)) == names("p1", "p2", "p3")


def test_each_member_is_cited_with_the_triples_that_put_it_there(museum: Release) -> None:
    for source in (source for source in ask(museum, BY_HER).sources if source.cited):
        making = f"{source.iri}-making"
        assert led(source) == {(source.iri, making), (making, iri("ada"))}
        assert all(triple.graphs == (iri("north"),) for triple in source.triples)


def test_a_set_larger_than_its_text_counts_them_all(museum: Release) -> None:
    answer = ask(museum, "Which paintings are made of oil?")
    assert members(answer) == {iri(key) for key, told in PAINTINGS.items() if told[3] == "oil"}
    answer = ask(naming(museum, 5), "List all paintings.")
    assert set_of(answer).size == 7 == len(members(answer))
    assert len(cited(answer)) == 5 and {one.n for one in answer.sources} >= set(range(1, 8))


def test_a_count_is_the_size_of_the_set_that_it_counts(museum: Release) -> None:
    answer = ask(museum, "How many paintings did Ada Berg make?")
    found = set_of(answer)
    assert (found.kind, found.value, found.size) == ("count", 3, 3) and re.search(r"\b3\b", answer.text)
    assert names("p1", "p2", "p3") <= sources(answer)
    assert all(source.triples for source in answer.sources if source.iri in names("p1", "p2", "p3"))


@pytest.mark.parametrize(("who", "holds"), [("Cy Holm", True), ("Bo Lind", False)])
def test_yes_or_no_is_what_the_data_says(museum: Release, who: str, holds: bool) -> None:
    answer = ask(museum, f"Did {who} paint Storm?")
    assert set_of(answer).kind == "ask" and set_of(answer).value is holds
    assert answer.text.startswith("Yes") is holds and "known to this data set" in answer.text


def test_a_ranking_is_ordered_and_tells_what_has_no_value(museum: Release) -> None:
    answer = ask(museum, "What are the three oldest paintings?")
    assert rows(answer) == [("Harbour 2", "1840"), ("Calm sea", "1850"), ("Harbour 10", "1860")]
    assert [one.count for one in set_of(answer).excluded] == [2] and re.search(
        r"\b2 are left out", answer.text
    )
    first = answer.sources[0]
    assert first.iri == iri("p1") and (iri("p1"), iri("p1-making")) in led(first) and len(first.triples) == 2


def test_groups_are_counted_and_their_members_show_why(museum: Release) -> None:
    answer = ask(museum, "How many paintings per material?")
    assert rows(answer) == [("oil", "5"), ("ivory", "2")]
    assert "oil" in answer.text and "(5)" in answer.text and "ivory" in answer.text
    storm = next(source for source in answer.sources if source.iri == iri("p6"))
    assert (iri("p6"), iri("oil")) in led(storm)


def test_a_table_has_a_row_for_each_and_its_sources_lead_to_the_cells(museum: Release) -> None:
    answer = ask(museum, "List each painting with its maker.")
    assert len(rows(answer)) == 7 and {"Harbour 2", "Ada Berg"} in [set(row) for row in rows(answer)]
    assert re.search(r"\b7\b", answer.text)
    first = next(source for source in answer.sources if source.iri == iri("p1"))
    assert led(first) == {(iri("p1"), iri("p1-making")), (iri("p1-making"), iri("ada"))}


def test_what_is_told_of_members_is_shown_by_ways_chained_as_the_columns_are() -> None:
    living = Way(paths=(("P74",),))
    table = Compute(kind="table", columns=(Column(way=MADE), Column(way=living, of=0), Column(way=MATERIAL)))
    told = shown_by(table)
    assert told is not None
    assert [one.way for one in told.where if isinstance(one, Related)] == [
        MADE, MADE.model_copy(update={"then": living}), MATERIAL,
    ]  # fmt: skip
    oil = Anchor(iris=(iri("oil"),))
    rank = Compute(kind="rank", measure=Measure(kind="count", way=MATERIAL, to=oil), first=1)
    assert shown_by(rank) == Plan(where=(Related(way=MATERIAL, to=oil),))
    group = Compute(kind="group", way=SPAN, by="year")
    assert shown_by(group) == Plan(where=(Related(way=SPAN),))
    assert shown_by(Compute()) is None


def test_a_period_takes_what_is_dated_in_it_and_tells_what_has_no_date(museum: Release) -> None:
    answer = ask(museum, "Which paintings were made before 1855?")
    assert members(answer) == names("p1", "p7")
    plan = read_plan(set_of(answer).plan)
    dated = next(one for one in plan.where if one.kind == "dated")
    assert dated.end == date(1854, 12, 31).toordinal()


def test_the_plan_of_an_answer_gives_its_set_again(museum: Release) -> None:
    for question in (BY_HER, "How many paintings per material?", "Did Cy Holm paint Storm?"):
        answer = ask(museum, question)
        outcome = execute(read_plan(set_of(answer).plan), museum[World])
        assert {museum[Graph].iri(node) for node in outcome.members} == members(answer)
        assert re.search(r"^(SELECT|ASK)\b", set_of(answer).sparql, re.MULTILINE)


def test_the_stream_tells_the_plan_and_the_set_before_a_word(museum: Release) -> None:
    planned, found, evidence, *words, last = stream(museum, BY_HER)
    assert isinstance(planned, Planned) and isinstance(found, SetFound) and isinstance(evidence, Evidence)
    assert isinstance(last, Done) and all(isinstance(word, Token | Cited) for word in words)
    assert planned.chips and planned.title in found.set.title
    assert found.set == last.answer.set and last.answer.timings["exact"] > 0


def test_an_exact_answer_states_no_number_but_the_sets_own(museum: Release) -> None:
    for question in (BY_HER, "How many paintings per material?", "What are the three oldest paintings?"):
        answer = ask(museum, question)
        own = {int(number) for number in set_of(answer).numbers if float(number).is_integer()}
        text = re.sub(r"\[\d+\]", "", answer.text)
        for name in sorted({told[0] for told in PAINTINGS.values()}, key=len, reverse=True):
            text = text.replace(name, "")
        years = {int(told[2]) for told in PAINTINGS.values() if told[2]}
        asked = {3}  # "the first 3"
        assert {int(number) for number in re.findall(r"\d+", text)} <= own | years | asked


# what is not sure


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which frobnicated paintings did Ada Berg make?", "frobnicated"),
        ("Which paintings might Ada Berg have liked?", "liked"),
    ],
)
def test_a_question_with_a_word_that_is_not_understood_is_no_exact_set(
    museum: Release, question: str, word: str
) -> None:
    answer = ask(museum, question)
    assert not answer.exhaustive and word in answer.text
    assert answer.set is None or not answer.set.exhaustive


def test_what_is_not_understood_is_listed_with_the_set_that_leaves_it_out(small: Release) -> None:
    *_, done = stream(small, "Which churches frobnicate Kolva?")
    assert isinstance(done, Done)
    found = done.answer.set
    assert found is not None and found.unknown == ("frobnicate",) and not found.exhaustive
    assert not done.answer.exhaustive and "frobnicate" in done.answer.text


def test_a_question_for_a_description_is_answered_from_lines(museum: Release) -> None:
    for question in ("Tell me about Ada Berg.", "Tell me about Storm."):
        answer = ask(museum, question)
        assert not answer.exhaustive and not answer.refused and answer.set is None
        assert cited(answer) and answer.citations


@pytest.mark.parametrize("question", ["Where is it?", "Which of them are made of oil?"])
def test_a_pronoun_without_anything_before_it_gives_no_exact_set(museum: Release, question: str) -> None:
    assert not ask(museum, question).exhaustive


# conversations


def talked(release: Release, *questions: str) -> tuple[Talk, list[Answer]]:
    talk = Talk(release)
    return talk, [talk.ask(question) for question in questions]


def test_which_of_them_narrows_the_set_before_and_how_many_counts_it(museum: Release) -> None:
    _, (_, narrowed, counted) = talked(museum, BY_HER, "Which of them are made of oil?", "And how many?")
    assert members(narrowed) == names("p1", "p2")
    assert set_of(counted).value == 2 and re.search(r"\b2\b", counted.text)


def test_the_rest_is_what_narrowing_left_out(museum: Release) -> None:
    *_, rest = talked(museum, BY_HER, "Which of them are made of oil?", "And the rest?")[1]
    assert members(rest) == names("p3")


def test_sorted_by_date_the_set_is_the_same_in_another_order(museum: Release) -> None:
    _, (before, after) = talked(museum, "Which paintings are in Lund?", "Sort them by date")
    assert members(after) == members(before) == names("p1", "p2", "p7")
    assert [one.iri for one in set_of(after).members] == [iri("p1"), iri("p7"), iri("p2")]
    assert cited(after) == [iri("p1"), iri("p7"), iri("p2")]


@pytest.mark.parametrize(
    "pivot",
    ["Aside from Harbour 2?", "Besides Harbour 2, which paintings did Ada Berg make?", "Besides Harbour 2?"],
)
def test_aside_from_one_the_set_is_all_the_others(museum: Release, pivot: str) -> None:
    talk, (_, answer, counted) = talked(museum, BY_HER, pivot, "And how many?")
    assert talk.state.turns[1].kind is Kind.PIVOT
    assert members(answer) == names("p2", "p3") and iri("p1") not in sources(answer)
    assert set_of(counted).value == 2


def test_a_pivot_leaves_out_in_a_first_question_too(museum: Release) -> None:
    answer = ask(museum, "Which paintings did Ada Berg make besides Harbour 2?")
    assert members(answer) == names("p2", "p3")


def test_more_of_a_set_is_what_was_not_shown_until_nothing_is_left(museum: Release) -> None:
    talk, (first, more, none, counted) = talked(
        naming(museum, 5), "List all paintings.", "Are there any more?", "Any more?", "And how many?"
    )
    assert set_of(first).size == 7 and len(cited(first)) == 5
    assert members(more) == members(first) - set(cited(first)) == set(cited(more))
    assert none.refused and not cited(none) and not sources(none) & members(first)
    assert talk.state.turns[1].kind is Kind.MORE and set_of(counted).size > 0


def test_there_is_the_place_that_was_spoken_of(museum: Release) -> None:
    *_, answer = talked(museum, "Tell me about Lund.", "Which paintings hang there?")[1]
    assert answer.set is not None
    assert {one.iri for one in answer.set.members} == names("p1", "p2", "p7")


def test_more_of_what_somebody_made_is_not_that_person(small: Release) -> None:
    talk = Talk(small)
    talk.ask("Which murals did Leon Karas paint?")
    answer = talk.ask("What else did he paint?")
    shown = {village.iri(f"mural-{key}") for key in ("anna", "bruno", "egidio")}
    assert not shown & set(cited(answer))
    assert not (answer.exhaustive and cited(answer) == [village.iri("leon")])


def test_earlier_questions_alone_are_read_as_the_sets_that_they_asked_for(museum: Release) -> None:
    answer = ask(museum, "Which of them are made of oil?", state=[BY_HER])
    assert members(answer) == names("p1", "p2")


def test_a_conversation_over_sets_goes_on_the_same_when_it_is_stored(museum: Release) -> None:
    talk, _ = talked(museum, BY_HER, "Which of them are made of oil?")
    stored = Talk(museum, Ask(), ConversationState.from_json(talk.state.to_json()))
    assert stored.ask("And the rest?") == talk.ask("And the rest?")
    assert read_plan(talk.state.turns[0].plan).target == PAINTING


@pytest.mark.parametrize(
    ("limit", "said"), [("READING_SECONDS", "Reading the question"), ("SECONDS", "the plan's set")]
)
def test_what_takes_too_long_is_answered_from_the_documents_and_told(
    museum: Release, monkeypatch: pytest.MonkeyPatch, limit: str, said: str
) -> None:
    assert ask(museum, BY_HER).exhaustive
    monkeypatch.setattr(exact, limit, 0)
    answer = ask(museum, BY_HER)
    assert answer.set is None and not answer.exhaustive and answer.sources
    assert any(said in note and "took longer" in note for note in answer.notes)
