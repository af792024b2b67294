"""Building the graph artifact from the prefetched chunks."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

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
from crmrag_query.artifacts.manifest import canonical_json, replacing
from crmrag_query.config.loading import Method, Suspects
from crmrag_query.graph.arrays import (
    EDGE_SCHEMA,
    EDGES,
    FLAG_ENTITY,
    FLAG_EVENT,
    FLAG_LABELLED,
    FLAG_SKOLEM,
    FLAG_SUSPECT,
    SCHEMA_VERSION,
    SCHEMAS,
    Bytes,
    Ints,
    Longs,
    places_in,
    run_starts,
    save_rows,
    write_table,
)
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.ontology.load import CategoryMap, Ontology
from crmrag_query.syntax import RDF_TYPE

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


def write_graph(
    out: Path,
    core: Core,
    vocabulary: Vocabulary,
    tables: Mapping[str, pl.DataFrame],
    suspects: Sequence[Suspect],
    nodes: Mapping[str, Bytes],
    counts: dict[str, int],
) -> None:
    """Write every file of the artifact; ``tables``: what is derived from the triples, by the names of schemas; ``nodes``:
    flags and categories, uint8 [n] each."""
    out.mkdir(parents=True, exist_ok=True)
    save_rows(out, "forward", core.forward)
    save_rows(out, "backward", core.backward)
    arrays: dict[str, npt.NDArray[Any]] = {
        **nodes,
        "type_ptr": core.type_ptr,
        "type_val": core.type_val,
        "triple_graph": core.triple_graph,
        "literal_ptr": pointers(core.literals["subject"].to_numpy(), core.nodes),
        "label_ptr": pointers(tables["labels"]["node"].to_numpy(), core.nodes),
    }
    for name, array in arrays.items():
        np.save(out / f"{name}.npy", array)
    best = tables["labels"].unique("node", keep="first", maintain_order=True)
    cut = best["text"].str.slice(0, SHOWN_LENGTH) + "…"
    shown = best["text"].zip_with(best["text"].str.len_chars() <= SHOWN_LENGTH, cut)
    frames = {
        "nodes": pl.DataFrame({"iri": core.terms.nodes, "label": shown, "lang": best["lang"]}),
        "literals": core.literals,
        **tables,
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
        "suspects": [suspect.as_dict() for suspect in suspects],
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
    watcher.advance(0, STEPS, "numbering triples")
    out.mkdir(parents=True, exist_ok=True)
    core = build_core(prefetch_files, threads, out)
    watcher.advance(1, STEPS, "normalising classes and properties")
    said = declared(core)
    core.entity[said.nodes] = False  # what the data is written in is not what it is about
    vocabulary = build_vocabulary(
        core.terms.classes, core.terms.properties, ontology, method.events.classes, languages, said
    )
    suspects = find_suspects(core, vocabulary, method.suspects)
    merged = np.array([suspect.node for suspect in suspects], np.int32)
    watcher.advance(2, STEPS, "names")
    stated = stated_names(core, vocabulary, method.names, languages, merged)
    watcher.advance(3, STEPS, "dates")
    timespans = build_timespans(core, vocabulary, method.dates, stated, merged)
    watcher.advance(4, STEPS, "names by role")
    labels = build_labels(core, vocabulary, stated, timespans, languages, merged)
    watcher.advance(5, STEPS, "links and images")
    links = build_links(core, vocabulary, method.links)
    images = build_images(core, vocabulary, method.images, image_pattern)
    watcher.advance(6, STEPS, "writing")
    tables = {"labels": labels, "timespans": timespans, "links": links, "images": images}
    category, categories = node_categories(core, vocabulary, CategoryMap(method.categories, ontology))
    arrays = {
        "flags": _flags(core, vocabulary, labels, merged),
        "category": category,
        "categories": categories,
    }
    counts = _counts(core, tables) | {"suspects": len(suspects)}
    write_graph(out, core, vocabulary, tables, suspects, arrays, counts)
    watcher.advance(STEPS, STEPS, "graph written")
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


def _counts(core: Core, tables: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    best = tables["labels"].unique("node", keep="first")["kind"].value_counts()
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
        "dated": tables["timespans"].filter(~pl.all_horizontal(pl.col(DAYS).is_null())).height,
        "links": tables["links"].height,
        "images": tables["images"].height,
    }


PICKLE = "triples_index.pkl"
PICKLE_PROTOCOL = 4


def write_triples_index(graph_dir: Path, out: Path, with_pickle: bool = False) -> int:
    """Write the index of the graph in ``graph_dir``, with ``triples_index.pkl`` when asked; returns the triples."""
    out.mkdir(parents=True, exist_ok=True)
    graph = Graph.open(graph_dir)
    forward = graph.adjacency.forward
    subjects = forward.sources
    np.save(out / "tri_s.npy", subjects)
    np.save(out / "tri_p.npy", forward.properties)
    for name, nodes in (("out", subjects), ("in", np.asarray(forward.val))):
        order = np.argsort(nodes, kind="stable")
        np.save(out / f"{name}_ptr.npy", pointers(nodes[order], graph.nodes))
        np.save(out / f"{name}_tri.npy", order.astype(np.int32))
    if with_pickle:  # {entity IRI: [{s, s_label, p, p_label, o, o_label}, …]}, which nothing here loads
        entries = dict(_entries(TriplesIndex.open(out, graph)))
        with (out / PICKLE).open("wb") as stream:
            pickle.dump(entries, stream, protocol=PICKLE_PROTOCOL)
    return len(subjects)


def _entries(index: TriplesIndex) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    graph = index.graph
    for node in range(graph.nodes):
        found = [
            _entry(graph, triple.s, triple.p, graph.iri(triple.o), graph.label(triple.o))
            for triple in index.of(node)
        ]
        found += [_entry(graph, node, item.property, item.value, item.value) for item in graph.literals(node)]
        if found:
            yield graph.iri(node), found


def _entry(graph: Graph, s: int, p: int, o: str, o_label: str) -> dict[str, Any]:
    return {
        "s": graph.iri(s), "s_label": graph.label(s),
        "p": graph.property_iri(p), "p_label": graph.property_label(p),
        "o": o, "o_label": o_label,
    }  # fmt: skip


TYPE_LABEL = "type"


ROWS = 500_000  # of a row group: what the published CRM-RAG writes at once


def write_edges(graph_dir: Path, out: Path, progress: Progress | None = None, batch_rows: int = ROWS) -> int:
    """Write ``edges.parquet`` into ``out``: every triple of the graph once; returns how many.

    They stand by subject: types, then links by property, then literals, for which ``o`` and ``o_label`` are the value.
    A row group holds ``batch_rows`` triples.
    """
    out.mkdir(parents=True, exist_ok=True)
    watcher = progress or SilentProgress()
    graph = Graph.open(graph_dir)
    order, kinds = _order(graph)
    things = _Things.of(graph)
    with (
        replacing(out / EDGES) as temporary,
        pq.ParquetWriter(temporary, EDGE_SCHEMA, compression="zstd") as writer,
        ThreadPoolExecutor(1) as beside,  # a batch is written while the next is made
    ):
        writing: Future[None] | None = None
        for start in range(0, len(order), batch_rows):
            watcher.advance(start, len(order), "triples")
            batch = _batch(things, order[start : start + batch_rows], kinds)
            if writing is not None:
                writing.result()
            writing = beside.submit(writer.write_table, batch, row_group_size=batch_rows)
        if writing is not None:
            writing.result()
    watcher.advance(len(order), len(order), "triples")
    return len(order)


def _order(graph: Graph) -> tuple[Longs, tuple[int, int]]:
    """Numbers of all triples by subject: types first, then links, then literals; and where links and literals begin."""
    type_ptr, types = graph.type_rows
    typed = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(type_ptr))
    subjects = graph.adjacency.forward.sources
    literal = graph.literal_table.column("subject").to_numpy()
    order = np.argsort(np.concatenate([typed, subjects, literal]), kind="stable")
    return order, (len(types), len(types) + len(subjects))


@dataclass(frozen=True)
class _Things:
    """Whatever stands at an end of a triple under one number: nodes first, then classes, then literals.

    ``classes``, ``properties``: IRIs and labels by number; the last property stands for rdf:type.
    """

    graph: Graph
    classes: tuple[pa.Array, pa.Array]
    properties: tuple[pa.Array, pa.Array]

    @classmethod
    def of(cls, graph: Graph) -> _Things:
        kinds, props = range(len(graph.class_codes)), range(len(graph.property_codes))
        classes = (map(graph.class_iri, kinds), map(graph.class_label, kinds))
        properties = (
            [*map(graph.property_iri, props), RDF_TYPE],
            [*map(graph.property_label, props), TYPE_LABEL],
        )
        iris, labels = (pa.array(list(words), pa.large_utf8()) for words in classes)
        return cls(graph, (iris, labels), tuple(pa.array(words, pa.large_utf8()) for words in properties))

    @property
    def literals_from(self) -> int:
        return self.graph.nodes + len(self.classes[0])

    def named(self, numbers: Longs) -> tuple[pa.Array, pa.Array]:
        """IRIs (of a literal, its value) and labels of things."""
        kind = np.digitize(numbers, (self.graph.nodes, self.literals_from))
        nodes, classes, literals = (pa.array(numbers[kind == one]) for one in range(3))
        classes, literals = pc.subtract(classes, self.graph.nodes), pc.subtract(literals, self.literals_from)
        values = self.graph.literal_table.column("value").take(literals)
        back = pa.array(places_in(np.argsort(kind, kind="stable")))
        iris = [self.graph.iris.take(nodes), self.classes[0].take(classes), values]
        labels = [self.graph.display_labels.take(nodes), self.classes[1].take(classes), values]
        iri, label = (_whole(parts).take(back) for parts in (iris, labels))
        return iri, label

    def of_properties(self, numbers: Longs) -> tuple[pa.Array, pa.Array]:
        """IRIs and labels of properties."""
        iris, labels = self.properties
        return iris.take(pa.array(numbers)), labels.take(pa.array(numbers))


def _whole(columns: Iterable[pa.Array | pa.ChunkedArray]) -> pa.Array:
    parts = (one.combine_chunks() if isinstance(one, pa.ChunkedArray) else one for one in columns)
    return pa.concat_arrays(list(parts))


def _batch(things: _Things, numbers: Longs, kinds: tuple[int, int]) -> pa.Table:
    """The rows of these triples, in this order.

    Each distinct thing is named once: its name may be that of another one too, and stands once in the dictionary.
    """
    columns: list[pa.Array] = []
    subject, prop, object_ = _numbered(things, numbers, kinds)
    for column, named in ((subject, things.named), (prop, things.of_properties), (object_, things.named)):
        distinct = pa.array(column).dictionary_encode()
        for texts in named(distinct.dictionary.to_numpy()):
            words = texts.cast(pa.utf8()).dictionary_encode()
            places = words.indices.take(distinct.indices)
            columns.append(pa.DictionaryArray.from_arrays(places, words.dictionary))
    return pa.table(columns, schema=EDGE_SCHEMA)


def _numbered(things: _Things, numbers: Longs, kinds: tuple[int, int]) -> tuple[Longs, Longs, Longs]:
    """Subject, property and object of triples, as numbers of things and of properties."""
    graph, (links_from, literals_from) = things.graph, kinds
    subject, prop, object_ = (np.empty(len(numbers), np.int64) for _ in range(3))
    types, literals = numbers < links_from, numbers >= literals_from
    links = ~types & ~literals

    type_ptr, classes = graph.type_rows
    at = numbers[types]
    subject[types] = np.searchsorted(type_ptr, at, side="right") - 1
    prop[types] = len(graph.property_codes)
    object_[types] = graph.nodes + classes[at]

    rows, at = graph.adjacency.forward, numbers[links] - links_from
    row = np.searchsorted(rows.ptr, at, side="right") - 1
    subject[links], object_[links] = rows.row[row], rows.val[at]
    prop[links] = np.searchsorted(rows.prop, row, side="right") - 1

    table, at = graph.literal_table, numbers[literals] - literals_from
    subject[literals] = table.column("subject").to_numpy()[at]
    prop[literals] = table.column("property").to_numpy()[at]
    object_[literals] = things.literals_from + at
    return subject, prop, object_
