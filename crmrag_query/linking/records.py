"""What entity linking finds in a question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

How = Literal["label", "alternative", "identifier", "partial", "similar"]


@dataclass(frozen=True, slots=True)
class LinkedEntity:
    """An entity that a mention may mean: its node, a score (0..1], the name that matched and how it did.

    ``label``: its whole name; ``alternative``: another whole name of it; ``identifier``; ``partial``: a part of a name;
    ``similar``: a name spelt a little differently.
    """

    entity: int
    score: float
    name: str
    how: How


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of a question that names something: its tokens ``first`` to before ``last``, and what it may mean.

    ``entities``: best first, ties by node; several for an ambiguous name.
    """

    first: int
    last: int
    text: str
    entities: tuple[LinkedEntity, ...]
