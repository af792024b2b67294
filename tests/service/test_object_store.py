"""Releases that are read from an object store: answered as from a folder, followed within seconds, and answered from while
the store is silent."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from crmrag_assets.release.push import push
from crmrag_query import Client
from crmrag_query.artifacts import mirror as mirroring
from crmrag_query.artifacts import objects as storing
from crmrag_query.artifacts.manifest import dataset_folder
from crmrag_query.artifacts.objects import open_objects
from crmrag_query.cli.main import group
from crmrag_query.client import wire
from crmrag_query.errors import StoreUnreachable
from crmrag_query.timing import Kept
from tests.support.object_store import Proxy, bucket_behind_proxy, cut_while_answering, refused, s3_server
from tests.support.service import process, until
from tests.support.shared import own_two_releases

QUESTION = "Who painted the mural 2?"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture
def bucket(server: str) -> Iterator[tuple[str, Proxy]]:
    with bucket_behind_proxy(server) as found:
        yield found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A data folder with two releases of churches, and their ids."""
    return own_two_releases(tmp_path_factory, tmp_path_factory.mktemp("built"))


@pytest.fixture(autouse=True)
def own_cache_and_little_patience(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(storing, "TRIES", 1)
    monkeypatch.setattr(storing, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(mirroring, "FOLLOW_SECONDS", 0.1)
    monkeypatch.setattr("crmrag_query.timing.WARNED", Kept(10))


def pushed(data: Path, release: str, address: str) -> None:
    push(dataset_folder(data, "churches") / release, open_objects(address))


def test_a_client_and_commands_answer_as_from_the_folder_and_follow_what_becomes_current(
    built: tuple[Path, str, str], bucket: tuple[str, Proxy], caplog: pytest.LogCaptureFixture
) -> None:
    (data, first, second), (address, proxy) = built, bucket
    pushed(data, first, address)
    with Client(address) as client, Client(str(data)) as local:
        assert [one.release for one in client.datasets().datasets] == [first]
        pushed(data, second, address)
        until(lambda: client.datasets().datasets[0].release == second)
        asked, expected = client.ask(QUESTION), local.ask(QUESTION)
        assert (asked.text, asked.sources, asked.release) == (expected.text, expected.sources, second)
        runner = CliRunner()
        here, there = (
            runner.invoke(group, ["ask", "churches", QUESTION, "--data", where], catch_exceptions=False)
            for where in (str(data), address)
        )
        assert here.exit_code == there.exit_code == 0 and here.output == there.output
        verified = runner.invoke(group, ["verify", "churches", "--data", address], catch_exceptions=False)
        assert (
            verified.exit_code == 0
            and f"Release {second} of data set 'churches' is what was built" in verified.output
        )
        refused_ = runner.invoke(group, ["build", "churches", "--data", address])
        assert refused_.exit_code and "publish_to" in str(refused_.exception or refused_.output)
        # the store goes: what is here is answered from, and that is told
        proxy.fails(refused)
        with caplog.at_level(logging.WARNING):
            until(lambda: "does not answer" in caplog.text)
        assert client.ask(QUESTION).text == expected.text
        with Client(address) as later:
            assert later.ask(QUESTION).text == expected.text
        # and comes back with another release
        proxy.faults.clear()
        pushed(data, first, address)
        until(lambda: client.datasets().datasets[0].release == first)


@pytest.mark.slow
def test_a_release_that_comes_damaged_is_not_answered_from(
    built: tuple[Path, str, str], bucket: tuple[str, Proxy], caplog: pytest.LogCaptureFixture
) -> None:
    (data, first, second), (address, proxy) = built, bucket
    objects, kept = open_objects(address), "releases/churches/files"
    pushed(data, first, address)
    known = {one.path for one in objects.list(kept)}
    pushed(data, second, address)
    new = next(one.path for one in objects.list(kept) if one.path not in known)
    objects.write(new, b"altered")
    pushed(data, first, address)
    with Client(address) as client:
        assert client.datasets().datasets[0].release == first
        pushed(data, second, address)
        with caplog.at_level(logging.WARNING):
            until(lambda: "was altered" in caplog.text)
        assert client.datasets().datasets[0].release == first and client.ask(QUESTION).text
        proxy.fails(cut_while_answering, times=1)
        push(dataset_folder(data, "churches") / second, objects, whole=True)
        until(lambda: client.datasets().datasets[0].release == second)


def test_without_the_store_and_without_a_copy_that_is_told(bucket: tuple[str, Proxy]) -> None:
    address, proxy = bucket
    proxy.fails(refused)
    with pytest.raises(StoreUnreachable, match=r"does not answer, listing releases .*Try again later"):
        Client(address)


@pytest.mark.slow
def test_services_of_two_machines_change_over_when_a_release_is_pushed(
    built: tuple[Path, str, str], bucket: tuple[str, Proxy], tmp_path: Path, forked: Path
) -> None:
    """Two processes with caches of their own."""
    (data, first, second), (address, _) = built, bucket
    pushed(data, first, address)

    def release(at: str) -> str:
        found = httpx.get(f"{at}{wire.PREFIX}/datasets", timeout=60).json()["datasets"]
        return str(found[0]["release"])

    caches = [{"XDG_CACHE_HOME": str(tmp_path / name)} for name in ("one", "other")]
    options = ("--state", str(tmp_path / "state"), "--quiet")
    with (
        process(address, *options, forked=forked, **caches[0]) as one,
        process(address, *options, forked=forked, **caches[1]) as other,
    ):
        assert release(one.address) == release(other.address) == first
        pushed(data, second, address)
        until(lambda: release(one.address) == release(other.address) == second)
