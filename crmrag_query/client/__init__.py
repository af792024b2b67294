"""The query client: one interface over a folder of releases and over a service."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from crmrag_query.answers.records import (
    Answer,
    Cited,
    Done,
    Event,
    Evidence,
    Lineage,
    Planned,
    Restart,
    SetFound,
    Token,
    Used,
)
from crmrag_query.client.base import AsyncCalls, BaseClient, SyncCalls, Target, is_service
from crmrag_query.client.exchange import Limits, Service, Timeout
from crmrag_query.client.records import (
    Dataset,
    DatasetDetail,
    Datasets,
    Entity,
    Evaluations,
    Export,
    Found,
    Neighbours,
    PageCandidate,
    PageCandidates,
    PlanEdited,
    PlanFound,
    Ranking,
    ReleaseWarning,
    Unavailable,
)
from crmrag_query.errors import QuestionError
from crmrag_query.llm.model import Model
from crmrag_query.sets.records import AnswerSet, Change, Choices, Columns, Facets, Marks, Years

if TYPE_CHECKING:
    from crmrag_query.client.local import Engine

__all__ = [
    "Answer",
    "AnswerSet",
    "AsyncClient",
    "Change",
    "Choices",
    "Cited",
    "Client",
    "Columns",
    "Dataset",
    "DatasetDetail",
    "Datasets",
    "Done",
    "Entity",
    "Evaluations",
    "Event",
    "Evidence",
    "Export",
    "Facets",
    "Found",
    "Limits",
    "Lineage",
    "Marks",
    "Neighbours",
    "PageCandidate",
    "PageCandidates",
    "PlanEdited",
    "PlanFound",
    "Planned",
    "Ranking",
    "ReleaseWarning",
    "Restart",
    "SetFound",
    "Timeout",
    "Token",
    "Unavailable",
    "Used",
    "Years",
]


class Opening(BaseClient, ABC):
    """Opens its target: a folder, or a service."""

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
        if is_service(os.fspath(target)):
            if model is not None or api_base is not None or trust:
                raise QuestionError(
                    "A service answers with its own model, and opens its releases itself.",
                    "Leave out model, api_base and trust.",
                )
            service = Service(os.fspath(target), api_key, timeout or Timeout(), limits or Limits())
            self._target = service.address
            self._connect(service)
        else:
            from crmrag_query.client.local import open_engine

            self._target = os.fspath(target)
            self._connect(open_engine(self._target, dataset, model, api_base, trust))

    @abstractmethod
    def _connect(self, to: Service | Engine) -> None:
        """Make what answers the requests."""


class Client(Opening, SyncCalls):
    """Asks the data sets of a folder, or of a service, with the same typed results; safe for threads.

    ``target``: a data folder (with releases/ in it), the folder of a release, or the http(s) address of a service.
    ``dataset``: the one to ask where none is named; needed only where there are several. ``model``, ``api_base``: for a
    folder, the language model by its litellm name; None for extractive answers (a service has its own). ``trust``: for a
    folder, hosts that its releases may have questions sent to, to encode them. ``timeout``, ``limits``, ``api_key``: for a
    service.

    A client of a folder serves a new release from the next call on, without being opened again. Errors are those of
    ``crmrag_query.errors``, whichever the target.
    """

    def _connect(self, to: Service | Engine) -> None:
        if isinstance(to, Service):
            from crmrag_query.client.http import HttpTransport

            self._transport = HttpTransport(to)
        else:
            self._transport = to


class AsyncClient(Opening, AsyncCalls):
    """``Client`` without blocking: a folder is read in threads, a service by asynchronous requests. Its methods are those of
    ``Client``, which says what they do."""

    def _connect(self, to: Service | Engine) -> None:
        if isinstance(to, Service):
            from crmrag_query.client.http import AsyncHttpTransport

            self._transport = AsyncHttpTransport(to)
        else:
            from crmrag_query.client.local import AsyncLocalTransport

            self._transport = AsyncLocalTransport(to)
