"""Documents of one chunk's entities, before any is chained to another."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.documents.drafts import (
    capital,
    clean,
    coded,
    drafts,
    enumerate_all,
    lists,
    no_drafts,
    texts_of,
)
from crmrag_assets.documents.identity import (
    Described,
    class_drafts,
    date_drafts,
    literal_drafts,
    name_drafts,
    satellite_drafts,
    type_drafts,
)
from crmrag_assets.documents.portable import Numbering, save_tables
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.ways import Lines, gather_facts, informative, stating
from crmrag_query.documents.documents import FR, INCOMING, NOTE, OUTGOING, SCHEMAS
from crmrag_query.graph.arrays import FLAG_ENTITY, FLAG_EVENT, Bytes, Ints, Longs, ranges
from crmrag_query.ontology.load import Category
from crmrag_query.relationships.engine import Matches, walk

Bools = npt.NDArray[np.bool_]
LOOKED_AT = 200  # targets of a line whose names are compared; a hub has more than a line can show
CUT_LABELS = 5  # labels of lines that were cut, in the note about them
NOTED_TARGETS = 3  # targets of a line that are shown with notes: all would fill windows with little
ENDS = ("P01", "P02")  # from a PC class to the domain and the range of the property that it reifies
RECORDED = Category.Place | Category.Concept | Category.Time
"""What others' records point at: that they do is told there."""
POINTED_AT = 1.5
"""Triples of a property that lead to one node, from where on these are told where they are stated."""


@dataclass(frozen=True)
class Related:
    """The relationship lines of some documents: those that say something of their own, the most informative first.

    ``lines``: of the wordings that are told. ``stated`` bool [facts]: facts that other lines of the document state: types,
    names, dates and the like. ``otherwise`` bool [facts]: facts of which a wording says more or nothing.
    """

    about: Described
    lines: Lines
    stated: Bools
    otherwise: Bools

    @classmethod
    def of(cls, about: Described, stated: Bools) -> Related:
        """Walks the ways that texts tell."""
        setting, telling = about.setting, about.setting.telling
        graph, told = setting.graph, telling.setting
        found = walk(graph.adjacency, setting.ontology, told.ways.walked, about.entities, plan=told.plan)
        doc = np.searchsorted(about.entities, found.source).astype(np.int32)
        kept = telling.said_once(found) & ~setting.apart[found.target]
        kept &= ~_says_little(about, doc, found.target)
        fact, match = stating(Lines.of(found, about.entities), about.facts, told.rules)
        otherwise = np.zeros(len(stated), bool)
        otherwise[fact[~kept[match]]] = True
        return cls(about, Lines.of(found.part(kept), about.entities), stated, otherwise)

    @cached_property
    def setting(self) -> Setting:
        return self.about.setting.telling.setting

    @cached_property
    def _stating(self) -> tuple[Longs, Longs]:
        return stating(self.lines, self.about.facts, self.setting.rules)

    @cached_property
    def chosen(self) -> Longs:
        """Numbers of the lines that are shown, by document and rank; at most as many of each as configured."""
        lines, limits = self.lines, self.setting.method.documents
        fact, match = self._stating
        above = np.zeros(len(lines.matches), bool)
        above[match[self.stated[fact]]] = True
        named = np.zeros(len(lines.doc), bool)
        named[lines.line[self.about.setting.names.told[lines.matches.target]]] = True
        kept = np.flatnonzero(informative(lines, self.setting.rules, above) & named)
        many = lines.sizes[kept] > limits.targets
        kept = kept[np.lexsort((lines.relationship[kept], many, lines.doc[kept]))]
        place = np.arange(len(kept)) - np.searchsorted(lines.doc[kept], lines.doc[kept])
        return kept[place < limits.relationship_lines]

    def drafts(self) -> pl.DataFrame:
        """The chosen lines: the nearest targets first, a village before its district."""
        setting, lines, chosen = self.about.setting, self.lines, self.chosen
        if not len(chosen):
            return no_drafts()
        number, size = lines.relationship[chosen], lines.sizes[chosen]
        rows = ranges(lines.ptr[chosen], size)
        targets = lines.matches.target[rows]
        ptr = np.concatenate([[0], np.cumsum(size)])
        names = _names(self.about, lines.doc[chosen], ptr, targets, lines.matches.depth[rows])
        keys = pl.Series([setting.catalogue[of].id for of in setting.telling.of.tolist()], dtype=pl.String)
        labels = pl.Series([one.label for one in self.setting.catalogue], dtype=pl.String)
        body = enumerate_all(*names, setting.pool.texts, size, setting.method.documents.targets)
        return drafts(
            lines.doc[chosen], FR, keys.gather(number), labels.gather(number), body, size, lists(ptr, targets)
        )

    def left_over(self) -> Bools:
        """Mask of the facts that no line states, and that are told by themselves (facts: method, mistake 5)."""
        setting, facts = self.about.setting, self.about.facts
        fact, match = self._stating
        rest = ~self.stated & ~self.otherwise
        rest[fact[np.isin(self.lines.line[match], self.chosen)]] = False
        noting = setting.noted[facts.target] == self.about.entities[facts.doc]
        rest &= noting | ~(facts.where(setting.telling.unsaid) | setting.apart[facts.target])
        category = setting.graph.category_of_node[self.about.entities[facts.doc]]
        recorded = ((category & RECORDED) != 0) | (category == 0)
        said = facts.doc.astype(np.int64) << 32 | setting.property_words[facts.key]
        own = facts.outward | np.isin(said, said[facts.outward])  # what is stated here in part is told whole
        rest &= noting | own | ~(recorded | (setting.pointed_at[facts.key >> 1] > POINTED_AT))
        rows = np.flatnonzero(rest)
        little = ~setting.names.told[facts.target[rows]]
        little |= _says_little(self.about, facts.doc[rows], facts.target[rows])
        rest[rows[little]] = False
        return rest


def _says_little(about: Described, doc: Ints, target: Ints) -> Bools:
    """Mask of the pairs of which a text would but repeat what it is about: "Production of X" in the text of X, and X in that
    of "Production of X".

    So are called: what is named by its role for just this entity, an event or image named after it, and of a thing the event
    of nothing else, or one that is named by its role for another; unless its types tell more. And of a text that is told
    whole as a note what it refers to.
    """
    setting, names = about.setting, about.setting.names
    own = about.entities[doc]
    event = (setting.graph.flags[target] & FLAG_EVENT) != 0
    own_event = (setting.graph.flags[own] & FLAG_EVENT) != 0
    named_after = names.made[own] | own_event | setting.images[own]
    rows = np.flatnonzero(
        named_after | ((names.made[target] | event | setting.images[target]) & ~names.typed[target])
    )
    own, node, made = own[rows], target[rows], names.made[target[rows]]
    pairs = pl.DataFrame({"name": names.alike.gather(node), "own": about.alike.gather(doc[rows])})
    name, called = pl.col("name"), pl.col("own")
    found = pairs.select(
        after=name.str.ends_with(called) & (called != ""),
        holds=name.str.contains(called, literal=True) & (called != ""),
        before=called.str.ends_with(name) & (name != ""),
    )
    after, holds, before = (found[column].to_numpy() for column in ("after", "holds", "before"))
    of_thing = setting.graph.category_of_node[own] == Category.Thing
    role = after | setting.images[node] | (of_thing & event[rows])
    apart = np.where(made, role, holds) | (of_thing & setting.lone[node])
    open_ = (made | event[rows] | setting.images[node]) & ~names.typed[node]
    open_ &= ~(of_thing & (setting.dating | setting.attended)[node])
    little = np.zeros(len(target), bool)
    little[rows] = (named_after[rows] & before) | (open_ & apart)
    whole = ~names.shown.str.ends_with("…").gather(about.entities[doc]).to_numpy()
    little |= whole & (setting.noted[about.entities[doc]] == target)
    return little


def direct_drafts(about: Described, open_: Bools) -> pl.DataFrame:
    """A line for each way of saying it: P46i stated here and P46 stated there both read "forms part of"."""
    setting, facts = about.setting, about.facts
    rows = np.flatnonzero(open_)
    if not len(rows):
        return no_drafts()
    weights = np.array([setting.method.weights.of(code) for code in setting.graph.property_codes])
    frame = pl.DataFrame(
        {
            "doc": facts.doc[rows],
            "key": facts.key[rows],
            "word": setting.property_words[facts.key[rows]],
            "target": facts.target[rows],
            "weight": weights[facts.key[rows] >> 1],
        }
    )
    groups = frame.group_by("doc", "word").agg(
        pl.col("key").min(),
        pl.col("weight").max(),
        incoming=(pl.col("key") % 2 == 1).all(),
        many=pl.len() > LOOKED_AT,
        target=pl.col("target").unique().sort(),
    )
    groups = groups.sort("doc", "incoming", -pl.col("weight"), "many", "word")
    targets = groups["target"].explode().to_numpy()
    size = groups["target"].list.len().to_numpy().astype(np.int64)
    ptr = np.concatenate([[0], np.cumsum(size)])
    doc = groups["doc"].to_numpy()
    names = _names(about, doc, ptr, targets, np.zeros(len(targets), np.uint8))
    body = enumerate_all(*names, setting.pool.texts, size, setting.method.documents.targets)
    keys = pl.Series(setting.properties, dtype=pl.String).gather(groups["key"].to_numpy() >> 1)
    read = pl.Series(setting.property_texts, dtype=pl.String).gather(groups["word"])
    return drafts(
        doc,
        np.where(groups["incoming"].to_numpy(), INCOMING, OUTGOING).astype(np.uint8),
        keys,
        read,
        body,
        size,
        groups["target"],
    )


def _names(about: Described, doc: Ints, ptr: Longs, targets: Ints, depth: Bytes) -> tuple[Ints, Ints]:
    """For lists of targets (ascending) the names to be enumerated: list and number in the pool; ``doc`` of each list,
    ``depth`` of each target.

    The nearest come first, of these the named ones, the first ones with their notes; of what is called after the document's
    entity its types alone are told.
    """
    setting, names = about.setting, about.setting.names
    size = np.minimum(np.diff(ptr), LOOKED_AT)
    line = np.repeat(np.arange(len(size), dtype=np.int32), size)
    rows = ranges(ptr[:-1], size)
    node = targets[rows]
    told = names.told[node]
    line, rows, node = line[told], rows[told], node[told]
    order = np.lexsort((node, ~names.named[node], depth[rows], line))
    line, node = line[order], node[order]
    place = np.arange(len(line)) - np.searchsorted(line, line)
    pool = setting.pool
    own = np.where(place < NOTED_TARGETS, pool.annotated[node], pool.shown[node])
    after = np.flatnonzero(names.made[node] & names.typed[node])
    ends = pl.DataFrame(
        {"name": names.alike.gather(node[after]), "own": about.alike.gather(doc[line[after]])}
    )
    called = ends.select(pl.col("name").str.ends_with(pl.col("own"))).to_series().to_numpy()
    own[after[called]] = pool.kinds[node[after[called]]]
    return line, own


def cut_drafts(lines: pl.DataFrame, limit: int) -> pl.DataFrame:
    """At most ``limit`` lines of each document (they stand in order), and one that says what was cut and stands for it."""
    place = pl.int_range(pl.len()).over("doc")
    kept, cut = lines.filter(place < limit), lines.filter(place >= limit)
    if cut.is_empty():
        return kept
    label = pl.format("{} ({})", "label", "total")
    notes = cut.group_by("doc", maintain_order=True).agg(
        total=pl.col("total").sum(),
        labels=label.head(CUT_LABELS).str.join(", "),
        lines=pl.len(),
        targets=pl.col("targets").explode().drop_nulls().unique().sort(),
    )
    more = pl.when(pl.col("lines") > CUT_LABELS).then(pl.lit(", …")).otherwise(pl.lit(""))
    plural = pl.when(pl.col("total") == 1).then(pl.lit("")).otherwise(pl.lit("s"))
    body = pl.format("and {} more relationship{}: {}{}", "total", plural, "labels", more)
    notes = notes.with_columns(body=body)
    total = notes["total"].to_numpy()
    noted = drafts(notes["doc"].to_numpy(), NOTE, "more", "more", notes["body"], total, notes["targets"])
    return pl.concat([kept, noted]).sort("doc", maintain_order=True)


def reified_drafts(about: Described) -> tuple[pl.DataFrame, Bools]:
    """``carried out by: Theodore (in the role of painter)``, and which facts these lines state."""
    setting, facts = about.setting, about.facts
    mask = ~facts.outward & about.kinds("reified")
    rows: list[tuple[int, str, str, int, int]] = []
    for index in np.flatnonzero(mask).tolist():
        node, end = int(facts.target[index]), setting.graph.property_code(int(facts.key[index]) // 2)
        other = _other_end(setting, node, end) if end in ENDS else None
        if other is None:
            mask[index] = False
        else:
            rows.append((int(facts.doc[index]), *_label(setting, node, end == "P02"), other, node))
    if not rows:
        return no_drafts(), mask
    found = pl.DataFrame(sorted(set(rows)), ["doc", "key", "label", "other", "node"], orient="row")
    lines = found.group_by("doc", "key", "label", maintain_order=True).agg("other", "node", total=pl.len())
    shown = (
        lines.select(pl.col("other", "node").list.head(LOOKED_AT))
        .with_row_index("line")
        .explode("other", "node")
    )
    pairs = zip(shown["other"].to_list(), shown["node"].to_list(), strict=True)
    names, pool = coded(pl.Series([_with_role(setting, *pair) for pair in pairs], dtype=pl.String))
    total = lines["total"].to_numpy()
    limit = setting.method.documents.targets
    body = enumerate_all(shown["line"].to_numpy().astype(np.int32), names, pool, total, limit)
    targets = lines.select(pl.concat_list("other", "node").list.unique().list.sort()).to_series()
    return drafts(
        lines["doc"].to_numpy(), OUTGOING, lines["key"], lines["label"], body, total, targets
    ), mask  # fmt: skip


def _other_end(setting: Setting, node: int, end: str) -> int | None:
    rows, by_code = setting.graph.adjacency.forward, setting.graph.adjacency.by_code
    wanted = by_code.get("P02" if end == "P01" else "P01", ())
    found = {int(other) for prop in wanted for other in rows.neighbours(prop, node)} - {node}
    return min(found) if found else None


def _label(setting: Setting, node: int, inverse: bool) -> tuple[str, str]:
    """Key and label of the property that a node reifies: PC14 is P14, read from its range as P14i."""
    for number in setting.graph.types(node).tolist():
        code = setting.graph.class_code(number)
        if code.startswith("PC"):
            stated = "P" + code[2:]
            key = (setting.ontology.inverse(stated) or stated) if inverse else stated
            return key, capital(clean(setting.ontology.label(key, setting.languages, "property")))
    return "reified", "Is related to"


def _with_role(setting: Setting, other: int, node: int) -> str:
    graph, names = setting.graph, setting.names
    roles = {
        int(target)
        for prop, code in enumerate(graph.property_codes)
        if code not in ENDS
        for target in graph.adjacency.forward.neighbours(prop, node)
    }
    listed = ", ".join(names.shown[role] for role in sorted(roles))
    return f"{names.annotated[other]} (in the role of {listed})" if listed else names.annotated[other]


@dataclass(frozen=True, slots=True)
class ChunkDocuments:
    """Tables of schemas fr_documents, fr_lines and matches, sorted by entity (lines: by entity and start), with the graph's
    numbers of nodes."""

    documents: pa.Table
    lines: pa.Table
    matches: pa.Table

    def of(self, held: Bools) -> ChunkDocuments:
        """The rows of these entities alone; ``held`` bool [nodes]."""

        def part(table: pa.Table) -> pa.Table:
            return table.filter(pa.array(held[table.column("entity").to_numpy()]))

        return ChunkDocuments(part(self.documents), part(self.lines), part(self.matches))

    def save(self, folder: Path, numbering: Numbering) -> None:
        """Write the tables with numbers of their own, and what these stand for (see `portable`)."""
        tables = {
            "fr_documents": (self.documents, ["entity"]),
            "fr_lines": (self.lines, ["entity", "targets"]),
            "matches": (self.matches, ["entity", "target"]),
        }
        save_tables(folder, numbering, tables)


def build_chunk(setting: Setting, entities: Ints) -> ChunkDocuments:
    """Documents of those of ``entities`` that have one: every entity but absorbed satellites."""
    chosen = np.unique(np.asarray(entities, np.int32))
    chosen = chosen[((setting.graph.flags[chosen] & FLAG_ENTITY) != 0) & ~setting.satellites.absorbed[chosen]]
    adjacency = setting.graph.adjacency
    matches = walk(adjacency, setting.ontology, setting.ways.walked, chosen, plan=setting.plan)
    about = Described(setting, chosen, gather_facts(adjacency, chosen))
    return ChunkDocuments(*_tables(chosen, _drafts(about)), _matches_table(setting, matches))


def _drafts(about: Described) -> pl.DataFrame:
    """All lines by document, in order."""
    setting, documents = about.setting, about.setting.method.documents
    headers, naming, named = name_drafts(about)
    typing, typed = type_drafts(about)
    dating, spans = date_drafts(about)
    linking, linked = reified_drafts(about)
    outward = about.facts.outward
    dimensions, rights = outward & about.kinds("dimension"), outward & about.kinds("right")
    limits = setting.method.satellites.limits
    stated = named | typed | about.again(typed) | spans | dimensions | rights | linked
    related = Related.of(about, stated)
    direct = direct_drafts(about, related.left_over())
    rest = pl.concat([linking, related.drafts(), direct]).sort("doc", maintain_order=True)
    sections = (
        headers,
        class_drafts(about, typing["doc"]),
        typing,
        naming,
        dating,
        literal_drafts(about, dating["doc"]),
        satellite_drafts(about, about.pairs(dimensions), "dimensions", "Dimensions", limits.dimensions),
        satellite_drafts(about, about.pairs(rights), "rights", "Rights", limits.names),
        cut_drafts(rest, documents.lines),
    )
    return pl.concat(sections).sort("doc", maintain_order=True)


def _tables(entities: Ints, lines: pl.DataFrame) -> tuple[pa.Table, pa.Table]:
    """The documents and their lines, a text being its lines one below the other."""
    text = texts_of(lines)
    length = text.str.len_chars().cast(pl.Int32)
    placed = lines.with_columns(text=text, length=length)
    placed = placed.with_columns(end=(pl.col("length") + 1).cum_sum().over("doc") - 1)
    placed = placed.with_columns(start=pl.col("end") - pl.col("length"))
    documents = placed.group_by("doc", maintain_order=True).agg(pl.col("text").str.join("\n"))
    columns = placed.select("kind", "key", "label", "start", "end", "total", "targets").to_arrow()
    owner = pa.array(entities[lines["doc"].to_numpy()], pa.int32())
    written = pa.table([owner, *columns.columns], names=SCHEMAS["fr_lines"].names).cast(SCHEMAS["fr_lines"])
    texts = [pa.array(entities, pa.int32()), documents["text"].to_arrow()]
    return pa.table(texts, names=SCHEMAS["fr_documents"].names).cast(SCHEMAS["fr_documents"]), written


def _matches_table(setting: Setting, matches: Matches) -> pa.Table:
    """Matches with the paths' numbers in the method's catalogue: the most specific path that gets there."""
    paths = max(map(len, setting.ways.order), default=0)
    order = np.array([np.pad(one, (0, paths - len(one))) for one in setting.ways.order], np.int16)
    path = order[matches.relationship, matches.path] if len(matches) else matches.path
    columns = (matches.source, matches.relationship, matches.target, path)
    kinds = SCHEMAS["matches"].types
    return pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], schema=SCHEMAS["matches"])
