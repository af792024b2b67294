"""The same thing in two documents, or in a museum's graph, is proposed with a score, never merged; a person decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import numpy.typing as npt
import pytest
from click.testing import CliRunner

from crmrag_assets.cli.pages import pages
from crmrag_assets.sources.pages.candidates import ACCEPTED, REFUSED, Pair, decide, decided
from crmrag_assets.steps import pages as steps
from crmrag_query import Client
from crmrag_query.documents.pages import CANDIDATES, READ, is_read, load
from crmrag_query.errors import BuildError
from crmrag_query.retrieval.encoder import hash_vectors, unit
from tests.support.builds import Project, build_all
from tests.support.pdf import pdf
from tests.support.regulation import REPLIES, make_regulation, reply, scripted

KEEPER, ARCHIVE = "http://example.org/keeper", "http://example.org/archive"
SECOND = "The plan of the granary names the standard JN 4410 and nothing else of note."


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The regulation, and a second document that names one of its standards."""
    found = make_regulation(tmp_path_factory.mktemp("candidates") / "p", model="openai/scripted")
    (found.root / "vault.pdf").write_bytes(pdf(SECOND))
    with scripted(
        *REPLIES, reply([("JN 4410", "STANDARD", "Named in the plan."), ("JN 9999", "STANDARD", "")], [])
    ):
        build_all(found.context())
    return found


def proposed(project: Project) -> dict[frozenset[str], float]:
    """The pairs by what the two are called, with their scores."""
    with Client(project.data) as client:
        found = client.candidates()
    assert found.total == len(found.candidates)
    return {frozenset((one.read.label, one.other.label)): one.score for one in found.candidates}


def test_they_are_proposed_across_documents_and_with_what_a_curator_wrote(project: Project) -> None:
    found = proposed(project)
    assert found[frozenset({"Řehoř Žďárský"})] == 1.0
    assert 1.0 in {score for pair, score in found.items() if all("JN 4410" in name for name in pair)}
    near = found[frozenset({"Okresní archiv Hvězdov", "Okresní archív Hvězdov"})]
    assert near == 1.0, "diacritics are no difference"
    assert not any("Brenna Tollan" in pair for pair in found)


@dataclass
class Knowing:
    """An encoder that takes two words for the same, and some of whose vectors are all alike otherwise, as of many models."""

    same: dict[str, str]
    asked: list[str] = field(default_factory=list)
    key, dimension, settings = "knowing", 2048, SimpleNamespace(provider="sentence-transformers")

    def encode(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.asked += texts
        alike = np.ones((len(texts), self.dimension), np.float32) / np.sqrt(np.float32(self.dimension))
        return unit(hash_vectors([self.same.get(text, text) for text in texts], self.dimension) + 2 * alike)


def test_other_words_for_the_same_are_proposed_by_the_data_sets_encoder(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = Knowing({"městská knihovna": "Codex of the Granary library"})
    monkeypatch.setattr(steps, "encoder_of", lambda context: encoder)
    steps.write_candidates(project.context(), tmp_path, None)
    found = {(one["a"], one["b"]): one["score"] for one in load(tmp_path, "candidates")}
    by_letters = {(one["a"], one["b"]) for one in load(project.context().folder(CANDIDATES), "candidates")}
    new = {pair: score for pair, score in found.items() if pair not in by_letters}
    assert len(new) == 1, new
    ((pair, score),) = new.items()
    assert is_read(pair[0]) and pair[1] == "http://example.org/codex", "and of no other things, however alike"
    assert 0.75 <= score < 1
    assert "Brenna Tollan" in encoder.asked and len(encoder.asked) == len(set(encoder.asked))
    encoder.asked.clear()
    again = tmp_path / "again"
    again.mkdir()
    steps.write_candidates(project.context(), again, None)
    assert load(again, "candidates") == load(tmp_path, "candidates") and not encoder.asked


def test_nothing_is_merged_before_a_person_says_so(project: Project) -> None:
    with Client(project.data) as client:
        found = client.set({"target": {"categories": ["Actor"]}}, limit=50)
    called = [one.label for one in found.members]
    assert called.count("Řehoř Žďárský") == 2 and found.identity.distinct in (None, found.size)


def test_what_a_person_decides_counts_from_the_next_build_on(project: Project) -> None:
    with Client(project.data) as client:
        pairs = {one.other.iri: one for one in client.candidates().candidates}
    keeper, archive = pairs[KEEPER], pairs[ARCHIVE]
    for verdict, pair in (("accept", keeper), ("refuse", archive)):
        args = [verdict, "churches", pair.other.iri, pair.read.iri, "--config", str(project.config)]
        told = CliRunner().invoke(pages, args)
        assert told.exit_code == 0, told.output
    with scripted() as script:
        build_all(project.context())
    assert not script.requests, "nothing is read again"
    with Client(project.data) as client:
        left = {one.other.iri for one in client.candidates().candidates}
        assert not left & {KEEPER, ARCHIVE}
        same = client.lineage(keeper.read.iri, "http://www.w3.org/2002/07/owl#sameAs", KEEPER)
        found = client.set({"target": {"categories": ["Actor"]}}, limit=50)
    assert same.stated
    assert found.identity.distinct == found.size - 1, (
        "they count as one where identity is asked for, and stay two"
    )
    listed = CliRunner().invoke(pages, ["candidates", "churches", "--data", str(project.data)])
    assert listed.exit_code == 0 and "JN 4410" in listed.output and KEEPER not in listed.output


def test_decisions_are_kept_in_a_plain_file_and_mistakes_in_it_are_named(tmp_path: Path) -> None:
    file, pair = tmp_path / "said.tsv", Pair.of("http://example.org/a", f"{READ}thing:1")
    assert pair.a == f"{READ}thing:1" and decided(file) == {}
    decide(file, pair, ACCEPTED)
    decide(file, pair, REFUSED)
    assert decided(file) == {pair: REFUSED}
    file.write_text(f"accepted\t{READ}thing:1\n", encoding="utf-8")
    with pytest.raises(BuildError, match="line 1"):
        decided(file)
    with pytest.raises(ValueError, match="neither"):
        Pair.of("http://example.org/a", "http://example.org/b")
