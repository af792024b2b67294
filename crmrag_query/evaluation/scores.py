"""Scoring contexts and answers against what is known of the answer."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from html import unescape

from crmrag_query.answers.records import Answer
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.evaluation.records import AnswerScore, ContextScore


def share_of_facts(facts: Sequence[str], text: str) -> float | None:
    """Share of ``facts`` that stand in ``text`` without regard to case; None without facts."""
    folded = " ".join(text.casefold().split())
    return sum(fact.casefold() in folded for fact in facts) / len(facts) if facts else None


def share_of_entities(gold: Sequence[frozenset[str]], found: Collection[str]) -> float | None:
    """Share of the gold entities of which ``found`` holds one IRI at least; None without gold."""
    held = set(found)
    return sum(not entity.isdisjoint(held) for entity in gold) / len(gold) if gold else None


def score_context(question: GoldQuestion, text: str, sources: int, entities: Collection[str]) -> ContextScore:
    """``text``: the context as rendered, escaped; ``entities``: the IRIs of its sources' entities."""
    return ContextScore(
        share_of_entities(question.gold, entities),
        share_of_facts(question.facts, unescape(text)),
        sources,
        len(text),
    )


def score_answer(question: GoldQuestion, answer: Answer) -> AnswerScore:
    """The cited entities as the answer's set, where a set is asked for; its facts; whether it refuses."""
    precision = recall = f1 = None
    if question.answer_form == "iris":
        precision, recall, f1 = set_scores(question, {source.iri for source in answer.sources})
    return AnswerScore(
        precision,
        recall,
        f1,
        share_of_facts(question.facts, answer.text),
        answer.refused,
        len(answer.unsupported),
        answer.quality.score if answer.quality else None,
        answer.text,
    )


def set_scores(question: GoldQuestion, found: Collection[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of a set of IRIs against the gold set; those that are neither right nor wrong are left out.

    Two empty sets agree.
    """
    gold = frozenset().union(*question.gold)
    given = frozenset(found) - (question.also_ok - gold)
    if not gold and not given:
        return 1.0, 1.0, 1.0
    right = len(gold & given)
    precision = right / len(given) if given else 0.0
    recall = right / len(gold) if gold else 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0
