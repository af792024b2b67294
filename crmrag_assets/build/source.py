"""Steps of the group ``source``: discovery, and the triples of each chunk (the account of both: see ``harvest``)."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from crmrag_assets.build.context import base_of
from crmrag_assets.build.layers import bits_of
from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.sample import SampleSource
from crmrag_assets.build.sharing import endpoint_turns, reading_endpoint
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, run_step
from crmrag_assets.build.store import data_version
from crmrag_assets.harvest.prefetch import prefetch_chunk, write_prefetch
from crmrag_assets.harvest.report import traffic_stats
from crmrag_assets.sources import source_for
from crmrag_assets.sources.base import Source
from crmrag_query.config import config_hash

SHOWN = 10


def source_of(context: BuildContext) -> Source:
    """Where the data set's triples come from; for a sample, its base's discovery."""
    base = base_of(context)
    source = source_for(
        context.config,
        method=context.method,
        work=base.store.root,
        refreshed=context.refreshed,
        turns=endpoint_turns(context),
    )
    if context.sample is None:
        return source
    return SampleSource(source, base.folder("entities"), context.sample, context.method)


def entities_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return _inputs(context, source_of(context).fingerprint())


def is_source(context: BuildContext, fingerprint: str) -> bool:
    """Whether the entities that were found are those of a source with this fingerprint; BuildError before discovery."""
    version = data_version(ENTITIES.artifact, ENTITIES.writer, _inputs(context, fingerprint))
    return context.finished(ENTITIES.artifact).version == version


def _inputs(context: BuildContext, fingerprint: str) -> dict[str, str]:
    method = context.method
    return {
        "source": fingerprint,
        "discovery": config_hash(method.discovery),
        "chunks": config_hash(method.chunks),
        "harvest": config_hash(method.harvest),
    }


def write_entities(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    if context.sample is not None:
        base = base_of(context)
        with dataset_lock(base.store.root, base.name):
            run_step(ENTITIES, base)
    with reading_endpoint(context):
        found = source_of(context).discover(folder, context.progress)
    found.save(folder)
    report = found.report
    broken = [{"place": f"{b.file}, line {b.line}", "reason": b.reason} for b in report.broken[:SHOWN]]
    files = [{"file": file.file, "format": file.format, "triples": file.triples} for file in report.files]
    stats: Stats = {"entities": found.entities, "triples": found.triples, "chunks": 1 << found.bits}
    samples = {"files_read": files, "first_broken": broken} if report.files else {}
    return stats | {"broken_lines": report.broken_count, "samples": samples} | traffic_stats(found.gathered)


def prefetch_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {
        "entities": context.finished("entities").version,
        "discovery": config_hash(context.method.discovery),
        "bits": str(bits_of(context)),
        "chunk": chunk or "",
    }


def write_chunk(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    with reading_endpoint(context):
        table, report = prefetch_chunk(
            source_of(context), context.folder("entities"), chunk or "", bits_of(context), context.method
        )
    write_prefetch(table, report, folder)
    stats: Stats = {
        "fetched": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "entities": report.entities,
        "triples": report.triples,
        "excluded": report.excluded_subjects,
    }
    missing = {"missing": len(report.gathered.missing)} if report.gathered.missing else {}
    return stats | missing | traffic_stats(report.gathered)


ENTITIES = Step("entities", 3, entities_inputs, write_entities, lasting=True)
PREFETCH = Step(
    "prefetch", 2, prefetch_inputs, write_chunk, needs=("entities",), chunked=True, lasting=True,
    apart=lambda context: context.config.endpoint is None,  # an endpoint is asked at the pace that is configured
)  # fmt: skip
