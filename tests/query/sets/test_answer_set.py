"""The set of an answer: all of it counted, a page of it in full, what was left out, and why each member is in."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.codec import from_plain, to_plain
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.records import Among, Anchor, Column, Measure, Plan, Related, Way, read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets import build
from crmrag_query.sets.build import Told, answer_set, excluded_set
from crmrag_query.sets.records import AnswerSet, Page, Sort
from tests.support.set_world import (
    ALL,
    BASE,
    BEFORE_1855,
    BY_ADA,
    MADE,
    MAKERS,
    MATERIAL,
    NORTH,
    PAINTING,
    SOUTH,
    SPAN,
    computed,
    iri,
    with_sets,
)


def labels(found: AnswerSet) -> list[list[str]]:
    """What the cells of the rows say."""
    assert isinstance(found.value, tuple)
    return [[cell.label for cell in row] for row in found.value]


def test_a_page_tells_of_its_members_and_the_size_is_of_all(museum: Release) -> None:
    found = answer_set(museum, ALL, Page(limit=2))
    assert (found.size, found.total, found.next, len(found.members)) == (7, 7, 2, 2)
    first = found.members[0]
    assert (first.iri, first.label, first.date) == (iri("p1"), "Harbour 2", "1840")
    assert first.image == "http://img.example.org/p1.jpg"
    assert [kind.label for kind in first.types] == ["painting"] and len(first.classes) == 1
    assert found.licence == "CC0 1.0" and found.attribution == "The Museum" and found.release == museum.id


def test_pages_follow_each_other_to_the_end(museum: Release) -> None:
    seen, offset = [], 0
    while True:
        page = answer_set(museum, ALL, Page(offset, 3))
        seen += [member.iri for member in page.members]
        if page.next is None:
            break
        offset = page.next
    assert seen == [iri(f"p{n}") for n in range(1, 8)]
    assert answer_set(museum, ALL, Page(100, 3)).members == ()
    assert len(answer_set(museum, ALL, Page(limit=None)).members) == 7


@pytest.mark.parametrize(
    ("plan", "sort"),
    [
        (ALL, ""),
        (ALL, "label"),
        (computed(ALL, kind="table", columns=(Column(way=MADE), Column(way=MATERIAL))), ""),
    ],
)
def test_a_page_that_would_be_too_long_ends_before_and_the_next_goes_on(
    plan: Plan, sort: Sort, museum: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(page: AnswerSet) -> tuple[object, ...]:
        return page.value if isinstance(page.value, tuple) else page.members

    whole = answer_set(museum, plan, Page(limit=None, sort=sort))
    monkeypatch.setattr(build, "MOST_CHARACTERS", 500)
    found, offset = list[object](), 0
    while True:
        page = answer_set(museum, plan, Page(offset, 7, sort))
        assert 1 <= len(shown(page)) < 7 and page.total == whole.total
        found += shown(page)
        if page.next is None:
            break
        assert page.next == offset + len(shown(page))
        offset = page.next
    assert tuple(found) == shown(whole)


@pytest.mark.parametrize("page", [Page(-1), Page(0, -2), Page(0, 10**9)])
def test_a_page_that_cannot_be_is_refused(museum: Release, page: Page) -> None:
    with pytest.raises(QuestionError):
        answer_set(museum, ALL, page)


def test_members_are_sorted_by_label_as_people_do_and_by_date_with_the_undated_last(museum: Release) -> None:
    def names(page: Page) -> list[str]:
        return [member.iri.rpartition("/")[2] for member in answer_set(museum, ALL, page).members]

    assert names(Page(sort="label")) == ["p3", "p7", "p5", "p1", "p2", "p4", "p6"]
    assert names(Page(sort="label", descending=True)) == ["p6", "p4", "p2", "p1", "p5", "p7", "p3"]
    assert names(Page(sort="date")) == ["p1", "p7", "p2", "p4", "p5", "p3", "p6"]
    assert names(Page(sort="date", descending=True)) == ["p5", "p4", "p2", "p7", "p1", "p3", "p6"]
    with pytest.raises(QuestionError, match="no values"):
        names(Page(sort="value"))


def test_each_member_has_its_path_node_by_node(museum: Release) -> None:
    (first, *_) = answer_set(museum, BY_ADA).members
    (reason,) = first.path
    assert reason.constraint == "where.0"
    assert [node.iri for node in reason.nodes] == [iri("p1"), iri("p1-making"), iri("ada")]
    stated = [(triple.s, triple.p.rpartition("/")[2], triple.o) for triple in reason.triples]
    assert stated == [
        (iri("p1"), "P108i_was_produced_by", iri("p1-making")),
        (iri("p1-making"), "P14_carried_out_by", iri("ada")),
    ]
    assert first.graphs == (NORTH,)


def test_what_lacks_a_date_is_left_out_told_and_listed(museum: Release) -> None:
    found = answer_set(museum, BEFORE_1855)
    assert [member.iri for member in found.members] == [iri("p1"), iri("p7")]
    (undated,) = found.excluded
    assert (undated.reason, undated.count) == ("undated", 2)
    assert [one.iri for one in undated.members] == [iri("p3"), iri("p6")]
    assert undated.text in found.text and "2 more are left out" in undated.text
    work = excluded_set(museum, BEFORE_1855, "undated", Page(limit=1))
    assert (work.size, work.members[0].iri, work.next) == (2, iri("p3"), 1)
    assert work.plan == found.plan and work.text == undated.text
    with pytest.raises(QuestionError, match="undated"):
        excluded_set(museum, BEFORE_1855, "lost")


def test_counts_and_yes_or_no(museum: Release) -> None:
    assert answer_set(museum, computed(BY_ADA, kind="count")).value == 3
    assert answer_set(museum, computed(BY_ADA, kind="ask")).value is True
    nobody = ALL.model_copy(update={"where": (Related(way=MADE, to=Anchor(iris=(iri("nobody"),))),)})
    none = answer_set(museum, computed(nobody, kind="ask"))
    assert none.value is False and none.size == 0


def test_a_ranking_has_rows_and_members_with_their_values(museum: Release) -> None:
    makers = Plan(where=(Among(iris=tuple(map(iri, MAKERS))),))
    works = Measure(kind="count", way=Way(paths=(("P14i", "P108"),)))
    found = answer_set(museum, computed(makers, kind="rank", measure=works, first=2))
    assert labels(found) == [["Ada Berg", "3"], ["Bo Lind", "2"]]
    assert [(member.value, member.shown) for member in found.members] == [(3, "3"), (2, "2")]
    oldest = computed(ALL, kind="rank", measure=Measure(kind="earliest", way=SPAN), ascending=True, first=1)
    told = answer_set(museum, oldest)
    assert told.members[0].shown == "1840" and [one.reason for one in told.excluded] == ["unmeasured"]


def test_groups_and_tables_have_labelled_cells_and_are_paged(museum: Release) -> None:
    groups = answer_set(museum, computed(ALL, kind="group", way=MATERIAL))
    assert labels(groups) == [["oil", "5"], ["ivory", "2"]] and isinstance(groups.value, tuple)
    assert groups.value[0][0].iri == iri("oil") and groups.value[0][1].number == 5 and groups.total == 2
    table = computed(ALL, kind="table", columns=(Column(way=MADE, title="maker"), Column(way=MATERIAL)))
    page = answer_set(museum, table, Page(2, 2))
    assert page.columns[1] == "maker" and page.total == 7 and page.next == 4
    assert labels(page) == [["=SUM(A1:A9)", "Ada Berg", "ivory"], ["Portrait of 12 men", "Bo Lind", "oil"]]


def test_centuries_decades_and_years_are_told_as_such(museum: Release) -> None:
    def groups(by: str, language: str = "en") -> list[list[str]]:
        return labels(answer_set(museum, computed(ALL, kind="group", way=SPAN, by=by), language=language))

    assert groups("century") == [["19th century", "3"], ["20th century", "2"]]
    assert groups("century", "fr") == [["19e siècle", "3"], ["20e siècle", "2"]]
    assert ["1840–1849", "1"] in groups("decade") and ["1860", "1"] in groups("year")


def test_pairs_and_comparisons(museum: Release) -> None:
    pairs = answer_set(museum, computed(ALL, kind="pairs", ways=(Way(paths=(("P55",),)),)), Page(limit=None))
    assert isinstance(pairs.value, tuple)
    told = {tuple(cell.iri for cell in row) for row in pairs.value}
    at = {"lund": ("p1", "p2", "p7"), "ystad": ("p4", "p5")}
    expected = {(iri(a), iri(b), iri(place)) for place in at for a, b in permutations(at[place], 2)}
    assert told == expected and pairs.total == len(expected)
    one = answer_set(museum, computed(ALL, kind="pairs", ways=(Way(paths=(("P55",),)),)), Page(3, 2))
    assert one.value == pairs.value[3:5]
    compared = answer_set(museum, computed(ALL, kind="compare", others=(BY_ADA,)))
    assert isinstance(compared.value, tuple)
    assert [row[1].number for row in compared.value] == [7, 3] and compared.common == 3


def test_identity_is_told_beside_the_size_where_it_differs(museum: Release) -> None:
    makers = Plan(where=(Related(way=Way(paths=(("P14i", "P108"),))),))
    found = answer_set(museum, makers)
    assert (found.size, found.identity.entities, found.identity.distinct) == (4, 4, 3)
    assert "3 distinct" in found.text
    assert "distinct" not in answer_set(museum, ALL).text


def test_who_says_so_is_counted_by_named_graph(museum: Release) -> None:
    assert {one.graph: one.count for one in answer_set(museum, ALL).stated_in} == {NORTH: 3, SOUTH: 4}


def test_a_set_is_plain_json_and_its_plan_can_be_read_back(museum: Release) -> None:
    for plan in (ALL, BEFORE_1855, computed(ALL, kind="group", way=SPAN, by="century")):
        found = answer_set(museum, plan, told=Told(False, ("sublime",), ALL))
        plain = json.loads(json.dumps(to_plain(found)))
        assert from_plain(AnswerSet, plain) == found
        assert read_plan(plain["plan"]) == plan and read_plan(plain["suggestion"]) == ALL


def test_labels_come_in_the_language_and_on_one_line(museum: Release) -> None:
    found = answer_set(museum, Plan(target=PAINTING), Page(6, 1), "fr")
    assert found.members[0].label == "Calm sea"
    assert found.members[0].types[0].label == "tableau" and found.title.startswith("tableau")


def test_an_outcome_that_is_at_hand_is_not_computed_again(museum: Release) -> None:
    from crmrag_query.plans.execute import execute

    assert answer_set(museum, ALL, outcome=execute(ALL, museum[World])) == answer_set(museum, ALL)
    assert answer_set(museum, ALL, sparql=False).sparql == "" and BASE in answer_set(museum, ALL).sparql


def test_members_with_a_name_come_before_those_without(museum: Release) -> None:
    made = answer_set(museum, Plan(), Page(0, None))
    flags = (
        museum[Graph].flags[[museum[Graph].node(one.iri) or 0 for one in made.members]] & FLAG_LABELLED != 0
    )
    assert flags.any() and not flags.all() and flags.tolist() == sorted(flags.tolist(), reverse=True)
    every = [museum[Graph].node(one.iri) or 0 for one in made.members if one.label]
    named = [node for node, has in zip(every, flags.tolist(), strict=True) if has]
    assert named == sorted(named)  # and otherwise stand as in the data


def test_a_very_large_set_is_sorted_by_letters(museum: Release) -> None:
    large = with_sets(museum, limits={"sorted": 3})
    for descending in (False, True):
        found = answer_set(large, ALL, Page(sort="label", descending=descending))
        labels = [museum[Graph].label(museum[Graph].node(one.iri) or 0).lower() for one in found.members]
        assert labels == sorted(labels, reverse=descending)
