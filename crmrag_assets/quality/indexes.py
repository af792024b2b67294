"""Checks of what retrieval searches, documents, vectors and indexes, and of what is known of entities."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow.compute as pc

from crmrag_assets.build.step import BuildContext
from crmrag_assets.indexes.encoder import Embedded
from crmrag_assets.opened import (
    dense_of,
    documents_of,
    embedded_of,
    encoder_of,
    graph_of,
    texts_with_vectors,
    with_vectors,
)
from crmrag_assets.quality.finding import (
    COMPARED,
    SHOWN,
    earlier_release,
    has_same,
    made_anew,
    percent,
    share,
)
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.plans.kinds import Kinds
from crmrag_query.plans.profile import Coverage, Profile
from crmrag_query.retrieval.dense import ROUNDING, DenseIndex, Floats
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.verify.check import Finding, Row, blocks, collected
from crmrag_query.verify.indexes import UNIT, covered, lengths

SEED = 20120109
SCANNED = 65_536  # vectors multiplied together
PRINTED = 8192  # vectors of which numbers are made together
# The index is exact: fewer than all nearest documents are found only where rounding settles a tie otherwise.
QUESTIONS, NEAREST, RECALL = 20, 10, 0.99
DRIFT_VECTORS = 20_000
"""Of each release, whose means are compared: the mean of more differs in its fourth place."""
KINDS = ("label", "type", "date")
ALL = "all"


def every_entity_is_told(context: BuildContext) -> Finding:
    """Every entity has a document, or stands in that of another: what stands in none is never found."""
    graph, documents = graph_of(context), documents_of(context)
    is_entity = graph.flags & FLAG_ENTITY != 0
    entity = np.flatnonzero(is_entity)
    home = documents.entity_document[entity]
    untold = entity[(home < 0) | (home >= documents.count)]
    own = int(np.count_nonzero(is_entity[documents.entities]))
    within = len(entity) - own - len(untold)
    counts = {"entities": len(entity), "untold": len(untold), "own_documents": own, "within_others": within}
    rows: list[Row] = [{"iri": graph.iri(n), "label": graph.label(n)} for n in untold[:SHOWN].tolist()]
    says = f"All {len(entity):,} entities are told: {own:,} in documents of their own, {within:,} in those of others."
    if rows:
        first = rows[0]["iri"]
        says = f"{len(untold):,} of {len(entity):,} entities stand in no document, the first of them {first}."
    return Finding(not rows, says, counts, {"first_untold": rows}, made_anew(context, "documents"))


def lengths_are_fair(context: BuildContext) -> Finding:
    """Few documents say next to nothing, few are longer than a context takes. If there are more: thin ones come from entities
    with few statements, oversized ones from hubs; `satellites.yaml` and `chaining` in method.yaml steer both.
    """
    documents, rules, checks = documents_of(context), context.method.chaining, context.method.checks
    length = pc.utf8_length(documents.table.column("text")).to_numpy().astype(np.int64)
    thin, long = int((length < rules.thin_characters).sum()), int((length > rules.limit_characters).sum())
    thin_share, long_share = share(thin, len(length)), share(long, len(length))
    counts = {
        "documents": len(length),
        "thin": thin,
        "thin_share": thin_share,
        "oversized": long,
        "oversized_share": long_share,
        "median_characters": int(np.median(length)) if len(length) else 0,
    }
    order = np.argsort(length, kind="stable")
    tables: dict[str, list[Row]] = {
        name: [{"document": documents.label(n), "characters": int(length[n])} for n in chosen.tolist()]
        for name, chosen in (("shortest", order[:SHOWN]), ("longest", order[::-1][:SHOWN]))
    }
    says = (
        f"{percent(thin_share)} of {len(length):,} documents have fewer than {rules.thin_characters:,} characters, "
        f"{percent(long_share)} more than {rules.limit_characters:,}."
    )
    remedy = (
        "Thin documents come from entities with few statements: see the check shapes_hold, or satellites.yaml for kinds that "
        "belong into another's document. Oversized ones come from hubs: see `documents` and `chaining` in method.yaml."
    )
    fair = thin_share <= checks.thin_share and long_share <= checks.oversized_share
    return Finding(fair, says, counts, tables, remedy)


def as_much_is_known(context: BuildContext) -> Finding:
    """The shares of entities with a label, a type and a date did not fall since the earlier release, in any category. If they
    did, something may be left out of the source: compare by `crmrag diff NAME`.
    """
    now, earlier = Profile.open(context.folder("profile")).coverage, earlier_release(context, "profile")
    before = Profile.open(earlier.folder / "profile").coverage if earlier else {}
    falls: list[dict[str, Any]] = []
    for name, coverage in now.items():
        if name not in before or min(coverage.entities, before[name].entities) < COMPARED:
            continue
        for kind in KINDS:
            own, old = _share(coverage, kind), _share(before[name], kind)
            row = {"category": name, "kind": kind, "before": old, "now": own, "fall": round(old - own, 6)}
            falls.append(row)
    worst = sorted((row for row in falls if row["fall"] > 0), key=lambda row: -row["fall"])
    fell = [row for row in worst if row["fall"] > context.method.checks.coverage_fall]
    shares = {kind: _share(now[ALL], kind) for kind in KINDS}
    known = ", ".join(f"{percent(part)} have a {kind}" for kind, part in shares.items())
    if earlier is None:
        says = f"Of the entities {known}. There is no earlier release to compare with."
    elif not fell:
        says = f"Of the entities {known}: no share fell much since release {earlier.id}."
    else:
        parts = (
            f"{row['kind']}s of {'all entities' if row['category'] == ALL else row['category']} from "
            f"{percent(row['before'])} to {percent(row['now'])}"
            for row in fell
        )
        says = f"Less is known than in release {earlier.id}: {'; '.join(parts)}."
    counts: dict[str, int | float | str] = {f"{kind}_share": part for kind, part in shares.items()}
    counts["largest_fall"] = worst[0]["fall"] if worst else 0.0
    shown = [
        {**row, **{name: percent(row[name]) for name in ("before", "now", "fall")}} for row in worst[:SHOWN]
    ]
    remedy = (
        "Was something left out of the source? Compare the two releases: crmrag diff "
        f"{context.name}. The current release stays for rollback."
    )
    return Finding(not fell, says, counts, {"fell_most": shown}, remedy)


def _share(coverage: Coverage, kind: str) -> float:
    return share(getattr(coverage, kind), coverage.entities)


def steps_are_counted(context: BuildContext) -> Finding:
    """The steps between kinds of nodes count every triple between nodes once: a way that is not counted is never found."""
    graph = graph_of(context)
    found = Kinds.open(context.folder("lexicon"), graph)
    triples = int(found.step_triples.sum())
    counts = {"kinds": len(found), "steps": len(found.step_property), "triples": triples, "of": graph.triples}
    says = f"{len(found):,} kinds of nodes, and {len(found.step_property):,} steps between them, by {triples:,} triples"
    holds = triples == graph.triples
    says += ", which are all." if holds else f" of {graph.triples:,}."
    return Finding(holds, says, counts, remedy=made_anew(context, "lexicon"))


def sparse_covers_documents(context: BuildContext) -> Finding:
    """The sparse index has as many documents as there are, and as many passages."""
    indexed = SparseIndex.open(context.folder("bm25_index")).documents
    return _covers(context, "sparse", "bm25_index", indexed, indexed == len(documents_of(context).texts))


def dense_covers_documents(context: BuildContext) -> Finding:
    """Every document that is to have a vector by now has at least one row in the dense index, with all its passages."""
    index, documents, chosen = dense_of(context), documents_of(context), with_vectors(context)
    rows, indexed = len(index.window_document), np.unique(index.window_document)
    holds = collected(covered(index, chosen[documents.home])).holds
    without = np.setdiff1d(texts_with_vectors(context), indexed)[:SHOWN]
    shown: list[Row] = [{"document": documents.label(int(documents.home[n]))} for n in without.tolist()]
    found = _covers(context, "dense", "faiss_index", len(indexed), holds, {"rows": rows}, shown)
    if holds and not chosen.all():
        part = percent(share(int(chosen.sum()), len(chosen)))
        return replace(
            found, says=f"The dense index has the most important {part} of {len(chosen):,} documents."
        )
    return found


def _covers(
    context: BuildContext,
    which: str,
    artifact: str,
    indexed: int,
    holds: bool,
    more: dict[str, int] | None = None,
    without: list[Row] | None = None,
) -> Finding:
    documents, passages = documents_of(context).count, documents_of(context).passages.num_rows
    says = f"The {which} index has {indexed:,} texts, and there are {documents + passages:,}."
    if holds:
        beside = f" and {passages:,} passages" if passages else ""
        says = f"The {which} index has all {documents:,} documents{beside}."
    counts = {"documents": documents, "passages": passages, "indexed": indexed, **(more or {})}
    return Finding(holds, says, counts, {"without": without or []}, made_anew(context, artifact))


def dense_finds_the_nearest(context: BuildContext) -> Finding:
    """For a sample of vectors the index finds the documents that a plain scan of all does."""
    index, documents = dense_of(context), documents_of(context)
    rows, k = len(index.rows), min(NEAREST, int(index.encoded.sum()))
    asked = np.unique(np.linspace(0, rows - 1, min(QUESTIONS, rows)).astype(np.int64)) if k else np.arange(0)
    vectors = np.ascontiguousarray(index.rows[asked])
    best = np.full((index.documents, len(asked)), -np.inf, np.float32)  # of each document's windows
    for block in blocks(rows, SCANNED):
        of = index.window_document[block]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        largest = np.maximum.reduceat(index.rows[block] @ vectors.T, first)
        best[of[first]] = np.maximum(best[of[first]], largest)
    recalls = []
    for vector, products in zip(vectors, best.T, strict=True):
        least = np.partition(products, -k)[-k] - 2 * ROUNDING  # ties with the last one count as found
        found = [document for document, _ in index.search(vector, k)]
        recalls.append(float((products[found] >= least).sum()) / k)
    recall = float(np.mean(recalls)) if recalls else 1.0
    holds = recall >= RECALL
    worst = sorted(zip(recalls, asked.tolist(), strict=True))[: 0 if holds else SHOWN]
    table: list[Row] = [
        {"document": documents.label(int(index.window_document[row])), "recall": f"{part:.2f}"}
        for part, row in worst
    ]
    counts = {"recall": round(recall, 6), "questions": len(recalls), "nearest": k}
    says = f"{recall:.1%} of the {k} nearest documents are found, over {len(recalls)} documents' own vectors."
    return Finding(holds, says, counts, {"worst": table}, made_anew(context, "faiss_index"))


def vectors_are_sound(context: BuildContext) -> Finding:
    """Every vector is of finite numbers and of length 1: else rankings are nonsense. If not, the encoder gave them: the
    message names the cache to remove.
    """
    index, documents = dense_of(context), documents_of(context)
    count = len(index.rows)
    parts = [lengths(index.rows[block]) for block in blocks(count, SCANNED)]
    length = np.concatenate([np.empty(0, np.float32), *parts])
    finite = np.isfinite(length)
    wrong = np.flatnonzero(~(np.abs(length - 1) <= UNIT))
    rows: list[Row] = [
        {
            "document": documents.label(int(documents.home[index.window_document[n]])),
            "length": f"{length[n]:.6g}",
        }
        for n in wrong[:SHOWN].tolist()
    ]
    counts = {
        "vectors": count,
        "wrong": len(wrong),
        "not_finite": int((~finite).sum()),
        "shortest": round(float(length.min(initial=1.0, where=finite)), 6),
        "longest": round(float(length.max(initial=1.0, where=finite)), 6),
    }
    says = f"All {count:,} vectors are of length 1."
    if rows:
        first = rows[0]["document"]
        says = (
            f"{len(wrong):,} of {count:,} vectors are not of length 1, the first of them that of “{first}”."
        )
    cache = context.data / "cache" / "embeddings" / encoder_of(context).key
    remedy = (
        "The encoder gave them: is its model whole? Have all encoded anew: remove "
        f"{cache} and {context.folder('embeddings')}, then run crmrag build {context.name}."
    )
    return Finding(not rows, says, counts, {"first_wrong": rows}, remedy)


def vectors_are_distinct(context: BuildContext) -> Finding:
    """Few different texts have the very same vector. If there are more, the model does not tell the data's texts apart:
    choose one for its languages.
    """
    documents = documents_of(context)
    frame = pl.concat([_prints(embedded) for embedded in embedded_of(context)])
    same = (
        frame.group_by("vector")
        .agg(rows=pl.len(), texts=pl.col("text").n_unique(), such_as=pl.col("number").head(3))
        .filter(pl.col("texts") > 1)
        .sort("rows", "vector", descending=True)
    )
    count = int(same.get_column("rows").sum())
    part = share(count, len(frame))
    rows: list[Row] = [
        {
            "windows": row["rows"],
            "texts": row["texts"],
            "such as": "; ".join(documents.label(int(documents.home[n])) for n in row["such_as"]),
        }
        for row in same.head(SHOWN).to_dicts()
    ]
    says = f"{count:,} of {len(frame):,} vectors ({percent(part)}) are also those of a different text."
    remedy = (
        "Do their texts differ only beyond what the model reads, or in words that it does not know? Choose a model for the "
        "data's languages: `embedding` in datasets.yaml."
    )
    counts = {"vectors": len(frame), "equal": count, "equal_share": part}
    few = part <= context.method.checks.duplicate_share
    return Finding(few, says, counts, {"most_equal": rows}, remedy)


def _prints(embedded: Embedded) -> pl.DataFrame:
    """A 64-bit number of each vector, which equal ones share and hardly any others, and the text's hash."""
    random, odd = np.random.default_rng(SEED), np.uint64(1)
    weights = random.integers(1, 1 << 63, embedded.vectors.shape[1], dtype=np.uint64) | odd
    numbers = np.empty(len(embedded.vectors), np.uint64)
    for block in blocks(len(numbers), PRINTED):
        bits = np.ascontiguousarray(embedded.vectors[block]).view(np.uint32).astype(np.uint64)
        bits *= bits ^ np.uint64(0x9E3779B97F4A7C15)
        numbers[block] = (bits * weights).sum(axis=1, dtype=np.uint64)
    number, text = (
        pl.Series(pl.from_arrow(embedded.windows.column(name))) for name in ("number", "text_hash")
    )
    return pl.DataFrame({"vector": numbers, "text": text.cast(pl.Binary), "number": number})


def vectors_have_not_drifted(context: BuildContext) -> Finding:
    """The mean vector points where that of the earlier release with the same encoder does. If not, the texts became others:
    see which by `crmrag diff NAME --texts`.
    """
    own = dense_of(context)
    vectors = len(own.window_document)
    earlier = earlier_release(context, "faiss_index", lambda release: release.manifest.share == 1)
    if context.share < 100 or earlier is None or not has_same(earlier, context, "encoder"):
        why = "no earlier release" if earlier is None else f"release {earlier.id} has another encoder"
        why = "not all documents have a vector yet" if context.share < 100 else why
        return Finding(True, f"Not compared: {why}.", {"cosine": 1.0, "vectors": vectors})
    means = []
    for index in (own, DenseIndex.open(earlier.folder / "dense", context.method.dense)):
        chosen: Floats = index.rows[:: max(1, len(index.rows) // DRIFT_VECTORS)][:DRIFT_VECTORS]
        means.append(chosen.sum(axis=0, dtype=np.float64) / max(len(chosen), 1))
    length = float(np.linalg.norm(means[0]) * np.linalg.norm(means[1]))
    cosine = float(means[0] @ means[1]) / length if length else 1.0
    says = f"The mean vector has a cosine of {cosine:.4f} to that of release {earlier.id}."
    remedy = (
        "With the same encoder the texts became others: is that meant? See what changed: "
        f"crmrag diff {context.name} --texts."
    )
    counts = {"cosine": round(cosine, 6), "vectors": vectors}
    return Finding(cosine >= context.method.checks.drift_cosine, says, counts, remedy=remedy)
