"""The CRM family: codes, labels, hierarchies, old names and Fundamental Categories."""

from __future__ import annotations

from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.codes import Normalised, normalise_class, normalise_property
from crmrag_query.ontology.load import Ontology, Term, load_ontology

__all__ = [
    "Category",
    "Normalised",
    "Ontology",
    "Term",
    "load_ontology",
    "normalise_class",
    "normalise_property",
]
