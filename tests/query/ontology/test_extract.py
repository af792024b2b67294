"""Extraction reads what an ontology file declares, however it is written; the tables that ship are its output."""

from __future__ import annotations

import sys
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crmrag_query.config.reading import default_folder
from crmrag_query.errors import MissingExtraError, OntologyError
from crmrag_query.ontology.load import (
    OntologyTable,
    Term,
    extract,
    from_csv,
    is_xml,
    names_from_context,
    read_table,
    table_name,
    take_apart,
    to_csv,
)

SHIPPED = default_folder() / "ontology"
SOURCES = {
    "cidoc_crm_7.1.3": "cidoc_crm_v7.1.3.rdf",
    "lrmoo_1.1.1": "LRMoo_v1.1.1.rdf",
    "frbroo_2.4": "FRBRoo_v2.4.rdfs",
    "crmdig_5.0": "CRMdig_v5.0.rdf",
    "crmdig_3.2.1": "CRMdig_v3.2.1.rdf",
    "crmsci_3.2": "CRMsci_v3.2.rdf",
    "crmarchaeo_2.1.1": "CRMarchaeo_v2.1.1.rdf",
    "crminf_1.2.1": "CRMinf_v1.2.1.rdf",
    "vir": "vir.ttl",
}

SMALL = """
@prefix ex: <http://example.org/onto/> .
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
ex:X1_Bell a owl:Class ; rdfs:subClassOf crm:E22_Human-Made_Object ; rdfs:label "Bell"@en, "Καμπάνα"@el ;
    rdfs:comment "A long scope note." .
ex:X2_rang_at a owl:ObjectProperty ; rdfs:subPropertyOf crm:P7_took_place_at ; rdfs:domain crm:E7_Activity ;
    rdfs:range crm:E53_Place ; owl:inverseOf ex:X9_heard .
ex:X9_heard a owl:ObjectProperty .
ex:X3_beside a owl:ObjectProperty, owl:SymmetricProperty, owl:TransitiveProperty .
ex:X4_weighs a owl:DatatypeProperty ; rdfs:range xsd:decimal .
ex:founder a rdf:Property ; rdfs:subPropertyOf crm:P14_carried_out_by .
crm:E22_Human-Made_Object a owl:Class .
crm:E5_Event rdfs:subClassOf ex:X1_Bell .
"""


@pytest.fixture
def small(tmp_path: Path) -> OntologyTable:
    path = tmp_path / "bells_v2.1.owl"
    path.write_text(SMALL, encoding="utf-8")
    return extract([path])


def row(table: OntologyTable, code: str) -> Term:
    return next(row for row in table.rows if row.code == code)


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_shipped_table_is_exactly_the_output_of_extract(name: str, shared_data: Path) -> None:
    table = extract([shared_data / "ontologies" / SOURCES[name]])
    assert table.name == name
    assert to_csv(table) == (SHIPPED / f"{name}.csv").read_text(encoding="utf-8")


def test_shipped_names_are_those_of_linked_arts_context(shared_data: Path) -> None:
    context = (shared_data / "ontologies" / "linked-art-context.json").read_text(encoding="utf-8")
    assert names_from_context(context) == (SHIPPED / "linked_art_names.csv").read_text(encoding="utf-8")


def test_hierarchy_equals_a_sparql_query_over_the_file(shared_data: Path) -> None:
    store = ox.Store()
    data = (shared_data / "ontologies" / "cidoc_crm_v7.1.3.rdf").read_bytes().removeprefix(b"\xef\xbb\xbf")
    store.load(data, ox.RdfFormat.RDF_XML)
    query = "SELECT ?s ?o { ?s <http://www.w3.org/2000/01/rdf-schema#%s> ?o }"
    for relation, kind in (("subClassOf", "class"), ("subPropertyOf", "property"), ("domain", "property")):
        solutions = store.query(query % relation)
        assert isinstance(solutions, ox.QuerySolutions)
        asked = {(code(solution["s"].value), code(solution["o"].value)) for solution in solutions}
        rows = [row for row in read_table(SHIPPED / "cidoc_crm_7.1.3.csv").rows if row.kind == kind]
        told = {
            (row.code, target)
            for row in rows
            for target in ([row.domain] if relation == "domain" else row.parents)
        }
        assert told == asked


def code(iri: str) -> str:
    spelling = take_apart(iri.rpartition("/")[2])
    assert spelling is not None
    return spelling.code


def test_turtle_is_read_whatever_the_extension_says(small: OntologyTable) -> None:
    assert small.name == "bells_2.1"
    assert [(row.kind, row.code) for row in small.rows] == [
        ("class", "E5"), ("class", "X1"), ("property", "X2"), ("property", "X3"), ("property", "X4"),
        ("property", "X9"), ("property", "bells:founder"),
    ]  # fmt: skip


def test_a_row_states_parents_labels_inverse_flags_domain_and_range(small: OntologyTable) -> None:
    assert row(small, "X1").parents == ("E22",)
    assert row(small, "X1").labels == {"en": "Bell", "el": "Καμπάνα"}
    assert (row(small, "X2").inverse, row(small, "X9").inverse) == ("X9", "X2")
    assert (row(small, "X2").domain, row(small, "X2").range) == ("E7", "E53")
    assert (row(small, "X3").symmetric, row(small, "X3").transitive) == (True, True)
    assert row(small, "X4").range == "xsd:decimal"
    assert row(small, "bells:founder").parents == ("P14",)


def test_statements_about_other_ontologies_add_parents_and_nothing_else(small: OntologyTable) -> None:
    added = row(small, "E5")
    assert (added.name, added.parents, added.labels) == ("", ("X1",), {})
    assert small.skipped == ("http://www.cidoc-crm.org/cidoc-crm/E22_Human-Made_Object",)


def test_no_scope_note_is_taken(small: OntologyTable) -> None:
    assert "scope note" not in to_csv(small)


@pytest.mark.parametrize(
    ("head", "xml"),
    [
        (b'<?xml version="1.0"?>', True),
        (b"\xef\xbb\xbf\n  <rdf:RDF xmlns:rdf=''>", True),
        (b"<!-- note --><RDF>", True),
        (b"<http://example.org/a> <http://example.org/b> <http://example.org/c> .", False),
        (b"@prefix : <http://example.org/> .", False),
        (b"# <?xml", False),
    ],
)
def test_form_is_told_by_content(head: bytes, xml: bool) -> None:
    assert is_xml(head) is xml


@pytest.mark.parametrize("text", ["<?xml version='1.0'?><rdf:RDF", "@prefix broken", "<a> <b>"])
def test_a_broken_file_is_named_with_the_remedy(text: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.rdf"
    path.write_text(text)
    with pytest.raises(OntologyError, match=r"broken\.rdf is neither valid RDF/XML nor valid Turtle"):
        extract([path])


def test_a_file_without_declarations_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.ttl"
    path.write_text("<http://example.org/a> <http://example.org/b> <http://example.org/c> .")
    with pytest.raises(OntologyError, match="declares no class and no property"):
        extract([path])


def test_without_pyoxigraph_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyoxigraph", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'crmrag\[build\]'"):
        extract([tmp_path / "any.ttl"])


def test_several_files_join_into_one_table(tmp_path: Path) -> None:
    declare = "<http://example.org/{0}> a <http://www.w3.org/2002/07/owl#Class> ."
    paths = [tmp_path / "one.ttl", tmp_path / "two.ttl"]
    for path, name in zip(paths, ("Q1_Bell", "Q2_Rope"), strict=True):
        path.write_text(declare.format(name))
    assert [row.code for row in extract(paths, "both").rows] == ["Q1", "Q2"]


def test_table_names_drop_the_v_of_a_version() -> None:
    assert table_name(Path("CRMdig_v5.0.rdf")) == "crmdig_5.0"
    assert table_name(Path("vir.ttl")) == "vir"


CODES = st.from_regex(r"[A-Z]{1,3}[0-9]{1,3}i?", fullmatch=True)
WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12)
ROWS = st.builds(
    Term,
    kind=st.sampled_from(["class", "property"]),
    code=CODES,
    name=WORDS,
    iri=WORDS,
    parents=st.lists(CODES, max_size=3).map(tuple),
    inverse=CODES | st.just(""),
    symmetric=st.booleans(),
    transitive=st.booleans(),
    domain=CODES | st.just(""),
    range=CODES | st.just("xsd:date"),
    labels=st.dictionaries(st.sampled_from(["", "en", "el", "zh-hans"]), WORDS, max_size=3),
)


@given(st.lists(ROWS, max_size=6).map(tuple))
def test_a_table_survives_writing_and_reading(rows: tuple[Term, ...]) -> None:
    table = OntologyTable("any", rows)
    assert from_csv(to_csv(table), "any") == table


@pytest.mark.parametrize("text", ["", "a,b\n", to_csv(OntologyTable("t", ())) + "klass,E1,,,,,,,,\n"])
def test_a_file_that_is_no_table_is_refused(text: str) -> None:
    with pytest.raises(OntologyError):
        from_csv(text, "t", "t.csv")
