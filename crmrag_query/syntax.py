"""Bounds on how deep RDF nests and what its entities expand to, held before a parser sees it.

The parsers hold neither: nested objects of JSON-LD take memory by the square of their depth, nested triple terms overflow
the stack, which ends the process, and some entities of XML that stand for one another take gigabytes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from io import BytesIO

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"

DEEPEST = {"XML": 1000, "JSON": 100, "Turtle": 100}
"""Elements, objects and lists, or triple terms within one another: what people write has a few dozen at most."""
LONGEST = 1 << 24  # bytes of one value: the parser's own limit
BLOCK = 1 << 16  # bytes read at once
LONGEST_ENTITY = 1000  # characters: those of real files stand for namespaces
EXPANSION = 20  # bytes that entities may make of one byte, which a short name of a long namespace does
LONGEST_DTD = 1 << 20  # bytes
TOO_LONG = "it has a value of over 16 MiB, more than the parser takes"
SHORTEN = "Leave that value out of the export, or shorten it: is a file embedded in it?"
FLATTEN = "Write it as N-Triples, or flatter: is it damaged, or made to do harm?"
REPLACE = "Write it without a DTD, or as N-Triples or Turtle: only namespaces are meant to be entities here."

AT_ONCE = 4  # levels below one another that one match goes over, which saves most of the time
_TAG = rb"""<(?![!?/])(?:[^"'>]++|"[^"]*+"|'[^']*+')*+"""
_ASIDE = rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
_STRING = rb'"(?:[^"\\]++|\\.)*+"'


def _content(levels: int) -> bytes:
    """A piece of what stands in an element of XML, with so many levels of elements at most."""
    inner = _content(levels - 1) + rb"*+</[^>]*+>" if levels else rb"(?!)"
    return rb"(?:[^<]++|" + _ASIDE + rb"|" + _TAG + rb"(?:(?<=/)>|(?<!/)>" + inner + rb"))"


def _values(levels: int) -> bytes:
    """A piece of what stands in an object or a list of JSON, with so many levels of them at most."""
    inner = rb"|[\[{]" + _values(levels - 1) + rb"*+[\]}]" if levels else b""
    return rb'(?:[^"\[\]{}]++|' + _STRING + inner + rb")"


# A match takes whole tokens; the groups change the depth, and `part` begins one of which the end is not there yet.
_TOKENS = {
    "XML": re.compile(
        _content(AT_ONCE) + rb"++|(?P<close></[^>]*+>)|(?P<open>" + _TAG + rb">)|(?P<dtd><![dD])|(?P<part><)",
        re.DOTALL,
    ),
    "JSON": re.compile(
        _values(AT_ONCE) + rb'++|(?P<open>[\[{])|(?P<close>[\]}])|(?P<part>")',
        re.DOTALL,
    ),
    "Turtle": re.compile(
        rb"""(?P<part>(?:<[^<>"{}|^`\x00-\x20]*+|[>\\]|\#[^\n]*+|""?|''?|["'](?:[^"'\\\r\n]++|\\.)*+\\?)\Z)"""
        rb"""|(?P<open><<)|(?P<close>>>)|<[^<>"{}|^`\x00-\x20]*+>|\\.|\#[^\n]*+"""
        rb"""|\"""(?:[^"\\]++|\\.|"(?!""))*+\"""|'{3}(?:[^'\\]++|\\.|'(?!''))*+'{3}"""
        rb"""|"(?!"")(?:[^"\\\r\n]++|\\.)*+"|'(?!'')(?:[^'\\\r\n]++|\\.)*+'"""
        rb"""|(?P<open_string>\"""|'{3})""",
        re.DOTALL,
    ),
}
_ENTITY = re.compile(rb'<!ENTITY\s*%?\s*([^\s"]+)\s+"([^"]*)"')
_OTHERS = re.compile(rb"&(?!#|(?:amp|lt|gt|quot|apos);)")
_REFERENCE = re.compile(rb"&([^\s;&<]+);")


class OutOfBounds(Exception):
    """Something that is not parsed: ``what`` is wrong with it, and the ``remedy``."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what)
        self.what, self.remedy = what, remedy


class _Scanner:
    """Goes over the tokens of "XML", "JSON" or "Turtle" part by part."""

    def __init__(self, syntax: str) -> None:
        self._tokens, self._deepest = _TOKENS[syntax], DEEPEST[syntax]
        self._depth = 0
        self._entities: dict[bytes, int] = {}

    def scanned(self, part: bytes, last: bool) -> int:
        """How many bytes hold whole tokens; raises OutOfBounds."""
        at: int | None = 0
        while at is not None:
            at, end = self._gone_over(part, at)
        if self._entities:
            self._require_small(part if last else part[:end])
        return len(part) if last else end

    def _gone_over(self, part: bytes, start: int) -> tuple[int | None, int]:
        """Go over the tokens from ``start``: where to go on behind a DTD (None: not at all), and where whole tokens end."""
        for token in self._tokens.finditer(part, start):
            kind = token.lastgroup
            if kind == "open":
                self._open()
            elif kind == "close":
                self._depth = max(0, self._depth - 1)
            elif kind == "dtd":
                behind = self._declared(part, token.start())
                return behind, token.start()
            elif kind in ("part", "open_string"):
                return None, token.start()
        return None, len(part)

    def _open(self) -> None:
        self._depth += 1
        if self._depth > self._deepest:
            raise OutOfBounds(f"it nests more than {self._deepest:,} deep", FLATTEN)

    def _declared(self, part: bytes, start: int) -> int | None:
        """Take in the entities of a DTD; where it ends by its brackets, as for the parser, None where it does not yet."""
        open_ = 0
        for bracket in re.finditer(rb"[<>]", part[start:]):
            open_ += 1 if bracket[0] == b"<" else -1
            if not open_:
                end = start + bracket.end()
                self._take_entities(part[start:end])
                return end
        if len(part) - start > LONGEST_DTD:
            raise OutOfBounds("it begins with a DTD of over 1 MiB", REPLACE)
        return None

    def _take_entities(self, declared: bytes) -> None:
        for name, value in _ENTITY.findall(declared):
            shown = name[:40].decode("utf-8", "replace")
            if _OTHERS.search(value):
                raise OutOfBounds(f"its entity {shown!r} is made of other entities", REPLACE)
            if len(value) > LONGEST_ENTITY:
                raise OutOfBounds(f"its entity {shown!r} has over {LONGEST_ENTITY:,} characters", REPLACE)
            self._entities[name] = len(value)

    def _require_small(self, part: bytes) -> None:
        expanded = sum(self._entities.get(name, 0) for name in _REFERENCE.findall(part))
        if expanded > EXPANSION * max(len(part), BLOCK):
            raise OutOfBounds(
                f"its entities expand to more than {EXPANSION} times what they are written in", REPLACE
            )


class Bounded:
    """A stream of "XML", "JSON" or "Turtle" of which only what is within bounds can be read; else read raises OutOfBounds.

    ``source`` reads at most so many bytes of it.
    """

    def __init__(self, source: Callable[[int], bytes], syntax: str) -> None:
        self._source, self._scanner = source, _Scanner(syntax)
        self._checked, self._waiting, self._ended = BytesIO(), b"", False

    def read(self, size: int = -1) -> bytes:
        """At most ``size`` bytes, all of them when negative; empty at the end."""
        if size < 0:
            return b"".join(iter(partial(self.read, BLOCK), b""))
        while not (head := self._checked.read(size)) and size and not self._ended:
            self._check_more()
        return head

    def _check_more(self) -> None:
        if len(self._waiting) > LONGEST:
            raise OutOfBounds(TOO_LONG, SHORTEN)
        # as much again as waits for the end of its token, so that a long one is gone over a few times only
        parts, missing = [self._waiting], max(BLOCK, len(self._waiting))
        while missing > 0 and (part := self._source(missing)):
            parts.append(part)
            missing -= len(part)
        self._ended = missing > 0
        read = b"".join(parts)
        at = self._scanner.scanned(read, self._ended)
        self._checked, self._waiting = BytesIO(read[:at]), read[at:]


def require_bounds(text: bytes, syntax: str) -> None:
    """Raise OutOfBounds for a whole text of "XML", "JSON" or "Turtle" that is not within bounds."""
    _Scanner(syntax).scanned(text, True)
