"""Literals that routes end in: their rows, equal terms as one number, and the numbers that they state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.graph.arrays import Longs
from crmrag_query.plans.world import Mask, World

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBER = "^[+-]?[0-9]{1,300}([.][0-9]+)?([eE][+-]?[0-9]{1,2})?$"
"""Texts that are numbers, whatever their datatype; in the dialects of Python, RE2 and SPARQL."""
DAYS = tuple(XSD + name for name in ("date", "dateTime", "gYear", "gYearMonth"))
"""Datatypes of what is a date, however much it looks like a number."""


@dataclass(frozen=True, slots=True)
class LiteralValue:
    """A literal in a table or group: its text, datatype IRI ("" for strings) and language."""

    text: str
    datatype: str = ""
    lang: str = ""


def literal(world: World, row: int) -> LiteralValue:
    """The literal in a row of the graph's literals."""
    table = world.graph.literal_table
    text, datatype, lang = (table.column(name)[row].as_py() for name in ("value", "datatype", "lang"))
    return LiteralValue(text, datatype, lang)


def same_terms(world: World, rows: Longs) -> Longs:
    """For each row of the literals the lowest of these rows with the same term."""
    if not len(rows):
        return rows
    distinct, back = np.unique(rows, return_inverse=True)
    table, at = world.graph.literal_table, pa.array(distinct)
    term = np.zeros(len(distinct), np.int64)
    for name in ("value", "datatype", "lang"):
        column = table.column(name).take(at)
        words = column if isinstance(column, pa.DictionaryArray) else column.dictionary_encode()
        code = words.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        _, term = np.unique(term * (int(code.max()) + 1) + code, return_inverse=True)
    _, first, same = np.unique(term, return_index=True, return_inverse=True)
    lowest: Longs = distinct[first[same]][back]
    return lowest


def numbers(world: World, rows: Longs) -> tuple[Mask, npt.NDArray[np.float64]]:
    """Which rows of the literals state a number, and the numbers of those."""
    import pyarrow.compute as pc

    table, at = world.graph.literal_table, pa.array(rows)
    text = table.column("value").take(at)
    dates = pc.is_in(table.column("datatype").take(at).cast(pa.utf8()), pa.array(DAYS))
    plain = pc.and_not(pc.match_substring_regex(text, NUMBER), dates)
    stated: Mask = np.array(plain.to_numpy(zero_copy_only=False), bool)
    value = pc.replace_substring_regex(text.filter(plain), r"^\+", "").cast(pa.float64())
    return stated, value.to_numpy(zero_copy_only=False)
