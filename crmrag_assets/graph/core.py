"""All triples of a data set as numbers, from its prefetched chunks.

Every distinct term is numbered in the order of its UTF-8 bytes. A triple remembers who states it by the number of a set of
named graphs. Nothing depends on how many chunks there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.build.scratch import Growing, Scratch, blocks
from crmrag_query.graph.arrays import (
    Ints,
    Longs,
    Rows,
    places_in,
    rows_in_order,
    run_starts,
    sorted_rows,
)
from crmrag_query.syntax import RDF_TYPE

WORDS = ["s", "p", "o"]  # read as numbers of words, as the files hold them
Mask = npt.NDArray[np.bool_]


def number_groups(first: Longs, values: Ints) -> tuple[list[tuple[int, ...]], Ints]:
    """Distinct groups of consecutive values, and for each group which of them it is.

    ``first`` int [k]: where each group starts in ``values``; a group may be empty. The distinct groups are in order of
    length, then value.
    """
    size = np.diff(np.append(first, len(values)))
    which = np.zeros(len(first), np.int32)
    distinct: list[tuple[int, ...]] = []
    for width in np.unique(size).tolist():
        groups = np.flatnonzero(size == width)
        if width == 1:  # nearly all groups, of numbers that are small
            numbers = values[first[groups]]
            single = np.flatnonzero(np.bincount(numbers)).astype(np.int32)
            rows = single[:, None]
            which[groups] = places_among(single, numbers) + len(distinct)
        else:
            rows = values[first[groups][:, None] + np.arange(width)]
            rows, inverse = np.unique(rows, axis=0, return_inverse=True)
            which[groups] = inverse.reshape(-1) + len(distinct)
        distinct.extend(map(tuple, rows.tolist()))
    return distinct, which


def places_among(ascending: Ints, numbers: Ints) -> Ints:
    """Where each number stands among those that occur."""
    place = np.zeros(int(ascending.max(initial=0)) + 1, np.int32)
    place[ascending] = np.arange(len(ascending), dtype=np.int32)
    return place[numbers]


@dataclass
class GraphSets:
    """Collects sets of graph numbers and gives each a provisional number; 0 is the default graph alone."""

    found: dict[tuple[int, ...], int] = field(default_factory=lambda: {(0,): 0})

    def number(self, first: Longs, graph: Ints) -> Ints:
        """Provisional set of each group; ``graph`` ascending within a group, ``first`` where each group starts."""
        distinct, which = number_groups(first, graph)
        known = [self.found.setdefault(group, len(self.found)) for group in distinct]
        return np.array(known, np.int32)[which]

    def final(self, names: tuple[str, ...]) -> tuple[list[list[str]], Ints]:
        """The sets as names in their final order, and the final number of each provisional one.

        The default graph alone is set 0 and has no names; together with named graphs it is "".
        """
        ordered = sorted(self.found, key=lambda key: (key != (0,), key))
        renumbered = np.empty(len(ordered), np.int32)
        for number, key in enumerate(ordered):
            renumbered[self.found[key]] = number
        return [[] if key == (0,) else [names[graph] for graph in key] for key in ordered], renumbered


@dataclass(frozen=True)
class Terms:
    """Sorted distinct terms; a term's number is its position. ``graphs`` starts with "" (default graph)."""

    nodes: pl.Series
    classes: tuple[str, ...]
    properties: tuple[str, ...]
    graphs: tuple[str, ...]


@dataclass(frozen=True)
class Coded:
    """A column as numbers of words: ``number`` int32 [rows] are places in ``words`` (large_utf8), of which all are used."""

    number: Ints
    words: pa.Array

    @classmethod
    def of(cls, encoded: pa.DictionaryArray, mask: Mask) -> Coded:
        """The rows of a column where the mask is true."""
        numbers = encoded.indices.to_numpy(zero_copy_only=False)[mask]
        used = np.zeros(len(encoded.dictionary), bool)
        used[numbers] = True
        place = np.cumsum(used, dtype=np.int32) - 1
        return cls(place[numbers], encoded.dictionary.filter(pa.array(used)).cast(pa.large_utf8()))

    def kept(self, scratch: Scratch) -> Coded:
        """The same, on disk."""
        return Coded(scratch.kept(self.number), scratch.kept_words(self.words))


@dataclass(frozen=True)
class Chunk:
    """One chunk's rows by what they lead to: a class (``types``), a literal (``values``, ``datatype``, ``lang``) or a node.

    ``subject`` and ``graph`` are of all rows, ``property`` of rows without a class; ``kinds`` are the classes and
    ``target`` the nodes of the rows that lead to them.
    """

    types: Mask
    literal: Mask
    values: pa.Array
    subject: Coded
    property: Coded
    target: Coded
    kinds: Coded
    graph: Coded
    datatype: Coded
    lang: Coded

    @classmethod
    def read(cls, path: Path, scratch: Scratch) -> Chunk:
        """What it holds is on disk. A type given as a literal is an ordinary literal."""
        table = pq.read_table(path, read_dictionary=WORDS)
        words = (*WORDS, "g", "datatype", "lang")
        s, p, o, g, datatype, lang = (_encoded(table.column(name)) for name in words)
        literal = table.column("kind").to_numpy() == 1
        is_type = np.array([word == RDF_TYPE for word in p.dictionary.to_pylist()], bool)
        types = ~literal & is_type[p.indices.to_numpy(zero_copy_only=False)]
        every = np.ones(len(literal), bool)
        values = o.filter(pa.array(literal)).cast(pa.large_utf8())
        coded = (
            Coded.of(column, mask).kept(scratch)
            for column, mask in (
                (s, every),
                (p, ~types),
                (o, ~types & ~literal),
                (o, types),
                (g, every),
                (datatype, literal),
                (lang, literal),
            )
        )
        return cls(scratch.kept(types), scratch.kept(literal), scratch.kept_words(values), *coded)


def _encoded(column: pa.ChunkedArray) -> pa.DictionaryArray:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    return column.unify_dictionaries().combine_chunks()


def number_words(parts: Sequence[Coded]) -> tuple[pl.Series, list[Ints]]:
    """The distinct words of all parts, sorted by their UTF-8 bytes, and the number among these of each word of each part."""
    encoded = pa.chunked_array([part.words for part in parts], pa.large_utf8()).dictionary_encode().chunks
    words = pl.Series(pl.from_arrow(encoded[0].dictionary) if encoded else [], dtype=pl.String)
    order = words.arg_sort().to_numpy()
    placed = places_in(order)[
        np.concatenate([np.empty(0, np.int32), *(chunk.indices.to_numpy() for chunk in encoded)])
    ]
    ends = np.cumsum([len(part.words) for part in parts])[:-1]
    return words.gather(order), np.split(placed, ends) if parts else []


LITERAL_ORDER = ["subject", "property", "value", "lang", "datatype"]
# Made by polars, since `pa.array` loads pandas where that is installed, and every build imports this module.
DEFAULT_GRAPH = Coded(np.empty(0, np.int32), pl.Series([""]).to_arrow())


@dataclass(frozen=True)
class Core:
    """All triples of a data set; numbers as in ``terms``, everything else of the graph artifact is derived from this.

    ``entity`` bool [n]: described as a subject; ``literals``: columns of schema "literals" with plain strings.
    """

    terms: Terms
    entity: Mask
    type_ptr: Longs
    type_val: Ints
    forward: Rows
    backward: Rows
    triple_graph: Ints
    literals: pl.DataFrame
    graph_sets: list[list[str]]

    @property
    def nodes(self) -> int:
        return len(self.entity)

    def nodes_of(self, classes: npt.NDArray[np.integer]) -> Ints:
        """Nodes with one of these classes, ascending."""
        typed = np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.type_ptr))
        nodes = typed[np.isin(self.type_val, classes)]
        return nodes[run_starts(nodes)]


def build_core(files: Sequence[Path], threads: int = 1, folder: Path | None = None) -> Core:
    """Number the triples of all chunks, which are as `prefetch` writes them: whole entities, sorted and distinct.

    ``folder``: on whose disk is what there is of every triple, see `Scratch`.
    """
    scratch = Scratch(folder)
    with ThreadPoolExecutor(threads) as pool:
        chunks = list(pool.map(lambda path: Chunk.read(path, scratch), files))
    terms, stated_types, stated_links, stated_literals = _number(chunks, scratch)
    del chunks
    sets = GraphSets()
    node, kind = sorted_rows(stated_types, scratch.empty)
    new = run_starts(node, kind)
    if not new.all():
        node, kind = node[new], kind[new]
    literals = _distinct_literals(stated_literals, sets)
    prop, subject, target, triple_graph = _distinct_links(stated_links, sets, scratch)
    entity = np.zeros(len(terms.nodes), bool)
    for described in (node, literals["subject"].to_numpy(), subject):
        entity[described] = True
    names, final = sets.final(terms.graphs)
    for part in blocks(len(triple_graph)):
        triple_graph[part] = final[triple_graph[part]]
    turned_prop, reached, from_ = sorted_rows((prop, target, subject), scratch.empty)
    return Core(
        terms=terms,
        entity=entity,
        type_ptr=pointers(node, len(entity)),
        type_val=kind,
        forward=rows_in_order(prop, subject, target, len(terms.properties), scratch.empty),
        backward=rows_in_order(turned_prop, reached, from_, len(terms.properties), scratch.empty),
        triple_graph=triple_graph,
        literals=literals.with_columns(graph=pl.Series(final[literals["graph"].to_numpy()], dtype=pl.Int32)),
        graph_sets=names,
    )


def among(column: str, numbers: npt.ArrayLike) -> pl.Expr:
    """Whether a column of node or property numbers is one of these."""
    return pl.col(column).is_in(pl.Series(np.asarray(numbers, np.int32)).implode())


def pointers(sorted_keys: npt.NDArray[np.integer], size: int) -> Longs:
    """Where each key 0 … size-1 starts in ``sorted_keys``; int64 [size+1]."""
    return np.searchsorted(sorted_keys, np.arange(size + 1)).astype(np.int64)


def _number(chunks: list[Chunk], scratch: Scratch) -> tuple[Terms, list[Ints], list[Ints], pl.DataFrame]:
    """All chunks one below the other in numbers.

    Types: subject, class; links: property, subject, object, named graph, int32 each; literals as in `Core`, by subject and by
    their order in the chunks, ``graph`` that of each statement.
    """
    count = len(chunks)
    nodes, ends = number_words([chunk.subject for chunk in chunks] + [chunk.target for chunk in chunks])
    classes, kinds = number_words([chunk.kinds for chunk in chunks])
    properties, props = number_words([chunk.property for chunk in chunks])
    graphs, stated = number_words([DEFAULT_GRAPH, *(chunk.graph for chunk in chunks)])
    datatypes, typed = number_words([chunk.datatype for chunk in chunks])
    langs, tagged = number_words([chunk.lang for chunk in chunks])
    types, links = ([scratch.growing(np.int32) for _ in range(count)] for count in (2, 4))
    numbers, values = [scratch.growing(np.int32) for _ in range(5)], []
    for at, chunk in enumerate(chunks):
        literal, link = chunk.literal, ~chunk.types & ~chunk.literal
        with_literal, with_link = literal[~chunk.types], link[~chunk.types]
        subject, prop = ends[at][chunk.subject.number], props[at][chunk.property.number]
        target, graph = ends[count + at][chunk.target.number], stated[at + 1][chunk.graph.number]
        kind = kinds[at][chunk.kinds.number]
        told = typed[at][chunk.datatype.number], tagged[at][chunk.lang.number]
        _add(types, subject[chunk.types], kind)
        _add(links, prop[with_link], subject[link], target, graph[link])
        _add(numbers, subject[literal], prop[with_literal], *told, graph[literal])
        values.append(chunk.values)
    # Chunks hold whole entities, so ordering them by subject keeps each entity's literals in order.
    subject, prop, datatype, lang, graph = (column.array for column in numbers)
    order = np.argsort(subject, kind="stable")
    texts = pa.chunked_array(values, pa.large_utf8()).combine_chunks().take(pa.array(order))
    by_subject = pl.DataFrame(
        {
            "subject": subject[order],
            "property": prop[order],
            "value": pl.Series(pl.from_arrow(texts), dtype=pl.String),
            "datatype": datatypes.gather(datatype[order]),
            "lang": langs.gather(lang[order]),
            "graph": graph[order],
        }
    )
    words = [tuple(column.to_list()) for column in (classes, properties, graphs)]
    stated_types, stated_links = ([column.array for column in part] for part in (types, links))
    return Terms(nodes, *words), stated_types, stated_links, by_subject


def _add(columns: Sequence[Growing], *values: Ints) -> None:
    for column, own in zip(columns, values, strict=True):
        column.add(own)


def _distinct_literals(stated: pl.DataFrame, sets: GraphSets) -> pl.DataFrame:
    """Each literal once, with the provisional set of the graphs that state it, which stand one below the other."""
    graph = stated["graph"].to_numpy()
    first = np.arange(len(stated))
    if graph.any():
        parts = (pl.col(name) != pl.col(name).shift(1) for name in LITERAL_ORDER)
        new = stated.select(pl.any_horizontal(*parts).fill_null(True)).to_series()
        first = np.flatnonzero(new.to_numpy())
        stated = stated[first]
    numbers = sets.number(first, graph)
    return stated.with_columns(graph=pl.Series(numbers, dtype=pl.Int32))


def _distinct_links(
    links: Sequence[Ints], sets: GraphSets, scratch: Scratch
) -> tuple[Ints, Ints, Ints, Ints]:
    """Property, subject and object of each triple once, in that order, and the provisional set of its graphs."""
    prop, subject, target, graph = sorted_rows(links, scratch.empty)
    new = run_starts(prop, subject, target)
    if new.all() and not graph.any():  # all in the default graph alone, the first of the sets
        return prop, subject, target, graph
    statement, triple = run_starts(prop, subject, target, graph), np.flatnonzero(new)
    place = np.cumsum(statement) - 1  # of each row among the distinct statements
    numbers = sets.number(place[triple], graph[statement])
    prop, subject, target = (scratch.gathered(column, triple) for column in (prop, subject, target))
    return prop, subject, target, numbers
