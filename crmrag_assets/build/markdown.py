"""Tables in Markdown, in which nothing that data says takes effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TOP = 25


def table(
    title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], where: str, level: int = 2
) -> Iterator[str]:
    """A titled table of the first rows, the others to be seen in the file ``where``; nothing when there are none."""
    if not rows:
        return
    yield from (
        "",
        f"{'#' * level} {title}",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * len(columns),
    )
    for row in rows[:TOP]:
        yield "| " + " | ".join(_cell(row.get(column)) for column in columns) + " |"
    if len(rows) > TOP:
        yield f"\nand {len(rows) - TOP:,} more (see {where})"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if type(value) in (int, float) else escaped(str(value))


def escaped(text: str) -> str:
    """Data as plain words: neither Markdown nor HTML in it takes effect."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    for sign in "\\`*_[]<>|#":
        shown = shown.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return shown
