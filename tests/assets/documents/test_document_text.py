"""What documents say, line by line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.assets.documents.made import changed, method_and_ontology, setting_of, text_of

CHURCH = """
:asinou a crm:E22_Human-Made_Object ; rdfs:label "Panagia of Asinou"@en , "Παναγία της Ασίνου"@el ;
    crm:P1_is_identified_by :name , :number ; crm:P2_has_type :church ; crm:P43_has_dimension :height ;
    crm:P104_is_subject_to :right ; crm:P3_has_note "A church\\n[Thing] in the Troodos" ; crm:P46_is_composed_of :narthex ;
    crm:P53_has_former_or_current_location :nikitari ; owl:sameAs <http://www.wikidata.org/entity/Q30773293> .
:name a crm:E41_Appellation ; rdfs:label "Phorbiotissa" .
:number a crm:E42_Identifier ; crm:P190_has_symbolic_content "351-5" ; crm:P2_has_type :code .
:code a crm:E55_Type ; rdfs:label "UNESCO number" .
:church a crm:E55_Type ; rdfs:label "church"@en , "εκκλησία"@el .
:height a crm:E54_Dimension ; crm:P90_has_value 5 ; crm:P91_has_unit :m ; crm:P2_has_type :h .
:m a crm:E58_Measurement_Unit ; rdfs:label "m" . :h a crm:E55_Type ; rdfs:label "Height" .
:right a crm:E30_Right ; rdfs:label "Public domain" .
:narthex a crm:E22_Human-Made_Object ; rdfs:label "Narthex" .
:nikitari a crm:E53_Place ; rdfs:label "Nikitari" .
:building a crm:E12_Production ; rdfs:label "Building of Asinou" ; crm:P108_has_produced :asinou ;
    crm:P14_carried_out_by :nikephoros ; crm:P4_has_time-span :span .
:span a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1099-01-01"^^xsd:date ;
    crm:P82b_end_of_the_end "1104-12-31"^^xsd:date .
:nikephoros a crm:E21_Person ; rdfs:label "Nikephoros" ; crm:P2_has_type :magistros .
:magistros a crm:E55_Type ; rdfs:label "Magistros" .
"""


THING = "a crm:E22_Human-Made_Object ; rdfs:label"
PARTS = "".join(f':p{i:02} {THING} "Part {i:02}" .' for i in range(37))
JUDGMENTS = "".join(f':{part} {THING} "Last Judgment" .' for part in "abc")
NOTES = " , ".join(f'"{i} {"word " * 80}"' for i in range(5))
PAINTED = """
:pc a crm:PC14_carried_out_by ; crm:P01_has_domain :painting ; crm:P02_has_range :theodore ;
    <http://www.cidoc-crm.org/cidoc-crm/P14.1_in_the_role_of> :painter .
:painting a crm:E12_Production ; rdfs:label "Painting of Asinou" . :theodore a crm:E21_Person ; rdfs:label "Theodore" .
:painter a crm:E55_Type ; rdfs:label "painter" .
"""
MADE = """
:church a crm:E22_Human-Made_Object ; rdfs:label "Church" .
:making a crm:E12_Production ; rdfs:label "Making" ; crm:P108_has_produced :church ; crm:P31_has_modified :church .
:repair a crm:E11_Modification ; rdfs:label "Repair" ; crm:P31_has_modified :church .
"""
CASES = {
    "a line names ten targets and the true number": (
        f":x {THING} 'X' ; crm:P46_is_composed_of {', '.join(f':p{i:02}' for i in range(37))} . {PARTS}",
        "x", [r": Part 00.*Part 09 and 27 more$"],
    ),
    "equal names are counted, not repeated": (
        f":x {THING} 'X' ; crm:P46_is_composed_of :a , :b , :c . {JUDGMENTS}", "x", ["Last Judgment ×3"]
    ),
    "literals are cut in the text and their number is true": (
        f":x {THING} 'X' ; crm:P3_has_note {NOTES} .", "x", [r"^Note: (?:[^;]{,200}; ){2}[^;]{,200} and 2 more$"]
    ),
    "reified relationships read from the event": (
        PAINTED, "painting", [r"^Carried out by: Theodore \(in the role of painter\)$"]
    ),
    "reified relationships read from the actor": (
        PAINTED, "theodore", [r"^Performed: Painting of Asinou \(in the role of painter\)$"]
    ),
    "a direct predicate stays where no line states it": (
        """:icon a vir:IC9_Representation ; rdfs:label "Icon" ; vir:K17_has_attribute :halo ; vir:K24_portray :mary .
        :halo a vir:IC10_Attribute ; rdfs:label "halo" . :mary a vir:IC16_Character ; rdfs:label "Mary" .
        :wall a crm:E22_Human-Made_Object ; rdfs:label "Wall" ; vir:K1i_is_denoted_by :icon .""",
        "icon", ["halo", "Mary", "Wall"],
    ),
    "attributes are noted at the target": (
        """:atom a vir:IC1_Iconographical_Atom ; rdfs:label "Atom" ; vir:K1_denotes :icon .
        :icon a vir:IC9_Representation ; rdfs:label "Saint George" ; vir:K17_has_attribute :horse .
        :horse a vir:IC10_Attribute ; rdfs:label "horse" .""",
        "atom", [r"Saint George \(horse\)"],
    ),
    "a fact stays that a relationship could state but does not": (
        """:icon a crm:E22_Human-Made_Object ; rdfs:label "Icon" ; crm:P55_has_current_location :nikitari , :theodore .
        :nikitari a crm:E53_Place ; rdfs:label "Nikitari" . :theodore a crm:E21_Person ; rdfs:label "Theodore" .""",
        "icon", ["^Is in: Nikitari$", "^Has current location: Theodore$"],
    ),
    "what was made and modified by one event is told as made": (
        MADE, "church", ["^Made in: Making$", "^Altered in: Repair$"]
    ),
    "an event is told by what it made": (MADE, "making", ["^Made: Church$"]),
    "an event gives its date": (CHURCH, "building", ["^Date: 1099–1104$"]),
    "a time-span is told with its dates where its name has none": (
        f"""{CHURCH} :span rdfs:label "Building date" .""", "building", [r"^Date: Building date \(1099–1104\)$"]
    ),
    "a time-span that is called by its year is told by it": (
        f"""{CHURCH} :span rdfs:label "around 1099" .""", "building", ["^Date: around 1099$"]
    ),
    "at what event a thing was is told with what is known of it, where nothing else tells that": (
        f""":hoard {THING} "Hoard of Arvona" . :find a crm:E5_Event ; rdfs:label "Find of the Hoard of Arvona" ;
        crm:P12_occurred_in_the_presence_of :hoard ; crm:P7_took_place_at :arvona ; crm:P4_has_time-span :day .
        :day a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1934-04-11"^^xsd:date ;
        crm:P82b_end_of_the_end "1934-04-11"^^xsd:date . :arvona a crm:E53_Place ; rdfs:label "Arvona" .""",
        "hoard", [r"^Was present at: Find of the Hoard of Arvona \(11 April 1934\)$", "^Was at an event in: Arvona$"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_a_document_says(case: str, tmp_path: Path) -> None:
    source, name, patterns = CASES[case]
    text = text_of(setting_of(source, tmp_path), name)
    for pattern in patterns:
        assert re.search(pattern, text, re.MULTILINE), text


def test_a_church_reads_well(tmp_path: Path) -> None:
    setting = setting_of(CHURCH, tmp_path)
    text = text_of(setting, "asinou")
    assert text.splitlines()[:8] == [
        "[Thing] Panagia of Asinou",
        "Type: church (εκκλησία)",
        "Also known as: Phorbiotissa",
        "Name (el): Παναγία της Ασίνου",
        "Identifiers: 351-5 (UNESCO number)",
        "Note: A church [Thing] in the Troodos",
        "Dimensions: height 5 m",
        "Rights: Public domain",
    ]
    lines = text.splitlines()
    assert "Made by: Nikephoros (Magistros)" in lines
    # Of the event of this church alone its maker and its date are told.
    assert "Date made: 1099–1104" in lines and "Building of Asinou" not in text
    assert "Is or was in: Nikitari" in lines and "Has part: Narthex" in lines
    # What is for machines is on the page of the entity, and in its record.
    assert "wikidata" not in text and "http" not in text and "E22" not in text
    # A general line gives way to a specific one that says the same.
    assert sum("Nikephoros" in line for line in lines) == 1
    assert "modified" not in text and "has met" not in text
    assert text_of(setting, "building").count("1099–1104") == 1


UNTRUE = """
:letter a crm:E22_Human-Made_Object ; rdfs:label "Letter" ; crm:P108i_was_produced_by :writing ;
    crm:P62_depicts :cyprus ; crm:P52_has_current_owner :museum .
:writing a crm:E12_Production ; rdfs:label "Writing" ; crm:P14_carried_out_by :ann ; crm:P9i_forms_part_of :journey .
:journey a crm:E7_Activity ; rdfs:label "Journey" ; crm:P7_took_place_at :rome , :paris ; crm:P14_carried_out_by :bob .
:club a crm:E74_Group ; rdfs:label "Club" ; crm:P107_has_current_or_former_member :ann .
:ann a crm:E21_Person ; rdfs:label "Ann" . :bob a crm:E21_Person ; rdfs:label "Bob" .
:museum a crm:E74_Group ; rdfs:label "Museum" .
:rome a crm:E53_Place ; rdfs:label "Rome" . :paris a crm:E53_Place ; rdfs:label "Paris" .
:cyprus a crm:E53_Place ; rdfs:label "Cyprus" . :nicosia a crm:E53_Place ; rdfs:label "Nicosia" ;
    crm:P89_falls_within :cyprus .
"""


@pytest.mark.parametrize("catalogue", ["fr76", "fr109"])
def test_a_text_says_no_more_than_its_paths_show(catalogue: str, tmp_path: Path) -> None:
    setting = setting_of(UNTRUE, tmp_path, catalogue=catalogue)
    letter = text_of(setting, "letter").splitlines()
    assert {"Made by: Ann", "Shows: Cyprus", "Owned by: Museum"} <= set(letter)
    told = "\n".join(letter)
    assert not [name for name in ("Club", "Bob", "Rome", "Paris", "Nicosia") if name in told]
    assert "Letter" not in text_of(setting, "cyprus") and "Letter" in text_of(setting, "ann")


def test_no_line_begins_with_a_text_of_the_data(tmp_path: Path) -> None:
    source = r"""
    :x a crm:E22_Human-Made_Object ; rdfs:label "A\n[Actor] Forged\rcreated by: nobody" ; crm:P46_is_composed_of :y .
    :y a crm:E22_Human-Made_Object ; rdfs:label "B\u2028[Place] C" .
    """
    text = text_of(setting_of(source, tmp_path), "x")
    assert [line for line in text.splitlines() if line.startswith("[")] == [
        "[Thing] A [Actor] Forged created by: nobody"
    ]


def test_what_is_cut_is_told(tmp_path: Path) -> None:
    method = changed(method_and_ontology()[0], "documents", lines=3)
    facts = " ; ".join(f":says{i} :t{i}" for i in range(9))
    named = " ".join(f":t{i} {THING} 'T{i}' ." for i in range(9))
    setting = setting_of(f":x {THING} 'X' ; {facts} . {named}", tmp_path, method=method)
    last = text_of(setting, "x").splitlines()[-1]
    assert last.startswith("and 6 more relationships: ")


def test_the_same_fact_stated_from_both_ends_takes_one_line(tmp_path: Path) -> None:
    source = """
    :a a crm:E53_Place ; rdfs:label "A" ; crm:P189_approximates :b .
    :b a crm:E53_Place ; rdfs:label "B" ; crm:P189i_is_approximated_by :a .
    """
    text = text_of(setting_of(source, tmp_path), "a")
    assert sum(line.endswith(": B") for line in text.splitlines()) == 1
