"""Questions of two hops: whether the walker finds the second entity more often than a plain search that tells as much.

    python benchmarks/walker.py DATASET[=RELEASE] … --data data --out benchmarks/results/walker.md
    python benchmarks/walker.py --scale 600000 --out benchmarks/results/walker_scale.json

The questions (questions/twohop.json) describe a thing and ask for what is two steps away from it; they were written from
paths of the data. Each has its start, its way (a SPARQL path) and the gold entities, all of which the way must reach: that
is looked up in the release before anything is measured. A document counts that holds a gold entity.

By system: how often one is among the first 10 and 20 and the reciprocal rank within 10; how often one is among all documents
that fusion compares with the question, and among as many of the other's; milliseconds, the searches that tell where it
lands included, and the question encoded before. Differences to dense search with 95 % intervals by paired bootstrap. The
walker is that of the mode, the published walk; fusion is its other variant, also with some of its rankings alone. Both are
measured without graph partitions and, where a release has some, with them.

``--tokens`` measures what token vectors lose: how often the thing that a question describes is among the first 10 by late
interaction alone, over all documents, for vectors as they come, in 64 dimensions, in bytes, and by the number of tokens.

``--scale N``: a made graph of N documents with random vectors and texts, parts of 180; milliseconds of whole walks by the
clock and of the processor, and how many processes would have run at once, these included (the load of the last minute).
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from crmrag_assets.indexes.dense import Coded, scale_of, write_rows
from crmrag_assets.indexes.sparse import count_terms, postings_of, write_sparse
from crmrag_assets.indexes.token_vectors import BEGINNING, telling
from crmrag_query.answers.understand import understand
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.config.loading import Walk
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import Busy
from crmrag_query.evaluation.report import table
from crmrag_query.evaluation.scores import interval
from crmrag_query.graph_partitions import PARTITIONS, GraphPartitions
from crmrag_query.retrieval.channels import find_mode
from crmrag_query.retrieval.dense import CODED, INDEX, META, SCALE, VECTORS, WINDOWS, DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder, unit
from crmrag_query.retrieval.pipeline import retrieve
from crmrag_query.retrieval.release_channels import Query, ReleaseChannels
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.retrieval.token_vectors import TokenVectors, code
from crmrag_query.retrieval.walker import Walker
from crmrag_query.sparql.desk import SparqlDesk
from crmrag_query.sparql.evaluate import SparqlResult

QUESTIONS = Path(__file__).parent / "questions" / "twohop.json"
FUSED = Walk(by="fusion", landings=10)
FIRST = 20  # documents that are told at most
ASKED = 60  # questions of a made graph


@dataclass(frozen=True)
class Question:
    id: str
    dataset: str
    question: str
    start: str
    way: str
    gold: list[str]


def questions(release: Release, dataset: str, desk: SparqlDesk) -> Iterator[tuple[Question, int, set[int]]]:
    """The questions of a data set with the documents of their start and of their gold entities. AssertionError for one whose
    way does not lead there in the release."""
    asked = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    prefixes = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in asked["prefixes"].items())
    documents = release[Documents]
    for one in (Question(**row) for row in asked["questions"] if row["dataset"] == dataset):
        found = run(desk, release, f"{prefixes}SELECT DISTINCT ?x WHERE {{ <{one.start}> {one.way} ?x }}")
        reached = {cell.iri for (cell,) in found.rows if cell is not None}
        assert set(one.gold) <= reached, f"{one.id}: its way leads to {sorted(reached)[:5]}"
        nodes = [documents.graph.node(iri) for iri in (one.start, *one.gold)]
        start, *gold = (-1 if node is None else int(documents.entity_document[node]) for node in nodes)
        assert min(start, *gold) >= 0 and start not in gold, one.id
        yield one, start, set(gold)


def run(desk: SparqlDesk, release: Release, query: str) -> SparqlResult:
    """The result, waited for while the release is made ready for SPARQL."""
    while True:
        try:
            return desk.run(release, query)
        except Busy:
            time.sleep(1)


@dataclass(frozen=True)
class Line:
    """What a system made of a question: the rank of the first gold document (from 0, None for none that was ranked), how many
    documents it compared or was given, milliseconds."""

    dataset: str
    id: str
    system: str
    rank: int | None
    compared: int
    milliseconds: float


def walks(release: Release, how: Walk) -> Callable[[Query], tuple[list[int], int]]:
    walker = Walker(release)

    def walk(query: Query) -> tuple[list[int], int]:
        found = walker.walk(replace(query, walk=how))
        return found.found.ranking, found.scored

    return walk


def systems(release: Release) -> Iterator[tuple[str, Callable[[Query], tuple[list[int], int]]]]:
    channels, count = release[ReleaseChannels], release[Documents].count

    def searched(of: Callable[[Query], list[int]]) -> Callable[[Query], tuple[list[int], int]]:
        return lambda query: (of(query), count)

    yield "dense", searched(lambda query: channels.dense(query.vector, count).ranking)
    yield "words", searched(lambda query: channels.sparse(query.text, count).ranking)
    yield (
        "dense and words, fused",
        searched(
            lambda query: [
                document
                for document, _ in channels.fused(
                    [channels.sparse(query.text, count).ranking],
                    channels.dense(query.vector, count).ranking,
                    count,
                )
            ]
        ),
    )
    bare = without_parts(release)
    yield "walker", walks(bare, Walk())
    yield "fusion", walks(bare, FUSED)
    for rankings in (("pagerank",), ("cosine", "pagerank"), ("pagerank", "interaction")):
        how = FUSED.model_copy(update={"rankings": rankings})
        yield f"fusion of {' and '.join(rankings)}", walks(bare, how)
    if release.manifest.has(PARTITIONS):
        yield "walker, graph partitions", walks(release, Walk())
        yield "fusion, graph partitions", walks(release, FUSED)
    for name in ("graph_vector", "crm"):
        mode, config = find_mode(release, name), release.method.retrieval
        yield (
            f"mode {name}",
            lambda query, mode=mode, config=config: (
                retrieve(channels, query, config, mode, FIRST).ranking,
                FIRST,
            ),
        )


def without_parts(release: Release) -> Release:
    """The release as if it had no graph partitions, its other parts shared."""
    versions = {name: one for name, one in release.manifest.versions.items() if name != PARTITIONS}
    bare = replace(release, manifest=replace(release.manifest, versions=versions))
    bare._parts.update(release._parts)
    return bare


def lines(dataset: str, release: Release, desk: SparqlDesk) -> Iterator[Line]:
    asked = list(questions(release, dataset, desk))
    ready = [(one, gold, understand(release, one.question).queries[0]) for one, _, gold in asked]
    for system, find in systems(release):
        find(ready[0][2])  # what is opened at the first question is not its cost
        for one, gold, query in ready:
            text = replace(query, text=query.text + " ")  # another key for what is kept of walks and scans
            start = time.perf_counter()
            ranking, compared = find(text)
            took = 1000 * (time.perf_counter() - start)
            rank = next((at for at, document in enumerate(ranking) if document in gold), None)
            yield Line(dataset, one.id, system, rank, compared, took)


def row(
    system: str, found: Sequence[Line], dense: dict[str, Line], walked: dict[str, Line]
) -> tuple[object, ...]:
    def share(most: Callable[[Line], int], of: Sequence[Line] = found) -> float:
        return float(np.mean([one.rank is not None and one.rank < most(one) for one in of]))

    mrr = np.mean([1 / (one.rank + 1) if one.rank is not None and one.rank < 10 else 0.0 for one in found])
    hit = {one.id: one.rank is not None and one.rank < 10 for one in found}
    apart = interval(
        [
            float(hit[id]) - float(other.rank is not None and other.rank < 10)
            for id, other in dense.items()
            if id in hit
        ]
    )
    among = share(lambda one: min(one.compared, walked[one.id].compared))
    took = np.array([one.milliseconds for one in found])
    return (
        system, len(found), f"{share(lambda one: 10):.2f}", f"{share(lambda one: 20):.2f}", f"{mrr:.2f}",
        "" if system == "dense" else f"{apart.mean:+.2f} ({apart.low:+.2f} … {apart.high:+.2f})",
        "" if system.startswith("mode") else f"{among:.2f}",
        f"{np.median([one.compared for one in found]):,.0f}",
        f"{np.median(took):.0f}", f"{np.percentile(took, 95):.0f}",
    )  # fmt: skip


HEAD = (
    "system", "questions", "first 10", "first 20", "MRR@10", "first 10, less dense", "among as many as fusion compares",
    "compared", "p50 ms", "p95 ms",
)  # fmt: skip


def tables(found: Sequence[Line]) -> Iterator[str]:
    names = list(dict.fromkeys(one.dataset for one in found))
    for title, of in (("All questions", names), *((name, [name]) for name in names)):
        chosen = [one for one in found if one.dataset in of]
        by = {
            system: [one for one in chosen if one.system == system]
            for system in dict.fromkeys(one.system for one in chosen)
        }
        dense = {one.id: one for one in by["dense"]}
        walked = {one.id: one for one in by["fusion"]}
        yield f"## {title}\n\n" + table(
            HEAD, [row(system, some, dense, walked) for system, some in by.items()]
        )


def tokens_lost(dataset: str, release: Release, desk: SparqlDesk) -> Iterator[dict[str, object]]:
    """Bytes of a document, and how often the described thing is among the first 10 by late interaction alone."""
    encoder, held = release[QueryEncoder], release[TokenVectors]
    texts = [release[Documents].text(number)[:BEGINNING] for number in range(release[Documents].count)]
    whole = [encoder.of_tokens.tokens(text, encoder.settings.document_prefix) for text in texts]
    asked = [
        (start, encoder.of_tokens.tokens(one.question)) for one, start, _ in questions(release, dataset, desk)
    ]
    width = whole[0].vectors.shape[1]
    for most in (10_000, 32, 16, 8):
        kept = [telling(one.ids, held.weight, most) for one in whole]
        ptr = np.append(0, np.cumsum([len(one) for one in kept]))
        rows = np.concatenate([one.vectors[places] for one, places in zip(whole, kept, strict=True)])
        for name, projection, coded in (
            (f"{width} dimensions, float32", np.eye(width, dtype=np.float32), False),
            ("64 dimensions, float32", held.projection, False),
            ("64 dimensions, bytes", held.projection, True),
        ):
            vectors = unit(rows @ projection)
            vectors = (code(vectors) if coded else (vectors * 127)).astype(np.float32)
            index = TokenVectors(ptr, vectors, projection, held.weight)  # type: ignore[arg-type]
            every = np.arange(len(texts), dtype=np.int32)
            ranks = []
            for start, tokens in asked:
                scores = index.scores(index.asked(tokens), every)
                ranks.append(int((scores > scores[start]).sum()))
            size = projection.shape[1] * (1 if coded else 4) * len(rows) / len(texts)
            yield {
                "data": dataset, "tokens": "all" if most > 1000 else most, "vectors": name, "bytes a document": round(size),
                "first 10": f"{np.mean([rank < 10 for rank in ranks]):.2f}", "questions": len(ranks),
            }  # fmt: skip


def made(count: int, folder: Path, release: Release) -> Release:
    """A release of ``count`` made documents in parts of 180: a ring in each and random edges, half of them to other parts."""
    random, dimension, part = np.random.default_rng(0), 384, 180
    parts = np.arange(count, dtype=np.int32) // part
    own = np.minimum(parts * part + random.integers(0, part, count), count - 1)
    edges = [(np.arange(count), ends) for ends in (np.roll(np.arange(count), 1), own, own[::-1])]
    edges += [(np.arange(count), random.integers(0, count, count)) for _ in range(3)]
    source, target = (np.concatenate(side) for side in zip(*edges, strict=True))
    both = np.unique(np.concatenate([source * count + target, target * count + source]))
    source, target = both // count, both % count
    apart = source != target
    source, target = source[apart], target[apart]
    ptr = np.append(0, np.cumsum(np.bincount(source, minlength=count))).astype(np.int64)
    weight = np.ones(len(target), np.float32)
    graph = EntityGraph(ptr, target.astype(np.int32), weight)
    vectors = np.lib.format.open_memmap(folder / VECTORS, "w+", np.float32, (count, dimension))
    # As a build does, codes reach to the largest value: what is cut off would widen the bound of all, and every scan.
    coded = Coded(scale_of(np.full(dimension, 7 / np.sqrt(dimension), np.float32)))

    def blocks() -> Iterator[Any]:
        for start in range(0, count, 65_536):
            yield unit(random.standard_normal((min(65_536, count - start), dimension), np.float32))

    import faiss

    library: Any = faiss
    empty = library.IndexScalarQuantizer(
        dimension, library.ScalarQuantizer.QT_8bit_direct_signed, library.METRIC_INNER_PRODUCT
    )
    write_rows(folder / INDEX, empty, coded.blocks(blocks(), vectors), count)
    np.save(folder / f"{SCALE}.npy", coded.scale)
    np.save(folder / WINDOWS, np.arange(count, dtype=np.int32))
    meta = {"schema": CODED, "codes": {"error": coded.error, "length": coded.length}, "documents": count}
    (folder / META).write_text(canonical_json(meta), encoding="utf-8")
    tokens = random.integers(-40, 40, (count * 16, 64), np.int8)
    held = TokenVectors(
        np.arange(0, 16 * count + 1, 16, dtype=np.int64), tokens,
        unit(random.standard_normal((dimension, 64), np.float32)), np.ones(release[TokenVectors].weight.shape, np.float32),
    )  # fmt: skip
    words = np.array([f"w{number}" for number in range(50_000)])
    drawn = np.minimum(random.zipf(1.2, (count, 20)) - 1, len(words) - 1)
    texts = pa.chunked_array([pa.array([" ".join(one) for one in words[drawn]], pa.large_utf8())])
    write_sparse(postings_of(count_terms(texts)), folder, release.method.sparse)
    counts = {"documents": count, "encoded": count}
    versions = release.manifest.versions | {PARTITIONS: 1}
    manifest = replace(release.manifest, counts=counts, versions=versions)
    found = replace(release, manifest=manifest)

    class Many:
        home = np.arange(count)

    Many.count = count  # type: ignore[attr-defined]
    found._parts.update(
        {
            Documents: Many(),
            EntityGraph: graph,
            DenseIndex: DenseIndex.open(folder, release.method.dense),
            SparseIndex: SparseIndex.open(folder),
            TokenVectors: held,
            GraphPartitions: GraphPartitions.of(parts),
            QueryEncoder: release[QueryEncoder],
        }
    )
    return found


def at_scale(count: int, release: Release) -> dict[str, object]:
    """Milliseconds of walks, and of their parts, over made documents."""
    with tempfile.TemporaryDirectory() as folder:
        large = made(count, Path(folder), release)
        random = np.random.default_rng(1)
        spent, worked = dict[str, list[float]](), dict[str, list[float]]()
        text = "In which town was the sculptor of the fountain in the park born? w{a} w{b} w{c}"

        def timed(name: str, work: Callable[[], Any]) -> Any:
            start, begun = time.perf_counter(), time.process_time()
            gave = work()
            spent.setdefault(name, []).append(1000 * (time.perf_counter() - start))
            worked.setdefault(name, []).append(1000 * (time.process_time() - begun))
            return gave

        for name, parts, how in (
            ("walker", large, Walk()),
            ("fusion", large, FUSED),
            ("walker without graph partitions", without_parts(large), Walk()),
        ):
            walker, channels = Walker(parts), parts[ReleaseChannels]
            for at in range(ASKED + 2):
                a, b, c = random.integers(10, 20_000, 3)
                query = Query(
                    text.format(a=a, b=b, c=c), unit(random.standard_normal((1, 384), np.float32))[0]
                )
                if at < 2:  # opens and maps what is read
                    walker.walk(replace(query, walk=how))
                    continue
                timed("dense search alone", lambda: channels.dense(query.vector, 50))  # noqa: B023
                timed("search by words alone", lambda: channels.sparse(query.text, 50))  # noqa: B023
                other = replace(query, vector=-query.vector, walk=how)  # whose scan is not kept
                timed(name, lambda: walker.walk(other))  # noqa: B023

        def shares(of: dict[str, list[float]]) -> dict[str, dict[str, float]]:
            return {
                name: {f"p{share}": round(float(np.percentile(some, share)), 1) for share in (50, 95, 100)}
                for name, some in of.items()
            }

        return {
            "documents": count,
            "encoder": str(release.manifest.embedding.get("model", "")),
            "token_vectors_bytes": large[TokenVectors].codes.nbytes,
            "running_beside": os.getloadavg()[0],
            "milliseconds": shares(spent),
            "processor_milliseconds": shares(worked),
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", nargs="+", metavar="DATASET[=RELEASE]")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--tokens", action="store_true")
    parser.add_argument(
        "--scale", type=int, help="over made documents; the encoder is that of the first data set"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    opened = {
        name: open_release(place or name, given.data)
        for name, _, place in (one.partition("=") for one in given.datasets)
    }
    if given.scale:
        found = at_scale(given.scale, next(iter(opened.values())))
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        print(json.dumps(found))
        return
    with SparqlDesk() as desk:
        if given.tokens:
            lost = [one for name, release in opened.items() for one in tokens_lost(name, release, desk)]
            text = table([*lost[0]], [[*one.values()] for one in lost])
            given.out.write_text(f"# What token vectors lose\n\n{text}\n", encoding="utf-8")
            print(text)
            return
        measured = [line for name, release in opened.items() for line in lines(name, release, desk)]
    about = [
        (name, str(one.manifest.embedding.get("model", "")), one[Documents].count, one[EntityGraph].edges)
        for name, one in opened.items()
    ]
    head = ("data set", "encoder", "documents", "edges")
    text = "\n\n".join(
        (
            "# The walker on questions of two hops",
            f"`python benchmarks/walker.py {' '.join(opened)}`; what the columns are: the head of that file.",
            table(head, about),
            *tables(measured),
        )
    )
    given.out.write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
