"""The language model, one of the three seams: litellm by default, replies given beforehand as the stand-in."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypedDict

from crmrag_query.errors import MissingExtraError, ModelError


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

    ``timeout`` in seconds, for the whole reply to begin; ``api_base`` for servers of one's own.
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
        try:
            reply = litellm.completion(
                model=self.name,
                messages=list(messages),
                api_base=self.api_base,
                timeout=self.timeout,
                temperature=self.temperature,
                stream=True,
            )
            for part in reply:
                if text := part.choices[0].delta.content:
                    yield text
        except (
            Exception
        ) as error:  # litellm raises dozens of kinds, some not its own; all mean: no answer from it
            raise ModelError(
                f"The model {self.name} did not answer: {type(error).__name__}: {_short(error)}",
                "Check the model's name, its key in the environment and CRMRAG_API_BASE.",
            ) from error


def _short(error: Exception) -> str:
    return str(error).splitlines()[0][:200] if str(error) else "no message"


@dataclass(frozen=True)
class CannedModel:
    """Gives ``reply`` whatever is asked: for trying the pipeline and its tests without a model."""

    reply: str
    name: str = "canned"

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        yield from self.reply.splitlines(keepends=True)
