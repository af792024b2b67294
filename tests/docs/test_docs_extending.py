"""What the page on extending adds from outside is added just so: a package with an entry point, a mode of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from crmrag_query import Client
from crmrag_query.answers.ask import prepare
from crmrag_query.artifacts.release import Opener, Release
from crmrag_query.documents.documents import Documents
from crmrag_query.errors import ConfigError
from crmrag_query.retrieval import channels
from crmrag_query.retrieval.channels import find_mode, modes_of
from crmrag_query.retrieval.channels import release as own
from crmrag_query.stores import opened
from crmrag_query.stores.release import ReleaseStore
from crmrag_query.text import tokenize
from tests.support.documentation import DOCS, blocks
from tests.support.shared import sample_release

PAGE = DOCS / "extending.md"


def block(language: str, holding: str) -> str:
    """The one block of the page in this language that has this text."""
    (found,) = (one.text for one in blocks(PAGE) if one.language == language and holding in one.text)
    return found


@pytest.fixture
def project(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Release:
    """The sample as it is opened by who has the mode of the page."""
    (tmp_path / "modes.yaml").write_text(block("yaml", "modes:"), encoding="utf-8")
    return replace(sample_release(tmp_path_factory), opener=Opener(tmp_path))


def install(site: Path, module: str, code: str, group: str) -> None:
    """Lay a package of the page, the block with ``code``, into a folder of ``sys.path``, with its entry point."""
    name = module.replace("_", "-")
    info = site / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (site / f"{module}.py").write_text(block("python", code), encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    declared = block("text", group).replace(f'[project.entry-points."{group}"]', f"[{group}]")
    (info / "entry_points.txt").write_text(declared.replace('"', ""), encoding="utf-8")


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the page that has a store, installed and named in the environment."""
    install(tmp_path / "site", "museum_stores", "STORE", "crmrag.stores")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.setenv(opened.VARIABLE, "shown")
    opened.opener_of.cache_clear()
    yield
    monkeypatch.undo()
    opened.opener_of.cache_clear()


@pytest.mark.usefixtures("stored")
def test_a_store_is_added_from_outside(tmp_path_factory: pytest.TempPathFactory) -> None:
    release = sample_release(tmp_path_factory)
    church = ReleaseStore(release).entities("Asinou church", 1).found[0].iri
    with Client(release.folder) as client:
        found = client.graph_search("Asinou church", 10)
        assert len(found.entities) == 10 and church not in {one.iri for one in found}
        assert client.graph_context(church).entity.iri == church


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the page, installed."""
    install(tmp_path / "site", "museum_channels", "CHANNEL", "crmrag.channels")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    channels.channel_names.cache_clear()
    channels.channel_of.cache_clear()


@pytest.mark.usefixtures("installed")
def test_a_channel_and_a_mode_are_added_from_outside(project: Release) -> None:
    assert "titled" in channels.channel_names()
    (added,) = yaml.safe_load(block("yaml", "modes:"))["modes"]
    question = "What is the narthex of Asinou?"
    found = prepare(project, question, mode=find_mode(project, added)).retrieved
    by_title = [one for one in found.chosen if "titled" in one.ranks]
    assert by_title
    asked = set(tokenize(question))
    for one in by_title:
        title = set(tokenize(project[Documents].label(one.document)))
        assert one.similarities["titled"] == pytest.approx(len(title & asked) / len(title))


def test_without_its_package_the_mode_is_told_to_have_a_channel_that_there_is_not(project: Release) -> None:
    with pytest.raises(ConfigError, match="'titled'"):
        modes_of(project)


@pytest.mark.parametrize("name", ["dense", "sparse", "named", "tied", "dated", "walked", "typed"])
def test_each_of_our_channels_stands_under_its_name_in_a_module_of_the_package(name: str) -> None:
    assert name in channels.channel_names()
    assert channels.channel_of(name).needs
    assert own.CHANNELS[name] is channels.channel_of(name)
