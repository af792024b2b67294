"""What a check is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from crmrag_assets.build.step import BuildContext

Row = Mapping[str, Any]
Weight = Literal["blocks", "fails", "warns"]
"""What a check that does not hold does: it stops the build before what depends on the artifact; it shows as an error; it
asks a person to look."""


@dataclass(frozen=True)
class Finding:
    """Whether something is as it should be, and a sentence with what was found; ``remedy``: what to do where it is not.

    ``counts``: the same keys every time, so that the numbers plot; ``tables``: samples by title, rows of equal keys.
    """

    holds: bool
    says: str
    counts: Mapping[str, int | float | str] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    remedy: str = ""

    def __post_init__(self) -> None:
        if both := self.counts.keys() & self.tables.keys():
            raise ValueError(f"numbers and tables are shown by one name: {', '.join(sorted(both))}")


@dataclass(frozen=True)
class Check:
    """A look at a finished artifact; ``about``: what is looked at and what to do, for the catalogue."""

    name: str
    asset: str
    weight: Weight
    about: str
    look: Callable[[BuildContext], Finding]

    @property
    def blocks(self) -> bool:
        return self.weight == "blocks"


def made_anew(context: BuildContext, artifact: str) -> str:
    """What to do with an artifact that its own step made wrong."""
    return (
        f"Have it made anew: remove {context.folder(artifact)}, then run crmrag build {context.name}. "
        "If that does not help, it is a fault of crmrag: report it with this message."
    )


def share(part: int, whole: int) -> float:
    """The part's share, to six places; 0 of nothing."""
    return round(part / whole, 6) if whole else 0.0


def percent(part: float) -> str:
    """A share of 1 as a person reads it."""
    return f"{100 * part:.2g} %" if part < 0.1 else f"{100 * part:.0f} %"
