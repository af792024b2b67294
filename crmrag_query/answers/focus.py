"""What a conversation is about after a turn."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.answers.naming import category_name, type_nodes
from crmrag_query.artifacts.release import Release
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.state import Focus


def focus_of(release: Release, analysis: Analysis, shown: Sequence[str]) -> tuple[Focus, ...]:
    """Entities in focus, best first: those that the question names (the surest of each mention; no types), then those that
    its answer cites, in their order."""
    named = [
        mention.entities[0].entity
        for mention in sorted(analysis.mentions, key=lambda one: -one.entities[0].score)
        if mention.entities[0].entity not in analysis.types
    ]
    cited = [node for iri in shown if (node := release.graph.node(iri)) is not None]
    return tuple(
        _focus(release, node, analysis.reading.language)
        for node in dict.fromkeys((*named, *cited))
        if release.graph.category(node) != Category.Concept
    )


def _focus(release: Release, node: int, language: str) -> Focus:
    graph = release.graph
    types = [graph.label(kind, (language,)) for kind in type_nodes(graph, node)]
    classes = [graph.class_label(int(number), language) for number in graph.types(node)]
    words = tuple(dict.fromkeys(word for word in (*types, *classes) if word))
    return Focus(graph.iri(node), category_name(graph, node), graph.label(node, (language,)), words)
