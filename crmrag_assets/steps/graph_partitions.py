"""Steps of graph partitions: cutting the entity graph, what joins the parts, and the aligner that sends questions to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, contents
from crmrag_assets.communities.detect import Net
from crmrag_assets.indexes.encoder import VectorCache, encode_whole
from crmrag_assets.opened import cache_of, dense_of, documents_of, encoder_of
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.artifacts.release import Opener
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import BuildError
from crmrag_query.graph_partitions import Aligner, GraphPartitions, PartitionEdges
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.sparse import SparseIndex

if TYPE_CHECKING:
    from crmrag_assets.graph_partitions.evaluate import Searched

QUESTIONS, VECTORS, RESULTS = "questions.parquet", "vectors.npy", "evaluation.json"
HUBS = 10  # that are shown
EXAMPLES = 5
TIMED = 150  # questions that are answered end to end
Floats = npt.NDArray[np.float32]


def cut_wanted(context: BuildContext) -> bool:
    """Once all documents have vectors: while they come, parts would be cut again and again."""
    return context.config.graph_partitions and context.share == 100


def aligner_wanted(context: BuildContext) -> bool:
    return cut_wanted(context) and context.config.aligner


def net_of(context: BuildContext) -> Net:
    return Net.of(EntityGraph.open(context.folder("entity_graph")))


def partitions_of(context: BuildContext) -> GraphPartitions:
    return GraphPartitions.open(context.folder("graph_partitions"))


def edges_of(context: BuildContext) -> PartitionEdges:
    return PartitionEdges.open(context.folder("partition_edges"))


def write_graph_partitions(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The documents cut into parts of bounded size by how they are joined: each in one part, none above the limit.

    By METIS, Leiden or both with meaning (`graph_partitions` in method.yaml), beside controls by chance and by vectors alone.
    Parts that are joined to everything and about nothing, hubs, are weighed down. Read by `partition_edges` and the aligner,
    and when a question is sent to parts. `graph_partitions: true` in datasets.yaml has them made, once all documents have
    vectors.
    """
    from crmrag_assets.graph_partitions.cut import centroids, cut  # loads igraph and METIS
    from crmrag_assets.graph_partitions.evaluate import Quality, coherence, controls, penalties

    settings, documents, net = context.method.graph_partitions, documents_of(context), net_of(context)
    vectors = dense_of(context).vectors(np.arange(documents.count, dtype=np.int32))
    part = cut(net, vectors, settings)
    penalty = penalties(net, part, vectors)
    how = settings.model_dump(mode="json")
    found = GraphPartitions.of(part, penalty, centroids(part, vectors), **how)
    found.save(folder)
    own = Quality.of(settings.method, net, part, vectors, settings.limit)
    others = [
        Quality.of(name, net, other, vectors, settings.limit)
        for name, other in controls(net, part, vectors).items()
    ]
    hubs = [
        {
            "part": one,
            "weighed down by": f"{penalty[one]:.2f}",
            "documents": ", ".join(documents.label(int(member)) for member in found.members(one)[:EXAMPLES]),
        }
        for one in np.argsort(-penalty, kind="stable")[:HUBS].tolist()
        if penalty[one]
    ]
    counts = {name: value for name, value in own.row().items() if name != "cut_by"}
    samples = {"cuts": [one.row() for one in (own, *others)], "hubs": hubs}
    tenths = np.bincount((coherence(part, vectors) * 10).astype(int).clip(0, 9), minlength=10).tolist()
    bars = [[f"{tenth / 10:.1f}–{(tenth + 1) / 10:.1f}", count] for tenth, count in enumerate(tenths)]
    histograms = {"coherence_of_parts": bars}
    return {**counts, "hubs": int((penalty > 0).sum()), "samples": samples, "histograms": histograms}


def write_partition_edges(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The graph of the parts: how strongly any two are joined, and by which edges of the entity graph, the bridges.

    Bridges and the edges within parts are all edges: none is added. Read by the aligner's convolutions, and where parts are
    put together again.
    """
    from crmrag_assets.graph_partitions.cut import edges_between

    net = net_of(context)
    found = edges_between(net, partitions_of(context).part)
    found.save(folder)
    bridges = len(found.bridge_low)
    return {
        "pairs": len(found.low),
        "bridges": bridges,
        "inner": len(net.low) - bridges,
        "edges": len(net.low),
    }


def questions_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    own = {
        "encoder": encoder_of(context).key,
        "prefix": context.config.embedding.query_prefix,
        "crm": str(context.config.crm),
    }
    return (
        contents(context, "graph", "documents", "entity_graph", "graph_partitions", "partition_edges") | own
    )


def write_training_questions(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Questions with the parts that each is about: half about one part, half about several that walks of 2 to 5 steps join.

    Of a museum they are worded as its relations are, of other graphs by names. What is tested names no entity that is trained
    with, but for the split `seen`. Same seed, same questions. A question that stays is not encoded again.
    """
    from crmrag_assets.graph_partitions.evaluate import Maker, Worded

    documents = documents_of(context)
    worded = (
        Worded.of(documents, EntityGraph.open(context.folder("entity_graph"))) if context.config.crm else None
    )
    count = context.method.alignment.questions
    table = Maker(documents, partitions_of(context), edges_of(context), count, worded).make()
    pq.write_table(table, folder / QUESTIONS, compression="zstd")
    texts = table.column("question").to_pylist()
    np.save(folder / VECTORS, encoded(context, texts))
    counts = table.group_by(["split", "kind"]).aggregate([("question", "count")]).to_pylist()
    first = {one["kind"]: one for one in reversed(table.select(["kind", "question", "parts"]).to_pylist())}
    return {
        "questions": len(texts), "different": len(set(texts)),
        "samples": {"splits": counts, "examples": [{**one, "parts": str(one["parts"])} for one in first.values()]},
    }  # fmt: skip


def encoded(context: BuildContext, questions: list[str]) -> Floats:
    """The vectors of questions, float32 [n, d], by the encoder artifact; BuildError where questions cannot be encoded."""
    encoder = QueryEncoder.open(context.folder("encoder"), Opener.here())
    if encoder.withheld:
        raise BuildError(
            f"Questions to train with cannot be encoded. {encoder.withheld}", "Or set `aligner: false`."
        )
    known = VectorCache.open(cache_of(context, "questions"), encoder.settings.dimension)
    prefix = encoder.settings.query_prefix
    return encode_whole(questions, encoder, known, context.progress, prefix=prefix)[0]


def prepared(context: BuildContext) -> tuple[list[dict[str, Any]], Floats]:
    """The questions and their vectors, row by row."""
    folder = context.folder("training_questions")
    return pq.read_table(folder / QUESTIONS).to_pylist(), np.load(folder / VECTORS, allow_pickle=False)


def write_alignment_model(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """The aligner: for each part a vector that is near to the questions about it, trained on centroids and the parts' graph.

    By one of four models and one of two losses (`alignment` in method.yaml), until questions that are held back gain nothing.
    One thread and one seed: the same bytes. What a release holds is one array. `aligner: true` in datasets.yaml has it made.
    """
    aligner, stats = trained(context)
    aligner.save(folder)
    return stats


def trained(context: BuildContext) -> tuple[Aligner, Stats]:
    """Train by the method's settings; what came of it, and how."""
    from crmrag_assets.graph_partitions.align import targets, train  # loads PyTorch
    from crmrag_assets.graph_partitions.evaluate import TRAIN, VALIDATION

    partitions = partitions_of(context)
    questions, vectors = prepared(context)
    wanted = targets([one["parts"] for one in questions], len(partitions))
    training, held = (
        np.array([one["split"] == split for one in questions], bool) for split in (TRAIN, VALIDATION)
    )
    found = train(
        np.array(partitions.centroid), edges_of(context), (vectors[training], wanted[training]),
        (vectors[held], wanted[held]), context.method.alignment, encoder_of(context).key, context.progress.advance,
    )  # fmt: skip
    looks = [
        {"step": one.step, "loss": round(one.trained, 4), "loss held back": round(one.held, 4)}
        for one in found.looks
    ]
    return found.aligner, {
        "parts": len(partitions),
        "steps": found.looks[-1].step,
        "training_seconds": round(found.seconds, 1),
        "loss_untrained": round(found.first_loss, 4),
        "loss_held_back": round(min(one.held for one in found.looks), 4),
        "samples": {"training": looks},
    }


def write_alignment_evaluation(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Whether the aligner finds the parts of questions, of entities that it was trained with and of others, beside simpler
    ways; and what a search within these parts finds for what it costs, beside one through all documents.

    Not part of a release. Times are told beside the results, which are the same whenever they are measured.
    """
    results, stats = evaluated(
        context, Aligner.open(context.folder("alignment_model"), len(partitions_of(context)))
    )
    (folder / RESULTS).write_text(canonical_json(results), encoding="utf-8")
    return stats


def evaluated(context: BuildContext, aligner: Aligner) -> tuple[dict[str, Any], Stats]:
    """What an aligner is worth: results without times, and counts and tables for people."""
    from crmrag_assets.graph_partitions.evaluate import end_to_end, measured, routers, verdict

    of = searched_of(context)
    ways = routers(of, aligner)
    asked, vectors = tested(context)
    found = list(measured(ways, asked, vectors))
    timed = _spread([number for number, one in enumerate(asked) if one["split"] == "unseen"], TIMED)
    searched = list(end_to_end(ways, of, [asked[number] for number in timed], vectors[timed]))
    shown = [one.row() for one in found if one.kind == "all"]
    timeless = [{name: value for name, value in one.items() if "ms" not in name} for one in searched]
    results = {
        "systems": [{**one.row(), "measures": one.measures} for one in found],
        "end_to_end": timeless,
    }
    own = next(one for one in found if (one.system, one.split, one.kind) == ("aligner", "unseen", "all"))
    figures = {f"unseen_{name}": round(values[0], 4) for name, values in own.measures.items()}
    samples = {"systems": shown, "end_to_end": searched}
    return results, {**figures, "verdict": verdict(found, searched), "samples": samples}


def searched_of(context: BuildContext) -> Searched:
    from crmrag_assets.graph_partitions.evaluate import Searched

    sparse = SparseIndex.open(context.folder("bm25_index"))
    return Searched(partitions_of(context), dense_of(context), sparse, documents_of(context).home)


def tested(context: BuildContext) -> tuple[list[dict[str, Any]], Floats]:
    """The questions by which aligners are measured, and their vectors: of those trained with as many as of the others."""
    from crmrag_assets.graph_partitions.evaluate import SEEN, TESTED, TRAIN, UNSEEN

    questions, vectors = prepared(context)
    splits = {
        split: [number for number, one in enumerate(questions) if one["split"] == split]
        for split in (TRAIN, SEEN, UNSEEN)
    }
    most = min(TESTED, max(len(splits[SEEN]), len(splits[UNSEEN])))
    chosen = [number for numbers in splits.values() for number in _spread(numbers, most)]
    return [questions[number] for number in chosen], vectors[chosen]


def experiments(context: BuildContext, only: Sequence[str] = ()) -> Iterator[dict[str, Any]]:
    """Every model by every loss, or ``only`` those, as in ``gcn-bce``: how training went and what it gives, a row each."""
    from crmrag_assets.graph_partitions.align import LOSSES, MODELS
    from crmrag_assets.graph_partitions.evaluate import measured, routers

    of, (asked, vectors) = searched_of(context), tested(context)
    for model in MODELS:
        for loss in LOSSES:
            if only and f"{model}-{loss}" not in only:
                continue
            settings = context.method.alignment.model_copy(update={"model": model, "loss": loss})
            method = context.method.model_copy(update={"alignment": settings})
            aligner, stats = trained(replace(context, method=method))
            row = {name: value for name, value in stats.items() if name not in ("samples", "parts")}
            for one in measured({"aligner": routers(of, aligner)["aligner"]}, asked, vectors):
                if one.kind == "all":
                    row |= {
                        f"{one.split} {name}": round(values[0], 4) for name, values in one.measures.items()
                    }
            yield {"model": model, "loss": loss, **row}


def _spread(numbers: list[int], count: int) -> list[int]:
    """At most ``count`` of the numbers, evenly from first to last."""
    count = min(count, len(numbers))
    return [numbers[len(numbers) * place // count] for place in range(count)]


GRAPH_PARTITIONS = Step(
    "graph_partitions", 1, write_graph_partitions, needs=("graph", "documents", "entity_graph", "faiss_index"),
    parts=("graph_partitions",), wanted=cut_wanted,
)  # fmt: skip
PARTITION_EDGES = Step(
    "partition_edges", 1, write_partition_edges, needs=("entity_graph", "graph_partitions"), wanted=cut_wanted
)
TRAINING_QUESTIONS = Step(
    "training_questions", 1, write_training_questions, inputs=questions_inputs,
    needs=("graph", "documents", "entity_graph", "graph_partitions", "partition_edges", "encoder"),
    parts=("alignment.questions",), wanted=aligner_wanted,
)  # fmt: skip
ALIGNMENT_MODEL = Step(
    "alignment_model", 1, write_alignment_model, needs=("graph_partitions", "partition_edges", "training_questions"),
    parts=("alignment",), wanted=aligner_wanted,
)  # fmt: skip
ALIGNMENT_EVALUATION = Step(
    "alignment_evaluation", 1, write_alignment_evaluation,
    needs=("documents", "graph_partitions", "training_questions", "alignment_model", "faiss_index", "bm25_index"),
    wanted=aligner_wanted,
)  # fmt: skip
STEPS = (GRAPH_PARTITIONS, PARTITION_EDGES, TRAINING_QUESTIONS, ALIGNMENT_MODEL, ALIGNMENT_EVALUATION)
