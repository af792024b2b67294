"""Which releases a folder offers, and the current one of each, opened once and exchanged when another becomes current."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crmrag_query.artifacts.manifest import MANIFEST
from crmrag_query.artifacts.places import (
    CURRENT,
    RELEASES,
    dataset_folder,
    datasets_with_releases,
    pointer,
)
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import QuestionError, ReleaseError, ReleaseNotFound

RETRY_SECONDS = 5.0
"""How long a new release that could not be opened is left alone: it may still be being copied (ours)."""

FIRST = "Which were made in 1900?"
"""Asked of no one: what it needs is what most questions need."""

PARTS = (
    "method", "ontology", "catalogue", "graph", "triples", "documents", "names", "dates", "dense", "sparse", "encoder",
    "aggregation", "world", "house",
)  # fmt: skip
"""What questions need of a release."""


class ReleaseWarning(UserWarning):
    """A new release cannot be opened; the one before is served on."""


@dataclass
class Shelf:
    """The releases of one data set (a folder with ``current``), or one fixed release."""

    name: str
    folder: Path
    fixed: bool = False
    _open: Release | None = None
    _failed: tuple[str, float] = ("", 0.0)
    _damaged: tuple[str, ReleaseError] | None = None
    _warned: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def release(self) -> Release:
        """The current release. While one thread opens a new one, the others are served from the old.

        Raises ReleaseError, ReleaseNotFound when there is none that could be served.
        """
        held = self._open
        if held is not None and (self.fixed or not self._changed(held)):
            return held
        if not self._lock.acquire(blocking=held is None):
            assert held is not None
            return held
        try:
            if self._open is None or (self._open is held and not self.fixed):
                self._open = self._opened() if held is None else self._exchanged(held)
            return self._open
        finally:
            self._lock.release()

    def glance(self) -> Release:
        """The current release for what its manifest tells: opened, but nothing of it made ready. Raises as ``release``, as
        far as that is known by then."""
        if self._open is not None:
            return self.release()
        release, damaged = open_release(self.folder), self._damaged
        if damaged is not None and damaged[0] == release.id:
            raise ReleaseError(damaged[1].what, damaged[1].remedy)
        return release

    def _changed(self, held: Release) -> bool:
        try:
            current = pointer(self.folder)
        except ReleaseError as error:
            self._tell("damaged", error)
            return False
        if current in (None, held.folder.name):
            return False
        failed, when = self._failed
        return current != failed or time.monotonic() - when > RETRY_SECONDS

    def _opened(self) -> Release:
        release = open_release(self.folder)
        try:
            warm(release)
        except ReleaseError as error:
            self._damaged = (release.id, error)
            raise
        return release

    def _exchanged(self, held: Release) -> Release:
        """The new current release, or ``held`` when it cannot be opened."""
        wanted = ""
        try:
            wanted = pointer(self.folder) or ""
            return self._opened()
        except ReleaseError as error:
            self._failed = (wanted, time.monotonic())
            self._tell(wanted, error)
            return held

    def _tell(self, what: str, error: ReleaseError) -> None:
        """Warn, once for each release that fails."""
        if self._warned != what:
            self._warned = what
            warnings.warn(
                f"Data set '{self.name}': the new release cannot be opened, the one before is served on. {error}",
                ReleaseWarning,
                stacklevel=2,
            )


def warm(release: Release) -> None:
    """Open the parts that every question needs, so that a damaged release shows before it is asked; ReleaseError."""
    for part in PARTS:
        getattr(release, part)
    # The first question of a release is slow by half a second: the words of its languages and relations are made ready.
    from crmrag_query.parsing.heard import analysed
    from crmrag_query.parsing.parse import parse

    parse(release, analysed(release, FIRST))


@dataclass
class Library:
    """The data sets of a target: a data folder, the folder of a data set's releases, or a release's folder."""

    target: Path
    default: str | None = None
    _shelves: dict[str, Shelf] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.target = self.target.expanduser()
        if (self.target / MANIFEST).is_file():
            release = open_release(self.target)
            name = release.manifest.dataset
            self._shelves[name] = Shelf(name, self.target, fixed=True)
        elif (self.target / CURRENT).is_file():
            name = self.target.resolve().name
            self._shelves[name] = Shelf(name, self.target)
        elif not (self.target / RELEASES).is_dir():
            raise ReleaseNotFound(
                f"{self.target} holds no releases.",
                f"Give the folder that has {RELEASES}/ in it, the folder of a release, or the address of a service.",
            )

    def names(self) -> tuple[str, ...]:
        """The data sets at hand, sorted."""
        return tuple(self._shelves) if self._only else datasets_with_releases(self.target)

    def release(self, dataset: str | None = None) -> tuple[str, Release]:
        """Name and current release of a data set: the one given, the default, or the only one there is.

        Raises QuestionError when the choice is open; ReleaseNotFound, ReleaseError.
        """
        name = dataset or self.default or self._single()
        return name, self._shelf(name).release()

    def glance(self, dataset: str) -> Release:
        """The current release of a data set for what its manifest tells, without the second that making it ready takes."""
        return self._shelf(dataset).glance()

    def glances(self) -> Iterator[tuple[str, Release | ReleaseError]]:
        """All data sets by name, each as ``glance`` gives it, or why it cannot be opened."""
        for name in self.names():
            try:
                yield name, self.glance(name)
            except ReleaseError as error:
                yield name, error

    @property
    def _only(self) -> bool:
        return not (self.target / RELEASES).is_dir()

    def _single(self) -> str:
        names = self.names()
        if len(names) == 1:
            return names[0]
        if not names:
            raise ReleaseNotFound("No data set is built yet.", "Build one: crmrag build DATASET.")
        raise QuestionError(
            f"There are {len(names)} data sets: {', '.join(names)}.", "Say which one: dataset=..."
        )

    def _shelf(self, name: str) -> Shelf:
        with self._lock:
            shelf = self._shelves.get(name)
            if shelf is not None:
                return shelf
            folder = self.target if self._only else dataset_folder(self.target, name)
            if self._only or not (folder / CURRENT).is_file():
                known = ", ".join(self.names()) or "none"
                raise ReleaseNotFound(f"There is no data set {name!r}.", f"There are: {known}.")
            return self._shelves.setdefault(name, Shelf(name, folder))
