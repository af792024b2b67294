"""The languages that questions are read in: one file each in `config/languages`, with stems by Snowball.

A file holds the small words of questions (what opens one, operators, numbers, words for time, pronouns) and no word of a
field or a data set. They are the product's own: a release of any age is read by those that ship.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cached_property, lru_cache
from typing import Any

import Stemmer
import yaml

from crmrag_query.config.reading import default_folder
from crmrag_query.text import fold, tokenize

LANGUAGES = ("en", "fr", "de", "el", "it", "es")
"""Those with words for relations, classes and properties in `config/words`, in which whole questions are read."""
_FILES = sorted(path.stem for path in (default_folder() / "languages").glob("*.yaml"))
READ = (*LANGUAGES, *(code for code in _FILES if code not in LANGUAGES))
"""Those that have a file: the form of a question and what a follow-up means are read, and what labels say."""
_SECTIONS = ("questions", "operators", "verbs", "prepositions", "dialogue", "pronouns", "time", "whole")
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every word is a text: "no" and "on", too
LONGEST_ENDING = 4  # letters of a noun's ending that its other forms may share
MAN = 3  # letters of an irregular ending that compounds share, "man / men", and of what is left without an ending
_LONGEST_NAME, _MOST_NAMES = (
    60,
    20_000,
)  # characters of texts whose stems are kept, names of kinds that each release has
_MOST_STEMS = 200_000  # kept of one language; a data set's names and documents have about as many words


class Phrases:
    """Phrases of folded words, each with the roles it plays; "the?" in a phrase may be left out."""

    def __init__(self) -> None:
        self._by_first: dict[str, dict[tuple[str, ...], set[str]]] = {}

    def add(self, text: str, role: str) -> None:
        """A phrase as a file writes it."""
        for words in variants(text):
            if words:
                self._by_first.setdefault(words[0], {}).setdefault(words, set()).add(role)

    def at(self, words: Sequence[str], start: int) -> Iterator[tuple[int, frozenset[str]]]:
        """(length, roles) of every phrase that begins at ``start``."""
        for phrase, roles in self._by_first.get(words[start], {}).items():
            if tuple(words[start : start + len(phrase)]) == phrase:
                yield len(phrase), frozenset(roles)


def variants(text: str) -> Iterator[tuple[str, ...]]:
    """The folded words of a phrase as a file writes it, with and without what may be left out."""
    yield tuple(tokenize(text.replace("?", "")))
    if "?" in text:
        yield tuple(tokenize(re.sub(r"\S+\?", " ", text)))


PREPOSITION_ROLES = ("agent", "place", "from", "of", "with", "about", "to", "time", "material")


@dataclass(frozen=True)
class Language:
    """One language.

    ``raw``: its file, every value a text; ``stop``: folded words that say nothing by themselves; ``phrases``: small words by
    role (`operators.not`); ``roles``: the same by role; ``numbers``: folded words to their values; ``capitals_name``: whether
    capitals within a sentence mark names (else nouns); ``head_last``: whether a noun stands behind its adjectives;
    ``concord``: whether two words that deny, "ne … aucune", deny once.
    """

    code: str
    raw: Mapping[str, Any]
    stop: frozenset[str]
    phrases: Phrases
    roles: Mapping[str, frozenset[str]]
    numbers: Mapping[str, int]
    ordinals: Mapping[str, int]
    capitals_name: bool
    head_last: bool
    concord: bool
    _stemmer: Any = field(repr=False, compare=False)
    _endings: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    _noun_endings: tuple[frozenset[str], ...] = field(default=(), repr=False, compare=False)
    _numbers: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = field(
        default=(), repr=False, compare=False
    )
    _irregular: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    _verbs: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    _agreement: tuple[tuple[str, str], ...] = field(default=(), repr=False, compare=False)
    _contracted: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    _stems: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    _names: dict[str, tuple[str, ...]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def articles(self) -> frozenset[str]:
        return frozenset(self.raw.get("asking", {}).get("articles", ()))

    @cached_property
    def than(self) -> frozenset[str]:
        """The words behind a comparative: taller *than*."""
        return frozenset(map(fold, self.raw.get("comparing", {}).get("than", ())))

    @cached_property
    def auxiliaries(self) -> frozenset[str]:
        """The forms of "to be", "to have" and "to do"."""
        return self.roles["verbs.be"] | self.roles["verbs.have"] | self.roles["verbs.do"]

    def stem(self, word: str) -> str:
        """The stem of a folded word."""
        asked, found = word, self._stems.get(word)
        if found is None:
            if len(self._stems) > _MOST_STEMS:
                self._stems.clear()
            word = self._verbs.get(word, word)
            for ending, other in self._endings:
                if word.endswith(ending):
                    word = word.removesuffix(ending) + other
                    break
            found = self._stems[asked] = self._stemmer.stemWord(word)
        return found

    def size_of(self, word: str) -> str:
        """The dimension that a folded adjective of size speaks of in any of its forms; "" for another word."""
        return self._sizes[0].get(self._root(word), "")

    def is_small(self, word: str) -> bool:
        """Whether a folded adjective of size says that something has little of it: "lighter"."""
        return self._root(word) in self._sizes[1]

    def _root(self, word: str) -> str:
        return self.stem(word)[:4]

    @cached_property
    def _sizes(self) -> tuple[Mapping[str, str], frozenset[str]]:
        """The dimensions of adjectives by how they begin, and the beginnings of those that say little."""
        listed = self.raw.get("operators", {})
        less = set(map(fold, self.raw.get("comparing", {}).get("less", ()))) | self.roles["operators.fewest"]
        sizes = {
            self._root(fold(word)): name
            for name, words in listed.get("measures", {}).items()
            for word in reversed(words)
        }
        small = (fold(phrase).replace("?", "").split() for phrase in listed.get("lowest", ()))
        return sizes, frozenset(self._root(words[-1]) for words in small if less.isdisjoint(words))

    def preposition_roles(self, word: str) -> frozenset[str]:
        """What a folded preposition may lead to; none for another word."""
        return frozenset(role for role in PREPOSITION_ROLES if word in self.roles[f"prepositions.{role}"])

    def roles_within(self, words: Sequence[str]) -> frozenset[str]:
        """The roles of all phrases that stand anywhere in some folded words."""
        return frozenset().union(
            *(roles for at in range(len(words)) for _, roles in self.phrases.at(words, at))
        )

    def form(self, word: str) -> str:
        """A folded word without what gender, number and a contracted article add: "dipinte sulla" is "dipinto su"."""
        word = self._contracted.get(word, word)
        for ending, base in self._agreement:
            if word.endswith(ending) and len(word) - len(ending) >= MAN:
                return word.removesuffix(ending) + base
        return word

    def is_form_of(self, word: str, other: str) -> bool:
        """Whether two folded words of one stem differ by endings of one noun only: "dipinti" is a form of "dipinto", and
        "dipinta" is none."""
        if word == other:
            return True
        same = 0
        while same < min(len(word), len(other)) and word[same] == other[same]:
            same += 1
        return any(
            word[at:] in endings and other[at:] in endings
            for at in range(same, max(same - LONGEST_ENDING, 0), -1)
            for endings in self._noun_endings
        )

    def other_stems(self, word: str) -> frozenset[str]:
        """The stems of a folded noun in its regular other numbers and cases, where a stemmer takes them for other words:
        "mujer" and "mujeres"."""
        return frozenset(map(self.stem, self.forms(word))) - {self.stem(word)}

    def forms(self, word: str) -> frozenset[str]:
        """A folded noun in all the numbers and cases that the language's rules give it, likely or not."""
        found = {form for (form,) in self.numbers_of((word,))}
        for endings in self._numbers:
            for said in (ending for some in endings for ending in some if word.endswith(ending)):
                base = word.removesuffix(said)
                if len(base) >= MAN:
                    found.update(base + other for some in endings for other in some)
        return frozenset(found)

    def numbers_of(self, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        """Words, none for none, and the same with the last in its irregular other number: woman and women."""
        if not words:
            return
        yield words
        for one, other in self._irregular:
            for said, form in ((one, other), (other, one)):
                if words[-1] == said or (len(said) == MAN and words[-1].endswith(said) and words[-1] != said):
                    yield (*words[:-1], words[-1].removesuffix(said) + form)

    def verbs_of(self, noun: str) -> frozenset[str]:
        """The stems of the verbs that a folded noun may be made of, by its ending: "bury" for "burial"; none for none."""
        made = self.raw.get("nominal", {}).items()
        bases = ((noun.removesuffix(end), verbs) for end, verbs in made if noun.endswith(end))
        return frozenset(self.stem(base + verb) for base, verbs in bases for verb in verbs if base + verb)

    def label_words(self, text: str) -> tuple[str, ...]:
        """The words of a label without its small words, but for one that it begins with and that is no article: what is
        "not located" is not located, and what is "in the collection" is no collection."""
        words = tokenize(text)
        return tuple(
            word
            for at, word in enumerate(words)
            if word not in self.stop or (not at and len(words) > 1 and word not in self.articles)
        )

    def is_participle(self, word: str) -> bool:
        """Whether a folded word is a form of a verb, by its ending or as one of the irregular ones: "wounded", "taught"."""
        endings = self.raw.get("asking", {}).get("participles", ())
        return word in self._verbs or any(fnmatch(word, one) for one in endings)

    def stems(self, text: str) -> tuple[str, ...]:
        """Stems of the words of a text, in order, without stop words."""
        found = self._names.get(text)
        if found is None:
            found = tuple(self.stem(word) for word in tokenize(text) if word not in self.stop)
            if len(text) <= _LONGEST_NAME:
                if len(self._names) > _MOST_NAMES:
                    self._names.clear()
                self._names[text] = found
        return found

    def all_stems(self, texts: Iterable[str]) -> frozenset[str]:
        """Stems of all words of some texts."""
        return frozenset(stem for text in texts for stem in self.stems(text))


def _number_rule(rule: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The endings of a singular and those of its plural: "z / ces"; "-" is none."""
    one, many = (tuple(fold(ending.strip("-")) for ending in part.split()) for part in rule.split("/"))
    return one, many


@lru_cache(maxsize=len(READ))
def language(code: str) -> Language:
    """The language of a code of ``READ``; any other is read as English. A role that a file lacks has no words."""
    code = code if code in READ else "en"
    text = (default_folder() / "languages" / f"{code}.yaml").read_text(encoding="utf-8")
    raw = yaml.load(text, Loader=_LOADER)
    phrases, roles = Phrases(), dict[str, frozenset[str]]()
    numbers = tuple(map(_number_rule, raw["plurals"]))
    for section in _SECTIONS:
        for role, told in raw.get(section, {}).items():
            parts = told.items() if isinstance(told, dict) else (("", told),)
            for inner, texts in parts:
                name = ".".join(filter(None, (section, role, inner)))
                listed = [texts] if isinstance(texts, str) else texts
                for one in listed:
                    phrases.add(one, name)
                roles[name] = frozenset(map(fold, listed))
    if code != "en":
        roles = dict.fromkeys(language("en").roles, frozenset[str]()) | roles
    return Language(
        code=code,
        raw=raw,
        stop=frozenset(token for word in raw["stop"] for token in tokenize(word)),
        phrases=phrases,
        roles=roles,
        numbers={fold(word): int(value) for word, value in raw["numbers"].items()},
        ordinals={fold(word): int(value) for word, value in raw["ordinals"].items()},
        capitals_name=raw["capitals"] == "names",
        head_last=raw["head"] == "last",
        concord=raw.get("concord") == "yes",
        _stemmer=Stemmer.Stemmer(raw["stemmer"]),
        _noun_endings=tuple(frozenset((*one, *many)) for one, many in numbers),
        _numbers=numbers,
        _irregular=tuple(
            (fold(one.strip()), fold(other.strip()))
            for one, other in (rule.split("/") for rule in (*raw["irregular"], *raw["plurals"]))
            if len(one.split()) == len(other.split()) == 1 and len(one.strip()) >= MAN
        ),
        _agreement=tuple(
            (ending, one[0])
            for one, others in map(_number_rule, raw.get("agreement", ()))
            for ending in sorted(others, key=len, reverse=True)
        ),
        _contracted={
            fold(word): fold(base) for base, words in raw.get("contracted", {}).items() for word in words
        },
        _verbs={
            fold(form): fold(verb) for verb, forms in raw.get("irregular_verbs", {}).items() for form in forms
        },
        _endings=tuple(raw.get("folded_endings", {}).items()),
    )
