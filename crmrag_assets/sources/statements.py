"""Formats whose statements span lines: read as far as possible, what is lost is told with file, line and reason.

After a fault in Turtle the parser goes on at the next full stop. Where it would lose more (an open string, a fault in
TriG), reading starts again at the next line that looks like a new statement. RDF/XML and JSON-LD end at a fault.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast
from xml.parsers import expat

import pyoxigraph as ox

from crmrag_assets.harvest.report import Tally
from crmrag_assets.sources.formats import JSON_LD, RDF_XML, TRIG, Format
from crmrag_assets.sources.iris import repaired
from crmrag_assets.sources.lines import BLOCK, blocks, reason_of
from crmrag_assets.sources.streams import ByteStream
from crmrag_query.errors import SourceError

RESTARTS = 200  # times that reading one file starts again
_START = re.compile(rb"(@|<|_:|\[|\{|[A-Za-z][\w.-]*:|:|PREFIX|BASE|GRAPH)", re.IGNORECASE)
_REMOTE = "No LoadDocumentCallback"


def read_statements(stream: ByteStream, kind: Format, base: str, tally: Tally) -> Iterator[ox.Quad]:
    """The quads of a Turtle, TriG, RDF/XML or JSON-LD file; faults are told to ``tally``.

    Raises SourceError where a JSON-LD file refers to a context elsewhere.
    """
    if kind in (RDF_XML, JSON_LD):
        # lenient: the strict parsers drop or garble what surrounds an invalid IRI
        return repaired(_until_fault(stream, kind, base, tally), tally)
    return _turtle(stream, kind, base, tally)


def _until_fault(stream: ByteStream, kind: Format, base: str, tally: Tally) -> Iterator[ox.Quad]:
    try:
        yield from ox.parse(cast(IO[bytes], stream), format=kind.parser, base_iri=base or None, lenient=True)
    except (SyntaxError, ValueError) as error:
        if _REMOTE in str(error):
            raise SourceError(
                f"{stream.path} refers to a JSON-LD context elsewhere, and builds fetch nothing from the network.",
                "Convert it to N-Triples or Turtle, or put the context's content in place of its address.",
            ) from error
        line, reason = getattr(error, "lineno", None), reason_of(error)
        if kind is RDF_XML and line is None:
            line = _xml_line(stream.path)
        tally.fault(line, line_text(stream.path, line), f"{reason}; the rest of the file was not read")


def _turtle(stream: ByteStream, kind: Format, base: str, tally: Tally) -> Iterator[ox.Quad]:
    """One run of the parser after another, each from where the one before got lost."""
    header, at = "", 1
    source: ByteStream | _Rest = stream
    for _ in range(RESTARTS):
        parser = ox.parse(cast(IO[bytes], source), format=kind.parser, base_iri=base or None)
        run = _Run(stream.path, kind, at - 1 - header.count("\n"), at > 1, tally)
        yield from run.quads(parser)
        next_at = _next_statement(stream.path, run.lost_at) if run.lost_at else None
        if next_at is None:
            return
        base = parser.base_iri or base
        at, header = next_at, "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in parser.prefixes.items())
        source = _Rest(stream.path, at, header.encode())
    tally.fault(at, "", f"reading was given up after {RESTARTS} restarts; the rest of the file was not read")


@dataclass
class _Run:
    """One parser over a file or its rest; ``added`` is what its line numbers lack.

    ``lost_at`` is the line of a fault from which the parser does not recover: one that spans lines (an open string), or
    any in TriG. There the graph is unknown until one is named: what would join the default graph is left out.
    """

    path: Path
    kind: Format
    added: int
    faulty: bool
    tally: Tally
    lost_at: int | None = None

    def quads(self, parser: ox.QuadParser) -> Iterator[ox.Quad]:
        while True:
            try:
                quad: ox.Quad = next(parser)
            except StopIteration:
                return
            except (SyntaxError, ValueError) as error:
                self._fault(error)
                if self.lost_at is None:
                    continue
                return
            in_default = isinstance(quad.graph_name, ox.DefaultGraph)
            if self.faulty and self.kind is TRIG and in_default:
                self.tally.skipped["graph unknown after a fault in TriG"] += 1
                continue
            self.faulty = self.faulty and in_default
            yield quad

    def _fault(self, error: Exception) -> None:
        first, last = getattr(error, "lineno", None), getattr(error, "end_lineno", None)
        line = None if first is None else first + self.added
        text = line_text(self.path, line) if self.tally.keeps else b""
        self.tally.fault(line, text, reason_of(error))
        self.faulty = True
        if first is not None and last is not None and (last > first or self.kind is TRIG):
            self.lost_at = line


class _Rest:
    """A file from line ``at`` on, after a ``header``: what a parser that starts again reads."""

    def __init__(self, path: Path, at: int, header: bytes) -> None:
        self._stream = ByteStream(path)
        missing, part = at - 1, b""
        while missing and (part := self._stream.read(BLOCK)):
            ends = part.count(b"\n")
            if ends >= missing:
                part = part.split(b"\n", missing)[missing]
                break
            missing -= ends
        self._head = header + part

    def read(self, size: int = -1) -> bytes:
        cut = size if size >= 0 else len(self._head)
        head, self._head = self._head[:cut], self._head[cut:]
        return head or self._stream.read(size)


def _next_statement(path: Path, after: int) -> int | None:
    """Number of the first line after line ``after`` that looks like the start of a statement."""
    ended = False
    for number, line in _lines(path):
        if number > after and ended and _START.match(line):
            return number
        if stripped := line.strip():
            ended = stripped.endswith((b".", b"}")) or stripped.startswith(b"#")
    return None


def line_text(path: Path, line: int | None) -> bytes:
    """A line of a file by its number, b"" where there is none."""
    return next((text for number, text in _lines(path) if number == line), b"") if line else b""


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with ByteStream(path) as stream:
        for first, block in blocks(stream):
            yield from enumerate(block.removesuffix(b"\n").split(b"\n"), start=first)


def _xml_line(path: Path) -> int | None:
    """Where a file stops being well-formed XML; None where it is."""
    parser = expat.ParserCreate()
    try:
        with ByteStream(path) as stream:
            while part := stream.read(1 << 20):
                parser.Parse(part, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return error.lineno
    return None
