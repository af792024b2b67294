"""The method as one typed, frozen record."""

from __future__ import annotations

from typing import TypeVar

from pydantic import Field

from crmrag_query.config.build import (
    Aggregation,
    Chaining,
    Checks,
    Chunks,
    DateIndex,
    Dates,
    Dense,
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
    Workers,
)
from crmrag_query.config.datasets import DatasetConfig, EmbeddingConfig
from crmrag_query.config.exonyms import ExonymsPart
from crmrag_query.config.folders import default_folder
from crmrag_query.config.kinds import KindsPart
from crmrag_query.config.parsing import ParsingPart
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
from crmrag_query.config.plans import PlansConfig
from crmrag_query.config.profile import ProfileConfig
from crmrag_query.config.query import (
    AnswersConfig,
    ContextConfig,
    Conversation,
    EvaluationConfig,
    LinkingConfig,
    PlannerConfig,
    RetrievalConfig,
    Wikidata,
)
from crmrag_query.config.reading import Record, read_yaml
from crmrag_query.config.relations import Relation
from crmrag_query.config.sets import SetsPart

__all__ = [
    "AnswersConfig",
    "CategoriesPart",
    "Constants",
    "ContextConfig",
    "DatasetConfig",
    "EmbeddingConfig",
    "ExtractiveConfig",
    "LanguageLexicon",
    "LinkingConfig",
    "Method",
    "PlansConfig",
    "PromptsPart",
    "QuestionLexicon",
    "RelationshipEntry",
    "RelationshipSet",
    "RetrievalConfig",
    "SatellitesPart",
    "TranslationsPart",
    "WeightsPart",
]


Section = TypeVar("Section", bound=Record)

UNRELEASED = frozenset({"requests", "workers", "dense", "checks", "evaluation"})
"""Sections that a release does not hold: how its source was asked, by how many processes it was built, by what sizes its
vectors are searched, what is said of it and how it is measured are no part of the method."""


def _shipped(section: str, kind: type[Section]) -> Section:
    """A section as the configuration that ships has it, where there is none."""

    def read() -> Section:
        return kind.model_validate(read_yaml(default_folder() / "method.yaml")[section])

    made: Section = Field(default_factory=read)
    return made


class Constants(Record):
    """`method.yaml`."""

    relationships: str
    discovery: Discovery
    chunks: Chunks
    harvest: Harvest
    requests: Requests = _shipped("requests", Requests)
    workers: Workers = _shipped("workers", Workers)
    names: Names
    dates: Dates
    links: Links
    images: Images
    suspects: Suspects
    documents: DocumentText
    chaining: Chaining
    windows: Windows
    dense: Dense = _shipped("dense", Dense)
    sparse: Sparse
    checks: Checks = _shipped("checks", Checks)
    pagerank: PageRank
    aggregation: Aggregation
    date_index: DateIndex
    profile: ProfileConfig
    retrieval: RetrievalConfig
    linking: LinkingConfig
    context: ContextConfig
    conversation: Conversation
    planner: PlannerConfig
    wikidata: Wikidata
    answers: AnswersConfig
    plans: PlansConfig
    evaluation: EvaluationConfig = _shipped("evaluation", EvaluationConfig)


class Method(Constants):
    """All of `config/` but data sets and ontology tables; `relationships` names the default set."""

    categories: CategoriesPart
    events: EventsPart
    weights: WeightsPart
    satellites: SatellitesPart
    prompts: PromptsPart
    questions: QuestionLexicon
    parsing: ParsingPart
    translations: TranslationsPart
    relations: dict[str, Relation]
    kinds: KindsPart
    exonyms: ExonymsPart
    sets: SetsPart
    relationship_sets: dict[str, RelationshipSet]
