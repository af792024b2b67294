"""What ties are bound to: the data, its relations, and the ways that lead from one thing to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from crmrag_query.config.questions import ParsingPart, Scores
from crmrag_query.config.reading import CategoryName
from crmrag_query.ontology.categories import Category
from crmrag_query.parsing.tree import Link, Node
from crmrag_query.parsing.vocabulary import Vocabulary
from crmrag_query.plans.execute import members_of, satisfying
from crmrag_query.plans.records import Anchor, Constraint, Dated, Plan, Related, Way
from crmrag_query.plans.world import Mask, World


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to understand a tie: the constraint, how sure (0 to 1), how many of the host's things it keeps, and what it
    says to a reader. ``mentioned``: words that it finds in texts or names only, where a person, a place or an event is asked
    for: a text that mentions Italy makes nothing made there."""

    constraint: Constraint
    score: float
    kept: int
    note: str = ""
    mentioned: tuple[str, ...] = ()


@dataclass
class Ground:
    """``namesakes``: all entities (node numbers) that have a name; ``called``: further names of what words of the question
    name, as in other languages ("Athènes": "athens")."""

    world: World
    know: Vocabulary
    config: ParsingPart
    namesakes: Callable[[str], Sequence[int]]
    called: Callable[[Sequence[str]], Sequence[str]]

    @property
    def scores(self) -> Scores:
        return self.config.scores

    def iris(self, nodes: Iterable[int]) -> tuple[str, ...]:
        """IRIs of nodes, each once."""
        return tuple(self.world.graph.iri(n) for n in dict.fromkeys(nodes))

    def mask_of(self, plan: Plan) -> Mask:
        """The members of a plan as a mask over all nodes."""
        mask = np.zeros(self.world.size, bool)
        mask[members_of(self.world, plan)] = True
        return mask

    def satisfying(self, constraint: Constraint, mask: Mask) -> Mask:
        """The things of a mask that meet a constraint; a negated one is taken as if it were not."""
        plain = constraint.model_copy(update={"negated": False})
        return np.asarray(mask & satisfying(self.world, plain, mask))

    def choice(
        self,
        constraint: Constraint,
        score: float,
        mask: Mask,
        note: str = "",
        mentioned: tuple[str, ...] = (),
    ) -> Choice:
        """A constraint as a choice for the things of a mask."""
        return Choice(constraint, score, int(self.satisfying(constraint, mask).sum()), note, mentioned)

    def holds(self, way: Way, to: Anchor, mask: Mask) -> bool:
        """Whether a way leads from any thing of a mask to what it should end in."""
        return bool(self.satisfying(Related(way=way, to=to), mask).any())

    def any_of(self, way: Way, negated: bool = False) -> Constraint:
        """That a way leads anywhere; of a date, to a known one and not to a time-span without any."""
        if not way.inverse and all(self.know.value(id) == "date" for id in way.relations):
            return Dated(way=way, negated=negated)
        return Related(way=way, negated=negated)

    def ways(self, node: Node, link: Link, far: int, ids: Sequence[str]) -> Iterator[Way]:
        """Ways of the relations between the node and something of categories ``far``, the likelier direction first."""
        for id in ids:
            ahead, back = self.know.fits(id, node.categories, far)
            if link.inverse:
                ahead, back = False, True
            first = link.before != (id in link.turned)
            order = [(back, True), (ahead, False)] if first else [(ahead, False), (back, True)]
            if link.explicit and ahead and back:
                order = order[:1]  # a phrase between two things of one kind says which comes first
            for fits, inverse in order:
                if fits:
                    yield Way(relations=(id,), inverse=inverse)

    def inside(self, node: Node, anchor: Node) -> Way | None:
        """All ways by which a thing is in, on or at another; None where either is no thing, or the data has no such way."""
        if not node.categories & anchor.categories & int(Category.Thing):
            return None
        known = self.know.relations
        inner = tuple(id for id in self.config.inside if id in known)
        outer = (path for id in self.config.outside if id in known for path in known[id].paths)
        paths = tuple(tuple(_back(step) for step in reversed(path)) for path in outer)
        return Way(relations=inner, paths=paths) if inner or paths else None


def _back(step: str) -> str:
    """A step of a path from its far end."""
    return step.removeprefix("^") if step.startswith("^") else f"^{step}"


def category_names(mask: int) -> tuple[CategoryName, ...]:
    """The names of the categories of a mask."""
    return tuple(name for name in get_args(CategoryName) if mask & int(Category[name]))
