"""The one step that turns the IRIs that data uses into codes, whatever namespace, version or profile."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from crmrag_query.ontology.load import Vocabulary, load_vocabulary
from crmrag_query.ontology.rows import Kind
from crmrag_query.ontology.spelling import local_name, namespace_of, take_apart

Rule = Literal["exact", "renamed", "erlangen", "linked-art", "version"]

_LINKED_ART = "linked_art"
_UNDEFINED = ("urn:",)
"""What JSON-LD processors put before a name that its context does not define (met in museums' data)."""


@dataclass(frozen=True, slots=True)
class Normalised:
    """The code that an IRI stands for, the present name of that code, and by which rule it was found.

    `stated` is the code in the IRI itself. `turned` says that the property's new name reads from range
    to domain of the old one: `P88_consists_of` is `P89i`, so subject and object stay where they are.
    """

    code: str
    name: str
    rule: Rule
    stated: str = ""
    turned: bool = False


class Normaliser:
    """Normalises with one vocabulary; results are cached for each distinct IRI."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        ontology = vocabulary.ontology
        self._terms = {"class": ontology.classes, "property": ontology.properties}
        self._by_name = {(r.kind, r.name): r for r in vocabulary.renames if r.replaced_by and r.name}
        self._by_code = {(r.kind, r.code): r for r in reversed(vocabulary.renames) if r.replaced_by}
        declared = {
            namespace_of(term.iri) for terms in self._terms.values() for term in terms.values() if term.iri
        }
        self._namespaces = frozenset(declared)
        self.class_ = lru_cache(maxsize=65536)(lambda iri: self._normalise("class", iri))
        self.property_ = lru_cache(maxsize=65536)(lambda iri: self._normalise("property", iri))

    def _normalise(self, kind: Kind, iri: str) -> Normalised | None:
        namespace, name = namespace_of(iri), local_name(iri)
        if iri.startswith(_UNDEFINED) and namespace == "":
            return self._linked_art(kind, iri.removeprefix("urn:"))
        family = self._vocabulary.index.family(namespace)
        if not family and namespace not in self._namespaces:
            return None
        if family == _LINKED_ART:
            return self._linked_art(kind, name)
        if family == "erlangen":
            found = self._crm(kind, iri, name, family)
            return found and (found if found.rule == "renamed" else self._as(kind, found, "erlangen"))
        return self._crm(kind, iri, name, family)

    def _crm(self, kind: Kind, iri: str, name: str, family: str) -> Normalised | None:
        ontology = self._vocabulary.ontology
        spelling = take_apart(name)
        stated = spelling.code if spelling else ""
        rename = self._by_name.get((kind, name))
        if rename is not None and self._terms[kind].get(rename.replaced_by):
            same = self._terms[kind][rename.replaced_by].name == name
            return self._found(
                kind, rename.replaced_by, "exact" if same else "renamed", stated, rename.turned
            )
        code = ontology.iris[kind].get(iri) or ontology.names[kind].get(name)
        if code is not None:
            return self._found(kind, code, self._rule(kind, code, name), stated, _turns(kind, stated, code))
        return self._by_spelling(kind, stated, family)

    def _rule(self, kind: Kind, code: str, name: str) -> Rule:
        term = self._terms[kind][code]
        if term.table == "renames":
            return "version"
        return "exact" if term.name == name else "renamed"

    def _by_spelling(self, kind: Kind, stated: str, family: str) -> Normalised | None:
        """By the code alone: names of versions that nothing else knows."""
        rename = self._by_code.get((kind, stated))
        if family == "frbroo" and f"frbroo:{stated}" in self._terms[kind]:
            return self._found(kind, f"frbroo:{stated}", "version", stated)
        if stated in self._terms[kind]:
            return self._found(kind, stated, "version", stated)
        if rename is not None and rename.replaced_by in self._terms[kind]:
            return self._found(kind, rename.replaced_by, "renamed", stated, rename.turned)
        return None

    def _linked_art(self, kind: Kind, name: str) -> Normalised | None:
        own = f"{_LINKED_ART}:{name}"
        if own in self._terms[kind]:
            return self._found(kind, own, "linked-art", own)
        target = self._vocabulary.linked_art.get((kind, name))
        found = self._crm(kind, "", target, "") if target else None
        return found and self._as(kind, found, "linked-art")

    def _found(self, kind: Kind, code: str, rule: Rule, stated: str, turned: bool = False) -> Normalised:
        return Normalised(code, self._terms[kind][code].name, rule, stated or code, turned)

    def _as(self, kind: Kind, found: Normalised, rule: Rule) -> Normalised:
        return self._found(kind, found.code, rule, found.stated, found.turned)


def _turns(kind: Kind, stated: str, code: str) -> bool:
    return kind == "property" and bool(stated) and stated.endswith("i") != code.endswith("i")


@lru_cache(maxsize=4)
def normaliser(folder: Path | None = None) -> Normaliser:
    """The normaliser of a configuration folder."""
    return Normaliser(load_vocabulary(folder))


def normalise_class(iri: str) -> Normalised | None:
    """The class that an IRI stands for; None for what is not of the CRM family."""
    return normaliser().class_(iri)


def normalise_property(iri: str) -> Normalised | None:
    """The property that an IRI stands for; None for what is not of the CRM family, such as rdfs:label."""
    return normaliser().property_(iri)
