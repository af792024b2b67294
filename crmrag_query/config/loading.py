"""The method as one typed, frozen record: settings of the build (facts: method, Build) and of answers, the parts that have a
file of their own, and the sentence forms, which ship with the product; loaded from a configuration folder or from a release,
its parts hashed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar, get_args
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from crmrag_query.config.reading import (
    CategoriesPart,
    CategoryName,
    Codes,
    Count,
    Pattern,
    Positive,
    Properties,
    Record,
    Requests,
    Share,
    config_folder,
    default_folder,
    part_file,
    read_over,
    read_part,
    read_yaml,
)
from crmrag_query.errors import ConfigError


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
Steps = Annotated[tuple[Step, ...], BeforeValidator(_steps), Field(min_length=1)]
"""Steps of a path; in the file between blanks: ``P108i P14``."""


class LiteralEnds(Record):
    """Steps after any of the relation's paths to the literals that a person reads, alternatives, the first is preferred.

    Of a date: where its span begins and ends. ``shown`` tells which of both is the date of a list, a table or an order: a
    birth's is its begin, a death's its end. Of what has a number or a text: ``value``; of a quantity also its ``unit``.
    """

    begin: tuple[Steps, ...] = ()
    end: tuple[Steps, ...] = ()
    value: tuple[Steps, ...] = ()
    unit: tuple[Steps, ...] = ()
    shown: Literal["begin", "end", "value"] = "value"


Ending = Literal["begin", "end", "value", "unit", "shown"]


class Relation(Record):
    """One relation; ``labels`` read from the domain, ``inverse`` from the range, by language.

    ``paths`` of a date lead to the node that holds it (the time-span), those of a text or number to the node or literal.
    ``relationships`` are ids of Fundamental Relationships that say just this, in any set. The range end is of one of
    ``classes`` (codes or IRIs, with their sub-classes) or has one of ``types`` (P2: IRIs, or names as the type's label or the
    last part of its IRI says them), and is of none of ``not_classes``, where these are given. A relation without paths
    and relationships is known in words only. ``when``: the relations that tell when it holds, which has no date of its own.
    """

    domain: tuple[CategoryName, ...] = Field(min_length=1)
    range: tuple[CategoryName, ...] = ()
    value: Value = "entity"
    paths: tuple[Steps, ...] = ()
    relationships: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    not_classes: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    literals: LiteralEnds = LiteralEnds()
    when: tuple[str, ...] = ()
    labels: dict[str, str]
    inverse: dict[str, str]
    words: dict[str, tuple[str, ...]] = Field(default_factory=dict)

    def label(self, language: str, inverse: bool = False) -> str:
        """What it is called from its domain, or ``inverse`` from its range, in a language, else in English; "" for none."""
        labels = self.inverse if inverse else self.labels
        return labels.get(language) or labels.get("en", "")

    @property
    def direct(self) -> tuple[Steps, ...]:
        """The paths without last steps that gather what lies around the end: the birthplace, not its country too."""
        found = []
        for path in self.paths:
            kept = len(path)
            while kept > 1 and path[kept - 1].endswith("*"):
                kept -= 1
            found.append(path[:kept])
        return tuple(dict.fromkeys(found))

    def literal_paths(self, which: Ending = "shown") -> tuple[Steps, ...]:
        """Whole paths to the literals, the preferred way of ending first."""
        return tuple((*path, *tail) for tail in self.literal_tails(which) for path in self.direct)

    def literal_tails(self, which: Ending = "shown") -> tuple[Steps, ...]:
        """Paths from what the relation leads to on to its literals, the preferred one first."""
        chosen = self.literals.shown if which == "shown" else which
        tails: tuple[Steps, ...] = getattr(self.literals, chosen)
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
    told: dict[str, tuple[Steps, ...]] | None = None
    paths: dict[str, Steps] = Field(min_length=1)


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
    `no_reason` says that there is none; `happened` asks what happened to something, and `history` introduces it.
    """

    greetings: tuple[str, ...]
    why: tuple[str, ...]
    happened: tuple[str, ...]
    greeting: str
    no_reason: str
    history: str
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
    `nothing`, `tied`, `with_ties` (a ranking of more than were asked for), `summed` (its total or mean), `groups`, `rows`,
    `common`, `more`, `excluded` by reason, `distinct`, `unrecorded` (members of which nothing is stated that a negation
    denies), `not_exhaustive`,
    `unknown`, `mentioned`; all others are words of chips: `not_` negates one, `missing`
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
    summed: Counted | None = None
    groups: Counted
    rows: Counted
    common: Counted
    more: Counted
    excluded: dict[str, Counted]
    excluded_other: Counted
    distinct: str
    unrecorded: Counted | None = None
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
    total: str = "total of {what}"
    mean: str = "mean of {what}"
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


class Discovery(Record):
    """What is not an entity: ontology terms by type, and IRIs in an ontology's namespace."""

    excluded_types: tuple[str, ...]
    excluded_namespaces: tuple[str, ...]


class Chunks(Record):
    """Entities per chunk, until there are 256 chunks."""

    entities: Count


class Names(Record):
    """Where names stand, in order of preference."""

    label_properties: Properties
    alternative_properties: Properties
    name_properties: Properties
    value_properties: Properties
    title_properties: ClassVar[Properties] = ("P102",)  # CIDOC-CRM has no other
    identifier_classes: ClassVar[Codes] = ("E42",)  # appellations that name only where nothing else does


class Dates(Record):
    """Properties that state dates: the outer and inner bounds of a time-span, and the whole of it.

    What other vocabularies have of them are outer bounds, or wholes; the rest only CIDOC-CRM tells apart.
    """

    outer_begin: Properties
    outer_end: Properties
    outer_whole: Properties
    time_span_properties: ClassVar[Properties] = ("P4",)
    inner_begin: ClassVar[Properties] = ("P81a",)
    inner_end: ClassVar[Properties] = ("P81b",)
    inner_whole: ClassVar[Properties] = ("P81",)
    qualifiers: ClassVar[Properties] = ("P79", "P80")


class Links(Record):
    """Properties that lead to the same or a like thing elsewhere."""

    properties: Properties


class Images(Record):
    """Properties that lead to images; of a representation, those that lead to its address."""

    properties: Properties
    address_properties: Properties


class Suspects(Record):
    """When an IRI is suspected to stand for many things merged by mistake.

    An IRI of `empty_id` form with at least `empty_id_triples` outgoing triples, or any IRI with more than
    `single_values` distinct values of a property that takes one.
    """

    empty_id: Pattern
    empty_id_triples: Count
    single_valued: Properties
    single_values: Count


class DocumentText(Record):
    """How much of an entity its document's text shows; the document's data holds everything.

    `apart`: classes at whose entities texts do not point; `unsaid`: properties that they do not state; `words`: what lines of
    other properties begin with. `passage_properties`: those whose texts, from `passage_from` characters on, become
    passages of `passage_characters`, which repeat at most `passage_overlap` of the one before.
    """

    literal_values: Count
    literal_characters: Count
    relationship_lines: Count
    lines: Count
    targets: Count
    apart: Codes = ()
    unsaid: Properties = ()
    words: dict[str, str] = Field(default_factory=dict)
    type_properties: ClassVar[Properties] = ("P2",)
    passage_properties: Properties = ()
    passage_from: Count = 300
    passage_characters: Count = 3000
    passage_overlap: Count = 300

    @model_validator(mode="after")
    def _overlap_is_less(self) -> DocumentText:
        if 2 * self.passage_overlap > self.passage_characters:
            raise ValueError("passage_overlap is more than half of passage_characters")
        return self


class Chaining(Record):
    """Thin documents join their richest neighbour's whose text stays under the limit."""

    thin_characters: Count
    limit_characters: Count


class PageRank(Record):
    """PageRank on the graph of Fundamental Relationships (Page et al. 1999)."""

    damping: Share
    # sum of what still moves between two rounds: below what nine digits show
    tolerance: ClassVar[float] = 1e-10
    # enough for a damping of 0.97: each takes that share of what moves, on any graph
    iterations: ClassVar[int] = 1000


class Aggregation(Record):
    """How works lead to their makers: property paths from a work's event or the work itself."""

    work_properties: Properties
    actor_properties: Properties


class CommunitiesConfig(Record):
    """How communities are found: the finest with `resolution`, those of each further level, `levels` at most, with that of
    the one below divided by `coarser`. One of the finest has at least so many `members`."""

    resolution: Positive
    coarser: Positive
    levels: Count
    members: Count
    told: Count


class GraphPartitionsConfig(Record):
    """How the entity graph is cut: by `method`, into parts of about `target_size` documents, or into `num_parts` where that
    is not 0, and of `limit` at most; what has fewer than half of that is gathered, but for `leiden`."""

    method: Literal["leiden", "metis", "hybrid"]
    target_size: Count
    num_parts: Annotated[int, Field(ge=0)]
    limit: Count

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.target_size > self.limit:
            raise ValueError("`target_size` may not be above `limit`")
        return self


class AlignmentConfig(Record):
    """How the aligner is trained: `model` by `loss` for `steps` at most, on so many `questions` that are made."""

    model: Literal["mlp", "gcn", "sage", "gin"]
    loss: Literal["infonce", "bce"]
    questions: Count
    steps: Count


class Dense(Record):
    """From how many windows on the dense index is scanned in 8-bit codes; how it is searched.

    `scanned`: nearest windows that are kept of a question's scan; `compared`: as many windows of a restricted search are
    compared one by one where those do not settle it.
    """

    codes_from: Count
    scanned: Count
    compared: Count


class Sparse(Record):
    """Okapi BM25 with a floor of `epsilon` times the mean idf (Robertson & Zaragoza 2009; rank-bm25)."""

    k1: Positive
    b: Share
    epsilon: ClassVar[float] = 0.25  # as rank-bm25 has it


class Checks(Record):
    """From where on a check of a finished artifact warns, or refuses it; shares are of 1."""

    broken_share: Share
    unmapped_share: Share
    dangling_share: Share
    thin_share: Share
    oversized_share: Share
    entities_fall: Share
    coverage_fall: Share
    duplicate_share: Share
    drift_cosine: Share
    violating_share: Share


_FIELDS = (
    ("minute", 0, 59, ""),
    ("hour", 0, 23, ""),
    ("day of the month", 1, 31, ""),
    ("month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"),
    ("day of the week", 0, 7, "sun mon tue wed thu fri sat"),
)
_NICKNAMES = ("@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually")
_PART = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d+))?")


def _cron(text: str) -> str:
    """The five fields of cron, each checked against its range; "" for no schedule."""
    if not text or text in _NICKNAMES:
        return text
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(
            "a schedule has five fields, as '0 3 * * *' for every night at three: minute, hour, day of the month, month, "
            "day of the week"
        )
    for field, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        for part in field.lower().split(","):
            if not _fits(part, low, high, words.split()):
                raise ValueError(f"{part!r} is no {name} of a schedule ({low} to {high}, a range, or */step)")
    if fields[3].lower() in ("2", "02", "feb") and fields[2] in ("30", "31"):
        raise ValueError("February has no such day: nothing would ever be built")
    return " ".join(fields)


def _fits(part: str, low: int, high: int, words: list[str]) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    first, last, step = (_number(text, words) for text in found.groups())
    bounds = [number for number in (first, last) if number is not None]
    if not all(low <= number <= high for number in bounds) or bounds != sorted(bounds):
        return False
    return step is None or 1 <= step <= (high if last is None else last)


def _number(text: str | None, words: list[str]) -> int | None:
    """The number that a name or digits stand for; one out of every range for other text."""
    if text is None:
        return None
    if text in words:
        return words.index(text) + (len(words) == 12)
    return int(text) if text.isascii() and text.isdigit() else -1


def _timezone(text: str) -> str:
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        if available_timezones():  # where this machine has no list of them, Dagster brings one
            raise ValueError("no such time zone; they are named as Europe/Athens or UTC") from None
    return text


_HOURS = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)")


def _hours(text: str) -> str:
    if not text:
        return text
    if not _HOURS.fullmatch(text):
        raise ValueError("hours are given as '20:00-06:00', from when until when")
    if text[:5] == text[6:]:
        raise ValueError("hours begin when they end: leave them out, where any hour will do")
    return text


class Rebuild(Record):
    """When a data set is built again without being told to; by default never.

    `watch`: look every `every_seconds` whether the source has changed, and build when a change has stayed as it is for
    `settle_seconds`; a source with less than `least_share` of what it had is taken for a fault. `schedule`: build at these
    times, in cron's five fields and in `timezone`; an endpoint is asked for everything again. `fresh_hours`: how old what
    is published may be before it is told.

    `embed`: whether vectors that a release lacks are made by themselves while Dagster's daemon runs. `embed_hours`: from when
    until when, in `timezone`; at any hour unless given.
    """

    watch: bool = False
    settle_seconds: Count = 120
    every_seconds: Count = 60
    least_share: Share = 0.5
    schedule: Annotated[str, AfterValidator(_cron)] = ""
    timezone: Annotated[str, AfterValidator(_timezone)] = "UTC"
    fresh_hours: Positive | None = None
    embed: bool = True
    embed_hours: Annotated[str, AfterValidator(_hours)] = ""


class ProfileConfig(Record):
    """What the profile's facts are counted from.

    ``makers``, ``places``: relationships from works to makers and to places, by their ids in any set.
    """

    broader_properties: Properties
    makers: tuple[str, ...]
    places: tuple[str, ...]
    depiction_properties: Codes
    coordinate_properties: Properties
    identifier_properties: Properties


class ByForm(Record):
    """One number for each form of question."""

    specific: Count
    enumeration: Count
    aggregation: Count


class ShareByForm(Record):
    """One share for each form of question."""

    specific: Share
    enumeration: Share
    aggregation: Share


class Subgraph(Record):
    """Greedy choice of a coherent subset: relevance and connectivity against likeness to what is chosen."""

    relevance: Share
    connectivity: Share
    redundancy: Share


Measure = Literal["Success@10", "Rprec", "R@10", "R@20", "nDCG@10", "nDCG@20", "RR"]
"""Measures of a ranking, as ir_measures names them."""


class EvaluationConfig(Record):
    """`headline`: the one measure that counts for a kind of question; `overall`: the one over questions of every kind."""

    headline: dict[str, Measure]
    overall: Measure


class RetrievalConfig(Record):
    """How many documents a question gets: `k`, of which the pool holds `pool_factor` times as many, a `reserved` share of it
    for the categories that are asked for. A question has at most `question_characters`."""

    k: ByForm
    pool_factor: Count
    question_characters: Count
    reserved: ShareByForm
    subgraph: Subgraph


class ContextConfig(Record):
    """How much is put before a language model: `characters` and `tokens` of everything together, `document_characters` of one
    source; `history_turns`: earlier questions of the conversation.

    Where a set is told: `set_characters` of everything, as long as its members leave room for `set_beside` beside them;
    `set_sources`: members, and other documents, of which more than a line is told; `set_fields`: relations of which a
    member's line tells the values.

    A model whose window is smaller gets as much as fits it. Where `capped`, it gets no more documents than
    `documents_per_model` says for the longest beginning of its name, `default` for any other.
    """

    characters: Count
    tokens: Count
    document_characters: Count
    history_turns: Annotated[int, Field(ge=0)]
    set_characters: Count
    set_beside: Count
    set_sources: Count
    set_fields: tuple[str, ...]
    capped: bool
    documents_per_model: dict[str, Count]


class Wikidata(Record):
    """Texts from Wikidata: for how many entities, how long to wait; `address` of its API, the `properties` that are told."""

    entities: Annotated[int, Field(ge=0)]
    timeout_seconds: Positive
    address: Annotated[str, StringConstraints(pattern=r"^https?://\S+$")]
    properties: tuple[Annotated[str, StringConstraints(pattern=r"^P[1-9]\d{0,9}$")], ...]


class Conversation(Record):
    """How much a conversation keeps: at most so many `turns`; `seconds` for a model to analyse or rewrite a question."""

    turns: Count
    seconds: Positive


class PlannerConfig(Record):
    """How a language model is asked for a plan: `tokens` of the data told with the question, the question itself aside;
    `seconds` of all rounds."""

    tokens: Count
    seconds: Positive


class CoordinateProperties(Record):
    """Where coordinates stand: literals with a point, pairs of numbers; what leads to these, and to the place of a thing."""

    point: Properties
    latitude: Properties
    longitude: Properties
    shape: Properties
    place: Properties


class DateProperties(Record):
    """What leads to the time-span of a node, and to the events that date it: the first group that gives a date counts."""

    time_span: Properties
    events: tuple[Properties, ...]


class AnswersConfig(Record):
    """How long a model may take for an answer (until its first words, and in all), and which properties tell of a source."""

    first_seconds: Positive
    whole_seconds: Positive
    licence: Properties
    attribution: Properties
    coordinates: CoordinateProperties
    dates: DateProperties


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


Section = TypeVar("Section", bound=Record)
UNRELEASED = frozenset({"requests", "dense", "checks", "evaluation", "extraction"})
"""Sections that a release does not hold: how its source was asked, by what sizes its
vectors are searched, what is said of it, how it is measured and how its pages were read are no part of the method."""


def _shipped(section: str, kind: type[Section]) -> Section:
    """A section as the configuration that ships has it, where there is none."""

    def read() -> Section:
        return kind.model_validate(read_yaml(default_folder() / "method.yaml")[section])

    made: Section = Field(default_factory=read)
    return made


class Constants(Record):
    """`method.yaml`."""

    relationships: str
    discovery: Discovery
    chunks: Chunks
    requests: Requests = _shipped("requests", Requests)
    names: Names
    dates: Dates
    links: Links
    images: Images
    suspects: Suspects
    documents: DocumentText
    chaining: Chaining
    dense: Dense = _shipped("dense", Dense)
    sparse: Sparse
    checks: Checks = _shipped("checks", Checks)
    pagerank: PageRank
    aggregation: Aggregation
    communities: CommunitiesConfig = _shipped("communities", CommunitiesConfig)
    graph_partitions: GraphPartitionsConfig = _shipped("graph_partitions", GraphPartitionsConfig)
    alignment: AlignmentConfig = _shipped("alignment", AlignmentConfig)
    profile: ProfileConfig
    retrieval: RetrievalConfig
    context: ContextConfig
    conversation: Conversation
    planner: PlannerConfig
    wikidata: Wikidata
    answers: AnswersConfig
    plans: PlansConfig
    evaluation: EvaluationConfig = _shipped("evaluation", EvaluationConfig)


def _extraction(folder: Path | str | None = None) -> ExtractionPart:
    return read_part(ExtractionPart, part_file("extraction.yaml", folder))


class Method(Constants):
    """All of `config/` but data sets and ontology tables; `relationships` names the default set."""

    categories: CategoriesPart
    events: EventsPart
    weights: WeightsPart
    satellites: SatellitesPart
    prompts: PromptsPart
    questions: QuestionLexicon
    translations: TranslationsPart
    relations: dict[str, Relation]
    sets: SetsPart
    extraction: ExtractionPart = Field(default_factory=_extraction)
    relationship_sets: dict[str, RelationshipSet]


def load_method(folder: Path | str | None = None) -> Method:
    """The whole method; a file that the folder lacks comes from the configuration that ships, as does what its method.yaml
    leaves out.

    Raises ConfigError with every mistake of the first file that has any.
    """
    constants = _over_shipped(Constants, "method.yaml", folder)
    sets = load_relationships(folder)
    if constants.relationships not in sets:
        raise ConfigError.single(
            part_file("method.yaml", folder), "relationships", "no such set of relationships",
            value=repr(constants.relationships), remedy=f"There are: {', '.join(sets)}.",
        )  # fmt: skip
    return Method(
        **{name: getattr(constants, name) for name in Constants.model_fields},
        categories=read_part(CategoriesPart, part_file("categories.yaml", folder)),
        events=read_part(EventsPart, part_file("event_classes.yaml", folder)),
        weights=read_part(WeightsPart, part_file("weights.yaml", folder)),
        satellites=read_part(SatellitesPart, part_file("satellites.yaml", folder)),
        prompts=read_part(PromptsPart, part_file("prompts.yaml", folder)),
        questions=_over_shipped(QuestionLexicon, "questions.yaml", folder),
        translations=read_part(TranslationsPart, part_file("translations.yaml", folder)),
        relations=read_part(RelationsPart, part_file("relations.yaml", folder)).relations,
        sets=read_part(SetsPart, part_file("sets.yaml", folder)),
        extraction=_extraction(folder),
        relationship_sets=sets,
    )


def _over_shipped(model: type[Section], name: str, folder: Path | str | None) -> Section:
    """A file of which a project's own need only hold what differs."""
    return read_over(model, part_file(name, folder), default_folder() / name)


def load_relationships(folder: Path | str | None = None) -> dict[str, RelationshipSet]:
    """Sets of Fundamental Relationships by the name of their file; a project's own join those that ship."""
    places = (default_folder(), config_folder(folder))
    files = {path.stem: path for place in places for path in sorted((place / "relationships").glob("*.yaml"))}
    return {name: read_part(RelationshipSet, files[name]) for name in sorted(files)}


def config_hash(part: BaseModel | Mapping[str, Any]) -> str:
    """SHA-256 of the values, independent of comments and of the order of keys in the file, as hex digits.

    The order inside lists counts, and so does that of relationships and their paths (a match names its path).
    """
    values = part.model_dump(mode="json") if isinstance(part, BaseModel) else dict(part)
    text = json.dumps(_ordered(values), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _ordered(value: Any) -> Any:
    """Relationships and paths as lists of pairs, so that sorting keys keeps their order."""
    if isinstance(value, dict):
        return {
            key: [[name, _ordered(inner)] for name, inner in item.items()]
            if key in ("relationships", "paths") and isinstance(item, dict)
            else _ordered(item)
            for key, item in value.items()
        }
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value


OPENERS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(sorted(UNRELEASED), ()),
    "prompts": (),
    "wikidata": (),
    "planner": (),
    "plans": (),
    "context": (),
    "sets": (),
    "questions": (),
    "retrieval": ("k", "pool_factor", "question_characters"),
    "conversation": (),
    "answers": ("first_seconds", "whole_seconds"),
}
"""Sections of the method, or keys of them, that are never a release's to decide: what a language model is told, where
requests go, what patterns are matched, how much is looked at, waited for and paid."""


def released_method(stored: bytes, folder: Path | None = None) -> Method:
    """The method by which a release is answered from: as it is stored there, but for what ``OPENERS`` takes from the
    configuration in ``folder``, or the one that is found by itself.

    Raises ValueError for what is no method; ConfigError.
    """
    method = read_stored_method(stored)
    own: dict[str, Any] = dict(_over_shipped(Constants, "method.yaml", folder))
    own["prompts"] = read_part(PromptsPart, part_file("prompts.yaml", folder))
    own["sets"] = read_part(SetsPart, part_file("sets.yaml", folder))
    own["questions"] = _over_shipped(QuestionLexicon, "questions.yaml", folder)
    own["extraction"] = _extraction(folder)
    taken = {
        section: getattr(method, section).model_copy(update={key: getattr(own[section], key) for key in keys})
        if keys
        else own[section]
        for section, keys in OPENERS.items()
    }
    return method.model_copy(update=taken)


# Releases mostly hold the same method, and a megabyte of it takes a while to check.
@lru_cache(maxsize=8)
def read_stored_method(stored: bytes) -> Method:
    """The method as a release holds it: keys that are no settings any more are ignored, younger ones are as they ship.

    Raises ValueError for anything else that is no method.
    """
    values = json.loads(stored)
    if not isinstance(values, dict) or not Method.model_fields.keys() & values.keys():
        raise ValueError("no section of a method stands in it")
    try:
        return Method.model_validate(values)
    except ValidationError as error:
        faulty = error
    shipped = load_method(default_folder()).model_dump(mode="json")
    for mistake in faulty.errors(include_url=False, include_context=False):
        *records, key = mistake["loc"]
        within: Any = values
        whole: Any = shipped
        for record in records:
            within = within[record]
            whole = whole.get(record, {}) if isinstance(whole, dict) else {}
        if mistake["type"] == "extra_forbidden":
            del within[key]
        elif mistake["type"] == "missing" and key in whole:
            within[key] = whole[key]
        else:
            raise faulty
    return Method.model_validate(values)


Expansion = Literal["reached", "themes", "informative", "subgraph", "adjacency", "diversity", "modifiers"]
EXPANSIONS: tuple[Expansion, ...] = get_args(Expansion)
FILE = "modes.yaml"
ModeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]


class Bounds(Record):
    """What a model that calls tools may take for one question: `steps` (replies with calls), `tokens` of all that it is
    sent and says, `seconds`."""

    steps: Annotated[int, Field(ge=1, le=50)] = 8
    tokens: Annotated[int, Field(ge=1000)] = 60_000
    seconds: Annotated[float, Field(gt=0, le=3600)] = 120.0


class Limits(Record):
    """How much modes that have them find; similarities are on the scale (1 + cosine) / 2, calibrated for each release.

    `found`: documents that channels find; `similarity`: of the nearest documents, those below do not count; `documents`: of a
    question in all, with those that expansion adds; `pool`: how many times as many are candidates; `community_levels`: levels
    of themes that are searched, the finest first; `passages`: cosine, from 0 (unrelated) to 1 (the document itself), from
    which a passage that has no word of the question is told.
    """

    found: Count = 5
    similarity: Share = 0.5
    documents: Count = 20
    pool: Positive = 1.0
    community_levels: Count = 3
    passages: Share = 0.1


VARIABLES: Mapping[str, str] = {
    "VECTOR_SEARCH_TOP_K": "found",
    "CHAT_SEARCH_KWARG_SCORE_THRESHOLD": "similarity",
    "MAX_SEARCH_DOCUMENTS": "documents",
    "EFFECTIVE_SEARCH_RATIO": "pool",
    "COMMUNITY_SEARCH_LEVELS": "community_levels",
    "CHAT_EMBEDDING_FILTER_SCORE_THRESHOLD": "passages",
}
"""Environment variables that take the place of limits, by the names that they were published under."""


Nearness = Literal["cosine", "pagerank", "interaction"]


class Walk(Record):
    """How the channel `walker` goes through the entity graph.

    `by`: `steps` (from the landings to the neighbours that late interaction finds nearest: the published walk) or `fusion`
    (all that is stitched, by several `rankings`, fused); `parts`: graph partitions that are stitched together; `landings`:
    documents of them that it begins at; `documents`: most that are stitched where there are no partitions. Of `steps` alone:
    `beam`: documents that it goes on from, `steps` at most, until one is as near as `stop`. Of `fusion` alone: `rankings`, by
    the `cosine` of windows, by personalised `pagerank` from the landings, by late `interaction`.
    """

    by: Literal["steps", "fusion"] = "steps"
    rankings: tuple[Nearness, ...] = get_args(Nearness)
    parts: Annotated[int, Field(ge=1, le=50)] = 3
    landings: Annotated[int, Field(ge=1, le=100)] = 3
    documents: Annotated[int, Field(ge=10, le=20_000)] = 600
    beam: Annotated[int, Field(ge=1, le=100)] = 3
    steps: Annotated[int, Field(ge=1, le=20)] = 3
    stop: Share = 0.9


class Mode(Record):
    """How a question is answered: by which `channels` documents are found, in the order in which their rankings are fused;
    what is done with the candidates (`expansion`); whether the question is read as a plan `first`, `only`, or `never`.

    `title`: what it is, for people, by language; `thresholds`: raw similarity that a document must have to count, by channel;
    `needs`: artifacts of a release beyond those that its channels and expansion need; `limited`: whether the `limits` say how
    much is found, else the form of the question does; `model`: what a language model does in it besides writing: `queries`
    (SPARQL, where a question becomes no plan), `tools` (it calls tools, within `bounds`), `themes` (a partial answer from
    each theme that was found, then the whole), `steps` (it chooses which neighbours a walk by steps goes on from); `walk`:
    how its channel `walker` goes.
    """

    # Set by `load_modes`: in the file the name is the key, and the limits are those of all modes.
    name: str = Field(default="", exclude=True)
    limits: Limits = Field(default=Limits(), exclude=True)
    title: dict[str, str]
    channels: tuple[str, ...]
    expansion: tuple[Expansion, ...] = ()
    plans: Literal["first", "only", "never"]
    thresholds: dict[str, float] = Field(default_factory=dict)
    needs: tuple[str, ...] = ()
    model: Literal["", "queries", "tools", "themes", "steps"] = ""
    bounds: Bounds = Bounds()
    limited: bool = False
    walk: Walk = Walk()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if "en" not in self.title:
            raise ValueError("its title has no English (en)")
        if self.plans == "only" and self.channels:
            raise ValueError("answers by plans only, so it searches by no channels: channels: []")
        return self

    @property
    def expands(self) -> bool:
        """Whether documents are added to those that its channels find."""
        return self.has("reached") or self.has("themes")

    def has(self, stage: str) -> bool:
        """Whether a channel, or a stage after the channels, is part of it."""
        return stage in self.channels or stage in self.expansion

    def only(self, *stages: str) -> Mode:
        """With these channels and stages alone."""
        kept = tuple(one for one in EXPANSIONS if one in stages)
        channels = tuple(one for one in stages if one not in EXPANSIONS)
        thresholds = {name: least for name, least in self.thresholds.items() if name in channels}
        return self.model_copy(update={"channels": channels, "expansion": kept, "thresholds": thresholds})

    def switched(self, stage: str) -> Mode:
        """With a channel or stage that it lacks, or without one that it has."""
        stages = (*self.channels, *self.expansion)
        if self.has(stage):
            return self.only(*(one for one in stages if one != stage))
        return self.only(*stages, stage)


class ModesPart(Record):
    """`modes.yaml`."""

    modes: dict[ModeName, Mode] = Field(default_factory=dict)
    limits: Limits | None = None


def mode_files(folder: Path | str | None = None) -> tuple[Path, ...]:
    """The files that modes come from: the one that ships, then a project's own."""
    return tuple(dict.fromkeys((default_folder() / FILE, config_folder(folder) / FILE)))


def load_modes(folder: Path | str | None = None) -> dict[str, Mode]:
    """The modes by name, the default first: those that ship, then a project's own, which may take the place of ours.

    Raises ConfigError with every mistake of the first file that has any, or of the environment (``VARIABLES``).
    """
    parts = [read_part(ModesPart, place) for place in mode_files(folder) if place.is_file()]
    limits = overridden(next((part.limits for part in reversed(parts) if part.limits), Limits()))
    return {
        name: mode.model_copy(update={"name": name, "limits": limits})
        for part in parts
        for name, mode in part.modes.items()
    }


def overridden(limits: Limits) -> Limits:
    """The limits with what the environment says in their place. Raises ConfigError, which names the variable."""
    values = limits.model_dump()
    for variable, name in VARIABLES.items():
        if said := os.environ.get(variable, "").strip():
            try:
                values[name] = getattr(Limits.model_validate(values | {name: said}), name)
            except ValidationError as error:
                reason = error.errors(include_url=False)[0]["msg"]
                raise ConfigError.single(
                    variable, "", reason[:1].lower() + reason[1:], value=repr(said)[:80],
                    remedy=f"Correct or unset this variable; it stands for limits.{name} of {FILE}.",
                ) from None  # fmt: skip
    return Limits.model_validate(values)
