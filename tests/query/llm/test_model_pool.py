"""Many requests to one model stay within bounds: retries, a rate, ceilings, replies that are kept; over HTTP."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from crmrag_query.errors import ModelError, ModelUnreachable
from crmrag_query.llm import pool as pools
from crmrag_query.llm.model import LiteLLM, Message, Reply, Request, Usage
from crmrag_query.llm.pool import ModelPool
from tests.support.model_server import model_server

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def asking(*texts: str) -> list[Request]:
    return [Request([{"role": "user", "content": text}], SCHEMA, most=10) for text in texts]


def read(reply: str) -> int:
    try:
        return int(json.loads(reply)["n"])
    except (ValueError, KeyError, TypeError):
        raise ValueError("There is no n.") from None


@dataclass
class Scripted:
    """Replies with the number in what it is asked; ``fails``: how many tries of each request end in an error first."""

    fails: int = 0
    error: type[ModelError] = ModelUnreachable
    takes: float = 0.0
    name: str = "scripted"
    price: float | None = 0.001
    asked: list[str] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        raise AssertionError("it is asked by `whole`")

    def cost(self, prompt: int, completion: int) -> float | None:
        return None if self.price is None else self.price * (prompt + completion)

    def whole(self, request: Request) -> Reply:
        said = str(request.messages[-1]["content"])
        with self.lock:
            self.asked.append(said)
            tried = self.asked.count(said)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
        time.sleep(self.takes)
        with self.lock:
            self.at_once -= 1
        if tried <= self.fails:
            raise self.error("It is away.", "Ask later.")
        return Reply(json.dumps({"n": int(said)}), usage=Usage(10, 5, self.cost(10, 5)))


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "WAIT", 0.0)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")


def test_replies_come_in_the_order_of_the_requests_by_so_many_workers_at_once() -> None:
    model = Scripted(takes=0.05)
    pool = ModelPool(model, workers=3)
    assert list(pool.map(asking(*map(str, range(9))), read)) == list(range(9))
    assert model.most_at_once == 3
    assert pool.counts == {"asked": 9, "kept": 0, "failed": 0, "left": 0}
    assert (pool.usage.tokens, pool.usage.cost) == (135, pytest.approx(0.135))


def test_what_may_succeed_later_is_tried_again_and_what_may_not_is_not() -> None:
    later = Scripted(fails=2)
    assert list(ModelPool(later, tries=3).map(asking("1"), read)) == [1]
    assert later.asked == ["1"] * 3
    never = Scripted(fails=1, error=ModelError)
    pool = ModelPool(never)
    assert list(pool.map(asking("1", "2"), read)) == [None, None]
    assert never.asked.count("1") == 1 and pool.counts["failed"] == 2 and "away" in pool.told()["why"]  # type: ignore[operator]


def test_a_wait_that_a_server_asks_for_is_kept_within_a_minute() -> None:
    assert pools._pause(1, 7.0) == 7.0 and pools._pause(1, 9999.0) == pools.LONGEST_WAIT


def test_a_model_that_is_away_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pools, "GIVEN_UP", 4)
    model = Scripted(fails=9)
    pool = ModelPool(model, workers=1, tries=2)
    assert list(pool.map(asking(*map(str, range(50))), read)) == [None] * 50
    assert len(model.asked) == 4
    assert (pool.counts["failed"], pool.counts["left"]) == (2, 48)


def test_no_request_is_sent_that_would_take_it_above_a_ceiling() -> None:
    """Of tokens each request is estimated before, its reply at the most that it may have, and counted as it was after."""
    model = Scripted()
    request = asking("10")[0]
    least = request.estimate().tokens
    assert least > 15, "what is taken is less than what is allowed for"
    pool = ModelPool(model, workers=1, tokens=30 + least)
    assert list(pool.map(asking(*map(str, range(10, 20))), read))[:3] == [10, 11, 12]
    assert pool.usage.tokens == 45 <= 30 + least
    assert pool.counts["left"] == 7 and "ceiling" in pool.why

    money = ModelPool(Scripted(), workers=1, usd=0.001 * (15 + least))
    assert list(money.map(asking("10", "11", "12"), read)) == [10, 11, None]
    with pytest.raises(ModelError, match="price"):
        ModelPool(Scripted(price=None), usd=1.0)


def test_workers_together_stay_below_a_ceiling() -> None:
    request = asking("10")[0]
    most = 3 * request.estimate().tokens
    pool = ModelPool(Scripted(takes=0.05), workers=8, tokens=most)
    list(pool.map(asking(*map(str, range(10, 30))), read))
    assert 0 < pool.usage.tokens <= most


def test_requests_a_minute_are_spread() -> None:
    begun = time.monotonic()
    list(ModelPool(Scripted(), workers=5, per_minute=1200).map(asking(*map(str, range(5))), read))
    assert time.monotonic() - begun >= 4 * 60 / 1200


def test_the_same_is_asked_once_and_other_requests_anew(tmp_path: Path) -> None:
    first, again = Scripted(), Scripted()
    list(ModelPool(first, tmp_path).map(asking("1", "2"), read))
    pool = ModelPool(again, tmp_path)
    assert list(pool.map(asking("1", "2", "3"), read)) == [1, 2, 3]
    assert again.asked == ["3"] and pool.counts["kept"] == 2
    other = Scripted(name="another")
    list(ModelPool(other, tmp_path).map(asking("1"), read))
    assert other.asked == ["1"], "another model has not replied yet"
    for file in tmp_path.iterdir():
        file.write_text("damaged", encoding="utf-8")
    assert list(ModelPool(first, tmp_path).map(asking("1"), read)) == [1]


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
@pytest.mark.filterwarnings("ignore")
def test_a_reply_that_does_not_fit_is_sent_back_once_over_http(tmp_path: Path) -> None:
    with model_server("Here you are.", '{"n": 7}') as script:
        pool = ModelPool(LiteLLM("openai/scripted", script.address), tmp_path, workers=1)
        assert list(pool.map(asking("seven"), read)) == [7]
    first, second = script.requests
    assert second["messages"][:-2] == first["messages"]
    assert second["messages"][-2] == {"role": "assistant", "content": "Here you are."}
    assert second["messages"][-1]["content"].startswith("There is no n.")
    assert first["response_format"]["json_schema"]["schema"] == SCHEMA and first["max_tokens"] == 10
    assert pool.usage.tokens == 20, "both replies are counted"
    with model_server('{"no": 7}') as script:
        pool = ModelPool(LiteLLM("openai/scripted", script.address), tmp_path, workers=1)
        assert list(pool.map(asking("eight"), read)) == [None]
    assert len(script.requests) == 2 and pool.counts["failed"] == 1


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("status", "tries"), [(429, 2), (500, 2), (400, 2), (401, 1)])
def test_which_faults_of_a_server_are_tried_again(status: int, tries: int) -> None:
    with model_server("", status=status) as script:
        pool = ModelPool(LiteLLM("openai/scripted", script.address), tries=2)
        assert list(pool.map(asking("1"), read)) == [None]
    assert len(script.requests) == tries
    if status == 400:  # perhaps it takes no schema
        assert ["response_format" in one for one in script.requests] == [True, False]


@pytest.mark.skipif(find_spec("litellm") is None, reason="litellm is not installed")
@pytest.mark.filterwarnings("ignore")
def test_a_server_that_takes_no_schema_is_asked_without_one_and_from_then_on_at_once() -> None:
    with model_server('{"n": 7}', fault="no schema") as script:
        pool = ModelPool(LiteLLM("openai/scripted", script.address), workers=1)
        assert list(pool.map(asking("1", "2"), read)) == [7, 7]
    assert ["response_format" in request for request in script.requests] == [True, False, False]
    assert [request["max_tokens"] for request in script.requests] == [10, 10, 10]
    assert pool.counts == {"asked": 2, "kept": 0, "failed": 0, "left": 0}
