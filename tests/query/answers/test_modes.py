"""Answering in each mode: what finds the documents, whether a question is read as a plan, and what nothing meets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from rank_bm25 import BM25Okapi

from crmrag_query.answers.ask import Ask, Conversation, prepare, stream
from crmrag_query.answers.records import Answer, Evidence, answer_of
from crmrag_query.artifacts.manifest import MANIFEST
from crmrag_query.artifacts.release import Opener, Release, open_release
from crmrag_query.client.local import open_engine
from crmrag_query.client.wire import Ask as AskRequest
from crmrag_query.client.wire import ListModes
from crmrag_query.config.loading import Mode
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import ConfigError, QuestionError
from crmrag_query.llm.model import Message
from crmrag_query.retrieval import channels
from crmrag_query.retrieval.channels import find_mode, known_modes, lacking, modes_of
from crmrag_query.retrieval.channels.release import Noise, nonsense
from crmrag_query.retrieval.communities import Communities
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import Calibration
from crmrag_query.text import tokenize
from tests.support.modes import SEARCHING, SHIPPED, THERE_ARE

QUESTIONS = (
    "Who painted the murals of Asinou?",
    "Which churches were built before 1200?",
    "The donor with a model of his church",
    "Ποιος ζωγράφισε την εκκλησία του Αράκα;",
)
COUNTED = "Which churches were built before 1200?"


@dataclass
class Asked:
    """A model that counts what it is asked."""

    name: str = "asked"
    times: int = 0

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        self.times += 1
        yield "It was a donor [1]."


def answer(release: Release, question: str, mode: str, model: Asked | None = None) -> Answer:
    return answer_of(stream(release, question, Ask(model, mode=find_mode(release, mode))))


def found(release: Release, question: str, mode: str) -> list[tuple[int, float]]:
    """The documents that retrieval chose, with what its only channel measured."""
    chosen = prepare(release, question, mode=find_mode(release, mode)).retrieved.chosen
    assert all(len(one.similarities) == 1 for one in chosen)
    return [(one.document, next(iter(one.similarities.values()))) for one in chosen]


@pytest.mark.parametrize("question", QUESTIONS)
def test_vector_gives_the_nearest_documents_by_cosine(sample: Release, question: str) -> None:
    dense = sample[DenseIndex]
    vector = sample[QueryEncoder].encode([question])[0].astype(np.float64)
    rows = dense.rows.astype(np.float64)
    cosines = rows @ vector / np.linalg.norm(rows, axis=1) / np.linalg.norm(vector)
    best = np.full(sample[Documents].count, -np.inf)
    np.maximum.at(best, dense.window_document, cosines)
    ranked = found(sample, question, "vector")
    assert ranked
    assert [score for _, score in ranked] == pytest.approx(np.sort(best)[::-1][: len(ranked)], abs=1e-5)
    assert all(score == pytest.approx(best[document], abs=1e-5) for document, score in ranked)


@pytest.mark.parametrize("question", QUESTIONS)
def test_fulltext_gives_the_documents_that_bm25_ranks_first(sample: Release, question: str) -> None:
    documents, constants = sample[Documents], sample.method.sparse
    corpus = [tokenize(documents.text(number)) for number in range(documents.count)]
    okapi = BM25Okapi(corpus, k1=constants.k1, b=constants.b, epsilon=constants.epsilon)
    scores = okapi.get_scores(tokenize(question))
    ranked = found(sample, question, "fulltext")
    assert ranked
    assert [score for _, score in ranked] == pytest.approx(np.sort(scores)[::-1][: len(ranked)])
    assert all(score == pytest.approx(scores[document]) for document, score in ranked)


def test_the_default_is_crm(sample: Release) -> None:
    for question in QUESTIONS:
        assert answer_of(stream(sample, question)) == answer(sample, question, "crm")
    assert find_mode(sample).name == "crm"


def test_a_mode_without_plans_has_no_set_and_answers_from_lines(sample: Release) -> None:
    assert answer(sample, COUNTED, "crm").set is not None
    for mode in ("vector", "fulltext"):
        told = answer(sample, COUNTED, mode)
        assert (told.mode, told.set, told.exhaustive, told.choices) == (mode, None, False, ())
        assert told.sources


@pytest.fixture
def with_plans_only(sample: Release, tmp_path: Path) -> Release:
    """The sample, opened by somebody who has a mode of their own."""
    text = "modes:\n  exactly: {title: {en: Exactly}, channels: [], plans: only, needs: [lexicon]}\n"
    (tmp_path / "modes.yaml").write_text(text, encoding="utf-8")
    return replace(sample, opener=Opener(tmp_path))


def test_a_release_is_asked_in_modes_that_are_younger_than_it(with_plans_only: Release) -> None:
    assert [*modes_of(with_plans_only)] == [*SHIPPED, "exactly"]
    told = answer(with_plans_only, COUNTED, "exactly")
    assert (
        told.exhaustive and told.set is not None and told.text == answer(with_plans_only, COUNTED, "crm").text
    )


def test_by_plans_only_what_is_no_plan_is_refused(with_plans_only: Release) -> None:
    told = answer(with_plans_only, "The donor with a model of his church", "exactly")
    assert told.refused and told.sources == () and told.written_by == "extractive"


NOTHING = ("qqqq zzzz", "What is a zzzz?", "xkcdw pfrtq vbnml")


@pytest.mark.parametrize("mode", SEARCHING)
@pytest.mark.parametrize("question", NOTHING)
def test_what_nothing_meets_retrieves_nothing_says_so_and_asks_no_model(
    sample: Release, question: str, mode: str
) -> None:
    model = Asked()
    events = list(stream(sample, question, Ask(model, mode=find_mode(sample, mode))))
    told = answer_of(iter(events))
    [evidence] = [event for event in events if isinstance(event, Evidence)]
    assert (evidence.sources, told.sources, told.refused) == ((), (), True)
    assert "Nothing that was found answers the question." in told.text
    assert model.times == 0


@pytest.mark.parametrize("mode", ["crm", "vector", "fulltext"])
@pytest.mark.parametrize("question", [*QUESTIONS[:3], "Asinou", "zzzz Asinou"])
def test_a_question_with_a_word_of_the_data_is_met(sample: Release, question: str, mode: str) -> None:
    model = Asked()
    told = answer(sample, question, mode, model)
    assert told.sources and model.times > 0


def test_a_follow_up_without_words_of_the_data_is_about_what_went_before(sample: Release) -> None:
    _, talk = Conversation().ask(sample, "When was the church of Asinou built?")
    told, _ = talk.ask(sample, "And who painted it?")
    assert told.sources and "Panagia Phorbiotissa (Asinou)" in told.text


def test_nothing_is_nearer_to_nonsense_than_the_noise_of_an_encoder(sample: Release) -> None:
    assert nonsense() == nonsense() and len(set(nonsense())) == len(nonsense())
    vectors = sample[QueryEncoder].encode(nonsense()).astype(np.float64)
    assert sample[Noise].cosine == pytest.approx((sample[DenseIndex].rows @ vectors.T).max(), abs=1e-6)


def without(release: Release, artifact: str, folder: str, root: Path) -> Path:
    """A data folder with the release as if an artifact had never been made; ``folder``: where that stands in it."""
    manifest = release.manifest
    versions = {name: version for name, version in manifest.versions.items() if name != artifact}
    files = tuple(entry for entry in manifest.files if not entry.path.startswith(f"{folder}/"))
    left = replace(manifest, versions=versions, files=files)
    whole = root / "releases" / manifest.dataset / left.id
    shutil.copytree(release.folder, whole, ignore=shutil.ignore_patterns(folder, "provenance.json"))
    (whole / MANIFEST).write_text(left.text(), encoding="utf-8")
    (whole.parent / "current").write_text(left.id, encoding="utf-8")
    return root


@pytest.fixture(scope="module")
def unembedded(sample: Release, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data folder with the sample without its dense index."""
    yield without(sample, "faiss_index", "dense", tmp_path_factory.mktemp("unembedded"))


def test_a_release_answers_in_the_modes_whose_artifacts_it_has_and_tells_what_the_others_need(
    sample: Release, unembedded: Path
) -> None:
    engine = open_engine(str(unembedded))
    told = engine.modes(ListModes())
    lacking_none = ("crm", "fulltext", "global_vector", "graph", "agent")
    assert {one.name: one.lacks for one in told.modes} == {
        name: () if name in lacking_none else ("faiss_index",) for name in SHIPPED
    }
    assert all("crmrag embed churches" in one.build for one in told.modes if one.lacks)
    there = engine.ask(AskRequest(QUESTIONS[0], mode="fulltext"))
    assert there.sources == answer(sample, QUESTIONS[0], "fulltext").sources
    assert engine.ask(AskRequest(QUESTIONS[0])).sources, "by all channels but the one that waits for vectors"
    with pytest.raises(QuestionError, match=r"no faiss_index.*crmrag embed churches.*fulltext"):
        engine.ask(AskRequest(QUESTIONS[0], mode="vector"))


def test_a_mode_that_there_is_not_is_refused_with_those_that_there_are(sample: Release) -> None:
    with pytest.raises(QuestionError, match=f"no mode 'vectors'. {THERE_ARE}"):
        find_mode(sample, "vectors")


def test_a_channel_that_there_is_not_is_told_with_its_file(sample: Release, tmp_path: Path) -> None:
    text = "modes:\n  mine: {title: {en: Mine}, channels: [denze], plans: never}\n"
    (tmp_path / "modes.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(
        ConfigError, match=r"modes\.yaml(.|\n)*modes\.mine\.channels: no such channel.*'denze'.*dense"
    ):
        modes_of(replace(sample, opener=Opener(tmp_path)))


def test_a_release_of_today_has_what_every_mode_needs(sample: Release) -> None:
    assert all(lacking(sample, mode) == () for mode in modes_of(sample).values())
    assert open_release(sample.folder).manifest.has("bm25_index")


def test_modes_are_read_once_for_an_open_release_and_again_where_they_have_changed(
    sample: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path | None] = []

    def counted(folder: Path | None) -> dict[str, Mode]:
        read.append(folder)
        return known_modes(folder)

    monkeypatch.setattr(channels, "known_modes", counted)
    monkeypatch.delenv("VECTOR_SEARCH_TOP_K", raising=False)
    release, file = replace(sample, opener=Opener(tmp_path)), tmp_path / "modes.yaml"
    for question in QUESTIONS[:2]:
        answer_of(stream(release, question))
        answer(release, question, "vector")
    assert read == [tmp_path]
    file.write_text(
        "modes:\n  mine: {title: {en: Mine}, channels: [sparse], plans: never}\n", encoding="utf-8"
    )
    assert answer(release, QUESTIONS[0], "mine").mode == "mine" and len(read) == 2
    monkeypatch.setenv("VECTOR_SEARCH_TOP_K", "3")
    assert len(answer(release, QUESTIONS[0], "vector").sources) == 3 and len(read) == 3
    file.unlink()
    with pytest.raises(QuestionError, match=THERE_ARE):
        find_mode(release, "mine")
    assert len(read) == 4


@pytest.mark.parametrize(
    ("variable", "value", "mode", "most"),
    [
        ("VECTOR_SEARCH_TOP_K", "2", "vector", 2),
        ("VECTOR_SEARCH_TOP_K", "30", "fulltext", 20),  # no more than MAX_SEARCH_DOCUMENTS
        ("MAX_SEARCH_DOCUMENTS", "7", "graph_vector_fulltext", 7),
        ("MAX_SEARCH_DOCUMENTS", "9", "entity_vector", 9),
    ],
)
def test_limits_say_how_many_documents_a_mode_finds(
    sample: Release, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, mode: str, most: int
) -> None:
    monkeypatch.setenv(variable, value)
    assert len(prepare(sample, QUESTIONS[0], mode=find_mode(sample, mode)).retrieved.chosen) == most


def test_the_pool_is_as_many_times_the_documents_as_the_ratio_says(
    sample: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_SEARCH_DOCUMENTS", "8")
    for ratio, size in (("1", 8), ("2.5", 20)):
        monkeypatch.setenv("EFFECTIVE_SEARCH_RATIO", ratio)
        assert (
            len(prepare(sample, QUESTIONS[0], mode=find_mode(sample, "fulltext")).retrieved.ranking) == size
        )


def test_a_document_below_the_similarity_does_not_count(
    sample: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibration, (question, *_) = sample[Calibration], QUESTIONS
    for similarity in (0.5, 0.6, 0.7):
        monkeypatch.setenv("CHAT_SEARCH_KWARG_SCORE_THRESHOLD", str(similarity))
        chosen = prepare(sample, question, mode=find_mode(sample, "vector")).retrieved.ranking
        vector = sample[QueryEncoder].encode([question])[0]
        near = sample[DenseIndex].search(vector, 20)
        kept = calibration.similarities(near.scores) >= similarity - 1e-9
        assert chosen == near.documents[kept].tolist()


def test_no_more_levels_of_themes_are_searched_than_the_limit_says(
    sample: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    of_level = Communities.of_level
    monkeypatch.setattr(
        Communities, "of_level", lambda self, level: searched.append(level) or of_level(self, level)
    )
    for levels in (1, 2):
        searched.clear()
        monkeypatch.setenv("COMMUNITY_SEARCH_LEVELS", str(levels))
        found(sample, "What is this collection about?", "global_vector")
        assert set(searched) == set(range(levels)) & {told["level"] for told in sample[Communities].levels}


def test_the_graph_modes_add_what_the_entity_graph_reaches(sample: Release) -> None:
    graph = sample[EntityGraph]
    for mode in ("graph_vector", "graph_vector_fulltext", "entity_vector"):
        chosen = prepare(sample, QUESTIONS[0], mode=find_mode(sample, mode)).retrieved.chosen
        reached = [one for one in chosen if "reached" in one.ranks]
        seeds = {one.document for one in chosen if set(one.ranks) - {"reached", "themes"}}
        assert reached and 1 <= len(seeds) <= 5
        near = {int(end) for seed in seeds for end in graph.of(seed)[0]}
        near |= {int(end) for one in near for end in graph.of(one)[0]}
        assert all(one.similarities["reached"] == 0.8 and one.document in near for one in reached)
