"""What is no plan, or too much of one, is refused; what the data does not have matches nothing."""

from __future__ import annotations

from typing import Any

import pytest

from crmrag_query.errors import QuestionError, TookTooLong
from crmrag_query.plans import execute as executing
from crmrag_query.plans import execute as tables
from crmrag_query.plans import sparql as sparql_terms
from crmrag_query.plans import world
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import MOST_CONDITIONS, MOST_VALUES, Either, Plan, Texted, read_plan
from crmrag_query.plans.sparql import to_sparql
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


NAMED: dict[str, Any] = {"kind": "texted", "texts": ["anna"]}


def either(*of: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "either", "of": list(of)}


@pytest.mark.parametrize(
    "plan",
    [
        {"where": [NAMED] * (MOST_CONDITIONS + 1)},
        {"where": [either(*[NAMED] * MOST_CONDITIONS)]},
        {"where": [either(*[either(NAMED, NAMED)] * 22)]},
        {"where": [{**either(*[NAMED] * 32), "negated": True}] * 2},
        {"where": [related(MADE_BY, plan={"where": [NAMED] * 32})] * 2},
        {"where": [{"kind": "member", "plan": {"where": [NAMED] * MOST_CONDITIONS}}]},
        {"compute": {"kind": "compare", "others": [{"where": [NAMED] * 32}] * 2}},
        {"compute": {"kind": "compare", "others": [{}] * (MOST_CONDITIONS + 1)}},
        {"compute": {"kind": "table", "columns": [{"way": MADE_BY}] * (MOST_CONDITIONS + 1)}},
        {"compute": {"kind": "pairs", "ways": [MADE_BY] * (MOST_CONDITIONS + 1)}},
    ],
)
def test_a_plan_has_only_so_many_conditions_in_all(plan: dict[str, Any]) -> None:
    with pytest.raises(QuestionError, match=f"conditions.*At most {MOST_CONDITIONS}"):
        read_plan(plan)


def test_a_way_is_led_on_only_so_often(museum: Sample) -> None:
    way: dict[str, Any] = dict(MADE_BY)
    for _ in range(MOST_CONDITIONS + 1):
        way = {**MADE_BY, "then": way}
    with pytest.raises(QuestionError, match="conditions"):
        read_plan({"where": [related(way)]})


def test_as_many_conditions_as_may_be_are_executed(museum: Sample) -> None:
    plan = read_plan({"where": [either(*[NAMED] * (MOST_CONDITIONS - 1))]})
    assert "anna" in names(museum, execute(plan, museum.world))


def test_a_plan_that_was_not_read_is_bounded_too(museum: Sample) -> None:
    """One that a language model wrote, or that was put together."""
    plan = Plan(where=(Either(of=(Texted(texts=("anna",)),) * MOST_CONDITIONS),))
    with pytest.raises(QuestionError, match=f"At most {MOST_CONDITIONS}"):
        execute(plan, museum.world)


@pytest.mark.parametrize(
    "constraint",
    [
        {"kind": "among", "iris": ["x"] * (MOST_VALUES + 1)},
        {"kind": "texted", "texts": ["x"] * (MOST_VALUES + 1)},
        related(MADE_BY, types=["x"] * (MOST_VALUES + 1)),
        either(*[{"kind": "among", "iris": ["x"] * (MOST_VALUES // 2 + 1)}] * 2),
    ],
)
def test_the_lists_of_a_plan_hold_only_so_much_in_all(constraint: dict[str, Any]) -> None:
    with pytest.raises(QuestionError, match=f"values.*{MOST_VALUES:,}"):
        read_plan({"where": [constraint]})


@pytest.mark.parametrize(
    "way", [{"paths": [["P14"] * 33]}, {"paths": [["P14"]] * 257}, {"relations": ["made_by"] * 257}]
)
def test_a_way_has_only_so_many_steps_and_alternatives(way: dict[str, Any]) -> None:
    with pytest.raises(QuestionError, match="at most"):
        read_plan({"where": [related(way)]})


def test_what_all_share_does_not_lead_each_to_each(museum: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a hundred thousand things of one type ten thousand million pairs."""
    shared = {"paths": [["P7", "^http://www.cidoc-crm.org/cidoc-crm/P7_took_place_at"]]}
    plan = read_plan({"compute": {"kind": "table", "columns": [{"way": shared}]}})
    assert len(execute(plan, museum.world).rows)
    monkeypatch.setattr(world, "MOST_PAIRS", 3)
    with pytest.raises(QuestionError, match="more than 3 pairs"):
        execute(plan, museum.world)


@pytest.mark.parametrize(("limit", "most"), [("MOST_ROWS", 2), ("MOST_CELLS", 10)])
def test_a_table_too_large_is_refused(
    limit: str, most: int, museum: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, limit, most)
    plan = read_plan({"target": OBJECTS, "compute": {"kind": "table", "columns": [{"way": MADE_BY}] * 3}})
    with pytest.raises(QuestionError, match=limit.removeprefix("MOST_").lower()):
        execute(plan, museum.world)


def test_a_plan_that_takes_too_long_is_ended(museum: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executing, "SECONDS", 0)
    with pytest.raises(TookTooLong, match=r"The plan took longer than 0 seconds\. Ask for less"):
        execute(read_plan({"where": [related(MADE_BY)]}), museum.world)


def test_a_query_that_would_be_too_long_is_not_written(
    museum: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = read_plan({"where": [NAMED]})
    assert "VALUES" in to_sparql(plan, museum.world)
    monkeypatch.setattr(sparql_terms, "MOST_CHARACTERS", 20)
    told = to_sparql(plan, museum.world)
    assert told.startswith("# Not written") and told.count("\n") == 1
