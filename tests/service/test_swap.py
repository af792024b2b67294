"""A new release takes the place of the old one while it is asked: no request fails, and a damaged one changes nothing."""

from __future__ import annotations

import json
import shutil
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx
import pytest

from crmrag_query.artifacts.manifest import switch
from crmrag_query.client import library as releases
from crmrag_query.client import wire
from crmrag_query.client.local import open_engine
from tests.query.mcp.conftest import hosted
from tests.service.test_api import problem_of
from tests.support.service import PATIENCE, Process, application, process, served, until
from tests.support.shared import own_two_releases

API = wire.PREFIX
QUESTION = "Who painted Mural 1?"


@pytest.fixture
def data(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    """A data folder with two releases of one data set, of which the first is current."""
    found = own_two_releases(tmp_path_factory, tmp_path)
    switch(tmp_path / "releases" / "churches", found[1])
    return found


def release_ids(http: httpx.Client) -> dict[str, str]:
    found: dict[str, str] = http.get("/version").raise_for_status().json()["releases"]
    return found


def release_of(http: httpx.Client) -> str:
    return release_ids(http)["churches"]


def is_served(http: httpx.Client, release: str) -> bool:
    return release_of(http) == release


@pytest.mark.slow
def test_releases_are_swapped_under_load_without_a_failed_request(data: tuple[Path, str, str]) -> None:
    """Four callers ask whatever can be asked while the release is exchanged back and forth."""
    folder, first, second = data
    place, stop, statuses, seen = (
        folder / "releases" / "churches",
        threading.Event(),
        Counter[int](),
        set[str](),
    )
    things = {"target": {"categories": ["Thing"]}}
    sizes: dict[str, set[int]] = {first: set(), second: set()}

    def asking(address: str) -> None:
        with httpx.Client(base_url=address, timeout=PATIENCE) as http:
            while not stop.is_set():
                found = http.post(f"{API}/set", json={"plan": things})
                answers = [
                    found,
                    http.post(f"{API}/ask", json={"question": QUESTION}),
                    http.post(f"{API}/ask", json={"question": QUESTION}, headers={"Accept": wire.EVENTS}),
                    http.get(f"{API}/entity?iri=http://example.org/church1"),
                    http.get(f"{API}/datasets", headers={"If-None-Match": '"old"'}),
                ]
                statuses.update(one.status_code for one in answers)
                if found.is_success:
                    seen.add(found.json()["release"])
                    sizes[found.json()["release"]].add(found.json()["size"])

    app = application(open_engine(str(folder)), state=folder / "state")
    with (
        served(app) as address,
        ThreadPoolExecutor(4) as pool,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        callers = [pool.submit(asking, address) for _ in range(4)]
        try:
            for release in (second, first, second, first, second):
                switch(place, release)
                until(partial(is_served, http, release))
            until(lambda: seen == {first, second})
        finally:
            stop.set()
        for caller in callers:
            caller.result(PATIENCE)
    assert set(statuses) == {200} and statuses[200] > 20
    assert all(len(found) == 1 for found in sizes.values()) and sizes[first] != sizes[second], (
        "never a mixture"
    )


@pytest.mark.slow
def test_a_damaged_data_set_hides_no_other_and_does_not_vanish(
    data: tuple[Path, str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """It is told in the list, the version, to language models and, with what is wrong, in the log."""
    folder, first, _ = data
    broken = folder / "releases" / "broken"
    shutil.copytree(folder / "releases" / "churches", broken)
    (broken / first / "manifest.json").write_text("{")
    with (
        caplog.at_level("WARNING", "crmrag.service"),
        served(application(open_engine(str(folder)))) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        answers = [http.get(f"{API}/datasets") for _ in range(3)]
        found = answers[0].json()
        assert [one["name"] for one in found["datasets"]] == ["churches"]
        assert [one["name"] for one in found["unavailable"]] == ["broken"]
        assert "damaged" in found["unavailable"][0]["reason"] and str(folder) not in answers[0].text
        version = http.get("/version").json()
        assert version["releases"].keys() == {"churches"} and version["unavailable"] == ["broken"]
        with hosted(f"{address}/mcp") as tools:
            assert "broken cannot be asked" in tools.text("list_datasets")
        assert problem_of(http.get(f"{API}/search?text=a&dataset=broken")).status == 503
        assert http.get(f"{API}/search?text=a&dataset=churches").is_success
        said = [one.getMessage() for one in caplog.records if "cannot be asked" in one.getMessage()]
        assert len(said) == 1 and str(broken) in said[0]
        tag = {"If-None-Match": answers[0].headers["etag"]}
        assert http.get(f"{API}/datasets", headers=tag).status_code == 304
        shutil.rmtree(broken)
        shutil.copytree(folder / "releases" / "churches", broken)
        mended = http.get(f"{API}/datasets", headers=tag).json()
        assert len(mended["datasets"]) == 2 and mended["unavailable"] == []


def test_what_was_kept_by_its_reader_is_sent_anew(data: tuple[Path, str, str]) -> None:
    folder, _, second = data
    with (
        served(application(open_engine(str(folder)))) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        before = http.get(f"{API}/search?text=Church")
        again = http.get(f"{API}/search?text=Church", headers={"If-None-Match": before.headers["etag"]})
        assert again.status_code == 304
        switch(folder / "releases" / "churches", second)
        after = http.get(f"{API}/search?text=Church", headers={"If-None-Match": before.headers["etag"]})
        assert after.status_code == 200 and after.json() != before.json()
        assert after.json()["release"] == second


@pytest.fixture
def running(data: tuple[Path, str, str], forked: Path) -> object:
    with process(data[0], "--no-history", forked=forked) as found:
        yield found


@pytest.mark.parametrize(
    "damage",
    [
        "missing",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("cut file", "no manifest", "pointer")),
    ],
)
def test_a_damaged_release_leaves_the_old_one_served_and_says_so(
    data: tuple[Path, str, str], damage: str, running: Process
) -> None:
    folder, first, second = data
    place = folder / "releases" / "churches"
    broken = place / second
    with httpx.Client(base_url=running.address, timeout=PATIENCE) as http:
        before = http.post(f"{API}/ask", json={"question": QUESTION}).json()
        assert release_of(http) == first
        if damage == "missing":
            shutil.rmtree(broken)
        elif damage == "cut file":
            (broken / "graph" / "forward_val.npy").write_bytes(b"")
        elif damage == "no manifest":
            (broken / "manifest.json").unlink()
        if damage == "pointer":
            (place / "current").write_text("nonsense\n")
        else:
            (place / "current").write_text(f"{second}\n")
        for _ in range(3):
            after = http.post(f"{API}/ask", json={"question": QUESTION})
            assert after.status_code == 200 and after.json()["text"] == before["text"]
            assert http.get("/ready").status_code == 200 and release_of(http) == first
        line = json.loads(running.wait_for(lambda line: "served on" in line))
        assert "churches" in line["message"] and line["level"] == "WARNING"
    assert running.end().count("served on") == 1, "it is told once"


def test_a_rollback_is_served_at_once(data: tuple[Path, str, str], running: Process) -> None:
    folder, first, second = data
    place = folder / "releases" / "churches"
    with httpx.Client(base_url=running.address, timeout=PATIENCE) as http:
        switch(place, second)
        assert until(lambda: release_of(http) == second)
        assert http.get(f"{API}/entity?iri=http://example.org/church8").status_code == 200
        switch(place, first)
        assert until(lambda: release_of(http) == first)
        told = problem_of(http.get(f"{API}/entity?iri=http://example.org/church8"))
        assert told.status == 404 and "church8" in told.detail


def test_a_damaged_release_that_is_mended_is_served(
    data: tuple[Path, str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, first, second = data
    monkeypatch.setattr(releases, "RETRY_SECONDS", 0.0)
    place = folder / "releases" / "churches"
    manifest = (place / second / "manifest.json").read_bytes()
    with (
        served(application(open_engine(str(folder)))) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        assert http.get("/ready", timeout=PATIENCE).status_code == 200 and release_of(http) == first
        (place / second / "manifest.json").write_bytes(b"{")
        (place / "current").write_text(f"{second}\n")
        with pytest.warns(releases.ReleaseWarning):
            assert release_of(http) == first
        (place / second / "manifest.json").write_bytes(manifest)
        assert until(lambda: release_of(http) == second)


@pytest.mark.slow
def test_a_data_set_that_is_built_while_it_is_served_is_found(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    made, _, _ = own_two_releases(tmp_path_factory, tmp_path / "made")
    (tmp_path / "releases").mkdir()
    with process(tmp_path) as running, httpx.Client(base_url=running.address, timeout=PATIENCE) as http:
        assert "No data set is built yet" in running.wait_for(lambda line: "crmrag build" in line)
        assert http.get(f"{API}/datasets").json()["datasets"] == []
        assert problem_of(http.get("/ready")).status == 503
        assert "crmrag build" in problem_of(http.post(f"{API}/ask", json={"question": QUESTION})).remedy
        (made / "releases" / "churches").rename(tmp_path / "releases" / "churches")
        assert http.get("/ready").json()["datasets"] == ["churches"]
        assert http.post(f"{API}/ask", json={"question": QUESTION}).json()["dataset"] == "churches"


def test_a_service_is_not_ready_while_its_data_folder_is_away(data: tuple[Path, str, str]) -> None:
    folder, first, _ = data
    away = folder / "away"
    with (
        served(application(open_engine(str(folder)))) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        assert http.get("/ready").json()["datasets"] == ["churches"]
        (folder / "releases").rename(away)
        assert problem_of(told := http.get("/ready")).status == 503 and "not there" in told.json()["detail"]
        assert problem_of(http.get(f"{API}/search?text=a&dataset=churches")).status == 404
        assert http.get("/health").is_success and release_ids(http) == {}
        away.rename(folder / "releases")
        assert http.get("/ready").json()["datasets"] == ["churches"]
        assert release_of(http) == first


def test_a_data_set_that_cannot_be_opened_is_not_ready_and_holds_up_no_other(
    data: tuple[Path, str, str],
) -> None:
    folder, first, _ = data
    place = folder / "releases" / "broken"
    place.mkdir()
    (place / "current").write_text(f"{first}\n")
    with (
        served(application(open_engine(str(folder)))) as address,
        httpx.Client(base_url=address, timeout=PATIENCE) as http,
    ):
        assert http.get("/health").status_code == 200 and http.get("/ready").status_code >= 400
        assert http.get("/version").json()["releases"] == {"churches": first}
        body = {"question": QUESTION, "dataset": "churches"}
        assert http.post(f"{API}/ask", json=body, timeout=PATIENCE).status_code == 200
