"""`exonyms.yaml`: places, peoples, styles and materials as several languages call them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, model_validator

from crmrag_query.config.reading import Record
from crmrag_query.config.types import Count

Name = Annotated[str, StringConstraints(pattern=r"\w")]
Names = Annotated[dict[str, Annotated[tuple[Name, ...], Field(min_length=1)]], Field(min_length=1)]
"""Names by language."""
Ending = Annotated[str, StringConstraints(pattern=r"^[^\s:]+:( \S+)+$")]
"""What a listed name ends in: what may stand in place of that; ``-`` for nothing."""


class Culture(Record):
    """A people, culture or style; ``place``: id of the place that it is of."""

    names: Names
    place: str = ""


class ExonymsPart(Record):
    """`exonyms.yaml`; its lists are told there.

    ``capitals``: words that are names only with a capital; ``asked_only``: words that the data is not searched for.
    """

    longest_name: Count
    endings: dict[str, tuple[Ending, ...]]
    capitals: dict[str, tuple[Name, ...]]
    asked_only: dict[str, tuple[Name, ...]]
    places: dict[str, Names]
    cultures: dict[str, Culture]
    materials: dict[str, Names]

    @model_validator(mode="after")
    def _known(self) -> ExonymsPart:
        for id, culture in self.cultures.items():
            if culture.place and culture.place not in self.places:
                raise ValueError(f"{id} is of {culture.place!r}, which is no place")
        return self
