"""Whatever goes wrong, alone or together: the harvest equals the clean one, or the report names exactly what is missing."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crmrag_assets.harvest.prefetch import Account, ChunkReport, as_dict
from crmrag_assets.harvest.report import Missing
from crmrag_assets.harvest.source import Discovery
from crmrag_assets.sources.endpoint.kind import SparqlEndpoint
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_query.config.loading import Method
from tests.support.builds import turtle
from tests.support.endpoints import EX, METHOD, First, config_of
from tests.support.faults import ALL, COUNT_TOO_LOW, SILENT, TIME_OUT, Fault, FaultPlan, Poison, refusal
from tests.support.harvests import harvested
from tests.support.sparql_exchange import Endpoint, Plan
from tests.support.sparql_server import serving

Triple = tuple[str, ...]
SLOW = ("time-out", "trickle")
CHUNKED: Method = METHOD.model_copy(update={"chunks": METHOD.chunks.model_copy(update={"entities": 12})})
REQUESTS = {"timeout_seconds": 0.3, "batch_entities": 7, "page_rows": 11, "retries": 3}
QUADS = list(ox.parse(turtle(6), format=ox.RdfFormat.TURTLE))


@dataclass(frozen=True)
class Outcome:
    """What a harvest brought, and what it says about itself."""

    triples: frozenset[Triple]
    missing: tuple[Missing, ...]
    discovery: Discovery
    chunks: list[ChunkReport]


def harvest(source: RdfFiles | SparqlEndpoint) -> Outcome:
    with tempfile.TemporaryDirectory() as name:
        found, parts = harvested(source, Path(name) / "d")
    tables = [table for table, _ in parts.values()]
    triples = frozenset(tuple(map(str, row.values())) for table in tables for row in table.to_pylist())
    reports = [report for _, report in parts.values()]
    missing = [lost for one in (found, *reports) for lost in one.gathered.missing]
    return Outcome(triples, tuple(missing), found, reports)


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    path = tmp_path_factory.mktemp("truth") / "churches.ttl"
    path.write_text(turtle(6), encoding="utf-8")
    return harvest(RdfFiles((path,), CHUNKED))


def met(
    plans: Sequence[Plan], folder: Path, options: dict[str, Any] | None = None, **requests: float
) -> tuple[Outcome, Endpoint]:
    """A harvest from an endpoint where these plans strike, with ``options`` of the server."""
    with serving(QUADS, plans, **(options or {})) as server:
        outcome = harvest(SparqlEndpoint(config_of(server, {**REQUESTS, **requests}), CHUNKED, folder))
    assert server.updates == [] and server.failures == []
    return outcome, server


def require_whole(found: Outcome, truth: Outcome) -> None:
    assert found.triples == truth.triples and found.missing == ()
    assert found.discovery.entities == truth.discovery.entities


def require_told(found: Outcome, truth: Outcome) -> None:
    """Nothing is invented, and each triple that did not come is one of those that are told to be missing."""
    assert not found.triples - truth.triples, "invented"
    for s, p, *_ in truth.triples - found.triples:
        assert any(lost.subject in ("", s) and lost.property in ("", p) for lost in found.missing), (s, p)
    if found.triples == truth.triples:
        assert found.discovery.entities == truth.discovery.entities


def test_the_clean_harvest_is_that_of_the_file(truth: Outcome, tmp_path: Path) -> None:
    found, server = met([], tmp_path)
    require_whole(found, truth)
    assert len(found.chunks) == 4 and len(server.log) < 40


@pytest.mark.parametrize(
    "subject_rows", [0, pytest.param(1000, marks=pytest.mark.slow)], ids=["paged", "at once"]
)
@pytest.mark.parametrize("fault", ALL, ids=lambda one: one.name)
def test_each_fault_once_in_every_query_changes_nothing(
    fault: Fault, subject_rows: int, truth: Outcome, tmp_path: Path
) -> None:
    """The first answer to whatever is asked is spoilt, but for slow ones, of which a fifth is enough."""
    plan: Plan = First(fault)
    if fault.name in SLOW:
        plan = FaultPlan(1, rate=0.2, kinds=[fault], at_most_in_a_row=1)
    found, server = met([plan], tmp_path, subject_rows=subject_rows)
    assert server.faults[fault.name] >= 2
    require_told(found, truth)
    if fault not in SILENT or fault.name in ("other rows", "cut at line end"):
        require_whole(found, truth)
    assert found.triples == truth.triples or found.missing
    assert len(server.log) < 600


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 12))]
)
def test_faults_mixed_at_random_lose_and_invent_nothing(seed: int, truth: Outcome, tmp_path: Path) -> None:
    kinds = [fault for fault in ALL if fault.name not in SLOW]
    found, server = met([FaultPlan(seed, rate=0.4, kinds=kinds)], tmp_path, subject_rows=seed % 2 * 1000)
    assert len(server.faults) > 5 and len(server.log) < 1500
    require_told(found, truth)


@settings(max_examples=12)
@given(seed=st.integers(100, 10**6), rate=st.floats(0.05, 0.5), most=st.integers(1, 3))
def test_faults_of_any_seed_lose_and_invent_nothing(
    seed: int, rate: float, most: int, truth: Outcome
) -> None:
    kinds = [fault for fault in ALL if fault.name not in SLOW]
    with tempfile.TemporaryDirectory() as folder:
        found, _ = met(
            [FaultPlan(seed, rate, kinds, most)], Path(folder), retries=4, subject_rows=seed % 2 * 1000
        )
    require_told(found, truth)


@pytest.mark.parametrize(
    "options",
    [{"row_cap": 30, "shuffle": True}, {"no_sort": True}, {"mangled_tsv": True}, {"no_count": True}],
    ids=str,
)
@pytest.mark.parametrize("seed", range(2))
def test_poor_endpoints_with_faults_lose_and_invent_nothing(
    options: dict[str, Any], seed: int, truth: Outcome, tmp_path: Path
) -> None:
    """What lacks rows silently is left out where nothing is counted: there, nothing could tell."""
    kinds = [one for one in ALL if one.name not in SLOW and not ("no_count" in options and one in SILENT)]
    found, server = met([FaultPlan(seed, 0.3, kinds)], tmp_path, options, retries=4)
    require_told(found, truth)
    assert len(server.log) < 2000


@pytest.mark.parametrize("poison", [500, 400, 0], ids=["500", "400", "time-out"])
def test_poison_among_faults_is_named_and_nothing_else(poison: int, truth: Outcome, tmp_path: Path) -> None:
    subject = EX + "mural3"
    fault = refusal(poison, "no") if poison else TIME_OUT
    kinds = [one for one in ALL if one.name not in SLOW and one not in SILENT]
    found, _ = met(
        [Poison(subject, fault), FaultPlan(5, 0.15, kinds, 1)], tmp_path, timeout_seconds=0.1, retries=2
    )
    require_told(found, truth)
    assert {triple[0] for triple in truth.triples - found.triples} == {subject}
    assert {lost.subject for lost in found.missing} == {subject}


def test_a_count_too_low_alone_loses_nothing(truth: Outcome, tmp_path: Path) -> None:
    found, _ = met([First(COUNT_TOO_LOW)], tmp_path)
    assert found.triples == truth.triples


@pytest.mark.parametrize("seed", range(3))
def test_the_account_of_a_harvest_with_faults_is_true(seed: int, truth: Outcome, tmp_path: Path) -> None:
    """Whole by its own words only where it is; its numbers those of the server."""
    kinds = [fault for fault in ALL if fault.name not in SLOW]
    found, server = met([FaultPlan(seed, rate=0.3, kinds=kinds)], tmp_path)
    values = as_dict(Account(found.discovery, found.chunks))
    assert not values["whole"] or found.triples == truth.triples
    asked = [one for one in server.log if one.path == "/sparql" and one.query]
    assert values["traffic"]["requests"] == len(asked)
    assert values["traffic"]["retries"] >= sum(one.status not in (0, 200, 307, 308) for one in asked) // 2
