"""What a language model makes of a question: its form and categories, one structured call, one repair, else the reading by
words stays; and a follow-up made whole, the alternative to reading it with what went before."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from crmrag_query.config.loading import Conversation, PromptsPart
from crmrag_query.config.reading import CategoryName
from crmrag_query.errors import CrmRagError
from crmrag_query.llm.model import Message, Model, Schema, repair, reply_of
from crmrag_query.notes import Note
from crmrag_query.ontology.load import Category
from crmrag_query.questions.followup import QUESTIONS, ConversationState
from crmrag_query.questions.form import Analysis, Form

SECONDS = 20.0  # until the model must be done, both rounds each (``conversation.seconds``)
UNANALYSED = "The question was analysed by its words."
LONGER = 3  # times as long as what it rewrites, and it is not believed
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
_QUOTED = re.compile(r'^(?:["“„«](?P<text>[^"“”„«»]*)["”“»])$')


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


_NAMES = {"type": "string", "enum": list(Category.__members__)}
SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "query_type": {"type": "string", "enum": [form.value for form in Form]},
        "target_categories": {"type": "array", "minItems": 1, "maxItems": 2, "items": _NAMES},
        "context_categories": {"type": "array", "maxItems": 2, "items": _NAMES},
    },
    "required": ["query_type", "target_categories", "context_categories"],
    "additionalProperties": False,
}
"""The reply's JSON schema: stands in the instructions, and in ``response_format`` where the model takes it."""


def analyse_with_model(
    model: Model, question: str, analysis: Analysis, prompts: PromptsPart, seconds: float = SECONDS
) -> tuple[Analysis, str]:
    """``analysis`` with form and categories as the model reads them, and "".

    A reply that is not valid is sent back once with what is wrong. When the model fails, or is wrong twice, ``analysis`` as
    it is and a note that says so. The question is data in the user's message. Period and mentions stay those of the words.
    """
    instructions = f"{prompts.analyse}\nThe reply's JSON schema: {json.dumps(SCHEMA, ensure_ascii=False)}"
    messages = _messages(instructions, {"question": question})
    try:
        reply = reply_of(model, messages, seconds, SCHEMA)
        try:
            told = read_reply(reply)
        except ValueError as error:
            again = f"That is not valid: {_reason(error)}. Reply with the JSON object alone."
            told = read_reply(reply_of(model, [*messages, *repair(reply, again)], seconds, SCHEMA))
    except CrmRagError as error:
        return analysis, Note(f"{error} {UNANALYSED}", "analysis")
    except ValueError as error:
        reason = f"The model {model.name} gave no valid analysis, twice: {_reason(error)}."
        return analysis, Note(f"{reason} {UNANALYSED}", "analysis")
    targets = _mask(told.target_categories)
    reading = replace(
        analysis.reading,
        form=told.query_type,
        counts=analysis.reading.counts and told.query_type is Form.AGGREGATION,
        rule=f"model {model.name}",
    )
    contexts = _mask(told.context_categories) & ~targets
    return replace(analysis, reading=reading, targets=targets, contexts=contexts, by=model.name), ""


def read_reply(reply: str) -> ModelReading:
    """The JSON object of a reply, in a code fence or among other words too. Raises ValueError for anything else."""
    fenced = _FENCE.search(reply)
    text = fenced[1] if fenced else reply
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise ValueError("there is no JSON object in the reply")
    return ModelReading.model_validate_json(text[begin : end + 1])


def rewrite_with_model(
    model: Model, question: str, state: ConversationState, prompts: PromptsPart, config: Conversation
) -> str | None:
    """The question such that it stands alone, as the model puts it; None when the model fails or its reply is implausible.

    Implausible: empty, several lines, or more than ``LONGER`` times as long as the question with the topic's
    questions and names. Nothing is asked when there were no turns. All that people and data said is in the user's message.
    """
    if not state.turns or not question.strip():
        return None
    topic = state.topic[-QUESTIONS:]
    earlier = [turn.question for turn in topic]
    about = list(dict.fromkeys(one.label for turn in topic for one in turn.focus[:3] if one.label))
    messages = _messages(prompts.rewrite, {"earlier": earlier, "about": about, "question": question})
    try:
        reply = reply_of(model, messages, config.seconds)
    except CrmRagError:
        return None
    quoted = _QUOTED.match(reply)
    text = (quoted["text"] if quoted else reply).strip()
    longest = LONGER * sum(map(len, (*earlier, *about, question)))
    plausible = text and "\n" not in text and len(text) <= longest and any(map(str.isalnum, text))
    return text if plausible else None


def _messages(instructions: str, data: dict[str, object]) -> list[Message]:
    return [
        {"role": "system", "content": instructions},
        {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
    ]


def _reason(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    told = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(f"{'.'.join(map(str, one['loc'])) or 'reply'}: {one['msg']}" for one in told)


def _mask(names: Sequence[str]) -> int:
    return int(sum((Category[name] for name in dict.fromkeys(names)), Category(0)))
