"""Answers judged by a language model: how far they are about what was asked, and how far their sources bear them out.

A model's judgement is an opinion beside what is measured, and stands in reports as such.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from crmrag_query.answers.records import Answer, Source
from crmrag_query.llm.model import Request
from crmrag_query.llm.pool import ModelPool
from crmrag_query.reading.plan_json import read_json
from crmrag_query.text import plain, shorten

ANSWER, SOURCE, SOURCES = (
    6_000,
    1_500,
    30,
)  # characters of an answer and of a source; cited sources that are told
WHY = 300  # characters of a reason
MOST = 10  # the best mark
REPLY_TOKENS = 300
_MARK: Final = {"type": "integer"}
SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"relevance": _MARK, "faithfulness": _MARK, "why": {"type": "string"}},
    "required": ["relevance", "faithfulness", "why"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Judgement:
    """Marks from 0 to 1 by a model, and its reason: ``relevance``, whether the answer answers the question;
    ``faithfulness``, the share of what it says that its cited sources state."""

    relevance: float
    faithfulness: float
    why: str = ""


def judge(pool: ModelPool, instructions: str, answers: Mapping[str, Answer]) -> dict[str, Judgement]:
    """The judgements of answers by their ids; of those that the model gave no fitting one for, none."""
    requests = (_request(instructions, answer) for answer in answers.values())
    judged = zip(answers, pool.map(requests, read_judgement), strict=True)
    return {id: one for id, one in judged if one is not None}


def _request(instructions: str, answer: Answer) -> Request:
    cited = [source for source in answer.sources if source.cited][:SOURCES]
    told = {
        "question": answer.question,
        "answer": shorten(plain(answer.text), ANSWER),
        "sources": [{"n": one.n, "says": shorten(_said(one), SOURCE)} for one in cited],
    }
    if answer.set is not None:
        told["set"] = shorten(plain(answer.set.text), SOURCE)
    return Request(
        [
            {"role": "system", "content": instructions},
            {"role": "user", "content": json.dumps(told, ensure_ascii=False)},
        ],
        SCHEMA,
        most=REPLY_TOKENS,
    )


def _said(source: Source) -> str:
    return plain("; ".join(filter(None, (source.label, source.snippet, *map(str, source.triples)))))


def read_judgement(reply: str) -> Judgement:
    """The judgement of a reply; ValueError that says what is wrong with it."""
    told = read_json(reply)
    marks = [told.get(name) for name in ("relevance", "faithfulness")]
    if not all(isinstance(mark, int) and not isinstance(mark, bool) and 0 <= mark <= MOST for mark in marks):
        raise ValueError(f'"relevance" and "faithfulness" must be whole numbers from 0 to {MOST}.')
    relevance, faithfulness = (int(mark) / MOST for mark in marks if mark is not None)
    return Judgement(relevance, faithfulness, shorten(plain(str(told.get("why") or "")), WHY))
