"""A question as a language model reads it: one structured call, one repair, else the reading by words stays."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from crmrag_query.config.parts import PromptsPart
from crmrag_query.config.reading import CategoryName
from crmrag_query.errors import CrmRagError
from crmrag_query.llm.model import LONGEST_REPLY, Message, Model, Schema, reply_of
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.grammar import Form

SECONDS = 20.0  # until the model must be done, both rounds each; ours (``conversation.seconds``)
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)


class ModelReading(BaseModel):
    """What a model tells of a question."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    query_type: Form
    target_categories: Annotated[tuple[CategoryName, ...], Field(min_length=1, max_length=2)]
    context_categories: Annotated[tuple[CategoryName, ...], Field(max_length=2)] = ()

    @field_validator("query_type", mode="before")
    @classmethod
    def _any_case(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "query_type": {"type": "string", "enum": [form.value for form in Form]},
        "target_categories": {
            "type": "array", "minItems": 1, "maxItems": 2,
            "items": {"type": "string", "enum": list(Category.__members__)},
        },
        "context_categories": {
            "type": "array", "maxItems": 2, "items": {"type": "string", "enum": list(Category.__members__)},
        },
    },
    "required": ["query_type", "target_categories", "context_categories"],
    "additionalProperties": False,
}  # fmt: skip
"""The reply's JSON schema: stands in the instructions, and in ``response_format`` where the model takes it."""


def analyse_with_model(
    model: Model, question: str, analysis: Analysis, prompts: PromptsPart, seconds: float = SECONDS
) -> tuple[Analysis, str]:
    """``analysis`` with form and categories as the model reads them, and "".

    A reply that is not valid is sent back once with what is wrong. When the model fails, or is wrong twice, ``analysis`` as
    it is and a note that says so. The question is data in the user's message. Period and mentions stay those of the words.
    """
    messages = _messages(question, prompts)
    try:
        reply = reply_of(model, messages, seconds, SCHEMA)
        try:
            told = read_reply(reply)
        except ValueError as error:
            told = read_reply(reply_of(model, [*messages, *_repair(reply, error)], seconds, SCHEMA))
    except CrmRagError as error:
        return analysis, f"{error} The question was analysed by its words."
    except ValueError as error:
        reason = f"The model {model.name} gave no valid analysis, twice: {_reason(error)}."
        return analysis, f"{reason} The question was analysed by its words."
    return _applied(analysis, told, model.name), ""


def _messages(question: str, prompts: PromptsPart) -> list[Message]:
    schema = json.dumps(SCHEMA, ensure_ascii=False)
    return [
        {"role": "system", "content": f"{prompts.analyse}\nThe reply's JSON schema: {schema}"},
        {"role": "user", "content": json.dumps({"question": question}, ensure_ascii=False)},
    ]


def _repair(reply: str, error: ValueError) -> Sequence[Message]:
    return (
        {"role": "assistant", "content": reply[:LONGEST_REPLY]},
        {
            "role": "user",
            "content": f"That is not valid: {_reason(error)}. Reply with the JSON object alone.",
        },
    )


def read_reply(reply: str) -> ModelReading:
    """The JSON object of a reply, in a code fence or among other words too. Raises ValueError for anything else."""
    fenced = _FENCE.search(reply)
    text = fenced[1] if fenced else reply
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise ValueError("there is no JSON object in the reply")
    return ModelReading.model_validate_json(text[begin : end + 1])


def _reason(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    told = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'reply'}: {one['msg']}" for one in told)


def _applied(analysis: Analysis, told: ModelReading, name: str) -> Analysis:
    targets = _mask(told.target_categories)
    reading = replace(
        analysis.reading,
        form=told.query_type,
        counts=analysis.reading.counts and told.query_type is Form.AGGREGATION,
        rule=f"model {name}",
    )
    contexts = _mask(told.context_categories) & ~targets
    return replace(analysis, reading=reading, targets=targets, contexts=contexts, by=name)


def _mask(names: Sequence[str]) -> int:
    return int(sum((Category[name] for name in dict.fromkeys(names)), Category(0)))
