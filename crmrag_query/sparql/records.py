"""What a SPARQL query gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from crmrag_query.sets.records import Cell


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
