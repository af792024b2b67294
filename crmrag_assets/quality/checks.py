"""Every check by the artifact that it guards, in the order of a build."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from crmrag_assets.build.step import BuildContext, is_made
from crmrag_assets.build.store import Published
from crmrag_assets.opened import documents_of, page_rows
from crmrag_assets.quality import graph, indexes
from crmrag_assets.quality.finding import SHOWN, BuildCheck, made_anew
from crmrag_assets.quality.shapes import shapes_hold
from crmrag_query.artifacts.manifest import EVALUATION, PIPELINE, evaluations_folder, find_release
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.documents.pages import IMAGES, READINGS
from crmrag_query.errors import ReleaseError
from crmrag_query.evaluation.report import BEFORE_JSON
from crmrag_query.evaluation.scores import CONFIDENCE, interval
from crmrag_query.graph_partitions import GraphPartitions, PartitionEdges
from crmrag_query.text import amount
from crmrag_query.verify.check import Check, Finding, Row, Weight, collected
from crmrag_query.verify.graph import faults_of_edges, faults_of_parts
from crmrag_query.verify.run import ALL, verify_folder


def manifest_verifies(context: BuildContext) -> Finding:
    """Every file of the release is what its manifest pins. If not, go back to the previous release (`crmrag rollback NAME`),
    have the disk checked and build again.
    """
    try:
        folder = find_release(context.name, context.data)
        built = Published.read(context.store.root)
        # Whether the artifacts of what a build publishes fit each other it has looked at, and these are the same bytes.
        seen = built is not None and built.release == folder.name
        report = verify_folder(folder, checks=() if seen else ALL)
    except ReleaseError as error:
        return Finding(False, error.what, {"files": 0, "looked_at": 0, "faults": 1}, remedy=error.remedy)
    says = f"Release {report.release} is what was built, and its parts fit each other."
    if not report.holds:
        says = f"Release {report.release} cannot be trusted: {'; '.join(report.faults)}."
    counts: dict[str, int | float | str] = {
        "release": report.release,
        "files": report.found[0][1].looked,
        "looked_at": sum(finding.looked for _, finding in report.found),
        "faults": len(report.faults),
    }
    rows: list[Row] = [
        {
            "check": check.name,
            "looked at": finding.looked,
            "of": check.of,
            "state": "skipped" if finding.skipped else "ok" if finding.holds else "faulty",
        }
        for check, finding in report.found
    ]
    remedy = f"Go back (crmrag rollback {context.name}) and build again: crmrag build {context.name}."
    return Finding(report.holds, says, counts, {"checks": rows}, remedy)


def retrieval_is_as_good(context: BuildContext) -> Finding:
    """Questions with known answers are retrieved for no worse than by the release evaluated before, by more than chance. If
    they are, the evaluation's report tells which; `crmrag rollback NAME` goes back.
    """
    config, folder = context.method.evaluation, evaluations_folder(context.data, context.name)
    now, before = _stored(folder / EVALUATION), _stored(folder / BEFORE_JSON)
    own, old = _scores(now, config.overall), _scores(before, config.overall)
    score = sum(own.values()) / len(own) if own else 0.0
    counts: dict[str, int | float | str] = {"questions": len(own), "score": round(score, 6), "change": 0.0}
    if now is None or before is None:
        if now is not None:
            why = "no other release was evaluated before"
        elif context.config.questions:
            why = f"nothing was evaluated yet (crmrag evaluate {context.name})"
        else:
            why = f"datasets.yaml declares no questions for '{context.name}' (add `questions: FILE`)"
        return Finding(True, f"Not compared: {why}.", counts)
    both = [id for id in own if id in old and now["asked"].get(id) == before["asked"].get(id)]
    gaps = {id: own[id] - old[id] for id in both}
    if not gaps:
        says = f"Not compared: release {before['release']} was asked none of these questions."
        return Finding(True, says, counts)
    change = interval(list(gaps.values()))
    worst = sorted((id for id in both if gaps[id] < 0), key=lambda id: gaps[id])
    rows: list[Row] = [
        {"question": now["asked"][id], "before": f"{old[id]:.3f}", "now": f"{own[id]:.3f}"}
        for id in worst[:SHOWN]
    ]
    says = (
        f"{config.overall} changed by {change.mean:+.3f} since release {before['release']} over {len(both)} questions "
        f"({CONFIDENCE:.0%} interval {change.low:+.3f} to {change.high:+.3f})."
    )
    remedy = (
        f"See {folder / 'evaluation.md'} for the questions that became worse, and crmrag diff {context.name} for what "
        f"changed; crmrag rollback {context.name} goes back."
    )
    counts["change"] = round(change.mean, 6)
    return Finding(change.high >= 0, says, counts, {"became_worse": rows}, remedy)


def _stored(path: Path) -> dict[str, Any] | None:
    """An evaluation as it was written; None where there is none, or none that can be read."""
    try:
        found = json.loads(path.read_bytes())
        return found if PIPELINE in found["retrieval"] else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _scores(evaluation: Mapping[str, Any] | None, measure: str) -> Mapping[str, float]:
    found: Mapping[str, float] = evaluation["retrieval"][PIPELINE].get(measure, {}) if evaluation else {}
    return found


def _check(of: str, weight: Weight, look: Callable[[BuildContext], Finding]) -> BuildCheck:
    """The check that a function makes: it has its name, and its docstring is what the catalogue says of it."""
    return Check(look.__name__, of, look, weight, " ".join((look.__doc__ or "").split()))


def pages_are_read(context: BuildContext) -> Finding:
    """Every document is read, and every page by its text layer or by a language model. If not, see the table for which are
    not and why: a document may be damaged, locked or too large for its limits; pages that a model failed at are asked for by
    the next build; those without a text layer need a model that sees images, or OCR.
    """
    if not context.store.chunks(IMAGES):
        return Finding(True, "The data set has no pages.", {"pages": 0})
    documents, pages = page_rows(context, IMAGES, "documents"), page_rows(context, IMAGES, "pages")
    readings = {one["page"]: one for one in page_rows(context, READINGS, "readings")}
    rows: list[Row] = [{"what": one["name"], "why": one["refused"]} for one in documents if one["refused"]]
    refused, names = len(rows), {one["iri"]: one["name"] for one in documents}
    for page in pages:
        read = readings.get(page["iri"])
        why = page["error"]
        if not why and read is not None and read["status"] != "read":
            why = f"the model did not read it ({read['status']}): {read['error']}"
        elif not why and read is None and page["needs"]:
            why = "it has no text layer, and no model is named that would read it"
        if why:
            rows.append({"what": f"{names[page['document']]}, p. {page['number']}", "why": why})
    unread = len(rows) - refused
    told = amount(len(documents), "document"), amount(len(pages), "page")
    says = f"Of {told[0]} {refused:,} could not be read, of {told[1]} {unread:,}."
    first = "; ".join(f"{row['what']}: {row['why']}" for row in rows[:SHOWN])
    first += "; …" if len(rows) > SHOWN else ""
    remedy = f"{first}. What a model failed at is asked for by: crmrag build {context.name}"
    counts: dict[str, int | float | str] = {
        "documents": len(documents),
        "refused": refused,
        "pages": len(pages),
        "unread": unread,
    }
    return Finding(not rows, says, counts, {"not_read": rows[:100]}, remedy)


def parts_within_limit(context: BuildContext) -> Finding:
    """Every document is in one part, and none has more than the limit: what is chosen by parts is bounded by it."""
    if not is_made(context, "graph_partitions"):
        return Finding(True, "The data set does without graph partitions.", {"parts": 0, "largest": 0})
    found = GraphPartitions.open(context.folder("graph_partitions"))
    seen = collected(faults_of_parts(found, documents_of(context).count))
    largest = int(found.sizes.max(initial=0))
    says = f"All {len(found.part):,} documents are in {len(found):,} parts of at most {largest:,}."
    counts = {"parts": len(found), "largest": largest}
    return Finding(
        seen.holds,
        says if seen.holds else "; ".join(seen.faults),
        counts,
        remedy=made_anew(context, "graph_partitions"),
    )


def contradictions(context: BuildContext) -> Iterator[str]:
    """What parts and their edges, as they were built last, say against each other, the documents and the entity graph."""
    found = GraphPartitions.open(context.folder("graph_partitions"))
    edges = PartitionEdges.open(context.folder("partition_edges"))
    graph = EntityGraph.open(context.folder("entity_graph"))
    yield from faults_of_parts(found, documents_of(context).count)
    yield from faults_of_edges(edges, found, graph)


CHECKS = (
    _check("harvest_report", "warns", pages_are_read),
    _check("harvest_report", "warns", graph.harvest_is_whole),
    _check("harvest_report", "warns", graph.few_lines_are_broken),
    _check("harvest_report", "blocks", graph.chunks_are_readable),
    _check("graph", "blocks", graph.no_triple_lost),
    _check("graph", "blocks", graph.has_entities),
    _check("graph", "blocks", graph.not_much_is_gone),
    _check("graph", "warns", graph.terms_are_known),
    _check("graph", "warns", graph.nothing_dangles),
    _check("graph", "warns", graph.hierarchies_have_no_circles),
    _check("graph", "warns", shapes_hold),
    _check("documents", "blocks", indexes.every_entity_is_told),
    _check("documents", "warns", indexes.lengths_are_fair),
    _check("profile", "warns", indexes.as_much_is_known),
    _check("lexicon", "blocks", indexes.steps_are_counted),
    _check("bm25_index", "blocks", indexes.sparse_covers_documents),
    _check("faiss_index", "blocks", indexes.vectors_are_sound),
    _check("faiss_index", "warns", indexes.vectors_are_distinct),
    _check("faiss_index", "warns", indexes.vectors_have_not_drifted),
    _check("faiss_index", "blocks", indexes.dense_covers_documents),
    _check("faiss_index", "blocks", indexes.dense_finds_the_nearest),
    _check("graph_partitions", "blocks", parts_within_limit),
    _check("release", "fails", manifest_verifies),
    _check("evaluation", "warns", retrieval_is_as_good),
)
