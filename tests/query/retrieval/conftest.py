"""What the tests of retrieval share: the ontology, and two small releases built with the stand-in encoder."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.ontology.load import Ontology, load_ontology
from tests.support.builds import BASE, CRM, Project, build_all, make_project
from tests.support.froracle import Alphabet


@pytest.fixture(scope="session")
def ontology() -> Ontology:
    return load_ontology()


@pytest.fixture(scope="session")
def alphabet(ontology: Ontology) -> Alphabet:
    return Alphabet(ontology)


PREFIXES = f"""
@prefix crm: <{CRM}> . @prefix ex: <{BASE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
MUSEUM = """
ex:museum a crm:E53_Place ; rdfs:label "Museum" ; crm:P3_has_note {museum} .
ex:icon a crm:E22_Human-Made_Object ; rdfs:label "Icon of the Virgin" ; crm:P3_has_note {icon} ;
  crm:P55_has_current_location ex:museum ; crm:P67i_is_referred_to_by ex:text .
ex:bowl a crm:E22_Human-Made_Object ; rdfs:label "Glazed bowl" ; crm:P3_has_note {bowl} ;
  crm:P55_has_current_location ex:museum .
ex:chalice a crm:E22_Human-Made_Object ; rdfs:label "Silver chalice" ; crm:P3_has_note {chalice} ;
  crm:P70i_is_documented_in <http://elsewhere.org/catalogue> .
ex:letter a crm:E31_Document, crm:E22_Human-Made_Object ; rdfs:label "Letter" ; crm:P3_has_note {letter} .
ex:text a crm:E33_Linguistic_Object ; rdfs:label "Prayer" ; crm:P3_has_note {text} .
ex:inscription a crm:E34_Inscription ; rdfs:label "Inscription" ; crm:P3_has_note {inscription} .
ex:painting a crm:E12_Production ; rdfs:label "Painting of the icon" ; crm:P108_has_produced ex:icon ;
  crm:P14_carried_out_by ex:painter ;
  crm:P4_has_time-span [ a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1500-01-01"^^xsd:date ;
    crm:P82b_end_of_the_end "1510-12-31"^^xsd:date ] .
ex:making a crm:E12_Production ; rdfs:label "Making of the bowl" ; crm:P108_has_produced ex:bowl ;
  crm:P4_has_time-span [ a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1505-01-01"^^xsd:date ;
    crm:P82b_end_of_the_end "1600-12-31"^^xsd:date ] .
ex:birth a crm:E67_Birth ; rdfs:label "Birth of the painter" ; crm:P98_brought_into_life ex:painter ;
  crm:P4_has_time-span [ a crm:E52_Time-Span ; rdfs:label "1470" ] .
ex:painter a crm:E21_Person ; rdfs:label "Painter" .
"""
NOTES = {
    "museum": "halls and cases", "icon": "gold ground and egg tempera", "bowl": "sgraffito under glaze",
    "chalice": "chased silver", "letter": "ink on paper", "text": "words of praise", "inscription": "carved letters",
}  # fmt: skip


def museum_turtle() -> str:
    """The museum above; notes are long enough that no document is chained to another."""
    notes = {
        name: ", ".join(f'"{letter} {" ".join([words] * 9)}"' for letter in "abc")
        for name, words in NOTES.items()
    }
    return PREFIXES + MUSEUM.format(**notes)


def built(folder: Path, source: str | None = None) -> Project:
    project = make_project(folder, source, write_markdown=False)
    build_all(project.context())
    return project


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The museum as a built project."""
    return built(tmp_path_factory.mktemp("museum") / "project", museum_turtle())


@pytest.fixture(scope="session")
def museum(project: Project) -> Release:
    return open_release(project.dataset, project.data)


@pytest.fixture(scope="session")
def churches(tmp_path_factory: pytest.TempPathFactory) -> Release:
    project = built(tmp_path_factory.mktemp("churches") / "project")
    return open_release(project.dataset, project.data)
