"""The channels of a release: what each stage of retrieval asks of its indexes and its graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from crmrag_query.config.query import RetrievalConfig
from crmrag_query.dates import Interval
from crmrag_query.graph.arrays import FLAG_SUSPECT, Ints
from crmrag_query.linking.records import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.form import Form
from crmrag_query.retrieval.adjacency import Matrix, connect, edges_of
from crmrag_query.retrieval.fusion import best
from crmrag_query.retrieval.reach import Reach, Shares, by_document
from crmrag_query.retrieval.walked import neighbourhood, personalised_pagerank

if TYPE_CHECKING:
    from crmrag_query.artifacts.release import Release

Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ReleaseChannels:
    """Retrieval channels over an open release; documents are numbered as in its documents artifact."""

    release: Release
    config: RetrievalConfig

    @property
    def documents(self) -> int:
        return self.release.documents.count

    def dense(self, vector: Floats, k: int, mask: Mask | None = None) -> list[int]:
        """The ``k`` documents (of ``mask``) nearest to ``vector``, best first."""
        return [document for document, _ in self.release.dense.search(vector, k, mask)]

    def sparse(self, text: str, k: int, mask: Mask | None = None) -> list[int]:
        """The ``k`` documents (of ``mask``) with the highest BM25 score for ``text``, best first."""
        return [document for document, _ in self.release.sparse.search(text, k, mask)]

    def of_categories(self, categories: int) -> Mask:
        """Documents whose entity has one of ``categories`` (a mask), bool [documents]."""
        chosen: Mask = (self.release.documents.categories_of & categories) != 0
        return chosen

    def central(self, categories: int, k: int) -> list[int]:
        """Documents of the entities of highest PageRank in each of ``categories``, best first, at most ``k``."""
        aggregation, graph = self.release.aggregation, self.release.graph
        top = [one for c in Category if c & categories for one in aggregation.top(str(c.name), k)]
        nodes = [graph.node(one.iri) for one in sorted(top, key=lambda one: (-one.score, one.iri))]
        return self.holding(node for node in nodes if node is not None)[:k]

    def holding(self, entities: Iterable[int]) -> list[int]:
        """The documents that hold ``entities``, each once, in their order."""
        held = self.release.documents.entity_document
        return list(dict.fromkeys(int(held[node]) for node in entities if held[node] >= 0))

    @cached_property
    def reach(self) -> Reach:
        release = self.release
        return Reach(release.graph.adjacency, release.ontology, release.catalogue)

    def tied(self, mention: Mention, form: Form, targets: int, cues: frozenset[str]) -> Shares:
        """How strongly each document is tied to what ``mention`` names, by relationships (``Reach.to``) or as its own.

        float32 [documents].
        """
        shares = self.config.reach
        weight = dict.fromkeys(self.vague, shares.vague) | dict.fromkeys(cues, shares.cued)
        found = self.reach.to(
            [one.entity for one in mention.entities], targets, weight, shares.other, shares.aside
        )
        for one in mention.entities:
            own = getattr(shares.own, form.value) * one.score / mention.entities[0].score
            found[one.entity] = max(float(found[one.entity]), own)
        return by_document(found, self.release.documents.entity_document, self.documents)

    @cached_property
    def vague(self) -> frozenset[str]:
        """Labels of relationships that others specialise, such as "has met"."""
        catalogue = self.release.catalogue
        general = {one.specialises for one in catalogue if one.specialises}
        return frozenset(one.label for one in catalogue if one.id in general)

    def dated(self, period: Interval, targets: int, cues: frozenset[str]) -> Shares:
        """How surely each document's entity is dated within ``period``, float32 [documents].

        By the relationships to Time that ``cues`` name, else by those that date a thing of the target categories as a rule.
        """
        config, times = self.config.dated, self._times
        usual = {str(name): keys for name, keys in config.relationships.items()}
        domains = [c for c in Category if c & targets] or list(Category)
        asked = [key for key, (label, domain) in times.items() if label in cues and domain in domains]
        keys = [key for c in domains for key in usual.get(str(c.name), ())]
        sure, maybe = self.release.dates.within(asked or keys, period)
        found = np.zeros(self.release.graph.nodes, np.float32)
        found[maybe], found[sure] = config.possible, 1.0
        if targets:
            dated = np.concatenate([sure, maybe])
            found[dated[(self.release.graph.adjacency.categories[dated] & targets) == 0]] = 0
        return by_document(found, self.release.documents.entity_document, self.documents)

    @cached_property
    def _times(self) -> dict[str, tuple[str, Category]]:
        """Label and domain of the relationships of the date index, by id."""
        from crmrag_query.relationships.catalogue import Catalogue

        release = self.release
        known = Catalogue.load(release.method, release.method.date_index.relationships)
        return {one.id: (one.label, one.domain) for one in known if one.range == Category.Time}

    def walked(self, entities: Sequence[int], k: int) -> list[int]:
        """The ``k`` documents of most personalised PageRank from ``entities``, best first."""
        config, method = self.config.walked, self.release.method
        seeds = np.unique(np.asarray(entities, np.int32))
        nodes, edges = neighbourhood(
            self.release.graph.adjacency, seeds, method.weights.of, config.hops, config.nodes
        )
        restart = np.isin(nodes, seeds) / len(seeds)
        rank = personalised_pagerank(
            edges, restart, method.pagerank.damping, method.pagerank.tolerance, method.pagerank.iterations
        )
        shares = np.zeros(self.documents)
        held = self.release.documents.entity_document[nodes]
        np.add.at(shares, held[held >= 0], rank[held >= 0])
        found = np.flatnonzero(shares)
        return [document for document, _ in best(found, shares[found], k)]

    def joined(self, documents: Ints) -> Matrix:
        """How the documents' own entities are joined, float64 [n, n]; see ``adjacency.connect``.

        Not by way of suspected merges of identities, which would join everything.
        """
        config = self.config.adjacency
        nodes = self.release.documents.entities[documents]
        graph = self.release.graph.adjacency
        rows, others, weights = edges_of(graph, nodes, self.release.method.weights.of)
        sound = ((graph.flags[others] & FLAG_SUSPECT) == 0) | np.isin(others, nodes)
        return connect(
            nodes, rows[sound], others[sound], weights[sound], config.max_hops, config.two_hop_divisor
        )

    def vectors(self, documents: Ints) -> Floats:
        """Mean of each document's window vectors, scaled to length 1, float32 [n, dimension]."""
        return self.release.dense.vectors(documents)

    def modifiers(self, documents: Ints, targets: int) -> npt.NDArray[np.float64]:
        """What is added to each document's relevance for its classes, its categories and its size, float64 [n]."""
        config, graph = self.config.subgraph, self.release.graph
        by_class = np.array([config.type_modifiers.get(code, 0.0) for code in graph.class_codes])
        added = np.zeros(len(documents))
        for row, document in enumerate(documents):
            node = self.release.documents.entity(int(document))
            own = by_class[graph.types(node)]
            added[row] = max(own.min(initial=0.0), -1.0) + own.max(initial=0.0)
            added[row] += config.oversized_penalty * (
                self.release.triples.degree(node) > config.oversized_triples
            )
        return added + config.category_bonus * self.of_categories(targets)[documents]

    @cached_property
    def little(self) -> Mask:
        """Documents whose entity has none but non-informative classes, bool [documents]."""
        graph = self.release.graph
        listed = frozenset(self.config.non_informative.types)
        plain = np.array([code in listed for code in graph.class_codes], bool)
        ptr, val = graph.type_rows
        start, stop = ptr[self.release.documents.entities], ptr[self.release.documents.entities + 1]
        counted = np.concatenate([[0], np.cumsum(plain[val])])
        only: Mask = (stop > start) & (counted[stop] - counted[start] == stop - start)
        return only
