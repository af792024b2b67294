"""Who asks a data set with SPARQL comes here: a few processes (``child``), each with one release at a time, shared by all.

A process is ended with the query that runs too long.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from crmrag_query.artifacts.manifest import RELEASES, user_cache
from crmrag_query.artifacts.release import Release
from crmrag_query.bounds import check_range
from crmrag_query.codec import from_plain, from_problem, to_json
from crmrag_query.config.service import SparqlConfig, load_service
from crmrag_query.errors import Busy, CrmRagError, QuestionError, ServiceError
from crmrag_query.sparql.evaluate import SparqlResult
from crmrag_query.sparql.store import Setup
from crmrag_query.timing import check

# What the process gets of the environment: nothing secret.
ENVIRONMENT = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG", "LC_ALL", "TZ")


class Worker:
    """One process for one release. Not safe for threads: ``SparqlDesk`` lets one at a time use it.

    Its own process, and not `multiprocessing`, which would run the caller's main module again.
    """

    def __init__(self, release: Release, stores: Path, config: SparqlConfig) -> None:
        self.release = release.id
        self._config = config
        # The process finds this package where this one does; one thread computes as well as many for so little.
        environment = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
        environment |= {
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            "PYTHONUTF8": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        command = [sys.executable, "-P", "-m", "crmrag_query.sparql.store"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        setup = Setup(str(release.folder.resolve()), release.id, str(stores.resolve()), config.model_dump())
        self._send(to_json(setup))

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def number(self) -> int:
        """The process's id."""
        return self._process.pid

    def await_ready(self) -> None:
        """Return when it can be asked; raises ReleaseError, MissingExtraError or ServiceError where it never can."""
        self._received(
            ServiceError(
                "The process for SPARQL queries ended before it began.", "See the log for the reason."
            )
        )

    def run(self, query: str, limit: int) -> SparqlResult:
        """The result of a query; QuestionError where it takes too much, after which the process is gone (``alive``)."""
        too_long = threading.Event()

        def end() -> None:
            too_long.set()
            self._process.kill()

        watch = threading.Timer(self._config.seconds, end)
        watch.start()
        try:
            self._send(json.dumps({"query": query, "limit": limit}))
            answer = self._received(
                QuestionError(
                    "The query ended the process that ran it: it needs more memory than it may take, or is too intricate.",
                    "Ask for less: fewer rows, no ORDER BY or GROUP BY over everything, fewer alternatives.",
                )
            )
        except QuestionError as error:
            if too_long.is_set():
                raise QuestionError(
                    f"The query took longer than {self._config.seconds:g} seconds.",
                    "Ask for less: join through fewer variables, name an entity or a class, leave out ORDER BY.",
                ) from error
            raise
        finally:
            watch.cancel()
            if too_long.is_set():
                self.close()
        return from_plain(SparqlResult, answer["result"])

    def end(self) -> None:
        """End the process at once; whoever waits for its answer is told, and closes."""
        self._process.kill()

    def close(self) -> None:
        """End the process and forget it; never while another thread waits for its answer."""
        self._process.kill()
        for stream in (self._stdin, self._stdout):
            with suppress(OSError):
                stream.close()
        self._process.wait()

    def _send(self, line: str) -> None:
        with suppress(OSError):  # a process that ended is noticed when its answer does not come
            self._stdin.write(line + "\n")
            self._stdin.flush()

    def _received(self, ended: CrmRagError) -> dict[str, Any]:
        """Its answer; raises the error that it tells, or ``ended`` where it has ended."""
        line = self._stdout.readline()
        if not line.endswith("\n"):
            self.close()
            raise ended
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise from_problem(answer["error"])
        return answer


STORES = Path("cache") / "sparql"
"""Where stores on disk are, below a data folder."""


def stores_of(release: Release) -> Path:
    """The folder for the stores of a release: in its data folder, else, as it stands by itself, in the user's own cache."""
    folder = release.folder.resolve()
    if folder.parent.parent.name == RELEASES:
        return folder.parents[2] / STORES
    return user_cache() / "sparql"


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

    config: SparqlConfig = field(default_factory=lambda: load_service().sparql)
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
            check()
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

    def __exit__(self, *_: object) -> None:
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
                    if starting and not queued:
                        raise Busy(
                            "The data set is being made ready for SPARQL, which takes minutes where it is large.",
                            "Ask again in a while.",
                        )
                    raise Busy("Too many SPARQL queries run at the moment.", "Ask again in a while.")
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
