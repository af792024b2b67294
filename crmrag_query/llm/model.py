"""The language model, one of the three seams: litellm by default, replies given beforehand as the stand-in.

Why a model did not answer is told as an error that a person can act on.
"""

from __future__ import annotations

import json
import os
import queue
import threading
import time
from base64 import b64encode
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any, Final, Literal, Protocol, TypedDict, cast, runtime_checkable

from crmrag_query.errors import MissingExtraError, ModelError, ModelUnreachable
from crmrag_query.llm.limits import whole_reply
from crmrag_query.text import tokens

LONGEST = 200  # characters of a provider's own message
WAITING = 1000  # pieces of a reply that are held before they are read
REFUSED_SCHEMA = frozenset({"BadRequestError", "UnprocessableEntityError", "UnsupportedParamsError"})
"""What litellm raises where a server takes no ``response_format``, among other things."""
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
    """What litellm raised as a ModelError that names the model, the reason and the remedy; keys are left out.

    What may succeed when it is asked again is a ModelUnreachable.
    """
    if long := too_long(name, error):
        return long
    error = getattr(error, "original_exception", None) or error
    said, kinds = short(error), [kind.__name__ for kind in type(error).__mro__]
    if "Timeout" in kinds:
        return too_slow(name, "in time")
    if "RateLimitError" in kinds:
        wait = _retry_after(error)
        return ModelUnreachable(
            f"The model {name} takes no more requests for now (429): {said}",
            f"Wait {f'{wait} seconds' if wait else 'a little'} and ask again, or choose another model.",
            wait=float(wait or 0),
        )
    known = next((kind for kind in kinds if kind in FAULTS), "")
    if not known or (FAULTS[known] is _SERVER and _unreached(error)):
        gone = ModelUnreachable if _unreached(error) or "APIConnectionError" in kinds else ModelError
        return gone(f"The model {name} did not answer: {kinds[0]}: {said}", CHECK)
    what, remedy = FAULTS[known]
    failed = ModelUnreachable if FAULTS[known] is _SERVER else ModelError
    return failed(what.format(name=name, said=said, status=getattr(error, "status_code", None)), remedy)


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


def too_slow(name: str, what: str) -> ModelUnreachable:
    return ModelUnreachable(
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
    """A message of text alone, which every model takes."""

    role: str
    content: str


class TextPart(TypedDict):
    type: Literal["text"]
    text: str


class ImagePart(TypedDict):
    """An image by its address, or with its content within the address (``image_part``)."""

    type: Literal["image_url"]
    image_url: dict[str, str]


Part = TextPart | ImagePart


class PartsMessage(TypedDict):
    """A message of texts and images."""

    role: str
    content: Sequence[Part]


class Called(TypedDict):
    name: str
    arguments: str


class ToolCall(TypedDict):
    """What a model asks a tool for: ``arguments`` are JSON, as the model wrote it, which may be none."""

    id: str
    type: Literal["function"]
    function: Called


class CallsMessage(TypedDict):
    """A model's own message in which it called tools."""

    role: Literal["assistant"]
    content: str
    tool_calls: Sequence[ToolCall]


class ResultMessage(TypedDict):
    """What a tool gave, by the id of its call."""

    role: Literal["tool"]
    tool_call_id: str
    content: str


AnyMessage = Message | PartsMessage | CallsMessage | ResultMessage
Schema = Mapping[str, Any]


def image_part(content: bytes, media_type: str) -> ImagePart:
    """An image as a part of a message."""
    return {
        "type": "image_url",
        "image_url": {"url": f"data:{media_type};base64,{b64encode(content).decode()}"},
    }


@dataclass(frozen=True)
class Request:
    """What a model is asked, its reply wanted whole: as JSON of a ``schema``, or with calls of ``tools``.

    ``tools``: their definitions as OpenAI's chat completions take them; ``may_call``: False where tools were called before
    and may be no more; ``most``: tokens of the reply; ``seconds`` that it may take.
    """

    messages: Sequence[AnyMessage]
    schema: Schema | None = None
    tools: Sequence[Schema] = ()
    may_call: bool = True
    most: int | None = None
    seconds: float = 60.0

    @property
    def texts_only(self) -> Sequence[Message] | None:
        """The messages where all are of text alone, and no tools are given; None for others."""
        texts: list[Message] = []
        for one in self.messages:
            if "tool_calls" in one or "tool_call_id" in one or not isinstance(one["content"], str):
                return None
            texts.append({"role": one["role"], "content": one["content"]})
        return None if self.tools else texts

    def estimate(self) -> Usage:
        """What it takes at most, about: its texts, images, tools and schema, and the reply where that is bounded."""
        sent = tokens(json.dumps([self.schema, [tool["function"]["parameters"] for tool in self.tools]]))
        for message in self.messages:
            content = message["content"]
            parts = [content] if isinstance(content, str) else content
            for part in parts:
                if isinstance(part, str):
                    sent += tokens(part)
                else:
                    sent += tokens(part["text"]) if part["type"] == "text" else IMAGE_TOKENS
            calls = cast(CallsMessage, message)["tool_calls"] if "tool_calls" in message else ()
            sent += sum(tokens(call["function"]["arguments"]) for call in calls)
        return Usage(sent, self.most or 0)


IMAGE_TOKENS = 1445
"""Of an image at most. Source: OpenAI's formula for images in high detail, 85 and 170 for each of at most 8 tiles."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole reply: its text, what it calls of tools, and what it took."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=lambda: Usage())


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

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class Model(Protocol):
    """A language model: ``name`` for the record, ``complete`` for the text."""

    @property
    def name(self) -> str: ...

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        """The reply in pieces as they come; a generator may return the call's Usage. Raises ModelError."""
        ...


@runtime_checkable
class WholeModel(Model, Protocol):
    """A model that replies whole too: to texts and images, by a schema, or with calls of tools."""

    def whole(self, request: Request) -> Reply:
        """Raises ModelError."""
        ...


@dataclass
class Metered:
    """A model whose usage is added up, for one answer."""

    inner: Model
    usage: Usage = field(default_factory=Usage)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.inner.name

    def complete(self, messages: Sequence[Message]) -> Iterator[str]:
        """The reply of the inner model."""
        self._add((yield from streamed(self.inner, messages)))

    def whole(self, request: Request) -> Reply:
        """The reply of the inner model."""
        reply = whole_of(self.inner, request)
        self._add(reply.usage)
        return reply

    def _add(self, used: Usage) -> None:
        with self._lock:
            self.usage += used


@dataclass(frozen=True)
class LiteLLM:
    """Any model that litellm reaches; keys come from the environment and are never logged.

    ``timeout`` in seconds, for connecting and for each silence; ``api_base`` for servers of one's own. Nothing is tried
    twice: who asks is told, and may ask again. But where a server takes no schema, the same is asked without one, and from
    then on at once.
    """

    name: str
    api_base: str | None = None
    timeout: float = 60.0
    temperature: float = 0.0
    _plain: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)

    def load(self) -> ModuleType:
        """litellm, which whoever asks first would wait for; MissingExtraError where it is not installed."""
        from crmrag_query.llm.loading import load_litellm  # loads httpx

        return load_litellm(f"Answering with the model {self.name}")

    def request(self, messages: Sequence[AnyMessage], timeout: float) -> dict[str, Any]:
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

    def whole(self, request: Request) -> Reply:
        """A whole reply, by ``response_format`` for a schema, with ``tools`` where some are given."""
        litellm, options = self.load(), dict[str, Any]()
        if request.schema is not None and not self._plain.is_set():
            options |= {"response_format": response_format(request.schema), "drop_params": True}
        if request.tools:
            options["tools"] = list(request.tools)
            options["tool_choice"] = "auto" if request.may_call else "none"
        try:
            with whole_reply():
                reply: Any = litellm.completion(
                    **self.request(request.messages, min(self.timeout, request.seconds)),
                    **options, max_tokens=request.most,
                )  # fmt: skip
            message, reason = reply.choices[0].message, reply.choices[0].finish_reason
        except (
            Exception
        ) as error:  # litellm raises dozens of kinds, some not its own; all mean: no reply from it
            if "response_format" in options and type(error).__name__ in REFUSED_SCHEMA:
                plain = self.whole(replace(request, schema=None))
                self._plain.set()
                return plain
            raise fault_of(self.name, error) from error
        refusal = getattr(message, "refusal", None)
        if refusal or reason == "content_filter":
            raise declined(self.name, refusal or "")
        calls = (
            ToolCall(
                id=str(one.id or number),
                type="function",
                function={"name": str(one.function.name), "arguments": str(one.function.arguments or "{}")},
            )
            for number, one in enumerate(getattr(message, "tool_calls", None) or ())
        )
        cut = CUT if reason == "length" and request.schema is None else ""
        return Reply(
            (message.content or "") + cut, tuple(calls), self.usage_of(getattr(reply, "usage", None))
        )

    def usage_of(self, told: Any) -> Usage:
        """The usage that a reply tells."""
        prompt, completion = (
            int(getattr(told, name, None) or 0) for name in ("prompt_tokens", "completion_tokens")
        )
        return Usage(prompt, completion, self.cost(prompt, completion) if prompt or completion else None)

    @property
    def calls_tools(self) -> bool | None:
        """Whether it calls tools, and None where litellm does not know the model."""
        told = self._told("supports_function_calling")
        return None if told is None else bool(told)

    @property
    def window(self) -> int | None:
        """Tokens that it reads at most, by litellm's table; None for a model that it does not list."""
        told = self._told("max_input_tokens")
        return int(told) if told else None

    def _told(self, key: str) -> Any:
        try:
            return self.load().get_model_info(self.name).get(key)
        except MissingExtraError:
            raise
        except Exception:  # it raises plain exceptions for models that it does not know
            return None

    def cost(self, prompt: int, completion: int) -> float | None:
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


LONGEST_REPLY = 20_000  # characters; no analysis and no question comes near this length …
TOKEN_CHARACTERS = 6  # … but what is asked for with more tokens, each of so many characters at most, may


def bare(model: Model | None) -> Model | None:
    """The model itself, without its meter."""
    return model.inner if isinstance(model, Metered) else model


def whole_of(model: Model, request: Request) -> Reply:
    """The whole reply of any model; ModelError for images or tools of one that takes texts alone, and for one of these that
    says more than `longest`, such as without end."""
    if isinstance(model, WholeModel):
        return model.whole(request)
    texts = request.texts_only
    if texts is None:
        raise ModelError(
            f"The model {model.name} takes texts alone, no images and no tools.", "Choose another model."
        )
    pieces, said, length = streamed(model, texts), list[str](), 0
    while length <= longest(request):
        try:
            said.append(next(pieces))
        except StopIteration as end:
            return Reply("".join(said), usage=end.value)
        length += len(said[-1])
    pieces.close()
    raise said_too_much(model)


def longest(request: Request) -> int:
    """How many characters a reply may have."""
    return max(LONGEST_REPLY, TOKEN_CHARACTERS * (request.most or 0))


def said_too_much(model: Model) -> ModelError:
    return ModelError(f"The model {model.name} said more than was asked for.", "Choose another model.")


def streamed(model: Model, messages: Sequence[Message]) -> Generator[str, None, Usage]:
    """The reply in pieces, and what it took as far as the model tells."""
    replied = model.complete(messages)
    if not isinstance(replied, Generator):
        yield from replied
        return Usage()
    used = yield from replied
    return used if isinstance(used, Usage) else Usage()


def ask(model: Model, request: Request) -> Reply:
    """The model's whole reply; ModelError when it fails, says and calls nothing, too much, or is not done in time."""
    found = Reply("")

    def pieces() -> Iterator[str]:
        nonlocal found
        texts = request.texts_only
        # a stream tells at once when the model says too much
        if texts is not None and request.schema is None:
            found = replace(found, usage=(yield from streamed(model, texts)))
        else:
            found = whole_of(model, request)
            yield found.text

    said, length = list[str](), 0
    for piece in within(pieces(), model.name, request.seconds, request.seconds):
        said.append(piece)
        length += len(piece)
        if length > longest(request):
            raise said_too_much(model)
    reply = replace(found, text="".join(said).strip())
    if not reply.text and not reply.calls:
        raise ModelError(f"The model {model.name} said nothing.", "Ask again, or choose another model.")
    return reply


def reply_of(model: Model, messages: Sequence[Message], seconds: float, schema: Schema | None = None) -> str:
    """The text of the model's reply, by a schema as JSON. Raises ModelError as ``ask``."""
    return ask(model, Request(messages, schema, seconds=seconds)).text


def response_format(schema: Schema) -> dict[str, Any]:
    """``schema`` as OpenAI-compatible servers take it in ``response_format``."""
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": dict(schema), "strict": True}}


REPAIR_CHARACTERS: Final = 6000  # of a faulty reply that is told back to the model


@dataclass(slots=True)
class Talk:
    """What the calls take: ``rounds``, and the tokens ``sent`` and ``received``, estimated; ``most``: tokens of one reply."""

    model: Model
    seconds: float
    schema: Schema | None = None
    most: int | None = None
    rounds: int = 0
    sent: int = 0
    received: int = 0
    begun: float = field(default_factory=time.monotonic)

    def ask(self, messages: Sequence[Message]) -> str:
        """The text of one reply, as JSON of the schema where there is one. Raises ModelError."""
        return self._reply(Request(messages, self.schema, most=self.most, seconds=self.left)).text

    def call(self, messages: Sequence[AnyMessage], tools: Sequence[Schema], may_call: bool = True) -> Reply:
        """A reply that may call tools; not where it ``may_call`` none, though some were called before. Raises ModelError."""
        return self._reply(
            Request(messages, tools=tools, may_call=may_call, most=self.most, seconds=self.left)
        )

    def _reply(self, request: Request) -> Reply:
        reply = ask(self.model, request)
        self.rounds += 1
        self.sent += request.estimate().prompt_tokens
        self.received += tokens(reply.text) + sum(tokens(one["function"]["arguments"]) for one in reply.calls)
        return reply

    @property
    def left(self) -> float:
        """Seconds; never none, so that the last call fails by itself."""
        return max(0.01, self.begun + self.seconds - time.monotonic())


def repair(reply: str, wrong: str) -> Sequence[Message]:
    """The messages that send a faulty reply back with what is wrong and how to reply."""
    return (
        {"role": "assistant", "content": reply[:REPAIR_CHARACTERS]},
        {"role": "user", "content": wrong},
    )
