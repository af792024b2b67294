"""Checks, of the artifacts of a build and of a whole release, and what they find."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from crmrag_query.errors import CrmRagError

Faults = Generator[str, None, int]
"""Yields a sentence for each kind of fault that is found, and returns how many things there were."""
Row = Mapping[str, Any]
Weight = Literal["blocks", "fails", "warns"]
"""What a check that does not hold does: it stops the build before what depends on the artifact; it shows as an error; it
asks a person to look."""
SHOWN = 20  # sentences of a check that are kept; each speaks of all faults of its kind
Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Finding:
    """Whether something is as it should be, and a sentence with what was found; ``remedy``: what to do where it is not.

    ``counts``: the same keys every time, so that the numbers plot; ``tables``: samples by title, rows of equal keys.
    ``looked``: how many things were looked at, and ``faults``: a sentence for each kind of fault in them. ``skipped``: the
    check was not run, as files that it reads are damaged. ``remarks``: what is no fault and worth knowing.
    """

    holds: bool
    says: str = ""
    counts: Mapping[str, int | float | str] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    remedy: str = ""
    looked: int = 0
    faults: tuple[str, ...] = ()
    skipped: bool = False
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if both := self.counts.keys() & self.tables.keys():
            raise ValueError(f"numbers and tables are shown by one name: {', '.join(sorted(both))}")


@dataclass(frozen=True)
class Check(Generic[Subject]):
    """A look at something that was built, which gives what it finds or yields its faults.

    ``of``: the artifact that it guards; of a check of whole releases, what it counts. ``about``: what is looked at and what
    to do, for the catalogue. ``reads``: the top folders or files of a release that it may read; it is run only where these
    are byte for byte what was built, so that it need not expect torn files. ``opens``: where it finds a fault, what reads
    that folder is not run either: a library may not survive such a table.
    """

    name: str
    of: str
    look: Callable[[Subject], Finding | Faults]
    weight: Weight = "blocks"
    about: str = ""
    reads: tuple[str, ...] = ()
    opens: str = ""

    @property
    def blocks(self) -> bool:
        return self.weight == "blocks"

    def found(self, subject: Subject) -> Finding:
        """What it finds of ``subject`` now. What stops a check that yields is a fault; others raise what they meet."""
        found = self.look(subject)
        return found if isinstance(found, Finding) else collected(found)


@dataclass(frozen=True, slots=True)
class Report:
    """What all checks of a release found, in order."""

    release: str
    dataset: str
    found: tuple[tuple[Check[Any], Finding], ...]

    @property
    def holds(self) -> bool:
        return all(finding.holds for _, finding in self.found)

    @property
    def faults(self) -> tuple[str, ...]:
        """Every fault as ``check: sentence``."""
        return tuple(f"{check.name}: {fault}" for check, finding in self.found for fault in finding.faults)


def collected(faults: Faults) -> Finding:
    """Run a look that yields its faults. What stops it is a fault too: a file of another version, or without sense."""
    found: list[str] = []
    looked = 0
    try:
        while True:
            fault = next(faults)
            if len(found) < SHOWN:
                found.append(fault)
    except StopIteration as end:
        looked = int(end.value)
    except Exception as error:  # values without sense may stop a library in any way
        known = isinstance(error, CrmRagError)
        found.append(str(error) if known else f"it cannot be looked at ({type(error).__name__}: {error})")
    return Finding(not found, "; ".join(found), looked=looked, faults=tuple(found))
