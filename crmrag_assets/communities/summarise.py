"""Summaries by a language model: each community's title and text, from its most central members or the themes within it.

What it is told is data, as JSON. Replies are kept by what was asked (``ModelPool``), so that only communities whose members'
texts changed are written again. Where none comes, what is composed stands, and the failure is counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from crmrag_assets.build.step import Progress
from crmrag_query.documents.documents import FR, Documents, open_table
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Longs, ranges
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph
from crmrag_query.llm.model import Request
from crmrag_query.llm.pool import ModelPool
from crmrag_query.ontology.load import Category
from crmrag_query.retrieval.aggregation import DATING, DateIndex
from crmrag_query.retrieval.communities import WORDS, Communities, Summaries, Theme

TITLE, TEXT = 100, 600  # characters of a title, and of a member's text that is told
PARTS = 20  # themes within one that are told, the largest
TOKENS = 300  # of a reply
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "summary": {"type": "string"}},
    "required": ["title", "summary"],
    "additionalProperties": False,
}


@dataclass
class Writer:
    """A model, asked through a pool, that writes themes in ``language``."""

    pool: ModelPool
    instructions: str
    language: str

    def write(self, summaries: Summaries, told: int, progress: Progress) -> dict[int, Theme]:
        """The themes that came, by community: those of the finest level from members, others from the themes within them."""
        communities, done = summaries.communities, 0
        found: dict[int, Theme] = {}
        for told_of in communities.levels:
            numbers = communities.of_level(told_of["level"]).tolist()
            requests = [self._request(_content(summaries, one, told, found)) for one in numbers]
            for one, said in zip(numbers, self.pool.map(requests, read_theme), strict=True):
                done += 1
                if said is not None:
                    found[one] = Theme(*said, self.pool.model.name)
                progress.advance(done, len(communities))
        return found

    def _request(self, content: str) -> Request:
        instructions = self.instructions.replace("{language}", self.language)
        return Request(
            [{"role": "system", "content": instructions}, {"role": "user", "content": content}],
            SCHEMA,
            most=TOKENS,
        )


def read_theme(reply: str) -> tuple[str, str]:
    """Title and text of a reply, each in one line; ValueError that says what is wrong with it."""
    text = reply.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("That is no JSON.") from None
    if not isinstance(found, dict) or not all(
        isinstance(found.get(key), str) for key in ("title", "summary")
    ):
        raise ValueError('The object must have "title" and "summary", two texts.')
    title, summary = (" ".join(found[key].split()) for key in ("title", "summary"))
    if not title or not summary or not (title + summary).isprintable():
        raise ValueError("Neither may be empty or hold control characters.")
    if len(title) > TITLE:
        raise ValueError(f"The title has more than {TITLE} characters.")
    if len(summary.split()) > WORDS:
        raise ValueError(f"The summary has more than {WORDS} words.")
    return title, summary


def _content(summaries: Summaries, community: int, told: int, written: dict[int, Theme]) -> str:
    """What the model is told of a community, as JSON."""
    parts: Sequence[int] = summaries.communities.parts(community)[:PARTS].tolist()
    if parts:
        themes = [written.get(one) or summaries.tell(one) for one in parts]
        return json.dumps(
            {"themes": [{"title": one.title, "summary": one.text} for one in themes]}, ensure_ascii=False
        )
    documents = summaries.documents
    members = [
        {"name": documents.label(one), "text": documents.text(one)[:TEXT]}
        for one in summaries.communities.members(community, told).tolist()
    ]
    return json.dumps({"members": members}, ensure_ascii=False)


KEPT = 5  # kinds, relations and places of a community that are kept
HUB = 50  # targets of a line beyond which it names what nearly everything shares


def counted(
    community: npt.NDArray[np.integer], item: npt.NDArray[np.integer], least: int = 1
) -> pl.DataFrame:
    """How often an item is in a community, of those that are so ``least`` times: ``community``, ``item`` and ``count``, by
    community, the most frequent first."""
    items = pl.DataFrame({"community": community, "item": item.astype(np.int64)})
    found = items.group_by("community", "item").agg(count=pl.len()).filter(pl.col("count") >= least)
    return found.sort("community", "count", "item", descending=[False, True, False])


def _first(found: pl.DataFrame) -> dict[int, tuple[list[int], list[int]]]:
    """Items and their counts by community, the first KEPT."""
    first = found.group_by("community").agg(pl.col("item", "count").head(KEPT))
    return {community: (items, counts) for community, items, counts in first.iter_rows()}


def gather(
    communities: Communities, documents: Documents, dates: DateIndex, told: int
) -> Iterator[dict[str, Any]]:
    """A row of the summaries for each community, in order; relations, places and periods by its ``told`` most central
    members, kinds by all."""
    count, graph = len(communities), documents.graph
    size = np.diff(communities.member_ptr)
    everyone = np.repeat(np.arange(count, dtype=np.int32), size)
    central = ranges(np.zeros(count, np.int64), size) < told
    kinds = _first(_kinds(graph, documents, everyone, communities.member))
    labels, *found = _shared(documents, everyone[central], communities.member[central])
    shared, places = map(_first, found)
    begin, end = _periods(graph, documents, dates, everyone[central], communities.member[central], count)
    for one in range(count):
        (kind, kind_counts), (relation, shared_counts), (place, _) = (
            rows.get(one, ([], [])) for rows in (kinds, shared, places)
        )
        yield {
            "kinds": kind,
            "kind_counts": kind_counts,
            "shared": [labels[item // graph.nodes] for item in relation],
            "shared_targets": [item % graph.nodes for item in relation],
            "shared_counts": shared_counts,
            "places": place,
            "begin": int(begin[one]) if begin[one] <= end[one] else None,
            "end": int(end[one]) if begin[one] <= end[one] else None,
            "title": "", "text": "", "model": "",
        }  # fmt: skip


def _kinds(graph: Graph, documents: Documents, community: Ints, member: Ints) -> pl.DataFrame:
    """What members are: their types that have a name; of what has none its first class, as -1 - its number. Events count only
    where a community has nothing else: what was made says more than that it was made."""
    things = documents.category_of[member] != int(Category.Event)
    has_things = np.zeros(int(community.max(initial=-1)) + 1, bool)
    has_things[community[things]] = True
    kept = things | ~has_things[community]
    community, entity = community[kept], documents.entities[member[kept]]
    at, kind = [], []
    untyped = np.ones(len(entity), bool)
    for prop in graph.adjacency.by_code.get("P2", ()):
        row, types = graph.adjacency.forward.expand(prop, entity)
        named = (graph.flags[types] & FLAG_LABELLED) != 0
        row, types = row[named], types[named]
        at.append(row)
        kind.append(types.astype(np.int64))
        untyped[row] = False
    ptr, val = graph.type_rows
    bare = np.flatnonzero(untyped & (ptr[entity + 1] > ptr[entity]))
    at.append(bare)
    kind.append(-1 - val[ptr[entity[bare]]].astype(np.int64))
    return counted(community[np.concatenate(at)], np.concatenate(kind))


def _shared(
    documents: Documents, community: Ints, member: Ints
) -> tuple[list[str], pl.DataFrame, pl.DataFrame]:
    """Labels of relationships; which of them at least two members have to the same node, as label * nodes + node, of several
    to one node the most frequent; and places that at least two are related to. No line counts that says little: those that
    are not told, and those of hubs."""
    graph = documents.graph
    central = pl.DataFrame({"community": community, "document": member})
    parts = []
    for batch in open_table(documents.folder, "lines").to_batches():
        lines = pl.DataFrame(pl.from_arrow(batch)).filter((pl.col("kind") == FR) & (pl.col("total") <= HUB))
        label = pl.col("label").cast(pl.String).str.split(" (").list.first()
        told = lines.select("document", label=label, target="targets")
        # Each statement once for each community (of any level) that its document is among the central members of.
        told = told.join(central, on="document", maintain_order="left")
        parts.append(told.explode("target").drop_nulls("target"))
    stated = pl.concat(parts)
    labels = stated.select(pl.col("label").unique(maintain_order=True)).with_row_index("number")
    category = graph.category_of_node[stated["target"].to_numpy()]
    place, time = category == int(Category.Place), category == int(Category.Time)
    near = stated.filter(pl.Series(place)).select("community", "document", "target").unique()
    others = stated.filter(pl.Series(~place & ~time)).join(labels, on="label")
    item = others["number"].to_numpy().astype(np.int64) * graph.nodes + others["target"].to_numpy()
    shared = counted(others["community"].to_numpy(), item, least=2)
    shared = shared.with_columns(node=pl.col("item") % graph.nodes)
    shared = shared.unique(["community", "node"], keep="first", maintain_order=True).drop("node")
    return (
        labels["label"].to_list(),
        shared,
        counted(near["community"].to_numpy(), near["target"].to_numpy(), 2),
    )


def _periods(
    graph: Graph, documents: Documents, dates: DateIndex, community: Ints, member: Ints, count: int
) -> tuple[Longs, Longs]:
    """From the first begin to the last end of members that are dated at both ends, int64 [communities]; an end below the
    begin for none."""
    begin, end = np.full(graph.nodes, OPEN_END, np.int64), np.full(graph.nodes, OPEN_BEGIN, np.int64)
    for category, relationships in DATING.items():
        for relationship in relationships:
            if relationship not in dates.relationships:
                continue
            number = dates.relationships.index(relationship)
            here = slice(int(dates.ptr[number]), int(dates.ptr[number + 1]))
            entity, low, high = dates.entity[here], dates.begin[here], dates.end[here]
            closed = (
                (low != OPEN_BEGIN) & (high != OPEN_END) & (graph.category_of_node[entity] == int(category))
            )
            np.minimum.at(begin, entity[closed], low[closed])
            np.maximum.at(end, entity[closed], high[closed])
    first, last = np.full(count, OPEN_END, np.int64), np.full(count, OPEN_BEGIN, np.int64)
    entity = documents.entities[member]
    np.minimum.at(first, community, begin[entity])
    np.maximum.at(last, community, end[entity])
    return first, last
