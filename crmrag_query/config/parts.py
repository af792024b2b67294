"""The parts of the method that have a file of their own."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated

from pydantic import Field, field_validator

from crmrag_query.config.reading import (
    FORMER_QUESTIONS,
    CategoryName,
    Codes,
    Count,
    Record,
    Share,
    default_folder,
    read_yaml,
)
from crmrag_query.config.relations import Path


class CategoriesPart(Record):
    """`categories.yaml`: classes of the Fundamental Categories, and which one counts of several."""

    priority: tuple[CategoryName, ...]
    classes: dict[CategoryName, Codes]
    also: dict[CategoryName, Codes] = Field(default_factory=dict)

    @field_validator("classes")
    @classmethod
    def _once(cls, classes: dict[CategoryName, Codes]) -> dict[CategoryName, Codes]:
        seen: dict[str, str] = {}
        for category, codes in classes.items():
            for code in codes:
                if code in seen:
                    raise ValueError(
                        f"{code} stands under {seen[code]} and {category}; further categories go under 'also'"
                    )
                seen[code] = category
        return classes


class EventsPart(Record):
    """`event_classes.yaml`: classes whose entities are events by themselves."""

    classes: Codes


class WeightsPart(Record):
    """`weights.yaml`: how strongly a property binds two entities."""

    default: Share
    properties: dict[str, Share]

    def of(self, code: str) -> float:
        """The weight of a property's code."""
        return self.properties.get(code, self.default)


class SatelliteLimits(Record):
    """How much of its satellites a document's text shows."""

    names: Count
    dimensions: Count
    times: Count
    types: Count


class SatellitesPart(Record):
    """`satellites.yaml`: classes whose entities are told in the documents of those that point at them.

    A class counts with its sub-classes. A satellite with more than `max_parents` parents, or with none,
    keeps a document of its own.
    """

    kinds: dict[str, Codes]
    limits: SatelliteLimits
    max_parents: Count


class PromptsPart(Record):
    """`prompts.yaml`: instructions for a language model; data never stands among them.

    `version` is raised with every change of what a model is told: recorded replies name that of their requests.
    `recorded`, `unrestricted`: sentences of a set, about what is not stated of all of a kind, and about words of the question
    that do not restrict it.
    """

    version: Annotated[int, Field(ge=1)] = 1
    answer: str
    specific: str = ""
    enumeration: str = ""
    aggregation: str = ""
    analyse: str = ""
    rewrite: str = ""
    plan: str = ""
    sparql: str = ""
    agent: str = ""
    map: str = ""
    walk: str = ""
    judge: str = ""
    community: str = ""
    recorded: str = ""
    unrestricted: str = ""


class LanguageLexicon(Record):
    """The words of an answer without a language model in one language."""

    counted: str
    found: str
    unknown: str
    listed: str
    more: str
    partial: str
    none: str


Words = tuple[str, ...]


class References(Record):
    """Words of one language that stand for what went before: `pronouns` of its file in `languages/`."""

    person: Words = ()
    place: Words = ()
    many: Words = ()
    thing: Words = ()
    own: Words = ()


class ConversationWords(Record):
    """`references` by language."""

    references: dict[str, References]


class ExtractiveConfig(Record):
    """How the lines of an answer without a language model are chosen."""

    ranked_lines: Count
    encoded_lines: Annotated[int, Field(ge=0)]
    rrf_k: Count
    document_weight: float
    mention_bonus: float
    cue_bonus: float
    expected_bonus: float
    type_mention: Share
    keep_ratio: Share
    specific_lines: Count
    listed_items: Count


class Cue(Record):
    """Words by language, and what they ask for: labels of relationships and codes of properties."""

    words: dict[str, tuple[str, ...]]
    labels: tuple[str, ...]
    properties: Codes


class QuestionLexicon(Record):
    """`questions.yaml`: the sentences of answers by language, cues, and how lines are chosen."""

    former = FORMER_QUESTIONS
    languages: dict[str, LanguageLexicon]
    cues: dict[str, Cue]
    extractive: ExtractiveConfig
    plain: dict[str, Words]
    """Words by language that are too usual to name anything by themselves as a part of a name."""

    @property
    def conversation(self) -> ConversationWords:
        """What stands for what went before, for the parser."""
        return _conversation()


@lru_cache(maxsize=1)
def _conversation() -> ConversationWords:
    references = {}
    for file in sorted((default_folder() / "languages").glob("*.yaml")):
        told = read_yaml(file)
        references[file.stem] = {
            kind: _said((*told["pronouns"].get(kind, ()), *(told["asking"].get(kind) or ())))
            for kind in References.model_fields
        }
    return ConversationWords.model_validate({"references": references})


def _said(words: Words) -> Words:
    out = {word[1:] for word in words if word.startswith("-")}
    return tuple(word for word in words if word[0] != "-" and word not in out)


class TranslationsPart(Record):
    """`translations.yaml`: labels of relationships in other languages, by the English label, then the language."""

    labels: dict[str, dict[str, str]]

    def of(self, label: str, language: str) -> str:
        """The label in the language, else as it is."""
        return self.labels.get(label, {}).get(language, label)


class RelationshipEntry(Record):
    """One Fundamental Relationship as it stands in its file; path id to steps.

    `told`: what a document says of it, words to the paths by which they are true; `{}`: nothing; not given: its label.
    """

    label: str
    domain: CategoryName
    range: CategoryName
    specialises: str = ""
    told: dict[str, tuple[Path, ...]] | None = None
    paths: dict[str, Path] = Field(min_length=1)


class RelationshipSet(Record):
    """`relationships/NAME.yaml`: Fundamental Relationships by id, in the order of the file."""

    title: str
    relationships: dict[str, RelationshipEntry] = Field(min_length=1)
