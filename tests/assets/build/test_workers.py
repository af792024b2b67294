"""Chunks side by side in processes: the same bytes as one after the other, and nothing is lost when one is killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from crmrag_assets.build import workers
from crmrag_assets.build.step import BuildContext, chunks_of, chunks_to_make, run_step
from crmrag_assets.build.workers import kept_processes, processes, workers_of
from crmrag_assets.documents.chunk import ChunkDocuments
from crmrag_assets.documents.setting import Setting
from crmrag_assets.steps import documents
from crmrag_assets.steps.registry import STEPS, run_chunks
from crmrag_query.errors import BuildError
from crmrag_query.graph.arrays import Ints
from tests.conftest import ROOT
from tests.support.builds import Project, failing_at, make_project, parallel, turtle, written
from tests.support.dask_cluster import where


@pytest.fixture(autouse=True)
def one_chunk_for_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many processes as threads, however few chunks there are."""
    monkeypatch.setattr(workers, "CHUNKS", 1)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A data set of several chunks, made in this process up to its documents by chunk."""
    project = make_project(tmp_path_factory.mktemp("workers") / "project", turtle(20), write_markdown=False)
    context = project.context(8)
    for artifact in ("entities", "prefetch", "graph", "fr_documents"):
        step = STEPS[artifact]
        for chunk in chunks_to_make(step, context):
            run_step(step, context, chunk)
    return project


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    shutil.copytree(built.root, tmp_path / "project")
    return Project(tmp_path / "project")


def forget(context: BuildContext, artifact: str) -> None:
    for chunk in chunks_of(context):
        shutil.rmtree(context.folder(artifact, chunk))


def test_few_chunks_are_made_in_this_process(built: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "CHUNKS", 16)
    context = replace(built.context(), threads=8)
    assert [workers_of(context, n) for n in (0, 1, 16, 32, 1600)] == [1, 1, 1, 2, 8]


@pytest.mark.parametrize("artifact", [pytest.param("prefetch", marks=pytest.mark.slow), "fr_documents"])
def test_chunks_side_by_side_are_the_same_bytes(project: Project, artifact: str) -> None:
    context = parallel(project.context(8))
    alone = written(context, artifact)
    forget(context, artifact)
    assert [one.chunk for one in run_chunks(STEPS[artifact], context, chunks_of(context))] == chunks_of(
        context
    )
    assert written(context, artifact) == alone
    assert all(one.reused for one in run_chunks(STEPS[artifact], context, chunks_of(context)))


def test_chunks_made_together_are_the_same_bytes_also_after_a_stop(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, step = replace(project.context(8), threads=1), STEPS["fr_documents"]
    alone, chunks, made = written(context, "fr_documents"), chunks_of(context), list[int]()
    inner = documents.build_chunk

    def counted(setting: Setting, entities: Ints) -> ChunkDocuments:
        made.append(len(entities))
        return inner(setting, entities)

    monkeypatch.setattr(documents, "build_chunk", counted)
    forget(context, "fr_documents")
    assert len(list(run_chunks(step, context, chunks))) == len(chunks) > 3
    assert written(context, "fr_documents") == alone
    assert len(made) == 1
    forget(context, "fr_documents")
    with failing_at(f"fr_documents:{chunks[2]}"), pytest.raises(BuildError, match="Fail-point"):
        list(run_chunks(step, context, chunks))
    again = list(run_chunks(step, context, chunks))
    assert [one.chunk for one in again if one.reused] == chunks[:2]
    assert written(context, "fr_documents") == alone


@pytest.mark.slow
def test_an_error_in_a_process_is_told_as_it_is_and_what_was_finished_is_kept(project: Project) -> None:
    context, step = parallel(project.context(8)), STEPS["fr_documents"]
    chunks = chunks_of(context)
    for chunk in chunks[1:4]:
        (context.folder("fr_documents", chunk) / "lines.arrow").write_bytes(b"damaged")
    told = pytest.raises(BuildError, match=r"Fail-point .* was reached")
    with failing_at(f"fr_documents:{chunks[3]}"), told:
        list(run_chunks(step, context, chunks))
    again = run_chunks(step, replace(context, threads=1), chunks)
    assert [one.chunk for one in again if not one.reused] == [chunks[3]]


@pytest.mark.slow
def test_a_killed_process_ends_the_build_with_a_remedy_and_the_rest_is_made_later(project: Project) -> None:
    context, step = parallel(project.context(8)), STEPS["fr_documents"]
    alone, chunks = written(context, "fr_documents"), chunks_of(context)
    forget(context, "fr_documents")
    told = pytest.raises(BuildError, match=r"ended from outside \(SIGKILL.*--threads 1")
    with failing_at(f"fr_documents:{chunks[-1]}=kill"), told:
        list(run_chunks(step, context, chunks))
    assert len(list(run_chunks(step, replace(context, threads=1), chunks))) == len(chunks)
    assert written(context, "fr_documents") == alone


def end(context: BuildContext, item: int) -> None:
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_processes_are_kept_until_one_is_killed_and_end_with_the_block(project: Project) -> None:
    context, pids = parallel(project.context(8)), list[int]()

    def work() -> None:
        with processes(context, 1) as working:
            pids.append(working.result(working.submit(where, 0)))

    with kept_processes():
        work()
        work()
        assert pids[0] == pids[1] != os.getpid()
        with pytest.raises(BuildError, match="ended from outside"), processes(context, 1) as working:
            working.result(working.submit(end, 0))
        work()
        assert pids[2] != pids[0] and alive(pids[2])
    assert not alive(pids[2])


@pytest.mark.slow
def test_processes_are_kept_after_they_made_chunks(project: Project) -> None:
    context = parallel(project.context(8))
    forget(context, "fr_documents")
    with kept_processes():
        with processes(context, context.threads) as before:
            assert not any(
                one.reused for one in run_chunks(STEPS["fr_documents"], context, chunks_of(context))
            )
        with processes(context, context.threads) as after:
            assert after.pool is before.pool


WAITING = """
import sys, time
from pathlib import Path
from crmrag_assets.build.context import open_context
from crmrag_assets.steps.registry import side_by_side
from tests.assets.build.test_workers import parallel, wait
if __name__ == "__main__":
    context = parallel(open_context("churches", Path(sys.argv[1]), Path(sys.argv[2])))
    list(side_by_side(context, wait, [sys.argv[3] + "/1", sys.argv[3] + "/2"], 2))
"""


def wait(context: BuildContext, place: str) -> None:
    """Tell this process's number, and work for a while."""
    Path(place).write_text(str(os.getpid()), encoding="utf-8")
    time.sleep(60)


def alive(number: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_processes_end_with_the_build_that_started_them(project: Project, tmp_path: Path) -> None:
    places = tmp_path / "places"
    places.mkdir()
    script = tmp_path / "waiting.py"
    script.write_text(WAITING, encoding="utf-8")
    command = [sys.executable, str(script), str(project.data), str(project.config), str(places)]
    with subprocess.Popen(command, env=os.environ | {"PYTHONPATH": str(ROOT)}) as running:
        deadline = time.monotonic() + 60
        while len(numbers := [int(text) for p in places.iterdir() if (text := p.read_text())]) < 2:
            assert time.monotonic() < deadline and running.poll() is None
            time.sleep(0.1)
        running.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 20
    while any(alive(number) for number in numbers):
        assert time.monotonic() < deadline, "a process outlives its build"
        time.sleep(0.1)
