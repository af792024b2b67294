"""Builds on a Dask cluster: a scheduler and three workers, each a process; the same release as one process makes, also where
a worker is killed in the midst of it, and as a reader gets it from an object store that fails now and then."""

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
from crmrag_assets.release.push import push
from crmrag_assets.steps.registry import STEPS, made_ahead, run_chunks, run_or_await
from crmrag_query.artifacts import objects
from crmrag_query.artifacts.manifest import find_release
from crmrag_query.artifacts.mirror import Mirror
from crmrag_query.artifacts.objects import open_objects
from crmrag_query.artifacts.release import open_release
from crmrag_query.errors import BuildError, BuildHeldUp
from tests.support.builds import Project, build_all, contents, make_project, turtle
from tests.support.dask_cluster import Cluster, cluster, where
from tests.support.object_store import (
    Exchange,
    Fault,
    bucket_behind_proxy,
    cut_while_answering,
    cut_while_sending,
    done_but_unheard,
    refused,
    s3_server,
)

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


SIZE = 14  # entities a chunk, which makes eight chunks


def project_of(root: Path) -> Project:
    return make_project(root, turtle(24), write_markdown=False)


FAULTS = (
    (refused, "PUT", ""),
    (cut_while_sending, "PUT", "/files/"),
    (done_but_unheard, "PUT", "/current"),
    (refused, "GET", "/files/"),
    (cut_while_answering, "GET", "/files/"),
)
"""What goes wrong once with a request of this method whose key holds this."""


def read_through_a_store(data: Path, folder: Path) -> tuple[Path, list[Fault]]:
    """The folder of the release as a reader has it from S3, and the faults that were met with on the way there and back."""
    met = list[Fault]()
    with s3_server() as server, bucket_behind_proxy(server) as (address, proxy):
        for fault, method, key in FAULTS:

            def act(exchange: Exchange, fault: Fault = fault) -> bool:
                met.append(fault)
                return fault(exchange)

            proxy.fails(act, lambda one, m=method, k=key: one.method == m and k in one.key, 1)  # type: ignore[misc]
        push(find_release("churches", data), open_objects(address))
        mirror = Mirror(folder, open_objects(address))
        mirror.bring("churches")
    return find_release("churches", mirror.data), met


@pytest.mark.parametrize("by_store", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_killed_worker_and_a_store_with_faults_change_nothing_of_the_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_store: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(objects, "WAIT_SECONDS", 0.3)
    alone, together = project_of(tmp_path / "alone"), project_of(tmp_path / "together")
    build_all(alone.context(SIZE))
    with cluster(tmp_path, "fr_documents=kill") as dask:
        context = on(dask, together.context(SIZE))
        built(context)
        assert len(chunks_of(context)) >= 8
        assert dask.workers[0].wait(60) == -signal.SIGKILL  # it had begun to make a chunk
        pids = set(side_by_side(context, where, range(32), 32))
        assert pids <= {one.pid for one in dask.workers[1:]} and os.getpid() not in pids
        read = find_release("churches", together.data)
        if by_store:
            there = contents(read)
            read, met = read_through_a_store(together.data, tmp_path / "mirror")
            assert contents(read) == there
            assert sorted(met, key=str) == sorted((fault for fault, *_ in FAULTS), key=str)
        release = open_release(read)
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
