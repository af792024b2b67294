"""Passages: the parts of a long text overlap at sentences, hold all of it, and lead to whom it describes."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.build import split
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.documents import Documents, Passage
from crmrag_query.graph.graph import Graph
from crmrag_query.text import sentence_starts
from tests.support.builds import BASE, CRM, build_all, make_project

TEXTS = st.text(st.sampled_from("aB3 .!?»é。"), max_size=400)


@given(TEXTS, st.integers(2, 60), st.data())
@example("a" * 100, 10, None)
@example("One is here. Two. " * 20, 30, None)
@settings(max_examples=500)
def test_parts_without_their_overlaps_are_the_text(
    text: str, characters: int, data: st.DataObject | None
) -> None:
    overlap = characters // 2 if data is None else data.draw(st.integers(1, characters // 2))
    parts = split(text, characters, overlap)
    assert parts[0][0] == 0 and parts[-1][1] == len(text)
    told, last = "", 0
    for start, end in parts:
        assert end - start <= characters and last - overlap <= start <= last
        told, last = told + text[last:end], end
    assert told == text


def test_parts_begin_and_end_between_sentences() -> None:
    text = " ".join(f"Sentence {n} tells of the church and of those who painted it." for n in range(200))
    parts = split(text, 3000, 300)
    places = {0, len(text), *sentence_starts(text)}
    assert len(parts) > 3 and all({start, end} <= places for start, end in parts)
    assert all(0 < before[1] - after[0] <= 300 for before, after in pairwise(parts))


def test_sentences_begin_after_their_signs() -> None:
    text = "It was built of stone. “Who painted it?” he asked. Ποιος; Κανείς. Nobody knows (e.g. a guide)."
    assert [text[at:].split()[0] for at in sentence_starts(text)] == ["“Who", "Ποιος;", "Κανείς.", "Nobody"]
    assert sentence_starts("No end. ") == []


LONG = " ".join(f"Part {n} of the description tells of colours and of gold." for n in range(90))
SHORT = "A short note that stands in the document as it is."
SOURCE = f"""
@prefix crm: <{CRM}> . @prefix ex: <{BASE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex:icon a crm:E22_Human-Made_Object ; rdfs:label "Icon" ; crm:P3_has_note "{LONG}", "{SHORT}" ;
  crm:P1_is_identified_by ex:title .
ex:title a crm:E35_Title ; rdfs:label "Long title" ; crm:P190_has_symbolic_content "Title: {LONG}" .
ex:bowl a crm:E22_Human-Made_Object ; rdfs:label "Bowl" ; crm:P67i_is_referred_to_by ex:entry, ex:both .
ex:entry a crm:E33_Linguistic_Object ; rdfs:label "Catalogue entry" ; crm:P190_has_symbolic_content "Bowl: {LONG}" .
ex:both a crm:E33_Linguistic_Object ; rdfs:label "Essay" ; crm:P190_has_symbolic_content "Essay: {LONG}" ;
  crm:P67_refers_to ex:icon .
ex:thin a crm:E22_Human-Made_Object ; rdfs:label "Sherd" ; crm:P46i_forms_part_of ex:bowl ;
  crm:P3_has_note "Sherd: {LONG}" .
ex:other a crm:E22_Human-Made_Object ; rdfs:label "Coin" ; crm:P102_has_title "Coin: {LONG}" .
"""


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    project = make_project(tmp_path_factory.mktemp("passages"), SOURCE)
    build_all(project.context())
    return open_release("churches", project.data)


def passages(release: Release) -> list[Passage]:
    documents = release[Documents]
    return [documents.passage(number) for number in range(documents.passages.num_rows)]


def test_a_passage_leads_to_the_entity_that_its_text_describes(release: Release) -> None:
    graph = release[Graph]
    found = {
        (graph.iri(one.source).removeprefix(BASE), graph.label(one.entity))
        for one in passages(release)
        if one.start == 0
    }
    assert found == {
        ("icon", "Icon"),
        ("title", "Icon"),  # a name belongs to whom it names
        ("entry", "Bowl"),  # a text about one entity alone
        ("both", "Essay"),  # a text about two describes neither
        ("thin", "Sherd"),
    }


def test_passages_hold_long_texts_whole_below_a_header_and_are_not_chained(release: Release) -> None:
    documents, whole = release[Documents], dict[int, str]()
    rules = release.method.documents
    for one in passages(release):
        header, line = one.text.split("\n")
        assert release[Graph].label(one.entity) in header and line.startswith(f"{one.label}: ")
        assert len(one.body) <= rules.passage_characters
        told = whole.get(one.source, "")
        whole[one.source] = told[: one.start] + one.body + " "
        assert documents.document_of(one.entity) == one.document
    assert {text.strip().partition("Part 0")[2] for text in whole.values()} == {LONG.partition("Part 0")[2]}
    assert all(len(documents.text(i)) < len(LONG) for i in range(documents.count))


def test_a_document_knows_its_passages(release: Release) -> None:
    documents = release[Documents]
    held = [number for i in range(documents.count) for number in documents.passages_of(i)]
    assert held == list(range(documents.passages.num_rows))
    assert len(documents.texts) == documents.count + len(held) == len(documents.home)
    i = next(i for i in range(documents.count) if len(documents.passages_of(i)) > 1)
    texts = [documents.text(i), *(documents.passage(n).text for n in documents.passages_of(i))]
    assert documents.whole(i) == "\n\n".join(texts)


def test_passages_are_counted_apart_from_documents(release: Release) -> None:
    counts = release.manifest.counts
    assert counts["documents"] == release[Documents].count <= counts["entities"]
    assert counts["passages"] == len(passages(release)) > 0


def test_which_properties_is_configured(tmp_path: Path) -> None:
    project = make_project(tmp_path, SOURCE)
    (project.config / "method.yaml").write_text(
        Path("config/method.yaml")
        .read_text(encoding="utf-8")
        .replace("    - P3\n    - P190\n", "    - P102\n"),
        encoding="utf-8",
    )
    build_all(project.context())
    found = open_release("churches", project.data)
    assert {found[Graph].label(one.entity) for one in passages(found)} == {"Coin"}
