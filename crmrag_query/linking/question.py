"""A question as words that may be parts of names: which are stop words, which stand in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from crmrag_query.config.parts import QuestionLexicon
from crmrag_query.config.query import LinkingConfig
from crmrag_query.linking.spelling import words_at
from crmrag_query.retrieval.tokenizer import tokenize

# Stretches of at most 300 characters, which bounds what an opening mark without its fellow costs; an apostrophe opens
# and closes only beside what is no letter.
_QUOTED = re.compile(
    r"""
    "[^"]{1,300}" | “[^”]{1,300}” | „[^“”]{1,300}[“”] | «[^»]{1,300}» | »[^«]{1,300}« | ‹[^›]{1,300}› | 「[^」]{1,300}」
    | (?<!\w)['‘‚]\S.{0,300}?['’‘](?!\w)
    """,
    re.VERBOSE,
)


def stop_words(questions: QuestionLexicon) -> frozenset[str]:
    """The stop words of all languages."""
    return frozenset(word for language in questions.languages.values() for word in language.stop)


def plain_words(config: LinkingConfig) -> frozenset[str]:
    """Words of all languages that name nothing by themselves as a part of a name."""
    return frozenset(word for words in config.plain.values() for word in words)


@dataclass(frozen=True, slots=True)
class Term:
    """A word of a question: its tokens ``first`` to before ``last``; ``quote``: number of its quoted stretch, 0 for none."""

    first: int
    last: int
    word: str
    stop: bool
    quote: int


@dataclass(frozen=True)
class Question:
    """A question's tokens as ``tokenize`` gives them, and its words."""

    tokens: tuple[str, ...]
    terms: tuple[Term, ...]


def read_terms(question: str | Sequence[str], stop: frozenset[str], config: LinkingConfig) -> Question:
    """The first words of a question, as many as config/method.yaml says; ``stop`` in Latin letters.

    Tokens that are given are those of ``tokenize`` and have no quoted stretches.
    """
    if isinstance(question, str):
        pieces = _pieces(question[: config.characters])
    else:
        pieces = [(0, [str(token) for token in question[: config.tokens]])]
    tokens: list[str] = []
    terms: list[Term] = []
    for quote, piece in pieces:
        start = len(tokens)
        tokens += piece
        terms += [
            Term(start + first, start + last, word, word in stop, quote)
            for first, last, word in words_at(piece)
        ]
    kept = [term for term in terms if term.last <= config.tokens]
    if len({term.quote for term in kept}) == 1:  # one quoted stretch is the whole question
        kept = [Term(term.first, term.last, term.word, term.stop, 0) for term in kept]
    return Question(tuple(tokens), tuple(kept))


def _pieces(text: str) -> list[tuple[int, list[str]]]:
    """(number of the quoted stretch or 0, tokens) of the text's stretches in order."""
    found, at = [], 0
    for number, match in enumerate(_QUOTED.finditer(text), 1):
        found += [(0, tokenize(text[at : match.start()])), (number, tokenize(match.group()))]
        at = match.end()
    return [*found, (0, tokenize(text[at:]))]
