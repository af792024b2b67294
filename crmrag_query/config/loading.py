"""The method as one typed, frozen record: loaded from a configuration folder or from a release, its parts hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, Field, ValidationError

from crmrag_query.config.build import (
    Aggregation,
    AlignmentConfig,
    Chaining,
    Checks,
    Chunks,
    CommunitiesConfig,
    Dates,
    Dense,
    Discovery,
    DocumentText,
    GraphPartitionsConfig,
    Images,
    Links,
    Names,
    PageRank,
    ProfileConfig,
    Requests,
    Sparse,
    Suspects,
)
from crmrag_query.config.extraction import ExtractionPart
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
from crmrag_query.config.query import (
    AnswersConfig,
    ContextConfig,
    Conversation,
    EvaluationConfig,
    PlannerConfig,
    RetrievalConfig,
    Wikidata,
)
from crmrag_query.config.reading import (
    FORMER,
    FORMER_FILES,
    Record,
    config_folder,
    default_folder,
    part_file,
    read_over,
    read_part,
    read_yaml,
)
from crmrag_query.config.relations import Relation, RelationsPart
from crmrag_query.config.sets import PlansConfig, SetsPart
from crmrag_query.errors import ConfigError

__all__ = [
    "AnswersConfig",
    "CategoriesPart",
    "Constants",
    "ContextConfig",
    "ExtractiveConfig",
    "LanguageLexicon",
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
UNRELEASED = frozenset({"requests", "dense", "checks", "evaluation", "extraction"})
"""Sections that a release does not hold: how its source was asked, by what sizes its
vectors are searched, what is said of it, how it is measured and how its pages were read are no part of the method."""


def _shipped(section: str, kind: type[Section]) -> Section:
    """A section as the configuration that ships has it, where there is none."""

    def read() -> Section:
        return kind.model_validate(read_yaml(default_folder() / "method.yaml")[section])

    made: Section = Field(default_factory=read)
    return made


class Constants(Record):
    """`method.yaml`."""

    former = FORMER
    relationships: str
    discovery: Discovery
    chunks: Chunks
    requests: Requests = _shipped("requests", Requests)
    names: Names
    dates: Dates
    links: Links
    images: Images
    suspects: Suspects
    documents: DocumentText
    chaining: Chaining
    dense: Dense = _shipped("dense", Dense)
    sparse: Sparse
    checks: Checks = _shipped("checks", Checks)
    pagerank: PageRank
    aggregation: Aggregation
    communities: CommunitiesConfig = _shipped("communities", CommunitiesConfig)
    graph_partitions: GraphPartitionsConfig = _shipped("graph_partitions", GraphPartitionsConfig)
    alignment: AlignmentConfig = _shipped("alignment", AlignmentConfig)
    profile: ProfileConfig
    retrieval: RetrievalConfig
    context: ContextConfig
    conversation: Conversation
    planner: PlannerConfig
    wikidata: Wikidata
    answers: AnswersConfig
    plans: PlansConfig
    evaluation: EvaluationConfig = _shipped("evaluation", EvaluationConfig)


def _extraction(folder: Path | str | None = None) -> ExtractionPart:
    return read_part(ExtractionPart, part_file("extraction.yaml", folder))


class Method(Constants):
    """All of `config/` but data sets and ontology tables; `relationships` names the default set."""

    categories: CategoriesPart
    events: EventsPart
    weights: WeightsPart
    satellites: SatellitesPart
    prompts: PromptsPart
    questions: QuestionLexicon
    translations: TranslationsPart
    relations: dict[str, Relation]
    sets: SetsPart
    extraction: ExtractionPart = Field(default_factory=_extraction)
    relationship_sets: dict[str, RelationshipSet]


def load_method(folder: Path | str | None = None) -> Method:
    """The whole method; a file that the folder lacks comes from the configuration that ships, as does what its method.yaml
    leaves out.

    Raises ConfigError with every mistake of the first file that has any.
    """
    for name, instead in FORMER_FILES.items():
        if (config_folder(folder) / name).is_file():
            raise ConfigError.single(
                config_folder(folder) / name,
                "(whole file)",
                "is read no more",
                remedy=f"{instead} Remove it.",
            )
    constants = _over_shipped(Constants, "method.yaml", folder)
    sets = load_relationships(folder)
    if constants.relationships not in sets:
        raise ConfigError.single(
            part_file("method.yaml", folder), "relationships", "no such set of relationships",
            value=repr(constants.relationships), remedy=f"There are: {', '.join(sets)}.",
        )  # fmt: skip
    return Method(
        **{name: getattr(constants, name) for name in Constants.model_fields},
        categories=read_part(CategoriesPart, part_file("categories.yaml", folder)),
        events=read_part(EventsPart, part_file("event_classes.yaml", folder)),
        weights=read_part(WeightsPart, part_file("weights.yaml", folder)),
        satellites=read_part(SatellitesPart, part_file("satellites.yaml", folder)),
        prompts=read_part(PromptsPart, part_file("prompts.yaml", folder)),
        questions=_over_shipped(QuestionLexicon, "questions.yaml", folder),
        translations=read_part(TranslationsPart, part_file("translations.yaml", folder)),
        relations=read_part(RelationsPart, part_file("relations.yaml", folder)).relations,
        sets=read_part(SetsPart, part_file("sets.yaml", folder)),
        extraction=_extraction(folder),
        relationship_sets=sets,
    )


def _over_shipped(model: type[Section], name: str, folder: Path | str | None) -> Section:
    """A file of which a project's own need only hold what differs."""
    return read_over(model, part_file(name, folder), default_folder() / name)


def load_relationships(folder: Path | str | None = None) -> dict[str, RelationshipSet]:
    """Sets of Fundamental Relationships by the name of their file; a project's own join those that ship."""
    places = (default_folder(), config_folder(folder))
    files = {path.stem: path for place in places for path in sorted((place / "relationships").glob("*.yaml"))}
    return {name: read_part(RelationshipSet, files[name]) for name in sorted(files)}


def config_hash(part: BaseModel | Mapping[str, Any]) -> str:
    """SHA-256 of the values, independent of comments and of the order of keys in the file, as hex digits.

    The order inside lists counts, and so does that of relationships and their paths (a match names its path).
    """
    values = part.model_dump(mode="json") if isinstance(part, BaseModel) else dict(part)
    text = json.dumps(_ordered(values), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _ordered(value: Any) -> Any:
    """Relationships and paths as lists of pairs, so that sorting keys keeps their order."""
    if isinstance(value, dict):
        return {
            key: [[name, _ordered(inner)] for name, inner in item.items()]
            if key in ("relationships", "paths") and isinstance(item, dict)
            else _ordered(item)
            for key, item in value.items()
        }
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


OPENERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(sorted(UNRELEASED), ()),
    "prompts": (),
    "wikidata": (),
    "planner": (),
    "plans": (),
    "context": (),
    "sets": (),
    "questions": (),
    "retrieval": ("k", "pool_factor", "question_characters"),
    "conversation": (),
    "answers": ("first_seconds", "whole_seconds"),
}
"""Sections of the method, or keys of them, that are never a release's to decide: what a language model is told, where
requests go, what patterns are matched, how much is looked at, waited for and paid."""


def released_method(stored: bytes, folder: Path | None = None) -> Method:
    """The method by which a release is answered from: as it is stored there, but for what ``OPENERS`` takes from the
    configuration in ``folder``, or the one that is found by itself.

    Raises ValueError for what is no method; ConfigError.
    """
    method = read_stored_method(stored)
    own: dict[str, Any] = dict(_over_shipped(Constants, "method.yaml", folder))
    own["prompts"] = read_part(PromptsPart, part_file("prompts.yaml", folder))
    own["sets"] = read_part(SetsPart, part_file("sets.yaml", folder))
    own["questions"] = _over_shipped(QuestionLexicon, "questions.yaml", folder)
    own["extraction"] = _extraction(folder)
    taken = {
        section: getattr(method, section).model_copy(update={key: getattr(own[section], key) for key in keys})
        if keys
        else own[section]
        for section, keys in OPENERS.items()
    }
    return method.model_copy(update=taken)


# Releases mostly hold the same method, and a megabyte of it takes a while to check.
@lru_cache(maxsize=8)
def read_stored_method(stored: bytes) -> Method:
    """The method as a release holds it: keys that are no settings any more are ignored, younger ones are as they ship.

    Raises ValueError for anything else that is no method.
    """
    values = json.loads(stored)
    if not isinstance(values, dict) or not Method.model_fields.keys() & values.keys():
        raise ValueError("no section of a method stands in it")
    try:
        return Method.model_validate(values)
    except ValidationError as error:
        faulty = error
    shipped = load_method(default_folder()).model_dump(mode="json")
    for mistake in faulty.errors(include_url=False, include_context=False):
        *records, key = mistake["loc"]
        within: Any = values
        whole: Any = shipped
        for record in records:
            within = within[record]
            whole = whole.get(record, {}) if isinstance(whole, dict) else {}
        if mistake["type"] == "extra_forbidden":
            del within[key]
        elif mistake["type"] == "missing" and key in whole:
            within[key] = whole[key]
        else:
            raise faulty
    return Method.model_validate(values)
