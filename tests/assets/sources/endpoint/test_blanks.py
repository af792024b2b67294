"""Blank nodes over HTTP get the names that files give them, or are named as missing: whole components, none invented."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import count

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.build.progress import SilentProgress
from crmrag_assets.harvest.skolem import Skolemiser, canonical, components
from crmrag_assets.harvest.triples import RDF_TYPE
from crmrag_assets.sources.endpoint.blanks import RING, SHARED, Blanks, harvest_blanks
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.results import Row, Table
from crmrag_query.config.endpoint import EndpointConfig
from crmrag_query.config.loading import load_method

E = "http://example.org/"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
TYPE, FIRST, REST, NIL = (
    ox.NamedNode(RDF_TYPE),
    *(ox.NamedNode(RDF + name) for name in ("first", "rest", "nil")),
)
P = [ox.NamedNode(f"{E}p{number}") for number in range(3)]
NAMED = [ox.NamedNode(f"{E}x{number}") for number in range(4)]
VALUES = [ox.Literal("1900"), ox.Literal('αγία "\n', language="el")]
NODES = [ox.BlankNode(f"n{number}") for number in range(9)]
NO_GRAPH = ox.DefaultGraph()
GRAPHS = [NO_GRAPH, ox.NamedNode(f"{E}g"), ox.NamedNode(f"{E}h"), ox.BlankNode("graph")]
METHOD = load_method().requests

Graph = list[ox.Quad]


class InMemory(Client):
    """A client whose answers come from a store: blank nodes are labelled anew in each; ``row_cap`` rows at most, silently."""

    def __init__(
        self,
        quads: Iterable[ox.Quad],
        graphs: str | tuple[str, ...] = "default",
        row_cap: int | None = None,
        refuses: Callable[[str], bool] = lambda query: False,
        **settings: int,
    ) -> None:
        super().__init__(
            EndpointConfig(url="http://localhost/", graphs=graphs), METHOD.model_copy(update=settings)
        )
        self._store = ox.Store()
        self._store.extend(quads)
        self._row_cap, self._refuses = row_cap, refuses
        self._labels = count()
        self.asked: list[str] = []

    def table(self, query: str, variables: tuple[str, ...], patient: bool = True) -> Table:
        self.asked.append(query)
        if self._refuses(query):
            raise Unanswered("it is in no mood")
        solutions = self._store.query(query)
        assert isinstance(solutions, ox.QuerySolutions)
        assert tuple(variable.value for variable in solutions.variables) == variables
        rows = sorted((tuple(solution) for solution in solutions), key=str)
        if "ORDER BY" not in query:
            random.Random(len(self.asked)).shuffle(rows)
        labels: dict[str, ox.BlankNode] = {}
        return Table([self._relabelled(row, labels) for row in rows[: self._row_cap]])

    def _relabelled(self, row: Row, labels: dict[str, ox.BlankNode]) -> Row:
        return tuple(
            labels.setdefault(term.value, ox.BlankNode(f"b{next(self._labels)}"))
            if isinstance(term, ox.BlankNode)
            else term
            for term in row
        )

    @property
    def notes(self) -> Counter[str]:
        return self._notes


def harvested(client: InMemory) -> Blanks:
    return harvest_blanks(client, client.settings, SilentProgress())


def blank(quads: Iterable[ox.Quad]) -> Graph:
    """The triples with blank nodes, graphs named by blank nodes being the default graph, as the spool has it."""
    plain = (ox.Quad(s, p, o) if isinstance(g, ox.BlankNode) else ox.Quad(s, p, o, g) for s, p, o, g in quads)
    return [
        quad
        for quad in dict.fromkeys(plain)
        if isinstance(quad.subject, ox.BlankNode) or isinstance(quad.object, ox.BlankNode)
    ]


def named(quads: Iterable[ox.Quad]) -> tuple[set[str], int, int]:
    """What the skolemiser makes of the triples, with the numbers of components and of those merged."""
    skolemiser = Skolemiser()
    triples = {str(quad) for quad in skolemiser.named(blank(quads))}
    return triples, skolemiser.components, skolemiser.merged


def forms(quads: Iterable[ox.Quad]) -> Counter[str]:
    return Counter(canonical(component).text for component in components(blank(quads)))


def hangs_on(component: Graph, subjects: set[str]) -> bool:
    return any(end.value in subjects for quad in component for end in (quad.subject, quad.object))


def require_equal_or_missing(blanks: Blanks, quads: Graph) -> None:
    """Each component is there once, or missing and named: by an entity it hangs on where anything leads to it."""
    expected, got = forms(quads), forms(blanks.quads)
    assert not got - expected
    lost = expected - got
    triples = sum(text.count("\n") * times for text, times in lost.items())
    assert sum(one.triples or 0 for one in blanks.missing) == triples
    subjects = {one.subject for one in blanks.missing}
    for component in components(blank(quads)):
        if canonical(component).text in lost:
            assert "" in subjects or hangs_on(component, subjects)


triples = st.builds(
    ox.Quad,
    st.sampled_from([*NODES, *NAMED]),
    st.sampled_from([*P, TYPE]),
    st.sampled_from([*NODES, *NODES, *NAMED, *VALUES]),
)


@st.composite
def lists(draw: st.DrawFn) -> Graph:
    """A list that something points at, with members of every kind, lists and shared nodes among them."""
    members = draw(st.lists(st.sampled_from([*NODES, *NAMED, *VALUES]), min_size=1, max_size=7))
    name = f"l{draw(st.integers(0, 2))}"
    cells = [ox.BlankNode(f"{name}c{number}") for number in range(len(members))]
    firsts = [ox.Quad(cell, FIRST, member) for cell, member in zip(cells, members, strict=True)]
    rests = [ox.Quad(cell, REST, below) for cell, below in zip(cells, [*cells[1:], NIL], strict=True)]
    owner = draw(st.sampled_from([*NAMED, *NODES[:3]]))
    return [ox.Quad(owner, draw(st.sampled_from(P)), cells[0]), *firsts, *rests]


@st.composite
def trees(draw: st.DrawFn) -> Graph:
    """Several like trees below an entity, or above it: twins and near twins."""
    top, depth = draw(st.sampled_from(NAMED)), draw(st.integers(1, 5))
    name, made = draw(st.integers(0, 2)), []
    for twin in range(draw(st.integers(1, 3))):
        chain = [ox.BlankNode(f"t{name}{twin}{level}") for level in range(depth)]
        if draw(st.booleans()):
            made.append(ox.Quad(top, P[0], chain[0]))
        else:
            made.append(ox.Quad(chain[0], P[0], top))
        made += [ox.Quad(a, P[1], b) for a, b in zip(chain, chain[1:], strict=False)]
        made.append(ox.Quad(chain[-1], P[2], draw(st.sampled_from(VALUES))))
    return made


@st.composite
def graphs(draw: st.DrawFn, named_graphs: bool = False) -> Graph:
    parts = draw(st.lists(st.one_of(st.lists(triples, max_size=12), lists(), trees()), min_size=1, max_size=4))
    quads = dict.fromkeys(quad for part in parts for quad in part)
    if not named_graphs:
        return list(quads)
    return [ox.Quad(s, p, o, draw(st.sampled_from(GRAPHS))) for s, p, o, _ in quads]


@settings(max_examples=60)
@given(graphs())
def test_one_response_for_all_equals_files(quads: Graph) -> None:
    client = InMemory(quads)
    blanks = harvested(client)
    assert named(blanks.quads) == named(quads)
    assert not blanks.missing and blanks.counted == len(blank(quads)) and len(client.asked) <= 2


@settings(max_examples=120)
@given(graphs(), st.sampled_from([1, 2, 1000]))
def test_tree_by_tree_equals_files(quads: Graph, size: int) -> None:
    blanks = harvested(InMemory(quads, blank_rows=0, batch_entities=size, page_rows=2))
    assert named(blanks.quads) == named(quads)
    assert not blanks.missing


@settings(max_examples=60)
@given(graphs(), st.integers(1, 30), st.sampled_from([1, 3, 1000]), st.integers(1, 3))
def test_what_a_row_cap_keeps_back_is_named(quads: Graph, cap: int, size: int, depth: int) -> None:
    client = InMemory(quads, row_cap=cap, batch_entities=size, blank_depth=depth)
    require_equal_or_missing(harvested(client), quads)


@settings(max_examples=60)
@given(graphs(), st.integers(0, 10**6), st.sampled_from([2, 1000]))
def test_what_is_refused_is_named(quads: Graph, seed: int, size: int) -> None:
    chance = random.Random(seed)
    client = InMemory(
        quads,
        refuses=lambda query: "COUNT(*)" not in query[:30] and chance.random() < 0.5,
        batch_entities=size,
        blank_rows=0,
    )
    require_equal_or_missing(harvested(client), quads)


@settings(max_examples=60)
@given(graphs(named_graphs=True), st.sampled_from([0, 1000]), st.sampled_from([1, 1000]))
def test_named_graphs_equal_files(quads: Graph, rows: int, size: int) -> None:
    inside = [quad for quad in quads if quad.graph_name != NO_GRAPH]
    for graphs, expected in (
        ("all", quads),
        ("named", inside),
        ((f"{E}g",), [quad for quad in quads if quad.graph_name == GRAPHS[1]]),
        ("default", [quad for quad in quads if quad.graph_name == NO_GRAPH]),
    ):
        blanks = harvested(InMemory(quads, graphs, blank_rows=rows, batch_entities=size))
        assert named(blanks.quads)[0] == named(expected)[0]
        assert not blanks.missing
