"""CRM-RAG's query package: opens a release and answers questions from it. Imports neither Dagster nor PyTorch.

``from crmrag_query import Client``; everything is imported when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crmrag_query.version import __version__

if TYPE_CHECKING:
    from crmrag_query.client import (
        Answer,
        AnswerSet,
        AsyncClient,
        Change,
        Choices,
        Client,
        Dataset,
        Datasets,
        Done,
        Entity,
        Event,
        Evidence,
        Export,
        Facets,
        Found,
        Limits,
        Lineage,
        Marks,
        Neighbours,
        Planned,
        Ranking,
        ReleaseWarning,
        Restart,
        SetFound,
        Timeout,
        Token,
        Years,
    )

__all__ = [
    "Answer",
    "AnswerSet",
    "AsyncClient",
    "Change",
    "Choices",
    "Client",
    "Dataset",
    "Datasets",
    "Done",
    "Entity",
    "Event",
    "Evidence",
    "Export",
    "Facets",
    "Found",
    "Limits",
    "Lineage",
    "Marks",
    "Neighbours",
    "Planned",
    "Ranking",
    "ReleaseWarning",
    "Restart",
    "SetFound",
    "Timeout",
    "Token",
    "Years",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """The client and its records on demand (PEP 562)."""
    if name in __all__:
        from crmrag_query import client

        return getattr(client, name)
    raise AttributeError(f"module 'crmrag_query' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
