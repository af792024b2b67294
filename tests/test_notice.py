"""NOTICE.md tells of everything in this source that others made, and goes with the package."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOTICE = (ROOT / "NOTICE.md").read_text(encoding="utf-8")
VENDOR = ROOT / "crmrag_query" / "service" / "static" / "vendor"
LICENCES = VENDOR / "LICENCES.txt"
CARRIED = [
    *(path for path in VENDOR.iterdir() if path.suffix in {".js", ".json"}),
    *(ROOT / "config" / "ontology").glob("*.csv"),
    *(ROOT / "crmrag_assets").rglob("*.json"),
    *ROOT.glob("tests/**/*.min.js"),
]


@pytest.mark.parametrize("file", CARRIED, ids=lambda path: path.name)
def test_every_file_that_others_made_is_listed(file: Path) -> None:
    assert f"`{file.relative_to(ROOT).as_posix()}`" in NOTICE or f"`{file.name}`" in NOTICE


def test_every_library_of_the_page_is_listed_and_has_its_licence() -> None:
    with_licences = re.findall(r"^([\w-]+) [\d.]+ \(([\w.-]+)\)$", LICENCES.read_text(encoding="utf-8"), re.M)
    assert {"preact", "htm", "d3-geo", "world-atlas"} <= {name for name, _ in with_licences}
    for name, licence in with_licences:
        assert re.search(rf"\| [^|\n]*\b{re.escape(name)}\b[^|\n]*\| {re.escape(licence)} \|", NOTICE), name


def test_a_licence_that_asks_to_go_with_its_file_lies_beside_it() -> None:
    for file in ROOT.glob("tests/**/*.min.js"):
        assert (file.parent / f"{file.name.split('.')[0]}.LICENSE.txt").is_file()


def test_the_package_carries_the_licences() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {"LICENSE", "NOTICE.md", LICENCES.relative_to(ROOT).as_posix()} <= set(project["license-files"])
