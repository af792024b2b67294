"""All triples of a release as N-Quads, in batches of lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.graph.graph import Graph

BATCH = 100_000  # triples
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_FORBIDDEN = r'[\x00-\x20<>"{}|^`\\]'
_ESCAPES = (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"))
_TEXT = pa.large_utf8()


def statements(graph: Graph) -> Iterator[memoryview]:
    """Every triple once for each named graph that states it, as lines of N-Quads in UTF-8.

    Types stand in the default graph: a release does not keep which graphs state them. Signs that IRIs may not hold are
    written as escapes, to be read leniently. Blank nodes have their names in the release (``urn:skolem:…``).
    """
    nodes = _iris(graph.iris)
    properties = _iris(_texts([graph.property_iri(n) for n in range(len(graph.property_codes))]))
    tails = _Tails.of(graph)
    yield from _links(graph, nodes, properties, tails)
    yield from _types(graph, nodes)
    yield from _literals(graph, nodes, properties, tails)


class _Tails:
    """How lines end: by the named graphs of a set of graphs, one line for each."""

    def __init__(self, ends: pa.Array, first: Longs, count: Longs) -> None:
        self.ends, self.first, self.count = ends, first, count

    @classmethod
    def of(cls, graph: Graph) -> _Tails:
        sets = [names or ("",) for names in graph.graph_sets]
        ends = [f" {_iri(name)} .\n" if name else " .\n" for names in sets for name in names]
        count = np.array([len(names) for names in sets], np.int64)
        return cls(_texts(ends), np.cumsum(count) - count, count)

    def spread(self, numbers: Ints) -> tuple[Longs, pa.Array]:
        """For triples with these sets of graphs: which triple each line is of, and how it ends."""
        count = self.count[numbers]
        line = np.repeat(np.arange(len(numbers)), count)
        within = np.arange(len(line)) - np.repeat(np.cumsum(count) - count, count)
        return line, self.ends.take(pa.array(self.first[numbers][line] + within))


def _links(graph: Graph, nodes: pa.Array, properties: pa.Array, tails: _Tails) -> Iterator[memoryview]:
    rows = graph.adjacency.forward
    for start in range(0, len(rows.val), BATCH):
        at = np.arange(start, min(start + BATCH, len(rows.val)))
        line, ends = tails.spread(np.asarray(graph.triple_graph[start : start + BATCH]))
        at = at[line]
        row = np.searchsorted(rows.ptr, at, side="right") - 1
        prop = np.searchsorted(rows.prop, row, side="right") - 1
        yield _lines(
            nodes.take(pa.array(rows.row[row])),
            properties.take(pa.array(prop)),
            nodes.take(pa.array(rows.val[at])),
            ends,
        )


def _types(graph: Graph, nodes: pa.Array) -> Iterator[memoryview]:
    ptr, types = graph.type_rows
    classes = _iris(_texts([graph.class_iri(n) for n in range(len(graph.class_codes))]))
    for start in range(0, len(types), BATCH):
        part = types[start : start + BATCH]
        subject = np.searchsorted(ptr, np.arange(start, start + len(part)), side="right") - 1
        yield _lines(
            nodes.take(pa.array(subject)), _text(f"<{RDF_TYPE}>"), classes.take(pa.array(part)), _text(" .\n")
        )


def _literals(graph: Graph, nodes: pa.Array, properties: pa.Array, tails: _Tails) -> Iterator[memoryview]:
    table = graph.literal_table
    for start in range(0, table.num_rows, BATCH):
        part = table.slice(start, BATCH)
        line, ends = tails.spread(part.column("graph").to_numpy())
        part = part.take(pa.array(line))
        yield _lines(
            nodes.take(part.column("subject")), properties.take(part.column("property")), _literal(part), ends
        )


def _literal(part: pa.RecordBatch) -> pa.Array:
    """Literals as N-Quads writes them."""
    value = part.column("value")
    for sign, escape in _ESCAPES:
        value = pc.replace_substring(value, sign, escape)
    kind = _each_word(part.column("datatype"), lambda word: f"^^{_iri(word)}" if word else "")
    lang = _each_word(part.column("lang"), lambda word: f"@{word}" if word else "")
    return pc.binary_join_element_wise(_text('"'), value, _text('"'), kind, lang, _text(""))


def _each_word(column: pa.DictionaryArray, written: Callable[[str], str]) -> pa.Array:
    return _texts([written(word) for word in column.dictionary.to_pylist()]).take(column.indices)


def _lines(s: pa.Array, p: pa.Array, o: pa.Array, ends: pa.Array) -> memoryview:
    """Lines of these columns, of which one may be a single text, as they stand in memory."""
    space = _text(" ")
    joined = pc.binary_join_element_wise(s, space, p, space, o, ends, _text(""))
    _, offsets, data = joined.buffers()
    ends_at = np.frombuffer(offsets, np.int64, len(joined) + 1, joined.offset * 8)
    return memoryview(data)[int(ends_at[0]) : int(ends_at[-1])]


def _iris(column: pa.Array) -> pa.Array:
    """IRIs in angle brackets."""
    odd = pc.match_substring_regex(column, _FORBIDDEN)
    if pc.any(odd).as_py():
        written = [_iri(iri)[1:-1] for iri in column.filter(odd).to_pylist()]
        column = pc.replace_with_mask(column, odd, _texts(written))
    return pc.binary_join_element_wise(_text("<"), column, _text(">"), _text(""))


def _iri(iri: str) -> str:
    return f"<{re.sub(_FORBIDDEN, _escaped, iri)}>"


def _escaped(sign: re.Match[str]) -> str:
    return f"\\u{ord(sign[0]):04X}"


def _texts(texts: list[str]) -> pa.Array:
    return pa.array(texts, _TEXT)


def _text(text: str) -> pa.Scalar:
    return pa.scalar(text, _TEXT)
