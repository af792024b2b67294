"""The method as one typed, frozen record."""

from __future__ import annotations

from crmrag_query.config.build import (
    Aggregation,
    Chaining,
    Chunks,
    Dates,
    Discovery,
    DocumentText,
    Harvest,
    Images,
    Links,
    Names,
    PageRank,
    Sparse,
    Suspects,
    Windows,
)
from crmrag_query.config.datasets import DatasetConfig, EmbeddingConfig
from crmrag_query.config.parts import (
    CategoriesPart,
    EventsPart,
    ExtractiveConfig,
    LanguageLexicon,
    PromptsPart,
    QuestionLexicon,
    RelationshipEntry,
    RelationshipSet,
    SatellitesPart,
    TranslationsPart,
    WeightsPart,
)
from crmrag_query.config.query import ContextConfig, Conversation, RetrievalConfig, Wikidata
from crmrag_query.config.reading import Record

__all__ = [
    "CategoriesPart",
    "Constants",
    "ContextConfig",
    "DatasetConfig",
    "EmbeddingConfig",
    "ExtractiveConfig",
    "LanguageLexicon",
    "Method",
    "PromptsPart",
    "QuestionLexicon",
    "RelationshipEntry",
    "RelationshipSet",
    "RetrievalConfig",
    "SatellitesPart",
    "TranslationsPart",
    "WeightsPart",
]


class Constants(Record):
    """`method.yaml`."""

    relationships: str
    discovery: Discovery
    chunks: Chunks
    harvest: Harvest
    names: Names
    dates: Dates
    links: Links
    images: Images
    suspects: Suspects
    documents: DocumentText
    chaining: Chaining
    windows: Windows
    sparse: Sparse
    pagerank: PageRank
    aggregation: Aggregation
    retrieval: RetrievalConfig
    context: ContextConfig
    conversation: Conversation
    wikidata: Wikidata


class Method(Constants):
    """All of `config/` but data sets and ontology tables; `relationships` names the default set."""

    categories: CategoriesPart
    events: EventsPart
    weights: WeightsPart
    satellites: SatellitesPart
    prompts: PromptsPart
    questions: QuestionLexicon
    translations: TranslationsPart
    relationship_sets: dict[str, RelationshipSet]
