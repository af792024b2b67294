"""Constants of retrieval and answering (facts: method, Query)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Codes, Count, Positive, Properties, Share


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
    oversized_triples: Count
    oversized_penalty: float
    type_modifiers: dict[str, float]


class RetrievalConfig(Record):
    """Pool, fusion and the stages after it.

    `similarity`: of the L2 distance d, 1/(1 + d^2) as in the first code or 1/(1 + d) as in the paper;
    `coherence`: weight of personalised PageRank over the pool's own edges.
    """

    k: ByForm
    pool_factor: Count
    rrf_k: Count
    named_weight: Count
    similarity: Literal["squared", "plain"]
    coherence: Share
    question_characters: Count
    reserved: ShareByForm
    non_informative: NonInformative
    adjacency: Adjacency
    subgraph: Subgraph


class TriplesContext(Record):
    """Triples put into a model's context, by priority: both ends retrieved, high value, labelled, other."""

    characters: Count
    per_entity: Count
    entity_characters: Count
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
    """How much is put before a language model; `characters` is the whole budget for documents."""

    characters: Count
    document_characters: Count
    history_turns: Annotated[int, Field(ge=0)]
    history_messages: Annotated[int, Field(ge=0)]
    triples: TriplesContext
    aggregation: AggregationContext


class Wikidata(Record):
    """Texts from Wikidata: for how many entities, how long to wait, how long a failure is remembered."""

    entities: Annotated[int, Field(ge=0)]
    timeout_seconds: Positive
    failure_seconds: Positive


class Conversation(Record):
    """How follow-up questions are recognised."""

    pivots: tuple[str, ...]
    more: tuple[str, ...]
    vague_words: Count
