"""The CRM family: codes, labels, hierarchies, old names and Fundamental Categories."""

from __future__ import annotations

from crmrag_query.ontology.categories import Category
from crmrag_query.ontology.codes import Normalised, normalise_class, normalise_property
from crmrag_query.ontology.load import load_ontology
from crmrag_query.ontology.tables import Ontology, Term

__all__ = [
    "Category",
    "Normalised",
    "Ontology",
    "Term",
    "load_ontology",
    "normalise_class",
    "normalise_property",
]
