"""A SPARQL endpoint of the tests: what it can, what it was asked, and the means to answer one query well or badly."""

from __future__ import annotations

import itertools
import random
import selectors
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Protocol

import pyoxigraph as ox

from tests.support.sparql_answers import Answer, Refused, Table, counts, listed, negotiated, sorted_rows
from tests.support.sparql_auth import Auth

_SORT_LIMIT = (
    "Virtuoso 22023 Error SR353: Sorted TOP clause specifies more then {0} rows to sort. Only {0} are allowed. "
    "Either decrease the offset and/or row count or use a scrollable cursor"
)
_TOO_MANY = (
    "Virtuoso 37000 Error SP030: SPARQL compiler, line 0: "
    "Too many arguments for standard built-in function in operator()"
)
_LONGEST_STALL = 30.0


@dataclass(frozen=True)
class Options:
    """What the endpoint can and cannot do.

    `row_cap` rows at most, silently, with status 200. `sort_limit`: no ORDER BY of more rows, or without LIMIT.
    `values_limit` IRIs in one VALUES at most. `mangled_tsv`: nothing escaped, no languages and datatypes.
    `like_virtuoso`: TSV and JSON as Virtuoso writes them. `union`: the
    default graph holds all graphs. `relabel` gives blank nodes other labels in every response, `shuffle` rows another
    order (where no ORDER BY asks for one). `latency` in seconds. `compress`: gzip for those who take it.
    """

    row_cap: int | None = None
    sort_limit: int | None = None
    no_sort: bool = False
    no_count: bool = False
    formats: tuple[str, ...] = ("json", "tsv", "xml")
    values_limit: int | None = None
    mangled_tsv: bool = False
    like_virtuoso: bool = False
    relabel: bool = True
    shuffle: bool = False
    union: bool = False
    compress: bool = False
    latency: float = 0.0
    auth: Auth | None = None
    tls: bool = False

    @property
    def dialect(self) -> str:
        """How results are written: see `Table.answer`."""
        return "virtuoso" if self.like_virtuoso else "careless" if self.mangled_tsv else ""


@dataclass(frozen=True)
class Record:
    """One request as it came in, and what became of it; `status` 0 where no response was begun, `at` in seconds."""

    number: int
    at: float
    method: str
    path: str
    query: str
    update: bool
    headers: dict[str, str]
    status: int = 0
    rows: int | None = None
    fault: str = ""

    @property
    def accept(self) -> str:
        return self.headers.get("accept", "")


class Fault(Protocol):
    """Something that goes wrong with one request."""

    @property
    def name(self) -> str: ...

    def act(self, exchange: Exchange) -> None: ...


class Plan(Protocol):
    """Decides which request goes wrong."""

    def choose(self, query: str) -> Fault | None: ...


@dataclass
class Endpoint:
    """The running server."""

    store: ox.Store
    options: Options
    plans: Sequence[Plan] = ()
    url: str = ""
    certificate: Path | None = None
    failures: list[BaseException] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    busiest: int = 0
    _records: list[Record] = field(default_factory=list)
    _told: list[tuple[str, Table]] = field(default_factory=list)
    _asked: Counter[str] = field(default_factory=Counter)
    _due: dict[int, Callable[[], None]] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    _busy: set[int] = field(default_factory=set)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def log(self) -> list[Record]:
        """The requests so far, in the order in which they were answered."""
        with self._lock:
            return list(self._records)

    @property
    def updates(self) -> list[Record]:
        """Those of them that would have written."""
        return [record for record in self.log if record.update]

    @property
    def faults(self) -> Counter[str]:
        """How often each fault struck."""
        return Counter(record.fault for record in self.log if record.fault)

    def change(self, add: Iterable[ox.Quad] = (), remove: Iterable[ox.Quad] = ()) -> None:
        """Change what the endpoint holds."""
        with self._lock:
            self.store.extend(add)
            for quad in remove:
                self.store.remove(quad)

    def before(self, number: int, action: Callable[[], None]) -> None:
        """Do something when request ``number`` (from 1) has come in, before it is answered."""
        self._due[number] = action

    def url_of(self, path: str) -> str:
        return self.url.removesuffix("/sparql") + path

    def begin(self, query: str) -> tuple[int, int]:
        """Numbers of a request: of all, and of this query."""
        with self._lock:
            number = next(self._numbers)
            self._asked[query] += 1
            self._busy.add(number)
            self.busiest = max(self.busiest, len(self._busy))
            nth = self._asked[query]
            action = self._due.pop(number, None)
        if action:
            action()
        return number, nth

    def end(self, number: int) -> None:
        """Request ``number`` is at work no more, once its answer is on the way: what has it may ask the next."""
        with self._lock:
            self._busy.discard(number)

    def choose(self, query: str) -> Fault | None:
        with self._lock:
            return next(filter(None, (plan.choose(query) for plan in self.plans)), None)

    def note(self, record: Record) -> None:
        with self._lock:
            self._records.append(record)

    def other(self, query: str, head: bytes) -> Table | None:
        """The latest true rows of another query with the same variables."""
        with self._lock:
            others = (table for text, table in reversed(self._told) if text != query and table.head == head)
            return next(others, None)

    def tell(self, query: str, table: Table) -> None:
        with self._lock:
            self._told.append((query, table))
            del self._told[:-50]


class Exchange:
    """One query, and the means to answer it: well or badly."""

    def __init__(
        self, endpoint: Endpoint, handler: BaseHTTPRequestHandler, record: Record, nth: int, graphs: Graphs
    ) -> None:
        self.endpoint = endpoint
        self.query = record.query
        self.chance = random.Random(f"{record.query}\0{nth}")
        self._handler = handler
        self._record = record
        self._graphs = graphs
        self._noted = False

    @property
    def parameters(self) -> str:
        """The part of the request target from its question mark on."""
        _, mark, parameters = self._handler.path.partition("?")
        return mark + parameters

    @property
    def format(self) -> str:
        """`tsv`, `json` or `xml`, as the client prefers."""
        return negotiated(self._record.accept or "*/*", self.endpoint.options.formats)

    def table(self) -> Table:
        """The rows that this endpoint gives when nothing goes wrong; raises Refused."""
        options = self.endpoint.options
        _refuse(self.query, options)
        results = _evaluated(self.endpoint.store, self.query, options.union, self._graphs)
        if not isinstance(results, ox.QuerySolutions):
            raise Refused(400, "Only SELECT is answered here")
        table = Table.of(results)
        if options.shuffle and not sorted_rows(self.query):
            table = table.shuffled(self.chance)
        if options.row_cap is not None:
            table = table.first(options.row_cap)
        self.endpoint.tell(self.query, table)
        return table.relabelled(self.chance) if options.relabel else table

    def other_table(self) -> Table | None:
        """Rows that answered another query with the same variables, if there was one."""
        other = self.endpoint.other(self.query, self.table().head)
        return other.relabelled(self.chance) if other else None

    def answer(self, table: Table | None = None, format: str = "") -> Answer:
        """``table``, by default the true one, in the format that was asked for or another; or why it is refused."""
        try:
            format = format or self.format
            table = self.table() if table is None else table
            self._record = replace(self._record, rows=len(table.rows))
            return table.answer(format, self.endpoint.options.dialect)
        except Refused as refused:
            return refused.answer

    def fails(self, fault: str) -> None:
        """Name the fault that strikes in the log; "" where it found nothing to spoil."""
        self._record = replace(self._record, fault=fault)

    def send(self, answer: Answer, framed: bool = True) -> None:
        """Send and close; without `framed` (and no such header in the answer) nothing says how long the body is."""
        self.begin(answer, framed)
        self.write(answer.body)

    def begin(self, answer: Answer, framed: bool = True) -> None:
        """Send status and headers."""
        self.endpoint.end(self._record.number)
        self._note(answer.status)
        headers = {"Content-Type": answer.kind, "Connection": "close", **answer.headers}
        if framed:
            headers.setdefault("Content-Length", str(len(answer.body)))
        self._handler.send_response(answer.status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()

    def write(self, data: bytes) -> None:
        self._handler.wfile.write(data)
        self._handler.wfile.flush()

    def stall(self, seconds: float = _LONGEST_STALL) -> bool:
        """Wait until the client hangs up, the server stops (either is False) or the time is over."""
        self._note(0)
        end = time.monotonic() + seconds
        with selectors.DefaultSelector() as waiting:  # of any descriptor, however many a process has open
            waiting.register(self._handler.connection, selectors.EVENT_READ)
            while (left := end - time.monotonic()) > 0:
                if self.endpoint.stopping.is_set() or waiting.select(min(left, 0.05)):
                    return False
        return True

    def time_out(self) -> None:
        """Say nothing until the client is gone."""
        self.stall()

    def reset(self) -> None:
        """Break the connection off (RST)."""
        self._note(0)
        linger = struct.pack("ii", 1, 0)
        self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._handler.connection.close()

    def _note(self, status: int) -> None:
        if not self._noted:
            self.endpoint.note(replace(self._record, status=status))
        self._noted = True


@dataclass(frozen=True)
class Graphs:
    """The data set that a request asks for by parameters; empty for what the endpoint has."""

    default: tuple[ox.NamedNode, ...] = ()
    named: tuple[ox.NamedNode, ...] = ()


def _refuse(query: str, options: Options) -> None:
    if options.no_count and counts(query):
        raise Refused(400, "Aggregates are not supported")
    if options.values_limit is not None and listed(query) > options.values_limit:
        raise Refused(400, _TOO_MANY)
    for limit in sorted_rows(query):
        if options.no_sort:
            raise Refused(400, "ORDER BY is not supported")
        if options.sort_limit is not None and (limit is None or limit > options.sort_limit):
            raise Refused(500, _SORT_LIMIT.format(options.sort_limit))


def _evaluated(
    store: ox.Store, query: str, union: bool, graphs: Graphs
) -> ox.QuerySolutions | ox.QueryBoolean | ox.QueryTriples:
    default: list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] = [*graphs.default]
    named: list[ox.NamedNode | ox.BlankNode] = [*graphs.named]
    try:
        return store.query(
            query,
            use_default_graph_as_union=union and not default,
            default_graph=default or None,
            named_graphs=named or None,
        )
    except SyntaxError as error:
        raise Refused(400, f"Syntax error: {error}") from error
