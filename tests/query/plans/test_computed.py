"""What is made of members: counts, rankings, groups, tables, pairs, comparisons."""

from __future__ import annotations

from pathlib import Path

from crmrag_query.plans.execute import cell
from crmrag_query.plans.world import LiteralValue
from tests.support.plan_museum import (
    BORN_IN,
    MADE_BY,
    MADE_IN,
    OBJECTS,
    WHEN,
    names,
    names_of,
    related,
    run,
    told,
)
from tests.support.planworlds import BASE, Sample, sample_of


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


def test_groups_count_distinct_members(museum: Sample) -> None:
    places = run(museum, OBJECTS, kind="group", way=MADE_IN)
    assert [(cell(museum.world, key), count) for key, count in places.groups.tolist()] == [
        (BASE + "geneva", 2)
    ]
    assert len(places.excluded["ungrouped"]) == 2


NESTED = """
:east crm:P2_has_type :district . :west crm:P2_has_type :district . :mill crm:P89_falls_within :east .
:east crm:P89_falls_within :country . :west crm:P89_falls_within :country . :district a crm:E55_Type .
:a a :Bowl . :b a :Jug . :c a :Jug . :Bowl rdfs:subClassOf :Pot . :Jug rdfs:subClassOf :Pot .
:Pot a rdfs:Class ; rdfs:subClassOf crm:E22_Man-Made_Object .
:a crm:P108i_was_produced_by :p1 . :b crm:P108i_was_produced_by :p2 . :c crm:P108i_was_produced_by :p3 .
:p1 crm:P7_took_place_at :mill . :p2 crm:P7_took_place_at :east . :p3 crm:P7_took_place_at :west .
""" + "".join(f":{name} a crm:E53_Place . " for name in ("mill", "east", "west", "country"))


def test_groups_of_ends_of_a_type_reach_what_lies_around(tmp_path: Path) -> None:
    sample = sample_of(NESTED, tmp_path)
    made_in, districts = {"relations": ["made_in"]}, {"types": [BASE + "district"]}

    def groups(**to: object) -> dict[str, int]:
        found = run(sample, OBJECTS, kind="group", way=made_in, **to).groups.tolist()
        return {cell(sample.world, key).removeprefix(BASE): count for key, count in found}

    assert groups() == {"mill": 1, "east": 1, "west": 1}
    assert groups(to=districts) == {"east": 2, "west": 1}
    works = {"kind": "count", "way": {**made_in, "inverse": True}}
    most = run(sample, districts, kind="rank", measure=works, first=1)
    assert names(sample, most) == ["east"]


def test_a_class_that_others_are_below_holds_what_they_do(tmp_path: Path) -> None:
    sample = sample_of(NESTED, tmp_path)
    assert names(sample, run(sample, {"classes": [BASE + "Pot"]})) == ["a", "b", "c"]
    assert names(sample, run(sample, {"classes": [BASE + "Jug"]})) == ["b", "c"]


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


def test_groups_by_century_decade_and_year(museum: Sample) -> None:
    centuries = run(museum, OBJECTS, kind="group", way=WHEN, by="century")
    assert centuries.groups.tolist() == [[18, 2]]
    assert {why: names_of(museum, nodes) for why, nodes in centuries.excluded.items()} == {
        "undated": ["shard"],
        "uncertain": ["hill"],
    }
    assert run(museum, OBJECTS, kind="group", way=WHEN, by="decade").groups.tolist() == [[1790, 1]]
    assert run(museum, OBJECTS, kind="group", way=WHEN, by="year").groups.tolist() == [[1790, 1]]


def test_groups_by_the_day_on_which_a_date_begins_or_ends(museum: Sample) -> None:
    begun = run(museum, OBJECTS, kind="group", way=WHEN, by="century", edge="begin")
    assert begun.groups.tolist() == [[18, 3]]
    assert {why: names_of(museum, nodes) for why, nodes in begun.excluded.items()} == {"undated": ["shard"]}
    ended = run(museum, OBJECTS, kind="group", way=WHEN, by="decade", edge="end")
    assert ended.groups.tolist() == [[1760, 1], [1810, 1]]
    assert names_of(museum, ended.excluded["undated"]) == ["cup", "shard"]


def test_a_table_has_each_combination_and_literals(museum: Sample) -> None:
    birth = {"paths": [[*MADE_BY["paths"][0], *BORN_IN["paths"][0]]]}
    table = run(museum, OBJECTS, kind="table", columns=[{"way": MADE_BY}, {"way": birth}])
    assert len(table.rows) == 1 + 2 + 1
    assert [museum.world.graph.label(n) for n in table.excluded["incomplete"]] == ["Shard"]
    notes = run(museum, OBJECTS, kind="table", columns=[{"way": {"paths": [["P3"]]}}])
    assert [cell(museum.world, int(row[1])) for row in notes.rows] == [LiteralValue("Given by A. Fink")]


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
