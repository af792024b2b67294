"""Read `config/ontology/`: tables that ship and that a project adds, names that changed between versions (`renames.csv`), and
`index.yaml`, by which they are joined into one Ontology: codes made unique, references resolved, old names known.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from pydantic import Field, field_validator

from crmrag_query.config.reading import Record, ontology_folders, read_part
from crmrag_query.errors import OntologyError
from crmrag_query.ontology.extract import stem
from crmrag_query.ontology.rows import (
    Kind,
    OntologyTable,
    Row,
    as_words,
    flipped,
    namespace_of,
    read_table,
    take_apart,
)
from crmrag_query.ontology.tables import Ontology, Term


class Index(Record):
    """Order of the tables, namespaces of the CRM family, symmetric properties and corrected labels."""

    tables: tuple[str, ...] = ()
    namespaces: dict[str, str] = Field(default_factory=dict)
    symmetric: tuple[str, ...] = ()
    labels: dict[str, dict[str, str]] = Field(default_factory=dict)

    @field_validator("namespaces")
    @classmethod
    def _compiles(cls, namespaces: dict[str, str]) -> dict[str, str]:
        for family, pattern in namespaces.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"the pattern of {family} is no regular expression: {error}") from None
        return namespaces

    @cached_property
    def _patterns(self) -> tuple[tuple[str, re.Pattern[str]], ...]:
        return tuple((family, re.compile(pattern)) for family, pattern in self.namespaces.items())

    def family(self, namespace: str) -> str:
        """The family that a namespace belongs to, "" for none."""
        return next((family for family, pattern in self._patterns if pattern.fullmatch(namespace)), "")


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
    listed = [
        rename
        for number, row in enumerate(reader, start=2)
        if (rename := _rename(row, f"{path}, row {number}")) is not None
    ]
    names = {(rename.kind, rename.code) for rename in listed}
    derived = []
    for rename in listed:
        code = flipped(rename.code)
        if rename.kind == "property" and not rename.code.endswith("i") and ("property", code) not in names:
            replaced = flipped(rename.replaced_by) if rename.replaced_by else ""
            derived.append(Rename("property", "", code, replaced, tuple(map(flipped, rename.below))))
    return (*listed, *derived)


def _rename(row: dict[str, str], where: str) -> Rename | None:
    """The rename of a row; None for rows about notations and namespaces, which need no table."""
    kind: Kind
    if stated := re.match(r"(class|property) (?:renamed|removed)", row["kind"]):
        kind = "class" if stated[1] == "class" else "property"
    elif "->" in row["kind"]:
        kind = "class" if row["old"].startswith(("E", "F")) else "property"
    else:
        return None
    spelling = take_apart(row["old"])
    if spelling is None:
        raise OntologyError(f"{where}: {row['old']!r} carries no code.", "An old name starts with its code.")
    targets = tuple(target.code for part in row["new"].split(" + ") if (target := take_apart(part.strip())))
    if row["confidence"] in _FIRM and len(targets) == 1:
        return Rename(kind, row["old"], spelling.code, targets[0], ())
    return Rename(kind, row["old"], spelling.code, "", targets)


Key = tuple[Kind, str]
_CORE = {"cidoc", "erlangen"}


@dataclass(slots=True)
class _Joined:
    """What has been joined so far, earlier tables winning, and what decides about clashes."""

    index: Index
    replaced: dict[Key, Rename]
    named: dict[Key, Rename]
    terms: dict[Key, Term] = field(default_factory=dict)
    extra_parents: dict[Key, list[str]] = field(default_factory=dict)
    names: dict[Kind, dict[str, str]] = field(default_factory=lambda: {"class": {}, "property": {}})
    iris: dict[Kind, dict[str, str]] = field(default_factory=lambda: {"class": {}, "property": {}})


def join(tables: Sequence[OntologyTable], renames: Sequence[Rename], index: Index) -> Ontology:
    """One Ontology of all tables; references to codes that nothing declares are left out."""
    joined = _Joined(
        index,
        replaced={(rename.kind, rename.code): rename for rename in reversed(renames) if rename.replaced_by},
        named={(rename.kind, rename.name): rename for rename in renames if rename.name},
    )
    for table in tables:
        _add_table(joined, table)
    _add_old_names(joined, renames)
    terms = {key: _finish(term, joined) for key, term in joined.terms.items()}
    classes = {code: term for (kind, code), term in terms.items() if kind == "class"}
    properties = {code: term for (kind, code), term in terms.items() if kind == "property"}
    return Ontology(classes, properties, joined.names, joined.iris)


def _add_table(joined: _Joined, table: OntologyTable) -> None:
    codes: dict[Key, str] = {}
    for row in table.rows:
        if row.name:
            codes[row.kind, row.code] = _place(joined, row, table.name, codes)
    for row in table.rows:
        key = (row.kind, codes.get((row.kind, row.code), row.code))
        parents = [codes.get((row.kind, parent), parent) for parent in row.parents]
        if not row.name:
            joined.extra_parents.setdefault(key, []).extend(parents)
        elif key in joined.terms and joined.terms[key].iri == row.iri:
            # the row's references, in joined codes where its own table declares them
            joined.terms[key] = replace(
                joined.terms[key],
                parents=tuple(parents),
                inverse=codes.get(("property", row.inverse), row.inverse),
                domain=codes.get(("class", row.domain), row.domain),
                range=codes.get(("class", row.range), row.range),
            )


def _place(joined: _Joined, row: Row, table: str, codes: dict[Key, str]) -> str:
    """Give the row's term its code in the joined ontology, and note its name and IRI."""
    code = row.code
    present = joined.terms.get((row.kind, code))
    if present is not None:
        code = _shared_code(joined, row, present, codes) or f"{stem(table)}:{row.code}"
    if (row.kind, code) not in joined.terms:
        joined.terms[row.kind, code] = Term(
            row.kind,
            code,
            row.name,
            row.iri,
            parents=(),
            inverse="",
            symmetric=row.symmetric,
            transitive=row.transitive,
            domain="",
            range="",
            labels={**row.labels, **joined.index.labels.get(row.code, {})},
            table=table,
        )
    joined.names[row.kind].setdefault(row.name, code)
    joined.iris[row.kind].setdefault(row.iri, code)
    return code


def _shared_code(joined: _Joined, row: Row, present: Term, codes: dict[Key, str]) -> str:
    """The code of a term that the row means too; "" where the row uses a taken code for something else."""
    rename = joined.named.get((row.kind, row.name))
    if rename is not None and rename.replaced_by:
        return rename.replaced_by
    if row.kind == "property" and row.code.endswith("i") and ("property", row.code[:-1]) in codes:
        forward = codes["property", row.code[:-1]]
        return "" if ":" in forward else flipped(forward)
    families = {joined.index.family(namespace_of(iri)) for iri in (row.iri, present.iri)}
    return row.code if row.name == present.name or families <= _CORE else ""


def _add_old_names(joined: _Joined, renames: Sequence[Rename]) -> None:
    """Terms for old names that no present one replaces, below what they imply; sources: `renames.csv`."""
    for rename in renames:
        key = (rename.kind, rename.code)
        if (rename.kind, rename.replaced_by) in joined.terms:
            if rename.name:
                joined.names[rename.kind].setdefault(rename.name, rename.replaced_by)
            continue
        if rename.replaced_by and not rename.name:  # the inverse of a property whose values are literals
            continue
        joined.extra_parents.setdefault(key, []).extend(rename.below)
        if key not in joined.terms:
            name = rename.name or rename.code
            base = joined.terms.get((rename.kind, rename.below[0])) if rename.below else None
            ends = (base.domain, base.range) if base else ("", "")
            labels = {"en": as_words(rename.name)} if rename.name else dict(base.labels) if base else {}
            joined.terms[key] = Term(
                rename.kind, rename.code, name, "", (), "", False, False, *ends, labels, "renames"
            )
        if rename.name:
            joined.names[rename.kind].setdefault(rename.name, rename.code)


def _finish(term: Term, joined: _Joined) -> Term:
    """The term with references to known codes only, old codes replaced by what stands for them."""

    def known(kind: Kind, code: str) -> str:
        if (kind, code) not in joined.terms and (kind, code) in joined.replaced:
            code = joined.replaced[kind, code].replaced_by
        return code if (kind, code) in joined.terms else ""

    stated = (*term.parents, *joined.extra_parents.get((term.kind, term.code), ()))
    parents = sorted({known(term.kind, code) for code in stated} - {"", term.code})
    if term.kind == "class":
        return replace(term, parents=tuple(parents))
    inverse = known("property", term.inverse) or known(
        "property", "" if ":" in term.code else flipped(term.code)
    )
    literal = term.range.startswith(("rdfs:", "xsd:"))
    return replace(
        term,
        parents=tuple(parents),
        inverse=inverse,
        symmetric=term.symmetric or inverse == term.code or term.code in joined.index.symmetric,
        domain=known("class", term.domain),
        range=term.range if literal else known("class", term.range),
    )


INDEX = "index.yaml"
RENAMES = "renames.csv"
TERMS = "linked_art_names.csv"
NOT_TABLES = ("renames", "linked_art_names")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The joined ontology with what is needed to normalise names to its codes.

    ``linked_art``: Linked Art's JSON-LD names, (kind, name) to the name of the class or property they stand for.
    """

    ontology: Ontology
    renames: tuple[Rename, ...]
    index: Index
    linked_art: dict[tuple[str, str], str]


def load_ontology(folder: Path | None = None) -> Ontology:
    """The ontology of a configuration folder; raises OntologyError or ConfigError."""
    return load_vocabulary(folder).ontology


def load_vocabulary(folder: Path | None = None) -> Vocabulary:
    """Ontology, renames and Linked Art's names of a configuration folder, read once for each folder.

    A table that a user adds to `config/ontology/` needs no further step: those that `index.yaml` does
    not list follow those it lists, in alphabetical order.
    """
    return _load(ontology_folders(folder))


@dataclass(frozen=True, slots=True)
class _Tables:
    """The files of some folders, told apart by what they hold: most releases have the tables that ship."""

    folders: tuple[Path, ...] = field(compare=False)
    content: bytes


@lru_cache(maxsize=4)
def _load(folders: tuple[Path, ...]) -> Vocabulary:
    held = hashlib.sha256()
    for path in (path for place in folders for path in (*sorted(place.glob("*.csv")), place / INDEX)):
        if not path.is_file():
            continue
        held.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return _joined(_Tables(folders, held.digest()))


@lru_cache(maxsize=4)
def _joined(tables: _Tables) -> Vocabulary:
    folders = tables.folders
    index_file = _first(folders, INDEX)
    index = read_part(Index, index_file)
    files = {path.stem: path for place in reversed(folders) for path in sorted(place.glob("*.csv"))}
    missing = [name for name in index.tables if name not in files]
    if missing:
        raise OntologyError(
            f"{index_file} lists tables that do not exist: {', '.join(missing)}.",
            "Write them with `crmrag ontology extract`, or take them off the list.",
        )
    names = [*index.tables, *sorted(set(files) - set(index.tables) - set(NOT_TABLES))]
    renames = read_renames(_first(folders, RENAMES))
    ontology = join([read_table(files[name]) for name in names], renames, index)
    lines = _first(folders, TERMS).read_text(encoding="utf-8").splitlines()[1:]
    linked_art = {(kind, name): target for kind, name, target in (line.split(",") for line in lines if line)}
    return Vocabulary(ontology, renames, index, linked_art)


def _first(folders: tuple[Path, ...], name: str) -> Path:
    found = next((place / name for place in folders if (place / name).is_file()), None)
    if found is None:
        raise OntologyError(
            f"No configuration folder holds ontology/{name}.", "Restore it from the distribution."
        )
    return found
