"""What a data set holds, told in sentences: how many things, persons, places, events there are, and the best connected."""

from __future__ import annotations

from crmrag_query.answers.sources import SourceList
from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.plans.profile import Profile
from crmrag_query.retrieval.aggregation import Aggregation

SHOWN = ("Thing", "Actor", "Place", "Event", "Concept")
"""Categories in the order in which they are told; times say little by themselves."""
NAMED = 3  # entities of a category that are named: the ones of highest PageRank


def overview(release: Release, language: str, cited: SourceList) -> str:
    """The data set in a sentence or two a category, those that it has nothing of left out; the entities named are cited."""
    words, graph = release.method.sets.words(language), release[Graph]
    told = [f"{release.manifest.title}:"]
    for category in SHOWN:
        count = known.entities if (known := release[Profile].coverage.get(category)) else 0
        if not count:
            continue
        what = words.categories[category]
        told.append(words.size.of(count).format(what=what[:1].upper() + what[1:], n=f"{count:,}"))
        best = [
            f"{graph.label(node, (language,))} [{cited.cite(node, cited.type_triples(node))}]"
            for one in release[Aggregation].top(category, NAMED)
            if (node := graph.node(one.iri)) is not None
        ]
        if best:
            told.append(words.shown.format(first="; ".join(best)))
    return " ".join(told)
