"""`kinds.yaml`: how questions name kinds of things, in several languages, and how words are inflected."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from crmrag_query.config.reading import Record
from crmrag_query.config.types import CategoryName, Count, Share

Paradigm = Annotated[str, StringConstraints(pattern=r"^[^/]*\S[^/]*/[^/]*\S[^/]*$")]
"""Endings of the singular / endings of the plural, ``-`` for none."""
Aat = Annotated[str, StringConstraints(pattern=r"^300\d{6}$")]
"""Identifier of a concept of the Getty Art & Architecture Thesaurus."""
Word = Annotated[str, StringConstraints(pattern=r"^[^/]*[^\s/][^/]*(/[^/]*[^\s/][^/]*)?$")]
"""A word or phrase in the singular, or ``child / children``."""


class KindEntry(Record):
    """A kind: its words by language, and what stands for it in data.

    ``implies``: categories of its entities. ``generic``: it is one of the classes (without those of ``less``), not a type;
    ``any``: where none of them occurs, it is whatever is of ``implies``. ``aat``: concepts that are the kind; without any, a
    generic kind is no type. ``role`` maker: only who made something is one. ``makes``: kind of what one made. ``like``: kinds
    that are meant where the data has none of this one.
    """

    implies: tuple[CategoryName, ...] = Field(min_length=1)
    words: dict[str, tuple[Word, ...]] = Field(min_length=1)
    generic: bool = False
    any: bool = False
    classes: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    aat: tuple[Aat, ...] = ()
    role: Literal["", "maker"] = ""
    makes: str = ""
    like: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _told(self) -> KindEntry:
        if self.generic and not self.classes:
            raise ValueError("a generic kind stands for classes: name them")
        if self.classes and not self.generic:
            raise ValueError("only a generic kind has classes")
        return self


class Women(Record):
    """Nouns for women alone: the ``endings`` of such nouns by language, and the ``kind`` that women are."""

    kind: str
    endings: dict[str, tuple[str, ...]]


class KindsPart(Record):
    """`kinds.yaml`; its limits are told there.

    ``inflections``: paradigms by language; ``heads``: whether a name's head is its last word, its first or either;
    ``compounds``: languages that write compounds as one word, head last; ``cuts``: words that end the part of a name that
    holds its head; ``joints``: words between parts of a name that have a head each; ``women``: nouns for women alone.
    """

    shortest_stem: Count
    longest_name: Count
    shortest_head: Count
    sampled_types: Count
    spoken_share: Share
    inflections: dict[str, tuple[Paradigm, ...]]
    heads: dict[str, Literal["first", "last", "either"]]
    compounds: tuple[str, ...]
    cuts: dict[str, tuple[str, ...]]
    joints: tuple[str, ...]
    women: Women
    kinds: dict[str, KindEntry]

    @model_validator(mode="after")
    def _known(self) -> KindsPart:
        for id, entry in self.kinds.items():
            named = (*entry.like, entry.makes) if entry.makes else entry.like
            for other in named:
                if other not in self.kinds or other == id:
                    raise ValueError(f"{id} names {other!r}, which is no other kind")
        if self.women.kind not in self.kinds:
            raise ValueError(f"women names {self.women.kind!r}, which is no kind")
        return self
