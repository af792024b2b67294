"""Pivots: "aside from Asinou, which …": the stretch that names what an answer must not hold."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.linking import Mention
from crmrag_query.questions.form import read
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.phrases import Phrases
from crmrag_query.questions.references import ref_words
from crmrag_query.questions.words import Asked


@dataclass(frozen=True, slots=True)
class Pivot:
    """Tokens ``first`` to before ``last``: the phrase and the names after it; ``pronouns``: positions of these within."""

    first: int
    last: int
    mentions: tuple[Mention, ...]
    pronouns: tuple[int, ...]


def find_pivot(
    asked: Asked,
    language: Language,
    phrases: Phrases,
    joiners: Collection[str],
    pronouns: Phrases,
    mentions: Sequence[Mention],
) -> Pivot | None:
    """The first pivot phrase that names follow; None for none.

    Names are mentions, capitalised or quoted words, nouns, pronouns that no noun follows, and, where none of these stands
    directly after the phrase, one other word; with small words and commas between them.
    """
    for first, start in phrases.spans(asked.words):
        last, found = _names(asked, language, joiners, pronouns, mentions, start)
        if last > start:
            within = tuple(mention for mention in mentions if start <= mention.first and mention.last <= last)
            return Pivot(first, last, within, tuple(found))
    return None


def name_breaks(question: str, lexicon: QuestionLexicon, languages: Sequence[str] = ()) -> tuple[int, ...]:
    """Positions of ``tokenize(question)`` that no name goes across, ascending, none for a question without a pivot.

    The ends of pivot phrases, and where the question itself begins: "aside from | Asinou, | which churches".
    """
    ready = compiled(lexicon)
    reading, asked = read(question, ready, languages)
    language = ready.languages[reading.language]
    spans = list(ref_words(lexicon.conversation, reading.language).pivots.spans(asked.words))
    if not spans:
        return ()
    begins = (i for i in asked.starts if asks(language, asked.words, i))
    inner = {*begins, *(end for span in spans for end in span)} - {0, len(asked.words)}
    return tuple(sorted(inner))


def _names(
    asked: Asked,
    language: Language,
    joiners: Collection[str],
    pronouns: Phrases,
    mentions: Sequence[Mention],
    start: int,
) -> tuple[int, list[int]]:
    """The position past the last name after ``start``, and the positions of pronouns; ``start`` when there is no name."""
    words = asked.words
    at_first = {mention.first: mention.last for mention in mentions}
    position, end = start, start
    found: list[int] = []
    while position < len(words):
        length = at_first.get(position, position) - position
        if not length and asks(language, words, position):
            break
        pronoun = pronouns.at(words, position)
        if not length and pronoun and not _owns(words, language, at_first, position + pronoun):
            found.append(position)
            length = pronoun
        elif not length and (position in asked.named or words[position] in language.nouns):
            length = 1
        if length:
            position = end = position + length
            continue
        if words[position] not in joiners and not pronoun:
            plain = end == start and words[position] not in language.stop
            return (position + 1 if plain else end), found
        position += 1
    return end, found


def asks(language: Language, words: Sequence[str], position: int) -> bool:
    """True where the question itself begins: a question word, a yes/no opening or a verb."""
    forms = language.forms
    kinds = (
        forms.which,
        forms.which_one,
        forms.which_many,
        forms.who,
        forms.what,
        forms.count,
        forms.adverbs,
    )
    verbs = (forms.polar, forms.one_verbs, forms.many_verbs)
    return any(phrases.at(words, position) for phrases in (*kinds, *verbs))


def _owns(words: Sequence[str], language: Language, at_first: dict[int, int], position: int) -> bool:
    """True when a noun follows a pronoun: "his sculptures" are excluded, not he."""
    return position < len(words) and (words[position] in language.nouns or position in at_first)


def without(asked: Asked, pivot: Pivot) -> str:
    """The question without the pivot's stretch; a comma that closed it goes with it."""
    kept = [
        chunk.text
        for chunk in asked.chunks
        if not (pivot.first < chunk.last and chunk.first < pivot.last)
        and (chunk.last > chunk.first or chunk.text != ",")
    ]
    ends = asked.chunks[-1].text[-1:] if asked.chunks else ""
    text = " ".join(kept)
    return text + ends if ends in "?;" and text and not text.endswith(ends) else text
