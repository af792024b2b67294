"""What a build will cost, from the counts of discovery and a small connected sample that is built and timed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.context import base_of
from crmrag_assets.build.step import ARTIFACTS, BuildContext, chunks_of, dataset_lock, run_step
from crmrag_assets.build.store import Record
from crmrag_assets.build.workers import side_by_side, workers_of
from crmrag_assets.documents.ways import gather_facts
from crmrag_assets.harvest.prefetch import TRIPLES_FILE, prefetch_chunk, write_prefetch
from crmrag_assets.harvest.report import Traffic
from crmrag_assets.harvest.source import (
    NONE,
    Changes,
    Connected,
    Discovery,
    Foreseen,
    changes_between,
    read_chunk,
)
from crmrag_assets.indexes.encoder import Encoder, windows
from crmrag_assets.opened import documents_of, encoder_of, graph_of
from crmrag_assets.steps.encoding import TIMED, seconds_to_encode
from crmrag_assets.steps.registry import STEPS
from crmrag_assets.steps.source import ENTITIES, SampleSource, by_hash, source_of
from crmrag_query.config.reading import default_folder
from crmrag_query.documents.documents import Documents, open_table
from crmrag_query.graph.arrays import FLAG_ENTITY

Bools = npt.NDArray[np.bool_]
OTHERS = ("entities", "prefetch", "embeddings")  # artifacts whose time is told apart
LOOKED_AT = 10_000  # entities of such documents whose neighbours are counted
CHANGED_SAMPLE = 100  # changed documents looked at to tell how long they are


def _again(context: BuildContext, window_seconds: float, price: float | None) -> Again | None:
    """Compare what discovery has found now with what the last build harvested; None where no build was finished, or
    where a server has to be asked for that. ``price``: US dollars a token."""
    wanted = ("graph", "documents", "release")
    if context.sample is not None or context.config.asks:
        return None
    if any(context.store.record(artifact) is None for artifact in wanted):
        return None
    changes = _changes(context)
    if not len(changes):
        return Again(0, 0, 0, 0, 0, 0, 0.0, None if price is None else 0.0)
    documents = documents_of(context)
    reached = _reached(documents, context.method.documents.targets, changes)
    whole = documents.count / max(len(documents.entity_document), 1)
    beside = _beside(documents, reached)
    count = len(reached) + round((len(changes.added) + beside) * whole)
    sampled = reached[:: max(1, len(reached) // CHANGED_SAMPLE)][:CHANGED_SAMPLE]
    encoder, each = encoder_of(context), count / max(len(sampled), 1)
    texts = map(documents.whole, sampled.tolist())
    shown = [window for text in texts for window in windows(text, encoder.count, encoder.window)]
    encoded, tokens = round(len(shown) * each), round(sum(encoder.count(shown)) * each)
    seconds = sum(_seconds(context, artifact) for artifact in ARTIFACTS if artifact not in OTHERS)
    return Again(
        changed=len(changes.changed),
        added=len(changes.added),
        removed=len(changes.removed),
        documents=count,
        windows=encoded,
        tokens=tokens,
        seconds=seconds + window_seconds * encoded,
        price=None if price is None else price * tokens,
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
        lines = pl.DataFrame(pl.from_arrow(batch.select(["document", "targets"])))
        named = lines.with_columns(pl.col("targets").list.head(shown)).explode("targets").drop_nulls()
        found.append(named["document"].to_numpy()[changed[named["targets"].to_numpy()]].astype(np.int64))
    gone = documents.entity_document[_mask(iris, changes.removed)]
    return np.setdiff1d(np.concatenate(found), gone)


def _beside(documents: Documents, reached: npt.NDArray[np.int64]) -> int:
    """How many entities stand beside those of documents that read otherwise: thin ones among them may join another document,
    since which do depends on how long the documents are."""
    within = np.isin(documents.entity_document, reached)
    some = np.flatnonzero(within).astype(np.int32)[:LOOKED_AT]
    near = np.unique(gather_facts(documents.graph.adjacency, some).target)
    return int((~within[near] & (documents.entity_document[near] >= 0)).sum())


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


SAMPLE = 2000  # entities whose documents are counted; a smaller data set is estimated whole
ASKED = 400  # where a server is asked for them
HOPS = 2  # around them, so that their documents are nearly whole, and join what they join in a build
FLOAT = 4  # bytes of a vector's component
VECTORS = 2  # copies of a vector in a release: embeddings and index; the cache is apart
# What of a release grows with its triples, with the texts of its documents, with its entities, and hardly at all.
GRAPH_LIKE = ("graph", "edges", "triples_index")
TEXT_LIKE = ("documents", "entity_documents", "bm25_index")
NAME_LIKE = ("name_index",)
STEADY = ("date_index", "profile", "aggregation_index", "lexicon")

Prices = Callable[[str], float | None]


@dataclass(frozen=True)
class Estimate:
    """A forecast: ``seconds`` on this machine, ``first_seconds`` of them until a release answers without vectors, ``bytes``
    of the whole release, ``price`` in US dollars for a paid encoder.

    ``price`` is None where the encoder is local or no price is known; ``paid`` tells which. Where a server is asked also how
    many ``requests`` its harvest takes and for how many seconds, which are part of ``seconds``; None for files.
    """

    dataset: str
    model: str
    entities: int
    triples: int
    documents: int
    windows: int
    tokens: int
    seconds: float
    bytes: int
    paid: bool
    price: float | None
    requests: int | None = None
    harvest_seconds: float | None = None
    again: Again | None = None
    first_seconds: float = 0.0


@dataclass(frozen=True)
class Again:
    """What of that the next build has to do, as there is a build already: entities that ``changed``, were ``added`` and
    ``removed`` since, about how many documents will read otherwise, and what encoding these takes. What did not change keeps
    its vectors; all else is made from the new triples in ``seconds``, those of encoding among them."""

    changed: int
    added: int
    removed: int
    documents: int
    windows: int
    tokens: int
    seconds: float
    price: float | None


@dataclass(frozen=True)
class _Measured:
    """Of ``entities`` sampled, with ``triples`` around them, ``near`` entities in all: what became of them, what that took.

    ``traffic`` is what asking for them took. ``documents``, ``windows`` and ``tokens`` are those of the sampled entities.
    Bytes of what grows with triples, with the texts of the sampled documents, with entities, and of what does not.
    """

    entities: int
    near: int
    triples: int
    documents: int
    windows: int
    tokens: int
    graph_bytes: int
    text_bytes: float
    name_bytes: int
    steady_bytes: int
    graph_seconds: float
    text_seconds: float
    window_seconds: float
    traffic: Traffic


def estimate(context: BuildContext, prices: Prices, size: int | None = None) -> Estimate:
    """Discover the source (which the build will not repeat), build a sample but for its vectors elsewhere, and scale.

    ``size``: entities of the sample, by default `SAMPLE`, where a server is asked `ASKED`.
    ``prices``: US dollars a token by model. Nothing is sent to a paid encoder. Raises what discovery raises.
    """
    with dataset_lock(context.store.root, context.name):
        start = time.monotonic()
        run_step(ENTITIES, context)
        discovery = time.monotonic() - start
    found = Discovery.load(context.folder("entities"))
    size = size or (ASKED if context.config.asks else SAMPLE)
    with tempfile.TemporaryDirectory(prefix="crmrag-estimate-") as folder:
        measured = _measure(replace(context, data=Path(folder)), context, min(size, found.entities))
    each, wide = found.entities / max(measured.entities, 1), found.triples / max(measured.triples, 1)
    embedding = context.config.embedding
    paid = embedding.provider == "litellm"
    price = prices(embedding.model) if paid else None
    requests = harvest = None
    source = source_of(base_of(context))
    if context.config.asks and isinstance(source, Foreseen):  # by what discovery and the sample took there
        requests, harvest = source.forecast(found, base_of(context).folder("entities"), measured.traffic)
    count, tokens = round(measured.windows * each), round(measured.tokens * each)
    dimension = embedding.dimension or (0 if paid else encoder_of(context).dimension)
    among = found.entities / max(measured.near, 1)
    first = (discovery if harvest is None else harvest) + measured.graph_seconds * wide
    first += measured.text_seconds * among
    return Estimate(
        dataset=context.name,
        model=embedding.model,
        entities=found.entities,
        triples=found.triples,
        documents=round(measured.documents * each),
        windows=count,
        tokens=tokens,
        seconds=first + measured.window_seconds * count,
        bytes=round(measured.graph_bytes * wide + measured.text_bytes * each + measured.name_bytes * among)
        + measured.steady_bytes
        + count * dimension * FLOAT * VECTORS,
        paid=paid,
        price=None if price is None else price * tokens,
        requests=requests,
        harvest_seconds=harvest,
        again=_again(context, measured.window_seconds, price),
        first_seconds=first,
    )


def _measure(inner: BuildContext, context: BuildContext, size: int) -> _Measured:
    """Build the graph around a sample in the folders of ``inner``, and the sample's documents."""
    base, entities = source_of(context), context.folder("entities")
    traffic = Traffic()
    if isinstance(base, Connected):  # it then holds the triples of the sampled entities
        iris = sorted(base.entity_iris(entities))
        traffic = base.triples_of(entities, [iris[n] for n in by_hash(iris)[:size]]).gathered.traffic
    source = SampleSource(base, entities, size, context.method, HOPS)
    with inner.store.writing("entities", "sample", {}) as out:
        discovery = source.discover(out, context.progress)
        discovery.save(out)
    start = time.monotonic()
    for chunk in chunks_of(inner):
        with inner.store.writing("prefetch", "sample", {}, chunk) as out:
            write_prefetch(
                *prefetch_chunk(source, inner.folder("entities"), chunk, discovery.bits, inner.method), out
            )
    graph_bytes = _made(inner, GRAPH_LIKE)
    built = time.monotonic()
    for chunk in chunks_of(inner):
        run_step(STEPS["fr_documents"], inner, chunk)
    text_bytes, name_bytes, steady_bytes = (_made(inner, group) for group in (TEXT_LIKE, NAME_LIKE, STEADY))
    written = time.monotonic()
    texts, share = _texts(inner, size)
    encoder = encoder_of(inner)
    shown = [window for text in texts for window in windows(text, encoder.count, encoder.window)]
    paid = context.config.embedding.provider == "litellm"
    return _Measured(
        entities=size,
        near=discovery.entities,
        triples=discovery.triples,
        documents=len(texts),
        windows=len(shown),
        tokens=sum(encoder.count(texts)),
        graph_bytes=graph_bytes,
        text_bytes=text_bytes * share,
        name_bytes=name_bytes,
        steady_bytes=steady_bytes + _configured(),
        graph_seconds=built - start,
        text_seconds=written - built,
        window_seconds=0.0 if paid else _time(encoder, shown),
        traffic=traffic,
    )


def _made(context: BuildContext, artifacts: Sequence[str]) -> int:
    """Make artifacts; their bytes."""
    records = [run_step(STEPS[artifact], context).record for artifact in artifacts]
    return sum(entry.bytes for record in records for entry in record.files)


def _configured() -> int:
    """Bytes of the configuration and the ontology's tables, which stand in every release."""
    files = (path for path in default_folder().rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files if path.parent.name in ("config", "ontology"))


def _texts(context: BuildContext, size: int) -> tuple[list[str], float]:
    """The documents of the sampled entities, thin ones joined to others as in a build, and the passages that lead to them;
    their share of all characters."""
    documents, graph = documents_of(context), graph_of(context)
    entities = np.flatnonzero(graph.flags & FLAG_ENTITY)
    sampled = {int(entities[n]) for n in by_hash([graph.iri(int(node)) for node in entities])[:size]}
    every: list[str] = documents.texts.to_pylist()
    homes = documents.entities[documents.home].tolist()
    texts = [text for text, home in zip(every, homes, strict=True) if home in sampled]
    return texts, sum(map(len, texts)) / max(sum(map(len, every)), 1)


def _time(encoder: Encoder, texts: Sequence[str]) -> float:
    """Seconds a window, of every n-th window."""
    chosen = texts[:: max(1, len(texts) // TIMED)][:TIMED]
    return seconds_to_encode(chosen, encoder) / max(len(chosen), 1)
