"""Bodies of responses to rows of terms: TSV or JSON, told apart by what they are, not by what they are called.

XML is not read: its parsers trim the white space of literals.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyoxigraph as ox

from crmrag_assets.harvest.report import shortened
from crmrag_assets.sources.rdf.lines import valid_iri
from crmrag_query.syntax import OutOfBounds, require_bounds

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


class Oversized(Exception):
    """A body of more rows than are read."""


class NotResults(Exception):
    """A body that is no result at all, such as a web page."""


@dataclass(frozen=True)
class Table:
    """What was read of a response.

    ``repaired`` counts rows with an IRI that had to be repaired, ``skipped`` rows that could not be. ``format`` is what the
    body was in, ``labelled`` whether it said so.
    """

    rows: list[Row]
    repaired: int = 0
    skipped: int = 0
    format: ox.QueryResultsFormat = TSV
    labelled: bool = True


def require_few(body: bytes, width: int, rows: int) -> None:
    """Raise Oversized for a body of more ``rows`` of so many variables: once read, a row takes a hundred times its bytes.

    Rows of JSON are counted by their objects and lists, which are what fills memory there.
    """
    json = _sniffed(body) is JSON
    held = (body.count(b"{") + body.count(b"[")) // (1 + width) if json else body.count(b"\n")
    if held > rows + 1:  # TSV names its columns, JSON wraps its rows
        raise Oversized(f"its response has more than {rows:,} rows")


def read_body(body: bytes, content_type: str, variables: tuple[str, ...]) -> Table:
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
    """A fault that the parser reads past or would not survive, "" for none."""
    if format is TSV and not body.endswith(b"\n"):
        return "the body ends within a line"
    if format is TSV and _BARE_RETURN.search(body):
        return "a carriage return is not escaped"
    if format is JSON:
        try:
            require_bounds(body, "JSON")
        except OutOfBounds as error:
            return error.what
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


def _leniently(body: bytes, variables: tuple[str, ...], labelled: bool) -> Table:
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
            try:
                terms = [_term(binding.get(name)) for name in variables]
            except ValueError:
                skipped += 1
                continue
            rows.append(tuple(term for term, _ in terms))
            repaired += any(changed for _, changed in terms)
        return Table(rows, repaired, skipped, JSON, labelled)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise Mangled(f"not valid JSON: {error}") from error


def _term(value: Mapping[str, Any] | None) -> tuple[Term | None, bool]:
    """A term of JSON, and whether an IRI in it had to be repaired."""
    if value is None:
        return None, False
    kind, text = value["type"], value["value"]
    if kind not in _TYPES or not isinstance(text, str) or value.keys() - _KEYS:
        raise TypeError(f"no term: {value}")
    if kind == "uri":
        valid = valid_iri(text)
        return valid, valid.value != text
    if kind == "bnode":
        try:
            return ox.BlankNode(text), False
        except ValueError:  # no valid label, such as Virtuoso's nodeID://b1: labels only tell nodes apart
            return ox.BlankNode(f"x{text.encode().hex()}"), False
    if language := value.get("xml:lang"):
        return ox.Literal(text, language=language), False
    if datatype := value.get("datatype"):
        valid = valid_iri(datatype)
        return ox.Literal(text, datatype=valid), valid.value != datatype
    return ox.Literal(text), False
