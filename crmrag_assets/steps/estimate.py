"""What a build will cost, from the counts of discovery and a small connected sample that is built and timed."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from crmrag_assets.build.locks import dataset_lock
from crmrag_assets.build.step import BuildContext, chunks_of, run_step
from crmrag_assets.documents.chain import EXEMPT
from crmrag_assets.documents.chunk import build_chunk
from crmrag_assets.documents.passages import passages
from crmrag_assets.harvest.prefetch import prefetch_chunk, write_prefetch
from crmrag_assets.harvest.report import Traffic
from crmrag_assets.harvest.source import Connected, Discovery
from crmrag_assets.indexes.embed import windows
from crmrag_assets.indexes.encoder import Encoder
from crmrag_assets.opened import encoder_of
from crmrag_assets.sources.endpoint.look import forecast, seconds_of_batch
from crmrag_assets.steps.documents import setting_of
from crmrag_assets.steps.graph import GRAPH
from crmrag_assets.steps.rebuild import Rebuild, rebuild_of
from crmrag_assets.steps.source import ENTITIES, SampleSource, by_hash, source_of
from crmrag_query.graph.arrays import FLAG_ENTITY

SAMPLE = 400  # entities whose documents are written to measure
HOPS = 2  # around them, so that their documents are nearly whole
TIMED = 24  # windows encoded to measure
FLOAT = 4  # bytes of a vector's component
VECTORS = 2  # copies of a vector in a release: embeddings and index; the cache is apart
TEXTS = 4  # a text's bytes in a release: documents with lines, Markdown, sparse index (measured: 3.5 to 4.5)

Prices = Callable[[str], float | None]


@dataclass(frozen=True)
class Estimate:
    """A forecast: ``seconds`` on this machine, ``bytes`` of the release, ``price`` in US dollars for a paid encoder.

    ``price`` is None where the encoder is local or no price is known; ``paid`` tells which. Of an endpoint also how many
    ``requests`` its harvest takes and for how many seconds, which are part of ``seconds``; None for files.
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
    """Of ``entities`` sampled, with ``triples`` around them: what became of them, and what that took.

    ``traffic`` is what asking for them took. ``documents`` are those that no other document takes in; ``graph_*`` is
    what a triple costs, ``text_*`` an entity.
    """

    entities: int
    triples: int
    documents: int
    windows: float
    tokens: int
    text_bytes: int
    text_seconds: float
    graph_bytes: int
    graph_seconds: float
    window_seconds: float
    traffic: Traffic


def estimate(context: BuildContext, prices: Prices, size: int = SAMPLE) -> Estimate:
    """Discover the source (which the build will not repeat), write the documents of a sample elsewhere, and scale.

    ``prices``: US dollars a token by model. Nothing is sent to a paid encoder. Raises what discovery raises.
    """
    with dataset_lock(context.store.root, context.name):
        start = time.monotonic()
        run_step(ENTITIES, context)
        discovery = time.monotonic() - start
    found = Discovery.load(context.folder("entities"))
    with tempfile.TemporaryDirectory(prefix="crmrag-estimate-") as folder:
        measured = _measure(replace(context, data=Path(folder)), context, min(size, found.entities))
    anew = rebuild_of(context) if context.sample is None else None
    each, wide = found.entities / max(measured.entities, 1), found.triples / max(measured.triples, 1)
    embedding = context.config.embedding
    paid = embedding.provider == "litellm"
    price = prices(embedding.model) if paid else None
    requests = harvest = None
    if context.config.endpoint is not None:  # by what discovery and the sample took there
        asked = context.config.endpoint.resolved(context.method.requests)
        requests, harvest = forecast(found, asked, seconds_of_batch(measured.traffic, found, asked))
    count, tokens = round(measured.windows * each), round(measured.tokens * each)
    dimension = embedding.dimension or (0 if paid else encoder_of(context).dimension)
    texts = measured.text_seconds * each + measured.window_seconds * count
    return Estimate(
        dataset=context.name,
        model=embedding.model,
        entities=found.entities,
        triples=found.triples,
        documents=round(measured.documents * each),
        windows=count,
        tokens=tokens,
        seconds=(discovery if harvest is None else harvest) + measured.graph_seconds * wide + texts,
        bytes=round(measured.graph_bytes * wide + measured.text_bytes * each * TEXTS)
        + count * dimension * FLOAT * VECTORS,
        paid=paid,
        price=None if price is None else price * tokens,
        requests=requests,
        harvest_seconds=harvest,
        again=None if anew is None else _again(context, anew, measured.window_seconds, price),
    )


def _again(context: BuildContext, anew: Rebuild, window_seconds: float, price: float | None) -> Again:
    encoder = encoder_of(context)
    shown = [window for text in anew.texts for window in windows(text, encoder.count, encoder.window)]
    each = anew.documents / max(len(anew.texts), 1)
    count, tokens = round(len(shown) * each), round(sum(encoder.count(shown)) * each)
    return Again(
        anew.changed,
        anew.added,
        anew.removed,
        anew.documents,
        count,
        tokens,
        anew.seconds + window_seconds * count,
        None if price is None else price * tokens,
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
    record = run_step(GRAPH, inner).record
    built = time.monotonic()
    texts, stays, parts, written = _texts(inner, size)
    encoder = encoder_of(inner)
    counted = encoder.count(texts)
    kept = [text for text, stay in zip(texts, stays, strict=True) if stay]
    joined = sum(tokens for tokens, stay in zip(counted, stays, strict=True) if not stay)
    whole = [window for text in (*kept, *parts) for window in windows(text, encoder.count, encoder.window)]
    paid = context.config.embedding.provider == "litellm"
    return _Measured(
        entities=size,
        triples=discovery.triples,
        documents=len(kept),
        windows=len(whole) + joined / encoder.window,
        tokens=sum(counted) + (sum(encoder.count(parts)) if parts else 0),
        text_bytes=sum(len(text.encode()) for text in (*texts, *parts)),
        text_seconds=written,
        graph_bytes=sum(entry.bytes for entry in record.files),
        graph_seconds=built - start,
        window_seconds=0.0 if paid else _time(encoder, whole),
        traffic=traffic,
    )


def _texts(context: BuildContext, size: int) -> tuple[list[str], list[bool], list[str], float]:
    """Documents of the sampled entities before chaining, whether each stays one, their passages, and the seconds for it all.

    A thin document of a category that is not exempt is taken for one that joins another.
    """
    setting, rules = setting_of(context), context.method.chaining
    graph = setting.graph
    entities = np.flatnonzero(graph.flags & FLAG_ENTITY)
    sampled = [entities[n] for n in by_hash([graph.iri(int(node)) for node in entities])[:size]]
    start = time.monotonic()
    built = build_chunk(setting, np.array(sampled, np.int32)).documents
    home = np.full(graph.nodes, -1, np.int32)
    home[built.column("entity").to_numpy()] = 0
    parts = [text for page in passages(setting, home) for text in page.column("text").to_pylist()]
    seconds = time.monotonic() - start
    own = graph.category_of_node[built.column("entity").to_numpy()]
    texts = built.column("text").to_pylist()
    stays = [
        len(text) >= rules.thin_characters or bool(c & EXEMPT) for text, c in zip(texts, own, strict=True)
    ]
    return texts, stays, parts, seconds


def _time(encoder: Encoder, texts: Sequence[str]) -> float:
    """Seconds a window, of every n-th window, after one to load the model."""
    chosen = texts[:: max(1, len(texts) // TIMED)][:TIMED]
    if not chosen:
        return 0.0
    encoder.encode(chosen[:1])
    start = time.monotonic()
    encoder.encode(chosen)
    return (time.monotonic() - start) / len(chosen)
