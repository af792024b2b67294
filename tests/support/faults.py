"""What goes wrong with an endpoint: single faults, at random or in turn, and IRIs that it never answers for.

Every fault is a function of one exchange. `SIGNALLED` ones show in the response itself (its status, headers, length or
syntax); `SILENT` ones are well-formed answers that are not true; `HARMLESS` ones are unusual, but right.
"""

from __future__ import annotations

import gzip
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from email.utils import formatdate
from types import MappingProxyType

from tests.support.sparql_answers import LOGIN_PAGE, TYPES, Answer, Table, counts, groups, redirect, words
from tests.support.sparql_exchange import Exchange

_DRIP_SECONDS = 0.05
_ENGINE_ERROR = b"Virtuoso S1T00 Error SR171: Transaction timed out\n"


@dataclass(frozen=True)
class Fault:
    """One thing that goes wrong; `applies` says for which queries it can."""

    name: str
    act: Callable[[Exchange], None]
    applies: Callable[[str], bool] = lambda query: True


def rows_asked(query: str) -> bool:
    """Whether a query asks for rows, not for their number alone."""
    return "SELECT" in words(query) and (not counts(query) or groups(query))


# Faults that take their text, status or time from the test.


def refusal(status: int, body: str = "", kind: str = "text/plain", retry_after: str | None = None) -> Fault:
    """An error status, with a Retry-After header where one is given."""
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return replied(f"status {status}", Answer(body.encode(), kind, status, headers))


def replied(name: str, answer: Answer) -> Fault:
    """The same answer to whatever was asked."""
    return Fault(name, lambda exchange: exchange.send(answer))


def redirected(name: str, status: int, path: str) -> Fault:
    """A redirect to another path of the same server."""

    def act(exchange: Exchange) -> None:
        exchange.send(redirect(status, exchange.endpoint.url_of(path) + exchange.parameters))

    return Fault(name, act)


def bent(name: str, change: Callable[[Answer], Answer], framed: bool = True) -> Fault:
    """The right answer, changed; the right one itself where it is an error."""

    def act(exchange: Exchange) -> None:
        right = exchange.answer()
        if right.status == 200:
            exchange.send(change(right), framed)
        else:
            exchange.fails("")
            exchange.send(right)

    return Fault(name, act)


def untrue(
    name: str,
    change: Callable[[Exchange, Table], Table | None],
    applies: Callable[[str], bool],
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Fault:
    """Other rows than the right ones, with further headers; the right ones where ``change`` finds nothing to spoil."""

    def act(exchange: Exchange) -> None:
        right = exchange.table()
        wrong = change(exchange, right)
        if wrong is None:
            exchange.fails("")
            exchange.send(exchange.answer(right))
        else:
            answer = exchange.answer(wrong)
            exchange.send(replace(answer, headers={**answer.headers, **headers}))

    return Fault(name, act, applies)


# Connections.


def _trickle(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.begin(answer)
    for byte in answer.body:
        exchange.write(bytes([byte]))
        if not exchange.stall(_DRIP_SECONDS):
            return


def _closed_in_body(answer: Answer) -> Answer:
    size = len(answer.body)
    return replace(answer, body=answer.body[: size // 2], headers={"Content-Length": str(size)})


def _cut_in_chunks(answer: Answer) -> Answer:
    half = answer.body[: len(answer.body) // 2]
    chunk = b"%x\r\n%s\r\n" % (len(half), half) if half else b""
    return replace(answer, body=chunk, headers={"Transfer-Encoding": "chunked"})


def _cut(at_line_end: bool) -> Callable[[Exchange], None]:
    """Without a length: nothing tells that lines of TSV are missing but their number; JSON is cut anywhere."""

    def act(exchange: Exchange) -> None:
        answer = exchange.answer()
        ends = [n + 1 for n, byte in enumerate(answer.body[:-1]) if byte == 10]
        within = [n for n in range(1, len(answer.body)) if answer.body[n - 1] != 10]
        places = ends if at_line_end and ends else within
        if answer.status != 200 or not places:
            exchange.fails("")
            exchange.send(answer)
        else:
            exchange.send(replace(answer, body=answer.body[: exchange.chance.choice(places)]), framed=False)

    return act


# Statuses, pages and bodies.


def _busy_date(exchange: Exchange) -> None:
    now = formatdate(time.time(), usegmt=True)
    exchange.send(Answer(b"Slow down", status=429, headers={"Retry-After": now}))


def _disguised_login(answer: Answer) -> Answer:
    return replace(LOGIN_PAGE, kind=answer.kind)


def _gzip_unasked(answer: Answer) -> Answer:
    return replace(answer, body=gzip.compress(answer.body, mtime=0), headers={"Content-Encoding": "gzip"})


def _gzip_broken(answer: Answer) -> Answer:
    packed = _gzip_unasked(answer)
    spoilt = bytes(byte ^ 0x5A for byte in packed.body[10:-8])
    return replace(packed, body=packed.body[:10] + spoilt + packed.body[-8:])


def _gzip_truncated(answer: Answer) -> Answer:
    packed = _gzip_unasked(answer)
    return replace(packed, body=packed.body[:-9])


def _json(labelled: bool) -> Callable[[Exchange], None]:
    """JSON, by its own name or by that of the format that was asked for."""

    def act(exchange: Exchange) -> None:
        if exchange.format == "json":
            exchange.fails("")
        answer = exchange.answer(format="json")
        is_right = labelled or answer.status != 200
        exchange.send(answer if is_right else replace(answer, kind=TYPES[exchange.format]))

    return act


def _error_in_body(answer: Answer) -> Answer:
    half = answer.body[: len(answer.body) // 2]
    whole_lines = half[: half.rfind(b"\n") + 1]
    return replace(answer, body=(whole_lines or half) + _ENGINE_ERROR)


# Untrue answers.


def _other_rows(exchange: Exchange, table: Table) -> Table | None:
    other = exchange.other_table()
    return None if other is None or set(other.rows) == set(table.rows) else other


def _count_raised(exchange: Exchange, table: Table) -> Table:
    return table.raised(exchange.chance.randint(1, 9))


def _count_lowered(exchange: Exchange, table: Table) -> Table:
    return table.raised(-1)


def _last_rows_missing(exchange: Exchange, table: Table) -> Table | None:
    return table.first(exchange.chance.randrange(len(table.rows))) if table.rows else None


def _incomplete(exchange: Exchange, table: Table) -> Table | None:
    """Virtuoso's "anytime" answer: what was found in the time, with a header that says so."""
    return _last_rows_missing(exchange, table) if rows_asked(exchange.query) else table.raised(-1)


_ANYTIME = {"X-SQL-State": "S1TAT", "X-SQL-Message": "RC...: Returning incomplete results, query interrupted"}
_HTML_502 = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
SIGNALLED = (
    Fault("time-out", Exchange.time_out),
    Fault("trickle", _trickle),
    Fault("reset", Exchange.reset),
    bent("closed in body", _closed_in_body),
    bent("chunks cut", _cut_in_chunks, framed=False),
    Fault("cut in line", _cut(at_line_end=False)),
    replace(refusal(429, "Slow down", retry_after="0"), name="429 seconds"),
    Fault("429 date", _busy_date),
    replace(refusal(429, "Slow down"), name="429"),
    replace(refusal(500, "Virtuoso 42000 Error The estimated execution time is too high"), name="500"),
    replace(refusal(502, _HTML_502, "text/html"), name="502"),
    replace(refusal(503, "Starting", retry_after="0"), name="503"),
    replace(refusal(504, _HTML_502.replace("502 Bad", "504"), "text/html"), name="504"),
    bent("gzip broken", _gzip_broken),
    bent("gzip truncated", _gzip_truncated),
    replied("login page", LOGIN_PAGE),
    bent("login page as results", _disguised_login),
    redirected("redirect to login", 302, "/login"),
    redirected("redirect loop 302", 302, "/loop/302"),
    redirected("redirect loop 307", 307, "/loop/307"),
    Fault("JSON as TSV", _json(labelled=False)),
    bent("empty body", lambda answer: replace(answer, body=b"")),
    bent("error in body", _error_in_body),
    untrue("incomplete", _incomplete, lambda query: rows_asked(query) or counts(query), _ANYTIME),
)
SILENT = (
    Fault("cut at line end", _cut(at_line_end=True)),
    untrue("last rows missing", _last_rows_missing, rows_asked),
    untrue("other rows", _other_rows, rows_asked),
    untrue("count too high", _count_raised, counts),
)
HARMLESS = (
    redirected("moved 307", 307, "/moved"),
    redirected("moved 308", 308, "/moved"),
    bent("text/plain", lambda answer: replace(answer, kind="text/plain")),
    bent("octet-stream", lambda answer: replace(answer, kind="application/octet-stream")),
    Fault("JSON instead", _json(labelled=True)),
    bent("gzip unasked", _gzip_unasked),
)
ALL = (*SIGNALLED, *SILENT, *HARMLESS)
NAMED = {fault.name: fault for fault in ALL}
COUNT_TOO_LOW = untrue("count too low", _count_lowered, counts)
"""Not among ALL: a count too low that meets an answer cut by as much cannot be told from the truth."""


TIME_OUT = NAMED["time-out"]
POISONED = refusal(500, "Virtuoso RDF02 Error SR601: Argument 0 of http_sparql_value is not valid")


# Plans: which request goes wrong.


class FaultPlan:
    """Faults at random: a share ``rate`` of the requests, the same query never more than ``at_most_in_a_row`` times.

    What strikes depends on the seed, the query and how often it was asked, not on the order in which requests arrive.
    """

    def __init__(
        self, seed: int, rate: float = 0.3, kinds: Iterable[Fault] = ALL, at_most_in_a_row: int = 2
    ) -> None:
        self._seed = seed
        self._rate = rate
        self._kinds = tuple(kinds)
        self._most = at_most_in_a_row
        self._asked: Counter[str] = Counter()
        self._row: Counter[str] = Counter()

    def choose(self, query: str) -> Fault | None:
        self._asked[query] += 1
        chance = random.Random(f"{self._seed}\0{self._asked[query]}\0{query}")
        kinds = [fault for fault in self._kinds if fault.applies(query)]
        if not kinds or self._row[query] >= self._most or chance.random() >= self._rate:
            self._row[query] = 0
            return None
        self._row[query] += 1
        return chance.choice(kinds)


class InTurn:
    """These faults for the first requests, one each (None: no fault), and none afterwards."""

    def __init__(self, *faults: Fault | None) -> None:
        self._left = list(faults)

    def choose(self, query: str) -> Fault | None:
        return self._left.pop(0) if self._left else None


@dataclass(frozen=True)
class Poison:
    """An IRI that the endpoint cannot answer for, whoever names it: an error status, or (`time-out`) never an answer."""

    iri: str
    fault: Fault = POISONED

    def choose(self, query: str) -> Fault | None:
        return self.fault if f"<{self.iri}>" in query else None
