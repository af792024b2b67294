"""Endpoints that lie and flood: a build asks them so often and no more, and holds only so much of what they send."""

from __future__ import annotations

import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from crmrag_assets.build.step import SilentProgress
from crmrag_assets.sources.endpoint import client as clients
from crmrag_assets.sources.endpoint.batches import harvest
from crmrag_assets.sources.endpoint.client import Unanswered
from crmrag_assets.sources.endpoint.kind import SparqlEndpoint
from crmrag_assets.sources.endpoint.results import Oversized, require_few
from crmrag_query.errors import SourceError
from tests.support import faults
from tests.support.endpoints import EX, METHOD, Always, client_of, config_of, star, subjects_of
from tests.support.faults import replied
from tests.support.sparql_answers import TYPES, Answer
from tests.support.sparql_server import serving

LYING = Always(next(fault for fault in faults.ALL if fault.name == "count too high"))
SUBJECTS = [f"{EX}s{n:02}" for n in range(40)]
QUERY = "SELECT ?s ?p ?o WHERE { ?s ?p ?o }"


def test_an_endpoint_that_counts_too_many_is_asked_within_its_budget() -> None:
    with serving(star(40), [LYING]) as server:
        client = client_of(server, request_budget=10)
        with pytest.raises(SourceError) as caught:
            harvest(client, SUBJECTS, unnamed=False)
        assert len(server.log) == 120
    assert f"{server.url} was sent 120 requests, where one of its size that answers at once needs 12" in str(
        caught.value
    )
    assert "the budget of 10 times as many is used up" in str(caught.value)
    assert "raise `request_budget`" in caught.value.remedy and "`batch_entities`" in caught.value.remedy


def test_a_greater_budget_lets_a_build_go_on() -> None:
    with serving(star(4), [LYING]) as server:
        with pytest.raises(SourceError, match="budget of 1 times"):
            harvest(client_of(server, request_budget=1), SUBJECTS[:4], unnamed=False)
        found = harvest(client_of(server, request_budget=1000), SUBJECTS[:4], unnamed=False)
        assert len(found.frame) == 12 and len(server.log) > 24


def test_a_whole_reading_of_one_that_lies_stays_within_the_budget_of_its_parts(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    with serving(star(40), [LYING]) as server:
        source = SparqlEndpoint(config_of(server, {"request_budget": 10}), METHOD, tmp_path / "work")
        with pytest.raises(SourceError, match="budget of 10"):
            source.discover(tmp_path / "d", SilentProgress())
            source.fetch(tmp_path / "d", range(256))
        assert len(server.log) <= 130


def test_rows_that_come_pay_for_the_requests_that_a_weak_endpoint_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clients, "EARNING", 20)
    with serving(star(40), row_cap=5) as server:
        found = harvest(client_of(server, request_budget=8), SUBJECTS, unnamed=False)
        assert len(found.frame) == 120 and not found.missing and len(server.log) > 8 * 12


def test_subjects_beyond_those_that_are_counted_are_not_asked_for_without_end(tmp_path: Path) -> None:
    endless = (f"{EX}s{n:06}" for n in range(1_000_000))

    def page(query: str) -> Answer:
        rows = "".join(f'"{next(endless)}"\n' for _ in range(100))
        name = "member" if "?member" in query else "iri"
        return Answer(f"?{name}\n{rows}".encode(), TYPES["tsv"])

    class Endless:
        def choose(self, query: str) -> faults.Fault | None:
            return replied("endless", page(query)) if "ORDER BY" in query else None

    with serving(star(40), [Endless()]) as server:
        subjects_of(client_of(server, page_rows=100, subject_rows=0), tmp_path, (f"{EX}Class",))
        assert len(server.log) < 20


# What is held of a response.


def test_a_response_of_too_many_rows_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MOST_ROWS", 10)
    small = {"page_rows": 5, "subject_rows": 5, "blank_rows": 5}
    with serving(star(4)) as server:
        client = client_of(server, **small)
        client.count("SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
        with pytest.raises(Unanswered, match="more than 10 rows"):
            client.rows(QUERY)
        assert len(server.log) == 2  # refused at once, as a smaller query may do
        assert len(client.rows(f"{QUERY} LIMIT 10")) == 10
        assert len(client_of(server, **small | {"page_rows": 6}).rows(QUERY)) == 12


@pytest.mark.parametrize(
    ("head", "row", "tail"),
    [
        ("?s\t?p\t?o\n", "\t\t\n", ""),
        ('{"head":{"vars":["s","p","o"]},"results":{"bindings":[{}', ",{}" * 4, "]}}"),
        ('{"head":{"vars":["s","p","o"]},"x":[[]', ",[]" * 4, '],"results":{"bindings":[]}}'),
    ],
    ids=["TSV", "JSON", "JSON beside"],
)
def test_rows_are_counted_before_they_are_read(head: str, row: str, tail: str) -> None:
    require_few((head + row * 90 + tail).encode(), 3, 100)
    with pytest.raises(Oversized, match="more than 100 rows"):
        require_few((head + row * 110 + tail).encode(), 3, 100)


def test_what_a_row_of_json_takes_is_not_counted_twice() -> None:
    row = '{"s":{"type":"uri","value":"a:"},"p":{"type":"uri","value":"a:"},"o":{"type":"uri","value":"a:"}}'
    require_few(
        f'{{"head":{{"vars":["s","p","o"]}},"results":{{"bindings":[{",".join([row] * 100)}]}}}}'.encode(),
        3,
        100,
    )


MEASURED = """
import resource, sys
from tests.support.endpoints import client_of
from crmrag_assets.sources.endpoint.client import Unanswered

client = client_of(sys.argv[1], retries=0, timeout_seconds=60)
client.go_on()
size = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
before = size()
resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
try:
    client.rows("SELECT ?s ?p ?o WHERE { ?s ?p ?o }")
except Exception as error:
    print(type(error).__name__, error)
print(size() - before)
"""


def test_a_body_that_expands_a_thousand_times_takes_the_memory_of_its_limit() -> None:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    body = packer.compress(b"?s\t?p\t?o\n") + b"".join(
        packer.compress(b"\t\t\n" * (1 << 18)) for _ in range(120)
    )
    flood = Answer(body + packer.flush(), TYPES["tsv"], headers={"Content-Encoding": "gzip"})
    with serving(star(2), [Always(replied("flood", flood), lambda query: "?o" in query)]) as server:
        done = subprocess.run(
            [sys.executable, "-c", MEASURED, server.url], capture_output=True, text=True, check=True
        )
    *_, said, megabytes = done.stdout.splitlines()
    assert "more than 67,108,864 bytes" in said
    assert int(megabytes) < 300
