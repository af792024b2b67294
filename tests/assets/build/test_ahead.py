"""Artifacts made ahead of their turn: the same bytes as one after another, whatever waits for what; no error is lost."""

from __future__ import annotations

import shutil
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from crmrag_assets.build import workers
from crmrag_assets.build.step import LAYERS, PAGED, BuildContext, Layer, Outcome, always, version_of
from crmrag_assets.steps import registry as ahead
from crmrag_assets.steps.registry import STEPS, made_ahead, run_or_await
from crmrag_query.errors import BuildError
from tests.support.builds import Project, failing_at, parallel, written
from tests.support.shared import own_churches

DOCUMENTS = next(layer for layer in LAYERS if layer.name == "documents")
APART = [artifact for artifact in DOCUMENTS.assets if STEPS[artifact].apart is always]
SIZE = 16  # entities a chunk, which makes four chunks
OF_DOCUMENTS = ["documents", *(one for one in APART if "documents" in STEPS[one].needs)]
"""The documents, and what waits for them."""


@pytest.fixture(autouse=True)
def one_chunk_for_each_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many processes as threads, however few chunks there are."""
    monkeypatch.setattr(workers, "CHUNKS", 1)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A data set of several chunks, made one artifact after the other in this process."""
    return own_churches(
        tmp_path_factory, tmp_path_factory.mktemp("ahead") / "project", SIZE, write_markdown=False
    )


@pytest.fixture
def project(built: Project, tmp_path: Path) -> Project:
    shutil.copytree(built.root, tmp_path / "project")
    return Project(tmp_path / "project")


def taken(layer: Layer, context: BuildContext) -> dict[str, Outcome]:
    """The layer's artifacts, each waited for in its turn."""
    with made_ahead(layer, context):
        return {artifact: run_or_await(STEPS[artifact], context) for artifact in layer.assets}


def begun() -> list[str]:
    """What processes make at present."""
    current = ahead._CURRENT.get()
    return [] if current is None else list(current.steps)


@pytest.mark.slow
def test_artifacts_made_beside_each_other_are_the_same_bytes(project: Project) -> None:
    context = parallel(project.context(SIZE))
    alone = {artifact: written(context, artifact) for artifact in APART}
    for artifact in APART:
        shutil.rmtree(context.folder(artifact))
    outcomes = taken(DOCUMENTS, context)
    assert [artifact for artifact, outcome in outcomes.items() if not outcome.reused] == APART
    assert {artifact: written(context, artifact) for artifact in APART} == alone
    assert all(outcome.reused for outcome in taken(DOCUMENTS, context).values())


def test_what_is_begun_is_what_has_to_be_made_and_what_waits_for_it(project: Project) -> None:
    context = parallel(project.context(SIZE))
    with made_ahead(DOCUMENTS, context):
        assert begun() == []
    shutil.rmtree(context.folder("documents"))
    with made_ahead(DOCUMENTS, context):
        assert begun() == OF_DOCUMENTS
    shutil.rmtree(context.folder("date_index"))
    with made_ahead(DOCUMENTS, context):
        assert begun() == [one for one in APART if one in ("date_index", "profile", *OF_DOCUMENTS)]
    shutil.rmtree(context.folder("graph"))
    with pytest.raises(BuildError, match="'graph' of data set 'churches' is not built yet"):
        taken(DOCUMENTS, context)


def test_one_artifact_or_a_small_data_set_or_chunks_need_no_processes(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = project.context(SIZE)
    shutil.rmtree(context.folder("name_index"))
    with made_ahead(DOCUMENTS, parallel(context)):
        assert begun() == []
    shutil.rmtree(context.folder("profile"))
    with monkeypatch.context() as few:
        few.setattr(workers, "CHUNKS", 100)
        with made_ahead(DOCUMENTS, context):
            assert begun() == []
    for layer in LAYERS:
        if layer.chunked:
            with made_ahead(layer, parallel(context)):
                assert begun() == []


@pytest.mark.slow
def test_an_error_is_told_at_each_artifact_that_it_concerns_and_the_others_are_made(project: Project) -> None:
    context = parallel(project.context(SIZE))
    for artifact in APART:
        shutil.rmtree(context.folder(artifact))
    with failing_at("documents:during"), made_ahead(DOCUMENTS, context):
        for artifact in OF_DOCUMENTS:
            with pytest.raises(BuildError, match="documents"):
                run_or_await(STEPS[artifact], context)
        assert not run_or_await(STEPS["profile"], context).reused
    assert [one for one in APART if not context.folder(one).exists()] == OF_DOCUMENTS
    assert not taken(DOCUMENTS, context)["documents"].reused


def test_a_killed_process_is_told_with_a_remedy(project: Project) -> None:
    context = parallel(project.context(SIZE))
    shutil.rmtree(context.folder("documents"))
    with (
        failing_at("documents:during=kill"),
        made_ahead(DOCUMENTS, context),
        pytest.raises(BuildError, match="--threads 1"),
    ):
        run_or_await(STEPS["documents"], context)


@pytest.mark.parametrize("artifact", STEPS)
def test_a_step_names_every_artifact_that_it_reads(
    artifact: str, built: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its inputs; what these were made from may be read besides, as the chunks of the data set are."""
    read: set[str] = set()
    finished = BuildContext.finished

    def listen(self: BuildContext, name: str, chunk: str | None = None) -> object:
        read.add(name)
        return finished(self, name, chunk)

    monkeypatch.setattr(BuildContext, "finished", listen)
    step, context = STEPS[artifact], built.context(SIZE)
    with suppress(BuildError) if artifact in PAGED else nullcontext():  # it has no pages to be read from
        version_of(step, context, "00" if step.chunked else None)
    assert read <= _behind(artifact)


def _behind(artifact: str) -> set[str]:
    needs = set(STEPS[artifact].needs)
    return needs.union(*map(_behind, needs)) | ({"method"} if artifact == "release" else set())
