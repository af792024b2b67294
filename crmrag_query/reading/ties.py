"""Ways between two things of a question that the graph holds: the curated relations, and walks of up to four steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from crmrag_query.artifacts.release import Release
from crmrag_query.errors import QuestionError
from crmrag_query.graph.arrays import Ints, distinct, shared
from crmrag_query.language import LANGUAGES, language
from crmrag_query.ontology.load import Category
from crmrag_query.plans.execute import dated, related
from crmrag_query.plans.kinds import SAMPLE, Walk, sample_of
from crmrag_query.plans.records import Dated, Edge, Related, Way
from crmrag_query.plans.world import Held, Mask, by_roles, leading_to, nodes_leading_to
from crmrag_query.reading.lexicon import (
    Kin,
    Lexicon,
    Phrase,
    RelationWords,
    Stems,
    date_stems,
    ends_of,
    verbs_of_events,
    vocabulary,
)
from crmrag_query.reading.records import Meaning
from crmrag_query.text import tokenize
from crmrag_query.timing import check

NAMED_SO = 0.6  # what a walk gains by leading through events of a type that is named
MOST_TYPED = 12  # walks through events of a type, between two things
KEPT = 6000  # lists of ways, and what else was found of relations and meanings, that are kept of one data set
ONE_SIDED = 20  # as many dates with one end for one with the other: the other is not recorded
MOST_WALKS = 60  # between two things, the cheapest ones


T = TypeVar("T")


@dataclass(frozen=True)
class Tie:
    """A way from a near thing to a far one.

    ``stems``: content words that say it; ``ends``, ``starts``: nouns for its far and its near end; ``phrases``: the same of
    several stems; ``ahead``, ``back``: phrases of folded words that stand between near and far, and between far and near;
    ``cost``: how unlikely it is to be meant; ``last``, ``first``: the property that leads to the far end, and that which
    leads back to the near one, as steps; ``relation``: id of a curated one; ``share``: of the near things that lead to the
    far; ``stated``: it leads to texts that say something of the near; ``roundabout``: it leads from one event to another that
    is no part of it; ``of_nothing``: it leads to the far from nothing of the near one's kind; ``legs``: of a walk its steps
    between nodes, and ``through`` the kinds of these.
    """

    way: Way
    key: str
    stems: Stems
    cost: float
    last: str
    first: str = ""
    ends: Stems = frozenset()
    starts: Stems = frozenset()
    ahead: tuple[Phrase, ...] = ()
    back: tuple[Phrase, ...] = ()
    phrases: tuple[Phrase, ...] = ()
    relation: str = ""
    inverse: bool = False
    share: float = 0.0
    stated: bool = False
    roundabout: bool = False
    of_nothing: bool = False
    legs: tuple[tuple[str, ...], ...] = ()
    through: tuple[frozenset[int], ...] = ()


def _saying(words: RelationWords, inverse: bool = False) -> dict[str, Any]:
    """The words of a relation as a tie has them, that goes by it or against it (``inverse``)."""
    if inverse:
        return {
            "ends": words.starts, "starts": words.ends, "ahead": words.backward, "back": words.forward,
            "phrases": words.phrases,
        }  # fmt: skip
    return {
        "ends": words.ends, "starts": words.starts, "ahead": words.forward, "back": words.backward,
        "phrases": (*words.phrases, *words.noun_phrases),
    }  # fmt: skip


OF_NOTHING = 0.6
"""What it costs that a relation leads to what is asked for from nothing of the kind: that a bell is not of the type "cracked"
says nothing where no bell is, and cracks are told as conditions."""
NO_WORDS = RelationWords(frozenset(), frozenset(), frozenset())
MODIFIED = 0.25
"""What it costs that a thing was changed rather than made: "built" is said of both, and making is meant unless words tell."""
LEADS_BACK = 0.1
"""What it costs that a step may lead to where the one before came from, where one that says more leads to all others."""
IN_ROLE = ("P01i", "P02")
"""The steps by which paths of relations lead through participations, which may have a role (P14.1)."""
OWN = 0.2
"""What a property of the data's own gains by being called like a relation: it was made to say just this."""
UNLIKELY: Mapping[str, float] = {
    "same_as": 0.9, "reference": 0.8, "refers_to": 0.35, "about": 0.15, "description": 0.9, "image": 0.6, "homepage": 0.9,
    "web_page": 0.6, "derived_from": 0.6, "symbolizes": 0.4, "rights": 0.6, "rights_holder": 0.5, "condition": 0.4,
    "unit": 0.9, "caused_by": 0.5, "before": 0.6, "borders": 0.6, "name": 0.6, "identifier": 0.8, "accession_number": 0.8,
    "purpose": 0.4, "dimension": 0.5, "dimension_value": 0.9, "formerly_owned_by": 0.3, "destroyed_by": 0.5,
    "modified_by": MODIFIED, "influenced_by": 0.5, "production": 0.2, "modification": MODIFIED, "active_in": 0.25,
    "event_part": 0.1, "broader": 0.4, "carried_out_by": 0.05, "carries": 0.15, "^carries": 0.3, "participant": 0.1,
    "modified_in": 0.2, "acquisition": 0.2, "found_at": 0.05, "medium_note": 0.1,
}  # fmt: skip
"""What a relation costs that joins too much, or too seldom asked for things, to be guessed; ours, of no data set."""


class Ties:
    """The ways of one data set between given things, in the words of one language; kept once they were looked for."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon, self.world, self.schema = lexicon, lexicon.world, lexicon.schema
        self._known: dict[tuple[object, ...], Any] = {}
        self.in_roles: set[Way] = set()

    @classmethod
    def from_release(cls, release: Release) -> Ties:
        return cls(release[Lexicon])

    def between(
        self,
        near: Meaning,
        far: Meaning,
        code: str,
        said: Stems,
        asked: bool = False,
        led: frozenset[str] = frozenset(),
    ) -> list[Tie]:
        """All ways from near to far that some of the near have; ``asked`` whether they have one: those that none has, too.

        Walks are looked for where the relations leave something of the question unsaid: its content stems (``said``), or the
        small word before the far end (``led``: its roles).
        """
        even_none = far.named and (near.named or asked)
        relations = self._kept(
            ("relations", code, near.key, far.key, even_none),
            lambda: list(self._relations(near, far, code, even_none)),
        )
        known = frozenset().union(*(tie.stems | tie.ends for tie in relations))
        roles = self._roles(near), self._roles(far)
        fitting = not led or any(
            led & self.lexicon.leads(tie.last) and not said.isdisjoint(tie.stems | tie.ends)
            for tie in relations
        )
        named_so = {} if any(roles) else self.lexicon.typed(said, code)  # acts that are called "design"
        if relations and said <= known and fitting and not any(roles) and not named_so:
            return relations
        walks = self._kept(("walks", code, near.key, far.key), lambda: list(self._walks(near, far, code)))
        if named_so:  # what was "photographed by" somebody no "photographer" by trade need explain
            steps = {step for one in walks for leg in one.legs for step in leg if self._is_own(step)}
            own_words = frozenset[str]().union(*(self.lexicon.step_stems(step, code) for step in steps))
            named_so = {stem: types for stem, types in named_so.items() if stem not in own_words}
        typed = {"": self.world.nodes_of(sum(roles, ()))} if any(roles) else named_so
        if typed:
            key = ("typed", code, near.key, far.key, frozenset(typed), roles)
            in_role = self._kept(key, lambda: list(self._typed(walks, near, far, typed, code)))
            if any(roles) and in_role:
                starts, ends = (self._called(some, code) for some in roles)
                in_role = [replace(one, starts=starts, ends=ends) for one in in_role]
                walks = [one for one in walks if {"P02", "P02i"}.isdisjoint((one.last, *one.legs[0]))]
            walks = [*in_role, *walks]
        return [*relations, *walks]

    def _called(self, iris: tuple[str, ...], code: str) -> Stems:
        """The words of the names of some nodes."""
        labels = (label for node in self.world.nodes_of(iris) for label in self.world.graph.labels(int(node)))
        return language(code).all_stems(label.text for label in labels)

    @staticmethod
    def _roles(one: Meaning) -> tuple[str, ...]:
        """The roles in which those took part in something who are meant: what they did, they did in these."""
        in_role = one.only is not None and one.only.way.paths and one.only.way.paths[0][0] == "P02i"
        return one.only.to.iris if one.only is not None and in_role else ()

    def _typed(
        self, walks: list[Tie], near: Meaning, far: Meaning, typed: Mapping[str, Ints], code: str
    ) -> Iterator[Tie]:
        """Walks that words say by the type of an event that they lead through, or by a role in it: "*conducted* at", where
        every performance has a conductor; at most ``MOST_TYPED``, the cheapest first."""
        made = 0
        for walk in walks:
            for at, kinds in enumerate(walk.through):
                called = self.lexicon.own_class_stems(kinds, code)
                for stem, types in typed.items():
                    if stem in called:
                        continue  # "wounded" of all that are wounds, not of "gunshot wounds" alone
                    fitting = types[[not kinds.isdisjoint(self.lexicon.typing(int(one))) for one in types]]
                    before = tuple(step for leg in walk.legs[: at + 1] for step in leg)
                    after = tuple(step for leg in walk.legs[at + 1 :] for step in leg)
                    if not len(fitting) or not after:  # a part that is the end itself
                        continue
                    iris = tuple(map(self.world.graph.iri, fitting.tolist()))
                    way = Way(paths=(before,), types=iris, then=Way(paths=(after,)))
                    try:
                        reached = self.world.recalled(
                            (way, far.key), partial(nodes_leading_to, self.world, way, far.nodes)
                        ).shared(self._held(near))
                    except QuestionError:
                        continue
                    if reached:
                        yield replace(
                            walk, way=way, key=f"{' '.join(before)} [{stem}] {' '.join(after)}", cost=walk.cost - NAMED_SO,
                            stems=walk.stems | ({stem} if stem else set()), share=reached / max(len(near.nodes), 1),
                        )  # fmt: skip
                        made += 1
                    if made == MOST_TYPED:
                        return

    def _kept(self, key: tuple[object, ...], make: Callable[[], T]) -> T:
        """What is made of the rest of a key, which begins with what it is; never None."""
        found: T | None = self._known.get(key)
        if found is None:
            if len(self._known) > KEPT:
                self._known.clear()
            found = self._known[key] = make()
        return found

    @cached_property
    def _everything(self) -> Ints:
        return np.arange(self.world.size, dtype=np.int32)

    def _held(self, meaning: Meaning) -> Held:
        return self.world.recalled(meaning.key, lambda: meaning.nodes)

    def both(self, one: Meaning, other: Meaning) -> int:
        """How many nodes two meanings share."""
        if min(len(one.nodes), len(other.nodes)) <= SAMPLE:
            return len(shared(one.nodes, other.nodes))
        return self._held(one).shared(self._held(other))

    def _kinds(self, meaning: Meaning) -> frozenset[int]:
        """The kinds of the nodes that are meant."""
        return self._some_and_all(meaning)[0]

    def _some_and_all(self, meaning: Meaning) -> tuple[frozenset[int], frozenset[int]]:
        """The kinds of which some nodes are meant, and those of which all are."""
        if len(meaning.nodes) <= SAMPLE:
            return self.schema.kinds(meaning.nodes), frozenset()

        def found() -> tuple[frozenset[int], frozenset[int]]:
            size = self.schema.table.size
            count = np.bincount(self.schema.kind[meaning.nodes], minlength=len(size))
            some, every = np.flatnonzero(count), np.flatnonzero((count == size) & (count > 0))
            return frozenset(some.tolist()), frozenset(every.tolist())

        return self._kept(("kinds", meaning.key), found)

    def reach(self, id: str) -> tuple[frozenset[int], frozenset[int]]:
        """The kinds of nodes that a relation leads from, and to."""
        return self._kept(("reach", id), lambda: self.schema.table.ends(self.world, id))

    def counts(self, id: str) -> tuple[int, int]:
        """How many nodes that a relation is of lead by it, and how many it leads to."""

        def found() -> tuple[int, int]:
            way = Way(relations=(id,))
            try:
                low = leading_to(self.world, way, None)
                high = leading_to(self.world, way.model_copy(update={"inverse": True}), None)
            except QuestionError:
                return 0, 0
            return int((low & self._of(id)).sum()), int(high.sum())

        return self._kept(("counts", id), found)

    def _of(self, id: str) -> Mask:
        """The nodes that a relation may be of by its domain."""
        domain = sum(int(Category[name]) for name in self.world.relations[id].domain)
        categories = self.world.adjacency.categories
        return np.asarray((categories == 0) | ((categories & domain) != 0))

    def _relations(self, near: Meaning, far: Meaning, code: str, even_none: bool) -> Iterator[Tie]:
        near_kinds, (far_kinds, whole) = self._kinds(near), self._some_and_all(far)
        wanted = self._held(near)
        for id, relation in self.world.relations.items():
            if not (relation.paths or relation.relationships) or relation.value not in ("entity", "text"):
                continue
            starts, ends = self.reach(id)
            for inverse in (False, True):
                low, high = (ends, starts) if inverse else (starts, ends)
                if not (near_kinds & low and far_kinds & high):
                    continue
                check()
                way = Way(relations=(id,), inverse=inverse)
                # to all of the kinds that the relation leads to: the same for works, things and objects
                to = met if (met := far_kinds & high) <= whole else far.key
                try:
                    goal = self._everything if high <= whole else far.nodes
                    walk = partial(nodes_leading_to, self.world, way, goal)
                    leading = self.world.recalled((way, to), walk)
                    reached = leading.shared(wanted)
                    if not reached and not (even_none and self._may_lead(way, near, far_kinds)):
                        continue
                except QuestionError:
                    continue
                tie = self._relation(id, inverse, reached / max(len(near.nodes), 1), code)
                if not reached and near_kinds.isdisjoint(self.schema.kinds(leading.ascending)):
                    tie = replace(tie, cost=tie.cost + OF_NOTHING, of_nothing=True)
                yield self._in_role_of(tie, near, far, code) or tie

    def _may_lead(self, way: Way, near: Meaning, kinds: frozenset[int]) -> bool:
        """Whether what leads to none of what is asked for leads to others like it: where bells hang in towers alone, that
        none hangs in a town says nothing of it."""
        if near.named:
            return True
        turned = way.model_copy(update={"inverse": not way.inverse})
        return not kinds.isdisjoint(self.schema.kinds(nodes_leading_to(self.world, turned, near.nodes)))

    def _in_role_of(self, tie: Tie, near: Meaning, far: Meaning, code: str) -> Tie | None:
        """The relation kept to what people did in the role that the noun for them names, where some of the near did so: what
        photographers took, they took as photographers and not as assistants."""
        people = near if tie.inverse else far
        path = next((one for one in self.world.relations[tie.relation].paths if IN_ROLE[0] in one), None)
        if path is None or people.target is None or not people.target.types:
            return None
        roles = self.lexicon.typed(self._called(people.target.types, code), code).values()
        if not any(map(len, roles)):
            return None
        at = path.index(IN_ROLE[0]) + 1
        links = (path[:at], path[at:])
        if tie.inverse:
            links = (self._turned(links[1]), self._turned(links[0]))
        iris = tuple(self.world.graph.iri(node) for some in roles for node in some.tolist())
        way = Way(paths=(links[0],), types=iris, then=Way(paths=(links[1],)))
        try:
            reached = self.world.recalled(
                (way, far.key), partial(nodes_leading_to, self.world, way, far.nodes)
            ).shared(self._held(near))
        except QuestionError:
            return None
        if not reached:
            return None
        self.in_roles.add(way)
        return replace(tie, way=way, share=reached / max(len(near.nodes), 1))

    def _turned(self, steps: tuple[str, ...]) -> tuple[str, ...]:
        """Steps in the opposite direction."""
        inverse = self.world.ontology.inverse
        return tuple(
            f"{inverse(step.rstrip('*!')) or step.rstrip('*!')}{'*' if step.endswith('*') else ''}"
            for step in reversed(steps)
        )

    def _relation(self, id: str, inverse: bool, share: float, code: str) -> Tie:
        words = self._words(id, code)
        first, last = ends_of(self.world.relations[id], self.world, inverse)
        cost = UNLIKELY.get(f"^{id}" if inverse else id, UNLIKELY.get(id, 0.0)) + (0.02 if inverse else 0.0)
        return Tie(
            Way(relations=(id,), inverse=inverse),
            f"^{id}" if inverse else id,
            words.says,
            cost,
            last,
            first,
            **_saying(words, inverse),
            relation=id,
            inverse=inverse,
            share=share,
            stated=self.world.relations[id].value == "text" and not inverse,
        )

    def _words(self, id: str, code: str) -> RelationWords:
        """By which a relation is asked for: the general words of a language, else its own words and labels."""
        known = vocabulary(code).relations.get(id) if code in LANGUAGES else None
        if known is None:
            known = self._kept(("words", id, code), lambda: self._own_words(id, code))
        return known

    def _asking(self, id: str, code: str, inverse: bool) -> Stems:
        """All by which some words may ask for a relation."""

        def found() -> Stems:
            words = self._words(id, code)
            nouns = words.starts if inverse else words.ends
            return words.says | nouns | {stem for phrase in words.phrases for stem in phrase}

        return self._kept(("asking", id, code, inverse), found)

    def _own_words(self, id: str, code: str) -> RelationWords:
        relation, own = self.world.relations[id], language(code)
        labels = filter(None, (relation.labels.get(code), relation.inverse.get(code)))
        texts = (*relation.words.get(code, ()), *labels)
        stems = {text: own.stems(text) for text in texts}
        return replace(
            NO_WORDS,
            says=frozenset(found[0] for found in stems.values() if len(found) == 1),
            phrases=tuple(
                tuple(map(own.stem, tokenize(text))) for text, found in stems.items() if len(found) > 1
            ),
        )

    def _walks(self, near: Meaning, far: Meaning, code: str) -> Iterator[Tie]:
        turned = len(far.nodes) <= len(near.nodes)
        within, tail = self._within(far)
        if turned:
            start, goal, kinds = sample_of(within), self._held(near).mask, self._kinds(near)
        else:
            start = sample_of(near.nodes)
            goal = self.world.mask(within) if tail else self._held(far).mask
            kinds = self.schema.kinds(within) if tail else self._kinds(far)
        walks = list(self.schema.walks(start, goal, kinds, most=MOST_WALKS))
        ahead = [
            tuple(self.schema.inverse[step] for step in reversed(walk.steps)) if turned else walk.steps
            for walk in walks
        ]
        own = self._with_own(ahead)
        for steps, walk in zip(ahead, walks, strict=True):
            tie = self._walk(steps, walk, len(walk.ends) / len(near.nodes) if turned else 0.5, code, tail)
            yield replace(tie, stems=tie.stems - self._said_nearer(steps, own, code))

    def _with_own(self, walks: Iterable[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The walks that take a property of the data's own."""
        return [steps for steps in walks if any(map(self._is_own, steps))]

    def _said_nearer(self, steps: tuple[str, ...], walks: Iterable[tuple[str, ...]], code: str) -> Stems:
        """The words of properties of the data's own that other walks take where this one takes those above them: a ship is
        "launched" by what is called so, not by all that it was present at."""
        found = frozenset[str]()
        for other in walks:
            apart = [pair for pair in zip(steps, other, strict=False) if pair[0] != pair[1]]
            if len(other) == len(steps) and len(apart) == 1:
                step, own = apart[0]
                number = self.lexicon.own_properties.get(own.removeprefix("^"))
                above = (self.world.ontology.inverse(step) or "") if own.startswith("^") else step
                if number is not None and number in self.world.adjacency.by_code.get(above, ()):
                    found |= self.lexicon.step_stems(own, code) - self.lexicon.step_stems(step, code)
        return found

    def _within(self, far: Meaning) -> tuple[Ints, tuple[str, ...]]:
        """What is named with the places or periods within it or the narrower concepts, and the steps that gather them."""
        step = next((one for category, one in GATHERED if far.category == category), "")
        if not step or not far.named or (step == "P10" and not self._are_periods(far)):
            return far.nodes, ()
        more = nodes_leading_to(self.world, Way(paths=((step, f"{step}*"),)), far.nodes)
        found = distinct(np.concatenate([far.nodes, more]))
        return found, (f"{step}*",) if len(more) else ()

    def _are_periods(self, far: Meaning) -> bool:
        """Whether all are periods and no events: an expedition is told of by those who took part in it, in all its parts."""
        codes = frozenset[str]().union(*map(self.world.graph.codes, far.nodes.tolist()))
        return "E4" in codes and codes.isdisjoint({"E5", *self.world.ontology.subclasses("E5")})

    def _walk(
        self, steps: tuple[str, ...], walk: Walk, share: float, code: str, tail: tuple[str, ...] = ()
    ) -> Tie:
        stems: set[str] = set()
        for step in steps:
            stems |= self.lexicon.step_stems(step, code)
        happens = {stem for kinds in walk.through for stem in self.lexicon.class_stems(kinds, code)}
        stems |= happens | verbs_of_events(happens, code)
        cost = 0.25 + walk.cost + (MODIFIED if not {"P31", "P31i"}.isdisjoint(steps) else 0.0)
        cost += LEADS_BACK * any(self._leads_back(*pair) for pair in pairwise(steps))
        events = sum(any(self._is_event(kind) for kind in kinds) for kinds in walk.through)
        roundabout = events - sum(step in ("P9", "P9i") for step in steps) > 1
        kin = self.lexicon.kin(steps[-1])
        last = steps[-1]
        legs = self._with_parts(steps, walk)
        whole = (
            *(step for leg in legs for step in leg),
            *(step for step in tail if step.removesuffix("*") != last),
        )
        way = Way(paths=(whole, *(by_roles(whole) if self.has_both else ())))
        tie = Tie(
            way, " ".join(whole), frozenset(stems), cost, (kin and self._ends(kin)[1]) or last,
            share=min(share, 1.0), roundabout=roundabout, legs=(*legs[:-1], whole[sum(map(len, legs[:-1])) :]),
            through=walk.through if walk.steps == steps else tuple(reversed(walk.through)),
        )  # fmt: skip
        if len(steps) > 1:
            return tie
        if kin is not None:
            if inverse := self.lexicon.own_inverse(steps[0]):
                tie = replace(tie, way=Way(paths=tuple((one,) for one in sorted((steps[0], inverse)))))
            return self._like(tie, kin, code)
        return replace(tie, ends=self.lexicon.far_stems(steps[0], code))

    def _is_own(self, step: str) -> bool:
        """Whether a step is by a property of the data's own."""
        return step.removeprefix("^") in self.lexicon.own_properties

    def _leads_back(self, step: str, after: str) -> bool:
        """Whether a step leads to where the one before came from, among others: from an apprentice to the apprenticeship, and
        on to all who took part in it."""
        number = self.world.property_numbers.get(step.removeprefix("^")) if step.startswith("^") else None
        return number is not None and number in self.world.adjacency.by_code.get(after, ())

    def _ends(self, kin: Kin) -> tuple[str, str]:
        return ends_of(self.world.relations[kin.relation], self.world, kin.inverse)

    def _like(self, tie: Tie, kin: Kin, code: str) -> Tie:
        """A property of the data's own as a tie that is said as the relation is that it is called like."""
        said = _saying(self._words(kin.relation, code), kin.inverse)
        return replace(tie, first=self._ends(kin)[0] or tie.first, cost=tie.cost - OWN, **said)

    def _is_event(self, kind: int) -> bool:
        return int(self.schema.category[kind]) == int(Category.Event)

    @cached_property
    def has_both(self) -> bool:
        """Whether the data says of some who did something in which role, and of others not."""
        known = {code.removesuffix("i") for code in self.world.adjacency.by_code}
        return {"P14", "P01", "P02"} <= known

    def _with_parts(self, steps: tuple[str, ...], walk: Walk) -> tuple[tuple[str, ...], ...]:
        """The steps, each into an event with its parts: what a treatment's step used, the treatment used.

        Not where they lead on to the whole that it is a part of: what is true of that is not true of its other parts.
        """
        if "P9" not in self.schema.moves or len(steps) < 2:
            return tuple((step,) for step in steps)
        through = walk.through if walk.steps == steps else tuple(reversed(walk.through))
        found: list[tuple[str, ...]] = []
        for at, step in enumerate(steps):
            event = at < len(through) and any(map(self._is_event, through[at]))
            parts = event and at + 1 < len(steps) and "P9i" not in (step, steps[at + 1])
            if step in ("P9", "P9*"):  # the step before led to the parts as well
                found.append(() if at else ("P9*",))
            else:
                found.append((step, "P9*") if parts else (step,))
        return tuple(found)

    def dates(self, near: Meaning, code: str, said: Stems = frozenset()) -> list[Tie]:
        """The ways from near to dates; to those of events of a type, where words (``said``) name it: "*opened* in"."""
        found = self._kept(("dates", code, near.key), lambda: list(self._dated(near, code)))
        if typed := self.lexicon.typed(said, code):
            key = ("dates of a type", code, near.key, frozenset(typed))
            found = [*found, *self._kept(key, lambda: list(self._dated_by_type(near, code, typed)))]
        return found

    def _dated_by_type(self, near: Meaning, code: str, typed: Mapping[str, Ints]) -> Iterator[Tie]:
        for tie in self._to_types(near, code, typed):
            way = tie.way.model_copy(update={"then": Way(paths=(("P4",),))})
            if count := self._count(near, way):
                yield replace(tie, way=way, key=f"{tie.key} P4", last="P4", share=count / len(near.nodes))

    def _to_types(self, near: Meaning, code: str, typed: Mapping[str, Ints]) -> Iterator[Tie]:
        """The walks of one or two steps from near to events of a type, or to participations in a role, that a stem names."""
        for walk in self._short_walks(near) if typed else ():
            kinds = self.schema.kinds(walk.ends)
            called = self.lexicon.own_class_stems(kinds, code)
            for stem, types in typed.items():
                if stem in called:
                    continue
                fitting = types[[not kinds.isdisjoint(self.lexicon.typing(int(one))) for one in types]]
                if len(fitting):
                    tie = self._walk(walk.steps, walk, 0.5, code)
                    iris = tuple(map(self.world.graph.iri, fitting.tolist()))
                    way = Way(paths=tie.way.paths, types=iris)
                    stems = tie.stems | {stem}
                    yield Tie(way, f"{tie.key} [{stem}]", stems, tie.cost - NAMED_SO, tie.last, share=0.5)

    def _dated(self, near: Meaning, code: str) -> Iterator[Tie]:
        mask = sum(int(one) for one in Category if self._has(near, int(one)))
        for id, relation in self.world.relations.items():
            if relation.value != "date" or not relation.paths:
                continue
            if not mask & sum(int(Category[name]) for name in relation.domain):
                continue
            check()
            way = Way(relations=(id,))
            if count := self._count(near, way):
                words = self._words(id, code)
                cost, share = DATE_COST.get(id, 0.1), count / len(near.nodes)
                yield Tie(way, id, words.says, cost, "P4", **_saying(words), relation=id, share=share)
        nodes = sample_of(near.nodes)
        goal = self.world.dated
        walks = self.schema.walks(nodes, goal, self.schema.kinds(goal), 3, MOST_WALKS)
        known = {walk.steps for walk in walks}
        own = self._with_own(known)
        for walk in walks:
            nearer = len(walk.steps) > 2 and (*walk.steps[:-2], walk.steps[-1]) in known
            if self._ends_at_date(walk) and not nearer:
                tie = self._walk(walk.steps, walk, 0.0, code)
                said = tie.stems - self._said_nearer(walk.steps, own, code)
                if count := self._count(near, tie.way):
                    yield Tie(
                        tie.way, tie.key, said, tie.cost + 0.05, tie.last, share=count / len(near.nodes)
                    )

    def _ends_at_date(self, walk: Walk) -> bool:
        return all(
            int(self.schema.category[kind]) in (0, int(Category.Time))
            for kind in self.schema.kinds(walk.ends)
        )

    def _has(self, near: Meaning, category: int) -> bool:
        return bool((self.world.adjacency.categories[near.nodes] & category).any())

    def _count(self, near: Meaning, way: Way) -> int:
        """How many of the near lead by the way to a date."""
        try:
            return int(dated(self.world, Dated(way=way, certain=False))[near.nodes].sum())
        except QuestionError:
            return 0

    def edge(self, way: Way, near: Meaning) -> Edge:
        """The end that the data tell of the dates to which a way leads, where they hardly ever tell the other; else both."""

        def found() -> Edge:
            begun, ended = (
                int(dated(self.world, Dated(way=way, edge=edge, certain=False))[near.nodes].sum())
                for edge in ("begin", "end")
            )
            return "end" if begun * ONE_SIDED < ended else "begin" if ended * ONE_SIDED < begun else "span"

        return self._kept(("edge", way, near.key), found)

    def existing(self, near: Meaning, code: str, stems: Stems) -> list[Tie]:
        """Ways from near to anything at all that some of the given words say: "inscriptions that were *transcribed*"."""
        return self._kept(("any", code, near.key, stems), lambda: list(self._existing(near, code, stems)))

    def _existing(self, near: Meaning, code: str, stems: Stems) -> Iterator[Tie]:
        near_kinds = self._kinds(near)
        for id, relation in self.world.relations.items():
            if not (relation.paths or relation.relationships):
                continue
            for inverse in (False, True):
                if stems.isdisjoint(self._asking(id, code, inverse)):
                    continue
                starts, ends = self.reach(id)
                if not near_kinds & (ends if inverse else starts):
                    continue
                anything = Related(way=Way(relations=(id,), inverse=inverse))
                try:
                    count = int(related(self.world, anything)[near.nodes].sum())
                except QuestionError:
                    continue
                if count:
                    yield self._relation(id, inverse, count / len(near.nodes), code)
        making = self._words("created_by", code).says
        for tie in self._to_types(near, code, self.lexicon.typed(stems, code)):
            # what was "repaired" was changed, of what was "painted" that is less likely
            changed = tie.way.paths[0][0] == "P31i" and making.isdisjoint(tie.stems & stems)
            if count := int(related(self.world, Related(way=tie.way))[near.nodes].sum()):
                yield replace(tie, share=count / len(near.nodes), cost=tie.cost - MODIFIED * changed)
        for iri in self.lexicon.own_literals:  # "not *returned* yet", where a date of it is stated
            said, way = self.lexicon.step_stems(iri, code) - date_stems(code), Way(paths=((iri,),))
            if not stems.isdisjoint(said) and (
                count := int(leading_to(self.world, way, None)[near.nodes].sum())
            ):
                yield Tie(way, iri, said, 0.25, iri, share=count / len(near.nodes))
        yield from (
            tie
            for tie in self._kept(("first", code, near.key), lambda: list(self._first(near, code)))
            if tie.stems & stems
        )

    def tells_whether(self, iri: str) -> bool:
        """Whether all that a property states is "true" or "false": "open to visitors"."""

        def found() -> bool:
            number = self.world.property_numbers.get(iri)
            values = self.world.graph.literal_table.column("value")
            stated = values.filter(pa.array(self.world.literal_property == number)).unique()
            return 0 < len(stated) <= 2 and {"true", "false"}.issuperset(stated.to_pylist())

        return self._kept(("tells whether", iri), found)

    def _first(self, near: Meaning, code: str) -> Iterator[Tie]:
        """Walks of one or two steps from near to anything at all, each said by what it ends in too."""
        for walk in self._short_walks(near):
            tie = self._walk(walk.steps, walk, 0.5, code)
            said = tie.stems | self.lexicon.class_stems(self.schema.kinds(walk.ends), code)
            yield Tie(tie.way, tie.key, said, tie.cost, tie.last, share=0.5)

    def _short_walks(self, near: Meaning) -> list[Walk]:
        everything = np.ones(self.world.size, bool)
        every_kind = frozenset(range(len(self.schema.codes)))
        return list(self.schema.walks(sample_of(near.nodes), everything, every_kind, 2))


GATHERED = ((int(Category.Place), "P89"), (int(Category.Concept), "P127"), (int(Category.Event), "P10"))
"""By which steps places lead to those that they lie in, concepts to broader ones, and periods to those around them."""
DATE_COST: Mapping[str, float] = {
    "created_on": 0.0, "happened_on": 0.0, "creation_began": 0.75, "creation_ended": 0.75, "born_on": 0.1, "died_on": 0.15,
    "active_on": 0.1, "acquired_on": 0.2, "exhibited_on": 0.2, "modified_on": 0.25, "begun_on": 0.2, "ended_on": 0.2,
    "found_on": 0.15, "destroyed_on": 0.3, "founded_on": 0.15, "dissolved_on": 0.3,
}  # fmt: skip
"""What a date costs that no word says: a bare year of a work is when it was made, of an event when it took place."""
