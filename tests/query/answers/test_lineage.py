"""From a triple back to where it stands and where it comes from."""

from __future__ import annotations

import json
import shutil
from datetime import datetime
from pathlib import Path

import pytest

from crmrag_query.answers import sources
from crmrag_query.answers.ask import ask
from crmrag_query.answers.sources import lineage, origin
from crmrag_query.artifacts.manifest import chunk_of
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.world import World
from tests.support.builds import BASE, CRM, build_all, make_project

LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


@pytest.fixture(scope="module")
def churches(tmp_path_factory: pytest.TempPathFactory) -> Release:
    project = make_project(tmp_path_factory.mktemp("lineage") / "p")
    build_all(project.context(chunk_size=20))
    return open_release(project.dataset, project.data)


def test_every_triple_of_an_answer_leads_to_a_line_of_a_document(sample: Release) -> None:
    answer = ask(sample, "When was Asinou built?")
    assert answer.sources
    for source in answer.sources:
        for triple in source.triples:
            found = lineage(sample, triple.s, triple.p, triple.o, source.iri)
            assert found.stated and found.lines and found.complete, triple
            for line in found.lines:
                node = sample[Graph].node(line.document)
                assert node is not None
                document = sample[Documents].document_of(node)
                assert document is not None
                assert sample[Documents].text(document)[line.start : line.end] == line.text


def test_a_line_of_a_relationship_tells_the_path_and_the_way_over_the_triple(churches: Release) -> None:
    s, p, o = f"{BASE}painting4", f"{CRM}P14_carried_out_by", f"{BASE}painter1"
    found = lineage(churches, s, p, o, f"{BASE}mural4")
    (created,) = [line for line in found.lines if line.entity == f"{BASE}mural4"]
    relationship = churches[World].catalogue[churches[World].catalogue.number(created.relationship)]
    assert relationship.label == "created by" and created.path in {path.id for path in relationship.paths}
    assert [(step.s, step.o) for step in created.way] == [(s, f"{BASE}mural4"), (s, o)]
    assert [step.forward for step in created.way] == [False, True]


def test_a_literal_and_a_type_lead_to_their_lines(churches: Release) -> None:
    mural = f"{BASE}mural4"
    typed = lineage(churches, mural, TYPE, f"{CRM}E22_Human-Made_Object")
    assert typed.stated and {line.kind for line in typed.lines} == {"type"}
    assert lineage(churches, mural, LABEL, "Mural 4").stated


def test_what_the_data_does_not_state_has_no_lines(churches: Release) -> None:
    found = lineage(churches, f"{BASE}mural4", f"{CRM}P14_carried_out_by", f"{BASE}painter1")
    assert not found.stated and found.lines == ()
    assert not lineage(churches, "http://nowhere/", LABEL, "x").stated


def test_the_chunk_is_the_one_that_the_build_harvested_the_subject_in(churches: Release) -> None:
    chunks = churches.manifest.counts["chunks"]
    assert chunks > 1
    found = lineage(churches, f"{BASE}mural4", LABEL, "Mural 4")
    assert found.chunk == chunk_of(f"{BASE}mural4", chunks)


def test_the_origin_tells_the_file_and_when_the_release_was_built(churches: Release) -> None:
    found = origin(churches, "00")
    assert found is not None and not found.endpoint
    assert found.places == ("churches.ttl",) and found.files == ("churches.ttl",)
    assert found.built.endswith("Z")


def test_a_release_without_provenance_has_no_origin(churches: Release, tmp_path: Path) -> None:
    copy = tmp_path / churches.id
    shutil.copytree(churches.folder, copy)
    (copy / "provenance.json").unlink()
    assert lineage(open_release(copy), f"{BASE}mural4", LABEL, "Mural 4").origin is None


def test_named_graphs_and_everything_else_are_plain_json(churches: Release) -> None:
    found = lineage(churches, f"{BASE}painting4", f"{CRM}P108_has_produced", f"{BASE}mural4")
    told = json.loads(json.dumps(found.to_dict()))
    assert told["graphs"] == [] and told["lines"][0]["text"] == found.lines[0].text


def test_the_number_of_ways_is_bounded_and_a_search_that_ended_early_says_so(
    churches: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "WAYS", 1)
    found = lineage(churches, f"{BASE}painting4", f"{CRM}P14_carried_out_by", f"{BASE}painter1")
    assert found.stated and not found.complete


def test_a_triple_tells_when_its_chunk_was_fetched(churches: Release) -> None:
    found = lineage(churches, f"{BASE}mural4", LABEL, "Mural 4")
    assert churches.provenance is not None and found.origin is not None
    assert found.origin.fetched == churches.provenance["fetched"][found.chunk]
    assert datetime.fromisoformat(found.origin.fetched) <= datetime.fromisoformat(found.origin.built)
