"""What a language model is told beside the question: what of the data set a plan may name, within a budget of tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from crmrag_query.artifacts.release import Release
from crmrag_query.entities.named import type_nodes
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import Mention, stop_words
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.records import Plan
from crmrag_query.plans.world import World
from crmrag_query.questions.state import ConversationState
from crmrag_query.reading.catalogue_rows import (
    Row,
    by_relevance,
    class_rows,
    graph_rows,
    profile_of,
    property_rows,
    relation_rows,
    relationship_rows,
    type_rows,
)
from crmrag_query.reading.earlier import plan_of
from crmrag_query.reading.structured_form import for_model
from crmrag_query.text import plain, shorten, tokenize, tokens

SHARES = {
    "relations": 0.3, "relationships": 0.15, "classes": 0.1, "types": 0.25, "properties": 0.15, "graphs": 0.05,
}  # fmt: skip
"""Most of the tokens that a section takes while others have rows left; what is free then goes to them in this order."""
LABEL_CHARACTERS = 80  # of a name or an example from the data
MENTIONED = 5  # entities told for one mention, best first
TYPES_OF = 2  # types told of an entity
EARLIER_TURNS = 3  # of the conversation that are told

Told = Mapping[str, Any]
"""JSON of the user's message; all that people and data said is in it."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """A turn of the conversation: what was asked, the plan of its answer and how many it found, where these are known."""

    question: str
    plan: Plan | None = None
    size: int | None = None


def earlier_of(state: ConversationState) -> tuple[Earlier, ...]:
    """The turns of a conversation's topic, oldest first; where there is no plan, what an answer showed stands for its set."""
    return tuple(Earlier(turn.resolved, plan_of(turn)) for turn in state.topic)


def catalogue(
    release: Release, question: str, mentions: Sequence[Mention], earlier: Sequence[Earlier] = ()
) -> Told:
    """The question with what may stand in its plan, at most ``planner.tokens`` beside the question (estimated from above).

    Entities that the question names and earlier turns come first; then of each section the rows nearest to the question's
    words, the most used first, up to the section's share; what is free then goes to the sections in their order.
    """
    told: dict[str, Any] = {"question": plain(question)}
    left = release.method.planner.tokens
    for key, values in (
        ("earlier", _earlier(earlier)),
        ("named", [_mention(release, mention) for mention in mentions]),
    ):
        kept, left = _affordable(values, left)
        if kept:
            told[key] = kept
    for key, rows in _chosen(_sections(release, question), left, SHARES).items():
        told[key] = [row.text for row in rows]
    return told


def _affordable(values: Sequence[Any], left: int) -> tuple[list[Any], int]:
    kept = []
    for value in values:
        if (cost := _cost(value)) <= left:
            kept.append(value)
            left -= cost
    return kept, left


def _cost(value: object) -> int:
    """Tokens of a value as it is written, with the comma after it."""
    return tokens(written(value)) + 1


def written(value: object) -> str:
    """JSON on one line, letters as they are."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _sections(release: Release, question: str) -> dict[str, list[Row]]:
    """All rows by section, the most relevant first."""
    profile, languages = profile_of(release), release.manifest.languages
    characters = LABEL_CHARACTERS
    every = {
        "relations": relation_rows(release[World], languages),
        "relationships": relationship_rows(release, profile),
        "classes": class_rows(release, profile, characters),
        "types": type_rows(profile, characters),
        "properties": property_rows(profile, characters),
        "graphs": graph_rows(release),
    }
    stop = stop_words(release.method.questions)
    words = [word for word in tokenize(question) if word not in stop]
    return {key: by_relevance(list(rows), words) for key, rows in every.items()}


def _chosen(
    sections: Mapping[str, Sequence[Row]], left: int, shares: Mapping[Any, float]
) -> dict[str, list[Row]]:
    """The first rows of each section that fit its share of ``left`` tokens, then those that fit what is free."""
    costs = {key: [_cost(row.text) for row in rows] for key, rows in sections.items()}
    counts: dict[str, int] = {}
    free = left
    for key, each in costs.items():
        counts[key] = _fitting(each, min(free, int(left * shares.get(key, 0.0))))
        free -= sum(each[: counts[key]])
    for key, each in costs.items():
        more = _fitting(each[counts[key] :], free)
        free -= sum(each[counts[key] : counts[key] + more])
        counts[key] += more
    return {key: list(rows[: counts[key]]) for key, rows in sections.items() if counts[key]}


def _fitting(costs: Sequence[int], budget: int) -> int:
    spent = 0
    for count, cost in enumerate(costs):
        spent += cost
        if spent > budget:
            return count
    return len(costs)


def _earlier(turns: Sequence[Earlier]) -> list[Told]:
    """The last turns, oldest first; of a long list of members only how many they are."""
    first = max(0, len(turns) - EARLIER_TURNS)
    found: list[Told] = []
    for turn in turns[first:]:
        told: dict[str, Any] = {"question": shorten(plain(turn.question), 4 * LABEL_CHARACTERS)}
        if turn.plan is not None:
            told["plan"] = _abridged(for_model(turn.plan), MENTIONED)
        if turn.size is not None:
            told["size"] = turn.size
        found.append(told)
    return found


def _abridged(told: Any, most: int) -> Any:
    """A plan's JSON with no more than so many IRIs in a list."""
    if isinstance(told, list):
        kept = [_abridged(one, most) for one in told[:most]]
        return [*kept, f"… {len(told) - most} more"] if len(told) > most else kept
    if isinstance(told, dict):
        return {key: _abridged(value, most) for key, value in told.items()}
    return told


def _mention(release: Release, mention: Mention) -> Told:
    """What a stretch of the question may mean, best first."""
    return {
        "words": plain(mention.text),
        "may be": [_entity(release, one.entity) for one in mention.entities[:MENTIONED]],
    }


def _entity(release: Release, node: int) -> Told:
    graph, languages = release[Graph], release.manifest.languages
    label = shorten(plain(graph.label(node, languages)), LABEL_CHARACTERS)
    categories = [str(one.name) for one in Category if int(graph.adjacency.categories[node]) & one]
    told = {"iri": graph.iri(node), "label": label, "category": " or ".join(categories)}
    kinds = [
        shorten(plain(graph.label(kind, languages)), LABEL_CHARACTERS)
        for kind in islice(type_nodes(graph, node), TYPES_OF)
    ]
    return told | ({"types": kinds} if kinds else {})
