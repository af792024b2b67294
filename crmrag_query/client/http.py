"""A service over HTTP by httpx: the only module of the client that touches the network."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx

from crmrag_query.answers.records import Event
from crmrag_query.client import wire
from crmrag_query.client.exchange import REDIRECTS, Call, EventIntake, Intake, Service
from crmrag_query.client.wire import Q, Route, T


class HttpTransport:
    """Sends requests to a service; safe for threads."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._client = httpx.Client(**_settings(service))

    def handle(self, route: Route[Q, T], request: Q) -> T:
        with _faults(self._service), self._opened(self._service.call(route, request)) as response:
            return self._service.result(route, response.status_code, _kind(response), self._body(response))

    def stream(self, request: wire.Ask) -> Iterator[Event]:
        call = self._service.call(wire.ASK, request, wire.EVENTS)
        with _faults(self._service), self._opened(call) as response:
            if response.status_code != 200:
                raise self._service.failure(response.status_code, _kind(response), self._body(response))
            self._service.check_kind(_kind(response), wire.EVENTS)
            events = EventIntake(self._service)
            for piece in response.iter_bytes():
                yield from events.take(piece)
                if events.finished:
                    return
        raise self._service.broken_off("the stream ended before its end was told")

    def _body(self, response: httpx.Response) -> bytes:
        intake = Intake(self._service)
        for piece in response.iter_bytes():
            intake.take(piece)
        return intake.body

    @contextmanager
    def _opened(self, call: Call) -> Iterator[httpx.Response]:
        """The response, its body unread, after redirects on the same host."""
        for _ in range(self._service.limits.redirects + 1):
            response = self._client.send(_request(self._client, call), stream=True)
            try:
                if response.status_code not in REDIRECTS:
                    yield response
                    return
            finally:
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

    async def handle(self, route: Route[Q, T], request: Q) -> T:
        with _faults(self._service):
            async with self._opened(self._service.call(route, request)) as response:
                body = await self._body(response)
                return self._service.result(route, response.status_code, _kind(response), body)

    async def stream(self, request: wire.Ask) -> AsyncIterator[Event]:
        call = self._service.call(wire.ASK, request, wire.EVENTS)
        with _faults(self._service):
            async with self._opened(call) as response:
                if response.status_code != 200:
                    body = await self._body(response)
                    raise self._service.failure(response.status_code, _kind(response), body)
                self._service.check_kind(_kind(response), wire.EVENTS)
                events = EventIntake(self._service)
                async for piece in response.aiter_bytes():
                    for event in events.take(piece):
                        yield event
                    if events.finished:
                        return
        raise self._service.broken_off("the stream ended before its end was told")

    async def _body(self, response: httpx.Response) -> bytes:
        intake = Intake(self._service)
        async for piece in response.aiter_bytes():
            intake.take(piece)
        return intake.body

    @asynccontextmanager
    async def _opened(self, call: Call) -> AsyncIterator[httpx.Response]:
        for _ in range(self._service.limits.redirects + 1):
            response = await self._client.send(_request(self._client, call), stream=True)
            try:
                if response.status_code not in REDIRECTS:
                    yield response
                    return
            finally:
                await response.aclose()
            call = self._service.redirected(call, response.status_code, response.headers.get("location", ""))
        raise self._service.too_many_redirects()

    async def close(self) -> None:
        await self._client.aclose()


@contextmanager
def _faults(service: Service) -> Iterator[None]:
    """What httpx raises as a ServiceError with its remedy."""
    timeout = service.timeout
    try:
        yield
    except httpx.ConnectTimeout as error:
        raise service.too_slow(f"gave no connection within {timeout.connect:g} seconds") from error
    except httpx.ReadTimeout as error:
        raise service.too_slow(f"was silent for {timeout.read:g} seconds") from error
    except httpx.TimeoutException as error:
        raise service.too_slow(f"did not take the request in time ({type(error).__name__})") from error
    except (httpx.ConnectError, httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
        raise service.unreachable(str(error) or type(error).__name__) from error
    except (httpx.HTTPError, httpx.StreamError, ssl.SSLError, OSError) as error:
        raise service.broken_off(str(error) or type(error).__name__) from error


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
