"""Scoring what was answered as a set: whether it is exactly the gold, how near it comes, and whether a wrong one was sure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from crmrag_query.evaluation.questions import AnswerForm, GoldQuestion
from crmrag_query.evaluation.scores import share_of_facts, states_number, stood_scores
from crmrag_query.retrieval.tokenizer import fold

SET_FORMS: frozenset[AnswerForm] = frozenset({"iris", "number", "bool", "ranking", "table"})
"""Forms of answers that are exact or not: those that a plan gives."""

_YES = frozenset({"yes", "oui", "ja", "ναι"})
_NO = frozenset({"no", "non", "nein", "nee", "οχι"})
_WORD = re.compile(r"\w+")
_YEARS = re.compile(r"(-?\d+)s?")  # "1870" and "1870s": a year, or the decade that it begins


@dataclass(frozen=True, slots=True)
class Item:
    """A row of a ranking or table: the entity's IRI ("" for a literal), its names folded, its value, its name as shown."""

    iri: str
    names: frozenset[str]
    value: float | str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What was answered, in the form in which it is scored.

    ``members``: for each entity of the set the IRIs that it stands for, its own first; ``value``: a number or yes/no;
    ``items``: rows of a ranking, in order, or table; ``by_set``: it is an exact set, else members are the cited sources and
    value what the text says; ``confident``: it was given as the whole; ``cited``: IRIs of sources and of what they show;
    ``plan``: as JSON; ``unknown``: words that were not understood.
    """

    text: str
    members: tuple[tuple[str, ...], ...] = ()
    value: float | bool | None = None
    items: tuple[Item, ...] = ()
    by_set: bool = False
    confident: bool = False
    refused: bool = False
    cited: frozenset[str] = frozenset()
    plan: dict[str, Any] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExactScore:
    """One answer against the gold.

    ``exact``: right as a whole (None for a form that no set answers); ``f1`` of members or rows, 1 or 0 for a number or
    yes/no; ``wrong``: confidently wrong, which is the worst that can happen; ``facts``: share of the gold facts in the text.
    """

    exact: bool | None
    f1: float | None
    confident: bool
    wrong: bool
    refused: bool
    facts: float | None
    by_set: bool


def score_exact(question: GoldQuestion, said: Said, abbreviations: Collection[str] = ()) -> ExactScore:
    """Score by the question's form of answer; ``abbreviations``: words whose full stop ends no sentence."""
    exact: bool | None = None
    f1: float | None = None
    if question.answer_form in SET_FORMS:
        exact, f1 = _set_scores(question, said, abbreviations)
    return ExactScore(
        exact,
        f1,
        said.confident,
        exact is False and said.confident,
        said.refused,
        share_of_facts(question.facts, said.text),
        said.by_set,
    )


def _set_scores(question: GoldQuestion, said: Said, abbreviations: Collection[str]) -> tuple[bool, float]:
    match question.answer_form:
        case "iris":
            f1 = stood_scores(question, said.members)[2]
            return f1 == 1.0, f1
        case "ranking":
            return _ranking(question, said)
        case "table":
            return _table(question, said)
        case "bool":
            value = said.value if said.by_set else yes_no(said.text)
            right = isinstance(value, bool) and value == question.value
        case _:
            right = _number(question, said, abbreviations)
    return right, float(right)


def _number(question: GoldQuestion, said: Said, abbreviations: Collection[str]) -> bool:
    if question.value is None:
        return False
    if not said.by_set:
        return states_number(question.value, said.text, abbreviations)
    value = said.value
    return value is not None and not isinstance(value, bool) and float(value) == float(question.value)


def _ranking(question: GoldQuestion, said: Said) -> tuple[bool, float]:
    """Items of equal value may stand in any order among themselves."""
    items = [item for item in said.items if item.iri not in question.also_ok or _is_gold(question, item)]
    gold = list(question.value or ())
    right = [
        any(_same(row, item) and same_value(row.get("value"), item.value) for item in items) for row in gold
    ]
    in_order = len(items) == len(gold) and all(
        same_value(row.get("value"), item.value) for row, item in zip(gold, items, strict=True)
    )
    return all(right) and in_order, _f1(sum(right), len(items), len(gold))


def _table(question: GoldQuestion, said: Said) -> tuple[bool, float]:
    """Rows of value 0, and of entities that are neither right nor wrong, may be there or not."""
    gold, left = list(question.value or ()), list(said.items)
    right = needed = 0
    for row in gold:
        item = _found(row, left)
        optional = row.get("iri") in question.also_ok or same_value(row.get("value"), 0)
        if item is not None:
            left.remove(item)
        if item is not None and same_value(row.get("value"), item.value):
            right += 1
        if item is not None or not optional:
            needed += 1
    extra = sum(item.iri not in question.also_ok and not same_value(0, item.value) for item in left)
    answered = len(said.items) - len(left) + extra
    return right == needed and not extra, _f1(right, answered, needed)


def _found(row: dict[str, Any], items: Sequence[Item]) -> Item | None:
    """The item of a gold row: by IRI before by name."""
    by_iri = [item for item in items if item.iri and item.iri == row.get("iri")]
    return next(iter(by_iri), None) or next((item for item in items if _same(row, item)), None)


def _is_gold(question: GoldQuestion, item: Item) -> bool:
    return any(_same(row, item) for row in question.value or ())


def _same(row: dict[str, Any], item: Item) -> bool:
    """Whether an item is a gold row: by its IRI, or by any of its names."""
    if item.iri and item.iri == row.get("iri"):
        return True
    key = folded_name(str(row.get("key") or row.get("label") or ""))
    return key in item.names or any(_years(key) == _years(name) != "" for name in item.names)


def _years(text: str) -> str:
    found = _YEARS.fullmatch(text)
    return found[1] if found else ""


def same_value(gold: Any, answered: Any) -> bool:
    """Equal as numbers, else as texts. Years before Christ are counted with a year 0 by some and without by others."""
    try:
        wanted, found = float(gold), float(answered)
    except (TypeError, ValueError):
        return str(gold) == str(answered)
    return wanted == found or (wanted < 0 and found <= 0 and abs(wanted - found) == 1)


def folded_name(text: str) -> str:
    """A name as names are compared: without case, accents and doubled white space."""
    return " ".join(fold(text).split())


def yes_no(text: str) -> bool | None:
    """Yes or no where a text begins with either word, in English, French, German, Dutch or Greek; else None."""
    first = _WORD.search(fold(text))
    word = first[0] if first else ""
    return True if word in _YES else False if word in _NO else None


def _f1(right: int, answered: int, gold: int) -> float:
    if answered + gold == 0:
        return 1.0
    return 2 * right / (answered + gold)
