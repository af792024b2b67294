"""Names in other languages than the data's: "Londres" is linked to what the data calls "London", "Silber" to its "silver".

Words that are a name of the table (config/exonyms.yaml) and that the linker did not find whole are linked by the other names
of the same thing. An adjective of a people leads to what the data has of the people first (a nationality, a group), then, as
a less sure ("similar") meaning, to its place. Where the data has none of the names whole, what is called by a part of one
stands, as it would for that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from crmrag_query.graph.graph import Graph
from crmrag_query.linking import (
    PRIOR,
    How,
    LinkedEntity,
    Mention,
    NameIndex,
    bag_hash,
    latin,
    latin_stop,
    link,
    plain_words,
    sound,
    stop_words,
    words_at,
    words_of,
)
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.exonym_table import Entry, ExonymTable, Hit, Sort
from crmrag_query.parsing.kind_words import named
from crmrag_query.parsing.pieces import WHOLE
from crmrag_query.questions.lexicon import Language
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize

if TYPE_CHECKING:
    from crmrag_query.artifacts.release import Release

ALIKE = 50  # entities of one name that are looked at; ours
PERSON, STATEMENT = "E21", "E33"
FIT: dict[Sort, int] = {
    "place": int(Category.Place) | int(Category.Concept),
    "culture": int(Category.Concept) | int(Category.Actor),
    "material": int(Category.Concept),
}


@dataclass(frozen=True, slots=True)
class _Found:
    """What the data has of an entry: ``name`` by which it was found first, and its entities; ``part``: found in part only."""

    name: str = ""
    entities: tuple[LinkedEntity, ...] = ()
    part: bool = False


@dataclass
class Exonyms:
    """The table and what a release has of its entries, each looked up when it is first named."""

    release: Release
    _known: dict[Entry, _Found] = field(default_factory=dict)

    @classmethod
    def from_release(cls, release: Release) -> Exonyms:
        return cls(release)

    @cached_property
    def table(self) -> ExonymTable:
        return ExonymTable.of(self.release.method.exonyms)

    def names(self, words: Sequence[str], language: str) -> tuple[str, ...]:
        """All names of what the words name, folded, the asked one included; none where the table does not have it."""
        hits = self.table.hits(words, language, [True] * len(words))
        entries = [one for hit in hits if (hit.first, hit.last) == (0, len(words)) for one in hit.entries]
        return tuple(dict.fromkeys(" ".join(name) for one in entries for name in one.names))

    def found(self, entries: Iterable[Entry]) -> _Found:
        """Of several entries of one name all that is found; whole names are no parts."""
        each = [self._of(entry) for entry in entries]
        whole = [one for one in each if one.entities and not one.part]
        if not whole:
            return max(each, key=lambda one: one.entities[0].score if one.entities else 0.0, default=_Found())
        entities = {one.entity: one for found in reversed(whole) for one in reversed(found.entities)}
        return _Found(whole[0].name, tuple(reversed(entities.values())))

    def _of(self, entry: Entry) -> _Found:
        if entry not in self._known:
            self._known[entry] = self._whole(entry) or self._stated(entry) or self._part(entry) or _Found()
        return self._known[entry]

    # in the data

    def _whole(self, entry: Entry) -> _Found | None:
        """By whole names, the people before its place."""
        found = list(self._named(entry, FIT[entry.sort]))
        if entry.place:
            place = self.table.places[entry.place]
            how: How = "similar" if found else "alternative"
            found += [(name, replace(one, how=how)) for name, one in self._named(place, FIT["place"])]
        if not found:
            return None
        return _Found(found[0][0], tuple({one.entity: one for _, one in reversed(found)}.values())[::-1])

    def _stated(self, entry: Entry) -> _Found | None:
        """By statements that say no more than the name: these are texts that hold it."""
        found = list(self._named(entry, 0)) if entry.sort != "place" else []
        entities = tuple(replace(one, how="partial") for _, one in found)
        return _Found(found[0][0], entities, part=True) if found else None

    def _named(self, entry: Entry, fitting: int) -> Iterator[tuple[str, LinkedEntity]]:
        for name in entry.names:
            for one in _called(self.release[NameIndex], name, self._stop):
                if self._fits(one.entity, fitting):
                    yield " ".join(name), one

    def _fits(self, node: int, fitting: int) -> bool:
        """Whether it is of the categories and no person; a statement for none."""
        graph = self.release[Graph]
        codes = {graph.class_code(int(number)) for number in graph.types(node)}
        if not fitting:
            return STATEMENT in codes
        return PERSON not in codes and bool(int(graph.adjacency.categories[node]) & fitting)

    def _part(self, entry: Entry) -> _Found | None:
        """By the name of which a part of some other is likest, as linking has it: "London, England"."""
        best: Mention | None = None
        plain = plain_words(self.release.method.questions)
        for name in entry.names:
            if any(self.release[NameIndex].number(word) is None for word in map(latin, name)):
                continue  # a word that no name has is in none as a part
            for one in link(self.release[NameIndex], name, self._stop, plain):
                covered = set(range(one.first, one.last))
                if all(i in covered or word in self._stop for i, word in enumerate(name)):
                    one = replace(one, text=" ".join(name), entities=tuple(self._likely(entry, one)))
                    if one.entities and (best is None or one.entities[0].score > best.entities[0].score):
                        best = one
        return _Found(best.text, best.entities, part=True) if best is not None else None

    def _likely(self, entry: Entry, mention: Mention) -> Iterator[LinkedEntity]:
        """Those that may be meant; for a material all, since texts hold it."""
        for one in mention.entities:
            if one.how == "partial" and (entry.sort == "material" or self._fits(one.entity, FIT[entry.sort])):
                yield one

    @cached_property
    def _stop(self) -> frozenset[str]:
        return self.release[NameIndex].stop | latin_stop(stop_words(self.release.method.questions))


def _called(index: NameIndex, name: Sequence[str], stop: frozenset[str]) -> Iterator[LinkedEntity]:
    """Entities whose name has just these words, in any order and without qualifiers, the best connected first."""
    words = [word for _, _, word in words_at(name)]
    content = {word for word in words if word not in stop} or set(words)
    shortest = index.spelling.shortest
    wanted = bag_hash([sound(word, shortest) for word in sorted(content)])
    for bag in index.bags_with(np.array([wanted], np.uint64)).tolist():
        for entity, text, kind, degree in index.entries(bag, ALIKE):
            label = index.text(text)
            if kind != "identifier" and content in (_content(label, stop), _content(named(label), stop)):
                yield LinkedEntity(entity, 1 - PRIOR + PRIOR * index.prior(degree), label, "alternative")


def _content(label: str, stop: frozenset[str]) -> set[str]:
    return {word for word in words_of(label) if word not in stop}


def with_exonyms(
    exonyms: Exonyms, mentions: Sequence[Mention], heard: Asked, language: Language, plain: Iterable[int] = ()
) -> list[Mention]:
    """The mentions with those of names in other languages, in the question's order.

    ``plain``: tokens that are words of the question, though they may be written with a capital. A whole name that the linker
    found stays; what it found within a name of the table in part only goes.
    """
    found = list(mentions)
    for one in added(exonyms, mentions, heard, language, plain):
        found = [other for other in found if not (one.first <= other.first and other.last <= one.last)]
        found.append(one)
    return sorted(found, key=lambda one: (one.first, one.last))


def added(
    exonyms: Exonyms, mentions: Sequence[Mention], heard: Asked, language: Language, plain: Iterable[int] = ()
) -> list[Mention]:
    """Mentions of names in other languages than the data's, none over another."""
    words = heard.words
    written = {i for chunk in heard.chunks if chunk.capital for i in range(chunk.first, chunk.last)}
    quoted = {i for chunk in heard.chunks if chunk.quoted for i in range(chunk.first, chunk.last)}
    spoken = language.code if any(word in language.signs for word in words) else ""  # else a guess
    hits = exonyms.table.hits(words, spoken, [i in written for i in range(len(words))])
    known = {i for hit in hits for i in range(hit.first, hit.last)} | set(plain) | set(heard.starts)
    known |= {i for one in mentions if _is_whole(one) for i in range(one.first, one.last)}
    names = (written & heard.named) - known  # words of some other name
    taken: set[int] = set()
    made: list[Mention] = []
    for hit in hits:
        inside = range(hit.first, hit.last)
        beside = {i for i in (hit.first - 1, hit.last) if max(i, hit.first) not in heard.starts}
        if (
            taken.intersection(inside)
            or quoted.intersection(inside)
            or (written.issuperset(inside) and names & beside)
        ):
            continue
        taken.update(inside)  # "New Mexico" is not Mexico, whether the data has it or not
        mention = _mention(exonyms, mentions, hit, words[hit.first : hit.last])
        if mention is not None:
            made.append(mention)
    return made


def _mention(exonyms: Exonyms, mentions: Sequence[Mention], hit: Hit, asked: Sequence[str]) -> Mention | None:
    """What the data has of a hit; None where the linker's own reading is better. ``asked``: its words."""
    over = [one for one in mentions if one.first < hit.last and hit.first < one.last]
    same = next((one for one in over if (one.first, one.last) == (hit.first, hit.last)), None)
    whole = [one for one in over if _is_whole(one)]
    if any(one.last - one.first >= hit.last - hit.first and one is not same for one in whole):
        return None
    if any(one is not same and _holds(one, hit, asked) for one in over):
        return None
    if same is not None and same in whole and _suits(exonyms, same, hit):
        return None
    found = exonyms.found(hit.entries)
    if not found.entities or (found.part and _is_better(over, found)):
        return None
    kept = same.entities if same is not None and same in whole else ()
    if found.part and kept:
        return None
    known = {one.entity for one in kept}
    entities = (*kept, *(one for one in found.entities if one.entity not in known))
    return Mention(hit.first, hit.last, found.name, entities)


def _holds(mention: Mention, hit: Hit, asked: Sequence[str]) -> bool:
    """Whether a longer name has the very words, so is in the question's language: "oil" of "oil on canvas".

    A mention without entities is a text, told by its words.
    """
    around = mention.first <= hit.first and hit.last <= mention.last
    names = [one.name for one in mention.entities] or [mention.text]
    return around and any(set(asked) <= set(tokenize(name)) for name in names)


def _suits(exonyms: Exonyms, mention: Mention, hit: Hit) -> bool:
    """Whether something that has the name is what the table says it is, no work or person that is called so."""
    return any(
        exonyms._fits(one.entity, FIT[entry.sort]) for one in mention.entities for entry in hit.entries
    )


def _is_better(mentions: Sequence[Mention], found: _Found) -> bool:
    """Whether what the linker found in part is as good."""
    return any(one.entities and one.entities[0].score >= found.entities[0].score for one in mentions)


def _is_whole(mention: Mention) -> bool:
    return bool(mention.entities) and mention.entities[0].how in WHOLE
