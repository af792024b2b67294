"""Which servers a build shares with others: its endpoint, by host, and its embedding API, by provider."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from crmrag_assets.build.reporting import current_reporter
from crmrag_assets.build.step import BuildContext
from crmrag_assets.build.turns import Turns, turns_at

GUESSED = "openai"  # litellm's provider of a model that is named without one
_TOLD: set[tuple[str, str, tuple[str, ...]]] = set()  # data set, server, and with whom it is shared


def endpoint_turns(context: BuildContext) -> Turns | None:
    """Where the data set's requests take turns at its endpoint; None of files."""
    if context.config.endpoint is None:
        return None
    host = urlsplit(context.config.endpoint.url).netloc.rpartition("@")[2].lower()
    return turns_at(context.data, host, context.operations.limits.endpoint_requests or sys.maxsize)


def api_turns(context: BuildContext) -> Turns | None:
    """Where the data set's requests take turns at its embedding API; None of a model of one's own."""
    embedding = context.config.embedding
    if embedding.provider != "litellm":
        return None
    provider, named, _ = embedding.model.partition("/")
    return turns_at(context.data, provider if named else GUESSED, context.operations.limits.api_requests)


@contextmanager
def reading_endpoint(context: BuildContext) -> Iterator[None]:
    """Within the block others see that the endpoint is read; the reporter is told once whom it is shared with."""
    turns, endpoint = endpoint_turns(context), context.config.endpoint
    most = endpoint.resolved(context.method.requests).parallel if endpoint else 0
    with _shared(context, turns and turns.at_most(most), "endpoint"):
        yield


@contextmanager
def asking_api(context: BuildContext) -> Iterator[None]:
    """Within the block others see that the embedding API is asked; the reporter is told once whom it is shared with."""
    with _shared(context, api_turns(context), "embedding API"):
        yield


@contextmanager
def _shared(context: BuildContext, turns: Turns | None, what: str) -> Iterator[None]:
    if turns is None:
        yield
        return
    with turns.reading(context.name) as others:
        known = (context.name, turns.server, others)
        if others and known not in _TOLD:
            _TOLD.add(known)
            current_reporter().told(
                f"The {what} {turns.server} is asked for {' and '.join(map(repr, others))} too: "
                f"they take turns, {turns.most} at once at most, so this takes longer than alone."
            )
        yield
