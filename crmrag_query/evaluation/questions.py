"""Questions with known answers, read from a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from crmrag_query.config.datasets import load_datasets
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

YAML = frozenset({".yaml", ".yml"})


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question and what is known of its answer.

    ``gold``: the entities that answer, each a set of IRIs of which any one will do; ``also_ok``: IRIs that are neither
    right nor wrong; ``facts``: strings that the answer must contain; ``value``: a number, a truth value or the rows of a
    ranking or table; ``labels``: names of these rows; ``form``: its query type, None where it has none.
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
    labels: tuple[str, ...] = ()


Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
# it stands in TREC files, which separate by white space
Id = Annotated[str, StringConstraints(pattern=r"^\S+$")]


class _AnyOf(BaseModel):
    any_of: Annotated[tuple[str, ...], Field(min_length=1)]


class _Entry(BaseModel):
    """A question as it stands in a file; other keys are for people."""

    model_config = ConfigDict(extra="ignore")

    id: Id
    question: Text
    answer_form: AnswerForm = "facts"
    kind: Text = "question"
    query_type: Literal["SPECIFIC", "ENUMERATION", "AGGREGATION"] | None = None
    history: tuple[str, ...] = ()
    gold_iris: tuple[str, ...] = ()
    gold_entities: tuple[_AnyOf, ...] = ()
    also_ok_iris: tuple[str, ...] = ()
    gold_facts: tuple[Text, ...] = ()
    gold_value: Any = None

    @model_validator(mode="after")
    def _value_fits(self) -> _Entry:
        value, form = self.gold_value, self.answer_form
        if value is None:
            return self
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if form == "number" and not number:
            raise ValueError("gold_value of a number must be a number")
        if form == "bool" and not isinstance(value, bool):
            raise ValueError("gold_value of a yes/no question must be true or false")
        if form in _ROWS and not _has_rows(value, _ROWS[form]):
            raise ValueError(f"gold_value of a {form} must be a list of objects that have a {_ROWS[form]}")
        return self


_ROWS = {"ranking": "label", "table": "key"}
_FILE = TypeAdapter(tuple[_Entry, ...])
_FORMAT = "It is a JSON or YAML list of objects with id, question, answer_form and gold_iris: see docs/evaluation.md."


def _has_rows(value: Any, name: str) -> bool:
    return isinstance(value, list) and all(isinstance(row, dict) and name in row for row in value)


def read_questions(path: Path) -> tuple[GoldQuestion, ...]:
    """The questions of a JSON or YAML file: a list of them, or an object that holds it as ``questions``.

    Raises QuestionError that names the file, the entry and the key of the first mistake.
    """
    raw = _read(path)
    try:
        entries = _FILE.validate_python(raw.get("questions") if isinstance(raw, dict) else raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "(whole file)"
        raise QuestionError(f"{path}, entry {where}: {first['msg']}.", _FORMAT) from error
    if not entries:
        raise QuestionError(f"{path} holds no question.", _FORMAT)
    doubled, times = Counter(entry.id for entry in entries).most_common(1)[0]
    if times > 1:
        raise QuestionError(f"{path} has several questions with the id {doubled}.", "Give each its own.")
    return tuple(_question(entry) for entry in entries)


def declared_questions(dataset: str) -> Path:
    """The file of questions that datasets.yaml declares for a data set.

    Raises QuestionError where it declares none, ConfigError where there is no such file.
    """
    declared = load_datasets()
    file = declared[dataset].questions_file() if dataset in declared else None
    if file is None:
        raise QuestionError(
            f"datasets.yaml declares no questions for '{dataset}'.",
            f"Name a file: crmrag evaluate {dataset} QUESTIONS; or declare it: `questions: FILE`.",
        )
    return file


def _read(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        return yaml.safe_load(text) if path.suffix.lower() in YAML else json.loads(text)
    except OSError as error:
        raise QuestionError(
            f"Questions cannot be read from {path}: {error.strerror}.", "Check it."
        ) from error
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        told = " ".join(str(error).split())
        raise QuestionError(f"Questions cannot be read from {path}: {told}.", _FORMAT) from error


def _question(entry: _Entry) -> GoldQuestion:
    if entry.gold_entities:
        gold = tuple(frozenset(one.any_of) for one in entry.gold_entities)
    elif entry.answer_form == "facts":  # IRIs of one entity
        gold = (frozenset(entry.gold_iris),) if entry.gold_iris else ()
    else:
        gold = tuple(frozenset([iri]) for iri in dict.fromkeys(entry.gold_iris))
    rows = entry.gold_value if entry.answer_form in _ROWS and entry.gold_value else ()
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
        tuple(dict.fromkeys(str(row[_ROWS[entry.answer_form]]) for row in rows)),
    )
