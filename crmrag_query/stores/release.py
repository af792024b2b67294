"""The arrays of a release as a search store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.documents.documents import Documents, Line
from crmrag_query.entities.details import category_name, type_nodes
from crmrag_query.errors import MissingExtraError, ModelError, QuestionError, UnknownEntity
from crmrag_query.graph.arrays import Ints
from crmrag_query.graph.graph import Graph, Triple, TriplesIndex
from crmrag_query.linking import NameIndex, plain_words, search
from crmrag_query.ontology.load import Category
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.retrieval.channels import has_channel
from crmrag_query.retrieval.communities import NONE, Communities, CommunityIndex, Summaries
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.release_channels import LITTLE, ReleaseChannels
from crmrag_query.retrieval.scores import LITTLE_SHARE, cap
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.shown import Named, SourceTriple
from crmrag_query.stores.records import (
    Beside,
    Entities,
    GraphCommunity,
    GraphEntity,
    GraphNeighbour,
    GraphPassage,
    Neighbourhood,
    explore,
)
from crmrag_query.text import plain, shorten

NAMED = 2  # how often names count in the fusion: as much as meaning and words together
LOOKED_AT = (
    5  # times as many as are asked for are looked at in each ranking, so that their fusion has a choice
)
DESCRIPTION = 300  # characters of what a document says of its entity
PASSAGE = 1000  # … of a passage
LABEL = 160  # … of a name: some data has whole texts as names
MEMBERS = 15  # of a community, the most central. Source: the published graph tools
SCANNED = 20_000  # triples of one entity among which those are chosen
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ReleaseStore:
    """A release as a store; ``language``: of names, "" for the data set's first."""

    opened: Release
    language: str = ""

    @property
    def release(self) -> str:
        return self.opened.id

    @cached_property
    def _languages(self) -> tuple[str, ...]:
        return (self.language,) if self.language else ()

    @cached_property
    def _graph(self) -> Graph:
        return self.opened[Graph]

    @cached_property
    def _documents(self) -> Documents:
        return self.opened[Documents]

    def entities(self, query: str, limit: int, category: str = "") -> Entities:
        bit = category_bit(category)
        size, vector, note = limit * LOOKED_AT, *query_vector(self.opened, query)
        channels = self.opened[ReleaseChannels]
        mask = channels.of_categories(bit) if bit else None
        dense = channels.dense(vector, size, mask) if vector is not None else None
        sparse = channels.sparse(query, size, mask) if has_channel(self.opened, "sparse") else None
        own = self._documents.entities
        by_name = dict.fromkeys(map(self.told_of, self._by_name(query, size)))
        named = [node for node in by_name if not bit or self._graph.category(node) & bit]
        nearest = own[dense.documents].tolist() if dense is not None else []
        cosine = dict(zip(nearest, dense.scores.tolist(), strict=True)) if dense is not None else {}
        by_words = [own[sparse.documents].tolist()] if sparse is not None else []
        little = np.zeros(self._graph.nodes, bool)
        little[own[channels.little]] = True
        found = channels.fused([*[named] * NAMED, *by_words], nearest, size)
        best = cap(found, little, limit, LITTLE_SHARE)
        order = sorted((node for node, _ in best), key=lambda node: bool(little[node]))
        return Entities(tuple(self.told(node, cosine.get(node)) for node in order), note)

    def passages(self, query: str, limit: int) -> Sequence[GraphPassage]:
        store = self._documents
        inside = np.arange(len(store.home)) >= store.count
        vector, _ = query_vector(self.opened, query)
        size, rankings, nearest = limit * LOOKED_AT, list[list[int]](), list[int]()
        cosine = dict[int, float]()
        if vector is not None and inside.any():
            hits = self.opened[DenseIndex].search(vector, size, inside)
            nearest, cosine = hits.ranking, dict(hits)
        if has_channel(self.opened, "sparse") and inside.any():
            rankings.append(self.opened[SparseIndex].search(query, size, inside).ranking)
        best = self.opened[ReleaseChannels].fused(rankings, nearest, size)[:limit]
        return tuple(self.told_passage(number - store.count, cosine.get(number)) for number, _ in best)

    def communities(self, query: str, level: int, limit: int) -> Sequence[GraphCommunity]:
        communities = self.opened[Communities]
        among = communities.of_level(level)
        if not query.strip():
            return tuple(self.told_community(one, None) for one in among[:limit].tolist())
        index = self.opened[CommunityIndex]
        vector, _ = query_vector(self.opened, query)
        if vector is None:
            vector = np.zeros(index.vectors.shape[1], np.float32)
        found = index.search(query, vector, among, limit)
        return tuple(self.told_community(one, cosine if vector.any() else None) for one, cosine in found)

    def levels(self) -> Sequence[int]:
        return tuple(int(told["communities"]) for told in self.opened[Communities].levels)

    def named(self, name: str, limit: int) -> Sequence[Named]:
        return tuple(map(self._named, dict.fromkeys(map(self.told_of, self._by_name(name, limit)))))

    def entity(self, iri: str) -> GraphEntity:
        return self.told(self._node(iri), None)

    def neighbourhood(self, iri: str, hops: int, limit: int) -> Neighbourhood:
        index = self.opened[TriplesIndex]

        def beside(nodes: Sequence[int], most: int) -> Iterator[Beside[int]]:
            for node in nodes:
                yield index.degree(node), self._beside(node, most)

        far, told, whole = explore(self._node(iri), hops, limit, beside)
        triples = [index.triple(number) for number in told]
        shown = Counter(node for triple in triples for node in {triple.s, triple.o})
        neighbours = (self._neighbour(node, hop, shown[node]) for node, hop in far.items() if hop)
        return Neighbourhood(tuple(neighbours), tuple(map(self._triple, triples)), whole)

    def _beside(self, node: int, most: int) -> Iterator[tuple[int, int]]:
        """Triples of a node, and the node at the other end of each."""
        for number in self._chosen(node, most).tolist():
            triple = self.opened[TriplesIndex].triple(number)
            yield number, triple.o if triple.s == node else triple.s

    def _chosen(self, node: int, most: int) -> Ints:
        """Numbers of triples of a node, at most ``most``: of each property and direction one after another, those first that
        lead to what is best connected, so that one with very many leaves room for the others."""
        index, rank = self.opened[TriplesIndex], np.asarray(self.opened[Aggregation].pagerank)
        out = index.out_tri[index.out_ptr[node] : index.out_ptr[node + 1]][:SCANNED]
        into = index.in_tri[index.in_ptr[node] : index.in_ptr[node + 1]][:SCANNED]
        numbers = np.concatenate([np.asarray(out), np.asarray(into)])
        objects = np.asarray(self._graph.adjacency.forward.val)
        others = np.concatenate([objects[out], np.asarray(index.tri_s)[into]])
        way = np.asarray(index.tri_p)[numbers].astype(np.int64) * 2
        way[len(out) :] += 1
        order = np.lexsort((others, -rank[others], way))
        order = order[np.argsort(places(way[order]), kind="stable")]
        return cast(Ints, numbers[order][:most])

    def _by_name(self, name: str, limit: int) -> list[int]:
        found = search(self.opened[NameIndex], name, limit, plain_words(self.opened.method.questions))
        return [one.entity for one in found]

    def told_of(self, node: int) -> int:
        """Of a mere name or text the entity whose document tells of it, else the node itself."""
        codes = self._graph.codes(node)
        document = self._documents.document_of(node) if codes and codes <= LITTLE else None
        return node if document is None else self._documents.entity(document)

    def _node(self, iri: str) -> int:
        node = self._graph.node(iri)
        if node is None:
            raise unknown_entity(iri)
        return node

    def _named(self, node: int) -> Named:
        return Named(self._graph.iri(node), self.label(node))

    def label(self, node: int) -> str:
        return shorten(plain(self._graph.label(node, self._languages)), LABEL) or self._graph.iri(node)

    def told(self, node: int, similarity: float | None) -> GraphEntity:
        graph, documents = self._graph, self._documents
        document = documents.document_of(node)
        return GraphEntity(
            graph.iri(node),
            self.label(node),
            category_name(graph, node),
            self.types_of(node),
            self._description(node, document),
            "" if document is None else graph.iri(documents.entity(document)),
            similarity,
            self.opened[TriplesIndex].degree(node),
        )

    def types_of(self, node: int) -> tuple[str, ...]:
        """What a node is in words: its types, then its classes."""
        types = [self.label(one) for one in type_nodes(self._graph, node)]
        classes = (self._graph.class_label(int(number), self.language) for number in self._graph.types(node))
        return tuple(dict.fromkeys([*types, *classes]))

    def _description(self, node: int, document: int | None) -> str:
        """The lines that a document has of a node, after its header, in one."""
        if document is None:
            return ""
        text = self._documents.text(document)
        lines = (
            plain(text[line.start : line.end])
            for line in self._documents.lines(document)
            if line.entity == node and line.kind not in (Line.HEADER, Line.TYPE)
        )
        return shorten("; ".join(_until(lines, DESCRIPTION)), DESCRIPTION)

    def told_passage(self, number: int, similarity: float | None) -> GraphPassage:
        one = self._documents.passage(number)
        text = shorten(plain(one.body), PASSAGE)
        return GraphPassage(self._named(one.entity), plain(one.label), text, one.start, one.end, similarity)

    def told_community(self, number: int, similarity: float | None) -> GraphCommunity:
        communities, documents = self.opened[Communities], self._documents
        told = self.opened[Summaries].tell(number, self.language or self.opened.manifest.language)
        parent = int(communities.parent[number])
        members = communities.members(number, MEMBERS).tolist()
        return GraphCommunity(
            communities.name(number),
            int(communities.level[number]),
            plain(told.title),
            plain(told.text),
            communities.size(number),
            tuple(self._named(documents.entity(one)) for one in members),
            similarity,
            told.model,
            "" if parent == NONE else communities.name(parent),
        )

    def _neighbour(self, node: int, hops: int, shown: int) -> GraphNeighbour:
        graph = self._graph
        return GraphNeighbour(
            graph.iri(node),
            self.label(node),
            category_name(graph, node),
            hops,
            self.opened[TriplesIndex].degree(node),
            shown,
        )

    def _triple(self, one: Triple) -> SourceTriple:
        graph = self._graph
        return SourceTriple(
            graph.iri(one.s),
            graph.property_iri(one.p),
            graph.iri(one.o),
            self.label(one.s),
            plain(graph.property_label(one.p, lang=self.language)),
            self.label(one.o),
            self.opened[TriplesIndex].graphs(one.number),
        )


def unknown_entity(iri: str) -> UnknownEntity:
    return UnknownEntity(
        f"There is no entity {shorten(plain(iri), LABEL)!r} in the data set.",
        "Find entities by name: graph_search.",
    )


def query_vector(release: Release, text: str) -> tuple[Floats | None, str]:
    """The encoding of a query; None, and why, where nothing can be found by it."""
    if not has_channel(release, "dense"):
        return None, f"Release {release.id} has no vectors."
    try:
        encoder = release[QueryEncoder]
        (vector,) = encoder.encode([text])
    except (ModelError, MissingExtraError) as error:
        return None, str(error)
    return (vector, "") if vector.any() else (None, encoder.withheld or "The query has no vector.")


def category_bit(category: str) -> int:
    """A Fundamental Category as a bit, 0 for none; QuestionError for what is none."""
    if not category:
        return 0
    if category not in Category.__members__:
        raise QuestionError(
            f"{shorten(category, LABEL)!r} is no category.", f"There are: {', '.join(Category.__members__)}."
        )
    return int(Category[category])


def places(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """For each of sorted values its place among those equal to it, from 0."""
    at = np.arange(len(groups))
    starts = np.flatnonzero(np.diff(groups, prepend=groups[:1] - 1))
    return at - np.repeat(starts, np.diff(np.append(starts, len(groups))))


def _until(lines: Iterable[str], characters: int) -> Iterator[str]:
    """Lines until they have so many characters."""
    for line in lines:
        yield line
        characters -= len(line)
        if characters <= 0:
            return
