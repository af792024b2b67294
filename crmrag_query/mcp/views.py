"""Results of the client as a language model can take them in: each view says which fields it takes, and cuts them.

How long whole results are is configuration (``mcp`` of ``service.yaml``), as models differ in what they take in. The
constants here keep a single name, line or list from filling a result, whichever the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, RootModel

from crmrag_query.answers.records import ENTITY, Answer
from crmrag_query.client.records import Entity
from crmrag_query.config.service import McpConfig
from crmrag_query.sets.records import AnswerSet, Facets, Reason
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.stores.records import GraphCommunities, GraphContext, GraphFound
from crmrag_query.text import printable

SNIPPET = 300  # characters of a line of a document
OWN_TEXT = 1_000  # … of the text of a source that is no entity
LABEL = 160  # … of a name
PLAN = 4_000  # … of a plan; a larger one stands in the structured result alone
SPARQL = 4_000  # … of a plan's SPARQL query
CELL = 500  # … of a cell of a SPARQL result
STEP = 200  # … of a triple
TRIPLES = 4  # triples of a source; steps of the path that put a member into a set
TARGETS = 5  # entities shown of each relationship
NAMES = 10  # names of an entity
VALUES = 8  # values of a facet
FACETS = 8  # facets where none is asked for
EXAMPLES = 5  # example questions of a data set
EARLIER = 20  # earlier questions of a conversation


def line(text: str, most: int = LABEL) -> str:
    """A text of the data on one line: it cannot look like a line of the result itself."""
    return cut(" ".join(printable(text).split()), most)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _cut_to(most: int) -> BeforeValidator:
    return BeforeValidator(lambda text: line(text, most))


def _first(most: int, item: Callable[[Any], Any] = lambda one: one) -> BeforeValidator:
    """The first of a list, each as ``item`` gives it."""
    return BeforeValidator(lambda many: [item(one) for one in list(many)[:most]])


def _steps(path: Iterable[Reason]) -> list[str]:
    """The first triples of a path, each as a line."""
    return [line(str(triple), STEP) for reason in path for triple in reason.triples][:TRIPLES]


Label = Annotated[str, _cut_to(LABEL)]
Snippet = Annotated[str, _cut_to(SNIPPET)]
DatesText = Annotated[str, BeforeValidator(lambda dates: line(getattr(dates, "text", dates) or ""))]
Triples = Annotated[list[str], _first(TRIPLES, lambda triple: line(str(triple), STEP))]


class View(BaseModel):
    """Taken from a record's fields of the same names, or read back from a view's plain values."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Named(View):
    """An entity: its IRI to go on with, and its name."""

    iri: str
    label: Label


class DatasetView(View):
    """A data set: what it holds, and questions to begin with."""

    name: str
    title: Label
    release: str
    entities: int
    documents: int
    triples: int
    languages: list[str]
    licence: Label
    attribution: Label
    examples: Annotated[list[Label], _first(EXAMPLES)]


class UnavailableView(View):
    """A data set that is there but cannot be asked, and why."""

    name: Label
    reason: Snippet


class DatasetsView(View):
    """The data sets that can be asked, by name, and those that are there but cannot be."""

    datasets: list[DatasetView]
    unavailable: list[UnavailableView]


class SourceView(View):
    """A numbered source, cited in the answer as [n]: an entity, the line of its document that bears most on what was said,
    and the first of the triples that this rests on. Of another `kind` (community, row, path, tool): its own
    `text`, and the first `entities` that it rests on."""

    n: int
    iri: str
    label: Label
    category: str
    cited: bool
    snippet: Snippet
    dates: DatesText
    triples: Triples
    kind: str = ENTITY
    text: Annotated[str, _cut_to(OWN_TEXT)] = ""
    entities: Annotated[list[Named], _first(TARGETS)] = []


class SetFound(View):
    """The exact set that a question asks for: give `plan` to answer_set to see its members."""

    title: Label
    kind: str
    size: int
    exhaustive: bool
    plan: dict[str, Any]


class AnswerView(View):
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
    unsupported: list[Snippet]
    notes: list[Snippet]
    set: SetFound | None

    @classmethod
    def of(cls, answer: Answer, config: McpConfig) -> AnswerView:
        most = max(config.sources, sum(source.cited for source in answer.sources))
        sources = sorted(answer.sources, key=lambda source: not source.cited)[:most]
        return cls(
            text=cut(printable(answer.text), config.answer_characters),
            dataset=answer.dataset,
            release=answer.release,
            language=answer.language,
            refused=answer.refused,
            exhaustive=answer.exhaustive,
            sources=list(map(SourceView.model_validate, sources)),
            unsupported=[answer.text[one.start : one.end] for one in answer.unsupported],
            notes=list(answer.notes),
            set=None if answer.set is None else SetFound.model_validate(answer.set),
        )


class MemberView(View):
    """A member of a set; `value`: what it is ranked by; `why`: the triples that put it there."""

    iri: str
    label: Label
    date: Label
    value: Label
    why: list[str]


class LeftOut(View):
    """What only a lack of data keeps out of a set: give `reason` to answer_set as `left_out` to see it."""

    reason: str
    count: int
    text: Snippet


class SetView(View):
    """A page of an exact set.

    `size`: members in all; `rows` by `columns`: of a ranking, groups, a table or pairs; `value`: of a count or a yes-or-no
    question; `next`: the offset of the next page, null after the last; `exhaustive`: the plan says all that was asked,
    otherwise `unknown` are words that it passed over; `plan` to go on with.
    """

    title: Snippet
    kind: str
    size: int
    value: int | bool | None
    members: list[MemberView]
    columns: list[Label]
    rows: list[list[Label]]
    total: int
    offset: int
    next: int | None
    left_out: list[LeftOut]
    exhaustive: bool
    unknown: list[Label]
    plan: dict[str, Any]
    sparql: str
    dataset: str
    release: str

    @classmethod
    def of(cls, found: AnswerSet, exhaustive: bool, unknown: Iterable[str], sparql: bool) -> SetView:
        """``exhaustive``, ``unknown``: how much of a question the plan says; ``sparql``: with its query."""
        rows = found.value if isinstance(found.value, tuple) else ()
        return cls(
            title=found.title,
            kind=found.kind,
            size=found.size,
            value=None if isinstance(found.value, tuple) else found.value,
            members=[
                MemberView(iri=one.iri, label=one.label, date=one.date, value=one.shown, why=_steps(one.path))
                for one in found.members
            ],
            columns=list(found.columns),
            rows=[[cell.label for cell in row] for row in rows],
            total=found.total,
            offset=found.offset,
            next=found.next,
            left_out=list(map(LeftOut.model_validate, found.excluded)),
            exhaustive=exhaustive,
            unknown=list(unknown),
            plan=found.plan,
            sparql=cut(found.sparql, SPARQL) if sparql else "",
            dataset=found.dataset,
            release=found.release,
        )


class FoundView(View):
    """An entity found by name: `name` is the one that matched, `score` how well (0 to 1)."""

    iri: str
    label: Label
    category: str
    classes: list[Label]
    name: Label
    score: Annotated[float, BeforeValidator(lambda score: round(score, 3))]


class SearchView(View):
    """Entities found by name, best first."""

    entities: list[FoundView]
    dataset: str
    release: str


class RelationshipView(View):
    """Where a relationship leads: the first `targets`, and how many there are (`total`)."""

    label: Label
    category: str
    total: int
    targets: Annotated[list[Named], _first(TARGETS)]


def _names(names: Mapping[str, Iterable[str]] | list[str]) -> list[str]:
    """The first names, each with its language."""
    if isinstance(names, list):
        return names
    pairs = [(lang or "untagged", text) for lang, texts in names.items() for text in texts if text]
    return [f"{lang}: {line(text)}" for lang, text in pairs[:NAMES]]


class EntityView(View):
    """What is known of an entity, in short; `document`: the text that holds its facts; `links`: the same thing elsewhere."""

    iri: str
    label: Label
    category: str
    classes: Annotated[
        list[Label], BeforeValidator(lambda classes: [getattr(one, "label", one) for one in classes])
    ]
    names: Annotated[list[str], BeforeValidator(_names)]
    dates: DatesText
    document: str
    relationships: list[RelationshipView]
    images: Annotated[list[str], _first(TARGETS)]
    links: Annotated[list[str], _first(NAMES, lambda link: getattr(link, "iri", link))]
    triples: int
    licence: Label
    dataset: str
    release: str

    @classmethod
    def of(cls, entity: Entity, config: McpConfig) -> EntityView:
        document = cut(printable(entity.document), config.document_characters)
        return cls.model_validate(entity).model_copy(update={"document": document})


class TripleView(View):
    """A triple, its terms by IRI (of a literal its text) and by name."""

    s: str
    s_label: Label
    p: str
    p_label: Label
    o: Annotated[str, _cut_to(CELL)]
    o_label: Snippet


class NeighboursView(View):
    """A page of the triples that join an entity with others, both ways; `next`: the offset of the next page."""

    iri: str
    label: Label
    triples: list[TripleView]
    total: int
    offset: int
    next: int | None
    dataset: str
    release: str


class ValueView(View):
    """A value of a facet and how many members have it."""

    label: Label
    iri: str
    count: int


class FacetView(View):
    """The values that most members have; `total`: how many values there are."""

    key: str
    label: Label
    total: int
    values: Annotated[list[ValueView], _first(VALUES)]


class FacetsView(View):
    """Facets of a set; `complete`: false for a set that is too large to count them. `plan` to go on with."""

    size: int
    complete: bool
    facets: list[FacetView]
    plan: dict[str, Any]
    dataset: str
    release: str

    @classmethod
    def of(cls, found: Facets, asked: bool) -> FacetsView:
        """``asked``: all facets were asked for by key, and are given."""
        whole = cls.model_validate(found)
        return whole if asked else whole.model_copy(update={"facets": whole.facets[:FACETS]})


class SparqlView(View):
    """The result of a query by its `form`: `rows` (select), `truth` (ask), `graph` as N-Triples. An IRI or literal is given
    as its text, null where it is unbound."""

    form: str
    variables: list[str]
    rows: list[list[str | None]]
    truth: bool | None
    graph: str
    truncated: bool

    @classmethod
    def of(cls, result: SparqlResult, config: McpConfig) -> SparqlView:
        """The first rows, or lines of a graph, as many as fit into the characters that are configured."""
        rows: list[list[str | None]] = []
        left = config.table_characters
        for row in result.rows:
            cells = [None if cell is None else cut(printable(cell.label), CELL) for cell in row]
            left -= sum(len(cell or "") for cell in cells)
            if left < 0:
                break
            rows.append(cells)
        graph = result.text
        if len(graph) > config.table_characters:
            graph = graph[: graph.rfind("\n", 0, config.table_characters) + 1]
        return cls(
            form=result.form,
            variables=list(result.variables),
            rows=rows,
            truth=result.truth,
            graph=graph,
            truncated=result.truncated or len(graph) < len(result.text) or len(rows) < len(result.rows),
        )


class GraphFoundView(RootModel[GraphFound]):
    """Entities that a query finds, best first."""


class GraphContextView(RootModel[GraphContext]):
    """An entity, what is around it, and the triples that lead there."""


class GraphCommunitiesView(RootModel[GraphCommunities]):
    """Communities of what belongs together."""


class Narrow(BaseModel):
    """A value of a facet (its `key`) that members must have: its IRI, or its label."""

    facet: str
    value: str
