"""The step that closes a harvest: all its parts added up, and the source asked once more what it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.source import source_of
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step
from crmrag_assets.harvest.account import Account, as_dict
from crmrag_assets.harvest.prefetch import ChunkReport
from crmrag_assets.harvest.report import traffic_stats
from crmrag_assets.release.harvest_text import harvest_markdown
from crmrag_assets.sources.base import DISCOVERY, Counted, Discovery
from crmrag_query.artifacts.files import canonical_json, sha256_file
from crmrag_query.config import DatasetConfig, config_hash
from crmrag_query.errors import SourceError

HARVEST_JSON, HARVEST_MARKDOWN = "harvest_report.json", "harvest_report.md"


def described(config: DatasetConfig) -> dict[str, Any]:
    """Where a data set says that its triples are: no secret is among it, and no query string, which may hold one."""
    if config.endpoint is None:
        return {"declared": list(config.rdf or ())}
    parts = urlsplit(config.endpoint.url)
    graphs = config.endpoint.graphs
    return {
        "endpoint": parts._replace(query="", fragment="").geturl(),
        "graphs": graphs if isinstance(graphs, str) else list(graphs),
    }


def harvest_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    """Versions and contents: a discovery or a chunk that was made from something else, or came out otherwise."""
    discovered = sha256_file(context.folder("entities") / DISCOVERY)
    found = {"entities": f"{context.finished('entities').version} {discovered}"}
    for key in chunks_of(context):
        record = context.finished("prefetch", key)
        found[f"prefetch/{key}"] = f"{record.version} {record.content}"
    return found | {"title": context.config.title, "source": config_hash(described(context.config))}


def write_harvest_report(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    account = Account(
        Discovery.load(context.folder("entities")),
        [_chunk(context, key) for key in chunks_of(context)],
        after=_recounted(context),
        countable=context.config.endpoint is not None and context.sample is None,
    )
    named = {"dataset": context.name, "title": context.config.title, "source": described(context.config)}
    values = named | as_dict(account)
    (folder / HARVEST_JSON).write_text(canonical_json(values), encoding="utf-8")
    (folder / HARVEST_MARKDOWN).write_text(harvest_markdown(values), encoding="utf-8")
    counts = {name: values[name] for name in ("entities", "triples", "excluded_subjects", "excluded_triples")}
    return counts | {
        "missing": len(account.gathered.missing),
        "broken_lines": account.discovery.report.broken_count,
        "concerns": len(values["concerns"]),
        "whole": values["whole"],
        **traffic_stats(account.gathered),
    }


def _chunk(context: BuildContext, key: str) -> ChunkReport:
    return ChunkReport.read(context.folder("prefetch", key), context.finished("prefetch", key).stats)


def _recounted(context: BuildContext) -> Counted | None:
    """What the source counts now. That it does not answer any more is no reason to lose a harvest: it is reported."""
    try:
        return source_of(context).recount()
    except SourceError:
        return None


def harvest_of(context: BuildContext) -> dict[str, Any]:
    """The harvest report as it was written; BuildError when it is not built."""
    context.finished("harvest_report")
    found: dict[str, Any] = json.loads((context.folder("harvest_report") / HARVEST_JSON).read_bytes())
    return found


HARVEST_REPORT = Step(
    "harvest_report", 1, harvest_inputs, write_harvest_report, needs=("entities", "prefetch")
)
