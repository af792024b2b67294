"""What a harvest read, skipped, repaired and left out: nothing is lost silently."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

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
            self.broken.append(Broken(self.file, line, shortened(text), reason))


def shortened(text: str | bytes) -> str:
    plain = (text.decode("utf-8", "replace") if isinstance(text, bytes) else text).strip()
    return plain if len(plain) <= TEXT_LIMIT else plain[: TEXT_LIMIT - 1] + "…"
