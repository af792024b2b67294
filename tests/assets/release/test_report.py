"""The validation report counts what is there, as SPARQL over the same triples does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest

from crmrag_assets.build.step import escaped
from crmrag_query.artifacts.release import open_release
from tests.support.builds import BASE, CRM, Project, build_all, make_project

LINES = f"""\
<{BASE}bell> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{CRM}E22_Human-Made_Object> .
<{BASE}bell> <http://www.w3.org/2000/01/rdf-schema#label> "Bell | <b>loud</b>" .
<{BASE}bell> <{CRM}P46_is_composed_of> <{BASE}clapper> .
<{BASE}bell> <http://example.org/own/weighs> "12" .
<{BASE}casting> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{CRM}E12_Production> .
<{BASE}casting> <{CRM}P108_has_produced> <{BASE}bell> .
<{BASE}untyped> <{CRM}P46_is_composed_of> <{BASE}bell> .
this line is broken
<{BASE}also broken <x> .
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = make_project(tmp_path_factory.mktemp("report") / "project", rdf=["bell.nt"])
    (project.root / "bell.nt").write_text(LINES, encoding="utf-8")
    build_all(project.context())
    return project


@pytest.fixture(scope="module")
def report(project: Project) -> dict[str, Any]:
    path = open_release("churches", project.data).folder / "validation_report.json"
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


@pytest.fixture(scope="module")
def store() -> ox.Store:
    found = ox.Store()
    found.bulk_load("\n".join(LINES.splitlines()[:7]).encode(), format=ox.RdfFormat.N_TRIPLES)
    return found


def iris(store: ox.Store, where: str) -> list[str]:
    solutions = store.query(f"SELECT DISTINCT ?x WHERE {{ {where} }} ORDER BY ?x")
    assert isinstance(solutions, ox.QuerySolutions)
    return [solution["x"].value for solution in solutions]


@pytest.mark.parametrize(
    ("group", "where"),
    [
        ("dangling", "?s ?p ?x FILTER(isIRI(?x) && ?p != rdf:type) FILTER NOT EXISTS { ?x ?q ?o }"),
        ("untyped", "?x ?p ?o FILTER NOT EXISTS { ?x rdf:type ?c }"),
        ("undated_events", f"?x rdf:type <{CRM}E12_Production>"),
        ("unlabelled", "?x ?p ?o FILTER NOT EXISTS { ?x rdfs:label ?l }"),
    ],
)
def test_groups_are_those_that_a_query_finds(
    report: dict[str, Any], store: ox.Store, group: str, where: str
) -> None:
    prefixed = where.replace("rdf:type", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>").replace(
        "rdfs:label", "<http://www.w3.org/2000/01/rdf-schema#label>"
    )
    expected = iris(store, prefixed)
    found = report["entities"][group]
    assert expected and found["count"] == len(expected)
    assert [example["iri"] for example in found["examples"]] == expected


def test_how_it_was_read_is_in_the_provenance_and_not_in_what_is_pinned(
    project: Project, report: dict[str, Any]
) -> None:
    provenance = open_release("churches", project.data).provenance
    assert provenance is not None
    harvest = provenance["harvest"]
    reading = harvest["reading"]
    assert reading["broken_count"] == 2 and [broken["line"] for broken in reading["broken"]] == [8, 9]
    assert any("2 broken lines" in concern for concern in harvest["concerns"])
    assert "harvest" not in report and "bell.nt" not in json.dumps(report)
    assert not any("broken" in concern for concern in report["concerns"])


def test_one_of_something_is_told_in_the_singular(report: dict[str, Any]) -> None:
    assert "1 event without a date." in report["concerns"]
    assert "1 entity without a class." in report["concerns"]


def test_no_pinned_file_tells_where_the_data_was_read_from(project: Project) -> None:
    release = open_release("churches", project.data)
    for entry in release.manifest.files:
        assert b"bell.nt" not in (release.folder / entry.path).read_bytes(), entry.path
    assert "bell.nt" not in release.manifest.text()
    assert release.manifest.entry("validation_report.md") is None


def test_properties_outside_the_ontology_are_named(report: dict[str, Any]) -> None:
    assert "http://example.org/own/weighs" in json.dumps(report["unmapped"])


def test_counts_by_class_add_up(report: dict[str, Any]) -> None:
    assert {row["code"]: row["count"] for row in report["classes"]} == {"E12": 1, "E22": 1}
    assert sum(row["count"] for row in report["categories"]) == report["entities"]["entities"] == 3
    assert sum(count for _, count in report["documents"]["lengths"]) == report["documents"]["count"]


def test_the_markdown_tells_the_same_and_nothing_in_it_is_active(project: Project) -> None:
    text = (open_release("churches", project.data).folder / "validation_report.md").read_text(
        encoding="utf-8"
    )
    assert "this line is broken" in text and "bell.nt" in text and "<b>" not in text
    assert text.index("## The harvest") < text.index("this line is broken") < text.index("## The data")
    assert str(project.root) not in text and str(Path.home()) not in text


def test_escaping_leaves_no_markup_and_no_line_end() -> None:
    assert escaped("a|b\n<i>*x*</i>") == "a\\|b &lt;i&gt;\\*x\\*&lt;/i&gt;"
