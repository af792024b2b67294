"""Encoders of documents side by side: PyTorch in float32, and ONNX Runtime in float32 and in int8.

    python benchmarks/encoder.py SET=RELEASE … [--data data] [--texts 60] [--rounds 3] [--out RESULT.json]

Of each release so many documents are drawn and cut into windows as a build does. Each encoder takes them in turn, on one
thread, and in several rounds; `windows_a_second` is of its fastest round and counts the seconds of the processor, which
others on the machine disturb less. `ratio` is to PyTorch, and `cosine` to its vectors: mean, the lowest of a hundred, lowest.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scale import machine

from crmrag_assets.indexes.encoder import Encoder, OnnxDocuments, SentenceTransformerEncoder, cut
from crmrag_query.artifacts.release import open_release
from crmrag_query.config.datasets import EmbeddingConfig
from crmrag_query.documents.documents import Documents

SEED = 25
ENCODERS = ("PyTorch float32", "ONNX Runtime float32", "ONNX Runtime int8")


def encoders(root: Path) -> dict[str, Encoder]:
    """All on one thread."""
    torch = SentenceTransformerEncoder.of(EmbeddingConfig(), workers=1)
    others = [EmbeddingConfig(precision=one) for one in ("float32", "int8")]
    onnx = [replace(OnnxDocuments.of(one, workers=1), root=root) for one in others]
    return dict(zip(ENCODERS, [torch, *onnx], strict=True))


def windows(release: str, data: Path, texts: int, encoder: Encoder) -> list[str]:
    """Windows of documents that are drawn at random."""
    documents = open_release(release, data)[Documents]
    count = min(texts, len(documents.texts))
    drawn = np.random.default_rng(SEED).choice(len(documents.texts), count, replace=False)
    parts = cut([documents.searched(int(number)) for number in drawn], encoder.count, encoder.window)
    return [window for part in parts for window in part]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="SET=RELEASE")
    parser.add_argument("--data", type=Path, default=Path("data"))
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    result: dict[str, Any] = {"machine": machine(), "rounds": given.rounds, "sets": {}}
    seconds = dict.fromkeys(ENCODERS, 0.0)
    with tempfile.TemporaryDirectory() as root:
        found = encoders(Path(root))
        for one in found.values():
            one.encode(["made ready"])
        for name, _, release in (one.partition("=") for one in given.sets):
            texts = windows(release, given.data, given.texts, found[ENCODERS[0]])
            took: dict[str, list[float]] = {one: [] for one in found}
            vectors = {}
            for _ in range(given.rounds):
                for one, encoder in found.items():
                    begun = time.process_time()
                    vectors[one] = encoder.encode(texts)
                    took[one].append(time.process_time() - begun)
            told: dict[str, Any] = {"windows": len(texts), "tokens": sum(found[ENCODERS[0]].count(texts))}
            for one in found:
                seconds[one] += min(took[one])
                cosine = np.sum(vectors[one] * vectors[ENCODERS[0]], axis=1)
                told[one] = {
                    "windows_a_second": round(len(texts) / min(took[one]), 1),
                    "ratio": round(min(took[ENCODERS[0]]) / min(took[one]), 2),
                    "cosine": [round(float(v), 5) for v in (cosine.mean(), *np.percentile(cosine, (1, 0)))],
                }
            result["sets"][name] = told
            print(name, json.dumps(told, indent=1), flush=True)
    result["ratio"] = {one: round(seconds[ENCODERS[0]] / taken, 2) for one, taken in seconds.items()}
    text = json.dumps(result, indent=1)
    print(json.dumps(result["ratio"]))
    if given.out:
        given.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
