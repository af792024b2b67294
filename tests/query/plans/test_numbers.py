"""Conditions on numbers: against plain comparison in Python, in units and across them, and on an engine for SPARQL."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_query.errors import QuestionError
from crmrag_query.plans.execute import execute, explain, members_of
from crmrag_query.plans.records import Either, Plan, Target, Valued, Way, read_plan
from crmrag_query.plans.world import World
from tests.support.graphs import graph_from_turtle
from tests.support.planworlds import world_of

HEIGHTS = {
    "urn": (30, "cm"), "vase": (30.5, "cm"), "stela": (2.3, "m"), "obelisk": (21, "m"), "seal": (12, "mm"),
    "bale": (3, "ell"), "post": (7, ""),
}  # fmt: skip
METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0}
NOTES = {"one": "12", "two": "12.50", "many": "a dozen", "dated": '"1900"^^xsd:gYear', "both": '"7" , "300"'}
BY_HEIGHT = Way(paths=(("P43",),), then=Way(paths=(("P90",),)))
BY_NOTE = Way(paths=(("P3",),))
OBJECTS = Target(classes=("E22",))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    rows = [
        f':{unit} a crm:E58_Measurement_Unit ; rdfs:label "{unit}" .' for unit in ("mm", "cm", "m", "ell")
    ]
    for name, (value, unit) in HEIGHTS.items():
        has = f" ; crm:P91_has_unit :{unit}" if unit else ""
        rows.append(
            f":{name} a crm:E22_Human-Made_Object ; crm:P43_has_dimension :{name}-d . "
            f":{name}-d a crm:E54_Dimension ; crm:P90_has_value {value}{has} ."
        )
    for name, note in NOTES.items():
        text = note if note.startswith('"') else f'"{note}"'
        rows.append(f":{name} a crm:E22_Human-Made_Object ; crm:P3_has_note {text} .")
    return world_of(graph_from_turtle("\n".join(rows), tmp_path_factory.mktemp("numbers")))


def found(world: World, one: Valued) -> set[str]:
    members = members_of(world, Plan(target=OBJECTS, where=(one,)))
    return {world.graph.iri(int(node)).rsplit("/", 1)[-1] for node in members}


def within(one: Valued, value: float) -> bool:
    above = one.least is None or value > one.least or (one.least_counts and value == one.least)
    below = one.most is None or value < one.most or (one.most_counts and value == one.most)
    return above and below


NUMBERS = st.sampled_from([0.0, 3.0, 7.0, 12.0, 12.5, 30.0, 30.5, 230.0, 300.0, 2100.0, 1e308, -1e308])


@st.composite
def bounds(draw: st.DrawFn) -> dict[str, object]:
    least, most = draw(st.none() | NUMBERS), draw(st.none() | NUMBERS)
    if least is None and most is None:
        least = draw(NUMBERS)
    if least is not None and most is not None and least > most:
        least, most = most, least
    counts = {"least_counts": True, "most_counts": True}
    if least is None or most is None or least < most:
        counts = {key: draw(st.booleans()) for key in counts}
    return {"least": least, "most": most, **counts, "negated": draw(st.booleans())}


@settings(max_examples=100)
@given(given=bounds(), unit=st.sampled_from(["mm", "cm", "m"]), by_name=st.booleans())
def test_sizes_are_compared_in_the_unit_that_is_named(
    world: World, given: dict[str, object], unit: str, by_name: bool
) -> None:
    iri = next(world.graph.iri(n) for n in range(world.size) if world.graph.iri(n).endswith(f"/{unit}"))
    one = Valued.model_validate({"way": BY_HEIGHT, "unit": unit.upper() if by_name else iri, **given})
    inside = {
        name
        for name, (value, of) in HEIGHTS.items()
        if of in METRES and within(one, round(value * METRES[of] / METRES[unit], 9))
    }
    every = {*HEIGHTS, *NOTES}
    assert found(world, one) == (every - inside if one.negated else inside)


@settings(max_examples=60)
@given(given=bounds())
def test_without_a_unit_all_numbers_count_as_they_are_written(world: World, given: dict[str, object]) -> None:
    one = Valued.model_validate({"way": BY_HEIGHT, **given})
    inside = {name for name, (value, _) in HEIGHTS.items() if within(one, value)}
    assert found(world, one) == ({*HEIGHTS, *NOTES} - inside if one.negated else inside)


def test_texts_that_are_numbers_count_and_dates_and_words_do_not(world: World) -> None:
    assert found(world, Valued(way=BY_NOTE, least=0)) == {"one", "two", "both"}
    assert found(world, Valued(way=BY_NOTE, least=12, least_counts=False)) == {"two", "both"}
    assert found(world, Valued(way=BY_NOTE, most=10)) == {"both"}  # one of its two numbers


@pytest.mark.parametrize(("unit", "same"), [("m", "metre"), ("cm", "centimetres"), ("m", "mètre")])
def test_a_unit_is_known_by_names_that_the_data_does_not_give_it(world: World, unit: str, same: str) -> None:
    expected = found(world, Valued(way=BY_HEIGHT, least=1, unit=unit))
    assert expected and found(world, Valued(way=BY_HEIGHT, least=1, unit=same)) == expected


@pytest.mark.parametrize("unit", ["ell", "fathom"])
def test_a_unit_that_is_not_known_compares_its_own_numbers_alone(world: World, unit: str) -> None:
    assert found(world, Valued(way=BY_HEIGHT, least=0, unit=unit)) == ({"bale"} if unit == "ell" else set())


def test_why_a_member_is_one_is_the_number_that_lies_within(world: World) -> None:
    plan = Plan(target=OBJECTS, where=(Either(of=(Valued(way=BY_NOTE, least=100),)),))
    (member,) = execute(plan, world).members
    ((proof,),) = explain(world, plan, [int(member)])
    assert proof.literal is not None and proof.literal.text == "300" and proof.path == "where.0.of.0"


WAY = '"kind": "valued", "way": {"paths": [["P90"]]}'


@pytest.mark.parametrize(
    ("bounds", "says"),
    [
        ("", "a least, a most, or both"),
        (', "least": NaN', "finite"),
        (', "least": Infinity', "finite"),
        (', "most": -1e999', "finite"),
        (', "least": "nan"', "finite"),
        (', "least": 30, "most": 20', "least must not be above the most"),
        (', "least": 20, "most": 20, "most_counts": false', "least must not be above the most"),
        (', "least": "many"', "number"),
        (', "least": 1, "unit": 5', "string"),
    ],
)
def test_bounds_that_hold_no_number_are_refused(bounds: str, says: str) -> None:
    with pytest.raises(QuestionError, match=says):
        read_plan(f'{{"where": [{{{WAY}{bounds}}}]}}')


@pytest.mark.parametrize(
    ("bounds", "all_of_them"), [(', "least": 1e308', False), (f', "most": {10**300}', True)]
)
def test_huge_bounds_are_numbers_too(world: World, bounds: str, all_of_them: bool) -> None:
    (one,) = read_plan(f'{{"where": [{{{WAY}{bounds}}}]}}').where
    assert isinstance(one, Valued)
    by_height = one.model_copy(update={"way": BY_HEIGHT})
    assert found(world, by_height) == ({*HEIGHTS} if all_of_them else set())
