"""One whole reply of a language model, within a time, for reading questions; what it says is checked by the caller."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from crmrag_query.errors import ModelError
from crmrag_query.llm.faults import declined, fault_of, within
from crmrag_query.llm.loading import load_litellm
from crmrag_query.llm.model import LiteLLM, Message, Model

Schema = Mapping[str, Any]
LONGEST_REPLY = 20_000  # characters; a longer one is no analysis and no question; ours


def reply_of(
    model: Model,
    messages: Sequence[Message],
    seconds: float,
    schema: Schema | None = None,
    most: int | None = None,
) -> str:
    """The model's reply. For a schema, a model with a method ``structured(messages, schema) -> str`` is asked by that, and
    ``LiteLLM`` without streaming, with ``response_format``, and for ``most`` tokens where that is given.

    Raises ModelError when it fails, says nothing, too much, or is not done within ``seconds``.
    """
    structured = cast("Callable[[Sequence[Message], Schema], str] | None", getattr(model, "structured", None))

    def pieces() -> Iterator[str]:
        if schema is not None and structured is not None:
            yield structured(messages, schema)
        elif schema is not None and isinstance(model, LiteLLM):
            yield _whole(model, messages, schema, seconds, most)
        else:
            yield from model.complete(messages)

    said: list[str] = []
    length = 0
    for piece in within(pieces(), model.name, seconds, seconds):
        said.append(piece)
        length += len(piece)
        if length > LONGEST_REPLY:
            raise ModelError(f"The model {model.name} said more than was asked for.", "Choose another model.")
    text = "".join(said).strip()
    if not text:
        raise ModelError(f"The model {model.name} said nothing.", "Ask again, or choose another model.")
    return text


def _whole(
    model: LiteLLM, messages: Sequence[Message], schema: Schema, seconds: float, most: int | None
) -> str:
    litellm = load_litellm(f"Analysing with the model {model.name}")
    try:
        reply: Any = litellm.completion(
            model=model.name,
            messages=list(messages),
            api_base=model.api_base,
            timeout=min(model.timeout, seconds),
            temperature=model.temperature,
            response_format=response_format(schema),
            drop_params=True,
            max_tokens=most,
            num_retries=0,
            max_retries=0,
        )
        message = reply.choices[0].message
    except Exception as error:  # litellm raises dozens of kinds, some not its own; all mean: no reply from it
        raise fault_of(model.name, error) from error
    refusal = getattr(message, "refusal", None)
    if refusal or reply.choices[0].finish_reason == "content_filter":
        raise declined(model.name, refusal or "")
    return message.content or ""


def response_format(schema: Schema) -> dict[str, Any]:
    """``schema`` as OpenAI-compatible servers take it in ``response_format``."""
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema), "strict": True}}
