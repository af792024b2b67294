"""A question made ready for its plan: without brackets and what they hold, without sentences that only lead up to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from crmrag_query.artifacts.release import Release
from crmrag_query.graph.graph import Graph
from crmrag_query.language import Language, language
from crmrag_query.linking import Mention, NameIndex, link, plain_words, stop_words
from crmrag_query.questions.followup import name_breaks
from crmrag_query.questions.form import Analysis, analyse, read_question
from crmrag_query.reading.exonyms import WHOLE, Exonyms
from crmrag_query.reading.lexicon import Lexicon
from crmrag_query.text import tokenize

_BRACKETS = re.compile(r"\s*\([^()]{0,300}\)")
_SENTENCES = re.compile(r"(?<=[.!?;;])\s+(?=[^\Wa-z])")
_SHORT = re.compile(r"\b\w{1,3}\.$")  # an initial or "St." ends no sentence


def analysed(release: Release, question: str) -> Analysis:
    """The analysis of what a question asks, by its words and names alone."""
    return with_compounds_apart(release, analysis_of(release, question_of(question)))


def with_compounds_apart(release: Release, analysis: Analysis) -> Analysis:
    """The analysis anew with its compounds in two words, where the language has such."""
    own, text = language(analysis.reading.language), analysis.reading.question
    if own.raw.get("compounds") != "true":
        return analysis
    apart = _apart(release, own, text, analysis)
    return analysis_of(release, apart) if apart != text else analysis


def analysis_of(release: Release, text: str, mentions: Sequence[Mention] | None = None) -> Analysis:
    """A text by its words, and by the entities that it names, which are looked up unless given."""
    categories, languages = release[Graph].adjacency.categories, release.manifest.languages
    mentions = named(release, text) if mentions is None else mentions
    return analyse(text, release.method.questions, languages, mentions, lambda node: int(categories[node]))


def named(release: Release, text: str) -> tuple[Mention, ...]:
    """The entities that a text names; of a text with a pivot, each of its parts by itself."""
    lexicon, languages = release.method.questions, release.manifest.languages
    stop = stop_words(lexicon) | read_question(text, lexicon, languages).stop
    words, breaks = tokenize(text), name_breaks(text, lexicon, languages)
    parts = zip((0, *breaks), (*breaks, len(words)), strict=True)
    return tuple(
        replace(mention, first=mention.first + first, last=mention.last + first)
        for first, last in parts
        for mention in link(
            release[NameIndex], words[first:last] if breaks else text, stop, plain_words(lexicon)
        )
    )


def _apart(release: Release, own: Language, text: str, found: Analysis) -> str:
    """The text with compounds of something named and a noun in two words: "Goldmünzen" as "Gold Munzen".

    Words that the data itself knows, as a name or a kind, stay as they are.
    """
    kinds = release[Lexicon].kinds(own.code)
    whole = {
        at
        for one in found.mentions
        if one.entities and one.entities[0].how in WHOLE
        for at in range(one.first, one.last)
    }
    known = {word for at, word in enumerate(tokenize(text)) if at in whole}

    def named(word: str) -> bool:
        release_names = link(release[NameIndex], [word], frozenset(), frozenset())
        return any(one.entities[0].how in WHOLE for one in release_names if one.entities) or any(
            release[Exonyms].mentions((word,), own.code, ())
        )

    def split(match: re.Match[str]) -> str:
        tokens = tokenize(match[0])
        if len(tokens) != 1 or tokens[0] in known:
            return match[0]
        parts = next((one for one in kinds.compounds(tokens[0]) if named(one[0])), ())
        return " ".join(map(str.capitalize, parts)) or match[0]

    return re.sub(r"\w{7,}", split, text)


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
