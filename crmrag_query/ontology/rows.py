"""One row of an ontology table, the CSV files that hold them, and how codes stand in names: `P108i_was_produced_by`,
`E33_E41_Linguistic_Appellation`.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

from crmrag_query.errors import OntologyError

_NAME = re.compile(
    r"""(?P<letters>[A-Z]{1,4})
        (?P<number>\d+(?:\.\d+)?)
        (?P<suffix>[a-z]|[FB](?=_|$))?
        (?P<apart>_i(?=_|$))?
        (?P<second>_[A-Z]{1,4}\d+(?=_|$))?
        (?:_(?P<words>.+))?""",
    re.VERBOSE,
)
_SEPARATORS = re.compile(r"[/#]")
_ESCAPED = re.compile(r"%([0-9A-Fa-f]{2})")


class Spelling(NamedTuple):
    """A name taken apart: its code as we write codes, and the words after it."""

    code: str
    words: str


def local_name(iri: str) -> str:
    """What follows the last `/` or `#` of an IRI, percent escapes undone, blanks as underscores."""
    last = _SEPARATORS.split(iri)[-1]
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), last).replace(" ", "_")


def namespace_of(iri: str) -> str:
    """The IRI up to and with its last `/` or `#`."""
    return iri[: len(iri) - len(_SEPARATORS.split(iri)[-1])]


@lru_cache(maxsize=65536)
def take_apart(name: str) -> Spelling | None:
    """Code and words of a name, or None where it carries no code.

    Inverses are written `P108i` whether the name says `P108i_…`, `P108_i_…` or, as CRM up to 5.0.0
    did, `P108B_…` (`P108F_…` being the plain property). Two class codes, as in `E33_E41_…`, are one.
    """
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    suffix = found["suffix"] or ""
    inverse = "i" if found["apart"] else {"F": "", "B": "i"}.get(suffix, suffix)
    codes = sorted(
        (found["letters"] + found["number"] + inverse, *filter(None, [(found["second"] or "")[1:]]))
    )
    return Spelling("_".join(codes), found["words"] or "")


def as_words(name: str) -> str:
    """The words of a name for a person: `P108i_was_produced_by` gives "was produced by"."""
    spelling = take_apart(name)
    return (spelling.words if spelling else name).replace("_", " ").strip()


def flipped(code: str) -> str:
    """The code of the other direction by CRM's convention: `P108` and `P108i`."""
    return code[:-1] if code.endswith("i") else code + "i"


Kind = Literal["class", "property"]
FIXED_COLUMNS = (
    "kind", "code", "name", "iri", "parents", "inverse", "symmetric", "transitive", "domain", "range"
)  # fmt: skip
"""Columns of every table; one column `label` or `label@LANG` per language follows."""
LABEL = "label"


@dataclass(frozen=True, slots=True)
class Row:
    """A class or a property as one ontology file states it.

    `parents`, `inverse`, `domain` and `range` are codes as that file uses them (`rdfs:Literal` and
    `xsd:…` for literal ranges, empty where nothing is stated). A row with an empty `name` adds
    parents to a class or property that another ontology declares.
    """

    kind: Kind
    code: str
    name: str
    iri: str
    parents: tuple[str, ...] = ()
    inverse: str = ""
    symmetric: bool = False
    transitive: bool = False
    domain: str = ""
    range: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OntologyTable:
    """The rows of one ontology, sorted by kind and code; `skipped` counts terms that were left out."""

    name: str
    rows: tuple[Row, ...]
    skipped: tuple[str, ...] = ()


def to_csv(table: OntologyTable) -> str:
    """The table as CSV text with Unix line ends; the same table gives the same bytes."""
    languages = sorted({language for row in table.rows for language in row.labels})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIXED_COLUMNS, *(f"{LABEL}@{lang}" if lang else LABEL for lang in languages)])
    for row in table.rows:
        writer.writerow(
            [
                row.kind,
                row.code,
                row.name,
                row.iri,
                " ".join(row.parents),
                row.inverse,
                "1" if row.symmetric else "",
                "1" if row.transitive else "",
                row.domain,
                row.range,
                *(row.labels.get(language, "") for language in languages),
            ]
        )
    return out.getvalue()


def from_csv(text: str, name: str, where: str = "") -> OntologyTable:
    """Read what `to_csv` wrote; raises OntologyError naming the file, the line and what is missing there."""
    reader = csv.reader(io.StringIO(text))
    header = next(reader, [])
    if tuple(header[: len(FIXED_COLUMNS)]) != FIXED_COLUMNS:
        raise OntologyError(
            f"{where or name} is not an ontology table; it starts with {','.join(header[:10]) or 'missing'}.",
            f"They must be {','.join(FIXED_COLUMNS)}; write tables with `crmrag ontology extract`.",
        )
    languages = [column.partition("@")[2] for column in header[len(FIXED_COLUMNS) :]]
    return OntologyTable(name, tuple(_rows(reader, languages, len(header), where or name)))


def read_table(path: Path) -> OntologyTable:
    """The table in a CSV file, named after the file."""
    return from_csv(path.read_text(encoding="utf-8"), path.stem, str(path))


def _rows(reader: Iterable[list[str]], languages: list[str], width: int, where: str) -> Iterable[Row]:
    for number, cells in enumerate(reader, start=2):
        if len(cells) != width or cells[0] not in ("class", "property") or not cells[1]:
            raise OntologyError(
                f"{where}, row {number}: {','.join(cells)[:80]!r} is not a row of an ontology table.",
                f"A row has {width} cells, the first 'class' or 'property', the second a code.",
            )
        yield Row(
            "class" if cells[0] == "class" else "property",
            cells[1], cells[2], cells[3], tuple(cells[4].split()), cells[5],
            cells[6] == "1", cells[7] == "1", cells[8], cells[9],
            {lang: text for lang, text in zip(languages, cells[10:], strict=True) if text},
        )  # fmt: skip
