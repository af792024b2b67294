"""Triples of entities: all of them, each once, from endpoints that cut, lie, choke or forget; what is missing has a name."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.report import Missing
from crmrag_assets.sources.endpoint import batches
from crmrag_assets.sources.endpoint.batches import Harvested, harvest, harvest_odd
from crmrag_assets.sources.endpoint.client import Client
from crmrag_query.errors import SourceError
from tests.support import faults
from tests.support.endpoints import EX, Always, First, client_of, quad, star
from tests.support.faults import NAMED, Fault, Poison, refusal
from tests.support.harvests import Row, row_of
from tests.support.sparql_answers import TYPES, Answer, counts
from tests.support.sparql_exchange import Exchange, Plan
from tests.support.sparql_server import serving


def triples(quads: Iterable[ox.Quad]) -> set[Row]:
    return {row for one in quads if (row := row_of(one))}


def rows_of(found: Harvested) -> list[Row]:
    return found.frame.rows()


def subjects(quads: Iterable[ox.Quad]) -> list[str]:
    return sorted({one.subject.value for one in quads if isinstance(one.subject, ox.NamedNode)})


def covers(lost: Missing, triple: Row) -> bool:
    return lost.subject in ("", triple[0]) and lost.property in ("", triple[1])


def account(found: Harvested, truth: set[Row]) -> set[Row]:
    """Checks that nothing is invented, and that what is missing is exactly what `missing` names; gives what is absent."""
    assert not set(rows_of(found)) - truth, "invented"
    absent = truth - set(rows_of(found))
    for triple in absent:
        assert any(covers(lost, triple) for lost in found.missing), triple
    for lost in found.missing:
        assert any(covers(lost, triple) for triple in absent), lost
    if all(lost.triples is not None for lost in found.missing):
        assert sum(lost.triples or 0 for lost in found.missing) == len(absent)
    return absent


def fully(client: Client, quads: list[ox.Quad]) -> None:
    found = harvest(client, subjects(quads), unnamed=False)
    assert account(found, triples(quads)) == set() and found.missing == ()
    assert len(rows_of(found)) == len(quads)


def wide(properties: int, values: int, name: str = "wide") -> list[ox.Quad]:
    """One subject with so many properties of so many values each."""
    return [
        quad(name, f"p{p:02}", ox.Literal(f"value {v}")) for p in range(properties) for v in range(values)
    ]


# All is well.


@pytest.mark.parametrize("size", [1, 5, 12, 1000])
@pytest.mark.parametrize("parallel", [1, 3])
def test_two_requests_a_batch_bring_everything(size: int, parallel: int) -> None:
    with serving(star(), latency=0.005) as server:
        client = client_of(server, batch_entities=size, parallel=parallel)
        fully(client, star())
        assert len(server.log) == 2 * -(-12 // size) and server.busiest <= parallel
        assert client.gathered().notes == Counter()


def counted(quads: Iterable[ox.Quad]) -> Counter[str]:
    return Counter(one.subject.value for one in quads if isinstance(one.subject, ox.NamedNode))


BEFORE = counted(star())
S03 = Counter({EX + "s03": 1})


@pytest.mark.parametrize(
    ("known", "fault", "size", "asked"),
    [
        (BEFORE, "", 5, [False, False, False]),
        (BEFORE - S03, "", 1000, [False, True]),
        (BEFORE + S03, "", 1000, [False, True]),
        ({iri: n for iri, n in BEFORE.items() if iri not in S03}, "", 1000, [False, True]),
        *((BEFORE, fault, 1000, []) for fault in ("last rows missing", "other rows", "cut at line end")),
    ],
)
def test_what_was_counted_before_spares_a_count_where_as_many_rows_come(
    known: Mapping[str, int], fault: str, size: int, asked: list[bool]
) -> None:
    """``asked``: which requests are counts; what is lacking shows without one."""
    with serving(star(), [First(NAMED[fault])] if fault else []) as server:
        client = client_of(server, batch_entities=size)
        found = harvest(client, subjects(star()), False, known)
        assert account(found, triples(star())) == set() and found.missing == ()
        assert fault or sorted(counts(one.query) for one in server.log) == asked
        assert client.gathered().notes == Counter() or fault


def test_subjects_that_vanished_are_noted_and_not_missing() -> None:
    with serving(star(3)) as server:
        client = client_of(server)
        found = harvest(client, [*subjects(star(3)), EX + "gone", EX + "gone too"[:4]], False)
        assert account(found, triples(star(3))) == set()
        assert client.gathered().notes == Counter({batches.VANISHED: 1})


# Row caps.


def test_a_row_cap_is_learned_once_and_later_parts_fit_it() -> None:
    quads = star(60, 3)
    with serving(quads, row_cap=25) as server:
        client = client_of(server, batch_entities=30, parallel=1)
        fully(client, quads)
        assert client.learned.row_cap == 25
        cut = [one.number for one in server.log if one.rows == 25]
        assert len(cut) <= 4
        seen = len(server.log)
        fully(client, quads)
        again = server.log[seen:]
        assert max(one.rows or 0 for one in again) < 25  # nothing is cut any more
        assert len(again) <= 2 * (1 + 2 * 5)  # a count of each half, then its five parts with count and rows


def test_a_cap_below_the_properties_of_a_subject_leaves_those_that_are_not_listed() -> None:
    quads = star(4, 5)
    with serving(quads, row_cap=3) as server:
        found = harvest(client_of(server), subjects(quads), False)
        assert len(account(found, triples(quads))) == 4 * 2
        assert {lost.reason for lost in found.missing} == {"its properties were not all listed"}


def test_same_texts_of_other_languages_share_a_digest_and_are_missing_above_the_cap() -> None:
    """Nothing tells them apart by their text: at the deepest digest they are named, and nothing else is lost."""
    tags = [f"{letter}{other}" for letter in "abcd" for other in "efgh"]
    quads = [*star(5), *(quad("many", "p", ox.Literal("same", language=tag)) for tag in tags)]
    with serving(quads, row_cap=10) as server:
        found = harvest(client_of(server), subjects(quads), False)
        assert len(account(found, triples(quads))) == 6
        assert [(lost.subject, lost.property, lost.triples) for lost in found.missing] == [
            (EX + "many", EX + "p", 6)
        ]


@dataclass(frozen=True)
class Case:
    """What an endpoint holds and is like, how it is asked, and how many requests that may take."""

    quads: list[ox.Quad]
    options: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, int] = field(default_factory=dict)
    plans: tuple[Plan, ...] = ()
    requests: int = 500
    uncounted: int = 0


UNTRUE = ("other rows", "last rows missing", "cut at line end", "count too high")
CASES = {
    "a subject above the cap": Case([*star(5), *wide(9, 4)], {"row_cap": 10}),
    "a property above the cap": Case([*star(5), *wide(2, 150)], {"row_cap": 10, "shuffle": True}, requests=1500),
    **{f"no counts, batches of {n}": Case(star(13), {"no_count": True}, {"batch_entities": n}, uncounted=13 * (n == 1))
       for n in (1, 5, 1000)},
    **{f"no counts, cut at {cap}": Case(star(13), {"no_count": True, "row_cap": cap}) for cap in (3, 10, 20)},
    **{f"{name} {times}": Case(star(20), {}, {"batch_entities": 8}, (First(NAMED[name], times),))
       for name in UNTRUE for times in (1, 2)},
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_all_triples_come_whatever_the_endpoint_will_not_do(name: str) -> None:
    case = CASES[name]
    with serving(case.quads, case.plans, **case.options) as server:
        client = client_of(server, **case.settings)
        fully(client, case.quads)
        notes = client.gathered().notes
        assert notes[batches.UNCOUNTED] == case.uncounted or "cut" in name
        assert name != "a subject above the cap" or not [one for one in server.log if "MD5" in one.query]
        assert len(server.log) < case.requests and server.updates == []
        assert not case.plans or sum(server.faults.values())


# Poison.


@pytest.mark.parametrize(
    "fault", [faults.POISONED, refusal(400, "Bad IRI"), faults.TIME_OUT], ids=["500", "400", "time-out"]
)
@pytest.mark.parametrize("size", [1000, 7])
def test_poisonous_iris_are_isolated_and_named(fault: Fault, size: int) -> None:
    quads = star(40)
    poison = [EX + "s07", EX + "s33"]
    with serving(quads, [Poison(iri, fault) for iri in poison]) as server:
        client = client_of(server, timeout_seconds=0.1, batch_entities=size, retries=1, parallel=4)
        client.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
        found = harvest(client, subjects(quads), False)
        absent = account(found, triples(quads))
        assert {row[0] for row in absent} == set(poison) == {lost.subject for lost in found.missing}
        assert len(found.missing) == 2 and all(lost.reason for lost in found.missing)
        assert len(server.log) < 160


def test_halving_is_impatient() -> None:
    """What can be split is asked for twice, not as often as a single IRI: else each halving costs a minute of waiting."""
    quads = star(32, 2)
    with serving(quads, [Poison(EX + "s07")]) as server:
        client = client_of(server, retries=4, parallel=1)
        client.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
        harvest(client, subjects(quads), False)
        asked = Counter(one.query for one in server.log if "s07>" in one.query and "s08>" in one.query)
        assert asked and max(asked.values()) <= 2


def test_a_poisonous_property_costs_no_other() -> None:
    """It is asked for by name only when its subject is split: all other properties come."""
    quads = star(6, 5)

    def explodes(query: str) -> bool:
        return "GROUP BY" not in query and "s03>" in query and ("?p {" not in query or "p2>" in query)

    with serving(quads, [Always(faults.POISONED, explodes)]) as server:
        client = client_of(server, retries=1)
        client.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
        found = harvest(client, subjects(quads), False)
        assert account(found, triples(quads)) == triples([quad("s03", "p2", ox.Literal("3 2"))])


# Untrue answers.


def test_a_cache_that_answers_for_others_for_ever_invents_nothing() -> None:
    quads = star(8)
    lies = Always(NAMED["other rows"], lambda query: "s03>" in query)
    with serving(quads, [lies]) as server:
        client = client_of(server, batch_entities=4)
        harvest(client, subjects(quads)[4:], False)
        found = harvest(client, subjects(quads), False)
        assert {row[0] for row in account(found, triples(quads))} <= {EX + "s03"}
        assert client.gathered().notes[batches.STRANGERS]


def test_counts_that_are_always_too_high_do_not_run_away() -> None:
    """They cannot be told from missing triples, and are reported as such; nothing is lost for it."""
    quads = star(12)
    with serving(quads, [Always(NAMED["count too high"])]) as server:
        found = harvest(client_of(server), subjects(quads), False)
        assert set(rows_of(found)) == triples(quads)
        assert found.missing and len(server.log) < 2500


def test_each_batch_gives_up_after_so_many_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "SPLITS", 3)
    quads = star(32, 2)
    with serving(quads, [Poison(f"{EX}s{n:02}") for n in range(0, 32, 5)]) as server:
        client = client_of(server, parallel=1, retries=0)
        client.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
        found = harvest(client, subjects(quads), False)
        absent = account(found, triples(quads))
        assert absent and any("given up after 3 splits" in lost.reason for lost in found.missing)


def test_an_endpoint_that_gives_more_than_it_counts_is_noted() -> None:
    with serving(star(), [Always(faults.COUNT_TOO_LOW)]) as server:
        client = client_of(server)
        fully(client, star())
        assert client.gathered().notes == Counter({batches.MORE: 1})


def test_a_subject_at_the_row_cap_of_an_endpoint_that_does_not_count_is_not_taken_for_whole() -> None:
    quads = [*star(13), *wide(5, 5)]
    with serving(quads, no_count=True, row_cap=10) as server:
        found = harvest(client_of(server), subjects(quads), False)
        assert {row[0] for row in account(found, triples(quads))} <= {EX + "wide"}


# Endpoints that go away.


@pytest.mark.parametrize("parallel", [1, 4])
def test_an_endpoint_that_goes_away_is_not_asked_for_the_rest(parallel: int) -> None:
    quads = star(99)
    with serving(quads) as server:
        client = client_of(server, batch_entities=1, parallel=parallel, retries=1)
        server.before(21, lambda: setattr(server, "plans", [Always(NAMED["reset"])]))
        with pytest.raises(SourceError, match="stopped answering"):
            harvest(client, subjects(quads), False)
        assert len(server.log) <= 20 + 8 * parallel


# Subjects and properties whose IRIs are not valid.

ODD = {"http://e/a b": "http://e/a%20b", "http://e/{c}": "http://e/%7Bc%7D"}


def scripted(number: int, *rows: tuple[str, str], kind: str = "literal") -> Always:
    """An endpoint that counts so many triples, and gives these: JSON rows of subjects of a kind, one property, IRIs."""
    iri = {"type": "uri", "value": EX + "p"}
    bindings = [{"s": {"type": kind, "value": s}, "p": iri, "o": iri | {"value": o}} for s, o in rows]
    body = {"head": {"vars": ["s", "p", "o"]}, "results": {"bindings": bindings}}
    count = Answer(f"?n\n{number}\n".encode(), TYPES["tsv"])
    given = Answer(json.dumps(body).encode(), TYPES["json"])

    def act(exchange: Exchange) -> None:
        exchange.send(count if counts(exchange.query) else given)

    return Always(Fault("scripted", act))


def test_subjects_with_invalid_iris_come_under_repaired_ones() -> None:
    rows = [
        ("http://e/a b", "http://e/x y"),
        ("http://e/{c}", "http://e/z"),
        ("http://e/stranger", "http://e/z"),
    ]
    with serving(faults=[scripted(2, *rows)]) as server:
        client = client_of(server)
        found = harvest_odd(client, ODD, False)
        expected = [("http://e/a%20b", "http://e/x%20y"), ("http://e/%7Bc%7D", "http://e/z")]
        assert [(row[0], row[2]) for row in rows_of(found)] == expected
        assert found.missing == () and client.gathered().repaired == 1
        # as strings, never as IRIs
        assert all(json.dumps(raw) in one.query for one in server.log for raw in ODD)
        assert not any("<http://e" in one.query for one in server.log)


def test_triples_of_invalid_subjects_that_do_not_come_are_missing() -> None:
    with serving(faults=[scripted(5, ("http://e/a b", "http://e/z"))]) as server:
        found = harvest_odd(client_of(server), ODD, False)
        assert len(rows_of(found)) == 1 and sum(lost.triples or 0 for lost in found.missing) == 4
    with serving(star(), [Always(refusal(400, "no"), lambda query: "http://e/a b" in query)]) as server:
        client = client_of(server)
        client.rows("SELECT ?s ?p ?o { ?s ?p ?o }")
        assert {lost.subject for lost in harvest_odd(client, ODD, False).missing} == set(ODD)


def test_repaired_objects_are_no_reason_to_ask_again() -> None:
    """An IRI with a space: TSV cannot hold it, JSON brings it."""
    with serving(faults=[scripted(1, (EX + "s00", "http://e/a b"), kind="uri")]) as server:
        client = client_of(server)
        found = harvest(client, [EX + "s00"], False)
        assert [row[2] for row in rows_of(found)] == ["http://e/a%20b"] and not found.missing
        assert len(server.log) == 2 and client.gathered().repaired == 1


def test_rows_beyond_repair_are_missing_by_their_number() -> None:
    """It is asked for twice, as the rows might be those of another answer."""
    rows = [(EX + "s00", "relative"), (EX + "s00", "http://e/z")]
    with serving(faults=[scripted(2, *rows, kind="uri")]) as server:
        found = harvest(client_of(server), [EX + "s00"], False)
        assert [row[2] for row in rows_of(found)] == ["http://e/z"]
        assert sum(lost.triples or 0 for lost in found.missing) == 1 and len(server.log) == 4


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.integers(1, 30), min_size=1, max_size=8),
    st.integers(3, 60),
    st.integers(1, 9),
    st.booleans(),
    st.integers(1, 3),
)
@example([4] * 15, 4, 100, True, 1)
@example([4] * 15, 59, 4, True, 1)
def test_any_shape_of_data_comes_whole_through_any_cap(
    sizes: list[int], cap: int, size: int, shuffle: bool, properties: int
) -> None:
    quads = [
        quad(f"s{n}", f"p{k % properties}", ox.Literal(f"value {k}"))
        for n, count in enumerate(sizes)
        for k in range(count)
    ]
    with serving(quads, row_cap=cap, shuffle=shuffle) as server:
        fully(client_of(server, batch_entities=size), quads)
        assert server.updates == []
