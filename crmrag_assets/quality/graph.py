"""Checks of the harvest and of the graph."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from crmrag_assets.build.step import BuildContext, chunks_of
from crmrag_assets.harvest.prefetch import TRIPLES_FILE, ChunkReport, verdict
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.harvest.triples import TRIPLES
from crmrag_assets.indexes.aggregation import edges
from crmrag_assets.opened import graph_of, harvest_of, prefetched
from crmrag_assets.quality.finding import COMPARED, SHOWN, made_anew, named_release, percent, share
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import FLAG_ENTITY, Ints
from crmrag_query.graph.graph import Graph
from crmrag_query.text import amount
from crmrag_query.verify.check import Finding, Row

COLUMNS = ["s", "p", "o", "kind", "datatype", "lang"]
HOST = r"^([A-Za-z][A-Za-z0-9+.-]*:(?://[^/?#]*)?)"
NAMING = ("names", "dates", "links", "images", "documents", "answers")  # sections that name properties
OWN_SHARE = 0.01
"""Of the entities, from which the host of their IRIs is the data set's own, not that of a few strays."""
HIERARCHIES = {
    "broader terms": "P127",
    "places": "P89",
    "parts of things": "P46i",
    "parts of information": "P106i",
    "parts of events": "P9i",
    "parts of periods": "P86",
}
"""What may have levels: the property that leads up a level."""
PRUNED = 50  # times that what has nothing above or below is taken off; networkx goes through what is left

Bools = npt.NDArray[np.bool_]
Counts = dict[str, int | float | str]


def no_triple_lost(context: BuildContext) -> Finding:
    """Every triple of the harvested chunks is in the graph, once."""
    fetched, graph = 0, graph_of(context)
    # rows are distinct, but a triple of several named graphs stands several times
    for path in prefetched(context):
        with pq.ParquetFile(path) as file:
            named = file.read(["g"]).column("g").unify_dictionaries()
            several = named.num_chunks and len(named.chunk(0).dictionary) > 1
            distinct = file.read(COLUMNS).group_by(COLUMNS).aggregate([]) if several else file.metadata
            fetched += int(distinct.num_rows)
    held = graph.triples + len(graph.literal_table) + len(graph.type_rows[1])
    lost = fetched - held
    says = f"All {fetched:,} harvested triples are in the graph."
    if lost:
        went = "lost" if lost > 0 else "added"
        says = f"{fetched:,} triples were harvested and {held:,} are in the graph: {abs(lost):,} were {went}."
    counts = {"prefetched": fetched, "graph": held, "lost": lost}
    return Finding(not lost, says, counts, remedy=made_anew(context, "graph"))


def has_entities(context: BuildContext) -> Finding:
    """The graph describes entities, and some are of a Fundamental Category where a source has to hold CIDOC-CRM. If not, the
    source is no CIDOC-CRM, or of an ontology whose table is missing in config/ontology.
    """
    graph = graph_of(context)
    entity = _entities(graph)
    known, count = int((entity & (graph.category_of_node != 0)).sum()), int(entity.sum())
    holds = bool(known or (count and not context.config.crm))
    if holds:
        says = f"{amount(count, 'entity', 'entities')}, {known:,} of them of a Fundamental Category."
    elif count:
        says = f"None of the {amount(count, 'entity', 'entities')} has a class of a Fundamental Category."
    else:
        says = "The graph holds no entity."
    remedy = (
        f"Look at the first triples of the asset prefetch: is this CIDOC-CRM? Classes that `crmrag datasets check` does not "
        f"know can be added to config/ontology. Then run crmrag build {context.name}."
    )
    counts = {"entities": count, "with_category": known, "nodes": graph.nodes}
    return Finding(holds, says, counts, remedy=remedy)


def not_much_is_gone(context: BuildContext) -> Finding:
    """The number of entities is not far below that of the current release. If it did, an export may have broken off, or a
    file may be left out. Where it is meant so: `checks: {entities_fall: 1}` in method.yaml for one build.
    """
    now = int(_entities(graph_of(context)).sum())
    current = None if context.sample else named_release(context)
    before = int(current.manifest.counts.get("entities", 0)) if current else 0
    fall = max(before - now, 0) / before if before else 0.0
    says = f"{amount(now, 'entity', 'entities')}; there is no current release to compare with."
    if current is not None:
        says = f"{amount(now, 'entity', 'entities')}; the current release {current.id} has {before:,}."
    remedy = (
        "Did an export break off, or was a file left out? Give the whole source, and build again. If it is meant so, let "
        f"`checks: {{entities_fall: 1}}` stand in method.yaml for one build: crmrag build {context.name}."
    )
    holds = before < COMPARED or fall <= context.method.checks.entities_fall
    return Finding(holds, says, {"entities": now, "before": before, "fall": fall}, remedy=remedy)


def _entities(graph: Graph) -> Bools:
    return np.asarray(graph.flags & FLAG_ENTITY != 0)


def terms_are_known(context: BuildContext) -> Finding:
    """Few uses of classes and properties that no ontology table has and no key of method.yaml names: no Fundamental
    Relationship follows these. If there are more, add the ontology's table, or a row in config/ontology/renames.csv. Sources
    that need not hold CIDOC-CRM are asked for nothing.
    """
    graph = graph_of(context)
    stored = json.loads((context.folder("graph") / "unmapped.json").read_bytes())
    named = set(_words(context.method))
    uses = {"classes": len(graph.type_rows[1]), "properties": graph.triples + len(graph.literal_table)}
    counts: Counts = {}
    tables: dict[str, list[Row]] = {}
    shares, parts = [], []
    for kind, used in uses.items():
        found = [one for one in stored[kind] if one["iri"] not in named and one["count"]]
        found.sort(key=lambda one: -one["count"])
        part = share(sum(one["count"] for one in found), used)
        shares.append(part)
        parts.append(f"{len(found)} {kind} are not mapped, {percent(part)} of all uses")
        counts |= {f"unmapped_{kind}": len(found), f"unmapped_{kind}_share": part}
        tables[f"most_used_unmapped_{kind}"] = found[:SHOWN]
    remedy = (
        "What is not mapped is shown in documents and followed by no Fundamental Relationship. Add the ontology's table "
        "(crmrag ontology extract FILE -o config/ontology) or a row in config/ontology/renames.csv."
    )
    few = max(shares) <= context.method.checks.unmapped_share or not context.config.crm
    return Finding(few, f"{'; '.join(parts)}.", counts, tables, remedy)


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
    """Few of the data set's own IRIs are pointed at and never described. If there are more, a file may be left out of `rdf`,
    or a part of the endpoint was not harvested.
    """
    graph = graph_of(context)
    entity = _entities(graph)
    hosts = pl.Series("host", pl.from_arrow(graph.iris)).str.extract(HOST).fill_null("")
    counted = hosts.filter(pl.Series(entity)).value_counts()
    least = max(1.0, OWN_SHARE * int(entity.sum()))
    common = counted.filter(pl.col("count") >= least).get_column("host")
    own = hosts.is_in(common.implode()).to_numpy()
    lost = np.flatnonzero(~entity & own)
    part = share(len(lost), int(own.sum()))
    backward = graph.adjacency.backward
    pointed = np.bincount(backward.row, np.diff(backward.ptr), graph.nodes).astype(np.int64)
    worst = lost[np.argsort(-pointed[lost], kind="stable")[:SHOWN]].tolist()
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
    few = part <= context.method.checks.dangling_share
    return Finding(few, says, counts, {"most_referenced": rows}, remedy)


def hierarchies_have_no_circles(context: BuildContext) -> Finding:
    """No term, place, part or period stands above itself. If one does, a statement of the circle that the table shows is
    turned round: questions for all that is below find the whole circle.
    """
    graph = graph_of(context)
    rows: list[dict[str, Any]] = []
    counts: Counts = {}
    for name, up in HIERARCHIES.items():
        found = circles_of(*edges(graph.adjacency, [up]))
        counts[name.replace(" ", "_")] = len(found)
        for circle in found:
            first, last = circle[0], circle[-1]
            row = {"hierarchy": name, "entities": len(circle), "one": graph.label(first)}
            rows.append({**row, "iri": graph.iri(first), "another": graph.label(last)})
    rows.sort(key=lambda row: -int(row["entities"]))
    says = f"{len(rows):,} circles in hierarchies." if rows else "No hierarchy has a circle."
    remedy = (
        "Mend the data where it is made: one of the statements on each circle is turned round, or too many."
    )
    return Finding(not rows, says, counts, {"circles": rows[:SHOWN]}, remedy)


def circles_of(below: Ints, above: Ints) -> list[list[int]]:
    """The sets of nodes that stand above each other, the largest first; a node above itself is one.

    What has nothing below or nothing above is on no circle: of a sound hierarchy hardly anything is left for networkx.
    """
    for _ in range(PRUNED):
        kept = np.isin(below, above) & np.isin(above, below)
        if kept.all():
            break
        below, above = below[kept], above[kept]
    if not len(below):
        return []
    import networkx as nx  # here, as loading it takes each process of a build as long as many a check

    left = nx.DiGraph(zip(below.tolist(), above.tolist(), strict=True))
    parts = (sorted(part) for part in nx.strongly_connected_components(left))
    found = [part for part in parts if len(part) > 1 or left.has_edge(part[0], part[0])]
    return sorted(found, key=lambda part: (-len(part), part))


def harvest_is_whole(context: BuildContext) -> Finding:
    """Nothing that the source holds is missing, and its counts before and after are equal. If not, see the harvest report for
    what is missing and why, then read the source again (`crmrag build NAME --refresh`); where it changes all the time or
    will not give some triples, ask its operator for a dump and build from files.
    """
    found = harvest_of(context)
    missing = found["missing"]
    counts = {name: found[name] for name in ("entities", "triples")} | {"missing": len(missing)}
    shown: list[Row] = [
        {key: "" if value is None else value for key, value in one.items()} for one in missing[:SHOWN]
    ]
    says = " ".join([verdict(found), *found["concerns"]])
    remedy = (
        f"Read the source again: crmrag build {context.name} --refresh; where it changes all the time or will not give "
        "some triples, ask its operator for a dump and build from files."
    )
    return Finding(bool(found["whole"]), says, counts, {"first_missing": shown}, remedy)


def few_lines_are_broken(context: BuildContext) -> Finding:
    """Few lines of the files cannot be read; they are skipped, each a triple less. If there are more, have the files exported
    again, or mended where the table of this check says.
    """
    report = Discovery.load(context.folder("entities")).report
    triples, broken = int(harvest_of(context)["triples"]), report.broken_count
    share = broken / max(broken + triples, 1)
    shown: list[Row] = [
        {"file": one.file, "line": one.line, "reason": one.reason} for one in report.broken[:SHOWN]
    ]
    says = f"No line is broken; {triples:,} triples were read."
    if broken:
        says = f"{broken:,} broken lines were skipped and {triples:,} triples read ({share:.2%} broken)."
    remedy = (
        "Have the files exported again, or mended where the table says. A file in another encoding than UTF-8, or one that "
        "broke off while it was copied, looks so."
    )
    counts = {"broken": broken, "share_broken": share}
    return Finding(share <= context.method.checks.broken_share, says, counts, {"first_broken": shown}, remedy)


def chunks_are_readable(context: BuildContext) -> Finding:
    """Every chunk's file has the columns of triples and as many rows as were harvested. If not, the disk lost something: the
    message names the chunks to remove, so that the next build harvests them anew.
    """
    wrong: list[Row] = []
    rows = 0
    chunks = chunks_of(context)
    for chunk in chunks:
        folder, found, fault = context.folder("prefetch", chunk), 0, ""
        expected = ChunkReport.read(folder, {}).triples
        try:
            with pq.ParquetFile(folder / TRIPLES_FILE) as file:
                found = int(file.metadata.num_rows)
                fault = "" if file.schema_arrow.names == TRIPLES.names else "has other columns"
        except (OSError, pa.ArrowInvalid) as error:
            fault = f"cannot be read ({error})"
        rows += found
        if fault or found != expected:
            wrong.append({"chunk": chunk, "rows": found, "harvested": expected, "fault": fault})
    counts = {"chunks": len(chunks), "unreadable": len(wrong), "triples": rows}
    if not wrong:
        return Finding(True, f"Every chunk can be read ({len(chunks)}), {rows:,} triples in all.", counts)
    first = wrong[0]
    fault = first["fault"] or f"has {first['rows']} rows, not {first['harvested']}"
    remedy = (
        f"Have them harvested anew: remove {context.folder('prefetch', first['chunk'])} (and the others of the table), then "
        f"run crmrag build {context.name}."
    )
    says = f"{len(wrong)} of {len(chunks)} chunks cannot be used: {first['chunk']} {fault}."
    return Finding(False, says, counts, {"first_unreadable": wrong[:SHOWN]}, remedy)
