"""`crmrag diff`: what is other in a release than in another."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from crmrag_query.cli.options import data_option
from crmrag_query.compare import Count, Difference, Documents, Files, Setting, Side
from crmrag_query.text import printable

WIDEST = 60  # characters of a setting's value
LISTED = 25  # classes and settings that are shown


def diff_lines(found: Difference) -> Iterator[str]:
    """All lines; a part in which nothing changed says so in one."""
    yield f"From {_side(found.before)}"
    yield f"to   {_side(found.after)}"
    if found.before.release == found.after.release:
        yield "They are the same release."
        return
    yield from _counts("Counts", found.counts)
    yield from _counts("Entities by category", found.categories)
    yield from _counts("Entities by class", found.classes)
    yield from _settings("Configuration", found.settings)
    yield from _settings("Encoder", found.encoder)
    yield from _documents(found.documents)
    yield from _files(found.files)


def _side(side: Side) -> str:
    built = f", built {side.built}" if side.built else ""
    return f"{side.dataset} {side.release}{built}"


def _title(title: str, changed: int, as_before: str) -> Iterator[str]:
    yield ""
    yield title if changed else f"{title}: {as_before}"


def _counts(title: str, counts: Sequence[Count]) -> Iterator[str]:
    yield from _title(title, len(counts), "as before")
    shown = counts[:LISTED]
    width = max((len(count.name) for count in shown), default=0)
    for count in shown:
        change = count.after - count.before
        yield f"  {count.name:<{width}}  {count.before:>12,} → {count.after:>12,}  {change:>+11,}"
    yield from _more(len(counts))


def _settings(title: str, settings: Sequence[Setting]) -> Iterator[str]:
    yield from _title(title, len(settings), "as before")
    for one in settings[:LISTED]:
        yield f"  {one.name}: {_value(one.before)} → {_value(one.after)}"
    yield from _more(len(settings))


def _value(text: str) -> str:
    text = text or "(nothing)"
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _more(count: int) -> Iterator[str]:
    if count > LISTED:
        yield f"  and {count - LISTED:,} more (--json has all)"


def _documents(found: Documents) -> Iterator[str]:
    parts = ((found.came, "came"), (found.went, "went"), (found.rewritten, "read otherwise"))
    changed = [f"{count:,} {how}" for count, how in parts if count]
    yield ""
    yield f"Documents: {', '.join([*changed, f'{found.same:,} as before'])}"
    for sign, count, first in (
        ("+", found.came, found.first_came),
        ("-", found.went, found.first_went),
        ("~", found.rewritten, found.first_rewritten),
    ):
        for one in first:
            yield f"  {sign} {one.label}  <{one.iri}>"
            yield from (f"      {line}" for line in one.diff)
        if first and count > len(first):
            yield f"  {sign} and {count - len(first):,} more (--limit)"


def _files(files: Sequence[Files]) -> Iterator[str]:
    same, others = [], []
    for one in files:
        if one.changed or one.came or one.went:
            parts = ((one.changed, "other"), (one.came, "new"), (one.went, "gone"), (one.same, "the same"))
            counted = ", ".join(f"{count:,} {how}" for count, how in parts if count)
            others.append(f"{one.artifact} ({counted})")
        else:
            same.append(one.artifact)
    yield ""
    yield f"Files that are the same: {', '.join(same) or 'none'}"
    if others:
        yield f"Files that are not: {', '.join(others)}"


@click.command()
@click.argument("before", metavar="A")
@click.argument("after", metavar="[B]", required=False)
@data_option
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    help="Documents of each kind by name.",
)
@click.option("--texts", is_flag=True, help="With what changed in the text of those that read otherwise.")
@click.option("--json", "as_json", is_flag=True, help="All of it as JSON.")
def diff(before: str, after: str | None, data: Path, limit: int, texts: bool, as_json: bool) -> None:
    """What is other in release B than in release A: counts, configuration, documents, files.

    Each is a release's id, a data set's name (its current release), NAME@previous, NAME@ID, or the folder of a release.
    `crmrag diff NAME` alone compares the previous release with the current one.
    """
    from crmrag_query.artifacts.mirror import bring
    from crmrag_query.artifacts.places import find_named
    from crmrag_query.artifacts.release import open_release
    from crmrag_query.compare import compare

    names = (before, after) if after else (f"{before}@previous", before)
    for name in names:
        bring(name, data)
    old, new = (open_release(find_named(name, data)) for name in names)
    found = compare(old, new, limit, texts)
    if as_json:
        click.echo(json.dumps(found.as_dict(), ensure_ascii=False, indent=1))
    else:
        click.echo(printable("\n".join(diff_lines(found))))
