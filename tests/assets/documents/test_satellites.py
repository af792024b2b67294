from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.documents.satellites import Satellites, resolve
from crmrag_query.graph.graph import Graph
from tests.assets.documents.made import BASE, changed, method_and_ontology, setting_of

NODES = 9


def parents_of(satellites: Satellites, graph: Graph, name: str) -> list[str]:
    node = graph.node(BASE + name)
    assert node is not None
    return [graph.iri(int(parent)).removeprefix(BASE) for parent in satellites.parents.of(node)]


CASES = {
    "those that point at them or that they name": (
        """
        :church a crm:E22_Human-Made_Object ; crm:P1_is_identified_by :name ; crm:P2_has_type :type ;
            crm:P43_has_dimension :height ; crm:P104_is_subject_to :right .
        :name a crm:E41_Appellation . :type a crm:E55_Type . :height a crm:E54_Dimension ; crm:P91_has_unit :cm .
        :cm a crm:E58_Measurement_Unit . :right a crm:E30_Right .
        :building a crm:E12_Production ; crm:P4_has_time-span :span . :span a crm:E52_Time-Span .
        :other a crm:E41_Appellation ; crm:P1i_identifies :church .
        :lonely a crm:E55_Type ; rdfs:label "lonely" .
        """,
        {
            "name": ["church"], "type": ["church"], "height": ["church"], "right": ["church"], "cm": ["church"],
            "span": ["building"], "other": ["church"], "lonely": [], "church": [],
        },
    ),
    "of a reified property both ends, and its roles too": (
        """
        :pc a crm:PC14_carried_out_by ; crm:P01_has_domain :painting ; crm:P02_has_range :theodore ;
            <http://www.cidoc-crm.org/cidoc-crm/P14.1_in_the_role_of> :painter .
        :painting a crm:E12_Production . :theodore a crm:E21_Person . :painter a crm:E55_Type .
        """,
        {"pc": ["painting", "theodore"], "painter": ["painting", "theodore"]},
    ),
    "nobody, of another class too": (
        """
        :made a crm:E12_Production , crm:E52_Time-Span ; crm:P4_has_time-span :made .
        :text a crm:E33_Linguistic_Object , crm:E41_Appellation .
        :x a crm:E22_Human-Made_Object ; crm:P1_is_identified_by :text ; crm:P108i_was_produced_by :made .
        """,
        {"made": [], "text": ["x"], "x": []},
    ),
    "a type of too many, which keeps its document": (
        "".join(f":t{i} a crm:E22_Human-Made_Object ; crm:P2_has_type :type ." for i in range(4))
        + ":type a crm:E55_Type ; crm:P1_is_identified_by :name . :name a crm:E41_Appellation .",
        {"type": [], "name": ["type"]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_satellites_belong_to(case: str, tmp_path: Path) -> None:
    source, expected = CASES[case]
    method = changed(method_and_ontology()[0], "satellites", max_parents=3)
    setting = setting_of(source, tmp_path, method=method)
    satellites, graph = setting.satellites, setting.graph
    assert {name: parents_of(satellites, graph, name) for name in expected} == expected
    for name, parents in expected.items():
        assert satellites.absorbed[graph.node(BASE + name)] == bool(parents)
    if (lonely := graph.node(BASE + "lonely")) is not None:
        assert satellites.kind[lonely]
    if "type" in expected and not expected["type"]:
        assert satellites.crowded[graph.node(BASE + "type")]


@st.composite
def pointing(draw: st.DrawFn) -> tuple[list[bool], list[tuple[int, int]], int]:
    satellite = draw(st.lists(st.booleans(), min_size=NODES, max_size=NODES))
    node = st.integers(0, NODES - 1)
    pairs = draw(
        st.lists(st.tuples(node, node).filter(lambda pair: pair[0] != pair[1]), max_size=24, unique=True)
    )
    return satellite, [pair for pair in pairs if satellite[pair[0]]], draw(st.integers(1, 4))


def slow_roots(satellite: list[bool], pairs: list[tuple[int, int]], most: int) -> dict[int, set[int]]:
    """The definition, one node at a time: reach non-satellites; those with too many or none become documents, the highest
    first, until nothing changes."""
    documents = {node for node in range(NODES) if not satellite[node]}
    while True:
        direct = {
            n: {p for c, p in pairs if c == n and p in documents} for n in range(NODES) if n not in documents
        }
        if crowded := {n for n, found in direct.items() if len(found) > most}:
            documents |= crowded
            continue
        break
    above = {n: {p for c, p in pairs if c == n} for n in range(NODES) if n not in documents}
    reach = {n: closure(n, above) for n in above}
    roots: dict[int, set[int]] = {}
    waiting = set(above)
    while waiting:
        ready = {n for n in waiting if all(m in reach and n in reach[m] for m in reach[n] & waiting)}
        settled: dict[int, set[int]] = {}
        for node in ready:
            cycle = {node} | {m for m in reach[node] if m in reach and node in reach[m]}
            found: set[int] = set()
            for member in cycle:
                for parent in above[member] - cycle:
                    found |= {parent} if parent in documents or not roots.get(parent) else roots[parent]
            settled[node] = found if 0 < len(found) <= most else set()
        roots |= settled
        waiting -= ready
    return {node: found for node, found in roots.items() if found}


def closure(start: int, above: dict[int, set[int]]) -> set[int]:
    seen: set[int] = set()
    todo = list(above[start])
    while todo:
        node = todo.pop()
        if node not in seen and node in above:
            seen.add(node)
            todo.extend(above[node])
    return seen


@settings(max_examples=300, deadline=None)
@given(pointing())
def test_resolution_equals_its_definition(case: tuple[list[bool], list[tuple[int, int]], int]) -> None:
    satellite, pairs, most = case
    child = np.array([c for c, _ in pairs], np.int32)
    parent = np.array([p for _, p in pairs], np.int32)
    roots, _ = resolve(np.array(satellite), child, parent, most)
    found = {n: set(roots.of(n).tolist()) for n in range(NODES) if len(roots.of(n))}
    assert found == slow_roots(satellite, pairs, most)
