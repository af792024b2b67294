"""The indexes of words, vectors, names, dates and counts, and the profile: what they number is there, and what they count is
what the graph and the documents hold."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.manifest import BUCKETS, Digests, digests_of
from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import FOLDER as ENTITY_GRAPH
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import CrmRagError
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_LABELLED, Longs, ranges
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import KINDS, NameIndex
from crmrag_query.ontology.load import Category
from crmrag_query.plans.kinds import Kinds
from crmrag_query.plans.profile import Profile
from crmrag_query.retrieval.aggregation import Aggregation, DateIndex
from crmrag_query.retrieval.dense import INDEX, VECTORS, WINDOWS, DenseIndex, Floats, code, open_chunk
from crmrag_query.retrieval.encoder import EncoderSettings, QueryEncoder
from crmrag_query.retrieval.sparse import META, SparseIndex, Vocabulary
from crmrag_query.retrieval.token_vectors import FOLDER, HIGHEST, MOST, TokenVectors
from crmrag_query.verify.check import (
    Check,
    Faults,
    Mask,
    ascending,
    counted,
    equal,
    numbers,
    pointers,
    shaped,
    sorted_texts,
    within,
    wrong,
)

INDICES = "sparse/indices.csc.index.npy"
COUNTS = "aggregation/aggregation_index.json"
LOW = np.uint64(0xFFFFFFFF)
SUM = 1e-3  # by which all PageRank may differ from 1, rounded to float32 as it is


def terms_are_sorted(release: Release) -> Faults:
    """The vocabulary is in the order by which terms are looked up."""
    return (yield from vocabulary_is_sorted("sparse/vocabulary", release[SparseIndex].vocabulary))


def vocabulary_is_sorted(what: str, vocabulary: Vocabulary) -> Faults:
    """Terms out of order; returns how many there are."""
    text, ptr = np.asarray(vocabulary.text), np.asarray(vocabulary.ptr)
    terms = len(ptr) - 1
    if not (yield from pointers(f"{what}_ptr.npy", ptr, terms, len(text))):
        buffers = [None, pa.py_buffer(ptr), pa.py_buffer(text)]
        yield from sorted_texts(f"{what}_text.npy", pa.Array.from_buffers(pa.large_binary(), terms, buffers))
    return terms


def postings_resolve(release: Release) -> Faults:
    """Every posting is of a document or passage that there is, each once for a term, with a score; totals are right."""
    index, documents = release[SparseIndex], len(release[Documents].texts)
    terms = len(index.vocabulary.ptr) - 1
    meta = json.loads((release.folder / "sparse" / META).read_bytes())
    scores = index.retriever.scores if index.retriever else {"indices": ()}
    for name, count in {"documents": documents, "terms": terms, "postings": len(scores["indices"])}.items():
        yield from counted(f"sparse/{META}: {name}", meta.get(name), count)
    if index.retriever is None:
        return 0
    data, indices, ptr = (np.asarray(scores[part]) for part in ("data", "indices", "indptr"))
    yield from counted("sparse/params.index.json: num_docs", scores["num_docs"], documents)
    yield from shaped("sparse/data.csc.index.npy", data, "float64", len(indices))
    yield from shaped(INDICES, indices, "int32", len(indices))
    yield from within(f"{INDICES}: documents", indices, 0, documents)
    if not (yield from pointers("sparse/indptr.csc.index.npy", ptr, terms, len(indices))):
        yield from ascending(f"{INDICES}: documents of a term", indices, ptr)
    yield from wrong("sparse/data.csc.index.npy: no score", len(data), lambda b: ~np.isfinite(data[b]))
    return len(indices)


def names_are_sound(release: Release) -> Faults:
    """Every name is of a node that there is; words, bags and entries lead to each other, in the order of their search."""
    index, graph = release[NameIndex], release[Graph]
    arrays = index.arrays
    words, bags, entries = index.words, index.bags, len(arrays["entry_entity"])
    index.texts.validate(full=True)
    yield from vocabulary_is_sorted("names/word", Vocabulary(arrays["word_text"], arrays["word_ptr"]))
    yield from pointers("names/posting_ptr.npy", arrays["posting_ptr"], words, len(arrays["posting"]))
    yield from pointers("names/entry_ptr.npy", arrays["entry_ptr"], bags, entries)
    for name, count in (
        ("posting", bags),
        ("sound_word", words),
        ("bag_of_hash", bags),
        ("entry_entity", graph.nodes),
        ("entry_text", len(index.texts)),
        ("entry_kind", len(KINDS)),
    ):
        yield from within(f"names/{name}.npy", arrays[name], 0, count)
    near = arrays["near"]
    yield from wrong("names/near.npy: words", len(near), lambda block: (near[block] & LOW) >= words)
    for name in ("near", "sounds", "bag_hashes"):
        yield from ascending(f"names/{name}.npy", arrays[name], strict=name == "near")
    yield from ascending("names/posting.npy: bags of a word", arrays["posting"], arrays["posting_ptr"])
    degree = np.bincount(np.asarray(graph.adjacency.forward.val), minlength=graph.nodes)
    wanted = degree[arrays["entry_entity"]]
    yield from equal("names/entry_degree.npy: other than the graph's", arrays["entry_degree"], wanted)
    return entries


def dates_are_sound(release: Release) -> Faults:
    """Every date is of an entity that there is and begins before it ends, in the order of its search."""
    index, graph = release[DateIndex], release[Graph]
    rows = len(index.entity)
    bad = yield from pointers("dates/ptr.npy", index.ptr, len(index.relationships), rows)
    bad += yield from within("dates/entity.npy: nodes", index.entity, 0, graph.nodes)
    if not bad:
        yield from ascending("dates/begin.npy", index.begin, index.ptr, strict=False)
        yield from wrong(
            "dates/entity.npy: no entities",
            rows,
            lambda block: graph.flags[index.entity[block]] & FLAG_ENTITY == 0,
        )
    yield from wrong("dates/end.npy: before the begin", rows, lambda b: index.end[b] < index.begin[b])
    return rows


def _are_nodes(what: str, iris: list[str], graph: Graph) -> Faults:
    return wrong(
        f"{what} that are not in the graph",
        len(iris),
        lambda block: np.array([graph.node(iri) is None for iri in iris[block]], bool),
        lambda place: iris[place],
    )


def counts_are_the_graphs(release: Release) -> Faults:
    """The aggregation index counts the entities, classes and categories of the graph; each list names nodes of it."""
    index, graph = release[Aggregation], release[Graph]
    entity = graph.flags & FLAG_ENTITY != 0
    yield from counted(f"{COUNTS}: entities", index.entities, int(np.count_nonzero(entity)))
    ptr, val = graph.type_rows
    stated = np.bincount(val[np.repeat(entity, np.diff(ptr))], minlength=len(graph.class_codes))
    classes = {graph.class_iri(n): int(stated[n]) for n in np.flatnonzero(stated).tolist()}
    if classes != {one.iri: one.entities for one in index.classes}:
        yield f"{COUNTS}: entities by class are other than the graph's"
    own = graph.category_of_node[entity]
    primary = {category.name: int(np.count_nonzero(own == int(category))) for category in Category}
    if primary != {one.category: one.primary for one in index.categories}:
        yield f"{COUNTS}: entities by category are other than the graph's"
    lists = [*index.content["pagerank"].values(), index.content["actors"]["works"]]
    iris = [row[0] for rows in lists for row in rows]
    yield from _are_nodes(f"{COUNTS}: listed IRIs", iris, graph)
    return len(index.classes) + len(index.categories) + len(iris)


def ranks_are_sound(release: Release) -> Faults:
    """PageRank is of the graph's nodes: none below nothing, all together 1."""
    rank, nodes = np.asarray(release[Aggregation].pagerank), release[Graph].nodes
    if (yield from shaped("aggregation/pagerank.npy", rank, "float32", nodes)):
        return 0
    bad = yield from wrong("aggregation/pagerank.npy: no rank", nodes, lambda block: ~(rank[block] >= 0))
    total = float(rank.sum(dtype=np.float64))
    if not bad and total and abs(total - 1) > SUM:
        yield f"aggregation/pagerank.npy: all together {total:.4f} where 1 belongs"
    return nodes


def kinds_are_the_graphs(release: Release) -> Faults:
    """Every node is of a kind of its classes and category, and the steps between kinds count the graph's triples."""
    found, graph = release[Kinds], release[Graph]
    node = np.asarray(found.node)
    yield from equal(
        "lexicon/category.npy: other than the graph's", found.category[node], graph.category_of_node
    )
    ptr, classes = graph.type_rows
    held = np.diff(found.class_ptr)[node]
    if not (yield from equal("lexicon/class_ptr.npy: classes other than the graph's", held, np.diff(ptr))):
        wanted = found.class_number[ranges(found.class_ptr[node], held)]
        yield from equal("lexicon/class_number.npy: other than the graph's", wanted, classes)
    size = np.bincount(node, minlength=len(found))
    labelled = np.bincount(node[graph.flags & FLAG_LABELLED != 0], minlength=len(found))
    yield from equal("lexicon/size.npy: other than there are", found.size, size)
    yield from equal("lexicon/labelled.npy: other than there are", found.labelled, labelled)
    counted_by = np.zeros(len(graph.property_codes), np.int64)
    np.add.at(counted_by, found.step_property, found.step_triples)
    rows = graph.adjacency.forward
    triples = np.diff(rows.ptr[rows.prop])
    yield from equal("lexicon/step_triples.npy: triples of a property", counted_by, triples)
    return len(found) + len(found.step_property)


def edges_lead_both_ways(release: Release) -> Faults:
    """The entity graph joins documents that there are, each to others, as strongly from either end."""
    found, documents = release[EntityGraph], release[Documents].count
    what, ptr, neighbour = f"{ENTITY_GRAPH}/neighbour.npy", found.ptr, found.neighbour
    if (yield from pointers(f"{ENTITY_GRAPH}/ptr.npy", ptr, documents, len(neighbour))):
        return 0
    bad = yield from within(what, neighbour, 0, documents)
    bad += yield from ascending(what, neighbour, ptr)
    yield from wrong(
        f"{ENTITY_GRAPH}/weight.npy: no weight", len(neighbour), lambda b: ~(found.weight[b] > 0)
    )
    if not bad:
        source = np.repeat(np.arange(documents, dtype=np.int32), np.diff(ptr))
        # The edges by where they lead to: the same ones, read from the other end.
        back = np.lexsort((source, neighbour))
        there = (source[back] == neighbour) & (neighbour[back] == source)
        same = there & (found.weight[back] == found.weight)
        yield from wrong(f"{what}: edges that do not lead back", len(back), lambda b: ~same[b])
        yield from wrong(f"{what}: edges to themselves", len(back), lambda b: source[b] == neighbour[b])
    return len(neighbour) // 2


def profile_is_the_graphs(release: Release) -> Faults:
    """The profile's totals are those of the graph, and its examples are in it."""
    profile, graph = release[Profile], release[Graph]
    found = {
        "nodes": graph.nodes,
        "entities": int(np.count_nonzero(graph.flags & FLAG_ENTITY)),
        "triples": graph.triples,
        "literals": graph.literal_table.num_rows,
        "class_statements": len(graph.type_rows[1]),
    }
    for name, count in found.items():
        yield from counted(f"profile/profile.json: {name}", profile.totals.get(name), count)
    examples = [example.iri for one in profile.content.classes for example in one.examples]
    examples += [one.iri for one in profile.content.types]
    yield from _are_nodes("profile/profile.json: IRIs", examples, graph)
    return len(found) + len(examples)


CHECKS = (
    Check("terms", "terms", terms_are_sorted, reads=("sparse",)),
    Check("postings", "postings", postings_resolve, reads=("graph", "documents", "sparse")),
    Check("names", "names", names_are_sound, reads=("graph", "names")),
    Check("dates", "dates", dates_are_sound, reads=("graph", "dates")),
    Check("counts", "counts", counts_are_the_graphs, reads=("graph", "aggregation")),
    Check("PageRank", "nodes", ranks_are_sound, reads=("graph", "aggregation")),
    Check("lexicon", "kinds and steps", kinds_are_the_graphs, reads=("graph", "lexicon")),
    Check(
        "entity graph", "edges", edges_lead_both_ways, reads=("documents", ENTITY_GRAPH), where=ENTITY_GRAPH
    ),
    Check("profile", "counts", profile_is_the_graphs, reads=("graph", "profile")),
)


ROWS = 1 << 15  # vectors looked at together
UNIT = 1e-3  # by which the length of a vector may differ from 1
SIGN = 128  # that FAISS adds to a signed code


def lengths(vectors: Floats) -> Floats:
    """The length of each vector; infinite or no number where one of its numbers is."""
    found: Floats = np.sqrt(np.vecdot(vectors, vectors))
    return found


def documents_have_vectors(release: Release) -> Faults:
    """Every row is of a document or passage that there is; as many documents have one as the manifest says, and each with all
    the passages that lead to it."""
    if not release.manifest.has("faiss_index"):
        stated = release.manifest.counts.get("encoded", 0)
        yield from counted("manifest.json: documents with a vector", stated, 0)
        return 0
    index, documents = release[DenseIndex], release[Documents]
    encoded = index.encoded[: documents.count]
    yield from counted("manifest.json: documents with a vector", release.manifest.encoded, int(encoded.sum()))
    return (yield from covered(index, encoded[documents.home]))


def covered(index: DenseIndex, wanted: Mask) -> Faults:
    """Rows of no text, texts without a row of those that are ``wanted``, bool [texts], and others with one."""
    of, texts = index.window_document, len(wanted)
    if (yield from shaped(f"dense/{WINDOWS}", of, "int32", len(of))):
        return 0
    yield from counted("dense/dense.json: documents", index.documents, texts)
    if not (yield from within(f"dense/{WINDOWS}: documents", of, 0, texts)):
        yield from ascending(f"dense/{WINDOWS}", of, strict=False)
        rows = np.bincount(of, minlength=texts)
        yield from wrong(
            f"dense/{WINDOWS}: documents without a vector", texts, lambda b: (rows[b] == 0) & wanted[b]
        )
        yield from wrong(
            f"dense/{WINDOWS}: passages with a vector, of documents without one",
            texts,
            lambda b: (rows[b] > 0) & ~wanted[b],
        )
    return texts


def vectors_are_sound(release: Release) -> Faults:
    """Every vector has length 1; where the index holds codes, these are the vectors'."""
    index = release[DenseIndex]
    rows, codes = index.rows, index.codes
    yield from wrong(
        f"dense/{VECTORS}: not of length 1",
        len(rows),
        lambda block: ~(np.abs(lengths(rows[block]) - 1) <= UNIT),
        lambda row: f"row {row:,}",
        ROWS,
    )
    if codes is not None:
        stored, scale = _stored_codes(release.folder / "dense" / INDEX, rows.shape), codes.scale

        def other(block: slice) -> Mask:
            wanted = (code(rows[block], scale).astype(np.int16) + SIGN).astype(np.uint8)
            found: Mask = (stored[block] != wanted).any(axis=1)
            return found

        what = f"dense/{INDEX}: codes of other vectors"
        yield from wrong(what, len(rows), other, lambda row: f"row {row:,}", ROWS)
    return len(rows)


def _stored_codes(path: Path, shape: tuple[int, ...]) -> Digests:
    """The codes as FAISS holds them, uint8 [rows, dimension], mapped: they end its file."""
    if not shape[0]:
        return np.zeros(shape, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r", path.stat().st_size - shape[0] * shape[1], shape))


def embeddings_are_those_searched(release: Release) -> Faults:
    """Every document and passage that has vectors is in a chunk of embeddings, by its present text, and its vectors are those
    of the dense index."""
    documents, index = release[Documents], release[DenseIndex]
    paths = (entry.path.split("/") for entry in release.manifest.files)
    names = sorted({parts[1] for parts in paths if parts[0] == "embeddings" and len(parts) == 3})
    if not names or int(names[0], 16) != 0:
        yield "embeddings/: the chunk 00 is missing"
        return 0
    start = np.searchsorted(index.window_document, np.arange(len(documents.texts) + 1))
    digests, looked = digests_of(documents.texts), 0
    for name, texts in _in_chunks(names, documents):
        chosen = texts[index.encoded[texts]]
        vectors, windows = open_chunk(release.folder / "embeddings" / name)
        looked += len(vectors)
        what = f"embeddings/{name}"
        place, window = (numbers(windows.column(column)) for column in ("place", "window"))
        if not (yield from within(f"{what}/windows.arrow: places", place, 0, len(chosen))):
            hashes = _hashes(windows)
            yield from _are_searched(what, vectors, chosen, place, window, hashes, index, start, digests)
    if looked != len(index.window_document):
        yield f"embeddings/: {looked:,} windows where the dense index has {len(index.window_document):,}"
    return looked


def _in_chunks(names: list[str], documents: Documents) -> Iterator[tuple[str, Longs]]:
    """Each chunk, named by the first byte that its entities' hashes begin with, and its documents and passages, ascending."""
    bucket = digests_of(documents.graph.iris.take(pa.array(documents.entities)))[:, 0]
    ends = [*(int(name, 16) for name in names), BUCKETS]
    for name, (low, high) in zip(names, pairwise(ends), strict=True):
        yield name, np.flatnonzero(((bucket >= low) & (bucket < high))[documents.home])


def _are_searched(
    what: str,
    vectors: Floats,
    documents: Longs,
    place: Longs,
    window: Longs,
    hashes: Digests,
    index: DenseIndex,
    start: Longs,
    digests: Digests,
) -> Faults:
    """A chunk's ``vectors``, of ``documents`` at a ``place`` by their ``window``, against the index.

    ``start``: the first row of each document in the index, and the end; ``digests`` of the documents' texts.
    """
    windows = np.bincount(place, minlength=len(documents))
    yield from wrong(
        f"{what}: documents without a vector",
        len(documents),
        lambda block: windows[block] == 0,
        lambda at: int(documents[at]),
    )
    of = documents[place]
    row = start[of] + window
    off = (window < 0) | (row >= start[of + 1])
    if off.any() or vectors.shape[1] != index.dimension:
        yield f"{what}: {int(off.sum()):,} windows that the dense index does not have"
        return 1
    bad = yield from wrong(
        f"{what}: vectors other than those of the dense index",
        len(row),
        lambda block: (index.rows[row[block]] != vectors[block]).any(axis=1),
        lambda at: f"row {at:,}",
        ROWS,
    )
    alone = np.flatnonzero(windows[place] == 1)  # a document's only window is its whole text
    own, texts = hashes[alone], of[alone]
    return bad + (
        yield from wrong(
            f"{what}: vectors of another text than the document's",
            len(alone),
            lambda block: (own[block] != digests[texts[block]]).any(axis=1),
            lambda at: f"document {texts[at]:,}",
        )
    )


def _hashes(windows: pa.Table) -> Digests:
    """``text_hash`` of all windows, uint8 [w, 32]."""
    parts = [
        np.frombuffer(chunk.buffers()[1], np.uint8)[chunk.offset * 32 : (chunk.offset + len(chunk)) * 32]
        for chunk in windows.column("text_hash").chunks
        if len(chunk)
    ]
    return np.concatenate([np.empty(0, np.uint8), *parts]).reshape(-1, 32)


def encoder_fits(release: Release) -> Faults:
    """The encoder is that of the manifest, and its vectors are as long as those of the index."""
    settings, stated = EncoderSettings.read(release.folder / "encoder"), release.manifest.embedding
    if release.manifest.has("faiss_index"):
        dimension = release[DenseIndex].dimension
        yield from counted("encoder/encoder.json: dimension", settings.dimension, dimension)
    for name in ("model", "provider", "dimension", "window"):
        if stated.get(name) != getattr(settings, name):
            yield f"encoder/encoder.json: {name} is {getattr(settings, name)!r}, the manifest says {stated.get(name)!r}"
    return 1


def encoder_opens(release: Release) -> Faults:
    """The encoder opens and encodes; one that lives elsewhere (an API, PyTorch) is not asked."""
    if EncoderSettings.read(release.folder / "encoder").provider not in ("onnx", "hash"):
        return 0
    try:
        vectors = release[QueryEncoder].encode(["a question"])
    except CrmRagError as error:
        yield f"encoder/: it cannot be opened: {error.what}"
        return 1
    if not np.isfinite(vectors).all():
        yield "encoder/: what it encodes are no numbers"
    return 1


_READS = ("graph", "documents", "dense", "config.json")


def token_vectors_are_sound(release: Release) -> Faults:
    """Each document has some tokens, as many as are held at most, of length 1 but for rounding."""
    held, documents = release[TokenVectors], release[Documents].count
    if (yield from pointers(f"{FOLDER}/ptr.npy", held.ptr, documents, len(held.codes))):
        return 0
    counts = np.diff(held.ptr)
    yield from wrong(f"{FOLDER}/ptr.npy: more than {MOST} tokens", documents, lambda b: counts[b] > MOST)
    yield from wrong(f"{FOLDER}/weight.npy: no weight", len(held.weight), lambda b: ~(held.weight[b] > 0))
    rounding = np.sqrt(held.codes.shape[1]) / 2 + 1e-3
    yield from wrong(
        f"{FOLDER}/codes.npy: not of length 1",
        len(held.codes),
        lambda b: np.abs(lengths(held.codes[b].astype(np.float32)) - HIGHEST) > rounding,
        size=ROWS,
    )
    return len(held.codes)


VECTOR_CHECKS = (
    Check("documents in the dense index", "documents", documents_have_vectors, reads=_READS),
    Check("vectors", "vectors", vectors_are_sound, reads=("dense", "config.json"), where="faiss_index"),
    Check(
        "embeddings",
        "windows",
        embeddings_are_those_searched,
        reads=(*_READS, "embeddings"),
        where="faiss_index",
    ),
    Check(
        "token vectors", "tokens", token_vectors_are_sound, reads=("graph", "documents", FOLDER), where=FOLDER
    ),
    Check("encoder", "encoder", encoder_fits, reads=("dense", "encoder", "config.json")),
)
PROBES = (Check("encoding", "question", encoder_opens, reads=("encoder",)),)
"""What takes as long as a model takes to load."""
