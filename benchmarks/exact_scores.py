"""Exact answers to questions with known ones: asked, and scored as sets, numbers, yes/no, rankings and tables."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from crmrag_query.answers.ask import Conversation
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.manifest import sha256_file
from crmrag_query.artifacts.release import Release
from crmrag_query.dates import civil
from crmrag_query.errors import QuestionError
from crmrag_query.evaluation.questions import AnswerForm, GoldQuestion, read_questions
from crmrag_query.evaluation.scores import share_of_facts, stands_for, states_number, stood_scores
from crmrag_query.graph.graph import Graph
from crmrag_query.llm.model import Model
from crmrag_query.plans.execute import execute
from crmrag_query.plans.records import Plan, read_plan
from crmrag_query.plans.world import World
from crmrag_query.sets.build import answer_set
from crmrag_query.sets.records import AnswerSet, Cell, Page
from crmrag_query.text import fold

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
    value, gold = said.value, float(question.value)
    return value is not None and not isinstance(value, bool) and round(float(value), _decimals(gold)) == gold


def _decimals(number: float) -> int:
    """The decimals to which a gold number is written, none of a whole one, 12 at most."""
    return 12 if number.is_integer() else len(repr(number).partition(".")[2])


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


Columns = Sequence[Sequence[str]]
"""A table column by column, all as long."""


def matched_columns(gold: Columns, answer: Columns) -> tuple[int, ...] | None:
    """For each column of ``gold`` the column of ``answer`` that holds it, such that the rows are the same bag; else None.

    No column of the answer stands for two of the gold, and its other columns are left out. Both tables must have as many
    rows: the rows that a further column multiplies are rows. The first such choice in the order of the columns is given.
    """
    if not gold or len(answer) < len(gold) or len(gold[0]) != len(answer[0]):
        return None
    held = [Counter(column) for column in answer]
    fits = []
    for column in gold:
        wanted = Counter(column)
        fits.append([place for place, found in enumerate(held) if found == wanted])
    whole = Counter(zip(*gold, strict=True))
    for chosen in _choices(fits, ()):
        if Counter(zip(*(answer[place] for place in chosen), strict=True)) == whole:
            return chosen
    return None


def _choices(fits: Sequence[Sequence[int]], chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Every way to give each column another one that it fits, the first choices first."""
    if len(chosen) == len(fits):
        return [chosen]
    free = [place for place in fits[len(chosen)] if place not in chosen]
    return [whole for place in free for whole in _choices(fits, (*chosen, place))]


SIZED = frozenset({"list", "rank"})
"""Kinds of plans whose size answers "how many"."""


def said_of(release: Release, answer: Answer) -> Said:
    """The whole of an answer's set, whatever page of it the answer holds."""
    return said_by(release, answer, getattr(answer, "set", None))


def said_by(release: Release, answer: Answer, found: AnswerSet | None) -> Said:
    """What ``answer`` said with the set ``found``; without one, by its cited sources and its text."""
    stands = tuple(stands_for(source) for source in answer.sources if source.cited)
    plain = Said(
        answer.text,
        members=stands,
        confident=answer.exhaustive,
        refused=answer.refused,
        cited=frozenset(iri for iris in stands for iri in iris),
    )
    if found is None:
        return plain
    plan = read_plan(found.plan)
    return replace(
        plain,
        members=tuple((iri,) for iri in _members(release, found, plan)),
        value=_number_given(found),
        items=_items(release, found, plan),
        by_set=True,
        confident=found.exhaustive or answer.exhaustive,
        plan=found.plan,
        unknown=found.unknown,
    )


def _number_given(found: AnswerSet) -> float | bool | None:
    """The number that a set gives: a count, yes or no, a total or mean, or how many it has."""
    if isinstance(found.value, int):
        return found.value
    if found.summed is not None:
        return found.summed.number
    return found.size if found.kind in SIZED else None


def _members(release: Release, found: AnswerSet, plan: Plan) -> list[str]:
    """IRIs of all members; the page's where it is the whole."""
    if len(found.members) == found.size:
        return [member.iri for member in found.members]
    nodes = execute(plan, release[World]).members
    return [release[Graph].iri(int(node)) for node in nodes]


def _items(release: Release, found: AnswerSet, plan: Plan) -> tuple[Item, ...]:
    """Rows of a ranking, group or table: what the first cell names, and the last cell's value."""
    rows = found.value if isinstance(found.value, tuple) else ()
    if rows and (found.next is not None or found.offset):
        whole = answer_set(release, plan, Page(limit=None), found.language, sparql=False)
        rows = whole.value if isinstance(whole.value, tuple) else ()
    measure = plan.compute.measure
    dated = measure is not None and measure.kind in ("earliest", "latest")
    return tuple(_item(release, row[0], _value(row[-1], dated)) for row in rows if row)


def _item(release: Release, cell: Cell, value: float | str) -> Item:
    names = {folded_name(cell.label)}
    node = release[Graph].node(cell.iri) if cell.iri else None
    if node is not None:
        names.update(folded_name(label.text) for label in release[Graph].labels(node))
    elif cell.number is not None:
        names.add(f"{cell.number:g}")
    return Item(cell.iri, frozenset(names - {""}), value, cell.label)


def _value(cell: Cell, dated: bool) -> float | str:
    """The number of a cell, a day as its year; else its text."""
    if cell.number is None:
        return cell.label
    return civil(int(cell.number))[0] if dated else cell.number


Advance = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Answered:
    """A question, what was answered, and its score; ``milliseconds``: of its last turn."""

    question: GoldQuestion
    said: Said
    score: ExactScore
    milliseconds: float


@dataclass(frozen=True, slots=True)
class ExactEvaluation:
    """All questions of a file, asked of a release; ``sha256`` of the file."""

    dataset: str
    release: str
    encoder: str
    file: str
    sha256: str
    answered: tuple[Answered, ...]


def evaluate_exact_file(
    release: Release, path: Path, model: Model | None = None, advance: Advance = lambda done, total: None
) -> ExactEvaluation:
    """Ask and score every question of a file. Raises QuestionError for a mistake in it."""
    manifest = release.manifest
    return ExactEvaluation(
        manifest.dataset,
        release.id,
        str(manifest.embedding.get("model", "")),
        path.name,
        sha256_file(path),
        evaluate_exact(release, read_questions(path), model, advance),
    )


def evaluate_exact(
    release: Release,
    questions: Sequence[GoldQuestion],
    model: Model | None = None,
    advance: Advance = lambda done, total: None,
) -> tuple[Answered, ...]:
    """A question with history is asked in a conversation: its earlier questions are answered before it.

    The first question is asked once beforehand, so that opening the release's files counts for none.
    """
    for first in questions[:1]:
        with suppress(QuestionError):
            Conversation().ask(release, first.question, model)
    found = []
    for done, one in enumerate(questions):
        advance(done, len(questions))
        try:
            found.append(_answered(release, one, model))
        except QuestionError as error:
            raise QuestionError(f"Question {one.id}: {error.what}", error.remedy) from error
    advance(len(questions), len(questions))
    return tuple(found)


def _answered(release: Release, question: GoldQuestion, model: Model | None) -> Answered:
    talk = Conversation()
    for earlier in question.history:
        _, talk = talk.ask(release, earlier, model)
    started = time.perf_counter()
    answer, _ = talk.ask(release, question.question, model)
    spent = (time.perf_counter() - started) * 1000
    said = said_of(release, answer)
    score = score_exact(question, said, release.method.sets.answers.abbreviations)
    return Answered(question, said, score, spent)
