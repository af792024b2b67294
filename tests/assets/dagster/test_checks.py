"""Checks in Dagster: those that block stop the build and leave the release, those that warn tell."""

from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg
import pytest

from crmrag_assets.build.step import LAYERS
from crmrag_assets.checks import CONSEQUENCE, REMEDY
from crmrag_assets.definitions import defs
from crmrag_assets.launch import layer_job_name
from crmrag_assets.quality.checks import CHECKS
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from crmrag_query.errors import BuildError
from tests.support.builds import Project, made, make_project
from tests.support.quality import lose_a_literal
from tests.support.runs import build, folders, run_job


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project", write_markdown=False, graph_partitions=True)


def latest(instance: dg.DagsterInstance) -> dict[str, dg.AssetCheckEvaluation]:
    """The latest result of every check that was made, by its name."""
    keys = [dg.AssetCheckKey(dg.AssetKey(check.of), check.name) for check in CHECKS]
    records = instance.event_log_storage.get_latest_asset_check_execution_by_key(keys)
    found = {}
    for key, record in records.items():
        assert record.event is not None and record.event.dagster_event is not None
        found[key.name] = record.event.dagster_event.asset_check_evaluation_data
    return found


def test_a_build_makes_every_check_and_shows_numbers_and_samples(
    project: Project, instance: dg.DagsterInstance
) -> None:
    done = build(project, instance)
    found = latest(instance)
    assert set(found) == {check.name for check in CHECKS if check.of != "evaluation"}
    for check in CHECKS:
        if check.of != "evaluation":
            result = found[check.name]
            assert result.blocking == check.blocks and result.severity == CONSEQUENCE[check.weight][0]
            assert (result.description or "").startswith("churches: ")
            assert result.metadata["dataset"].value == "churches"
            assert len(result.metadata) > 1, check.name
    warned = {name for name, result in found.items() if not result.passed}
    assert warned == {"lengths_are_fair"}, "churches have short documents"
    assert [warning.partition(":")[0] for warning in done.warnings] == ["lengths_are_fair"]
    assert build(project, instance).warnings == [], "told where it was looked at"
    assert "| document | characters |" in str(found["lengths_are_fair"].metadata["shortest"].value)


def test_a_blocking_check_stops_the_build_keeps_the_release_and_is_not_passed_over(
    project: Project, instance: dg.DagsterInstance
) -> None:
    build(project, instance)
    before = pointer(dataset_folder(project.data, "churches"))
    context = project.context()
    lose_a_literal(context)
    for _ in range(2):
        with pytest.raises(BuildError) as caught:
            build(project, instance)
        told = str(caught.value)
        assert told.startswith("The check 'no_triple_lost' of 'graph' stops this build. ")
        assert "1 were lost" in told and f"remove {context.folder('graph')}" in told
        assert told.endswith("The current release stays as it was.") and "Traceback" not in told
        assert pointer(dataset_folder(project.data, "churches")) == before
    result = latest(instance)["no_triple_lost"]
    assert not result.passed and str(result.metadata[REMEDY].value).startswith("Have it made anew")
    shutil.rmtree(context.folder("graph"))
    again = build(project, instance)
    assert "graph" in made(again.outcomes) and latest(instance)["no_triple_lost"].passed
    assert pointer(dataset_folder(project.data, "churches")) == before, "the same data, the same release"


@pytest.mark.slow
def test_what_depends_on_a_refused_artifact_is_not_made(
    project: Project, instance: dg.DagsterInstance
) -> None:
    build(project, instance)
    lose_a_literal(project.context())
    layer = next(layer for layer in LAYERS if "graph" in layer.assets)
    done = run_job(project, instance, layer_job_name(layer), partition_key="churches")
    assert not done.success
    steps = {event.step_key for event in done.all_events if event.is_step_start}
    assert "graph" in steps and not {"edges", "triples_index"} & steps


@pytest.mark.slow
def test_the_last_step_alone_does_not_publish_what_was_refused(
    project: Project, instance: dg.DagsterInstance
) -> None:
    build(project, instance)
    before = pointer(dataset_folder(project.data, "churches"))
    lose_a_literal(project.context())
    with pytest.raises(BuildError):
        build(project, instance)
    job = defs.get_repository_def().get_job("__ASSET_JOB")
    config = {"resources": {"build": {"config": folders(project).settings()}}}
    selected = job.get_subset(asset_selection={dg.AssetKey("release")})
    done = selected.execute_in_process(
        run_config=config, instance=instance, partition_key="churches", raise_on_error=False
    )
    assert not done.success and pointer(dataset_folder(project.data, "churches")) == before


@pytest.mark.slow
def test_a_check_that_the_ui_executes_alone_is_of_what_was_made_last(
    project: Project, instance: dg.DagsterInstance
) -> None:
    config = {"resources": {"build": {"config": folders(project).settings()}}}
    job = defs.get_repository_def().get_job("__ASSET_JOB")
    alone = job.get_subset(asset_check_selection={dg.AssetCheckKey(dg.AssetKey("graph"), "has_entities")})

    def executed() -> dg.ExecuteInProcessResult:
        return alone.execute_in_process(run_config=config, instance=instance, raise_on_error=False)

    assert not executed().success, "there is nothing yet"
    build(project, instance)
    done = executed()
    (found,) = done.get_asset_check_evaluations()
    assert (
        done.success and found.check_name == "has_entities" and found.metadata["dataset"].value == "churches"
    )
