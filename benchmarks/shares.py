"""What vectors of some documents are worth: nDCG@20 of the pipeline by the share of the documents that have vectors.

    python benchmarks/shares.py SET=DATASET:QUESTIONS.json … --config CONFIG --data DATA --out benchmarks/results/NAME.md

DATASET is built in DATA already, with all its vectors; its release of each share is made there and asked in the default mode,
so that the last one is the current one again. Share 0 is the pipeline without any vectors. Writes NAME.md, a table, and
NAME.json, with the value of each question. The same data, configuration and questions give the same files.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from statistics import fmean

from crmrag_assets.build.context import choose_share, open_context
from crmrag_assets.build.step import chunks_to_make, run_step
from crmrag_assets.indexes.encoder import SHARES
from crmrag_assets.launch import WITH_VECTORS
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.evaluation.evaluate import PIPELINE, Plan, evaluate_file
from crmrag_query.evaluation.report import table

MEASURE = "nDCG@20"
BEHIND = 0.01  # that no share may be behind the pipeline without vectors


def release_of_share(dataset: str, data: Path, config: Path, share: int) -> Release:
    context = choose_share(open_context(dataset, data, config), share)
    for step in (STEPS[artifact] for layer in WITH_VECTORS for artifact in layer.assets):
        for chunk in chunks_to_make(step, context):
            run_step(step, context, chunk)
    return open_release(dataset, data)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", metavar="SET=DATASET:QUESTIONS.json")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    found = []
    for one in given.sets:
        name, _, rest = one.partition("=")
        dataset, _, questions = rest.partition(":")
        for share in (0, *SHARES):
            release = release_of_share(dataset, given.data, given.config, share)
            evaluation = evaluate_file(release, Path(questions), Plan(())).evaluation
            values = {
                id: round(value, 4)
                for id, value in evaluation.retrieval[PIPELINE][MEASURE].items()
                if value is not None
            }
            found.append({
                "set": name, "release": release.id, "encoder": evaluation.encoder, "share": share,
                "documents": release.manifest.counts["documents"], "encoded": release.manifest.encoded,
                "mean": round(fmean(values.values()), 4), "questions": values,
            })  # fmt: skip
            print(name, share, found[-1]["mean"], flush=True)
    bare = {one["set"]: one["mean"] for one in found if one["share"] == 0}
    rows = [
        (
            one["set"], one["encoder"], f"{one['share']} %", f"{one['encoded']:,} of {one['documents']:,}",
            f"{one['mean']:.3f}", f"{one['mean'] - bare[one['set']]:+.3f}", one["release"],
        )
        for one in found
    ]  # fmt: skip
    lowest = min(one["mean"] - bare[one["set"]] for one in found)
    heads = ("set", "encoder", "share", "documents with vectors", MEASURE, "to none", "release")
    parts = (part.rpartition(":") for part in sys.argv[1:])
    asked = " ".join(shlex.quote(f"{first}{colon}{Path(path).name}") for first, colon, path in parts)
    verdict = f"No share may be more than {BEHIND} behind the pipeline without vectors: the lowest is {lowest:+.3f}."
    made = f"Made by `python benchmarks/shares.py {asked}`. Share 0 is the pipeline without any vectors."
    text = f"# {MEASURE} by the share of documents that have vectors\n\n{made} {verdict}\n\n{table(heads, rows)}\n"
    given.out.write_text(text, encoding="utf-8")
    lines = ",\n".join(json.dumps(one) for one in found)
    given.out.with_suffix(".json").write_text(
        f'{{"command": {json.dumps(asked)}, "shares": [\n{lines}\n]}}\n'
    )
    print(verdict)


if __name__ == "__main__":
    main()
