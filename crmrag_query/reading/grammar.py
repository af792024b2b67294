"""Staged query graphs: from the items of a question to plans, each with a score.

What is asked for is the first node of a reading; each further item is tied to it, or to the noun before, by one of the ways
that the graph holds between just these two (Yih et al. 2015, Semantic Parsing via Staged Query Graph Generation). A way is
scored by the words of the question that it says, by the small word before the item, and by how common it is. Nothing here
knows a language or a domain: words come from the lexicon, small words by their role.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np

from crmrag_query.dates import Interval, civil
from crmrag_query.graph.arrays import distinct, shared
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph
from crmrag_query.language import LANGUAGES, Language, language
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import known_unit
from crmrag_query.plans.records import (
    Among,
    Anchor,
    CategoryName,
    Compute,
    Constraint,
    Dated,
    Edge,
    Either,
    Measure,
    Member,
    Part,
    Plan,
    Related,
    Target,
    Texted,
    Valued,
    Way,
    parts_of,
    ways_of,
)
from crmrag_query.plans.world import (
    LOCATED,
    World,
    leading_to,
    nodes_leading_to,
    numbers,
    pairs,
    role_steps,
    way_literals,
)
from crmrag_query.questions.lexicon import Chunk
from crmrag_query.reading.cut import (
    ACTOR,
    DETERMINING,
    EVENT,
    EXCEPTIONS,
    FURTHER,
    MEANT,
    OPENERS,
    PER,
    REPEATEDLY,
    SECOND,
    THING,
    TIMES,
    UNKNOWN_ROLE,
    Cut,
    Form,
    Standing,
    form_of,
)
from crmrag_query.reading.earlier import lacks_noun
from crmrag_query.reading.items import amounts, comparisons, either, is_like, item_at, plan_meaning
from crmrag_query.reading.lexicon import (
    GROUPS,
    HOLDING,
    NARROWER,
    VAGUE,
    WHEREABOUTS,
    KindWords,
    category_nodes,
    date_stems,
    entities_of,
    longest_phrase,
    vocabulary,
)
from crmrag_query.reading.numbers import Numbers
from crmrag_query.reading.records import (
    GIVEN_IN,
    INCLUDING,
    LASTING,
    NEGATIONS,
    RANKING,
    Amount,
    Doubt,
    Item,
    Meaning,
    Memory,
    as_list,
    changed,
)
from crmrag_query.reading.ties import Tie, Ties
from crmrag_query.text import positions, tokenize, unmarked
from crmrag_query.timing import check

T = TypeVar("T")


def replace(part: T, **changes: object) -> T:
    """`dataclasses.replace` of a frozen class without slots, five times as fast: readings change thousands of times."""
    found = object.__new__(type(part))
    found.__dict__.update(part.__dict__)
    found.__dict__.update(changes)
    return found


FINISHED = 6  # of these that become plans
BEAM = 8  # readings in the making that are kept after each item
COMPUTED = 0.5  # points that a tie gains at most where an operator makes a ranking or a group of it
PER_WORD, BY_TYPE, BY_OPERATORS = 0.8, 0.4, 2.0
"""Points that a reading gains at most once it is finished: by each word without an object, by a type that one names, and by
all that its operators make of it."""
MOST_SPOKEN = 40  # names, nouns and dates of a question beyond which it is no question for a set
MEANINGS = 4  # of an item that are tried
TRIED = 5  # ways of an item to one thing that are tried
PLACE = int(Category.Place)


@dataclass(frozen=True)
class Weights:
    """What speaks for a reading, in points; set by hand on the dev sets."""

    said: float = 1.0
    again: float = 0.25
    unsaid: float = 0.45
    prep: float = 0.4
    wrong_prep: float = 0.45
    wrong_agent: float = 0.7
    phrase: float = 0.6
    starts: float = 0.6
    ends: float = 0.6
    share: float = 0.25
    premodifier: float = 0.25
    far_parent: float = 0.15
    dropped: float = 1.1
    uncovered: float = 0.9
    empty_verb: float = 0.25
    unused: float = 0.9
    denial: float = 0.6  # besides, of a word that denies: what leaves it out says the opposite
    elsewhere: float = 0.35
    scattered: float = 0.5


WEIGHTS = Weights()

RANGES: Mapping[str, str] = {"P45": "E57", "P126": "E57", "P72": "E56", "P91": "E58"}
"""Properties whose far end is of a class of its own, which says the property."""
PLACES = frozenset({"P7", "P26", "P27"})
HAPPENING = frozenset(
    {
        "created_in",
        "modified_in",
        "acquired_in",
        "exhibited_in",
        "active_in",
        "found_at",
        "born_in",
        "died_in",
    }
)
"""Relations to the place of an event, which a preposition alone does not say: what is *in* a place need not be made there."""
BY = frozenset({"P14", "P11", "P02", "P94"})
"""Properties to who did something: behind "portraits of", who is shown is meant as well."""
ENDS = frozenset({"from", "to"})
"""Roles of prepositions that say from whom something came, and to whom."""
RECEIVING = frozenset({"P22", "P23", "P28", "P29"})
"""Properties to who gave or received something, either of whom "by" may name."""
TRANSFERS = RECEIVING | {"P26", "P27"}
"""These, and properties to where something was moved from and to."""
PREMODIFYING = frozenset(
    {"P52", "P49", "P50", "P2", "P45", "P126", "P32", "P107i", "P72", "P14", "P62", "P138"}
)
"""Properties whose far end may stand bare before a noun: *marble* busts, *women* artists."""


@dataclass(frozen=True)
class Condition:
    """What holds of a node of a reading: a tie to another node, a date, a text, a number, or that it is of a kind (no tie);
    ``others``: the tie leads to something other than the child; ``lasting``: dates that reach into the period count."""

    tie: Tie | None
    child: int = -1
    negated: bool = False
    period: Interval | None = None
    text: str = ""
    number: Valued | None = None
    among: bool = False
    others: bool = False
    lasting: bool = False


@dataclass(frozen=True)
class State:
    """A reading in the making: its nodes (0 is what is asked for) with the items that said them; conditions by node; the
    words and small words that it says; ``over``: the node that its ``compute`` counts or groups by, which may have conditions
    as well; ``without``: a ranking of which nothing is meant; ``doubt``: why it would not be sure."""

    nodes: tuple[Meaning, ...]
    places: tuple[Item | None, ...]
    conditions: tuple[tuple[int, Condition], ...]
    covered: frozenset[int]
    used: frozenset[int]
    score: float
    spine: tuple[int, ...] = (0,)
    compute: Compute | None = None
    over: int = -1
    doubt: frozenset[Doubt] = frozenset()
    without: Compute | None = None

    def tied(self, parent: int, condition: Condition, **changes: Any) -> State:
        """The reading with one more condition of a node."""
        return replace(self, conditions=(*self.conditions, (parent, condition)), **changes)


class Made(NamedTuple):
    """What operators make of a reading: what it gains by that, where the operators stand, and the words that say it."""

    compute: Compute
    gain: float
    used: frozenset[int]
    says: frozenset[int] = frozenset()
    doubt: frozenset[Doubt] = frozenset()


class Bare(NamedTuple):
    """What words without an object say of a node, that it leads to anything at all; ``restricts``: not nearly all do."""

    node: int
    related: Related
    says: frozenset[int]
    gain: float
    restricts: bool


class Head(NamedTuple):
    """What may be asked for: a meaning, the item that says it (None: a question word does) and the points for that; ``also``:
    an item that says no more than this one; ``compute``: what is made of it; ``covered``: other words that say it."""

    meaning: Meaning
    item: Item | None
    score: float
    also: Item | None = None
    compute: Compute | None = None
    covered: frozenset[int] = frozenset()
    doubt: frozenset[Doubt] = frozenset()


@dataclass(frozen=True)
class Reading:
    """A plan with its score; ``worded``: that of its words alone, whatever the plan is like; ``uncovered``: content words
    that it does not say; ``doubt``: why it is not sure; ``named``: the names that it ties; ``refers``: it goes on from what
    went before; ``size`` and ``result``: of its set, once it was executed; ``same``: another plan for its words, which, if it
    gives the same, leaves no doubt of those ``without an object``; ``only``: its noun means those of which something holds:
    "artists"."""

    plan: Plan
    score: float
    worded: float = 0.0
    uncovered: tuple[str, ...] = ()
    doubt: frozenset[Doubt] = frozenset()
    sort: str = ""
    named: frozenset[str] = frozenset()
    refers: bool = False
    size: int = -1
    result: bytes = b""
    settled: bool = True
    same: Plan | None = None
    only: bool = False


Tried = tuple[float, Tie, frozenset[int], frozenset[Doubt]]
"""A way, with what it gains, the words that it says and doubts: gain, way, words, doubts."""


@dataclass
class Grammar:
    """A question with all that is known before it is read; ``least``: points without which a reading is not wanted."""

    world: World
    graph: Graph
    ties: Ties
    kinds: KindWords
    own: Language
    words: tuple[str, ...]
    stems: tuple[str, ...]
    weights: Weights = WEIGHTS
    capitals: frozenset[int] = frozenset()
    said: frozenset[str] = frozenset()
    chunks: tuple[Chunk, ...] = ()
    earlier: Plan | None = None
    head_words: frozenset[int] = frozenset()
    pictured: frozenset[str] = frozenset()
    known: frozenset[int] = frozenset()
    saying: frozenset[str] = frozenset()
    meant: tuple[Item, ...] = ()
    asides: frozenset[Doubt] = frozenset()
    least: float = -math.inf
    cut: Cut = field(init=False)
    _said: dict[tuple[str, frozenset[int]], frozenset[int]] = field(default_factory=dict)
    memory: Memory = field(default_factory=Memory)
    _highest: list[float] = field(default_factory=list)

    @cached_property
    def numbers(self) -> Numbers:
        """What the question may measure."""

        def states(relation: str) -> bool:
            return bool(self.ties.reach(relation)[0])

        return Numbers(self.world, self.ties.lexicon, states, self.own, self.stems, self.memory)

    # reading

    def readings(self, items: tuple[Item, ...], base: float) -> Iterator[Reading]:
        """The readings of one cut of the question into items, but for those that cannot have `least` points."""
        form = form_of(items, self.own)
        form.asks = (form.asks or self._begins_with_verb(items, form)) and not self._asks_for_them(items)
        items = self._with_unknown_names(items)
        cut = self.cut = Cut(self.words, self.own, items, form)
        spoken = [item for item in items if item.sort in ("name", "noun", "date", "text", "amount")]
        if len(spoken) > MOST_SPOKEN:
            return
        self.head_words = self._head_words()
        self.asides = frozenset(self._asides())
        if any(one.roles & NEGATIONS and cut.taken.isdisjoint(one.places) for one in self.meant):
            base -= self.weights.unused + self.weights.denial
        empty = self.own.roles["verbs.empty"]
        self.said = frozenset(self.stems[at] for at in cut.free if self.words[at] not in empty)
        for state, rest in self._heads(spoken, base):
            states = [state]
            rest = cut.heads_first(rest)
            for item in rest:
                check()
                hopeless = self.least - self._gained_at_most(len(cut.free))
                self._highest = [hopeless] * BEAM if item is rest[-1] else []
                grown = [new for one in states for new in self._attach(one, item)]
                grown += [self._without(one, item) for one in states]
                states = sorted(grown, key=lambda one: -one.score)[:BEAM]
            for one in states[:FINISHED]:
                left = sum(at not in one.covered for at in cut.free)
                if one.score + self._gained_at_most(left) >= self.least:
                    yield from self._finished(one)

    def _asks_for_them(self, items: Sequence[Item]) -> bool:
        """Whether a further sentence asks for what the first asks whether there is: "Are there any? *List* them."."""
        starts = {one.first for one in self.chunks if one.opens and one.first}
        return any(one.first in starts and one.roles & FURTHER for one in items)

    def _begins_with_verb(self, items: Sequence[Item], form: Form) -> bool:
        """Whether a question that no other word opens begins with a verb, and so asks yes or no: "¿se *pintó* alguna …"."""
        if not self.chunks or not self.chunks[-1].text.endswith(("?", ";", "\u037e")):
            return False
        if form != Form(opened=form.opened) or any(one.roles & OPENERS for one in items):
            return False
        first = next((at for at, word in enumerate(self.words) if word not in self.own.stop), len(self.words))
        item = any(one.first <= first < one.last for one in items)
        return first < len(self.words) and not item and self.stems[first] in self.saying

    def _without(self, state: State, item: Item) -> State:
        unknown = item.score == UNKNOWN or item.sort == "amount"  # of which nothing has the number
        cost = self.weights.dropped + (0.6 if unknown else max(item.score, 0.0))
        determined = any(one.roles & DETERMINING and one.last == item.first for one in self.cut.items)
        if (
            item.sort == "name" and determined
        ):  # "which *prints*" asks for these, though a name is called so, too
            cost += UNASKED
        doubt = Doubt("unknown", item.text) if unknown else Doubt("passed over", item.text)
        return replace(state, score=state.score - cost, doubt=state.doubt | {doubt})

    def _with_unknown_names(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """The items with runs of capitalised words that name nothing known, as texts that nothing can hold."""
        if not self.own.capitals_name:
            return items
        taken = positions(items)
        runs: list[list[int]] = []
        for at in sorted(self.capitals - taken):
            if self.words[at] in self.own.stop or len(self.words[at]) < 2:
                continue
            if runs and runs[-1][-1] == at - 1:
                runs[-1].append(at)
            else:
                runs.append([at])
        unknown = [item_at(self.words, run[0], run[-1] + 1, "text", UNKNOWN) for run in runs]
        return tuple(sorted((*items, *unknown), key=lambda one: one.first))

    def _asides(self) -> Iterator[Doubt]:
        """What a question says that no reading can: a second question, a pronoun for something of its own, "all" and
        "only"."""
        roles = self.own.roles
        before = positions(item for item in self.cut.items if item.refers)
        spoken = [item for item in self.cut.items if item.sort in ("name", "noun", "date")]
        if self.earlier is None and all(map(self.cut.is_time, spoken)):
            yield Doubt("nothing is spoken of")
        split = "operators.breakdown" in self.own.roles_within(self.words)  # "how do they break down by"
        if self.cut.with_role(*NEVER_A_SET) and not split:
            yield Doubt("how or why")
        telling = [one for one in self.cut.items if one.sort != "op" or one.roles & (MEANT | WIDENING)]
        taken = positions(telling)
        yield from (Doubt("not said", op.text) for op in self.meant if taken.isdisjoint(op.places))
        loose = [(at, word) for at, word in enumerate(self.words) if at not in taken]
        compared = next((pair for pair in loose if pair[1] in roles["operators.compare"]), None)
        if compared is not None and any(word in self.own.than for at, word in loose if at > compared[0]):
            yield Doubt("compared", compared[1])  # "*more* finds *than* Bell"
        for one in self.cut.items:
            if INCLUDING in one.roles:  # what is widened may hold other things than it is read to
                yield Doubt("including", one.text)
        if self.cut.form.described and any(
            one.roles & WHERE_OR_WHEN for one in self.cut.items[: self.cut.form.opened]
        ):
            yield Doubt("where or when")
        if self.cut.form.described and len(spoken) == 1 and spoken[0].sort == "name":
            yield Doubt("one thing is described")
        for at in range(len(self.words)):
            if at not in before:
                yield from self._asides_of_word(at, spoken)
        if self.cut.form.asks and not self.cut.form.counts:
            every = roles["operators.each"] | roles["operators.all"]
            for item in spoken:
                if not every.isdisjoint(self.words[max(0, item.first - 2) : item.first]):
                    yield Doubt("all", item.text)
        for item in self.cut.items:
            if item.roles & SECOND and roles["operators.and"].intersection(
                self.words[item.last : item.last + 1]
            ):
                after = (one for one in self.cut.items if item.last < one.first <= item.last + 2)
                yield from (Doubt("two are asked for", one.text) for one in after if one.roles & SECOND)
            if self.cut.form.counts and item.roles & WHERE_OR_WHEN and not self.cut.is_relative(item):
                yield Doubt("two are asked for", item.text)  # "how many are *where*"
        # What "or" joins is one item; where it joins none, as of verbs, what is read holds of both or of one alone.
        yield from (Doubt("either", item.text) for item in self.cut.items if "operators.or" in item.roles)
        dates = [item for item in self.cut.items if item.sort == "date"]
        either = roles["operators.or"]
        for item in dates:
            inside = self.words[item.first : item.last]
            if sum(any(map(str.isdigit, word)) for word in inside) > 1 and not either.isdisjoint(inside):
                yield Doubt("one date or another")

    def _asides_of_word(self, at: int, spoken: Sequence[Item]) -> Iterator[Doubt]:
        """What a small word says that no reading can, behind names, nouns and dates (``spoken``)."""
        word, roles, items = self.words[at], self.own.roles, self.cut.items
        article = any(at < one.first <= at + 2 for one in items if one.sort in ("noun", "name", "number"))
        small = positions(one for one in items if one.sort == "op")
        own = word in roles["pronouns.own"]
        heard = (one for one in spoken if one.last < at)
        if word in roles["pronouns.person"] and not own:  # "prints by *him*" speaks of none of the prints
            heard = (one for one in heard if any(each.category & ACTOR for each in one.meanings))
        unheard = not any(heard) and at not in small and not article
        if unheard and any(word in roles[f"pronouns.{one}"] for one in ("many", "thing", "person")):
            yield Doubt("stands for something", word)
        if not at:
            return
        with_own = own and self.words[at - 1] in roles["prepositions.with"]
        if with_own or (own and self.cut.is_in_clause(at)):  # "the place *where their* maker was born"
            yield Doubt("stands for something", word)
        only = any("operators.only" in role for _, role in self.own.phrases.at(self.words, at))
        if only and not any(at < one.first <= at + 2 and one.roles & RANKING for one in items):
            yield Doubt("only", word)  # but not "just the top three"

    def _head_words(self) -> frozenset[int]:
        """Content words right behind what opens the question that are no item: an unknown noun for what is asked for."""
        opener = next((one for one in reversed(self.cut.items) if one.roles & DETERMINING), None)
        if opener is None:
            return frozenset()
        spoken = positions(one for one in self.cut.items if one.sort != "op")
        verbs = self.own.auxiliaries
        small = {at for at, word in enumerate(self.words) if word in self.own.stop - verbs} - spoken
        small |= self.cut.choosing
        at, found = opener.last, list[int]()
        while at < len(self.words) and (at in self.cut.open or (not found and at in small)):
            if at in self.cut.open:
                found.append(at)
            at += 1
        if found and (found[0] in self.known or self.stems[found[0]] in self.saying):
            return frozenset()  # "¿qué se *hizo* en Baltimore?"
        if "questions.how_many" in opener.roles:
            return frozenset(found[:1])
        follows = self.words[at] if at < len(self.words) else ""
        if found and at == len(self.words) and found[0] - 1 in self.cut.choosing:
            return frozenset(found[:1])  # "the three tallest *books*"
        ties = follows in verbs or self.own.preposition_roles(follows)
        return frozenset(found[:1]) if ties else frozenset()

    def raw(self, first: int, last: int) -> str:
        """Words of the question as they were written, without signs around them and a genitive's s."""
        texts = [one.text for one in self.chunks if one.first < last and one.last > first]
        return unmarked(" ".join(texts)) or " ".join(self.words[first:last])

    # what is asked for

    def _heads(self, spoken: Sequence[Item], base: float) -> Iterator[tuple[State, list[Item]]]:
        """Readings of which nothing but what is asked for is known, with the items that are left to tie."""
        often = self.cut.first_with("questions.how_often") is not None
        for head in self._asked_for(spoken):
            meaning, item, score, doubt = head.meaning, head.item, head.score, head.doubt
            if item is not None and meaning.named:
                doubt |= self._unsure_name(item, meaning)
            elif item is not None and meaning.cost >= VAGUE:
                doubt |= {Doubt("vague", item.text)}
            if often and (meaning.generic or not meaning.category & EVENT):
                # what happened is counted, by its kind, and not what it happened to
                doubt |= {Doubt("how often")}
                score -= 0.0 if meaning.category & EVENT else self.weights.dropped
            used = frozenset[int]() if head.compute is None else self.cut.per_words()
            state = State(
                (meaning,), (item,), (), head.covered, used, base + score - meaning.cost,
                compute=head.compute, doubt=doubt,
            )  # fmt: skip
            yield state, [one for one in spoken if one is not item and one is not head.also]

    def _asked_for(self, spoken: Sequence[Item]) -> Iterator[Head]:
        """What a question may ask for, of names, nouns and dates (``spoken``), or by its question words alone."""
        cut, form = self.cut, self.cut.form
        every = [one for one in spoken if one.sort == "noun"]
        nouns = [one for one in every if not cut.is_participle(one)]
        referring, openers = [one for one in spoken if one.refers], self._openers(every)
        direct = self._direct(openers, nouns, referring)
        if self.earlier is not None and not referring:
            # "And any with lions?", "How many are drawings?": of those before
            yield Head(plan_meaning(self.world, self.earlier), None, -0.2 if direct is not None else 0.5)
            if set(self.words[:1]) & self.own.roles["dialogue.only"] or lacks_noun(self.words, self.own):
                return  # "only the women", "which are women": of those before
        if cut.with_role(*COUNTED) and cut.first_with("questions.where") is not None:
            yield from self._all_of("Place", 0.6)  # "*where* were the *most* coins found"
        if form.who and direct is None:
            yield from self._people(nouns)
            return
        if direct is not None and direct.sort == "noun":
            yield from self._counted_by_kind(direct, nouns, openers)
        chosen = [direct] if direct is not None else [cut.head_of(nouns[0], nouns)] if nouns else []
        chosen += [one for one in (*nouns[:2], *referring[:1]) if one not in chosen]
        for place, item in enumerate(chosen):
            if item is direct:
                score, doubt = 0.8, frozenset[Doubt]()
            else:
                score = -0.3 if place else 0.3
                doubt = frozenset(() if direct is None else {Doubt("asked for", direct.text)})
                if form.what and cut.is_subject(item):
                    score -= 0.8  # "what do *paintings* show"
                if cut.phrase_lead(item) and item.first > 1:
                    score -= 0.8  # "what do you have *by* women artists"
                if self.head_words:  # "which *books* …" asks for no bookseller, whatever a book is here
                    score -= self.weights.dropped
            for meaning in item.meanings[:MEANINGS]:  # "which *place* has the oldest bridges"
                yield Head(meaning, item, score, doubt=doubt)
        # "is there *anything* by Monet" asks for what is his, and not whether there is a Monet
        anything = cut.first_with("questions.anything") is not None
        names = [one for one in spoken if one.sort == "name"]
        if not (anything and form.asks) and (form.asks or not chosen):
            for item in names[:2]:
                for meaning in item.meanings[:MEANINGS]:
                    if form.counts and len(meaning.nodes) < 2:
                        continue  # "how many *still lifes*" are not the one word for them
                    yield Head(meaning, item, 0.0 if form.asks else -1.0)
        of_one = form.asks and names and not anything and not cut.is_one_such(spoken)
        # "what is the average height *of the paintings*" asks for nothing but these
        of_nouns = nouns and (not form.what or cut.with_role(*SUMS))
        if direct is None and not of_one and not of_nouns:
            yield from self._whatever()

    def _openers(self, nouns: Sequence[Item]) -> list[Item]:
        """The question words behind which what is asked for may stand; none where a preposition at the end asks."""
        cut = self.cut
        openers = cut.with_role(*DETERMINING)
        if cut.form.counts:  # "wie viele … gibt es je …": what stands behind "how many" is counted
            openers = [one for one in openers if "questions.how_many" in one.roles] or openers
        behind = {opener.last for opener in openers}
        dangles = bool(self.words) and cut.form.what and cut.dangles()
        return [] if dangles and not any(one.first in behind for one in nouns) else openers

    def _direct(
        self, openers: Sequence[Item], nouns: Sequence[Item], referring: Sequence[Item]
    ) -> Item | None:
        """What stands right behind a question word, the last one that anything stands behind."""
        for opener in reversed(openers):
            behind = (one for one in (*nouns, *referring) if self.cut.stands_behind(opener, one))
            if (direct := next(behind, None)) is not None:
                return self.cut.head_of(direct, nouns) if direct.sort == "noun" else direct
        return None

    def _people(self, nouns: Sequence[Item]) -> Iterator[Head]:
        """Whom "who" asks for: those of a noun, "who were the *members*", or anybody."""
        noun = next((one for one in nouns if self.cut.is_predicate(one)), None)
        if noun is not None:
            for meaning in noun.meanings[:MEANINGS]:
                if not meaning.category or meaning.category & ACTOR:
                    yield Head(
                        meaning, noun, 0.3
                    )  # "qui est mort": nobody is a death, and no panel lifted anything
            copula = self.own.roles["verbs.be"].intersection(self.words[: noun.first])
            people = bool(copula) and noun.meanings[0].category & ACTOR
            if people and self.words[noun.last : noun.last + 1] != ("s",):
                return  # "who were the *members*" asks for nobody else whom they have to do with
        yield from self._all_of("Actor", 0.2)

    def _counted_by_kind(
        self, direct: Item, nouns: Sequence[Item], openers: Sequence[Item]
    ) -> Iterator[Head]:
        """ "Which kinds of object are there (and how many of each)": so many objects of each kind."""
        of: Item | None = None
        if any("questions.kind" in one.roles for one in openers):
            of = direct
        elif self.cut.form.counts and self._is_type(direct):
            behind = (one for one in nouns if one.first >= direct.last and "of" in self.cut.lead(one))
            of = next(behind, None)
        for meaning in of.meanings[:MEANINGS] if of is not None else ():
            group = Compute(kind="group", way=Way(relations=("type",)))
            yield Head(meaning, of, 1.6, also=direct, compute=group)

    def _all_of(self, name: CategoryName, score: float, cost: float = 0.0) -> Iterator[Head]:
        """All of a category, where the data has any."""

        def made() -> Meaning:
            nodes, target = category_nodes(self.world, name), Target(categories=(name,))
            return Meaning(nodes, target, cost=cost, generic=True, category=int(Category[name]))

        meaning = self.memory.once(made, (), "all of", name, cost)
        if len(meaning.nodes):
            yield Head(meaning, None, score)

    def _happening(self) -> Iterator[tuple[str, Meaning]]:
        """The events of which a word says what happened, by their type, or, where none is called so, by their class."""
        lexicon, code = self.ties.lexicon, self.own.code
        typed = {
            stem: Target(types=tuple(map(self.graph.iri, types.tolist())))
            for stem, types in lexicon.typed(self.said, code).items()
        }
        classes = lexicon.happening(self.said, code)
        for stem in sorted(self.said):
            for target in (typed.get(stem), Target(classes=classes.get(stem, ()))):
                if target is None or target == Target():
                    continue
                nodes = entities_of(self.world, target)
                if (self.world.adjacency.categories[nodes] & EVENT).any():
                    yield stem, Meaning(nodes, target, category=EVENT)
                    break

    def _whatever(self) -> Iterator[Head]:
        """What "what" may mean: what happened, works, or all of a category."""
        often = self.cut.first_with("questions.how_often") is not None
        for stem, meaning in self._happening() if often else ():  # "how often was it *repaired*"
            covered = frozenset(at for at in self.cut.open if self.stems[at] == stem)
            yield Head(meaning, None, self.weights.said, covered=covered)
        for one in self._works_in_general:
            yield Head(one, None, 0.2)
        for name, cost in WHAT.items():
            yield from self._all_of(name, 0.0, cost)

    @cached_property
    def _works_in_general(self) -> list[Meaning]:
        """What is called a work."""
        works = self.kinds.general("work")
        return [Meaning(one.nodes, one.target, cost=0.1, generic=True, category=THING) for one in works]

    def _is_type(self, item: Item) -> bool:
        """Whether a noun means kinds of things."""

        def means_types() -> bool:
            kinds = {one.target for one in self.kinds.general("type")}
            return any(one.target in kinds and one.only is None for one in item.meanings)

        return self.memory.once(means_types, (item,), "type")

    # tying

    def _attach(self, state: State, item: Item) -> Iterator[State]:
        if self.cut.is_time(item) and any(one.sort == "date" for one in self.cut.items):
            yield state  # "which *date* from 1900": the date says it
            return
        amount = item.value if isinstance(item.value, Amount) else None
        if item.sort == "date" or self.cut.is_time(item) or (amount and amount.noun < 0 and not amount.size):
            yield from self._attach_date(state, item)
            return
        if item.sort == "text":
            negated = bool(self.cut.flags(item).keys() & NEGATIONS)
            condition = Condition(None, text=self.raw(item.first, item.last), negated=negated)
            if item.score == UNKNOWN:
                score, doubt = state.score - min(0.6, 0.3 * len(item)), Doubt("unknown", item.text)
                yield state.tied(0, condition, score=score, doubt=state.doubt | {doubt})
            else:
                around = frozenset(at for at in self.cut.free if abs(at - item.first) <= AROUND)
                yield state.tied(0, condition, covered=state.covered | around, score=state.score + 0.6)
            return
        if amount is not None:
            yield from self._attach_amount(state, item, amount)
            return
        split = state.places[state.over] if state.over > 0 else None
        for meaning in item.meanings[:MEANINGS]:
            for hops, parent in enumerate(reversed(state.spine)):
                if split is not None and parent == state.over and self._is_type(split):
                    if split.last <= item.first and self._are_all(state.nodes[0], meaning):
                        yield state  # "by kind *of treatment*", of treatments
                    continue  # "of each kind were done on *textiles*": no kind of these is meant
                yield from self._attach_to(state, item, meaning, parent, hops)

    def _attach_to(
        self, state: State, item: Item, meaning: Meaning, parent: int, hops: int
    ) -> Iterator[State]:
        """The readings in which an item of a meaning says something of a node, so many nouns before it (``hops``)."""
        if (unknown := self.cut.unknown(item)) is not None and not meaning.named:
            yield from self._attach_unknown(state, item, meaning, parent, unknown)
            return
        flags = self.cut.flags(item)
        unclear = item.refers if flags.keys() & EXCEPTIONS else self.cut.follows_excepted(item)
        if unclear:
            state = replace(state, doubt=state.doubt | {Doubt("which are left out", item.text)})
        yield from self._attach_same(state, item, meaning, parent, hops)
        yield from self._attach_tied(state, item, meaning, parent, hops)

    def _grown(self, state: State, item: Item, meaning: Meaning) -> State:
        """The reading with an item as its last node, that nothing ties yet."""
        used = state.used | _places(self.cut.flags(item), NEGATIONS | EXCEPTIONS)
        return replace(state, nodes=(*state.nodes, meaning), places=(*state.places, item), used=used)

    def _attach_same(
        self, state: State, item: Item, meaning: Meaning, parent: int, hops: int
    ) -> Iterator[State]:
        """The readings in which an item says what a node itself is: its name, "the church *of Asinou*", or its kind."""
        near, place, far_cost = state.nodes[parent], state.places[parent], self.weights.far_parent * hops
        excepted, negated = not EXCEPTIONS.isdisjoint(self.cut.flags(item)), self.cut.is_negated(item)
        new, grown = len(state.nodes), self._grown(state, item, meaning)
        named_so = meaning.named and (excepted or self._is_name_of(state, item, meaning, parent))
        inside = shared(near.nodes, meaning.nodes) if named_so else ()
        if len(inside):
            iris = tuple(self.graph.iri(int(node)) for node in inside)
            one_of = replace(grown, nodes=(*state.nodes, replace(meaning, iris=iris, nodes=inside)))
            if excepted:
                score = state.score + 0.8 - meaning.cost
                yield one_of.tied(parent, Condition(None, new, True, among=True), score=score)
            else:
                # "the *verse* X", where only some of what is called X are of the one kind of verse that the data knows
                settled = self._vague(place) if len(inside) == len(meaning.nodes) else frozenset[Doubt]()
                score = state.score + 0.9 - meaning.cost - far_cost
                condition = Condition(None, new, negated, among=True)
                yield one_of.tied(parent, condition, score=score, doubt=grown.doubt - settled)
        # what is *in an* inventory is no inventory
        led = self.cut.lead(item if place is None or place.first < item.first else place)
        if not meaning.named and ("place" not in led or "of" in led) and self._is_kind_of(near, meaning):
            gain = 1.1 if excepted else 0.5 if self.cut.is_said(place, item) else -0.6
            score = state.score + gain - meaning.cost - far_cost
            vague = {Doubt("vague", item.text)} if meaning.cost >= VAGUE else set[Doubt]()
            yield grown.tied(parent, Condition(None, new, negated), score=score, doubt=grown.doubt | vague)

    def _is_name_of(self, state: State, item: Item, meaning: Meaning, parent: int) -> bool:
        """Whether a name, as it is written, says what the noun of a node means."""
        near, lead = state.nodes[parent], self.cut.lead(item)
        if near.named or not item.whole or self.capitals.isdisjoint(item.places):
            return False
        both_places = near.generic and near.category & meaning.category & PLACE and "of" in lead
        if near.cost >= VAGUE and lead and not both_places:
            return False  # "a *member of* the Lantern Circle" is not that circle, but "the *town of* Rolling" is Rolling
        if not self.cut.is_said_to_be(state.places[parent], item):
            return False
        # "artists who are not *American*" are not all but that nation itself
        ways = self._ways(state, parent, meaning, item) if self.cut.is_negated(item) else ()
        return not any(tie.last in PREMODIFYING for _, tie, _, _ in ways)

    def _attach_tied(
        self, state: State, item: Item, meaning: Meaning, parent: int, hops: int
    ) -> Iterator[State]:
        """The readings in which a node is tied to an item by one of the ways between the two."""
        place, w = state.places[parent], self.weights
        flags, negated, far_cost = self.cut.flags(item), self.cut.is_negated(item), w.far_parent * hops
        new, grown = len(state.nodes), self._grown(state, item, meaning)
        others = "operators.anyone_else" in flags and meaning.named
        unsure = self._unsure_meaning(state, item, meaning, parent)
        headless = not parent and place is None
        asked_for = headless and item.sort == "name" and self.cut.is_asked_for(item)
        for gain, tie, covered, doubt in self._ways(state, parent, meaning, item):
            score = state.score + gain - meaning.cost - far_cost
            if len(self._highest) == BEAM and score + COMPUTED <= self._highest[0]:
                break  # as many before it are as good, whatever is made of it and of those behind it
            # "by technique" leaves nothing open where the tie is to the technique
            # but "each room" of "located in" is no place of any size
            said_so = item.stems <= tie.ends and not (meaning.category & PLACE and PER & flags.keys())
            named_so = {Doubt("left open", item.text)} if said_so else frozenset[Doubt]()
            doubt |= {Doubt("in texts", item.text)} if tie.stated else unsure - named_so
            # "Which *costumes*" asks for these, not for what has to do with them; but *bronzes* are made of it, and
            # *wood engravings* by it
            if asked_for and tie.last not in IS_SUCH:
                score -= w.dropped
                doubt |= {Doubt("not asked for", item.text)}
            if negated and any(one.why == "no word for" for one in doubt):
                score -= w.unsaid  # what is not so is not guessed
            if len(self._highest) == BEAM and score + COMPUTED <= self._highest[0]:
                continue
            spine = state.spine if meaning.named else (*state.spine[: state.spine.index(parent) + 1], new)
            denied = self.cut.denied(item, covered)
            told = (
                place is not None and place.stems <= tie.starts and not self.cut.lead(item).isdisjoint(OWNING)
            )
            before = state.doubt - self._vague(place) if told else state.doubt  # "*pupils* of Bell"
            made = replace(
                grown, covered=state.covered | covered, score=score, spine=spine, doubt=before | doubt,
                used=grown.used | ({denied.first} if denied is not None else set()),
            )  # fmt: skip
            condition = Condition(tie, new, negated or denied is not None, others=others)
            made = self._computed(made, parent, condition, item)
            insort(self._highest, made.score)
            del self._highest[:-BEAM]
            yield made

    def _unsure_meaning(self, state: State, item: Item, meaning: Meaning, parent: int) -> frozenset[Doubt]:
        """Why an item may not mean this, or not say it of this node."""
        unsure = self._unsure_name(item, meaning)
        if parent not in self._nouns_of(state, item):
            unsure |= {Doubt("left open", item.text)}  # "the second edition *of X*" is one of X's
        if not meaning.named and meaning.cost >= VAGUE:
            of_data = meaning.target is not None and (meaning.target.types or meaning.target.classes)
            # "from *each town*", where which places are towns is not told: of each place
            each = not meaning.category & ~PLACE and meaning.generic and PER & self.cut.flags(item).keys()
            unsure |= {Doubt("vague", item.text) if of_data or each else Doubt("left open", item.text)}
        if item.sort == "name" and meaning.category == PLACE and "," in self.raw(item.first, item.last):
            unsure |= {Doubt("a place within another", item.text)}
        return unsure

    def _attach_unknown(
        self, state: State, item: Item, meaning: Meaning, parent: int, unknown: Item
    ) -> Iterator[State]:
        """That by a way nothing is recorded. Who is "unknown" may be recorded as somebody of that name, too."""
        near = state.nodes[parent]
        for gain, tie, covered, doubt in self._ways(state, parent, meaning, item):
            if any(one.why == "no word for" for one in doubt):
                continue
            named = Doubt("unknown", unknown.text) if self._leads_to_unknown(near, tie) else None
            yield state.tied(
                parent,
                Condition(tie, negated=True),
                covered=state.covered | covered | frozenset(unknown.places),
                score=state.score + gain + self.weights.said - meaning.cost,
                used=state.used | {unknown.first},
                doubt=state.doubt | doubt | ({named} if named is not None else set()),
            )

    def _leads_to_unknown(self, near: Meaning, tie: Tie) -> bool:
        """Whether some that a way leads to are called "unknown" in any language, "Anonym", or may be: of many the names are
        not looked at."""

        def found() -> bool:
            words = frozenset().union(*(language(code).roles[UNKNOWN_ROLE] for code in LANGUAGES))
            ends = distinct(pairs(self.world, tie.way, near.nodes, literals=False).cell).astype(np.int32)
            if len(ends) > MOST_CALLED:
                return True
            labels = (label.text for end in ends.tolist() for label in self.graph.labels(end))
            return any(not words.isdisjoint(tokenize(label)) for label in labels)

        return self.memory.once(found, (near,), "unknown", tie.way)

    def _nouns_of(self, state: State, item: Item) -> Collection[int]:
        """The nodes that an item behind "of" can be tied to: the noun right before it, where a reading has that; else all."""
        if self.cut.lead(item) != {"of"}:
            return range(len(state.nodes))
        of = self.own.roles["prepositions.of"]
        before = next(
            (
                at
                for at, place in enumerate(state.places)
                if place is not None and place.sort in ("noun", "name") and place.last < item.first
                if self.words[place.last] in of
                and all(word in self.own.stop for word in self.words[place.last : item.first])
            ),
            None,
        )
        return range(len(state.nodes)) if before is None else (before,)

    def _unsure_name(self, item: Item, meaning: Meaning) -> frozenset[Doubt]:
        """Why a name may mean something else: it is only a part of one, or only spelled nearly like one."""
        if item.sort != "name":
            return frozenset()
        if item.whole:  # "*a portrait* of Jackson", where a picture is called so
            article = self.words[item.first - 1] if item.first else ""
            common = (
                meaning.category & THING
                and article in self.own.roles["operators.indefinite"]
                and self.capitals.isdisjoint(item.places)
            )
            return frozenset({Doubt("part of a name", item.text)} if common else ())
        like = meaning.named and self.memory.once(
            lambda: is_like(self.graph, self.own, item.text, meaning.nodes), (item, meaning), "like"
        )
        return frozenset({Doubt("unknown", item.text) if like else Doubt("part of a name", item.text)})

    def either(self, one: Item, other: Item) -> Item | None:
        """Two items as one, made once for all cuts; see `items.either`."""
        return self.memory.once(lambda: either(one, other, self.graph), (one, other), "either")

    def _computed(self, state: State, parent: int, condition: Condition, item: Item) -> State:
        """The tie as a condition, or as what operators make of it: a ranking or a group."""
        flags, meaning = self.cut.flags(item), state.nodes[condition.child]
        tie = condition.tie
        assert tie is not None
        timed = bool(unit := self._unit) and self.cut.asks_for(unit)
        pairs = self.cut.first_with("operators.pairs")
        if parent == 0 and pairs is not None and "operators.same" in flags and not meaning.named:
            ways = state.compute.ways if state.compute is not None else ()
            pairing = Compute(kind="pairs", ways=(*ways, tie.way))
            used = state.used | {pairs.first, flags["operators.same"].first}
            return replace(state, compute=pairing, used=used, score=state.score + COMPUTED)
        # Texts that hold a word are no number of things; several departments are counted by, but are no number either.
        counted = item.sort != "text" and not meaning.named and not tie.stated
        several = meaning.named and not item.whole and len(meaning.iris) > 1
        if parent or state.over >= 0 or state.compute is not None or timed or not (counted or several):
            return state.tied(parent, condition)

        def made(compute: Compute | None, op: Item, gain: float = COMPUTED) -> State:
            """The reading with what is made of all that the tie leads to; `_finished` tells which of these count."""
            used = state.used | {op.first}
            return replace(state, compute=compute, over=condition.child, used=used, score=state.score + gain)

        types = meaning.target.types if tie.relation == "dimension" and meaning.target is not None else ()
        for role, ascending in SIZES if counted else ():
            op = flags.get(role)
            if op is None and types and role not in COUNTED and self.cut.lead(item):
                # "the largest casks *by capacity*"
                op = next(
                    (one for one in self.cut.items if role in one.roles and one.last <= item.first), None
                )
            if op is None or (role not in COUNTED and not types):
                continue
            if role in COUNTED:
                # Of all places, those that others lie in would have the most.
                way = tie.way.stated() if tie.way.inverse and state.nodes[0].generic else tie.way
                measure = Measure(kind="count", way=way)
            else:
                way = Way(paths=self.world.relations["dimension"].paths, types=types)
                measure = Measure(kind="value", way=self.numbers.valued(way))  # "the longest *main span*"
            first = self.cut.first(op, state.places[0])
            ranked = made(Compute(kind="rank", measure=measure, first=first, ascending=ascending), op)
            if measure.kind == "count":
                return ranked
            doubt = state.doubt - {Doubt("no word for", tie.key)}
            doubt |= self.numbers.measures(measure.way, state.nodes[0], {})
            return replace(ranked, over=-1, doubt=doubt)
        per = flags.get("operators.per") or flags.get("operators.breakdown") or self.cut.split_by(item)
        per = per or self.cut.of_which(flags)
        if per is not None and self.cut.is_of_another(range(per.last, item.first)):
            per = None  # "per *place of birth* of artists"
        counts = self.cut.form.counts or self._is_type(item)  # "treatments, *by kind*"
        if per is None and counts and item.first and self.cut.counts_each(item, meaning):
            per = item
        if per is not None:
            gain = COMPUTED - self.weights.scattered * (1 - min(tie.share, 1.0))
            return made(Compute(kind="group", way=tie.way), per, gain)
        measure = Measure(kind="count", way=tie.way)
        again = self.cut.first_with(REPEATEDLY)
        if counted and again is not None and meaning.category & EVENT:  # "*rebuilt* more than once"
            return made(Compute(kind="rank", measure=measure, at_least=2), again)
        if counted and (bounded := _bounds(flags, self.cut.number_before(item), measure)) is not None:
            compute, without, op = bounded
            return replace(made(compute, op), without=without)
        return state.tied(parent, condition)

    def _ways(self, state: State, parent: int, far: Meaning, item: Item) -> list[Tried]:
        """The best ways from one node to another. Most readings, those of other cuts among them, ask for the same again."""
        near, place, cut = state.nodes[parent], state.places[parent], self.cut
        stands = cut.standing(item, place)
        heard = (cut.open, self.head_words, self.said, cut.form.asks, cut.form.who)
        made = partial(self._ways_anew, state, parent, far, item, stands)
        return self.memory.once(
            made, (near, far, item, place), "ways", parent == 0, state.covered, stands, heard
        )

    def _ways_anew(
        self, state: State, parent: int, far: Meaning, item: Item, stands: Standing
    ) -> list[Tried]:
        """`_ways`, where all that decides beside the nodes is how the item stands, and what was heard."""
        w, near, place = self.weights, state.nodes[parent], state.places[parent]
        leads = stands.leads
        near_stems = place.stems if place is not None else frozenset()
        headless = parent == 0 and place is None
        if headless:
            near_stems = frozenset(self.stems[at] for at in self.head_words)
        low = place.last if place is not None else 0
        behind = low <= item.first
        gap = self.words[low : item.first] if behind else self.words[item.last : place.first if place else 0]
        bare = stands.before or (not leads and place is not None and place.last == item.first)
        misplaced = w.far_parent * 3 if stands.modifies_next else 0.0
        verb = self.cut.verb_by(item) if leads == {"agent"} else None
        inside = "place" in leads and item.first > 0 and self.words[item.first - 1] in self.own.articles
        is_type, scored = self._is_type(item), []
        # "bells *in Ulm* were cast by Bell", "bells made of bronze *in Ulm*": neither verb says that it was there
        placed = "place" in leads and place is not None and not near.category & EVENT
        verb_before = self.cut.verb_by(item) if placed else None
        elsewhere_said = self.cut.said_of_others(item, place) if placed and place is not None else frozenset()
        nearness = {at: w.said * self.cut.nearness(at, item, place) for at in self.cut.open}
        # "not by Bell", who made none
        denied = bool(leads) and not NEGATIONS.isdisjoint(self.cut.flags(item))
        even_none = self.cut.form.asks or denied
        # "pupils of Bell": of pupils nothing is known but that they are people, so a way has to say it
        vague = parent == 0 and near.cost >= VAGUE and not leads.isdisjoint(OWNING)
        said = self.said | near_stems if vague else self.said
        ties = self.ties.between(near, far, self.own.code, said, even_none, leads)
        happened = placed and any(
            verb_before in self._said_by(one) for one in ties if one.relation in HAPPENING
        )
        ends_at = near.only.way.paths if near.only is not None else ()
        for tie in ties:
            if "place" in leads and tie.last in WHEREABOUTS:
                continue
            if leads == {"about"} and "about" not in self.ties.lexicon.leads(tie.last):
                continue  # who wrote *about* Sappho need not have written what is called so
            says = self._said_by(tie)
            if tie.relation in HAPPENING:
                says -= elsewhere_said
            if headless and self.head_words:  # a noun before all else says what the near end is
                says |= frozenset(at for at in self.head_words if self.stems[at] in tie.starts)
            covered, again = says - state.covered, says & state.covered
            gain = sum([nearness[at] for at in covered]) if covered else 0.0
            gain += w.again * len(again)
            gain += w.share * math.log10(1 + tie.share * len(near.nodes)) / 2 - tie.cost - misplaced
            evidence = bool(says)
            # the *apprentices* of Bell, by an event that has an "apprentice" and a "master"
            begins = near_stems & tie.starts or any(path[:1] in ends_at for path in tie.way.paths)
            if begins and (bare or not leads or leads & OWNING or tie.way.types):
                gain += w.starts + w.said * vague
                evidence = True
            if not far.named and item.stems & (tie.ends | tie.stems):
                # what a verb says, a noun in the name of a step says half again: "*buyer* of" a lot, not "*lot* in auction"
                gain += w.ends if item.stems & tie.ends or not says else w.ends / 2
                evidence = True
            fits = self.ties.lexicon.leads(tie.last)
            if leads and fits:
                if leads & fits:
                    gain += w.prep
                    evidence = True
                elif "agent" in leads and len(leads) == 1:
                    gain -= w.wrong_agent * (not says)  # whatever is said has a passive: "owned by"
                elif leads != {"of"}:
                    gain -= w.wrong_prep
            transfer = tie.last in TRANSFERS and bool(leads) and leads <= ENDS
            from_far = transfer and not leads & fits
            gain -= w.unsaid * from_far  # "lent *to* Bell" is not what came from Bell
            if not stands.dangling.isdisjoint(self.ties.lexicon.leads(tie.first)):
                gain += w.prep
                evidence = True
            if tie.stated and "material" in leads:  # "in bronze"
                gain += w.prep
                evidence = True
            if tie.stated and item.whole:  # a text that says just this
                gain += w.premodifier
                evidence = True
            if far.named and tie.last in RANGES and self._is_of_range(far, tie.last):
                gain += w.premodifier  # marble is a material, and no word need say so
                evidence = True
            elsewhere = (tie.last in PLACES and " " in tie.key) or tie.relation in HAPPENING
            if elsewhere and not says and not near.category & EVENT:
                gain -= w.elsewhere
                if "place" in leads and leads.isdisjoint(("from", "of", "agent")):
                    evidence = False  # what *is in* a place need not have been made there
            if inside and tie.last == "P2":
                gain -= w.wrong_prep  # what is "in *the* kitchen" is none; but "in bronze"
                evidence = False
            if bare and tie.last in PREMODIFYING:
                gain += w.premodifier
                evidence = evidence or tie.last == "P2"
            # "miniatures *of women*", but "works of American *artists*"
            any_of = "agent" not in leads and not far.named and far.only is None
            shows = any_of or not near_stems.isdisjoint(self.pictured)
            ambiguous = "of" in leads and tie.last in BY and shows
            if ambiguous:
                gain -= w.wrong_prep
            turned = False
            if tie.ahead or tie.back:
                forms = tuple(map(self.own.form, gap))
                ahead, back = longest_phrase(forms, tie.ahead), longest_phrase(forms, tie.back)
                gain += w.phrase * (ahead > back) - w.phrase * (back > ahead)
                turned = back > ahead  # who trained X, where only those whom X trained are told
                evidence = evidence or ahead > back
                if ahead > back:  # "came *out* of", but not "a *portrait* of"
                    said_so = {word for phrase in tie.ahead if len(phrase) == ahead for word in phrase}
                    covered |= frozenset(
                        at
                        for at in self.cut.open
                        if self.own.form(self.words[at]) in said_so.intersection(forms)
                        and self.words[at - 1] not in self.own.articles
                    )
            evidence |= tie.relation == CARRIED_OUT and self._is_office(far, item)
            below = far.only is not None and far.only.way.paths[:1] == (NARROWER,)
            evidence |= tie.last == "P2" and below  # each gauge, where things are of its kinds
            if not evidence:
                gain -= w.unsaid + 0.3 * far.generic
            doubt = frozenset() if evidence else frozenset({Doubt("no word for", tie.key)})
            if not tie.relation and (tie.cost > FAR or tie.roundabout):
                doubt |= {Doubt("a long way", tie.key)}
            if even_none and tie.of_nothing:  # what holds of nothing is neither denied nor asked for
                doubt |= {Doubt("no word for", tie.key)}
            if happened and tie.relation == LOCATED and verb_before not in says:
                gain -= w.unsaid  # "*cast* in Ulm"
            if is_type and tie.last != "P2" and not item.stems <= tie.ends:
                doubt |= {Doubt("not by type", item.text)}
            if verb is not None and verb not in says:
                gain -= w.unsaid  # "houses *built by* Bell" are not those that he restored
                doubt |= {Doubt("no word for", tie.key)}
            if tie.relation == CARRIED_OUT and self._leads(says):
                doubt |= {Doubt("in which role", item.text)}
                roles = self.ties.lexicon.typed(frozenset(self.stems[at] for at in says), self.own.code)
                gain -= w.dropped * bool(roles)  # those who directed did it as directors
            if leads == {"agent"} and tie.relation in ACQUIRING and not says:
                gain -= w.unsaid  # "designs *by* Bell" are not what Bell gave
                doubt |= {Doubt("no word for", tie.key)}
            # "*from* each pottery", and not what potteries hold
            unsure_end = from_far or (tie.last in HOLDING and "from" in leads)
            if not unsure_end and not tie.relation and leads.isdisjoint(ENDS):
                steps = (tie.last, *(leg[0].removesuffix("i") for leg in tie.legs[:1]))
                unsure_end = not RECEIVING.isdisjoint(steps)
            if unsure_end:
                doubt |= {Doubt("who gave or who received", item.text)}
            no_actor = leads == {"agent"} and far.named and tie.last in BY and not far.category & ACTOR
            if ambiguous or no_actor or turned:  # "by Rembrandt", where a picture is called so
                doubt |= {Doubt("by whom or of whom", item.text)}
            pictured = tie.relation == "depicts" and near.generic and far.named and far.category == THING
            if pictured and "of" in leads:  # "portraits *of X*": pictures of a picture of that name
                doubt |= {Doubt("by whom or of whom", item.text)}
            if far.target is not None and self._is_topic_too(tie, far.target.types, near):
                doubt |= {Doubt("a kind or one of it", item.text)}
            scored.append((gain, tie, covered, doubt))
        scored.sort(key=lambda one: (-one[0], len(one[1].key), one[1].key))
        return scored[:TRIED]

    def _leads(self, says: Collection[int]) -> bool:
        """Whether words say what those do who lead others, where the data tells in which roles people took part, or has a
        property that is called so."""
        leading = vocabulary(self.own.code).relations[CARRIED_OUT].leading
        said = {self.stems[at] for at in says} & leading
        return bool(said) and (bool(role_steps(self.world.adjacency)) or self._has_property(said))

    def _has_property(self, stems: Collection[str]) -> bool:
        """Whether a property of the data's own is called by one of some stems: "was *directed* by"."""
        lexicon, code = self.ties.lexicon, self.own.code
        own = (iri for iri in self.world.property_numbers if iri not in self.world.ontology.properties)
        return self.memory.once(
            lambda: any(not lexicon.step_stems(iri, code).isdisjoint(stems) for iri in own),
            (), "has property", frozenset(stems),
        )  # fmt: skip

    def _is_of_range(self, far: Meaning, last: str) -> bool:
        return RANGES[last] in self._codes(far)

    def _said_by(self, tie: Tie) -> frozenset[int]:
        """The content words of the question that say a tie."""
        found = self._said.get((tie.key, self.head_words))
        if found is None:
            held = {
                at
                for at, stem in enumerate(self.stems)
                if at not in self.head_words and (stem in tie.stems or stem in tie.ends)
            }
            for phrase in tie.phrases:
                for at in range(len(self.stems) - len(phrase) + 1):
                    if self.stems[at : at + len(phrase)] == phrase:
                        held.update(range(at, at + len(phrase)))
            found = self._said[tie.key, self.head_words] = frozenset(held)
        return found & self.cut.open

    def _are_all(self, near: Meaning, far: Meaning) -> bool:
        """Whether another noun means the same, or all of these among others: works, which are objects."""
        return near.target == far.target or (far.generic and self.ties.both(near, far) == len(near.nodes))

    def _is_kind_of(self, near: Meaning, far: Meaning) -> bool:
        both = self.memory.once(lambda: self.ties.both(near, far), (near, far), "both")
        return both > 0 and (both < len(near.nodes) or near.named)

    def _unsaid_role(self, state: State) -> list[int]:
        """Where what somebody is *of a person or thing* stands that no tie says: "who was her *teacher*", where teachers are
        not told, asks for no group that she belonged to."""
        head, place = state.nodes[0], state.places[0]
        people = place is not None and head.generic and head.category & ACTOR
        if place is None or not people or Doubt("vague", place.text) not in state.doubt:
            return []
        for parent, condition in state.conditions:
            item, far = state.places[condition.child], state.nodes[condition.child]
            if item is None or parent or condition.tie is None or not self.cut.lead(item) & OWNING:
                continue
            one_of_them = far.named and far.category & (ACTOR | int(Category.Thing))
            if one_of_them and GROUPS.isdisjoint(self._codes(far)):  # those of a group are its members
                return [at for at in place.places if self.words[at] not in self.own.stop]
        return []

    def _vague(self, place: Item | None) -> frozenset[Doubt]:
        """The doubts of a noun that a name makes good: "the restorer Bell"."""
        return frozenset(
            {Doubt("vague", place.text), Doubt("left open", place.text)} if place is not None else ()
        )

    def _attach_date(self, state: State, item: Item) -> Iterator[State]:
        period = item.value if isinstance(item.value, Interval) else None
        than = item.value if isinstance(item.value, Amount) else None
        denied, w = _places(self.cut.flags(item), DENYING), self.weights
        for hops, parent in enumerate(reversed(state.spine)):
            near, place = state.nodes[parent], state.places[parent]
            scored = self._scored_dates(state, item, parent)
            unsaid = [tie for _, tie, _ in scored if not self._said_by(tie)]
            # "Without a date" denies the one that a bare year would give, not each part of it.
            for gain, tie, covered in scored[: TRIED if period is not None or than is not None else 1]:
                if than is not None and (period := self._date_than(than, tie.way)) is None:
                    continue
                rare = tie in unsaid and tie.share < RARE and any(one.share > 3 * tie.share for one in unsaid)
                # When it was begun, where only that is told, is not when it was made.
                edge = tie.relation in EDGES and tie in unsaid
                # "who *joined* it in 1890" is neither who was born then nor who died
                life = bool(near.category & ACTOR) and tie.relation in LIFE and tie in unsaid
                other = rare or edge or life or self._dates_more(near, tie, (one for _, one, _ in scored))
                going_on = self._going_on(near, tie)
                lasting = going_on is not None or self._is_office(near, place)
                yield state.tied(
                    parent,
                    Condition(tie, period=period, negated=bool(denied), lasting=lasting),
                    covered=state.covered | covered,
                    score=state.score + 0.6 + gain - w.far_parent * hops - SELDOM * rare,
                    doubt=state.doubt | ({Doubt("which date", item.text)} if other else set()),
                    used=state.used | denied | ({going_on.first} if going_on is not None else set()),
                )
            if not any(tie.relation == "created_on" for _, tie, _ in scored):
                yield from self._attach_year(state, item, parent)

    def _scored_dates(self, state: State, item: Item, parent: int) -> list[tuple[float, Tie, frozenset[int]]]:
        """The dates that an item may say of a node, best first, with what each gains and the words that say it."""
        w, near, place = self.weights, state.nodes[parent], state.places[parent]
        compared, spoken = (
            isinstance(item.value, Amount),
            self.own.roles_within(self.words[item.first : item.last]),
        )
        aged = not spoken.isdisjoint(("operators.earlier", "operators.later"))
        before = item.first - 1
        says_what = before in self.cut.open and self.stems[before] in self.saying
        verb = before if says_what and not self.cut.ends_as_plural(self.words[before]) else None
        scored = []
        for tie in self.ties.dates(near, self.own.code, self.said):
            says = self._said_by(tie)
            if compared and not (tie.relation in AGES or says):
                continue  # things are compared by their age, or by what a verb says of both
            covered, again = says - state.covered, says & state.covered
            gain = sum(w.said * self.cut.nearness(at, item, place) for at in covered)
            gain += 0.8 * len(again)
            gain -= tie.cost
            if place is not None and place.stems & tie.stems:
                gain += 0.3
            gain += w.share * min(1.0, 2 * tie.share)
            if aged and not says and tie.relation not in AGES:
                gain -= OF_AGE
            if verb is not None and verb not in says:
                gain -= w.unsaid  # "*bought* after 1990" is not when it was made
            scored.append((gain, tie, covered))
        scored.sort(key=lambda one: (-one[0], len(one[1].key)))
        return scored

    def _date_than(self, amount: Amount, way: Way) -> Interval | None:
        """The time before or after all dates that the thing that others are compared with has by a way; None where it has
        none."""
        dates = pairs(self.world, way, self.world.nodes_of(amount.than), literals=False).cell
        begin, end = (side[dates] for side in self.world.extents)
        days = [*begin[begin != OPEN_BEGIN].tolist(), *end[end != OPEN_END].tolist()]
        if not days:
            return None
        return Interval(max(days) + 1, None) if amount.more else Interval(None, min(days) - 1)

    def _dates_more(self, near: Meaning, tie: Tie, dates: Iterable[Tie]) -> bool:
        """Whether things of which the tie tells no date have one by another way that may be meant as well: books that state
        when they were made, or when they were published."""
        meant = [one for one in dates if one.relation in AGES or (one.way.paths and not one.way.then)]
        own = [one for one in meant if one.relation or max(map(len, one.way.paths)) == 1]
        if tie not in own:
            return False

        def found() -> bool:
            has = leading_to(self.world, tie.way, None)[near.nodes]
            more = (leading_to(self.world, one.way, None)[near.nodes] & ~has for one in own)
            return any(RARE * has.sum() < one.sum() for one in more)

        return self.memory.once(found, (near,), "dates more", tie.way)

    def _attach_year(self, state: State, item: Item, parent: int) -> Iterator[State]:
        """A period of whole years, or what is before or after the year of a thing, as bounds of a number that the data call a
        year, of things of whose making no other date is stated. What says when something was made says one that is but
        called a year."""
        period = item.value if isinstance(item.value, Interval) else None
        than = item.value if isinstance(item.value, Amount) else None
        if period is None and than is None:
            return
        first = None if period is None or period.begin is None else civil(period.begin)
        behind = None if period is None or period.end is None else civil(period.end + 1)
        if any(day is not None and day[1:] != (1, 1) for day in (first, behind)):
            return
        near, lexicon, code = state.nodes[parent], self.ties.lexicon, self.own.code
        denied = _places(self.cut.flags(item), NEGATIONS)
        words = vocabulary(code).relations
        made = words["created_on"].says if near.category & THING else frozenset[str]()
        ways = {iri: Way(paths=((iri,),)) for iri in lexicon.years}
        stated = self.memory.once(
            lambda: [iri for iri, way in ways.items() if leading_to(self.world, way, None)[near.nodes].any()],
            (near,),
            "years",
        )
        for iri in stated:
            stems, like = lexicon.step_stems(iri, code), lexicon.years_of[iri]
            says = (
                stems | made if stems <= date_stems(code) else stems | (words[like].says if like else set())
            )
            covered = frozenset(at for at in self.cut.open if self.stems[at] in says)
            least, most = first and first[0], behind and behind[0] - 1
            if than is not None:
                named = self.world.nodes_of(than.than)
                _, year = numbers(self.world, way_literals(self.world, ways[iri], named)[1], years=True)
                if len(set(year.tolist())) != 1:
                    continue
                least, most = (int(year[0]) + 1, None) if than.more else (None, int(year[0]) - 1)
            bounds = Valued(
                way=ways[iri], least=least, most=most,
                unit=lexicon.years[iri], negated=bool(denied),
            )  # fmt: skip
            unsaid = len(stated) > 1 and not covered
            yield state.tied(
                parent,
                Condition(None, number=bounds),
                covered=state.covered | covered,
                score=state.score + 0.6 + self.weights.said * len(covered - state.covered) - SELDOM * unsaid,
                doubt=state.doubt | ({Doubt("which date")} if unsaid and stems.isdisjoint(made) else set()),
                used=state.used | denied,
            )

    def _going_on(self, near: Meaning, tie: Tie) -> Item | None:
        """The words by which an event went on at a time, or the making of a thing: "under *construction* in 1875"."""
        return next(
            (
                one
                for one in self.cut.items
                if LASTING in one.roles
                and (near.category & EVENT or not tie.stems.isdisjoint(self.stems[one.first : one.last]))
            ),
            None,
        )

    def _attach_amount(self, state: State, item: Item, amount: Amount) -> Iterator[State]:
        denied = _places(self.cut.flags(item), NEGATIONS)
        for hops, parent in enumerate(reversed(state.spine)):
            found = self.numbers.amount_way(amount, state.nodes[parent])
            valued = (
                self.numbers.in_unit(amount, found[0], state.nodes[parent]) if found is not None else None
            )
            if found is None or valued is None:
                continue
            condition = Condition(None, number=valued[0].model_copy(update={"negated": bool(denied)}))
            # not both the height of the tower and that of the light
            alone = found[2] and len(found[0].types) < 2
            doubt = valued[1] if alone else valued[1] | {Doubt("which size", item.text)}
            yield state.tied(
                parent,
                condition,
                covered=state.covered | {at for at in self.cut.open if self.stems[at] in found[1]},
                score=state.score + 0.6 + self.weights.said - self.weights.far_parent * hops,
                doubt=state.doubt | doubt,
                used=state.used | denied,
            )

    def with_amounts(
        self, items: tuple[Item, ...], since: int = 0
    ) -> Iterator[tuple[tuple[Item, ...], float]]:
        """The items with one or more amounts in place of all that they overlap: "more than 45 seats"."""
        for one in (*self._amounts, *self._compared(items)):
            if one.first >= since:
                rest = [item for item in items if item.last <= one.first or item.first >= one.last]
                chosen = tuple(sorted((*rest, one), key=lambda item: item.first))
                yield chosen, one.score
                further = self.with_amounts(chosen, one.last)
                yield from ((more, one.score + gained) for more, gained in further)

    @cached_property
    def _amounts(self) -> tuple[Item, ...]:
        def may_be(amount: Amount) -> bool:
            if amount.size == GIVEN_IN:
                return self.numbers.names_unit(amount.unit)
            return bool(amount.size) or self.numbers.names_number(amount.noun)

        found = amounts(self.words, self.chunks, self.own)
        return tuple(one for one in found if isinstance(one.value, Amount) and may_be(one.value))

    def _compared(self, items: tuple[Item, ...]) -> Iterator[Item]:
        for one in comparisons(items, self.words, self.own):
            if isinstance(one.value, Amount) and (
                one.value.noun < 0 or self.numbers.names_number(one.value.noun)
            ):
                yield one

    def _is_office(self, near: Meaning, place: Item | None) -> bool:
        """Whether what is said of somebody is a time in which they were it: "who was *mayor* in 1475"."""
        said = self.cut.form.who and place is not None and place.sort == "noun"
        return said and bool(near.category & EVENT) and place is not None and self.cut.is_predicate(place)

    # plans

    def _gained_at_most(self, left: int) -> float:
        """The points that a reading can gain once it is finished, which so many words are left to say."""
        meant = self._unit or any(one.roles & MEANT for one in self.cut.items)
        return PER_WORD * left + (BY_OPERATORS if meant else BY_TYPE)

    def _finished(self, state: State) -> Iterator[Reading]:
        w, form = self.weights, self.cut.form
        head, place = state.nodes[0], state.places[0]
        again = self._told_again(state)
        left = [at for at in self.cut.free if at not in state.covered and at not in again]
        ops = {role: item for item in self.cut.items if item.sort == "op" for role in item.roles}
        unit, asides = self._unit, self.asides
        if state.compute is None and not form.counts:
            made = self._ranked_by_name(state, ops) or self._summed(state, ops)
            if made is None and (made := self._ranked_by_deed(state, ops)) is not None:
                asides -= {Doubt("nothing is spoken of")}
            if made is not None:
                state = self._with_made(state, made, ops)
                left = [at for at in left if at not in made.says]
        dates = self._best_dates(head) if unit and self.cut.is_split(unit, ops) else []
        open_words = left
        if dates:
            # "made per century": these words say the date
            left = [at for at in left if at not in self._said_by(dates[0])]
            open_words = [at for at in left if self.words[at] not in self.cut.unit_words()]
        bare: Bare | None = None
        extra: list[Constraint] = []
        if open_words and (not head.named or (form.asks and not form.described)):
            found = self._existing(state, open_words, ops)
            if found is not None:
                if found.node:
                    state = self._of_another(state, found)
                else:
                    bare, before = found, state.compute
                    state = self._of_head(state, found, ops, left)
                    if found.restricts and state.compute is before:
                        extra.append(found.related)
                denied = _places(ops, DENYING) if found.related.negated else frozenset[int]()
                state = replace(state, score=state.score + found.gain, used=state.used | denied)
                left = [at for at in left if at not in found.says]
        timed = bool(unit) and self.cut.asks_for(unit)
        if state.compute is None and not form.counts and not timed:
            ranked = self._ranked(state, ops)
            if ranked is not None:
                state = self._with_made(state, ranked, ops)
        if state.compute is None and dates:
            most = 1 if "operators.most" in ops else None
            edge = EDGES.get(dates[0].relation, "span")
            by_date = Compute(kind="group", way=dates[0].way, by=unit, edge=edge, first=most)  # type: ignore[arg-type]
            state = self._with_made(state, Made(by_date, 0.5, _places(ops, PER | {"operators.most"})), ops)
            left = [at for at in left if self.words[at] not in self.cut.unit_words()]
        compute, score, used = state.compute, state.score, state.used
        enumerated = (
            place is not None and place.joined >= ENUMERATED
        )  # "how many etchings, woodcuts and drawings"
        if compute is None and form.counts and enumerated:
            types = head.target.types if head.target is not None else ()
            if len(types) >= ENUMERATED:
                compute = Compute(kind="group", way=Way(relations=("type",)), to=Anchor(iris=types))
        if compute is None:
            compute = Compute(kind="count" if form.counts else "ask" if form.asks else "list")
        if dates and compute.by not in TIMES:
            state = replace(state, doubt=state.doubt | {Doubt("not said", unit)})
        sort = "date" if "operators.sort_date" in ops else "label" if "operators.sort_label" in ops else ""
        empty = self.own.roles["verbs.empty"]
        if compute.measure is not None and compute.measure.kind == "value":
            # "how many *kilos* does it weigh"
            left = [at for at in left if known_unit(self.words[at]) is None]
        if compute.measure is not None and compute.measure.kind in ("earliest", "latest"):
            spoken = self.cut.unit_words() | self.own.roles["time.date"]
            left = [at for at in left if self.words[at] not in spoken]
        score -= sum(w.empty_verb if self.words[at] in empty else w.uncovered for at in left)
        if score < self.least:
            return  # from here on it only loses
        denied_once = self.own.concord and any(
            one.first in used and one.roles & NEGATIONS for one in self.cut.items
        )
        twice = {role for one in self.cut.items if one.first in used for role in one.roles & MEANT}
        unused = {
            item.text
            for item in self.cut.items
            if item.sort == "op"
            and item.roles & MEANT
            and item.first not in used
            and not item.roles & MEANT <= twice  # "*top* museums by number of coins"
            and not (denied_once and item.roles & NEGATIONS)
            and not any(item.first <= at < item.last for at in state.covered)
        }
        if form.counts and compute.kind == "count":  # "how many does *each* museum hold" is not one number
            unused |= {word for word in self.words if word in self.own.roles["operators.each"]}
        if state.over >= 0:
            told = any(parent == state.over for parent, _ in state.conditions)  # "the most finds *of bronze*"
            every = compute.kind == "group" and state.nodes[state.over].generic and not told
            to = Anchor() if every else self._anchor(state, state.over)
            compute = counting(compute, to)
            if state.without is not None:
                extra.append(Member(plan=Plan(compute=counting(state.without, to)), negated=True))
        where = [*self._conditions(state, 0), *map(self._told_whether, extra)]
        if head.plan is not None and place is None:
            return (yield from self._gone_on(head.plan, where, compute, score, left, state, sort))
        if head.plan is not None:
            where.insert(0, Member(plan=head.plan))
        elif head.named:
            where.insert(0, Among(iris=head.iris))
        only = [*self._only(head, where)]
        where += [*self._lessened(head), *only]
        plan = Plan(target=head.target or Target(), where=tuple(where), compute=compute)
        acquired, doubt = self._acquired_as(plan, head, None if bare is None else bare.related)
        plan = plan.model_copy(update={"where": (*plan.where, *acquired)})
        doubt |= {one for one in state.doubt if not (acquired and one.why == "without an object")}
        unused |= self._numbers_but(plan)
        if compute.kind == "group":
            unused -= {item.text for item in self.cut.with_role(*PER)}
        score -= w.unused * len(unused)
        score -= w.denial * any(one.text in unused and one.roles & NEGATIONS for one in self.cut.items)
        if compute.kind in ("list", "count", "ask") and not where and head.generic:
            score -= 1.0
        doubt |= self._told_of_few(plan)
        if compute.kind == "rank" and head.category == int(Category.Place) and head.generic:
            asides -= {Doubt("where or when")}
        score -= w.dropped * (compute.kind == "rank" and Doubt("where or when") in asides)
        doubt |= frozenset(Doubt("not said", text) for text in unused) | asides
        left = [*left, *self._unsaid_role(state)]
        uncovered = tuple(self.words[at] for at in left if self.words[at] not in empty)
        named = frozenset(
            one.text for one in state.places if one is not None and one.sort == "name" and not one.refers
        )
        named |= {one.text for one in self.cut.items if isinstance(one.value, Amount) and one.value.than}
        refers = any(one is not None and one.refers for one in state.places)
        same = None
        if bare is not None and place is not None and self.cut.leads_to_more(bare.says):
            others = [one for one in where if one is not bare.related]
            kept = bare.related in where
            same = plan.model_copy(update={"where": tuple(others if kept else [*where, bare.related])})
        held = head.only is not None
        yield Reading(plan, score, score, uncovered, doubt, sort, named, refers, same=same, only=held)

    def _with_made(self, state: State, made: Made, ops: Mapping[str, Item]) -> State:
        """The reading with what operators make of it, and why that may not be what is meant."""
        measure, doubt = made.compute.measure, state.doubt | made.doubt
        if measure is not None and measure.kind == "value":
            doubt |= self.numbers.measures(measure.way, state.nodes[0], ops)
        elif measure is not None and measure.kind in ("earliest", "latest"):
            doubt |= self._which_date(measure.way, state.nodes[0])
        used = state.used | made.used
        return replace(state, compute=made.compute, score=state.score + made.gain, used=used, doubt=doubt)

    def _of_head(self, state: State, bare: Bare, ops: Mapping[str, Item], left: Sequence[int]) -> State:
        """The reading with what is said without an object of what is asked for: a ranking by how often it happened, groups by
        what it leads to, or nothing but doubts."""
        related, head = bare.related, state.nodes[0]
        # what was "discovered" by somebody in no role, too
        by_role = not {"P01i", "P02i"}.isdisjoint(step for path in related.way.paths for step in path)
        if related.way.types and by_role and self.ties.has_both:
            state = replace(state, doubt=state.doubt | {Doubt("in which role")})
        if state.compute is None:
            often = None if self.cut.form.counts else self._most_often(state, bare, ops)
            if often is not None:
                return self._with_made(state, often, ops)
            if not related.negated and any(self._splits(item, bare.says, left) for item in self.cut.items):
                verb = " ".join(self.words[at] for at in sorted(bare.says))
                noun = any(self._names_end(related.way, self.stems[at]) for at in bare.says)
                doubt = frozenset(() if noun else {Doubt("vague", verb)})
                group = Compute(kind="group", way=related.way)  # "by *denomination*"
                return self._with_made(state, Made(group, 0.5, self.cut.per_words(), doubt=doubt), ops)
        # "Never restored" is what is not recorded; but all was made by somebody at some time. What happened to a thing is
        # said by what events of that kind are called, and people may have done it or have met with it.
        ways, paths = related.way.relations, related.way.paths
        told = ways or (paths and paths[0][0] in self.ties.lexicon.own_literals)
        unrecorded = related.negated and told and not CREATION & {*ways}
        done = ways == (CARRIED_OUT,) and not related.way.inverse and not bare.restricts
        of_all = not related.negated or leading_to(self.world, related.way, None)[head.nodes].all()
        done |= self._told_whether(related) is not related and bool(of_all)
        if unrecorded or done or (related.way.types and not head.category & ACTOR):
            return state
        text = " ".join(self.words[at] for at in sorted(bare.says))
        return replace(state, doubt=state.doubt | {Doubt("without an object", text)})

    def _gone_on(
        self,
        before: Plan,
        where: list[Constraint],
        compute: Compute,
        score: float,
        left: Sequence[int],
        state: State,
        sort: str,
    ) -> Iterator[Reading]:
        """A question that names nothing asked for: the one before with what it says anew ("and in 1890?", "how many?")."""
        if not where and compute.kind == "list" and not sort:
            return
        plan = changed(as_list(before), where) if where else as_list(before)
        if compute.kind != "list":
            plan = plan.model_copy(update={"compute": compute})
        elif where and before.compute.kind in ("count", "ask"):
            plan = plan.model_copy(update={"compute": Compute(kind=before.compute.kind)})
        uncovered = tuple(
            self.words[at] for at in left if self.words[at] not in self.own.roles["verbs.empty"]
        )
        yield Reading(plan, score, score, uncovered, state.doubt | self.asides, sort, refers=True)

    def _lessened(self, kind: Meaning) -> list[Constraint]:
        return [Member(plan=Plan(target=Target(classes=kind.less)), negated=True)] if kind.less else []

    @staticmethod
    def _only(kind: Meaning, where: Sequence[Constraint]) -> Iterator[Constraint]:
        """What holds of all of a kind, where no condition says as much: painters painted, and so did who painted this."""
        if kind.only is not None:
            own = kind.only.way
            ways = {(one.way.relations, one.way.paths) for one in where if isinstance(one, Related)}
            if kind.only.to != Anchor() or (own.relations, own.paths) not in ways:
                yield kind.only

    def _existing(self, state: State, left: Sequence[int], ops: Mapping[str, Item]) -> Bare | None:
        """A way to anything at all that words without an object say, "inscriptions that were *transcribed*"."""
        empty = frozenset() if ops.keys() & DENYING else self.own.roles["verbs.empty"]  # "never *found*"
        empty |= self.own.roles["verbs.asides"]
        said = frozenset(self.stems[at] for at in left if self.words[at] not in empty)
        if not said:
            return None
        found: list[tuple[float, int, Tie, frozenset[int]]] = []
        for node, meaning in enumerate(state.nodes):
            if node and (meaning.named or meaning.plan is not None):
                continue
            near = self._such_as(meaning) if meaning.named else meaning
            for tie in self.ties.existing(near, self.own.code, self.said | said):
                says = self._said_by(tie) & frozenset(left)
                if not says or (node and not self._is_said_of(state, node, says)):
                    continue
                gain = (0.45 if state.conditions and not node else PER_WORD) * len(says) - tie.cost - 0.2
                found.append((gain, node, tie, says))
        best = max(found, key=lambda one: one[0], default=None)
        if best is None or best[0] <= -self.weights.uncovered / 2:
            return None
        gain, node, tie, says = best
        negated = any(
            item.roles & DENYING and item.first not in state.used and self.cut.denies(item, says)
            for item in self.cut.items
        )
        done = tie.relation == CARRIED_OUT and not tie.inverse  # by somebody, known or not
        every = (tie.relation and tie.share >= NEARLY_ALL and not state.nodes[0].named) or done
        if every and not ops.keys() & DENYING and not node:
            return Bare(node, Related(way=tie.way), says, 0.3 * len(says), False)
        if tie.relation in CREATION and not node and not negated and self.cut.has_subject(says):
            return Bare(node, Related(way=tie.way), says, 0.3 * len(says), False)
        # "Never restored": neither by anybody nor on any date; but what was made was made by somebody that is not known.
        if negated and tie.relation and not tie.inverse and tie.relation not in CREATION:
            alike = (one for _, at, one, same in found if (at, same) == (node, says) and not one.inverse)
            ids = dict.fromkeys(one.relation for one in (tie, *alike) if one.relation)
            tie = replace(tie, way=Way(relations=tuple(ids)))
        return Bare(node, Related(way=tie.way, negated=negated), says, gain, True)

    def _told_whether(self, one: Constraint) -> Constraint:
        """What a property says by "true" or "false" is so where it says the one, and not where it says the other."""
        if not isinstance(one, Related) or one.to != Anchor():
            return one
        paths = one.way.paths
        if len(paths) != 1 or len(paths[0]) != 1 or not self.ties.tells_whether(paths[0][0]):
            return one
        return Texted(texts=("false" if one.negated else "true",), way=one.way, whole=True)

    def _told_again(self, state: State) -> frozenset[int]:
        """The words right before nouns that the names of the classes of these hold as well: "*mosaic* floors" are floors
        where these are of the class "mosaic pavement"; and between an article and a whole name, where they say what it is
        the name of: "the *tug* Bertha"."""
        found = set[int]()
        for meaning, place in zip(state.nodes, state.places, strict=True):
            before = place.first - 1 if place is not None else -1
            if place is not None and place.sort == "name" and before > 0:
                named = place.whole and not place.refers and not self.capitals.isdisjoint(place.places)
                if named and before in self.cut.open and self.words[before - 1] in self.own.articles:
                    found.add(before)
                continue
            classes = meaning.target.classes if before in self.cut.open and meaning.target else ()
            if classes and all(self.stems[before] in self.kinds.class_names(one) for one in classes):
                found.add(before)
        return frozenset(found)

    def _most_often(self, state: State, bare: Bare, ops: Mapping[str, Item]) -> Made | None:
        """A ranking by how often something happened that a verb says, "*repaired* most often", "*twice* repaired"; None for
        none without a noun, or where the verb speaks of no events."""
        related = bare.related
        for role in ("operators.most", "operators.fewest", REPEATEDLY):
            done_to = not (related.negated or related.way.inverse or state.nodes[0].category & ACTOR)
            if role not in ops or ops[role].first in state.used or not done_to:
                continue
            behind = ops[role].last
            if role != REPEATEDLY and behind in self.cut.free and behind not in bare.says:
                continue  # "the most *orders*"
            steps_of = (path for id in related.way.relations for path in self.world.relations[id].paths)
            paths = (*related.way.paths, *steps_of)
            # Not by a step that leads nowhere as well: a thing is no part of itself.
            steps = dict.fromkeys(path[:1] for path in paths if not path[0].endswith("*"))
            if not steps:
                continue
            way = Way(paths=tuple(steps), types=related.way.types)
            ends = pairs(self.world, way, state.nodes[0].nodes, literals=False).cell
            if len(ends) and (self.world.adjacency.categories[ends] & EVENT).all():
                measure, first = Measure(kind="count", way=way), self.cut.first(ops[role], state.places[0])
                if role == REPEATEDLY:
                    rank = Compute(kind="rank", measure=measure, at_least=2)
                else:
                    ascending = role == "operators.fewest"
                    rank = Compute(kind="rank", measure=measure, first=first, ascending=ascending)
                uses = (USED_IN,) in way.paths and not way.types
                doubt = frozenset({Doubt("used for more than this", ops[role].text)} if uses else ())
                return Made(rank, COMPUTED, frozenset({ops[role].first}), doubt=doubt)
        return None

    def _such_as(self, named: Meaning) -> Meaning:
        """The things of the classes of what is named: what may hold of it."""
        classes = {
            self.graph.class_iri(int(one)) for node in named.nodes[:1] for one in self.graph.types(int(node))
        }
        target = Target(classes=tuple(sorted(classes)))
        return Meaning(entities_of(self.world, target), target, category=named.category)

    def _is_said_of(self, state: State, node: int, says: Collection[int]) -> bool:
        """Whether words speak of a noun that is tied to what is asked for: the *place of birth* of the artists, works whose
        artist has no *birthplace*."""
        item = state.places[node]
        tied = any(not parent and one.child == node and one.tie for parent, one in state.conditions)
        if item is None or not tied:
            return False
        if item.first > max(says):
            return item.first - max(says) <= 3 and "of" in self.cut.lead(item)
        between = {*self.words[item.last : min(says)]}
        roles = self.own.roles
        relative = (
            roles["pronouns.own"]
            | roles["questions.whose"]
            | roles["questions.where"]
            | roles["questions.who"]
        )
        return item.last <= min(says) and not between.isdisjoint(relative | roles["verbs.have"])

    def _of_another(self, state: State, bare: Bare) -> State:
        """The reading with what is said of something that is tied to what is asked for: a condition of it, or, behind "per",
        what things are counted by."""
        node, related = bare.node, bare.related
        splits = any(self.cut.follows(item, bare.says) for item in self.cut.with_role(*PER))
        own = next(one for parent, one in state.conditions if not parent and one.child == node)
        if (
            splits
            and state.compute is None
            and not related.negated
            and own.tie is not None
            and not own.negated
        ):
            inner = any(parent == node for parent, _ in state.conditions) or not state.nodes[node].generic
            conditions = tuple(one for one in state.conditions if inner or one[1] is not own)
            group = Compute(kind="group", way=followed_by(own.tie.way, related.way))
            used, score = state.used | self.cut.per_words(), state.score + 0.5
            return replace(state, conditions=conditions, compute=group, used=used, score=score)
        tie = Tie(related.way, "", frozenset(), 0.0, "")
        return state.tied(node, Condition(tie, negated=related.negated))

    def _splits(self, op: Item, says: Collection[int], left: Collection[int]) -> bool:
        """Whether a small word counts by what words lead to: "by *denomination*"; "did each *sponsor* fund", whatever that
        is, counts by what "fund" leads to."""
        behind = next(
            (at for at in range(op.last, len(self.words)) if self.words[at] not in self.own.stop), -1
        )
        if behind in says:  # but not "*sewn* in each of our *sewing* rooms"
            again = any(self.stems[at] == self.stems[behind] for at in says if at < op.first)
            return bool(op.roles & PER) and not again
        each = "operators.each" in op.roles and self.cut.form.counts
        return each and behind in left and behind not in self.known

    def _names_end(self, way: Way, stem: str) -> bool:
        """Whether a noun says what a way leads to: its *maker*, but not "for each *building*" of who built it."""
        words, lexicon = vocabulary(self.own.code).relations, self.ties.lexicon
        ends = [words[id].starts if way.inverse else words[id].ends for id in way.relations if id in words]
        ends += [lexicon.far_stems(path[-1], self.own.code) for path in way.paths]
        return any(stem in some for some in ends)

    @cached_property
    def _unit(self) -> str:
        """The unit of time that the question has a word for, "" for none."""
        idle = positions(self.cut.with_role("operators.aside"))
        behind = (*self.words[1:], "")  # but not "over the years", nor "after the year 2000"
        words = {word for at, word in enumerate(self.words) if at not in idle and not behind[at].isdigit()}
        return next((unit for unit in TIMES if words & self.own.roles[f"time.{unit}"]), "")

    def _best_dates(self, near: Meaning) -> list[Tie]:
        scored = []
        for tie in self.ties.dates(near, self.own.code, self.said):
            covered = len(self._said_by(tie))
            other = OF_AGE * bool(not covered and tie.relation in CHANGING)
            scored.append((covered + self.weights.share * tie.share - tie.cost - other, tie))
        scored.sort(key=lambda one: (-one[0], len(one[1].key), one[1].key))
        return [tie for _, tie in scored[:2]]

    def _which_date(self, way: Way, near: Meaning) -> frozenset[Doubt]:
        """Why things may not be ranked by a date that no word says: they have another as often, such as a birth."""
        dates = self.ties.dates(near, self.own.code, self.said)
        chosen = next((one for one in dates if one.way == way), None)
        if chosen is None or self._said_by(chosen):
            return frozenset()
        if near.category & ACTOR and chosen.relation not in AGES:
            return frozenset({Doubt("which date", chosen.key)})  # the "oldest patient" is not who came first
        paths = {one.key: self.world.relations[one.relation].paths for one in dates if one.relation}
        others = [one for one in dates if paths.get(one.key) not in (None, paths.get(chosen.key))]
        alike = any(2 * one.share > chosen.share and one.cost <= chosen.cost for one in others)
        return frozenset({Doubt("which date", chosen.key)} if alike else ())

    def _ranked(self, state: State, ops: Mapping[str, Item]) -> Made | None:
        """What superlatives without a counted noun make of a list."""
        near = state.nodes[0]

        def rank(op: Item, measure: Measure, ascending: bool, gain: float) -> Made:
            first = self.cut.first(op, state.places[0])
            compute = Compute(kind="rank", measure=measure, first=first, ascending=ascending)
            return Made(compute, gain, frozenset({op.first}))

        for role, kind, ascending in (
            ("operators.earliest", "earliest", True),
            ("operators.latest", "latest", False),
            ("operators.sort_date", "earliest", True),
        ):
            if role in ops and ops[role].first not in state.used:
                if role == "operators.sort_date" and self.cut.first(ops[role], state.places[0]) < 2:
                    continue
                if dates := self._best_dates(near):
                    measure = Measure(kind=kind, way=dates[0].way)  # type: ignore[arg-type]
                    return rank(ops[role], measure, ascending, 0.5)._replace(used=_places(ops, TEMPORAL))
        for role, ascending in (("operators.highest", False), ("operators.lowest", True)):
            if role in ops:
                if (measured := self.numbers.measured(ops[role].text, near)) is not None:
                    return rank(ops[role], Measure(kind="value", way=measured[0]), ascending, 0.4)
                if near.only is not None and near.category & ACTOR:  # the *biggest donors* gave most
                    return rank(ops[role], Measure(kind="count", way=near.only.way), ascending, 0.4)
        for role, ascending in MOST:
            if role in ops and ops[role].first not in state.used:
                if self.cut.is_of_noun(ops[role], state.places[0]):
                    return None
                if (way := self.numbers.paid(near)) is not None:  # "cost the most"
                    return rank(ops[role], Measure(kind="value", way=way), ascending, 0.6)
                works, unsaid = self._works
                if not len(works.nodes):
                    return None
                found = self._ways(replace(state, covered=frozenset()), 0, works, unsaid)
                made = [one for one in found if one[1].relation in CREATION]
                found = made if made and near.category & ACTOR else found  # "the most prolific" made most
                if found:
                    gain = 0.1 + 0.3 * max(found[0][0], 0.0)
                    return rank(ops[role], Measure(kind="count", way=found[0][1].way), ascending, gain)
        return None

    def _ranked_by_deed(self, state: State, ops: Mapping[str, Item]) -> Made | None:
        """A ranking of people by how much they did of what a verb says, "who *painted* the most?"; None where something is
        counted that a noun names."""
        near = state.nodes[0]
        if near.named or not near.category & ACTOR or not self.cut.open:
            return None
        for role, ascending in MOST:
            op = ops.get(role)
            if op is None or op.first in state.used or op.last in self.cut.open:
                continue
            if self.cut.is_of_noun(op, state.places[0]):
                continue
            works, unsaid = self._works
            ways = self._ways(state, 0, works, unsaid) if len(works.nodes) else []
            done = next(((tie, covered) for _, tie, covered, _ in ways if covered), None)
            if done is not None:
                tie, says = done
                measure, first = Measure(kind="count", way=tie.way), self.cut.first(op, state.places[0])
                rank = Compute(kind="rank", measure=measure, first=first, ascending=ascending)
                doubt = frozenset(() if tie.relation else {Doubt("no word for", tie.key)})
                return Made(rank, self.weights.said + COMPUTED, frozenset({op.first}), says, doubt)
        return None

    def _ranked_by_name(self, state: State, ops: Mapping[str, Item]) -> Made | None:
        """A ranking by the number that the word right behind a superlative names, "the most *seats*"."""
        for role, ascending in SIZES:
            op, last = ops.get(role), len(self.words)
            if op is None or op.first in state.used:
                continue
            at = next((at for at in range(op.last, last) if self.words[at] not in self.own.stop), last)
            found = (
                self.numbers.number_called(self.stems[at], state.nodes[0]) if at in self.cut.open else None
            )
            if found is not None:
                measure = Measure(kind="value", way=found[0])
                first = self.cut.first(op, state.places[0])
                said = frozenset(at for at in self.cut.open if self.stems[at] in found[1])
                rank = Compute(kind="rank", measure=measure, first=first, ascending=ascending)
                return Made(rank, self.weights.said + COMPUTED, _places(ops, RANKING), said)
        return None

    def _summed(self, state: State, ops: Mapping[str, Item]) -> Made | None:
        """The total or mean of a number: "the *average height* of the coins", "how *heavy* are they *on average*", "what did
        they *cost altogether*". None where no number is named that any of them has."""
        role = next((one for one in SUMS if one in ops), None)
        if role is None:
            return None
        near, op, way = state.nodes[0], ops[role], None
        said = frozenset[int]()
        behind = [at for at in range(op.last, len(self.words)) if at in self.cut.open]
        for at in behind if role != "operators.altogether" else ():
            if (found := self.numbers.number_called(self.stems[at], near)) is not None:
                way, said = found[0], frozenset(at for at in self.cut.open if self.stems[at] in found[1])
                break
        if way is None and (way := self.numbers.paid(near)) is not None:
            known = frozenset().union(*(one.says | one.ends for one in self.numbers.quantities.values()))
            said = frozenset(at for at in self.cut.open if self.stems[at] in known)
        if way is None:
            sizes = {at: name for at in self.cut.free if (name := self.own.size_of(self.words[at]))}
            sized = next(filter(None, (self.numbers.sized(name, near) for name in sizes.values())), None)
            way, said = (None if sized is None else sized[0]), frozenset(sizes)
        if way is None and near.target is not None and self._are_dimensions(near):
            way = Way(relations=("dimension_value",))  # "the average *layer thickness*"
        if way is None:
            return None
        total = Compute(kind="rank", measure=Measure(kind="value", way=way), summed=SUMS[role])
        used = _places(ops, {role for role, kind in SUMS.items() if kind == total.summed})
        return Made(total, self.weights.said + COMPUTED, used, said)

    def _are_dimensions(self, near: Meaning) -> bool:
        ontology = self.world.ontology
        return any(code in ontology.classes and ontology.is_a(code, "E54") for code in self._codes(near))

    def _codes(self, meaning: Meaning) -> set[str]:
        """The classes of the first few of what is meant."""
        some = meaning.nodes[:5].tolist()
        return {code for node in some for code in self.graph.codes(node)}

    @cached_property
    def _works(self) -> tuple[Meaning, Item]:
        """All works, as a noun behind the question that nobody said."""
        nodes, behind = category_nodes(self.world, "Thing"), len(self.words)
        meaning = Meaning(nodes, Target(categories=("Thing",)), generic=True)
        return meaning, Item(behind, behind, "noun", 0.0, "")

    @cached_property
    def _acts(self) -> list[Target]:
        requests = positions(self.cut.with_role("questions.list"))
        return self.kinds.acts(frozenset(stem for at, stem in enumerate(self.stems) if at not in requests))

    def _acquired_as(
        self, plan: Plan, head: Meaning, bare: Related | None
    ) -> tuple[list[Constraint], frozenset[Doubt]]:
        """That things were acquired as the question says, "bought", "bequeathed", where the data tells that apart; a doubt
        where the plan is not simply one of things that were acquired. ``bare``: what is said without an object."""
        if not (wanted := self._acts):
            return [], frozenset()
        acquired = [one for one in (*plan.where, plan.compute, bare) if one and _is_acquisition(one)]
        called = {iri for one in wanted for iri in (*one.types, *one.classes)}
        said = {
            iri for one in parts_of(plan) for name in ("types", "classes") for iri in getattr(one, name, ())
        }
        if not acquired or called & said:
            return [], frozenset()
        if head.category & THING and not any(getattr(one, "negated", False) for one in acquired):
            way = Way(relations=("acquisition",))
            so = tuple(Related(way=way, to=Anchor(plan=Plan(target=one))) for one in wanted)
            return [so[0] if len(so) == 1 else Either(of=so)], frozenset()
        return [], frozenset({Doubt("acquired so or otherwise")})

    def _told_of_few(self, plan: Plan) -> frozenset[Doubt]:
        """Why a condition on events may hold of more, or of fewer, than the data tells: things are used in events of other
        kinds than exhibitions, or of which kind an acquisition was is told of few."""
        found, lexicon = set[Doubt](), self.ties.lexicon
        for one in parts_of(plan):
            if not isinstance(one, Related):
                continue
            if one.negated and EXHIBITING & {*one.way.relations} and lexicon.uses > 1:
                found.add(Doubt("used for more than this", one.way.relations[0]))
            of_kind = one.way.relations == ("acquisition",) and one.to != Anchor()
            if of_kind and lexicon.acquired_so < MOST_ACQUIRED:
                found.add(Doubt("acquired so or otherwise"))
        return frozenset(found)

    def _numbers_but(self, plan: Plan) -> set[str]:
        """The numbers of a question that its plan does not have: "grave *12*"."""
        said = [
            (one.text, one.value)
            for one in self.cut.items
            if one.sort == "number" and isinstance(one.value, int)
        ]
        if not said:
            return set()
        computed = [part for part in parts_of(plan) if isinstance(part, Compute)]
        known = {number for one in computed for number in (one.first, one.at_least)}
        return {text for text, value in said if value > 1 and known.isdisjoint((value, value + 1))}

    def _conditions(self, state: State, node: int) -> Iterator[Constraint]:
        for parent, one in state.conditions:
            if parent != node:
                continue
            if one.among:
                yield Among(iris=state.nodes[one.child].iris, negated=one.negated)
            elif one.text:
                yield Texted(texts=(one.text,), whole=True, negated=one.negated)
            elif one.number is not None:
                yield one.number
            elif one.tie is None:
                kind = state.nodes[one.child]
                inner = tuple(self._conditions(state, one.child))
                yield Member(plan=Plan(target=kind.target or Target(), where=inner), negated=one.negated)
            elif one.tie.stated and (item := state.places[one.child]) is not None:
                yield Related(way=one.tie.way, to=Anchor(plan=self._holding(item)), negated=one.negated)
            elif one.period is not None:
                edge = EDGES.get(one.tie.relation) or (
                    "span" if one.lasting else self.ties.edge(one.tie.way, state.nodes[node])
                )
                yield Dated(
                    way=one.tie.way, begin=one.period.begin, end=one.period.end, negated=one.negated,
                    edge=edge, certain=not one.lasting,
                )  # fmt: skip
            elif one.others:  # "by someone other than X"
                but = Plan(where=(Among(iris=state.nodes[one.child].iris, negated=True),))
                yield Related(way=one.tie.way, to=Anchor(plan=but), negated=one.negated)
                if not one.negated:  # nor by both
                    yield Related(way=one.tie.way, to=self._anchor(state, one.child, one.tie), negated=True)
            elif one.child < 0:  # "without a date"
                yield Related(way=one.tie.way, negated=one.negated)
            else:
                to = self._anchor(state, one.child, one.tie)
                if self._is_topic_too(one.tie, to.types, state.nodes[node]):
                    ends = (to, Anchor(iris=to.types))
                    either = tuple(Related(way=one.tie.way, to=end) for end in ends)
                    yield Either(of=either, negated=one.negated)
                else:
                    yield Related(way=one.tie.way, to=to, negated=one.negated)

    def _is_topic_too(self, tie: Tie, types: tuple[str, ...], near: Meaning) -> bool:
        """Whether some of the near speak of a kind, and not of one of the kind: "interviews *about blacksmiths*"."""
        if tie.relation not in TOPICAL or not types:
            return False
        concepts = self.world.nodes_of(types)
        return self.memory.once(
            lambda: bool(len(shared(near.nodes, nodes_leading_to(self.world, tie.way, concepts)))),
            (near,), "topic", tie.way, types,
        )  # fmt: skip

    def _holding(self, item: Item) -> Plan:
        """Texts that hold a name: as it is written where it is a whole one, else each of its words."""
        if item.whole or item.called:
            texts = item.called or (self.raw(item.first, item.last),)
            return Plan(where=(Texted(texts=texts, whole=True),))
        where = []
        for at in item.places:
            if at in self.capitals:
                where.append(Texted(texts=(self.words[at],), whole=True))
            elif self.words[at] not in self.own.stop:  # "commission" for "commissioned"
                where.append(Texted(texts=(self.stems[at],)))
        return Plan(where=tuple(dict.fromkeys(where)))

    def _anchor(self, state: State, number: int, tie: Tie | None = None) -> Anchor:
        child = state.nodes[number]
        inner = tuple(self._conditions(state, number))
        if child.plan is not None:
            return Anchor(plan=Plan(where=(Member(plan=child.plan), *inner)) if inner else child.plan)
        if child.named:
            if not inner:
                return Anchor(iris=child.iris)
            return Anchor(plan=Plan(where=(Among(iris=child.iris), *inner)))
        target = child.target or Target()
        inner = (*inner, *self._lessened(child))
        inner = (*inner, *self._only(child, ()))
        if not inner and child.generic and tie is not None and tie.relation:
            return Anchor()
        if not inner and target.types and not (target.classes or target.categories):
            return Anchor(types=target.types)
        return Anchor(plan=Plan(target=target, where=inner))


UNASKED = 3.0
"""Points that a reading loses which leaves out what is asked for."""
IS_SUCH = frozenset({"P2", "P32", "P45"})
"""The last steps to a type, a technique and a material: what has it is called by it."""
ENUMERATED = 3
"""Kinds in a row of which it is asked how many there are of each; of two, it may be how many in all."""
OWNING = frozenset({"of", "agent", "about"})
"""Roles of prepositions behind a noun that says a relation itself: works *of*, portraits *of*."""
NEARLY_ALL = 0.9  # a share of the things asked for
WHERE_OR_WHEN = frozenset({"questions.where", "questions.when"})
NEVER_A_SET = frozenset({"questions.how", "questions.how_long", "questions.how_much", "questions.why"})
FAR = 0.9  # the cost of a walk through several things with names of their own
RARE, SELDOM = 0.3, 1.5
"""A share of the things asked for that have a date, where another is more common, and what a reading loses by such a date."""
AROUND = 6  # words from a title's text within which others only say that it is one
MOST_CALLED = 20_000  # entities whose names are looked at for a question
DENYING = NEGATIONS | {UNKNOWN_ROLE}
"""Roles of words by which something is not so, or not known to be."""
UNKNOWN = -0.4
"""The score of a run of capitalised words that names nothing of the data."""
MOST = (("operators.most", False), ("operators.fewest", True))
SIZES = (
    ("operators.most", False), ("operators.highest", False), ("operators.fewest", True), ("operators.lowest", True),
)  # fmt: skip
"""Superlatives of a number, and whether the least comes first."""
TEMPORAL = frozenset({"operators.earliest", "operators.latest", "operators.sort_date"})
COUNTED = frozenset({"operators.most", "operators.fewest"})
"""Of these those of how many things there are."""
BOUNDS = (
    ("operators.exactly", 0, 1), ("operators.at_most", None, 1), ("operators.less_than", None, 0),
    ("operators.at_least", 0, None), ("operators.or_more", 0, None), ("operators.more_than", 1, None),
)  # fmt: skip
"""Operators before a number of things, with what to add to it for the least that things have, and for what they have not."""
SUMS: Mapping[str, Literal["total", "mean"]] = {
    "operators.mean": "mean", "operators.total": "total", "operators.altogether": "total",
}  # fmt: skip
"""Operators by which numbers are put together."""
WHAT: Mapping[CategoryName, float] = {"Thing": 0.4, "Concept": 0.6, "Event": 0.9, "Actor": 1.0, "Place": 1.0}
"""What "what" may mean beside works, and how unlikely each is: people and places are asked for by other words."""


EDGES: Mapping[str, Edge] = {
    "creation_began": "begin", "creation_ended": "end", "begun_on": "begin", "ended_on": "end",
}  # fmt: skip
"""Relations to the first or the last day of a date alone."""
MOST_ACQUIRED = 0.5  # a share of acquisitions
EXHIBITING = frozenset({"exhibition", "exhibited_in", "exhibited_on"})
"""Relations to events in which things were shown or used."""
OWNERSHIP = frozenset({"P22", "P23", "P24"})
TOPICAL = frozenset({"about", "refers_to", "depicts"})
"""Relations that lead to kinds as well as to things of a kind."""
CARRIED_OUT, USED_IN = "carried_out_by", "P16i"
WIDENING = frozenset({INCLUDING, "operators.aside", "operators.altogether"})
"""Roles of what changes nothing of what is asked for."""
CHANGING = frozenset({"acquired_on", "exhibited_on", "modified_on", "destroyed_on"})
"""Dates of what befell things, by which they are not old."""
LIFE = frozenset({"born_on", "died_on"})
AGES, OF_AGE = frozenset({"created_on", "born_on", "founded_on", "happened_on"}), 0.5
"""Dates by which things are old or young, and what any other loses where "older than 1400" is asked."""
CREATION = frozenset({"created_by", "created_in", "created_on", "created_during", "production"})
ACQUIRING = frozenset({"acquired_by", "acquired_on", "acquired_in", "acquisition", "given_by"})


def _places(ops: Mapping[str, Item], roles: Collection[str]) -> frozenset[int]:
    """Where the operators stand that have one of some roles."""
    return frozenset(op.first for role, op in ops.items() if role in roles)


def _is_acquisition(part: Part) -> bool:
    """Whether a part of a plan goes over an acquisition."""
    ways = [*ways_of(part)]
    steps = {step.strip("^*!").removesuffix("i") for way in ways for path in way.paths for step in path}
    return bool(steps & OWNERSHIP) or any(ACQUIRING & {*way.relations} for way in ways)


def _bounds(
    flags: Mapping[str, Item], number: Item | None, measure: Measure
) -> tuple[Compute | None, Compute | None, Item] | None:
    """What keeps the things that have so many or more, what those that have too many, and the operator."""
    many = number.value if number is not None else None
    if not isinstance(many, int):
        return None
    for role, low, high in BOUNDS:
        if role not in flags or many + max(one for one in (low, high) if one is not None) < 1:
            continue
        compute = without = None
        if low is not None:
            compute = Compute(kind="rank", measure=measure, at_least=max(many + low, 1))
        if high is not None:
            without = Compute(kind="rank", measure=measure, at_least=many + high)
        return compute, without, flags[role]
    return None


def counting(compute: Compute, to: Anchor) -> Compute:
    """A ranking or a group with what it counts or groups by; others as they are."""
    if compute.measure is None:
        return compute.model_copy(update={"to": to}) if compute.kind == "group" else compute
    return compute.model_copy(update={"measure": compute.measure.model_copy(update={"to": to})})


def followed_by(way: Way, after: Way) -> Way:
    """A way that leads on by another one."""
    return way.model_copy(update={"then": after if way.then is None else followed_by(way.then, after)})


def second_question(items: Sequence[Item], words: Sequence[str], own: Language) -> int | None:
    """Where a second question begins, with its "and": "the heaviest coins, *and how much does each weigh*". What counts what
    the first asks for, "and how many are there of each", is none."""
    spoken = [item for item in items if item.sort in ("name", "noun", "date")]
    for item in sorted(items, key=lambda one: one.first):
        before = item.first - 1
        if before > 1 and own.preposition_roles(words[before]):
            before -= 1  # "and *in* which year"
        joined = before > 0 and words[before] in own.roles["operators.and"]
        each = any("operators.per" in one.roles for one in items if one.first >= item.last)
        counts = "questions.how_many" in item.roles and each
        if joined and item.roles & SECOND and not counts and any(one.last < item.first for one in spoken):
            return item.first - 1
    return None


def with_titles(
    items: tuple[Item, ...], words: Sequence[str], own: Language
) -> Iterator[tuple[tuple[Item, ...], float]]:
    """The items with words before or after "in the title" as texts that names hold."""
    for place, op in enumerate(items):
        if "operators.titles" not in op.roles:
            continue
        for low, high in (_before(items, place, words, own), _after(items, place, words, own)):
            said = [at for at in range(low, high) if words[at] not in own.stop]
            if not said:
                continue
            text = item_at(words, said[0], said[-1] + 1, "text", 1.0)
            rest = [
                one for one in items if one is not op and (one.last <= text.first or one.first >= text.last)
            ]
            yield tuple(sorted((*rest, text), key=lambda one: one.first)), 1.2


def _before(items: Sequence[Item], place: int, words: Sequence[str], own: Language) -> tuple[int, int]:
    op = items[place]
    loose = max((one.last for one in items[:place]), default=0)
    if any(words[at] not in own.stop for at in range(loose, op.first)):
        return loose, op.first
    before = [one for one in items[:place] if one.sort in ("name", "noun", "number")]
    return (before[-1].first, before[-1].last) if before else (0, 0)


def _after(items: Sequence[Item], place: int, words: Sequence[str], own: Language) -> tuple[int, int]:
    op = items[place]
    after = [one for one in items[place + 1 :] if one.sort in ("name", "noun")]
    loose = after[0].first if after else len(words)
    if any(words[at] not in own.stop for at in range(op.last, loose)):
        return op.last, loose
    return (after[0].first, after[0].last) if after else (0, 0)
