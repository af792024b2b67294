"""Evaluations of exact answers as Markdown: shares by data set and kind, and every answer that was sure and wrong."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence

from exact_scores import SET_FORMS, Answered, ExactEvaluation, Said

from crmrag_query.evaluation.report import mean, number, percentiles, table
from crmrag_query.text import shorten

SHOWN = 6  # gold or answered entities or rows named in a list of mistakes
PLAN_CHARACTERS = 600
TEXT_CHARACTERS = 160
HOW_TO_READ = (
    "*Exact*: the set, number, yes/no, ranking or table is the gold one, all of it and no more. *F1* of members or rows: "
    "mean over questions (1 or 0 for a number or yes/no). *Confident*: given as the whole answer; *sure and wrong*: so, but "
    "not exact. *As a set*: answered by a plan. *Facts*: questions whose gold facts all stand in the text."
)
SUMS = ("exact", "F1", "as a set", "confident", "sure and wrong")
Group = tuple[str, list[Answered]]


def markdown(evaluations: Sequence[ExactEvaluation], command: str) -> str:
    """The tables of one or several evaluations, with the command that made them."""
    everything = [one for evaluation in evaluations for one in evaluation.answered]
    by_set = [(one.dataset, list(one.answered)) for one in evaluations]
    parts = [
        f"# Exact answers of {', '.join(one.dataset for one in evaluations)}",
        f"Made by `{command}`. How to read and repeat it: docs/evaluation.md.",
        _measured(evaluations),
        HOW_TO_READ,
        "## By data set",
        sums("data set", [*by_set, ("all", everything)]),
        _others([*by_set, ("all", everything)]),
        "## By kind of question",
        sums("kind", grouped(everything, lambda one: one.question.kind)),
        "## By form of answer",
        sums("form", grouped(everything, lambda one: one.question.answer_form)),
        "## Exact answers by kind and data set",
        _crossed(evaluations),
        "## Sure and wrong",
        *_listed(evaluations, lambda one: one.score.wrong),
        "## Not exact, and not given as the whole",
        *_listed(evaluations, lambda one: one.score.exact is False and not one.score.wrong),
        "## Not refused, though the data does not tell",
        *_listed(evaluations, lambda one: one.question.answer_form == "refuse" and not one.score.refused),
        "## Latency",
        "Milliseconds of a whole answer, median / 95th percentile, on the machine that ran this. Everything above is the "
        "same for the same release, questions and configuration.",
        table(("data set", "milliseconds"), ((one.dataset, _latency(one.answered)) for one in evaluations)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def grouped(answered: Iterable[Answered], key: Callable[[Answered], str]) -> list[Group]:
    """Questions by a key, in the order in which keys come."""
    found: dict[str, list[Answered]] = {}
    for one in answered:
        found.setdefault(key(one), []).append(one)
    return list(found.items())


def set_questions(answered: Iterable[Answered]) -> list[Answered]:
    """Those that a set answers."""
    return [one for one in answered if one.question.answer_form in SET_FORMS]


def sums(head: str, groups: Iterable[Group]) -> str:
    """A row for each group that has questions which a set answers."""
    rows = []
    for name, members in groups:
        asked = set_questions(members)
        if asked:
            rows.append((name, len(asked), *_summed(asked)))
    return table((head, "questions", *SUMS), rows)


def _summed(asked: Sequence[Answered]) -> tuple[str, ...]:
    def share(count: int) -> str:
        return f"{count} ({count / len(asked):.1%})"

    return (
        share(sum(bool(one.score.exact) for one in asked)),
        number(mean(one.score.f1 for one in asked)),
        share(sum(one.score.by_set for one in asked)),
        share(sum(one.score.confident for one in asked)),
        share(sum(one.score.wrong for one in asked)),
    )


def _others(groups: Iterable[Group]) -> str:
    """What no set answers: refusals and facts; and sets proper, without numbers, yes/no, rankings and tables."""
    rows = []
    for name, members in groups:
        refusals = [one for one in members if one.question.answer_form == "refuse"]
        facts = [one for one in members if one.question.answer_form == "facts"]
        sets = [one for one in members if one.question.answer_form == "iris"]
        wrongly = sum(one.score.refused for one in members if one.question.answer_form != "refuse")
        rows.append((
            name,
            f"{sum(one.score.refused for one in refusals)} of {len(refusals)}",
            f"{wrongly} of {len(members) - len(refusals)}",
            f"{sum(one.score.facts == 1 for one in facts)} of {len(facts)}",
            number(mean(one.score.facts for one in facts)),
            f"{sum(bool(one.score.exact) for one in sets)} of {len(sets)}",
            number(mean(one.score.f1 for one in sets)),
        ))  # fmt: skip
    head = (
        "data set", "refused when it should", "refused when it should not", "facts", "mean share of facts",
        "exact sets of entities", "their mean F1",
    )  # fmt: skip
    return table(head, rows)


def _crossed(evaluations: Sequence[ExactEvaluation]) -> str:
    kinds = [name for name, members in _kinds(evaluations) if set_questions(members)]
    rows = []
    for kind in kinds:
        of_kind = [set_questions(a for a in one.answered if a.question.kind == kind) for one in evaluations]
        rows.append((kind, *(_share(members) for members in of_kind)))
    return table(("kind", *(one.dataset for one in evaluations)), rows)


def _kinds(evaluations: Sequence[ExactEvaluation]) -> list[Group]:
    return grouped((a for one in evaluations for a in one.answered), lambda one: one.question.kind)


def _share(members: Sequence[Answered]) -> str:
    return f"{sum(bool(one.score.exact) for one in members)} of {len(members)}" if members else ""


def _measured(evaluations: Sequence[ExactEvaluation]) -> str:
    return table(
        ("data set", "release", "encoder", "questions", "file", "SHA-256"),
        (
            (one.dataset, one.release, one.encoder, len(one.answered), one.file, one.sha256[:16])
            for one in evaluations
        ),
    )


def _listed(evaluations: Sequence[ExactEvaluation], chosen: Callable[[Answered], bool]) -> Iterable[str]:
    """Each question with what is right, what was answered, and the plan."""
    rows = [(one.dataset, answered) for one in evaluations for answered in one.answered if chosen(answered)]
    if not rows:
        yield "None."
        return
    yield table(
        ("data set", "id", "kind", "question", "F1", "gold", "answered", "not understood", "plan"),
        (
            (
                dataset, one.question.id, one.question.kind, asked(one), number(one.score.f1), gold_of(one),
                said_in_short(one.said), ", ".join(one.said.unknown),
                f"`{shorten(json.dumps(one.said.plan, ensure_ascii=False), PLAN_CHARACTERS)}`" if one.said.plan else "",
            )
            for dataset, one in rows
        ),
    )  # fmt: skip


def asked(one: Answered) -> str:
    """The question after those before it."""
    return " → ".join([*one.question.history, one.question.question])


def gold_of(one: Answered) -> str:
    """The gold in short."""
    question = one.question
    match question.answer_form:
        case "number" | "bool" | "refuse":
            return str(question.value)
        case "ranking" | "table":
            rows = [
                f"{row.get('label') or row.get('key')}: {row.get('value')}" for row in question.value or ()
            ]
            return _few(rows)
        case _:
            return f"{len(question.gold)} entities"


def said_in_short(said: Said) -> str:
    """What was answered, in short."""
    if said.refused:
        return "refused"
    if said.items:
        return _few([f"{item.label or item.iri}: {item.value}" for item in said.items])
    if isinstance(said.value, bool):
        return str(said.value)
    if said.by_set:
        return f"{len(said.members)} entities; {said.value}"
    return f"{len(said.members)} sources; “{shorten(said.text, TEXT_CHARACTERS)}”"


def _few(rows: Sequence[str]) -> str:
    more = [f"… ({len(rows)})"] if len(rows) > SHOWN else []
    return "; ".join([*rows[:SHOWN], *more])


def _latency(answered: Sequence[Answered]) -> str:
    return (
        " / ".join(f"{value:.0f}" for value in percentiles([one.milliseconds for one in answered]))
        if answered
        else ""
    )
