"""The words that refer, as exact answers ask for them: with what releases held of them once, which is not read."""

from __future__ import annotations

from crmrag_query.questions import lexicon
from crmrag_query.questions.lexicon import RefWords

__all__ = ["RefWords", "ref_words"]


def ref_words(config: object, language: str) -> RefWords:
    return lexicon.ref_words(language)
