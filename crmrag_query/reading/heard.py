"""A question made ready for its plan: without brackets and what they hold, without sentences that only lead up to it."""

from __future__ import annotations

import re

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.linking import NameIndex, link, plain_words, stop_words
from crmrag_query.questions.analysis import Analysis, analyse

_BRACKETS = re.compile(r"\s*\([^()]{0,300}\)")
_SENTENCES = re.compile(r"(?<=[.!?;;])\s+(?=[^\Wa-z])")
_SHORT = re.compile(r"\b\w{1,3}\.$")  # an initial or "St." ends no sentence


def analysed(release: Release, question: str) -> Analysis:
    """The analysis of what a question asks, by its words and names alone."""
    method = release.method
    text = question_of(question)
    stop, plain = stop_words(method.questions), plain_words(method.questions)
    mentions = link(release[NameIndex], text, stop, plain)
    categories = release[Graph].adjacency.categories
    return analyse(
        text, method.questions, release.manifest.languages, mentions, lambda node: int(categories[node])
    )


def question_of(text: str) -> str:
    """The sentences from the first that asks on, else all; without brackets and what they hold."""
    plain = _BRACKETS.sub("", text).strip() or text
    sentences: list[str] = []
    for part in _SENTENCES.split(plain):
        if sentences and _SHORT.search(sentences[-1]):
            sentences[-1] += " " + part
        else:
            sentences.append(part)
    asks = [at for at, one in enumerate(sentences) if one.rstrip().endswith(("?", ";", ";"))]
    return " ".join(sentences[asks[0] :]) if asks else plain
