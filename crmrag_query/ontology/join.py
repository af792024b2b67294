"""Join ontology tables into one Ontology: codes made unique, references resolved, old names known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from crmrag_query.ontology.extract import stem
from crmrag_query.ontology.index import Index
from crmrag_query.ontology.renames import Rename
from crmrag_query.ontology.rows import Kind, OntologyTable, Row
from crmrag_query.ontology.spelling import as_words, flipped, namespace_of
from crmrag_query.ontology.tables import Ontology, Term

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
            joined.terms[key] = _local(joined.terms[key], row, parents, codes)


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


def _local(term: Term, row: Row, parents: list[str], codes: dict[Key, str]) -> Term:
    """The term with its row's references, in joined codes where its own table declares them."""
    return replace(
        term,
        parents=tuple(parents),
        inverse=codes.get(("property", row.inverse), row.inverse),
        domain=codes.get(("class", row.domain), row.domain),
        range=codes.get(("class", row.range), row.range),
    )


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
