"""Builds on a Dask cluster: a scheduler and three workers, each a process; the same release as one process makes, also where
a worker is killed in the midst of it."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from crmrag_assets.build import workers
from crmrag_assets.build.step import LAYERS, BuildContext, Outcome, chunks_of
from crmrag_assets.build.workers import side_by_side
from crmrag_assets.steps.registry import STEPS, made_ahead, run_chunks, run_or_await
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, BuildHeldUp
from tests.support.builds import Project, build_all, make_project, turtle
from tests.support.dask_cluster import Cluster, cluster, where

pytestmark = pytest.mark.skipif(find_spec("distributed") is None, reason="pip install 'crmrag[dask]'")


def built(context: BuildContext) -> list[Outcome]:
    """Every layer, as the runs of a build make it."""
    outcomes = list[Outcome]()
    for layer in LAYERS:
        with made_ahead(layer, context):
            for artifact in layer.assets:
                step = STEPS[artifact]
                if step.chunked:
                    outcomes.extend(run_chunks(step, context, chunks_of(context, artifact)))
                else:
                    outcomes.append(run_or_await(step, context))
    return outcomes


def on(cluster: Cluster, context: BuildContext) -> BuildContext:
    return replace(context, operations=context.operations.model_copy(update={"dask": cluster.address}))


def project_of(root: Path) -> Project:
    return make_project(root, turtle(24), write_markdown=False)


def test_a_killed_worker_changes_nothing_of_the_release(tmp_path: Path) -> None:
    alone, together = project_of(tmp_path / "alone"), project_of(tmp_path / "together")
    build_all(alone.context(8))
    with cluster(tmp_path, "fr_documents=kill") as dask:
        context = on(dask, together.context(8))
        built(context)
        assert len(chunks_of(context)) >= 8
        assert dask.workers[0].wait(60) == -signal.SIGKILL  # it had begun to make a chunk
        pids = set(side_by_side(context, where, range(32), 32))
        assert pids <= {one.pid for one in dask.workers[1:]} and os.getpid() not in pids
        release = open_release("churches", together.data)
        assert release.id == open_release("churches", alone.data).id
        release.verify()
        assert all(one.reused for one in built(context))
        # what a worker refuses is told as it is
        shutil.move(together.data / "work", together.data / "elsewhere")
        with pytest.raises(
            BuildError, match=r"A worker of the Dask cluster, on \S+, has no folder .*mount it"
        ):
            list(side_by_side(context, where, range(2), 2))


def test_a_cluster_that_is_not_there_holds_a_build_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "CLUSTER_SECONDS", 0.5)
    context = on(Cluster("tcp://127.0.0.1:1"), project_of(tmp_path / "project").context())
    with pytest.raises(BuildHeldUp, match=r"scheduler tcp://127\.0\.0\.1:1 does not answer"):
        list(side_by_side(context, where, range(2), 2))
