"""Traces by OpenTelemetry: spans of a question and of each stage of it. Without the extra ``traces``, or where nothing
collects them, spans are nothing and cost next to nothing.

FastAPI makes the spans of requests. Programs that use the client see the stages in the traces that they collect themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

try:
    from opentelemetry import trace

    _TRACER: Any = trace.get_tracer("crmrag")
except ModuleNotFoundError:
    _TRACER = None


QUESTIONS = "CRMRAG_TRACE_QUESTIONS"


def tells_questions() -> bool:
    """Whether questions, which may be personal, shall stand in traces: where the environment says so."""
    return bool(os.environ.get(QUESTIONS))


class _Untraced:
    """In place of a span."""

    def set_attributes(self, attributes: Mapping[str, Any]) -> None:
        pass


def span(name: str) -> AbstractContextManager[Any]:
    """A span around work in this thread, below which spans of its stages stand."""
    if _TRACER is None:
        return nullcontext(_Untraced())
    manager: AbstractContextManager[Any] = _TRACER.start_as_current_span(name)
    return manager


@contextmanager
def stage(name: str) -> Iterator[None]:
    """A span of a stage. Never the current one: what a stage yields to is not part of it."""
    if _TRACER is None:
        yield
        return
    started = _TRACER.start_span(name)
    try:
        yield
    finally:
        started.end()
