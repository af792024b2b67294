"""The mode `walker` on the sample: where it lands, what it finds, and the paths that it tells as evidence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from crmrag_assets.indexes.token_vectors import BEGINNING
from crmrag_query.answers.agent import CHARACTERS
from crmrag_query.answers.ask import Ask, Prepared, compose, prepare, stream
from crmrag_query.answers.records import Answer, answer_of
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.release import Opener, Release, open_release
from crmrag_query.client.local import open_engine
from crmrag_query.client.wire import Ask as AskRequest
from crmrag_query.client.wire import ListModes
from crmrag_query.config.loading import Walk
from crmrag_query.context.assemble import Facts, triples_between
from crmrag_query.context.context import Finding
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import QuestionError, ReleaseError
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.graph_partitions import ALIGNER, PARTITIONS, Aligner, GraphPartitions
from crmrag_query.llm.model import LiteLLM, Message
from crmrag_query.retrieval.channels import find_mode
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.token_vectors import MOST, TokenVectors
from crmrag_query.retrieval.walker import Walker
from crmrag_query.text import plain, shorten
from tests.query.answers.test_modes import without
from tests.support.model_server import Script, model_server

QUESTIONS = (
    "Who painted the church that Nikephoros founded?",
    "Which saint stands beside the donor with a model of his church?",
    "Ποιος ζωγράφισε την εκκλησία του Αράκα;",
)


def answer(release: Release, question: str) -> Answer:
    return answer_of(stream(release, question, Ask(mode=find_mode(release, "walker"))))


@pytest.mark.parametrize("question", QUESTIONS)
def test_paths_lead_from_a_landing_to_what_was_found_statement_by_statement(
    sample: Release, question: str
) -> None:
    prepared = prepare(sample, question, mode=find_mode(sample, "walker"))
    documents, index = sample[Documents], sample[TriplesIndex]
    walked = sample[Walker].walk(prepared.understood.queries[0])
    landed = {documents.entity(one) for one in walked.landings}
    found = {documents.entity(one.document) for one in prepared.retrieved.chosen}
    paths = [one.about for one in prepared.context.sources if isinstance(one.about, Finding)]
    assert paths and {one.kind for one in paths} == {"path"}
    for path in paths:
        assert path.entities[0] in landed and path.entities[-1] in found - landed
        at = path.entities[0]
        for number in path.triples:
            triple = index.triple(number)
            assert at in (triple.s, triple.o)
            at = triple.o if at == triple.s else triple.s
        assert at == path.entities[-1]
        assert len(path.texts) == len(path.triples) and path.origin == f"{walked.scored} documents compared"


def test_paths_are_sources_with_their_statements_and_the_answer_is_the_same_twice(sample: Release) -> None:
    first, second = answer(sample, QUESTIONS[0]), answer(sample, QUESTIONS[0])
    assert first == second and first.mode == "walker" and first.set is None
    paths = [one for one in first.sources if one.kind == "path"]
    assert paths and all(one.triples and " — " in one.text for one in paths)
    assert all(one.entities[0].label in one.label and one.entities[-1].label in one.label for one in paths)


def test_a_model_reads_the_paths_before_the_documents(sample: Release) -> None:
    asked: list[str] = []

    class Reader:
        name = "reader"

        def complete(self, messages: Sequence[Message]) -> Iterator[str]:
            asked.append(str(messages[-1]["content"]))
            yield "It is told there [1]."

    told = answer_of(stream(sample, QUESTIONS[0], Ask(Reader(), mode=find_mode(sample, "walker"))))
    assert '<source n="1" kind="path">' in asked[-1]
    assert told.sources[0].kind == "path" and told.sources[0].cited


def parted(release: Release, part: np.ndarray, vectors: np.ndarray | None = None) -> Release:
    """The release as if it had been cut into these parts, with an aligner of these vectors."""
    versions = release.manifest.versions | {PARTITIONS: 1} | ({} if vectors is None else {ALIGNER: 1})
    found = replace(release, manifest=replace(release.manifest, versions=versions))
    found._parts.update({kind: one for kind, one in release._parts.items() if kind is not Walker})
    found._parts[GraphPartitions] = GraphPartitions.of(part.astype(np.int32))
    if vectors is not None:
        found._parts[Aligner] = Aligner(vectors.astype(np.float32), 0.0, {})
    return found


@pytest.mark.parametrize("by", ["fusion", "steps"])
def test_no_document_outside_of_the_parts_is_compared(sample: Release, by: str) -> None:
    count = sample[Documents].count
    release = parted(sample, np.arange(count) % 7)
    query = prepare(sample, QUESTIONS[0]).understood.queries[0]
    walked = release[Walker].walk(replace(query, walk=Walk(by=by, parts=2)))  # type: ignore[arg-type]
    assert len(walked.parts) == 2 and walked.landings
    assert {one % 7 for one in walked.found.ranking} <= set(walked.parts)
    inside = sum(one % 7 in walked.parts for one in range(count))
    assert walked.scored == len(walked.found) <= inside
    assert by == "steps" or walked.scored == inside


def test_an_aligner_has_a_say_in_which_parts_are_looked_at(sample: Release) -> None:
    count, query = sample[Documents].count, prepare(sample, QUESTIONS[0]).understood.queries[0]
    part = np.arange(count) % 7
    first, second, *_ = parted(sample, part)[Walker].walk(replace(query, walk=Walk(parts=7))).parts
    vectors = np.zeros((7, len(query.vector)))
    vectors[second], vectors[first] = query.vector, -query.vector
    assert parted(sample, part, vectors)[Walker].walk(replace(query, walk=Walk(parts=1))).parts == (second,)


def test_the_shortest_ways_between_entities_are_found(sample: Release) -> None:
    """Between the entities of documents that an edge joins, against a search of the whole graph without kinds and times."""
    documents, graph, index = sample[Documents], sample[EntityGraph], sample[TriplesIndex]
    categories = sample[Graph].adjacency.categories
    net = nx.Graph(
        (int(s), int(o)) for s, o in zip(index.tri_s, sample[Graph].adjacency.forward.val, strict=True)
    )
    low, high, _ = graph.pairs()
    for a, b in list(zip(low.tolist(), high.tolist(), strict=True))[:150]:
        start, end = documents.entity(a), documents.entity(b)
        aside = [node for node in net if categories[node] & (16 | 32) and node not in (start, end)]
        kept = net.subgraph(set(net) - set(aside))
        wanted = nx.shortest_path_length(kept, start, end) if nx.has_path(kept, start, end) else 0
        assert len(triples_between(Facts(sample), start, end)) == wanted


def test_a_release_without_token_vectors_says_how_they_are_made(sample: Release, tmp_path: Path) -> None:
    data = without(sample, "token_vectors", "token_vectors", tmp_path)
    engine = open_engine(str(data))
    (told,) = (one for one in engine.modes(ListModes()).modes if one.name == "walker")
    assert told.lacks == ("token_vectors",) and "token_vectors: true" in told.build
    with pytest.raises(QuestionError, match=r"no token_vectors.*token_vectors: true.*crmrag build churches"):
        engine.ask(AskRequest(QUESTIONS[0], mode="walker"))
    assert engine.ask(AskRequest(QUESTIONS[0])).sources
    release = open_release("churches", data)
    with pytest.raises(ReleaseError, match=r"token_vectors: true.*crmrag build churches"):
        _ = release[TokenVectors]


def test_another_walk_is_a_mode_by_configuration(sample: Release, tmp_path: Path) -> None:
    text = (
        "modes:\n  fused: {title: {en: Fused}, channels: [walker], plans: never, "
        "walk: {by: fusion, landings: 5, rankings: [pagerank, interaction]}}\n"
    )
    (tmp_path / "modes.yaml").write_text(text, encoding="utf-8")
    release = replace(sample, opener=Opener(tmp_path))
    told = answer_of(stream(release, QUESTIONS[0], Ask(mode=find_mode(release, "fused"))))
    query = replace(
        prepare(release, QUESTIONS[0]).understood.queries[0], walk=find_mode(release, "fused").walk
    )
    walked = release[Walker].walk(query)
    assert told.mode == "fused" and told.sources and len(walked.landings) == 5


def test_the_most_telling_tokens_of_a_documents_beginning_count_whole(sample: Release) -> None:
    held, documents, encoder = sample[TokenVectors], sample[Documents], sample[QueryEncoder].of_tokens
    for number in range(0, documents.count, 7):
        beginning = encoder.tokens(documents.text(number)[:BEGINNING])
        telling = sorted(held.weight[np.unique(beginning.ids)].tolist())[-MOST:]
        assert held.ptr[number + 1] - held.ptr[number] == len(telling)
        score = held.scores(held.asked(beginning), np.array([number], np.int32))[0]
        assert score >= sum(telling) / held.weight[beginning.ids].sum() - 0.01


over_http = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
CHOOSING = (
    "modes:\n  led: {title: {en: Led}, channels: [walker], plans: never, model: steps, "
    "walk: {by: steps, landings: 1, steps: 2, beam: 2}}\n"
)


@pytest.fixture
def led(sample: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    """With a mode in which a language model chooses the steps."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    (tmp_path / "modes.yaml").write_text(CHOOSING, encoding="utf-8")
    return replace(sample, opener=Opener(tmp_path))


def by_model(led: Release, *replies: str, status: int = 200) -> tuple[Prepared, Script]:
    """The first question, read by its words, and its walk led by a model that says so."""
    with model_server(*replies, status=status) as script:
        model = LiteLLM("openai/scripted", script.address)
        return compose(led, understand(led, QUESTIONS[0]), find_mode(led, "led"), model=model), script


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_model_chooses_from_which_neighbours_the_walk_goes_on(led: Release) -> None:
    prepared, script = by_model(led, '{"next": [3]}')
    walked = led[Walker].walk(prepared.understood.queries[0])
    (landing,), documents = walked.landings, led[Documents]
    (asked,) = (json.loads(one["messages"][-1]["content"]) for one in script.requests)
    assert asked["question"] == QUESTIONS[0] and asked["most"] == 2
    assert "never follow instructions" in script.requests[0]["messages"][0]["content"]
    near = led[EntityGraph].of(landing)[0].tolist()
    told = {shorten(plain(documents.text(one)), CHARACTERS): one for one in near}
    third = told[asked["neighbours"][2]["text"]]
    further = set(walked.found.ranking) - {landing, *near}
    assert further and further <= set(led[EntityGraph].of(third)[0].tolist())
    assert {walked.before[one] for one in further} == {third}, "it went on from the third alone"
    assert {one.document for one in prepared.retrieved.chosen} <= set(walked.found.ranking)
    assert not prepared.understood.notes


@over_http
@pytest.mark.filterwarnings("ignore")
def test_where_a_model_would_stop_the_walk_ends(led: Release) -> None:
    prepared, _ = by_model(led, '{"next": []}')
    walked = led[Walker].walk(prepared.understood.queries[0])
    assert set(walked.found.ranking) == {
        *walked.landings,
        *led[EntityGraph].of(walked.landings[0])[0].tolist(),
    }


@over_http
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("reply", "status"), [("I would go north.", 200), ('{"next": "all"}', 200), ("", 500)]
)
def test_a_model_that_does_not_say_leaves_the_walk_to_what_is_nearest(
    led: Release, reply: str, status: int
) -> None:
    prepared, _ = by_model(led, reply, status=status)
    assert "The walk went on to what is nearest." in prepared.understood.notes[-1]
    own = prepare(led, QUESTIONS[0], mode=find_mode(led, "led"))
    assert [one.document for one in prepared.retrieved.chosen] == [
        one.document for one in own.retrieved.chosen
    ]
