"""The releases of a data folder: found by data set, opened, and exchanged for newer ones while they are asked."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from crmrag_query.artifacts.files import Part
from crmrag_query.artifacts.manifest import (
    CURRENT,
    MANIFEST,
    RELEASES,
    dataset_folder,
    datasets_with_releases,
    pointer,
)
from crmrag_query.artifacts.mirror import bring_all, follow, mirror_of
from crmrag_query.artifacts.release import Opener, Release, open_release
from crmrag_query.client.records import ReleaseWarning
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import QuestionError, ReleaseError, ReleaseNotFound
from crmrag_query.graph.graph import TriplesIndex
from crmrag_query.linking import NameIndex
from crmrag_query.plans.world import World
from crmrag_query.reading.items import analysed
from crmrag_query.reading.read import parse
from crmrag_query.retrieval.aggregation import Aggregation, DateIndex
from crmrag_query.retrieval.dense import DenseIndex
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.retrieval.sparse import SparseIndex

RETRY_SECONDS = 5.0
"""How long a new release that could not be opened is left alone: it may still be being copied."""


FIRST = "Which were made in 1900?"
"""Asked of no one: what it needs is what most questions need."""


@dataclass
class Shelf:
    """The releases of one data set (a folder with ``current``), or one fixed release."""

    name: str
    folder: Path
    opener: Opener
    fixed: bool = False
    _open: Release | None = None
    _failed: tuple[str, float] = ("", 0.0)
    _damaged: tuple[str, ReleaseError] | None = None
    _warned: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def there(self) -> bool:
        """Whether the data set is still to be had: it ends with its pointer, or with the folder of a fixed release."""
        return (self.folder / (MANIFEST if self.fixed else CURRENT)).is_file()

    def release(self) -> Release:
        """The current release. While one thread opens a new one, the others are served from the old.

        Raises ReleaseError, ReleaseNotFound when there is none that could be served.
        """
        held = self._open
        if held is not None and (self.fixed or not self._changed(held)):
            return self._sound(held)
        if not self._lock.acquire(blocking=held is None):
            assert held is not None
            return held
        try:
            if self._open is None or (self._open is held and not self.fixed):
                self._open = self._opened() if held is None else self._exchanged(held)
            return self._open
        finally:
            self._lock.release()

    def _sound(self, held: Release) -> Release:
        """An open release, unless its folder is gone, or a file of it turned out to be damaged since."""
        if not (held.folder / MANIFEST).is_file():
            self._open = None
            return self.release()
        if held.intact is not None:
            try:
                held.intact.begin()
            except ReleaseError as error:
                self._damaged = (held.id, error)
                self._open = None
                raise
        return held

    def glance(self) -> Release:
        """The current release for what its manifest tells: opened, but nothing of it made ready. Raises as ``release``, as
        far as that is known by then."""
        if self._open is not None:
            return self.release()
        release, damaged = open_release(self.folder, opener=self.opener), self._damaged
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
        release = open_release(self.folder, opener=self.opener)
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
    needed: tuple[type[Part], ...] = (
        TriplesIndex, Documents, NameIndex, DateIndex, QueryEncoder, Aggregation, World,
    )  # fmt: skip
    by_mode: dict[str, type[Part]] = {"faiss_index": DenseIndex, "bm25_index": SparseIndex}
    for part in (*needed, *(part for name, part in by_mode.items() if release.manifest.has(name))):
        release[part]
    # The first question of a release is slow by half a second: the words of its languages and relations are made ready.
    with release.reading():
        parse(release, analysed(release, FIRST))


@dataclass
class Library:
    """The data sets of a target: a data folder, the folder of a data set's releases, or a release's folder. A data folder
    that mirrors an object store is filled at first, and follows it.

    ``opener``: for whom they are opened, by default the one that the environment tells of.
    """

    target: Path
    default: str | None = None
    opener: Opener = field(default_factory=Opener.here)
    _shelves: dict[str, Shelf] = field(default_factory=dict)
    _only: bool = field(init=False)  # the target is no data folder: it offers one data set
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.target = self.target.expanduser()
        self._only = not (self.target / RELEASES).is_dir()
        if (mirror := mirror_of(self.target)) is not None:
            bring_all(mirror)
            follow(mirror, self)
        if (self.target / MANIFEST).is_file():
            release = open_release(self.target, opener=self.opener)
            name = release.manifest.dataset
            self._shelves[name] = Shelf(name, self.target, self.opener, fixed=True)
        elif (self.target / CURRENT).is_file():
            name = self.target.resolve().name
            self._shelves[name] = Shelf(name, self.target, self.opener)
        elif not (self.target / RELEASES).is_dir():
            raise ReleaseNotFound(
                f"{self.target} holds no releases.",
                f"Give the folder that has {RELEASES}/ in it, the folder of a release, or the address of a service.",
            )

    def names(self) -> tuple[str, ...]:
        """The data sets at hand, sorted."""
        if self._only:
            return tuple(name for name, shelf in self._shelves.items() if shelf.there())
        return datasets_with_releases(self.target)

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

    def nothing(self) -> ReleaseNotFound:
        """Why there is no data set."""
        if not (self.target if self._only else self.target / RELEASES).is_dir():
            return ReleaseNotFound(
                "The folder of the releases is not there.", "See that its disk is mounted and can be read."
            )
        return ReleaseNotFound("No data set is built yet.", "Build one: crmrag build DATASET.")

    def _single(self) -> str:
        names = self.names()
        if len(names) == 1:
            return names[0]
        if not names:
            raise self.nothing()
        raise QuestionError(
            f"There are {len(names)} data sets: {', '.join(names)}.", "Say which one: dataset=..."
        )

    def _shelf(self, name: str) -> Shelf:
        with self._lock:
            shelf = self._shelves.get(name)
            if shelf is None and not self._only:
                shelf = Shelf(name, dataset_folder(self.target, name), self.opener)
            if shelf is None or not shelf.there():
                if not self._only:
                    self._shelves.pop(name, None)  # what was removed is held open no longer
                if not (names := self.names()):
                    raise self.nothing()
                raise ReleaseNotFound(f"There is no data set {name!r}.", f"There are: {', '.join(names)}.")
            return self._shelves.setdefault(name, shelf)
