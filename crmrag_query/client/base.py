"""What both clients share: everything that does no input or output."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from crmrag_query.answers.records import SourceTriple
from crmrag_query.client import wire
from crmrag_query.client.codec import to_plain
from crmrag_query.client.exchange import Service
from crmrag_query.client.records import Answer
from crmrag_query.client.sets import PlanLike, plan_of
from crmrag_query.client.values import Limits, Timeout
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.llm.model import Model
from crmrag_query.sets.records import Change, Sort, What

if TYPE_CHECKING:
    from crmrag_query.client.local import Engine

Q = TypeVar("Q")

ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
Target = str | os.PathLike[str]
History = Sequence[str] | Mapping[str, Any] | Answer


class Identified(Protocol):
    """Anything with an IRI: a source, an entity, a document that was found."""

    @property
    def iri(self) -> str: ...


class BaseClient:
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
    ) -> None:
        self._dataset = dataset
        if ADDRESS.match(os.fspath(target)):
            if model is not None or api_base is not None:
                raise QuestionError("A service answers with its own model.", "Leave out model and api_base.")
            self._service = Service(os.fspath(target), api_key, timeout or Timeout(), limits or Limits())
            self._target = self._service.address
        else:
            from crmrag_query.client.local import open_engine

            self._target = os.fspath(target)
            self._engine = open_engine(self._target, dataset, model, api_base)

    def __repr__(self) -> str:
        chosen = f", dataset={self._dataset!r}" if self._dataset else ""
        return f"{type(self).__name__}({self._target!r}{chosen})"

    def _asking(self, question: str, history: History, dataset: str | None) -> wire.Ask:
        return self._checked(wire.Ask(question, self._named(dataset), *_earlier(history)))

    def _retrieving(
        self, question: str, k: int | None, history: History, dataset: str | None
    ) -> wire.Retrieve:
        return self._checked(wire.Retrieve(question, self._named(dataset), k, *_earlier(history)))

    def _describing(self, iri: str | Identified, language: str, dataset: str | None) -> wire.GetEntity:
        return self._checked(wire.GetEntity(_iri(iri), self._named(dataset), language))

    def _neighbouring(
        self, iri: str | Identified, limit: int, offset: int, language: str, dataset: str | None
    ) -> wire.GetNeighbours:
        return self._checked(wire.GetNeighbours(_iri(iri), self._named(dataset), limit, offset, language))

    def _searching(self, text: str, limit: int, dataset: str | None) -> wire.Search:
        return self._checked(wire.Search(text, self._named(dataset), limit))

    def _tracing(
        self, s: str | SourceTriple, p: str, o: str, source: str | Identified, dataset: str | None
    ) -> wire.GetLineage:
        if isinstance(s, SourceTriple):
            return self._tracing(s.s, s.p, s.o, source, dataset)
        return self._checked(wire.GetLineage(s, p, o, self._named(dataset), _iri(source)))

    def _planning(self, question: str, history: History, dataset: str | None) -> wire.MakePlan:
        return self._checked(wire.MakePlan(question, self._named(dataset), *_earlier(history)))

    def _editing(
        self, plan: PlanLike, remove: str, language: str, dataset: str | None, change: Change | None
    ) -> wire.EditPlan:
        return self._checked(wire.EditPlan(plan_of(plan), remove, self._named(dataset), language, change))

    def _choosing(
        self, plan: PlanLike, path: str, what: What, text: str, limit: int, language: str, dataset: str | None
    ) -> wire.GetChoices:
        named = self._named(dataset)
        return self._checked(wire.GetChoices(plan_of(plan), path, what, text, limit, named, language))

    def _marking(self, plan: PlanLike, language: str, dataset: str | None) -> wire.GetMarks:
        return self._checked(wire.GetMarks(plan_of(plan), self._named(dataset), language))

    def _paging(
        self, plan: PlanLike, offset: int, limit: int | None, sort: Sort, descending: bool, language: str,
        dataset: str | None, reason: str = "",
    ) -> wire.GetSet:  # fmt: skip
        asked = wire.GetSet(
            plan_of(plan), self._named(dataset), offset, limit, sort, descending, language, reason, not reason
        )
        return self._checked(asked)

    def _faceting(
        self, plan: PlanLike, keys: Sequence[str], language: str, dataset: str | None
    ) -> wire.GetFacets:
        return self._checked(wire.GetFacets(plan_of(plan), self._named(dataset), language, tuple(keys)))

    def _exporting(
        self, plan: PlanLike, format: str, question: str, language: str, reason: str, sort: Sort, descending: bool,
        inline: bool, dataset: str | None,
    ) -> wire.GetExport:  # fmt: skip
        named = self._named(dataset)
        return self._checked(
            wire.GetExport(plan_of(plan), format, named, question, language, reason, sort, descending, inline)
        )

    def _named(self, dataset: str | None) -> str | None:
        return dataset or self._dataset

    def _checked(self, request: Q) -> Q:
        """The request, its values checked as the service checks them; CrmRagError once the client is closed."""
        if self._closed:
            raise CrmRagError("This client is closed.", "Open another one.")
        return wire.read_request(type(request), to_plain(request))


def _earlier(history: History) -> tuple[tuple[str, ...], dict[str, Any]]:
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


def _iri(one: str | Identified) -> str:
    iri = one if isinstance(one, str) else getattr(one, "iri", None)
    if not isinstance(iri, str):
        raise QuestionError(f"{one!r:.40} is no entity.", "Give an IRI, or a result that has one.")
    return iri
