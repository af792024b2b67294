"""What plans give, on a small museum worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crmrag_query.dates import year_interval
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_SUSPECT
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import execute
from crmrag_query.plans.literals import LiteralValue
from crmrag_query.plans.outcome import Outcome, cell
from crmrag_query.plans.proof import explain, explain_all
from crmrag_query.plans.records import read_plan
from tests.support.graphs import node_of
from tests.support.planworlds import BASE, Sample, check, sample_of, world_of

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
MADE_BY: dict[str, Any] = {"paths": [["P108i", "P14"]]}
MADE_IN: dict[str, Any] = {"paths": [["P108i", "P7"]]}
WHEN: dict[str, Any] = {"paths": [["P108i", "P4"]]}
BORN_IN: dict[str, Any] = {"paths": [["P98i", "P7"]]}


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


def test_counts_and_yes_or_no(museum: Sample) -> None:
    assert run(museum, OBJECTS, related(MADE_BY, "anna"), kind="count").value == 2
    assert run(museum, OBJECTS, related(MADE_BY, "anna"), kind="ask").value is True
    assert run(museum, OBJECTS, related(MADE_BY, "nobody"), kind="ask").value is False


def test_a_ranking_keeps_ties_and_names_what_has_no_value(museum: Sample) -> None:
    people = {"categories": ["Actor"]}
    works = {"kind": "count", "way": {"paths": [["P14i", "P108"]]}}
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
    birth = {"paths": [[*MADE_BY["paths"][0], *BORN_IN["paths"][0]]]}
    table = run(museum, OBJECTS, kind="table", columns=[{"way": MADE_BY}, {"way": birth}])
    assert len(table.rows) == 1 + 2 + 1
    assert [museum.world.graph.label(n) for n in table.excluded["incomplete"]] == ["Shard"]
    notes = run(museum, OBJECTS, kind="table", columns=[{"way": {"paths": [["P3"]]}}])
    assert [cell(museum.world, int(row[1])) for row in notes.rows] == [LiteralValue("Given by A. Fink")]


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


def test_a_table_follows_from_its_own_cells(museum: Sample) -> None:
    """Each maker stands beside that maker's birthplace, not beside those of all makers."""
    columns = [{"way": MADE_BY}, {"way": BORN_IN, "of": 0}, {"way": MADE_IN}]
    table = run(museum, OBJECTS, kind="table", columns=columns)
    told = [[str(cell(museum.world, one)).removeprefix(BASE) for one in row] for row in table.rows.tolist()]
    assert told == [
        ["hill", "anna", "paris", "geneva"],
        ["hill", "ben", "paris", "geneva"],
        ["lake", "anna", "paris", "geneva"],
    ]
    only = [{"way": MADE_BY, "to": {"iris": [BASE + "ben"]}}]
    assert len(run(museum, OBJECTS, kind="table", columns=only).rows) == 1


def test_a_table_too_large_is_refused(museum: Sample) -> None:
    small = replace(museum.world, config=museum.world.config.model_copy(update={"most_rows": 2}), routes={})
    plan = read_plan({"target": OBJECTS, "compute": {"kind": "table", "columns": [{"way": MADE_BY}]}})
    with pytest.raises(QuestionError, match="rows"):
        execute(plan, small)


def test_groups_by_century_decade_and_year(museum: Sample) -> None:
    centuries = run(museum, OBJECTS, kind="group", way=WHEN, by="century")
    assert centuries.groups.tolist() == [[18, 2]]
    assert {why: names_of(museum, nodes) for why, nodes in centuries.excluded.items()} == {
        "undated": ["shard"],
        "uncertain": ["hill"],
    }
    assert run(museum, OBJECTS, kind="group", way=WHEN, by="decade").groups.tolist() == [[1790, 1]]
    assert run(museum, OBJECTS, kind="group", way=WHEN, by="year").groups.tolist() == [[1790, 1]]


def test_groups_of_at_least_so_many_and_of_rows(museum: Sample) -> None:
    birthplaces = {**MADE_BY, "then": BORN_IN}
    by_work = run(museum, OBJECTS, kind="group", way=birthplaces)
    by_row = run(museum, OBJECTS, kind="group", way=birthplaces, distinct=False)
    assert [group[1] for group in by_work.groups.tolist()] == [2, 1]
    assert [group[1] for group in by_row.groups.tolist()] == [3, 1]
    assert run(museum, OBJECTS, kind="count", way=birthplaces, distinct=False).value == 4
    assert len(run(museum, OBJECTS, kind="group", way=birthplaces, at_least=2).groups) == 1
    rome = run(museum, OBJECTS, kind="group", way=birthplaces, to={"iris": [BASE + "rome"]})
    assert [group[1] for group in rome.groups.tolist()] == [1]


def test_who_has_at_least_so_many(museum: Sample) -> None:
    works = {"kind": "count", "way": {**MADE_BY, "inverse": True}}
    people = {"categories": ["Actor"]}
    assert names(museum, run(museum, people, kind="rank", measure=works, at_least=2)) == ["anna"]
    oils = {**works, "to": {"types": [BASE + "oil"]}}
    ranked = run(museum, people, kind="rank", measure=oils)
    assert names(museum, ranked) == ["anna"] and ranked.excluded["unmeasured"].size == 2


def test_a_ranking_by_numbers(tmp_path: Path) -> None:
    sample = sample_of(
        """:a a crm:E22_Man-Made_Object ; crm:P43_has_dimension :d1, :d2 . :d1 crm:P90_has_value "9.5" .
        :d2 crm:P90_has_value 120 . :b a crm:E22_Man-Made_Object ; crm:P43_has_dimension :d3 .
        :d3 crm:P90_has_value "+30"^^xsd:decimal, "1850"^^xsd:gYear, "31 cm" . :c a crm:E22_Man-Made_Object .""",
        tmp_path,
    )
    size = {"kind": "value", "way": {"paths": [["P43", "P90"]]}}
    largest = run(sample, OBJECTS, kind="rank", measure=size)
    assert largest.values is not None
    assert list(zip(names(sample, largest), largest.values.tolist(), strict=True)) == [("a", 120), ("b", 30)]
    smallest = run(sample, OBJECTS, kind="rank", measure=size, ascending=True, first=1)
    assert smallest.values is not None and smallest.values.tolist() == [9.5]
    assert names_of(sample, smallest.excluded["unmeasured"]) == ["c"]


def test_pairs_that_share(museum: Sample) -> None:
    people = {"categories": ["Actor"]}
    pairs = run(museum, people, kind="pairs", ways=[BORN_IN])
    rows = [[iri.removeprefix(BASE) for iri in told(museum, row)] for part in pairs.blocks(1) for row in part]
    assert rows == [["anna", "ben", "paris"], ["ben", "anna", "paris"]] and pairs.size == 2
    alone = run(museum, people, kind="pairs", ways=[BORN_IN], partner=False)
    assert alone.size == 2 and len(next(iter(alone.blocks(10)))[0]) == 2
    works = run(museum, OBJECTS, kind="pairs", ways=[MADE_IN, MADE_BY])
    assert works.size == 2
    assert names_of(museum, works.excluded["incomplete"]) == ["cup", "shard"]


def test_pairs_stream_in_blocks_of_any_size(tmp_path: Path) -> None:
    births = "".join(f":n{n} a crm:E21_Person ; crm:P98i_was_born :place{n % 3} ." for n in range(20))
    sample = sample_of(births, tmp_path)
    outcome = run(sample, {"classes": ["E21"]}, kind="pairs", ways=[{"paths": [["P98i"]]}])
    expected = {(a, b) for a in range(20) for b in range(20) if a != b and a % 3 == b % 3}
    for most in (1, 7, 1000):
        rows = [tuple(row) for part in outcome.blocks(most) for row in part.tolist()]
        assert len(rows) == outcome.size == len(expected) == len(set(rows))
        assert {
            tuple(int(told(sample, row)[at][len(BASE) + 1 :]) for at in (0, 1)) for row in rows
        } == expected


def test_sets_compared(museum: Sample) -> None:
    annas, bens = ({"where": [related(MADE_BY, who)]} for who in ("anna", "ben"))
    compared = run(museum, {}, *annas["where"], kind="compare", others=[bens, {"target": OBJECTS}])
    assert compared.sizes == (2, 1, 4) and compared.common is not None
    assert names_of(museum, compared.common) == ["hill"]


SAME = """
:a a crm:E21_Person ; owl:sameAs :b ; crm:P14i_performed :p1 . :b a crm:E21_Person ; crm:P14i_performed :p1, :p2 .
:c a crm:E21_Person ; owl:sameAs <http://vocab.getty.edu/ulan/500115493> ; crm:P14i_performed :p2 .
:d a crm:E21_Person ; skos:exactMatch <http://vocab.getty.edu/page/ulan/500115493> . :e a crm:E21_Person .
:p1 a crm:E12_Production . :p2 a crm:E12_Production .
"""


def test_identity_counts_who_is_the_same_once(tmp_path: Path) -> None:
    sample = sample_of(SAME, tmp_path)
    people, did = {"classes": ["E21"]}, {"paths": [["P14i"]]}
    by_iri = run(sample, people, kind="count")
    assert (by_iri.value, by_iri.iris, by_iri.identities) == (5, 5, 3)
    by_same = run(sample, people, kind="count", identity="same_as")
    assert (by_same.value, by_same.iris, by_same.identities) == (3, 5, 3)
    assert names(sample, run(sample, people, kind="list", identity="same_as")) == ["a", "c", "e"]
    groups = run(sample, people, kind="group", way=did, identity="same_as").groups
    assert groups[:, 1].tolist() == [2, 1]
    ranked = run(sample, people, kind="rank", measure={"kind": "count", "way": did}, identity="same_as")
    assert ranked.values is not None
    assert list(zip(names(sample, ranked), ranked.values.tolist(), strict=True)) == [("a", 2), ("c", 1)]
    assert len(run(sample, people, kind="table", columns=[{"way": did}], identity="same_as").rows) == 3
    assert run(sample, people, kind="pairs", ways=[did], identity="same_as").size == 2
    b = {"kind": "among", "iris": [BASE + "b"]}
    plan = {"where": [b]}
    compared = run(sample, people, kind="compare", others=[plan], identity="same_as")
    assert (compared.sizes, compared.common is not None and len(compared.common)) == ((3, 1), 1)


def test_identity_leaves_out_suspected_merges(tmp_path: Path) -> None:
    sample = sample_of(SAME, tmp_path)
    graph = sample.world.graph
    flags = np.load(graph.folder / "flags.npy")
    flags[node_of(graph, "b")] |= FLAG_SUSPECT
    np.save(graph.folder / "flags.npy", flags)
    world = world_of(Graph.open(graph.folder))
    counted = execute(read_plan({"target": {"classes": ["E21"]}, "compute": {"kind": "count"}}), world)
    assert (counted.iris, counted.identities) == (5, 4)


def names_of(sample: Sample, nodes: Any) -> list[str]:
    return [sample.world.graph.iri(int(node)).removeprefix(BASE) for node in nodes]


def told(sample: Sample, row: Any) -> list[str]:
    return [str(cell(sample.world, int(one))) for one in row]


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


def hops(museum: Sample, where: dict[str, Any], member: str) -> list[tuple[tuple[int, ...], list[str]]]:
    """Of each proof the places of its constraint, and where its steps lead."""
    graph = museum.world.graph
    proofs = explain(museum.world, read_plan({"where": [where]}), node_of(graph, member))
    return [
        (
            (proof.constraint, *proof.within),
            [graph.iri(hop.object if hop.forward else hop.subject).removeprefix(BASE) for hop in proof.hops],
        )
        for proof in proofs
    ]


def test_explanations_of_composed_and_inverse_ways(museum: Sample) -> None:
    birthplace = {**MADE_BY, "then": BORN_IN}
    assert hops(museum, related(birthplace, "paris"), "hill") == [((0,), ["p2", "anna", "b1", "paris"])]
    made = {**MADE_BY, "inverse": True}
    assert hops(museum, related(made, "hill"), "ben") == [((0,), ["p2", "hill"])]
    both = {**BORN_IN, "then": {**BORN_IN, "inverse": True}}
    assert hops(museum, related(both, "ben"), "anna") == [((0,), ["b1", "paris", "b2", "ben"])]


def test_explanations_of_either_and_of_another_plan(museum: Sample) -> None:
    either = {"kind": "either", "of": [related(MADE_BY, "chloe"), related(MADE_IN, "geneva")]}
    assert hops(museum, either, "lake") == [((0, 1), ["p1", "geneva"])]
    assert hops(museum, either, "cup") == [((0, 0), ["p3", "chloe"])]
    member = {"kind": "member", "plan": {"target": OBJECTS, "where": [either, related(MADE_BY, "anna")]}}
    assert hops(museum, member, "lake") == [((0, 0, 1), ["p1", "geneva"]), ((0, 1), ["p1", "anna"])]
    assert hops(museum, {**member, "negated": True}, "lake") == []


def test_an_explanation_ends_in_a_literal_where_the_way_does(museum: Sample) -> None:
    note = related({"paths": [["P3"]]})
    (proof,) = explain(museum.world, read_plan({"where": [note]}), node_of(museum.world.graph, "cup"))
    assert proof.hops == () and proof.literal == LiteralValue("Given by A. Fink")


def test_explanations_of_many_members_are_those_of_each(museum: Sample) -> None:
    plan = read_plan({"target": OBJECTS, "where": [related(MADE_BY, "anna"), made(1701, 1800)]})
    members = execute(plan, museum.world).members.tolist()
    assert explain_all(museum.world, plan, members) == [explain(museum.world, plan, one) for one in members]


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
