"""Starting the service, one process or several that share a port, on connections that wait only so long."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import threading
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.supervisors import Multiprocess

from crmrag_query.artifacts.mirror import shown_place
from crmrag_query.client.local import Library, open_engine
from crmrag_query.codec import from_plain, parse_json, to_json
from crmrag_query.config.service import load_service
from crmrag_query.errors import ConfigError, MissingExtraError, ServiceError
from crmrag_query.service.app import create_app
from crmrag_query.service.desk import Desk
from crmrag_query.service.guard import Access
from crmrag_query.service.observe import SHARED, log_to_stderr
from crmrag_query.service.store import Store
from crmrag_query.timing import tells_questions


@cache
def head_seconds() -> float:
    """As configured; read in each process, as worker processes are given no more of a connection than its class."""
    return load_service().connections.head_seconds


@cache
def write_seconds() -> float:
    """As configured."""
    return load_service().connections.write_seconds


class Patient(H11Protocol):
    """Closes a connection on which no whole head of a request comes in time, or on which nothing is taken for a while."""

    _late: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=0)  # so that it is told whenever something waits to be taken
        self._wait()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self._unwatch()
        super().resume_writing()

    def _watch(self, waiting: int) -> None:
        """Look after a while whether any of the ``waiting`` bytes were taken."""
        self._unwatch()
        self._stuck = self.loop.call_later(write_seconds(), self._look, waiting)

    def _look(self, waited: int) -> None:
        waiting = self.transport.get_write_buffer_size()
        if waiting < waited:
            self._watch(waiting)
        else:
            self.transport.abort()  # closing it would wait for its reader

    def _unwatch(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def data_received(self, data: bytes) -> None:
        if self._late is None:  # after a request, the next one
            self._wait()
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        self._unwatch()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._late = self.loop.call_later(head_seconds(), self.transport.close)

    def _stop(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


SETTINGS = "CRMRAG_SERVICE"  # in which the settings reach the worker processes
KEYS = "CRMRAG_API_KEYS"
UPLOAD_KEYS = "CRMRAG_UPLOAD_KEYS"  # of who may also send documents
WAITING = 2048  # connections that are not taken yet; the system's own bound (somaxconn) is what operators set
HEALTH = 30  # seconds in which a worker must show that it lives: longer than the longest work that lets no other thread in


@dataclass(frozen=True, slots=True)
class Settings:
    """What is served and how; ``state``: the folder where answers are kept, None for nowhere; ``address``: the one that is
    listened on, "" for one that others see to; ``trust``: hosts that releases may have questions sent to."""

    data: str
    dataset: str | None = None
    model: str | None = None
    api_base: str | None = None
    state: str | None = None
    quiet: bool = False
    address: str = ""
    trust: tuple[str, ...] = ()


def application(settings: Settings) -> FastAPI:
    """The application of these settings; raises the errors of data and configuration."""
    config = load_service()
    engine = open_engine(settings.data, settings.dataset, settings.model, settings.api_base, settings.trust)
    if settings.dataset is not None:
        engine.releases.release(settings.dataset)
    store = None if settings.state is None else Store(Path(settings.state), config.kept)
    return create_app(
        Desk(engine, config, store),
        Access.of(_keys(KEYS), _hosts(config.hosts, settings.address), _keys(UPLOAD_KEYS)),
    )


def worker() -> FastAPI:
    """The application in a process of uvicorn's."""
    settings = from_plain(Settings, parse_json(os.environ[SETTINGS]))
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    send_traces()
    log_to_stderr(logging.WARNING if settings.quiet else logging.INFO)
    return application(settings)


ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Variables of OpenTelemetry's specification that say where traces are sent, by HTTP with protobuf."""
NAME = "OTEL_SERVICE_NAME"
QUERY = "url.query"


def send_traces() -> None:
    """Have this process send its traces where the environment says, if it does. Raises MissingExtraError."""
    if not any(os.environ.get(name) for name in ENDPOINTS):
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"Sending traces ({ENDPOINTS[1]})", "traces", error.name or "") from error

    class WithoutQueries(SpanProcessor):
        """Empties the query strings that FastAPI keeps: questions stand in them."""

        def on_start(self, span: Any, parent_context: object = None) -> None:
            if QUERY in span.attributes:
                span.set_attribute(QUERY, "")

    provider = TracerProvider(resource=Resource.create({SERVICE_NAME: os.environ.get(NAME) or "crmrag"}))
    if not tells_questions():
        provider.add_span_processor(WithoutQueries())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)


def _end_with_parent() -> None:
    """End this process once the one that started it is gone: killed, that one could not say so, and the port stayed taken."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def run(settings: Settings, host: str, port: int, workers: int) -> None:
    """Serve until the process is told to end; ServiceError where the port is taken."""
    with closing(_socket(host, port)) as listening:
        address, shown = listening.getsockname(), f"[{host}]" if ":" in host else host
        settings = replace(settings, address=address[0])
        app = application(settings)  # what cannot be served is told here, once, and not by every worker
        click.echo(
            f"CRM-RAG serves {shown_place(Path(settings.data))} at http://{shown}:{address[1]} (Ctrl+C ends it)",
            err=True,
        )
        if not Library(Path(settings.data)).names():
            click.echo(
                "No data set is built yet; it is served as soon as it is: crmrag build DATASET.", err=True
            )
        log_to_stderr(logging.WARNING if settings.quiet else logging.INFO)
        if workers > 1:
            _run_several(settings, workers, listening)
        else:
            send_traces()
            uvicorn.Server(_config(app)).run([listening])


def _run_several(settings: Settings, workers: int, listening: socket.socket) -> None:
    """Worker processes that share a socket and, in a folder, their metrics; one that dies is replaced."""
    with tempfile.TemporaryDirectory(prefix="crmrag-metrics-", ignore_cleanup_errors=True) as folder:
        os.environ |= {SETTINGS: to_json(settings), SHARED: folder}
        Multiprocess(_config("crmrag_query.service.launch:worker", workers), [listening]).run()


def _config(app: FastAPI | str, workers: int = 1) -> uvicorn.Config:
    times = load_service().connections
    return uvicorn.Config(
        app, factory=isinstance(app, str), workers=workers, log_config=None, access_log=False,
        http=Patient, ws="none", timeout_graceful_shutdown=times.grace_seconds,
        timeout_keep_alive=times.idle_seconds, timeout_worker_healthcheck=HEALTH, server_header=False, proxy_headers=True,
    )  # fmt: skip


def _hosts(given: tuple[str, ...], address: str) -> tuple[str, ...] | None:
    """The hosts to answer for besides this machine's own; None for any."""
    if given or not address:
        return given or None
    return (f"[{address}]" if ":" in address else address,) if ip_address(address).is_loopback else None


def _socket(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(WAITING)  # who comes before the service is ready waits for it
    except OSError as error:
        listening.close()
        raise ServiceError(
            f"{host}:{port} cannot be listened on: {error.strerror}.",
            "Give another one: --port 8001, --host …",
        ) from error
    listening.set_inheritable(True)
    return listening


def _keys(variable: str) -> list[str]:
    keys = [key.strip() for key in os.environ.get(variable, "").split(",")]
    given = [key for key in keys if key]
    if any(not (key.isascii() and key.isprintable()) for key in given):
        raise ConfigError.single(variable, "", "a key holds characters that no header may hold")
    return given
