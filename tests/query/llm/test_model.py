"""Language models are reached over HTTP; when they fail, the error says which model and what to check."""

from __future__ import annotations

import json
from base64 import b64decode
from importlib.util import find_spec

import pytest

from crmrag_query.errors import ModelError
from crmrag_query.llm.model import (
    AnyMessage,
    CannedModel,
    LiteLLM,
    Metered,
    PartsMessage,
    Request,
    ask,
    image_part,
)
from tests.support.model_server import calls, model_server

over_http = pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
MESSAGES = [{"role": "user", "content": "Who built it?"}]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_reply_comes_in_pieces_from_an_openai_compatible_server() -> None:
    with model_server("Nikephoros built it [1].") as script:
        pieces = list(LiteLLM("openai/scripted", script.address).complete(MESSAGES))
    assert "".join(pieces) == "Nikephoros built it [1]."
    assert len(pieces) > 1
    assert script.requests[0]["messages"] == MESSAGES


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_failing_server_is_a_model_error_that_names_the_model_and_hides_the_key() -> None:
    with model_server("", status=400) as script, pytest.raises(ModelError, match="openai/scripted") as caught:
        list(LiteLLM("openai/scripted", script.address, timeout=5).complete(MESSAGES))
    assert "sk-secret" not in str(caught.value)


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_server_that_is_not_there_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="CRMRAG_API_BASE"):
        list(LiteLLM("openai/scripted", "http://127.0.0.1:9/v1", timeout=5).complete(MESSAGES))


def test_the_stand_in_gives_its_reply() -> None:
    assert "".join(CannedModel("One.\nTwo.").complete(MESSAGES)) == "One.\nTwo."


PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)
PARAMETERS = {"type": "object", "properties": {"name": {"type": "string"}}}
LOOK_UP = {
    "type": "function",
    "function": {"name": "look_up", "description": "Looks a name up.", "parameters": PARAMETERS},
}


@over_http
@pytest.mark.filterwarnings("ignore")
def test_texts_images_tools_and_schemas_are_sent_and_counted_alike() -> None:
    seen: PartsMessage = {
        "role": "user",
        "content": [{"type": "text", "text": "What is shown?"}, image_part(PIXEL, "image/png")],
    }
    asked = [
        Request([{"role": "user", "content": "Who?"}]),
        Request([{"role": "user", "content": "Who?"}], schema={"type": "object"}),
        Request([seen]),
        Request([{"role": "user", "content": "Who?"}], tools=[LOOK_UP]),
    ]
    with model_server("Nikephoros.") as script:
        metered = Metered(LiteLLM("openai/scripted", script.address))
        counted = 0
        for number, request in enumerate(asked, 1):
            assert ask(metered, request).text == "Nikephoros."
            told = script.requests[-1]
            assert told["messages"] == list(request.messages)
            assert bool(told.get("tools")) == bool(request.tools)
            assert bool(told.get("response_format")) == (request.schema is not None)
            before, counted = counted, metered.usage.tokens
            # of a stream the server tells nothing here, and litellm counts it
            assert counted > before and (number == 1 or counted == before + 10), "as the server counts"
    assert script.requests[-1]["tools"] == [LOOK_UP]


@over_http
@pytest.mark.filterwarnings("ignore")
def test_a_call_of_a_tool_and_what_it_gave_go_back_and_forth() -> None:
    with model_server(calls(look_up={"name": "Asinou"}), "It is at Nikitari.") as script:
        model = LiteLLM("openai/scripted", script.address)
        first = ask(model, Request([{"role": "user", "content": "Where?"}], tools=[LOOK_UP]))
        (call,) = first.calls
        assert (first.text, call["function"]["name"]) == ("", "look_up")
        assert json.loads(call["function"]["arguments"]) == {"name": "Asinou"}
        messages: list[AnyMessage] = [
            {"role": "user", "content": "Where?"},
            {"role": "assistant", "content": "", "tool_calls": first.calls},
            {"role": "tool", "tool_call_id": call["id"], "content": "Nikitari"},
        ]
        assert ask(model, Request(messages, tools=[LOOK_UP])).text == "It is at Nikitari."
    assert script.requests[1]["messages"][-1]["content"] == "Nikitari"


def test_a_model_of_texts_alone_says_so_of_tools_and_images() -> None:
    with pytest.raises(ModelError, match="texts alone"):
        ask(CannedModel("No."), Request([{"role": "user", "content": "Who?"}], tools=[LOOK_UP]))
    assert ask(CannedModel("Yes."), Request([{"role": "user", "content": "Who?"}], {})).text == "Yes."


@over_http
def test_window_price_and_whether_it_calls_tools_stand_in_the_table_of_models() -> None:
    known = LiteLLM("gpt-4o-mini")
    assert known.window == 128_000 and known.calls_tools and (known.cost(1_000_000, 0) or 0) > 0.01
    unknown = LiteLLM("openai/scripted")
    assert (unknown.window, unknown.calls_tools, unknown.cost(10, 10)) == (None, None, None)
