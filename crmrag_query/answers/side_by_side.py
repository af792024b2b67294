"""One question answered in several modes, and what their answers share."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from crmrag_query.answers.ask import Ask, stream
from crmrag_query.answers.records import Answer, Done, SharedSource, Tried, Used
from crmrag_query.answers.understand import FIRST
from crmrag_query.artifacts.release import Release
from crmrag_query.config.modes import Mode
from crmrag_query.errors import CrmRagError, ReleaseError, in_a_line
from crmrag_query.llm.model import Metered
from crmrag_query.questions.followup import ConversationState
from crmrag_query.retrieval.modes import lacking


def try_modes(
    release: Release,
    question: str,
    modes: Sequence[Mode],
    how: Ask,
    state: ConversationState = FIRST,
) -> tuple[Tried, ...]:
    """The question answered in each mode, one after the other, so that their times can be compared. Raises QuestionError for
    a question that no mode can answer as put, and ReleaseError."""
    found, first = list[Tried](), None
    for mode in modes:
        if lacks := lacking(release, mode):
            found.append(Tried(mode.name, None, failed=f"The release has no {', '.join(lacks)}."))
            continue
        start = time.perf_counter()
        try:
            answer, tokens = _answered(release, question, replace(how, mode=mode), state)
        except ReleaseError:
            raise
        except CrmRagError as error:
            first = first or error
            found.append(Tried(mode.name, None, failed=in_a_line(error)))
            continue
        spent = 1000 * (time.perf_counter() - start)
        found.append(Tried(mode.name, answer, round(spent, 1), tokens))
    if first is not None and all(one.answer is None for one in found):
        raise first
    return tuple(found)


def _answered(
    release: Release, question: str, how: Ask, state: ConversationState
) -> tuple[Answer, int | None]:
    """The answer, and the tokens that it took."""
    tokens = None
    metered = None if how.model is None else Metered(how.model)
    for event in stream(release, question, replace(how, model=metered), state):
        if isinstance(event, Used):
            tokens = event.prompt_tokens + event.completion_tokens
        if isinstance(event, Done):
            return event.answer, tokens
    raise AssertionError("a stream ends with Done")


def shared_sources(tried: Sequence[Tried]) -> tuple[SharedSource, ...]:
    """The sources of all answers, those of most modes first, then in the order in which they were found."""
    labels: dict[str, str] = {}
    modes: dict[str, list[str]] = {}
    cited: dict[str, list[str]] = {}
    for one in tried:
        for source in one.answer.sources if one.answer else ():
            labels.setdefault(source.iri, source.label)
            modes.setdefault(source.iri, []).append(one.mode)
            if source.cited:
                cited.setdefault(source.iri, []).append(one.mode)
    found = (
        SharedSource(iri, labels[iri], tuple(of), tuple(cited.get(iri, ()))) for iri, of in modes.items()
    )
    return tuple(sorted(found, key=lambda one: -len(one.modes)))
