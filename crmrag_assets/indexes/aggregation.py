"""Building the aggregation index: what is counted once so that no question counts it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.indexes.pagerank import pagerank
from crmrag_assets.indexes.relationships import MatchArrays, RelationshipGraph, gather
from crmrag_assets.indexes.works import works_per_actor
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Aggregation, PageRank
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.retrieval.aggregation import INDEX, PAGERANK, SCHEMA_VERSION
from crmrag_query.retrieval.fusion import best

DIGITS = 9  # significant digits of a written PageRank


@dataclass(frozen=True)
class AggregationSettings:
    """``categories``: (name, bit); ``relationships``: (key, label) in catalogue order; ``top``: length of a
    list.
    """

    categories: Sequence[tuple[str, int]]
    relationships: Sequence[tuple[str, str]]
    pagerank: PageRank
    works: Aggregation


def write_aggregation(
    graph: Graph, matches: Iterable[MatchArrays], settings: AggregationSettings, out: Path
) -> dict[str, int]:
    """Write ``aggregation_index.json`` and ``pagerank.npy`` into ``out``; gives counts for people."""
    found = gather(matches, graph.nodes, len(settings.relationships))
    rank = rank_nodes(graph, found, settings.pagerank)
    works = works_per_actor(graph.adjacency, settings.works)
    entities, actors = int(np.count_nonzero(graph.flags & FLAG_ENTITY)), np.flatnonzero(works)
    content = {
        "schema": SCHEMA_VERSION,
        "entities": entities,
        "classes": count_classes(graph),
        "categories": count_categories(graph, settings.categories),
        "relationships": count_relationships(found, settings.relationships),
        "pagerank": rank_categories(graph, rank, settings),
        "actors": {"total": len(actors), "works": ranked(graph, actors, works, settings.pagerank.top)},
    }
    (out / INDEX).write_text(canonical_json(content), encoding="utf-8")
    np.save(out / PAGERANK, rank.astype(np.float32))
    return {"entities": entities, "pairs": int(found.pairs.sum()), "actors": len(actors)}


def rank_nodes(graph: Graph, found: RelationshipGraph, settings: PageRank) -> npt.NDArray[np.float64]:
    """PageRank over entities and FR targets, float64 [n]; 0 for any other node."""
    member = ((graph.flags & FLAG_ENTITY) != 0) | found.nodes
    return pagerank(found.receive, found.out, member, settings)


def rank_categories(
    graph: Graph, rank: npt.NDArray[np.float64], settings: AggregationSettings
) -> dict[str, list[list[str | float]]]:
    """The nodes of highest PageRank of each primary category."""
    ranking = rank > 0
    return {
        name: ranked(
            graph, np.flatnonzero(ranking & (graph.category_of_node == bit)), rank, settings.pagerank.top
        )
        for name, bit in settings.categories
    }


def count_relationships(
    found: RelationshipGraph, relationships: Sequence[tuple[str, str]]
) -> list[dict[str, Any]]:
    """Pairs, sources and targets of each FR, in the order of the catalogue."""
    counts = zip(found.pairs.tolist(), found.sources.tolist(), found.targets.tolist(), strict=True)
    return [
        {"key": key, "label": label, "pairs": pairs, "sources": sources, "targets": targets}
        for (key, label), (pairs, sources, targets) in zip(relationships, counts, strict=True)
    ]


def count_classes(graph: Graph) -> list[dict[str, Any]]:
    """Entities of each class, most first, ties by IRI."""
    ptr, val = graph.type_rows
    entity = np.repeat((graph.flags & FLAG_ENTITY) != 0, np.diff(ptr))
    counts = np.bincount(val[entity], minlength=len(graph.class_codes))
    return [
        {
            "iri": graph.class_iri(number),
            "code": graph.class_code(number),
            "label": graph.class_label(number),
            "entities": int(count),
        }
        for number, count in best(np.arange(len(counts)), counts.astype(np.float64), len(counts))
        if count
    ]


def count_categories(graph: Graph, categories: Sequence[tuple[str, int]]) -> list[dict[str, Any]]:
    """Entities by primary category, and by any of their categories."""
    entity = (graph.flags & FLAG_ENTITY) != 0
    primary, every = graph.category_of_node[entity], graph.adjacency.categories[entity]
    return [
        {"category": name, "primary": int((primary == bit).sum()), "any": int(((every & bit) != 0).sum())}
        for name, bit in categories
    ]


def ranked(
    graph: Graph, nodes: npt.NDArray[np.int64], scores: npt.NDArray[np.number], top: int
) -> list[list[str | float]]:
    """[IRI, label, score] of the ``top`` of ``nodes`` by score [all nodes], ties by IRI."""
    values = scores[nodes]
    if 0 < top < len(values):  # rounding is slow: only of those that it may leave among the best
        enough = np.partition(values, len(values) - top)[len(values) - top] * (1 - 100 * 0.1**DIGITS)
        nodes, values = nodes[values >= enough], values[values >= enough]
    rounded = np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
    found = best(nodes, rounded, top)
    return [[graph.iri(node), graph.label(node), int(s) if s == int(s) else s] for node, s in found]
