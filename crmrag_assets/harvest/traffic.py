"""What a harvest cost at its source, and what it could not get."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import Any


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
        return Traffic(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(Traffic)))

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON, seconds rounded to milliseconds; ``Traffic(**values)`` reads them back."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: round(value, 3) if isinstance(value, float) else value for name, value in values.items()
        }


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
        return Gathered(
            self.traffic + other.traffic,
            self.missing + other.missing,
            self.repaired + other.repaired,
            self.notes + other.notes,
        )
