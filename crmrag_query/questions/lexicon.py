"""The words of questions by language, ready for reading: those of `config/languages`, and nouns from `kinds.yaml`.

In a language file the section `asking` says, by kind of phrase, what no other section does; a phrase with "-" before it is
one of another section that does not count here. Its words are compared folded, and a star stands for any letters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import product
from typing import Any

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.config.reading import default_folder, read_yaml
from crmrag_query.language import READ, language, variants
from crmrag_query.language import Language as Base
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.words import Phrases
from crmrag_query.text import fold, tokenize

__all__ = ["Compiled", "Forms", "Language", "Noun", "Number", "RefWords", "compiled", "folded", "ref_words"]

_TOLD = {
    "count": "questions.how_many questions.how_often",
    "aggregation": "operators.most operators.fewest operators.highest operators.lowest operators.earliest operators.latest "
    "operators.breakdown operators.sort_date operators.sort_label",
    "not_aggregation": "operators.more_than operators.less_than operators.at_least operators.at_most operators.or_more",
    "polite": "questions.polite dialogue.opening",
    "who": "questions.who",
    "adverbs": "questions.where questions.when questions.why questions.how questions.how_long questions.how_much",
    "polar": "questions.polar",
    "existential": "questions.there",
    "more": "dialogue.more",
    "also": "dialogue.also",
    "listing": "questions.list",
    "describing": "questions.describe",
    "everything": "operators.every questions.anything",
    "of": "prepositions.of",
    "being": "verbs.be",
    "whole": "whole.nouns",
    "themes": "themes.nouns",
    "beside_themes": "themes.beside",
    "person": "pronouns.person",
    "place": "pronouns.place",
    "many": "pronouns.many",
    "thing": "pronouns.thing",
    "own": "pronouns.own",
    "this": "pronouns.this",
    "no_reference": "questions.there questions.list questions.describe questions.polite",
    "opening": "dialogue.opening",
    "joiners": "operators.and operators.or operators.both operators.neither prepositions.of prepositions.agent",
    "pivots": "operators.except",
    "further": "dialogue.more",
    "Actor": "questions.who questions.whose",
    "Place": "questions.where",
    "Time": "questions.when",
}
"""Kinds of phrases, and the roles of a language file that say them."""
ANYWHERE = ("count", "who_many", "who", "what", "which_many", "which_one", "which", "adverbs")
OPENING = ("existential", "polar", "describing", "enumeration", "listing")
GROUPS = ("person", "thing", "place", "many")
_PAIRS = ({"Thing", "Actor"}, {"Actor", "Place"}, {"Event", "Time"})
"""Categories that a noun may ask for both; of others its first counts: who asks for churches wants no places."""
_MOST_COUNTED = 100  # numbers in digits up to which a noun after one is counted rather than dated


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


class Forms:
    """The phrases of one language by kind, each kind an attribute; one that the language lacks has no phrases."""

    def __init__(self, phrases: Mapping[str, Iterable[str]]) -> None:
        self._by_kind = {kind: Phrases(texts) for kind, texts in phrases.items()}

    def __getattr__(self, kind: str) -> Phrases:
        if kind.startswith("_"):
            raise AttributeError(kind)
        return self._by_kind.setdefault(kind, Phrases(()))


@dataclass(frozen=True, slots=True)
class RefWords:
    """Words for what went before, and for further things of its kind."""

    pronouns: Phrases
    more: Phrases


@dataclass(frozen=True, slots=True)
class Cue:
    """A cue's words in one language, and the labels and codes it asks for."""

    words: frozenset[str]
    asked: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Language:
    """One language.

    ``signs``: words it is recognised by; ``asking``, ``opening``: phrases that ask anywhere, and where a clause begins;
    ``manies``: forms of nouns that may be plural; ``expects``: a mask and the phrases that ask for it; ``plurals``,
    ``not_plurals``, ``either``: endings of unknown nouns; ``articles_many``: articles before plurals; ``drops``: whether a
    sentence needs no pronoun for what it is about; ``letters``: those that no other language has; ``the``, ``this``: words
    before a noun that went before; ``joiners``: small words between names.
    """

    code: str
    stop: frozenset[str]
    signs: frozenset[str]
    asking: Phrases
    opening: Phrases
    forms: Forms
    nouns: Mapping[str, Noun]
    manies: frozenset[str]
    expects: tuple[tuple[int, Phrases], ...]
    plurals: tuple[str, ...]
    not_plurals: tuple[str, ...]
    either: tuple[str, ...]
    articles_many: frozenset[str]
    capitals_name: bool
    drops: bool
    letters: frozenset[str]
    the: frozenset[str]
    this: frozenset[str]
    joiners: frozenset[str]
    refs: RefWords
    stem: Callable[[str], str]
    cues: tuple[Cue, ...] = ()


@dataclass(frozen=True, slots=True)
class Compiled:
    """All languages, the ones that come first preferred in ties."""

    languages: Mapping[str, Language]


@dataclass(frozen=True, slots=True)
class _Same:
    """A lexicon as a key: equal to itself only, so that looking it up costs no comparison of its contents."""

    lexicon: QuestionLexicon = field(compare=False)
    at: int


def compiled(lexicon: QuestionLexicon) -> Compiled:
    """The languages with the cues of a lexicon; kept for as long as it is in use."""
    return _compiled(_Same(lexicon, id(lexicon)))


@lru_cache(maxsize=8)
def _compiled(key: _Same) -> Compiled:
    return Compiled({code: replace(_language(code), cues=_cues(code, key.lexicon)) for code in READ})


def ref_words(code: str) -> RefWords:
    """The words of a language that refer to what went before."""
    return _language(code).refs


def folded(phrases: Iterable[str]) -> frozenset[str]:
    """Every word of the phrases, folded."""
    return frozenset(token for phrase in phrases for token in tokenize(phrase))


def _cues(code: str, lexicon: QuestionLexicon) -> tuple[Cue, ...]:
    return tuple(
        Cue(folded(cue.words.get(code, ())), (*cue.labels, *cue.properties)) for cue in lexicon.cues.values()
    )


@lru_cache(maxsize=len(READ))
def _language(code: str) -> Language:
    base = language(code if code in READ else READ[0])
    own: dict[str, Any] = base.raw["asking"]
    kinds = _kinds(base, own)
    nouns = _nouns(base)
    kinds["aggregation"] += _distributing(own, kinds, nouns)
    forms = Forms(kinds)
    asking = Phrases(text for kind in ANYWHERE for text in kinds.get(kind, ()))
    opening = Phrases(text for kind in OPENING for text in kinds.get(kind, ()))
    return Language(
        code=base.code,
        stop=base.stop,
        signs=base.stop | asking.single | opening.single,
        asking=asking,
        opening=opening,
        forms=forms,
        nouns=nouns,
        manies=frozenset(form for form, noun in nouns.items() if noun.number is not Number.ONE),
        expects=tuple((int(Category[name]), getattr(forms, name)) for name in ("Actor", "Place", "Time")),
        plurals=tuple(map(fold, own.get("plurals", ()))),
        not_plurals=tuple(map(fold, own.get("not_plurals", ()))),
        either=tuple(own.get("either", ())),
        articles_many=folded(own.get("articles_many", ())),
        capitals_name=base.capitals_name,
        drops=own.get("drops") == "true",
        letters=frozenset(own.get("letters", ())),
        the=folded(kinds["the"]),
        this=folded(kinds["this"]),
        joiners=folded((*kinds["joiners"], *kinds["articles"], *kinds["the"])),
        refs=RefWords(Phrases(text for group in GROUPS for text in kinds[group]), forms.further),
        stem=base.stem,
    )


def _kinds(base: Base, own: Mapping[str, Any]) -> dict[str, list[str]]:
    """Phrases by kind, from all sections of a language's file."""
    raw, stem = base.raw, base.stem
    kinds: dict[str, list[str]] = {"who_many": [], "the": [], "articles": []}
    for kind in {*_TOLD, *own}:
        listed = [text for role in _TOLD.get(kind, "").split() for text in _texts(raw, role)]
        added = own.get(kind, ())
        listed += [text for text in added if not text.startswith("-")] if isinstance(added, list) else []
        out = {fold(text[1:]) for text in added if text.startswith("-")}
        kinds[kind] = [text for text in listed if fold(text) not in out]
    articles = folded((*kinds["articles"], *kinds["the"]))
    for kind in ("everything", "person", "thing", "many"):
        kinds[kind] = [text for text in kinds[kind] if fold(text) not in articles]
    asks_one = folded((*kinds["what"], *kinds["who"], *kinds["being"], *kinds["articles"]))
    kinds["describing"] = [text for text in kinds["describing"] if not folded([text]) <= asks_one]
    kinds["not_aggregation"] += [text for text in (*kinds["more"], *kinds["also"]) if " " in text]
    before = ("", *kinds["articles"], *kinds["this"])
    kinds["whole"] = [f"{word} {noun}" for word, noun in product(before, kinds["whole"])] + own["contents"]
    numbers = [word for word, value in raw["numbers"].items() if int(value) > 1]
    kinds["numerals"] = [*numbers, *map(str, range(2, _MOST_COUNTED + 1)), *kinds.get("numerals", ())]
    first = {stem(fold(word)) for word, value in raw["ordinals"].items() if value == "1"}
    first |= {stem(word) for word in folded(own.get("ranks", ()))}
    kinds["aggregation"] = [
        text
        for text in kinds["aggregation"]
        if "*" in text or not {stem(word) for word in folded([text]) - articles} <= first
    ]
    return kinds


def _texts(raw: Mapping[str, Any], role: str) -> Iterator[str]:
    """The phrases of a role, with and without what may be left out."""
    section, _, name = role.partition(".")
    for text in raw.get(section, {}).get(name, ()):
        yield from [" ".join(words) for words in variants(text)] if "?" in text else [text]


def _distributing(
    own: Mapping[str, Any], kinds: Mapping[str, list[str]], nouns: Mapping[str, Noun]
) -> list[str]:
    """What ranks the first so many ("top ten"), and what counts by something ("for each", "by century")."""
    few = [word for word in kinds["numerals"] if not word.isdigit() or int(word) <= 20 or int(word) % 10 == 0]
    ranked = [
        text
        for rank, number in product(own.get("ranks", ()), few)
        for text in (f"{rank} {number}", f"{number} {rank}")
    ]
    units = [
        form
        for form, noun in nouns.items()
        if noun.number is not Number.MANY
        and noun.categories & (Category.Time | Category.Concept | Category.Place)
    ]
    split = [f"{by} {unit}" for by, unit in product(own.get("by", ()), units)]
    return [*ranked, *split]


def _nouns(base: Base) -> dict[str, Noun]:
    """Every form of every noun: of those of the language's file, then of the names of kinds that are one word."""
    raw = base.raw
    entries = [(names, text) for names, texts in raw["nouns"].items() for text in texts]
    for kind in _named_kinds():
        implied = kind["implies"]
        names = " ".join(implied) if set(implied) in _PAIRS else implied[0]
        entries += [
            (names, text) for text in kind["words"].get(base.code, ()) if " " not in text.replace(" / ", "/")
        ]
    paradigms = [
        [[fold(ending.strip("-")) for ending in side.split()] for side in paradigm.split("/")]
        for paradigm in raw["plurals"]
    ]
    irregular = [fold(pair).split(" / ") for pair in raw.get("irregular", ())]
    unchanged = Phrases(ending if "*" in ending else f"*{ending}" for ending in raw.get("unchanged", ()))
    exact: dict[str, Noun] = {}
    made: dict[str, Noun] = {}
    for names, text in entries:
        mask = sum(int(Category[name]) for name in names.split())
        ones, manies = (tokenize(side) for side in text.partition("/")[::2])
        manies += [many for one, many in irregular if one in ones]
        for form in {*ones, *manies} - base.stop:
            both = unchanged.at([form], 0) or form in manies
            number = Number.ONE if not both else Number.EITHER if form in ones else Number.MANY
            _add(exact, form, mask, number)
        for word in set(ones) - base.stop:
            singles, plurals = _inflected(word, paradigms)
            for form in singles | plurals:
                if form not in plurals or not manies:
                    _add(made, form, mask, Number.MANY if form in plurals else Number.ONE)
    return made | exact


def _inflected(word: str, paradigms: Iterable[Sequence[Sequence[str]]]) -> tuple[set[str], set[str]]:
    """Forms of a noun, singulars and plurals, by the endings of all paradigms that it fits."""
    singles, plurals = set[str](), set[str]()
    for ones, manies in paradigms:
        for ending in ones:
            stem = word[: len(word) - len(ending)]
            if word.endswith(ending) and len(stem) > 1:
                singles.update(stem + other for other in ones)
                plurals.update(stem + other for other in manies)
    return singles - {word}, plurals - {word}


@lru_cache(maxsize=1)
def _named_kinds() -> list[dict[str, Any]]:
    return list(read_yaml(default_folder() / "words" / "kinds.yaml")["kinds"].values())


def _add(found: dict[str, Noun], form: str, mask: int, number: Number) -> None:
    known = found.get(form)
    if known is None:
        found[form] = Noun(mask, number)
    elif known.number is not number:
        found[form] = Noun(known.categories, Number.EITHER)
