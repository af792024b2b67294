"""A cut of a question into items: what stands where in it, by its small words and the language's order of words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, NamedTuple, TypeVar

from crmrag_query.language import Language
from crmrag_query.ontology.load import Category
from crmrag_query.reading.records import IDLE, JOINS, LASTING, NEGATIONS, RANKING, Item, Meaning
from crmrag_query.text import fold, positions

T = TypeVar("T")

ACTOR, TIME, THING = int(Category.Actor), int(Category.Time), int(Category.Thing)

EVENT = int(Category.Event)

NAMING = frozenset({"of", "material", "about", "from", "agent"})
"""Roles of prepositions before the name of what a noun says: the church *of* Asinou."""

FOR_EACH = frozenset({"to", "agent"})
"""Roles of prepositions that say nothing of what is counted by: "*for each* emperor", "down *by* maker"."""

SECOND = frozenset(
    f"questions.{one}" for one in ("who", "where", "when", "what", "how_many", "how_much", "how_long")
)

FURTHER = frozenset({"questions.list", "questions.what"})

SPOKEN = frozenset({"name", "noun"})
"""Sorts of items that speak of something."""

PARTING = ("agent", "with", "about", "to", "from")
"""Prepositions behind which no noun is what a question asks for: "what do you have *by* artists"."""

UNKNOWN_ROLE = "operators.unknown"

REPEATEDLY = "operators.repeatedly"

DETERMINING = frozenset(
    {"questions.what", "questions.how_many", "questions.kind", "questions.list", "questions.there"}
)

OPENERS = DETERMINING | SECOND

EXCEPTIONS = frozenset({"operators.except", "operators.anyone_else"})

TIMES = ("century", "decade", "year")

SUPERLATIVE = RANKING | {"operators.every", "operators.not", "operators.both"}

MEANT = NEGATIONS | EXCEPTIONS | RANKING | frozenset({
    "operators.more_than", "operators.less_than", "operators.exactly", "operators.at_least", "operators.at_most",
    "operators.breakdown", "operators.per", "operators.titles", "operators.unknown", "operators.same", "operators.pairs",
    "operators.compare", "operators.mean", "operators.total", REPEATEDLY, LASTING,
})  # fmt: skip
"""Operators that change what is asked for: a reading that does not use one is not whole."""

PER = frozenset({"operators.per", "operators.breakdown"})


@dataclass
class Form:
    """What a question says of the form of its answer; ``opened``: where what opens it ends."""

    counts: bool = False
    asks: bool = False
    who: bool = False
    what: bool = False
    described: bool = False
    opened: int = 0


class Standing(NamedTuple):
    """How an item stands to another, or to what a question word asks for: right ``before`` it; behind prepositions with
    roles (``leads``); right before one at the end, whose roles are ``dangling``; before a noun of its own
    (``modifies_next``)."""

    before: bool
    leads: frozenset[str]
    dangling: frozenset[str]
    modifies_next: bool


def once_a_cut(tell: Callable[[Cut, Item], T]) -> Callable[[Cut, Item], T]:
    """A method that tells of an item what depends on the other items of the cut alone: found once while a cut is read."""

    @wraps(tell)
    def kept(cut: Cut, item: Item) -> T:
        key = (tell, item.first, item.last)
        if key not in cut.of_items:
            cut.of_items[key] = tell(cut, item)
        found: T = cut.of_items[key]
        return found

    return kept


@dataclass
class Cut:
    """One cut of a question; ``of_items``: what was found of its items."""

    words: tuple[str, ...]
    own: Language
    items: tuple[Item, ...]
    form: Form
    of_items: dict[tuple[object, int, int], Any] = field(default_factory=dict)

    @cached_property
    def taken(self) -> frozenset[int]:
        """Where the words of items stand."""
        return positions(self.items)

    @cached_property
    def free(self) -> tuple[int, ...]:
        """Where the content words stand that are no item: what they say has to be told by what ties the items."""
        idle = frozenset().union(*(self.own.roles[role] for role in IDLE if role in self.own.roles))
        return tuple(
            at
            for at, word in enumerate(self.words)
            if at not in self.taken and word not in self.own.stop and word not in idle
            if len(word) > 1 or word.isdigit()
            if not self.is_light(at)
        )

    @cached_property
    def open(self) -> frozenset[int]:
        """`free`, as a set."""
        return frozenset(self.free)

    def with_role(self, *roles: str) -> list[Item]:
        """The items that have one of some roles."""
        return [one for one in self.items if not one.roles.isdisjoint(roles)]

    def first_with(self, role: str) -> Item | None:
        """The first item that has a role; None for none."""
        return next((one for one in self.items if role in one.roles), None)

    def is_light(self, at: int) -> bool:
        """Whether a word only makes a verb of the event right behind it, or of one before it: "were *given* an overhaul",
        "inspections were *made*", "how many assessments did the museum *make*"."""
        if self.words[at] not in self.own.roles["verbs.light"]:
            return False
        amounts = positions(item for item in self.items if item.sort in ("op", "number"))
        after = range(at + 1, len(self.words))  # "*made* at least ten voyages"
        behind = next(
            (one for one in after if self.words[one] not in self.own.articles and one not in amounts), at
        )
        before = max((one.last for one in self.items if one.sort in SPOKEN and one.last <= at), default=0)
        does = self.own.roles["verbs.do"]
        auxiliary = self.own.roles["verbs.be"] | self.own.roles["verbs.have"]
        aided = not auxiliary.isdisjoint(self.words[before:at])
        done = max((place for place in range(at) if self.words[place] in does), default=0)
        by = any("agent" in self.own.preposition_roles(word) for word in self.words[at + 1 : at + 3])
        return any(
            one.sort == "noun"
            and (one.first == behind or (one.last == before and aided and not by) or one.last <= done)
            and any(each.category & EVENT for each in one.meanings)
            for one in self.items
        )

    def heads_first(self, rest: list[Item]) -> list[Item]:
        """The items with each noun before what stands bare before it, so that "women artists" ties women to artists."""
        found: list[Item] = []
        for item in rest:
            at = len(found)
            if at and self.is_given(found[-1], item):
                at -= 1  # "who sent *Falkenrath* the most letters"
            while item.sort == "noun" and at and self.modifies(found[at - 1], item, found[at:]):
                at -= 1
            found.insert(at, item)
        return found

    def is_given(self, name: Item, noun: Item) -> bool:
        """Whether a name stands between a verb and the noun for what somebody is given, or sent."""
        if name.sort != "name" or noun.sort != "noun" or not self.own.head_last or not name.first:
            return False
        small = positions(self.with_role(*RANKING))
        between = range(name.last, noun.first)
        small_only = all(at in small or self.words[at] in self.own.articles for at in between)
        return bool(between) and small_only and name.first - 1 in self.free

    def modifies(self, before: Item, noun: Item, between: Sequence[Item]) -> bool:
        if not self.own.head_last or before.sort not in ("noun", "name"):
            return False
        return before.last == (between[0].first if between else noun.first)

    def is_in_clause(self, at: int) -> bool:
        """Whether a word stands behind a question word that follows on a noun."""
        asking = self.words_for("questions", ("where", "who", "when"))
        behind = {one.last for one in self.items if one.sort in SPOKEN}
        return any(self.words[place] in asking and place in behind for place in range(1, at))

    def words_for(self, part: str, roles: Iterable[str]) -> frozenset[str]:
        """The words of some roles of one part of the language."""
        return frozenset().union(*(self.own.roles[f"{part}.{one}"] for one in roles))

    def is_one_such(self, spoken: Sequence[Item]) -> bool:
        """Whether a thing is asked for by what it is made of, or how: "is there *a bronze* by Rodin"."""
        articles = self.own.roles["operators.indefinite"]
        return any(
            one.sort == "name" and one.first and self.words[one.first - 1] in articles
            and all(meaning.category == int(Category.Concept) for meaning in one.meanings)
            for one in spoken
        )  # fmt: skip

    def head_of(self, first: Item, nouns: Sequence[Item]) -> Item:
        """Of nouns that stand side by side the one that is asked for: the last, in languages whose adjectives come first."""
        if not self.own.head_last:
            return first
        verbs = self.own.auxiliaries
        head = first
        for noun in nouns:
            if noun.first < head.last or self.is_time(noun):
                continue
            if self.is_plural(head) and not self.is_plural(noun):
                break  # "which works *name* …": what stands before a noun to say more of it is in the singular
            gap = range(head.last, noun.first)
            joins = positions(self.with_role(*JOINS))
            free = [at for at in gap if at not in joins]
            if len(free) > 1 or any(
                self.words[at] in self.own.stop or self.words[at] in verbs for at in free
            ):
                break
            if free and not joins & set(gap):
                break
            head = noun
        return head

    def is_plural(self, item: Item) -> bool:
        """Whether a noun ends as the language's plurals do."""
        return self.ends_as_plural(item.text)

    def ends_as_plural(self, text: str) -> bool:
        asking = self.own.raw["asking"]
        endings, others = (tuple(asking.get(key, ())) for key in ("plurals", "not_plurals"))
        return text.endswith(endings) and not text.endswith(others)

    def per_words(self) -> frozenset[int]:
        return frozenset(one.first for one in self.with_role(*PER))

    def dangles(self) -> bool:
        """Whether a question ends in a preposition, whose object is what is asked for: "what are they made *of*"."""
        return bool(self.own.preposition_roles(self.words[-1]))

    def is_subject(self, item: Item) -> bool:
        """Whether an auxiliary stands before a noun, with nothing but small words between."""
        at = item.first - 1
        while at > 0 and self.words[at] in self.own.stop and self.words[at] not in self.own.roles["verbs.do"]:
            at -= 1
        return at >= 0 and self.words[at] in self.own.roles["verbs.do"]

    def is_time(self, item: Item) -> bool:
        """Whether a noun means dates, of which all that is asked is whether there are any."""
        return item.sort == "noun" and any(one.category == TIME and one.generic for one in item.meanings)

    def stands_behind(self, opener: Item, noun: Item) -> bool:
        """Whether a noun stands right behind what opens a question: "which (of the) (five oldest) *works*", with names in the
        genitive between."""
        if noun.first < opener.last:
            return False
        verbs = self.own.auxiliaries
        inside = positions(one for one in self.items if one.sort != "op" or one.roles & SUPERLATIVE)
        parting = self.words_for("prepositions", PARTING) - self.own.roles["prepositions.of"]
        copula = self.own.roles["verbs.be"] if "questions.what" in opener.roles else frozenset()
        partitive = frozenset(map(fold, self.own.raw["asking"].get("of", ())))  # which *of* the
        for at in range(opener.last, noun.first):
            word = self.words[at]
            if at in inside or word == "s" or (at == opener.last and word in copula | partitive):
                continue
            if word not in self.own.stop or word in verbs or word in parting:
                return False
        names = [
            one
            for one in self.items
            if one.sort == "name" and opener.last <= one.first and one.last <= noun.first
        ]
        return all(
            self.lead(one) or self.words[one.last : one.last + 1] == ("s",) or one.last == noun.first
            for one in names
        )

    def is_participle(self, noun: Item) -> bool:
        """Whether what may be a noun says what was done: "what was *broadcast* in 1953", without article or plural."""
        copula = noun.first - 1
        if copula < 1 or self.words[copula] not in self.own.roles["verbs.be"]:
            return False
        asks = any(copula <= one.last <= noun.first and "questions.what" in one.roles for one in self.items)
        return asks and len(noun) == 1 and not self.is_plural(noun)

    def is_asked_for(self, item: Item) -> bool:
        """Whether an item stands right behind "which" or "how many"."""
        return any(
            one.last == item.first and one.roles & {"questions.what", "questions.how_many"}
            for one in self.items
        )

    def is_predicate(self, noun: Item) -> bool:
        """ "Who are the (three oldest) donors", "who were Bell's pupils": only small words, what chooses some and a genitive
        stand between."""
        owner = next((one for one in self.items if one.sort == "name" and one.last == noun.first - 1), None)
        owned = owner is not None and self.words[owner.last] == "s"
        named = range(owner.first, noun.first) if owner is not None and owned else range(0)
        return all(
            word in self.own.stop or at in self.choosing or at in named
            for at, word in enumerate(self.words[: noun.first])
            if at
        )

    @property
    def choosing(self) -> frozenset[int]:
        """The words of numbers and of superlatives."""
        chosen = [one for one in self.items if one.sort == "number" or one.roles & RANKING]
        return positions(chosen)

    def is_negated(self, item: Item) -> bool:
        """Whether what an item says is not so: what is by *someone other than* X is not denied, but by others."""
        flags = self.flags(item)
        left_out = "operators.except" in flags and "operators.anyone_else" not in flags
        return left_out or not flags.keys().isdisjoint(NEGATIONS)

    @once_a_cut
    def unknown(self, item: Item) -> Item | None:
        """The word by which what a noun means is not known: "by *unknown* artists", "whose photographer *isn't known*"."""
        be = self.own.roles["verbs.be"]
        behind = (
            one
            for one in self.items
            if UNKNOWN_ROLE in one.roles
            and item.last <= one.first
            and all(word in be for word in self.words[item.last : one.first])
        )
        return self.flags(item).get(UNKNOWN_ROLE) or next(behind, None)

    def denied(self, item: Item, says: Collection[int]) -> Item | None:
        """The word behind an item that denies the verb behind itself, by which the item is tied: "did Bell *not* make"."""
        behind = (one for one in self.items if one.first >= item.last and one.last in says)
        return next((one for one in behind if one.roles & NEGATIONS), None)

    def is_of_another(self, between: range) -> bool:
        """Whether words before a noun speak of something it has: "*place of birth* of artists", not a "*film* company"."""
        return not self.open.isdisjoint(between) and any(
            self.own.preposition_roles(self.words[at]) for at in between
        )

    def follows_excepted(self, item: Item) -> bool:
        """Whether "and" joins an item to one that is left out: "leaving out Berg and his prints"."""
        before = [one for one in self.items if one.sort in ("name", "noun") and one.last <= item.first]
        if not before or EXCEPTIONS.isdisjoint(self.flags(before[-1])):
            return False
        behind = (one for one in self.items if before[-1].last <= one.first < item.first)
        return any("operators.and" in one.roles for one in behind)

    def split_by(self, item: Item) -> Item | None:
        """The "break down" of a question, for what stands behind "by"."""
        down = self.first_with("operators.breakdown")
        return down if down is not None and "agent" in self.lead(item) and down.last <= item.first else None

    def of_which(self, flags: Mapping[str, Item]) -> Item | None:
        """The "which" of a question that counts, before what they are counted by: "how many loans went to *which* museum"."""
        which = flags.get("questions.what")
        return which if which is not None and self.form.counts and not self.is_relative(which) else None

    def is_relative(self, op: Item) -> bool:
        """Whether a question word follows on a noun: "are there churches *in which* frescoes survive"."""
        at = op.first
        at -= at > 0 and bool(self.own.preposition_roles(self.words[at - 1]))
        behind = (one for one in self.items if one.last == at and at)
        return any(one.sort in SPOKEN or "questions.there" in one.roles for one in behind)

    def counts_each(self, item: Item, meaning: Meaning) -> bool:
        """Whether things are counted for each of a kind: each church, "by genre", "by firm"; but by women is not for each of
        them."""
        word, roles = self.words[item.first - 1], self.own.roles
        if meaning.category & EVENT and self.verb_by(item) is not None:
            return False  # "acquired *by purchase*"
        each = any("operators.each" in one.roles and one.last == item.first for one in self.items)
        per = word in roles["operators.per"] and (meaning.category != ACTOR or not self.is_plural(item))
        return each or word in roles["operators.each"] or per

    def first(self, op: Item, head: Item | None) -> int:
        """How many are asked for: the number beside a superlative, or before what is asked for (``head``); else one."""
        further = [one for one in self.items if one.roles & RANKING and one is not op]
        numbers = [(one, one.value) for one in self.items if isinstance(one.value, int) and one.value]
        for item, value in numbers:
            before = head is not None and 0 <= head.first - item.last <= 2
            if before or _is_beside(item, op):
                return value
        for item, value in numbers:
            if any(_is_beside(item, one) for one in further):
                return value  # "most of our costumes? Just the *top three*."
        bare = self.words[head.first - 1] if head is not None and head.first else ""
        return self.own.numbers.get(bare) or 1  # "les *deux* œuvres", where the two words are one phrase

    def said_of_others(self, item: Item, place: Item) -> frozenset[int]:
        """The verbs that say nothing of what stands behind a preposition of place: those behind it, where it stands right
        behind the noun, and those whose own preposition names a material, "*made of*"."""
        roles, between = self.own.roles, range(place.last, item.first)
        auxiliary = self.own.auxiliaries
        right_behind = bool(between) and self.open.isdisjoint(between)
        right_behind = right_behind and auxiliary.isdisjoint(self.words[at] for at in between)
        of = roles["prepositions.material"] - roles["prepositions.place"]
        made_of = (at for at in between[:-1] if at in self.open and self.words[at + 1] in of)
        return frozenset((*(range(item.last, len(self.words)) if right_behind else ()), *made_of))

    @once_a_cut
    def verb_by(self, item: Item) -> int | None:
        """Where the content word stands right before the preposition of an item: "*built* by Bell"; None for none."""
        at = item.first - 1
        while at > 0 and not self.own.preposition_roles(self.words[at]):
            at -= 1
        return at - 1 if at - 1 in self.open else None

    def modifies_next(self, item: Item) -> bool:
        """Whether a noun stands right behind an item, in languages in which what comes first says more of it."""
        if not self.own.head_last:
            return False
        return any(one.sort == "noun" and one.first == item.last for one in self.items)

    def nearness(self, at: int, item: Item, place: Item | None) -> float:
        """How much a word counts for an item by where it stands: between the two, right behind them, or elsewhere."""
        first = min(item.first, place.first) if place is not None else item.first
        last = max(item.last, place.last) if place is not None else item.last
        if first <= at < last or 0 <= at - last <= 2 or (place is None and at < first):
            return 1.0
        return 0.75

    @once_a_cut
    def lead(self, item: Item) -> frozenset[str]:
        """Roles of the preposition before an item, or of the genitive behind it; articles between do not count."""
        if self.words[item.last : item.last + 1] == ("s",):
            return frozenset({"of", "agent"})
        own = next((one for one in self.items if one.sort == "date" and one.last == item.first), None)
        spoken = (one for one in self.items if one.sort in ("name", "noun", "date", "text"))
        taken = positions(one for one in spoken if one is not own)  # "in *the 1652* inventory"
        small = positions(one for one in self.items if one.sort == "op" or one is own)
        per = positions(self.with_role(*PER))
        at = item.first - 1
        while at >= 0 and item.first - at <= 5 and at not in taken:
            if roles := self.own.preposition_roles(self.words[at]):
                return roles - FOR_EACH if at in per else roles
            number = any(one.sort == "number" and one.first == at for one in self.items)
            if self.words[at] not in self.own.stop and at not in small and not number:
                return frozenset()
            at -= 1
        return frozenset()

    def standing(self, item: Item, place: Item | None) -> Standing:
        """How an item stands to the one at a place; None: to what a question word asks for."""
        if place is not None and place.sort == "noun" and item.last == place.first:
            return Standing(True, frozenset(), frozenset(), False)
        leads = self.lead(item) - (FOR_EACH if self.split_by(item) is not None else frozenset())
        dangling = frozenset[str]() if leads else self.dangling(item)
        return Standing(False, leads, dangling, self.modifies_next(item))

    @once_a_cut
    def dangling(self, item: Item) -> frozenset[str]:
        """Roles of a preposition at the end, right behind an item, whose object the question word is: "who is X *by*"."""
        if not self.form.who or item.last != len(self.words) - 1:
            return frozenset()
        return self.own.preposition_roles(self.words[-1])

    @once_a_cut
    def phrase_lead(self, item: Item) -> frozenset[str]:
        """Roles of the preposition before a noun and what stands bare before it: by *women* artists."""
        before = next(
            (one for one in self.items if one.sort in ("noun", "name") and one.last == item.first), None
        )
        return self.phrase_lead(before) if before is not None else self.lead(item)

    def is_said_to_be(self, place: Item | None, item: Item) -> bool:
        """Whether a name stands right behind a noun that says what it is, or in its genitive."""
        if place is None or place.sort != "noun" or item.first < place.last:
            return False
        between = self.words[place.last : item.first]
        verbs = self.own.roles["verbs.have"] | self.own.roles["verbs.do"] | self.own.roles["questions.list"]
        lead = self.lead(item)
        if ("agent" in lead and "of" not in lead) or lead == {"about"}:
            return False  # works *by* X and *about* X are no works named X
        if lead and self.own.capitals_name and self.is_plural(place) and len(item.meanings[0].iris) < 2:
            return False  # nor are the *members of* X called so
        return all(word in self.own.stop and word not in verbs for word in between) and lead <= NAMING

    def is_said(self, place: Item | None, item: Item) -> bool:
        """Whether nothing but forms of "to be" and small words without a place or an agent stand between two nouns."""
        if place is None:
            return False
        if place.last == item.first or item.last == place.first:
            return True
        low, high = (place.last, item.first) if place.last <= item.first else (item.last, place.first)
        inner = [
            one
            for one in self.items
            if one.sort in ("name", "noun", "date") and low <= one.first and one.last <= high
        ]
        # "in *the 1652* inventory": what stands right before the noun is its own
        high = min([high, *(one.first for one in inner if one.last == high)])
        low = max([low, *(one.last for one in inner if one.last <= high)])
        ties = self.words_for("prepositions", ("place", "agent", "of", "with"))
        ties |= self.own.roles["questions.list"]  # works that *show* X are not X
        return all(word in self.own.stop and word not in ties for word in self.words[low:high])

    @once_a_cut
    def flags(self, item: Item) -> dict[str, Item]:
        """Operators right before an item, not parted from it by another one."""
        before = [
            one.last for one in self.items if one.sort in ("name", "noun", "date") and one.last <= item.first
        ]
        low = max(before, default=0)
        return {
            role: one
            for one in self.items
            if one.sort == "op" and low <= one.first and one.last <= item.first
            for role in one.roles
        }

    @once_a_cut
    def number_before(self, item: Item) -> Item | None:
        """The last number before an item, with only small words between: "*three* or more different lighthouses"."""
        numbers = [one for one in self.items if one.sort == "number" and one.last <= item.first]
        if not numbers:
            return None
        between = range(numbers[-1].last, item.first)
        telling = self.open | positions(one for one in self.items if one.sort in SPOKEN)
        return numbers[-1] if len(between) < 2 or telling.isdisjoint(between) else None

    def denies(self, op: Item, says: frozenset[int]) -> bool:
        """Whether a small word denies what some words say, and not a verb of its own: "lent out and *not* back yet"."""
        verbs = self.own.roles["verbs.empty"]
        behind = [at for at in range(op.last, len(self.words)) if at in self.free or self.words[at] in verbs]
        return not behind or not says.isdisjoint(behind)

    def has_subject(self, says: Collection[int]) -> bool:
        """Whether somebody is named between an auxiliary and a verb, who does what it says: "how many *did each newspaper
        print*"."""
        does = [at for at, word in enumerate(self.words) if word in self.own.roles["verbs.do"]]
        before = [at for at in does if at < min(says)]
        return bool(before) and any(
            one.sort in SPOKEN and before[-1] < one.first and one.last <= min(says) for one in self.items
        )

    def follows(self, op: Item, said: Collection[int]) -> bool:
        """Whether words stand right behind a small word, with nothing but small words between."""
        first = min(said)
        return op.last <= first and self.own.stop.issuperset(self.words[op.last : first])

    def leads_to_more(self, said: Collection[int]) -> bool:
        """Whether something that ties stands behind words: "*painted* on ivory", not "and were *born* there"."""
        if any(one.first > max(said) for one in self.items if one.sort in ("name", "noun", "date")):
            return True
        return any(word in self.unit_words() for word in self.words[max(said) + 1 :])

    def is_split(self, unit: str, ops: Mapping[str, Item]) -> bool:
        """Whether what is asked for is told apart by a unit of time: per century, in which decade most."""
        if not ops.keys().isdisjoint(PER) or self.each(unit):
            return True
        if self.form.counts and self.stands_before(unit, self.own.roles["operators.per"]):
            return True  # "par an", where the word names makers, too
        return "operators.most" in ops and self.asks_for(unit)

    def each(self, unit: str) -> bool:
        return self.stands_before(unit, self.own.roles["operators.every"])

    def asks_for(self, unit: str) -> bool:
        """Whether a unit of time is what is asked for: "in which *century*"."""
        return self.stands_before(unit, self.own.roles["questions.what"])

    def stands_before(self, unit: str, small: Collection[str]) -> bool:
        """Whether one of some small words stands right before a unit of time."""
        words = self.own.roles[f"time.{unit}"]
        return any(word in words and at and self.words[at - 1] in small for at, word in enumerate(self.words))

    def unit_words(self) -> frozenset[str]:
        return self.words_for("time", TIMES)

    def is_of_noun(self, op: Item, head: Item | None) -> bool:
        """Whether what stands right behind a superlative is what there is most of, "the most *platinum prints*", and not what
        is asked for: "the most prolific *artists*"."""
        return any(one.first == op.last for one in self.items if one.sort in SPOKEN and one is not head)


def form_of(items: Sequence[Item], own: Language) -> Form:
    """The form of the answer, by what opens a question and by "how many" anywhere."""
    form = Form()
    for number, item in enumerate(items):
        if item.sort != "op":
            break
        roles = {role.removeprefix("questions.") for role in item.roles if role.startswith("questions.")}
        spoken = form.what or form.who or form.counts or form.asks
        if "polite" in roles:
            pass
        elif roles & {"how_many", "how_often"}:
            form.counts = True
        elif roles & {"why", "how", "how_long", "how_much"}:
            form.described = form.described or not spoken
        elif roles & {"who", "whose"}:
            form.who = True
        elif roles & {"what", "anything", "kind"}:
            form.what = True
        elif roles & {"where", "when"}:
            form.described = form.described or not spoken
        elif roles & {"there", "polar"}:
            form.asks = form.asks or not (spoken or form.described)  # "where *is* it" asks for no yes
        elif "describe" in roles and not roles & {"list"}:
            form.described = True
        elif not roles:
            continue
        form.opened = number + 1
    form.counts = form.counts or any("questions.how_many" in item.roles for item in items)
    if form.counts:
        form.asks = False
    return form


def _is_beside(item: Item, op: Item) -> bool:
    return abs(item.first - op.last) <= 1 or abs(op.first - item.last) <= 1
