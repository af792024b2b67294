"""A conversation: its state belongs to it alone and is a value that can be stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crmrag_query.answers.ask import Ask, Done, Event, stream
from crmrag_query.answers.records import Answer
from crmrag_query.artifacts.release import Release
from crmrag_query.llm.model import Model
from crmrag_query.questions.followup import ConversationState


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns so far; asking gives a new conversation and leaves this one as it was."""

    state: ConversationState = ConversationState()  # noqa: RUF009 -- frozen

    def ask(
        self, release: Release, question: str, how: Ask | Model | None = None
    ) -> tuple[Answer, Conversation]:
        """The answer, and the conversation that goes on from it; ``how``, or a model alone. Raises QuestionError."""
        for event in self.stream(release, question, how if isinstance(how, Ask) else Ask(how)):
            if isinstance(event, Done):
                return event.answer, Conversation(event.state)
        raise AssertionError("a stream ends with Done")

    def stream(self, release: Release, question: str, how: Ask) -> Iterator[Event]:
        """As ``answers.ask.stream``, after this conversation."""
        return stream(release, question, how, self.state)
