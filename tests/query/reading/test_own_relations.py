"""A relation of a project's own is asked for by its own words and labels, in every language that has a file."""

from __future__ import annotations

import shutil

import pytest

from crmrag_query.answers.ask import Conversation
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config.reading import default_folder
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.world import World
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import parse
from tests.support.builds import build_all, make_project

OWN = """
  blessed_by:
    domain: [Thing]
    range: [Actor]
    paths: ["http://example.org/blessedBy"]
    labels: {en: blessed by, de: geweiht von, nl: gewijd door}
    inverse: {en: blessed, de: weihte, nl: wijdde}
    words: {en: [consecrate], nl: [zegende]}
"""
SOURCE = """
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> . @prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:bell a crm:E22_Human-Made_Object ; rdfs:label "Old Bell" ; crm:P2_has_type :church ; :blessedBy :leon .
:tower a crm:E22_Human-Made_Object ; rdfs:label "Tall Tower" ; crm:P2_has_type :church ; :blessedBy :anna .
:gate a crm:E22_Human-Made_Object ; rdfs:label "West Gate" ; crm:P2_has_type :church ;
  crm:P51_has_former_or_current_owner :leon .
:church a crm:E55_Type ; rdfs:label "church"@en , "Kirche"@de , "kerk"@nl .
:leon a crm:E21_Person ; rdfs:label "Leon Farrow" .
:anna a crm:E21_Person ; rdfs:label "Anna Holm" .
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    project = make_project(tmp_path_factory.mktemp("own") / "project", SOURCE)
    relations = project.root / "config" / "relations.yaml"
    shutil.copy(default_folder() / "relations.yaml", relations)
    relations.write_text(relations.read_text(encoding="utf-8") + OWN, encoding="utf-8")
    build_all(project.context())
    return open_release(project.dataset, project.data)


@pytest.mark.parametrize(
    "question",
    [
        "Which churches were blessed by Leon Farrow?",
        "Which churches were consecrated by Leon Farrow?",
        "Welche Kirchen wurden von Leon Farrow geweiht?",
        "Welke kerken zijn gewijd door Leon Farrow?",
        "Welke kerken zegende Leon Farrow?",
    ],
)
def test_its_words_and_labels_ask_for_it(release: Release, question: str) -> None:
    parsed = parse(release, analysed(release, question))
    assert parsed.plan is not None and parsed.certain, parsed
    assert "blessed_by" in parsed.plan.model_dump_json()
    world = release[World]
    assert [world.graph.iri(node) for node in members_of(world, parsed.plan)] == ["http://example.org/bell"]


@pytest.mark.parametrize("question", ["Who consecrated the Old Bell?", "Who blessed Old Bell?"])
def test_what_it_leads_to_is_asked_for_as_well(release: Release, question: str) -> None:
    said, _ = Conversation().ask(release, question)
    assert said.exhaustive and "Leon Farrow" in said.text and "Anna" not in said.text, said.text
