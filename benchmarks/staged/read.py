"""From a question to plans, best first: staged query graphs over what the data holds.

Names, kinds, dates and numbers found in the question are anchors. Every way of cutting the question into them is gone
through, the likeliest first; each anchor is tied to what stands before it by the ways that exist for it in the graph, ranked
by how much of the question they say (Yih et al. 2015, Semantic Parsing via Staged Query Graph Generation).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from staged.items import Item, Meaning, SixLanguages, generic, items_of, meaning_of
from staged.language import LANGUAGES, Language, language
from staged.ways import Edge, Ways

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import Interval
from crmrag_query.errors import QuestionError
from crmrag_query.graph.graph import Graph
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.execute import execute, members_of
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Compute,
    Constraint,
    Dated,
    Measure,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Way,
)
from crmrag_query.plans.world import Mask, World
from crmrag_query.questions.analysis import Analysis
from crmrag_query.questions.words import Asked, asked
from crmrag_query.text import fold
from crmrag_query.timing import check

SEGMENTATIONS = 16
PER_POSITION = 24
BEAM = 14
EDGES = 5  # best ways of an anchor to what it is tied to
TRIES = 14  # ways that are looked for in the graph before an anchor is given up
UNCOVERED = 0.9
DROPPED = 1.0  # what a name or noun costs that nothing ties
ANY = 0.45  # what a way costs that no word says


@dataclass(frozen=True)
class Tie:
    """A condition of a node: by an edge to a node of the reading, a period, or a text."""

    edge: Edge | None
    child: int = -1
    negated: bool = False
    period: Interval | None = None
    text: str = ""
    among: bool = False
    at_least: int | None = None
    exactly: bool = False
    said: bool = True
    part: str = "span"


@dataclass(frozen=True)
class State:
    """A reading in the making: meanings by node (0 is what is asked for), and for each node its ties."""

    meanings: tuple[Meaning, ...]
    ties: tuple[tuple[int, Tie], ...]
    covered: frozenset[int]
    score: float
    spine: tuple[int, ...]
    weak: bool = False
    compute: Compute | None = None
    group: int = -1
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """A plan with its score; ``sure``: every word is said by it; ``uncovered``: those that are not."""

    plan: Plan
    score: float
    uncovered: tuple[str, ...]
    weak: bool
    size: int = -1


@dataclass
class Question:
    """A question with all that is known before it is read."""

    release: Release
    world: World
    ways: Ways
    heard: Asked
    language: Language
    items: list[Item]
    analysis: Analysis
    stems: tuple[str, ...] = ()
    numbers: list[Item] = field(default_factory=list)
    candidates: dict[object, list[tuple[float, Edge, frozenset[int]]]] = field(default_factory=dict)

    @property
    def words(self) -> tuple[str, ...]:
        return self.heard.words


def prepare(release: Release, analysis: Analysis) -> Question:
    spoken = language(analysis.reading.language if (analysis.reading.language in LANGUAGES) else "en")
    heard = asked(analysis.reading.question, spoken.raw["capitals"] == "names", ())
    ways = release[Ways]
    items = items_of(release, ways, analysis, heard, spoken)
    stems = tuple(spoken.stem(word) for word in heard.words)
    return Question(release, release[World], ways, heard, spoken, items, analysis, stems)


def segmentations(q: Question) -> list[tuple[float, tuple[Item, ...]]]:
    """The best ways to cut the question into items, none of which overlap."""
    by_start: dict[int, list[Item]] = {}
    for item in q.items:
        by_start.setdefault(item.first, []).append(item)
    best: list[list[tuple[float, tuple[Item, ...]]]] = [[] for _ in range(len(q.words) + 1)]
    best[0] = [(0.0, ())]
    for at in range(len(q.words)):
        check()
        states = sorted(best[at], key=lambda s: -s[0])[:PER_POSITION]
        skip = 0.0 if q.words[at] in q.language.stop else -0.35
        for score, items in states:
            best[at + 1].append((score + skip, items))
            for item in by_start.get(at, ()):
                best[item.last].append((score + item.score, (*items, item)))
    return sorted(best[-1], key=lambda s: -s[0])[:SEGMENTATIONS]


def readings(release: Release, analysis: Analysis) -> list[Reading]:
    """Plans of the question, best first."""
    q = prepare(release, analysis)
    found: dict[str, Reading] = {}
    cuts = [cut for score, items in segmentations(q) for cut in variants(q, items, score)]
    for score, items in cuts:
        check()
        for reading in _read(q, items, score):
            key = reading.plan.model_dump_json()
            if key not in found or found[key].score < reading.score:
                found[key] = reading
    best = sorted(found.values(), key=lambda r: -r.score)[:EXECUTED]
    return sorted(
        (one for reading in best if (one := weighed(q, reading)) is not None), key=lambda r: -r.score
    )


EXECUTED = 24  # readings of which the sets are looked at


def weighed(q: Question, reading: Reading) -> Reading | None:
    """The reading with the size of its set: one that gives nothing is less likely to be meant."""
    check()
    try:
        outcome = execute(reading.plan, q.world)
    except QuestionError:
        return None
    size, kind, score = outcome.size, reading.plan.compute.kind, reading.score
    if not size and kind in ("list", "rank", "group"):
        score -= 0.8
    if not size and kind in ("count", "ask"):
        score -= 0.3
    return replace(reading, score=score, size=size)


def variants(q: Question, items: tuple[Item, ...], score: float) -> Iterator[tuple[float, tuple[Item, ...]]]:
    """The cut with words of titles as texts, and with what "and" and "or" join as one."""
    titled = list(with_titles(q, items))
    for one, gained in titled or [(items, 0.0)]:
        joined = together(q, one)
        if joined != one:
            yield score + gained + 0.35, joined
        yield score + gained, one


def with_titles(q: Question, items: tuple[Item, ...]) -> Iterator[tuple[tuple[Item, ...], float]]:
    """Readings of "in the title" and its like: the words before it, or after it, are looked for in names."""
    for place, op in enumerate(items):
        if "operators.titles" not in op.roles:
            continue
        for low, high in ((previous_stretch(q, items, place)), (next_stretch(q, items, place))):
            if low >= high:
                continue
            words = [at for at in range(low, high) if q.words[at] not in q.language.stop]
            if not words:
                continue
            low, high = words[0], words[-1] + 1
            text = Item(low, high, "text", 1.0, " ".join(q.words[low:high]))
            rest = [one for one in items if one is not op and (one.last <= low or one.first >= high)]
            yield tuple(sorted((*rest, text), key=lambda one: one.first)), 1.2


def previous_stretch(q: Question, items: tuple[Item, ...], place: int) -> tuple[int, int]:
    """The name, noun or loose words right before an operator."""
    op = items[place]
    before = [one for one in items[:place] if one.kind in ("name", "noun", "number")]
    low = before[-1].first if before else 0
    loose = max((one.last for one in items[:place]), default=0)
    if any(q.words[at] not in q.language.stop for at in range(loose, op.first)):
        return loose, op.first
    return (low, before[-1].last) if before else (0, 0)


def next_stretch(q: Question, items: tuple[Item, ...], place: int) -> tuple[int, int]:
    op = items[place]
    high = len(q.words)
    after = [one for one in items[place + 1 :] if one.kind in ("name", "noun")]
    loose = after[0].first if after else high
    if any(q.words[at] not in q.language.stop for at in range(op.last, loose)):
        return op.last, min(loose, high)
    return (after[0].first, after[0].last) if after else (0, 0)


JOINS = {"operators.and", "operators.or"}


def together(q: Question, items: tuple[Item, ...]) -> tuple[Item, ...]:
    """Names, or nouns, that "and" or "or" joins, as one item each."""
    found = list(items)
    at = 0
    while at + 1 < len(found):
        first, op = found[at], found[at + 1]
        if first.kind not in ("name", "noun"):
            at += 1
            continue
        if op.roles & JOINS and at + 2 < len(found):
            second, width = found[at + 2], 3
        elif (
            op.kind == first.kind
            and op.first == first.last
            and any(one.roles & JOINS for one in found[at + 2 : at + 3])
        ):
            second, width = op, 2
        else:
            at += 1
            continue
        between = [
            i for i in range(first.last, second.first) if not (op.kind == "op" and op.first <= i < op.last)
        ]
        if second.kind != first.kind or any(q.words[i] not in q.language.stop for i in between):
            at += 1
            continue
        meanings = tuple(
            both
            for a in first.meanings[:3]
            for b in second.meanings[:3]
            if (both := united(q, a, b)) is not None
        )
        if not meanings:
            at += 1
            continue
        whole = Item(
            first.first,
            second.last,
            first.kind,
            0.0,
            f"{first.text} {second.text}",
            meanings=meanings,
            stems=first.stems | second.stems,
        )
        found[at : at + width] = [whole]
    return tuple(found)


def united(q: Question, a: Meaning, b: Meaning) -> Meaning | None:
    """Either of two meanings of one kind."""
    nodes = np.union1d(a.nodes, b.nodes).astype(np.int32)
    common = {
        "nodes": nodes,
        "signatures": a.signatures | b.signatures,
        "cost": a.cost + b.cost,
        "number": "many",
    }
    if a.named and b.named:
        if a.category != b.category:
            return None
        return replace(a, iris=(*a.iris, *b.iris), **common)  # type: ignore[arg-type]
    if a.target is None or b.target is None:
        return None
    for part in ("types", "classes", "categories"):
        mine, other = getattr(a.target, part), getattr(b.target, part)
        if mine and other and Target(**{part: mine}) == a.target and Target(**{part: other}) == b.target:
            target = Target(**{part: tuple(dict.fromkeys((*mine, *other)))})
            return replace(a, target=target, any=a.any and b.any, **common)  # type: ignore[arg-type]
    return None


# form


@dataclass
class Form:
    """What a cut says of the form of the answer."""

    counts: bool = False
    asks: bool = False
    who: bool = False
    what: bool = False
    where: bool = False
    when: bool = False
    kind: bool = False
    describes: bool = False
    opened: int = 0


def form_of(q: Question, items: Sequence[Item]) -> Form:
    form = Form()
    for number, item in enumerate(items):
        if item.kind != "op":
            break
        names = {role.removeprefix("questions.") for role in item.roles if role.startswith("questions.")}
        spoken = form.what or form.who or form.counts or form.where or form.when or form.kind or form.asks
        if names & {"how_many", "how_often"}:
            form.counts = True
        elif names & {"why", "how", "how_long", "how_much"}:
            form.describes = form.describes or not spoken
        elif "kind" in names:
            form.what = form.kind = True
        elif "who" in names or "whose" in names:
            form.who = True
        elif "where" in names:
            form.where = True
        elif "when" in names:
            form.when = True
        elif "what" in names or "anything" in names:
            form.what = True
        elif "there" in names or "polar" in names:
            form.asks = form.asks or not spoken
        elif ("list" in names and "describe" not in names) or "polite" in names:
            pass
        elif "describe" in names:
            form.describes = True
        elif not names:
            continue
        form.opened = number + 1
    for item in items:
        if "questions.how_many" in item.roles:
            form.counts = True
    return form


def _read(q: Question, items: Sequence[Item], base: float) -> Iterator[Reading]:
    form = form_of(q, items)
    if form.describes or form.where or form.when:
        return
    spoken = [item for item in items if item.kind in ("name", "noun", "date", "text")]
    if not spoken:
        return
    items = unknown_names(q, items)
    spoken = [item for item in items if item.kind in ("name", "noun", "date", "text")]
    q.numbers = [item for item in items if item.kind == "number"]
    taken = {at for item in items for at in range(item.first, item.last)}
    free = [
        at
        for at, word in enumerate(q.words)
        if at not in taken and word not in q.language.stop and word not in POSSESSIVE and len(word) > 1
    ]
    for state, rest, head in heads(q, items, form, spoken, base):
        states = [state]
        previous = head
        for item in rest:
            check()
            flags = flags_of(items, previous, item)
            grown = [
                new for one in states for new in attach(q, one, item, items, flags, free, form, previous)
            ]
            grown += [
                replace(one, score=one.score - DROPPED - max(item.score, 0.0) - (item.value == "unknown"))
                for one in states
            ]
            states = best_of(grown, BEAM)
            previous = item
            if not states:
                break
        for one in states:
            yield from finished(q, one, items, free, form, head)


POSSESSIVE = frozenset({"s"})


def unknown_names(q: Question, items: Sequence[Item]) -> tuple[Item, ...]:
    """The items with runs of capitalised words that name nothing known as texts."""
    if q.language.raw["capitals"] != "names":
        return tuple(items)
    taken = {at for item in items for at in range(item.first, item.last)}
    capitals = {
        at
        for chunk in q.heard.chunks
        if chunk.capital and not chunk.opens
        for at in range(chunk.first, chunk.last)
    }
    free = sorted(
        at for at in capitals - taken if q.words[at] not in q.language.stop and len(q.words[at]) > 1
    )
    added: list[Item] = []
    for at in free:
        if added and added[-1].last == at:
            last = added[-1]
            added[-1] = replace(last, last=at + 1, text=f"{last.text} {q.words[at]}")
        else:
            added.append(Item(at, at + 1, "text", -0.4, q.words[at], value="unknown"))
    return tuple(sorted((*items, *added), key=lambda one: one.first))


def best_of(states: Sequence[State], most: int) -> list[State]:
    return sorted(states, key=lambda s: -s.score)[:most]


def heads(
    q: Question, items: Sequence[Item], form: Form, spoken: Sequence[Item], base: float
) -> Iterator[tuple[State, list[Item], Item | None]]:
    """What may be asked for, with the items that remain."""

    def started(meaning: Meaning, score: float) -> State:
        return State((meaning,), (), frozenset(), base + score - meaning.cost, (0,))

    nouns = [item for item in spoken if item.kind == "noun"]
    asks_for = [one for one in items if one.roles & OPENERS]
    if asks_for:
        behind = [noun for noun in nouns if noun.first >= asks_for[-1].last]
        nouns = [*behind, *(noun for noun in nouns if noun not in behind)]
        if behind and not form.asks and not form.who:
            opener = asks_for[-1]
            form = replace(form, opened=items.index(opener) + 1)
    direct = form.opened and nouns and opened_by(q, items[form.opened - 1], nouns[0])
    if form.who:
        actor = generic(q.world, q.ways, "Actor")
        first = nouns[0] if nouns else None
        if first is not None and _is_said_to_be(q, items, first):
            for meaning in first.meanings:
                if meaning.target is not None:
                    yield started(meaning, 0.2), [item for item in spoken if item is not first], first
        if actor is not None:
            yield started(actor, 0.0), list(spoken), None
        return
    if form.asks:
        for first in spoken[:2]:
            if first.kind == "noun":
                for meaning in first.meanings:
                    yield started(meaning, 0.1), [item for item in spoken if item is not first], first
            elif first.kind == "name":
                for meaning in first.meanings[:3]:
                    yield started(meaning, 0.0), [item for item in spoken if item is not first], first
        return
    head_nouns = nouns[:2]
    for place, first in enumerate(head_nouns):
        for meaning in first.meanings[:4]:
            score = (0.8 if direct else 0.3) if not place else -0.3
            yield started(meaning, score), [item for item in spoken if item is not first], first
    if form.what and not form.kind and not direct:
        works = works_of(q)
        for meaning in works:
            yield started(meaning, 0.1), list(spoken), None
        for name, cost in (("Thing", 0.4), ("Concept", 0.6), ("Actor", 0.7), ("Event", 0.7), ("Place", 0.7)):
            meaning = generic(q.world, q.ways, name, cost)
            if meaning is not None:
                yield started(meaning, 0.0), list(spoken), None


def works_of(q: Question) -> list[Meaning]:
    """What "what" means by itself: works, as the data has them."""
    found = []
    for match in q.release[SixLanguages].kinds.at(("work",), "en"):
        if match.generic:
            meaning = meaning_of(q.world, q.ways, match)
            if meaning is not None:
                found.append(meaning)
    return found[:1]


OPENERS = {"questions.what", "questions.how_many", "questions.kind", "questions.list", "questions.there"}


def opened_by(q: Question, opener: Item, noun: Item) -> bool:
    """Whether a noun stands right behind what opens the question: "which *works*"; small words but verbs may be between."""
    verbs = {word for role in ("be", "have", "do") for word in q.language.roles[f"verbs.{role}"]}
    between = q.words[opener.last : noun.first]
    return all(word in q.language.stop and word not in verbs for word in between)


def _is_said_to_be(q: Question, items: Sequence[Item], noun: Item) -> bool:
    """ "Who are the donors": only small words stand between."""
    return all(word in q.language.stop for word in q.words[1 : noun.first])


FLAGS = {"operators.or", "operators.and", "operators.both", "operators.either"}


def flags_of(items: Sequence[Item], previous: Item | None, item: Item) -> dict[str, Item]:
    """Operators between the item before and this one."""
    low = previous.last if previous is not None else 0
    if previous is not None and previous.first > item.first:
        low = 0
    return {role: one for one in items if low <= one.first and one.last <= item.first for role in one.roles}


def number_before(items: Sequence[Item], item: Item, low: int) -> int | None:
    for one in items:
        if (
            one.kind == "number"
            and low <= one.first
            and one.last <= item.first
            and isinstance(one.value, int)
        ):
            return one.value
    return None


def attach(
    q: Question,
    state: State,
    item: Item,
    items: Sequence[Item],
    flags: Mapping[str, Item],
    free: Sequence[int],
    form: Form,
    previous: Item | None,
) -> Iterator[State]:
    """The reading with one more item, tied to what is asked for or to the noun before it."""
    if item.kind == "date":
        yield from attach_date(q, state, item, flags, free, previous)
        return
    if item.kind == "text":
        between = frozenset(at for at in free if abs(at - item.first) <= 6)
        tie = Tie(None, text=item.text, negated="operators.not" in flags)
        if item.value == "unknown":
            yield replace(state, ties=(*state.ties, (0, tie)), score=state.score - 0.5 * len(item), weak=True)
            return
        yield replace(
            state, ties=(*state.ties, (0, tie)), covered=state.covered | between, score=state.score + 0.6
        )
        return
    negated = any(role in flags for role in ("operators.not", "operators.without", "operators.neither"))
    excepted = "operators.except" in flags
    low = previous.last if previous is not None else 0
    number = number_before(items, item, low)
    for meaning in item.meanings[:4]:
        for parent in dict.fromkeys((0, state.spine[-1])):
            near = state.meanings[parent]
            if excepted and meaning.named:
                inside = np.intersect1d(near.nodes, meaning.nodes)
                if len(inside):
                    graph = q.release[Graph]
                    iris = tuple(graph.iri(int(n)) for n in inside)
                    yield replace(
                        state,
                        meanings=(*state.meanings, replace(meaning, iris=iris)),
                        ties=(*state.ties, (parent, Tie(None, len(state.meanings), True, among=True))),
                        score=state.score + 0.8 - meaning.cost,
                    )
                    continue
            if not meaning.named and meaning.target is not None and is_kind_of(q, near, meaning):
                gain = 0.45 if excepted or just_is(q, item, previous) else -0.6
                yield replace(
                    state,
                    meanings=(*state.meanings, meaning),
                    ties=(*state.ties, (parent, Tie(None, len(state.meanings), negated or excepted))),
                    score=state.score + gain - meaning.cost - (0.15 if parent else 0.0),
                )
            for gained, edge, covered in edges_between(q, near, meaning, state, item, free):
                number_ = len(state.meanings)
                tie = Tie(edge, number_, negated or excepted, said=bool(covered))
                score = state.score + gained - meaning.cost - (0.15 if parent else 0.0)
                grown = replace(
                    state,
                    meanings=(*state.meanings, meaning),
                    covered=state.covered | covered,
                    score=score,
                    weak=state.weak,
                    spine=(*state.spine, number_) if not meaning.named else state.spine,
                )
                made = computed(q, grown, parent, tie, flags, number, meaning)
                if made is not None:
                    yield made


def is_kind_of(q: Question, near: Meaning, far: Meaning) -> bool:
    """Whether some but not all of what stands for the one are of the other kind."""
    both = len(np.intersect1d(near.nodes, far.nodes, assume_unique=True))
    return 0 < both < len(near.nodes)


def just_is(q: Question, item: Item, previous: Item | None) -> bool:
    """Whether nothing but "is" and small words that name no place stand between two nouns."""
    low = previous.last if previous is not None else 0
    if previous is not None and (previous.last == item.first or item.last == previous.first):
        return True
    places = (
        q.language.roles["prepositions.place"]
        | q.language.roles["prepositions.agent"]
        | q.language.roles["prepositions.of"]
    )
    words = q.words[low : item.first]
    return bool(words) and all(word in q.language.stop and word not in places for word in words)


def computed(
    q: Question,
    state: State,
    parent: int,
    tie: Tie,
    flags: Mapping[str, Item],
    number: int | None,
    meaning: Meaning,
) -> State | None:
    """The tie as a condition, or as what operators make of it: a ranking, a group, a comparison of counts."""
    assert tie.edge is not None
    to = (
        Anchor()
        if meaning.any
        else Anchor(types=meaning.target.types)
        if meaning.target is not None and meaning.target.types
        else (
            Anchor(plan=Plan(target=meaning.target))
            if meaning.target is not None
            else Anchor(iris=meaning.iris)
        )
    )
    first = number if number is not None else 1
    if (
        "operators.and" in flags
        and state.ties
        and state.ties[-1][0] == parent
        and state.ties[-1][1].edge == tie.edge
    ):
        state = replace(state, score=state.score + 0.6)
    if parent == 0 and state.compute is None and not meaning.named:
        for role, ascending in (("operators.most", False), ("operators.fewest", True)):
            if role in flags:
                measure = Measure(kind="count", way=tie.edge.way, to=to)
                return replace(
                    state,
                    compute=Compute(kind="rank", measure=measure, first=first, ascending=ascending),
                    score=state.score + 0.5,
                    group=tie.child,
                )
        if (
            "operators.per" in flags
            or "operators.breakdown" in flags
            or ("operators.every" in flags and "operators.per" in flags)
        ):
            return replace(
                state,
                compute=Compute(kind="group", way=tie.edge.way, to=to),
                score=state.score + 0.5,
                group=tie.child,
            )
        least = None
        if number is not None:
            if "operators.at_least" in flags or "operators.or_more" in flags:
                least = number
            elif "operators.more_than" in flags:
                least = number + 1
        if least is not None:
            measure = Measure(kind="count", way=tie.edge.way, to=to)
            return replace(
                state,
                compute=Compute(kind="rank", measure=measure, at_least=least),
                score=state.score + 0.5,
                group=tie.child,
            )
    return replace(state, ties=(*state.ties, (parent, tie)))


def edges_between(
    q: Question, near: Meaning, far: Meaning, state: State, item: Item, free: Sequence[int]
) -> list[tuple[float, Edge, frozenset[int]]]:
    """The best ways from one node to another that the graph holds, with what each gains and which words it says."""
    found = []
    for gain, edge, says in candidates(q, near, far, item, free):
        covered = says - state.covered
        again = says & state.covered
        total = gain + sum(nearness(q, at, item) for at in covered) + 0.25 * len(again)
        if not says:
            total -= ANY + (0.3 if far.any else 0.0)
        found.append((total, edge, covered))
    found.sort(key=lambda one: -one[0])
    return found[:EDGES]


def candidates(
    q: Question, near: Meaning, far: Meaning, item: Item, free: Sequence[int]
) -> list[tuple[float, Edge, frozenset[int]]]:
    """Ways that the graph holds between two nodes, each with what speaks for it, its words apart, and those words."""
    key = (near.key(), far.key(), item.first, tuple(free))
    known = q.candidates.get(key)
    if known is not None:
        return known
    head_stems = near_stems(q, near)
    agent, place, about = preposition(q, item)
    actor = far.category == int(Category.Actor)
    scored = []
    stems = [(at, q.stems[at]) for at in free]
    for edge in q.ways.edges(near.signatures, far.signatures, q.language.code):
        says = frozenset(at for at, stem in stems if stem in edge.stems or stem in edge.ends)
        gain = -edge.cost
        if edge.ends and not head_stems.isdisjoint(edge.ends):
            gain += 0.7
        if not far.named and not item.stems.isdisjoint(edge.stems):
            gain += 0.5
        last = edge.plain_last
        if agent and (actor or (not far.named and edge.far & ACTOR)):
            gain += 0.5 if last in AGENT and not edge.relation.startswith("^") else -0.4
        if place:
            if last in PLACE:
                gain += 0.35
            elif last in AROUND or edge.relation in TURNED:
                gain -= 0.6
        if about and last in ABOUT:
            gain += 0.3
        scored.append((gain + (0.9 * len(says) if says else -ANY), gain, edge, says))
    scored.sort(key=lambda one: (-one[0], len(one[2].name), one[2].name))
    found: list[tuple[float, Edge, frozenset[int]]] = []
    heads = q.world.mask(near.nodes)
    for tried, (_, gain, edge, says) in enumerate(scored):
        if len(found) >= KEPT_EDGES or tried >= TRIES + 2 * len(found):
            break
        check()
        share = held(q, edge, near, far, heads)
        if share:
            found.append((gain + 0.15 * share, edge, says))
    q.candidates[key] = found
    return found


ACTOR = int(Category.Actor)
TURNED = ("has_part", "^part_of", "^located_in", "^falls_within")
KEPT_EDGES = 9


def held(q: Question, edge: Edge, near: Meaning, far: Meaning, heads: Mask) -> float:
    """The share of the heads that lead by an edge to the ends; 0 where none does."""
    key = (id(q.world), edge.name, near.key(), far.key())
    known = EXISTS.get(key)
    if known is None:
        try:
            known = float(q.ways.leads(edge, heads, far.nodes).sum()) / max(len(near.nodes), 1)
        except QuestionError:
            known = 0.0
        if len(EXISTS) > 20_000:
            EXISTS.clear()
        EXISTS[key] = known
    return known


EXISTS: dict[object, float] = {}


def near_stems(q: Question, near: Meaning) -> frozenset[str]:
    """Stems of the noun that stands for a node of the reading."""
    for item in q.items:
        if item.kind == "noun" and any(one is near for one in item.meanings):
            return item.stems
    return frozenset()


def nearness(q: Question, at: int, item: Item) -> float:
    """How much a word counts for an item by where it stands."""
    between = min(abs(item.first - at), abs(at - item.last + 1))
    return 1.0 if between <= 4 else 0.8


AGENT = {"P14", "P11", "P94", "P22", "P23", "P28", "P29", "P52", "P51", "P49", "P16", "^P14i", "P14i"}
PLACE = {
    "P7",
    "P55",
    "P53",
    "P54",
    "P89",
    "P74",
    "P8",
    "P27",
    "P26",
    "P46i",
    "^P46",
    "P161",
    "P59i",
    "^P59",
    "P106i",
    "^P106",
}
AROUND = {"P46", "^P46i", "P106", "P148", "^P89", "P89i", "^P55", "^P53"}
ABOUT = {"P129", "P62", "P138", "P67", "P65"}


def preposition(q: Question, item: Item) -> tuple[bool, bool, bool]:
    """Whether the small word before an item says by whom, where, or about what."""
    at = item.first - 1
    roles = q.language.roles
    known = [roles[f"prepositions.{role}"] for role in ("agent", "place", "about", "of")]
    while (
        at >= 0
        and q.words[at] in q.language.stop
        and item.first - at <= 3
        and not any(q.words[at] in one for one in known)
    ):
        at -= 1
    if at < 0:
        return False, False, False
    word = q.words[at]
    agent = word in known[0] and word not in known[1]
    return agent, word in known[1], word in known[2] and word not in known[3] and word not in known[1]


def attach_date(
    q: Question,
    state: State,
    item: Item,
    flags: Mapping[str, Item],
    free: Sequence[int],
    previous: Item | None,
) -> Iterator[State]:
    assert isinstance(item.value, Interval)
    period = item.value
    negated = "operators.not" in flags
    for parent in dict.fromkeys((0, state.spine[-1])):
        near = state.meanings[parent]
        scored = []
        for edge in q.ways.dates(near.signatures, q.language.code):
            covered = frozenset(at for at in free if at not in state.covered and q.stems[at] in edge.stems)
            again = frozenset(at for at in free if at in state.covered and q.stems[at] in edge.stems)
            gain = sum(nearness(q, at, item) for at in covered) + 0.8 * len(again) - edge.cost
            if not covered and not again:
                gain -= 0.2
            scored.append((gain, edge, covered))
        scored.sort(key=lambda one: (-one[0], len(one[1].name)))
        kept = 0
        for gain, edge, covered in scored[:8]:
            key = (edge.name, near.key(), "date")
            if (id(q.world), key) not in EXISTS:
                EXISTS[id(q.world), key] = float(dated(q, edge, near))
            if not EXISTS[id(q.world), key]:
                continue
            kept += 1
            tie = Tie(edge, negated=negated, period=period, said=bool(covered))
            yield replace(
                state,
                ties=(*state.ties, (parent, tie)),
                covered=state.covered | covered,
                score=state.score + 0.6 + gain - (0.15 if parent else 0.0),
            )
            if kept >= 4:
                break


def dated(q: Question, edge: Edge, near: Meaning) -> bool:
    plan = Plan(
        target=near.target or Target(),
        where=(Dated(way=edge.way, certain=False, begin=-4_000_000, end=4_000_000),),
    )
    try:
        return bool(len(members_of(q.world, plan)))
    except QuestionError:
        return False


# plans


def finished(
    q: Question, state: State, items: Sequence[Item], free: Sequence[int], form: Form, head: Item | None
) -> Iterator[Reading]:
    left = [at for at in free if at not in state.covered]
    asked_meaning = state.meanings[0]
    compute = state.compute
    score = state.score
    ops = {role: item for item in items for role in item.roles}
    target = asked_meaning.target or Target()
    where: list[Constraint] = list(conditions(q, state, 0))
    if asked_meaning.named:
        where.insert(0, Among(iris=asked_meaning.iris))
    if asked_meaning.role == "maker" and not any(
        isinstance(one, Related) and "created_by" in one.way.relations for one in where
    ):
        where.append(Related(way=Way(relations=("created_by",), inverse=True)))
    if compute is None and not form.counts:
        ranked = ranking(q, state, ops, items, head)
        if ranked is not None:
            compute, gained = ranked
            score += gained
    units = {"operators.per", "operators.breakdown"} & ops.keys()
    if compute is None and units:
        unit = time_unit(q)
        if unit:
            edge = next(iter(best_dates(q, asked_meaning, free)), None)
            if edge is not None:
                compute = Compute(kind="group", way=edge.way, by=unit)
                left = [at for at in left if q.words[at] not in unit_words(q)]
                score += 0.5
    if compute is None:
        compute = Compute(kind="count" if form.counts else "ask" if form.asks else "list")
    empty = q.language.roles["verbs.empty"]
    score -= sum(0.3 if q.words[at] in empty else UNCOVERED for at in left)
    plan = Plan(target=target, where=tuple(where), compute=compute)
    if compute.kind in ("list", "count") and not where and asked_meaning.any:
        score -= 1.0
    yield Reading(plan, score, tuple(q.words[at] for at in left), state.weak)


def unit_words(q: Question) -> frozenset[str]:
    time = q.language.raw["time"]
    return frozenset(fold(word) for unit in ("year", "decade", "century") for word in time[unit])


def time_unit(q: Question) -> str:
    time = q.language.raw["time"]
    for unit in ("century", "decade", "year"):
        if set(q.words) & set(map(fold, time[unit])):
            return unit
    return ""


def best_dates(q: Question, near: Meaning, free: Sequence[int]) -> list[Edge]:
    scored = []
    for edge in q.ways.dates(near.signatures, q.language.code):
        covered = sum(q.stems[at] in edge.stems for at in range(len(q.words)))
        scored.append((covered - edge.cost, edge))
    scored.sort(key=lambda one: (-one[0], len(one[1].name)))
    return [edge for _, edge in scored[:8] if dated(q, edge, near)][:2]


def ranking(
    q: Question, state: State, ops: Mapping[str, Item], items: Sequence[Item], head: Item | None
) -> tuple[Compute, float] | None:
    """What superlatives without a counted noun make of a list."""
    near = state.meanings[0]
    for role, kind, ascending in (
        ("operators.earliest", "earliest", True),
        ("operators.latest", "latest", False),
    ):
        if role in ops:
            first = number_near(items, ops[role], head, near)
            edges = best_dates(q, near, ())
            if edges:
                measure = Measure(kind=kind, way=edges[0].way)  # type: ignore[arg-type]
                return Compute(kind="rank", measure=measure, first=first, ascending=ascending), 0.4
    for role, ascending in (("operators.highest", False), ("operators.lowest", True)):
        if role in ops:
            first = number_near(items, ops[role], head, near)
            word = ops[role].text
            for name, words in q.language.raw["operators"]["measures"].items():
                if any(q.language.stem(word).startswith(q.language.stem(one)[:4]) for one in words):
                    ids = [name] if name != "any" else ["height", "length", "width"]
                    for id in ids:
                        way = Way(relations=(id,))
                        measure = Measure(kind="value", way=way)
                        return Compute(kind="rank", measure=measure, first=first, ascending=ascending), 0.3
    for role, ascending in (("operators.most", False), ("operators.fewest", True)):
        if role in ops:
            first = number_near(items, ops[role], head, near)
            thing = generic(q.world, q.ways, "Thing")
            if thing is None:
                return None
            pseudo = Item(len(q.words), len(q.words), "noun", 0.0)
            found = edges_between(
                q,
                near,
                thing,
                replace(state, covered=frozenset()),
                pseudo,
                [at for at in range(len(q.words)) if q.words[at] not in q.language.stop],
            )
            if found:
                measure = Measure(kind="count", way=found[0][1].way, to=Anchor())
                return Compute(kind="rank", measure=measure, first=first, ascending=ascending), 0.1 + max(
                    found[0][0], 0
                ) * 0.3
    return None


def number_near(items: Sequence[Item], op: Item, head: Item | None, near: Meaning) -> int:
    for one in items:
        if one.kind == "number" and isinstance(one.value, int) and abs(one.first - op.first) <= 2:
            return one.value
    return 1


def conditions(q: Question, state: State, node: int) -> Iterator[Constraint]:
    for parent, tie in state.ties:
        if parent != node:
            continue
        if tie.among:
            yield Among(iris=state.meanings[tie.child].iris, negated=tie.negated)
            continue
        if tie.text:
            yield Texted(texts=(tie.text,), whole=True, negated=tie.negated)
            continue
        if tie.edge is None:
            kind = state.meanings[tie.child]
            inner = tuple(conditions(q, state, tie.child))
            yield Member(plan=Plan(target=kind.target or Target(), where=inner), negated=tie.negated)
            continue
        if tie.period is not None:
            yield Dated(way=tie.edge.way, begin=tie.period.begin, end=tie.period.end, negated=tie.negated)
            continue
        child = state.meanings[tie.child]
        inner = tuple(conditions(q, state, tie.child))
        if child.named and not inner:
            to = Anchor(iris=child.iris)
        elif child.any and not inner:
            to = (
                Anchor(plan=Plan(target=child.target))
                if child.target and not covers(q, tie.edge, child)
                else Anchor()
            )
        elif child.target is not None and child.target.types and not inner:
            to = Anchor(types=child.target.types)
        else:
            where = (Among(iris=child.iris), *inner) if child.named else inner
            to = Anchor(plan=Plan(target=child.target or Target(), where=where))
        yield Related(way=tie.edge.way, to=to, negated=tie.negated)


def covers(q: Question, edge: Edge, child: Meaning) -> bool:
    """Whether a way leads to such things only, so that naming them says no more than the way."""
    return bool(edge.relation) and not edge.relation.startswith("^")
