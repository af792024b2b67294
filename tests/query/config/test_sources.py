"""A data set has a list of sources; each kind takes its own keys, and every mistake is told with its place and remedy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from crmrag_query.cli.datasets import datasets
from crmrag_query.config import DatasetConfig, load_datasets
from crmrag_query.config.datasets import add_dataset
from crmrag_query.config.sources import EndpointConfig, RdfConfig
from crmrag_query.errors import ConfigError

URL = "https://example.org/sparql"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CRMRAG_CONFIG", raising=False)
    (tmp_path / "config").mkdir()
    for name in ("a.ttl", "b.ttl"):
        (tmp_path / name).write_text(
            "<http://example.org/a> a <http://www.cidoc-crm.org/cidoc-crm/E22_x> .", encoding="utf-8"
        )
    return tmp_path


def declared(project: Path, **entry: object) -> DatasetConfig:
    path = project / "config" / "datasets.yaml"
    path.write_text(yaml.safe_dump({"datasets": {"museum": entry}}), encoding="utf-8")
    return load_datasets(path)["museum"]


def mistakes(project: Path, **entry: object) -> str:
    with pytest.raises(ConfigError) as caught:
        declared(project, **entry)
    return str(caught.value)


def test_sources_of_all_kinds_stand_in_a_list_and_each_has_a_graph_of_its_own(project: Path) -> None:
    museum = declared(
        project,
        sources=[
            {"rdf": "a.ttl"},
            {"rdf": {"files": ["b.ttl"], "base_iri": "http://b/"}, "named_graph": "http://example.org/b"},
            {"endpoint": URL},
            {"rdf": ["a.ttl", "b.ttl"]},
        ],
    )
    assert [(one.kind, one.graph) for one in museum.sources] == [
        ("rdf", "urn:crmrag:source:rdf"),
        ("rdf", "http://example.org/b"),
        ("endpoint", "urn:crmrag:source:endpoint"),
        ("rdf", "urn:crmrag:source:rdf:3"),
    ]
    assert museum.sources[1].config == RdfConfig(files=("b.ttl",), base_iri="http://b/")
    assert museum.sources[2].config == EndpointConfig(url=URL)
    assert museum.declared == ("a.ttl", "b.ttl", URL, "a.ttl", "b.ttl")
    assert [path.name for path in museum.files()] == ["a.ttl", "b.ttl"]
    assert museum.refreshable == ("endpoint",) and museum.asks


@pytest.mark.parametrize("short", [{"rdf": ["a.ttl"], "base_iri": "http://b/"}, {"endpoint": URL}])
def test_a_short_form_is_a_list_of_one_which_needs_no_graph(project: Path, short: dict[str, Any]) -> None:
    (kind,) = short.keys() - {"base_iri"}
    keys = {"files": short["rdf"], "base_iri": short["base_iri"]} if kind == "rdf" else short["endpoint"]
    (listed,) = declared(project, sources=[{kind: keys}]).sources
    (own,) = declared(project, **short).sources
    assert (listed.kind, listed.config, listed.graph, listed.identity) == (
        own.kind,
        own.config,
        "",
        own.identity,
    )


@pytest.mark.parametrize("kind", ["rdf", "wiki"])
def test_one_file_may_stand_alone_wherever_files_are_named(project: Path, kind: str) -> None:
    ways: list[object] = ["a.ttl", ["a.ttl"], {"files": "a.ttl"}, {"files": ["a.ttl"]}]
    found = [declared(project, sources=[{kind: way}]).declared for way in ways]
    assert found == [("a.ttl",)] * 4


def test_the_identity_of_a_source_is_that_of_its_data_and_not_of_its_place(project: Path) -> None:
    first, second = {"rdf": "a.ttl"}, {"endpoint": {"url": URL, "requests": {"parallel": 1}}}
    ways = [[first, second], [second, first], [first, {"endpoint": URL}]]
    found = [{one.identity for one in declared(project, sources=way).sources} for way in ways]
    assert found[0] == found[1] == found[2] and len(found[0]) == 2
    assert {one.identity for one in declared(project, sources=[{"rdf": "b.ttl"}, second]).sources} != found[0]


@pytest.mark.parametrize(
    ("sources", "told"),
    [
        ("a.ttl", "museum.sources: it must be a list of sources"),
        ([{"rfd": "a.ttl"}], "museum.sources[0].rfd: no such kind of source. Did you mean rdf?"),
        ([{"tablets": "a"}], "museum.sources[0].tablets: no such kind of source. There are: endpoint"),
        ([{"rdf": "a.ttl", "endpoint": URL}], "museum.sources[0]: it must hold one kind of source"),
        ([{"named_graph": "urn:g"}], "museum.sources[0]: it must hold one kind of source"),
        (["a.ttl"], "museum.sources[0]: it must hold one kind of source"),
        ([{"rdf": "a.ttl"}, {"rdf": {"file": "b.ttl"}}], "[1].rdf.file: unknown key (found 'b.ttl'). Did you mean files?"),
        ([{"rdf": "a.ttl", "named_graph": "urn:g", "by_file": True}], "sources[0].by_file: its triples have"),
        ([{"endpoint": URL, "by_file": True}], "sources[0].by_file: it has no files"),
        ([{"rdf": "a.ttl", "named_graph": "g"}], "sources[0].named_graph: 'g' is not an absolute IRI"),
        ([{"wiki": {"files": "a.xml", "language": "en-abcdefghi"}}], "sources[0].wiki.language: string should match"),
        ([{"rdf": 3}], "sources[0].rdf: it holds files, or keys: files, base_iri, contexts"),
        ([{"rdf": {}}], "sources[0].rdf.files: required, but missing"),
        ([{"endpoint": {"url": URL, "grahps": "all"}}], "sources[0].endpoint.grahps: unknown key. Did you mean graphs?"),
        ([{"endpoint": {"url": URL, "auth": {"token": "s3cret"}}}], "[0].endpoint.auth.token: not the name of an"),
        ([{"endpoint": "https://me:s3cret@example.org/"}], "sources[0].endpoint.url: an address does not hold credentials"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_source_names_its_place(project: Path, sources: object, told: str) -> None:
    found = mistakes(project, sources=sources)
    assert told in found and "s3cret" not in found


@pytest.mark.parametrize(
    ("beside", "told"),
    [
        ({"rdf": "a.ttl"}, "museum.sources: `rdf` stands beside them"),
        ({"base_iri": "http://b/"}, "museum.sources: `base_iri` stands beside them"),
        ({"endpoint": URL}, "museum.endpoint: a data set has either `rdf` or `endpoint`"),
    ],
)
def test_a_short_form_stands_in_place_of_the_list(project: Path, beside: dict[str, str], told: str) -> None:
    assert told in mistakes(project, sources=[{"rdf": "b.ttl"}], **beside)


def test_a_file_that_is_missing_is_named_with_its_source(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"museum\.sources\[1\]\.rdf\[0\]: no such file: 'c\.ttl'"):
        declared(project, sources=[{"rdf": "a.ttl"}, {"rdf": "c.ttl"}]).files()


def run(*arguments: str) -> str:
    result = CliRunner().invoke(datasets, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_a_list_is_added_listed_and_checked(project: Path) -> None:
    words = ("--rdf", "a.ttl", "--endpoint", URL, "--source", "rdf=b.ttl")
    told = run("add", "museum", *words)
    assert "added museum (1 file and a SPARQL endpoint and 1 file)" in told and "check museum --ask" in told
    written = yaml.safe_load((project / "config" / "datasets.yaml").read_text(encoding="utf-8"))
    assert written["datasets"]["museum"]["sources"] == [
        {"rdf": ["a.ttl"]},
        {"endpoint": URL},
        {"rdf": "b.ttl"},
    ]
    assert f"a.ttl; {URL} (default graph); b.ttl" in run("list")
    assert [*json.loads(run("list", "--json"))[0]["sources"][1]] == ["endpoint"]
    checked = run("check", "museum")
    assert "museum: 3 sources\n  rdf: 1 file\n" in checked and "No mistakes found." in checked
    assert "its triples are in the graph urn:crmrag:source:rdf:2, but for" in checked


def test_a_source_without_its_place_is_refused(project: Path) -> None:
    result = CliRunner().invoke(datasets, ["add", "museum", "--source", "rdf"])
    assert result.exit_code == 2 and "as KIND=PLACE" in result.output


def test_a_nested_list_is_written_with_its_keys_and_read_back(project: Path) -> None:
    listed = [
        {"endpoint": {"url": URL, "requests": {"parallel": 1}}, "named_graph": "urn:a,b"},
        {"rdf": ["a.ttl", "b.ttl"]},
    ]
    path = project / "config" / "datasets.yaml"
    added = add_dataset(path, "museum", {"sources": listed, "languages": ["el"]})
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["datasets"]["museum"]["sources"] == listed
    assert added == load_datasets(path)["museum"] and added.languages == ("el",)
