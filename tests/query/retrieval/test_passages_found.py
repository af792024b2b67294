"""A sentence that stands only in the last third of a long text is found, and told of the entity that the text describes."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import numpy as np
import pytest

from crmrag_query.answers.ask import ask, prepare
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.client import Client
from crmrag_query.compare import compare
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.channels import find_mode
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Calibration, Query, ReleaseChannels
from crmrag_query.verify.run import verify_folder
from tests.support.builds import BASE, CRM, Project, build_all, make_project

WORKS = 24
COLOURS = (
    "crimson", "ochre", "umber", "sienna", "azure", "viridian", "madder", "indigo", "saffron", "sepia", "vermilion", "cobalt",
)  # fmt: skip
BEASTS = (
    "heron", "otter", "lynx", "badger", "falcon", "weasel", "marten", "ibex", "pelican", "hedgehog", "raven", "stork",
)  # fmt: skip
WORDS = (
    "panel", "figure", "border", "robe", "hand", "garden", "window", "column", "shadow", "wing", "river", "stone", "face",
    "cloth", "branch", "gate", "field", "bridge", "tower", "ladder", "mirror", "candle", "basket", "vessel", "curtain",
)  # fmt: skip


def sentence(work: int) -> str:
    """What only the description of that work says, in its last third."""
    return f"A {COLOURS[work % 12]} {BEAST_OF[work]} sleeps beneath the {WORDS[work % 25]}."


BEAST_OF = [BEASTS[(work + work // 12) % 12] for work in range(WORKS)]


def description(work: int) -> str:
    """Some 5,000 characters."""
    random = Random(work)
    told = [
        f"The {random.choice(WORDS)} stands near the {random.choice(WORDS)} and a {random.choice(WORDS)}."
        for _ in range(100)
    ]
    return " ".join([*told[:80], sentence(work), *told[80:]])


ABOUT = (
    "It was cleaned and measured again in the workshop of the museum, where they gave it number " * 2,
    "Seen " * 50,
)


def source(changed: str = "") -> str:
    lines = [
        f"@prefix crm: <{CRM}> . @prefix ex: <{BASE}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
        'ex:panel a crm:E55_Type ; rdfs:label "panel painting" .',
    ]
    for work in range(WORKS):
        text = f"{description(work)}{changed}" if work == 3 else description(work)
        lines += [
            f'ex:work{work} a crm:E22_Human-Made_Object ; rdfs:label "Work number {work}" ; crm:P2_has_type ex:panel ;',
            *(
                f'  rdfs:comment "{said}{work}." ;' for said in ABOUT
            ),  # no thin document, which would be chained
        ]
        if work % 2:
            lines.append(f'  crm:P3_has_note "{text}" .')
        else:
            lines.append(f"  crm:P67i_is_referred_to_by ex:text{work} .")
            lines.append(
                f'ex:text{work} a crm:E33_Linguistic_Object ; crm:P190_has_symbolic_content "{text}" .'
            )
    return "\n".join(lines)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("long"), source())
    build_all(project.context())
    return project


@pytest.fixture(scope="module")
def release(project: Project) -> Release:
    return open_release("churches", project.data)


def question(work: int) -> str:
    return f"Where does a {COLOURS[work % 12]} {BEAST_OF[work]} sleep beneath the {WORDS[work % 25]}?"


@pytest.mark.parametrize("name", ["crm", "fulltext"])
def test_a_sentence_of_the_last_third_is_found_and_stands_in_the_context(release: Release, name: str) -> None:
    graph, documents = release[Graph], release[Documents]
    for work in range(WORKS):
        prepared = prepare(release, question(work), mode=find_mode(release, name))
        ranked = [graph.iri(documents.entity(one.document)) for one in prepared.retrieved.chosen]
        assert f"{BASE}work{work}" in ranked
        assert len(set(ranked)) == len(ranked)  # an entity is one candidate, however many passages it has
        sources = {source.entity: source for source in prepared.context.sources}
        own = sources[graph.node(f"{BASE}work{work}") or 0]
        assert any(sentence(work) in line.text for line in own.lines)


def test_vectors_find_passages(release: Release) -> None:
    graph, documents = release[Graph], release[Documents]
    found = 0
    for work in range(WORKS):
        prepared = prepare(release, question(work), mode=find_mode(release, "vector"))
        nearest = (graph.iri(documents.entity(one)) for one in prepared.retrieved.ranking[:10])
        found += f"{BASE}work{work}" in nearest
    assert found > 0.8 * WORKS  # the stand-in encoder knows words alone


@pytest.mark.parametrize("work", [4, 5])
def test_an_answer_from_a_passage_names_whom_it_describes_and_cites_it(release: Release, work: int) -> None:
    answer = ask(release, question(work))
    assert f"Work number {work}: Note: " in answer.text and sentence(work) in answer.text
    (first,) = [one for one in answer.sources if one.iri == f"{BASE}work{work}"]
    assert first.label == f"Work number {work}" and sentence(work) in first.snippet
    stated = f"{BASE}text{work}" if work % 2 == 0 else first.iri
    assert any(triple.s == stated and sentence(work) in triple.o for triple in first.triples)
    assert not answer.unsupported


def test_sentences_of_a_context_stand_where_they_say(release: Release) -> None:
    documents = release[Documents]
    prepared = prepare(release, question(7))
    lines = [line.line for one in prepared.context.sources for line in one.lines if line.line is not None]
    told = [line for line in lines if line.kind == Line.PASSAGE]
    assert told
    for line in told:
        said = documents.whole(line.document)[line.start : line.end]
        assert said.startswith(("A", "The"))  # as sentences of these texts do


def test_exact_sets_count_entities_and_no_passages(project: Project) -> None:
    with Client(project.data, dataset="churches") as client:
        answer = client.ask("How many panel paintings are there?")
    assert answer.set is not None and answer.set.total == WORKS


def test_a_release_with_passages_verifies(release: Release) -> None:
    found = verify_folder(release.folder)
    assert [check.name for check, finding in found.found if not finding.holds] == []


def test_a_release_from_before_passages_answers(release: Release, tmp_path: Path) -> None:
    documents = release[Documents]
    shutil.copytree(release.folder / "documents", tmp_path / "documents")
    (tmp_path / "documents" / "passages.arrow").unlink()
    old = Documents.open(tmp_path / "documents", documents.graph)
    assert (old.passages.num_rows, len(old.home), len(old.texts)) == (0, old.count, old.count)
    assert old.whole(3) == old.text(3) and not old.passages_of(3)


def test_diff_tells_a_text_that_changed_beyond_what_its_document_shows(
    project: Project, release: Release, tmp_path: Path
) -> None:
    other = make_project(tmp_path, source(" A word more."))
    build_all(other.context())
    found = compare(release, open_release("churches", other.data), texts=True)
    assert (found.documents.came, found.documents.went, found.documents.rewritten) == (0, 0, 1)
    (document,) = found.documents.first_rewritten
    assert document.label == "Work number 3"
    assert any(line.startswith("+") and line.endswith("A word more.") for line in document.diff)


def test_a_passage_is_told_for_its_words_or_its_meaning(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passages without a word of the question count from a calibrated cosine on; they are told in the order of the text."""
    store, channels, encoder = release[Documents], release[ReleaseChannels], release[QueryEncoder]
    asked, documents = question(7), [*range(store.count)]
    query = Query("zzzz", encoder.encode([asked])[0])  # no word of it is in the data
    plain = sorted(number for found in channels.passages(query, documents, 40).values() for number in found)
    cosines = release[DenseIndex].cosines(query.vector, np.array(plain) + store.count).astype(np.float64)
    moved = release[Calibration].moved(cosines)
    least = float(np.median(moved))
    kept = {number for found in channels.passages(query, documents, 40, least).values() for number in found}
    assert kept == {number for number, value in zip(plain, moved, strict=True) if value >= least} < {*plain}
    monkeypatch.setenv("CHAT_EMBEDDING_FILTER_SCORE_THRESHOLD", "1")  # which none reaches
    context = prepare(release, asked).context
    # which has its words
    assert any(sentence(7) in line.text for one in context.sources for line in one.lines)
    for one in context.sources:
        starts = [
            line.line.start for line in one.lines if line.line is not None and line.line.kind == Line.PASSAGE
        ]
        assert starts == sorted(starts)
