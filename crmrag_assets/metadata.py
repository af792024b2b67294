"""What a materialisation says of itself, for the catalogue of assets: counts, and small tables and plots in Markdown, read
from the finished files; columns and what they are made from; and of an evaluation the figures that a person asks for first.

A mistake in operations.yaml is told where it is needed, when the definitions are loaded: a build goes on without owners and
links.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from crmrag_assets.build.step import BuildContext, Outcome, is_made, rows_of
from crmrag_assets.harvest.prefetch import TRIPLES_FILE
from crmrag_assets.harvest.report import NOTES
from crmrag_assets.harvest.triples import TRIPLES
from crmrag_assets.indexes.encoder import open_embedded
from crmrag_assets.opened import catalogue_of, documents_of, graph_of, harvest_of, texts_in_chunk
from crmrag_assets.partitions import DATASET
from crmrag_assets.profile.text import KNOWN, named, percent, shown
from crmrag_query.artifacts.manifest import PIPELINE, dataset_folder, read_manifest
from crmrag_query.config.loading import EvaluationConfig
from crmrag_query.config.operations import Operations, load_operations
from crmrag_query.documents.documents import SCHEMAS, open_table
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import ConfigError
from crmrag_query.evaluation.report import REPORT_MARKDOWN, form_accuracy, mean, percentiles, stage_table
from crmrag_query.evaluation.scores import MEASURES, Evaluation
from crmrag_query.graph.arrays import EDGE_SCHEMA, EDGES
from crmrag_query.graph.graph import Graph
from crmrag_query.graph_partitions import GraphPartitions, PartitionEdges
from crmrag_query.linking import NameIndex
from crmrag_query.ontology.load import Category
from crmrag_query.plans.kinds import Kinds
from crmrag_query.plans.profile import Profile
from crmrag_query.retrieval.aggregation import DateIndex
from crmrag_query.retrieval.communities import Communities
from crmrag_query.retrieval.dense import STORED


@lru_cache(maxsize=1)
def operations() -> Operations:
    """The configuration of operations as the catalogue shows it."""
    try:
        return load_operations()
    except ConfigError:
        return Operations()


VECTORS = pa.field("vector", pa.list_(pa.float32()))  # a row of vectors.npy beside each row of windows.arrow
NAMED, TEXTS = "prefetch.s prefetch.o prefetch.lang", "prefetch.o prefetch.lang"
COLUMNS: Mapping[str, tuple[pa.Schema, Mapping[str, tuple[str, str]]]] = {
    "prefetch": (
        TRIPLES,
        {
            "s": ("IRI of the subject; urn:skolem: for a blank node", ""),
            "p": ("IRI of the property, as the source has it", ""),
            "o": ("IRI or text of the object", ""),
            "kind": ("0: the object is an IRI; 1: a literal", ""),
            "datatype": ("IRI of the literal's datatype, empty for text", ""),
            "lang": ("the literal's language tag, empty for none", ""),
            "g": ("IRI of the named graph, empty for the default graph", ""),
        },
    ),
    "edges": (
        EDGE_SCHEMA,
        {
            "s": ("IRI of the subject", "prefetch.s"),
            "s_label": ("its name, in the data set's first language that has one", NAMED),
            "p": ("IRI of the property", "prefetch.p"),
            "p_label": ("its label in the ontology", "prefetch.p"),
            "o": ("IRI of the object, or the literal's text", "prefetch.o"),
            "o_label": ("its name; of a literal its text again", TEXTS),
        },
    ),
    "fr_documents": (
        SCHEMAS["fr_documents"],
        {
            "entity": ("number of the entity among those that the chunk lists in nodes.npy", "prefetch.s"),
            "text": (
                "what it states, before satellites and thin documents are joined",
                "prefetch.s prefetch.p prefetch.o prefetch.datatype prefetch.lang",
            ),
        },
    ),
    "documents": (
        SCHEMAS["documents"],
        {
            "entity": ("number of the entity in the graph", "fr_documents.entity"),
            "category": ("bit of its Fundamental Category, 0 for none", "prefetch.o"),
            "categories": ("bits of all its categories", "prefetch.o"),
            "label": ("its name", NAMED),
            "text": ("the final text: what is embedded, searched and shown", "fr_documents.text"),
        },
    ),
    "embeddings": (
        STORED.append(VECTORS),
        {
            "place": ("place of the document among those of the chunk, by IRI", "documents.entity"),
            "window": ("number of the window in the document", "documents.text"),
            "text_hash": ("SHA-256 of the window's text: the key of the cache", "documents.text"),
            "vector": ("of length 1 (vectors.npy, in the same order)", "documents.text"),
        },
    ),
}
"""Of each artifact that is a table (of several tables, the first that a person looks for) its columns: what each means, and
the columns of other artifacts that its values come from, over the arrays of the graph."""


def columns_of(artifact: str) -> dict[str, Any]:
    """Metadata of an artifact that is a table: its columns and their lineage; empty of any other."""
    if artifact not in COLUMNS:
        return {}
    schema, columns = COLUMNS[artifact]
    table = dg.TableSchema(
        [dg.TableColumn(field.name, _kind(field.type), columns[field.name][0]) for field in schema]
    )
    lineage = {
        column: [
            dg.TableColumnDep(dg.AssetKey(asset), name)
            for asset, _, name in (source.partition(".") for source in sources.split())
        ]
        for column, (_, sources) in columns.items()
        if sources
    }
    found = {"dagster/column_schema": table}
    return found | ({"dagster/column_lineage": dg.TableColumnLineage(lineage)} if lineage else {})


def _kind(kind: pa.DataType) -> str:
    """The type as a person knows it: of a dictionary, that of its words."""
    return _kind(kind.value_type) if pa.types.is_dictionary(kind) else str(kind).replace("large_", "")


ROWS_SHOWN = 5  # of a table
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
    folder = context.folder(artifact, chunk)
    look = LOOKS.get(artifact) if is_made(context, artifact) else None
    seen = look(context, folder) if look else Glance()
    return replace(seen, places={"folder": folder} | dict(seen.places))


def doublings(values: Numbers) -> Bars:
    """How many of the values (from 0 up) are 0, 1, 2–3, 4–7 and so on, from the least to the largest."""
    if not len(values):
        return []
    counts = np.bincount(np.frexp(values.astype(np.float64))[1])
    found = []
    for power in range(int(np.flatnonzero(counts)[0]), len(counts)):
        low, high = (1 << power) >> 1, (1 << power) - 1
        found.append((f"{low:,}" if low == high else f"{low:,}–{high:,}", int(counts[power])))
    return found


def most(counts: Numbers, name: Callable[[int], str]) -> Bars:
    """The most frequent by number, named; none that do not occur."""
    order = np.argsort(-counts, kind="stable")[:BARS].tolist()
    return [(name(number), int(counts[number])) for number in order if counts[number]]


def _first_rows(path: Path) -> tuple[pq.ParquetFile, Table]:
    file = pq.ParquetFile(path)
    batch = next(file.iter_batches(batch_size=ROWS_SHOWN), None)
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
    missing = [
        {key: "" if value is None else value for key, value in one.items()}
        for one in found["missing"][:ROWS_SHOWN]
    ]
    concerns = [{"concern": text} for text in found["concerns"]]
    tables = {"counted": rows, "concerns": concerns, "first_missing": missing}
    return Glance({title: table for title, table in tables.items() if table})


def _graph(context: BuildContext, folder: Path) -> Glance:
    graph = graph_of(context)
    forward, degree = graph.adjacency.forward, np.zeros(graph.nodes, np.int64)
    for rows in (forward, graph.adjacency.backward):
        degree += np.bincount(rows.row, np.diff(rows.ptr), graph.nodes).astype(np.int64)
    nodes = np.argsort(-degree, kind="stable")[:ROWS_SHOWN].tolist()
    connected = [
        {
            "node": graph.label(n),
            "category": Category(graph.category(n)).name or "",
            "edges": int(degree[n]),
        }
        for n in nodes
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


def _edges(context: BuildContext, folder: Path) -> Glance:
    return Glance({"first_rows": _first_rows(folder / EDGES)[1]})


def _triples_index(context: BuildContext, folder: Path) -> Glance:
    of_node = sum(np.diff(np.load(folder / f"{way}_ptr.npy", mmap_mode="r")) for way in ("out", "in"))
    return Glance(plots={"triples_of_a_node": doublings(np.asarray(of_node))})


def _fr_documents(context: BuildContext, folder: Path) -> Glance:
    graph, relationships = graph_of(context), list(catalogue_of(context))
    documents, matches = open_table(folder, "fr_documents"), open_table(folder, "matches")
    found = np.bincount(np.asarray(matches.column("relationship")), minlength=len(relationships))
    rows = [
        {"entity": graph.label(row["entity"]), "text": row["text"][:EXCERPT]}
        for row in documents.slice(0, ROWS_SHOWN).to_pylist()
    ]
    names = [f"{relationship.label} ({relationship.id})" for relationship in relationships]
    return Glance({"first_documents": rows}, {"matches_by_relationship": most(found, names.__getitem__)})


def _documents(context: BuildContext, folder: Path) -> Glance:
    documents = documents_of(context)
    lengths = pc.utf8_length(documents.table.column("text")).to_numpy().astype(np.int64)
    longest = np.argsort(-lengths, kind="stable")[:ROWS_SHOWN].tolist()
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


def _entity_documents(context: BuildContext, folder: Path) -> Glance:
    sizes = [entry.bytes for entry in context.finished("entity_documents").files]
    return Glance(plots={"bytes_of_a_file": doublings(np.asarray(sizes, np.int64))})


def _encoder(context: BuildContext, folder: Path) -> Glance:
    files = context.finished("encoder").files
    return Glance({"files": [{"file": entry.path, "bytes": entry.bytes} for entry in files]})


def _embeddings(context: BuildContext, folder: Path) -> Glance:
    documents = documents_of(context)
    table = open_embedded(folder, texts_in_chunk(context, folder.name)).windows
    own, windows = np.unique(documents.home[np.asarray(table.column("number"))], return_counts=True)
    order = np.argsort(-windows, kind="stable")[:ROWS_SHOWN].tolist()
    rows = [{"document": documents.label(int(own[i])), "windows": int(windows[i])} for i in order]
    return Glance({"most_windows": rows}, {"windows_of_a_document": doublings(windows)})


def _entity_graph(context: BuildContext, folder: Path) -> Glance:
    graph, documents = EntityGraph.open(folder), documents_of(context)
    neighbours = np.diff(graph.ptr)
    joined = most(neighbours, documents.label)
    return Glance(plots={"neighbours_of_a_document": doublings(neighbours), "most_neighbours": joined})


def _communities(context: BuildContext, folder: Path) -> Glance:
    found, documents = Communities.open(folder), documents_of(context)
    largest = [
        {
            "level": int(found.level[one]),
            "community": found.name(one),
            "documents": found.size(one),
            "most central": ", ".join(documents.label(int(member)) for member in found.members(one, 3)),
        }
        for one in found.outermost[:ROWS_SHOWN].tolist()
    ]
    sizes = {f"documents_of_a_community_{one['level']}": found.of_level(one["level"]) for one in found.levels}
    count = np.diff(found.member_ptr)
    of_levels = {
        what: [(f"level {one['level']}", one[key]) for one in found.levels]
        for what, key in (("communities", "communities"), ("documents_in_communities", "documents"))
    }
    return Glance(
        {"levels": list(found.levels), "largest": largest},
        {name: bars for name, bars in of_levels.items() if bars}
        | {name: doublings(count[chosen]) for name, chosen in sizes.items()},
    )


def _graph_partitions(context: BuildContext, folder: Path) -> Glance:
    sizes = GraphPartitions.open(folder).sizes
    return Glance(plots={"documents_of_a_part": doublings(sizes)})


def _partition_edges(context: BuildContext, folder: Path) -> Glance:
    found = PartitionEdges.open(folder)
    joined = np.bincount(np.append(found.low, found.high))
    bridges = np.diff(found.bridge_ptr)
    return Glance(
        plots={"parts_that_a_part_is_joined_to": doublings(joined), "bridges_of_a_pair": doublings(bridges)}
    )


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
    common = np.argsort(-named, kind="stable")[:ROWS_SHOWN].tolist()
    names = [index.text(entry[1]) for bag in common for entry in index.entries(bag, 1)]
    rows = [{"name": n, "entities": int(named[bag])} for n, bag in zip(names, common, strict=True)]
    words = most(np.diff(index.posting_ptr), index.word)
    return Glance({"names_of_most_entities": rows}, {"names_with_the_commonest_words": words})


def _lexicon(context: BuildContext, folder: Path) -> Glance:
    graph = graph_of(context)
    found = Kinds.open(folder, graph)
    largest = np.argsort(-found.size, kind="stable")[:ROWS_SHOWN].tolist()
    kinds = [
        {
            "kind": _kind_of_nodes(graph, found, kind),
            "category": Category(int(found.category[kind])).name or "",
            "nodes": int(found.size[kind]),
            "labelled": percent(int(found.labelled[kind]), int(found.size[kind])),
        }
        for kind in largest
    ]
    commonest = np.argsort(-found.step_triples, kind="stable")[:ROWS_SHOWN].tolist()
    steps = [
        {
            "from": _kind_of_nodes(graph, found, int(found.step_start[step])),
            "by": _property(graph, int(found.step_property[step])),
            "to": _kind_of_nodes(graph, found, int(found.step_end[step])),
            "triples": int(found.step_triples[step]),
        }
        for step in commonest
    ]
    return Glance({"largest_kinds": kinds, "commonest_steps": steps})


def _kind_of_nodes(graph: Graph, kinds: Kinds, kind: int) -> str:
    """A kind by its classes."""
    names = (
        f"{graph.class_code(number)} {graph.class_label(number)}".strip()
        for number in kinds.classes(kind).tolist()
    )
    return ", ".join(names) or "no class"


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
        for one in islice(found.classes.values(), ROWS_SHOWN)
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
    files: Counter[str] = Counter()
    size: Counter[str] = Counter()
    manifest = read_manifest(folder)
    for entry in manifest.files:
        part = entry.path.split("/")[0]
        files[part] += 1
        size[part] += entry.bytes
    parts = [part for part, _ in size.most_common()]
    shown = {part: [part] for part in parts[:BARS]}
    if others := parts[BARS:]:
        shown[f"{len(others)} others"] = others
    rows = [
        {"part": name, "files": sum(map(files.__getitem__, of)), "bytes": sum(map(size.__getitem__, of))}
        for name, of in shown.items()
    ]
    return Glance(
        {"pinned_files": rows},
        places={"published": dataset_folder(context.data, context.name) / manifest.id},
        pages={"page": f"{service}/d/{context.name}"} if (service := operations().service) else {},
    )


LOOKS: Mapping[str, Callable[[BuildContext, Path], Glance]] = {
    look.__name__.removeprefix("_"): look  # by the artifact that it looks at
    for look in (
        _prefetch, _harvest_report, _graph, _edges, _triples_index, _fr_documents, _documents, _entity_documents,
        _entity_graph, _communities, _graph_partitions, _partition_edges,
        _encoder, _embeddings, _faiss_index, _bm25_index, _aggregation_index, _date_index,
        _name_index, _lexicon, _profile, _validation_report, _release,
    )
}  # fmt: skip

# Keys of a step's counts that are shown as tables and plots.
SAMPLES, HISTOGRAMS = "samples", "histograms"
DATA_VERSION = "dagster/data_version"
# Which of an artifact's counts says how many rows it has.
ROW_COUNTS = {
    "page_images": "pages", "page_extractions": "read", "page_candidates": "candidates",
    "entities": "entities", "prefetch": "triples", "harvest_report": "triples", "graph": "nodes", "edges": "rows",
    "triples_index": "triples", "fr_documents": "documents", "documents": "documents", "entity_documents": "documents",
    "entity_graph": "edges", "communities": "communities", "community_summaries": "communities",
    "community_index": "communities", "graph_partitions": "parts", "partition_edges": "bridges",
    "training_questions": "questions", "embeddings": "windows", "faiss_index": "rows",
    "token_vectors": "tokens",
    "bm25_index": "documents", "aggregation_index": "pairs", "date_index": "dates", "name_index": "names",
    "lexicon": "kinds", "profile": "properties",
}  # fmt: skip
SPENT = ("encoded", "tokens", "usd")  # by making an artifact: nothing, where it was there already
RATE = "rows_per_second"
WIDTH = 40
VERSION_LENGTH = 16


def metadata_of(outcome: Outcome, seen: Glance | None = None) -> dict[str, Any]:
    """Metadata of one finished artifact or chunk: its counts, files, bytes, seconds, rows a second, tables, plots, links.

    The same keys every time, so that the numbers plot; rows a second only where they were made.
    """
    stats, seen = outcome.record.stats, seen or Glance()
    shown: dict[str, Any] = {}
    rows = ROW_COUNTS.get(outcome.record.artifact, "")
    if outcome.chunk is None:  # of a chunk the asset itself tells them
        shown |= columns_of(outcome.record.artifact)
    shown |= {name: stats[name] for name in ("bytes", "seconds") if name in stats}
    shown |= {"files": len(outcome.record.files), "reused": outcome.reused}
    if rows in stats and stats.get("seconds") and not outcome.reused:
        shown[RATE] = round(stats[rows] / stats["seconds"], 1)
    if outcome.reused:
        shown |= {name: type(stats[name])(0) for name in SPENT if name in stats}
    if notes := stats.get(NOTES):
        shown[NOTES] = dg.MetadataValue.md(
            markdown_table([{"what": w, "times": n} for w, n in notes.items()])
        )
    for name, table in (stats.get(SAMPLES, {}) | dict(seen.tables)).items():
        shown[name] = dg.MetadataValue.md(markdown_table(table))
    for name, bars in (stats.get(HISTOGRAMS, {}) | dict(seen.plots)).items():
        shown[name] = dg.MetadataValue.md(markdown_bars(bars))
    shown |= {name: dg.MetadataValue.path(str(path)) for name, path in seen.places.items()}
    shown |= {name: dg.MetadataValue.url(address) for name, address in seen.pages.items()}
    plain = {key: value for key, value in stats.items() if isinstance(value, bool | int | float | str)}
    return shown | {key: value for key, value in plain.items() if key not in shown}


def summary_rows(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """A row an artifact in order of work: chunks, how many of them were there already, rows, bytes, seconds spent."""
    return [
        {
            "asset": row.artifact,
            "chunks": row.chunks,
            "unchanged": row.reused,
            "rows": row.counts.get(ROW_COUNTS.get(row.artifact, ""), 0),
            "bytes": row.bytes,
            "seconds": f"{row.seconds:.1f}",
        }
        for row in rows_of(outcomes)
    ]


def data_version_of(outcome: Outcome) -> str:
    """The content's hash: an artifact made again with the same bytes keeps its version."""
    return outcome.record.content[:VERSION_LENGTH]


def plotted(metadata: Mapping[str, Any], dataset: str) -> dict[str, Any]:
    """The metadata with the data set in the names of its numbers: Dagster plots the numbers of one name as one line, of
    whatever partitions of an asset they are."""
    return {
        f"{name} ({dataset})"
        if isinstance(value, int | float) and not isinstance(value, bool)
        else name: value
        for name, value in metadata.items()
    }


def materialized(outcome: Outcome, seen: Glance, dataset: str) -> dg.MaterializeResult[Any]:
    return dg.MaterializeResult(
        metadata=plotted(metadata_of(outcome, seen), dataset),
        data_version=dg.DataVersion(data_version_of(outcome)),
    )


def chunk_materialized(
    key: dg.AssetKey, partition: dg.MultiPartitionKey, outcome: Outcome, seen: Glance
) -> dg.AssetMaterialization:
    """The event of one finished chunk, with the tags by which Dagster finds version and dimensions."""
    dimensions = {f"dagster/partition/{name}": value for name, value in partition.keys_by_dimension.items()}
    tags = {DATA_VERSION: data_version_of(outcome)} | dimensions
    metadata = plotted(metadata_of(outcome, seen), partition.keys_by_dimension[DATASET])
    return dg.AssetMaterialization(asset_key=key, partition=partition, metadata=metadata, tags=tags)


def markdown_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows with equal keys as a Markdown table."""
    if not rows:
        return "(none)"
    lines = ["| " + " | ".join(rows[0]) + " |", "|" + " --- |" * len(rows[0])]
    lines += ["| " + " | ".join(_cell(value) for value in row.values()) + " |" for row in rows]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def markdown_bars(bars: Sequence[Sequence[Any]]) -> str:
    """Pairs (name, count) as horizontal bars."""
    if not bars:
        return "(none)"
    most = max(count for _, count in bars) or 1
    width = max(len(str(name)) for name, _ in bars)
    lines = (
        f"{name!s:>{width}}  {'█' * max(round(WIDTH * count / most), count > 0)} {count:,}"
        for name, count in bars
    )
    return "```\n" + "\n".join(lines) + "\n```"


SPAN = 2000  # characters of a context that are told together


def evaluation_metadata(found: Evaluation, config: EvaluationConfig, folder: Path) -> dict[str, Any]:
    """Tables and bars of an evaluation, and its main figures; shares are of 1."""
    right, typed = form_accuracy(found)
    contexts, measure = list(found.contexts.values()), config.overall
    means = {name: mean(found.retrieval[PIPELINE][name].values()) for name in MEASURES}
    by_system = [(system, mean(scores[measure].values())) for system, scores in found.retrieval.items()]
    by_kind = []
    for kind in dict.fromkeys(found.kinds[id] for id in found.retrieval[PIPELINE][measure]):
        scores = found.retrieval[PIPELINE][measure].items()
        by_kind.append((kind, mean(value for id, value in scores if found.kinds[id] == kind)))
    spans = Counter(one.characters // SPAN for one in contexts)
    every = range(min(spans), max(spans) + 1) if spans else ()
    sizes = [(f"{span * SPAN:,}–{(span + 1) * SPAN - 1:,}", spans[span]) for span in every]
    latency = []
    for stage, values in found.latency.items():
        median, late = percentiles(values)
        latency.append({"stage": stage, "median": f"{median:.1f}", "95th percentile": f"{late:.1f}"})
    pipeline = {name: "" if value is None else f"{value:.3f}" for name, value in means.items()}
    shown: dict[str, Any] = {
        "questions": found.questions,
        "release": found.release,
        "report": dg.MetadataValue.path(str(folder / REPORT_MARKDOWN)),
        "stages": dg.MetadataValue.md(stage_table([found], config)),
        f"{measure}_by_system_percent": _percents(by_system),
        f"{measure}_by_kind_percent": _percents(by_kind),
        "pipeline": dg.MetadataValue.md(markdown_table([pipeline])),
        "query_types_right": f"{right} of {typed}",
        "context_characters": dg.MetadataValue.md(markdown_bars(sizes)),
        "most_context_characters": max((one.characters for one in contexts), default=0),
        "most_context_tokens": max((one.tokens for one in contexts), default=0),
        "latency_ms": dg.MetadataValue.md(markdown_table(latency)),
    }
    figures = {
        "gold_entities_among_sources": mean(one.entities for one in contexts),
        "gold_facts_in_context": mean(one.facts for one in contexts),
        "answer_set_f1": mean(one.f1 for one in found.answers.values()),
        "answer_gold_facts": mean(one.facts for one in found.answers.values()),
    }
    return shown | {name: round(value, 3) for name, value in figures.items() if value is not None}


def _percents(shares: Iterable[tuple[str, float | None]]) -> dg.MarkdownMetadataValue:
    return dg.MetadataValue.md(markdown_bars([(name, round(100 * (part or 0.0))) for name, part in shares]))


def evaluation_version(found: Evaluation) -> str:
    """Hash of all that was measured but time: the same release and questions keep it."""
    measured = {key: value for key, value in found.as_dict().items() if key != "latency"}
    return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()[:VERSION_LENGTH]
