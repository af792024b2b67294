"""All steps by the name of their artifact, those of the release among them, which is made of what the others made: the
method as built, the validation report, the release itself. And running them: one by one, chunk by chunk, or side by side.

A run takes its artifacts in turn, and most of them keep one core busy. Of a large data set processes begin all that may be
made apart as soon as what it is made from is there; each turn then waits for its own.
"""

from __future__ import annotations

import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from crmrag_assets.build.scratch import give_back
from crmrag_assets.build.step import (
    PLACES,
    BuildContext,
    Inputs,
    Layer,
    Outcome,
    Stats,
    Step,
    chunks_of,
    chunks_to_make,
    contents,
    current_outcome,
    is_made,
    run_step,
    version_of,
)
from crmrag_assets.build.store import Published
from crmrag_assets.build.workers import Processes, processes, side_by_side, workers_of
from crmrag_assets.opened import documents_of, graph_of, harvest_of, with_vectors
from crmrag_assets.quality.checks import CHECKS
from crmrag_assets.quality.finding import require_sound
from crmrag_assets.release.publish import Pinned, companion_files, pinned_files, publish, require_consistent
from crmrag_assets.release.push import push
from crmrag_assets.release.report import make_report, report_markdown
from crmrag_assets.sources.several import Several
from crmrag_assets.steps import (
    documents,
    graph,
    graph_partitions,
    indexes,
    pages,
    source,
)
from crmrag_assets.steps.pages import PAGE_CANDIDATES, page_counts
from crmrag_assets.steps.source import ENTITIES, PREFETCH, described, is_source, source_of
from crmrag_query.artifacts.manifest import MANIFEST, Manifest, canonical_json, read_manifest, release_ids
from crmrag_query.artifacts.objects import open_objects
from crmrag_query.artifacts.release import CONFIG, open_release
from crmrag_query.config.datasets import OPERATIONAL
from crmrag_query.config.loading import UNRELEASED, config_hash
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_LABELLED

REPORT_JSON, REPORT_MARKDOWN = "validation_report.json", "validation_report.md"
PARTS = (
    "documents", "chaining", "sparse", "pagerank", "retrieval", "categories", "satellites", "weights",
)  # fmt: skip
PACKAGES = (
    "crmrag", "dagster", "torch", "sentence-transformers", "faiss-cpu", "bm25s", "pyoxigraph", "polars",
)  # fmt: skip


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
    own = {
        "chunks": str(len(chunks_of(context))),
        "title": context.config.title,
        "encoded": str(int(with_vectors(context).sum())),
    }
    return contents(context, "graph", "documents", "harvest_report") | own


def write_report(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What is unlabelled, unmapped, dangling, undated or suspect, and, to read beside it, how it was harvested.

    For curators, who mend the data, and for whoever decides whether to trust it.
    """
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
    """The manifest pins every file by its checksum; its hash is the release's id. Then `current` is switched.

    Read by the service, which swaps to it without dropping a request. It is made only where no blocking check failed.
    """
    manifest = current_manifest(context, pinned_files(context))
    (folder / MANIFEST).write_text(manifest.text(), encoding="utf-8")
    return {"release": manifest.id, "pinned": len(manifest.files), **manifest.counts}


DESCRIBED = ("http://rdfs.org/ns/void#Dataset", "http://www.w3.org/ns/dcat#Dataset")


def title_of(context: BuildContext) -> str:
    """What the data set is called: by its configuration, else by what the data says of itself (VoID, DCAT) where it says it
    once, else by its name in words."""
    config = context.config
    if config.title != config.name:
        return config.title
    graph = graph_of(context)
    described = [n for n in range(len(graph.class_codes)) if graph.class_iri(n) in DESCRIBED]
    nodes = np.flatnonzero(graph.of_classes(described) & (graph.flags & FLAG_LABELLED != 0))
    if len(nodes) == 1:
        return graph.label(int(nodes[0]), config.languages)
    return config.name[:1].upper() + config.name[1:].replace("_", " ").replace("-", " ")


def current_manifest(context: BuildContext, files: Sequence[Pinned]) -> Manifest:
    """The manifest of the data set: content only, no time, no place, no machine."""
    method, dataset = context.method, context.config
    graph, documents = graph_of(context), documents_of(context)
    encoder = context.finished("encoder").stats
    config = {part: config_hash(getattr(method, part)) for part in PARTS}
    config["relationships"] = config_hash(method.relationship_sets[method.relationships])
    config["ontology"] = context.ontology_hash
    return Manifest(
        dataset=context.name,
        files=tuple(pinned.entry for pinned in files),
        title=title_of(context),
        licence=dataset.licence,
        attribution=dataset.attribution,
        languages=dataset.languages,
        examples=dataset.examples,
        relationships=method.relationships,
        counts={
            "entities": int((graph.flags & FLAG_ENTITY != 0).sum()),
            "nodes": graph.nodes,
            "triples": graph.triples + len(graph.literal_table) + len(graph.type_rows[1]),
            "literals": len(graph.literal_table),
            "documents": documents.count,
            "passages": documents.passages.num_rows,
            "encoded": int(with_vectors(context).sum()),
            "chunks": len(chunks_of(context)),
            **page_counts(context, graph),
        },
        config=config,
        versions={step.artifact: step.writer for step in PINNED_STEPS if is_made(context, step.artifact)},
        embedding={name: encoder[name] for name in ("model", "provider", "dimension", "window")},
        wikidata=dataset.wikidata,
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
    made_of = source_of(context)
    Published(
        release=manifest.id,
        at=provenance["built"],
        source=source if is_source(context, source) else "",
        harvest=context.finished(ENTITIES.artifact).version,
        fetched=min(fetched, default=""),
        sources=made_of.fingerprints() if isinstance(made_of, Several) else {},
        share=context.share,
    ).write(context.store.root)


def provenance_of(context: BuildContext, release: str) -> dict[str, Any]:
    """How a release came to be: not part of its id."""
    packages = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
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
        "packages": packages,
        "seconds": {
            artifact: record.stats.get("seconds", 0)
            for artifact in (step.artifact for step in PINNED_STEPS)
            if (record := context.store.record(artifact))
        },
    }


def write_postgres_graph(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What is searched of the release, in PostgreSQL too: entities, triples, communities, passages, names.

    Beside what is there of releases before, which go as they go on disk; in one transaction, at whose end it is switched to.
    Read by the search store `postgres`, and by whoever knows SQL. `postgres: true` of a data set asks for it.
    """
    manifest = read_manifest(context.folder("release"))
    (folder / "postgres_graph.json").write_text(canonical_json({"release": manifest.id}), encoding="utf-8")
    return {"release": manifest.id}


def publish_in_postgres(context: BuildContext) -> None:
    """Publish the release in the database; writes nothing where it is there."""
    from crmrag_assets.release import postgres

    release = open_release(context.name, context.data)
    with postgres.connected() as connection:
        kept = release_ids(context.data, context.name)
        postgres.publish(connection, release, kept, progress=context.progress)


def write_pushed_release(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The release in an object store, where services on other machines read it.

    `publish_to: s3://…` of a data set asks for it.
    Only files that are not there are sent, and only then it is made current there; of two builds at once one is told.
    """
    manifest, to = read_manifest(context.folder("release")), context.config.publish_to
    (folder / "pushed_release.json").write_text(
        canonical_json({"release": manifest.id, "to": to}), encoding="utf-8"
    )
    return {"release": manifest.id, "to": to}


def push_release(context: BuildContext) -> None:
    """Push the release; sends nothing where it is current there."""
    release = open_release(context.name, context.data)
    objects = open_objects(context.config.publish_to, make=True)
    push(release.folder, objects, context.config.keep_releases, advance=context.progress.advance)


METHOD = Step(
    "method", 1, write_method,
    inputs=lambda one, _: {"method": one.method_hash, "ontology": one.ontology_hash},
)  # fmt: skip
VALIDATION_REPORT = Step(
    "validation_report", 2, write_report, inputs=report_inputs, parts=("chaining", "relationships", "ontology"),
    needs=("harvest_report", "graph", "documents", "aggregation_index"),
)  # fmt: skip
RELEASE = Step(
    "release", 2, write_manifest, inputs=release_inputs, after=publish_release,
    needs=(*(artifact for artifact in PLACES if artifact != METHOD.artifact), "harvest_report"),
)  # fmt: skip
POSTGRES_GRAPH = Step(
    "postgres_graph", 1, write_postgres_graph, needs=("release",), after=publish_in_postgres,
    wanted=lambda one: one.config.postgres and one.sample is None,
)  # fmt: skip
PUSHED_RELEASE = Step(
    "pushed_release", 1, write_pushed_release, needs=("release",), after=push_release,
    inputs=lambda one, _: contents(one, "release") | {"to": one.config.publish_to},
    wanted=lambda one: bool(one.config.publish_to) and one.sample is None,
)  # fmt: skip
RELEASE_STEPS = (VALIDATION_REPORT, RELEASE, POSTGRES_GRAPH, PUSHED_RELEASE)
PINNED_STEPS = (
    *pages.STEPS, PAGE_CANDIDATES, ENTITIES, PREFETCH, *graph.STEPS, *documents.STEPS, *indexes.STEPS,
    *graph_partitions.STEPS,
    VALIDATION_REPORT, METHOD,
)  # fmt: skip


STEPS: Mapping[str, Step] = {
    step.artifact: step for step in (*PINNED_STEPS, *source.STEPS, *RELEASE_STEPS) if step is not METHOD
}


def finished_layer(layer: Layer, context: BuildContext) -> list[Outcome] | None:
    """The outcomes of a layer of which nothing has to be made again; None as soon as something has to."""
    found = []
    for artifact in layer.assets:
        step = STEPS[artifact]
        for chunk in chunks_to_make(step, context):
            outcome = current_outcome(step, context, chunk)
            if outcome is None:
                return None
            found.append(outcome)
    return found


def run_chunks(step: Step, context: BuildContext, chunks: Sequence[str]) -> Iterator[Outcome]:
    """`run_step` for each chunk, in order; large data sets' chunks that have to be made are made side by side, and several of
    them in a turn where the step takes less for them together.

    Raises what a step raises, and BuildError where a process was killed.
    """
    there = {chunk: current_outcome(step, context, chunk) for chunk in chunks}
    stale = [chunk for chunk, outcome in there.items() if outcome is None]
    count = workers_of(context, len(stale)) if step.apart(context) else 1
    size = step.together(context) if stale else 1
    if count > 1:
        size = min(size, -(-len(stale) // (TURNS * count)))
    turns = [tuple(stale[start : start + size]) for start in range(0, len(stale), size)]
    if count == 1:
        made = chain.from_iterable(_made(step, context, turn) for turn in turns)
    else:
        items = [(step.artifact, turn) for turn in turns]
        made = chain.from_iterable(side_by_side(context, _make_all, items, count))
    for outcome in there.values():
        yield outcome or next(made)
    next(made, None)  # nothing is left, but processes whose work is not seen to end are ended with it


TURNS = 4  # of each process at least, so that all of them end at about the same time


def _made(step: Step, context: BuildContext, turn: tuple[str, ...]) -> Iterator[Outcome]:
    given = replace(context, turn=turn)
    return (run_step(step, given, chunk) for chunk in turn)


def _make_all(context: BuildContext, item: tuple[str, tuple[str, ...]]) -> list[Outcome]:
    artifact, turn = item
    made = list(_made(STEPS[artifact], context, turn))
    give_back()
    return made


def _make(context: BuildContext, item: tuple[str, str | None]) -> Outcome:
    artifact, chunk = item
    if STEPS[artifact] not in documents.STEPS:
        documents.forget_setting()
    outcome = run_step(STEPS[artifact], context, chunk)
    give_back()
    return outcome


@dataclass
class Ahead:
    """The steps that processes work through, by artifact in the order of work, and what has come of them."""

    processes: Processes
    steps: Mapping[str, Step]
    begun: dict[str, Future[Outcome]] = field(default_factory=dict)

    def outcome(self, artifact: str) -> Outcome:
        """The finished artifact, waited for. Raises what its step raises, or that of one that it is made from."""
        while True:
            self._begin()
            own = self.begun.get(artifact)
            if own is not None and own.done():
                return self.processes.result(own)
            running = [one for one in self.begun.values() if not one.done()]
            if own is None and not running:
                return self.processes.result(self._failed(artifact))
            wait(running, return_when=FIRST_COMPLETED)

    def _begin(self) -> None:
        """Begin every step of which all that it needs of what is made here is finished."""
        for artifact in self.steps:
            if artifact not in self.begun and not self._missing(artifact):
                self.begun[artifact] = self.processes.submit(_make, (artifact, None))

    def _missing(self, artifact: str) -> list[str]:
        """What the step needs of what is made here and is not finished, or failed."""
        ended = {name for name, one in self.begun.items() if one.done() and one.exception() is None}
        return [need for need in self.steps[artifact].needs if need in self.steps and need not in ended]

    def _failed(self, artifact: str) -> Future[Outcome]:
        """What failed that the artifact was to be made from, near or far."""
        missing = self._missing(artifact)[0]
        return self.begun[missing] if missing in self.begun else self._failed(missing)


_CURRENT: ContextVar[Ahead | None] = ContextVar("crmrag_ahead", default=None)


@contextmanager
def made_ahead(layer: Layer, context: BuildContext) -> Iterator[None]:
    """Within the block `run_or_await` finds what processes make of a layer; of a small data set, nothing."""
    steps = _apart(layer, context)
    count = workers_of(context, len(chunks_of(context))) if len(steps) > 1 else 1
    if count == 1:
        yield
        return
    with processes(context, min(count, len(steps))) as working:
        token = _CURRENT.set(Ahead(working, steps))
        try:
            yield
        finally:
            _CURRENT.reset(token)


def run_or_await(step: Step, context: BuildContext) -> Outcome:
    """`run_step`, or the outcome of the process that makes the artifact ahead of its turn."""
    ahead = _CURRENT.get()
    if ahead is None or step.artifact not in ahead.steps:
        outcome = run_step(step, context)
        give_back()
        return outcome
    return ahead.outcome(step.artifact)


def _apart(layer: Layer, context: BuildContext) -> dict[str, Step]:
    """The layer's steps that have to be made and may be made apart, as what they need of this layer may."""
    found: dict[str, Step] = {}
    for step in (STEPS[artifact] for artifact in (() if layer.chunked else layer.assets)):
        within = [need for need in step.needs if need in layer.assets]
        if not all(one.apart(context) for one in (step, *(STEPS[need] for need in within))):
            continue
        record = context.store.record(step.artifact)  # its files are not looked at
        remade = any(need in found for need in within)
        if remade or record is None or record.version != version_of(step, context):
            found[step.artifact] = step
    return found
