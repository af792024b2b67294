"""Building the entity graph: documents that relationships or direct statements join, and how strongly.

What is joined to nearly everything says little of what belongs together, so relationships that claim little ("has met") and
whatever stands for a kind or a time make no edges, and edges of what has many count less. On the Walters' data the
communities are led by artists that way; with types among the nodes they are led by "Painting & Drawing" and "wash".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from crmrag_assets.indexes.aggregation import MatchArrays
from crmrag_query.config.loading import WeightsPart
from crmrag_query.documents.documents import Documents
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.graph.arrays import Adjacency, Ints
from crmrag_query.ontology.load import Category
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.relationships.engine import Path as Way

TOGETHER = 4_000_000  # edges that are added up at once
UNIT = 1000  # weights are added up as whole thousandths: exact, whatever the order and the chunks
ASIDE = (int(Category.Concept), int(Category.Time))
"""Categories of what makes no edges: a type or a century is shared by things that have nothing else to do with each other."""
Edges = tuple[Ints, Ints, npt.NDArray[np.int32]]
"""From which document, to which, and the weight in thousandths; [edges] each."""


def homes(documents: Documents, satellite: npt.NDArray[np.uint8]) -> Ints:
    """The document that each node's edges are drawn to, int32 [n]; -1 for none.

    Types, times, names and dimensions (``satellite`` [n], 0 for what is none) draw none, nor what is a Concept or Time by
    category; and none are drawn to documents about such: not by the thin ones either that were chained to them.
    """
    aside = np.isin(documents.graph.category_of_node, ASIDE) | (satellite > 0)
    found = documents.entity_document.copy()
    found[aside | aside[documents.entities[found]]] = -1
    return found


def general(catalogue: Catalogue) -> npt.NDArray[np.bool_]:
    """Which relationships others specialise, by their labels, bool [relationships]: "has met", "from"."""
    above = {one.specialises for one in catalogue if one.specialises}
    labels = {one.label for one in catalogue if one.id in above}
    return np.array([one.label in labels for one in catalogue], bool)


def strength(way: Way, weights: WeightsPart) -> float:
    """How strongly a path binds its ends: as its steps do, one after the other, but for those that may be taken no time."""
    return float(np.prod([weights.of(step.code) for step in way.steps if not step.recursive]))


def stated(adjacency: Adjacency, home: Ints, weights: WeightsPart) -> Iterator[Edges]:
    """Edges of direct statements, property by property."""
    for number, code in enumerate(adjacency.codes):
        subject, object_ = adjacency.forward.pairs(number)
        yield _between(home[subject], home[object_], np.full(len(subject), round(UNIT * weights.of(code))))


def related(
    matches: Iterable[MatchArrays], home: Ints, catalogue: Catalogue, weights: WeightsPart
) -> Iterator[Edges]:
    """Edges of relationships, chunk by chunk; each match weighs as the path does by which it was found."""
    most = max((len(one.paths) for one in catalogue), default=0)
    bind = np.zeros((len(catalogue), most + 1), np.int32)
    for number, (one, says_little) in enumerate(zip(catalogue, general(catalogue), strict=True)):
        if not says_little:
            bind[number, : len(one.paths)] = [round(UNIT * strength(way, weights)) for way in one.paths]
    for source, relationship, target, path in matches:
        yield _between(home[source], home[target], bind[relationship, path])


def _between(source: Ints, target: Ints, weight: npt.NDArray[np.integer]) -> Edges:
    """Those that join two documents."""
    kept = (source != target) & (source >= 0) & (target >= 0) & (weight > 0)
    return source[kept], target[kept], weight[kept].astype(np.int32)


def joined(edges: Iterable[Edges], documents: int) -> EntityGraph:
    """The graph of all edges, whichever way they lead; two documents are joined by the sum of what joins them, divided by the
    root of the product of how many neighbours they have."""
    shape = (documents, documents)
    total = sparse.csr_array(shape, dtype=np.int32)
    waiting: list[Edges] = []
    for some in (*edges, None):
        waiting += [some] if some is not None else []
        # Added up as seldom as memory allows: each time goes through all that there is.
        if waiting and (some is None or sum(len(one[0]) for one in waiting) > max(TOGETHER, total.nnz)):
            source, target, weight = (np.concatenate(column) for column in zip(*waiting, strict=True))
            low, high = np.minimum(source, target), np.maximum(source, target)
            total = total + sparse.csr_array(sparse.coo_array((weight, (low, high)), shape=shape))
            waiting = []
    both = sparse.csr_array(total + total.T)
    both.sort_indices()
    neighbours = np.diff(both.indptr)
    root = np.sqrt(neighbours.astype(np.float64))
    damped = both.data / UNIT / np.repeat(root, neighbours) / root[both.indices]
    return EntityGraph(both.indptr.astype(np.int64), both.indices.astype(np.int32), damped.astype(np.float32))
