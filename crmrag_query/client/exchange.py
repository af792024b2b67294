"""An HTTP exchange with a service, without doing it: requests, redirects, what a response means, and its bounds."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit, urlunsplit

from crmrag_query.answers.records import Done, Event
from crmrag_query.client import wire
from crmrag_query.client.wire import Parser, Q, Route, T
from crmrag_query.codec import Malformed, from_plain, from_problem, parse_json
from crmrag_query.errors import CrmRagError, ServiceError
from crmrag_query.version import __version__

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class Timeout:
    """Seconds; None waits for ever.

    ``connect``: until there is a connection; ``read``: between two pieces of an answer, so it must outlast the silence of a
    language model that thinks; ``write``: until a piece of the request is sent; ``total``: for a whole answer.
    """

    connect: float | None = 5.0
    read: float | None = 120.0
    write: float | None = 30.0
    total: float | None = 300.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds against a service that misbehaves, and connections kept.

    ``body_bytes``: of an answer, unpacked; of a stream, of each of its events; ``redirects``: followed on the same host.
    """

    body_bytes: int = 64 * MEBIBYTE
    connections: int = 20
    redirects: int = 3


# redirects that keep method and body; the others are followed for GET only (RFC 9110, 15.4)
KEEPING = (307, 308)
REDIRECTS = (301, 302, 303, *KEEPING)
PORTS = {"http": 80, "https": 443}


REMEDIES = {
    401: "It wants a key, or another one: api_key=...",
    403: "It wants a key, or another one: api_key=...",
    404: "Is it the address of a CRM-RAG service (crmrag serve)?",
    413: "The request is too large: ask a shorter question.",
    429: "It takes no more requests for now: wait a little.",
}
"""What to do about a status that comes without a problem document."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request to be sent; ``content`` None for a GET."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None


@dataclass(frozen=True)
class Service:
    """A service by its address: makes requests of it and reads its responses. Holds a key, which ``repr`` does not show."""

    address: str
    key: str | None = field(default=None, repr=False)
    timeout: Timeout = field(default_factory=Timeout)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.address)
            valid = parts.scheme in PORTS and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        except ValueError:
            valid = False
        if not valid or not self.address.isprintable() or " " in self.address or "@" in parts.netloc:
            raise ServiceError(
                "This is no address of a service.",
                "Give one such as http://localhost:8000, without a user's name; a key goes in api_key.",
            )
        if self.key is not None and not (self.key.isascii() and self.key.isprintable()):
            raise ServiceError("The API key holds characters that no header may hold.", "Copy it again.")
        root = parts.path.rstrip("/").removesuffix(wire.PREFIX)
        object.__setattr__(self, "address", urlunsplit((parts.scheme, parts.netloc, root, "", "")))

    def call(self, route: Route[Q, T], request: Any, accept: str = wire.JSON) -> Call:
        """The request of a route."""
        headers = {"Accept": f"{accept}, {wire.PROBLEM}", "User-Agent": f"crmrag/{__version__}"}
        if self.key is not None:
            headers["Authorization"] = f"Bearer {self.key}"
        url = self.address + wire.PREFIX + route.path
        if route.method == "GET":
            query = urlencode(wire.parameters_of(request))
            return Call("GET", f"{url}?{query}" if query else url, headers)
        content = wire.body_of(request).encode()
        return Call(route.method, url, headers | {"Content-Type": wire.JSON}, content)

    def redirected(self, call: Call, status: int, location: str) -> Call:
        """The request to send where a redirect leads; ServiceError where it leaves the host or would change the request."""
        try:
            target = urljoin(call.url, location)
            here, there = urlsplit(call.url), urlsplit(target)
            own_host = here.hostname == there.hostname and "@" not in there.netloc
            upgraded = own_host and (here.scheme, there.scheme) == ("http", "https")
            ports = [parts.port or PORTS.get(parts.scheme) for parts in (here, there)]
            same = own_host and here.scheme == there.scheme and ports[0] == ports[1]
        except ValueError:
            same = upgraded = False
        if not location or not (same or upgraded):
            raise ServiceError(
                f"The service at {self.address} redirects elsewhere ({location[:200] or 'nowhere'}).",
                "Where you trust that address, give it to the client.",
            )
        if call.method != "GET" and status not in KEEPING:
            raise ServiceError(
                f"The service at {self.address} redirects with {status}, which loses the question.",
                f"Give the client the address that it redirects to: {target[:200]}",
            )
        return Call(call.method, target, call.headers, call.content)

    def result(self, route: Route[Q, T], status: int, kind: str, body: bytes) -> T:
        """The record of a response; raises the error that it tells, or ServiceError."""
        if status != 200:
            raise self.failure(status, kind, body)
        self.check_kind(kind, wire.JSON)
        try:
            return from_plain(route.result, parse_json(body))
        except Malformed as error:
            raise self.unexpected(error) from error

    def check_kind(self, kind: str, wanted: str) -> None:
        """ServiceError unless the content type is the one wanted."""
        if media_type(kind) != wanted:
            raise ServiceError(
                f"{self.address} answered with {media_type(kind) or 'no content type'} in place of {wanted}.",
                "Is it the address of a CRM-RAG service (crmrag serve)?",
            )

    def failure(self, status: int, kind: str, body: bytes) -> CrmRagError:
        """The error that a response with another status than 200 tells."""
        if media_type(kind) in (wire.PROBLEM, wire.JSON):
            try:
                return from_problem(parse_json(body), status)
            except Malformed:
                pass
        remedy = REMEDIES.get(status, "Ask again in a moment; if it goes on, ask those who run it.")
        return ServiceError(f"The service at {self.address} answered with status {status}.", remedy)

    def unexpected(self, error: Malformed) -> ServiceError:
        """An answer that cannot be read."""
        return ServiceError(
            f"The answer of the service at {self.address} cannot be read: {error}.",
            "Client and service may be of different versions: upgrade crmrag on both.",
        )

    def too_large(self) -> ServiceError:
        return ServiceError(
            f"The answer of the service at {self.address} has more than {self.limits.body_bytes:,} bytes.",
            "Ask for less, or raise the bound: limits=Limits(body_bytes=...).",
        )

    def too_slow(self, what: str) -> ServiceError:
        return ServiceError(
            f"The service at {self.address} {what}.", "Ask again, or wait longer: timeout=Timeout(...)."
        )

    def unreachable(self, why: str) -> ServiceError:
        return ServiceError(
            f"The service at {self.address} cannot be reached ({why[:200]}).",
            "Check the address, and that it runs.",
        )

    def broken_off(self, why: str = "") -> ServiceError:
        more = f" ({why[:200]})" if why else ""
        return ServiceError(
            f"The service at {self.address} broke off its answer{more}.", "Ask again; see the service's log."
        )

    def too_many_redirects(self) -> ServiceError:
        return ServiceError(f"The service at {self.address} redirects without end.", "Check its address.")


class Intake:
    """Takes a response's pieces: bounds their bytes and the time that the whole may take."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._begun = time.monotonic()
        self._pieces: list[bytes] = []
        self._bytes = 0

    def check_time(self) -> None:
        """ServiceError when the answer takes longer than ``Timeout.total``."""
        total = self._service.timeout.total
        if total is not None and time.monotonic() - self._begun > total:
            raise self._service.too_slow(f"did not answer within {total:g} seconds")

    def take(self, piece: bytes) -> None:
        self.check_time()
        self._bytes += len(piece)
        if self._bytes > self._service.limits.body_bytes:
            raise self._service.too_large()
        self._pieces.append(piece)

    @property
    def body(self) -> bytes:
        return b"".join(self._pieces)


class EventIntake:
    """Takes a stream's pieces and gives its events; after ``Done`` it is ``finished``."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._parser = Parser(service.limits.body_bytes)
        self._clock = Intake(service)
        self.finished = False

    def take(self, piece: bytes) -> Iterator[Event]:
        """The events that the piece completes; raises the error that the stream tells, or ServiceError."""
        self._clock.check_time()
        try:
            for message in self._parser.feed(piece):
                event = wire.read_event(message)
                if event is not None:
                    yield event
                if isinstance(event, Done):
                    self.finished = True
                    return
        except Malformed as error:
            raise self._service.unexpected(error) from error


def media_type(kind: str) -> str:
    """A content type without its parameters, in small letters."""
    return kind.partition(";")[0].strip().lower()
