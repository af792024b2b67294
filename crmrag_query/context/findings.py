"""Findings of each kind: what an answer can rest on besides the documents of entities."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from crmrag_query.artifacts.release import Release
from crmrag_query.communities.communities import Communities
from crmrag_query.communities.themes import Summaries
from crmrag_query.context.context import Finding, FindingKind
from crmrag_query.documents.documents import Documents
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.text import plain

CENTRAL = 10  # members of a community that it rests on, the most central


def passage(release: Release, number: int, language: str = "") -> Finding:
    """A passage of a long text; it rests on the entity that it describes."""
    one = release[Documents].passage(number)
    name = release[Graph].label(one.entity, (language,) if language else ())
    stated = release[Graph].iri(one.source)
    return Finding(
        "passage",
        _urn("passage", stated, one.key, str(one.start), one.text),
        f"{plain(name)} — {plain(one.label)}",
        (plain(one.body),),
        tuple(dict.fromkeys((one.entity, one.source))),
        origin=stated,
    )


def community(release: Release, number: int, language: str = "") -> Finding:
    """A community as its theme is told, with its most central members by name; it rests on these."""
    told = release[Summaries].tell(number, language or release.manifest.language)
    communities, documents = release[Communities], release[Documents]
    members = [documents.entity(one) for one in communities.members(number, CENTRAL).tolist()]
    central = [documents.entity(one) for one in release[Summaries].central(number).tolist()]
    names = (plain(release[Graph].label(node, (language,) if language else ())) for node in members)
    return Finding(
        "community",
        f"urn:crmrag:community:{communities.name(number)}",
        plain(told.title),
        (plain(told.text), "; ".join(names)),
        tuple(dict.fromkeys((*central, *members))),
        origin=told.model,
    )


def row(
    release: Release,
    columns: Sequence[str],
    cells: Sequence[tuple[str, str] | None],
    query: str,
    language: str = "",
) -> Finding:
    """A row of what a query gave; it rests on the entities in it, which are told by name.

    ``cells``: the IRI ("" for a literal) and the text of each, None where it is unbound.
    """
    graph = release[Graph]
    nodes: list[int] = []
    told: list[str] = []
    for column, cell in zip(columns, cells, strict=True):
        if cell is None:
            continue
        node = graph.node(cell[0]) if cell[0] else None
        if node is not None:
            nodes.append(node)
        name = cell[1] if node is None else graph.label(node, (language,) if language else ())
        told.append(f"{plain(column)}: {plain(name)}")
    keys = [" ".join(cell) if cell is not None else "" for cell in cells]
    label = told[0].partition(": ")[2] if told else ""
    return Finding(
        "row",
        _urn("row", query, *keys),
        label,
        ("; ".join(told),),
        tuple(dict.fromkeys(nodes)),
        origin=query,
    )


def path(release: Release, triples: Sequence[int], language: str = "", start: int | None = None) -> Finding:
    """A path through the graph: triples by number, each of which shares a node with the one before. It rests on its nodes, in
    their order, and states its triples. ``start``: the node that it begins at; by default that of the first triple which the
    second does not share."""
    graph, index = release[Graph], release[TriplesIndex]
    steps = [index.triple(number) for number in triples]
    nodes = [] if start is None else [start]
    for at, step in enumerate(steps):
        ends = (step.s, step.o)
        if not nodes:
            following = (steps[at + 1].s, steps[at + 1].o) if at + 1 < len(steps) else (step.o,)
            nodes += ends if step.o in following else (step.o, step.s)
        else:
            nodes.append(step.o if step.s == nodes[-1] else step.s)
    names = {node: plain(graph.label(node, (language,) if language else ())) for node in nodes}
    told = (
        f"{names[one.s]} — {plain(graph.property_label(one.p, lang=language))} — {names[one.o]}"
        for one in steps
    )
    keys = (graph.iri(node) for one in steps for node in (one.s, one.o))
    return Finding(
        "path",
        _urn("path", *keys, *(graph.property_iri(one.p) for one in steps)),
        f"{names[nodes[0]]} → {names[nodes[-1]]}",
        tuple(told),
        tuple(dict.fromkeys(nodes)),
        tuple(triples),
    )


def tool(
    n: int, call: str, lines: Sequence[str], entities: Sequence[int] = (), triples: Sequence[int] = ()
) -> Finding:
    """The ``n``-th call of a tool, its name and arguments, and the lines of its result, which name entities and state
    triples (by number)."""
    texts = tuple(plain(line) for line in lines)
    return Finding(
        "tool", _urn("tool", str(n), call, *texts), plain(call), texts, tuple(entities), tuple(triples), call
    )


def _urn(kind: FindingKind, *keys: str) -> str:
    digest = hashlib.sha256("\n".join(keys).encode("utf-8", "replace")).hexdigest()
    return f"urn:crmrag:{kind}:{digest[:16]}"
