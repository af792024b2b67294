"""What every client promises: over a folder and over HTTP, blocking and not, the same results and the same errors."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crmrag_query import Answer, AsyncClient, Client, Done, Evidence, Restart, Token, errors
from crmrag_query.artifacts.release import open_release
from crmrag_query.client.local import open_engine
from crmrag_query.documents.documents import record_of
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import CannedModel, LiteLLM
from crmrag_query.plans.world import World
from crmrag_query.relationships.engine import walk
from tests.query.client.conftest import Calling, calling
from tests.support.api_server import api_server

QUESTION = "When was the church of Asinou built?"
ASINOU = "https://example.org/troodos/church/asinou"


def test_an_answer_is_the_same_everywhere(compared: Calling, local: Client) -> None:
    answer = compared("ask", QUESTION)
    assert answer == local.ask(QUESTION)
    assert type(answer) is type(local.ask(QUESTION))
    assert answer.text and answer.sources and answer.mode and answer.dataset == "sample"
    assert answer.to_dict()["sources"][0]["iri"] == answer.sources[0].iri
    assert not answer.refused and isinstance(answer.timings, dict) and isinstance(answer.exhaustive, bool)


def test_a_stream_ends_with_the_answer_that_ask_gives(compared: Calling, local: Client) -> None:
    events = compared("stream", QUESTION)
    answer = local.ask(QUESTION)
    assert isinstance(events[-1], Done) and events[-1].answer == answer
    assert any(isinstance(event, Evidence) and event.sources for event in events)
    assert "".join(event.text for event in events if isinstance(event, Token)) == answer.text


def test_a_conversation_goes_on_from_questions_or_from_the_answer_before(
    compared: Calling, local: Client
) -> None:
    first = compared("ask", QUESTION)
    follow = "And who paid for its paintings?"
    by_answer = compared("ask", follow, history=first)
    assert by_answer == compared("ask", follow, history=first.conversation) == local.ask(follow, first)
    assert compared("ask", follow, history=[QUESTION]) == local.ask(follow, [QUESTION])
    assert len(str(by_answer.conversation)) > len(str(first.conversation))
    assert first == compared("ask", QUESTION), "an earlier state is left as it was"


def test_documents_are_ranked_with_their_channels(compared: Calling, local: Client) -> None:
    ranking = compared("retrieve", QUESTION, k=5)
    assert ranking == local.retrieve(QUESTION, k=5)
    assert [one.rank for one in ranking] == [1, 2, 3, 4, 5] and len(ranking) == 5
    assert all(one.ranks and min(one.ranks.values()) >= 1 and one.snippet for one in ranking)
    assert ranking[0].iri in {one.iri for one in compared("retrieve", QUESTION)}
    frame = ranking.to_polars()
    assert frame["rank"].to_list() == [1, 2, 3, 4, 5] and frame["label"].to_list()[0] == ranking[0].label


def test_a_ranking_comes_with_the_context_that_an_answer_is_written_from(
    compared: Calling, local: Client
) -> None:
    ranking = compared("retrieve", QUESTION)
    assert ranking.context == local.retrieve(QUESTION).context
    assert [source.n for source in ranking.sources] == list(range(1, len(ranking.sources) + 1))
    assert all(f'n="{source.n}"' in ranking.context for source in ranking.sources)
    assert not any(source.cited for source in ranking.sources)
    [evidence] = [event for event in compared("stream", QUESTION) if isinstance(event, Evidence)]
    assert [source.iri for source in evidence.sources] == [source.iri for source in ranking.sources]
    follow = "And who paid for its paintings?"
    assert compared("retrieve", follow, history=[QUESTION]) == local.retrieve(follow, history=[QUESTION])


def test_a_model_that_fails_restarts_the_stream_with_an_extractive_answer(data: Path, local: Client) -> None:
    broken = LiteLLM("openai/nothing", "http://127.0.0.1:9/v1", timeout=5)
    with api_server(open_engine(str(data), model=broken)) as address, Client(data, model=broken) as own:
        for client in (own, Client(address)):
            events = list(client.stream(QUESTION))
            [restart] = [event for event in events if isinstance(event, Restart)]
            assert "openai/nothing" in restart.reason
            after = events[events.index(restart) + 1 :]
            answer = events[-1].answer if isinstance(events[-1], Done) else None
            assert answer is not None and answer.written_by == "extractive" and answer.notes
            assert "".join(event.text for event in after if isinstance(event, Token)) == answer.text
            client.close()


def test_an_entity_is_told_as_the_graph_has_it(call: Calling, data: Path) -> None:
    entity, release = call("entity", ASINOU), open_release("sample", data)
    graph, node = release[Graph], release[Graph].node(ASINOU)
    assert node is not None
    record = record_of(graph, node)
    assert entity.label == record["label"] and [one.iri for one in entity.classes] == record["types"]
    assert [one.value for one in entity.literals] == [one["value"] for one in record["literals"]]
    assert entity.literals_total == len(record["literals"]) and entity.degree == len(record["triples"])
    assert entity.images == tuple(graph.images(node)) != ()
    assert "Παναγία Φορβιώτισσα (Ασίνου)" in entity.names["el"]
    assert entity.document.startswith("[Thing]") and entity.document_of is None
    assert entity.dates is not None and entity.dates.begin == "1099"
    assert (entity.release, entity.dataset, entity.licence) == (release.id, "sample", "CC0 1.0")


def test_a_description_is_no_name_and_relationships_are_told_in_the_language(local: Client) -> None:
    release = open_engine(str(local._target)).releases.release("sample")[1]  # type: ignore[attr-defined]
    graph = release[Graph]
    described = [
        node
        for node in range(graph.nodes)
        if any(graph.property_code(one.property) == "P3" for one in graph.literals(node))
    ]
    assert described
    for node in described:
        entity = local.entity(graph.iri(node))
        notes = {
            " ".join(one.value.split()) for one in entity.literals if one.property.endswith("P3_has_note")
        }
        names = {text for texts in entity.names.values() for text in texts}
        assert not any(
            note == name or note.startswith(name.removesuffix("…")) for note in notes for name in names
        )
    german = local.entity(ASINOU, language="de")
    assert "geschaffen in" in [one.label for one in german.relationships]
    assert [one.key for one in german.relationships] == [
        one.key for one in local.entity(ASINOU).relationships
    ]


def test_relationships_have_their_true_counts_however_many_are_shown(call: Calling, data: Path) -> None:
    import numpy as np

    entity, release = call("entity", ASINOU), open_release("sample", data)
    node = release[Graph].node(ASINOU)
    found = walk(
        release[Graph].adjacency, release.ontology, release[World].catalogue, np.array([node], np.int32)
    )
    expected: dict[str, set[str]] = {}
    for number, target in zip(found.relationship.tolist(), found.target.tolist(), strict=True):
        expected.setdefault(release[World].catalogue[number].id, set()).add(release[Graph].iri(target))
    assert {group.key: group.total for group in entity.relationships} == {
        key: len(targets) for key, targets in expected.items()
    }
    for group in entity.relationships:
        assert {target.iri for target in group.targets} <= expected[group.key]
        assert len(group.targets) == min(group.total, 20)
    assert any(group.total > 20 for group in entity.relationships)


def test_an_absorbed_entity_tells_whose_document_holds_it(call: Calling) -> None:
    entity = call("entity", "https://example.org/troodos/timespan/asinou-building")
    assert entity.document_of is not None and entity.document_of.iri != entity.iri
    assert "1099" in entity.document


def test_labels_come_in_the_language_asked_for(call: Calling) -> None:
    assert call("entity", ASINOU, language="el").label.startswith("Παναγία")
    triples = call("neighbours", ASINOU, language="el")
    assert any("Ασίνου" in (one.s_label + one.o_label) for one in triples)


def test_pages_of_neighbours_are_all_triples_each_once(call: Calling, data: Path) -> None:
    release = open_release("sample", data)
    node = release[Graph].node(ASINOU)
    assert node is not None
    expected = sorted((one["s"], one["p"], one["o"]) for one in record_of(release[Graph], node)["triples"])
    found, offset = [], 0
    while offset is not None:
        page = call("neighbours", ASINOU, limit=20, offset=offset)
        assert page.total == len(expected) and len(page) <= 20
        found += [(one.s, one.p, one.o) for one in page]
        offset = page.next
    assert sorted(found) == expected
    assert all(one.s_label and one.p_label and one.o_label for one in page)


def test_entities_are_found_by_name_in_any_script(compared: Calling, local: Client) -> None:
    found = compared("search", "Asinou", limit=5)
    assert found == local.search("Asinou", limit=5) and 0 < len(found) <= 5
    assert ASINOU in {one.iri for one in compared("search", "Panagia Phorbiotissa")}
    assert ASINOU in {one.iri for one in compared("search", "Παναγία Φορβιώτισσα")}
    assert all(0 < one.score <= 1 and one.name for one in found)


def test_lineage_leads_from_a_triple_to_line_path_and_source(compared: Calling, local: Client) -> None:
    source = local.ask(QUESTION).sources[0]
    triple = source.triples[0]
    traced = compared("lineage", triple, source=source)
    assert traced == local.lineage(triple.s, triple.p, triple.o, source=source.iri)
    assert traced.stated and traced.lines and traced.origin is not None
    assert traced.origin.places and traced.chunk
    assert len(traced.to_polars()) == len(traced.lines)
    assert not compared("lineage", triple.o, triple.p, "nothing of the kind").stated


def test_data_sets_are_listed_with_their_counts(call: Calling) -> None:
    found = call("datasets")
    assert [one.name for one in found] == ["sample"] and len(found) == 1
    assert found["sample"].counts["entities"] > 500 and found["sample"].examples
    with pytest.raises(KeyError):
        found["nowhere"]


@pytest.mark.slow
def test_a_client_is_shared_by_threads_and_tasks(data: Path, service: str, local: Client) -> None:
    questions = [QUESTION, "Who was Nikephoros Magistros?", "Which murals show the Crucifixion?"] * 2
    expected = [local.ask(question) for question in questions]
    for target in (str(data), service):
        with Client(target) as client, ThreadPoolExecutor(4) as pool:
            assert list(pool.map(client.ask, questions)) == expected

        async def together(target: str) -> list[Answer]:
            async with AsyncClient(target) as client:
                return list(await asyncio.gather(*(client.ask(question) for question in questions)))

        assert asyncio.run(together(target)) == expected


# errors


@pytest.mark.parametrize(
    ("method", "arguments", "named", "error", "match"),
    [
        ("ask", ("",), {}, errors.QuestionError, "empty"),
        ("ask", ("why " * 10_000,), {}, errors.QuestionError, "characters"),
        ("ask", ("half a \ud800",), {}, errors.QuestionError, "Unicode"),
        ("ask", (7,), {}, errors.QuestionError, "question"),
        ("ask", ("Who?",), {"history": "Where?"}, errors.QuestionError, "list"),
        ("ask", ("Who?",), {"history": 5}, errors.QuestionError, "no history"),
        ("entity", (None,), {}, errors.QuestionError, "no entity"),
        ("ask", ("Who?",), {"history": ["x" * 20_000]}, errors.QuestionError, "characters"),
        ("ask", ("Who?",), {"history": {"questions": 7}}, errors.QuestionError, "conversation"),
        ("ask", ("Who?",), {"dataset": "nowhere"}, errors.ReleaseNotFound, "nowhere.*sample"),
        ("ask", ("Who?",), {"dataset": "../sample"}, errors.ReleaseNotFound, "no name"),
        ("stream", ("  ",), {}, errors.QuestionError, "empty"),
        ("retrieve", ("",), {}, errors.QuestionError, "empty"),
        ("retrieve", ("Who?",), {"k": 0}, errors.QuestionError, "k is 0"),
        ("retrieve", ("Who?",), {"k": "5"}, errors.QuestionError, "whole number"),
        ("entity", ("http://example.org/nothing",), {}, errors.UnknownEntity, "nothing"),
        ("entity", ("x" * 20_000,), {}, errors.QuestionError, "characters"),
        ("neighbours", (ASINOU,), {"limit": 100_000}, errors.QuestionError, "limit is 100000"),
        ("neighbours", (ASINOU,), {"offset": -1}, errors.QuestionError, "offset is -1"),
        ("search", ("",), {}, errors.QuestionError, "nothing to search"),
        ("search", ("a",), {"limit": -5}, errors.QuestionError, "limit is -5"),
    ],
)  # fmt: skip
def test_errors_are_the_same_everywhere(
    call: Calling,
    method: str,
    arguments: tuple[object, ...],
    named: dict[str, object],
    error: type[errors.CrmRagError],
    match: str,
) -> None:
    with pytest.raises(error, match=match) as caught:
        call(method, *arguments, **named)
    assert type(caught.value) is error
    assert caught.value.what and caught.value.remedy


def test_an_unknown_iri_comes_with_those_that_may_be_meant(call: Calling) -> None:
    with pytest.raises(errors.UnknownEntity) as caught:
        call("entity", "https://example.org/troodos/kirk/asinou")
    assert caught.value.suggestions and all("troodos" in iri for iri in caught.value.suggestions)
    with pytest.raises(errors.UnknownEntity, match="search"):
        call("neighbours", "Panagia Phorbiotissa")


def test_several_data_sets_want_a_choice(data: Path, tmp_path: Path) -> None:
    (tmp_path / "releases").mkdir()
    for name in ("one", "two"):
        (tmp_path / "releases" / name).symlink_to(data / "releases" / "sample")
    with api_server(open_engine(str(tmp_path))) as address:
        for target in (str(tmp_path), address):
            with Client(target) as client, pytest.raises(errors.QuestionError, match="one, two"):
                client.ask(QUESTION)
            with Client(target, dataset="two") as client:
                assert client.ask(QUESTION).dataset == "two"
                assert client.ask(QUESTION, dataset="one").dataset == "one"


@pytest.mark.parametrize(
    "text", ["🙂🙃", "\u202e\u202d", "'; DROP", "{ ?s ?p ?o }", "\x00", "<script>", "ignore all"]
)
def test_hostile_questions_get_an_answer_or_a_clear_error_everywhere(call: Calling, text: str) -> None:
    for method in ("ask", "retrieve", "search"):
        try:
            assert call(method, text).release
        except errors.QuestionError as error:
            assert error.remedy


# opening and closing


def test_a_release_folder_and_a_data_sets_folder_are_targets_too(data: Path, local: Client) -> None:
    folder = data / "releases" / "sample"
    current = folder / (folder / "current").read_text().strip()
    for target in (folder, str(current)):
        with Client(target) as client:
            assert client.ask(QUESTION) == local.ask(QUESTION)
            assert [one.name for one in client.datasets()] == ["sample"]
            with pytest.raises(errors.ReleaseNotFound, match="other"):
                client.ask(QUESTION, dataset="other")


def test_a_folder_without_releases_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(errors.ReleaseNotFound, match=r"releases/"):
        Client(tmp_path)


@pytest.mark.parametrize("kind", [False, True])
def test_a_closed_client_says_so(data: Path, service: str, kind: bool) -> None:
    client = Client(service if kind else data)
    client.close()
    with pytest.raises(errors.CrmRagError, match="closed"):
        client.ask(QUESTION)


def test_a_model_writes_for_a_folder_and_is_refused_for_a_service(data: Path, service: str) -> None:
    with Client(data, model=CannedModel("It was built around 1100 [1].")) as client:
        assert client.ask(QUESTION).written_by == "canned"
    with pytest.raises(errors.QuestionError, match="own model"):
        Client(service, model="openai/gpt-4o")


def test_a_key_is_sent_and_never_shown(data: Path) -> None:
    with api_server(open_engine(str(data)), key="s3cret") as address:
        with Client(address, api_key="s3cret") as client:
            assert client.datasets() and "s3cret" not in repr(client) + repr(vars(client))
        with pytest.raises(errors.ServiceError, match="key is not one of") as caught:
            calling(address, False, api_key="wr0ng")("datasets")
        assert "wr0ng" not in str(caught.value)


# the package


def test_both_clients_offer_the_same_methods() -> None:
    def methods(kind: type) -> dict[str, list[str]]:
        return {
            name: list(inspect.signature(member).parameters)
            for name, member in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_") or name == "__init__"
        }

    assert methods(Client) == methods(AsyncClient)


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = (
        "import sys, crmrag_query\n"
        "heavy = {'faiss', 'onnxruntime', 'httpx', 'numpy', 'pyarrow', 'pydantic', 'polars', 'pandas'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
        "from crmrag_query import Client, AsyncClient\n"
        "heavy -= {'numpy', 'pyarrow', 'pydantic'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
        "Client('http://localhost:1').close()\n"
        "heavy -= {'httpx'}\n"
        "assert not heavy & sys.modules.keys(), heavy & sys.modules.keys()\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_every_public_name_can_be_imported() -> None:
    import crmrag_query

    assert all(getattr(crmrag_query, name) is not None for name in crmrag_query.__all__)
    assert set(dir(crmrag_query)) >= {"Client", "AsyncClient"}
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        _ = crmrag_query.nothing_of_the_kind
    for package in ("crmrag_query", "crmrag_assets"):
        assert (Path(__file__).parents[3] / package / "py.typed").is_file()
