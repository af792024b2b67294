"""Asking an endpoint patiently and politely: pauses, repeated attempts, formats, and what it all cost."""

from __future__ import annotations

import json
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, replace
from math import ceil, inf
from pathlib import Path

import polars as pl
import pyoxigraph as ox

from crmrag_assets.build.locks import SharedClock, Turns
from crmrag_assets.harvest.report import Gathered, Traffic
from crmrag_assets.harvest.triples import columns_of
from crmrag_assets.sources.endpoint import transport
from crmrag_assets.sources.endpoint.queries import ALIVE, Scope
from crmrag_assets.sources.endpoint.results import (
    JSON,
    TSV,
    Mangled,
    NotResults,
    Oversized,
    Row,
    Table,
    read_body,
    require_few,
)
from crmrag_assets.sources.endpoint.transport import Credentials, Failure, Limits, Response
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.config.build import Requests
from crmrag_query.config.sources.endpoint import EndpointConfig
from crmrag_query.errors import SourceError, SourceUnreachable
from crmrag_query.version import __version__


class OwnClock:
    """When the next request may start, as `SharedClock` holds it, but for this process alone."""

    def __init__(self) -> None:
        self._due = 0.0

    def moved(self, move: Callable[[float, float], float]) -> tuple[float, float]:
        """Move the time on by ``move`` of it and of now; gives what it was before, and now."""
        before, now = self._due, time.monotonic()
        self._due = move(before, now)
        return before, now


class Pace:
    """When requests start: a pause between any two, of all threads that ask, and longer ones for everybody after a failure.

    Counts the seconds that were waited.
    """

    def __init__(self, pause: float, clock: SharedClock | OwnClock) -> None:
        self._pause, self._clock = pause, clock
        self._waited = 0.0
        self._lock = threading.Lock()

    def turn(self) -> None:
        """Wait until a request may start."""
        while (left := self._left()) > 0:  # a failure elsewhere may have put the start off meanwhile
            time.sleep(left)

    def _left(self) -> float:
        """Seconds until a request may start, which are taken to be waited; 0 where one may, and the turn is taken."""
        with self._lock:
            due, now = self._clock.moved(lambda due, now: now + self._pause if due <= now else due)
            left = max(0.0, due - now)
            self._waited += left
        return left

    def back_off(self, seconds: float) -> None:
        """No request, of any thread, starts within these seconds from now."""
        with self._lock:
            self._clock.moved(lambda due, now: max(due, now + seconds))

    def taken(self) -> float:
        """Seconds waited since the last call."""
        with self._lock:
            waited, self._waited = self._waited, 0.0
        return waited


NAMES = "s", "p", "o", "g"
COUNT = ("n",)
REFUSALS = (400, 413, 414, 422, 431)  # the query is at fault: asking again does not help, a smaller one may
BUSY = (429, 503)
IS_BUSY = "It has too much to do. Build later, or ask it less (`requests`: `parallel`, `pause_seconds`)."
NO_ENDPOINT = (401, 403, 404, 405, 406, 410, 415, 501)
DAMAGED = 3  # damaged TSV bodies after which JSON is asked for from the start
# Rows of one response, of which each may take a kilobyte of memory; more where more are asked for.
MOST_ROWS = 500_000
DISCOVERED = 10  # requests in which an endpoint that answers at once is discovered
EARNING = 5000  # rows that one more request is needed for, at best
RESUMES = "What was harvested is kept: run the build again to go on."


class Unanswered(Exception):
    """The endpoint lives and will not answer this query; another, smaller one may do."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Damaged(Failure):
    """A body that cannot be read; in another format it may be."""


@dataclass(frozen=True)
class Learned:
    """What was found out about an endpoint: advice for later requests, never needed."""

    json: bool = False
    row_cap: int | None = None

    @classmethod
    def load(cls, path: Path) -> Learned:
        try:
            raw = json.loads(path.read_text(encoding="utf-8"))
            return cls(bool(raw["json"]), int(raw["row_cap"]) if raw["row_cap"] else None)
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def save(self, path: Path) -> None:
        write_text(path, canonical_json(asdict(self)))


class Client:
    """Sends queries, several threads at once; a query is tried again until it is answered or given up.

    ``turns``: how many requests at once other processes leave; None where nobody else asks the endpoint.
    """

    def __init__(
        self,
        config: EndpointConfig,
        requests: Requests,
        learned: Learned = Learned(),
        turns: Turns | None = None,
    ) -> None:
        self.settings, self.scope, self.learned = requests, Scope(config.graphs), learned
        self.url, self._default_graphs = config.url, config.default_graphs
        self._credentials = credentials_of(config)
        self._agent = f"CRM-RAG/{__version__} ({config.contact or 'no contact given'})"
        self._limits = Limits(requests.timeout_seconds, requests.response_bytes)
        self._turns = turns
        is_shared = turns is not None and turns.patience == inf  # a look waits for no back-off
        self._pace = Pace(
            requests.pause_seconds, SharedClock(turns.clock) if turns and is_shared else OwnClock()
        )
        self._seats = threading.BoundedSemaphore(requests.parallel)
        self._lock = threading.Lock()
        self._traffic, self._notes, self._repaired = Traffic(), Counter[str](), 0
        self.counts = False  # whether it ever gave a number
        self.headers: Mapping[str, str] = {}  # of the latest response that was read, by names in lower case
        self._rows = max(MOST_ROWS, 2 * max(requests.page_rows, requests.subject_rows, requests.blank_rows))
        self._reading = threading.Lock()  # one response at a time takes the memory that reading it needs
        self._sent, self._needed = 0, float(DISCOVERED)
        self._answered = False
        self._damaged = self._longest = 0

    def triples(self, query: str, patient: bool = True) -> tuple[pl.DataFrame, int]:
        """The triples that a SELECT of s, p, o (and g) gives, with columns of schema COLUMNS; and how many rows are none."""
        table = self.table(query, NAMES[: self.scope.width], patient)
        frame, others, _ = columns_of(
            table.rows if self.scope.graph else ((*row, None) for row in table.rows)
        )
        return frame, table.skipped + len(others)

    def rows(self, query: str, width: int, patient: bool = True) -> list[Row]:
        """The rows of a SELECT of s, p, o (and g): ``width`` terms each; see `table`."""
        return self.table(query, NAMES[:width], patient).rows

    def strings(self, query: str, variable: str = "iri") -> list[str]:
        """The values of a SELECT of one variable that holds strings."""
        return [row[0].value for row in self.table(query, (variable,)).rows if isinstance(row[0], ox.Literal)]

    def count(self, query: str, patient: bool = True) -> int:
        """The number that a SELECT of ?n gives."""
        return self._number(self.table(query, COUNT, patient).rows[0][0])

    def counted_strings(self, query: str, patient: bool = True) -> list[tuple[str, int]]:
        """The values of a SELECT of ?iri, which holds strings, and ?n, numbers."""
        rows = self.table(query, ("iri", *COUNT), patient).rows
        return [(text.value, self._number(n)) for text, n in rows if isinstance(text, ox.Literal)]

    def _number(self, term: object) -> int:
        if not isinstance(term, ox.Literal) or not term.value.isdecimal():
            raise Unanswered(f"it counts to {term}")
        self.counts = True
        return int(term.value)

    def table(self, query: str, variables: tuple[str, ...], patient: bool = True) -> Table:
        """The response to a SELECT of these variables; ``patient`` False: tried again once only, as it can be split.

        Raises Unanswered when the endpoint lives but does not answer the query, SourceError when it does not live.
        """
        attempts = 1 + (self.settings.retries if patient else min(1, self.settings.retries))
        try:
            return self._insistently(query, variables, attempts)
        except Failure as failure:
            if failure.code not in REFUSALS or not self._answered:
                try:
                    self._insistently(ALIVE, COUNT, 1 + self.settings.retries)
                except Failure as last:
                    raise self._down(last if self._answered else failure) from last
            raise Unanswered(failure.reason) from failure

    def go_on(self) -> None:
        """Take it that the endpoint answered before, in another process perhaps: what fails now may pass."""
        self._answered = True

    def expects(self, subjects: int) -> None:
        """Tell how many subjects' triples will be asked for: an endpoint that answers at once needs two requests a batch."""
        with self._lock:
            self._needed += 2 * ceil(subjects / self.settings.batch_entities)

    def brought(self, rows: int) -> None:
        """Tell of new rows, which were worth asking for."""
        with self._lock:
            self._needed += rows / EARNING

    def _spend(self) -> None:
        """Count a request; raises SourceError for one more than the endpoint's size can explain."""
        with self._lock:
            self._sent += 1
            sent, needed = self._sent - 1, ceil(self._needed)
        if sent >= self.settings.request_budget * needed:
            raise SourceError(
                f"{self.url} was sent {sent:,} requests, where one of its size that answers at once needs {needed:,}: "
                f"the budget of {self.settings.request_budget:,} times as many is used up. It counts more than it gives, "
                "or refuses most of what it is asked.",
                "If it is only weak, lower `batch_entities` to what it answers, or raise `request_budget` (`endpoint: "
                f"requests`). {RESUMES}",
            )

    def note(self, what: str, n: int = 1) -> None:
        """Count something worth knowing; it ends in the harvest report."""
        if n:
            with self._lock:
                self._notes[what] += n

    def saw(self, rows: int) -> None:
        """Tell how many rows a response had."""
        with self._lock:
            self._longest = max(self._longest, rows)

    def is_longest(self, rows: int) -> bool:
        """Whether no response ever had more rows: if so, a row cap may be why it has no more."""
        return rows >= self._longest > 0

    def learn_cap(self, rows: int) -> None:
        """Remember that the endpoint gives no more rows than this."""
        with self._lock:
            known = self.learned.row_cap
            self.learned = replace(self.learned, row_cap=min(rows, known) if known else rows)

    def learn_json(self) -> None:
        """From now on ask for JSON."""
        with self._lock:
            self.learned = replace(self.learned, json=True)

    @contextmanager
    def workers(self) -> Iterator[Executor]:
        """Threads that send as many requests at once as may be.

        When the endpoint goes away or somebody stops the build, nothing that waits is asked any more.
        """
        pool = ThreadPoolExecutor(self.settings.parallel)
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)

    def gathered(self) -> Gathered:
        """Traffic and notes since the last call."""
        with self._lock:
            waited = self._pace.taken()
            found = Gathered(replace(self._traffic, waited=waited), (), self._repaired, self._notes)
            self._traffic, self._notes, self._repaired = Traffic(), Counter(), 0
        return found

    def _insistently(self, query: str, variables: tuple[str, ...], attempts: int) -> Table:
        format = JSON if self.learned.json else TSV
        failure = Failure("it was not asked")
        for attempt in range(attempts):
            if attempt:
                self._pace.back_off(self._wait(attempt, failure))
            try:
                with self._seats, self._turns.turn() if self._turns else nullcontext():
                    return self._attempt(query, variables, format, attempt > 0)
            except Failure as found:
                failure = found
                if failure.code == 406 and format is TSV:
                    self.learn_json()
                else:
                    self._give_up_on(failure)
                format = JSON  # where a format is the fault, it is the remedy; else it does no harm
        raise failure

    def _attempt(
        self, query: str, variables: tuple[str, ...], format: ox.QueryResultsFormat, again: bool
    ) -> Table:
        self._spend()
        self._pace.turn()
        start, transferred, rows = time.monotonic(), 0, 0
        try:
            response = transport.send(
                self.url, query, format, self._agent, self._credentials, self._limits, self._default_graphs
            )
            transferred = response.transferred
            table = self._read(response, variables)
            rows = len(table.rows)
            return table
        finally:
            seconds = time.monotonic() - start
            with self._lock:
                self._traffic += Traffic(1, int(again), rows, transferred, seconds)

    def _read(self, response: Response, variables: tuple[str, ...]) -> Table:
        try:
            with self._reading:
                require_few(response.body, len(variables), self._rows)
                table = read_body(response.body, response.content_type, variables)
                if variables == COUNT and len(table.rows) != 1:
                    raise Mangled(f"{len(table.rows)} rows where a count has one")
        except Oversized as error:
            raise Failure(str(error), 413) from error
        except Mangled as error:
            self._damaged += 1
            if self._damaged == DAMAGED and not self.learned.json:
                self.learn_json()
                self.note("damaged TSV made JSON the format of all further requests")
            raise Damaged(f"its response is damaged: {error}") from error
        except NotResults as error:
            raise Failure(f"it answers something that is no result ({error})") from error
        self._answered = True
        self.headers = response.headers
        if response.url != self.url:
            self.note(f"responses by redirection to {response.url}: declare that address")
        if not table.labelled:
            self.note(
                f"responses in {table.format.name} with content type {response.content_type or '(none)'}"
            )
        with self._lock:
            self._repaired += table.repaired
        return table

    def _give_up_on(self, failure: Failure) -> None:
        """Raise at once what no further attempt can mend."""
        if failure.code in REFUSALS:
            raise failure
        if failure.certificate:
            raise SourceError(
                f"{self.url}: {failure.reason}.",
                "Check the address; name your own authority's certificates in the variable SSL_CERT_FILE.",
            )
        if failure.code == 401:
            raise self._down(failure)
        if not self._answered and (failure.code in NO_ENDPOINT or failure.unreachable):
            raise self._down(failure)
        if failure.wait is not None and failure.wait > self.settings.longest_wait_seconds:
            raise SourceUnreachable(
                f"{self.url} asks not to be asked for {failure.wait:,.0f} s ({failure.reason}).",
                f"Wait, or raise `longest_wait_seconds`. {RESUMES}",
            )

    def _wait(self, attempt: int, failure: Failure) -> float:
        """Seconds before the next attempt: none after a damaged body, which is asked for in another format at once."""
        if failure.wait is not None:
            return failure.wait
        if isinstance(failure, Damaged) and attempt == 1:
            return 0.0
        doubled = self.settings.first_wait_seconds * 2.0 ** (attempt - 1)
        return float(min(doubled, self.settings.longest_wait_seconds))

    def _down(self, failure: Failure) -> SourceError:
        what = f"{self.url} does not answer: {failure.reason}."
        if failure.code in (401, 403):
            return SourceError(
                what, "Name the environment variables with its credentials under `endpoint: auth`."
            )
        if self._answered:
            return SourceUnreachable(f"{self.url} stopped answering: {failure.reason}.", RESUMES)
        if failure.code in BUSY:
            return SourceUnreachable(what, IS_BUSY)
        remedy = "Check the address and whether the endpoint is up."
        if failure.reason.startswith("it answers something"):
            return SourceError(
                f"{self.url} is no SPARQL endpoint, or wants a login: {failure.reason}.", remedy
            )
        kind = SourceError if failure.code in NO_ENDPOINT else SourceUnreachable
        return kind(what, remedy)


def credentials_of(config: EndpointConfig) -> Credentials:
    """Credentials from the environment; SourceError names a variable that is not set."""
    headers = {header: _variable(name) for header, name in config.headers.items()}
    auth = config.auth
    if auth is None:
        return Credentials(headers=headers)
    if auth.kind == "bearer":
        return Credentials(headers=headers | {"Authorization": f"Bearer {_variable(auth.token or '')}"})
    user, password = _variable(auth.user or ""), _variable(auth.password or "")
    return Credentials(user, password, auth.kind == "digest", headers)


def _variable(name: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        raise SourceError(
            f"The environment variable {name} is not set.", "It holds a secret of the endpoint: set it."
        )
    if "\n" in value or "\r" in value:
        raise SourceError(
            f"The environment variable {name} holds a line break.", "Set it to the secret alone."
        )
    return value
