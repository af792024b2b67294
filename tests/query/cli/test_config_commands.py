"""`crmrag datasets` and `crmrag ontology` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from crmrag_query.cli.datasets import datasets
from crmrag_query.cli.ontology import ontology
from crmrag_query.errors import ConfigError


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRMRAG_CONFIG", raising=False)
    (tmp_path / "bells.ttl").write_text(
        "<http://example.org/a> a <http://www.cidoc-crm.org/cidoc-crm/E22_x> ."
    )
    return tmp_path


def run(*arguments: str) -> str:
    result = CliRunner().invoke(datasets, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_data_set_is_added_listed_and_checked(project: Path) -> None:
    assert "added bells (1 files)" in run(
        "add", "bells", "--rdf", "*.ttl", "--title", "Bells", "--language", "el"
    )
    assert run("list") == "bells  Bells  [el]  *.ttl\n"
    assert json.loads(run("list", "--json"))[0]["languages"] == ["el"]
    checked = run("check")
    assert "bells: 1 files" in checked
    assert "fr76: 76 relationships, 237 paths, " in checked
    assert checked.endswith("No mistakes found.\n")


def test_dead_paths_are_told_on_request(project: Path) -> None:
    run("add", "bells", "--rdf", "bells.ttl", "--model", "BAAI/bge-m3")
    assert "thing_place_from__p11: step 1, P98i was born" in run("check", "--dead")


def test_a_check_that_finds_something_fails_and_says_what(project: Path) -> None:
    run("add", "bells", "--rdf", "bells.ttl", "--relationships", "fr67")
    (project / "bells.ttl").unlink()
    result = CliRunner().invoke(datasets, ["check"])
    assert result.exit_code == 1
    assert "datasets.bells.rdf[0]: no such file" in result.output
    assert "datasets.bells.relationships: no such set" in result.output


def test_adding_a_missing_file_is_refused(project: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        CliRunner().invoke(datasets, ["add", "bells", "--rdf", "none.ttl"], catch_exceptions=False)
    assert not (project / "config").exists()


def test_an_ontology_is_extracted_to_where_the_next_command_reads_it(project: Path) -> None:
    (project / "bells_v1.0.owl").write_text(
        "<http://example.org/X1_Bell> a <http://www.w3.org/2002/07/owl#Class> ."
        "<http://example.org/X1_Bell> <http://www.w3.org/2000/01/rdf-schema#subClassOf> "
        "<http://www.cidoc-crm.org/cidoc-crm/E22_Human-Made_Object> ."
    )
    result = CliRunner().invoke(ontology, ["extract", "bells_v1.0.owl"], catch_exceptions=False)
    assert result.output == "config/ontology/bells_1.0.csv: 1 classes, 0 properties\n"
    from crmrag_query.ontology import load_ontology

    assert "E24" in load_ontology().superclasses("X1")
    assert load_ontology().label("E53", "el") == "Τόπος"
