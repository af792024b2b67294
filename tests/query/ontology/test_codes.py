"""Names of every version, namespace and profile come to one code."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.reading import default_folder
from crmrag_query.ontology.load import (
    Normalised,
    load_ontology,
    local_name,
    normalise_class,
    normalise_property,
    take_apart,
)

CRM = "http://www.cidoc-crm.org/cidoc-crm/"
ECRM = "http://erlangen-crm.org/current/"
FRBROO = "http://iflastandards.info/ns/fr/frbr/frbroo/"
ONTOLOGY = load_ontology()
RENAMES = list(
    csv.DictReader((default_folder() / "ontology" / "renames.csv").read_text("utf-8").splitlines())
)
CORRECTED = {"R4_carriers_provided_by"}  # its listed successor reads from the other end


def found(iri: str, kind: str) -> Normalised:
    normalised = normalise_class(iri) if kind == "class" else normalise_property(iri)
    assert normalised is not None, iri
    return normalised


@pytest.mark.parametrize(
    ("iri", "code", "rule"),
    [
        (CRM + "E22_Human-Made_Object", "E22", "exact"),
        (CRM + "E22_Man-Made_Object", "E22", "renamed"),
        (CRM + "E82_Actor_Appellation", "E41", "renamed"),
        (CRM + "E38_Image", "E36", "renamed"),
        (CRM + "E40_Legal_Body", "E74", "renamed"),
        (CRM + "E41_E33_Linguistic_Appellation", "E33_E41", "version"),
        (CRM + "E22", "E22", "version"),
        (CRM + "PC14_carried_out_by", "PC14", "exact"),
        ("https://www.cidoc-crm.org/cidoc-crm/E53_Place", "E53", "exact"),
        ("https://cidoc-crm.org/cidoc-crm/7.1.3/E53_Place", "E53", "exact"),
        ("http://www.cidoc-crm.org/rdfs/cidoc-crm#E21_Person", "E21", "exact"),
        ("http://purl.org/NET/cidoc-crm/core#E21_Person", "E21", "exact"),
        (ECRM + "E21_Person", "E21", "erlangen"),
        ("http://erlangen-crm.org/170309/E22_Man-Made_Object", "E22", "renamed"),
        ("http://www.ics.forth.gr/isl/CRMdig/D1_Digital_Object", "D1", "exact"),
        ("http://www.cidoc-crm.org/extensions/crmdig/D1_Digital_Object", "D1", "exact"),
        ("http://www.ics.forth.gr/isl/CRMsci/S19_Encounter_Event", "S19", "exact"),
        (FRBROO + "F38_Character", "F38", "exact"),
        (FRBROO + "F22_Self-Contained_Expression", "F2", "renamed"),
        ("http://w3id.org/vir#IC9_Representation", "IC9", "exact"),
        ("http://w3id.org/vir#IC1_Iconographical_Atom", "IC1", "renamed"),
        ("https://linked.art/ns/terms/Set", "linked_art:Set", "linked-art"),
        ("https://linked.art/ns/terms/HumanMadeObject", "E22", "linked-art"),
        ("urn:ManMadeObject", "E22", "linked-art"),
    ],
)
def test_classes(iri: str, code: str, rule: str) -> None:
    normalised = found(iri, "class")
    assert (normalised.code, normalised.rule) == (code, rule)


@pytest.mark.parametrize(
    ("iri", "code", "rule"),
    [
        (CRM + "P108i_was_produced_by", "P108i", "exact"),
        (CRM + "P131_is_identified_by", "P1", "renamed"),
        (CRM + "P131i_identifies", "P1i", "renamed"),
        (CRM + "P87_is_identified_by", "P1", "renamed"),
        (CRM + "P108_i_was_produced_by", "P108i", "version"),
        (CRM + "P108B_was_produced_by", "P108i", "version"),
        (CRM + "P14F_carried_out_by", "P14", "version"),
        (CRM + "P82a_begin_of_the_begin", "P82a", "exact"),
        (CRM + "P14.1_in_the_role_of", "P14.1", "exact"),
        (CRM + "P168_is_approximated_by", "P168", "version"),
        (CRM + "P117_occurs_during", "P117", "version"),
        (ECRM + "P108i_was_produced_by", "P108i", "erlangen"),
        (FRBROO + "R30_produced", "frbroo:R30", "exact"),
        (FRBROO + "R25i_was_performed_in", "R25i", "exact"),
        ("http://www.ics.forth.gr/isl/CRMdig/L54_is_same-as", "L54", "renamed"),
        ("http://www.ics.forth.gr/isl/CRMdig/F1_is_derivative_of", "F1", "exact"),
        ("http://w3id.org/vir#K24_portray", "K24", "exact"),
        ("https://linked.art/ns/terms/produced_by", "P108i", "linked-art"),
        ("https://linked.art/ns/terms/digitally_shown_by", "linked_art:digitally_shown_by", "linked-art"),
    ],
)
def test_properties(iri: str, code: str, rule: str) -> None:
    normalised = found(iri, "property")
    assert (normalised.code, normalised.rule) == (code, rule)


@pytest.mark.parametrize(
    "iri",
    [
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        "http://www.w3.org/2000/01/rdf-schema#label",
        "http://www.w3.org/2004/02/skos/core#Concept",
        "http://example.org/E22_Human-Made_Object",
        CRM + "E999_Unheard_Of",
        CRM,
        "urn:identifier",
        "urn:skolem:E22_x",
        "",
    ],
)
def test_what_is_not_of_the_family_is_left_to_the_caller(iri: str) -> None:
    assert normalise_class(iri) is None
    assert normalise_property(iri) is None


@pytest.mark.parametrize("row", RENAMES, ids=lambda row: row["old"])
def test_every_rename_leads_to_its_new_code(row: dict[str, str]) -> None:
    kind = "property" if row["old"][0] in "PLRK" else "class"
    normalised = found(namespace(row["old"]) + row["old"], kind)
    targets = {spelling.code for part in row["new"].split(" + ") if (spelling := take_apart(part))}
    targets &= set(ONTOLOGY.classes) | set(ONTOLOGY.properties)
    if not targets:  # a literal type, or nothing at all: the name keeps its code
        assert normalised.code == normalised.stated
    elif row["confidence"] == "approx":
        below = ONTOLOGY.subclasses if kind == "class" else ONTOLOGY.subproperties
        assert all(normalised.code in below(target) for target in targets)
    else:
        assert {normalised.code} == targets


def test_every_listed_rename_is_shipped(shared_data: Path) -> None:
    listed = csv.DictReader(
        (shared_data.parent / "facts" / "crm_renames.csv").read_text("utf-8").splitlines()
    )
    shipped = {row["old"]: row["new"] for row in RENAMES}
    for row in listed:
        if row["kind"] not in ("property notation", "namespace") and row["old"] not in CORRECTED:
            assert shipped[row["old"]] == row["new"]


def namespace(name: str) -> str:
    if name[0] in "FR":
        return FRBROO
    if name[0] == "L":
        return "http://www.ics.forth.gr/isl/CRMdig/"
    if name[0] == "S":
        return "http://www.ics.forth.gr/isl/CRMsci/"
    return "http://w3id.org/vir#" if name.startswith(("IC", "K")) else CRM


@pytest.mark.parametrize(
    ("name", "code", "turned"),
    [
        (CRM + "P88_consists_of", "P89i", True),
        (CRM + "P88i_forms_part_of", "P89", True),
        (CRM + "P131_is_identified_by", "P1", False),
        (FRBROO + "R10_has_member", "R10i", True),
        (FRBROO + "R4_carriers_provided_by", "R4i", True),
        (FRBROO + "R4i_comprises_carriers_of", "R4", True),
    ],
)
def test_a_property_that_turns_direction_says_so(name: str, code: str, turned: bool) -> None:
    assert (found(name, "property").code, found(name, "property").turned) == (code, turned)


@pytest.mark.parametrize("kind", ["class", "property"])
def test_every_term_of_every_table_comes_to_a_known_code(kind: str) -> None:
    terms = ONTOLOGY.classes if kind == "class" else ONTOLOGY.properties
    for term in terms.values():
        if term.iri:
            assert found(term.iri, kind).code in terms


@pytest.mark.parametrize(
    "file", ["cidoc_crm_v6_2.rdf", "ecrm_170309_crm-6.2.2.owl", "ecrm_211015_crm-7.1.1.owl"]
)
def test_no_name_of_another_version_is_lost(file: str, shared_data: Path) -> None:
    from crmrag_query.ontology.load import extract

    for row in extract([shared_data / "ontologies" / file]).rows:
        assert found(row.iri, row.kind)


CODED = st.sampled_from(
    sorted(code for code, term in ONTOLOGY.properties.items() if term.iri.startswith(CRM))
)


@given(CODED, st.from_regex(r"[a-z][a-z_-]{0,20}", fullmatch=True), st.sampled_from([CRM, ECRM]))
def test_the_code_decides_whatever_words_follow_it(code: str, words: str, space: str) -> None:
    if f"{code}_{words}" not in ONTOLOGY.names["property"] and words != "i" and not words.startswith("i_"):
        assert found(f"{space}{code}_{words}", "property").code == code


@given(st.text(max_size=60))
def test_any_text_is_normalised_to_a_known_code_or_nothing(text: str) -> None:
    for iri in (text, CRM + text, "https://linked.art/ns/terms/" + text):
        as_class, as_property = normalise_class(iri), normalise_property(iri)
        assert as_class is None or as_class.code in ONTOLOGY.classes
        assert as_property is None or as_property.code in ONTOLOGY.properties


def test_local_names_undo_percent_escapes() -> None:
    assert local_name("http://example.org/a#E22_Human%2DMade%20Object") == "E22_Human-Made_Object"
