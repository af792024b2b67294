"""The validation report as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

TOP = 25
GROUPS = (
    ("suspects", "Suspected merged identities"),
    ("unlabelled", "Unlabelled"),
    ("untyped", "Without a class"),
    ("without_category", "Without a Fundamental Category"),
    ("dangling", "Dangling references"),
    ("undated_events", "Undated events"),
    ("from_blank_nodes", "From blank nodes"),
)


def report_markdown(report: Mapping[str, Any]) -> str:
    """The report for reading; the JSON beside it has the same and more."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"# Validation report: {escaped(report['title'] or report['dataset'])}"
    yield ""
    yield from [f"- {concern}" for concern in report["concerns"]] or ["Nothing to worry about was found."]
    yield from _harvest(report["harvest"])
    yield from _entities(report["entities"])
    yield from _documents(report["documents"])
    yield from _table("Categories", ("category", "count"), report["categories"])
    yield from _table("Classes", ("code", "label", "count", "iri"), report["classes"])
    for kind, found in sorted(report["unmapped"].items()):
        rows = (
            found
            if isinstance(found, list)
            else [{"iri": iri, "count": n} for iri, n in sorted(found.items())]
        )
        yield from _table(f"Unmapped {kind}", tuple(rows[0]) if rows else (), rows)
    yield from _table("Paths that cannot match", ("relationship", "path", "reason"), report["dead_paths"])


def _harvest(harvest: Mapping[str, Any]) -> Iterator[str]:
    plain = [{"what": key.replace("_", " "), "count": n} for key, n in harvest.items() if type(n) is int]
    yield from _table("Harvest", ("what", "count"), plain)
    yield from _table("Files", ("file", "format", "triples"), harvest.get("files", []))
    skipped = [{"reason": reason, "triples": n} for reason, n in sorted(harvest.get("skipped", {}).items())]
    yield from _table("Left out", ("reason", "triples"), skipped)
    yield from _table("First broken lines", ("file", "line", "reason", "text"), harvest.get("broken", []))


def _entities(entities: Mapping[str, Any]) -> Iterator[str]:
    counts = [{"what": title, "count": entities[name]["count"]} for name, title in GROUPS]
    first = [{"what": name.capitalize(), "count": entities[name]} for name in ("nodes", "entities", "events")]
    yield from _table("Entities", ("what", "count"), [*first, *counts])
    for name, title in GROUPS:
        yield from _table(f"{title}: first examples", ("label", "iri"), entities[name]["examples"], level=3)


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
    yield from _table("Documents", ("what", "count"), rows)
    lengths = [{"characters": name, "documents": count} for name, count in documents["lengths"]]
    yield from _table("Lengths", ("characters", "documents"), lengths, level=3)


def _table(
    title: str, columns: Sequence[str], rows: Sequence[Mapping[str, Any]], level: int = 2
) -> Iterator[str]:
    """A titled table of the first rows; nothing when there are none."""
    if not rows:
        return
    yield from (
        "",
        f"{'#' * level} {title}",
        "",
        "| " + " | ".join(columns) + " |",
        "|" + " --- |" * len(columns),
    )
    for row in rows[:TOP]:
        yield "| " + " | ".join(_cell(row.get(column)) for column in columns) + " |"
    if len(rows) > TOP:
        yield f"\nand {len(rows) - TOP:,} more (see validation_report.json)"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if type(value) is int else escaped(str(value))


def escaped(text: str) -> str:
    """Data as plain words: neither Markdown nor HTML in it takes effect."""
    shown = "".join(char if char.isprintable() else " " for char in text)
    for sign in "\\`*_[]<>|#":
        shown = shown.replace(sign, f"\\{sign}" if sign not in "<>" else {"<": "&lt;", ">": "&gt;"}[sign])
    return shown
