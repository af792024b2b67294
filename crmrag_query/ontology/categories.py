"""The six Fundamental Categories, and which of them a class belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntFlag
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from crmrag_query.config.loading import CategoriesPart
from crmrag_query.config.reading import part_file, read_part
from crmrag_query.ontology.load import Ontology, load_ontology


class Category(IntFlag):
    """The Fundamental Categories of TR-429 (Tzompanaki & Doerr 2012), and Time; a bit each."""

    Thing = 1
    Actor = 2
    Place = 4
    Event = 8
    Concept = 16
    Time = 32


def mostly(masks: NDArray[np.uint8]) -> int:
    """The categories that at least half of some entities have, as a mask; of each a mask of its own, uint8 [n]."""
    count = np.bincount(masks, minlength=1 << 8)
    have = {int(one): int(count[(_MASKS & int(one)) != 0].sum()) for one in Category}
    return sum(one for one, some in have.items() if len(masks) and 2 * some >= len(masks))


_MASKS = np.arange(1 << 8)


class CategoryMap:
    """Categories of classes: as listed, else those of the nearest listed superclass."""

    def __init__(self, part: CategoriesPart, ontology: Ontology) -> None:
        self._priority = tuple(Category[name] for name in part.priority)
        self._listed = {code: Category[name] for name, codes in part.classes.items() for code in codes}
        self._also = {code: Category[name] for name, codes in part.also.items() for code in codes}
        self._ontology = ontology
        self._main: dict[str, Category | None] = {}
        self._all: dict[str, Category] = {}

    def of(self, class_codes: Iterable[str]) -> Category | None:
        """The one category of an entity of these classes, by priority; None where no class has one."""
        found = {self._class(code) for code in class_codes}
        return next((category for category in self._priority if category in found), None)

    def all_of(self, class_codes: Iterable[str]) -> Category:
        """Every category that an entity of these classes may be asked for, as one bit mask (0 for none).

        A class in `also` has further categories: VIR's characters are Things, yet a question for saints
        means them, and a path that leads to Actors may end in one (facts: method, mistake 7).
        """
        mask = Category(0)
        for code in class_codes:
            mask |= self._every(code)
        return mask

    def _class(self, code: str) -> Category | None:
        """Of the nearest listed class, breadth first up the hierarchy; the priority decides between equally near ones."""
        if code not in self._main:
            self._main[code] = None
            level, seen = [code], {code}
            while level:
                found = {self._listed[at] for at in level if at in self._listed}
                if found:
                    self._main[code] = next(category for category in self._priority if category in found)
                    break
                classes = (self._ontology.classes[at] for at in level if at in self._ontology.classes)
                level = sorted({parent for term in classes for parent in term.parents} - seen)
                seen.update(level)
        return self._main[code]

    def _every(self, code: str) -> Category:
        if code not in self._all:
            lineage = (code, *(self._ontology.superclasses(code) if code in self._ontology.classes else ()))
            mask = self._class(code) or Category(0)
            for ancestor in lineage:
                mask |= self._also.get(ancestor, Category(0))
            self._all[code] = mask
        return self._all[code]


@lru_cache(maxsize=1)
def load_categories() -> CategoryMap:
    """The category map of the configuration in use."""
    return CategoryMap(read_part(CategoriesPart, part_file("categories.yaml")), load_ontology())
