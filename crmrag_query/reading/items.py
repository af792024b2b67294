"""What a question is made of: names, nouns, dates, numbers and small words, each with where it stands and what it may mean.

It is made ready first: without brackets and what they hold, without sentences that only lead up to it. Names in other
languages than the data's ("Londres" is what the data calls "London", "Silber" its "silver") are in a table,
`config/words/names.yaml`: of places, peoples and materials, of gods, saints and rulers, and of what pictures show, in six
languages, independent of any data. Last, what is said of a number that things have ("more than 45 seats", "taller than 2 m",
"between 20 and 30 cm wide").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import islice, pairwise, takewhile
from typing import Any, NamedTuple

import numpy as np
from rapidfuzz.distance import OSA

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, shared, united
from crmrag_query.graph.graph import Graph
from crmrag_query.language import LANGUAGES, Language, language
from crmrag_query.linking import (
    HOMONYMS,
    LinkedEntity,
    Mention,
    NameIndex,
    latin,
    link,
    plain_words,
    rough,
    search,
    stop_words,
    suggest,
)
from crmrag_query.ontology.load import Category, mostly
from crmrag_query.plans.execute import known_unit, members_of
from crmrag_query.plans.records import Plan, Target
from crmrag_query.plans.world import World
from crmrag_query.questions.followup import name_breaks
from crmrag_query.questions.form import Analysis, analyse, read_question
from crmrag_query.questions.lexicon import Asked, Chunk
from crmrag_query.reading.lexicon import (
    NARROWER,
    Kind,
    KindWords,
    Lexicon,
    Phrase,
    relation_spans,
    verbs,
    vocabulary,
    words_table,
)
from crmrag_query.reading.records import (
    GIVEN_IN,
    IDLE,
    INCLUDING,
    JOINS,
    LASTING,
    NEGATIONS,
    RANKING,
    Amount,
    Antecedent,
    Item,
    Meaning,
    Sort,
    as_list,
    rest_of,
)
from crmrag_query.text import fold, positions, tokenize

LONGEST = 5  # words of a name
ALIKE = 50  # entities of one name that are looked at
FIT = {
    "places": int(Category.Place) | int(Category.Concept),
    "cultures": int(Category.Concept) | int(Category.Actor),
    "materials": int(Category.Concept) | int(Category.Thing),
    "figures": int(Category.Actor) | int(Category.Concept) | int(Category.Thing),
    "motifs": int(Category.Concept) | int(Category.Thing),
}
"""What an entity of a section of the table may be."""


@dataclass(frozen=True)
class Entry:
    """One thing of the table: its section and its names by language, "" for further ones; ``home``: of a people its place."""

    section: str
    names: Mapping[str, tuple[str, ...]]
    home: str = ""


@lru_cache(maxsize=1)
def entries() -> Mapping[str, Entry]:
    """The table by id, sections apart."""
    table, found = words_table("names"), dict[str, Entry]()
    homes = table["homes"]
    for section in FIT:
        for id, cells in table[section].items():
            split = [
                tuple(name.strip() for name in cell.split(",") if name.strip()) for cell in cells.split("|")
            ]
            names = dict(zip((*table["languages"], ""), split, strict=False))
            names |= {code: names[code] or split[0] for code in table["languages"]}
            found[f"{section}/{id}"] = Entry(
                section, names, f"places/{homes[id]}" if section == "cultures" and id in homes else ""
            )
    return found


@lru_cache(maxsize=8)
def phrases(code: str) -> Mapping[Phrase, tuple[str, ...]]:
    """Ids of the entries by a name in a language, as stems."""
    own, found = language(code), dict[Phrase, list[str]]()
    for id, entry in entries().items():
        for name in entry.names.get(code, ()):
            stems = tuple(own.stem(word) for word in tokenize(name))
            if stems:
                found.setdefault(stems, []).append(id)
    return {stems: tuple(ids) for stems, ids in found.items()}


@dataclass
class Exonyms:
    """What one data set has of the table, looked up when it is first named."""

    release: Release
    _known: dict[str, tuple[LinkedEntity, ...]] = field(default_factory=dict)

    @classmethod
    def from_release(cls, release: Release) -> Exonyms:
        return cls(release)

    @cached_property
    def _asked_only(self) -> Mapping[str, frozenset[str]]:
        return {
            code: frozenset(map(fold, words)) for code, words in words_table("names")["asked_only"].items()
        }

    def mentions(self, words: Sequence[str], code: str, known: Sequence[Mention]) -> Iterator[Mention]:
        """Names of the table in a question that no whole name of the data says already."""
        own, table = language(code), phrases(code)
        stems = [own.stem(word) for word in words]
        whole = positions(one for one in known if one.entities and one.entities[0].how in WHOLE)
        for first in range(len(words)):
            for last in range(min(len(words), first + LONGEST), first, -1):
                ids = table.get(tuple(stems[first:last]))
                if not ids or whole.issuperset(range(first, last)):
                    continue
                found = {one.entity: one for id in ids for one in self.of(id)}
                if found:
                    yield Mention(first, last, " ".join(words[first:last]), tuple(found.values()))
                break

    def called(self, words: Sequence[str], code: str) -> tuple[str, ...]:
        """All names in the table of what some words name, but those that are mostly something else; none for none."""
        ids = phrases(code).get(tuple(map(language(code).stem, words)), ())
        names = (
            name
            for id in ids
            for known, some in entries()[id].names.items()
            for name in some
            if fold(name) not in self._asked_only.get(known, ())
        )
        return tuple(dict.fromkeys(names))

    def of(self, id: str) -> tuple[LinkedEntity, ...]:
        """What the data has of an entry; of a people that it has not, its place."""
        if id not in self._known:
            entry = entries()[id]
            found = tuple(self._named(entry))
            if entry.home and not found:
                found = self.of(entry.home)
            self._known[id] = found
        return self._known[id]

    def _named(self, entry: Entry) -> Iterator[LinkedEntity]:
        method, index = self.release.method, self.release[NameIndex]
        stop, plain = stop_words(method.questions), plain_words(method.questions)
        categories = self.release[World].adjacency.categories
        whole: dict[int, LinkedEntity] = {}
        parts: dict[int, LinkedEntity] = {}
        for code, names in entry.names.items():
            for name in names:
                if fold(name) in self._asked_only.get(code, ()):
                    continue
                tokens = tokenize(name)
                for mention in link(index, tokens, stop, plain):
                    if mention.last - mention.first < len(tokens):
                        continue
                    for one in mention.homonyms[:ALIKE]:
                        if int(categories[one.entity]) & FIT[entry.section]:
                            (whole if one.how in WHOLE else parts).setdefault(one.entity, one)
        return iter((whole or parts).values())


WHOLE = frozenset({"label", "alternative", "identifier"})


_BRACKETS = re.compile(r"\s*\([^()]{0,300}\)")
_LISTED = re.compile(r"\s+[-–—]\s[^-–—?;;]{1,200},[^-–—?;;]{1,200}\s[-–—]\s+")
_SENTENCES = re.compile(r"(?<=[.!?;;])\s+(?=[^\Wa-z])")
_SHORT = re.compile(r"\b\w{1,3}\.$")  # an initial or "St." ends no sentence


def analysed(release: Release, question: str) -> Analysis:
    """The analysis of what a question asks, by its words and names alone."""
    text = question_of(_with_brackets_of_names(release, question))
    return with_compounds_apart(release, analysis_of(release, text))


MOST_BRACKETS = 3  # of a question that are looked at


def _with_brackets_of_names(release: Release, question: str) -> str:
    """A question without the signs around what is part of a name, "Book (Bodleian, B4)"."""
    for bracket in islice(_BRACKETS.finditer(question), MOST_BRACKETS):
        before, inside = question[: bracket.start()], bracket[0].strip().strip("()")
        plain = f"{before} {inside}{question[bracket.end() :]}"
        at = len(tokenize(before))
        around = (one for one in named(release, plain) if one.first < at < one.last and one.entities)
        if any(one.entities[0].how in WHOLE for one in around):
            return _with_brackets_of_names(release, plain)
    return question


def with_compounds_apart(release: Release, analysis: Analysis) -> Analysis:
    """The analysis anew with its compounds in two words, where the language has such."""
    own, text = language(analysis.reading.language), analysis.reading.question
    if own.raw.get("compounds") != "true":
        return analysis
    apart = _apart(release, own, text, analysis)
    return analysis_of(release, apart) if apart != text else analysis


def analysis_of(release: Release, text: str, mentions: Sequence[Mention] | None = None) -> Analysis:
    """A text by its words, and by the entities that it names, which are looked up unless given."""
    categories, languages = release[Graph].adjacency.categories, release.manifest.languages
    mentions = named(release, text) if mentions is None else mentions
    return analyse(text, release.method.questions, languages, mentions, lambda node: int(categories[node]))


def named(release: Release, text: str) -> tuple[Mention, ...]:
    """The entities that a text names; of a text with a pivot, each of its parts by itself."""
    lexicon, languages = release.method.questions, release.manifest.languages
    reading, words = read_question(text, lexicon, languages), tokenize(text)
    stop, own = stop_words(lexicon) | reading.stop, language(reading.language)
    breaks = sorted({*name_breaks(text, lexicon, languages), *_between_alike(words, stop, own)})
    parts = zip((0, *breaks), (*breaks, len(words)), strict=True)
    return tuple(
        _as_it_begins(replace(mention, first=mention.first + first, last=mention.last + first), words, own)
        for first, last in parts
        for mention in link(
            release[NameIndex], words[first:last] if breaks else text, stop, plain_words(lexicon)
        )
    )


def _as_it_begins(mention: Mention, words: Sequence[str], own: Language) -> Mention:
    """A name with the small word that it begins with, where that is written: "*not* located", "*very* good". What begins with
    one that is not written is but named in part."""

    def opening(name: str) -> str:
        first = next(iter(own.label_words(name)), "")
        return first if first in own.stop and first != words[mention.first] else ""

    first = mention.first - 1
    while first > 0 and words[first] in own.articles:
        first -= 1
    before = words[first] if first >= 0 else ""
    whole = tuple(one for one in mention.entities if before and opening(one.name) == before)
    if whole:
        text = " ".join((*words[first : mention.first], mention.text))
        return replace(mention, first=first, text=text, entities=whole)
    bare = tuple(one for one in mention.entities if not opening(one.name))
    return replace(mention, entities=bare or tuple(replace(one, how="partial") for one in mention.entities))


ALIKE_WITHIN = 4  # words on either side of "or" among which one is looked for that stands on both


def _between_alike(words: Sequence[str], stop: Collection[str], own: Language) -> Iterator[int]:
    """Where what "and", "or" or "taller than" joins begins, if both sides have a word that is alike: "the Lily *chalice* or
    the Rose *chalice*" names two, and none is called "chalice or the Rose chalice"."""
    joining = own.roles["operators.and"] | own.roles["operators.or"]
    for at, word in enumerate(words):
        before = set(words[max(0, at - ALIKE_WITHIN) : at]).difference(stop)
        joins = word in joining or (word in own.than and next(_comparing(words, at, own), None) is not None)
        if joins and not before.isdisjoint(words[at + 1 : at + 1 + ALIKE_WITHIN]):
            yield at + 1


def _apart(release: Release, own: Language, text: str, found: Analysis) -> str:
    """The text with compounds of something named and a noun in two words: "Goldmünzen" as "Gold Munzen".

    Words that the data itself knows, as a name or a kind, stay as they are.
    """
    kinds = release[Lexicon].kinds(own.code)
    whole = positions(one for one in found.mentions if one.entities and one.entities[0].how in WHOLE)
    known = {word for at, word in enumerate(tokenize(text)) if at in whole}

    def named(word: str) -> bool:
        release_names = link(release[NameIndex], [word], frozenset(), frozenset())
        return any(one.entities[0].how in WHOLE for one in release_names if one.entities) or any(
            release[Exonyms].mentions((word,), own.code, ())
        )

    def split(match: re.Match[str]) -> str:
        tokens = tokenize(match[0])
        if len(tokens) != 1 or tokens[0] in known:
            return match[0]
        parts = next((one for one in kinds.compounds(tokens[0]) if named(one[0])), ())
        return " ".join(map(str.capitalize, parts)) or match[0]

    return re.sub(r"\w{7,}", split, text)


def question_of(text: str) -> str:
    """The sentences from the first that asks on, else all; without brackets and what they hold, and examples."""
    plain = _without_examples(_BRACKETS.sub("", text)).strip() or text
    sentences: list[str] = []
    for part in _SENTENCES.split(plain):
        if sentences and _SHORT.search(sentences[-1]):
            sentences[-1] += " " + part
        else:
            sentences.append(part)
    asks = [at for at, one in enumerate(sentences) if one.rstrip().endswith(("?", ";", ";"))]
    return " ".join(sentences[asks[0] :]) if asks else plain


def _without_examples(text: str) -> str:
    """A question without what it lists only to say what it speaks of: up to "and so on", or between dashes where all are
    meant, or each, "For each office - *abbess, prioress* - how many …"."""
    text = _and_so_on().sub("", text)
    if _LISTED.search(text) is None:
        return text
    roles = (language(code).roles_within(tokenize(fold(text))) for code in LANGUAGES)
    return text if LISTING_ALL.isdisjoint(frozenset().union(*roles)) else _LISTED.sub(" ", text)


LISTING_ALL = frozenset({"operators.each", "operators.all", "questions.kind"})
"""Roles of words by which a list between dashes leaves none out."""


@lru_cache
def _and_so_on() -> re.Pattern[str]:
    ends = (phrase for code in LANGUAGES for phrase in language(code).raw["asking"]["and_so_on"])
    ended = "|".join(map(re.escape, ends))
    return re.compile(rf"(?:\s+[-–—]|:)\s[^?;;]{{1,200}}?\b(?:{ended})\b\.?(?=[?;;,]|\s|$)", re.I)


def item_at(words: Sequence[str], first: int, last: int, sort: Sort, score: float, **more: Any) -> Item:
    """An item that is called as the question says it."""
    return Item(first, last, sort, score, " ".join(words[first:last]), **more)


def _op(words: Sequence[str], first: int, last: int, score: float, *roles: str) -> Item:
    return item_at(words, first, last, "op", score, roles=frozenset(roles))


def items_of(
    release: Release,
    lexicon: Lexicon,
    analysis: Analysis,
    heard: Asked,
    own: Language,
    stems: Sequence[str],
    earlier: Antecedent | None = None,
) -> list[Item]:
    """All items of a question; they overlap. ``earlier``: what its pronouns may stand for."""
    words = heard.words
    small = (
        one
        for one in _operators(words, own, heard.starts)
        if not any(test(one, heard, own) for test in (_is_accented, _is_of_name, _is_numero))
        if one.roles != {LASTING} or analysis.period is not None  # "on display" now is no time
    )
    found = [*small, *_including(heard, own), *_whole(release, lexicon, words, own), *_numbers(words, own)]
    found += _dates(analysis, words, own)
    if earlier is not None:
        found += _references(release, words, own, earlier)
    found += _names(release, analysis, heard, own)
    phrases = [(one.first, one.last) for one in found if one.sort == "op" and len(one) > 1]
    for one in relation_spans(own.code, words):
        if one.role == "ends" and len(one) > 2:
            phrases.append((one.first, one.last))  # a "place of birth" is no place
        elif one.role == "forward" and len(one) > 1:
            phrases.append((one.first + 1, one.last))  # nor is it one where something "took place"
    nouns = [
        one
        for one in _nouns(release[World], lexicon, words, stems, own, heard)
        if not any(first <= one.first and one.last <= last for first, last in phrases)
    ]
    nouns = _kinds_of(lexicon.kinds(own.code), nouns, words, own)
    found = [_beside_noun(one, nouns) for one in found]
    return [
        *found,
        *nouns,
        *_numbered(release, lexicon.kinds(own.code), nouns, words),
        *_called(release[Graph], found, nouns),
    ]


# small words

OPENING = 3  # a request stands among so many first words: "please *show* me", but not "on show"


def _operators(words: Sequence[str], own: Language, starts: Collection[int]) -> Iterator[Item]:
    yield from _superlatives(words, own)
    yield from _beyond_others(words, own)
    for at in range(len(words)):
        by_length: dict[int, set[str]] = {}
        for length, roles in own.phrases.at(words, at):
            kept = {
                role for role in roles if role.startswith(("questions.", "operators.")) and role not in IDLE
            }
            if at not in starts and (at > OPENING or any(one not in own.stop for one in words[:at])):
                kept -= {"questions.list", "questions.describe", "questions.polite"}
            by_length.setdefault(length, set()).update(kept)
        for length, kept in by_length.items():
            if "questions.describe" in kept:  # "who is" asks for whom "who" does
                kept |= {role for role in by_length.get(1, ()) if role in ("questions.who", "questions.what")}
            text = " ".join(words[at : at + length])
            if length == 1 and not any(one.isdigit() or one in own.numbers for one in words[at + 1 : at + 3]):
                kept -= COMPARING  # bridges *over* a river
            if text in own.roles["prepositions.agent"] or text in own.roles["prepositions.place"]:
                kept.discard("operators.per")
            if "questions.how_many" in kept and (by := _ranks_by(words, at, own)) is not None:
                yield Item(by, at + length, "op", 1.6, text, roles=frozenset({"operators.most"}))
            elif kept:
                opens = 0.5 * (at == 0 and any(role.startswith("questions.") for role in kept))
                score = 0.45 * length + 0.45 * (length - 1) + opens
                yield _op(words, at, at + length, score, *kept)


COMPARING = frozenset({"operators.more_than", "operators.less_than"})


def _is_accented(item: Item, heard: Asked, own: Language) -> bool:
    """Whether a word that would deny is written with an accent that it does not have: "né" is no "ne"."""
    if not item.roles & NEGATIONS or len(item) > 1:
        return False
    written = next((one.text for one in heard.chunks if one.first <= item.first < one.last), item.text)
    listed = {word for role in NEGATIONS for word in own.raw["operators"].get(role.partition(".")[2], ())}
    return item.text in listed and not written.isascii() and item.text.isascii()


def _is_numero(item: Item, heard: Asked, own: Language) -> bool:
    """Whether a word that would deny is short for "number": "*No. 71* Squadron"."""
    if not item.roles & NEGATIONS or len(item) > 1 or not heard.words[item.last : item.last + 1]:
        return False
    written = next((one.text for one in heard.chunks if one.first == item.first), "")
    return written.endswith(".") and heard.words[item.last][0].isdigit()


def _is_of_name(item: Item, heard: Asked, own: Language) -> bool:
    """Whether a superlative is a word of a name: "the *First* World War", "the *Last* Judgement"."""
    if not own.capitals_name or not item.roles & RANKING or item.first not in heard.capitals:
        return False
    opens = any(one.opens and one.first == item.first for one in heard.chunks)
    return not opens and item.last in heard.capitals


def _superlatives(words: Sequence[str], own: Language) -> Iterator[Item]:
    """Adjectives of size that a word for "most" or "least" raises: "the most expensive", "le plus lourd"."""
    raised = (("operators.most", "operators.highest"), ("operators.fewest", "operators.lowest"))
    for at in range(len(words)):
        for length, roles in own.phrases.at(words, at):
            last = at + length
            sizes = list(own.phrases.at(words, last)) if last < len(words) else []
            if any(role.startswith("operators.measures.") for _, found in sizes for role in found):
                for low, high in raised:
                    if low in roles:
                        score = 0.9 * length + 0.9
                        yield Item(at, last + 1, "op", score, words[last], roles=frozenset({high}))


def _beyond_others(words: Sequence[str], own: Language) -> Iterator[Item]:
    """Comparatives that "than anybody else" makes superlatives: "who made *more* prints *than all others*"."""
    found = [
        (at, length)
        for at in range(len(words))
        for length, roles in own.phrases.at(words, at)
        if "operators.than_others" in roles
    ]
    if not found:
        return
    last, length = found[-1]
    raised = {
        "operators.more": "operators.most",
        "operators.earlier": "operators.earliest",
        "operators.later": "operators.latest",
    }
    for at in range(last):
        for size, roles in own.phrases.at(words, at):
            for low, high in raised.items():
                if low in roles:
                    yield _op(words, at, at + size, 1.6, high)
    yield _op(words, last, last + length, 0.9 * length, "operators.than_others")


CLAUSE = frozenset({"questions.what", "questions.who", "questions.how_many", "questions.list"})
"""Roles of words with which a part between commas asks for something itself."""


def _including(heard: Asked, own: Language) -> Iterator[Item]:
    """Parts between commas that only widen what was said, "…, *cowries included*", "…, *counting the lost ones too*"."""
    said = own.raw.get("including", {})
    opening, closing = (frozenset(map(fold, said.get(end, ()))) for end in ("first", "last"))
    bounds = [one.last for one in heard.chunks if one.text.rstrip().endswith(",")]
    for first, last in pairwise([0, *bounds, len(heard.words)]):
        part = heard.words[first:last]
        asks = own.roles_within(part) & CLAUSE
        if first == last or asks or (not first and last == len(heard.words)):
            continue
        if part[0] in opening or part[-1] in closing:
            yield _op(heard.words, first, last, 2.0 * len(part), INCLUDING)


def _ranks_by(words: Sequence[str], at: int, own: Language) -> int | None:
    """Where a ranking by the number that is asked for from ``at`` on begins: "museums *by the number of* coins"."""
    at -= at > 0 and words[at - 1] in own.raw.get("asking", {}).get("the", ())
    return at - 1 if at > 1 and words[at - 1] in own.roles["operators.per"] else None


def _whole(release: Release, lexicon: Lexicon, words: Sequence[str], own: Language) -> Iterator[Item]:
    """Words for the data as a whole, which restrict nothing: "in the collection"."""
    nouns = {tuple(tokenize(noun)) for noun in own.raw["whole"]["nouns"]}
    title = tuple(tokenize(release.manifest.title))
    small = own.stop - own.roles["questions.what"] - frozenset().union(*(own.roles[one] for one in NEGATIONS))
    for at in range(len(words)):
        for phrase in {*nouns, title}:
            if not phrase or tuple(words[at : at + len(phrase)]) != phrase:
                continue
            low = at
            while low > 0 and words[low - 1] in small:
                low -= 1
            if phrase == title and _names_a_part(release, lexicon.kinds(own.code), title):
                continue
            if low < at or (phrase == title and len(title) > 1):
                text, score = " ".join(phrase), 0.7 + 0.5 * len(phrase)
                yield Item(low or at, at + len(phrase), "op", score, text, roles=frozenset({"whole"}))


def _names_a_part(release: Release, kinds: KindWords, title: tuple[str, ...]) -> bool:
    """Whether the title of the data is the name of something in it other than who holds it, one church of many, or of a
    kind of its things: "coins"."""
    if any(length == len(title) for length, _ in kinds.at(tuple(map(kinds.own.stem, title)), title, 0)):
        return True
    categories, plain = release[World].adjacency.categories, plain_words(release.method.questions)
    return any(
        tuple(tokenize(one.name)) == title and not int(categories[one.entity]) & int(Category.Actor)
        for one in search(release[NameIndex], " ".join(title), HOMONYMS, plain)
    )


def _numbers(words: Sequence[str], own: Language) -> Iterator[Item]:
    for at, word in enumerate(words):
        value = own.numbers.get(word, int(word) if word.isdigit() and len(word) <= 4 else None)
        if value is not None:
            yield Item(at, at + 1, "number", 0.3, word, value=value)


def _dates(analysis: Analysis, words: Sequence[str], own: Language) -> Iterator[Item]:
    """The longest run of the words that express the period; of "in the 1652 inventory" the year alone, which is of that."""
    if analysis.period is None:
        return
    best, start = (0, 0), None
    for at in range(len(words) + 1):
        inside = at < len(words) and words[at] in analysis.period_words
        if inside and start is None:
            start = at
        if not inside and start is not None:
            best = max(best, (at - start, -start))
            start = None
    length, first = best[0], -best[1]
    last = first + length - 1
    following = words[last + 1 : last + 2]
    before_noun = bool(following) and following[0] not in own.stop
    if length > 1 and words[last].isdigit() and words[last - 1] in own.articles and before_noun:
        length, first = 1, last
    if length:
        yield item_at(words, first, first + length, "date", 1.0 + 0.9 * length, value=analysis.period)


# what went before


def _references(release: Release, words: Sequence[str], own: Language, earlier: Antecedent) -> Iterator[Item]:
    """Words that stand for what went before in a conversation; some of them only at the end: "wie viele sind *das*"."""
    ends = own.raw.get("asking", {}).get("shown", ())
    for at in range(len(words)):
        shown = [(1, frozenset({"pronouns.this"}))] if at + 1 == len(words) and words[at] in ends else []
        for length, roles in (*own.phrases.at(words, at), *shown):
            said = {role.removeprefix("pronouns.") for role in roles if role.startswith("pronouns.")}
            meanings = tuple(_referred(release, said, "dialogue.rest" in roles, earlier))
            if meanings:
                score = 1.3 + 0.4 * (length - 1)
                yield item_at(words, at, at + length, "name", score, meanings=meanings, refers=True)


def _referred(release: Release, said: set[str], rest: bool, earlier: Antecedent) -> Iterator[Meaning]:
    world, graph = release[World], release[Graph]
    if rest and (others := rest_of(earlier)) is not None:
        yield plan_meaning(world, others)
        return
    if "place" in said and earlier.place is not None:
        yield _named(graph, (one.entity for one in earlier.place.entities), int(Category.Place))
    if said & {"many", "ones", "this", "own"} and earlier.plan is not None:
        yield plan_meaning(world, as_list(earlier.plan), 0.0 if "many" in said else 0.1)
    if said & {"person", "thing", "own", "this"} and earlier.focus and not ("many" in said and earlier.plan):
        meant = {one.entity for one in earlier.focus if one.name == earlier.focus[0].name}
        yield _named(graph, meant, int(world.adjacency.category[min(meant)]))


def _named(graph: Graph, entities: Iterable[int], category: int, cost: float = 0.0) -> Meaning:
    """Entities that are named as a meaning."""
    nodes = np.array(sorted(set(entities)), np.int32)
    return Meaning(nodes, iris=tuple(map(graph.iri, nodes.tolist())), cost=cost, category=category)


def plan_meaning(world: World, plan: Plan, cost: float = 0.0) -> Meaning:
    """The members of a plan as a meaning."""
    try:
        nodes = members_of(world, plan)
    except QuestionError:
        nodes = np.empty(0, np.int32)
    return Meaning(nodes, plan=plan, cost=cost, category=mostly(world.adjacency.categories[nodes]))


# names


def _names(release: Release, analysis: Analysis, heard: Asked, own: Language) -> Iterator[Item]:
    mentions = analysis.mentions
    foreign = tuple(release[Exonyms].mentions(heard.words, own.code, mentions))
    for mention in (*mentions, *_inner(release, mentions, heard, own), *foreign):
        item = name_item(release, mention, heard, own, mention in foreign)
        if item is not None and not _is_verb_alone(item, heard, own):
            called = release[Exonyms].called(heard.words[item.first : item.last], own.code)
            yield replace(item, called=called) if mention in foreign else item


def _is_verb_alone(name: Item, heard: Asked, own: Language) -> bool:
    """Whether a word that is but a part of a name is a verb behind "to be" or "to have": "were *cast*", beside cast iron."""
    at, auxiliary = name.first, own.roles["verbs.be"] | own.roles["verbs.have"]
    alone = len(name) == 1 and not name.whole and at not in heard.capitals
    behind = bool(at) and heard.words[at - 1] in auxiliary
    return alone and behind and own.stem(heard.words[at]) in verbs(own.code)


INFLECTED = 0.7
"""Points that a name from the table loses where a noun of the data stands for its other forms."""


def _beside_noun(name: Item, nouns: Sequence[Item]) -> Item:
    """A name from the table of names less likely where it is written in another form, and a noun of this data: "aquarelles"
    are things rather than the material."""
    spoken = {(one.first, one.last) for one in nouns if one.meanings[0].cost < BESIDE}
    if name.called and (name.first, name.last) in spoken and name.text not in map(fold, name.called):
        return replace(name, score=name.score - INFLECTED)
    return name


def _inner(release: Release, mentions: Sequence[Mention], heard: Asked, own: Language) -> Iterator[Mention]:
    """What a part of a mention names by itself, as its whole may be no name: its capitalised words, "*Walters* commission",
    and of a part of a name what stands behind its first word, "Gedichte von *Matthisson*"."""
    method = release.method
    for mention in mentions:
        inside = range(mention.first, mention.last)
        at = [one for one in inside if one in heard.capitals]
        starts = {(at[0], at[-1] + 1)} if at and own.capitals_name else set[tuple[int, int]]()
        if len(mention.entities) and mention.entities[0].how not in WHOLE:
            content = [one for one in inside if heard.words[one] not in own.stop]
            starts |= {(one, mention.last) for one in content[1:2]}
        for first, last in starts - {(mention.first, mention.last)}:
            tokens = heard.words[first:last]
            for one in link(
                release[NameIndex],
                tokens,
                stop_words(method.questions),
                plain_words(method.questions),
            ):
                yield replace(one, first=one.first + first, last=one.last + first)


SHARING = 3  # things of whose names a word is but a part, beyond which it is a name of none


def name_item(
    release: Release, mention: Mention, heard: Asked, own: Language, foreign: bool = False
) -> Item | None:
    """A linked name as an item: whole names before parts, all that share one together, one meaning a category; ``foreign``:
    the data calls it otherwise."""
    words, graph = heard.words, release[Graph]
    first, last = mention.first, min(mention.last, len(words))
    if last <= first or not mention.entities:
        return None
    first, last = _extended(first, last, heard, own, mention.entities[0].name)
    categories = release[World].adjacency.category
    best = mention.entities[0].score
    said = sum(word not in own.stop for word in words[first:last])
    whole = [  # "Orla Valley" is whole, and not the whole of "Orla Valley Railway"
        one for one in mention.homonyms if one.how in WHOLE and len(tokenize(one.name)) >= said
    ]
    parts = [one for one in mention.homonyms if one not in whole and one.score >= 0.8 * best]
    spoken = [words[first:last], *({tuple(tokenize(one.name)) for one in whole} if foreign else ())]
    inside, complete = list[LinkedEntity](), True
    for tokens in spoken:
        known = {one.entity for one in whole}
        is_place = any(int(categories[one.entity]) == int(Category.Place) for one in whole)
        *some, all_seen = _places(release, mention, tokens)
        called, within = ([one for one in places if one.entity not in known] for places in some)
        complete &= all_seen
        # "Washington" may be a town as well as a state of which towns are told
        (whole if is_place or not called else inside).extend(within)
        whole += called
    named = {one.entity for one in (*whole, *inside)}
    parts = [one for one in parts if one.entity not in named]
    meanings: list[Meaning] = []
    whose = {int(categories[one.entity]) for one in whole}
    told = any(one.how != "alternative" for one in whole)
    named_so = not whose.isdisjoint((int(Category.Actor), int(Category.Place)))
    surnames, others = ([], []) if named_so else _bearers(release, mention, words[first:last])
    if told:  # "by *Grillparzer*", as a poem is called as well: one person, or none is meant
        bearers = surnames if _are_one(surnames) else []
    else:  # "Orla Railway" may be the Orla Railway Company as well as the Orla Museum Railway
        bearers = [*surnames, *others] if last - first > 1 or not surnames else surnames
    alone = _are_one(bearers)
    if bearers:
        parts = [] if mention.entities[0] in bearers else [one for one in parts if one not in bearers]
    part = 0.3 if whole else BESIDE if bearers else 0.1
    tiers = ((whole, 0.0), (inside, 0.1), (bearers, BESIDE if told else 0.1), (parts, part))
    for tier, cost in tiers:
        found = _by_category(release, [one.entity for one in tier], cost)
        for meaning in found:
            seldom = len(found) > 1 and meaning.category not in (int(Category.Actor), int(Category.Place))
            meanings.append(replace(meaning, cost=cost + 0.05) if seldom else meaning)
    if not meanings:
        return None
    capital = any(
        one.capital and one.first < last and one.last > first and not (one.opens and one.first == 0)
        for one in heard.chunks
    )
    quoted = any(one.quoted and one.first < last and one.last > first for one in heard.chunks)
    text = " ".join(words[first:last])
    if not capital and not quoted and is_like(graph, own, text, meanings[0].nodes) and not foreign:
        return None  # a "file" is no fire
    sharing = sum(len(one.nodes) for one in meanings if one.category != int(Category.Concept))
    if own.capitals_name and sharing > SHARING and said <= 1 and not (whole or capital or quoted):
        return None  # "lace" is in the names of twelve museums and schools, and means none of them
    score = 1.15 * said * best - 0.2 + 0.4 * capital + 0.7 * quoted + (0.35 if whole else -0.3)
    # "the inventory *of 1604*", where one thing alone has both in its name
    of_one = sum(len(one.nodes) for one in meanings) == 1 < said and any(map(str.isdigit, words[first:last]))
    if (
        not capital
        and not quoted
        and not of_one
        and (said <= 1 or not whole)
        and meanings[0].category != int(Category.Concept)
    ):
        score -= 0.8 if own.capitals_name else 0.3
    if of_one and first and words[first - 1] in own.articles:
        labels = (tokenize(one.text) for one in graph.labels(int(meanings[0].nodes[0])))
        exact = {one for one in words[first:last] if one not in own.stop}
        score += DATED_SO * any(exact <= set(label) for label in labels)
    plain = words[first] in own.roles["verbs.empty"] or (not whole and words[first] in own.numbers)
    if last - first == 1 and plain and not capital and not quoted:
        return None
    named = {at for at in range(first, last) if words[at] not in own.stop}
    if not whole and own.capitals_name and named & heard.capitals and not quoted and named - heard.capitals:
        score -= 1.0  # "Walters commission": a name and a word of the question
    stems = frozenset(own.stem(word) for word in words[first:last])
    alone_so = bool(whole) or (not parts and alone) or _name_concepts(own.stems(text), meanings, own, graph)
    whole_or_only = complete and alone_so
    return Item(first, last, "name", score, text, tuple(meanings), stems=stems, whole=whole_or_only)


def _name_concepts(said: tuple[str, ...], meanings: Sequence[Meaning], own: Language, graph: Graph) -> bool:
    """Whether stems are all of a name of each concept that is meant, whatever its number: "wood engravings"."""
    return all(
        one.category == int(Category.Concept)
        and all(
            any(own.stems(label.text) == said for label in graph.labels(node)) for node in one.nodes.tolist()
        )
        for one in meanings
    )


DATED_SO = 1.8
"""What a name of a noun and a year gains behind an article: "*the 1652 inventory*" is that one, and none of that date."""
LONG = 8  # letters of a word of which one may be wrong: "Grilparzer" for Grillparzer


def is_like(graph: Graph, own: Language, text: str, nodes: Ints) -> bool:
    """Whether a name is only spelled nearly as what it was linked to: *Vienna* for Siena."""
    labels = (label for node in nodes[:5] for label in graph.labels(int(node)))
    known = {word for label in labels for word in tokenize(label.text)}
    stems, written = set(map(own.stem, known)), list(map(fold, text.split()))
    return stems.isdisjoint(map(own.stem, written)) and not any(
        len(word) >= LONG and OSA.distance(word, one, score_cutoff=1) <= 1
        for word in written
        for one in known
    )


MOST_PLACES = 2000  # places of one name, or within them, that are looked at


def _places(
    release: Release, mention: Mention, said: Sequence[str]
) -> tuple[list[LinkedEntity], list[LinkedEntity], bool]:
    """Places that are told apart by commas: those called so and no more, "*Boston*, Massachusetts"; and those within one that
    is, with it, where it is told: "Boston, *Massachusetts*, United States" and "*Massachusetts*, United States". And whether
    these are all."""
    categories = release[World].adjacency.category
    if not any(int(categories[one.entity]) == int(Category.Place) for one in mention.homonyms):
        return [], [], True
    found = {one.entity: one for one in suggest(release[NameIndex], " ".join(said), MOST_PLACES)}
    called, within = list[tuple[LinkedEntity, list[list[str]]]](), list[LinkedEntity]()
    around = set[tuple[str, ...]]()
    for one in ({one.entity: one for one in mention.homonyms} | found).values():
        parts = [tokenize(part) for part in one.name.split(",")]
        if len(parts) < 2 or int(categories[one.entity]) != int(Category.Place):
            continue
        if list(said) in parts[1:]:
            within.append(one)
            behind = parts[parts.index(list(said), 1) + 1 :]
            around.add(tuple(word for part in behind for word in part))
        elif parts[0] == list(said):
            called.append((one, parts))
    regions = [one for one, parts in called if tuple(word for part in parts[1:] for word in part) in around]
    towns = [one for one, _ in called if one not in regions]
    # What is found is cut by names, of which a place may have a few.
    return towns, [*within, *regions], len(found) < MOST_PLACES // 2 or not (called or within)


def as_surname(release: Release, mention: Mention) -> Mention:
    """A part of names as the last word of that of the one person or group, "Bierstadt"; others, and what is written like the
    whole of a name, as they are."""
    said = tokenize(mention.text)
    if any(one.how in WHOLE and len(tokenize(one.name)) <= len(said) for one in mention.entities):
        return mention
    surnames = _bearers(release, mention, said)[0]
    return replace(mention, entities=tuple(surnames)) if _are_one(surnames) else mention


def _are_one(bearers: Sequence[LinkedEntity]) -> bool:
    """Whether persons are one, or all of one name."""
    return 1 in (len({one.name for one in bearers}), len({one.entity for one in bearers}))


def _bearers(
    release: Release, mention: Mention, said: Sequence[str]
) -> tuple[list[LinkedEntity], list[LinkedEntity]]:
    """Persons and groups that a part of their name means: its last word, "Bierstadt", or what stands before a comma; and
    all others whose names have it, "the Getty"."""
    categories, spelling = release[World].adjacency.category, release[NameIndex].spelling.shortest
    plain = plain_words(release.method.questions)

    def sounds(words: Sequence[str]) -> list[str]:
        return [rough(latin(word), spelling) for word in words]

    bare = sounds(said)
    surnames, others, seen = list[LinkedEntity](), list[LinkedEntity](), set[int]()
    for one in (*mention.homonyms, *search(release[NameIndex], " ".join(said), HOMONYMS, plain)):
        if one.entity in seen or int(categories[one.entity]) != int(Category.Actor):
            continue
        seen.add(one.entity)
        name, before = sounds(tokenize(one.name.split("(")[0].split(",")[0])), one.name.split(",")[0]
        if (name[-1:] == bare[-1:] and set(bare) <= set(name)) or sounds(tokenize(before)) == bare:
            surnames.append(one)
        elif set(bare) <= set(sounds(tokenize(one.name))):
            others.append(one)
    return surnames, others


BESIDE = 0.25
"""What it costs that a part of a name means something else than persons and groups that it is a name of, too."""


def _extended(first: int, last: int, heard: Asked, own: Language, name: str) -> tuple[int, int]:
    """Where a name stands with what else of it stands beside: small words within it, and further words of it that are written
    as names are."""
    known, words = set(tokenize(name)), heard.words
    marked = heard.capitals | positions(one for one in heard.chunks if one.quoted)

    def grown(at: int, step: int) -> int:
        """The farthest word of the name that only words of the name lead to."""
        found = at
        while 0 <= at + step < len(words) and words[at + step] in known:
            at += step
            if at in marked and (words[at] not in own.stop or at in heard.capitals):
                found = at
        return found

    return grown(first, -1), grown(last - 1, 1) + 1


# nouns

EXACT, WHOLE_NOUN = 0.1, 0.4
"""The cost of a noun that is a name of a kind at most, and points for each further word of it: "type specimen" seldom means a
type and a specimen."""


def _nouns(
    world: World, lexicon: Lexicon, words: Sequence[str], stems: Sequence[str], own: Language, heard: Asked
) -> Iterator[Item]:
    kinds = lexicon.kinds(own.code)
    for at in range(len(words)):
        for length, found in kinds.at(stems, words, at):
            if length == 1 and (
                words[at] in own.roles["verbs.empty"]
                or _is_verb(words, stems, at, own)
                or _is_participle(heard, at, own)
            ):
                continue
            said = frozenset(
                stem
                for stem, word in zip(stems[at : at + length], words[at : at + length], strict=True)
                if word not in own.stop
            )
            meanings = tuple(noun_meaning(world, kind) for kind in found[:6])
            cost = min(kind.cost for kind in found)
            exactly = WHOLE_NOUN * (len(said) - 1) * (cost <= EXACT)
            score = 1.05 * len(said) - 0.05 - 0.3 * cost + exactly
            yield Item(
                at, at + length, "noun", score, " ".join(words[at : at + length]), meanings, stems=said
            )


def _called(graph: Graph, items: Sequence[Item], nouns: Sequence[Item]) -> Iterator[Item]:
    """Names with what they are names of right behind: "the Antioch mint", "Lorbach hoard"."""
    for name in items:
        for noun in nouns if name.sort == "name" and not name.refers else ():
            if noun.first != name.last:
                continue
            meanings = [
                replace(one, nodes=nodes, iris=tuple(map(graph.iri, nodes.tolist())))
                for one in name.meanings
                for kind in noun.meanings[:3]
                if one.named and len(nodes := shared(one.nodes, kind.nodes))
            ]
            if meanings:
                yield replace(
                    name,
                    last=noun.last,
                    score=name.score + noun.score + 0.3,
                    text=f"{name.text} {noun.text}",
                    meanings=tuple(meanings),
                    stems=name.stems | noun.stems,
                )


def _kinds_of(kinds: KindWords, nouns: Sequence[Item], words: Sequence[str], own: Language) -> list[Item]:
    """The nouns, with those that ask for the kinds of another as one with it: "each *kind of escapement*" is one of the
    concepts below."""
    types = {one.target for one in kinds.general("type")}
    whole = list[Item]()
    for kind in nouns:
        for noun in nouns if any(one.target in types for one in kind.meanings) else ():
            gap = words[kind.last : noun.first]
            below = (
                one for one in noun.meanings if one.only is not None and one.only.way.paths[:1] == (NARROWER,)
            )
            meanings = tuple(replace(one, cost=0.0) for one in below)
            if gap and meanings and all("of" in own.preposition_roles(word) for word in gap):
                text = f"{kind.text} {noun.text}"
                whole.append(
                    replace(
                        noun, first=kind.first, score=kind.score + noun.score, text=text, meanings=meanings
                    )
                )
    inside = positions(whole)
    return [*(one for one in nouns if one.first not in inside), *whole]


def _is_verb(words: Sequence[str], stems: Sequence[str], at: int, own: Language) -> bool:
    """Whether a word that may be a noun is the verb of an auxiliary: "do we *document*", "did Bell *work* on"."""
    helped = any(word in own.roles["verbs.do"] for word in words[:at])
    if not helped or not any(stems[at] in one.says for one in vocabulary(own.code).relations.values()):
        return False
    before = words[at - 1]
    article = before in own.articles or before in own.raw.get("asking", {}).get("denying", ())
    pronoun = before in own.stop and not article and not any(own.phrases.at(words[:at], at - 1))
    return pronoun or (not article and all(word in own.stop for word in words[at + 1 :]))


def _is_participle(heard: Asked, at: int, own: Language) -> bool:
    """Whether a word behind a form of "to have" or "to be" is one that its accent alone tells from a noun: "photographié"."""
    if not at or heard.words[at - 1] not in own.roles["verbs.have"] | own.roles["verbs.be"]:
        return False
    written = next((one.text for one in heard.chunks if one.first <= at < one.last), "")
    return "".join(filter(str.isalpha, written)).endswith(tuple(own.raw.get("participles", ())))


def _numbered(
    release: Release, kinds: KindWords, nouns: Sequence[Item], words: Sequence[str]
) -> Iterator[Item]:
    """Things that are told from others of their kind by a number in their name: "grave 12", whose name may say the kind in
    another language."""
    plain = plain_words(release.method.questions)
    for noun in nouns:
        at = noun.last
        if at == len(words) or not words[at].isdigit():
            continue
        named = [
            one
            for one in search(release[NameIndex], words[at], HOMONYMS, plain)
            if words[at] in tokenize(one.name)
        ]
        alike = kinds.alike(noun.text)
        found = np.array(sorted({one.entity for one in named}), np.int32)
        so_called = {one.entity for one in named if not alike.isdisjoint(tokenize(one.name))}
        meanings = []
        for kind in noun.meanings[:3]:
            nodes = shared(found, kind.nodes)
            by_name = np.isin(nodes, list(so_called))
            nodes = nodes[by_name] if by_name.any() else nodes
            if 0 < len(nodes) <= MOST_NUMBERED:
                meanings.append(_named(release[Graph], nodes.tolist(), kind.category, kind.cost))
        text = f"{noun.text} {words[at]}"
        if meanings:
            yield Item(noun.first, at + 1, "name", noun.score + 0.9, text, tuple(meanings))
            continue
        begun = {one.entity for one in named if " ".join(tokenize(one.name)).startswith(f"{text} ")}
        meanings = _by_category(release, sorted(begun), 0.1)  # "Studio 2, Quay Street" for "studio 2"
        if 0 < len(begun) <= MOST_NUMBERED:
            yield Item(noun.first, at + 1, "name", noun.score + 0.6, text, tuple(meanings), whole=False)


def _by_category(release: Release, entities: Iterable[int], cost: float) -> list[Meaning]:
    """Entities of one name as meanings, those of each category as one."""
    graph, categories = release[Graph], release[World].adjacency.category
    groups: dict[int, list[int]] = {}
    for entity in entities:
        groups.setdefault(int(categories[entity]), []).append(entity)
    return [_named(graph, nodes, category, cost) for category, nodes in groups.items()]


MOST_NUMBERED = 5  # things of one kind and number that are taken together


def noun_meaning(world: World, kind: Kind) -> Meaning:
    """A kind of things as a meaning."""
    return Meaning(
        kind.nodes,
        target=kind.target,
        cost=kind.cost,
        generic=kind.generic,
        only=kind.only,
        less=kind.less,
        category=mostly(world.adjacency.categories[kind.nodes]),
    )


def cut(
    words: Sequence[str], items: Sequence[Item], own: Language, most: int
) -> list[tuple[float, tuple[Item, ...]]]:
    """The likeliest ways to cut a question into items of which none overlap, best first."""
    by_start: dict[int, list[Item]] = {}
    for item in items:
        by_start.setdefault(item.first, []).append(item)
    best: list[list[tuple[float, tuple[Item, ...]]]] = [[] for _ in range(len(words) + 1)]
    best[0] = [(0.0, ())]
    denying = {item.first for item in items if item.roles & NEGATIONS}
    for at in range(len(words)):
        skip = -UNHEARD if at in denying else 0.0 if words[at] in own.stop else -0.35
        for score, chosen in sorted(best[at], key=lambda one: -one[0])[: 2 * most]:
            best[at + 1].append((score + skip, chosen))
            for item in by_start.get(at, ()):
                best[item.last].append((score + item.score, (*chosen, item)))
    found: dict[tuple[tuple[int, int, str], ...], tuple[float, tuple[Item, ...]]] = {}
    whole = sorted(best[-1], key=lambda one: -one[0])
    for score, chosen in whole:
        if score < whole[0][0] - UNLIKELY_CUT or len(found) == most:
            break
        telling = (one for one in chosen if one.sort != "op" or one.roles & TELLING)
        found.setdefault(tuple((one.first, one.last, one.sort) for one in telling), (score, chosen))
    return list(found.values())


UNLIKELY_CUT = 1.8
"""Points below the likeliest cut beyond which none is read."""
TELLING = frozenset({
    "questions.what", "questions.who", "questions.how_many", "questions.list", "questions.there", "questions.polar",
    "questions.kind", "operators.and", "operators.or", "operators.not", "operators.without", "operators.neither",
    "operators.except", "operators.anyone_else", "operators.per", "operators.breakdown", "operators.most",
    "operators.fewest", "operators.earliest", "operators.latest", "operators.highest", "operators.lowest",
    "operators.titles", "operators.at_least", "operators.more_than", "operators.or_more", "whole",
})  # fmt: skip


def joined(
    items: tuple[Item, ...],
    words: Sequence[str],
    own: Language,
    either: Callable[[Item, Item], Item | None],
) -> tuple[Item, ...]:
    """Names, or nouns, that "and" or "or" joins, as one item each that means ``either`` of them, where it can mean that."""
    found = list(items)
    at = 0
    while at + 1 < len(found):
        width = _list_width(found, at, words, own)
        if width and (whole := either(found[at], found[at + width - 1])) is not None:
            found[at : at + width] = [whole]
        else:
            at += 1
    return tuple(found)


UNHEARD = 2.0
"""Points that it costs to pass over a word that denies something."""


def _list_width(found: Sequence[Item], at: int, words: Sequence[str], own: Language) -> int:
    """How many items from ``at`` are two of one sort with "and", "or" or a comma between them; 0 for none."""
    first = found[at]
    if first.sort not in ("name", "noun") or _is_both(found, at, words, own):
        return 0
    after = found[at + 1]
    if after.roles & JOINS and at + 2 < len(found):
        second, width = found[at + 2], 3
    else:  # "lithographs, woodcuts and screenprints"
        row = takewhile(
            lambda pair: pair[1].sort == first.sort and pair[0].last == pair[1].first, pairwise(found[at:])
        )
        end = at + len(list(row))
        if end == at or not any(one.roles & JOINS for one in found[end + 1 : end + 2]):
            return 0
        second, width = after, 2
    held = range(after.first, after.last) if width == 3 else ()
    between = (i for i in range(first.last, second.first) if i not in held)
    same = second.sort == first.sort and all(words[i] in own.stop for i in between)
    return width if same else 0


def _is_both(found: Sequence[Item], at: int, words: Sequence[str], own: Language) -> bool:
    """Whether "both" stands before an item: what is joined must hold of each, and is not any of two."""
    before = found[at - 1] if at else None
    if before is None or "operators.both" not in before.roles:
        return False
    return own.stop.issuperset(words[before.last : found[at].first])


def _any_of(one: Target, other: Target) -> Iterator[Target]:
    """What is of either of two kinds that are told in the same way and in no other, as types, say."""
    for part in ("types", "classes", "categories"):
        mine, its = getattr(one, part), getattr(other, part)
        if mine and its and Target(**{part: mine}) == one and Target(**{part: its}) == other:
            yield Target(**{part: tuple(dict.fromkeys((*mine, *its)))})


def either(a: Item, b: Item, graph: Graph) -> Item | None:
    """An item that means any of two."""
    meanings = []
    for one in a.meanings[:3]:
        for other in b.meanings[:3]:
            cost = one.cost + other.cost
            if one.named and other.named and one.category == other.category and not (one.plan or other.plan):
                nodes = united(one.nodes, other.nodes)
                meanings.append(replace(one, nodes=nodes, iris=(*one.iris, *other.iris), cost=cost))
            elif one.target is not None and other.target is not None:
                nodes, generic = united(one.nodes, other.nodes), one.generic and other.generic
                for target in _any_of(one.target, other.target):
                    meanings.append(replace(one, nodes=nodes, target=target, cost=cost, generic=generic))
    if not meanings:
        return None
    return Item(
        a.first, b.last, a.sort, a.score + b.score, f"{a.text} {b.text}", tuple(meanings),
        stems=a.stems | b.stems, whole=a.whole and b.whole, joined=a.joined + b.joined,
    )  # fmt: skip


_NUMBER = re.compile(r"[(\[]?(\d{1,3}(?:[.,'’]\d{3})+|\d{1,15})([.,]\d{1,9})?([^\W\d_]*)[.,;:?!)\]]*")


class Found(NamedTuple):
    """The words ``first`` to before ``last`` with what they say."""

    first: int
    last: int
    amount: Amount


NEAR = 3  # words between a bound and the word before it that says of what: "a print run *of well* over 500"


BOUNDS: Mapping[str, tuple[bool, bool, bool]] = {
    "operators.more_than": (True, False, False),
    "operators.at_least": (True, False, True),
    "operators.less_than": (False, True, False),
    "operators.at_most": (False, True, True),
    "operators.exactly": (True, True, True),
}
"""Whether a number behind a small word is the least, the most, and counts itself."""


def amounts(words: Sequence[str], chunks: Sequence[Chunk], own: Language) -> Iterator[Item]:
    """All amounts of a question, with each word that may say of what they are; they overlap."""
    numbers = {one.first: number for one in chunks if (number := _number(one, words, own)) is not None}
    for found in _bounded(words, numbers, own):
        units = [found]
        if not found.amount.unit and found.last < len(words) and words[found.last] not in own.stop:
            with_unit = replace(found.amount, unit=words[found.last])
            units.append(Found(found.first, found.last + 1, with_unit))
        for one in units:
            for first, last, amount in _of_something(one, words, own):
                yield item_at(words, first, last, "amount", 1.2, value=amount)


def _number(chunk: Chunk, words: Sequence[str], own: Language) -> tuple[int, float, str] | None:
    """Where a number ends, its value, and the unit that is written without a blank behind it."""
    if chunk.last == chunk.first + 1 and (said := own.numbers.get(words[chunk.first])) is not None:
        return chunk.last, float(said), ""
    written = _NUMBER.fullmatch(chunk.text)
    if written is None or chunk.last == chunk.first:
        return None
    whole, part, unit = written[1], written[2] or "", fold(written[3])
    point = own.raw.get("decimal", ",")
    if not part and re.fullmatch(rf"\d+{re.escape(point)}\d+", whole):
        whole, part = whole.split(point)
    value = float(re.sub(r"\D", "", whole) + ("." + part.lstrip(".,") if part.lstrip(".,") else ""))
    if unit and known_unit(unit) is None:
        return None
    return chunk.last, value, unit


def _bounded(
    words: Sequence[str], numbers: Mapping[int, tuple[int, float, str]], own: Language
) -> Iterator[Found]:
    """Numbers with what bounds them and with a unit that is known by its name."""
    for at in range(len(words)):
        for length, roles in own.phrases.at(words, at):
            low = at + length
            if low not in numbers:
                continue
            last, value, unit = _with_unit(words, numbers[low], own)
            size = next((size for word in words[at:low] if (size := own.size_of(word))), "")
            for role in BOUNDS.keys() & roles:
                least, most, counts = BOUNDS[role]
                lower, upper = value if least else None, value if most else None
                yield Found(at, last, Amount(lower, upper, counts, counts, unit, size))
            both = "operators.between" in roles and last + 1 < len(words)
            if both and words[last] in own.roles["operators.and"] and last + 1 in numbers:
                until, high, other = _with_unit(words, numbers[last + 1], own)
                if high > value and (not unit or unit == other):
                    yield Found(at, until, Amount(value, high, unit=other))
        compared = _compared(words, at, own)
        if compared is not None and at + 2 in numbers:
            first, more = compared
            last, value, unit = _with_unit(words, numbers[at + 2], own)
            size = own.size_of(words[at])
            lower, upper = (value, None) if more else (None, value)
            yield Found(first, last, Amount(lower, upper, False, False, unit, size))
        if at in numbers:
            last, value, unit = _with_unit(words, numbers[at], own)
            # "45 *or more* seats", "45 seats *or more*"
            for behind in range(last, min(last + 2, len(words))):
                lengths = (n for n, roles in own.phrases.at(words, behind) if "operators.or_more" in roles)
                noun = last if behind > last else -1
                yield from (Found(at, behind + n, Amount(value, unit=unit, noun=noun)) for n in lengths)


def _with_unit(words: Sequence[str], number: tuple[int, float, str], own: Language) -> tuple[int, float, str]:
    """The number with a unit behind it, if that is known by its name."""
    last, value, unit = number
    behind = words[last] if not unit and last < len(words) else ""
    is_tie = last + 1 < len(words) and own.preposition_roles(behind)  # "in" is no inch
    if behind and not is_tie and known_unit(behind) is not None:
        return last + 1, value, behind
    return number


def _compared(words: Sequence[str], at: int, own: Language) -> tuple[int, bool] | None:
    """Where a comparative of size begins before "than", and whether it says more: "taller", "plus haut", "less expensive"."""
    said = own.raw.get("comparing", {})
    more, less = (set(map(fold, said.get(key, ()))) for key in ("more", "less"))
    if at + 1 >= len(words) or words[at + 1] not in own.than or not own.size_of(words[at]):
        return None
    before = words[at - 1] if at else ""
    if before in more | less:
        return at - 1, own.is_small(words[at]) == (before in less)
    return None if more else (at, not own.is_small(words[at]))


def comparisons(items: Sequence[Item], words: Sequence[str], own: Language) -> Iterator[Item]:
    """What is compared with a thing that is named, as amounts: "taller *than X*", "more seats *than X*", "older *than X*"."""
    for name in items:
        at = name.first - 1
        while at > 0 and words[at] in own.articles:
            at -= 1
        if name.sort != "name" or name.refers or at < 1 or words[at] not in own.than:
            continue
        for first, amount in _comparing(words, at, own):
            value = replace(amount, than=name.meanings[0].iris)
            yield item_at(words, first, name.last, "amount", 1.2, value=value)


def _comparing(words: Sequence[str], at: int, own: Language) -> Iterator[tuple[int, Amount]]:
    """What stands before "than" (at ``at``): where it begins, and of what it says that things have more or less."""
    if (sized := _compared(words, at - 1, own)) is not None:
        yield sized[0], Amount(size=own.size_of(words[at - 1]), more=sized[1])
        return
    for first in range(max(at - NEAR, 0), at):
        for length, roles in own.phrases.at(words, first):
            if first + length in (at, at + 1) and roles & DATES_COMPARED:
                yield first, Amount(more="operators.later" in roles)
                return
        size, less = own.size_of(words[first]), words[first] in _opening("less_than", own.code)
        if first < at - 1 and (size or less or words[first] in _opening("more_than", own.code)):
            yield first, Amount(noun=at - 1, more=not (own.is_small(words[first]) if size else less))
            return


@lru_cache
def _opening(role: str, code: str) -> frozenset[str]:
    """The first words of an operator's phrases: "*more* than", "*greater* than"."""
    phrases = language(code).raw.get("operators", {}).get(role, ())
    return frozenset(fold(phrase).split()[0] for phrase in phrases)


DATES_COMPARED = frozenset({"operators.earlier", "operators.later"})
"""Operators that compare dates: "*older* than X"."""


def _of_something(found: Found, words: Sequence[str], own: Language) -> Iterator[Found]:
    """An amount with each word beside it that may say of what it is: an adjective of size, or a noun or verb."""
    first, last, amount = found.first, found.last, found.amount
    if amount.size or amount.noun >= 0:
        yield found
        return
    of = own.roles["prepositions.of"]
    high = last + (last + 1 < len(words) and words[last] in own.stop and not own.size_of(words[last]))
    if high < len(words):
        if (size := own.size_of(words[high])) and (high == last or words[last] in of):
            yield Found(first, high + 1, replace(amount, size=size))
            return
        if words[high] not in own.stop:
            yield Found(first, high + 1, replace(amount, noun=high))
    for low in range(first - 1, max(first - 1 - NEAR, -1), -1):
        if size := own.size_of(words[low]):
            yield Found(low, last, replace(amount, size=size))
            return
        yield Found(low, last, replace(amount, noun=low))
        if words[low] not in own.stop:
            break
    if amount.unit:
        known = known_unit(amount.unit)
        size = OF_QUANTITY.get(known[0], GIVEN_IN) if known is not None else GIVEN_IN
        yield found._replace(amount=replace(amount, size=size))


OF_QUANTITY = {"weight": "weight", "length": "any"}
"""The dimension that an amount with a unit is of, where no word says it, by the quantity that the unit measures."""
