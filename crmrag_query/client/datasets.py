"""What a release tells of itself as a whole, from its manifest, provenance, report and indexes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from crmrag_query.artifacts.release import Release
from crmrag_query.client.overview import (
    CategoryShare,
    ClassShare,
    Coverage,
    DatasetDetail,
    EvaluationSummary,
    RelationshipShare,
    TopEntity,
)
from crmrag_query.client.records import Dataset
from crmrag_query.errors import ReleaseError
from crmrag_query.plans.classes import class_numbers

REPORT_JSON, REPORT_MARKDOWN = "validation_report.json", "validation_report.md"
TOP = 10  # entities of each category, by PageRank
CLASSES = 50  # classes listed, the most frequent ones


def describe_dataset(release: Release, dataset: Dataset) -> DatasetDetail:
    """All that a release tells of itself; ReleaseError where a part cannot be read."""
    content = release.provenance or {}
    report = _report(release)
    harvest, aggregation = content.get("harvest", {}), release.aggregation
    top = (
        TopEntity(one.iri, one.label, share.category, one.score)
        for share in aggregation.categories
        for one in aggregation.top(share.category, TOP)
    )
    return DatasetDetail(
        dataset,
        str(content.get("built", "")),
        max(map(str, content.get("fetched", {}).values()), default=""),
        _sources(harvest),
        harvest.get("whole"),
        tuple(map(str, report.get("concerns", ()))),
        tuple(CategoryShare(one.category, one.any, one.primary) for one in aggregation.categories if one.any),
        tuple(_classes(release)),
        tuple(
            RelationshipShare(one.key, one.label, one.pairs) for one in aggregation.relationships if one.pairs
        ),
        tuple(top),
        tuple(_coverage(report)),
        _markdown(release, harvest),
        {name: str(value) for name, value in release.manifest.versions.items()},
        {name: str(value) for name, value in release.manifest.embedding.items()},
    )


def _classes(release: Release) -> Iterator[ClassShare]:
    """The classes that most entities state, with those of their sub-classes; the most frequent first."""
    world, found = release.world, []
    for one in release.aggregation.classes[:CLASSES]:
        numbers = class_numbers(world, one.iri) or set()
        count = int((world.of_classes(numbers) & world.entities).sum())
        found.append(ClassShare(one.label, one.code, one.iri, count, one.entities))
    yield from sorted(found, key=lambda one: (-one.count, -one.own))


def _report(release: Release) -> dict[str, Any]:
    path = release.folder / REPORT_JSON
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read ({error}).", "Build the data set again.") from error
    return found if isinstance(found, dict) else {}


def _markdown(release: Release, harvest: Mapping[str, Any]) -> str:
    """The validation report, files without their folders."""
    path = release.folder / REPORT_MARKDOWN
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read ({error}).", "Build the data set again.") from error
    for one in sorted(_declared(harvest), key=len, reverse=True):
        text = text.replace(one, _name(one))
    return text


def _sources(harvest: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(map(_name, _declared(harvest)))


def _declared(harvest: Mapping[str, Any]) -> list[str]:
    declared = harvest.get("source", {})
    return [
        str(text) for value in declared.values() for text in (value if isinstance(value, list) else [value])
    ]


def _name(declared: str) -> str:
    """The name of a file without its folder, which is nobody's business; an address as it is."""
    return declared if "://" in declared else declared.rpartition("/")[2]


def _coverage(report: Mapping[str, Any]) -> Iterator[Coverage]:
    entities = report.get("entities", {})
    total, events = int(entities.get("entities", 0)), int(entities.get("events", 0))
    for what, lacking, of in (
        ("named", "unlabelled", total),
        ("typed", "untyped", total),
        ("categorised", "without_category", total),
        ("dated events", "undated_events", events),
    ):
        count = int(entities.get(lacking, {}).get("count", 0))
        yield _share(what, max(0, of - count), of)
    nodes = int(entities.get("nodes", 0))
    yield _share("described", nodes - int(entities.get("dangling", {}).get("count", 0)), nodes)


def _share(what: str, count: int, of: int) -> Coverage:
    return Coverage(what, count, of, count / of if of else 1.0)


def list_evaluations(data: Path, dataset: str) -> tuple[EvaluationSummary, ...]:
    """The evaluations that lie in the data folder, the latest first; what cannot be read is left out."""
    from crmrag_query.evaluation.report import REPORT_JSON as EVALUATION
    from crmrag_query.evaluation.report import evaluations_folder
    from crmrag_query.evaluation.systems import PIPELINE

    found = []
    for path in sorted(evaluations_folder(data, dataset).glob(f"**/{EVALUATION}")):
        try:
            told = json.loads(path.read_bytes())
            scores = told["retrieval"].get(PIPELINE) or next(iter(told["retrieval"].values()))
            measures = {name: fmean(values.values()) for name, values in scores.items() if values}
            made = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            found.append(EvaluationSummary(Path(told["file"]).name, made, len(told["asked"]), measures))
        except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
            continue
    return tuple(sorted(found, key=lambda one: one.made, reverse=True))
