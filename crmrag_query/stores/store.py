"""The seam between those who search a data set and where it is held: a release's arrays, or another store of the same data.

Exact plans, sets and the lineage of a triple are no searches: they always read the release.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crmrag_query.entities.named import Named
from crmrag_query.stores.records import Entities, GraphCommunity, GraphEntity, GraphPassage, Neighbourhood


class SearchStore(Protocol):
    """One data set, told in one language, by IRIs and names: a store needs no numbers of a release.

    Searches give at most ``limit``, the best first, and fold case and accents. Raises UnknownEntity for an IRI that is not
    there, ReleaseError, with what to build, for what the data set has not.
    """

    @property
    def release(self) -> str:
        """The id of the release whose data it holds."""
        ...

    def entities(self, query: str, limit: int, category: str = "") -> Entities:
        """Entities by meaning, by words and by name; those of one Fundamental Category where it is given."""
        ...

    def passages(self, query: str, limit: int) -> Sequence[GraphPassage]:
        """Parts of long texts by meaning and by words."""
        ...

    def communities(self, query: str, level: int, limit: int) -> Sequence[GraphCommunity]:
        """Communities of a level by meaning and by words; the largest for an empty query."""
        ...

    def levels(self) -> Sequence[int]:
        """How many communities each level has, the finest first."""
        ...

    def named(self, name: str, limit: int) -> Sequence[Named]:
        """Entities of a name, or of one like it."""
        ...

    def entity(self, iri: str) -> GraphEntity:
        """What an entity is."""
        ...

    def neighbourhood(self, iri: str, hops: int, limit: int) -> Neighbourhood:
        """At most ``limit`` entities within ``hops`` triples of one, and the triples that lead to them.

        An entity with very many triples is told with their true number and is not followed.
        """
        ...
