"""What operators see: a line of JSON for each request and each answer, and Prometheus metrics. No secret is ever in them."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client import multiprocess as shared
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crmrag_query import timing
from crmrag_query.answers.records import WARN_BELOW, Answer, Done, Event, Used
from crmrag_query.client import wire
from crmrag_query.codec import Problem, to_problem
from crmrag_query.errors import CrmRagError
from crmrag_query.service.responses import LEFT, problem
from crmrag_query.service.store import new_id
from crmrag_query.timing import TALLIES

LOG = logging.getLogger("crmrag.service")
QUALITIES = tuple(number / 10 for number in range(1, 11))
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # set where several workers share their metrics
UNMATCHED = "(other)"
METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"})
SEE_LOG = "The service's log has the details under the request"


class Observer:
    """Counts and logs; one for an application."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        counter = partial(Counter, registry=self._registry)
        histogram = partial(Histogram, registry=self._registry)
        self.requests = counter("crmrag_requests", "Requests", ["method", "path", "status"])
        self.seconds = histogram(
            "crmrag_request_seconds", "Seconds until a response's end", ["path"], buckets=SECONDS
        )
        self.stages = histogram(
            "crmrag_stage_seconds", "Seconds of a stage of answering", ["dataset", "stage"], buckets=SECONDS
        )
        self.answers = counter("crmrag_answers", "Answers", ["dataset", "mode", "form", "written_by"])
        self.modes = histogram(
            "crmrag_answer_seconds", "Seconds until an answer was whole", ["mode"], buckets=SECONDS
        )
        self.quality = histogram("crmrag_quality", "Quality of answers", ["mode"], buckets=QUALITIES)
        self.feedback = counter("crmrag_feedback", "What people think of answers", ["mode", "verdict"])
        self.tokens = counter("crmrag_tokens", "Tokens of language models", ["model", "kind"])
        self.caches = counter(
            "crmrag_cache_lookups", "Look-ups of what is kept for a while", ["cache", "outcome"]
        )
        self._counted: dict[tuple[str, str], int] = _lookups()
        self.cost = counter("crmrag_cost_dollars", "Price of language models", ["model"])

    def watched(self, events: Iterable[Event], asked: wire.Ask) -> Iterator[Event]:
        """The events of an answer, counted and logged when it ends."""
        used: Used | None = None
        start = time.perf_counter()
        with timing.span("question") as span:
            try:
                for event in events:
                    if isinstance(event, Used):
                        used = event
                    if isinstance(event, Done):
                        self._answered(event.answer, used, time.perf_counter() - start)
                        span.set_attributes(_attributes(event.answer))
                    yield event
            except CrmRagError as error:
                if to_problem(error).status >= 500:  # what is told to who asked may be less than the whole
                    log(
                        "failure", {"dataset": asked.dataset, "question": asked.question, "error": str(error)}
                    )
                raise

    def metrics(self) -> Response:
        """All metrics, those of every worker where they are shared."""
        registry = self._registry
        if os.environ.get(SHARED):
            registry = CollectorRegistry()
            shared.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return Response(generate_latest(registry), headers={"Content-Type": CONTENT_TYPE_LATEST})

    def _answered(self, answer: Answer, used: Used | None, seconds: float) -> None:
        for stage, milliseconds in answer.timings.items():
            self.stages.labels(answer.dataset, stage).observe(milliseconds / 1000)
        self.answers.labels(answer.dataset, answer.mode, answer.form, answer.written_by).inc()
        self.modes.labels(answer.mode).observe(seconds)
        if answer.quality is not None:
            self.quality.labels(answer.mode).observe(answer.quality.score)
        if used is not None:
            self.tokens.labels(used.model, "prompt").inc(used.prompt_tokens)
            self.tokens.labels(used.model, "completion").inc(used.completion_tokens)
            self.cost.labels(used.model).inc(used.cost or 0.0)
        for (cache, outcome), count in (now := _lookups()).items():
            self.caches.labels(cache, outcome).inc(count - self._counted.get((cache, outcome), 0))
        self._counted = now
        told = _told(answer, used) | {"ms": round(seconds * 1000, 1)}
        log("answer", told, logging.WARNING if told["low"] else logging.INFO)


def _lookups() -> dict[tuple[str, str], int]:
    """How often what is kept was asked for in this process, by what it is and whether it was there."""
    return {
        (name, outcome): count
        for name, tally in TALLIES.items()
        for outcome, count in (("hit", tally.hits), ("miss", tally.misses))
    }


def _attributes(answer: Answer) -> dict[str, str | int | bool]:
    """What a trace says of an answer; its question, which may be personal, stands in the log by the same id, and here where
    the environment says so."""
    told = _told(answer, None)
    names = [
        "answer",
        "dataset",
        "release",
        "mode",
        "form",
        "written_by",
        "exhaustive",
        "refused",
        "set_size",
    ]
    names += ["question"] if timing.tells_questions() else []
    return {f"crmrag.{name}": told[name] for name in names if told[name] is not None}


def _told(answer: Answer, used: Used | None) -> dict[str, Any]:
    """What the query log says of an answer."""
    return {
        "answer": answer.id,
        "dataset": answer.dataset,
        "release": answer.release,
        "question": answer.question,
        "mode": answer.mode,
        "form": answer.form,
        "written_by": answer.written_by,
        "exhaustive": answer.exhaustive,
        "refused": answer.refused,
        "documents": [source.iri for source in answer.sources],
        "scores": [source.score for source in answer.sources],
        "entities": [one.iri for source in answer.sources for one in source.entities],
        "communities": [source.iri for source in answer.sources if source.kind == "community"],
        "set_size": None if answer.set is None else answer.set.size,
        "quality": None if answer.quality is None else answer.quality.score,
        "low": answer.quality is not None and answer.quality.score < WARN_BELOW,
        "timings": dict(answer.timings),
        "tokens": None if used is None else used.prompt_tokens + used.completion_tokens,
        "cost": None if used is None else used.cost,
        "characters": len(answer.text),
        "unsupported": len(answer.unsupported),
        "notes": list(answer.notes),
    }


class Watch:
    """Gives each request an id, counts it, and logs it at its end; what fails in it unforeseen is a problem document to who
    asked and a traceback in the log."""

    def __init__(self, app: ASGIApp, observer: Observer) -> None:
        self._app, self._observer = app, observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request, start = new_id(), time.perf_counter()
        status, size = 0, 0

        async def watched(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", request.encode())]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        error = ""
        try:
            await self._app(scope, receive, watched)
        except Exception as found:
            error = type(found).__name__
            if status:
                raise
            LOG.exception("A request failed: %s", request)
            await problem(Problem(500, "The service failed.", "Failed", remedy=f"{SEE_LOG}: {request}."))(
                scope, receive, watched
            )
        finally:
            self._ended(scope, request, status or LEFT, time.perf_counter() - start, size, error)

    def _ended(self, scope: Scope, request: str, status: int, seconds: float, size: int, error: str) -> None:
        path = getattr(scope.get("route"), "path", None) or UNMATCHED
        method = scope["method"] if scope["method"] in METHODS else UNMATCHED
        self._observer.requests.labels(method, path, str(status)).inc()
        self._observer.seconds.labels(path).observe(seconds)
        failed = scope.get("state", {}).get("failed", "") or error
        told: dict[str, Any] = {"request": request, "method": method, "path": scope["path"]}
        told |= {"status": status, "ms": round(seconds * 1000, 1), "bytes": size}
        log("request", told | ({"error": failed} if failed else {}))


def log(event: str, values: Mapping[str, Any], level: int = logging.INFO) -> None:
    """A line of JSON."""
    LOG.log(level, event, extra={"told": values})


class JsonLines(logging.Formatter):
    """Every record, ours or a library's, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        values: Mapping[str, Any] | None = getattr(record, "told", None)
        line: dict[str, Any] = {"time": time, "event": "log" if values is None else record.msg}
        if values is None:
            line |= {"level": record.levelname, "logger": record.name, "message": record.getMessage().strip()}
            if record.exc_info:
                line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line | dict(values or {}), ensure_ascii=False, default=str)


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send the lines to standard error, and with them warnings and what uvicorn has to say; ``level`` is that of our own."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.captureWarnings(True)
    for name, least in ((LOG.name, level), ("py.warnings", logging.WARNING), ("uvicorn", logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(least)
