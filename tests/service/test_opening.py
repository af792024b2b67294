"""A service is ready before it is asked: its releases are opened, read and searched; a damaged one keeps none from that."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from crmrag_query.client.library import Library
from crmrag_query.errors import MissingExtraError
from crmrag_query.llm import loading
from crmrag_query.llm.model import LiteLLM
from crmrag_query.service import app as opening
from crmrag_query.service.app import make_ready, open_all
from tests.support.shared import own_two_releases


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own_two_releases(tmp_path_factory, tmp_path_factory.mktemp("opening"))[0]


def test_releases_are_read_and_searched(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(opening, "prepare", lambda release, *_, **how: asked.append((release.id, how)))
    library = Library(data)
    make_ready(library)
    assert asked == [(library.release("churches")[1].id, {"wikidata": False})]
    monkeypatch.undo()
    make_ready(Library(data))


def test_a_release_that_goes_away_stops_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(folder: Path, _left: int) -> int:
        raise FileNotFoundError(folder)

    monkeypatch.setattr(opening, "read_ahead", gone)
    make_ready(Library(data))


def test_a_damaged_one_is_told(data: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken = tmp_path / "releases" / "broken"
    broken.mkdir(parents=True)
    (broken / "current").write_text("0123456789abcdef")
    with caplog.at_level(logging.WARNING, "crmrag.service"):
        assert open_all(Library(tmp_path)) == []
    assert "broken" in caplog.text


def test_what_reaches_the_language_model_is_loaded_or_told_to_be_missing(
    data: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(loading, "load_litellm", loaded.append)
    make_ready(Library(data), LiteLLM("openai/any"))
    assert loaded == ["Answering with the model openai/any"]

    def missing(wanted: str) -> None:
        raise MissingExtraError(wanted, "llm", "litellm")

    monkeypatch.setattr(loading, "load_litellm", missing)
    with caplog.at_level(logging.WARNING, "crmrag.service"):
        make_ready(Library(data), LiteLLM("openai/any"))
    assert "crmrag[llm]" in caplog.text
