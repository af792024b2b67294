"""Building the graph artifact from the prefetched chunks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.graph.core import Core, build_core, number_groups
from crmrag_assets.graph.names import Vocabulary, build_vocabulary, declared, stated_names
from crmrag_assets.graph.references import build_images, build_links
from crmrag_assets.graph.roles import DAYS, MADE_KINDS, build_labels, build_timespans
from crmrag_assets.graph.write import Tables, find_suspects, write_graph
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import (
    FLAG_ENTITY,
    FLAG_EVENT,
    FLAG_LABELLED,
    FLAG_SKOLEM,
    FLAG_SUSPECT,
    Bytes,
    Ints,
)
from crmrag_query.ontology import Ontology
from crmrag_query.ontology.categories import CategoryMap

SKOLEM = "urn:skolem:"
STEPS = 7


def build_graph(
    prefetch_files: Sequence[Path],
    out: Path,
    method: Method,
    ontology: Ontology,
    languages: Sequence[str] = ("en",),
    image_pattern: str = "",
    progress: Progress | None = None,
    threads: int = 1,
) -> dict[str, int]:
    """Write the graph artifact of these chunks into ``out``; equal triples give equal bytes, however chunked.

    ``threads``: how many chunks are read at once. Gives counts: ``triples`` lead to nodes, literals and types are counted
    apart.
    """
    watcher = progress or SilentProgress()

    def tell(step: int, note: str) -> None:
        watcher.advance(step, STEPS, note)

    tell(0, "numbering triples")
    core = build_core(prefetch_files, threads)
    tell(1, "normalising classes and properties")
    said = declared(core)
    core.entity[said.nodes] = False  # what the data is written in is not what it is about
    vocabulary = build_vocabulary(
        core.terms.classes, core.terms.properties, ontology, method.events.classes, languages, said
    )
    suspects = find_suspects(core, vocabulary, method.suspects)
    merged = np.array([suspect.node for suspect in suspects], np.int32)
    tell(2, "names")
    stated = stated_names(core, vocabulary, method.names, languages, merged)
    tell(3, "dates")
    timespans = build_timespans(core, vocabulary, method.dates, stated, merged)
    tell(4, "names by role")
    labels = build_labels(core, vocabulary, stated, timespans, languages, merged)
    tell(5, "links and images")
    links = build_links(core, vocabulary, method.links)
    images = build_images(core, vocabulary, method.images, image_pattern)
    tell(6, "writing")
    tables = Tables(labels, timespans, links, images, suspects)
    category, categories = node_categories(core, vocabulary, CategoryMap(method.categories, ontology))
    arrays = {
        "flags": _flags(core, vocabulary, labels, merged),
        "category": category,
        "categories": categories,
    }
    counts = _counts(core, tables)
    write_graph(out, core, vocabulary, tables, arrays, counts)
    tell(STEPS, "graph written")
    return counts


def _flags(core: Core, vocabulary: Vocabulary, labels: pl.DataFrame, suspects: Ints) -> Bytes:
    flags = np.where(core.entity, FLAG_ENTITY, 0).astype(np.uint8)
    flags[core.terms.nodes.str.starts_with(SKOLEM).to_numpy()] |= FLAG_SKOLEM
    flags[suspects] |= FLAG_SUSPECT
    flags[core.nodes_of(np.flatnonzero(vocabulary.event))] |= FLAG_EVENT
    flags[labels.filter(~pl.col("kind").is_in(MADE_KINDS))["node"].to_numpy()] |= FLAG_LABELLED
    return flags


def node_categories(core: Core, vocabulary: Vocabulary, categories: CategoryMap) -> tuple[Bytes, Bytes]:
    """Primary Fundamental Category (one bit, 0 unknown) and mask of all categories of each node, uint8 [n] each.

    Looked up once for each distinct set of classes.
    """
    distinct, which = number_groups(core.type_ptr[:-1], core.type_val)
    codes = [[code for number in group if (code := vocabulary.class_codes[number])] for group in distinct]
    primary = np.array([int(categories.of(group) or 0) for group in codes], np.uint8)
    mask = np.array([int(categories.all_of(group)) for group in codes], np.uint8)
    return primary[which], mask[which]


def _counts(core: Core, tables: Tables) -> dict[str, int]:
    best = tables.labels.unique("node", keep="first")["kind"].value_counts()
    made = dict(best.iter_rows())
    return {
        "nodes": core.nodes,
        "entities": int(core.entity.sum()),
        "triples": len(core.forward.val),
        "literals": core.literals.height,
        "types": len(core.type_val),
        "classes": len(core.terms.classes),
        "properties": len(core.terms.properties),
        "named_graphs": len(core.terms.graphs) - 1,
        "labelled": core.nodes - sum(made.get(kind, 0) for kind in MADE_KINDS),
        "role_labelled": made.get("role", 0),
        "iri_labelled": made.get("iri", 0),
        "dated": tables.timespans.filter(~pl.all_horizontal(pl.col(DAYS).is_null())).height,
        "links": tables.links.height,
        "images": tables.images.height,
        "suspects": len(tables.suspects),
    }
