"""N-Triples and N-Quads: read in blocks of whole lines, a block that fails line by line."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.columns import NO_COLUMNS, PLAIN_QUAD, PLAIN_TRIPLE, canonical_lines, split_lines
from crmrag_assets.harvest.report import Tally
from crmrag_assets.sources.iris import repair
from crmrag_assets.sources.streams import ByteStream
from crmrag_query.errors import SourceError

BLOCK = 1 << 20  # bytes
LONGEST_LINE = 1 << 28  # bytes


def read_lines(
    stream: ByteStream, parser: ox.RdfFormat, tally: Tally
) -> Iterator[tuple[pl.DataFrame, bytes]]:
    """The quads of each block: the plain lines as columns of schema COLUMNS, the others as canonical N-Quads.

    Broken lines are told to ``tally`` and skipped.
    """
    plain = PLAIN_TRIPLE if parser == ox.RdfFormat.N_TRIPLES else PLAIN_QUAD
    for first, block in blocks(stream):
        columns, others = split_lines(block, plain)
        try:
            rest = canonical_lines(ox.parse(others, format=parser))
        except (SyntaxError, ValueError):
            columns, rest = NO_COLUMNS, canonical_lines(_line_by_line(first, block, parser, tally))
        yield columns, rest


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


def _line_by_line(first: int, block: bytes, parser: ox.RdfFormat, tally: Tally) -> Iterator[ox.Quad]:
    for number, line in enumerate(block.split(b"\n"), start=first):
        try:
            yield from list(ox.parse(line, format=parser))
        except (SyntaxError, ValueError) as error:
            quads = _leniently(line, parser, tally)
            if not quads:
                tally.fault(number, line, reason_of(error))
            yield from quads


def _leniently(line: bytes, parser: ox.RdfFormat, tally: Tally) -> list[ox.Quad]:
    """The quad of a line whose only fault is characters that an IRI may not hold; nothing otherwise."""
    try:
        quads = list(ox.parse(line, format=parser, lenient=True))
        return [repair(quad, tally) for quad in quads] if len(quads) == 1 else []
    except (SyntaxError, ValueError):
        return []


def reason_of(error: Exception) -> str:
    """What the parser says, without its position."""
    text = str(error.msg) if isinstance(error, SyntaxError) else str(error)
    return text.split(": ", 1)[1] if text.startswith("Parser error") and ": " in text else text
