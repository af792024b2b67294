"""Every check by the artifact that it guards, in the order of a build."""

from __future__ import annotations

from collections.abc import Callable

from crmrag_assets.build.step import BuildContext
from crmrag_assets.quality import graph, indexes, partitions, release, source
from crmrag_assets.quality.finding import BuildCheck
from crmrag_assets.quality.shapes.validate import shapes_hold
from crmrag_query.verify.check import Check, Finding, Weight


def _check(of: str, weight: Weight, look: Callable[[BuildContext], Finding]) -> BuildCheck:
    """The check that a function makes: it has its name, and its docstring is what the catalogue says of it."""
    return Check(look.__name__, of, look, weight, " ".join((look.__doc__ or "").split()))


CHECKS = (
    _check("harvest_report", "warns", source.harvest_is_whole),
    _check("harvest_report", "warns", source.few_lines_are_broken),
    _check("harvest_report", "blocks", source.chunks_are_readable),
    _check("graph", "blocks", graph.no_triple_lost),
    _check("graph", "blocks", graph.has_entities),
    _check("graph", "blocks", graph.not_much_is_gone),
    _check("graph", "warns", graph.terms_are_known),
    _check("graph", "warns", graph.nothing_dangles),
    _check("graph", "warns", graph.hierarchies_have_no_circles),
    _check("graph", "warns", shapes_hold),
    _check("documents", "blocks", indexes.every_entity_is_told),
    _check("documents", "warns", indexes.lengths_are_fair),
    _check("profile", "warns", indexes.as_much_is_known),
    _check("lexicon", "blocks", indexes.steps_are_counted),
    _check("bm25_index", "blocks", indexes.sparse_covers_documents),
    _check("faiss_index", "blocks", indexes.vectors_are_sound),
    _check("faiss_index", "warns", indexes.vectors_are_distinct),
    _check("faiss_index", "warns", indexes.vectors_have_not_drifted),
    _check("faiss_index", "blocks", indexes.dense_covers_documents),
    _check("faiss_index", "blocks", indexes.dense_finds_the_nearest),
    _check("graph_partitions", "blocks", partitions.parts_within_limit),
    _check("release", "fails", release.manifest_verifies),
    _check("evaluation", "warns", release.retrieval_is_as_good),
)
