"""What a package index and a citation tool read of the project, and its wheel, which answers from a copied release."""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest
import yaml

from crmrag_query.artifacts.release import open_release
from tests.conftest import ROOT
from tests.support.shared import own_churches

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_every_python_that_it_runs_on_is_a_classifier() -> None:
    versions = [one.rpartition(" :: ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert versions == ["3.11", "3.12", "3.13"] and PROJECT["requires-python"] == ">=3.11"


def test_the_citation_is_that_of_this_version() -> None:
    told = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert told["version"] == PROJECT["version"] and told["license"] == PROJECT["license"]
    assert {"cff-version", "message", "title", "authors"} <= told.keys() and told["authors"]
    assert " ".join(told["abstract"].split()) == PROJECT["description"]


ADDRESS = "https://forge.example/museum/crmrag"
LINK = re.compile(r"\]\(([^)#][^)]*)\)")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, made where an address is given, unpacked."""
    folder = tmp_path_factory.mktemp("source")
    archive = built(ROOT, folder, ADDRESS, "sdist")
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz")


def built(root: Path, folder: Path, address: str, target: str) -> Path:
    """A wheel or a source distribution of a working copy, as it is published."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    environment = os.environ | {"CRMRAG_PROJECT_URL": address}
    subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    return next(folder.glob("crmrag-*"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made where no address is given."""
    return built(ROOT, tmp_path_factory.mktemp("wheel"), "", "wheel")


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The contents of the wheel, as they would lie in site-packages."""
    folder = wheel.parent / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def told_by(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(files.read(name))


def test_an_index_shows_where_the_project_is_and_links_that_lead_there(tmp_path: Path) -> None:
    told = told_by(built(ROOT, tmp_path, f"{ADDRESS}/", "wheel"))
    addresses = dict(one.split(", ") for one in told.get_all("Project-URL", []))
    assert (
        addresses["Repository"] == ADDRESS
        and {"Issues", "Documentation", "Changelog", "Security"} < addresses.keys()
    )
    tag = f"v{PROJECT['version']}"
    links = [*LINK.findall(str(told.get_payload())), *addresses.values()]
    files = [link.partition(f"/{tag}/")[2].partition("#")[0] for link in links if f"/{tag}/" in link]
    assert len(files) > 30 and all((ROOT / file).exists() for file in files)
    assert f"({ADDRESS}/raw/{tag}/docs/images/answer.svg)" in str(told.get_payload())
    assert all(link.startswith("https://") for link in links)


def test_without_an_address_none_is_told_and_no_link_leads_nowhere(wheel: Path) -> None:
    told = told_by(wheel)
    text = str(told.get_payload())
    assert told.get_all("Project-URL") is None
    assert all(link.startswith("https://") for link in LINK.findall(text)) and "![" not in text
    assert "all commands, configuration and" in " ".join(text.split())  # what was linked is told all the same


def test_a_wheel_from_the_source_distribution_has_its_addresses(source: Path, tmp_path: Path) -> None:
    again = told_by(built(source, tmp_path, "", "wheel"))
    assert f"Repository, {ADDRESS}" in again.get_all("Project-URL", [])
    assert f"({ADDRESS}/blob/" in str(again.get_payload())


def test_security_is_linked_and_tells_how_to_report(source: Path) -> None:
    told = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert re.search(r"^## .*[Rr]eport", told, re.MULTILINE)
    assert "](SECURITY.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (source / "SECURITY.md").read_text(encoding="utf-8") == told


# The wheel


def run(installed: Path, cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from crmrag_query.cli.main import main; sys.argv[0] = 'crmrag'; main()"
    environment = {key: value for key, value in os.environ.items() if not key.startswith("CRMRAG")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=cwd,
        env=environment | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_carries_every_configuration_file(installed: Path) -> None:
    ours = {path.relative_to(ROOT / "config") for path in (ROOT / "config").rglob("*") if path.is_file()}
    carried = installed / "crmrag_query" / "_config"
    assert ours == {path.relative_to(carried) for path in carried.rglob("*") if path.is_file()}


def test_a_copied_release_answers_where_there_is_nothing_but_the_wheel(
    installed: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = own_churches(tmp_path_factory, tmp_path / "project")
    release = open_release(project.dataset, project.data)
    copied = tmp_path / "elsewhere" / "copied"
    shutil.copytree(release.folder, copied)
    shutil.rmtree(project.root)
    done = run(installed, copied.parent, "ask", "copied", "Who painted Mural 3?", "--json")
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["release"] == release.id
    assert "Painter 1" in answer["text"]


def test_the_wheel_carries_the_licences_of_what_is_in_it(installed: Path) -> None:
    (licences,) = installed.glob("crmrag-*.dist-info/licenses")
    assert (licences / "NOTICE.md").read_bytes() == (ROOT / "NOTICE.md").read_bytes()
    assert next(licences.rglob("LICENCES.txt")).stat().st_size
