"""What a release tells of one entity, of entities by name, and of itself as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean
from typing import Any
from urllib.parse import unquote

import numpy as np

from crmrag_query import bounds
from crmrag_query.answers.records import SourceLink
from crmrag_query.artifacts.manifest import EVALUATION, PIPELINE, evaluations_folder
from crmrag_query.artifacts.release import Release
from crmrag_query.client import records
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.details import Details, category_name
from crmrag_query.errors import QuestionError, ReleaseError, UnknownEntity
from crmrag_query.graph.graph import Graph, Triple, TriplesIndex
from crmrag_query.linking import NameIndex, plain_words, search
from crmrag_query.plans.world import World, class_numbers
from crmrag_query.relationships.engine import Plan, make_plan, walk
from crmrag_query.retrieval.aggregation import Aggregation
from crmrag_query.sets.describe import Wording
from crmrag_query.shown import Named, SourceTriple
from crmrag_query.text import ELLIPSIS

SUGGESTED = 3
DESCRIBING = ("P3",)  # properties whose texts a release has among the names, to label what has no other
MADE = ("role", "iri")  # kinds of labels that the data does not state


@dataclass(frozen=True)
class Paths:
    """The paths of the release's Fundamental Relationships; made once, they serve every entity."""

    plan: Plan

    @classmethod
    def from_release(cls, release: Release) -> Paths:
        return cls(make_plan(release[Graph].adjacency, release.ontology, release[World].catalogue))


def describe_entity(release: Release, dataset: str, iri: str, language: str) -> records.Entity:
    """All of an entity, bounded as in ``bounds``; UnknownEntity for an IRI that the release does not hold."""
    node = find_node(release, iri)
    graph, details = release[Graph], Details(release, language or release.manifest.language)
    documents, text = release[Documents], ""
    holder: Named | None = None
    document = documents.document_of(node)  # that holds the node's facts
    if document is not None:
        text, own = documents.text(document), documents.entity(document)
        holder = None if own == node else Named(graph.iri(own), graph.label(own))
    literals = graph.literals(node)
    licence, attribution = details.rights(node)
    return records.Entity(
        iri,
        graph.label(node, (language,) if language else ()),
        category_name(graph, node),
        tuple(
            records.ClassOf(graph.class_code(number), graph.class_iri(number), graph.class_label(number, language))
            for number in map(int, graph.types(node))
        ),
        dataset,
        release.id,
        *_names(release, node),
        text,
        holder,
        tuple(
            records.Value(
                graph.property_iri(one.property), graph.property_label(one.property, lang=language), one.value,
                one.datatype, one.lang, one.graphs,
            )
            for one in literals[: bounds.LITERALS]
        ),
        len(literals),
        tuple(graph.images(node)),
        tuple(SourceLink(one.iri, one.kind) for one in graph.links(node)),
        details.dates(node),
        details.coordinates(node),
        _relationships(release, node, language),
        release[TriplesIndex].degree(node),
        licence,
        attribution,
    )  # fmt: skip


def list_neighbours(
    release: Release, dataset: str, iri: str, limit: int, offset: int, language: str
) -> records.Neighbours:
    """A page of the triples of a node; QuestionError for a page out of bounds, UnknownEntity."""
    bounds.check_range("limit", limit, 1, bounds.NEIGHBOURS)
    bounds.check_range("offset", offset, 0, release[Graph].triples)
    node = find_node(release, iri)
    numbers = release[TriplesIndex].numbers_of(node)
    chosen = numbers[offset : offset + limit].tolist()
    after = offset + len(chosen)
    return records.Neighbours(
        iri,
        release[Graph].label(node, (language,) if language else ()),
        tuple(_triple(release, release[TriplesIndex].triple(number), language) for number in chosen),
        len(numbers),
        offset,
        dataset,
        release.id,
        after if after < len(numbers) else None,
    )


def search_entities(release: Release, dataset: str, text: str, limit: int) -> records.Found:
    """Entities by name, best first."""
    bounds.check_range("limit", limit, 1, bounds.SEARCH)
    bounds.check_text("The text", text)
    if not text.strip():
        raise QuestionError("There is nothing to search for.", "Give a name, or its beginning.")
    graph = release[Graph]
    found = search(release[NameIndex], text, limit, plain_words(release.method.questions))
    entities = tuple(
        records.FoundEntity(
            graph.iri(one.entity), graph.label(one.entity), category_name(graph, one.entity),
            tuple(dict.fromkeys(graph.class_label(int(number)) for number in graph.types(one.entity))),
            one.name, one.how, float(one.score),
        )
        for one in found
    )  # fmt: skip
    return records.Found(text, entities, dataset, release.id)


def find_node(release: Release, iri: str) -> int:
    """The node of an IRI; UnknownEntity, with IRIs that may be meant, for one that the release does not hold."""
    bounds.check_text("The IRI", iri)
    node = release[Graph].node(iri)
    if node is not None:
        return node
    near = tuple(dict.fromkeys(_near(release, iri)))[:SUGGESTED]
    remedy = f"Perhaps: {', '.join(near)}. " if near else ""
    raise UnknownEntity(
        f"There is no entity {iri!r} in the data set.", f"{remedy}Find entities by name: search(...).", near
    )


def _near(release: Release, iri: str) -> Iterable[str]:
    """IRIs of entities whose names hold the words that the IRI ends with, or that were given in place of one."""
    local = re.split(r"[/#:]", iri.rstrip("/#:"))[-1]
    words = " ".join(re.findall(r"\w+", unquote(local).replace("_", " ")))
    if words:
        with suppress(ReleaseError):  # a release may be older than the index of names
            for one in search(release[NameIndex], words, SUGGESTED, plain_words(release.method.questions)):
                yield release[Graph].iri(one.entity)


def _names(release: Release, node: int) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...]]:
    """The stated names by language, and apart from these the identifiers; what was made from a role or an IRI is none, nor is
    a description or its beginning."""
    graph = release[Graph]
    texts: dict[bool, list[str]] = {True: [], False: []}
    for one in graph.literals(node):
        describing = graph.property_code(one.property) in DESCRIBING
        texts[describing].append(" ".join(one.value.split()))
    described = [text for text in texts[True] if text not in texts[False]]  # not what is also given as a name

    def describes(name: str) -> bool:
        begun = name.removesuffix(ELLIPSIS)
        return any(text == name or (begun != name and text.startswith(begun)) for text in described)

    stated = [one for one in graph.labels(node) if one.kind not in MADE and not describes(one.text)]
    names: dict[str, dict[str, None]] = {}
    identifiers: dict[str, None] = {}
    for label in stated[: bounds.NAMES]:
        kept = identifiers if label.kind == "identifier" else names.setdefault(label.lang, {})
        kept[label.text] = None
    return {lang: tuple(texts) for lang, texts in names.items()}, tuple(identifiers)


def _relationships(release: Release, node: int, language: str) -> tuple[records.Related, ...]:
    """Where the Fundamental Relationships of the node's category lead, in the catalogue's order, the most central first."""
    graph, catalogue = release[Graph], release[World].catalogue
    matches = walk(
        graph.adjacency, release.ontology, catalogue, np.array([node], np.int32), plan=release[Paths].plan
    )
    rank, translations = release[Aggregation].pagerank, release.method.translations
    groups = []
    for number in np.unique(matches.relationship).tolist():
        targets = matches.target[matches.relationship == number]
        first = targets[np.lexsort((targets, -rank[targets]))][: bounds.TARGETS].tolist()
        named = tuple(
            Named(graph.iri(one), graph.label(one, (language,) if language else ())) for one in first
        )
        one = catalogue[number]
        label = translations.of(one.label, language)
        groups.append(records.Related(one.id, label, str(one.range.name), len(targets), named))
    return tuple(groups)


def _triple(release: Release, triple: Triple, language: str) -> SourceTriple:
    graph = release[Graph]
    languages = (language,) if language else ()
    return SourceTriple(
        graph.iri(triple.s),
        graph.property_iri(triple.p),
        graph.iri(triple.o),
        graph.label(triple.s, languages),
        graph.property_label(triple.p, lang=language),
        graph.label(triple.o, languages),
        release[TriplesIndex].graphs(triple.number),
    )


REPORT_JSON, REPORT_MARKDOWN = "validation_report.json", "validation_report.md"
TOP = 10  # entities of each category, by PageRank
CLASSES = 50  # classes listed, the most frequent ones


def describe_dataset(release: Release, dataset: records.Dataset, language: str) -> records.DatasetDetail:
    """All that a release tells of itself, names of classes and relationships in a language; ReleaseError where a part cannot
    be read."""
    content = release.provenance or {}
    path = release.folder / REPORT_JSON
    try:
        found = json.loads(_read(path))
    except ValueError as error:
        raise ReleaseError(f"{path} cannot be read ({error}).", "Build the data set again.") from error
    report: dict[str, Any] = found if isinstance(found, dict) else {}
    markdown = _read(release.folder / REPORT_MARKDOWN)
    harvest, aggregation = content.get("harvest", {}), release[Aggregation]
    for one in sorted(_declared(harvest), key=len, reverse=True):
        markdown = markdown.replace(one, _name(one))  # files without their folders
    top = (
        records.TopEntity(one.iri, one.label, share.category, one.score)
        for share in aggregation.categories
        for one in aggregation.top(share.category, TOP)
    )
    world, wording, translations = release[World], Wording(release, language), release.method.translations
    classes = [  # the most frequent ones, with the entities of their sub-classes
        records.ClassShare(
            wording.class_(one.iri), one.code, one.iri,
            int((world.of_classes(class_numbers(world, one.iri) or set()) & world.entities).sum()), one.entities,
        )
        for one in aggregation.classes[: CLASSES]
    ]  # fmt: skip
    return records.DatasetDetail(
        dataset,
        str(content.get("built", "")),
        max(map(str, content.get("fetched", {}).values()), default=""),
        tuple(map(_name, _declared(harvest))),
        harvest.get("whole"),
        tuple(map(str, report.get("concerns", ()))),
        tuple(
            records.CategoryShare(one.category, one.any, one.primary)
            for one in aggregation.categories
            if one.any
        ),
        tuple(sorted(classes, key=lambda one: (-one.count, -one.own))),
        tuple(
            records.RelationshipShare(one.key, translations.of(one.label, language), one.pairs)
            for one in aggregation.relationships
            if one.pairs
        ),
        tuple(top),
        tuple(_coverage(report)),
        markdown,
        {name: str(value) for name, value in release.manifest.versions.items()},
        {name: str(value) for name, value in release.manifest.embedding.items()},
    )


def _read(path: Path) -> str:
    """A file of the release; ReleaseError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ReleaseError(f"{path} cannot be read ({error}).", "Build the data set again.") from error


def _declared(harvest: Mapping[str, Any]) -> list[str]:
    """The files and addresses of a data set's source, or of each of its sources, without their kinds and graphs."""
    source = harvest.get("source", {})
    stated = (
        value
        for one in source.get("sources") or [source]
        for key, value in one.items()
        if key not in ("kind", "graph")
    )
    return [str(text) for value in stated for text in (value if isinstance(value, list) else [value])]


def _name(declared: str) -> str:
    """The name of a file without its folder, which is nobody's business; an address as it is."""
    return declared if "://" in declared else declared.rpartition("/")[2]


def _coverage(report: Mapping[str, Any]) -> Iterator[records.Coverage]:
    entities = report.get("entities", {})
    for what, lacking, among in (
        ("named", "unlabelled", "entities"),
        ("typed", "untyped", "entities"),
        ("categorised", "without_category", "entities"),
        ("dated events", "undated_events", "events"),
        ("described", "dangling", "nodes"),
    ):
        of = int(entities.get(among, 0))
        count = max(0, of - int(entities.get(lacking, {}).get("count", 0)))
        yield records.Coverage(what, count, of, count / of if of else 1.0)


def list_evaluations(data: Path, dataset: str) -> tuple[records.EvaluationSummary, ...]:
    """The evaluations that lie in the data folder, the latest first; what cannot be read is left out."""
    found = []
    for path in sorted(evaluations_folder(data, dataset).glob(f"**/{EVALUATION}")):
        try:
            told = json.loads(path.read_bytes())
            scores = told["retrieval"].get(PIPELINE) or next(iter(told["retrieval"].values()))
            measures = {name: fmean(values.values()) for name, values in scores.items() if values}
            made = datetime.fromtimestamp(path.stat().st_mtime, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            found.append(
                records.EvaluationSummary(Path(told["file"]).name, made, len(told["asked"]), measures)
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
            continue
    return tuple(sorted(found, key=lambda one: one.made, reverse=True))
