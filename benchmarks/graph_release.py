"""A release that holds no more than plans need: graph, method and ontology, for data too large to build whole.

    python benchmarks/graph_release.py DATASET --config CONFIG --data DATA --out FOLDER [--also name_index,profile]

Runs the steps of `crmrag build` up to the graph, so a whole build goes on from there, and links what they made into FOLDER:
`open_release(FOLDER)` opens it. There are no documents, indexes or embeddings; ``--also`` adds artifacts that are made of the
graph alone. Prints the seconds of each step and the peak resident memory.
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path

from crmrag_assets.build.context import open_context
from crmrag_assets.build.step import PLACES, BuildContext, Step, chunks_to_make, dataset_lock, run_step
from crmrag_assets.opened import graph_of
from crmrag_assets.release.publish import link_file
from crmrag_assets.steps.registry import METHOD, STEPS
from crmrag_query.artifacts.manifest import MANIFEST, FileEntry, Manifest

FIRST = ("entities", "prefetch", "graph")


def run(step: Step, context: BuildContext) -> None:
    started = time.perf_counter()
    for chunk in chunks_to_make(step, context):
        run_step(step, context, chunk)
    print(f"{step.artifact}: {time.perf_counter() - started:.1f} s", flush=True)


def link(context: BuildContext, artifacts: tuple[str, ...], out: Path) -> Manifest:
    """Links the artifacts' files into ``out`` and writes a manifest of them there."""
    entries = []
    for artifact in artifacts:
        place = f"{PLACES[artifact]}/" if PLACES[artifact] else ""
        for entry in context.finished(artifact).files:
            (out / place / entry.path).unlink(missing_ok=True)
            link_file(context.folder(artifact) / entry.path, out / place / entry.path)
            entries.append(FileEntry(place + entry.path, entry.bytes, entry.sha256))
    manifest = Manifest(
        dataset=context.name,
        files=tuple(sorted(entries, key=lambda entry: entry.path)),
        title=context.config.title,
        languages=context.config.languages,
        relationships=context.method.relationships,
        counts={"nodes": graph_of(context).nodes, "triples": graph_of(context).triples},
    )
    (out / MANIFEST).write_text(manifest.text(), encoding="utf-8")
    return manifest


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--also", default="")
    given = parser.parse_args()
    also = tuple(part for part in given.also.split(",") if part)
    context = open_context(given.dataset, given.data, given.config)
    with dataset_lock(context.store.root, context.name):
        for artifact in (*FIRST, *also):
            run(STEPS[artifact], context)
        run(METHOD, context)
        manifest = link(context, ("graph", METHOD.artifact, *also), given.out)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{given.out}: {dict(manifest.counts)}; peak {peak} MiB")


if __name__ == "__main__":
    main()
