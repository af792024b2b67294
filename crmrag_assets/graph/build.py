"""Building the graph artifact from the prefetched chunks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.build.step import Progress, SilentProgress
from crmrag_assets.graph.core import Core, among, build_core, number_groups, pointers
from crmrag_assets.graph.names import Vocabulary, build_vocabulary, declared, stated_names
from crmrag_assets.graph.roles import (
    DAYS,
    MADE_KINDS,
    build_images,
    build_labels,
    build_links,
    build_timespans,
)
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Suspects
from crmrag_query.config.loading import Method
from crmrag_query.graph.arrays import (
    FLAG_ENTITY,
    FLAG_EVENT,
    FLAG_LABELLED,
    FLAG_SKOLEM,
    FLAG_SUSPECT,
    SCHEMA_VERSION,
    SCHEMAS,
    Bytes,
    Ints,
    run_starts,
    save_rows,
    write_table,
)
from crmrag_query.ontology import Ontology
from crmrag_query.ontology.categories import CategoryMap

INNER_EMPTY = (
    r"^([A-Za-z][A-Za-z0-9+.-]*://[^/]+/(?:.*?[^:/]/)??/)"  # up to the first "//" that is no scheme's
)
SHOWN_LENGTH = 200  # characters of a display label, then "…"; labels.arrow has all of it


@dataclass(frozen=True, slots=True)
class Suspect:
    """One suspected merge and why; ``triples`` counts its outgoing triples and literals."""

    node: int
    iri: str
    rule: str
    reason: str
    triples: int

    def as_dict(self) -> dict[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "node"}


def find_suspects(core: Core, vocabulary: Vocabulary, constants: Suspects) -> list[Suspect]:
    """All suspects in order of their IRIs."""
    iris, properties = core.terms.nodes, core.terms.properties
    subjects = core.literals["subject"].to_numpy()
    outgoing = np.bincount(core.forward.sources, minlength=core.nodes) + np.bincount(
        subjects, minlength=core.nodes
    )
    values = _values(core, vocabulary, constants)
    single = values.filter(pl.col("single"))
    found: dict[int, tuple[str, str]] = {}
    for node, prop, count in _worst(single.filter(pl.col("values") > constants.single_values)):
        found[node] = ("reused", f"{count} unlike values of {properties[prop]}")
    empty = re.compile(constants.empty_id)
    many = values.filter(among("node", np.flatnonzero(outgoing >= constants.empty_id_triples)))
    for node, prop, count in _worst(pl.concat([many, single])):
        if empty.match(iris[node]):
            found[node] = ("empty id", f"{count} unlike values of {properties[prop]}")
    of_empty = [node for node, (rule, _) in sorted(found.items()) if rule == "empty id"]
    for prefix in iris[of_empty].str.extract(INNER_EMPTY).drop_nulls().unique().sort().to_list():
        low, high = int(iris.search_sorted(prefix)), int(iris.search_sorted(prefix + "\U0010ffff"))
        for node in range(low, high):
            found.setdefault(node, ("same empty id", f"continues {prefix}"))
    return [Suspect(node, iris[node], *found[node], int(outgoing[node])) for node in sorted(found)]


def _values(core: Core, vocabulary: Vocabulary, constants: Suspects) -> pl.DataFrame:
    """How many unlike values (more than one) a node has of a property: columns node, property, values, single.

    Literals count by language; values that are nodes only for properties that a thing has once.
    """
    single = vocabulary.properties_with(constants.single_valued)
    subject, prop = core.literals["subject"].to_numpy(), core.literals["property"].to_numpy()
    new = run_starts(subject, prop)
    alone = new & np.append(new[1:], True)[: len(new)]  # most literals are: only the others are compared
    literals = (
        core.literals[np.flatnonzero(~alone)]
        .lazy()
        .group_by("subject", "property", "lang")
        .agg(values=pl.col("value").n_unique())
        .group_by(node="subject", property="property")
        .agg(pl.col("values").max())
        .filter(pl.col("values") > 1)
        .collect()
    )
    rows = core.forward
    prop = np.repeat(np.arange(len(rows.prop) - 1, dtype=np.int32), np.diff(rows.prop))
    count = np.diff(rows.ptr).astype(np.uint32)
    keep = (count > 1) & np.isin(prop, single)
    links = pl.DataFrame({"node": rows.row[keep], "property": prop[keep], "values": count[keep]})
    both = pl.concat([literals.cast(links.schema), links])
    return both.with_columns(single=among("property", single)).sort("node", "property")


def _worst(values: pl.DataFrame) -> list[tuple[int, int, int]]:
    """Node, property and number of its most numerous unlike values, once for each node."""
    ordered = values.sort(["node", "values", "property"], descending=[False, True, False])
    worst = ordered.unique("node", keep="first", maintain_order=True)
    return worst.select("node", "property", "values").rows()


@dataclass(frozen=True)
class Tables:
    """What is derived from the triples, columns as in ``schema``."""

    labels: pl.DataFrame
    timespans: pl.DataFrame
    links: pl.DataFrame
    images: pl.DataFrame
    suspects: Sequence[Suspect]


def write_graph(
    out: Path,
    core: Core,
    vocabulary: Vocabulary,
    tables: Tables,
    nodes: Mapping[str, Bytes],
    counts: dict[str, int],
) -> None:
    """Write every file of the artifact; ``nodes``: flags and categories, uint8 [n] each."""
    out.mkdir(parents=True, exist_ok=True)
    save_rows(out, "forward", core.forward)
    save_rows(out, "backward", core.backward)
    arrays: dict[str, npt.NDArray[Any]] = {
        **nodes,
        "type_ptr": core.type_ptr,
        "type_val": core.type_val,
        "triple_graph": core.triple_graph,
        "literal_ptr": pointers(core.literals["subject"].to_numpy(), core.nodes),
        "label_ptr": pointers(tables.labels["node"].to_numpy(), core.nodes),
    }
    for name, array in arrays.items():
        np.save(out / f"{name}.npy", array)
    best = tables.labels.unique("node", keep="first", maintain_order=True)
    cut = best["text"].str.slice(0, SHOWN_LENGTH) + "…"
    shown = best["text"].zip_with(best["text"].str.len_chars() <= SHOWN_LENGTH, cut)
    frames = {
        "nodes": pl.DataFrame({"iri": core.terms.nodes, "label": shown, "lang": best["lang"]}),
        "literals": core.literals,
        "labels": tables.labels,
        "timespans": tables.timespans,
        "links": tables.links,
        "images": tables.images,
    }
    for name, frame in frames.items():
        write_table(out, name, frame.to_arrow())
    for name, words in (("classes", vocabulary.classes), ("properties", vocabulary.properties)):
        rows = [{field: getattr(word, field) for field in SCHEMAS[name].names} for word in words]
        rows = [
            {f: sorted(v.items()) if isinstance(v, Mapping) else v for f, v in row.items()} for row in rows
        ]
        write_table(out, name, pa.Table.from_pylist(rows, SCHEMAS[name]))
    write_table(out, "graphs", pa.table({"graphs": pa.array(core.graph_sets, pa.list_(pa.utf8()))}))
    reports = {
        "meta": {"schema": SCHEMA_VERSION, **counts},
        "unmapped": unmapped(core, vocabulary),
        "suspects": [suspect.as_dict() for suspect in tables.suspects],
    }
    for name, value in reports.items():
        (out / f"{name}.json").write_text(canonical_json(value), encoding="utf-8")


def unmapped(core: Core, vocabulary: Vocabulary) -> dict[str, list[dict[str, Any]]]:
    """Classes and properties outside the ontology tables, and those known under another name, with their uses."""
    class_uses = np.bincount(core.type_val, minlength=len(vocabulary.classes))
    triples = np.diff(core.forward.ptr[core.forward.prop])
    property_uses = triples + np.bincount(
        core.literals["property"].to_numpy(), minlength=len(vocabulary.properties)
    )
    counted = {
        "classes": (vocabulary.classes, class_uses),
        "properties": (vocabulary.properties, property_uses),
    }
    found: dict[str, list[dict[str, Any]]] = {"renamed": []}
    for name, (words, uses) in counted.items():
        found[name] = []
        for word, use in zip(words, uses.tolist(), strict=True):
            known = word.normalised
            if known is None:
                found[name].append({"iri": word.iri, "count": use})
            elif known.rule != "exact":
                known_as = {
                    "code": known.code,
                    "name": known.name,
                    "rule": known.rule,
                    "turned": known.turned,
                }
                found["renamed"].append({"iri": word.iri, "count": use, **known_as})
    return found


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
