"""From what a question says to what the data can tell: each tie of the tree becomes a constraint that the data answers to.

Several relations may be meant by one phrase ("from", "painted in"): those that cannot join the two things are passed over, and
of the others the first that joins anything. How sure a choice is, is its score (`SCORES`, ours); what was not the best choice
stays as an alternative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from crmrag_query.config.parsing import ParsingPart
from crmrag_query.config.types import CategoryName
from crmrag_query.dates import Interval
from crmrag_query.linking.records import LinkedEntity, Mention
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.antecedent import Antecedent, as_list, rest_of
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.pieces import WHOLE
from crmrag_query.parsing.tree import Link, Node, Text
from crmrag_query.parsing.vocabulary import Vocabulary
from crmrag_query.plans.execute import members_of
from crmrag_query.plans.members import satisfying, targeted
from crmrag_query.plans.records import (
    Among,
    Anchor,
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
)
from crmrag_query.plans.world import Mask, World
from crmrag_query.retrieval.tokenizer import fold

EXPLICIT, LOOSE, NEAR, UNSURE, GENERAL, WORDS = 1.0, 0.95, 0.85, 0.6, 0.6, 0.5
OF_KIND = Way(paths=(("P2", "P127*"),))
NESTED = 0.8  # a named thing of another ("the north wall of the nave"); ours
SIDE = 0.75  # one thing in another where no word says so; ours
APART = 3  # names with little in common that make one IRI suspicious; ours
MIXED = 0.78  # a name that things of several classes have; ours
MEANINGS = 4  # of a name that are tried; ours
VERB = 4  # letters of a verb's stem; ours
LONG = 10  # words of a name that is matched in part; longer ones are texts; ours
SURE = 0.8  # of a plan that is answered as exhaustive; ours
TRIED = 12  # alternatives of a tie that are executed


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to understand a tie: the constraint, how sure, how many of the host's things it keeps, and what it says."""

    constraint: Constraint
    score: float
    kept: int
    note: str = ""


@dataclass
class Bound:
    """A thing as a target and constraints.

    ``score``: of all its parts together; ``rivals``: other choices by constraint; ``unknown``, ``missing``: words that nothing
    was made of, or that nothing meets; ``absent``: relations that were asked for of something known, and that nothing states.
    """

    target: Target
    where: list[Constraint] = field(default_factory=list)
    score: float = 1.0
    rivals: list[tuple[int, Choice]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    mask: Mask | None = None

    @property
    def plan(self) -> Plan:
        return Plan(target=self.target, where=tuple(self.where))


@dataclass
class Binder:
    """Binds the trees of one question."""

    world: World
    know: Vocabulary
    config: ParsingPart
    namesakes: Callable[[str], Sequence[int]]
    earlier: Antecedent | None = None

    # things

    def bind(self, node: Node) -> Bound:
        """The thing with all its ties; of several meanings of its name the first that all of them hold of."""
        meant = self.meanings(node.mentions[0])[:MEANINGS] if len(node.mentions) == 1 and not node.kinds else []
        if len(meant) < 2 or not node.links:
            return self._bind(node, meant[0] if meant else None)
        first: Bound | None = None
        for nodes in meant:
            self._inner.clear()
            bound = self._bind(node, nodes)
            if bound.mask is not None and bound.mask.any():
                return bound
            first = first or bound
        assert first is not None
        return first

    def _bind(self, node: Node, meant: Sequence[int] | None) -> Bound:
        bound = Bound(self._target(node))
        kind = best_kind(node.kinds)
        if kind is not None and not (kind.generic or kind.types or kind.classes or kind.makes):
            bound.score *= UNSURE  # understood, and nothing in the data is called so
        elif kind is not None and kind.how == "like" and not kind.generic:
            bound.score *= SIDE
            bound.notes.append(f"{node.text}: {kind.label}")
        if not node.kinds and not node.mentions and not node.earlier and node.categories:
            bound.target = Target(categories=_names(node.categories))
        kind = best_kind(node.kinds)
        if kind is not None and kind.makes and not kind.types and "created_by" in self.know.relations:
            made = Anchor(plan=Plan(target=Target(types=tuple(map(self.world.graph.iri, kind.makes)))))
            bound.where.append(Related(way=Way(relations=("created_by",), inverse=True), to=made))
        if node.earlier and self.earlier is not None:
            before = self._before(node)
            if before is not None:
                bound.where.append(Member(plan=before))
            bound.score *= 1.0 if before is not None and self.earlier.sure else UNSURE
        if node.named and not node.kinds:
            iris = dict.fromkeys(map(self.world.graph.iri, meant)) if meant else ()
            bound.where.append(Among(iris=tuple(iris)) if meant else self._among(node))
            bound.score *= self._sureness(node)
        mask = self._mask(bound)
        for link in node.links:
            mask = self._tie(bound, node, link, mask)
        bound.mask = mask
        return bound

    def _before(self, node: Node) -> Plan | None:
        assert self.earlier is not None
        if node.earlier == "rest":
            return rest_of(self.earlier) or self.earlier.plan
        return as_list(self.earlier.plan) if self.earlier.plan is not None else None

    def _target(self, node: Node) -> Target:
        kind = best_kind(node.kinds)
        if kind is None:
            return Target()
        if types := types_of(node.kinds):
            return Target(types=tuple(map(self.world.graph.iri, types)))
        if kind.classes:
            return Target(classes=kind.classes)
        return Target(categories=_names(kind.categories))

    def _among(self, node: Node) -> Constraint:
        found = [n for mention in node.mentions for n in self.same_name(mention)]
        return Among(iris=tuple(self.world.graph.iri(n) for n in dict.fromkeys(found)))

    def same_name(self, mention: Mention) -> list[int]:
        """The entities of the best meaning of a name."""
        return next(iter(self.meanings(mention)), [])

    def meanings(self, mention: Mention) -> list[list[int]]:
        """What a name may mean, best first: all entities of the same name are one meaning."""
        groups: dict[tuple[str, bool], list[int]] = {}
        names: dict[tuple[str, bool], str] = {}
        for one in mention.entities:
            if (one.how not in WHOLE and len(one.name.split()) > LONG) or self._is_text(one.entity):
                continue  # a text, not a name
            key = (_name(one), one.how in WHOLE)
            groups.setdefault(key, []).append(one.entity)
            names.setdefault(key, one.name)
        said = " ".join(sorted(mention.text.split()))
        order = sorted(groups, key=lambda key: key[0] != said)
        return [list(dict.fromkeys([*groups[key], *self.namesakes(names[key])])) for key in order]

    def _sureness(self, node: Node) -> float:
        return min((sureness(mention) for mention in node.mentions), default=1.0)

    def _mask(self, bound: Bound) -> Mask:
        mask = np.zeros(self.world.size, bool)
        mask[members_of(self.world, bound.plan)] = True
        return mask

    # ties

    def _tie(self, bound: Bound, node: Node, link: Link, mask: Mask) -> Mask:
        if not node.categories and not node.named and not node.earlier and isinstance(link.anchor, Node | Interval):
            self._guess(node, link)
        choices = list(self._choices(node, link, mask))
        if not choices and link.explicit and not link.inverse:
            plain = replace(link, explicit=(), loose=())
            choices = [replace(one, score=one.score * UNSURE) for one in self._choices(node, plain, mask)]
        if not choices:
            bound.unknown += link.words
            bound.absent += link.explicit if link.inverse else ()
            bound.score *= UNSURE / 2
            return mask
        best = self._best(choices, link, mask)
        if link.at_least is not None and link.at_least > 1:
            best = self._at_least(bound, best, link.at_least, mask)
        fixed = any(isinstance(one, Among | Member) for one in bound.where)
        if bound.target == Target() and not fixed and (near := self._near(best.constraint)):
            bound.target = Target(categories=_names(near))
            mask = mask & targeted(self.world, bound.target)
        place = len(bound.where)
        bound.where.append(best.constraint)
        bound.score *= best.score
        bound.rivals += [(place, one) for one in choices if one is not best][:2]
        if best.note:
            bound.notes.append(best.note)
        if isinstance(link.anchor, Node):
            inner = self._inner.get(id(link.anchor))
            if inner is not None:
                bound.unknown += inner.unknown
                bound.missing += inner.missing
                bound.absent += inner.absent
                bound.notes += inner.notes
                bound.score *= inner.score
        if not best.kept and not link.negated:
            bound.missing.append(" ".join(link.words))
            bound.absent += self._absent(best, link)
        found = satisfying(self.world, best.constraint, mask, members_of)
        return np.asarray(mask & (~found if link.negated else found))

    def _absent(self, choice: Choice, link: Link) -> list[str]:
        """The relation of a choice that keeps nothing, where it was said and what it is of is known."""
        way = getattr(choice.constraint, "way", None)
        ids = way.relations if isinstance(way, Way) else ()
        known = link.anchor is None or (isinstance(link.anchor, Node) and link.anchor.named and not loosely(link.anchor))
        return [id for id in ids if id in link.explicit and known]

    def _guess(self, node: Node, link: Link) -> None:
        """What "what" may be: the end of the phrase's relation that its other thing is not."""
        far = self._far(link.anchor) if isinstance(link.anchor, Node) else int(Category.Time)
        for id in (*link.explicit, *link.loose):
            ahead, back = self.know.fits(id, 0, far)
            if ahead or back:
                node.categories = self.know.domains[id] if ahead else self.know.ranges[id]
                return
        for id in link.explicit:
            node.categories |= self.know.domains[id]

    def _at_least(self, bound: Bound, choice: Choice, least: int, mask: Mask) -> Choice:
        """So many of what a tie leads to, not just any: a ranking of the things that have as many."""
        tie = choice.constraint
        if not isinstance(tie, Related) or tie.negated:
            return replace(choice, score=choice.score * UNSURE)
        measure = Measure(kind="count", way=tie.way, to=tie.to)
        many = Plan(target=bound.target, compute=Compute(kind="rank", measure=measure, at_least=least))
        return self._choice(Member(plan=many), choice.score, mask)

    def _near(self, constraint: Constraint) -> int:
        """Categories of the things that a relation of the constraint is of; 0 where it says nothing."""
        way = constraint.way if isinstance(constraint, Related | Dated) else None
        if way is None or not way.relations:
            return 0
        return (self.know.ranges if way.inverse else self.know.domains)[way.relations[0]]

    _inner: dict[int, Bound] = field(default_factory=dict)

    def _best(self, choices: Sequence[Choice], link: Link, mask: Mask) -> Choice:
        """The surest of those that join anything, else the surest; the first of equals."""
        alive = [one for one in choices if one.kept]
        if not alive and link.explicit:
            alive = self._told_at_all(choices, mask)
        alive = alive or list(choices)
        if link.negated and link.explicit:  # what is not so is told by the relation that mostly is
            return max(alive, key=lambda one: (one.score, one.kept))
        top = max(one.score for one in alive)
        return next(one for one in alive if one.score == top)

    def _told_at_all(self, choices: Sequence[Choice], mask: Mask) -> list[Choice]:
        """Of choices that keep nothing, those whose relation the things have at all; where none has, all are unsure."""
        told = []
        for one in choices:
            way = getattr(one.constraint, "way", None)
            if isinstance(way, Way) and self._choice(self.any_of(way), 1.0, mask).kept:
                told.append(one)
        return told or [replace(one, score=one.score * SIDE) for one in choices]

    def _choices(self, node: Node, link: Link, mask: Mask) -> Iterator[Choice]:
        anchor = link.anchor
        if link.titled and isinstance(anchor, Node | Text):
            words = anchor.raw or anchor.text
            texts = _singulars(words.split())
            score = SIDE if link.judged else EXPLICIT
            yield self._choice(Texted(texts=texts, whole=True, negated=link.negated), score, mask)
        elif isinstance(anchor, Interval):
            yield from self._periods(node, link, anchor, mask)
        elif isinstance(anchor, Text):
            yield from self._texts(node, link, anchor, mask)
        elif anchor is None:
            yield from self._anything(node, link, mask)
        else:
            yield from self._things(node, link, anchor, mask)

    def _choice(self, constraint: Constraint, score: float, mask: Mask, note: str = "") -> Choice:
        plain = constraint.model_copy(update={"negated": False})
        kept = int((mask & satisfying(self.world, plain, mask, members_of)).sum())
        return Choice(constraint, score, kept, note)

    def _ways(self, node: Node, link: Link, far: int, ids: Sequence[str]) -> Iterator[Way]:
        """Ways of the relations between the node and something of categories ``far``, the likelier direction first."""
        for id in ids:
            ahead, back = self.know.fits(id, node.categories, far)
            if link.inverse is True:
                ahead, back = False, True
            order = [(back, True), (ahead, False)] if link.before else [(ahead, False), (back, True)]
            if link.explicit and ahead and back:
                order = order[:1]  # a phrase between two things of one kind says which comes first
            for fits, inverse in order:
                if fits:
                    yield Way(relations=(id,), inverse=inverse)

    # periods

    def _periods(self, node: Node, link: Link, period: Interval, mask: Mask) -> Iterator[Choice]:
        know = self.know
        said = [id for id in (*link.explicit, *link.loose) if know.value(id) == "date"]
        usual = [id for name in _names(node.categories or int(Category.Thing)) for id in self.config.dates.get(name, ())]
        for score, ids in ((EXPLICIT, said), (LOOSE if not link.explicit else UNSURE, usual)):
            for id in dict.fromkeys(ids):
                if id not in know.relations or not know.fits(id, node.categories, int(Category.Time))[0]:
                    continue
                edge: Literal["span", "begin", "end"] = link.edge or "span"
                yield self._choice(
                    Dated(
                        way=Way(relations=(id,)), begin=period.begin, end=period.end, edge=edge,
                        certain=not period.approximate, negated=link.negated,
                    ),
                    score, mask,
                )  # fmt: skip
        own = Dated(begin=period.begin, end=period.end, certain=not period.approximate, negated=link.negated)
        yield self._choice(own, UNSURE, mask)

    # anything

    def _anything(self, node: Node, link: Link, mask: Mask) -> Iterator[Choice]:
        if link.negated and link.explicit in self.config.happenings.values():  # of a birth nothing is known: no place and no date
            ids = [id for id in link.explicit if not node.categories or node.categories & self.know.domains[id]]
            told = tuple(self.any_of(Way(relations=(id,))) for id in ids)
            if told:
                yield self._choice(Either(of=told, negated=link.negated), EXPLICIT, mask)
                return
        for id in link.explicit:
            domain, range_ = self.know.domains[id], self.know.ranges[id]
            if self.know.value(id) == "text" and link.words:
                said = list(self._said_in(node, link, id, _singulars(link.words), EXPLICIT, mask))
                yield from said
                if any(one.kept for one in said):
                    continue
            if not node.categories or node.categories & domain:
                yield self._choice(self.any_of(Way(relations=(id,)), link.negated), EXPLICIT, mask)
            if node.categories & range_:
                way = Way(relations=(id,), inverse=True)
                yield self._choice(Related(way=way, negated=link.negated), EXPLICIT, mask)

    def any_of(self, way: Way, negated: bool = False) -> Constraint:
        """That a way leads anywhere; of a date, to a known one and not to a time-span without any."""
        if not way.inverse and all(self.know.value(id) == "date" for id in way.relations):
            return Dated(way=way, negated=negated)
        return Related(way=way, negated=negated)

    # texts

    def _texts(self, node: Node, link: Link, text: Text, mask: Mask) -> Iterator[Choice]:
        if not text.text.strip():
            return
        words = (text.text,)
        for score, ids in ((EXPLICIT, link.explicit), (LOOSE, link.loose)):
            for id in ids:
                if text.named and not link.explicit and self.know.value(id) == "text":
                    continue
                yield from self._said_in(node, link, id, words, score * NEAR, mask, text.named)
        if not link.explicit and not text.named:
            for id in self.know.relations:
                if id not in link.loose and self.know.value(id) == "text":
                    yield from self._said_in(node, link, id, words, WORDS, mask)
            yield self._choice(Texted(texts=words, whole=True, negated=link.negated), WORDS / 2, mask)
        if link.explicit:
            yield from self._in_statements(link, text, mask)

    def _in_statements(self, link: Link, text: Text, mask: Mask) -> Iterator[Choice]:
        """Statements that hold a name and the verb said of it: "commissioned by William T. Walters" in a credit line."""
        verbs = [word for word in link.words if word not in text.words and len(word) > VERB]
        for id, relation in self.know.relations.items():
            if relation.value != "text" or not text.named or not verbs:
                continue
            way = Way(paths=relation.literal_paths("value") or relation.paths)
            stem = verbs[0][: max(VERB, len(verbs[0]) - 2)]
            both = Plan(where=(Texted(texts=(text.text,), way=way, whole=True), Texted(texts=(stem,), way=way)))
            choice = self._choice(Member(plan=both, negated=link.negated), WORDS, mask)
            if choice.kept:
                yield choice
                return

    def _said_in(
        self, node: Node, link: Link, id: str, words: tuple[str, ...], score: float, mask: Mask, capital: bool = False
    ) -> Iterator[Choice]:
        """By a relation: to something with the words in a name, or to a text that holds them.

        Words that are not written as a name (``capital``) name no person or place.
        """
        relation = self.know.relations[id]
        if relation.value == "text" and (not node.categories or node.categories & self.know.domains[id]):
            paths = relation.literal_paths("value") or relation.paths
            constraint = Texted(texts=words, way=Way(paths=paths), whole=True, negated=link.negated)
            yield self._choice(constraint, score, mask)
        proper = self.know.ranges[id] & (int(Category.Actor) | int(Category.Place))
        if relation.value == "entity" and (capital or not proper):
            far = Plan(target=Target(categories=_names(self.know.ranges[id])), where=(Texted(texts=words, whole=True),))
            for way in self._ways(node, link, self.know.ranges[id], (id,)):
                constraint2 = Related(way=way, to=Anchor(plan=far), negated=link.negated)
                yield self._choice(constraint2, score, mask)

    # things

    def _things(self, node: Node, link: Link, anchor: Node, mask: Mask) -> Iterator[Choice]:
        if anchor.named and link.negated and not (link.explicit or link.loose) and node.categories & anchor.categories:
            iris = [self.world.graph.iri(n) for mention in anchor.mentions for n in self.same_name(mention)]
            yield self._choice(Among(iris=tuple(iris), negated=True), LOOSE * self._sureness(anchor), mask)
        if anchor.kinds and not link.explicit and not anchor.links:
            yield from self._of_kind(link, anchor, mask)
        if anchor.named and not anchor.kinds and loosely(anchor):
            yield from self._texts(node, link, _as_text(anchor), mask)
        seen: set[Way] = set()
        tried, joined = 0, False
        for score, ids in self._ids(node, link, anchor):
            if joined:
                break
            if not link.explicit and (inside := self._inside(node, link, anchor)) is not None:
                around = inside.model_copy(update={"inverse": True})
                for one in (inside,) if link.loose else (inside, around):
                    for choice in () if joined else self._by_way(one, link, anchor, LOOSE if link.loose else SIDE, mask):
                        joined = joined or choice.kept > 0
                        yield choice
                if joined:
                    break
            for way in self._ways(node, link, self._far(anchor), ids):
                if way in seen or tried >= TRIED * 8:
                    continue
                seen.add(way)
                tried += 1
                for choice in self._by_way(way, link, anchor, score, mask):
                    joined = joined or choice.kept > 0
                    yield choice
        if anchor.named and not joined and not link.inverse and not (link.explicit and all_sure(anchor)) and not loosely(anchor):
            yield from self._texts(node, link, _as_text(anchor), mask)

    def _inside(self, node: Node, link: Link, anchor: Node) -> Way | None:
        """ "in", "on", "at" between two things: everything that puts one in the other."""
        thing = int(Category.Thing)
        if not (node.categories & thing and anchor.categories & thing):
            return None
        if link.loose and not set(link.loose) & set(self.config.inside):
            return None
        return self.inside(node, anchor)

    def inside(self, node: Node, anchor: Node) -> Way | None:
        """All ways by which things are in, on or at others."""
        inside = tuple(id for id in self.config.inside if id in self.know.relations)
        paths = tuple(
            self._turned(path)
            for id in self.config.outside
            if id in self.know.relations
            for path in self.know.relations[id].paths
        )
        return Way(relations=inside, paths=paths) if inside or paths else None

    def _turned(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """A path from its far end."""
        return tuple(_back(step) for step in reversed(path))

    def _far(self, anchor: Node) -> int:
        mask = anchor.categories
        if anchor.kinds:
            for kind in anchor.kinds:
                mask |= kind.categories
            if any(kind.types for kind in anchor.kinds):
                mask |= int(Category.Concept)
        return mask

    def _ids(self, node: Node, link: Link, anchor: Node) -> Iterator[tuple[float, Sequence[str]]]:
        """Relations that may be meant, in groups of falling likelihood: said; said by the nouns themselves ("painters"); by small
        words; of the same happening; any."""
        nouns = tuple(dict.fromkeys((*node.far, *anchor.far)))
        if link.explicit and link.inverse:  # "the price of": nothing else will do
            yield EXPLICIT, link.explicit
            yield LOOSE, self.know.kin(link.explicit)
            return
        if link.explicit:
            own = tuple(id for id in link.loose if id in node.far and id not in link.explicit)
            yield EXPLICIT, own  # "artists represented by works": what the noun asked for says goes before the verb
            yield EXPLICIT, link.explicit
            yield NEAR, nouns
            yield LOOSE, tuple(id for id in self.know.kin(link.explicit))
            yield NEAR, link.loose
        else:
            loose = sorted(link.loose, key=lambda id: id not in self.config.inside)  # "in": where it is, then where it was made
            yield LOOSE, tuple(id for id in loose if id in nouns)
            if not link.loose or anchor.kinds:
                yield LOOSE, nouns
            yield LOOSE, loose
        rest = tuple(id for id in self.know.relations if id not in self.config.said_only)
        sure = not link.negated and anchor.named
        yield (UNSURE if link.explicit or link.loose else NEAR if sure else SIDE), rest

    def _of_kind(self, link: Link, anchor: Node, mask: Mask) -> Iterator[Choice]:
        """ "marble busts", "not paintings": the thing itself is of the kind, or made of it."""
        kind = best_kind(anchor.kinds)
        if kind is None or kind.generic:
            return
        parts: list[Constraint] = []
        if types := types_of(anchor.kinds):
            parts.append(Related(way=OF_KIND, to=Anchor(iris=tuple(map(self.world.graph.iri, types)))))
        elif kind.classes:
            parts.append(Member(plan=Plan(target=Target(classes=kind.classes))))
        if matter := self._matter(anchor):
            parts.append(matter)
        alive = [one for one in parts if self._choice(one, 1.0, mask).kept] or parts[:1]
        if len(alive) > 1:
            yield self._choice(Either(of=tuple(alive), negated=link.negated), LOOSE, mask)
        elif alive:
            yield self._choice(alive[0].model_copy(update={"negated": link.negated}), LOOSE, mask)

    def _matter(self, anchor: Node) -> Constraint | None:
        """Made of what the noun names, or in that technique."""
        ids = tuple(id for id in ("made_of", "technique") if id in self.know.relations)
        nodes = [
            one.entity
            for mention in anchor.mentions
            for one in mention.entities
            if self.know.categories_of(one.entity) & int(Category.Concept) and one.how != "partial"
        ]
        if not ids or not nodes:
            return None
        iris = tuple(self.world.graph.iri(n) for n in dict.fromkeys(nodes))
        return Related(way=Way(relations=ids), to=Anchor(iris=iris))

    def _by_way(self, way: Way, link: Link, anchor: Node, score: float, mask: Mask) -> Iterator[Choice]:
        range_ = self._end(way)
        if anchor.named and anchor.links and not anchor.kinds:
            if id(anchor) not in self._inner:
                self._inner[id(anchor)] = self.bind(replace_kinds(anchor))
            inner = self._inner[id(anchor)]
            related = Related(way=way, to=Anchor(plan=inner.plan), negated=link.negated)
            yield self._choice(related, score * NESTED, mask)
            return
        if anchor.named:
            yield from self._to_named(way, link, anchor, range_, score, mask)
        if anchor.kinds or anchor.links or anchor.earlier or (anchor.categories and not anchor.named):
            kind = best_kind(anchor.kinds)
            if kind is not None and kind.types and range_ & int(Category.Concept) and not anchor.links:
                iris = tuple(map(self.world.graph.iri, types_of(anchor.kinds)))
                yield self._choice(Related(way=way, to=Anchor(iris=iris), negated=link.negated), score, mask)
                return
            if id(anchor) not in self._inner:
                self._inner[id(anchor)] = self.bind(anchor)
            inner = self._inner[id(anchor)]
            to = Anchor(plan=inner.plan)
            own = set(way.relations) & set(anchor.far) and not (kind is not None and kind.types)
            if kind is not None and (kind.generic or own) and not anchor.links and not anchor.named:
                to = Anchor() if link.negated or own or _is_whole(kind) else to
            tie = self.any_of(way, link.negated) if to == Anchor() else Related(way=way, to=to, negated=link.negated)
            yield self._choice(tie, score, mask)

    def _end(self, way: Way) -> int:
        id = way.relations[0]
        return self.know.domains[id] if way.inverse else self.know.ranges[id]

    def _to_named(
        self, way: Way, link: Link, anchor: Node, range_: int, score: float, mask: Mask
    ) -> Iterator[Choice]:
        """To what a name means: of several meanings the first that joins anything; every name of an "or" by itself."""
        nodes: list[int] = []
        sure, note = 1.0, ""
        weak = loosely(anchor) and not anchor.kinds
        for mention in anchor.mentions:
            groups = [
                [n for n in group if (not range_ or self.know.categories_of(n) & range_) and not (weak and self._is_thing(n))]
                for group in self.meanings(mention)
            ]
            groups = [group for group in groups if group]
            if not groups:
                continue
            alive = [group for group in groups if self._reaches(way, group, mask)]
            chosen = alive[0] if alive else groups[0]
            nodes += chosen
            sure = min(sure, UNSURE if weak else 1.0, sureness(mention, chosen, len(alive)))
            if np.isin(chosen, self.world.suspects).any() or any(map(self._is_mixed, chosen[:3])):
                sure = min(sure, 0.75)
                note = f"{self.world.graph.label(chosen[0], ())} may be several things merged under one IRI."
            elif range_ & int(Category.Thing) and len({tuple(self.world.graph.types(n)) for n in chosen}) > 1:
                sure = min(sure, MIXED)  # a picture and its file, an image and its painted area
            elif len(alive) > 1 and sure < 1:
                note = f"{mention.text}: {self.world.graph.label(chosen[0], ())}"
        if not nodes:
            return
        iris = tuple(self.world.graph.iri(n) for n in dict.fromkeys(nodes))
        constraint: Constraint = Related(way=way, to=Anchor(iris=iris), negated=link.negated)
        if range_ & int(Category.Place):
            constraint = self._with_places(constraint, way, anchor, link)
        yield self._choice(constraint, score * sure, mask, note)

    def _is_text(self, node: int) -> bool:
        """Whether it is a statement, whose "name" is what it says."""
        return any(self.world.graph.class_code(int(n)) == "E33" for n in self.world.graph.types(node))

    def _is_mixed(self, node: int) -> bool:
        """Whether its names have so little in common that it may be several things: four museums with one IRI."""
        by_language: dict[str, list[set[str]]] = {}
        for label in self.world.graph.labels(node):
            words = {word for word in fold(label.text).split() if len(word) > 3}
            if words:
                by_language.setdefault(label.lang, []).append(words)
        return any(_apart(names) >= APART for names in by_language.values())

    def _is_thing(self, node: int) -> bool:
        return self.know.categories_of(node) == int(Category.Thing)

    def _with_places(self, constraint: Constraint, way: Way, anchor: Node, link: Link) -> Constraint:
        """A place with all whose names say that they are inside it: "Florence, Italy", where no triple says so."""
        inside = tuple(f", {fold(name)}" for name in dict.fromkeys(m.entities[0].name for m in anchor.mentions))
        if not all(inside) or any(len(name) < 5 for name in inside):
            return constraint
        plan = Plan(target=Target(categories=("Place",)), where=(Texted(texts=inside),))
        if not len(members_of(self.world, plan)):
            return constraint
        assert isinstance(constraint, Related)
        plain = constraint.model_copy(update={"negated": False})
        return Either(of=(plain, Related(way=way, to=Anchor(plan=plan))), negated=link.negated)

    def _reaches(self, way: Way, nodes: Sequence[int], mask: Mask) -> bool:
        anchor = Anchor(iris=tuple(self.world.graph.iri(n) for n in nodes))
        return bool((mask & satisfying(self.world, Related(way=way, to=anchor), mask, members_of)).any())


def _as_text(anchor: Node) -> Text:
    """A named thing as words: as it was written, or, named in another language than the data's, as the data calls it."""
    words = tuple(anchor.mentions[0].text.split())
    return Text(words, anchor.capital, anchor.raw if set(words) & set(anchor.text.split()) else "")


def replace_kinds(anchor: Node) -> Node:
    """A named thing by its name alone."""
    return Node(mentions=anchor.mentions, categories=anchor.categories, links=anchor.links, text=anchor.text)


def best_kind(kinds: Sequence[KindMatch]) -> KindMatch | None:
    """What a noun most likely stands for: a type of the data, then a class, then a category; a generic noun stays generic."""
    order = {"type": 0, "lexicon": 1, "like": 2, "class": 3, "head": 4, "category": 5}
    generic = [kind for kind in kinds if kind.generic]
    if generic:
        return generic[0]
    return min(kinds, key=lambda kind: order.get(kind.how, 9), default=None)


def types_of(kinds: Sequence[KindMatch]) -> tuple[int, ...]:
    """The types that a noun stands for: those of its name and those that the lexicon knows; of a part of their names only
    where there are none of these."""
    named = [kind for kind in kinds if kind.types and not kind.generic]
    if any(kind.generic for kind in kinds):
        return ()
    exact = [kind for kind in named if kind.how != "head"]
    return tuple(dict.fromkeys(n for kind in exact or named for n in kind.types))


def _is_whole(kind: KindMatch) -> bool:
    """Whether a generic noun stands for anything at the end of a relation ("a maker")."""
    return kind.categories.bit_count() == 1 and kind.role == "maker"


def _name(one: LinkedEntity) -> str:
    return " ".join(sorted(fold(one.name).replace(",", " ").split()))


def sureness(mention: Mention, chosen: Sequence[int] = (), alive: int = 1) -> float:
    """How sure it is that a name means what was chosen: 1 for a whole name, less for a part that fits several."""
    how = {one.how for one in mention.entities if not chosen or one.entity in chosen}
    if how & WHOLE:
        return 1.0
    if "similar" in how:
        return 0.95 if alive <= 1 else 0.75
    return 0.95 if alive == 1 else 0.75


def _apart(names: Sequence[set[str]]) -> int:
    """How many of the names share at most half of their words with any other of these, taken in order."""
    found: list[set[str]] = []
    for name in names:
        if all(2 * len(name & one) <= min(len(name), len(one)) for one in found):
            found.append(name)
    return len(found)


def _back(step: str) -> str:
    return step.removeprefix("^") if step.startswith("^") else f"^{step}"


def _singulars(words: Sequence[str]) -> tuple[str, ...]:
    """The words as a phrase, and with a plural's ending off the last."""
    text = " ".join(words)
    return (text, text[:-1]) if text.endswith("s") and len(text) > 4 else (text,)


def loosely(anchor: Node) -> bool:
    """Whether words are at best a part of some name and not written as one: "bronze" of "Bronze Horse"."""
    return not anchor.capital and all(mention.entities[0].how == "partial" for mention in anchor.mentions)


def all_sure(anchor: Node) -> bool:
    """Whether all names are whole names of something."""
    return all(mention.entities[0].how in WHOLE for mention in anchor.mentions)


def _names(mask: int) -> tuple[CategoryName, ...]:
    return tuple(category.name for category in Category if category.value and mask & category)  # type: ignore[misc]


def negate(constraint: Constraint) -> Constraint:
    return constraint.model_copy(update={"negated": not constraint.negated})


__all__ = ["SURE", "Binder", "Bound", "Choice", "Iterator", "best_kind", "replace", "targeted"]
