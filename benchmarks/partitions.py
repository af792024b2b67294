"""Graph partitions and aligners: how the three methods cut, what the eight aligners are worth, how long METIS takes.

    python benchmarks/partitions.py prepare RAW OUT            # texts and names that the sources of two graphs are made of
    python benchmarks/partitions.py cuts DATASET[=FILE.npz] …  [--data data]
    python benchmarks/partitions.py aligners DATASET[=NAME] … [--data data] [--questions 100000] [--only …]
    python benchmarks/partitions.py metis [--documents 866000] [--edges 3800000]

RAW holds `wikispeedia/` (articles.jsonl.zst, links.tsv.zst) and `coauthor_cs.npz` with its lists of names. Of an article its
title and the first 1,500 characters count, without the line that names its categories; an author is called by the three
keywords of the highest tf-idf, as the names are opaque. A data set has to be built; its graph partitions, their edges and
training questions are made where they lack; results stand under NAME. With FILE.npz edges and features are those in it, for
a graph without texts. All results go to benchmarks/results/partitions.json, from which partitions.md is written anew.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from crmrag_assets.build.context import open_context
from crmrag_assets.build.step import BuildContext, run_step
from crmrag_assets.communities.detect import Net
from crmrag_assets.graph_partitions.align import LOSSES, MODELS
from crmrag_assets.graph_partitions.cut import cut
from crmrag_assets.graph_partitions.evaluate import Quality, controls
from crmrag_assets.metadata import markdown_table
from crmrag_assets.steps.graph_partitions import dense_of, evaluated, experiments, net_of, trained
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import evaluations_folder
from crmrag_query.config.loading import load_method
from crmrag_query.retrieval.encoder import unit

RESULTS = Path(__file__).parent / "results" / "partitions.json"
DIMENSIONS = 256  # of features, projected at random
TEXT = 1500  # characters of an article


def prepare(raw: Path, out: Path) -> None:
    import zstandard

    def lines(name: str) -> list[str]:
        packed = (raw / "wikispeedia" / name).read_bytes()
        return zstandard.ZstdDecompressor().decompressobj().decompress(packed).decode().splitlines()

    out.mkdir(parents=True, exist_ok=True)
    with (out / "articles.jsonl").open("w", encoding="utf-8") as file:
        for line in lines("articles.jsonl.zst"):
            article = json.loads(line)
            blocks = article["text"].split("\n\n")
            told = " ".join(
                " ".join(block for block in blocks if not block.startswith("2007 Schools Wikipedia")).split()
            )
            file.write(
                json.dumps({"title": article["title"], "text": told[:TEXT]}, ensure_ascii=False) + "\n"
            )
    (out / "links.tsv").write_text("\n".join(lines("links.tsv.zst")) + "\n", encoding="utf-8")
    found = features(raw / "coauthor_cs.npz")
    words, ids = (
        (raw / f"coauthor_cs.{what}_names.txt").read_text(encoding="utf-8").splitlines()
        for what in ("attr", "node")
    )
    rarity = np.log(found.shape[0] / np.maximum(np.bincount(found.indices, minlength=found.shape[1]), 1))
    names = []
    for row, author in enumerate(ids):
        own = slice(found.indptr[row], found.indptr[row + 1])
        first = np.argsort(-(found.data[own] * rarity[found.indices[own]]), kind="stable")[:3]
        names.append(f"{', '.join(words[found.indices[own][one]] for one in first)} (author {author})")
    (out / "coauthor_names.txt").write_text("\n".join(names) + "\n", encoding="utf-8")


def features(path: Path) -> sparse.csr_array:
    with np.load(path, allow_pickle=False) as held:
        parts = (held["feat_data"], held["feat_indices"], held["feat_indptr"])
        return sparse.csr_array(parts, shape=tuple(held["feat_shape"]))


def cuts(context: BuildContext, path: Path | None) -> Iterator[dict[str, Any]]:
    """How each method cuts the entity graph, or that in the file ``path``, and the controls of the default one."""
    if path is None:
        net = net_of(context)
        vectors = dense_of(context).vectors(np.arange(len(net.inside), dtype=np.int32))
    else:
        found = features(path)
        random = np.random.default_rng(0).standard_normal((found.shape[1], DIMENSIONS))
        vectors = unit(found @ random)
        with np.load(path, allow_pickle=False) as held:
            low, high = held["edges"].astype(np.int64).T
        net = Net(low, high, np.ones(len(low)), np.zeros(found.shape[0]), float(len(low)))
    default = load_method().graph_partitions
    for method in ("metis", "hybrid", "leiden"):
        settings = default.model_copy(update={"method": method})
        begun = time.perf_counter()
        part = cut(net, vectors, settings)
        took = round(time.perf_counter() - begun, 1)
        yield {**Quality.of(method, net, part, vectors, settings.limit).row(), "seconds": took}
        if method == default.method:
            for name, other in controls(net, part, vectors).items():
                yield {**Quality.of(name, net, other, vectors, settings.limit).row(), "seconds": None}


def aligners(context: BuildContext, questions: int, only: Sequence[str]) -> dict[str, Any]:
    """The matrix of models and losses, and the systems beside the one that is best on entities it was not trained with.

    Rows are kept below the data folder, so that several processes may make them, each ``only`` some; then there is no more.
    """
    settings = context.method.alignment.model_copy(update={"questions": questions})
    context = replace(
        context,
        method=context.method.model_copy(update={"alignment": settings}),
        config=context.config.model_copy(update={"graph_partitions": True, "aligner": True}),
    )
    for artifact in ("graph_partitions", "partition_edges", "training_questions"):
        run_step(STEPS[artifact], context)
    rows = evaluations_folder(context.data, context.name) / f"aligners-{questions}"
    rows.mkdir(parents=True, exist_ok=True)
    matrix = []
    for combination in only or [f"{model}-{loss}" for model in MODELS for loss in LOSSES]:
        file = rows / f"{combination}.json"
        if not file.exists():
            (row,) = experiments(context, [combination])
            file.write_text(json.dumps(row), encoding="utf-8")
        matrix.append(json.loads(file.read_text(encoding="utf-8")))
        print(matrix[-1], flush=True)
    if only:
        return {}
    best = max(matrix, key=lambda row: row["unseen R@10"] + row["unseen P@1"])
    chosen = settings.model_copy(update={"model": best["model"], "loss": best["loss"]})
    context = replace(context, method=context.method.model_copy(update={"alignment": chosen}))
    _, stats = evaluated(context, trained(context)[0])
    told = context.finished("training_questions").stats
    return {
        "encoder": context.config.embedding.model, "parts": context.finished("graph_partitions").stats["parts"],
        "questions": told["questions"], "different": told["different"], "matrix": matrix,
        "best": f"{best['model']}, {best['loss']}", "systems": stats["samples"]["systems"],
        "end_to_end": stats["samples"]["end_to_end"], "verdict": stats["verdict"],
    }  # fmt: skip


def metis(documents: int, edges: int) -> dict[str, Any]:
    """METIS on a graph of so many documents: most edges among near ones, and some from hubs; vectors are generated."""
    random = np.random.default_rng(0)
    low = random.integers(0, documents, edges)
    high = (low + np.rint(random.standard_normal(edges) * 300).astype(np.int64)) % documents
    hubs = random.random(edges) < 0.1
    high[hubs] = (random.pareto(1.0, int(hubs.sum())) * 50).astype(np.int64) % documents
    kept = low != high
    low, high = np.minimum(low, high)[kept], np.maximum(low, high)[kept]
    _, first = np.unique(low * documents + high, return_index=True)
    low, high = low[first], high[first]
    net = Net(low, high, np.ones(len(low)), np.zeros(documents), float(len(low)))
    vectors = unit(random.standard_normal((documents, 64), np.float32))
    settings = load_method().graph_partitions
    begun = time.perf_counter(), time.process_time()
    part = cut(net, vectors, settings)
    took = time.perf_counter() - begun[0], time.process_time() - begun[1]
    sizes = np.bincount(part)
    within = part[low] == part[high]
    return {
        "documents": documents, "edges": len(low), "parts": len(sizes), "smallest": int(sizes.min()),
        "largest": int(sizes.max()), "cut": round(1 - float(within.mean()), 3), "seconds": round(took[0], 1),
        "processor seconds": round(took[1], 1),
        "peak MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }  # fmt: skip


def keep(section: str, name: str, found: object) -> None:
    held = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.exists() else {}
    held.setdefault(section, {})[name] = found
    RESULTS.write_text(json.dumps(held, indent=1) + "\n", encoding="utf-8")
    RESULTS.with_suffix(".md").write_text("\n".join(page(held)) + "\n", encoding="utf-8")


def page(held: dict[str, Any]) -> Iterator[str]:
    yield "# Graph partitions and aligners\n\nWritten by `benchmarks/partitions.py`; docs/partitions.md says what it means."
    for name, rows in held.get("cuts", {}).items():
        yield f"\n## {name}: how it is cut\n\n{markdown_table(rows)}"
    for name, found in held.get("aligners", {}).items():
        yield (
            f"\n## {name}: aligners\n\n{found['parts']} parts; {found['questions']:,} questions, {found['different']:,} of "
            f"them different, by the encoder {found['encoder']}.\n\n{markdown_table(found['matrix'])}"
        )
        if "best" in found:
            yield (
                f"\n### {name}: {found['best']}, beside other ways\n\n{markdown_table(found['systems'])}\n\n"
                f"### {name}: end to end\n\n{markdown_table(found['end_to_end'])}\n\n{found['verdict']}"
            )
    if rows := held.get("metis"):
        yield f"\n## METIS\n\n{markdown_table([*rows.values()])}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("prepare", "cuts", "aligners", "metis"))
    parser.add_argument("of", nargs="*")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--config", type=Path)
    parser.add_argument("--questions", type=int, default=100_000)
    parser.add_argument("--only", nargs="*", default=[], metavar="MODEL-LOSS")
    parser.add_argument("--documents", type=int, default=866_000)
    parser.add_argument("--edges", type=int, default=3_800_000)
    given = parser.parse_args()
    if given.what == "prepare":
        prepare(*map(Path, given.of))
    elif given.what == "metis":
        keep("metis", f"{given.documents:,}", metis(given.documents, given.edges))
    for one in given.of if given.what in ("cuts", "aligners") else ():
        name, _, path = one.partition("=")
        context = open_context(name, given.data, given.config)
        if given.what == "cuts":
            keep("cuts", name, list(cuts(context, Path(path) if path else None)))
        else:
            if found := aligners(context, given.questions, given.only):
                keep("aligners", path or name, found)


if __name__ == "__main__":
    main()
