"""What all results share: they print in lines, show as a table in notebooks, and give dicts and data frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from crmrag_query.cli.printable import printable
from crmrag_query.client import html
from crmrag_query.client.codec import to_json, to_plain
from crmrag_query.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas
    import polars

Row = tuple[Any, ...]
WIDTH = 100  # characters of a value in a printed line


class Shown:
    """A result: ``COLUMNS`` and ``rows`` are its table, ``head`` the line or lines above it."""

    __slots__ = ()

    COLUMNS: ClassVar[dict[str, type]] = {}

    def head(self) -> str:
        """What stands above the table, as plain text of the data."""
        return ""

    def rows(self) -> Sequence[Row]:
        """The rows of its table, in the order of ``COLUMNS``."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values, ready for JSON."""
        plain: dict[str, Any] = to_plain(self)
        return plain

    def to_json(self) -> str:
        """The result as one line of JSON."""
        return to_json(self)

    def to_polars(self) -> polars.DataFrame:
        """Its table as a polars frame; MissingExtraError without polars."""
        try:
            import polars
        except ImportError as error:
            raise MissingExtraError("to_polars()", "frames", "polars") from error
        kinds: dict[type, Any] = {
            str: polars.String,
            int: polars.Int64,
            float: polars.Float64,
            bool: polars.Boolean,
        }
        schema = {name: kinds[kind] for name, kind in self.COLUMNS.items()}
        return polars.DataFrame(list(self.rows()), schema=schema, orient="row")

    def to_pandas(self) -> pandas.DataFrame:
        """Its table as a pandas frame; MissingExtraError without pandas."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("to_pandas()", "frames", "pandas") from error
        kinds = {str: "string", int: "Int64", float: "Float64", bool: "boolean"}
        frame = pandas.DataFrame.from_records(list(self.rows()), columns=list(self.COLUMNS))
        return frame.astype({name: kinds[kind] for name, kind in self.COLUMNS.items()})

    def __repr__(self) -> str:
        first = next(iter(self.head().splitlines()), "")
        return f"<{type(self).__name__}: {_cut(printable(first))} ({len(self.rows())} rows)>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if head := self.head():
            yield printable(head)
        for row in self.rows()[: html.SHOWN_ROWS]:
            yield "  ".join(_cut(printable(_said(value)).replace("\n", " ")) for value in row if value != "")
        if len(self.rows()) > html.SHOWN_ROWS:
            yield f"… and {len(self.rows()) - html.SHOWN_ROWS} more"

    def _repr_html_(self) -> str:
        rows = self.rows()
        return html.paragraphs(self.head()) + (html.table(list(self.COLUMNS), rows) if rows else "")


def _said(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "" if value is None else str(value)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
