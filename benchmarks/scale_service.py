"""What answering costs on one machine: opening a release, memory, waiting, and what the dense index finds.

    python benchmarks/scale_service.py DATA --dataset NAME [--questions 150] [--seed 7] [--out RESULT.json]

Four processes, one after another, on one thread each:

- `opening`: seconds from opening the release to ready, those that Python's imports take told apart.
- `asking`: questions made from the data by the seed (`asked.py`), no one asked twice: some as far as their ranked documents
  (`retrieval`), some for documents, lines and context (`/retrieve`), some for a whole answer without a language model
  (`/ask`); then the private memory after them. Anonymous memory is the process's own; `mapped` is the part of index files in
  the page cache that only this process looks at.
- `finding`: recall of the 60 nearest documents against float32 products with every vector of the release, in all and among
  the documents of each category. A document as near as the 60th counts as found, whichever of equals it is.
- `floors`: FAISS's flat search in float32, bm25s with each back end that is installed (beside them our own search of its
  postings, over all documents too), one question's encoding.

Times are wall and processor milliseconds (the latter do not depend on who else uses the machine), after each part of the
service has been used once; `ratios` set them against the floors.
"""

from __future__ import annotations

import argparse
import builtins
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_query.documents.documents import Documents
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import ReleaseChannels
from crmrag_query.retrieval.sparse import SparseIndex

K = 60
FIRST = "Which were made in 1900?"
WARMING = 10  # questions that are asked before any is measured
FOUND = 100  # questions whose neighbours are compared
EQUAL = 1e-6  # of a product of unit vectors in float32
BLOCK = 65_536

Floats = npt.NDArray[np.float32]


class Imports:
    """Seconds that import statements take, however deep."""

    def __init__(self) -> None:
        self.seconds, self._depth, self._real = 0.0, 0, builtins.__import__
        builtins.__import__ = self

    def __call__(self, *given: Any, **named: Any) -> Any:
        self._depth += 1
        start = time.perf_counter()
        try:
            return self._real(*given, **named)
        finally:
            self._depth -= 1
            if not self._depth:
                self.seconds += time.perf_counter() - start


class Times:
    """Wall and processor milliseconds of what is called."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.processor: list[float] = []

    def __call__(self, work: Callable[[], Any]) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        result = work()
        self.wall.append(1000 * (time.perf_counter() - wall))
        self.processor.append(1000 * (time.process_time() - processor))
        return result

    def told(self) -> dict[str, Any]:
        return {"count": len(self.wall), "wall_ms": spread(self.wall), "processor_ms": spread(self.processor)}


def spread(values: Sequence[float]) -> dict[str, float]:
    found = np.percentile(values, [50, 95, 100]) if values else [0, 0, 0]
    return {name: round(float(one), 2) for name, one in zip(("p50", "p95", "longest"), found, strict=True)}


def memory() -> dict[str, float]:
    """MiB of this process: ``anonymous`` its own, ``mapped`` of files that no other process maps, ``private`` both."""
    sizes: dict[str, int] = defaultdict(int)
    for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:]:
        name, value, *_ = line.split()
        sizes[name.rstrip(":")] = int(value)
    private = sizes["Private_Clean"] + sizes["Private_Dirty"]
    kept = {"private": private, "anonymous": sizes["Anonymous"], "mapped": private - sizes["Anonymous"]}
    return {name: round(value / 1024, 1) for name, value in kept.items()}


def opening(data: Path, dataset: str, count: int, seed: int) -> dict[str, Any]:
    imports, start = Imports(), time.perf_counter()
    from crmrag_query.client.library import Library
    from crmrag_query.service import app as _  # noqa: F401

    begun, before = time.perf_counter(), imports.seconds
    processor = time.process_time()
    Library(data, dataset).release(dataset)
    ready, during = time.perf_counter() - begun, imports.seconds - before
    return {
        "imports_before": begun - start,
        "imports_during": during,
        "ready": ready - during,
        "ready_with_imports": ready,
        "processor_with_imports": time.process_time() - processor,
        "memory_mib": memory(),
    }


def asking(data: Path, dataset: str, count: int, seed: int) -> dict[str, Any]:
    from asked import questions

    from crmrag_query.answers.ask import search
    from crmrag_query.answers.understand import understand
    from crmrag_query.client import wire
    from crmrag_query.client.local import open_engine
    from crmrag_query.errors import QuestionError

    engine = open_engine(str(data), dataset)
    release = engine.releases.release(dataset)[1]
    made = questions(release, 3 * count + WARMING, seed)
    searched, asked, answered = (made[WARMING + at :: 3] for at in range(3))
    refused = 0
    retrieval, whole, answers, stages = Times(), Times(), Times(), defaultdict[str, list[float]](list)

    def ask(text: str, times: Times, work: Callable[[str], Any]) -> Any:
        nonlocal refused
        try:
            return times(lambda: work(text))
        except QuestionError:
            refused += 1
            return None

    for text in (FIRST, *made[:WARMING]):
        engine.ask(wire.Ask(text, dataset))
    held = memory()
    for text in searched:
        ask(text, retrieval, lambda text: search(release, understand(release, text)))
    for text in asked:
        found = ask(text, whole, lambda text: engine.retrieve(wire.Retrieve(text, dataset)))
        for stage, spent in ({} if found is None else found.timings).items():
            stages[stage].append(spent)
    for text in answered:
        ask(text, answers, lambda text: engine.ask(wire.Ask(text, dataset)))
    return {
        "questions": {"seed": seed, "refused": refused, "first": made[WARMING : WARMING + 10]},
        "retrieval": retrieval.told(),
        "retrieve": whole.told(),
        "ask": answers.told(),
        "stages_wall_ms": {stage: spread(spent) for stage, spent in sorted(stages.items())},
        "memory_mib": {"before": held, "after": memory()},
    }


def finding(data: Path, dataset: str, count: int, seed: int) -> dict[str, Any]:
    from asked import questions

    from crmrag_query.client.library import Library
    from crmrag_query.ontology.load import Category

    release = Library(data, dataset).release(dataset)[1]
    asked = release[QueryEncoder].encode(questions(release, FOUND, seed))
    products = exact(release, asked)
    masks = {"all": np.ones(release[Documents].count, bool)}
    masks |= {str(c.name): release[ReleaseChannels].of_categories(int(c)) for c in Category}
    found: dict[str, Any] = {}
    for name, mask in masks.items():
        if not mask.any():
            continue
        times, shares = Times(), []
        for row, vector in enumerate(asked):
            near = times(lambda: release[ReleaseChannels].dense(vector, K, None if name == "all" else mask))  # noqa: B023
            shares.append(recall(near, np.where(mask, products[row], -2), min(K, int(mask.sum()))))
        found[name] = {
            "documents": int(mask.sum()),
            "recall": round(float(np.mean(shares)), 5),
            "worst": round(float(np.min(shares)), 5),
            **times.told(),
        }
    settings = release[QueryEncoder].settings
    return {"encoder": settings.model, "dimension": settings.dimension, f"recall_at_{K}": found}


def exact(release: Any, asked: Floats) -> Floats:
    """The product of each question with the nearest window of each document, float32 [questions, documents]."""
    products = np.full((len(asked), release[Documents].count), -2, np.float32)
    for document, vectors in embedded(release):
        found = asked @ vectors.T
        for row in range(len(asked)):
            np.maximum.at(products[row], document, found[row])
    return products


def embedded(release: Any) -> Iterable[tuple[npt.NDArray[np.int32], Floats]]:
    """Documents and float32 vectors of the windows, block by block."""
    dense = release[DenseIndex]
    for start in range(0, len(dense.rows), BLOCK):
        here = slice(start, start + BLOCK)
        yield dense.window_document[here], dense.rows[here]


def recall(found: Sequence[int], products: Floats, k: int) -> float:
    least = np.partition(products, len(products) - k)[len(products) - k]
    return sum(products[document] >= least - EQUAL for document in found[:k]) / k


def floors(data: Path, dataset: str, count: int, seed: int) -> dict[str, Any]:
    import faiss
    from asked import questions

    from crmrag_query.client.library import Library

    release = Library(data, dataset).release(dataset)[1]
    made = questions(release, count, seed)
    flat: Any = faiss.IndexFlatIP(release[QueryEncoder].settings.dimension)
    for _, vectors in embedded(release):
        flat.add(np.ascontiguousarray(vectors))
    told: dict[str, Any] = {"windows": flat.ntotal}
    encoding, plain, own = Times(), Times(), Times()
    release[QueryEncoder].encode(made[:1])
    for text in made:
        vector = encoding(lambda: release[QueryEncoder].encode([text]))  # noqa: B023
        plain(lambda: flat.search(vector, K))  # noqa: B023
        own(lambda: release[SparseIndex].search(text, K))  # noqa: B023
    told |= {"encoding": encoding.told(), "faiss_flat": plain.told(), "own_sparse": own.told()}
    for backend in ("numpy", *(["numba"] if importlib.util.find_spec("numba") else [])):
        told[f"bm25s_{backend}"] = words_alone(release, made, backend)
    return told


def words_alone(release: Any, made: Sequence[str], backend: str) -> dict[str, Any]:
    """bm25s by itself: the best of all documents, term numbers given."""
    import bm25s

    plain: Any = bm25s.BM25.load(release.folder / "sparse", mmap=True, load_vocab=False)
    plain.backend, plain.nonoccurrence_array = backend, None
    plain.unique_token_ids_set = set(range(len(plain.scores["indptr"]) - 1))
    plain.vocab_dict = {str(number): number for number in plain.unique_token_ids_set}
    times, first = Times(), Times()
    terms = [found for text in made if (found := release[SparseIndex].terms(text))]
    first(lambda: plain.retrieve([terms[0]], k=K, show_progress=False))
    for found in terms:
        times(lambda: plain.retrieve([found], k=K, show_progress=False))  # noqa: B023
    return {"first_ms": round(first.wall[0]), **times.told()}


PARTS = {"opening": opening, "asking": asking, "finding": finding, "floors": floors}


def part(name: str, given: argparse.Namespace) -> dict[str, Any]:
    """The result of one part in a process of its own."""
    one = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, __file__, str(given.data), "--dataset", given.dataset, "--part", name]
    command += ["--questions", str(given.questions), "--seed", str(given.seed)]
    done = subprocess.run(command, env=one, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"The part {name} failed.")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def ratios(result: dict[str, Any]) -> dict[str, float]:
    """Processor milliseconds of half the questions against those of the floors."""
    asking, floor = result["asking"], result["floors"]
    alone = min(told["processor_ms"]["p50"] for name, told in floor.items() if name.startswith("bm25s_"))
    dense = floor["faiss_flat"]["processor_ms"]["p50"]
    total = dense + alone + floor["encoding"]["processor_ms"]["p50"]
    near = result["finding"][f"recall_at_{K}"]["all"]["processor_ms"]["p50"]
    against = {"dense": near / dense, "sparse": floor["own_sparse"]["processor_ms"]["p50"] / alone}
    against |= {
        name: asking[name]["processor_ms"]["p50"] / total for name in ("retrieval", "retrieve", "ask")
    }
    return {name: round(value, 2) for name, value in against.items()}


def rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    return round(value, 3) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--questions", type=int, default=150, help="of each of three kinds")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--part", choices=PARTS, help="only this part, in this process")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.part:
        print(json.dumps(rounded(PARTS[given.part](given.data, given.dataset, given.questions, given.seed))))
        return
    machine = {"cores": os.cpu_count(), "machine": platform.machine(), "python": platform.python_version()}
    result: dict[str, Any] = {"dataset": given.dataset, "machine": machine}
    result |= {name: part(name, given) for name in PARTS}
    result["ratios"] = ratios(result)
    text = json.dumps(result, indent=1, ensure_ascii=False)
    print(text)
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
