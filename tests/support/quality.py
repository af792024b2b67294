"""Artifacts that are changed as a fault of the build would leave them: with records that fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from crmrag_assets.build.step import LAYERS, BuildContext, chunks_to_make, run_step
from crmrag_assets.build.store import RECORD
from crmrag_assets.steps.registry import STEPS
from crmrag_query.artifacts.manifest import canonical_json, entries
from crmrag_query.graph.arrays import open_table, write_table


@contextmanager
def rewriting(context: BuildContext, artifact: str, chunk: str | None = None) -> Iterator[Path]:
    """Change an artifact's files in the block; its record then says that they were written so."""
    folder, before = context.folder(artifact, chunk), context.finished(artifact, chunk)
    yield folder
    (folder / RECORD).unlink()
    record: dict[str, Any] = {"artifact": artifact, "version": before.version, "stats": before.stats}
    files = [entry.as_dict() for entry in entries(folder)]
    (folder / RECORD).write_text(canonical_json(record | {"files": files}), encoding="utf-8")


def lose_a_literal(context: BuildContext) -> None:
    """Take the last literal out of the graph, as if its writer had dropped it."""
    import numpy as np

    with rewriting(context, "graph") as folder:
        literals = open_table(folder, "literals")
        kept = literals.slice(0, len(literals) - 1).to_pydict()
        import pyarrow as pa

        ends = np.minimum(np.load(folder / "literal_ptr.npy"), len(literals) - 1)
        (folder / "literals.arrow").unlink()
        write_table(folder, "literals", pa.table(kept))
        np.save(folder / "literal_ptr.npy", ends)


def with_checks(context: BuildContext, **limits: object) -> BuildContext:
    """The context with other limits in `checks`."""
    checks = context.method.checks.model_copy(update=limits)
    return replace(context, method=context.method.model_copy(update={"checks": checks}))


def build_up_to(context: BuildContext, last: str) -> BuildContext:
    """Every step of a build up to an artifact, without Dagster; returns the context."""
    for artifact in (artifact for layer in LAYERS for artifact in layer.assets):
        for chunk in chunks_to_make(STEPS[artifact], context):
            run_step(STEPS[artifact], context, chunk)
        if artifact == last:
            break
    return context
