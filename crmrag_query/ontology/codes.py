"""The one step that turns the IRIs that data uses into codes, whatever namespace, version or profile.

Linked Art's names (`produced_by` stands for P108i_was_produced_by) come from a table that is made of its JSON-LD context.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from crmrag_query.errors import OntologyError
from crmrag_query.ontology.load import Kind, Vocabulary, load_vocabulary, local_name, namespace_of, take_apart

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
        found = self._crm(kind, iri, name, family)
        if found and family == "erlangen" and found.rule != "renamed":
            return replace(found, rule="erlangen")
        return found

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
            term = self._terms[kind][code]
            rule: Rule = "exact" if term.name == name else "renamed"
            turned = kind == "property" and bool(stated) and stated.endswith("i") != code.endswith("i")
            return self._found(kind, code, "version" if term.table == "renames" else rule, stated, turned)
        # By the code alone: names of versions that nothing else knows.
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
        return replace(found, rule="linked-art") if found else None

    def _found(self, kind: Kind, code: str, rule: Rule, stated: str, turned: bool = False) -> Normalised:
        return Normalised(code, self._terms[kind][code].name, rule, stated or code, turned)


@lru_cache(maxsize=1)
def normaliser() -> Normaliser:
    """The normaliser of the configuration in use."""
    return Normaliser(load_vocabulary())


def normalise_class(iri: str) -> Normalised | None:
    """The class that an IRI stands for; None for what is not of the CRM family."""
    return normaliser().class_(iri)


def normalise_property(iri: str) -> Normalised | None:
    """The property that an IRI stands for; None for what is not of the CRM family, such as rdfs:label."""
    return normaliser().property_(iri)


_CRM_PREFIXES = ("crm:", "sci:", "dig:", "archaeo:")
_CLASS_LETTERS = frozenset("EDSFAI")
_OLD_NAMES = {
    "ManMadeFeature": "E25_Human-Made_Feature",
    "ManMadeObject": "E22_Human-Made_Object",
    "ManMadeThing": "E71_Human-Made_Thing",
    "PhysicalManMadeThing": "E24_Physical_Human-Made_Thing",
}
"""Names of the profile before 1.0, which follow CRM 6."""


def names_from_context(text: str) -> str:
    """CSV (kind, name, target) of the context's names that mean one class or property wherever they stand.

    A name whose meaning depends on the class around it (`part`) is left to a JSON-LD processor. Raises
    OntologyError for text that is no JSON-LD context.
    """
    try:
        context = json.loads(text)["@context"]
    except (ValueError, KeyError, TypeError) as error:
        raise OntologyError("This JSON is no JSON-LD context.", "It must have the key '@context'.") from error
    meanings: dict[str, set[str]] = {}
    for name, target in _names(context):
        meanings.setdefault(name, set()).add(target)
    rows = {(_kind(target), name, target) for name, target in _OLD_NAMES.items()}
    for name, targets in meanings.items():
        if len(targets) == 1 and (target := next(iter(targets))).startswith(_CRM_PREFIXES):
            local = target.partition(":")[2]
            rows.add((_kind(local), name, local))
    return "kind,name,target\n" + "".join(",".join(row) + "\n" for row in sorted(rows))


def _kind(target: str) -> str:
    spelling = take_apart(target)
    letters = spelling.code.rstrip("0123456789i") if spelling else ""
    return "class" if letters in _CLASS_LETTERS or letters.startswith("E") else "property"


def _names(context: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(context, dict):
        return
    for name, meaning in context.items():
        if not name.startswith("@") and isinstance(meaning, dict):
            if isinstance(meaning.get("@id"), str):
                yield name, meaning["@id"]
            yield from _names(meaning.get("@context"))
