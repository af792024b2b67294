"""From what a question says to what the data can tell: each tie of the tree becomes a constraint that the data answers to.

Several relations may be meant by one phrase ("from", "painted in"): those that cannot join the two things are passed over,
and of the others the first that joins anything. How sure a choice is, is its score (``scores`` of `parsing.yaml`); what was
not the best choice stays as an alternative.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from crmrag_query.dates import Interval
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.antecedent import Antecedent, as_list, rest_of
from crmrag_query.parsing.binding.ground import Choice, Ground, category_names
from crmrag_query.parsing.binding.kinds import OF_KIND
from crmrag_query.parsing.binding.meanings import (
    best_kind,
    is_loose,
    meanings,
    same_name,
    sureness_of,
    types_of,
)
from crmrag_query.parsing.binding.texts import in_title, to_words
from crmrag_query.parsing.binding.things import to_thing
from crmrag_query.parsing.binding.times import first_of, in_period, to_anything
from crmrag_query.parsing.kinds import KindMatch
from crmrag_query.parsing.tree import Link, Node, Text
from crmrag_query.parsing.vocabulary import MAKER
from crmrag_query.plans.execute import members_of, targeted
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
from crmrag_query.plans.world import Mask
from crmrag_query.timing import check


@dataclass
class Bound:
    """A thing as a target and constraints.

    ``score``: of all its parts together; ``rivals``: other choices by the place of the constraint in ``where``; ``unknown``,
    ``missing``: words that nothing was made of, or that nothing meets; ``absent``: relations that were asked for of something
    known, and that nothing states; ``mentioned``: see `Choice`; ``mask``: its members.
    """

    target: Target
    where: list[Constraint] = field(default_factory=list)
    score: float = 1.0
    rivals: list[tuple[int, Choice]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    mask: Mask | None = None

    @property
    def plan(self) -> Plan:
        return Plan(target=self.target, where=tuple(self.where))

    def add(self, inner: Bound) -> None:
        """What was not understood of a thing within it."""
        self.unknown += inner.unknown
        self.missing += inner.missing
        self.absent += inner.absent
        self.mentioned += inner.mentioned
        self.notes += inner.notes
        self.score *= inner.score


@dataclass
class Binder(Ground):
    """Binds the tree of one question; ``earlier``: what went before in the conversation."""

    earlier: Antecedent | None = None
    _inner: dict[int, Bound] = field(default_factory=dict)

    # things

    def bind(self, node: Node) -> Bound:
        """The thing with all its ties; of several meanings of its name the first that all of them hold of."""
        alone = len(node.mentions) == 1 and not node.kinds
        meant = meanings(self, node.mentions[0])[: self.config.limits.meanings] if alone else []
        if len(meant) < 2 or not node.links:
            return self._bind(node, meant[0] if meant else None)
        tried: list[Bound] = []
        for nodes in meant:
            self._inner.clear()
            tried.append(self._bind(node, nodes))
            mask = tried[-1].mask
            if mask is not None and mask.any():
                return tried[-1]
        return tried[0]

    def _bind(self, node: Node, meant: Sequence[int] | None) -> Bound:
        kind = best_kind(node.kinds)
        bound = Bound(self._target(node, kind))
        if kind is not None:
            self._of_kind(bound, node, kind)
        if node.earlier and self.earlier is not None:
            before = _before(self.earlier, node)
            if before is not None:
                bound.where.append(Member(plan=before))
            bound.score *= 1.0 if before is not None and self.earlier.sure else self.scores.unsure
        if node.named and not node.kinds:
            bound.where.append(Among(iris=self.iris(meant or same_name(self, node.mentions))))
            bound.score *= sureness_of(self, node)
        mask = self.mask_of(bound.plan)
        for link in node.links:
            mask = self._tie(bound, node, link, mask)
        if kind is None and not node.named and not node.earlier and _is_open(bound.target):
            bound.where = [_stated(one) for one in bound.where]
            mask = self.mask_of(bound.plan)
        bound.mask = mask
        return bound

    def _target(self, node: Node, kind: KindMatch | None) -> Target:
        if kind is None:
            bare = not node.mentions and not node.earlier
            return Target(categories=category_names(node.categories)) if bare else Target()
        if types := types_of(node.kinds):
            return Target(types=tuple(map(self.world.graph.iri, types)))
        if kind.classes:
            return Target(classes=kind.classes)
        return Target(categories=category_names(kind.categories))

    def _of_kind(self, bound: Bound, node: Node, kind: KindMatch) -> None:
        """How sure a kind is, and what its entities made."""
        if not (kind.generic or kind.types or kind.classes or kind.makes):
            if self._of_role(bound, node, kind) or _said_by_tie(node):
                return
            bound.score *= self.scores.unsure  # understood, and nothing in the data is called so
        elif kind.how == "like" and not kind.generic:
            bound.score *= self.scores.side
            bound.notes.append(f"{node.text}: {kind.label}")
        if kind.female:
            self._of_women(bound, kind)
        if kind.makes and not kind.types and MAKER in self.know.relations:
            made = Anchor(plan=Plan(target=Target(types=tuple(map(self.world.graph.iri, kind.makes)))))
            bound.where.append(Related(way=Way(relations=(MAKER,), inverse=True), to=made))

    def _of_women(self, bound: Bound, kind: KindMatch) -> None:
        """ "Malerinnen": only women, where the data tells who is one."""
        if not kind.women:
            bound.score *= self.scores.unsure
            return
        women = Anchor(iris=self.iris(kind.women))
        bound.where.append(Related(way=OF_KIND, to=women))

    def _of_role(self, bound: Bound, node: Node, kind: KindMatch) -> bool:
        """ "The donors", "sitters": who has that role is what the relation leads to; whether it leads anywhere."""
        for id in node.far:
            if id in self.config.inside:  # a city is no role: all places are where something is
                continue
            categories = kind.categories & self.know.ranges[id]
            way = Way(relations=(id,), inverse=True)
            if not categories or self.know.value(id) != "entity":
                continue
            plan = Plan(target=Target(categories=category_names(categories)), where=(Related(way=way),))
            if len(members_of(self.world, plan)):
                bound.target = plan.target
                bound.where += plan.where
                bound.score *= self.scores.near
                return True
        return False

    def _within(self, anchor: Node) -> Plan:
        """The plan of a thing within a thing, bound once."""
        if id(anchor) not in self._inner:
            by_name = anchor.named and anchor.links and not anchor.kinds
            self._inner[id(anchor)] = self.bind(_by_name(anchor) if by_name else anchor)
        inner = self._inner[id(anchor)]
        return inner.plan if anchor.rank is None else self._first_of(anchor, inner)

    def _first_of(self, anchor: Node, inner: Bound) -> Plan:
        """ "the *oldest* print": the first of the things, where their dates are known."""
        assert inner.mask is not None
        compute = first_of(self, anchor, inner.mask)
        if compute is None:
            inner.unknown.append(anchor.text)
            return inner.plan
        return inner.plan.model_copy(update={"compute": compute})

    # ties

    def _tie(self, bound: Bound, node: Node, link: Link, mask: Mask) -> Mask:
        """Add a tie to what is bound; the things of the mask that it leaves."""
        check()
        if not node.categories and not node.named and not node.earlier:
            self._guess(node, link)
        choices = list(self._choices(node, link, mask))
        if not choices and link.explicit and not link.inverse:
            plain = replace(link, explicit=(), loose=())
            choices = [self._less(one, self.scores.unsure) for one in self._choices(node, plain, mask)]
        if not choices:
            bound.unknown += link.words
            bound.absent += link.explicit if link.inverse else ()
            bound.score *= self.scores.unsure / 2
            return mask
        best = self._best(choices, link, mask)
        if best.kept or link.negated:  # where nothing mentions it either, it is not known
            bound.mentioned += best.mentioned
        if link.at_most is not None or (link.at_least or 1) > 1:
            best = self._so_many(bound, best, link, mask)
        mask = self._narrowed(bound, best, mask)
        bound.rivals += [(len(bound.where), one) for one in choices if one is not best][
            : self.config.limits.rivals
        ]
        bound.where.append(best.constraint)
        bound.score *= best.score
        if best.note:
            bound.notes.append(best.note)
        if isinstance(link.anchor, Node) and (inner := self._inner.get(id(link.anchor))) is not None:
            bound.add(inner)
        if not best.kept and not link.negated:
            bound.missing.append(" ".join(link.words))
            bound.absent += _absent(best, link)
        found = self.satisfying(best.constraint, mask)
        return np.asarray(mask & (~found if link.negated else found))

    def _choices(self, node: Node, link: Link, mask: Mask) -> Iterator[Choice]:
        anchor = link.anchor
        if link.titled and isinstance(anchor, Node | Text):
            yield in_title(self, link, anchor, mask)
        elif isinstance(anchor, Interval):
            yield from in_period(self, node, link, anchor, mask)
        elif isinstance(anchor, Text):
            yield from to_words(self, node, link, anchor, mask)
        elif anchor is None:
            yield from to_anything(self, node, link, mask)
        else:
            yield from to_thing(self, node, link, anchor, mask, self._within)

    def _guess(self, node: Node, link: Link) -> None:
        """What "what" may be: the end of the phrase's relation that its other thing is not."""
        if not isinstance(link.anchor, Node | Interval):
            return
        far = link.anchor.may_be if isinstance(link.anchor, Node) else int(Category.Time)
        for id in (*link.explicit, *link.loose):
            ahead, back = self.know.fits(id, 0, far)
            if ahead or back:
                node.categories = self.know.domains[id] if ahead else self.know.ranges[id]
                return
        for id in link.explicit:
            node.categories |= self.know.domains[id]

    def _narrowed(self, bound: Bound, choice: Choice, mask: Mask) -> Mask:
        """What is asked for, where nothing says what it is, is what a relation is of."""
        fixed = bound.target != Target() or any(isinstance(one, Among | Member) for one in bound.where)
        tie = choice.constraint
        way = tie.way if isinstance(tie, Related | Dated) else None
        if fixed or way is None or not (near := self.know.end(way.relations, not way.inverse)):
            return mask
        bound.target = Target(categories=category_names(near))
        return np.asarray(mask & targeted(self.world, bound.target))

    def _so_many(self, bound: Bound, choice: Choice, link: Link, mask: Mask) -> Choice:
        """So many of what a tie leads to, not just any: a ranking of the things that have as many."""
        tie = choice.constraint
        if not isinstance(tie, Related) or tie.negated:
            return self._less(choice, self.scores.unsure)
        measure = Measure(kind="count", way=tie.way, to=tie.to)

        def having(least: int, negated: bool = False) -> Member:
            ranking = Compute(kind="rank", measure=measure, at_least=least)
            return Member(plan=Plan(target=bound.target, compute=ranking), negated=negated)

        if link.at_most is None:
            return self.choice(having(link.at_least or 1), choice.score, mask)
        most = having(link.at_most + 1, negated=True)
        least = (having(link.at_least),) if link.at_least else ()
        both = Plan(target=bound.target, where=(*least, most))
        return self.choice(Member(plan=both), choice.score, mask)

    def _best(self, choices: Sequence[Choice], link: Link, mask: Mask) -> Choice:
        """The surest of those that join anything, else the surest; the first of equals."""
        alive = [one for one in choices if one.kept]
        if not alive and link.explicit:
            alive = self._told_at_all(choices, mask)
        alive = alive or list(choices)
        if link.negated and link.explicit:  # what is not so is told by the relation that mostly is
            return max(alive, key=lambda one: (one.score, one.kept))
        return max(alive, key=lambda one: one.score)

    def _told_at_all(self, choices: Sequence[Choice], mask: Mask) -> list[Choice]:
        """Of choices that keep nothing, those whose relation the things have at all; where none has, all are unsure."""
        told = []
        for one in choices:
            way = _way(one.constraint)
            if way is not None and self.satisfying(self.any_of(way), mask).any():
                told.append(one)
        return told or [self._less(one, self.scores.side) for one in choices]

    @staticmethod
    def _less(choice: Choice, share: float) -> Choice:
        """A choice that is less sure by a share."""
        return replace(choice, score=choice.score * share)


def _before(earlier: Antecedent, node: Node) -> Plan | None:
    """The plan of what went before, as the node means it."""
    if node.earlier == "rest":
        return rest_of(earlier) or earlier.plan
    return as_list(earlier.plan) if earlier.plan is not None else None


def _by_name(anchor: Node) -> Node:
    """A named thing by its name alone."""
    return Node(mentions=anchor.mentions, categories=anchor.categories, links=anchor.links, text=anchor.text)


def _is_open(target: Target) -> bool:
    """Whether nothing but its category is said of what is asked for: "where"."""
    return not (target.types or target.classes) and len(target.categories) == 1


def _stated(constraint: Constraint) -> Constraint:
    """ "Where was she born": what is stated, and not all that lies around it."""
    if not isinstance(constraint, Related) or not constraint.way.inverse or constraint.negated:
        return constraint
    way = constraint.way
    return constraint.model_copy(update={"way": way.model_copy(update={"direct": way.then is None})})


def _said_by_tie(node: Node) -> bool:
    """Whether a tie says what the noun names: "the *owners* of paintings"."""
    return any(link.inverse and set(link.explicit) & set(node.ends) for link in node.links)


def _way(constraint: Constraint) -> Way | None:
    return constraint.way if isinstance(constraint, Related | Dated | Texted) else None


def _absent(choice: Choice, link: Link) -> list[str]:
    """The relation of a choice that keeps nothing, where it was said and what it is of is known."""
    way = _way(choice.constraint)
    known = link.anchor is None or (
        isinstance(link.anchor, Node) and link.anchor.named and not is_loose(link.anchor)
    )
    return [id for id in (way.relations if way is not None else ()) if id in link.explicit and known]
