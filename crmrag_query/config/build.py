"""Settings of the build (facts: method, Build), and when a data set is built again by itself."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import AfterValidator, Field, model_validator

from crmrag_query.config.reading import (
    Codes,
    Count,
    NotNegative,
    Pattern,
    Positive,
    Properties,
    Record,
    Share,
)


class Discovery(Record):
    """What is not an entity: ontology terms by type, and IRIs in an ontology's namespace."""

    excluded_types: tuple[str, ...]
    excluded_namespaces: tuple[str, ...]


class Chunks(Record):
    """Entities per chunk, until there are 256 chunks."""

    entities: Count


class Requests(Record):
    """How a SPARQL endpoint is asked: sizes, patience and politeness; a data set may set its own.

    `batch_entities` IRIs in one VALUES request; up to `subject_rows` subjects are discovered in one response, more of them
    in pages of `page_rows`. `pause_seconds` between the starts of two requests, at most `parallel` at once. A request that
    fails is tried `retries` times more, after `first_wait_seconds`, doubled each time up to `longest_wait_seconds`. Up to
    `blank_rows` triples with blank nodes are fetched in one response; more of them tree by tree, to `blank_depth` blank
    nodes below an entity. A build stops after `request_budget` times the requests that an endpoint of its size needs at best.
    """

    batch_entities: Count
    page_rows: Count
    subject_rows: int = Field(ge=0)
    timeout_seconds: Positive
    pause_seconds: NotNegative
    parallel: Count
    retries: int = Field(ge=0)
    first_wait_seconds: NotNegative
    longest_wait_seconds: NotNegative
    response_bytes: Count
    blank_rows: int = Field(ge=0)
    blank_depth: Count
    request_budget: Count


class Names(Record):
    """Where names stand, in order of preference."""

    label_properties: Properties
    alternative_properties: Properties
    name_properties: Properties
    value_properties: Properties
    title_properties: ClassVar[Properties] = ("P102",)  # CIDOC-CRM has no other
    identifier_classes: ClassVar[Codes] = ("E42",)  # appellations that name only where nothing else does


class Dates(Record):
    """Properties that state dates: the outer and inner bounds of a time-span, and the whole of it.

    What other vocabularies have of them are outer bounds, or wholes; the rest only CIDOC-CRM tells apart.
    """

    outer_begin: Properties
    outer_end: Properties
    outer_whole: Properties
    time_span_properties: ClassVar[Properties] = ("P4",)
    inner_begin: ClassVar[Properties] = ("P81a",)
    inner_end: ClassVar[Properties] = ("P81b",)
    inner_whole: ClassVar[Properties] = ("P81",)
    qualifiers: ClassVar[Properties] = ("P79", "P80")


class Links(Record):
    """Properties that lead to the same or a like thing elsewhere."""

    properties: Properties


class Images(Record):
    """Properties that lead to images; of a representation, those that lead to its address."""

    properties: Properties
    address_properties: Properties


class Suspects(Record):
    """When an IRI is suspected to stand for many things merged by mistake.

    An IRI of `empty_id` form with at least `empty_id_triples` outgoing triples, or any IRI with more than
    `single_values` distinct values of a property that takes one.
    """

    empty_id: Pattern
    empty_id_triples: Count
    single_valued: Properties
    single_values: Count


class DocumentText(Record):
    """How much of an entity its document's text shows; the document's data holds everything.

    `apart`: classes at whose entities texts do not point; `unsaid`: properties that they do not state; `words`: what lines of
    other properties begin with. `passage_properties`: those whose texts, from `passage_from` characters on, become
    passages of `passage_characters`, which repeat at most `passage_overlap` of the one before.
    """

    literal_values: Count
    literal_characters: Count
    relationship_lines: Count
    lines: Count
    targets: Count
    apart: Codes = ()
    unsaid: Properties = ()
    words: dict[str, str] = Field(default_factory=dict)
    type_properties: ClassVar[Properties] = ("P2",)
    passage_properties: Properties = ()
    passage_from: Count = 300
    passage_characters: Count = 3000
    passage_overlap: Count = 300

    @model_validator(mode="after")
    def _overlap_is_less(self) -> DocumentText:
        if 2 * self.passage_overlap > self.passage_characters:
            raise ValueError("passage_overlap is more than half of passage_characters")
        return self


class Chaining(Record):
    """Thin documents join their richest neighbour's whose text stays under the limit."""

    thin_characters: Count
    limit_characters: Count


class PageRank(Record):
    """PageRank on the graph of Fundamental Relationships (Page et al. 1999)."""

    damping: Share
    tolerance: ClassVar[float] = (
        1e-10  # sum of what still moves between two rounds: below what nine digits show
    )
    iterations: ClassVar[int] = (
        1000  # enough for a damping of 0.97: each takes that share of what moves, on any graph
    )


class Aggregation(Record):
    """How works lead to their makers: property paths from a work's event or the work itself."""

    work_properties: Properties
    actor_properties: Properties


class CommunitiesConfig(Record):
    """How communities are found: the finest with `resolution`, those of each further level, `levels` at most, with that of
    the one below divided by `coarser`. One of the finest has at least so many `members`."""

    resolution: Positive
    coarser: Positive
    levels: Count
    members: Count
    told: Count


class GraphPartitionsConfig(Record):
    """How the entity graph is cut: by `method`, into parts of about `target_size` documents, or into `num_parts` where that
    is not 0, and of `limit` at most; what has fewer than half of that is gathered, but for `leiden`."""

    method: Literal["leiden", "metis", "hybrid"]
    target_size: Count
    num_parts: Annotated[int, Field(ge=0)]
    limit: Count

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.target_size > self.limit:
            raise ValueError("`target_size` may not be above `limit`")
        return self


class AlignmentConfig(Record):
    """How the aligner is trained: `model` by `loss` for `steps` at most, on so many `questions` that are made."""

    model: Literal["mlp", "gcn", "sage", "gin"]
    loss: Literal["infonce", "bce"]
    questions: Count
    steps: Count


class Dense(Record):
    """From how many windows on the dense index is scanned in 8-bit codes; how it is searched.

    `scanned`: nearest windows that are kept of a question's scan; `compared`: as many windows of a restricted search are
    compared one by one where those do not settle it.
    """

    codes_from: Count
    scanned: Count
    compared: Count


class Sparse(Record):
    """Okapi BM25 with a floor of `epsilon` times the mean idf (Robertson & Zaragoza 2009; rank-bm25)."""

    k1: Positive
    b: Share
    epsilon: ClassVar[float] = 0.25  # as rank-bm25 has it


class Checks(Record):
    """From where on a check of a finished artifact warns, or refuses it; shares are of 1."""

    broken_share: Share
    unmapped_share: Share
    dangling_share: Share
    thin_share: Share
    oversized_share: Share
    entities_fall: Share
    coverage_fall: Share
    duplicate_share: Share
    drift_cosine: Share
    violating_share: Share


_FIELDS = (
    ("minute", 0, 59, ""),
    ("hour", 0, 23, ""),
    ("day of the month", 1, 31, ""),
    ("month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"),
    ("day of the week", 0, 7, "sun mon tue wed thu fri sat"),
)
_NICKNAMES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def _cron(text: str) -> str:
    """The five fields of cron, each checked against its range; "" for no schedule."""
    if not text or text in _NICKNAMES:
        return text
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            "a schedule has five fields, as '0 3 * * *' for every night at three: minute, hour, day of the month, month, "
            "day of the week"
        )
    for field, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.lower().split(","):
            if not _fits(part, low, high, words.split()):
                raise ValueError(f"{part!r} is no {name} of a schedule ({low} to {high}, a range, or */step)")
    if fields[3].lower() in ("2", "02", "feb") and fields[2] in ("30", "31"):
        raise ValueError("February has no such day: nothing would ever be built")
    return " ".join(fields)


def _fits(part: str, low: int, high: int, words: list[str]) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    first, last, step = (_number(text, words) for text in found.groups())
    bounds = [number for number in (first, last) if number is not None]
    if not all(low <= number <= high for number in bounds) or bounds != sorted(bounds):
        return False
    return step is None or 1 <= step <= (high if last is None else last)


def _number(text: str | None, words: list[str]) -> int | None:
    """The number that a name or digits stand for; one out of every range for other text."""
    if text is None:
        return None
    if text in words:
        return words.index(text) + (len(words) == 12)
    return int(text) if text.isascii() and text.isdigit() else -1


def _timezone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if available_timezones():  # where this machine has no list of them, Dagster brings one
            raise ValueError("no such time zone; they are named as Europe/Athens or UTC") from None
    return text


_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def _hours(text: str) -> str:
    if not text:
        return text
    if not _HOURS.fullmatch(text):
        raise ValueError("hours are given as '20:00-06:00', from when until when")
    if text[:5] == text[6:]:
        raise ValueError("hours begin when they end: leave them out, where any hour will do")
    return text


class Rebuild(Record):
    """When a data set is built again without being told to; by default never.

    `watch`: look every `every_seconds` whether the source has changed, and build when a change has stayed as it is for
    `settle_seconds`; a source with less than `least_share` of what it had is taken for a fault. `schedule`: build at these
    times, in cron's five fields and in `timezone`; an endpoint is asked for everything again. `fresh_hours`: how old what
    is published may be before it is told.

    `embed`: whether vectors that a release lacks are made by themselves while Dagster's daemon runs. `embed_hours`: from when
    until when, in `timezone`; at any hour unless given.
    """

    watch: bool = False
    settle_seconds: Count = 120
    every_seconds: Count = 60
    least_share: Share = 0.5
    schedule: Annotated[str, AfterValidator(_cron)] = ""
    timezone: Annotated[str, AfterValidator(_timezone)] = "UTC"
    fresh_hours: Positive | None = None
    embed: bool = True
    embed_hours: Annotated[str, AfterValidator(_hours)] = ""


class ProfileConfig(Record):
    """What the profile's facts are counted from.

    ``makers``, ``places``: relationships from works to makers and to places, by their ids in any set.
    """

    broader_properties: Properties
    makers: tuple[str, ...]
    places: tuple[str, ...]
    depiction_properties: Codes
    coordinate_properties: Properties
    identifier_properties: Properties
