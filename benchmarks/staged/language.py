"""What a language file says, ready for reading: stems, small words by their role, numbers; and the words of the ontology."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import Stemmer
import yaml

from crmrag_query.config.loading import load_method
from crmrag_query.config.relations import RelationPhrases, Role
from crmrag_query.ontology.load import load_ontology
from crmrag_query.text import fold, tokenize

ROOT = Path(__file__).resolve().parent / "words"


class Phrases:
    """Phrases of folded words with a payload; "the?" in a phrase may be left out."""

    def __init__(self) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], str]]] = {}

    def add(self, text: str, payload: str) -> None:
        for words in _variants(text):
            if words:
                entry = (words, payload)
                known = self._by_first.setdefault(words[0], [])
                if entry not in known:
                    known.append(entry)

    def at(self, words: Sequence[str], start: int) -> Iterator[tuple[int, str]]:
        """(length, payload) of every phrase that begins at ``start``."""
        for phrase, payload in self._by_first.get(words[start], ()):
            if tuple(words[start : start + len(phrase)]) == phrase:
                yield len(phrase), payload


def _variants(text: str) -> Iterator[tuple[str, ...]]:
    if "?" not in text:
        yield tuple(tokenize(text))
        return
    yield tuple(tokenize(text.replace("?", "")))
    yield tuple(tokenize(re.sub(r"\S+\?", " ", text)))


@dataclass(frozen=True)
class Language:
    """One language: ``stop``: folded words that say nothing by themselves; ``phrases``: small words by "section.role"."""

    code: str
    raw: Mapping[str, Any]
    stemmer: Any
    stop: frozenset[str]
    phrases: Phrases
    roles: Mapping[str, frozenset[str]]
    numbers: Mapping[str, int]
    _stems: dict[str, str] = field(default_factory=dict)

    def stem(self, word: str) -> str:
        """The stem of a folded word."""
        found = self._stems.get(word)
        if found is None:
            if len(self._stems) > 200_000:
                self._stems.clear()
            found = self._stems[word] = self.stemmer.stemWord(word)
        return found

    def stems(self, text: str) -> frozenset[str]:
        """Stems of the words of a text that are no stop words."""
        return frozenset(self.stem(word) for word in tokenize(text) if word not in self.stop)


LANGUAGES = ("en", "fr", "de", "el", "it", "es")
SECTIONS = ("questions", "operators", "verbs", "prepositions", "dialogue")


@lru_cache(maxsize=16)
def language(code: str) -> Language:
    """The language of a code; raises FileNotFoundError for one without a file."""
    raw = yaml.load((ROOT / "languages" / f"{code}.yaml").read_text(), Loader=LOADER)
    phrases = Phrases()
    roles: dict[str, frozenset[str]] = {}
    for section in SECTIONS:
        for role, texts in raw[section].items():
            if isinstance(texts, dict):
                for inner, more in texts.items():
                    for text in more:
                        phrases.add(text, f"{section}.{role}.{inner}")
                continue
            for text in texts:
                phrases.add(text, f"{section}.{role}")
            roles[f"{section}.{role}"] = frozenset(fold(text) for text in texts)
    stop = frozenset(token for word in raw["stop"] for token in tokenize(word))
    numbers = {fold(str(word)): int(value) for word, value in raw["numbers"].items()}
    for group in ("person", "thing", "many", "own", "place", "this", "ones"):
        for text in raw["pronouns"][group]:
            phrases.add(text, f"pronouns.{group}")
    return Language(code, raw, Stemmer.Stemmer(raw["stemmer"]), stop, phrases, roles, numbers)


@dataclass(frozen=True)
class Vocabulary:
    """Words for ontology classes, properties and relations in one language, as sets of stems.

    ``classes``: code -> stems of nouns, verbs and agents; ``properties``: (code, forward) -> stems; ``relations``: (id,
    forward) -> stems of wordings; ``ends``: id -> stems of nouns for the far end.
    """

    classes: Mapping[str, frozenset[str]]
    properties: Mapping[tuple[str, bool], frozenset[str]]
    relations: Mapping[tuple[str, bool], frozenset[str]]
    ends: Mapping[str, frozenset[str]]


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = yaml.load((ROOT / "ontology.yaml").read_text(), Loader=LOADER)
    return table


LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # every word is a text: "no" and "on", too
OPEN = re.compile(r"\S*\?|[*]")  # what may be left out of a relation's phrase, and its open ends
MOST_PHRASES = 25  # of a relation in one role: the first are the most general ones


@lru_cache(maxsize=16)
def vocabulary(code: str) -> Vocabulary:
    """The ontology's words in a language: those of the table, of the ontology's labels, and of the relations' phrases."""
    own, table = language(code), _table()
    method = load_method()
    ontology = load_ontology()

    def stems(texts: Iterable[str]) -> frozenset[str]:
        return frozenset(stem for text in texts for stem in own.stems(text))

    def told(entry: Mapping[str, Sequence[str]], name: str) -> frozenset[str]:
        return stems(entry.get(name, ())) if code == "en" else frozenset()

    classes = {
        name: told(table["classes"].get(name, {}), "nouns")
        | told(table["classes"].get(name, {}), "verbs")
        | (
            stems([term.labels.get(code, "")])
            if name not in table["classes"] or code != "en"
            else frozenset()
        )
        for name, term in ontology.classes.items()
    }
    properties = {
        (name, forward): told(entry, "forward" if forward else "inverse")
        for name, entry in table["properties"].items()
        for forward in (True, False)
    }
    relations: dict[tuple[str, bool], frozenset[str]] = {}
    ends: dict[str, frozenset[str]] = {}
    for id, relation in method.relations.items():
        phrases = relation.phrases.get(code) or relation.phrases.get("en")

        def said(role: Role, phrases: RelationPhrases | None = phrases) -> frozenset[str]:
            texts = phrases.of(role)[:MOST_PHRASES] if phrases is not None else ()
            return stems(re.sub("/", " ", OPEN.sub("", text)) for text in texts)

        relations[id, True], relations[id, False] = said("forward"), said("backward")
        ends[id] = said("ends")
    return Vocabulary(classes, properties, relations, ends)


def local_words(iri: str) -> str:
    """The local name of an IRI, split into words."""
    last = re.split("[/#]", iri.rstrip("/#"))[-1]
    last = re.sub(r"^[A-Z]{1,2}\d+[a-z]?_", "", last)
    last = re.sub(r"([a-z])([A-Z])", r"\1 \2", last)
    return re.sub(r"[_\-.]+", " ", last)
