"""Steps of how documents hang together: the entity graph, the communities in it, and what is told of these."""

from __future__ import annotations

import os
from itertools import chain, compress
from pathlib import Path

import numpy as np
import pyarrow as pa

from crmrag_assets.build.locks import asking_api
from crmrag_assets.build.step import BuildContext, Inputs, Stats, Step, always, chunks_of, contents
from crmrag_assets.documents.satellites import satellite_kinds
from crmrag_assets.indexes.embed import encode_new, key_of
from crmrag_assets.indexes.entity_graph import homes, joined, related, stated
from crmrag_assets.indexes.sparse import count_terms, postings_of, write_sparse
from crmrag_assets.opened import catalogue_of, documents_of, encoder_of, graph_of, numbering_of, summaries_of
from crmrag_assets.steps.indexes import new_themes, spent, themes_of, themes_with_vectors
from crmrag_query.communities import Communities, Summaries, write_summaries
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.llm.model import LiteLLM, Model
from crmrag_query.retrieval.aggregation import DateIndex
from crmrag_query.retrieval.channels.communities import VECTORS


def write_entity_graph(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Documents as nodes, and how strongly relationships and direct statements join any two of them, both ways.

    Vague relationships, types and times join nothing, and what has many neighbours is joined less to each. Read by what
    looks at how things hang together: communities, and adjacency in retrieval.
    """
    graph, documents, method = graph_of(context), documents_of(context), context.method
    kinds = satellite_kinds(graph, context.vocabulary.ontology, method)
    home = homes(documents, kinds)
    folders = [context.folder("fr_documents", key) for key in chunks_of(context)]
    matches = related(folders, numbering_of(context), home, catalogue_of(context), method.weights)
    found = joined(chain(stated(graph.adjacency, home, method.weights), matches), documents.count)
    found.save(folder)
    return {
        "documents": documents.count,
        "edges": found.edges,
        "alone": int((found.ptr[1:] == found.ptr[:-1]).sum()),
    }


def wanted(context: BuildContext) -> bool:
    return context.config.communities


def write_communities(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Documents that belong together by what joins them: communities of the entity graph, level 0 the finest, each further
    level made of those of the one below.

    Found by hierarchical Leiden; what is alone, or among too few, is counted as gathered and is in none. Ids stay while the
    members do. Read by `community_summaries`, and at question time. `communities: false` leaves them out.
    """
    from crmrag_assets.communities.detect import detect  # loads igraph

    graph = EntityGraph.open(context.folder("entity_graph"))
    found = detect(graph, documents_of(context), context.method.communities)
    found.save(folder)
    finest = found.levels[0] if found.levels else {}
    return {
        "communities": len(found),
        "levels": len(found.levels),
        "documents": finest.get("documents", 0),
        "gathered": finest.get("gathered_documents", graph.documents),
        "modularity": finest.get("modularity", 0.0),
    }


def model_of(context: BuildContext) -> Model | None:
    """The language model that writes themes, where the data set names one; its server as for answers."""
    name = context.config.community_model
    return LiteLLM(name, os.environ.get("CRMRAG_API_BASE")) if name else None


def summaries_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    model = context.config.community_model
    own = {
        "model": model,
        "prompt": context.method.prompts.community,
        "language": context.config.languages[0],
        "ceiling": str(context.config.model_calls.model_dump(include={"tokens", "usd"})),
    }
    return contents(context, "graph", "documents", "date_index", "communities") | (own if model else {})


def write_community_summaries(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What is told of each community: kinds, central members, shared relations, places and period, in whatever language is
    asked for; with a `community_model` a title and a summary that it wrote.

    Replies are kept by what was asked: only communities whose members' texts changed are written again. What a model fails at
    is counted, and told as without one; so is what is left because `model_calls` allows no more.
    """
    from crmrag_assets.communities.summarise import gather

    communities, documents = Communities.open(context.folder("communities")), documents_of(context)
    dates, told = DateIndex.open(context.folder("date_index")), context.method.communities.told
    rows = list(gather(communities, documents, dates, told))
    write_summaries(folder, rows)
    counts: Stats = {"communities": len(rows)}
    if (model := model_of(context)) is not None:
        from crmrag_assets.communities.summarise import Writer
        from crmrag_query.llm.pool import ModelPool

        limits = context.config.model_calls.model_dump()
        pool = ModelPool(model, context.data / "cache" / "themes", **limits)
        writer = Writer(pool, context.method.prompts.community, context.config.languages[0])
        composed = Summaries.open(folder, communities, documents, context.method)
        for one, theme in writer.write(composed, told, context.progress).items():
            rows[one] |= {"title": theme.title, "text": theme.text, "model": theme.model}
        write_summaries(folder, rows)
        counts |= pool.told()
    return counts


def index_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    encoded = int(themes_with_vectors(context).sum())
    own = {
        "languages": ",".join(context.config.languages),
        "encoder": encoder_of(context).key,
        "encoded": str(encoded),
    }
    return contents(context, "graph", "documents", "communities", "community_summaries") | own


def write_community_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Themes by their words, in the data set's languages and with the names of central members, and by their vectors; until
    all documents have been encoded, by those of the largest alone.

    Read at question time by the channel `communities`. A theme that stays is not encoded again.
    """
    summaries, told = summaries_of(context), context.method.communities.told
    themes, texts = themes_of(context), []
    _, *others = dict.fromkeys(context.config.languages)
    for one, theme in enumerate(themes):
        more = [summaries.tell(one, language).text for language in others]
        members = summaries.communities.members(one, told).tolist()
        texts.append(" ".join([theme, *more, *map(summaries.documents.label, members)]))
    stats = write_sparse(
        postings_of(count_terms(pa.chunked_array([texts], pa.large_utf8()))), folder, context.method.sparse
    )
    chosen = themes_with_vectors(context)
    known, new = new_themes(context, [*compress(themes, chosen)])
    with asking_api(context):
        for done in encode_new(new, encoder_of(context), known):
            context.progress.advance(done, len(new))
    vectors = np.zeros((len(themes), encoder_of(context).dimension), np.float32)  # of length 0 for all others
    vectors[chosen] = known.rows([key_of(theme) for theme in compress(themes, chosen)])
    np.save(folder / f"{VECTORS}.npy", vectors)
    counts = {"communities": len(themes), "terms": stats["terms"], "encoded": len(new)}
    return counts | spent(context, [*new.values()])


ENTITY_GRAPH = Step(
    "entity_graph", 1, write_entity_graph, needs=("graph", "fr_documents", "documents"), apart=always,
    parts=("weights", "satellites", "categories", "relationships", "ontology"),
)  # fmt: skip
COMMUNITIES = Step(
    "communities", 1, write_communities, needs=("graph", "documents", "entity_graph"), parts=("communities",),
    apart=always, wanted=wanted,
)  # fmt: skip
COMMUNITY_SUMMARIES = Step(
    "community_summaries", 1, write_community_summaries, needs=("graph", "documents", "date_index", "communities"),
    parts=("communities.told", "translations"), inputs=summaries_inputs, wanted=wanted,
)  # fmt: skip
COMMUNITY_INDEX = Step(
    "community_index", 1, write_community_index,
    # After the embeddings, whose ceiling stops a build before anything is encoded.
    needs=("graph", "documents", "embeddings", "communities", "community_summaries", "encoder"),
    parts=("sparse", "communities.told"), inputs=index_inputs, wanted=wanted,
)  # fmt: skip
STEPS = (ENTITY_GRAPH, COMMUNITIES, COMMUNITY_SUMMARIES, COMMUNITY_INDEX)
