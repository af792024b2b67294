"""The first lines of a document: what it is about, its classes, types, names, dates, literals and other satellites."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.documents.drafts import (
    NONE,
    capital,
    clean,
    clean_all,
    coded,
    distinct,
    drafts,
    enumerate_all,
    no_drafts,
    same,
    same_all,
    shorten,
    shorten_all,
)
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.ways import Facts
from crmrag_query.documents.documents import HEADER, LITERAL, SATELLITE, TYPE
from crmrag_query.graph.arrays import Ints, spread
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category

Bools = npt.NDArray[np.bool_]
UNNAMING = ("identifier", "role", "iri")  # kinds of labels that are no names
NO_CATEGORY = "Entity"
ADDRESS = r"^[A-Za-z][A-Za-z0-9+.-]*://\S+$"  # for machines: images, homepages; they are on the entity's page


@dataclass(frozen=True)
class Described:
    """The entities that documents are written about together; ``entities`` int32 [d] ascending, places in it number the
    documents."""

    setting: Setting
    entities: Ints
    facts: Facts

    @property
    def graph(self) -> Graph:
        return self.setting.graph

    @cached_property
    def label(self) -> pl.Series:
        """Display labels on one line, [d]."""
        return _labels(self.graph, self.entities)

    @cached_property
    def alike(self) -> pl.Series:
        """What other spellings of the label have in common, [d]."""
        return same_all(self.label)

    @cached_property
    def category(self) -> pl.Series:
        """Names of the categories, [d]."""
        return _categories(self.graph, self.entities)

    @cached_property
    def heading(self) -> pl.Series:
        """``[Thing] Panagia Phorbiottisa``, [d]; an IRI in place of no label."""
        return headings(self.setting, self.entities)

    @cached_property
    def literals(self) -> pl.DataFrame:
        """Literals by document, in the order of the data: ``doc``, ``property``, ``value`` on one line, ``alike``."""
        doc, rows = spread(self.graph.literal_ptr, self.entities)
        table = self.graph.literal_table
        value = clean_all(pl.Series(pl.from_arrow(table.column("value").take(pa.array(rows)))))
        prop = table.column("property").to_numpy()[rows]
        return pl.DataFrame(
            {"doc": doc.astype(np.int32), "property": prop, "value": value, "alike": same_all(value)}
        )

    @cached_property
    def names(self) -> pl.DataFrame:
        """Names by document, best first, without those that are but its notes or content, which a line of literals gives:
        ``doc``, ``text`` on one line, ``lang``, ``alike``."""
        table, ptr = self.graph.label_rows
        doc, rows = spread(ptr, self.entities)
        taken = pa.table([table.column(name) for name in ("text", "lang", "kind")], ["text", "lang", "kind"])
        found = pl.DataFrame(pl.from_arrow(taken.take(pa.array(rows)))).cast(pl.String)
        found = found.with_columns(doc=doc.astype(np.int32), text=clean_all(found["text"]))
        found = found.filter(~pl.col("kind").is_in(list(UNNAMING)))
        found = found.with_columns(alike=same_all(found["text"]))
        return found.filter(~self._repeat_notes(found)).select("doc", "text", "lang", "alike")

    def _repeat_notes(self, names: pl.DataFrame) -> pl.Series:
        """Mask of the names that are a note or the beginning of one: names made from notes are cut, with an ellipsis."""
        known = {
            *self.setting.method.names.label_properties,
            *self.setting.method.names.alternative_properties,
        }
        naming = [n for n, word in enumerate(self.setting.properties) if word in known]
        named = pl.col("property").is_in(naming)
        noted = self.literals.filter(~named).select("doc", "alike").unique()
        noted = noted.join(self.literals.filter(named), on=["doc", "alike"], how="anti")
        whole = names.join(
            noted.with_columns(note=True), on=["doc", "alike"], how="left", maintain_order="left"
        )
        repeats = whole["note"].fill_null(False).to_numpy().copy()
        cut = (
            names.with_row_index("row")
            .filter(pl.col("alike").str.ends_with("…"))
            .select("row", "doc", "alike")
        )
        if len(cut):
            notes: dict[int, list[str]] = {}
            for doc, note in noted.filter(pl.col("doc").is_in(cut["doc"].implode())).iter_rows():
                notes.setdefault(doc, []).append(note)
            for row, doc, text in cut.iter_rows():
                repeats[row] |= any(note.startswith(text[:-1]) for note in notes.get(doc, ()))
        return pl.Series(repeats, dtype=pl.Boolean)

    def pairs(self, chosen: Bools) -> pl.DataFrame:
        """Distinct ``doc`` and ``node`` of the chosen facts, sorted."""
        facts = self.facts
        frame = pl.DataFrame({"doc": facts.doc[chosen], "node": facts.target[chosen]})
        return frame.unique().sort("doc", "node")

    def again(self, stated: Bools) -> Bools:
        """Mask of the outward facts that lead where the ``stated`` ones of their document lead."""
        facts = self.facts
        pairs = facts.doc.astype(np.int64) << 32 | facts.target
        again: Bools = facts.outward & np.isin(pairs, pairs[stated])
        return again

    def kinds(self, kind: str) -> Bools:
        """Mask of the facts whose target is a satellite of this kind."""
        return self.setting.of_kind(kind, nodes=self.facts.target)


def _labels(graph: Graph, nodes: Ints) -> pl.Series:
    return clean_all(pl.Series(pl.from_arrow(graph.display_labels.take(pa.array(nodes)))))


def _categories(graph: Graph, nodes: Ints) -> pl.Series:
    names = {0: NO_CATEGORY} | {int(one): one.name for one in Category}
    return pl.Series([names[bit] for bit in graph.category_of_node[nodes].tolist()], dtype=pl.String)


def headings(setting: Setting, nodes: Ints) -> pl.Series:
    """``[Thing] Panagia Phorbiottisa`` of each node; an IRI in place of no label."""
    graph = setting.graph
    label = shorten_all(_labels(graph, nodes), setting.method.documents.literal_characters)
    empty = (label == "").arg_true()
    iris = [clean(graph.iri(node)) for node in nodes[empty.to_numpy()].tolist()]
    label = label.clone().scatter(empty, pl.Series(iris, dtype=pl.String))
    return pl.select(pl.format("[{}] {}", _categories(graph, nodes), label)).to_series()


def headers(about: Described, repeating: pl.DataFrame) -> pl.DataFrame:
    """``[Thing] Panagia Phorbiottisa``; ``repeating``: the appellations of each document that say just this name."""
    numbers = pl.DataFrame({"doc": np.arange(len(about.entities), dtype=np.int32)})
    total = np.ones(len(about.entities), np.int32)
    return drafts(
        numbers["doc"].to_numpy(),
        HEADER,
        "header",
        about.category,
        about.heading,
        total,
        _lists(numbers, repeating),
    )


def _lists(lines: pl.DataFrame, pairs: pl.DataFrame) -> pl.Series:
    """The nodes of each line's document, ascending, as lists; ``pairs`` of ``doc`` and ``node``."""
    held = pairs.group_by("doc").agg(pl.col("node").sort())
    joined = lines.join(held, on="doc", how="left", maintain_order="left")
    return joined["node"].fill_null(pl.Series([[]], dtype=pl.List(pl.Int32)))


def class_drafts(about: Described, typed: pl.Series) -> pl.DataFrame:
    """Classes in plain words; a class that another one implies is not repeated.

    None of the documents ``typed``, whose types tell more, and none that repeats the category or a name made from it:
    "Birth" of "Birth of X".
    """
    ptr, val = about.graph.type_rows
    doc, rows = spread(ptr, about.entities)
    sets = (
        pl.DataFrame({"doc": doc.astype(np.int32), "kind": val[rows]})
        .group_by("doc", maintain_order=True)
        .agg("kind")
    )
    distinct_sets = sets.select(pl.col("kind").unique())["kind"].to_list()
    words = pl.DataFrame(
        {"kind": distinct_sets, "body": [_classes(about.setting, one) for one in distinct_sets]},
        schema={"kind": pl.List(pl.Int32), "body": pl.String},
    )
    lines = sets.join(words, on="kind", how="left", maintain_order="left").filter(pl.col("body") != "")
    lines = lines.with_columns(
        heading=about.heading.gather(lines["doc"]).str.to_lowercase(), word=pl.col("body").str.to_lowercase()
    )
    lines = lines.filter(
        ~pl.col("doc").is_in(typed.implode()) & ~pl.col("heading").str.contains(pl.col("word"), literal=True)
    )
    total = lines["kind"].list.len().to_numpy()
    return drafts(lines["doc"].to_numpy(), TYPE, "rdf:type", "Class", lines["body"], total)


def _classes(setting: Setting, classes: list[int]) -> str:
    graph, ontology = setting.graph, setting.ontology
    codes = [graph.class_code(number) for number in classes]
    implied = {upper for code in codes if code for upper in ontology.superclasses(code)}
    own = [n for n, code in zip(classes, codes, strict=True) if code not in implied or not code]
    return ", ".join(distinct(clean(graph.class_label(number)) for number in own))


def type_drafts(about: Described) -> tuple[pl.DataFrame, Bools]:
    """What P2 has type states, and which facts that are."""
    mask = about.facts.where(about.setting.types)
    pairs = about.pairs(mask)
    if pairs.is_empty():
        return no_drafts(), mask
    names = about.setting.names
    named = names.named[pairs["node"].to_numpy()]
    pairs = pairs.with_columns(named=pl.Series(named), told=pl.Series(names.told[pairs["node"].to_numpy()]))
    pairs = pairs.filter(pl.col("told").any().over("doc"))
    if pairs.is_empty():
        return no_drafts(), mask
    shown = pairs.filter(pl.col("named") | (pl.col("told") & ~pl.col("named").any().over("doc")))
    nodes, which = np.unique(shown["node"].to_numpy(), return_inverse=True)
    texts = pl.Series([_in_languages(about.setting, node) for node in nodes.tolist()], dtype=pl.String)
    texts = texts.zip_with(pl.Series(names.named[nodes]), names.shown.gather(nodes))
    codes, pool = coded(texts)
    limit = about.setting.method.satellites.limits.types
    return _nodes(TYPE, "P2", "Type", pairs, shown["doc"], codes[which], pool, limit), mask


def _nodes(
    kind: int, key: str, label: str, pairs: pl.DataFrame, doc: pl.Series, names: Ints, pool: pl.Series, limit: int,
    *, distinct: bool = False,
) -> pl.DataFrame:  # fmt: skip
    """A line for each document of ``pairs`` (``doc``, ``node``, sorted), which states its nodes.

    It lists the names ``pool[names[i]]`` of ``doc[i]``, and how many nodes are left; of ``distinct`` names, how many names.
    """
    lines = pairs.group_by("doc", maintain_order=True).agg("node")
    line = np.searchsorted(lines["doc"].to_numpy(), doc.to_numpy()).astype(np.int32)
    total = lines["node"].list.len().to_numpy()
    body = enumerate_all(
        line, names, pool, np.bincount(line, minlength=len(lines)) if distinct else total, limit
    )
    return drafts(lines["doc"].to_numpy(), kind, key, label, body, total, lines["node"])


def _in_languages(setting: Setting, node: int) -> str:
    """``church (εκκλησία)``: a type's name, with its names in other languages."""
    own, lang = setting.names.shown[node], setting.graph.label_lang(node)
    best: dict[str, str] = {}
    for label in setting.graph.labels(node):
        if label.lang and label.lang != lang and label.kind not in UNNAMING:
            best.setdefault(
                label.lang, shorten(clean(label.text), setting.method.documents.literal_characters)
            )
    others = [text for text in distinct(best.values()) if same(text) != same(own)]
    return f"{own} ({', '.join(others)})" if others else own


def name_drafts(about: Described) -> tuple[pl.DataFrame, pl.DataFrame, Bools]:
    """Headers; other names, names in other languages and identifiers; and which facts these state."""
    setting = about.setting
    mask = about.facts.where(setting.name_keys) & about.kinds("appellation")
    pairs = about.pairs(mask)
    nodes = pairs["node"].to_numpy()
    identifying = setting.identifying[nodes]
    repeats = (
        setting.names.alike.gather(nodes) == about.alike.gather(pairs["doc"])
    ).to_numpy() & ~identifying
    identifiers, repeating = pairs.filter(pl.Series(identifying)), pairs.filter(pl.Series(repeats))
    others = pairs.filter(pl.Series(~identifying & ~repeats))
    plain, foreign = _names(about, others)
    bare = others.join(plain, on="doc", how="anti")  # told by the names in other languages
    lines = plain.select(pl.col("doc").unique(maintain_order=True))
    body, total = _enumerated(about, plain, lines, ["doc"])
    also = drafts(
        lines["doc"].to_numpy(), SATELLITE, "names", "Also known as", body, total, _lists(lines, others)
    )
    named = pl.concat([also, _foreign(about, foreign, bare), _identifiers(about, identifiers)])
    return headers(about, repeating), named, mask


def _names(about: Described, others: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Names besides the label, in its language or none, and in other languages: distinct, by document, best first."""
    names = about.names
    langs = pl.Series(pl.from_arrow(about.graph.label_langs.take(pa.array(about.entities)))).cast(pl.String)
    own = names.filter(names["alike"] != about.alike.gather(names["doc"]))
    foreign = own.filter((own["lang"] != "") & (own["lang"] != langs.gather(own["doc"])))
    nodes = others["node"].to_numpy()
    shown = about.setting.names
    appellations = others.select(
        "doc", text=shown.shown.gather(nodes), lang=pl.lit(""), alike=shown.alike.gather(nodes)
    )
    plain = pl.concat([own, appellations]).sort("doc", maintain_order=True).filter(pl.col("text") != "")
    plain = plain.unique(["doc", "alike"], keep="first", maintain_order=True)
    return plain.join(foreign, on=["doc", "alike"], how="anti", maintain_order="left"), foreign


def _foreign(about: Described, names: pl.DataFrame, nodes: pl.DataFrame) -> pl.DataFrame:
    """``Name (el): Παναγία της Ασίνου``, a line for each language; the first one counts as stating ``nodes``."""
    names = names.filter(pl.col("text") != "").sort("doc", "lang", maintain_order=True)
    names = names.unique(["doc", "lang", "alike"], keep="first", maintain_order=True)
    lines = names.select(pl.struct("doc", "lang").unique(maintain_order=True)).unnest("doc")
    body, total = _enumerated(about, names, lines, ["doc", "lang"])
    first = pl.int_range(pl.len()).over("doc") == 0
    held = lines.select(pl.when(first).then(_lists(lines, nodes)).otherwise(NONE)).to_series()
    key = pl.select(pl.format("names@{}", lines["lang"])).to_series()
    label = pl.select(pl.format("Name ({})", clean_all(lines["lang"]))).to_series()
    return drafts(lines["doc"].to_numpy(), SATELLITE, key, label, body, total, held)


def _enumerated(
    about: Described, names: pl.DataFrame, lines: pl.DataFrame, on: list[str]
) -> tuple[pl.Series, npt.NDArray[np.int64]]:
    """Body and number of names of each line; ``names`` in the order of ``lines``."""
    method = about.setting.method
    line = names.join(lines.with_row_index("line"), on=on, how="left", maintain_order="left")[
        "line"
    ].to_numpy()
    codes, pool = coded(shorten_all(names["text"], method.documents.literal_characters))
    total = np.bincount(line, minlength=len(lines))
    return enumerate_all(line.astype(np.int32), codes, pool, total, method.satellites.limits.names), total


def _identifiers(about: Described, pairs: pl.DataFrame) -> pl.DataFrame:
    if pairs.is_empty():
        return no_drafts()
    setting, names = about.setting, about.setting.names
    nodes, which = np.unique(pairs["node"].to_numpy(), return_inverse=True)
    kinds = names.named_neighbours(nodes, setting.types, 1).select("node", kind="text")
    shown = pl.DataFrame({"node": nodes, "text": names.shown.gather(nodes)})
    joined = shown.join(kinds, on="node", how="left", maintain_order="left")
    kind = pl.when(pl.col("kind").is_null()).then(pl.lit("")).otherwise(pl.format(" ({})", "kind"))
    text = joined.select(pl.concat_str("text", kind)).to_series()
    listed = pairs.with_columns(text=text.gather(which), alike=same_all(text).gather(which))
    listed = listed.unique(["doc", "alike"], keep="first", maintain_order=True)
    codes, pool = coded(listed["text"])
    limit = setting.method.satellites.limits.names
    return _nodes(
        SATELLITE, "identifiers", "Identifiers", pairs, listed["doc"], codes, pool, limit, distinct=True
    )


def date_drafts(about: Described) -> tuple[pl.DataFrame, Bools]:
    """The dates stated on an entity, else its time-spans; and which facts these are."""
    mask = about.facts.where(about.setting.spans)
    own = about.setting.names.dates.gather(about.entities)
    dated = (own != "").to_numpy()
    pairs = about.pairs(mask)
    apart = pairs.filter(pl.Series(~dated[pairs["doc"].to_numpy()]))
    lines = pl.DataFrame({"doc": np.flatnonzero(dated).astype(np.int32)})
    targets = _lists(lines, pairs)
    total = targets.list.len().to_numpy().astype(np.int64) + 1
    stated = drafts(
        lines["doc"].to_numpy(), SATELLITE, "dates", "Date", own.filter(pl.Series(dated)), total, targets
    )
    limit = about.setting.method.satellites.limits.times
    return pl.concat([stated, satellite_drafts(about, apart, "dates", "Date", limit)]), mask


def satellite_drafts(about: Described, pairs: pl.DataFrame, key: str, label: str, limit: int) -> pl.DataFrame:
    """A line of the nodes of each document, named ones first."""
    if pairs.is_empty():
        return no_drafts()
    node = pairs["node"].to_numpy()
    order = np.lexsort((node, ~about.setting.names.named[node], pairs["doc"].to_numpy()))
    pool = about.setting.pool
    return _nodes(SATELLITE, key, label, pairs, pairs["doc"], pool.shown[node[order]], pool.texts, limit)


def literal_drafts(about: Described, dated: pl.Series) -> pl.DataFrame:
    """A line for each property of literals, in order of its number; names are told above, and dates in the documents
    ``dated``."""
    graph, documents, dates = about.graph, about.setting.method.documents, about.setting.method.dates
    dating = {*dates.outer_begin, *dates.outer_end, *dates.inner_begin, *dates.inner_end}
    dating |= {*dates.outer_whole, *dates.inner_whole}
    keys = about.setting.properties
    words = documents.words
    labels = [words.get(key) or capital(clean(graph.property_label(n)) or key) for n, key in enumerate(keys)]
    again = [n for n, key in enumerate(keys) if key in dating]
    label = pl.DataFrame({"alike": about.alike}).with_row_index("doc").cast({"doc": pl.Int32})
    stated = pl.concat([label.select("doc", "alike"), about.names.select("doc", "alike")])
    repeated = pl.col("property").is_in(again) & pl.col("doc").is_in(dated.implode())
    unsaid = pl.col("property").is_in([n for n, key in enumerate(keys) if key in documents.unsaid])
    told = (pl.col("value") != "") & ~pl.col("value").str.contains(ADDRESS) & ~unsaid
    values = about.literals.filter(told & ~repeated)
    values = values.join(stated, on=["doc", "alike"], how="anti", maintain_order="left")
    values = values.unique(["doc", "property", "alike"], keep="first", maintain_order=True)
    lines = values.group_by("doc", "property", maintain_order=True).agg(total=pl.len())
    first = values.filter(pl.int_range(pl.len()).over("doc", "property") < documents.literal_values)
    first = first.with_columns(value=shorten_all(first["value"], documents.literal_characters))
    shown = first.group_by("doc", "property", maintain_order=True).agg(pl.col("value").str.join("; "))[
        "value"
    ]
    rest = lines["total"].cast(pl.Int64) - documents.literal_values
    body = pl.select(
        pl.when(rest > 0).then(pl.format("{} and {} more", shown, rest)).otherwise(shown)
    ).to_series()
    return drafts(
        lines["doc"].to_numpy(),
        LITERAL,
        pl.Series(keys, dtype=pl.String).gather(lines["property"]),
        pl.Series(labels, dtype=pl.String).gather(lines["property"]),
        body,
        lines["total"].to_numpy(),
    )
