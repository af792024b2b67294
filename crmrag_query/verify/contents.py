"""What the manifest and the report say of a release, against what it holds; and that what it was built with opens."""

from __future__ import annotations

import json

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph
from crmrag_query.relationships.catalogue import Catalogue
from crmrag_query.verify.arrays import counted
from crmrag_query.verify.check import Check, Faults

REPORT = "validation_report.json"


def method_opens(release: Release) -> Faults:
    """The configuration, the relationships and the ontology tables that the release was built with."""
    if not release[Catalogue].relationships:
        yield "config.json: it has no Fundamental Relationships"
    if release.method.relationships != release.manifest.relationships:
        yield f"config.json: relationships {release.method.relationships}, the manifest says {release.manifest.relationships}"
    if not release.ontology.classes:
        yield "ontology/: its tables have no classes"
    return len(release[Catalogue])


def manifest_counts(release: Release) -> Faults:
    """The manifest's counts are those of the files."""
    graph, documents = release[Graph], release[Documents]
    paths = [entry.path.split("/") for entry in release.manifest.files]
    found = {
        "entities": int(np.count_nonzero(graph.flags & FLAG_ENTITY)),
        "nodes": graph.nodes,
        "triples": graph.triples + graph.literal_table.num_rows + len(graph.type_rows[1]),
        "literals": int(graph.literal_table.num_rows),
        "documents": documents.count,
        "passages": documents.passages.num_rows,
    }
    if release.manifest.has("embeddings"):
        found["chunks"] = len({parts[1] for parts in paths if parts[0] == "embeddings"})
    for name, count in found.items():
        yield from counted(f"manifest.json: {name}", release.manifest.counts.get(name, 0), count)
    markdown = sum(parts[0] == "entity_documents" for parts in paths)
    if markdown:
        yield from counted("entity_documents/: files", markdown, documents.count)
    return len(found)


def report_counts(release: Release) -> Faults:
    """The validation report counts what the graph and the documents hold."""
    report = json.loads((release.folder / REPORT).read_bytes())
    entities = int(np.count_nonzero(release[Graph].flags & FLAG_ENTITY))
    yield from counted(f"{REPORT}: nodes", report["entities"]["nodes"], release[Graph].nodes)
    yield from counted(f"{REPORT}: entities", report["entities"]["entities"], entities)
    yield from counted(f"{REPORT}: documents", report["documents"]["count"], release[Documents].count)
    return 3


CHECKS = (
    Check("method", "relationships", method_opens, reads=("config.json", "ontology")),
    Check("manifest", "counts", manifest_counts, reads=("graph", "documents")),
    Check("validation report", "counts", report_counts, reads=("graph", "documents", REPORT)),
)
