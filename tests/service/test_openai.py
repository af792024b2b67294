"""Chat front ends: the official client of OpenAI asks the real service, with and without a language model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from crmrag_query import Answer, Client
from crmrag_query.answers.records import Source
from crmrag_query.client.local import Engine
from crmrag_query.llm.model import LiteLLM
from crmrag_query.service.answering import sources_text
from tests.support.model_server import model_server
from tests.support.modes import SHIPPED, THERE_ARE, WITHOUT_MODEL
from tests.support.service import application, beside, openai_client, served

if TYPE_CHECKING:
    from openai import OpenAI

QUESTION = "Which churches were built before 1200?"


@pytest.fixture(scope="module")
def chat(address: str) -> Iterator[OpenAI]:
    with openai_client(address) as client:
        yield client


def user(*texts: str) -> list[Any]:
    return [{"role": "user", "content": text} for text in texts]


def text_of(reply: Any) -> str:
    assert reply.choices[0].finish_reason == "stop" and reply.choices[0].message.role == "assistant"
    return str(reply.choices[0].message.content)


def test_there_is_a_model_for_each_data_set_and_mode(chat: OpenAI) -> None:
    there = ["sample", *(f"sample:{mode}" for mode in SHIPPED[1:]), "sample:extractive"]
    assert [one.id for one in chat.models.list()] == there
    assert all(chat.models.retrieve(name).owned_by == "crmrag" for name in [*there, "sample:crm"])
    from openai import NotFoundError

    with pytest.raises(NotFoundError, match="no model 'other'"):
        chat.models.retrieve("other")


@pytest.mark.parametrize("model", ["sample", "sample:extractive"])
def test_a_reply_is_the_answer_with_its_sources_below(chat: OpenAI, local: Client, model: str) -> None:
    reply: Any = chat.chat.completions.create(model=model, messages=user(QUESTION))
    answer = local.ask(QUESTION)
    text = text_of(reply)
    assert text.startswith(answer.text) and "[1]" in answer.text
    cited = [source.iri for source in answer.sources if source.cited]
    assert cited and reply.citations == cited and all(f"<{iri}>" in text for iri in cited)
    assert (reply.crmrag["release"], reply.crmrag["exhaustive"]) == (answer.release, True)
    assert (reply.model, reply.usage.total_tokens) == (model, 0)


@pytest.mark.parametrize("mode", WITHOUT_MODEL)
def test_a_model_names_the_mode_of_its_answers(chat: OpenAI, local: Client, mode: str) -> None:
    reply: Any = chat.chat.completions.create(model=f"sample:{mode}", messages=user(QUESTION))
    answer = local.ask(QUESTION, mode=mode)
    assert text_of(reply).startswith(answer.text)
    assert (reply.model, reply.crmrag["exhaustive"]) == (f"sample:{mode}", mode in ("crm", "graph"))


@pytest.mark.parametrize("streamed", [False, True])
def test_a_mode_that_there_is_not_is_the_default_with_a_note(
    chat: OpenAI, local: Client, streamed: bool
) -> None:
    asked: Any = {"model": "sample:best", "messages": user(QUESTION), "stream": streamed}
    reply: Any = chat.chat.completions.create(**asked)
    text = "".join(one.choices[0].delta.content or "" for one in reply) if streamed else text_of(reply)
    assert text.startswith(local.ask(QUESTION).text)
    note = f"Note: There is no mode 'best': answered in 'crm'. {THERE_ARE}, extractive."
    assert note in text


def test_pieces_of_a_stream_are_the_reply(chat: OpenAI) -> None:
    whole = text_of(chat.chat.completions.create(model="sample", messages=user(QUESTION)))
    chunks = list(
        chat.chat.completions.create(
            model="sample", messages=user(QUESTION), stream=True, stream_options={"include_usage": True}
        )
    )
    *pieces, used = chunks
    assert "".join(one.choices[0].delta.content or "" for one in pieces) == whole
    assert [one.choices[0].finish_reason for one in pieces][-2:] == [None, "stop"]
    assert used.choices == [] and used.usage is not None and len({one.id for one in chunks}) == 1


def test_a_stream_ends_as_openai_s_do(address: str) -> None:
    asked = {"model": "sample", "messages": user(QUESTION), "stream": True}
    reply = httpx.post(f"{address}/v1/chat/completions", json=asked)
    assert reply.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in reply.text.split("\n\n") if line]
    assert lines[-1] == "data: [DONE]"
    assert all(json.loads(line.removeprefix("data: ")) for line in lines[:-1])


def test_earlier_messages_of_the_user_are_the_conversation(chat: OpenAI, local: Client) -> None:
    first, second = "When was the church of Asinou built?", "Who painted it?"
    said = [*user(first), {"role": "assistant", "content": "In 1099."}, *user(second)]
    reply = chat.chat.completions.create(
        model="sample", messages=[{"role": "system", "content": "Be kind."}, *said]
    )
    assert text_of(reply).startswith(local.ask(second, history=[first]).text)


def test_messages_in_parts_are_read(chat: OpenAI, local: Client) -> None:
    parts = [{"type": "text", "text": QUESTION}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    reply = chat.chat.completions.create(model="sample", messages=[{"role": "user", "content": parts}])  # type: ignore[list-item, misc]
    assert text_of(reply).startswith(local.ask(QUESTION).text)


@pytest.mark.parametrize(
    ("asked", "status", "words"),
    [
        ({"model": "other", "messages": user("Hi?")}, 404, "no data set 'other'"),
        ({"model": "sample", "messages": []}, 400, "No message of the user"),
        ({"model": "sample", "messages": user("")}, 400, "empty"),
        ({"model": "sample", "messages": user("x" * 200_000)}, 400, "characters"),
    ],
    ids=["data set", "none", "empty", "long"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_what_cannot_be_answered_says_so_as_openai_does(
    chat: OpenAI, asked: dict[str, Any], status: int, words: str, stream: bool
) -> None:
    from openai import APIStatusError

    with pytest.raises(APIStatusError, match=words) as caught:
        chat.chat.completions.create(**asked, stream=stream)
    assert caught.value.status_code == status
    error: Any = caught.value.body
    assert error["type"] == "invalid_request_error" and error["message"]


@pytest.mark.parametrize("body", [b"", b"[]", b'{"model": 1}', b"[" * 100_000, b'{"model": "\\ud800"}'])
def test_bodies_that_are_no_chat_are_refused(address: str, body: bytes) -> None:
    reply = httpx.post(
        f"{address}/v1/chat/completions", content=body, headers={"Content-Type": "application/json"}
    )
    assert reply.status_code == 400 and "The request " in reply.json()["error"]["message"]


def test_a_language_model_writes_unless_the_mode_forbids_it(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with model_server("Panagia Phorbiotissa was built in 1099 [1].") as script:
        writing = beside(engine, LiteLLM("openai/scripted", script.address))
        with (
            served(application(writing)) as address,
            openai_client(address) as chat,
        ):
            question = user("What is told of the donor of Asinou?")
            written = text_of(chat.chat.completions.create(model="sample", messages=question))
            asked = len(script.requests)
            extractive = text_of(chat.chat.completions.create(model="sample:extractive", messages=question))
            assert asked and len(script.requests) == asked and written != extractive


def test_a_label_of_the_data_is_never_markdown() -> None:
    source = Source(1, "http://e", "a [link](http://x) *b*\n# c <script>", "Thing", ())
    told = sources_text(Answer("?", "t", (source,), "crm", "r", False, "x"))
    assert r"[1] a \[link\](http://x) \*b\* \# c \<script\> <http://e>" in told


def test_what_there_is_not_is_refused_by_name_in_openais_format(chat: OpenAI, http: httpx.Client) -> None:
    from openai import BadRequestError, NotFoundError

    tool: Any = {"type": "function", "function": {"name": "weather"}}
    for more, name in (({"tools": [tool]}, "`tools`"), ({"n": 2}, "`n`")):
        with pytest.raises(BadRequestError, match=name):
            chat.chat.completions.create(model="sample", messages=user(QUESTION), **more)
    assert text_of(chat.chat.completions.create(model="sample", messages=user(QUESTION), n=1, tools=[]))
    with pytest.raises(NotFoundError, match="nothing at /v1/embeddings"):
        chat.embeddings.create(model="sample", input="a")
    told = http.get("/v1/chat/completions")
    assert (
        told.status_code == 405
        and "POST" in told.headers["allow"]
        and told.json()["error"]["code"] == "unknown_url"
    )
