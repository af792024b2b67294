"""Building the profile of a data set: what occurs in it, how often, with examples, as JSON and as a page to read; and its
Fundamental Relationships, pairs by relationship and by each of their paths."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crmrag_assets.indexes.aggregation import MatchArrays
from crmrag_assets.profile.kinds import (
    EXAMPLES,
    TOP,
    Bools,
    Ground,
    Modelling,
    by_category,
    most,
    profile_classes,
    profile_properties,
    profile_types,
    type_nodes,
    typed,
)
from crmrag_assets.profile.text import profile_markdown
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints, Longs, open_table, run_starts
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
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import DateIndex


class Ties:
    """What the matches of all entities count to, satellites included.

    Per relationship ``pairs`` and ``sources`` int64 [R], ``reached`` bool [R, n], ``categories`` int64 [R, bits] and
    ``sets`` int64 [R, sets of classes] of what is reached; ``by_path`` int64 [paths of all relationships, in order], each
    pair by the path that its match has; ``marked``: sources of any of the relationships of a name, bool [n].
    """

    def __init__(self, ground: Ground, catalogue: Catalogue, marks: Mapping[str, Sequence[int]]) -> None:
        self.ground, self.catalogue, self.marks = ground, catalogue, marks
        count, nodes = len(catalogue), ground.graph.nodes
        self.first_path = np.cumsum([0, *(len(one.paths) for one in catalogue)])
        self.by_path = np.zeros(self.first_path[-1], np.int64)
        self.pairs, self.sources = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.reached = np.zeros((count, nodes), bool)
        self.categories = np.zeros((count, 2 * max(Category)), np.int64)
        self.sets = np.zeros((count, len(ground.sets)), np.int64)
        self.marked: dict[str, Bools] = {name: np.zeros(nodes, bool) for name in marks}
        self.best: list[list[tuple[int, int]]] = [[] for _ in catalogue]  # ranks of source and target

    def add(self, found: MatchArrays) -> None:
        """Count the matches of one chunk."""
        number, target, count = found.relationship.astype(np.int64), found.target, len(self.catalogue)
        self.pairs += np.bincount(number, minlength=count)
        self.by_path += np.bincount(self.first_path[number] + found.path, minlength=len(self.by_path))
        self.reached[number, target] = True
        np.add.at(self.categories, (number, self.ground.graph.category_of_node[target]), 1)
        np.add.at(self.sets, (number, self.ground.sets.of[target]), 1)
        start = np.flatnonzero(run_starts(found.source, found.relationship))
        if len(start):
            nearest = np.minimum.reduceat(self.ground.rank[target], start)
            self._add_sources(number[start], found.source[start], nearest)

    def _add_sources(self, number: Longs, source: Ints, target: Ints) -> None:
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
        example, every_set = self.ground.example, np.arange(len(self.ground.sets))
        node_of = np.argsort(self.ground.rank).astype(np.int32)
        return tuple(
            RelationshipProfile(
                id=one.id,
                label=one.label,
                domain=str(one.domain.name),
                range=str(one.range.name),
                pairs=int(self.pairs[n]),
                sources=int(self.sources[n]),
                targets=int(np.count_nonzero(self.reached[n])),
                paths=self._paths(n),
                categories=by_category(self.categories[n], TOP),
                classes=most(self.ground.classes_of(every_set, self.sets[n]), self.ground.class_names, TOP),
                examples=tuple(
                    ExamplePair(example(int(node_of[s])), example(int(node_of[t]))) for s, t in self.best[n]
                ),
            )
            for n, one in enumerate(self.catalogue)
        )

    def _paths(self, number: int) -> tuple[PathProfile, ...]:
        pairs = self.by_path[self.first_path[number] : self.first_path[number + 1]].tolist()
        found = [
            PathProfile(path.id, " | ".join(step.code + "*" * step.recursive for step in path.steps), count)
            for path, count in zip(self.catalogue[number].paths, pairs, strict=True)
            if count
        ]
        return tuple(sorted(found, key=lambda one: -one.pairs))


def make_profile(
    graph: Graph,
    dates: DateIndex,
    ontology: Ontology,
    method: Method,
    catalogue: Catalogue,
    matches: Iterable[MatchArrays],
) -> Content:
    """The profile of ``graph``; it follows from these alone, whatever the chunks that the graph was built in.

    ``matches``: of the catalogue's relationships, of all entities.
    """
    ground = Ground(graph, ontology, method)
    entity, kind = typed(ground)
    ties = Ties(ground, catalogue, _marks(catalogue, method))
    for chunk in matches:
        ties.add(chunk)
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
    counts = {name: content.totals[name] for name in ("entities", "classes", "types", "properties")}
    return counts | {"relationships": sum(one.pairs > 0 for one in content.relationships)}


_compact = partial(json.dumps, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def row_by_row(values: Mapping[str, Any]) -> str:
    """JSON in one form for equal values: keys sorted, each row of a list on a line, half as long as indented."""
    parts = []
    for key in sorted(values):
        value = values[key]
        rows = [f"\n  {_compact(row)}" for row in value] if isinstance(value, list | tuple) else []
        parts.append(f"{json.dumps(key)}: " + (f"[{','.join(rows)}\n ]" if rows else _compact(value)))
    return "{\n " + ",\n ".join(parts) + "\n}\n"
