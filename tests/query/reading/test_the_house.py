"""The institution whose collection the data is says nothing where it is what has things."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.parse_world import PREFIXES, Museum, build_museum

OWNED = {"jug": "Homer", "bowl": "Homer", "vase": "Ada"}
LOANED = {"coin": "Homer"}


def _world(shares: bool) -> str:
    """Works by makers, owned by the Sea Museum; the loaned coin by a lender, who owns half where ``shares``."""
    rows = [
        PREFIXES,
        ':sea a crm:E74_Group ; rdfs:label "The Sea Museum" .',
        ':lender a crm:E74_Group ; rdfs:label "Lender" .',
    ]
    rows += [f':{name} a crm:E21_Person ; rdfs:label "{name.title()}" .' for name in ("homer", "ada")]
    for work, maker in {**OWNED, **LOANED}.items():
        owner = "lender" if shares and work in ("coin", "bowl") else "sea"
        rows.append(
            f':{work} a crm:E22_Human-Made_Object ; rdfs:label "The {work}" ; crm:P52_has_current_owner :{owner} .'
        )
        rows.append(
            f":making-{work} a crm:E12_Production ; crm:P108_has_produced :{work} ; crm:P14_carried_out_by :{maker.lower()} ."
        )
    return "\n".join(rows)


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("sea") / "project", _world(shares=False))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Museum:
    return build_museum(tmp_path_factory.mktemp("shared") / "project", _world(shares=True))


@pytest.mark.parametrize(
    "question",
    [
        "Which works by Homer does the Sea Museum have?",
        "Which works by Homer are in the collection of the Sea Museum?",
        "Which works by Homer?",
    ],
)
def test_what_the_house_has_is_all_there_is(sea: Museum, question: str) -> None:
    parsed = sea.parse(question)
    assert not parsed.certain or sea.listed(parsed) == {"jug", "bowl", "coin"}


def test_a_museum_among_others_owns_its_own(shared: Museum) -> None:
    assert shared.read("Which works does the Sea Museum own?") == {"jug", "vase"}


def test_what_a_data_set_is_named_after_may_be_a_thing_in_it(tmp_path: Path) -> None:
    rows = [PREFIXES]
    for name in ("hill", "lake"):
        rows.append(f':{name} a crm:E22_Human-Made_Object ; rdfs:label "{name.title()} Church" .')
        rows += [
            f':{name}-{n} a crm:E22_Human-Made_Object ; rdfs:label "Panel {n} of {name}" ; crm:P46i_forms_part_of :{name} ; '
            f"crm:P2_has_type :panel ."
            for n in range(2)
        ]
    rows.append(':panel a crm:E55_Type ; rdfs:label "panel" .')
    church = build_museum(tmp_path / "project", "\n".join(rows), title="Hill Church")
    assert church.read("Which panels are in Hill Church?") == {"hill-0", "hill-1"}
    assert church.read("Which panels are in Lake Church?") == {"lake-0", "lake-1"}


def test_a_noun_of_which_the_data_has_no_class_is_not_all_of_a_category(sea: Museum) -> None:
    parsed = sea.parse("For which texts is no maker recorded?")
    assert not parsed.certain
