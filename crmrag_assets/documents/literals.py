"""Lines of literals: a few values of each property, cut in the text and whole in the data."""

from __future__ import annotations

from crmrag_assets.documents.drafts import Draft
from crmrag_assets.documents.identity import own_names
from crmrag_assets.documents.names import Names
from crmrag_assets.documents.words import clean, same, shorten
from crmrag_query.documents.schema import LITERAL
from crmrag_query.graph.records import Literal


def literal_lines(names: Names, entity: int, dated: bool) -> list[Draft]:
    """A line for each property of literals, in order of its number; names are told above, and dates where ``dated``."""
    setting = names.setting
    graph, documents = setting.graph, setting.method.documents
    groups: dict[int, list[Literal]] = {}
    for literal in graph.literals(entity):
        groups.setdefault(literal.property, []).append(literal)
    dates = setting.method.dates
    dating = {*dates.outer_begin, *dates.outer_end, *dates.inner_begin, *dates.inner_end}
    dating |= {*dates.outer_whole, *dates.inner_whole}
    told = {same(graph.label(entity)), *(same(name.text) for name in own_names(names, entity))}
    lines: list[Draft] = []
    for prop, literals in groups.items():
        key = graph.property_code(prop) or graph.property_iri(prop)
        if dated and key in dating:
            continue
        values = [value for value in _values(literals) if same(value) not in told]
        if values:
            shown = [
                shorten(value, documents.literal_characters) for value in values[: documents.literal_values]
            ]
            rest = len(values) - len(shown)
            body = "; ".join(shown) + (f" and {rest} more" if rest else "")
            lines.append(Draft(LITERAL, key, clean(graph.property_label(prop)) or key, body, (), len(values)))
    return lines


def _values(literals: list[Literal]) -> list[str]:
    """Distinct values on one line each, in the order of the data."""
    first: dict[str, str] = {}
    for literal in literals:
        value = clean(literal.value)
        if value:
            first.setdefault(same(value), value)
    return list(first.values())
