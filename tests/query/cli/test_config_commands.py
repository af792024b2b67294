"""`crmrag datasets` and `crmrag ontology` from the outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from crmrag_query.cli.datasets import datasets, ontology
from crmrag_query.config import load_datasets
from crmrag_query.config.sources import EndpointConfig
from crmrag_query.errors import ConfigError, MissingExtraError


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
    assert "added bells (1 file)" in run(
        "add", "bells", "--rdf", "*.ttl", "--title", "Bells", "--language", "el"
    )
    assert run("list") == "bells  Bells  [el]  *.ttl\n"
    assert json.loads(run("list", "--json"))[0]["languages"] == ["el"]
    checked = run("check")
    assert "bells: 1 file" in checked
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


URL = "https://example.org/sparql"


def refused(*arguments: str) -> str:
    """What a command says that ends with a mistake of the person who typed it."""
    try:
        result = CliRunner().invoke(datasets, arguments, catch_exceptions=False)
    except ConfigError as error:
        return str(error)
    assert result.exit_code == 2, result.output
    return result.output


def test_an_endpoint_needs_its_address_only(project: Path) -> None:
    assert "added bells (a SPARQL endpoint). Next: crmrag datasets check bells --ask" in run(
        "add", "bells", "--endpoint", URL
    )
    assert run("list") == f"bells  bells  [en]  {URL} (default graph)\n"
    assert load_datasets()["bells"].endpoint == EndpointConfig(url=URL)


def test_everything_said_of_an_endpoint_is_declared(project: Path) -> None:
    words = (
        "--graph urn:a --graph urn:b --contact bells@example.org --auth digest --user-variable BELLS_USER "
        "--password-variable BELLS_PASSWORD --pause 0 --parallel 3 --batch 50 --language el"
    )
    run("add", "bells", "--endpoint", URL, *words.split())
    found = load_datasets()["bells"]
    assert found.languages == ("el",) and found.endpoint is not None
    assert found.endpoint.model_dump(exclude_defaults=True) == {
        "url": URL,
        "graphs": ("urn:a", "urn:b"),
        "auth": {"kind": "digest", "user": "BELLS_USER", "password": "BELLS_PASSWORD"},
        "contact": "bells@example.org",
        "requests": {"batch_entities": 50, "pause_seconds": 0.0, "parallel": 3},
    }
    assert json.loads(run("list", "--json"))[0]["endpoint"]["graphs"] == ["urn:a", "urn:b"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "has neither"),
        (f"--rdf bells.ttl --endpoint {URL}", "has both"),
        (
            "--rdf bells.ttl --graphs all --pause 0",
            "graphs, requests is for an endpoint: give --endpoint URL",
        ),
        (f"--endpoint {URL} --graphs all --graph urn:a", "give one of them"),
        (f"--endpoint {URL} --graphs some", "'some' is not one of"),
        (f"--endpoint {URL} --token-variable s3cret-Token", "not the name of an environment variable"),
        (f"--endpoint {URL} --auth basic --user-variable ME", "basic needs password"),
        (
            f"--endpoint {URL} --pause -1",
            "requests.pause_seconds: input should be greater than or equal to 0",
        ),
        ("--endpoint https://me:s3cret-Token@example.org/", "an address does not hold credentials"),
    ],
)
def test_a_mistake_about_an_endpoint_is_told_and_nothing_is_written(
    project: Path, words: str, told: str
) -> None:
    said = refused("add", "bells", *words.split())
    assert told in " ".join(said.split()) and "s3cret-Token" not in said
    assert not (project / "config").exists()


def test_a_check_says_how_an_endpoint_is_asked_and_which_variables_are_set(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BELLS_USER", "s3cret-User")
    monkeypatch.delenv("BELLS_PASSWORD", raising=False)
    signs = ["--user-variable", "BELLS_USER", "--password-variable", "BELLS_PASSWORD", "--batch", "50"]
    run("add", "bells", "--endpoint", "http://example.org/sparql", *signs)
    result = CliRunner().invoke(datasets, ["check", "bells"])
    assert result.exit_code == 1 and "s3cret-User" not in result.output
    for line in (
        "bells: http://example.org/sparql (default graph, basic authentication)",
        "  asks for 50 entities at a time, 2 requests at once, 0.1 s apart",
        "  does not say who asks: set `contact`",
        "  BELLS_USER: set",
        "  BELLS_PASSWORD: not set",
        "  what signs in is sent unencrypted",
        "the environment variable BELLS_PASSWORD is not set. Before a build: export BELLS_PASSWORD=…",
    ):
        assert line in result.output
    monkeypatch.setenv("BELLS_PASSWORD", "s3cret-Password")
    checked = run("check", "bells")
    assert "BELLS_PASSWORD: set\n" in checked and "s3cret" not in checked
    assert checked.endswith("No mistakes found.\n")


def test_only_an_endpoint_can_be_asked(project: Path) -> None:
    run("add", "bells", "--rdf", "bells.ttl")
    for words in (["check", "bells", "--ask"], ["check", "--ask"]):
        assert "--ask is for one data set that has an endpoint" in refused(*words)


def test_asking_without_the_building_package_says_what_to_install(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("add", "bells", "--endpoint", URL)
    monkeypatch.setattr("crmrag_query.cli.datasets.entry_points", lambda **_: ())
    with pytest.raises(MissingExtraError, match=r"pip install 'crmrag\[build\]'"):
        CliRunner().invoke(datasets, ["check", "bells", "--ask"], catch_exceptions=False)


def test_an_ontology_is_extracted_to_where_the_next_command_reads_it(project: Path) -> None:
    (project / "bells_v1.0.owl").write_text(
        "<http://example.org/X1_Bell> a <http://www.w3.org/2002/07/owl#Class> ."
        "<http://example.org/X1_Bell> <http://www.w3.org/2000/01/rdf-schema#subClassOf> "
        "<http://www.cidoc-crm.org/cidoc-crm/E22_Human-Made_Object> ."
    )
    result = CliRunner().invoke(ontology, ["extract", "bells_v1.0.owl"], catch_exceptions=False)
    assert result.output == "config/ontology/bells_1.0.csv: 1 classes, 0 properties\n"
    from crmrag_query.ontology.load import load_ontology

    assert "E24" in load_ontology().superclasses("X1")
    assert load_ontology().label("E53", "el") == "Τόπος"
