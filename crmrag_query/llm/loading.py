"""litellm, loaded when it is first needed: that takes seconds, and it would reach for the network on its own. The one HTTP
transport under its clients bounds what a model's server may send while it comes.
"""

from __future__ import annotations

import importlib
import os
import threading
import time
import zlib
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import httpx

from crmrag_query.errors import MissingExtraError
from crmrag_query.llm.limits import WHOLE

ERROR = 8 << 10
"""Bytes of an error; the rest is left unread. What it says stands at its beginning, and litellm searches all of it for
secrets, which takes 20 seconds a megabyte in which no other thread runs."""
STREAM = 16 << 20  # bytes of a stream: 40,000 tokens, each of them an event of 400 bytes
EVENT = 128 << 10  # … of one event of it: clients add them up line by line, which takes long for long ones
SECONDS = 3600  # that a reply may take, however little of it comes at a time
PORTION = 64 << 10  # bytes that are unpacked at once
BLANK_LINE, LINE = (b"\n\n", b"\r\n\r\n", b"\r\r"), (b"\n",)
ENDS: dict[str, tuple[bytes, ...]] = {
    "application/x-ndjson": LINE,
    "application/stream+json": LINE,
    "application/vnd.amazon.eventstream": (b"",),  # binary, each event with its length before it
}
"""What ends an event where it is not a blank line, by the stream's content type."""
_installing = threading.Lock()


class TooLong(httpx.TransportError):
    """A reply is longer than any that is wanted; says than what."""


def bound_replies(litellm: ModuleType) -> None:
    """From now on all of litellm's blocking HTTP clients read no more than the bounds of this module."""
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    with _installing:
        if isinstance(getattr(litellm, "sync_transport", None), Bounded):
            return
        transport = Bounded(HTTPHandler())
        known: Any = litellm
        known.sync_transport = transport  # of every client that it makes for itself
        known.client_session = httpx.Client(transport=transport, follow_redirects=True)  # of OpenAI's SDK
        # may be older than the transport
        known.module_level_client = HTTPHandler(timeout=litellm.request_timeout)


class Bounded(httpx.BaseTransport):
    """Sends by a client of litellm's own making, which knows of proxies and certificates, and bounds what comes back."""

    def __init__(self, sender: Any) -> None:
        self._sender = sender

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.headers["Accept-Encoding"] = "gzip"
        response = self._sender.client.send(request, stream=True, auth=_as_it_is, follow_redirects=False)
        packing = response.headers.get("content-encoding", "identity").strip().lower()
        if packing not in ("identity", "gzip"):
            response.close()
            raise httpx.DecodingError(f"packed in a way that was not asked for ({packing[:40]})")
        headers = [
            (name, value)
            for name, value in response.headers.raw
            if name.lower() not in (b"content-encoding", b"content-length")
        ]
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        pieces = _unpacked(response.iter_raw()) if packing == "gzip" else response.iter_raw()
        if response.status_code >= 300:
            read = _beginning(pieces, ERROR)
        elif most := WHOLE.get():
            read = _bounded(pieces, most, most, ())
        else:
            read = _bounded(pieces, STREAM, EVENT, ENDS.get(kind, BLANK_LINE))
        return httpx.Response(
            response.status_code,
            headers=headers,
            stream=_Body(response, read),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Stays open: each of litellm's clients closes it, and the others go on using it."""


class _Body(httpx.SyncByteStream):
    def __init__(self, response: httpx.Response, pieces: Iterator[bytes]) -> None:
        self._response, self._pieces = response, pieces

    def __iter__(self) -> Iterator[bytes]:
        """The pieces; the connection ends with them, since not all who read close a reply that they find fault with."""
        try:
            yield from self._pieces
        finally:
            self.close()

    def close(self) -> None:
        self._response.close()


def _as_it_is(request: httpx.Request) -> httpx.Request:
    """The request, signed in by the client that it comes from."""
    return request


def _unpacked(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The content of a gzip body, whose pieces may unpack to a thousand times their length, in portions."""
    member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        for piece in pieces:
            while piece and not member.eof:
                yield member.decompress(piece, PORTION)
                piece = member.unconsumed_tail
    except zlib.error as error:
        raise httpx.DecodingError(str(error)) from error
    if not member.eof:
        raise httpx.RemoteProtocolError("the packed reply is cut off")


def _beginning(pieces: Iterator[bytes], most: int) -> Iterator[bytes]:
    for piece in pieces:
        yield piece[:most]
        most -= len(piece)
        if most <= 0:
            return


def _bounded(pieces: Iterator[bytes], most: int, event: int, ends: tuple[bytes, ...]) -> Iterator[bytes]:
    """The pieces; TooLong beyond ``most`` bytes, or ``event`` bytes without one of the ``ends``, or SECONDS."""
    deadline, size, since, tail = time.monotonic() + SECONDS, 0, 0, b""
    for piece in pieces:
        size += len(piece)
        seen = tail + piece
        at = max((seen.rfind(end) for end in ends), default=-1)
        since = since + len(piece) if at < 0 else len(seen) - at
        tail = seen[-3:]
        if size > most:
            raise TooLong(f"more than {most:,} bytes")
        if since > event:
            raise TooLong(f"more than {event:,} bytes in one event")
        if time.monotonic() > deadline:
            raise TooLong(f"more than {SECONDS:,} seconds")
        yield piece


def load_litellm(wanted: str) -> ModuleType:
    """litellm; MissingExtraError saying what it is ``wanted`` for where it is not installed."""
    # It fetches its table of prices over the network on import unless told otherwise.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    try:
        litellm = importlib.import_module("litellm")
    except ImportError as error:
        raise MissingExtraError(wanted, "llm", "litellm") from error

    bound_replies(litellm)
    vars(litellm)["suppress_debug_info"] = True  # else it prints advice to standard output
    return litellm
