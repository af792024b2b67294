"""What the ontology says of a data set's classes and properties, as plain tables by class and property number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from crmrag_query.graph.arrays import Bytes, Ints
from crmrag_query.ontology import Normalised, Ontology, normalise_class, normalise_property
from crmrag_query.ontology.rows import Kind
from crmrag_query.ontology.spelling import as_words, local_name

ENGLISH = "en"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True)
class Words:
    """What one class or property is called: ``code`` "" outside the CRM family, ``labels`` by language."""

    iri: str
    code: str
    label: str
    inverse_label: str
    labels: Mapping[str, str]
    inverse_labels: Mapping[str, str]
    normalised: Normalised | None


@dataclass(frozen=True)
class Vocabulary:
    """Classes and properties by number, and whether each class is one of events, uint8 [classes]."""

    ontology: Ontology
    classes: tuple[Words, ...]
    properties: tuple[Words, ...]
    event: Bytes

    @property
    def class_codes(self) -> tuple[str, ...]:
        return tuple(words.code for words in self.classes)

    @property
    def property_codes(self) -> tuple[str, ...]:
        return tuple(words.code for words in self.properties)

    def class_numbers(self, *codes: str) -> Ints:
        """Numbers of the classes that are one of these or below one, ascending."""
        found = [
            n
            for n, c in enumerate(self.class_codes)
            if c and any(self.ontology.is_a(c, code) for code in codes)
        ]
        return np.array(found, np.int32)

    def properties_with(self, codes: Iterable[str], iris: Iterable[str] = ()) -> list[int]:
        """Numbers of the properties that have one of these codes or IRIs, ascending."""
        wanted, named = set(codes), set(iris)
        return [n for n, words in enumerate(self.properties) if words.code in wanted or words.iri in named]


def build_vocabulary(
    classes: Sequence[str],
    properties: Sequence[str],
    ontology: Ontology,
    event_codes: Collection[str],
    languages: Sequence[str],
) -> Vocabulary:
    """Normalise every distinct class and property; labels in the first of ``languages`` that has one."""
    class_words = tuple(_words("class", iri, normalise_class(iri), ontology, languages) for iri in classes)
    property_words = tuple(
        _words("property", iri, normalise_property(iri), ontology, languages) for iri in properties
    )
    event = np.array([_is_event(words.code, event_codes, ontology) for words in class_words], np.uint8)
    return Vocabulary(ontology, class_words, property_words, event)


def _is_event(code: str, events: Collection[str], ontology: Ontology) -> bool:
    return bool(code) and (code in events or any(above in events for above in ontology.superclasses(code)))


def _words(
    kind: Kind, iri: str, normalised: Normalised | None, ontology: Ontology, languages: Sequence[str]
) -> Words:
    if normalised is None:
        label = plain_words(iri)
        return Words(iri, "", label, _inverse_words(label), {}, {}, None)
    code = normalised.code
    inverse = ontology.inverse(code) if kind == "property" else None
    label = ontology.label(code, languages, kind)
    terms = ontology.classes if kind == "class" else ontology.properties
    inverse_term = ontology.properties.get(inverse) if inverse else None
    return Words(
        iri,
        code,
        label,
        ontology.label(inverse, languages, kind) if inverse else _inverse_words(label),
        terms[code].labels,
        inverse_term.labels if inverse_term else {},
        normalised,
    )


def _inverse_words(label: str) -> str:
    """How a property without a named inverse reads from its object: "has note" gives "is note of"."""
    if label.endswith((" as", " match", "related")):
        return label
    return f"is {label.removeprefix('has ')} of"


def plain_words(iri: str) -> str:
    """A readable name for a term that no ontology table knows: ``…/prefLabel`` gives "pref label"."""
    name = local_name(iri.rstrip("/#")) or iri
    return _CAMEL.sub(" ", as_words(name)).lower() if name.isidentifier() else as_words(name) or name
