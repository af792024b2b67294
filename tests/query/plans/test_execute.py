"""What plans give, on a small museum worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from crmrag_query.dates import year_interval
from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.outcome import Outcome, cell
from crmrag_query.plans.proof import explain
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.ways import LiteralValue
from tests.support.graphs import node_of
from tests.support.planworlds import BASE, Sample, check, sample_of

MUSEUM = """
:lake a crm:E22_Man-Made_Object ; rdfs:label "The Lake"@en ; crm:P108i_was_produced_by :p1 ; crm:P2_has_type :oil .
:hill a crm:E22_Man-Made_Object ; rdfs:label "The Hill"@en ; crm:P108i_was_produced_by :p2 ; crm:P2_has_type :painting .
:cup a crm:E22_Man-Made_Object ; rdfs:label "Κύπελλο"@el ; crm:P108i_was_produced_by :p3 .
:cup crm:P3_has_note "Given by A. Fink" .
:shard a crm:E22_Man-Made_Object ; rdfs:label "Shard" .
:p1 a crm:E12_Production ; crm:P14_carried_out_by :anna ; crm:P4_has_time-span :t1 ; crm:P7_took_place_at :geneva .
:p2 a crm:E12_Production ; crm:P14_carried_out_by :anna, :ben ; crm:P4_has_time-span :t2 ; crm:P7_took_place_at :geneva .
:p3 a crm:E12_Production ; crm:P14_carried_out_by :chloe ; crm:P4_has_time-span :t3 .
:t1 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1750-01-01"^^xsd:date .
:t1 crm:P82b_end_of_the_end "1760-12-31"^^xsd:date .
:t2 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1790-01-01"^^xsd:date .
:t2 crm:P82b_end_of_the_end "1810-12-31"^^xsd:date .
:t3 a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1790-01-01"^^xsd:date .
:anna a crm:E21_Person ; rdfs:label "Anna" ; crm:P98i_was_born :b1 . :b1 a crm:E67_Birth ; crm:P7_took_place_at :paris .
:ben a crm:E21_Person ; rdfs:label "Ben" ; crm:P98i_was_born :b2 . :b2 a crm:E67_Birth ; crm:P7_took_place_at :paris .
:chloe a crm:E21_Person ; rdfs:label "Chloe" ; crm:P98i_was_born :b3 . :b3 a crm:E67_Birth ; crm:P7_took_place_at :rome .
:paris a crm:E53_Place ; rdfs:label "Paris" . :rome a crm:E53_Place ; rdfs:label "Rome" . :geneva a crm:E53_Place .
:oil a crm:E55_Type ; crm:P127_has_broader_term :painting . :painting a crm:E55_Type .
"""
OBJECTS = {"classes": ["E22"]}
MADE_BY = {"path": ["P108i", "P14"]}
MADE_IN = {"path": ["P108i", "P7"]}
WHEN = {"path": ["P108i", "P4"]}
BORN_IN = {"path": ["P98i", "P7"]}


@pytest.fixture(scope="module")
def museum(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    return sample_of(MUSEUM, tmp_path_factory.mktemp("museum"))


def run(museum: Sample, target: dict[str, Any], *where: dict[str, Any], **compute: Any) -> Outcome:
    """The outcome of a plan that its SPARQL confirms."""
    plan = read_plan({"target": target, "where": list(where), "compute": compute or {"kind": "list"}})
    check(museum, plan)
    return execute(plan, museum.world)


def names(museum: Sample, outcome: Outcome) -> list[str]:
    return [museum.world.graph.iri(node).removeprefix(BASE) for node in outcome.members.tolist()]


def related(way: dict[str, Any], *iris: str, negated: bool = False, **to: Any) -> dict[str, Any]:
    anchor = {"iris": [BASE + iri for iri in iris], **to}
    return {"kind": "related", "way": way, "to": anchor, "negated": negated}


def made(first: int | None, last: int | None, **more: Any) -> dict[str, Any]:
    begin = None if first is None else year_interval(first).begin
    end = None if last is None else year_interval(last).end
    return {"kind": "dated", "way": WHEN, "begin": begin, "end": end, **more}


def test_a_list_by_relationship_and_by_path(museum: Sample) -> None:
    by = {"relationships": ["thing_actor_d_created_by"]}
    assert names(museum, run(museum, OBJECTS, related(by, "anna"))) == ["hill", "lake"]
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, "anna"))) == ["hill", "lake"]


def test_negation_keeps_what_has_no_information(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, "anna", negated=True))) == ["cup", "shard"]


def test_what_has_no_information_of_a_kind(museum: Sample) -> None:
    assert names(museum, run(museum, OBJECTS, related(MADE_BY, negated=True))) == ["shard"]
    assert names(museum, run(museum, OBJECTS, related({"path": ["P3"]}))) == ["cup"]


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
    assert names(museum, run(museum, OBJECTS, {"kind": "texted", "text": "ΚΥΠΕΛΛΟ"})) == ["cup"]
    fink = {"kind": "texted", "text": "a. FINK", "way": {"path": ["P3"]}}
    assert names(museum, run(museum, OBJECTS, fink)) == ["cup"]
    assert names(museum, run(museum, OBJECTS, {"kind": "texted", "text": "the", "negated": True})) == [
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


def test_counts_and_yes_or_no(museum: Sample) -> None:
    assert run(museum, OBJECTS, related(MADE_BY, "anna"), kind="count").value == 2
    assert run(museum, OBJECTS, related(MADE_BY, "anna"), kind="ask").value is True
    assert run(museum, OBJECTS, related(MADE_BY, "nobody"), kind="ask").value is False


def test_a_ranking_keeps_ties_and_names_what_has_no_value(museum: Sample) -> None:
    people = {"categories": ["Actor"]}
    works = {"kind": "count", "way": {"path": ["P14i", "P108"]}}
    first = run(museum, people, kind="rank", measure=works, first=1)
    assert (names(museum, first), first.values is not None and first.values.tolist()) == (["anna"], [2])
    two = run(museum, people, kind="rank", measure=works, first=2)
    assert names(museum, two) == ["anna", "ben", "chloe"]
    oldest = run(
        museum, OBJECTS, kind="rank", measure={"kind": "earliest", "way": WHEN}, ascending=True, first=2
    )
    assert names(museum, oldest) == ["lake", "cup", "hill"]
    assert [museum.world.graph.label(n) for n in oldest.excluded["unmeasured"]] == ["Shard"]


def test_groups_count_distinct_members(museum: Sample) -> None:
    places = run(museum, OBJECTS, kind="group", way=MADE_IN)
    assert [(cell(museum.world, key), count) for key, count in places.groups.tolist()] == [
        (BASE + "geneva", 2)
    ]
    assert len(places.excluded["ungrouped"]) == 2


def test_a_table_has_each_combination_and_literals(museum: Sample) -> None:
    birth = {"path": [*MADE_BY["path"], *BORN_IN["path"]]}
    table = run(museum, OBJECTS, kind="table", columns=[MADE_BY, birth])
    assert len(table.rows) == 1 + 2 + 1
    assert [museum.world.graph.label(n) for n in table.excluded["incomplete"]] == ["Shard"]
    notes = run(museum, OBJECTS, kind="table", columns=[{"path": ["P3"]}])
    assert [cell(museum.world, int(row[1])) for row in notes.rows] == [LiteralValue("Given by A. Fink")]


def test_an_explanation_is_a_way_of_triples(museum: Sample) -> None:
    graph = museum.world.graph
    plan = read_plan({"target": OBJECTS, "where": [related(MADE_BY, "anna"), made(1701, 1800)]})
    proofs = explain(museum.world, plan, node_of(graph, "lake"))
    told = [
        [(graph.label(h.subject), graph.property_code(h.property), graph.iri(h.object)) for h in proof.hops]
        for proof in proofs
    ]
    assert [[step[1:] for step in way] for way in told] == [
        [("P108i", BASE + "p1"), ("P14", BASE + "anna")],
        [("P108i", BASE + "p1"), ("P4", BASE + "t1")],
    ]


@pytest.mark.parametrize(
    "plan",
    [
        {"where": [related({"relationships": ["thing_actor_nothing"]})]},
        {"where": [related({"path": ["P9999"]})]},
        {"where": [related({"path": ["http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]})]},
        {"target": {"classes": ["E9999"]}},
        {"where": [{"kind": "texted", "text": "\u0301"}]},
    ],
)
def test_what_nothing_knows_is_named(museum: Sample, plan: dict[str, Any]) -> None:
    with pytest.raises(QuestionError):
        execute(read_plan(plan), museum.world)


@pytest.mark.parametrize(
    "constraint",
    [
        related({"path": ["http://example.org/unknown"]}),
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
