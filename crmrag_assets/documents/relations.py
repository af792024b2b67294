"""Lines of relationships: Fundamental Relationships, and the direct triples that none of their lines states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.documents.drafts import drafts, enumerate_all, lists, no_drafts
from crmrag_assets.documents.facts import Facts
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.stated import Lines, informative, stating
from crmrag_query.documents.schema import FR, INCOMING, NOTE, OUTGOING
from crmrag_query.graph.arrays import Ints, Longs

Bools = npt.NDArray[np.bool_]
LOOKED_AT = 200  # targets of a line whose names are compared; a hub has more than a line can show
CUT_LABELS = 5  # labels of lines that were cut, in the note about them


@dataclass(frozen=True)
class Related:
    """The relationship lines of some documents: those that say something of their own, the most informative first.

    ``told`` bool [facts]: facts that other lines of the document state: types, names, dates and the like.
    """

    setting: Setting
    facts: Facts
    lines: Lines
    told: Bools

    @cached_property
    def _stating(self) -> tuple[Longs, Longs]:
        return stating(self.lines, self.facts, self.setting.rules)

    @cached_property
    def chosen(self) -> Longs:
        """Numbers of the lines that are shown, by document and rank; at most as many of each as configured."""
        lines, limits = self.lines, self.setting.method.documents
        fact, match = self._stating
        above = np.zeros(len(lines.matches), bool)
        above[match[self.told[fact]]] = True
        kept = np.flatnonzero(informative(lines, self.setting.rules, above))
        general = self._general(kept)
        many = lines.sizes[kept] > limits.targets
        kept = kept[np.lexsort((lines.relationship[kept], many, general, lines.doc[kept]))]
        place = np.arange(len(kept)) - np.searchsorted(lines.doc[kept], lines.doc[kept])
        return kept[place < limits.relationship_lines]

    def _general(self, kept: Longs) -> Bools:
        """Mask of the kept lines whose relationship another kept line of the document specialises."""
        lines, above = self.lines, self.setting.rules.above
        special, upper = np.nonzero(above[:, lines.relationship[kept]].T)
        count = len(above)
        uppers = lines.doc[kept][special].astype(np.int64) * count + upper
        return np.isin(lines.doc[kept].astype(np.int64) * count + lines.relationship[kept], uppers)

    def drafts(self) -> pl.DataFrame:
        """The chosen lines."""
        setting, lines, chosen = self.setting, self.lines, self.chosen
        if not len(chosen):
            return no_drafts()
        catalogue, limits = setting.catalogue, setting.method.documents
        vague = np.array([one.label in setting.vague for one in catalogue])[lines.relationship[chosen]]
        ptr, targets = _taken(lines.ptr, lines.matches.target, chosen)
        names = _names(setting, ptr, targets, np.where(vague, 0, limits.noted_targets))
        size = lines.sizes[chosen]
        limit = np.where(vague, limits.vague_targets, limits.targets)
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
        labels = [self._label(number, word) for number, word in pairs.T.tolist()]
        return pl.Series(labels, dtype=pl.String).gather(which.ravel())

    def _label(self, relationship: int, word: int) -> str:
        label = self.setting.catalogue[relationship].label
        plainer = self.setting.property_texts[word] if word >= 0 else ""
        return f"{label} ({plainer})" if plainer and plainer not in label else label

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
    names = _names(setting, ptr, targets, np.full(len(size), setting.method.documents.noted_targets))
    body = enumerate_all(*names, setting.pool.texts, size, setting.method.documents.targets)
    properties = groups["key"].to_numpy() >> 1
    keys = [setting.graph.property_code(n) or setting.graph.property_iri(n) for n in range(len(weights))]
    return drafts(
        groups["doc"].to_numpy(),
        np.where(groups["incoming"].to_numpy(), INCOMING, OUTGOING).astype(np.uint8),
        pl.Series(keys, dtype=pl.String).gather(properties),
        pl.Series(setting.property_texts, dtype=pl.String).gather(groups["word"]),
        body,
        size,
        groups["target"],
    )


def _taken(ptr: Longs, values: Ints, rows: Longs) -> tuple[Longs, Ints]:
    """The lists of these rows one after the other: where each begins, int64 [rows+1], and their values."""
    count = ptr[rows + 1] - ptr[rows]
    ends = np.concatenate([[0], np.cumsum(count)])
    return ends, values[np.repeat(ptr[rows] - ends[:-1], count) + np.arange(ends[-1])]


def _names(setting: Setting, ptr: Longs, targets: Ints, noted: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
    """For lists of targets (ascending) the names to be enumerated: list and number in the pool. Named nodes come first, the
    first ``noted`` [lists] of them with their notes."""
    size = np.minimum(np.diff(ptr), LOOKED_AT)
    line = np.repeat(np.arange(len(size), dtype=np.int32), size)
    begin = np.cumsum(size) - size
    node = targets[np.arange(len(line)) - np.repeat(begin - ptr[:-1], size)]
    order = np.lexsort((node, ~setting.names.named[node], line))
    node = node[order]
    place = np.arange(len(line)) - np.repeat(begin, size)
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
        told=label.head(CUT_LABELS).str.join(", "),
        lines=pl.len(),
        targets=pl.col("targets").explode().drop_nulls().unique().sort(),
    )
    more = pl.when(pl.col("lines") > CUT_LABELS).then(pl.lit(", …")).otherwise(pl.lit(""))
    plural = pl.when(pl.col("total") == 1).then(pl.lit("")).otherwise(pl.lit("s"))
    body = pl.format("and {} more relationship{}: {}{}", "total", plural, "told", more)
    notes = notes.with_columns(body=body)
    said = drafts(
        notes["doc"].to_numpy(),
        NOTE,
        "more",
        "more",
        notes["body"],
        notes["total"].to_numpy(),
        notes["targets"],
    )
    return pl.concat([kept, said]).sort("doc", maintain_order=True)
