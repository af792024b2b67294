"""What an entity is linked with: as from files, for any graph and any endpoint that lives."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.source import FAN_IN
from crmrag_assets.harvest.triples import COLUMNS, NO_COLUMNS
from crmrag_assets.sources.endpoint.kind import POINTED, joined, pointing
from crmrag_query.syntax import RDF_TYPE
from tests.support import faults
from tests.support.endpoints import EX, Always, client_of, quad
from tests.support.faults import Poison, refusal
from tests.support.random_graphs import random_rows, store_of
from tests.support.sparql_server import serving

NOTHING = NO_COLUMNS


def frame(rows: list[Any]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")


def by_hand(rows: list[Any], iris: list[str], entities: frozenset[str]) -> dict[str, list[str]]:
    """All that an entity points at, then the first FAN_IN that point at it, rdf:type and itself aside."""
    out, into = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for s, p, o, kind, *_ in rows:
        if kind == 0 and p != RDF_TYPE and s != o:
            out[s].add(o)
            into[o].add(s)
    return {
        iri: list(dict.fromkeys([*sorted(out[iri] & entities), *sorted(into[iri] & entities)[:FAN_IN]]))
        for iri in iris
    }


@settings(max_examples=30)
@given(random_rows, st.data())
def test_neighbours_are_those_of_the_triples(rows: list[Any], data: st.DataObject) -> None:
    own = [row for row in rows if not row[6]]
    entities = sorted({row[0] for row in own})
    iris = data.draw(st.lists(st.sampled_from(entities), unique=True)) if entities else []
    with serving(store_of(own)) as server:
        into = pointing(client_of(server), NOTHING, iris)
    links = frame([row for row in own if row[0] in iris])
    assert joined(iris, links, into, frozenset(entities)) == by_hand(own, iris, frozenset(entities))


def test_of_many_that_point_the_first_are_taken() -> None:
    quads = [quad(f"s{n:03}", "p", "t") for n in range(4 * FAN_IN)]
    names = frozenset(f"{EX}s{n:03}" for n in range(4 * FAN_IN))
    with serving(quads) as server:
        into = pointing(client_of(server), NOTHING, [EX + "t"])
        found = joined([EX + "t"], NOTHING, into, names | {EX + "t"})
        assert found[EX + "t"] == sorted(names)[:FAN_IN]
        assert (server.log[0].rows or 0) < 4 * FAN_IN


def test_what_was_a_blank_node_points_too() -> None:
    skolem = frame([("urn:skolem:1", EX + "p", EX + "t", 0, "", "", ""), ("urn:skolem:2", RDF_TYPE, EX + "t", 0, "", "", ""),
                    ("urn:skolem:3", EX + "p", EX + "t", 1, "", "", "")])  # fmt: skip
    with serving([quad("s", "p", "t")]) as server:
        into = pointing(client_of(server), skolem, [EX + "t", "urn:skolem:9"])
        assert into[EX + "t"] == {EX + "s", "urn:skolem:1"}
        assert set(skolem.columns) == set(COLUMNS)


def test_targets_are_asked_for_together() -> None:
    targets = [f"{EX}t{n}" for n in range(2 * POINTED + 1)]
    with serving([quad("s", "p", target) for target in targets]) as server:
        into = pointing(client_of(server), NOTHING, [*targets, "no iri"])
        assert all(into[target] == {EX + "s"} for target in targets) and len(server.log) == 3
        assert server.updates == []


@pytest.mark.parametrize(
    "fault", [refusal(400, "too long"), faults.POISONED, faults.TIME_OUT], ids=lambda one: one.name
)
def test_one_target_that_is_not_answered_costs_no_other(fault: faults.Fault) -> None:
    targets = [f"{EX}t{n}" for n in range(9)]
    with serving([quad("s", "p", target) for target in targets], [Poison(targets[4], fault)]) as server:
        client = client_of(server, timeout_seconds=0.1)
        into = pointing(client, NOTHING, targets)
        assert {target for target in targets if into[target]} == set(targets) - {targets[4]}
        assert sum(client.gathered().notes.values()) == 4 and len(server.log) < 30


def test_an_endpoint_that_will_not_sort_gives_nothing_but_a_note() -> None:
    with serving([quad("s", "p", "t")], [Always(refusal(400), lambda query: "ORDER BY" in query)]) as server:
        client = client_of(server)
        client.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
        assert not any(pointing(client, NOTHING, [EX + "t"]).values())
        assert client.gathered().notes == Counter(
            {"requests for what points at entities that were not answered": 1}
        )
