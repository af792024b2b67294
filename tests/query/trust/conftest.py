"""A release, and copies of it as somebody else might have made them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crmrag_query.artifacts.release import open_release
from crmrag_query.llm.loading import load_litellm
from tests.support.builds import build_all, make_project, turtle
from tests.support.recording_server import Recording, recording_server
from tests.support.spoiling import Spoil, repinned

LINK = "ex:church1 <http://www.w3.org/2002/07/owl#sameAs> <http://www.wikidata.org/entity/Q30773293> ."
DIMENSION = 256  # of the stand-in's vectors


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release that was built here, of churches, one of which links to Wikidata."""
    project = make_project(
        tmp_path_factory.mktemp("own") / "p", f"{turtle(3)}\n{LINK}", write_markdown=False, wikidata=True
    )
    build_all(project.context())
    return open_release(project.dataset, project.data).folder


@pytest.fixture
def foreign(built: Path, tmp_path: Path) -> Callable[[Spoil], Path]:
    """The release as somebody else changed it, every checksum right."""
    return lambda spoil: repinned(built, tmp_path / "copy", spoil)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recording]:
    """Where nothing may go: whatever is sent there is kept."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-the-key-of-the-opener")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        load_litellm("A test")
    with recording_server(DIMENSION) as recording:
        yield recording
