"""What the tools give, as records: their schemas are those of the structured results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Named:
    """An entity: its IRI to go on with, and its name."""

    iri: str
    label: str


@dataclass(frozen=True)
class DatasetView:
    """A data set: what it holds, and questions to begin with."""

    name: str
    title: str
    release: str
    entities: int
    documents: int
    triples: int
    languages: list[str]
    licence: str
    attribution: str
    examples: list[str]


@dataclass(frozen=True)
class UnavailableView:
    """A data set that is there but cannot be asked, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class DatasetsView:
    """The data sets that can be asked, by name, and those that are there but cannot be."""

    datasets: list[DatasetView]
    unavailable: list[UnavailableView]


@dataclass(frozen=True)
class SourceView:
    """A numbered source, cited in the answer as [n]: an entity, the line of its document that bears most on what was said,
    and the first of the triples that this rests on."""

    n: int
    iri: str
    label: str
    category: str
    cited: bool
    snippet: str
    dates: str
    triples: list[str]


@dataclass(frozen=True)
class SetFound:
    """The exact set that a question asks for: give `plan` to answer_set to see its members."""

    title: str
    kind: str
    size: int
    exhaustive: bool
    plan: dict[str, Any]


@dataclass(frozen=True)
class AnswerView:
    """An answer with its sources.

    `refused`: it says that the data does not tell; `exhaustive`: it states a whole set; `unsupported`: what of it its
    sources do not support.
    """

    text: str
    dataset: str
    release: str
    language: str
    refused: bool
    exhaustive: bool
    sources: list[SourceView]
    unsupported: list[str]
    notes: list[str]
    set: SetFound | None


@dataclass(frozen=True)
class MemberView:
    """A member of a set; `value`: what it is ranked by; `why`: the triples that put it there."""

    iri: str
    label: str
    date: str
    value: str
    why: list[str]


@dataclass(frozen=True)
class LeftOut:
    """What only a lack of data keeps out of a set: give `reason` to answer_set as `left_out` to see it."""

    reason: str
    count: int
    text: str


@dataclass(frozen=True)
class SetView:
    """A page of an exact set.

    `size`: members in all; `rows` by `columns`: of a ranking, groups, a table or pairs; `value`: of a count or a yes-or-no
    question; `next`: the offset of the next page, null after the last; `exhaustive`: the plan says all that was asked,
    otherwise `unknown` are words that it passed over; `plan` to go on with.
    """

    title: str
    kind: str
    size: int
    value: int | bool | None
    members: list[MemberView]
    columns: list[str]
    rows: list[list[str]]
    total: int
    offset: int
    next: int | None
    left_out: list[LeftOut]
    exhaustive: bool
    unknown: list[str]
    plan: dict[str, Any]
    sparql: str
    dataset: str
    release: str


@dataclass(frozen=True)
class FoundView:
    """An entity found by name: `name` is the one that matched, `score` how well (0 to 1)."""

    iri: str
    label: str
    category: str
    classes: list[str]
    name: str
    score: float


@dataclass(frozen=True)
class SearchView:
    """Entities found by name, best first."""

    entities: list[FoundView]
    dataset: str
    release: str


@dataclass(frozen=True)
class RelationshipView:
    """Where a relationship leads: the first `targets`, and how many there are (`total`)."""

    label: str
    category: str
    total: int
    targets: list[Named]


@dataclass(frozen=True)
class EntityView:
    """What is known of an entity, in short; `document`: the text that holds its facts; `links`: the same thing elsewhere."""

    iri: str
    label: str
    category: str
    classes: list[str]
    names: list[str]
    dates: str
    document: str
    relationships: list[RelationshipView]
    images: list[str]
    links: list[str]
    triples: int
    licence: str
    dataset: str
    release: str


@dataclass(frozen=True)
class TripleView:
    """A triple, its terms by IRI (of a literal its text) and by name."""

    s: str
    s_label: str
    p: str
    p_label: str
    o: str
    o_label: str


@dataclass(frozen=True)
class NeighboursView:
    """A page of the triples that join an entity with others, both ways; `next`: the offset of the next page."""

    iri: str
    label: str
    triples: list[TripleView]
    total: int
    offset: int
    next: int | None
    dataset: str
    release: str


@dataclass(frozen=True)
class ValueView:
    """A value of a facet and how many members have it."""

    label: str
    iri: str
    count: int


@dataclass(frozen=True)
class FacetView:
    """The values that most members have; `total`: how many values there are."""

    key: str
    label: str
    total: int
    values: list[ValueView]


@dataclass(frozen=True)
class FacetsView:
    """Facets of a set; `complete`: false for a set that is too large to count them. `plan` to go on with."""

    size: int
    complete: bool
    facets: list[FacetView]
    plan: dict[str, Any]
    dataset: str
    release: str


@dataclass(frozen=True)
class SparqlView:
    """The result of a query by its `form`: `rows` (select), `truth` (ask), `graph` as N-Triples. An IRI or literal is given
    as its text, null where it is unbound."""

    form: str
    variables: list[str]
    rows: list[list[str | None]]
    truth: bool | None
    graph: str
    truncated: bool


@dataclass(frozen=True)
class Narrow:
    """A value of a facet (its `key`) that members must have: its IRI, or its label."""

    facet: str
    value: str
