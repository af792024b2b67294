"""The parts of the method that have a file of their own."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field, field_validator

from crmrag_query.config.reading import CategoryName, Codes, Count, Record, Share
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
    """`prompts.yaml`: instructions for a language model; data never stands among them."""

    answer: str
    specific: str = ""
    enumeration: str = ""
    aggregation: str = ""
    analyse: str = ""
    rewrite: str = ""
    plan: str = ""


class LanguageLexicon(Record):
    """Words by which a question's form is read in one language, and the words of an answer in it."""

    aggregation: tuple[str, ...]
    enumeration: tuple[str, ...]
    count: tuple[str, ...]
    stop: tuple[str, ...]
    expects: dict[CategoryName, tuple[str, ...]]
    counted: str
    found: str
    unknown: str
    listed: str
    more: str
    partial: str
    none: str


Words = tuple[str, ...]
"""Words and phrases as they stand after folding; in a grammar ``alt*`` is a beginning of a word and ``*ed`` an ending."""


class Grammar(Record):
    """Words by which the form of a question is read in one language."""

    polite: Words = ()
    """Openings that ask for nothing: ``could you``, ``i would like to know``."""
    which: Words = ()
    """Words for which and what before a noun whose number they do not show …"""
    which_one: Words = ()
    """… or show as singular …"""
    which_many: Words = ()
    """… or as plural."""
    what: Words = ()
    who: Words = ()
    who_many: Words = ()
    adverbs: Words = ()
    """Question words for one fact: where, when, why, how."""
    polar: Words = ()
    """First words of yes/no questions."""
    inversion: Words = ()
    """Phrases that make a statement a yes/no question wherever they stand."""
    existential: Words = ()
    """Yes/no openings that ask whether there is any."""
    more: Words = ()
    """Words for further things: a yes/no question with one wants them named."""
    also: Words = ()
    """The same, in a question whether there is any."""
    listing: Words = ()
    """Requests to show what follows: one thing or many, as its noun says."""
    describing: Words = ()
    """Requests to tell about what follows."""
    everything: Words = ()
    one_verbs: Words = ()
    many_verbs: Words = ()
    of: Words = ()
    """Words after which a choice stands: which *of* those."""
    collecting: Words = ()
    """Verbs whose objects are many: what do you *have*."""
    participles: Words = ()
    """Verbs of what was *made*, *painted* there."""
    telling: Words = ()
    """Participles that ask for a statement: what is *known*."""
    being: Words = ()
    """Forms of to be: after "what is" a participle further on tells of one thing ("what is the chair made of")."""
    numerals: Words = ()
    many_refs: Words = ()
    """Words that stand for several things, as an object of who …"""
    one_refs: Words = ()
    """… or for one thing."""
    generic: Words = ()
    """Before a noun, any thing of the kind: the maker *of an* artwork."""
    attributes: Words = ()
    """Plural nouns that one thing has: its dimensions."""
    collective: Words = ()
    """Singular nouns for many things: furniture."""
    not_aggregation: Words = ()
    """Phrases that hold a word of ``aggregation`` and do not rank."""
    plurals: Words = ()
    """Endings by which an unknown noun is taken for a plural."""
    not_plurals: Words = ()
    articles: Words = ()
    placed: Words = ()
    """Words after a name in a question for its place: where is it *kept* …"""
    whole: Words = ()
    """Words for the data as a whole, and for what it holds: what is this *collection* about."""
    capitals_name: bool = True
    """False where common nouns are written with a capital."""


class References(Record):
    """Words of one language that stand for what went before in a conversation; see `questions.yaml`."""

    person: Words = ()
    place: Words = ()
    many: Words = ()
    thing: Words = ()
    own: Words = ()
    no_reference: Words = ()
    the: Words = ()
    this: Words = ()
    opening: Words = ()
    joiners: Words = ()
    tail: Words = ()
    pivots: Words = ()


class ConversationWords(Record):
    """Words of follow-up questions: `pivots` stand before the names that an answer must not hold, `more` for further things
    than were shown, both in any language; `references` by language."""

    pivots: Words
    more: Words
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
    """`questions.yaml`: reading questions and writing answers without a language model."""

    languages: dict[str, LanguageLexicon]
    cues: dict[str, Cue]
    extractive: ExtractiveConfig
    grammar: dict[str, Grammar]
    conversation: ConversationWords
    plain: dict[str, Words]
    """Words by language that are too usual to name anything by themselves as a part of a name."""
    nouns: dict[str, dict[str, Words]]
    """Nouns by the categories they ask for (``Actor Place``), then by language: ``church / churches``, each side any
    number of forms."""

    @field_validator("nouns")
    @classmethod
    def _categories(cls, nouns: dict[str, dict[str, Words]]) -> dict[str, dict[str, Words]]:
        known = get_args(CategoryName)
        for names in nouns:
            if wrong := [name for name in names.split() if name not in known] or not names.split():
                raise ValueError(f"{wrong} is no category; there are: {', '.join(known)}")
        return nouns


class TranslationsPart(Record):
    """`translations.yaml`: labels of relationships in other languages, by the English label, then the language."""

    labels: dict[str, dict[str, str]]

    def of(self, label: str, language: str) -> str:
        """The label in the language, else as it is."""
        return self.labels.get(label, {}).get(language, label)


class RelationshipEntry(Record):
    """One Fundamental Relationship as it stands in its file; path id to steps."""

    label: str
    domain: CategoryName
    range: CategoryName
    specialises: str = ""
    paths: dict[str, Path] = Field(min_length=1)


class RelationshipSet(Record):
    """`relationships/NAME.yaml`: Fundamental Relationships by id, in the order of the file."""

    title: str
    relationships: dict[str, RelationshipEntry] = Field(min_length=1)
