"""`crmrag shacl`: a report for reading, one for programs, and an exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from crmrag_assets.cli.releases import shacl
from crmrag_query.errors import BuildError, ConfigError
from tests.support.builds import Project, make_project, turtle
from tests.support.quality import build_up_to

NAMELESS = "\nex:nobody a crm:E21_Person . ex:church0 crm:P51_has_former_or_current_owner ex:nobody .\n"
OWN = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix crm: <http://www.cidoc-crm.org/cidoc-crm/> .
<urn:my:Church> a sh:NodeShape ; sh:name "a thing has a weight" ; sh:targetClass crm:E22_Human-Made_Object ;
  sh:property [ sh:path crm:P43_has_dimension ; sh:minCount 1 ; sh:message "has no weight" ] .
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = make_project(tmp_path_factory.mktemp("shacl") / "project", turtle(4) + NAMELESS)
    build_up_to(made.context(), "graph")
    return made


def run(project: Project, *options: str) -> Result:
    folders = ["--data", str(project.data), "--config", str(project.config)]
    return CliRunner().invoke(shacl, [project.dataset, *folders, *options])


def test_what_is_broken_is_counted_and_shown(project: Project) -> None:
    done = run(project)
    assert done.exit_code == 1, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("churches: 20 entities with ") and lines[0].endswith("held against 13 shapes")
    assert lines[1] == "1 entity breaks a shape."
    assert "  violation       1  an actor has a name" in lines
    at = lines.index("an actor has a name:")
    assert lines[at + 1].endswith("<http://example.org/nobody>") and "has no name" in lines[at + 2]


def test_json_has_every_case(project: Project) -> None:
    found = json.loads(run(project, "--json").stdout)
    assert found["entities"] == 20 and [
        one["iri"] for one in found["broken"] if one["grade"] == "Violation"
    ] == ["http://example.org/nobody"]


def test_shapes_of_ones_own_join_and_examples_are_limited(project: Project, tmp_path: Path) -> None:
    file = tmp_path / "own.ttl"
    file.write_text(OWN, encoding="utf-8")
    done = run(project, "--shapes", str(file), "--examples", "2")
    assert "  violation       8  a thing has a weight" in done.stdout
    assert done.stdout.count("has no weight") == 1 and "--json." in done.stdout.splitlines()[-1]
    file.write_text("no turtle", encoding="utf-8")
    with pytest.raises(ConfigError, match="the shapes are no Turtle"):
        raise run(project, "--shapes", str(file)).exception or AssertionError


def test_a_sample_that_keeps_to_the_shapes_ends_well(tmp_path: Path) -> None:
    made = make_project(tmp_path / "project", turtle(2))
    build_up_to(made.context(), "graph")
    done = run(made, "--sample", "5")
    assert done.exit_code == 0 and done.stdout.splitlines()[1] == "All shapes hold."


def test_what_is_not_built_is_told(tmp_path: Path) -> None:
    done = run(make_project(tmp_path / "project"))
    assert isinstance(done.exception, BuildError) and "crmrag build churches" in str(done.exception)
