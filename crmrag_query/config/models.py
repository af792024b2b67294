"""The method as one typed, frozen record."""

from __future__ import annotations

from pydantic import Field

from crmrag_query.config.build import (
    Aggregation,
    Chaining,
    Chunks,
    DateIndex,
    Dates,
    Discovery,
    DocumentText,
    Harvest,
    Images,
    Links,
    Names,
    PageRank,
    Requests,
    Sparse,
    Suspects,
    Windows,
)
from crmrag_query.config.datasets import DatasetConfig, EmbeddingConfig
from crmrag_query.config.folders import default_folder
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
from crmrag_query.config.reading import Record, read_yaml

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


def _shipped_requests() -> Requests:
    """The requests that ship: a release does not hold any, as how its source was asked is not part of the method."""
    return Requests.model_validate(read_yaml(default_folder() / "method.yaml")["requests"])


class Constants(Record):
    """`method.yaml`."""

    relationships: str
    discovery: Discovery
    chunks: Chunks
    harvest: Harvest
    requests: Requests = Field(default_factory=_shipped_requests)
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
    date_index: DateIndex
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
