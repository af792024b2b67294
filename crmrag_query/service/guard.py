"""What stands before every endpoint: safe headers, bounded bodies, keys, rates. Pure ASGI, so that streams pass untouched."""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crmrag_query.client import wire
from crmrag_query.codec import Problem
from crmrag_query.config.service import Bounds
from crmrag_query.service.responses import problem
from crmrag_query.service.store import hashed
from crmrag_query.service.uploads import UPLOADS

GUARDED = ("/api/", "/v1/", "/metrics", "/mcp", "/documents/")
"""Beginnings of the paths that want a key where keys are set; the page's own files and what tells of life do not."""
PROBED = ("/health", "/ready")
"""Asked by what watches over processes, which often knows only their number: answered for under every name."""
READING = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing and ask no language model: other web pages may send them, and read no answer."""
DRAINED_BYTES = 64 * 2**20
"""Of a body that is refused for its size: read, and not kept, so that who sends a file by mistake is told so."""
DIGITS = 18  # of a length that can be true
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+?)\.?(:[0-9]*)?")
LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
"""Names of this machine to itself: no other page can be reached under them, so they are always answered for."""
POLICY = (
    "default-src 'self'; img-src 'self' https: http: data:; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@dataclass(frozen=True)
class Access:
    """Who may ask, and under which name: ``keys``, hashed, none for everybody; ``hosts`` that are answered for besides those
    of this machine, None for any. Without ``hosts`` the page of another host whose name leads here, for a moment, to this
    address (DNS rebinding) could read all that this machine may."""

    keys: frozenset[str] = frozenset()
    hosts: frozenset[str] | None = None
    uploading: frozenset[str] = frozenset()
    """Keys, hashed, of who may also send documents; without any nobody may."""

    @classmethod
    def of(
        cls, keys: Iterable[str], hosts: Iterable[str] | None = None, uploading: Iterable[str] = ()
    ) -> Access:
        asking, sending = (frozenset(hashed(key) for key in given) for given in (keys, uploading))
        return cls(asking, None if hosts is None else frozenset(hosts), sending)

    def admits(self, key: str) -> bool:
        return _among(key, self.keys | self.uploading)

    def may_upload(self, request: Request) -> bool:
        """Whether a request has a key with which documents may be sent."""
        return _among(key_of(request), self.uploading)

    def opened_by(self, request: Request) -> bool:
        """Whether a request has a key, where there are any."""
        return not self.keys or self.admits(key_of(request))

    def knows(self, host: str) -> bool:
        """Whether requests to this host (a Host header) are answered."""
        if self.hosts is None:
            return True
        found = HOST.fullmatch(host.lower())
        if found is None:
            return False
        parts = found[1].split(".")
        above = (f"*.{'.'.join(parts[at:])}" for at in range(1, len(parts)))
        return not LOOPBACK.union(self.hosts).isdisjoint([found[1], *above])


def _among(key: str, keys: Iterable[str]) -> bool:
    given = hashed(key)
    return any(hmac.compare_digest(given, one) for one in keys)


def welcome(headers: Headers, origins: frozenset[str]) -> bool:
    """Whether a request comes from a page of this host, from one of ``origins``, or from no web page at all.

    Browsers tell it in headers that no page can change. ``Sec-Fetch-Site`` (over https, and on this machine) is right behind
    a proxy that changes the host, too.
    """
    origin, site = headers.get("origin", ""), headers.get("sec-fetch-site", "")
    if not origins.isdisjoint((origin, "*")):
        return True
    if site:
        return site in ("same-origin", "none")
    return not origin or _authority(origin) == _authority(headers.get("host", ""))


def _authority(address: str) -> str:
    """Host and port of an address, without a port that goes without saying."""
    return address.lower().rpartition("//")[2].removesuffix(":443").removesuffix(":80")


def key_of(request: Request) -> str:
    """The key that a request brings, "" for none."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""


LIMITS = tuple(f"X-RateLimit-{one}-Requests" for one in ("Limit", "Remaining", "Reset"))
"""Headers that tell a caller how many requests a minute there are, how many are left at once, and when all are again."""


@dataclass
class Rates:
    """A bucket of tokens for each of the latest ``callers``: ``per_minute`` flow in, ``burst`` it holds."""

    per_minute: int
    burst: int
    callers: int
    _held: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

    def headers(self, caller: str) -> dict[str, str]:
        """How many requests a caller has left, as OpenAI's API tells it; none where there is no limit."""
        if not self.per_minute or caller not in self._held:
            return {}
        tokens, _ = self._held[caller]
        full = (self.burst - tokens) * 60 / self.per_minute
        return dict(zip(LIMITS, (str(self.per_minute), str(int(tokens)), f"{full:.0f}s"), strict=True))

    def wait(self, caller: str, now: float | None = None) -> float:
        """Seconds until the caller may ask; 0 where it may now, which takes a token."""
        if not self.per_minute:
            return 0.0
        now = time.monotonic() if now is None else now
        each = 60 / self.per_minute
        tokens, since = self._held.pop(caller, (float(self.burst), now))
        tokens = min(self.burst, tokens + (now - since) / each)
        admitted = tokens >= 1
        self._held[caller] = (tokens - admitted, now)
        if len(self._held) > self.callers:
            self._held.popitem(last=False)
        return 0.0 if admitted else (1 - tokens) * each


# Another web page cannot say that it sends JSON without being asked about (CORS).
NOT_JSON = Problem(
    415,
    "The request does not say that it is JSON.",
    "Not JSON",
    remedy="Send Content-Type: application/json.",
)


class _TooMuch(Exception):
    pass


class _Left(Exception):
    pass


class SafeHeaders:
    """Adds the safe headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, with_headers(send, HEADERS))


def with_headers(send: Send, headers: Mapping[str, str]) -> Send:
    """Sends responses with these headers, where they have not their own of the name."""

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            told = MutableHeaders(raw=list(message["headers"]))
            for name, value in headers.items():
                told.setdefault(name, value)
            message = {**message, "headers": told.raw}
        await send(message)

    return headed


class Guard:
    """Refuses what is not to reach an endpoint, with a problem document."""

    def __init__(
        self, app: ASGIApp, access: Access, bounds: Bounds, origins: Iterable[str] = (), upload_bytes: int = 0
    ) -> None:
        self._upload_bytes = upload_bytes
        self._app, self._access, self._bounds, self._origins = app, access, bounds, frozenset(origins)
        self._rates = Rates(bounds.per_minute, bounds.burst, bounds.callers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refusal = self._refusal(request)
        if scope["path"].startswith(GUARDED):  # tells how many requests the caller has left
            send = with_headers(send, self._rates.headers(self._caller(request)))
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return
        try:
            body = await self._body(scope, receive)
        except _TooMuch:
            told = Problem(
                413, f"The request has more than {self._most(scope):,} bytes.", "Too large",
                remedy="Send less: a shorter question, a smaller plan.",
            )  # fmt: skip
            refused = problem(told, {"Connection": "close"})
            await refused(scope, receive, lambda message: self._send_and_drain(message, receive, send))
        except TimeoutError:
            late = Problem(
                408, "The request did not come whole in time.", "Too slow", remedy="Send it again."
            )
            await problem(late, {"Connection": "close"})(scope, receive, send)
        except _Left:
            pass
        else:
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            sending = scope["path"] in UPLOADS  # only with a key in a header, which another page cannot send
            if (
                request.method == "POST"
                and scope["path"].startswith(GUARDED)
                and kind != wire.JSON
                and not sending
            ):
                await problem(NOT_JSON)(scope, receive, send)
                return
            await self._app(scope, again(body, receive), send)

    def _refusal(self, request: Request) -> tuple[Problem, dict[str, str]] | None:
        path, host = request.scope["path"], request.headers.get("host", "")
        if path not in PROBED and not self._access.knows(host):
            told = Problem(
                421, f"This service does not answer for the host {host[:100]!r}.", "Not this host",
                remedy="Ask it under one of its own names. Whose service it is adds this one to hosts in "
                "config/service.yaml.",
            )  # fmt: skip
            return told, {}
        if request.method not in READING and not welcome(request.headers, self._origins):
            origin = request.headers.get("origin", "")
            page = f"a web page of {origin[:100]!r}" if origin else "a web page of another host"
            told = Problem(
                403, f"This service takes no such request from {page}.", "Not from this page",
                remedy="Ask it from its own page or from a program. Whose service it is adds the page's origin to "
                "origins in config/service.yaml.",
            )  # fmt: skip
            return told, {}
        if not path.startswith(GUARDED) or request.method == "OPTIONS":
            return None
        key = key_of(request)
        if not self._access.opened_by(request):
            detail = "This service wants a key." if not key else "The key is not one of this service's."
            told = Problem(401, detail, "Unauthorised", remedy="Send Authorization: Bearer KEY.")
            return told, {"WWW-Authenticate": "Bearer"}
        if path in UPLOADS and request.method == "POST" and not self._access.may_upload(request):
            told = Problem(
                403 if key else 401, "Documents are sent with a key of the role upload.", "No key for uploads",
                remedy="Send Authorization: Bearer KEY, with a key of CRMRAG_UPLOAD_KEYS.",
            )  # fmt: skip
            return told, {"WWW-Authenticate": "Bearer"}
        seconds = self._rates.wait(self._caller(request))
        if seconds > 0:
            told = Problem(
                429, f"More than {self._bounds.per_minute} requests a minute.", "Too many requests",
                remedy=f"Ask again in {seconds:.0f} s or later.",
            )  # fmt: skip
            return told, {"Retry-After": str(int(seconds) + 1)}
        return None

    def _most(self, scope: Scope) -> int:
        """Bytes that the body of a request may have."""
        most = self._bounds.body_bytes
        return max(self._upload_bytes, most) if scope["path"] in UPLOADS else most

    def _caller(self, request: Request) -> str:
        """Whose requests are counted together: those with one key, else those from one address."""
        address = request.client.host if request.client else ""
        return hashed(key_of(request)) if self._access.keys else address

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body; raises _TooMuch, TimeoutError, and _Left where its sender has gone. What says beforehand that it is
        too large is not read."""
        length = dict(scope["headers"]).get(b"content-length", b"").lstrip(b"0")
        if length.isdigit() and (len(length) > DIGITS or int(length) > self._most(scope)):
            raise _TooMuch
        pieces, size = [], 0
        async with asyncio.timeout(self._bounds.body_seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise _Left
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > self._most(scope):
                    raise _TooMuch
                if not message.get("more_body", False):
                    break
        return b"".join(pieces)

    async def _send_and_drain(self, message: Message, receive: Receive, send: Send) -> None:
        """Send a part of a refusal, and before its end read on for a while: who still sends the body reads the refusal after
        it only, and a connection closed before that is reset."""
        last = message["type"] == "http.response.body"
        await send({**message, "more_body": True} if last else message)
        if not last:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(self._bounds.body_seconds):
                left = DRAINED_BYTES
                while left > 0 and (got := await receive())["type"] == "http.request":
                    left -= len(got.get("body", b""))
                    if not got.get("more_body", False):
                        break
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def again(body: bytes, receive: Receive) -> Receive:
    """The body once more, then what comes after it (the caller leaving)."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
