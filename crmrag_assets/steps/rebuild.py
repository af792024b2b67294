"""What the next build of a data set will write anew: which entities changed since the last one, and whom that reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.step import ARTIFACTS, BuildContext, chunks_of
from crmrag_assets.build.store import Record
from crmrag_assets.build.workers import side_by_side, workers_of
from crmrag_assets.harvest.entities import NONE, Changes, changes_between, read_chunk
from crmrag_assets.harvest.prefetch import TRIPLES_FILE, prefetch_chunk
from crmrag_assets.opened import documents_of
from crmrag_assets.steps.source import source_of
from crmrag_query.documents.documents import Documents, open_table

Bools = npt.NDArray[np.bool_]
OTHERS = ("entities", "prefetch", "embeddings")  # artifacts whose time is told apart
LOOKED_AT = 10_000  # entities of such documents whose neighbours are counted
SAMPLE = 100  # changed documents looked at to tell how long they are


@dataclass(frozen=True)
class Rebuild:
    """What the next build does anew: ``changed``, ``added`` and ``removed`` entities, exact; about how many
    ``documents`` will read otherwise, and the texts of some of these; ``seconds`` that the artifacts which are made
    again in any case took the last time, on this machine."""

    changed: int
    added: int
    removed: int
    documents: int
    texts: tuple[str, ...]
    seconds: float


def rebuild_of(context: BuildContext) -> Rebuild | None:
    """Compare what discovery has found now with what the last build harvested; None where no build was finished, or
    where a server has to be asked for that. BuildError before discovery."""
    wanted = ("graph", "documents", "release")
    if context.config.asks or any(context.store.record(artifact) is None for artifact in wanted):
        return None
    changes = _changes(context)
    if not len(changes):
        return Rebuild(0, 0, 0, 0, (), 0.0)
    documents = documents_of(context)
    reached = _reached(documents, context.method.documents.targets, changes)
    whole = documents.count / max(len(documents.entity_document), 1)
    beside = _beside(documents, reached)
    texts = tuple(documents.text(int(n)) for n in reached[:: max(1, len(reached) // SAMPLE)][:SAMPLE])
    return Rebuild(
        len(changes.changed),
        len(changes.added),
        len(changes.removed),
        len(reached) + round((len(changes.added) + beside) * whole),
        texts,
        sum(_seconds(context, artifact) for artifact in ARTIFACTS if artifact not in OTHERS),
    )


def _changes(context: BuildContext) -> Changes:
    chunks = chunks_of(context)
    held = {path.name for path in context.folder("prefetch").iterdir() if path.is_dir()}
    if held != set(chunks):  # the data set has outgrown its chunks, or shrunk: nothing stands where it stood
        before = pl.concat(
            [read_chunk(context.folder("prefetch", key) / TRIPLES_FILE) for key in sorted(held)]
        )
        return changes_between(before, pl.concat([_harvested(context, key) for key in chunks]))
    found = side_by_side(context, _of_chunk, chunks, workers_of(context, len(chunks)))
    return sum(found, start=NONE)


def _of_chunk(context: BuildContext, chunk: str) -> Changes:
    return changes_between(
        read_chunk(context.folder("prefetch", chunk) / TRIPLES_FILE), _harvested(context, chunk)
    )


def _harvested(context: BuildContext, chunk: str) -> pl.DataFrame:
    bits = len(chunks_of(context)).bit_length() - 1
    table, _ = prefetch_chunk(source_of(context), context.folder("entities"), chunk, bits, context.method)
    return pl.DataFrame(pl.from_arrow(table))


def _reached(documents: Documents, shown: int, changes: Changes) -> npt.NDArray[np.int64]:
    """Numbers of the documents about entities that changed or at the end of a triple that did, and of those that name a
    changed entity among the first targets of a line."""
    iris = documents.graph.iris
    changed = _mask(iris, pl.concat([changes.changed, changes.removed]))
    own = changed | _mask(iris, changes.touched)
    homes = documents.entity_document[own]
    found = [homes[homes >= 0].astype(np.int64)]
    for batch in open_table(documents.folder, "lines").to_batches():
        targets = batch.column("targets")
        first, end = targets.offsets.to_numpy()[:-1], targets.offsets.to_numpy()[1:]
        values = targets.values.to_numpy(zero_copy_only=False)
        names = np.zeros(len(first), bool)
        for place in range(shown):
            at = np.flatnonzero(first + place < end)
            names[at] |= changed[values[first[at] + place]]
        found.append(batch.column("document").to_numpy()[names].astype(np.int64))
    gone = documents.entity_document[_mask(iris, changes.removed)]
    return np.setdiff1d(np.concatenate(found), gone)


def _beside(documents: Documents, reached: npt.NDArray[np.int64]) -> int:
    """How many entities stand beside those of documents that read otherwise: thin ones among them may join another document,
    since which do depends on how long the documents are."""
    adjacency = documents.graph.adjacency
    homes = np.isin(documents.entity_document, reached)
    names = np.flatnonzero(homes).astype(np.int32)[:LOOKED_AT]
    near = set[int]()
    for rows in (adjacency.forward, adjacency.backward):
        for prop in range(len(rows.prop) - 1):
            near.update(rows.expand(prop, names)[1].tolist())
    found = np.fromiter((node for node in near if not homes[node]), np.int64)
    return int((documents.entity_document[found] >= 0).sum()) if len(found) else 0


def _mask(iris: pa.Array, wanted: pl.Series) -> Bools:
    found: Bools = pc.is_in(iris, value_set=wanted.to_arrow().cast(iris.type)).to_numpy(zero_copy_only=False)
    return found


def _seconds(context: BuildContext, artifact: str) -> float:
    """What an artifact took the last time; a chunked one by the processor, in as many processes as it gets."""
    folder = context.folder(artifact)
    chunks = [path.name for path in folder.iterdir() if path.is_dir()] if folder.is_dir() else []
    records: list[Record | None] = [context.store.record(artifact)]
    records += [context.store.record(artifact, chunk) for chunk in sorted(chunks)]
    total = sum(float(record.stats.get("seconds", 0.0)) for record in records if record)
    return total / workers_of(context, len(chunks)) if chunks else total
