"""Turtle text and table rows: the two ends of the mapping in build.py."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).resolve().parent
PREFIXES = """\
@base <https://example.org/troodos/> .
@prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix schema: <https://schema.org/> .
@prefix vir: <http://w3id.org/vir#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""
Row = dict[str, str]


class TableError(ValueError):
    """A row of a table cannot be mapped; the message names the table and the row."""


@dataclass
class Graph:
    """Statements by subject; terms are Turtle text."""

    statements: dict[str, set[tuple[str, str]]] = field(default_factory=dict)

    def add(self, subject: str, prop: str, *objects: str) -> None:
        self.statements.setdefault(subject, set()).update((prop, value) for value in objects if value)

    def entity(self, subject: str, classes: str, row: Row | None = None) -> str:
        """State the classes ("crm:E12_Production …") and, from a row, the English and Greek labels."""
        self.add(subject, "a", *classes.split())
        if row is not None:
            self.add(subject, "rdfs:label", text(row["label_en"], "en"), text(row["label_el"], "el"))
        return subject

    def turtle(self) -> str:
        """All statements in one order: subjects, then properties ("a" first), then objects."""
        blocks = []
        for subject, pairs in sorted(self.statements.items()):
            ordered = sorted(pairs, key=lambda pair: (pair[0] != "a", pair))
            lines = [
                f"    {prop} {', '.join(value for _, value in group)}"
                for prop, group in groupby(ordered, key=lambda pair: pair[0])
            ]
            blocks.append(f"{subject}\n" + " ;\n".join(lines) + " .\n")
        return PREFIXES + "\n" + "\n".join(blocks)


def iri(kind: str, identifier: str) -> str:
    """The IRI of a row, relative to @base; an identifier that is already a path keeps its own kind."""
    return "" if not identifier else f"<{identifier}>" if "/" in identifier else f"<{kind}/{identifier}>"


def many(kind: str, cell: str) -> list[str]:
    return [iri(kind, part.strip()) for part in cell.split(";") if part.strip()]


def text(value: str, language: str = "") -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"{"@" + language if language else ""}' if value else ""


def date(value: str) -> str:
    """A year (xsd:gYear) or a day (xsd:date), as precise as the table."""
    return f'"{value}"^^xsd:{"date" if value.count("-") == 2 else "gYear"}' if value else ""


def rows(table: str) -> Iterator[Row]:
    """The rows of tables/<table>.csv. Raises TableError for a row with too few or too many cells."""
    with (HERE / "tables" / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        for cells in reader:
            if len(cells) != len(header):
                raise TableError(
                    f"{table}.csv line {reader.line_num}: {len(cells)} cells, expected {len(header)}"
                )
            yield dict(zip(header, cells, strict=True))
