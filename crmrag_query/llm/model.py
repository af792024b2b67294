"""The language model, one of the three seams: litellm by default, replies given beforehand as the stand-in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

from crmrag_query.errors import MissingExtraError, ModelError
from crmrag_query.llm.faults import broken_off, declined, fault_of, short

CUT = "…"
"""The last piece of a reply that ends at the model's length limit."""


class Message(TypedDict):
    role: str
    content: str


class Model(Protocol):
    """A language model: ``name`` for the record, ``complete`` for the text."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        """The reply in pieces as they come. Raises ModelError."""
        ...


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

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        # litellm fetches its price table over the network on import unless told otherwise.
        os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
        try:
            import litellm
        except ImportError as error:
            raise MissingExtraError(f"Answering with the model {self.name}", "llm", "litellm") from error
        litellm.suppress_debug_info = True
        said = False
        try:
            reply: Any = litellm.completion(
                model=self.name,
                messages=list(messages),
                api_base=self.api_base,
                timeout=self.timeout,
                temperature=self.temperature,
                stream=True,
                num_retries=0,
                max_retries=0,
            )
            for text in self._texts(reply):
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

    def _texts(self, reply: Any) -> Iterator[str]:
        """The texts of a stream; ModelError for a refusal, and for an end that the server did not tell of."""
        refusal, reason = "", None
        for part in reply:
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


@dataclass(frozen=True)
class CannedModel:
    """Gives ``reply`` whatever is asked: for trying the pipeline and its tests without a model."""

    reply: str
    name: str = "canned"

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        yield from self.reply.splitlines(keepends=True)
