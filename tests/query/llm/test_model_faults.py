"""Whatever goes wrong between us and a language model ends in an error that says what, and what to do. Real HTTP."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count, repeat

import pytest

from crmrag_query.errors import ModelError
from crmrag_query.llm.faults import WAITING, within
from crmrag_query.llm.model import CUT, LiteLLM
from tests.support.model_server import Fault, model_server

MESSAGES = [{"role": "user", "content": "Who built it?"}]
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed"),
]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


def failing(fault: Fault = "", status: int = 200, timeout: float = 10, **headers: str) -> ModelError:
    told = {name.replace("_", "-"): value for name, value in headers.items()}
    with (
        model_server("Nikephoros built it", fault=fault, status=status, headers=told) as script,
        pytest.raises(ModelError, match="openai/scripted") as caught,
    ):
        list(LiteLLM("openai/scripted", script.address, timeout=timeout).complete(MESSAGES))  # type: ignore[arg-type]
    assert len(script.requests) == 1, "nothing is tried twice behind the asker's back"
    assert "sk-secret" not in str(caught.value)
    return caught.value


def test_a_server_that_says_nothing_times_out() -> None:
    error = failing("silent", timeout=1)
    assert "did not answer in time" in error.what and "CRMRAG_MODEL_TIMEOUT" in error.remedy


def test_too_many_requests_say_how_long_to_wait() -> None:
    error = failing(status=429, Retry_After="7")
    assert "429" in error.what and "Wait 7 seconds" in error.remedy


def test_too_many_requests_without_a_time_say_to_wait() -> None:
    assert "Wait a little" in failing(status=429).remedy


def test_an_error_of_the_server_is_told_as_its_own() -> None:
    error = failing(status=500)
    assert "server" in error.what and "500" in error.what and "Ask again" in error.remedy


@pytest.mark.parametrize(
    ("status", "remedy"), [(401, "key"), (404, "model's name"), (400, "CRMRAG_API_BASE")]
)
def test_a_request_that_is_refused_says_what_to_check(status: int, remedy: str) -> None:
    assert remedy in failing(status=status).remedy


@pytest.mark.parametrize("fault", ["cut", "cut chunk", "not json", "bad event"])
def test_a_reply_that_breaks_off_or_is_no_json_is_no_answer(fault: Fault) -> None:
    assert "broke off or cannot be read" in failing(fault).what


def test_a_refusal_is_told_in_the_models_words() -> None:
    error = failing("refusal")
    assert "declined" in error.what and "Nikephoros built it" in error.what


def test_a_filtered_reply_is_a_refusal() -> None:
    assert "declined" in failing("filter").what


def test_a_reply_at_the_limit_of_tokens_ends_with_an_ellipsis() -> None:
    with model_server("Nikephoros built", fault="length") as script:
        pieces = list(LiteLLM("openai/scripted", script.address).complete(MESSAGES))  # type: ignore[arg-type]
    assert pieces == ["Nikephoros built", CUT]


def test_a_server_that_drips_cannot_hold_an_answer() -> None:
    with model_server("", fault="drip") as script:
        pieces = LiteLLM("openai/scripted", script.address, timeout=30).complete(MESSAGES)  # type: ignore[arg-type]
        with pytest.raises(ModelError, match=r"openai/scripted.*within 1 seconds"):
            list(within(pieces, "openai/scripted", 1, 30))


def test_the_whole_has_a_deadline_too() -> None:
    def slowly() -> Iterator[str]:
        while True:
            time.sleep(0.05)
            yield "word "

    got: list[str] = []
    with pytest.raises(ModelError, match=r"to the end within 0\.4 seconds"):
        for piece in within(slowly(), "slow", 5, 0.4):
            got.append(piece)
    assert got


def test_a_model_that_never_pauses_has_a_deadline_too() -> None:
    with pytest.raises(ModelError, match=r"to the end within 0\.3 seconds"):
        for _ in within(repeat(""), "babbling", 5, 0.3):
            pass


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
