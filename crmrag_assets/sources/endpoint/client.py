"""Asking an endpoint patiently and politely: pauses, repeated attempts, formats, and what it all cost."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from email.utils import parsedate_to_datetime
from io import BytesIO
from math import ceil, inf, isfinite
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urljoin, urlsplit
from urllib.request import (
    HTTPDigestAuthHandler,
    HTTPPasswordMgrWithDefaultRealm,
    HTTPRedirectHandler,
    OpenerDirector,
    Request,
    build_opener,
)

import polars as pl
import pyoxigraph as ox
from SPARQLWrapper import BASIC, POST, SELECT, SPARQLWrapper
from SPARQLWrapper import JSON as WRAPPER_JSON
from SPARQLWrapper import TSV as WRAPPER_TSV

from crmrag_assets.build.step import SharedClock, Turns
from crmrag_assets.harvest.report import Gathered, Traffic, shortened
from crmrag_assets.harvest.triples import columns_of
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
from crmrag_query.artifacts.manifest import canonical_json, write_text
from crmrag_query.config.reading import Requests
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.errors import SourceError, SourceUnreachable
from crmrag_query.version import __version__

PORTION = 1 << 16  # bytes read at once
HOPS = 5  # redirects followed for one request
PACKED = ("gzip", "x-gzip", "deflate")
EXCERPT = 2000  # bytes read of an error's body
REDIRECTIONS = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class Credentials:
    """What signs a request; never printed."""

    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    digest: bool = False
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Response:
    """A response with status 2xx: where it came from in the end, its headers (lower case) and its uncompressed body."""

    url: str
    content_type: str
    headers: Mapping[str, str]
    body: bytes
    transferred: int


class Failure(Exception):
    """A request that brought no response; ``code`` is the HTTP status or 0, ``wait`` what a Retry-After asks for (seconds).

    ``certificate``: the server's certificate was not accepted. ``unreachable``: no connection came about.
    """

    def __init__(
        self,
        reason: str,
        code: int = 0,
        wait: float | None = None,
        *,
        certificate: bool = False,
        unreachable: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason, self.code, self.wait = reason, code, wait
        self.certificate, self.unreachable = certificate, unreachable


def _target(url: str, location: str) -> str:
    """Where a redirection leads; raises Failure for what is no address of the web."""
    try:
        target = urljoin(url, location)
        if urlsplit(target).scheme in ("http", "https"):
            return target
    except ValueError:
        pass
    raise Failure(f"it redirects to {shortened(location)}") from None


def _same_host(address: str, url: str) -> bool:
    """Whether a redirection stays with the host; from http to https of the same name it does."""
    first, second = urlsplit(address), urlsplit(url)
    if first.scheme == second.scheme:
        return first.netloc == second.netloc
    return second.scheme == "https" and first.hostname == second.hostname


class _Redirected(Exception):
    """To the location that it holds."""


class _NoRedirects(HTTPRedirectHandler):
    """urllib would repeat a POST as a GET without its query, and hand credentials on to whatever host is named."""

    def http_error_302(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> None:
        """Leave it to the handler of all other errors."""

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Digest(HTTPDigestAuthHandler):
    """urllib's, which raises ValueError for a challenge or a password that it cannot use, and leaves responses open."""

    def http_error_401(self, req: Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        try:
            answer = super().http_error_401(req, fp, code, msg, headers)
        except HTTPError:
            fp.close()
            raise
        except ValueError as error:
            fp.close()
            ascii = "a password beyond ASCII" if isinstance(error, UnicodeError) else "what it asks for"
            raise Failure(f"no way to sign in: digest does not go with {ascii}", 401) from None
        if answer is not None:
            fp.close()
        return answer


class _Wrapper(SPARQLWrapper):
    """SPARQLWrapper with an opener of its own: the library's is global."""

    opener: OpenerDirector
    seconds: float

    def _parseQueryType(self, query: str) -> str:
        """SELECT, or ValueError; the library's patterns take 23 ms for a query that names a thousand IRIs."""
        if not query.startswith("SELECT "):
            raise ValueError("only SELECT is ever sent to an endpoint")
        return str(SELECT)

    def _query(self) -> tuple[http.client.HTTPResponse, str]:
        return self.opener.open(self._createRequest(), timeout=self.seconds), self.returnFormat


@dataclass(frozen=True)
class Transport:
    """How an endpoint is asked: where, by which ``agent``, signed with what; within so many ``seconds`` for a whole response,
    and for at ``most`` so many bytes of its uncompressed body.

    ``default_graphs``: graphs whose union is the default graph of each query; none for the endpoint's own.
    """

    url: str
    agent: str
    credentials: Credentials
    seconds: float
    most: int
    default_graphs: Sequence[str] = ()

    def send(self, query: str, format: ox.QueryResultsFormat) -> Response:
        """POST the query, following redirects with the query; raises Failure.

        Credentials stay with the host that they were given for, and are not sent on over a lesser scheme.
        """
        url, deadline = self.url, time.monotonic() + self.seconds
        for _ in range(HOPS + 1):
            try:
                return self._once(self._wrapper(url, query, format), deadline)
            except _Redirected as moved:
                url = _target(url, str(moved))
        raise Failure(f"it redirects more than {HOPS} times, lastly to {shortened(url)}")

    def _wrapper(self, url: str, query: str, format: ox.QueryResultsFormat) -> _Wrapper:
        credentials = self.credentials if _same_host(self.url, url) else Credentials()
        wrapper = _Wrapper(url, returnFormat=WRAPPER_TSV if format is TSV else WRAPPER_JSON, agent=self.agent)
        wrapper.setOnlyConneg(True)
        wrapper.setMethod(POST)
        wrapper.setQuery(query)
        for graph in self.default_graphs:
            wrapper.addDefaultGraph(graph)
        for name, value in {"Accept-Encoding": "gzip", **credentials.headers}.items():
            wrapper.addCustomHttpHeader(name, value)
        handlers: list[Any] = [_NoRedirects()]
        if credentials.user and credentials.digest:
            passwords = HTTPPasswordMgrWithDefaultRealm()
            passwords.add_password(None, url, credentials.user, credentials.password)
            handlers.append(_Digest(passwords))
        elif credentials.user:
            wrapper.setHTTPAuth(BASIC)
            wrapper.setCredentials(credentials.user, credentials.password)
        wrapper.opener = build_opener(*handlers)
        return wrapper

    def _once(self, wrapper: _Wrapper, deadline: float) -> Response:
        wrapper.seconds = max(deadline - time.monotonic(), 0.001)
        try:
            with wrapper.query().response as response:
                headers = {name.lower(): value for name, value in response.headers.items()}
                body, transferred = _body(response, headers.get("content-encoding", ""), self.most, deadline)
        except HTTPError as error:
            with error:
                raise _of_status(error) from None
        except ValueError:  # it tells what it could not put into a header
            raise Failure("no way to sign in: a header cannot hold what signs in", 401) from None
        except (OSError, http.client.HTTPException, zlib.error) as error:
            raise _of_connection(error, self.seconds) from error
        if "s1tat" in headers.get("x-sql-state", "").lower():
            raise Failure("it ran out of its own time and gave a part of the result (X-SQL-State: S1TAT)")
        content_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        return Response(wrapper.endpoint, content_type, headers, body, transferred)


def _body(response: http.client.HTTPResponse, encoding: str, most: int, deadline: float) -> tuple[bytes, int]:
    """The uncompressed body and the bytes it was transferred in; bounded while it is read."""
    packed = _Packed() if encoding.lower() in PACKED else None
    if packed is None and encoding.lower() not in ("", "identity"):
        raise Failure(f"it answers in an encoding that was not asked for ({encoding})")
    body, transferred = BytesIO(), 0
    while part := response.read1(PORTION):
        transferred += len(part)
        for plain in packed.unpacked(part) if packed else (part,):
            body.write(plain)
            if body.tell() > most:
                raise Failure(f"its response has more than {most:,} bytes", code=413)
        if time.monotonic() > deadline:
            raise TimeoutError("timed out")
    if response.length:  # read1 does not tell of a connection that was closed early
        raise http.client.IncompleteRead(b"", response.length)
    if packed is not None and not packed.whole:
        raise zlib.error("the compressed body is cut off")
    return body.getvalue(), transferred


class _Packed:
    """A compressed body, unpacked part by part; one of gzip may have several members, one after another (RFC 1952)."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)

    @property
    def whole(self) -> bool:
        return self._member.eof

    def unpacked(self, part: bytes) -> Iterator[bytes]:
        """What the next part holds, a portion at a time: it may be a thousand times as long."""
        while part:
            if self._member.eof:
                self._member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
            yield self._member.decompress(part, PORTION)
            part = self._member.unused_data if self._member.eof else self._member.unconsumed_tail


def _of_status(error: HTTPError) -> Exception:
    location = error.headers.get("Location")
    if error.code in REDIRECTIONS and location:
        return _Redirected(location)
    try:
        body = error.read(EXCERPT) if error.fp is not None else b""
        body = body.encode() if isinstance(body, str) else body  # urllib's own errors, up to Python 3.11.2
        packed = error.headers.get("Content-Encoding", "").lower() in PACKED
        text = (next(_Packed().unpacked(body), b"")[:EXCERPT] if packed else body).decode("utf-8", "replace")
    except (OSError, http.client.HTTPException, zlib.error):
        text = ""
    message = "" if "<html" in text.lower() else shortened(" ".join(text.split()))
    reason = f"status {error.code} {error.reason}".rstrip() + (f": {message}" if message else "")
    return Failure(reason, error.code, _seconds(error.headers.get("Retry-After")))


def _seconds(retry_after: str | None) -> float | None:
    """Seconds that a Retry-After asks for, as a number or as a date; None for none or nonsense."""
    if not retry_after:
        return None
    try:
        seconds = float(retry_after)
        return max(0.0, seconds) if isfinite(seconds) else None
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _of_connection(error: Exception, seconds: float) -> Failure:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return Failure(f"its certificate is not accepted: {cause.verify_message}", certificate=True)
    if isinstance(cause, TimeoutError):
        return Failure(f"no whole response within {seconds:g} s")
    if isinstance(cause, http.client.IncompleteRead | zlib.error):
        return Failure(f"its response is cut off or damaged ({cause})")
    if isinstance(cause, ssl.SSLError):
        return Failure(
            f"no secure connection ({cause.reason or cause}); perhaps it is http:// there", unreachable=True
        )
    refused = isinstance(error, URLError) and not isinstance(cause, ConnectionResetError)
    return Failure(f"no connection ({cause or type(cause).__name__})", unreachable=refused)


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
        self.url, self._turns = config.url, turns
        self._transport = Transport(
            config.url,
            f"CRM-RAG/{__version__} ({config.contact or 'no contact given'})",
            credentials_of(config),
            requests.timeout_seconds,
            requests.response_bytes,
            config.default_graphs,
        )
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

    def rows(self, query: str, patient: bool = True) -> list[Row]:
        """The rows of a SELECT of s, p, o (and g); see `table`."""
        return self.table(query, NAMES[: self.scope.width], patient).rows

    def strings(self, query: str, variable: str = "iri") -> list[str]:
        """The values of a SELECT of one variable that holds strings."""
        return [row[0].value for row in self.table(query, (variable,)).rows if isinstance(row[0], ox.Literal)]

    def count(self, query: str, patient: bool = True) -> int:
        """The number that a SELECT of ?n gives."""
        return self._number(self.table(query, COUNT, patient).rows[0][0])

    def counted(self, query: str) -> int | None:
        """The same; None where the endpoint does not answer the query."""
        try:
            return self.count(query)
        except Unanswered:
            return None

    def counted_strings(self, query: str) -> list[tuple[str, int]]:
        """The values of a SELECT of ?iri, which holds strings, and ?n, numbers: it can be asked for in another way."""
        rows = self.table(query, ("iri", *COUNT), patient=False).rows
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
            response = self._transport.send(query, format)
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
