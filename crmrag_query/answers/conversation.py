"""A conversation: its state belongs to it alone and is a value that can be stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

from crmrag_query.answers.ask import ask
from crmrag_query.answers.model import Model
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release


@dataclass(frozen=True, slots=True)
class Conversation:
    """The questions asked so far, oldest first; asking gives a new conversation and leaves this one as it was."""

    questions: tuple[str, ...] = ()

    def ask(self, release: Release, question: str, model: Model | None = None) -> tuple[Answer, Conversation]:
        answer = ask(release, question, model, self.questions)
        return answer, replace(self, questions=(*self.questions, answer.question))
