"""What is other in a release, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crmrag_query.compare.records import Count, Difference, Document, Documents, Files, Setting, Side

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
        yield from _first(sign, count, first)


def _first(sign: str, count: int, documents: Sequence[Document]) -> Iterator[str]:
    for one in documents:
        yield f"  {sign} {one.label}  <{one.iri}>"
        yield from (f"      {line}" for line in one.diff)
    if documents and count > len(documents):
        yield f"  {sign} and {count - len(documents):,} more (--limit)"


def _files(files: Sequence[Files]) -> Iterator[str]:
    same = [one.artifact for one in files if not (one.changed or one.came or one.went)]
    others = [one for one in files if one.artifact not in same]
    yield ""
    yield f"Files that are the same: {', '.join(same) or 'none'}"
    if others:
        yield f"Files that are not: {', '.join(map(_artifact, others))}"


def _artifact(one: Files) -> str:
    parts = ((one.changed, "other"), (one.came, "new"), (one.went, "gone"), (one.same, "the same"))
    return f"{one.artifact} ({', '.join(f'{count:,} {how}' for count, how in parts if count)})"
