"""Second pass over the prefetched chunks: the triples as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.graph.graphsets import GraphSets
from crmrag_assets.graph.terms import Chunk, Coded, Mask, Terms, number_words
from crmrag_query.graph.arrays import Ints, Longs, Rows, rows_from_triples, sorted_rows

Number = TypeVar("Number", bound=np.integer[Any])
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
        return distinct(typed[np.isin(self.type_val, classes)])


@dataclass(frozen=True)
class _Numbered:
    """All chunks one below the other in numbers.

    ``types`` int32 [2, k]: subject, class; ``links`` int32 [4, m]: property, subject, object, named graph; ``literals`` as
    in `Core`, by subject and by their order in the chunks, ``graph`` that of each statement.
    """

    terms: Terms
    types: npt.NDArray[np.int32]
    links: npt.NDArray[np.int32]
    literals: pl.DataFrame


def build_core(files: Sequence[Path], threads: int = 1) -> Core:
    """Number the triples of all chunks, which are as `prefetch` writes them: whole entities, sorted and distinct.

    The result does not depend on how many chunks there are.
    """
    with ThreadPoolExecutor(threads) as pool:
        numbered = _number(list(pool.map(Chunk.read, files)))
    sets = GraphSets()
    types = _distinct_types(numbered.types)
    literals = _distinct_literals(numbered.literals, sets)
    entity = np.zeros(len(numbered.terms.nodes), bool)
    for described in (types[0], literals["subject"].to_numpy(), numbered.links[1]):
        entity[described] = True
    return _assemble(numbered.terms, entity, types, numbered.links, literals, sets)


def _assemble(
    terms: Terms,
    entity: Mask,
    types: npt.NDArray[np.int32],
    links: npt.NDArray[np.int32],
    literals: pl.DataFrame,
    sets: GraphSets,
) -> Core:
    links, triple_graph = _distinct_links(links, sets)
    names, final = sets.final(terms.graphs)
    prop, subject, target = links
    return Core(
        terms=terms,
        entity=entity,
        type_ptr=pointers(types[0], len(entity)),
        type_val=types[1],
        forward=rows_from_triples(prop, subject, target, len(terms.properties)),
        backward=rows_from_triples(prop, target, subject, len(terms.properties)),
        triple_graph=final[triple_graph],
        literals=literals.with_columns(graph=pl.Series(final[literals["graph"].to_numpy()], dtype=pl.Int32)),
        graph_sets=names,
    )


def among(column: str, numbers: npt.ArrayLike) -> pl.Expr:
    """Whether a column of node or property numbers is one of these."""
    return pl.col(column).is_in(pl.Series(np.asarray(numbers, np.int32)).implode())


def distinct(ascending: npt.NDArray[Number]) -> npt.NDArray[Number]:
    """Each value once."""
    found: npt.NDArray[Number] = ascending[np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)]]
    return found


def pointers(sorted_keys: npt.NDArray[np.integer], size: int) -> Longs:
    """Where each key 0 … size-1 starts in ``sorted_keys``; int64 [size+1]."""
    return np.searchsorted(sorted_keys, np.arange(size + 1)).astype(np.int64)


_LITERALS = pa.schema(
    [
        ("subject", pa.int32()),
        ("property", pa.int32()),
        ("value", pa.large_utf8()),
        ("datatype", pa.large_utf8()),
        ("lang", pa.large_utf8()),
        ("graph", pa.int32()),
    ]
)
_NO_TYPES = np.empty((2, 0), np.int32)
_NO_LINKS = np.empty((4, 0), np.int32)


def _number(chunks: list[Chunk]) -> _Numbered:
    count = len(chunks)
    nodes, ends = number_words([chunk.subject for chunk in chunks] + [chunk.target for chunk in chunks])
    classes, kinds = number_words([chunk.kinds for chunk in chunks])
    properties, props = number_words([chunk.property for chunk in chunks])
    graphs, stated = number_words([DEFAULT_GRAPH, *(chunk.graph for chunk in chunks)])
    types, links, literals = [_NO_TYPES], [_NO_LINKS], [_LITERALS.empty_table()]
    for chunk, subject, target, kind, prop, graph in zip(
        chunks, ends[:count], ends[count:], kinds, props, stated[1:], strict=True
    ):
        literal, link = chunk.literal, ~chunk.types & ~chunk.literal
        told, leads = literal[~chunk.types], link[~chunk.types]
        types.append(np.stack([subject[chunk.types], kind]))
        links.append(np.stack([prop[leads], subject[link], target, graph[link]]))
        literals.append(_literals(chunk.literals, subject[literal], prop[told], graph[literal]))
    words = [tuple(column.to_list()) for column in (classes, properties, graphs)]
    return _Numbered(
        Terms(nodes, *words),
        np.concatenate(types, axis=1),
        np.concatenate(links, axis=1),
        _by_subject(literals),
    )


def _literals(table: pa.Table, subject: Ints, prop: Ints, graph: Ints) -> pa.Table:
    columns = [
        pa.array(subject),
        pa.array(prop),
        table["o"],
        table["datatype"],
        table["lang"],
        pa.array(graph),
    ]
    return pa.table(columns, schema=_LITERALS)


def _by_subject(parts: list[pa.Table]) -> pl.DataFrame:
    """Chunks hold whole entities, so ordering them by subject keeps each entity's literals in order."""
    joined = pa.concat_tables(parts).combine_chunks()
    order = np.argsort(joined.column("subject").to_numpy(), kind="stable")
    return pl.DataFrame(pl.from_arrow(joined.take(pa.array(order))))


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


def _distinct_types(types: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    subject, kind = types.astype(np.int64)
    pairs = distinct(np.sort(subject << 32 | kind))
    return np.stack([pairs >> 32, pairs & 0xFFFFFFFF]).astype(np.int32)


def _distinct_links(links: npt.NDArray[np.int32], sets: GraphSets) -> tuple[npt.NDArray[np.int32], Ints]:
    """Triples in forward order (property, subject, object), each once, with the provisional set of its graphs."""
    prop, subject, target, graph = sorted_rows(tuple(links))
    same = (prop[1:] == prop[:-1]) & (subject[1:] == subject[:-1]) & (target[1:] == target[:-1])
    again = np.append(False, same & (graph[1:] == graph[:-1]))[: len(prop)]
    first = np.flatnonzero(~np.append(False, same)[: len(prop)])
    kept = np.cumsum(~again) - 1  # place of each row once repetitions are left out
    return np.stack([prop[first], subject[first], target[first]]), sets.number(kept[first], graph[~again])
