"""Building through Dagster: one run a layer, each chunk recorded as it ends."""

from __future__ import annotations

import shutil
from pathlib import Path

import dagster as dg
import pytest

from crmrag_assets.build.step import LAYERS, PAGED
from crmrag_assets.definitions import defs
from crmrag_assets.harvest.report import Gathered, Missing
from crmrag_assets.harvest.source import Fetched
from crmrag_assets.harvest.spool import read_buckets
from crmrag_assets.instance import end_dead_runs, open_instance
from crmrag_assets.runs import DATASET_TAG
from crmrag_assets.sources.rdf.kind import RdfFiles
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError
from tests.support.builds import Project, failing_at, made, make_project
from tests.support.runs import build, run_job

CHUNKS = {f"{chunk}|churches" for chunk in ("00", "20", "40", "60", "80", "a0", "c0", "e0")}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project whose chunks hold eight entities, so that there are eight."""
    made = make_project(tmp_path / "project")
    from tests.conftest import ROOT

    method = (ROOT / "config" / "method.yaml").read_text().replace("  entities: 1000\n", "  entities: 8\n", 1)
    (made.config / "method.yaml").write_text(method)
    return made


def chunks_recorded(instance: dg.DagsterInstance, asset: str) -> set[str]:
    return set(instance.get_materialized_partitions(dg.AssetKey(asset)))


def test_a_build_is_one_run_a_layer_and_records_every_chunk_that_exists_and_what_is_worth_reading(
    project: Project, instance: dg.DagsterInstance
) -> None:
    result = build(project, instance)
    layers = [layer for layer in LAYERS if not PAGED & {*layer.assets}]
    assert not any(chunks_recorded(instance, asset) for asset in PAGED), "it has no pages"
    assert len(result.runs) == len(layers) == len(instance.get_runs())
    for layer in layers:
        for asset in layer.assets:
            assert chunks_recorded(instance, asset) == (CHUNKS if layer.chunked else {"churches"}), asset
    open_release("churches", project.data).verify()
    event = instance.get_latest_materialization_event(dg.AssetKey("documents"))
    assert event is not None and event.asset_materialization is not None
    found = event.asset_materialization
    assert found.metadata["documents (churches)"].value and "█" in str(
        found.metadata["absorbed_satellites"].value
    )
    assert (found.tags or {})["dagster/data_version"]
    checks = instance.event_log_storage.get_latest_asset_check_execution_by_key
    passed = checks([dg.AssetCheckKey(dg.AssetKey("release"), "manifest_verifies")])
    assert all(record.status.value == "SUCCEEDED" for record in passed.values()) and passed


@pytest.mark.slow
def test_a_harvest_that_is_not_whole_is_a_warning_and_no_failure(
    project: Project, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = Gathered(missing=(Missing("status 500", "http://example.org/bell", triples=4),))

    def lossy(self: RdfFiles, folder: Path, buckets: range) -> Fetched:
        return Fetched(read_buckets(folder, buckets), lost if 0 in buckets else Gathered())

    monkeypatch.setattr(RdfFiles, "fetch", lossy)
    build(project, instance)
    open_release("churches", project.data).verify()
    key = dg.AssetCheckKey(dg.AssetKey("harvest_report"), "harvest_is_whole")
    (record,) = instance.event_log_storage.get_latest_asset_check_execution_by_key([key]).values()
    assert record.event is not None and record.event.dagster_event is not None
    found = record.event.dagster_event.asset_check_evaluation_data
    assert not found.passed and found.severity == dg.AssetCheckSeverity.WARN
    assert "4 triples are missing" in (found.description or "") and found.metadata["missing"].value == 1


@pytest.mark.slow
def test_an_unchanged_build_needs_no_run_and_a_new_instance_records_what_is_there(
    project: Project, instance: dg.DagsterInstance
) -> None:
    build(project, instance)
    again = build(project, instance)
    assert again.runs == [] and made(again.outcomes) == []
    with dg.DagsterInstance.ephemeral() as other:
        again = build(project, other)
        assert made(again.outcomes) == [] and chunks_recorded(other, "prefetch") == CHUNKS


def test_a_failed_build_keeps_finished_chunks_and_resumes(
    project: Project, instance: dg.DagsterInstance
) -> None:
    with (
        failing_at("fr_documents:60:before"),
        pytest.raises(BuildError, match=r"'fr_documents' failed\. Fail-point"),
    ):
        build(project, instance)
    assert chunks_recorded(instance, "fr_documents") == {f"{c}|churches" for c in ("00", "20", "40")}
    result = build(project, instance)
    assert made(result.outcomes)[0] == "fr_documents/60"
    assert chunks_recorded(instance, "fr_documents") == CHUNKS


def test_mistakes_are_told_before_anything_runs(project: Project, instance: dg.DagsterInstance) -> None:
    with pytest.raises(BuildError, match=r"'palaces' is declared.*churches"):
        build(Project(project.root, "palaces"), instance)
    assert instance.get_runs() == []


@pytest.mark.slow
def test_the_job_of_the_ui_builds_the_same_release(
    project: Project, tmp_path: Path, instance: dg.DagsterInstance
) -> None:
    build(project, instance)
    release = open_release("churches", project.data).id
    again = make_project(tmp_path / "again")
    shutil.copy(project.config / "method.yaml", again.config)
    with open_instance(again.data) as own:
        assert run_job(again, own).success and len(own.get_runs()) == len(LAYERS[2:]) + 1
    assert open_release("churches", again.data).id == release


@pytest.mark.slow
def test_a_sample_is_a_data_set_of_its_own(project: Project, instance: dg.DagsterInstance) -> None:
    result = build(project, instance, sample=20)
    assert result.dataset == "churches-sample"
    assert open_release("churches-sample", project.data).manifest.counts["entities"] == 20
    assert instance.get_dynamic_partitions("dataset") == ["churches-sample"]


def test_runs_of_a_killed_build_are_ended_by_the_next(instance: dg.DagsterInstance) -> None:
    job = defs.resolve_job_def("layer_5_graph")
    run = instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags={DATASET_TAG: "churches"})
    assert end_dead_runs(instance, {DATASET_TAG: "palaces"}) == 0
    assert end_dead_runs(instance, {DATASET_TAG: "churches"}) == 1
    ended = instance.get_run_by_id(run.run_id)
    assert ended is not None and ended.status == dg.DagsterRunStatus.CANCELED
