"""A question lexicon made ready for reading: everything folded once, whatever number of questions follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import Enum
from functools import lru_cache

from crmrag_query.config.parts import Grammar, LanguageLexicon, QuestionLexicon
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.phrases import Phrases
from crmrag_query.text import tokenize

S_PLURALS = frozenset({"en", "fr", "nl"})  # languages whose nouns have a plural in -s where none is given


class Number(Enum):
    """Grammatical number of a noun's form."""

    ONE = "one"
    MANY = "many"
    EITHER = "either"


@dataclass(frozen=True, slots=True)
class Noun:
    """What a form of a noun says: mask of the categories it asks for, and its number."""

    categories: int
    number: Number


@dataclass(frozen=True, slots=True)
class Forms:
    """The phrases by which form is read in one language; see ``crmrag_query.config.parts.Grammar``."""

    aggregation: Phrases
    enumeration: Phrases
    count: Phrases
    polite: Phrases
    which: Phrases
    which_one: Phrases
    which_many: Phrases
    what: Phrases
    who: Phrases
    who_many: Phrases
    adverbs: Phrases
    polar: Phrases
    inversion: Phrases
    existential: Phrases
    more: Phrases
    also: Phrases
    listing: Phrases
    describing: Phrases
    everything: Phrases
    one_verbs: Phrases
    many_verbs: Phrases
    of: Phrases
    collecting: Phrases
    participles: Phrases
    telling: Phrases
    being: Phrases
    numerals: Phrases
    many_refs: Phrases
    one_refs: Phrases
    generic: Phrases
    attributes: Phrases
    collective: Phrases
    not_aggregation: Phrases
    articles: Phrases
    placed: Phrases
    whole: Phrases


@dataclass(frozen=True, slots=True)
class CompiledCue:
    """A cue's words in one language, and the labels and codes it asks for."""

    words: frozenset[str]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One language, folded.

    ``signs``: words by which it is recognised, with their weights; ``manies``: forms of nouns that may be plural;
    ``expects``: a mask and the phrases that ask for it;
    ``plurals`` and ``not_plurals``: endings of nouns that the lexicon does not hold.
    """

    code: str
    stop: frozenset[str]
    signs: Mapping[str, int]
    forms: Forms
    nouns: Mapping[str, Noun]
    manies: frozenset[str]
    expects: tuple[tuple[int, Phrases], ...]
    cues: tuple[CompiledCue, ...]
    plurals: tuple[str, ...]
    not_plurals: tuple[str, ...]
    capitals_name: bool


@dataclass(frozen=True, slots=True)
class Compiled:
    """All languages of a lexicon, in its order."""

    languages: Mapping[str, Language]


@dataclass(frozen=True, slots=True)
class _Same:
    """A lexicon as a key: equal to itself only, so that looking it up costs no comparison of its contents."""

    lexicon: QuestionLexicon

    def __hash__(self) -> int:
        return id(self.lexicon)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.lexicon is self.lexicon


def compiled(lexicon: QuestionLexicon) -> Compiled:
    """The lexicon ready for reading; kept for as long as it is in use."""
    return _compiled(_Same(lexicon))


@lru_cache(maxsize=8)
def _compiled(key: _Same) -> Compiled:
    lexicon = key.lexicon
    return Compiled({code: _language(code, entry, lexicon) for code, entry in lexicon.languages.items()})


QUESTION_WORD = 5  # how much more than a stop word a question word tells of the language; ours


def _language(code: str, entry: LanguageLexicon, lexicon: QuestionLexicon) -> Language:
    grammar = lexicon.grammar.get(code, Grammar())
    forms = _forms(entry, grammar)
    stop = folded(entry.stop)
    nouns = _nouns(code, lexicon)
    asking = (
        forms.which,
        forms.which_one,
        forms.which_many,
        forms.who,
        forms.what,
        forms.count,
        forms.listing,
    )
    signs = dict.fromkeys(stop, 1)
    for phrases in (*asking, forms.describing, forms.adverbs, forms.polar):
        signs.update(dict.fromkeys((phrases.first - stop) | phrases.single, QUESTION_WORD))
    return Language(
        code=code,
        stop=stop,
        signs=signs,
        forms=forms,
        nouns=nouns,
        manies=frozenset(form for form, noun in nouns.items() if noun.number is not Number.ONE),
        expects=tuple((int(Category[name]), Phrases(asked)) for name, asked in entry.expects.items()),
        cues=tuple(
            CompiledCue(folded(cue.words.get(code, ())), (*cue.labels, *cue.properties))
            for cue in lexicon.cues.values()
        ),
        plurals=grammar.plurals,
        not_plurals=grammar.not_plurals,
        capitals_name=grammar.capitals_name,
    )


def _forms(entry: LanguageLexicon, grammar: Grammar) -> Forms:
    own = {"aggregation": entry.aggregation, "enumeration": entry.enumeration, "count": entry.count}
    lists = {field.name: own.get(field.name) or getattr(grammar, field.name, ()) for field in fields(Forms)}
    return Forms(**{name: Phrases(words) for name, words in lists.items()})


def _nouns(code: str, lexicon: QuestionLexicon) -> dict[str, Noun]:
    """Every form of every noun; a form of several nouns has the categories of all."""
    found: dict[str, Noun] = {}
    for names, by_language in lexicon.nouns.items():
        mask = sum(int(Category[name]) for name in names.split())
        for entry in by_language.get(code, ()):
            ones, manies = noun_forms(entry, code)
            for form in sorted({*ones, *manies}):
                is_one, is_many = form in ones, form in manies
                number = Number.EITHER if is_one and is_many else Number.ONE if is_one else Number.MANY
                known = found.get(form)
                if known is not None:
                    number = known.number if known.number is number else Number.EITHER
                found[form] = Noun(mask | (known.categories if known else 0), number)
    return found


def noun_forms(entry: str, code: str) -> tuple[frozenset[str], frozenset[str]]:
    """Singular and plural forms of ``church / churches``, folded; where no plural is given, that in -s."""
    left, _, right = entry.partition("/")
    ones = folded([left.replace("-", "")])
    manies = folded(right.split())
    if not manies and code in S_PLURALS:
        manies = frozenset(one + "s" for one in ones)
    return ones, manies


def folded(phrases: Iterable[str]) -> frozenset[str]:
    """Every word of the phrases, folded."""
    return frozenset(token for phrase in phrases for token in tokenize(phrase))
