"""Second pass over the prefetched chunks: the triples as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.graph.graphsets import GraphSets
from crmrag_assets.graph.terms import Terms, collect_terms, is_type, number_words, read_chunk
from crmrag_query.graph.arrays import Ints, Longs, Rows, rows_from_triples

Mask = npt.NDArray[np.bool_]
LITERAL_ORDER = ["subject", "property", "value", "lang", "datatype"]


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
        return np.unique(typed[np.isin(self.type_val, classes)])


@dataclass(frozen=True)
class _Part:
    """One chunk in numbers; ``links`` int32 [4, m]: property, subject, object, named graph."""

    links: npt.NDArray[np.int32]
    types: npt.NDArray[np.int32]
    literals: pl.DataFrame


def build_core(files: Sequence[Path]) -> Core:
    """Number the triples of all chunks; the result does not depend on how many chunks there are."""
    terms = collect_terms(files)
    sets = GraphSets()
    parts = [_number_chunk(path, terms, sets) for path in files]
    subject_types = _distinct_types([part.types for part in parts])
    literals = _sorted_by_subject([part.literals for part in parts])
    entity = np.zeros(len(terms.nodes), bool)
    entity[subject_types[0]] = True
    entity[literals["subject"].to_numpy()] = True
    links = np.concatenate([part.links for part in parts], axis=1)
    del parts
    entity[links[1]] = True
    return _assemble(terms, entity, subject_types, links, literals, sets)


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


def pointers(sorted_keys: npt.NDArray[np.integer], size: int) -> Longs:
    """Where each key 0 … size-1 starts in ``sorted_keys``; int64 [size+1]."""
    return np.searchsorted(sorted_keys, np.arange(size + 1)).astype(np.int64)


def _number_chunk(path: Path, terms: Terms, sets: GraphSets) -> _Part:
    table = read_chunk(path, ("s", "p", "o", "kind", "datatype", "lang", "g"))
    frame = pl.DataFrame(pl.from_arrow(table.select(["p", "kind"])))
    types = is_type(frame).to_numpy()
    literal = ~types & (frame["kind"] == 1).to_numpy()
    subject = terms.number_nodes(table.column("s"))
    graph = number_words(table.column("g"), terms.graphs)
    prop = number_words(table.column("p"), terms.properties)
    link = ~types & ~literal
    target = terms.number_nodes(_where(table, link, "o"))
    classes = number_words(_where(table, types, "o"), terms.classes)
    return _Part(
        np.stack([prop[link], subject[link], target, graph[link]]),
        np.stack([subject[types], classes]),
        _number_literals(
            table.filter(pa.array(literal)), subject[literal], prop[literal], graph[literal], sets
        ),
    )


def _where(table: pa.Table, mask: Mask, column: str) -> pa.ChunkedArray:
    return table.column(column).filter(pa.array(mask))


def _number_literals(
    table: pa.Table, subject: Ints, prop: Ints, graph: Ints, sets: GraphSets
) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "subject": subject,
            "property": prop,
            "value": pl.from_arrow(table.column("o")),
            "datatype": pl.Series(pl.from_arrow(table.column("datatype"))).cast(pl.String),
            "lang": pl.Series(pl.from_arrow(table.column("lang"))).cast(pl.String),
            "graph": graph,
        }
    ).unique()
    frame = frame.sort([*LITERAL_ORDER, "graph"])
    new = frame.select(
        (pl.struct(LITERAL_ORDER) != pl.struct(LITERAL_ORDER).shift(1)).fill_null(True)
    ).to_series()
    first = np.flatnonzero(new.to_numpy())
    numbers = sets.number(first, frame["graph"].to_numpy())
    return frame[first].with_columns(graph=pl.Series(numbers, dtype=pl.Int32))


def _distinct_types(parts: list[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    subject, kind = np.concatenate(parts, axis=1).astype(np.int64)
    pairs = np.unique(subject << 32 | kind)
    return np.stack([pairs >> 32, pairs & 0xFFFFFFFF]).astype(np.int32)


def _sorted_by_subject(parts: list[pl.DataFrame]) -> pl.DataFrame:
    """Chunks hold whole entities, so ordering them by subject keeps each entity's literals in order."""
    joined = pl.concat(parts)
    return joined[np.argsort(joined["subject"].to_numpy(), kind="stable")]


def _distinct_links(links: npt.NDArray[np.int32], sets: GraphSets) -> tuple[npt.NDArray[np.int32], Ints]:
    """Triples in forward order (property, subject, object), each once, with the provisional set of its graphs."""
    prop, subject, target, graph = links
    order = np.lexsort((graph, target, subject, prop))
    links = links[:, order]
    new = np.ones(links.shape[1], bool)
    new[1:] = np.any(links[:, 1:] != links[:, :-1], axis=0)
    links = links[:, new]
    new = np.ones(links.shape[1], bool)
    new[1:] = np.any(links[:3, 1:] != links[:3, :-1], axis=0)
    first = np.flatnonzero(new)
    return links[:3, first], sets.number(first, links[3])
