"""`crmrag serve` as an operator meets it: what keeps it from starting says what to do, and it ends when it is told to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from prometheus_client.parser import text_string_to_metric_families

from crmrag_query.cli.main import group
from crmrag_query.client import wire
from crmrag_query.config.service import load_service
from crmrag_query.errors import ConfigError
from tests.conftest import ROOT
from tests.service.test_api import problem_of
from tests.support.model_server import model_server
from tests.support.service import PATIENCE, await_sparql, failing_command, process, until

API = wire.PREFIX
QUESTION = "When was the church of Asinou built?"


def test_the_command_tells_its_options() -> None:
    done = CliRunner().invoke(group, ["serve", "--help"])
    assert done.exit_code == 0
    for option in (
        "--data",
        "--host",
        "--port",
        "--workers",
        "--dataset",
        "--state",
        "--no-history",
        "--quiet",
        "--model",
    ):
        assert option in done.output
    assert "CRMRAG_API_KEYS" in done.output


def test_a_port_that_is_taken_is_told_with_the_remedy(data: Path, forked: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        status, told = failing_command(
            data, "--no-history", "--port", str(taken.getsockname()[1]), forked=forked
        )
    assert status == 1 and "cannot be listened on" in told and "--port" in told and "Traceback" not in told


@pytest.mark.parametrize(
    ("listening", "given", "others"),
    [
        ("127.0.0.1", "[]", 421),
        pytest.param("0.0.0.0", "[]", 200, marks=pytest.mark.slow),
        pytest.param("0.0.0.0", "[museum.example]", 421, marks=pytest.mark.slow),
        pytest.param("127.0.0.1", "[museum.example]", 421, marks=pytest.mark.slow),
    ],
)
def test_it_answers_for_its_own_hosts(
    data: Path, tmp_path: Path, listening: str, given: str, others: int, forked: Path
) -> None:
    """None given: for this machine's own names on a loopback address, which no other machine can mean; else for any."""
    shutil.copytree(ROOT / "config", tmp_path / "config")
    path = tmp_path / "config" / "service.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("hosts: []", f"hosts: {given}"), encoding="utf-8"
    )
    with process(
        data,
        "--no-history",
        "--host",
        listening,
        "--quiet",
        forked=forked,
        CRMRAG_CONFIG=str(tmp_path / "config"),
    ) as running:
        port = running.address.rpartition(":")[2]

        def status(host: str) -> int:
            headers = {"Host": host}
            return httpx.get(
                f"http://127.0.0.1:{port}{API}/datasets", headers=headers, timeout=PATIENCE
            ).status_code

        assert status("localhost") == status(f"127.0.0.1:{port}") == 200
        assert status("other.example") == others
        assert status("museum.example") == (200 if "museum" in given else others)


@pytest.mark.parametrize(
    "host", ["https://museum.example", "museum.example:443", "museum.example/", "", "*", "a b"]
)
def test_a_host_that_is_none_is_told_with_its_key(data: Path, tmp_path: Path, host: str) -> None:
    shutil.copytree(ROOT / "config", tmp_path / "config")
    path = tmp_path / "config" / "service.yaml"
    path.write_text(
        path.read_text(encoding="utf-8").replace("hosts: []", f"hosts: ['{host}']"), encoding="utf-8"
    )
    with pytest.raises(ConfigError, match=r"hosts\[0\].*without scheme"):
        load_service(tmp_path / "config")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (("--host", "203.0.113.7"), "--host"),
        pytest.param(("--host", "no.such.host.invalid"), "--host", marks=pytest.mark.slow),
        pytest.param(("--dataset", "nowhere"), "nowhere", marks=pytest.mark.slow),
        (("--dataset", "../sample"), "no name"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_line(
    data: Path, options: tuple[str, ...], match: str, forked: Path
) -> None:
    status, told = failing_command(data, "--no-history", *options, forked=forked)
    assert status == 1 and match in told and "Traceback" not in told and len(told.splitlines()) <= 3


def test_a_wrong_folder_says_what_to_give(tmp_path: Path, forked: Path) -> None:
    status, told = failing_command(tmp_path, forked=forked)
    assert status == 1 and str(tmp_path) in told and "releases/" in told and "Traceback" not in told
    assert list(tmp_path.iterdir()) == [], "nothing is made in a folder that is none of ours"
    status, told = failing_command(tmp_path / "nothing", forked=forked)
    assert status == 1 and "nothing" in told and not (tmp_path / "nothing").exists()


def test_a_key_that_no_header_can_hold_is_told_without_showing_it(data: Path, forked: Path) -> None:
    status, told = failing_command(data, "--no-history", CRMRAG_API_KEYS="schlüssel", forked=forked)
    assert status == 1 and "CRMRAG_API_KEYS" in told and "schl" not in told and "Traceback" not in told


def test_a_mistake_in_the_configuration_is_told(data: Path, tmp_path: Path, forked: Path) -> None:
    (tmp_path / "service.yaml").write_text("work: {reading: 0}\n")
    status, told = failing_command(data, "--no-history", CRMRAG_CONFIG=str(tmp_path), forked=forked)
    assert status == 1 and "service.yaml" in told and "work.reading" in told and "Traceback" not in told


def test_it_says_where_it_serves_and_answers_at_once(data: Path, forked: Path) -> None:
    with process(data, "--no-history", forked=forked) as running:
        assert running.seen[0].startswith(f"CRM-RAG serves {data} at http://127.0.0.1:")
        assert httpx.get(f"{running.address}/ready", timeout=PATIENCE).json()["datasets"] == ["sample"]
        assert not (data / "service").exists()


def test_answers_are_kept_in_the_data_folder_and_are_there_after_a_restart(
    data: Path, tmp_path: Path, forked: Path
) -> None:
    own = tmp_path / "data"
    own.mkdir()
    (own / "releases").symlink_to(data / "releases")
    with process(own, forked=forked) as running:
        id = httpx.post(f"{running.address}{API}/ask", json={"question": QUESTION}, timeout=PATIENCE).json()[
            "id"
        ]
    assert (own / "service" / "service.sqlite").is_file()
    with process(own, forked=forked) as running:
        kept = httpx.get(f"{running.address}{API}/answers", params={"id": id}, timeout=PATIENCE)
        assert kept.json()["answer"]["question"] == QUESTION


@pytest.mark.parametrize("how", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_an_answer_in_flight_is_finished_when_the_service_ends(
    data: Path, tmp_path: Path, forked: Path, how: signal.Signals
) -> None:
    with (
        model_server("It was built around 1100 [1].", fault="silent") as script,
        process(
            data, "--state", str(tmp_path), "--model", "openai/scripted", "--api-base", script.address,
            forked=forked, OPENAI_API_KEY="none",
        ) as running,
        ThreadPoolExecutor(1) as pool,
    ):  # fmt: skip
        asked = pool.submit(
            httpx.post, f"{running.address}{API}/ask", json={"question": QUESTION}, timeout=PATIENCE
        )
        until(lambda: script.requests)
        running.popen.send_signal(how)
        until(lambda: _refuses(running.address))
        assert not asked.done() and running.popen.poll() is None
        script.ended.set()
        answer = asked.result(PATIENCE)
        assert answer.status_code == 200 and answer.json()["id"] and answer.json()["sources"]
        log = running.end()
    assert "Traceback" not in log and '"event": "answer"' in log
    assert not list(tmp_path.glob("*-wal")), "the database is closed"


def _refuses(address: str) -> bool:
    """Whether no new connection is taken any more."""
    try:
        httpx.get(f"{address}/health", timeout=5)
    except httpx.TransportError:
        return True
    return False


@pytest.mark.slow
def test_nothing_is_left_of_a_service_that_ends(data: Path) -> None:
    with process(data, "--no-history") as running:
        await_sparql(running.address)
        before = _children(running.popen.pid)
        running.end()
        assert before
        until(lambda: not any(_alive(pid) for pid in before))


def _children(pid: int) -> list[int]:
    """Process ids of the processes that one has started, and theirs."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            name_and_rest = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(name_and_rest[1]) == pid:
            child = int(path.parent.name)
            found += [child, *_children(child)]
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# several workers


def _commands(pid: int) -> dict[int, str]:
    return {
        child: Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
        for child in _children(pid)
        if _alive(child)
    }


def _workers(pid: int) -> list[int]:
    """Process ids of the worker processes (not those that keep account of them)."""
    return [child for child, command in _commands(pid).items() if "spawn_main" in command]


@pytest.mark.slow
def test_workers_answer_share_their_metrics_and_are_replaced(data: Path, tmp_path: Path) -> None:
    with process(data, "--state", str(tmp_path), "--workers", "2") as running:
        address = running.address
        until(lambda: len(_workers(running.popen.pid)) == 2)

        def answered_by_each() -> bool:
            """New connections until the metrics of both are there."""
            for _ in range(10):
                httpx.get(f"{address}{API}/datasets", timeout=PATIENCE)
            files = {path.name for path in Path(_metrics_folder(running.popen.pid)).glob("counter_*.db")}
            return len(files) == 2

        until(answered_by_each)
        counted = [_counted(address) for _ in range(6)]
        assert counted == sorted(counted) and counted[0] >= 10, "whichever worker is asked, it tells of both"
        begun = httpx.post(f"{address}{API}/conversations", json={}, timeout=PATIENCE).json()
        for _ in range(4):
            body = {"question": QUESTION, "thread": begun["id"], "key": begun["key"]}
            assert httpx.post(f"{address}{API}/ask", json=body, timeout=PATIENCE).status_code == 200
        told = httpx.get(f"{address}{API}/conversations", params={"id": begun["id"]}, timeout=PATIENCE).json()
        assert len(told["turns"]) == 4

        first = _workers(running.popen.pid)
        os.kill(first[0], signal.SIGKILL)
        until(lambda: len(set(_workers(running.popen.pid)) - set(first)) == 1)
        assert until(lambda: all(_answers(address) for _ in range(6)))
        assert _counted(address) >= counted[-1], "what the dead one counted still counts"
        folder = _metrics_folder(running.popen.pid)
        pids = _workers(running.popen.pid)
        running.end()
        assert running.popen.returncode in (0, -signal.SIGTERM)
        assert not Path(folder).exists() and not any(_alive(pid) for pid in pids)


def _answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}{API}/datasets", timeout=PATIENCE).status_code == 200
    except httpx.TransportError:
        return False


def _metrics_folder(pid: int) -> str:
    [worker, *_] = _workers(pid)
    values = Path(f"/proc/{worker}/environ").read_bytes().split(b"\0")
    [found] = [
        one.partition(b"=")[2].decode() for one in values if one.startswith(b"PROMETHEUS_MULTIPROC_DIR=")
    ]
    return found


def _counted(address: str) -> float:
    """Requests of the list of data sets that all workers together have answered."""
    text = httpx.get(f"{address}/metrics", timeout=PATIENCE).text
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "crmrag_requests_total" and sample.labels["path"] == f"{API}/datasets"
    )


@pytest.mark.slow
def test_workers_end_with_a_service_that_is_killed(data: Path) -> None:
    """Else they would go on at a port that a new one cannot have."""
    with process(data, "--no-history", "--workers", "2") as running:
        until(lambda: len(_workers(running.popen.pid)) == 2)
        pids = _workers(running.popen.pid)
        running.popen.kill()
        until(lambda: not any(_alive(pid) for pid in pids))


@pytest.mark.slow
def test_keys_hold_in_every_worker(data: Path) -> None:
    with process(data, "--no-history", "--workers", "2", CRMRAG_API_KEYS="one") as running:
        for _ in range(10):
            assert problem_of(httpx.get(f"{running.address}{API}/datasets", timeout=PATIENCE)).status == 401
            good = httpx.get(
                f"{running.address}{API}/datasets", headers={"Authorization": "Bearer one"}, timeout=PATIENCE
            )
            assert good.status_code == 200
        log = running.end()
    assert all(isinstance(json.loads(line), dict) for line in log.splitlines()[1:])


@pytest.mark.slow
def test_many_callers_at_once_are_all_answered(data: Path) -> None:
    with process(data, "--no-history", "--quiet") as running:
        start = threading.Barrier(40)

        def call(n: int) -> int:
            start.wait(PATIENCE)
            return httpx.get(f"{running.address}{API}/search?text=Asinou", timeout=PATIENCE).status_code

        with ThreadPoolExecutor(40) as pool:
            assert list(pool.map(call, range(40))) == [200] * 40
