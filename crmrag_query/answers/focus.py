"""What a conversation is about after a turn."""

from __future__ import annotations

from crmrag_query.answers.naming import category_name, type_nodes
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.state import Focus


def focus_of(release: Release, analysis: Analysis, answer: Answer) -> tuple[Focus, ...]:
    """Entities in focus, best first: those that the question names (the surest of each mention; no types), those that its
    answer cites, in their order, and those that it tells of them: ends of their triples that its text names.
    """
    named = [
        mention.entities[0].entity
        for mention in sorted(analysis.mentions, key=lambda one: -one.entities[0].score)
        if mention.entities[0].entity not in analysis.types
    ]
    cited = [source for source in answer.sources if source.cited]
    told = [
        iri
        for source in cited
        for triple in source.triples
        for iri, label in ((triple.s, triple.s_label), (triple.o, triple.o_label))
        if label and label in answer.text
    ]
    iris = dict.fromkeys((*(source.iri for source in cited), *told))
    known = [node for iri in iris if (node := release.graph.node(iri)) is not None]
    return tuple(
        _focus(release, node, analysis.reading.language)
        for node in dict.fromkeys((*named, *known))
        if _may_be_meant(release, node)
    )


def _may_be_meant(release: Release, node: int) -> bool:
    """Whether a person would speak of it again as "it" or "those": not types, times, texts, or what has no name."""
    graph = release.graph
    little = frozenset(release.method.retrieval.non_informative.types)
    classes = {graph.class_code(int(number)) for number in graph.types(node)}
    return (
        graph.category(node) not in (Category.Concept, Category.Time)
        and bool(graph.flags[node] & FLAG_LABELLED)
        and not (classes and classes <= little)
    )


def _focus(release: Release, node: int, language: str) -> Focus:
    graph = release.graph
    types = [graph.label(kind, (language,)) for kind in type_nodes(graph, node)]
    classes = [graph.class_label(int(number), language) for number in graph.types(node)]
    words = tuple(dict.fromkeys(word for word in (*types, *classes) if word))
    return Focus(graph.iri(node), category_name(graph, node), graph.label(node, (language,)), words)
