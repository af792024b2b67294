"""Steps of the groups ``indexes`` and ``communities``; and whether the configuration allows what encoding the documents takes
beyond what is cached."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from crmrag_assets.build.step import (
    BuildContext,
    Inputs,
    Stats,
    Step,
    always,
    asking_api,
    bits_of,
    buckets_of,
    chunks_of,
    contents,
)
from crmrag_assets.build.store import data_version
from crmrag_assets.documents.satellites import satellite_kinds
from crmrag_assets.indexes.aggregation import (
    MatchFiles,
    time_relationships,
    write_aggregation,
    write_dates,
)
from crmrag_assets.indexes.dense import write_dense
from crmrag_assets.indexes.encoder import (
    VectorCache,
    embed_chunk,
    encode_whole,
    export_encoder,
    key_of,
    pending,
    shares_of,
    write_embedded,
)
from crmrag_assets.indexes.entity_graph import homes, joined, related, stated
from crmrag_assets.indexes.names import names_of, write_names
from crmrag_assets.indexes.profile import make_profile, write_profile
from crmrag_assets.indexes.sparse import KnownCounts, count_new_terms, count_terms, postings_of, write_sparse
from crmrag_assets.indexes.token_vectors import BEGINNING, write_token_vectors
from crmrag_assets.opened import (
    cache_of,
    catalogue_of,
    documents_of,
    embedded_of,
    encoder_of,
    folders_of,
    graph_of,
    numbering_of,
    summaries_of,
    text_digests,
    texts_hash,
    texts_in_chunk,
    texts_with_vectors,
)
from crmrag_assets.release.publish import link_file
from crmrag_query.config.loading import config_hash
from crmrag_query.documents.entity_graph import EntityGraph
from crmrag_query.errors import BuildError
from crmrag_query.linking import stop_words
from crmrag_query.llm.model import LiteLLM, Model
from crmrag_query.ontology.load import CategoryMap
from crmrag_query.plans.kinds import made
from crmrag_query.plans.world import World
from crmrag_query.relationships.engine import Catalogue
from crmrag_query.retrieval.aggregation import DATED_BY, DateIndex
from crmrag_query.retrieval.communities import VECTORS, Communities, Summaries, write_summaries
from crmrag_query.retrieval.encoder import QueryEncoder
from crmrag_query.version import __version__


def litellm_price(model: str) -> float | None:
    """US dollars a token, from the table that litellm carries; None when it does not list the model."""
    from crmrag_query.llm.loading import load_litellm  # loads httpx

    litellm = load_litellm("The price of an embedding API")
    listed = litellm.model_cost.get(model) or litellm.model_cost.get(model.split("/", 1)[-1])
    return float(listed["input_cost_per_token"]) if listed and "input_cost_per_token" in listed else None


MILLION = 1_000_000
_ALLOWED: set[tuple[str, ...]] = set()  # data set, texts and ceiling that were found to fit


@dataclass(frozen=True)
class Workload:
    """What has no vector yet: windows, their tokens, and of how many texts they are, a passage counting as a document."""

    documents: int = 0
    windows: int = 0
    tokens: int = 0


def workload(context: BuildContext) -> Workload:
    """Exact, over all chunks; nothing is encoded. BuildError before the documents are built."""
    documents, encoder = documents_of(context), encoder_of(context)
    found = np.zeros(3, np.int64)
    for chunk in chunks_of(context):
        texts = (documents.searched(number) for number in texts_in_chunk(context, chunk).tolist())
        own, *others = caches_of(context, chunk)
        count, _, windows = pending(texts, encoder, own, others)
        found += (count, len(windows), tokens_of(context, [*windows.values()]))
    return Workload(*found.tolist())


def caches_of(context: BuildContext, chunk: str) -> list[Path]:
    """The chunk's cache of vectors, and those of the chunks that held its documents when there were more of them, or fewer.

    Chunks that lie within it have a cache only where there were more. Those that it lies within may also be of other
    documents now; they count while it has nothing in a cache of its own. One in which nothing is yet tells nothing.
    """

    def begun(path: Path) -> bool:
        return path.exists() and path.stat().st_size > 0

    own = cache_of(context, chunk)
    first = int(chunk, 16)
    within = [number for number in buckets_of(chunk, bits_of(context)) if number != first]
    around = [] if begun(own) else sorted({first & (0xFF << bits) for bits in range(9)} - {first})
    paths = (own.with_stem(f"{number:02x}") for number in (*within, *reversed(around)))
    return [own, *filter(begun, paths)]


def themes_of(context: BuildContext) -> list[str]:
    """What is encoded of each community, in order: title and text of its theme in the data set's first language."""
    summaries, language = summaries_of(context), context.config.languages[0]
    themes = (summaries.tell(one, language) for one in range(len(summaries.communities)))
    return [f"{theme.title} {theme.text}" for theme in themes]


def themes_with_vectors(context: BuildContext) -> npt.NDArray[np.bool_]:
    """Whose themes have vectors in the release that is made, bool [communities]: those of the largest, as many of a hundred
    as of documents."""
    sizes = np.diff(summaries_of(context).communities.member_ptr)
    return shares_of(np.argsort(-sizes, kind="stable").astype(np.int32)) <= context.share


def new_themes(context: BuildContext, themes: Sequence[str]) -> tuple[VectorCache, dict[bytes, str]]:
    """The cache of themes' vectors, and by key those of ``themes`` that have none."""
    known = VectorCache.open(cache_of(context, "themes"), encoder_of(context).dimension)
    keyed = {key_of(theme): theme for theme in themes}
    return known, {key: theme for key, theme in keyed.items() if key not in known.vectors}


def tokens_of(context: BuildContext, texts: Sequence[str]) -> int:
    return sum(encoder_of(context).count(texts)) if texts else 0


def require_within_ceiling(
    context: BuildContext, prices: Callable[[str], float | None] = litellm_price
) -> None:
    """Raise BuildError when encoding needs more than the data set's ceiling; looked at once for the same texts.

    Themes count by their tokens, and are no documents. ``prices``: US dollars a token by model.
    """
    ceiling = context.config.ceiling
    limits = (ceiling.documents, ceiling.tokens, ceiling.usd)
    if limits == (None, None, None):
        return
    texts = contents(context, "documents", "community_summaries").values()
    asked = (str(context.data), context.name, *texts, str(ceiling), str(context.share))
    if asked in _ALLOWED:
        return
    found = workload(context)
    themes: list[str] = []
    if context.config.communities:
        themes = [*compress(themes_of(context), themes_with_vectors(context))]
    tokens = found.tokens + tokens_of(context, [*new_themes(context, themes)[1].values()])
    above = [
        f"{needed:,} {what} (at most {most:,})"
        for what, needed, most in (
            ("documents", found.documents, ceiling.documents),
            ("tokens", tokens, ceiling.tokens),
        )
        if most is not None and needed > most
    ]
    if ceiling.usd is not None and tokens:
        price = price_of(context, prices)
        embedding = context.config.embedding
        if price is None and embedding.provider == "litellm":
            raise BuildError(
                f"The price of '{embedding.model}' is not known, so '{context.name}' cannot be kept below ${ceiling.usd:,g}.",
                "Say it: `ceiling: {usd_per_million_tokens: …}` in datasets.yaml.",
            )
        if (cost := (price or 0.0) * tokens) > ceiling.usd:
            above.append(f"${cost:,.2f} (at most ${ceiling.usd:,g})")
    if above:
        raise BuildError(
            f"Encoding '{context.name}' anew would take {' and '.join(above)}, more than its `ceiling` allows. "
            "Nothing was encoded.",
            f"Raise `ceiling` of '{context.name}' in datasets.yaml, or take it out.",
        )
    _ALLOWED.add(asked)


def price_of(context: BuildContext, prices: Callable[[str], float | None] = litellm_price) -> float | None:
    """US dollars a token: as configured, else as known of the model; None of a model of one's own, or where nobody knows."""
    configured = context.config.ceiling.usd_per_million_tokens
    if configured is not None:
        return configured / MILLION
    embedding = context.config.embedding
    return prices(embedding.model) if embedding.provider == "litellm" else None


def spent(context: BuildContext, encoded: Sequence[str]) -> Stats:
    """The tokens of what was encoded, and US dollars; nothing where no price is known."""
    if (price := price_of(context)) is None:
        return {}
    tokens = tokens_of(context, encoded)
    return {"tokens": tokens, "usd": round(price * tokens, 6)}


TERM_COUNTS = "term_counts"  # in the working folder, beside the artifacts; never part of a release
KEPT_SHARE = 0.02  # of texts that are new: counting fewer once more is cheaper than writing the counts of all


def write_encoder(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What a question needs to be encoded without PyTorch: ONNX model, tokenizer, window and prefixes.

    Read by `embeddings` for documents, and at question time.
    """
    exported = export_encoder(encoder_of(context), context.data / "encoders")
    for path in sorted(exported.folder.iterdir()):
        link_file(path, folder / path.name)
    stats: Stats = {
        name: getattr(exported.settings, name) for name in ("model", "dimension", "window", "provider")
    }
    return stats | ({"warning": exported.warning} if exported.warning else {})


def has_vectors(context: BuildContext) -> bool:
    """Of what is made of vectors: whether any document of the release that is made has one."""
    return context.share > 0


def embeddings_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    return {
        "texts": texts_hash(context, chunk or ""),
        "encoder": encoder_of(context).key,
        "window": str(encoder_of(context).window),
    }


def write_embeddings(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Vectors of the windows of each final document and passage, the header repeated; cached by model and text. Until all
    have been encoded, those of the most important documents.

    The asset that costs most, in time or money: `encoded`, `tokens` and `usd` tell how much. Read by `faiss_index`.
    """
    require_within_ceiling(context)
    documents, encoder = documents_of(context), encoder_of(context)
    chosen = texts_in_chunk(context, chunk or "").tolist()
    texts = [(number, documents.searched(number)) for number in chosen]
    own, *others = caches_of(context, chunk or "")
    with asking_api(context):
        embedded = embed_chunk(texts, encoder, own, context.progress, others)
    write_embedded(folder, embedded)
    counts: Stats = {
        "documents": sum(number < documents.count for number in chosen),
        "windows": embedded.windows.num_rows,
        "encoded": len(embedded.fresh),
    }
    return counts | spent(context, embedded.fresh)


def write_dense_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Dense retrieval: an exact FAISS index over all windows of documents and passages, memory-mapped.

    Read at question time for documents that mean what is asked.
    """
    dimension, codes_from = encoder_of(context).dimension, context.method.dense.codes_from
    texts, count = texts_with_vectors(context), len(documents_of(context).texts)
    return dict(write_dense([*embedded_of(context)], folder, dimension, codes_from, texts, count))


def has_token_vectors(context: BuildContext) -> bool:
    """They are made once all documents have vectors."""
    return context.config.token_vectors and context.share == 100


def write_vectors_of_tokens(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Late interaction: of each document's beginning the 16 most telling tokens as they mean there, 64 bytes each.

    Read at question time by the mode `walker`. Made for a data set that asks for it, `token_vectors: true`, by an encoder
    that tells tokens apart: a local model with an ONNX form.
    """
    encoder, documents = QueryEncoder.open(context.folder("encoder")), documents_of(context)
    beginnings = pc.utf8_slice_codeunits(documents.table.column("text"), 0, BEGINNING).to_pylist()
    return write_token_vectors(
        beginnings, encoder.of_tokens, encoder.settings.document_prefix, folder, context.progress.advance
    )


def write_sparse_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Sparse retrieval: BM25 over documents and passages with the scores of rank-bm25's Okapi, memory-mapped.

    Read at question time for documents that say the words of a question.
    """
    texts, digests = documents_of(context).texts, text_digests(context)
    version = data_version(TERM_COUNTS, 1, {"crmrag": __version__})
    there = context.store.is_current(TERM_COUNTS, version)  # every checksum is looked at
    known = KnownCounts.open(context.folder(TERM_COUNTS)) if there else None
    counts, new = count_new_terms(texts, digests, known, folder)
    if new > KEPT_SHARE * len(texts):
        with context.store.writing(TERM_COUNTS, version, {"new": new}) as kept:
            KnownCounts(digests, counts).save(kept)
    return write_sparse(postings_of(counts, folder), folder, context.method.sparse) | {"counted": new}


def write_aggregation_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Counts by class and category, statistics of the relationships, works by actor, PageRank.

    Read at question time for counts and rankings, and to put well-connected entities first.
    """
    relationships = [(one.id, one.label) for one in catalogue_of(context)]
    method, matches = context.method, matches_of(context)
    return dict(
        write_aggregation(
            graph_of(context), matches, relationships, method.aggregation, method.pagerank, folder
        )
    )


def matches_of(context: BuildContext) -> MatchFiles:
    """The matches of the Fundamental Relationships, of all entities."""
    return MatchFiles(folders_of(context, "fr_documents"), numbering_of(context))


def dates_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    relationships = context.method.relationship_sets[DATED_BY]
    return contents(context, "graph") | {"relationships": config_hash(relationships)}


def write_date_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """When entities were made, happened or lived, by the relationships that lead to Time, sorted by begin.

    Read at question time for periods, and by `profile`.
    """
    relationships = time_relationships(Catalogue.load(context.method, DATED_BY))
    return dict(write_dates(graph_of(context), context.vocabulary.ontology, relationships, folder))


def write_name_index(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Labels, alternative names and identifiers of entities by their words, for finding those that a question names.

    Read at question time, in whatever spelling the names are asked for.
    """
    method = context.method
    names = names_of(graph_of(context), context.vocabulary.ontology, method)
    return dict(write_names(names, stop_words(method.questions), folder))


WALKED = {"paths", "relationships", "classes", "not_classes", "types"}
"""What of a relation decides where it leads: not its labels and words."""


def lexicon_inputs(context: BuildContext, chunk: str | None) -> Inputs:
    relations = {
        id: one.model_dump(mode="json", include=WALKED) for id, one in context.method.relations.items()
    }
    return contents(context, "graph") | {"relations": config_hash(relations)}


def write_lexicon_table(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What occurs: kinds of nodes by their classes, the steps that lead from one to another, and where each relation leads.

    Read at question time for the ways that the data has between what a question names.
    """
    method, ontology = context.method, context.vocabulary.ontology
    categories = CategoryMap(method.categories, ontology)
    world = World(
        graph_of(context), ontology, catalogue_of(context), categories, method.relations, method.plans
    )
    found = made(world)
    found.save(folder)
    return {
        "kinds": len(found),
        "steps": len(found.step_property),
        "relations": int((np.diff(found.start_ptr) > 0).sum()),
        "triples": int(found.step_triples.sum()),
    }


def write_data_profile(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """What occurs in the data and how it is modelled: classes, types, relationships, properties, literals, with examples.

    `profile.md` is the page to read; from `profile.json` a language model is told what may be asked for.
    """
    content = make_profile(
        graph_of(context),
        DateIndex.open(context.folder("date_index")),
        context.vocabulary.ontology,
        context.method,
        catalogue_of(context),
        matches_of(context),
    )
    return dict(write_profile(content, context.config.title or context.name, folder))


ENCODER = Step(
    "encoder", 3, write_encoder,
    inputs=lambda one, _: {"key": encoder_of(one).key, "config": config_hash(one.config.embedding)},
)  # fmt: skip
EMBEDDINGS = Step(
    "embeddings", 2, write_embeddings,
    # Of the themes it reads how much is to be encoded of them later, which the ceiling is for as well.
    needs=("documents", "aggregation_index", "community_summaries", "encoder"), inputs=embeddings_inputs, chunked=True,
    wanted=has_vectors,
)  # fmt: skip
FAISS_INDEX = Step(
    "faiss_index", 3, write_dense_index, needs=("documents", "embeddings"), parts=("dense.codes_from",), wanted=has_vectors,
    inputs=lambda one, _: contents(one, "documents", "embeddings") | {"dimension": str(encoder_of(one).dimension)},
)  # fmt: skip
TOKEN_VECTORS = Step(
    "token_vectors", 1, write_vectors_of_tokens, needs=("documents", "encoder"), wanted=has_token_vectors
)
BM25_INDEX = Step("bm25_index", 1, write_sparse_index, needs=("documents",), parts=("sparse",), apart=always)
DATE_INDEX = Step(
    "date_index", 1, write_date_index, needs=("graph",), parts=("ontology",), inputs=dates_inputs, apart=always
)  # fmt: skip
NAME_INDEX = Step(
    "name_index", 2, write_name_index, needs=("graph",), parts=("satellites", "ontology"), apart=always,
    inputs=lambda one, _: contents(one, "graph") | {"stop": " ".join(sorted(stop_words(one.method.questions)))},
)  # fmt: skip
LEXICON = Step(
    "lexicon", 1, write_lexicon_table, needs=("graph",), parts=("ontology", "relationships"), inputs=lexicon_inputs,
    apart=always,
)  # fmt: skip
PROFILE = Step(
    "profile", 2, write_data_profile, needs=("graph", "date_index", "fr_documents"), apart=always,
    inputs=lambda one, _: contents(one, "graph", "date_index", "fr_documents") | {"title": one.config.title or one.name},
    parts=(
        "profile", "names", "dates", "aggregation", "documents.type_properties", "categories", "relationships",
        "ontology",
    ),
)  # fmt: skip
AGGREGATION_INDEX = Step(
    "aggregation_index", 2, write_aggregation_index, needs=("graph", "fr_documents"),
    parts=("pagerank", "aggregation", "relationships"), apart=always,
)  # fmt: skip


def write_entity_graph(context: BuildContext, folder: Path, chunk: str | None) -> Stats:
    """Documents as nodes, and how strongly relationships and direct statements join any two of them, both ways.

    Vague relationships, types and times join nothing, and what has many neighbours is joined less to each. Read by what
    looks at how things hang together: communities, and adjacency in retrieval.
    """
    graph, documents, method = graph_of(context), documents_of(context), context.method
    kinds = satellite_kinds(graph, context.vocabulary.ontology, method)
    home = homes(documents, kinds)
    files = MatchFiles(folders_of(context, "fr_documents"), numbering_of(context))
    matches = related(files, home, catalogue_of(context), method.weights)
    found = joined(chain(stated(graph.adjacency, home, method.weights), matches), documents.count)
    found.save(folder)
    return {
        "documents": documents.count,
        "edges": found.edges,
        "alone": int((found.ptr[1:] == found.ptr[:-1]).sum()),
    }


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
    vectors = np.zeros((len(themes), encoder_of(context).dimension), np.float32)  # of length 0 for all others
    known = VectorCache.open(cache_of(context, "themes"), encoder_of(context).dimension)
    with asking_api(context):
        vectors[chosen], new = encode_whole(
            [*compress(themes, chosen)], encoder_of(context), known, context.progress
        )
    np.save(folder / f"{VECTORS}.npy", vectors)
    counts = {"communities": len(themes), "terms": stats["terms"], "encoded": len(new)}
    return counts | spent(context, new)


ENTITY_GRAPH = Step(
    "entity_graph", 1, write_entity_graph, needs=("graph", "fr_documents", "documents"), apart=always,
    parts=("weights", "satellites", "categories", "relationships", "ontology"),
)  # fmt: skip
COMMUNITIES = Step(
    "communities", 1, write_communities, needs=("graph", "documents", "entity_graph"), parts=("communities",),
    apart=always, wanted=lambda one: one.config.communities,
)  # fmt: skip
COMMUNITY_SUMMARIES = Step(
    "community_summaries", 1, write_community_summaries, needs=("graph", "documents", "date_index", "communities"),
    parts=("communities.told", "translations"), inputs=summaries_inputs, wanted=COMMUNITIES.wanted,
)  # fmt: skip
COMMUNITY_INDEX = Step(
    "community_index", 1, write_community_index,
    # After the embeddings, whose ceiling stops a build before anything is encoded.
    needs=("graph", "documents", "embeddings", "communities", "community_summaries", "encoder"),
    parts=("sparse", "communities.told"), inputs=index_inputs, wanted=COMMUNITIES.wanted,
)  # fmt: skip
STEPS = (
    ENCODER, EMBEDDINGS, FAISS_INDEX, TOKEN_VECTORS, BM25_INDEX, AGGREGATION_INDEX, DATE_INDEX, NAME_INDEX, LEXICON, PROFILE,
    ENTITY_GRAPH, COMMUNITIES, COMMUNITY_SUMMARIES, COMMUNITY_INDEX,
)  # fmt: skip
