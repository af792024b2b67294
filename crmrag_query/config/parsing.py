"""`parsing.yaml`: how the words of a question become a plan."""

from __future__ import annotations

from pydantic import Field

from crmrag_query.config.reading import Record
from crmrag_query.config.types import CategoryName

Words = tuple[str, ...]


class PlanWords(Record):
    """Phrases of one language by what they do in a question; a star ends a word of any ending."""

    of: Words = ()
    possessive: Words = ()
    negation: Words = ()
    exclusion: Words = ()
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


class ParsingPart(Record):
    """`dates`: relations (ids) that a bare period is of, by category; `vague`: labels of Fundamental Relationships that say
    too little to be meant by a question; `said_only`: relations that are never guessed; `inside`, `outside`: relations that put one
    thing in another, from the inner and from the outer end; `happenings`: relations that tell of a happening, by the id of its kind; `languages`:
    phrases by language."""

    dates: dict[CategoryName, Words]
    vague: Words
    said_only: Words = ()
    inside: Words = ()
    outside: Words = ()
    happenings: dict[str, Words] = Field(default_factory=dict)
    languages: dict[str, PlanWords] = Field(default_factory=dict)
