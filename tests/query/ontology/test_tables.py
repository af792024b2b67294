"""One ontology of many tables: unique codes, closed references, hierarchies, inverses and labels."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import pytest

from crmrag_query.config.reading import default_folder
from crmrag_query.errors import OntologyError
from crmrag_query.ontology.load import Ontology, extract, load_ontology, load_vocabulary, to_csv


@pytest.fixture(scope="module")
def ontology() -> Ontology:
    return load_ontology()


def test_every_reference_is_known(ontology: Ontology) -> None:
    for term in [*ontology.classes.values(), *ontology.properties.values()]:
        own = ontology.classes if term.kind == "class" else ontology.properties
        assert set(term.parents) <= set(own)
        assert {term.domain, term.range} - {""} <= set(ontology.classes) | {term.range} - (
            {term.range} & set(own)
        )
        assert term.range in ontology.classes or term.range == "" or term.range.startswith(("rdfs:", "xsd:"))
        assert term.inverse == "" or term.inverse in ontology.properties


def test_no_class_or_property_is_above_itself(ontology: Ontology) -> None:
    for code, term in ontology.classes.items():
        assert all(code not in ontology.superclasses(parent) for parent in term.parents)
    for code in ontology.properties:
        assert all(code not in ontology.subproperties(below) for below in ontology.subproperties(code))


def test_inverse_is_an_involution(ontology: Ontology) -> None:
    for code in ontology.properties:
        inverse = ontology.inverse(code)
        assert inverse is None or ontology.inverse(inverse) == code


@pytest.mark.parametrize(
    ("code", "inverse"),
    [
        ("P108", "P108i"),
        ("P108i", "P108"),
        ("P121", "P121"),
        ("K24", "K24i"),
        ("P82a", None),
        ("nothing", None),
    ],
)
def test_inverses(ontology: Ontology, code: str, inverse: str | None) -> None:
    assert ontology.inverse(code) == inverse


def test_closures_are_sorted_and_exclude_the_code_itself(ontology: Ontology) -> None:
    assert ontology.superclasses("E22") == (
        "E1", "E18", "E19", "E24", "E70", "E71", "E72", "E77", "S10", "S15",
    )  # fmt: skip
    assert {"E12", "E65", "E80", "S1"} <= set(ontology.subclasses("E5"))
    below = ontology.subproperties("P12")
    assert list(below) == sorted(below)
    assert {"P11", "P14", "P31", "P108", "P92", "L11"} <= set(below)
    assert "P12" not in below


def test_sub_properties_of_an_inverse_mirror_those_of_the_property(ontology: Ontology) -> None:
    for code in ontology.properties:
        inverse = ontology.inverse(code)
        if inverse and inverse != code:
            paired = {ontology.inverse(below) for below in ontology.subproperties(code)} - {None}
            assert paired <= set(ontology.subproperties(inverse))


def test_domain_and_range_turn_with_the_inverse(ontology: Ontology) -> None:
    forth, back = ontology.property_("P108"), ontology.property_("P108i")
    assert (forth.domain, forth.range) == (back.range, back.domain) == ("E12", "E24")
    assert ontology.property_("P82a").range == "rdfs:Literal"


def test_labels_follow_the_languages_in_order_then_english(ontology: Ontology) -> None:
    assert ontology.label("E53", "el") == "Τόπος"
    assert ontology.label("P108i", ["xx", "de"]) == "wurde hergestellt durch"
    assert ontology.label("IC9", "el") == "Representation"
    assert ontology.label("no such code") == "no such code"


def test_a_property_and_a_class_of_one_code_are_kept_apart(ontology: Ontology) -> None:
    assert ontology.classes["F1"].name == "F1_Work"
    assert ontology.property_("F1").name == "F1_is_derivative_of"
    assert ontology.label("F1") == "Work"
    assert ontology.label("F1", kind="property") == "is derivative of"


def test_a_code_that_two_ontologies_use_differently_is_qualified(ontology: Ontology) -> None:
    assert ontology.property_("R30").name == "R30_reproduced_publication"
    assert ontology.property_("frbroo:R30").name == "R30_produced"
    assert ontology.inverse("frbroo:R35") == "frbroo:R35i"
    assert ontology.property_("crmdig:L61").name == "L61_was_ongoing_at"


def test_what_left_the_crm_without_an_equal_stands_below_what_it_implies(ontology: Ontology) -> None:
    assert ontology.property_("P117").parents == ("P176i", "P185")
    assert "P117" in ontology.subproperties("P185")
    assert ontology.inverse("P117") == "P117i"
    assert ontology.superclasses("F51")[:2] == ("E1", "E2")


def test_references_to_removed_classes_follow_their_successors(ontology: Ontology) -> None:
    assert ontology.property_("frbroo:R30").range == "E22"  # FRBRoo says E84 Information Carrier


def test_an_unknown_code_is_refused_with_the_nearest(ontology: Ontology) -> None:
    with pytest.raises(OntologyError, match=r"No property has the code 'P108j'\. Did you mean P108"):
        ontology.property_("P108j")


def test_loading_takes_less_than_60_ms() -> None:
    def seconds() -> float:
        load_vocabulary.__globals__["_load"].cache_clear()
        start = time.process_time()
        load_ontology()
        return time.process_time() - start

    assert min(seconds() for _ in range(5)) < 0.06


def test_a_table_that_a_user_adds_joins_without_further_steps(tmp_path: Path) -> None:
    source = tmp_path / "bells.ttl"
    source.write_text(
        "@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "<http://example.org/X1_Bell> a owl:Class ; rdfs:subClassOf crm:E22_Human-Made_Object .\n"
        "<http://example.org/E53_Belfry> a owl:Class .\n"
    )
    folder = tmp_path / "config"
    shutil.copytree(default_folder(), folder)
    (folder / "ontology" / "bells.csv").write_text(to_csv(extract([source])), encoding="utf-8")
    ontology = load_ontology(folder)
    assert "E24" in ontology.superclasses("X1")
    assert ontology.classes["E53"].name == "E53_Place"
    assert ontology.classes["bells:E53"].name == "E53_Belfry"


def test_a_listed_table_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "config"
    shutil.copytree(default_folder(), folder)
    index = folder / "ontology" / "index.yaml"
    index.write_text(
        index.read_text(encoding="utf-8").replace("  - vir\n", "  - vir\n  - lost_table\n"), encoding="utf-8"
    )
    with pytest.raises(OntologyError, match="lost_table"):
        load_ontology(folder)
