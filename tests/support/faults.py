"""What goes wrong with an endpoint: single faults, at random or in turn, and IRIs that it never answers for.

Every fault is a function of one exchange. `SIGNALLED` ones show in the response itself (its status, headers, length or
syntax); `SILENT` ones are well-formed answers that are not true; `HARMLESS` ones are unusual, but right.
"""

from __future__ import annotations

import gzip
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from email.utils import formatdate

from tests.support.sparql_answers import LOGIN_PAGE, TYPES, Answer, counts, groups, redirect, words
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


def bent(name: str, change: Callable[[Answer], Answer | None], framed: bool = True) -> Fault:
    """The right answer, changed; the right one itself where ``change`` finds nothing to spoil and gives None."""

    def act(exchange: Exchange) -> None:
        right = exchange.answer()
        wrong = change(right) if right.status == 200 else None
        if wrong is None:
            exchange.fails("")
        exchange.send(wrong or right, framed or wrong is None)

    return Fault(name, act)


# Connections.


def _time_out(exchange: Exchange) -> None:
    exchange.stall()


def _trickle(exchange: Exchange) -> None:
    answer = exchange.answer()
    exchange.begin(answer)
    for byte in answer.body:
        exchange.write(bytes([byte]))
        if not exchange.stall(_DRIP_SECONDS):
            return


def _reset(exchange: Exchange) -> None:
    exchange.reset()


def _closed_in_body(answer: Answer) -> Answer | None:
    size = len(answer.body)
    return replace(answer, body=answer.body[: size // 2], headers={"Content-Length": str(size)})


def _cut_in_chunks(answer: Answer) -> Answer | None:
    half = answer.body[: len(answer.body) // 2]
    chunk = b"%x\r\n%s\r\n" % (len(half), half) if half else b""
    return replace(answer, body=chunk, headers={"Transfer-Encoding": "chunked"})


def _cut_at_line_end(exchange: Exchange) -> None:
    """Nothing tells that lines are missing where the body is TSV, but their number; JSON is cut anywhere."""
    answer = exchange.answer()
    ends = [n + 1 for n, byte in enumerate(answer.body[:-1]) if byte == 10]
    if answer.status != 200 or not ends:
        _cut_in_line(exchange)
        return
    exchange.send(replace(answer, body=answer.body[: exchange.chance.choice(ends)]), framed=False)


def _cut_in_line(exchange: Exchange) -> None:
    answer = exchange.answer()
    places = [n for n in range(1, len(answer.body)) if answer.body[n - 1] != 10]
    if answer.status != 200 or not places:
        exchange.fails("")
        exchange.send(answer)
        return
    exchange.send(replace(answer, body=answer.body[: exchange.chance.choice(places)]), framed=False)


# Statuses and pages.


def _busy_date(exchange: Exchange) -> None:
    exchange.send(
        Answer(b"Slow down", status=429, headers={"Retry-After": formatdate(time.time(), usegmt=True)})
    )


def _disguised_login(answer: Answer) -> Answer:
    return replace(LOGIN_PAGE, kind=answer.kind)


# Bodies.


def _gzip_broken(answer: Answer) -> Answer:
    spoilt = bytearray(gzip.compress(answer.body, mtime=0))
    spoilt[10:-8] = bytes(byte ^ 0x5A for byte in spoilt[10:-8])
    return replace(answer, body=bytes(spoilt), headers={"Content-Encoding": "gzip"})


def _gzip_truncated(answer: Answer) -> Answer:
    packed = gzip.compress(answer.body, mtime=0)
    return replace(answer, body=packed[: len(packed) - 9], headers={"Content-Encoding": "gzip"})


def _gzip_unasked(answer: Answer) -> Answer:
    return replace(answer, body=gzip.compress(answer.body, mtime=0), headers={"Content-Encoding": "gzip"})


def _json_instead(exchange: Exchange) -> None:
    if exchange.format == "json":
        exchange.fails("")
    exchange.send(exchange.answer(format="json"))


def _json_as_tsv(exchange: Exchange) -> None:
    if exchange.format == "json":
        exchange.fails("")
    answer = exchange.answer(format="json")
    exchange.send(replace(answer, kind=TYPES[exchange.format]) if answer.status == 200 else answer)


def _error_in_body(answer: Answer) -> Answer:
    half = answer.body[: len(answer.body) // 2]
    whole_lines = half[: half.rfind(b"\n") + 1]
    return replace(answer, body=(whole_lines or half) + _ENGINE_ERROR)


# Untrue answers.


def _other_rows(exchange: Exchange) -> None:
    other = exchange.other_table()
    if other is None or set(other.rows) == set(exchange.table().rows):
        exchange.fails("")
        other = None
    exchange.send(exchange.answer(other))


def _count_raised(exchange: Exchange) -> None:
    exchange.send(exchange.answer(exchange.table().raised(exchange.chance.randint(1, 9))))


def _count_lowered(exchange: Exchange) -> None:
    exchange.send(exchange.answer(exchange.table().raised(-1)))


def _last_rows_missing(exchange: Exchange) -> None:
    table = exchange.table()
    if not table.rows:
        exchange.fails("")
        exchange.send(exchange.answer(table))
        return
    exchange.send(exchange.answer(table.first(exchange.chance.randrange(len(table.rows)))))


def _incomplete(exchange: Exchange) -> None:
    """Virtuoso's "anytime" answer: what was found in the time, with a header that says so."""
    table = exchange.table()
    if not table.rows:
        exchange.fails("")
        exchange.send(exchange.answer(table))
        return
    less = (
        table.raised(-1)
        if not rows_asked(exchange.query)
        else table.first(exchange.chance.randrange(len(table.rows)))
    )
    exchange.send(replace(exchange.answer(less), headers=_ANYTIME))


_ANYTIME = {"X-SQL-State": "S1TAT", "X-SQL-Message": "RC...: Returning incomplete results, query interrupted"}
_HTML_502 = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>"
SIGNALLED = (
    Fault("time-out", _time_out),
    Fault("trickle", _trickle),
    Fault("reset", _reset),
    bent("closed in body", _closed_in_body),
    bent("chunks cut", _cut_in_chunks, framed=False),
    Fault("cut in line", _cut_in_line),
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
    Fault("JSON as TSV", _json_as_tsv),
    bent("empty body", lambda answer: replace(answer, body=b"")),
    bent("error in body", _error_in_body),
    Fault("incomplete", _incomplete, lambda query: rows_asked(query) or counts(query)),
)
SILENT = (
    Fault("cut at line end", _cut_at_line_end),
    Fault("last rows missing", _last_rows_missing, rows_asked),
    Fault("other rows", _other_rows, rows_asked),
    Fault("count too high", _count_raised, counts),
)
HARMLESS = (
    redirected("moved 307", 307, "/moved"),
    redirected("moved 308", 308, "/moved"),
    bent("text/plain", lambda answer: replace(answer, kind="text/plain")),
    bent("octet-stream", lambda answer: replace(answer, kind="application/octet-stream")),
    Fault("JSON instead", _json_instead),
    bent("gzip unasked", _gzip_unasked),
)
ALL = (*SIGNALLED, *SILENT, *HARMLESS)
COUNT_TOO_LOW = Fault("count too low", _count_lowered, counts)
"""Not among ALL: a count too low that meets an answer cut by as much cannot be told from the truth."""


TIME_OUT = SIGNALLED[0]
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
