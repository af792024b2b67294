"""What a harvest read, skipped, repaired and left out: nothing is lost silently."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from crmrag_assets.harvest.traffic import Gathered, Missing, Traffic
from crmrag_query.cli.printable import printable

TEXT_LIMIT = 160  # characters kept of a broken line


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


@dataclass(frozen=True)
class HarvestReport:
    """Counts over a whole source; ``entities`` and ``triples`` are distinct, after the exclusion of schema subjects.

    ``broken`` holds the first of ``broken_count`` faults; ``skipped`` counts triples left out, by reason;
    ``repaired`` those read with a repaired IRI; ``blank_merged`` components of blank nodes that repeat another one;
    ``blank_unproven`` those too symmetric to prove that their names do not depend on the order of the file.
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

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; `from_dict` reads them back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> HarvestReport:
        files = tuple(FileRead(**one) for one in raw["files"])
        return cls(**{**raw, "files": files, "broken": tuple(Broken(**one) for one in raw["broken"])})


@dataclass
class Tally:
    """Collects faults and counts while a source is read: ``file`` is the one being read, ``shown`` faults are kept."""

    shown: int = 10
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
        return len(self.broken) < self.shown

    def fault(self, line: int | None, text: str | bytes, reason: str) -> None:
        """Count a place that could not be read; it is kept while fewer than ``shown`` are kept."""
        self.broken_count += 1
        if self.keeps:
            self.broken.append(Broken(self.file, line, shortened(text), in_one_line(reason)))


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
    """Plain values for JSON; `gathered_from` reads them back."""
    return {
        "traffic": gathered.traffic.as_dict(),
        "missing": [asdict(one) for one in gathered.missing],
        "repaired": gathered.repaired,
        NOTES: dict(sorted(gathered.notes.items())),
    }


def gathered_from(raw: Mapping[str, Any]) -> Gathered:
    missing = tuple(Missing(**one) for one in raw["missing"])
    return Gathered(Traffic(**raw["traffic"]), missing, raw["repaired"], Counter(raw[NOTES]))


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


def in_one_line(text: str) -> str:
    """The text as a list of faults shows it."""
    return printable(" ".join(text.split()))


def shortened(text: str | bytes) -> str:
    """The beginning of a text, in one line."""
    plain = (text.decode("utf-8", "replace") if isinstance(text, bytes) else text).strip()
    return in_one_line(plain if len(plain) <= TEXT_LIMIT else plain[: TEXT_LIMIT - 1] + "…")
