"""The words of questions by language, ready for reading: those of `config/languages`, and nouns from `kinds.yaml`.

In a language file the section `asking` says, by kind of phrase, what no other section does; a phrase with "-" before it is
one of another section that does not count here. Its words are compared folded, and a star stands for any letters.
And the words of one question, with what punctuation and capitals say of them, and finding phrases among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import lru_cache
from itertools import product
from typing import Any

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.config.reading import default_folder, read_yaml
from crmrag_query.language import READ, language, variants
from crmrag_query.language import Language as Base
from crmrag_query.ontology.load import Category
from crmrag_query.text import fold, tokenize

QUOTES = frozenset('"“”„«»‟＂')
_ENDS = frozenset(".?!;:,·;؟。？！—–-)¿¡")
_PARTS = re.compile("[-–—./:'’]")
_SIGNS = "([«“„\"'‘¿¡"
_SHORT = 3  # letters; longer words all have capitals in a heading, in which capitals name nothing
ACCENTED = frozenset({"è", "πού"})
"""Words that are others without their accent ("is" and "and", "where" and "that"), told apart where a question has it."""
ANY = "*"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What stands between blanks: its text and its tokens ``first`` to before ``last``; ``capital``: how it begins."""

    text: str
    first: int
    last: int
    capital: bool
    quoted: bool
    opens: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """A question's folded tokens; ``starts``: positions where a clause begins; ``named``: those inside of quotes, names
    or, where capitals name, of capitalised words."""

    words: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    starts: frozenset[int]
    named: frozenset[int]

    @property
    def capitals(self) -> frozenset[int]:
        """Positions of tokens that begin with a capital: of "Baltimore-born" the first alone."""
        found = set[int]()
        for chunk in self.chunks:
            parts = [part for part in _PARTS.split(chunk.text) if any(map(str.isalnum, part))]
            if len(parts) == chunk.last - chunk.first:
                found.update(
                    chunk.first + at for at, part in enumerate(parts) if part.lstrip(_SIGNS)[:1].isupper()
                )
            elif chunk.capital:
                found.update(range(chunk.first, chunk.last))
        return frozenset(found)

    @property
    def visible(self) -> tuple[str, ...]:
        """The tokens, "" for one that belongs to a name: no phrase is read from these."""
        spelled = {
            chunk.first: text
            for chunk in self.chunks
            if (text := chunk.text.strip("".join(_ENDS)).lower()) in ACCENTED
        }
        return tuple("" if i in self.named else spelled.get(i, word) for i, word in enumerate(self.words))


def chunks_of(question: str) -> tuple[Chunk, ...]:
    """The chunks of a question; their tokens together are those of ``tokenize``."""
    balanced = sum(character in QUOTES for character in question) % 2 == 0
    found: list[Chunk] = []
    position, inside, opens = 0, False, True
    for text in question.split():
        marks = sum(character in QUOTES for character in text) if balanced else 0
        quoted = inside or marks > 0
        inside ^= marks % 2 == 1
        tokens = tokenize(text)
        first = next((character for character in text if character.isalpha()), "")
        last = position + len(tokens)
        opens = opens or text[0] in "¿¡"
        found.append(Chunk(text, position, last, first.isupper(), quoted, opens and bool(tokens)))
        initial = text[-1] == "." and first.isupper() and len("".join(tokens)) == 1  # "William T. Walters"
        opens = (text[-1] in _ENDS and not initial) or (opens and not tokens)
        position = last
    return tuple(found)


def asked(
    question: str, capitals_name: bool, names: Collection[int] = (), chunks: tuple[Chunk, ...] | None = None
) -> Asked:
    """The question as its form is read; ``names``: positions of tokens known to belong to names."""
    chunks = chunks_of(question) if chunks is None else chunks
    spoken = [chunk for chunk in chunks if chunk.last > chunk.first]
    long = [chunk for chunk in spoken if not chunk.opens and len(chunk.text) > _SHORT]
    titled = len(long) > 1 and all(chunk.capital for chunk in long)
    capitals = capitals_name and not titled
    named = set(names)
    for chunk in spoken:
        own = tokenize(chunk.text)
        if chunk.quoted or (capitals and chunk.capital and not chunk.opens and own[0] != "i"):
            named.update(range(chunk.first, chunk.last))
    words = tuple(tokenize(question))
    starts = frozenset(chunk.first for chunk in spoken if chunk.opens)
    return Asked(words, chunks, starts, frozenset(i for i in named if i < len(words)))


class Phrases:
    """Phrases of folded words; a star in a word stands for any letters (``alt*``, ``*ed``, ``ge*t``). Built once."""

    def __init__(self, phrases: Iterable[str]) -> None:
        self._exact: dict[str, list[tuple[str, ...]]] = {}
        self._open: list[tuple[str, ...]] = []
        for phrase in phrases:
            pattern = tuple(word for part in phrase.split() for word in _pattern(part))
            if pattern and ANY in pattern[0]:
                self._open.append(pattern)
            elif pattern:
                self._exact.setdefault(pattern[0], []).append(pattern)

    def at(self, words: Sequence[str], position: int) -> int:
        """Length of the longest phrase that begins at the position, 0 for none."""
        if not 0 <= position < len(words):
            return 0
        near = (*self._exact.get(words[position], ()), *self._open)
        return max((len(pattern) for pattern in near if _fits(pattern, words, position)), default=0)

    def spans(self, words: Sequence[str], start: int = 0) -> Iterator[tuple[int, int]]:
        """Every phrase from ``start`` on as (first, past the last); none overlaps another."""
        position = start
        while position < len(words):
            if length := self.at(words, position):
                yield position, position + length
            position += length or 1

    def within(self, words: Sequence[str], start: int = 0, stop: int | None = None) -> bool:
        """True when any phrase begins between the positions."""
        return any(self.at(words, i) for i in range(start, len(words) if stop is None else stop))

    @property
    def single(self) -> frozenset[str]:
        """The phrases of one whole word."""
        return frozenset(first for first, patterns in self._exact.items() if (first,) in patterns)


def _pattern(part: str) -> list[str]:
    """Folded words; a star stays at the word that it stands at."""
    if part in ACCENTED:
        return [part]
    left, star, right = part.partition(ANY)
    words = tokenize(left)
    if star:
        words[-1:] = ["".join((*words[-1:], ANY, *tokenize(right.strip(ANY))))] if left or right else []
    return words


def _fits(pattern: Sequence[str], words: Sequence[str], position: int) -> bool:
    if position + len(pattern) > len(words):
        return False
    return all(_same(part, words[position + i]) for i, part in enumerate(pattern))


def _same(part: str, word: str) -> bool:
    left, star, right = part.partition(ANY)
    if not star:
        return part == word
    return (
        word.startswith(left) and word.endswith(right) and len(word) >= len(left) + len(right) + bool(right)
    )


__all__ = ["Compiled", "Forms", "Language", "Noun", "Number", "RefWords", "compiled", "folded", "ref_words"]

_TOLD = {
    "count": "questions.how_many questions.how_often",
    "aggregation": "operators.most operators.fewest operators.highest operators.lowest operators.earliest operators.latest "
    "operators.breakdown operators.sort_date operators.sort_label operators.mean operators.total operators.altogether",
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
