"""Plans in plain words: each part a chip, which can be taken away."""

from __future__ import annotations

import pytest

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Compute,
    Dated,
    Either,
    Measure,
    Member,
    Plan,
    ReadFromPage,
    Related,
    StatedIn,
    Target,
    Texted,
    Valued,
    Way,
    read_plan,
)
from crmrag_query.plans.world import World
from crmrag_query.sets.describe import Wording, describe_plan, plan_json, title_of, without
from tests.support.set_world import ALL, BASE, BY_ADA, MADE, MATERIAL, NORTH, PAINTING, SPAN, computed, iri

IVORY = Related(way=MATERIAL, to=Anchor(iris=(iri("ivory"),)), negated=True)
WHERE = (
    Related(way=MADE, to=Anchor(iris=(iri("ada"), iri("bo")))),
    Dated(way=SPAN, begin=654_060, end=690_583, certain=False),
    IVORY,
    Texted(texts=("Harbour",)),
    Related(way=Way(paths=(("P55",),)), negated=True),
    Member(plan=BY_ADA),
    Either(of=(IVORY.model_copy(update={"negated": False}), Dated(way=SPAN, begin=690_584))),
    StatedIn(graphs=(NORTH,)),
    ReadFromPage(negated=True),
    Among(iris=(iri("p1"), iri("p2"))),
)


def labels(release: Release, plan: Plan, language: str = "en") -> list[str]:
    return [chip.label for chip in describe_plan(release, plan, language)]


def test_each_part_is_a_chip_in_plain_words(museum: Release) -> None:
    assert labels(museum, Plan(target=PAINTING, where=WHERE)) == [
        "painting",
        "was produced by › carried out by: Ada Berg or Bo Lind",
        "possibly was produced by › has time-span: 3 October 1791 – 2 October 1891",
        "not: consists of: ivory",
        "name contains “Harbour”",
        "has current location: nothing recorded",
        "among: painting · was produced by › carried out by: Ada Berg",
        "consists of: ivory or was produced by › has time-span: since 3 October 1891",
        "stated in north",
        "not: read from pages by a machine",
        "Harbour 2 or Harbour 10",
    ]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("Painting", "Paintings", "painting"), "Painting"),
        (("Thomas Moran", "Moran, Thomas", "Thomas Moran (?)"), "Thomas Moran"),
        (("Lund", "Lund, Sweden"), "Lund or Lund, Sweden"),
        (("Mural 2", "Mural 10", "mural 2"), "Mural 2 or Mural 10"),
        (("a", "A.", "b", "c", "d", "e"), "a or b or c and 2 more"),
        (("?", "!", "?"), "? or !"),
        ((), ""),
    ],
)
def test_spellings_of_one_name_are_told_once(museum: Release, names: tuple[str, ...], told: str) -> None:
    assert Wording(museum, "en").any_of(names) == told


def test_some_are_told_by_name_where_they_have_few(museum: Release) -> None:
    cys = Among(iris=(iri("cy"), iri("cy2"), iri("ada"), iri("lund"), iri("ystad")))
    assert labels(museum, Plan(where=(cys,)))[1] == "among the 5 that are named"
    storms = Among(iris=(iri("p6"), *(f"{BASE}{place}/storm" for place in ("x", "y", "z"))))
    assert labels(museum, Plan(where=(storms,)))[1] == "Storm"


def test_all_but_the_members_of_another_plan_are_told_without_a_second_verb(museum: Release) -> None:
    others = Plan(target=PAINTING, where=(Member(plan=BY_ADA, negated=True),))
    assert labels(museum, others)[1] == "not: painting · was produced by › carried out by: Ada Berg"
    named = Plan(target=PAINTING, where=(Member(plan=Plan(where=(Among(iris=(iri("p1"),)),))),))
    assert labels(museum, named)[1] == "among: Harbour 2"


def test_what_is_computed_is_a_chip_too(museum: Release) -> None:
    count = Measure(kind="count", way=MADE)
    rank = computed(ALL, kind="rank", measure=count, first=3, at_least=2)
    assert labels(museum, rank)[1] == (
        "with the most: was produced by › carried out by, at least 2 each, the first 3"
    )
    grouped = computed(ALL, kind="group", way=SPAN, by="century")
    assert labels(museum, grouped)[1] == "grouped by: was produced by › has time-span (century)"
    assert labels(museum, Plan())[0] == "entities"
    assert labels(museum, Plan(target=Target(categories=("Actor",))))[0] == "persons and groups"


def test_relations_and_relationships_have_their_labels_in_the_language(museum: Release) -> None:
    relation = museum.method.relations["created_by"]
    plan = Plan(where=(Related(way=Way(relations=("created_by",)), to=Anchor(iris=(iri("ada"),))),))
    turned = Plan(where=(Related(way=Way(relations=("created_by",), inverse=True)),))
    fundamental = Plan(where=(Related(way=Way(relationships=("thing_actor_d_created_by",))),))
    assert labels(museum, plan)[1] == f"{relation.labels['en']}: Ada Berg"
    assert labels(museum, turned)[1].startswith(relation.inverse["en"])
    assert labels(museum, fundamental, "fr")[1].startswith("créé par")


def test_the_title_joins_the_parts(museum: Release) -> None:
    assert title_of(museum, BY_ADA, "fr") == "tableau · a été produit par › a été effectué par : Ada Berg"


@pytest.mark.parametrize("at", range(len(WHERE)))
def test_a_chip_is_taken_away_by_its_path(museum: Release, at: int) -> None:
    plan = Plan(target=PAINTING, where=WHERE)
    chip = describe_plan(museum, plan)[at + 1]
    left = without(plan, chip.path)
    assert left.where == WHERE[:at] + WHERE[at + 1 :] and left.target == plan.target


def test_target_and_compute_are_taken_away_too(museum: Release) -> None:
    plan = computed(ALL, kind="group", way=MADE)
    assert without(plan, "compute") == ALL
    assert without(plan, "target.types").target == Target()
    assert len(execute(without(ALL, "target.types"), museum[World]).members) > 7
    assert not describe_plan(museum, Plan())[0].removable


def test_one_of_several_anchors_is_taken_away(museum: Release) -> None:
    plan = Plan(target=PAINTING, where=WHERE)
    left = without(plan, "where.0.to.iris.1")
    assert left.where[0] == Related(way=MADE, to=Anchor(iris=(iri("ada"),)))


@pytest.mark.parametrize(
    "path",
    [
        "", "where", "where.10", "where.-1", "where.0.to.iris.7", "where.2.to.iris.0", "target", "x.y",
        "where.0.x.1",
    ],
)  # fmt: skip
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(QuestionError):
        without(Plan(target=PAINTING, where=WHERE), path)


def test_short_json_is_the_plan() -> None:
    plan = Plan(
        target=PAINTING, where=WHERE, compute=Compute(kind="rank", measure=Measure(kind="count", way=MADE))
    )
    assert read_plan(plan_json(plan)) == plan
    assert plan_json(Plan()) == {} and "negated" not in str(plan_json(BY_ADA))


def test_what_the_data_does_not_have_still_has_a_name(museum: Release) -> None:
    lost = Related(way=Way(paths=(("P46i", f"{BASE}made-by"),)), to=Anchor(iris=(f"{BASE}things#lost",)))
    assert labels(museum, Plan(where=(lost,)))[1] == "forms part of › made-by: lost"


@pytest.mark.parametrize(("language", "name"), [("en", "date of creation"), ("de", "Entstehungszeit")])
def test_paths_to_what_a_relation_shows_bear_its_name(museum: Release, language: str, name: str) -> None:
    """A table of dates shows the literals of a time-span, five steps away; nobody calls them so."""
    created = museum.method.relations["created_on"]
    shown = Way(paths=created.literal_paths("shown"))
    assert Wording(museum, language).way(shown) == created.labels[language] == name
    assert Wording(museum, language).way(Way(paths=shown.paths[:1])) != name


@pytest.mark.parametrize(
    ("bounds", "told"),
    [
        ({"least": 45, "least_counts": False}, "more than 45"),
        ({"least": 2.5}, "at least 2.5"),
        ({"most": 1e6, "most_counts": False}, "less than 1000000"),
        ({"most": 1e300}, "at most 1e+300"),
        ({"least": 20, "most": 30}, "20–30"),
        ({"least": 7, "most": 7, "unit": "km"}, "7 km"),
        (
            {"least": 20, "most": 30, "most_counts": False, "unit": iri("ada")},
            "at least 20, less than 30 Ada Berg",
        ),
    ],
)
def test_bounds_of_numbers_are_told_as_they_are_written(
    museum: Release, bounds: dict[str, object], told: str
) -> None:
    one = Valued.model_validate({"way": Way(paths=(("P90",),)), **bounds})
    assert labels(museum, Plan(where=(one,)))[1] == f"has value: {told}"
    refused = one.model_copy(update={"negated": True})
    assert labels(museum, Plan(where=(refused,)))[1] == f"not: has value: {told}"
