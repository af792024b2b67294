"""Whatever goes wrong between us and a language model ends in an error that says what, and what to do. Real HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count, repeat

import pytest

from crmrag_query.errors import ModelError
from crmrag_query.llm.model import CUT, WAITING, LiteLLM, within
from tests.support.model_server import Fault, model_server

MESSAGES = [{"role": "user", "content": "Who built it?"}]
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed"),
]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


@pytest.mark.parametrize(
    ("fault", "status", "retry", "what", "remedy"),
    [
        ("", 429, "7", "429", "Wait 7 seconds"),
        ("", 429, "", "429", "Wait a little"),
        ("", 500, "", "server of the model openai/scripted failed (500)", "Ask again"),
        ("", 401, "", "key", "key"),
        ("", 404, "", "no model", "model's name"),
        ("", 400, "", "", "CRMRAG_API_BASE"),
        ("silent", 200, "", "did not answer in time", "CRMRAG_MODEL_TIMEOUT"),
        *((fault, 200, "", "broke off or cannot be read", "") for fault in ("cut", "cut chunk", "not json", "bad event")),
        ("refusal", 200, "", "declined to answer: Nikephoros built it", "otherwise"),
        ("filter", 200, "", "declined", "otherwise"),
    ],
)  # fmt: skip
def test_a_fault_says_what_and_what_to_do(
    fault: Fault, status: int, retry: str, what: str, remedy: str
) -> None:
    headers = {"Retry-After": retry} if retry else {}
    timeout = 1 if fault == "silent" else 10
    with (
        model_server("Nikephoros built it", fault=fault, status=status, headers=headers) as script,
        pytest.raises(ModelError, match="openai/scripted") as caught,
    ):
        list(LiteLLM("openai/scripted", script.address, timeout=timeout).complete(MESSAGES))  # type: ignore[arg-type]
    assert len(script.requests) == 1, "nothing is tried twice behind the asker's back"
    assert what in caught.value.what and remedy in caught.value.remedy
    assert "sk-secret" not in str(caught.value)


def test_a_reply_at_the_limit_of_tokens_ends_with_an_ellipsis() -> None:
    with model_server("Nikephoros built", fault="length") as script:
        pieces = list(LiteLLM("openai/scripted", script.address).complete(MESSAGES))  # type: ignore[arg-type]
    assert pieces == ["Nikephoros built", CUT]


def test_a_server_that_drips_cannot_hold_an_answer() -> None:
    with model_server("", fault="drip") as script:
        pieces = LiteLLM("openai/scripted", script.address, timeout=30).complete(MESSAGES)  # type: ignore[arg-type]
        with pytest.raises(ModelError, match=r"openai/scripted.*within 1 seconds"):
            list(within(pieces, "openai/scripted", 1, 30))


def slowly() -> Iterator[str]:
    while True:
        time.sleep(0.05)
        yield "word "


@pytest.mark.parametrize("pieces", [slowly(), repeat("")], ids=["slow", "never pausing"])
def test_the_whole_has_a_deadline_too(pieces: Iterator[str]) -> None:
    got = []
    with pytest.raises(ModelError, match=r"to the end within 0\.4 seconds"):
        for piece in within(pieces, "babbling", 5, 0.4):
            got.append(piece)
    assert got


def test_what_nobody_reads_is_not_heaped_up() -> None:
    given: list[int] = []

    def endless() -> Iterator[str]:
        for number in count():
            given.append(number)
            yield "word "

    pieces = within(endless(), "fast", 5, 30)
    next(pieces)
    before = -1
    while before != len(given):  # until it waits for its reader
        before = len(given)
        time.sleep(0.2)
    assert len(given) <= WAITING + 2
    pieces.close()  # type: ignore[attr-defined]


def test_within_its_time_everything_comes_and_errors_come_as_they_are() -> None:
    assert list(within(iter(["a", "b"]), "quick", 5, 5)) == ["a", "b"]

    def broken() -> Iterator[str]:
        yield "a"
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        list(within(broken(), "broken", 5, 5))
