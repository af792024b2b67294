"""The harvest report as Markdown, alone and at the head of the validation report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crmrag_assets.harvest.account import verdict
from crmrag_assets.release.markdown import escaped, table

HARVESTED = ("entities", "triples", "excluded_subjects", "excluded_triples", "repaired")
TRAFFIC = (
    ("requests", "requests"),
    ("retries", "of these, repeated after a failure"),
    ("rows", "rows received"),
    ("bytes", "bytes received"),
    ("seconds", "seconds of requests"),
    ("waited", "seconds between requests"),
)


def harvest_markdown(harvest: Mapping[str, Any]) -> str:
    """The report for reading; the JSON beside it has the same and more."""
    head = [f"# Harvest report: {escaped(harvest['title'] or harvest['dataset'])}"]
    return "\n".join([*head, *harvest_lines(harvest, "harvest_report.json")]) + "\n"


def harvest_lines(harvest: Mapping[str, Any], where: str, level: int = 2) -> Iterator[str]:
    """What was harvested, from where, and what went wrong; ``where``: the file that holds all of it."""
    yield from ("", verdict(harvest))
    if harvest["concerns"]:
        yield ""
        yield from (f"- {escaped(concern)}" for concern in harvest["concerns"])
    yield from table("Source", ("what", "value"), _source(harvest["source"]), where, level)
    yield from _counts(harvest, where, level)
    missing = harvest["missing"]
    yield from table("Missing", ("subject", "property", "triples", "reason"), missing, where, level)
    yield from _traffic(harvest, where, level)
    yield from _reading(harvest["reading"], where, level)


def _source(source: Mapping[str, Any]) -> list[dict[str, Any]]:
    shown = {key: value if isinstance(value, str) else ", ".join(value) for key, value in source.items()}
    return [{"what": key, "value": value} for key, value in shown.items()]


def _counts(harvest: Mapping[str, Any], where: str, level: int) -> Iterator[str]:
    rows = [{"what": name.replace("_", " "), "count": harvest[name]} for name in (*HARVESTED, "chunks")]
    yield from table("Harvested", ("what", "count"), rows, where, level)
    counted = harvest["counted"]
    if counted["before"] is None and counted["after"] is None:
        return
    compared = [
        {"what": what} | {when: (counted[when] or {}).get(what) for when in ("before", "after", "harvested")}
        for what in ("triples", "subjects")
    ]
    yield from table(
        "Counted by the source", ("what", "before", "after", "harvested"), compared, where, level
    )


def _traffic(harvest: Mapping[str, Any], where: str, level: int) -> Iterator[str]:
    traffic = harvest["traffic"]
    if traffic["requests"]:
        rows = [{"what": title, "count": traffic[name]} for name, title in TRAFFIC]
        yield from table("Traffic", ("what", "count"), rows, where, level)
    notes = [{"what": note, "times": n} for note, n in sorted(harvest["notes"].items())]
    yield from table("Notes", ("what", "times"), notes, where, level)


def _reading(reading: Mapping[str, Any], where: str, level: int) -> Iterator[str]:
    """How files were read; of other sources, only what is not nought. What was harvested of it stands above."""
    files = reading.get("files", [])
    plain = [
        {"what": key.replace("_", " "), "count": n}
        for key, n in reading.items()
        if type(n) is int and (files or n) and key not in HARVESTED
    ]
    yield from table("Reading", ("what", "count"), plain, where, level)
    yield from table("Files", ("file", "format", "triples"), files, where, level)
    skipped = [{"reason": reason, "triples": n} for reason, n in sorted(reading.get("skipped", {}).items())]
    yield from table("Left out", ("reason", "triples"), skipped, where, level)
    yield from table(
        "First broken lines", ("file", "line", "reason", "text"), reading.get("broken", []), where, level
    )
