"""What each stage of retrieval asks of a release (``ReleaseChannels``), and how it is computed.

Beside look-ups in the indexes these are: how candidates are joined in the graph and which of them make a coherent subset,
which entities Fundamental Relationships tie to what a question names (``Reach``), and personalised PageRank around it; what
they know of a question (``Query``), and which of the entities that it names can be relied on; and adaptive expansion.

Expansion goes from the documents that were found along the edges of the entity graph, as far as these deserve it: the nearer
a document is to the question, the farther its neighbourhood is followed (the published rule): not at all below .3, one hop up
to .9 and where there is no vector, two hops above. What it costs is bounded by the numbers below, at hubs too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import Subgraph, Walk
from crmrag_query.dates import Interval
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.arrays import FLAG_SUSPECT, Adjacency, Ints, found_in
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.linking import Mention
from crmrag_query.ontology.load import Category, Ontology
from crmrag_query.plans.world import World
from crmrag_query.questions.form import Analysis, Form
from crmrag_query.relationships import engine as fr
from crmrag_query.relationships.engine import Branch, Catalogue, add_way, legs_of, turned
from crmrag_query.retrieval.aggregation import DATED_BY, DATING, Aggregation, DateIndex
from crmrag_query.retrieval.communities import Communities
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.scores import NOTHING, Hits, Reals, best, fuse, half_cosine
from crmrag_query.retrieval.sparse import SparseIndex
from crmrag_query.text import tokenize, with_singulars

if TYPE_CHECKING:
    from scipy import sparse


WALK = Walk()


@dataclass(frozen=True)
class Query:
    """What the stages of retrieval know of a question.

    ``text`` is what is searched for; ``vector`` float32 [dimension], its encoding, made once; ``targets`` and ``contexts``
    masks of categories; ``cues`` labels of relationships and codes of properties that its words ask for; ``within``: the
    documents that it is asked of, bool [documents], None for all; ``levels``: of themes that are searched, None for all;
    ``walk``: how the walker goes; ``chooser``: who chooses its steps, of documents nearest first and how many at most; None
    for what is nearest.
    """

    text: str
    vector: Floats
    form: Form = Form.SPECIFIC
    targets: int = 0
    contexts: int = 0
    mentions: Sequence[Mention] = ()
    period: Interval | None = None
    cues: frozenset[str] = frozenset()
    within: Mask | None = None
    levels: int | None = None
    walk: Walk = WALK
    chooser: Callable[[Sequence[int], int], Sequence[int]] | None = None

    @classmethod
    def of(
        cls,
        analysis: Analysis,
        vector: Floats,
        mentions: Sequence[Mention],
        text: str | None = None,
        within: Mask | None = None,
    ) -> Query:
        """The query of an analysed question, by those of its mentions that can be relied on (see ``telling``).

        ``text`` where something else than the question itself is searched for.
        """
        reading = analysis.reading
        return cls(
            reading.question if text is None else text,
            vector,
            reading.form,
            analysis.targets,
            analysis.contexts,
            mentions,
            analysis.period,
            reading.cues,
            within,
        )


# From which score a mention is relied on, and one whose words also ask for a relationship ("made"). These and the numbers
# below have no published value: benchmarks/results were measured with them.
LEAST, LEAST_OF_CUE = 0.25, 0.8


def telling(analysis: Analysis, plain: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    """The mentions that retrieval may rely on.

    Not those that only repeat the period; nor those of a score below ``LEAST``; nor those whose words all ask for
    relationships ("made", "date") and are parts of names by chance (below ``LEAST_OF_CUE``) or ``plain``, but for the types
    that are asked for.
    """
    cueing, types = analysis.reading.cueing, frozenset(analysis.types)

    def is_plain(words: set[str]) -> bool:
        return all(not plain.isdisjoint(with_singulars([word])) for word in words)

    def tells(mention: Mention) -> bool:
        own = set(tokenize(mention.text))
        sure = max((one.score for one in mention.entities), default=0.0)
        asked = not types.isdisjoint(one.entity for one in mention.entities)
        if own <= cueing and not asked and (sure < LEAST_OF_CUE or is_plain(own)):
            return False
        return sure >= LEAST and not own <= analysis.period_words

    return tuple(mention for mention in analysis.mentions if tells(mention))


BELOW: Final = 0.3
ABOVE: Final = 0.9
"""Similarities, calibrated, on the scale (1 + cosine) / 2: nothing is reached below the one, two hops above the other."""
WAYS: Final[Mapping[int, int]] = {0: 0, 1: 20, 2: 40}
"""Of one document at most, by the number of hops."""
SCORE: Final = 0.8
"""Of what is reached, whatever its own similarity. Source of this and the numbers above: the published modes."""
STRONGEST: Final = 200
"""Edges of a document that are looked at, the strongest: ten times as many as ways may come of them."""
BRANCHES: Final = 40
"""Neighbours from which a second hop is taken, and edges of each: as many as ways may come of all."""
THEMES: Final = 3
"""The finest communities of what was found that are looked at …"""
CENTRAL: Final = 10
"""… and members of each, the most central."""
Nearness = Callable[[Ints], Reals]
"""The similarity of documents to the question, 0..1."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a document was reached: from ``seed`` to ``end``, over ``via`` (-1 for one hop); ``strength``: the product of the
    weights of its edges and of the similarity of its end."""

    seed: int
    via: int
    end: int
    strength: float


def hops_of(similarity: float | None) -> int:
    """How far a document's neighbourhood is followed; None where it, or the question, has no vector."""
    if similarity is None:
        return 1
    return 0 if similarity < BELOW else 1 if similarity <= ABOVE else 2


def strongest(graph: EntityGraph, document: int, most: int) -> tuple[Ints, Reals]:
    """The strongest edges of a document, at most so many, best first, ties by number: their ends and weights."""
    ends, weights = graph.of(document)
    if len(ends) > most:
        least = np.partition(weights, len(weights) - most)[len(weights) - most]
        kept = weights >= least
        ends, weights = ends[kept], weights[kept]
    order = np.lexsort((ends, -weights))[:most]
    return ends[order], weights[order].astype(np.float64)


def ways_from(graph: EntityGraph, seed: int, hops: int, nearness: Nearness) -> list[Way]:
    """The strongest ways from a document, best first, ties by the number of the end; one for each end, and at most WAYS."""
    first, weights = strongest(graph, seed, STRONGEST)
    ends, strength, over = [first], [weights], [np.full(len(first), -1, np.int32)]
    for via, weight in (
        zip(first[:BRANCHES].tolist(), weights[:BRANCHES].tolist(), strict=True) if hops > 1 else ()
    ):
        second, further = strongest(graph, via, BRANCHES)
        onward = second != seed
        ends.append(second[onward])
        strength.append(weight * further[onward])
        over.append(np.full(int(onward.sum()), via, np.int32))
    end, value, via_ = np.concatenate(ends), np.concatenate(strength), np.concatenate(over)
    distinct, place = np.unique(end, return_inverse=True)
    value = value * nearness(distinct)[place]
    found: dict[int, Way] = {}
    for at in np.lexsort((via_, end, -value)).tolist():
        if len(found) == WAYS[hops]:
            break
        one = int(end[at])
        if one not in found:
            found[one] = Way(seed, int(via_[at]), one, float(value[at]))
    return list(found.values())


def reach(
    graph: EntityGraph, seeds: Sequence[tuple[int, float | None]], nearness: Nearness
) -> tuple[Way, ...]:
    """The ways from documents that were found, with their similarities, to others: of each of these the strongest, best
    first."""
    there = {document for document, _ in seeds}
    best: dict[int, Way] = {}
    for document, similarity in seeds:
        if hops := hops_of(similarity):
            for way in ways_from(graph, document, hops, nearness):
                if way.end not in there and (way.end not in best or best[way.end].strength < way.strength):
                    best[way.end] = way
    return tuple(sorted(best.values(), key=lambda way: (-way.strength, way.end)))


def scored(documents: Sequence[int]) -> Hits:
    """What was reached, best first, all of it with the score of what is."""
    return Hits.of((document, SCORE) for document in documents)


def of_themes(communities: Communities, seeds: Sequence[int]) -> list[int]:
    """The most central documents of the finest communities that most of ``seeds`` are in, ties by the first of these."""
    held: dict[int, int] = {}
    for document in seeds:
        for community in communities.of_document(document)[:1]:
            held[community] = held.get(community, 0) + 1
    most = sorted(held, key=lambda one: -held[one])[:THEMES]
    members = (one for community in most for one in communities.members(community, CENTRAL).tolist())
    return [one for one in dict.fromkeys(members) if one not in set(seeds)]


SAMPLE: Final = 64
"""Documents whose names are asked for, evenly spread over all; every other of them tells what is unrelated."""
WINDOWS: Final = 8
"""Of each, from its beginning."""
LEAST_APART: Final = 1e-3
"""By which own names must be nearer than others for there to be a scale."""


@dataclass(frozen=True)
class Calibration:
    """Cosines of names of documents to documents: ``unrelated`` to others and ``own`` to their own, each the median."""

    unrelated: float = 0.0
    own: float = 1.0

    @classmethod
    def from_release(cls, release: Release) -> Calibration:
        """Cosines as they are, for an encoder that may not be asked, or that tells names of too few documents apart."""
        index, documents = release[DenseIndex], release[Documents]
        searched = np.unique(index.window_document)
        searched = searched[searched < documents.count]
        if len(searched) < 2:
            return cls()
        chosen = searched[np.unique(np.linspace(0, len(searched) - 1, SAMPLE).astype(int))]
        names = release[QueryEncoder].encode([documents.label(int(one)) for one in chosen])
        starts = np.searchsorted(index.window_document, chosen)
        ends = np.minimum(np.searchsorted(index.window_document, chosen, "right"), starts + WINDOWS)
        cosines = np.stack(
            [(names @ index.rows[start:end].T).max(axis=1) for start, end in zip(starts, ends, strict=True)],
            1,
        )
        same = np.eye(len(chosen), dtype=bool)
        unrelated, own = float(np.median(cosines[~same])), float(np.median(cosines[same]))
        return cls(unrelated, own) if own - unrelated > LEAST_APART else cls()

    def moved(self, cosines: Reals) -> Reals:
        """Cosines to where 0 is what is unrelated and 1 a document and its own name, at most 1 and at least -1."""
        found: Reals = np.clip((cosines - self.unrelated) / (self.own - self.unrelated), -1, 1)
        return found

    def similarities(self, cosines: Reals) -> Reals:
        """The same on the scale (1 + cosine) / 2, 0..1."""
        return half_cosine(self.moved(cosines))

    def cosine(self, similarity: float) -> float:
        """The cosine of this encoder that stands for a similarity on the scale (1 + cosine) / 2."""
        return self.unrelated + (2 * similarity - 1) * (self.own - self.unrelated)


Matrix = npt.NDArray[np.float64]
EDGES = 20_000
"""Triples of one property and direction that are looked at: an entity may have more than any answer needs."""
TWO_STEPS = 2.0  # what the weight of two steps over a node that is no candidate is divided by (facts: method, Adjacency)
# How much a tie to a named entity counts by its relationship: one that the question's words ask for, another, and one that
# others specialise ("has met"); `ASIDE`: times, where the tied entity is of no category that is asked for; `OWN`: what the
# named entity's own document counts. No published method has these: benchmarks/results were measured with them.
CUED, OTHER, VAGUE, ASIDE = 1.0, 0.5, 0.25, 0.25
OWN = {Form.SPECIFIC: 1.0, Form.ENUMERATION: 0.5, Form.AGGREGATION: 0.5}
UNKNOWN = 0.5  # similarity of what has no vector: as of what has nothing to do with the question
POSSIBLE = 0.4  # what a date counts that only may lie in the period
HOPS, WALKED = 2, 2000  # of personalised PageRank: steps around what is named, and nodes at most
QUOTING = 2  # texts looked at for one that is asked about in its own words …
QUOTED_SHARE = 0.75  # … of which it has this share; small words that no text has do not count
LITTLE = frozenset({"E41", "E33_E41", "E33", "E34", "PC67"})
"""Classes of names, texts and inscriptions, which say little by themselves. Source: the published CRM-RAG."""
# What is added to a relevance in the coherent subset. Source: the published CRM-RAG.
TYPE_MODIFIERS = {
    "E22": 0.05, "E24": 0.05, "E39": 0.05, "E21": 0.05, "E74": 0.05, "E7": 0.03, "E5": 0.03, "E53": 0.03, "E18": 0.03,
    "E31": -0.20, "E41": -0.25, "PC67": -0.25, "E33": -0.35, "E34": -0.40,
}  # fmt: skip
CATEGORY_BONUS = 0.1  # for a target category
OVERSIZED_TRIPLES, OVERSIZED_PENALTY = 2000, -0.15


def edges_of(graph: Adjacency, nodes: Ints, weight: Callable[[str], float]) -> tuple[Ints, Ints, Matrix]:
    """All edges from ``nodes``, in both directions: (row in ``nodes``, node at the other end, weight of the property).

    At most ``EDGES`` of one property and direction are given.
    """
    rows, others, weights = [np.empty(0, np.int64)], [np.empty(0, np.int32)], [np.empty(0)]
    for prop, code in enumerate(graph.codes):
        for direction in (graph.forward, graph.backward):
            row, other = direction.expand(prop, nodes)
            rows.append(row[:EDGES])
            others.append(other[:EDGES])
            weights.append(np.full(len(row[:EDGES]), weight(code)))
    return np.concatenate(rows), np.concatenate(others), np.concatenate(weights)


def connect(nodes: Ints, rows: npt.NDArray[np.integer], others: Ints, weights: Matrix) -> Matrix:
    """Symmetric matrix [n, n] of how strongly the candidates' ``nodes`` (distinct) are joined; the diagonal is 0.

    One step: the largest weight of the edges between two; where none joins them, two steps over a node that is no
    candidate: ``w_a * w_b / TWO_STEPS``, the largest over such nodes (facts: method, Query, Adjacency).
    """
    n = len(nodes)
    order = np.argsort(nodes)
    at, inside = found_in(nodes[order], others)
    direct = np.zeros((n, n))
    np.maximum.at(direct, (rows[inside], order[at[inside]]), weights[inside])
    direct = np.maximum(direct, direct.T)
    virtual = _over_others(n, rows[~inside], others[~inside], weights[~inside]) / TWO_STEPS
    direct = np.where(direct > 0, direct, virtual)
    np.fill_diagonal(direct, 0.0)
    return direct


def _over_others(n: int, rows: npt.NDArray[np.integer], others: Ints, weights: Matrix) -> Matrix:
    """Largest product of two weights over a shared node, [n, n]."""
    found = np.zeros((n, n))
    ends = np.unique(others.astype(np.int64) * n + rows) // max(1, n)
    middle, rows_beside = np.unique(ends, return_counts=True)
    middle = middle[rows_beside > 1]  # few of all that hubs lead to
    joins = np.isin(others, middle)
    reach = np.zeros((n, len(middle)))
    np.maximum.at(reach, (rows[joins], np.searchsorted(middle, others[joins])), weights[joins])
    for row in range(n):
        used = np.flatnonzero(reach[row])
        if len(used):
            found[row] = (reach[:, used] * reach[row, used]).max(axis=1)
    return found


def normalise(joined: Matrix) -> Matrix:
    """``D^-1/2 (A + I) D^-1/2`` with D the row sums of A + I: self loops, then symmetric normalisation (facts: method)."""
    looped = joined + np.eye(len(joined))
    root = 1 / np.sqrt(looped.sum(axis=1))
    scaled: Matrix = looped * root[:, None] * root[None, :]
    return scaled


def scaled(relevance: Reals) -> Reals:
    """Relevances moved to 0..1 (min-max); all 1 where they are equal."""
    if len(relevance) == 0:
        return relevance
    low, high = float(relevance.min()), float(relevance.max())
    return (relevance - low) / (high - low) if high > low else np.ones(len(relevance))


def select(
    relevance: Reals,
    joined: Reals,
    vectors: npt.NDArray[np.float32],
    modifiers: Reals,
    k: int,
    config: Subgraph,
) -> list[int]:
    """Rows of the ``k`` chosen candidates, in the order in which they are chosen.

    Greedy: each time the row with the highest ``relevance * r + connectivity * c - redundancy * s + modifier``, where r is
    its relevance scaled to 0..1 [n], c the mean of its entries in ``joined`` [n, n] with the chosen, s its largest cosine
    with a chosen one (``vectors`` float32 [n, dimension], unit rows); ties go to the earlier row. The first is the one of
    highest relevance and modifier (facts: method, Query, Coherent subgraph). A row whose vector is 0 has none: its s is the
    mean of those that are free and have one.
    """
    n = len(relevance)
    own = config.relevance * scaled(relevance) + modifiers
    together, nearest = np.zeros(n), np.zeros(n)
    free, known = np.ones(n, bool), vectors.any(axis=1)
    chosen: list[int] = []
    while len(chosen) < min(k, n):
        value = own.copy()
        if chosen:
            value += config.connectivity * together / len(chosen) - config.redundancy * nearest
        value[~free] = -np.inf
        best = int(np.argmax(value))
        chosen.append(best)
        free[best] = False
        together += joined[:, best]
        cosine = (vectors @ vectors[best]).astype(np.float64)
        nearest = cosine if len(chosen) == 1 else np.maximum(nearest, cosine)
        if not known.all() and (others := free & known).any():
            nearest[~known] = nearest[others].mean()
    return chosen


Shares = npt.NDArray[np.float32]
EVERY = sum(Category)


@dataclass(frozen=True)
class Reach:
    """Fundamental Relationships walked from their far end over one graph.

    ``limit``: nodes at most that a walk starts from.
    """

    adjacency: Adjacency
    ontology: Ontology
    catalogue: Catalogue
    limit: int = fr.BLOCK

    @cached_property
    def _tries(self) -> dict[Category, Branch]:
        """The paths that occur in this graph, reversed, by the range of their relationship; shared beginnings are joined."""
        tries: dict[Category, Branch] = {}
        for number, relationship in enumerate(self.catalogue):
            for index, path in enumerate(relationship.paths):
                if legs := legs_of(self.adjacency, self.ontology, path.steps):
                    add_way(tries.setdefault(relationship.range, Branch()), turned(legs), (number, index))
        return tries

    def to(
        self,
        nodes: Sequence[int],
        targets: int,
        weight: Mapping[str, float],
        other: float,
        aside: float = 0.0,
    ) -> Shares:
        """How strongly each entity is tied to one of ``nodes``, float32 [n]: the weight of the best relationship.

        Relationships that start from a category of ``targets`` (a mask; 0 for any) count with ``weight`` of their label, or
        ``other``; direct triples count as ``other``; entities of other categories ``aside`` times as much. Ends and
        suspected merges are admitted as the engine admits them.
        """
        tied = np.zeros(len(self.adjacency.category), np.float32)
        start = np.unique(np.asarray(nodes, np.int32))[: self.limit]
        categories = self.adjacency.categories[start]
        shares = [
            (1.0 if int(one.domain) & (targets or EVERY) else aside) * weight.get(one.label, other)
            for one in self.catalogue
        ]
        for range_, trie in self._tries.items():
            ends = start[(categories == 0) | ((categories & int(range_)) != 0)]
            begun = fr.start(np.zeros(len(ends), np.int64), ends)  # one source for all ends
            for branch, piece in fr.ends_of(self.adjacency, trie, begun) if len(ends) else ():
                nodes_there = fr.nodes_of(piece)
                for number, index in branch.ends:
                    relationship = self.catalogue[number]
                    fits = self.adjacency.category[nodes_there] == int(relationship.domain)
                    if len(relationship.paths[index].steps) > 1:
                        fits &= (self.adjacency.flags[nodes_there] & FLAG_SUSPECT) == 0
                    found = nodes_there[fits]
                    tied[found] = np.maximum(tied[found], shares[number])
        direct = self._beside(start)
        fits = (self.adjacency.categories[direct] & (targets or EVERY)) != 0
        tied[direct] = np.maximum(tied[direct], np.where(fits | (targets == 0), other, aside * other))
        tied[start] = 0
        return tied

    def _beside(self, nodes: Ints) -> Ints:
        """Nodes one triple away from ``nodes``."""
        rows = (
            direction.expand(prop, nodes)[1]
            for prop in range(len(self.adjacency.codes))
            for direction in (self.adjacency.forward, self.adjacency.backward)
        )
        return np.unique(np.concatenate([np.empty(0, np.int32), *rows]))


def by_document(shares: Shares, entity_document: Ints, documents: int) -> Shares:
    """Shares of entities, float32 [n], as those of the documents that hold them, float32 [documents]: the largest."""
    found = np.zeros(documents, np.float32)
    tied = np.flatnonzero(shares != 0)  # of truth values: six times as fast
    document = entity_document[tied]
    held = document >= 0
    np.maximum.at(found, document[held], shares[tied[held]])
    return found


def coverage(groups: Sequence[tuple[float, Shares]], documents: int) -> Shares:
    """How much of what a question names each document is tied to, 0..1, float32 [documents].

    ``groups``: for each thing that is named its weight and how strongly each document is tied to it; the weighted mean.
    """
    total = sum(weight for weight, _ in groups)
    found = np.zeros(documents, np.float32)
    for weight, shares in groups:
        found += np.float32(weight / total) * shares
    return found


def neighbourhood(
    graph: Adjacency, seeds: Ints, weight: Callable[[str], float], hops: int, limit: int
) -> tuple[Ints, sparse.csr_array]:
    """Nodes within ``hops`` steps of ``seeds``, ascending, and the symmetric matrix of the edges between them.

    Nodes are taken step by step, those with most edges to what is there first, until there are ``limit``; parallel edges
    count with the heaviest.
    """
    from scipy import sparse

    nodes = np.unique(seeds).astype(np.int32)
    frontier = nodes
    for _ in range(hops):
        _, others, _ = edges_of(graph, frontier, weight)
        found, times = np.unique(others, return_counts=True)
        new = ~np.isin(found, nodes)
        found, times = found[new], times[new]
        frontier = np.sort(found[np.lexsort((found, -times))][: max(0, limit - len(nodes))])
        nodes = np.union1d(nodes, frontier).astype(np.int32)
        if len(frontier) == 0:
            break
    rows, others, weights = edges_of(graph, nodes, weight)
    column, inside = found_in(nodes, others)
    inside &= column != rows
    key = np.minimum(rows, column)[inside] * len(nodes) + np.maximum(rows, column)[inside]
    pairs, first = np.unique(key, return_inverse=True)
    heaviest = np.zeros(len(pairs))
    np.maximum.at(heaviest, first, weights[inside])
    a, b = np.divmod(pairs, max(1, len(nodes)))
    shape = (len(nodes), len(nodes))
    upper = sparse.coo_array((heaviest, (a, b)), shape=shape)
    return nodes, sparse.csr_array(upper + upper.T)


def personalised_pagerank(
    edges: sparse.csr_array, restart: Reals, damping: float, tolerance: float, iterations: int
) -> Reals:
    """Share of each node, float64 [n], sum 1: a walk along ``edges`` [n, n] that starts anew by ``restart`` [n], sum 1.

    A node without edges sends its share back to ``restart``. Page et al. 1999; Haveliwala 2002. Power iteration until the
    L1 change falls below ``n * tolerance``, as networkx does.
    """
    from scipy import sparse

    n = len(restart)
    out = np.asarray(edges.sum(axis=1)).ravel()
    stuck = out == 0
    step = sparse.diags_array(np.divide(1.0, out, out=np.zeros(n), where=~stuck)) @ edges
    into = sparse.csr_array(step.T)  # turned once, not in each round
    rank = restart.copy()
    for _ in range(iterations):
        moved = damping * (into @ rank + rank[stuck].sum() * restart) + (1 - damping) * restart
        if np.abs(moved - rank).sum() < n * tolerance:
            return np.asarray(moved)
        rank = moved
    return np.asarray(rank)


Mask = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class ReleaseChannels:
    """What the channels search: an open release; documents are numbered as in its documents artifact."""

    release: Release

    @classmethod
    def from_release(cls, release: Release) -> ReleaseChannels:
        return cls(release)

    @property
    def documents(self) -> int:
        return self.release[Documents].count

    def dense(self, vector: Floats, k: int, mask: Mask | None = None) -> Hits:
        """The ``k`` documents (of ``mask``) nearest to ``vector``, by themselves or by a passage that leads to them, with
        their cosines, of those that have vectors; to a vector of zeros, none is."""
        if not vector.any() or not self.release.manifest.has("faiss_index"):
            return NOTHING
        search = self.release[DenseIndex].search
        return self._led_to(lambda size, inside: search(vector, size, inside), k, mask)

    def sparse(self, text: str, k: int, mask: Mask | None = None) -> Hits:
        """The ``k`` documents (of ``mask``) with the highest BM25 score for ``text``, of themselves or of a passage that
        leads to them, with these scores."""
        search = self.release[SparseIndex].search
        return self._led_to(lambda size, inside: search(text, size, inside), k, mask)

    def fused(
        self, rankings: Sequence[Sequence[int]], nearest: Sequence[int], size: int
    ) -> list[tuple[int, float]]:
        """Rankings of at most ``size`` documents fused with that of those ``nearest`` to the question, which knows only the
        documents that have vectors."""
        return fuse(rankings, nearest, self.release.manifest.share, size)

    def _led_to(self, search: Callable[[int, Mask | None], Hits], k: int, mask: Mask | None) -> Hits:
        """The first ``k`` documents to which the texts lead that a search finds, each at its first text."""
        home = self.release[Documents].home
        if len(home) == self.documents:
            return search(k, mask)
        size, inside = k, None if mask is None else mask[home]
        while True:
            found = search(size, inside)
            documents = home[found.documents]
            first = np.sort(np.unique(documents, return_index=True)[1])[:k]
            if len(first) == k or len(found) < size:
                return Hits(documents[first], found.scores[first])
            size *= 2

    def passages(
        self, query: Query, documents: Sequence[int], k: int, least: float | None = None
    ) -> dict[int, tuple[int, ...]]:
        """Of the passages that lead to some documents the ``k`` best for a query, by words and vectors: their numbers by
        document, best first. ``least``: cosine, calibrated, from which one that has none of its words counts."""
        store = self.release[Documents]
        inside = np.isin(store.home, np.asarray(documents, np.int32))
        inside[: self.documents] = False
        if not inside.any():
            return {}
        rankings, nearest = [], list[int]()
        if self.release.manifest.has("bm25_index"):
            rankings.append(self.release[SparseIndex].search(query.text, k, inside).ranking)
        if query.vector.any() and self.release.manifest.has("faiss_index"):
            near = self.release[DenseIndex].search(query.vector, k, inside)
            if least is not None:
                near = near.at_least(self.calibrated((1 + least) / 2))
            nearest = near.ranking
        found: dict[int, list[int]] = {}
        for number, _ in self.fused(rankings, nearest, k)[:k]:
            found.setdefault(int(store.home[number]), []).append(number - self.documents)
        return {document: tuple(numbers) for document, numbers in found.items()}

    def quoted(self, text: str) -> list[int]:
        """Documents with a passage that holds nearly all words of a text, of the ``QUOTING`` texts with the highest score."""
        store, index = self.release[Documents], self.release[SparseIndex]
        if len(store.home) == self.documents:
            return []
        words = {word for word in tokenize(text) if index.terms(word)}
        found = [number for number in index.search(text, QUOTING).ranking if number >= self.documents]
        telling = [
            number
            for number in found
            if len(words & set(tokenize(store.searched(number)))) >= QUOTED_SHARE * len(words)
        ]
        return list(dict.fromkeys(store.home[telling].tolist()))

    def of_categories(self, categories: int) -> Mask:
        """Documents whose entity has one of ``categories`` (a mask), bool [documents]."""
        chosen: Mask = (self.release[Documents].categories_of & categories) != 0
        return chosen

    def central(self, categories: int, k: int) -> list[int]:
        """Documents of the entities of highest PageRank in each of ``categories``, best first, at most ``k``."""
        aggregation, graph = self.release[Aggregation], self.release[Graph]
        top = [one for c in Category if c & categories for one in aggregation.top(str(c.name), k)]
        nodes = [graph.node(one.iri) for one in sorted(top, key=lambda one: (-one.score, one.iri))]
        return self.holding(node for node in nodes if node is not None)[:k]

    def holding(self, entities: Iterable[int]) -> list[int]:
        """The documents that hold ``entities``, each once, in their order."""
        held = self.release[Documents].entity_document
        return list(dict.fromkeys(int(held[node]) for node in entities if held[node] >= 0))

    @cached_property
    def reach(self) -> Reach:
        release = self.release
        return Reach(release[Graph].adjacency, release.ontology, release[World].catalogue)

    def tied(self, mention: Mention, form: Form, targets: int, cues: frozenset[str]) -> Shares:
        """How strongly each document is tied to what ``mention`` names, float32 [documents]."""
        found = self.ties(mention, form, targets, cues)
        return by_document(found, self.release[Documents].entity_document, self.documents)

    def ties(self, mention: Mention, form: Form, targets: int, cues: frozenset[str]) -> Shares:
        """How strongly each node is tied to what ``mention`` names, by relationships (``Reach.to``) or as its own.

        float32 [n].
        """
        weight = dict.fromkeys(self.vague, VAGUE) | dict.fromkeys(cues, CUED)
        found = self.reach.to([one.entity for one in mention.entities], targets, weight, OTHER, ASIDE)
        for one in mention.entities:
            own = OWN[form] * one.score / mention.entities[0].score
            found[one.entity] = max(float(found[one.entity]), own)
        return found

    @cached_property
    def vague(self) -> frozenset[str]:
        """Labels of relationships that others specialise, such as "has met"."""
        catalogue = self.release[World].catalogue
        general = {one.specialises for one in catalogue if one.specialises}
        return frozenset(one.label for one in catalogue if one.id in general)

    def dated(self, period: Interval, targets: int, cues: frozenset[str]) -> Shares:
        """How surely each document's entity is dated within ``period``, float32 [documents]."""
        found = self.dates(period, targets, cues)
        return by_document(found, self.release[Documents].entity_document, self.documents)

    def dates(self, period: Interval, targets: int, cues: frozenset[str]) -> Shares:
        """How surely each node is dated within ``period``, float32 [n].

        By the relationships to Time that ``cues`` name, else by those that date a thing of the target categories as a rule.
        """
        domains = [c for c in Category if c & targets] or list(Category)
        asked = [key for key, (label, domain) in self._times.items() if label in cues and domain in domains]
        keys = [key for c in domains for key in DATING[c]]
        sure, maybe = self.release[DateIndex].within(asked or keys, period)
        found = np.zeros(self.release[Graph].nodes, np.float32)
        found[maybe], found[sure] = POSSIBLE, 1.0
        if targets:
            dated = np.concatenate([sure, maybe])
            found[dated[(self.release[Graph].adjacency.categories[dated] & targets) == 0]] = 0
        return found

    @cached_property
    def _times(self) -> dict[str, tuple[str, Category]]:
        """Label and domain of the relationships of the date index, by id."""
        known = Catalogue.load(self.release.method, DATED_BY)
        return {one.id: (one.label, one.domain) for one in known if one.range == Category.Time}

    def walked(self, entities: Sequence[int], k: int, mask: Mask | None = None) -> Hits:
        """The ``k`` documents (of ``mask``) of most personalised PageRank from ``entities``, with their shares of it."""
        method = self.release.method
        seeds = np.unique(np.asarray(entities, np.int32))
        nodes, edges = neighbourhood(self.release[Graph].adjacency, seeds, method.weights.of, HOPS, WALKED)
        restart = np.isin(nodes, seeds) / len(seeds)
        rank = personalised_pagerank(
            edges, restart, method.pagerank.damping, method.pagerank.tolerance, method.pagerank.iterations
        )
        shares = np.zeros(self.documents)
        held = self.release[Documents].entity_document[nodes]
        np.add.at(shares, held[held >= 0], rank[held >= 0])
        found = np.flatnonzero(shares if mask is None else shares * mask)
        return Hits.of(best(found, shares[found], k))

    def calibrated(self, similarity: float) -> float:
        """The cosine of the release's encoder that stands for a similarity on the scale (1 + cosine) / 2."""
        return self.release[Calibration].cosine(similarity)

    def similarities(self, vector: Floats, documents: Ints) -> Reals:
        """How near documents are to a question, calibrated, float64 [n], 0..1; NaN where it or a document has no vector."""
        cosines = self.release[DenseIndex].cosines(vector, documents).astype(np.float64)
        return self.release[Calibration].similarities(
            cosines if vector.any() else np.full_like(cosines, np.nan)
        )

    def reached(self, vector: Floats, documents: Sequence[int]) -> tuple[Way, ...]:
        """The ways of the entity graph from documents to others, the nearer these the farther, best first."""
        near = self.similarities(vector, np.asarray(documents, np.int32)).tolist()
        seeds = [
            (one, None if np.isnan(value) else value) for one, value in zip(documents, near, strict=True)
        ]
        nearness: Nearness = lambda ends: np.nan_to_num(self.similarities(vector, ends), nan=UNKNOWN)  # noqa: E731
        return reach(self.release[EntityGraph], seeds, nearness)

    def themed(self, documents: Sequence[int]) -> list[int]:
        """The most central documents of the finest communities that documents are in."""
        return of_themes(self.release[Communities], documents)

    def check_files(self, error: Exception) -> None:
        """Raise ReleaseError where an error comes of files that are damaged."""
        with suppress(type(error)), self.release.reading(()):
            raise error

    def joined(self, documents: Ints) -> Matrix:
        """How the documents' own entities are joined, float64 [n, n]; see ``adjacency.connect``.

        Not by way of suspected merges of identities, which would join everything.
        """
        nodes = self.release[Documents].entities[documents]
        graph = self.release[Graph].adjacency
        rows, others, weights = edges_of(graph, nodes, self.release.method.weights.of)
        sound = ((graph.flags[others] & FLAG_SUSPECT) == 0) | np.isin(others, nodes)
        return connect(nodes, rows[sound], others[sound], weights[sound])

    def vectors(self, documents: Ints) -> Floats:
        """Mean of each document's window vectors, scaled to length 1, float32 [n, dimension]; 0 for one that has none."""
        if not self.release.manifest.has("faiss_index"):
            return np.zeros((len(documents), 1), np.float32)
        return self.release[DenseIndex].vectors(documents)

    def modifiers(self, documents: Ints, targets: int) -> npt.NDArray[np.float64]:
        """What is added to each document's relevance for its classes, its categories and its size, float64 [n]."""
        graph, triples = self.release[Graph], self.release[TriplesIndex]
        by_class = np.array([TYPE_MODIFIERS.get(code, 0.0) for code in graph.class_codes])
        added = np.zeros(len(documents))
        for row, document in enumerate(documents):
            node = self.release[Documents].entity(int(document))
            own = by_class[graph.types(node)]
            added[row] = max(own.min(initial=0.0), -1.0) + own.max(initial=0.0)
            added[row] += OVERSIZED_PENALTY * (triples.degree(node) > OVERSIZED_TRIPLES)
        return added + CATEGORY_BONUS * self.of_categories(targets)[documents]

    @cached_property
    def little(self) -> Mask:
        """Documents whose entity has none but non-informative classes, bool [documents]."""
        graph = self.release[Graph]
        plain = np.array([code in LITTLE for code in graph.class_codes], bool)
        ptr, val = graph.type_rows
        start, stop = ptr[self.release[Documents].entities], ptr[self.release[Documents].entities + 1]
        counted = np.concatenate([[0], np.cumsum(plain[val])])
        only: Mask = (stop > start) & (counted[stop] - counted[start] == stop - start)
        return only
