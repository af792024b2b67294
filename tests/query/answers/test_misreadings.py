"""What is told as exact is right: questions that are easily misread, on a small world in which each misreading shows.

A church by a lake and one on a hill, each with a narthex and panels; portraits by and of men and women; two painters whose
names begin alike; works whose credit lines speak of gifts; pictures of saints; dates that overlap.
"""

from __future__ import annotations

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.records import read_plan
from crmrag_query.plans.world import World
from tests.support.parse_world import PREFIXES, Museum, build_museum

TYPES = ("church", "narthex", "panel", "portrait", "photograph", "female", "male", "saint")


def _world() -> str:
    rows = [PREFIXES]
    rows += [f':{name} a crm:E55_Type ; rdfs:label "{name}" .' for name in TYPES]

    def thing(key: str, label: str, kind: str, *rest: str) -> None:
        rows.append(f':{key} a crm:E22_Human-Made_Object ; rdfs:label "{label}" ; crm:P2_has_type :{kind} .')
        rows.extend(f":{key} {one} ." for one in rest)

    def making(key: str, *rest: str) -> None:
        rows.append(f":making-{key} a crm:E12_Production ; crm:P108_has_produced :{key} .")
        rows.extend(f":making-{key} {one} ." for one in rest)

    def dated(key: str, begin: str, end: str) -> None:
        making(key, f"crm:P4_has_time-span :span-{key}")
        rows.append(
            f':span-{key} a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{begin}-01-01"^^xsd:date ; '
            f'crm:P82b_end_of_the_end "{end}-12-31"^^xsd:date .'
        )

    rows.append(':norman a crm:E4_Period ; rdfs:label "Norman period" .')
    for name in ("hill", "lake"):
        thing(name, f"{name.title()} Church", "church")
        thing(
            f"{name}-narthex",
            f"Narthex of {name.title()} Church",
            "narthex",
            f"crm:P46i_forms_part_of :{name}",
        )
    making("hill", "crm:P117_occurs_during :norman")
    rows.append(
        ":repair a crm:E11_Modification ; crm:P31_has_modified :lake ; crm:P117_occurs_during :norman ."
    )
    thing("anna", "Saint Anna", "saint", "crm:P46i_forms_part_of :hill-narthex")
    thing("mamas", "Saint Mamas", "saint", "crm:P46i_forms_part_of :lake-narthex")
    thing("peter", "Saint Peter", "saint", "crm:P46i_forms_part_of :lake")

    for key, label, kind in (
        ("ada", "Ada Berg", "female"), ("rijn", "Rembrandt van Rijn", "male"), ("peale", "Rembrandt Peale", "male"),
        ("mary", "Mary Cole", "female"),
    ):  # fmt: skip
        rows.append(f':{key} a crm:E21_Person ; rdfs:label "{label}" ; crm:P2_has_type :{kind} .')
    thing("of-man", "The cardinal", "portrait", "crm:P62_depicts :peale")
    making("of-man", "crm:P14_carried_out_by :ada")
    thing("of-woman", "The lady", "portrait", "crm:P62_depicts :mary")
    making("of-woman", "crm:P14_carried_out_by :rijn")
    thing("by-peale", "The river", "panel")
    making("by-peale", "crm:P14_carried_out_by :peale")

    rows.append(':credit a crm:E55_Type ; rdfs:label "credit line" .')
    for key, text in (
        ("gift", "Gift of John Dow, donated in memory of his mother, who was sold the house in Italy"),
        ("bought", "Museum purchase from funds donated by Ann Dow"),
    ):
        thing(key, f"Jar ({key})", "panel", f"crm:P67i_is_referred_to_by :line-{key}")
        rows.append(
            f":line-{key} a crm:E33_Linguistic_Object ; crm:P2_has_type :credit ; crm:P190_has_symbolic_content "
            f'"{text}" .'
        )
    for key, begin, end in (("early", "1900", "1910"), ("wide", "1905", "2010"), ("late", "1950", "1960")):
        thing(f"photo-{key}", f"Photograph {key}", "photograph")
        dated(f"photo-{key}", begin, end)
    return "\n".join(rows)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("misread") / "project", _world())


NONE: set[str] = set()
"""The data tells nothing of the kind: an exact set, if any, is empty."""
CASES = {
    "what lies in a part": [
        ("Which saints are in the narthex of Hill Church?", {"anna"}),
        ("Which saints are in the narthex of Lake Church?", {"mamas"}),
        ("What is in the narthex of Hill Church?", {"anna"}),
        ("Welche Heiligen sind im Narthex der Hill Church?", {"anna"}),
        ("Where is the narthex of Hill Church?", NONE),
        ("Where is Hill Church?", NONE),
    ],
    "bare verbs": [
        ("Which panels are signed?", NONE),
        ("Which painters were killed?", NONE),
        ("Which churches were visited?", NONE),
        ("Which portraits were photographed?", NONE),
        ("Quels panneaux sont signés ?", NONE),
    ],
    "words of curators' texts": [
        ("Which panels were made in Italy?", NONE),
        ("Which panels were sold?", NONE),
        ("Which panels were lent?", NONE),
        ("Which panels were sold in Italy?", NONE),
    ],
    "of persons": [
        ("Show me portraits of women", {"of-woman"}),
        ("Which portraits of women are there?", {"of-woman"}),
        ("Portraits of men", {"of-man"}),
        ("Porträts von Frauen", {"of-woman"}),
        ("Which portraits are by women?", {"of-man"}),
    ],
    "made during a period": [
        ("Which churches were built during the Norman period?", {"hill"}),
        ("Which churches were built in the Norman period?", {"hill"}),
        ("How many churches were built during the Norman period?", {"hill"}),
        ("Which churches were created during the Norman period?", {"hill"}),
    ],
    "names that begin alike": [
        ("Which works are by Rembrandt?", {"of-woman"}),
        ("How many works by Rembrandt are there?", {"of-woman"}),
        ("Which portraits did Rembrandt paint?", {"of-woman"}),
        ("Which works are by Rembrandt Peale?", {"by-peale"}),
    ],
    "credit lines": [
        ("Which panels were donated?", {"gift"}),
        ("Which panels were given by Ann Dow?", NONE),
        ("Which panels were donated by Ann Dow?", NONE),
        ("How many panels were donated?", {"gift"}),
    ],
    "dates that overlap": [
        ("What is the newest photograph?", NONE),
        ("What is the latest photograph?", NONE),
        ("Welches ist das neueste Photo?", NONE),
        ("Which photograph is the most recent?", NONE),
    ],
    "pictures of persons": [
        ("How many saints are there?", NONE),
        ("How many saints does the data know?", NONE),
        ("Wie viele Heilige gibt es?", NONE),
        ("List the saints", NONE),
    ],
}


@pytest.mark.parametrize(
    ("question", "truth"),
    [pytest.param(*case, id=f"{name}: {case[0]}") for name, cases in CASES.items() for case in cases],
)
def test_nothing_is_told_as_exact_that_is_not(world: Museum, question: str, truth: set[str]) -> None:
    answer = ask(world.release, question)
    if answer.exhaustive and answer.set is not None:
        found = members_of(world.release[World], read_plan(answer.set.plan))
        assert {world.key(int(node)) for node in found} == truth


@pytest.mark.parametrize(
    ("question", "truth"),
    [
        ("Which churches were built during the Norman period?", {"hill"}),
        ("Which works are by Rembrandt Peale?", {"by-peale"}),
        ("Which portraits are by women?", {"of-man"}),
        ("Which saints are in the narthex of Hill Church?", {"anna"}),
    ],
)
def test_what_is_clear_is_still_read(world: Museum, question: str, truth: set[str]) -> None:
    assert world.read(question) == truth
