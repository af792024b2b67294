"""Names, dates, counts and profile: what they number is there, and what they count is what the graph holds."""

from __future__ import annotations

from typing import cast

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import FLAG_ENTITY, Longs
from crmrag_query.graph.graph import Graph
from crmrag_query.linking.index import KINDS
from crmrag_query.ontology.categories import Category
from crmrag_query.retrieval.sparse import Vocabulary
from crmrag_query.verify.arrays import Array, ascending, counted, equal, pointers, shaped, told, within, wrong
from crmrag_query.verify.check import Check, Faults
from crmrag_query.verify.sparse import vocabulary_is_sorted

LOW = np.uint64(0xFFFFFFFF)
SUM = 1e-3  # by which all PageRank may differ from 1, rounded to float32 as it is


def names_are_sound(release: Release) -> Faults:
    """Every name is of a node that there is; words, bags and entries lead to each other, in the order of their search."""
    index, graph = release.names, release.graph
    arrays = cast(dict[str, Array], index.arrays)
    words, bags, entries = index.words, index.bags, len(arrays["entry_entity"])
    index.texts.validate(full=True)
    yield from vocabulary_is_sorted("names/word", Vocabulary(arrays["word_text"], arrays["word_ptr"]))
    for name, count, total in (
        ("posting_ptr", words, len(arrays["posting"])),
        ("entry_ptr", bags, entries),
    ):
        yield from pointers(f"names/{name}.npy", arrays[name], count, total)
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
    degree = _degrees(graph)[arrays["entry_entity"]]
    yield from equal("names/entry_degree.npy: other than the graph's", arrays["entry_degree"], degree)
    return entries


def _degrees(graph: Graph) -> Longs:
    return np.bincount(np.asarray(graph.adjacency.forward.val), minlength=graph.nodes)


def dates_are_sound(release: Release) -> Faults:
    """Every date is of an entity that there is and begins before it ends, in the order of its search."""
    index, graph = release.dates, release.graph
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


def counts_are_the_graphs(release: Release) -> Faults:
    """The aggregation index counts the entities, classes and categories of the graph; each list names nodes of it."""
    index, graph = release.aggregation, release.graph
    entity = graph.flags & FLAG_ENTITY != 0
    yield from counted(
        "aggregation/aggregation_index.json: entities", index.entities, int(np.count_nonzero(entity))
    )
    ptr, val = graph.type_rows
    stated = np.bincount(val[np.repeat(entity, np.diff(ptr))], minlength=len(graph.class_codes))
    classes = {graph.class_iri(n): int(stated[n]) for n in np.flatnonzero(stated).tolist()}
    if classes != {one.iri: one.entities for one in index.classes}:
        yield "aggregation/aggregation_index.json: entities by class are other than the graph's"
    own = graph.category_of_node[entity]
    primary = {category.name: int(np.count_nonzero(own == int(category))) for category in Category}
    if primary != {one.category: one.primary for one in index.categories}:
        yield "aggregation/aggregation_index.json: entities by category are other than the graph's"
    lists = [*index.content["pagerank"].values(), index.content["actors"]["works"]]
    unknown = [row[0] for rows in lists for row in rows if graph.node(row[0]) is None]
    if unknown:
        yield told(
            "aggregation/aggregation_index.json: listed IRIs that are not in the graph",
            len(unknown),
            sum(map(len, lists)),
            unknown[:1],
        )
    return len(index.classes) + len(index.categories) + sum(map(len, lists))


def ranks_are_sound(release: Release) -> Faults:
    """PageRank is of the graph's nodes: none below nothing, all together 1."""
    rank, nodes = np.asarray(release.aggregation.pagerank), release.graph.nodes
    if (yield from shaped("aggregation/pagerank.npy", rank, "float32", nodes)):
        return 0
    bad = yield from wrong("aggregation/pagerank.npy: no rank", nodes, lambda block: ~(rank[block] >= 0))
    total = float(rank.sum(dtype=np.float64))
    if not bad and total and abs(total - 1) > SUM:
        yield f"aggregation/pagerank.npy: all together {total:.4f} where 1 belongs"
    return nodes


def profile_is_the_graphs(release: Release) -> Faults:
    """The profile's totals are those of the graph, and its examples are in it."""
    profile, graph = release.profile, release.graph
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
    unknown = [iri for iri in examples if graph.node(iri) is None]
    if unknown:
        yield told(
            "profile/profile.json: IRIs that are not in the graph", len(unknown), len(examples), unknown[:1]
        )
    return len(found) + len(examples)


CHECKS = (
    Check("names", "names", ("graph", "names"), names_are_sound),
    Check("dates", "dates", ("graph", "dates"), dates_are_sound),
    Check("counts", "counts", ("graph", "aggregation"), counts_are_the_graphs),
    Check("PageRank", "nodes", ("graph", "aggregation"), ranks_are_sound),
    Check("profile", "counts", ("graph", "profile"), profile_is_the_graphs),
)
