"""What a question asks for, read from its words: the form of the answer, and the language to give it in; with the categories,
named entities and period that it is about (``Analysis``).

The first words that ask decide (``_lead``): a yes/no opening asks for one fact, whatever follows; "which" and "what" ask for
one or many as their noun is singular or plural; requests go by the noun as well. Words that count, rank or distribute
anywhere else make an aggregation. The rule that decided is told, so that a wrong form can be traced to a list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from crmrag_query.config.loading import QuestionLexicon
from crmrag_query.dates import Interval, parse_date
from crmrag_query.linking import Mention
from crmrag_query.ontology.load import Category
from crmrag_query.questions.lexicon import (
    ANYWHERE,
    OPENING,
    Asked,
    Compiled,
    Language,
    Noun,
    Number,
    asked,
    chunks_of,
    compiled,
)
from crmrag_query.questions.period import find_period, without_names
from crmrag_query.text import positions

POSSESSIVE = "s"
ASKING = 5  # how much more than a stop word a word that asks tells of the language
_NEAR = 3  # tokens within which a bare noun opens a question without a verb
_LONGEST_PHRASE = 8  # words before and with a noun
_RELATIVE = frozenset({"who", "what", "which", "which_one", "which_many", "adverbs"})


class Form(Enum):
    """The three query types of the method (facts: method, Query)."""

    SPECIFIC = "specific"
    ENUMERATION = "enumeration"
    AGGREGATION = "aggregation"


class Decision(NamedTuple):
    """A form, the rule that decided, the positions of the nouns asked for, and whether a number is asked for."""

    form: Form
    rule: str
    heads: tuple[int, ...] = ()
    counts: bool = False


SPECIFIC, ENUMERATION, AGGREGATION = Form


@dataclass(frozen=True, slots=True)
class Reading:
    """A question as understood from its words.

    ``words``: its folded tokens in order; ``content``: those that are no stop words; ``counts``: a number is asked for;
    ``expects``: mask of the categories that question words such as "who" ask for, 0 when none does; ``cues``: labels of
    relationships and codes of properties that its verbs and nouns ask for; ``stop``: the stop words of its language;
    ``cueing``: its words that are cues; ``rule``: which rule gave the form; ``heads``: positions of the nouns asked for.
    """

    question: str
    language: str
    form: Form
    counts: bool
    words: tuple[str, ...]
    content: tuple[str, ...]
    expects: int = 0
    cues: frozenset[str] = frozenset()
    stop: frozenset[str] = frozenset()
    cueing: frozenset[str] = frozenset()
    rule: str = ""
    heads: tuple[int, ...] = ()


def read_question(question: str, lexicon: QuestionLexicon, languages: Sequence[str] = ()) -> Reading:
    """Form and language of ``question``; ``languages`` are preferred in ties, English is the last resort."""
    return read(question, compiled(lexicon), languages)[0]


def read(
    question: str, lexicon: Compiled, languages: Sequence[str] = (), names: Collection[int] = ()
) -> tuple[Reading, Asked]:
    """The reading, and the words that it was read from; ``names``: positions of tokens that belong to names, from which no
    form is read."""
    chunks = chunks_of(question)
    plain = asked(question, True, names, chunks)
    language = _language(plain, lexicon, languages)
    heard = plain if language.capitals_name else asked(question, False, names, chunks)
    decision = decide(heard, language)
    words, present = heard.words, frozenset(heard.words)
    called = [cue for cue in language.cues if present & cue.words]
    reading = Reading(
        question=question,
        language=language.code,
        form=decision.form,
        counts=decision.counts,
        words=words,
        content=tuple(word for word in words if word not in language.stop),
        expects=sum(mask for mask, phrases in language.expects if phrases.within(heard.visible)),
        cues=frozenset(name for cue in called for name in cue.asked),
        stop=language.stop,
        cueing=frozenset().union(*(present & cue.words for cue in called)),
        rule=decision.rule,
        heads=decision.heads,
    )
    return reading, heard


def _language(heard: Asked, lexicon: Compiled, preferred: Sequence[str]) -> Language:
    """The language whose phrases that ask, and then stop words, cover most of the words, those outside of names before any
    other; a word of several languages counts less for each. The order of ``preferred``, then of all, breaks ties."""
    endings = {chunk.last - 1 for chunk in heard.chunks if chunk.last - chunk.first > 1}
    possessive = {at for at in endings if heard.words[at] == POSSESSIVE}  # "Adams's": no French word
    written = heard.capitals - heard.starts
    named = possessive | (written if 2 * len(written) <= len(heard.words) else set())  # "in *La* Gazzetta"
    plain = ["" if at in named else word for at, word in enumerate(heard.visible)]
    every = [word for at, word in enumerate(heard.words) if at not in named]
    known = list(lexicon.languages)
    own = (chunk.text for chunk in heard.chunks if chunk.first not in heard.named)
    letters = "".join(text for text in own if not text[:1].isupper())  # names have any
    shared = {word: sum(word in one.stop for one in lexicon.languages.values()) for word in plain if word}

    def score(code: str) -> tuple[float, int]:
        one = lexicon.languages[code]
        found, at = float(ASKING * any(letter in one.letters for letter in letters)), 0
        while at < len(plain):
            length = one.asking.at(plain, at)
            if at in heard.starts or at == 0:
                length = max(length, one.opening.at(plain, at))
            found += ASKING * length
            found += sum(1 / shared[word] for word in plain[at : at + max(length, 1)] if word in one.stop)
            at += length or 1
        return found, sum(word in one.signs for word in every)

    order = sorted(known, key=lambda code: preferred.index(code) if code in preferred else len(preferred))
    return lexicon.languages[max(order, key=score)]


class _Lead(NamedTuple):
    """What opens the question: a kind of phrase at tokens ``first`` to before ``last``."""

    kind: str
    first: int
    last: int


def decide(asked: Asked, language: Language) -> Decision:
    """The form of the question; without any word that asks, it is a list when it opens with a plural, else one fact."""
    reader = _Reader(asked, language, asked.visible)
    lead = reader.lead()
    if lead is not None and lead.kind in ("polar", "existential"):
        return reader.yes_no(lead)
    if lead is None and (reader.within("inversion") or reader.is_asked_statement()):
        return Decision(SPECIFIC, "yes/no, as a statement", reader.bare_noun(0))
    ranking = reader.counting_or_ranking(lead) if lead is None or lead.kind != "describing" else None
    if ranking is not None:
        return ranking
    if lead is None:
        return reader.without_lead()
    found = reader.by(lead)
    if found.form is ENUMERATION and reader.asks_more_of_one(lead):
        return Decision(SPECIFIC, "several facts of one thing", found.heads)
    if found.form is SPECIFIC and lead.kind != "describing" and reader.is_generic():
        return Decision(ENUMERATION, "of any thing of a kind", found.heads)
    return found


@dataclass(frozen=True, slots=True)
class _Reader:
    """A question under its language."""

    asked: Asked
    language: Language
    words: tuple[str, ...]

    def at(self, kind: str, position: int) -> int:
        return getattr(self.language.forms, kind).at(self.words, position)  # type: ignore[no-any-return]

    def within(self, kind: str, start: int = 0, stop: int | None = None) -> bool:
        return getattr(self.language.forms, kind).within(self.words, start, stop)  # type: ignore[no-any-return]

    def word(self, position: int) -> str:
        return self.words[position] if 0 <= position < len(self.words) else ""

    def noun(self, position: int) -> Noun | None:
        """The known noun at a position, one within a name too."""
        known = 0 <= position < len(self.words)
        return self.language.nouns.get(self.asked.words[position]) if known else None

    def verb(self, position: int) -> Number | None:
        """The number of a verb at the position, None for any other word."""
        if self.at("one_verbs", position):
            return Number.ONE
        return Number.MANY if self.at("many_verbs", position) else None

    def lead(self) -> _Lead | None:
        """The first phrase that asks; polite openings are passed over, and so are relative pronouns after a noun."""
        position, opens = 0, True
        while position < len(self.words):
            opens = opens or position in self.asked.starts
            kinds = (*ANYWHERE, *OPENING) if opens else ANYWHERE
            length, kind = max((self.at(kind, position), -i) for i, kind in enumerate(kinds))
            polite = self.at("polite", position) if opens else 0
            if length and length >= polite:
                name = kinds[-kind]
                if opens or name not in _RELATIVE or not self.may_be_meant(position - 1):
                    return _Lead(name, position, position + length)
            position += polite or 1
            opens = polite > 0
        return None

    def may_be_meant(self, position: int) -> bool:
        """Whether a relative pronoun may stand for the word before it."""
        if position in self.asked.named or self.noun(position) is not None:
            return True
        return self.language.drops and self.word(position) not in self.language.stop

    def is_asked_statement(self) -> bool:
        """Whether a sentence with a verb is made a yes/no question by its mark: "Il museo possiede quadri?"."""
        ends = self.asked.chunks[-1].text[-1] if self.asked.chunks else ""
        verbs = any(self.verb(at) for at in range(1, len(self.words)))
        return ends in "?;;" and verbs and not self.at("everything", 0)

    def by(self, lead: _Lead) -> Decision:
        """By the kind of phrase that opens the question."""
        heads: tuple[int, ...]
        match lead.kind:
            case "who":
                many = self.within("many_refs", lead.last) and not self.within("one_refs", lead.last)
                bare = self.language.nouns.get(self.word(lead.last + 1))
                many |= bare is not None and bare.number is Number.MANY
                return Decision(ENUMERATION if many else SPECIFIC, "who")
            case "who_many":
                return Decision(ENUMERATION, "who, plural")
            case "which" | "which_one" | "which_many":
                return self.which(lead)
            case "what":
                return self.what(lead)
            case "listing":
                return self.listing(lead)
            case "enumeration":
                heads = self.phrase(lead.last)[1] or self.phrase(lead.first)[1]
                return Decision(ENUMERATION, "list", heads)
            case "describing":  # about one thing; about many when a plural noun, not a name, comes first
                number, heads = self.phrase(lead.last)
                many = number is Number.MANY and bool(heads) and self.noun(heads[0]) is not None
                return Decision(ENUMERATION if many else SPECIFIC, "tell about", heads)
        return Decision(
            SPECIFIC, "where, when, why, how" if lead.kind == "adverbs" else "a number of one thing"
        )

    def counting_or_ranking(self, lead: _Lead | None) -> Decision | None:
        for name in ("count", "aggregation"):
            for first, last in getattr(self.language.forms, name).spans(self.words):
                counts = name == "count"
                if self.is_no_aggregation(first, last) or (counts and self.is_of_one(last)):
                    continue
                after = last if counts or lead is None else lead.last
                return Decision(AGGREGATION, name, self.phrase(after)[1], counts)
        return None

    def is_no_aggregation(self, first: int, last: int) -> bool:
        """True when the phrase is part of one that does not rank, such as "at least", or, where nouns have capitals, of a
        name: "das Jüngste Gericht"."""
        chunks = [chunk for chunk in self.asked.chunks if chunk.first <= last and chunk.last > first]
        nominal = not self.language.capitals_name and last == first + 1 and self.noun(first) is None
        if nominal and all(chunk.capital for chunk in chunks[:2]) and len(chunks) > 1 and not chunks[0].opens:
            return True
        starts = range(max(0, first - 3), first + 1)
        return any(start + self.at("not_aggregation", start) >= last for start in starts)

    def is_of_one(self, last: int) -> bool:
        """True of a number that one thing has ("the number *of the coin*"), which is no count."""
        if not self.at("of", last - 1):
            return False
        number, heads = self.phrase(last)
        unsure = (
            bool(heads) and not self.noun(heads[0]) and self.words[heads[0]].endswith(self.language.either)
        )
        return not heads or (number is Number.ONE and not unsure)

    def yes_no(self, lead: _Lead) -> Decision:
        """One fact; where further things are asked for ("anywhere else"), these are wanted."""
        further = self.within("more", lead.last)
        further |= lead.kind == "existential" and self.within("also", lead.last)
        heads = self.bare_noun(lead.last, span=_LONGEST_PHRASE)
        return (
            Decision(ENUMERATION, "yes/no for more", heads)
            if further
            else Decision(SPECIFIC, "yes/no", heads)
        )

    def which(self, lead: _Lead) -> Decision:
        position = lead.last
        given = {"which_one": Number.ONE, "which_many": Number.MANY}.get(lead.kind)
        if self.at("of", position):
            verb = next((found for i in range(position, len(self.words)) if (found := self.verb(i))), None)
            number = Number.ONE if verb is Number.ONE else Number.MANY
            return self.by_number(number, self.phrase(position + 1)[1], lead, "which of")
        if verb := self.verb(position):
            return self.by_number(given or verb, self.phrase(position + 1)[1], lead, "which, verb")
        number, heads = self.phrase(position)
        return self.by_number(given or number, heads, lead, "which, noun")

    def by_number(self, number: Number, heads: tuple[int, ...], lead: _Lead, rule: str) -> Decision:
        """Many are a list, unless what is asked are the many values that one thing has, such as its dimensions."""
        if number is not Number.ONE and heads and self.at("attributes", heads[0]):
            before = any(self.verb(i) for i in range(lead.last, heads[0]))
            if before or self.verb(heads[-1] + 1) is Number.ONE:
                return Decision(SPECIFIC, "attributes of one thing", heads)
        return Decision(SPECIFIC if number is Number.ONE else ENUMERATION, f"{rule}: {number.value}", heads)

    def what(self, lead: _Lead) -> Decision:
        position = lead.last
        if self.at("many_refs", position) or self.at("of", position):
            return self.which(lead)
        if self.at("existential", position) or self.at("collecting", position):
            return Decision(ENUMERATION, "what is held or made")
        verb, being = self.verb(position), bool(self.at("being", position))
        if not self.at("of", lead.first - 1) and self.what_was_done(position, verb is not None):
            return Decision(ENUMERATION, "what was done")
        held = self.within("collecting", position) or self.what_one_did(position)
        if verb is Number.MANY and (being or not held):
            return self.by_number(Number.MANY, self.phrase(position + 1)[1], lead, "what are")
        if verb is None and self.word(position) not in self.language.stop:
            number, heads = self.phrase(position)
            if heads:
                return self.by_number(number, heads, lead, "what, noun")
        if not being and held:
            return Decision(ENUMERATION, "what is held or made")
        return Decision(SPECIFIC, "what", self.phrase(position + 1)[1] if verb else ())

    def what_one_did(self, position: int) -> bool:
        """True for "what did she paint", not for "what did she say", nor for "what did she die of"."""
        last = len(self.words) - 1
        saying = (
            self.within("telling", position) or self.at("of", last) or self.words[last] in self.language.stop
        )
        return bool(self.at("did", position)) and not saying

    def what_was_done(self, position: int, verb: bool) -> bool:
        """True for "what was made …": a participle follows, or ends the question where verbs stand last; none of saying,
        and not "made of", which asks for a substance."""
        last = len(self.words) - 1
        places = {position, position + verb, position + verb + 1}
        places |= {last} if verb and not self.language.capitals_name else set()
        return any(
            self.at("participles", at)
            and not self.at("telling", at)
            and not (at + 1 == last and self.at("of", last))
            for at in places
        )

    def listing(self, lead: _Lead) -> Decision:
        """A request: for a question that it holds, else for one or many as its noun says."""
        position = lead.last
        while position < len(self.words) and not self.at("everything", position):
            inner = next((kind for kind in (*ANYWHERE[1:], "enumeration") if self.at(kind, position)), None)
            if inner is not None:
                found = self.by(_Lead(inner, position, position + self.at(inner, position)))
                return found._replace(rule=f"request, {found.rule}" if inner in ANYWHERE else found.rule)
            if self.words[position] not in self.language.stop:
                break
            position += 1
        number, heads = self.phrase(lead.last)
        if self.within("everything", lead.last, lead.last + _NEAR):
            return Decision(ENUMERATION, "request for all", heads)
        form = ENUMERATION if number is Number.MANY else SPECIFIC
        return Decision(form, f"request: {number.value}", heads)

    def without_lead(self) -> Decision:
        start = 0
        while polite := self.at("polite", start):
            start += polite
        if self.within("everything", start, start + _NEAR) or self.within("more", start, start + _NEAR):
            return Decision(ENUMERATION, "bare: all", self.phrase(start)[1])
        heads = self.bare_noun(start)
        noun = self.noun(heads[0]) if heads else None
        many = noun is not None and noun.number is Number.MANY
        return Decision(ENUMERATION if many else SPECIFIC, "bare", heads)

    def bare_noun(self, start: int, span: int = _NEAR) -> tuple[int, ...]:
        near = range(start, min(start + span, len(self.words)))
        return next(((i,) for i in near if self.words[i] in self.language.nouns), ())

    def phrase(self, start: int) -> tuple[Number, tuple[int, ...]]:
        """Number and positions of the nouns of the phrase that begins at ``start``, stop words before it passed over.

        The head is the last of the first run of known nouns ("church paintings"); of unknown words the first that looks
        like a plural. A kind *of* things has the number of the things. Without any noun: (EITHER, ()).
        """
        nouns, words, small = self.language.nouns, self.words, self.language.stop
        while start < len(words) and words[start] in small and words[start] not in nouns:
            if start in self.asked.starts and start > 0:
                return Number.EITHER, ()
            start += 1
        stop = start
        while stop < len(words) and words[stop] not in small and stop - start < _LONGEST_PHRASE:
            if stop > start and stop in self.asked.starts:
                break
            stop += 1
        span = range(start, stop)
        many = any(self.at("numerals", i) for i in span)
        # a name's word is none, unless the name is the whole phrase's noun ("What Churches")
        may_be = ((i, noun) for i in span if (noun := self.noun(i)))
        known = (one for one in may_be if one[0] not in self.asked.named or one[1].number is Number.MANY)
        head, noun = next(known, (-1, None))
        if noun is None:
            return self.unknown_noun(span, many)
        # "works date" and "artist works" are noun and verb, no compound
        while head + 1 in span and words[head + 1] in nouns and noun.number is not Number.MANY:
            if noun.categories == Category.Actor:
                break
            head, noun = head + 1, nouns[words[head + 1]]
        number = Number.MANY if many or self.at("collective", head) else noun.number
        if noun.categories & Category.Concept and self.at("of", head + 1):
            inner, further = self.phrase(head + 2)
            if further and further[0] <= head + 4:
                return (inner if number is Number.ONE else number), (head, *further)
        return (self.verb(head + 1) or number if number is Number.EITHER else number), (head,)

    def unknown_noun(self, span: range, many: bool) -> tuple[Number, tuple[int, ...]]:
        """Number of a phrase whose noun is not known: by its article, else the verb after it, else its ending."""
        language = self.language
        first = next((i for i in span if self.words[i]), None)
        if first is None:
            return Number.EITHER, ()
        article = self.word(first - 1)
        if language.articles_many and article in language.the | language.articles_many:
            return (Number.MANY if article in language.articles_many else Number.ONE), (first,)
        for i in span:
            word = self.words[i]
            if word and self.at("collective", i):
                return Number.MANY, (i,)
            plural = word.endswith(language.plurals) and not word.endswith(language.not_plurals or ("\0",))
            if plural and len(word) > 3:
                return (Number.ONE if self.verb(i + 1) is Number.ONE and not many else Number.MANY), (i,)
        verb = next((found for i in range(first + 1, span.stop + 1) if (found := self.verb(i))), Number.ONE)
        return (Number.MANY if many else verb), (first,)

    def asks_more_of_one(self, lead: _Lead) -> bool:
        """True when a second question follows about one thing: "who are they, and who painted it"."""
        for i in range(lead.last, len(self.words)):
            for kind in ("who", "what", "which_one", "which", "adverbs"):
                length = self.at(kind, i)
                if length and not self.may_be_meant(i - 1):
                    return self.within("one_refs", i + length)
        return False

    def is_generic(self) -> bool:
        """True when a fact is asked of any thing of a kind ("of an artwork") and nothing is named."""
        spans = () if self.asked.named else self.language.forms.generic.spans(self.words)
        return any(self.word(last) in self.language.nouns for _, last in spans)


BY_WORDS = "words"
NAMING = frozenset({"label", "alternative", "identifier"})
MOST = 2  # categories asked for, and spoken of besides, at most (facts: method, Query)
# What a question for a time is answered by: the time-span, or the event that it belongs to (time-spans are told in the
# documents of their events).
WITH_TIME = Category.Time | Category.Event
Categories = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Analysis:
    """A question as analysed (facts: method, Query).

    ``targets``: mask of the one or two categories that are asked for, 0 when unknown; ``contexts``: mask of up to two that
    the question speaks of besides; ``mentions``: the entities that it names; ``period``: the stretch of time that answers
    must lie in, None when it names none; ``by``: ``words``, or the name of the model that analysed it; ``period_words``:
    the folded tokens that express the period; ``types``: nodes of types that answers must have, best first.
    """

    reading: Reading
    targets: int = 0
    contexts: int = 0
    mentions: tuple[Mention, ...] = ()
    period: Interval | None = None
    by: str = BY_WORDS
    period_words: frozenset[str] = frozenset()
    types: tuple[int, ...] = ()

    @property
    def form(self) -> Form:
        return self.reading.form


def _unknown(entity: int) -> int:
    return 0


def analyse(
    question: str,
    lexicon: QuestionLexicon,
    languages: Sequence[str] = (),
    mentions: Sequence[Mention] = (),
    categories_of: Categories = _unknown,
) -> Analysis:
    """The question as its words and the entities it names tell, without a model.

    ``languages`` are preferred in ties; ``mentions`` come from entity linking (positions in ``tokenize(question)``);
    ``categories_of`` gives the mask of categories of an entity. Words within the name of an individual or in quotes are
    read neither as question words nor as a period. Any text can be analysed.

    >>> from crmrag_query.config import load_method
    >>> analyse("Which churches were built before 1500?", load_method().questions).form
    <Form.ENUMERATION: 'enumeration'>
    """
    ready = compiled(lexicon)
    # Whole names of individuals of more than one word; a date that is also a name stays a date.
    names = positions(
        mention
        for mention in mentions
        if mention.last - mention.first > 1
        and mention.entities
        and mention.entities[0].how in NAMING
        and not _is_type(mention, categories_of)
        and parse_date(mention.text) is None
    )
    reading, heard = read(question, ready, languages, names)
    language = ready.languages[reading.language]
    period = find_period(without_names(heard, names), language.manies)
    period_words = period.words if period else frozenset()
    types = [
        one
        for one in mentions
        if _is_type(one, categories_of) and any(one.first <= head < one.last for head in reading.heads)
    ]
    individuals = [one for one in mentions if one.entities and not _is_type(one, categories_of)]
    named = [categories_of(one.entities[0].entity) for one in individuals]
    inside = positions(individuals)
    inside |= {i for i, word in enumerate(reading.words) if word in period_words and i not in reading.heads}
    targets = _targets(reading, language, bool(types), named, inside)
    others = [mask for i, mask in _nouns(reading, language) if i not in inside and i not in reading.heads]
    return Analysis(
        reading=reading,
        targets=targets,
        contexts=_first([mask & ~targets for mask in (*named, *others)]),
        mentions=tuple(mentions),
        period=period.interval if period else None,
        period_words=period_words,
        types=tuple(one.entity for mention in types for one in mention.entities),
    )


def _is_type(mention: Mention, categories_of: Categories) -> bool:
    """True when the best meaning of a mention is a type or another concept, not an individual."""
    return bool(mention.entities) and categories_of(mention.entities[0].entity) == Category.Concept


def _nouns(reading: Reading, language: Language) -> list[tuple[int, int]]:
    """Positions of known nouns, and masks of their categories."""
    known = language.nouns
    return [(i, known[word].categories) for i, word in enumerate(reading.words) if word in known]


def _targets(
    reading: Reading, language: Language, is_typed: bool, named: Sequence[int], inside: Collection[int]
) -> int:
    """Mask of one or two categories that are asked for, 0 when unknown.

    The first that says any: the nouns after the question word (of an unknown noun that is a type of the data: Thing),
    question words such as who and where, the nouns of a yes/no question, verbs of making and having (Thing), and for one
    fact about something named, its category. What stands at a position of ``inside`` is no noun of these.
    """
    nouns = _nouns(reading, language)
    heads = [mask for i, mask in nouns if i in reading.heads]
    if not heads and is_typed:
        heads = [int(Category.Thing)]
    expected = reading.expects | (WITH_TIME if reading.expects & Category.Time else 0)
    if found := _first(heads) or _first([expected]):
        return found
    free = _first([mask for i, mask in nouns if i not in inside][:1])
    if reading.rule.startswith(("what was done", "what is held", "request for all", "list")):
        return free or int(Category.Thing)
    if reading.form is Form.SPECIFIC and named and not reading.rule.startswith("yes/no"):
        return _first(named[:1])
    return free or _first(named[:1])


def _first(masks: Iterable[int]) -> int:
    """The union of the first masks, ``MOST`` categories at most; the lower bit first within one."""
    found = 0
    for mask in masks:
        for category in Category:
            if mask & category and not found & category and found.bit_count() < MOST:
                found |= int(category)
    return found
