"""The kind of source that the page on extending adds from outside is added just so, and joined to others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from crmrag_assets.opened import harvest_of
from crmrag_assets.sources import kinds
from crmrag_assets.sources.look import first_statements
from crmrag_query.answers.ask import ask
from crmrag_query.answers.sources import lineage
from crmrag_query.artifacts.release import open_release
from crmrag_query.config import sources
from crmrag_query.config.datasets import load_datasets
from crmrag_query.config.loading import load_method
from crmrag_query.errors import ConfigError
from tests.docs.test_docs_extending import block, install
from tests.support.builds import BASE, Project, build_all, make_project, turtle

TABLE = 'id,label,lent to\nbell,Great bell,"City Museum, Bern"\n,nothing,\nchurch0,,Paris\n'


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package of the page, installed."""
    install(tmp_path / "site", "museum_tables", "KIND = ", "crmrag.sources")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for known in (sources.source_kinds, sources.config_of, kinds.kind_of):
        known.cache_clear()  # type: ignore[attr-defined]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (entry,) = yaml.safe_load(block("text", "- table:"))["datasets"].values()
    made = make_project(tmp_path / "project", turtle(3), write_markdown=False, **entry)
    (made.root / "loans.csv").write_text(TABLE, encoding="utf-8")
    return made


@pytest.mark.usefixtures("installed")
def test_a_kind_of_source_is_added_from_outside_and_its_triples_join(project: Project) -> None:
    build_all(project.context())
    release = open_release("churches", project.data)
    stated = lineage(release, f"{BASE}church0", f"{BASE}lent%20to", "Paris")
    assert stated.stated and stated.graphs == ("urn:crmrag:source:table",) and stated.origin is not None
    assert stated.origin.places == ("loans.csv",)
    report = harvest_of(project.context())
    assert [one["format"] for one in report["reading"]["files"]] == ["Turtle", "CSV"]
    assert report["reading"]["broken"][0]["line"] == 3, "the row without an id is told"
    answer = ask(release, "What is the Great bell?")
    assert f"{BASE}bell" in {source.iri for source in answer.sources if source.cited}


@pytest.mark.usefixtures("installed")
def test_what_can_be_declared_of_it_is_its_own(project: Project) -> None:
    file = project.config / "datasets.yaml"
    dataset = load_datasets(file)["churches"]
    assert [one.kind for one in dataset.sources] == ["rdf", "table"]
    assert list(first_statements(dataset, load_method())) == []
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("base:", "bass:"), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"sources\[1\]\.table\.bass: unknown key .*Did you mean base\?"):
        load_datasets(file)


def test_without_its_package_its_kind_is_not_known(project: Project) -> None:
    with pytest.raises(ConfigError, match=r"sources\[1\]\.table: no such kind of source"):
        load_datasets(project.config / "datasets.yaml")
