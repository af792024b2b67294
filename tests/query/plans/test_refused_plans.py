"""What is no plan, or too much of one, is refused; what the data does not have matches nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import read_plan
from tests.support.plan_museum import MADE_BY, OBJECTS, names, related, run
from tests.support.planworlds import Sample, check


@pytest.mark.parametrize(
    "plan",
    [
        {"where": [related({"relationships": ["thing_actor_nothing"]})]},
        {"where": [related({"paths": [["P9999"]]})]},
        {"where": [related({"paths": [["http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]]})]},
        {"target": {"classes": ["E9999"]}},
        {"where": [{"kind": "texted", "texts": ["\u0301"]}]},
    ],
)
def test_what_nothing_knows_is_named(museum: Sample, plan: dict[str, Any]) -> None:
    with pytest.raises(QuestionError):
        execute(read_plan(plan), museum.world)


@pytest.mark.parametrize(
    "constraint",
    [
        related({"paths": [["http://example.org/unknown"]]}),
        related(MADE_BY, "unknown"),
        related(MADE_BY, "anna> } DROP ALL #"),
        related(MADE_BY, types=["http://example.org/unknown\\u003E"]),
        {"kind": "among", "iris": []},
        {"kind": "among", "iris": ["\n", "> ?x"]},
    ],
)
def test_what_the_data_does_not_have_matches_nothing(museum: Sample, constraint: dict[str, Any]) -> None:
    plan = {"target": OBJECTS, "where": [constraint]}
    check(museum, read_plan(plan))
    assert len(execute(read_plan(plan), museum.world).members) == 0


def test_ten_thousand_anchors(museum: Sample) -> None:
    many = [f"x{number}" for number in range(10_000)]
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, *many, "ben"))) == ["hill"]


def test_a_table_too_large_is_refused(museum: Sample) -> None:
    small = replace(museum.world, config=museum.world.config.model_copy(update={"most_rows": 2}), routes={})
    plan = read_plan({"target": OBJECTS, "compute": {"kind": "table", "columns": [{"way": MADE_BY}]}})
    with pytest.raises(QuestionError, match="rows"):
        execute(plan, small)


def test_plans_nested_too_deep_are_refused(museum: Sample) -> None:
    plan: dict[str, Any] = {}
    for _ in range(5):
        plan = {"where": [related(MADE_BY, plan=plan)]}
    with pytest.raises(QuestionError, match="within each other"):
        read_plan(plan)
    for _ in range(2000):
        plan = {"where": [related(MADE_BY, plan=plan)]}
    with pytest.raises(QuestionError):
        read_plan(plan)


NO_PLANS = (
    "",
    "[]",
    "{",
    '{"target": 3}',
    '{"unknown": 1}',
    '{"compute": {"kind": "rank"}}',
    '{"compute": {"kind": "pairs"}}',
    '{"compute": {"kind": "compare"}}',
    '{"compute": {"kind": "table", "columns": [{"way": {"paths": [["P2"]]}, "of": 0}]}}',
    '{"compute": {"kind": "group", "way": {"paths": [["P2"]]}, "distinct": false, "identity": "same_as"}}',
    '{"where": [{"kind": "either", "of": []}]}',
    '{"where": [{"kind": "texted", "texts": []}]}',
    '{"where": [{"kind": "stated_in", "graphs": []}]}',
    '{"where": [{"kind": "related", "way": {"paths": [[]]}}]}',
    '{"where": [{"kind": "related", "way": {"paths": [["P1 P2"]]}}]}',
    '{"compute": {"kind": "rank", "measure": {"kind": "value", "way": {"paths": [["P2"]]}, "to": {"iris": ["urn:x"]}}}}',
    '{"where":[{"kind":"either","of":[' * 300,
    '{"where": [{"kind": "related", "way": {}}]}',
    '{"where": [{"kind": "among", "iris": ["\\ud800"]}]}',
    "[" * 100_000,
    '{"where":[{"kind":"related","to":{"plan":' * 5_000,
    " " * 1_000_001,
)


@pytest.mark.parametrize("text", NO_PLANS, ids=range(len(NO_PLANS)))
def test_json_that_is_no_plan_is_refused(text: str) -> None:
    with pytest.raises(QuestionError):
        read_plan(text)
