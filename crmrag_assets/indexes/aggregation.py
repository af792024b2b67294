"""Building the aggregation index: what is counted once so that no question counts it.

The graph of the Fundamental Relationships is gathered chunk by chunk for its PageRank. A hub makes many edges of few facts:
the thousand parts of a whole each reach the other 999. So the graph is held as lists of targets and who sends to them:
matches of several sources that reach the same nodes, or the same but for themselves, are one list. What a node receives is
then summed over lists instead of edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from crmrag_assets.build.scratch import ROWS, Pairs, Scratch, blocks, total
from crmrag_assets.documents.portable import Numbering, open_nodes
from crmrag_query.artifacts.manifest import canonical_json
from crmrag_query.config.loading import Aggregation, PageRank
from crmrag_query.documents.documents import open_table
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import (
    FLAG_ENTITY,
    Adjacency,
    Bytes,
    Ints,
    Longs,
    consecutive,
    places_in,
    ranges,
    run_starts,
)
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, extents
from crmrag_query.linking import mixed
from crmrag_query.ontology.load import Category, Ontology
from crmrag_query.relationships.engine import Catalogue, walk_blocks
from crmrag_query.retrieval.aggregation import COLUMNS, INDEX, META, PAGERANK, SCHEMA_VERSION
from crmrag_query.retrieval.scores import best

Doubles = npt.NDArray[np.float64]
Hashes = npt.NDArray[np.uint64]
Shorts = npt.NDArray[np.int16]
TOP = 500  # nodes of highest PageRank that are kept for each category, and actors with most works
DIGITS = 9  # significant digits of a written PageRank


def pagerank(
    receive: Callable[[Doubles], Doubles],
    out: npt.NDArray[np.integer | np.floating],
    member: npt.NDArray[np.bool_],
    settings: PageRank,
) -> Doubles:
    """PageRank float64 [n] of the members of a weighted graph's nodes, sum 1, 0 for others; one without edges out gives to
    all members alike.

    ``out`` [n]: weight of the edges out of each node. ``receive`` gives what every node receives when each node sends what it
    is given, times the edge's weight, along its edges; these are between members. Brin & Page 1998. Raises BuildError when it
    does not converge.
    """
    count = int(np.count_nonzero(member))
    if count == 0:
        return np.zeros(len(out))
    share = np.divide(1.0, out, where=out != 0, out=np.zeros(len(out)))
    dangling = np.flatnonzero(member & (out == 0))
    base = member / count
    rank: Doubles = base
    for _ in range(settings.iterations):
        new = receive(rank * share)
        new *= settings.damping
        new += (settings.damping * rank[dangling].sum() + 1 - settings.damping) * base
        if np.abs(new - rank).sum() < settings.tolerance:
            return new
        rank = new
    raise BuildError(
        f"PageRank did not converge in {settings.iterations} iterations.",
        "Lower `pagerank.damping` in config/method.yaml.",
    )


def works_per_actor(adjacency: Adjacency, steps: Aggregation) -> npt.NDArray[np.int64]:
    """Distinct works of each node as actor, int64 [n], by way of events (facts: method, Build)."""
    work, event = edges(adjacency, steps.work_properties)
    events, actors = edges(adjacency, steps.actor_properties)
    made, done = (
        pl.DataFrame({"event": event, "work": work}),
        pl.DataFrame({"event": events, "actor": actors}),
    )
    pairs = made.join(done, on="event").select("actor", "work").unique()
    return np.bincount(pairs["actor"].to_numpy(), minlength=adjacency.nodes)


def edges(adjacency: Adjacency, codes: Sequence[str]) -> tuple[Ints, Ints]:
    """(subject, object) of all triples of these properties, and of their inverses turned round."""
    found = [np.empty((2, 0), np.int32)]
    for code in codes:
        inverse = code.removesuffix("i") if code.endswith("i") else code + "i"  # P108 and P108i
        found += [np.stack(adjacency.forward.pairs(n)) for n in adjacency.by_code.get(code, ())]
        found += [np.stack(adjacency.forward.pairs(n)[::-1]) for n in adjacency.by_code.get(inverse, ())]
    subjects, objects = np.concatenate(found, axis=1)
    return subjects, objects


class MatchArrays(NamedTuple):
    """FR matches of one chunk, sorted, each once: two nodes, and the number of the FR in the catalogue between them.

    All matches of a source are in one chunk. ``path``: which of the FR's paths leads there, the narrowest of several.
    """

    source: Ints
    relationship: Shorts
    target: Ints
    path: Shorts


@dataclass(frozen=True)
class MatchFiles:
    """The matches in the folders of chunks, mapped; may be gone through again."""

    folders: Sequence[Path]
    numbering: Numbering

    def __iter__(self) -> Iterator[MatchArrays]:
        for folder, nodes in zip(self.folders, self._nodes, strict=True):
            table = open_table(folder, "matches")
            columns = ("entity", "relationship", "target", "path")
            source, relationship, target, path = (table.column(name).to_numpy() for name in columns)
            yield MatchArrays(nodes[source], relationship, nodes[target], path)

    @cached_property
    def _nodes(self) -> tuple[Ints, ...]:
        return tuple(open_nodes(folder, self.numbering) for folder in self.folders)


class Groups(NamedTuple):
    """The matches of one source by one FR: where they stand, and a hash of their targets; arrays [groups].

    ``chunk``, ``first``, ``size``: rows of a chunk. ``plain``: 128 bits in two rows of 64, whatever the order.
    """

    source: Ints
    relationship: Shorts
    chunk: Ints
    first: Ints
    size: Ints
    plain: Hashes


@dataclass(frozen=True)
class Ones:
    """A sparse matrix of ones by rows: ``ptr`` int64 [rows+1], ``column`` int32 [ones], ascending within a row."""

    ptr: Longs
    column: Ints

    @classmethod
    def of(cls, pairs: Pairs, rows: int, scratch: Scratch) -> Ones:
        """Of distinct pairs (row, column) in order."""
        column, counts = scratch.empty(len(pairs), np.int32), np.zeros(rows, np.int64)
        for part, row, own in pairs.parts():
            column[part] = own
            counts += np.bincount(row, minlength=rows)
        return cls(total(counts), column)

    def __matmul__(self, values: Doubles) -> Doubles:
        """The sums of the values of each row's columns, float64 [rows]."""
        found, ones = np.zeros(len(self.ptr) - 1), np.ones(0)
        for rows in consecutive(self.ptr[1:], ROWS):
            ptr = self.ptr[rows.start : rows.stop + 1]
            low, high = int(ptr[0]), int(ptr[-1])
            if len(ones) < high - low:
                ones = np.ones(high - low)
            shape = (len(ptr) - 1, len(values))
            block = (ones[: high - low], self.column[low:high], ptr - low)
            found[rows] = np.asarray(sparse.csr_array(block, shape=shape) @ values)
        return found


@dataclass(frozen=True)
class RelationshipGraph:
    """``pairs``, ``sources``, ``targets`` int64 [relationships]; of each node ``out`` int64 [n], its edges to others.

    ``senders`` [lists, n] and ``lists`` [n, lists] are 1.0 where a node sends to a list, and stands in it; ``own`` int32
    [n]: to how many of the lists that it stands in a node sends, though not to itself.
    """

    pairs: Longs
    sources: Longs
    targets: Longs
    out: Longs
    senders: Ones
    lists: Ones
    own: Ints

    def receive(self, sent: Doubles) -> Doubles:
        """What each node receives, float64 [n], when every node sends what it has in ``sent`` along each of its edges."""
        received: Doubles = self.lists @ (self.senders @ sent) - self.own * sent
        return received

    @property
    def nodes(self) -> npt.NDArray[np.bool_]:
        """Sources and targets, bool [n]."""
        found: npt.NDArray[np.bool_] = (self.out > 0) | (np.diff(self.lists.ptr) > 0)
        return found


def gather(
    matches: Iterable[MatchArrays], nodes: int, relationships: int, folder: Path | None = None
) -> RelationshipGraph:
    """Count and join the chunks, which are gone through twice; the same whatever the chunks.

    Memory is some thirty bytes a source and FR; what else there is of these, and the lists, is on the disk of ``folder``
    (see `Scratch`).
    """
    salt = mixed(np.arange(2 * (nodes + relationships), dtype=np.uint64)).reshape(2, -1)
    of_node, of_relationship = np.split(salt, [nodes], axis=1)
    scratch = Scratch(folder)
    groups = _all_groups(matches, of_node, of_relationship, scratch)
    with_self = _with_self(groups, of_node, scratch)
    full = scratch.empty(groups.plain.shape, np.uint64)
    for part in blocks(len(groups.source)):
        own = np.where(with_self[part], of_node[:, groups.source[part]], np.uint64(0))
        full[:, part] = groups.plain[:, part] + own
    list_of, example = _numbered(full, scratch)
    of_list = _entries(matches, groups, example, with_self[example], scratch)
    reached = np.zeros((relationships, nodes), bool)
    pairs, out = np.zeros(relationships), np.zeros(nodes)
    sources, own_lists = np.zeros(relationships, np.int64), np.zeros(nodes, np.int64)
    for part in blocks(len(groups.source)):
        relationship, source, size = groups.relationship[part], groups.source[part], groups.size[part]
        pairs += np.bincount(relationship, size, relationships)
        sources += np.bincount(relationship, minlength=relationships)
        out += np.bincount(source, size, nodes)
        own_lists += np.bincount(source[with_self[part]], minlength=nodes)
    for _, number, target in of_list.parts():
        reached[groups.relationship[example[number]], target] = True
    width = max(len(example) - 1, nodes - 1, 1).bit_length()  # of the number of any list or node
    sending = ((list_of[part], groups.source[part]) for part in blocks(len(list_of)))
    standing = ((target, number) for _, number, target in of_list.parts())
    return RelationshipGraph(
        pairs=pairs.astype(np.int64),
        sources=sources,
        targets=reached.sum(axis=1),
        out=out.astype(np.int64),
        senders=Ones.of(scratch.sorted_pairs(sending, width), len(example), scratch),
        lists=Ones.of(scratch.sorted_pairs(standing, width), nodes, scratch),
        own=own_lists.astype(np.int32),
    )


def _all_groups(
    matches: Iterable[MatchArrays], of_node: Hashes, of_relationship: Hashes, scratch: Scratch
) -> Groups:
    """The groups of all chunks, by source and FR."""
    kinds = (np.int32, np.int16, np.int32, np.int32, np.int32)
    columns = [scratch.growing(kind) for kind in kinds]
    plain = [scratch.growing(np.uint64) for _ in range(2)]
    for number, chunk in enumerate(matches):
        found = _groups(chunk, number, of_node, of_relationship)
        for column, values in zip((*columns, *plain), (*found[:-1], *found.plain), strict=True):
            column.add(values)
    source, relationship = columns[0].array, columns[1].array
    keys = np.empty(len(source), np.int64)
    for part in blocks(len(keys)):
        keys[part] = source[part].astype(np.int64) << 16 | relationship[part]
    order = np.argsort(keys)  # each stands here once
    del keys
    hashes = scratch.empty((2, len(order)), np.uint64)
    for row, values in zip(hashes, [column.array for column in plain], strict=True):
        for part in blocks(len(order)):
            row[part] = values[order[part]]
    return Groups._make([*(scratch.gathered(column.array, order) for column in columns), hashes])


def _groups(chunk: MatchArrays, number: int, of_node: Hashes, of_relationship: Hashes) -> Groups:
    """The groups of one chunk; the FR takes part in their hashes, so no list serves two of them."""
    source, relationship, target, _ = chunk
    first = np.flatnonzero(run_starts(source, relationship))
    plain = of_relationship[:, relationship[first]]
    if len(first):
        plain += np.array([np.add.reduceat(salt[target], first) for salt in of_node])
    size = np.diff(first, append=len(source))
    return Groups(
        source[first],
        relationship[first],
        np.full(len(first), number, np.int32),
        first.astype(np.int32),
        size.astype(np.int32),
        plain,
    )


def _with_self(groups: Groups, of_node: Hashes, scratch: Scratch) -> npt.NDArray[np.bool_]:
    """Whether more groups have these targets with the source among them than without, bool [groups]."""
    keys = scratch.empty(len(groups.source), np.uint64)
    for part in blocks(len(keys)):
        keys[part] = groups.plain[0, part] + of_node[0, groups.source[part]]
    found: npt.NDArray[np.bool_] = _often(keys, scratch) > _often(groups.plain[0], scratch)
    return found


def _often(keys: Hashes, scratch: Scratch) -> Ints:
    """How often each key occurs, int32 [keys]."""
    order = np.argsort(keys)
    ordered = scratch.gathered(keys, order)
    starts = np.flatnonzero(run_starts(ordered))
    counts = np.diff(starts, append=len(keys)).astype(np.int32)
    found = np.empty(len(keys), np.int32)
    found[order] = np.repeat(counts, counts)
    return found


def _numbered(keys: Hashes, scratch: Scratch) -> tuple[Ints, Longs]:
    """(number int32 [groups] of each group's list, first group int64 [lists] of each list); lists in order of the latter."""
    order = np.argsort(keys[0], kind="stable")
    ordered = scratch.gathered(keys, order)
    new = run_starts(*ordered)
    first = order[new]
    by_first = np.argsort(first)
    rank = places_in(by_first)
    list_of = np.empty(len(order), np.int32)
    list_of[order] = np.repeat(rank, np.diff(np.flatnonzero(new), append=len(new)))
    return list_of, first[by_first]


def _entries(
    matches: Iterable[MatchArrays],
    groups: Groups,
    example: Longs,
    with_self: npt.NDArray[np.bool_],
    scratch: Scratch,
) -> Pairs:
    """(list, target) of every entry of the lists, by list: the targets of its example, and its source ``with_self``."""
    of_chunk = groups.chunk[example]

    def entries() -> Iterator[tuple[Ints, Ints]]:
        yield np.flatnonzero(with_self).astype(np.int32), groups.source[example[with_self]]
        for number, chunk in enumerate(matches):
            here = np.flatnonzero(of_chunk == number)
            size = groups.size[example[here]]
            rows = ranges(groups.first[example[here]].astype(np.int64), size.astype(np.int64))
            yield np.repeat(here, size).astype(np.int32), chunk.target[rows]

    return scratch.sorted_pairs(entries(), 32)


def write_aggregation(
    graph: Graph,
    matches: Iterable[MatchArrays],
    relationships: Sequence[tuple[str, str]],
    steps: Aggregation,
    settings: PageRank,
    out: Path,
    top: int = TOP,
) -> dict[str, int]:
    """Write ``aggregation_index.json`` and ``pagerank.npy`` into ``out``; gives counts for people.

    ``relationships``: (key, label) in catalogue order; ``top``: length of a list. PageRank is over entities and FR targets,
    0 for any other node.
    """
    found = gather(matches, graph.nodes, len(relationships), out)
    entity = (graph.flags & FLAG_ENTITY) != 0
    rank = pagerank(found.receive, found.out, entity | found.nodes, settings)
    works = works_per_actor(graph.adjacency, steps)
    actors, primary = np.flatnonzero(works), graph.category_of_node
    every = graph.adjacency.categories[entity]
    counts = zip(found.pairs.tolist(), found.sources.tolist(), found.targets.tolist(), strict=True)
    content: dict[str, Any] = {
        "schema": SCHEMA_VERSION,
        "entities": int(np.count_nonzero(entity)),
        "classes": count_classes(graph),
        "categories": [
            {
                "category": one.name,
                "primary": int((primary[entity] == int(one)).sum()),
                "any": int((every & int(one) != 0).sum()),
            }
            for one in Category
        ],
        "relationships": [
            {"key": key, "label": label, "pairs": pairs, "sources": sources, "targets": targets}
            for (key, label), (pairs, sources, targets) in zip(relationships, counts, strict=True)
        ],
        "pagerank": {
            str(one.name): ranked(graph, np.flatnonzero((rank > 0) & (primary == int(one))), rank, top)
            for one in Category
        },
        "actors": {"total": len(actors), "works": ranked(graph, actors, works, top)},
    }
    (out / INDEX).write_text(canonical_json(content), encoding="utf-8")
    np.save(out / PAGERANK, rank.astype(np.float32))
    return {"entities": content["entities"], "pairs": int(found.pairs.sum()), "actors": len(actors)}


def count_classes(graph: Graph) -> list[dict[str, Any]]:
    """Entities of each class, most first, ties by IRI."""
    ptr, val = graph.type_rows
    entity = np.repeat((graph.flags & FLAG_ENTITY) != 0, np.diff(ptr))
    counts = np.bincount(val[entity], minlength=len(graph.class_codes))
    return [
        {
            "iri": graph.class_iri(number),
            "code": graph.class_code(number),
            "label": graph.class_label(number),
            "entities": int(count),
        }
        for number, count in best(np.arange(len(counts)), counts.astype(np.float64), len(counts))
        if count
    ]


def ranked(
    graph: Graph, nodes: npt.NDArray[np.int64], scores: npt.NDArray[np.number], top: int
) -> list[list[str | float]]:
    """[IRI, label, score] of the ``top`` of ``nodes`` by score [all nodes], ties by IRI."""
    values = scores[nodes]
    if 0 < top < len(values):  # rounding is slow: only of those that it may leave among the best
        enough = np.partition(values, len(values) - top)[len(values) - top] * (1 - 100 * 0.1**DIGITS)
        nodes, values = nodes[values >= enough], values[values >= enough]
    rounded = np.array([float(f"{value:.{DIGITS}g}") for value in values.tolist()])
    found = best(nodes, rounded, top)
    return [[graph.iri(node), graph.label(node), int(s) if s == int(s) else s] for node, s in found]


OWN = "own"
"""Stands for a relationship where the dates are stated on the entity itself."""


def time_relationships(catalogue: Catalogue) -> Catalogue:
    """Those relationships of a set that lead to Time."""
    return Catalogue(catalogue.name, tuple(one for one in catalogue if one.range == Category.Time))


def write_dates(graph: Graph, ontology: Ontology, catalogue: Catalogue, out: Path) -> dict[str, int]:
    """Write the index of ``graph`` by the relationships of ``catalogue``, which lead to Time; gives counts for people.

    An entity with several dates by one relationship gets the extent from the first begin to the last end, open where one
    of them is.
    """
    begin, end = extents(graph)
    dated = (begin != OPEN_BEGIN) | (end != OPEN_END)
    entities = np.flatnonzero((graph.flags & FLAG_ENTITY) != 0).astype(np.int32)
    own = entities[dated[entities]]

    def stated(relationship: Shorts, entity: Ints, date: Ints, depth: Bytes) -> pl.DataFrame:
        """Of several dates those count that the fewest hops lead to: a period that an event falls within is wider."""
        frame = pl.DataFrame({"relationship": relationship, "entity": entity, "depth": depth})
        frame = frame.with_columns(begin=pl.Series(begin[date]), end=pl.Series(end[date]))
        near = frame.filter(pl.col("depth") == pl.col("depth").min().over("relationship", "entity"))
        return near.group_by("relationship", "entity").agg(pl.col("begin").min(), pl.col("end").max())

    parts = [stated(np.full(len(own), len(catalogue), np.int16), own, own, np.zeros(len(own), np.uint8))]
    for block in walk_blocks(graph.adjacency, ontology, catalogue, entities):
        near = block.part(dated[block.target])
        parts.append(stated(near.relationship, near.source, near.target, near.depth))
    found = pl.concat(parts).sort("relationship", "begin", "entity")
    ptr = np.searchsorted(found["relationship"].to_numpy(), np.arange(len(catalogue) + 2)).astype(np.int64)
    for name in COLUMNS:
        np.save(out / f"{name}.npy", found[name].to_numpy().astype(np.int32))
    np.save(out / "ptr.npy", ptr)
    ids = [one.id for one in catalogue] + [OWN]
    (out / META).write_text(
        canonical_json({"schema": SCHEMA_VERSION, "relationships": ids}), encoding="utf-8"
    )
    return {"dates": len(found), "entities": found["entity"].n_unique()}
