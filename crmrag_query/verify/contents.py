"""What the manifest and the report say of a release, against what it holds; and that what it was built with opens."""

from __future__ import annotations

import json

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.verify.arrays import counted
from crmrag_query.verify.check import Check, Faults

REPORT = "validation_report.json"


def method_opens(release: Release) -> Faults:
    """The configuration, the relationships and the ontology tables that the release was built with."""
    if not release.catalogue.relationships:
        yield "config.json: it has no Fundamental Relationships"
    if release.method.relationships != release.manifest.relationships:
        yield f"config.json: relationships {release.method.relationships}, the manifest says {release.manifest.relationships}"
    if not release.ontology.classes:
        yield "ontology/: its tables have no classes"
    return len(release.catalogue)


def manifest_counts(release: Release) -> Faults:
    """The manifest's counts are those of the files."""
    graph, documents, paths = release.graph, release.documents, _paths(release)
    found = {
        "entities": int(np.count_nonzero(graph.flags & FLAG_ENTITY)),
        "nodes": graph.nodes,
        "triples": graph.triples + graph.literal_table.num_rows + len(graph.type_rows[1]),
        "literals": int(graph.literal_table.num_rows),
        "documents": documents.count,
        "chunks": len({parts[1] for parts in paths if parts[0] == "embeddings"}),
    }
    for name, count in found.items():
        yield from counted(f"manifest.json: {name}", release.manifest.counts.get(name), count)
    markdown = sum(parts[0] == "entity_documents" for parts in paths)
    if markdown:
        yield from counted("entity_documents/: files", markdown, documents.count)
    return len(found)


def report_counts(release: Release) -> Faults:
    """The validation report counts what the graph and the documents hold."""
    report = json.loads((release.folder / REPORT).read_bytes())
    entities = int(np.count_nonzero(release.graph.flags & FLAG_ENTITY))
    yield from counted(f"{REPORT}: nodes", report["entities"]["nodes"], release.graph.nodes)
    yield from counted(f"{REPORT}: entities", report["entities"]["entities"], entities)
    yield from counted(f"{REPORT}: documents", report["documents"]["count"], release.documents.count)
    return 3


def _paths(release: Release) -> list[list[str]]:
    return [entry.path.split("/") for entry in release.manifest.files]


CHECKS = (
    Check("method", "relationships", ("config.json", "ontology"), method_opens),
    Check("manifest", "counts", ("graph", "documents"), manifest_counts),
    Check("validation report", "counts", ("graph", "documents", REPORT), report_counts),
)
