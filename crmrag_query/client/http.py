"""A service over HTTP by httpx: the only module of the client that touches the network."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import httpx

from crmrag_query.client import wire
from crmrag_query.client.events import Event
from crmrag_query.client.exchange import REDIRECTS, Call, EventIntake, Intake, Service
from crmrag_query.client.wire import Route
from crmrag_query.errors import ServiceError

Q = TypeVar("Q")
T = TypeVar("T")

FAULTS = (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ssl.SSLError, OSError)


class HttpTransport:
    """Sends requests to a service; safe for threads."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._client = httpx.Client(**_settings(service))

    def send(self, route: Route[Q, T], request: Q) -> T:
        intake = Intake(self._service)
        try:
            response = self._open(self._service.call(route, request))
            try:
                for piece in response.iter_bytes():
                    intake.take(piece)
            finally:
                response.close()
        except FAULTS as error:
            raise fault_of(self._service, error) from error
        return self._service.result(route, response.status_code, _kind(response), intake.body)

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        try:
            response = self._open(self._service.call(wire.ASK, request, wire.EVENTS))
            try:
                if response.status_code != 200:
                    raise self._service.failure(
                        response.status_code, _kind(response), self._short_body(response)
                    )
                self._service.check_kind(_kind(response), wire.EVENTS)
                events = EventIntake(self._service)
                for piece in response.iter_bytes():
                    yield from events.take(piece)
                    if events.finished:
                        return
            finally:
                response.close()
        except FAULTS as error:
            raise fault_of(self._service, error) from error
        raise self._service.broken_off("the stream ended before its end was told")

    def _short_body(self, response: httpx.Response) -> bytes:
        intake = Intake(self._service)
        for piece in response.iter_bytes():
            intake.take(piece)
        return intake.body

    def _open(self, call: Call) -> httpx.Response:
        """The response, its body unread, after redirects on the same host."""
        for _ in range(self._service.limits.redirects + 1):
            response = self._client.send(_request(self._client, call), stream=True)
            if response.status_code not in REDIRECTS:
                return response
            response.close()
            call = self._service.redirected(call, response.status_code, response.headers.get("location", ""))
        raise self._service.too_many_redirects()

    def close(self) -> None:
        self._client.close()


class AsyncHttpTransport:
    """The same without blocking."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._client = httpx.AsyncClient(**_settings(service))

    async def send(self, route: Route[Q, T], request: Q) -> T:
        intake = Intake(self._service)
        try:
            response = await self._open(self._service.call(route, request))
            try:
                async for piece in response.aiter_bytes():
                    intake.take(piece)
            finally:
                await response.aclose()
        except FAULTS as error:
            raise fault_of(self._service, error) from error
        return self._service.result(route, response.status_code, _kind(response), intake.body)

    async def stream(self, request: wire.Ask) -> AsyncIterator[Event]:
        try:
            response = await self._open(self._service.call(wire.ASK, request, wire.EVENTS))
            try:
                if response.status_code != 200:
                    raise self._service.failure(
                        response.status_code, _kind(response), await self._short_body(response)
                    )
                self._service.check_kind(_kind(response), wire.EVENTS)
                events = EventIntake(self._service)
                async for piece in response.aiter_bytes():
                    for event in events.take(piece):
                        yield event
                    if events.finished:
                        return
            finally:
                await response.aclose()
        except FAULTS as error:
            raise fault_of(self._service, error) from error
        raise self._service.broken_off("the stream ended before its end was told")

    async def _short_body(self, response: httpx.Response) -> bytes:
        intake = Intake(self._service)
        async for piece in response.aiter_bytes():
            intake.take(piece)
        return intake.body

    async def _open(self, call: Call) -> httpx.Response:
        for _ in range(self._service.limits.redirects + 1):
            response = await self._client.send(_request(self._client, call), stream=True)
            if response.status_code not in REDIRECTS:
                return response
            await response.aclose()
            call = self._service.redirected(call, response.status_code, response.headers.get("location", ""))
        raise self._service.too_many_redirects()

    async def close(self) -> None:
        await self._client.aclose()


def fault_of(service: Service, error: Exception) -> ServiceError:
    """What httpx raised as a ServiceError with its remedy."""
    timeout = service.timeout
    if isinstance(error, httpx.ConnectTimeout):
        return service.too_slow(f"gave no connection within {timeout.connect:g} seconds")
    if isinstance(error, httpx.ReadTimeout):
        return service.too_slow(f"was silent for {timeout.read:g} seconds")
    if isinstance(error, httpx.TimeoutException):
        return service.too_slow(f"did not take the request in time ({type(error).__name__})")
    if isinstance(error, httpx.ConnectError | httpx.UnsupportedProtocol | httpx.InvalidURL):
        return service.unreachable(str(error) or type(error).__name__)
    return service.broken_off(str(error) or type(error).__name__)


def _settings(service: Service) -> dict[str, Any]:
    timeout, limits = service.timeout, service.limits
    return {
        "timeout": httpx.Timeout(
            connect=timeout.connect, read=timeout.read, write=timeout.write, pool=timeout.total
        ),
        "limits": httpx.Limits(max_connections=limits.connections),
        "follow_redirects": False,
    }


def _request(client: httpx.Client | httpx.AsyncClient, call: Call) -> httpx.Request:
    return client.build_request(call.method, call.url, headers=dict(call.headers), content=call.content)


def _kind(response: httpx.Response) -> str:
    return str(response.headers.get("content-type", ""))
