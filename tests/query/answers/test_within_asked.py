"""Asked within a part of the data, no source and no member is of another part, in any mode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from crmrag_query.answers.ask import Ask, prepare, stream
from crmrag_query.answers.records import Answer, answer_of
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Message
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Plan
from crmrag_query.plans.within import Scope, read_within
from crmrag_query.plans.world import World
from crmrag_query.retrieval.channels import find_mode
from tests.support.modes import WITHOUT_MODEL
from tests.support.set_world import BASE, NORTH, PAINTINGS

CHURCH = "https://example.org/troodos/type/church"
ASINOU = "https://example.org/troodos/church/asinou"
BEFORE_1200 = "Which churches were built before 1200?"
QUESTIONS = (
    BEFORE_1200,
    "Who painted the murals of Asinou?",
    "What is Asinou?",
    "What is this collection about?",
)
PARTS = ({"categories": ["Actor"]}, {"types": [CHURCH]}, {"iris": [ASINOU]})


@dataclass
class Told:
    """A model that keeps what it is told."""

    name: str = "told"
    messages: list[str] = field(default_factory=list)

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        self.messages += [str(message) for message in messages]
        yield "It is so [1]."


def plan_of(given: dict[str, list[str]]) -> Plan:
    plan = read_within(given)
    assert plan is not None
    return plan


def asked(
    release: Release, question: str, mode: str, within: Plan | None, model: Told | None = None
) -> Answer:
    return answer_of(stream(release, question, Ask(model, mode=find_mode(release, mode), within=within)))


@pytest.mark.parametrize(
    ("given", "mode"),
    [pytest.param(part, mode, marks=[pytest.mark.slow] * (at != number % len(PARTS)))
     for at, part in enumerate(PARTS) for number, mode in enumerate(WITHOUT_MODEL)],
)  # fmt: skip
def test_every_source_is_of_the_part_or_told_in_its_documents(
    sample: Release, mode: str, given: dict[str, list[str]]
) -> None:
    within = plan_of(given)
    inside = Scope.of(sample, within).documents
    told = (node for one in np.flatnonzero(inside).tolist() for node in sample[Documents].told_in(one))
    iris = {sample[Graph].iri(node) for node in told}
    part = {sample[Graph].iri(int(node)) for node in members_of(sample[World], within)}
    for question in QUESTIONS:
        found = prepare(sample, question, mode=find_mode(sample, mode), within=within)
        assert all(inside[one] for one in found.retrieved.ranking)
        answer = asked(sample, question, mode, within)
        members = {member.iri for member in answer.set.members} if answer.set else set()
        assert {source.iri for source in answer.sources} <= iris | members
        assert members <= part


def test_a_set_is_what_the_question_and_the_part_have_in_common(sample: Release) -> None:
    whole = asked(sample, BEFORE_1200, "crm", None).set
    assert whole is not None and whole.size > 1
    one = whole.members[0].iri
    part = asked(sample, BEFORE_1200, "crm", plan_of({"iris": [one, "urn:none"]}))
    assert part.exhaustive and part.set is not None
    assert (part.set.size, [member.iri for member in part.set.members]) == (1, [one])
    none = asked(sample, BEFORE_1200, "crm", plan_of({"categories": ["Actor"]}))
    assert none.set is not None and none.set.size == 0


@pytest.mark.parametrize("mode", ["crm", "vector", "graph_vector_fulltext", "global_vector"])
def test_a_part_of_nothing_gives_nothing_and_asks_no_model(sample: Release, mode: str) -> None:
    model = Told()
    answer = asked(
        sample, "The donor with a model of his church", mode, plan_of({"iris": ["urn:none"]}), model
    )
    assert (answer.sources, answer.refused) == ((), True)
    assert model.messages == []


def test_a_model_is_told_nothing_of_other_parts(sample: Release) -> None:
    model = Told()
    asked(
        sample,
        "Who painted the murals of Asinou?",
        "graph_vector_fulltext",
        plan_of({"iris": [ASINOU]}),
        model,
    )
    context = prepare(
        sample, "Who painted the murals of Asinou?", mode=find_mode(sample, "graph_vector_fulltext"),
        within=plan_of({"iris": [ASINOU]}),
    ).context  # fmt: skip
    node = sample[Graph].node(ASINOU)
    assert {source.entity for source in context.sources} == {node} and context.counts == ()
    assert model.messages


@pytest.mark.parametrize(
    "mode", [mode for mode in WITHOUT_MODEL if mode != "walker"]
)  # it has no token vectors
def test_a_named_graph_is_asked_alone(museum: Release, mode: str) -> None:
    north = {f"{BASE}{key}" for key, painting in PAINTINGS.items() if painting[5] == "north"}
    south = {f"{BASE}{key}" for key, painting in PAINTINGS.items() if painting[5] == "south"}
    answer = asked(museum, "Which paintings are of oil?", mode, plan_of({"graphs": [NORTH]}))
    shown = {source.iri for source in answer.sources} | {
        one.iri for one in (answer.set.members if answer.set else ())
    }
    assert not shown & south
    if mode == "crm":
        assert answer.set is not None
        assert {one.iri for one in answer.set.members} == north - {f"{BASE}p3"}  # which is of ivory
