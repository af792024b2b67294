"""Whole sets as answers: limits of what is shown of them, the words that they are told in, and what counts as the same."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field, model_validator

from crmrag_query.config.reading import Count, Pattern, Properties, Record


def _with_id(pattern: str) -> str:
    if "id" not in re.compile(pattern).groupindex:
        raise ValueError("the part that tells entries apart must be named: (?P<id>…)")
    return pattern


class PlansConfig(Record):
    """Which entities plans take for the same.

    `same_properties`: properties between them; `same_iris`: IRIs of authorities, one of which both share.
    """

    same_properties: Properties = (
        "http://www.w3.org/2002/07/owl#sameAs",
        "http://www.w3.org/2004/02/skos/core#exactMatch",
        "http://schema.org/sameAs",
        "https://schema.org/sameAs",
    )
    same_iris: tuple[Annotated[Pattern, AfterValidator(_with_id)], ...] = (
        r"https?://vocab\.getty\.edu/(page/)?ulan/(?P<id>\d+)",
        r"https?://(www\.)?wikidata\.org/(entity|wiki)/(?P<id>Q\d+)",
    )


NotNegativeCount = Annotated[int, Field(ge=0)]
WayNames = tuple[str, ...]
"""Ids of relations or Fundamental Relationships; those that a method does not know lead nowhere."""


class SetLimits(Record):
    """How much of a set is shown or looked at.

    `page`: members of a page where none is asked for; `named`: members, groups or rows that the prose names; `left_out`:
    excluded members shown beside their count; `name_characters`: of a name in prose; `stated_in`: members of the largest set
    whose named graphs are counted; `sorted`: of the largest one that is sorted by label in its language, numbers within
    labels by their value; `marks`: members that a map and a line of time are given at once.
    """

    page: Count
    named: Count
    left_out: NotNegativeCount
    name_characters: Annotated[int, Field(ge=10)]
    stated_in: NotNegativeCount
    sorted: NotNegativeCount
    marks: Count


class FacetConfig(Record):
    """Facets: `largest`, members of the largest set that they are counted for, `members` of that of relationships;
    `values` shown of each; `relationships` at most, those that most members have, none with a label of `hidden`; ways to
    places, makers, owners and dates by the Fundamental Category of the members."""

    largest: Count
    members: NotNegativeCount
    values: Count
    relationships: NotNegativeCount
    hidden: tuple[str, ...]
    place: dict[str, WayNames]
    maker: dict[str, WayNames]
    owner: dict[str, WayNames]
    century: dict[str, WayNames]


class ColumnConfig(Record):
    """Columns that a set can have besides names, dates and types: `order`, relations that come first, of which the `first`
    that tell members apart are chosen by themselves, those that at least a `share` of the members has; `members` that are
    looked at for this; `hidden`: relations that are no columns."""

    members: Count
    first: NotNegativeCount
    share: Annotated[float, Field(ge=0, le=1)]
    order: WayNames
    hidden: WayNames


class Counted(Record):
    """A sentence by the number that it tells: none, one, or more; `{n}` is the number."""

    none: str = ""
    one: str
    many: str

    def of(self, number: int) -> str:
        """The sentence for this number."""
        return self.none if number == 0 and self.none else self.one if number == 1 else self.many


class SetWords(Record):
    """Words of one language for sets.

    In sentences `{what}` is the plan in words, `{n}` a number of the set, `{first}` the first few of it. The prose has
    `size`, or `one` for a list of one, `shown` or `all_shown` (members), `part` (what it was looked for among), `some`,
    `nothing`, `tied`, `with_ties` (a ranking of more than were asked for), `groups`, `rows`, `common`, `more`, `excluded` by
    reason, `distinct`, `not_exhaustive`, `unknown`, `mentioned`; all others are words of chips: `not_` negates one, `missing`
    is a relation that is not stated at all, `stated` a `{way}` and what it leads to. Releases that were made before a word
    was said have its default.
    """

    size: Counted
    one: str = ""
    shown: str
    all_shown: str
    some: Counted
    nothing: str
    part: str = ""
    tied: str
    with_ties: str = ""
    groups: Counted
    rows: Counted
    common: Counted
    more: Counted
    excluded: dict[str, Counted]
    excluded_other: Counted
    distinct: str
    not_exhaustive: str
    unknown: str
    absent: str
    not_told: str
    perhaps: str = "This may be what is meant. {what}"
    meant: str
    nowhere: str
    taught: str = "Read as {who} taught it on {when}."
    entities: str
    categories: dict[str, str]
    objects: str = ""
    not_: str
    or_: str
    any_: str
    any_kind: str = ""
    missing: str
    stated: str = "{way}: {what}"
    dated: str
    possibly: str
    begins: str
    ends: str
    contains: str
    name: str
    among: Counted
    same: str
    stated_in: str
    read: str
    number_of: str
    earliest: str
    latest: str
    highest: str
    lowest: str
    most: str = ""
    fewest: str = ""
    first: Counted
    grouped: str
    at_least: Counted
    table: str
    pairs: str
    compared: str
    periods: dict[str, str]
    facets: dict[str, str]
    century: str
    century_before: str
    ordinals: dict[str, str] = Field(default_factory=dict)
    """Endings of numbers in `century` by their last digit; "" for all others."""
    prepositions: tuple[str, ...] = ()
    """Last words of a relation after which prose needs no colon: created *by* X."""
    mentioned: str = ""
    """Of words that were found in texts only."""


class Claims(Record):
    """How a text of one language claims a size; expressions on text in small letters without accents.

    `before` a number and `after` it; `nouns`: what may be counted; `sample`: before or after a number that is only a part of
    the set (the first three, three examples); `dates`: before a number that is a year; `none`: claims that there is nothing.
    """

    before: tuple[Pattern, ...]
    after: tuple[Pattern, ...]
    nouns: tuple[Pattern, ...]
    sample_before: tuple[Pattern, ...]
    sample_after: tuple[Pattern, ...]
    dates: tuple[Pattern, ...]
    none: tuple[Pattern, ...]


class AnswerWords(Record):
    """The words by which an answer's text is checked.

    `noun_capitals`: languages that write all nouns with a capital; `numbers`: words that are numbers; `common`: words that
    begin a sentence with a capital and are no names; `joints`: small words within a name; `titles`: words that a name may
    have or lack; `refusals`: expressions, on folded text, of an honest "the data does not say"; `talk`: of a sentence to the
    reader that tells nothing; `planted`: of text in the data that speaks to a language model.
    """

    noun_capitals: tuple[str, ...]
    abbreviations: tuple[str, ...]
    numbers: dict[str, Annotated[int, Field(ge=0)]]
    common: tuple[str, ...]
    joints: tuple[str, ...]
    titles: tuple[str, ...]
    refusals: dict[str, tuple[Pattern, ...]]
    talk: dict[str, tuple[Pattern, ...]] = Field(default_factory=dict)
    planted: tuple[Pattern, ...]


class SetsPart(Record):
    """`sets.yaml`: whole sets as answers, and the words of answers."""

    limits: SetLimits
    facets: FacetConfig
    columns: ColumnConfig
    languages: dict[str, SetWords]
    claims: dict[str, Claims]
    answers: AnswerWords

    @model_validator(mode="after")
    def _english(self) -> SetsPart:
        if "en" not in self.languages or "en" not in self.claims:
            raise ValueError("English has no words here, which stand in for languages that have none")
        return self

    def words(self, language: str) -> SetWords:
        """The words of a language, English where there are none."""
        return self.languages.get(language) or self.languages["en"]
