"""A checked query on a store, and its result within bounds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from crmrag_query.errors import QuestionError
from crmrag_query.sets.records import Cell
from crmrag_query.shown import TableRow, pandas_frame, polars_frame
from crmrag_query.sparql.check import Checked

if TYPE_CHECKING:
    import pandas
    import polars
    from pyoxigraph import Store


@dataclass(frozen=True, slots=True)
class SparqlResult:
    """The result of a query by its ``form``: ``variables`` and ``rows`` (None: unbound) of a SELECT, the ``truth`` of an ASK,
    the ``text`` (N-Triples) of a CONSTRUCT or DESCRIBE. ``truncated``: there is more than was given."""

    form: Literal["select", "ask", "graph"]
    variables: tuple[str, ...] = ()
    rows: tuple[tuple[Cell | None, ...], ...] = ()
    truth: bool | None = None
    text: str = ""
    truncated: bool = False
    milliseconds: float = 0.0

    def to_polars(self) -> polars.DataFrame:
        """The rows of a SELECT as a polars frame, IRIs and literals as text, None where unbound.

        Raises MissingExtraError without polars.
        """
        return polars_frame(dict.fromkeys(self.variables, str), self._texts())

    def to_pandas(self) -> pandas.DataFrame:
        """The rows of a SELECT as a pandas frame, as `to_polars`; MissingExtraError without pandas."""
        return pandas_frame(dict.fromkeys(self.variables, str), self._texts())

    def _texts(self) -> list[TableRow]:
        return [tuple(None if cell is None else cell.iri or cell.label for cell in row) for row in self.rows]


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
            result = SparqlResult("ask", truth=bool(found))
        elif isinstance(found, ox.QuerySolutions):
            names = tuple(variable.value for variable in found.variables)
            if query.variables:  # SELECT * gives them in no order
                names = tuple(name for name in query.variables if name in names)
            cells = (tuple(cell_of(solution[name]) for name in names) for solution in found)
            read, truncated = _within(cells, rows, characters, _row_size)
            result = SparqlResult("select", names, tuple(read), truncated=truncated)
        else:
            every = _distinct(f"{triple} .\n" for triple in found)
            lines, truncated = _within(every, rows, characters, len)
            result = SparqlResult("graph", text="".join(lines), truncated=truncated)
    except SyntaxError as error:
        raise QuestionError(f"The query cannot be read ({error.msg}).", "Write SPARQL 1.1.") from error
    except (RuntimeError, ValueError, OSError) as error:
        raise QuestionError(f"The query cannot be executed ({error}).", "Ask in another way.") from error
    return replace(result, milliseconds=round((time.perf_counter() - began) * 1000, 3))


def _within(items: Iterable[T], most: int, characters: int, size: Callable[[T], int]) -> tuple[list[T], bool]:
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


def _row_size(row: tuple[Cell | None, ...]) -> int:
    return sum(1 if cell is None else len(cell.label) + len(cell.datatype) + len(cell.lang) for cell in row)


def cell_of(term: Any) -> Cell | None:
    """A term: of an IRI its text twice, of a literal its value; blank nodes that the query made as ``_:name``."""
    import pyoxigraph as ox

    if term is None:
        return None
    if isinstance(term, ox.NamedNode):
        return Cell(term.value, term.value)
    if not isinstance(term, ox.Literal):
        return Cell(str(term))
    lang, datatype = term.language or "", term.datatype.value
    if lang or datatype == XSD + "string":
        return Cell(term.value, lang=lang)
    number = None
    if datatype in NUMBERS:
        with suppress(ValueError):
            number = float(term.value)
    finite = number is not None and math.isfinite(number)
    return Cell(term.value, datatype=datatype, number=number if finite else None)
