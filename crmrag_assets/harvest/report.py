"""What a harvest read, skipped, repaired, left out and could not get, and what it cost at its source: nothing is lost
silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, astuple, dataclass, field, fields
from typing import Any

from crmrag_query.text import printable


@dataclass(frozen=True, slots=True)
class Traffic:
    """Requests sent, those of them that repeat a failed one, rows and bytes received, and seconds spent.

    ``bytes`` are as transferred; ``seconds`` sum over all requests, which may run beside one another; ``waited`` are the
    seconds between requests, for politeness and after failures.
    """

    requests: int = 0
    retries: int = 0
    rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    waited: float = 0.0

    def __add__(self, other: Traffic) -> Traffic:
        return Traffic(*(own + more for own, more in zip(astuple(self), astuple(other), strict=True)))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, seconds rounded to milliseconds; ``Traffic(**values)`` reads them back."""
        return {name: round(value, 3) for name, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Missing:
    """Triples that the source has and would not give: of a subject, of one of its properties, or counted only.

    ``triples`` is None where their number is not known; ``subject`` is "" where the subjects are not known.
    """

    reason: str
    subject: str = ""
    property: str = ""
    triples: int | None = None

    def __str__(self) -> str:
        what = "triples" if self.triples is None else f"{self.triples:,} triples"
        of = f" of <{self.subject}>" if self.subject else ""
        by = f" by <{self.property}>" if self.property else ""
        return f"{what}{of}{by}: {self.reason}"


@dataclass(frozen=True)
class Gathered:
    """What one part of a harvest (discovery or a chunk) met besides its triples.

    ``notes`` counts things worth knowing by their description, such as "batches halved" or "responses as JSON".
    """

    traffic: Traffic = Traffic()
    missing: tuple[Missing, ...] = ()
    repaired: int = 0
    notes: Counter[str] = field(default_factory=Counter)

    def __add__(self, other: Gathered) -> Gathered:
        return Gathered(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))


TEXT_LIMIT = 160  # characters kept of a broken line
FAULTS_KEPT = (
    10  # broken lines that the report quotes, with their numbers: enough to see what is wrong with an export
)
HARVEST_JSON, HARVEST_MARKDOWN = "harvest_report.json", "harvest_report.md"


@dataclass(frozen=True, slots=True)
class Broken:
    """A place that could not be read; ``line`` is None where its number cannot be known."""

    file: str
    line: int | None
    text: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{place}: {self.reason}" + (f" | {self.text}" if self.text else "")


@dataclass(frozen=True, slots=True)
class FileRead:
    """One file, its format, and how many triples (of all graphs, repetitions included) were read from it."""

    file: str
    format: str
    triples: int


@dataclass(frozen=True, slots=True)
class PartRead:
    """One of several sources: its kind, where it is, the graph of its triples that name none, and what it holds by itself."""

    kind: str
    places: str
    graph: str
    entities: int
    triples: int


@dataclass(frozen=True)
class HarvestReport:
    """Counts over a whole source; ``entities`` and ``triples`` are distinct, after the exclusion of schema subjects.

    ``broken`` holds the first of ``broken_count`` faults; ``skipped`` counts triples left out, by reason;
    ``repaired`` those read with a repaired IRI; ``blank_merged`` components of blank nodes that repeat another one;
    ``blank_unproven`` those too symmetric to prove that their names do not depend on the order of the file. ``parts``:
    the sources of a data set that has several.
    """

    files: tuple[FileRead, ...] = ()
    triples_read: int = 0
    triples: int = 0
    entities: int = 0
    excluded_subjects: int = 0
    excluded_triples: int = 0
    graphs: int = 0
    broken: tuple[Broken, ...] = ()
    broken_count: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    repaired: int = 0
    anonymous: int = 0
    blank_nodes: int = 0
    blank_components: int = 0
    blank_merged: int = 0
    blank_unproven: int = 0
    parts: tuple[PartRead, ...] = ()


@dataclass
class Tally:
    """Collects faults and counts while a source is read: ``file`` is the one being read."""

    file: str = ""
    broken: list[Broken] = field(default_factory=list)
    broken_count: int = 0
    repaired: int = 0
    anonymous: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    files: list[FileRead] = field(default_factory=list)

    @property
    def keeps(self) -> bool:
        """Whether the next fault is still kept in full."""
        return len(self.broken) < FAULTS_KEPT

    def fault(self, line: int | None, text: str | bytes, reason: str) -> None:
        """Count a place that could not be read; only the first are kept."""
        self.broken_count += 1
        if self.keeps:
            self.broken.append(Broken(self.file, line, shortened(text), printable(" ".join(reason.split()))))


# What a chunk's traffic is called among the counts of its step, where `bytes` and `seconds` are those of its files.
TRAFFIC = {
    "requests": "requests",
    "retries": "retries",
    "rows": "rows_received",
    "bytes": "bytes_received",
    "seconds": "request_seconds",
    "waited": "seconds_waited",
}
NOTES = "notes"
# Notes by which a source tells of triples that it counts and we do not hold; an account takes them off what was counted.
MERGED = "triples of blank nodes that repeat others"
REPEATED = "triples that the source gave more than once"
ROUNDED = "numbers (xsd:double, xsd:float) that the source gives with fewer digits than it holds"
LEFT_OUT = "triples left out as no RDF that can be kept"


def gathered_as_dict(gathered: Gathered) -> dict[str, Any]:
    """Plain values for JSON; pydantic reads them back."""
    return {
        "traffic": gathered.traffic.as_dict(),
        "missing": [asdict(one) for one in gathered.missing],
        "repaired": gathered.repaired,
        NOTES: dict(sorted(gathered.notes.items())),
    }


def traffic_stats(gathered: Gathered) -> dict[str, Any]:
    """What differs from run to run, as counts of a step; empty for files, which nobody asks."""
    if not gathered.traffic.requests and not gathered.notes:
        return {}
    values = gathered.traffic.as_dict()
    named = {name: values[own] for own, name in TRAFFIC.items()}
    return named | ({NOTES: dict(sorted(gathered.notes.items()))} if gathered.notes else {})


def traffic_from(stats: Mapping[str, Any]) -> Gathered:
    """Traffic and notes read back from a step's counts."""
    traffic = Traffic(**{own: stats[name] for own, name in TRAFFIC.items() if name in stats})
    return Gathered(traffic, notes=Counter(stats.get(NOTES, {})))


def shortened(text: str | bytes) -> str:
    """The beginning of a text, in one line."""
    plain = (text.decode("utf-8", "replace") if isinstance(text, bytes) else text).strip()
    cut = plain if len(plain) <= TEXT_LIMIT else plain[: TEXT_LIMIT - 1] + "…"
    return printable(" ".join(cut.split()))
