"""What pages say as triples: documents, their pages with their text layers, and what a language model read from them, in a
named graph for each document. Nothing that was read is tied to a page or to what a curator wrote, so that it can be left
out; which page each triple is from stands in a table (`crmrag_query.documents.pages`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyoxigraph as ox

from crmrag_assets.sources.spooled import (
    CONCEPT,
    CRM,
    HAS_TYPE,
    LABEL,
    PAGES,
    PROPERTY,
    RDFS,
    TYPE,
    class_of_pages,
    literal,
)
from crmrag_query.config.loading import Profile
from crmrag_query.documents.pages import PAGE_CLASS, READ, READ_THING, digest, read_graph
from crmrag_query.text import fold

SAME = ox.NamedNode("http://www.w3.org/2002/07/owl#sameAs")
DOCUMENT, PAGE = ox.NamedNode(f"{CRM}E31_Document"), ox.NamedNode(PAGE_CLASS)
VOCABULARY = class_of_pages(PAGE, PAGES | {"cs": "Strana"})
PART = ox.NamedNode(f"{CRM}P106_is_composed_of")
NOTE, TEXT = ox.NamedNode(f"{CRM}P3_has_note"), ox.NamedNode(f"{CRM}P190_has_symbolic_content")
SOURCE = ox.NamedNode("http://purl.org/dc/terms/source")
ATTRIBUTED = ox.NamedNode("http://www.w3.org/ns/prov#wasAttributedTo")
Triple = tuple[ox.NamedNode, ox.NamedNode, ox.NamedNode | ox.Literal]


def layer(
    document: Mapping[str, Any], pages: Iterable[Mapping[str, Any]], language: str
) -> Iterator[ox.Quad]:
    """A document and its pages, with their text layers: rows of the tables of page images."""
    node, title = ox.NamedNode(document["iri"]), document["title"]
    yield ox.Quad(node, TYPE, DOCUMENT)
    yield ox.Quad(node, LABEL, literal(title, language))
    for page in pages:
        one = ox.NamedNode(page["iri"])
        yield ox.Quad(node, PART, one)
        yield ox.Quad(one, TYPE, PAGE)
        yield ox.Quad(one, LABEL, literal(f"{title}, p. {page['number']}", language))
        if page["text"] and not page["needs"]:
            yield ox.Quad(one, TEXT, literal(page["text"], language))


def title_of(name: str) -> str:
    """What a document is called, by its file's name."""
    stem = name.rpartition("/")[2].rpartition(".")[0] or name
    return " ".join(stem.replace("_", " ").split()) or name


@dataclass(frozen=True)
class Readings:
    """What was read from the pages of one document, by a profile: ``rows`` of the table of readings, page after
    page; ``described``: its row of the table of documents."""

    document: str
    described: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]]
    profile: Profile
    language: str = ""

    @property
    def graph(self) -> ox.NamedNode:
        return ox.NamedNode(read_graph(self.document))

    def thing(self, kind: str, name: str) -> ox.NamedNode:
        """The same name and type within a document are one thing."""
        return ox.NamedNode(f"{READ_THING}{digest(self.document, kind, fold(name))}")

    @cached_property
    def statements(self) -> dict[Triple, list[str]]:
        """The triples, each with the pages that it was read from."""
        found = dict[Triple, list[str]]()
        for row in self.rows:
            for triple in self._page(row):
                pages = found.setdefault(triple, [])
                if row["page"] not in pages:
                    pages.append(row["page"])
        return found

    def quads(self) -> Iterator[ox.Quad]:
        """All in the document's graph, which is told itself: of which document, by which model and prompt."""
        if not self.statements:
            return
        models = sorted({(row["model"], row["prompt"]) for row in self.rows if row["status"] == "read"})
        graph = self.graph
        read_by = ", ".join(dict.fromkeys(model for model, _ in models))
        yield ox.Quad(graph, LABEL, ox.Literal(f"{self.described['title']} as read by {read_by}"), graph)
        yield ox.Quad(
            graph, SOURCE, ox.Literal(self.described["name"]), graph
        )  # a link would join it to the document
        for model, prompt in models:
            yield ox.Quad(graph, ATTRIBUTED, ox.Literal(f"{model}, prompt {prompt}"), graph)
        for s, p, o in self._vocabulary():
            yield ox.Quad(s, p, o, graph)
        for s, p, o in self.statements:
            yield ox.Quad(s, p, o, graph)

    def _page(self, row: Mapping[str, Any]) -> Iterator[Triple]:
        entities = row["entities"] or ()
        things = [self.thing(one["type"], one["name"]) for one in entities]
        for thing, one in zip(things, entities, strict=True):
            yield thing, TYPE, ox.NamedNode(CRM + self.profile.entities[one["type"]].crm_class)
            yield thing, HAS_TYPE, _type(one["type"])
            yield thing, LABEL, literal(one["name"], self.language)
            if one["description"]:
                yield thing, NOTE, literal(one["description"], self.language)
        for one in row["relationships"] or ():
            yield from self._related(things[one["source"]], one["type"], things[one["target"]])

    def _related(self, source: ox.NamedNode, kind: str, target: ox.NamedNode) -> Iterator[Triple]:
        said = self.profile.relationships[kind]
        if said.property is not None:
            yield source, _relation(kind), target
            yield source, ox.NamedNode(CRM + said.property), target
        elif len(said.path) == 1:
            yield source, ox.NamedNode(CRM + said.path[0]), target
        else:
            first, between, second = (ox.NamedNode(CRM + term) for term in said.path)
            # One event for what a source says of all its targets: a book by two authors was written once.
            event = ox.NamedNode(f"{READ_THING}{digest(source.value, kind)}")
            yield source, first, event
            yield event, TYPE, between
            yield event, second, target

    def _vocabulary(self) -> Iterator[Triple]:
        """What the types and relationships that occur are called."""
        kinds = {one["type"] for row in self.rows for one in row["entities"] or ()}
        for kind in sorted(kinds):
            yield _type(kind), TYPE, CONCEPT
            for language, label in self.profile.entities[kind].label.items():
                yield _type(kind), LABEL, ox.Literal(label, language=language)
        said = {one["type"] for row in self.rows for one in row["relationships"] or ()}
        for kind in sorted(said):
            relation = self.profile.relationships[kind]
            if relation.property is None:
                continue
            yield _relation(kind), TYPE, PROPERTY
            yield _relation(kind), ox.NamedNode(f"{RDFS}subPropertyOf"), ox.NamedNode(CRM + relation.property)
            for language, label in relation.label.items():
                yield _relation(kind), LABEL, ox.Literal(label, language=language)


def _type(kind: str) -> ox.NamedNode:
    return ox.NamedNode(f"{READ}type:{kind}")


def _relation(kind: str) -> ox.NamedNode:
    return ox.NamedNode(f"{READ}relation:{kind}")
