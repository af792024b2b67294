"""What retrieval knows of a question, and which of the entities that it names can be relied on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crmrag_query.config.modes import Walk
from crmrag_query.dates import Interval
from crmrag_query.linking import Mention
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.form import Form
from crmrag_query.text import tokenize, with_singulars

Floats = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]
WALK = Walk()


@dataclass(frozen=True)
class Query:
    """What the stages of retrieval know of a question.

    ``text`` is what is searched for; ``vector`` float32 [dimension], its encoding, made once; ``targets`` and ``contexts``
    masks of categories; ``cues`` labels of relationships and codes of properties that its words ask for; ``within``: the
    documents that it is asked of, bool [documents], None for all; ``levels``: of themes that are searched, None for all;
    ``walk``: how the walker goes; ``chooser``: who chooses its steps, of documents nearest first and how many at most; None
    for what is nearest.
    """

    text: str
    vector: Floats
    form: Form = Form.SPECIFIC
    targets: int = 0
    contexts: int = 0
    mentions: Sequence[Mention] = ()
    period: Interval | None = None
    cues: frozenset[str] = frozenset()
    within: Mask | None = None
    levels: int | None = None
    walk: Walk = WALK
    chooser: Callable[[Sequence[int], int], Sequence[int]] | None = None

    @classmethod
    def of(
        cls,
        analysis: Analysis,
        vector: Floats,
        mentions: Sequence[Mention],
        text: str | None = None,
        within: Mask | None = None,
    ) -> Query:
        """The query of an analysed question, by those of its mentions that can be relied on (see ``telling``).

        ``text`` where something else than the question itself is searched for.
        """
        reading = analysis.reading
        return cls(
            reading.question if text is None else text,
            vector,
            reading.form,
            analysis.targets,
            analysis.contexts,
            mentions,
            analysis.period,
            reading.cues,
            within,
        )


# From which score a mention is relied on, and one whose words also ask for a relationship ("made"). These and the numbers
# below have no published value: benchmarks/results were measured with them.
LEAST, LEAST_OF_CUE = 0.25, 0.8


def telling(analysis: Analysis, plain: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    """The mentions that retrieval may rely on.

    Not those that only repeat the period; nor those of a score below ``LEAST``; nor those whose words all ask for
    relationships ("made", "date") and are parts of names by chance (below ``LEAST_OF_CUE``) or ``plain``, but for the types
    that are asked for.
    """
    cueing, types = analysis.reading.cueing, frozenset(analysis.types)

    def is_plain(words: set[str]) -> bool:
        return all(not plain.isdisjoint(with_singulars([word])) for word in words)

    def tells(mention: Mention) -> bool:
        own = set(tokenize(mention.text))
        sure = max((one.score for one in mention.entities), default=0.0)
        asked = not types.isdisjoint(one.entity for one in mention.entities)
        if own <= cueing and not asked and (sure < LEAST_OF_CUE or is_plain(own)):
            return False
        return sure >= LEAST and not own <= analysis.period_words

    return tuple(mention for mention in analysis.mentions if tells(mention))
