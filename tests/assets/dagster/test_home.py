"""Dagster's folder: made once, also by several builds that begin at the same moment."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crmrag_assets.instance import dagster_home, open_instance
from crmrag_assets.partitions import CHUNK, chunk_order, offer_chunks
from crmrag_query.errors import ConfigError
from tests.conftest import ROOT

OPEN = """
import sys
from pathlib import Path
from crmrag_assets.instance import open_instance
print("ready", flush=True)
sys.stdin.readline()
with open_instance(Path(sys.argv[1])) as instance:
    assert instance.get_runs() == []
"""


@pytest.mark.slow
def test_a_new_folder_may_be_opened_by_several_processes_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OPEN, str(tmp_path / "data")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(command, cwd=ROOT, text=True, **pipes) for _ in range(3)]  # type: ignore[call-overload]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate(timeout=120)[1] for process in started]
    assert [process.returncode for process in started] == [0, 0, 0], told


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("concurrency: [", "line 2"),
        ("- a list", "dictionary"),
        ("concurrency: {runs: {max_concurrent_runs: many}}", "max_concurrent_runs"),
        ("storage: {postgres: {postgres_url: 'postgresql://u:secret@db/x', nonsense: 1}}", "postgres"),
    ],
)
def test_a_mistake_in_its_settings_names_the_file_and_keeps_secrets(
    tmp_path: Path, settings: str, said: str
) -> None:
    (tmp_path / "dagster").mkdir()
    (tmp_path / "dagster" / "dagster.yaml").write_text(f"{settings}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"dagster\.yaml") as told, open_instance(tmp_path):
        pass
    assert said in str(told.value) and "Mend it" in str(told.value) and "secret" not in str(told.value)


def test_builds_that_offer_the_same_chunks_at_once_do_not_fail(tmp_path: Path) -> None:
    with open_instance(tmp_path) as one, open_instance(tmp_path) as other, ThreadPoolExecutor(2) as pool:
        one.get_dynamic_partitions(CHUNK), other.get_dynamic_partitions(CHUNK)
        for count in (1, 2, 4, 8, 16, 32):
            offers = [pool.submit(offer_chunks, instance, chunk_order()[:count]) for instance in (one, other)]
            assert [offer.result() for offer in offers] == [None, None]
        assert sorted(one.get_dynamic_partitions(CHUNK)) == sorted(chunk_order()[:32])


def test_dagster_home_is_made_once_and_sends_nothing(tmp_path: Path) -> None:
    home = dagster_home(tmp_path)
    assert "enabled: false" in (home / "dagster.yaml").read_text()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    assert (dagster_home(tmp_path) / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"
