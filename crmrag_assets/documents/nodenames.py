"""How documents call other entities, worked out for all nodes at once: name, content, and what is noted in parentheses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.documents.facts import Keys, gather_facts
from crmrag_assets.documents.words import clean, clean_all, same_all, shorten_all
from crmrag_query.config.models import Method
from crmrag_query.dates import Interval, describe
from crmrag_query.graph.arrays import FLAG_LABELLED, Bytes, Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.graph.records import Timespan
from crmrag_query.ontology.tables import Ontology

Bools = npt.NDArray[np.bool_]
NAME_CHARACTERS = 120  # of a target's name; the data has it whole
TEXT_CLASS = "E33"  # a text is called by what it says: its label is often "Credit line for the object"
RDF_VALUE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#value"
PLAIN_KINDS = ("type", "appellation", "dimension", "time")  # of which no types are noted
SPAN = ["outer_begin", "inner_begin", "inner_end", "outer_end", "text"]


@dataclass(frozen=True)
class NameRules:
    """What naming goes by: keys of facts, and the numbers of the properties whose literals give a name's text, the best
    first; ``kinds`` uint8 [n]: the kind of satellite that each node is, as in ``Satellites``."""

    method: Method
    ontology: Ontology
    languages: tuple[str, ...]
    types: Keys
    attributes: Keys
    spans: Keys
    values: tuple[int, ...]
    kinds: Bytes

    def of_kind(self, *names: str) -> Bools:
        """Mask of the nodes that are satellites of one of these kinds."""
        known = list(self.method.satellites.kinds)
        return np.isin(self.kinds, [known.index(name) + 1 for name in names if name in known])


class NodeNames:
    """Texts of the nodes 0 … n-1 of a graph, series of n strings.

    ``named`` bool [n]: the source gives the node a name, a date or a content. ``shown``: its name on one line, at most
    NAME_CHARACTERS (a text: literal_characters), never empty. ``dates``: the dates stated on the node itself, "" for none.
    """

    def __init__(self, graph: Graph, rules: NameRules) -> None:
        self.graph, self.rules = graph, rules
        self.dates = self._dates()
        self.named: Bools = (graph.flags & FLAG_LABELLED) != 0
        self.named[graph.timespan_table.column("node").to_numpy()] = True
        self.shown = self._plain()
        self._tell(self._contents())
        self._tell(self._dimensions())

    @cached_property
    def alike(self) -> pl.Series:
        """What all spellings of a node's name have in common."""
        return same_all(self.shown)

    @cached_property
    def annotated(self) -> pl.Series:
        """``Nikephoros (Magistros)``: the name, with those notes that it does not say itself."""
        notes = self._notes().group_by("node").agg(pl.col("text").str.join(", "))
        name = self.shown.gather(notes["node"])
        told = pl.select(pl.format("{} ({})", name, notes["text"])).to_series()
        return self.shown.clone().scatter(notes["node"], told)

    def neighbours(self, nodes: Ints, keys: Keys) -> pl.DataFrame:
        """Distinct pairs ``node`` and ``other`` (int32) of nodes that a fact of these keys joins, sorted."""
        facts = gather_facts(self.graph.adjacency, nodes, keys.members)
        pairs = pl.DataFrame({"node": np.repeat(nodes, np.diff(facts.ptr)), "other": facts.target})
        return pairs.filter(pl.col("node") != pl.col("other")).unique().sort("node", "other")

    def named_neighbours(self, nodes: Ints, keys: Keys, limit: int) -> pl.DataFrame:
        """As ``neighbours``, the first ``limit`` named ones of each node, with their names ``text``."""
        found = self.neighbours(nodes, keys)
        named = found.filter(pl.Series(self.named[found["other"].to_numpy()], dtype=pl.Boolean))
        first = named.filter(pl.int_range(pl.len()).over("node") < limit)
        return first.with_columns(text=self.shown.gather(first["other"]))

    def _notes(self) -> pl.DataFrame:
        """What tells a node from others, sorted by ``node``: ``text`` of its types, its attributes, the dates of an event;
        each once, and none that its name says."""
        rules, limits = self.rules, self.rules.method.documents
        nodes = np.flatnonzero(~rules.of_kind(*PLAIN_KINDS)).astype(np.int32)
        found = pl.concat(
            [
                self.named_neighbours(nodes, rules.types, limits.noted_types),
                self.named_neighbours(nodes, rules.attributes, limits.attributes),
                self.named_neighbours(nodes, rules.spans, limits.noted_types),
            ]
        )
        found = found.with_columns(alike=self.alike.gather(found["other"]))
        found = found.unique(["node", "alike"], keep="first", maintain_order=True)
        said = found.with_columns(said=self.alike.gather(found["node"]))
        kept = said.filter(~pl.col("said").str.contains(pl.col("alike"), literal=True))
        return kept.select("node", "text").sort("node", maintain_order=True)

    def _tell(self, texts: pl.DataFrame) -> None:
        """Let nodes be shown by these: columns ``node`` and ``text``, none of them empty."""
        self.shown = self.shown.clone().scatter(texts["node"], texts["text"])

    def _plain(self) -> pl.Series:
        """Names by label; of what has none by dates, by the role that it plays, or by the end of its IRI."""
        graph = self.graph
        shown = shorten_all(clean_all(_strings(graph.display_labels)), NAME_CHARACTERS)
        bare = np.flatnonzero((graph.flags & FLAG_LABELLED) == 0).astype(np.int32)
        iris = clean_all(_strings(graph.iris.take(pa.array(bare))))
        dates = self.dates.gather(bare)
        end = iris.str.split("://").list.last()
        unlabelled = self._first_kinds(bare).is_in(["", "iri"])
        told = pl.select(
            pl.when(dates != "").then(dates).when(unlabelled).then(end).otherwise(shown.gather(bare))
        ).to_series()
        shown = shown.scatter(bare, told)
        empty = (shown == "").arg_true()
        return shown.scatter(empty, clean_all(_strings(graph.iris.take(empty.to_arrow()))))

    def _first_kinds(self, nodes: Ints) -> pl.Series:
        """The kind of the best name of each of ``nodes``, "" of one without names."""
        table, ptr = self.graph.label_rows
        first = pl.Series(ptr[nodes])
        held = pl.Series(ptr[nodes + 1]) > first
        kinds = _strings(table.column("kind").cast(pa.large_utf8()))
        if kinds.is_empty():
            return pl.repeat("", len(nodes), dtype=pl.String, eager=True)
        return kinds.gather(first.clip(0, len(kinds) - 1)).zip_with(
            held, pl.repeat("", len(nodes), dtype=pl.String, eager=True)
        )

    def _dates(self) -> pl.Series:
        lang = self.rules.languages[0]
        table = pl.DataFrame(pl.from_arrow(pa.Table.from_batches([self.graph.timespan_table])))
        table = table.unique("node", keep="first", maintain_order=True)
        distinct = table.select(SPAN).unique()
        said = [clean(describe_span(Timespan(*row), lang)) for row in distinct.iter_rows()]
        told = distinct.with_columns(said=pl.Series(said, dtype=pl.String))
        joined = table.join(told, on=SPAN, how="left", nulls_equal=True)
        return pl.repeat("", self.graph.nodes, dtype=pl.String, eager=True).scatter(
            joined["node"], joined["said"]
        )

    def _literals(self, nodes: Bools, properties: Sequence[int]) -> pl.DataFrame:
        """Literals of these nodes by these properties, in their order: ``node``, ``property``, ``value``, ``lang``."""
        table = self.graph.literal_table
        chosen = np.flatnonzero(
            nodes[table.column("subject").to_numpy()]
            & np.isin(table.column("property").to_numpy(), properties)
        )
        columns = {name: table.column(name) for name in ("subject", "property", "value", "lang")}
        taken = pa.table(columns).take(pa.array(chosen))
        return pl.DataFrame(pl.from_arrow(taken)).rename({"subject": "node"}).cast({"lang": pl.String})

    def _contents(self) -> pl.DataFrame:
        """What appellations and texts say: the first value property that each has, in the first of the languages."""
        rules = self.rules
        codes = self.graph.class_codes
        texts = [n for n, code in enumerate(codes) if code and rules.ontology.is_a(code, TEXT_CLASS)]
        chosen = rules.of_kind("appellation") | self.graph.of_classes(texts)
        found = self._literals(chosen, rules.values).with_row_index("row")
        order = {lang: place for place, lang in reversed(list(enumerate((*rules.languages, ""))))}
        place = pl.col("property").replace_strict({prop: n for n, prop in enumerate(rules.values)}, default=0)
        spoken = pl.col("lang").str.split("-").list.first().replace_strict(order, default=len(order))
        first = (
            found.sort("node", place, spoken.cast(pl.Int32), "row")
            .unique("node", keep="first", maintain_order=True)
            .filter(pl.col("value") != "")
        )
        text = shorten_all(clean_all(first["value"]), rules.method.documents.literal_characters)
        told = first.select("node", text=text)
        empty = told.filter(pl.col("text") == "")["node"]
        iris = clean_all(_strings(self.graph.iris.take(empty.to_arrow())))
        return told.filter(pl.col("text") != "").vstack(pl.DataFrame({"node": empty, "text": iris}))

    def _dimensions(self) -> pl.DataFrame:
        """``height 13.9 cm`` from type, value and unit, of the dimensions that have a value."""
        graph, rules = self.graph, self.rules
        chosen = rules.of_kind("dimension")
        values = self._cleaned(chosen, "P90", RDF_VALUE)
        if values.is_empty():
            return pl.DataFrame(schema={"node": pl.Int32, "text": pl.String})
        told = values.group_by("node").agg(pl.col("value").sort().str.join("–"))
        nodes = np.sort(told["node"].to_numpy())
        by_code = graph.adjacency.by_code
        keys = Keys(tuple(2 * prop for prop in by_code.get("P91", ())), len(graph.property_codes))
        stated = self._cleaned(chosen, "P91").rename({"value": "unit"})
        nearby = self.named_neighbours(nodes, keys, 1).select("node", unit="text")
        units = pl.concat([stated, nearby]).unique("node", keep="first", maintain_order=True)
        kinds = self.named_neighbours(nodes, rules.types, 1).select("node", kind=_lower("text"))
        joined = told.join(units, on="node", how="left").join(kinds, on="node", how="left")
        text = pl.concat_str("kind", "value", "unit", separator=" ", ignore_nulls=True)
        return joined.select("node", text=text).filter(pl.col("text") != "")

    def _cleaned(self, nodes: Bools, *names: str) -> pl.DataFrame:
        """Values of the first of these properties (codes or IRIs) that a node has, on one line each, in their order."""
        graph = self.graph
        frames = []
        for name in names:
            numbers = [
                n for n, code in enumerate(graph.property_codes) if (code or graph.property_iri(n)) == name
            ]
            found = self._literals(nodes, numbers).select("node", "value")
            frames.append(found.with_columns(value=clean_all(found["value"])))
        first, *others = frames
        for other in others:
            first = first.vstack(other.join(first, on="node", how="anti"))
        return first


def _lower(column: str) -> pl.Expr:
    return pl.col(column).str.to_lowercase()


def _strings(array: pa.Array) -> pl.Series:
    return pl.Series(pl.from_arrow(array), dtype=pl.String)


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
