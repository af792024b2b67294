"""`parsing.yaml`: how the words of a question become a plan; `exonyms.yaml`: places, peoples, styles and materials as several
languages call them; `kinds.yaml`: how questions name kinds of things, and how words are inflected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from crmrag_query.config.reading import CategoryName, Codes, Count, NotNegative, Record, Share

Words = tuple[str, ...]
Unit = Literal["year", "decade", "century"]


class PlanWords(Record):
    """Phrases of one language by what they do in a question; a star ends a word of any ending."""

    universal: Words = ()
    jointly: Words = ()
    nor: Words = ()
    currently: Words = ()
    restricting: Words = ()
    counts: Words = ()
    exactly: Words = ()
    at_most: Words = ()
    under: Words = ()
    measured: Words = ()
    of: Words = ()
    possessive: Words = ()
    negation: Words = ()
    exclusion: Words = ()
    others: Words = ()
    either: Words = ()
    both: Words = ()
    titles: Words = ()
    judging: Words = ()
    naming: Words = ()
    containing: Words = ()
    word: Words = ()
    group: Words = ()
    split: Words = ()
    breakdown: Words = ()
    least: Words = ()
    over: Words = ()
    or_more: Words = ()
    only: Words = ()
    count: Words = ()
    times: Words = ()
    earliest: Words = ()
    latest: Words = ()
    most: Words = ()
    fewest: Words = ()
    highest: Words = ()
    lowest: Words = ()
    before: Words = ()
    after: Words = ()
    same: Words = ()
    pairs: Words = ()
    generic: Words = ()
    every: Words = ()
    own: Words = ()
    information: Words = ()
    unknown: Words = ()
    whose: Words = ()
    rest: Words = ()
    sorting: Words = ()
    begins: Words = ()
    ends: Words = ()
    entirely: Words = ()
    possibly: Words = ()
    filler: Words = ()


class LanguageWords(PlanWords):
    """The phrases of one language, and single words: ``units`` of time, ``pronouns`` for anything at all, ``ones`` that count
    as 1 after "more than"."""

    units: dict[Unit, Words] = Field(default_factory=dict)
    pronouns: Words = ()
    ones: Words = ()


class Scores(Record):
    """How sure an understanding is, 0 to 1; the score of a plan is the product over its parts. All told in the file."""

    explicit: Share = 1.0
    loose: Share = 0.95
    near: Share = 0.85
    guessed: Share = 0.9
    nested: Share = 0.8
    mixed: Share = 0.78
    side: Share = 0.75
    partial: Share = 0.95
    ambiguous: Share = 0.75
    unsure: Share = 0.6
    lost: Share = 0.6
    words: Share = 0.5
    sure: Share = 0.8


class Weights(Record):
    """What one word of a reading weighs where a question is cut into pieces; ``longer``: added for each further word of a
    reading. All told in the file."""

    unknown: NotNegative = 0.05
    grammar: NotNegative = 0.5
    phrase: NotNegative = 0.95
    kind: NotNegative = 0.85
    relation: NotNegative = 0.9
    name: NotNegative = 1.0
    plain_name: NotNegative = 0.7
    weak_name: NotNegative = 0.45
    period: NotNegative = 1.2
    quoted: NotNegative = 2.0
    longer: NotNegative = 0.1


class Limits(Record):
    """How many of something are tried or count; all told in the file."""

    meanings: Count = 4
    tries: Count = 96
    namesakes: Count = 1000
    name_words: Count = 10
    names_apart: Count = 3
    verb_letters: Count = 4
    many: Count = 10
    mostly: Share = 0.9
    things: Count = 12
    ties: Count = 24
    rivals: Count = 2
    digits: Count = 6
    several: Count = 3
    place_letters: Count = 3
    unit_letters: Count = 4
    house: Share = 0.95


class ParsingPart(Record):
    """`dates`: relations (ids) that a bare period is of, by category; `places`: those to the places that things are split by
    where no word says which; `vague`: labels of Fundamental Relationships that say too little to be meant by a question;
    `said_only`: relations that are never guessed; `inside`, `outside`: relations that put one thing in another, from the
    inner and from the outer end; `having`: by which an institution has things; `matter`: what things are made of;
    `happenings`: relations that tell of a happening, by the id of its kind; `statements`: classes of texts that say something
    of a thing and are no name of one; `languages`: phrases by language."""

    dates: dict[CategoryName, Words]
    places: dict[CategoryName, Words]
    vague: Words
    said_only: Words = ()
    inside: Words = ()
    outside: Words = ()
    having: Words = ()
    matter: Words = ()
    happenings: dict[str, Words] = Field(default_factory=dict)
    statements: Codes = ("E33",)
    scores: Scores = Scores()
    weights: Weights = Weights()
    limits: Limits = Limits()
    languages: dict[str, LanguageWords] = Field(default_factory=dict)


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


Paradigm = Annotated[str, StringConstraints(pattern=r"^[^/]*\S[^/]*/[^/]*\S[^/]*$")]
"""Endings of the singular / endings of the plural, ``-`` for none."""
Aat = Annotated[str, StringConstraints(pattern=r"^300\d{6}$")]
"""Identifier of a concept of the Getty Art & Architecture Thesaurus."""
SingularWord = Annotated[str, StringConstraints(pattern=r"^[^/]*[^\s/][^/]*(/[^/]*[^\s/][^/]*)?$")]
"""A word or phrase in the singular, or ``child / children``."""


class KindEntry(Record):
    """A kind: its words by language, and what stands for it in data.

    ``implies``: categories of its entities. ``generic``: it is one of the classes (without those of ``less``), not a type;
    ``any``: where none of them occurs, it is whatever is of ``implies``. ``aat``: concepts that are the kind; without any, a
    generic kind is no type. ``role`` maker: only who made something is one. ``makes``: kind of what one made. ``like``: kinds
    that are meant where the data has none of this one.
    """

    implies: tuple[CategoryName, ...] = Field(min_length=1)
    words: dict[str, tuple[SingularWord, ...]] = Field(min_length=1)
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
