"""What `crmrag diff` finds, as plain records."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two releases; ``built`` as its provenance tells, "" without one."""

    dataset: str
    release: str
    built: str


@dataclass(frozen=True, slots=True)
class Count:
    """A number that changed; 0 where there was none."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class Setting:
    """Something in the configuration that changed, its values as JSON; "" where there was none."""

    name: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document by its entity; ``diff``: lines of a unified diff of its text where asked for."""

    iri: str
    label: str
    diff: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Documents:
    """How many documents came, went, read otherwise and read alike; the first of each in the order of their IRIs."""

    came: int
    went: int
    rewritten: int
    same: int
    first_came: tuple[Document, ...]
    first_went: tuple[Document, ...]
    first_rewritten: tuple[Document, ...]


@dataclass(frozen=True, slots=True)
class Files:
    """Files of an artifact, by its folder in the release: byte for byte the same, other, new, gone."""

    artifact: str
    same: int
    changed: int
    came: int
    went: int


@dataclass(frozen=True, slots=True)
class Difference:
    """All that is other; ``counts``, ``classes``, ``categories``, ``settings`` hold only what changed."""

    before: Side
    after: Side
    counts: tuple[Count, ...]
    classes: tuple[Count, ...]
    categories: tuple[Count, ...]
    settings: tuple[Setting, ...]
    encoder: tuple[Setting, ...]
    documents: Documents
    files: tuple[Files, ...]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)
