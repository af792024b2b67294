"""A few structured calls of one model for one question, within the seconds that they have together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from crmrag_query.llm.model import AnyMessage, Message, Model, Reply, Request, Schema, Tool, ask
from crmrag_query.text import tokens

REPAIR_CHARACTERS: Final = 6000  # of a faulty reply that is told back to the model


@dataclass(slots=True)
class Talk:
    """What the calls take: ``rounds``, and the tokens ``sent`` and ``received``, estimated; ``most``: tokens of one reply."""

    model: Model
    seconds: float
    schema: Schema | None = None
    most: int | None = None
    rounds: int = 0
    sent: int = 0
    received: int = 0
    begun: float = field(default_factory=time.monotonic)

    def ask(self, messages: Sequence[Message]) -> str:
        """The text of one reply, as JSON of the schema where there is one. Raises ModelError."""
        if self.schema is None:
            return self.reply(Request(messages, seconds=self.left)).text
        return self.reply(Request(messages, self.schema, most=self.most, seconds=self.left)).text

    def call(self, messages: Sequence[AnyMessage], tools: Sequence[Tool], may_call: bool = True) -> Reply:
        """A reply that may call tools; not where it ``may_call`` none, though some were called before. Raises ModelError."""
        return self.reply(
            Request(messages, tools=tools, may_call=may_call, most=self.most, seconds=self.left)
        )

    def reply(self, request: Request) -> Reply:
        reply = ask(self.model, request)
        self.rounds += 1
        self.sent += request.estimate().prompt_tokens
        self.received += tokens(reply.text) + sum(tokens(one["function"]["arguments"]) for one in reply.calls)
        return reply

    @property
    def left(self) -> float:
        """Seconds; never none, so that the last call fails by itself."""
        return max(0.01, self.begun + self.seconds - time.monotonic())


def repair(reply: str, wrong: str) -> Sequence[Message]:
    """The messages that send a faulty reply back with what is wrong and how to reply."""
    return (
        {"role": "assistant", "content": reply[:REPAIR_CHARACTERS]},
        {"role": "user", "content": wrong},
    )
