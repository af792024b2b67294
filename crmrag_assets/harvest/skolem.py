"""IRIs for blank nodes that depend on what is said of them, not on labels or order.

Blank nodes that share a triple make up a component. Its canonical form (RDFC-1.0, W3C 2024) names its nodes:
`urn:skolem:` and 32 hexadecimal digits of SHA-256 of the form and the node's label in it. Components of equal form
state the same facts about the same IRIs and so become one.
Colour refinement tells nodes apart first, whatever their labels (Weisfeiler & Leman 1968), as RDFC-1.0 takes long where many
are alike.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import pyoxigraph as ox
from networkx.utils import UnionFind

from crmrag_assets.harvest.triples import SKOLEM

# Nodes of equal colour that RDFC-1.0 may permute: its cost is exponential in them (7: 0.2 s, 8: 2 s).
TIED_LIMIT = 6
VISITS_LIMIT = 5_000_000  # edges looked at for one component: a few seconds, whatever its shape
Colour = dict[str, int]
# Of each node its edges: direction and constant part, other blank node or "".
Shape = dict[str, list[tuple[str, str]]]


def colours(quads: Sequence[ox.Quad]) -> tuple[Colour, bool]:
    """Colours by the shape of one component, refined until at most ``TIED_LIMIT`` nodes share theirs; are they proven?

    They are not where the order of the quads may have decided among equals. Nodes of equal colour in a tree are
    interchangeable, so there a traversal tells the rest apart. Elsewhere one node is set apart and refinement goes on: right
    for the usual symmetries (rings, cliques), but not proven.
    """
    shape = _shape_of(quads)
    cost = sum(map(len, shape.values()))
    colour = dict.fromkeys(shape, 0)
    pairs = {(node, other) for node, edges in shape.items() for _, other in edges if node < other}
    is_tree, proven = len(pairs) == len(shape) - 1, True
    for _ in range(VISITS_LIMIT // cost + 1):
        if sum(size for size in Counter(colour.values()).values() if size > 1) <= TIED_LIMIT:
            return colour, proven
        refined = _refined(shape, colour)
        if max(refined.values()) == max(colour.values()):
            if is_tree:
                return _traversed(shape, colour), True
            refined, proven = _set_apart(refined), False
        colour = refined
    return _traversed(shape, colour), False


def _shape_of(quads: Sequence[ox.Quad]) -> Shape:
    shape: Shape = {}
    for s, p, o, g in quads:
        subject = s.value if isinstance(s, ox.BlankNode) else ""
        object_ = o.value if isinstance(o, ox.BlankNode) else ""
        if subject and subject == object_:
            shape.setdefault(subject, []).append((f"loop {p} {g}", ""))
            continue
        if subject:
            shape.setdefault(subject, []).append((f"out {p} {g} {'' if object_ else o}", object_))
        if object_:
            shape.setdefault(object_, []).append((f"in {p} {g} {'' if subject else s}", subject))
    return shape


def _refined(shape: Shape, colour: Colour) -> Colour:
    """Each colour split by the edges and the colours at their other ends; the order of colours is kept."""
    at = {"": -1, **colour}
    seen = {
        node: (colour[node], tuple(sorted((part, at[other]) for part, other in edges)))
        for node, edges in shape.items()
    }
    rank = {signature: number for number, signature in enumerate(sorted(set(seen.values())))}
    return {node: rank[signature] for node, signature in seen.items()}


def _set_apart(colour: Colour) -> Colour:
    """One node of the first tied colour goes before the others of its colour."""
    tied = min(number for number, size in Counter(colour.values()).items() if size > 1)
    chosen = next(node for node, number in colour.items() if number == tied)
    return {node: number + (number >= tied and node != chosen) for node, number in colour.items()}


def _traversed(shape: Shape, colour: Colour) -> Colour:
    """Places in a depth-first traversal from a node of the least colour, along edges in order of their colours."""
    place: Colour = {}
    waiting = [min(shape, key=colour.__getitem__)]
    while waiting:
        node = waiting.pop()
        if node not in place:
            place[node] = len(place)
            edges = sorted((part, colour[other], other) for part, other in shape[node] if other)
            waiting.extend(other for _, _, other in reversed(edges))
    return place


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
    held = [(blank_ends(quad), quad) for quad in quads]
    joined = UnionFind()
    for ends, _ in held:
        joined.union(*ends)
    groups: dict[str, list[ox.Quad]] = {}
    for ends, quad in held:
        groups.setdefault(joined[ends[0]], []).append(quad)
    yield from groups.values()


def canonical(component: Sequence[ox.Quad]) -> Form:
    """The canonical form of one component; equal for isomorphic components when ``proven``."""
    nodes = dict.fromkeys(end for quad in component for end in blank_ends(quad))
    dataset = ox.Dataset(component)
    proven = True
    if len(nodes) > SMALL:
        refined, proven = colours(component)
        for node, colour in refined.items():
            dataset.add(ox.Quad(ox.BlankNode(node), HINT, ox.Literal(str(colour))))
    dataset.canonicalize(ox.CanonicalizationAlgorithm.RDFC_1_0)
    quads = tuple(quad for quad in dataset if quad.predicate != HINT)
    text = "".join(sorted(f"{quad} .\n" for quad in quads))
    return Form(text, quads, len(nodes), proven)


def blank_ends(quad: ox.Quad) -> list[str]:
    """Labels of the blank nodes at the quad's ends: one or two."""
    return [end.value for end in (quad.subject, quad.object) if isinstance(end, ox.BlankNode)]


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
