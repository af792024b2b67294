"""Building the profile of a data set: what occurs in it, how often, with examples, as JSON and as a page to read; and its
Fundamental Relationships, pairs by relationship and by each of their paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crmrag_assets.profile.kinds import (
    EXAMPLES,
    TOP,
    Bools,
    Ground,
    Modelling,
    by_category,
    grouped,
    most,
    profile_classes,
    profile_properties,
    profile_types,
    type_nodes,
    typed,
)
from crmrag_assets.profile.text import profile_markdown
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Longs, open_table
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.load import Category, CategoryMap, Ontology
from crmrag_query.plans.profile import (
    PROFILE,
    READABLE,
    SCHEMA_VERSION,
    Content,
    ExamplePair,
    PathProfile,
    RelationshipProfile,
)
from crmrag_query.relationships.engine import Catalogue, Matches, Relationship, make_plan, walk_blocks
from crmrag_query.retrieval.aggregation import DateIndex

PENDING = 1 << 22  # distinct keys that a tally holds before it adds them up
SOURCES = 1 << 14  # entities that are walked in a turn
PAIRS = 1 << 20  # that are walked, and counted, at once

NUMBERS = ("pairs", "sources", "by_path", "alone", "categories")


def path_by_path(catalogue: Catalogue) -> tuple[Catalogue, Ints]:
    """Each path as a relationship of its own, and the number of the relationship that it is of."""
    split = [
        (Relationship(path.id, one.label, one.domain, one.range, "", (path,)), number)
        for number, one in enumerate(catalogue)
        for path in one.paths
    ]
    numbers = np.array([number for _, number in split], np.int32)
    return Catalogue(catalogue.name, tuple(one for one, _ in split)), numbers


@dataclass
class Tally:
    """How often each of many keys occurs, added up as they come."""

    keys: list[Longs] = field(default_factory=lambda: [np.empty(0, np.int64)])
    counts: list[Longs] = field(default_factory=lambda: [np.empty(0, np.int64)])

    def add(self, keys: Longs, bound: int) -> None:
        """Add keys below ``bound``."""
        if bound <= len(keys):  # else an array of all possible keys is larger than that of these
            counts = np.bincount(keys, minlength=bound)
            found = np.flatnonzero(counts)
            self.take(found, counts[found])
        else:
            self.take(*np.unique(keys, return_counts=True))

    def take(self, found: Longs, counts: Longs) -> None:
        """Add distinct keys that were counted before."""
        self.keys.append(found)
        self.counts.append(counts)
        if sum(map(len, self.keys[1:])) > max(PENDING, len(self.keys[0])):
            self.total()

    def total(self) -> tuple[Longs, Longs]:
        """Distinct keys, ascending, and their counts."""
        keys, row = np.unique(np.concatenate(self.keys), return_inverse=True)
        counts = np.zeros(len(keys), np.int64)
        np.add.at(counts, row, np.concatenate(self.counts))
        self.keys, self.counts = [keys], [counts]
        return keys, counts


def distinct_pairs(group: Longs, target: Ints, path: npt.NDArray[np.int16]) -> tuple[Longs, Ints, Longs]:
    """(group, target) of the pairs that these matches have, each once, by both; the path of those that one alone leads to."""
    low, high = int(path.max()).bit_length(), int(target.max()).bit_length()
    keys = ((group << high | target) << low) | path
    keys.sort()
    pairs = keys >> low
    first = np.ones(len(keys) + 1, bool)
    np.not_equal(pairs[1:], pairs[:-1], out=first[1:-1])
    alone = keys[first[:-1] & first[1:]] & ((1 << low) - 1)
    pairs = pairs[first[:-1]]
    return pairs >> high, (pairs & ((1 << high) - 1)).astype(np.int32), alone


@dataclass(frozen=True)
class TieCounts:
    """What `Ties` counted of some entities, to be added to what was counted of others; as there, ``reached`` in bits."""

    numbers: dict[str, Longs]
    reached: npt.NDArray[np.uint8]
    marked: dict[str, npt.NDArray[np.uint8]]
    sets: tuple[Longs, Longs]
    best: list[list[tuple[int, int]]]


class Ties:
    """Counts over the matches of all entities, satellites included (the aggregation index counts those with documents).

    Per relationship [R] or path [paths]: ``pairs``, ``sources``, ``by_path``, ``alone`` int64; ``reached`` bool [R, n];
    ``marked``: sources of any of the relationships of a name, bool [n].
    """

    def __init__(self, ground: Ground, catalogue: Catalogue, marks: Mapping[str, Sequence[int]]) -> None:
        self.ground, self.catalogue = ground, catalogue
        self.walked, self.relationship = path_by_path(catalogue)
        count, nodes = len(catalogue), ground.graph.nodes
        self.pairs, self.sources = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.by_path, self.alone = (np.zeros(len(self.walked), np.int64) for _ in range(2))
        self.reached = np.zeros((count, nodes), bool)
        self.categories = np.zeros(count * 2 * max(Category), np.int64)
        self.sets = Tally()
        self.best: list[list[tuple[int, int]]] = [[] for _ in catalogue]  # ranks of source and target
        self.marks = marks
        self.marked: dict[str, Bools] = {name: np.zeros(nodes, bool) for name in marks}

    def walk(self, entities: Ints) -> Ties:
        """With the matches of these entities, none of which was walked before.

        In turns of entities from all over: neighbours in the order of IRIs are alike, and the members of one hub, thousands
        of which reach each other, would make blocks of any size.
        """
        adjacency, ontology = self.ground.graph.adjacency, self.ground.ontology
        plan = make_plan(adjacency, ontology, self.walked)
        turns = 1 + len(entities) // SOURCES
        for turn in range(turns):
            for block in walk_blocks(adjacency, ontology, self.walked, entities[turn::turns], PAIRS, plan):
                # in which all matches of a source are; counted some at a time, sources whole
                starts = np.append(np.flatnonzero(np.diff(block.source, prepend=-1)), len(block))
                low = 0
                while low < len(block):
                    at = int(np.searchsorted(starts, low + PAIRS))
                    high = int(starts[min(at, len(starts) - 1)])
                    self._count(block.part(slice(low, high)))
                    low = high
        return self

    def counted(self) -> TieCounts:
        """All that was counted."""
        return TieCounts(
            {name: getattr(self, name) for name in NUMBERS},
            np.packbits(self.reached, axis=1),
            {name: np.packbits(marked) for name, marked in self.marked.items()},
            self.sets.total(),
            self.best,
        )

    def take(self, other: TieCounts) -> None:
        """Add what was counted of other entities."""
        for name in NUMBERS:
            total: Longs = getattr(self, name)
            total += other.numbers[name]
        nodes = self.ground.graph.nodes
        self.reached |= np.unpackbits(other.reached, axis=1, count=nodes).view(bool)
        for name, marked in other.marked.items():
            self.marked[name] |= np.unpackbits(marked, count=nodes).view(bool)
        self.sets.take(*other.sets)
        self.best = [sorted(own + more)[:EXAMPLES] for own, more in zip(self.best, other.best, strict=True)]

    def _count(self, found: Matches) -> None:
        """Count these matches: by source, then relationship, then path, then target."""
        self.by_path += np.bincount(found.relationship, minlength=len(self.walked))
        number = self.relationship[found.relationship]
        new = np.ones(len(found), bool)
        new[1:] = (found.source[1:] != found.source[:-1]) | (number[1:] != number[:-1])
        group = np.cumsum(new) - 1
        start = np.flatnonzero(new)
        self.reached[number, found.target] = True
        nearest = np.minimum.reduceat(self.ground.rank[found.target], start)
        self._add_groups(number[start], found.source[start], nearest)
        several = np.zeros(len(start), bool)
        several[group[1:][~new[1:] & (found.relationship[1:] != found.relationship[:-1])]] = True
        plain, tangled = np.flatnonzero(~several[group]), np.flatnonzero(several[group])
        self._add_pairs(number[plain], found.target[plain])
        self.alone += np.bincount(found.relationship[plain], minlength=len(self.walked))
        if len(tangled):
            of, target, alone = distinct_pairs(
                group[tangled], found.target[tangled], found.relationship[tangled]
            )
            self._add_pairs(number[start[of]], target)
            self.alone += np.bincount(alone, minlength=len(self.walked))

    def _add_pairs(self, number: Ints, target: Ints) -> None:
        """Count what each relationship leads to; every pair is here once."""
        count, width, sets = len(self.catalogue), 2 * max(Category), len(self.ground.sets)
        self.pairs += np.bincount(number, minlength=count)
        categories = number * width + self.ground.graph.category_of_node[target]
        self.categories += np.bincount(categories, minlength=len(self.categories))
        self.sets.add(number.astype(np.int64) * sets + self.ground.sets.of[target], count * sets)

    def _add_groups(self, number: Ints, source: Ints, target: Ints) -> None:
        """Count the sources of each relationship, and keep the pairs to show: of different sources.

        ``target``: rank of the first to show of what each source has.
        """
        self.sources += np.bincount(number, minlength=len(self.catalogue))
        for name, chosen in self.marks.items():
            self.marked[name][source[np.isin(number, chosen)]] = True
        order = np.lexsort((self.ground.rank[source], number))
        number, own, target = number[order], self.ground.rank[source[order]], target[order]
        at = np.searchsorted(number, np.arange(len(self.catalogue) + 1))
        for one in np.flatnonzero(np.diff(at)).tolist():
            first = slice(at[one], min(at[one + 1], at[one] + EXAMPLES))
            shown = list(zip(own[first].tolist(), target[first].tolist(), strict=True))
            self.best[one] = sorted(self.best[one] + shown)[:EXAMPLES]

    def profiles(self) -> tuple[RelationshipProfile, ...]:
        """Every relationship of the catalogue, in its order; of its paths those that give anything."""
        width, example = 2 * max(Category), self.ground.example
        node_of = np.argsort(self.ground.rank).astype(np.int32)
        keys, counts = self.sets.total()
        number, sets = np.divmod(keys, max(1, len(self.ground.sets)))
        sets_of, counts_of = (grouped(values, number, len(self.catalogue)) for values in (sets, counts))
        return tuple(
            RelationshipProfile(
                id=one.id,
                label=one.label,
                domain=str(one.domain.name),
                range=str(one.range.name),
                pairs=int(self.pairs[n]),
                sources=int(self.sources[n]),
                targets=int(self.reached[n].sum()),
                paths=self._paths(n),
                categories=by_category(self.categories[n * width : (n + 1) * width], TOP),
                classes=most(self.ground.classes_of(sets_of[n], counts_of[n]), self.ground.class_names, TOP),
                examples=tuple(
                    ExamplePair(example(int(node_of[s])), example(int(node_of[t]))) for s, t in self.best[n]
                ),
            )
            for n, one in enumerate(self.catalogue)
        )

    def _paths(self, number: int) -> tuple[PathProfile, ...]:
        found = [int(path) for path in np.flatnonzero(self.relationship == number) if self.by_path[path]]
        found.sort(key=lambda path: (-int(self.by_path[path]), path))
        return tuple(
            PathProfile(
                self.walked[path].id,
                " | ".join(step.code + "*" * step.recursive for step in self.walked[path].paths[0].steps),
                int(self.by_path[path]),
                int(self.alone[path]),
            )
            for path in found
        )


Part = tuple[int, int]
"""Which of how many parts: entities in turn, so that all parts cost alike."""


def count_ties(
    graph: Graph, ontology: Ontology, method: Method, catalogue: Catalogue, part: Part
) -> TieCounts:
    """What the relationships of a part of the entities add to the profile."""
    ground, (number, of) = Ground(graph, ontology, method), part
    entities = np.flatnonzero(ground.entity).astype(np.int32)[number::of]
    return Ties(ground, catalogue, _marks(catalogue, method)).walk(entities).counted()


def make_profile(
    graph: Graph,
    dates: DateIndex,
    ontology: Ontology,
    method: Method,
    catalogue: Catalogue,
    counted: Iterable[TieCounts] | None = None,
) -> Content:
    """The profile of ``graph``; it follows from these alone, whatever the chunks that the graph was built in.

    ``counted``: what `count_ties` gives for all parts; None to count here.
    """
    ground = Ground(graph, ontology, method)
    entity, kind = typed(ground)
    ties = Ties(ground, catalogue, _marks(catalogue, method))
    for one in counted or (count_ties(graph, ontology, method, catalogue, (0, 1)),):
        ties.take(one)
    has: dict[str, Bools] = {
        "label": np.asarray((graph.flags & FLAG_LABELLED) != 0),
        "type": ground.mask(entity),
        "date": ground.mask(dates.entity),
        "image": ground.mask(open_table(graph.folder, "images").column("node").to_numpy()),
        **ties.marked,
    }
    relationships = ties.profiles()
    modelling = Modelling(ground, dates, has)
    return Content(
        schema=SCHEMA_VERSION,
        totals=_totals(ground, len(type_nodes(ground, kind))),
        coverage=modelling.coverage(),
        modelling=modelling.facts(relationships),
        classes=profile_classes(ground, CategoryMap(method.categories, ontology), has),
        types=profile_types(ground, entity, kind),
        relationships=relationships,
        properties=profile_properties(ground),
    )


def _marks(catalogue: Catalogue, method: Method) -> dict[str, list[int]]:
    """Numbers of the relationships that tell of a place, and of a maker."""
    ids = {"place": method.profile.places, "maker": method.profile.makers}
    return {
        name: [number for number, one in enumerate(catalogue) if one.id in chosen]
        for name, chosen in ids.items()
    }


def _totals(ground: Ground, types: int) -> dict[str, int]:
    """Numbers of the whole data set, whatever the lists show of it."""
    graph, (ptr, val) = ground.graph, ground.graph.type_rows
    stated = np.repeat(ground.entity, np.diff(ptr))
    rows, literals = graph.adjacency.forward, graph.literal_table.column("property").to_numpy()
    used = np.diff(rows.prop) > 0
    used[literals] = True
    return {
        "nodes": graph.nodes,
        "entities": int(np.count_nonzero(ground.entity)),
        "triples": graph.triples,
        "literals": len(literals),
        "class_statements": len(val),
        "classes": int(np.count_nonzero(np.bincount(val[stated]))),
        "types": types,
        "properties": int(np.count_nonzero(used)),
    }


def write_profile(content: Content, title: str, out: Path) -> dict[str, int]:
    """Write ``profile.json``, which ``Profile.open`` reads, and ``profile.md``; gives counts for people."""
    (out / PROFILE).write_text(row_by_row(asdict(content)), encoding="utf-8")
    (out / READABLE).write_text(profile_markdown(content, title), encoding="utf-8")
    occurring = sum(one.pairs > 0 for one in content.relationships)
    return {
        "entities": content.totals["entities"],
        "classes": content.totals["classes"],
        "types": content.totals["types"],
        "properties": content.totals["properties"],
        "relationships": occurring,
    }


_compact = partial(json.dumps, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def row_by_row(values: Mapping[str, Any]) -> str:
    """JSON in one form for equal values: keys sorted, each row of a list on a line, half as long as indented."""
    parts = []
    for key in sorted(values):
        value = values[key]
        rows = [f"\n  {_compact(row)}" for row in value] if isinstance(value, list | tuple) else []
        parts.append(f"{json.dumps(key)}: " + (f"[{','.join(rows)}\n ]" if rows else _compact(value)))
    return "{\n " + ",\n ".join(parts) + "\n}\n"
