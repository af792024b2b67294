"""The method as one typed, frozen record: loaded from a configuration folder or from a release, its parts hashed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationError

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
from crmrag_query.config.parts import (
    CategoriesPart,
    EventsPart,
    ExtractionPart,
    PromptsPart,
    QuestionLexicon,
    Relation,
    RelationshipSet,
    RelationsPart,
    SatellitesPart,
    SetsPart,
    TranslationsPart,
    WeightsPart,
)
from crmrag_query.config.reading import (
    FORMER,
    FORMER_FILES,
    Count,
    Pattern,
    Positive,
    Properties,
    Record,
    Share,
    config_folder,
    default_folder,
    part_file,
    read_over,
    read_part,
    read_yaml,
)
from crmrag_query.errors import ConfigError


class ByForm(Record):
    """One number for each form of question."""

    specific: Count
    enumeration: Count
    aggregation: Count


class ShareByForm(Record):
    """One share for each form of question."""

    specific: Share
    enumeration: Share
    aggregation: Share


class Subgraph(Record):
    """Greedy choice of a coherent subset: relevance and connectivity against likeness to what is chosen."""

    relevance: Share
    connectivity: Share
    redundancy: Share


Measure = Literal["Success@10", "Rprec", "R@10", "R@20", "nDCG@10", "nDCG@20", "RR"]
"""Measures of a ranking, as ir_measures names them."""


class EvaluationConfig(Record):
    """`headline`: the one measure that counts for a kind of question; `overall`: the one over questions of every kind."""

    headline: dict[str, Measure]
    overall: Measure


class RetrievalConfig(Record):
    """How many documents a question gets: `k`, of which the pool holds `pool_factor` times as many, a `reserved` share of it
    for the categories that are asked for. A question has at most `question_characters`."""

    k: ByForm
    pool_factor: Count
    question_characters: Count
    reserved: ShareByForm
    subgraph: Subgraph


class ContextConfig(Record):
    """How much is put before a language model: `characters` and `tokens` of everything together, `document_characters` of one
    source; `history_turns`: earlier questions of the conversation.

    Where a set is told: `set_characters` of everything, as long as its members leave room for `set_beside` beside them;
    `set_sources`: members, and other documents, of which more than a line is told; `set_fields`: relations of which a
    member's line tells the values.

    A model whose window is smaller gets as much as fits it. Where `capped`, it gets no more documents than
    `documents_per_model` says for the longest beginning of its name, `default` for any other.
    """

    characters: Count
    tokens: Count
    document_characters: Count
    history_turns: Annotated[int, Field(ge=0)]
    set_characters: Count
    set_beside: Count
    set_sources: Count
    set_fields: tuple[str, ...]
    capped: bool
    documents_per_model: dict[str, Count]


class Wikidata(Record):
    """Texts from Wikidata: for how many entities, how long to wait; `address` of its API, the `properties` that are told."""

    entities: Annotated[int, Field(ge=0)]
    timeout_seconds: Positive
    address: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
    properties: tuple[Annotated[str, StringConstraints(pattern=r"^P[1-9]\d{0,9}$")], ...]


class Conversation(Record):
    """How much a conversation keeps: at most so many `turns`; `seconds` for a model to analyse or rewrite a question."""

    turns: Count
    seconds: Positive


class PlannerConfig(Record):
    """How a language model is asked for a plan: `tokens` of the data told with the question, the question itself aside;
    `seconds` of all rounds."""

    tokens: Count
    seconds: Positive


class CoordinateProperties(Record):
    """Where coordinates stand: literals with a point, pairs of numbers; what leads to these, and to the place of a thing."""

    point: Properties
    latitude: Properties
    longitude: Properties
    shape: Properties
    place: Properties


class DateProperties(Record):
    """What leads to the time-span of a node, and to the events that date it: the first group that gives a date counts."""

    time_span: Properties
    events: tuple[Properties, ...]


class AnswersConfig(Record):
    """How long a model may take for an answer (until its first words, and in all), and which properties tell of a source."""

    first_seconds: Positive
    whole_seconds: Positive
    licence: Properties
    attribution: Properties
    coordinates: CoordinateProperties
    dates: DateProperties


def _with_id(pattern: str) -> str:
    if "id" not in re.compile(pattern).groupindex:
        raise ValueError("the part that tells entries apart must be named: (?P<id>…)")
    return pattern


class PlansConfig(Record):
    """Which entities plans take for the same.

    `same_properties`: properties between them; `same_iris`: IRIs of authorities, one of which both share.
    """

    same_properties: Properties = (
        "http://www.w3.org/2002/07/owl#sameAs",
        "http://www.w3.org/2004/02/skos/core#exactMatch",
        "http://schema.org/sameAs",
        "https://schema.org/sameAs",
    )
    same_iris: tuple[Annotated[Pattern, AfterValidator(_with_id)], ...] = (
        r"https?://vocab\.getty\.edu/(page/)?ulan/(?P<id>\d+)",
        r"https?://(www\.)?wikidata\.org/(entity|wiki)/(?P<id>Q\d+)",
    )


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
