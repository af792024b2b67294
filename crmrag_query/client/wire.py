"""The wire format, in one place for the client and the service: paths, requests, results, events.

A request is a record; of a GET it stands in the query string, of a POST it is the JSON body. A result is the JSON of its
record (``codec``), an error a problem document (``problems``), a stream server-sent events (``sse``) named as in ``events``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Generic, TypeVar, get_type_hints

from crmrag_query.client.codec import Malformed, from_plain, parse_json, to_json
from crmrag_query.client.events import BY_NAME, FAILED, NAMES, Event
from crmrag_query.client.overview import DatasetDetail, Evaluations
from crmrag_query.client.problems import from_problem, to_problem
from crmrag_query.client.records import (
    Answer,
    Datasets,
    Entity,
    Found,
    Lineage,
    Neighbours,
    Ranking,
)
from crmrag_query.client.sets import AnswerSet, Choices, Export, Facets, Marks, PlanEdited, PlanFound
from crmrag_query.client.sse import Message, write_message
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.sets.records import Change, Sort, What
from crmrag_query.sparql.records import SparqlResult

PREFIX = "/api/v1"
JSON = "application/json"
EVENTS = "text/event-stream"
PROBLEM = "application/problem+json"

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class Ask:
    """``history``: earlier questions, oldest first; ``conversation``: the state that an answer carries, in their place.

    ``thread``: the id of a conversation that the service keeps, in place of both, with the ``key`` that lets one go on in it.
    In all requests ``dataset`` may be left out where there is only one, or a default.
    """

    question: str
    dataset: str | None = None
    history: tuple[str, ...] = ()
    conversation: dict[str, Any] = field(default_factory=dict)
    thread: str = ""
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Retrieve:
    """``k``: how many documents; None for as many as questions of this kind get. Others as in ``Ask``."""

    question: str
    dataset: str | None = None
    k: int | None = None
    history: tuple[str, ...] = ()
    conversation: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GetEntity:
    """``language``: the one that labels are given in where the data has it; "" for the data set's first."""

    iri: str
    dataset: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class GetNeighbours:
    iri: str
    dataset: str | None = None
    limit: int = 50
    offset: int = 0
    language: str = ""


@dataclass(frozen=True, slots=True)
class Search:
    text: str
    dataset: str | None = None
    limit: int = 20


@dataclass(frozen=True, slots=True)
class GetLineage:
    """A triple by IRIs, of a literal its text; ``source``: the IRI of a source that shows it."""

    s: str
    p: str
    o: str
    dataset: str | None = None
    source: str = ""


@dataclass(frozen=True, slots=True)
class ListDatasets:
    pass


@dataclass(frozen=True, slots=True)
class GetSet:
    """A page of a plan's set. ``limit`` None: as many as configured; ``sort``: "", ``label``, ``date``, ``value``;
    ``reason``: what is left out for it in place of the set; ``sparql``: with the plan's query."""

    plan: dict[str, Any]
    dataset: str | None = None
    offset: int = 0
    limit: int | None = None
    sort: Sort = ""
    descending: bool = False
    language: str = ""
    reason: str = ""
    sparql: bool = True


@dataclass(frozen=True, slots=True)
class GetFacets:
    """``keys``: the facets asked for; none for those that say most."""

    plan: dict[str, Any]
    dataset: str | None = None
    language: str = ""
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GetExport:
    """A whole set as a file. ``format``: ``csv``, ``json``, ``jsonld`` or ``geojson``; ``question``: told in it;
    ``reason``: as in ``GetSet``; ``inline``: JSON-LD with its context in the file."""

    plan: dict[str, Any]
    format: str
    dataset: str | None = None
    question: str = ""
    language: str = ""
    reason: str = ""
    sort: Sort = ""
    descending: bool = False
    inline: bool = False


@dataclass(frozen=True, slots=True)
class GetDataset:
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class MakePlan:
    """The plan that a question becomes; as in ``Ask``."""

    question: str
    dataset: str | None = None
    history: tuple[str, ...] = ()
    conversation: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EditPlan:
    """``change``: what a chip, or a new condition, is set to; ``remove``: the path of a chip that is taken away, after that;
    neither to have the plan checked and told in words."""

    plan: dict[str, Any]
    remove: str = ""
    dataset: str | None = None
    language: str = ""
    change: Change | None = None


@dataclass(frozen=True, slots=True)
class GetChoices:
    """What the part of a chip's ``path`` (``where``: a new condition) may be set to. ``what``: ``entities``, ``kinds`` or
    ``relation``; ``text``: only those whose name holds it."""

    plan: dict[str, Any]
    path: str
    what: What
    text: str = ""
    limit: int = 20
    dataset: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class GetMarks:
    """Where and when the members of a plan's set were."""

    plan: dict[str, Any]
    dataset: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class RunSparql:
    """A reading query; ``limit``: rows or triples at most, None for as many as configured."""

    query: str
    dataset: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class ListEvaluations:
    dataset: str | None = None


Request = (
    Ask
    | Retrieve
    | GetEntity
    | GetNeighbours
    | Search
    | GetLineage
    | ListDatasets
    | GetSet
    | GetFacets
    | GetExport
    | GetDataset
    | MakePlan
    | EditPlan
    | GetChoices
    | GetMarks
    | RunSparql
    | ListEvaluations
)


@dataclass(frozen=True, slots=True)
class Route(Generic[Q, T]):
    """One thing that a service can be asked: its method, its path below PREFIX, its request and its result."""

    method: str
    path: str
    request: type[Q]
    result: type[T]


ASK = Route("POST", "/ask", Ask, Answer)
"""Asked with ``Accept: text/event-stream`` it answers as a stream."""
RETRIEVE = Route("POST", "/retrieve", Retrieve, Ranking)
ENTITY = Route("GET", "/entity", GetEntity, Entity)
NEIGHBOURS = Route("GET", "/neighbours", GetNeighbours, Neighbours)
SEARCH = Route("GET", "/search", Search, Found)
LINEAGE = Route("GET", "/lineage", GetLineage, Lineage)
DATASETS = Route("GET", "/datasets", ListDatasets, Datasets)
SET = Route("POST", "/set", GetSet, AnswerSet)
MARKS = Route("POST", "/set/marks", GetMarks, Marks)
FACETS = Route("POST", "/facets", GetFacets, Facets)
EXPORT = Route("POST", "/export", GetExport, Export)
DATASET = Route("GET", "/dataset", GetDataset, DatasetDetail)
PLAN = Route("POST", "/plan", MakePlan, PlanFound)
EDIT = Route("POST", "/plan/edit", EditPlan, PlanEdited)
CHOICES = Route("POST", "/plan/choices", GetChoices, Choices)
SPARQL = Route("POST", "/sparql", RunSparql, SparqlResult)
EVALUATIONS = Route("GET", "/evaluations", ListEvaluations, Evaluations)
ROUTES: tuple[Route[Any, Any], ...] = (
    ASK, RETRIEVE, ENTITY, NEIGHBOURS, SEARCH, LINEAGE, DATASETS, DATASET, PLAN, EDIT, CHOICES, SET, MARKS, FACETS,
    EXPORT, SPARQL, EVALUATIONS,
)  # fmt: skip


def route_of(method: str, path: str) -> Route[Any, Any] | None:
    """The route of a request line, its path with PREFIX and without query string; None for none."""
    return next((route for route in ROUTES if (route.method, PREFIX + route.path) == (method, path)), None)


def parameters_of(request: Request) -> dict[str, str]:
    """The query string of a GET; what has its default is left out."""
    given = {one.name: (getattr(request, one.name), one.default) for one in fields(request)}
    return {name: str(value) for name, (value, default) in given.items() if value != default}


def read_parameters(kind: type[Q], given: Mapping[str, str]) -> Q:
    """The request of a GET from its query string; QuestionError when it cannot be read."""
    hints = get_type_hints(kind)
    values = {name: _number(text) if hints.get(name) is int else text for name, text in given.items()}
    return read_request(kind, values)


def _number(text: str) -> int | str:
    """A whole number where the text is one; else the text, which the record then refuses."""
    return int(text) if text.removeprefix("-").isdecimal() and len(text) < 12 else text


def read_body(kind: type[Q], body: bytes) -> Q:
    """The request of a POST from its body; QuestionError when it cannot be read."""
    try:
        return read_request(kind, parse_json(body))
    except Malformed as error:
        raise QuestionError(f"The request cannot be read: {error}.", "Send JSON.") from error


def read_request(kind: type[Q], value: object) -> Q:
    """A request from plain values; QuestionError that names what is missing, of the wrong type or no Unicode."""
    check_texts(value)
    try:
        return from_plain(kind, value)
    except Malformed as error:
        raise QuestionError(f"The request cannot be read: {error}.", "See the documentation.") from error


def check_texts(value: object) -> None:
    """QuestionError where a text within ``value`` holds half of a character (a lone surrogate)."""
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise QuestionError(
            "The request holds characters that are no valid Unicode.", "Leave them out and try again."
        ) from None


def write_event(event: Event | CrmRagError) -> str:
    """An event of a stream as text; an error ends it."""
    if isinstance(event, CrmRagError):
        return write_message(FAILED, to_json(to_problem(event)))
    return write_message(NAMES[type(event)], to_json(event))


def read_event(message: Message) -> Event | None:
    """The event of a message, None for one that this version does not know; raises the error that it tells, or Malformed."""
    if message.event == FAILED:
        raise from_problem(parse_json(message.data))
    kind = BY_NAME.get(message.event)
    if kind is None:
        return None
    return from_plain(kind, parse_json(message.data), message.event)
