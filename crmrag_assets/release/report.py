"""The validation report: what a person should know of the data before trusting answers from it; and the harvest report, which
stands at its head, for reading."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.build.step import BuildContext, chunks_of, escaped, table
from crmrag_assets.harvest.prefetch import verdict
from crmrag_assets.indexes.aggregation import count_classes
from crmrag_assets.opened import catalogue_of, documents_of, graph_of, with_vectors
from crmrag_query.artifacts.manifest import PROVENANCE
from crmrag_query.config.loading import Chaining
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_EVENT, FLAG_LABELLED, FLAG_SKOLEM, FLAG_SUSPECT
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category
from crmrag_query.relationships.engine import dead_paths
from crmrag_query.text import amount

HARVESTED = ("entities", "triples", "excluded_subjects", "excluded_triples", "repaired")
TRAFFIC = (
    ("requests", "requests"),
    ("retries", "of these, repeated after a failure"),
    ("rows", "rows received"),
    ("bytes", "bytes received"),
    ("seconds", "seconds of requests"),
    ("waited", "seconds between requests"),
)


def harvest_markdown(harvest: Mapping[str, Any]) -> str:
    """The report for reading; the JSON beside it has the same and more."""
    head = [f"# Harvest report: {escaped(harvest['title'] or harvest['dataset'])}"]
    return "\n".join([*head, *harvest_lines(harvest, "harvest_report.json")]) + "\n"


def harvest_lines(harvest: Mapping[str, Any], where: str, level: int = 2) -> Iterator[str]:
    """What was harvested, from where, and what went wrong; ``where``: the file that holds all of it."""
    titled = partial(table, where=where, level=level)
    yield from ("", verdict(harvest))
    if harvest["concerns"]:
        yield ""
        yield from (f"- {escaped(concern)}" for concern in harvest["concerns"])
    source = {
        key: value if isinstance(value, str) else ", ".join(value)
        for key, value in harvest["source"].items()
        if key != "sources"  # which a table of their own has
    }
    yield from titled(
        "Source", ("what", "value"), [{"what": key, "value": value} for key, value in source.items()]
    )
    parts = harvest["reading"].get("parts", [])
    yield from titled("Sources", ("kind", "places", "graph", "entities", "triples"), parts)
    counts = {name.replace("_", " "): harvest[name] for name in (*HARVESTED, "chunks")}
    yield from titled("Harvested", ("what", "count"), _rows(counts))
    counted = harvest["counted"]
    if counted["before"] is not None or counted["after"] is not None:
        compared = [
            {"what": what}
            | {when: (counted[when] or {}).get(what) for when in ("before", "after", "harvested")}
            for what in ("triples", "subjects")
        ]
        yield from titled("Counted by the source", ("what", "before", "after", "harvested"), compared)
    missing = harvest["missing"]
    yield from titled("Missing", ("subject", "property", "triples", "reason"), missing)
    traffic = harvest["traffic"]
    if traffic["requests"]:
        yield from titled(
            "Traffic", ("what", "count"), _rows({title: traffic[name] for name, title in TRAFFIC})
        )
    yield from titled(
        "Notes", ("what", "times"), _rows(dict(sorted(harvest["notes"].items())), "what", "times")
    )
    # How files were read; of other sources, only what is not nought. What was harvested of it stands above.
    reading = harvest["reading"]
    files = reading.get("files", [])
    plain = {
        key.replace("_", " "): n
        for key, n in reading.items()
        if type(n) is int and (files or n) and key not in HARVESTED
    }
    yield from titled("Reading", ("what", "count"), _rows(plain))
    yield from titled("Files", ("file", "format", "triples"), files)
    skipped = dict(sorted(reading.get("skipped", {}).items()))
    yield from titled("Left out", ("reason", "triples"), _rows(skipped, "reason", "triples"))
    yield from titled("First broken lines", ("file", "line", "reason", "text"), reading.get("broken", []))


def _rows(counts: Mapping[str, Any], what: str = "what", count: str = "count") -> list[dict[str, Any]]:
    return [{what: name, count: number} for name, number in counts.items()]


JSON = "validation_report.json"
GROUPS = (
    ("suspects", "Suspected merged identities"),
    ("unlabelled", "Unlabelled"),
    ("untyped", "Without a class"),
    ("without_category", "Without a Fundamental Category"),
    ("dangling", "Dangling references"),
    ("undated_events", "Undated events"),
    ("from_blank_nodes", "From blank nodes"),
)
_table = partial(table, where=JSON)


def report_markdown(report: Mapping[str, Any], harvest: Mapping[str, Any]) -> str:
    """Both reports for reading, the harvest first; the JSON of each has the same and more."""
    return "\n".join(_lines(report, harvest)) + "\n"


def _lines(report: Mapping[str, Any], harvest: Mapping[str, Any]) -> Iterator[str]:
    yield f"# Validation report: {escaped(report['title'] or report['dataset'])}"
    yield from ("", "## The harvest")
    yield from harvest_lines(harvest, PROVENANCE, level=3)
    yield from ("", "## The data", "")
    yield from [f"- {concern}" for concern in report["concerns"]] or ["Nothing to worry about was found."]
    entities, documents = report["entities"], report["documents"]
    counts = {name.capitalize(): entities[name] for name in ("nodes", "entities", "events")}
    counts |= {title: entities[name]["count"] for name, title in GROUPS}
    yield from _table("Entities", ("what", "count"), _rows(counts), level=3)
    for name, title in GROUPS:
        yield from _table(f"{title}: first examples", ("label", "iri"), entities[name]["examples"], level=4)
    thin, oversized = documents["thin"], documents["oversized"]
    sizes = {
        "documents": documents["count"],
        "documents with a vector": documents["encoded"],
        "characters": documents["characters"],
        f"thinner than {thin['below']} characters": thin["count"],
        f"longer than {oversized['above']} characters": oversized["count"],
    }
    yield from _table("Documents", ("what", "count"), _rows(sizes), level=3)
    lengths = _rows(dict(documents["lengths"]), "characters", "documents")
    yield from _table("Lengths", ("characters", "documents"), lengths, level=4)
    yield from _table("Categories", ("category", "count"), report["categories"], level=3)
    yield from _table("Classes", ("code", "label", "count", "iri"), report["classes"], level=3)
    for kind, found in sorted(report["unmapped"].items()):
        yield from _table(f"Unmapped {kind}", tuple(found[0]) if found else (), found, level=3)
    dead = report["dead_paths"]
    yield from _table("Paths that cannot match", ("relationship", "path", "reason"), dead, level=3)


EXAMPLES = 10
LENGTHS = (0, 200, 400, 800, 1600, 3200, 5000, 10000)  # characters; bounds of the histogram of documents
Masked = npt.NDArray[np.bool_]


def make_report(context: BuildContext) -> dict[str, Any]:
    """Counts and examples as plain values; equal data and configuration give an equal report.

    Nothing in it tells where the data was read from or how: that is the harvest report's.
    """
    graph, documents = graph_of(context), documents_of(context)
    dead = dead_paths(catalogue_of(context), context.vocabulary.ontology)
    report = {
        "dataset": context.name,
        "title": context.config.title,
        "relationships": context.method.relationships,
        "entities": _entities(graph),
        "unmapped": json.loads((context.folder("graph") / "unmapped.json").read_bytes()),
        "documents": _documents(documents, context.method.chaining)
        | {"encoded": int(with_vectors(context).sum())},
        "classes": _classes(graph),
        "categories": _categories(graph),
        "dead_paths": [{"relationship": d.relationship, "path": d.path_id, "reason": d.reason} for d in dead],
        "chunks": len(chunks_of(context)),
    }
    return report | {"concerns": concerns(report)}


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
    found: dict[str, Any] = {"nodes": graph.nodes, "entities": int(entity.sum()), "events": int(event.sum())}
    for name, mask in groups.items():
        nodes = np.flatnonzero(mask)[:EXAMPLES].tolist()
        examples = [{"iri": graph.iri(node), "label": graph.label(node)} for node in nodes]
        found[name] = {"count": int(mask.sum()), "examples": examples}
    return found


def _dated(graph: Graph) -> Masked:
    """Nodes that state a date themselves or point at a node that does, bool [n]."""
    dated = np.zeros(graph.nodes, bool)
    dated[np.asarray(graph.timespan_table.column("node"))] = True
    forward = graph.adjacency.forward
    dated[forward.sources[dated[forward.val]]] = True
    return dated


def _documents(documents: Documents, rules: Chaining) -> dict[str, Any]:
    thin, limit = rules.thin_characters, rules.limit_characters
    length = np.fromiter((len(documents.text(i)) for i in range(documents.count)), np.int64, documents.count)
    counts, _ = np.histogram(length, [*LENGTHS, np.inf])
    names = [f"{low:,}–{high:,.0f}" for low, high in pairwise(LENGTHS)] + [f"{LENGTHS[-1]:,}+"]
    return {
        "count": documents.count,
        "characters": int(length.sum()),
        "thin": {"below": thin, **_listed(documents, np.flatnonzero(length < thin))},
        "oversized": {"above": limit, **_listed(documents, np.flatnonzero(length > limit))},
        "lengths": [[name, int(count)] for name, count in zip(names, counts, strict=True)],
    }


def _listed(documents: Documents, rows: npt.NDArray[np.int64]) -> dict[str, Any]:
    return {"count": len(rows), "examples": [{"label": documents.label(int(i))} for i in rows[:EXAMPLES]]}


def _classes(graph: Graph) -> list[dict[str, Any]]:
    found = count_classes(graph)
    return [{"iri": c["iri"], "code": c["code"], "label": c["label"], "count": c["entities"]} for c in found]


def _categories(graph: Graph) -> list[dict[str, Any]]:
    entity = graph.flags & FLAG_ENTITY != 0
    own = graph.category_of_node[entity]
    named = [{"category": c.name or "", "count": int((own == int(c)).sum())} for c in Category]
    return [*named, {"category": "unknown", "count": int((own == 0).sum())}]


CONCERNS = (
    ("suspects", "IRI that seems to stand for several things; no path runs through it",
     "IRIs that seem to stand for several things; no path runs through them"),
    ("dangling", "node that is pointed at and never described", "nodes that are pointed at and never described"),
    ("untyped", "entity without a class", "entities without a class"),
    ("without_category", "entity whose classes belong to no Fundamental Category",
     "entities whose classes belong to no Fundamental Category"),
    ("unlabelled", "entity without a name of its own; it is named by its role or IRI",
     "entities without a name of their own; they are named by their role or IRI"),
    ("undated_events", "event without a date", "events without a date"),
)  # fmt: skip
"""Counts of the report, each told of one and of several."""


def concerns(report: Mapping[str, Any]) -> list[str]:
    """Sentences for what deserves a look in the data, gravest first; empty when there is nothing."""
    unmapped = sum(len(entries) for entries in report["unmapped"].values())
    oversized = report["documents"]["oversized"]["count"]
    without = report["documents"]["count"] - report["documents"]["encoded"]
    found = [(report["entities"][name]["count"], one, several) for name, one, several in CONCERNS]
    found += [
        (unmapped, "class or property is outside the ontology", "classes and properties are outside the ontology"),
        (oversized, "document is longer than a context takes", "documents are longer than a context takes"),
        (without, "document has no vector yet, and is found by its words and relationships alone",
         "documents have no vector yet, and are found by their words and relationships alone"),
    ]  # fmt: skip
    return [f"{amount(count, one, several)}." for count, one, several in found if count]
