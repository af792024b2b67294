"""How a document calls other entities: name, content, and what is noted in parentheses."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.words import clean, distinct, same, shorten
from crmrag_query.dates import Interval, describe
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.records import Timespan

NAME_CHARACTERS = 120  # of a target's name; the data has it whole
TEXT_CLASS = "E33"  # a text is called by what it says: its label is often "Credit line for the object"
RDF_VALUE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#value"
PLAIN_KINDS = ("type", "appellation", "dimension", "time")  # of which no types are noted


def describe_span(span: Timespan, lang: str) -> str:
    """``1099–1104``, with what it certainly covers and the source's own words where these say something else."""
    outer = _extent(span.outer_begin, span.outer_end, lang)
    inner = _extent(span.inner_begin, span.inner_end, lang)
    if not outer and not inner:
        return span.text
    certainly = f"at least {inner}" if inner and inner != outer else ""
    return ", ".join(part for part in (outer, certainly) if part)


def _extent(begin: int | None, end: int | None, lang: str) -> str:
    if (
        begin is not None and end is not None and begin > end
    ):  # as some sources have it: both are told as they stand
        return f"{describe(Interval(begin, None), lang)}, {describe(Interval(None, end), lang)}"
    return describe(Interval(begin, end), lang)


class Names:
    """Names of nodes as documents show them; answers are kept, so make a new one for each chunk."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self._shown: dict[int, str] = {}
        self._noted: dict[int, str] = {}
        graph, ontology = setting.graph, setting.ontology
        texts = [code != "" and ontology.is_a(code, TEXT_CLASS) for code in graph.class_codes]
        self._text_classes = frozenset(np.flatnonzero(texts).tolist())

    def neighbours(self, node: int, keys: Iterable[int]) -> list[int]:
        """Nodes that ``node`` reaches by facts of these keys, ascending."""
        adjacency = self.setting.graph.adjacency
        found: set[int] = set()
        for key in keys:
            rows = adjacency.backward if key % 2 else adjacency.forward
            found.update(rows.neighbours(key // 2, node).tolist())
        return sorted(found - {node})

    def named(self, node: int) -> bool:
        """True when the source gives the node a name, a date or a content."""
        return (
            bool(self.setting.graph.flags[node] & FLAG_LABELLED)
            or self.setting.graph.timespan(node) is not None
        )

    def shown(self, node: int) -> str:
        """The node's name on one line, at most NAME_CHARACTERS (a text: literal_characters); never empty."""
        if node not in self._shown:
            self._shown[node] = self._name(node) or clean(self.setting.graph.iri(node))
        return self._shown[node]

    def _name(self, node: int) -> str:
        graph = self.setting.graph
        kind = self.setting.kind_of(node)
        if kind == "appellation" or self.is_text(node):
            content = self.content(node)
            if content:
                return shorten(clean(content), self.setting.method.documents.literal_characters)
        if kind == "dimension" and (measure := self.dimension(node)):
            return measure
        if not graph.flags[node] & FLAG_LABELLED:
            if dates := self.dates(node):
                return dates
            names = graph.labels(node)
            if not names or names[0].kind == "iri":
                return clean(graph.iri(node)).split("://")[-1]
        return shorten(clean(graph.label(node)), NAME_CHARACTERS)

    def is_text(self, node: int) -> bool:
        return not self._text_classes.isdisjoint(self.setting.graph.types(node).tolist())

    def content(self, node: int) -> str:
        """What an appellation or text says: the first of its value properties that it has, "" for none."""
        literals = self.setting.graph.literals(node)
        wanted = self.setting.languages
        for prop in self.setting.values:
            values = [literal for literal in literals if literal.property == prop]
            for lang in (*wanted, ""):
                for literal in values:
                    if literal.lang.split("-")[0] == lang:
                        return literal.value
            if values:
                return values[0].value
        return ""

    def dates(self, node: int) -> str:
        """The dates stated on a node, "" for none."""
        span = self.setting.graph.timespan(node)
        return "" if span is None else clean(describe_span(span, self.setting.languages[0]))

    def dimension(self, node: int) -> str:
        """``height 13.9 cm`` from type, value and unit, "" where there is no value."""
        graph, setting = self.setting.graph, self.setting
        by_code: dict[str, list[str]] = {}
        for literal in graph.literals(node):
            code = graph.property_code(literal.property) or graph.property_iri(literal.property)
            by_code.setdefault(code, []).append(clean(literal.value))
        values = by_code.get("P90") or by_code.get(RDF_VALUE) or []
        if not values:
            return ""
        units = by_code.get("P91", []) + [
            self.shown(unit) for prop in setting.graph.adjacency.by_code.get("P91", ())
            for unit in self.neighbours(node, (2 * prop,)) if self.named(unit)
        ]  # fmt: skip
        types = [self.shown(t).lower() for t in self.neighbours(node, setting.types.members) if self.named(t)]
        return " ".join([*types[:1], "–".join(sorted(values)), *units[:1]])

    def notes(self, node: int, besides: str = "") -> list[str]:
        """What tells a target from others: its types, its attributes, the dates of an event; without repetition."""
        setting = self.setting
        if setting.kind_of(node) in PLAIN_KINDS:
            return []
        limits = setting.method.documents
        groups = (
            (setting.types.members, limits.noted_types),
            (setting.attributes.members, limits.attributes),
            (setting.spans.members, limits.noted_types),
        )
        texts = [
            self.shown(other)
            for members, limit in groups
            for other in [near for near in self.neighbours(node, members) if self.named(near)][:limit]
        ]
        known = {same(self.shown(node)), same(besides)}
        return [text for text in distinct(texts) if same(text) not in known]

    def annotated(self, node: int) -> str:
        """``Nikephoros (Magistros)``: the name, with those notes that it does not say itself."""
        if node not in self._noted:
            name = self.shown(node)
            notes = [note for note in self.notes(node) if same(note) not in same(name)]
            self._noted[node] = f"{name} ({', '.join(notes)})" if notes else name
        return self._noted[node]

    def sorted(self, nodes: Iterable[int]) -> list[int]:
        """Named nodes first, each group by number (that is, by IRI)."""
        return sorted(nodes, key=lambda node: (not self.named(node), node))
