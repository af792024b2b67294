"""What a package index and a citation tool read of the project: versions, classifiers, the citation file."""

from __future__ import annotations

import re
import tomllib

import yaml

from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_python_that_it_runs_on_is_a_classifier() -> None:
    versions = [one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert versions == ["3.11", "3.12", "3.13"] and PROJECT["requires-python"] == ">=3.11"


def test_the_citation_is_that_of_this_version() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["version"] == PROJECT["version"] and told["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= told.keys() and told["authors"]
    assert " ".join(told["abstract"].split()) == PROJECT["description"]
