"""The job `build` has the data sets as partitions: several are built by one backfill, as the UI launches it."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import pytest
import yaml
from dagster._core.execution.backfill import BulkActionStatus, PartitionBackfill
from dagster._core.remote_origin import RemotePartitionSetOrigin
from dagster._time import get_current_timestamp

from crmrag_assets.instance import open_instance
from crmrag_assets.partitions import DATASET
from crmrag_assets.runs import BUILDS_TAG, DATASET_TAG, PARENT_TAG
from crmrag_query.artifacts.manifest import datasets_with_releases
from crmrag_query.artifacts.release import open_release
from tests.support.builds import Project, make_project, turtle
from tests.support.daemon import LOCATION, daemon, until
from tests.support.runs import run_job

SIX = [f"museum{number}" for number in range(6)]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Six data sets that were declared and never built."""
    made = make_project(tmp_path / "project", turtle(3))
    file = made.config / "datasets.yaml"
    (entry,) = yaml.safe_load(file.read_text())["datasets"].values()
    file.write_text(yaml.safe_dump({"datasets": dict.fromkeys(SIX, entry)}))
    return Project(made.root, SIX[0])


def test_a_run_builds_its_partition_and_its_layers_tell_for_whom_and_what_launched_them(
    project: Project,
) -> None:
    with open_instance(project.data) as instance:
        instance.add_dynamic_partitions(DATASET, SIX)
        run = run_job(project, instance, partition_key=SIX[2], tags={"dagster/sensor_name": "watch_museum2"})
        assert run.success and open_release(SIX[2], project.data).manifest.counts["entities"]
        assert list(datasets_with_releases(project.data)) == [SIX[2]]
        layers = [one for one in instance.get_runs() if one.run_id != run.run_id]
        of_job = instance.get_run_by_id(run.run_id)
    assert of_job is not None and of_job.tags[BUILDS_TAG] == SIX[2]
    assert layers and {
        (one.tags[DATASET_TAG], one.tags[PARENT_TAG], one.tags["dagster/sensor_name"]) for one in layers
    } == {(SIX[2], run.run_id, "watch_museum2")}


def test_a_run_without_a_data_set_says_how_to_choose_one(project: Project) -> None:
    run = run_job(project, partition_key=None)
    (failure,) = (event for event in run.all_events if event.is_step_failure)
    error = failure.step_failure_data.error
    assert error is not None and "No data set is chosen. Choose one as the partition" in error.message


@pytest.mark.slow
def test_six_data_sets_are_built_by_one_backfill(project: Project) -> None:
    origin = RemotePartitionSetOrigin(repository_origin=LOCATION, partition_set_name="build_partition_set")
    with open_instance(project.data) as instance, daemon(project):
        until(lambda: set(instance.get_dynamic_partitions(DATASET)) == set(SIX))  # as declared
        instance.add_backfill(
            PartitionBackfill(
                "six", BulkActionStatus.REQUESTED, from_failure=False, tags={},
                backfill_timestamp=get_current_timestamp(), partition_set_origin=origin, partition_names=SIX,
            )
        )  # fmt: skip

        def ended() -> bool:
            found = instance.get_backfill("six")
            return found is not None and found.status != BulkActionStatus.REQUESTED

        until(ended)
        found = instance.get_backfill("six")
        assert found is not None and found.status == BulkActionStatus.COMPLETED_SUCCESS
        builds = instance.get_runs(dg.RunsFilter(tags={"dagster/backfill": "six"}))
    assert sorted(run.tags[BUILDS_TAG] for run in builds) == SIX
    assert sorted(datasets_with_releases(project.data)) == SIX
