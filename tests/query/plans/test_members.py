"""Who the members of a plan are, on a small museum worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import read_plan
from tests.support.plan_museum import BORN_IN, MADE_BY, OBJECTS, made, names, related, run
from tests.support.planworlds import BASE, Sample, sample_of


def test_a_list_by_relationship_and_by_path(museum: Sample) -> None:
    by = {"relationships": ["thing_actor_d_created_by"]}
    assert names(museum, run(museum, OBJECTS, related(by, "anna"))) == ["hill", "lake"]
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, "anna"))) == ["hill", "lake"]


def test_negation_keeps_what_has_no_information(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, "anna", negated=True))) == ["cup", "shard"]


def test_what_has_no_information_of_a_kind(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, negated=True))) == ["shard"]
    assert names(museum, run(museum, OBJECTS, related({"paths": [["P3"]]}))) == ["cup"]


def test_types_count_with_narrower_ones(museum: Sample) -> None:
    assert names(museum, run(museum, {"types": [BASE + "painting"]})) == ["hill", "lake"]
    assert names(museum, run(museum, {"types": [BASE + "oil"]})) == ["lake"]


def test_classes_count_with_those_below(museum: Sample) -> None:
    assert names(museum, run(museum, {"classes": ["E39"]})) == ["anna", "ben", "chloe"]


def test_dates_that_are_certain_possible_and_missing(museum: Sample) -> None:
    certain = run(museum, OBJECTS, made(1701, 1800))
    assert names(museum, certain) == ["lake"]
    assert {why: [museum.world.graph.label(n) for n in nodes] for why, nodes in certain.excluded.items()} == {
        "undated": ["Shard"],
        "uncertain": ["Κύπελλο", "The Hill"],
    }
    assert names(museum, run(museum, OBJECTS, made(1701, 1800, certain=False))) == ["cup", "hill", "lake"]
    assert names(museum, run(museum, OBJECTS, made(1780, None))) == ["cup", "hill"]
    assert names(museum, run(museum, OBJECTS, made(None, 1700, certain=False))) == []


def test_text_is_folded(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, {"kind": "texted", "texts": ["ΚΥΠΕΛΛΟ"]})) == ["cup"]
    fink = {"kind": "texted", "texts": ["a. FINK"], "way": {"paths": [["P3"]]}}
    assert names(museum, run(museum, OBJECTS, fink)) == ["cup"]
    assert names(museum, run(museum, OBJECTS, {"kind": "texted", "texts": ["the"], "negated": True})) == [
        "cup",
        "shard",
    ]


def test_a_plan_is_an_anchor(museum: Sample) -> None:
    parisian = {"where": [related(BORN_IN, "paris")]}
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, plan=parisian))) == ["hill", "lake"]


def test_both_and_neither(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, "anna"), related(MADE_BY, "ben"))) == ["hill"]
    assert names(
        museum, run(museum, OBJECTS, related(MADE_BY, "anna"), related(MADE_BY, "ben", negated=True))
    ) == ["lake"]


def test_ways_are_joined_turned_round_and_composed(museum: Sample) -> None:
    people = {"categories": ["Actor"]}
    either = {"paths": [["P108i", "P14"], ["P108i", "P7"]]}
    assert names(museum, run(museum, OBJECTS, related(either, "chloe", "geneva"))) == ["cup", "hill", "lake"]
    made = {**MADE_BY, "inverse": True}
    assert names(museum, run(museum, people, related(made, "hill"))) == ["anna", "ben"]
    created = {"relationships": ["thing_actor_d_created_by"], "inverse": True}
    assert names(museum, run(museum, people, related(created, "hill"))) == ["anna", "ben"]
    birthplace = {**MADE_BY, "then": BORN_IN}
    assert names(museum, run(museum, OBJECTS, related(birthplace, "paris"))) == ["hill", "lake"]
    compatriots = {**BORN_IN, "then": {**BORN_IN, "inverse": True}}
    assert names(museum, run(museum, people, related(compatriots, "anna"))) == ["anna", "ben"]


def test_relations_join_their_paths_and_bound_their_ends(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, related({"relations": ["made_by"]}, "chloe"))) == ["cup"]
    table = run(museum, OBJECTS, kind="table", columns=[{"way": {"relations": ["made_by_person"]}}])
    assert len(table.rows) == 4
    assert len(run(museum, OBJECTS, related({"relations": ["known_in_words_only"]})).members) == 0
    with pytest.raises(QuestionError, match="made_bye"):
        execute(read_plan({"where": [related({"relations": ["made_bye"]})]}), museum.world)


def test_any_of_several_texts_and_whole_words(museum: Sample) -> None:
    def texted(*texts: str, **more: Any) -> list[str]:
        return names(museum, run(museum, OBJECTS, {"kind": "texted", "texts": list(texts), **more}))

    assert texted("lake", "ΚΥΠΕΛΛΟ") == ["cup", "lake"]
    assert texted("hil") == ["hill"]
    assert texted("hil", whole=True) == []
    assert texted("hill", "the lake", whole=True) == ["hill", "lake"]
    assert texted("κυπελλ", whole=True) == [] and texted("κυπελλο", whole=True) == ["cup"]
    maker = {**MADE_BY, "then": {"paths": [["http://www.w3.org/2000/01/rdf-schema#label"]]}}
    assert texted("chlo", way=maker) == ["cup"]


def test_members_of_another_plan_and_all_but_those(museum: Sample) -> None:
    annas = {"where": [related(MADE_BY, "anna")]}
    bens = {"kind": "member", "plan": {"where": [related(MADE_BY, "ben")]}}
    assert names(museum, run(museum, OBJECTS, *annas["where"], bens)) == ["hill"]
    assert names(museum, run(museum, OBJECTS, *annas["where"], {**bens, "negated": True})) == ["lake"]


def test_either_of_several_constraints(museum: Sample) -> None:
    nobody = related(MADE_BY, negated=True)
    either = {"kind": "either", "of": [nobody, related(MADE_BY, "ben"), {"kind": "texted", "texts": ["κυπ"]}]}
    assert names(museum, run(museum, OBJECTS, either)) == ["cup", "hill", "shard"]
    assert names(museum, run(museum, OBJECTS, {**either, "negated": True})) == ["lake"]
    both = {"kind": "either", "of": [related(MADE_BY, "ben"), related(MADE_BY, "chloe")]}
    assert names(museum, run(museum, OBJECTS, both)) == ["cup", "hill"]


def test_what_a_named_graph_says(tmp_path: Path) -> None:
    sample = sample_of(
        """:a a crm:E22_Man-Made_Object ; rdfs:label "A" .
        :g1 { :b a crm:E22_Man-Made_Object ; rdfs:label "B" . :c a crm:E22_Man-Made_Object }
        :g2 { :c rdfs:label "C" ; crm:P2_has_type :b }""",
        tmp_path,
    )
    in_one = {"kind": "stated_in", "graphs": [BASE + "g1"]}
    assert names(sample, run(sample, OBJECTS, in_one)) == ["b"]
    assert names(sample, run(sample, OBJECTS, {**in_one, "graphs": [BASE + "g1", BASE + "g2"]})) == ["b", "c"]
    assert names(sample, run(sample, OBJECTS, {**in_one, "negated": True})) == ["a", "c"]


def test_the_edge_of_a_date_alone_may_count(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, made(1780, 1800, edge="begin"))) == ["cup", "hill"]
    assert names(museum, run(museum, OBJECTS, made(1801, None, edge="end"))) == ["hill"]
    ended = run(museum, OBJECTS, made(1700, None, edge="end"))
    assert sorted(museum.world.graph.label(n) for n in ended.excluded["undated"]) == ["Shard", "Κύπελλο"]


def test_a_property_alone_is_followed_without_those_below_it(tmp_path: Path) -> None:
    """P108 has produced is a kind of P31 has modified; data sets spell P31 in several namespaces, in both directions."""
    sample = sample_of(
        """:a a crm:E22_Man-Made_Object ; crm:P31i_was_modified_by :m1 . :b a crm:E22_Man-Made_Object .
        :m2 <http://erlangen-crm.org/current/P31_has_modified> :b . :c a crm:E22_Man-Made_Object .
        :m3 crm:P108_has_produced :c . :d a crm:E22_Man-Made_Object ; crm:P46i_forms_part_of :a .
        :m1 a crm:E11_Modification . :a crm:P106i_forms_part_of :b . :b crm:P106i_forms_part_of :c .""",
        tmp_path,
    )

    def that(*path: str, inverse: bool = False) -> list[str]:
        return names(sample, run(sample, {}, related({"paths": [list(path)], "inverse": inverse})))

    assert that("P31i") == ["a", "b", "c"]
    assert that("P31i!") == that("^P31!") == ["a", "b"]
    assert that("P31i!", inverse=True) == ["m1", "m2"]
    assert names(sample, run(sample, OBJECTS, related({"paths": [["P106i!*"]]}, "c"))) == ["a", "b", "c"]
    with pytest.raises(QuestionError, match="P9999"):
        that("P9999!")
