"""A request, its question and each stage of answering are spans of one trace, sent to a collector by OTLP."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from crmrag_query import Client, timing
from crmrag_query.service.app import send_traces
from tests.service.test_api import COUNTED
from tests.support.api_server import answering, send
from tests.support.service import PATIENCE, process, until

CALLER = "4bf92f3577b34da6a3ce929d0e0e4736"
STAGES = {"linking", "analysis", "encoding", "exact", "dense", "sparse", "evidence", "context", "answer"}


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Any]]]:
    """The address of a collector, and the spans that it was sent."""
    spans: list[Any] = []

    def collect(handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        assert handler.path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            named = {one.key: one.value.string_value for one in resource.resource.attributes}
            assert named["service.name"] == "museum"
            spans.extend(span for scope in resource.scope_spans for span in scope.spans)
        send(handler, 200, "application/x-protobuf", b"")

    with answering(collect, "HTTP/1.0") as address:
        yield address, spans


def test_a_question_over_http_is_a_trace_of_its_stages(
    data: Path, forked: Path, tmp_path: Path, collector: tuple[str, list[Any]]
) -> None:
    address, spans = collector
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_SERVICE_NAME": "museum",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
    }
    with process(data, "--state", str(tmp_path), forked=forked, **variables) as running:
        parent = {"traceparent": f"00-{CALLER}-00f067aa0ba902b7-01"}
        asked = {"question": COUNTED, "dataset": "sample"}
        answer = httpx.post(
            f"{running.address}/api/v1/ask", json=asked, headers=parent, timeout=PATIENCE
        ).json()
        until(
            lambda: [span for span in spans if span.trace_id.hex() == CALLER and span.name.startswith("POST")]
        )
    found = [span for span in spans if span.trace_id.hex() == CALLER]
    (request,) = (span for span in found if span.name == "POST /api/v1/ask")
    (question,) = (span for span in found if span.name == "question")
    assert request.parent_span_id.hex() == "00f067aa0ba902b7"
    above = {span.span_id: span.parent_span_id for span in found}
    assert above[question.parent_span_id] == request.span_id, "below what FastAPI calls its endpoint"
    stages = {span.name for span in found if span.parent_span_id == question.span_id}
    assert STAGES <= stages == set(answer["timings"]) - {"retrieval", "total"}
    told = {one.key: one.value for one in question.attributes}
    assert told["crmrag.answer"].string_value == answer["id"] and told["crmrag.set_size"].int_value == 4


@pytest.mark.parametrize("asked_for", [False, True])
def test_questions_and_searched_texts_stand_in_traces_only_where_that_is_asked_for(
    data: Path, forked: Path, tmp_path: Path, collector: tuple[str, list[Any]], asked_for: bool
) -> None:
    address, spans = collector
    variables = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": address,
        "OTEL_SERVICE_NAME": "museum",
        "OTEL_BSP_SCHEDULE_DELAY": "100",
        "CRMRAG_TRACE_QUESTIONS": "1" if asked_for else "",
    }
    with process(data, "--state", str(tmp_path), forked=forked, **variables) as running:
        told = httpx.get(
            f"{running.address}/api/v1/search",
            params={"text": "Magistros", "dataset": "sample"},
            timeout=PATIENCE,
        )
        assert told.status_code == 200, told.text
        httpx.post(
            f"{running.address}/api/v1/ask", json={"question": COUNTED, "dataset": "sample"}, timeout=PATIENCE
        )
        until(lambda: {"GET /api/v1/search", "question"} <= {span.name for span in spans})
    for text in ("Magistros", COUNTED):
        assert any(text in str(span) for span in spans) == asked_for


def test_a_program_sees_the_stages_in_its_own_trace_and_no_stage_stays_behind(
    local: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr(timing, "_TRACER", provider.get_tracer("crmrag"))
    with timing.span("mine") as own:
        for _ in local.stream(COUNTED):
            with timing.span("between"):
                pass
    spans = kept.get_finished_spans()
    assert {span.name for span in spans} >= STAGES
    assert {span.parent and span.parent.span_id for span in spans} == {own.get_span_context().span_id, None}


def test_without_the_extra_nothing_is_traced_and_everything_is_answered(
    local: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(timing, "_TRACER", None)
    assert local.ask(COUNTED).set is not None
    with timing.span("question") as span:
        span.set_attributes({"a": 1})


def test_where_nothing_is_to_be_sent_nothing_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    from opentelemetry import trace

    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    send_traces()
    assert not isinstance(trace.get_tracer_provider(), TracerProvider)
