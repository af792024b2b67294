"""A build never makes a release current that contradicts itself, and mends one that was damaged."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import dagster as dg
import numpy as np
import pytest

from crmrag_assets.build.step import LAYERS
from crmrag_assets.build.store import RECORD
from crmrag_assets.definitions import defs
from crmrag_assets.launch import QUIET, layer_job_name
from crmrag_assets.partitions import DATASET, BuildResource
from crmrag_assets.quality.checks import manifest_verifies
from crmrag_query.artifacts.manifest import entries, read_manifest, switch
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError
from tests.support.builds import Project, build_all, make_project
from tests.support.shared import own_churches


@pytest.fixture
def project(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return own_churches(tmp_path_factory, tmp_path / "project", churches=3, write_markdown=False)


def spoil(folder: Path, name: str) -> None:
    """Write an array of a finished artifact anew with one wrong number, and put its checksum into the artifact's record."""
    values = np.load(folder / name)
    values[-1] += 1
    (folder / name).unlink()  # the release's file is the same one by another name
    np.save(folder / name, values)
    record_files(folder)


def record_files(folder: Path, **stats: object) -> None:
    """Put the checksums of an artifact's files as they are now into its record, with ``stats``."""
    record = json.loads((folder / RECORD).read_bytes())
    record["files"] = [entry.as_dict() for entry in entries(folder) if entry.path != RECORD]
    record["stats"] |= stats
    (folder / RECORD).write_text(json.dumps(record), encoding="utf-8")


def test_artifacts_that_contradict_each_other_are_not_published_and_what_is_said_helps(
    project: Project,
) -> None:
    before = open_release("churches", project.data).id
    context = project.context()
    folder = context.folder("triples_index")
    spoil(folder, "tri_s.npy")
    with pytest.raises(BuildError, match="was not published") as refused:
        build_all(context)
    message = str(refused.value)
    assert "triples index: triples_index/tri_s.npy: subjects other than the graph's" in message
    assert f"rm -r {folder}; crmrag build churches" in message and "stays current" in message
    assert open_release("churches", project.data).id == before
    open_release("churches", project.data).verify()
    assert manifest_verifies(context).holds
    shutil.rmtree(folder)
    build_all(project.context())
    assert open_release("churches", project.data).id == before and manifest_verifies(project.context()).holds


def test_a_release_whose_encoder_cannot_be_opened_is_not_published(project: Project) -> None:
    before = open_release("churches", project.data).id
    folder = project.context().folder("encoder")
    settings = json.loads((folder / "encoder.json").read_bytes()) | {"provider": "onnx"}
    (folder / "encoder.json").unlink()
    (folder / "encoder.json").write_text(json.dumps(settings), encoding="utf-8")
    record_files(folder, provider="onnx")
    with pytest.raises(BuildError, match=r"(?s)was not published.*encoder/: it cannot be opened") as refused:
        build_all(project.context())
    assert f"rm -r {folder};" in str(refused.value)
    assert open_release("churches", project.data).id == before


def test_the_asset_fails_with_that_message_and_leaves_current_where_it_was(project: Project) -> None:
    before = open_release("churches", project.data).id
    spoil(project.context().folder("triples_index"), "tri_p.npy")
    job = defs.get_repository_def().get_job(layer_job_name(LAYERS[-1]))
    build = BuildResource(data=str(project.data), config=str(project.config))
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(DATASET, ["churches"])
        run = job.execute_in_process(
            run_config={"resources": {"build": {"config": build.settings()}}} | QUIET,
            instance=instance,
            partition_key="churches",
            raise_on_error=False,
        )
    told = [str(event.step_failure_data.error) for event in run.all_events if event.is_step_failure]
    assert not run.success and "triples_index/tri_p.npy: properties other than the graph's" in told[0]
    assert open_release("churches", project.data).id == before


def test_a_byte_that_turned_in_a_release_is_found_by_the_check_and_mended_by_the_next_build(
    project: Project,
) -> None:
    """The working file is the same one by another name, so it is damaged too."""
    release = open_release("churches", project.data)
    path = release.folder / "sparse" / "indices.csc.index.npy"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    finding = manifest_verifies(project.context())
    assert not finding.holds and "sparse/indices.csc.index.npy: its content was altered" in finding.says
    build_all(project.context())
    assert open_release("churches", project.data).id == release.id
    assert manifest_verifies(project.context()).holds


def test_the_check_finds_a_contradiction_in_what_is_current(project: Project) -> None:
    """In a release with right checksums that something else made."""
    folder = open_release("churches", project.data).folder
    manifest = read_manifest(folder)
    told = replace(manifest, counts={**manifest.counts, "documents": 99})
    (folder / "manifest.json").write_text(told.text(), encoding="utf-8")
    (folder / "provenance.json").unlink()
    folder.rename(folder.with_name(told.id))
    switch(folder.parent, told.id)
    finding = manifest_verifies(project.context())
    assert not finding.holds and "documents: 99 is written" in finding.says and finding.counts["faults"] == 1
    assert "crmrag build churches" in finding.remedy


def test_without_a_release_the_check_says_so(tmp_path: Path) -> None:
    finding = manifest_verifies(make_project(tmp_path / "empty").context())
    assert not finding.holds and "has no release" in finding.says
