"""Results, errors and streams as HTTP responses in the wire format, and the routes that only a service has: answers and
conversations that it keeps, feedback; and the records of the interface like OpenAI's, which are what its API documents.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from crmrag_query.answers.records import Answer, Event, Used
from crmrag_query.client import wire
from crmrag_query.client.wire import Route, T
from crmrag_query.codec import Malformed, Problem, parse_json, to_json, to_problem
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.sets.exports import FORMATS
from crmrag_query.sets.records import TELLING
from crmrag_query.text import parts_of
from crmrag_query.version import __version__


@dataclass(frozen=True, slots=True)
class Begin:
    """A new conversation with a data set (None: the default, or the only one)."""

    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A conversation: whoever has ``id`` may read it, whoever has ``key`` too may go on in it and remove it."""

    id: str
    key: str = field(repr=False)
    dataset: str


@dataclass(frozen=True, slots=True)
class GetConversation:
    id: str


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer; ``answer``: the id of the whole answer; ``asked``: ISO 8601."""

    answer: str
    question: str
    text: str
    asked: str


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, oldest turn first."""

    id: str
    dataset: str
    created: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Remove:
    """``key``: the one that the conversation was begun with."""

    id: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class GetAnswer:
    id: str


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was given; ``current``: its release is still the data set's current one."""

    id: str
    asked: str
    current: bool
    answer: Answer


@dataclass(frozen=True, slots=True)
class Replay:
    id: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The same question asked of the current release: ``same``, its text and the size of its set are."""

    answer: Answer
    same: bool
    release_changed: bool


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody thinks of an answer."""

    answer: str
    verdict: Literal["good", "bad"]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Nothing:
    """Done, and there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class Health:
    """The service runs (``/health``), or can answer (``/ready``); which data sets, and the share of the documents of each
    that have vectors, 0..1, to who may ask them."""

    status: Literal["ok"]
    datasets: tuple[str, ...] = ()
    encoded: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Version:
    """The versions of the service and of the data it serves: release ids by data set; the data sets that are ``unavailable``
    because their releases are damaged; whether MCP is served (``/mcp``). To who may not ask them the version alone."""

    version: str
    releases: dict[str, str] = field(default_factory=dict)
    unavailable: tuple[str, ...] = ()
    mcp: bool = False


@dataclass(frozen=True, slots=True)
class GetFile:
    """A whole set as a file. ``plan``: as JSON; ``columns``: keys with commas between them, ``telling`` for those that tell
    members apart; the rest as in ``GetExport``."""

    plan: str
    dataset: str | None = None
    question: str = ""
    language: str = ""
    reason: str = ""
    columns: str = TELLING

    def export(self, format: str) -> wire.GetExport:
        """The request for the file in a format; QuestionError for a plan that is no JSON."""
        try:
            plan = parse_json(self.plan)
        except Malformed as error:
            raise QuestionError(f"The plan cannot be read: {error}.", "Give it as JSON.") from error
        given = {"plan": plan, "format": format, "dataset": self.dataset, "question": self.question}
        more = {"language": self.language, "reason": self.reason, "columns": parts_of(self.columns)}
        return wire.read_request(wire.GetExport, given | more)


@dataclass(frozen=True, slots=True)
class GetPage:
    """The image of a page of a document, by the page's IRI."""

    iri: str
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class PutDocument:
    """A document for a data set ("": the first that takes any): the body of the request, which is called ``name``, or the
    first file of a form."""

    dataset: str = ""
    name: str = "document"


@dataclass(frozen=True, slots=True)
class GetDocuments:
    """What became of documents that were sent to a data set; of one by its ``id``."""

    dataset: str
    id: str = ""


BEGIN = Route("begin_conversation", "POST", "/conversations", Begin, Begun)
CONVERSATION = Route("conversation", "GET", "/conversations", GetConversation, Conversation)
REMOVE = Route("remove_conversation", "POST", "/conversations/remove", Remove, Nothing)
"""No DELETE: the key would stand in the address, and with that in logs and histories."""
ANSWER = Route("answer", "GET", "/answers", GetAnswer, KeptAnswer)
REPLAY = Route("replay", "POST", "/replay", Replay, Replayed)
FEEDBACK = Route("feedback", "POST", "/feedback", Feedback, Nothing)
FILES = {f"/set{ending}": format for format, (_, ending) in FORMATS.items()}
"""Addresses of whole sets as files, and the format of each."""
PAGE = "/page.png"
"""The address of images of pages."""
OWN_ROUTES: tuple[Route[Any, Any], ...] = (BEGIN, CONVERSATION, REMOVE, ANSWER, REPLAY, FEEDBACK)
UNTAGGED = (*OWN_ROUTES, wire.EVALUATIONS, wire.MODES)
"""Routes whose results depend on more than releases."""


def is_tagged(route: Route[Any, Any]) -> bool:
    """Whether what a route gives has an ETag: it is read from releases alone."""
    return route.method == "GET" and route not in UNTAGGED


KEPT = {"Cache-Control": "no-cache"}  # may be kept, and is asked about by its tag before it is used again
UNKEPT = {"Cache-Control": "no-store"}
STREAMED = UNKEPT | {"X-Accel-Buffering": "no"}  # nginx passes on what it gets
RETRY_SECONDS = "5"  # a question takes less, and a release is opened by then
PIECE = 65_536  # bytes of a large response that are handed over at a time
HEARTBEAT = b": alive\n\n"
LEFT = 499  # the status in the log of a request whose caller has left; nobody gets it
ENDING: set[asyncio.Future[None]] = set()  # streams that are being ended: tasks that nothing holds may vanish


def tag_of(request: Request, releases: Iterable[str]) -> str:
    """The entity tag of what is read at this address from these releases."""
    address = f"{request.scope['path']}?{request.scope['query_string'].decode('latin-1')}"
    told = "\n".join([__version__, address, *releases])
    return f'"{hashlib.sha256(told.encode("utf-8", "backslashreplace")).hexdigest()[:20]}"'


def known_already(request: Request, tag: str) -> bool:
    """Whether the caller holds what has this tag (If-None-Match, RFC 9110 13.1.2)."""
    given = request.headers.get("if-none-match", "")
    return any(one.strip().removeprefix("W/") == tag for one in given.split(","))


def result(value: Any) -> Response:
    """A record as JSON."""
    return written(to_json(value))


def written(text: str | bytes, tag: str | None = None) -> Response:
    """A record that is JSON already."""
    headers = UNKEPT if tag is None else KEPT | {"ETag": tag}
    return Response(text, media_type=wire.JSON, headers=headers)


class Large(Response):
    """A record that is JSON already, or a file, given on as fast as its reader takes it; ``sent`` is called once it is, or
    cannot be."""

    def __init__(self, text: bytes, sent: Callable[[], None], kind: str = wire.JSON, name: str = "") -> None:
        named = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(name)}"} if name else {}
        super().__init__(text, media_type=kind, headers=UNKEPT | named)
        self._sent = sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        whole = memoryview(self.body)
        try:
            await send(
                {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
            )
            for at in range(0, len(whole), PIECE):
                piece = bytes(whole[at : at + PIECE])
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._sent()


def not_modified(tag: str) -> Response:
    return Response(status_code=304, headers=KEPT | {"ETag": tag})


def problem(one: Problem, headers: dict[str, str] | None = None) -> Response:
    """A problem document."""
    return Response(to_json(one), one.status, {**UNKEPT, **(headers or {})}, media_type=wire.PROBLEM)


def failure(error: CrmRagError) -> Response:
    """The problem document of an error."""
    told = to_problem(error)
    return problem(told, retry(told.status))


def retry(status: int) -> dict[str, str]:
    """The header that tells whom a status refuses for now when to come back."""
    return {"Retry-After": RETRY_SECONDS} if status == 503 else {}


async def unless_left(request: Request, work: Awaitable[T]) -> T | None:
    """What ``work`` gives; None where the caller leaves before, which ends it. The body must have been read."""

    async def left() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    wanted, gone = asyncio.ensure_future(work), asyncio.ensure_future(left())
    try:
        await asyncio.wait({wanted, gone}, return_when=asyncio.FIRST_COMPLETED)
        return wanted.result() if wanted.done() else None
    finally:
        gone.cancel()
        wanted.cancel()


async def begun(
    events: AsyncGenerator[Event | CrmRagError], silence: float
) -> asyncio.Future[Event | CrmRagError]:
    """The first event, waited for no longer than ``silence`` seconds; raises the error that comes in its place by then, so
    that it still has a status of its own."""
    first = asyncio.ensure_future(anext(events))
    try:
        await asyncio.wait({first}, timeout=silence)
    except asyncio.CancelledError:
        first.cancel()
        raise
    if first.done() and isinstance(found := first.result(), CrmRagError):
        raise found
    return first


async def event_stream(
    events: AsyncGenerator[Event | CrmRagError],
    first: asyncio.Future[Event | CrmRagError],
    silence: float,
    write: Callable[[Event | CrmRagError], bytes],
) -> AsyncIterator[bytes]:
    """Events as text, ``first`` being awaited already. After ``silence`` seconds without one a comment says that the stream
    lives; ``events`` end where their reader does."""
    pending = first
    try:
        while True:
            done, _ = await asyncio.wait({pending}, timeout=silence)
            if not done:
                yield HEARTBEAT
                continue
            try:
                event = pending.result()
            except StopAsyncIteration:
                return
            if text := write(event):
                yield text
            pending = asyncio.ensure_future(anext(events))
    finally:
        # In a task of its own: this one may be cancelled, and then nothing in it can be awaited.
        ending = asyncio.ensure_future(_end(events, pending))
        ENDING.add(ending)
        ending.add_done_callback(ENDING.discard)


async def _end(events: AsyncGenerator[Any], pending: asyncio.Future[Any]) -> None:
    pending.cancel()
    await asyncio.wait({pending})
    await events.aclose()


OWNER = "crmrag"
"""Of all models, in the interface like OpenAI's."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message; only texts are read."""

    type: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    role: str
    content: str | tuple[Part, ...] | None = None

    @property
    def text(self) -> str:
        """Its text, that of its parts joined."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content or () if part.type == "text")


@dataclass(frozen=True, slots=True)
class StreamOptions:
    include_usage: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """``POST /v1/chat/completions``: the last message of the user is the question, the earlier ones its conversation."""

    model: str
    messages: tuple[Said, ...]
    stream: bool | None = False
    stream_options: StreamOptions | None = None


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A data set and how it is answered from; ``created``: OpenAI's field wants a time, and ours have none."""

    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = OWNER


@dataclass(frozen=True, slots=True)
class ChatModels:
    """The models: of each data set in the default mode, in each other one (``:vector``), and never with a language model
    (``:extractive``)."""

    data: tuple[ChatModel, ...]
    object: Literal["list"] = "list"


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """The answer with its cited sources below, as a front end shows nothing else."""

    content: str
    role: Literal["assistant"] = "assistant"
    refusal: None = None


@dataclass(frozen=True, slots=True)
class ChatChoice:
    """The only one."""

    message: ChatMessage
    index: int = 0
    logprobs: None = None
    finish_reason: Literal["stop"] = "stop"


@dataclass(frozen=True, slots=True)
class ChatUsage:
    """Tokens of the language model behind the answer; none where there is none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0

    @classmethod
    def of(cls, used: Used | None) -> ChatUsage:
        if used is None:
            return cls()
        prompt, completion = used.prompt_tokens, used.completion_tokens
        return cls(prompt, completion, prompt + completion)


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What we add: the id under which the whole answer is kept ("" where none is), the data set and release that it is from,
    whether it states a whole set and of what size, and whether it says that the data does not tell."""

    answer: str
    dataset: str
    release: str
    exhaustive: bool
    refused: bool
    set_size: int | None

    @classmethod
    def of(cls, answer: Answer) -> ChatAnswer:
        size = None if answer.set is None else answer.set.size
        return cls(answer.id, answer.dataset, answer.release, answer.exhaustive, answer.refused, size)


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A whole reply; ``citations``: IRIs of the cited sources, by number."""

    id: str
    model: str
    created: int
    choices: tuple[ChatChoice, ...]
    usage: ChatUsage
    citations: tuple[str, ...]
    crmrag: ChatAnswer
    object: Literal["chat.completion"] = "chat.completion"


@dataclass(frozen=True, slots=True)
class ChatError:
    message: str
    type: str
    code: str | None
    status: int
    param: None = None


@dataclass(frozen=True, slots=True)
class ChatFailure:
    """An error as OpenAI's API tells it."""

    error: ChatError
