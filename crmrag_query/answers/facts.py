"""What is told of one entity, in sentences: its portrait, and the one fact that a question asks for.

A fact is what a relation of the catalogue leads to from the entity, or of what leads to it, with the triples that say so.
Dates are told as the data means them, spans as spans; measures with their units; texts quoted, cut at the end of a sentence.
What the catalogue has no relation for is found by the words of the data itself, its properties, classes and types, within a
few steps of the entity, and told by its own properties.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Literal

import numpy as np

from crmrag_query.answers.sources import SourceList
from crmrag_query.answers.support import split_sentences
from crmrag_query.artifacts.release import Release
from crmrag_query.config.loading import PortraitOrder, Relation, SentenceForms, Steps, sentences
from crmrag_query.dates import Interval, civil, describe, parse_date, year_interval
from crmrag_query.documents.documents import Documents
from crmrag_query.entities.details import Details, category_name, type_nodes
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import FLAG_LABELLED, Ints
from crmrag_query.graph.graph import OPEN_BEGIN, OPEN_END, Graph, TriplesIndex
from crmrag_query.graph.graph import Literal as StatedLiteral
from crmrag_query.language import LANGUAGES, language
from crmrag_query.ontology.load import Category, normalise_property
from crmrag_query.plans.execute import known_unit
from crmrag_query.plans.kinds import HARD, Schema
from crmrag_query.plans.records import Among, Anchor, Plan, Related, Way
from crmrag_query.plans.world import (
    LOCATED,
    OWNED,
    OWNED_BEFORE,
    WHERE_NOW,
    World,
    literal,
    pairs,
    role_steps,
)
from crmrag_query.reading.lexicon import (
    GROUPS,
    HOLDING,
    Kin,
    Lexicon,
    Stems,
    longest_phrase,
    verbs_of_events,
    vocabulary,
)
from crmrag_query.retrieval.release_channels import LITTLE
from crmrag_query.sets.build import Reader, reasons_of
from crmrag_query.shown import SourceTriple
from crmrag_query.text import fold, plain, shorten, tokenize
from crmrag_query.timing import check

LONGEST = 4
"""Steps: a thing, the event that it went through, a participation in it, and who took part in a role."""
BESIDE = "\0"
"""Stands for a word that says nothing of what is asked for: of a name that only says more of the thing, of another clause."""
EACH = 40  # ends of one property at one node that are looked at
TRIPLES_OF_NODE = 1000  # triples of a node that are looked at
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


def step_code(release: Release, step: tuple[int, bool]) -> str:
    """The code of a step of a statement in the direction in which it is walked: P46i for P46 from object to subject."""
    prop, ahead = step
    code = release[Graph].property_code(prop)
    return code if ahead else release[World].ontology.inverse(code) or f"^{code}"


def step_name(release: Release, step: tuple[int, bool]) -> str:
    """A step of a statement as paths write one of the data's own."""
    iri = release[Graph].property_iri(step[0])
    return iri if step[1] else f"^{iri}"


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
            back = step_code(release, (at.steps[-1][0], not at.steps[-1][1])) if at.steps else ""
            for number in index.numbers_of(at.end)[:TRIPLES_OF_NODE].tolist():
                triple = index.triple(number)
                step = (triple.p, triple.s == at.end)
                other = triple.o if step[1] else triple.s
                times[step] += 1
                if other == node or other in through or times[step] > EACH:
                    continue
                if back and step_code(release, step) == back:
                    continue  # another part of the same whole
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
    if step_code(release, step) in HELD:
        return None  # who owned what a museum keeps did not own the museum
    # A part, a text, or a step of an event is the thing's own where nothing else has it; an event has no things of its own.
    prop, ahead = step
    rows = graph.adjacency.backward if ahead else graph.adjacency.forward
    own = (event or graph.category(here) != Category.Event) and len(rows.neighbours(prop, other)) == 1
    return price if own else None


@dataclass(frozen=True, slots=True)
class Clause:
    """Words of a question that ask for one fact. ``words``: those of the question, "" for those of the thing, ``BESIDE`` for
    those of other clauses; ``expects``: a mask of categories; ``number``: it asks for one; ``turn``: the properties that a
    preposition means; ``optional``: positions of words that need not say anything; ``behind``: by the position of a word of a
    verb, what its relations walk behind the event that they start with: who "paid for" something stands behind its making;
    ``heard``: the stems of all its words; ``ranking``: the positions of words that choose the earliest of what the next word
    names, -1, or the latest, 1."""

    words: tuple[str, ...]
    expects: int = 0
    number: bool = False
    turn: frozenset[str] = frozenset()
    optional: frozenset[int] = frozenset()
    behind: Mapping[int, frozenset[Steps]] = field(default_factory=dict)
    ranking: Mapping[int, int] = field(default_factory=dict)
    heard: frozenset[str] = frozenset()


TURNS: Mapping[str, frozenset[str]] = {
    "prepositions.from": frozenset({"P23", "P28", "P27"}),
    "prepositions.to": frozenset({"P22", "P29", "P26"}),
}
"""What prepositions say of the ends of a transfer."""
PARTICIPANT = "participant"
PARTS_OF, MEASURED = Way(paths=(("P46",),)), Way(paths=(("P43",),))
"""The ways from a thing to its parts, and to what it measures. Parts that are no objects, "overall", stand for the whole."""
HELD = frozenset(f"{code}i" for code in HOLDING)
"""Properties from who keeps or owns something to that."""
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
SAME_EVENT = 0.7  # that it is of the event of which the clause before asked


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
        ranking = {at: sign for at, sign in clause.ranking.items() if done.get(at + 1)}
        content = [at for at in content if at not in ranking]
        scored: list[tuple[float, Best]] = []
        for one in self.statements:
            if self._is_turned(one, clause):
                continue
            near, far = self._said(one)
            # "when is its feast day", "where is its home port": what is called so, whatever is written there
            called = not clause.number and self._is_called(one, clause.heard)
            if not (called or self.fits(one, clause)) or (not clause.expects and self._is_done_by(one)):
                continue
            ends = {at for at in content if stems[at] in far or self._is_of(one.end, kinds.get(at, ()))}
            ways = {
                at
                for at in content
                if stems[at] in near or any(self._is_of(mid, kinds.get(at, ())) for mid in one.through)
            }
            begun = {stem[:BEGINNING] for stem in near | far} if starts else set[str]()
            behind = set[int]()
            if any(one.through[:1] == (mid,) for events in done.values() for mid in events):
                way = tuple(step_code(self.release, step) for step in one.steps[1:])
                behind = {at for at, ways_on in clause.behind.items() if way in ways_on}
            said = frozenset(ends | ways | behind | {at for at, start in starts.items() if start in begun})
            same = any(mid in before for mid in one.through)
            turned = self._last_code(one) in clause.turn
            if (clause.turn and not turned) or not (said or same):
                continue
            material = filter(self._is_material, one.through)
            if any(not any(self._is_of(mid, some) for some in kinds.values()) for mid in material):
                continue  # when a score was printed does not tell when the work was composed
            if not (said - clause.optional or turned or (same and not content) or (said and clause.expects)):
                continue
            agent = not clause.expects & int(Category.Actor) or turned or bool(ends) or bool(behind)
            if not agent:
                # What is called by a word is done less than what is of that type: the conservation of the paintings.
                typed = all(not done.get(at) or done[at].intersection(one.through) for at in said)
                agent = typed and self._is_agent(one, frozenset(stems[at] for at in said if at in stems))
            if not agent:
                continue
            strength = len(said - clause.optional) + turned
            score = sum(SMALL if at in clause.optional else 1.0 for at in said) + turned + SAME_EVENT * same
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
            if self._are_alike(other.statements[0], best.statements[0])
            and other.said == best.said
            and points > score - 0.05
        )
        for sign in ranking.values():
            alike = self._first_of(alike, sign)
        return Best(alike, best.said | ranking.keys(), best.strength)

    def _is_material(self, mid: int) -> bool:
        """Whether a node is a physical thing, and what is asked about is a thing that is none."""
        graph = self.release[Graph]
        things = graph.category(self.node) == graph.category(mid) == Category.Thing
        return things and is_a(self.release, mid, "E18") and not is_a(self.release, self.node, "E18")

    def _first_of(self, alike: Sequence[Statement], sign: int) -> tuple[Statement, ...]:
        """The statements that lead through the event that began first, or for ``sign`` 1 last; all where none is dated."""
        world, begun = self.release[World], dict[int, int]()
        for one in self.statements:
            if one.through and one.end >= 0 and world.dated[one.end]:
                begun.setdefault(one.through[0], int(world.extents[0][one.end]))
        dated = [(-sign * begun[one.through[0]], one) for one in alike if one.through[0] in begun]
        return tuple(one for day, one in dated if day == min(day for day, _ in dated)) or tuple(alike)

    def fits(self, one: Statement, clause: Clause) -> bool:
        """Whether it ends in what is asked for: somebody, somewhere, some time, a number."""
        graph, wanted = self.release[Graph], clause.expects
        if clause.number:
            return self._is_measure(one)
        if not wanted:
            return True
        if wanted & int(Category.Time) and (
            self.release[World].dated[one.end]
            if one.end >= 0
            else len(one.value) >= YEAR and parse_date(one.value) is not None
        ):
            return one.end < 0 or graph.category(one.end) in (0, int(Category.Time))
        return one.end >= 0 and bool(int(graph.adjacency.categories[one.end]) & wanted & ~int(Category.Time))

    def _is_turned(self, one: Statement, clause: Clause) -> bool:
        """Whether words between who is asked for and the thing say what a property says the other way round: "who *taught* X"
        does not ask whom X taught, nor "who *belonged to* X" to what X belonged."""
        if len(one.steps) > 1 or "" not in clause.words:
            return False
        own, known = language(self.code), vocabulary(self.code).relations
        asker = next((at for at, word in enumerate(clause.words) if word in own.roles["questions.who"]), -1)
        gap = clause.words[asker + 1 : clause.words.index("")] if asker >= 0 else ()
        forms = tuple(own.form(word) for word in gap if word != BESIDE)
        for kin in self._relations_of(one.steps[0]) if forms else ():
            said = known[kin.relation]
            to_thing, from_thing = (
                (said.forward, said.backward) if kin.inverse else (said.backward, said.forward)
            )
            if longest_phrase(forms, from_thing) > longest_phrase(forms, to_thing):
                return True
        return False

    def _relations_of(self, step: tuple[int, bool]) -> Iterator[Kin]:
        """The relations that a property is a path of, or the one that a property of the data's own is called like."""
        if (own := self.release[Lexicon].kin(step_name(self.release, step))) is not None:
            yield own
        code, relations = step_code(self.release, step), self.release[World].relations
        yield from (Kin(id, False) for id, relation in relations.items() if (code,) in relation.direct)

    def _are_alike(self, one: Statement, other: Statement) -> bool:
        """Whether they are stated in the same way, or by properties that say the same the other way round."""
        if len(one.steps) == len(other.steps) == 1 and one.steps != other.steps:
            inverse = self.release[Lexicon].own_inverse(step_name(self.release, one.steps[0]))
            return inverse == step_name(self.release, other.steps[0])
        return one.steps == other.steps

    def _is_called(self, one: Statement, said: Stems) -> bool:
        """Whether it is a text right next to the thing, and words ``said`` are the whole name of its property."""
        if one.end >= 0 or len(one.steps) > 1:
            return False
        own, iri = language(self.code), self.release[Graph].property_iri(one.steps[0][0])
        name = own.all_stems([self.release[Graph].property_label(one.steps[0][0], lang=self.code)])
        return normalise_property(iri) is None and bool(name) and name <= said

    def _is_measure(self, one: Statement) -> bool:
        if one.end < 0:
            return any(sign.isdigit() for sign in one.value) and len(one.through) == 0
        return is_a(self.release, one.end, "E54")

    def _is_agent(self, one: Statement, doing: Stems) -> bool:
        """Whether it ends in who did what is said by the stems ``doing``: of what was but the reason for it somebody else
        did that."""
        graph, code = self.release[Graph], self._last_code(one)
        events = [at for at, mid in enumerate(one.through) if graph.category(mid) == Category.Event]
        if len(events) > 1 and doing.isdisjoint(self._node(one.through[events[-1]])):
            last = graph.property_code(one.steps[events[-1]][0])
            if last not in PARTS:
                return False
        if code == AGENTS and events:
            return not any(is_a(self.release, one.through[events[-1]], made) for made in MAKING)
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
        return step_code(self.release, one.steps[-1])

    def _kinds(self, words: Sequence[str], content: Sequence[int], lexicon: Lexicon) -> dict[int, list[Ints]]:
        """By the positions of nouns, the entities of the kinds that they name; of no noun that means all of a category."""
        own, known = language(self.code), lexicon.kinds(self.code)
        stems = [own.stem(word) if word else "" for word in words]
        found: dict[int, list[Ints]] = {}
        for at in content:
            for length, kinds in known.at(stems, words, at):
                for kind in kinds:
                    if not kind.generic and kind.cost < 0.5:
                        for place in range(at, at + length):
                            found.setdefault(place, []).append(kind.nodes)
        return found

    @staticmethod
    def _is_of(node: int, kinds: Sequence[Ints]) -> bool:
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
            code, names = graph.property_code(prop), [step_name(self.release, step)]
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
            classes = lexicon.class_stems((int(self.release[Schema].kind[node]),), self.code)
            named = frozenset[str]()
            if (
                graph.category(node) not in (int(Category.Actor), int(Category.Concept))
                and graph.flags[node] & FLAG_LABELLED
            ):
                thing = own.all_stems(label.text for label in graph.labels(self.node))
                named = own.all_stems(label.text for label in graph.labels(node)) - thing
            found = {*classes, *self.typed(node), *named}
            if graph.category(node) == Category.Event:
                texts = self._called(node)
                alone = (stems[0] for text in texts if len(stems := own.stems(text)) == 1)  # no "head shot"
                acts = classes.union(named, alone)
                found |= verbs_of_events(acts, self.code)
            self._words[node] = frozenset(found)
        return self._words[node]

    def _called(self, node: int) -> list[str]:
        """The names of the types and roles of a node, folded."""
        graph = self.release[Graph]
        kinds = (*type_nodes(graph, node), *roles_of(graph, node))
        return [fold(label.text) for kind in kinds for label in graph.labels(kind)]

    def typed(self, node: int) -> Stems:
        """What the types and roles of a node are called, and what those do who have them: "conducted" of a conductor."""
        if node not in self._typed:
            own, texts = language(self.code), self._called(node)
            verbs = (own.verbs_of(text.rpartition(" ")[2]) for text in texts)
            self._typed[node] = own.all_stems(texts).union(*verbs)
        return self._typed[node]


def is_a(release: Release, node: int, base: str) -> bool:
    """Whether a node is of a class, by its code, or of one below it."""
    ontology = release[World].ontology
    return any(ontology.is_a(code, base) for code in release[Graph].codes(node) & ontology.classes.keys())


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


NAMED, LINE = 10, 240
"""Values that one fact names, as many as a line of a document; and characters, beyond which it names but ``LEAST``."""
LEAST = 5
PROVED = 3  # … and whose triples are given
LOOKED_AT = 200  # triples of an entity that are looked at for what the catalogue has no relation for
YEAR = 3  # characters from which a text that is but a number may be a year
OWN = 4  # facts by the data's own properties
W3C = "http://www.w3.org/"
"""What its vocabularies state of a node is its name, a comment, or a value that is told otherwise."""
QUOTED = 400  # characters of a text that are quoted
DESCRIBING = 60  # characters from which a literal is a text about the entity, and not a value
PORTRAITS = 3  # entities of one name that are told of
MIRRORED = 4  # characters of a name from which a longer name that holds it only repeats it
TYPES = 3  # types named beside an entity
IDENTIFYING = frozenset({"P1", "P2", "P41i", "P47", "P48", "P48i", "P102", "P131", "P149", "P139"})
"""Properties that lead to names, identifiers and types, which are told otherwise or say nothing to a reader."""
UNTOLD = LITTLE | {"E42", "E35", "E36", "E38", "E17", "E52", "E51", "E15", "E73", "D1"}
"""Classes of nodes that carry a name, a picture, a date or a classification, and are nothing to tell by themselves."""
COORDINATES = "coordinates"
"""Of a shape the middle is told, and not its outline."""
PART = "P46"  # from a thing to its parts
CONSISTS = "P9"  # from an event to its parts
DIMENSION = "dimension"
"""Any dimension: each is told with what it is, "Height 31.6 cm"."""
AROUND = frozenset({LOCATED, "falls_within"})
"""Relations to places of which what lies around them is told too: a village, and its country."""
GENERAL = frozenset({"participant", "has_part", "event_part", "during"})
"""Relations that also lead to what more telling ones lead to."""
SAME = "same_as"
"""Other records of the entity are told by their address."""
_SCHEME = re.compile(r"^[a-z]+://(www\.)?")
RAW_DATES = frozenset({"created_on"})
"""Relations whose clause takes a date as it is ("dates from 1825–1870"), without a preposition of its own."""
BORN = frozenset({"born_on", "born_in", "died_on", "died_in"})
FOUNDED = frozenset({"founded_on", "founded_in", "dissolved_on"})


@dataclass(frozen=True)
class Fact:
    """What one relation leads to. ``values``: texts, the first few; ``total``: how many there are; ``days``: the dates that
    the values are, where they are dates; ``nodes``: what was reached."""

    label: str
    values: tuple[str, ...]
    total: int
    nodes: tuple[int, ...] = ()
    triples: tuple[SourceTriple, ...] = ()
    days: tuple[Interval, ...] = ()
    quoted: bool = False
    relation: str = ""
    inverse: bool = False


@dataclass(frozen=True)
class Facts:
    """The facts of entities of a release, told in ``language``."""

    release: Release
    language: str

    @cached_property
    def _reader(self) -> Reader:
        return Reader(self.release, self.language)

    @cached_property
    def forms(self) -> SentenceForms:
        return sentences().forms(self.language)

    def name(self, node: int) -> str:
        return self._reader.named(node).label

    def of(self, node: int, id: str, inverse: bool = False) -> Fact | None:
        """What a relation leads to from a node, or from its far end; None where it is not known or leads nowhere."""
        relation = self.release.method.relations.get(id)
        if relation is None or not (relation.paths or relation.relationships):
            return None
        if id == COORDINATES:
            return self._point(relation.label(self.language, inverse), node)
        world = self.release[World]
        way = Way(relations=(id,), inverse=inverse, direct=True)
        around = Way(relations=(id,)) if id in AROUND and not inverse else way
        start = np.array([node], np.int32)
        try:
            if id == LOCATED and not inverse and len(pairs(world, Way(paths=WHERE_NOW), start).cell):
                # and not where it may have been once
                way, around = Way(paths=tuple(path[:1] for path in WHERE_NOW)), Way(paths=WHERE_NOW)
            cells = pairs(world, way, start).cell.tolist()
            if around is not way:
                cells = list(dict.fromkeys([*cells, *pairs(world, around, start).cell.tolist()]))
        except QuestionError:  # more than are walked at once
            return None
        way = around
        measured = self._is_measured(id)
        of_parts = self._of_parts(start) if measured else {}
        if id == DIMENSION:
            cells.sort(key=of_parts.__contains__)
        else:  # a greave's weight is not that of the armour
            cells = [one for one in cells if one not in of_parts]
        nodes = tuple(one for one in cells if one < world.size and one != node)
        if id == PARTICIPANT and not inverse:  # prints that were there took no part in a salon
            nodes = tuple(one for one in nodes if world.adjacency.categories[one] & int(Category.Actor))
        texts = tuple(literal(world, one - world.size).text for one in cells if one >= world.size)
        label = relation.label(self.language, inverse)
        if inverse:
            domain = sum(int(Category[name]) for name in relation.domain)
            categories = world.adjacency.categories
            nodes = tuple(one for one in nodes if int(categories[one]) & domain and not self.is_untold(one))
        if inverse or (relation.value == "entity" and not relation.literals.value):
            return self._named(label, id, node, way, self._best(nodes))
        if relation.value == "date":
            return self._dated(label, id, node, way, nodes, texts) or self._own_year(label, node, id)
        stated = self._stated(label, id, relation, node, way, nodes, texts, of_parts)
        return stated or (self._own_numbers(label, node, id) if measured else None)

    def _of_parts(self, whole: Ints) -> dict[int, int]:
        """What parts of a thing measure that are objects, with the part: the frame of a painting, a greave of an armour."""
        world = self.release[World]
        parts = pairs(world, PARTS_OF, whole).cell
        objects = np.array([one for one in parts.tolist() if is_a(self.release, one, "E19")], np.int32)
        measures = pairs(world, MEASURED, objects)
        owners = objects[measures.index].tolist()
        return dict(zip(measures.cell.tolist(), owners, strict=True))

    def _is_measured(self, id: str) -> bool:
        """Whether a relation leads to numbers with their units."""
        return id == DIMENSION or self.release.method.relations[id].value == "number"

    def _own_year(self, label: str, node: int, id: str) -> Fact | None:
        """What a property of the data's own states that is called like a relation to a date, "birth year: 1860"."""
        graph, like = self.release[Graph], self.release[Lexicon].years_of
        stated = [one for one in graph.literals(node) if like.get(graph.property_iri(one.property)) == id]
        told = {describe(known, self.language): known for one in stated if (known := parse_date(one.value))}
        if not told:
            return None
        triples = tuple(triple for one in stated for triple in self._of_literal(node, one, one.value).triples)
        return Fact(label, tuple(told), len(told), (), triples, tuple(told.values()), relation=id)

    def _own_numbers(self, label: str, node: int, id: str) -> Fact | None:
        """What properties of the data's own state that are called like a relation to a number, "Height (mm): 2105"; of any
        dimension all those called like one, or by a unit, "Area in hectares: 2.35"."""
        graph, like, meant = self.release[Graph], self.release[Lexicon].numbers, {id}
        relations = self.release.method.relations
        if id == DIMENSION:
            ends = {path[-1] for path in relations[id].direct}
            meant = {other for other, one in relations.items() if ends & {path[-1] for path in one.direct}}

        def is_meant(number: int) -> bool:
            called = like.get(graph.property_iri(number))
            return called in meant or (id == DIMENSION and called == "" and self._names_unit(number))

        stated = [one for one in graph.literals(node) if is_meant(one.property)]
        facts = [self._of_literal(node, one, one.value) for one in stated]
        if len(facts) < 2 and id != DIMENSION:
            return next(iter(facts), None)
        values = tuple(f"{fact.label} {fact.values[0]}" for fact in facts)
        triples = tuple(triple for fact in facts for triple in fact.triples)
        return Fact(label, values, len(values), (), triples, relation=id) if facts else None

    def _names_unit(self, number: int) -> bool:
        """Whether a property's name has the unit in which it states numbers."""
        words = tokenize(self.release[Graph].property_label(number, lang=self.language))
        small = language(self.language).stop
        return any(len(word) > 1 and word not in small and known_unit(word) is not None for word in words)

    def _of_literal(self, node: int, one: StatedLiteral, text: str, quoted: bool = False) -> Fact:
        """What one literal states of a node, told by ``text``."""
        graph = self.release[Graph]
        label, name = graph.property_label(one.property, lang=self.language), self.name(node)
        iri = graph.property_iri(one.property)
        triple = SourceTriple(graph.iri(node), iri, one.value, name, label, one.value, one.graphs)
        return Fact(label, (text,), 1, (), (triple,), quoted=quoted)

    def reached(self, nodes: Sequence[int]) -> dict[int, set[int]]:
        """For each entity all that the relations of its portrait lead to, near and far."""
        world, known = self.release[World], self.release.method.relations
        found, alike = {node: set[int]() for node in nodes}, dict[tuple[str, ...], list[int]]()
        for node in sorted(found):
            order = order_of(self.release, node)
            alike.setdefault((*order.head, *order.rest), []).append(node)
        for relations, own in alike.items():
            for id in filter(known.__contains__, relations):
                with suppress(QuestionError):
                    ends = pairs(world, Way(relations=(id,)), np.array(own, np.int32), literals=False)
                    for at, end in zip(ends.index.tolist(), ends.cell.tolist(), strict=True):
                        found[own[at]].add(end)
        return {node: ends - {node} for node, ends in found.items()}

    def is_of_parts(self, node: int, fact: Fact) -> bool:
        """Whether a fact is a measure of several parts of a thing, and none of its own."""
        relation = self.release.method.relations.get(fact.relation)
        if relation is None or not fact.nodes or not self._is_measured(fact.relation):
            return False
        own = Way(paths=tuple(path for path in relation.direct if not path[0].startswith(PART)))
        parts = Way(paths=((PART,),))
        with suppress(QuestionError):
            start, world = np.array([node], np.int32), self.release[World]
            return not pairs(world, own, start).cell.size and pairs(world, parts, start).cell.size > 1
        return False

    def label(self, id: str) -> str:
        """What a relation is called, from its domain."""
        return self.release.method.relations[id].label(self.language) or id

    def lacking(self, node: int, what: str) -> str:
        """That something is not recorded of an entity."""
        return self.forms.not_recorded.replace("{x}", self.name(node)).replace("{what}", what)

    def _point(self, label: str, node: int) -> Fact | None:
        point = Details(self.release, self.language).coordinates(node)
        if point is None:
            return None
        return Fact(label, (f"{point.lat:.4f}, {point.lon:.4f}",), 1, relation=COORDINATES)

    def _best(self, nodes: Sequence[int]) -> tuple[int, ...]:
        """The nodes that have a name, where any has."""
        flags, documents = self.release[Graph].flags, self.release[Documents]
        named = [node for node in nodes if flags[node] & FLAG_LABELLED]
        described = tuple(one for one in named if documents.document_of(one) is not None)
        return described or tuple(named) or tuple(nodes)

    def _named(self, label: str, id: str, node: int, way: Way, nodes: Sequence[int]) -> Fact | None:
        names = dict[str, int]()
        for one in nodes[: 10 * NAMED]:
            iri = self.release[Graph].iri(one)
            names.setdefault(_SCHEME.sub("", iri) if id == SAME else self._reader.cell(one).label, one)
        if not names:
            return None
        shown = _first(tuple(names))
        distinct = len(names) if len(nodes) <= 10 * NAMED else len(nodes)
        triples = tuple(self._proof(node, way, [names[one] for one in shown]))
        return Fact(label, shown, distinct, tuple(nodes), triples, relation=id, inverse=way.inverse)

    def _dated(
        self, label: str, id: str, node: int, way: Way, nodes: Sequence[int], texts: Sequence[str]
    ) -> Fact | None:
        """Spans of the time-spans that are reached; what names one says beside its numbers ("ca.") stays."""
        told, undated = self._when(nodes, texts)
        if not told and not undated:
            return None
        shown, days = (tuple(told), tuple(told.values())) if told else (tuple(undated), ())
        triples = tuple(self._proof(node, way, list(nodes)[:PROVED]))
        return Fact(label, shown[:NAMED], len(shown), tuple(nodes), triples, days[:NAMED], relation=id)

    def _when(
        self, nodes: Sequence[int], texts: Sequence[str]
    ) -> tuple[dict[str, Interval], dict[str, None]]:
        """The dates of time-spans and texts, in words, and the names of those that have none."""
        world, told = self.release[World], dict[str, Interval]()
        undated = dict[str, None]()
        for one in nodes:
            if not world.dated[one]:
                undated.update(
                    dict.fromkeys(plain(label.text) for label in self.release[Graph].labels(one)[:1])
                )
                continue
            begin, end = (int(side[one]) for side in world.extents)
            known = in_years(
                Interval(None if begin == OPEN_BEGIN else begin, None if end == OPEN_END else end)
            )
            told.setdefault(self._as_written(one, describe(known, self.language)), known)
        for text in texts:
            if (read := parse_date(text)) is not None:
                known = in_years(read)
                told.setdefault(describe(known, self.language), known)
        return told, undated

    def _as_written(self, node: int, dates: str) -> str:
        """A date, and how the data writes it where that says more: "ca. 1840 (1828–1852)"."""
        for one in self.release[Graph].labels(node):
            written = plain(one.text)
            known = parse_date(written)
            if known is not None and known.approximate:
                return f"{written} ({dates})" if dates not in written else written
        return dates

    def _stated(
        self,
        label: str,
        id: str,
        relation: Relation,
        node: int,
        way: Way,
        nodes: Sequence[int],
        texts: Sequence[str],
        of_parts: Mapping[int, int],
    ) -> Fact | None:
        """Numbers with their units, those ``of_parts`` with the part that has them, and texts."""
        measured, found = self._is_measured(id), dict.fromkeys(plain(text) for text in texts)
        for one in nodes[: 4 * NAMED]:
            value = next(self._ends(one, relation.literal_tails("value")), "")
            if not value:
                value = self._reader.named(one).label
            elif measured:
                unit = next(self._ends(one, relation.literal_tails("unit")), "")
                kinds = type_nodes(self.release[Graph], one) if id == DIMENSION else ()
                kind = next(map(self.name, kinds), "")
                value = " ".join(filter(None, (kind, value, unit)))
                if value and one in of_parts:
                    value = f"{self.name(of_parts[one])}: {value}"
            found.setdefault(plain(value))
        values = tuple(filter(None, found))
        if not values:
            return None
        quoted = relation.value == "text" and len(values[0]) >= DESCRIBING
        shown = tuple(self._cut(one) for one in values[: 1 if quoted else NAMED])
        triples = tuple(self._proof(node, way, list(nodes)[:PROVED]))
        total = 1 if quoted else len(values)
        return Fact(label, shown, total, tuple(nodes), triples, quoted=quoted, relation=id)

    def _cut(self, text: str) -> str:
        abbreviations = frozenset(map(fold, self.release.method.sets.answers.abbreviations))
        return sentence_cut(text, QUOTED, abbreviations)

    def _ends(self, node: int, tails: Sequence[Sequence[str]]) -> Iterator[str]:
        """Literals and names that tails of a relation end in, the preferred tail first."""
        world = self.release[World]
        for tail in tails:
            way = Way(paths=(tuple(tail),))
            with suppress(QuestionError):
                for cell in pairs(world, way, np.array([node], np.int32)).cell.tolist():
                    yield self.name(cell) if cell < world.size else literal(world, cell - world.size).text

    def _proof(self, node: int, way: Way, ends: Sequence[int]) -> Iterator[SourceTriple]:
        graph = self.release[Graph]
        for end in ends[:NAMED]:
            condition = Related(way=way, to=Anchor(iris=(graph.iri(end),)))
            plan = Plan(where=(Among(iris=(graph.iri(node),)), condition))
            with suppress(QuestionError):
                for reason in reasons_of(self.release, plan, [node], self._reader)[0]:
                    yield from reason.triples

    def of_statements(self, node: int, found: Sequence[Statement]) -> Fact | None:
        """What statements of one kind state of a node; None for none."""
        values = dict.fromkeys(filter(None, (self._stated_value(node, one) for one in found)))
        if not values:
            return None
        triples = tuple(triple for one in found[:PROVED] for triple in self._steps(node, one))
        quoted = len(values) == 1 and found[0].end < 0 and len(next(iter(values))) >= DESCRIBING
        shown = _first(tuple(self._cut(one) if quoted else one for one in values))
        ends = tuple(one.end for one in found if one.end >= 0)
        return Fact(self._way_label(found), shown, len(values), ends, triples, quoted=quoted)

    def _stated_value(self, node: int, one: Statement) -> str:
        """What a statement ends in, in words: a date, a measure with its unit, the name of a thing and its types where it has
        no name but that of what it belongs to."""
        graph, world = self.release[Graph], self.release[World]
        if one.end < 0:
            return plain(one.value)
        if world.dated[one.end] and graph.category(one.end) in (0, int(Category.Time)):
            return next(iter(self._when((one.end,), ())[0]), "")
        relation = self.release.method.relations.get(DIMENSION)
        if relation is not None and is_a(self.release, one.end, "E54"):
            value = next(self._ends(one.end, relation.literal_tails("value")), "")
            unit = next(self._ends(one.end, relation.literal_tails("unit")), "")
            return plain(" ".join(filter(None, (value, unit)))) or self.name(one.end)
        name = self._reader.named(one.end).label
        notes = [plain(each.value) for each in graph.literals(one.end) if fold(each.value) != fold(name)]
        # "Ulm Town Museum" is no "museum" of Ulm
        proper = graph.category(one.end) in (Category.Actor, Category.Place)
        of_it = not proper and fold(self.name(node)) in fold(name)
        if not graph.flags[one.end] & FLAG_LABELLED or of_it:
            own = [self.name(kind) for kind in type_nodes(graph, one.end)]
            told = [*own, *(self._cut(note) for note in notes if len(note) > 1)]
            return "; ".join(dict.fromkeys(told)) or name
        return name

    def _way_label(self, found: Sequence[Statement]) -> str:
        """What statements of one kind tell, by the events and roles that all lead through and their last property."""
        graph, one = self.release[Graph], found[0]
        told = list[str]()
        for place, mid in enumerate(one.through):
            every = [
                (*roles_of(graph, at), *type_nodes(graph, at))
                for at in {each.through[place] for each in found}
            ]
            # Of several types the one that more has says what it is: a campaign, rather than its style.
            uses = self.release[TriplesIndex].degree
            kinds = [*roles_of(graph, mid), *sorted(type_nodes(graph, mid), key=uses, reverse=True)]
            if shared := [kind for kind in kinds if all(kind in some for some in every)]:
                told.append(self.name(shared[0]))
            elif graph.category(mid) == Category.Event and len(graph.types(mid)):
                told.append(graph.class_label(int(graph.types(mid)[0]), self.language))
        if one.end >= 0 and is_a(self.release, one.end, "E54"):
            told += [self.name(kind) for kind in type_nodes(graph, one.end)][:1]
        # A role, a measure or a date says by itself what it is of an event.
        plain_end = one.end >= 0 and (
            is_a(self.release, one.end, "E54") or graph.category(one.end) == Category.Time
        )
        if not told or not (plain_end or any(list(roles_of(graph, mid)) for mid in one.through)):
            prop, ahead = one.steps[-1]
            told.append(graph.property_label(prop, not ahead, self.language))
        return ", ".join(dict.fromkeys(filter(None, told)))

    def _steps(self, node: int, one: Statement) -> Iterator[SourceTriple]:
        """The triples of a statement."""
        graph = self.release[Graph]
        nodes = (node, *one.through, one.end)
        for (prop, ahead), here, there in zip(one.steps, nodes, nodes[1:], strict=False):
            label, iri = graph.property_label(prop, lang=self.language), graph.property_iri(prop)
            if there < 0:
                yield SourceTriple(graph.iri(here), iri, one.value, self.name(here), label, one.value)
                continue
            s, o = (here, there) if ahead else (there, here)
            yield SourceTriple(graph.iri(s), iri, graph.iri(o), self.name(s), label, self.name(o))

    # what only the data's own properties say

    def own(self, node: int, told: Iterable[int]) -> Iterator[Fact]:
        """Facts by the data's own properties: of what nothing was told yet, the first few; then texts about the entity."""
        graph, name = self.release[Graph], fold(self.name(node))
        known, by_property = {node, *told}, dict[int, list[int]]()
        for triple in self.release[TriplesIndex].of(node, LOOKED_AT):
            if triple.s == node and triple.o not in known and self._is_told(triple.p, triple.o, name):
                by_property.setdefault(triple.p, []).append(triple.o)
        for prop, ends in list(by_property.items())[:OWN]:
            names = dict.fromkeys(self.name(end) for end in ends)
            label = graph.property_label(prop, lang=self.language)
            way = Way(paths=((graph.property_iri(prop),),))
            yield Fact(
                label,
                _first(tuple(names)),
                len(names),
                tuple(ends),
                tuple(self._proof(node, way, ends[:PROVED])),
            )
        yield from self._own_values(node)
        yield from self._own_texts(node)

    def _own_values(self, node: int) -> Iterator[Fact]:
        """What properties of the data's own state in short: "opening date", "print run"."""
        graph, by_property = self.release[Graph], dict[int, list[StatedLiteral]]()
        for one in graph.literals(node):
            if self._is_own(one.property) and len(one.value) < DESCRIBING and "://" not in one.value:
                by_property.setdefault(one.property, []).append(one)
        for stated in islice(by_property.values(), NAMED):
            facts = [self._of_literal(node, one, plain(one.value)) for one in stated[:NAMED]]
            values = tuple(dict.fromkeys(fact.values[0] for fact in facts))
            triples = tuple(triple for fact in facts for triple in fact.triples)
            yield replace(facts[0], values=values, total=len(values), triples=triples)

    def of_category(self, node: int, expects: int) -> Iterator[Fact]:
        """What is stated of a node that ends in what a question word asks for, whatever else is asked; the nearest first."""
        heard = Heard(self.release, self.language, node, statements_of(self.release, node))
        alike = dict[str, list[Statement]]()
        for one in sorted(heard.statements, key=lambda one: (one.cost, len(one.steps))):
            if one.cost < FAR and self._is_of_events(one) and heard.fits(one, Clause((), expects)):
                alike.setdefault(self._way_label([one]), []).append(one)
        for stated in alike.values():
            if (fact := self.of_statements(node, stated)) is not None:
                yield fact

    def _is_of_events(self, one: Statement) -> bool:
        """Whether it is stated of the thing or of one event of it, by a property that says what it ends in."""
        graph = self.release[Graph]
        events = sum(graph.category(mid) == Category.Event for mid in one.through)
        named = any(self.is_untold(mid) or graph.category(mid) == Category.Concept for mid in one.through)
        return events < 2 and not named and (one.end >= 0 or self._is_own(one.steps[-1][0]))

    def _is_own(self, prop: int) -> bool:
        """Whether a property is the data's own."""
        iri = self.release[Graph].property_iri(prop)
        return normalise_property(iri) is None and not iri.startswith(W3C)

    def _is_told(self, prop: int, end: int, name: str) -> bool:
        """Whether a triple says something: of a named thing that is no name, picture, date or mirror of the entity itself."""
        graph = self.release[Graph]
        if graph.property_code(prop) in IDENTIFYING or not graph.flags[end] & FLAG_LABELLED:
            return False
        if not len(graph.types(end)) or self.is_untold(end) or graph.category(end) == Category.Time:
            return False
        return name not in fold(graph.label(end, (self.language,)))

    def is_untold(self, node: int) -> bool:
        """Whether a node is but a name, a text, a picture, a date or a classification of something."""
        return not UNTOLD.isdisjoint(self.release[Graph].codes(node))

    def _own_texts(self, node: int) -> Iterator[Fact]:
        graph = self.release[Graph]
        names = {fold(label.text) for label in graph.labels(node)}
        texts = [one for one in graph.literals(node) if fold(one.value) not in names]
        longest = max(texts, key=lambda one: len(one.value), default=None)
        if longest is None or len(longest.value) < DESCRIBING or "://" in longest.value[:10]:
            return
        yield self._of_literal(node, longest, self._cut(plain(longest.value)), quoted=True)

    # in words

    def kinds(self, node: int) -> list[str]:
        """Names of the types of an entity, else of its classes."""
        graph = self.release[Graph]
        kinds = [self.name(kind) for kind in type_nodes(graph, node) if graph.flags[kind] & FLAG_LABELLED]
        if not kinds:
            kinds = [graph.class_label(int(number), self.language) for number in graph.types(node)]
        return list(dict.fromkeys(filter(None, kinds)))

    def typed(self, node: int) -> str:
        """The entity with what it is: "Pater Familias (drawings, watercolors)"."""
        name, shown = self.name(node), ", ".join(self.kinds(node)[:TYPES])
        return self.forms.typed.replace("{x}", name).replace("{v}", shown) if shown else name

    def values(self, fact: Fact) -> str:
        """The values of a fact in one line."""
        if fact.quoted:
            return self.forms.quoted.replace("{v}", fact.values[0])
        text = "; ".join(fact.values)
        left = fact.total - len(fact.values)
        return self.forms.several.replace("{v}", text).replace("{n}", str(left)) if left > 0 else text

    def clause(self, fact: Fact) -> str:
        """A fact as it goes on from the name of the entity; "" where the language has no clause for its relation."""
        open_ended = any(day.begin is None or day.end is None for day in fact.days)
        if fact.inverse or fact.quoted or (open_ended and fact.relation in RAW_DATES):
            return ""
        form = self.forms.clauses.get(fact.relation, "")
        return form.replace("{v}", self._phrase(fact)) if form else ""

    def clauses(self, facts: Sequence[Fact]) -> list[str]:
        """The clauses of several facts; those that differ in nothing but a preposition are one: "was born in 1830 in Ulm"."""
        found: list[tuple[tuple[list[str], list[str]], str]] = []
        for fact in facts:
            if not (clause := self.clause(fact)):
                continue
            before, _, after = (part.split() for part in self.forms.clauses[fact.relation].partition("{v}"))
            if found and (own := _same_verb(found[-1][0], (before, after))) is not None:
                text = found[-1][1].removesuffix(" ".join(after)).rstrip()
                value = " ".join([*own, self._phrase(fact), *after])
                found[-1] = found[-1][0], f"{text} {value}"
            else:
                found.append(((before, after), clause))
        return [clause for _, clause in found]

    def _phrase(self, fact: Fact) -> str:
        """The values of a fact in its clause: a date behind its preposition."""
        text, when = self.values(fact), self.forms.when
        if len(fact.days) != 1 or fact.relation in RAW_DATES:
            return text
        [known] = fact.days
        if known.begin is None or known.end is None or "(" in text:
            return when.span.replace("{v}", text)
        if known.begin == known.end:
            return when.day.replace("{v}", text)
        first, last = civil(known.begin), civil(known.end)
        whole = first[0] == last[0] and first[1:] == (1, 1) and last[1:] == (12, 31)
        return (when.year if whole else when.span).replace("{v}", text)

    def sentence(self, node: int, fact: Fact) -> str:
        """One fact of an entity as a sentence."""
        if clause := self.clause(fact):
            return ended(f"{self.name(node)} {clause}.")
        text = self.forms.labelled.replace("{x}", self.name(node)).replace("{what}", fact.label)
        return ended(f"{text.replace('{v}', self.values(fact))}.")

    def entry(self, fact: Fact) -> str:
        """A fact after the name of the entity was told: "Made of: paper; wash."."""
        if fact.quoted and fact.relation in ("description", ""):
            return self.values(fact)
        if fact.inverse and (form := self.forms.inverse.get(fact.relation)):
            return ended(form.replace("{v}", self.values(fact)).replace("{n}", str(fact.total)))
        label = f"{fact.label[:1].upper()}{fact.label[1:]}"
        return ended(self.forms.told.replace("{what}", label).replace("{v}", self.values(fact)))


def _first(values: Sequence[str]) -> tuple[str, ...]:
    """The values that are named: of long ones fewer."""
    ends = np.cumsum([len(one) for one in values[:NAMED]])
    return tuple(values[: max(LEAST, int(np.searchsorted(ends, LINE, "right")))])


def ended(sentence: str) -> str:
    """The sentence with one full stop, where its last word has its own: "Cambrian Steam Navigation Co."."""
    return sentence[:-1] if sentence[-2:-1] in (".", "…") and sentence.endswith(".") else sentence


def _same_verb(one: tuple[list[str], list[str]], other: tuple[list[str], list[str]]) -> list[str] | None:
    """What the second of two forms of a clause has before its value besides the words of the first, its preposition; None
    where they are not the same verb."""
    (before, after), (own, own_after) = one, other
    shared = next(
        (at for at, (a, b) in enumerate(zip(before, own, strict=False)) if a != b), min(len(before), len(own))
    )
    if after != own_after or shared < max(1, len(before) - 1, len(own) - 1):
        return None
    if shared < min(len(before), len(own)) and shared < 2 and not after:
        return None  # "was founded", "was dissolved"
    return own[shared:]


def in_years(known: Interval) -> Interval:
    """The span as it is, but a lone first of January as its year: data that knows a year alone writes that day for it."""
    begin, end = known.begin, known.end
    if end is not None and civil(end)[1:] == (1, 1) and begin in (None, end):
        last = year_interval(civil(end)[0])
        return replace(known, begin=None if begin is None else last.begin, end=last.end)
    return known


def sentence_cut(text: str, longest: int, abbreviations: Collection[str] = ()) -> str:
    """A text cut at the end of a sentence, or of a word where its first sentence is longer; ``abbreviations``: see
    `split_sentences`."""
    if len(text) <= longest:
        return text
    end = max((one.last for one in split_sentences(text, abbreviations) if one.last <= longest), default=0)
    return f"{text[:end].rstrip()} …" if text[:end].strip() else shorten(text, longest)


FAR = 0.7  # what a statement may cost that is told where it is not known what is meant
NEAR = 6  # facts of the categories that are asked for that are told where it is not known which is meant
Kind = Literal["all", "where", "short"]
SHORT = 80  # characters of a value that is no text
FEW = 5  # facts after the first sentence that are told in short


def order_of(release: Release, node: int) -> PortraitOrder:
    """What is told of entities of a category, in order; nothing of one that has none."""
    name = category_name(release[Graph], node)
    return next((one for key, one in sentences().portraits.items() if key == name), PortraitOrder())


def portrait(nodes: Sequence[int], cited: SourceList, kind: Kind = "all") -> str:
    """What is told of the entities of one name, a short paragraph for each of the first few, which cites it; of ``where``
    they are alone, where that is known; ``short``: the first of its facts, without texts."""
    facts = _facts(cited)
    alike = dict[tuple[str, ...], list[int]]()
    for node in nodes[:PORTRAITS]:
        number, parts = _portrait(facts, node, cited, kind)
        alike.setdefault(parts, []).append(number)
    texts = [_cited(parts, numbers) for parts, numbers in alike.items()]
    if len(nodes) == 1:
        return texts[0]
    head = facts.forms.alike.replace("{n}", str(len(nodes))).replace("{x}", facts.name(nodes[0]))
    return "\n".join([head, *(f"- {text}" for text in texts)])


MOST_EVENTS = 20  # of one thing that are told


def _events_at(facts: Facts, at: Statement) -> Iterator[Statement]:
    """All events that the end of a statement is stated with, as what is stated on from there."""
    graph, index = facts.release[Graph], facts.release[TriplesIndex]
    numbers = index.numbers_of(at.end)
    ahead = index.tri_s[numbers] == at.end
    others = np.where(ahead, graph.adjacency.forward.val[numbers], index.tri_s[numbers])
    through = (*at.through, at.end) if at.steps else ()
    events = np.flatnonzero(graph.adjacency.categories[others] == int(Category.Event))
    for place in events.tolist():
        other = int(others[place])
        if other not in through and not facts.is_untold(other):
            step = (int(index.tri_p[numbers[place]]), bool(ahead[place]))
            yield Statement((*at.steps, step), through, other)


def history(node: int, cited: SourceList) -> str:
    """What happened to a thing, and what that consisted of, or what somebody took part in: an event a row, in the order of
    their dates, those without last; "" where nothing is recorded."""
    release, facts, graph = cited.release, _facts(cited), cited.release[Graph]
    found = {one.end: one for one in _events_at(facts, Statement((), (), node))}
    parts = (one for event in list(found.values()) for one in _events_at(facts, event))
    found = {one.end: one for one in parts if step_code(release, one.steps[-1]) == CONSISTS} | found
    dates = dict(zip(found, cited.details.all_dates(list(found)), strict=True))
    dated = {event: int(date.begin or date.end or 0) for event, date in dates.items() if date is not None}
    ordered = sorted(found, key=lambda event: (event not in dated, dated.get(event, 0)))
    rows = dict[str, None]()
    for event in ordered[:MOST_EVENTS]:
        fact, date = facts.of_statements(node, [found[event]]), dates[event]
        if fact is not None:
            number, told = cited.cite(node, fact.triples), "; ".join(fact.values)
            kinds = (facts.name(kind) for kind in type_nodes(graph, event))
            new = ", ".join(kind for kind in kinds if fold(kind) not in fold(told))
            when = f"{date.text}: " if date else ""
            rows[f"- {when}{told}{f' ({new})' if new else ''} [{number}]"] = None
    if (left := len(ordered) - MOST_EVENTS) > 0:
        more = release.method.sets.words(cited.language).more
        rows[f"- {more.of(left).replace('{n}', str(left))}"] = None
    return "\n".join([facts.forms.history.replace("{x}", facts.name(node)), *rows]) if rows else ""


def _cited(parts: Iterable[str], numbers: Iterable[int]) -> str:
    """Sentences, each of which cites its sources."""
    sources = " ".join(f"[{number}]" for number in dict.fromkeys(numbers))
    return " ".join(f"{part} {sources}" for part in parts)


def _portrait(facts: Facts, node: int, cited: SourceList, kind: Kind) -> tuple[int, tuple[str, ...]]:
    """The number of its source, and what is told of an entity."""
    order = order_of(facts.release, node)
    if kind == "where":
        found = [fact for id in order.where if (fact := facts.of(node, id)) is not None]
        if found:
            shown = [*found[:2], *(one for one in found[2:] if one.relation == COORDINATES)]
            return _cite(cited, node, shown), tuple(facts.sentence(node, fact) for fact in shown)
    head = list(_head(facts, node, order))
    rest = list(_distinct(facts, node, order, head))
    if kind == "short":
        plain = (fact for fact in rest if not fact.quoted and max(map(len, fact.values), default=0) <= SHORT)
        rest = list(islice(plain, FEW))
    cited.cite(node, cited.type_triples(node))
    number = _cite(cited, node, (*head, *rest))
    opening = facts.typed(node)
    if clauses := facts.clauses(head):
        opening = f"{opening} {_joined(clauses, facts.forms.joint)}"
    entries = [facts.entry(fact) for fact in (*(one for one in head if not facts.clause(one)), *rest)]
    opening = ended(f"{opening}.")
    return number, (opening, " ".join(entries)) if entries else (opening,)


def _head(facts: Facts, node: int, order: PortraitOrder) -> Iterator[Fact]:
    """The facts of the first sentence; the same paths may tell of a birth and of a foundation."""
    group = not GROUPS.isdisjoint(facts.release[Graph].codes(node))
    for id in order.head:
        if id not in (BORN if group else FOUNDED) and (fact := facts.of(node, id)) is not None:
            yield fact


def _joined(clauses: Sequence[str], joint: str) -> str:
    return clauses[0] if len(clauses) == 1 else f"{', '.join(clauses[:-1])}{joint}{clauses[-1]}"


def _distinct(facts: Facts, node: int, order: PortraitOrder, head: Sequence[Fact]) -> Iterator[Fact]:
    """The facts after the first sentence, none that only says again what another said."""
    said = {value for fact in head for value in fact.values}
    said.update(facts.kinds(node))
    name = facts.name(node)
    described, stated = False, {triple for fact in head for triple in fact.triples}
    asked = [*((id, False) for id in order.rest), *((id, True) for id in order.inverse)]
    of_relations = [fact for id, inverse in asked if (fact := facts.of(node, id, inverse)) is not None]
    last = [fact for id in order.last if (fact := facts.of(node, id)) is not None]
    told = {end for fact in (*head, *of_relations, *last) for end in fact.nodes}
    for fact in (*of_relations, *facts.own(node, told), *last):
        if facts.is_of_parts(node, fact):
            continue
        if not fact.nodes and fact.triples and stated.issuperset(fact.triples):
            continue
        stated.update(fact.triples)
        if said.issuperset(fact.values) or (fact.quoted and described and not fact.relation):
            continue
        kept = _new(facts, fact, said, name)
        if kept is not None:
            said.update(kept.values)
            described |= kept.quoted
            yield kept


def _new(facts: Facts, fact: Fact, said: Collection[str], name: str) -> Fact | None:
    """The fact without what says nothing new: events and texts that but repeat a name ("Production of Mexican News" after
    "Mexican News"), and, of a relation that others specialise, what was said already; None where nothing is left."""
    if fact.quoted or not fact.nodes or fact.days:
        return fact
    categories = facts.release[Graph].category_of_node
    known = [frozenset(tokenize(one)) for one in (*said, name) if len(one) >= MIRRORED]
    mirroring = all(int(categories[node]) == Category.Event or facts.is_untold(node) for node in fact.nodes)
    general = fact.inverse or not fact.relation or fact.relation in GENERAL

    def is_new(value: str) -> bool:
        repeats = mirroring and any(one and one < frozenset(tokenize(value)) for one in known)
        return not repeats and not (general and value in said)

    kept = tuple(filter(is_new, fact.values))
    return replace(fact, values=kept, total=fact.total - len(fact.values) + len(kept)) if kept else None


def _facts(cited: SourceList) -> Facts:
    return Facts(cited.release, cited.language)


def _cite(cited: SourceList, node: int, found: Iterable[Fact]) -> int:
    """The number of an entity as a source, with the triples of facts of it."""
    return cited.cite(node, [one for fact in found for one in fact.triples])


def told(facts: Facts, node: int, found: Sequence[Fact], cited: SourceList) -> str:
    """Facts of an entity as sentences, each of which cites it."""
    number = _cite(cited, node, found)
    return " ".join(f"{facts.sentence(node, fact)} [{number}]" for fact in found)


@dataclass(frozen=True, slots=True)
class Asked:
    """A fact that is asked for: the relations that may tell it, the likeliest first, or else what is stated of each thing;
    ``expects``: a mask of the categories that a question word asks for."""

    relations: tuple[str, ...] = ()
    statements: tuple[tuple[int, tuple[Statement, ...]], ...] = ()
    expects: int = 0

    def of(self, facts: Facts, node: int) -> Fact | None:
        """The fact of one thing; None where it is not known."""
        for thing, stated in self.statements:
            if thing == node:
                return facts.of_statements(node, stated)
        found = (facts.of(node, id) for id in self.relations)
        return next((fact for fact in found if fact is not None and self._answers(facts, node, fact)), None)

    def _answers(self, facts: Facts, node: int, fact: Fact) -> bool:
        """Whether what is told may be whom a question asks for: no puppet that was shown organised the exhibition. That a
        thing has its name tells nothing."""
        if fact.values == (facts.name(node),):
            return False
        relation = facts.release.method.relations.get(fact.relation)
        entities = relation is not None and relation.value == "entity" and fact.nodes
        if self.expects != int(Category.Actor) or not entities:
            return True
        categories = (int(facts.release[Graph].category(node)) for node in fact.nodes)
        return any(not one or one & self.expects for one in categories)


@dataclass(frozen=True)
class Told:
    """Facts in words: ``text`` that cites, "" where none is known; ``lacking``: that some are not recorded, of which question
    words ask for the categories ``expects``."""

    text: str
    lacking: str = ""
    expects: int = 0


MOST_LINES = 5  # entities of one name that are told apart


def told_facts(nodes: Sequence[int], asked: Sequence[Asked], cited: SourceList) -> Told:
    """The facts that are asked for of the entities of one name: of each the first relation that tells it; a line for each
    entity that has any. Where no entity has one of them, that is said."""
    facts = _facts(cited)
    found = {node: list[Fact]() for node in nodes}
    lacking, expects = [], 0
    for one in asked:
        known = {node: fact for node in nodes if (fact := one.of(facts, node)) is not None}
        for node, fact in known.items():
            # "who owned it" asks for those of before as well
            before = facts.of(node, OWNED_BEFORE) if fact.relation == OWNED else None
            others = before is not None and not set(before.nodes) <= set(fact.nodes)
            both = (fact, before) if before is not None and others else (fact,)
            found[node] += (each for each in both if each not in found[node])
        if not known and one.relations:
            lacking.append(facts.label(one.relations[0]))
            expects |= one.expects
    having = {node: own for node, own in found.items() if own}
    missing = facts.lacking(nodes[0], ", ".join(dict.fromkeys(lacking))) if lacking else ""
    if not having:
        return Told("", missing, expects)
    if len(having) == 1:
        [(node, own)] = having.items()
        return Told(told(facts, node, own, cited), missing, expects)
    head = facts.forms.alike.replace("{n}", str(len(nodes))).replace("{x}", facts.name(nodes[0]))
    lines = dict[str, list[int]]()
    for node, own in having.items():
        line = f"- {facts.typed(node)}: {' '.join(map(facts.entry, own))}"
        lines.setdefault(line, []).append(_cite(cited, node, own))
    if len(lines) == 1:  # records of one thing, for all that is asked
        [node, *_] = having
        return Told(told(facts, node, having[node], cited), missing, expects)
    rows = [_cited([line], numbers) for line, numbers in islice(lines.items(), MOST_LINES)]
    if (left := len(lines) - MOST_LINES) > 0:
        more = cited.release.method.sets.words(cited.language).more
        rows.append(f"- {more.of(left).replace('{n}', str(left))}")
    return Told("\n".join([head, *rows]), missing, expects)


def any_known(release: Release, nodes: Sequence[int], asked: Sequence[Asked]) -> bool:
    """Whether any of the facts that are asked for is known of any of the entities."""
    facts = Facts(release, "")
    return any(one.of(facts, node) is not None for node in nodes for one in asked)


def nowhere(release: Release, nodes: Sequence[int], language: str) -> str:
    """What to say of the entities of one name where the data does not tell where any of them is; "" where it does."""
    facts = Facts(release, language)
    asked = [Asked((id,)) for node in nodes for id in order_of(release, node).where]
    if not asked or any_known(release, nodes, asked):
        return ""
    return facts.lacking(nodes[0], facts.label(asked[0].relations[0]))


def recorded(nodes: Sequence[int], cited: SourceList, expects: int = 0, said: str = "") -> str:
    """What is recorded of the entities of one name, after it was said what is not; of one, what is of the categories that a
    question word asks for, too. ``said``: what was told of it; then no more than that."""
    facts, told_before = _facts(cited), said or portrait(nodes, cited, "short")
    near = facts.of_category(nodes[0], expects) if expects and len(nodes) == 1 else ()
    new = (fact for fact in near if not all(value in told_before for value in fact.values))
    if not (shown := list(islice(new, NEAR))):
        return "" if said else f"{facts.forms.recorded} {told_before}"
    more = _cited([" ".join(map(facts.entry, shown))], [_cite(cited, nodes[0], shown)])
    return f"{facts.forms.recorded} {more if said else f'{told_before} {more}'}"
