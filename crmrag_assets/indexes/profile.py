"""Building the profile of a data set: what occurs in it, how often, with examples, as JSON and as a page to read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from crmrag_assets.profile.kinds import (
    Bools,
    Ground,
    Modelling,
    profile_classes,
    profile_properties,
    profile_types,
    type_nodes,
    typed,
)
from crmrag_assets.profile.text import profile_markdown
from crmrag_assets.profile.ties import TieCounts, Ties
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_LABELLED, open_table
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import CategoryMap
from crmrag_query.ontology.load import Ontology
from crmrag_query.plans.profile import PROFILE, READABLE, SCHEMA_VERSION, Content
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import DateIndex

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
