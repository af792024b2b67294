"""What plans are executed on: a graph with its ontology, relationships and categories, and what all plans share of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from crmrag_query.artifacts.mapped import open_array
from crmrag_query.config.plans import PlansConfig
from crmrag_query.config.relations import Relation
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_SUSPECT, Adjacency, Ints, Longs
from crmrag_query.graph.extents import OPEN_BEGIN, OPEN_END, extents
from crmrag_query.graph.graph import Graph
from crmrag_query.graph.schema import open_table
from crmrag_query.ontology.categories import CategoryMap
from crmrag_query.ontology.tables import Ontology
from crmrag_query.relationships.catalogue import Catalogue

if TYPE_CHECKING:
    from crmrag_query.artifacts.release import Release
    from crmrag_query.plans.records import Way
    from crmrag_query.plans.routes import Far, Route
    from crmrag_query.plans.texts import Searched

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class World:
    """One data set as plans see it; arrays over nodes have n elements."""

    graph: Graph
    ontology: Ontology
    catalogue: Catalogue
    categories: CategoryMap
    relations: Mapping[str, Relation] = field(default_factory=dict, repr=False, compare=False)
    config: PlansConfig = field(default_factory=PlansConfig, repr=False)
    routes: dict[tuple[Way, bool], tuple[Route, ...]] = field(default_factory=dict, repr=False, compare=False)
    """Links of ways as routes over the graph, once they were asked for; see ``plans.routes``."""
    fitting: dict[Far, Mask] = field(default_factory=dict, repr=False, compare=False)
    """Which nodes may stand at the far end of relations."""

    @classmethod
    def of(cls, release: Release) -> World:
        categories = CategoryMap(release.method.categories, release.ontology)
        method = release.method
        return cls(
            release.graph, release.ontology, release.catalogue, categories, method.relations, method.plans
        )

    @property
    def size(self) -> int:
        return self.graph.nodes

    @property
    def adjacency(self) -> Adjacency:
        return self.graph.adjacency

    def mask(self, nodes: Ints | Longs) -> Mask:
        """The nodes as a mask over all."""
        found = np.zeros(self.size, bool)
        found[nodes] = True
        return found

    @cached_property
    def plain(self) -> Adjacency:
        """The graph without suspected merges: what a path of properties is walked on, as SPARQL walks it."""
        return replace(self.graph.adjacency, flags=np.zeros(self.size, np.uint8))

    @cached_property
    def entities(self) -> Mask:
        return np.asarray((self.graph.flags & FLAG_ENTITY) != 0)

    @cached_property
    def suspects(self) -> Ints:
        """Suspected merges of identities, ascending."""
        return np.flatnonzero((self.graph.flags & FLAG_SUSPECT) != 0).astype(np.int32)

    @cached_property
    def extents(self) -> tuple[Ints, Ints]:
        """Begin and end of every node's own dates; see ``graph.extents``."""
        return extents(self.graph)

    @cached_property
    def dated(self) -> Mask:
        begin, end = self.extents
        return np.asarray((begin != OPEN_BEGIN) | (end != OPEN_END))

    # classes

    @cached_property
    def class_numbers(self) -> dict[str, int]:
        """Class IRI -> its number."""
        return {self.graph.class_iri(number): number for number in range(len(self.graph.class_codes))}

    @cached_property
    def _nodes_by_class(self) -> tuple[Longs, Ints]:
        """Class -> range of nodes, and the nodes, ascending within a class."""
        ptr, classes = self.graph.type_rows
        node = np.repeat(np.arange(self.size, dtype=np.int32), np.diff(ptr))
        order = np.argsort(classes, kind="stable")
        starts = np.searchsorted(classes[order], np.arange(len(self.class_numbers) + 1))
        return starts.astype(np.int64), node[order]

    def of_classes(self, numbers: Iterable[int]) -> Mask:
        """Nodes that have any of these classes."""
        start, node = self._nodes_by_class
        found = np.zeros(self.size, bool)
        for number in numbers:
            found[node[start[number] : start[number + 1]]] = True
        return found

    # properties and literals

    @cached_property
    def property_numbers(self) -> dict[str, int]:
        """Property IRI -> its number."""
        return {self.graph.property_iri(number): number for number in range(len(self.graph.property_codes))}

    @cached_property
    def literal_property(self) -> Ints:
        """Property number of each row of the literals, sorted by subject."""
        return cast(Ints, self.graph.literal_table.column("property").to_numpy())

    @cached_property
    def with_literals(self) -> frozenset[int]:
        """Numbers of the properties that have a literal somewhere."""
        return frozenset(distinct(self.literal_property).tolist())

    @cached_property
    def type_names(self) -> dict[str, list[int]]:
        """Nodes of the data's types by IRI and by name; see ``plans.classes``."""
        from crmrag_query.plans.classes import type_names

        return type_names(self)

    @cached_property
    def identity(self) -> Ints:
        """For each node the entity that stands for all that are the same; see ``plans.identity``."""
        from crmrag_query.plans.identity import representatives

        return representatives(self)

    @cached_property
    def names(self) -> tuple[Longs, pa.LargeStringArray]:
        """Node -> range of its names, and the names."""
        ptr = cast(Longs, np.asarray(open_array(self.graph.folder, "label_ptr")))
        return ptr, open_table(self.graph.folder, "labels").column("text")

    @cached_property
    def searched_names(self) -> Searched:
        """The names, folded in memory: two seconds for two million of them, once."""
        from crmrag_query.plans.texts import Searched

        return Searched.of(self.names[1])

    @cached_property
    def searched_literals(self) -> Searched:
        """The texts of all literals, folded in memory."""
        from crmrag_query.plans.texts import Searched

        return Searched.of(self.graph.literal_table.column("value"))

    def nodes_of(self, iris: Iterable[str]) -> Ints:
        """Nodes of those IRIs that the data has, ascending."""
        found = (self.graph.node(iri) for iri in dict.fromkeys(iris))
        return distinct(np.array([node for node in found if node is not None], np.int32))


def ranges(start: Longs, count: Longs) -> Longs:
    """The numbers start[i] … start[i] + count[i] - 1 of all i, one after the other."""
    first = np.cumsum(count) - count
    total = int(count.sum())
    numbers: Longs = np.arange(total) + np.repeat(start - first, count)
    return numbers


Whole = TypeVar("Whole", Ints, Longs)


def distinct(keys: Whole) -> Whole:
    """The keys ascending, each once. (``np.unique`` hashes since NumPy 2.3, which is slow for millions.)"""
    ordered = np.sort(keys)
    first = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]
