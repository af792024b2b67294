"""The seam between those who search a data set and where it is held, a release's arrays or another store of the same data;
what a search store finds, and what the three tools over it give: the same records in Python, over HTTP and in MCP.

All texts in them come from the data: whatever they say, they are no instructions.
Exact plans, sets and the lineage of a triple are no searches: they always read the release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeVar

from crmrag_query.shown import Named, Shown, SourceTriple, TableRow
from crmrag_query.text import amount


@dataclass(frozen=True, slots=True)
class GraphEntity:
    """An entity: its category, what it is in words (``types``), and the beginning of what its document says of it.

    ``document``: the IRI of the entity whose document tells of it, "" for none. ``similarity``: the cosine of query and
    document, None where it was not found by meaning. ``total``: how many triples join it with others; ``relations``: the
    first of them, where they are given.
    """

    iri: str
    label: str
    category: str
    types: tuple[str, ...] = ()
    description: str = ""
    document: str = ""
    similarity: float | None = None
    total: int = 0
    relations: tuple[SourceTriple, ...] = ()


@dataclass(frozen=True, slots=True)
class Entities:
    """Entities that a search found, best first; ``note``: why nothing was found by meaning, "" where it could be."""

    found: tuple[GraphEntity, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class GraphPassage:
    """A part of a long text: the entity that it describes, what kind of text it is, and where it begins and ends in it."""

    entity: Named
    label: str
    text: str
    start: int
    end: int
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class GraphCommunity:
    """What belongs together: ``id`` stays while its members do; ``level``: 0 is the finest; ``size``: all its members, of
    which ``members`` are the most central. ``model``: what wrote title and summary, "" for what was composed."""

    id: str
    level: int
    title: str
    summary: str
    size: int
    members: tuple[Named, ...] = ()
    similarity: float | None = None
    model: str = ""
    parent: str = ""


@dataclass(frozen=True, slots=True)
class GraphNeighbour:
    """An entity within some ``hops`` of another; ``total``: all triples that join it with others, of which ``shown`` are
    given. One with more than is given was not followed further."""

    iri: str
    label: str
    category: str
    hops: int
    total: int
    shown: int


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Entities around one, nearest first, and triples that lead to them; ``whole``: nothing within the hops is left out."""

    neighbours: tuple[GraphNeighbour, ...]
    relations: tuple[SourceTriple, ...]
    whole: bool


@dataclass(frozen=True, slots=True, repr=False)
class GraphFound(Shown):
    """Entities that a query finds, best first.

    ``note``: why they were found by words and names alone, "" where by meaning too.
    """

    query: str
    entities: tuple[GraphEntity, ...]
    note: str
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {
        "label": str, "category": str, "types": str, "similarity": float, "total": int, "iri": str, "description": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[GraphEntity]:
        return iter(self.entities)

    def head(self) -> str:
        return f"{amount(len(self.entities), 'entity', 'entities')} for {self.query!r} in {self.dataset}"

    def rows(self) -> Sequence[TableRow]:
        return [
            (one.label, one.category, ", ".join(one.types), one.similarity, one.total, one.iri, one.description)
            for one in self.entities
        ]  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class GraphContext(Shown):
    """An entity and what is within ``max_hops`` of it; its table is that of the triples.

    ``alike``: other entities of the name that was given. ``whole``: nothing is left out.
    """

    entity: GraphEntity
    neighbours: tuple[GraphNeighbour, ...]
    relations: tuple[SourceTriple, ...]
    max_hops: int
    whole: bool
    alike: tuple[Named, ...]
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {"subject": str, "property": str, "object": str, "s": str, "o": str}

    def head(self) -> str:
        return (
            f"{self.entity.label} ({self.entity.category}): {amount(len(self.neighbours), 'entity', 'entities')} within "
            f"{self.max_hops} hops{'' if self.whole else ', more are left out'}"
        )

    def rows(self) -> Sequence[TableRow]:
        return [(one.s_label, one.p_label, one.o_label, one.s, one.o) for one in self.relations]


@dataclass(frozen=True, slots=True, repr=False)
class GraphCommunities(Shown):
    """Communities of a level that a query finds, best first, or without one the largest.

    ``total``: how many the level has; ``levels``: how many levels there are.
    """

    query: str
    level: int
    communities: tuple[GraphCommunity, ...]
    total: int
    levels: int
    dataset: str
    release: str

    COLUMNS: ClassVar[dict[str, type]] = {
        "community": str, "title": str, "size": int, "similarity": float, "summary": str, "members": str,
    }  # fmt: skip

    def __iter__(self) -> Iterator[GraphCommunity]:
        return iter(self.communities)

    def head(self) -> str:
        return (
            f"{len(self.communities)} of {amount(self.total, 'community', 'communities')} on level {self.level} "
            f"of {self.levels} in {self.dataset}"
        )

    def rows(self) -> Sequence[TableRow]:
        return [
            (
                one.id, one.title, one.size, one.similarity, one.summary,
                ", ".join(member.label for member in one.members),
            )
            for one in self.communities
        ]  # fmt: skip


HUB = 500  # triples from which an entity is told with their number and not followed; the one asked about always is
OWN, FURTHER = 60, 12  # triples that are told of the entity asked about, and of each other that is followed
TOLD = 2  # triples at most, times as many as entities that are asked for

T = TypeVar("T")
Beside = tuple[int, Iterable[tuple[T, int]]]
"""Of an entity: how many triples join it with others; some of them, and the entity at the other end of each."""


def explore(
    centre: int, hops: int, limit: int, beside: Callable[[Sequence[int], int], Iterable[Beside[T]]]
) -> tuple[dict[int, int], list[T], bool]:
    """How far entities are from ``centre``, at most ``limit`` within ``hops``; the triples that lead to them, each once;
    whether nothing is left out. ``beside``: for each of some entities, in their order, at most so many of its triples."""
    far, frontier, whole = {centre: 0}, [centre], True
    told: dict[T, None] = {}
    for hop in range(1, hops + 1):
        most, following = OWN if hop == 1 else FURTHER, list[int]()
        for node, (total, triples) in zip(frontier, beside(frontier, most), strict=True):
            if node != centre and total > HUB:
                whole = False
                continue
            whole &= total <= most
            for triple, other in triples:
                if (other not in far and len(far) > limit) or len(told) >= limit * TOLD:
                    whole = False
                    continue
                if other not in far:
                    far[other] = hop
                    following.append(other)
                told[triple] = None
        if not following:
            break
        frontier = following
    return far, [*told], whole


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
