"""Layers end to end without Dagster: complete, repeatable, resumable, independent of chunking."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from crmrag_assets.build.step import ARTIFACTS, LAYERS, PAGED, chunks_of
from crmrag_assets.build.store import FailPoint
from crmrag_assets.opened import documents_of, graph_of
from crmrag_assets.quality.checks import manifest_verifies
from crmrag_assets.quality.graph import no_triple_lost
from crmrag_assets.quality.indexes import dense_covers_documents, sparse_covers_documents
from crmrag_assets.steps.registry import STEPS, finished_layer
from crmrag_query.artifacts.manifest import dataset_folder, pointer
from crmrag_query.artifacts.release import open_release
from tests.support.builds import Project, build_all, contents, failing_at, made, make_project, turtle
from tests.support.shared import own_churches

CHUNKED = tuple(artifact for artifact, step in STEPS.items() if step.chunked and artifact not in PAGED)
CHUNK = 8  # entities a chunk: the test data then has eight of them


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


@pytest.fixture
def built(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same, built in chunks."""
    return own_churches(tmp_path_factory, tmp_path / "built", CHUNK)


@pytest.fixture
def whole(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The same, built in one chunk."""
    return own_churches(tmp_path_factory, tmp_path / "whole")


def release_id(project: Project) -> str | None:
    return pointer(dataset_folder(project.data, project.dataset))


def test_a_build_makes_every_artifact_and_all_invariants_hold(project: Project) -> None:
    context = project.context(CHUNK)
    outcomes = build_all(context)
    made_here = {outcome.record.artifact for outcome in outcomes}
    assert made_here | PAGED == set(ARTIFACTS) == set(STEPS)
    assert not made_here & PAGED, "it has no pages"
    assert len(chunks_of(context)) == 8
    for invariant in (no_triple_lost, dense_covers_documents, sparse_covers_documents, manifest_verifies):
        finding = invariant(context)
        assert finding.holds, finding


def test_building_again_makes_nothing(built: Project) -> None:
    context = built.context(CHUNK)
    assert made(build_all(context)) == []
    assert all(finished_layer(layer, context) is not None for layer in LAYERS)


def test_building_twice_gives_the_same_release(built: Project, project: Project) -> None:
    build_all(project.context(CHUNK))
    assert release_id(built) == release_id(project)
    folders = [dataset_folder(p.data, "churches") / str(release_id(p)) for p in (built, project)]
    left, right = (contents(folder) for folder in folders)
    assert set(left) == set(right)
    assert {path for path in left if left[path] != right[path]} <= {"provenance.json"}


@pytest.mark.slow
def test_one_chunk_or_many_give_the_same_graph_and_documents(tmp_path: Path) -> None:
    one, many = make_project(tmp_path / "one").context(1000), make_project(tmp_path / "many").context(4)
    for context in (one, many):
        build_all(context)
    assert (len(chunks_of(one)), len(chunks_of(many))) == (1, 16)
    for artifact in (
        "graph",
        "edges",
        "documents",
        "entity_documents",
        "faiss_index",
        "bm25_index",
        "aggregation_index",
        "name_index",
        "lexicon",
        "profile",
    ):
        assert one.finished(artifact).content == many.finished(artifact).content, artifact


STAGES = ("before", "during", "after")
POINTS = [
    f"{artifact}:{stage}" for artifact in ARTIFACTS if artifact not in PAGED for stage in ("during", "after")
]
CHUNK_POINTS = [f"{artifact}:{chunk}:during" for artifact in CHUNKED for chunk in ("40", "e0")]


@pytest.mark.slow
def test_a_build_stopped_in_any_artifact_resumes_to_the_same_release(built: Project) -> None:
    """At each point the artifact is lost, its making is stopped, and the next build makes what is missing only."""
    project, whole = built, release_id(built)
    for point in [*POINTS, *CHUNK_POINTS]:
        artifact = point.split(":")[0]
        context = project.context(CHUNK)
        shutil.rmtree(context.folder(artifact))
        with failing_at(point), pytest.raises(FailPoint):
            build_all(context)
        again = made(build_all(project.context(CHUNK)))
        assert {name.split("/")[0] for name in again} <= {artifact}, point
        assert bool(again) != (point == f"{artifact}:after" and artifact not in CHUNKED), point
        assert release_id(project) == whole, point


@pytest.mark.slow
def test_a_build_stopped_while_publishing_resumes_to_the_same_release(built: Project) -> None:
    project, whole = built, release_id(built)
    for stage in STAGES:
        shutil.rmtree(project.data / "releases")
        with failing_at(f"publish:{stage}"), pytest.raises(FailPoint):
            build_all(project.context(CHUNK))
        assert release_id(project) is None, "nothing is current before the release is whole"
        assert made(build_all(project.context(CHUNK))) == []
        assert release_id(project) == whole
        open_release("churches", project.data).verify()


def test_resuming_goes_on_at_the_first_unfinished_chunk(project: Project) -> None:
    with failing_at("fr_documents:60:before"), pytest.raises(FailPoint):
        build_all(project.context(CHUNK))
    again = made(build_all(project.context(CHUNK)))
    assert again[0] == "fr_documents/60"
    left = [name for name in again if name.startswith("fr_documents")]
    assert left == [f"fr_documents/{chunk}" for chunk in ("60", "80", "a0", "c0", "e0")]


def test_no_finished_embedding_is_repeated(built: Project) -> None:
    """The cache keeps vectors by text: after the artifact is lost, nothing is encoded again."""
    context = built.context(CHUNK)
    shutil.rmtree(context.folder("embeddings"))
    again = [o for o in build_all(built.context(CHUNK)) if o.record.artifact == "embeddings"]
    assert sum(o.record.stats["windows"] for o in again) >= documents_of(context).count
    assert sum(o.record.stats["encoded"] for o in again) == 0


def test_more_data_changes_the_release_and_keeps_the_one_before(whole: Project) -> None:
    before = release_id(whole)
    (whole.root / "churches.ttl").write_text(turtle(13), encoding="utf-8")
    context = whole.context()
    build_all(context)
    assert before != release_id(whole)
    assert pointer(dataset_folder(whole.data, "churches"), "previous") == before
    assert graph_of(context).node("http://example.org/church12") is not None


def test_configuration_that_matters_makes_again_what_depends_on_it(whole: Project) -> None:
    context = whole.context()
    sparse = context.method.sparse.model_copy(update={"k1": 1.2})
    changed = replace(context, method=context.method.model_copy(update={"sparse": sparse}))
    assert made(build_all(changed)) == ["bm25_index", "community_index", "release"]


@pytest.mark.slow
def test_growth_splits_chunks_and_leaves_no_old_ones(project: Project) -> None:
    build_all(project.context(1000))
    context = project.context(CHUNK)
    build_all(context)
    assert no_triple_lost(context).holds and manifest_verifies(context).holds


def test_chaining_that_changed_counts_in_a_process_that_goes_on(whole: Project) -> None:
    context = whole.context()
    chained = documents_of(context).count
    rules = context.method.chaining.model_copy(update={"thin_characters": 1})
    apart = replace(context, method=context.method.model_copy(update={"chaining": rules}))
    build_all(apart)
    assert documents_of(apart).count > chained
