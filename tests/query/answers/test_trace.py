"""Every line of a context leads to triples that the source RDF has."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, RdfFormat, Store

from crmrag_query.answers.sources import SourceList
from crmrag_query.artifacts.release import Release
from crmrag_query.context.assemble import assemble
from crmrag_query.context.context import ContextLine, Kind
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.scores import Candidate
from crmrag_query.shown import SourceTriple
from tests.query.context.conftest import analysis_of, built, candidates_of
from tests.support.shared import TROODOS


@pytest.fixture(scope="module")
def store() -> Store:
    found = Store()
    found.bulk_load(path=str(TROODOS), format=RdfFormat.TURTLE)
    return found


@pytest.fixture(scope="module")
def everything(sample: Release) -> list[ContextLine]:
    """The lines of contexts that together hold every third document of the sample."""
    documents = range(0, sample[Documents].count, 3)
    parts = [documents[at : at + 20] for at in range(0, len(documents), 20)]
    contexts = [assemble(sample, analysis_of(sample), [Candidate(d, 1.0) for d in part]) for part in parts]
    return [line for context in contexts for line in context.lines()]


def exists(store: Store, triple: SourceTriple) -> bool:
    """Whether the data states it; a blank node has got an IRI of ours."""
    s = None if "urn:skolem:" in triple.s else NamedNode(triple.s)
    found = [quad.object for quad in store.quads_for_pattern(s, NamedNode(triple.p), None)]
    return any(
        one.value == triple.o if isinstance(one, NamedNode | Literal) else "urn:skolem:" in triple.o
        for one in found
    )


def test_lists_of_one_answer_describe_an_entity_once_and_as_each_would_alone(
    sample: Release, everything: list[ContextLine]
) -> None:
    entities = list(dict.fromkeys(line.line.entity for line in everything if line.line))[:12]
    first, second, alone = (SourceList(sample, "el", {entities[0]: 0.5}) for _ in range(3))
    second.described = first.described
    for number, entity in enumerate(entities):
        first.cite(entity, snippet="first")
        for one in (second, alone):
            one.cite(entity, entities=entities[:number], snippet=f"line {number}")
    assert all(one.snippet == "first" for one in first.sources())
    assert second.sources() == alone.sources() and len(first.described) == len(entities)
    told = {one.n: [one.label, one.snippet, one.text, *map(str, one.triples)] for one in alone.sources()}
    lines = {number: [line for line in said if line] for number, said in alone.said().items()}
    assert lines == {number: [line for line in said if line] for number, said in told.items()}


def test_every_line_has_triples_and_each_exists(
    sample: Release, store: Store, everything: list[ContextLine]
) -> None:
    kinds = set()
    for line in everything:
        triples = list(SourceList(sample, "en").trace(line))
        if line.kind is Kind.COUNT:
            assert triples == []
            continue
        assert triples, line
        assert all(exists(store, triple) for triple in triples), line
        assert len({(t.s, t.p, t.o) for t in triples}) == len(triples)
        kinds.add((line.kind, line.line.kind if line.line else None))
    assert {kind for _, kind in kinds} >= {Line.HEADER, Line.LITERAL, Line.FR, Line.SATELLITE, None}


def test_the_triples_of_a_relationship_touch_what_the_line_names(
    sample: Release, everything: list[ContextLine]
) -> None:
    for line in everything:
        if line.line is None or line.line.kind != Line.FR or len(line.shown) > 40:
            continue
        triples = list(SourceList(sample, "en").trace(line))
        ends = {end for triple in triples for end in (triple.s, triple.o)}
        assert {sample[Graph].iri(node) for node in line.shown} <= ends


BELL = """
:a a crm:E22_Human-Made_Object ; rdfs:label "Bell"@en ; crm:P2_has_type :t ; crm:P1_is_identified_by :n .
:t a crm:E55_Type ; rdfs:label "bell" .
:n a crm:E41_Appellation ; crm:P190_has_symbolic_content "Καμπάνα"@el .
:c a crm:E12_Production ; rdfs:label "Casting" ; crm:P4_has_time-span :s .
:s a crm:E52_Time-Span ; crm:P82a_begin_of_the_begin "1885-01-01"^^xsd:date ;
    crm:P82b_end_of_the_end "1887-12-31"^^xsd:date .
"""


@pytest.fixture(scope="module")
def bell(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return built(tmp_path_factory.mktemp("bell"), BELL)


def test_a_header_leads_to_the_types_that_it_holds(bell: Release) -> None:
    header = assemble(bell, analysis_of(bell), candidates_of(bell, "a")).sources[0].lines[0]
    said = {(triple.p.rpartition("/")[2], triple.o_label) for triple in SourceList(bell, "en").trace(header)}
    assert said >= {
        ("22-rdf-syntax-ns#type", "Human-Made Object"),
        ("P2_has_type", "bell"),
        ("rdf-schema#label".rpartition("/")[2] and "rdf-schema#label", "Bell"),
    }


def test_a_date_leads_to_the_literals_of_its_time_span(bell: Release) -> None:
    context = assemble(bell, analysis_of(bell), candidates_of(bell, "c"))
    dated = next(line for line in context.lines() if line.text == "Date: 1885–1887")
    said = {triple.o for triple in SourceList(bell, "en").trace(dated)}
    assert said == {"http://example.org/s", "1885-01-01", "1887-12-31"}


def test_a_name_in_another_language_leads_to_the_literal(bell: Release) -> None:
    context = assemble(bell, analysis_of(bell), candidates_of(bell, "a"))
    named = next(line for line in context.lines() if "Καμπάνα" in line.text)
    assert "Καμπάνα" in {triple.o for triple in SourceList(bell, "en").trace(named)}
