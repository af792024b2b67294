"""Bodies of responses to rows of terms: TSV or JSON, told apart by what they are, not by what they are called.

XML is not read: its parsers trim the white space of literals.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pyoxigraph as ox

from crmrag_assets.harvest.report import Tally, shortened
from crmrag_assets.sources.iris import valid_iri

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Row = tuple[Term | None, ...]

TSV, JSON = ox.QueryResultsFormat.TSV, ox.QueryResultsFormat.JSON
_DECLARED = {
    "text/tab-separated-values": TSV,
    "application/sparql-results+json": JSON,
    "application/json": JSON,
}
_BARE_RETURN = re.compile(rb"\r(?!\n)")
_TYPES = "uri", "bnode", "literal", "typed-literal"
_KEYS = {"type", "value", "xml:lang", "datatype"}


class Mangled(Exception):
    """A body that is not a whole result of the query; another format may bring it."""


class NotResults(Exception):
    """A body that is no result at all, such as a web page."""


R = TypeVar("R")


@dataclass(frozen=True, kw_only=True)
class Results(ABC):
    """What was read of a response: ``len`` tells how many rows.

    ``repaired`` counts rows with an IRI that had to be repaired, ``skipped`` rows that could not be. ``format`` is what the
    body was in, ``labelled`` whether it said so.
    """

    repaired: int = 0
    skipped: int = 0
    format: ox.QueryResultsFormat = TSV
    labelled: bool = True

    @abstractmethod
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class Table(Results, Generic[R]):
    """Rows of a response."""

    rows: list[R]

    def __len__(self) -> int:
        return len(self.rows)


def read_body(body: bytes, content_type: str, variables: tuple[str, ...]) -> Table[Row]:
    """The rows of a response with exactly these variables.

    Raises Mangled where the body is damaged or answers something else, NotResults where it is no result.
    """
    declared = _DECLARED.get(content_type)
    found = _sniffed(body)
    if found is None:
        raise NotResults(f"{content_type or 'no content type'}: {shortened(body[:400]) or 'an empty body'}")
    if fault := _unnoticed(body, found):
        raise Mangled(fault)
    try:
        return Table(_strictly(body, found, variables), format=found, labelled=declared is found)
    except (SyntaxError, ValueError) as error:
        if found is not JSON:
            raise Mangled(f"not valid {found.name}: {error}") from error
    return _leniently(body, variables, declared is found)


def _sniffed(body: bytes) -> ox.QueryResultsFormat | None:
    head = body[:400].lstrip(b"\xef\xbb\xbf \r\n")
    if head[:1] in (b"?", b"$"):
        return TSV
    if head[:1] == b"{":
        return JSON
    return None


def _unnoticed(body: bytes, format: ox.QueryResultsFormat) -> str:
    """A fault that the parser reads past, "" for none."""
    if format is TSV and not body.endswith(b"\n"):
        return "the body ends within a line"
    if format is TSV and _BARE_RETURN.search(body):
        return "a carriage return is not escaped"
    return ""


def _strictly(body: bytes, format: ox.QueryResultsFormat, variables: tuple[str, ...]) -> list[Row]:
    solutions = ox.parse_query_results(body, format=format)
    if not isinstance(solutions, ox.QuerySolutions):
        raise Mangled("a truth value where rows were asked for")
    rows: list[Row] = []
    try:
        named = tuple(variable.value for variable in solutions.variables)
        if named != variables:
            raise Mangled(f"columns {', '.join(named)} where {', '.join(variables)} were asked for")
        for solution in solutions:
            rows.append(tuple(solution))
    finally:
        del solutions  # it must end in the thread that made it, and a traceback would carry it elsewhere
    return rows


def _leniently(body: bytes, variables: tuple[str, ...], labelled: bool) -> Table[Row]:
    """JSON whose only fault is an IRI with characters that IRIs may not hold, or an odd label of a blank node."""
    try:
        raw = json.loads(body)
        named, bindings = raw["head"]["vars"], raw["results"]["bindings"]
        if named != list(variables):
            raise Mangled(f"columns {named} where {', '.join(variables)} were asked for")
        if not isinstance(bindings, list) or any(binding.keys() - set(variables) for binding in bindings):
            raise Mangled("not valid JSON: its rows are not of its columns")
        rows: list[Row] = []
        repaired = skipped = 0
        for binding in bindings:
            tally = Tally()
            try:
                rows.append(tuple(_term(binding.get(name), tally) for name in variables))
                repaired += bool(tally.repaired)
            except ValueError:
                skipped += 1
        return Table(rows, repaired=repaired, skipped=skipped, format=JSON, labelled=labelled)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Mangled(f"not valid JSON: {error}") from error


def _blank(label: str) -> ox.BlankNode:
    """A blank node, also of a label that none may have, such as Virtuoso's nodeID://b1: labels only tell nodes apart."""
    try:
        return ox.BlankNode(label)
    except ValueError:
        return ox.BlankNode(f"x{label.encode().hex()}")


def _term(value: Mapping[str, Any] | None, tally: Tally) -> Term | None:
    if value is None:
        return None
    kind, text = value["type"], value["value"]
    if kind not in _TYPES or not isinstance(text, str) or value.keys() - _KEYS:
        raise TypeError(f"no term: {value}")
    if kind == "uri":
        valid = valid_iri(text)
        tally.repaired += valid.value != text
        return valid
    if kind == "bnode":
        return _blank(text)
    if language := value.get("xml:lang"):
        return ox.Literal(text, language=language)
    if datatype := value.get("datatype"):
        valid = valid_iri(datatype)
        tally.repaired += valid.value != datatype
        return ox.Literal(text, datatype=valid)
    return ox.Literal(text)
