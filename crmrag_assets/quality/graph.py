"""Checks of the graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow.parquet as pq

from crmrag_assets.build.graph import prefetched
from crmrag_assets.build.opened import graph_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality.earlier import current_release
from crmrag_assets.quality.finding import Finding, Row, made_anew, percent, share
from crmrag_query.config.models import Method
from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.graph.graph import Graph

COLUMNS = ["s", "p", "o", "kind", "datatype", "lang"]
GRAPH_COLUMN = "g"
HOST = r"^([A-Za-z][A-Za-z0-9+.-]*:(?://[^/?#]*)?)"
NAMING = ("names", "dates", "links", "images", "documents", "answers")  # sections that name properties

Bools = npt.NDArray[np.bool_]


def no_triple_lost(context: BuildContext) -> Finding:
    """Distinct triples of all chunks, leaving named graphs aside, equal those of the graph with its types."""
    fetched = sum(_distinct(path) for path in prefetched(context))
    graph = graph_of(context)
    held = _triples(graph)
    lost = fetched - held
    says = (
        f"All {fetched:,} harvested triples are in the graph."
        if not lost
        else f"{fetched:,} triples were harvested and {held:,} are in the graph: {abs(lost):,} were "
        f"{'lost' if lost > 0 else 'added'}."
    )
    counts = {"prefetched": fetched, "graph": held, "lost": lost}
    return Finding(not lost, says, counts, remedy=made_anew(context, "graph"))


def _distinct(path: Path) -> int:
    """A chunk's rows are distinct; a triple stands several times where several named graphs hold it."""
    with pq.ParquetFile(path) as file:
        graphs = file.read([GRAPH_COLUMN]).column(GRAPH_COLUMN).unify_dictionaries()
        if graphs.num_chunks == 0 or len(graphs.chunk(0).dictionary) < 2:
            return int(file.metadata.num_rows)
        return int(file.read(COLUMNS).group_by(COLUMNS).aggregate([]).num_rows)


def _triples(graph: Graph) -> int:
    return graph.triples + len(graph.literal_table) + len(graph.type_rows[1])


def has_entities(context: BuildContext) -> Finding:
    """The graph describes entities, and some are of a Fundamental Category: else no document says anything."""
    graph = graph_of(context)
    entity = _entities(graph)
    known = int((entity & (graph.category_of_node != 0)).sum())
    count = int(entity.sum())
    if known:
        says = f"{count:,} entities, {known:,} of them of a Fundamental Category."
    elif count:
        says = f"None of the {count:,} entities has a class of a Fundamental Category."
    else:
        says = "The graph holds no entity."
    counts = {"entities": count, "with_category": known, "nodes": graph.nodes}
    remedy = (
        f"Look at the first triples of the asset prefetch: is this CIDOC-CRM? Classes that `crmrag datasets check` does not "
        f"know can be added to config/ontology. Then run crmrag build {context.name}."
    )
    return Finding(bool(known), says, counts, remedy=remedy)


def not_much_is_gone(context: BuildContext) -> Finding:
    """The number of entities is not below that of the current release by more than `entities_fall`.

    Once such a release is published, because it is meant so, the next ones are compared with that.
    """
    checks, now = context.method.checks, int(_entities(graph_of(context)).sum())
    current = None if context.sample else current_release(context)
    before = int(current.manifest.counts.get("entities", 0)) if current else 0
    fall = max(before - now, 0) / before if before else 0.0
    says = f"{now:,} entities; there is no current release to compare with."
    if current is not None:
        says = f"{now:,} entities; the current release {current.id} has {before:,}."
    remedy = (
        "Did an export break off, or was a file left out? Give the whole source, and build again. If it is meant so, let "
        f"`checks: {{entities_fall: 1}}` stand in method.yaml for one build: crmrag build {context.name}."
    )
    holds = before < checks.coverage_entities or fall <= checks.entities_fall
    return Finding(holds, says, {"entities": now, "before": before, "fall": fall}, remedy=remedy)


def _entities(graph: Graph) -> Bools:
    return np.asarray(graph.flags & FLAG_ENTITY != 0)


def terms_are_known(context: BuildContext) -> Finding:
    """Few uses of classes and properties that no ontology table has and no key of the method names."""
    checks, graph = context.method.checks, graph_of(context)
    stored = json.loads((context.folder("graph") / "unmapped.json").read_bytes())
    named = set(_words(context.method))
    found = {
        kind: sorted(
            (one for one in stored[kind] if one["iri"] not in named and one["count"]),
            key=lambda one: -one["count"],
        )
        for kind in ("classes", "properties")
    }
    uses = {"classes": len(graph.type_rows[1]), "properties": graph.triples + len(graph.literal_table)}
    shares = {kind: share(sum(one["count"] for one in found[kind]), uses[kind]) for kind in found}
    says = "; ".join(
        f"{len(found[kind])} {kind} are not mapped, {percent(shares[kind])} of all uses" for kind in found
    )
    counts: dict[str, int | float | str] = {}
    for kind in found:
        counts |= {f"unmapped_{kind}": len(found[kind]), f"unmapped_{kind}_share": shares[kind]}
    tables = {f"most_used_unmapped_{kind}": rows[: checks.shown] for kind, rows in found.items() if rows}
    remedy = (
        "What is not mapped is shown in documents and followed by no Fundamental Relationship. Add the ontology's table "
        "(crmrag ontology extract FILE -o config/ontology) or a row in config/ontology/renames.csv."
    )
    return Finding(max(shares.values()) <= checks.unmapped_share, f"{says}.", counts, tables, remedy)


def _words(method: Method) -> Iterator[str]:
    """Every word of the sections that name properties: among them the IRIs of other vocabularies."""
    waiting: list[Any] = [getattr(method, name).model_dump() for name in NAMING]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            waiting.extend(value.values())
        elif isinstance(value, list | tuple):
            waiting.extend(value)


def nothing_dangles(context: BuildContext) -> Finding:
    """Few of the data set's own IRIs are pointed at and never described; those of other hosts are links."""
    checks, graph = context.method.checks, graph_of(context)
    entity = _entities(graph)
    hosts = pl.Series(pl.from_arrow(graph.iris)).str.extract(HOST).fill_null("")
    own = hosts.is_in(_own_hosts(hosts, entity, checks.own_share).implode()).to_numpy()
    lost = np.flatnonzero(~entity & own)
    part = share(len(lost), int(own.sum()))
    backward = graph.adjacency.backward
    pointed = np.bincount(backward.row, np.diff(backward.ptr), graph.nodes).astype(np.int64)
    worst = lost[np.argsort(-pointed[lost], kind="stable")[: checks.shown]].tolist()
    rows: list[Row] = [
        {"iri": graph.iri(n), "label": graph.label(n), "references": int(pointed[n])} for n in worst
    ]
    counts = {
        "dangling": len(lost),
        "dangling_share": part,
        "references": int(pointed[lost].sum()),
        "elsewhere": int((~entity & ~own).sum()),
    }
    says = (
        f"{len(lost):,} of the data set's own IRIs ({percent(part)}) are pointed at and never described; "
        f"{counts['elsewhere']:,} of other hosts are."
    )
    remedy = "Was a file left out, or a part of the endpoint not harvested? See the harvest report."
    return Finding(
        part <= checks.dangling_share, says, counts, {"most_referenced": rows} if rows else {}, remedy
    )


def _own_hosts(hosts: pl.Series, entity: Bools, least: float) -> pl.Series:
    """What IRIs of at least this share of the entities begin with."""
    counted = hosts.filter(pl.Series(entity)).alias("host").value_counts()
    return counted.filter(pl.col("count") >= max(1.0, least * int(entity.sum()))).get_column("host")
