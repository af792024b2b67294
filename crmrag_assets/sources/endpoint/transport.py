"""One request to an endpoint and its response: SPARQLWrapper's protocol, bounded in time and size, redirects in our hands."""

from __future__ import annotations

import http.client
import ssl
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from io import BytesIO
from math import isfinite
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    HTTPRedirectHandler,
    OpenerDirector,
    Request,
    build_opener,
)

import pyoxigraph as ox
from SPARQLWrapper import BASIC, POST, SELECT, SPARQLWrapper
from SPARQLWrapper import JSON as WRAPPER_JSON
from SPARQLWrapper import TSV as WRAPPER_TSV

from crmrag_assets.harvest.report import shortened
from crmrag_assets.sources.endpoint.results import TSV

PORTION = 1 << 16  # bytes read at once
HOPS = 5  # redirects followed for one request
PACKED = ("gzip", "x-gzip", "deflate")
EXCERPT = 2000  # bytes read of an error's body
REDIRECTIONS = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class Credentials:
    """What signs a request; never printed."""

    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    digest: bool = False
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Response:
    """A response with status 2xx: where it came from in the end, its headers (lower case) and its uncompressed body."""

    url: str
    content_type: str
    headers: Mapping[str, str]
    body: bytes
    transferred: int


class Failure(Exception):
    """A request that brought no response; ``code`` is the HTTP status or 0, ``wait`` what a Retry-After asks for (seconds).

    ``certificate``: the server's certificate was not accepted. ``unreachable``: no connection came about.
    """

    def __init__(
        self,
        reason: str,
        code: int = 0,
        wait: float | None = None,
        *,
        certificate: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason, self.code, self.wait = reason, code, wait
        self.certificate, self.unreachable = certificate, unreachable


@dataclass(frozen=True)
class Limits:
    """Seconds for a whole response, and bytes of its uncompressed body."""

    seconds: float
    bytes: int


def send(
    address: str,
    query: str,
    format: ox.QueryResultsFormat,
    agent: str,
    credentials: Credentials,
    limits: Limits,
    default_graphs: Sequence[str] = (),
) -> Response:
    """POST the query, following redirects with the query; raises Failure.

    ``default_graphs``: graphs whose union is the default graph for this query; none for the endpoint's own.
    Credentials stay with the host that they were given for, and are not sent on over a lesser scheme.
    """
    url, deadline = address, time.monotonic() + limits.seconds
    for _ in range(HOPS + 1):
        own = credentials if _same_host(address, url) else Credentials()
        try:
            return _once(_wrapper(url, query, format, agent, own, default_graphs), limits, deadline)
        except _Redirected as moved:
            url = _target(url, str(moved))
    raise Failure(f"it redirects more than {HOPS} times, lastly to {shortened(url)}")


def _target(url: str, location: str) -> str:
    """Where a redirection leads; raises Failure for what is no address of the web."""
    try:
        target = urljoin(url, location)
        if urlsplit(target).scheme in ("http", "https"):
            return target
    except ValueError:
        pass
    raise Failure(f"it redirects to {shortened(location)}") from None


def _same_host(address: str, url: str) -> bool:
    """Whether a redirection stays with the host; from http to https of the same name it does."""
    first, second = urlsplit(address), urlsplit(url)
    if first.scheme == second.scheme:
        return first.netloc == second.netloc
    return second.scheme == "https" and first.hostname == second.hostname


class _Redirected(Exception):
    """To the location that it holds."""


class _NoRedirects(HTTPRedirectHandler):
    """urllib would repeat a POST as a GET without its query, and hand credentials on to whatever host is named."""

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> None:
        """Leave it to the handler of all other errors."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Digest(HTTPDigestAuthHandler):
    """urllib's, which raises ValueError for a challenge or a password that it cannot use, and leaves responses open."""

    def http_error_401(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        try:
            answer = super().http_error_401(req, fp, code, msg, headers)
        except HTTPError:
            fp.close()
            raise
        except ValueError as error:
            fp.close()
            ascii = "a password beyond ASCII" if isinstance(error, UnicodeError) else "what it asks for"
            raise Failure(f"no way to sign in: digest does not go with {ascii}", 401) from None
        if answer is not None:
            fp.close()
        return answer


class _Wrapper(SPARQLWrapper):
    """SPARQLWrapper with an opener of its own: the library's is global."""

    opener: OpenerDirector
    seconds: float

    def _parseQueryType(self, query: str) -> str:
        """SELECT, or ValueError; the library's patterns take 23 ms for a query that names a thousand IRIs."""
        if not query.startswith("SELECT "):
            raise ValueError("only SELECT is ever sent to an endpoint")
        return str(SELECT)

    def _query(self) -> tuple[http.client.HTTPResponse, str]:
        return self.opener.open(self._createRequest(), timeout=self.seconds), self.returnFormat


def _wrapper(
    url: str,
    query: str,
    format: ox.QueryResultsFormat,
    agent: str,
    credentials: Credentials,
    default_graphs: Sequence[str],
) -> _Wrapper:
    wrapper = _Wrapper(url, returnFormat=WRAPPER_TSV if format is TSV else WRAPPER_JSON, agent=agent)
    wrapper.setOnlyConneg(True)
    wrapper.setMethod(POST)
    wrapper.setQuery(query)
    for graph in default_graphs:
        wrapper.addDefaultGraph(graph)
    wrapper.addCustomHttpHeader("Accept-Encoding", "gzip")
    for name, value in credentials.headers.items():
        wrapper.addCustomHttpHeader(name, value)
    handlers: list[Any] = [_NoRedirects()]
    if credentials.user and credentials.digest:
        passwords = HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, url, credentials.user, credentials.password)
        handlers.append(_Digest(passwords))
    elif credentials.user:
        wrapper.setHTTPAuth(BASIC)
        wrapper.setCredentials(credentials.user, credentials.password)
    wrapper.opener = build_opener(*handlers)
    return wrapper


def _once(wrapper: _Wrapper, limits: Limits, deadline: float) -> Response:
    wrapper.seconds = max(deadline - time.monotonic(), 0.001)
    try:
        with wrapper.query().response as response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            body, transferred = _body(response, headers.get("content-encoding", ""), limits.bytes, deadline)
    except HTTPError as error:
        with error:
            raise _of_status(error) from None
    except ValueError:  # it tells what it could not put into a header
        raise Failure("no way to sign in: a header cannot hold what signs in", 401) from None
    except (OSError, http.client.HTTPException, zlib.error) as error:
        raise _of_connection(error, limits) from error
    if "s1tat" in headers.get("x-sql-state", "").lower():
        raise Failure("it ran out of its own time and gave a part of the result (X-SQL-State: S1TAT)")
    content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    return Response(wrapper.endpoint, content_type, headers, body, transferred)


def _body(response: http.client.HTTPResponse, encoding: str, most: int, deadline: float) -> tuple[bytes, int]:
    """The uncompressed body and the bytes it was transferred in; bounded while it is read."""
    packed = _Packed() if encoding.lower() in PACKED else None
    if packed is None and encoding.lower() not in ("", "identity"):
        raise Failure(f"it answers in an encoding that was not asked for ({encoding})")
    body, transferred = BytesIO(), 0
    while part := response.read1(PORTION):
        transferred += len(part)
        for plain in packed.unpacked(part) if packed else (part,):
            body.write(plain)
            if body.tell() > most:
                raise Failure(f"its response has more than {most:,} bytes", code=413)
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    if response.length:  # read1 does not tell of a connection that was closed early
        raise http.client.IncompleteRead(b"", response.length)
    if packed is not None and not packed.whole:
        raise zlib.error("the compressed body is cut off")
    return body.getvalue(), transferred


class _Packed:
    """A compressed body, unpacked part by part; one of gzip may have several members, one after another (RFC 1952)."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    @property
    def whole(self) -> bool:
        return self._member.eof

    def unpacked(self, part: bytes) -> Iterator[bytes]:
        """What the next part holds, a portion at a time: it may be a thousand times as long."""
        while part:
            if self._member.eof:
                self._member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
            yield self._member.decompress(part, PORTION)
            part = self._member.unused_data if self._member.eof else self._member.unconsumed_tail


def _of_status(error: HTTPError) -> Exception:
    location = error.headers.get("Location")
    if error.code in REDIRECTIONS and location:
        return _Redirected(location)
    try:
        body = error.read(EXCERPT) if error.fp is not None else b""
        body = body.encode() if isinstance(body, str) else body  # urllib's own errors, up to Python 3.11.2
        packed = error.headers.get("Content-Encoding", "").lower() in PACKED
        text = (next(_Packed().unpacked(body), b"")[:EXCERPT] if packed else body).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException, zlib.error):
        text = ""
    message = "" if "<html" in text.lower() else shortened(" ".join(text.split()))
    reason = f"status {error.code} {error.reason}".rstrip() + (f": {message}" if message else "")
    return Failure(reason, error.code, _seconds(error.headers.get("Retry-After")))


def _seconds(retry_after: str | None) -> float | None:
    """Seconds that a Retry-After asks for, as a number or as a date; None for none or nonsense."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
        return max(0.0, seconds) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _of_connection(error: Exception, limits: Limits) -> Failure:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Failure(f"its certificate is not accepted: {cause.verify_message}", certificate=True)
    if isinstance(cause, TimeoutError):
        return Failure(f"no whole response within {limits.seconds:g} s")
    if isinstance(cause, http.client.IncompleteRead | zlib.error):
        return Failure(f"its response is cut off or damaged ({cause})")
    if isinstance(cause, ssl.SSLError):
        return Failure(
            f"no secure connection ({cause.reason or cause}); perhaps it is http:// there", unreachable=True
        )
    refused = isinstance(error, URLError) and not isinstance(cause, ConnectionResetError)
    return Failure(f"no connection ({cause or type(cause).__name__})", unreachable=refused)
