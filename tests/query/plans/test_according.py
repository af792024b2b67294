"""Where a question says that its answer is to be from, in each language, by the title or the kind of a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.documents.pages import is_read
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.within import according
from crmrag_query.plans.world import World
from tests.support.builds import build_all
from tests.support.pdf import pdf
from tests.support.regulation import PAGES, make_regulation, reply, scripted
from tests.support.shared import made_once, sample_release

LETTER = "Milý příteli, kniha ze sýpky je v pořádku."


def _build(root: Path) -> None:
    """The regulation, and a letter that names somebody else."""
    project = make_regulation(root, model="openai/scripted")
    (root / "regulation.pdf").write_bytes(pdf(PAGES[1]))
    (root / "letters_1911.pdf").write_bytes(pdf(LETTER))  # a document called "scan" is not all scans
    (root / "scan.pdf").write_bytes(pdf("Prázdná strana, na které nic není."))
    with scripted(
        reply([("Vojtěch Kalina", "PERSON", "Píše o knize.")], []),
        reply([("Řehoř Žďárský", "PERSON", "Správce sbírek.")], []),
        reply([], []),
    ):
        build_all(project.context())


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    return open_release("churches", made_once(tmp_path_factory, "two-documents", _build) / "data")


def meant(release: Release, question: str) -> tuple[str, tuple[str, ...], bool] | None:
    found = according(release, question)
    return None if found is None else (found.question, found.titles, found.left_out)


def names(release: Release, question: str) -> set[str]:
    """Of all that may be named by an answer, by who said so: read, or written by a curator."""
    found = according(release, question)
    assert found is not None
    graph = release[Graph]
    nodes = [int(node) for node in members_of(release[World], found.plan)]
    return {f"{'read' if is_read(graph.iri(node)) else 'own'} {graph.label(node)}" for node in nodes}


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("According to the catalogue, who is Vojtěch Kalina?", "who is Vojtěch Kalina?"),
        ("Who is Vojtěch Kalina according to the scans?", "Who is Vojtěch Kalina?"),
        ("Who, going by the catalogue, is Vojtěch Kalina?", "Who is Vojtěch Kalina?"),
        ("Wer ist laut Katalog Vojtěch Kalina?", "Wer ist Vojtěch Kalina?"),
        ("Wer ist Vojtěch Kalina nach den Scans?", "Wer ist Vojtěch Kalina?"),
        ("Selon le catalogue, qui est Vojtěch Kalina ?", "qui est Vojtěch Kalina ?"),
        ("Secondo il catalogo, chi è Vojtěch Kalina?", "chi è Vojtěch Kalina?"),
        ("Según el catálogo, ¿quién es Vojtěch Kalina?", "¿quién es Vojtěch Kalina?"),
        ("Σύμφωνα με τον κατάλογο, ποιος είναι ο Vojtěch Kalina;", "ποιος είναι ο Vojtěch Kalina;"),
    ],
)
def test_what_has_pages_can_be_asked_alone(release: Release, question: str, rest: str) -> None:
    assert meant(release, question) == (rest, (), False)
    told = names(release, question)
    assert {"read Vojtěch Kalina", "read Řehoř Žďárský"} <= told and "own Brenna Tollan" not in told


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("Who is the keeper, leaving out what a machine read?", "Who is the keeper?"),
        ("Who is the keeper without what a machine read?", "Who is the keeper?"),
        ("Disregarding the scans, who is the keeper?", "who is the keeper?"),
        ("Wer ist der Verwalter ohne das, was eine Maschine las?", "Wer ist der Verwalter?"),
        ("Qui est le gardien sans ce qu'une machine a lu ?", "Qui est le gardien ?"),
        ("Chi è il custode senza ciò che ha letto una macchina?", "Chi è il custode?"),
        ("¿Quién es el conservador sin lo que leyó una máquina?", "¿Quién es el conservador?"),
        ("Ποιος είναι ο έφορος χωρίς όσα διάβασε μηχανή;", "Ποιος είναι ο έφορος;"),
    ],
)
def test_what_a_machine_read_can_be_left_out(release: Release, question: str, rest: str) -> None:
    assert meant(release, question) == (rest, (), True)
    told = names(release, question)
    assert {"own Řehoř Žďárský", "own Brenna Tollan"} <= told
    assert not any(one.startswith("read") for one in told)


@pytest.mark.parametrize(
    "question",
    [
        "According to the letters, who is there?",
        "Who is there according to the letters of 1911?",
        "Wer ist da laut Letters 1911?",
        "According to the letters of 1911 who is there?",
    ],
)
def test_a_document_is_known_by_its_title(release: Release, question: str) -> None:
    assert (found := meant(release, question)) is not None and found[1] == ("letters 1911",)
    told = names(release, question)
    assert {"read Vojtěch Kalina", "own letters 1911", "own letters 1911, p. 1"} <= told
    assert not {"read Řehoř Žďárský", "own regulation, p. 1", "own Brenna Tollan"} & told


def test_the_scan_is_the_one_that_is_called_so(release: Release) -> None:
    assert (found := meant(release, "Who is there according to the scan?")) is not None
    assert found[1] == ("scan",)


def test_a_document_can_be_left_out_by_its_title(release: Release) -> None:
    told = names(release, "Who is there, leaving out the letters of 1911?")
    assert {"read Řehoř Žďárský", "own Brenna Tollan"} <= told and "read Vojtěch Kalina" not in told


@pytest.mark.parametrize(
    "question",
    [
        "How many books are there according to period?",
        "How many pages according to document?",
        "According to the catalogue",
        "According to the archaeologists, who was buried here?",
        "Which objects are without letters?",
        "Who wrote the letters of 1911?",
    ],
)
def test_other_questions_are_left_as_they_are(release: Release, question: str) -> None:
    assert according(release, question) is None


def test_without_pages_the_catalogue_is_all_of_the_data(tmp_path_factory: pytest.TempPathFactory) -> None:
    release = sample_release(tmp_path_factory)
    assert according(release, "According to the catalogue, which churches are in Cyprus?") is None
