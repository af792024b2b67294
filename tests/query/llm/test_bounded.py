"""A model's server may send what it likes: little of it is read, and other threads go on meanwhile. Real HTTP."""

from __future__ import annotations

import gc
import gzip
import json
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from itertools import repeat

import pytest

from crmrag_query.errors import ModelError
from crmrag_query.llm import loading as bounded
from crmrag_query.llm.model import LiteLLM, Message, Metered, Request, ask, reply_of
from crmrag_query.retrieval.encoder import EmbeddingApi
from tests.support.api_server import answering

MESSAGES = [{"role": "user", "content": "Who built it?"}]
MODELS = (
    "openai/scripted", "ollama/scripted", "ollama_chat/scripted", "anthropic/claude-3-haiku-20240307", "azure/scripted",
    "mistral/scripted", "gemini/gemini-2.0-flash", "groq/scripted",
)  # fmt: skip
KEYS = ("OPENAI", "ANTHROPIC", "AZURE", "MISTRAL", "GEMINI", "GROQ")
HUGE = 20_000_000
SLOW = 5.0  # seconds: a pause of other threads that is no other's than a library's that lets none of them run
MEMORY = 64 << 20
Body = Callable[[], Iterator[bytes]]
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed"),
]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.setenv(f"{name}_API_KEY", "sk-secret")
    monkeypatch.setenv("AZURE_API_VERSION", "2024-06-01")


@pytest.fixture(autouse=True, scope="module")
def warm() -> None:
    """litellm loads much with its first call: that is not measured."""
    if find_spec("litellm") is not None:
        with sending(lambda: iter([b"{}"]), 500) as (address, _), pytest.raises(ModelError):
            list(LiteLLM("openai/scripted", address).complete(MESSAGES))  # type: ignore[arg-type]


@contextmanager
def sending(
    body: Body, status: int = 200, kind: str = "application/json", **headers: str
) -> Iterator[tuple[str, threading.Event]]:
    """The address of a server that answers everything with this body, and whether somebody left before its end."""
    left = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.rfile.read(int(handler.headers["Content-Length"]))
        handler.send_response(status)
        for name, value in {"Content-Type": kind, "Connection": "close", **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        try:
            for piece in body():
                handler.wfile.write(piece)
        except OSError:
            left.set()
            raise

    with answering(answer) as address:
        yield address, left


@contextmanager
def others_going_on() -> Iterator[None]:
    """No other thread waits for long within the block."""
    ended, pauses = threading.Event(), [0.0]

    def beat() -> None:
        last = time.monotonic()
        while not ended.wait(0.01):
            pauses.append(time.monotonic() - last)
            last = time.monotonic()
        pauses.append(time.monotonic() - last)

    thread = threading.Thread(target=beat)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert max(pauses) < SLOW


@contextmanager
def little_kept() -> Iterator[None]:
    """The block keeps little in memory."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MEMORY
    finally:
        tracemalloc.stop()


def refused(model: str, address: str) -> ModelError:
    """The error of a model that is asked for a stream."""
    with others_going_on(), pytest.raises(ModelError, match=model) as caught:
        list(LiteLLM(model, address, timeout=10).complete(MESSAGES))  # type: ignore[arg-type]
    assert "sk-secret" not in str(caught.value) and len(str(caught.value)) < 1000 and caught.value.remedy
    return caught.value


def huge(start: bytes = b"", piece: bytes = b"x1 A_" * 2000) -> Body:
    return lambda: iter([start, *repeat(piece, HUGE // len(piece))])


@pytest.mark.parametrize("model", MODELS)
def test_of_an_error_the_beginning_is_read(model: str) -> None:
    with sending(huge(b'{"error": {"message": "Out of memory '), 500) as (address, left):
        assert "Out of memory" in str(refused(model, address))
        assert left.wait(10)


@pytest.mark.parametrize("status", [400, 401, 429, 503])
def test_an_error_that_is_cut_keeps_its_status(status: int) -> None:
    with sending(huge(), status) as (address, _):
        said = refused("openai/scripted", address)
    assert {400: "CRMRAG_API_BASE", 401: "key", 429: "Wait a little", 503: "Ask again"}[status] in said.remedy


@pytest.mark.parametrize(
    "model",
    [
        "openai/scripted",
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ("ollama/scripted", "anthropic/claude-3-haiku-20240307")
        ),
    ],
)
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
@pytest.mark.parametrize("piece", [b"x" * 10_000, b"data: a\n" * 1250], ids=["a line", "lines"])
def test_a_reply_without_end_is_left(model: str, kind: str, piece: bytes) -> None:
    """One that says that it is JSON, a line of a stream that does not end, an event that does not."""
    with sending(huge(b'data: {"a": "', piece), kind=kind) as (address, left):
        refused(model, address)
        gc.collect()  # some of litellm's clients leave a reply that they cannot read to it
        assert left.wait(10)


def event(text: str) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}}
    told = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "a", "choices": [choice]}
    return b"data: %s\n\n" % json.dumps(told).encode()


def test_events_without_end_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "STREAM", 100_000)  # litellm takes long over each event

    def events() -> Iterator[bytes]:
        return (event(f"{n} " * 1000) for n in range(10_000))

    with sending(events, kind="text/event-stream") as (address, left):
        assert "too long: more than" in refused("openai/scripted", address).what
        assert left.wait(10)


@pytest.mark.parametrize("status", [200, 500])
def test_what_unpacks_to_a_thousand_times_its_length_is_left(status: int) -> None:
    bomb, packed = gzip.compress(b"x" * 2 * MEMORY), {"Content_Encoding": "gzip"}
    with sending(lambda: iter([bomb]), status, "text/event-stream", **packed) as (address, _), little_kept():
        refused("openai/scripted", address)


@pytest.mark.parametrize("packing", ["br", "zstd", "deflate", "gzip, gzip"])
def test_what_is_packed_otherwise_than_asked_for_is_not_unpacked(packing: str) -> None:
    with sending(huge(), Content_Encoding=packing) as (address, left):
        refused("openai/scripted", address)
        assert left.wait(10)


def test_headers_without_end_are_left() -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.close_connection = True
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for line in repeat(b"X-More: and more\r\n" * 500, HUGE // 9000):
            handler.wfile.write(line)

    with answering(answer) as address:
        refused("openai/scripted", address)


def test_a_whole_reply_has_a_bound_too() -> None:
    reply = b'{"choices": [{"message": {"content": "'
    with sending(huge(reply)) as (address, left), others_going_on():
        model = LiteLLM("openai/scripted", address)
        with pytest.raises(ModelError, match=r"openai/scripted is too long: more than 4,194,304 bytes"):
            reply_of(model, MESSAGES, 60, {"type": "object"})  # type: ignore[arg-type]
        assert left.wait(10)


def test_vectors_have_a_bound_too() -> None:
    asked = []

    def body() -> Iterator[bytes]:
        asked.append(1)
        return huge(b'{"data": [')()

    with sending(body) as (address, left), others_going_on():
        with pytest.raises(ModelError, match="too long"):
            EmbeddingApi("openai/scripted", address, wait=0.01).encode(["icon"])
        assert left.wait(10) and len(asked) < 5, "OpenAI's SDK itself asks three times"


def test_a_packed_reply_is_read() -> None:
    body = gzip.compress(
        event("It is ") + event("there.").replace(b'"index"', b'"finish_reason": "stop", "index"')
    )
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    with sending(lambda: iter(pieces), 200, "text/event-stream", Content_Encoding="gzip") as (address, _):
        said = list(LiteLLM("openai/scripted", address).complete(MESSAGES))  # type: ignore[arg-type]
    assert "".join(said) == "It is there."


def test_an_address_that_redirects_is_followed() -> None:
    """As litellm's own clients do."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["Content-Length"]))
        if handler.path.startswith("/old"):
            handler.send_response(307)
            handler.send_header("Location", "/new/chat/completions")
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.close_connection = True
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(event("Here.").replace(b'"index"', b'"finish_reason": "stop", "index"'))

    with answering(answer) as address:
        said = list(LiteLLM("openai/scripted", f"{address}/old").complete(MESSAGES))  # type: ignore[arg-type]
    assert "".join(said) == "Here."


@pytest.mark.parametrize("schema", [None, {"type": "object"}])
def test_a_model_of_texts_that_never_ends_is_cut_off(schema: dict[str, object] | None) -> None:
    ended = threading.Event()

    class Endless:
        name = "endless"

        def complete(self, messages: Sequence[Message]) -> Iterator[str]:
            try:
                yield from repeat("word ")
            finally:
                ended.set()

    with pytest.raises(ModelError, match="said more than was asked for"):
        ask(Metered(Endless()), Request(MESSAGES, seconds=60, schema=schema))
    assert ended.wait(60)
