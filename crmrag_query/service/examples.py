"""Requests to begin with, shown in the OpenAPI document; the bundled sample data set answers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAMPLE = "sample"
CHURCHES: Mapping[str, Any] = {"target": {"types": ["church"]}}
EXAMPLES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("POST", "/ask"): {"question": "Which churches were built before 1200?", "dataset": SAMPLE},
    ("POST", "/retrieve"): {
        "question": "Who paid for the first paintings of Asinou?",
        "dataset": SAMPLE,
        "k": 5,
    },
    ("POST", "/plan"): {"question": "Which churches were built before 1200?", "dataset": SAMPLE},
    ("GET", "/search"): {"text": "Asinou", "dataset": SAMPLE},
    ("GET", "/dataset"): {"dataset": SAMPLE},
    ("GET", "/evaluations"): {"dataset": SAMPLE},
    ("POST", "/sparql"): {
        "query": "SELECT ?thing ?class WHERE { ?thing a ?class } LIMIT 5",
        "dataset": SAMPLE,
    },
    ("POST", "/conversations"): {"dataset": SAMPLE},
}
