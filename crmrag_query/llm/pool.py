"""Many requests to one language model, within bounds: workers, requests a minute, retries, a ceiling in tokens and money.

Replies are kept by what was asked, so that the same is asked once. For builds and evaluations; a question asks by itself.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from crmrag_query.errors import ModelError, ModelUnreachable
from crmrag_query.llm.model import Model, Request, Usage, ask, repair

T = TypeVar("T")
WAIT, LONGEST_WAIT = 1.0, 60.0
"""Seconds before the second try, doubled with each further one; of any wait at most, even where a server asks for more."""
GIVEN_UP = 20
"""Requests in a row to which no reply came, after which no more are sent: the model is away."""


@dataclass
class ModelPool:
    """Asks ``model`` by ``workers`` at a time, ``per_minute`` requests at most (0: as many as it takes).

    A request that may succeed later is sent ``tries`` times; ``seconds`` is for each. No request is sent that would take all
    together above ``tokens`` or ``usd``. ``cache``: the folder of replies, None to keep none. ``counts``: requests ``asked``
    (sent, repairs among them), replies ``kept`` from before, requests that ``failed``, and that were ``left`` because a
    ceiling was reached or the model is away; ``usage``: what was taken.
    """

    model: Model
    cache: Path | None = None
    workers: int = 5
    per_minute: int = 0
    seconds: float = 30.0
    tries: int = 3
    tokens: int | None = None
    usd: float | None = None
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("asked", "kept", "failed", "left"), 0)
    )
    usage: Usage = field(default_factory=Usage)
    why: str = ""
    """The last reason for which a request failed or was left."""
    ended: bool = False
    """Whether no more is sent: a ceiling is reached, or the model is away."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _reserved: Usage = field(default_factory=Usage)
    _next: float = 0.0
    _without: int = 0

    def __post_init__(self) -> None:
        if self.usd is not None and self._price(Usage(1000, 1000)) is None:
            raise ModelError(
                f"The price of the model {self.model.name} is not known, so it cannot be kept below ${self.usd:g}.",
                "Give a ceiling in tokens instead.",
            )

    def map(self, requests: Iterable[Request], read: Callable[[str], T]) -> Iterator[T | None]:
        """What ``read`` makes of each reply, in order; None where none came that it takes.

        ``read`` raises ValueError that says what is wrong with a reply, which is then sent back once.
        """
        pool = ThreadPoolExecutor(self.workers)
        try:
            yield from pool.map(lambda request: self.one(request, read), requests)
        finally:
            pool.shutdown(cancel_futures=True)

    def told(self) -> dict[str, int | float | str]:
        """What was asked and taken, for the record: ``cost`` in US dollars where the price is known, ``why`` some failed."""
        found: dict[str, int | float | str] = {**self.counts, "model_tokens": self.usage.tokens}
        if self.usage.cost is not None:
            found["cost"] = self.usage.cost
        if self.counts["failed"] or self.counts["left"]:
            found["why"] = self.why
        return found

    def one(self, request: Request, read: Callable[[str], T]) -> T | None:
        """What ``read`` makes of the reply to one request, as ``map`` has it."""
        request = replace(request, seconds=self.seconds)
        place = self.cache / f"{_key(self.model.name, request)}.json" if self.cache is not None else None
        if (found := _kept(place, read)) is not None:
            self._count("kept")
            return found
        for _ in range(2):
            text = self._sent(request)
            if text is None:
                return None
            try:
                found = read(text)
            except ValueError as error:
                self.why = str(error)
                again = f"{error} Reply again, in the form that was asked for and with nothing else."
                request = replace(request, messages=(*request.messages, *repair(text, again)))
                continue
            if place is not None:
                _keep(place, text)
            return found
        self._count("failed")
        return None

    def _sent(self, request: Request) -> str | None:
        """The reply's text; None where none came, which is counted."""
        for attempt in range(1, self.tries + 1):
            estimate = request.estimate()
            if not self._reserve(estimate):
                self._count("left")
                return None
            self._await_turn()
            used = Usage()
            try:
                reply = ask(self.model, request)
                used = (
                    reply.usage
                    if reply.usage.tokens
                    else replace(estimate, completion_tokens=len(reply.text) // 4)
                )
                self._without = 0
                return reply.text
            except ModelUnreachable as error:
                self._without += 1
                self.why = str(error)
                if attempt < self.tries and self._without < GIVEN_UP:
                    time.sleep(_pause(attempt, error.wait))
            except ModelError as error:
                self.why = str(error)
                break
            finally:
                self._settle(estimate, used)
        self._count("failed")
        return None

    def _reserve(self, estimate: Usage) -> bool:
        """Count a request as sent, if with all others it stays within the ceiling and the model is there."""
        with self._lock:
            after = self.usage + self._reserved + estimate
            price = self._price(after) if self.usd is not None else None
            if self.tokens is not None and after.tokens > self.tokens:
                self.why = f"The ceiling of {self.tokens:,} tokens is reached."
            elif self.usd is not None and (price is None or price > self.usd):
                self.why = f"The ceiling of ${self.usd:g} is reached."
            elif self._without < GIVEN_UP:
                self._reserved += estimate
                self.counts["asked"] += 1
                return True
            self.ended = True
            return False

    def _settle(self, estimate: Usage, used: Usage) -> None:
        with self._lock:
            self._reserved = Usage(
                self._reserved.prompt_tokens - estimate.prompt_tokens,
                self._reserved.completion_tokens - estimate.completion_tokens,
            )
            self.usage += used

    def _price(self, usage: Usage) -> float | None:
        cost: Callable[[int, int], float | None] | None = getattr(self.model, "cost", None)
        return cost(usage.prompt_tokens, usage.completion_tokens) if cost is not None else None

    def _await_turn(self) -> None:
        if self.per_minute:
            with self._lock:
                at = max(time.monotonic(), self._next)
                self._next = at + 60 / self.per_minute
            time.sleep(max(0.0, at - time.monotonic()))

    def _count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1


def _pause(attempt: int, wanted: float) -> float:
    """Seconds before the next try, spread so that workers do not come back all at once."""
    own = WAIT * 2.0 ** (attempt - 1) * random.uniform(1, 1.5)
    return float(min(max(own, wanted), LONGEST_WAIT))


def _key(model: str, request: Request) -> str:
    """The hash of all that a reply depends on."""
    asked = {
        "model": model, "messages": request.messages, "schema": request.schema, "most": request.most,
        "tools": [tool["function"] for tool in request.tools],
    }  # fmt: skip
    return hashlib.sha256(json.dumps(asked, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _kept(place: Path | None, read: Callable[[str], T]) -> T | None:
    """What a kept reply says; None where there is none, or one that is no longer taken."""
    if place is None:
        return None
    try:
        return read(json.loads(place.read_text(encoding="utf-8"))["reply"])
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _keep(place: Path, reply: str) -> None:
    """Write a reply, whole or not at all."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=place.parent, suffix=".part", delete=False
    ) as file:
        json.dump({"reply": reply}, file, ensure_ascii=False)
    Path(file.name).replace(place)
