"""What stands before every endpoint: safe headers, bounded bodies, keys, rates. Pure ASGI, so that streams pass untouched."""

from __future__ import annotations

import asyncio
import hmac
import re
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from crmrag_query.client.problems import Problem
from crmrag_query.config.service import Bounds
from crmrag_query.service.responses import problem
from crmrag_query.service.store import hashed

GUARDED = ("/api/", "/v1/", "/metrics", "/mcp")
"""Beginnings of the paths that want a key where keys are set; the page's own files and what tells of life do not."""
PROBED = ("/health", "/ready")
"""Asked by what watches over processes, which often knows only their number: answered for under every name."""
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

    @classmethod
    def of(cls, keys: Iterable[str], hosts: Iterable[str] | None = None) -> Access:
        return cls(frozenset(hashed(key) for key in keys), None if hosts is None else frozenset(hosts))

    def admits(self, key: str) -> bool:
        given = hashed(key)
        return any(hmac.compare_digest(given, one) for one in self.keys)

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


@dataclass
class Rates:
    """A bucket of tokens for each of the latest ``callers``: ``per_minute`` flow in, ``burst`` it holds."""

    per_minute: int
    burst: int
    callers: int
    _held: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)

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


class _TooMuch(Exception):
    pass


class _Left(Exception):
    pass


class SafeHeaders:
    """Adds the safe headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def headed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=list(message["headers"]))
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                message["headers"] = headers.raw
            await send(message)

        await self._app(scope, receive, headed)


class Guard:
    """Refuses what is not to reach an endpoint, with a problem document."""

    def __init__(self, app: ASGIApp, access: Access, bounds: Bounds) -> None:
        self._app, self._access, self._bounds = app, access, bounds
        self._rates = Rates(bounds.per_minute, bounds.burst, bounds.callers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(Request(scope))
        if refusal is not None:
            await problem(*refusal)(scope, receive, send)
            return
        try:
            body = await self._body(scope, receive)
        except _TooMuch:
            await problem(self._too_large(), {"Connection": "close"})(scope, receive, send)
        except TimeoutError:
            late = Problem(
                408, "The request did not come whole in time.", "Too slow", remedy="Send it again."
            )
            await problem(late, {"Connection": "close"})(scope, receive, send)
        except _Left:
            pass
        else:
            await self._app(scope, again(body, receive), send)

    def _refusal(self, request: Request) -> tuple[Problem, dict[str, str]] | None:
        path, host = request.scope["path"], request.headers.get("host", "")
        if path not in PROBED and not self._access.knows(host):
            return self._misdirected(host), {}
        if not path.startswith(GUARDED) or request.method == "OPTIONS":
            return None
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        key = key.strip() if scheme.lower() == "bearer" else ""
        if self._access.keys and not self._access.admits(key):
            detail = "This service wants a key." if not key else "The key is not one of this service's."
            told = Problem(401, detail, "Unauthorised", remedy="Send Authorization: Bearer KEY.")
            return told, {"WWW-Authenticate": "Bearer"}
        address = request.client.host if request.client else ""
        seconds = self._rates.wait(hashed(key) if self._access.keys else address)
        if seconds > 0:
            told = Problem(
                429, f"More than {self._bounds.per_minute} requests a minute.", "Too many requests",
                remedy=f"Ask again in {seconds:.0f} s or later.",
            )  # fmt: skip
            return told, {"Retry-After": str(int(seconds) + 1)}
        return None

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body; raises _TooMuch, TimeoutError, and _Left where its sender has gone. What says beforehand that it is
        too large is not read."""
        length = dict(scope["headers"]).get(b"content-length", b"").lstrip(b"0")
        if length.isdigit() and (len(length) > DIGITS or int(length) > self._bounds.body_bytes):
            raise _TooMuch
        pieces, size = [], 0
        async with asyncio.timeout(self._bounds.body_seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    raise _Left
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > self._bounds.body_bytes:
                    raise _TooMuch
                if not message.get("more_body", False):
                    break
        return b"".join(pieces)

    def _misdirected(self, host: str) -> Problem:
        return Problem(
            421, f"This service does not answer for the host {host[:100]!r}.", "Not this host",
            remedy="Ask it under one of its own names. Whose service it is adds this one to hosts in config/service.yaml.",
        )  # fmt: skip

    def _too_large(self) -> Problem:
        return Problem(
            413, f"The request has more than {self._bounds.body_bytes:,} bytes.", "Too large",
            remedy="Send less: a shorter question, a smaller plan.",
        )  # fmt: skip


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
