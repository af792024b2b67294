"""A language model that chooses, at each step of a walk, which neighbours to go on from."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Final

from pydantic import BaseModel, Field, ValidationError

from crmrag_query.answers.understand import Understood
from crmrag_query.artifacts.release import Release
from crmrag_query.config.modes import Mode
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import CrmRagError
from crmrag_query.llm.model import Model, Schema, Talk
from crmrag_query.notes import Note
from crmrag_query.retrieval.walker import Walker
from crmrag_query.text import plain, shorten

TOLD: Final = 20  # nearest neighbours among which it chooses
CHARACTERS: Final = 300  # of each
SECONDS: Final = 40.0  # for all steps of a question
NEAREST: Final = "The walk went on to what is nearest."
SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {"next": {"type": "array", "items": {"type": "integer"}}},
    "required": ["next"],
    "additionalProperties": False,
}


class _Next(BaseModel):
    next: Annotated[tuple[int, ...], Field(max_length=100)]


@dataclass(eq=False)
class Chooser:
    """Chooses for one question. What cannot be understood, and a model that fails, leave the walk to what is nearest;
    ``note`` says so."""

    release: Release
    question: str
    talk: Talk
    note: Note | None = field(default=None, init=False)

    def __call__(self, nearest: Sequence[int], most: int) -> Sequence[int]:
        """Those of the documents to go on from, at most so many; none where the model would stop."""
        told = list(nearest[:TOLD])
        if self.note or not told:
            return told[:most]
        documents = self.release[Documents]
        neighbours = [
            {"n": n, "text": shorten(plain(documents.text(one)), CHARACTERS)} for n, one in enumerate(told, 1)
        ]
        data = json.dumps(
            {"question": self.question, "most": most, "neighbours": neighbours}, ensure_ascii=False
        )
        instructions = self.release.method.prompts.walk
        try:
            reply = self.talk.ask(
                [{"role": "system", "content": instructions}, {"role": "user", "content": data}]
            )
            chosen = _Next.model_validate_json(reply[reply.find("{") : reply.rfind("}") + 1]).next
        except CrmRagError as error:
            self.note = Note(f"{error} {NEAREST}", "steps")
            return told[:most]
        except ValidationError:
            said = f"The model {self.talk.model.name} did not say which neighbours to go on from."
            self.note = Note(f"{said} {NEAREST}", "steps")
            return told[:most]
        return list(dict.fromkeys(told[n - 1] for n in chosen if 1 <= n <= len(told)))[:most]


def stepped(release: Release, understood: Understood, mode: Mode, model: Model) -> Understood:
    """The question with its walks gone, the model choosing the steps: what is searched and told later goes by these."""
    if understood.unmet:
        return understood
    chooser = Chooser(release, understood.question, Talk(model, SECONDS, SCHEMA))
    queries = tuple(replace(query, walk=mode.walk, chooser=chooser) for query in understood.queries)
    for query in queries:
        release[Walker].walk(query)
    notes = (*understood.notes, chooser.note) if chooser.note else understood.notes
    return replace(understood, queries=queries, notes=notes)
