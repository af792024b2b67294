"""How a question stands to the conversation before it (facts: method, Conversation).

    state = ConversationState()
    told = follow(question, state, mentions, method.questions, iri_of, categories_of)
    # search told.contextual and, unless told.kind is VAGUE, told.raw; interleave; leave out told.excluded
    state = state.after(told.turn(question, analysis.form, focus=..., shown=...), method.conversation)

Everything is a value: asking in one conversation changes no other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError

from crmrag_query.config.loading import Conversation, QuestionLexicon
from crmrag_query.errors import QuestionError
from crmrag_query.linking import Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.form import NAMING, Form, Reading, read
from crmrag_query.questions.lexicon import GROUPS, Asked, Compiled, Language, Number, compiled
from crmrag_query.questions.period import find_period
from crmrag_query.text import positions, tokenize

__all__ = ["ConversationState", "Focus", "FollowUp", "Kind", "Turn", "follow", "name_breaks"]

VAGUE_WORDS = 10  # a follow-up of at most so many words, none of content, is read with what went before
EXCLUDED_RATIO = (
    0.9  # of an ambiguous name, meanings with this share of the best one's score are excluded as well
)
Categories = Callable[[int], int]
_OF_ONE = (
    "where, when, why, how",
    "what",
    "who",
    "yes/no",
)  # rules of questions that may be about one thing that they do not name
_SAYING_NOTHING = (
    "describing", "listing", "polite", "enumeration", "everything", "which", "which_one", "which_many", "who", "what",
    "adverbs", "opening",
)  # fmt: skip
"""Kinds of phrases that are no content of a question."""
_LIFE = "P98i"  # is asked for by words of births and deaths


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A question as read within its conversation.

    ``raw``: the question as searched, without what a pivot excludes; ``contextual``: with what went before, None when it
    stands alone; ``excluded``: IRIs that must not come back; ``focus``: entities that its pronouns and descriptions mean;
    ``mentions``: those of ``raw``, at their positions there; ``lasting``: those of ``excluded`` that stay so for the rest of
    the topic (what was merely shown may be spoken of again); ``excluded_types``: nodes of types that a pivot excludes
    ("besides his *sculptures*").
    """

    kind: Kind
    raw: str
    contextual: str | None = None
    excluded: tuple[str, ...] = ()
    focus: tuple[Focus, ...] = ()
    mentions: tuple[Mention, ...] = ()
    excluded_types: tuple[int, ...] = ()
    lasting: tuple[str, ...] = ()

    @property
    def focus_iris(self) -> tuple[str, ...]:
        return tuple(focus.iri for focus in self.focus)

    @property
    def resolved(self) -> str:
        """The question with the names of what its pronouns mean."""
        return _resolved(self.raw, self.focus)

    def turn(self, question: str, form: Form, focus: Sequence[Focus] = (), shown: Sequence[str] = ()) -> Turn:
        """The turn to remember: ``focus``: what the question and its answer are about, best first; entities that its
        pronouns mean stay in focus after them."""
        kept = {one.iri: one for one in (*focus, *self.focus)}
        return Turn(
            question=question,
            resolved=self.resolved,
            form=form,
            kind=self.kind,
            focus=tuple(kept.values()),
            shown=tuple(shown),
            excluded=self.lasting,
            opens=self.contextual is None,
        )


def follow(
    question: str,
    state: ConversationState,
    mentions: Sequence[Mention],
    lexicon: QuestionLexicon,
    iri_of: Callable[[int], str],
    categories_of: Categories,
    languages: Sequence[str] = (),
) -> FollowUp:
    """Kind, texts to search, exclusions and focus of ``question`` after ``state``.

    ``mentions``: entities that it names (positions in ``tokenize(question)``); ``iri_of``, ``categories_of``: of their
    nodes; ``languages``: preferred when the words do not tell. Any text can be followed.
    """
    asking = _Question(
        *read(question, compiled(lexicon), languages), compiled(lexicon), mentions, categories_of, state
    )
    pivot, own = asking.pivot, asking.own
    named = tuple(iri_of(one.entity) for mention in own for one in mention.entities[:1])
    focus, refers = asking.focus()
    kind = asking.kind(named, refers)
    whole = not refers and (
        bool(own) or any(asking.is_noun(i) for i in asking.reading.heads if i not in asking.out)
    )
    alone = kind is Kind.STANDALONE or not state.turns or (kind is Kind.PIVOT and whole)
    raw = (asking.without_pivot() or question) if pivot else question
    pivoted, types = asking.pivoted(iri_of)
    focus = () if kind is Kind.STANDALONE else tuple(one for one in focus if one.iri not in pivoted)
    kept = {*named, *(one.iri for one in focus)}
    earlier = () if alone else tuple(iri for iri in state.excluded if iri not in kept)
    shown = tuple(iri for iri in state.shown if iri not in kept) if kind is Kind.MORE else ()
    lasting = tuple(dict.fromkeys((*pivoted, *earlier)))
    size = pivot.last - pivot.first if pivot else 0
    after = (
        replace(one, first=one.first - size, last=one.last - size)
        for one in mentions
        if pivot and one.first >= pivot.last
    )
    return FollowUp(
        kind=kind,
        raw=raw,
        contextual=None if alone else _contextual(state, raw, focus),
        excluded=tuple(dict.fromkeys((*lasting, *shown))),
        focus=focus,
        mentions=(*(one for one in mentions if one.last <= pivot.first), *after)
        if pivot
        else tuple(mentions),
        excluded_types=types,
        lasting=lasting,
    )


def name_breaks(question: str, lexicon: QuestionLexicon, languages: Sequence[str] = ()) -> tuple[int, ...]:
    """Positions of ``tokenize(question)`` that no name goes across, ascending, none for a question without a pivot.

    The ends of pivot phrases, and where the question itself begins: "aside from | Asinou, | which churches".
    """
    reading, asked = read(question, compiled(lexicon), languages)
    language = compiled(lexicon).languages[reading.language]
    ends = {end for span in language.forms.pivots.spans(asked.words) for end in span}
    begins = {i for i in asked.starts if _asks(language, asked.words, i)}
    return tuple(sorted((ends | begins) - {0, len(asked.words)})) if ends else ()


def _asks(language: Language, words: Sequence[str], position: int) -> bool:
    """True where the question itself begins: a question word, a yes/no opening or a verb."""
    forms = language.forms
    kinds = (language.asking, forms.polar, forms.one_verbs, forms.many_verbs)
    return any(phrases.at(words, position) for phrases in kinds)


class _Pivot(NamedTuple):
    """Tokens ``first`` to before ``last``: "aside from" and the names after it; ``pronouns``: positions of these within."""

    first: int
    last: int
    pronouns: tuple[int, ...]


class _Reference(NamedTuple):
    """A word or description: ``groups`` of what it may stand for, or the ``noun`` that it describes by.

    ``pointing``: the description points ("this church"), so that a fitting category is enough.
    """

    groups: tuple[str, ...] = ()
    noun: str = ""
    pointing: bool = False


@dataclass
class _Question:
    """A question, what it names, and what was spoken of before it."""

    reading: Reading
    asked: Asked
    lexicon: Compiled
    mentions: Sequence[Mention]
    categories_of: Categories
    state: ConversationState

    def __post_init__(self) -> None:
        """``pivot`` and ``out``, its positions; ``rest``: mentions outside of it, ``own``: those of individuals."""
        self.words, self.language = self.asked.words, self.lexicon.languages[self.reading.language]
        self.turns = [turn.focus for turn in reversed(self.state.turns) if turn.focus]
        self.pivot = self._find_pivot()
        self.out = frozenset(range(*self.pivot[:2])) if self.pivot else frozenset[int]()
        self.rest = [mention for mention in self.mentions if mention.first not in self.out]
        self.own = [mention for mention in self.rest if self._is_named(mention)]

    def is_noun(self, position: int) -> bool:
        return position < len(self.words) and self.words[position] in self.language.nouns

    def _category(self, mention: Mention) -> int:
        return self.categories_of(mention.entities[0].entity) if mention.entities else 0

    def _is_named(self, mention: Mention) -> bool:
        """True for an individual that is named whole, or in part with a capital or in quotes."""
        if not mention.entities or self._category(mention) == Category.Concept:
            return False
        inside = range(mention.first, mention.last)
        return mention.entities[0].how in NAMING or not self.asked.named.isdisjoint(inside)

    def kind(self, named: Sequence[str], refers: bool) -> Kind:
        """``named``: IRIs of what the question names itself; ``refers``: whether it refers to anything before."""
        if self.pivot:
            return Kind.PIVOT
        if not self.state.turns:
            return Kind.STANDALONE
        known = {focus.iri for turn in self.state.topic for focus in turn.focus} | set(self.state.shown)
        if self.language.refs.more.within(self.words) and all(iri in known for iri in named):
            return Kind.MORE
        empty = self._is_empty()
        if empty and not self.own:
            return Kind.VAGUE
        opens = self.language.forms.opening.at(self.words, 0) and (empty or not self.own)
        return Kind.REFERENCE if refers or opens else Kind.STANDALONE

    def _is_empty(self) -> bool:
        """True when no word of a short question, but names, is one of content: stop words, requests, references and words of
        a period are none."""
        naming = positions(self.own)
        spoken = [word for i, word in enumerate(self.words) if i not in naming]
        forms, refs, stop = self.language.forms, self.language.refs, self.language.stop
        kinds = (*(getattr(forms, kind) for kind in _SAYING_NOTHING), refs.pronouns, refs.more)
        covered = {i for phrases in kinds for span in phrases.spans(spoken) for i in range(*span)}
        period = find_period(self.reading.question)
        dated = period.words if period else frozenset()
        said = (word for i, word in enumerate(spoken) if i not in covered and word not in dated)
        return len(self.words) <= VAGUE_WORDS and stop.issuperset(said)

    def focus(self) -> tuple[tuple[Focus, ...], bool]:
        """The entities that the question refers to, and whether it refers to any."""
        more = self.language.refs.more
        asking = {i for at in range(len(self.words)) for i in range(at, at + more.at(self.words, at))}
        sure = [one for one in self.rest if one.last - one.first > 1 or self._is_named(one)]
        references = self._references(sure, self.out | asking)
        found = self._in_focus(references)
        if found or any(one.groups for one in references):
            return found, True
        dropped = self._dropped()
        return dropped, bool(dropped)

    def _dropped(self) -> tuple[Focus, ...]:
        """What a short question that names nothing is about where a verb needs no pronoun: the last thing in focus, of the
        last person who was born or died."""
        if (
            not self.language.drops
            or len(self.words) > VAGUE_WORDS
            or self.mentions or self.out or self.asked.named
            or any(map(self.is_noun, range(len(self.words))))
            or self.reading.rule not in _OF_ONE
            or self.language.forms.existential.within(self.words)
            or self._is_empty()
        ):  # fmt: skip
            return ()
        if _LIFE in self.reading.cues:
            return self._meant(_Reference(("person",)))
        return self.turns[0][:1] if self.turns else ()

    def _find_pivot(self) -> _Pivot | None:
        """The first pivot phrase that names follow; None for none.

        Names are mentions, capitalised or quoted words, nouns, pronouns that no noun follows, and, where none of these
        stands directly after the phrase, one other word; with small words and commas between them.
        """
        for first, start in self.language.forms.pivots.spans(self.words):
            last, pronouns = self._excluded(start)
            if last > start:
                return _Pivot(first, last, tuple(pronouns))
        return None

    def _excluded(self, start: int) -> tuple[int, list[int]]:
        """The position past the last name after ``start``, and the positions of pronouns; ``start`` without any name."""
        words, language = self.words, self.language
        at_first = {mention.first: mention.last for mention in self.mentions}
        position, end = start, start
        found: list[int] = []
        while position < len(words):
            length = at_first.get(position, position) - position
            if not length and _asks(language, words, position):
                break
            pronoun = language.refs.pronouns.at(words, position)
            owned = position + pronoun  # "his sculptures" are excluded, not he
            if not length and pronoun and not self.is_noun(owned) and owned not in at_first:
                found.append(position)
                length = pronoun
            elif not length and (position in self.asked.named or self.is_noun(position)):
                length = 1
            if length:
                position = end = position + length
                continue
            if words[position] not in language.joiners and not pronoun:
                plain = end == start and words[position] not in language.stop
                return (position + 1 if plain else end), found
            position += 1
        return end, found

    def pivoted(self, iri_of: Callable[[int], str]) -> tuple[tuple[str, ...], tuple[int, ...]]:
        """IRIs of the individuals that a pivot names, with every likely meaning, and nodes of the types it names."""
        individuals: list[str] = []
        types: list[int] = []
        for mention in self.mentions if self.pivot else ():
            least = EXCLUDED_RATIO * mention.entities[0].score if mention.entities else 0.0
            for one in mention.entities if self.out.issuperset(range(mention.first, mention.last)) else ():
                if one.score >= least and self.categories_of(one.entity) == Category.Concept:
                    types.append(one.entity)
                elif one.score >= least:
                    individuals.append(iri_of(one.entity))
        pronouns = self.pivot.pronouns if self.pivot else ()
        references = self._references((), set(range(len(self.words))) - set(pronouns), tails=False)
        individuals += [focus.iri for focus in self._in_focus(references)]
        return tuple(dict.fromkeys(individuals)), tuple(dict.fromkeys(types))

    def without_pivot(self) -> str:
        """The question without the pivot's stretch; a comma that closed it goes with it."""
        kept = [
            chunk.text
            for chunk in self.asked.chunks
            if self.out.isdisjoint(range(chunk.first, chunk.last))
            and (chunk.last > chunk.first or chunk.text != ",")
        ]
        ends, text = self.asked.chunks[-1].text[-1:], " ".join(kept)
        return text + ends if ends in "?;" and text and not text.endswith(ends) else text

    def _references(
        self, mentions: Sequence[Mention], left_out: Collection[int], tails: bool = True
    ) -> list[_Reference]:
        """Pronouns and definite descriptions in order, but those that an earlier word of the question itself explains."""
        language, words, starts = self.language, self.words, self.asked.starts
        covered = {i for span in language.forms.no_reference.spans(words) for i in range(*span)} | set(
            left_out
        )
        covered |= positions(one for one in mentions if one.last - one.first > 1)
        found: list[_Reference] = []
        for position, word in enumerate(words):
            if position in covered:
                continue
            ends = position + 1 == len(words) or (tails and position + 1 in starts)
            described = self._description(position, mentions)
            if described is not None:
                found.append(described)
            elif ends and language.forms.tail.at(words, position):
                found.append(_Reference(("person", "thing", "many")))
            elif language.refs.pronouns.at(words, position) and not self._is_formal(position):
                groups = tuple(name for name in GROUPS if getattr(language.forms, name).at(words, position))
                determines = word in language.this and self.is_noun(position + 1)
                if not determines and not self._explained(position, groups, mentions):
                    found.append(_Reference(groups))
        return found

    def _is_formal(self, position: int) -> bool:
        """True for a capitalised pronoun within a clause where nouns have capitals: the German "Sie" to a person."""
        chunk = next(chunk for chunk in self.asked.chunks if chunk.first <= position < chunk.last)
        return not self.language.capitals_name and chunk.capital and not chunk.opens

    def _description(self, position: int, mentions: Sequence[Mention]) -> _Reference | None:
        """A definite article or "this" with a known noun, when no name follows that says which one."""
        word, after = self.words[position], position + 1
        pointing = word in self.language.this
        if not (pointing or word in self.language.the) or not self.is_noun(after) or self.is_noun(after + 1):
            return None
        near = range(after + 1, after + 4)
        named = any(mention.first in near for mention in mentions) or any(i in self.asked.named for i in near)
        return None if named and not pointing else _Reference(noun=self.words[after], pointing=pointing)

    def _explained(self, position: int, groups: Sequence[str], mentions: Sequence[Mention]) -> bool:
        """True when a name before the pronoun in the question fits it, or, of a word for whose it is, a noun does."""
        for mention in mentions:
            category = self._category(mention)
            if mention.last <= position and category != Category.Concept and _fits(category, groups):
                return True
        if not self.language.forms.own.at(self.words, position):
            return False
        known = self.language.nouns
        nouns = [known[word] for word in self.words[:position] if word in known]
        if set(groups) == {"many"}:
            return any(noun.number is not Number.ONE for noun in nouns)
        return any(noun.number is not Number.MANY and _fits(noun.categories, groups) for noun in nouns)

    def _in_focus(self, references: Sequence[_Reference]) -> tuple[Focus, ...]:
        """The entities that the references mean: of each the most recent one that fits, of "those" a whole turn's."""
        found: dict[str, Focus] = {}
        for reference in references:
            for focus in self._meant(reference):
                found.setdefault(focus.iri, focus)
        return tuple(found.values())

    def _meant(self, reference: _Reference) -> tuple[Focus, ...]:
        if reference.noun:
            return self._described(reference)
        for group in reference.groups:
            if group == "many" and self.turns:
                return self._several()
            for turn in self.turns:
                fitting = [focus for focus in turn if self._may_be(focus, group)]
                if group == "place":
                    fitting.sort(key=lambda focus: focus.category != Category.Place.name)
                if fitting:  # of "2 entities are called The Mason" it may be either
                    return tuple(one for one in fitting if one.label == fitting[0].label)
        return ()

    def _several(self) -> tuple[Focus, ...]:
        """What "those" means: of the last turn with anything in focus, the several that its question did not name; else
        all."""
        turn = next(turn for turn in reversed(self.state.turns) if turn.focus)
        asked = set(tokenize(turn.resolved))
        told = tuple(focus for focus in turn.focus if not asked.issuperset(tokenize(focus.label)))
        return told if len(told) > 1 else turn.focus

    def _may_be(self, focus: Focus, group: str) -> bool:
        """True when a word of the group may stand for the entity; "there" may be a building, which is a thing, too.

        Its categories: its own, and those that the nouns of its types ask for (a saint, who is a character, may be a he).
        """
        known, mask = self.language.nouns, _mask(focus)
        nouns = (
            known[word].categories for name in focus.words for word in tokenize(name)[-1:] if word in known
        )
        if any(one & Category.Actor and not one & Category.Place for one in nouns):  # no monasteries
            mask |= int(Category.Actor)
        if group == "place":
            return bool(mask & (Category.Place | Category.Thing)) and not mask & Category.Actor
        return _fits(mask, (group,))

    def _described(self, reference: _Reference) -> tuple[Focus, ...]:
        """By the words of their types first; by category for "this", for a noun of one category that is no Thing (too many
        are), and where the types have no word in the question's language."""
        known, stem = self.language.nouns, self.language.stem
        noun, same = known[reference.noun], stem(reference.noun)
        for turn in self.turns:
            called = tuple(focus for focus in turn if same in map(stem, _words(focus)))
            if called:
                return called if noun.number is Number.MANY else called[:1]
        single = noun.categories.bit_count() == 1 and not noun.categories & Category.Thing
        for focus in (focus for turn in self.turns for focus in turn if noun.number is not Number.MANY):
            foreign = bool(focus.words) and not _words(focus) & known.keys()
            if _mask(focus) & noun.categories and (reference.pointing or single or foreign):
                return (focus,)
        return ()


_CATEGORIES = {"person": Category.Actor, "place": Category.Place, "thing": ~Category.Actor, "many": 0}


def _fits(mask: int, groups: Sequence[str]) -> bool:
    return any(mask & _CATEGORIES[group] for group in groups)


def _mask(focus: Focus) -> int:
    return int(Category.__members__.get(focus.category, Category(0)))


def _words(focus: Focus) -> frozenset[str]:
    return frozenset(token for word in focus.words for token in tokenize(word))


def _contextual(state: ConversationState, raw: str, focus: Sequence[Focus]) -> str:
    """The topic's first question and its last, at most ``QUESTIONS``, then this one with the names it stands for."""
    earlier = [turn.resolved for turn in state.topic]
    if len(earlier) > QUESTIONS:
        earlier = [earlier[0], *earlier[len(earlier) - QUESTIONS + 1 :]]
    return " ".join([*dict.fromkeys(earlier), _resolved(raw, focus)])


def _resolved(raw: str, focus: Sequence[Focus]) -> str:
    """The question with the labels of the few things it refers to that it does not name itself."""
    words = set(tokenize(raw))
    labels = [one.label for one in focus[:3] if one.label and not set(tokenize(one.label)) <= words]
    return f"{raw} ({'; '.join(labels)})" if labels else raw


QUESTIONS = 3  # of one topic, the first and the last, that a follow-up is read with
# Kept of each turn: entities in focus, sources, entities excluded. More than any pronoun can mean.
FOCUS, SHOWN, EXCLUDED = 20, 100, 100
# Ceilings of what is read back, whatever the configuration keeps.
LONGEST_STATE = 4_000_000  # characters of JSON
LONGEST_PLAN = 200_000  # characters of a turn's plan
LONGEST_QUESTION = 4000  # of a question without its answer: `question_characters` as shipped
LONGEST_IRI, LONGEST_TEXT, LONGEST_NAME, MOST_WORDS = 4000, 20_000, 2000, 100
Iri = Annotated[str, StringConstraints(max_length=LONGEST_IRI)]
Text = Annotated[str, StringConstraints(max_length=LONGEST_TEXT)]
Name = Annotated[str, StringConstraints(max_length=LONGEST_NAME)]
Iris = Annotated[tuple[Iri, ...], Field(max_length=1000)]


class Kind(Enum):
    """How a question stands to what went before."""

    STANDALONE = "standalone"
    PIVOT = "pivot"
    VAGUE = "vague"
    MORE = "more"
    REFERENCE = "reference"


@dataclass(frozen=True, slots=True)
class Focus:
    """An entity that was spoken of: its IRI, its Fundamental Category, its label, and the words that its types call it by."""

    __pydantic_config__: ClassVar[Any] = ConfigDict(extra="forbid")

    iri: Iri
    category: Name = ""
    label: Name = ""
    words: Annotated[tuple[Name, ...], Field(max_length=MOST_WORDS)] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """One question: as asked; with the names that it stands for; its form and kind; the entities in focus (best first),
    those shown as sources, and those that pivots excluded so far in its topic. ``opens``: it is the first of its topic;
    ``plan``: of the set that answered it, as JSON, "" for none; ``sure``: that set was the whole answer."""

    __pydantic_config__: ClassVar[Any] = ConfigDict(extra="forbid")

    question: Text
    resolved: Text
    form: Form
    kind: Kind
    focus: Annotated[tuple[Focus, ...], Field(max_length=1000)] = ()
    shown: Iris = ()
    excluded: Iris = ()
    opens: bool = False
    plan: Annotated[str, StringConstraints(max_length=LONGEST_PLAN)] = ""
    sure: bool = True


@dataclass(frozen=True, slots=True)
class ConversationState:
    """The turns of one conversation, oldest first. A new turn makes a new state and leaves this one as it was."""

    __pydantic_config__: ClassVar[Any] = ConfigDict(extra="forbid")

    turns: Annotated[tuple[Turn, ...], Field(max_length=1000)] = ()

    @property
    def topic(self) -> tuple[Turn, ...]:
        """The last turns of one topic: from the last one that opened one."""
        starts = [i for i, turn in enumerate(self.turns) if turn.opens]
        return self.turns[starts[-1] if starts else 0 :]

    @property
    def shown(self) -> tuple[str, ...]:
        """Every entity shown in the topic, in order."""
        return tuple(dict.fromkeys(iri for turn in self.topic for iri in turn.shown))

    @property
    def excluded(self) -> tuple[str, ...]:
        """Every entity excluded in the topic, in order."""
        return tuple(dict.fromkeys(iri for turn in self.topic for iri in turn.excluded))

    def after(self, turn: Turn, config: Conversation) -> ConversationState:
        """The state with one more turn; the oldest go, and texts and lists are cut, as ``config`` says."""
        kept = replace(
            turn,
            question=_text(turn.question, LONGEST_TEXT),
            resolved=_text(turn.resolved, LONGEST_TEXT),
            focus=tuple(map(_focus, turn.focus[:FOCUS])),
            shown=_iris(turn.shown, SHOWN),
            excluded=_iris(turn.excluded, EXCLUDED),
            plan=turn.plan if len(turn.plan) <= LONGEST_PLAN else "",
        )
        return ConversationState((*self.turns, kept)[-config.turns :])

    def to_json(self) -> str:
        """The state as JSON; ``from_json`` reads it back as an equal value."""
        return _adapter().dump_json(self).decode()

    @staticmethod
    def from_json(text: str | bytes) -> ConversationState:
        """Read a stored state. Raises QuestionError for anything that ``to_json`` does not write."""
        if len(text) > LONGEST_STATE:
            raise QuestionError(
                f"The stored conversation has {len(text)} characters.",
                f"It may have at most {LONGEST_STATE}.",
            )
        try:
            return _adapter().validate_json(text)
        except (ValidationError, UnicodeError) as error:
            raise QuestionError(
                f"The stored conversation cannot be read: {_reason(error)}", "Start a new conversation."
            ) from None


def turns_of(questions: Sequence[str]) -> ConversationState:
    """A state of questions alone, as of a caller who kept nothing else: all one topic. Of one that is longer than any that is
    answered, the beginning.
    """
    return ConversationState(
        tuple(
            Turn(text, text, Form.SPECIFIC, Kind.REFERENCE if i else Kind.STANDALONE, opens=i == 0)
            for i, text in enumerate(_text(question, LONGEST_QUESTION) for question in questions)
        )
    )


def _text(text: str, longest: int) -> str:
    """The text as it can be stored: no half of a surrogate pair, and not too long."""
    return text[:longest].encode("utf-8", "replace").decode("utf-8")


def _iris(iris: Sequence[str], most: int) -> tuple[str, ...]:
    """The first that can be stored; a longer one cannot be cut, and is left out."""
    return tuple(_text(iri, LONGEST_IRI) for iri in iris if len(iri) <= LONGEST_IRI)[:most]


def _focus(focus: Focus) -> Focus:
    words = tuple(_text(word, LONGEST_NAME) for word in focus.words[:MOST_WORDS])
    names = (_text(focus.category, LONGEST_NAME), _text(focus.label, LONGEST_NAME))
    return Focus(_text(focus.iri, LONGEST_IRI), *names, words)


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[ConversationState]:
    return TypeAdapter(ConversationState)


def _reason(error: ValidationError | UnicodeError) -> str:
    if isinstance(error, UnicodeError):
        return "it is no text"
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"][:6])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
