"""The retrieved entities that are tied to all that a question names: the best that retrieval can say of a set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crmrag_query.answers.naming import type_label, type_nodes
from crmrag_query.answers.records import SourceTriple
from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.typed import AskedTypes
from crmrag_query.answers.understand import relied_on
from crmrag_query.artifacts.release import Release
from crmrag_query.config.models import LanguageLexicon
from crmrag_query.dates import describe
from crmrag_query.documents.documents import Line
from crmrag_query.graph.graph import Graph
from crmrag_query.linking.records import Mention
from crmrag_query.questions.analysis import Analysis
from crmrag_query.retrieval.pool import Candidate
from crmrag_query.retrieval.reach import Shares

SHOWN_TYPES = 3
RELATIONAL = (Line.FR, Line.OUTGOING, Line.INCOMING, Line.SATELLITE)


@dataclass(frozen=True)
class TiedSet:
    """``members``: nodes in the order of their candidates; ``anchors``: what they are tied to, none of the asked types.

    ``share``: how much of what the question names they are tied to, 0..1.
    """

    members: tuple[int, ...]
    anchors: tuple[Mention, ...]
    share: float


def tied_set(release: Release, analysis: Analysis, candidates: Sequence[Candidate]) -> TiedSet | None:
    """Those of the candidates that are tied to what the question names as well as the best of them is.

    Only of the types, else the categories, that are asked for, and of a period only what is dated within it, surely or
    perhaps; never what the question names itself. None where it names nothing but types and no period, or where none is left.
    """
    reach = release.method.retrieval.reach
    mentions = relied_on(release, analysis)
    asked = frozenset(analysis.types)
    anchors = tuple(m for m in mentions if asked.isdisjoint(_nodes(m)))
    if not anchors and analysis.period is None:
        return None
    named = {node for mention in anchors for node in _nodes(mention)}
    categories = release.graph.adjacency.categories
    within = _within(release, analysis)
    tied = {
        node: one.tied
        for one in candidates
        if one.tied > 0
        and (within is None or within[one.document] > 0)
        and (node := release.documents.entity(one.document)) not in named
        and (not analysis.targets or int(categories[node]) & analysis.targets)
    }
    typed = _of_types(release, analysis, list(tied))
    best = max((tied[node] for node in typed), default=0.0)
    members = tuple(node for node in typed if tied[node] >= reach.full * best)
    return TiedSet(members, anchors, best) if members else None


def _within(release: Release, analysis: Analysis) -> Shares | None:
    """How surely each document is dated within the period that is asked for, float32 [documents]; None without one."""
    if analysis.period is None:
        return None
    return release.channels.dated(analysis.period, analysis.targets, analysis.reading.cues)


def _of_types(release: Release, analysis: Analysis, nodes: list[int]) -> list[int]:
    """Those of the types that are asked for, by the data's types or by their names; all where none is of such a type.

    Where the data has things of the types that are asked for, nothing else will do; but what stands where a type does may
    be a material: "which of those are of Favrile glass".
    """
    graph = release.graph
    asked = frozenset(analysis.types)
    typed = [node for node in nodes if not asked.isdisjoint(type_nodes(graph, node))]
    if typed or any(_is_type(graph, kind) for kind in asked):
        return typed
    return AskedTypes(graph, analysis.reading).of(nodes) or nodes


def _is_type(graph: Graph, node: int) -> bool:
    """Whether the data has anything of this type."""
    return any(
        len(graph.adjacency.backward.neighbours(p, node)) for p in graph.adjacency.by_code.get("P2", ())
    )


def _nodes(mention: Mention) -> tuple[int, ...]:
    return tuple(one.entity for one in mention.entities)


def _met(release: Release, analysis: Analysis, found: TiedSet) -> list[Mention]:
    """Those of the anchors that any member is tied to: with several names, or a period, the best there is may lack one."""
    if len(found.anchors) + (analysis.period is not None) < 2:
        return list(found.anchors)
    documents = [one for one in map(release.documents.document_of, found.members) if one is not None]
    reading = analysis.reading

    def is_met(anchor: Mention) -> bool:
        shares = release.channels.tied(anchor, reading.form, analysis.targets, reading.cues)
        return bool((shares[documents] > 0).any())

    return [anchor for anchor in found.anchors if is_met(anchor)]


def tied_set_text(
    release: Release, analysis: Analysis, found: TiedSet, cited: SourceList, words: LanguageLexicon
) -> str:
    """The set as text: what was found, a member a row with its dates where a period was asked for, and what it is worth."""
    language, reading = analysis.reading.language, analysis.reading
    listed = release.method.questions.extractive.listed_items
    kinds = dict.fromkeys(type_label(release.graph, node, language) for node in found.members)
    named = [*dict.fromkeys(m.entities[0].name for m in _met(release, analysis, found))]
    if analysis.period is not None:
        named.append(describe(analysis.period, language))
    types = f"{', '.join([*kinds][:SHOWN_TYPES])}{', …' if len(kinds) > SHOWN_TYPES else ''}"
    what = f"{types} — {'; '.join(named)}" if named else types
    head = (words.found if reading.counts else words.listed).format(count=len(found.members), what=what)
    rows = [_row(release, analysis, node, found, cited) for node in found.members[:listed]]
    if len(found.members) > listed:
        rows.append(words.more.format(count=len(found.members) - listed))
    return "\n".join([head, *rows, words.partial])


def _row(release: Release, analysis: Analysis, node: int, found: TiedSet, cited: SourceList) -> str:
    n = cited.cite(node, [*_ties(release, node, found, cited)] or cited.type_triples(node))
    dates = cited.details.dates(node) if analysis.period is not None else None
    label = release.graph.label(node, (analysis.reading.language,))
    return f"- {label}{f' ({dates.text})' if dates and dates.text else ''} [{n}]"


def _ties(release: Release, node: int, found: TiedSet, cited: SourceList) -> Iterator[SourceTriple]:
    """The triples of those lines of a member's document that lead to what the question names."""
    named = {one for mention in found.anchors for one in _nodes(mention)}
    document = release.documents.document_of(node)
    if document is None:
        return
    for line in release.documents.lines(document):
        ends = [target for target in line.targets if target in named]
        if ends and line.entity == node and line.kind in RELATIONAL:
            yield from cited.line_triples(line, ends)
