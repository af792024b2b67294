"""A plan as a model writes it: dates in place of days, an earlier set by its name, a schema that strict servers take."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config import load_method
from crmrag_query.dates import day_number, parse_date
from crmrag_query.errors import QuestionError
from crmrag_query.plans.records import Among, Compute, Dated, Member, Plan, Related, Target, Way
from crmrag_query.reading.plan_json import for_model, from_model, read_json, reply_schema

MADE = Way(relations=("created_by",))
WHOLE = Plan(
    target=Target(types=("http://e/icon",)),
    where=(
        Related(way=MADE),
        Dated(begin=day_number(1850), end=day_number(1899, 12, 31), certain=False),
        Member(plan=Plan(where=(Dated(end=day_number(-43, 3, 15)),)), negated=True),
    ),
    compute=Compute(kind="count"),
)


def dated(**keys: object) -> Dated:
    (found,) = from_model({"where": [{"kind": "dated", **keys}]}).where
    assert isinstance(found, Dated)
    return found


def test_days_are_told_as_dates_and_read_back() -> None:
    told = for_model(WHOLE)
    assert told["where"][1] == {"kind": "dated", "begin": "1850-01-01", "end": "1899-12-31", "certain": False}
    assert told["where"][2]["plan"]["where"][0]["end"] == "-0044-03-15"
    assert from_model(told) == WHOLE


@given(st.integers(day_number(-9998), day_number(9999, 12, 31)))
def test_every_day_comes_back(day: int) -> None:
    plan = Plan(where=(Dated(begin=day, end=day),))
    assert from_model(json.loads(json.dumps(for_model(plan)))) == plan


@pytest.mark.parametrize("told", ["1850", 1850, "1850s", "19th century", "-0044", -44, "1850-06", "ca. 1850"])
def test_begin_and_end_are_the_first_and_the_last_day_of_what_is_said(told: str | int) -> None:
    interval = parse_date({1850: "1850", -44: "-0044"}.get(told, told) if isinstance(told, int) else told)
    assert interval is not None
    assert (dated(begin=told, end=told).begin, dated(begin=told, end=told).end) == (
        interval.begin,
        interval.end,
    )


def test_a_day_number_is_left_as_it_is() -> None:
    assert dated(begin=675_334).begin == 675_334


@pytest.mark.parametrize("told", ["soon", "", "before 1850", True, 1.5, [], {"year": 1850}, "1850-13-40"])
def test_what_is_no_date_is_a_mistake_that_says_how_to_write_one(told: object) -> None:
    with pytest.raises(ValueError, match="1850-06-30"):
        dated(begin=told)


def test_null_is_what_is_left_out() -> None:
    told = {
        "target": None,
        "where": [{"kind": "dated", "way": None, "begin": "1850", "end": None, "negated": None}],
    }
    assert from_model(told) == Plan(where=(Dated(begin=day_number(1850)),))


def test_earlier_is_the_set_that_was_spoken_of() -> None:
    before = Plan(where=(Among(iris=("http://e/a",)),))
    told = {"where": [{"kind": "member", "plan": "earlier"}]}
    assert from_model(told, before) == Plan(where=(Member(plan=before),))
    with pytest.raises(ValueError, match='no "earlier"'):
        from_model(told)


@pytest.mark.parametrize(
    "told",
    [{"where": [{"kind": "spell"}]}, {"wher": []}, {"where": {"kind": "ask"}}, {"compute": {"kind": "rank"}}],
)
def test_what_is_no_plan_is_refused(told: dict[str, Any]) -> None:
    with pytest.raises(QuestionError, match="plan"):
        from_model(told)


def test_nesting_without_end_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(200):
        deep = {"where": [{"kind": "member", "plan": deep}]}
    with pytest.raises(ValueError, match="deep"):
        from_model(deep)


LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=8)
KEYS = st.sampled_from(["kind", "plan", "where", "way", "begin", "dated", "to"]) | st.text(max_size=5)
ANY = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4)
)


@given(ANY)
def test_any_json_is_a_plan_or_a_mistake(told: Any) -> None:
    with suppress(ValueError, QuestionError):
        from_model(told if isinstance(told, dict) else {"where": told})


@given(st.text(max_size=200))
def test_any_text_is_json_or_a_mistake(text: str) -> None:
    with suppress(ValueError):
        read_json(text)


@pytest.mark.parametrize(
    "text", ['{"a": 1}', 'Sure:\n```json\n{"a": 1}\n```\nThere.', 'It is {"a": 1}.', '```{"a": 1}```']
)
def test_json_in_a_fence_or_among_words_is_read(text: str) -> None:
    assert read_json(text) == {"a": 1}


def test_brackets_without_end_are_a_mistake() -> None:
    with pytest.raises(ValueError):
        read_json('{"a":' + "[" * 100_000 + "}")


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if schema.get("type") == "object":
            yield schema
        for value in schema.values():
            yield from objects(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from objects(value)


def test_the_schema_is_one_that_strict_servers_take() -> None:
    schema = reply_schema()
    text = json.dumps(schema)
    for keyword in (
        "oneOf",
        "default",
        "const",
        "pattern",
        "minLength",
        "prefixItems",
        "discriminator",
        "allOf",
    ):
        assert f'"{keyword}":' not in text
    for one in objects(schema):
        assert one["additionalProperties"] is False and set(one["required"]) == set(one["properties"])
    names = {one.split('"')[0] for one in text.split("#/$defs/")[1:]}
    assert names <= set(schema["$defs"])


def test_what_the_schema_allows_is_read_as_a_plan() -> None:
    """Hand-made to the letter of the schema: every key there, null or empty where nothing is said."""
    way = {
        "relations": ["created_by"],
        "relationships": [],
        "paths": [],
        "inverse": False,
        "direct": False,
        "types": [],
        "then": None,
    }
    anchor = {"iris": ["http://e/a"], "types": [], "plan": None}
    defs = reply_schema()["$defs"]
    assert set(way) == set(defs["Way"]["properties"]) and set(anchor) == set(defs["Anchor"]["properties"])
    related = {"kind": "related", "way": way, "to": anchor, "negated": False}
    shown = defs["Compute"]["properties"]
    compute: dict[str, Any] = {
        name: [] if value.get("type") == "array" else None for name, value in shown.items()
    }
    told = {
        "target": {"categories": ["Thing"], "classes": [], "types": []},
        "where": [related],
        "compute": compute | {"kind": "count"},
    }
    assert set(told) == set(defs["Plan"]["properties"]) and set(related) == set(defs["Related"]["properties"])
    assert from_model(told) == Plan(
        target=Target(categories=("Thing",)),
        where=(Related(way=MADE, to={"iris": ("http://e/a",)}),),  # type: ignore[arg-type]
        compute=Compute(kind="count"),
    )


def test_the_prompts_examples_are_plans_of_relations_that_ship() -> None:
    method = load_method()
    lines = [line for line in method.prompts.plan.splitlines() if line.startswith("Reply: ")]
    assert 5 <= len(lines) <= 8
    for line in lines:
        told = json.loads(line.removeprefix("Reply: "))
        assert set(told) == {"plan", "unmapped", "cannot"}
        if told["plan"] is None:
            assert told["unmapped"] and told["cannot"]
            continue
        plan = from_model(told["plan"], earlier=Plan())
        assert from_model(for_model(plan)) == plan
        for id in relations_of(told["plan"]):
            assert id in method.relations


def relations_of(told: Any) -> Iterator[str]:
    if isinstance(told, dict):
        yield from told.get("relations", ())
        for value in told.values():
            yield from relations_of(value)
    elif isinstance(told, list):
        for value in told:
            yield from relations_of(value)
