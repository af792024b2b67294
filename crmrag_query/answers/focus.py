"""What a conversation is about after a turn."""

from __future__ import annotations

from collections.abc import Sequence

from crmrag_query.answers.naming import category_name, type_nodes
from crmrag_query.answers.records import Answer
from crmrag_query.answers.understand import Understood, relied_on
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.state import Focus


def spoken_of(release: Release, understood: Understood) -> tuple[int, ...]:
    """Nodes that a question is about: those that its words refer to, then those that it names itself, of each mention the
    surest, no types."""
    told, own = understood.follow_up, understood.own
    meant = [node for one in told.focus if (node := release.graph.node(one.iri)) is not None]
    sure = sorted(relied_on(release, own), key=lambda one: -one.entities[0].score)
    named = [one.entities[0].entity for one in sure if one.entities[0].entity not in own.types]
    return tuple(dict.fromkeys((*meant, *named)))


def focus_of(release: Release, about: Sequence[int], answer: Answer) -> tuple[Focus, ...]:
    """Entities in focus, best first: those that the question is ``about``, those that its answer cites, in their order, and
    those that it tells of them: ends of their triples that its text names.
    """
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
        _focus(release, node, answer.language)
        for node in dict.fromkeys((*about, *known))
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
