"""The indexes of words, names, dates and counts, and the profile: what they number is there, and what they count is what the
graph and the documents hold."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import FOLDER, EntityGraph
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_LABELLED, ranges
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import KINDS, NameIndex
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.kinds import Kinds, has_lexicon
from crmrag_query.plans.profile import Profile
from crmrag_query.retrieval.aggregation import Aggregation, DateIndex
from crmrag_query.retrieval.sparse import META, SparseIndex, Vocabulary
from crmrag_query.verify.check import (
    Check,
    Faults,
    ascending,
    counted,
    equal,
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
    """Every node is of a kind of its classes and category, and the steps between kinds count the graph's triples.

    Older releases have no such table.
    """
    if not has_lexicon(release):
        return 0
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
    """The entity graph joins documents that there are, each to others, as strongly from either end.

    Older releases have none.
    """
    if not release.manifest.has(FOLDER):
        return 0
    found, documents = release[EntityGraph], release[Documents].count
    what, ptr, neighbour = f"{FOLDER}/neighbour.npy", found.ptr, found.neighbour
    if (yield from pointers(f"{FOLDER}/ptr.npy", ptr, documents, len(neighbour))):
        return 0
    bad = yield from within(what, neighbour, 0, documents)
    bad += yield from ascending(what, neighbour, ptr)
    yield from wrong(f"{FOLDER}/weight.npy: no weight", len(neighbour), lambda b: ~(found.weight[b] > 0))
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
    Check("entity graph", "edges", edges_lead_both_ways, reads=("documents", "entity_graph")),
    Check("profile", "counts", profile_is_the_graphs, reads=("graph", "profile")),
)
