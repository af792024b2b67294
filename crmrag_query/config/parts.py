"""The parts of the method that have a file of their own, and the sentence forms, which ship with the product."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, field_validator, model_validator

from crmrag_query.config.reading import (
    FORMER_QUESTIONS,
    CategoryName,
    Codes,
    Count,
    Pattern,
    Record,
    Share,
    default_folder,
    read_part,
    read_yaml,
)


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


Value = Literal["entity", "date", "number", "text"]


def _steps(value: Any) -> Any:
    """The steps of a text; relationships were once written with a bar between them."""
    return [step for step in value.split() if step != "|"] if isinstance(value, str) else value


Step = Annotated[str, StringConstraints(pattern=r"^\^?[^\s^*]+\*?$")]
"""One step of a path; `crmrag_query.relationships.engine` tells how it is written."""
Path = Annotated[tuple[Step, ...], BeforeValidator(_steps), Field(min_length=1)]
"""Steps of a path; in the file between blanks: ``P108i P14``."""


class LiteralEnds(Record):
    """Steps after any of the relation's paths to the literals that a person reads, alternatives, the first is preferred.

    Of a date: where its span begins and ends. ``shown`` tells which of both is the date of a list, a table or an order: a
    birth's is its begin, a death's its end. Of what has a number or a text: ``value``; of a quantity also its ``unit``.
    """

    begin: tuple[Path, ...] = ()
    end: tuple[Path, ...] = ()
    value: tuple[Path, ...] = ()
    unit: tuple[Path, ...] = ()
    shown: Literal["begin", "end", "value"] = "value"


class Relation(Record):
    """One relation; ``labels`` read from the domain, ``inverse`` from the range, by language.

    ``paths`` of a date lead to the node that holds it (the time-span), those of a text or number to the node or literal.
    ``relationships`` are ids of Fundamental Relationships that say just this, in any set. The range end is of one of
    ``classes`` (codes or IRIs, with their sub-classes) or has one of ``types`` (P2: IRIs, or names as the type's label or the
    last part of its IRI says them), and is of none of ``not_classes``, where these are given. A relation without paths
    and relationships is known in words only.
    """

    domain: tuple[CategoryName, ...] = Field(min_length=1)
    range: tuple[CategoryName, ...] = ()
    value: Value = "entity"
    paths: tuple[Path, ...] = ()
    relationships: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    not_classes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    literals: LiteralEnds = LiteralEnds()
    labels: dict[str, str]
    inverse: dict[str, str]
    words: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def label(self, language: str, inverse: bool = False) -> str:
        """What it is called from its domain, or ``inverse`` from its range, in a language, else in English; "" for none."""
        labels = self.inverse if inverse else self.labels
        return labels.get(language) or labels.get("en", "")

    @property
    def direct(self) -> tuple[Path, ...]:
        """The paths without last steps that gather what lies around the end: the birthplace, not its country too."""
        found = []
        for path in self.paths:
            kept = len(path)
            while kept > 1 and path[kept - 1].endswith("*"):
                kept -= 1
            found.append(path[:kept])
        return tuple(dict.fromkeys(found))

    def literal_paths(
        self, which: Literal["begin", "end", "value", "unit", "shown"] = "shown"
    ) -> tuple[Path, ...]:
        """Whole paths to the literals, the preferred way of ending first."""
        return tuple((*path, *tail) for tail in self.literal_tails(which) for path in self.direct)

    def literal_tails(
        self, which: Literal["begin", "end", "value", "unit", "shown"] = "shown"
    ) -> tuple[Path, ...]:
        """Paths from what the relation leads to on to its literals, the preferred one first."""
        chosen = self.literals.shown if which == "shown" else which
        tails: tuple[Path, ...] = getattr(self.literals, chosen)
        return tails


WITH_IRIS = ("paths", "classes", "not_classes", "types", "literals")


class RelationsPart(Record):
    """`relations.yaml`: relations by id; an earlier one is preferred where phrases and data tell no difference.

    ``prefixes`` shorten IRIs of paths in the file only: `rdf:value`.
    """

    prefixes: dict[str, str] = Field(default_factory=dict)
    relations: dict[str, Relation]

    @model_validator(mode="before")
    @classmethod
    def _whole_iris(cls, values: Any) -> Any:
        prefixes = values.get("prefixes") if isinstance(values, dict) else None
        relations = values.get("relations") if isinstance(values, dict) else None
        if not isinstance(prefixes, dict) or not isinstance(relations, dict):
            return values
        written = re.compile(r"(?<!\S)(\^?)(" + "|".join(map(re.escape, prefixes)) + r"):(?=[^/])")

        def whole(value: Any) -> Any:
            if isinstance(value, list):
                return [whole(item) for item in value]
            if isinstance(value, dict):
                return {key: whole(item) for key, item in value.items()}
            return written.sub(lambda m: m[1] + prefixes[m[2]], value) if isinstance(value, str) else value

        def expanded(entry: Any) -> Any:
            if not isinstance(entry, dict):
                return entry
            return {key: whole(value) if key in WITH_IRIS else value for key, value in entry.items()}

        return {**values, "relations": {id: expanded(entry) for id, entry in relations.items()}}


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


_NAME = r"^[A-Z][A-Z0-9_]{0,39}$"
_TERM = r"^[A-Z]+\d+i?_[A-Za-z0-9_-]+$"
TypeName = Annotated[str, StringConstraints(pattern=_NAME)]
Term = Annotated[str, StringConstraints(pattern=_TERM)]
"""A class or property of CIDOC-CRM by its name, as `P67_refers_to`."""


class EntityType(Record):
    """`class`: of CIDOC-CRM; `label`: what the type is called, by language; `hint`: what a model is told of it."""

    model_config = ConfigDict(serialize_by_alias=True)

    crm_class: Term = Field(alias="class")
    label: dict[str, str] = Field(min_length=1)
    hint: str = ""


class RelationshipType(Record):
    """`path`: a property of CIDOC-CRM; or a property, the class of what lies between, and a second property. `property` with
    a `label` by language: a property of its own is stated, and the broader one of CIDOC-CRM beside it.
    """

    path: tuple[Term, ...] = ()
    property: Term | None = None
    label: dict[str, str] = Field(default_factory=dict)
    hint: str = ""

    @model_validator(mode="after")
    def _either(self) -> RelationshipType:
        if self.property is not None:
            if self.path or not self.label:
                raise ValueError("`property` stands with a `label`, and without `path`")
        elif len(self.path) not in (1, 3) or self.label:
            raise ValueError(
                "`path` has a property, or a property, a class and a property; or give `property` and `label`"
            )
        return self


class Profile(Record):
    """Types of entities and of relationships, by the names that a model is told."""

    entities: dict[TypeName, EntityType] = Field(min_length=1)
    relationships: dict[TypeName, RelationshipType] = Field(default_factory=dict)

    def schema_of_replies(self) -> dict[str, Any]:
        """The JSON schema of a reply."""

        def listed(**properties: Any) -> dict[str, Any]:
            item = {
                "type": "object", "properties": properties, "required": [*properties], "additionalProperties": False,
            }  # fmt: skip
            return {"type": "array", "items": item}

        text: dict[str, Any] = {"type": "string"}
        entities = listed(name=text, type=text | {"enum": [*self.entities]}, description=text)
        relationships = listed(
            source=text, target=text, type=text | {"enum": [*self.relationships]}, description=text
        )
        return {
            "type": "object",
            "properties": {"entities": entities, "relationships": relationships},
            "required": ["entities", "relationships"],
            "additionalProperties": False,
        }


class ExtractionPart(Record):
    """`extraction.yaml`. `version`: of what a model is told; `prompt`: with {entities} and {relationships}, which a profile
    fills."""

    version: Annotated[int, Field(ge=1)]
    prompt: str
    profiles: dict[str, Profile]

    def instructions(self, profile: str) -> str:
        """The prompt of a profile, one of ``profiles``."""
        chosen = self.profiles[profile]
        kinds: list[dict[str, Any]] = [dict(chosen.entities), dict(chosen.relationships)]
        entities, relationships = (
            "\n".join(f"- {name}{f': {one.hint}' if one.hint else ''}" for name, one in listed.items())
            for listed in kinds
        )
        return self.prompt.replace("{entities}", entities).replace("{relationships}", relationships)


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
    more_than: str = "more than {n}"
    at_least_number: str = "at least {n}"
    less_than: str = "less than {n}"
    at_most_number: str = "at most {n}"
    name: str
    among: Counted
    same: str
    stated_in: str
    read: str
    only: str = "Asked of this alone"
    left_out: str = "Left out"
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
