"""SAAM-10K (github.com/NicolaiGoon/CIDOC-QA-BENCHMARK): templated questions on single entities, comparisons, yes/no.

An answer's set is right when it names one of the known answers at least and nothing else: an entity by any of its names, a
date by its year. Without a set its text is read: it has to hold a known answer as whole words; of two that are compared, the
one named first counts; yes or no is its first word.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from exact_scores import folded_name, yes_no

from crmrag_query.answers.ask import ask
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release
from crmrag_query.evaluation.report import table
from crmrag_query.graph.graph import Graph
from crmrag_query.sets.records import AnswerSet, Cell

CONFIRMATION, COMPARATIVE = "confirmation", "comparative"
_YEAR = re.compile(r"-?\d{3,4}")
_COMPARED = re.compile(r",\s*(.+?)\s+or\s+(.+?)\s*\??$")
_CITATION = re.compile(r"\s*\[[\d, ]+\]")


@dataclass(frozen=True, slots=True)
class Tried:
    """A question, and whether it is right; ``by_set``: its set told."""

    id: str
    kind: str
    property: str
    question: str
    known: tuple[str, ...]
    said: str
    right: bool
    by_set: bool
    confident: bool
    milliseconds: float
    plan: dict[str, Any] = field(default_factory=dict)


def by_asking(release: Release, questions: Sequence[Mapping[str, Any]]) -> Iterator[Tried]:
    for one in questions:
        started = time.perf_counter()
        answer = ask(release, one["question"])
        spent = (time.perf_counter() - started) * 1000
        found: AnswerSet | None = getattr(answer, "set", None)
        known = tuple(one["answers"]) if one["kind"] != "single-entity factoid" else tuple(one["kg_answers"])
        right, said, by_set = judged(release, one, known, answer, found)
        yield Tried(
            one["id"], one["kind"], one["property"], one["question"], known, said, right, by_set,
            answer.exhaustive or bool(found and found.exhaustive), spent, found.plan if found else {},
        )  # fmt: skip


def judged(
    release: Release, one: Mapping[str, Any], known: Sequence[str], answer: Answer, found: AnswerSet | None
) -> tuple[bool, str, bool]:
    """Whether it is right, what was said, and whether a set said it."""
    text = _CITATION.sub("", answer.text)
    if one["kind"] == CONFIRMATION:
        by_set = found is not None and isinstance(found.value, bool)
        said = found.value if found is not None and by_set else yes_no(text)
        return said is not None and ("Yes" if said else "No") in known, str(said), by_set
    names = named_by(release, found) if found is not None else []
    if one["kind"] == COMPARATIVE:
        names = names[:1] if found is not None and found.kind in ("rank", "compare") else []
        first = first_named(one["question"], text)
        right = is_known(names[0], known) if names else is_known({folded_name(first)}, known)
        return right, " / ".join(sorted(names[0])) if names else first, bool(names)
    if names:
        shown = "; ".join(min(one, default="") for one in names[:5])
        return all(is_known(one, known) for one in names), shown, True
    return any(holds(text, one) for one in known), text[:120], False


def named_by(release: Release, found: AnswerSet) -> list[set[str]]:
    """The folded names of each thing that a set answers with: of a table the last cells of its rows, of other rows the first,
    else its members."""
    if isinstance(found.value, tuple):
        cells = [row[-1] if found.kind == "table" else row[0] for row in found.value if row]
        return [names_of(release, cell) for cell in cells]
    return [names_of(release, Cell(member.label, member.iri)) for member in found.members]


def names_of(release: Release, cell: Cell) -> set[str]:
    node = release[Graph].node(cell.iri) if cell.iri else None
    labels = [label.text for label in release[Graph].labels(node)] if node is not None else []
    return {folded_name(text) for text in (cell.label, *labels)}


def is_known(names: set[str], known: Sequence[str]) -> bool:
    """By name, or where a year is asked for by the first year in a name."""
    wanted = {folded_name(one) for one in known}
    years = {found[0] for one in names if (found := _YEAR.search(one))}
    return bool(names & wanted) or any(one in years for one in wanted if _YEAR.fullmatch(one))


def holds(text: str, known: str) -> bool:
    """Whether a text holds a known answer as whole words."""
    return re.search(rf"(?<!\w){re.escape(folded_name(known))}(?!\w)", folded_name(text)) is not None


def first_named(question: str, text: str) -> str:
    """Which of the two that a question compares a text names first, "" for none."""
    two = _COMPARED.search(question)
    folded = folded_name(text)
    places = [
        (at, name) for name in (two.groups() if two else ()) if (at := folded.find(folded_name(name))) >= 0
    ]
    return min(places, default=(0, ""))[1]


def report(tries: Sequence[Tried]) -> str:
    """Shares by what is asked for, and every question that is not right."""
    rows = []
    for name in [*dict.fromkeys(one.property for one in tries), ""]:
        here = [one for one in tries if one.property == name or not name]
        right = sum(one.right for one in here)
        rows.append((
            name or "all", here[0].kind if name else "", len(here), f"{right} ({right / len(here):.1%})",
            sum(one.by_set for one in here), sum(one.confident and not one.right for one in here),
        ))  # fmt: skip
    wrong = (
        (one.id, one.property, one.question, ", ".join(one.known), one.said, "yes" if one.confident else "no")
        for one in tries
        if not one.right
    )
    return "\n\n".join((
        table(("property", "kind", "questions", "right", "as a set", "confident and not right"), rows),
        "### Not right",
        table(("id", "property", "question", "known", "answered", "confident"), wrong),
    ))  # fmt: skip
