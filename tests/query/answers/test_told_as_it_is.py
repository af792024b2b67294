"""What is told says no more than is recorded: who gave and who sold, where things are and were, who led and who took part.

A treasury with two bells and a chest, of which names share words; gifts, purchases and a theft; rooms in which things are, or
may have been; a voyage with people in roles; a letter that mentions a bell.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release
from tests.support.builds import build_all, make_project
from tests.support.parse_world import PREFIXES
from tests.support.shared import labels_of, shared_release

THINGS = {"Lily bell": (1300, 40), "Rose bell": (1600, 90), "Lily chest": (1100, 15)}
"""Years in which things were made, and kilograms that they weigh."""
TYPES = ("bell", "chest", "letter", "gift", "purchase", "theft", "weight", "leader", "artist")


def _world() -> str:
    rows = [f':{one} a crm:E55_Type ; rdfs:label "{one}"@en .' for one in TYPES]
    for at, (name, (year, weight)) in enumerate(THINGS.items()):
        rows.append(f"""
:thing{at} a crm:E22_Human-Made_Object ; rdfs:label "{name}" ; crm:P2_has_type :{name.split()[1]} ;
  crm:P43_has_dimension [ a crm:E54_Dimension ; crm:P2_has_type :weight ; crm:P90_has_value {weight} ;
    crm:P91_has_unit :kg ] .
:making{at} a crm:E12_Production ; crm:P108_has_produced :thing{at} ; crm:P4_has_time-span [
  crm:P82a_begin_of_the_begin "{year}-01-01"^^xsd:date ; crm:P82b_end_of_the_end "{year}-12-31"^^xsd:date ] .""")
    return f"""{PREFIXES}
{"".join(rows)}
:kg a crm:E58_Measurement_Unit ; rdfs:label "kilogram"@en .
:house a crm:E74_Group ; rdfs:label "House of Holt" .
:ann a crm:E21_Person ; rdfs:label "Ann Orme" . :ben a crm:E21_Person ; rdfs:label "Ben Quill" .
:treasury a crm:E53_Place ; rdfs:label "Treasury" . :vault a crm:E53_Place ; rdfs:label "Vault" .
:thing0 crm:P55_has_current_location :treasury .
:thing1 crm:P53_has_former_or_current_location :treasury .
:thing2 crm:P53_has_former_or_current_location :treasury ; crm:P55_has_current_location :vault .
:a0 a crm:E8_Acquisition ; crm:P2_has_type :gift ; crm:P24_transferred_title_of :thing0 ;
  crm:P23_transferred_title_from :ann ; crm:P22_transferred_title_to :house .
:a1 a crm:E8_Acquisition ; crm:P2_has_type :purchase ; crm:P24_transferred_title_of :thing1 ;
  crm:P23_transferred_title_from :ann ; crm:P22_transferred_title_to :house .
:t2 a crm:E10_Transfer_of_Custody ; crm:P2_has_type :theft ; crm:P30_transferred_custody_of :thing2 ;
  crm:P28_custody_surrendered_by :house .
:voyage a crm:E7_Activity ; rdfs:label "North Voyage" .
:in1 a crm:PC14_carried_out_by ; crm:P01_has_domain :voyage ; crm:P02_has_range :ann ; crm:P14.1_in_the_role_of :leader .
:in2 a crm:PC14_carried_out_by ; crm:P01_has_domain :voyage ; crm:P02_has_range :ben ; crm:P14.1_in_the_role_of :artist .
:voyage :discovered :thing0 . :survey a crm:E7_Activity ; :discovered :thing1 ; crm:P14_carried_out_by :ann .
:discovered rdfs:subPropertyOf crm:P12_occurred_in_the_presence_of ; rdfs:label "discovered"@en .
:letter1 a crm:E31_Document ; crm:P2_has_type :letter ; rdfs:label "Ann Orme to the House" ; crm:P67_refers_to :thing0 .
"""


def _build(folder: Path) -> None:
    build_all(make_project(folder, _world(), write_markdown=False).context())


@pytest.fixture(scope="module")
def treasury(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "treasury", _build)


@pytest.mark.parametrize(("question", "name", "value"), [
    ("Which is older, the Lily bell or the Rose bell?", "Lily bell", "1300"),
    ("Which is heavier, the Lily bell or the Rose bell?", "Rose bell", "90 kilogram"),
    ("Which is lighter, the Rose bell or the Lily chest?", "Lily chest", "15 kilogram"),
    ("What is the heaviest thing?", "Rose bell", "90 kilogram"),
])  # fmt: skip
def test_what_is_compared_is_what_is_named(treasury: Release, question: str, name: str, value: str) -> None:
    """Not "Lily" and "bell or the Rose bell"; and numbers have their units."""
    answer = ask(treasury, question)
    assert answer.exhaustive and labels_of(answer) == {name} and f"({value})" in answer.text


def test_a_part_of_a_name_is_compared_with_nothing(treasury: Release) -> None:
    assert not ask(treasury, "Which is older, the Lily or the Rose?").exhaustive


def test_what_was_sold_was_not_given(treasury: Release) -> None:
    answer = ask(treasury, "Which things did Ann Orme give?")
    assert answer.exhaustive and labels_of(answer) == {"Lily bell"}


def test_who_lost_something_to_a_thief_neither_gave_nor_stole_it(treasury: Release) -> None:
    assert "given by House of Holt" not in ask(treasury, "Who gave the Lily chest?").text
    stole = ask(treasury, "Who stole the Lily chest?")
    assert not stole.exhaustive and "House of Holt stole" not in stole.text


def test_where_things_may_have_been_is_not_where_they_are(treasury: Release) -> None:
    answer = ask(treasury, "What is in the Treasury?")
    assert not answer.exhaustive and labels_of(answer) == {"Lily bell"}
    assert "Vault" in (where := ask(treasury, "Where is the Lily chest?").text) and "Treasury" not in where


def test_what_is_somewhere_now_is_told_as_exact_where_nothing_may_have_been_there(treasury: Release) -> None:
    answer = ask(treasury, "What is in the Vault?")
    assert answer.exhaustive and labels_of(answer) == {"Lily chest"}


def test_who_led_is_not_everybody_who_took_part(treasury: Release) -> None:
    assert not ask(treasury, "Who led the North Voyage?").exhaustive
    everybody = ask(treasury, "Who carried out the North Voyage?")
    assert "Ann Orme" in everybody.text and "Ben Quill" in everybody.text


def test_what_is_done_in_a_role_is_done_as_well(treasury: Release) -> None:
    """She led one voyage, and of the survey no role is told."""
    assert labels_of(ask(treasury, "Which bells did Ann Orme discover?")) == {"Lily bell", "Rose bell"}


def test_in_which_letters_asks_for_letters_and_for_no_fact(treasury: Release) -> None:
    assert labels_of(ask(treasury, "In which letters is the Lily bell mentioned?")) == {
        "Ann Orme to the House"
    }


def test_how_much_asks_for_a_number(treasury: Release) -> None:
    answer = ask(treasury, "How much did the House of Holt pay for the Lily bell?")
    assert answer.refused and "“price”" in answer.text


def test_who_did_most_is_told_by_the_verb(treasury: Release) -> None:
    """Of gifts and purchases none is more likely meant."""
    answer = ask(treasury, "Who gave the most?")
    assert labels_of(answer) == {"Ann Orme"} and not answer.exhaustive
