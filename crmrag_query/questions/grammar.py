"""The form of a question from its words: what opens it, the number of the noun it asks for, and words that rank or count.

The first words that ask decide (``lead``): a yes/no opening asks for one fact, whatever follows; "which" and "what" ask for
one or many as their noun is singular or plural; requests go by the noun as well. Words that count, rank or distribute
anywhere else make an aggregation. The rule that decided is told, so that a wrong form can be traced to a list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from crmrag_query.ontology.categories import Category
from crmrag_query.questions.lexicon import Forms, Language, Noun, Number
from crmrag_query.questions.words import Asked


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
class Lead:
    """What opens the question: a kind of phrase at tokens ``first`` to before ``last``."""

    kind: str
    first: int
    last: int


# In ties of length the first kind counts. Those that are verbs or requests open a question only where a clause begins.
_ANYWHERE = ("count", "who_many", "who", "what", "which_many", "which_one", "which", "adverbs")
_OPENING = ("existential", "polar", "describing", "enumeration", "listing")
_RELATIVE = frozenset({"who", "what", "which", "which_one", "which_many", "adverbs"})
_NEAR = 3  # tokens within which a bare noun opens a question without a verb; ours


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
        return int(getattr(self.forms, kind).at(self.words, position))

    def within(self, kind: str, start: int = 0, stop: int | None = None) -> bool:
        return bool(getattr(self.forms, kind).within(self.words, start, stop))


def decide(asked: Asked, language: Language) -> Decision:
    """The form of the question; without any word that asks, it is a list when it opens with a plural, else one fact."""
    reader = _Reader(asked, language, asked.visible)
    lead = _lead(reader)
    if lead is not None and lead.kind in ("polar", "existential"):
        return _yes_no(reader, lead)
    if lead is None and reader.within("inversion"):
        return Decision(Form.SPECIFIC, False, "inversion", _bare_noun(reader, 0))
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


def _lead(reader: _Reader, start: int = 0) -> Lead | None:
    """The first phrase that asks; polite openings are passed over, and so are relative pronouns after a noun."""
    position, opens = start, True
    while position < len(reader.words):
        opens = opens or position in reader.asked.starts
        kinds = (*_ANYWHERE, *_OPENING) if opens else _ANYWHERE
        length, kind = max(((reader.at(kind, position), -i) for i, kind in enumerate(kinds)), default=(0, 0))
        polite = reader.at("polite", position) if opens else 0
        if length and length >= polite:
            name = kinds[-kind]
            if opens or name not in _RELATIVE or not _is_noun(reader, position - 1):
                return Lead(name, position, position + length)
        position += polite or 1
        opens = polite > 0
    return None


def _is_noun(reader: _Reader, position: int) -> bool:
    return position >= 0 and (
        reader.asked.words[position] in reader.language.nouns or position in reader.asked.named
    )


def _counting_or_ranking(reader: _Reader, lead: Lead | None) -> Decision | None:
    for name, counts in (("count", True), ("aggregation", False)):
        for first, last in getattr(reader.forms, name).spans(reader.words):
            if not _is_no_aggregation(reader, first, last):
                after = last if name == "count" or lead is None else lead.last
                return Decision(Form.AGGREGATION, counts, name, _phrase(reader, after)[1])
    return None


def _is_no_aggregation(reader: _Reader, first: int, last: int) -> bool:
    """True when the phrase is part of one that does not rank, such as "at least"."""
    return any(
        start + reader.at("not_aggregation", start) >= last for start in range(max(0, first - 3), first + 1)
    )


def _yes_no(reader: _Reader, lead: Lead) -> Decision:
    """One fact; where further things are asked for ("anywhere else"), these are wanted."""
    further = reader.within("more", lead.last)
    further |= lead.kind == "existential" and reader.within("also", lead.last)
    form = Form.ENUMERATION if further else Form.SPECIFIC
    return Decision(
        form, False, "yes/no for more" if further else "yes/no", _bare_noun(reader, lead.last, span=8)
    )


def _who(reader: _Reader, lead: Lead) -> Decision:
    many = reader.within("many_refs", lead.last) and not reader.within("one_refs", lead.last)
    bare = reader.language.nouns.get(_word(reader, lead.last + 1))
    many |= bare is not None and bare.number is Number.MANY
    return Decision(Form.ENUMERATION if many else Form.SPECIFIC, False, "who")


def _who_many(reader: _Reader, lead: Lead) -> Decision:
    return Decision(Form.ENUMERATION, False, "who, plural")


def _fact(reader: _Reader, lead: Lead) -> Decision:
    return Decision(Form.SPECIFIC, False, "where, when, why, how")


def _which(reader: _Reader, lead: Lead) -> Decision:
    position = lead.last
    if reader.at("of", position):
        verb = next((i for i in range(position, len(reader.words)) if _verb(reader, i)), None)
        number = Number.ONE if verb is not None and _verb(reader, verb) is Number.ONE else Number.MANY
        heads = _phrase(reader, position + 1)[1]
        return _by_number(reader, number, heads, lead, "which of")
    verb_number = _verb(reader, position)
    if verb_number is not None:
        heads = _phrase(reader, position + 1)[1]
        return _by_number(reader, verb_number, heads, lead, "which, verb")
    number, heads = _phrase(reader, position)
    given = {"which_one": Number.ONE, "which_many": Number.MANY}.get(lead.kind)
    return _by_number(reader, given or number, heads, lead, "which, noun")


def _by_number(reader: _Reader, number: Number, heads: tuple[int, ...], lead: Lead, rule: str) -> Decision:
    """Many are a list, unless what is asked are the many values that one thing has, such as its dimensions."""
    if number is not Number.ONE and heads and reader.at("attributes", heads[0]):
        after = _verb(reader, heads[-1] + 1)
        before = any(_verb(reader, i) for i in range(lead.last, heads[0]))
        if before or after is Number.ONE:
            return Decision(Form.SPECIFIC, False, "attributes of one thing", heads)
    form = Form.SPECIFIC if number is Number.ONE else Form.ENUMERATION
    return Decision(form, False, f"{rule}: {number.value}", heads)


def _what(reader: _Reader, lead: Lead) -> Decision:
    position = lead.last
    if reader.at("many_refs", position) or reader.at("of", position):
        return _which(reader, lead)
    if reader.at("existential", position) or reader.at("collecting", position):
        return Decision(Form.ENUMERATION, False, "what is held or made")
    verb = _verb(reader, position)
    if _what_was_done(reader, position, verb is not None):
        return Decision(Form.ENUMERATION, False, "what was done")
    being = bool(reader.at("being", position))
    if verb is Number.MANY and (being or not reader.within("collecting", position)):
        heads = _phrase(reader, position + 1)[1]
        return _by_number(reader, Number.MANY, heads, lead, "what are")
    if verb is None and _word(reader, position) not in reader.language.stop:
        number, heads = _phrase(reader, position)
        if heads:
            return _by_number(reader, number, heads, lead, "what, noun")
    if not being and reader.within("collecting", position):
        return Decision(Form.ENUMERATION, False, "what is held or made")
    return Decision(
        Form.SPECIFIC, False, "what", _phrase(reader, position + 1)[1] if verb is not None else ()
    )


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
        inner = next((kind for kind in _ANYWHERE[1:] if reader.at(kind, position)), None)
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
    return Decision(
        Form.ENUMERATION, False, "list", _phrase(reader, lead.last)[1] or _phrase(reader, lead.first)[1]
    )


def _describing(reader: _Reader, lead: Lead) -> Decision:
    """About one thing; about many when a plural noun, not a name, comes first."""
    number, heads = _phrase(reader, lead.last)
    many = number is Number.MANY and heads and reader.asked.words[heads[0]] in reader.language.nouns
    form = Form.ENUMERATION if many else Form.SPECIFIC
    return Decision(form, False, "tell about", heads)


def _without_lead(reader: _Reader) -> Decision:
    start = 0
    while polite := reader.at("polite", start):
        start += polite
    if reader.within("everything", start, start + _NEAR) or reader.within("more", start, start + _NEAR):
        return Decision(Form.ENUMERATION, False, "bare: all", _phrase(reader, start)[1])
    heads = _bare_noun(reader, start)
    noun = reader.language.nouns.get(reader.asked.words[heads[0]]) if heads else None
    form = Form.ENUMERATION if noun is not None and noun.number is Number.MANY else Form.SPECIFIC
    return Decision(form, False, "bare", heads)


def _bare_noun(reader: _Reader, start: int, span: int = _NEAR) -> tuple[int, ...]:
    for i in range(start, min(start + span, len(reader.words))):
        if reader.words[i] in reader.language.nouns:
            return (i,)
    return ()


def _phrase(reader: _Reader, start: int) -> tuple[Number, tuple[int, ...]]:
    """Number and positions of the nouns of the phrase that begins at ``start``, stop words before it passed over.

    The head is the last of the first run of known nouns ("church paintings"); of unknown words the first that looks like a
    plural. A kind *of* things has the number of the things. Without any noun: (EITHER, ()).
    """
    nouns, words = reader.language.nouns, reader.words
    while start < len(words) and words[start] in reader.language.stop and words[start] not in nouns:
        if start in reader.asked.starts and start > 0:
            return Number.EITHER, ()
        start += 1
    stop = start
    while stop < len(words) and words[stop] not in reader.language.stop and stop - start < 8:
        if stop > start and stop in reader.asked.starts:
            break
        stop += 1
    span = range(start, stop)
    many = any(reader.at("numerals", i) for i in span)
    known = next((i for i in span if reader.asked.words[i] in nouns and _may_be_noun(reader, i)), None)
    if known is None:
        return _unknown_noun(reader, span, many)
    head = known
    while head + 1 in span and words[head + 1] in nouns and _joins(nouns[reader.asked.words[head]]):
        head += 1
    number = Number.MANY if many else nouns[reader.asked.words[head]].number
    if number is not Number.MANY and reader.at("collective", head):
        number = Number.MANY
    if nouns[reader.asked.words[head]].categories & Category.Concept and reader.at("of", head + 1):
        inner, further = _phrase(reader, head + 2)
        if further and further[0] <= head + 4:
            return (inner if number is Number.ONE else number), (head, *further)
    if number is Number.EITHER:
        number = _verb(reader, head + 1) or number
    return number, (head,)


def _may_be_noun(reader: _Reader, position: int) -> bool:
    """False for a name's word, unless the name is the whole phrase's noun ("What Churches")."""
    return (
        position not in reader.asked.named
        or reader.language.nouns[reader.asked.words[position]].number is Number.MANY
    )


def _joins(noun: Noun) -> bool:
    """True for a noun that may be the first of a compound: "works date" and "artist works" are noun and verb."""
    return noun.number is not Number.MANY and noun.categories != Category.Actor


def _unknown_noun(reader: _Reader, span: range, many: bool) -> tuple[Number, tuple[int, ...]]:
    """Number of a phrase whose noun the lexicon does not hold: that of the verb after it, else as its ending looks."""
    language = reader.language
    for i in span:
        word = reader.words[i]
        if not word:
            continue
        if reader.at("collective", i):
            return Number.MANY, (i,)
        plural = word.endswith(language.plurals) and not word.endswith(language.not_plurals or ("\0",))
        if plural and len(word) > 3:
            return (Number.MANY if many or _verb(reader, i + 1) is not Number.ONE else Number.ONE), (i,)
    first = next((i for i in span if reader.words[i]), None)
    if first is None:
        return Number.EITHER, ()
    verb = next((found for i in range(first + 1, span.stop + 1) if (found := _verb(reader, i))), None)
    return (Number.MANY if many else verb or Number.ONE), (first,)


def _verb(reader: _Reader, position: int) -> Number | None:
    """The number of a verb at the position, None for any other word."""
    if reader.at("one_verbs", position):
        return Number.ONE
    return Number.MANY if reader.at("many_verbs", position) else None


def _word(reader: _Reader, position: int) -> str:
    return reader.words[position] if position < len(reader.words) else ""


def _asks_more_of_one(reader: _Reader, lead: Lead) -> bool:
    """True when a second question follows about one thing: "who are they, and who painted it"."""
    second = _lead_after(reader, lead.last)
    return second is not None and reader.within("one_refs", second.last)


def _lead_after(reader: _Reader, start: int) -> Lead | None:
    for i in range(start, len(reader.words)):
        for kind in ("who", "what", "which_one", "which", "adverbs"):
            length = reader.at(kind, i)
            if length and not _is_noun(reader, i - 1):
                return Lead(kind, i, i + length)
    return None


def _is_generic(reader: _Reader) -> bool:
    """True when a fact is asked of any thing of a kind ("of an artwork") and nothing is named."""
    if reader.asked.named:
        return False
    return any(
        _word(reader, last) in reader.language.nouns for _, last in reader.forms.generic.spans(reader.words)
    )


_RULES: dict[str, Callable[[_Reader, Lead], Decision]] = {
    "count": _fact,
    "who": _who,
    "who_many": _who_many,
    "adverbs": _fact,
    "which": _which,
    "which_one": _which,
    "which_many": _which,
    "what": _what,
    "listing": _listing,
    "enumeration": _enumeration,
    "describing": _describing,
    "polar": _yes_no,
    "existential": _yes_no,
}
