"""Steps of the group ``release``: the method as built, the validation report, and the release itself."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from crmrag_assets.build.documents import DOCUMENTS, ENTITY_DOCUMENTS, FR_DOCUMENTS
from crmrag_assets.build.graph import EDGES, GRAPH, TRIPLES_INDEX
from crmrag_assets.build.harvest import described, harvest_of
from crmrag_assets.build.indexes import (
    AGGREGATION_INDEX,
    BM25_INDEX,
    DATE_INDEX,
    EMBEDDINGS,
    ENCODER,
    FAISS_INDEX,
    NAME_INDEX,
    PROFILE,
)
from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.marks import Published
from crmrag_assets.build.opened import documents_of, graph_of
from crmrag_assets.build.source import ENTITIES, PREFETCH, is_source, source_of
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, run_step
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.recorded import require_sound
from crmrag_assets.release.contents import PLACES, Pinned, companion_files, make_manifest, pinned_files
from crmrag_assets.release.publish import publish
from crmrag_assets.release.report import make_report
from crmrag_assets.release.report_text import report_markdown
from crmrag_assets.release.trust import require_consistent
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.artifacts.manifest import MANIFEST, Manifest, read_manifest
from crmrag_query.artifacts.release import CONFIG
from crmrag_query.config import config_hash
from crmrag_query.config.datasets import OPERATIONAL
from crmrag_query.config.models import UNRELEASED
from crmrag_query.graph.arrays import FLAG_ENTITY

REPORT_JSON, REPORT_MARKDOWN = "validation_report.json", "validation_report.md"
PARTS = (
    "documents",
    "chaining",
    "windows",
    "sparse",
    "pagerank",
    "retrieval",
    "categories",
    "satellites",
    "weights",
)
PACKAGES = (
    "crmrag",
    "dagster",
    "torch",
    "sentence-transformers",
    "faiss-cpu",
    "bm25s",
    "pyoxigraph",
    "polars",
)


def method_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {"method": config_hash(context.method), "ontology": context.ontology_hash}


def write_method(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The resolved method and the ontology tables, so that the release answers alike wherever it is copied."""
    (folder / CONFIG).write_text(
        context.method.model_dump_json(indent=1, exclude=set(UNRELEASED)) + "\n", encoding="utf-8"
    )
    (folder / "ontology").mkdir()
    for path in context.ontology_files:
        shutil.copyfile(path, folder / "ontology" / path.name)
    return {"tables": len(context.ontology_files)}


def report_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    read = ("graph", "documents", "harvest_report")
    return {artifact: context.finished(artifact).content for artifact in read} | {
        "chunks": str(len(chunks_of(context))),
        "title": context.config.title,
        "config": config_hash(context.method.chaining),
        "relationships": config_hash(context.method.relationship_sets[context.method.relationships]),
        "ontology": context.ontology_hash,
    }


def write_report(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What follows from the data as JSON, which the manifest pins; that and how it was harvested, to read."""
    report = make_report(context)
    (folder / REPORT_JSON).write_text(canonical_json(report), encoding="utf-8")
    (folder / REPORT_MARKDOWN).write_text(report_markdown(report, harvest_of(context)), encoding="utf-8")
    shown = {"classes": report["classes"][:10], "categories": report["categories"]}
    return {"concerns": len(report["concerns"]), "samples": shown}


def release_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    run_step(METHOD, context)
    files = {pinned.entry.path: pinned.entry.sha256 for pinned in pinned_files(context)}
    dataset = context.config.model_dump(mode="json", exclude=set(OPERATIONAL))
    return {"files": config_hash(files), "dataset": config_hash(dataset)}


def write_manifest(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    manifest = current_manifest(context, pinned_files(context))
    (folder / MANIFEST).write_text(manifest.text(), encoding="utf-8")
    return {"release": manifest.id, "pinned": len(manifest.files), **manifest.counts}


def current_manifest(context: BuildContext, files: Sequence[Pinned]) -> Manifest:
    method, graph, documents = context.method, graph_of(context), documents_of(context)
    encoder = context.finished("encoder").stats
    return make_manifest(
        context,
        tuple(files),
        counts={
            "entities": int((graph.flags & FLAG_ENTITY != 0).sum()),
            "nodes": graph.nodes,
            "triples": graph.triples + len(graph.literal_table) + len(graph.type_rows[1]),
            "literals": len(graph.literal_table),
            "documents": documents.count,
            "chunks": len(chunks_of(context)),
        },
        config={part: config_hash(getattr(method, part)) for part in PARTS}
        | {
            "relationships": config_hash(method.relationship_sets[method.relationships]),
            "ontology": context.ontology_hash,
        },
        versions={step.artifact: step.writer for step in PINNED_STEPS},
        embedding={name: encoder[name] for name in ("model", "provider", "dimension", "window")},
    )


def publish_release(context: BuildContext) -> None:
    """Put the pinned files into a release folder and switch to it; does nothing new when it is there.

    BuildError where a blocking check refused what they are made from.
    """
    require_sound(CHECKS, context)
    manifest = read_manifest(context.folder("release"))
    provenance = provenance_of(context, manifest.id)
    keep = context.config.keep_releases
    accept = partial(require_consistent, context)
    publish(context.data, manifest, pinned_files(context), provenance, companion_files(context), keep, accept)
    source, fetched = provenance["source"]["fingerprint"], provenance["fetched"].values()
    Published(
        release=manifest.id,
        at=provenance["built"],
        source=source if is_source(context, source) else "",
        harvest=context.finished(ENTITIES.artifact).version,
        fetched=min(fetched, default=""),
    ).write(context.store.root)


def provenance_of(context: BuildContext, release: str) -> dict[str, Any]:
    """How a release came to be: not part of its id."""
    return {
        "release": release,
        "built": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "source": {"fingerprint": source_of(context).fingerprint(), **described(context.config)},
        "fetched": {
            chunk: context.finished("prefetch", chunk).stats.get("fetched", "")
            for chunk in chunks_of(context)
        },
        "harvest": harvest_of(context),
        "machine": {
            "system": platform.system(),
            "machine": platform.machine(),
            "python": platform.python_version(),
        },
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "seconds": {
            artifact: record.stats.get("seconds", 0)
            for artifact in (step.artifact for step in PINNED_STEPS)
            if (record := context.store.record(artifact))
        },
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


METHOD = Step("method", 1, method_inputs, write_method)
VALIDATION_REPORT = Step(
    "validation_report", 2, report_inputs, write_report, needs=("harvest_report", "graph", "documents")
)
RELEASE = Step(
    "release", 2, release_inputs, write_manifest,
    needs=(*(artifact for artifact in PLACES if artifact != METHOD.artifact), "harvest_report"),
    after=publish_release,
)  # fmt: skip
PINNED_STEPS = (
    ENTITIES, PREFETCH, GRAPH, EDGES, TRIPLES_INDEX, FR_DOCUMENTS, DOCUMENTS, ENTITY_DOCUMENTS, ENCODER, EMBEDDINGS,
    FAISS_INDEX, BM25_INDEX, AGGREGATION_INDEX, DATE_INDEX, NAME_INDEX, PROFILE, VALIDATION_REPORT, METHOD,
)  # fmt: skip
