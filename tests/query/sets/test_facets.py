"""Facets: exact counts, each with the plan that gives just as many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Among, Measure, Plan, Target, read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets.facets import FIXED, facets
from crmrag_query.sets.records import Facet, Facets
from tests.support.builds import build_all, make_project
from tests.support.set_world import (
    ALL,
    BEFORE_1855,
    BY_ADA,
    MADE,
    MAKERS,
    PAINTINGS,
    PLACES,
    computed,
    iri,
    with_sets,
)

OWNED = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <http://example.org/> .
:north a crm:E74_Group ; rdfs:label "North Museum" . :south a crm:E74_Group ; rdfs:label "South Museum" .
:a a crm:E22_Human-Made_Object ; rdfs:label "A" ; crm:P52_has_current_owner :north .
:b a crm:E22_Human-Made_Object ; rdfs:label "B" ; crm:P52_has_current_owner :north .
:c a crm:E22_Human-Made_Object ; rdfs:label "C" ; crm:P49_has_former_or_current_keeper :south .
"""


def of(found: Facets, key: str) -> Facet:
    return next(facet for facet in found.facets if facet.key == key)


def counts(facet: Facet) -> dict[str, int]:
    return {value.label: value.count for value in facet.values}


def test_facets_count_what_the_data_says(museum: Release) -> None:
    found = facets(museum, ALL)
    assert found.size == 7 and found.complete
    assert counts(of(found, "type")) == {"painting": 7}
    makers = Counter(MAKERS[maker] for _, maker, *_ in PAINTINGS.values())
    assert counts(of(found, "maker")) == dict(makers)
    places = Counter(PLACES[place][0] for *_, place, _ in PAINTINGS.values() if place)
    assert counts(of(found, "place")) == dict(places)
    assert of(found, "place").members == 5 and of(found, "place").total == 2
    assert counts(of(found, "century")) == {"19th century": 3, "20th century": 2}
    materials = next(facet for facet in found.facets if facet.label == "is made of")
    assert counts(materials) == {"oil": 5, "ivory": 2}


def test_a_long_plan_stands_in_few_values_and_all_are_counted(museum: Release) -> None:
    """Each value has the plan that it narrows the set to."""
    long = Among(iris=(*(iri(key) for key in PAINTINGS), *(f"{iri('none')}{n:0100}" for n in range(5000))))
    plan = ALL.model_copy(update={"where": (long,)})
    found, short = facets(museum, plan), facets(museum, ALL)
    assert all(len(facet.values) == 1 for facet in found.facets)
    assert [(one.key, one.total, one.members) for one in found.facets] == [
        (one.key, one.total, one.members) for one in short.facets
    ]


@pytest.mark.parametrize(
    "plan",
    [
        ALL,
        BY_ADA,
        BEFORE_1855,
        Plan(),
        Plan(target=Target(categories=("Actor",))),
        Plan(target=Target(classes=("E22",))),
    ],
)
def test_each_value_narrows_to_as_many_as_it_says(museum: Release, plan: Plan) -> None:
    found = facets(museum, plan)
    assert found.size == len(execute(plan, museum[World]).members) and found.facets
    for facet in found.facets:
        assert [value.count for value in facet.values] == sorted(
            (v.count for v in facet.values), reverse=True
        )
        for value in facet.values:
            narrowed = read_plan(value.plan)
            members = execute(narrowed, museum[World]).members
            assert len(members) == value.count, (facet.key, value.label)
            assert set(members.tolist()) <= set(execute(plan, museum[World]).members.tolist())


def test_facets_are_of_the_members_whatever_is_computed(museum: Release) -> None:
    ranked = computed(ALL, kind="rank", measure=Measure(kind="count", way=MADE), first=1)
    assert facets(museum, ranked) == facets(museum, ALL)


def test_facets_come_in_the_language(museum: Release) -> None:
    found = facets(museum, ALL, "fr")
    assert of(found, "type").values[0].label == "tableau" and of(found, "century").label == "siècle"
    assert counts(of(found, "century")) == {"19e siècle": 3, "20e siècle": 2}


def test_single_facets_are_asked_for_by_key(museum: Release) -> None:
    found = facets(museum, ALL, keys=("maker", "thing_concept_a_made_of"))
    assert [facet.key for facet in found.facets] == ["maker", "thing_concept_a_made_of"]


def test_an_empty_set_has_no_facets_and_one_too_large_says_so(museum: Release) -> None:
    none = facets(museum, Plan(target=Target(types=("http://example.org/nothing",))))
    assert none.size == 0 and none.facets == () and none.complete
    large = facets(with_sets(museum, facets={"largest": 3}), ALL)
    assert large.size == 7 and not large.complete and large.facets == ()


def test_of_a_large_set_relationships_are_counted_where_they_are_asked_for(museum: Release) -> None:
    large, whole = with_sets(museum, facets={"members": 3}), facets(museum, ALL)
    found = facets(large, ALL)
    assert found.complete and [one for one in whole.facets if one.key in FIXED] == list(found.facets)
    assert facets(large, ALL, keys=("thing_concept_a_made_of",)).facets


def test_no_facet_counts_just_what_another_does(museum: Release) -> None:
    found = facets(museum, ALL).facets
    told = {tuple((value.iri or value.label, value.count) for value in one.values) for one in found}
    assert len(told) == len(found)
    doubled = facets(museum, ALL, keys=("maker", "thing_actor_d_created_by")).facets
    assert [counts(one) for one in doubled] == [counts(of(facets(museum, ALL), "maker"))] * 2


def test_owners_and_keepers_are_counted_together(tmp_path: Path) -> None:
    project = make_project(tmp_path, OWNED, write_markdown=False)
    build_all(project.context())
    museum = open_release(project.dataset, project.data)
    owners = of(facets(museum, Plan(target=Target(classes=("E22",)))), "owner")
    assert owners.label == "owner or keeper" and counts(owners) == {"North Museum": 2, "South Museum": 1}


def test_a_facet_is_not_told_again_by_a_more_general_relationship_or_one_by_one(museum: Release) -> None:
    found = facets(museum, ALL)
    assert len({facet.label for facet in found.facets}) == len(found.facets)
    assert "by" not in {facet.label for facet in found.facets}, "the makers once more"
    assert all(facet.label != facet.key for facet in found.facets if facet.key not in FIXED), (
        "labels, not ids"
    )
    assert all(
        facet.values[0].count > 1 or facet.total <= 5 for facet in found.facets if facet.key not in FIXED
    )


SPELLINGS = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix erl: <http://erlangen-crm.org/current/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://example.org/> .
:a a crm:E22_Human-Made_Object, erl:E22_Man-Made_Object ; rdfs:label "A" . :b a crm:E22_Man-Made_Object ; rdfs:label "B" .
"""


def test_one_class_in_several_spellings_is_one_value(tmp_path: Path) -> None:
    project = make_project(tmp_path / "p", SPELLINGS)
    build_all(project.context())
    found = facets(open_release(project.dataset, project.data), Plan(target=Target(categories=("Thing",))))
    assert counts(of(found, "class")) == {"Human-Made Object": 2} and len(of(found, "class").values) == 1
