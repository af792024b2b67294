"""The answer as a record: what is said, from which sources, by which triples. The same in Python, JSON and on screen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from crmrag_query.answers.named import Named as Named
from crmrag_query.answers.named import SourceTriple as SourceTriple
from crmrag_query.sets.records import AnswerSet


@dataclass(frozen=True, slots=True)
class SourceLink:
    """The same thing elsewhere; ``kind``: the authority, or "other"."""

    iri: str
    kind: str


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Degrees of WGS 84, north and east positive; ``of``: the place that they are of, where that is not the source itself."""

    lat: float
    lon: float
    of: Named | None = None


@dataclass(frozen=True, slots=True)
class Dates:
    """When something was or came to be: in words of the question's language, and its first and last year as ISO 8601 writes
    years ("1105", "-0499" for 500 BC), None where an end is open."""

    text: str
    begin: str | None = None
    end: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A numbered source: an entity of the graph and the triples that the answer rests on.

    ``classes``: their names in the question's language; ``snippet``: the line of its document that bears most on what was
    said; ``entities``: those without a document of their own whose lines in its document were used; ``images``: addresses;
    ``licence``, ``attribution``: its own, else the data set's; ``cited``: the text cites it (what
    was retrieved besides and put before the writer is a source too, but not cited); ``score``: how well its document fits the
    question, as in a ranking, None where it was not retrieved (a member of an exact set).
    """

    n: int
    iri: str
    label: str
    category: str
    triples: tuple[SourceTriple, ...]
    classes: tuple[str, ...] = ()
    snippet: str = ""
    entities: tuple[Named, ...] = ()
    images: tuple[str, ...] = ()
    links: tuple[SourceLink, ...] = ()
    licence: str = ""
    attribution: str = ""
    coordinates: Coordinates | None = None
    dates: Dates | None = None
    cited: bool = True
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A sentence or list item that cites: ``text[start:end]`` of the answer, citations included, and their numbers."""

    start: int
    end: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A sentence or list item, ``text[start:end]`` of the answer, that its sources do not support.

    ``reason``: ``uncited`` (it cites no source), ``missing`` (the lines that it cites do not hold what ``missing`` gives:
    names, numbers, dates, addresses), ``unrelated`` (they hold none of its words), or ``planted`` (what it says stands only
    in text of the data that speaks to a language model).
    """

    start: int
    end: int
    missing: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Quality:
    """How good an answer is, 0..1, and the parts that the score is made of; see ``support``."""

    score: float
    grounded: float
    coverage: float
    citations: float
    form: float


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: ``text`` cites ``sources`` as [n].

    ``mode``: the composition that retrieved; ``release``: the id of the release answered from; ``exhaustive``: the text
    states a whole set, not the best of a ranking; ``written_by``: the model, or "extractive"; ``notes``: what the reader
    should know, such as a model that failed; ``refused``: it says, honestly, that the data does not say; ``timings``:
    milliseconds by stage (answers that differ in them alone are equal); ``form``: the query type; ``set``: the exact set that
    a plan of the question gives, None where it has none.
    """

    question: str
    text: str
    sources: tuple[Source, ...]
    mode: str
    release: str
    exhaustive: bool
    written_by: str
    notes: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    unsupported: tuple[Unsupported, ...] = ()
    refused: bool = False
    quality: Quality | None = None
    timings: dict[str, float] = field(default_factory=dict, compare=False)
    language: str = ""
    form: str = ""
    set: AnswerSet | None = None

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values, ready for JSON."""
        return asdict(self)
