"""What an endpoint says: tables of rows as lines of TSV, their formats, and the ways in which endpoints fall short."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import pyoxigraph as ox

RESULTS = {
    "tsv": ox.QueryResultsFormat.TSV,
    "json": ox.QueryResultsFormat.JSON,
    "xml": ox.QueryResultsFormat.XML,
}
TYPES = {name: kind.media_type for name, kind in RESULTS.items()}
_ACCEPTED = {
    **{media_type.partition(";")[0]: name for name, media_type in TYPES.items()},
    "application/json": "json",
    "application/xml": "xml",
}
_NOT_WORDS = re.compile(r"""<[^<>"{}|^`\\\s]*>|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'""")
_LABEL = re.compile(rb"(?<![^\t\n])_:([^\t\n]+)")
_NUMBER = re.compile(rb"(?<![^\t])(\d+)$")


@dataclass(frozen=True)
class Answer:
    """One HTTP response, before it is sent."""

    body: bytes
    kind: str = "text/plain"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


LOGIN_PAGE = Answer(
    b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><form>Password</form></body></html>\n",
    "text/html; charset=utf-8",
)


def redirect(status: int, location: str) -> Answer:
    """A redirect to another address."""
    return Answer(b"", "text/plain", status, {"Location": location})


class Refused(Exception):
    """The endpoint will not answer this query: with this status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.answer = Answer(message.encode(), "text/plain", status)


@dataclass(frozen=True)
class Table:
    """Rows of a SELECT as lines of TSV without their line ends: a row is a line, since TSV escapes line breaks."""

    head: bytes
    rows: tuple[bytes, ...]

    @classmethod
    def of(cls, solutions: ox.QuerySolutions) -> Table:
        body = solutions.serialize(format=ox.QueryResultsFormat.TSV)
        assert body is not None
        head, *rows = body.removesuffix(b"\n").split(b"\n")
        return cls(head, tuple(rows))

    def first(self, n: int) -> Table:
        return Table(self.head, self.rows[:n])

    def shuffled(self, chance: random.Random) -> Table:
        return Table(self.head, tuple(chance.sample(self.rows, len(self.rows))))

    def relabelled(self, chance: random.Random) -> Table:
        """The same rows with blank nodes called b0, b1, … in an order of this response's own."""
        labels = list(dict.fromkeys(_LABEL.findall(self._tsv())))
        chance.shuffle(labels)
        new = {label: b"_:b%d" % n for n, label in enumerate(labels)}
        body = _LABEL.sub(lambda match: new[match[1]], b"\n".join(self.rows)) if new else b""
        return Table(self.head, tuple(body.split(b"\n"))) if new else self

    def raised(self, n: int) -> Table:
        """The same rows with every plain number in their last column ``n`` higher."""
        return Table(
            self.head, tuple(_NUMBER.sub(lambda m: b"%d" % (int(m[1]) + n), row) for row in self.rows)
        )

    def answer(self, format: str, dialect: str = "") -> Answer:
        """As ``tsv``, ``json``, ``xml``; in a dialect as SPARQL has it, ``careless`` (TSV) or ``virtuoso`` (TSV, JSON)."""
        if format == "tsv" and dialect:
            return Answer(self._careless() if dialect == "careless" else self._virtuoso_tsv(), TYPES["tsv"])
        if format == "json" and dialect == "virtuoso":
            return Answer(_virtuoso_json(self.answer("json").body), TYPES["json"])
        if format == "tsv":
            return Answer(self._tsv(), TYPES["tsv"])
        body = self._parsed().serialize(format=RESULTS[format])
        assert body is not None
        return Answer(body, TYPES[format])

    def _tsv(self) -> bytes:
        return b"\n".join((self.head, *self.rows, b""))

    def _parsed(self) -> ox.QuerySolutions:
        solutions = ox.parse_query_results(self._tsv(), ox.QueryResultsFormat.TSV)
        assert isinstance(solutions, ox.QuerySolutions)
        return solutions

    def _careless(self) -> bytes:
        """Nothing is escaped; languages and datatypes are lost."""
        lines = ["\t".join(_careless_cell(term) for term in row) for row in self._parsed()]
        return "\n".join((self.head.decode(), *lines, "")).encode()

    def _virtuoso_tsv(self) -> bytes:
        """CSV with tabs, as Virtuoso 7 has it: no question marks, all but integers as strings, only quotes escaped."""
        head = "\t".join(f'"{name[1:]}"' for name in self.head.decode().split("\t"))
        lines = ["\t".join(_virtuoso_cell(term) for term in row) for row in self._parsed()]
        return "\n".join((head, *lines, "")).encode()


def _careless_cell(term: object) -> str:
    if isinstance(term, ox.Literal):
        return f'"{term.value}"'
    return "" if term is None else str(term)


def _virtuoso_cell(term: object) -> str:
    if isinstance(term, ox.Literal) and term.datatype.value.endswith("#integer"):
        return term.value
    if isinstance(term, ox.BlankNode):
        return f'"nodeID://{term.value}"'
    text = term.value if isinstance(term, ox.Literal | ox.NamedNode) else None
    return "" if text is None else '"{}"'.format(text.replace('"', '""'))


def _virtuoso_json(body: bytes) -> bytes:
    """Typed literals by the name that SPARQL 1.0 gave them, labels of blank nodes that are none."""
    results = json.loads(body)
    for cell in (cell for row in results["results"]["bindings"] for cell in row.values()):
        if "datatype" in cell:
            cell["type"] = "typed-literal"
        elif cell["type"] == "bnode":
            cell["value"] = "nodeID://" + cell["value"]
    return json.dumps(results).encode()


def negotiated(accept: str, offered: tuple[str, ...]) -> str:
    """The offered format that ``accept`` (a header) likes best; raises Refused (406) where it takes none of them."""
    wishes = sorted((_wish(one) for one in accept.split(",")), reverse=True)
    for quality, _, media_type in wishes:
        matching = [name for name in offered if _takes(media_type, name)]
        if quality > 0 and matching:
            return matching[0]
    raise Refused(406, f"No results as {accept}: only {', '.join(TYPES[name] for name in offered)}")


def _takes(media_type: str, name: str) -> bool:
    return media_type == "*/*" or _ACCEPTED.get(media_type) == name


def _wish(text: str) -> tuple[float, bool, str]:
    media_type, *parameters = (part.strip() for part in text.split(";"))
    quality = [float(part[2:]) for part in parameters if part.startswith("q=")]
    return (quality[0] if quality else 1.0), media_type != "*/*", media_type.lower()


def words(query: str) -> str:
    """A query without its IRIs and strings, in capitals, to look for keywords in."""
    return _NOT_WORDS.sub(" ", query).upper()


def counts(query: str) -> bool:
    """Whether the query asks for a COUNT."""
    return bool(re.search(r"\bCOUNT\s*\(", words(query)))


def groups(query: str) -> bool:
    """Whether the query asks for rows that each hold a COUNT."""
    return counts(query) and bool(re.search(r"\bGROUP\s+BY\b", words(query)))


def sorted_rows(query: str) -> list[int | None]:
    """Of every ORDER BY in the query its LIMIT, None where it has none."""
    tails = re.findall(r"\bORDER\s+BY\b([^{}]*)", words(query))
    limits = [re.search(r"\bLIMIT\s+(\d+)", tail) for tail in tails]
    return [int(limit[1]) if limit else None for limit in limits]


def listed(query: str) -> int:
    """How many IRIs the longest VALUES of the query lists."""
    return max((block.count("<") for block in re.findall(r"VALUES\b[^{]*\{([^}]*)\}", query)), default=0)


def writes(query: str) -> bool:
    """Whether the text is an update or holds one."""
    bare = re.sub(r"(?m)#.*$|\b(?:PREFIX\s+\S*:|BASE)", " ", words(query))
    return bool(re.match(r"\s*(?:INSERT|DELETE|LOAD|CLEAR|CREATE|DROP|COPY|MOVE|ADD|WITH)\b", bare))
