"""Linked Art's JSON-LD context as a table of names: `produced_by` stands for P108i_was_produced_by."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from crmrag_query.errors import OntologyError
from crmrag_query.ontology.spelling import take_apart

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
