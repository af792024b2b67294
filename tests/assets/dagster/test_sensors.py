"""Sensors and schedules on a real instance: what they ask for, what they leave alone, and whom they tell."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import yaml

from crmrag_assets.build.step import BuildContext, dataset_lock, is_locked
from crmrag_assets.build.store import PUBLISHED, confirm
from crmrag_assets.definitions import (
    CHECK,
    EMBEDDING,
    PARTITION,
    TELLING,
    busy,
    dataset_of,
    defs,
    names_of,
    schedules_of,
    sensors_of,
)
from crmrag_assets.definitions import check_freshness as look
from crmrag_assets.instance import open_instance
from crmrag_assets.launch import build_config, build_job, build_tags
from crmrag_assets.operations.freshness import read_declared
from crmrag_assets.partitions import DATASET
from crmrag_assets.runs import BEFORE_LOCK, BUILDS_TAG, EMBEDS_TAG, ENDPOINT_TAG, PARENT_TAG, WAITS_TAG
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError
from tests.conftest import ROOT
from tests.support.api_server import answering, send
from tests.support.builds import Project, build_all, make_project, turtle
from tests.support.runs import build, folders, run_job

REPOSITORY = defs.get_repository_def()
ALWAYS = ("end_lost_runs", "show_declared")
REBUILD = {
    "watch": True,
    "settle_seconds": 1,
    "schedule": "0 3 * * *",
    "timezone": "Europe/Athens",
    "fresh_hours": 48,
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = make_project(
        tmp_path_factory.mktemp("sensors") / "built", turtle(4), write_markdown=False, rebuild=REBUILD
    )
    build_all(project.context())
    return project.root


@pytest.fixture
def project(built: Path, tmp_path: Path) -> Project:
    shutil.copytree(built, tmp_path / "project", copy_function=shutil.copy2)
    return Project(tmp_path / "project")


@pytest.fixture
def instance(project: Project) -> Iterator[dg.DagsterInstance]:
    with open_instance(project.data) as opened:
        yield opened


def sensor(project: Project, name: str) -> dg.SensorDefinition:
    return next(one for one in sensors_of(read_declared(project.config)) if one.name == name)


class Ticks:
    """Ticks of one sensor, its cursor kept from tick to tick as Dagster does."""

    def __init__(self, project: Project, instance: dg.DagsterInstance, name: str) -> None:
        self.project, self.instance, self.name = project, instance, name
        self.cursor: str | None = None

    def tick(self) -> Any:
        """What a tick gives; the sensor is declared anew each time, as after a restart."""
        context = dg.build_sensor_context(
            self.instance, self.cursor, repository_def=REPOSITORY, instance_ref=self.instance.get_ref(),
            resources={"build": folders(self.project)}, sensor_name=self.name,
        )  # fmt: skip
        with context:
            found = sensor(self.project, self.name).evaluate_tick(context)
        self.cursor = found.cursor
        return found


def operate(project: Project, **values: Any) -> None:
    text = json.dumps({"sending": {"retries": 0}, **values})
    (project.config / "operations.yaml").write_text(text, encoding="utf-8")


def launched(
    project: Project, instance: dg.DagsterInstance, request: dg.RunRequest
) -> dg.ExecuteInProcessResult:
    """The run that a request asks for."""
    return run_job(project, instance, ops=request.run_config.get("ops"), tags=request.tags)


# What is declared.


def test_nothing_is_built_by_itself_unless_that_is_configured_but_what_was_begun_is_ended(
    tmp_path: Path,
) -> None:
    declared = read_declared(make_project(tmp_path / "plain").config)
    assert [one.name for one in sensors_of(declared)] == [EMBEDDING, *ALWAYS]
    assert schedules_of(declared.datasets) == []
    without = read_declared(make_project(tmp_path / "without", rebuild={"embed": False}).config)
    assert [one.name for one in sensors_of(without)] == [*ALWAYS]


def test_what_is_configured_runs_from_the_start(project: Project) -> None:
    operate(project, notify=[{"kind": "slack", "url_variable": "SLACK"}])
    declared = read_declared(project.config)
    sensors, (schedule,) = sensors_of(declared), schedules_of(declared.datasets)
    assert [one.name for one in sensors] == ["watch_churches", EMBEDDING, "freshness", TELLING, *ALWAYS]
    assert {one.default_status for one in sensors} == {dg.DefaultSensorStatus.RUNNING}
    assert sensors[0].minimum_interval_seconds == 60
    assert (schedule.name, schedule.cron_schedule, schedule.execution_timezone) == (
        "rebuild_churches",
        "0 3 * * *",
        "Europe/Athens",
    )
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING


def test_builds_of_one_endpoint_wait_in_the_queue_for_one_another(tmp_path: Path) -> None:
    project = make_project(tmp_path / "remote", rdf=None, endpoint="https://Data.museum.example/sparql")
    assert build_tags("churches", folders(project))[ENDPOINT_TAG] == "data.museum.example"
    with open_instance(project.data) as instance:
        queue = instance.get_concurrency_config().run_queue_config
    assert queue is not None and list(queue.tag_concurrency_limits) == [
        {"key": EMBEDS_TAG, "limit": 1},
        {"key": ENDPOINT_TAG, "value": {"applyLimitPerUniqueValue": True}, "limit": 1},
    ]
    assert build_tags("churches", folders(make_project(tmp_path / "files"))) == {BUILDS_TAG: "churches"}


def test_a_mistake_in_one_data_set_leaves_the_others_watched(project: Project) -> None:
    file = project.config / "datasets.yaml"
    values = yaml.safe_load(file.read_text())
    values["datasets"]["palaces"] = {"rdf": "x.ttl", "rebuild": {"schedule": "at night"}}
    file.write_text(yaml.safe_dump(values))
    (project.config / "operations.yaml").write_text("notify: [{kind: slak}]")
    declared = read_declared(project.config)
    assert list(declared.datasets) == ["churches"] and sensors_of(declared)
    assert project.context().config.rebuild.watch, "it can be built too"
    told = "\n".join(map(str, declared.mistakes))
    assert "datasets.palaces.rebuild.schedule: a schedule has five fields" in told and "notify[0]" in told
    file.write_text("datasets: [")
    broken = read_declared(project.config)
    assert broken.datasets == {} and "not valid YAML" in str(broken.mistakes[0])


def test_names_that_dagster_takes_are_distinct() -> None:
    found = names_of(["a-b", "a_b", "c"], "watch")
    assert found["c"] == "watch_c" and len(set(found.values())) == 3
    assert all(name.replace("_", "").isalnum() for name in found.values())


def test_the_definitions_of_a_project_load_with_all_of_them_and_warn_of_nothing(project: Project) -> None:
    """Known beta warnings are silenced by name; a new one fails here."""
    owners = ["ada@example.org", "team:collections"]
    operate(project, notify=[{"kind": "slack", "url_variable": "SLACK"}], owners=owners)
    code = (
        "from crmrag_assets.definitions import defs; r = defs.get_repository_def()\n"
        "print(sorted(s.name for s in r.sensor_defs), [s.name for s in r.schedule_defs],"
        " [k.name for k in defs.resolve_asset_graph().asset_check_keys if 'fresh' in k.name])\n"
        "from crmrag_assets.definitions import evaluation; print([*list(evaluation.specs)[0].owners])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code],
        capture_output=True, text=True, cwd=ROOT,
        env={"PATH": "", "CRMRAG_CONFIG": str(project.config), "HOME": str(project.root)},
    )  # fmt: skip
    names = sorted([EMBEDDING, *ALWAYS, "freshness", TELLING, "watch_churches"])
    loaded = f"{names} ['rebuild_churches'] ['{CHECK}']"
    assert done.stdout.splitlines() == [loaded, str(owners)], done.stderr
    assert done.returncode == 0 and not [
        line for line in done.stderr.splitlines() if "crmrag" in line or "Beta" in line or "Preview" in line
    ]


def test_declared_data_sets_show_before_they_are_built(
    project: Project, instance: dg.DagsterInstance
) -> None:
    file = project.config / "datasets.yaml"
    file.write_text(file.read_text() + "  palaces: {rdf: palaces.ttl}\n", encoding="utf-8")
    ticks = Ticks(project, instance, "show_declared")
    found = ticks.tick()
    (request,) = found.dynamic_partitions_requests
    assert request.partitions_def_name == DATASET and list(request.partition_keys) == ["churches", "palaces"]
    instance.add_dynamic_partitions(DATASET, list(request.partition_keys))
    assert not ticks.tick().dynamic_partitions_requests
    job = defs.resolve_job_def("build")
    assert job.partitions_def is not None
    assert job.partitions_def.get_partition_keys(dynamic_partitions_store=instance) == ["churches", "palaces"]


# Watching.


def test_two_ticks_ask_for_one_run_and_what_it_builds_is_found_unchanged(
    project: Project, instance: dg.DagsterInstance
) -> None:
    ticks = Ticks(project, instance, "watch_churches")
    (project.root / "churches.ttl").write_text(turtle(5), encoding="utf-8")
    requests: list[dg.RunRequest] = []
    until = time.monotonic() + 20
    while not requests and time.monotonic() < until:
        found = ticks.tick()
        requests += found.run_requests or []
    (request,) = requests
    assert not ticks.tick().run_requests
    assert (request.run_key or "").startswith("churches:2") and request.partition_key == "churches"
    before = open_release("churches", project.data).id
    assert launched(project, instance, request).success
    assert open_release("churches", project.data).id != before
    found = ticks.tick()
    assert not found.run_requests and found.skip_message == "Nothing has changed."


def test_a_data_set_that_is_built_or_about_to_be_is_left_alone(
    project: Project, instance: dg.DagsterInstance
) -> None:
    context = project.context()
    ticks = Ticks(project, instance, "watch_churches")
    with dataset_lock(context.store.root, "churches"):
        found = ticks.tick()
        assert not found.run_requests and "'churches' is being built." in str(found.skip_message)
    assert not is_locked(context.store.root) and busy(context, instance) == ""
    run = instance.create_run_for_job(
        build_job,
        status=dg.DagsterRunStatus.NOT_STARTED,
        tags={PARTITION: "churches"},
    )
    assert "about to be built" in str(ticks.tick().skip_message) and dataset_of(run) == "churches"
    instance.report_run_canceled(run)
    assert busy(context, instance) == ""
    instance.create_run_for_job(
        build_job, status=dg.DagsterRunStatus.NOT_STARTED, tags={BUILDS_TAG: "palaces"}
    )
    assert busy(context, instance) == "", "another data set's build"


def test_a_run_whose_process_died_blocks_nothing_for_ever(
    project: Project, instance: dg.DagsterInstance
) -> None:
    run = instance.create_run_for_job(
        build_job, status=dg.DagsterRunStatus.NOT_STARTED, tags={BUILDS_TAG: "churches"}
    )
    event = dg.DagsterEvent(dg.DagsterEventType.PIPELINE_START.value, "build")
    instance.report_dagster_event(event, run.run_id)
    context = project.context()
    assert "started" in busy(context, instance)
    assert busy(context, instance, time.time() + BEFORE_LOCK + 1) == ""
    starting = instance.create_run_for_job(
        build_job, status=dg.DagsterRunStatus.STARTING, tags={BUILDS_TAG: "churches"}
    )
    assert busy(context, instance, time.time() + BEFORE_LOCK + 1) == "", "killed while it started"
    instance.report_run_canceled(starting)
    later = time.time() + 3600
    instance.add_run_tags(run.run_id, {WAITS_TAG: f"{later:.0f}"})
    assert "started" in busy(context, instance, later), "it waits for an endpoint that did not answer"
    assert busy(context, instance, later + BEFORE_LOCK + 1) == ""


def test_a_data_set_that_is_not_declared_any_more_is_told(
    project: Project, instance: dg.DagsterInstance
) -> None:
    watching = sensor(project, "watch_churches")
    (project.config / "datasets.yaml").write_text("datasets: {palaces: {rdf: x.ttl}}")
    with dg.build_sensor_context(instance, "kept", resources={"build": folders(project)}) as context:
        found = watching.evaluate_tick(context)
    assert "No data set 'churches' is declared" in str(found.skip_message) and found.cursor == "kept"


def test_a_schedule_asks_for_a_build_unless_there_is_one(
    project: Project, instance: dg.DagsterInstance
) -> None:
    (schedule,) = schedules_of(read_declared(project.config).datasets)

    def evaluated() -> Any:
        with dg.build_schedule_context(
            instance, repository_def=REPOSITORY, resources={"build": folders(project)}
        ) as context:
            return schedule.evaluate_tick(context)

    (request,) = evaluated().run_requests
    assert request.partition_key == "churches" and request.run_config == build_config()
    with dataset_lock(project.context().store.root, "churches"):
        found = evaluated()
        assert not found.run_requests and "is being built" in found.skip_message


def test_an_endpoint_is_asked_again_by_what_is_scheduled(tmp_path: Path) -> None:
    declared = make_project(tmp_path / "far", rdf=None, endpoint="http://127.0.0.1:9/sparql", rebuild=REBUILD)
    (schedule,) = schedules_of(read_declared(declared.config).datasets)
    with (
        open_instance(declared.data) as instance,
        dg.build_schedule_context(
            instance, repository_def=REPOSITORY, resources={"build": folders(declared)}
        ) as context,
    ):
        (request,) = schedule.evaluate_tick(context).run_requests or []
    assert request.run_config["ops"]["build_layers"]["config"]["refresh"] is True


# Telling.


@pytest.fixture
def told(project: Project) -> Iterator[list[dict[str, Any]]]:
    """What a webhook is sent."""
    bodies: list[dict[str, Any]] = []

    def answer(handler: Any) -> None:
        bodies.append(json.loads(handler.rfile.read(int(handler.headers["Content-Length"]))))
        send(handler, 200, "text/plain", b"ok")

    with answering(answer) as url:
        hooks = [{"kind": "slack", "url_variable": "NOT_SET"}, {"kind": "webhook", "url": url}]
        operate(project, notify=hooks, ui="http://ui.example/")
        yield bodies


def test_a_failed_build_is_told_once_in_our_words_with_a_link(
    project: Project, instance: dg.DagsterInstance, told: list[dict[str, Any]]
) -> None:
    ticks = Ticks(project, instance, TELLING)
    ticks.tick()
    (project.root / "churches.ttl").write_text("<http://a> <http://b> <http://c> .")
    run = launched(project, instance, dg.RunRequest(partition_key="churches"))
    failed = [one for one in instance.get_runs() if one.status == dg.DagsterRunStatus.FAILURE]
    assert not run.success and {one.job_name for one in failed} == {"build", "layer_3_discovery"}
    assert [one.tags[PARENT_TAG] for one in failed if PARENT_TAG in one.tags] == [run.run_id]
    for _ in range(4):  # a tick tells of one run
        ticks.tick()
    (message,) = told
    assert message["what"] == "The build of 'churches' failed" and message["dataset"] == "churches"
    assert message["why"].startswith("'entities' failed. There is no class or property of CIDOC-CRM")
    assert "Traceback" not in message["why"] and "crmrag_query.errors" not in message["why"]
    assert message["link"] == f"http://ui.example/runs/{run.run_id}" and message["run"] == run.run_id


def test_a_layer_that_fails_without_a_job_around_it_is_told_itself_and_other_jobs_are_not(
    project: Project, instance: dg.DagsterInstance, told: list[dict[str, Any]]
) -> None:
    ticks = Ticks(project, instance, TELLING)
    ticks.tick()
    (project.root / "churches.ttl").write_text("<http://a> <http://b> <http://c> .")
    with pytest.raises(BuildError):
        build(project, instance)

    @dg.op
    def broken() -> None:
        raise ValueError("not ours")

    @dg.job
    def somebody_elses() -> None:
        broken()

    somebody_elses.execute_in_process(instance=instance, raise_on_error=False)
    for _ in range(4):
        ticks.tick()
    assert [one["what"] for one in told] == ["The build of 'churches' failed in its layer 'discovery'"]


def test_assets_that_fail_when_they_are_made_from_the_graph_are_told_with_their_data_set(
    project: Project, instance: dg.DagsterInstance, told: list[dict[str, Any]]
) -> None:
    ticks = Ticks(project, instance, TELLING)
    ticks.tick()
    (project.root / "churches.ttl").write_text("<http://a> <http://b> <http://c> .")
    instance.add_dynamic_partitions(DATASET, ["churches"])

    @dg.asset
    def elsewhere() -> None:
        raise ValueError("not ours")

    def made(definitions: dg.Definitions, asset: str, **keys: Any) -> str:
        job = definitions.resolve_implicit_global_asset_job_def()
        done = job.execute_in_process(
            asset_selection=[dg.AssetKey(asset)], instance=instance, raise_on_error=False, **keys
        )
        assert not done.success
        return done.run_id

    config = {"resources": {"build": {"config": folders(project).settings()}}}
    run = made(defs, "entities", partition_key="churches", run_config=config)
    made(dg.Definitions(assets=[elsewhere]), "elsewhere")
    for _ in range(4):
        ticks.tick()
    assert [(one["dataset"], one["run"]) for one in told] == [("churches", run)]


# Freshness.


def evaluations(found: dg.SensorResult) -> list[bool]:
    return [event.passed for event in found.asset_events if isinstance(event, dg.AssetCheckEvaluation)]


def test_what_is_stale_is_recorded_and_told_once_until_a_look_confirms_it(
    project: Project, instance: dg.DagsterInstance, told: list[dict[str, Any]]
) -> None:
    cursor: str | None = None

    def at(hours: float) -> dg.SensorResult:
        nonlocal cursor
        context = dg.build_sensor_context(instance, cursor, resources={"build": folders(project)})
        found = look(context, folders(project), datetime.now(UTC) + timedelta(hours=hours))
        cursor = found.cursor
        return found

    assert evaluations(at(0)) == [True] and evaluations(at(1)) == []
    stale = at(49)
    assert evaluations(stale) == [False] and "'churches' is as of" in str(stale.skip_reason)
    assert evaluations(at(50)) == [] and evaluations(at(74)) == [False], "once a day"
    assert [one["kind"] for one in told] == ["stale"] and "48 are allowed" in told[0]["why"]
    confirm(project.context().store.root)
    assert evaluations(at(1)) == [True]
    cursor = "garbage"
    assert evaluations(at(1)) == [True]


def test_a_build_checks_the_age_of_every_data_set(project: Project, instance: dg.DagsterInstance) -> None:
    from crmrag_assets.definitions import releases_are_fresh

    (project.context().store.root / PUBLISHED).unlink()
    found = releases_are_fresh(dg.build_asset_check_context(instance=instance), folders(project))
    assert isinstance(found, dg.AssetCheckResult) and not found.passed
    assert found.severity == dg.AssetCheckSeverity.WARN and found.metadata["stale"].value == 1
    assert "'churches' has not been published yet" in str(found.description)


def test_when_a_data_set_is_built_is_no_part_of_what_is_built(project: Project) -> None:
    def outcome(context: BuildContext) -> tuple[str, list[str]]:
        made = [one.record.artifact for one in build_all(context) if not one.reused]
        return open_release("churches", project.data).id, made

    file = project.config / "datasets.yaml"
    release, made = outcome(project.context())
    assert made == []
    values = yaml.safe_load(file.read_text())
    values["datasets"]["churches"] |= {"rebuild": {"schedule": "@daily"}, "keep_releases": 5}
    file.write_text(yaml.safe_dump(values))
    assert outcome(project.context()) == (release, [])
