"""Reading the graph artifact: memory-mapped, each column opened when first asked for.

What it tells of a node are small frozen records. The triples index beside it finds the triples of an entity, as subject and
as object, without a search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.files import ReleaseFiles
from crmrag_query.artifacts.manifest import open_array, open_meta
from crmrag_query.dates import Interval
from crmrag_query.graph.arrays import (
    SCHEMA_VERSION,
    Adjacency,
    Bytes,
    Ints,
    Longs,
    load_rows,
    open_table,
    united,
)
from crmrag_query.ontology.load import normalise_class


@dataclass(frozen=True, slots=True)
class Label:
    """A name of a node; ``lang`` "" when untagged, ``kind`` one of `arrays.LABEL_KINDS`."""

    text: str
    lang: str
    kind: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A literal of a node: property number, lexical value, datatype IRI ("" for strings), language, named graphs."""

    property: int
    value: str
    datatype: str
    lang: str
    graphs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timespan:
    """The dates of a node in day numbers (0001-01-01 = 1, proleptic Gregorian), each end inclusive, None when unknown.

    It lasted at most from ``outer_begin`` to ``outer_end`` and at least from ``inner_begin`` to ``inner_end``;
    ``text`` is how the source states it.
    """

    outer_begin: int | None
    inner_begin: int | None
    inner_end: int | None
    outer_end: int | None
    text: str

    @property
    def interval(self) -> Interval | None:
        """The widest known extent, or None when nothing is known but the text."""
        begin = self.inner_begin if self.outer_begin is None else self.outer_begin
        end = self.inner_end if self.outer_end is None else self.outer_end
        if (begin is None and end is None) or (begin is not None and end is not None and begin > end):
            return None
        return Interval(begin, end)


@dataclass(frozen=True, slots=True)
class Link:
    """The same thing elsewhere; ``kind`` one of `arrays.LINK_KINDS`."""

    iri: str
    kind: str


def language_matches(lang: str, wanted: str) -> bool:
    """True when the tag ``lang`` is ``wanted`` or a regional form of it (``en-GB`` for ``en``)."""
    lang, wanted = lang.lower(), wanted.lower()
    return lang == wanted or lang.startswith(wanted + "-")


@dataclass(frozen=True)
class Graph:
    """One data set's graph; nodes, classes and properties are numbers, see `arrays.SCHEMAS`."""

    folder: Path
    meta: dict[str, Any]

    @classmethod
    def from_release(cls, release: ReleaseFiles) -> Graph:
        return cls.open(release.folder / "graph")

    @classmethod
    def open(cls, folder: Path) -> Graph:
        """Open the artifact in ``folder``; raises ReleaseError when it is missing or of another version."""
        return cls(folder, open_meta(folder / "meta.json", "graph", (SCHEMA_VERSION,)))

    @property
    def nodes(self) -> int:
        return int(self.meta["nodes"])

    @property
    def triples(self) -> int:
        """Triples whose object is a node; literals and types are counted apart."""
        return int(self.meta["triples"])

    @cached_property
    def adjacency(self) -> Adjacency:
        return Adjacency(
            load_rows(self.folder, "forward"),
            load_rows(self.folder, "backward"),
            self.property_codes,
            self.category_of_node,
            open_array(self.folder, "categories"),
            self.flags,
        )

    # nodes

    @cached_property
    def _nodes(self) -> pa.RecordBatch:
        return open_table(self.folder, "nodes")

    @property
    def iris(self) -> pa.LargeStringArray:
        """The IRIs of all nodes in order, mapped."""
        return self._nodes.column("iri")

    @property
    def display_labels(self) -> pa.LargeStringArray:
        """The display labels of all nodes in order, mapped."""
        return self._nodes.column("label")

    @property
    def label_langs(self) -> pa.DictionaryArray:
        """Language tags of the display labels of all nodes in order, mapped."""
        return self._nodes.column("lang")

    @cached_property
    def _iri_bytes(self) -> tuple[Longs, memoryview]:
        _, offsets, data = self.iris.buffers()
        count = len(self.iris) + 1
        return np.frombuffer(offsets, np.int64, count), memoryview(data if data is not None else b"")

    def iri(self, node: int) -> str:
        return str(self.iris[node].as_py())

    def node(self, iri: str) -> int | None:
        """The node of an IRI, or None; binary search over the mapped column."""
        wanted, low = iri.encode(), self._first(iri.encode())
        offsets, data = self._iri_bytes
        return low if low < self.nodes and bytes(data[offsets[low] : offsets[low + 1]]) == wanted else None

    def beginning(self, text: str) -> tuple[int, int]:
        """The nodes whose IRIs begin so, as the first of them and the one after the last."""
        return self._first(text.encode()), self._first(text.encode() + b"\xff")

    def _first(self, wanted: bytes) -> int:
        """The first node whose IRI is this or comes after it."""
        offsets, data = self._iri_bytes
        low, high = 0, self.nodes
        while low < high:
            middle = (low + high) // 2
            if bytes(data[offsets[middle] : offsets[middle + 1]]) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    @cached_property
    def flags(self) -> Bytes:
        return open_array(self.folder, "flags")

    @cached_property
    def category_of_node(self) -> Bytes:
        """Primary category bit of each node, uint8 [n]."""
        return open_array(self.folder, "category")

    def category(self, node: int) -> int:
        """Bit of the node's primary Fundamental Category, 0 when unknown."""
        return int(self.category_of_node[node])

    # names

    @cached_property
    def label_rows(self) -> tuple[pa.RecordBatch, Longs]:
        """Every known name, best first within a node (`arrays.SCHEMAS`), and where each node's begin, int64 [n+1]."""
        return open_table(self.folder, "labels"), open_array(self.folder, "label_ptr")

    def labels(self, node: int) -> list[Label]:
        """Every known name of the node in every language, best first."""
        table, ptr = self.label_rows
        part = table.slice(int(ptr[node]), int(ptr[node + 1] - ptr[node]))
        return [Label(row["text"], row["lang"], row["kind"]) for row in part.to_pylist()]

    @cached_property
    def _tags(self) -> tuple[list[str], Ints, npt.NDArray[np.bool_]]:
        """Language tags of all names, the number of each name's own, and which are alternatives or identifiers."""
        lang, kind = (self.label_rows[0].column(name) for name in ("lang", "kind"))
        besides = np.isin(np.array(kind.dictionary.to_pylist(), object), ("alternative", "identifier"))
        return lang.dictionary.to_pylist(), lang.indices.to_numpy(), besides[kind.indices.to_numpy()]

    def label(self, node: int, languages: Sequence[str] = ()) -> str:
        """The best name in the first of ``languages`` that has one, else the display label. What is but an alternative, such
        as a text of its own, stands for no name in another language."""
        if languages:
            (words, numbers, besides), (table, ptr) = self._tags, self.label_rows
            low, high = int(ptr[node]), int(ptr[node + 1])
            if low < high and not besides[low] and besides[low:high].any():
                high = low + int(np.argmax(besides[low:high]))
            tags = [words[number] for number in numbers[low:high].tolist()]
            for wanted in languages:
                for place, tag in enumerate(tags):
                    if language_matches(tag, wanted):
                        return str(table.column("text")[low + place].as_py())
        return str(self.display_labels[node].as_py())

    def label_lang(self, node: int) -> str:
        """Language tag of the display label, "" when untagged."""
        return str(self._nodes.column("lang")[node].as_py())

    # classes

    @cached_property
    def type_rows(self) -> tuple[Longs, Ints]:
        """``type_ptr`` int64 [n+1] and ``type_val`` int32: class numbers of each node, ascending."""
        return open_array(self.folder, "type_ptr"), open_array(self.folder, "type_val")

    def of_classes(self, classes: Sequence[int]) -> npt.NDArray[np.bool_]:
        """bool [n]: nodes of one of these classes, by number."""
        ptr, val = self.type_rows
        found = np.zeros(self.nodes, bool)
        found[np.repeat(np.arange(self.nodes), np.diff(ptr))[np.isin(val, classes)]] = True
        return found

    def types(self, node: int) -> Ints:
        ptr, val = self.type_rows
        return val[ptr[node] : ptr[node + 1]]

    def codes(self, node: int) -> frozenset[str]:
        """The codes of a node's classes, "" for one outside the CRM family."""
        return frozenset(self.class_code(number) for number in self.types(node).tolist())

    @cached_property
    def _classes(self) -> dict[str, list[Any]]:
        return cast(dict[str, list[Any]], open_table(self.folder, "classes").to_pydict())

    @property
    def class_codes(self) -> tuple[str, ...]:
        return tuple(self._classes["code"])

    def class_iri(self, number: int) -> str:
        return str(self._classes["iri"][number])

    def class_code(self, number: int) -> str:
        """Code of a class (``E22``), "" outside the CRM family."""
        return str(self._classes["code"][number])

    def class_name(self, number: int) -> str:
        """How a class is told from all others: its code, or its IRI where it is the data's own."""
        iri = self.class_iri(number)
        return self.class_code(number) if normalise_class(iri) else iri

    def class_labels(self, number: int) -> list[str]:
        """The names of a class in all languages."""
        return [text for _, text in self._classes["labels"][number]]

    def class_label(self, number: int, lang: str = "") -> str:
        """Name of a class in ``lang``, else in the data set's first language."""
        return str(dict(self._classes["labels"][number]).get(lang) or self._classes["label"][number])

    # properties

    @cached_property
    def _properties(self) -> dict[str, list[Any]]:
        return cast(dict[str, list[Any]], open_table(self.folder, "properties").to_pydict())

    @cached_property
    def property_codes(self) -> tuple[str, ...]:
        return tuple(self._properties["code"])

    def property_iri(self, number: int) -> str:
        return str(self._properties["iri"][number])

    def property_code(self, number: int) -> str:
        """Code of a property (``P108i``), or of the one that the data declares it to be below; "" outside the CRM family."""
        return str(self._properties["code"][number])

    def property_label(self, number: int, inverse: bool = False, lang: str = "") -> str:
        """Name of a property as read from its subject, or from its object when ``inverse``; see ``class_label``."""
        side = "inverse_label" if inverse else "label"
        return self.property_labels(number, inverse).get(lang) or str(self._properties[side][number])

    def property_labels(self, number: int, inverse: bool = False) -> dict[str, str]:
        """Names of a property by language, as `property_label` reads them; none where no language is told."""
        return dict(self._properties["inverse_labels" if inverse else "labels"][number])

    # facts

    @cached_property
    def graph_sets(self) -> list[tuple[str, ...]]:
        """Sets of named graphs by number; 0 is the default graph alone, "" in a set stands for the default graph."""
        return [tuple(names) for names in open_table(self.folder, "graphs").column("graphs").to_pylist()]

    @cached_property
    def named_graphs(self) -> frozenset[str]:
        """The IRIs of all named graphs."""
        return frozenset(name for names in self.graph_sets for name in names if name)

    @cached_property
    def triple_graph(self) -> Ints:
        """Number of the set of named graphs of each triple, int32 [T], in forward order."""
        return open_array(self.folder, "triple_graph")

    @cached_property
    def literal_table(self) -> pa.RecordBatch:
        return open_table(self.folder, "literals")

    @cached_property
    def literal_ptr(self) -> Longs:
        return open_array(self.folder, "literal_ptr")

    def literals(self, node: int) -> list[Literal]:
        start, end = int(self.literal_ptr[node]), int(self.literal_ptr[node + 1])
        rows = self.literal_table.slice(start, end - start).to_pylist()
        sets = self.graph_sets
        return [Literal(r["property"], r["value"], r["datatype"], r["lang"], sets[r["graph"]]) for r in rows]

    # dates, links, images

    @cached_property
    def _by_node(self) -> dict[str, tuple[Ints, pa.RecordBatch]]:
        tables = {name: open_table(self.folder, name) for name in ("timespans", "links", "images")}
        return {name: (table.column("node").to_numpy(), table) for name, table in tables.items()}

    def _rows_of(self, name: str, node: int) -> list[dict[str, Any]]:
        nodes, table = self._by_node[name]
        low, high = np.searchsorted(nodes, np.array([node, node + 1], nodes.dtype))  # else the column is cast
        if low == high:
            return []
        return cast(list[dict[str, Any]], table.slice(int(low), int(high - low)).to_pylist())

    @property
    def timespan_table(self) -> pa.RecordBatch:
        """All dates, sorted by node; see `Timespan`."""
        return self._by_node["timespans"][1]

    @property
    def link_table(self) -> pa.RecordBatch:
        """All links to the same things elsewhere, sorted by node; see `Link`."""
        return self._by_node["links"][1]

    def timespan(self, node: int) -> Timespan | None:
        """Dates stated on the node itself (an event's are on its E52 Time-Span), or None."""
        for row in self._rows_of("timespans", node):
            return Timespan(
                row["outer_begin"], row["inner_begin"], row["inner_end"], row["outer_end"], row["text"]
            )
        return None

    def links(self, node: int) -> list[Link]:
        return [Link(row["iri"], row["kind"]) for row in self._rows_of("links", node)]

    def images(self, node: int) -> list[str]:
        return [row["url"] for row in self._rows_of("images", node)]


OPEN_BEGIN: Final = -(2**31)
OPEN_END: Final = 2**31 - 1
"""Day numbers that stand for an unknown begin or end."""


def extents(graph: Graph) -> tuple[Ints, Ints]:
    """Begin and end of every node's own dates, int32 [n] each; open where unknown or contradictory."""
    import pyarrow.compute as pc

    table = graph.timespan_table
    node, first, last = (
        table.column("node").to_numpy(),
        pc.coalesce(table.column("outer_begin"), table.column("inner_begin"), OPEN_BEGIN).to_numpy(),
        pc.coalesce(table.column("outer_end"), table.column("inner_end"), OPEN_END).to_numpy(),
    )
    sound = first <= last
    begin, end = np.full(graph.nodes, OPEN_BEGIN, np.int32), np.full(graph.nodes, OPEN_END, np.int32)
    begin[node[sound]], end[node[sound]] = first[sound], last[sound]
    return begin, end


@dataclass(frozen=True, slots=True)
class Triple:
    """A triple between nodes; ``number`` is its place in forward order."""

    number: int
    s: int
    p: int
    o: int


@dataclass(frozen=True)
class TriplesIndex:
    """``tri_s``, ``tri_p`` int32 [T] and, mapped, the object ``forward.val``; for each node the numbers of its triples.

    ``out_ptr``, ``in_ptr`` int64 [n+1]; ``out_tri``, ``in_tri`` int32 [T], ascending for each node.
    """

    graph: Graph
    tri_s: Ints
    tri_p: Ints
    out_ptr: Longs
    out_tri: Ints
    in_ptr: Longs
    in_tri: Ints

    @classmethod
    def from_release(cls, release: ReleaseFiles) -> TriplesIndex:
        return cls.open(release.folder / "triples_index", release[Graph])

    @classmethod
    def open(cls, folder: Path, graph: Graph) -> TriplesIndex:
        """Memory-map the index of ``graph``; raises ReleaseError when it is missing."""
        names = ("tri_s", "tri_p", "out_ptr", "out_tri", "in_ptr", "in_tri")
        return cls(graph, *(open_array(folder, name) for name in names))

    def numbers_of(self, node: int) -> Ints:
        """Numbers of the triples with ``node`` as subject or object, ascending, each once."""
        out = self.out_tri[self.out_ptr[node] : self.out_ptr[node + 1]]
        into = self.in_tri[self.in_ptr[node] : self.in_ptr[node + 1]]
        return united(out, into)

    def triple(self, number: int) -> Triple:
        objects = self.graph.adjacency.forward.val
        return Triple(number, int(self.tri_s[number]), int(self.tri_p[number]), int(objects[number]))

    def of(self, node: int, limit: int | None = None) -> list[Triple]:
        """The triples of a node in order of their numbers, at most ``limit``; its literals are ``graph.literals``."""
        return [self.triple(number) for number in self.numbers_of(node)[:limit].tolist()]

    def between(self, node: int, others: Sequence[int]) -> list[Triple]:
        """Those of the triples of a node that have one of the others as subject or object."""
        numbers, objects = self.numbers_of(node), self.graph.adjacency.forward.val
        kept = np.isin(self.tri_s[numbers], others) | np.isin(objects[numbers], others)
        return [self.triple(number) for number in numbers[kept].tolist()]

    def degree(self, node: int) -> int:
        """How many triples have the node as subject, plus how many have it as object."""
        return int(self.out_ptr[node + 1] - self.out_ptr[node] + self.in_ptr[node + 1] - self.in_ptr[node])

    def graphs(self, number: int) -> tuple[str, ...]:
        """The named graphs that state a triple; none for the default graph."""
        return self.graph.graph_sets[int(self.graph.triple_graph[number])]
