"""Writing the graph artifact: arrays, tables, and what is reported of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from crmrag_assets.graph.core import Core, pointers
from crmrag_assets.graph.suspects import Suspect
from crmrag_assets.graph.vocabulary import Vocabulary, Words
from crmrag_query.artifacts.files import canonical_json
from crmrag_query.graph.arrays import Bytes, save_rows
from crmrag_query.graph.schema import SCHEMA_VERSION, SCHEMAS, write_table

SHOWN_LENGTH = 200  # characters of a display label, then "…"; labels.arrow has all of it


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
    _write_tables(out, core, vocabulary, tables)
    reports = {
        "meta": {"schema": SCHEMA_VERSION, **counts},
        "unmapped": unmapped(core, vocabulary),
        "suspects": [suspect.as_dict() for suspect in tables.suspects],
    }
    for name, value in reports.items():
        (out / f"{name}.json").write_text(canonical_json(value), encoding="utf-8")


def _write_tables(out: Path, core: Core, vocabulary: Vocabulary, tables: Tables) -> None:
    best = tables.labels.unique("node", keep="first", maintain_order=True)
    text = best["text"]
    shown = pl.select(
        pl.when(text.str.len_chars() > SHOWN_LENGTH)
        .then(text.str.slice(0, SHOWN_LENGTH) + "…")
        .otherwise(text)
    )
    nodes = pl.DataFrame({"iri": core.terms.nodes, "label": shown.to_series(), "lang": best["lang"]})
    frames = {
        "nodes": nodes,
        "literals": core.literals,
        "labels": tables.labels,
        "timespans": tables.timespans,
        "links": tables.links,
        "images": tables.images,
    }
    for name, frame in frames.items():
        write_table(out, name, frame.to_arrow())
    for name, words in (("classes", vocabulary.classes), ("properties", vocabulary.properties)):
        write_table(out, name, _words_table(name, words))
    write_table(out, "graphs", pa.table({"graphs": pa.array(core.graph_sets, pa.list_(pa.utf8()))}))


def _words_table(name: str, words: Sequence[Words]) -> pa.Table:
    schema = SCHEMAS[name]
    columns = []
    for field in schema:
        values = [getattr(word, field.name) for word in words]
        if pa.types.is_map(field.type):
            values = [sorted(value.items()) for value in values]
        columns.append(pa.array(values, field.type))
    return pa.table(columns, schema=schema)


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
        found[name] = [
            {"iri": word.iri, "count": int(use)}
            for word, use in zip(words, uses, strict=True)
            if word.normalised is None
        ]
        found["renamed"] += [
            _renamed(word, int(use)) for word, use in zip(words, uses, strict=True) if _is_renamed(word)
        ]
    return found


def _is_renamed(word: Words) -> bool:
    return word.normalised is not None and word.normalised.rule != "exact"


def _renamed(word: Words, count: int) -> dict[str, Any]:
    known = word.normalised
    assert known is not None
    return {
        "iri": word.iri,
        "count": count,
        "code": known.code,
        "name": known.name,
        "rule": known.rule,
        "turned": known.turned,
    }
