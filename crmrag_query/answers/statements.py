"""What the graph states of one thing within a few steps, and which of it the words of a question ask for.

The words are the data's own: labels of its properties, classes and types, beside the general ones of `config/words`. So what
no relation of the catalogue knows is found, too: the seal of a letter, the role of an engraver, a property of a thesaurus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from crmrag_query.artifacts.release import Release
from crmrag_query.dates import parse_date
from crmrag_query.entities.named import type_nodes
from crmrag_query.graph.arrays import FLAG_LABELLED
from crmrag_query.graph.graph import Graph, TriplesIndex
from crmrag_query.language import LANGUAGES, language
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.ways import role_steps
from crmrag_query.plans.world import World
from crmrag_query.reading.lexicon import Lexicon, Stems, event_verbs
from crmrag_query.reading.schema import HARD, Schema
from crmrag_query.text import fold, tokenize
from crmrag_query.timing import check

LONGEST = 4
"""Steps: a thing, the event that it went through, a participation in it, and who took part in a role."""
BESIDE = "\0"
"""Stands for a word that says nothing of what is asked for: of a name that only says more of the thing, of another clause."""
EACH = 40  # ends of one property at one node that are looked at
LOOKED_AT = 1000  # triples of a node that are looked at
MOST = 4000  # statements of one thing
HUB = 400  # triples of a node from which nothing is gone on
OF_ITSELF = 0.35  # what it may cost to lead through a node that stands for something else: a name, a measure
OTHERS = (int(Category.Actor), int(Category.Place), int(Category.Concept), int(Category.Time))


@dataclass(frozen=True, slots=True)
class Statement:
    """What is stated of a thing. ``steps``: properties by number, and whether each is walked from subject to object;
    ``through``: the nodes between; ``end``: the node it ends in, -1 for the literal ``value``; ``cost``: how far-fetched."""

    steps: tuple[tuple[int, bool], ...]
    through: tuple[int, ...]
    end: int
    value: str = ""
    cost: float = 0.0


def statements_of(release: Release, node: int) -> list[Statement]:
    """What is stated of a node, the nearest first: of what stands for it alone (its events, names, measures, nameless nodes,
    and parts that nothing else has) what is stated of these as well."""
    graph, index, schema = release[Graph], release[TriplesIndex], release[Schema]
    found: list[Statement] = []
    seen, frontier = {node}, [Statement((), (), node)]
    for depth in range(1, LONGEST + 1):
        onward: list[Statement] = []
        for at in sorted(frontier, key=lambda one: one.cost):
            check()
            if len(found) > MOST:
                return found
            through = (*at.through, at.end) if depth > 1 else ()
            times = Counter[tuple[int, bool]]()
            for number in index.numbers_of(at.end)[:LOOKED_AT].tolist():
                triple = index.triple(number)
                step = (triple.p, triple.s == at.end)
                other = triple.o if step[1] else triple.s
                times[step] += 1
                if other == node or other in through or times[step] > EACH:
                    continue
                price = _price(release, schema, at.end, step, other)
                cost = at.cost + 0.12 * (depth > 1)
                found.append(Statement((*at.steps, step), through, other, "", cost))
                if price is not None and other not in seen:
                    seen.add(other)
                    onward.append(Statement((*at.steps, step), through, other, "", cost + price))
            names = {fold(label.text) for label in graph.labels(at.end)}
            for one in graph.literals(at.end):
                if fold(one.value) not in names:
                    steps = (*at.steps, (one.property, True))
                    found.append(Statement(steps, through, -1, one.value, at.cost + 0.12 * (depth > 1)))
        frontier = onward
    return found


def _price(release: Release, schema: Schema, here: int, step: tuple[int, bool], other: int) -> float | None:
    """What it costs to go on from a node; None where what is stated of it is no statement of the thing."""
    graph = release[Graph]
    category, price = graph.category(other), float(schema.passing[schema.kind[other]])
    if price > HARD or category in OTHERS or release[TriplesIndex].degree(other) > HUB:
        return None
    event = category == Category.Event
    if price <= OF_ITSELF and not (event and graph.category(here) == Category.Event):
        return price
    # A part, a text, or a step of an event is the thing's own where nothing else has it; an event has no things of its own.
    prop, ahead = step
    rows = graph.adjacency.backward if ahead else graph.adjacency.forward
    own = (event or graph.category(here) != Category.Event) and len(rows.neighbours(prop, other)) == 1
    return price if own else None


@dataclass(frozen=True, slots=True)
class Clause:
    """Words of a question that ask for one fact. ``words``: those of the question, "" for those of the thing, ``BESIDE`` for
    those of other clauses; ``expects``: a mask of categories; ``number``: it asks for one; ``turn``: the properties that a
    preposition means; ``optional``: positions of words that need not say anything."""

    words: tuple[str, ...]
    expects: int = 0
    number: bool = False
    turn: frozenset[str] = frozenset()
    optional: frozenset[int] = frozenset()


TURNS: Mapping[str, frozenset[str]] = {
    "prepositions.from": frozenset({"P23", "P28", "P27"}),
    "prepositions.to": frozenset({"P22", "P29", "P26"}),
}
"""What prepositions say of the ends of a transfer."""
AGENTS = "P11"
"""Who is asked for of an event is who took part in it …"""
MAKING = ("E11", "E65")
"""… but not of the making of something, in which a patron takes part, too: of that it is who carried it out."""
PARTS = frozenset({"P9", "P9i", "P10", "P10i"})
"""Who did a part of something did it."""
BEGINNING = 8  # letters that compounds of one first part share: "Radiokarbonmessung" and "Radiokarbonalter"
SMALL = 0.4  # of a word that need not say anything
FITS = 0.6  # that what is stated is of the kind that is asked for by a noun
TYPED = 0.5  # that the type of an event that it leads through is named: "painted", of all events that make something
SAME = 0.7  # that it is of the event of which the clause before asked


@dataclass(frozen=True, slots=True)
class Best:
    """What a clause asks for: statements of one kind, the positions of the words that say it, and how many do alone."""

    statements: tuple[Statement, ...]
    said: frozenset[int]
    strength: int


@dataclass
class Heard:
    """The words of a question, against what is stated of a thing ``node``."""

    release: Release
    code: str
    node: int
    statements: Sequence[Statement]
    _words: dict[int, Stems] = field(default_factory=dict)
    _typed: dict[int, Stems] = field(default_factory=dict)
    _steps: dict[tuple[int, bool], Stems] = field(default_factory=dict)

    def best(self, clause: Clause, before: Collection[int] = ()) -> Best | None:
        """What a clause asks for; None for nothing. ``before``: the nodes through which the clause before led, of which one
        that has no words of its own asks."""
        if self.code not in LANGUAGES:
            return None
        own, lexicon, graph = language(self.code), self.release[Lexicon], self.release[Graph]
        content = [
            at for at, word in enumerate(clause.words) if word and word not in own.stop and word != BESIDE
        ]
        if not content and not clause.expects:
            return None
        stems = {at: own.stem(clause.words[at]) for at in content}
        compounds = own.raw.get("compounds") == "true"
        starts = {at: stem[:BEGINNING] for at, stem in stems.items() if compounds and len(stem) > BEGINNING}
        kinds = self._kinds(clause.words, content, lexicon)
        through = {
            mid for one in self.statements for mid in one.through if graph.category(mid) == Category.Event
        }
        done = {at: {mid for mid in through if stem in self.typed(mid)} for at, stem in stems.items()}
        scored: list[tuple[float, Best]] = []
        for one in self.statements:
            if not self._fits(one, clause) or (not clause.expects and self._is_done_by(one)):
                continue
            near, far = self._said(one)
            ends = {at for at in content if stems[at] in far or self._is_of(one.end, kinds.get(at, ()))}
            ways = {
                at
                for at in content
                if stems[at] in near or any(self._is_of(mid, kinds.get(at, ())) for mid in one.through)
            }
            begun = {stem[:BEGINNING] for stem in near | far} if starts else set[str]()
            said = frozenset(ends | ways | {at for at, start in starts.items() if start in begun})
            same = any(mid in before for mid in one.through)
            turned = self._last_code(one) in clause.turn
            if (clause.turn and not turned) or not (said or same):
                continue
            if not (said - clause.optional or turned or (same and not content) or (said and clause.expects)):
                continue
            agent = not clause.expects & int(Category.Actor) or turned or bool(ends)
            if not agent:
                # What is called by a word is done less than what is of that type: the conservation of the paintings.
                typed = all(not done.get(at) or done[at].intersection(one.through) for at in said)
                agent = typed and self._is_agent(one, frozenset(stems[at] for at in said if at in stems))
            if not agent:
                continue
            strength = len(said - clause.optional) + turned
            score = sum(SMALL if at in clause.optional else 1.0 for at in said) + turned + SAME * same
            score += FITS * bool(ends - clause.optional) - one.cost - 0.1 * len(one.steps)
            score += TYPED * any(
                stems[at] in self.typed(mid) for at in said for mid in one.through if at in stems
            )
            scored.append((score, Best((one,), said, strength)))
        if not scored:
            return None
        score, best = max(scored, key=lambda item: item[0])
        alike = tuple(
            other.statements[0]
            for points, other in scored
            if other.statements[0].steps == best.statements[0].steps
            and other.said == best.said
            and points > score - 0.05
        )
        return Best(alike, best.said, best.strength)

    def _fits(self, one: Statement, clause: Clause) -> bool:
        """Whether it ends in what is asked for: somebody, somewhere, some time, a number."""
        graph, wanted = self.release[Graph], clause.expects
        if clause.number:
            return self._is_measure(one)
        if not wanted:
            return True
        if wanted & int(Category.Time) and (
            self.release[World].dated[one.end] if one.end >= 0 else parse_date(one.value) is not None
        ):
            return one.end < 0 or graph.category(one.end) in (0, int(Category.Time))
        return one.end >= 0 and bool(int(graph.adjacency.categories[one.end]) & wanted & ~int(Category.Time))

    def _is_measure(self, one: Statement) -> bool:
        graph, ontology = self.release[Graph], self.release[World].ontology
        if one.end < 0:
            return any(sign.isdigit() for sign in one.value) and len(one.through) == 0
        codes = (graph.class_code(int(number)) for number in graph.types(one.end))
        return any(code in ontology.classes and ontology.is_a(code, "E54") for code in codes)

    def _is_agent(self, one: Statement, doing: Stems) -> bool:
        """Whether it ends in who did what is said by the stems ``doing``: of what was but the reason for it somebody else
        did that."""
        graph, ontology, code = self.release[Graph], self.release[World].ontology, self._last_code(one)
        events = [at for at, mid in enumerate(one.through) if graph.category(mid) == Category.Event]
        if len(events) > 1 and doing.isdisjoint(self._node(one.through[events[-1]])):
            last = graph.property_code(one.steps[events[-1]][0])
            if last not in PARTS:
                return False
        if code == AGENTS and events:
            codes = (graph.class_code(int(number)) for number in graph.types(one.through[events[-1]]))
            known = [code for code in codes if code in ontology.classes]
            return not any(ontology.is_a(code, made) for code in known for made in MAKING)
        return code in ("P02", "") or self._takes_part(code)

    def _takes_part(self, code: str) -> bool:
        ontology = self.release[World].ontology
        return code in ontology.properties and (code == AGENTS or code in ontology.subproperties(AGENTS))

    def _is_done_by(self, one: Statement) -> bool:
        """Whether it leads on from what somebody did, "what did X draw?", of which a set is asked for."""
        prop, ahead = one.steps[0]
        code = self.release[Graph].property_code(prop)
        return self._takes_part(self.release[World].ontology.inverse(code) or "" if ahead else code)

    def _last_code(self, one: Statement) -> str:
        prop, ahead = one.steps[-1]
        code = self.release[Graph].property_code(prop)
        return code if ahead else self.release[World].ontology.inverse(code) or f"^{code}"

    def _kinds(
        self, words: Sequence[str], content: Sequence[int], lexicon: Lexicon
    ) -> dict[int, list[np.ndarray[tuple[int], np.dtype[np.int32]]]]:
        """By the positions of nouns, the entities of the kinds that they name; of no noun that means all of a category."""
        own, known = language(self.code), lexicon.kinds(self.code)
        stems = [own.stem(word) if word else "" for word in words]
        found: dict[int, list[np.ndarray[tuple[int], np.dtype[np.int32]]]] = {}
        for at in content:
            for length, kinds in known.at(stems, words, at):
                for kind in kinds:
                    if not kind.generic and kind.cost < 0.5:
                        for place in range(at, at + length):
                            found.setdefault(place, []).append(kind.nodes)
        return found

    @staticmethod
    def _is_of(node: int, kinds: Sequence[np.ndarray[tuple[int], np.dtype[np.int32]]]) -> bool:
        for nodes in kinds:
            place = int(np.searchsorted(nodes, node))
            if place < len(nodes) and nodes[place] == node:
                return True
        return False

    def _said(self, one: Statement) -> tuple[Stems, Stems]:
        """The stems by which the way to what is stated is said, and those that say what it ends in."""
        near = frozenset().union(*map(self._step, one.steps), *map(self._node, one.through))
        far = self._step(one.steps[-1])
        if one.end >= 0:
            far |= self._node(one.end)
        elif one.through:
            far |= self._node(one.through[-1])
        return near, far

    def _step(self, step: tuple[int, bool]) -> Stems:
        if step not in self._steps:
            graph, ontology, (prop, ahead) = self.release[Graph], self.release[World].ontology, step
            code, iri = graph.property_code(prop), graph.property_iri(prop)
            names = [iri if ahead else f"^{iri}"]
            if code in ontology.properties:
                names.append(code if ahead else ontology.inverse(code) or f"^{code}")
            lexicon = self.release[Lexicon]
            self._steps[step] = frozenset().union(*(lexicon.step_stems(name, self.code) for name in names))
        return self._steps[step]

    def _node(self, node: int) -> Stems:
        """What a node is called for what it is: its classes, its types, the role that it has, what its own name says beside
        the name of the thing."""
        if node not in self._words:
            graph, own, lexicon = self.release[Graph], language(self.code), self.release[Lexicon]
            found = {
                *lexicon.class_stems((int(self.release[Schema].kind[node]),), self.code),
                *self.typed(node),
            }
            if (
                graph.category(node) not in (int(Category.Actor), int(Category.Concept))
                and graph.flags[node] & FLAG_LABELLED
            ):
                thing = own.all_stems(label.text for label in graph.labels(self.node))
                found |= own.all_stems(label.text for label in graph.labels(node)) - thing
            for verbs, all_of_them in event_verbs(self.code):  # a "find" is what was discovered, too
                if graph.category(node) == Category.Event and not verbs.isdisjoint(found):
                    found |= all_of_them
            self._words[node] = frozenset(found)
        return self._words[node]

    def typed(self, node: int) -> Stems:
        """What the types and roles of a node are called."""
        if node not in self._typed:
            graph, own = self.release[Graph], language(self.code)
            kinds = (*type_nodes(graph, node), *roles_of(graph, node))
            self._typed[node] = own.all_stems(label.text for kind in kinds for label in graph.labels(kind))
        return self._typed[node]


def roles_of(graph: Graph, node: int) -> Iterator[int]:
    """The roles of a node that stands for a participation."""
    for code in role_steps(graph.adjacency):
        for prop in graph.adjacency.by_code[code]:
            yield from map(int, graph.adjacency.forward.neighbours(prop, node))


def own_words(graph: Graph, statements: Sequence[Statement]) -> frozenset[str]:
    """The words of what is stated of a thing next to it, by which it may be described: "the little *bronze* Mercury"."""
    near = (one for one in statements if len(one.steps) == 1)
    texts = (
        text
        for one in near
        for text in ([label.text for label in graph.labels(one.end)] if one.end >= 0 else [one.value])
    )
    return frozenset(word for text in texts if len(text) < 200 for word in tokenize(text))
