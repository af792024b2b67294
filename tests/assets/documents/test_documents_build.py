"""The artifact as a whole: nothing is lost, and the same data gives the same bytes however it is cut."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.setting import Setting
from crmrag_query.documents.documents import FR, INCOMING, LITERAL, OUTGOING, Documents
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.relationships.engine import explain
from tests.assets.documents.made import BASE, artifact, changed, method_and_ontology, setting_of
from tests.assets.documents.test_document_text import CHURCH

CLASSES = (
    "E22_Human-Made_Object", "E12_Production", "E21_Person", "E53_Place", "E55_Type", "E41_Appellation",
    "E52_Time-Span", "E54_Dimension", "E33_Linguistic_Object", "PC14_carried_out_by",
)  # fmt: skip
PROPERTIES = (
    "P108_has_produced", "P108i_was_produced_by", "P14_carried_out_by", "P2_has_type", "P1_is_identified_by",
    "P1i_identifies", "P4_has_time-span", "P43_has_dimension", "P46_is_composed_of", "P46i_forms_part_of",
    "P55_has_current_location", "P89_falls_within", "P67_refers_to", "P62_depicts", "P01_has_domain", "P02_has_range",
    "P127_has_broader_term", "http://example.org/own", "http://www.w3.org/2002/07/owl#sameAs",
)  # fmt: skip


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, str, str]]:
    size = draw(st.integers(2, 9))
    entity = st.integers(0, size - 1).map("n{}".format)
    triples = [(f"n{i}", "a", draw(st.sampled_from(CLASSES))) for i in range(size)]
    edge = st.tuples(
        entity, st.sampled_from(PROPERTIES), st.one_of(entity, st.sampled_from(["out1", "out2"]))
    )
    triples += draw(st.lists(edge, max_size=24))
    value = st.sampled_from(['"red"', '"blue"@el', '"a\\nb"', f'"{"long " * 60}"', '"1850-01-01"^^xsd:date'])
    prop = st.sampled_from(
        ["rdfs:label", "P3_has_note", "P90_has_value", "P82a_begin_of_the_begin", "rdf:value"]
    )
    return triples + draw(st.lists(st.tuples(entity, prop, value), max_size=16))


def told(documents: Documents) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]], set[tuple[str, str]]]:
    """Literals, triples and classes in the records of all documents."""
    literals: set[tuple[str, ...]] = set()
    triples: set[tuple[str, ...]] = set()
    types: set[tuple[str, str]] = set()
    for i in range(documents.count):
        record: dict[str, Any] = documents.record(i)
        for member in record["members"]:
            iri = member["iri"]
            literals |= {
                (iri, v["property"], v["value"], v["datatype"], v["lang"]) for v in member["literals"]
            }
            triples |= {(t["s"], t["p"], t["o"]) for t in member["triples"]}
            types |= {(iri, class_) for class_ in member["types"]}
    return literals, triples, types


def stated(setting: Setting) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]], set[tuple[str, str]]]:
    """The same as the graph has it."""
    graph = setting.graph
    literals = {
        (graph.iri(n), graph.property_iri(v.property), v.value, v.datatype, v.lang)
        for n in range(graph.nodes)
        for v in graph.literals(n)
    }
    forward = graph.adjacency.forward
    triples = {
        (graph.iri(n), graph.property_iri(p), graph.iri(int(o)))
        for n in range(graph.nodes)
        for p in range(len(graph.property_codes))
        for o in forward.neighbours(p, n)
    }
    types = {(graph.iri(n), graph.class_iri(int(c))) for n in range(graph.nodes) for c in graph.types(n)}
    return literals, triples, types


def holds(setting: Setting, documents: Documents) -> None:
    assert told(documents) == stated(setting)
    graph = setting.graph
    for node in range(graph.nodes):
        document = documents.document_of(node)
        assert (document is not None) == bool(graph.flags[node] & FLAG_ENTITY)
        if document is not None:
            assert node in {member.entity for member in documents.members(document)}
    for i in range(documents.count):
        lines_hold(setting, documents, i)
        entities = [member.entity for member in documents.members(i)]
        assert len(set(entities)) == len(entities) and documents.entity(i) == entities[0]
    assert np.all(np.diff(documents.entities) > 0)


def neighbours(setting: Setting, node: int) -> set[int]:
    adjacency = setting.graph.adjacency
    return {
        int(other)
        for rows in (adjacency.forward, adjacency.backward)
        for prop in range(len(adjacency.codes))
        for other in rows.neighbours(prop, node)
    }


def lines_hold(setting: Setting, documents: Documents, i: int) -> None:
    """Lines cover the text in order and count truly; what they lead to, the graph leads to."""
    text, lines = documents.text(i), documents.lines(i)
    rest = text
    for line in reversed(lines):
        rest = rest[: line.start]
        assert "\n" not in text[line.start : line.end] and line.end > line.start
    assert "".join(sorted(text.split("\n"))) == "".join(sorted(text[line.start : line.end] for line in lines))
    for member in documents.members(i):
        if member.role == 1:
            continue
        own = [line for line in lines if line.entity == member.entity]
        near = neighbours(setting, member.entity)
        ends = near.union(*(neighbours(setting, node) for node in near if setting.satellites.absorbed[node]))
        for line in own:
            if line.kind == FR:
                relationship = setting.catalogue[setting.catalogue.number(line.key)]
                reached = (
                    explain(setting.graph.adjacency, setting.ontology, relationship, line.entity, target)
                    for target in line.targets
                )
                assert all(map(bool, reached))
            elif line.kind in (OUTGOING, INCOMING):
                assert set(line.targets) <= ends
        for line in own:
            assert line.kind == LITERAL or line.total >= 0
            assert list(line.targets) == sorted(set(line.targets))


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(graphs(), st.integers(1, 3), st.sampled_from([3, 25]), st.sampled_from(["fr76", "fr109"]))
def test_nothing_is_lost(triples: list[tuple[str, str, str]], most: int, lines: int, catalogue: str) -> None:
    method = changed(method_and_ontology()[0], "satellites", max_parents=most)
    method = changed(method, "documents", lines=lines)
    with TemporaryDirectory() as folder:
        setting = setting_of(triples, Path(folder), method=method, catalogue=catalogue)
        documents, _ = artifact(setting, Path(folder))
        holds(setting, documents)


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted((folder / "documents").iterdir())}


@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(graphs())
def test_one_chunk_or_sixteen_give_identical_documents(triples: list[tuple[str, str, str]]) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        setting = setting_of(triples, folder)
        for part, chunks in (("one", 1), ("again", 1), ("sixteen", 16)):
            artifact(setting, folder / part, chunks)
        assert content(folder / "one") == content(folder / "again") == content(folder / "sixteen")


@pytest.mark.parametrize("chunks", [1, 16])
def test_asinou_is_whole_and_its_counts_are_those_explained(
    shared_data: Path, tmp_path: Path, chunks: int
) -> None:
    setting = setting_of(shared_data / "asinou.ttl", tmp_path)
    documents, stats = artifact(setting, tmp_path / "built", chunks)
    assert stats["entities"] == 621
    # Published: 606 entities, 286 documents. Here 15 subjects more, and 5 types that nothing has keep their documents.
    assert stats["before_chaining"] == 286 + 15 + 5
    assert sum(stats["absorbed"].values()) == stats["entities"] - stats["before_chaining"]
    assert documents.count == stats["documents"] < stats["before_chaining"]
    holds(setting, documents)


def test_a_chained_entity_keeps_its_lines_and_satellites(tmp_path: Path) -> None:
    setting = setting_of(CHURCH, tmp_path)
    documents, stats = artifact(setting, tmp_path / "built")
    nikitari = setting.graph.node(BASE + "nikitari")
    assert nikitari is not None
    document = documents.document_of(nikitari)
    assert document is not None and documents.entity(document) != nikitari
    assert {m.role for m in documents.members(document) if m.entity == nikitari} == {2}
    line = next(line for line in documents.lines(document) if line.entity == nikitari)
    assert documents.text(document)[line.start : line.end] == "[Place] Nikitari"
    assert stats["documents"] == documents.count
