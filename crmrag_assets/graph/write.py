"""Writing the graph artifact: arrays, tables, and what is reported of it.

Among the reports are suspected merges: IRIs that stand for many things at once, because the id in them was empty or reused.
Three rules find them, with the constants of ``method.suspects``:

1. *reused*: more than ``single_values`` distinct values of a property that a thing has once (a birth, a production);
2. *empty id*: the IRI has an empty segment, and either carries at least ``empty_id_triples`` triples among which some
   property has unlike values, or has unlike values of a property that a thing has once;
3. *same empty id*: the IRI continues the inner empty segment (``…/object//``) of one found by the second rule.

A type, a museum or a place is pointed at by many and may end in ``/``, but has one name and one date: it is not found.
"""

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

from crmrag_assets.graph.core import Core, among, pointers
from crmrag_assets.graph.names import Vocabulary
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.config.build import Suspects
from crmrag_query.graph.arrays import SCHEMA_VERSION, SCHEMAS, Bytes, run_starts, save_rows, write_table

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
