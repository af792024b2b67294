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
from functools import partial
from math import inf
from pathlib import Path
from typing import TypeVar

import pyoxigraph as ox

from crmrag_assets.build.turns import Turns
from crmrag_assets.harvest.traffic import Gathered, Traffic
from crmrag_assets.sources.endpoint import transport
from crmrag_assets.sources.endpoint.pace import CommonClock, Pace
from crmrag_assets.sources.endpoint.queries import ALIVE, Scope
from crmrag_assets.sources.endpoint.results import (
    JSON,
    TSV,
    Mangled,
    NotResults,
    Results,
    Row,
    Table,
    read_body,
)
from crmrag_assets.sources.endpoint.transport import Credentials, Failure, Limits, Response
from crmrag_assets.sources.endpoint.triples import Triples, read_triples
from crmrag_query import __version__
from crmrag_query.artifacts.files import canonical_json, write_text
from crmrag_query.config.build import Requests
from crmrag_query.config.endpoint import EndpointConfig
from crmrag_query.errors import SourceError, SourceUnreachable

NAMES = "s", "p", "o", "g"
COUNT = ("n",)
REFUSALS = (400, 413, 414, 422, 431)  # the query is at fault: asking again does not help, a smaller one may
BUSY = (429, 503)
IS_BUSY = "It has too much to do. Build later, or ask it less (`requests`: `parallel`, `pause_seconds`)."
NO_ENDPOINT = (401, 403, 404, 405, 406, 410, 415, 501)
DAMAGED = 3  # damaged TSV bodies after which JSON is asked for from the start
R = TypeVar("R", bound=Results)
Reader = Callable[[bytes, str], R]
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
        common = (
            CommonClock(turns) if turns and turns.patience == inf else None
        )  # a look waits for no back-off
        self._pace = Pace(requests.pause_seconds, common)
        self._pool: Executor | None = None
        self._seats = threading.BoundedSemaphore(requests.parallel)
        self._lock = threading.Lock()
        self._traffic, self._notes, self._repaired = Traffic(), Counter[str](), 0
        self.counts = False  # whether it ever gave a number
        self.headers: Mapping[str, str] = {}  # of the latest response that was read, by names in lower case
        self._answered = False
        self._damaged = self._longest = 0

    def triples(self, query: str, patient: bool = True) -> Triples:
        """The response to a SELECT of s, p, o (and g, where graphs are told), as triples; errors as `table`."""
        variables = NAMES[: self.scope.width]
        return self._answered_by(query, partial(read_triples, variables=variables), patient)

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

    def table(self, query: str, variables: tuple[str, ...], patient: bool = True) -> Table[Row]:
        """The response to a SELECT of these variables; ``patient`` False: tried again once only, as it can be split.

        Raises Unanswered when the endpoint lives but does not answer the query, SourceError when it does not live.
        """
        return self._answered_by(query, partial(_read_rows, variables=variables), patient)

    def _answered_by(self, query: str, read: Reader[R], patient: bool) -> R:
        attempts = 1 + (self.settings.retries if patient else min(1, self.settings.retries))
        try:
            return self._insistently(query, read, attempts)
        except Failure as failure:
            if failure.code not in REFUSALS or not self._answered:
                self._require_life(failure)
            raise Unanswered(failure.reason) from failure

    def go_on(self) -> None:
        """Take it that the endpoint answered before, in another process perhaps: what fails now may pass."""
        self._answered = True

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
        """Threads that send as many requests at once as may be; they stay for the next time.

        When the endpoint goes away or somebody stops the build, nothing that waits is asked any more.
        """
        pool = self._pool or ThreadPoolExecutor(self.settings.parallel)
        self._pool = None
        try:
            yield pool
            self._pool = pool
        finally:
            if self._pool is None:
                pool.shutdown(cancel_futures=True)

    def gathered(self) -> Gathered:
        """Traffic and notes since the last call."""
        with self._lock:
            waited = self._pace.taken()
            found = Gathered(replace(self._traffic, waited=waited), (), self._repaired, self._notes)
            self._traffic, self._notes, self._repaired = Traffic(), Counter(), 0
        return found

    def _insistently(self, query: str, read: Reader[R], attempts: int) -> R:
        format = JSON if self.learned.json else TSV
        failure = Failure("it was not asked")
        for attempt in range(attempts):
            if attempt:
                self._pace.back_off(self._wait(attempt, failure))
            try:
                return self._attempt(query, read, format, attempt > 0)
            except Failure as found:
                failure = found
                if failure.code == 406 and format is TSV:
                    self.learn_json()
                else:
                    self._give_up_on(failure)
                format = JSON  # where a format is the fault, it is the remedy; else it does no harm
        raise failure

    def _attempt(self, query: str, read: Reader[R], format: ox.QueryResultsFormat, again: bool) -> R:
        with self._seats, self._turns.turn() if self._turns else nullcontext():
            return self._attempt_now(query, read, format, again)

    def _attempt_now(self, query: str, read: Reader[R], format: ox.QueryResultsFormat, again: bool) -> R:
        self._pace.turn()
        start, response, table = time.monotonic(), None, None
        try:
            response = transport.send(
                self.url, query, format, self._agent, self._credentials, self._limits, self._default_graphs
            )
            table = self._read(response, read)
            return table
        finally:
            self._add(
                Traffic(
                    requests=1,
                    retries=int(again),
                    rows=0 if table is None else len(table),
                    bytes=response.transferred if response else 0,
                    seconds=time.monotonic() - start,
                )
            )

    def _read(self, response: Response, read: Reader[R]) -> R:
        try:
            table = read(response.body, response.content_type)
        except Mangled as error:
            self._count_damage()
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

    def _count_damage(self) -> None:
        self._damaged += 1
        if self._damaged == DAMAGED and not self.learned.json:
            self.learn_json()
            self.note("damaged TSV made JSON the format of all further requests")

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

    def _require_life(self, failure: Failure) -> None:
        """Raise SourceError unless the endpoint answers the simplest query."""
        try:
            self._insistently(ALIVE, partial(_read_rows, variables=COUNT), 1 + self.settings.retries)
        except Failure as last:
            raise self._down(last if self._answered else failure) from last

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

    def _add(self, traffic: Traffic) -> None:
        with self._lock:
            self._traffic += traffic


def _read_rows(body: bytes, content_type: str, variables: tuple[str, ...]) -> Table[Row]:
    """Rows of terms; raises Mangled also where a count has not one row."""
    table = read_body(body, content_type, variables)
    if variables == COUNT and len(table.rows) != 1:
        raise Mangled(f"{len(table.rows)} rows where a count has one")
    return table


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
