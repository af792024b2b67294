"""What a question asks for, read from its words: the form of the answer, and the language to give it in.

The first words that ask decide (``_lead``): a yes/no opening asks for one fact, whatever follows; "which" and "what" ask for
one or many as their noun is singular or plural; requests go by the noun as well. Words that count, rank or distribute
anywhere else make an aggregation. The rule that decided is told, so that a wrong form can be traced to a list.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from crmrag_query.config.parts import QuestionLexicon
from crmrag_query.ontology.categories import Category
from crmrag_query.questions.lexicon import (
    ANYWHERE,
    OPENING,
    Compiled,
    Forms,
    Language,
    Noun,
    Number,
    compiled,
)
from crmrag_query.questions.words import Asked, asked, chunks_of

POSSESSIVE = "s"
ASKING = 5  # how much more than a stop word a word that asks tells of the language; ours
_NEAR = 3  # tokens within which a bare noun opens a question without a verb; ours
_LONGEST_PHRASE = 8  # words before and with a noun; ours
_RELATIVE = frozenset({"who", "what", "which", "which_one", "which_many", "adverbs"})


class Form(Enum):
    """The three query types of the method (facts: method, Query)."""

    SPECIFIC = "specific"
    ENUMERATION = "enumeration"
    AGGREGATION = "aggregation"


@dataclass(frozen=True, slots=True)
class Decision:
    """A form, whether a number is asked for, the rule that decided, and the positions of the nouns asked for."""

    form: Form
    counts: bool
    rule: str
    heads: tuple[int, ...] = ()


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


def read_question(
    question: str, lexicon: QuestionLexicon, languages: Sequence[str] = (), names: Collection[int] = ()
) -> Reading:
    """Form and language of ``question``; ``languages`` are preferred in ties, English is the last resort.

    ``names``: positions of tokens that belong to names, from which no form is read.
    """
    return read(question, compiled(lexicon), languages, names)[0]


def read(
    question: str, lexicon: Compiled, languages: Sequence[str] = (), names: Collection[int] = ()
) -> tuple[Reading, Asked]:
    """The reading, and the words that it was read from."""
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
        expects=sum(mask for mask, phrases in language.expects if phrases.within(words)),
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
    plain = ["" if at in possessive else word for at, word in enumerate(heard.visible)]
    every = [word for at, word in enumerate(heard.words) if at not in possessive]
    known = list(lexicon.languages)
    letters = "".join(chunk.text for chunk in heard.chunks if chunk.first not in heard.named)
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


@dataclass(frozen=True, slots=True)
class Lead:
    """What opens the question: a kind of phrase at tokens ``first`` to before ``last``."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class _Reader:
    """A question under its language."""

    asked: Asked
    language: Language
    words: tuple[str, ...]

    @property
    def forms(self) -> Forms:
        return self.language.forms

    def at(self, kind: str, position: int) -> int:
        return getattr(self.forms, kind).at(self.words, position)  # type: ignore[no-any-return]

    def within(self, kind: str, start: int = 0, stop: int | None = None) -> bool:
        return getattr(self.forms, kind).within(self.words, start, stop)  # type: ignore[no-any-return]

    def word(self, position: int) -> str:
        return self.words[position] if 0 <= position < len(self.words) else ""

    def noun(self, position: int) -> Noun | None:
        """The known noun at a position, one within a name too."""
        return self.language.nouns.get(self.asked.words[position]) if position < len(self.words) else None

    def verb(self, position: int) -> Number | None:
        """The number of a verb at the position, None for any other word."""
        if self.at("one_verbs", position):
            return Number.ONE
        return Number.MANY if self.at("many_verbs", position) else None


def decide(asked: Asked, language: Language) -> Decision:
    """The form of the question; without any word that asks, it is a list when it opens with a plural, else one fact."""
    reader = _Reader(asked, language, asked.visible)
    lead = _lead(reader)
    if lead is not None and lead.kind in ("polar", "existential"):
        return _yes_no(reader, lead)
    if lead is None and (reader.within("inversion") or _is_asked_statement(reader)):
        return Decision(Form.SPECIFIC, False, "yes/no, as a statement", _bare_noun(reader, 0))
    if lead is None or lead.kind != "describing":
        ranking = _counting_or_ranking(reader, lead)
        if ranking is not None:
            return ranking
    if lead is None:
        return _without_lead(reader)
    found = _RULES[lead.kind](reader, lead)
    if found.form is Form.ENUMERATION and _asks_more_of_one(reader, lead):
        return Decision(Form.SPECIFIC, False, "several facts of one thing", found.heads)
    if found.form is Form.SPECIFIC and lead.kind != "describing" and _is_generic(reader):
        return Decision(Form.ENUMERATION, False, "of any thing of a kind", found.heads)
    return found


def _lead(reader: _Reader) -> Lead | None:
    """The first phrase that asks; polite openings are passed over, and so are relative pronouns after a noun."""
    position, opens = 0, True
    while position < len(reader.words):
        opens = opens or position in reader.asked.starts
        kinds = (*ANYWHERE, *OPENING) if opens else ANYWHERE
        length, kind = max(((reader.at(kind, position), -i) for i, kind in enumerate(kinds)), default=(0, 0))
        polite = reader.at("polite", position) if opens else 0
        if length and length >= polite:
            name = kinds[-kind]
            if opens or name not in _RELATIVE or not _may_be_meant(reader, position - 1):
                return Lead(name, position, position + length)
        position += polite or 1
        opens = polite > 0
    return None


def _may_be_meant(reader: _Reader, position: int) -> bool:
    """Whether a relative pronoun may stand for the word before it."""
    if position in reader.asked.named or reader.noun(position) is not None:
        return True
    return reader.language.drops and reader.word(position) not in reader.language.stop


def _is_asked_statement(reader: _Reader) -> bool:
    """Whether a sentence with a verb is made a yes/no question by its mark: "Il museo possiede quadri?"."""
    ends = reader.asked.chunks[-1].text[-1] if reader.asked.chunks else ""
    return ends in "?;;" and any(
        reader.verb(at) and not reader.at("everything", 0) for at in range(1, len(reader.words))
    )


def _counting_or_ranking(reader: _Reader, lead: Lead | None) -> Decision | None:
    for name, counts in (("count", True), ("aggregation", False)):
        for first, last in getattr(reader.forms, name).spans(reader.words):
            if _is_no_aggregation(reader, first, last) or (counts and _is_of_one(reader, last)):
                continue
            after = last if counts or lead is None else lead.last
            return Decision(Form.AGGREGATION, counts, name, _phrase(reader, after)[1])
    return None


def _is_no_aggregation(reader: _Reader, first: int, last: int) -> bool:
    """True when the phrase is part of one that does not rank, such as "at least", or, where nouns have capitals, of a name:
    "das Jüngste Gericht"."""
    if not reader.language.capitals_name:
        chunk = next(chunk for chunk in reader.asked.chunks if chunk.first <= first < chunk.last)
        if (
            chunk.capital
            and not chunk.opens
            and chunk.last < len(reader.words)
            and reader.noun(first) is None
        ):
            after = next(one for one in reader.asked.chunks if one.first == chunk.last)
            if after.capital and reader.at("aggregation", first) == 1:
                return True
    return any(
        start + reader.at("not_aggregation", start) >= last for start in range(max(0, first - 3), first + 1)
    )


def _is_of_one(reader: _Reader, last: int) -> bool:
    """True of a number that one thing has ("the number *of the coin*"), which is no count."""
    if not reader.at("of", last - 1):
        return False
    number, heads = _phrase(reader, last)
    unsure = (
        bool(heads)
        and reader.noun(heads[0]) is None
        and reader.words[heads[0]].endswith(reader.language.either)
    )
    return not heads or (number is Number.ONE and not unsure)


def _yes_no(reader: _Reader, lead: Lead) -> Decision:
    """One fact; where further things are asked for ("anywhere else"), these are wanted."""
    further = reader.within("more", lead.last)
    further |= lead.kind == "existential" and reader.within("also", lead.last)
    form = Form.ENUMERATION if further else Form.SPECIFIC
    heads = _bare_noun(reader, lead.last, span=_LONGEST_PHRASE)
    return Decision(form, False, "yes/no for more" if further else "yes/no", heads)


def _who(reader: _Reader, lead: Lead) -> Decision:
    many = reader.within("many_refs", lead.last) and not reader.within("one_refs", lead.last)
    bare = reader.language.nouns.get(reader.word(lead.last + 1))
    many |= bare is not None and bare.number is Number.MANY
    return Decision(Form.ENUMERATION if many else Form.SPECIFIC, False, "who")


def _which(reader: _Reader, lead: Lead) -> Decision:
    position = lead.last
    if reader.at("of", position):
        verb = next((found for i in range(position, len(reader.words)) if (found := reader.verb(i))), None)
        number = Number.ONE if verb is Number.ONE else Number.MANY
        return _by_number(reader, number, _phrase(reader, position + 1)[1], lead, "which of")
    verb = reader.verb(position)
    given = {"which_one": Number.ONE, "which_many": Number.MANY}.get(lead.kind)
    if verb is not None:
        return _by_number(reader, given or verb, _phrase(reader, position + 1)[1], lead, "which, verb")
    number, heads = _phrase(reader, position)
    return _by_number(reader, given or number, heads, lead, "which, noun")


def _by_number(reader: _Reader, number: Number, heads: tuple[int, ...], lead: Lead, rule: str) -> Decision:
    """Many are a list, unless what is asked are the many values that one thing has, such as its dimensions."""
    if number is not Number.ONE and heads and reader.at("attributes", heads[0]):
        before = any(reader.verb(i) for i in range(lead.last, heads[0]))
        if before or reader.verb(heads[-1] + 1) is Number.ONE:
            return Decision(Form.SPECIFIC, False, "attributes of one thing", heads)
    form = Form.SPECIFIC if number is Number.ONE else Form.ENUMERATION
    return Decision(form, False, f"{rule}: {number.value}", heads)


def _what(reader: _Reader, lead: Lead) -> Decision:
    position = lead.last
    if reader.at("many_refs", position) or reader.at("of", position):
        return _which(reader, lead)
    if reader.at("existential", position) or reader.at("collecting", position):
        return Decision(Form.ENUMERATION, False, "what is held or made")
    verb = reader.verb(position)
    if not reader.at("of", lead.first - 1) and _what_was_done(reader, position, verb is not None):
        return Decision(Form.ENUMERATION, False, "what was done")
    being = bool(reader.at("being", position))
    held = reader.within("collecting", position) or _what_one_did(reader, position)
    if verb is Number.MANY and (being or not held):
        return _by_number(reader, Number.MANY, _phrase(reader, position + 1)[1], lead, "what are")
    if verb is None and reader.word(position) not in reader.language.stop:
        number, heads = _phrase(reader, position)
        if heads:
            return _by_number(reader, number, heads, lead, "what, noun")
    if not being and held:
        return Decision(Form.ENUMERATION, False, "what is held or made")
    return Decision(Form.SPECIFIC, False, "what", _phrase(reader, position + 1)[1] if verb else ())


def _what_one_did(reader: _Reader, position: int) -> bool:
    """True for "what did she paint", not for "what did she say", nor for "what did she die of"."""
    last = len(reader.words) - 1
    saying = (
        reader.within("telling", position)
        or reader.at("of", last)
        or reader.word(last) in reader.language.stop
    )
    return bool(reader.at("did", position)) and not saying


def _what_was_done(reader: _Reader, position: int, verb: bool) -> bool:
    """True for "what was made …": a participle follows, or ends the question where verbs stand last; none of saying, and
    not "made of", which asks for a substance."""
    places = {position, position + verb, position + verb + 1}
    if verb and not reader.language.capitals_name:
        places.add(len(reader.words) - 1)
    return any(
        reader.at("participles", at)
        and not reader.at("telling", at)
        and not (at + 2 == len(reader.words) and reader.at("of", at + 1))
        for at in sorted(places)
    )


def _listing(reader: _Reader, lead: Lead) -> Decision:
    """A request: for a question that it holds, else for one or many as its noun says."""
    position = lead.last
    while position < len(reader.words) and not reader.within("everything", position, position + 1):
        inner = next((kind for kind in ANYWHERE[1:] if reader.at(kind, position)), None)
        if length := reader.at("enumeration", position):
            return _enumeration(reader, Lead("enumeration", position, position + length))
        if inner is not None:
            found = _RULES[inner](reader, Lead(inner, position, position + reader.at(inner, position)))
            return Decision(found.form, found.counts, f"request, {found.rule}", found.heads)
        if reader.words[position] not in reader.language.stop:
            break
        position += 1
    number, heads = _phrase(reader, lead.last)
    if reader.within("everything", lead.last, lead.last + _NEAR):
        return Decision(Form.ENUMERATION, False, "request for all", heads)
    form = Form.ENUMERATION if number is Number.MANY else Form.SPECIFIC
    return Decision(form, False, f"request: {number.value}", heads)


def _enumeration(reader: _Reader, lead: Lead) -> Decision:
    heads = _phrase(reader, lead.last)[1] or _phrase(reader, lead.first)[1]
    return Decision(Form.ENUMERATION, False, "list", heads)


def _describing(reader: _Reader, lead: Lead) -> Decision:
    """About one thing; about many when a plural noun, not a name, comes first."""
    number, heads = _phrase(reader, lead.last)
    many = number is Number.MANY and heads and reader.noun(heads[0]) is not None
    return Decision(Form.ENUMERATION if many else Form.SPECIFIC, False, "tell about", heads)


def _without_lead(reader: _Reader) -> Decision:
    start = 0
    while polite := reader.at("polite", start):
        start += polite
    if reader.within("everything", start, start + _NEAR) or reader.within("more", start, start + _NEAR):
        return Decision(Form.ENUMERATION, False, "bare: all", _phrase(reader, start)[1])
    heads = _bare_noun(reader, start)
    noun = reader.noun(heads[0]) if heads else None
    form = Form.ENUMERATION if noun is not None and noun.number is Number.MANY else Form.SPECIFIC
    return Decision(form, False, "bare", heads)


def _bare_noun(reader: _Reader, start: int, span: int = _NEAR) -> tuple[int, ...]:
    near = range(start, min(start + span, len(reader.words)))
    return next(((i,) for i in near if reader.words[i] in reader.language.nouns), ())


def _phrase(reader: _Reader, start: int) -> tuple[Number, tuple[int, ...]]:
    """Number and positions of the nouns of the phrase that begins at ``start``, stop words before it passed over.

    The head is the last of the first run of known nouns ("church paintings"); of unknown words the first that looks like a
    plural. A kind *of* things has the number of the things. Without any noun: (EITHER, ()).
    """
    nouns, words, stop_words = reader.language.nouns, reader.words, reader.language.stop
    while start < len(words) and words[start] in stop_words and words[start] not in nouns:
        if start in reader.asked.starts and start > 0:
            return Number.EITHER, ()
        start += 1
    stop = start
    while stop < len(words) and words[stop] not in stop_words and stop - start < _LONGEST_PHRASE:
        if stop > start and stop in reader.asked.starts:
            break
        stop += 1
    span = range(start, stop)
    many = any(reader.at("numerals", i) for i in span)
    known = next((i for i in span if (noun := reader.noun(i)) and _may_be_noun(reader, i, noun)), None)
    if known is None:
        return _unknown_noun(reader, span, many)
    head, noun = known, nouns[reader.asked.words[known]]
    while head + 1 in span and words[head + 1] in nouns and _joins(noun):
        head, noun = head + 1, nouns[words[head + 1]]
    number = Number.MANY if many or reader.at("collective", head) else noun.number
    if noun.categories & Category.Concept and reader.at("of", head + 1):
        inner, further = _phrase(reader, head + 2)
        if further and further[0] <= head + 4:
            return (inner if number is Number.ONE else number), (head, *further)
    if number is Number.EITHER:
        number = reader.verb(head + 1) or number
    return number, (head,)


def _may_be_noun(reader: _Reader, position: int, noun: Noun) -> bool:
    """False for a name's word, unless the name is the whole phrase's noun ("What Churches")."""
    return position not in reader.asked.named or noun.number is Number.MANY


def _joins(noun: Noun) -> bool:
    """True for a noun that may be the first of a compound: "works date" and "artist works" are noun and verb."""
    return noun.number is not Number.MANY and noun.categories != Category.Actor


def _unknown_noun(reader: _Reader, span: range, many: bool) -> tuple[Number, tuple[int, ...]]:
    """Number of a phrase whose noun is not known: by its article, else the verb after it, else its ending."""
    language = reader.language
    first = next((i for i in span if reader.words[i]), None)
    if first is None:
        return Number.EITHER, ()
    if language.articles_many and reader.word(first - 1) in language.the | language.articles_many:
        return (Number.MANY if reader.word(first - 1) in language.articles_many else Number.ONE), (first,)
    for i in span:
        word = reader.words[i]
        if word and reader.at("collective", i):
            return Number.MANY, (i,)
        plural = word.endswith(language.plurals) and not word.endswith(language.not_plurals or ("\0",))
        if plural and len(word) > 3:
            return (Number.MANY if many or reader.verb(i + 1) is not Number.ONE else Number.ONE), (i,)
    verb = next((found for i in range(first + 1, span.stop + 1) if (found := reader.verb(i))), None)
    return (Number.MANY if many else verb or Number.ONE), (first,)


def _asks_more_of_one(reader: _Reader, lead: Lead) -> bool:
    """True when a second question follows about one thing: "who are they, and who painted it"."""
    for i in range(lead.last, len(reader.words)):
        for kind in ("who", "what", "which_one", "which", "adverbs"):
            length = reader.at(kind, i)
            if length and not _may_be_meant(reader, i - 1):
                return reader.within("one_refs", i + length)
    return False


def _is_generic(reader: _Reader) -> bool:
    """True when a fact is asked of any thing of a kind ("of an artwork") and nothing is named."""
    spans = () if reader.asked.named else reader.forms.generic.spans(reader.words)
    return any(reader.word(last) in reader.language.nouns for _, last in spans)


def _always(form: Form, rule: str) -> Callable[[_Reader, Lead], Decision]:
    return lambda reader, lead: Decision(form, False, rule)


_RULES: dict[str, Callable[[_Reader, Lead], Decision]] = {
    "count": _always(Form.SPECIFIC, "a number of one thing"),
    "who": _who,
    "who_many": _always(Form.ENUMERATION, "who, plural"),
    "adverbs": _always(Form.SPECIFIC, "where, when, why, how"),
    "which": _which,
    "which_one": _which,
    "which_many": _which,
    "what": _what,
    "listing": _listing,
    "enumeration": _enumeration,
    "describing": _describing,
}
