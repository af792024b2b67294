"""Text of data, of files and of servers as a terminal may be given it."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """``text`` without control characters, any kind of space as a space: data can't steer the terminal."""
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char == "\n" or char.isprintable():
        return char
    return " " if unicodedata.category(char) == "Zs" else ""
