"""What all results share: names, dates, places and triples; and that they print in lines, show as a table in notebooks, and
give JSON and data frames.

In HTML everything that comes from data is escaped, and only web addresses become links.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import ConfigDict

from crmrag_query.codec import to_json, to_plain
from crmrag_query.errors import MissingExtraError
from crmrag_query.text import amount, printable

if TYPE_CHECKING:
    import pandas
    import polars

TableRow = tuple[Any, ...]
SHOWN_ROWS = 50
WIDTH = 100  # characters of a value in a printed line


def bidi(value: object) -> str:
    """A value as escaped text that cannot turn the direction of what stands around it."""
    return f"<bdi>{escape(str(value), quote=True)}</bdi>" if value not in (None, "") else ""


def link(address: str) -> str:
    """A link for an http or https address with a host, without white space or control characters; else the escaped text."""
    if not address.isprintable() or any(sign in address for sign in " \"'<>\\"):
        return bidi(address)
    try:
        parts = urlsplit(address)
    except ValueError:
        return bidi(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return bidi(address)
    target = escape(address, quote=True)
    return f'<a href="{target}" target="_blank" rel="noopener noreferrer nofollow">{bidi(address)}</a>'


def table(columns: Iterable[str], rows: Sequence[TableRow]) -> str:
    """A table of at most SHOWN_ROWS rows, its addresses links; how many more there are stands below it."""

    def cell(value: Any) -> str:
        text = _text(value)
        return f'<td style="text-align:left">{link(text) if isinstance(value, str) else bidi(text)}</td>'

    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows[:SHOWN_ROWS])
    more = f"<p>… and {len(rows) - SHOWN_ROWS} more</p>" if len(rows) > SHOWN_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def paragraphs(text: str) -> str:
    """Escaped text, its lines kept."""
    return f'<div style="white-space:pre-wrap">{bidi(text)}</div>' if text else ""


def polars_frame(columns: Mapping[str, type], rows: Sequence[TableRow]) -> polars.DataFrame:
    """A polars frame of rows; MissingExtraError without polars."""
    try:
        import polars
    except ImportError as error:
        raise MissingExtraError("to_polars()", "frames", "polars") from error
    kinds: dict[type, Any] = {
        str: polars.String, int: polars.Int64, float: polars.Float64, bool: polars.Boolean,
    }  # fmt: skip
    schema = {name: kinds[kind] for name, kind in columns.items()}
    return polars.DataFrame(list(rows), schema=schema, orient="row")


def pandas_frame(columns: Mapping[str, type], rows: Sequence[TableRow]) -> pandas.DataFrame:
    """A pandas frame of rows; MissingExtraError without pandas."""
    try:
        import pandas
    except ImportError as error:
        raise MissingExtraError("to_pandas()", "frames", "pandas") from error
    kinds = {str: "string", int: "Int64", float: "Float64", bool: "boolean"}
    frame = pandas.DataFrame.from_records(list(rows), columns=list(columns))
    return frame.astype({name: kinds[kind] for name, kind in columns.items()})


def apart(names: Iterable[str], taken: Iterable[str] = ()) -> list[str]:
    """Names of columns, those that stand there already with their number: a frame has each once."""
    found = list(taken)
    first = len(found)
    for at, name in enumerate(names, 1):
        found.append(f"{name} {at}" if name in found else name)
    return found[first:]


class Shown:
    """A result: ``COLUMNS`` and ``rows`` are its table, ``head`` the line or lines above it."""

    __slots__ = ()

    COLUMNS: ClassVar[dict[str, type]] = {}
    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(allow_inf_nan=False)

    def head(self) -> str:
        """What stands above the table, as plain text of the data."""
        return ""

    def rows(self) -> Sequence[TableRow]:
        """The rows of its table, in the order of ``COLUMNS``."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    def to_json(self) -> str:
        """The result as one line of JSON."""
        return to_json(self)

    def frame(self) -> tuple[dict[str, type], Sequence[TableRow]]:
        """The columns of its frame, with the type of each, and the rows."""
        return self.COLUMNS, self.rows()

    def to_polars(self) -> polars.DataFrame:
        """Its table as a polars frame; MissingExtraError without polars."""
        return polars_frame(*self.frame())

    def to_pandas(self) -> pandas.DataFrame:
        """Its table as a pandas frame; MissingExtraError without pandas."""
        return pandas_frame(*self.frame())

    def __repr__(self) -> str:
        first = next(iter(self.head().splitlines()), "")
        return f"<{type(self).__name__}: {_cut(printable(first))} ({amount(len(self.rows()), 'row')})>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if head := self.head():
            yield printable(head)
        for row in self.rows()[:SHOWN_ROWS]:
            yield "  ".join(_cut(printable(_text(value)).replace("\n", " ")) for value in row if value != "")
        if len(self.rows()) > SHOWN_ROWS:
            yield f"… and {len(self.rows()) - SHOWN_ROWS} more"

    def _repr_html_(self) -> str:
        rows = self.rows()
        return paragraphs(self.head()) + (table(self.COLUMNS, rows) if rows else "")


def _text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


@dataclass(frozen=True, slots=True)
class SourceTriple:
    """A triple that supports an answer, as IRIs (or a literal's text) and as words; ``graphs``: who says so."""

    s: str
    p: str
    o: str
    s_label: str
    p_label: str
    o_label: str
    graphs: tuple[str, ...] = ()

    def __str__(self) -> str:
        graphs = f"  [{', '.join(self.graphs)}]" if self.graphs else ""
        return f"{self.s_label} — {self.p_label} — {self.o_label}{graphs}"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity by IRI and label."""

    iri: str
    label: str


Doubt = Literal["", "several", "order", "west"]
"""What coordinates leave open: the data states ``several`` points that differ, of which the first is given; two numbers in an
``order`` that is not said, taken for latitude and longitude; "O", taken for ``west``, which is east in German."""


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Degrees of WGS 84, north and east positive; ``of``: the place that they are of, where that is not the source itself;
    ``doubt``: what of them the data leaves open."""

    lat: float
    lon: float
    of: Named | None = None
    doubt: Doubt = ""


@dataclass(frozen=True, slots=True)
class Dates:
    """When something was or came to be: in words of the question's language, and its first and last year as ISO 8601 writes
    years ("1105", "-0499" for 500 BC), None where an end is open."""

    text: str
    begin: str | None = None
    end: str | None = None
