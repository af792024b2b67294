"""Builds whose process is killed: noticed, ended, taken up again; and the data sets beside them go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster import DagsterInstance
from filelock import FileLock

from crmrag_assets.build.step import HOLDER
from crmrag_assets.definitions import defs
from crmrag_assets.instance import LOST, open_instance
from crmrag_assets.partitions import BuildResource
from crmrag_assets.runs import (
    BEFORE_LOCK,
    BUILDS_TAG,
    FOLDER,
    FROM_ASSETS,
    JOBS,
    LAYER_TAG,
    end_lost_runs,
    hold_run_lock,
    lost_runs_sensor,
)
from crmrag_query.artifacts.release import open_release
from tests.conftest import ROOT
from tests.support.builds import Project, make_project, turtle
from tests.support.daemon import daemon, queue, until
from tests.support.runs import build as build_again

STATUS = dg.DagsterRunStatus
RUN = """
import sys
from pathlib import Path
from crmrag_assets.definitions import defs
from crmrag_assets.instance import open_instance
with open_instance(Path(sys.argv[1])) as instance:
    config = {"resources": {"build": {"config": {"data": sys.argv[1], "config": sys.argv[2]}}}}
    instance.add_dynamic_partitions("dataset", ["churches"])
    defs.resolve_job_def("build").execute_in_process(config, instance=instance, partition_key="churches")
"""


@contextmanager
def building(project: Project, artifact: str) -> Iterator[subprocess.Popen[bytes]]:
    """The job `build` in a process of its own, which has come as far as an artifact."""
    command = [sys.executable, "-c", RUN, str(project.data), str(project.config)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        until(lambda: process.poll() is not None or (work(project, "churches") / artifact).exists())
        yield process
    finally:
        process.kill()
        process.wait()


def work(project: Project, dataset: str) -> Path:
    return project.data / "work" / dataset


def statuses(instance: DagsterInstance) -> dict[str, set[dg.DagsterRunStatus]]:
    """Of the runs of builds, and of layers."""
    found: dict[str, set[dg.DagsterRunStatus]] = {"build": set(), "layer": set()}
    for run in instance.get_runs():
        found["layer" if LAYER_TAG in run.tags else run.job_name].add(run.status)
    return found


@pytest.mark.slow
def test_a_run_is_lost_when_its_process_is_gone_and_not_before(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", turtle(300), write_markdown=False)
    with open_instance(project.data) as instance:
        with building(project, "graph") as process:
            assert process.poll() is None and end_lost_runs(instance, project.data) == []
        lost = end_lost_runs(instance, project.data)
        assert sorted(run.job_name.partition("_")[0] for run in lost) == ["build", "layer"]
        found = statuses(instance)
        assert found["build"] == {STATUS.FAILURE} and STATUS.CANCELED in found["layer"]
        assert STATUS.STARTED not in found["layer"]
        (build,) = instance.get_runs(dg.RunsFilter(job_name="build"))
        events = instance.all_logs(build.run_id, of_type=dg.DagsterEventType.RUN_FAILURE)
        assert [event.dagster_event.message for event in events if event.dagster_event] == [LOST]
        assert not list((project.data / "dagster" / FOLDER).iterdir())

        result = build_again(project, instance)
        made = {outcome.record.artifact: outcome.reused for outcome in result.outcomes}
        assert made["entities"] and made["prefetch"]
    open_release("churches", project.data).verify()


def test_a_run_that_never_came_to_its_lock_is_lost_after_a_while_and_others_are_left(tmp_path: Path) -> None:
    with open_instance(tmp_path) as instance:
        graph, other = frozenset({dg.AssetKey("graph")}), frozenset({dg.AssetKey("of_others")})
        for number, (job, status, chosen) in enumerate(
            [
                ("build", STATUS.STARTED, None),
                ("build", STATUS.STARTING, None),
                ("layer_3_discovery", STATUS.NOT_STARTED, None),
                (FROM_ASSETS, STATUS.STARTED, graph),
                ("evaluate", STATUS.STARTED, None),
                ("other", STATUS.STARTED, None),
                (FROM_ASSETS, STATUS.STARTED, other),
            ]
        ):
            run = dg.DagsterRun(job, f"{number}" * 8, status=status, asset_selection=chosen)
            instance.add_run(run)
            if job == "evaluate":
                hold_run_lock(tmp_path, run)
        now = time.time()
        assert end_lost_runs(instance, tmp_path, now + BEFORE_LOCK - 60) == []
        lost = end_lost_runs(instance, tmp_path, now + BEFORE_LOCK + 60)
        assert sorted(run.run_id[0] for run in lost) == ["0", "1", "2", "3"]
        assert end_lost_runs(instance, tmp_path, now + BEFORE_LOCK + 60) == []


def test_a_run_keeps_its_lock_from_step_to_step_and_one_of_its_processes_is_enough(tmp_path: Path) -> None:
    for job in (*defs.resolve_all_job_defs(), defs.resolve_implicit_global_asset_job_def()):
        assert job.executor_def is dg.in_process_executor, "else the lock would go with each step's process"
        assert job.name == FROM_ASSETS or JOBS.fullmatch(job.name), "else it would never be seen as lost"
    run = dg.DagsterRun("build", "0" * 8, status=STATUS.STARTED)
    lock = tmp_path / "dagster" / FOLDER / run.run_id
    with open_instance(tmp_path) as instance:
        instance.add_run(run)
        with FileLock(lock, timeout=0):
            hold_run_lock(tmp_path, run)
        hold_run_lock(tmp_path, run)
        lock.unlink()  # whoever tidies up the folder
        hold_run_lock(tmp_path, run)
        assert end_lost_runs(instance, tmp_path, time.time() + BEFORE_LOCK + 60) == []


def test_the_sensor_says_what_it_ended(tmp_path: Path) -> None:
    with open_instance(tmp_path) as instance:
        resources = {"build": BuildResource(data=str(tmp_path))}
        with dg.build_sensor_context(instance, resources=resources) as context:
            found = lost_runs_sensor().evaluate_tick(context)
        assert found.skip_message == "Every run under way has its process."


@pytest.fixture
def museums(tmp_path: Path) -> Project:
    """Three data sets: one that takes a while, one small, and one whose file is no RDF."""
    project = Project(tmp_path / "museums")
    project.config.mkdir(parents=True)
    sources = {"large": turtle(200), "small": turtle(4), "broken": "<!DOCTYPE html><html>Sign in</html>"}
    shared = {"embedding": {"model": "hash"}, "write_markdown": False}
    for name, source in sources.items():
        (project.root / f"{name}.ttl").write_text(source, encoding="utf-8")
    declared = {name: shared | {"rdf": [f"{name}.ttl"]} for name in sources}
    (project.config / "datasets.yaml").write_text(yaml.safe_dump({"datasets": declared}), encoding="utf-8")
    return project


@pytest.mark.slow
def test_a_killed_worker_is_taken_up_again_and_builds_beside_it_are_left_alone(museums: Project) -> None:
    with open_instance(museums.data) as instance, daemon(museums):
        for name in ("large", "broken", "small"):
            queue(instance, name)
        until((work(museums, "large") / "graph").exists)
        os.kill(int((work(museums, "large") / HOLDER).read_text()), signal.SIGKILL)

        def ended() -> bool:
            builds = instance.get_runs(dg.RunsFilter(job_name="build"))
            return len(builds) == 4 and all(run.is_finished for run in builds)

        until(ended)
        builds = instance.get_runs(dg.RunsFilter(job_name="build"))
        found = defaultdict[str, list[dg.DagsterRunStatus]](list)
        for run in builds:
            found[run.tags[BUILDS_TAG]].append(run.status)
        assert found == {
            "large": [STATUS.SUCCESS, STATUS.FAILURE],  # the newest first
            "small": [STATUS.SUCCESS],
            "broken": [STATUS.FAILURE],
        }
        assert STATUS.STARTED not in statuses(instance)["layer"]
    for name in ("large", "small"):
        open_release(name, museums.data).verify()
    assert not (museums.data / "releases" / "broken").exists()


def test_a_lost_run_keeps_no_place_in_a_pool(tmp_path: Path) -> None:
    pools = {
        node.key.to_user_string(): node.pools for node in defs.resolve_asset_graph().asset_nodes if node.pools
    }
    harvest, encoding = {"harvest"}, {"encoding"}
    assert pools == {
        "entities": harvest, "prefetch": harvest, "embeddings": encoding, "training_questions": encoding,
    }  # fmt: skip
    with open_instance(tmp_path) as instance:
        storage = instance.event_log_storage
        storage.set_concurrency_slots("harvest", 1)
        run = dg.DagsterRun(job_name="build", run_id="0" * 8, status=STATUS.STARTED)
        instance.add_run(run)
        assert storage.claim_concurrency_slot("harvest", run.run_id, "prefetch").is_claimed
        lock = tmp_path / "dagster" / FOLDER / run.run_id
        lock.parent.mkdir(parents=True)
        lock.touch()  # as a process leaves it that was killed
        assert end_lost_runs(instance, tmp_path)
        assert storage.get_concurrency_info("harvest").active_slot_count == 0
