"""Facts of one thing in the data's own words: properties, parts, roles and events that no relation of the catalogue knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.answers.ask import ask
from crmrag_query.answers.facts import statements_of
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from tests.support.builds import build_all, make_project
from tests.support.parse_world import PREFIXES
from tests.support.shared import shared_release

WORLD = (
    f"""{PREFIXES}
@prefix own: <http://example.org/own/> .
own:shelfmark rdfs:label "shelfmark"@en . own:tuningPitch rdfs:label "tuning pitch"@en, "Stimmton"@de .
:letter-type a crm:E55_Type ; rdfs:label "letter"@en . :seal-type a crm:E55_Type ; rdfs:label "wax seal"@en .
:engraver a crm:E55_Type ; rdfs:label "die engraver"@en . :dig a crm:E55_Type ; rdfs:label "trench"@en .
:era a crm:E4_Period ; rdfs:label "Long Winter" .

:note a crm:E22_Human-Made_Object ; rdfs:label "Letter of the Harbour" ; crm:P2_has_type :letter-type ;
  own:shelfmark "MS 17/3" ; crm:P56_bears_feature :seal .
:seal a crm:E25_Human-Made_Feature ; crm:P2_has_type :seal-type ; crm:P3_has_note "green, a ship with two masts" .
:sale a crm:E8_Acquisition ; rdfs:label "Sale 4" ; crm:P24_transferred_title_of :note ; crm:P22_transferred_title_to :buyer ;
  crm:P23_transferred_title_from :seller ; crm:P4_has_time-span :sale-time .
:sale-time a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1911-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "1911-12-31"^^xsd:date .
:note crm:P43_has_dimension :extent . :leaves a crm:E55_Type ; rdfs:label "number of leaves"@en .
:extent a crm:E54_Dimension ; crm:P2_has_type :leaves ; crm:P90_has_value "14" .
:show a crm:E7_Activity ; rdfs:label "The Silent Harbour" ; crm:P14_carried_out_by :finder ;
  crm:P4_has_time-span :finding-time .
:buyer a crm:E21_Person ; rdfs:label "Berta Quist" . :seller a crm:E21_Person ; rdfs:label "Carl Ostrander" .

:thaler a crm:E22_Human-Made_Object ; rdfs:label "Thaler of Holm" .
:striking a crm:E12_Production ; rdfs:label "Striking of Thaler of Holm" ; crm:P108_has_produced :thaler ;
  crm:P10_falls_within :era .
:part-in a crm:PC14_carried_out_by ; crm:P01_has_domain :striking ; crm:P02_has_range :cutter ;
  <http://www.cidoc-crm.org/cidoc-crm/P14.1_in_the_role_of> :engraver .
:cutter a crm:E21_Person ; rdfs:label "Dora Lund" .
:other-making a crm:E12_Production ; rdfs:label "Casting of a bell" ; crm:P108_has_produced :bell ;
  crm:P10_falls_within :era ; crm:P14_carried_out_by :founder .
:bell a crm:E22_Human-Made_Object ; rdfs:label "Bell of Holm" ; own:tuningPitch "a sharp g" .
:founder a crm:E21_Person ; rdfs:label "Emil Falk" .

:find a crm:E22_Human-Made_Object ; rdfs:label "Bronze rooster" .
:finding a crm:E7_Activity ; rdfs:label "Find by Freja Holt" ; own:brings_to_light :find ; crm:P14_carried_out_by :finder ;
  crm:P7_took_place_at :trench ; crm:P4_has_time-span :finding-time .
:finder a crm:E21_Person ; rdfs:label "Freja Holt" . :trench a crm:E53_Place ; rdfs:label "Plot 5" ; crm:P2_has_type :dig .
:finding-time a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "2014-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "2014-12-31"^^xsd:date .
:chapel a crm:E22_Human-Made_Object ; rdfs:label "Holm chapel" .
:frescoing a crm:E55_Type ; rdfs:label "fresco painting"@en . :mason-type a crm:E55_Type ; rdfs:label "masonry"@en .
"""
    + "".join(
        f"""
:work-{name} a crm:E12_Production ; rdfs:label "{label}" ; crm:P31_has_modified :chapel ; crm:P2_has_type :{kind} ;
  crm:P17_was_motivated_by :gift-{name} ; crm:P4_has_time-span :span-{name} .
:gift-{name} a crm:E7_Activity ; rdfs:label "Gift {name}" ; crm:P14_carried_out_by :donor-{name} .
:donor-{name} a crm:E21_Person ; rdfs:label "{donor}" .
:span-{name} a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "{year}-01-01"^^xsd:date ;
  crm:P82b_end_of_the_end "{year}-12-31"^^xsd:date .
"""
        for name, label, kind, donor, year in (
            ("a", "First paintings in the porch", "frescoing", "Gerda Moll", 1410),
            ("b", "Paintings of the nave", "frescoing", "Hans Ilk", 1380),
            ("c", "Cleaning of the paintings", "mason-type", "Ida Juhl", 1950),
        )
    )
    + """
:crate a crm:E22_Human-Made_Object ; rdfs:label "FE-1894-006" ; crm:P2_has_type :letter-type .
"""
)


def _build(folder: Path) -> None:
    project = make_project(folder, WORLD, languages=["en", "de"], write_markdown=False)
    build_all(project.context())


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return shared_release(tmp_path_factory, "statements", _build)


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the shelfmark of Letter of the Harbour?", ["MS 17/3"]),
        ("What does the seal of Letter of the Harbour look like?", ["a ship with two masts"]),
        ("Letter of the Harbour: who bought it, and from whom?", ["Berta Quist", "Carl Ostrander"]),
        ("When and from whom did the museum acquire Letter of the Harbour?", ["1911", "Carl Ostrander"]),
        ("From whom and in what year did they buy Letter of the Harbour?", ["1911", "Carl Ostrander"]),
        ("Von wem bekam das Museum den Letter of the Harbour?", ["Carl Ostrander"]),
        (
            "What is the shelfmark of Letter of the Harbour, and how many leaves does it have?",
            ["MS 17/3", "14"],
        ),
        ("Tell me about The Silent Harbour: when was it, and who carried it out?", ["2014", "Freja Holt"]),
        ("Who engraved the dies for Thaler of Holm?", ["Dora Lund"]),
        ("What is the tuning pitch of Bell of Holm?", ["a sharp g"]),
        ("Was ist der Stimmton von Bell of Holm?", ["a sharp g"]),
        (
            "Who discovered Bronze rooster, in which trench, and in what year?",
            ["Freja Holt", "Plot 5", "2014"],
        ),
    ],
)
def test_what_the_data_calls_a_fact_is_how_it_is_asked_for(
    world: Release, question: str, told: list[str]
) -> None:
    answer = ask(world, question)
    assert not answer.refused
    assert [one for one in told if one not in answer.text] == []
    assert any(source.cited and source.triples for source in answer.sources)


@pytest.mark.parametrize(
    ("question", "never"),
    [
        ("Who made Thaler of Holm?", "Emil Falk"),  # he made something else in the same period
        ("How big a reward did the finder of Bronze rooster get?", "Plot 5"),
        ("Where is Bronze rooster kept today?", "is in Plot 5"),
    ],
)
def test_what_is_stated_of_others_is_no_fact_of_the_thing(world: Release, question: str, never: str) -> None:
    first = ask(world, question).text.split("\n")[0]
    assert never not in first


def test_where_something_was_found_is_not_where_it_is(world: Release) -> None:
    answer = ask(world, "Where is Bronze rooster kept today?")
    assert answer.refused and "not tell" in answer.text


def test_a_period_leads_to_no_other_events(world: Release) -> None:
    graph = world[Graph]
    thaler = next(node for node in range(graph.nodes) if graph.label(node) == "Thaler of Holm")
    reached = {graph.label(one.end) for one in statements_of(world, thaler) if one.end >= 0}
    assert {"Dora Lund", "Long Winter"} <= reached
    assert not {"Emil Falk", "Bell of Holm", "Casting of a bell"} & reached


def test_a_code_is_told_with_what_it_is_of(world: Release) -> None:
    graph = world[Graph]
    labels = {graph.label(node) for node in range(graph.nodes)}
    assert "letter FE-1894-006" in labels


@pytest.mark.parametrize(
    ("question", "told", "never"),
    [
        ("Who paid for the paintings of Holm chapel?", ("Gerda Moll", "Hans Ilk"), ("Ida Juhl",)),
        ("Who paid for the first paintings of Holm chapel?", ("Hans Ilk",), ("Gerda Moll", "Ida Juhl")),
        ("Who paid for the last paintings of Holm chapel?", ("Gerda Moll",), ("Hans Ilk", "Ida Juhl")),
        ("When was Holm chapel first painted?", ("1380",), ("1410", "1950")),
    ],
)
def test_what_was_done_to_a_thing_has_its_own_patron_and_the_first_is_the_earliest(
    world: Release, question: str, told: tuple[str, ...], never: tuple[str, ...]
) -> None:
    """Who paid for the paintings of a chapel paid neither for the chapel nor for what is only called after its paintings."""
    text = ask(world, question).text
    assert [one for one in told if one not in text] == [one for one in never if one in text] == [], text
