"""Whatever a model replies, a question ends with a plan that holds, or with none and a note; never with an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_query.artifacts.release import Release
from crmrag_query.llm.model import CannedModel
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import (
    Anchor,
    Column,
    Compute,
    Dated,
    Either,
    Measure,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Way,
)
from crmrag_query.plans.world import World
from crmrag_query.reading.plan_json import for_model
from crmrag_query.reading.with_model import plan_with_model
from tests.support.small_world import iri, small_release

QUESTION = "Which churches are in Kolva?"
PLACED = Way(paths=(("P55",),))
CHURCHES = Plan(
    target=Target(types=(iri("church"),)), where=(Related(way=PLACED, to=Anchor(iris=(iri("kolva"),))),)
)
MAKERS = Target(categories=("Actor",))
OBJECTS = Target(classes=("E22",))
WORKS = Measure(kind="count", way=Way(relations=("created_by",), inverse=True))
AROUND = Column(way=Way(paths=(("P89", "P89*"),)), of=0)
EITHER = Either(of=(Dated(begin=400_000), Texted(texts=("anna",))))
PLANS = (
    CHURCHES,
    Plan(target=MAKERS, compute=Compute(kind="rank", measure=WORKS, first=2)),
    Plan(where=(Member(plan=CHURCHES), EITHER), compute=Compute(kind="ask")),
    Plan(target=OBJECTS, compute=Compute(kind="table", columns=(Column(way=PLACED), AROUND))),
    Plan(target=OBJECTS, compute=Compute(kind="pairs", ways=(PLACED,))),
    Plan(target=OBJECTS, compute=Compute(kind="group", way=PLACED, at_least=2)),
    Plan(target=OBJECTS, compute=Compute(kind="compare", others=(CHURCHES,))),
)
TEXTS = (
    "",
    "earlier",
    "P55",
    "E22",
    "created_by",
    iri("kolva"),
    "count",
    "table",
    "ask",
    "1850",
    "\ud800",
    "x" * 5000,
)
LEAF = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(TEXTS)
PART = LEAF | st.lists(LEAF, max_size=2) | st.sampled_from([for_model(plan) for plan in PLANS])


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return small_release(tmp_path_factory)


def places(told: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place within a value."""
    inner = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


def changed(told: Any, place: tuple[str | int, ...], part: Any) -> Any:
    if not place:
        return part
    copy: Any = told.copy()
    copy[place[0]] = changed(told[place[0]], place[1:], part)
    return copy


@st.composite
def replies(draw: st.DrawFn) -> str:
    """A plan with one or two parts of it changed for something else, and sometimes cut off."""
    told: Any = {"plan": for_model(draw(st.sampled_from(PLANS))), "unmapped": [], "cannot": ""}
    for _ in range(draw(st.integers(0, 2))):
        told = changed(told, draw(st.sampled_from(places(told))), draw(PART))
    text = json.dumps(told)
    return text[: draw(st.integers(0, len(text)))] if draw(st.integers(0, 5)) == 0 else text


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(reply=replies())
def test_any_reply_ends_in_a_plan_that_holds_or_in_a_note(small: Release, reply: str) -> None:
    found = plan_with_model(small, QUESTION, CannedModel(reply))
    assert found.rounds <= 2
    if found.plan is None:
        assert found.notes and not found.usable
        return
    assert found.outcome is not None
    assert found.outcome.size == execute(found.plan, small[World]).size
    assert found.empty == bool(found.notes)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reply=st.text(max_size=60), question=st.text(max_size=60))
def test_any_text_ends_in_a_note(small: Release, reply: str, question: str) -> None:
    assert plan_with_model(small, question, CannedModel(reply)).notes
