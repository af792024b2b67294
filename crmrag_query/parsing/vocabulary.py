"""What the reader of a question must know of relations and entities: which categories they join."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from crmrag_query.config.relations import Relation
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category

MAKER = "created_by"
"""The relation by which a maker stands for works: "whom did Warhol portray", "Bildhauer"."""


def mask_of(names: Iterable[str]) -> int:
    return sum(int(Category[name]) for name in set(names))


@dataclass(frozen=True)
class Vocabulary:
    """Relations by id, and the mask of categories of a node of the data."""

    relations: Mapping[str, Relation]
    categories_of: Callable[[int], int]

    @cached_property
    def domains(self) -> dict[str, int]:
        return {id: mask_of(one.domain) for id, one in self.relations.items()}

    @cached_property
    def ranges(self) -> dict[str, int]:
        """Masks of the far ends; of dates Time, of texts and numbers 0: these are no entities."""
        return {
            id: int(Category.Time)
            if one.value == "date"
            else mask_of(one.range)
            if one.value == "entity"
            else 0
            for id, one in self.relations.items()
        }

    def far(self, ids: Iterable[str]) -> int:
        """The union of the far ends of relations."""
        found = 0
        for id in ids:
            found |= self.ranges[id]
        return found

    def end(self, ids: Sequence[str], inverse: bool) -> int:
        """What the first of the relations leads to; ``inverse``: what it is of. Of none 0, that may be anything."""
        return (self.domains if inverse else self.ranges)[ids[0]] if ids else 0

    def ordered(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Relations in the order of the lexicon, each once."""
        wanted = set(ids)
        return tuple(id for id in self.relations if id in wanted)

    def kin(self, ids: Iterable[str]) -> tuple[str, ...]:
        """Relations of the same happening: what *died on* says of a day, *died in* says of a place."""
        known = set(ids)
        stems = {id.split("_")[0] for id in known if "_" in id}
        return tuple(
            id for id in self.relations if id not in known and "_" in id and id.split("_")[0] in stems
        )

    def value(self, id: str) -> str:
        return self.relations[id].value

    def categories(self, mention: Mention) -> int:
        """The union of what it may mean."""
        found = 0
        for one in mention.entities:
            found |= self.categories_of(one.entity)
        return found

    def fits(self, id: str, near: int, far: int) -> tuple[bool, bool]:
        """Whether the relation may lead from a thing of categories ``near`` to one of ``far``, and from far to near.

        0 is unknown and fits any.
        """
        domain, range_ = self.domains[id], self.ranges[id]

        def meets(mask: int, end: int) -> bool:
            return not mask or bool(mask & end)

        entity = self.value(id) in ("entity", "date")
        return meets(near, domain) and entity and meets(far, range_), entity and meets(far, domain) and meets(
            near, range_
        )
