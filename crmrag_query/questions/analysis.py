"""What a question asks for: query type, categories, named entities, period."""

from __future__ import annotations

from dataclasses import dataclass

from crmrag_query.dates import Interval
from crmrag_query.linking.records import Mention
from crmrag_query.questions.form import Form, Reading

BY_WORDS = "words"


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question as analysed (facts: method, Query).

    ``targets``: mask of the one or two categories that are asked for, 0 when unknown; ``contexts``: mask of up to two that
    the question speaks of besides; ``mentions``: the entities that it names; ``period``: the stretch of time that answers
    must lie in, None when it names none; ``by``: ``words``, or the name of the model that analysed it.
    """

    reading: Reading
    targets: int = 0
    contexts: int = 0
    mentions: tuple[Mention, ...] = ()
    period: Interval | None = None
    by: str = BY_WORDS

    @property
    def form(self) -> Form:
        return self.reading.form
