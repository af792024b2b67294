"""The language model, one of the three seams: litellm by default, replies given beforehand as the stand-in."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol, TypedDict

from crmrag_query.errors import ModelError
from crmrag_query.llm.faults import broken_off, declined, fault_of, short
from crmrag_query.llm.loading import load_litellm

CUT = "…"
"""The last piece of a reply that ends at the model's length limit."""


class Message(TypedDict):
    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or several calls as the model's server counts them, and their price in US dollars where it is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        known = [one.cost for one in (self, other) if one.cost is not None]
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            sum(known) if known else None,
        )


class Model(Protocol):
    """A language model: ``name`` for the record, ``complete`` for the text."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        """The reply in pieces as they come; a generator may return the call's Usage. Raises ModelError."""
        ...


@dataclass
class Metered:
    """A model whose usage is added up, for one answer; not for several threads."""

    inner: Model
    usage: Usage = field(default_factory=Usage)

    @property
    def name(self) -> str:
        return self.inner.name

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        """The reply of the inner model."""
        replied = self.inner.complete(messages)
        if not isinstance(replied, Generator):
            yield from replied
        elif isinstance(used := (yield from replied), Usage):
            self.usage += used


@dataclass(frozen=True)
class LiteLLM:
    """Any model that litellm reaches; keys come from the environment and are never logged.

    ``timeout`` in seconds, for connecting and for each silence; ``api_base`` for servers of one's own. Nothing is tried
    twice: who asks is told, and may ask again.
    """

    name: str
    api_base: str | None = None
    timeout: float = 60.0
    temperature: float = 0.0

    def load(self) -> ModuleType:
        """litellm, which whoever asks first would wait for; MissingExtraError where it is not installed."""
        return load_litellm(f"Answering with the model {self.name}")

    def complete(self, messages: Sequence[Message]) -> Generator[str, None, Usage]:
        litellm = self.load()
        said = False
        try:
            reply: Any = litellm.completion(
                model=self.name,
                messages=list(messages),
                api_base=self.api_base,
                timeout=self.timeout,
                temperature=self.temperature,
                stream=True,
                stream_options={"include_usage": True},
                num_retries=0,
                max_retries=0,
            )
            texts = self._texts(reply)
            while True:
                try:
                    text = next(texts)
                except StopIteration as end:
                    return self._usage(end.value)
                said = True
                yield text
        except ModelError:
            raise
        except (
            Exception
        ) as error:  # litellm raises dozens of kinds, some not its own; all mean: no answer from it
            mid_stream = said or type(error).__name__ == "MidStreamFallbackError"
            timed_out = isinstance(getattr(error, "original_exception", error), litellm.exceptions.Timeout)
            if mid_stream and not timed_out:
                raise broken_off(self.name, short(error)) from error
            raise fault_of(self.name, error) from error

    def _usage(self, told: Any) -> Usage:
        prompt, completion = (
            int(getattr(told, name, None) or 0) for name in ("prompt_tokens", "completion_tokens")
        )
        return Usage(prompt, completion, self._cost(prompt, completion) if prompt or completion else None)

    def _cost(self, prompt: int, completion: int) -> float | None:
        """US dollars by litellm's table of prices; None for a model that it does not list, or lists as free."""
        litellm = self.load()
        try:
            each = litellm.cost_per_token(model=self.name, prompt_tokens=prompt, completion_tokens=completion)
        except Exception:  # it raises plain exceptions for models that it does not know
            return None
        return sum(each) or None

    def _texts(self, reply: Any) -> Generator[str, None, Any]:
        """The texts of a stream, its usage at the end; ModelError for a refusal, and for an end that was not told."""
        refusal, reason, usage = "", None, None
        for part in reply:
            usage = getattr(part, "usage", None) or usage
            if not part.choices:
                continue
            choice = part.choices[0]
            reason = choice.finish_reason or reason
            refusal += getattr(choice.delta, "refusal", None) or ""
            if text := choice.delta.content:
                yield text
        # litellm ends a stream that was cut as if it were whole; what the server itself told stands beside.
        told = getattr(reply, "received_finish_reason", reason)
        if refusal or told == "content_filter":
            raise declined(self.name, refusal)
        if told is None:
            raise broken_off(self.name)
        if told == "length":
            yield CUT
        return usage


@dataclass(frozen=True)
class CannedModel:
    """Gives ``reply`` whatever is asked: for trying the pipeline and its tests without a model."""

    reply: str
    name: str = "canned"

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        yield from self.reply.splitlines(keepends=True)
