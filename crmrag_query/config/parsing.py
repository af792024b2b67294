"""`parsing.yaml`: how the words of a question become a plan."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crmrag_query.config.reading import Record
from crmrag_query.config.types import CategoryName, Codes, Count, NotNegative, Share

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
    """How sure an understanding is, 0 to 1; the score of a plan is the product over its parts. All ours, told in the file."""

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
    reading. All ours, told in the file."""

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
    """How many of something are tried or count; all ours, told in the file."""

    meanings: Count = 4
    tries: Count = 96
    namesakes: Count = 1000
    name_words: Count = 10
    names_apart: Count = 3
    verb_letters: Count = 4
    many: Count = 10
    mostly: Share = 0.9
    things: Count = 12
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
