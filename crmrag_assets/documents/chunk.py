"""Documents of one chunk's entities, before any is chained to another."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa

from crmrag_assets.documents.drafts import texts_of
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
from crmrag_assets.documents.relations import Related, cut_drafts, direct_drafts, reified_drafts
from crmrag_assets.documents.setting import Setting
from crmrag_assets.documents.ways import gather_facts
from crmrag_query.documents.documents import SCHEMAS
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints
from crmrag_query.relationships.engine import Matches, walk


@dataclass(frozen=True, slots=True)
class ChunkDocuments:
    """Tables of schemas fr_documents, fr_lines and matches, sorted by entity (lines: by entity and start), with the graph's
    numbers of nodes."""

    documents: pa.Table
    lines: pa.Table
    matches: pa.Table

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
    end = (length + 1).cum_sum() - 1
    placed = lines.with_columns(text=text, length=length, end=end)
    start = pl.col("end") - pl.col("length")
    placed = placed.with_columns(start=start - start.first().over("doc"))
    placed = placed.with_columns(end=pl.col("start") + pl.col("length"))
    documents = placed.group_by("doc", maintain_order=True).agg(pl.col("text").str.join("\n"))
    columns = placed.select("kind", "key", "label", "start", "end", "total", "targets").to_arrow()
    owner = pa.array(entities[lines["doc"].to_numpy()], pa.int32())
    written = pa.table([owner, *columns.columns], names=SCHEMAS["fr_lines"].names).cast(SCHEMAS["fr_lines"])
    texts = [pa.array(entities, pa.int32()), documents["text"].to_arrow()]
    return pa.table(texts, names=SCHEMAS["fr_documents"].names).cast(SCHEMAS["fr_documents"]), written


def _matches_table(setting: Setting, matches: Matches) -> pa.Table:
    """Matches with the paths' numbers in the method's catalogue: the most specific path that gets there."""
    path = matches.path.copy()
    for number in np.unique(matches.relationship).tolist():
        at = matches.relationship == number
        path[at] = setting.ways.order[number][path[at]]
    columns = (matches.source, matches.relationship, matches.target, path)
    kinds = SCHEMAS["matches"].types
    return pa.table([pa.array(c, k) for c, k in zip(columns, kinds, strict=True)], schema=SCHEMAS["matches"])
