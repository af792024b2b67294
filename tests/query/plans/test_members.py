"""Who the members of a plan are, on a small museum worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import read_plan
from tests.support.plan_museum import BORN_IN, MADE_BY, OBJECTS, made, names, names_of, related, run
from tests.support.planworlds import BASE, Sample, sample_of

PEOPLE = {"categories": ["Actor"]}
CREATED = {"relationships": ["thing_actor_d_created_by"]}
EITHER_WAY = {"paths": [["P108i", "P14"], ["P108i", "P7"]]}
PARISIAN = {"where": [related(BORN_IN, "paris")]}
COMPATRIOTS = {**BORN_IN, "then": {**BORN_IN, "inverse": True}}
MAKERS_NAME = {**MADE_BY, "then": {"paths": [["http://www.w3.org/2000/01/rdf-schema#label"]]}}
BY_BEN = {"kind": "member", "plan": {"where": [related(MADE_BY, "ben")]}}


def texted(*texts: str, **more: Any) -> dict[str, Any]:
    return {"kind": "texted", "texts": list(texts), **more}


def either(*of: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": "either", "of": list(of), **more}


SOME = either(related(MADE_BY, negated=True), related(MADE_BY, "ben"), texted("κυπ"))
Case = tuple[str, str, dict[str, Any], list[dict[str, Any]]]
CASES: list[Case] = [
    ("a relationship", "hill lake", OBJECTS, [related(CREATED, "anna")]),
    ("a path", "hill lake", OBJECTS, [related(MADE_BY, "anna")]),
    ("a relation's paths", "cup", OBJECTS, [related({"relations": ["made_by"]}, "chloe")]),
    ("a relation known in words only", "", OBJECTS, [related({"relations": ["known_in_words_only"]})]),
    ("negation keeps what has no information", "cup shard", OBJECTS, [related(MADE_BY, "anna", negated=True)]),
    ("what has no information", "shard", OBJECTS, [related(MADE_BY, negated=True)]),
    ("what has some", "cup", OBJECTS, [related({"paths": [["P3"]]})]),
    ("a type counts with narrower ones", "hill lake", {"types": [BASE + "painting"]}, []),
    ("a narrower type", "lake", {"types": [BASE + "oil"]}, []),
    ("a class counts with those below", "anna ben chloe", {"classes": ["E39"]}, []),
    ("a period", "lake", OBJECTS, [made(1701, 1800)]),
    ("a period that is possible", "cup hill lake", OBJECTS, [made(1701, 1800, certain=False)]),
    ("a period without end", "cup hill", OBJECTS, [made(1780, None)]),
    ("a period without begin", "", OBJECTS, [made(None, 1700, certain=False)]),
    ("the begin of a date", "cup hill", OBJECTS, [made(1780, 1800, edge="begin")]),
    ("the end of a date", "hill", OBJECTS, [made(1801, None, edge="end")]),
    ("a plan as an anchor", "hill lake", OBJECTS, [related(MADE_BY, plan=PARISIAN)]),
    ("both", "hill", OBJECTS, [related(MADE_BY, "anna"), related(MADE_BY, "ben")]),
    ("one and not the other", "lake", OBJECTS, [related(MADE_BY, "anna"), related(MADE_BY, "ben", negated=True)]),
    ("paths joined", "cup hill lake", OBJECTS, [related(EITHER_WAY, "chloe", "geneva")]),
    ("a path turned round", "anna ben", PEOPLE, [related({**MADE_BY, "inverse": True}, "hill")]),
    ("a relationship turned round", "anna ben", PEOPLE, [related({**CREATED, "inverse": True}, "hill")]),
    ("ways composed", "hill lake", OBJECTS, [related({**MADE_BY, "then": BORN_IN}, "paris")]),
    ("a way and back", "anna ben", PEOPLE, [related(COMPATRIOTS, "anna")]),
    ("a folded text", "cup", OBJECTS, [texted("ΚΥΠΕΛΛΟ")]),
    ("a text of a way", "cup", OBJECTS, [texted("a. FINK", way={"paths": [["P3"]]})]),
    ("no such text", "cup shard", OBJECTS, [texted("the", negated=True)]),
    ("any of several texts", "cup lake", OBJECTS, [texted("lake", "ΚΥΠΕΛΛΟ")]),
    ("a part of a word", "hill", OBJECTS, [texted("hil")]),
    ("no part of a word", "", OBJECTS, [texted("hil", whole=True)]),
    ("whole words", "hill lake", OBJECTS, [texted("hill", "the lake", whole=True)]),
    ("no whole Greek word", "", OBJECTS, [texted("κυπελλ", whole=True)]),
    ("a whole Greek word", "cup", OBJECTS, [texted("κυπελλο", whole=True)]),
    ("a text of a composed way", "cup", OBJECTS, [texted("chlo", way=MAKERS_NAME)]),
    ("members of another plan", "hill", OBJECTS, [related(MADE_BY, "anna"), BY_BEN]),
    ("all but those", "lake", OBJECTS, [related(MADE_BY, "anna"), {**BY_BEN, "negated": True}]),
    ("either of several", "cup hill shard", OBJECTS, [SOME]),
    ("neither of several", "lake", OBJECTS, [{**SOME, "negated": True}]),
    ("either of two", "cup hill", OBJECTS, [either(related(MADE_BY, "ben"), related(MADE_BY, "chloe"))]),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_members(museum: Sample, case: Case) -> None:
    _, expected, target, where = case
    assert names(museum, run(museum, target, *where)) == expected.split()


def test_dates_that_are_missing_or_possible_are_told(museum: Sample) -> None:
    def told(*where: dict[str, Any]) -> dict[str, list[str]]:
        excluded = run(museum, OBJECTS, *where).excluded
        return {why: names_of(museum, nodes) for why, nodes in excluded.items()}

    assert told(made(1701, 1800)) == {"undated": ["shard"], "uncertain": ["cup", "hill"]}
    assert told(made(1700, None, edge="end"))["undated"] == ["cup", "shard"]


def test_relations_bound_their_ends_and_are_known(museum: Sample) -> None:
    table = run(museum, OBJECTS, kind="table", columns=[{"way": {"relations": ["made_by_person"]}}])
    assert len(table.rows) == 4
    with pytest.raises(QuestionError, match="made_bye"):
        execute(read_plan({"where": [related({"relations": ["made_bye"]})]}), museum.world)


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

    assert that("P31i") == that("P31i_was_modified_by") == ["a", "b", "c"]
    assert that("P31i!") == that("^P31!") == ["a", "b"]
    assert that("P31i!", inverse=True) == ["m1", "m2"]
    assert names(sample, run(sample, OBJECTS, related({"paths": [["P106i!*"]]}, "c"))) == ["a", "b", "c"]
    with pytest.raises(QuestionError, match="P9999"):
        that("P9999!")
