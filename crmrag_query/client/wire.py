"""The wire format, in one place for the client and the service: paths, requests, results, events.

A request is a record; of a GET it stands in the query string, of a POST it is the JSON body. A result is the JSON of its
record (``codec``), an error a problem document, a stream server-sent events (``sse``) by the names of ``BY_NAME``.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from io import IncrementalNewlineDecoder
from typing import Any, Generic, TypeVar, cast, get_type_hints

from crmrag_query.answers.records import BY_NAME, NAMES, Answer, Event, Lineage
from crmrag_query.client import records
from crmrag_query.codec import (
    Malformed,
    NotUnicode,
    from_plain,
    from_problem,
    parse_json,
    to_json,
    to_problem,
)
from crmrag_query.errors import CrmRagError, QuestionError
from crmrag_query.sets.records import TELLING, AnswerSet, Change, Choices, Columns, Facets, Marks, Sort, What
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.stores import tools
from crmrag_query.stores.records import GraphCommunities, GraphContext, GraphFound


@dataclass(frozen=True, slots=True)
class Message:
    """One event: its name ("message" where none is given) and its data."""

    event: str
    data: str


def write_message(event: str, data: str) -> str:
    """An event as text; every line of ``data`` takes a line."""
    lines = data.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return f"event: {event}\n" + "".join(f"data: {line}\n" for line in lines) + "\n"


@dataclass
class Parser:
    """Takes bytes as they come and gives the events that are complete; ``limit``: bytes of one event.

    Raises Malformed for an event beyond the limit and for bytes that are no UTF-8. An event that the stream's end cuts is
    never given.
    """

    limit: int
    _decoder: IncrementalNewlineDecoder = field(
        default_factory=lambda: IncrementalNewlineDecoder(
            getincrementaldecoder("utf-8-sig")(), translate=True
        )
    )
    _rest: list[str] = field(default_factory=list)
    _name: str = ""
    _data: list[str] = field(default_factory=list)
    _held: int = 0

    def feed(self, piece: bytes) -> Iterator[Message]:
        """The events that end within ``piece``."""
        try:
            text = self._decoder.decode(piece)
        except UnicodeDecodeError as error:
            raise Malformed("the stream is no UTF-8") from error
        *lines, rest = text.split("\n")
        if lines:
            lines[0] = "".join([*self._rest, lines[0]])
            self._rest = []
        self._rest.append(rest)
        for line in lines:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                self._name = value
            elif name == "data":
                self._data.append(value)
                self._held += len(value)
            elif not line:
                event, data = self._name or "message", self._data
                self._name, self._data, self._held = "", [], 0
                if data:
                    yield Message(event, "\n".join(data))
        if self._held + sum(map(len, self._rest)) > self.limit:
            raise Malformed(f"an event has more than {self.limit:,} characters")


PREFIX = "/api/v1"
JSON = "application/json"
EVENTS = "text/event-stream"
PROBLEM = "application/problem+json"

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class Ask:
    """``history``: earlier questions, oldest first; ``conversation``: the state that an answer carries, in their place.
    ``mode``: how it is answered, one of ``ListModes``; "" for the first of them. ``within``: the part of the data that it is
    asked of, by any of ``categories``, ``classes``, ``types``, ``graphs``, ``iris`` and ``plan``; empty for all.

    ``thread``: the id of a conversation that the service keeps, in place of both, with the ``key`` that lets one go on in it.
    In all requests ``dataset`` may be left out where there is only one, or a default.
    """

    question: str
    dataset: str | None = None
    history: tuple[str, ...] = ()
    conversation: dict[str, Any] = field(default_factory=dict)
    thread: str = ""
    key: str = field(default="", repr=False)
    mode: str = ""
    within: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retrieve:
    """``k``: how many documents; None for as many as questions of this kind get. Others as in ``Ask``."""

    question: str
    dataset: str | None = None
    k: int | None = None
    history: tuple[str, ...] = ()
    conversation: dict[str, Any] = field(default_factory=dict)
    mode: str = ""
    within: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CompareModes:
    """A question in several modes. ``modes``: their names; none for all that there are. Others as in ``Ask``."""

    question: str
    dataset: str | None = None
    modes: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    conversation: dict[str, Any] = field(default_factory=dict)
    within: dict[str, Any] = field(default_factory=dict)


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
    ``reason``: what is left out for it in place of the set; ``sparql``: with the plan's query; ``columns``: keys of
    columns of the members, ``telling`` for those that tell them apart."""

    plan: dict[str, Any]
    dataset: str | None = None
    offset: int = 0
    limit: int | None = None
    sort: Sort = ""
    descending: bool = False
    language: str = ""
    reason: str = ""
    sparql: bool = True
    columns: tuple[str, ...] = ()


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
    ``reason``: as in ``GetSet``; ``inline``: JSON-LD with its context in the file; ``columns``: as in ``GetSet``."""

    plan: dict[str, Any]
    format: str
    dataset: str | None = None
    question: str = ""
    language: str = ""
    reason: str = ""
    sort: Sort = ""
    descending: bool = False
    inline: bool = False
    columns: tuple[str, ...] = (TELLING,)


@dataclass(frozen=True, slots=True)
class GetDataset:
    """``language``: of the names of classes and relationships, and of the questions that are made from the data where none
    are declared; "" for the data set's own."""

    dataset: str | None = None
    language: str = ""


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
class GetColumns:
    """The columns that the members of a plan's set can have."""

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
class ListModes:
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class ListThemes:
    """``level``: themes of that level, 0 the finest; ``within``: the parts of the theme of that id; ``theme``: that theme
    alone; ``of``: those that the entity of that IRI is in, the finest first; without all these the outermost.

    ``language``: "" for the data set's first.
    """

    dataset: str | None = None
    level: int | None = None
    within: str = ""
    limit: int = 20
    offset: int = 0
    language: str = ""
    theme: str = ""
    of: str = ""


@dataclass(frozen=True, slots=True)
class GraphSearch(tools.GraphSearch):
    """Entities by meaning, words and name; ``category``: such alone. ``language``: of names, "" for the data set's first."""

    dataset: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class GetContext(tools.GetContext):
    """What is within ``max_hops`` triples of an ``entity``, which is given by IRI or name."""

    dataset: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class FindCommunities(tools.FindCommunities):
    """Communities of a ``level`` (0 the finest); without ``query`` the largest."""

    dataset: str | None = None
    language: str = ""


@dataclass(frozen=True, slots=True)
class ListCandidates:
    """What may be the same as something that a machine read from pages, the likeliest first: at most ``limit`` (0 < limit <=
    1000) from number ``offset`` on."""

    dataset: str | None = None
    limit: int = 50
    offset: int = 0
    language: str = ""


@dataclass(frozen=True, slots=True)
class ListEvaluations:
    dataset: str | None = None


@dataclass(frozen=True, slots=True)
class Route(Generic[Q, T]):
    """One thing that a service can be asked: its name (of the client's method, and of the operation in the OpenAPI document),
    its method, its path below PREFIX, its request and its result."""

    name: str
    method: str
    path: str
    request: type[Q]
    result: type[T]


ASK = Route("ask", "POST", "/ask", Ask, Answer)
"""Asked with ``Accept: text/event-stream`` it answers as a stream."""
RETRIEVE = Route("retrieve", "POST", "/retrieve", Retrieve, records.Ranking)
ENTITY = Route("entity", "GET", "/entity", GetEntity, records.Entity)
NEIGHBOURS = Route("neighbours", "GET", "/neighbours", GetNeighbours, records.Neighbours)
SEARCH = Route("search", "GET", "/search", Search, records.Found)
LINEAGE = Route("lineage", "GET", "/lineage", GetLineage, Lineage)
DATASETS = Route("datasets", "GET", "/datasets", ListDatasets, records.Datasets)
DATASET = Route("dataset", "GET", "/dataset", GetDataset, records.DatasetDetail)
PLAN = Route("plan", "POST", "/plan", MakePlan, records.PlanFound)
EDIT = Route("edit_plan", "POST", "/plan/edit", EditPlan, records.PlanEdited)
CHOICES = Route("choices", "POST", "/plan/choices", GetChoices, Choices)
SET = Route("set", "POST", "/set", GetSet, AnswerSet)
MARKS = Route("marks", "POST", "/set/marks", GetMarks, Marks)
COLUMNS = Route("columns", "POST", "/set/columns", GetColumns, Columns)
FACETS = Route("facets", "POST", "/facets", GetFacets, Facets)
EXPORT = Route("export", "POST", "/export", GetExport, records.Export)
SPARQL = Route("sparql", "POST", "/sparql", RunSparql, SparqlResult)
CANDIDATES = Route("candidates", "GET", "/candidates", ListCandidates, records.PageCandidates)
EVALUATIONS = Route("evaluations", "GET", "/evaluations", ListEvaluations, records.Evaluations)
MODES = Route("modes", "GET", "/modes", ListModes, records.Modes)
COMPARE = Route("compare_modes", "POST", "/modes/compare", CompareModes, records.ModesCompared)
THEMES = Route("themes", "GET", "/themes", ListThemes, records.Themes)
GRAPH_SEARCH = Route("graph_search", "GET", "/graph/search", GraphSearch, GraphFound)
GRAPH_CONTEXT = Route("graph_context", "GET", "/graph/context", GetContext, GraphContext)
GRAPH_COMMUNITIES = Route("graph_communities", "GET", "/graph/communities", FindCommunities, GraphCommunities)
ROUTES: tuple[Route[Any, Any], ...] = tuple(one for one in [*vars().values()] if isinstance(one, Route))
"""All of them, in this order."""


def parameters_of(request: object) -> dict[str, str]:
    """The query string of a GET; what has its default is left out."""
    return {name: str(value) for name, value in _said(request).items()}


def body_of(request: object) -> str:
    """The body of a POST; what has its default is left out: an older service does not refuse a key that says nothing."""
    return to_json(_said(request))


def _said(request: object) -> dict[str, Any]:
    """The values of a request that are not its defaults, by name."""
    given = {one: getattr(request, one.name) for one in fields(cast(Any, request))}
    return {one.name: value for one, value in given.items() if value != _default(one)}


def _default(one: Field[Any]) -> Any:
    """The default of a field; of one that has none, a mark that no value equals."""
    return one.default if one.default_factory is MISSING else one.default_factory()


def read_parameters(kind: type[Q], given: Mapping[str, str]) -> Q:
    """The request of a GET from its query string; QuestionError when it cannot be read."""
    whole = {name for name, hint in get_type_hints(kind).items() if hint in (int, int | None)}
    values: dict[str, str | int] = dict(given)
    for name in whole.intersection(given):
        text = given[name]
        if text.removeprefix("-").isdecimal() and len(text) < 12:  # else the record refuses the text
            values[name] = int(text)
    return read_request(kind, values)


def read_body(kind: type[Q], body: bytes) -> Q:
    """The request of a POST from its body; QuestionError when it cannot be read."""
    try:
        return read_request(kind, parse_json(body))
    except Malformed as error:
        raise QuestionError(f"The request cannot be read: {error}.", "Send JSON.") from error


def read_request(kind: type[Q], value: object) -> Q:
    """A request from plain values, or one whose values are checked; QuestionError that names what is missing, unknown, of the
    wrong type or no Unicode."""
    try:
        return from_plain(kind, value, known=True)
    except NotUnicode:
        raise QuestionError(
            "The request holds characters that are no valid Unicode.", "Leave them out and try again."
        ) from None
    except Malformed as error:
        raise QuestionError(f"The request cannot be read: {error}.", "See the documentation.") from error


FAILED = "error"
"""Name of the event that ends a stream with a problem document."""


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
