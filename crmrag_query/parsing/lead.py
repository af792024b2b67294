"""What is known of a question before its pieces are read: question words, numbers, units of time, what went before."""

from __future__ import annotations

from crmrag_query.artifacts.release import Release
from crmrag_query.config.questions import ParsingPart, Unit
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.antecedent import Antecedent
from crmrag_query.parsing.reading.state import Lead
from crmrag_query.questions.lexicon import Language
from crmrag_query.questions.words import Asked


def lead_of(release: Release, heard: Asked, language: Language, earlier: Antecedent | None) -> Lead:
    """The lead of a question as it was heard, in its language; ``earlier``: what went before in the conversation."""
    parsing, forms = release.method.parsing, language.forms
    return Lead(
        at=_question_words(heard, language, _everywhere(parsing, "pronouns")),
        numbers=release.method.sets.answers.numbers,
        units=_units(parsing, language.code),
        ones=_everywhere(parsing, "ones"),
        copulas=forms.being.single | forms.one_verbs.single | forms.many_verbs.single,
        beings=forms.being.single,
        of_one=forms.one_verbs.single - forms.many_verbs.single,
        being=bool(heard.visible) and bool(forms.being.at(heard.visible, 0)),
        small=language.stop,
        limits=parsing.limits,
        earlier=earlier.categories if earlier is not None else 0,
        focus=earlier.mention if earlier is not None else None,
        place=earlier.place if earlier is not None else None,
    )


def _question_words(heard: Asked, language: Language, pronouns: frozenset[str]) -> dict[int, tuple[str, int]]:
    """Where the question words stand: what each asks for, and its mask of categories."""
    words, forms = heard.visible, language.forms
    found: dict[int, tuple[str, int]] = {}
    for at, word in enumerate(words):
        if not word:
            continue
        mask = next((mask for mask, phrases in language.expects if phrases.at(words, at)), 0)
        if mask & int(Category.Time):
            found[at] = ("when", mask)
        elif mask & int(Category.Place):
            found[at] = ("where", mask)
        elif forms.who.at(words, at) or mask & int(Category.Actor):
            found[at] = ("who", int(Category.Actor))
        elif forms.what.at(words, at) or (forms.everything.at(words, at) == 1 and word in pronouns):
            found[at] = ("what", 0)
        elif any(phrases.at(words, at) for phrases in (forms.which, forms.which_one, forms.which_many)):
            found[at] = ("which", 0)
    return found


def _everywhere(parsing: ParsingPart, name: str) -> frozenset[str]:
    """Words of all languages: a question of few words may have been taken for one of another."""
    return frozenset(word for words in parsing.languages.values() for word in getattr(words, name))


def _units(parsing: ParsingPart, language: str) -> dict[str, Unit]:
    """Units of time by their words; those of the first language for one that has none."""
    words = parsing.languages.get(language) or next(iter(parsing.languages.values()))
    return {word: unit for unit, units in words.units.items() for word in units}
