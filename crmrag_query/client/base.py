"""What both clients share, and the seam between them and what answers: this process, or a service over HTTP."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from crmrag_query.answers.records import Answer, Event
from crmrag_query.client import wire
from crmrag_query.client.http import Limits, Service, Timeout
from crmrag_query.client.wire import Route
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.llm.model import Model
from crmrag_query.sets.records import AnswerSet

if TYPE_CHECKING:
    from crmrag_query.client.local import Engine

Q = TypeVar("Q")
T = TypeVar("T")


class Transport(Protocol):
    """Sends a request and gives its result; raises the errors of the one tree."""

    def send(self, route: Route[Q, T], request: Q) -> T: ...

    def stream(self, request: wire.Ask) -> Iterator[Event]: ...

    def close(self) -> None: ...


class AsyncTransport(Protocol):
    """The same without blocking."""

    async def send(self, route: Route[Q, T], request: Q) -> T: ...

    def stream(self, request: wire.Ask) -> AsyncIterator[Event]: ...

    async def close(self) -> None: ...


class LocalTransport:
    """In this process."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def send(self, route: Route[Q, T], request: Q) -> T:
        return cast(T, self._engine.handle(route, request))

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        return self._engine.stream(request)

    def close(self) -> None:
        pass


class AsyncLocalTransport:
    """In this process, in threads, so that an event loop is not held up."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def send(self, route: Route[Q, T], request: Q) -> T:
        return cast(T, await _in_thread(partial(self._engine.handle, route, request)))

    async def stream(self, request: wire.Ask) -> AsyncIterator[Event]:
        events = self._engine.stream(request)
        try:
            while (event := await _in_thread(partial(next, events, None))) is not None:
                yield event
        finally:
            close = getattr(events, "close", None)
            if close is not None:
                close()

    async def close(self) -> None:
        pass


async def _in_thread(work: Callable[[], Any]) -> Any:
    import anyio.to_thread

    return await anyio.to_thread.run_sync(work)


ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
Target = str | os.PathLike[str]
History = Sequence[str] | Mapping[str, Any] | Answer


class Identified(Protocol):
    """Anything with an IRI: a source, an entity, a document that was found."""

    @property
    def iri(self) -> str: ...


class WithPlan(Protocol):
    """Anything that comes with a plan: the set of an answer, a facet's value, an event."""

    @property
    def plan(self) -> Mapping[str, Any]: ...


class WithSet(Protocol):
    """An answer, whose set has a plan."""

    @property
    def set(self) -> AnswerSet | None: ...


class Dumped(Protocol):
    """A plan as a record."""

    def model_dump(self, *, mode: str) -> dict[str, Any]: ...


PlanLike = Mapping[str, Any] | Dumped | WithPlan | WithSet
"""A plan as plain values or as a ``crmrag_query.plans.records.Plan``, or what has one."""


WithinLike = PlanLike | None
"""A plan; or plain values with any of ``categories``, ``classes``, ``types``, ``graphs``, ``iris``, ``plan``; None: all."""


class BaseClient(ABC):
    """Holds the target and makes requests; ``Client`` and ``AsyncClient`` send them."""

    _dataset: str | None = None
    _target: str = ""
    _closed: bool = False
    _service: Service | None = None
    _engine: Engine | None = None

    def __init__(
        self,
        target: Target,
        *,
        dataset: str | None = None,
        model: str | Model | None = None,
        api_base: str | None = None,
        timeout: Timeout | None = None,
        limits: Limits | None = None,
        api_key: str | None = None,
        trust: Sequence[str] = (),
    ) -> None:
        self._dataset = dataset
        if ADDRESS.match(os.fspath(target)):
            if model is not None or api_base is not None or trust:
                raise QuestionError(
                    "A service answers with its own model, and opens its releases itself.",
                    "Leave out model, api_base and trust.",
                )
            self._service = Service(os.fspath(target), api_key, timeout or Timeout(), limits or Limits())
            self._target = self._service.address
        else:
            from crmrag_query.client.local import open_engine

            self._target = os.fspath(target)
            self._engine = open_engine(self._target, dataset, model, api_base, trust)
        self._connect()

    @abstractmethod
    def _connect(self) -> None:
        """Make what answers the requests."""

    def __repr__(self) -> str:
        chosen = f", dataset={self._dataset!r}" if self._dataset else ""
        return f"{type(self).__name__}({self._target!r}{chosen})"

    def _checked(self, request: Q) -> Q:
        """The request of this client's data set where it names none, its values checked as the service checks them.

        CrmRagError once the client is closed.
        """
        if self._closed:
            raise CrmRagError("This client is closed.", "Open another one.")
        values = {one.name: getattr(request, one.name) for one in fields(cast(Any, request))}
        if "dataset" in values:
            values["dataset"] = values["dataset"] or self._dataset
        return wire.read_request(type(request), values)


def earlier_of(history: History) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The earlier questions or, where there is one, the state of the conversation."""
    if isinstance(history, Answer):
        return (), history.conversation
    if isinstance(history, Mapping):
        return (), dict(history)
    if isinstance(history, str):
        raise QuestionError("The history is one text.", "Give a list of the earlier questions.")
    if not isinstance(history, Sequence):
        raise QuestionError(f"{history!r:.40} is no history.", "Give a list of the earlier questions.")
    return tuple(history), {}


def within_of(within: WithinLike) -> dict[str, Any]:
    """The part of the data that a question is asked of: a plan, what has one, or a short form of one."""
    if within is None:
        return {}
    if isinstance(within, Mapping) and not {"target", "where", "compute"} & within.keys():
        return dict(within)
    return {"plan": plan_of(within)}


def iri_of(one: str | Identified) -> str:
    iri = one if isinstance(one, str) else getattr(one, "iri", None)
    if not isinstance(iri, str):
        raise QuestionError(f"{one!r:.40} is no entity.", "Give an IRI, or a result that has one.")
    return iri


def plan_of(one: object) -> dict[str, Any]:
    """The plan as plain values. Raises QuestionError for what has none."""
    if isinstance(one, Mapping):
        return dict(one)
    dumped = getattr(one, "model_dump", None)
    if callable(dumped):
        found: dict[str, Any] = dumped(mode="json")
        return found
    for name in ("plan", "set"):
        inner = getattr(one, name, None)
        if inner is not None:
            return plan_of(inner)
    raise QuestionError(
        f"{type(one).__name__} has no plan.", "Give a plan, or the set of an answer that has one."
    )
