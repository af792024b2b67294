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

from crmrag_query.config.parts import QuestionLexicon
from crmrag_query.linking import Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.analysis import NAMING
from crmrag_query.questions.form import Form, Reading, read
from crmrag_query.questions.lexicon import Language, Number, compiled
from crmrag_query.questions.period import find_period
from crmrag_query.questions.state import QUESTIONS, ConversationState, Focus, Kind, Turn
from crmrag_query.questions.words import Asked
from crmrag_query.text import tokenize

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
    "adverbs",
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
    reading, asked = read(question, compiled(lexicon), languages)
    heard = _Heard(asked, compiled(lexicon).languages[reading.language], tuple(mentions), categories_of)
    pivot = _find_pivot(heard)
    out = frozenset(range(pivot.first, pivot.last)) if pivot else frozenset[int]()
    rest = [mention for mention in mentions if mention.first not in out]
    own = [mention for mention in rest if heard.is_named(mention)]
    named = tuple(iri_of(one.entity) for mention in own for one in mention.entities[:1])
    told = _Told(heard, reading, pivot is not None, out, tuple(rest), tuple(own), named)
    focus, refers = told.focus(state)
    kind = told.kind(state, refers)
    whole = not refers and (bool(own) or any(i not in out for i in told.nouns))
    alone = kind is Kind.STANDALONE or not state.turns or (kind is Kind.PIVOT and whole)
    raw = (_without(asked, pivot) or question) if pivot else question
    pivoted, types = _pivoted(heard, pivot, state, iri_of) if pivot else ((), ())
    focus = () if kind is Kind.STANDALONE else tuple(one for one in focus if one.iri not in pivoted)
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
        mentions=_kept(mentions, pivot),
        excluded_types=types,
        lasting=lasting,
    )


def name_breaks(question: str, lexicon: QuestionLexicon, languages: Sequence[str] = ()) -> tuple[int, ...]:
    """Positions of ``tokenize(question)`` that no name goes across, ascending, none for a question without a pivot.

    The ends of pivot phrases, and where the question itself begins: "aside from | Asinou, | which churches".
    """
    reading, asked = read(question, compiled(lexicon), languages)
    language = compiled(lexicon).languages[reading.language]
    ends = {end for span in language.refs.pivots.spans(asked.words) for end in span}
    begins = {i for i in asked.starts if _asks(language, asked.words, i)}
    return tuple(sorted((ends | begins) - {0, len(asked.words)})) if ends else ()


@dataclass(frozen=True, slots=True)
class _Heard:
    """A question, its language and what it names."""

    asked: Asked
    language: Language
    mentions: tuple[Mention, ...]
    categories_of: Categories

    @property
    def words(self) -> tuple[str, ...]:
        return self.asked.words

    def category(self, mention: Mention) -> int:
        return self.categories_of(mention.entities[0].entity) if mention.entities else 0

    def is_noun(self, position: int) -> bool:
        return position < len(self.words) and self.words[position] in self.language.nouns

    def is_named(self, mention: Mention) -> bool:
        """True for an individual that is named whole, or in part with a capital or in quotes."""
        if not mention.entities or self.category(mention) == Category.Concept:
            return False
        inside = range(mention.first, mention.last)
        return mention.entities[0].how in NAMING or not self.asked.named.isdisjoint(inside)


@dataclass(frozen=True, slots=True)
class _Told:
    """What the words of a question tell. ``out``: positions of a pivot; ``rest``: mentions outside of it, ``own`` those of
    individuals that the question is about, with IRIs ``named``."""

    heard: _Heard
    reading: Reading
    pivots: bool
    out: frozenset[int]
    rest: tuple[Mention, ...]
    own: tuple[Mention, ...]
    named: tuple[str, ...]

    @property
    def nouns(self) -> list[int]:
        return [i for i in self.reading.heads if self.heard.is_noun(i)]

    def spoken(self, without: Collection[int] = ()) -> list[str]:
        return [word for i, word in enumerate(self.heard.words) if i not in self.out and i not in without]

    def focus(self, state: ConversationState) -> tuple[tuple[Focus, ...], bool]:
        """The entities that the question refers to, and whether it refers to any."""
        heard, refs = self.heard, self.heard.language.refs
        size = len(heard.words)
        more = {i for at in range(size) for i in range(at, at + refs.more.at(heard.words, at))}
        sure = [one for one in self.rest if one.last - one.first > 1 or heard.is_named(one)]
        references = _references(heard, sure, self.out | more)
        found = _in_focus(references, state, heard.language)
        if found or any(one.groups for one in references):
            return found, True
        focus = self._dropped(state)
        return focus, bool(focus)

    def _dropped(self, state: ConversationState) -> tuple[Focus, ...]:
        """What a short question that names nothing is about where a verb needs no pronoun: the last thing in focus, of the
        last person who was born or died."""
        heard, forms = self.heard, self.heard.language.forms
        if (
            not heard.language.drops
            or len(heard.words) > VAGUE_WORDS
            or self.rest or self.out or heard.asked.named
            or any(map(heard.is_noun, range(len(heard.words))))
            or self.reading.rule not in _OF_ONE
            or forms.existential.within(heard.words)
            or self._is_empty()
        ):  # fmt: skip
            return ()
        if _LIFE in self.reading.cues:
            return _in_focus([_Reference(0, ("person",))], state, heard.language)
        return next((turn.focus[:1] for turn in reversed(state.turns) if turn.focus), ())

    def kind(self, state: ConversationState, refers: bool) -> Kind:
        if self.pivots:
            return Kind.PIVOT
        if not state.turns:
            return Kind.STANDALONE
        refs, spoken = self.heard.language.refs, self.spoken()
        known = {focus.iri for turn in state.topic for focus in turn.focus} | set(state.shown)
        if refs.more.within(spoken) and all(iri in known for iri in self.named):
            return Kind.MORE
        empty = len(spoken) <= VAGUE_WORDS and self._is_empty()
        if empty and not self.own:
            return Kind.VAGUE
        if refers or (refs.opening.at(spoken, 0) and (empty or not self.own)):
            return Kind.REFERENCE
        return Kind.STANDALONE

    def _is_empty(self) -> bool:
        """True when no word but names is one of content: stop words, requests, references and words of a period are none."""
        spoken = self.spoken({i for mention in self.own for i in range(mention.first, mention.last)})
        language, refs = self.heard.language, self.heard.language.refs
        kinds = [getattr(language.forms, kind) for kind in _SAYING_NOTHING]
        covered = {
            i
            for phrases in (*kinds, refs.opening, refs.pronouns, refs.more)
            for first, last in phrases.spans(spoken)
            for i in range(first, last)
        }
        period = find_period(self.reading.question)
        dated = period.words if period else frozenset()
        return all(i in covered or word in language.stop or word in dated for i, word in enumerate(spoken))


@dataclass(frozen=True, slots=True)
class _Pivot:
    """Tokens ``first`` to before ``last``: "aside from" and the names after it; ``pronouns``: positions of these within."""

    first: int
    last: int
    mentions: tuple[Mention, ...]
    pronouns: tuple[int, ...]


def _find_pivot(heard: _Heard) -> _Pivot | None:
    """The first pivot phrase that names follow; None for none.

    Names are mentions, capitalised or quoted words, nouns, pronouns that no noun follows, and, where none of these stands
    directly after the phrase, one other word; with small words and commas between them.
    """
    for first, start in heard.language.refs.pivots.spans(heard.words):
        last, pronouns = _excluded(heard, start)
        if last > start:
            within = tuple(one for one in heard.mentions if start <= one.first and one.last <= last)
            return _Pivot(first, last, within, tuple(pronouns))
    return None


def _excluded(heard: _Heard, start: int) -> tuple[int, list[int]]:
    """The position past the last name after ``start``, and the positions of pronouns; ``start`` when there is no name."""
    words, language, refs = heard.words, heard.language, heard.language.refs
    at_first = {mention.first: mention.last for mention in heard.mentions}
    position, end = start, start
    found: list[int] = []
    while position < len(words):
        length = at_first.get(position, position) - position
        if not length and _asks(language, words, position):
            break
        pronoun = refs.pronouns.at(words, position)
        owned = position + pronoun  # "his sculptures" are excluded, not he
        if not length and pronoun and not heard.is_noun(owned) and owned not in at_first:
            found.append(position)
            length = pronoun
        elif not length and (position in heard.asked.named or heard.is_noun(position)):
            length = 1
        if length:
            position = end = position + length
            continue
        if words[position] not in refs.joiners and not pronoun:
            plain = end == start and words[position] not in language.stop
            return (position + 1 if plain else end), found
        position += 1
    return end, found


def _asks(language: Language, words: Sequence[str], position: int) -> bool:
    """True where the question itself begins: a question word, a yes/no opening or a verb."""
    forms = language.forms
    kinds = (language.asking, forms.polar, forms.one_verbs, forms.many_verbs)
    return any(phrases.at(words, position) for phrases in kinds)


def _pivoted(
    heard: _Heard, pivot: _Pivot, state: ConversationState, iri_of: Callable[[int], str]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """IRIs of the individuals that a pivot names, with every likely meaning, and nodes of the types it names."""
    individuals: list[str] = []
    types: list[int] = []
    for mention in pivot.mentions:
        least = EXCLUDED_RATIO * mention.entities[0].score if mention.entities else 0.0
        for one in mention.entities:
            if one.score >= least and heard.categories_of(one.entity) == Category.Concept:
                types.append(one.entity)
            elif one.score >= least:
                individuals.append(iri_of(one.entity))
    apart = replace(heard, asked=replace(heard.asked, starts=frozenset()))
    references = _references(apart, (), set(range(len(heard.words))) - set(pivot.pronouns))
    individuals += [focus.iri for focus in _in_focus(references, state, heard.language)]
    return tuple(dict.fromkeys(individuals)), tuple(dict.fromkeys(types))


def _without(asked: Asked, pivot: _Pivot) -> str:
    """The question without the pivot's stretch; a comma that closed it goes with it."""
    kept = [
        chunk.text
        for chunk in asked.chunks
        if not (pivot.first < chunk.last and chunk.first < pivot.last)
        and (chunk.last > chunk.first or chunk.text != ",")
    ]
    ends = asked.chunks[-1].text[-1:] if asked.chunks else ""
    text = " ".join(kept)
    return text + ends if ends in "?;" and text and not text.endswith(ends) else text


def _kept(mentions: Sequence[Mention], pivot: _Pivot | None) -> tuple[Mention, ...]:
    """Mentions outside of the pivot at their positions in the question without it."""
    if pivot is None:
        return tuple(mentions)
    size = pivot.last - pivot.first
    before = [mention for mention in mentions if mention.last <= pivot.first]
    after = [mention for mention in mentions if mention.first >= pivot.last]
    return (*before, *(replace(one, first=one.first - size, last=one.last - size) for one in after))


@dataclass(frozen=True, slots=True)
class _Reference:
    """A word or description at a position: ``groups`` of what it may stand for, or the ``noun`` that it describes by.

    ``pointing``: the description points ("this church"), so that a fitting category is enough.
    """

    position: int
    groups: tuple[str, ...] = ()
    noun: str = ""
    pointing: bool = False


def _references(
    heard: _Heard, mentions: Sequence[Mention], left_out: Collection[int] = ()
) -> tuple[_Reference, ...]:
    """Pronouns and definite descriptions in order, but those that an earlier word of the question itself explains."""
    refs, words, starts = heard.language.refs, heard.words, heard.asked.starts
    covered = {i for first, last in refs.no_reference.spans(words) for i in range(first, last)} | set(
        left_out
    )
    covered |= {i for one in mentions if one.last - one.first > 1 for i in range(one.first, one.last)}
    found: list[_Reference] = []
    for position, word in enumerate(words):
        if position in covered:
            continue
        described = _description(heard, position, mentions)
        if described is not None:
            found.append(described)
        elif refs.tail.at(words, position) and (position + 1 == len(words) or position + 1 in starts):
            found.append(_Reference(position, ("person", "thing", "many")))
        elif refs.pronouns.at(words, position) and not _is_formal(heard, position):
            groups = tuple(name for name, phrases in refs.groups if phrases.at(words, position))
            determines = word in refs.this and heard.is_noun(position + 1)
            if not determines and not _explained(heard, position, groups, mentions):
                found.append(_Reference(position, groups))
    return tuple(found)


def _is_formal(heard: _Heard, position: int) -> bool:
    """True for a capitalised pronoun within a clause where nouns have capitals: the German "Sie" to a person."""
    chunk = next(chunk for chunk in heard.asked.chunks if chunk.first <= position < chunk.last)
    return not heard.language.capitals_name and chunk.capital and not chunk.opens


def _description(heard: _Heard, position: int, mentions: Sequence[Mention]) -> _Reference | None:
    """A definite article or "this" with a known noun, when no name follows that says which one."""
    word, after = heard.words[position], position + 1
    pointing = word in heard.language.refs.this
    if (
        not (pointing or word in heard.language.refs.the)
        or not heard.is_noun(after)
        or heard.is_noun(after + 1)
    ):
        return None
    near = range(after + 1, after + 4)
    named = any(mention.first in near for mention in mentions) or any(i in heard.asked.named for i in near)
    return (
        None if named and not pointing else _Reference(position, noun=heard.words[after], pointing=pointing)
    )


def _explained(heard: _Heard, position: int, groups: Sequence[str], mentions: Sequence[Mention]) -> bool:
    """True when a name before the pronoun in the question fits it, or, of a word for whose it is, a noun does."""
    for mention in mentions:
        category = heard.category(mention)
        if mention.last <= position and category != Category.Concept and _fits_category(category, groups):
            return True
    if not heard.language.refs.own.at(heard.words, position):
        return False
    known = heard.language.nouns
    nouns = [known[word] for word in heard.words[:position] if word in known]
    if set(groups) == {"many"}:
        return any(noun.number is not Number.ONE for noun in nouns)
    return any(noun.number is not Number.MANY and _fits_category(noun.categories, groups) for noun in nouns)


_CATEGORIES = {"person": Category.Actor, "place": Category.Place, "thing": ~Category.Actor, "many": 0}


def _fits_category(mask: int, groups: Sequence[str]) -> bool:
    return any(mask & _CATEGORIES[group] for group in groups)


def _in_focus(
    references: Sequence[_Reference], state: ConversationState, language: Language
) -> tuple[Focus, ...]:
    """The entities that the references mean, in order: of each the most recent one that fits, of "those" a whole turn's."""
    found: dict[str, Focus] = {}
    for reference in references:
        for focus in _meant(reference, state, language):
            found.setdefault(focus.iri, focus)
    return tuple(found.values())


def _meant(reference: _Reference, state: ConversationState, language: Language) -> tuple[Focus, ...]:
    turns = [turn.focus for turn in reversed(state.turns) if turn.focus]
    if reference.noun:
        return _described(reference, turns, language)
    for group in reference.groups:
        if group == "many":
            if several := _several(state):
                return several
            continue
        for turn in turns:
            fitting = [focus for focus in turn if _fits(focus, group, language)]
            if group == "place":
                fitting.sort(key=lambda focus: focus.category != Category.Place.name)
            if fitting:
                return tuple(fitting[:1])
    return ()


def _several(state: ConversationState) -> tuple[Focus, ...]:
    """What "those" means: of the last turn with anything in focus, the several that its question did not name; else all."""
    turn = next((turn for turn in reversed(state.turns) if turn.focus), None)
    if turn is None:
        return ()
    asked = set(tokenize(turn.resolved))
    told = tuple(focus for focus in turn.focus if not asked.issuperset(tokenize(focus.label)))
    return told if len(told) > 1 else turn.focus


def _fits(focus: Focus, group: str, language: Language) -> bool:
    """True when a word of the group may stand for the entity; "there" may be a building, which is a thing, too.

    Its categories: its own, and those that the nouns of its types ask for (a saint, who is a character, may be a he).
    """
    nouns = [
        language.nouns[word] for name in focus.words for word in tokenize(name)[-1:] if word in language.nouns
    ]
    people = [noun.categories for noun in nouns]
    persons = any(mask & Category.Actor and not mask & Category.Place for mask in people)  # no monasteries
    mask = _category(focus) | int(persons) * int(Category.Actor)
    if group == "place":
        return bool(mask & (Category.Place | Category.Thing)) and not mask & Category.Actor
    return _fits_category(mask, (group,))


def _described(
    reference: _Reference, turns: Sequence[Sequence[Focus]], language: Language
) -> tuple[Focus, ...]:
    """By the words of their types first; by category for "this", for a noun of one category that is no Thing (too many are),
    and where the types have no word in the question's language."""
    noun = language.nouns[reference.noun]
    stem = language.stem
    same = stem(reference.noun)
    for turn in turns:
        called = [focus for focus in turn if same in map(stem, _words(focus))]
        if called:
            return tuple(called if noun.number is Number.MANY else called[:1])
    if noun.number is Number.MANY:
        return ()
    single = noun.categories.bit_count() == 1 and not noun.categories & Category.Thing
    for turn in turns:
        for focus in turn:
            foreign = bool(focus.words) and not _words(focus) & language.nouns.keys()
            if _category(focus) & noun.categories and (reference.pointing or single or foreign):
                return (focus,)
    return ()


def _category(focus: Focus) -> int:
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
