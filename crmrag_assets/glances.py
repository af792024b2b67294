"""A glance at a finished artifact: small tables and plots read from its files, for the catalogue of assets."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from crmrag_assets.build.harvest import harvest_of
from crmrag_assets.build.opened import catalogue_of, documents_in_chunk, documents_of, graph_of
from crmrag_assets.build.step import BuildContext
from crmrag_assets.graph.edges import EDGES
from crmrag_assets.harvest.prefetch import TRIPLES_FILE
from crmrag_assets.indexes.embed import open_embedded
from crmrag_assets.profile.text import KNOWN, named, percent, shown
from crmrag_assets.settings import service_address
from crmrag_query.artifacts.manifest import read_manifest
from crmrag_query.artifacts.places import dataset_folder
from crmrag_query.documents.schema import open_table
from crmrag_query.graph.graph import Graph
from crmrag_query.linking.index import NameIndex
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.profile import Profile
from crmrag_query.relationships.catalogue import Relationship
from crmrag_query.retrieval.date_index import DateIndex

ROWS = 5  # of a table
BARS = 10  # of a plot of the most frequent
EXCERPT = 300  # characters of a document

Bars = Sequence[tuple[str, int]]
Table = Sequence[Mapping[str, Any]]
Numbers = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class Glance:
    """Tables (equal keys in each row) and plots (name, count) by title; places on disk and pages on the web by name."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    plots: Mapping[str, Bars] = field(default_factory=dict)
    places: Mapping[str, Path] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)


def glance(artifact: str, context: BuildContext, chunk: str | None = None) -> Glance:
    """What to show of a finished artifact or chunk, and where it lies."""
    look, folder = LOOKS.get(artifact), context.folder(artifact, chunk)
    seen = look(context, folder) if look else Glance()
    return replace(seen, places={"folder": folder} | dict(seen.places))


def doublings(values: Numbers) -> Bars:
    """How many of the values (from 0 up) are 0, 1, 2–3, 4–7 and so on, from the least to the largest."""
    if not len(values):
        return []
    counts = np.bincount(np.frexp(values.astype(np.float64))[1])
    return [
        (_span(power), int(counts[power])) for power in range(int(np.flatnonzero(counts)[0]), len(counts))
    ]


def _span(power: int) -> str:
    low, high = (1 << power) >> 1, (1 << power) - 1
    return f"{low:,}" if low == high else f"{low:,}–{high:,}"


def most(counts: Numbers, name: Callable[[int], str]) -> Bars:
    """The most frequent by number, named; none that do not occur."""
    order = np.argsort(-counts, kind="stable")[:BARS].tolist()
    return [(name(number), int(counts[number])) for number in order if counts[number]]


def _first_rows(path: Path) -> tuple[pq.ParquetFile, Table]:
    file = pq.ParquetFile(path)
    batch = next(file.iter_batches(batch_size=ROWS), None)
    return file, batch.to_pylist() if batch is not None else []


def _prefetch(context: BuildContext, folder: Path) -> Glance:
    file, rows = _first_rows(folder / TRIPLES_FILE)
    used = file.read(["p"]).column("p").value_counts().to_pylist()
    used.sort(key=lambda entry: (-entry["counts"], entry["values"]))
    shown = [{name: row[name] for name in ("s", "p", "o", "lang")} for row in rows]
    return Glance(
        {"first_triples": shown},
        {"most_used_predicates": [(entry["values"], entry["counts"]) for entry in used[:BARS]]},
    )


def _harvest_report(context: BuildContext, folder: Path) -> Glance:
    found = harvest_of(context)
    counted = found["counted"]
    rows = [
        {"what": what}
        | {when: (counted[when] or {}).get(what, "") for when in ("before", "after", "harvested")}
        for what in ("triples", "subjects")
    ]
    tables: dict[str, Table] = {"counted": rows}
    tables |= {"concerns": [{"concern": text} for text in found["concerns"]]} if found["concerns"] else {}
    if found["missing"]:
        tables["first_missing"] = [
            {key: "" if value is None else value for key, value in one.items()}
            for one in found["missing"][:ROWS]
        ]
    return Glance(tables)


def _graph(context: BuildContext, folder: Path) -> Glance:
    graph = graph_of(context)
    forward, degree = graph.adjacency.forward, np.zeros(graph.nodes, np.int64)
    for rows in (forward, graph.adjacency.backward):
        degree += np.bincount(rows.row, np.diff(rows.ptr), graph.nodes).astype(np.int64)
    nodes = np.argsort(-degree, kind="stable")[:ROWS].tolist()
    connected = [
        {"node": graph.label(n), "category": _category(graph, n), "edges": int(degree[n])} for n in nodes
    ]
    plots: dict[str, Bars] = {
        "nodes_by_category": [
            (bit.name or "", int((graph.category_of_node == int(bit)).sum())) for bit in Category
        ],
        "edges_by_property": most(
            np.diff(forward.ptr[forward.prop]), lambda number: _property(graph, number)
        ),
        "edges_of_a_node": doublings(degree),
    }
    return Glance({"most_connected": connected}, plots)


def _property(graph: Graph, number: int) -> str:
    code = graph.property_code(number)
    return f"{code} {graph.property_label(number)}" if code else graph.property_iri(number)


def _category(graph: Graph, node: int) -> str:
    return Category(graph.category(node)).name or ""


def _edges(context: BuildContext, folder: Path) -> Glance:
    return Glance({"first_rows": _first_rows(folder / EDGES)[1]})


def _triples(context: BuildContext, folder: Path) -> Glance:
    of_node = sum(np.diff(np.load(folder / f"{way}_ptr.npy", mmap_mode="r")) for way in ("out", "in"))
    return Glance(plots={"triples_of_a_node": doublings(np.asarray(of_node))})


def _fr_documents(context: BuildContext, folder: Path) -> Glance:
    graph, relationships = graph_of(context), list(catalogue_of(context))
    documents, matches = open_table(folder, "fr_documents"), open_table(folder, "matches")
    found = np.bincount(np.asarray(matches.column("relationship")), minlength=len(relationships))
    rows = [
        {"entity": graph.label(row["entity"]), "text": row["text"][:EXCERPT]}
        for row in documents.slice(0, ROWS).to_pylist()
    ]
    return Glance(
        {"first_documents": rows},
        {"matches_by_relationship": most(found, lambda number: _relationship(relationships[number]))},
    )


def _relationship(relationship: Relationship) -> str:
    return f"{relationship.label} ({relationship.id})"


def _documents(context: BuildContext, folder: Path) -> Glance:
    documents = documents_of(context)
    table = documents.table
    lengths = np.fromiter((len(text) for text in _texts(table)), np.int64, documents.count)
    longest = np.argsort(-lengths, kind="stable")[:ROWS].tolist()
    rows = [
        {"document": documents.label(i), "characters": int(lengths[i]), "text": documents.text(i)[:EXCERPT]}
        for i in longest
    ]
    own = documents.category_of
    by_category = [(bit.name or "", int((own == int(bit)).sum())) for bit in Category]
    return Glance(
        {"longest": rows},
        {"documents_by_category": by_category, "characters_of_a_document": doublings(lengths)},
    )


def _texts(table: Any) -> Iterator[str]:
    for chunk in table.column("text").chunks:
        yield from (text.as_py() for text in chunk)


def _entity_documents(context: BuildContext, folder: Path) -> Glance:
    sizes = [entry.bytes for entry in context.finished("entity_documents").files]
    return Glance(plots={"bytes_of_a_file": doublings(np.asarray(sizes, np.int64))})


def _encoder(context: BuildContext, folder: Path) -> Glance:
    files = context.finished("encoder").files
    return Glance({"files": [{"file": entry.path, "bytes": entry.bytes} for entry in files]})


def _embeddings(context: BuildContext, folder: Path) -> Glance:
    graph, chosen = graph_of(context), documents_in_chunk(context, folder.name)
    table = open_embedded(folder, documents_of(context).entities[chosen]).windows
    entities, windows = np.unique(np.asarray(table.column("entity")), return_counts=True)
    order = np.argsort(-windows, kind="stable")[:ROWS].tolist()
    rows = [{"document": graph.label(int(entities[i])), "windows": int(windows[i])} for i in order]
    return Glance({"most_windows": rows}, {"windows_of_a_document": doublings(windows)})


def _faiss_index(context: BuildContext, folder: Path) -> Glance:
    rows = np.bincount(np.load(folder / "window_document.npy", mmap_mode="r"))
    return Glance(plots={"rows_of_a_document": doublings(rows)})


def _bm25_index(context: BuildContext, folder: Path) -> Glance:
    text, ptr = (np.load(folder / f"vocabulary_{part}.npy", mmap_mode="r") for part in ("text", "ptr"))
    postings = folder / "indptr.csc.index.npy"
    if not postings.exists():  # an index without terms
        return Glance()
    found = np.diff(np.load(postings, mmap_mode="r"))[: len(ptr) - 1]
    common = most(found, lambda number: text[ptr[number] : ptr[number + 1]].tobytes().decode())
    return Glance(plots={"documents_of_the_commonest_terms": common, "documents_of_a_term": doublings(found)})


def _aggregation_index(context: BuildContext, folder: Path) -> Glance:
    found = json.loads((folder / "aggregation_index.json").read_bytes())
    ranked = [
        {"category": category, "entity": label, "pagerank": f"{score:.5f}"}
        for category, entries in found["pagerank"].items()
        for _, label, score in islice(entries, 2)
    ]
    classes = sorted(found["classes"], key=lambda entry: -entry["entities"])[:BARS]
    return Glance(
        {"highest_pagerank": ranked},
        {"entities_by_class": [(f"{c['code']} {c['label']}".strip(), c["entities"]) for c in classes]},
    )


def _date_index(context: BuildContext, folder: Path) -> Glance:
    index = DateIndex.open(folder)
    rows = [(name, int(n)) for name, n in zip(index.relationships, np.diff(index.ptr), strict=True) if n]
    return Glance(plots={"dates_by_relationship": rows})


def _name_index(context: BuildContext, folder: Path) -> Glance:
    index = NameIndex.open(folder)
    named = np.diff(index.entry_ptr)
    common = np.argsort(-named, kind="stable")[:ROWS].tolist()
    names = [index.text(entry[1]) for bag in common for entry in index.entries(bag, 1)]
    rows = [{"name": n, "entities": int(named[bag])} for n, bag in zip(names, common, strict=True)]
    words = most(np.diff(index.posting_ptr), index.word)
    return Glance({"names_of_most_entities": rows}, {"names_with_the_commonest_words": words})


def _profile(context: BuildContext, folder: Path) -> Glance:
    found = Profile.open(folder)
    known = [
        {"category": one.category, "entities": one.entities}
        | {kind: percent(getattr(one, kind), one.entities) for kind in KNOWN}
        for one in found.coverage.values()
        if one.entities
    ]
    classes = [
        {
            "class": named(one.code, one.label, one.iri),
            "entities": one.entities,
            "such as": shown(one.examples),
        }
        for one in islice(found.classes.values(), ROWS)
    ]
    pairs = sorted(found.relationships.values(), key=lambda one: -one.pairs)[:BARS]
    plots = {
        "entities_of_the_commonest_types": [(one.label, one.entities) for one in found.types[:BARS]],
        "pairs_by_relationship": [(f"{one.label} ({one.id})", one.pairs) for one in pairs if one.pairs],
    }
    return Glance(
        {"known_of_entities": known, "commonest_classes": classes},
        {title: bars for title, bars in plots.items() if bars},
    )


def _validation_report(context: BuildContext, folder: Path) -> Glance:
    found = json.loads((folder / "validation_report.json").read_bytes())
    concerns = [{"concern": text} for text in found["concerns"]]
    return Glance(
        {"concerns": concerns},
        {"characters_of_a_document": found["documents"]["lengths"]},
        {"report": folder / "validation_report.md"},
    )


def _release(context: BuildContext, folder: Path) -> Glance:
    files: dict[str, int] = {}
    size: dict[str, int] = {}
    manifest = read_manifest(folder)
    for entry in manifest.files:
        part = entry.path.split("/")[0]
        files[part] = files.get(part, 0) + 1
        size[part] = size.get(part, 0) + entry.bytes
    return Glance(
        {"pinned_files": [{"part": p, "files": files[p], "bytes": size[p]} for p in sorted(files)]},
        places={"published": dataset_folder(context.data, context.name) / manifest.id},
        pages={"page": f"{service}/d/{context.name}"} if (service := service_address()) else {},
    )


LOOKS: Mapping[str, Callable[[BuildContext, Path], Glance]] = {
    "prefetch": _prefetch,
    "harvest_report": _harvest_report,
    "graph": _graph,
    "edges": _edges,
    "triples_index": _triples,
    "fr_documents": _fr_documents,
    "documents": _documents,
    "entity_documents": _entity_documents,
    "encoder": _encoder,
    "embeddings": _embeddings,
    "faiss_index": _faiss_index,
    "bm25_index": _bm25_index,
    "aggregation_index": _aggregation_index,
    "date_index": _date_index,
    "name_index": _name_index,
    "profile": _profile,
    "validation_report": _validation_report,
    "release": _release,
}
