"""Rows of terms as frames of triples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import polars as pl
import pyoxigraph as ox

from crmrag_assets.harvest.report import LEFT_OUT, REPEATED
from crmrag_assets.harvest.triples import IRI, LITERAL, XSD_STRING
from crmrag_assets.sources.endpoint.results import Row

COLUMNS = ("s", "p", "o", "kind", "datatype", "lang", "g")
SCHEMA = {name: pl.UInt8 if name == "kind" else pl.String for name in COLUMNS}


def to_frame(rows: Iterable[Row], notes: Counter[str]) -> pl.DataFrame:
    """Distinct rows of s, p, o (and g) with columns of schema TRIPLES.

    Counts what is no triple of a named subject and a named or literal object, and what came more than once.

    A graph named by a blank node cannot be named outside its response: its triples join the default graph.
    """
    held: list[tuple[str, str, str, int, str, str, str]] = []
    for s, p, o, *rest in rows:
        if not isinstance(s, ox.NamedNode) or not isinstance(p, ox.NamedNode):
            notes[LEFT_OUT] += 1
            continue
        graph = rest[0].value if rest and isinstance(rest[0], ox.NamedNode) else ""
        if isinstance(o, ox.NamedNode):
            held.append((s.value, p.value, o.value, IRI, "", "", graph))
        elif isinstance(o, ox.Literal):
            language = o.language or ""
            datatype = "" if language or o.datatype.value == XSD_STRING else o.datatype.value
            held.append((s.value, p.value, o.value, LITERAL, datatype, language, graph))
        else:
            notes[LEFT_OUT] += 1
    columns = zip(*held, strict=True) if held else ([] for _ in COLUMNS)
    frame = pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)), schema=SCHEMA).unique()
    notes[REPEATED] += len(held) - len(frame)
    return frame
