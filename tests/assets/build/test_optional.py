"""Artifacts that a data set does without: what a build and a release make of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crmrag_assets.build.step import BuildContext, is_made, run_step
from crmrag_assets.metadata import glance
from crmrag_assets.steps.registry import STEPS
from crmrag_query import Client
from crmrag_query.artifacts.release import Release, open_release
from crmrag_query.errors import ReleaseError
from crmrag_query.retrieval.communities import CommunityIndex
from crmrag_query.verify.run import verify_folder
from tests.support.builds import Project, build_all, make_project

ARTIFACT = "community_index"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path)


@pytest.fixture
def unwanted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No data set wants the artifact; nothing can be read for it, and nothing follows it."""

    def fails(context: BuildContext, folder: Path, chunk: str | None) -> dict[str, int]:
        raise AssertionError("it is made though nobody wants it")

    left_out = replace(
        STEPS[ARTIFACT], wanted=lambda context: False, write=fails, after=lambda context: fails(context, context.data, None)
    )  # fmt: skip
    monkeypatch.setitem(STEPS, ARTIFACT, left_out)  # type: ignore[arg-type]
    yield


def built(project: Project) -> Release:
    build_all(project.context())
    return open_release(project.dataset, project.data)


def test_what_is_not_wanted_is_finished_at_once_and_not_made_again(project: Project, unwanted: None) -> None:
    context = project.context()
    first, second = (run_step(STEPS[ARTIFACT], context) for _ in range(2))
    assert (first.reused, second.reused) == (False, True)
    assert not is_made(context, ARTIFACT) and not first.record.files
    assert not glance(ARTIFACT, context).plots


def test_a_release_without_it_opens_answers_and_says_what_to_build(project: Project, unwanted: None) -> None:
    release = built(project)
    assert not release.manifest.has(ARTIFACT) and not (release.folder / ARTIFACT).exists()
    assert verify_folder(release.folder).holds
    assert Client(project.data, dataset=project.dataset).ask("Who painted Mural 1?").sources
    with pytest.raises(ReleaseError, match=f"has no {ARTIFACT}.*built without") as refused:
        release[CommunityIndex]
    assert "crmrag build churches" in str(refused.value)


def test_it_is_made_as_soon_as_it_is_wanted_and_nothing_else_with_it(
    project: Project, unwanted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    built(project)
    monkeypatch.undo()
    outcomes = build_all(project.context())
    assert [one.record.artifact for one in outcomes if not one.reused] == [ARTIFACT, "release"]
    assert open_release(project.dataset, project.data)[CommunityIndex].vectors.any()
