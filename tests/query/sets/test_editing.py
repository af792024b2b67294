"""Parts of a plan that are set to something else: what a chip says can be changed, can, and nothing else."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import day_number
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import (
    Anchor,
    Dated,
    Measure,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Way,
)
from crmrag_query.plans.world import World
from crmrag_query.sets.describe import changed, describe_plan, plan_json
from crmrag_query.sets.records import Change, Chip, Edits, Option, Years
from tests.support.set_world import ALL, BEFORE_1855, BY_ADA, MADE, NOT_IVORY, PAINTING, SPAN, computed, iri


def chips(museum: Release, plan: Plan, language: str = "en") -> dict[str, Chip]:
    return {chip.path: chip for chip in describe_plan(museum, plan, language)}


def names(museum: Release, plan: Plan) -> set[str]:
    """Members by the ends of their IRIs."""
    return {museum[Graph].iri(int(node)).rpartition("/")[2] for node in members_of(museum[World], plan)}


def set_to(museum: Release, plan: Plan, change: Change) -> Plan:
    found, path = changed(museum, plan, change)
    assert path in chips(museum, found)
    return found


def test_a_chip_tells_what_can_be_changed_and_what_it_is_now(museum: Release) -> None:
    found = chips(museum, BY_ADA)
    assert found["target.types"].edits == Edits(kinds=(Option(iri("painting"), "painting"),))
    edits = found["where.0"].edits
    assert edits.entities == (Option(iri("ada"), "Ada Berg"),)
    assert (edits.kinds, edits.negated, edits.years, edits.texts) == ((), False, None, None)
    assert chips(museum, BEFORE_1855)["where.0"].edits.years == Years(None, 1855)
    assert chips(museum, Plan())["target"].edits == Edits(kinds=())


def test_an_entity_gives_way_to_another_or_to_any(museum: Release) -> None:
    by_bo = set_to(museum, BY_ADA, Change("where.0", entities=(iri("bo"),)))
    assert names(museum, by_bo) == {"p4", "p5"}
    both = set_to(museum, BY_ADA, Change("where.0", entities=(iri("ada"), iri("bo"))))
    assert names(museum, both) == {"p1", "p2", "p3", "p4", "p5"}
    anybody = set_to(museum, BY_ADA, Change("where.0", entities=()))
    assert names(museum, anybody) == {f"p{n}" for n in range(1, 8)}


def test_a_condition_is_turned_round_and_back(museum: Release) -> None:
    others = set_to(museum, BY_ADA, Change("where.0", negated=True))
    assert names(museum, others) == {"p4", "p5", "p6", "p7"}
    assert chips(museum, others)["where.0"].edits.negated is True
    assert set_to(museum, others, Change("where.0", negated=False)) == BY_ADA
    assert names(museum, set_to(museum, NOT_IVORY, Change("where.0", negated=False))) == {"p3", "p5"}


@pytest.mark.parametrize(
    "years, expected",
    [
        (Years(1860, 1901), {"p2", "p4"}),
        (Years(1902, None), {"p5"}),
        (Years(None, 1840), {"p1"}),
        (Years(None, -499), set()),
        (Years(), {"p1", "p2", "p4", "p5", "p7"}),
    ],
)
def test_years_are_both_inclusive_and_open_where_there_is_none(
    museum: Release, years: Years, expected: set[str]
) -> None:
    found = set_to(museum, BEFORE_1855, Change("where.0", years=years))
    assert names(museum, found) == expected
    assert chips(museum, found)["where.0"].edits.years == years


def test_a_day_stays_where_its_year_does(museum: Release) -> None:
    plan = Plan(
        target=PAINTING, where=(Dated(way=SPAN, begin=day_number(1850, 6, 1), end=day_number(1860, 6, 1)),)
    )
    found = set_to(museum, plan, Change("where.0", years=Years(1850, 1901)))
    one = found.where[0]
    assert isinstance(one, Dated)
    assert (one.begin, one.end) == (day_number(1850, 6, 1), day_number(1901, 12, 31))


def test_what_is_asked_for_is_another_kind(museum: Release) -> None:
    assert names(museum, set_to(museum, ALL, Change("target.types", kinds=("E21",)))) == {
        "ada", "bo", "cy", "cy2",
    }  # fmt: skip
    places = set_to(museum, ALL, Change("target.types", kinds=("Place",)))
    assert names(museum, places) == {"lund", "ystad"} and places.target == Target(categories=("Place",))
    assert set_to(museum, places, Change("target.categories", kinds=(iri("painting"),))) == ALL
    assert set_to(museum, Plan(), Change("target", kinds=(iri("painting"),))) == ALL
    assert set_to(museum, ALL, Change("target.types", kinds=())) == Plan()


def test_a_text_is_another_one_of_a_name_and_of_a_named_anchor(museum: Release) -> None:
    named = Plan(target=PAINTING, where=(Texted(texts=("Harbour",)),))
    assert names(museum, set_to(museum, named, Change("where.0", texts=("storm",)))) == {"p6"}
    maker = Plan(where=(Texted(texts=("Ada",)),))
    by_name = Plan(target=PAINTING, where=(Related(way=MADE, to=Anchor(plan=maker)),))
    assert chips(museum, by_name)["where.0"].edits.texts == ("Ada",)
    assert names(museum, set_to(museum, by_name, Change("where.0", texts=("Lind",)))) == {"p4", "p5"}
    assert names(museum, set_to(museum, by_name, Change("where.0", entities=(iri("cy"),)))) == {"p6"}


def test_a_relation_gives_way_to_another_that_leads_to_the_same(museum: Release) -> None:
    found = set_to(museum, BY_ADA, Change("where.0", relation="thing_actor_d_created_by"))
    assert names(museum, found) == {"p1", "p2", "p3"}
    edits = chips(museum, found)["where.0"].edits
    assert edits.relation is not None and edits.relation.value == "thing_actor_d_created_by"
    assert edits.entities == (Option(iri("ada"), "Ada Berg"),)


def test_a_relation_to_dates_takes_years_in_place_of_entities(museum: Release) -> None:
    change = Change("where.0", relation="thing_time_a_created", years=Years(1900, None))
    assert names(museum, set_to(museum, BY_ADA, change)) == {"p4", "p5"}


def test_a_condition_is_added_by_a_relation_or_by_a_name(museum: Release) -> None:
    found, path = changed(
        museum, BY_ADA, Change("where", relation="thing_time_a_created", years=Years(1850, None))
    )
    assert path == "where.1" and names(museum, found) == {"p2"}
    anywhere, path = changed(museum, ALL, Change("where", relation="thing_place_c_located_in"))
    assert path == "where.0" and names(museum, anywhere) == {"p1", "p2", "p4", "p5", "p7"}
    assert chips(museum, anywhere)["where.0"].edits.entities == ()
    named, _ = changed(museum, ALL, Change("where", texts=("Harbour",)))
    assert names(museum, named) == {"p1", "p2"}


def test_numbers_of_a_ranking_and_of_groups(museum: Release) -> None:
    ranked = computed(ALL, kind="rank", first=3, measure=Measure(kind="earliest", way=SPAN))
    assert chips(museum, ranked)["compute"].edits == Edits(first=3)
    found = set_to(museum, ranked, Change("compute", first=1))
    assert found.compute.first == 1 and found.compute.measure == ranked.compute.measure
    with pytest.raises(QuestionError, match="first"):
        changed(museum, ranked, Change("compute", first=0))


def test_parts_without_values_are_turned_round_only(museum: Release) -> None:
    plan = Plan(target=PAINTING, where=(Member(plan=BY_ADA),))
    assert chips(museum, plan)["where.0"].edits == Edits(negated=False)
    assert names(museum, set_to(museum, plan, Change("where.0", negated=True))) == {"p4", "p5", "p6", "p7"}


@pytest.mark.parametrize(
    "change, told",
    [
        (Change("where.7", negated=True), "no part 'where.7'"),
        (Change("nonsense"), "no part 'nonsense'"),
        (Change("where.0", first=3), "where.0 has no first"),
        (Change("where.0", years=Years(1800, None)), "has no years"),
        (Change("target.types", negated=True), "target.types has no negated"),
        (Change("target.types", kinds=("http://example.org/nothing",)), "no type or class"),
        (Change("target.types", kinds=("E21", "Place")), "categories and classes at once"),
        (Change("where.0", relation="of_no_kind"), "No relation has the id"),
        (Change("where.0", relation="thing_place_c_located_in"), "leads to Place; Ada Berg is Actor"),
        (Change("where"), "needs a relation"),
        (Change("where", relation="thing_time_a_created", years=Years(1900, 1800)), "end (1800) before they begin"),
        (Change("where", relation="thing_time_a_created", years=Years(10**9, None)), "too far away"),
        (Change("where", texts=("",)), "at least 1 character"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_a_remedy(museum: Release, change: Change, told: str) -> None:
    with pytest.raises(QuestionError) as refused:
        changed(museum, BY_ADA, change)
    assert told in refused.value.what and refused.value.remedy


def test_an_entity_that_the_relation_cannot_lead_to_is_refused(museum: Release) -> None:
    located = Plan(target=PAINTING, where=(Related(way=Way(relationships=("thing_place_c_located_in",))),))
    with pytest.raises(QuestionError, match="leads to Place; Ada Berg is Actor"):
        changed(museum, located, Change("where.0", entities=(iri("ada"),)))
    assert names(museum, set_to(museum, located, Change("where.0", entities=(iri("lund"),)))) == {
        "p1",
        "p2",
        "p7",
    }


def test_entities_of_a_relationship_that_nothing_knows_are_not_checked(museum: Release) -> None:
    plan = Plan(where=(Related(way=Way(relationships=("none",))),))
    found, _ = changed(museum, plan, Change("where.0", entities=(iri("ada"),)))
    assert found.where == (Related(way=Way(relationships=("none",)), to=Anchor(iris=(iri("ada"),))),)


def test_the_changed_plan_is_a_plan_as_any_other(museum: Release) -> None:
    found = set_to(museum, BY_ADA, Change("where.0", entities=(iri("bo"),), negated=True))
    assert Plan.model_validate(plan_json(found)) == found
    assert chips(museum, found, "de")["where.0"].label.startswith("nicht")
