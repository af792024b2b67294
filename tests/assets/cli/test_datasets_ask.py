"""`crmrag datasets check NAME --ask`: a first polite look at an endpoint that lives, wants a login, or is down."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyoxigraph as ox
import pytest
from click.testing import CliRunner

from crmrag_query.cli.datasets import datasets
from crmrag_query.errors import SourceError
from tests.support.builds import turtle
from tests.support.sparql_auth import Auth
from tests.support.sparql_exchange import Endpoint
from tests.support.sparql_server import serving

SECRET = "s3cret-t0ken"
POLITE = 10  # requests of a first look, at most


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    quads = ox.parse(turtle(), format=ox.RdfFormat.TURTLE)
    with serving(quads, auth=Auth("bearer", token=SECRET)) as opened:
        yield opened


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRMRAG_CONFIG", raising=False)
    monkeypatch.setenv("CHURCHES_TOKEN", SECRET)
    return tmp_path


def declare(url: str) -> None:
    words = ["--token-variable", "CHURCHES_TOKEN", "--contact", "churches@example.org", "--pause", "0"]
    CliRunner().invoke(datasets, ["add", "churches", "--endpoint", url, *words], catch_exceptions=False)


def ask(*words: str) -> str:
    result = CliRunner().invoke(datasets, ["check", "churches", *words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_living_endpoint_says_what_it_holds_after_a_few_requests(endpoint: Endpoint) -> None:
    declare(endpoint.url)
    told = ask("--ask")
    assert f"{len(endpoint.store):,}" in told and "CIDOC-CRM" in told and SECRET not in told
    assert 0 < len(endpoint.log) <= POLITE and not endpoint.updates
    assert {record.headers["authorization"] for record in endpoint.log} == {f"Bearer {SECRET}"}
    assert all("churches@example.org" in record.headers["user-agent"] for record in endpoint.log)


def test_a_check_that_does_not_ask_sends_nothing(endpoint: Endpoint) -> None:
    declare(endpoint.url)
    assert "CHURCHES_TOKEN: set" in ask() and endpoint.log == []


def test_an_endpoint_that_refuses_is_told_without_the_secret(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    declare(endpoint.url)
    monkeypatch.setenv("CHURCHES_TOKEN", f"{SECRET}-of-yesterday")
    with pytest.raises(SourceError) as caught:
        ask("--ask")
    assert "401" in str(caught.value) and SECRET not in str(caught.value) and len(endpoint.log) == 1


def test_an_endpoint_that_is_down_ends_with_one_message() -> None:
    declare("http://127.0.0.1:9/sparql")
    with pytest.raises(SourceError, match="does not answer"):
        ask("--ask")
