"""Names in other languages than the data's: "Londres" is what the data calls "London", "Silber" its "silver".

The table (`config/words/names.yaml`) holds names of places, peoples and materials, of gods, saints and rulers, and of what
pictures show, in six languages, independent of any data.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from crmrag_query.artifacts.release import Release
from crmrag_query.language import language
from crmrag_query.linking import LinkedEntity, Mention, NameIndex, link, plain_words, stop_words
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.world import World
from crmrag_query.reading.lexicon import Phrase, words_table
from crmrag_query.text import fold, tokenize

LONGEST = 5  # words of a name
ALIKE = 50  # entities of one name that are looked at
FIT = {
    "places": int(Category.Place) | int(Category.Concept),
    "cultures": int(Category.Concept) | int(Category.Actor),
    "materials": int(Category.Concept) | int(Category.Thing),
    "figures": int(Category.Actor) | int(Category.Concept) | int(Category.Thing),
    "motifs": int(Category.Concept) | int(Category.Thing),
}
"""What an entity of a section of the table may be."""


@dataclass(frozen=True)
class Entry:
    """One thing of the table: its section and its names by language, "" for further ones; ``home``: of a people its place."""

    section: str
    names: Mapping[str, tuple[str, ...]]
    home: str = ""


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """The table by id, sections apart."""
    table, found = words_table("names"), dict[str, Entry]()
    homes = table["homes"]
    for section in FIT:
        for id, cells in table[section].items():
            split = [
                tuple(name.strip() for name in cell.split(",") if name.strip()) for cell in cells.split("|")
            ]
            names = dict(zip((*table["languages"], ""), split, strict=False))
            names |= {code: names[code] or split[0] for code in table["languages"]}
            found[f"{section}/{id}"] = Entry(
                section, names, f"places/{homes[id]}" if section == "cultures" and id in homes else ""
            )
    return found


@lru_cache(maxsize=8)
def phrases(code: str) -> Mapping[Phrase, tuple[str, ...]]:
    """Ids of the entries by a name in a language, as stems."""
    own, found = language(code), dict[Phrase, list[str]]()
    for id, entry in entries().items():
        for name in entry.names.get(code, ()):
            stems = tuple(own.stem(word) for word in tokenize(name))
            if stems:
                found.setdefault(stems, []).append(id)
    return {stems: tuple(ids) for stems, ids in found.items()}


@dataclass
class Exonyms:
    """What one data set has of the table, looked up when it is first named."""

    release: Release
    _known: dict[str, tuple[LinkedEntity, ...]] = field(default_factory=dict)

    @classmethod
    def from_release(cls, release: Release) -> Exonyms:
        return cls(release)

    @cached_property
    def _asked_only(self) -> Mapping[str, frozenset[str]]:
        return {
            code: frozenset(map(fold, words)) for code, words in words_table("names")["asked_only"].items()
        }

    def mentions(self, words: Sequence[str], code: str, known: Sequence[Mention]) -> Iterator[Mention]:
        """Names of the table in a question that no whole name of the data says already."""
        own, table = language(code), phrases(code)
        stems = [own.stem(word) for word in words]
        whole = {
            at
            for one in known
            if one.entities and one.entities[0].how in WHOLE
            for at in range(one.first, one.last)
        }
        for first in range(len(words)):
            for last in range(min(len(words), first + LONGEST), first, -1):
                ids = table.get(tuple(stems[first:last]))
                if not ids or whole.issuperset(range(first, last)):
                    continue
                found = {one.entity: one for id in ids for one in self.of(id)}
                if found:
                    yield Mention(first, last, " ".join(words[first:last]), tuple(found.values()))
                break

    def called(self, words: Sequence[str], code: str) -> tuple[str, ...]:
        """All names in the table of what some words name, but those that are mostly something else; none for none."""
        ids = phrases(code).get(tuple(map(language(code).stem, words)), ())
        names = (
            name
            for id in ids
            for known, some in entries()[id].names.items()
            for name in some
            if fold(name) not in self._asked_only.get(known, ())
        )
        return tuple(dict.fromkeys(names))

    def of(self, id: str) -> tuple[LinkedEntity, ...]:
        """What the data has of an entry; of a people that it has not, its place."""
        if id not in self._known:
            entry = entries()[id]
            found = tuple(self._named(entry))
            if entry.home and not found:
                found = self.of(entry.home)
            self._known[id] = found
        return self._known[id]

    def _named(self, entry: Entry) -> Iterator[LinkedEntity]:
        method, index = self.release.method, self.release[NameIndex]
        stop, plain = stop_words(method.questions), plain_words(method.questions)
        categories = self.release[World].adjacency.categories
        whole: dict[int, LinkedEntity] = {}
        parts: dict[int, LinkedEntity] = {}
        for code, names in entry.names.items():
            for name in names:
                if fold(name) in self._asked_only.get(code, ()):
                    continue
                tokens = tokenize(name)
                for mention in link(index, tokens, stop, plain):
                    if mention.last - mention.first < len(tokens):
                        continue
                    for one in mention.homonyms[:ALIKE]:
                        if int(categories[one.entity]) & FIT[entry.section]:
                            (whole if one.how in WHOLE else parts).setdefault(one.entity, one)
        return iter((whole or parts).values())


WHOLE = frozenset({"label", "alternative", "identifier"})
