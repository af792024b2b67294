"""Server-sent events as the WHATWG HTML standard writes them (section 9.2): writing, and reading in pieces of any size."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field

from crmrag_query.codec import Malformed


@dataclass(frozen=True, slots=True)
class Message:
    """One event: its name ("message" where none is given) and its data."""

    event: str
    data: str


def write_message(event: str, data: str) -> str:
    """An event as text; every line of ``data`` takes a line."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return f"event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"


@dataclass
class Parser:
    """Takes bytes as they come and gives the events that are complete; ``limit``: bytes of one event.

    Raises Malformed for an event beyond the limit and for bytes that are no UTF-8. An event that the stream's end cuts is
    never given.
    """

    limit: int
    _decoder: codecs.IncrementalDecoder = field(default_factory=codecs.getincrementaldecoder("utf-8"))
    _rest: list[str] = field(default_factory=list)
    _begun: bool = False
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _held: int = 0

    def feed(self, piece: bytes) -> Iterator[Message]:
        """The events that end within ``piece``."""
        try:
            text = self._decoder.decode(piece)
        except UnicodeDecodeError as error:
            raise Malformed("the stream is no UTF-8") from error
        if not self._begun and text:
            text, self._begun = text.removeprefix("\ufeff"), True
        for line in self._lines(text):
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self._name = value
            elif name == "data":
                self._data.append(value)
                self._held += len(value)
            elif not line:
                event, data = self._name or "message", self._data
                self._name, self._data, self._held = "", [], 0
                if data:
                    yield Message(event, "\n".join(data))
        if self._held + sum(map(len, self._rest)) > self.limit:
            raise Malformed(f"an event has more than {self.limit:,} characters")

    def _lines(self, text: str) -> list[str]:
        """The lines that ``text`` ends."""
        if not any(sign in text for sign in "\r\n") and not (self._rest and self._rest[-1].endswith("\r")):
            self._rest.append(text)
            return []
        lines, rest = split_lines("".join([*self._rest, text]))
        self._rest = [rest]
        return lines


def split_lines(text: str) -> tuple[list[str], str]:
    """Whole lines, ended by CR LF, LF or CR, and the rest; a CR at the very end waits for what follows."""
    waiting = "\r" if text.endswith("\r") else ""
    parts = text.removesuffix("\r").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return parts[:-1], parts[-1] + waiting
