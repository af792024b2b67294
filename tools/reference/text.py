"""What the reference pages share: docstrings and values as Markdown, tables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

LONGEST = 60
"""Characters of a default that is shown whole."""
_NAMED = re.compile(r"((?:`\w+`, )*`\w+`(?: and `\w+`)?): (.+)")
_SENTENCES = re.compile(r"(?<=[.!])\s+(?=[A-Z`\"…(])")


def plain(docstring: str | None) -> str:
    """A docstring in one line of Markdown, without what it says to those who read the code."""
    text = " ".join((docstring or "").replace("``", "`").split())
    return re.sub(r" ?\((?:facts|source): [^)]*\)", "", text)


def notes(docstring: str | None) -> dict[str, str]:
    """What a docstring says of fields as "`name`: what it is; …", by name."""
    return _read(docstring)[1]


def summary(docstring: str | None) -> str:
    """The docstring without what it says of single fields."""
    return _read(docstring)[0]


def _read(docstring: str | None) -> tuple[str, dict[str, str]]:
    told: dict[str, str] = {}
    rest = []
    for sentence in _SENTENCES.split(plain(docstring)):
        others = []
        for clause in sentence.rstrip(".").split("; "):
            match = _NAMED.fullmatch(clause)
            if match is None:
                others.append(clause)
            for name in re.findall(r"`(\w+)`", match[1]) if match else ():
                told[name] = match[2] if match else ""
        if text := "; ".join(others):
            rest.append(text if text.endswith((":", "…")) else f"{text}.")
    return " ".join(rest), told


def code(text: str) -> str:
    """Text as code within a table; a pipe would end the cell."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}".replace("|", "\\|") if text else ""


def value(given: Any) -> str:
    """A default as code, shortened."""
    if given is None or given in ("", (), [], {}):
        return ""
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    if len(text) <= LONGEST:
        return code(text)
    many = f"{len(given)} entries: " if isinstance(given, list | tuple | dict) else ""
    return many + code(text[: LONGEST - 15].rstrip(" ,[{") + " …")


def cell(text: str) -> str:
    """Prose within a table: pipes outside of code are escaped, line ends are blanks."""
    return re.sub(r"(?<!\\)\|", r"\\|", " ".join(text.split()))


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table without the columns that are empty in every row."""
    kept = [list(row) for row in rows]
    used = [n for n in range(len(heads)) if n == 0 or any(row[n] for row in kept)]
    lines = [[heads[n] for n in used], ["---"] * len(used), *([row[n] for n in used] for row in kept)]
    return [f"| {' | '.join(line)} |" for line in lines] if kept else []
