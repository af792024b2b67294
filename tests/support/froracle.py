"""Independent oracles for the relationship engine: SPARQL property paths, and a walk over plain sets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

import networkx as nx
import pyoxigraph as ox

from crmrag_query.ontology.load import Ontology
from crmrag_query.relationships.engine import Path, Step

if TYPE_CHECKING:
    from tests.support.frgraphs import Net

Directed = tuple[str, bool]
Pair = tuple[int, int]
NODE, PROPERTY = "urn:node:", "urn:property:"
SOURCE = ox.NamedNode("urn:source")


class Alphabet:
    """For a property: every property and direction that implies it, found by networkx over the ontology's facts.

    Two properties are inverses where each names the other.
    """

    def __init__(self, ontology: Ontology) -> None:
        self.same: nx.DiGraph[Directed] = nx.DiGraph()
        below: nx.DiGraph[Directed] = nx.DiGraph()
        for code, term in ontology.properties.items():
            for forward in (True, False):
                self.same.add_node((code, forward))
                for parent in term.parents:
                    below.add_edge((parent, forward), (code, forward))
                if term.inverse and ontology.inverse(term.inverse) == code:
                    self.same.add_edge((code, forward), (term.inverse, not forward))
                if term.symmetric:
                    self.same.add_edge((code, forward), (code, not forward))
        self.implied: nx.DiGraph[Directed] = nx.compose(self.same, below)
        self.of = cache(self._of)

    def _of(self, step: Step) -> list[Directed]:
        start, implied = (step.code, step.forward), self.same if step.alone else self.implied
        return sorted({start, *nx.descendants(implied, start)}) if start in implied else [start]


def property_path(path: Path, alphabet: Alphabet, present: Mapping[str, Iterable[str]]) -> str:
    """The path in SPARQL 1.1; ``present`` gives the IRIs of the properties of each code in the data."""
    return "/".join(_step(step, alphabet, present) for step in path.steps)


def _step(step: Step, alphabet: Alphabet, present: Mapping[str, Iterable[str]]) -> str:
    ways = [
        f"{'' if forward else '^'}<{iri}>"
        for code, forward in alphabet.of(step)
        for iri in present.get(code, ())
    ]
    return f"({'|'.join(ways) or '<urn:absent>'}){'*' if step.recursive else ''}"


def sparql_pairs(store: ox.Store, path: str) -> set[tuple[str, str]]:
    """IRIs (start, end) of all matches from nodes marked as SOURCE, the start itself left out."""
    query = f"SELECT DISTINCT ?x ?y WHERE {{ ?x <{SOURCE.value}> true . ?x {path} ?y . FILTER(?x != ?y) }}"
    return {(row["x"].value, row["y"].value) for row in store.query(query)}  # type: ignore[union-attr]


def store_of(net: Net, sources: Iterable[int]) -> ox.Store:
    """The net in an Oxigraph store, its sources marked."""
    store = ox.Store()
    store.extend(
        ox.Quad(ox.NamedNode(f"{NODE}{s}"), ox.NamedNode(PROPERTY + code), ox.NamedNode(f"{NODE}{o}"))
        for s, code, o in net.edges
    )
    mark(store, (f"{NODE}{node}" for node in sources))
    return store


def mark(store: ox.Store, iris: Iterable[str]) -> None:
    """Mark the nodes that `sparql_pairs` starts from."""
    yes = ox.Literal("true", datatype=ox.NamedNode("http://www.w3.org/2001/XMLSchema#boolean"))
    store.extend(ox.Quad(ox.NamedNode(iri), SOURCE, yes) for iri in iris)


def net_pairs(net: Net, path: Path, alphabet: Alphabet, store: ox.Store) -> set[Pair]:
    """Node numbers (start, end) that SPARQL finds for the path in the net."""
    text = property_path(path, alphabet, {code: [PROPERTY + code] for code in net.codes})
    cut = len(NODE)
    return {(int(x[cut:]), int(y[cut:])) for x, y in sparql_pairs(store, text)}


def plain_walk(net: Net, path: Path, alphabet: Alphabet, source: int) -> dict[int, int]:
    """Nodes that the path reaches from the source with their fewest hops: Dijkstra over (steps done, node) by networkx."""
    if source in net.suspects and len(path.steps) > 1:
        return {}
    states: nx.DiGraph[tuple[int, int]] = nx.DiGraph()
    states.add_node((0, source))
    for done, step in enumerate(path.steps):
        after = done if step.recursive else done + 1
        ways = set(alphabet.of(step))
        for s, code, o in net.edges:
            for here, there, forward in ((s, o, True), (o, s, False)):
                if (code, forward) in ways and (here not in net.suspects or here == source):
                    states.add_edge((done, here), (after, there), weight=1)
        if step.recursive:
            states.add_edges_from((((done, n), (done + 1, n)) for n in range(len(net.masks))), weight=0)
    hops = nx.single_source_dijkstra_path_length(states, (0, source))
    return {
        node: length for (done, node), length in hops.items() if done == len(path.steps) and node != source
    }
