"""A mail server on localhost that keeps what it is sent: plain, by STARTTLS, or by TLS from the start; with a password."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from socketserver import StreamRequestHandler, ThreadingTCPServer
from typing import cast


@dataclass
class Mailbox:
    """The running server and the mails it took; ``encrypted`` tells of each whether it came by TLS."""

    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    encrypted: list[bool] = field(default_factory=list)
    refusal: bytes = b""


@dataclass(frozen=True)
class Manner:
    """``tls``: what TLS is spoken with; offered by STARTTLS, or ``implicit``. ``secret``: user and password it wants."""

    tls: ssl.SSLContext | None = None
    implicit: bool = False
    secret: tuple[str, str] | None = None


@contextmanager
def mailing(manner: Manner = Manner()) -> Iterator[Mailbox]:
    """Take mails at ``mailbox.port``; a ``refusal`` set there answers every MAIL command."""
    mailbox = Mailbox()

    class Handler(_Conversation):
        box, ways = mailbox, manner

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    mailbox.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield mailbox
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Conversation(StreamRequestHandler):
    box: Mailbox
    ways: Manner
    timeout = 10

    def handle(self) -> None:
        self.secure, self.signed = False, self.ways.secret is None
        try:
            self._converse()
        finally:
            self.rfile.close()
            self.connection.close()

    def _converse(self) -> None:
        try:
            if self.ways.implicit:
                self._encrypt()
            self._say(b"220 localhost")
            while (line := self.rfile.readline()) and self._answer(line.strip()):
                pass
        except (ConnectionError, ssl.SSLError):
            return  # a client that hangs up, or trusts no such certificate

    def _say(self, text: bytes) -> None:
        self.wfile.write(text + b"\r\n")
        self.wfile.flush()

    def _encrypt(self) -> None:
        assert self.ways.tls is not None
        wrapped: socket.socket = self.ways.tls.wrap_socket(self.connection, server_side=True)
        self.connection = wrapped
        self.rfile, self.wfile = wrapped.makefile("rb"), wrapped.makefile("wb")  # type: ignore[assignment]
        self.secure = True

    def _answer(self, line: bytes) -> bool:
        """Answer one command; False where the conversation is over."""
        command = line.split(b" ")[0].upper()
        if command == b"EHLO":
            self._greet()
        elif command == b"STARTTLS":
            self._say(b"220 go on")
            self._encrypt()
        elif command == b"AUTH":
            self._sign(line)
        elif command == b"MAIL" and self.box.refusal:
            self._say(self.box.refusal)
        elif command == b"MAIL" and not self.signed:
            self._say(b"530 sign in first")
        elif command == b"DATA":
            self._take()
        elif command == b"QUIT":
            self._say(b"221 bye")
            return False
        else:
            self._say(b"250 fine")
        return True

    def _greet(self) -> None:
        offers = [b"localhost"]
        if self.ways.tls is not None and not self.secure:
            offers.append(b"STARTTLS")
        if self.ways.secret is not None:
            offers.append(b"AUTH PLAIN")
        for offer in offers[:-1]:
            self._say(b"250-" + offer)
        self._say(b"250 " + offers[-1])

    def _sign(self, line: bytes) -> None:
        given = base64.b64decode(line.split(b" ")[2]).decode().split("\0")[1:]
        self.signed = self.ways.secret == tuple(given)
        self._say(b"235 welcome" if self.signed else b"535 no such user")

    def _take(self) -> None:
        self._say(b"354 go on")
        lines = []
        while (line := self.rfile.readline()).strip() != b".":
            lines.append(line)
        mail = message_from_bytes(b"".join(lines), policy=policy.default)
        self.box.mails.append(cast(EmailMessage, mail))
        self.box.encrypted.append(self.secure)
        self._say(b"250 taken")
