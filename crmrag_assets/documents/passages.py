"""Passages: the whole of texts of which documents give the beginning, in parts that overlap, each with whom it describes."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.documents.drafts import capital, clean, clean_all
from crmrag_assets.documents.identity import ADDRESS, headings
from crmrag_assets.documents.setting import REFERRING, Setting, numbers_of
from crmrag_query.documents.documents import BATCH, SCHEMAS, write_batches
from crmrag_query.graph.arrays import Ints, Longs
from crmrag_query.text import sentence_starts


def split(text: str, characters: int, overlap: int) -> list[tuple[int, int]]:
    """Parts of a text as (start, end), of at most so many characters, which overlap by at most ``overlap`` (at most half of
    these). A part ends, and the next one begins, between sentences where there is such a place, else between words."""
    starts, parts, start = sentence_starts(text), list[tuple[int, int]](), 0
    while len(text) - start > characters:
        last = start + characters
        middle = start + characters // 2 + 1
        at = bisect_right(starts, last) - 1
        end = (
            starts[at] if at >= 0 and starts[at] >= middle else text.rfind(" ", middle - 1, last) + 1 or last
        )
        parts.append((start, end))
        at = bisect_left(starts, end - overlap)
        first = (
            starts[at] if at < len(starts) and starts[at] < end else text.find(" ", end - overlap, end) + 1
        )
        start = first or end - overlap
    return [*parts, (start, len(text))]


def write_passages(setting: Setting, home: Ints, out: Path) -> int:
    """Write the passages of all long texts, see `passages`; returns how many."""
    return write_batches(out, "passages", passages(setting, home))


def passages(setting: Setting, home: Ints) -> Iterator[pa.Table]:
    """The passages of all long texts as tables, by document, entity and place in the data.

    ``home`` int32 [n]: document of each node, -1 for none, of which there are no passages.
    """
    rows, parents = _texts(setting, home)
    order = np.lexsort((rows, parents, home[parents]))
    rows, parents = rows[order], parents[order]
    for at in range(0, len(rows), BATCH):
        yield _page(setting, home, rows[at : at + BATCH], parents[at : at + BATCH])


def _texts(setting: Setting, home: Ints) -> tuple[Longs, Ints]:
    """Rows of the long literals that become passages, and the entity that each describes: of a text about one entity alone
    that entity, else whoever has the literal; of a satellite the entity that it belongs to."""
    graph, rules, satellites = setting.graph, setting.method.documents, setting.satellites
    table = graph.literal_table
    wanted = numbers_of(graph, rules.passage_properties)
    rows = np.flatnonzero(np.isin(table.column("property").to_numpy(), wanted))
    length = pc.utf8_length(table.column("value").take(pa.array(rows))).to_numpy()
    rows = rows[length >= rules.passage_from]
    if not len(rows):
        return rows, np.empty(0, np.int32)
    holder = table.column("subject").to_numpy()[rows]
    parents = np.where(setting.described[holder] >= 0, setting.described[holder], holder).astype(np.int32)
    absorbed = satellites.absorbed[parents]
    parents[absorbed] = satellites.parents.val[satellites.parents.ptr[parents[absorbed]]]
    held = home[parents] >= 0
    return rows[held], parents[held]


def _page(setting: Setting, home: Ints, rows: Longs, parents: Ints) -> pa.Table:
    graph, rules = setting.graph, setting.method.documents
    columns = graph.literal_table.select(["subject", "property", "value"]).take(pa.array(rows))
    values = clean_all(pl.Series(pl.from_arrow(columns.column("value"))))
    entities, place = np.unique(parents, return_inverse=True)
    heads = headings(setting, entities).to_list()
    sources, properties = (columns.column(name).to_numpy() for name in ("subject", "property"))
    about = rules.words.get(f"{REFERRING}i", "")

    def parts() -> Iterator[tuple[int, int, int, str, str, int, int, str]]:
        told = set[tuple[int, str]]()
        facts = zip(
            parents.tolist(), place.tolist(), sources.tolist(), properties.tolist(), values, strict=True
        )
        for entity, at, source, prop, value in facts:
            if len(value) < rules.passage_from or (entity, value) in told or re.match(ADDRESS, value):
                continue
            told.add((entity, value))
            key = setting.properties[prop]
            label = about if entity == setting.described[source] else ""
            label = label or rules.words.get(key) or capital(clean(graph.property_label(prop)) or key)
            for start, end in split(value, rules.passage_characters, rules.passage_overlap):
                text = f"{heads[at]}\n{label}: {value[start:end].rstrip()}"
                yield int(home[entity]), entity, source, key, label, start, end, text

    schema = SCHEMAS["passages"]
    found = list(zip(*parts(), strict=True)) or [()] * len(schema)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(found, schema, strict=True)], schema
    )
