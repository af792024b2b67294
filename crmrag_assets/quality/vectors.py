"""Checks of the vectors of documents' windows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.build.layers import chunks_of
from crmrag_assets.build.opened import documents_in_chunk, documents_of, encoder_of, graph_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.indexes.embed import Embedded, open_embedded
from crmrag_assets.quality.earlier import Earlier, earlier_release
from crmrag_assets.quality.finding import Finding, Row, percent, share
from crmrag_query.retrieval.dense import DenseIndex

BLOCK = 8192  # vectors looked at together
SEED = 20120109
INDEX = "faiss_index"

Floats = npt.NDArray[np.float32]


def _chunks(context: BuildContext) -> Iterator[Embedded]:
    """The vectors of every chunk, with whose they are."""
    entities = documents_of(context).entities
    for chunk in chunks_of(context):
        yield open_embedded(context.folder("embeddings", chunk), entities[documents_in_chunk(context, chunk)])


def _blocks(vectors: Floats) -> Iterator[tuple[int, Floats]]:
    """(number of the first, vectors) of each block."""
    for start in range(0, len(vectors), BLOCK):
        yield start, np.asarray(vectors[start : start + BLOCK])


def vectors_are_sound(context: BuildContext) -> Finding:
    """Every vector is of finite numbers and of length 1: else products are no cosines, and rankings nonsense."""
    checks, graph = context.method.checks, graph_of(context)
    count = unfinite = 0
    least, largest = 1.0, 1.0
    rows: list[Row] = []
    wrong = 0
    for embedded in _chunks(context):
        entity = embedded.windows.column("entity").to_numpy()
        for start, block in _blocks(embedded.vectors):
            length = np.sqrt(np.einsum("ij,ij->i", block, block, dtype=np.float64))
            finite = np.isfinite(length)
            unfinite += int((~finite).sum())
            least, largest = (
                float(length.min(initial=least, where=finite)),
                float(length.max(initial=largest, where=finite)),
            )
            bad = np.flatnonzero(~finite | (np.abs(length - 1) > checks.norm_error))
            wrong += len(bad)
            rows += [
                {"document": graph.label(int(entity[start + n])), "length": f"{length[n]:.6g}"}
                for n in bad[: checks.shown - len(rows)].tolist()
            ]
        count += len(embedded.vectors)
    counts = {
        "vectors": count,
        "wrong": wrong,
        "not_finite": unfinite,
        "shortest": round(least, 6),
        "longest": round(largest, 6),
    }
    says = (
        f"{wrong:,} of {count:,} vectors are not of length 1, the first of them that of “{rows[0]['document']}”."
        if rows
        else f"All {count:,} vectors are of length 1."
    )
    cache = context.data / "cache" / "embeddings" / encoder_of(context).key
    remedy = (
        "The encoder gave them: is its model whole? Have all encoded anew: remove "
        f"{cache} and {context.folder('embeddings')}, then run crmrag build {context.name}."
    )
    return Finding(not wrong, says, counts, {"first_wrong": rows} if rows else {}, remedy)


def vectors_are_distinct(context: BuildContext) -> Finding:
    """Few different texts have the very same vector: those cannot be told apart by dense retrieval."""
    checks, graph = context.method.checks, graph_of(context)
    frames = [_prints(embedded) for embedded in _chunks(context)]
    frame = pl.concat(frames)
    same = (
        frame.group_by("vector")
        .agg(rows=pl.len(), texts=pl.col("text").n_unique(), entities=pl.col("entity").head(3))
        .filter(pl.col("texts") > 1)
        .sort("rows", "vector", descending=True)
    )
    count = int(same.get_column("rows").sum())
    part = share(count, len(frame))
    rows: list[Row] = [
        {
            "windows": one["rows"],
            "texts": one["texts"],
            "such as": "; ".join(graph.label(n) for n in one["entities"]),
        }
        for one in same.head(checks.shown).to_dicts()
    ]
    says = f"{count:,} of {len(frame):,} vectors ({percent(part)}) are also those of a different text."
    remedy = (
        "Do their texts differ only beyond what the model reads, or in words that it does not know? Choose a model for the "
        "data's languages: `embedding` in datasets.yaml."
    )
    counts = {"vectors": len(frame), "equal": count, "equal_share": part}
    return Finding(part <= checks.duplicate_share, says, counts, {"most_equal": rows} if rows else {}, remedy)


def _prints(embedded: Embedded) -> pl.DataFrame:
    """A 64-bit number of each vector, which equal ones share and hardly any others, and the text's hash."""
    weights = np.random.default_rng(SEED).integers(
        1, 1 << 63, embedded.vectors.shape[1], dtype=np.uint64
    ) | np.uint64(1)
    numbers = np.empty(len(embedded.vectors), np.uint64)
    for start, block in _blocks(embedded.vectors):
        bits = np.ascontiguousarray(block).view(np.uint32).astype(np.uint64)
        bits *= bits ^ np.uint64(0x9E3779B97F4A7C15)
        numbers[start : start + len(block)] = (bits * weights).sum(axis=1, dtype=np.uint64)
    entity, text = (
        pl.Series(pl.from_arrow(embedded.windows.column(name))) for name in ("entity", "text_hash")
    )
    return pl.DataFrame({"vector": numbers, "text": text.cast(pl.Binary), "entity": entity})


def vectors_have_not_drifted(context: BuildContext) -> Finding:
    """The mean vector points where that of the earlier release with the same encoder does."""
    checks = context.method.checks
    own = DenseIndex.open(context.folder(INDEX), context.method.dense)
    earlier = earlier_release(context, INDEX)
    if earlier is None or not earlier.has_same(context, "encoder"):
        why = "no earlier release" if earlier is None else f"release {earlier.id} has another encoder"
        says = f"Not compared: {why}."
        return Finding(True, says, {"cosine": 1.0, "vectors": len(own.window_document)})
    cosine = _cosine(_mean(own, checks.drift_vectors), _mean(_dense(earlier, context), checks.drift_vectors))
    says = f"The mean vector has a cosine of {cosine:.4f} to that of release {earlier.id}."
    remedy = (
        "With the same encoder the texts became others: is that meant? See what changed: "
        f"crmrag diff {context.name} --texts."
    )
    counts = {"cosine": round(cosine, 6), "vectors": len(own.window_document)}
    return Finding(cosine >= checks.drift_cosine, says, counts, remedy=remedy)


def _dense(earlier: Earlier, context: BuildContext) -> DenseIndex:
    return DenseIndex.open(earlier.folder / "dense", context.method.dense)


def _mean(index: DenseIndex, most: int) -> npt.NDArray[np.float64]:
    """The mean of evenly many vectors, float64 [dimension]."""
    step = max(1, len(index.rows) // most)
    chosen = index.rows[::step][:most]
    return np.asarray(chosen.mean(axis=0, dtype=np.float64)) if len(chosen) else np.zeros(index.dimension)


def _cosine(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length else 1.0
