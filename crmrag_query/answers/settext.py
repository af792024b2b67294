"""Whole sets and facets as text for a terminal; names of the data as they are: see `printable`."""

from __future__ import annotations

from collections.abc import Iterator

from crmrag_query.sets.records import AnswerSet, Facets
from crmrag_query.text import amount, printable


def plan_text(made: AnswerSet) -> str:
    """The plan in words, to be shown while its answer is written; "" for one that is not all that was asked."""
    return printable(f"Plan: {made.title}\n") if made.exhaustive else ""


WIDEST = 48  # characters of a column beyond which rows are not aligned any more


def set_text(made: AnswerSet, why: bool = False) -> str:
    """A page of a set: the plan in words, the size, members or rows, what is left out; ``why``: each member's triples."""
    members = made.kind in ("list", "count", "ask", "rank")
    parts = [_head(made), list(_members(made, why)) if members else _rows(made), list(_after(made))]
    return "\n\n".join("\n".join(part) for part in parts if part)


def set_lines(made: AnswerSet, said: str) -> Iterator[str]:
    """An answer's set in a line or two: the plan in words where the text ``said`` has not told it, size, what is left out."""
    if not made.exhaustive:
        yield f"Nearest plan, not all that was asked: {made.title} ({size_of(made)})"
        if made.unknown:
            yield f"  not understood: {', '.join(f'“{word}”' for word in made.unknown)}"
        if made.mentioned:
            yield f"  found in texts or names only: {', '.join(f'“{word}”' for word in made.mentioned)}"
        return
    if made.title.casefold() not in said.casefold():
        yield f"Plan: {made.title}"
    left = ", ".join(f"{one.count} {one.reason}" for one in made.excluded)
    yield f"Exact set: {size_of(made)}{f'; left out: {left}' if left else ''}"


def size_of(made: AnswerSet) -> str:
    """How large a set is, in words."""
    members = amount(made.size, "member")
    match made.kind:
        case "ask":
            return f"yes, {members}" if made.value else "no, none is known"
        case "count":
            return f"count {made.size}"
        case "group":
            return f"{amount(made.total, 'group')} of {members}"
        case "table" | "pairs":
            return f"{amount(made.total, 'row')} of {members}"
        case "rank":
            return f"{made.size} of {amount(made.identity.entities, 'member')}"
        case "compare":
            return f"{amount(made.total, 'set')}, in common {made.common or 0}"
        case _:
            return members


def facets_text(found: Facets) -> str:
    """Facets, each value with how many members have it."""
    if not found.complete:
        return f"{amount(found.size, 'member')}: too many for facets."
    blocks = [[f"{amount(found.size, 'member')}"]]
    for facet in found.facets:
        shown = f", the first {len(facet.values)}" if len(facet.values) < facet.total else ""
        head = f"{facet.label} [{facet.key}]: {amount(facet.total, 'value')}{shown}"
        width = max(len(str(one.count)) for one in facet.values)
        lines = [
            f"  {one.count:>{width}}  {one.label}{f'  <{one.iri}>' if one.iri else ''}"
            for one in facet.values
        ]
        blocks.append([head, *lines])
    return "\n\n".join("\n".join(block) for block in blocks)


def _head(made: AnswerSet) -> list[str]:
    lines = [made.title, size_of(made)]
    identity = made.identity
    if identity.distinct is not None and identity.distinct != identity.entities:
        rule = "by IRI" if identity.rule == "iri" else "by stated identity"
        lines.append(
            f"counted {rule}: {identity.entities} by IRI, {identity.distinct} distinct by stated identity"
        )
    return lines


def _members(made: AnswerSet, why: bool) -> Iterator[str]:
    conditions = {chip.path: chip.label for chip in made.chips}
    for at, member in enumerate(made.members, made.offset + 1):
        texts = [member.label, *(text for text in (member.shown, member.date) if text)]
        yield f"{at:>4}  {'  ·  '.join(texts)}  <{member.iri}>"
        for reason in member.path if why else ():
            condition = ".".join(reason.constraint.split(".")[:2])
            yield f"        {reason.constraint}  {conditions.get(condition, '')}"
            yield from (f"          {triple}" for triple in reason.triples)
            if reason.text:
                yield f"          “{reason.text}”"


def _rows(made: AnswerSet) -> list[str]:
    if not isinstance(made.value, tuple) or not made.value:
        return []
    rows = [[" ".join(cell.label.split()) for cell in row] for row in made.value]
    widths = [min(max(map(len, column)), WIDEST) for column in zip(made.columns, *rows, strict=True)]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(texts, widths, strict=True)).rstrip()
        for texts in (made.columns, *rows)
    ]
    return [lines[0], "  ".join("─" * width for width in widths), *lines[1:]]


def _after(made: AnswerSet) -> Iterator[str]:
    for one in made.excluded:
        yield f"{one.reason}: {one.text} (--excluded {one.reason} lists them)"
    if made.stated_in:
        said = "; ".join(f"{one.label or 'default graph'} ({one.count})" for one in made.stated_in)
        yield f"Stated in: {said}"
    if made.next is not None:
        yield f"Shown: {made.offset + 1} to {made.next} of {made.total}. The next page: --offset {made.next}"
