"""N-Quads as columns: the plain lines of a block split all at once, in place of a Python object for each term.

A line is plain when it is written in the one canonical way (a space between terms, nothing escaped, no blank nodes) and holds
only what every grammar allows: that is less than the parser takes, and never more. All others are handed back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import numpy.typing as npt
import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.triples import IRI, LITERAL, TRIPLES, XSD_STRING
from crmrag_assets.harvest.views import Block, Places

COLUMNS = {name: pl.UInt8() if name == "kind" else pl.String() for name in TRIPLES.names}
"""Of the table TRIPLES: terms without brackets and quotation marks; "" where there is no datatype, language or graph."""

_NOTHING = pl.Series([""])
NO_COLUMNS = pl.DataFrame(schema=COLUMNS)
Mask = npt.NDArray[np.bool_]
LINE_END, SPACE, QUOTE, BRACKET, AT, CARET = b'\n "<@^'
_SEPARATES: Final = np.isin(np.arange(256), [LINE_END, SPACE, QUOTE])
_SYNTAX: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_MARKED: Final = (f"{_SYNTAX}langString", f"{_SYNTAX}dirLangString")  # datatypes that need a language
_MARK: Final = b"angString>"

_SEGMENT: Final = r"[A-Za-z0-9_.~!$&'()*+,;=:@\xA0-\x{D7FF}-]|%[0-9A-Fa-f]{2}"
_PATH: Final = rf"//[A-Za-z0-9.-]+(?::[0-9]*)?(?:/(?:{_SEGMENT}|/)*)?|(?:{_SEGMENT})(?:{_SEGMENT}|/)*"
_IRI: Final = rf"<[A-Za-z][A-Za-z0-9+.-]*:(?:{_PATH})(?:\?(?:{_SEGMENT}|[/?])*)?(?:#(?:{_SEGMENT}|[/?])*)?>"
_TEXT: Final = r'"[^"\\\x00-\x1F\x7F]*"'
_LITERAL: Final = rf"{_TEXT}(?:@[A-Za-z]{{2,3}}(?:-[A-Za-z]{{2}})?|\^\^{_IRI})?"
_TRIPLE: Final = rf"^{_IRI} {_IRI} (?:{_IRI}|{_LITERAL})"
PLAIN_TRIPLE: Final = rf"{_TRIPLE} \.$"
PLAIN_QUAD: Final = rf"{_TRIPLE}(?: {_IRI})? \.$"


def canonical_lines(quads: Iterable[ox.Quad]) -> bytes:
    """Quads as canonical N-Quads, a line each; raises what reading them raises."""
    return cast(bytes, ox.serialize(quads, format=ox.RdfFormat.N_QUADS))


def split_lines(lines: bytes, plain: str = PLAIN_QUAD) -> tuple[pl.DataFrame, bytes]:
    """Columns of schema COLUMNS of the plain lines, and the other lines.

    ``plain``: which are; PLAIN_TRIPLE where a line may not name a graph. The strings are views of the lines, which stay in
    memory with them.
    """
    block = Block(lines if lines.endswith(b"\n") else lines + b"\n")
    places = _Places.of(block)
    try:
        # strings made from bytes are not known to be UTF-8: the cast looks
        text = block.strings(places.start, places.end).cast(pl.Binary).cast(pl.String)
    except pl.exceptions.ComputeError:
        return NO_COLUMNS, lines
    good = text.str.contains(plain).to_numpy()
    frame = _columns(block, places, np.flatnonzero(good))
    if _MARK in lines and (marked := frame["datatype"].is_in(_MARKED)).any():
        good[good] = ~marked.to_numpy()
        frame = frame.filter(~marked)
    others = () if good.all() else text.filter(~good)
    return frame, "".join(f"{line}\n" for line in others).encode()


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the lines of a block stand (``start``, ``end``, int64 [lines]), and what separates their terms.

    ``mark`` int64 [m] and ``kind`` uint8 [m]: place and byte of every line end, space and quotation mark, ascending;
    ``first`` int64 [lines]: number of each line's first mark.
    """

    start: Places
    end: Places
    mark: Places
    kind: npt.NDArray[np.uint8]
    first: Places

    @classmethod
    def of(cls, block: Block) -> _Places:
        mark = np.flatnonzero(block.bytes <= QUOTE)
        kind = block.bytes[mark]
        if not (known := _SEPARATES[kind]).all():
            mark, kind = mark[known], kind[known]
        last = np.flatnonzero(kind == LINE_END)
        end = mark[last]
        return cls(np.append(0, end[:-1] + 1), end, mark, kind, np.append(0, last[:-1] + 1))


def _columns(block: Block, places: _Places, lines: Places) -> pl.DataFrame:
    """The plain lines of these numbers; their marks are the spaces between terms and the literal's quotation marks."""
    mark, first = places.mark, places.first[lines]
    predicate, object_ = mark[first] + 1, mark[first + 1] + 1
    literal = block.bytes[object_] == QUOTE
    quotes = np.flatnonzero(places.kind == QUOTE)
    close = first + 2
    close[literal] = quotes[np.searchsorted(quotes, close[literal]) + 1]
    behind = close + literal  # the space behind the object
    object_end, tail = mark[behind], mark[close] + 1
    graph = object_end + 1
    graph_end = np.where(block.bytes[graph] == BRACKET, mark[np.minimum(behind + 1, len(mark) - 1)], graph)
    typed, tagged = literal & (block.bytes[tail] == CARET), literal & (block.bytes[tail] == AT)
    return pl.DataFrame(
        {
            "s": block.strings(places.start[lines] + 1, mark[first] - 1),
            "p": block.strings(predicate + 1, mark[first + 1] - 1),
            "o": block.strings(object_ + 1, np.where(literal, mark[close], object_end - 1)),
            "kind": np.where(literal, LITERAL, IRI).astype(np.uint8),
            "datatype": _where(typed, block, tail + 3, object_end - 1, _unless_string),
            "lang": _where(tagged, block, tail + 1, object_end, _lower),
            "g": _where(graph_end > graph, block, graph + 1, graph_end - 1),
        }
    )


def _where(
    wanted: Mask,
    block: Block,
    start: Places,
    end: Places,
    made: Callable[[pl.Series], pl.Series] | None = None,
) -> pl.Series:
    """What is ``made`` of the strings where they are wanted, "" elsewhere."""
    if not wanted.any():
        return _NOTHING.new_from_index(0, len(wanted))
    found = block.strings(start[wanted], end[wanted])
    number = np.cumsum(wanted)
    number[~wanted] = 0
    return pl.concat([_NOTHING, made(found) if made else found]).gather(number)


def _lower(tags: pl.Series) -> pl.Series:
    return tags.str.to_lowercase()


def _unless_string(datatypes: pl.Series) -> pl.Series:
    return datatypes.replace(XSD_STRING, "")
