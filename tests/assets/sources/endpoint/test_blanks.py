"""Blank nodes over HTTP get the names that files give them, or are named as missing: whole components, none invented."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count, pairwise

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.spool import Skolemiser, canonical, components
from crmrag_assets.sources.endpoint.blanks import Blanks, harvest_blanks
from crmrag_assets.sources.endpoint.client import Client, Unanswered
from crmrag_assets.sources.endpoint.results import Row, Table
from crmrag_assets.sources.rdf.lines import valid_iri
from crmrag_query.config.loading import load_method
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.syntax import RDF_TYPE

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
            valid_iri(term.value)
            if isinstance(term, ox.NamedNode)
            else labels.setdefault(term.value, ox.BlankNode(f"b{next(self._labels)}"))
            if isinstance(term, ox.BlankNode)
            else term
            for term in row
        )


def harvested(client: InMemory) -> Blanks:
    return harvest_blanks(client)


def blank(quads: Iterable[ox.Quad]) -> Graph:
    """The triples with blank nodes, graphs named by blank nodes being the default graph, as the spool has it."""
    plain = (ox.Quad(s, p, o) if isinstance(g, ox.BlankNode) else ox.Quad(s, p, o, g) for s, p, o, g in quads)
    return [one for one in dict.fromkeys(plain) if ox.BlankNode in (type(one.subject), type(one.object))]


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


def require_equal_but_long_rings(blanks: Blanks, quads: Graph) -> None:
    """Nothing is missing but components that no IRI leads to and that hold more nodes than a ring is followed for."""
    require_equal_or_missing(blanks, quads)
    got = forms(blanks.quads)
    for component in components(blank(quads)):
        if canonical(component).text not in got:
            assert not any(isinstance(quad.subject, ox.NamedNode) for quad in component)
            assert canonical(component).nodes > METHOD.blank_depth
    assert {one.subject for one in blanks.missing} <= {""}


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
        below = draw(st.booleans())
        made.append(ox.Quad(top, P[0], chain[0]) if below else ox.Quad(chain[0], P[0], top))
        made += [ox.Quad(a, P[1], b) for a, b in pairwise(chain)]
        made.append(ox.Quad(chain[-1], P[2], draw(st.sampled_from(VALUES))))
    return made


@st.composite
def graphs(draw: st.DrawFn, named_graphs: bool = False) -> Graph:
    parts = draw(
        st.lists(st.one_of(st.lists(triples, max_size=12), lists(), trees()), min_size=1, max_size=4)
    )
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
    require_equal_but_long_rings(blanks, quads)
    if not blanks.missing:
        assert named(blanks.quads) == named(quads)


@settings(max_examples=60)
@given(graphs(), st.integers(1, 30), st.sampled_from([1, 3, 1000]), st.integers(1, 3))
def test_what_a_row_cap_keeps_back_is_named(quads: Graph, cap: int, size: int, depth: int) -> None:
    client = InMemory(quads, row_cap=cap, batch_entities=size, blank_depth=depth)
    require_equal_or_missing(harvested(client), quads)


@settings(max_examples=60)
@given(graphs(), st.integers(0, 10**6), st.sampled_from([2, 1000]))
def test_what_is_refused_is_named(quads: Graph, seed: int, size: int) -> None:
    chance = random.Random(seed)

    def refuses(query: str) -> bool:
        return "COUNT(*)" not in query[:30] and chance.random() < 0.5

    client = InMemory(quads, refuses=refuses, batch_entities=size, blank_rows=0)
    require_equal_or_missing(harvested(client), quads)


@settings(max_examples=60)
@given(
    graphs(named_graphs=True),
    st.sampled_from(["default", "named", "all", (f"{E}g", f"{E}h")]),
    st.sampled_from([0, 1000]),
    st.sampled_from([1, 1000]),
)
def test_named_graphs_equal_files(quads: Graph, read: str | tuple[str, ...], rows: int, size: int) -> None:
    chosen = {
        "default": [quad for quad in quads if quad.graph_name == NO_GRAPH],
        "named": [quad for quad in quads if quad.graph_name != NO_GRAPH],
        "all": quads,
    }.get(str(read), [quad for quad in quads if quad.graph_name in GRAPHS[1:3]])
    blanks = harvested(InMemory(quads, read, blank_rows=rows, batch_entities=size))
    require_equal_but_long_rings(blanks, chosen)


def chain(length: int, name: str = "c", top: ox.NamedNode = NAMED[0]) -> Graph:
    nodes = [ox.BlankNode(f"{name}{number}") for number in range(length)]
    links = [ox.Quad(a, P[1], b) for a, b in pairwise(nodes)]
    return [ox.Quad(top, P[0], nodes[0]), *links, ox.Quad(nodes[-1], P[2], VALUES[0])]


def ring(length: int) -> Graph:
    nodes = [ox.BlankNode(f"ring{number}") for number in range(length)]
    return [ox.Quad(a, P[1], b) for a, b in zip(nodes, [*nodes[1:], nodes[0]], strict=True)]


def little_trees(number: int) -> Graph:
    """So many entities, each with a tree of two blank nodes."""
    made = []
    for one in range(number):
        thing, event, span = (
            ox.NamedNode(f"{E}thing/{one:06}"),
            ox.BlankNode(f"e{one}"),
            ox.BlankNode(f"s{one}"),
        )
        made += [ox.Quad(thing, P[0], event), ox.Quad(event, TYPE, NAMED[0])]
        made += [ox.Quad(event, P[1], span), ox.Quad(span, P[2], ox.Literal(str(one % 97)))]
    return made


def test_no_blank_nodes_cost_one_request() -> None:
    client = InMemory([ox.Quad(NAMED[0], P[0], NAMED[1])])
    assert harvested(client) == Blanks([], (), 0)
    assert len(client.asked) == 1


def test_a_batch_of_small_trees_costs_two_requests() -> None:
    quads = little_trees(1000)
    client = InMemory(quads, blank_rows=0, batch_entities=100)
    blanks = harvested(client)
    assert named(blanks.quads) == named(quads)
    batches = sum("VALUES ?a" in query for query in client.asked)
    assert batches == 2 * 10 and len(client.asked) <= batches + 3


def test_a_row_cap_is_learned_and_costs_few_requests() -> None:
    quads = little_trees(1000)
    client = InMemory(quads, blank_rows=0, row_cap=500)
    blanks = harvested(client)
    assert named(blanks.quads) == named(quads) and not blanks.missing
    assert sum("VALUES ?a" in query for query in client.asked) <= 3 * (5000 // 500 * 2)


def test_an_entity_with_more_than_a_response_holds_is_split_by_property() -> None:
    nodes = [ox.BlankNode(f"k{number}") for number in range(60)]
    quads = [ox.Quad(NAMED[0], ox.NamedNode(f"{E}by{n % 6}"), one) for n, one in enumerate(nodes)]
    quads += [ox.Quad(one, P[0], ox.Literal(str(n))) for n, one in enumerate(nodes)]
    client = InMemory(quads, blank_rows=0, row_cap=30)
    blanks = harvested(client)
    assert named(blanks.quads) == named(quads) and not blanks.missing


def test_property_beyond_the_cap_is_missing_by_name_and_the_others_are_kept() -> None:
    many = [ox.Quad(NAMED[1], P[0], ox.BlankNode(f"many{number}")) for number in range(50)]
    few = ox.Quad(NAMED[1], P[1], ox.BlankNode("few"))
    others = [*chain(2, "own", NAMED[0]), few, *chain(2, "last", NAMED[2])]
    blanks = harvested(InMemory([*many, *others], blank_rows=0, row_cap=20))
    assert forms(blanks.quads) == forms(others)
    ((at, by),) = {(one.subject, one.property) for one in blanks.missing if one.subject}
    assert (at, by) == (NAMED[1].value, P[0].value)
    assert sum(one.triples or 0 for one in blanks.missing) == 50


def test_component_whose_first_entity_does_not_answer_comes_from_the_next() -> None:
    busy, node = NAMED[0], ox.BlankNode("both")
    crowd = [ox.Quad(busy, P[0], ox.BlankNode(f"crowd{number}")) for number in range(50)]
    both = [ox.Quad(busy, P[0], node), ox.Quad(NAMED[1], P[1], node), ox.Quad(node, P[2], VALUES[0])]
    blanks = harvested(InMemory([*crowd, *both], blank_rows=0, row_cap=20, batch_entities=1))
    assert forms(blanks.quads) == forms(both)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_chain_is_fetched_to_twice_the_depth_and_named_beyond(depth: int) -> None:
    near, far = chain(2 * depth, "near"), chain(2 * depth + 1, "far", NAMED[1])
    blanks = harvested(InMemory([*near, *far], blank_rows=0, blank_depth=depth))
    assert forms(blanks.quads) == forms(near)
    assert (blanks.missing[0].subject, blanks.missing[0].property) == (NAMED[1].value, P[0].value)
    assert sum(one.triples or 0 for one in blanks.missing) == len(far)


def test_long_list_costs_one_level() -> None:
    cells = [ox.BlankNode(f"cell{number}") for number in range(200)]
    rests = [ox.Quad(cell, REST, below) for cell, below in zip(cells, [*cells[1:], NIL], strict=True)]
    firsts = [ox.Quad(cell, FIRST, ox.Literal(str(number))) for number, cell in enumerate(cells)]
    quads = [ox.Quad(NAMED[0], P[0], cells[0]), *firsts, *rests]
    client = InMemory(quads, blank_rows=0, blank_depth=2)
    assert named(harvested(client).quads) == named(quads)
    assert sum("VALUES ?a" in query for query in client.asked) == 2


def test_rings_that_no_iri_leads_to_are_found_up_to_the_depth_and_counted_beyond() -> None:
    client = InMemory([*ring(4), *chain(1)], blank_rows=0, blank_depth=4)
    assert named(harvested(client).quads) == named([*ring(4), *chain(1)])
    blanks = harvested(InMemory([*ring(5), *chain(1)], blank_rows=0, blank_depth=4))
    assert forms(blanks.quads) == forms(chain(1))
    assert [(one.subject, one.triples) for one in blanks.missing] == [("", 5)]


def test_twins_are_merged_and_components_of_several_entities_are_not() -> None:
    twins = [*chain(1, "a"), *chain(1, "b")]
    shared = [*chain(1, "c", NAMED[1]), ox.Quad(NAMED[2], P[1], ox.BlankNode("c0"))]
    blanks = harvested(InMemory([*twins, *shared], blank_rows=0, batch_entities=1))
    assert named(blanks.quads)[1:] == (3, 1)


def test_endpoint_that_counts_nothing_is_harvested_whole() -> None:
    quads = [*little_trees(30), *chain(3, "deep", NAMED[1])]
    client = InMemory(quads, refuses=lambda query: "COUNT" in query)
    blanks = harvested(client)
    assert named(blanks.quads) == named(quads)
    assert blanks.counted is None
    capped = InMemory(quads, refuses=lambda query: "COUNT" in query, row_cap=40)
    assert named(harvested(capped).quads) == named(quads)


@pytest.mark.parametrize("refused", ["ORDER BY", "rest>*"])
def test_endpoint_without_order_or_paths_is_harvested_where_none_is_needed(refused: str) -> None:
    quads = [*little_trees(30), *chain(6, "deep", NAMED[1])]
    blanks = harvested(InMemory(quads, refuses=lambda query: refused in query, blank_rows=0))
    assert named(blanks.quads) == named(quads)


@pytest.mark.parametrize(
    ("refused", "cap", "reason"),
    [
        ("(STR(?a) AS ?iri)", None, "entities with blank nodes cannot be listed: it is in no mood"),
        ("ORDER BY", 4, "26 entities with blank nodes are counted and were never given"),
    ],
)
def test_entities_that_are_not_all_listed_are_missing(refused: str, cap: int | None, reason: str) -> None:
    quads = little_trees(30)
    client = InMemory(quads, refuses=lambda query: refused in query, row_cap=cap, blank_rows=0)
    blanks = harvested(client)
    require_equal_or_missing(blanks, quads)
    assert reason in {one.reason for one in blanks.missing}


def test_entity_whose_iri_is_not_valid_is_found_by_its_text() -> None:
    text = "<http://e/a b> <http://e/p> _:x .\n<http://e/a b> <http://e/p> _:y .\n<http://e/a%20b> <http://e/p> _:y ."
    odd = list(ox.parse(text, format=ox.RdfFormat.N_TRIPLES, lenient=True))
    valid = list(ox.parse(text.replace("a b", "a%20b"), format=ox.RdfFormat.N_TRIPLES))
    blanks = harvested(InMemory([*odd, *chain(1)], blank_rows=0))
    assert named(blanks.quads) == named([*valid, *chain(1)])
    assert not [one for one in blanks.missing if one.subject]


def test_rows_that_cannot_be_read_are_missing_by_number() -> None:
    class Torn(InMemory):
        def table(self, query: str, variables: tuple[str, ...], patient: bool = True) -> Table:
            table = super().table(query, variables, patient)
            return replace(table, rows=table.rows[1:], skipped=1) if variables == ("s", "p", "o") else table

    blanks = harvested(Torn(chain(3)))
    assert len(blanks.quads) == len(chain(3)) - 1
    assert [one.triples for one in blanks.missing] == [1]
