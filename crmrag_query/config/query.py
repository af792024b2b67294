"""Constants of retrieval and answering (facts: method, Query)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from crmrag_query.config.reading import Record
from crmrag_query.config.types import CategoryName, Codes, Count, Pattern, Positive, Properties, Share


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


class NonInformative(Record):
    """Types that say little by themselves: at most max(1, share) of the pool."""

    types: Codes
    share: Share


class Adjacency(Record):
    """Edges between candidates; a way over one node outside the pool weighs w_a * w_b / divisor."""

    max_hops: Literal[1, 2]
    two_hop_divisor: Positive


class Subgraph(Record):
    """Greedy choice of a coherent subset: relevance and connectivity against likeness to what is chosen."""

    relevance: Share
    connectivity: Share
    redundancy: Share
    category_bonus: float
    tied_bonus: float
    oversized_triples: Count
    oversized_penalty: float
    type_modifiers: dict[str, float]


Measure = Literal["Success@10", "Rprec", "R@10", "R@20", "nDCG@10", "nDCG@20", "RR"]
"""Measures of a ranking, as ir_measures names them."""


class EvaluationConfig(Record):
    """How an evaluation is summed up.

    `headline`: the one measure that counts for a kind of question; `overall`: the one over questions of every kind; the
    bootstrap's `resamples`, `confidence`, `seed`.
    """

    headline: dict[str, Measure]
    overall: Measure
    resamples: Count
    confidence: Annotated[float, Field(gt=0, lt=1)]
    seed: int


class Stages(Record):
    """Which stages of retrieval run."""

    dense: bool
    sparse: bool
    named: bool
    tied: bool
    dated: bool
    walked: bool
    typed: bool
    informative: bool
    subgraph: bool
    adjacency: bool
    diversity: bool
    modifiers: bool


class MentionConfig(Record):
    """From which score a mention is relied on, in general and where its words also ask for a relationship."""

    least: Share
    least_of_cue: Share


class ReachShares(Record):
    """How much being tied to what a question names counts, by the relationship that ties."""

    cued: Share
    other: Share
    vague: Share
    aside: Share
    own: ShareByForm
    keep: Share
    full: Share


class Dated(Record):
    """Which relationships date a thing of a category as a rule; what a date that only may lie in the period counts."""

    relationships: dict[CategoryName, tuple[str, ...]]
    possible: Share


class Walked(Record):
    """Part of the graph that personalised PageRank walks: steps around what is named, and nodes at most."""

    hops: Count
    nodes: Count


class RetrievalConfig(Record):
    """Pool, fusion and the stages after it.

    `similarity`: of the L2 distance d, 1/(1 + d^2) as in the first code or 1/(1 + d) as in the paper;
    `weights`: how often a channel counts in the fusion, once where it is not listed; `anchors`: documents of what the
    question names that are brought in where they were not chosen.
    """

    k: ByForm
    pool_factor: Count
    rrf_k: Count
    weights: dict[str, Count]
    similarity: Literal["squared", "plain"]
    question_characters: Count
    stages: Stages
    anchors: Annotated[int, Field(ge=0)]
    mentions: MentionConfig
    reach: ReachShares
    dated: Dated
    walked: Walked
    reserved: ShareByForm
    non_informative: NonInformative
    adjacency: Adjacency
    subgraph: Subgraph


class TriplesContext(Record):
    """Triples put into a model's context, by priority: both ends retrieved, high value, labelled, other."""

    characters: Count
    per_entity: Count
    entity_characters: Count
    looked_at: Count
    high_value: Codes
    excluded: Properties


class AggregationContext(Record):
    """The block of counts put into a model's context."""

    characters: Count
    types: Count
    central: Count
    makers: Count
    relationships: Count


class ContextConfig(Record):
    """How much is put before a language model; `characters` and `tokens` hold for everything together.

    `line_characters`: longer lines are cut, the best ones, `long_lines`, at `long_line_characters`; `decay`: worth of a
    document's next line for each that it already has; `beside`: share that triples, counts and Wikidata may take before the
    documents.
    """

    characters: Count
    tokens: Count
    document_characters: Count
    line_characters: Annotated[int, Field(ge=40)]
    long_line_characters: Annotated[int, Field(ge=40)]
    long_lines: Annotated[int, Field(ge=0)]
    name_characters: Annotated[int, Field(ge=10)]
    decay: Share
    beside: Share
    history_turns: Annotated[int, Field(ge=0)]
    triples: TriplesContext
    aggregation: AggregationContext


class Wikidata(Record):
    """Texts from Wikidata: for how many entities, how long to wait, how long a failure is remembered.

    `address`: of its API; `response_bytes`: a longer response is a failure; `cached`: entities kept in memory;
    `characters` of one entity's text; `values` shown of each of the `properties`.
    """

    entities: Annotated[int, Field(ge=0)]
    timeout_seconds: Positive
    failure_seconds: Positive
    address: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
    response_bytes: Count
    cached: Count
    characters: Count
    values: Count
    properties: tuple[Annotated[str, StringConstraints(pattern=r"^P[1-9]\d{0,9}$")], ...]


class References(Record):
    """Words of one language that stand for what went before in a conversation; see `method.yaml`."""

    person: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    many: tuple[str, ...] = ()
    thing: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    no_reference: tuple[str, ...] = ()
    the: tuple[str, ...] = ()
    this: tuple[str, ...] = ()
    opening: tuple[str, ...] = ()
    joiners: tuple[str, ...] = ()
    tail: tuple[str, ...] = ()
    pivots: tuple[str, ...] = ()


class Conversation(Record):
    """How follow-up questions are recognised, and how much a conversation keeps.

    `questions`: of a topic, with which a follow-up is read; `turns`, `focus`, `shown`, `excluded`: most that are kept;
    `excluded_ratio`: of the best meaning's score; `rewrite_length`: times the length of what is rewritten; `seconds`: for a
    model to analyse or rewrite; `references`: by language.
    """

    pivots: tuple[str, ...]
    more: tuple[str, ...]
    vague_words: Count
    questions: Count
    turns: Count
    focus: Count
    shown: Count
    excluded: Count
    excluded_ratio: Share
    rewrite_length: Count
    seconds: Positive
    references: dict[str, References]


class PlannerConfig(Record):
    """How a language model is asked for a plan.

    `tokens`: of the data told with the question, the question itself aside; `shares`: most of them that a section may take
    while others have rows left; `label_characters` of what the data names something; `mentioned`: entities told for one
    mention; `types_of`: types told of an entity; `earlier`: turns of the conversation that are told; `seconds`:
    of all rounds; `reply_tokens`: of one reply; `repair_characters`: of a faulty reply that is told back;
    `told_constraints`: looked at one by one when a plan gives nothing.
    """

    tokens: Count
    shares: dict[Literal["relations", "relationships", "classes", "types", "properties", "graphs"], Share]
    label_characters: Annotated[int, Field(ge=10)]
    mentioned: Count
    types_of: Annotated[int, Field(ge=0)]
    earlier: Annotated[int, Field(ge=0)]
    seconds: Positive
    reply_tokens: Count
    repair_characters: Count
    told_constraints: Count


class QualityWeights(Record):
    """Weights of the parts of an answer's quality; they add up to 1 (facts: issue on the query pipeline)."""

    grounded: Share
    coverage: Share
    citations: Share
    form: Share


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
    """How an answer is checked, and what is told of its sources.

    `first_seconds`, `whole_seconds`: how long a model may take until its first words, and in all; `noun_capitals`:
    languages that write all nouns with a capital; `numbers`: words that are numbers; `common`: words that begin a sentence
    with a capital and are no names; `joints`: small words within a name; `titles`: words that a name may have or lack;
    `refusals`: expressions, on folded text, of an honest "the data does not say"; `planted`: of text in the data that
    speaks to a language model.
    """

    quality: QualityWeights
    warn_below: Share
    specific_sentences: Count
    first_seconds: Positive
    whole_seconds: Positive
    whole_characters: Count
    snippet_characters: Count
    evidence_lines: Count
    lineage_ways: Count
    neighbours: Count
    noun_capitals: tuple[str, ...]
    abbreviations: tuple[str, ...]
    numbers: dict[str, Annotated[int, Field(ge=0)]]
    common: tuple[str, ...]
    joints: tuple[str, ...]
    titles: tuple[str, ...]
    refusals: dict[str, tuple[Pattern, ...]]
    planted: tuple[Pattern, ...]
    licence: Properties
    attribution: Properties
    coordinates: CoordinateProperties
    dates: DateProperties


class NameSpelling(Record):
    """When two words may be spellings of one: letters of the shortest such word, and of one with two slips.

    `prefix`: letters of a word by which others near it are looked up.
    """

    shortest: Annotated[int, Field(ge=3)]
    two_slips: Annotated[int, Field(ge=5)]
    prefix: Annotated[int, Field(ge=5, le=12)]


class NamesConfig(Record):
    """What the name index holds; a part of a release.

    `left_out`: kinds of satellites.yaml whose entities are not linked; `stop_weight`: of a stop word against any other.
    """

    left_out: tuple[str, ...]
    words: Count
    stop_weight: Share
    spelling: NameSpelling


class LinkingConfig(Record):
    """How the entities that a question names are found; see `crmrag_query.linking.link`.

    `plain`: words by language that are too usual to name anything by themselves as a part of a name.
    """

    names: NamesConfig
    characters: Count
    tokens: Count
    longest_name: Count
    gap: Annotated[int, Field(ge=0)]
    reach: Count
    variant: Share
    similar_words: Count
    word_postings: Count
    question_postings: Count
    candidates: Count
    suggested_postings: Count
    begun: Share
    common_share: Share
    common_names: Count
    common_least: Share
    plain: dict[str, tuple[str, ...]]
    short_number: Share
    prior: Share
    least: Share
    keep: Share
    entities: Count
