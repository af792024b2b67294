"""Results as HTML for notebooks: everything that comes from data is escaped, and only web addresses become links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any
from urllib.parse import urlsplit

SHOWN_ROWS = 50


def shown(value: object) -> str:
    """A value as escaped text that cannot turn the direction of what stands around it."""
    return f"<bdi>{escape(str(value), quote=True)}</bdi>" if value not in (None, "") else ""


def link(address: str, text: str = "") -> str:
    """A link for an http or https address, else the escaped text."""
    if not is_web(address):
        return shown(text or address)
    target = escape(address, quote=True)
    return (
        f'<a href="{target}" target="_blank" rel="noopener noreferrer nofollow">{shown(text or address)}</a>'
    )


def is_web(address: str) -> bool:
    """True for an http or https address with a host, without white space or control characters."""
    if not address.isprintable() or any(sign in address for sign in " \"'<>\\"):
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def cell(value: Any) -> str:
    """A cell of a table: texts that are addresses become links."""
    said = f"{value:.3g}" if isinstance(value, float) else value
    return f'<td style="text-align:left">{link(said) if isinstance(said, str) else shown(said)}</td>'


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table of at most SHOWN_ROWS rows; how many more there are stands below it."""
    held = list(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in held[:SHOWN_ROWS])
    more = f"<p>… and {len(held) - SHOWN_ROWS} more</p>" if len(held) > SHOWN_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def paragraphs(text: str) -> str:
    """Escaped text, its lines kept."""
    return f'<div style="white-space:pre-wrap">{shown(text)}</div>' if text else ""
