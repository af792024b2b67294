"""`exonyms.yaml`: places, peoples, styles and materials as several languages call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import StringConstraints, model_validator

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Count

Word = Annotated[str, StringConstraints(pattern=r"\w")]
Cells = Annotated[str, StringConstraints(pattern=r"^[^|]*\w[^|]*(\|[^|]*\w[^|]*)*$")]
"""Names of one thing, ``name, name | name | …``: a cell for each language, then one for further languages."""
Ending = Annotated[str, StringConstraints(pattern=r"^[^\s:]+:( \S+)+$")]
"""What a listed name ends in: what may stand in place of that; ``-`` for nothing."""


class ExonymsPart(Record):
    """`exonyms.yaml`; its lists are told there.

    ``capitals``: words that are names only with a capital; ``asked_only``: words that the data is not searched for;
    ``homes``: the place of a culture.
    """

    longest_name: Count
    endings: dict[str, tuple[Ending, ...]]
    capitals: dict[str, tuple[Word, ...]]
    asked_only: dict[str, tuple[Word, ...]]
    languages: tuple[str, ...]
    places: dict[str, Cells]
    cultures: dict[str, Cells]
    homes: dict[str, str]
    materials: dict[str, Cells]

    @model_validator(mode="after")
    def _whole(self) -> ExonymsPart:
        for culture, place in self.homes.items():
            if culture not in self.cultures or place not in self.places:
                raise ValueError(f"homes: {culture} of {place}: no such culture, or no such place")
        for listed in (self.places, self.cultures, self.materials):
            for id, cells in listed.items():
                count = cells.count("|") + 1
                if not len(self.languages) <= count <= len(self.languages) + 1:
                    raise ValueError(f"{id} has {count} cells, for {len(self.languages)} languages")
        return self

    def names(self, cells: str) -> Mapping[str, tuple[str, ...]]:
        """Names by language, those of further languages by ""."""
        split = [tuple(name.strip() for name in cell.split(",")) for cell in cells.split("|")]
        return dict(zip((*self.languages, ""), split, strict=False))
