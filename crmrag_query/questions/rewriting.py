"""Making a follow-up question whole by a language model: the alternative to reading it with what went before."""

from __future__ import annotations

import json
import re

from crmrag_query.config.parts import PromptsPart
from crmrag_query.config.query import Conversation
from crmrag_query.errors import CrmRagError
from crmrag_query.llm.model import Message, Model, reply_of
from crmrag_query.questions.state import QUESTIONS, ConversationState

_QUOTED = re.compile(r'^(?:["“„«](?P<text>[^"“”„«»]*)["”“»])$')
LONGER = 3  # times as long as what it rewrites, and it is not believed


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
    data = {"earlier": earlier, "about": about, "question": question}
    messages: list[Message] = [
        {"role": "system", "content": prompts.rewrite},
        {"role": "user", "content": json.dumps(data, ensure_ascii=False)},
    ]
    try:
        reply = reply_of(model, messages, config.seconds)
    except CrmRagError:
        return None
    quoted = _QUOTED.match(reply)
    text = (quoted["text"] if quoted else reply).strip()
    longest = LONGER * sum(map(len, (*earlier, *about, question)))
    plausible = text and "\n" not in text and len(text) <= longest and any(map(str.isalnum, text))
    return text if plausible else None
