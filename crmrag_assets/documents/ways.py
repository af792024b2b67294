"""By which way a relationship holds, told as exactly as the data allows: which of two lines says more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from math import prod

import numpy as np

from crmrag_query.graph.arrays import Ints
from crmrag_query.ontology.tables import Directed, Ontology
from crmrag_query.relationships.catalogue import Catalogue, Path, Relationship, Step
from crmrag_query.relationships.frontier import MAX_PATHS
from crmrag_query.relationships.steps import resolve

Way = tuple[tuple[frozenset[Directed], bool], ...]
"""For each step of a path what it follows in data, and whether any number of times."""

Choices = tuple[tuple[Step, ...], ...]
"""For each step of a path the steps that it is split into, itself where it is not split."""


@dataclass(frozen=True)
class Ways:
    """The catalogue with its paths split by the properties that the data has.

    ``walked``: each path ``P92i | P14`` also as ``P108i | P14`` where the data states P108, the narrowest first, so that the
    lowest path to a target tells best how it was reached; ``order[r]`` int32: the number in the method's catalogue of the
    path that each was made from. ``choices[r]``: for each path of the method's catalogue and each of its steps, what that
    step becomes in the walked paths.
    """

    catalogue: Catalogue
    walked: Catalogue
    order: tuple[Ints, ...]
    choices: tuple[tuple[Choices, ...], ...]
    ontology: Ontology
    _known: dict[tuple[int, int, bool, int], bool] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _ways(self) -> tuple[tuple[Way, ...], ...]:
        return tuple(tuple(_way(path, self.ontology) for path in one.paths) for one in self.catalogue)

    def required(self, relationship: int, path: int) -> int:
        """How many steps of a walked path are taken in any case."""
        return sum(not step.recursive for step in self.walked[relationship].paths[path].steps)

    def implies(self, relationship: int, path: int, bare: bool, other: int) -> bool:
        """Whether whatever is reached by this walked path is so by a path of the ``other`` relationship too.

        ``bare``: no recursive step of the path was taken.
        """
        key = relationship, path, bare, other
        if key not in self._known:
            way = _way(self.walked[relationship].paths[path], self.ontology)
            way = tuple(step for step in way if not (bare and step[1]))
            self._known[key] = any(implies(way, wider) for wider in self._ways[other])
        return self._known[key]


def split_ways(catalogue: Catalogue, ontology: Ontology, codes: Collection[str]) -> Ways:
    """The ways of a catalogue in data that has properties of these codes."""
    present = set(codes) | {inverse for code in codes if code and (inverse := ontology.inverse(code))}
    split = [_split(relationship, ontology, present) for relationship in catalogue]
    walked = tuple(replace(one, paths=paths) for one, (paths, _, _) in zip(catalogue, split, strict=True))
    order, choices = tuple(order for _, order, _ in split), tuple(choices for _, _, choices in split)
    return Ways(catalogue, Catalogue(catalogue.name, walked), order, choices, ontology)


def _split(
    relationship: Relationship, ontology: Ontology, present: set[str]
) -> tuple[tuple[Path, ...], Ints, tuple[Choices, ...]]:
    """Paths, the narrowest first, and the number of the path that each comes from; the paths themselves are among them.
    And for each path what its steps became."""
    most = MAX_PATHS // len(relationship.paths)
    found: dict[tuple[Step, ...], int] = {}
    chosen = []
    for number, path in enumerate(relationship.paths):
        choices = tuple(
            (step,) if step.recursive else _narrower(step, ontology, present) for step in path.steps
        )
        if 0 < prod(len(steps) for steps in choices) < most:
            for steps in product(*choices):
                found.setdefault(steps, number)
        else:
            choices = tuple((step,) for step in path.steps)
        chosen.append(choices)
        found.setdefault(path.steps, number)
    sizes = [sum(len(resolve(step, ontology)) for step in steps) for steps in found]
    order = np.argsort(np.array(sizes), kind="stable")
    steps_of, number_of = list(found), np.fromiter(found.values(), np.int32, len(found))
    paths = tuple(Path(relationship.paths[number_of[i]].id, steps_of[i]) for i in order.tolist())
    return paths, number_of[order], tuple(chosen)


def _narrower(step: Step, ontology: Ontology, present: set[str]) -> tuple[Step, ...]:
    """The step by each property that it follows and the data has, from whichever end.

    Last the step itself, where it follows one backwards that has no inverse to be named by.
    """
    followed = [directed for directed in resolve(step, ontology) if directed[0] in present]
    codes = sorted({code for code, forward in followed if forward})
    narrower = tuple(Step(code, code.endswith("i"), False, step.label) for code in codes)
    told = {directed for one in narrower for directed in resolve(one, ontology)}
    return narrower if told.issuperset(followed) else (*narrower, step)


def _way(path: Path, ontology: Ontology) -> Way:
    return tuple((frozenset(resolve(step, ontology)), step.recursive) for step in path.steps)


def implies(
    way: Sequence[tuple[frozenset[Directed], bool]], wider: Sequence[tuple[frozenset[Directed], bool]]
) -> bool:
    """Whether every walk of one way is a walk of the other: step by step the same or less is followed, and what may be
    walked any number of times takes up any number of steps."""
    if not way:
        return all(recursive for _, recursive in wider)
    if not wider:
        return False
    (own, own_recursive), (other, recursive) = way[0], wider[0]
    if recursive:
        return implies(way, wider[1:]) or (own <= other and implies(way[1:], wider))
    return not own_recursive and own <= other and implies(way[1:], wider[1:])
