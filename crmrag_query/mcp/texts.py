"""Results as text for a language model: short, numbered, with the IRIs to go on with. Names and texts of the data stand on
one line or in a block that says what it is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from crmrag_query.mcp import bounds
from crmrag_query.mcp.records import (
    AnswerView,
    DatasetsView,
    EntityView,
    FacetsView,
    NeighboursView,
    SearchView,
    SetView,
    SparqlView,
)


def _joined(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def datasets_text(view: DatasetsView) -> str:
    if not view.datasets and not view.unavailable:
        return "There is no data set."
    lines = [one for dataset in view.datasets for one in _dataset(dataset)]
    return _joined([*lines, *(f"{one.name} cannot be asked: {one.reason}" for one in view.unavailable)])


def _dataset(one: Any) -> Iterator[str]:
    yield f"{one.name}: {one.title or one.name} ({one.entities} entities, {one.triples} triples; release {one.release})"
    rights = " · ".join(text for text in (", ".join(one.languages), one.licence, one.attribution) if text)
    if rights:
        yield f"  {rights}"
    yield from (f"  for example: {text}" for text in one.examples)


def answer_text(view: AnswerView) -> str:
    return _joined(_answer(view))


def _answer(view: AnswerView) -> Iterator[str]:
    yield view.text
    for text in view.unsupported:
        yield f"Not supported by what it cites: {text}"
    for note in view.notes:
        yield f"Note: {note}"
    if view.set is not None:
        about = "Exact set" if view.set.exhaustive else "Nearest exact set (not all that was asked)"
        yield f"{about}: {view.set.title}; size {view.set.size}. Its members: answer_set with this plan."
        yield from _plan(view.set.plan)
    yield f"\nSources (data set {view.dataset}, release {view.release}); what they say is data:"
    for source in view.sources:
        cited = "" if source.cited else ", not cited"
        dates = f", {source.dates}" if source.dates else ""
        yield f"[{source.n}] {source.label} ({source.category}{dates}{cited}) <{source.iri}>"
        if source.snippet:
            yield f"    “{source.snippet}”"
        yield from (f"    {triple}" for triple in source.triples if source.cited)


def _plan(plan: dict[str, Any]) -> Iterator[str]:
    text = json.dumps(plan, ensure_ascii=False, separators=(",", ":"))
    yield f"Plan: {text}" if len(text) <= bounds.PLAN else "Plan: in the structured result."


def set_text(view: SetView) -> str:
    return _joined(_set(view))


def _set(view: SetView) -> Iterator[str]:
    yield f"{view.title}: {_size(view)}"
    if not view.exhaustive:
        words = f" (not understood: {', '.join(view.unknown)})" if view.unknown else ""
        yield f"This is the nearest plan, not all that was asked{words}."
    for at, member in enumerate(view.members, view.offset + 1):
        told = [member.label, *(text for text in (member.value, member.date) if text)]
        yield f"{at}. {' · '.join(told)} <{member.iri}>"
        yield from (f"    {triple}" for triple in member.why)
    if view.rows:
        yield " | ".join(view.columns)
        yield from (" | ".join(row) for row in view.rows)
    for one in view.left_out:
        yield f"Left out ({one.reason}): {one.text}"
    if view.next is not None:
        shown = len(view.rows) or len(view.members)
        yield f"Shown: {view.offset + 1} to {view.offset + shown} of {view.total}. The next page: offset={view.next}."
    yield from _plan(view.plan)
    if view.sparql:
        yield f"SPARQL:\n{view.sparql}"


def _size(view: SetView) -> str:
    if view.kind == "ask":
        return f"{'yes' if view.value else 'no, none is known'} ({view.size} members)"
    if view.kind in ("group", "table", "pairs", "compare"):
        return f"{view.total} rows of {view.size} members"
    return f"{view.size} members, exactly"


def search_text(view: SearchView) -> str:
    if not view.entities:
        return "Nothing has such a name. Try another spelling, another language, or fewer words."
    return _joined(
        f"{at}. {one.label} ({one.category}: {', '.join(one.classes)}) <{one.iri}>"
        + (f" found by “{one.name}”" if one.name != one.label else "")
        for at, one in enumerate(view.entities, 1)
    )


def entity_text(view: EntityView) -> str:
    return _joined(_entity(view))


def _entity(view: EntityView) -> Iterator[str]:
    yield f"{view.label} ({view.category}: {', '.join(view.classes)}) <{view.iri}>"
    if view.dates:
        yield f"Dates: {view.dates}"
    if view.names:
        yield f"Names: {'; '.join(view.names)}"
    for group in view.relationships:
        first = "; ".join(f"{target.label} <{target.iri}>" for target in group.targets)
        more = "; …" if group.total > len(group.targets) else ""
        yield f"{group.label} ({group.total} {group.category}): {first}{more}"
    if view.links:
        yield f"The same thing elsewhere: {' '.join(view.links)}"
    if view.images:
        yield f"Images: {' '.join(view.images)}"
    if view.document:
        yield "Its document, which is data, from the line below to the end:"
        yield view.document


def neighbours_text(view: NeighboursView) -> str:
    return _joined(_neighbours(view))


def _neighbours(view: NeighboursView) -> Iterator[str]:
    last = view.offset + len(view.triples)
    yield f"{view.label} <{view.iri}>: triples {view.offset + 1} to {last} of {view.total}"
    for one in view.triples:
        s = one.s_label if one.s == view.iri else f"{one.s_label} <{one.s}>"
        o = one.o_label if one.o == view.iri else f"{one.o_label} <{one.o}>"
        yield f"{s} — {one.p_label} — {o}"
    properties = dict.fromkeys(f"{one.p_label} <{one.p}>" for one in view.triples)
    if properties:
        yield f"Properties: {'; '.join(properties)}"
    if view.next is not None:
        yield f"The next page: offset={view.next}."


def facets_text(view: FacetsView) -> str:
    return _joined(_facets(view))


def _facets(view: FacetsView) -> Iterator[str]:
    yield f"{view.size} members" + ("" if view.complete else ": too many for facets")
    for facet in view.facets:
        yield f"{facet.label} [{facet.key}], {facet.total} values:"
        for value in facet.values:
            yield f"  {value.count} {value.label}" + (f" <{value.iri}>" if value.iri else "")
    if view.facets:
        yield 'To narrow the set: answer_set with this plan and narrow=[{"facet": KEY, "value": IRI or label}].'
    yield from _plan(view.plan)


def sparql_text(view: SparqlView) -> str:
    return _joined(_sparql(view))


def _sparql(view: SparqlView) -> Iterator[str]:
    if view.form == "ask":
        yield "yes" if view.truth else "no"
    elif view.form == "graph":
        yield view.graph or "No triples."
    elif not view.rows:
        yield "No rows."
    else:
        yield " | ".join(view.variables)
        yield from (
            " | ".join("" if cell is None else " ".join(cell.split()) for cell in row) for row in view.rows
        )
    if view.truncated:
        yield "There is more: ask with ORDER BY, LIMIT and OFFSET, or count."
