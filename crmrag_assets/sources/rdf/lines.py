"""RDF files read as far as possible: what is lost is told with file, line and reason.

N-Triples and N-Quads are read in blocks of whole lines, a block that fails line by line. After a fault in Turtle the
parser goes on at the next full stop. Where it would lose more (an open string, a fault in TriG), reading starts again at
the next line that looks like a new statement. RDF/XML and JSON-LD end at a fault. IRIs and labels of blank nodes that a
lenient parser let through are repaired where only characters are wrong, or left out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, cast
from urllib.parse import quote
from xml.parsers import expat

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.report import Tally
from crmrag_assets.harvest.triples import NO_COLUMNS, PLAIN_QUAD, PLAIN_TRIPLE, split_lines
from crmrag_assets.sources.spooled import N_TRIPLES, PORTION, RDF_XML, TRIG, TURTLE, ByteStream
from crmrag_query.config.reading import FORBIDDEN_IN_IRI
from crmrag_query.errors import SourceError
from crmrag_query.syntax import LONGEST, TOO_LONG, Bounded, OutOfBounds, require_bounds

SHIPPED = {"https://linked.art/ns/v1/linked-art.json": Path(__file__).parent / "linked-art.json"}
CONTEXT_WITHIN = 1 << 16  # bytes from a key "@context" on within which its addresses stand
CONTEXT_PORTION = 1 << 20  # bytes
_KEY = b'"@context"'
# Of a key "@context" the addresses that are its value, or begin the list that is. Within a text quotation marks are escaped.
_NAMED = re.compile(rb'(?P<key>"@context"\s*:\s*)(?P<names>"[^"\\]*"|\[\s*"[^"\\]*"(?:\s*,\s*"[^"\\]*")*)')
_NAME = re.compile(rb'"([^"\\]*)"')


@dataclass
class WithContexts:
    """Bytes of JSON-LD with the known contexts in the places of their addresses; ``missing``: addresses of unknown ones."""

    read_bytes: Callable[[int], bytes]
    contexts: Mapping[str, Path]
    missing: dict[str, None] = field(default_factory=dict)
    _known: dict[str, Path] = field(init=False)
    _ready: bytes = b""
    _waiting: bytes = b""
    _ended: bool = False

    def __post_init__(self) -> None:
        self._known = {_plain(address): path for address, path in (SHIPPED | dict(self.contexts)).items()}

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end."""
        while not self._ready and not self._ended:
            part = self.read_bytes(CONTEXT_PORTION)
            self._ended = not part
            self._waiting += part
            cut = len(self._waiting) if self._ended else self._whole()
            self._ready, self._waiting = self._replaced(self._waiting[:cut]), self._waiting[cut:]
        given, self._ready = self._ready[:size], self._ready[size:]
        return given

    def _whole(self) -> int:
        """Up to where nothing that comes can belong to a context that has begun."""
        last = self._waiting.rfind(_KEY, max(0, len(self._waiting) - CONTEXT_WITHIN))
        return last if last >= 0 else max(0, len(self._waiting) - len(_KEY))

    def _replaced(self, text: bytes) -> bytes:
        if _KEY not in text:
            return text
        return _NAMED.sub(lambda found: found["key"] + _NAME.sub(self._content, found["names"]), text)

    def _content(self, name: re.Match[bytes]) -> bytes:
        address = name[1].decode("utf-8", "replace")
        path = self._known.get(_plain(address))
        if path is None:
            self.missing[address] = None
            return name[0]
        return content_of(path)


def _plain(address: str) -> str:
    """An address whether it is asked for by http or https."""
    return address.removeprefix("https:").removeprefix("http:")


@cache
def content_of(path: Path) -> bytes:
    """The value of a context file's ``@context``, in one line; SourceError for a file that has none, or names others."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))["@context"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SourceError(
            f"{path} is no JSON-LD context ({type(error).__name__}).",
            'It must be JSON with a key "@context": fetch the context from its address again.',
        ) from error
    if others := [
        part for part in (content if isinstance(content, list) else [content]) if isinstance(part, str)
    ]:
        raise SourceError(
            f"The JSON-LD context in {path} names others by their addresses ({', '.join(others)}).",
            "Put their content in the places of their addresses in this file.",
        )
    return json.dumps(content, separators=(",", ":")).encode()


BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 28  # bytes
RESTARTS = 200  # times that reading one file starts again
_HOST = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_ASTRAY = re.compile(r"[\[\]]|%(?![0-9A-Fa-f]{2})")
# Of a blank node, as it can be named again: JSON-LD takes any text for a label.
_LABEL = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?")
_START = re.compile(rb"(@|<|_:|\[|\{|[A-Za-z][\w.-]*:|:|PREFIX|BASE|GRAPH)", re.IGNORECASE)
_REMOTE = "No LoadDocumentCallback"


def valid_iri(iri: str) -> ox.NamedNode:
    """The IRI, characters that it may not hold percent-encoded; raises ValueError where that is not enough."""
    text = FORBIDDEN_IN_IRI.sub(lambda found: quote(found[0]), iri)
    try:
        return ox.NamedNode(text)
    except ValueError:  # brackets beside those of a host, and percent signs that encode nothing
        start = _HOST.match(text)
        head, rest = (start[0], text[start.end() :]) if start else ("", text)
        return ox.NamedNode(head + _ASTRAY.sub(lambda found: quote(found[0]), rest))


def repair(quad: ox.Quad, tally: Tally) -> ox.Quad:
    """The quad, characters that IRIs may not hold percent-encoded; raises ValueError where that is not enough."""
    s, p, o, g = quad
    valid = ox.Quad(_valid(s), _valid(p), _valid(o), _valid(g))
    tally.repaired += valid != quad
    return valid


def _valid(term: Any) -> Any:
    if isinstance(term, ox.NamedNode):
        return valid_iri(term.value)
    if isinstance(term, ox.BlankNode) and not _LABEL.fullmatch(term.value):
        return ox.BlankNode(hashlib.sha256(term.value.encode()).hexdigest())
    if isinstance(term, ox.Literal) and term.language is not None:
        return ox.Literal(term.value, language=term.language)
    if isinstance(term, ox.Literal):
        return ox.Literal(term.value, datatype=_valid(term.datatype))
    return term


def read_lines(
    stream: ByteStream, parser: ox.RdfFormat, tally: Tally
) -> Iterator[tuple[pl.DataFrame, list[ox.Quad]]]:
    """The quads of each block: the plain lines with columns of schema COLUMNS, and the others.

    Broken lines are told to ``tally`` and skipped.
    """
    plain = PLAIN_TRIPLE if parser == N_TRIPLES else PLAIN_QUAD
    for first, block in blocks(stream):
        columns, others = split_lines(block, plain)
        try:
            quads = list(_parsed(others, parser))
        except (SyntaxError, ValueError):
            columns, quads = NO_COLUMNS, list(_line_by_line(first, block, parser, tally))
        yield columns, quads


def blocks(stream: ByteStream) -> Iterator[tuple[int, bytes]]:
    """(number of the first line, whole lines), about 1 MiB each; raises SourceError where a line has no end."""
    number = 1
    waiting: list[bytes] = []
    while part := stream.read(BLOCK):
        cut = part.rfind(b"\n") + 1
        if not cut:
            waiting.append(part)
            if len(waiting) * BLOCK > LONGEST_LINE:
                raise SourceError(
                    f"{stream.path} has a line of over 256 MiB.", "It is no N-Triples or N-Quads."
                )
            continue
        block = b"".join([*waiting, part[:cut]])
        yield number, block
        number += block.count(b"\n")
        waiting = [part[cut:]]
    if rest := b"".join(waiting):
        yield number, rest


def _parsed(text: bytes, parser: ox.RdfFormat, lenient: bool = False) -> ox.QuadParser:
    """The quads of whole lines; raises ValueError for what the parser would not survive, or not take."""
    try:
        if b"<<" in text:
            require_bounds(text, "Turtle")
    except OutOfBounds as error:
        raise ValueError(error.what) from error
    if max(map(len, text.split(b"\n"))) >= LONGEST:
        raise ValueError(TOO_LONG)
    return ox.parse(text, format=parser, lenient=lenient)


def _line_by_line(first: int, block: bytes, parser: ox.RdfFormat, tally: Tally) -> Iterator[ox.Quad]:
    for number, line in enumerate(block.split(b"\n"), start=first):
        try:
            yield from list(_parsed(line, parser))
        except (SyntaxError, ValueError) as error:
            quads = _leniently(line, parser, tally)
            if not quads:
                tally.fault(number, line, reason_of(error))
            yield from quads


def _leniently(line: bytes, parser: ox.RdfFormat, tally: Tally) -> list[ox.Quad]:
    """The quad of a line whose only fault is characters that an IRI may not hold; nothing otherwise."""
    try:
        quads = list(_parsed(line, parser, lenient=True))
        return [repair(quad, tally) for quad in quads] if len(quads) == 1 else []
    except (SyntaxError, ValueError):
        return []


def reason_of(error: Exception) -> str:
    """What the parser says, without its position."""
    text = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    return text.split(": ", 1)[1] if text.startswith("Parser error") and ": " in text else text


def read_statements(
    stream: ByteStream,
    kind: ox.RdfFormat,
    base: str,
    tally: Tally,
    contexts: Mapping[str, Path] = MappingProxyType({}),
) -> Iterator[ox.Quad]:
    """The quads of a Turtle, TriG, RDF/XML or JSON-LD file; faults are told to ``tally``.

    ``contexts``: files that stand in for contexts of JSON-LD at addresses. Raises SourceError where a file refers to another
    one, and OutOfBounds.
    """
    if kind in (TURTLE, TRIG):
        yield from _in_runs(stream, kind, base, tally)
        return
    for quad in _until_fault(stream, kind, base, tally, contexts):
        try:
            yield repair(quad, tally)
        except ValueError:
            tally.skipped["relative or invalid IRI"] += 1


def _until_fault(
    stream: ByteStream, kind: ox.RdfFormat, base: str, tally: Tally, contexts: Mapping[str, Path]
) -> Iterator[ox.Quad]:
    named = WithContexts(stream.read, contexts)
    whole = Bounded(stream.read, "XML") if kind == RDF_XML else Bounded(named.read, "JSON")
    bounded = cast(IO[bytes], whole)
    try:
        # lenient: the strict parsers drop or garble what surrounds an invalid IRI
        yield from ox.parse(bounded, format=kind, base_iri=base or None, lenient=True)
    except (SyntaxError, ValueError) as error:
        if _REMOTE in str(error):
            address, *_ = [*named.missing, "ADDRESS"]
            raise SourceError(
                f"{stream.path} refers to a JSON-LD context elsewhere ({', '.join(named.missing) or 'in a list'}), "
                "and builds fetch nothing from the network.",
                f"Save it as a file and declare it: crmrag datasets add NAME --context {address}=FILE, or `contexts` in "
                "datasets.yaml. Or convert the data to N-Triples or Turtle.",
            ) from error
        line, reason = getattr(error, "lineno", None), reason_of(error)
        if kind == RDF_XML and line is None:
            line = _xml_line(stream.path)
        tally.fault(line, _line_text(stream.path, line), f"{reason}; the rest of the file was not read")


def _in_runs(stream: ByteStream, kind: ox.RdfFormat, base: str, tally: Tally) -> Iterator[ox.Quad]:
    """One run of the parser after another, each from where the one before got lost.

    After a fault in TriG the graph is unknown until one is named: what would join the default graph is left out.
    """
    header, at = "", 1
    with ByteStream(stream.path) as whole:  # all else that Turtle nests costs the parser little
        has_triple_terms = any(b"<<" in block for _, block in blocks(whole))
    for _ in range(RESTARTS):
        source = Bounded(stream.read, "Turtle") if has_triple_terms else stream
        parser = ox.parse(cast(IO[bytes], source), format=kind, base_iri=base or None)
        faulty, lost_at = at > 1, None
        while lost_at is None:
            try:
                quad = next(parser)
            except StopIteration:
                return
            except (SyntaxError, ValueError) as error:
                faulty, lost_at = True, _lost_at(error, stream.path, kind, at - 1 - header.count("\n"), tally)
                continue
            in_default = isinstance(quad.graph_name, ox.DefaultGraph)
            if faulty and in_default and kind == TRIG:
                tally.skipped["graph unknown after a fault in TriG"] += 1
                continue
            faulty = faulty and in_default
            yield quad
        next_at = _next_statement(stream.path, lost_at)
        if next_at is None:
            return
        base = parser.base_iri or base
        at, header = next_at, "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in parser.prefixes.items())
        stream = ByteStream(stream.path).at_line(at, header.encode())
    tally.fault(at, "", f"reading was given up after {RESTARTS} restarts; the rest of the file was not read")


def _lost_at(error: Exception, path: Path, kind: ox.RdfFormat, added: int, tally: Tally) -> int | None:
    """Tell of a fault; its line where the parser does not recover from it: one that spans lines, or any in TriG.

    ``added``: what the parser's line numbers lack.
    """
    first, last = getattr(error, "lineno", None), getattr(error, "end_lineno", None)
    line = None if first is None else first + added
    tally.fault(line, _line_text(path, line) if tally.keeps else b"", reason_of(error))
    is_lost = first is not None and last is not None and (last > first or kind == TRIG)
    return line if is_lost else None


def _next_statement(path: Path, after: int) -> int | None:
    """Number of the first line after line ``after`` that looks like the start of a statement."""
    ended = False
    for number, line in _lines(path):
        if number > after and ended and _START.match(line):
            return number
        if stripped := line.strip():
            ended = stripped.endswith((b".", b"}")) or stripped.startswith(b"#")
    return None


def _line_text(path: Path, line: int | None) -> bytes:
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
            while part := stream.read(PORTION):
                parser.Parse(part, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return error.lineno
    return None
