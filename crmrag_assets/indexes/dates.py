"""Building the date index: every entity's dates by the Fundamental Relationships that lead to Time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from crmrag_query.artifacts.files import canonical_json
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints, Longs
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, extents
from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.relationships.engine import walk_blocks
from crmrag_query.retrieval.aggregation import COLUMNS, META, SCHEMA_VERSION

OWN = "own"
"""Stands for a relationship where the dates are stated on the entity itself."""


def time_relationships(catalogue: Catalogue) -> Catalogue:
    """Those relationships of a set that lead to Time."""
    return Catalogue(catalogue.name, tuple(one for one in catalogue if one.range == Category.Time))


def write_dates(graph: Graph, ontology: Ontology, catalogue: Catalogue, out: Path) -> dict[str, int]:
    """Write the index of ``graph`` by the relationships of ``catalogue``, which lead to Time; gives counts for people.

    An entity with several dates by one relationship gets the extent from the first begin to the last end, open where one
    of them is.
    """
    begin, end = extents(graph)
    entities = np.flatnonzero((graph.flags & FLAG_ENTITY) != 0).astype(np.int32)
    parts = list(_dated(graph, ontology, catalogue, entities, begin, end))
    own = entities[(begin[entities] != OPEN_BEGIN) | (end[entities] != OPEN_END)]
    parts.append((np.full(len(own), len(catalogue)), own, begin[own], end[own]))
    relationship, entity, first, last = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((entity, first, relationship))
    columns = (entity[order], first[order], last[order])
    ptr = np.searchsorted(relationship[order], np.arange(len(catalogue) + 2)).astype(np.int64)
    for name, column in zip(COLUMNS, columns, strict=True):
        np.save(out / f"{name}.npy", column.astype(np.int32))
    np.save(out / "ptr.npy", ptr)
    ids = [one.id for one in catalogue] + [OWN]
    (out / META).write_text(
        canonical_json({"schema": SCHEMA_VERSION, "relationships": ids}), encoding="utf-8"
    )
    return {"dates": len(order), "entities": len(np.unique(entity))}


Part = tuple[Longs, Ints, Ints, Ints]


def _dated(
    graph: Graph, ontology: Ontology, catalogue: Catalogue, entities: Ints, begin: Ints, end: Ints
) -> Iterator[Part]:
    """(relationship, entity, begin, end), each pair of the first two once, block by block of entities.

    Of several dates those count that the fewest hops lead to: a period that an event falls within is wider than its own.
    """
    for found in walk_blocks(graph.adjacency, ontology, catalogue, entities):
        dated = (begin[found.target] != OPEN_BEGIN) | (end[found.target] != OPEN_END)
        matches = found.part(dated)
        key = matches.source.astype(np.int64) * len(catalogue) + matches.relationship
        pairs, row = np.unique(key, return_inverse=True)
        fewest = np.full(len(pairs), np.iinfo(np.uint8).max, np.uint8)
        np.minimum.at(fewest, row, matches.depth)
        near = matches.depth == fewest[row]
        first, last = np.full(len(pairs), OPEN_END, np.int32), np.full(len(pairs), OPEN_BEGIN, np.int32)
        np.minimum.at(first, row[near], begin[matches.target[near]])
        np.maximum.at(last, row[near], end[matches.target[near]])
        entity, relationship = np.divmod(pairs, max(1, len(catalogue)))
        yield relationship, entity.astype(np.int32), first, last
