"""Names that changed between versions of the CRM family: `config/ontology/renames.csv`."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from crmrag_query.errors import OntologyError
from crmrag_query.ontology.rows import Kind
from crmrag_query.ontology.spelling import flipped, take_apart

COLUMNS = ("old", "new", "kind", "since", "confidence", "note")
_FIRM = ("exact", "likely")


@dataclass(frozen=True, slots=True)
class Rename:
    """An old name and what stands for it now.

    `replaced_by` is the one code that means the same, empty where there is none; `below` holds the
    codes that the old one only implies (an Allen relation implies both of its parts): such a class or
    property keeps its own code and becomes a sub-class or sub-property of them.
    """

    kind: Kind
    name: str
    code: str
    replaced_by: str
    below: tuple[str, ...]

    @property
    def turned(self) -> bool:
        """Whether the property's new code reads from range to domain of the old one."""
        if self.kind == "class" or not self.replaced_by:
            return False
        return self.code.endswith("i") != self.replaced_by.endswith("i")


def read_renames(path: Path) -> tuple[Rename, ...]:
    """The renames in the file, each property's inverse derived where the file does not list it.

    Raises OntologyError naming the row that cannot be understood.
    """
    reader = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8")))
    if not set(COLUMNS) <= set(reader.fieldnames or ()):
        raise OntologyError(f"{path} has not the columns {', '.join(COLUMNS)}.", "Restore its first line.")
    listed = tuple(
        rename
        for number, row in enumerate(reader, start=2)
        for rename in _rename(row, f"{path}, row {number}")
    )
    names = {(rename.kind, rename.code) for rename in listed}
    derived = tuple(
        inverse
        for rename in listed
        for inverse in _inverse(rename)
        if ("property", inverse.code) not in names
    )
    return listed + derived


def _rename(row: dict[str, str], where: str) -> Iterator[Rename]:
    kind = _kind(row)
    if kind is None:
        return
    spelling = take_apart(row["old"])
    if spelling is None:
        raise OntologyError(f"{where}: {row['old']!r} carries no code.", "An old name starts with its code.")
    targets = tuple(target.code for part in row["new"].split(" + ") if (target := take_apart(part.strip())))
    if row["confidence"] in _FIRM and len(targets) == 1:
        yield Rename(kind, row["old"], spelling.code, targets[0], ())
    else:
        yield Rename(kind, row["old"], spelling.code, "", targets)


def _kind(row: dict[str, str]) -> Kind | None:
    """Class or property; None for rows about notations and namespaces, which need no table."""
    stated = re.match(r"(class|property) (?:renamed|removed)", row["kind"])
    if stated:
        return "class" if stated[1] == "class" else "property"
    if "->" in row["kind"]:
        return "class" if row["old"].startswith(("E", "F")) else "property"
    return None


def _inverse(rename: Rename) -> Iterator[Rename]:
    if rename.kind == "property" and not rename.code.endswith("i"):
        replaced = flipped(rename.replaced_by) if rename.replaced_by else ""
        yield Rename(
            "property", "", flipped(rename.code), replaced, tuple(flipped(code) for code in rename.below)
        )
