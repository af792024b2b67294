"""Scoring contexts and answers against what is known of the answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from html import unescape

from crmrag_query.answers.records import Answer, Source
from crmrag_query.answers.sentences import CITATION, split_sentences
from crmrag_query.context.records import Context
from crmrag_query.evaluation.questions import GoldQuestion
from crmrag_query.evaluation.records import AnswerScore, ContextScore

# A number in figures, with thousands apart or together: 1,234 · 1 234 · 1.234 · 1’234 · 3.5 · -12.
_NUMBER = re.compile(
    r"(?<![\w.,–−-])[-−]?(?:\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+|\d+)(?:[.,]\d+)?(?![\w]|[.,]\d)"
)
_THOUSANDS = re.compile(r"[,.'’\u00a0\u202f ](?=\d{3}(?!\d))")


def share_of_facts(facts: Sequence[str], text: str) -> float | None:
    """Share of ``facts`` that stand in ``text``, whatever their case and white space; None without facts."""
    folded = _folded(text)
    return sum(_folded(fact) in folded for fact in facts) / len(facts) if facts else None


def share_of_entities(gold: Sequence[frozenset[str]], found: Collection[str]) -> float | None:
    """Share of the gold entities of which ``found`` holds one IRI at least; None without gold."""
    held = set(found)
    return sum(not entity.isdisjoint(held) for entity in gold) / len(gold) if gold else None


def states_number(value: float, text: str, abbreviations: Collection[str] = ()) -> bool:
    """Whether the first sentence of ``text``, its citations left out, holds ``value`` as a number in figures."""
    pieces = split_sentences(text, abbreviations)
    first = CITATION.sub(" ", text[pieces[0].start : pieces[0].end]) if pieces else ""
    return any(float(value) in _readings(found[0]) for found in _NUMBER.finditer(first))


def score_context(question: GoldQuestion, context: Context, entities: Collection[str]) -> ContextScore:
    """``entities``: the IRIs of the context's sources' entities."""
    return ContextScore(
        share_of_entities(question.gold, entities),
        share_of_facts(question.facts, unescape(context.render())),
        len(context.sources),
        context.characters,
        context.tokens,
    )


def score_answer(question: GoldQuestion, answer: Answer, abbreviations: Collection[str] = ()) -> AnswerScore:
    """The cited sources as the answer's set, where one is asked for; facts, number, labels; whether it refuses."""
    precision = recall = f1 = number = None
    if question.answer_form == "iris":
        precision, recall, f1 = set_scores(question, [one for one in answer.sources if one.cited])
    if question.answer_form == "number" and question.value is not None:
        number = states_number(question.value, answer.text, abbreviations)
    return AnswerScore(
        precision,
        recall,
        f1,
        share_of_facts(question.facts, answer.text),
        number,
        share_of_facts(question.labels, answer.text),
        answer.refused,
        len(answer.unsupported),
        answer.quality.score if answer.quality else None,
        answer.written_by,
        answer.text,
    )


def set_scores(question: GoldQuestion, sources: Sequence[Source]) -> tuple[float, float, float]:
    """Precision, recall and F1 of sources against the gold set: each stands for its entity, and for the entities that it
    shows beside it, which have no document of their own."""
    return stood_scores(question, [stands_for(one) for one in sources])


def stands_for(source: Source) -> tuple[str, ...]:
    """The IRIs of a source's entity and of those that it shows beside it."""
    return (source.iri, *(entity.iri for entity in source.entities))


def stood_scores(question: GoldQuestion, members: Sequence[Sequence[str]]) -> tuple[float, float, float]:
    """Precision, recall and F1 of ``members``, each the IRIs that it stands for, its own first, against the gold set.

    A member is right when one of its IRIs is gold; one that is neither right nor wrong is left out. Two empty sets agree.
    """
    gold = frozenset().union(*question.gold)
    right = [iris for iris in members if not gold.isdisjoint(iris)]
    wrong = [iris for iris in members if gold.isdisjoint(iris) and iris[0] not in question.also_ok]
    if not gold and not wrong:
        return 1.0, 1.0, 1.0
    precision = len(right) / (len(right) + len(wrong)) if right else 0.0
    recall = share_of_entities(question.gold, frozenset().union(*right)) or 0.0
    return precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _readings(figures: str) -> set[float]:
    """What a number in figures may mean: "1.234" is 1234 to some and 1.234 to others."""
    plain = figures.replace("−", "-")
    together = _THOUSANDS.sub("", plain).replace(",", ".")
    decimal = plain.replace(",", ".")
    return {float(one) for one in (together, decimal) if re.fullmatch(r"-?\d+(\.\d+)?", one)}
