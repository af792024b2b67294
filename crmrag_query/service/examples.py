"""Requests to begin with, shown in the OpenAPI document; the bundled sample data set answers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAMPLE = {"dataset": "sample"}
BASE = "https://example.org/troodos/"
CRM = "http://www.cidoc-crm.org/cidoc-crm/"
ASINOU = f"{BASE}church/asinou"
QUESTION = "Which churches were built before 1200?"
BEFORE_1200: Mapping[str, Any] = {
    "target": {"types": [f"{BASE}type/church"]},
    "where": [
        {"kind": "dated", "way": {"relations": ["created_on"]}, "end": 437925}
    ],  # days since the year 1
}
EXAMPLES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("POST", "/ask"): {"question": QUESTION} | SAMPLE,
    ("POST", "/retrieve"): {"question": "Who paid for the first paintings of Asinou?", "k": 5} | SAMPLE,
    ("POST", "/plan"): {"question": QUESTION} | SAMPLE,
    ("POST", "/plan/edit"): {
        "plan": BEFORE_1200,
        "change": {"path": "where.0", "years": {"begin": 1100, "end": 1199}},
    }
    | SAMPLE,
    ("POST", "/plan/choices"): {"plan": BEFORE_1200, "path": "target.types", "what": "kinds"} | SAMPLE,
    ("POST", "/set"): {"plan": BEFORE_1200, "limit": 10, "sort": "date"} | SAMPLE,
    ("POST", "/set/marks"): {"plan": BEFORE_1200} | SAMPLE,
    ("POST", "/facets"): {"plan": BEFORE_1200} | SAMPLE,
    ("POST", "/export"): {"plan": BEFORE_1200, "format": "csv", "question": QUESTION} | SAMPLE,
    ("GET", "/search"): {"text": "Asinou"} | SAMPLE,
    ("GET", "/entity"): {"iri": ASINOU} | SAMPLE,
    ("GET", "/neighbours"): {"iri": ASINOU} | SAMPLE,
    ("GET", "/lineage"): {"s": ASINOU, "p": f"{CRM}P2_has_type", "o": f"{BASE}type/church"} | SAMPLE,
    ("GET", "/dataset"): SAMPLE,
    ("GET", "/evaluations"): SAMPLE,
    ("POST", "/sparql"): {"query": "SELECT ?thing ?class WHERE { ?thing a ?class } LIMIT 5"} | SAMPLE,
    ("POST", "/conversations"): SAMPLE,
}
