from __future__ import annotations

import pytest

from crmrag_query.ontology.load import Ontology, load_ontology
from tests.support.froracle import Alphabet


@pytest.fixture(scope="session")
def ontology() -> Ontology:
    return load_ontology()


@pytest.fixture(scope="session")
def alphabet(ontology: Ontology) -> Alphabet:
    return Alphabet(ontology)
