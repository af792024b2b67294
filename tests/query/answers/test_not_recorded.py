"""What is told of one thing where a question asks in words that the data has not, and in all of them that it has."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.artifacts.release import Release
from tests.support.builds import build_all, make_project
from tests.support.parse_world import PREFIXES
from tests.support.shared import shared_release

WORLD = f"""{PREFIXES}
@prefix own: <http://example.org/own/> .
own:opened rdfs:label "opening date"@en . own:heightMm rdfs:label "height (mm)"@en .
:shelfmark a crm:E55_Type ; rdfs:label "shelfmark"@en . :copy a crm:E55_Type ; rdfs:label "copy"@en .

:clock a crm:E22_Human-Made_Object ; rdfs:label "Clock of the town hall of Holm" ; own:heightMm "1940" ;
  crm:P45_consists_of :iron , :oak .
:made a crm:E12_Production ; rdfs:label "Making of Clock of the town hall of Holm" ; crm:P108_has_produced :clock ;
  crm:P14_carried_out_by :smith ; crm:P4_has_time-span :then .
:smith a crm:E21_Person ; rdfs:label "Emil Falk" .
:then a crm:E52_Time-Span ; rdfs:label "1779" ; crm:P82a_begin_of_the_begin "1779-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1779-12-31"^^xsd:date .
:iron a crm:E57_Material ; rdfs:label "wrought iron" .
:oak a crm:E57_Material ; rdfs:label "fumed oak" ; crm:P43_has_dimension :thick .
:thick a crm:E54_Dimension ; rdfs:label "thickness" ; crm:P90_has_value "6" ; crm:P91_has_unit :inch .
:inch a crm:E58_Measurement_Unit ; rdfs:label "inch" .

:show a crm:E7_Activity ; rdfs:label "The Colour Blue" ; own:opened "1987-03-01" ; crm:P14_carried_out_by :smith .

:book a crm:E22_Human-Made_Object ; rdfs:label "copy K 19.20" ; crm:P2_has_type :copy ; crm:P1_is_identified_by :mark .
:mark a crm:E42_Identifier ; rdfs:label "K 19.20" ; crm:P2_has_type :shelfmark .
:binding a crm:E11_Modification ; rdfs:label "Binding job 7" ; own:bound :book ; own:binder :ruth .
:ruth a crm:E21_Person ; rdfs:label "Ruth Ruyters" .

:ship a crm:E22_Human-Made_Object ; rdfs:label "Eleanor Tregarth" .
:voyage a crm:E9_Move ; rdfs:label "Last voyage of the Eleanor Tregarth" ; crm:P25_moved :ship ; crm:P26_moved_to :london ;
  crm:P14_carried_out_by :nance .
:london a crm:E53_Place ; rdfs:label "Lonmouth" . :nance a crm:E21_Person ; rdfs:label "Robert Nance" .
"""


def _build(folder: Path) -> None:
    build_all(make_project(folder, WORLD, languages=["en"], write_markdown=False).context())


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "recorded", _build)


@pytest.mark.parametrize("question", [
    "What is Clock of the town hall of Holm made of?", "De quoi est fait Clock of the town hall of Holm ?",
    "¿De qué está hecho Clock of the town hall of Holm?", "Di cosa è fatto Clock of the town hall of Holm?",
    "Από τι είναι φτιαγμένο το Clock of the town hall of Holm;",
])  # fmt: skip
def test_what_asks_for_a_material_and_for_no_maker_or_date(world: Release, question: str) -> None:
    text = ask(world, question).text
    assert "wrought iron" in text and "fumed oak" in text and "Falk" not in text and "1779" not in text


@pytest.mark.parametrize(
    "question", ["How tall is the Holm town hall clock?", "How big is the Holm town hall clock?"]
)
def test_a_number_of_the_datas_own_is_a_measure(world: Release, question: str) -> None:
    answer = ask(world, question)
    assert "height (mm)" in answer.text and "1940" in answer.text and not answer.refused


def test_a_portrait_tells_values_of_the_datas_own(world: Release) -> None:
    assert "Opening date: 1987-03-01" in ask(world, "Tell me about The Colour Blue").text
    assert ask(world, "Tell me about Clock of the town hall of Holm").text.count("1940") == 1


def test_what_names_a_thing_is_not_what_is_asked_of_it(world: Release) -> None:
    assert "Ruth Ruyters" in ask(world, "Who bound the copy with the shelfmark K 19.20?").text


def test_who_and_where_are_followed_by_what_is_recorded_of_them(world: Release) -> None:
    answer = ask(world, "Who was captain of the Eleanor Tregarth, and where was she bound?")
    refused, _, instead = answer.text.partition("\n")
    assert answer.refused and "captain" in refused and "Robert Nance" in instead and "Lonmouth" in instead


def test_a_material_is_told_as_such(world: Release) -> None:
    assert "6 inch" in ask(world, "How big is fumed oak?").text
    assert "Clock of the town hall of Holm" in ask(world, "What is fumed oak?").text
