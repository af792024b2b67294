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
import pyarrow as pa

from crmrag_assets.build.step import Progress
from crmrag_query.documents.documents import FR, Documents, open_table
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Longs, ranges, run_starts
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


@dataclass(frozen=True)
class Counted:
    """Counts by community: ``community`` ascending, within one the most frequent first; ``item`` and ``count`` of each."""

    community: Ints
    item: npt.NDArray[np.int64]
    count: Longs

    @classmethod
    def of(cls, community: Ints, item: npt.NDArray[np.integer], least: int = 1) -> Counted:
        order = np.lexsort((item, community))
        community, items = community[order], item[order].astype(np.int64)
        first = np.flatnonzero(run_starts(community, items))
        count = np.diff(first, append=len(items)).astype(np.int64)
        kept = count >= least
        community, items, count = community[first][kept], items[first][kept], count[kept]
        order = np.lexsort((items, -count, community))
        return cls(community[order], items[order], count[order])

    def rows(self, communities: int) -> list[list[tuple[int, int]]]:
        """(item, count) of each community, the first KEPT."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(communities)]
        ptr = np.searchsorted(self.community, np.arange(communities + 1))
        place = np.arange(len(self.community)) - ptr[self.community]
        for at in np.flatnonzero(place < KEPT).tolist():
            found[int(self.community[at])].append((int(self.item[at]), int(self.count[at])))
        return found


def gather(
    communities: Communities, documents: Documents, dates: DateIndex, told: int
) -> Iterator[dict[str, Any]]:
    """A row of the summaries for each community, in order; relations, places and periods by its ``told`` most central
    members, kinds by all."""
    count, graph = len(communities), documents.graph
    size = np.diff(communities.member_ptr)
    everyone = np.repeat(np.arange(count, dtype=np.int32), size)
    central = ranges(np.zeros(count, np.int64), size) < told
    kinds = _kinds(graph, documents, everyone, communities.member).rows(count)
    labels, shared, places = _shared(documents, everyone[central], communities.member[central])
    begin, end = _periods(graph, documents, dates, everyone[central], communities.member[central], count)
    for one, (kind, relation, place) in enumerate(
        zip(kinds, shared.rows(count), places.rows(count), strict=True)
    ):
        yield {
            "kinds": [item for item, _ in kind],
            "kind_counts": [n for _, n in kind],
            "shared": [labels[item // graph.nodes] for item, _ in relation],
            "shared_targets": [item % graph.nodes for item, _ in relation],
            "shared_counts": [n for _, n in relation],
            "places": [item for item, _ in place],
            "begin": int(begin[one]) if begin[one] <= end[one] else None,
            "end": int(end[one]) if begin[one] <= end[one] else None,
            "title": "", "text": "", "model": "",
        }  # fmt: skip


def _kinds(graph: Graph, documents: Documents, community: Ints, member: Ints) -> Counted:
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
    return Counted.of(community[np.concatenate(at)], np.concatenate(kind))


def _shared(documents: Documents, community: Ints, member: Ints) -> tuple[list[str], Counted, Counted]:
    """Labels of relationships; which of them at least two members have to the same node, as label * nodes + node; and
    places that at least two are related to. No line counts that says little: those that are not told, and those of hubs."""
    graph = documents.graph
    told = np.zeros(documents.count, bool)
    told[member] = True
    numbers: dict[str, int] = {}
    parts = []
    for batch in open_table(documents.folder, "lines").to_batches():
        document, kind, total = (batch.column(name).to_numpy() for name in ("document", "kind", "total"))
        at = np.flatnonzero((kind == FR) & told[document] & (total <= HUB))
        said = batch.column("label").take(pa.array(at)).to_pylist()
        own = [numbers.setdefault(label.partition(" (")[0], len(numbers)) for label in said]
        targets = batch.column("targets")
        first = targets.offsets.to_numpy()
        values = targets.values.to_numpy(zero_copy_only=False)
        length = (first[at + 1] - first[at]).astype(np.int64)
        parts.append(
            (
                np.repeat(document[at], length),
                np.repeat(np.array(own, np.int64), length),
                values[ranges(first[at].astype(np.int64), length)],
            )
        )
    none = np.empty(0, np.int64)
    source, label, target = (
        np.concatenate([none, *column]).astype(np.int64) for column in zip(*parts, strict=True)
    )
    # Each statement once for each community (of any level) that its document is among the central members of.
    order = np.argsort(member, kind="stable")
    low, high = (np.searchsorted(member[order], source, side) for side in ("left", "right"))
    times = high - low
    of = community[order][ranges(low, times)]
    label, target = np.repeat(label, times), np.repeat(target, times)
    category = graph.category_of_node[target]
    place, time = category == int(Category.Place), category == int(Category.Time)
    pairs = np.unique(np.stack([of[place], np.repeat(source, times)[place], target[place]]), axis=1)
    related = ~place & ~time
    shared = Counted.of(of[related].astype(np.int32), label[related] * graph.nodes + target[related], least=2)
    return list(numbers), _once(shared, graph.nodes), Counted.of(pairs[0].astype(np.int32), pairs[2], least=2)


def _once(found: Counted, nodes: int) -> Counted:
    """Of several relations to one node the most frequent."""
    key = found.community.astype(np.int64) * nodes + found.item % nodes
    # The first of each within a community is the most frequent.
    kept = np.sort(np.unique(key, return_index=True)[1])
    return Counted(found.community[kept], found.item[kept], found.count[kept])


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
