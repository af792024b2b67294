"""Lines of relationships: Fundamental Relationships, the direct triples that none of their lines states, and relationships
that have properties of their own (PC classes): who did something, and in which role."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.documents.drafts import clean, coded, drafts, enumerate_all, lists, no_drafts
from crmrag_assets.documents.identity import Described
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.ways import Facts, Lines, informative, stating
from crmrag_query.documents.documents import FR, INCOMING, NOTE, OUTGOING
from crmrag_query.graph.arrays import Ints, Longs, ranges

Bools = npt.NDArray[np.bool_]
LOOKED_AT = 200  # targets of a line whose names are compared; a hub has more than a line can show
CUT_LABELS = 5  # labels of lines that were cut, in the note about them
VAGUE_TARGETS = 3  # names on a line that says little, such as "has met": more would fill windows with little
NOTED_TARGETS = 3  # targets of a line that are shown with notes, for the same reason
UNTOLD = frozenset({"has met", "has met (from)", "has met (temporal)"})
"""Labels of relationships that claim more than their paths show, such as that the maker of a work has met its owner of today:
they join entities for retrieval, and no text states them."""
ENDS = ("P01", "P02")  # from a PC class to the domain and the range of the property that it reifies


@dataclass(frozen=True)
class Related:
    """The relationship lines of some documents: those that say something of their own, the most informative first.

    ``stated`` bool [facts]: facts that other lines of the document state: types, names, dates and the like.
    """

    setting: Setting
    facts: Facts
    lines: Lines
    stated: Bools

    @cached_property
    def _stating(self) -> tuple[Longs, Longs]:
        return stating(self.lines, self.facts, self.setting.rules)

    @cached_property
    def chosen(self) -> Longs:
        """Numbers of the lines that are shown, by document and rank; at most as many of each as configured."""
        lines, limits = self.lines, self.setting.method.documents
        fact, match = self._stating
        above = np.zeros(len(lines.matches), bool)
        above[match[self.stated[fact]]] = True
        untold = np.array([one.label in UNTOLD for one in self.setting.catalogue], bool)
        kept = np.flatnonzero(informative(lines, self.setting.rules, above) & ~untold[lines.relationship])
        # Lines whose relationship another kept line of the document specialises come after the others.
        specialised = self.setting.rules.above
        special, upper = np.nonzero(specialised[:, lines.relationship[kept]].T)
        pair = lines.doc[kept].astype(np.int64) * len(specialised)
        general = np.isin(pair + lines.relationship[kept], pair[special] + upper)
        many = lines.sizes[kept] > limits.targets
        kept = kept[np.lexsort((lines.relationship[kept], many, general, lines.doc[kept]))]
        place = np.arange(len(kept)) - np.searchsorted(lines.doc[kept], lines.doc[kept])
        return kept[place < limits.relationship_lines]

    def drafts(self) -> pl.DataFrame:
        """The chosen lines."""
        setting, lines, chosen = self.setting, self.lines, self.chosen
        if not len(chosen):
            return no_drafts()
        catalogue, limits = setting.catalogue, setting.method.documents
        vague = np.array([one.label in setting.vague for one in catalogue])[lines.relationship[chosen]]
        size = lines.sizes[chosen]
        targets = lines.matches.target[ranges(lines.ptr[chosen], size)]
        ptr = np.concatenate([[0], np.cumsum(size)])
        names = _names(setting, ptr, targets, np.where(vague, 0, NOTED_TARGETS))
        limit = np.where(vague, VAGUE_TARGETS, limits.targets)
        keys = pl.Series([one.id for one in catalogue]).gather(lines.relationship[chosen])
        body = enumerate_all(*names, setting.pool.texts, size, limit)
        return drafts(lines.doc[chosen], FR, keys, self._labels(chosen), body, size, lists(ptr, targets))

    def _labels(self, chosen: Longs) -> pl.Series:
        """``refers to or is about (portrays)``: with the property's own name where one states the whole line."""
        lines = self.lines
        fact, match = self._stating
        line = lines.line[match]
        stated = pl.DataFrame(
            {"line": line, "match": match, "word": self.setting.property_words[self.facts.key[fact]]}
        )
        found = stated.group_by("line").agg(
            pl.col("match").n_unique(), pl.col("word").min(), most=pl.col("word").max()
        )
        words = np.full(len(lines.doc), -1, np.int64)
        whole = found.filter(
            (pl.col("word") == pl.col("most"))
            & (pl.col("match") == pl.Series(lines.sizes).gather(found["line"]))
        )
        words[whole["line"].to_numpy()] = whole["word"].to_numpy()
        pairs, which = np.unique(
            np.stack([lines.relationship[chosen], words[chosen]]), axis=1, return_inverse=True
        )
        labels = []
        for number, word in pairs.T.tolist():
            label = self.setting.catalogue[number].label
            plainer = self.setting.property_texts[word] if word >= 0 else ""
            labels.append(f"{label} ({plainer})" if plainer and plainer not in label else label)
        return pl.Series(labels, dtype=pl.String).gather(which.ravel())

    def left_over(self, open_: Bools) -> Bools:
        """Mask of the ``open_`` facts that none of the chosen lines states by itself (facts: method, mistake 5)."""
        fact, match = self._stating
        rest = open_.copy()
        rest[fact[np.isin(self.lines.line[match], self.chosen)]] = False
        return rest


def direct_drafts(setting: Setting, facts: Facts, open_: Bools) -> pl.DataFrame:
    """A line for each way of saying it: P46i stated here and P46 stated there both read "forms part of"."""
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
    names = _names(setting, ptr, targets, np.full(len(size), NOTED_TARGETS))
    body = enumerate_all(*names, setting.pool.texts, size, setting.method.documents.targets)
    properties = groups["key"].to_numpy() >> 1
    return drafts(
        groups["doc"].to_numpy(),
        np.where(groups["incoming"].to_numpy(), INCOMING, OUTGOING).astype(np.uint8),
        pl.Series(setting.properties, dtype=pl.String).gather(properties),
        pl.Series(setting.property_texts, dtype=pl.String).gather(groups["word"]),
        body,
        size,
        groups["target"],
    )


def _names(setting: Setting, ptr: Longs, targets: Ints, noted: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """For lists of targets (ascending) the names to be enumerated: list and number in the pool. Named nodes come first, the
    first ``noted`` [lists] of them with their notes."""
    size = np.minimum(np.diff(ptr), LOOKED_AT)
    line = np.repeat(np.arange(len(size), dtype=np.int32), size)
    node = targets[ranges(ptr[:-1], size)]
    order = np.lexsort((node, ~setting.names.named[node], line))
    node = node[order]
    place = ranges(np.zeros_like(size), size)
    pool = setting.pool
    return line, np.where(place < noted[line], pool.annotated[node], pool.shown[node])


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
            return key, clean(setting.ontology.label(key, setting.languages, "property"))
    return "reified", "is related to"


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
