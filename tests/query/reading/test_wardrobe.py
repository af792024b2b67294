"""A wardrobe: how often something happened to a thing, who did what a property of the data's own says, and what a small word
denies.
"""

from __future__ import annotations

import pytest

from tests.support.parse_world import PREFIXES, Museum, build_museum

GARMENTS = {"gown": 2, "cape": 1, "coat": 3, "hat": 0}
"""How often each was altered."""
LENT = ("gown", "hat")
WORN = {"gown": ("anna", "berta"), "cape": ("anna",), "coat": ("carl",)}
COUTURIERS = {"gown": "emil", "cape": "emil", "coat": "flora"}
BORN = {"anna": 1901, "berta": 1930, "carl": 1899, "dora": 1880, "emil": 1870, "flora": 1902}
HOME = {"dora": "ulm", "emil": "ulm", "flora": "graz"}
"""Dora sews, and wore nothing."""


def _graph() -> str:
    rows = [
        PREFIXES,
        "@prefix own: <http://example.org/own/> .",
        'own:worn_by rdfs:label "worn by"@en . own:couturier rdfs:label "couturier"@en . own:home rdfs:label "home"@en .',
        ':ulm a crm:E53_Place ; rdfs:label "Ulm" . :graz a crm:E53_Place ; rdfs:label "Graz" .',
        ':garment a crm:E55_Type ; rdfs:label "garment"@en .',
    ]
    for name, year in BORN.items():
        rows.append(
            f':{name} a crm:E21_Person ; rdfs:label "{name.title()} Voss" . :birth-{name} a crm:E67_Birth ; '
            f"crm:P98_brought_into_life :{name} ; crm:P4_has_time-span :life-{name} . :life-{name} a crm:E52_Time-Span ; "
            f'crm:P82a_begin_of_the_begin "{year}-01-01"^^xsd:date ; crm:P82b_end_of_the_end "{year}-12-31"^^xsd:date .'
        )
    for name, times in GARMENTS.items():
        rows.append(
            f':{name} a crm:E22_Human-Made_Object ; rdfs:label "Stage {name}"@en ; crm:P2_has_type :garment .'
        )
        rows += [
            f":altering-{name}-{at} a crm:E11_Modification ; crm:P31_has_modified :{name} ; crm:P14_carried_out_by :dora ."
            for at in range(times)
        ]
        rows += [f":{name} own:worn_by :{who} ." for who in WORN.get(name, ())]
    rows += [f":{name} own:couturier :{who} ." for name, who in COUTURIERS.items()]
    rows += [f":{name} own:home :{where} ." for name, where in HOME.items()]
    for name in LENT:
        rows.append(
            f":loan-{name} a crm:E10_Transfer_of_Custody ; crm:P30_transferred_custody_of :{name} ; "
            "crm:P28_custody_surrendered_by :dora ."
        )
    return "\n".join(rows)


@pytest.fixture(scope="module")
def wardrobe(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("wardrobe") / "project", _graph())


ALTERED_AGAIN = {name for name, times in GARMENTS.items() if times > 1}
LISTS = [
    ("Which garments were altered more than once?", ALTERED_AGAIN),
    ("garments that had to be altered several times", ALTERED_AGAIN),
    ("Which garments were altered twice or more?", ALTERED_AGAIN),
    ("Which garments were altered?", {name for name, times in GARMENTS.items() if times}),
    ("Which garments were never altered?", {name for name, times in GARMENTS.items() if not times}),
    ("Wearers born before 1910", {"anna", "carl"}),
    ("Which couturiers were born before 1900?", {"emil"}),
    ("Which couturiers have their home in Ulm?", {"emil"}),
]


@pytest.mark.parametrize(("question", "wanted"), LISTS)
def test_a_set_is_that_of_the_data(wardrobe: Museum, question: str, wanted: set[str]) -> None:
    assert wardrobe.listed(wardrobe.parse(question)) == wanted


def test_a_small_word_denies_the_verb_behind_it_and_no_other(wardrobe: Museum) -> None:
    """What "haven't come back" says is recorded of nothing: those that were not lent are no answer."""
    parsed = wardrobe.parse("Which garments were lent and haven't come back yet?")
    assert not parsed.certain
    assert wardrobe.listed(parsed) in (None, set(LENT))
