"""IRIs for blank nodes that depend on what is said of them, not on labels or order.

Blank nodes that share a triple make up a component. Its canonical form (RDFC-1.0, W3C 2024) names its nodes:
`urn:skolem:` and 32 hexadecimal digits of SHA-256 of the form and the node's label in it. Components of equal form
state the same facts about the same IRIs and so become one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyoxigraph as ox

from crmrag_assets.harvest.refine import colours
from crmrag_assets.harvest.triples import SKOLEM

HINT = ox.NamedNode("urn:crmrag:colour")  # tells RDFC-1.0 what refinement found; never leaves this module
SMALL = 5  # nodes of a component that RDFC-1.0 always handles in milliseconds
DIGITS = 32


@dataclass
class Skolemiser:
    """Names the blank nodes of one file after another and counts what it met."""

    nodes: int = 0
    components: int = 0
    merged: int = 0
    merged_triples: int = 0
    unproven: int = 0
    _seen: set[bytes] = field(default_factory=set)

    def named(self, quads: Sequence[ox.Quad]) -> Iterator[ox.Quad]:
        """The quads of one file that hold blank nodes, these replaced by IRIs; each distinct component once."""
        for component in components(quads):
            form = canonical(component)
            self.components += 1
            self.nodes += form.nodes
            self.unproven += not form.proven
            digest = hashlib.sha256(form.text.encode()).digest()
            if digest in self._seen:
                self.merged += 1
                self.merged_triples += len(component)
            else:
                self._seen.add(digest)
                yield from _renamed(form)


@dataclass(frozen=True, slots=True)
class Form:
    """A component in canonical form: sorted N-Quads, the same as quads, and whether no order could change it."""

    text: str
    quads: tuple[ox.Quad, ...]
    nodes: int
    proven: bool


def components(quads: Iterable[ox.Quad]) -> Iterator[list[ox.Quad]]:
    """The quads grouped by the blank nodes that they share as subject or object."""
    parent: dict[str, str] = {}
    held: list[tuple[str, ox.Quad]] = []
    for quad in quads:
        ends = blank_ends(quad)
        first = _root(parent, ends[0])
        if len(ends) > 1:
            parent[_root(parent, ends[1])] = first
        held.append((first, quad))
    groups: dict[str, list[ox.Quad]] = {}
    for end, quad in held:
        groups.setdefault(_root(parent, end), []).append(quad)
    yield from groups.values()


def canonical(component: Sequence[ox.Quad]) -> Form:
    """The canonical form of one component; equal for isomorphic components when ``proven``."""
    nodes = dict.fromkeys(end for quad in component for end in blank_ends(quad))
    dataset = ox.Dataset(component)
    proven = True
    if len(nodes) > SMALL:
        found = colours(component)
        proven = found.proven
        for node, colour in found.colour.items():
            dataset.add(ox.Quad(ox.BlankNode(node), HINT, ox.Literal(str(colour))))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    quads = tuple(quad for quad in dataset if quad.predicate != HINT)
    text = "".join(sorted(f"{quad} .\n" for quad in quads))
    return Form(text, quads, len(nodes), proven)


def blank_ends(quad: ox.Quad) -> list[str]:
    """Labels of the blank nodes at the quad's ends: one or two."""
    return [end.value for end in (quad.subject, quad.object) if isinstance(end, ox.BlankNode)]


def _root(parent: dict[str, str], node: str) -> str:
    above = parent.setdefault(node, node)
    while above != node:
        parent[node] = parent[above]
        node, above = above, parent[above]
    return node


def _renamed(form: Form) -> Iterator[ox.Quad]:
    """The quads of a component with the names of its nodes."""
    prefix = hashlib.sha256(form.text.encode())
    names: dict[str, ox.NamedNode] = {}
    for label in dict.fromkeys(end for quad in form.quads for end in blank_ends(quad)):
        digest = prefix.copy()
        digest.update(label.encode())
        names[label] = ox.NamedNode(SKOLEM + digest.hexdigest()[:DIGITS])
    for s, p, o, g in form.quads:
        subject = names[s.value] if isinstance(s, ox.BlankNode) else s
        yield ox.Quad(subject, p, names[o.value] if isinstance(o, ox.BlankNode) else o, g)
