"""Questions with known answers, read from a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from crmrag_query.errors import QuestionError
from crmrag_query.questions.form import Form

AnswerForm = Literal["facts", "bool", "iris", "number", "ranking", "table", "refuse"]
FORMS: Mapping[str, Form] = {
    "facts": Form.SPECIFIC,
    "bool": Form.SPECIFIC,
    "iris": Form.ENUMERATION,
    "number": Form.AGGREGATION,
    "ranking": Form.AGGREGATION,
    "table": Form.AGGREGATION,
}
"""The query type that a form of answer calls for; none for a refusal."""


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question and what is known of its answer.

    ``gold``: the entities that answer, each a set of IRIs of which any one will do; ``also_ok``: IRIs that are neither
    right nor wrong; ``facts``: strings that the answer must contain; ``form``: its query type, None where it has none.
    """

    id: str
    kind: str
    answer_form: AnswerForm
    question: str
    history: tuple[str, ...]
    gold: tuple[frozenset[str], ...]
    also_ok: frozenset[str]
    facts: tuple[str, ...]
    value: Any
    form: Form | None


class _AnyOf(BaseModel):
    any_of: Annotated[tuple[str, ...], Field(min_length=1)]


class _Entry(BaseModel):
    """A question as it stands in a file; other keys are for people."""

    model_config = ConfigDict(extra="ignore")

    id: str
    question: Annotated[str, Field(min_length=1)]
    answer_form: AnswerForm = "facts"
    kind: str = "question"
    query_type: Literal["SPECIFIC", "ENUMERATION", "AGGREGATION"] | None = None
    history: tuple[str, ...] = ()
    gold_iris: tuple[str, ...] = ()
    gold_entities: tuple[_AnyOf, ...] = ()
    also_ok_iris: tuple[str, ...] = ()
    gold_facts: tuple[str, ...] = ()
    gold_value: Any = None


_FILE = TypeAdapter(tuple[_Entry, ...])


def read_questions(path: Path) -> tuple[GoldQuestion, ...]:
    """The questions of a JSON file: a list of them, or an object that holds it as ``questions``.

    Raises QuestionError that names the file, the entry and the key of the first mistake.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise QuestionError(f"Questions cannot be read from {path}: {error}.", _FORMAT) from error
    try:
        entries = _FILE.validate_python(raw.get("questions") if isinstance(raw, dict) else raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "(whole file)"
        raise QuestionError(f"{path}, entry {where}: {first['msg']}.", _FORMAT) from error
    questions = tuple(_question(entry) for entry in entries)
    doubled = {one.id for one in questions if sum(other.id == one.id for other in questions) > 1}
    if doubled:
        raise QuestionError(f"{path} has several questions with the id {min(doubled)}.", "Give each its own.")
    return questions


_FORMAT = "It is a JSON list of objects with id, question, answer_form and gold_iris: see docs/evaluation.md."


def _question(entry: _Entry) -> GoldQuestion:
    if entry.gold_entities:
        gold = tuple(frozenset(one.any_of) for one in entry.gold_entities)
    elif entry.answer_form == "facts":  # IRIs of one entity
        gold = (frozenset(entry.gold_iris),) if entry.gold_iris else ()
    else:
        gold = tuple(frozenset([iri]) for iri in dict.fromkeys(entry.gold_iris))
    return GoldQuestion(
        entry.id,
        entry.kind,
        entry.answer_form,
        entry.question,
        entry.history,
        gold,
        frozenset(entry.also_ok_iris),
        entry.gold_facts,
        entry.gold_value,
        Form[entry.query_type] if entry.query_type else FORMS.get(entry.answer_form),
    )
