"""Sentence forms: what is told of one entity without a language model, in the words of each language.

They are the product's own, as its grammar is: a release of any age is told in those that ship.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from pydantic import Field, model_validator

from crmrag_query.config.reading import CategoryName, Record, default_folder, read_part


class PortraitOrder(Record):
    """What is told of an entity of a category, by ids of relations in their order.

    `head`: clauses of its first sentence; `rest`: one by one after it; `inverse`: relations whose far end it is, such as the
    works of a maker; `last`: identifiers; `where`: those that say where it is.
    """

    head: tuple[str, ...] = ()
    rest: tuple[str, ...] = ()
    inverse: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    where: tuple[str, ...] = ()


class WhenForms(Record):
    """A date within a sentence: a `year`, a `day`, or anything else (`span`); `{v}` is the date."""

    year: str
    day: str
    span: str


class ThemeForms(Record):
    """What is told of a community: its `size` with kinds (`bare` without), its most `central` members, its `parts`, what
    these members have in common (`shared`), `places`, and the `period`; `{n}` is how many, `{v}` what is told. `largest`
    introduces the themes of a whole data set, `nearest` those of a question."""

    size: str
    bare: str
    central: str
    parts: str
    shared: str
    places: str
    period: str
    largest: str
    nearest: str


class SentenceForms(Record):
    """The forms of one language. `{x}` is the entity, `{v}` what is told, `{n}` how many.

    `clauses` by relation go on from the name of the entity; a relation that has none is told by its label (`labelled`).
    `typed`: the entity with what it is; `several`: of more values than are named; `alike`: several entities have one name;
    `not_recorded`: of `{what}` nothing is known for the entity, `recorded` introduces what is. `greetings` are no questions,
    and are answered by `greeting` and `examples`, one each for a thing, a person and a place; `why` asks for a reason, and
    `no_reason` says that there is none.
    """

    greetings: tuple[str, ...]
    why: tuple[str, ...]
    greeting: str
    no_reason: str
    examples: tuple[str, str, str]
    joint: str
    typed: str
    several: str
    labelled: str
    told: str = "{what}: {v}."
    quoted: str
    alike: str
    not_recorded: str
    recorded: str
    when: WhenForms
    themes: ThemeForms | None = None
    clauses: dict[str, str] = Field(default_factory=dict)
    inverse: dict[str, str] = Field(default_factory=dict)


class SentencesPart(Record):
    """`sentences.yaml`: portraits and sentence forms."""

    portraits: dict[CategoryName, PortraitOrder]
    languages: dict[str, SentenceForms]

    @model_validator(mode="after")
    def _english(self) -> SentencesPart:
        if "en" not in self.languages:
            raise ValueError("English has no forms here, which stand in for languages that have none")
        return self

    def forms(self, language: str) -> SentenceForms:
        """The forms of a language, English where there are none."""
        return self.languages.get(language) or self.languages["en"]


@lru_cache(maxsize=1)
def sentences() -> SentencesPart:
    """The sentence forms that ship. Raises ConfigError."""
    return read_part(SentencesPart, default_folder() / "sentences.yaml")


def quoted(words: Iterable[str], language: str) -> str:
    """Words, each in the quotation marks of a language."""
    marks = sentences().forms(language).quoted
    return ", ".join(marks.replace("{v}", word) for word in words)
