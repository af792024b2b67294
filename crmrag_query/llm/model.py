"""The language model, one of the three seams: litellm by default, replies given beforehand as the stand-in.

Why a model did not answer is told as an error that a person can act on.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol, TypedDict, cast

from crmrag_query.errors import ModelError
from crmrag_query.llm.limits import whole_reply

LONGEST = 200  # characters of a provider's own message
WAITING = 1000  # pieces of a reply that are held before they are read
SECRETS = ("_API_KEY", "_TOKEN", "_SECRET", "_PASSWORD")


CHECK = "Check the model's name, its key in the environment and CRMRAG_API_BASE."
_KEY = (
    "The model {name} does not accept the key: {said}",
    "Set the provider's key in the environment, such as OPENAI_API_KEY.",
)
_SERVER = (
    "The server of the model {name} failed ({status}): {said}",
    "Ask again in a moment, or choose another model.",
)
FAULTS: Mapping[str, tuple[str, str]] = {
    "AuthenticationError": _KEY,
    "PermissionDeniedError": _KEY,
    "ContextWindowExceededError": (
        "The sources are longer than the model {name} reads: {said}",
        "Lower context.tokens in config/method.yaml, or choose another model.",
    ),
    "ContentPolicyViolationError": (
        "The model {name} declined to answer: {said}",
        "Put the question otherwise.",
    ),
    "NotFoundError": (
        "There is no model {name} at its provider: {said}",
        "Check the model's name and CRMRAG_API_BASE.",
    ),
    "InternalServerError": _SERVER,
    "ServiceUnavailableError": _SERVER,
}
"""What happened and what to do, by litellm's name of the error."""


def fault_of(name: str, error: Exception) -> ModelError:
    """What litellm raised as a ModelError that names the model, the reason and the remedy; keys are left out."""
    if long := too_long(name, error):
        return long
    error = getattr(error, "original_exception", None) or error
    said, kinds = short(error), [kind.__name__ for kind in type(error).__mro__]
    if "Timeout" in kinds:
        return too_slow(name, "in time")
    if "RateLimitError" in kinds:
        wait = _retry_after(error)
        return ModelError(
            f"The model {name} takes no more requests for now (429): {said}",
            f"Wait {f'{wait} seconds' if wait else 'a little'} and ask again, or choose another model.",
        )
    known = next((kind for kind in kinds if kind in FAULTS), "")
    if not known or (FAULTS[known] is _SERVER and _unreached(error)):
        return ModelError(f"The model {name} did not answer: {kinds[0]}: {said}", CHECK)
    what, remedy = FAULTS[known]
    return ModelError(what.format(name=name, said=said, status=getattr(error, "status_code", None)), remedy)


def _unreached(error: BaseException | None) -> bool:
    """Whether no server answered at all, which litellm tells as a server's error."""
    while error is not None:
        if type(error).__name__ in ("ConnectError", "ConnectTimeout", "UnsupportedProtocol"):
            return True
        error = error.__cause__ or error.__context__
    return False


def too_long(name: str, error: BaseException) -> ModelError | None:
    """The error of a reply beyond the bounds of ``llm.bounded``; None where ``error`` does not come of one."""
    cause: BaseException | None = error
    while cause is not None and type(cause).__name__ != "TooLong":
        cause = getattr(cause, "original_exception", None) or cause.__cause__ or cause.__context__
    if cause is None:
        return None
    return ModelError(
        f"The reply of the model {name} is too long: {cause}.",
        "Choose another model, or check the address of its server.",
    )


def broken_off(name: str, said: str = "") -> ModelError:
    """The reply ended before its end was told, or cannot be read."""
    more = f" ({said})" if said else ""
    return ModelError(
        f"The reply of the model {name} broke off or cannot be read{more}.",
        "Ask again; if it happens again, check CRMRAG_API_BASE: it must be an OpenAI-compatible address.",
    )


def declined(name: str, said: str) -> ModelError:
    """The model, or a filter before it, refuses to answer."""
    return ModelError(
        f"The model {name} declined to answer: {said or 'no reason given'}", "Put the question otherwise."
    )


def too_slow(name: str, what: str) -> ModelError:
    return ModelError(
        f"The model {name} did not answer {what}.",
        "Ask again, raise CRMRAG_MODEL_TIMEOUT or answers.whole_seconds, or choose a faster model.",
    )


def short(error: Exception) -> str:
    """The first line of an error's message without keys of the environment."""
    lines = str(error).splitlines()
    return without_keys(lines[0] if lines else "no message")[:LONGEST]


def without_keys(text: str) -> str:
    """The text without the keys of the environment."""
    for name, value in os.environ.items():
        if name.endswith(SECRETS) and len(value) > 3:
            text = text.replace(value, "…")
    return text


def _retry_after(error: Exception) -> str:
    """Seconds that the server asks to wait, "" when it does not say; as a date it is left out."""
    response = getattr(error, "response", None)
    for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
        told = str((headers or {}).get("retry-after", ""))
        if told.isdigit():
            return told
    return ""


def within(pieces: Iterator[str], name: str, first: float, whole: float) -> Iterator[str]:
    """The pieces as they come, pulled by a thread of their own; ModelError when the first or the last comes too late.

    ``first``, ``whole``: seconds. What the pieces raise is raised here. A server that sends nothing, little for ever, or
    faster than it is read so cannot hold an answer nor fill the memory; the thread ends with its next piece.
    """
    given: queue.Queue[Any] = queue.Queue(WAITING)
    left = threading.Event()
    end = object()
    begun, limit, what = time.monotonic(), min(first, whole), f"within {min(first, whole):g} seconds"

    def give(item: object) -> bool:
        while not left.is_set():
            try:
                given.put(item, timeout=1)
            except queue.Full:
                continue
            return True
        return False

    def pull() -> None:
        try:
            for piece in pieces:
                if not give(piece):
                    return
                if time.monotonic() > begun + whole:
                    give(too_slow(name, f"to the end within {whole:g} seconds"))
                    return
            give(end)
        except BaseException as error:
            give(error)

    threading.Thread(target=pull, name="model", daemon=True).start()
    try:
        while True:
            try:
                piece = given.get(timeout=max(0.0, begun + limit - time.monotonic()))
            except queue.Empty:
                raise too_slow(name, what) from None
            if piece is end:
                return
            if isinstance(piece, BaseException):
                raise piece
            limit, what = whole, f"to the end within {whole:g} seconds"
            yield piece
    finally:
        left.set()


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
        from crmrag_query.llm.loading import load_litellm  # loads httpx

        return load_litellm(f"Answering with the model {self.name}")

    def request(self, messages: Sequence[Message], timeout: float) -> dict[str, Any]:
        """What litellm is asked, however the reply is wanted."""
        return {
            "model": self.name, "messages": list(messages), "api_base": self.api_base, "timeout": timeout,
            "temperature": self.temperature, "num_retries": 0, "max_retries": 0,
        }  # fmt: skip

    def complete(self, messages: Sequence[Message]) -> Generator[str, None, Usage]:
        litellm = self.load()
        said = False
        try:
            options = {"stream": True, "stream_options": {"include_usage": True}}
            reply: Any = litellm.completion(**self.request(messages, self.timeout), **options)
            texts = self._texts(reply)
            while True:
                try:
                    text = next(texts)
                except StopIteration as end:
                    return self.usage_of(end.value)
                said = True
                yield text
        except ModelError:
            raise
        except Exception as error:  # litellm raises dozens of kinds, some not its own; all mean: no answer
            mid_stream = said or type(error).__name__ == "MidStreamFallbackError"
            timed_out = isinstance(getattr(error, "original_exception", error), litellm.exceptions.Timeout)
            if mid_stream and not timed_out and not too_long(self.name, error):
                raise broken_off(self.name, short(error)) from error
            raise fault_of(self.name, error) from error

    def usage_of(self, told: Any) -> Usage:
        """The usage that a reply tells."""
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


Schema = Mapping[str, Any]
LONGEST_REPLY = 20_000  # characters; no analysis and no question comes near this length


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
    asked = model.inner if isinstance(model, Metered) else model
    structured = cast("Callable[[Sequence[Message], Schema], str] | None", getattr(asked, "structured", None))

    def pieces() -> Iterator[str]:
        if schema is not None and structured is not None:
            yield structured(messages, schema)
        elif schema is not None and isinstance(asked, LiteLLM):
            text, used = _whole(asked, messages, schema, seconds, most)
            if isinstance(model, Metered):
                model.usage += used
            yield text
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
) -> tuple[str, Usage]:
    """The reply and what it took."""
    from crmrag_query.llm.loading import load_litellm  # loads httpx

    litellm = load_litellm(f"Analysing with the model {model.name}")
    try:
        with whole_reply():
            reply: Any = litellm.completion(
                **model.request(messages, min(model.timeout, seconds)),
                response_format=response_format(schema), drop_params=True, max_tokens=most,
            )  # fmt: skip
        message = reply.choices[0].message
    except Exception as error:  # litellm raises dozens of kinds, some not its own; all mean: no reply from it
        raise fault_of(model.name, error) from error
    refusal = getattr(message, "refusal", None)
    if refusal or reply.choices[0].finish_reason == "content_filter":
        raise declined(model.name, refusal or "")
    return message.content or "", model.usage_of(getattr(reply, "usage", None))


def response_format(schema: Schema) -> dict[str, Any]:
    """``schema`` as OpenAI-compatible servers take it in ``response_format``."""
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema), "strict": True}}
