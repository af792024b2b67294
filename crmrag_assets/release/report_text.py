"""The validation report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from crmrag_assets.release.harvest_text import harvest_lines
from crmrag_assets.release.markdown import escaped, table
from crmrag_query.artifacts.manifest import PROVENANCE

JSON = "validation_report.json"
GROUPS = (
    ("suspects", "Suspected merged identities"),
    ("unlabelled", "Unlabelled"),
    ("untyped", "Without a class"),
    ("without_category", "Without a Fundamental Category"),
    ("dangling", "Dangling references"),
    ("undated_events", "Undated events"),
    ("from_blank_nodes", "From blank nodes"),
)


_table = partial(table, where=JSON)


def report_markdown(report: Mapping[str, Any], harvest: Mapping[str, Any]) -> str:
    """Both reports for reading, the harvest first; the JSON of each has the same and more."""
    return "\n".join(_lines(report, harvest)) + "\n"


def _lines(report: Mapping[str, Any], harvest: Mapping[str, Any]) -> Iterator[str]:
    yield f"# Validation report: {escaped(report['title'] or report['dataset'])}"
    yield from ("", "## The harvest")
    yield from harvest_lines(harvest, PROVENANCE, level=3)
    yield from ("", "## The data", "")
    yield from [f"- {concern}" for concern in report["concerns"]] or ["Nothing to worry about was found."]
    yield from _entities(report["entities"])
    yield from _documents(report["documents"])
    yield from _table("Categories", ("category", "count"), report["categories"], level=3)
    yield from _table("Classes", ("code", "label", "count", "iri"), report["classes"], level=3)
    for kind, found in sorted(report["unmapped"].items()):
        rows = (
            found
            if isinstance(found, list)
            else [{"iri": iri, "count": n} for iri, n in sorted(found.items())]
        )
        yield from _table(f"Unmapped {kind}", tuple(rows[0]) if rows else (), rows, level=3)
    yield from _table(
        "Paths that cannot match", ("relationship", "path", "reason"), report["dead_paths"], level=3
    )


def _entities(entities: Mapping[str, Any]) -> Iterator[str]:
    counts = [{"what": title, "count": entities[name]["count"]} for name, title in GROUPS]
    first = [{"what": name.capitalize(), "count": entities[name]} for name in ("nodes", "entities", "events")]
    yield from _table("Entities", ("what", "count"), [*first, *counts], level=3)
    for name, title in GROUPS:
        yield from _table(f"{title}: first examples", ("label", "iri"), entities[name]["examples"], level=4)


def _documents(documents: Mapping[str, Any]) -> Iterator[str]:
    rows = [
        {"what": "documents", "count": documents["count"]},
        {"what": "characters", "count": documents["characters"]},
        {
            "what": f"thinner than {documents['thin']['below']} characters",
            "count": documents["thin"]["count"],
        },
        {
            "what": f"longer than {documents['oversized']['above']} characters",
            "count": documents["oversized"]["count"],
        },
    ]
    yield from _table("Documents", ("what", "count"), rows, level=3)
    lengths = [{"characters": name, "documents": count} for name, count in documents["lengths"]]
    yield from _table("Lengths", ("characters", "documents"), lengths, level=4)
