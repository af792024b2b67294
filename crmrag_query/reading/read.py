"""From a question to plans, best first, and whether the best is sure.

Questions for a property of each thing of a kind ("the birthplace of an artist", "each painting with its maker") ask for a
table: a row for each thing and each of what is asked of it.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, cast

import numpy as np
from pydantic import ValidationError

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_SUSPECT, Ints, united
from crmrag_query.graph.graph import Graph
from crmrag_query.language import Language, language
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import Outcome, dated, results
from crmrag_query.plans.records import (
    Among,
    Anchor,
    Column,
    Compute,
    Constraint,
    Dated,
    Either,
    Measure,
    Member,
    Plan,
    Related,
    Target,
    Texted,
    Way,
    flattened,
    parts_of,
    ways_of,
    with_ways,
)
from crmrag_query.plans.world import LOCATED, OWNED, OWNED_BEFORE, WHERE_NOW, World
from crmrag_query.questions.form import Analysis
from crmrag_query.questions.lexicon import asked
from crmrag_query.reading.cut import DETERMINING, MEANT, PER
from crmrag_query.reading.grammar import (
    UNASKED,
    Grammar,
    Reading,
    second_question,
    with_titles,
)
from crmrag_query.reading.items import analysed, cut, items_of, joined
from crmrag_query.reading.lexicon import (
    ACTIVE,
    MADE_SOMETHING,
    Lexicon,
    PhraseSpan,
    entities_of,
    relation_spans,
    unqualified,
    verbs,
    vocabulary,
)
from crmrag_query.reading.records import LASTING, NEGATIONS, Antecedent, Doubt, Item, Meaning, Why, as_list
from crmrag_query.reading.ties import Tie, Ties
from crmrag_query.text import fold, positions
from crmrag_query.timing import check

ASKING = {"questions.who": "Actor", "questions.where": "Place", "questions.when": "Time"}
"""What question words ask for, as the range of a relation."""


@dataclass(frozen=True)
class Tables:
    """A question whose words are looked through for columns."""

    world: World
    ties: Ties
    own: Language
    words: Sequence[str]
    items: Sequence[Item]
    sized: Callable[[str, Meaning], tuple[Way, bool] | None]
    """How things lead to the dimension of a name; see `Numbers.sized`."""

    def plan(self) -> Plan | None:
        """The table that a question asks for, all of whose words it says; None where it asks for none."""
        names = [item for item in self.items if item.sort == "name" and not item.refers]
        if not all(item.whole for item in names):
            return None
        if any(item.sort in ("date", "text") or item.refers or item.roles & OTHERWISE for item in self.items):
            return None
        if len(names) == 2 and (chosen := self._either(names)) is not None:
            return chosen
        if len(names) == 1 and (told := self._of_named(names[0])) is not None:
            return told
        if names:
            return None
        nouns = [item for item in self.items if item.sort == "noun" and item.meanings]
        spans = [span for span in self._spans() if len(span) >= 1]
        for noun in nouns:
            meaning = noun.meanings[0]
            if not (meaning.generic or meaning.target is not None):
                continue
            before = self._before(noun, meaning, spans)
            columns = before or self._behind(noun, meaning, spans)
            if columns:
                return self._table(meaning, columns)
        return None

    def _of_named(self, name: Item) -> Plan | None:
        """A table by "the S of the T of X", X a thing that is named: the birthplace of the creator of a painting."""
        meaning = name.meanings[0]
        columns = self._chain(name, meaning, self._links())
        if len(columns) < 2:
            return None
        return Plan(where=(Among(iris=meaning.iris),), compute=Compute(kind="table", columns=columns))

    def _either(self, names: Sequence[Item]) -> Plan | None:
        """Which of two that are named has more, or comes first or last: "who was born first, X or Y?"."""
        between = self.words[names[0].last : names[1].first]
        if not any(word in self.own.roles["operators.or"] for word in between):
            return None
        both = [one.meanings[0] for one in names]
        iris = (*both[0].iris, *both[1].iris)
        nodes = united(both[0].nodes, both[1].nodes)
        near = Meaning(nodes, iris=iris, category=both[0].category | both[1].category)
        said = self.own.roles_within(self.words)
        stems = frozenset(map(self.own.stem, self.words))
        measure, ascending = None, False
        if said & {"operators.earlier", "operators.later", "operators.earliest", "operators.latest"}:
            ascending = bool(said & {"operators.earlier", "operators.earliest"})
            dates = self.ties.dates(near, self.own.code)
            if dates:
                tie = min(dates, key=lambda one: (-len(stems & (one.stems | one.ends)), one.cost, one.key))
                measure = Measure(kind="earliest" if ascending else "latest", way=tie.way)
        elif said & {"operators.more", "operators.most"}:
            noun = next((item for item in self.items if item.sort == "noun" and item.meanings), None)
            if noun is not None:
                ties = self.ties.between(near, noun.meanings[0], self.own.code, frozenset())

                def fitting(one: Tie) -> tuple[int, float, str]:
                    return -len(stems & (one.stems | one.ends | one.starts)), one.cost, one.key

                if ties:
                    counted = Anchor(plan=Plan(target=noun.meanings[0].target or Target()))
                    measure = Measure(kind="count", way=min(ties, key=fitting).way, to=counted)
        elif (size := next(filter(None, (self.own.size_of(word) for word in self.words)), "")) and (
            way := self.sized(size, near)
        ) is not None:
            measure = Measure(kind="value", way=way[0])
            ascending = any(self.own.is_small(word) for word in self.words)
        if measure is None:
            return None
        rank = Compute(kind="rank", measure=measure, first=1, ascending=ascending)
        return Plan(where=(Among(iris=iris),), compute=rank)

    def _links(self) -> list[PhraseSpan]:
        """Nouns for far ends, and verbs before the first of them: "which year *died* the *creator* of …"."""
        timed = self.own.roles["time.year"] | self.own.roles["time.date"]
        ends = [span for span in self._spans() if not timed.issuperset(self.words[span.first : span.last])]
        first = ends[0].first if ends else len(self.words)
        verbs = [
            span
            for span in relation_spans(self.own.code, self.words)
            if span.role == "forward" and span.last <= first
        ]
        return [*verbs[:1], *ends]

    def _table(self, kind: Meaning, columns: tuple[Column, ...]) -> Plan:
        where: list[Constraint] = []
        ways = {id for column in columns for id in column.way.relations}
        if kind.only is not None and not ways & {"born_in", "born_on", "died_in", "died_on"}:
            where.append(kind.only)
        return Plan(
            target=kind.target or Target(), where=tuple(where), compute=Compute(kind="table", columns=columns)
        )

    def _spans(self) -> list[PhraseSpan]:
        """Nouns for the far ends of relations, the longest of those that overlap, in their order."""
        found: list[PhraseSpan] = []
        for span in sorted(relation_spans(self.own.code, self.words), key=lambda one: -len(one)):
            if span.role == "ends" and all(span.last <= one.first or one.last <= span.first for one in found):
                found.append(span)
        return sorted(found, key=lambda one: one.first)

    def _before(self, noun: Item, kind: Meaning, spans: Sequence[PhraseSpan]) -> tuple[Column, ...]:
        """Columns by "the S of the T of an X": each of what the one behind it leads to."""
        each = self.own.roles["operators.each"] | self.own.roles["operators.indefinite"]
        if not noun.first or self.words[noun.first - 1] not in each:
            return ()
        if not self._is_small(range(noun.last, len(self.words)), (), set()):
            return ()
        return self._chain(noun, kind, spans)

    def _chain(self, noun: Item, kind: Meaning, spans: Sequence[PhraseSpan]) -> tuple[Column, ...]:
        """Columns by nouns one behind the other, from the last one on; none where other words stand between."""
        links = [span for span in spans if span.last <= noun.first]
        held = positions(links)
        if not links or not self._is_small(range(links[0].first), range(links[0].first, noun.first), held):
            return ()
        columns: list[Column] = []
        timed = self.own.roles["time.year"] | self.own.roles["time.date"] | self.own.roles["questions.when"]
        wanted = "Time" if not timed.isdisjoint(self.words) else ""
        categories = kind.category
        for link in reversed(links):
            chosen = self._relation(link, categories, wanted if link.role == "forward" else "")
            if chosen is None:
                return ()
            columns.append(Column(way=Way(relations=(chosen,)), of=len(columns) - 1 if columns else None))
            categories = sum(int(Category[name]) for name in self.world.relations[chosen].range) or int(
                Category.Thing
            )
        return tuple(columns)

    def _behind(self, noun: Item, kind: Meaning, spans: Sequence[PhraseSpan]) -> tuple[Column, ...]:
        """Columns by "X with their S (and T)" and "X and who made them"."""
        if not self._is_small(range(noun.first), (), set()):
            return ()
        at = noun.last
        own = self.own.roles["pronouns.own"] | self.own.roles["pronouns.many"]
        rest = self.words[at:]
        if not any(word in own for word in rest):
            return ()
        columns = [
            Column(way=Way(relations=(chosen,)))
            for span in spans
            if span.first >= at and (chosen := self._relation(span, kind.category)) is not None
        ]
        held: Collection[int] = positions(span for span in spans if span.first >= at)
        if any(
            word in self.own.roles["prepositions.of"]
            for i, word in enumerate(self.words)
            if i > at and i not in held
        ):
            return ()  # "with their makers and the birthplaces of these"
        if not columns:
            columns, held = self._asked_again(at, kind)
        return tuple(columns) if columns and self._is_small((), range(at, len(self.words)), held) else ()

    def _asked_again(self, at: int, kind: Meaning) -> tuple[list[Column], set[int]]:
        """Columns by question words behind a noun: "and *who* made them", "and *where* they were made"."""
        columns, held = list[Column](), set[int]()
        for item in (one for one in self.items if one.sort == "op" and one.first >= at):
            wanted = next((ASKING[role] for role in item.roles if role in ASKING), None)
            if wanted is None:
                continue
            for span in relation_spans(self.own.code, self.words):
                if span.role == "forward" and span.first >= item.last:
                    chosen = self._relation(span, kind.category, wanted)
                    if chosen is not None:
                        columns.append(Column(way=Way(relations=(chosen,))))
                        held.update(range(span.first, span.last), range(item.first, item.last))
                        break
        return columns, held

    def _relation(self, span: PhraseSpan, categories: int, wanted: str = "") -> str | None:
        """The first relation of a phrase that leads from things of these categories, and that the data states."""
        for id in span.relations:
            relation = self.world.relations.get(id)
            if relation is None or not categories & sum(int(Category[name]) for name in relation.domain):
                continue
            if wanted and not (wanted in relation.range or (wanted == "Time" and relation.value == "date")):
                continue
            if self.ties.reach(id)[0]:
                return id
        return None

    def _is_small(self, opening: Sequence[int], between: Sequence[int], held: Collection[int]) -> bool:
        """Whether all words are small ones, or held, and those of the opening no more than a request."""
        asking = positions(
            item
            for item in self.items
            if item.sort == "op"
            if any(role.startswith("questions.") for role in item.roles) or item.roles & SMALL
        )
        small = self.own.stop | self.own.roles["time.year"] | self.own.roles["time.date"]
        places = [*opening, *(at for at in between if at not in held)]
        return all(self.words[at] in small or at in asking for at in places)


OTHERWISE = frozenset({
    "operators.pairs", "operators.same", "operators.not", "operators.without", "operators.except", "questions.how_many",
    "operators.per",
})  # fmt: skip
"""Small words by which something else than a table is asked for."""
SMALL = frozenset({"operators.each", "operators.indefinite", "operators.and", "whole"})


CUTS = 14  # ways to cut a question into items that are read
EXECUTED = 24  # readings of which the sets are looked at
EMPTY, NO = 2.0, 0.6
"""What a reading loses that gives nothing, and one by which the answer is "no", in points. How many there are is asked of
what is there: of 200 questions for numbers and tables, eleven best readings were empty, and none of these was right."""
WALKED, FARTHER, UNKIND, LOOSE = 0.35, 0.4, 0.7, 1.1
"""What a reading loses for what it is as a whole, in points. Each walk that no relation says (WALKED), each step of it but
the first (FARTHER), a category in place of a kind (UNKIND) and words without an object (LOOSE) are seldom meant. Fitted on
the development questions of eleven data sets by `benchmarks/fit_reading.py`, which tells what they bring to one left out."""
ALONE, SEVERAL = 1.0, 1.5
"""What a reading loses, in points, that counts by what nearly each thing has of its own, and of how many things a group has
more than one; ours."""
MARGIN, CLOSE, FOUND = 0.6, 0.2, 1.2
"""Points below the best reading within which all others must give the same for it to be sure; those that are not whole
themselves, or give nothing, within the second. A "no" must be alone within the first, whatever the others are; and one that
goes a way which was found in the data, and that no relation says, within the third."""
COMPARE = "operators.compare"
TABLES = 5  # of these that are looked through for a table, which is the reading where it says all words
HOPELESS = 2.0  # points below the best reading beyond which no set is looked at
GUESSED: frozenset[Why] = frozenset({"no word for", "without an object"})
"""Doubts by which no word says what ties the things of a question, or what they are tied to."""
LIKELY: frozenset[Why] = frozenset(
    {
        "no word for",
        "part of a name",
        "vague",
        "one date or another",
        "several units",
        "which size",
        "including",
        "a kind or one of it",
    }
)
"""Doubts that leave a reading more likely right than wrong: over the 333 set questions of fourteen fields, of what says every
word 43 of 71 with none but these were right, 11 of 51 with any other."""
CHOICES = 3  # other readings that are offered where none is sure


@dataclass(frozen=True)
class Parsed:
    """What a question was understood to ask.

    ``plan`` None: nothing that can be executed; ``others``: the next best readings, each with another result; ``score``:
    points of the best; ``certain``: every content word is said by it, and all readings within the margin give the same;
    ``unknown``: words that it does not say; ``left_out``: nouns that it leaves out; ``negations``: words that deny something,
    which it does not; ``unsaid``: these and other small words that it does not say, "largest"; ``unnamed``: names that
    nothing in the data has; ``partly``: words that are but a part of the names that it ties; ``absent``: relations (ids) that
    words ask for and that the data states of nothing; ``named``: names that it ties; ``guessed``: no word says by what it
    ties them, or to what; ``firm``: its doubts are such that it is more likely meant than not; ``sort``: the order that was
    asked for; ``empty``: the plan gives nothing.
    """

    plan: Plan | None
    score: float = 0.0
    certain: bool = False
    unknown: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    partly: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    named: frozenset[str] = frozenset()
    guessed: bool = False
    firm: bool = False
    notes: tuple[str, ...] = ()
    others: tuple[Plan, ...] = ()
    sort: Literal["", "label", "date"] = ""
    language: str = "en"
    empty: bool = False

    @property
    def likely(self) -> bool:
        """Whether it says every word and is more likely meant than not."""
        return self.firm and not self.unknown

    @property
    def runner_up(self) -> Plan | None:
        """The next best reading."""
        return self.others[0] if self.others else None


def parse(release: Release, analysis: Analysis, earlier: Antecedent | None = None) -> Parsed:
    """The plan of an analysed question; ``earlier``: what "them" and "it" stand for. Never fails on any text.

    Raises Stopped alone: reading takes time with what the words of a question may mean.
    """
    found = readings(release, analysis, earlier)
    if not found:
        return Parsed(None, language=analysis.reading.language)
    # Of readings as likely that give the same set, one that says all without doubt is told.
    alike = (one for one in found if one.result == found[0].result and one.score >= found[0].score - MARGIN)
    best = next((one for one in alike if not one.doubt and not one.uncovered), found[0])
    best = replace(best, score=found[0].score, worded=found[0].worded)
    rivals = [one for one in found if one.result != best.result]
    denies = best.plan.compute.kind == "ask" and not best.size
    ways = [*ways_of(best.plan)]
    walked = any(
        len(path) > 1 or one.then is not None for one in ways if not _is_dimension(one) for path in one.paths
    )
    close = [one for one in rivals if _is_close(one, best, FOUND if walked else MARGIN if denies else CLOSE)]
    others = tuple({one.result: one.plan for one in reversed(rivals) if one.size}.values())[::-1][:CHOICES]

    roles = language(analysis.reading.language).roles
    denying = frozenset().union(*(roles[role] for role in NEGATIONS))

    def doubted(*why: Why) -> tuple[str, ...]:
        return tuple(one.of for kind in why for one in sorted(best.doubt) if one.why == kind)

    whole = not best.uncovered and not best.doubt
    # "how many different poets is that?" asks for no poets but those before
    whole &= _asks_something(best.plan) or (best.only and earlier is None)
    whole &= (earlier is not None and earlier.sure) if best.refers else not _passes_over_it(analysis, earlier)
    whole = whole and not any(doubts(release, best, analysis) for doubts in DOUBTING)
    return Parsed(
        plan=best.plan,
        score=best.score,
        certain=whole and not close and best.settled and (best.size > 0 or best.plan.compute.kind == "ask"),
        unknown=best.uncovered,
        left_out=doubted("passed over", "left open"),
        negations=tuple(one for one in doubted("not said") if denying.intersection(one.split())),
        unsaid=doubted("not said"),
        unnamed=doubted("unknown"),
        partly=doubted("part of a name"),
        absent=_absent(release, analysis, best),
        named=best.named,
        guessed=any(one.why in GUESSED for one in best.doubt),
        firm=all(one.why in LIKELY for one in best.doubt),
        others=others,
        sort=cast(Literal["", "label", "date"], best.sort),
        language=analysis.reading.language,
        empty=not best.size,
    )


def _passes_over_it(analysis: Analysis, earlier: Antecedent | None) -> bool:
    """Whether a question has a word for what went before, "how many pages does *it* have"."""
    own = language(analysis.reading.language)
    small = own.roles["pronouns.thing"] | own.roles["pronouns.person"]
    return earlier is not None and not small.isdisjoint(analysis.reading.words)


def _compares(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether it is asked of which there are *more*, and read whether there are any: "are there more bells or organs?"."""
    compares = COMPARE in language(analysis.reading.language).roles_within(analysis.reading.words)
    return compares and best.plan.compute.kind == "ask" and not best.plan.where


def _lacks_verb(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether a question begins with a preposition and has no verb: "With which telescope?" asks for that of something."""
    own, words = language(analysis.reading.language), analysis.reading.words
    first, second = (*words, "", "")[:2]
    asks = own.preposition_roles(first) and second in own.roles["questions.what"] | own.roles["questions.who"]
    small = own.auxiliaries
    saying = verbs(own.code)
    return bool(asks) and not any(word in small or own.stem(word) in saying for word in words[1:])


def _is_close(rival: Reading, best: Reading, least: float) -> bool:
    """Whether another reading is as likely as the best one, within the margin: as a whole, or by its words alone."""
    margin = least if rival.doubt or rival.uncovered or not rival.size else MARGIN
    by_words = rival.size > 0 and rival.worded + 1e-6 >= best.worded - margin
    # Of a question for yes or no, "no" is an answer like any other.
    by_words |= best.plan.compute.kind == "ask" and rival.worded > best.worded
    return by_words or rival.score + 1e-6 >= best.score - margin


def _is_merged(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether a plan rests on something that may be several things merged under one IRI: that is suspected of it, or a place
    that has many names in one language."""
    graph = release[Graph]
    iris = {iri for part in parts_of(best.plan) for iri in getattr(part, "iris", ())}
    nodes = [node for node in map(graph.node, iris) if node is not None]
    return any(graph.flags[node] & FLAG_SUSPECT or _has_many_names(graph, node) for node in nodes)


def _texts_tell_more(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether what the data writes of materials, "watercolor on ivory", gives another set than its links to a material."""
    world, own = release[World], language(analysis.reading.language)
    if MEDIUM not in world.relations or not release[Ties].reach(MEDIUM)[0]:
        return False
    return _gives_other(release, best, _by_texts_too(best.plan, release[Graph], world, own))


def _gives_other(release: Release, best: Reading, plan: Plan, even_none: bool = True) -> bool:
    """Whether another plan can be executed, and gives something else than the best reading does; nothing, if that may be."""
    if plan == best.plan:
        return False
    try:
        outcome = results(plan, release[World])
    except QuestionError:
        return False
    return (even_none or outcome.size > 0) and digest(outcome) != best.result


def _members(plan: Plan, world: World) -> Ints:
    """All of a plan, whatever is made of them."""
    return results(plan.model_copy(update={"compute": Compute()}), world).members


MEDIUM = "medium_note"


def _by_texts_too(plan: Plan, graph: Graph, world: World, own: Language) -> Plan:
    """The plan with all whose texts on materials hold a name of one, wherever it asks for what is made of that."""

    def widened(one: Constraint) -> Constraint:
        if isinstance(one, Member):
            return one.model_copy(update={"plan": _by_texts_too(one.plan, graph, world, own)})
        if not isinstance(one, Related):
            return one
        if (
            one.way.relations == ("made_of",)
            and not one.way.inverse
            and (ends := (*one.to.iris, *one.to.types))
        ):
            nodes = world.nodes_of(ends).tolist()
            names = {unqualified(label.text) for node in nodes for label in graph.labels(node)}
            names |= {form for name in names if " " not in name for form in own.forms(name)}
            if names:
                held = Plan(where=(Texted(texts=tuple(sorted(names)), whole=True),))
                text = Related(way=Way(relations=(MEDIUM,)), to=Anchor(plan=held))
                plain = one.model_copy(update={"negated": False})
                return Either(of=(plain, text), negated=one.negated)
        if one.to.plan is not None:
            inner = _by_texts_too(one.to.plan, graph, world, own)
            return one.model_copy(update={"to": one.to.model_copy(update={"plan": inner})})
        return one

    return plan.model_copy(update={"where": tuple(map(widened, plan.where))})


MANY_NAMES = 4  # of a place or group in one language, and more


def _are_told_twice(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether many of the people that a plan gives, or ranks, have the name of others of them: records of one person."""
    world, graph, plan = release[World], release[Graph], best.plan
    if plan.compute.kind not in ("list", "count", "rank"):
        return False
    members = _members(plan, world)
    people = (world.adjacency.categories[members] & int(Category.Actor)) != 0
    if not 2 * TWICE <= len(members) <= LOOKED_THROUGH or not people.all():
        return False
    again = len(members) - len({graph.label(int(node)) for node in members})
    return again >= max(TWICE, len(members) * SEVERAL_TIMES)


TWICE, SEVERAL_TIMES = 3, 0.1
"""How many of a name that others have, and what share of all, are more than namesakes; ours."""
LOOKED_THROUGH = 2000  # people whose names are compared


def _are_groups_too(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether a noun for people gives both persons and groups: a society's members, its sections among them. "Who" asks for
    either."""
    own, graph, plan = language(analysis.reading.language), release[Graph], best.plan
    lists = plan.compute.kind in ("list", "count") and plan.target.categories == ("Actor",)
    if not lists or "questions.who" in own.roles_within(analysis.reading.words):
        return False
    members = _members(plan, release[World])
    codes = [graph.codes(int(node)) for node in members[:LOOKED_THROUGH]]
    return any("E21" in one for one in codes) and any("E74" in one for one in codes)


def _others_owned_it(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether what is asked of owners has another answer by all who ever owned the things, where no verb says that it is so
    now: "which *owners possessed* more than three objects"."""
    own, ways = language(analysis.reading.language), [*ways_of(best.plan)]
    if not any(way.relations == (OWNED,) for way in ways) or not release[Ties].reach(OWNED_BEFORE)[0]:
        return False
    says = vocabulary(own.code).relations[OWNED].says
    words = ((word, own.stem(word)) for word in analysis.reading.words)
    if any(stem in says and word.removesuffix("s") == stem.removesuffix("s") for word, stem in words):
        return False  # "owns"

    def ever(way: Way) -> Way:
        return way.model_copy(update={"relations": (OWNED_BEFORE,)}) if way.relations == (OWNED,) else way

    return _gives_other(release, best, with_ways(best.plan, ever))


def _counts_parts_too(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether what is counted is counted once more by a relation that things have from their parts, or their wholes: what
    is *in a room* are the relics in a reliquary, too, and what *shows* a saint is the altar of the picture."""
    compute, known = best.plan.compute, release[World].relations
    counts = compute.kind == "count" or (compute.measure is not None and compute.measure.kind == "count")

    def alone(way: Way) -> Way:
        paths = known[way.relations[0]].paths if len(way.relations) == 1 and way.relations[0] in known else ()
        plain = tuple(tuple(step for step in path if step not in PARTS_TOO) for path in paths)
        if plain == paths or not all(plain):
            return way
        return way.model_copy(update={"relations": (), "paths": tuple(dict.fromkeys(plain))})

    return counts and _gives_other(release, best, with_ways(best.plan, alone), even_none=False)


PARTS_TOO = frozenset({"P46*", "P46i*"})
"""Steps to all parts and wholes of a thing, which may be none."""


def _came_at_other_times(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether some that came into somebody's hands in a time did so at other times as well, and another may be meant: what
    *entered the museum* before 1910 had owners before it."""
    world = release[World]
    dates = [
        one
        for one in best.plan.where
        if isinstance(one, Dated) and one.way is not None and one.way.relations == (ACQUIRED,)
    ]
    closed = all(one.begin is not None and one.end is not None for one in dates)
    if not dates or (closed and len(best.plan.where) == len(dates)):  # "acquired in 1961", by whomever
        return False
    members = _members(best.plan, world)
    return any(
        dated(world, one.model_copy(update=outside))[members].any()
        for one in dates
        for outside in (
            one.begin is not None and {"begin": None, "end": one.begin - 1},
            one.end is not None and {"begin": one.end + 1, "end": None},
        )
        if outside
    )


ACQUIRED = "acquired_on"


def _changed_otherwise(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether things were changed in several ways, by the classes of the data's own, and the question names one of them: what
    was rebuilt was not "*restored*"."""
    steps = {step for way in ways_of(best.plan) for path in way.paths for step in path}
    if not CHANGES & steps and not any(CHANGED.intersection(way.relations) for way in ways_of(best.plan)):
        return False
    own, lexicon = language(analysis.reading.language), release[Lexicon]
    said = set(map(own.stem, analysis.reading.words))
    changes = entities_of(release[World], Target(classes=("E11",)))
    named = [bool(said & lexicon.own_class_stems((one,), own.code)) for one in lexicon.schema.kinds(changes)]
    return any(named) and not all(named)


CHANGED = frozenset({"modified_by", "modified_on", "modification"})
CHANGES = frozenset({"P31i", "P110i", "P112i"})
"""Relations, and steps, from a thing to what changed it and when."""


def _says_more(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether a property of the data's own is called as the question says, and gives something else than the relation of the
    plan: what is "*attributed to*" a painter, where that is told apart from what he painted."""
    own, lexicon, world = language(analysis.reading.language), release[Lexicon], release[World]
    said = {own.stem(word) for word in analysis.reading.words if word not in own.stop}
    if not any(way.relations for way in ways_of(best.plan)):
        return False

    def by(iri: str, way: Way) -> Way:
        number, held = lexicon.own_properties[iri], world.adjacency.by_code
        paths = world.relations[way.relations[0]].paths if len(way.relations) == 1 else ()
        own_way = tuple(
            tuple(iri if number in held.get(step.rstrip("*!"), ()) else step for step in path)
            for path in paths
        )
        changed = tuple(new for new, old in zip(own_way, paths, strict=True) if new != old)
        return way.model_copy(update={"relations": (), "paths": changed}) if changed else way

    return any(
        _gives_other(release, best, with_ways(best.plan, partial(by, iri)))
        for iri, called in lexicon.own_links(own.code).items()
        if called and called <= said
    )


def _made_in_some_role(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether all who made something are meant, where the data tells of some what they did: printers are no artists."""
    everybody = any(
        isinstance(one, Related) and one.way == MADE_SOMETHING.way and one.to == Anchor() and not one.negated
        for one in best.plan.where
    )
    return everybody and release[Ties].has_both


Doubting = Callable[[Release, Reading, Analysis], bool]


def _has_many_names(graph: Graph, node: int) -> bool:
    """Whether a place or a group is called by several names that are made of words, as no single one is."""
    if graph.category(node) not in (Category.Place, Category.Actor) or "E21" in graph.codes(node):
        return False
    plain = (label for label in graph.labels(node) if label.text.replace(" ", "").isalpha())
    names = Counter(lang for lang, _ in {(label.lang, fold(label.text)) for label in plain})
    return max(names.values(), default=0) >= MANY_NAMES


def _may_be_turned(release: Release, best: Reading, analysis: Analysis) -> bool:
    """Whether anything that shows X is read where X may be the subject, "what does X show?"; where neither a form of "to be"
    nor the order of words says who does it."""
    own, words, plan = language(analysis.reading.language), analysis.reading.words, best.plan
    passive = any(word in own.roles["verbs.be"] for word in words)
    asked = plan.target.types or plan.target.classes or passive
    showing = [
        one
        for one in plan.where
        if isinstance(one, Related)
        and one.to.iris
        and not one.way.inverse
        and one.way.relations
        and ACTIVE.issuperset(one.way.relations)
    ]
    if asked or not showing:
        return False
    says = {stem for id in showing[0].way.relations for stem in vocabulary(own.code).relations[id].says}
    return not own.roles["verbs.do"] or (bool(words) and own.stem(words[-1]) in says)


DOUBTING: tuple[Doubting, ...] = (
    _lacks_verb, _compares, _may_be_turned, _made_in_some_role, _is_merged, _are_told_twice, _texts_tell_more,
    _are_groups_too, _others_owned_it, _counts_parts_too, _came_at_other_times, _changed_otherwise,
    _says_more,
)  # fmt: skip
"""What leaves a reading unsure that says every word; cheap ones first."""


def _asks_something(plan: Plan) -> bool:
    """Whether a plan restricts what it gives, and gives more than a thing that is named or all who made something."""
    if plan.compute.kind in ("rank", "group", "table"):
        return True
    met = [one for one in plan.where if not one.negated]
    if all(isinstance(one, Among) for one in met) and met:
        return plan.compute.kind == "ask" and bool(plan.target.types)  # "is X a *painting*?"
    if plan.target.types or (plan.target.classes and not met):
        return True
    return any(not (isinstance(one, Related) and one.to == Anchor()) for one in met)


def _absent(release: Release, analysis: Analysis, best: Reading) -> tuple[str, ...]:
    """Relations that words which the best reading does not say ask for, and that the data states of nothing."""
    own = language(analysis.reading.language)
    lost = {own.stem(word) for word in best.uncovered}
    words, numbers = vocabulary(own.code).relations, set(release[Lexicon].numbers.values())
    asked = (id for id, said in words.items() if lost & (said.says | said.ends))
    known = release[World].relations
    return tuple(id for id in asked if id in known and id not in numbers and not release[Ties].reach(id)[0])[
        :3
    ]


def readings(release: Release, analysis: Analysis, earlier: Antecedent | None = None) -> list[Reading]:
    """Plans of a question, best first; those that cannot be executed left out. Raises Stopped alone."""
    own = language(analysis.reading.language)
    heard = asked(analysis.reading.question, own.capitals_name, ())
    lexicon, ties = release[Lexicon], release[Ties]
    stems = tuple(map(own.stem, heard.words))
    opening = {one.first for one in heard.chunks if one.opens}
    before = as_list(earlier.plan) if earlier is not None and earlier.plan is not None else None
    grammar = Grammar(
        release[World], release[Graph], ties, lexicon.kinds(own.code), own, heard.words, stems,
        capitals=heard.capitals - opening, chunks=heard.chunks, earlier=before,
        pictured=vocabulary(own.code).relations["depicts"].starts, saying=verbs(own.code),
    )  # fmt: skip
    items = items_of(release, lexicon, analysis, heard, own, stems, earlier)
    if (second := second_question(items, heard.words, own)) is not None:
        alone = analysed(release, " ".join(one.text for one in heard.chunks if one.last <= second))
        again = heard.words[second:]
        doubt = frozenset({Doubt("a second question", " ".join(again))})
        return [
            replace(one, doubt=one.doubt | (frozenset() if _is_told(one.plan, again, own) else doubt))
            for one in readings(release, alone, earlier)
        ]
    nouns = [one for one in items if one.sort == "noun"]
    grammar.meant = tuple(one for one in items if one.roles & MEANT - PER - {LASTING})
    grammar.known = positions(nouns)
    found: dict[str, Reading] = {}
    cuts = cut(heard.words, items, own, CUTS)
    # What opens a question is never passed over: "in how many …".
    first = int(len(heard.words) > 1 and bool(own.preposition_roles(heard.words[0])))
    if any(one.first <= first and one.sort == "op" for one in items):
        cuts = [
            one for one in cuts if any(item.first <= first and item.sort == "op" for item in one[1])
        ] or cuts
    cuts = [(score - UNASKED * _passes_over(chosen, nouns, len(stems)), chosen) for score, chosen in cuts]
    # "how many rooms does each villa have" asks for numbers
    counts = any("questions.how_many" in one.roles for one in items)
    for score, chosen in cuts[:TABLES] if not counts else ():
        plan = Tables(release[World], release[Ties], own, heard.words, chosen, grammar.numbers.sized).plan()
        if plan is not None and (whole := _weighed(release, Reading(plan, score))) is not None and whole.size:
            return [whole]
    weighed = dict[str, Reading | None]()
    for score, chosen in cuts:
        for gained, variant in _variants(grammar, chosen):
            try:
                for reading in grammar.readings(variant, score + gained):
                    plan = flattened(reading.plan)
                    unlikely = _unlikely(plan, reading.doubt, ties.in_roles)
                    reading = replace(reading, plan=plan, score=reading.score - unlikely)
                    key = plan.model_dump_json()
                    if key in found and found[key].score >= reading.score:
                        continue
                    found[key] = reading
                    weighed.pop(key, None)
            except (QuestionError, ValidationError):
                pass  # longer than a plan may be, such as a word of a thousand letters
            for key, one in sorted(found.items(), key=lambda one: -one[1].score):
                if one.score - HOPELESS <= grammar.least:
                    break  # its set can only lower its score
                if key not in weighed:
                    weighed[key] = whole = _weighed(release, one)
                    if whole is not None:
                        grammar.least = max(grammar.least, whole.score - HOPELESS)
    likely: list[Reading] = []
    for key, one in sorted(found.items(), key=lambda one: -one[1].score)[:EXECUTED]:
        if likely and one.score < max(known.score for known in likely) - HOPELESS:
            break
        whole = weighed[key] if key in weighed else _weighed(release, one)
        if whole is not None:
            likely.append(whole)
    likely.sort(key=lambda one: -one.score)
    return [*_of_now(release, likely[:1]), *likely]


def _of_now(release: Release, best: Sequence[Reading]) -> Iterator[Reading]:
    """The best reading with where things are and who keeps them, in place of where they are or were, if the data tells the
    two apart of what it gives: "what is *in the treasury*", "which museum *holds* the most panels"."""
    known = release[World].adjacency.by_code
    current = {id: paths for id, paths in NOW.items() if paths[0][0] in known}

    def of_now(way: Way) -> Way:
        paths = current.get(way.relations[0], ()) if len(way.relations) == 1 else ()
        return way.model_copy(update={"relations": (), "paths": paths}) if paths else way

    def of_part(part: Constraint) -> Constraint:
        if not isinstance(part, Related) or (part.way.inverse and part.way.relations == (LOCATED,)):
            return part
        return part.model_copy(update={"way": of_now(part.way)})

    for one in best:
        compute = one.plan.compute
        if compute.measure is not None and compute.measure.kind == "count":
            way = of_now(compute.measure.way)
            compute = compute.model_copy(update={"measure": compute.measure.model_copy(update={"way": way})})
        where = tuple(map(of_part, one.plan.where))
        plan = one.plan.model_copy(update={"where": where, "compute": compute})
        if plan == one.plan:
            continue
        now = _weighed(release, replace(one, plan=plan))
        some = now is not None and (now.size or plan.compute.kind == "ask")
        if now is not None and some and now.result != one.result:
            yield replace(now, score=one.score, worded=one.worded)


NOW: Mapping[str, tuple[tuple[str, ...], ...]] = {LOCATED: WHERE_NOW, "kept_by": (("P50",),)}
"""Relations to where things are or were, and to who keeps or kept them, with the paths to what is so now."""


def _is_told(plan: Plan, words: Sequence[str], own: Language) -> bool:
    """Whether what is asked behind "and" is told with a ranking: "the heaviest coins, *and how much does each weigh*"."""
    measure, roles = plan.compute.measure, own.roles_within(words)
    timed = measure is not None and measure.kind in ("earliest", "latest")
    if measure is None or roles & {"questions.who", "questions.where"}:
        return False
    known = vocabulary(own.code).relations
    ids = [id for way in ways_of(measure) for id in way.relations if id in known]
    said = frozenset[str]().union(*(known[id].says | known[id].ends for id in ids))
    small = own.stop | own.roles["operators.each"] | own.roles["pronouns.many"]
    rest = (word for word in words if word not in small)
    return ("questions.when" not in roles or timed) and all(
        own.stem(one) in said or own.size_of(one) for one in rest
    )


def _passes_over(items: Sequence[Item], nouns: Sequence[Item], words: int) -> bool:
    """Whether the noun that is asked for is left out: right behind "which" or "how many", where a verb is written alike
    (which *works* show …), or all that is said beside a name, "French *artists*"."""
    opener = next((one for one in items if one.roles & DETERMINING), None)
    if opener is None:
        alone = [one for one in nouns if one.first in (0, words - 1) or one.last == words]
        spoken = [one for one in items if one.sort not in ("op", "number")]
        return len(spoken) == 1 and len(alone) == 1 and not any(_overlap(one, alone[0]) for one in spoken)
    if not any(one.first == opener.last for one in nouns):
        return False
    return not any(one.first == opener.last and one.sort != "op" for one in items)


def _overlap(one: Item, other: Item) -> bool:
    return one.first < other.last and other.first < one.last


def _variants(grammar: Grammar, items: tuple[Item, ...]) -> Iterator[tuple[float, tuple[Item, ...]]]:
    """A cut with words of titles as texts, with amounts, and with what "and" and "or" join as one."""
    titled = list(with_titles(items, grammar.words, grammar.own))
    for one, gained in (*(titled or [(items, 0.0)]), *grammar.with_amounts(items)):
        together = joined(one, grammar.words, grammar.own, grammar.either)
        if together != one:
            yield gained + 0.8, together
        yield gained - 0.3 * (together != one), one


def _unlikely(plan: Plan, doubt: frozenset[Doubt], in_roles: Collection[Way]) -> float:
    """The points that a reading loses before its set is known. ``in_roles``: ways that are relations kept to a role."""
    target = plan.target
    unkind = bool(target.categories) and not (target.types or target.classes)
    loose = sum(one.why == "without an object" for one in doubt)
    ways = [*ways_of(plan)]
    said = {id(one) for way in ways if way in in_roles or _is_dimension(way) for one in (way, way.then)}
    walks = [min(way.paths, key=len) for way in ways if way.paths and id(way) not in said]
    steps = sum(not step.endswith("*") for path in walks for step in path)
    return WALKED * len(walks) + FARTHER * (steps - len(walks)) + UNKIND * unkind + LOOSE * loose


def _is_dimension(way: Way) -> bool:
    """Whether a way leads to a number by what a dimension is called, which says it as a relation would."""
    return way.then is not None and way.then.relations == ("dimension_value",)


def _weighed(release: Release, reading: Reading) -> Reading | None:
    """The reading with its set: one that gives nothing is less likely to be meant."""
    check()
    try:
        outcome = results(reading.plan, release[World])
    except QuestionError:
        if not reading.plan.compute.summed:
            return None
        # Of several units each is told by itself.
        compute = reading.plan.compute.model_copy(update={"summed": ""})
        plan = reading.plan.model_copy(update={"compute": compute})
        return _weighed(release, replace(reading, plan=plan, doubt=reading.doubt | {Doubt("several units")}))
    size = outcome.size
    lost = 0.0 if size else NO if reading.plan.compute.kind == "ask" else EMPTY
    lost += ALONE * _are_alone(outcome, reading.plan)
    settled = outcome.settled or reading.plan.compute.first is None
    settled &= _all_are_told(reading.plan, release[World])
    result, doubt = digest(outcome), reading.doubt
    if reading.same is not None and size and digest(results(reading.same, release[World])) == result:
        doubt = frozenset(one for one in doubt if one.why != "without an object")
    return replace(
        reading, score=reading.score - lost, size=size, result=result, settled=settled, doubt=doubt
    )


def _are_alone(outcome: Outcome, plan: Plan) -> bool:
    """Whether nearly all groups hold one thing, or what has most of something has one of them."""
    if outcome.kind == "group" and plan.compute.by == "entity" and len(outcome.groups):
        return float(outcome.groups[:, 1].mean()) < SEVERAL
    measure, values = plan.compute.measure, outcome.values
    counted = measure is not None and measure.kind == "count" and plan.compute.first is not None
    return counted and values is not None and len(values) > 0 and float(values.max()) <= 1


def _all_are_told(plan: Plan, world: World) -> bool:
    """Whether the data tell of each of several that are compared what they are compared by: who of two was born first."""
    compared = [len(one.iris) for one in plan.where if isinstance(one, Among) and not one.negated]
    if plan.compute.kind != "rank" or plan.compute.first is None or not compared:
        return True
    every = plan.model_copy(update={"compute": plan.compute.model_copy(update={"first": None})})
    return results(every, world).size >= min(compared)


def digest(outcome: Outcome) -> bytes:
    """Equal for plans that give the same."""
    said = hashlib.sha256(outcome.kind.encode())
    parts = [np.asarray(outcome.groups), np.asarray(outcome.rows)]
    if outcome.values is not None:
        parts.append(np.asarray(outcome.values))
    if outcome.kind in ("count", "ask"):
        said.update(repr(outcome.value).encode())
    else:
        parts.append(np.asarray(outcome.members))
    for part in parts:
        said.update(np.ascontiguousarray(part).tobytes())
    return said.digest()
