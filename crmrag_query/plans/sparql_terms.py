"""Terms of SPARQL, safe by construction: nothing that data or a plan holds can leave the place it is written to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from crmrag_query.graph.arrays import FLAG_SKOLEM
from crmrag_query.ontology.categories import Category
from crmrag_query.plans.world import World

_UNSAFE = re.compile(r"[\x00-\x20<>\"{}|^`\\\ud800-\udfff]")
"""What an IRIREF of SPARQL 1.1 (rule 139) may not hold; escapes would be undone before it is parsed."""


NOTHING = "FILTER(1 = 0)"
"""A line that never holds (rdflib 7.6 passes over a bare `false`)."""


@dataclass
class Terms:
    """Nodes, classes and properties of a world as SPARQL; notes what it cannot write."""

    world: World
    skolems: bool = False
    unwritable: int = 0
    used: int = 0
    _known: dict[int, str] = field(default_factory=dict)

    def fresh(self, name: str) -> str:
        """A variable that nothing else uses."""
        self.used += 1
        return f"?{name}{self.used}"

    def nodes(self, nodes: Iterable[int]) -> list[str]:
        """The nodes' IRIs, those left out that SPARQL cannot write."""
        written = []
        for node in nodes:
            text = self.iri(self.world.graph.iri(node))
            if text is not None:
                self.skolems |= bool(self.world.graph.flags[node] & FLAG_SKOLEM)
                written.append(text)
        return written

    def iri(self, iri: str) -> str | None:
        """The IRI as SPARQL, None for one that it cannot write."""
        if _UNSAFE.search(iri):
            self.unwritable += 1
            return None
        return f"<{iri}>"

    def values(self, variable: str, nodes: Iterable[int]) -> str:
        written = self.nodes(nodes)
        return f"VALUES {variable} {{ {' '.join(written)} }}" if written else NOTHING

    def none_of(self, variable: str, nodes: Iterable[int]) -> list[str]:
        """A filter that keeps the nodes out; none where there are none."""
        written = self.nodes(nodes)
        return [f"FILTER({variable} NOT IN ({', '.join(written)}))"] if written else []

    def classes(self, numbers: Iterable[int]) -> list[str]:
        found = (self.iri(self.world.graph.class_iri(number)) for number in numbers)
        return [text for text in found if text is not None]

    def has_class(self, variable: str, numbers: Iterable[int]) -> list[str]:
        kind, written = self.fresh("class"), self.classes(numbers)
        return (
            [f"VALUES {kind} {{ {' '.join(written)} }}", f"{variable} a {kind} ."] if written else [NOTHING]
        )

    def with_category(self, mask: int) -> list[int]:
        """Numbers of the classes that have one of these categories."""
        of = self.world.categories.all_of
        codes = self.world.graph.class_codes
        return [n for n, code in enumerate(codes) if code and int(of((code,))) & mask]

    def mainly(self, category: Category) -> tuple[list[int], list[int]]:
        """Numbers of the classes whose first category is this one, and of those that go before them."""
        of = self.world.categories.of
        codes = [(n, code) for n, code in enumerate(self.world.graph.class_codes) if code]
        own = [n for n, code in codes if of((code,)) == category]
        if not own:
            return [], []
        sample = self.world.graph.class_codes[own[0]]
        before = [n for n, code in codes if of((code,)) is not None and of((code, sample)) != category]
        return own, before


def union(branches: Sequence[Sequence[str]]) -> list[str]:
    """Branches of which one must hold; those that cannot are left out."""
    possible = [branch for branch in branches if NOTHING not in branch]
    if not possible:
        return [NOTHING]
    if len(possible) == 1:
        return list(possible[0])
    lines: list[str] = []
    for number, branch in enumerate(possible):
        lines += ["UNION {" if number else "{", *("  " + line for line in branch), "}"]
    return lines


def absent(lines: Sequence[str]) -> list[str]:
    """What must not hold; none where it never does."""
    return [] if NOTHING in lines else ["FILTER NOT EXISTS {", *("  " + line for line in lines), "}"]
