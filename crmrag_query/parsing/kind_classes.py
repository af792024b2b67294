"""The classes that occur in a data set: their names in several languages, and how many entities have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from crmrag_query.graph.arrays import FLAG_ENTITY
from crmrag_query.parsing.kind_words import Lexicon, Phrasebook
from crmrag_query.plans.world import World
from crmrag_query.text import tokenize

_CODED = re.compile(r"^[A-Za-z]+\d+(?:_E\d+)?[a-z]?[._]")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@dataclass(frozen=True)
class DataClasses:
    """Classes that something has; ``stated``: how often each is, by number; ``names``: names in all languages -> numbers."""

    world: World
    stated: tuple[int, ...]
    names: Phrasebook[int]
    _counted: dict[tuple[int, ...], int] = field(default_factory=dict)

    @classmethod
    def of(cls, world: World, lexicon: Lexicon) -> DataClasses:
        graph = world.graph
        _, val = graph.type_rows
        stated = tuple(np.bincount(val, minlength=len(graph.class_codes)).tolist())
        names: Phrasebook[int] = Phrasebook(lexicon.part.longest_name)
        for number, count in enumerate(stated):
            if count:
                told = [graph.class_label(number, language) for language in ("", *lexicon.languages)]
                told.append(_local(graph.class_iri(number)))
                for words in dict.fromkeys(tuple(tokenize(name)) for name in told):
                    names.add(words, number)
        return cls(world, stated, names)

    def name(self, number: int) -> str:
        """The class's code, or its IRI outside the CRM family."""
        return self.world.graph.class_code(number) or self.world.graph.class_iri(number)

    def occurring(self, classes: Iterable[str], less: Iterable[str]) -> tuple[int, ...]:
        """Numbers of those classes and the ones below them that occur, without those of ``less`` and below."""
        unwanted = self._below(less)
        return tuple(sorted(self._below(classes) - unwanted))

    def _below(self, classes: Iterable[str]) -> set[int]:
        codes: set[str] = set()
        for code in classes:
            codes |= {
                code,
                *(self.world.ontology.subclasses(code) if code in self.world.ontology.classes else ()),
            }
        return {
            n
            for n, count in enumerate(self.stated)
            if count and {self.name(n), self.world.graph.class_iri(n)} & codes
        }

    def told(self, numbers: Iterable[int]) -> tuple[str, ...]:
        """Codes or IRIs of classes, without those that another one has above it: a target counts sub-classes itself."""
        names = list(dict.fromkeys(map(self.name, numbers)))
        above = {
            one: self.world.ontology.superclasses(one) for one in names if one in self.world.ontology.classes
        }
        return tuple(one for one in names if not set(above.get(one, ())) & set(names))

    def mask(self, numbers: Iterable[int]) -> int:
        """Categories of the classes."""
        codes = [code for code in map(self.world.graph.class_code, numbers) if code]
        return int(self.world.categories.all_of(codes))

    def count(self, numbers: tuple[int, ...]) -> int:
        """How many entities have one of the classes."""
        if numbers not in self._counted:
            ptr, val = self.world.graph.type_rows
            wanted = np.zeros(len(self.stated), np.int64)
            wanted[list(numbers)] = 1
            total = np.concatenate([[0], np.cumsum(wanted[val])])
            self._counted[numbers] = int(
                np.count_nonzero((total[ptr[1:]] > total[ptr[:-1]]) & self.world.entities)
            )
        return self._counted[numbers]

    def of_category(self, mask: int) -> int:
        """How many entities are of any of the categories."""
        flags, categories = self.world.graph.flags, self.world.adjacency.categories
        return int(np.count_nonzero(((flags & FLAG_ENTITY) != 0) & ((categories & mask) != 0)))


def _local(iri: str) -> str:
    """The words of an IRI's last part: ``E22_Man-Made_Object`` gives Man Made Object, ``DigitalService`` Digital Service."""
    last = re.split(r"[#/:]", iri.rstrip("#/"))[-1]
    return _HUMP.sub(" ", _CODED.sub("", last)).replace("_", " ")
