"""A checked query on a store, and its result within bounds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from crmrag_query.errors import QuestionError
from crmrag_query.sets.records import Cell
from crmrag_query.sparql.check import Checked
from crmrag_query.sparql.records import SparqlResult

if TYPE_CHECKING:
    from pyoxigraph import QuerySolution, QuerySolutions, QueryTriples, Store

XSD = "http://www.w3.org/2001/XMLSchema#"
NUMBERS = frozenset(
    XSD + name
    for name in (
        "integer", "decimal", "float", "double", "int", "long", "short", "byte", "nonNegativeInteger",
        "positiveInteger", "nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort",
        "unsignedByte",
    )
)  # fmt: skip
T = TypeVar("T")


def evaluate(store: Store, query: Checked, rows: int, characters: int) -> SparqlResult:
    """At most so many rows or triples, of so many characters in all.

    All graphs are asked together unless the query names some. Raises QuestionError for what the engine does not know.
    """
    import pyoxigraph as ox

    began = time.perf_counter()
    try:
        found = store.query(query.text, use_default_graph_as_union=not query.graphs)
        if isinstance(found, ox.QueryBoolean):
            result = SparqlResult("ask", truth=bool(found), milliseconds=_since(began))
        elif isinstance(found, ox.QuerySolutions):
            result = _table(found, query, rows, characters, began)
        else:
            result = _graph(found, rows, characters, began)
    except SyntaxError as error:
        raise QuestionError(f"The query cannot be read ({error.msg}).", "Write SPARQL 1.1.") from error
    except (RuntimeError, ValueError, OSError) as error:
        raise QuestionError(f"The query cannot be executed ({error}).", "Ask in another way.") from error
    return result


def _table(found: QuerySolutions, query: Checked, rows: int, characters: int, began: float) -> SparqlResult:
    names = tuple(variable.value for variable in found.variables)
    if query.variables:  # SELECT * gives them in no order
        names = tuple(name for name in query.variables if name in names)
    read, truncated = _within((_row(one, names) for one in found), rows, characters, _row_size)
    return SparqlResult("select", names, tuple(read), truncated=truncated, milliseconds=_since(began))


def _graph(found: QueryTriples, rows: int, characters: int, began: float) -> SparqlResult:
    read, truncated = _within(_distinct(f"{triple} .\n" for triple in found), rows, characters, len)
    return SparqlResult("graph", text="".join(read), truncated=truncated, milliseconds=_since(began))


def _within(items: Iterable[T], most: int, characters: int, size: Any) -> tuple[list[T], bool]:
    """The first items, as many as fit; and whether there are more."""
    kept: list[T] = []
    for item in items:
        characters -= size(item)
        if len(kept) == most or characters < 0:
            return kept, True
        kept.append(item)
    return kept, False


def _distinct(lines: Iterable[str]) -> Iterator[str]:
    seen: set[str] = set()
    for line in lines:
        if line not in seen:
            seen.add(line)
            yield line


def _row(solution: QuerySolution, names: tuple[str, ...]) -> tuple[Cell | None, ...]:
    terms = (solution[name] for name in names)
    return tuple(None if term is None else cell_of(term) for term in terms)


def _row_size(row: tuple[Cell | None, ...]) -> int:
    return sum(1 if cell is None else len(cell.label) + len(cell.datatype) + len(cell.lang) for cell in row)


def cell_of(term: Any) -> Cell:
    """A term: of an IRI its text twice, of a literal its value; blank nodes that the query made as ``_:name``."""
    import pyoxigraph as ox

    if isinstance(term, ox.NamedNode):
        return Cell(term.value, term.value)
    if not isinstance(term, ox.Literal):
        return Cell(str(term))
    lang, datatype = term.language or "", term.datatype.value
    if lang or datatype == XSD + "string":
        return Cell(term.value, lang=lang)
    return Cell(term.value, datatype=datatype, number=_number(term.value, datatype))


def _number(text: str, datatype: str) -> float | None:
    if datatype not in NUMBERS:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _since(began: float) -> float:
    return round((time.perf_counter() - began) * 1000, 3)
