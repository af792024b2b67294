"""Choices of a part: just those with which something is left, with the counts that choosing them gives."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import Dated, Plan, Related, Way
from crmrag_query.plans.world import World
from crmrag_query.sets.describe import changed
from crmrag_query.sets.facets import choices
from crmrag_query.sets.records import Change, Choices, What
from tests.support.set_world import ALL, BEFORE_1855, BY_ADA, PAINTING, SPAN, iri

LOCATED = Plan(target=PAINTING, where=(Related(way=Way(relationships=("thing_place_c_located_in",))),))


def labels(found: Choices) -> dict[str, int | None]:
    return {one.label: one.count for one in found.choices}


def test_entities_are_those_that_the_way_leads_to(museum: Release) -> None:
    found = choices(museum, BY_ADA, "where.0", "entities")
    assert labels(found) == {"Ada Berg": 3, "Bo Lind": 2, "Cy Holm": 1, "Cy Holm (painter)": 1}
    assert (found.total, found.size) == (4, 7)
    assert {one.kind for one in found.choices} == {"Actor"}
    assert labels(choices(museum, BY_ADA, "where.0", "entities", text="HOLM")) == {
        "Cy Holm": 1,
        "Cy Holm (painter)": 1,
    }


def test_only_members_of_the_other_parts_count(museum: Release) -> None:
    both = Plan(target=PAINTING, where=(*BY_ADA.where, *BEFORE_1855.where))
    assert labels(choices(museum, both, "where.0", "entities")) == {"Ada Berg": 1, "Cy Holm (painter)": 1}


@pytest.mark.parametrize(
    "plan, path, what",
    [
        (BY_ADA, "where.0", "entities"),
        (LOCATED, "where.0", "entities"),
        (BY_ADA, "target.types", "kinds"),
        (ALL, "target.types", "kinds"),
        (BY_ADA, "where.0", "relation"),
        (ALL, "where", "relation"),
    ],
)
def test_each_choice_gives_as_many_members_as_it_says(
    museum: Release, plan: Plan, path: str, what: What
) -> None:
    found = choices(museum, plan, path, what, limit=200)
    assert found.choices and found.total == len(found.choices)
    for one in found.choices:
        value = one.value if what == "relation" else (one.value,)
        edited, _ = changed(museum, plan, Change(path, **{what: value}))  # type: ignore[arg-type]
        if what == "relation" and one.kind == "Time":
            continue  # a date that is known only in part dates nothing for certain
        assert len(members_of(museum[World], edited)) == one.count, one


def test_relations_of_a_date_lead_to_dates(museum: Release) -> None:
    found = choices(museum, BEFORE_1855, "where.0", "relation")
    assert {one.kind for one in found.choices} == {"Time"}
    assert "thing_time_a_created" in [one.value for one in found.choices]


def test_they_are_told_in_the_language_that_is_asked_for(museum: Release) -> None:
    german = choices(museum, BY_ADA, "where.0", "relation", language="de", text="geschaffen")
    assert "geschaffen von" in labels(german)
    assert "Gemälde" in labels(choices(museum, ALL, "target.types", "kinds", language="de"))


def test_the_most_frequent_come_first_and_the_rest_is_counted(museum: Release) -> None:
    found = choices(museum, BY_ADA, "where.0", "entities", limit=1)
    assert [one.value for one in found.choices] == [iri("ada")] and found.total == 4


@pytest.mark.parametrize(
    "path, what, limit, told",
    [
        ("where.3", "entities", 5, "no part"),
        ("where.0", "entities", 0, "cannot be 0 choices"),
        ("where.0", "entities", 100_000, "cannot be 100000 choices"),
        ("target.types", "entities", 5, "leads to no entities"),
    ],
)
def test_what_has_no_choices_is_refused(
    museum: Release, path: str, what: What, limit: int, told: str
) -> None:
    with pytest.raises(QuestionError, match=told):
        choices(museum, BY_ADA, path, what, limit=limit)
    with pytest.raises(QuestionError, match="leads to no entities"):
        choices(museum, Plan(where=(Dated(way=SPAN),)), "where.0", "entities")
