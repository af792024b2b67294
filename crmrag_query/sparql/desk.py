"""Who asks a data set with SPARQL comes here: a few processes, each with one release at a time, shared by all."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from crmrag_query.artifacts.places import RELEASES
from crmrag_query.artifacts.release import Release
from crmrag_query.client.bounds import check_range
from crmrag_query.config.service import load_service
from crmrag_query.config.sparql import SparqlConfig
from crmrag_query.errors import Busy, CrmRagError
from crmrag_query.sparql.records import SparqlResult
from crmrag_query.sparql.worker import Worker

STORES = Path("cache") / "sparql"
"""Where stores on disk are, below a data folder."""


def stores_of(release: Release) -> Path:
    """The folder for the stores of a release: in its data folder, else, as it stands by itself, in the user's own cache."""
    folder = release.folder.resolve()
    if folder.parent.parent.name == RELEASES:
        return folder.parents[2] / STORES
    own = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(own).expanduser() / "crmrag" / "sparql"


def _bounds() -> SparqlConfig:
    return load_service().sparql


@dataclass
class _Place:
    """A process and what it does; ``used``: when it was last asked."""

    worker: Worker
    state: str = "starting"  # then "idle" or "busy"; "failed" with `error`
    used: float = 0.0
    error: CrmRagError | None = None


@dataclass
class SparqlDesk:
    """Runs read-only SPARQL over releases; safe for threads.

    ``config``: `sparql` of `service.yaml`, where none is given; ``stores``: folder for the stores of large releases, None for
    that of each (``stores_of``). A process is started with the first query on a release and stays for
    the next; it is ended with a query that runs too long, and where another release needs its place.
    """

    config: SparqlConfig = field(default_factory=_bounds)
    stores: Path | None = None
    _places: list[_Place] = field(default_factory=list)
    _change: threading.Condition = field(default_factory=threading.Condition)
    _closed: bool = False

    def run(self, release: Release, query: str, limit: int | None = None) -> SparqlResult:
        """The result of a query: ``limit`` rows or triples of it at most, None for as many as configured.

        Raises QuestionError for what may not be asked, cannot be read, or takes too long or too much; Busy where no
        process is free in time, or the data set is not yet ready; ReleaseError; MissingExtraError.
        """
        most = self.config.rows if limit is None else limit
        check_range("limit", most, 1, self.config.rows)
        place = self._taken(release)
        try:
            result = place.worker.run(query, most)
        finally:
            self._given_back(place)
        return result

    def close(self) -> None:
        """End all processes; queries that still run fail."""
        with self._change:
            self._closed = True
            places, self._places = self._places, []
            self._change.notify_all()
        for place in places:
            if place.state == "idle":
                place.worker.close()
            else:
                place.worker.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _taken(self, release: Release) -> _Place:
        """A process for the release that is free now, and this caller's until it is given back."""
        until, queued = time.monotonic() + self.config.seconds, False
        with self._change:
            while True:
                if self._closed:
                    raise CrmRagError("SPARQL is closed.", "Open another client.")
                self._bury()
                own = [place for place in self._places if place.worker.release == release.id]
                for place in own:
                    if place.state == "failed" and place.error is not None:
                        self._places.remove(place)
                        raise place.error
                    if place.state == "idle":
                        place.state, place.used = "busy", time.monotonic()
                        return place
                starting = any(place.state == "starting" for place in own)
                if not starting and self._make_room():
                    self._start(release)
                    continue
                if not self._change.wait(until - time.monotonic()) and time.monotonic() >= until:
                    raise _late(starting and not queued)
                queued = queued or not starting

    def _bury(self) -> None:
        """Forget the processes that ended while nobody asked them."""
        for place in [one for one in self._places if one.state == "idle" and not one.worker.alive]:
            place.worker.close()
            self._places.remove(place)

    def _make_room(self) -> bool:
        """True where one more process may be started; an idle one is ended for it."""
        if len(self._places) < self.config.processes:
            return True
        idle = [place for place in self._places if place.state == "idle"]
        if not idle:
            return False
        longest = min(idle, key=lambda place: place.used)
        self._places.remove(longest)
        longest.worker.close()
        return True

    def _start(self, release: Release) -> None:
        place = _Place(Worker(release, self.stores or stores_of(release), self.config))
        self._places.append(place)
        threading.Thread(target=self._await, args=(place,), name="sparql-start", daemon=True).start()

    def _await(self, place: _Place) -> None:
        """Let others know when the process can be asked, or why it never can."""
        state = "idle"
        try:
            place.worker.await_ready()
        except CrmRagError as error:
            place.error, state = error, "failed"
            place.worker.close()
        with self._change:
            place.state, place.used = state, time.monotonic()
            self._change.notify_all()

    def _given_back(self, place: _Place) -> None:
        with self._change:
            place.state = "idle"
            if not place.worker.alive and place in self._places:
                self._places.remove(place)
            self._change.notify_all()


def _late(starting: bool) -> Busy:
    if starting:
        return Busy(
            "The data set is being made ready for SPARQL, which takes minutes where it is large.",
            "Ask again in a while.",
        )
    return Busy("Too many SPARQL queries run at the moment.", "Ask again in a while.")
