"""How a question stands to the conversation before it (facts: method, Conversation).

    state = ConversationState()
    told = follow(question, state, mentions, method.questions, iri_of, categories_of)
    # search told.contextual and, unless told.kind is VAGUE, told.raw; interleave; leave out told.excluded
    state = state.after(told.turn(question, analysis.form, focus=..., shown=...), method.conversation)

Everything is a value: asking in one conversation changes no other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.form import Reading, read
from crmrag_query.questions.grammar import Form
from crmrag_query.questions.lexicon import Language, compiled
from crmrag_query.questions.period import find_period
from crmrag_query.questions.pivot import Pivot, find_pivot, without
from crmrag_query.questions.references import RefWords, find_references, in_focus, ref_words
from crmrag_query.questions.state import QUESTIONS, ConversationState, Focus, Kind, Turn
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize

__all__ = ["ConversationState", "Focus", "FollowUp", "Kind", "Turn", "follow"]

VAGUE_WORDS = 10  # a follow-up of at most so many words, none of content, is read with what went before
EXCLUDED_RATIO = (
    0.9  # of an ambiguous name, meanings with this share of the best one's score are excluded as well
)
_NAMING = frozenset({"label", "alternative", "identifier"})


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


@dataclass(frozen=True, slots=True)
class _Told:
    """What the words of the question tell; ``own``: mentions of individuals that the question is about."""

    asked: Asked
    language: Language
    words: RefWords
    pivot: Pivot | None
    own: tuple[Mention, ...]
    more: bool
    opening: bool
    empty: bool
    refers: bool
    whole: bool
    focus: tuple[Focus, ...]


def follow(
    question: str,
    state: ConversationState,
    mentions: Sequence[Mention],
    lexicon: QuestionLexicon,
    iri_of: Callable[[int], str],
    categories_of: Callable[[int], int],
    languages: Sequence[str] = (),
) -> FollowUp:
    """Kind, texts to search, exclusions and focus of ``question`` after ``state``.

    ``mentions``: entities that it names (positions in ``tokenize(question)``); ``iri_of``, ``categories_of``: of their
    nodes; ``languages``: preferred when the words do not tell. Any text can be followed.
    """
    told = _told(question, state, mentions, lexicon, categories_of, languages)
    named = tuple(iri_of(one.entity) for mention in told.own for one in mention.entities[:1])
    kind = _kind(told, state, named)
    raw = (without(told.asked, told.pivot) or question) if told.pivot else question
    pivoted, types = _pivoted(told, state, iri_of, categories_of)
    alone = kind is Kind.STANDALONE or not state.turns or (kind is Kind.PIVOT and told.whole)
    focus = () if kind is Kind.STANDALONE else tuple(one for one in told.focus if one.iri not in pivoted)
    kept = {*named, *(one.iri for one in focus)}
    earlier = () if alone else tuple(iri for iri in state.excluded if iri not in kept)
    shown = tuple(iri for iri in state.shown if iri not in kept) if kind is Kind.MORE else ()
    lasting = tuple(dict.fromkeys((*pivoted, *earlier)))
    return FollowUp(
        kind=kind,
        raw=raw,
        contextual=None if alone else _contextual(state, raw, focus),
        excluded=tuple(dict.fromkeys((*lasting, *shown))),
        focus=focus,
        mentions=_kept(mentions, told.pivot),
        excluded_types=types,
        lasting=lasting,
    )


def _told(
    question: str,
    state: ConversationState,
    mentions: Sequence[Mention],
    lexicon: QuestionLexicon,
    categories_of: Callable[[int], int],
    languages: Sequence[str],
) -> _Told:
    ready = compiled(lexicon)
    reading, asked = read(question, ready, languages)
    language = ready.languages[reading.language]
    words = ref_words(lexicon.conversation, reading.language)
    pivot = find_pivot(asked, language, words.pivots, words.joiners, words.pronouns, mentions)
    out = frozenset(range(pivot.first, pivot.last)) if pivot else frozenset()
    rest = [mention for mention in mentions if mention.first not in out]
    asking_more = {
        i for at in range(len(asked.words)) for i in range(at, at + words.more.at(asked.words, at))
    }
    sure = [one for one in rest if one.last - one.first > 1 or _is_named(one, asked, categories_of)]
    references = find_references(asked, language, words, sure, categories_of, out | asking_more)
    focus = in_focus(references, state, language)
    own = tuple(mention for mention in rest if _is_named(mention, asked, categories_of))
    spoken = [word for i, word in enumerate(asked.words) if i not in out]
    naming = {i for mention in own for i in range(mention.first, mention.last)}
    plain = [word for i, word in enumerate(asked.words) if i not in out and i not in naming]
    refers = any(reference.groups for reference in references) or bool(focus)
    return _Told(
        asked=asked,
        language=language,
        words=words,
        pivot=pivot,
        own=own,
        more=words.more.within(spoken),
        opening=bool(words.opening.at(spoken, 0)),
        empty=len(spoken) <= VAGUE_WORDS and _is_empty(question, plain, language, words),
        refers=refers,
        whole=not refers and (bool(own) or any(i not in out for i in _nouns(reading, language))),
        focus=focus,
    )


def _nouns(reading: Reading, language: Language) -> list[int]:
    return [i for i in reading.heads if reading.words[i] in language.nouns]


def _is_named(mention: Mention, asked: Asked, categories_of: Callable[[int], int]) -> bool:
    """True for an individual that is named whole, or in part with a capital or in quotes."""
    if not mention.entities or categories_of(mention.entities[0].entity) == Category.Concept:
        return False
    return mention.entities[0].how in _NAMING or any(
        i in asked.named for i in range(mention.first, mention.last)
    )


def _is_empty(question: str, spoken: Sequence[str], language: Language, words: RefWords) -> bool:
    """True when no word is one of content: stop words, requests, references and words of a period are none."""
    forms = language.forms
    empty = (
        forms.describing, forms.listing, forms.polite, forms.enumeration, forms.everything, forms.which, forms.which_one,
        forms.which_many, forms.who, forms.what, forms.adverbs, words.opening, words.pronouns, words.more,
    )  # fmt: skip
    covered = {i for phrases in empty for first, last in phrases.spans(spoken) for i in range(first, last)}
    period = find_period(question)
    dated = period.words if period else frozenset()
    return all(i in covered or word in language.stop or word in dated for i, word in enumerate(spoken))


def _kind(told: _Told, state: ConversationState, named: Sequence[str]) -> Kind:
    if told.pivot is not None:
        return Kind.PIVOT
    if not state.turns:
        return Kind.STANDALONE
    known = {focus.iri for turn in state.topic for focus in turn.focus} | set(state.shown)
    if told.more and all(iri in known for iri in named):
        return Kind.MORE
    if told.empty and not told.own:
        return Kind.VAGUE
    if told.refers or (told.opening and (told.empty or not told.own)):
        return Kind.REFERENCE
    return Kind.STANDALONE


def _pivoted(
    told: _Told,
    state: ConversationState,
    iri_of: Callable[[int], str],
    categories_of: Callable[[int], int],
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """IRIs of the individuals that a pivot names, with every likely meaning, and nodes of the types it names."""
    if told.pivot is None:
        return (), ()
    individuals: list[str] = []
    types: list[int] = []
    for mention in told.pivot.mentions:
        least = EXCLUDED_RATIO * mention.entities[0].score if mention.entities else 0.0
        for one in mention.entities:
            if one.score < least:
                continue
            if categories_of(one.entity) == Category.Concept:
                types.append(one.entity)
            else:
                individuals.append(iri_of(one.entity))
    pronouns = find_references(
        replace(told.asked, starts=frozenset()), told.language, told.words, (), categories_of,
        set(range(len(told.asked.words))) - set(told.pivot.pronouns),
    )  # fmt: skip
    individuals += [focus.iri for focus in in_focus(pronouns, state, told.language)]
    return tuple(dict.fromkeys(individuals)), tuple(dict.fromkeys(types))


def _kept(mentions: Sequence[Mention], pivot: Pivot | None) -> tuple[Mention, ...]:
    """Mentions outside of the pivot at their positions in the question without it."""
    if pivot is None:
        return tuple(mentions)
    size = pivot.last - pivot.first
    before = [mention for mention in mentions if mention.last <= pivot.first]
    after = [mention for mention in mentions if mention.first >= pivot.last]
    moved = [replace(mention, first=mention.first - size, last=mention.last - size) for mention in after]
    return (*before, *moved)


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
