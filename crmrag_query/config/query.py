"""Constants of retrieval and answering (facts: method, Query)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from crmrag_query.config.reading import (
    Count,
    Positive,
    Properties,
    Record,
    Share,
)


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

    Where a set answers: `set_characters` of everything, as long as its members leave room for `set_beside` beside them;
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
