"""What a release tells of one entity: its names, dates, relationships and neighbours; and entities by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from urllib.parse import unquote

import numpy as np

from crmrag_query.answers.details import Details
from crmrag_query.answers.naming import category_name
from crmrag_query.answers.records import Named, SourceLink, SourceTriple
from crmrag_query.artifacts.release import Release
from crmrag_query.client import bounds
from crmrag_query.client.records import (
    ClassOf,
    Entity,
    Found,
    FoundEntity,
    Neighbours,
    Related,
    Value,
)
from crmrag_query.context.text import ELLIPSIS
from crmrag_query.errors import QuestionError, ReleaseError, UnknownEntity
from crmrag_query.graph.triples import Triple
from crmrag_query.linking.suggest import search
from crmrag_query.relationships.engine import walk
from crmrag_query.relationships.plan import Plan, make_plan

SUGGESTED = 3
DESCRIBING = ("P3",)  # properties whose texts a release has among the names, to label what has no other
MADE = ("role", "iri")  # kinds of labels that the data does not state


def plan_of(release: Release) -> Plan:
    """The paths of the release's Fundamental Relationships; made once, it serves every entity."""
    return make_plan(release.graph.adjacency, release.ontology, release.catalogue)


def describe_entity(release: Release, dataset: str, iri: str, language: str, plan: Plan) -> Entity:
    """All of an entity, bounded as in ``bounds``; UnknownEntity for an IRI that the release does not hold."""
    node = find_node(release, iri)
    graph, details = release.graph, Details(release, _language(release, language))
    text, holder = _document(release, node)
    literals = graph.literals(node)
    licence, attribution = details.rights(node)
    return Entity(
        iri,
        graph.label(node, (language,) if language else ()),
        category_name(graph, node),
        tuple(_class(release, int(number), language) for number in graph.types(node)),
        dataset,
        release.id,
        _names(release, node),
        text,
        holder,
        tuple(
            Value(
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
        _relationships(release, node, language, plan),
        release.triples.degree(node),
        licence,
        attribution,
    )  # fmt: skip


def list_neighbours(
    release: Release, dataset: str, iri: str, limit: int, offset: int, language: str
) -> Neighbours:
    """A page of the triples of a node; QuestionError for a page out of bounds, UnknownEntity."""
    bounds.check_range("limit", limit, 1, bounds.NEIGHBOURS)
    bounds.check_range("offset", offset, 0, release.graph.triples)
    node = find_node(release, iri)
    numbers = release.triples.numbers_of(node)
    chosen = numbers[offset : offset + limit].tolist()
    after = offset + len(chosen)
    return Neighbours(
        iri,
        release.graph.label(node, (language,) if language else ()),
        tuple(_triple(release, release.triples.triple(number), language) for number in chosen),
        len(numbers),
        offset,
        dataset,
        release.id,
        after if after < len(numbers) else None,
    )


def search_entities(release: Release, dataset: str, text: str, limit: int) -> Found:
    """Entities by name, best first."""
    bounds.check_range("limit", limit, 1, bounds.SEARCH)
    bounds.check_text("The text", text)
    if not text.strip():
        raise QuestionError("There is nothing to search for.", "Give a name, or its beginning.")
    graph, config = release.graph, release.method.linking
    found = search(release.names, text, limit, config)
    entities = tuple(
        FoundEntity(
            graph.iri(one.entity), graph.label(one.entity), category_name(graph, one.entity),
            tuple(dict.fromkeys(graph.class_label(int(number)) for number in graph.types(one.entity))),
            one.name, one.how, float(one.score),
        )
        for one in found
    )  # fmt: skip
    return Found(text, entities, dataset, release.id)


def find_node(release: Release, iri: str) -> int:
    """The node of an IRI; UnknownEntity, with IRIs that may be meant, for one that the release does not hold."""
    bounds.check_text("The IRI", iri)
    node = release.graph.node(iri)
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
            for one in search(release.names, words, SUGGESTED, release.method.linking):
                yield release.graph.iri(one.entity)


def _language(release: Release, language: str) -> str:
    return language or next(iter(release.manifest.languages), "en")


def _class(release: Release, number: int, language: str) -> ClassOf:
    graph = release.graph
    return ClassOf(graph.class_code(number), graph.class_iri(number), graph.class_label(number, language))


def _names(release: Release, node: int) -> dict[str, tuple[str, ...]]:
    """The stated names by language; what was made from a role or an IRI is none, nor is a description."""
    names: dict[str, dict[str, None]] = {}
    stated = [label for label in release.graph.labels(node) if label.kind not in MADE]
    told = _descriptions(release, node) if stated else ()
    for label in [one for one in stated if not _describes(one.text, told)][: bounds.NAMES]:
        names.setdefault(label.lang, {})[label.text] = None
    return {lang: tuple(texts) for lang, texts in names.items()}


def _descriptions(release: Release, node: int) -> list[str]:
    """Texts that describe the node, on one line each; not those that another property gives it as a name."""
    texts: dict[bool, list[str]] = {True: [], False: []}
    for one in release.graph.literals(node):
        describing = release.graph.property_code(one.property) in DESCRIBING
        texts[describing].append(" ".join(one.value.split()))
    return [text for text in texts[True] if text not in texts[False]]


def _describes(name: str, told: Sequence[str]) -> bool:
    """Whether a name is one of these texts, or the beginning of one."""
    begun = name.removesuffix(ELLIPSIS)
    return any(text == name or (begun != name and text.startswith(begun)) for text in told)


def _document(release: Release, node: int) -> tuple[str, Named | None]:
    """The text of the document that holds the node's facts, and whose it is where it is not the node's own."""
    documents, graph = release.documents, release.graph
    document = documents.document_of(node)
    if document is None:
        return "", None
    own = documents.entity(document)
    holder = None if own == node else Named(graph.iri(own), graph.label(own))
    return documents.text(document), holder


def _relationships(release: Release, node: int, language: str, plan: Plan) -> tuple[Related, ...]:
    """Where the Fundamental Relationships of the node's category lead, in the catalogue's order, the most central first."""
    graph, catalogue = release.graph, release.catalogue
    matches = walk(graph.adjacency, release.ontology, catalogue, np.array([node], np.int32), plan=plan)
    rank, translations = release.aggregation.pagerank, release.method.translations
    groups = []
    for number in np.unique(matches.relationship).tolist():
        targets = matches.target[matches.relationship == number]
        first = targets[np.lexsort((targets, -rank[targets]))][: bounds.TARGETS].tolist()
        named = tuple(
            Named(graph.iri(one), graph.label(one, (language,) if language else ())) for one in first
        )
        one = catalogue[number]
        label = translations.of(one.label, language)
        groups.append(Related(one.id, label, str(one.range.name), len(targets), named))
    return tuple(groups)


def _triple(release: Release, triple: Triple, language: str) -> SourceTriple:
    graph = release.graph
    languages = (language,) if language else ()
    return SourceTriple(
        graph.iri(triple.s),
        graph.property_iri(triple.p),
        graph.iri(triple.o),
        graph.label(triple.s, languages),
        graph.property_label(triple.p, lang=language),
        graph.label(triple.o, languages),
        release.triples.graphs(triple.number),
    )
