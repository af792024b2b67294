"""The ontology as one frozen object: classes and properties by code, hierarchies, labels and inverses."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from crmrag_query.errors import OntologyError
from crmrag_query.ontology.rows import Kind, as_words


@dataclass(frozen=True, slots=True)
class Term:
    """A class or property; every code in it is known to the same ontology (or is a literal type, `xsd:…`)."""

    kind: Kind
    code: str
    name: str
    iri: str
    parents: tuple[str, ...]
    inverse: str
    symmetric: bool
    transitive: bool
    domain: str
    range: str
    labels: Mapping[str, str]
    table: str


Directed = tuple[str, bool]
"""A property's code, and whether its triples are followed from subject to object."""


@dataclass(frozen=True)
class Ontology:
    """Classes and properties by code.

    A code that several ontologies use for different things belongs to the first; the others are
    qualified by their table (`frbroo:R30`). Classes and properties are looked up apart, since CRMdig's
    property F1 is not LRMoo's class F1. All tuples are sorted and never contain the code asked about.
    """

    classes: Mapping[str, Term]
    properties: Mapping[str, Term]
    names: Mapping[Kind, Mapping[str, str]]
    iris: Mapping[Kind, Mapping[str, str]]
    _closures: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)
    _directed: dict[tuple[str, bool], tuple[Directed, ...]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def class_(self, code: str) -> Term:
        """The class with this code; raises OntologyError with the nearest codes."""
        return _found(self.classes, code, "class")

    def property_(self, code: str) -> Term:
        """The property with this code; raises OntologyError with the nearest codes."""
        return _found(self.properties, code, "property")

    def label(self, code: str, lang: str | Sequence[str] = "en", kind: Kind | None = None) -> str:
        """Label in the first language that has one, then English, then any; an unknown code itself.

        Without `kind` a class is preferred to a property of the same code.
        """
        term = self.classes.get(code) if kind != "property" else None
        if term is None and kind != "class":
            term = self.properties.get(code)
        if term is None:
            return code
        wanted = (lang,) if isinstance(lang, str) else tuple(lang)
        for language in (*wanted, "en", "", *sorted(term.labels)):
            if language in term.labels:
                return term.labels[language]
        return as_words(term.name)

    def superclasses(self, code: str) -> tuple[str, ...]:
        """Codes of all classes above this one."""
        return self._closure("above", code, self._superclasses)

    def subclasses(self, code: str) -> tuple[str, ...]:
        """Codes of all classes below this one."""
        return self._closure("classes below", code, self._subclasses)

    def subproperties(self, code: str) -> tuple[str, ...]:
        """Codes of all properties below this one; a sub-property stated only for the inverses counts too."""
        found = set(self._closure("properties below", code, self._subproperties))
        inverse = self.inverse(code)
        if inverse is not None and inverse != code:
            mirrored = self._closure("properties below", inverse, self._subproperties)
            found |= {below for below in map(self.inverse, mirrored) if below}
        return tuple(sorted(found - {code}))

    def inverse(self, code: str) -> str | None:
        """The property that reads the same triples from the other end: P108i for P108, P121 for P121.

        None for properties whose values are literals, which have no inverse, and for unknown codes.
        """
        term = self.properties.get(code)
        if term is None:
            return None
        return term.inverse or (code if term.symmetric else None)

    def directed(self, code: str, below: bool = True) -> tuple[Directed, ...]:
        """Every property and direction that may state this one in data, sorted: itself, its inverse, a symmetric one both
        ways, and the same of all properties below it, unless not ``below``. An unknown code stands for itself."""
        known = self._directed.get((code, below))
        if known is None:
            known = self._directed[code, below] = tuple(sorted(self._walk(code, below)))
        return known

    def _walk(self, code: str, below: bool) -> set[Directed]:
        found: set[Directed] = set()
        waiting: list[Directed] = [(code, True)]
        while waiting:
            at, forward = waiting.pop()
            if (at, forward) in found:
                continue
            found.add((at, forward))
            inverse = self.inverse(at)
            if inverse:
                waiting.append((inverse, not forward))
                if self.property_(at).symmetric:
                    waiting.append((at, not forward))
            if below:
                waiting.extend((one, forward) for one in self.subproperties(at))
        return found

    def is_a(self, code: str, ancestor: str) -> bool:
        """Whether a class is the other, or below it."""
        return code == ancestor or ancestor in self.superclasses(code)

    @cached_property
    def _superclasses(self) -> Mapping[str, tuple[str, ...]]:
        return {code: term.parents for code, term in self.classes.items()}

    @cached_property
    def _subclasses(self) -> Mapping[str, tuple[str, ...]]:
        return _children(self.classes)

    @cached_property
    def _subproperties(self) -> Mapping[str, tuple[str, ...]]:
        return _children(self.properties)

    def _closure(self, which: str, code: str, step: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        key = (which, code)
        if key not in self._closures:
            seen, waiting = {code}, [code]
            while waiting:
                fresh = set(step.get(waiting.pop(), ())) - seen
                seen |= fresh
                waiting += fresh
            self._closures[key] = tuple(sorted(seen - {code}))
        return self._closures[key]


def _found(terms: Mapping[str, Term], code: str, kind: Kind) -> Term:
    if code in terms:
        return terms[code]
    remedy = did_you_mean(code, terms, "Add its ontology with `crmrag ontology extract`.")
    raise OntologyError(f"No {kind} has the code {code!r}.", remedy)


def did_you_mean(name: str, known: Iterable[str], otherwise: str, most: int = 3) -> str:
    """A remedy that names the nearest known names; ``otherwise`` where none is near."""
    near = difflib.get_close_matches(name, known, n=most)
    return f"Did you mean {' or '.join(near)}?" if near else otherwise


def _children(terms: Mapping[str, Term]) -> dict[str, tuple[str, ...]]:
    below: dict[str, list[str]] = {}
    for term in terms.values():
        for parent in term.parents:
            below.setdefault(parent, []).append(term.code)
    return {code: tuple(sorted(codes)) for code, codes in below.items()}
