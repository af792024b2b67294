"""A check: what it looks at and how, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import CrmRagError

Faults = Generator[str, None, int]
"""Yields a sentence for each kind of fault that is found, and returns how many things there were."""

SHOWN = 20  # sentences of a check that are kept; each speaks of all faults of its kind


@dataclass(frozen=True)
class Check:
    """``look`` goes over the ``things`` of a release; it may read ``reads``, top folders or files, and what opens them.

    It is run only where these are byte for byte what was built, so that it need not expect torn files. ``opens``: where it
    finds a fault, what reads that folder is not run either: a library may not survive such a table.
    """

    name: str
    things: str
    reads: tuple[str, ...]
    look: Callable[[Release], Faults]
    opens: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a check: how many things it looked at, and a sentence for each kind of fault.

    ``skipped``: it was not run, for files that it reads are damaged. ``remarks``: what is no fault and worth knowing.
    """

    name: str
    things: str
    looked: int
    faults: tuple[str, ...] = ()
    skipped: bool = False
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Report:
    """All checks of a release, in order."""

    release: str
    dataset: str
    checked: tuple[Checked, ...]

    @property
    def holds(self) -> bool:
        return not any(one.faults or one.skipped for one in self.checked)

    @property
    def faults(self) -> tuple[str, ...]:
        """Every fault as ``check: sentence``."""
        return tuple(f"{one.name}: {fault}" for one in self.checked for fault in one.faults)


def run_checks(checks: Iterable[Check], release: Release, damaged: Iterable[str] = ()) -> Iterator[Checked]:
    """Run checks in order, but those that read what is ``damaged``: folders and files at the top of the release."""
    left_out = set(damaged)
    for check in checks:
        if left_out.intersection(check.reads):
            yield Checked(check.name, check.things, 0, skipped=True)
            continue
        checked = run_check(check, release)
        if check.opens and checked.faults:
            left_out.add(check.opens)
        yield checked


def run_check(check: Check, release: Release) -> Checked:
    """Run one check. What stops it is a fault of the release too: a file of another version, or without sense."""
    faults: list[str] = []
    looked = 0
    running = check.look(release)
    try:
        while True:
            fault = next(running)
            if len(faults) < SHOWN:
                faults.append(fault)
    except StopIteration as end:
        looked = int(end.value)
    except Exception as error:  # values without sense may stop a library in any way
        known = isinstance(error, CrmRagError)
        faults.append(str(error) if known else f"it cannot be looked at ({type(error).__name__}: {error})")
    return Checked(check.name, check.things, looked, tuple(faults))
