"""The validation report: what a person should know of the data before trusting answers from it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import catalogue_of, documents_of, graph_of
from crmrag_assets.build.step import BuildContext
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_EVENT, FLAG_LABELLED, FLAG_SKOLEM, FLAG_SUSPECT, Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.relationships.dead import dead_paths

EXAMPLES = 10
LENGTHS = (0, 200, 400, 800, 1600, 3200, 5000, 10000)  # characters; bounds of the histogram of documents
OVERSIZED = 5000  # characters (facts: method, Build: a document's limit)

Masked = npt.NDArray[np.bool_]


def make_report(context: BuildContext) -> dict[str, Any]:
    """Counts and examples as plain values; equal data and configuration give an equal report.

    Nothing in it tells where the data was read from or how: that is the harvest report's.
    """
    graph, documents = graph_of(context), documents_of(context)
    report = {
        "dataset": context.name,
        "title": context.config.title,
        "relationships": context.method.relationships,
        "entities": _entities(graph),
        "unmapped": _json(context.folder("graph") / "unmapped.json"),
        "documents": _documents(documents, context.method.chaining.thin_characters),
        "classes": _classes(graph),
        "categories": _categories(graph),
        "dead_paths": _dead_paths(context),
        "chunks": len(chunks_of(context)),
    }
    return report | {"concerns": concerns(report)}


def _json(path: Any) -> Any:
    return json.loads(path.read_bytes()) if path.exists() else {}


def _entities(graph: Graph) -> dict[str, Any]:
    flags = graph.flags
    entity = flags & FLAG_ENTITY != 0
    event = entity & (flags & FLAG_EVENT != 0)
    ptr, _ = graph.type_rows
    groups: dict[str, Masked] = {
        "unlabelled": entity & (flags & FLAG_LABELLED == 0),
        "untyped": entity & (np.diff(ptr) == 0),
        "without_category": entity & (graph.category_of_node == 0),
        "dangling": ~entity,
        "undated_events": event & ~_dated(graph),
        "suspects": flags & FLAG_SUSPECT != 0,
        "from_blank_nodes": entity & (flags & FLAG_SKOLEM != 0),
    }
    return {
        "nodes": graph.nodes,
        "entities": int(entity.sum()),
        "events": int(event.sum()),
        **{
            name: {"count": int(mask.sum()), "examples": _examples(graph, mask)}
            for name, mask in groups.items()
        },
    }


def _dated(graph: Graph) -> Masked:
    """Nodes that state a date themselves or point at a node that does, bool [n]."""
    dated = np.zeros(graph.nodes, bool)
    dated[np.asarray(graph.timespan_table.column("node"))] = True
    forward = graph.adjacency.forward
    rows = np.repeat(forward.row, np.diff(forward.ptr))
    dated[rows[dated[forward.val]]] = True
    return dated


def _examples(graph: Graph, mask: Masked) -> list[dict[str, str]]:
    nodes = np.flatnonzero(mask)[:EXAMPLES].tolist()
    return [{"iri": graph.iri(node), "label": graph.label(node)} for node in nodes]


def _documents(documents: Documents, thin: int) -> dict[str, Any]:
    length = np.fromiter((len(documents.text(i)) for i in range(documents.count)), np.int64, documents.count)
    return {
        "count": documents.count,
        "characters": int(length.sum()),
        "thin": {"below": thin, **_listed(documents, np.flatnonzero(length < thin))},
        "oversized": {"above": OVERSIZED, **_listed(documents, np.flatnonzero(length > OVERSIZED))},
        "lengths": _histogram(length),
    }


def _listed(documents: Documents, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {"count": len(rows), "examples": [{"label": documents.label(int(i))} for i in rows[:EXAMPLES]]}


def _histogram(values: npt.NDArray[np.int64]) -> list[list[Any]]:
    edges = [*LENGTHS, np.inf]
    counts, _ = np.histogram(values, edges)
    names = [f"{low:,}–{high:,.0f}" for low, high in pairwise(LENGTHS)] + [f"{LENGTHS[-1]:,}+"]
    return [[name, int(count)] for name, count in zip(names, counts, strict=True)]


def _classes(graph: Graph) -> list[dict[str, Any]]:
    ptr, val = graph.type_rows
    entity = np.repeat(graph.flags & FLAG_ENTITY != 0, np.diff(ptr))
    counts = np.bincount(val[entity], minlength=len(graph.class_codes))
    order: Ints = np.argsort(-counts, kind="stable").astype(np.int32)
    return [
        {
            "iri": graph.class_iri(n),
            "code": graph.class_code(n),
            "label": graph.class_label(n),
            "count": int(counts[n]),
        }
        for n in order.tolist()
        if counts[n]
    ]


def _categories(graph: Graph) -> list[dict[str, Any]]:
    entity = graph.flags & FLAG_ENTITY != 0
    own = graph.category_of_node[entity]
    named = [{"category": c.name or "", "count": int((own == int(c)).sum())} for c in Category]
    return [*named, {"category": "unknown", "count": int((own == 0).sum())}]


def _dead_paths(context: BuildContext) -> list[dict[str, str]]:
    found = dead_paths(catalogue_of(context), context.vocabulary.ontology)
    return [
        {"relationship": dead.relationship, "path": dead.path_id, "reason": dead.reason} for dead in found
    ]


CONCERNS = (
    ("suspects", "IRIs that seem to stand for several things; no path runs through them"),
    ("dangling", "nodes that are pointed at and never described"),
    ("untyped", "entities without a class"),
    ("without_category", "entities whose classes belong to no Fundamental Category"),
    ("unlabelled", "entities without a name of their own; they are named by their role or IRI"),
    ("undated_events", "events without a date"),
)


def concerns(report: Mapping[str, Any]) -> list[str]:
    """Sentences for what deserves a look in the data, gravest first; empty when there is nothing."""
    found: Sequence[tuple[int, str]] = (
        *((report["entities"][name]["count"], text) for name, text in CONCERNS),
        (
            sum(len(entries) for entries in report["unmapped"].values()),
            "classes and properties are outside the ontology",
        ),
        (report["documents"]["oversized"]["count"], "documents are longer than a context takes"),
    )
    return [f"{count:,} {text}." for count, text in found if count]
